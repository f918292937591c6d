/*
 * One text for the native floor and for wasm: the same loops over weft.h, run
 * by pthreads. Natively a program that prints what twins_bench.ts asks for; in
 * wasm a module that starts the same threads.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../wasm/weft.h"

#ifdef __EMSCRIPTEN__
#define EXPORT EMSCRIPTEN_KEEPALIVE
#else
#define EXPORT
#include <time.h>
#endif

enum { MOST_THREADS = 8, CAPACITY = 1024, WORDS = 16, BATCH = 64 };

typedef struct {
  void *object;
  int32_t n; /* operations to do, unless it is a matter of time */
  int64_t ops, begin, end;
  double waited; /* ns without a core */
  int32_t sum;
  int32_t _pad[32];
} job;

static job jobs[MOST_THREADS];
static int32_t count, arrived, finished, over;
static int32_t shared;

static void arrive(void) {
  if (weft__add(&arrived, 1) + 1 == count) weft__notify(&arrived, INT32_MAX);
  for (int32_t n; (n = weft__load(&arrived)) < count;)
    weft__sleep(&arrived, n, INT64_MAX, 1000000000);
}

/* The ns that this thread waited for a core, if the platform tells. */
static double waited(void) {
  double ran = 0, delay = 0;
#ifdef __linux__
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%lf %lf", &ran, &delay) != 2) delay = 0;
  fclose(file);
#endif
  return ran < 0 ? 0 : delay;
}

#define LOOP(name, before, body)                        \
  static void *name(void *argument) {                   \
    job *j = (job *)argument;                           \
    int32_t n = j->n;                                   \
    int32_t sum = 0;                                    \
    (void)sum;                                          \
    (void)n;                                            \
    before;                                             \
    double waited_before = waited();                    \
    arrive();                                           \
    j->begin = WEFT_NOW();                              \
    body;                                               \
    j->end = WEFT_NOW();                                \
    j->waited = waited() - waited_before;               \
    j->sum = sum;                                       \
    if (weft__add(&finished, 1) + 1 == count)           \
      weft__notify(&finished, INT32_MAX);               \
    return NULL;                                        \
  }

#define MUTEX weft_mutex *m = (weft_mutex *)j->object
#define SPSC weft_spsc_queue *q = (weft_spsc_queue *)j->object
#define MPMC weft_mpmc_queue *q = (weft_mpmc_queue *)j->object
#define FREE weft_lock_free_queue *q = (weft_lock_free_queue *)j->object
#define SEMAPHORE weft_semaphore *s = (weft_semaphore *)j->object
#define STRIPED_COUNTER weft_work_counter *c = (weft_work_counter *)j->object

LOOP(mutex_alone, MUTEX, {
  for (int32_t i = 0; i < n; i++) {
    if (weft_mutex_lock(m, WEFT_FOREVER) != 0) break;
    weft_mutex_unlock(m);
  }
  j->ops = n;
})

LOOP(mutex_shared, MUTEX, {
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    if (weft_mutex_lock(m, WEFT_FOREVER) != 0) break;
    shared++;
    weft_mutex_unlock(m);
    j->ops++;
  }
})

LOOP(semaphore_alone, SEMAPHORE, {
  for (int32_t i = 0; i < n; i++) {
    if (weft_semaphore_acquire(s, 1, WEFT_FOREVER) != 0) break;
    weft_semaphore_release(s, 1);
  }
  j->ops = n;
})

LOOP(counter_alone, STRIPED_COUNTER, {
  weft_work_range range;
  memset(&range, 0, sizeof range);
  while (weft_work_counter_next(c, &range) >= 0) j->ops++;
})

LOOP(spsc_push, SPSC, {
  for (int32_t i = 0; i < n; i++) weft_spsc_queue_push_int(q, i, WEFT_FOREVER);
  j->ops = n;
})

