/* WEFT_REALTIME: the operations that are left work, and make no system call
   except wakes. */
#define _POSIX_C_SOURCE 200809L
#define WEFT_REALTIME
#define WEFT_STDIO
#include <weft.h>

#include "check.h"

static int32_t arena[1 << 14];

static void queues(void) {
  weft_queue_config config = {4, 8};
  int32_t in[2] = {7, -7}, out[2] = {0, 0};
#define USE(kind)                                                        \
  do {                                                                   \
    weft_##kind *q = weft_##kind##_init(arena, sizeof arena, config);    \
    CHECK(q != NULL && weft_##kind##_attach(arena) == q);                \
    EQUAL(weft_##kind##_try_pop(q, out), EBUSY);                         \
    for (int i = 0; i < 4; i++) EQUAL(weft_##kind##_try_push(q, in), 0); \
    EQUAL(weft_##kind##_try_push(q, in), EBUSY);                         \
    EQUAL(weft_##kind##_try_pop(q, out), 0);                             \
    CHECK(out[0] == 7 && out[1] == -7);                                  \
    EQUAL(weft_##kind##_try_pop_many(q, arena + (1 << 13), 9), 3);       \
    weft_##kind##_close(q);                                              \
    EQUAL(weft_##kind##_try_push(q, in), EPIPE);                         \
    EQUAL(weft_##kind##_try_pop(q, out), EPIPE);                         \
  } while (0)
  USE(spsc_queue);
  weft_spsc_queue *q = weft_spsc_queue_init(arena, sizeof arena, config);
  int32_t *at = (int32_t *)weft_spsc_queue_reserve(q);
  CHECK(at != NULL);
  at[0] = 9;
  EQUAL(weft_spsc_queue_commit(q), 0);
  const int32_t *seen = (const int32_t *)weft_spsc_queue_peek(q);
  CHECK(seen != NULL && seen[0] == 9);
  weft_spsc_queue_consume(q);
  USE(mpmc_queue);
  USE(lock_free_queue);
}

static void others(void) {
  weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, 1);
  EQUAL(weft_semaphore_try_acquire(s, 1), 0);
  EQUAL(weft_semaphore_try_acquire(s, 1), EBUSY);
  EQUAL(weft_semaphore_release(s, 1), 0);
  EQUAL(weft_semaphore_drain(s), 1);
  weft_event e;
  CHECK(weft_event_init(&e, sizeof e, true) != NULL);
  weft_event_set(&e);
  EQUAL(weft_event_try_wait(&e), 0);
  EQUAL(weft_event_try_wait(&e), EBUSY);
  weft_latch *l = weft_latch_init(arena, sizeof arena, 1);
  EQUAL(weft_latch_try_wait(l), EBUSY);
  EQUAL(weft_latch_count_down(l, 1), 0);
  EQUAL(weft_latch_try_wait(l), 0);
  weft_wait_group g = {0};
  EQUAL(weft_wait_group_add(&g, 1), 0);
  EQUAL(weft_wait_group_try_wait(&g), EBUSY);
  EQUAL(weft_wait_group_done(&g, 1), 0);
  EQUAL(weft_wait_group_try_wait(&g), 0);
  weft_work_config work = {1, 0};
  weft_work_counter *w = weft_work_counter_init(arena, sizeof arena, 1, work);
  weft_work_range range = {0, 0};
  EQUAL(weft_work_counter_next(w, &range), 0);
  EQUAL(weft_work_counter_done(w, 1), 0);
  EQUAL(weft_work_counter_next(w, &range), -1);
  weft_work_deque *d = weft_work_deque_init(arena, sizeof arena, 4);
  int32_t item = 0;
  EQUAL(weft_work_deque_push(d, 7), 0);
  EQUAL(weft_work_deque_steal(d, &item), 0);
  EQUAL(item, 7);
  weft_striped_counter *c = weft_striped_counter_init(arena, sizeof arena, 2);
  weft_striped_counter_add(c, -7);
  EQUAL(weft_striped_counter_sum(c), -7);
}

int main(void) {
  RUN(queues);
  RUN(others);
  puts("done");
  return 0;
}
