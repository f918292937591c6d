/* weft_mutex: against a model where agents take turns, errors, and threads: the
   argument says how many times each locks it, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/mutex.h>
#include <weft/recursive_mutex.h>
#include "check.h"

static int32_t amount = 20000;

#define THREADS 4

/* Answers what `weft_mutex_lock` does when agent `id` calls it. */
static int lock_as(weft_mutex *m, int32_t id, int64_t timeout) {
  weft_agent_set_id(id);
  return weft_mutex_lock(m, timeout);
}

static void mutex_by_turns(void) {
  weft_mutex m;
  memset(&m, 0xff, sizeof m);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  EQUAL(m.state, 0);
  EQUAL(m.starving, 0);
  uint32_t seed = 1;
  int32_t owner = 0;
  bool abandoned = false;
  for (int i = 0; i < 20000; i++) {
    int32_t id = 1 + random_below(&seed, 3);
    weft_agent_set_id(id);
    switch (random_below(&seed, 4)) {
      case 0: {
        int wanted = owner ? EBUSY : abandoned ? EOWNERDEAD : 0;
        EQUAL(weft_mutex_try_lock(&m), wanted);
        if (wanted == EBUSY) break;
        owner = id;
        abandoned = false;
        break;
      }
      case 1: {
        int wanted = owner == id ? EDEADLK
                     : owner     ? ETIMEDOUT
                     : abandoned ? EOWNERDEAD
                                 : 0;
        EQUAL(weft_mutex_lock(&m, 0), wanted);
        if (wanted == EDEADLK || wanted == ETIMEDOUT) break;
        owner = id;
        abandoned = false;
        break;
      }
      case 2:
        EQUAL(weft_mutex_unlock(&m), owner == id ? 0 : EPERM);
        if (owner == id) owner = 0;
        break;
      default: {
        int32_t dead = random_below(&seed, 4);
        bool held = dead != 0 && dead == owner;
        EQUAL(weft_mutex_abandon(&m, dead), held ? 1 : 0);
        if (!held) break;
        owner = 0;
        abandoned = true;
      }
    }
    EQUAL(weft_mutex_owner(&m), owner);
  }
}

static void mutex_errors(void) {
  weft_mutex m = {0, 0};
  UNCHANGED(&m, sizeof m, (weft_agent_set_id(5), weft_mutex_unlock(&m)), EPERM);
  EQUAL(lock_as(&m, 5, WEFT_FOREVER), 0);
  EQUAL(m.state, 5);
  UNCHANGED(&m, sizeof m, weft_mutex_lock(&m, WEFT_FOREVER), EDEADLK);
  UNCHANGED(&m, sizeof m, weft_mutex_try_lock(&m), EBUSY);
  weft_agent_set_id(6);
  UNCHANGED(&m, sizeof m, weft_mutex_try_lock(&m), EBUSY);
  UNCHANGED(&m, sizeof m, weft_mutex_unlock(&m), EPERM);
  UNCHANGED(&m, sizeof m, weft_mutex_abandon(&m, 6), 0);
  UNCHANGED(&m, sizeof m, weft_mutex_abandon(&m, 0), 0);
  TAKES(20, weft_mutex_lock(&m, 20 * MS), ETIMEDOUT);
  EQUAL(weft_mutex_owner(&m), 5);
  weft_agent_set_blocking(false);
  UNCHANGED(&m, sizeof m, weft_mutex_lock(&m, WEFT_FOREVER), EPERM);
  weft_agent_set_blocking(true);
  EQUAL(weft_mutex_abandon(&m, 5), 1);
  EQUAL(weft_mutex_owner(&m), 0);
  EQUAL(lock_as(&m, 6, WEFT_FOREVER), EOWNERDEAD);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(lock_as(&m, 6, WEFT_FOREVER), 0);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(m.state & WEFT_MUTEX_OWNER_MASK, 0);
}

