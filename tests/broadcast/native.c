/* weft_broadcast: against a model where positions wrap, and between threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/broadcast.h>

#include "check.h"

#define SUBSCRIBERS 3
static int32_t arena[1 << 12];

static weft_broadcast *broadcast_at(int32_t capacity, int32_t size, bool drop,
                                    int32_t start) {
  weft_broadcast_config config = {capacity, size, SUBSCRIBERS, drop};
  weft_broadcast *b = weft_broadcast_init(arena, sizeof arena, config);
  CHECK(b != NULL && weft_broadcast_attach(arena) == b);
  EQUAL(weft_broadcast_capacity(b), capacity);
  EQUAL(weft_broadcast_element_size(b), size);
  EQUAL(weft_broadcast_seats(b), SUBSCRIBERS);
  EQUAL(weft_broadcast_drops(b), drop);
  b->tail = b->slowest = start & ~1;
  b->pop_epoch = b->push_epoch = start;
  return b;
}

static void by_turns(void) {
  const int32_t capacities[] = {1, 2, 8};
  uint32_t seed = 6;
  for (int c = 0; c < 3; c++)
    for (int drop = 0; drop < 2; drop++)
      for (int start = 0; start < STARTS_COUNT; start++) {
        int32_t from = weft__minus(STARTS[start], random_below(&seed, 99));
        int32_t capacity = capacities[c];
        weft_broadcast *b = broadcast_at(capacity, 8, drop == 1, from);
        int32_t seats[SUBSCRIBERS] = {-1, -1, -1};
        int32_t first[SUBSCRIBERS], lost[SUBSCRIBERS], next = 0;
        int32_t pair[2];
        for (int i = 0; i < 4000; i++) {
          int32_t k = random_below(&seed, SUBSCRIBERS);
          weft_agent_set_id(10 + k);
          if (random_below(&seed, 20) == 0) {
            if (seats[k] < 0) {
              seats[k] = weft_broadcast_subscribe(b);
              CHECK(seats[k] >= 0);
              first[k] = next;
              lost[k] = 0;
            } else if (random_below(&seed, 2) == 0) {
              weft_broadcast_leave(b, seats[k]);
              seats[k] = -1;
            } else {
              EQUAL(weft_broadcast_abandon(b, 10 + k), 1);
              seats[k] = -1;
            }
          } else if (random_below(&seed, 3) > 0) {
            bool room = true;
            for (int s = 0; s < SUBSCRIBERS; s++)
              if (seats[s] >= 0 && next - first[s] == capacity) room = false;
            pair[0] = pair[1] = next;
            int wanted = room || drop ? 0 : EBUSY;
            weft_agent_set_id(9); /* there is one producer */
            EQUAL(weft_broadcast_try_push(b, pair), wanted);
            if (wanted != 0) continue;
            for (int s = 0; s < SUBSCRIBERS; s++)
              if (seats[s] >= 0 && next - first[s] == capacity) {
                first[s]++;
                lost[s]++;
              }
            next++;
          } else if (seats[k] >= 0) {
            int wanted = next > first[k] ? 0 : EBUSY;
            EQUAL(weft_broadcast_size(b, seats[k]), next - first[k]);
            EQUAL(weft_broadcast_try_pop(b, seats[k], pair), wanted);
            EQUAL(weft_broadcast_dropped(b, seats[k]), lost[k]);
            if (wanted != 0) continue;
            EQUAL(pair[0], first[k]++);
            EQUAL(pair[1], pair[0]);
          }
        }
      }
}

