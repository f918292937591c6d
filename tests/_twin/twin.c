/*
 * The parts that threads of C play in the twin tests. `roles.ts` has the same
 * parts for JavaScript, and any mixture of the two must work. No C library is
 * used, so that bare modules can play, too.
 */
#include "weft.h"

#if defined(__EMSCRIPTEN_PTHREADS__)
#include <pthread.h>
#elif defined(__EMSCRIPTEN_WASM_WORKERS__)
#include <emscripten/wasm_worker.h>
#endif

#define EXPORT __attribute__((used, visibility("default")))

/* A part, and how it went: the words of `plays.ts`. */
typedef struct {
  int32_t state; /* 2 when it is over */
  int32_t role;
  int32_t *at;    /* the primitive */
  int32_t *extra; /* what the role shares besides */
  int32_t count;
  uint32_t seed;
  int32_t number; /* of this producer */
  int32_t result;
  int32_t failed; /* the line of the check that failed, or 0 */
  int32_t id;
} play;

enum {
  MUTEX_ADD,
  MUTEX_KEEP,
  MUTEX_INHERIT,
  SEMAPHORE_USE,
  SPSC_PRODUCE,
  SPSC_CONSUME,
  MPMC_PRODUCE,
  MPMC_CONSUME,
  SPSC_SLEEP_POP,
  SPSC_SLEEP_PUSH,
  MPMC_SLEEP_POP,
  MPMC_SLEEP_PUSH,
  WORK,
  WORK_WAIT,
  SYNCHRONIZERS_USE,
  SELECT_CONSUME
};

#define CHECK(condition)                                       \
  do {                                                         \
    if (condition) break;                                      \
    if (p->failed == 0) p->failed = __LINE__;                  \
    return;                                                    \
  } while (0)

static uint32_t random_next(play *p) {
  p->seed ^= p->seed << 13;
  p->seed ^= p->seed >> 17;
  p->seed ^= p->seed << 5;
  return p->seed;
}

static int32_t random_below(play *p, int32_t n) {
  return (int32_t)(random_next(p) % (uint32_t)n);
}

/* A duration that ends soon, at once, or never. */
static int64_t some_timeout(play *p) {
  switch (random_below(p, 4)) {
    case 0:
      return 0;
    case 1:
      return random_below(p, 500000);
    default:
      return WEFT_FOREVER;
  }
}

static bool not_now(int result) {
  return result == EBUSY || result == ETIMEDOUT;
}

static void mutex_add(play *p) {
  weft_mutex *m = (weft_mutex *)p->at;
  for (int32_t i = 0; i < p->count; i++) {
    int result = random_below(p, 8) == 0
                     ? weft_mutex_try_lock(m)
                     : weft_mutex_lock(m, some_timeout(p));
    if (not_now(result)) continue;
    CHECK(result == 0);
    CHECK(weft_mutex_owner(m) == weft_agent_id());
    *p->extra += 1; /* not atomic: the mutex guards it */
    p->result++;
    CHECK(weft_mutex_unlock(m) == 0);
  }
}

static void mutex_keep(play *p) {
  p->result = weft_mutex_lock((weft_mutex *)p->at, WEFT_FOREVER);
}

static void mutex_inherit(play *p) {
  weft_mutex *m = (weft_mutex *)p->at;
  p->result = weft_mutex_lock(m, WEFT_FOREVER);
  CHECK(p->result == 0 || p->result == EOWNERDEAD);
  CHECK(weft_mutex_unlock(m) == 0);
}

/* extra: permits in use, and how many there are. */
static void semaphore_use(play *p) {
  weft_semaphore *s = weft_semaphore_attach(p->at);
  CHECK(s != NULL);
  int32_t permits = p->extra[1];
  for (int32_t i = 0; i < p->count; i++) {
    int32_t n = 1 + random_below(p, permits);
    int result = random_below(p, 8) == 0
                     ? weft_semaphore_try_acquire(s, n)
                     : weft_semaphore_acquire(s, n, some_timeout(p));
    if (not_now(result)) continue;
    CHECK(result == 0);
    CHECK(weft__add(p->extra, n) + n <= permits);
    weft__add(p->extra, -n);
    p->result += n;
    CHECK(weft_semaphore_release(s, n) == 0);
  }
}

