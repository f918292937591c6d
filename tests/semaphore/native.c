/* weft_semaphore: against a model, errors, claims of the dead, and threads: the
   argument says how many times each acquires, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/semaphore.h>
#include "check.h"
#include "attach.h"

static int32_t amount = 20000;

#define THREADS 4

static void *attach(void *at) { return weft_semaphore_attach(at); }

static void attaching(void) {
  memset(arena, 0xa5, sizeof arena);
  CHECK(weft_semaphore_init(arena, sizeof arena, 3) != NULL);
  attach_wrongly(WEFT_KIND_semaphore, attach, 2, 1);
}

static void init_refuses(void) {
  void *odd = (char *)arena + 2;
  memset(arena, 0xa5, sizeof arena);
  REFUSED(weft_semaphore_init(arena, sizeof arena, -1));
  REFUSED(weft_semaphore_init(arena, sizeof arena, 0x40000000));
  REFUSED(weft_semaphore_init(arena, sizeof arena, INT32_MIN));
  REFUSED(weft_semaphore_init(odd, sizeof arena, 1));
  REFUSED(weft_semaphore_init(NULL, sizeof arena, 1));
  EQUAL(weft_semaphore_bytes(), 36);
}

static void semaphore_by_turns(void) {
  const int32_t starts[] = {0, 5, WEFT_SEMAPHORE_MAX, WEFT_SEMAPHORE_MAX - 4};
  uint32_t seed = 2;
  for (int start = 0; start < 4; start++) {
    int32_t permits = starts[start];
    weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, permits);
    for (int i = 0; i < 5000; i++) {
      int32_t n = 1 + random_below(&seed, 6);
      switch (random_below(&seed, 4)) {
        case 3:
          if (random_below(&seed, 8) != 0) break; /* leaves some to the rest */
          EQUAL(weft_semaphore_drain(s), permits);
          permits = 0;
          break;
        case 0: {
          bool fits = permits <= WEFT_SEMAPHORE_MAX - n;
          EQUAL(weft_semaphore_release(s, n), fits ? 0 : EOVERFLOW);
          if (fits) permits += n;
          break;
        }
        case 1:
          EQUAL(weft_semaphore_try_acquire(s, n), n <= permits ? 0 : EBUSY);
          if (n <= permits) permits -= n;
          break;
        default:
          EQUAL(weft_semaphore_acquire(s, n, 0), n <= permits ? 0 : ETIMEDOUT);
          if (n <= permits) permits -= n;
      }
      EQUAL(weft_semaphore_available(s), permits);
      EQUAL((int32_t)((uint32_t)s->permits >> 2), permits);
      EQUAL(s->waiters | s->bulk | s->claimant | s->claim, 0);
    }
  }
}

static void semaphore_errors(void) {
  weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, 2);
  const int32_t wrong[] = {0, -1, INT32_MIN, INT32_MAX, 0x40000000};
  for (int i = 0; i < 5; i++) {
    UNCHANGED(s, 36, weft_semaphore_try_acquire(s, wrong[i]), EINVAL);
    UNCHANGED(s, 36, weft_semaphore_acquire(s, wrong[i], 0), EINVAL);
    UNCHANGED(s, 36, weft_semaphore_release(s, wrong[i]), EINVAL);
  }
  UNCHANGED(s, 36, weft_semaphore_release(s, WEFT_SEMAPHORE_MAX - 1),
            EOVERFLOW);
  UNCHANGED(s, 36, weft_semaphore_try_acquire(s, 3), EBUSY);
  UNCHANGED(s, 36,
            weft_semaphore_acquire(s, 1, 0) + weft_semaphore_release(s, 1), 0);
  weft_agent_set_blocking(false);
  UNCHANGED(s, 36, weft_semaphore_acquire(s, 1, WEFT_FOREVER), EPERM);
  weft_agent_set_blocking(true);
  UNCHANGED(s, 36, weft_semaphore_abandon(s, 1), 0);
  UNCHANGED(s, 36, weft_semaphore_abandon(s, 0), 0);
  TAKES(20, weft_semaphore_acquire(s, 3, 20 * MS), ETIMEDOUT);
  EQUAL(weft_semaphore_available(s), 2);
  EQUAL(weft_semaphore_waiters(s), 0);
  EQUAL(weft_semaphore_acquire(s, 2, WEFT_FOREVER), 0);
  TAKES(20, weft_semaphore_acquire(s, 1, 20 * MS), ETIMEDOUT);
  EQUAL(weft_semaphore_release(s, WEFT_SEMAPHORE_MAX), 0);
  EQUAL(weft_semaphore_available(s), WEFT_SEMAPHORE_MAX);
  EQUAL(s->waiters | s->bulk | s->claimant | s->claim, 0);
}