/* Kept for a sleeper that was terminated: anyone has it after a while. */
static void mutex_handoff_to_nobody(void) {
  weft_mutex m = {WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT, 1};
  TAKES(0, lock_as(&m, 4, 500 * MS), 0);
  EQUAL(weft_mutex_owner(&m), 4);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(lock_as(&m, 5, 0), 0);
  EQUAL(weft_mutex_unlock(&m), 0);
  m.state = WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT;
  EQUAL(weft_mutex_try_lock(&m), 0);
  EQUAL(m.state, 5 | WEFT_MUTEX_CONTENDED_BIT);
  EQUAL(weft_mutex_unlock(&m), 0);
}

/* ---- threads ------------------------------------------------------------ */

typedef struct {
  weft_mutex mutex;
  int64_t count; /* guarded, and not atomic */
  int32_t locked;
} guarded;

typedef struct {
  uint32_t seed;
  guarded *section;
} section_user;

static void *use_section(void *argument) {
  section_user *self = (section_user *)argument;
  guarded *s = self->section;
  for (int32_t i = 0; i < amount; i++) {
    int result = random_below(&self->seed, 8) == 0
                     ? weft_mutex_try_lock(&s->mutex)
                     : weft_mutex_lock(&s->mutex, some_timeout(&self->seed));
    if (not_now(result)) continue;
    EQUAL(result, 0);
    EQUAL(weft_mutex_owner(&s->mutex), weft_agent_id());
    s->count++;
    shared_add(&s->locked, 1);
    if (i % 64 == 0) sched_yield();
    EQUAL(weft_mutex_unlock(&s->mutex), 0);
  }
  return NULL;
}

static void mutex_excludes(void) {
  guarded s = {{0, 0}, 0, 0};
  section_user users[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    users[i].seed = (uint32_t)i + 1;
    users[i].section = &s;
  }
  start_threads(threads, THREADS, use_section, users, sizeof *users);
  join_threads(threads, THREADS);
  EQUAL(s.count, s.locked);
  CHECK(s.count > amount);
  EQUAL(weft_mutex_owner(&s.mutex), 0);
  EQUAL(weft_mutex_lock(&s.mutex, 0), 0);
}

static void *lock_and_end(void *argument) {
  weft_mutex *m = (weft_mutex *)argument;
  EQUAL(weft_mutex_lock(m, WEFT_FOREVER), 0);
  return (void *)(intptr_t)weft_agent_id();
}

typedef struct {
  weft_mutex *mutex;
  int result;
} heir;

static void *inherit(void *argument) {
  heir *self = (heir *)argument;
  self->result = weft_mutex_lock(self->mutex, WEFT_FOREVER);
  EQUAL(weft_mutex_unlock(self->mutex), 0);
  return NULL;
}

static void mutex_abandoned_has_one_heir(void) {
  for (int round = 0; round < 20; round++) {
    weft_mutex m = {0, 0};
    heir heirs[THREADS];
    pthread_t owner, threads[THREADS];
    void *id = NULL;
    EQUAL(pthread_create(&owner, NULL, lock_and_end, &m), 0);
    EQUAL(pthread_join(owner, &id), 0);
    for (int i = 0; i < THREADS; i++) {
      heirs[i].mutex = &m;
      heirs[i].result = -1;
    }
    start_threads(threads, THREADS, inherit, heirs, sizeof *heirs);
    if (round % 2 == 0) pause_ms(3); /* they sleep */
    EQUAL(weft_mutex_abandon(&m, (int32_t)(intptr_t)id), 1);
    join_threads(threads, THREADS);
    int abandoned = 0;
    for (int i = 0; i < THREADS; i++) {
      CHECK(heirs[i].result == 0 || heirs[i].result == EOWNERDEAD);
      abandoned += heirs[i].result == EOWNERDEAD;
    }
    EQUAL(abandoned, 1);
  }
}

/* ---- recursive ---------------------------------------------------------- */