LOOP(spsc_pop, SPSC, {
  for (int32_t i = 0; i < n; i++) {
    int32_t value = 0;
    weft_spsc_queue_pop_int(q, &value, WEFT_FOREVER);
    sum = weft__plus(sum, value);
  }
})

LOOP(batch_push, SPSC, {
  int32_t words[BATCH];
  for (int32_t i = 0; i < n; i += BATCH) {
    for (int32_t k = 0; k < BATCH; k++) words[k] = i + k;
    for (int32_t sent = 0; sent < BATCH;)
      sent += weft_spsc_queue_try_push_many(q, words + sent, BATCH - sent);
  }
  j->ops = n;
})

LOOP(batch_pop, SPSC, {
  int32_t words[BATCH];
  for (int32_t i = 0; i < n;) {
    int32_t got = weft_spsc_queue_try_pop_many(q, words, BATCH);
    for (int32_t k = 0; k < got; k++) sum = weft__plus(sum, words[k]);
    i += got;
  }
})

LOOP(record_push, SPSC, {
  int32_t words[WORDS];
  memset(words, 0, sizeof words);
  for (int32_t i = 0; i < n; i++) {
    words[0] = i;
    weft_spsc_queue_push(q, words, WEFT_FOREVER);
  }
  j->ops = n;
})

LOOP(record_pop, SPSC, {
  int32_t words[WORDS];
  for (int32_t i = 0; i < n; i++) {
    weft_spsc_queue_pop(q, words, WEFT_FOREVER);
    sum = weft__plus(sum, words[0]);
  }
})

LOOP(mpmc_push, MPMC, {
  for (int32_t i = 0; i < n; i++) weft_mpmc_queue_push_int(q, i, WEFT_FOREVER);
  j->ops = n;
})

LOOP(mpmc_pop, MPMC, {
  for (int32_t i = 0; i < n; i++) {
    int32_t value = 0;
    weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER);
    sum = weft__plus(sum, value);
  }
})

LOOP(free_push, FREE, {
  for (int32_t i = 0; i < n; i++)
    weft_lock_free_queue_push_int(q, i, WEFT_FOREVER);
  j->ops = n;
})

LOOP(free_pop, FREE, {
  for (int32_t i = 0; i < n; i++) {
    int32_t value = 0;
    weft_lock_free_queue_pop_int(q, &value, WEFT_FOREVER);
    sum = weft__plus(sum, value);
  }
})

/* The operations that can be measured. */
static const struct {
  const char *name;
  void *(*odd)(void *), *(*even)(void *);
  int32_t threads, n;
  bool timed;
} KINDS[] = {
    {"Mutex, lock + unlock, alone", mutex_alone, mutex_alone, 1, 2000000, 0},
    {"Mutex, 2 threads, empty sections", mutex_shared, mutex_shared, 2, 0, 1},
    {"Semaphore, acquire + release, alone", semaphore_alone, semaphore_alone,
     1, 2000000, 0},
    {"WorkCounter, next, alone", counter_alone, counter_alone, 1, 2000000, 0},
    {"SpscQueue, one int at a time", spsc_push, spsc_pop, 2, 500000, 0},
    {"SpscQueue, batches of 64 ints", batch_push, batch_pop, 2, 6400000, 0},
    {"SpscQueue, 64-byte records", record_push, record_pop, 2, 400000, 0},
    {"MpmcQueue, 1 producer, 1 consumer", mpmc_push, mpmc_pop, 2, 400000, 0},
    {"MpmcQueue, 2 producers, 2 consumers", mpmc_push, mpmc_pop, 4, 200000, 0},
    {"MpmcQueue, 4 producers, 4 consumers", mpmc_push, mpmc_pop, 8, 100000, 0},
    {"LockFreeQueue, 1 producer, 1 consumer", free_push, free_pop, 2, 300000,
     0},
    {"LockFreeQueue, 2 producers, 2 consumers", free_push, free_pop, 4, 150000,
     0},
};
enum { NUMBER_OF_KINDS = sizeof KINDS / sizeof KINDS[0] };