/* An agent was terminated with a claim: its permits come back, once. */
static void semaphore_abandon_claim(void) {
  weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, 2);
  s->permits = (5 - 2) << 2 | WEFT_SEMAPHORE_DEBT;
  s->claimant = 77;
  s->claim = 5;
  EQUAL(weft_semaphore_available(s), 0);
  UNCHANGED(s, 36, weft_semaphore_try_acquire(s, 1), EBUSY);
  UNCHANGED(s, 36, weft_semaphore_drain(s), 0);
  UNCHANGED(s, 36, weft_semaphore_abandon(s, 78), 0);
  EQUAL(weft_semaphore_abandon(s, 77), 5);
  EQUAL(weft_semaphore_available(s), 2);
  EQUAL(s->claimant | s->claim, 0);
  UNCHANGED(s, 36, weft_semaphore_abandon(s, 77), 0);
}

/* With `max`, nobody can acquire more, or release beyond it. */
static void semaphore_max(void) {
  REFUSED(weft_semaphore_init_max(arena, sizeof arena, 0, 0));
  REFUSED(weft_semaphore_init_max(arena, sizeof arena, 3, 2));
  REFUSED(weft_semaphore_init_max(arena, sizeof arena, 0, 0x40000000));
  REFUSED(weft_semaphore_init_tracked_max(arena, sizeof arena, 0, 1, 2048));
  REFUSED(weft_semaphore_init_tracked_max(arena, sizeof arena, 0, 0, 2));
  weft_semaphore *s = weft_semaphore_init_max(arena, sizeof arena, 2, 3);
  CHECK(weft_semaphore_attach(arena) == s);
  EQUAL(weft_semaphore_max(s), 3);
  UNCHANGED(s, 36, weft_semaphore_try_acquire(s, 4), EINVAL);
  UNCHANGED(s, 36, weft_semaphore_acquire(s, 4, WEFT_FOREVER), EINVAL);
  UNCHANGED(s, 36, weft_semaphore_release(s, 2), EOVERFLOW);
  UNCHANGED(s, 36, weft_semaphore_release(s, 4), EOVERFLOW);
  EQUAL(weft_semaphore_release(s, 1), 0);
  EQUAL(weft_semaphore_acquire(s, 3, 0), 0);
  weft__semaphore_owe(s, 2); /* as a claimant does: there is room for 5 */
  UNCHANGED(s, 36, weft_semaphore_release(s, 4), EOVERFLOW);
  EQUAL(weft_semaphore_release(s, 3), 0);
  s = weft_semaphore_init_tracked_max(arena, sizeof arena, 2, 2, 3);
  EQUAL(weft_semaphore_max(s), 3);
  EQUAL(weft_semaphore_tracked(s), 2);
  EQUAL(weft_semaphore_try_acquire(s, 4), EINVAL);
  EQUAL(weft_semaphore_release(s, 4), EINVAL);
}

/* ---- tracked ------------------------------------------------------------ */

