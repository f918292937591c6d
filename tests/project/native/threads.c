/* Threads that use weft.h at once: nothing lost, doubled, torn or reordered,
   whatever the forms, with counters that wrap on the way. The argument says
   how many times a thread does its work, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <sched.h>

#include "check.h"

#define THREADS 4

/* Whether `result` says not now; leaves the core to who can change that. */
static bool not_now(int result) {
  if (result != EBUSY && result != ETIMEDOUT) return false;
  sched_yield();
  return true;
}

static int32_t amount = 20000;

/* A word that all threads of a test change, other than by weft.h. */
static int32_t shared_add(int32_t *word, int32_t n) {
  return __atomic_add_fetch(word, n, __ATOMIC_SEQ_CST);
}

/* A duration that is over soon, or at once, or never. */
static int64_t some_timeout(uint32_t *seed) {
  switch (random_below(seed, 4)) {
    case 0:
      return 0;
    case 1:
      return random_below(seed, 50000);
    default:
      return WEFT_FOREVER;
  }
}

/* ---- mutex ------------------------------------------------------------------ */

typedef struct {
  weft_mutex mutex;
  int64_t count; /* guarded, and not atomic */
  int32_t locked;
} section;

typedef struct {
  uint32_t seed;
  section *section;
} section_user;

static void *use_section(void *argument) {
  section_user *self = (section_user *)argument;
  section *s = self->section;
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
  section s = {{0, 0}, 0, 0};
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

/* ---- semaphore --------------------------------------------------------------- */

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
    s->turn = STARTS[start];
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

/* ---- queues --------------------------------------------------------------------- */

static int32_t arena[1 << 14];

static const weft_queue_config CONFIGS[] = {{1, 4}, {2, 4}, {64, 4},
                                            {1, 24}, {8, 24}};
#define CONFIGS_COUNT 5
#define BATCH 5
#define MOST_WORDS 6

static void element(int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) at[i] = first + i * 1000003;
}

static void check_element(const int32_t *at, int32_t words) {
  for (int32_t i = 1; i < words; i++) EQUAL(at[i], at[0] + i * 1000003);
}

/* One side of a queue. Only some forms apply, as elements may be records. */
typedef struct {
  uint32_t seed;
  void *queue;
  int32_t words;
  int32_t number; /* of the producer, or of the consumer */
  int32_t *seen;  /* how often each value came */
} side;

static void *spsc_produce(void *argument) {
  side *self = (side *)argument;
  weft_spsc_queue *q = (weft_spsc_queue *)self->queue;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t words = self->words;
  for (int32_t next = 0; next < amount;) {
    element(elements, words, next);
    int result = 0;
    switch (random_below(&self->seed, 5)) {
      case 0:
        result = weft_spsc_queue_push(q, elements, some_timeout(&self->seed));
        break;
      case 1:
        result = weft_spsc_queue_try_push(q, elements);
        break;
      case 2: {
        int32_t n = 1 + random_below(&self->seed, BATCH);
        if (n > amount - next) n = amount - next;
        for (int32_t i = 0; i < n; i++)
          element(elements + i * words, words, next + i);
        int32_t count = weft_spsc_queue_try_push_many(q, elements, n);
        CHECK(count >= 0);
        next += count;
        if (count == 0) sched_yield();
        continue;
      }
      case 3: {
        int32_t *slot = (int32_t *)weft_spsc_queue_reserve(q);
        result = slot == NULL ? EBUSY : 0;
        if (slot == NULL) break;
        element(slot, words, next);
        EQUAL(weft_spsc_queue_commit(q), 0);
        break;
      }
      default:
        if (words > 1) continue;
        result = weft_spsc_queue_push_int(q, next, some_timeout(&self->seed));
    }
    if (not_now(result)) continue;
    EQUAL(result, 0);
    next++;
  }
  weft_spsc_queue_close(q);
  return NULL;
}

static void spsc_consume(side *self) {
  weft_spsc_queue *q = (weft_spsc_queue *)self->queue;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t words = self->words;
  for (int32_t next = 0;;) {
    int result = 0;
    int32_t count = 1;
    switch (random_below(&self->seed, 5)) {
      case 0:
        result = weft_spsc_queue_pop(q, elements, some_timeout(&self->seed));
        break;
      case 1:
        result = weft_spsc_queue_try_pop(q, elements);
        break;
      case 2: {
        count = weft_spsc_queue_try_pop_many(
            q, elements, 1 + random_below(&self->seed, BATCH));
        result = count < 0 ? -count : count == 0 ? EBUSY : 0;
        break;
      }
      case 3: {
        int32_t *slot = (int32_t *)weft_spsc_queue_peek(q);
        result = slot == NULL ? EBUSY : 0;
        if (slot == NULL) break;
        memcpy(elements, slot, (size_t)words * 4);
        weft_spsc_queue_consume(q);
        break;
      }
      default:
        if (words > 1) continue;
        result = weft_spsc_queue_pop_int(q, elements,
                                         some_timeout(&self->seed));
    }
    if (result == EPIPE) {
      EQUAL(next, amount);
      return;
    }
    if (not_now(result)) continue;
    EQUAL(result, 0);
    for (int32_t i = 0; i < count; i++) {
      EQUAL(elements[i * words], next++);
      check_element(elements + i * words, words);
    }
  }
}

