/* weft_latch: what it answers, and threads; the argument says how many times a
   thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/latch.h>
#include <weft/barrier.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static int32_t arena[1 << 12];

static void latch_by_turns(void) {
  for (int32_t count = 0; count < 6; count++) {
    weft_latch *l = weft_latch_init(arena, sizeof arena, count);
    CHECK(l != NULL && weft_latch_attach(arena) == l);
    EQUAL(weft_latch_count(l), count);
    UNCHANGED(l, 12, weft_latch_count_down(l, 0), EINVAL);
    UNCHANGED(l, 12, weft_latch_count_down(l, count + 1), EINVAL);
    UNCHANGED(l, 12, weft_latch_try_wait(l), count == 0 ? 0 : EBUSY);
    if (count > 1) {
      TAKES(2, weft_latch_arrive_and_wait(l, 3 * MS), ETIMEDOUT);
      EQUAL(weft_latch_count(l), count - 1);
      EQUAL(weft_latch_count_down(l, count - 1), 0);
    } else if (count == 1) {
      EQUAL(weft_latch_arrive_and_wait(l, 0), 0);
    }
    EQUAL(weft_latch_wait(l, WEFT_FOREVER), 0);
    EQUAL(l->state, 0);
    UNCHANGED(l, 12, weft_latch_arrive_and_wait(l, 0), EINVAL);
  }
  CHECK(weft_latch_init(arena, sizeof arena, -1) == NULL);
  CHECK(weft_latch_init(arena, sizeof arena, WEFT_LATCH_MAX) != NULL);
  CHECK(weft_latch_init((char *)arena + 2, sizeof arena - 2, 1) == NULL);
  CHECK(weft_barrier_attach(arena) == NULL);
  EQUAL(weft_latch_bytes(), 12);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_latch *l = weft_latch_init(arena, sizeof arena, 2);
  weft_agent_set_blocking(false);
  UNCHANGED(l, 12, weft_latch_wait(l, 0), EPERM);
  UNCHANGED(l, 12, weft_latch_arrive_and_wait(l, 0), EPERM);
  weft_agent_set_blocking(true);
}

/* A row of latches, which all threads open one after the other. */
typedef struct {
  weft_latch latches[2][512];
  int32_t arrived[512];
} stage;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  for (int32_t i = 0; i < amount; i++) {
    weft_latch *l = &s->latches[i / 512 % 2][i % 512];
    int32_t *arrived = &s->arrived[i % 512];
    /* All have come to this row by now: the other one begins anew. */
    if (self->index == 0 && i % 512 == 1)
      for (int k = 0; k < 512; k++)
        CHECK(weft_latch_init(&s->latches[1 - i / 512 % 2][k],
                              sizeof(weft_latch), THREADS) != NULL);
    shared_add(arrived, 1);
    if (random_below(&self->seed, 2) == 0) {
      EQUAL(weft_latch_count_down(l, 1), 0);
      while (weft_latch_wait(l, some_timeout(&self->seed)) != 0) {
      }
    } else {
      EQUAL(weft_latch_arrive_and_wait(l, WEFT_FOREVER), 0);
    }
    CHECK(shared_add(arrived, 0) >= THREADS * (i / 512 + 1));
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  for (int k = 0; k < 512; k++)
    CHECK(weft_latch_init(&s.latches[0][k], sizeof(weft_latch), THREADS) !=
          NULL);
  play_together(THREADS, play, &s);
  for (int k = 0; k < 512; k++)
    EQUAL(weft_latch_count(&s.latches[(amount - 1) / 512 % 2][k]),
          k <= (amount - 1) % 512 ? 0 : THREADS);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(latch_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
