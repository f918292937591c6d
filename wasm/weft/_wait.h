/* _wait.h - the twin of primitives/_wait/wait.ts. */
#ifndef WEFT__WAIT_H
#define WEFT__WAIT_H

#include "_words.h"

WEFT__BEGIN

#define WEFT_FOREVER INT64_C(-1)

/*
 * How a sleep ended. The instruction of WebAssembly gives the first three, as
 * weft__sleep_raw does. TIMED_OUT is the last one, so that a compiler which
 * knows that no call has a deadline also knows that none returns it.
 */
enum { WEFT__OK, WEFT__NOT_EQUAL, WEFT__LOOKED, WEFT__TIMED_OUT };

#define WEFT__SECOND INT64_C(1000000000)

/* The longest sleep, in ns, before a sleeper looks at the words again. Tests
   set it to an hour, to see that no wake is lost. */
#ifndef WEFT__LOOK
#define WEFT__LOOK WEFT__SECOND
#endif

#ifdef WEFT_NAMED_AGENTS
/* A row of a table of agents: AGENT_ROW in primitives/_memory/layout.ts. */
enum { WEFT__ROW_SEQUENCE = 1, WEFT__ROW_ON = 2 };
#endif

#if defined(__wasi__) && !defined(WEFT_REALTIME)
__attribute__((import_module("wasi_snapshot_preview1"),
               import_name("clock_time_get"))) int32_t
weft__wasi_clock_time_get(int32_t clock, int64_t precision, int64_t *time);

/* What a clock of WASI shows, in ns: 0 the time of day, 1 a monotonic one. */
static inline WEFT__SHARED int64_t weft__wasi_time(int32_t clock) {
  int64_t time = 0;
  (void)weft__wasi_clock_time_get(clock, 1000, &time);
  return time;
}
#endif

#if defined(WEFT_NOW) || defined(WEFT_REALTIME)
#elif defined(__EMSCRIPTEN__)
static inline WEFT__SHARED int64_t weft__now(void) {
  return (int64_t)(emscripten_get_now() * 1e6);
}
#define WEFT_NOW() weft__now()
#elif defined(__wasi__)
#define WEFT_NOW() weft__wasi_time(1)
#elif defined(__wasm__)
__attribute__((import_module("env"), import_name("weft_now"))) double weft_now(
    void);
#define WEFT_NOW() ((int64_t)(weft_now() * 1e6))
#else
#define WEFT_NOW() weft__now()
#endif

#if defined(WEFT_DATE) || defined(WEFT_REALTIME)
#elif defined(__EMSCRIPTEN__)
extern double emscripten_date_now(void); /* <emscripten/html5.h> is long */
#define WEFT_DATE() ((int64_t)emscripten_date_now())
#elif defined(__wasi__)
#define WEFT_DATE() (weft__wasi_time(0) / 1000000)
#elif defined(__wasm__)
__attribute__((import_module("env"), import_name("weft_date"))) double
weft_date(void);
#define WEFT_DATE() ((int64_t)weft_date())
#else
#define WEFT_DATE() weft__date()
#endif

/*
 * In native programs, only threads of one process wait for each other: it is
 * faster. If processes share the memory, define WEFT_PROCESS_SHARED in every
 * program that uses it.
 */
#if defined(__linux__) && defined(WEFT_PROCESS_SHARED)
#define WEFT__FUTEX_WAIT 0
#define WEFT__FUTEX_WAKE 1
#elif defined(__linux__) /* the same, with FUTEX_PRIVATE_FLAG */
#define WEFT__FUTEX_WAIT 128
#define WEFT__FUTEX_WAKE 129
#elif defined(__APPLE__) && defined(WEFT_PROCESS_SHARED)
#define WEFT__ULOCK 3 /* UL_COMPARE_AND_WAIT_SHARED */
#elif defined(__APPLE__)
#define WEFT__ULOCK 1 /* UL_COMPARE_AND_WAIT */
#endif

#if defined(__linux__)
/*
 * The calls of the kernel that take its own timespec. <sys/syscall.h> of the C
 * library has their numbers; musl's names the old call for 32 bits in its own
 * way. Newer 32-bit machines only have the calls for 64 bits.
 */