#define BATCH 5
#define MOST_WORDS 8

static void element(int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) at[i] = first + i * 1000003;
}

static bool is_whole(const int32_t *at, int32_t words) {
  for (int32_t i = 1; i < words; i++)
    if (at[i] != at[0] + i * 1000003) return false;
  return true;
}

/* The two queues have the same operations, apart from commit and consume. */
#define PRODUCE(stem, commit)                                               \
  static void stem##_produce(play *p) {                                     \
    weft_##stem##_queue *q = weft_##stem##_queue_attach(p->at);             \
    CHECK(q != NULL);                                                       \
    int32_t elements[BATCH * MOST_WORDS];                                   \
    int32_t words = weft_##stem##_queue_element_size(q) / 4;                \
    int32_t base = p->number * p->count;                                    \
    for (int32_t next = 0; next < p->count;) {                              \
      int32_t many = 1;                                                     \
      int result = EBUSY;                                                   \
      element(elements, words, base + next);                                \
      switch (random_below(p, 5)) {                                         \
        case 0:                                                             \
          result = weft_##stem##_queue_push(q, elements, some_timeout(p));  \
          break;                                                            \
        case 1:                                                             \
          result = weft_##stem##_queue_try_push(q, elements);               \
          break;                                                            \
        case 2: {                                                           \
          int32_t n = 1 + random_below(p, BATCH);                           \
          if (n > p->count - next) n = p->count - next;                     \
          for (int32_t i = 0; i < n; i++)                                   \
            element(elements + i * words, words, base + next + i);          \
          many = weft_##stem##_queue_try_push_many(q, elements, n);         \
          CHECK(many >= 0);                                                 \
          result = 0;                                                       \
          break;                                                            \
        }                                                                   \
        case 3: {                                                           \
          int32_t *slot = (int32_t *)weft_##stem##_queue_reserve(q);        \
          if (slot == NULL) break;                                          \
          element(slot, words, base + next);                                \
          result = commit;                                                  \
          break;                                                            \
        }                                                                   \
        default:                                                            \
          if (words > 1) break;                                             \
          result = weft_##stem##_queue_push_int(q, base + next,             \
                                                some_timeout(p));           \
      }                                                                     \
      if (not_now(result)) continue;                                        \
      CHECK(result == 0);                                                   \
      next += many;                                                         \
    }                                                                       \
    p->result = p->count;                                                   \
  }

#define CONSUME(stem, consume, take)                                        \
  static void stem##_consume(play *p) {                                     \
    weft_##stem##_queue *q = weft_##stem##_queue_attach(p->at);             \
    CHECK(q != NULL);                                                       \
    int32_t elements[BATCH * MOST_WORDS];                                   \
    int32_t words = weft_##stem##_queue_element_size(q) / 4;                \
    int32_t last[4] = {-1, -1, -1, -1};                                     \
    for (;;) {                                                              \
      int32_t many = 1;                                                     \
      int result = EBUSY;                                                   \
      switch (random_below(p, 5)) {                                         \
        case 0:                                                             \
          result = weft_##stem##_queue_pop(q, elements, some_timeout(p));   \
          break;                                                            \
        case 1:                                                             \
          result = weft_##stem##_queue_try_pop(q, elements);                \
          break;                                                            \
        case 2:                                                             \
          many = weft_##stem##_queue_try_pop_many(                          \
              q, elements, 1 + random_below(p, BATCH));                     \
          result = many < 0 ? -many : 0;                                    \
          break;                                                            \
        case 3: {                                                           \
          int32_t *slot = (int32_t *)weft_##stem##_queue_peek(q);           \
          if (slot == NULL) break;                                          \
          for (int32_t i = 0; i < words; i++) elements[i] = slot[i];        \
          consume;                                                          \
          result = 0;                                                       \
          break;                                                            \
        }                                                                   \
        default:                                                            \
          if (words > 1) break;                                             \
          result = weft_##stem##_queue_pop_int(q, elements,                 \
                                               some_timeout(p));            \
      }                                                                     \
      if (result == EPIPE) return;                                          \
      if (not_now(result)) continue;                                        \
      CHECK(result == 0);                                                   \
      for (int32_t i = 0; i < many; i++) {                                  \
        const int32_t *at = elements + i * words;                           \
        CHECK(is_whole(at, words));                                         \
        take;                                                               \
        p->result++;                                                        \
      }                                                                     \
    }                                                                       \
  }

