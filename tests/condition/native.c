/* weft_condition: what it answers, and threads; the argument says how many times a
   thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/condition.h>
#include "check.h"

static int32_t amount = 2000;

#define THREADS 4

static void be(int32_t id) { EQUAL(weft_agent_set_id(id), 0); }

static void condition_by_turns(void) {
  weft_condition c;
  weft_mutex m;
  CHECK(weft_condition_init(&c, sizeof c) != NULL);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  be(1);
  EQUAL(weft_condition_wait(&c, &m, 0), EPERM);
  EQUAL(weft_mutex_lock(&m, 0), 0);
  TAKES(2, weft_condition_wait(&c, &m, 3 * MS), ETIMEDOUT);
  EQUAL(weft_mutex_owner(&m), 1);
  be(2);
  UNCHANGED(&c, sizeof c, weft_condition_wait(&c, &m, 0), EPERM);
  UNCHANGED(&c, sizeof c, weft_condition_notify(&c, 0), EINVAL);
  UNCHANGED(&c, sizeof c, weft_condition_notify(&c, 1), 0);
  be(1);
  EQUAL(weft_mutex_unlock(&m), 0);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_condition c;
  weft_mutex m;
  CHECK(weft_condition_init(&c, sizeof c) != NULL);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  EQUAL(weft_mutex_try_lock(&m), 0);
  weft_agent_set_blocking(false);
  UNCHANGED(&c, sizeof c, weft_condition_wait(&c, &m, 0), EPERM);
  weft_agent_set_blocking(true);
}

/* A box of 3 items: half of the threads put, and half take. */
typedef struct {
  weft_mutex mutex;
  weft_condition filled, emptied;
  int32_t items; /* guarded */
  int64_t taken;
} stage;

typedef struct {
  uint32_t seed;
  int32_t index;
  stage *s;
} player;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = self->s;
  bool puts = self->index % 2 == 0;
  for (int32_t i = 0; i < amount; i++) {
    weft_condition *own = puts ? &s->emptied : &s->filled;
    EQUAL(weft_mutex_lock(&s->mutex, WEFT_FOREVER), 0);
    while (s->items == (puts ? 3 : 0)) {
      int result =
          weft_condition_wait(own, &s->mutex, some_timeout(&self->seed));
      CHECK(result == 0 || result == ETIMEDOUT);
      EQUAL(weft_mutex_owner(&s->mutex), weft_agent_id());
    }
    s->items += puts ? 1 : -1;
    if (!puts) s->taken++;
    if (i % 3 == 0) {
      weft_condition_notify_all(puts ? &s->filled : &s->emptied);
      EQUAL(weft_mutex_unlock(&s->mutex), 0);
    } else {
      EQUAL(weft_mutex_unlock(&s->mutex), 0);
      EQUAL(weft_condition_notify(puts ? &s->filled : &s->emptied, 1), 0);
    }
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  pthread_t threads[THREADS];
  player players[THREADS];
  for (int i = 0; i < THREADS; i++) {
    players[i].seed = (uint32_t)i + 1;
    players[i].index = i;
    players[i].s = &s;
  }
  start_threads(threads, THREADS, play, players, sizeof *players);
  join_threads(threads, THREADS);
  EQUAL(s.items, 0);
  EQUAL(s.taken, (int64_t)amount * (THREADS / 2));
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(condition_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
