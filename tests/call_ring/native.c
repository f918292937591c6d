/* weft_call_ring: against a sequential model, dead agents, and threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/call_ring.h>

#include "check.h"

static int32_t arena[1 << 14];

static weft_call_ring *ring_of(int32_t slots, int32_t request, int32_t reply) {
  weft_call_ring_config config;
  config.slots = slots;
  config.request = request;
  config.reply = reply;
  CHECK(weft_call_ring_bytes(config) <= sizeof arena);
  weft_call_ring *r = weft_call_ring_init(arena, sizeof arena, config);
  CHECK(r != NULL && weft_call_ring_attach(arena) == r);
  r->serve_epoch = r->slot_epoch = INT32_MAX;
  return r;
}

/* A call in the model: its caller and its state. */
typedef struct {
  weft_call *call;
  int32_t number;
  int32_t length;
  int32_t answer;
  bool taken, answered, gone;
} entry;

static entry *pick(entry *all, int32_t count, uint32_t *seed, int what) {
  int32_t from = random_below(seed, count > 0 ? count : 1);
  for (int32_t i = 0; i < count; i++) {
    entry *e = &all[(from + i) % count];
    if (what == 0 && e->taken) return e;
    if (what == 1 && e->answered) return e;
    if (what == 2 && !e->gone) return e;
  }
  return NULL;
}

static void take_away(entry *all, int32_t *count, entry *e) {
  *e = all[--*count];
}

static void by_turns(void) {
  uint32_t seed = 5;
  for (int32_t slots = 1; slots <= 5; slots += 2) {
    weft_call_ring *r = ring_of(slots, 50, 90);
    entry all[8], *e;
    int32_t count = 0, next = 0;
    unsigned char bytes[128];
    EQUAL(weft_call_ring_slots(r), slots);
    EQUAL(weft_call_ring_max_request(r), 52);
    EQUAL(weft_call_ring_max_reply(r), 92);
    for (int i = 0; i < 20000; i++) {
      int32_t n = random_below(&seed, 53);
      switch (random_below(&seed, 7)) {
        case 0:
        case 1: {
          weft_call *c = NULL;
          if (n < 4) n = 4;
          memcpy(bytes, &next, 4);
          fill_bytes(bytes + 4, n - 4, next);
          int result = weft_call_ring_try_post(r, bytes, n, &c);
          EQUAL(result, count < slots ? 0 : EBUSY);
          if (result != 0) break;
          entry made = {c, next++, n, 0, false, false, false};
          all[count++] = made;
          break;
        }
        case 2:
        case 3: {
          weft_call *c = NULL;
          int32_t posted = 0, length = 0, number = 0;
          for (int32_t k = 0; k < count; k++)
            if (!all[k].taken && !all[k].answered) posted++;
          int result = weft_call_ring_try_take(r, &c);
          EQUAL(result, posted > 0 ? 0 : EBUSY);
          if (result != 0) break;
          const char *request =
              (const char *)weft_call_ring_request(r, c, &length);
          memcpy(&number, request, 4);
          check_bytes(request + 4, length - 4, number);
          for (int32_t k = 0; k < count; k++) {
            if (all[k].number != number) continue;
            CHECK(all[k].call == c && all[k].length == length);
            CHECK(weft_call_ring_wanted(c));
            all[k].taken = true;
          }
          break;
        }
        case 4:
          if ((e = pick(all, count, &seed, 0)) == NULL) break;
          EQUAL(weft_call_ring_wanted(e->call), !e->gone);
          e->taken = false;
          e->answered = true;
          e->answer = random_below(&seed, 93);
          fill_bytes(bytes, e->answer, e->number);
          UNCHANGED(arena, 4096,
                    weft_call_ring_reply(r, e->call, bytes, 93), EINVAL);
          if (random_below(&seed, 2) == 0)
            memcpy(weft_call_ring_space(r, e->call), bytes, 92);
          EQUAL(random_below(&seed, 4) == 0
                    ? weft_call_ring_fail(r, e->call, bytes, e->answer)
                    : weft_call_ring_reply(r, e->call, bytes, e->answer),
                e->gone ? ETIMEDOUT : 0);
          if (e->gone) take_away(all, &count, e);
          break;
        case 5:
          if ((e = pick(all, count, &seed, 1)) == NULL) break;
          if (!e->gone) {
            int32_t length = 10 + random_below(&seed, 100), most = length;
            CHECK(weft_call_ring_ready(e->call));
            int result =
                weft_call_ring_try_receive(r, e->call, bytes, &length);
            CHECK(result == 0 || result == EIO);
            EQUAL(length, e->answer);
            check_bytes(bytes, length < most ? length : most, e->number);
            take_away(all, &count, e);
          }
          break;
        default:
          if ((e = pick(all, count, &seed, 2)) == NULL) break;
          if (random_below(&seed, 3) != 0) break;
          weft_call_ring_cancel(r, e->call);
          e->gone = true;
          if (!e->taken) take_away(all, &count, e);
      }
      EQUAL(weft_call_ring_pending(r), count);
    }
  }
}

