// Made from weft.h by `deno task header`.

/** The text of `weft.h`. */
export const TEXT: string = `/*
 * weft.h - Weft's primitives for C and C++: the words of primitives/_layout.ts
 * and the algorithms of primitives/, usable from both languages at once. Each
 * section is the twin of the file it names; the comments on its words, its
 * progress and its source are there.
 *
 * Header only, C11 or C++17 and later; every function is static inline and
 * none allocates. Build with -pthread, or with -matomics -mbulk-memory for
 * bare wasm32; natively on Linux and macOS. WebAssembly's atomics, like
 * JavaScript's, are all sequentially consistent, and so are all of these.
 *
 * Durations are nanoseconds from now, WEFT_FOREVER without an end, 0 to try
 * once. Results are 0 or an errno: EBUSY (a try_ form: not now), ETIMEDOUT,
 * EINVAL (an argument out of range), EPIPE (closed), EOWNERDEAD (locked, and
 * abandoned before; or the server of a call died), EDEADLK (locked by this
 * agent already), EPERM (not the owner; or this agent may not block), EIO (the
 * server of a call failed); or a count or pointer where said.
 *
 * Bare wasm32 has neither clock nor entropy: import env.weft_now (a double,
 * milliseconds) or define WEFT_NOW() (int64_t, nanoseconds), and define
 * WEFT_RANDOM() (uint32_t) or call weft_agent_set_id() in each thread. Where
 * nobody sets up thread-local storage, define WEFT_AGENT() as an lvalue of
 * type weft_agent that is this thread's own.
 *
 * Define WEFT_REALTIME before including this in code of an audio worklet, or
 * what else must never block: only what cannot is left, as in realtime.ts.
 * Define WEFT_STDIO for weft_inspect, which prints what a primitive's words
 * say.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<errno.h>)
#include <errno.h>
#endif
#endif
#ifndef EBUSY /* no C library: WASI's numbers, which Emscripten has, too */
#define EBUSY 10
#define EDEADLK 16
#define EINVAL 28
#define EIO 29
#define EOWNERDEAD 62
#define EPERM 63
#define EPIPE 64
#define ETIMEDOUT 73
#endif

#if defined(WEFT_STDIO)
#include <stdio.h> /* for weft_inspect, which prints */
#endif
#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif
#if defined(__EMSCRIPTEN_PTHREADS__)
#include <emscripten/threading.h>
#elif defined(__wasm__)
#ifndef __wasm_atomics__
#error "weft.h needs threads: build with -pthread (or -matomics)"
#endif
#elif defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#if !defined(__cplusplus) && !defined(__USE_MISC)
extern long syscall(long number, ...); /* hidden by -std=c11 */
#endif
#elif defined(__APPLE__)
#include <stdlib.h>
#include <time.h>
#else
#error "weft.h knows WebAssembly, Linux and macOS"
#endif

#ifdef __cplusplus
#define WEFT__ASSERT(condition, text) static_assert(condition, text)
#define WEFT__THREAD_LOCAL thread_local
extern "C" {
#else
#define WEFT__ASSERT(condition, text) _Static_assert(condition, text)
#define WEFT__THREAD_LOCAL _Thread_local
#endif

#define WEFT_FOREVER INT64_C(-1)

/* One row of the layout table; layout_test.ts reads these lines too. */
#define WEFT_WORD(type, field, word)                              \\
  WEFT__ASSERT(offsetof(weft_##type, field) == 4 * (word) &&      \\
                   sizeof(((weft_##type *)0)->field) == 4,        \\
               "weft_" #type "." #field " is not word " #word     \\
               " as in primitives/_layout.ts")
#define WEFT_LENGTH(type, words)                              \\
  WEFT__ASSERT(sizeof(weft_##type) == 4 * (words),            \\
               "weft_" #type " is not " #words                \\
               " words long as in primitives/_layout.ts")

/* ---- words -------------------------------------------------------------- */

static inline int32_t weft__load(const int32_t *word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* A value that a later exchange checks: may be old. */
static inline int32_t weft__hint(const int32_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void weft__store(int32_t *word, int32_t value) {
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static inline int32_t weft__add(int32_t *word, int32_t n) {
  return __atomic_fetch_add(word, n, __ATOMIC_SEQ_CST);
}

static inline int32_t weft__or(int32_t *word, int32_t bits) {
  return __atomic_fetch_or(word, bits, __ATOMIC_SEQ_CST);
}

static inline int32_t weft__and(int32_t *word, int32_t bits) {
  return __atomic_fetch_and(word, bits, __ATOMIC_SEQ_CST);
}

static inline int32_t weft__exchange(int32_t *word, int32_t to) {
  return __atomic_exchange_n(word, to, __ATOMIC_SEQ_CST);
}

/* Stores \`to\` if *word is \`from\`; returns what was there, as in JavaScript. */
static inline int32_t weft__compare_exchange(int32_t *word, int32_t from,
                                             int32_t to) {
  __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return from;
}

/* Sums and differences wrap, as \`a + b | 0\` does in JavaScript. */
static inline int32_t weft__plus(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t weft__minus(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a - (uint32_t)b);
}

static inline void weft__copy(int32_t *to, const int32_t *from,
                              int32_t words) {
  __builtin_memcpy(to, from, (size_t)words * 4);
}

/* ---- agent (primitives/agent.ts) ----------------------------------------- */

/* What a thread knows of itself; all zero to begin with. */
typedef struct {
  int32_t id;
  bool forbids_blocking;
  uint8_t calls;  /* of spinning */
  uint8_t lull;   /* rounds that the last one waited before its first look */
  int32_t spared; /* rounds of spinning that did not pay off of late */
  int32_t spun_at;
  const int32_t *spun_on; /* the index it began with, and where that lies */
} weft_agent;

#ifndef WEFT_AGENT
/* Weak, so that all translation units of a program share one a thread. */
__attribute__((weak)) WEFT__THREAD_LOCAL weft_agent weft__agent;
#define WEFT_AGENT() weft__agent
#endif

#ifndef WEFT_RANDOM
static inline uint32_t weft__random(void) {
#if defined(__EMSCRIPTEN__)
  return (uint32_t)(emscripten_random() * 268435456.0f);
#elif defined(__linux__)
  uint32_t bits = 0;
  syscall(SYS_getrandom, &bits, sizeof bits, 0);
  return bits;
#elif defined(__APPLE__)
  return arc4random();
#else
  /* Apart within a program, by the thread's stack; no more than that. */
  uint32_t bits = 0;
  return (uint32_t)(uintptr_t)&bits * UINT32_C(2654435761);
#endif
}
#define WEFT_RANDOM() weft__random()
#endif

/* This thread's id, 1 to 2^28 - 1, drawn at random when first asked for. */
static inline int32_t weft_agent_id(void) {
  weft_agent *agent = &WEFT_AGENT();
  while (agent->id == 0) agent->id = (int32_t)(WEFT_RANDOM() & 0x0fffffff);
  return agent->id;
}

/* Gives this thread the id \`id\`; EINVAL unless it is 1 to 2^28 - 1. */
static inline int weft_agent_set_id(int32_t id) {
  if (id < 1 || id > 0x0fffffff) return EINVAL;
  WEFT_AGENT().id = id;
  return 0;
}

/*
 * Says whether this thread may block; where it may not, as in an audio worklet
 * or on a browser's main thread without Emscripten's pthreads, blocking calls
 * return EPERM before anything is touched. Threads may unless told otherwise.
 */
static inline void weft_agent_set_blocking(bool allowed) {
  WEFT_AGENT().forbids_blocking = !allowed;
}

static inline bool weft__may_block(void) {
  return !WEFT_AGENT().forbids_blocking;
}

/* ---- regions (primitives/_region.ts) ------------------------------------- */

#define WEFT_VERSION 1
#define WEFT_KIND(stem, number) enum { WEFT_KIND_##stem = number }
WEFT_KIND(semaphore, 1);
WEFT_KIND(latch, 5);
WEFT_KIND(barrier, 6);
WEFT_KIND(snapshot, 7);
WEFT_KIND(spsc_queue, 2);
WEFT_KIND(mpmc_queue, 3);
WEFT_KIND(lock_free_queue, 8);
WEFT_KIND(record_ring, 9);
WEFT_KIND(broadcast, 10);
WEFT_KIND(channel, 15);
WEFT_KIND(call_ring, 11);
WEFT_KIND(work_counter, 4);
WEFT_KIND(work_deque, 12);
WEFT_KIND(slab_pool, 13);
WEFT_KIND(striped_counter, 14);

static inline int32_t weft__magic(int32_t kind) {
  return 0x57460000 | kind << 8 | WEFT_VERSION;
}

/* A check word over the configuration, so that torn memory is noticed. */
static inline int32_t weft__seal(int32_t kind, int32_t first, int32_t second) {
  uint32_t seal = (uint32_t)weft__magic(kind);
  seal ^= (uint32_t)first * 31u;
  seal ^= (uint32_t)second * UINT32_C(0x9e3779b1);
  return (int32_t)~seal;
}

static inline void weft__zero(void *at, size_t bytes) {
  int32_t *words = (int32_t *)at;
  for (size_t i = 0; i < bytes / 4; i++) words[i] = 0;
}

static inline bool weft__aligned(const void *at) {
  return at != NULL && (uintptr_t)at % 4 == 0;
}

/* The word of \`seal\`: after \`magic\` and the configuration words. */
static inline int weft__seal_word(int32_t kind) {
  switch (kind) {
    case WEFT_KIND_semaphore:
    case WEFT_KIND_latch:
      return 1;
    case WEFT_KIND_barrier:
    case WEFT_KIND_work_deque:
    case WEFT_KIND_striped_counter:
      return 2;
    default:
      return 3;
  }
}

/*
 * Why \`at\` cannot be attached to as a primitive of \`kind\`, such as
 * WEFT_KIND_mpmc_queue; NULL if it can.
 */
static inline const char *weft_attach_error(const void *at, int32_t kind) {
  const int32_t *words = (const int32_t *)at;
  if (!weft__aligned(at)) return "not a multiple of 4";
  int32_t magic = weft__load(words);
  int seal = weft__seal_word(kind);
  if (magic >> 16 != 0x5746) return "no initialized primitive here";
  if ((magic >> 8 & 0xff) != kind) return "a primitive of another kind";
  if ((magic & 0xff) != WEFT_VERSION) return "another layout version";
  int32_t first = seal > 1 ? words[1] : 0;
  int32_t second = seal > 2 ? words[2] : 0;
  if (words[seal] != weft__seal(kind, first, second))
    return "the configuration does not match its seal";
  return NULL;
}

/* ---- waiting (primitives/_wait.ts, _spin.ts) ----------------------------- */

/* How a sleep ended. */
enum { WEFT__OK, WEFT__NOT_EQUAL, WEFT__TIMED_OUT };

#define WEFT__SECOND INT64_C(1000000000)

/* No sleep lasts longer without a look. Tests make it an hour, to see that a
   wake is not lost. */
#ifndef WEFT__LOOK
#define WEFT__LOOK WEFT__SECOND
#endif

/* How often a blocking call looks for itself before it sleeps. */
#ifndef WEFT_SPIN_ROUNDS
#define WEFT_SPIN_ROUNDS 20
#endif

#if defined(WEFT_NOW) || defined(WEFT_REALTIME)
#elif defined(__EMSCRIPTEN__)
#define WEFT_NOW() ((int64_t)(emscripten_get_now() * 1e6))
#elif defined(__wasm__)
__attribute__((import_module("env"), import_name("weft_now"))) double weft_now(
    void);
#define WEFT_NOW() ((int64_t)(weft_now() * 1e6))
#else
#define WEFT_NOW() weft__now()
#endif

#if defined(__linux__)
/* What the kernel calls a timespec, whatever the C library does. */
struct weft__time {
  long s, ns;
};

static inline int64_t weft__now(void) {
  struct weft__time t = {0, 0};
  syscall(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, &t);
  return (int64_t)t.s * WEFT__SECOND + t.ns;
}
#elif defined(__APPLE__)
static inline int64_t weft__now(void) {
  return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}
/* What libc++ and Apple's own locks sleep with. */
extern int __ulock_wait(uint32_t op, void *at, uint64_t value, uint32_t us);
extern int __ulock_wake(uint32_t op, void *at, uint64_t value);
#endif

#ifndef WEFT_REALTIME /* what may wait */
/* The instant \`timeout\` ns from now. */
static inline int64_t weft__deadline(int64_t timeout) {
  return timeout < 0 ? INT64_MAX : WEFT_NOW() + timeout;
}

/* Sleeps while *word is \`value\`, at most \`ns\`. */
static inline int weft__sleep_raw(int32_t *word, int32_t value, int64_t ns) {
#if defined(__EMSCRIPTEN_PTHREADS__)
  /* Not the instruction: this honours cancellation and proxied calls. */
  int r = emscripten_futex_wait(word, (uint32_t)value, (double)ns / 1e6);
  return r == 0            ? WEFT__OK
         : r == -ETIMEDOUT ? WEFT__TIMED_OUT
                           : WEFT__NOT_EQUAL;
#elif defined(__wasm__)
  int32_t *volatile at = word; /* a constant address loses locals in V8 11 */
  return __builtin_wasm_memory_atomic_wait32(at, value, ns);
#elif defined(__linux__)
  struct weft__time t;
  t.s = (long)(ns / WEFT__SECOND);
  t.ns = (long)(ns % WEFT__SECOND);
  if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0) == 0)
    return WEFT__OK;
  return errno == ETIMEDOUT ? WEFT__TIMED_OUT : WEFT__NOT_EQUAL;
#else
  int r = __ulock_wait(1, word, (uint32_t)value, (uint32_t)(ns / 1000 + 1));
  if (r >= 0) return WEFT__OK;
  return errno == ETIMEDOUT ? WEFT__TIMED_OUT : WEFT__NOT_EQUAL;
#endif
}

/*
 * Sleeps while *word is \`value\`, until \`deadline\` and at most \`at_most\` ns, and
 * never longer than a second, as a wake given to an agent that was terminated
 * is lost: WEFT__NOT_EQUAL means look again.
 */
static inline int weft__sleep(int32_t *word, int32_t value, int64_t deadline,
                              int64_t at_most) {
  int64_t left = at_most < WEFT__LOOK ? at_most : WEFT__LOOK;
  bool last = false;
  if (deadline != INT64_MAX) {
    int64_t rest = deadline - WEFT_NOW();
    if (rest <= 0) return WEFT__TIMED_OUT;
    last = rest < left;
    if (last) left = rest;
  }
  int woken = weft__sleep_raw(word, value, left);
  return woken == WEFT__TIMED_OUT && !last ? WEFT__NOT_EQUAL : woken;
}
#endif

/*
 * Wakes up to \`count\` sleepers, and answers how many there were. Under
 * Emscripten, too, the instruction: emscripten_futex_wake may give the wake to
 * the main thread, which polls the word by itself.
 */
static inline int32_t weft__notify(int32_t *word, int32_t count) {
#if defined(__wasm__)
  return (int32_t)__builtin_wasm_memory_atomic_notify(word, (uint32_t)count);
#elif defined(__linux__)
  return (int32_t)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL,
                          NULL, 0);
#else
  if (count == INT32_MAX) return __ulock_wake(0x101, word, 0) >= 0 ? 1 : 0;
  int32_t woken = 0;
  while (woken < count && __ulock_wake(1, word, 0) >= 0) woken++;
  return woken;
#endif
}

#define WEFT__ALL INT32_MAX

/* Passes so many tenths of a microsecond, about, without touching shared
   memory. */
static inline void weft__pass(int tenths) {
  volatile int left = 40 * tenths;
  while (left > 0) {
    int rest = left;
    left = rest - 1;
#if defined(__x86_64__) || defined(__i386__)
    if (rest % 16 == 0) __builtin_ia32_pause();
#endif
  }
}

/* Passes about a microsecond. */
static inline void weft__relax(void) { weft__pass(10); }

/* Passes a tenth of it: for what another agent does in a few steps. */
static inline void weft__relax_briefly(void) { weft__pass(1); }

/* Each so many calls, one spins for all its rounds, to see if it pays off. */
#define WEFT__SPIN_PROBE 32

/* A call spins as long as a sleep and a wake would take it, in any case. */
#define WEFT__SPIN_FEWEST 2
/* Elements come in a stream if an index moved so far since the last spin. */
#define WEFT__SPIN_STREAM 32
/* The most rounds of spinning without a look. */
#define WEFT__SPIN_LULL 8

#ifndef WEFT_REALTIME /* what may wait */
/*
 * How many rounds a call may spin. Where the other side has no core to run on,
 * spinning only keeps it waiting; so each call in vain halves the rounds of the
 * next, and one that paid off allows for twice what it took.
 */
static inline int32_t weft__spin_rounds(int64_t timeout) {
  weft_agent *agent = &WEFT_AGENT();
  if (timeout == 0) return 0;
  if (++agent->calls % WEFT__SPIN_PROBE == 0) return WEFT_SPIN_ROUNDS;
  return WEFT_SPIN_ROUNDS - agent->spared;
}

/* A call found what it looked for in its round \`round\`, from 1. */
static inline void weft__spin_paid(int32_t round) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t spared = WEFT_SPIN_ROUNDS - 2 * round - 2;
  if (spared < 0) spared = 0;
  if (agent->spared > spared) agent->spared = spared;
}

/* A call that was allowed \`rounds\` did not. */
static inline void weft__spin_failed(int32_t rounds) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t left = (WEFT_SPIN_ROUNDS - agent->spared) >> 1;
  if (left < WEFT__SPIN_FEWEST) left = WEFT__SPIN_FEWEST;
  if (rounds > left) agent->spared = WEFT_SPIN_ROUNDS - left;
}

/* Looks for a while whether \`found\`; if it is, does \`then\`. */
#define WEFT__SPIN(found, timeout, then)                \\
  do {                                                  \\
    int32_t rounds = weft__spin_rounds(timeout);        \\
    int32_t round = 1;                                  \\
    for (; round <= rounds; round++) {                  \\
      weft__relax();                                    \\
      if (found) break;                                 \\
    }                                                   \\
    if (round > rounds) {                               \\
      weft__spin_failed(rounds);                        \\
    } else {                                            \\
      weft__spin_paid(round);                           \\
      then;                                             \\
    }                                                   \\
  } while (0)

/*
 * For how many rounds to look away before the first look. In a stream of
 * elements each look takes a cache line from the other side, and an end that
 * comes too close behind the other takes it more: there it is up to 8. \`own\` is
 * the index of this end.
 */
static inline int32_t weft__spin_lull(const int32_t *own) {
  weft_agent *agent = &WEFT_AGENT();
  int32_t at = weft__hint(own);
  bool streams = agent->spun_on == own &&
                 weft__minus(at, agent->spun_at) >= WEFT__SPIN_STREAM;
  int32_t lull = streams ? 2 * agent->lull : 1;
  agent->lull = (uint8_t)(lull < WEFT__SPIN_LULL ? lull : WEFT__SPIN_LULL);
  agent->spun_on = own;
  agent->spun_at = at;
  return agent->lull;
}
#endif

#ifndef WEFT_REALTIME /* what may wait */

/* ---- mutex (primitives/mutex.ts) ----------------------------------------- */

#define WEFT_MUTEX_UNLOCKED 0
#define WEFT_MUTEX_OWNER_MASK 0x0fffffff
#define WEFT_MUTEX_ABANDONED_BIT (1 << 28)
#define WEFT_MUTEX_HANDOFF_BIT (1 << 29)
#define WEFT_MUTEX_CONTENDED_BIT (1 << 30)

/* A sleeper passed over for this long, in ns, is handed the mutex. */
#define WEFT__MUTEX_PATIENCE INT64_C(1000000)

/* Zeroed memory is an unlocked mutex. */
typedef struct {
  int32_t state;    /* owner and flags; sleepers wait here */
  int32_t starving; /* 1 while some sleeper was passed over */
} weft_mutex;
WEFT_WORD(mutex, state, 0);
WEFT_WORD(mutex, starving, 1);
WEFT_LENGTH(mutex, 2);

/* Makes a region that nobody uses yet an unlocked mutex. */
static inline void weft_mutex_init(weft_mutex *m) {
  weft__zero(m, sizeof *m);
}

/* The id of the agent that holds the mutex, or 0. */
static inline int32_t weft_mutex_owner(const weft_mutex *m) {
  return weft__load(&m->state) & WEFT_MUTEX_OWNER_MASK;
}

/* Locks the mutex if nobody holds it, without waiting; else EBUSY. */
static inline int weft_mutex_try_lock(weft_mutex *m) {
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  /* Without an owner it is ABANDONED, kept for a sleeper, which then looks
     again and sleeps on, or came free just now. */
  while ((state & WEFT_MUTEX_OWNER_MASK) == 0) {
    int32_t expected = state;
    int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT);
    state = weft__compare_exchange(&m->state, expected, taken);
    if (state == expected)
      return state & WEFT_MUTEX_ABANDONED_BIT ? EOWNERDEAD : 0;
  }
  return EBUSY;
}

/* Looks for a short time whether the mutex comes free, a microsecond apart:
   each look would take the word from the owner, who needs it to unlock. One
   handed to a sleeper is not for us, who would only keep a core from it. */
static inline bool weft__mutex_spin(weft_mutex *m, int32_t id,
                                    int64_t timeout) {
  int32_t rounds = weft__spin_rounds(timeout);
  for (int32_t round = 1; round <= rounds; round++) {
    weft__relax();
    int32_t state = weft__load(&m->state);
    if (state & WEFT_MUTEX_HANDOFF_BIT) break;
    if (state != WEFT_MUTEX_UNLOCKED ||
        weft__compare_exchange(&m->state, state, id) != state)
      continue;
    weft__spin_paid(round);
    return true;
  }
  weft__spin_failed(rounds);
  return false;
}

/* Locks from when \`state\` was seen, which may be old. */
static inline int weft__mutex_lock_slow(weft_mutex *m, int32_t id,
                                        int32_t state, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  bool woken = false; /* by a notify, so that a hand-off may be meant for us */
  bool starved = false;
  int32_t contended = 0; /* CONTENDED once we slept: others may sleep, too */
  int64_t since = 0;
  for (;;) {
    int32_t expected = state;
    if ((state & WEFT_MUTEX_OWNER_MASK) == 0 &&
        ((state & WEFT_MUTEX_HANDOFF_BIT) == 0 || woken || starved)) {
      /* (C) Who slept keeps CONTENDED: it knows of no one, yet one unlock
         wakes only one sleeper, and the others must be woken by ours. */
      int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT) | contended;
      state = weft__compare_exchange(&m->state, expected, taken);
      if (state != expected) continue;
      if (state & WEFT_MUTEX_HANDOFF_BIT && !starved)
        weft__store(&m->starving, 0);
      return state & WEFT_MUTEX_ABANDONED_BIT ? EOWNERDEAD : 0;
    }
    if ((state & WEFT_MUTEX_CONTENDED_BIT) == 0) {
      state |= WEFT_MUTEX_CONTENDED_BIT;
      int32_t seen = weft__compare_exchange(&m->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (contended == 0) {
      contended = WEFT_MUTEX_CONTENDED_BIT;
      since = WEFT_NOW();
    } else if (!starved && WEFT_NOW() - since > WEFT__MUTEX_PATIENCE) {
      starved = true;
      weft__store(&m->starving, 1);
    }
    bool handoff = (state & WEFT_MUTEX_HANDOFF_BIT) != 0;
    /* Kept for a sleeper that may have been terminated: ours after a while. */
    int outcome = weft__sleep(&m->state, state, deadline,
                              handoff ? WEFT__MUTEX_PATIENCE : WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;
    int32_t before = state;
    state = weft__load(&m->state);
    woken = outcome == WEFT__OK || (handoff && state == before);
  }
}

/*
 * Locks the mutex, blocking up to \`timeout\` ns. 0, or EOWNERDEAD: locked, but
 * its last owner was abandoned; else ETIMEDOUT, EDEADLK or EPERM.
 */
static inline int weft_mutex_lock(weft_mutex *m, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  if (weft__mutex_spin(m, id, timeout)) return 0;
  return weft__mutex_lock_slow(m, id, state, timeout);
}

static inline int weft__mutex_unlock_slow(weft_mutex *m, int32_t id,
                                          int32_t state) {
  if ((state & WEFT_MUTEX_OWNER_MASK) != id) return EPERM;
  /* CONTENDED is set, and nobody but the owner changes the word now. */
  if (weft__load(&m->starving) == 0) {
    weft__store(&m->state, WEFT_MUTEX_UNLOCKED);
    weft__notify(&m->state, 1);
    return 0;
  }
  int32_t kept = WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT;
  weft__store(&m->state, kept);
  if (weft__notify(&m->state, 1) > 0) return 0;
  /* Nobody slept: the one that starved gave up, or was terminated. */
  weft__store(&m->starving, 0);
  if (weft__compare_exchange(&m->state, kept, WEFT_MUTEX_UNLOCKED) == kept)
    weft__notify(&m->state, 1);
  return 0;
}

/* Unlocks the mutex and wakes a sleeper, if there is one; EPERM if this agent
   does not hold it. */
static inline int weft_mutex_unlock(weft_mutex *m) {
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, id, WEFT_MUTEX_UNLOCKED);
  return state == id ? 0 : weft__mutex_unlock_slow(m, id, state);
}

/*
 * Frees the mutex if agent \`id\` holds it, which is known never to run again;
 * the next lock gives EOWNERDEAD. EPERM if \`id\` did not hold it.
 */
static inline int weft_mutex_abandon(weft_mutex *m, int32_t id) {
  int32_t state = weft__load(&m->state);
  while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) {
    int32_t expected = state;
    state =
        weft__compare_exchange(&m->state, expected, WEFT_MUTEX_ABANDONED_BIT);
    if (state != expected) continue;
    if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);
    return 0;
  }
  return EPERM;
}

/* Makes a mutex that agent \`id\` holds, which is known never to run again, that
   of \`heir\`; false if \`id\` did not hold it. */
static inline bool weft__mutex_inherit(weft_mutex *m, int32_t id,
                                       int32_t heir) {
  int32_t state = weft__load(&m->state);
  while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) {
    int32_t expected = state;
    int32_t next = (state & ~WEFT_MUTEX_OWNER_MASK) | heir;
    state = weft__compare_exchange(&m->state, expected, next);
    if (state == expected) return true;
  }
  return false;
}

/* ---- rw_lock (primitives/rw_lock.ts) ---------------------------------------- */

#define WEFT_RW_LOCK_READING_MASK 0x1fff
#define WEFT_RW_LOCK_ONE_PENDING (1 << 13)
#define WEFT_RW_LOCK_PENDING_MASK (0x1fff << 13)
#define WEFT_RW_LOCK_WRITING_BIT (1 << 26)
#define WEFT_RW_LOCK_WANTED_BIT (1 << 27)
#define WEFT_RW_LOCK_ASLEEP_BIT (1 << 28)
#define WEFT_RW_LOCK_ABANDONED_BIT (1 << 29)
#define WEFT_RW_LOCK_ONE_PHASE (1 << 30)
#define WEFT_RW_LOCK_PHASE_MASK ((int32_t)(UINT32_C(3) << 30))

/* In \`gate\`: readers may sleep there. */
#define WEFT_RW_LOCK_WAITING_BIT 1
#define WEFT_RW_LOCK_ONE_OPENING 2

/* The most agents that read or wait for it. */
#define WEFT_RW_LOCK_MAX_READERS 0x1fff

/* Zeroed memory is an unlocked lock. */
typedef struct {
  int32_t state;   /* readers, flags and phase; a writer sleeps here */
  int32_t gate;    /* changes after each phase; readers sleep here */
  int32_t writer;  /* a weft_mutex: its state */
  int32_t writer_starving;
} weft_rw_lock;
WEFT_WORD(rw_lock, state, 0);
WEFT_WORD(rw_lock, gate, 1);
WEFT_WORD(rw_lock, writer, 2);
WEFT_WORD(rw_lock, writer_starving, 3);
WEFT_LENGTH(rw_lock, 4);

/* Where a reader stood when it began to wait. */
typedef struct {
  int32_t state; /* at which it was counted as pending */
  int32_t gate;  /* after that */
} weft__rw_ticket;

/* Makes a region that nobody uses yet an unlocked lock. */
static inline void weft_rw_lock_init(weft_rw_lock *l) {
  weft__zero(l, sizeof *l);
}

/* The mutex among writers: the words are its own. */
static inline weft_mutex *weft__rw_writer(weft_rw_lock *l) {
  return (weft_mutex *)(void *)&l->writer;
}

/* How many agents read. */
static inline int32_t weft_rw_lock_readers(const weft_rw_lock *l) {
  return weft__load(&l->state) & WEFT_RW_LOCK_READING_MASK;
}

/* The id of the agent that writes, or waits for those who read, or 0. */
static inline int32_t weft_rw_lock_writer(const weft_rw_lock *l) {
  return weft__load(&l->writer) & WEFT_MUTEX_OWNER_MASK;
}

/* 0, or EOWNERDEAD, for a lock held. */
static inline int weft__rw_held(int32_t state) {
  return state & WEFT_RW_LOCK_ABANDONED_BIT ? EOWNERDEAD : 0;
}

/* Locks for reading if no writer has the lock or waits for it, without
   waiting: 0 or EOWNERDEAD, else EBUSY; EINVAL if 8191 agents read. */
static inline int weft_rw_lock_try_read(weft_rw_lock *l) {
  const int32_t bits = WEFT_RW_LOCK_WRITING_BIT | WEFT_RW_LOCK_WANTED_BIT;
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    if (state & bits) {
      state = weft__load(&l->state);
      if (state & bits) return EBUSY;
      continue;
    }
    if ((state & WEFT_RW_LOCK_READING_MASK) == WEFT_RW_LOCK_MAX_READERS) {
      state = weft__load(&l->state);
      if (state == expected) return EINVAL;
      continue;
    }
    state = weft__compare_exchange(&l->state, expected, state + 1);
    if (state == expected) return weft__rw_held(state);
  }
}

/* Whether this agent writes; what it wrote there itself, it sees plainly. */
static inline bool weft__rw_is_writing(const weft_rw_lock *l) {
  return (weft__hint(&l->writer) & WEFT_MUTEX_OWNER_MASK) == weft_agent_id() &&
         (weft__hint(&l->state) & WEFT_RW_LOCK_WRITING_BIT) != 0;
}

/* Begins to wait to read: EBUSY, and the ticket; 0 if it reads already. */
static inline int weft__rw_pend(weft_rw_lock *l, weft__rw_ticket *ticket) {
  const int32_t bits = WEFT_RW_LOCK_WRITING_BIT | WEFT_RW_LOCK_WANTED_BIT;
  int32_t state = weft__load(&l->state);
  for (;;) {
    int32_t expected = state;
    bool waits = (state & bits) != 0;
    int32_t pending =
        (state & WEFT_RW_LOCK_PENDING_MASK) / WEFT_RW_LOCK_ONE_PENDING;
    /* One more may come by a downgrade. */
    int32_t most = WEFT_RW_LOCK_MAX_READERS - (waits ? 1 : 0);
    if ((state & WEFT_RW_LOCK_READING_MASK) + pending >= most) return EINVAL;
    int32_t next = weft__plus(state, waits ? WEFT_RW_LOCK_ONE_PENDING : 1);
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    if (!waits) return 0;
    ticket->state = state;
    ticket->gate = weft__load(&l->gate);
    return EBUSY;
  }
}

/*
 * Whether who waits with \`ticket\` was let in. The phase alone would look the
 * same after four; but then the gate, of which one opening may have been due
 * from before the ticket, has moved by two.
 */
static inline bool weft__rw_is_in(weft__rw_ticket ticket, int32_t state,
                                  int32_t gate) {
  if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK) return true;
  int32_t moved = weft__minus(gate & ~WEFT_RW_LOCK_WAITING_BIT,
                              ticket.gate & ~WEFT_RW_LOCK_WAITING_BIT);
  return moved >= 2 * WEFT_RW_LOCK_ONE_OPENING;
}

/* Waits until a writer lets us in. */
static inline int weft__rw_read_slow(weft_rw_lock *l, weft__rw_ticket ticket,
                                     int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  bool last = false;
  for (;;) {
    int32_t gate = weft__load(&l->gate); /* before the look at the phase */
    int32_t state = weft__load(&l->state);
    if (weft__rw_is_in(ticket, state, gate)) return weft__rw_held(state);
    if (last) {
      int32_t left = weft__minus(state, WEFT_RW_LOCK_ONE_PENDING);
      if (weft__compare_exchange(&l->state, state, left) == state)
        return ETIMEDOUT;
      continue;
    }
    int32_t waiting = gate | WEFT_RW_LOCK_WAITING_BIT;
    if (gate != waiting &&
        weft__compare_exchange(&l->gate, gate, waiting) != gate)
      continue;
    int outcome = weft__sleep(&l->gate, waiting, deadline, WEFT__LOOK);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/*
 * Locks for reading, blocking up to \`timeout\` ns: 0, or EOWNERDEAD: locked, but
 * a writer was abandoned; else ETIMEDOUT, EDEADLK if this agent has the lock
 * for writing, EPERM, or EINVAL if 8191 agents read or wait to.
 */
static inline int weft_rw_lock_read(weft_rw_lock *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_rw_lock_try_read(l);
  if (result != EBUSY) return result;
  if (weft__rw_is_writing(l)) return EDEADLK;
  weft__rw_ticket ticket = {0, 0};
  result = weft__rw_pend(l, &ticket);
  if (result == 0) return weft__rw_held(weft__load(&l->state));
  if (result != EBUSY) return result;
  for (int i = timeout != 0 ? WEFT_SPIN_ROUNDS : 0; i > 0; i--) {
    weft__relax();
    int32_t state = weft__load(&l->state);
    if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK)
      return weft__rw_held(state);
  }
  return weft__rw_read_slow(l, ticket, timeout);
}

/* Ends one agent's reading, and wakes the writer that waits for the last;
   EPERM if nobody reads. */
static inline int weft_rw_lock_unlock_read(weft_rw_lock *l) {
  /* Whoever reads sees at least itself. */
  if ((weft__hint(&l->state) & WEFT_RW_LOCK_READING_MASK) == 0) return EPERM;
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  int32_t state = weft__add(&l->state, -1);
  if ((state & (WEFT_RW_LOCK_READING_MASK | bits)) == (1 | bits))
    weft__notify(&l->state, 1);
  return 0;
}

/* Takes the lock for the owner of \`writer\`, if nobody reads; else EBUSY. */
static inline int weft__rw_hold(weft_rw_lock *l) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  if (state & WEFT_RW_LOCK_READING_MASK) state = weft__load(&l->state);
  while ((state & WEFT_RW_LOCK_READING_MASK) == 0) {
    int32_t expected = state;
    int32_t held = (state & ~bits) | WEFT_RW_LOCK_WRITING_BIT;
    state = weft__compare_exchange(&l->state, expected, held);
    if (state == expected) return weft__rw_held(state);
  }
  return EBUSY;
}

/* Wakes those who were let in. */
static inline void weft__rw_open(weft_rw_lock *l) {
  int32_t gate = weft__load(&l->gate);
  for (;;) {
    int32_t expected = gate;
    int32_t next = weft__plus(gate & ~WEFT_RW_LOCK_WAITING_BIT,
                              WEFT_RW_LOCK_ONE_OPENING);
    gate = weft__compare_exchange(&l->gate, expected, next);
    if (gate != expected) continue;
    if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);
    return;
  }
}

/*
 * Ends the phase of the owner of \`writer\`, whether it wrote or only waited: all
 * who are pending read now, and \`more\` besides.
 */
static inline void weft__rw_leave(weft_rw_lock *l, int32_t more,
                                  int32_t abandoned) {
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    int32_t pending =
        (state & WEFT_RW_LOCK_PENDING_MASK) / WEFT_RW_LOCK_ONE_PENDING;
    int32_t kept = WEFT_RW_LOCK_READING_MASK | WEFT_RW_LOCK_PHASE_MASK;
    if ((state & WEFT_RW_LOCK_WRITING_BIT) == 0)
      kept |= WEFT_RW_LOCK_ABANDONED_BIT;
    int32_t next = weft__plus((state & kept) | abandoned, more + pending);
    if (pending > 0) next = weft__plus(next, WEFT_RW_LOCK_ONE_PHASE);
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    if (pending > 0) weft__rw_open(l);
    return;
  }
}

/* Locks for writing if nobody has the lock, without waiting: 0 or EOWNERDEAD,
   else EBUSY. */
static inline int weft_rw_lock_try_write(weft_rw_lock *l) {
  if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return EBUSY;
  int result = weft__rw_hold(l);
  if (result == EBUSY) weft_mutex_unlock(weft__rw_writer(l));
  return result;
}

/* Waits for other writers, and then for those who read. */
static inline int weft__rw_write_slow(weft_rw_lock *l, int32_t id, bool owned,
                                      int32_t seen, int64_t timeout) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  int64_t begin = timeout > 0 ? WEFT_NOW() : 0;
  if (!owned) {
    weft_mutex *m = weft__rw_writer(l);
    if (weft__mutex_lock_slow(m, id, seen, timeout) == ETIMEDOUT)
      return ETIMEDOUT;
  }
  int64_t deadline = timeout > 0 ? begin + timeout : weft__deadline(timeout);
  bool last = false;
  for (;;) {
    int result = weft__rw_hold(l);
    if (result != EBUSY) return result;
    if (last) break;
    int32_t state = weft__or(&l->state, bits) | bits;
    if ((state & WEFT_RW_LOCK_READING_MASK) == 0) continue;
    int outcome = weft__sleep(&l->state, state, deadline, WEFT__LOOK);
    last = outcome == WEFT__TIMED_OUT;
  }
  weft__rw_leave(l, 0, 0);
  weft_mutex_unlock(weft__rw_writer(l));
  return ETIMEDOUT;
}

/*
 * Locks for writing, blocking up to \`timeout\` ns: 0, or EOWNERDEAD: locked, but
 * the last writer was abandoned; else ETIMEDOUT, EDEADLK or EPERM.
 */
static inline int weft_rw_lock_write(weft_rw_lock *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  int32_t state =
      weft__compare_exchange(&l->writer, WEFT_MUTEX_UNLOCKED, id);
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  bool owned = state == WEFT_MUTEX_UNLOCKED;
  if (owned) {
    int result = weft__rw_hold(l);
    if (result == EBUSY && timeout != 0) {
      weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);
      for (int i = WEFT_SPIN_ROUNDS; i > 0 && result == EBUSY; i--) {
        weft__relax();
        result = weft__rw_hold(l);
      }
    }
    if (result != EBUSY) return result;
  }
  return weft__rw_write_slow(l, id, owned, state, timeout);
}

/* Ends the writing, and lets those in who wait to read; EPERM if this agent
   does not have the lock for writing. */
static inline int weft_rw_lock_unlock_write(weft_rw_lock *l) {
  if (!weft__rw_is_writing(l)) return EPERM;
  weft__rw_leave(l, 0, 0);
  return weft_mutex_unlock(weft__rw_writer(l));
}

/* Ends the writing, but goes on reading, with those who wait to; EPERM if this
   agent does not have the lock for writing. */
static inline int weft_rw_lock_downgrade(weft_rw_lock *l) {
  if (!weft__rw_is_writing(l)) return EPERM;
  weft__rw_leave(l, 1, 0);
  return weft_mutex_unlock(weft__rw_writer(l));
}

/*
 * Gives up agent \`id\`, which is known never to run again, if it writes or waits
 * for those who read; EPERM if it does not. If it wrote, locking gives
 * EOWNERDEAD until a writer has unlocked.
 */
static inline int weft_rw_lock_abandon(weft_rw_lock *l, int32_t id) {
  if (!weft__mutex_inherit(weft__rw_writer(l), id, weft_agent_id()))
    return EPERM;
  bool writing = (weft__load(&l->state) & WEFT_RW_LOCK_WRITING_BIT) != 0;
  weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);
  /* It may have let agents in, and not opened the gate. */
  weft__rw_open(l);
  return weft_mutex_unlock(weft__rw_writer(l));
}

/*
 * Ends the reading of an agent that is known never to run again; EPERM if
 * nobody reads. Nobody else knows that it read: the caller must. One that waited
 * to read counts as reading once the writer it waited for has unlocked; before,
 * this would end another one's reading.
 */
static inline int weft_rw_lock_abandon_reader(weft_rw_lock *l) {
  return weft_rw_lock_unlock_read(l);
}

/* ---- condition (primitives/condition.ts) ------------------------------------ */

#define WEFT_CONDITION_CALLED_MASK 0x7fff
#define WEFT_CONDITION_ONE_CALLED 1
#define WEFT_CONDITION_ONE_WAITING (1 << 15)
#define WEFT_CONDITION_WAITING_MASK (0x7fff << 15)
#define WEFT_CONDITION_GATHERS_BIT (1 << 30)

/* Zeroed memory is a condition that nobody waits for. */
typedef struct {
  int32_t turn; /* the group that is called; the one after gathers */
  int32_t even; /* called and waiting of groups with an even number */
  int32_t odd;  /* and of those with an odd one; their agents sleep here */
} weft_condition;
WEFT_WORD(condition, turn, 0);
WEFT_WORD(condition, even, 1);
WEFT_WORD(condition, odd, 2);
WEFT_LENGTH(condition, 3);

/* Makes a region that nobody uses yet a condition. */
static inline void weft_condition_init(weft_condition *c) {
  weft__zero(c, sizeof *c);
}

/* Where the agents of a group are counted, and sleep. */
static inline int32_t *weft__condition_place(weft_condition *c,
                                             int32_t group) {
  return group & 1 ? &c->odd : &c->even;
}

/* How many agents in a word are not called yet. */
static inline int32_t weft__condition_waiting(int32_t state) {
  return (state & WEFT_CONDITION_WAITING_MASK) / WEFT_CONDITION_ONE_WAITING;
}

/* Bit 31 of a word whose called are of a group. */
static inline int32_t weft__condition_mark(int32_t group) {
  return weft__plus(group, 1) & 2 ? INT32_MIN : 0;
}

/* Whether those who are called in a word are of a group. */
static inline bool weft__condition_calls(int32_t state, int32_t group) {
  return (state ^ weft__condition_mark(group)) >= 0;
}

/* Joins the group that gathers, and gives its number; EINVAL if it is full. */
static inline int weft__condition_join(weft_condition *c, int32_t *group) {
  for (;;) {
    int32_t turn = weft__load(&c->turn);
    *group = weft__plus(turn, 1);
    int32_t *place = weft__condition_place(c, *group);
    int32_t state = weft__load(place);
    if (weft__condition_calls(state, *group)) {
      /* The turn has passed to it, or will. */
      weft__compare_exchange(&c->turn, turn, *group);
      continue;
    }
    if (weft__load(&c->turn) != turn) continue; /* (P) */
    if ((state & WEFT_CONDITION_WAITING_MASK) == WEFT_CONDITION_WAITING_MASK)
      return EINVAL;
    int32_t joined =
        (state | WEFT_CONDITION_GATHERS_BIT) + WEFT_CONDITION_ONE_WAITING;
    /* (J) Fails where the turn has passed to the group meanwhile. */
    if (weft__compare_exchange(place, state, joined) == state) return 0;
  }
}

/* Waits to be called: 0, or ETIMEDOUT. */
static inline int weft__condition_wait_slow(weft_condition *c, int32_t group,
                                            int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t *place = weft__condition_place(c, group);
  int32_t *before = weft__condition_place(c, weft__minus(group, 1));
  int outcome = WEFT__NOT_EQUAL;
  int32_t passed = 0;    /* the state at which a wake was passed on */
  int32_t unheard = 0;   /* calls before us that nobody took, and since when */
  int64_t since = 0;
  bool inherits = false; /* one of these */
  for (;;) {
    int32_t state = weft__load(place);
    /* (P) If that was long ago, the phase is not known. */
    if (weft__minus(group, weft__load(&c->turn)) < -1) return 0;
    bool ours = weft__condition_calls(state, group);
    if (ours && state & WEFT_CONDITION_CALLED_MASK) {
      int32_t taken = state - WEFT_CONDITION_ONE_CALLED;
      if (weft__compare_exchange(place, state, taken) != state) continue;
      return 0;
    }
    /* Unless it counts us as waiting, all are called, us included. */
    bool counts = ours == ((state & WEFT_CONDITION_GATHERS_BIT) == 0);
    if (!counts || (state & WEFT_CONDITION_WAITING_MASK) == 0) return 0;
    if (inherits || outcome == WEFT__TIMED_OUT) {
      int32_t left = state - WEFT_CONDITION_ONE_WAITING;
      if (weft__compare_exchange(place, state, left) != state) continue;
      return inherits ? 0 : ETIMEDOUT;
    }
    if (!ours) {
      /* Agents two groups before us may sleep here, too: a wake for them. */
      if (outcome == WEFT__OK && state & WEFT_CONDITION_CALLED_MASK &&
          state != passed) {
        passed = state;
        weft__notify(place, 1);
      }
      /* An agent that was terminated may keep the group before us from
         ending. A call that it does not take for a second is ours, too. */
      int32_t others = weft__load(before);
      if (others & WEFT_CONDITION_CALLED_MASK) {
        int64_t now = WEFT_NOW();
        if (others != unheard) {
          unheard = others;
          since = now;
        } else if (now - since > WEFT__LOOK) {
          inherits = true;
          continue;
        }
      }
    }
    outcome = weft__sleep(place, state, deadline, WEFT__LOOK);
  }
}

/*
 * Unlocks the mutex, blocks until it is notified, up to \`timeout\` ns, and locks
 * the mutex again, however long that takes. 0, or ETIMEDOUT; EOWNERDEAD if the
 * mutex was abandoned meanwhile, whatever else. With nothing done: EPERM if
 * this agent may not block, or does not hold the mutex; EINVAL if 32767 agents
 * wait already.
 */
static inline int weft_condition_wait(weft_condition *c, weft_mutex *m,
                                      int64_t timeout) {
  int32_t group = 0;
  int32_t id = weft_agent_id();
  if (!weft__may_block() || weft_mutex_owner(m) != id) return EPERM;
  int result = weft__condition_join(c, &group);
  if (result != 0) return result;
  int32_t *place = weft__condition_place(c, group);
  int32_t seen = weft__load(place);
  weft_mutex_unlock(m);
  WEFT__SPIN(weft__load(place) != seen, timeout, break);
  result = weft__condition_wait_slow(c, group, timeout);
  int locked = weft__mutex_lock_slow(m, id, WEFT_MUTEX_UNLOCKED, WEFT_FOREVER);
  /* The next one that is called comes now that we have the mutex. */
  if (result == 0 && weft__load(place) & WEFT_CONDITION_CALLED_MASK)
    weft__notify(place, 1);
  return locked != 0 ? locked : result;
}

/* Calls up to \`n\` of those who wait, and wakes one. */
static inline void weft__condition_call(weft_condition *c, int32_t n) {
  int32_t turn = weft__load(&c->turn);
  for (;;) {
    int32_t *place = weft__condition_place(c, turn);
    int32_t state = weft__load(place);
    if (state & WEFT_CONDITION_GATHERS_BIT) {
      /* The turn has passed on. */
      turn = weft__load(&c->turn);
      continue;
    }
    int32_t waiting = weft__condition_waiting(state);
    if (waiting > 0) {
      int32_t k = n < waiting ? n : waiting;
      int32_t called =
          state - k * (WEFT_CONDITION_ONE_WAITING - WEFT_CONDITION_ONE_CALLED);
      if (weft__compare_exchange(place, state, called) != state) continue;
      weft__notify(place, 1);
      n -= k;
      if (n == 0) return;
    }
    int32_t next = weft__plus(turn, 1);
    int32_t *after = weft__condition_place(c, next);
    int32_t gathered = weft__load(after);
    if (weft__condition_calls(gathered, next)) {
      /* The turn has passed, or will. */
      int32_t seen = weft__compare_exchange(&c->turn, turn, next);
      turn = seen == turn ? next : seen;
      continue;
    }
    int32_t gathering = weft__condition_waiting(gathered);
    if (gathering == 0) return;
    int32_t now = weft__load(&c->turn); /* (P) */
    if (now != turn) {
      turn = now;
      continue;
    }
    int32_t k = n < gathering ? n : gathering;
    int32_t called = weft__condition_mark(next) |
                     (gathering - k) * WEFT_CONDITION_ONE_WAITING | k;
    if (weft__compare_exchange(after, gathered, called) != gathered) continue;
    weft__compare_exchange(&c->turn, turn, next);
    /* If one wakes that is two groups older, it passes this on. */
    weft__notify(after, 1);
    return;
  }
}

/* Lets n of the agents that wait now go on, or all if they are fewer; EINVAL
   if n is below 1. */
static inline int weft_condition_notify(weft_condition *c, int32_t n) {
  if (n < 1) return EINVAL;
  weft__condition_call(c, n);
  return 0;
}

/* Lets all agents that wait now go on. */
static inline void weft_condition_notify_all(weft_condition *c) {
  weft__condition_call(c, WEFT__ALL);
}

#endif

/* ---- semaphore (primitives/semaphore.ts) ---------------------------------- */

#define WEFT_SEMAPHORE_MAX 0x3fffffff

/* How often newcomers may pass a waiter before it claims its permits. */
#ifndef WEFT_SEMAPHORE_PATIENCE
#define WEFT_SEMAPHORE_PATIENCE 8
#endif

/* A semaphore; \`Semaphore\` in JavaScript. */
typedef struct {
  int32_t magic;
  int32_t seal;
  int32_t permits;  /* free, or below 0 what the claimant lacks */
  int32_t waiters;  /* operations in acquire's slow path */
  int32_t turn;     /* changes when those who want several shall look */
  int32_t bulk;     /* operations that sleep on \`turn\`, or are about to */
  int32_t claimant; /* agent whose permits were taken in advance, or 0 */
  int32_t claim;    /* how many it took */
} weft_semaphore;
WEFT_WORD(semaphore, magic, 0);
WEFT_WORD(semaphore, seal, 1);
WEFT_WORD(semaphore, permits, 2);
WEFT_WORD(semaphore, waiters, 3);
WEFT_WORD(semaphore, turn, 4);
WEFT_WORD(semaphore, bulk, 5);
WEFT_WORD(semaphore, claimant, 6);
WEFT_WORD(semaphore, claim, 7);
WEFT_LENGTH(semaphore, 8);

/* The bytes a semaphore occupies. */
static inline size_t weft_semaphore_bytes(void) {
  return sizeof(weft_semaphore);
}

/* The semaphore at \`at\`, or NULL: see weft_attach_error. */
static inline weft_semaphore *weft_semaphore_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_semaphore) != NULL) return NULL;
  return (weft_semaphore *)at;
}

/* Makes a region that nobody uses yet a semaphore holding \`permits\`, 0 to
   2^30 - 1; NULL if that, or the place, is out of range. */
static inline weft_semaphore *weft_semaphore_init(void *at, int32_t permits) {
  weft_semaphore *s = (weft_semaphore *)at;
  if (!weft__aligned(at)) return NULL;
  if (permits < 0 || permits > WEFT_SEMAPHORE_MAX) return NULL;
  weft__zero(at, sizeof *s);
  s->seal = weft__seal(WEFT_KIND_semaphore, 0, 0);
  s->permits = permits;
  weft__store(&s->magic, weft__magic(WEFT_KIND_semaphore));
  return s;
}

/* Free permits, 0 or more. */
static inline int32_t weft_semaphore_available(const weft_semaphore *s) {
  int32_t permits = weft__load(&s->permits);
  return permits > 0 ? permits : 0;
}

static inline bool weft__semaphore_take(weft_semaphore *s, int32_t n) {
  int32_t permits = weft__hint(&s->permits); /* too few is looked at again */
  if (permits < n) permits = weft__load(&s->permits);
  while (permits >= n) {
    int32_t expected = permits;
    permits = weft__compare_exchange(&s->permits, expected, expected - n);
    if (permits == expected) return true;
  }
  return false;
}

static inline void weft__semaphore_wake_bulk(weft_semaphore *s) {
  if (weft__load(&s->bulk) == 0) return;
  weft__add(&s->turn, 1);
  weft__notify(&s->turn, WEFT__ALL);
}

/* Wakes whom \`n\` more permits serve, now that there are \`permits\`. */
static inline void weft__semaphore_wake(weft_semaphore *s, int32_t n,
                                        int32_t permits) {
  if (permits > 0) weft__notify(&s->permits, n < permits ? n : permits);
  weft__semaphore_wake_bulk(s);
}

/* Returns permits that a claim had taken, which cannot be too many. */
static inline void weft__semaphore_give_back(weft_semaphore *s, int32_t n) {
  weft__semaphore_wake(s, n, weft__add(&s->permits, n) + n);
}

/* Lets the next one claim. */
static inline void weft__semaphore_end_claim(weft_semaphore *s) {
  weft__store(&s->claimant, 0);
  weft__semaphore_wake_bulk(s);
}

/* Takes n permits if that many are free, without waiting; else EBUSY. */
static inline int weft_semaphore_try_acquire(weft_semaphore *s, int32_t n) {
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  return weft__semaphore_take(s, n) ? 0 : EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Takes the permits now, and waits until releases have paid for them. */
static inline int weft__semaphore_claim(weft_semaphore *s, int32_t n,
                                        int64_t deadline) {
  int result = 0;
  weft__add(&s->bulk, 1);
  weft__add(&s->permits, -n);
  /* In this order: who is terminated between the two loses its permits, but
     never does abandon give back what was not taken. */
  weft__store(&s->claim, n);
  for (;;) {
    int32_t turn = weft__load(&s->turn);
    if (weft__load(&s->permits) >= 0) break;
    int outcome = weft__sleep(&s->turn, turn, deadline, WEFT__LOOK);
    if (outcome != WEFT__TIMED_OUT) continue;
    if (weft__load(&s->permits) < 0) result = ETIMEDOUT;
    break;
  }
  weft__store(&s->claim, 0);
  weft__semaphore_end_claim(s);
  if (result != 0) weft__semaphore_give_back(s, n);
  weft__add(&s->bulk, -1);
  return result;
}

static inline int weft__semaphore_wait(weft_semaphore *s, int32_t n,
                                       int32_t patience, int64_t deadline) {
  for (int32_t passed = 0;;) {
    int32_t turn = weft__load(&s->turn); /* before the look at permits */
    if (weft__semaphore_take(s, n)) return 0;
    if (passed >= patience &&
        weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)
      return weft__semaphore_claim(s, n, deadline);
    int32_t permits = weft__load(&s->permits);
    if (permits >= n) continue;
    int outcome =
        n > 1 ? weft__sleep(&s->turn, turn, deadline, WEFT__LOOK)
              : weft__sleep(&s->permits, permits, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT)
      return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;
    /* The turns of a claimant, and looks without a release, do not count. */
    bool released = n > 1 ? weft__load(&s->turn) != turn : outcome == WEFT__OK;
    if (released && weft__load(&s->claimant) == 0) passed++;
  }
}

static inline int weft__semaphore_acquire_slow(weft_semaphore *s, int32_t n,
                                               int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  /* (W) announce, then look again. Those who wait already come first: their
     turns are not counted as being passed over. */
  int32_t patience = WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);
  if (n > 1) weft__add(&s->bulk, 1);
  int result = weft__semaphore_wait(s, n, patience, deadline);
  if (n > 1) weft__add(&s->bulk, -1);
  weft__add(&s->waiters, -1);
  return result;
}

/* Takes n permits, blocking up to \`timeout\` ns; ETIMEDOUT if they did not come
   free in that time. */
static inline int weft_semaphore_acquire(weft_semaphore *s, int32_t n,
                                         int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  if (weft__semaphore_take(s, n)) return 0;
  int32_t rounds = weft__spin_rounds(timeout);
  for (int32_t round = 1; round <= rounds; round++) {
    weft__relax();
    if (!weft__semaphore_take(s, n)) continue;
    weft__spin_paid(round);
    return 0;
  }
  weft__spin_failed(rounds);
  return weft__semaphore_acquire_slow(s, n, timeout);
}
#endif

/* Returns n permits and wakes those whom they serve; EINVAL if there would be
   more than 2^30 - 1. */
static inline int weft_semaphore_release(weft_semaphore *s, int32_t n) {
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  int32_t permits = weft__hint(&s->permits); /* the exchange checks it */
  if (permits > WEFT_SEMAPHORE_MAX - n) permits = weft__load(&s->permits);
  for (;;) {
    if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;
    int32_t seen = weft__compare_exchange(&s->permits, permits, permits + n);
    if (seen == permits) break;
    permits = seen;
  }
  /* Pairs with (W): we see the waiter, or the waiter sees our permits. */
  if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n);
  return 0;
}

/* Gives back what agent \`id\` claimed in advance, if it is known never to run
   again; EPERM if it had no claim. Permits it had acquired stay taken. */
static inline int weft_semaphore_abandon(weft_semaphore *s, int32_t id) {
  if (id == 0 || weft__load(&s->claimant) != id) return EPERM;
  int32_t n = weft__exchange(&s->claim, 0);
  weft__semaphore_end_claim(s);
  if (n > 0) weft__semaphore_give_back(s, n);
  return 0;
}

/* ---- event (primitives/event.ts) -------------------------------------------- */

#define WEFT_EVENT_AUTO_BIT 1
/* Reset manually: */
#define WEFT_EVENT_SET_BIT (1 << 1)
#define WEFT_EVENT_WAITING_BIT (1 << 2)
#define WEFT_EVENT_ONE_PULSE (1 << 3)
#define WEFT_EVENT_PULSE_MASK (-WEFT_EVENT_ONE_PULSE)
/* Automatic reset: */
#define WEFT_EVENT_ONE_SIGNAL (1 << 1)
#define WEFT_EVENT_SIGNALS_MASK (0x7fff << 1)
#define WEFT_EVENT_ONE_WAITER (1 << 16)
#define WEFT_EVENT_WAITERS_MASK (0x7fff << 16)

/* Zeroed memory is an event that is reset manually, and not set. */
typedef struct {
  int32_t state; /* mode, set or signals, waiters; sleepers wait here */
} weft_event;
WEFT_WORD(event, state, 0);
WEFT_LENGTH(event, 1);

/* Makes a region that nobody uses yet an event that is not set. */
static inline void weft_event_init(weft_event *e, bool auto_reset) {
  weft__store(&e->state, auto_reset ? WEFT_EVENT_AUTO_BIT : 0);
}

/* Whether each set lets one waiter through. */
static inline bool weft_event_auto_reset(const weft_event *e) {
  return (weft__load(&e->state) & WEFT_EVENT_AUTO_BIT) != 0;
}

static inline bool weft__event_is_set(int32_t state) {
  return (state & (state & WEFT_EVENT_AUTO_BIT ? WEFT_EVENT_SIGNALS_MASK
                                               : WEFT_EVENT_SET_BIT)) != 0;
}

/* What set makes of \`state\`. */
static inline int32_t weft__event_after_set(int32_t state) {
  if ((state & WEFT_EVENT_AUTO_BIT) == 0) {
    if (state & WEFT_EVENT_SET_BIT) return state;
    return weft__plus(state & ~WEFT_EVENT_WAITING_BIT, WEFT_EVENT_ONE_PULSE) |
           WEFT_EVENT_SET_BIT;
  }
  int32_t signals = (state & WEFT_EVENT_SIGNALS_MASK) / WEFT_EVENT_ONE_SIGNAL;
  int32_t waiters = (state & WEFT_EVENT_WAITERS_MASK) / WEFT_EVENT_ONE_WAITER;
  return signals < (waiters > 1 ? waiters : 1) ? state + WEFT_EVENT_ONE_SIGNAL
                                               : state;
}

/* Whether a wait would end at once. */
static inline bool weft_event_is_set(const weft_event *e) {
  return weft__event_is_set(weft__load(&e->state));
}

/* Sets the event and wakes whom it lets through. */
static inline void weft_event_set(weft_event *e) {
  int32_t state = weft__load(&e->state);
  for (;;) {
    int32_t expected = state;
    int32_t next = weft__event_after_set(state);
    if (next == state) return;
    state = weft__compare_exchange(&e->state, expected, next);
    if (state != expected) continue;
    if (state & WEFT_EVENT_AUTO_BIT) {
      if (state & WEFT_EVENT_WAITERS_MASK) weft__notify(&e->state, 1);
    } else if (state & WEFT_EVENT_WAITING_BIT) {
      weft__notify(&e->state, WEFT__ALL);
    }
    return;
  }
}

/* Takes back a set, as far as no waiter has seen it. */
static inline void weft_event_reset(weft_event *e) {
  int32_t state = weft__load(&e->state);
  while (weft__event_is_set(state)) {
    int32_t expected = state;
    int32_t bits = state & WEFT_EVENT_AUTO_BIT ? WEFT_EVENT_SIGNALS_MASK
                                               : WEFT_EVENT_SET_BIT;
    state = weft__compare_exchange(&e->state, expected, state & ~bits);
    if (state == expected) return;
  }
}

/* 0 if the event is set, which automatic reset takes; else EBUSY. */
static inline int weft_event_try_wait(weft_event *e) {
  int32_t state = weft__load(&e->state);
  while (weft__event_is_set(state)) {
    if ((state & WEFT_EVENT_AUTO_BIT) == 0) return 0;
    int32_t expected = state;
    int32_t taken = state - WEFT_EVENT_ONE_SIGNAL;
    state = weft__compare_exchange(&e->state, expected, taken);
    if (state == expected) return 0;
  }
  return EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Waits until the event is set, or was set after it was \`since\`. */
static inline int weft__event_wait_for_pulse(weft_event *e, int32_t since,
                                             int64_t deadline) {
  int32_t state = weft__load(&e->state);
  bool last = false;
  for (;;) {
    if (state & WEFT_EVENT_SET_BIT || (state ^ since) & WEFT_EVENT_PULSE_MASK)
      return 0;
    if (last) return ETIMEDOUT;
    int32_t expected = state;
    state |= WEFT_EVENT_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&e->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    int outcome = weft__sleep(&e->state, state, deadline, WEFT__LOOK);
    state = weft__load(&e->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

static inline int weft__event_wait_for_signal(weft_event *e,
                                              int64_t deadline) {
  int32_t counted = 0; /* ONE_WAITER once we are */
  int32_t state = weft__load(&e->state);
  bool last = false;
  for (;;) {
    int32_t expected = state;
    bool served = (state & WEFT_EVENT_SIGNALS_MASK) != 0;
    /* A signal, and the count of who waits for it, go in one step: there are
       never more signals than waiters, but for the one that is remembered. */
    if (served)
      state -= counted + WEFT_EVENT_ONE_SIGNAL;
    else if (last)
      state -= counted;
    else if (counted == 0 &&
             (state & WEFT_EVENT_WAITERS_MASK) != WEFT_EVENT_WAITERS_MASK)
      state += counted = WEFT_EVENT_ONE_WAITER;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&e->state, expected, state);
      if (seen != expected) {
        if (!served && !last) counted = 0;
        state = seen;
        continue;
      }
    }
    if (served || last) return served ? 0 : ETIMEDOUT;
    int outcome = weft__sleep(&e->state, state, deadline, WEFT__LOOK);
    state = weft__load(&e->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/* Blocks until the event is set, up to \`timeout\` ns; ETIMEDOUT if that time
   passed. */
static inline int weft_event_wait(weft_event *e, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t since = weft__load(&e->state);
  if (timeout != 0 && WEFT_SPIN_ROUNDS > 0) {
    if (weft_event_try_wait(e) == 0) return 0;
    WEFT__SPIN(weft_event_try_wait(e) == 0, timeout, return 0);
  }
  int64_t deadline = weft__deadline(timeout);
  return since & WEFT_EVENT_AUTO_BIT
             ? weft__event_wait_for_signal(e, deadline)
             : weft__event_wait_for_pulse(e, since, deadline);
}
#endif

/* ---- latch (primitives/latch.ts) ------------------------------------------- */

#define WEFT_LATCH_OPEN 0
#define WEFT_LATCH_WAITING_BIT 1
#define WEFT_LATCH_ONE 2

/* The highest count a latch can start from. */
#define WEFT_LATCH_MAX 0x3fffffff

/* A latch; \`Latch\` in JavaScript. */
typedef struct {
  int32_t magic;
  int32_t seal;
  int32_t state; /* the count, and whether somebody may sleep here */
} weft_latch;
WEFT_WORD(latch, magic, 0);
WEFT_WORD(latch, seal, 1);
WEFT_WORD(latch, state, 2);
WEFT_LENGTH(latch, 3);

/* The bytes a latch occupies. */
static inline size_t weft_latch_bytes(void) { return sizeof(weft_latch); }

/* The latch at \`at\`, or NULL: see weft_attach_error. */
static inline weft_latch *weft_latch_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_latch) != NULL) return NULL;
  return (weft_latch *)at;
}

/* Makes a region that nobody uses yet a latch that opens after \`count\`, 0 to
   2^30 - 1; NULL if that, or the place, is out of range. */
static inline weft_latch *weft_latch_init(void *at, int32_t count) {
  weft_latch *l = (weft_latch *)at;
  if (!weft__aligned(at)) return NULL;
  if (count < 0 || count > WEFT_LATCH_MAX) return NULL;
  weft__zero(at, sizeof *l);
  l->seal = weft__seal(WEFT_KIND_latch, 0, 0);
  l->state = count * WEFT_LATCH_ONE;
  weft__store(&l->magic, weft__magic(WEFT_KIND_latch));
  return l;
}

/* What is left to count; 0 is open. */
static inline int32_t weft_latch_count(const weft_latch *l) {
  return weft__load(&l->state) >> 1;
}

/* Counts down by n, 1 or more, and wakes who waits if that opens the latch;
   EINVAL if n is more than the count. */
static inline int weft_latch_count_down(weft_latch *l, int32_t n) {
  if (n < 1 || n > WEFT_LATCH_MAX) return EINVAL;
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    if (state < n * WEFT_LATCH_ONE) {
      state = weft__load(&l->state);
      if (state != expected) continue;
      return EINVAL;
    }
    int32_t left = state - n * WEFT_LATCH_ONE;
    int32_t next = left < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    if (next == WEFT_LATCH_OPEN && state & WEFT_LATCH_WAITING_BIT)
      weft__notify(&l->state, WEFT__ALL);
    return 0;
  }
}

/* 0 if the latch is open, else EBUSY. */
static inline int weft_latch_try_wait(const weft_latch *l) {
  return weft__load(&l->state) == WEFT_LATCH_OPEN ? 0 : EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
static inline int weft__latch_wait_slow(weft_latch *l, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&l->state);
  while (state != WEFT_LATCH_OPEN) {
    int32_t expected = state;
    state |= WEFT_LATCH_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&l->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    /* Steps down change the word, too, but only the last one wakes. */
    int outcome = weft__sleep(&l->state, state, deadline, WEFT__LOOK);
    state = weft__load(&l->state);
    if (outcome == WEFT__TIMED_OUT)
      return state == WEFT_LATCH_OPEN ? 0 : ETIMEDOUT;
  }
  return 0;
}

/* Blocks until the latch is open, up to \`timeout\` ns; ETIMEDOUT if that time
   passed. */
static inline int weft_latch_wait(weft_latch *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (weft_latch_try_wait(l) == 0) return 0;
  WEFT__SPIN(weft_latch_try_wait(l) == 0, timeout, return 0);
  return weft__latch_wait_slow(l, timeout);
}

/* Counts down by one and blocks until the latch is open, up to \`timeout\` ns;
   ETIMEDOUT if that time passed, but the step down stands. EINVAL if the latch
   is open already. */
static inline int weft_latch_arrive_and_wait(weft_latch *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int result = weft_latch_count_down(l, 1);
  return result == 0 ? weft_latch_wait(l, timeout) : result;
}
#endif

#ifndef WEFT_REALTIME /* what may wait */

/* ---- barrier (primitives/barrier.ts) ---------------------------------------- */

#define WEFT_BARRIER_ARRIVED_MASK 0xfff
#define WEFT_BARRIER_ONE_PARTY (1 << 12)
#define WEFT_BARRIER_PARTIES_MASK (0xfff << 12)
#define WEFT_BARRIER_WAITING_BIT (1 << 24)
#define WEFT_BARRIER_ONE_GENERATION (1 << 25)
#define WEFT_BARRIER_GENERATION_MASK (-WEFT_BARRIER_ONE_GENERATION)

/* The most parties a barrier can have. */
#define WEFT_BARRIER_MAX 0xfff

/* A barrier; \`Barrier\` in JavaScript. */
typedef struct {
  int32_t magic;
  int32_t parties; /* how many it was made for */
  int32_t seal;
  int32_t state; /* arrived, parties, WAITING, generation; sleepers are here */
} weft_barrier;
WEFT_WORD(barrier, magic, 0);
WEFT_WORD(barrier, parties, 1);
WEFT_WORD(barrier, seal, 2);
WEFT_WORD(barrier, state, 3);
WEFT_LENGTH(barrier, 4);

/* The bytes a barrier occupies. */
static inline size_t weft_barrier_bytes(void) { return sizeof(weft_barrier); }

/* The barrier at \`at\`, or NULL: see weft_attach_error. */
static inline weft_barrier *weft_barrier_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_barrier) != NULL) return NULL;
  return (weft_barrier *)at;
}

/* Makes a region that nobody uses yet a barrier for \`parties\` agents, 1 to
   4095; NULL if that, or the place, is out of range. */
static inline weft_barrier *weft_barrier_init(void *at, int32_t parties) {
  weft_barrier *b = (weft_barrier *)at;
  if (!weft__aligned(at)) return NULL;
  if (parties < 1 || parties > WEFT_BARRIER_MAX) return NULL;
  weft__zero(at, sizeof *b);
  b->parties = parties;
  b->seal = weft__seal(WEFT_KIND_barrier, parties, 0);
  b->state = parties * WEFT_BARRIER_ONE_PARTY;
  weft__store(&b->magic, weft__magic(WEFT_KIND_barrier));
  return b;
}

/* Parties that have not left. */
static inline int32_t weft_barrier_parties(const weft_barrier *b) {
  return (weft__load(&b->state) & WEFT_BARRIER_PARTIES_MASK) /
         WEFT_BARRIER_ONE_PARTY;
}

/* Parties that have arrived, and wait. */
static inline int32_t weft_barrier_arrived(const weft_barrier *b) {
  return weft__load(&b->state) & WEFT_BARRIER_ARRIVED_MASK;
}

/* The state when all have arrived: nobody has, in the generation after. */
static inline int32_t weft__barrier_next_generation(int32_t state) {
  return weft__plus(state & (WEFT_BARRIER_GENERATION_MASK |
                             WEFT_BARRIER_PARTIES_MASK),
                    WEFT_BARRIER_ONE_GENERATION);
}

/*
 * Takes one party out for good; \`arrived\` says that it was terminated while it
 * waited, and takes that arrival back. 1 if this ended the generation, else 0;
 * -EINVAL if no party is left, or none that has arrived.
 */
static inline int weft_barrier_leave(weft_barrier *b, bool arrived) {
  int32_t state = weft__load(&b->state);
  for (;;) {
    int32_t expected = state;
    int32_t all = state & WEFT_BARRIER_PARTIES_MASK;
    if (all == 0 || (arrived && (state & WEFT_BARRIER_ARRIVED_MASK) == 0))
      return -EINVAL;
    int32_t left =
        weft__minus(state, WEFT_BARRIER_ONE_PARTY + (arrived ? 1 : 0));
    int32_t waiting = left & WEFT_BARRIER_ARRIVED_MASK;
    bool ends = waiting > 0 && waiting * WEFT_BARRIER_ONE_PARTY >=
                                   (left & WEFT_BARRIER_PARTIES_MASK);
    int32_t next = ends ? weft__barrier_next_generation(left) : left;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    if (ends && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return ends ? 1 : 0;
  }
}

/* Arrives, and gives the state after that; true if it was the last to. */
static inline bool weft__barrier_arrive(weft_barrier *b, int32_t *since) {
  int32_t state = weft__hint(&b->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    int32_t arrived = (state & WEFT_BARRIER_ARRIVED_MASK) + 1;
    bool last = arrived * WEFT_BARRIER_ONE_PARTY >=
                (state & WEFT_BARRIER_PARTIES_MASK);
    int32_t next = last ? weft__barrier_next_generation(state) : state + 1;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    *since = next;
    if (last && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return last;
  }
}

/* Waits for the end of the generation that we arrived in at \`since\`. */
static inline int weft__barrier_wait_slow(weft_barrier *b, int32_t since,
                                          int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&b->state);
  bool last = false;
  while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {
    int32_t expected = state;
    /* Our arrival is still counted: the generation did not end. */
    state = last ? state - 1 : state | WEFT_BARRIER_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&b->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (last) return ETIMEDOUT;
    /* Arrivals change the word, too, but only the last one wakes. */
    int outcome = weft__sleep(&b->state, state, deadline, WEFT__LOOK);
    state = weft__load(&b->state);
    last = outcome == WEFT__TIMED_OUT;
  }
  return 0;
}

/*
 * Arrives, and blocks until all parties have, up to \`timeout\` ns; ETIMEDOUT if
 * that time passed, and the arrival was taken back. *leader, which may be
 * NULL, says whether it was the last to arrive.
 */
static inline int weft_barrier_arrive_and_wait(weft_barrier *b, bool *leader,
                                               int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t since = 0;
  bool last = weft__barrier_arrive(b, &since);
  if (leader != NULL) *leader = last;
  if (last) return 0;
  WEFT__SPIN((weft__load(&b->state) ^ since) & WEFT_BARRIER_GENERATION_MASK,
             timeout, return 0);
  return weft__barrier_wait_slow(b, since, timeout);
}

/* ---- once (primitives/once.ts) ---------------------------------------------- */

#define WEFT_ONCE_NEW 0
#define WEFT_ONCE_RUNNER_MASK 0x0fffffff
#define WEFT_ONCE_DONE_BIT (1 << 28)
#define WEFT_ONCE_WAITING_BIT (1 << 30)

/* Zeroed memory is a once that was not run. */
typedef struct {
  int32_t state; /* runner and flags; sleepers wait here */
} weft_once;
WEFT_WORD(once, state, 0);
WEFT_LENGTH(once, 1);

/* Makes a region that nobody uses yet a once that was not run. */
static inline void weft_once_init(weft_once *o) { weft__zero(o, sizeof *o); }

/* Whether the function was run to its end. */
static inline bool weft_once_done(const weft_once *o) {
  return (weft__load(&o->state) & WEFT_ONCE_DONE_BIT) != 0;
}

/* The id of the agent that runs the function, or 0. */
static inline int32_t weft_once_runner(const weft_once *o) {
  return weft__load(&o->state) & WEFT_ONCE_RUNNER_MASK;
}

/* (E) Publishes what the function wrote, and wakes who waits for it. */
static inline void weft__once_end(weft_once *o) {
  int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);
  if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);
}

/* Lets the next one try. */
static inline void weft__once_fail(weft_once *o) {
  int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);
  if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);
}

/* 0: done; EBUSY: the function is ours to run; or ETIMEDOUT. */
static inline int weft__once_run_slow(weft_once *o, int32_t id,
                                      int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&o->state); /* pairs with (E) */
  bool last = false;
  for (;;) {
    int32_t expected = state;
    if (state & WEFT_ONCE_DONE_BIT) return 0;
    bool unclaimed = (state & WEFT_ONCE_RUNNER_MASK) == 0;
    if (!unclaimed && last) return ETIMEDOUT;
    state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&o->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (unclaimed) return EBUSY;
    int outcome = weft__sleep(&o->state, state, deadline, WEFT__LOOK);
    state = weft__load(&o->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/* 0: done; EBUSY: the function is ours to run; else as weft_once_run. */
static inline int weft__once_begin(weft_once *o, int64_t timeout) {
  if (weft_once_done(o)) return 0;
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  for (int i = timeout != 0 ? WEFT_SPIN_ROUNDS : 0;; i--) {
    int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, id);
    if (state == WEFT_ONCE_NEW) return EBUSY;
    if (state & WEFT_ONCE_DONE_BIT) return 0;
    int32_t runner = state & WEFT_ONCE_RUNNER_MASK;
    if (runner == id) return EDEADLK;
    if (i == 0 || runner == 0) return weft__once_run_slow(o, id, timeout);
    weft__relax();
  }
}

/*
 * Runs fn(context) unless it was, or is being, run; then blocks until that is
 * done, up to \`timeout\` ns. 0: it was run to its end, here or elsewhere;
 * ETIMEDOUT; EDEADLK if this agent runs a function of this once; EPERM. What
 * fn returns other than 0 is returned here, and the next one tries.
 */
static inline int weft_once_run(weft_once *o, int (*fn)(void *context),
                                void *context, int64_t timeout) {
  int result = weft__once_begin(o, timeout);
  if (result != EBUSY) return result;
  result = fn(context);
  if (result == 0)
    weft__once_end(o);
  else
    weft__once_fail(o);
  return result;
}

/* Lets the next one try if agent \`id\`, which is known never to run again, was
   running the function; EPERM if it was not. */
static inline int weft_once_abandon(weft_once *o, int32_t id) {
  int32_t state = weft__load(&o->state);
  while ((state & WEFT_ONCE_RUNNER_MASK) == id && id != 0) {
    int32_t expected = state;
    int32_t kept = state & WEFT_ONCE_WAITING_BIT;
    state = weft__compare_exchange(&o->state, expected, kept);
    if (state != expected) continue;
    if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);
    return 0;
  }
  return EPERM;
}

#endif

/* ---- snapshot (primitives/snapshot.ts)
 * ---------------------------------------- */

/* With one reader, state holds the middle copy, and that of the reader. */
#define WEFT_SNAPSHOT_MIDDLE_MASK 3
#define WEFT_SNAPSHOT_FRONT_SHIFT 2
/* The middle copy is newer than the reader's. */
#define WEFT_SNAPSHOT_NEW_BIT (1 << 4)
#define WEFT_SNAPSHOT_VERSION_SHIFT 5
#define WEFT__SNAPSHOT_ONE_VERSION (1 << WEFT_SNAPSHOT_VERSION_SHIFT)
/* Middle copy 1, the reader's 0, so that the writer's is 2. */
#define WEFT__SNAPSHOT_FIRST 1
#define WEFT__SNAPSHOT_MAX_SIZE (1 << 28)

/* How a snapshot is made: \`size\` bytes, a multiple of 4 up to 2^28; \`single\` if
   only one agent reads, which is faster. */
typedef struct {
  int32_t size;
  bool single;
} weft_snapshot_config;

/* The latest value of some bytes; \`Snapshot\` in JavaScript. The copies of it
   lie behind these words. */
typedef struct {
  int32_t magic;
  int32_t size;
  int32_t single;
  int32_t seal;
  int32_t _pad0[28];
  int32_t state;     /* how many values were written, and more if single */
  int32_t _pad1[31]; /* the copies of the value follow */
} weft_snapshot;
WEFT_WORD(snapshot, magic, 0);
WEFT_WORD(snapshot, size, 1);
WEFT_WORD(snapshot, single, 2);
WEFT_WORD(snapshot, seal, 3);
WEFT_WORD(snapshot, state, 32);
WEFT_LENGTH(snapshot, 64);

/* Words from copy to copy. */
static inline size_t weft__snapshot_stride(int32_t size) {
  return ((size_t)size + 127) / 128 * 32;
}

/* The bytes a snapshot of this configuration occupies; 0 if out of range. */
static inline size_t weft_snapshot_bytes(weft_snapshot_config config) {
  if (config.size < 4 || config.size > WEFT__SNAPSHOT_MAX_SIZE) return 0;
  if (config.size % 4 != 0) return 0;
  size_t copies = config.single ? 3 : 2;
  return sizeof(weft_snapshot) +
         copies * weft__snapshot_stride(config.size) * 4;
}

/* The snapshot at \`at\`, or NULL: see weft_attach_error. */
static inline weft_snapshot *weft_snapshot_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_snapshot) != NULL) return NULL;
  return (weft_snapshot *)at;
}

/* Makes a region that nobody uses yet a snapshot that is all zero; NULL if the
   configuration, or the place, is out of range. */
static inline weft_snapshot *weft_snapshot_init(void *at,
                                                weft_snapshot_config config) {
  weft_snapshot *s = (weft_snapshot *)at;
  size_t bytes = weft_snapshot_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  s->size = config.size;
  s->single = config.single ? 1 : 0;
  s->seal = weft__seal(WEFT_KIND_snapshot, s->size, s->single);
  s->state = config.single ? WEFT__SNAPSHOT_FIRST : 0;
  weft__store(&s->magic, weft__magic(WEFT_KIND_snapshot));
  return s;
}

/* Bytes of the value. */
static inline int32_t weft_snapshot_size(const weft_snapshot *s) {
  return s->size;
}

/* Whether only one agent may read. */
static inline bool weft_snapshot_single(const weft_snapshot *s) {
  return s->single != 0;
}

static inline int32_t weft__snapshot_version_of(const weft_snapshot *s,
                                                int32_t state) {
  return s->single ? (int32_t)((uint32_t)state >> WEFT_SNAPSHOT_VERSION_SHIFT)
                   : state & 0x07ffffff;
}

/* How many values were written, modulo 2^27. */
static inline int32_t weft_snapshot_version(const weft_snapshot *s) {
  return weft__snapshot_version_of(s, weft__load(&s->state));
}

static inline int32_t *weft__snapshot_copy(weft_snapshot *s, int32_t number) {
  return (int32_t *)(s + 1) + (size_t)number * weft__snapshot_stride(s->size);
}

/* The state when copy \`mine\` is the middle one, and new. */
static inline int32_t weft__snapshot_written(int32_t state, int32_t mine) {
  int32_t front = state & 3 << WEFT_SNAPSHOT_FRONT_SHIFT;
  int32_t version = weft__plus(state & -WEFT__SNAPSHOT_ONE_VERSION,
                               WEFT__SNAPSHOT_ONE_VERSION);
  return version | WEFT_SNAPSHOT_NEW_BIT | front | mine;
}

/* Makes the bytes at \`src\`, as many as the value has and at a multiple of 4,
   the latest value. The writer's. */
static inline void weft_snapshot_write(weft_snapshot *s, const void *src) {
  const int32_t *from = (const int32_t *)src;
  int32_t count = s->size / 4;
  int32_t state = weft__hint(&s->state); /* ours, or the exchange checks it */
  if (!s->single) {
    int32_t next = weft__plus(state, 1);
    int32_t *at = weft__snapshot_copy(s, next & 1);
    for (int32_t i = 0; i < count; i++)
      weft__store(at + i, from[i]); /* published by (V) */
    weft__store(&s->state, next);   /* (V) */
    return;
  }
  /* The reader swaps the two other copies, and leaves this one alone. */
  int32_t mine = 3 - (state & WEFT_SNAPSHOT_MIDDLE_MASK) -
                 (state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3);
  weft__copy(weft__snapshot_copy(s, mine), from, count);
  for (;;) {
    int32_t next = weft__snapshot_written(state, mine);
    int32_t seen = weft__compare_exchange(&s->state, state, next); /* (V) */
    if (seen == state) return;
    state = seen;
  }
}

/* Copies the latest value to \`dst\`, at a multiple of 4; answers its version, 0
   if none was written yet. */
static inline int32_t weft_snapshot_read(weft_snapshot *s, void *dst) {
  int32_t *to = (int32_t *)dst;
  int32_t count = s->size / 4;
  int32_t state = weft__load(&s->state); /* pairs with (V) */
  while (s->single && state & WEFT_SNAPSHOT_NEW_BIT) {
    int32_t middle = state & WEFT_SNAPSHOT_MIDDLE_MASK;
    int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;
    int32_t swapped = (state & -WEFT__SNAPSHOT_ONE_VERSION) |
                      middle << WEFT_SNAPSHOT_FRONT_SHIFT | front;
    int32_t seen = weft__compare_exchange(&s->state, state, swapped);
    state = seen == state ? swapped : seen;
  }
  if (s->single) {
    int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;
    weft__copy(to, weft__snapshot_copy(s, front), count);
    return weft__snapshot_version_of(s, state);
  }
  for (;;) {
    const int32_t *at = weft__snapshot_copy(s, state & 1);
    for (int32_t i = 0; i < count; i++)
      to[i] = weft__load(at + i); /* published by (V) */
    /* Pairs with (V): no word of the value after the next was stored before
       the next value's number. */
    int32_t seen = weft__load(&s->state);
    if (seen == state) return weft__snapshot_version_of(s, state);
    state = seen;
  }
}

/* ---- queues (primitives/_queue.ts) ----------------------------------------- */

/* How a queue is made: \`capacity\` elements, rounded up to a power of two, of
   \`size\` bytes, a multiple of 4; together at most 2^30 bytes. */
typedef struct {
  int32_t capacity;
  int32_t size;
} weft_queue_config;

/* The capacity rounded up, or 0 if the configuration is out of range. */
static inline int32_t weft__queue_capacity(weft_queue_config config) {
  const int32_t most = 1 << 30;
  if (config.size < 4 || config.size % 4 != 0 || config.size > most) return 0;
  if (config.capacity < 1 || config.capacity > most / config.size) return 0;
  int32_t capacity = 1;
  while (capacity < config.capacity) capacity *= 2;
  return capacity > most / config.size ? 0 : capacity;
}

/* ---- spsc_queue (primitives/spsc_queue.ts) --------------------------------- */

#define WEFT_SPSC_QUEUE_WAITING_BIT 1
#define WEFT_SPSC_QUEUE_CLOSED_BIT 2
#define WEFT_SPSC_QUEUE_INDEX_MASK (~3)
#define WEFT_SPSC_QUEUE_ONE 4

/* A queue from one producer to one consumer; \`SpscQueue\` in JavaScript. The
   elements lie behind these words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t size;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail;       /* the producer's; the consumer sleeps here */
  int32_t head_cache; /* what the producer last saw of head */
  int32_t _pad1[30];
  int32_t head;       /* the consumer's; the producer sleeps here */
  int32_t tail_cache; /* what the consumer last saw of tail */
  int32_t _pad2[30];  /* the elements follow */
} weft_spsc_queue;
WEFT_WORD(spsc_queue, magic, 0);
WEFT_WORD(spsc_queue, capacity, 1);
WEFT_WORD(spsc_queue, size, 2);
WEFT_WORD(spsc_queue, seal, 3);
WEFT_WORD(spsc_queue, tail, 32);
WEFT_WORD(spsc_queue, head_cache, 33);
WEFT_WORD(spsc_queue, head, 64);
WEFT_WORD(spsc_queue, tail_cache, 65);
WEFT_LENGTH(spsc_queue, 96);

/* The bytes a queue of this configuration occupies; 0 if out of range. */
static inline size_t weft_spsc_queue_bytes(weft_queue_config config) {
  size_t capacity = (size_t)weft__queue_capacity(config);
  if (capacity == 0) return 0;
  return sizeof(weft_spsc_queue) + capacity * (size_t)config.size;
}

/* The queue at \`at\`, or NULL: see weft_attach_error. */
static inline weft_spsc_queue *weft_spsc_queue_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_spsc_queue) != NULL) return NULL;
  return (weft_spsc_queue *)at;
}

/* Makes a region that nobody uses yet an empty queue; NULL if the
   configuration, or the place, is out of range. */
static inline weft_spsc_queue *weft_spsc_queue_init(void *at,
                                                    weft_queue_config config) {
  weft_spsc_queue *q = (weft_spsc_queue *)at;
  size_t bytes = weft_spsc_queue_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  q->capacity = weft__queue_capacity(config);
  q->size = config.size;
  q->seal = weft__seal(WEFT_KIND_spsc_queue, q->capacity, q->size);
  weft__store(&q->magic, weft__magic(WEFT_KIND_spsc_queue));
  return q;
}

/* Elements the queue holds at most. */
static inline int32_t weft_spsc_queue_capacity(const weft_spsc_queue *q) {
  return q->capacity;
}

/* Bytes an element has: what a pop writes, and a push reads. */
static inline int32_t weft_spsc_queue_element_size(
    const weft_spsc_queue *q) {
  return q->size;
}

/* Elements in the queue; a moment later it may be another number. */
static inline int32_t weft_spsc_queue_size(const weft_spsc_queue *q) {
  int32_t head = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t tail = weft__load(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t size = (int32_t)((uint32_t)weft__minus(tail, head) >> 2);
  return size < q->capacity ? size : q->capacity;
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_spsc_queue_closed(const weft_spsc_queue *q) {
  return (weft__load(&q->tail) & WEFT_SPSC_QUEUE_CLOSED_BIT) != 0;
}

static inline int32_t *weft__spsc_at(weft_spsc_queue *q, int32_t index) {
  uint32_t slot = ((uint32_t)index >> 2) & (uint32_t)(q->capacity - 1);
  return (int32_t *)(q + 1) + (size_t)slot * (size_t)(q->size / 4);
}

static inline int32_t weft__spsc_until_wrap(const weft_spsc_queue *q,
                                            int32_t index, int32_t count) {
  int32_t slot = (int32_t)((uint32_t)index >> 2) & (q->capacity - 1);
  return count < q->capacity - slot ? count : q->capacity - slot;
}

/* Free elements; looks at the consumer if fewer than \`wanted\` are known. */
static inline int32_t weft__spsc_room(weft_spsc_queue *q, int32_t tail,
                                      int32_t wanted) {
  int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);
  if (room >= wanted) return room;
  q->head_cache = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return q->capacity - (weft__minus(tail, q->head_cache) >> 2);
}

/* Elements; looks at the producer if fewer than \`wanted\` are known. Below 0
   if there are none and the queue is closed. */
static inline int32_t weft__spsc_filled(weft_spsc_queue *q, int32_t head,
                                        int32_t wanted) {
  int32_t filled = weft__minus(q->tail_cache, head) >> 2;
  if (filled >= wanted) return filled;
  int32_t tail = weft__load(&q->tail);
  q->tail_cache = tail & WEFT_SPSC_QUEUE_INDEX_MASK;
  filled = weft__minus(q->tail_cache, head) >> 2;
  return filled == 0 && tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? -1 : filled;
}

/* (P) Publishes \`count\` elements, and wakes the consumer if it sleeps. */
static inline int weft__spsc_publish(weft_spsc_queue *q, int32_t tail,
                                     int32_t count) {
  int32_t next = weft__plus(tail, count * WEFT_SPSC_QUEUE_ONE);
  int32_t was = weft__compare_exchange(&q->tail, tail, next);
  if (was == tail) return 0;
  if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  /* WAITING is set. It stays until we take it away, but for close. */
  int32_t still = weft__compare_exchange(&q->tail, was, next);
  if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;
  weft__notify(&q->tail, 1);
  return 0;
}

/* Frees \`count\` slots, and wakes the producer if it sleeps. */
static inline void weft__spsc_release(weft_spsc_queue *q, int32_t head,
                                      int32_t count) {
  int32_t next = weft__plus(head, count * WEFT_SPSC_QUEUE_ONE);
  int32_t was = weft__compare_exchange(&q->head, head, next);
  for (int32_t expected = head; was != expected;) {
    expected = was;
    int32_t kept = next | (expected & WEFT_SPSC_QUEUE_CLOSED_BIT);
    was = weft__compare_exchange(&q->head, expected, kept);
  }
  if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__notify(&q->head, 1);
}

/*
 * Appends up to \`n\` elements that lie one behind the other at \`src\`, as far as
 * there is room. How many, or -EPIPE if the queue was closed, or -EINVAL if n
 * is below 0. Wait-free.
 */
static inline int32_t weft_spsc_queue_try_push_many(weft_spsc_queue *q,
                                                    const void *src,
                                                    int32_t n) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  const int32_t *words = (const int32_t *)src;
  int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t count = weft__spsc_room(q, tail, n);
  if (count > n) count = n;
  if (count == 0) return weft_spsc_queue_closed(q) ? -EPIPE : 0;
  int32_t per = q->size / 4;
  int32_t first = weft__spsc_until_wrap(q, tail, count);
  weft__copy(weft__spsc_at(q, tail), words, first * per);
  weft__copy((int32_t *)(q + 1), words + first * per, (count - first) * per);
  return weft__spsc_publish(q, tail, count) == 0 ? count : -EPIPE;
}

/*
 * Moves up to \`n\` of the oldest elements to \`dst\`, one behind the other. How
 * many, or -EPIPE if the queue was closed and is empty, or -EINVAL if n is
 * below 0. Wait-free.
 */
static inline int32_t weft_spsc_queue_try_pop_many(weft_spsc_queue *q,
                                                   void *dst, int32_t n) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  int32_t *words = (int32_t *)dst;
  int32_t head = weft__hint(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t count = weft__spsc_filled(q, head, n);
  if (count > n) count = n;
  if (count <= 0) return count == 0 ? 0 : -EPIPE;
  int32_t per = q->size / 4;
  int32_t first = weft__spsc_until_wrap(q, head, count);
  weft__copy(words, weft__spsc_at(q, head), first * per);
  weft__copy(words + first * per, (int32_t *)(q + 1), (count - first) * per);
  weft__spsc_release(q, head, count);
  return count;
}

/* Appends the element at \`src\`: 0, EBUSY if the queue is full, or EPIPE. */
static inline int weft_spsc_queue_try_push(weft_spsc_queue *q,
                                           const void *src) {
  int32_t count = weft_spsc_queue_try_push_many(q, src, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Moves the oldest element to \`dst\`: 0, EBUSY if there is none, or EPIPE. */
static inline int weft_spsc_queue_try_pop(weft_spsc_queue *q, void *dst) {
  int32_t count = weft_spsc_queue_try_pop_many(q, dst, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_spsc_queue_try_push_int(weft_spsc_queue *q,
                                               int32_t value) {
  if (q->size != 4) return EINVAL;
  int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  if (weft__spsc_room(q, tail, 1) == 0)
    return weft_spsc_queue_closed(q) ? EPIPE : EBUSY;
  *weft__spsc_at(q, tail) = value; /* published by (P) */
  return weft__spsc_publish(q, tail, 1);
}

/* Takes the oldest 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_spsc_queue_try_pop_int(weft_spsc_queue *q,
                                              int32_t *value) {
  if (q->size != 4) return EINVAL;
  int32_t head = weft__hint(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t filled = weft__spsc_filled(q, head, 1);
  if (filled <= 0) return filled == 0 ? EBUSY : EPIPE;
  *value = *weft__spsc_at(q, head); /* published by (P) */
  weft__spsc_release(q, head, 1);
  return 0;
}

/* Where the next element goes, or NULL if the queue is full or closed: write it
   there, then commit. Nothing else may be pushed in between. */
static inline void *weft_spsc_queue_reserve(weft_spsc_queue *q) {
  if (weft_spsc_queue_closed(q)) return NULL;
  int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return weft__spsc_room(q, tail, 1) > 0 ? weft__spsc_at(q, tail) : NULL;
}

/* Appends the reserved element; EPIPE if the queue was closed. */
static inline int weft_spsc_queue_commit(weft_spsc_queue *q) {
  int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return weft__spsc_publish(q, tail, 1);
}

/* Where the oldest element lies, or NULL if there is none: read it there, then
   consume. Nothing else may be popped in between. */
static inline void *weft_spsc_queue_peek(weft_spsc_queue *q) {
  int32_t head = weft__hint(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return weft__spsc_filled(q, head, 1) > 0 ? weft__spsc_at(q, head) : NULL;
}

/* Takes the element that was peeked at. */
static inline void weft_spsc_queue_consume(weft_spsc_queue *q) {
  weft__spsc_release(q, weft__hint(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK, 1);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Sets the bit at \`word\`, which is \`idle\` while there is nothing to do for us,
   that makes the other side's next step wake us, and sleeps. */
static inline int weft__spsc_sleep(int32_t *word, int32_t idle,
                                   int64_t deadline) {
  int32_t value = idle | WEFT_SPSC_QUEUE_WAITING_BIT;
  int32_t was = weft__compare_exchange(word, idle, value);
  if (was != idle && was != value) return WEFT__NOT_EQUAL;
  return weft__sleep(word, value, deadline, WEFT__LOOK);
}

static inline int weft__spsc_push_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK;
  int32_t span = q->capacity * WEFT_SPSC_QUEUE_ONE;
  return weft__spsc_sleep(&q->head, weft__minus(tail, span), deadline);
}

static inline int weft__spsc_pop_wait(weft_spsc_queue *q, int64_t deadline) {
  int32_t head = weft__hint(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;
  return weft__spsc_sleep(&q->tail, head, deadline);
}

/*
 * A blocking form from a try_ form: tries, spins, and then sleeps by \`wait\`
 * until \`deadline\`. The expressions are evaluated anew in each round. \`own\` is
 * the index of this end.
 */
#define WEFT__BLOCK(attempt, wait, own, timeout)                       \\
  do {                                                                 \\
    int result;                                                        \\
    if (!weft__may_block()) return EPERM;                              \\
    if ((result = (attempt)) != EBUSY) return result;                  \\
    int32_t rounds = weft__spin_rounds(timeout);                       \\
    int32_t lull = rounds > 0 ? weft__spin_lull(own) : 0;              \\
    for (int32_t round = 1; round <= rounds; round++) {                \\
      weft__relax();                                                   \\
      if (round < lull && round < rounds) continue;                    \\
      if ((result = (attempt)) == EBUSY) continue;                     \\
      weft__spin_paid(round);                                          \\
      return result;                                                   \\
    }                                                                  \\
    weft__spin_failed(rounds);                                         \\
    int64_t deadline = weft__deadline(timeout);                        \\
    for (;;) {                                                         \\
      int outcome = (wait);                                            \\
      if ((result = (attempt)) != EBUSY) return result;                \\
      if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;                \\
    }                                                                  \\
  } while (0)

/* As try_push, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_spsc_queue_push(weft_spsc_queue *q, const void *src,
                                       int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_push(q, src),
              weft__spsc_push_wait(q, deadline), &q->tail, timeout);
}

/* As try_pop, blocking up to \`timeout\` ns; ETIMEDOUT if nothing came. */
static inline int weft_spsc_queue_pop(weft_spsc_queue *q, void *dst,
                                      int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_pop(q, dst),
              weft__spsc_pop_wait(q, deadline), &q->head, timeout);
}

/* As try_push_int, blocking up to \`timeout\` ns. */
static inline int weft_spsc_queue_push_int(weft_spsc_queue *q, int32_t value,
                                           int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_push_int(q, value),
              weft__spsc_push_wait(q, deadline), &q->tail, timeout);
}

/* As try_pop_int, blocking up to \`timeout\` ns. */
static inline int weft_spsc_queue_pop_int(weft_spsc_queue *q, int32_t *value,
                                          int64_t timeout) {
  WEFT__BLOCK(weft_spsc_queue_try_pop_int(q, value),
              weft__spsc_pop_wait(q, deadline), &q->head, timeout);
}
#endif

/* Closes the queue for good: pushes fail from now on, pops take what is there
   and then fail, and every sleeper wakes. */
static inline void weft_spsc_queue_close(weft_spsc_queue *q) {
  int32_t *words[2] = {&q->tail, &q->head};
  for (int i = 0; i < 2; i++)
    if (weft__or(words[i], WEFT_SPSC_QUEUE_CLOSED_BIT) &
        WEFT_SPSC_QUEUE_WAITING_BIT)
      weft__notify(words[i], WEFT__ALL);
}

/* ---- event counts (primitives/_event_count.ts) ------------------------------ */

/* Wakes up to \`n\` sleepers of an epoch, if there are any; they are counted in
   the word behind it. */
static inline void weft__event_wake(int32_t *epoch, int32_t n) {
  /* Pairs with (W): we see the waiter, or it sees what we published. */
  if (weft__load(epoch + 1) == 0) return;
  weft__add(epoch, 1);
  weft__notify(epoch, n);
}

/* A blocking form from a try_ form, as WEFT__BLOCK, for a count of waiters. */
#define WEFT__EVENT_BLOCK(attempt, epoch, pass, timeout)              \\
  do {                                                                \\
    int result;                                                       \\
    if (!weft__may_block()) return EPERM;                             \\
    if ((result = (attempt)) != EBUSY) return result;                 \\
    int32_t rounds = weft__spin_rounds(timeout);                      \\
    for (int32_t round = 1; round <= rounds; round++) {               \\
      weft__relax();                                                  \\
      if ((result = (attempt)) == EBUSY) continue;                    \\
      weft__spin_paid(round);                                         \\
      return result;                                                  \\
    }                                                                 \\
    weft__spin_failed(rounds);                                        \\
    int64_t deadline = weft__deadline(timeout);                       \\
    while (result == EBUSY) {                                         \\
      int outcome = WEFT__NOT_EQUAL;                                  \\
      weft__add((epoch) + 1, 1); /* (W) announce, then look again */  \\
      int32_t seen = weft__load(epoch);                               \\
      if ((result = (attempt)) == EBUSY)                              \\
        outcome = weft__sleep(epoch, seen, deadline, WEFT__LOOK);     \\
      weft__add((epoch) + 1, -1);                                     \\
      if (outcome != WEFT__TIMED_OUT) continue;                       \\
      if ((result = (attempt)) == EBUSY) result = ETIMEDOUT;          \\
    }                                                                 \\
    pass(q);                                                          \\
    return result;                                                    \\
  } while (0)

/* ---- mpmc_queue (primitives/mpmc_queue.ts) --------------------------------- */

#define WEFT_MPMC_QUEUE_CLOSED_BIT 1
#define WEFT_MPMC_QUEUE_ONE 2
#define WEFT_MPMC_QUEUE_FILLED 1

/* A queue from many to many; \`MpmcQueue\` in JavaScript. The slots lie behind
   these words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t size;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail; /* next ticket to push, in steps of 2; bit 0 CLOSED */
  int32_t _pad1[31];
  int32_t head; /* next ticket to pop, in steps of 2 */
  int32_t _pad2[31];
  int32_t pop_epoch; /* consumers sleep here */
  int32_t pop_waiters;
  int32_t _pad3[30];
  int32_t push_epoch; /* producers sleep here */
  int32_t push_waiters;
  int32_t _pad4[30]; /* slots follow: a turn and an element, padded to 8 */
} weft_mpmc_queue;
WEFT_WORD(mpmc_queue, magic, 0);
WEFT_WORD(mpmc_queue, capacity, 1);
WEFT_WORD(mpmc_queue, size, 2);
WEFT_WORD(mpmc_queue, seal, 3);
WEFT_WORD(mpmc_queue, tail, 32);
WEFT_WORD(mpmc_queue, head, 64);
WEFT_WORD(mpmc_queue, pop_epoch, 96);
WEFT_WORD(mpmc_queue, pop_waiters, 97);
WEFT_WORD(mpmc_queue, push_epoch, 128);
WEFT_WORD(mpmc_queue, push_waiters, 129);
WEFT_LENGTH(mpmc_queue, 160);

/* Words from slot to slot. */
static inline size_t weft__mpmc_stride(int32_t size) {
  return (size_t)((4 + size + 7) >> 3) * 2;
}

/* The bytes a queue of this configuration occupies; 0 if out of range. */
static inline size_t weft_mpmc_queue_bytes(weft_queue_config config) {
  size_t capacity = (size_t)weft__queue_capacity(config);
  if (capacity == 0) return 0;
  return sizeof(weft_mpmc_queue) +
         capacity * weft__mpmc_stride(config.size) * 4;
}

/* The queue at \`at\`, or NULL: see weft_attach_error. */
static inline weft_mpmc_queue *weft_mpmc_queue_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_mpmc_queue) != NULL) return NULL;
  return (weft_mpmc_queue *)at;
}

/* The slot for a ticket: its turn, and the element behind it. */
static inline int32_t *weft__mpmc_slot(const weft_mpmc_queue *q,
                                       int32_t ticket) {
  uint32_t slot = ((uint32_t)ticket >> 1) & (uint32_t)(q->capacity - 1);
  return (int32_t *)(uintptr_t)(q + 1) +
         (size_t)slot * weft__mpmc_stride(q->size);
}

/* Makes a region that nobody uses yet an empty queue; NULL if the
   configuration, or the place, is out of range. */
static inline weft_mpmc_queue *weft_mpmc_queue_init(void *at,
                                                    weft_queue_config config) {
  weft_mpmc_queue *q = (weft_mpmc_queue *)at;
  size_t bytes = weft_mpmc_queue_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  q->capacity = weft__queue_capacity(config);
  q->size = config.size;
  q->seal = weft__seal(WEFT_KIND_mpmc_queue, q->capacity, q->size);
  for (int32_t i = 0; i < q->capacity; i++)
    *weft__mpmc_slot(q, i * WEFT_MPMC_QUEUE_ONE) = i * WEFT_MPMC_QUEUE_ONE;
  weft__store(&q->magic, weft__magic(WEFT_KIND_mpmc_queue));
  return q;
}

/* Elements the queue holds at most. */
static inline int32_t weft_mpmc_queue_capacity(const weft_mpmc_queue *q) {
  return q->capacity;
}

/* Bytes an element has: what a pop writes, and a push reads. */
static inline int32_t weft_mpmc_queue_element_size(
    const weft_mpmc_queue *q) {
  return q->size;
}

/* Elements in the queue; a moment later it may be another number. */
static inline int32_t weft_mpmc_queue_size(const weft_mpmc_queue *q) {
  int32_t head = weft__load(&q->head);
  int32_t tail = weft__load(&q->tail);
  int32_t size = (int32_t)((uint32_t)weft__minus(tail, head) >> 1);
  return size < q->capacity ? size : q->capacity;
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_mpmc_queue_closed(const weft_mpmc_queue *q) {
  return (weft__load(&q->tail) & WEFT_MPMC_QUEUE_CLOSED_BIT) != 0;
}

/* How many tickets in a row, up to \`n\`, have their slot in this state. */
static inline int32_t weft__mpmc_run(const weft_mpmc_queue *q, int32_t ticket,
                                     int32_t n, int32_t state) {
  int32_t most = n < q->capacity ? n : q->capacity;
  int32_t count = 1;
  for (; count < most; count++) {
    int32_t next = weft__plus(ticket, count * WEFT_MPMC_QUEUE_ONE);
    if (weft__load(weft__mpmc_slot(q, next)) != weft__plus(next, state)) break;
  }
  return count;
}

/* Claims up to \`n\` tickets to push, beginning with *ticket. How many; 0 if the
   queue is full; -EPIPE if it was closed. */
static inline int32_t weft__mpmc_claim_push(weft_mpmc_queue *q, int32_t n,
                                            int32_t *ticket) {
  int32_t tail = weft__hint(&q->tail); /* the exchange below checks it */
  for (;;) {
    if (tail & WEFT_MPMC_QUEUE_CLOSED_BIT) return -EPIPE;
    if (weft__load(weft__mpmc_slot(q, tail)) == tail) {
      int32_t count = n == 1 ? 1 : weft__mpmc_run(q, tail, n, 0);
      int32_t next = weft__plus(tail, count * WEFT_MPMC_QUEUE_ONE);
      int32_t seen = weft__compare_exchange(&q->tail, tail, next);
      if (seen == tail) {
        *ticket = tail;
        return count;
      }
      tail = seen;
      continue;
    }
    /* The hint is old, or the slot is still that of the lap before: full. */
    int32_t seen = weft__load(&q->tail);
    if (seen == tail) return 0;
    tail = seen;
  }
}

/* Claims up to \`n\` tickets to pop, beginning with *ticket. How many; 0 if the
   queue is empty; -EPIPE if it was closed, too. */
static inline int32_t weft__mpmc_claim_pop(weft_mpmc_queue *q, int32_t n,
                                           int32_t *ticket) {
  int32_t head = weft__hint(&q->head); /* the exchange below checks it */
  for (;;) {
    int32_t turn = weft__load(weft__mpmc_slot(q, head));
    if (turn == weft__plus(head, WEFT_MPMC_QUEUE_FILLED)) {
      int32_t count =
          n == 1 ? 1 : weft__mpmc_run(q, head, n, WEFT_MPMC_QUEUE_FILLED);
      int32_t next = weft__plus(head, count * WEFT_MPMC_QUEUE_ONE);
      int32_t seen = weft__compare_exchange(&q->head, head, next);
      if (seen == head) {
        *ticket = head;
        return count;
      }
      head = seen;
      continue;
    }
    int32_t seen = weft__load(&q->head);
    if (seen == head) {
      int32_t drained = head | WEFT_MPMC_QUEUE_CLOSED_BIT;
      return weft__load(&q->tail) == drained ? -EPIPE : 0;
    }
    head = seen;
  }
}

/* (P) Hands a filled slot to the consumers. */
static inline void weft__mpmc_publish(weft_mpmc_queue *q, int32_t ticket) {
  weft__store(weft__mpmc_slot(q, ticket),
              weft__plus(ticket, WEFT_MPMC_QUEUE_FILLED));
}

/* Hands a slot that was read to the producers, for the next lap. */
static inline void weft__mpmc_free(weft_mpmc_queue *q, int32_t ticket) {
  weft__store(weft__mpmc_slot(q, ticket),
              weft__plus(ticket, q->capacity * WEFT_MPMC_QUEUE_ONE));
}

/*
 * Appends up to \`n\` elements that lie one behind the other at \`src\`, as far as
 * there is room. How many, or -EPIPE if the queue was closed, or -EINVAL if n
 * is below 0.
 */
static inline int32_t weft_mpmc_queue_try_push_many(weft_mpmc_queue *q,
                                                    const void *src,
                                                    int32_t n) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  const int32_t *words = (const int32_t *)src;
  int32_t per = q->size / 4;
  int32_t first = 0;
  int32_t count = weft__mpmc_claim_push(q, n, &first);
  if (count <= 0) return count;
  for (int32_t i = 0; i < count; i++) {
    int32_t ticket = weft__plus(first, i * WEFT_MPMC_QUEUE_ONE);
    weft__copy(weft__mpmc_slot(q, ticket) + 1, words + i * per, per);
    weft__mpmc_publish(q, ticket);
  }
  weft__event_wake(&q->pop_epoch, count);
  return count;
}

/*
 * Moves up to \`n\` of the oldest elements to \`dst\`, one behind the other. How
 * many, or -EPIPE if the queue was closed and is empty, or -EINVAL if n is
 * below 0.
 */
static inline int32_t weft_mpmc_queue_try_pop_many(weft_mpmc_queue *q,
                                                   void *dst, int32_t n) {
  if (n < 0) return -EINVAL;
  if (n == 0) return 0;
  int32_t *words = (int32_t *)dst;
  int32_t per = q->size / 4;
  int32_t first = 0;
  int32_t count = weft__mpmc_claim_pop(q, n, &first);
  if (count <= 0) return count;
  for (int32_t i = 0; i < count; i++) {
    int32_t ticket = weft__plus(first, i * WEFT_MPMC_QUEUE_ONE);
    weft__copy(words + i * per, weft__mpmc_slot(q, ticket) + 1, per);
    weft__mpmc_free(q, ticket);
  }
  weft__event_wake(&q->push_epoch, count);
  return count;
}

/* Appends the element at \`src\`: 0, EBUSY if the queue is full, or EPIPE. */
static inline int weft_mpmc_queue_try_push(weft_mpmc_queue *q,
                                           const void *src) {
  int32_t count = weft_mpmc_queue_try_push_many(q, src, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Moves the oldest element to \`dst\`: 0, EBUSY if there is none, or EPIPE. */
static inline int weft_mpmc_queue_try_pop(weft_mpmc_queue *q, void *dst) {
  int32_t count = weft_mpmc_queue_try_pop_many(q, dst, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_mpmc_queue_try_push_int(weft_mpmc_queue *q,
                                               int32_t value) {
  int32_t ticket = 0;
  if (q->size != 4) return EINVAL;
  int32_t count = weft__mpmc_claim_push(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  weft__mpmc_slot(q, ticket)[1] = value; /* published by (P) */
  weft__mpmc_publish(q, ticket);
  weft__event_wake(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_mpmc_queue_try_pop_int(weft_mpmc_queue *q,
                                              int32_t *value) {
  int32_t ticket = 0;
  if (q->size != 4) return EINVAL;
  int32_t count = weft__mpmc_claim_pop(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  *value = weft__mpmc_slot(q, ticket)[1]; /* published by (P) */
  weft__mpmc_free(q, ticket);
  weft__event_wake(&q->push_epoch, 1);
  return 0;
}

/* Claims a slot to write an element into, or NULL if the queue is full or
   closed: write it there, then commit. */
static inline void *weft_mpmc_queue_reserve(weft_mpmc_queue *q) {
  int32_t ticket = 0;
  if (weft__mpmc_claim_push(q, 1, &ticket) <= 0) return NULL;
  return weft__mpmc_slot(q, ticket) + 1;
}

/* Appends the element in the slot that was reserved: its turn is the ticket,
   as nobody else changes it. */
static inline void weft_mpmc_queue_commit(weft_mpmc_queue *q, void *slot) {
  weft__mpmc_publish(q, weft__load((int32_t *)slot - 1));
  weft__event_wake(&q->pop_epoch, 1);
}

/* Claims the oldest element, or NULL if there is none: read it there, then
   consume. */
static inline void *weft_mpmc_queue_peek(weft_mpmc_queue *q) {
  int32_t ticket = 0;
  if (weft__mpmc_claim_pop(q, 1, &ticket) <= 0) return NULL;
  return weft__mpmc_slot(q, ticket) + 1;
}

/* Takes the element that was peeked at. */
static inline void weft_mpmc_queue_consume(weft_mpmc_queue *q, void *slot) {
  int32_t turn = weft__load((int32_t *)slot - 1);
  weft__mpmc_free(q, weft__minus(turn, WEFT_MPMC_QUEUE_FILLED));
  weft__event_wake(&q->push_epoch, 1);
}

/*
 * Two wakes may have come for elements behind one that was not published yet,
 * and found nothing: whoever takes that one wakes the next in line.
 */
static inline void weft__mpmc_pass_push(weft_mpmc_queue *q) {
  int32_t tail = weft__load(&q->tail);
  if (tail & WEFT_MPMC_QUEUE_CLOSED_BIT)
    weft__event_wake(&q->push_epoch, WEFT__ALL);
  else if (weft__load(weft__mpmc_slot(q, tail)) == tail)
    weft__event_wake(&q->push_epoch, 1);
}

/* Whether a pop would end now. An old \`head\` would hide what lies behind it,
   the wake for which may have been ours. */
static inline bool weft__mpmc_poppable(const weft_mpmc_queue *q) {
  for (int32_t head = weft__load(&q->head);;) {
    int32_t state = weft__load(weft__mpmc_slot(q, head));
    if (state == weft__plus(head, WEFT_MPMC_QUEUE_FILLED)) return true;
    int32_t now = weft__load(&q->head);
    if (now == head)
      return weft__load(&q->tail) == (head | WEFT_MPMC_QUEUE_CLOSED_BIT);
    head = now;
  }
}

static inline void weft__mpmc_pass_pop(weft_mpmc_queue *q) {
  if (weft__mpmc_poppable(q))
    weft__event_wake(&q->pop_epoch,
                     weft_mpmc_queue_closed(q) ? WEFT__ALL : 1);
}

#ifndef WEFT_REALTIME /* what may wait */
/* As try_push, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_mpmc_queue_push(weft_mpmc_queue *q, const void *src,
                                       int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_mpmc_queue_try_push(q, src), &q->push_epoch,
                   weft__mpmc_pass_push, timeout);
}

/* As try_pop, blocking up to \`timeout\` ns; ETIMEDOUT if nothing came. */
static inline int weft_mpmc_queue_pop(weft_mpmc_queue *q, void *dst,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_mpmc_queue_try_pop(q, dst), &q->pop_epoch,
                   weft__mpmc_pass_pop, timeout);
}

/* As try_push_int, blocking up to \`timeout\` ns. */
static inline int weft_mpmc_queue_push_int(weft_mpmc_queue *q, int32_t value,
                                           int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_mpmc_queue_try_push_int(q, value), &q->push_epoch,
                   weft__mpmc_pass_push, timeout);
}

/* As try_pop_int, blocking up to \`timeout\` ns. */
static inline int weft_mpmc_queue_pop_int(weft_mpmc_queue *q, int32_t *value,
                                          int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_mpmc_queue_try_pop_int(q, value), &q->pop_epoch,
                   weft__mpmc_pass_pop, timeout);
}
#endif

/* Closes the queue for good: pushes fail from now on, pops take what is there
   and then fail, and every sleeper wakes. */
static inline void weft_mpmc_queue_close(weft_mpmc_queue *q) {
  if (weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) &
      WEFT_MPMC_QUEUE_CLOSED_BIT)
    return;
  weft__event_wake(&q->pop_epoch, WEFT__ALL);
  weft__event_wake(&q->push_epoch, WEFT__ALL);
}

/* ---- lock_free_queue (primitives/lock_free_queue.ts) ------------------------ */

/* In an entry that is not FILLED: no ticket is given out from here on. */
#define WEFT_LOCK_FREE_QUEUE_CLOSED 1
/* The fewest entries of a ring, so that small queues suit several agents. */
#define WEFT__LOCK_FREE_FEWEST 16
/* The notes of the next tickets are renewed once in so many. */
#define WEFT__LOCK_FREE_NOTED 2

/* What a ring answers instead of a slot. */
enum { WEFT__LOCK_FREE_NONE = -1, WEFT__LOCK_FREE_OVER = -2 };

/* A queue from many to many that no agent can block; \`LockFreeQueue\` in
   JavaScript. Its rings and elements lie behind these words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t size;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail; /* a ticket to push, not after the next */
  int32_t _pad1[31];
  int32_t head; /* a ticket to pop, not after the next */
  int32_t _pad2[31];
  int32_t free_tail; /* the same for the ring of free slots */
  int32_t _pad3[31];
  int32_t free_head;
  int32_t _pad4[31];
  int32_t pop_epoch; /* consumers sleep here */
  int32_t pop_waiters;
  int32_t _pad5[30];
  int32_t push_epoch; /* producers sleep here */
  int32_t push_waiters;
  int32_t _pad6[30]; /* both rings' entries follow, and the slots */
} weft_lock_free_queue;
WEFT_WORD(lock_free_queue, magic, 0);
WEFT_WORD(lock_free_queue, capacity, 1);
WEFT_WORD(lock_free_queue, size, 2);
WEFT_WORD(lock_free_queue, seal, 3);
WEFT_WORD(lock_free_queue, tail, 32);
WEFT_WORD(lock_free_queue, head, 64);
WEFT_WORD(lock_free_queue, free_tail, 96);
WEFT_WORD(lock_free_queue, free_head, 128);
WEFT_WORD(lock_free_queue, pop_epoch, 160);
WEFT_WORD(lock_free_queue, pop_waiters, 161);
WEFT_WORD(lock_free_queue, push_epoch, 192);
WEFT_WORD(lock_free_queue, push_waiters, 193);
WEFT_LENGTH(lock_free_queue, 224);

/* One of the two rings: its entries, and the words for its next tickets. */
typedef struct {
  int32_t *entries;
  int32_t *tail;
  int32_t *head;
  int32_t filled; /* the number of entries, and FILLED in one */
} weft__lock_free_ring;

/* The entries of a ring: one more than there are slots. */
static inline int32_t weft__lock_free_entries(int32_t capacity) {
  int32_t entries = 2 * capacity;
  return entries > WEFT__LOCK_FREE_FEWEST ? entries : WEFT__LOCK_FREE_FEWEST;
}

/* The ring of what is in the queue. */
static inline weft__lock_free_ring weft__lock_free_ring_of_queue(
    const weft_lock_free_queue *q) {
  weft_lock_free_queue *at = (weft_lock_free_queue *)(uintptr_t)q;
  weft__lock_free_ring ring = {(int32_t *)(at + 1), &at->tail, &at->head,
                               weft__lock_free_entries(q->capacity)};
  return ring;
}

/* The ring of free slots. */
static inline weft__lock_free_ring weft__lock_free_ring_of_free(
    weft_lock_free_queue *q) {
  int32_t filled = weft__lock_free_entries(q->capacity);
  weft__lock_free_ring ring = {(int32_t *)(q + 1) + filled, &q->free_tail,
                               &q->free_head, filled};
  return ring;
}

/* The bytes a queue of this configuration occupies; 0 if out of range. */
static inline size_t weft_lock_free_queue_bytes(weft_queue_config config) {
  int32_t capacity = weft__queue_capacity(config);
  if (capacity == 0) return 0;
  size_t entries = (size_t)weft__lock_free_entries(capacity);
#if SIZE_MAX == UINT32_MAX
  size_t slot = (size_t)config.size;
  if (entries - 1 > (SIZE_MAX / 2) / slot || entries > SIZE_MAX / 32) return 0;
#endif
  return sizeof(weft_lock_free_queue) + 2 * entries * 4 +
         (entries - 1) * (size_t)config.size;
}

/* The queue at \`at\`, or NULL: see weft_attach_error. */
static inline weft_lock_free_queue *weft_lock_free_queue_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_lock_free_queue) != NULL) return NULL;
  return (weft_lock_free_queue *)at;
}

/* Makes a region that nobody uses yet an empty queue; NULL if the
   configuration, or the place, is out of range. */
static inline weft_lock_free_queue *weft_lock_free_queue_init(
    void *at, weft_queue_config config) {
  weft_lock_free_queue *q = (weft_lock_free_queue *)at;
  size_t bytes = weft_lock_free_queue_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  q->capacity = weft__queue_capacity(config);
  q->size = config.size;
  q->seal = weft__seal(WEFT_KIND_lock_free_queue, q->capacity, q->size);
  weft__lock_free_ring free = weft__lock_free_ring_of_free(q);
  for (int32_t i = 0; i < free.filled - 1; i++)
    free.entries[i] = free.filled | i;
  q->free_tail = free.filled - 1;
  weft__store(&q->magic, weft__magic(WEFT_KIND_lock_free_queue));
  return q;
}

/* Elements the queue holds at most. */
static inline int32_t weft_lock_free_queue_capacity(
    const weft_lock_free_queue *q) {
  return q->capacity;
}

/* Bytes an element has. */
static inline int32_t weft_lock_free_queue_element_size(
    const weft_lock_free_queue *q) {
  return q->size;
}

/* How many agents may be in the midst of an operation at once. */
static inline int32_t weft_lock_free_queue_agents(
    const weft_lock_free_queue *q) {
  const int32_t fewest = WEFT__LOCK_FREE_FEWEST / 2;
  return q->capacity > fewest ? q->capacity : fewest;
}

static inline int32_t *weft__lock_free_slot(weft_lock_free_queue *q,
                                            int32_t slot) {
  return (int32_t *)(q + 1) +
         2 * (size_t)weft__lock_free_entries(q->capacity) +
         (size_t)slot * (size_t)(q->size / 4);
}

/* The word of a ticket's entry. */
static inline int32_t *weft__lock_free_entry(weft__lock_free_ring ring,
                                             int32_t ticket) {
  return ring.entries + (ticket & (ring.filled - 1));
}

/* The entry of a ticket before it is put in. */
static inline int32_t weft__lock_free_lap(weft__lock_free_ring ring,
                                          int32_t ticket) {
  return (int32_t)(((uint32_t)ticket & (uint32_t)-ring.filled) << 1);
}

/* How many laps \`entry\` is after that of \`ticket\`, in tickets. */
static inline int32_t weft__lock_free_ahead(weft__lock_free_ring ring,
                                            int32_t entry, int32_t ticket) {
  int32_t lap = entry & (-2 * ring.filled);
  return weft__minus(lap, weft__lock_free_lap(ring, ticket)) >> 1;
}

/* A later ticket to put in at, as \`entry\` is no longer free for this one. */
static inline int32_t weft__lock_free_after_put(weft__lock_free_ring ring,
                                                int32_t ticket,
                                                int32_t entry) {
  uint32_t n = (uint32_t)ring.filled;
  uint32_t past = (uint32_t)entry - (uint32_t)weft__lock_free_lap(ring, ticket);
  if (past - n <= n) return weft__plus(ticket, 1); /* most often */
  int32_t ahead = weft__lock_free_ahead(ring, entry, ticket);
  if (ahead < 0) return weft__load(ring.tail); /* a stale look */
  /* The entry's own ticket is put in, or that of the lap before. */
  int32_t put = entry & ring.filled ? ahead : ahead - ring.filled;
  return weft__plus(ticket, put + 1);
}

/* A later ticket to take, as this one's \`entry\` was taken. */
static inline int32_t weft__lock_free_after_take(weft__lock_free_ring ring,
                                                 int32_t ticket,
                                                 int32_t entry) {
  uint32_t n = (uint32_t)ring.filled;
  uint32_t past = (uint32_t)entry - (uint32_t)weft__lock_free_lap(ring, ticket);
  if (past - 2 * n < 2 * n) return weft__plus(ticket, 1); /* most often */
  int32_t ahead = weft__lock_free_ahead(ring, entry, ticket);
  if (ahead < 0) return weft__load(ring.head);
  if (ahead == 0) return ticket; /* put in just now */
  return weft__plus(ticket, ahead - ring.filled + 1);
}

/* Notes that all tickets before this one are done: others begin here. */
static inline void weft__lock_free_note(int32_t *note, int32_t ticket) {
  int32_t noted = weft__hint(note);
  if (weft__minus(ticket, noted) <= 0) return;
  weft__compare_exchange(note, noted, ticket);
}

/* Whether a ticket of the queue that was put in is taken, too. */
static inline bool weft__lock_free_is_taken(weft__lock_free_ring ring,
                                            int32_t ticket) {
  int32_t *at = weft__lock_free_entry(ring, ticket);
  /* Once taken, always taken: only the other answer needs a second look. */
  return weft__lock_free_ahead(ring, weft__hint(at), ticket) > 0 ||
         weft__lock_free_ahead(ring, weft__load(at), ticket) > 0;
}

/* 0 if there is room to push, by *next or a later ticket, NONE if the queue is
   full, or OVER. */
static inline int32_t weft__lock_free_room(const weft_lock_free_queue *q,
                                           int32_t *next) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  for (int32_t ticket = weft__hint(ring.tail);;) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t entry = weft__hint(at); /* the exchange that puts in checks it */
    if (entry == free) {
      if (weft__lock_free_is_taken(ring, weft__minus(ticket, q->capacity))) {
        *next = ticket;
        return 0;
      }
      entry = weft__load(at); /* full, unless closed before */
      if (entry == free) return WEFT__LOCK_FREE_NONE;
    }
    if (entry == (free | WEFT_LOCK_FREE_QUEUE_CLOSED))
      return WEFT__LOCK_FREE_OVER;
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
}

/* Puts a slot into a ring, by \`ticket\` or a later one: 0, NONE if \`capacity\`
   slots are in it (0: however many), or OVER if it is closed. */
static inline int32_t weft__lock_free_put(weft__lock_free_ring ring,
                                          int32_t ticket, int32_t slot,
                                          int32_t capacity) {
  for (;;) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t entry = weft__hint(at); /* the exchange below checks it */
    if (entry == free) {
      if (capacity > 0 &&
          !weft__lock_free_is_taken(ring, weft__minus(ticket, capacity))) {
        entry = weft__load(at); /* full, unless closed before */
        if (entry == free) return WEFT__LOCK_FREE_NONE;
      } else {
        int32_t put = free | ring.filled | slot;
        entry = weft__compare_exchange(at, free, put);
        if (entry == free) {
          if ((ticket & (WEFT__LOCK_FREE_NOTED - 1)) == 0)
            weft__lock_free_note(ring.tail, weft__plus(ticket, 1));
          return 0;
        }
      }
    }
    if (entry == (free | WEFT_LOCK_FREE_QUEUE_CLOSED))
      return WEFT__LOCK_FREE_OVER;
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
}

/* Takes a slot out of a ring, or NONE if it is empty, or OVER. */
static inline int32_t weft__lock_free_take(weft__lock_free_ring ring) {
  const int32_t mask = ring.filled - 1;
  for (int32_t ticket = weft__hint(ring.head);;) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t closed = free | WEFT_LOCK_FREE_QUEUE_CLOSED;
    int32_t entry = weft__hint(at); /* what follows checks it */
    if ((entry & ~mask) == (free | ring.filled)) {
      int32_t taken = weft__plus(free, 2 * ring.filled);
      int32_t seen = weft__compare_exchange(at, entry, taken);
      if (seen == entry) {
        if ((ticket & (WEFT__LOCK_FREE_NOTED - 1)) == 0)
          weft__lock_free_note(ring.head, weft__plus(ticket, 1));
        return entry & mask;
      }
      entry = seen;
    } else if (entry == free || entry == closed) {
      entry = weft__load(at);
      if (entry == free) return WEFT__LOCK_FREE_NONE;
      if (entry == closed) return WEFT__LOCK_FREE_OVER;
    }
    ticket = weft__lock_free_after_take(ring, ticket, entry);
  }
}

/* The first ticket of a ring that is not taken. */
static inline int32_t weft__lock_free_front(weft__lock_free_ring ring) {
  for (int32_t ticket = weft__load(ring.head);;) {
    int32_t entry = weft__load(weft__lock_free_entry(ring, ticket));
    if (weft__lock_free_ahead(ring, entry, ticket) == 0) return ticket;
    ticket = weft__lock_free_after_take(ring, ticket, entry);
  }
}

/* Slots in a ring. */
static inline int32_t weft__lock_free_count(weft__lock_free_ring ring) {
  int32_t front = weft__lock_free_front(ring);
  for (int32_t ticket = weft__load(ring.tail);;) {
    int32_t entry = weft__load(weft__lock_free_entry(ring, ticket));
    int32_t state = weft__minus(entry, weft__lock_free_lap(ring, ticket));
    if (state == 0 || state == WEFT_LOCK_FREE_QUEUE_CLOSED) {
      int32_t count = weft__minus(ticket, front);
      if (count < 0) return 0;
      return count < ring.filled ? count : ring.filled - 1;
    }
    ticket = weft__lock_free_after_put(ring, ticket, entry);
  }
}

/* Elements in the queue; a moment later it may be another number. */
static inline int32_t weft_lock_free_queue_size(
    const weft_lock_free_queue *q) {
  return weft__lock_free_count(weft__lock_free_ring_of_queue(q));
}

/* Whether close was called; elements may still be in the queue. */
static inline bool weft_lock_free_queue_closed(const weft_lock_free_queue *q) {
  int32_t ticket = 0;
  return weft__lock_free_room(q, &ticket) == WEFT__LOCK_FREE_OVER;
}

/* A free slot to push with, by *ticket or a later one, or NONE if the queue is
   full, or OVER. */
static inline int32_t weft__lock_free_claim(weft_lock_free_queue *q,
                                            int32_t *ticket) {
  int32_t room = weft__lock_free_room(q, ticket);
  if (room != 0) return room;
  return weft__lock_free_take(weft__lock_free_ring_of_free(q));
}

/* Gives a slot to those who push. */
static inline void weft__lock_free_give_back(weft_lock_free_queue *q,
                                             int32_t slot) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_free(q);
  weft__lock_free_put(ring, weft__hint(ring.tail), slot, 0);
}

/* (P) Publishes a slot: 0; or NONE or OVER, and the slot is free. */
static inline int32_t weft__lock_free_append(weft_lock_free_queue *q,
                                             int32_t ticket, int32_t slot,
                                             int32_t capacity) {
  int32_t result = weft__lock_free_put(weft__lock_free_ring_of_queue(q),
                                       ticket, slot, capacity);
  if (result != 0) weft__lock_free_give_back(q, slot);
  return result;
}

/* What a try_ form answers where a ring answered \`result\`. */
static inline int weft__lock_free_error(int32_t result) {
  return result == WEFT__LOCK_FREE_OVER ? EPIPE : EBUSY;
}

/*
 * Appends up to \`n\` elements that lie one behind the other at \`src\`, as far as
 * there is room. How many, or -EPIPE if the queue was closed, or -EINVAL if n
 * is below 0. Lock-free.
 */
static inline int32_t weft_lock_free_queue_try_push_many(
    weft_lock_free_queue *q, const void *src, int32_t n) {
  if (n < 0) return -EINVAL;
  const int32_t *words = (const int32_t *)src;
  int32_t per = q->size / 4;
  int32_t count = 0;
  int32_t result = 0;
  for (; count < n; count++) {
    int32_t ticket = 0;
    int32_t slot = result = weft__lock_free_claim(q, &ticket);
    if (slot < 0) break;
    weft__copy(weft__lock_free_slot(q, slot), words + (size_t)(count * per),
               per);
    result = weft__lock_free_append(q, ticket, slot, q->capacity);
    if (result < 0) break;
  }
  if (count > 0) weft__event_wake(&q->pop_epoch, count);
  return count == 0 && result == WEFT__LOCK_FREE_OVER ? -EPIPE : count;
}

/*
 * Moves up to \`n\` of the oldest elements to \`dst\`, one behind the other. How
 * many, or -EPIPE if the queue was closed and is empty, or -EINVAL if n is
 * below 0. Lock-free.
 */
static inline int32_t weft_lock_free_queue_try_pop_many(
    weft_lock_free_queue *q, void *dst, int32_t n) {
  if (n < 0) return -EINVAL;
  int32_t *words = (int32_t *)dst;
  int32_t per = q->size / 4;
  int32_t count = 0;
  int32_t slot = 0;
  for (; count < n; count++) {
    slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
    if (slot < 0) break;
    weft__copy(words + (size_t)(count * per), weft__lock_free_slot(q, slot),
               per);
    weft__lock_free_give_back(q, slot);
  }
  if (count > 0) weft__event_wake(&q->push_epoch, count);
  return count == 0 && slot == WEFT__LOCK_FREE_OVER ? -EPIPE : count;
}

/* Appends the element at \`src\`: 0, EBUSY if the queue is full, or EPIPE. */
static inline int weft_lock_free_queue_try_push(weft_lock_free_queue *q,
                                                const void *src) {
  int32_t count = weft_lock_free_queue_try_push_many(q, src, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Moves the oldest element to \`dst\`: 0, EBUSY if there is none, or EPIPE. */
static inline int weft_lock_free_queue_try_pop(weft_lock_free_queue *q,
                                               void *dst) {
  int32_t count = weft_lock_free_queue_try_pop_many(q, dst, 1);
  return count == 1 ? 0 : count == 0 ? EBUSY : -count;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_lock_free_queue_try_push_int(weft_lock_free_queue *q,
                                                    int32_t value) {
  int32_t ticket = 0;
  if (q->size != 4) return EINVAL;
  int32_t slot = weft__lock_free_claim(q, &ticket);
  if (slot < 0) return weft__lock_free_error(slot);
  *weft__lock_free_slot(q, slot) = value; /* published by (P) */
  int32_t result = weft__lock_free_append(q, ticket, slot, q->capacity);
  if (result < 0) return weft__lock_free_error(result);
  weft__event_wake(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_lock_free_queue_try_pop_int(weft_lock_free_queue *q,
                                                   int32_t *value) {
  if (q->size != 4) return EINVAL;
  int32_t slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
  if (slot < 0) return weft__lock_free_error(slot);
  *value = *weft__lock_free_slot(q, slot); /* published by (P) */
  weft__lock_free_give_back(q, slot);
  weft__event_wake(&q->push_epoch, 1);
  return 0;
}

/* A slot to write an element into, or NULL if the queue is full or closed:
   write it there, then commit. */
static inline void *weft_lock_free_queue_reserve(weft_lock_free_queue *q) {
  int32_t ticket = 0;
  int32_t slot = weft__lock_free_claim(q, &ticket);
  return slot < 0 ? NULL : weft__lock_free_slot(q, slot);
}

static inline int32_t weft__lock_free_number(weft_lock_free_queue *q,
                                             const void *slot) {
  const int32_t *first = weft__lock_free_slot(q, 0);
  return (int32_t)(((const int32_t *)slot - first) / (q->size / 4));
}

/* Appends the element in the slot that was reserved, for which there is always
   room; EPIPE if the queue was closed. */
static inline int weft_lock_free_queue_commit(weft_lock_free_queue *q,
                                              void *slot) {
  int32_t number = weft__lock_free_number(q, slot);
  if (weft__lock_free_append(q, weft__hint(&q->tail), number, 0) != 0)
    return EPIPE;
  weft__event_wake(&q->pop_epoch, 1);
  return 0;
}

/* Takes the oldest element in place, or NULL if there is none: read it there,
   then consume. */
static inline void *weft_lock_free_queue_peek(weft_lock_free_queue *q) {
  int32_t slot = weft__lock_free_take(weft__lock_free_ring_of_queue(q));
  return slot < 0 ? NULL : weft__lock_free_slot(q, slot);
}

/* Is done with the element that was peeked at. */
static inline void weft_lock_free_queue_consume(weft_lock_free_queue *q,
                                                void *slot) {
  weft__lock_free_give_back(q, weft__lock_free_number(q, slot));
  weft__event_wake(&q->push_epoch, 1);
}

/* A waiter that gave up may have used up a wake. */
static inline void weft__lock_free_pass_push(weft_lock_free_queue *q) {
  int32_t ticket = 0;
  int32_t room = weft__lock_free_room(q, &ticket);
  if (room == WEFT__LOCK_FREE_NONE) return;
  weft__event_wake(&q->push_epoch, room == 0 ? 1 : WEFT__ALL);
}

static inline void weft__lock_free_pass_pop(weft_lock_free_queue *q) {
  if (weft_lock_free_queue_size(q) > 0)
    weft__event_wake(&q->pop_epoch, 1);
  else if (weft_lock_free_queue_closed(q))
    weft__event_wake(&q->pop_epoch, WEFT__ALL);
}

#ifndef WEFT_REALTIME /* what may wait */
/* As try_push, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_lock_free_queue_push(weft_lock_free_queue *q,
                                            const void *src,
                                            int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_push(q, src), &q->push_epoch,
                    weft__lock_free_pass_push, timeout);
}

/* As try_pop, blocking up to \`timeout\` ns; ETIMEDOUT if nothing came. */
static inline int weft_lock_free_queue_pop(weft_lock_free_queue *q, void *dst,
                                           int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_pop(q, dst), &q->pop_epoch,
                    weft__lock_free_pass_pop, timeout);
}

/* As try_push_int, blocking up to \`timeout\` ns. */
static inline int weft_lock_free_queue_push_int(weft_lock_free_queue *q,
                                                int32_t value,
                                                int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_push_int(q, value),
                    &q->push_epoch, weft__lock_free_pass_push, timeout);
}

/* As try_pop_int, blocking up to \`timeout\` ns. */
static inline int weft_lock_free_queue_pop_int(weft_lock_free_queue *q,
                                               int32_t *value,
                                               int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_lock_free_queue_try_pop_int(q, value), &q->pop_epoch,
                    weft__lock_free_pass_pop, timeout);
}
#endif

/* Closes the queue for good: pushes fail from now on, pops take what is there
   and then fail, and every sleeper wakes. */
static inline void weft_lock_free_queue_close(weft_lock_free_queue *q) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  for (int32_t ticket = weft__hint(ring.tail);;) {
    int32_t *at = weft__lock_free_entry(ring, ticket);
    int32_t free = weft__lock_free_lap(ring, ticket);
    int32_t closed = free | WEFT_LOCK_FREE_QUEUE_CLOSED;
    int32_t seen = weft__compare_exchange(at, free, closed);
    if (seen == free || seen == closed) break;
    ticket = weft__lock_free_after_put(ring, ticket, seen);
  }
  weft__event_wake(&q->pop_epoch, WEFT__ALL);
  weft__event_wake(&q->push_epoch, WEFT__ALL);
}

/*
 * Gets back the slots of agents that were terminated in the midst of an
 * operation; answers how many. Only for a moment in which no agent is in one,
 * or has a slot reserved or an element peeked at: their slots would be given
 * to others.
 */
static inline int32_t weft_lock_free_queue_repair(weft_lock_free_queue *q) {
  weft__lock_free_ring ring = weft__lock_free_ring_of_queue(q);
  weft__lock_free_ring free = weft__lock_free_ring_of_free(q);
  const int32_t n = ring.filled;
  int32_t before = weft__lock_free_count(free);
  for (int32_t i = 0; i < n; i++) free.entries[i] = 1; /* slot i is free */
  int32_t ticket = weft__lock_free_front(ring);
  for (int32_t left = weft__lock_free_count(ring); left > 0; left--) {
    free.entries[*weft__lock_free_entry(ring, ticket) & (n - 1)] = 0;
    ticket = weft__plus(ticket, 1);
  }
  int32_t count = 0;
  for (int32_t slot = 0; slot < n - 1; slot++)
    if (free.entries[slot] == 1) free.entries[count++] = n | slot;
  for (int32_t i = count; i < n; i++) free.entries[i] = 0;
  weft__store(&q->free_head, 0);
  weft__store(&q->free_tail, count);
  if (count > before) weft__event_wake(&q->push_epoch, count - before);
  return count - before;
}

/* ---- record_ring (primitives/record_ring.ts) -------------------------------- */

#define WEFT_RECORD_RING_CLOSED_BIT 1
#define WEFT_RECORD_RING_POSITION_MASK (~7)
/* In claimant: somebody waits for the claim to end. */
#define WEFT_RECORD_RING_CONTENDED_BIT (1 << 28)
#define WEFT_RECORD_RING_OWNER_MASK 0x0fffffff
/* The states of a record, in the low bits of its first word. */
#define WEFT_RECORD_RING_RESERVED 1
#define WEFT_RECORD_RING_COMMITTED 2
#define WEFT_RECORD_RING_SKIPPED 3
/* Bytes of a record's head. */
#define WEFT__RECORD_HEADER 8
/* Longer records are copied after the claim has ended. */
#define WEFT__RECORD_SHORT 1024

/* How a ring is made: \`capacity\` bytes, 16 to 2^30, rounded up to a power of
   two; \`single\` if only one agent pushes, which is faster. */
typedef struct {
  int32_t capacity;
  bool single;
} weft_record_ring_config;

/* A ring of byte records; \`RecordRing\` in JavaScript. They lie behind these
   words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t single;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail;       /* where the next record goes, in bytes; bit 0 CLOSED */
  int32_t claimant;   /* agent that moves tail just now, or 0 */
  int32_t head_cache; /* what the producers last saw of head */
  int32_t _pad1[29];
  int32_t head;       /* where the consumer reads next, in bytes */
  int32_t tail_cache; /* what the consumer last saw of tail */
  int32_t _pad2[30];
  int32_t pop_epoch; /* the consumer sleeps here */
  int32_t pop_waiters;
  int32_t _pad3[30];
  int32_t push_epoch; /* producers sleep here */
  int32_t push_waiters;
  int32_t _pad4[30]; /* the records follow */
} weft_record_ring;
WEFT_WORD(record_ring, magic, 0);
WEFT_WORD(record_ring, capacity, 1);
WEFT_WORD(record_ring, single, 2);
WEFT_WORD(record_ring, seal, 3);
WEFT_WORD(record_ring, tail, 32);
WEFT_WORD(record_ring, claimant, 33);
WEFT_WORD(record_ring, head_cache, 34);
WEFT_WORD(record_ring, head, 64);
WEFT_WORD(record_ring, tail_cache, 65);
WEFT_WORD(record_ring, pop_epoch, 96);
WEFT_WORD(record_ring, pop_waiters, 97);
WEFT_WORD(record_ring, push_epoch, 128);
WEFT_WORD(record_ring, push_waiters, 129);
WEFT_LENGTH(record_ring, 160);

/* The capacity rounded up to a power of two, or 0 if it is out of range. */
static inline int32_t weft__record_rounded(int32_t capacity) {
  int32_t rounded = 16;
  if (capacity < 16 || capacity > 1 << 30) return 0;
  while (rounded < capacity) rounded *= 2;
  return rounded;
}

/* The bytes a ring of this configuration occupies; 0 if out of range. */
static inline size_t weft_record_ring_bytes(weft_record_ring_config config) {
  size_t capacity = (size_t)weft__record_rounded(config.capacity);
  return capacity == 0 ? 0 : sizeof(weft_record_ring) + capacity;
}

/* The ring at \`at\`, or NULL: see weft_attach_error. */
static inline weft_record_ring *weft_record_ring_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_record_ring) != NULL) return NULL;
  return (weft_record_ring *)at;
}

/* Makes a region that nobody uses yet an empty ring; NULL if the
   configuration, or the place, is out of range. */
static inline weft_record_ring *weft_record_ring_init(
    void *at, weft_record_ring_config config) {
  weft_record_ring *r = (weft_record_ring *)at;
  size_t bytes = weft_record_ring_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  r->capacity = weft__record_rounded(config.capacity);
  r->single = config.single ? 1 : 0;
  r->seal = weft__seal(WEFT_KIND_record_ring, r->capacity, r->single);
  weft__store(&r->magic, weft__magic(WEFT_KIND_record_ring));
  return r;
}

/* Bytes the ring has. */
static inline int32_t weft_record_ring_capacity(const weft_record_ring *r) {
  return r->capacity;
}

/* The most bytes of a record. */
static inline int32_t weft_record_ring_max_length(const weft_record_ring *r) {
  return r->capacity / 2 - WEFT__RECORD_HEADER;
}

/* Whether only one agent may push. */
static inline bool weft_record_ring_single(const weft_record_ring *r) {
  return r->single != 0;
}

/* Bytes in use, heads included; a moment later it may be another number. */
static inline int32_t weft_record_ring_used(const weft_record_ring *r) {
  int32_t head = weft__load(&r->head);
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  uint32_t used = (uint32_t)weft__minus(tail, head);
  return used < (uint32_t)r->capacity ? (int32_t)used : r->capacity;
}

/* Whether close was called; records may still be in the ring. */
static inline bool weft_record_ring_closed(const weft_record_ring *r) {
  return (weft__load(&r->tail) & WEFT_RECORD_RING_CLOSED_BIT) != 0;
}

/* The agent that has the claim just now, or 0. */
static inline int32_t weft_record_ring_claimant(const weft_record_ring *r) {
  return weft__load(&r->claimant) & WEFT_RECORD_RING_OWNER_MASK;
}

/* The bytes a record occupies. */
static inline int32_t weft__record_space(int32_t length) {
  return ((length + 7) & ~7) + WEFT__RECORD_HEADER;
}

/* A record's first word. */
static inline int32_t weft__record_word(int32_t length, int32_t state) {
  return (int32_t)((uint32_t)length << 2 | (uint32_t)state);
}

static inline int32_t weft__record_length(int32_t word) {
  return (int32_t)((uint32_t)word >> 2);
}

/* The record at a position. */
static inline int32_t *weft__record_at(const weft_record_ring *r,
                                       int32_t position) {
  return (int32_t *)(uintptr_t)(r + 1) + (position & (r->capacity - 1)) / 4;
}

/* From \`tail\` to behind a record of \`length\` bytes, with what is skipped. */
static inline int32_t weft__record_total(const weft_record_ring *r,
                                         int32_t tail, int32_t length) {
  int32_t space = weft__record_space(length);
  int32_t left = r->capacity - (tail & (r->capacity - 1));
  return left < space ? left + space : space;
}

/* Takes the claim, if it comes free within a microsecond or so. */
static inline bool weft__record_begin_claim(weft_record_ring *r) {
  int32_t id = weft_agent_id();
  /* Who has it needs a tenth of a microsecond, if it runs. */
  for (int i = 8 * (WEFT_SPIN_ROUNDS < 2 ? WEFT_SPIN_ROUNDS : 2);; i--) {
    int32_t owner = weft__compare_exchange(&r->claimant, 0, id);
    if (owner == 0) return true;
    if (i <= 0) {
      /* (W) Who waits wants to be woken: by this owner, if it is one still. */
      int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT;
      int32_t seen = weft__compare_exchange(&r->claimant, owner, marked);
      if (seen == owner) return false;
    } else {
      weft__relax_briefly();
    }
  }
}

static inline void weft__record_end_claim(weft_record_ring *r) {
  if (r->single) return;
  /* Pairs with (W). */
  if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT)
    weft__event_wake(&r->push_epoch, WEFT__ALL);
}

/* Finds room for a record, which is in *record, with the claim ours: 0, or
   EBUSY or EPIPE without it. */
static inline int weft__record_claim(weft_record_ring *r, int32_t length,
                                     int32_t **record) {
  if (!r->single && !weft__record_begin_claim(r)) return EBUSY;
  int32_t tail = weft__hint(&r->tail); /* ours: only close changes it */
  int32_t total = weft__record_total(r, tail, length);
  int result = tail & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;
  if (result == 0 &&
      total > weft__minus(r->capacity, weft__minus(tail, r->head_cache))) {
    r->head_cache = weft__load(&r->head); /* pairs with (F) */
    if (total > weft__minus(r->capacity, weft__minus(tail, r->head_cache)))
      result = weft_record_ring_closed(r) ? EPIPE : EBUSY;
  }
  if (result != 0) {
    weft__record_end_claim(r);
    return result;
  }
  int32_t space = weft__record_space(length);
  *record = weft__record_at(r, tail);
  if (total > space) { /* published by (P) */
    (*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER,
                                     WEFT_RECORD_RING_SKIPPED);
    *record = weft__record_at(r, 0);
  }
  return 0;
}

/* (P) Moves tail behind \`record\`, of \`length\` bytes, and ends the claim. */
static inline int weft__record_publish(weft_record_ring *r,
                                       const int32_t *record, int32_t length) {
  int32_t tail = weft__hint(&r->tail);
  int32_t seen = tail;
  if ((tail & WEFT_RECORD_RING_CLOSED_BIT) == 0) {
    int32_t total = weft__record_space(length);
    /* Where it began was decided by the length that was reserved. */
    if (record != weft__record_at(r, tail))
      total += r->capacity - (tail & (r->capacity - 1));
    seen = weft__compare_exchange(&r->tail, tail, weft__plus(tail, total));
  }
  weft__record_end_claim(r);
  return seen & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;
}

/*
 * Begins to append a record of \`length\` bytes in place, at *at: write it there,
 * then commit or cancel. 0, EBUSY if there is no room, EPIPE, or EINVAL if
 * length is not 0 to max_length.
 */
static inline int weft_record_ring_reserve(weft_record_ring *r, int32_t length,
                                           void **at) {
  int32_t *record = NULL;
  if (length < 0 || length > weft_record_ring_max_length(r)) return EINVAL;
  int result = weft__record_claim(r, length, &record);
  if (result != 0) return result;
  record[0] = weft__record_word(length, WEFT_RECORD_RING_RESERVED);
  record[1] = weft_agent_id(); /* both published by (P) */
  *at = record + 2;
  return r->single ? 0 : weft__record_publish(r, record, length);
}

/* Appends the record reserved at \`at\`, or its first \`length\` bytes; EINVAL if
   that is more than was reserved, EPIPE if the ring is single and closed. */
static inline int weft_record_ring_commit(weft_record_ring *r, void *at,
                                          int32_t length) {
  int32_t *record = (int32_t *)at - 2;
  int32_t reserved = weft__record_length(weft__load(record));
  int result = 0;
  if (length < 0 || length > reserved) return EINVAL;
  if (r->single) {
    record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);
    result = weft__record_publish(r, record, length); /* (P) */
  } else {
    int32_t space = weft__record_space(length);
    int32_t rest = weft__record_space(reserved) - space;
    if (rest > 0) /* published by (C) */
      record[space / 4] = weft__record_word(rest - WEFT__RECORD_HEADER,
                                            WEFT_RECORD_RING_SKIPPED);
    /* (C) */
    weft__store(record, weft__record_word(length, WEFT_RECORD_RING_COMMITTED));
  }
  if (result == 0) weft__event_wake(&r->pop_epoch, 1);
  return result;
}

/* Gives the record reserved at \`at\` up. */
static inline void weft_record_ring_cancel(weft_record_ring *r, void *at) {
  int32_t *record = (int32_t *)at - 2;
  if (r->single) return; /* nobody has seen it */
  weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);
  weft__event_wake(&r->pop_epoch, 1); /* for what it held back */
}

/* Appends \`length\` bytes as a record: 0, EBUSY if there is no room for it,
   EPIPE, or EINVAL if length is not 0 to max_length. */
static inline int weft_record_ring_try_push(weft_record_ring *r,
                                            const void *src, int32_t length) {
  int32_t *record = NULL;
  if (length < 0 || length > weft_record_ring_max_length(r)) return EINVAL;
  if (length > WEFT__RECORD_SHORT && !r->single) {
    void *at = NULL;
    int result = weft_record_ring_reserve(r, length, &at);
    if (result != 0) return result;
    __builtin_memcpy(at, src, (size_t)length);
    return weft_record_ring_commit(r, at, length);
  }
  int result = weft__record_claim(r, length, &record);
  if (result != 0) return result;
  record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);
  if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length);
  result = weft__record_publish(r, record, length); /* (P) */
  if (result == 0) weft__event_wake(&r->pop_epoch, 1);
  return result;
}

/* The oldest record, in *record: 0, EBUSY if there is none, or EPIPE. */
static inline int weft__record_oldest(weft_record_ring *r, int32_t **record) {
  for (;;) {
    int32_t head = weft__hint(&r->head); /* our own: nobody else moves it */
    if (head == r->tail_cache) {
      int32_t tail = weft__load(&r->tail);
      r->tail_cache = tail & WEFT_RECORD_RING_POSITION_MASK;
      if (head == r->tail_cache)
        return tail & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : EBUSY;
    }
    *record = weft__record_at(r, head);
    /* With one producer committed by (P), else by (C). */
    int32_t first = weft__load(*record);
    if ((first & 3) == WEFT_RECORD_RING_COMMITTED) return 0;
    if ((first & 3) == WEFT_RECORD_RING_RESERVED) return EBUSY;
    int32_t space = weft__record_space(weft__record_length(first));
    weft__store(&r->head, weft__plus(head, space));
    weft__event_wake(&r->push_epoch, WEFT__ALL);
  }
}

/* Begins to take the oldest record in place, and answers its length in
   *length: where it lies, or NULL if there is none. Read it, then consume. */
static inline const void *weft_record_ring_peek(weft_record_ring *r,
                                                int32_t *length) {
  int32_t *record = NULL;
  if (weft__record_oldest(r, &record) != 0) return NULL;
  *length = weft__record_length(weft__load(record));
  return record + 2;
}

/* Takes the record that was peeked at. */
static inline void weft_record_ring_consume(weft_record_ring *r) {
  int32_t head = weft__hint(&r->head);
  int32_t first = weft__load(weft__record_at(r, head));
  int32_t space = weft__record_space(weft__record_length(first));
  weft__store(&r->head, weft__plus(head, space)); /* (F) */
  weft__event_wake(&r->push_epoch, WEFT__ALL);
}

/* Moves the oldest record to \`dst\`, which has \`*length\` bytes, and answers its
   length there: 0, EBUSY if there is none, EPIPE, or EINVAL if it is longer
   than that, and stays. */
static inline int weft_record_ring_try_pop(weft_record_ring *r, void *dst,
                                           int32_t *length) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result != 0) return result;
  int32_t found = weft__record_length(weft__load(record));
  if (found > *length) return EINVAL;
  if (found > 0) __builtin_memcpy(dst, record + 2, (size_t)found);
  *length = found;
  weft_record_ring_consume(r);
  return 0;
}

/* Calls \`fn\` with \`context\` and up to \`limit\` of the oldest records, in place.
   How many there were, or -EPIPE if the ring was closed and is empty. */
static inline int32_t weft_record_ring_read(
    weft_record_ring *r, void (*fn)(void *context, const void *, int32_t),
    void *context, int32_t limit) {
  int32_t count = 0;
  for (; count < limit; count++) {
    int32_t *record = NULL;
    int result = weft__record_oldest(r, &record);
    if (result == EPIPE && count == 0) return -EPIPE;
    if (result != 0) break;
    fn(context, record + 2, weft__record_length(weft__load(record)));
    weft_record_ring_consume(r);
  }
  return count;
}

/* Nobody has another's wake: all producers are woken at a time. */
static inline void weft__record_pass_push(weft_record_ring *r) { (void)r; }

/* What was held back by the record just taken had its wakes before. */
static inline void weft__record_pass_pop(weft_record_ring *r) {
  int32_t *record = NULL;
  int result = weft__record_oldest(r, &record);
  if (result != EBUSY)
    weft__event_wake(&r->pop_epoch, result == 0 ? 1 : WEFT__ALL);
}

#ifndef WEFT_REALTIME /* what may wait */
/* As try_push, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_record_ring_push(weft_record_ring *q, const void *src,
                                        int32_t length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_record_ring_try_push(q, src, length), &q->push_epoch,
                    weft__record_pass_push, timeout);
}

/* As try_pop, blocking up to \`timeout\` ns; ETIMEDOUT if nothing came. */
static inline int weft_record_ring_pop(weft_record_ring *q, void *dst,
                                       int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_record_ring_try_pop(q, dst, length), &q->pop_epoch,
                    weft__record_pass_pop, timeout);
}
#endif

/* Closes the ring for good: pushes fail from now on, pops take what is there
   and what is reserved, and then fail, and every sleeper wakes. */
static inline void weft_record_ring_close(weft_record_ring *r) {
  if (weft__or(&r->tail, WEFT_RECORD_RING_CLOSED_BIT) &
      WEFT_RECORD_RING_CLOSED_BIT)
    return;
  weft__event_wake(&r->pop_epoch, WEFT__ALL);
  weft__event_wake(&r->push_epoch, WEFT__ALL);
}

/* Takes the claim, from agent \`id\` if it has it. */
static inline bool weft__record_take_over(weft_record_ring *r, int32_t id) {
  for (;;) {
    int32_t owner = weft__load(&r->claimant);
    if ((owner & WEFT_RECORD_RING_OWNER_MASK) != id)
      return weft__record_begin_claim(r);
    int32_t ours =
        weft_agent_id() | (owner & WEFT_RECORD_RING_CONTENDED_BIT);
    if (weft__compare_exchange(&r->claimant, owner, ours) == owner)
      return true;
  }
}

/*
 * Ends the claim of agent \`id\`, known never to run again, and skips what it had
 * reserved; answers how many records that were. -1 if another agent has the
 * claim just now: then again later, or abandon that claimant first.
 */
static inline int32_t weft_record_ring_abandon(weft_record_ring *r,
                                               int32_t id) {
  int32_t count = 0;
  if (id == 0 || r->single) return 0;
  /* While the claim is ours, nothing is written over what we read. */
  if (!weft__record_take_over(r, id)) return -1;
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  for (int32_t at = weft__load(&r->head); weft__minus(tail, at) > 0;) {
    int32_t *record = weft__record_at(r, at);
    int32_t first = weft__load(record);
    if ((first & 3) == WEFT_RECORD_RING_RESERVED && record[1] == id) {
      weft__store(record, first | WEFT_RECORD_RING_SKIPPED);
      count++;
    }
    at = weft__plus(at, weft__record_space(weft__record_length(first)));
  }
  weft__record_end_claim(r);
  if (count > 0) weft__event_wake(&r->pop_epoch, WEFT__ALL);
  return count;
}

#ifndef WEFT_REALTIME /* what may wait */

/* ---- broadcast (primitives/broadcast.ts) ------------------------------------ */

/* In shape: the capacity's logarithm, DROP, and the number of seats. */
#define WEFT_BROADCAST_ORDER_MASK 31
#define WEFT_BROADCAST_DROP_BIT (1 << 5)
#define WEFT_BROADCAST_SEATS_SHIFT 6
#define WEFT_BROADCAST_MAX_SUBSCRIBERS 1024
/* In an owner word: the producer need not wait for this one yet. */
#define WEFT_BROADCAST_JOINING_BIT (1 << 28)
/* In tail: nothing is appended any more. */
#define WEFT_BROADCAST_CLOSED_BIT 1
/* Positions count in steps of two. */
#define WEFT_BROADCAST_ONE 2

/* How a broadcast is made: \`capacity\` elements of \`size\` bytes, as a queue; up
   to \`subscribers\` at the same time, 1 to 1024; and where one is \`capacity\`
   elements late, the producer waits, or with \`drop\` it loses the oldest. */
typedef struct {
  int32_t capacity;
  int32_t size;
  int32_t subscribers;
  bool drop;
} weft_broadcast_config;

/* A ring of which all see all; \`Broadcast\` in JavaScript. The seats and the
   elements lie behind these words. */
typedef struct {
  int32_t magic;
  int32_t shape; /* the capacity's logarithm, DROP, and the seats */
  int32_t size;
  int32_t seal;
  int32_t _pad0[28];
  int32_t tail;    /* next position to push, in steps of 2; bit 0 CLOSED */
  int32_t slowest; /* what the producer last saw of the slowest cursor */
  int32_t _pad1[30];
  int32_t pop_epoch; /* subscribers sleep here */
  int32_t pop_waiters;
  int32_t _pad2[30];
  int32_t push_epoch; /* the producer sleeps here */
  int32_t push_waiters;
  int32_t _pad3[30]; /* the seats and the elements follow */
} weft_broadcast;
WEFT_WORD(broadcast, magic, 0);
WEFT_WORD(broadcast, shape, 1);
WEFT_WORD(broadcast, size, 2);
WEFT_WORD(broadcast, seal, 3);
WEFT_WORD(broadcast, tail, 32);
WEFT_WORD(broadcast, slowest, 33);
WEFT_WORD(broadcast, pop_epoch, 64);
WEFT_WORD(broadcast, pop_waiters, 65);
WEFT_WORD(broadcast, push_epoch, 96);
WEFT_WORD(broadcast, push_waiters, 97);
WEFT_LENGTH(broadcast, 128);

/* A subscriber's words. */
typedef struct {
  int32_t cursor;  /* next position to pop, in steps of 2 */
  int32_t owner;   /* its agent, or 0 */
  int32_t dropped; /* how many elements it lost */
  int32_t _pad0[29];
} weft__broadcast_seat;

/* The configuration packed, or -1 if it is out of range. */
static inline int32_t weft__broadcast_shape(weft_broadcast_config config) {
  weft_queue_config queue = {config.capacity, config.size};
  int32_t capacity = weft__queue_capacity(queue);
  if (capacity == 0 || config.subscribers < 1) return -1;
  if (config.subscribers > WEFT_BROADCAST_MAX_SUBSCRIBERS) return -1;
  int32_t order = __builtin_ctz((unsigned)capacity);
  return order | (config.drop ? WEFT_BROADCAST_DROP_BIT : 0) |
         config.subscribers << WEFT_BROADCAST_SEATS_SHIFT;
}

/* The bytes a broadcast of this configuration occupies; 0 if out of range. */
static inline size_t weft_broadcast_bytes(weft_broadcast_config config) {
  int32_t shape = weft__broadcast_shape(config);
  if (shape < 0) return 0;
  size_t capacity = (size_t)1 << (shape & WEFT_BROADCAST_ORDER_MASK);
  return sizeof(weft_broadcast) +
         (size_t)config.subscribers * sizeof(weft__broadcast_seat) +
         capacity * (size_t)config.size;
}

/* The broadcast at \`at\`, or NULL: see weft_attach_error. */
static inline weft_broadcast *weft_broadcast_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_broadcast) != NULL) return NULL;
  return (weft_broadcast *)at;
}

/* Makes a region that nobody uses yet a broadcast without subscribers; NULL if
   the configuration, or the place, is out of range. */
static inline weft_broadcast *weft_broadcast_init(
    void *at, weft_broadcast_config config) {
  weft_broadcast *b = (weft_broadcast *)at;
  size_t bytes = weft_broadcast_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  b->shape = weft__broadcast_shape(config);
  b->size = config.size;
  b->seal = weft__seal(WEFT_KIND_broadcast, b->shape, b->size);
  weft__store(&b->magic, weft__magic(WEFT_KIND_broadcast));
  return b;
}

/* Elements the broadcast holds at most. */
static inline int32_t weft_broadcast_capacity(const weft_broadcast *b) {
  return 1 << (b->shape & WEFT_BROADCAST_ORDER_MASK);
}

/* Bytes an element has. */
static inline int32_t weft_broadcast_element_size(const weft_broadcast *b) {
  return b->size;
}

/* Subscribers there may be at the same time. */
static inline int32_t weft_broadcast_seats(const weft_broadcast *b) {
  return b->shape >> WEFT_BROADCAST_SEATS_SHIFT;
}

/* Whether a late subscriber loses elements, instead of being waited for. */
static inline bool weft_broadcast_drops(const weft_broadcast *b) {
  return (b->shape & WEFT_BROADCAST_DROP_BIT) != 0;
}

/* Whether close was called; subscribers may still have elements to see. */
static inline bool weft_broadcast_closed(const weft_broadcast *b) {
  return (weft__load(&b->tail) & WEFT_BROADCAST_CLOSED_BIT) != 0;
}

static inline weft__broadcast_seat *weft__broadcast_at(const weft_broadcast *b,
                                                       int32_t seat) {
  return (weft__broadcast_seat *)(uintptr_t)(b + 1) + seat;
}

/* How many subscribers there are. */
static inline int32_t weft_broadcast_subscribers(const weft_broadcast *b) {
  int32_t count = 0;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++)
    if (weft__load(&weft__broadcast_at(b, seat)->owner) != 0) count++;
  return count;
}

/* The element at a position. */
static inline int32_t *weft__broadcast_element(const weft_broadcast *b,
                                               int32_t position) {
  uint32_t mask = (uint32_t)weft_broadcast_capacity(b) - 1;
  int32_t *first = (int32_t *)weft__broadcast_at(b, weft_broadcast_seats(b));
  return first + (size_t)((uint32_t)position >> 1 & mask) *
                     (size_t)(b->size / 4);
}

/* Where an element's words are accessed atomically, and where plainly. */
static inline void weft__broadcast_put(weft_broadcast *b, int32_t position,
                                       const void *src) {
  const int32_t *from = (const int32_t *)src;
  int32_t *at = weft__broadcast_element(b, position);
  if (!weft_broadcast_drops(b)) {
    weft__copy(at, from, b->size / 4); /* published by (P) */
    return;
  }
  for (int32_t i = 0; i < b->size / 4; i++)
    weft__store(at + i, from[i]); /* published by (P) */
}

static inline void weft__broadcast_get(const weft_broadcast *b,
                                       int32_t position, void *dst) {
  int32_t *to = (int32_t *)dst;
  const int32_t *at = weft__broadcast_element(b, position);
  if (!weft_broadcast_drops(b)) {
    weft__copy(to, at, b->size / 4); /* published by (P) */
    return;
  }
  for (int32_t i = 0; i < b->size / 4; i++)
    to[i] = weft__load(at + i); /* published by (P) */
}

/* The slowest cursor; those that are too slow are moved on, if allowed. */
static inline int32_t weft__broadcast_scan(weft_broadcast *b, int32_t tail) {
  int32_t span = weft_broadcast_capacity(b) * WEFT_BROADCAST_ONE;
  int32_t slowest = tail;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    weft__broadcast_seat *at = weft__broadcast_at(b, seat);
    int32_t owner = weft__load(&at->owner); /* (S) pairs with (J) */
    if (owner == 0 || owner & WEFT_BROADCAST_JOINING_BIT) continue;
    int32_t cursor = weft__load(&at->cursor);
    while (weft_broadcast_drops(b) && weft__minus(tail, cursor) >= span) {
      int32_t next = weft__plus(weft__minus(tail, span), WEFT_BROADCAST_ONE);
      int32_t seen = weft__compare_exchange(&at->cursor, cursor, next);
      if (seen == cursor) {
        weft__add(&at->dropped,
                  (int32_t)((uint32_t)weft__minus(next, cursor) >> 1));
        cursor = next;
      } else {
        cursor = seen;
      }
    }
    if (weft__minus(cursor, slowest) < 0) slowest = cursor;
  }
  return slowest;
}

/* The position to push at, in *tail: 0, EBUSY if there is no room, or EPIPE. */
static inline int weft__broadcast_claim(weft_broadcast *b, int32_t *tail) {
  int32_t span = weft_broadcast_capacity(b) * WEFT_BROADCAST_ONE;
  *tail = weft__hint(&b->tail); /* our own: only close changes it meanwhile */
  if (*tail & WEFT_BROADCAST_CLOSED_BIT) return EPIPE;
  if (weft__minus(*tail, b->slowest) < span) return 0;
  b->slowest = weft__broadcast_scan(b, *tail);
  if (weft__minus(*tail, b->slowest) < span) return 0;
  return weft_broadcast_closed(b) ? EPIPE : EBUSY;
}

/* Appends the element at \`src\`: 0, EBUSY if a subscriber is late and is waited
   for, or EPIPE. The producer's. */
static inline int weft_broadcast_try_push(weft_broadcast *b, const void *src) {
  int32_t tail = 0;
  int result = weft__broadcast_claim(b, &tail);
  if (result != 0) return result;
  weft__broadcast_put(b, tail, src);
  /* (P) Lets the subscribers see the element. */
  int32_t next = weft__plus(tail, WEFT_BROADCAST_ONE);
  if (weft__compare_exchange(&b->tail, tail, next) != tail) return EPIPE;
  weft__event_wake(&b->pop_epoch, WEFT__ALL);
  return 0;
}

/* Appends a 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_broadcast_try_push_int(weft_broadcast *b,
                                              int32_t value) {
  return b->size == 4 ? weft_broadcast_try_push(b, &value) : EINVAL;
}

/* Nobody has another's wake: all are woken at a time. */
static inline void weft__broadcast_pass(weft_broadcast *b) { (void)b; }

/* As try_push, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_broadcast_push(weft_broadcast *q, const void *src,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_push(q, src), &q->push_epoch,
                    weft__broadcast_pass, timeout);
}

/* As try_push_int, blocking up to \`timeout\` ns. */
static inline int weft_broadcast_push_int(weft_broadcast *q, int32_t value,
                                          int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_push_int(q, value), &q->push_epoch,
                    weft__broadcast_pass, timeout);
}

/* Joins: a seat from which every element pushed from now on is seen, or -1 if
   all are taken. */
static inline int32_t weft_broadcast_subscribe(weft_broadcast *b) {
  int32_t id = weft_agent_id();
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    weft__broadcast_seat *at = weft__broadcast_at(b, seat);
    int32_t joining = id | WEFT_BROADCAST_JOINING_BIT;
    if (weft__hint(&at->owner) != 0) continue; /* checked at once */
    if (weft__compare_exchange(&at->owner, 0, joining) != 0) continue;
    int32_t first = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    weft__store(&at->dropped, 0);
    weft__store(&at->cursor, first);
    /* (J) Pairs with (S): a producer that does not see us yet knows of no
       cursor that is after the tail which we look at next, so it writes over
       nothing from there on; and one that sees us waits for \`first\`. */
    weft__store(&at->owner, id);
    int32_t next = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    weft__compare_exchange(&at->cursor, first, next);
    if (next != first) weft__event_wake(&b->push_epoch, WEFT__ALL);
    return seat;
  }
  return -1;
}

/* Elements the subscriber at \`seat\` lost by being too late. */
static inline int32_t weft_broadcast_dropped(const weft_broadcast *b,
                                             int32_t seat) {
  return weft__load(&weft__broadcast_at(b, seat)->dropped);
}

/* Elements for the subscriber at \`seat\` to see. */
static inline int32_t weft_broadcast_size(const weft_broadcast *b,
                                          int32_t seat) {
  int32_t cursor = weft__load(&weft__broadcast_at(b, seat)->cursor);
  int32_t tail = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
  uint32_t size = (uint32_t)weft__minus(tail, cursor) >> 1;
  int32_t capacity = weft_broadcast_capacity(b);
  return size < (uint32_t)capacity ? (int32_t)size : capacity;
}

/* Moves the next element for \`seat\` to \`dst\`: 0, EBUSY if there is none yet,
   or EPIPE if the broadcast was closed and all was seen. */
static inline int weft_broadcast_try_pop(weft_broadcast *b, int32_t seat,
                                         void *dst) {
  weft__broadcast_seat *at = weft__broadcast_at(b, seat);
  for (;;) {
    int32_t cursor = weft__hint(&at->cursor); /* the exchange checks it */
    int32_t tail = weft__load(&b->tail);
    int32_t end = tail & ~WEFT_BROADCAST_CLOSED_BIT;
    if (weft__minus(end, cursor) <= 0)
      return tail & WEFT_BROADCAST_CLOSED_BIT ? EPIPE : EBUSY;
    weft__broadcast_get(b, cursor, dst);
    int32_t next = weft__plus(cursor, WEFT_BROADCAST_ONE);
    if (weft_broadcast_drops(b)) {
      /* If the producer moved it, what was read is void. */
      if (weft__compare_exchange(&at->cursor, cursor, next) != cursor) continue;
    } else {
      weft__store(&at->cursor, next);
      weft__event_wake(&b->push_epoch, WEFT__ALL);
    }
    return 0;
  }
}

/* The next 4-byte element; EINVAL if elements are not 4 bytes. */
static inline int weft_broadcast_try_pop_int(weft_broadcast *b, int32_t seat,
                                             int32_t *value) {
  return b->size == 4 ? weft_broadcast_try_pop(b, seat, value) : EINVAL;
}

/* As try_pop, blocking up to \`timeout\` ns; ETIMEDOUT if nothing came. */
static inline int weft_broadcast_pop(weft_broadcast *q, int32_t seat,
                                     void *dst, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_pop(q, seat, dst), &q->pop_epoch,
                    weft__broadcast_pass, timeout);
}

/* As try_pop_int, blocking up to \`timeout\` ns. */
static inline int weft_broadcast_pop_int(weft_broadcast *q, int32_t seat,
                                         int32_t *value, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_broadcast_try_pop_int(q, seat, value), &q->pop_epoch,
                    weft__broadcast_pass, timeout);
}

/* Gives the seat up; it must not be used afterwards. */
static inline void weft_broadcast_leave(weft_broadcast *b, int32_t seat) {
  int32_t id = weft_agent_id();
  int32_t *owner = &weft__broadcast_at(b, seat)->owner;
  if (weft__compare_exchange(owner, id, 0) == id)
    weft__event_wake(&b->push_epoch, WEFT__ALL);
}

/* Closes the broadcast for good: pushes fail from now on, subscribers see what
   is there and then fail, and every sleeper wakes. */
static inline void weft_broadcast_close(weft_broadcast *b) {
  if (weft__or(&b->tail, WEFT_BROADCAST_CLOSED_BIT) &
      WEFT_BROADCAST_CLOSED_BIT)
    return;
  weft__event_wake(&b->pop_epoch, WEFT__ALL);
  weft__event_wake(&b->push_epoch, WEFT__ALL);
}

/* Ends the subscriptions of agent \`id\`, known never to run again; answers how
   many there were. */
static inline int32_t weft_broadcast_abandon(weft_broadcast *b, int32_t id) {
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t seat = 0; seat < weft_broadcast_seats(b); seat++) {
    int32_t *at = &weft__broadcast_at(b, seat)->owner;
    int32_t owner = weft__load(at);
    if ((owner & ~WEFT_BROADCAST_JOINING_BIT) != id) continue;
    if (weft__compare_exchange(at, owner, 0) == owner) count++;
  }
  if (count > 0) weft__event_wake(&b->push_epoch, WEFT__ALL);
  return count;
}

/* ---- channel (primitives/channel.ts) ---------------------------------------- */

/* What the messages of a channel are: bytes, UTF-8, JSON in UTF-8, an int32_t,
   a double, a struct. */
#define WEFT_CHANNEL_BINARY 1
#define WEFT_CHANNEL_TEXT 2
#define WEFT_CHANNEL_JSON 3
#define WEFT_CHANNEL_I32 4
#define WEFT_CHANNEL_F64 5
#define WEFT_CHANNEL_RECORD 6

/* How a channel is made: its codec; the messages it holds, or with BINARY,
   TEXT and JSON the bytes they may have together; the sizeof of a RECORD; and
   its shape as JavaScript has it, or 0, which fits every record of that size. */
typedef struct {
  int32_t codec;
  int32_t capacity;
  int32_t size;
  int32_t shape;
} weft_channel_config;

/* A channel of messages; \`Channel\` in JavaScript. What carries them lies behind
   these words. */
typedef struct {
  int32_t magic;
  int32_t codec;
  int32_t shape; /* what tells records of different fields apart, or 0 */
  int32_t seal;
  int32_t _pad0[28]; /* a weft_mpmc_queue or a weft_record_ring follows */
} weft_channel;
WEFT_WORD(channel, magic, 0);
WEFT_WORD(channel, codec, 1);
WEFT_WORD(channel, shape, 2);
WEFT_WORD(channel, seal, 3);
WEFT_LENGTH(channel, 32);

/* Whether messages have one size: I32, F64 and RECORD. */
static inline bool weft__channel_sized(int32_t codec) {
  return codec >= WEFT_CHANNEL_I32;
}

/* What carries the messages. */
static inline weft_mpmc_queue *weft__channel_queue(const weft_channel *c) {
  return (weft_mpmc_queue *)(uintptr_t)(c + 1);
}

static inline weft_record_ring *weft__channel_ring(const weft_channel *c) {
  return (weft_record_ring *)(uintptr_t)(c + 1);
}

/* The bytes of an element that holds \`size\` bytes. */
static inline int32_t weft__channel_padded(int32_t size) {
  return size < 0 || size > 1 << 30 ? 0 : (size + 3) / 4 * 4;
}

/* The queue or ring that a channel is made with. */
static inline weft_queue_config weft__channel_elements(
    weft_channel_config config) {
  weft_queue_config queue;
  queue.capacity = config.capacity;
  queue.size = config.codec == WEFT_CHANNEL_I32   ? 4
               : config.codec == WEFT_CHANNEL_F64 ? 8
                                                  : weft__channel_padded(
                                                        config.size);
  return queue;
}

static inline weft_record_ring_config weft__channel_records(
    weft_channel_config config) {
  weft_record_ring_config ring;
  ring.capacity = config.capacity;
  ring.single = false;
  return ring;
}

/* The bytes a channel of this configuration occupies; 0 if out of range. */
static inline size_t weft_channel_bytes(weft_channel_config config) {
  if (config.codec < WEFT_CHANNEL_BINARY || config.codec > WEFT_CHANNEL_RECORD)
    return 0;
  size_t bytes =
      weft__channel_sized(config.codec)
          ? weft_mpmc_queue_bytes(weft__channel_elements(config))
          : weft_record_ring_bytes(weft__channel_records(config));
  return bytes == 0 ? 0 : sizeof(weft_channel) + bytes;
}

/* The channel at \`at\`, or NULL: see weft_attach_error. What its messages are
   is told by weft_channel_codec. */
static inline weft_channel *weft_channel_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_channel) != NULL) return NULL;
  weft_channel *c = (weft_channel *)at;
  int32_t kind = WEFT_KIND_record_ring;
  if (weft__channel_sized(c->codec)) kind = WEFT_KIND_mpmc_queue;
  return weft_attach_error(c + 1, kind) == NULL ? c : NULL;
}

/* Makes a region that nobody uses yet an empty channel; NULL if the
   configuration, or the place, is out of range. */
static inline weft_channel *weft_channel_init(void *at,
                                              weft_channel_config config) {
  weft_channel *c = (weft_channel *)at;
  if (!weft__aligned(at) || weft_channel_bytes(config) == 0) return NULL;
  weft__zero(at, sizeof *c);
  if (weft__channel_sized(config.codec))
    weft_mpmc_queue_init(c + 1, weft__channel_elements(config));
  else
    weft_record_ring_init(c + 1, weft__channel_records(config));
  c->codec = config.codec;
  c->shape = config.codec == WEFT_CHANNEL_RECORD ? config.shape : 0;
  c->seal = weft__seal(WEFT_KIND_channel, c->codec, c->shape);
  weft__store(&c->magic, weft__magic(WEFT_KIND_channel));
  return c;
}

/* What its messages are: WEFT_CHANNEL_BINARY and so on. */
static inline int32_t weft_channel_codec(const weft_channel *c) {
  return c->codec;
}

/* Messages it holds, or bytes of messages that differ in length. */
static inline int32_t weft_channel_capacity(const weft_channel *c) {
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_capacity(weft__channel_queue(c))
             : weft_record_ring_capacity(weft__channel_ring(c));
}

/* The most bytes of a message. */
static inline int32_t weft_channel_max_length(const weft_channel *c) {
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_element_size(weft__channel_queue(c))
             : weft_record_ring_max_length(weft__channel_ring(c));
}

/* Whether close was called; messages may still be in the channel. */
static inline bool weft_channel_closed(const weft_channel *c) {
  return weft__channel_sized(c->codec)
             ? weft_mpmc_queue_closed(weft__channel_queue(c))
             : weft_record_ring_closed(weft__channel_ring(c));
}

/* An element is as long as messages are, but for a struct's padding. */
static inline int weft__channel_try_push(weft_mpmc_queue *q, const void *src,
                                         int32_t length) {
  int32_t ticket = 0;
  if (weft__channel_padded(length) != q->size) return EINVAL;
  int32_t count = weft__mpmc_claim_push(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  int32_t *element = weft__mpmc_slot(q, ticket) + 1;
  element[q->size / 4 - 1] = 0; /* the padding */
  __builtin_memcpy(element, src, (size_t)length); /* published by (P) */
  weft__mpmc_publish(q, ticket);
  weft__event_wake(&q->pop_epoch, 1);
  return 0;
}

static inline int weft__channel_try_pop(weft_mpmc_queue *q, void *dst,
                                        int32_t *length) {
  int32_t ticket = 0;
  if (weft__channel_padded(*length) < q->size) return EINVAL;
  int32_t count = weft__mpmc_claim_pop(q, 1, &ticket);
  if (count <= 0) return count == 0 ? EBUSY : -count;
  if (*length > q->size) *length = q->size;
  const int32_t *element = weft__mpmc_slot(q, ticket) + 1;
  __builtin_memcpy(dst, element, (size_t)*length); /* published by (P) */
  weft__mpmc_free(q, ticket);
  weft__event_wake(&q->push_epoch, 1);
  return 0;
}

static inline int weft__channel_push(weft_mpmc_queue *q, const void *src,
                                     int32_t length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_push(q, src, length), &q->push_epoch,
                    weft__mpmc_pass_push, timeout);
}

static inline int weft__channel_pop(weft_mpmc_queue *q, void *dst,
                                    int32_t *length, int64_t timeout) {
  WEFT__EVENT_BLOCK(weft__channel_try_pop(q, dst, length), &q->pop_epoch,
                    weft__mpmc_pass_pop, timeout);
}

/* Sends the \`length\` bytes at \`src\` without waiting: 0, EBUSY if there is no
   room for them, EPIPE if the channel was closed, or EINVAL if length is more
   than max_length, or not that of a message of one size. */
static inline int weft_channel_try_send(weft_channel *c, const void *src,
                                        int32_t length) {
  return weft__channel_sized(c->codec)
             ? weft__channel_try_push(weft__channel_queue(c), src, length)
             : weft_record_ring_try_push(weft__channel_ring(c), src, length);
}

/* As try_send, blocking up to \`timeout\` ns; ETIMEDOUT if no room came free. */
static inline int weft_channel_send(weft_channel *c, const void *src,
                                    int32_t length, int64_t timeout) {
  return weft__channel_sized(c->codec)
             ? weft__channel_push(weft__channel_queue(c), src, length, timeout)
             : weft_record_ring_push(weft__channel_ring(c), src, length,
                                     timeout);
}

/* Takes the oldest message to \`dst\`, which has \`*length\` bytes, and answers its
   length there: 0, EBUSY if there is none, EPIPE if the channel was closed and
   is empty, or EINVAL if it is longer than that, and stays. */
static inline int weft_channel_try_receive(weft_channel *c, void *dst,
                                           int32_t *length) {
  return weft__channel_sized(c->codec)
             ? weft__channel_try_pop(weft__channel_queue(c), dst, length)
             : weft_record_ring_try_pop(weft__channel_ring(c), dst, length);
}

/* As try_receive, blocking up to \`timeout\` ns; ETIMEDOUT if none came. */
static inline int weft_channel_receive(weft_channel *c, void *dst,
                                       int32_t *length, int64_t timeout) {
  return weft__channel_sized(c->codec)
             ? weft__channel_pop(weft__channel_queue(c), dst, length, timeout)
             : weft_record_ring_pop(weft__channel_ring(c), dst, length,
                                    timeout);
}

/* Closes the channel for good: sending fails from now on, receiving takes what
   is there and then fails, and every sleeper wakes. */
static inline void weft_channel_close(weft_channel *c) {
  if (weft__channel_sized(c->codec))
    weft_mpmc_queue_close(weft__channel_queue(c));
  else
    weft_record_ring_close(weft__channel_ring(c));
}

/*
 * Ends what agent \`id\`, known never to run again, had begun to send; answers
 * how many messages that were. -1 if another agent is sending just now: then
 * again later. Of messages of one size it can end none.
 */
static inline int32_t weft_channel_abandon(weft_channel *c, int32_t id) {
  if (weft__channel_sized(c->codec)) return 0;
  return weft_record_ring_abandon(weft__channel_ring(c), id);
}

/* ---- call_ring (primitives/call_ring.ts) ------------------------------------ */

/* In a state: the agent that it is about, what it is, and a sleeper. */
#define WEFT_CALL_RING_ID_MASK 0x0fffffff
#define WEFT_CALL_RING_PHASE_MASK (7 << 28)
#define WEFT_CALL_RING_WAITING_BIT INT32_MIN
/* The phases of a call, and who is the agent. */
#define WEFT_CALL_RING_FREE 0
#define WEFT_CALL_RING_CLAIMED (1 << 28) /* the caller, which writes */
#define WEFT_CALL_RING_POSTED (2 << 28)  /* the caller */
#define WEFT_CALL_RING_SERVING (3 << 28) /* the server */
#define WEFT_CALL_RING_DROPPED (4 << 28) /* the server; nobody waits */
#define WEFT_CALL_RING_REPLIED (5 << 28) /* the caller, for all from here */
#define WEFT_CALL_RING_FAILED (6 << 28)
#define WEFT_CALL_RING_LOST (7 << 28)
/* In caller: that agent was abandoned. */
#define WEFT_CALL_RING_DEAD_BIT (1 << 28)

/* In shape: slots less 1, above the words of a request. */
#define WEFT__CALL_SLOTS_SHIFT 22
#define WEFT__CALL_WORDS_MASK ((1 << WEFT__CALL_SLOTS_SHIFT) - 1)
#define WEFT__CALL_MAX_SLOTS 1024
#define WEFT__CALL_MAX_BYTES (1 << 30)

/* How a ring is made: calls that may be under way at a time, 1 to 1024, and
   the most bytes of a request, 0 to 2^24 - 4, and of a reply, both rounded up
   to multiples of 4; together at most 2^30 bytes. */
typedef struct {
  int32_t slots;
  int32_t request;
  int32_t reply;
} weft_call_ring_config;

/* A call: its slot, with the request and the reply behind these words. */
typedef struct {
  int32_t state;
  int32_t caller;
  int32_t request_length;
  int32_t reply_length;
} weft_call;

/* A ring of calls; \`CallRing\` in JavaScript. The slots lie behind these words. */
typedef struct {
  int32_t magic;
  int32_t shape; /* slots and the most words of a request */
  int32_t reply; /* most bytes of a reply */
  int32_t seal;
  int32_t closed; /* 1 after close */
  int32_t _pad0[27];
  int32_t serve_epoch; /* servers sleep here */
  int32_t serve_waiters;
  int32_t look; /* where a server looks first: a hint */
  int32_t _pad1[29];
  int32_t slot_epoch; /* callers sleep here while no slot is free */
  int32_t slot_waiters;
  int32_t _pad2[30]; /* the slots follow */
} weft_call_ring;
WEFT_WORD(call_ring, magic, 0);
WEFT_WORD(call_ring, shape, 1);
WEFT_WORD(call_ring, reply, 2);
WEFT_WORD(call_ring, seal, 3);
WEFT_WORD(call_ring, closed, 4);
WEFT_WORD(call_ring, serve_epoch, 32);
WEFT_WORD(call_ring, serve_waiters, 33);
WEFT_WORD(call_ring, look, 34);
WEFT_WORD(call_ring, slot_epoch, 64);
WEFT_WORD(call_ring, slot_waiters, 65);
WEFT_LENGTH(call_ring, 96);

/*
 * Serves a call: reads \`length\` bytes of \`request\` and writes at most
 * max_reply bytes to \`reply\`. How many it wrote; or, if it failed, -1 less the
 * bytes of a message that it wrote there instead.
 */
typedef int32_t (*weft_call_handler)(void *context, const void *request,
                                     int32_t length, void *reply);

static inline int32_t weft__call_rounded(int32_t bytes) {
  return (int32_t)(((uint32_t)bytes + 3) & ~UINT32_C(3));
}

/* The bytes of a slot, for lengths that are multiples of 4. */
static inline size_t weft__call_stride(int32_t request, int32_t reply) {
  size_t bytes = sizeof(weft_call) + (size_t)request + (size_t)reply;
  return (bytes + 127) / 128 * 128;
}

/* The bytes a ring of this configuration occupies; 0 if out of range. */
static inline size_t weft_call_ring_bytes(weft_call_ring_config config) {
  const int32_t most = WEFT__CALL_WORDS_MASK * 4;
  if (config.slots < 1 || config.slots > WEFT__CALL_MAX_SLOTS) return 0;
  if (config.request < 0 || config.request > most) return 0;
  if (config.reply < 0 || config.reply > WEFT__CALL_MAX_BYTES) return 0;
  size_t stride = weft__call_stride(weft__call_rounded(config.request),
                                    weft__call_rounded(config.reply));
  size_t room = (size_t)WEFT__CALL_MAX_BYTES - sizeof(weft_call_ring);
  if (stride > room / (size_t)config.slots) return 0;
  return sizeof(weft_call_ring) + (size_t)config.slots * stride;
}

/* The ring at \`at\`, or NULL: see weft_attach_error. */
static inline weft_call_ring *weft_call_ring_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_call_ring) != NULL) return NULL;
  return (weft_call_ring *)at;
}

/* Makes a region that nobody uses yet a ring without calls; NULL if the
   configuration, or the place, is out of range. */
static inline weft_call_ring *weft_call_ring_init(
    void *at, weft_call_ring_config config) {
  weft_call_ring *r = (weft_call_ring *)at;
  size_t bytes = weft_call_ring_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  uint32_t slots = (uint32_t)(config.slots - 1) << WEFT__CALL_SLOTS_SHIFT;
  uint32_t words = (uint32_t)weft__call_rounded(config.request) / 4;
  r->shape = (int32_t)(slots | words);
  r->reply = weft__call_rounded(config.reply);
  r->seal = weft__seal(WEFT_KIND_call_ring, r->shape, r->reply);
  weft__store(&r->magic, weft__magic(WEFT_KIND_call_ring));
  return r;
}

/* Calls that may be under way at a time. */
static inline int32_t weft_call_ring_slots(const weft_call_ring *r) {
  return (int32_t)((uint32_t)r->shape >> WEFT__CALL_SLOTS_SHIFT) + 1;
}

/* The most bytes of a request. */
static inline int32_t weft_call_ring_max_request(const weft_call_ring *r) {
  return (r->shape & WEFT__CALL_WORDS_MASK) * 4;
}

/* The most bytes of a reply. */
static inline int32_t weft_call_ring_max_reply(const weft_call_ring *r) {
  return r->reply;
}

static inline weft_call *weft__call_at(const weft_call_ring *r, int32_t slot) {
  size_t stride = weft__call_stride(weft_call_ring_max_request(r), r->reply);
  return (weft_call *)(void *)((char *)(uintptr_t)(r + 1) +
                               (size_t)slot * stride);
}

/* Slots in use; a moment later it may be another number. */
static inline int32_t weft_call_ring_pending(const weft_call_ring *r) {
  int32_t count = 0;
  for (int32_t i = weft_call_ring_slots(r); i-- > 0;)
    if (weft__load(&weft__call_at(r, i)->state) != WEFT_CALL_RING_FREE) count++;
  return count;
}

/* Whether close was called; calls may still be under way. */
static inline bool weft_call_ring_closed(const weft_call_ring *r) {
  return weft__load(&r->closed) != 0;
}

static inline int32_t weft__call_phase(int32_t state) {
  return state & WEFT_CALL_RING_PHASE_MASK;
}

/* Whether there is a slot of this phase. */
static inline bool weft__call_find(const weft_call_ring *r, int32_t phase) {
  for (int32_t i = weft_call_ring_slots(r); i-- > 0;)
    if (weft__call_phase(weft__load(&weft__call_at(r, i)->state)) == phase)
      return true;
  return false;
}

/* Claims a free slot; NULL if there is none. */
static inline weft_call *weft__call_claim(weft_call_ring *r) {
  int32_t id = weft_agent_id();
  int32_t slots = weft_call_ring_slots(r);
  int32_t slot = id % slots;
  for (int32_t i = 2 * slots; i > 0; i--) {
    weft_call *c = weft__call_at(r, slot);
    /* First by hints, which the exchange checks; then to be sure. */
    int32_t state = i > slots ? weft__hint(&c->state) : weft__load(&c->state);
    if (state == WEFT_CALL_RING_FREE &&
        weft__compare_exchange(&c->state, WEFT_CALL_RING_FREE,
                               WEFT_CALL_RING_CLAIMED | id) ==
            WEFT_CALL_RING_FREE)
      return c;
    slot = slot + 1 < slots ? slot + 1 : 0;
  }
  return NULL;
}

/* Gives a slot back that is this agent's alone. */
static inline void weft__call_free(weft_call_ring *r, weft_call *c) {
  weft__store(&c->state, WEFT_CALL_RING_FREE);
  weft__event_wake(&r->slot_epoch, 1);
}

/*
 * Posts a call of \`length\` bytes of \`request\`, whose reply is received later:
 * 0 and *call, EBUSY if no slot is free, EPIPE if the ring was closed, or EINVAL
 * if length is not 0 to max_request.
 */
static inline int weft_call_ring_try_post(weft_call_ring *r,
                                          const void *request, int32_t length,
                                          weft_call **call) {
  if (length < 0 || length > weft_call_ring_max_request(r)) return EINVAL;
  if (weft_call_ring_closed(r)) return EPIPE;
  weft_call *c = weft__call_claim(r);
  if (c == NULL) return EBUSY;
  weft__store(&c->caller, weft_agent_id());
  c->request_length = length; /* published by (P) */
  if (length > 0) __builtin_memcpy(c + 1, request, (size_t)length);
  int32_t posted = WEFT_CALL_RING_POSTED | weft_agent_id();
  weft__store(&c->state, posted); /* (P) */
  /* (C) Pairs with (E): we see the end, or servers see our call before it. */
  if (weft_call_ring_closed(r) &&
      weft__compare_exchange(&c->state, posted, WEFT_CALL_RING_FREE) == posted)
    return EPIPE;
  weft__event_wake(&r->serve_epoch, 1);
  *call = c;
  return 0;
}

static inline void weft__call_pass_slot(weft_call_ring *r) {
  if (weft__call_find(r, WEFT_CALL_RING_FREE))
    weft__event_wake(&r->slot_epoch, 1);
}

/* As try_post, blocking up to \`timeout\` ns for a slot; or ETIMEDOUT, EPERM. */
static inline int weft_call_ring_post(weft_call_ring *q, const void *request,
                                      int32_t length, weft_call **call,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_call_ring_try_post(q, request, length, call),
                    &q->slot_epoch, weft__call_pass_slot, timeout);
}

/* ---- callers */

/* Whether the call was answered. */
static inline bool weft_call_ring_ready(const weft_call *c) {
  return weft__call_phase(weft__load(&c->state)) >= WEFT_CALL_RING_REPLIED;
}

/* Waits for the answer; ETIMEDOUT if the time is over. */
static inline int weft__call_answered(weft_call *c, int64_t timeout,
                                      int64_t deadline) {
  int32_t rounds = weft__spin_rounds(timeout);
  for (int32_t round = 1; round <= rounds; round++) {
    weft__relax();
    if (!weft_call_ring_ready(c)) continue;
    weft__spin_paid(round);
    return 0;
  }
  weft__spin_failed(rounds);
  for (;;) {
    int32_t state = weft__load(&c->state);
    if (weft__call_phase(state) >= WEFT_CALL_RING_REPLIED) return 0;
    int32_t value = state | WEFT_CALL_RING_WAITING_BIT;
    /* (W) Pairs with (R): the server sees the bit, or we see its answer. */
    if (state != value &&
        weft__compare_exchange(&c->state, state, value) != state)
      continue;
    int outcome = weft__sleep(&c->state, value, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;
  }
}

static inline char *weft__call_reply_at(const weft_call_ring *r,
                                        weft_call *c) {
  return (char *)(c + 1) + weft_call_ring_max_request(r);
}

/*
 * Takes the reply to \`dst\`, which has *length bytes, and answers its length
 * there, of which no more than those were copied: 0, EBUSY if there is none
 * yet, EIO if the server failed (its message is in \`dst\`), or EOWNERDEAD if it
 * was abandoned. But for EBUSY, the call is over.
 */
static inline int weft_call_ring_try_receive(weft_call_ring *r, weft_call *c,
                                             void *dst, int32_t *length) {
  int32_t phase = weft__call_phase(weft__load(&c->state));
  if (phase < WEFT_CALL_RING_REPLIED) return EBUSY;
  int32_t most = *length;
  *length = phase == WEFT_CALL_RING_LOST ? 0 : c->reply_length; /* by (R) */
  int32_t bytes = *length < most ? *length : most;
  if (bytes > 0)
    __builtin_memcpy(dst, weft__call_reply_at(r, c), (size_t)bytes);
  weft__call_free(r, c);
  if (phase == WEFT_CALL_RING_LOST) return EOWNERDEAD;
  return phase == WEFT_CALL_RING_FAILED ? EIO : 0;
}

/* As try_receive, blocking up to \`timeout\` ns; if they pass, ETIMEDOUT, and
   the call goes on. */
static inline int weft_call_ring_receive(weft_call_ring *r, weft_call *c,
                                         void *dst, int32_t *length,
                                         int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  weft__call_answered(c, timeout, weft__deadline(timeout));
  int result = weft_call_ring_try_receive(r, c, dst, length);
  return result == EBUSY ? ETIMEDOUT : result;
}

/* Ends a call that has no answer yet; false if it has one. */
static inline bool weft__call_give_up(weft_call_ring *r, weft_call *c) {
  for (;;) {
    int32_t state = weft__load(&c->state);
    int32_t phase = weft__call_phase(state);
    if (phase >= WEFT_CALL_RING_REPLIED) return false;
    /* A server has it: the slot is the server's to give back. */
    int32_t next = WEFT_CALL_RING_FREE;
    if (phase == WEFT_CALL_RING_SERVING)
      next = WEFT_CALL_RING_DROPPED | (state & WEFT_CALL_RING_ID_MASK);
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1);
    return true;
  }
}

/* Ends a call that is not over: its reply will be thrown away. */
static inline void weft_call_ring_cancel(weft_call_ring *r, weft_call *c) {
  if (!weft__call_give_up(r, c)) weft__call_free(r, c);
}

/*
 * Calls: posts \`length\` bytes of \`request\`, and blocks up to \`timeout\` ns for
 * the reply, as receive does. EINVAL, EPIPE and EPERM: it was not posted;
 * ETIMEDOUT: it was withdrawn, or its reply will be thrown away.
 */
static inline int weft_call_ring_call(weft_call_ring *r, const void *request,
                                      int32_t length, void *reply,
                                      int32_t *reply_length, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int64_t deadline = weft__deadline(timeout);
  weft_call *c = NULL;
  int result = weft_call_ring_post(r, request, length, &c, timeout);
  if (result != 0) return result;
  if (weft__call_answered(c, timeout, deadline) != 0 &&
      weft__call_give_up(r, c))
    return ETIMEDOUT;
  return weft_call_ring_try_receive(r, c, reply, reply_length);
}

/* ---- servers */

/*
 * Takes a call, to be answered later, without waiting: 0 and *call, EBUSY if
 * there is none, or EPIPE if the ring was closed and no call is left. Any number
 * may be taken before the first is answered.
 */
static inline int weft_call_ring_try_take(weft_call_ring *r,
                                          weft_call **call) {
  int32_t id = weft_agent_id();
  int32_t slots = weft_call_ring_slots(r);
  int32_t slot = (int32_t)((uint32_t)weft__hint(&r->look) % (uint32_t)slots);
  bool closed = weft_call_ring_closed(r); /* (E) before the look */
  for (int32_t i = 2 * slots; i > 0; i--) {
    weft_call *c = weft__call_at(r, slot);
    slot = slot + 1 < slots ? slot + 1 : 0;
    /* First by hints, which the exchange checks; then to be sure. */
    int32_t state = i > slots ? weft__hint(&c->state) : weft__load(&c->state);
    while (weft__call_phase(state) == WEFT_CALL_RING_POSTED) {
      int32_t expected = state;
      int32_t waits = state & WEFT_CALL_RING_WAITING_BIT;
      state = weft__compare_exchange(&c->state, expected,
                                     WEFT_CALL_RING_SERVING | id | waits);
      if (state != expected) continue;
      __atomic_store_n(&r->look, slot, __ATOMIC_RELAXED);
      *call = c;
      return 0;
    }
  }
  return closed ? EPIPE : EBUSY;
}

static inline void weft__call_pass_serve(weft_call_ring *r) {
  if (weft__call_find(r, WEFT_CALL_RING_POSTED))
    weft__event_wake(&r->serve_epoch, 1);
}

/* As try_take, blocking up to \`timeout\` ns; or ETIMEDOUT, EPERM. */
static inline int weft_call_ring_take(weft_call_ring *q, weft_call **call,
                                      int64_t timeout) {
  WEFT__EVENT_BLOCK(weft_call_ring_try_take(q, call), &q->serve_epoch,
                    weft__call_pass_serve, timeout);
}

/* The request of a call that was taken, and its length; valid until the
   answer. */
static inline const void *weft_call_ring_request(const weft_call *c,
                                                 int32_t *length) {
  *length = c->request_length; /* published by (P) */
  return c + 1;
}

/* Room for the reply of a call that was taken: max_reply bytes. */
static inline void *weft_call_ring_space(const weft_call_ring *r,
                                         weft_call *c) {
  return weft__call_reply_at(r, c);
}

/* Whether the caller still waits for a call that was taken. */
static inline bool weft_call_ring_wanted(const weft_call *c) {
  return weft__call_phase(weft__load(&c->state)) == WEFT_CALL_RING_SERVING &&
         (weft__load(&c->caller) & WEFT_CALL_RING_DEAD_BIT) == 0;
}

/* Takes an answer back that was given to a caller that is abandoned. */
static inline bool weft__call_reclaim(weft_call_ring *r, weft_call *c,
                                      int32_t answer) {
  int32_t caller = answer & WEFT_CALL_RING_ID_MASK;
  /* Pairs with (D): we see the mark, or who made it sees the answer. That an
     agent is dead stays true, so no later call can be meant by the exchange. */
  if (weft__load(&c->caller) != (caller | WEFT_CALL_RING_DEAD_BIT) ||
      weft__compare_exchange(&c->state, answer, WEFT_CALL_RING_FREE) != answer)
    return false;
  weft__event_wake(&r->slot_epoch, 1);
  return true;
}

/* Gives a call that this agent serves its answer; ETIMEDOUT if its caller gave
   up. */
static inline int weft__call_answer(weft_call_ring *r, weft_call *c,
                                    int32_t phase) {
  for (;;) {
    int32_t state = weft__load(&c->state);
    if (weft__call_phase(state) == WEFT_CALL_RING_DROPPED) {
      weft__call_free(r, c); /* late: the slot is ours alone */
      return ETIMEDOUT;
    }
    int32_t next = phase | (weft__load(&c->caller) & WEFT_CALL_RING_ID_MASK);
    /* (R) From here on the slot is the caller's. */
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if ((state & WEFT_CALL_RING_WAITING_BIT) != 0)
      weft__notify(&c->state, WEFT__ALL);
    return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;
  }
}

/* Copies the bytes of an answer, unless they are in place. */
static inline int weft__call_put(weft_call_ring *r, weft_call *c,
                                 const void *src, int32_t length) {
  if (length < 0 || length > r->reply) return EINVAL;
  if (src != NULL && length > 0)
    __builtin_memcpy(weft__call_reply_at(r, c), src, (size_t)length);
  c->reply_length = length; /* published by (R) */
  return 0;
}

/*
 * Replies with \`length\` bytes of \`src\`, or of what was written to space if that
 * is NULL: 0, ETIMEDOUT if the caller gave up before, which does no harm, or
 * EINVAL if length is not 0 to max_reply; then the call is still to be answered.
 */
static inline int weft_call_ring_reply(weft_call_ring *r, weft_call *c,
                                       const void *src, int32_t length) {
  int result = weft__call_put(r, c, src, length);
  return result != 0 ? result
                     : weft__call_answer(r, c, WEFT_CALL_RING_REPLIED);
}

/* As reply, answering that the call failed, with a message in UTF-8. */
static inline int weft_call_ring_fail(weft_call_ring *r, weft_call *c,
                                      const void *message, int32_t length) {
  int result = weft__call_put(r, c, message, length);
  return result != 0 ? result
                     : weft__call_answer(r, c, WEFT_CALL_RING_FAILED);
}

/* Serves a call; what goes wrong is answered. */
static inline void weft__call_handle(weft_call_ring *r, weft_call *c,
                                     weft_call_handler fn, void *context) {
  int32_t length = 0;
  const void *request = weft_call_ring_request(c, &length);
  int32_t n = fn(context, request, length, weft_call_ring_space(r, c));
  int result = n < 0 ? weft_call_ring_fail(r, c, NULL, -1 - n)
                     : weft_call_ring_reply(r, c, NULL, n);
  if (result == EINVAL) weft_call_ring_fail(r, c, NULL, 0);
}

/* Serves one call by \`fn\` with \`context\`, without waiting for one: 0, EBUSY if
   there is none, or EPIPE if the ring was closed and no call is left. */
static inline int weft_call_ring_try_serve_one(weft_call_ring *r,
                                               weft_call_handler fn,
                                               void *context) {
  weft_call *c = NULL;
  int result = weft_call_ring_try_take(r, &c);
  if (result == 0) weft__call_handle(r, c, fn, context);
  return result;
}

/*
 * Serves calls by \`fn\`, blocking while there are none, until the ring is closed
 * and no call is left, or none came for \`timeout\` ns. How many it served, or
 * -EPERM.
 */
static inline int32_t weft_call_ring_serve(weft_call_ring *r,
                                           weft_call_handler fn, void *context,
                                           int64_t timeout) {
  if (!weft__may_block()) return -EPERM;
  for (int32_t count = 0;; count++) {
    weft_call *c = NULL;
    if (weft_call_ring_take(r, &c, timeout) != 0) return count;
    weft__call_handle(r, c, fn, context);
  }
}

/* ---- the end */

/*
 * Closes the ring for good: nothing is posted from now on, and callers that wait
 * for a slot fail. Calls that were posted are served still, then servers come to
 * their end; where none is left to serve them, callers wait for their timeout.
 */
static inline void weft_call_ring_close(weft_call_ring *r) {
  if (weft__exchange(&r->closed, 1) != 0) return;
  weft__event_wake(&r->serve_epoch, WEFT__ALL);
  weft__event_wake(&r->slot_epoch, WEFT__ALL);
}

static inline bool weft__call_abandon(weft_call_ring *r, weft_call *c,
                                      int32_t id) {
  int32_t dead = id | WEFT_CALL_RING_DEAD_BIT;
  /* (D) A server that answers later finds out, and gives the slot back. */
  int32_t caller = weft__compare_exchange(&c->caller, id, dead);
  for (;;) {
    int32_t state = weft__load(&c->state);
    int32_t phase = weft__call_phase(state);
    if ((state & WEFT_CALL_RING_ID_MASK) != id) {
      /* Who answered may have been terminated before it woke the caller. */
      if (phase >= WEFT_CALL_RING_REPLIED)
        weft__notify(&c->state, WEFT__ALL);
      return phase == WEFT_CALL_RING_SERVING && caller == id;
    }
    /* What is expected here names the dead agent: none of it can come again. */
    int32_t next = WEFT_CALL_RING_FREE;
    if (phase == WEFT_CALL_RING_SERVING) {
      int32_t waits = weft__load(&c->caller);
      if ((waits & WEFT_CALL_RING_DEAD_BIT) == 0)
        next = WEFT_CALL_RING_LOST | waits;
    }
    if (weft__compare_exchange(&c->state, state, next) != state) continue;
    if (next == WEFT_CALL_RING_FREE) return true;
    if ((state & WEFT_CALL_RING_WAITING_BIT) != 0)
      weft__notify(&c->state, WEFT__ALL);
    weft__call_reclaim(r, c, next);
    return true;
  }
}

/*
 * Ends the calls of agent \`id\`, known never to run again: those it made are
 * withdrawn, and who called it gets EOWNERDEAD. Answers how many there were.
 */
static inline int32_t weft_call_ring_abandon(weft_call_ring *r, int32_t id) {
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t i = 0; i < weft_call_ring_slots(r); i++)
    if (weft__call_abandon(r, weft__call_at(r, i), id)) count++;
  /* A wake that was given to the agent is passed on. */
  weft__event_wake(&r->serve_epoch, WEFT__ALL);
  weft__event_wake(&r->slot_epoch, WEFT__ALL);
  return count;
}

#endif

/* ---- work_counter (primitives/work_counter.ts) ------------------------------ */

#define WEFT_WORK_COUNTER_MAX (1 << 30)

/* The states of \`finished\`. */
#define WEFT_WORK_COUNTER_RUNNING 0
#define WEFT_WORK_COUNTER_AWAITED 1
#define WEFT_WORK_COUNTER_OVER 2

/* How a counter hands out its work: \`chunk\` tasks at a time, 1 to 2^30; or, if
   \`agents\` is above 0, guided for so many agents, up to 2^16. */
typedef struct {
  int32_t chunk;
  int32_t agents;
} weft_work_config;

/* Tasks from \`start\` up to, but not with, \`end\`; all zero holds none. */
typedef struct {
  int32_t start;
  int32_t end;
} weft_work_range;

/* A counter that hands out work; \`WorkCounter\` in JavaScript. */
typedef struct {
  int32_t magic;
  int32_t total;
  int32_t chunk; /* below 0: guided, for -chunk agents */
  int32_t seal;
  int32_t _pad0[28];
  int32_t next; /* chunks handed out (guided: tasks) */
  int32_t _pad1[31];
  int32_t done;     /* tasks done */
  int32_t target;   /* tasks to be done: total, or less once cancelled */
  int32_t finished; /* 0 running, 1 and somebody sleeps here, 2 over */
} weft_work_counter;
WEFT_WORD(work_counter, magic, 0);
WEFT_WORD(work_counter, total, 1);
WEFT_WORD(work_counter, chunk, 2);
WEFT_WORD(work_counter, seal, 3);
WEFT_WORD(work_counter, next, 32);
WEFT_WORD(work_counter, done, 64);
WEFT_WORD(work_counter, target, 65);
WEFT_WORD(work_counter, finished, 66);
WEFT_LENGTH(work_counter, 67);

/* The bytes a counter occupies. */
static inline size_t weft_work_counter_bytes(void) {
  return sizeof(weft_work_counter);
}

/* The counter at \`at\`, or NULL: see weft_attach_error. */
static inline weft_work_counter *weft_work_counter_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_work_counter) != NULL) return NULL;
  return (weft_work_counter *)at;
}

/* Makes a region that nobody uses yet a counter of \`total\` tasks, 0 to 2^30;
   NULL if that, the configuration, or the place, is out of range. */
static inline weft_work_counter *weft_work_counter_init(
    void *at, int32_t total, weft_work_config config) {
  weft_work_counter *c = (weft_work_counter *)at;
  if (!weft__aligned(at)) return NULL;
  if (total < 0 || total > WEFT_WORK_COUNTER_MAX) return NULL;
  if (config.agents < 0 || config.agents > 1 << 16) return NULL;
  if (config.agents == 0 &&
      (config.chunk < 1 || config.chunk > WEFT_WORK_COUNTER_MAX))
    return NULL;
  weft__zero(at, sizeof *c);
  c->total = total;
  c->chunk = config.agents > 0 ? -config.agents : config.chunk;
  c->seal = weft__seal(WEFT_KIND_work_counter, c->total, c->chunk);
  c->target = total;
  c->finished =
      total == 0 ? WEFT_WORK_COUNTER_OVER : WEFT_WORK_COUNTER_RUNNING;
  weft__store(&c->magic, weft__magic(WEFT_KIND_work_counter));
  return c;
}

/* What \`next\` is when nothing is left. */
static inline int32_t weft__work_counter_end(const weft_work_counter *c) {
  if (c->chunk < 0) return c->total;
  return c->total / c->chunk + (c->total % c->chunk != 0 ? 1 : 0);
}

/* Tasks handed out when \`next\` is this. */
static inline int32_t weft__work_counter_handed_out(const weft_work_counter *c,
                                                    int32_t next) {
  uint64_t step = c->chunk > 0 ? (uint64_t)c->chunk : 1;
  uint64_t tasks = (uint64_t)(uint32_t)next * step;
  return tasks < (uint64_t)c->total ? (int32_t)tasks : c->total;
}

/* Tasks not handed out yet. */
static inline int32_t weft_work_counter_remaining(const weft_work_counter *c) {
  return c->total - weft__work_counter_handed_out(c, weft__load(&c->next));
}

/* Tasks that are done. */
static inline int32_t weft_work_counter_completed(const weft_work_counter *c) {
  return weft__load(&c->done);
}

/* Whether cancel came before the last task was handed out. */
static inline bool weft_work_counter_cancelled(const weft_work_counter *c) {
  return weft__load(&c->target) < c->total;
}

static inline void weft__work_counter_take_guided(weft_work_counter *c,
                                                  weft_work_range *range) {
  int32_t agents = -c->chunk;
  int32_t next = weft__hint(&c->next); /* the exchange below checks it */
  while (next < c->total) {
    int32_t start = next;
    int32_t share = (c->total - start) / (2 * agents);
    int32_t end = start + (share > 1 ? share : 1);
    next = weft__compare_exchange(&c->next, start, end);
    if (next != start) continue;
    range->start = start;
    range->end = end;
    return;
  }
}

static inline void weft__work_counter_take(weft_work_counter *c,
                                           weft_work_range *range) {
  if (c->chunk < 0) {
    weft__work_counter_take_guided(c, range);
    return;
  }
  uint64_t chunk = (uint64_t)c->chunk;
  uint64_t total = (uint64_t)c->total;
  /* What we passed the end by, we see: no agent passes it twice. */
  if ((uint32_t)weft__hint(&c->next) * chunk >= total) return;
  uint64_t start = (uint32_t)weft__add(&c->next, 1) * chunk;
  if (start >= total) return;
  range->start = (int32_t)start;
  range->end = (int32_t)(start + chunk < total ? start + chunk : total);
}

/* The next task of the agent that keeps \`range\`, or -1 when there is none. */
static inline int32_t weft_work_counter_next(weft_work_counter *c,
                                             weft_work_range *range) {
  if (range->start == range->end) weft__work_counter_take(c, range);
  return range->start == range->end ? -1 : range->start++;
}

/* How many tasks are next, now in *range; 0 when there are none. What next had
   left of a range is dropped: an agent uses the one or the other. */
static inline int32_t weft_work_counter_next_range(weft_work_counter *c,
                                                   weft_work_range *range) {
  range->start = range->end = 0;
  weft__work_counter_take(c, range);
  return range->end - range->start;
}

static inline void weft__work_counter_finish(weft_work_counter *c) {
  int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_OVER);
  if (was == WEFT_WORK_COUNTER_AWAITED) weft__notify(&c->finished, WEFT__ALL);
}

/* Counts n tasks as done, and wakes who waits if they were the last; EINVAL if
   more tasks would be done than there are. */
static inline int weft_work_counter_done(weft_work_counter *c, int32_t n) {
  if (n < 0 || n > WEFT_WORK_COUNTER_MAX) return EINVAL;
  int32_t done = weft__hint(&c->done); /* the exchange below checks it */
  for (;;) {
    /* done only grows and target only falls: old ones refuse too little. */
    if (n > weft__hint(&c->target) - done) return EINVAL;
    int32_t seen = weft__compare_exchange(&c->done, done, done + n);
    if (seen == done) break;
    done = seen;
  }
  /* (T) Pairs with (C): we see the lower target, or cancel sees our tasks. */
  if (done + n >= weft__load(&c->target)) weft__work_counter_finish(c);
  return 0;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Blocks until all tasks are done (after cancel: all that were handed out), up
   to \`timeout\` ns; ETIMEDOUT if that time passed. */
static inline int weft_work_counter_wait(weft_work_counter *c,
                                         int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  for (int i = timeout != 0 ? WEFT_SPIN_ROUNDS : 0;; i--) {
    if (weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER) return 0;
    if (i == 0) break;
    weft__relax();
  }
  int64_t deadline = weft__deadline(timeout);
  for (;;) {
    /* Who did the last task may have been terminated before it said so. */
    if (weft__load(&c->done) >= weft__load(&c->target))
      weft__work_counter_finish(c);
    int32_t was =
        weft__compare_exchange(&c->finished, WEFT_WORK_COUNTER_RUNNING,
                               WEFT_WORK_COUNTER_AWAITED);
    if (was == WEFT_WORK_COUNTER_OVER) return 0;
    int outcome = weft__sleep(&c->finished, WEFT_WORK_COUNTER_AWAITED,
                              deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT)
      return weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER ? 0
                                                                : ETIMEDOUT;
  }
}
#endif

/* Hands out no more tasks; wait ends when those handed out are done. */
static inline void weft_work_counter_cancel(weft_work_counter *c) {
  int32_t end = weft__work_counter_end(c);
  int32_t was = weft__exchange(&c->next, end);
  if ((uint32_t)was >= (uint32_t)end) return;
  int32_t target = weft__work_counter_handed_out(c, was);
  weft__store(&c->target, target); /* (C) then look at what is done */
  if (weft__load(&c->done) >= target) weft__work_counter_finish(c);
}

/* ---- work_deque (primitives/work_deque.ts) ---------------------------------- */

/* The most items a deque can hold. */
#define WEFT_WORK_DEQUE_MAX_CAPACITY (1 << 28)

/* A deque to steal from; \`WorkDeque\` in JavaScript. The items lie behind these
   words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t seal;
  int32_t _pad0[29];
  int32_t bottom; /* where the owner pushes next */
  int32_t _pad1[31];
  int32_t top; /* what is stolen next */
  int32_t _pad2[31]; /* the items follow */
} weft_work_deque;
WEFT_WORD(work_deque, magic, 0);
WEFT_WORD(work_deque, capacity, 1);
WEFT_WORD(work_deque, seal, 2);
WEFT_WORD(work_deque, bottom, 32);
WEFT_WORD(work_deque, top, 64);
WEFT_LENGTH(work_deque, 96);

/* The capacity rounded up to a power of two, or 0 if it is out of range. */
static inline int32_t weft__deque_rounded(int32_t capacity) {
  int32_t rounded = 1;
  if (capacity < 1 || capacity > WEFT_WORK_DEQUE_MAX_CAPACITY) return 0;
  while (rounded < capacity) rounded *= 2;
  return rounded;
}

/* The bytes a deque of 1 to 2^28 items occupies; 0 if out of range. */
static inline size_t weft_work_deque_bytes(int32_t capacity) {
  size_t rounded = (size_t)weft__deque_rounded(capacity);
  return rounded == 0 ? 0 : sizeof(weft_work_deque) + rounded * 4;
}

/* The deque at \`at\`, or NULL: see weft_attach_error. */
static inline weft_work_deque *weft_work_deque_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_work_deque) != NULL) return NULL;
  return (weft_work_deque *)at;
}

/* Makes a region that nobody uses yet an empty deque; NULL if the capacity, or
   the place, is out of range. */
static inline weft_work_deque *weft_work_deque_init(void *at,
                                                    int32_t capacity) {
  weft_work_deque *d = (weft_work_deque *)at;
  size_t bytes = weft_work_deque_bytes(capacity);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  d->capacity = weft__deque_rounded(capacity);
  d->seal = weft__seal(WEFT_KIND_work_deque, d->capacity, 0);
  weft__store(&d->magic, weft__magic(WEFT_KIND_work_deque));
  return d;
}

/* Items the deque holds at most. */
static inline int32_t weft_work_deque_capacity(const weft_work_deque *d) {
  return d->capacity;
}

/* Items in the deque; a moment later it may be another number. */
static inline int32_t weft_work_deque_size(const weft_work_deque *d) {
  int32_t top = weft__load(&d->top);
  int32_t size = weft__minus(weft__load(&d->bottom), top);
  if (size < 0) return 0;
  return size < d->capacity ? size : d->capacity;
}

static inline int32_t *weft__deque_item(weft_work_deque *d, int32_t i) {
  return (int32_t *)(d + 1) + (i & (d->capacity - 1));
}

/* Adds an item at the bottom; EBUSY if the deque is full. The owner's.
   Wait-free. */
static inline int weft_work_deque_push(weft_work_deque *d, int32_t item) {
  int32_t bottom = weft__hint(&d->bottom); /* our own: nobody moves it */
  if (weft__minus(bottom, weft__load(&d->top)) >= d->capacity) return EBUSY;
  /* A thief late by a lap may read this place now, for nothing: its exchange
     will fail. Were this a plain write, that would be a data race. */
  weft__store(weft__deque_item(d, bottom), item);
  weft__store(&d->bottom, weft__plus(bottom, 1)); /* (P) */
  return 0;
}

/* Takes the item pushed last; EBUSY if there is none. The owner's.
   Wait-free. */
static inline int weft_work_deque_pop(weft_work_deque *d, int32_t *item) {
  int result = 0;
  int32_t bottom = weft__minus(weft__hint(&d->bottom), 1);
  /* (B) Pairs with (T): a thief that comes later sees this item gone, or we
     see that the thief moved top. */
  weft__store(&d->bottom, bottom);
  int32_t top = weft__load(&d->top);
  int32_t left = weft__minus(bottom, top);
  if (left < 0 || (left == 0 && weft__compare_exchange(
                                    &d->top, top, weft__plus(top, 1)) != top))
    result = EBUSY;
  else
    *item = weft__hint(weft__deque_item(d, bottom)); /* our own */
  /* Empty: as top is by now. */
  if (left <= 0) weft__store(&d->bottom, weft__plus(bottom, 1));
  return result;
}

/* Takes the oldest item; EBUSY if there is none. Anybody's. Lock-free. */
static inline int weft_work_deque_steal(weft_work_deque *d, int32_t *item) {
  for (int32_t top = weft__load(&d->top);;) {
    /* (T) Pairs with (B): top is read first, bottom second. */
    int32_t left = weft__minus(weft__load(&d->bottom), top);
    if (left <= 0) return EBUSY;
    /* Published by (P). Read before the exchange: behind it, the owner may
       push into this place. */
    int32_t found = weft__load(weft__deque_item(d, top));
    int32_t seen = weft__compare_exchange(&d->top, top, weft__plus(top, 1));
    if (seen == top) {
      *item = found;
      return 0;
    }
    top = seen;
  }
}

/* Makes this agent the owner, after the last one was terminated or handed the
   deque over. An item that it was popping is lost. */
static inline void weft_work_deque_adopt(weft_work_deque *d) {
  int32_t top = weft__load(&d->top);
  int32_t left = weft__minus(weft__load(&d->bottom), top);
  if (left > 0) return;
  /* Stopped in the pop of an empty deque, or of the last item. A thief may
     have read that: its exchange must not take what we push in its place. */
  if (left == 0) {
    int32_t next = weft__plus(top, 1);
    weft__compare_exchange(&d->top, top, next);
    top = next;
  }
  weft__store(&d->bottom, top);
}

/* ---- slab_pool (primitives/slab_pool.ts) ------------------------------------ */

/* In an owner word: the block lies in that agent's cache. */
#define WEFT_SLAB_POOL_CACHED_BIT (1 << 28)
/* The most blocks in a cache: those of one word of the bitmap. */
#define WEFT_SLAB_POOL_MAX_CACHE 32

/* How a pool is made: \`capacity\` blocks of \`size\` bytes, a multiple of 4;
   together at most 2^30 bytes. */
typedef struct {
  int32_t capacity;
  int32_t size;
} weft_slab_config;

/* Free blocks that one thread keeps at hand: up to \`limit\`, which is at most
   WEFT_SLAB_POOL_MAX_CACHE. All zero holds none and keeps none. */
typedef struct {
  int32_t limit;
  int32_t count;
  int32_t blocks[WEFT_SLAB_POOL_MAX_CACHE];
} weft_slab_cache;

/* A pool of blocks; \`SlabPool\` in JavaScript. Bits, owners and blocks lie behind
   these words. */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t size;
  int32_t seal;
  int32_t _pad0[28]; /* the bitmap, the owners and the blocks follow */
} weft_slab_pool;
WEFT_WORD(slab_pool, magic, 0);
WEFT_WORD(slab_pool, capacity, 1);
WEFT_WORD(slab_pool, size, 2);
WEFT_WORD(slab_pool, seal, 3);
WEFT_LENGTH(slab_pool, 32);

/* The words of bits. */
static inline int32_t weft__slab_maps(int32_t capacity) {
  return (int32_t)(((uint32_t)capacity + 31) / 32);
}

/* The next multiple of 32. */
static inline size_t weft__slab_rounded(int32_t words) {
  return ((size_t)words + 31) / 32 * 32;
}

static inline size_t weft__slab_head(int32_t capacity) {
  return sizeof(weft_slab_pool) / 4 +
         weft__slab_rounded(weft__slab_maps(capacity)) +
         weft__slab_rounded(capacity);
}

static inline int32_t *weft__slab_map(weft_slab_pool *p, int32_t map) {
  return (int32_t *)(p + 1) + map;
}

static inline int32_t *weft__slab_owner(const weft_slab_pool *p,
                                        int32_t block) {
  return (int32_t *)(uintptr_t)(p + 1) +
         weft__slab_rounded(weft__slab_maps(p->capacity)) + block;
}

static inline void *weft__slab_at(weft_slab_pool *p, int32_t block) {
  return (char *)((int32_t *)p + weft__slab_head(p->capacity)) +
         (size_t)block * (size_t)p->size;
}

/* The bytes a pool of this configuration occupies; 0 if out of range. */
static inline size_t weft_slab_pool_bytes(weft_slab_config config) {
  const int32_t most = 1 << 30;
  if (config.size < 4 || config.size % 4 != 0 || config.size > most) return 0;
  if (config.capacity < 1 || config.capacity > most / config.size) return 0;
  return weft__slab_head(config.capacity) * 4 +
         (size_t)config.capacity * (size_t)config.size;
}

/* The pool at \`at\`, or NULL: see weft_attach_error. */
static inline weft_slab_pool *weft_slab_pool_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_slab_pool) != NULL) return NULL;
  return (weft_slab_pool *)at;
}

/* Makes a region that nobody uses yet a pool whose blocks are all free; NULL
   if the configuration, or the place, is out of range. */
static inline weft_slab_pool *weft_slab_pool_init(void *at,
                                                  weft_slab_config config) {
  weft_slab_pool *p = (weft_slab_pool *)at;
  size_t bytes = weft_slab_pool_bytes(config);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  p->capacity = config.capacity;
  p->size = config.size;
  p->seal = weft__seal(WEFT_KIND_slab_pool, p->capacity, p->size);
  /* The last word's bits behind the last block: never worth a try. */
  if (p->capacity % 32 != 0)
    *weft__slab_map(p, p->capacity / 32) =
        (int32_t)(UINT32_MAX << (p->capacity % 32));
  weft__store(&p->magic, weft__magic(WEFT_KIND_slab_pool));
  return p;
}

/* Blocks the pool has. */
static inline int32_t weft_slab_pool_capacity(const weft_slab_pool *p) {
  return p->capacity;
}

/* Bytes a block has. */
static inline int32_t weft_slab_pool_block_size(const weft_slab_pool *p) {
  return p->size;
}

/* Free blocks, without those in caches; counted one by one. */
static inline int32_t weft_slab_pool_available(const weft_slab_pool *p) {
  int32_t count = 0;
  for (int32_t block = 0; block < p->capacity; block++)
    if (weft__load(weft__slab_owner(p, block)) == 0) count++;
  return count;
}

static inline bool weft__slab_is_allocated(int32_t owner) {
  return owner != 0 && (owner & WEFT_SLAB_POOL_CACHED_BIT) == 0;
}

/* Makes a free block \`owner\`'s; false if it is not free. */
static inline bool weft__slab_claim(weft_slab_pool *p, int32_t block,
                                    int32_t owner) {
  int32_t *at = weft__slab_owner(p, block);
  return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) == 0;
}

/* Says in the bitmap that a block is worth a try. */
static inline void weft__slab_clear(weft_slab_pool *p, int32_t block) {
  int32_t bit = (int32_t)(UINT32_C(1) << (block % 32));
  weft__and(weft__slab_map(p, block / 32), ~bit);
}

/* Caches more blocks of a map, and sets their bits and \`bit\` in one step. */
static inline void weft__slab_fill(weft_slab_pool *p, weft_slab_cache *cache,
                                   int32_t map, uint32_t left, uint32_t bit) {
  int32_t kept = weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT;
  for (; left != 0 && cache->count < cache->limit; left &= left - 1) {
    int32_t block = map * 32 + __builtin_ctz(left);
    if (!weft__slab_claim(p, block, kept)) continue;
    bit |= left & (0 - left);
    cache->blocks[cache->count++] = block;
  }
  weft__or(weft__slab_map(p, map), (int32_t)bit);
}

/* A block, or NULL if none was found free. \`cache\` is this thread's own, or
   NULL. Lock-free. */
static inline void *weft_slab_pool_allocate(weft_slab_pool *p,
                                            weft_slab_cache *cache) {
  int32_t id = weft_agent_id();
  int32_t kept = id | WEFT_SLAB_POOL_CACHED_BIT;
  while (cache != NULL && cache->count > 0) {
    int32_t block = cache->blocks[--cache->count];
    if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) == kept)
      return weft__slab_at(p, block);
    /* This agent was abandoned, and lives: the block is another's by now. */
  }
  int32_t maps = weft__slab_maps(p->capacity);
  int32_t map = id % maps;
  for (int32_t i = maps; i > 0; i--) {
    int32_t taken = weft__hint(weft__slab_map(p, map)); /* the owner tells */
    if (taken == -1) taken = weft__load(weft__slab_map(p, map));
    for (uint32_t left = ~(uint32_t)taken; left != 0; left &= left - 1) {
      uint32_t bit = left & (0 - left);
      int32_t block = map * 32 + __builtin_ctz(left);
      if (!weft__slab_claim(p, block, id)) continue;
      if (cache != NULL && cache->limit > 0)
        weft__slab_fill(p, cache, map, left & (left - 1), bit);
      else
        weft__or(weft__slab_map(p, map), (int32_t)bit);
      return weft__slab_at(p, block);
    }
    map = map + 1 < maps ? map + 1 : 0;
  }
  return NULL;
}

/* Frees \`block\`, whoever allocated it; EINVAL if no block begins there, or it
   is free already. \`cache\` is this thread's own, or NULL. Lock-free. */
static inline int weft_slab_pool_free(weft_slab_pool *p, void *block,
                                      weft_slab_cache *cache) {
  uintptr_t first = (uintptr_t)weft__slab_at(p, 0);
  uintptr_t offset = (uintptr_t)block - first;
  uintptr_t number = offset / (uintptr_t)p->size;
  if ((uintptr_t)block < first || offset % (uintptr_t)p->size != 0 ||
      number >= (uintptr_t)p->capacity)
    return EINVAL;
  int32_t *at = weft__slab_owner(p, (int32_t)number);
  bool keep = cache != NULL && cache->count < cache->limit;
  int32_t next = keep ? weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT : 0;
  int32_t owner = weft__hint(at); /* the exchange below checks it */
  if (!weft__slab_is_allocated(owner)) owner = weft__load(at);
  /* If it has another owner by the time of the exchange, somebody freed it. */
  if (!weft__slab_is_allocated(owner) ||
      weft__compare_exchange(at, owner, next) != owner)
    return EINVAL;
  if (keep)
    cache->blocks[cache->count++] = (int32_t)number;
  else
    weft__slab_clear(p, (int32_t)number);
  return 0;
}

/* Gives the blocks in this thread's cache back to all. */
static inline void weft_slab_pool_release(weft_slab_pool *p,
                                          weft_slab_cache *cache) {
  int32_t kept = weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT;
  while (cache->count > 0) {
    int32_t block = cache->blocks[--cache->count];
    if (weft__compare_exchange(weft__slab_owner(p, block), kept, 0) == kept)
      weft__slab_clear(p, block);
  }
}

/*
 * Gives back the blocks that agent \`id\`, known never to run again, had in its
 * caches, and one that it may have been freeing; with \`everything\`, also all
 * that it had allocated, if none of that is in other hands. Answers how many
 * had been in its caches, or allocated.
 */
static inline int32_t weft_slab_pool_abandon(weft_slab_pool *p, int32_t id,
                                             bool everything) {
  int32_t kept = id | WEFT_SLAB_POOL_CACHED_BIT;
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t block = 0; block < p->capacity; block++) {
    int32_t owner = weft__load(weft__slab_owner(p, block));
    if (owner == 0) {
      /* Stopped before it cleared the bit. If the block is allocated just now,
         the bit is wrong the other way, which does no harm. */
      uint32_t bits = (uint32_t)weft__load(weft__slab_map(p, block / 32));
      if (bits >> (block % 32) & 1) weft__slab_clear(p, block);
    } else if ((owner == kept || (everything && owner == id)) &&
               weft__compare_exchange(weft__slab_owner(p, block), owner, 0) ==
                   owner) {
      weft__slab_clear(p, block);
      count++;
    }
  }
  return count;
}

/* ---- striped_counter (primitives/striped_counter.ts)
 * ---------------------------------------- */

/* The most stripes a counter can have. */
#define WEFT_STRIPED_COUNTER_MAX_STRIPES 1024

/* \`high\` counts these; the top 4 bits of \`low\` are its lowest ones. */
#define WEFT_STRIPED_COUNTER_SECTOR_BITS 28
#define WEFT_STRIPED_COUNTER_SECTOR (1 << WEFT_STRIPED_COUNTER_SECTOR_BITS)

/* A striped sum; \`StripedCounter\` in JavaScript. The stripes lie behind these
   words. */
typedef struct {
  int32_t magic;
  int32_t stripes;
  int32_t seal;
  int32_t claims; /* views, or threads, that took a stripe */
  int32_t _pad0[28]; /* the stripes follow */
} weft_striped_counter;
WEFT_WORD(striped_counter, magic, 0);
WEFT_WORD(striped_counter, stripes, 1);
WEFT_WORD(striped_counter, seal, 2);
WEFT_WORD(striped_counter, claims, 3);
WEFT_LENGTH(striped_counter, 32);

/* One of a counter's stripes, on a cache line of its own. */
typedef struct {
  int32_t low;  /* the sum of what was added here, modulo 2^32 */
  int32_t high; /* that sum divided by 2^28; a carry may be late */
  int32_t _pad[30];
} weft_striped_counter_stripe;

/* The bytes a counter of so many stripes, 1 to 1024, occupies; 0 if that is
   out of range. */
static inline size_t weft_striped_counter_bytes(int32_t stripes) {
  if (stripes < 1 || stripes > WEFT_STRIPED_COUNTER_MAX_STRIPES) return 0;
  return sizeof(weft_striped_counter) +
         (size_t)stripes * sizeof(weft_striped_counter_stripe);
}

/* The counter at \`at\`, or NULL: see weft_attach_error. */
static inline weft_striped_counter *weft_striped_counter_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_striped_counter) != NULL) return NULL;
  return (weft_striped_counter *)at;
}

/* Makes a region that nobody uses yet a counter with a sum of 0; NULL if the
   number of stripes, or the place, is out of range. */
static inline weft_striped_counter *weft_striped_counter_init(void *at,
                                                              int32_t stripes) {
  weft_striped_counter *c = (weft_striped_counter *)at;
  size_t bytes = weft_striped_counter_bytes(stripes);
  if (!weft__aligned(at) || bytes == 0) return NULL;
  weft__zero(at, bytes);
  c->stripes = stripes;
  c->seal = weft__seal(WEFT_KIND_striped_counter, stripes, 0);
  weft__store(&c->magic, weft__magic(WEFT_KIND_striped_counter));
  return c;
}

/* How many agents add without meeting. */
static inline int32_t weft_striped_counter_stripes(
    const weft_striped_counter *c) {
  return c->stripes;
}

/* By how much \`high\` is late, -8 to 7. */
static inline int32_t weft__striped_counter_lag(int32_t high, int32_t low) {
  uint32_t late =
      ((uint32_t)low >> WEFT_STRIPED_COUNTER_SECTOR_BITS) - (uint32_t)high;
  return (int32_t)((late + 8) & 15) - 8;
}

/* Brings \`high\` up to date; if another agent is faster, it did that. */
static inline void weft__striped_counter_carry(weft_striped_counter_stripe *s) {
  int32_t high = weft__load(&s->high);
  int32_t late = weft__striped_counter_lag(high, weft__load(&s->low));
  weft__compare_exchange(&s->high, high, weft__plus(high, late));
}

static inline void weft__striped_counter_step(weft_striped_counter_stripe *s,
                                              int32_t n) {
  int32_t low = weft__plus(weft__add(&s->low, n), n);
  /* The look may be old: then a later one, or the sum, makes it good. */
  if (weft__striped_counter_lag(weft__hint(&s->high), low) != 0)
    weft__striped_counter_carry(s);
}

/* A stripe for this thread alone, as far as there are any. */
static inline weft_striped_counter_stripe *weft_striped_counter_claim(
    weft_striped_counter *c) {
  uint32_t claims = (uint32_t)weft__add(&c->claims, 1);
  return (weft_striped_counter_stripe *)(c + 1) + claims % (uint32_t)c->stripes;
}

/* As weft_striped_counter_add, to a stripe that this thread claimed. */
static inline void weft_striped_counter_add_to(weft_striped_counter_stripe *s,
                                               int32_t n) {
  while (n > WEFT_STRIPED_COUNTER_SECTOR) {
    weft__striped_counter_step(s, WEFT_STRIPED_COUNTER_SECTOR);
    n -= WEFT_STRIPED_COUNTER_SECTOR;
  }
  while (n < -WEFT_STRIPED_COUNTER_SECTOR) {
    weft__striped_counter_step(s, -WEFT_STRIPED_COUNTER_SECTOR);
    n += WEFT_STRIPED_COUNTER_SECTOR;
  }
  weft__striped_counter_step(s, n);
}

/* Adds n, which may be negative, to the stripe that this thread's id falls on:
   two threads may meet there. More than 2^28 is added in several steps. */
static inline void weft_striped_counter_add(weft_striped_counter *c,
                                            int32_t n) {
  uint32_t id = (uint32_t)weft_agent_id() * UINT32_C(0x9e3779b1) >> 16;
  weft_striped_counter_add_to(
      (weft_striped_counter_stripe *)(c + 1) + id % (uint32_t)c->stripes, n);
}

/* The sum of all that was added; not a snapshot. */
static inline int64_t weft_striped_counter_sum(const weft_striped_counter *c) {
  const weft_striped_counter_stripe *s =
      (const weft_striped_counter_stripe *)(c + 1);
  int64_t sum = 0;
  for (int32_t i = 0; i < c->stripes; i++) {
    int32_t high = weft__load(&s[i].high);
    int32_t low;
    for (;;) {
      low = weft__load(&s[i].low);
      int32_t seen = weft__load(&s[i].high);
      if (seen == high) break;
      high = seen; /* by now, low may be far ahead of what it was */
    }
    int64_t sectors = (int64_t)high + weft__striped_counter_lag(high, low);
    sum += sectors * WEFT_STRIPED_COUNTER_SECTOR +
           (low & (WEFT_STRIPED_COUNTER_SECTOR - 1));
  }
  return sum;
}

/* ---- inspect (primitives/inspect.ts) ------------------------------------- */

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

/* A word by its name. */
typedef struct {
  const char *name;
  size_t word;
} weft__field;

/* What can be told of a primitive besides its words: in a copy of them, its
   owner, and who waits, 1 for each flag that says that somebody may. */
typedef struct {
  const char *kind;
  int32_t number; /* WEFT_KIND_, or 0 */
  int32_t (*owner)(const void *copy);
  int64_t (*waiters)(const void *copy);
  weft__field fields[16];
} weft__shown;

static inline int32_t weft__mutex_shows_owner(const void *copy) {
  return ((const weft_mutex *)copy)->state & WEFT_MUTEX_OWNER_MASK;
}

static inline int64_t weft__mutex_shows_waiters(const void *copy) {
  return ((const weft_mutex *)copy)->state & WEFT_MUTEX_CONTENDED_BIT ? 1 : 0;
}

static inline int32_t weft__rw_shows_owner(const void *copy) {
  return ((const weft_rw_lock *)copy)->writer & WEFT_MUTEX_OWNER_MASK;
}

static inline int64_t weft__rw_shows_waiters(const void *copy) {
  const weft_rw_lock *l = (const weft_rw_lock *)copy;
  int32_t pending =
      (l->state & WEFT_RW_LOCK_PENDING_MASK) / WEFT_RW_LOCK_ONE_PENDING;
  /* the writer, for the readers */
  int32_t asleep = l->state & WEFT_RW_LOCK_ASLEEP_BIT ? 1 : 0;
  return pending + asleep + (l->writer & WEFT_MUTEX_CONTENDED_BIT ? 1 : 0);
}

static inline int64_t weft__condition_shows_waiters(const void *copy) {
  const weft_condition *c = (const weft_condition *)copy;
  return weft__condition_waiting(c->even) + weft__condition_waiting(c->odd);
}

static inline int64_t weft__semaphore_shows_waiters(const void *copy) {
  return ((const weft_semaphore *)copy)->waiters;
}

static inline int64_t weft__event_shows_waiters(const void *copy) {
  int32_t state = ((const weft_event *)copy)->state;
  if (state & WEFT_EVENT_AUTO_BIT)
    return (state & WEFT_EVENT_WAITERS_MASK) / WEFT_EVENT_ONE_WAITER;
  return state & WEFT_EVENT_WAITING_BIT ? 1 : 0;
}

static inline int64_t weft__latch_shows_waiters(const void *copy) {
  return ((const weft_latch *)copy)->state & WEFT_LATCH_WAITING_BIT;
}

static inline int64_t weft__barrier_shows_waiters(const void *copy) {
  return ((const weft_barrier *)copy)->state & WEFT_BARRIER_ARRIVED_MASK;
}

static inline int32_t weft__once_shows_owner(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_RUNNER_MASK;
}

static inline int64_t weft__once_shows_waiters(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_WAITING_BIT ? 1 : 0;
}

static inline int64_t weft__spsc_shows_waiters(const void *copy) {
  const weft_spsc_queue *q = (const weft_spsc_queue *)copy;
  return (q->tail & WEFT_SPSC_QUEUE_WAITING_BIT) +
         (q->head & WEFT_SPSC_QUEUE_WAITING_BIT);
}

static inline int64_t weft__mpmc_shows_waiters(const void *copy) {
  const weft_mpmc_queue *q = (const weft_mpmc_queue *)copy;
  return (int64_t)q->pop_waiters + q->push_waiters;
}

static inline int64_t weft__lock_free_shows_waiters(const void *copy) {
  const weft_lock_free_queue *q = (const weft_lock_free_queue *)copy;
  return (int64_t)q->pop_waiters + q->push_waiters;
}

static inline int64_t weft__record_shows_waiters(const void *copy) {
  const weft_record_ring *r = (const weft_record_ring *)copy;
  return (int64_t)r->pop_waiters + r->push_waiters;
}

static inline int64_t weft__broadcast_shows_waiters(const void *copy) {
  const weft_broadcast *b = (const weft_broadcast *)copy;
  return (int64_t)b->pop_waiters + b->push_waiters;
}

static inline int64_t weft__call_shows_waiters(const void *copy) {
  const weft_call_ring *r = (const weft_call_ring *)copy;
  return (int64_t)r->serve_waiters + r->slot_waiters;
}

static inline int64_t weft__work_shows_waiters(const void *copy) {
  const weft_work_counter *c = (const weft_work_counter *)copy;
  return c->finished == WEFT_WORK_COUNTER_AWAITED ? 1 : 0;
}

#define WEFT__FIELD(type, field) {#field, offsetof(weft_##type, field) / 4}

/* The primitive number i of all; NULL after the last. */
static inline const weft__shown *weft__shown_of(size_t i) {
  static const weft__shown all[] = {
      {"mutex",
       0,
       weft__mutex_shows_owner,
       weft__mutex_shows_waiters,
       {WEFT__FIELD(mutex, state), WEFT__FIELD(mutex, starving)}},
      {"rw_lock",
       0,
       weft__rw_shows_owner,
       weft__rw_shows_waiters,
       {WEFT__FIELD(rw_lock, state), WEFT__FIELD(rw_lock, gate),
        WEFT__FIELD(rw_lock, writer), WEFT__FIELD(rw_lock, writer_starving)}},
      {"condition",
       0,
       NULL,
       weft__condition_shows_waiters,
       {WEFT__FIELD(condition, turn), WEFT__FIELD(condition, even),
        WEFT__FIELD(condition, odd)}},
      {"semaphore",
       WEFT_KIND_semaphore,
       NULL,
       weft__semaphore_shows_waiters,
       {WEFT__FIELD(semaphore, magic), WEFT__FIELD(semaphore, seal),
        WEFT__FIELD(semaphore, permits), WEFT__FIELD(semaphore, waiters),
        WEFT__FIELD(semaphore, turn), WEFT__FIELD(semaphore, bulk),
        WEFT__FIELD(semaphore, claimant), WEFT__FIELD(semaphore, claim)}},
      {"event",
       0,
       NULL,
       weft__event_shows_waiters,
       {WEFT__FIELD(event, state)}},
      {"latch",
       WEFT_KIND_latch,
       NULL,
       weft__latch_shows_waiters,
       {WEFT__FIELD(latch, magic), WEFT__FIELD(latch, seal),
        WEFT__FIELD(latch, state)}},
      {"barrier",
       WEFT_KIND_barrier,
       NULL,
       weft__barrier_shows_waiters,
       {WEFT__FIELD(barrier, magic), WEFT__FIELD(barrier, parties),
        WEFT__FIELD(barrier, seal), WEFT__FIELD(barrier, state)}},
      {"once",
       0,
       weft__once_shows_owner,
       weft__once_shows_waiters,
       {WEFT__FIELD(once, state)}},
      {"snapshot",
       WEFT_KIND_snapshot,
       NULL,
       NULL,
       {WEFT__FIELD(snapshot, magic), WEFT__FIELD(snapshot, size),
        WEFT__FIELD(snapshot, single), WEFT__FIELD(snapshot, seal),
        WEFT__FIELD(snapshot, state)}},
      {"spsc_queue",
       WEFT_KIND_spsc_queue,
       NULL,
       weft__spsc_shows_waiters,
       {WEFT__FIELD(spsc_queue, magic), WEFT__FIELD(spsc_queue, capacity),
        WEFT__FIELD(spsc_queue, size), WEFT__FIELD(spsc_queue, seal),
        WEFT__FIELD(spsc_queue, tail), WEFT__FIELD(spsc_queue, head_cache),
        WEFT__FIELD(spsc_queue, head), WEFT__FIELD(spsc_queue, tail_cache)}},
      {"mpmc_queue",
       WEFT_KIND_mpmc_queue,
       NULL,
       weft__mpmc_shows_waiters,
       {WEFT__FIELD(mpmc_queue, magic), WEFT__FIELD(mpmc_queue, capacity),
        WEFT__FIELD(mpmc_queue, size), WEFT__FIELD(mpmc_queue, seal),
        WEFT__FIELD(mpmc_queue, tail), WEFT__FIELD(mpmc_queue, head),
        WEFT__FIELD(mpmc_queue, pop_epoch),
        WEFT__FIELD(mpmc_queue, pop_waiters),
        WEFT__FIELD(mpmc_queue, push_epoch),
        WEFT__FIELD(mpmc_queue, push_waiters)}},
      {"lock_free_queue",
       WEFT_KIND_lock_free_queue,
       NULL,
       weft__lock_free_shows_waiters,
       {WEFT__FIELD(lock_free_queue, magic),
        WEFT__FIELD(lock_free_queue, capacity),
        WEFT__FIELD(lock_free_queue, size), WEFT__FIELD(lock_free_queue, seal),
        WEFT__FIELD(lock_free_queue, tail), WEFT__FIELD(lock_free_queue, head),
        WEFT__FIELD(lock_free_queue, free_tail),
        WEFT__FIELD(lock_free_queue, free_head),
        WEFT__FIELD(lock_free_queue, pop_epoch),
        WEFT__FIELD(lock_free_queue, pop_waiters),
        WEFT__FIELD(lock_free_queue, push_epoch),
        WEFT__FIELD(lock_free_queue, push_waiters)}},
      {"record_ring",
       WEFT_KIND_record_ring,
       NULL,
       weft__record_shows_waiters,
       {WEFT__FIELD(record_ring, magic), WEFT__FIELD(record_ring, capacity),
        WEFT__FIELD(record_ring, single), WEFT__FIELD(record_ring, seal),
        WEFT__FIELD(record_ring, tail), WEFT__FIELD(record_ring, claimant),
        WEFT__FIELD(record_ring, head_cache), WEFT__FIELD(record_ring, head),
        WEFT__FIELD(record_ring, tail_cache),
        WEFT__FIELD(record_ring, pop_epoch),
        WEFT__FIELD(record_ring, pop_waiters),
        WEFT__FIELD(record_ring, push_epoch),
        WEFT__FIELD(record_ring, push_waiters)}},
      {"broadcast",
       WEFT_KIND_broadcast,
       NULL,
       weft__broadcast_shows_waiters,
       {WEFT__FIELD(broadcast, magic), WEFT__FIELD(broadcast, shape),
        WEFT__FIELD(broadcast, size), WEFT__FIELD(broadcast, seal),
        WEFT__FIELD(broadcast, tail), WEFT__FIELD(broadcast, slowest),
        WEFT__FIELD(broadcast, pop_epoch), WEFT__FIELD(broadcast, pop_waiters),
        WEFT__FIELD(broadcast, push_epoch),
        WEFT__FIELD(broadcast, push_waiters)}},
      {"channel",
       WEFT_KIND_channel,
       NULL,
       NULL,
       {WEFT__FIELD(channel, magic), WEFT__FIELD(channel, codec),
        WEFT__FIELD(channel, shape), WEFT__FIELD(channel, seal)}},
      {"call_ring",
       WEFT_KIND_call_ring,
       NULL,
       weft__call_shows_waiters,
       {WEFT__FIELD(call_ring, magic), WEFT__FIELD(call_ring, shape),
        WEFT__FIELD(call_ring, reply), WEFT__FIELD(call_ring, seal),
        WEFT__FIELD(call_ring, closed), WEFT__FIELD(call_ring, serve_epoch),
        WEFT__FIELD(call_ring, serve_waiters), WEFT__FIELD(call_ring, look),
        WEFT__FIELD(call_ring, slot_epoch),
        WEFT__FIELD(call_ring, slot_waiters)}},
      {"work_counter",
       WEFT_KIND_work_counter,
       NULL,
       weft__work_shows_waiters,
       {WEFT__FIELD(work_counter, magic), WEFT__FIELD(work_counter, total),
        WEFT__FIELD(work_counter, chunk), WEFT__FIELD(work_counter, seal),
        WEFT__FIELD(work_counter, next), WEFT__FIELD(work_counter, done),
        WEFT__FIELD(work_counter, target),
        WEFT__FIELD(work_counter, finished)}},
      {"work_deque",
       WEFT_KIND_work_deque,
       NULL,
       NULL,
       {WEFT__FIELD(work_deque, magic), WEFT__FIELD(work_deque, capacity),
        WEFT__FIELD(work_deque, seal), WEFT__FIELD(work_deque, bottom),
        WEFT__FIELD(work_deque, top)}},
      {"slab_pool",
       WEFT_KIND_slab_pool,
       NULL,
       NULL,
       {WEFT__FIELD(slab_pool, magic), WEFT__FIELD(slab_pool, capacity),
        WEFT__FIELD(slab_pool, size), WEFT__FIELD(slab_pool, seal)}},
      {"striped_counter",
       WEFT_KIND_striped_counter,
       NULL,
       NULL,
       {WEFT__FIELD(striped_counter, magic),
        WEFT__FIELD(striped_counter, stripes),
        WEFT__FIELD(striped_counter, seal),
        WEFT__FIELD(striped_counter, claims)}},
  };
  return i < sizeof all / sizeof *all ? &all[i] : NULL;
}

/*
 * As weft_inspect, of the primitive that \`kind\` names, such as "mutex": what
 * zeroed memory already is says nowhere what it is. EINVAL, too, if there is no
 * such primitive, or another one at \`at\`.
 */
static inline int weft_inspect_as(const void *at, const char *kind,
                                  FILE *out) {
  const int32_t *words = (const int32_t *)at;
  const weft__shown *shown;
  size_t i = 0;
  while ((shown = weft__shown_of(i++)) != NULL)
    if (__builtin_strcmp(shown->kind, kind) == 0) break;
  if (shown == NULL || !weft__aligned(at)) return EINVAL;
  if (shown->number != 0 && weft__load(words) != weft__magic(shown->number))
    return EINVAL;
  int32_t copy[256];
  const char *comma = "";
  fprintf(out, "{\\"kind\\":\\"%s\\",\\"byteOffset\\":%zu,\\"words\\":{", shown->kind,
          (size_t)(uintptr_t)at);
  for (const weft__field *f = shown->fields; f->name != NULL; f++) {
    copy[f->word] = weft__load(words + f->word);
    fprintf(out, "%s\\"%s\\":%ld", comma, f->name, (long)copy[f->word]);
    comma = ",";
  }
  fprintf(out, "}");
  if (shown->owner != NULL)
    fprintf(out, ",\\"owner\\":%ld", (long)shown->owner(copy));
  if (shown->waiters != NULL)
    fprintf(out, ",\\"waiters\\":%lld", (long long)shown->waiters(copy));
  fprintf(out, "}\\n");
  return 0;
}

/*
 * Prints what the words of the primitive at \`at\` say, on a line: the text that
 * JSON.stringify makes of what inspect answers. It writes nothing to them, and
 * may be called at any time, on memory of agents that were terminated, too; so
 * the configuration need not match its seal. EINVAL if nothing of this layout
 * version was initialized there.
 */
static inline int weft_inspect(const void *at, FILE *out) {
  if (!weft__aligned(at)) return EINVAL;
  int32_t magic = weft__load((const int32_t *)at);
  const weft__shown *shown;
  for (size_t i = 0; (shown = weft__shown_of(i)) != NULL; i++)
    if (shown->number != 0 && weft__magic(shown->number) == magic)
      return weft_inspect_as(at, shown->kind, out);
  return EINVAL;
}

#endif /* WEFT_STDIO */

#ifdef __cplusplus
}
#endif

#endif /* WEFT_H */
`;