/* extra: how often each element came. */
#define TAKE_ONCE_IN_ORDER                                                  \
  int32_t producer = at[0] / p->count, number = at[0] % p->count;           \
  CHECK(number > last[producer]);                                           \
  last[producer] = number;                                                  \
  CHECK(weft__add(&p->extra[at[0]], 1) == 0)

PRODUCE(spsc, weft_spsc_queue_commit(q))
PRODUCE(mpmc, (weft_mpmc_queue_commit(q, slot), 0))
CONSUME(spsc, weft_spsc_queue_consume(q), TAKE_ONCE_IN_ORDER)
CONSUME(mpmc, weft_mpmc_queue_consume(q, slot), TAKE_ONCE_IN_ORDER)

/* Takes ints from two queues, one behind the other, until both are closed;
   extra: how often each came. */
static void select_consume(play *p) {
  weft_mpmc_queue *first = weft_mpmc_queue_attach(p->at);
  CHECK(first != NULL);
  weft_queue_config config = {weft_mpmc_queue_capacity(first), 4};
  size_t bytes = weft_mpmc_queue_bytes(config);
  weft_mpmc_queue *second = weft_mpmc_queue_attach((char *)p->at + bytes);
  CHECK(second != NULL);
  weft_mpmc_queue *open[2] = {first, second};
  for (int32_t n = 2; n > 0;) {
    int32_t values[2] = {0, 0}, index = 0;
    weft_arm arms[2];
    for (int32_t i = 0; i < n; i++)
      arms[i] = weft_mpmc_queue_popping(open[i], &values[i]);
    int result = weft_select(arms, n, some_timeout(p), &index);
    if (result == EPIPE) {
      open[index] = open[--n];
      continue;
    }
    if (not_now(result)) continue;
    CHECK(result == 0);
    CHECK(weft__add(&p->extra[values[index]], 1) == 0);
    p->result++;
  }
}

/* extra: how often each task was done. */
static void work(play *p) {
  weft_work_counter *w = weft_work_counter_attach(p->at);
  CHECK(w != NULL);
  weft_work_range range = {0, 0};
  for (;;) {
    int32_t start = weft_work_counter_next(w, &range);
    if (start < 0) break;
    int32_t end = random_below(p, 2) == 0 ? start + 1 : range.end;
    range.start = end;
    for (int32_t i = start; i < end; i++)
      CHECK(weft__add(&p->extra[i], 1) == 0);
    p->result += end - start;
    if (end > p->count) weft_work_counter_cancel(w);
    CHECK(weft_work_counter_done(w, end - start) == 0);
  }
  CHECK(weft_work_counter_wait(w, WEFT_FOREVER) == 0);
}

/* The words at `at` that synchronizers_use shares. */
enum {
  RW_LOCK = 0,
  PAIR = 40,
  MUTEX = 6,
  FILLED = 8,
  EMPTIED = 11,
  ITEMS = 14,
  TAKEN = 15,
  BARRIER = 44,
  LATCH = 20,
  ONCE = 23,
  MADE = 24,
  GO = 25,
  TOKEN = 26,
  HELD = 27,
  PARTIES = 28,
  GROUP = 29,
  ROUNDS = 32,
  STRIPED_COUNTER = 64
};