/* Answers twice the first byte, or fails for 7, or writes too much. */
static int32_t twice(void *context, const void *request, int32_t length,
                     void *reply) {
  unsigned char first = *(const unsigned char *)request;
  ++*(int32_t *)context;
  if (length < 1 || first == 7) {
    memcpy(reply, "seven", 5);
    return -1 - 5;
  }
  *(unsigned char *)reply = (unsigned char)(2 * first);
  return first == 8 ? 1000 : 1;
}

static void errors(void) {
  const int32_t wrong[][3] = {{0, 4, 4},     {1025, 4, 4},   {1, -1, 4},
                              {1, 4, -1},    {1, 1 << 24, 4}, {1, 4, INT32_MAX},
                              {1024, 4, 1 << 20}};
  weft_call_ring_config config;
  unsigned char bytes[64];
  int32_t length = 64, served = 0;
  weft_call *c = NULL;
  for (int i = 0; i < 7; i++) {
    config.slots = wrong[i][0];
    config.request = wrong[i][1];
    config.reply = wrong[i][2];
    EQUAL(weft_call_ring_bytes(config), 0);
    CHECK(weft_call_ring_init(arena, sizeof arena, config) == NULL);
  }
  weft_call_ring *r = ring_of(2, 16, 16);
  memset(bytes, 3, sizeof bytes);
  UNCHANGED(arena, 1024, weft_call_ring_try_post(r, bytes, 17, &c), EINVAL);
  UNCHANGED(arena, 1024, weft_call_ring_try_post(r, bytes, -1, &c), EINVAL);
  UNCHANGED(arena, 1024,
            weft_call_ring_call(r, bytes, 17, bytes, &length, 0), EINVAL);
  weft_agent_set_blocking(false);
  UNCHANGED(arena, 1024, weft_call_ring_post(r, bytes, 1, &c, 0), EPERM);
  UNCHANGED(arena, 1024, weft_call_ring_call(r, bytes, 1, bytes, &length, 0),
            EPERM);
  UNCHANGED(arena, 1024, weft_call_ring_take(r, &c, 0), EPERM);
  UNCHANGED(arena, 1024, weft_call_ring_serve(r, twice, &served, 0), -EPERM);
  weft_agent_set_blocking(true);
  TAKES(20, weft_call_ring_call(r, bytes, 1, bytes, &length, 20 * MS),
        ETIMEDOUT);
  EQUAL(weft_call_ring_pending(r), 0);
  TAKES(20, weft_call_ring_take(r, &c, 20 * MS), ETIMEDOUT);
  EQUAL(weft_call_ring_try_serve_one(r, twice, &served), EBUSY);
  /* A failing call says why, and a call that writes too much fails. */
  const unsigned char asked[] = {3, 7, 8};
  const int result[] = {0, EIO, EIO};
  const int32_t answered[] = {1, 5, 0};
  for (int i = 0; i < 3; i++) {
    length = 64;
    EQUAL(weft_call_ring_post(r, &asked[i], 1, &c, WEFT_FOREVER), 0);
    EQUAL(weft_call_ring_receive(r, c, bytes, &length, 10 * MS), ETIMEDOUT);
    EQUAL(weft_call_ring_serve(r, twice, &served, 0), 1);
    EQUAL(weft_call_ring_receive(r, c, bytes, &length, WEFT_FOREVER),
          result[i]);
    EQUAL(length, answered[i]);
    if (i == 0) EQUAL(bytes[0], 6);
    if (i == 1) EQUAL(memcmp(bytes, "seven", 5), 0);
  }
  EQUAL(served, 3);
  EQUAL(weft_call_ring_try_post(r, bytes, 0, &c), 0);
  weft_call_ring_close(r);
  weft_call_ring_close(r);
  CHECK(weft_call_ring_closed(r));
  weft_call *other = NULL;
  UNCHANGED(arena, 1024, weft_call_ring_try_post(r, bytes, 1, &other), EPIPE);
  EQUAL(weft_call_ring_take(r, &other, 0), 0);
  CHECK(other == c);
  EQUAL(weft_call_ring_reply(r, other, NULL, 0), 0);
  EQUAL(weft_call_ring_try_receive(r, c, bytes, &length), 0);
  EQUAL(length, 0);
  EQUAL(weft_call_ring_take(r, &other, WEFT_FOREVER), EPIPE);
  EQUAL(weft_call_ring_serve(r, twice, &served, WEFT_FOREVER), 0);
}