#if defined(WEFT__SYS_FUTEX)
typedef long weft__kernel_long;
#elif defined(SYS_futex) && defined(SYS_clock_gettime)
#define WEFT__SYS_FUTEX SYS_futex
#define WEFT__SYS_CLOCK_GETTIME SYS_clock_gettime
typedef long weft__kernel_long;
#elif defined(SYS_futex) && defined(SYS_clock_gettime32)
#define WEFT__SYS_FUTEX SYS_futex
#define WEFT__SYS_CLOCK_GETTIME SYS_clock_gettime32
typedef long weft__kernel_long;
#else
#define WEFT__SYS_FUTEX SYS_futex_time64
#define WEFT__SYS_CLOCK_GETTIME SYS_clock_gettime64
typedef int64_t weft__kernel_long;
#endif
struct weft__time {
  weft__kernel_long s, ns;
};

#if defined(__LP64__)
/* The C library reads the clock without a call of the kernel. */
static inline int64_t weft__now(void) {
  struct timespec t = {0, 0};
  clock_gettime(1 /* CLOCK_MONOTONIC */, &t);
  return (int64_t)t.tv_sec * WEFT__SECOND + t.tv_nsec;
}
/* The time of day in ms, by the clock that all threads share. */
static inline int64_t weft__date(void) {
  struct timespec t = {0, 0};
  clock_gettime(0 /* CLOCK_REALTIME */, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}
#else /* its own timespec may be another one than the kernel's */
static inline int64_t weft__now(void) {
  struct weft__time t = {0, 0};
  syscall(WEFT__SYS_CLOCK_GETTIME, 1 /* CLOCK_MONOTONIC */, &t);
  return (int64_t)t.s * WEFT__SECOND + t.ns;
}
static inline int64_t weft__date(void) {
  struct weft__time t = {0, 0};
  syscall(WEFT__SYS_CLOCK_GETTIME, 0 /* CLOCK_REALTIME */, &t);
  return (int64_t)t.s * 1000 + t.ns / 1000000;
}
#endif
#elif defined(__APPLE__)
static inline int64_t weft__now(void) {
  return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}
static inline int64_t weft__date(void) {
  return (int64_t)(clock_gettime_nsec_np(CLOCK_REALTIME) / 1000000);
}
/* libc++ and Apple's own locks sleep with these. */
extern int __ulock_wait(uint32_t op, void *at, uint64_t value, uint32_t us);
extern int __ulock_wake(uint32_t op, void *at, uint64_t value);
#endif

#ifndef WEFT_REALTIME /* what may wait */
/* The instant `timeout` ns from now. INT64_MAX is never: so it is below 0, or
   in more than 146 years, where the sum could overflow. */
static inline WEFT__SHARED int64_t weft__deadline(int64_t timeout) {
  return (uint64_t)timeout > INT64_MAX / 2 ? INT64_MAX : WEFT_NOW() + timeout;
}

/* Sleeps while *word is `value`, at most `ns`; then LOOKED. It is not a
   cancellation point: natively because `syscall` is not one. */
static WEFT__APART int weft__sleep_raw(int32_t *at, int32_t value, int64_t ns) {
#if defined(__EMSCRIPTEN_PTHREADS__)
  /* This runs the calls that other threads proxy to this one; the instruction
     does not. It is a cancellation point. A thread that ended here would still
     be counted as a waiter, so it must not be cancelled until it is awake. */
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  int r = emscripten_futex_wait(at, (uint32_t)value, (double)ns / 1e6);
  pthread_setcancelstate(state, NULL);
  return r == 0 ? WEFT__OK : r == -ETIMEDOUT ? WEFT__LOOKED : WEFT__NOT_EQUAL;
#elif defined(__wasm__)
  return __builtin_wasm_memory_atomic_wait32(at, value, ns);
#else
  int kept = errno; /* the caller may look at it later */
#if defined(__linux__)
  struct weft__time t;
  t.s = (weft__kernel_long)(ns / WEFT__SECOND);
  t.ns = (weft__kernel_long)(ns % WEFT__SECOND);
  bool woken = syscall(WEFT__SYS_FUTEX, at, WEFT__FUTEX_WAIT, value, &t, NULL,
                       0) == 0;
#else
  bool woken = __ulock_wait(WEFT__ULOCK, at, (uint32_t)value,
                            (uint32_t)(ns / 1000 + 1)) >= 0;
#endif
  if (woken) return WEFT__OK;
  int outcome = errno == ETIMEDOUT ? WEFT__LOOKED : WEFT__NOT_EQUAL;
  errno = kept;
  return outcome;
#endif
}

#ifdef WEFT_NAMED_AGENTS
/* The row of this thread in a table of agents, or NULL: see deadlocks.h. */
__attribute__((
    weak,
    visibility("default"))) WEFT__THREAD_LOCAL int32_t *weft__agent_row;

/* Notes there that this thread sleeps on a word, or on none if it is NULL. */
static inline void weft__note_sleep(const int32_t *word) {
  int32_t *row = weft__agent_row;
  if (row == NULL) return;
  weft__store(&row[WEFT__ROW_ON], 0);
  int64_t bytes = (int64_t)(uintptr_t)word - (int64_t)(uintptr_t)row;
  int32_t words = (int32_t)(bytes / 4);
  if (word == NULL || words != bytes / 4) return; /* too far away */
  weft__add(&row[WEFT__ROW_SEQUENCE], 1);
  weft__store(&row[WEFT__ROW_ON], words);
}
#else
#define weft__note_sleep(word) ((void)0)
#endif

/*
 * Sleeps while *word is `value`, until `deadline`, but at most `at_most` ns and
 * at most a second: a wake that was given to a terminated agent is lost.
 * WEFT__NOT_EQUAL means that the caller must look again.
 * So does WEFT__LOOKED, after a second in which nothing happened.
 */
static WEFT__APART WEFT__SHARED int weft__sleep(
    int32_t *word, int32_t value, int64_t deadline, int64_t at_most) {
  int64_t left = at_most < WEFT__LOOK ? at_most : WEFT__LOOK;
  bool last = false;
  if (deadline != INT64_MAX) {
    int64_t rest = deadline - WEFT_NOW();
    if (rest <= 0) return WEFT__TIMED_OUT;
    last = rest < left;
    if (last) left = rest;
  }
  weft__note_sleep(word);
#if defined(WEFT__APART_WAITS)
  /* After the instruction, `last` may be lost: it is known before. */
  int woken;
  if (last) {
    woken = weft__sleep_raw(word, value, left);
    if (woken == WEFT__LOOKED) woken = WEFT__TIMED_OUT;
  } else {
    woken = weft__sleep_raw(word, value, left);
  }
  weft__note_sleep(NULL);
  return woken;
#else
  int woken = weft__sleep_raw(word, value, left);
  weft__note_sleep(NULL);
  return last && woken == WEFT__LOOKED ? WEFT__TIMED_OUT : woken;
#endif
}
#endif

/*
 * Wakes up to `count` sleepers, and returns how many it woke. It uses the
 * instruction under Emscripten, too: emscripten_futex_wake may spend the wake
 * on the main thread, which polls the word anyway.
 */
static inline int32_t weft__notify(int32_t *word, int32_t count) {
#if defined(__wasm__)
  return (int32_t)__builtin_wasm_memory_atomic_notify(word, (uint32_t)count);
#else
  int kept = errno; /* waking at memory that was freed may fail */
  int32_t woken = 0;
#if defined(__linux__)
  woken = (int32_t)syscall(WEFT__SYS_FUTEX, word, WEFT__FUTEX_WAKE, count, NULL,
                           NULL, 0);
#else
  if (count == INT32_MAX)
    woken = __ulock_wake(WEFT__ULOCK | 0x100, word, 0) >= 0 ? 1 : 0;
  else
    while (woken < count && __ulock_wake(WEFT__ULOCK, word, 0) >= 0) woken++;
#endif
  errno = kept;
  return woken;
#endif
}

#define WEFT__ALL INT32_MAX

WEFT__END

#endif /* WEFT__WAIT_H */