/* Fails the first two times. */
static int make(void *context) { return ++*(int32_t *)context < 3 ? 1 : 0; }

/* Uses all synchronizers besides mutex and semaphore, one after the other. */
static void synchronizers_use(play *p) {
  int32_t *w = p->at;
  weft_rw_lock *lock = (weft_rw_lock *)(w + RW_LOCK);
  weft_mutex *mutex = (weft_mutex *)(w + MUTEX);
  weft_condition *filled = (weft_condition *)(w + FILLED);
  weft_condition *emptied = (weft_condition *)(w + EMPTIED);
  weft_barrier *barrier = weft_barrier_attach(w + BARRIER);
  weft_latch *latch = weft_latch_attach(w + LATCH);
  weft_once *once = (weft_once *)(w + ONCE);
  weft_event *token = (weft_event *)(w + TOKEN);
  weft_striped_counter *counter =
      weft_striped_counter_attach(w + STRIPED_COUNTER);
  CHECK(barrier != NULL && latch != NULL && counter != NULL);
  CHECK(weft_event_wait((weft_event *)(w + GO), WEFT_FOREVER) == 0);
  for (int32_t i = 0; i < p->count; i++) {
    int64_t timeout = some_timeout(p);
    if (random_below(p, 3) == 0) {
      int result = weft_rw_lock_write(lock, timeout);
      CHECK(result == 0 || result == ETIMEDOUT);
      if (result == 0) {
        w[PAIR]++; /* not atomic: the lock guards both */
        w[PAIR + 1]++;
        if (i % 2 == 0) {
          CHECK(weft_rw_lock_unlock_write(lock) == 0);
        } else {
          CHECK(weft_rw_lock_downgrade(lock) == 0);
          CHECK(w[PAIR] == w[PAIR + 1]);
          CHECK(weft_rw_lock_unlock_read(lock) == 0);
        }
      }
    } else if (weft_rw_lock_read(lock, timeout) == 0) {
      CHECK(w[PAIR] == w[PAIR + 1]);
      CHECK(weft_rw_lock_unlock_read(lock) == 0);
    }
    weft_striped_counter_add(counter, i % 2 ? 1 << 28 : 3 - (1 << 28));
  }
  bool puts = p->number % 2 == 0;
  for (int32_t i = 0; i < p->count; i++) {
    CHECK(weft_mutex_lock(mutex, WEFT_FOREVER) == 0);
    while (w[ITEMS] == (puts ? 3 : 0)) {
      int result =
          weft_condition_wait(puts ? emptied : filled, mutex, some_timeout(p));
      CHECK(result == 0 || result == ETIMEDOUT);
      CHECK(weft_mutex_owner(mutex) == weft_agent_id());
    }
    w[ITEMS] += puts ? 1 : -1;
    if (!puts) w[TAKEN]++;
    if (i % 3 == 0) weft_condition_notify_all(puts ? filled : emptied);
    CHECK(weft_mutex_unlock(mutex) == 0);
    if (i % 3 != 0) weft_condition_notify(puts ? filled : emptied, 1);
  }
  for (int32_t i = 0; i < p->count;) {
    if (weft_event_wait(token, some_timeout(p)) != 0) continue;
    w[HELD]++; /* not atomic: there is one token */
    weft_event_set(token);
    i++;
  }
  int result = 1;
  while (result == 1) result = weft_once_run(once, make, w + MADE, -1);
  CHECK(result == 0 && w[MADE] == 3);
  for (int32_t round = 1; round <= p->count; round++) {
    bool leader = false;
    w[ROUNDS + p->number] = round;
    for (;;) {
      result = weft_barrier_arrive_and_wait(barrier, &leader, some_timeout(p));
      if (result == 0) break;
      CHECK(result == ETIMEDOUT);
    }
    p->result += leader ? 1 : 0;
    for (int32_t i = 0; i < w[PARTIES]; i++) CHECK(w[ROUNDS + i] == round);
    CHECK(weft_barrier_arrive_and_wait(barrier, NULL, WEFT_FOREVER) == 0);
  }
  weft_wait_group *group = (weft_wait_group *)(w + GROUP);
  CHECK(weft_wait_group_add(group, 2) == 0);
  CHECK(weft_wait_group_done(group, 3) == 0);
  CHECK(weft_wait_group_wait(group, WEFT_FOREVER) == 0);
  CHECK(weft_latch_arrive_and_wait(latch, WEFT_FOREVER) == 0);
}