EXPORT int32_t twins_kinds(void) { return NUMBER_OF_KINDS; }
EXPORT const char *twins_name(int32_t kind) { return KINDS[kind].name; }
EXPORT int32_t twins_threads(int32_t kind) { return KINDS[kind].threads; }
EXPORT bool twins_timed(int32_t kind) { return KINDS[kind].timed; }
EXPORT bool twins_done(void) { return weft__load(&finished) == count; }
EXPORT void twins_end(void) { weft__store(&over, 1); }

static void *make(int32_t kind) {
  enum { BYTES = 256 * 1024 };
  static int32_t *memory;
  weft_queue_config config = {CAPACITY, 4};
  weft_work_config work = {1, 0};
  if (memory == NULL) memory = (int32_t *)malloc(BYTES);
  memset(memory, 0, BYTES);
  switch (KINDS[kind].name[0]) {
    case 'M':
      if (KINDS[kind].name[1] == 'u') return memory;
      return weft_mpmc_queue_init(memory, BYTES, config);
    case 'L':
      return weft_lock_free_queue_init(memory, BYTES, config);
    case 'W':
      return weft_work_counter_init(memory, BYTES, KINDS[kind].n, work);
    default:
      if (KINDS[kind].name[1] == 'e')
        return weft_semaphore_init(memory, BYTES, 1);
      if (KINDS[kind].odd == record_push) config.element_size = WORDS * 4;
      return weft_spsc_queue_init(memory, BYTES, config);
  }
}

/* Starts the threads; false if they cannot be had. */
EXPORT bool twins_start(int32_t kind) {
  void *object = make(kind);
  count = KINDS[kind].threads;
  weft__store(&over, 0);
  weft__store(&arrived, 0);
  weft__store(&finished, 0);
  memset(jobs, 0, sizeof jobs);
  for (int32_t i = 0; i < count; i++) {
    pthread_t thread;
    jobs[i].object = object;
    jobs[i].n = KINDS[kind].n;
    if (pthread_create(&thread, NULL,
                       i % 2 == 0 ? KINDS[kind].odd : KINDS[kind].even,
                       &jobs[i]) != 0)
      return false;
    pthread_detach(thread);
  }
  return true;
}

/* The ns of an operation, or less than 0 if elements were lost. */
EXPORT double twins_ns(int32_t kind) {
  int64_t begin = INT64_MAX, end = 0, ops = 0;
  uint32_t popped = 0, pushed = 0;
  uint64_t n = (uint64_t)KINDS[kind].n;
  for (int32_t i = 0; i < count; i++) {
    if (jobs[i].begin < begin) begin = jobs[i].begin;
    if (jobs[i].end > end) end = jobs[i].end;
    ops += jobs[i].ops;
    popped += (uint32_t)jobs[i].sum;
  }
  if (strstr(KINDS[kind].name, "Queue") != NULL) {
    pushed = (uint32_t)(n * (n - 1) / 2) * (uint32_t)(count / 2);
    if (pushed != popped) return -1;
  }
  return (double)(end - begin) / (double)ops;
}

#ifndef __EMSCRIPTEN__
int main(int argc, char **argv) {
  int kind = argc > 1 ? atoi(argv[1]) : 0;
  struct timespec while_timed = {0, 100000000};
  if (kind < 0 || kind >= NUMBER_OF_KINDS) return 2;
  if (!twins_start(kind)) return 1;
  if (KINDS[kind].timed) {
    nanosleep(&while_timed, NULL);
    twins_end();
  }
  for (int32_t n; (n = weft__load(&finished)) < count;)
    weft__sleep(&finished, n, INT64_MAX, 1000000000);
  double waited = 0;
  for (int32_t i = 0; i < count; i++)
    waited += jobs[i].waited / (double)(jobs[i].end - jobs[i].begin);
  printf("{\"ns\": %.4f, \"disturbed\": %.4f}\n", twins_ns(kind), waited);
  return 0;
}
#endif
