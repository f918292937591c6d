/* weft_condition: what it answers, and threads; the argument says how many
   times a thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/condition.h>
#include <weft/condition_any.h>
#include "players.h"

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

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
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
  play_together(THREADS, play, &s);
  EQUAL(s.items, 0);
  EQUAL(s.taken, (int64_t)amount * (THREADS / 2));
}

/* ---- with other locks --------------------------------------------------- */

/* The lock is held again however the wait ends. */
static void any_by_turns(void) {
  static int32_t tracked[WEFT_RW_LOCK_TRACKED_BYTES(2) / 4];
  weft_rw_lock l;
  weft_condition c;
  weft_recursive_mutex m = {{0, 0}, 0};
  CHECK(weft_condition_init(&c, sizeof c) != NULL);
  CHECK(weft_rw_lock_init(&l, sizeof l) != NULL);
  weft_rw_lock *t = weft_rw_lock_init_tracked(tracked, sizeof tracked, 2);
  CHECK(t != NULL);
  be(1);
  UNCHANGED(&c, sizeof c, weft_condition_wait_write(&c, &l, 0), EPERM);
  UNCHANGED(&c, sizeof c, weft_condition_wait_read(&c, &l, 0), EPERM);
  UNCHANGED(&c, sizeof c, weft_condition_wait_recursive(&c, &m, 0), EPERM);
  EQUAL(weft_rw_lock_read(&l, 0), 0);
  UNCHANGED(&c, sizeof c, weft_condition_wait_write(&c, &l, 0), EPERM);
  TAKES(2, weft_condition_wait_read(&c, &l, 3 * MS), ETIMEDOUT);
  EQUAL(weft_rw_lock_readers(&l), 1);
  EQUAL(weft_rw_lock_unlock_read(&l), 0);
  EQUAL(weft_rw_lock_write(&l, 0), 0);
  UNCHANGED(&c, sizeof c, weft_condition_wait_read(&c, &l, 0), EPERM);
  TAKES(2, weft_condition_wait_write(&c, &l, 3 * MS), ETIMEDOUT);
  EQUAL(weft_rw_lock_writer(&l), 1);
  weft_agent_set_blocking(false);
  UNCHANGED(&c, sizeof c, weft_condition_wait_write(&c, &l, 0), EPERM);
  weft_agent_set_blocking(true);
  be(2);
  UNCHANGED(&c, sizeof c, weft_condition_wait_write(&c, &l, 0), EPERM);
  be(1);
  EQUAL(weft_rw_lock_unlock_write(&l), 0);
  /* A tracked lock knows who reads. */
  EQUAL(weft_rw_lock_read(t, 0), 0);
  be(2);
  UNCHANGED(&c, sizeof c, weft_condition_wait_read(&c, t, 0), EPERM);
  be(1);
  TAKES(2, weft_condition_wait_read(&c, t, 3 * MS), ETIMEDOUT);
  EQUAL(weft_rw_lock_unlock_read(t), 0);
  for (int i = 0; i < 3; i++) EQUAL(weft_recursive_mutex_try_lock(&m), 0);
  TAKES(2, weft_condition_wait_recursive(&c, &m, 3 * MS), ETIMEDOUT);
  EQUAL(m.depth, 3);
  for (int i = 0; i < 3; i++) EQUAL(weft_recursive_mutex_unlock(&m), 0);
  EQUAL(weft_recursive_mutex_owner(&m), 0);
}

/* `step` goes up to `amount`: writers take turns, and readers see all of it. */
typedef struct {
  weft_rw_lock lock;
  weft_recursive_mutex mutex;
  weft_condition moved;
  int32_t step, told; /* guarded by `lock`, and by `mutex` */
} stairs;

typedef struct {
  int32_t index;
  stairs *s;
} climber;

static void *climb(void *argument) {
  climber *self = (climber *)argument;
  stairs *s = self->s;
  if (self->index >= 2) { /* reads */
    EQUAL(weft_rw_lock_read(&s->lock, WEFT_FOREVER), 0);
    while (s->step < amount)
      EQUAL(weft_condition_wait_read(&s->moved, &s->lock, WEFT_FOREVER), 0);
    EQUAL(weft_rw_lock_unlock_read(&s->lock), 0);
    EQUAL(weft_recursive_mutex_lock(&s->mutex, WEFT_FOREVER), 0);
    EQUAL(weft_recursive_mutex_lock(&s->mutex, WEFT_FOREVER), 0);
    s->told++;
    EQUAL(weft_condition_notify_all(&s->moved), 0);
    while (s->told < THREADS - 2)
      EQUAL(weft_condition_wait_recursive(&s->moved, &s->mutex, WEFT_FOREVER),
            0);
    EQUAL(weft_recursive_mutex_unlock(&s->mutex), 0);
    EQUAL(weft_recursive_mutex_unlock(&s->mutex), 0);
    return NULL;
  }
  EQUAL(weft_rw_lock_write(&s->lock, WEFT_FOREVER), 0);
  while (s->step < amount) {
    if (s->step % 2 == self->index) {
      s->step++;
      EQUAL(weft_condition_notify_all(&s->moved), 0);
      continue;
    }
    EQUAL(weft_condition_wait_write(&s->moved, &s->lock, WEFT_FOREVER), 0);
    EQUAL(weft_rw_lock_writer(&s->lock), weft_agent_id());
  }
  EQUAL(weft_rw_lock_unlock_write(&s->lock), 0);
  return NULL;
}

static void any_by_threads(void) {
  static stairs s;
  memset(&s, 0, sizeof s);
  pthread_t threads[THREADS];
  climber climbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    climbers[i].index = i;
    climbers[i].s = &s;
  }
  start_threads(threads, THREADS, climb, climbers, sizeof *climbers);
  join_threads(threads, THREADS);
  EQUAL(s.step, amount);
  EQUAL(s.told, THREADS - 2);
  EQUAL(weft_rw_lock_readers(&s.lock), 0);
  EQUAL(weft_rw_lock_writer(&s.lock), 0);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(condition_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  RUN(any_by_turns);
  RUN(any_by_threads);
  puts("done");
  return 0;
}