static void semaphore_tracked(void) {
  int32_t held[3] = {0, 0, 0}, free = 6;
  uint32_t seed = 5;
  size_t bytes = WEFT_SEMAPHORE_TRACKED_BYTES(3);
  memset(arena, 0xa5, sizeof arena);
  EQUAL(weft_semaphore_tracked_bytes(3), bytes);
  EQUAL(bytes, 4 * (40 + 3 * 32));
  EQUAL(weft_semaphore_tracked_bytes(0), 0);
  EQUAL(weft_semaphore_tracked_bytes(256), 0);
  REFUSED(weft_semaphore_init_tracked(arena, bytes - 4, 6, 3));
  REFUSED(weft_semaphore_init_tracked(arena, sizeof arena, 2048, 3));
  REFUSED(weft_semaphore_init_tracked(arena, sizeof arena, 6, 0));
  REFUSED(weft_semaphore_init_tracked(arena, sizeof arena, 6, 256));
  weft_semaphore *s = weft_semaphore_init_tracked(arena, bytes, 6, 3);
  CHECK(s != NULL && weft_semaphore_attach(arena) == s);
  EQUAL(weft_semaphore_tracked(s), 3);
  for (int i = 0; i < 20000; i++) { /* the sequence passes 4096 */
    int32_t agent = random_below(&seed, 3), n = 1 + random_below(&seed, 3);
    weft_agent_set_id(100 + agent);
    switch (random_below(&seed, 9)) {
      case 8:
        EQUAL(weft_semaphore_drain(s), free);
        held[agent] += free;
        free = 0;
        break;
      case 0:
        weft_agent_set_id(99);
        EQUAL(weft_semaphore_abandon(s, 100 + agent), held[agent]);
        free += held[agent];
        held[agent] = 0;
        break;
      case 1:
      case 2:
      case 3:
        EQUAL(weft_semaphore_release(s, n), n <= held[agent] ? 0 : EPERM);
        if (n > held[agent]) break;
        free += n;
        held[agent] -= n;
        break;
      default:
        EQUAL(weft_semaphore_acquire(s, n, 0), n <= free ? 0 : ETIMEDOUT);
        if (n > free) break;
        free -= n;
        held[agent] += n;
    }
    weft_agent_set_id(100 + agent);
    EQUAL(weft_semaphore_held(s), held[agent]);
    EQUAL(weft_semaphore_available(s), free);
  }
  for (int32_t agent = 0; agent < 3; agent++) {
    weft_agent_set_id(100 + agent);
    EQUAL(weft_semaphore_try_acquire(s, 7), EBUSY); /* it takes a row */
  }
  weft_agent_set_id(99);
  UNCHANGED(s, bytes, weft_semaphore_try_acquire(s, 1), EINVAL); /* no row */
  UNCHANGED(s, bytes, weft_semaphore_drain(s), -EINVAL);
  UNCHANGED(s, bytes, weft_semaphore_release(s, 1), EPERM);
  UNCHANGED(s, bytes, weft_semaphore_release(s, 2048), EINVAL);
  UNCHANGED(s, bytes, weft_semaphore_try_acquire(s, 2048), EINVAL);
}

/* What a dead agent left in its row, whether it was confirmed or not. */
static void semaphore_tracked_death(void) {
  size_t bytes = WEFT_SEMAPHORE_TRACKED_BYTES(2);
  for (int confirmed = 0; confirmed < 2; confirmed++) {
    weft_semaphore *s = weft_semaphore_init_tracked(arena, bytes, 5, 2);
    weft_agent_set_id(77);
    EQUAL(weft_semaphore_acquire(s, 2, WEFT_FOREVER), 0);
    weft_agent_set_id(1);
    weft__tracked t = weft__semaphore_rows(s);
    weft__tracked_row *row = weft__tracked_find(&t, 77);
    CHECK(row != NULL);
    if (confirmed == 0) row->sequence--;
    EQUAL(weft_semaphore_abandon(s, 77), 2);
    EQUAL(weft_semaphore_available(s), 5);
    EQUAL(weft_semaphore_abandon(s, 77), 0);
  }
  weft_semaphore *s = weft_semaphore_init_tracked(arena, bytes, 5, 2);
  weft_agent_set_id(77);
  EQUAL(weft_semaphore_acquire(s, 2, WEFT_FOREVER), 0);
  weft_agent_set_id(1);
  s->permits |= 200 << 12; /* a row that is none */
  UNCHANGED(s, bytes, weft_semaphore_abandon(s, 77), -ENOTRECOVERABLE);
  UNCHANGED(s, bytes, weft_semaphore_abandon(s, 78), 0);
  weft__tracked t = weft__semaphore_rows(s);
  weft__tracked_row *row = weft__tracked_find(&t, 77);
  s->permits &= ~(255 << 12);
  const int32_t wrong[] = {-1, 2047, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    row->held[0] = row->held[1] = wrong[i];
    EQUAL(weft_semaphore_abandon(s, 77), -ENOTRECOVERABLE);
    EQUAL(row->agent, 77);
  }
}

/* ---- threads ------------------------------------------------------------ */

#define PERMITS 3

typedef struct {
  uint32_t seed;
  weft_semaphore *semaphore;
  int32_t *in_use;
} permit_user;

static void *use_permits(void *argument) {
  permit_user *self = (permit_user *)argument;
  weft_semaphore *s = self->semaphore;
  for (int32_t i = 0; i < amount; i++) {
    int32_t n = 1 + random_below(&self->seed, PERMITS);
    int result = random_below(&self->seed, 8) == 0
                     ? weft_semaphore_try_acquire(s, n)
                     : weft_semaphore_acquire(s, n, some_timeout(&self->seed));
    if (not_now(result)) continue;
    EQUAL(result, 0);
    CHECK(shared_add(self->in_use, n) <= PERMITS);
    if (i % 64 == 0) sched_yield();
    shared_add(self->in_use, -n);
    if (n > 1 && i % 2 == 0) {
      EQUAL(weft_semaphore_release(s, 1), 0);
      EQUAL(weft_semaphore_release(s, n - 1), 0);
    } else {
      EQUAL(weft_semaphore_release(s, n), 0);
    }
  }
  return NULL;
}

