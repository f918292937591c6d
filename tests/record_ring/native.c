/* weft_record_ring: against a sequential model where positions wrap, dead
   producers, and threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/record_ring.h>

#include "check.h"

static int32_t arena[1 << 13];

static weft_record_ring *ring_with(int32_t capacity, bool single, int32_t most,
                                   int32_t start) {
  weft_record_ring_config config;
  config.capacity = capacity;
  config.single_producer = single;
  config.many_consumers = false;
  config.most = most;
  weft_record_ring *r = weft_record_ring_init(arena, sizeof arena, config);
  CHECK(r != NULL && weft_record_ring_attach(arena) == r);
  r->head = r->tail = r->head_cache = r->tail_cache = start & ~7;
  r->pop_epoch = r->push_epoch = start;
  r->pushed = r->popped = r->popped_cache = start;
  return r;
}

static weft_record_ring *ring_at(int32_t capacity, bool single,
                                 int32_t start) {
  return ring_with(capacity, single, 0, start);
}

/* Whether a record of `n` bytes fits in a ring that holds `count`. */
static bool has_room(weft_record_ring *r, int32_t n, int32_t count) {
  int32_t capacity = weft_record_ring_capacity(r), space = 8 + ((n + 7) & ~7);
  int32_t left = capacity - (r->tail & (capacity - 1));
  int32_t total = left < space ? left + space : space;
  return weft_record_ring_used(r) + total <= capacity &&
         (r->most == 0 || count < r->most);
}

typedef struct {
  int32_t next;
  const int32_t *lengths;
} reading;

static void read_one(void *context, const void *at, int32_t length) {
  reading *self = (reading *)context;
  EQUAL(length, self->lengths[self->next % 256]);
  check_bytes(at, length, self->next++);
}

static void by_turns(void) {
  const int32_t capacities[] = {16, 64, 256, 1000, 10000}; /* long ones, too */
  uint32_t seed = 8;
  for (int c = 0; c < 5; c++)
    for (int kind = 0; kind < 4; kind++)
      for (int start = 0; start < STARTS_COUNT; start++) {
        bool single = kind % 2 == 1;
        int32_t from = weft__minus(STARTS[start], random_below(&seed, 3000));
        weft_record_ring *r =
            ring_with(capacities[c], single, kind < 2 ? 0 : 3, from);
        int32_t most = weft_record_ring_max_length(r);
        int32_t lengths[256], first = 0, next = 0;
        static unsigned char bytes[1 << 16];
        EQUAL(most, weft_record_ring_capacity(r) / 2 - 8);
        EQUAL(weft_record_ring_single(r), single);
        for (int i = 0; i < (c < 4 ? 3000 : 300); i++) {
          int32_t n = random_below(&seed, most + 1);
          void *at = NULL;
          int wanted = has_room(r, n, next - first) ? 0 : EBUSY;
          switch (random_below(&seed, 7)) {
            case 0:
            case 1: {
              fill_bytes(bytes, n, next);
              EQUAL(weft_record_ring_try_push(r, bytes, n), wanted);
              if (wanted == 0) lengths[next++ % 256] = n;
              break;
            }
            case 2:
              EQUAL(weft_record_ring_reserve(r, n, &at), wanted);
              if (wanted != 0) break;
              n = random_below(&seed, n + 1);
              fill_bytes((unsigned char *)at, n, next);
              EQUAL(weft_record_ring_commit(r, at, n), 0);
              lengths[next++ % 256] = n;
              break;
            case 3:
              EQUAL(weft_record_ring_reserve(r, n, &at), wanted);
              if (wanted == 0) weft_record_ring_cancel(r, at);
              break;
            case 4: {
              const void *record = weft_record_ring_peek(r, &n);
              EQUAL(record != NULL, next > first);
              if (record == NULL) break;
              EQUAL(n, lengths[first % 256]);
              check_bytes(record, n, first++);
              weft_record_ring_consume(r);
              break;
            }
            case 5: {
              reading it = {first, lengths};
              int32_t limit = random_below(&seed, 4);
              int32_t count = weft_record_ring_read(r, read_one, &it, limit);
              EQUAL(count, limit < next - first ? limit : next - first);
              first = it.next;
              break;
            }
            default: {
              int32_t length = 1 << 13;
              wanted = next > first ? 0 : EBUSY;
              EQUAL(weft_record_ring_try_pop(r, bytes, &length), wanted);
              if (wanted != 0) break;
              EQUAL(length, lengths[first % 256]);
              check_bytes(bytes, length, first++);
            }
          }
          EQUAL(weft_record_ring_size(r), next - first);
          if (next == first) {
            int32_t length = 1 << 13;
            EQUAL(weft_record_ring_try_pop(r, bytes, &length), EBUSY);
            EQUAL(weft_record_ring_used(r), 0);
          }
        }
      }
}

