/* weft_work_deque: against a sequential model where positions wrap, and between
   an owner and thieves. */
#define _POSIX_C_SOURCE 200809L
#include <weft/work_deque.h>

#include "check.h"

static int32_t arena[1 << 12];

static weft_work_deque *deque_at(int32_t capacity, int32_t start) {
  weft_work_deque *d = weft_work_deque_init(arena, sizeof arena, capacity);
  CHECK(d != NULL && weft_work_deque_attach(arena) == d);
  d->bottom = d->top = start;
  return d;
}

static void by_turns(void) {
  const int32_t capacities[] = {1, 2, 3, 16};
  uint32_t seed = 4;
  for (int c = 0; c < 4; c++)
    for (int start = 0; start < STARTS_COUNT; start++) {
      int32_t from = weft__minus(STARTS[start], random_below(&seed, 50));
      weft_work_deque *d = deque_at(capacities[c], from);
      int32_t capacity = weft_work_deque_capacity(d);
      int32_t items[16], size = 0, next = 0, item = 0;
      for (int i = 0; i < 2000; i++) {
        switch (random_below(&seed, 5)) {
          case 0:
            EQUAL(weft_work_deque_pop(d, &item), size > 0 ? 0 : EBUSY);
            if (size > 0) EQUAL(item, items[--size]);
            break;
          case 1:
            EQUAL(weft_work_deque_steal(d, &item), size > 0 ? 0 : EBUSY);
            if (size == 0) break;
            EQUAL(item, items[0]);
            memmove(items, items + 1, (size_t)--size * sizeof *items);
            break;
          case 2:
            weft_work_deque_adopt(d);
            break;
          default:
            EQUAL(weft_work_deque_push(d, next), size < capacity ? 0 : EBUSY);
            if (size < capacity) items[size++] = next++;
        }
        EQUAL(weft_work_deque_size(d), size);
      }
    }
}

static void errors(void) {
  const int32_t wrong[] = {0, -1, (1 << 28) + 1, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    EQUAL(weft_work_deque_bytes(wrong[i]), 0);
    CHECK(weft_work_deque_init(arena, sizeof arena, wrong[i]) == NULL);
  }
  CHECK(weft_work_deque_init((char *)arena + 1, sizeof arena - 1, 4) == NULL);
  EQUAL(weft_work_deque_bytes(3), (96 + 4) * 4);
  weft_work_deque *d = deque_at(2, 5);
  d->bottom = 4; /* an owner stopped in the pop of the last item */
  weft_work_deque_adopt(d);
  EQUAL(d->bottom, 5);
  EQUAL(weft_work_deque_size(d), 0);
}

/* A second owner is refused, until the first one left and it adopts. */
static void roles(void) {
  const int32_t first = weft_agent_id();
  weft_work_deque *d = deque_at(4, 5);
  int32_t item = 0;
  EQUAL(weft_work_deque_abandon(d, 0), 0); /* it has no owner yet */
  EQUAL(weft_work_deque_push(d, 7), 0);
  EQUAL(weft_agent_set_id(first == 5 ? 6 : 5), 0);
  UNCHANGED(arena, 512, weft_work_deque_push(d, 8), EPERM);
  UNCHANGED(arena, 512, weft_work_deque_pop(d, &item), EPERM);
  UNCHANGED(arena, 512, weft_work_deque_adopt(d), EPERM);
  EQUAL(weft_work_deque_abandon(d, weft_agent_id()), 0);
  EQUAL(weft_work_deque_abandon(d, first), 1);
  EQUAL(weft_work_deque_abandon(d, first), 0);
  EQUAL(weft_work_deque_abandon(d, WEFT_WORK_DEQUE_LEFT_BIT), 0);
  UNCHANGED(arena, 512, weft_work_deque_push(d, 8), EPERM);
  EQUAL(weft_work_deque_adopt(d), 0);
  EQUAL(weft_work_deque_pop(d, &item), 0);
  EQUAL(item, 7);
  EQUAL(weft_agent_set_id(first), 0);
  UNCHANGED(arena, 512, weft_work_deque_adopt(d), EPERM);
}

/* ---- threads ------------------------------------------------------------- */

#define THIEVES 3
static int32_t amount = 100000;
static int32_t over;
static unsigned char *seen;

static void take(int32_t item) {
  EQUAL(__atomic_fetch_add(&seen[item], 1, __ATOMIC_SEQ_CST), 0);
}

static void *thieve(void *argument) {
  weft_work_deque *d = (weft_work_deque *)argument;
  int32_t item = 0, last = -1;
  for (;;) {
    int32_t done = weft__load(&over);
    if (weft_work_deque_steal(d, &item) == 0) {
      CHECK(item > last); /* from the old end */
      last = item;
      take(item);
    } else if (done)
      return NULL;
  }
}

static void an_item_has_one_taker(void) {
  const int32_t capacities[] = {1, 4, 256};
  for (int c = 0; c < 3; c++) {
    weft_work_deque *d =
        deque_at(capacities[c], weft__minus(INT32_MAX, amount / 2));
    pthread_t threads[THIEVES];
    uint32_t seed = 3;
    int32_t item = 0;
    seen = (unsigned char *)calloc((size_t)amount, 1);
    weft__store(&over, 0);
    for (int i = 0; i < THIEVES; i++)
      EQUAL(pthread_create(&threads[i], NULL, thieve, d), 0);
    for (int32_t next = 0; next < amount;) {
      if (random_below(&seed, 3) > 0)
        next += weft_work_deque_push(d, next) == 0;
      else if (weft_work_deque_pop(d, &item) == 0)
        take(item);
    }
    while (weft_work_deque_pop(d, &item) == 0) take(item);
    weft__store(&over, 1);
    for (int i = 0; i < THIEVES; i++) pthread_join(threads[i], NULL);
    for (int32_t i = 0; i < amount; i++) EQUAL(seen[i], 1);
    free(seen);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 4000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(roles);
  RUN(an_item_has_one_taker);
  puts("done");
  return 0;
}