static void recursive_by_turns(void) {
  weft_recursive_mutex m;
  memset(&m, 0xff, sizeof m);
  CHECK(weft_recursive_mutex_init(&m, sizeof m) != NULL);
  CHECK(weft_recursive_mutex_init(&m, sizeof m - 1) == NULL);
  uint32_t seed = 7;
  int32_t owner = 0, depth = 0;
  bool abandoned = false;
  for (int i = 0; i < 20000; i++) {
    int32_t id = 1 + random_below(&seed, 2);
    weft_agent_set_id(id);
    switch (random_below(&seed, 5)) {
      case 0:
      case 1: {
        bool tries = random_below(&seed, 2) == 0;
        bool ours = owner == 0 || owner == id;
        int wanted = !ours          ? tries ? EBUSY : ETIMEDOUT
                     : abandoned    ? EOWNERDEAD
                                    : 0;
        EQUAL(tries ? weft_recursive_mutex_try_lock(&m)
                    : weft_recursive_mutex_lock(&m, 0),
              wanted);
        if (!ours) break;
        owner = id;
        depth++;
        abandoned = false;
        break;
      }
      case 2:
      case 3:
        EQUAL(weft_recursive_mutex_unlock(&m), owner == id ? 0 : EPERM);
        if (owner == id && --depth == 0) owner = 0;
        break;
      default:
        if (random_below(&seed, 8) != 0) break;
        EQUAL(weft_recursive_mutex_abandon(&m, id), owner == id ? 1 : 0);
        if (owner != id) break;
        owner = depth = 0;
        abandoned = true;
    }
    EQUAL(weft_recursive_mutex_owner(&m), owner);
    if (owner != 0) EQUAL(m.depth, depth);
  }
}

static void recursive_errors(void) {
  weft_recursive_mutex m = {{0, 0}, 0};
  weft_agent_set_id(5);
  UNCHANGED(&m, sizeof m, weft_recursive_mutex_unlock(&m), EPERM);
  weft_agent_set_blocking(false);
  UNCHANGED(&m, sizeof m, weft_recursive_mutex_lock(&m, 0), EPERM);
  EQUAL(weft_recursive_mutex_try_lock(&m), 0);
  EQUAL(weft_recursive_mutex_lock(&m, 0), 0); /* it need not wait */
  weft_agent_set_blocking(true);
  m.depth = INT32_MAX;
  UNCHANGED(&m, sizeof m, weft_recursive_mutex_lock(&m, 0), EOVERFLOW);
  UNCHANGED(&m, sizeof m, weft_recursive_mutex_try_lock(&m), EOVERFLOW);
  /* One that locks the inner mutex leaves `depth` as it was. */
  EQUAL(weft_recursive_mutex_abandon(&m, 5), 1);
  EQUAL(weft_mutex_lock(&m.mutex, 0), EOWNERDEAD);
  EQUAL(weft_mutex_unlock(&m.mutex), 0);
  EQUAL(weft_recursive_mutex_lock(&m, 0), 0);
  EQUAL(weft_recursive_mutex_unlock(&m), 0);
  EQUAL(weft_recursive_mutex_owner(&m), 0);
}

typedef struct {
  weft_recursive_mutex mutex;
  int64_t count; /* guarded, and not atomic */
} nested;

static void *use_nested(void *argument) {
  nested *s = (nested *)argument;
  for (int32_t i = 0; i < amount; i++) {
    EQUAL(weft_recursive_mutex_lock(&s->mutex, WEFT_FOREVER), 0);
    EQUAL(weft_recursive_mutex_try_lock(&s->mutex), 0);
    s->count++;
    EQUAL(weft_recursive_mutex_unlock(&s->mutex), 0);
    s->count++;
    EQUAL(weft_recursive_mutex_unlock(&s->mutex), 0);
  }
  return NULL;
}

static void recursive_excludes(void) {
  nested s = {{{0, 0}, 0}, 0};
  pthread_t threads[THREADS];
  start_threads(threads, THREADS, use_nested, &s, 0);
  join_threads(threads, THREADS);
  EQUAL(s.count, 2LL * THREADS * amount);
  EQUAL(weft_recursive_mutex_owner(&s.mutex), 0);
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(mutex_by_turns);
  RUN(mutex_errors);
  RUN(mutex_handoff_to_nobody);
  RUN(mutex_excludes);
  RUN(mutex_abandoned_has_one_heir);
  RUN(recursive_by_turns);
  RUN(recursive_errors);
  RUN(recursive_excludes);
  puts("done");
  return 0;
}