/* Plays a part to its end. */
EXPORT void play_part(play *p) {
  int32_t value = 0;
  p->id = weft_agent_id();
  weft__store(&p->state, 1);
  switch (p->role) {
    case MUTEX_ADD:
      mutex_add(p);
      break;
    case MUTEX_KEEP:
      mutex_keep(p);
      break;
    case MUTEX_INHERIT:
      mutex_inherit(p);
      break;
    case SEMAPHORE_USE:
      semaphore_use(p);
      break;
    case SPSC_PRODUCE:
      spsc_produce(p);
      break;
    case SPSC_CONSUME:
      spsc_consume(p);
      break;
    case MPMC_PRODUCE:
      mpmc_produce(p);
      break;
    case MPMC_CONSUME:
      mpmc_consume(p);
      break;
    case SPSC_SLEEP_POP:
      p->result =
          weft_spsc_queue_pop_int((weft_spsc_queue *)p->at, &value, -1);
      break;
    case SPSC_SLEEP_PUSH:
      p->result = weft_spsc_queue_push_int((weft_spsc_queue *)p->at, 1, -1);
      break;
    case MPMC_SLEEP_POP:
      p->result =
          weft_mpmc_queue_pop_int((weft_mpmc_queue *)p->at, &value, -1);
      break;
    case MPMC_SLEEP_PUSH:
      p->result = weft_mpmc_queue_push_int((weft_mpmc_queue *)p->at, 1, -1);
      break;
    case WORK:
      work(p);
      break;
    case WORK_WAIT:
      p->result = weft_work_counter_wait((weft_work_counter *)p->at, -1);
      break;
    case SELECT_CONSUME:
      select_consume(p);
      break;
    case SYNCHRONIZERS_USE:
      synchronizers_use(p);
      break;
    default:
      p->failed = __LINE__;
  }
  weft__store(&p->state, 2);
  weft__notify(&p->state, WEFT__ALL);
}

/* Memory for the tests: 2 MiB. */
EXPORT int32_t *arena(void) {
  static int32_t words[1 << 19];
  return words;
}

/* The number that errno has here by this name's place in the list. */
EXPORT int error_number(int which) {
  static const int numbers[] = {EBUSY, ETIMEDOUT,  EINVAL, EPIPE,
                                EOWNERDEAD, EDEADLK, EPERM, EOVERFLOW};
  return numbers[which];
}

#if defined(__EMSCRIPTEN_PTHREADS__)
static void *thread(void *p) {
  play_part((play *)p);
  return NULL;
}

/* Plays a part in a thread of its own. */
EXPORT int play_in_thread(play *p) {
  pthread_t id;
  int error = pthread_create(&id, NULL, thread, p);
  return error != 0 ? error : pthread_detach(id);
}

#elif defined(__EMSCRIPTEN_WASM_WORKERS__)
static void play_at(int place) {
  play_part((play *)(intptr_t)place);
}

/* Plays a part in the next of four Wasm Workers, which plays one at a time. */
EXPORT int play_in_thread(play *p) {
  static emscripten_wasm_worker_t workers[4];
  static int next;
  static char stacks[4][65536] __attribute__((aligned(16)));
  int i = next++ % 4;
  if (workers[i] == 0)
    workers[i] = emscripten_create_wasm_worker(stacks[i], sizeof stacks[i]);
  if (workers[i] == 0) return EINVAL;
  emscripten_wasm_worker_post_function_vi(workers[i], play_at,
                                          (int)(intptr_t)p);
  return 0;
}
#endif
