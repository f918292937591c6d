/* Helpers of the native tests: checks that print their place and condition,
   snapshots of memory that must not change, threads, and random numbers. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <time.h>
#include <weft/_wait.h>

#define MS INT64_C(1000000)

static inline void check__equal(int64_t got, int64_t wanted, const char *what,
                                const char *file, int line) {
  if (got == wanted) return;
  fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n", file, line,
          what, got, wanted);
  exit(1);
}

#define EQUAL(got, wanted)                                              \
  check__equal((int64_t)(got), (int64_t)(wanted), #got, __FILE__, __LINE__)
#define CHECK(condition)                                                \
  check__equal(!!(condition), 1, #condition, __FILE__, __LINE__)

/* Room for a copy of memory. */
static inline unsigned char *check__room(void) {
  static unsigned char room[1 << 16];
  return room;
}

/* `call` gives `wanted` and leaves `bytes` bytes at `at` as they were. */
#define UNCHANGED(at, bytes, call, wanted)                              \
  do {                                                                  \
    memcpy(check__room(), at, bytes);                                   \
    EQUAL(call, wanted);                                                \
    if (memcmp(check__room(), at, bytes) == 0) break;                   \
    fprintf(stderr, "%s:%d: %s changed memory\n", __FILE__, __LINE__,   \
            #call);                                                     \
    exit(1);                                                            \
  } while (0)

/* Runs a test and prints its name first. If the program stops, the last name is
   that of the failing test. */
#define RUN(test) (puts(#test), fflush(stdout), test())

/* xorshift; the state must not be 0. */
static inline uint32_t random_next(uint32_t *state) {
  *state ^= (*state & 0x0007ffff) << 13;
  *state ^= *state >> 17;
  *state ^= (*state & 0x07ffffff) << 5;
  return *state;
}

/* 0 to n - 1. */
static inline int32_t random_below(uint32_t *state, int32_t n) {
  return (int32_t)(random_next(state) % (uint32_t)n);
}

/* Bytes that tell their number `i`, so that they are known when they come. */
static inline void fill_bytes(unsigned char *at, int32_t length, int32_t i) {
  for (int32_t k = 0; k < length; k++) at[k] = (unsigned char)(i * 31 + k * 7);
}

static inline void check_bytes(const void *at, int32_t length, int32_t i) {
  const unsigned char *bytes = (const unsigned char *)at;
  for (int32_t k = 0; k < length; k++)
    EQUAL(bytes[k], (unsigned char)(i * 31 + k * 7));
}

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void pause_ms(int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}

/* `call` gives `wanted`, and takes `least` ms; 10 s only if its unit is wrong.
   */
#define TAKES(least, call, wanted)                                      \
  do {                                                                  \
    int64_t begin = now_ns();                                           \
    EQUAL(call, wanted);                                                \
    int64_t took = now_ns() - begin;                                    \
    CHECK(took >= (least) * MS);                                        \
    CHECK(took < 10000 * MS);                                            \
  } while (0)

/* Starts `count` threads with arguments that lie `size` bytes apart. */
static inline void start_threads(pthread_t *threads, int count,
                                 void *(*body)(void *), void *arguments,
                                 size_t size) {
  for (int i = 0; i < count; i++) {
    void *argument = (char *)arguments + (size_t)i * size;
    EQUAL(pthread_create(&threads[i], NULL, body, argument), 0);
  }
}

static inline void join_threads(pthread_t *threads, int count) {
  for (int i = 0; i < count; i++) EQUAL(pthread_join(threads[i], NULL), 0);
}

/* Start values near which a 32-bit counter wraps, besides 0. */
static const int32_t STARTS[] = {0, INT32_MAX, -1};
#define STARTS_COUNT ((int)(sizeof STARTS / sizeof *STARTS))

/* Whether `result` says not now; leaves the core to who can change that. */
static inline bool not_now(int result) {
  if (result != EBUSY && result != ETIMEDOUT) return false;
  sched_yield();
  return true;
}

/* A word that all threads of a test change, other than by weft.h. */
static inline int32_t shared_add(int32_t *word, int32_t n) {
  return __atomic_add_fetch(word, n, __ATOMIC_SEQ_CST);
}

/* A duration that is over soon, or at once, or never. */
static inline int64_t some_timeout(uint32_t *seed) {
  switch (random_below(seed, 4)) {
    case 0:
      return 0;
    case 1:
      return random_below(seed, 50000);
    default:
      return WEFT_FOREVER;
  }
}

/* A blocking call for ever, and what it answered. */
typedef struct {
  int (*call)(void *at);
  void *at;
  int result;
  int64_t ended;
} sleeper;

static inline void *sleep_in(void *argument) {
  sleeper *self = (sleeper *)argument;
  self->result = self->call(self->at);
  self->ended = now_ns();
  return NULL;
}

/* `count` sleepers in `call`, 8 at most, all end by `wake`. In a build that is
   "sleepy" they look only once an hour: there a lost wake is a hang. */
static inline void all_wake(int (*call)(void *), void *at, int count,
                     void (*wake)(void *), int wanted) {
  sleeper sleepers[8];
  pthread_t threads[8];
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
  }
}

#endif