static void spsc_keeps_order(void) {
  for (int c = 0; c < CONFIGS_COUNT; c++)
    for (int start = 0; start < STARTS_COUNT; start++) {
      weft_spsc_queue *q =
          weft_spsc_queue_init(arena, sizeof arena, CONFIGS[c]);
      /* So that the indices wrap half-way. */
      int32_t from = weft__minus(STARTS[start], amount / 2 * 4) & ~3;
      q->head = q->tail = q->head_cache = q->tail_cache = from;
      side sides[2];
      for (int i = 0; i < 2; i++) {
        sides[i].seed = (uint32_t)(1 + i + 2 * c + 10 * start);
        sides[i].queue = q;
        sides[i].words = CONFIGS[c].element_size / 4;
      }
      pthread_t producer;
      EQUAL(pthread_create(&producer, NULL, spsc_produce, &sides[0]), 0);
      spsc_consume(&sides[1]);
      EQUAL(pthread_join(producer, NULL), 0);
    }
}

#define MOST_PRODUCERS 3

static void *mpmc_produce(void *argument) {
  side *self = (side *)argument;
  weft_mpmc_queue *q = (weft_mpmc_queue *)self->queue;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t words = self->words;
  int32_t base = self->number * amount;
  for (int32_t next = 0; next < amount;) {
    element(elements, words, base + next);
    int result = 0;
    switch (random_below(&self->seed, 5)) {
      case 0:
        result = weft_mpmc_queue_push(q, elements, some_timeout(&self->seed));
        break;
      case 1:
        result = weft_mpmc_queue_try_push(q, elements);
        break;
      case 2: {
        int32_t n = 1 + random_below(&self->seed, BATCH);
        if (n > amount - next) n = amount - next;
        for (int32_t i = 0; i < n; i++)
          element(elements + i * words, words, base + next + i);
        int32_t count = weft_mpmc_queue_try_push_many(q, elements, n);
        CHECK(count >= 0);
        next += count;
        if (count == 0) sched_yield();
        continue;
      }
      case 3: {
        int32_t *slot = (int32_t *)weft_mpmc_queue_reserve(q);
        result = slot == NULL ? EBUSY : 0;
        if (slot == NULL) break;
        element(slot, words, base + next);
        weft_mpmc_queue_commit(q, slot);
        break;
      }
      default:
        if (words > 1) continue;
        result = weft_mpmc_queue_push_int(q, base + next,
                                          some_timeout(&self->seed));
    }
    if (not_now(result)) continue;
    EQUAL(result, 0);
    next++;
  }
  return NULL;
}

static void *mpmc_consume(void *argument) {
  side *self = (side *)argument;
  weft_mpmc_queue *q = (weft_mpmc_queue *)self->queue;
  int32_t elements[BATCH * MOST_WORDS];
  int32_t last[MOST_PRODUCERS] = {-1, -1, -1};
  int32_t words = self->words;
  for (;;) {
    int result = 0;
    int32_t count = 1;
    switch (random_below(&self->seed, 5)) {
      case 0:
        result = weft_mpmc_queue_pop(q, elements, some_timeout(&self->seed));
        break;
      case 1:
        result = weft_mpmc_queue_try_pop(q, elements);
        break;
      case 2: {
        count = weft_mpmc_queue_try_pop_many(
            q, elements, 1 + random_below(&self->seed, BATCH));
        result = count < 0 ? -count : count == 0 ? EBUSY : 0;
        break;
      }
      case 3: {
        int32_t *slot = (int32_t *)weft_mpmc_queue_peek(q);
        result = slot == NULL ? EBUSY : 0;
        if (slot == NULL) break;
        memcpy(elements, slot, (size_t)words * 4);
        weft_mpmc_queue_consume(q, slot);
        break;
      }
      default:
        if (words > 1) continue;
        result = weft_mpmc_queue_pop_int(q, elements,
                                         some_timeout(&self->seed));
    }
    if (result == EPIPE) return NULL;
    if (not_now(result)) continue;
    EQUAL(result, 0);
    for (int32_t i = 0; i < count; i++) {
      const int32_t *at = elements + i * words;
      check_element(at, words);
      int32_t producer = at[0] / amount, number = at[0] % amount;
      CHECK(number > last[producer]);
      last[producer] = number;
      EQUAL(shared_add(&self->seen[at[0]], 1), 1);
    }
  }
}