static void errors(void) {
  const int32_t wrong[] = {0, 15, -1, (1 << 30) + 1};
  weft_record_ring_config config = {0, false, false, 0};
  unsigned char bytes[64];
  int32_t length = 3;
  void *at = NULL;
  for (int i = 0; i < 4; i++) {
    config.capacity = wrong[i];
    EQUAL(weft_record_ring_bytes(config), 0);
    CHECK(weft_record_ring_init(arena, sizeof arena, config) == NULL);
  }
  memset(bytes, 1, sizeof bytes);
  weft_record_ring *r = ring_at(64, false, 0);
  UNCHANGED(arena, 1024, weft_record_ring_try_push(r, bytes, 25), EINVAL);
  UNCHANGED(arena, 1024, weft_record_ring_try_push(r, bytes, -1), EINVAL);
  UNCHANGED(arena, 1024, weft_record_ring_reserve(r, 25, &at), EINVAL);
  EQUAL(weft_record_ring_reserve(r, 9, &at), 0);
  UNCHANGED(arena, 1024, weft_record_ring_commit(r, at, 10), EINVAL);
  UNCHANGED(arena, 1024, weft_record_ring_commit(r, at, -1), EINVAL);
  weft_record_ring_cancel(r, at);
  r = ring_at(64, false, 0);
  EQUAL(weft_record_ring_try_push(r, bytes, 4), 0);
  CHECK(weft_record_ring_peek(r, &length) != NULL); /* and sees the tail */
  length = 3;
  UNCHANGED(arena, 1024, weft_record_ring_try_pop(r, bytes, &length), EINVAL);
  weft_agent_set_blocking(false);
  UNCHANGED(arena, 1024, weft_record_ring_push(r, bytes, 1, 0), EPERM);
  UNCHANGED(arena, 1024, weft_record_ring_pop(r, bytes, &length, 0), EPERM);
  weft_agent_set_blocking(true);
  EQUAL(weft_record_ring_push(r, bytes, 24, WEFT_FOREVER), 0);
  EQUAL(weft_record_ring_push(r, bytes, 24, 20 * MS), ETIMEDOUT);
  length = 64;
  EQUAL(weft_record_ring_pop(r, bytes, &length, WEFT_FOREVER), 0);
  EQUAL(length, 4);
  weft_record_ring_close(r);
  CHECK(weft_record_ring_closed(r));
  UNCHANGED(arena, 1024, weft_record_ring_try_push(r, bytes, 0), EPIPE);
  length = 64;
  EQUAL(weft_record_ring_pop(r, bytes, &length, WEFT_FOREVER), 0);
  EQUAL(length, 24);
  EQUAL(weft_record_ring_pop(r, bytes, &length, WEFT_FOREVER), EPIPE);
  EQUAL(weft_record_ring_read(r, NULL, NULL, 1), -EPIPE);
}

static void dead_producers(void) {
  weft_record_ring *r = ring_at(256, false, INT32_MAX);
  void *at = NULL;
  int32_t length = 0;
  weft_agent_set_id(6);
  EQUAL(weft_record_ring_reserve(r, 30, &at), 0);
  r->claimant = 6;
  weft_agent_set_id(7);
  EQUAL(weft_record_ring_try_push(r, "x", 1), EBUSY);
  EQUAL(weft_record_ring_claimant(r), 6);
  EQUAL(weft_record_ring_abandon(r, 5), -EBUSY);
  EQUAL(weft_record_ring_abandon(r, 0), 0);
  CHECK(weft_record_ring_peek(r, &length) == NULL);
  EQUAL(weft_record_ring_abandon(r, 6), 1);
  EQUAL(weft_record_ring_abandon(r, 6), 0);
  EQUAL(weft_record_ring_try_push(r, "x", 1), 0);
  CHECK(weft_record_ring_peek(r, &length) != NULL);
  EQUAL(length, 1);
  r->claimant = WEFT_RECORD_RING_CONTENDED_BIT; /* names nobody */
  EQUAL(weft_record_ring_abandon(r, 6), -ENOTRECOVERABLE);
}