static void damaged_lengths(void) {
  weft_call_ring *r = ring_of(1, 16, 16);
  const int32_t damaged[4] = {17, INT32_MAX, -1, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    weft_call *c = NULL, *taken = NULL;
    char bytes[32] = "none";
    int32_t length = 32, served = 0;
    EQUAL(weft_call_ring_try_post(r, bytes, 4, &c), 0);
    EQUAL(weft_call_ring_try_take(r, &taken), 0);
    EQUAL(weft_call_ring_reply(r, taken, bytes, 4), 0);
    c->reply_length = damaged[i];
    EQUAL(weft_call_ring_try_receive(r, c, bytes, &length), ENOTRECOVERABLE);
    EQUAL(length, 0);
    EQUAL(weft_call_ring_pending(r), 0);
    length = 32;
    EQUAL(weft_call_ring_try_post(r, bytes, 4, &c), 0);
    c->request_length = damaged[i];
    EQUAL(weft_call_ring_try_serve_one(r, twice, &served), 0);
    EQUAL(served, 0);
    EQUAL(weft_call_ring_try_receive(r, c, bytes, &length), EIO);
    EQUAL(length, 16);
    CHECK(memcmp(bytes, "The ring is dama", 16) == 0);
  }
}

static void dead_agents(void) {
  weft_call_ring *r = ring_of(3, 16, 16);
  weft_call *calls[3], *taken[3];
  int32_t length = 16;
  char bytes[16];
  weft_agent_set_id(6);
  for (int i = 0; i < 2; i++)
    EQUAL(weft_call_ring_try_post(r, "x", 1, &calls[i]), 0);
  weft_agent_set_id(7);
  EQUAL(weft_call_ring_try_post(r, "y", 1, &calls[2]), 0);
  for (int i = 0; i < 3; i++)
    EQUAL(weft_call_ring_try_take(r, &taken[i]), 0);
  weft_agent_set_id(8);
  EQUAL(weft_call_ring_abandon(r, 0), 0);
  EQUAL(weft_call_ring_abandon(r, -1), 0);
  EQUAL(weft_call_ring_abandon(r, 1 << 28), 0);
  EQUAL(r->deaths, 0); /* no agent has such an id */
  EQUAL(weft_call_ring_abandon(r, 8), 0);
  EQUAL(weft_call_ring_abandon(r, 6), 2); /* its calls are served still */
  EQUAL(weft_call_ring_pending(r), 3);
  CHECK(!weft_call_ring_wanted(calls[0]));
  EQUAL(weft_call_ring_reply(r, calls[0], "z", 1), ETIMEDOUT);
  EQUAL(weft_call_ring_pending(r), 2);
  EQUAL(weft_call_ring_abandon(r, 7), 2); /* the server of its own call, too */
  EQUAL(weft_call_ring_pending(r), 0);
  EQUAL(weft_call_ring_try_post(r, "x", 1, &calls[0]), 0);
  weft_agent_set_id(9);
  EQUAL(weft_call_ring_try_take(r, &taken[0]), 0);
  weft_agent_set_id(8);
  EQUAL(weft_call_ring_abandon(r, 9), 1);
  EQUAL(weft_call_ring_receive(r, calls[0], bytes, &length, WEFT_FOREVER),
        EOWNERDEAD);
  EQUAL(length, 0);
  EQUAL(weft_call_ring_pending(r), 0);
}

/* ---- threads ------------------------------------------------------------- */

#define CALLERS 3
#define SERVERS 2
static int32_t amount = 4000;

typedef struct {
  weft_call_ring *ring;
  int32_t number;
  uint32_t seed;
  int32_t count;
} side;