static void mpmc_run(int c, int32_t start, int producers, int consumers) {
  weft_mpmc_queue *q = weft_mpmc_queue_init(arena, sizeof arena, CONFIGS[c]);
  int32_t total = producers * amount;
  int32_t *seen = (int32_t *)calloc((size_t)total, sizeof *seen);
  int32_t from = weft__minus(start, total / 2 * 2) & ~1;
  q->head = q->tail = from;
  q->pop_epoch = q->push_epoch = start;
  for (int32_t i = 0; i < q->capacity; i++) {
    int32_t ticket = weft__plus(from, 2 * i);
    *weft__mpmc_slot(q, ticket) = ticket;
  }
  side sides[2 * MOST_PRODUCERS];
  pthread_t threads[2 * MOST_PRODUCERS];
  for (int i = 0; i < producers + consumers; i++) {
    sides[i].seed = (uint32_t)(1 + i + 7 * c);
    sides[i].queue = q;
    sides[i].words = CONFIGS[c].element_size / 4;
    sides[i].number = i;
    sides[i].seen = seen;
  }
  start_threads(threads, producers, mpmc_produce, sides, sizeof *sides);
  start_threads(threads + producers, consumers, mpmc_consume,
                sides + producers, sizeof *sides);
  join_threads(threads, producers);
  weft_mpmc_queue_close(q);
  join_threads(threads + producers, consumers);
  for (int32_t i = 0; i < total; i++) EQUAL(seen[i], 1);
  EQUAL(weft_mpmc_queue_size(q), 0);
  EQUAL(q->pop_waiters | q->push_waiters, 0);
  free(seen);
}

static void mpmc_loses_nothing(void) {
  const int sides[][2] = {{1, 1}, {2, 2}, {3, 1}, {1, 3}};
  for (int c = 0; c < CONFIGS_COUNT; c++)
    for (int s = 0; s < 4; s++)
      mpmc_run(c, STARTS[(c + s) % STARTS_COUNT], sides[s][0], sides[s][1]);
}

/* ---- sleepers ---------------------------------------------------------------------- */

/* A blocking call for ever, and what it answered. */
typedef struct {
  int (*call)(void *at);
  void *at;
  int result;
  int64_t ended;
} sleeper;

static void *sleep_in(void *argument) {
  sleeper *self = (sleeper *)argument;
  self->result = self->call(self->at);
  self->ended = now_ns();
  return NULL;
}

static int call_spsc_pop(void *at) {
  int32_t value;
  return weft_spsc_queue_pop_int((weft_spsc_queue *)at, &value, WEFT_FOREVER);
}
static int call_spsc_push(void *at) {
  return weft_spsc_queue_push_int((weft_spsc_queue *)at, 1, WEFT_FOREVER);
}
static int call_mpmc_pop(void *at) {
  int32_t value;
  return weft_mpmc_queue_pop_int((weft_mpmc_queue *)at, &value, WEFT_FOREVER);
}
static int call_mpmc_push(void *at) {
  return weft_mpmc_queue_push_int((weft_mpmc_queue *)at, 1, WEFT_FOREVER);
}
static int call_work_wait(void *at) {
  return weft_work_counter_wait((weft_work_counter *)at, WEFT_FOREVER);
}

/* `count` sleepers in `call` all end within half a second of `wake`: so it is
   the wake, and not the look that each takes after a second. */
static void all_wake(int (*call)(void *), void *at, int count,
                     void (*wake)(void *), int wanted) {
  sleeper sleepers[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < count; i++) {
    sleepers[i].call = call;
    sleepers[i].at = at;
  }
  start_threads(threads, count, sleep_in, sleepers, sizeof *sleepers);
  pause_ms(60);
  int64_t begin = now_ns();
  wake(at);
  join_threads(threads, count);
  for (int i = 0; i < count; i++) {
    EQUAL(sleepers[i].result, wanted);
    CHECK(sleepers[i].ended >= begin);
    CHECK(sleepers[i].ended - begin < 500 * MS);
  }
}

static void close_spsc(void *at) { weft_spsc_queue_close((weft_spsc_queue *)at); }
static void close_mpmc(void *at) { weft_mpmc_queue_close((weft_mpmc_queue *)at); }
static void cancel_work(void *at) {
  weft_work_counter_cancel((weft_work_counter *)at);
}
static void finish_work(void *at) {
  EQUAL(weft_work_counter_done((weft_work_counter *)at, 10), 0);
}