static void semaphore_conserves(void) {
  for (int start = 0; start < STARTS_COUNT; start++) {
    weft_semaphore memory;
    int32_t in_use = 0;
    weft_semaphore *s = weft_semaphore_init(&memory, sizeof memory, PERMITS);
    permit_user users[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      users[i].seed = (uint32_t)(i + 1 + start * THREADS);
      users[i].semaphore = s;
      users[i].in_use = &in_use;
    }
    start_threads(threads, THREADS, use_permits, users, sizeof *users);
    join_threads(threads, THREADS);
    EQUAL(weft_semaphore_available(s), PERMITS);
    EQUAL(s->waiters | s->bulk | s->claimant | s->claim, 0);
  }
}

typedef struct {
  weft_semaphore *semaphore;
  int32_t stop;
} churning;

static void *churn(void *argument) {
  churning *self = (churning *)argument;
  while (!__atomic_load_n(&self->stop, __ATOMIC_SEQ_CST)) {
    EQUAL(weft_semaphore_acquire(self->semaphore, 1, WEFT_FOREVER), 0);
    EQUAL(weft_semaphore_release(self->semaphore, 1), 0);
  }
  return NULL;
}

/* Who wants all permits gets them, though singles are always on their way. */
static void semaphore_bulk_is_served(void) {
  weft_semaphore memory;
  churning c = {weft_semaphore_init(&memory, sizeof memory, 2), 0};
  pthread_t threads[2];
  start_threads(threads, 2, churn, &c, 0);
  for (int i = 0; i < 20; i++) {
    EQUAL(weft_semaphore_acquire(c.semaphore, 2, 5000 * MS), 0);
    EQUAL(weft_semaphore_available(c.semaphore), 0);
    EQUAL(weft_semaphore_release(c.semaphore, 2), 0);
  }
  __atomic_store_n(&c.stop, 1, __ATOMIC_SEQ_CST);
  join_threads(threads, 2);
  EQUAL(weft_semaphore_available(c.semaphore), 2);
}

/* A semaphore as a completion: whoever got the permit uses the memory again at
   once, and nobody else writes there. */
typedef struct {
  int32_t *memory;
  int32_t given; /* how many rounds have begun */
  int32_t ended; /* how many releases have returned */
  int32_t n;     /* permits a round */
} completion;

static void *completes(void *argument) {
  completion *c = (completion *)argument;
  for (int32_t i = 0; i < amount / 4; i++) {
    while (shared_add(&c->given, 0) == i) sched_yield();
    weft_semaphore *s = (weft_semaphore *)(void *)c->memory;
    for (int32_t n = 0; n < c->n; n++) EQUAL(weft_semaphore_release(s, 1), 0);
    shared_add(&c->ended, 1);
  }
  return NULL;
}

static void semaphore_freed_early(void) {
  for (int32_t permits = 1; permits <= 2; permits++) {
    static int32_t memory[WEFT_SEMAPHORE_BYTES / 4];
    completion c = {memory, 0, 0, permits};
    pthread_t thread;
    start_threads(&thread, 1, completes, &c, 0);
    for (int32_t i = 0; i < amount / 4; i++) {
      weft_semaphore *s = weft_semaphore_init(memory, sizeof memory, 0);
      CHECK(s != NULL);
      shared_add(&c.given, 1);
      if (i % 2 == 0) {
        EQUAL(weft_semaphore_acquire(s, permits, WEFT_FOREVER), 0);
      } else {
        while (weft_semaphore_try_acquire(s, permits) != 0) continue;
      }
      for (size_t k = 0; k < sizeof memory / 4; k++) memory[k] = 7;
      while (shared_add(&c.ended, 0) == i) sched_yield();
      for (size_t k = 0; k < sizeof memory / 4; k++) EQUAL(memory[k], 7);
    }
    join_threads(&thread, 1);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(attaching);
  RUN(init_refuses);
  RUN(semaphore_by_turns);
  RUN(semaphore_errors);
  RUN(semaphore_abandon_claim);
  RUN(semaphore_max);
  RUN(semaphore_tracked);
  RUN(semaphore_tracked_death);
  RUN(semaphore_conserves);
  RUN(semaphore_freed_early);
  RUN(semaphore_bulk_is_served);
  puts("done");
  return 0;
}
