/* weft_lock_free_queue: against a sequential model from just before its
   tickets wrap, with slots lost and repaired, and between threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/lock_free_queue.h>

#include "_queue/wind.h"
#include "check.h"

static int32_t arena[1 << 13];

/* Makes a queue whose next tickets are `start`. */
static weft_lock_free_queue *queue_at(weft_queue_config config,
                                      int32_t start) {
  weft_lock_free_queue *q =
      weft_lock_free_queue_init(arena, sizeof arena, config);
  CHECK(q != NULL);
  wind_lock_free_queue(q, start);
  return q;
}

static void by_turns(void) {
  const weft_queue_config configs[] = {{1, 4}, {2, 12}, {8, 4}, {16, 8}};
  uint32_t seed = 9;
  for (int c = 0; c < 4; c++)
    for (int start = 0; start < 3; start++) {
      int32_t from = weft__minus(STARTS[start], random_below(&seed, 99));
      weft_lock_free_queue *q = queue_at(configs[c], from);
      int32_t capacity = weft_lock_free_queue_capacity(q);
      int32_t words = configs[c].element_size / 4;
      int32_t first = 0, next = 0, many[8 * 3];
      bool closed = false;
      for (int i = 0; i < 3000; i++) {
        int32_t room = capacity - (next - first);
        int32_t n = random_below(&seed, 8);
        if (i == 2900) {
          weft_lock_free_queue_close(q);
          weft_lock_free_queue_close(q);
          closed = true;
        }
        switch (random_below(&seed, 4)) {
          case 0: {
            for (int32_t k = 0; k < n * words; k++) many[k] = next + k / words;
            int32_t count = n < room ? n : room;
            int32_t wanted = n == 0 ? 0 : closed ? -EPIPE : count;
            EQUAL(weft_lock_free_queue_try_push_many(q, many, n), wanted);
            if (wanted > 0) next += wanted;
            break;
          }
          case 1: {
            int32_t count = n < next - first ? n : next - first;
            int32_t wanted = n > 0 && closed && next == first ? -EPIPE : count;
            EQUAL(weft_lock_free_queue_try_pop_many(q, many, n), wanted);
            for (int32_t k = 0; k < wanted * words; k++)
              EQUAL(many[k], first + k / words);
            if (wanted > 0) first += wanted;
            break;
          }
          case 2: {
            int32_t *slot = (int32_t *)weft_lock_free_queue_reserve(q);
            EQUAL(slot != NULL, !closed && room > 0);
            if (slot == NULL) break;
            for (int32_t k = 0; k < words; k++) slot[k] = next;
            EQUAL(weft_lock_free_queue_commit(q, slot), 0);
            next++;
            break;
          }
          default: {
            int32_t *slot = (int32_t *)weft_lock_free_queue_peek(q);
            EQUAL(slot != NULL, next > first);
            if (slot == NULL) break;
            for (int32_t k = 0; k < words; k++) EQUAL(slot[k], first);
            weft_lock_free_queue_consume(q, slot);
            first++;
          }
        }
        EQUAL(weft_lock_free_queue_size(q), next - first);
        EQUAL(weft_lock_free_queue_closed(q), closed);
        EQUAL(weft__lock_free_poppable(q), closed || next > first);
        /* What agents note keeps up, so that nobody has to walk far. */
        int32_t pushes = weft__minus(weft__plus(from, next), q->tail);
        int32_t pops = weft__minus(weft__plus(from, first), q->head);
        CHECK(pushes >= 0 && pushes <= 2 && pops >= 0 && pops <= 2);
      }
    }
}

static void errors(void) {
  const weft_queue_config config = {2, 4}, wide = {2, 8};
  const weft_queue_config wrong[] = {{0, 4}, {1, 6}, {1, 0}, {1 << 29, 4}};
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    EQUAL(weft_lock_free_queue_bytes(wrong[i]), 0);
    CHECK(weft_lock_free_queue_init(arena, sizeof arena, wrong[i]) == NULL);
  }
  CHECK(weft_lock_free_queue_init((char *)arena + 2, sizeof arena - 2,
                                  config) == NULL);
  weft_lock_free_queue *q =
      weft_lock_free_queue_init(arena, sizeof arena, wide);
  CHECK(weft_lock_free_queue_attach(arena) == q);
  EQUAL(weft_lock_free_queue_agents(q), 8);
  EQUAL(weft_lock_free_queue_element_size(q), 8);
  EQUAL(weft_lock_free_queue_shape(q), 0);
  q->shape = 7;
  EQUAL(weft_lock_free_queue_shape(q), 7);
  UNCHANGED(arena, 1024, weft_lock_free_queue_try_push_int(q, 1), EINVAL);
  UNCHANGED(arena, 1024, weft_lock_free_queue_try_pop_int(q, &value), EINVAL);
  EQUAL(weft__lock_free_before(8192, 1 << 20), INT64_C(1) << 31);
  q = weft_lock_free_queue_init(arena, sizeof arena, config);
  UNCHANGED(arena, 1024, weft_lock_free_queue_try_push_many(q, &value, -1),
            -EINVAL);
  UNCHANGED(arena, 1024, weft_lock_free_queue_try_pop_int(q, &value), EBUSY);
  weft_agent_set_blocking(false);
  UNCHANGED(arena, 1024, weft_lock_free_queue_push_int(q, 1, 0), EPERM);
  UNCHANGED(arena, 1024, weft_lock_free_queue_pop_int(q, &value, 0), EPERM);
  weft_agent_set_blocking(true);
  EQUAL(weft_lock_free_queue_pop_int(q, &value, 20 * MS), ETIMEDOUT);
  EQUAL(weft_lock_free_queue_push_int(q, 1, WEFT_FOREVER), 0);
  EQUAL(weft_lock_free_queue_push_int(q, 2, WEFT_FOREVER), 0);
  UNCHANGED(arena, 1024, weft_lock_free_queue_try_push_int(q, 3), EBUSY);
  EQUAL(weft_lock_free_queue_push_int(q, 3, 20 * MS), ETIMEDOUT);
  EQUAL(q->pop_waiters | q->push_waiters, 0);
  void *slot = weft_lock_free_queue_peek(q);
  void *other = weft_lock_free_queue_reserve(q);
  weft_lock_free_queue_close(q);
  EQUAL(weft_lock_free_queue_commit(q, other), EPIPE);
  weft_lock_free_queue_consume(q, slot);
  EQUAL(weft_lock_free_queue_repair(q), 0);
  EQUAL(weft_lock_free_queue_push_int(q, 3, WEFT_FOREVER), EPIPE);
  EQUAL(weft_lock_free_queue_pop_int(q, &value, WEFT_FOREVER), 0);
  EQUAL(value, 2);
  EQUAL(weft_lock_free_queue_pop_int(q, &value, WEFT_FOREVER), EPIPE);
}