static void close_wakes_all(void) {
  const weft_queue_config config = {1, 4};
  const weft_work_config single = {1, 0};
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  all_wake(call_spsc_pop, s, 1, close_spsc, EPIPE);
  s = weft_spsc_queue_init(arena, sizeof arena, config);
  EQUAL(weft_spsc_queue_try_push_int(s, 1), 0);
  all_wake(call_spsc_push, s, 1, close_spsc, EPIPE);
  for (int start = 0; start < STARTS_COUNT; start++) {
    weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
    m->pop_epoch = m->push_epoch = STARTS[start];
    all_wake(call_mpmc_pop, m, THREADS, close_mpmc, EPIPE);
    m = weft_mpmc_queue_init(arena, sizeof arena, config);
    m->pop_epoch = m->push_epoch = STARTS[start];
    EQUAL(weft_mpmc_queue_try_push_int(m, 1), 0);
    all_wake(call_mpmc_push, m, THREADS, close_mpmc, EPIPE);
  }
  weft_work_counter *w =
      weft_work_counter_init(arena, sizeof arena, 10, single);
  all_wake(call_work_wait, w, THREADS, cancel_work, 0);
  w = weft_work_counter_init(arena, sizeof arena, 10, single);
  all_wake(call_work_wait, w, THREADS, finish_work, 0);
}

/* ---- work counter --------------------------------------------------------------------- */

typedef struct {
  uint32_t seed;
  weft_work_counter *work;
  int32_t *marks;
  int32_t *taken;
  int32_t cancel_at; /* cancels when it gets this task, or a later one */
} worker;

static void *do_work(void *argument) {
  worker *self = (worker *)argument;
  weft_work_range range = {0, 0};
  bool by_one = random_below(&self->seed, 2) == 0;
  for (;;) {
    int32_t start = weft_work_counter_next(self->work, &range);
    if (start < 0) break;
    int32_t end = by_one ? start + 1 : range.end;
    range.start = end;
    for (int32_t i = start; i < end; i++)
      EQUAL(shared_add(&self->marks[i], 1), 1);
    shared_add(self->taken, end - start);
    if (end > self->cancel_at) weft_work_counter_cancel(self->work);
    EQUAL(weft_work_counter_done(self->work, end - start), 0);
  }
  for (int i = 0; i < 3; i++)
    EQUAL(weft_work_counter_next_range(self->work, &range), 0);
  EQUAL(weft_work_counter_wait(self->work, WEFT_FOREVER), 0);
  return NULL;
}

static void work_is_done_once(void) {
  const weft_work_config configs[] = {{1, 0}, {64, 0}, {1, THREADS}};
  for (int c = 0; c < 3; c++)
    for (int cancelling = 0; cancelling < 2; cancelling++) {
      int32_t *marks = (int32_t *)calloc((size_t)amount, sizeof *marks);
      int32_t taken = 0;
      weft_work_counter *w =
          weft_work_counter_init(arena, sizeof arena, amount, configs[c]);
      worker workers[THREADS];
      pthread_t threads[THREADS];
      for (int i = 0; i < THREADS; i++) {
        workers[i].seed = (uint32_t)(1 + i);
        workers[i].work = w;
        workers[i].marks = marks;
        workers[i].taken = &taken;
        workers[i].cancel_at = cancelling ? amount / 2 : INT32_MAX;
      }
      start_threads(threads, THREADS, do_work, workers, sizeof *workers);
      EQUAL(weft_work_counter_wait(w, WEFT_FOREVER), 0);
      EQUAL(weft_work_counter_completed(w), taken);
      join_threads(threads, THREADS);
      EQUAL(weft_work_counter_remaining(w), 0);
      EQUAL(weft_work_counter_completed(w), taken);
      for (int32_t i = 0; i < amount; i++)
        EQUAL(marks[i], i < taken ? 1 : 0);
      if (!cancelling) EQUAL(taken, amount);
      free(marks);
    }
}

/* ---- ids ------------------------------------------------------------------------------- */

static void *own_id(void *argument) {
  *(int32_t *)argument = weft_agent_id();
  EQUAL(weft_agent_id(), *(int32_t *)argument);
  return NULL;
}

static void ids_differ(void) {
  int32_t ids[16];
  pthread_t threads[16];
  start_threads(threads, 16, own_id, ids, sizeof *ids);
  join_threads(threads, 16);
  for (int i = 0; i < 16; i++) {
    CHECK(ids[i] >= 1 && ids[i] <= 0x0fffffff);
    for (int j = 0; j < i; j++) CHECK(ids[i] != ids[j]);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(ids_differ);
  RUN(mutex_excludes);
  RUN(mutex_abandoned_has_one_heir);
  RUN(semaphore_conserves);
  RUN(semaphore_bulk_is_served);
  RUN(spsc_keeps_order);
  RUN(mpmc_loses_nothing);
  RUN(close_wakes_all);
  RUN(work_is_done_once);
  puts("done");
  return 0;
}