static void errors(void) {
  const weft_broadcast_config wrong[] = {
      {0, 4, 1, false}, {1, 6, 1, false}, {1, 4, 0, true}, {1, 4, 1025, true}};
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    EQUAL(weft_broadcast_bytes(wrong[i]), 0);
    CHECK(weft_broadcast_init(arena, sizeof arena, wrong[i]) == NULL);
  }
  const weft_broadcast_config edges[] = {{1, 4, 1, false}, {1, 4, 1024, true}};
  for (int i = 0; i < 2; i++) CHECK(weft_broadcast_bytes(edges[i]) > 0);
  weft_broadcast *b = broadcast_at(2, 8, false, 0);
  UNCHANGED(arena, 1024, weft_broadcast_try_push_int(b, 1), EINVAL);
  b = broadcast_at(2, 4, false, 0);
  int32_t seat = weft_broadcast_subscribe(b);
  EQUAL(weft_broadcast_subscribers(b), 1);
  UNCHANGED(arena, 1024, weft_broadcast_try_pop_int(b, seat, &value), EBUSY);
  weft_agent_set_blocking(false);
  UNCHANGED(arena, 1024, weft_broadcast_push_int(b, 1, 0), EPERM);
  UNCHANGED(arena, 1024, weft_broadcast_pop_int(b, seat, &value, 0), EPERM);
  weft_agent_set_blocking(true);
  EQUAL(weft_broadcast_pop_int(b, seat, &value, 20 * MS), ETIMEDOUT);
  EQUAL(weft_broadcast_push_int(b, 1, WEFT_FOREVER), 0);
  EQUAL(weft_broadcast_push_int(b, 2, WEFT_FOREVER), 0);
  EQUAL(weft_broadcast_push_int(b, 3, 20 * MS), ETIMEDOUT);
  weft_broadcast_close(b);
  CHECK(weft_broadcast_closed(b));
  UNCHANGED(arena, 1024, weft_broadcast_try_push_int(b, 3), EPIPE);
  EQUAL(weft_broadcast_pop_int(b, seat, &value, WEFT_FOREVER), 0);
  EQUAL(weft_broadcast_pop_int(b, seat, &value, WEFT_FOREVER), 0);
  EQUAL(value, 2);
  EQUAL(weft_broadcast_pop_int(b, seat, &value, WEFT_FOREVER), EPIPE);
  EQUAL(weft_broadcast_subscribe(b) >= 0, 1);
  EQUAL(weft_broadcast_subscribe(b) >= 0, 1);
  EQUAL(weft_broadcast_subscribe(b), -1);
}

/* A second producer is refused, until the first one is abandoned. */
static void roles(void) {
  const int32_t first = weft_agent_id();
  const int32_t pair[2] = {7, 7};
  weft_broadcast *b = broadcast_at(4, 8, false, 0);
  EQUAL(weft_broadcast_try_push(b, pair), 0);
  EQUAL(weft_agent_set_id(first == 5 ? 6 : 5), 0);
  UNCHANGED(arena, 1024, weft_broadcast_try_push(b, pair), EPERM);
  UNCHANGED(arena, 1024, weft_broadcast_push(b, pair, WEFT_FOREVER), EPERM);
  EQUAL(weft_broadcast_abandon(b, 0), 0);
  EQUAL(weft_broadcast_abandon(b, first), 0); /* it had no seats */
  EQUAL(weft_broadcast_try_push(b, pair), 0);
  EQUAL(weft_agent_set_id(first), 0);
  UNCHANGED(arena, 1024, weft_broadcast_try_push(b, pair), EPERM);
}

/* ---- threads ------------------------------------------------------------- */

static int32_t amount = 20000;

typedef struct {
  weft_broadcast *broadcast;
  int32_t seat;
  int32_t seen;
} listener;

static void *listen_on(void *argument) {
  listener *self = (listener *)argument;
  int32_t four[4], last = -1;
  for (;;) {
    int result =
        weft_broadcast_pop(self->broadcast, self->seat, four, WEFT_FOREVER);
    if (result == EPIPE) return NULL;
    EQUAL(result, 0);
    CHECK(four[0] > last);
    for (int32_t k = 1; k < 4; k++) EQUAL(four[k], four[0] + k * 1000003);
    last = four[0];
    self->seen++;
  }
}

static void all_see_all(void) {
  const int32_t capacities[] = {1, 64};
  for (int c = 0; c < 2; c++)
    for (int drop = 0; drop < 2; drop++) {
      weft_broadcast *b = broadcast_at(capacities[c], 16, drop == 1, -2000);
      listener listeners[SUBSCRIBERS];
      pthread_t threads[SUBSCRIBERS];
      for (int i = 0; i < SUBSCRIBERS; i++) {
        listener l = {b, weft_broadcast_subscribe(b), 0};
        listeners[i] = l;
        EQUAL(pthread_create(&threads[i], NULL, listen_on, &listeners[i]), 0);
      }
      for (int32_t i = 0; i < amount; i++) {
        int32_t four[4];
        for (int32_t k = 0; k < 4; k++) four[k] = i + k * 1000003;
        EQUAL(weft_broadcast_push(b, four, WEFT_FOREVER), 0);
      }
      weft_broadcast_close(b);
      for (int i = 0; i < SUBSCRIBERS; i++) {
        pthread_join(threads[i], NULL);
        int32_t lost = weft_broadcast_dropped(b, listeners[i].seat);
        EQUAL(listeners[i].seen + lost, amount);
        if (!drop) EQUAL(lost, 0);
      }
    }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(roles);
  RUN(all_see_all);
  puts("done");
  return 0;
}