static void damage(void) {
  unsigned char bytes[64];
  int32_t length = 64;
  weft_record_ring *r = ring_at(64, false, 40);
  int32_t *first = weft__record_at(r, 40);
  EQUAL(weft_record_ring_try_push(r, "12345678", 8), 0); /* 40 to 56 */
  EQUAL(weft_record_ring_try_push(r, "abcdefgh", 8), 0); /* it lies at 0 */
  int32_t whole = *first;
  *first = 24 << 2 | (whole & 3); /* 32 bytes of 40, but 24 are left */
  EQUAL(weft_record_ring_try_pop(r, bytes, &length), ENOTRECOVERABLE);
  CHECK(weft_record_ring_peek(r, &length) == NULL);
  *first = whole;
  length = 64;
  EQUAL(weft_record_ring_try_pop(r, bytes, &length), 0);
  EQUAL(length, 8);
}

/* ---- threads ------------------------------------------------------------- */

#define PRODUCERS 3
static int32_t amount = 20000;

typedef struct {
  weft_record_ring *ring;
  int32_t number;
  uint32_t seed;
} side;

static void *produce(void *argument) {
  side *self = (side *)argument;
  weft_record_ring *r = self->ring;
  for (int32_t i = 0; i < amount;) {
    int32_t words[10];
    int32_t n = 2 + random_below(&self->seed, 8);
    words[0] = self->number;
    for (int32_t k = 1; k < n; k++) words[k] = i + (k - 1) * 1000003;
    int result = 0;
    if (random_below(&self->seed, 2) == 0) {
      result = weft_record_ring_push(r, words, n * 4, MS);
    } else {
      void *at = NULL;
      result = weft_record_ring_reserve(r, n * 4, &at);
      if (result == 0) {
        memcpy(at, words, (size_t)n * 4);
        if (random_below(&self->seed, 8) == 0) {
          weft_record_ring_cancel(r, at);
          result = EBUSY;
        } else {
          EQUAL(weft_record_ring_commit(r, at, n * 4), 0);
        }
      }
    }
    if (result == 0) i++;
    else CHECK(result == EBUSY || result == ETIMEDOUT);
  }
  return NULL;
}

typedef struct {
  weft_record_ring *ring;
  int32_t over;
} watch;

/* Asks for sizes, which any thread may do. */
static void *look_on(void *argument) {
  watch *self = (watch *)argument;
  weft_record_ring *r = self->ring;
  while (weft__load(&self->over) == 0) {
    int32_t size = weft_record_ring_size(r);
    CHECK(size >= 0 && size <= weft_record_ring_capacity(r) / 8);
    int32_t used = weft_record_ring_used(r);
    CHECK(used >= 0 && used <= weft_record_ring_capacity(r));
    sched_yield();
  }
  return NULL;
}

static void threads_lose_nothing(void) {
  const int32_t capacities[] = {128, 4096};
  for (int c = 0; c < 2; c++)
    for (int single = 0; single < 2; single++) {
      weft_record_ring *r = ring_at(capacities[c], single == 1, -4096);
      int producers = single ? 1 : PRODUCERS;
      side sides[PRODUCERS];
      pthread_t threads[PRODUCERS];
      int32_t last[PRODUCERS] = {-1, -1, -1};
      watch all = {r, 0};
      pthread_t watcher;
      EQUAL(pthread_create(&watcher, NULL, look_on, &all), 0);
      for (int i = 0; i < producers; i++) {
        side s = {r, i, (uint32_t)(i + 1)};
        sides[i] = s;
        EQUAL(pthread_create(&threads[i], NULL, produce, &sides[i]), 0);
      }
      for (int32_t left = producers * amount; left > 0;) {
        int32_t words[10];
        int32_t length = sizeof words;
        int result = weft_record_ring_pop(r, words, &length, MS);
        if (result == ETIMEDOUT) continue;
        EQUAL(result, 0);
        EQUAL(words[1], ++last[words[0]]);
        for (int32_t k = 1; k < length / 4; k++)
          EQUAL(words[k], words[1] + (k - 1) * 1000003);
        left--;
      }
      for (int i = 0; i < producers; i++) pthread_join(threads[i], NULL);
      weft__store(&all.over, 1);
      pthread_join(watcher, NULL);
      EQUAL(weft_record_ring_size(r), 0);
      int32_t length = 0;
      CHECK(weft_record_ring_peek(r, &length) == NULL);
      EQUAL(weft_record_ring_used(r), 0);
      EQUAL(weft_record_ring_claimant(r) | r->pop_waiters | r->push_waiters, 0);
    }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(dead_producers);
  RUN(damage);
  RUN(threads_lose_nothing);
  puts("done");
  return 0;
}