static void repairs(void) {
  const weft_queue_config config = {8, 4};
  for (int32_t lost = 0; lost <= 7; lost++) {
    weft_lock_free_queue *q = queue_at(config, INT32_MAX - 5);
    int32_t value = 0;
    for (int32_t i = 0; i < lost; i++) CHECK(weft_lock_free_queue_reserve(q));
    for (int32_t i = 0; i < 8; i++)
      EQUAL(weft_lock_free_queue_try_push_int(q, i), 0);
    EQUAL(weft_lock_free_queue_repair(q), lost);
    for (int32_t i = 0; i < 30; i++) {
      EQUAL(weft_lock_free_queue_try_pop_int(q, &value), 0);
      EQUAL(value, i);
      EQUAL(weft_lock_free_queue_try_push_int(q, i + 8), 0);
      EQUAL(weft_lock_free_queue_try_push_int(q, 0), EBUSY);
    }
    EQUAL(weft_lock_free_queue_repair(q), 0);
  }
}

/* ---- threads ------------------------------------------------------------- */

#define PRODUCERS 3
#define CONSUMERS 2

static int32_t amount = 20000;

typedef struct {
  weft_lock_free_queue *queue;
  int32_t number;
  uint32_t seed;
  int64_t sum;
  int32_t count;
} side;

static void *produce(void *argument) {
  side *self = (side *)argument;
  for (int32_t i = 0; i < amount;) {
    int32_t pair[2] = {self->number, i};
    int result = random_below(&self->seed, 3) == 0
                     ? weft_lock_free_queue_try_push(self->queue, pair)
                     : weft_lock_free_queue_push(self->queue, pair, MS);
    if (result == 0) i++;
    else CHECK(result == EBUSY || result == ETIMEDOUT);
  }
  return NULL;
}

static void *consume(void *argument) {
  side *self = (side *)argument;
  int32_t last[PRODUCERS] = {-1, -1, -1};
  int32_t pairs[4 * 2];
  for (;;) {
    int32_t count = 1;
    int result = 0;
    if (random_below(&self->seed, 3) == 0) {
      count = weft_lock_free_queue_try_pop_many(self->queue, pairs, 4);
      result = count < 0 ? -count : 0;
    } else
      result = weft_lock_free_queue_pop(self->queue, pairs, MS);
    if (result == EPIPE) return NULL;
    if (result != 0) continue;
    for (int32_t i = 0; i < count; i++) {
      int32_t from = pairs[2 * i], value = pairs[2 * i + 1];
      CHECK(value > last[from]); /* in each producer's order */
      last[from] = value;
      self->sum += value;
      self->count++;
    }
  }
}

static void threads_lose_nothing(void) {
  const int32_t capacities[] = {1, 2, 64};
  for (int c = 0; c < 3; c++) {
    weft_queue_config config = {capacities[c], 8};
    weft_lock_free_queue *q =
        queue_at(config, weft__minus(INT32_MAX, amount / 2));
    side sides[PRODUCERS + CONSUMERS];
    pthread_t threads[PRODUCERS + CONSUMERS];
    for (int i = 0; i < PRODUCERS + CONSUMERS; i++) {
      side s = {q, i, (uint32_t)(i + 1), 0, 0};
      sides[i] = s;
      EQUAL(pthread_create(&threads[i], NULL,
                           i < PRODUCERS ? produce : consume, &sides[i]),
            0);
    }
    for (int i = 0; i < PRODUCERS; i++) pthread_join(threads[i], NULL);
    weft_lock_free_queue_close(q);
    int64_t sum = 0;
    int32_t count = 0;
    for (int i = PRODUCERS; i < PRODUCERS + CONSUMERS; i++) {
      pthread_join(threads[i], NULL);
      sum += sides[i].sum;
      count += sides[i].count;
    }
    EQUAL(count, PRODUCERS * amount);
    EQUAL(sum, (int64_t)PRODUCERS * amount * (amount - 1) / 2);
    EQUAL(weft_lock_free_queue_repair(q), 0);
    EQUAL(q->pop_waiters | q->push_waiters, 0);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(repairs);
  RUN(threads_lose_nothing);
  puts("done");
  return 0;
}