/* The reply has each word of the request, plus 1. */
static int32_t plus_one(void *context, const void *request, int32_t length,
                        void *reply) {
  int32_t words[8];
  (void)context;
  memcpy(words, request, (size_t)length);
  for (int32_t k = 0; k < length / 4; k++) words[k]++;
  memcpy(reply, words, (size_t)length);
  return length;
}

static void *call_many(void *argument) {
  side *self = (side *)argument;
  weft_call_ring *r = self->ring;
  for (int32_t i = 0; i < amount; i++) {
    int32_t words[8], reply[8], n = 1 + random_below(&self->seed, 8);
    int32_t length = sizeof reply;
    words[0] = self->number;
    for (int32_t k = 1; k < n; k++) words[k] = i * 10 + k;
    int result = 0;
    switch (random_below(&self->seed, 4)) {
      case 0: { /* given up */
        weft_call *c = NULL;
        result = weft_call_ring_post(r, words, n * 4, &c, WEFT_FOREVER);
        EQUAL(result, 0);
        weft_call_ring_cancel(r, c);
        continue;
      }
      case 1: /* may be late */
        result = weft_call_ring_call(r, words, n * 4, reply, &length, MS / 50);
        if (result == ETIMEDOUT) continue;
        break;
      case 2: {
        weft_call *c = NULL;
        result = weft_call_ring_post(r, words, n * 4, &c, WEFT_FOREVER);
        EQUAL(result, 0);
        result = weft_call_ring_receive(r, c, reply, &length, WEFT_FOREVER);
        break;
      }
      default:
        result =
            weft_call_ring_call(r, words, n * 4, reply, &length, WEFT_FOREVER);
    }
    EQUAL(result, 0);
    EQUAL(length, n * 4);
    for (int32_t k = 0; k < n; k++) EQUAL(reply[k], words[k] + 1);
    self->count++;
  }
  return NULL;
}

static void *serve_many(void *argument) {
  side *self = (side *)argument;
  weft_call_ring *r = self->ring;
  for (;;) {
    weft_call *calls[2];
    int32_t n = 0, length = 0;
    if (random_below(&self->seed, 2) == 0) {
      self->count += weft_call_ring_serve(r, plus_one, NULL, MS / 100);
      if (!weft_call_ring_closed(r)) continue;
    }
    int result = weft_call_ring_take(r, &calls[n], WEFT_FOREVER);
    if (result == EPIPE) return NULL;
    EQUAL(result, 0);
    if (weft_call_ring_try_take(r, &calls[n + 1]) == 0) n++;
    for (; n >= 0; n--) { /* the last first */
      const void *request = weft_call_ring_request(r, calls[n], &length);
      length = plus_one(NULL, request, length,
                        weft_call_ring_space(r, calls[n]));
      weft_call_ring_reply(r, calls[n], NULL, length);
      self->count++;
    }
  }
}

static void in_threads(void) {
  for (int32_t slots = 1; slots <= 4; slots += 3) {
    weft_call_ring *r = ring_of(slots, 32, 32);
    pthread_t callers[CALLERS], servers[SERVERS];
    side calling[CALLERS], serving[SERVERS];
    int32_t called = 0, served = 0;
    for (int i = 0; i < CALLERS; i++) {
      side it = {r, i, (uint32_t)i + 1, 0};
      calling[i] = it;
    }
    for (int i = 0; i < SERVERS; i++) {
      side it = {r, i, (uint32_t)i + 9, 0};
      serving[i] = it;
    }
    start_threads(servers, SERVERS, serve_many, serving, sizeof *serving);
    start_threads(callers, CALLERS, call_many, calling, sizeof *calling);
    join_threads(callers, CALLERS);
    weft_call_ring_close(r);
    join_threads(servers, SERVERS);
    for (int i = 0; i < CALLERS; i++) called += calling[i].count;
    for (int i = 0; i < SERVERS; i++) served += serving[i].count;
    CHECK(called >= CALLERS * amount / 4 && served >= called);
    EQUAL(weft_call_ring_pending(r), 0);
    EQUAL(r->serve_waiters, 0);
    EQUAL(r->slot_waiters, 0);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = amount * atoi(words[1]) / 10;
  RUN(by_turns);
  RUN(errors);
  RUN(damaged_lengths);
  RUN(dead_agents);
  RUN(in_threads);
  puts("done");
  return 0;
}
