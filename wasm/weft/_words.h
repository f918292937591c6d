/* _words.h - the platform and atomic words, which every header here needs. */
#ifndef WEFT__WORDS_H
#define WEFT__WORDS_H

#if defined(__cplusplus) && __cplusplus < 201402L
#error "weft.h needs C++17: compile with -std=c++17 or a later one"
#elif !defined(__cplusplus) && __STDC_VERSION__ + 0 < 201112L && \
    (__STDC_VERSION__ + 0 < 199901L || defined(__STRICT_ANSI__))
#error "weft.h needs C11: compile with -std=c11 or a later one"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<errno.h>)
#include <errno.h>
#endif
#endif
#ifndef EBUSY /* no C library: the numbers of WASI and Emscripten */
#define EBUSY 10
#define EDEADLK 16
#define EEXIST 20
#define EINVAL 28
#define EIO 29
#define ENOENT 44
#define ENOSPC 51
#define EOWNERDEAD 62
#define EOVERFLOW 61
#define EPERM 63
#define EPIPE 64
#define ENOTRECOVERABLE 56
#define ETIMEDOUT 73
#endif

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT__TSAN
#endif
#endif

#if defined(WEFT_STDIO)
#include <stdio.h> /* for weft_inspect, which prints */
#endif
#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#endif
#if defined(__EMSCRIPTEN_PTHREADS__)
#include <emscripten/threading.h>
#include <pthread.h>
#elif defined(__wasm__)
#ifndef __wasm_atomics__
#error "weft.h needs threads: build with -pthread (or -matomics)"
#endif
#elif defined(__linux__)
#if defined(__x86_64__) && defined(__LP64__)
/* Numbers of calls that never change: <sys/syscall.h> is long. */
#define WEFT__SYS_FUTEX 202
#define WEFT__SYS_RANDOM 318
#define WEFT__SYS_BARRIER 324
#else
#include <sys/syscall.h>
#define WEFT__SYS_RANDOM SYS_getrandom
#ifdef SYS_membarrier
#define WEFT__SYS_BARRIER SYS_membarrier
#endif
#endif
#include <time.h>
/* <unistd.h> is long, too, and hides it with -std=c11. In C++ the declaration
   must be the same as there, which differs between libraries. */
#if defined(__cplusplus) && !defined(__GLIBC__)
#include <unistd.h>
#elif !defined(_UNISTD_H) || !defined(__USE_MISC)
#ifdef __cplusplus
extern "C" long syscall(long number, ...) noexcept;
#else
extern long syscall(long number, ...);
#endif
#endif
#if !defined(__cplusplus) && !defined(__USE_POSIX199309)
extern int clock_gettime(int clock, struct timespec *at); /* hidden, too */
#endif
#elif defined(__APPLE__)
#include <stdlib.h>
#include <time.h>
#else
#error "weft.h knows WebAssembly, Linux and macOS"
#endif
#if defined(WEFT_PROCESS_SHARED) && !defined(__wasm__)
#include <pthread.h> /* for pthread_atfork */
#endif

#ifdef __cplusplus
#define WEFT__ASSERT(condition, text) static_assert(condition, text)
#define WEFT__THREAD_LOCAL thread_local
#define WEFT__CONSTEXPR constexpr
/* The headers use casts of C. C++ programs may have warnings against them. */
#if defined(__clang__)
#define WEFT__USELESS_CAST
#else
#define WEFT__USELESS_CAST _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
#endif
#define WEFT__BEGIN                                                     \
  _Pragma("GCC diagnostic push")                                        \
      _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") _Pragma(   \
          "GCC diagnostic ignored \"-Wzero-as-null-pointer-constant\"") \
          WEFT__USELESS_CAST extern "C" {
#define WEFT__END \
  }               \
  _Pragma("GCC diagnostic pop")
#else
#define WEFT__ASSERT(condition, text) _Static_assert(condition, text)
#define WEFT__THREAD_LOCAL _Thread_local
#define WEFT__CONSTEXPR
#define WEFT__BEGIN
#define WEFT__END
#endif

/* Ignoring the result is a mistake; for CHECKED, so is passing a null
   pointer. */
#define WEFT__RESULT __attribute__((warn_unused_result))
#define WEFT__CHECKED __attribute__((warn_unused_result, nonnull))

/* Called from many places, and hardly ever: not inline. gcc refuses that. */
#if defined(__wasm__)
#define WEFT__SELDOM __attribute__((noinline))
#else
#define WEFT__SELDOM __attribute__((cold))
#endif

/* Never inline in WebAssembly, unless a program shall be small: beside much
   code, the short way of the caller would keep its values in memory. */
#if defined(__wasm__) && !defined(__OPTIMIZE_SIZE__)
#define WEFT__ASIDE __attribute__((noinline))
#else
#define WEFT__ASIDE
#endif

/* A first round stands before its loop, unless a program shall be small: in
   WebAssembly a loop looks for interrupts in each round. */
#ifndef __OPTIMIZE_SIZE__
#define WEFT__PEELS
#endif

/* Never inline: V8 11 may lose locals that are needed after the instruction
   that waits, also those of a function that it was compiled into. */
#if defined(__wasm__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define WEFT__APART_WAITS
#define WEFT__APART inline __attribute__((noinline))
#else
#define WEFT__APART inline
#endif

/* Called from several places, where a program shall be small: one copy. */
#if defined(WEFT_KERNEL_ONE) /* kernel.c has no stack for that */
#define WEFT__SHARED
#elif defined(__wasm__) && defined(__OPTIMIZE_SIZE__)
#define WEFT__SHARED __attribute__((noinline))
#else
#define WEFT__SHARED
#endif

/* Inline in every caller, which knows one of its arguments; not where a program
   shall be small. */
#ifdef __OPTIMIZE_SIZE__
#define WEFT__KNOWN
#else
#define WEFT__KNOWN __attribute__((always_inline))
#endif

/* Called often: inline; but one copy, where a program shall be small. */
#define WEFT__QUICK WEFT__SHARED WEFT__KNOWN

/* Inline natively, where a call would take several times as long, and memory
   would have what registers can hold; and which way is often taken there. */
#if defined(__wasm__) || defined(__OPTIMIZE_SIZE__)
#define WEFT__HOT
#define WEFT__OFTEN(condition) (condition)
#else
#define WEFT__HOT __attribute__((always_inline))
#define WEFT__HOT_ONES /* may be there more than once */
#define WEFT__OFTEN(condition) __builtin_expect(!!(condition), 1)
#endif
#define WEFT__RARE(condition) (!WEFT__OFTEN(!(condition)))

WEFT__BEGIN

static inline WEFT__HOT int32_t weft__load(const int32_t *word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Reads a word that another agent may be writing plainly: the caller can do
   with any value, or looks again. ThreadSanitizer would tell of an atomic read.
   */
#if defined(__SANITIZE_THREAD__) || defined(WEFT__TSAN)
__attribute__((no_sanitize("thread"))) static inline int32_t weft__glance(
    const int32_t *word) {
  return *(const volatile int32_t *)word;
}
#else
static inline int32_t weft__glance(const int32_t *word) {
  return weft__load(word);
}
#endif

/* Reads a value that may be old: a later exchange checks it. */
static inline int32_t weft__hint(const int32_t *word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Weaker than weft__load and weft__store natively, where that is faster: what
 * the storing agent did before is visible after the load that reads the value,
 * and that is all. See _fence.h for a load behind such a store.
 */
#if defined(__wasm__)
#define WEFT__ACQUIRE __ATOMIC_SEQ_CST
#define WEFT__RELEASE __ATOMIC_SEQ_CST
#else
#define WEFT__ACQUIRE __ATOMIC_ACQUIRE
#define WEFT__RELEASE __ATOMIC_RELEASE
#endif

static inline int32_t weft__receive(const int32_t *word) {
  return __atomic_load_n(word, WEFT__ACQUIRE);
}

static inline void weft__hand(int32_t *word, int32_t value) {
  __atomic_store_n(word, value, WEFT__RELEASE);
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

/* Stores `to` if *word is `from`. Returns the old value, as in JavaScript. */
static inline int32_t weft__compare_exchange(int32_t *word, int32_t from,
                                             int32_t to) {
  __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return from;
}

/* Sums and differences wrap, as `a + b | 0` does in JavaScript. */
static inline int32_t weft__plus(int32_t a, int32_t b) {
  int32_t sum;
  (void)__builtin_add_overflow(a, b, &sum);
  return sum;
}

static inline int32_t weft__minus(int32_t a, int32_t b) {
  int32_t difference;
  (void)__builtin_sub_overflow(a, b, &difference);
  return difference;
}

/* A sum modulo 2^32, as weft__times is a product. */
static inline uint32_t weft__sum(uint32_t a, uint32_t b) {
  uint32_t sum;
  (void)__builtin_add_overflow(a, b, &sum);
  return sum;
}

/* A product modulo 2^32. Only the builtin says that this is meant, where
   clang's -fsanitize=integer reports every unsigned overflow. */
static inline WEFT__CONSTEXPR uint32_t weft__times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  (void)__builtin_mul_overflow(a, b, &product);
  return product;
}

/*
 * `n`, 1 to 2^30, rounded up to a power of two, for the macros WEFT_..._BYTES.
 * Such a macro is a constant expression if its arguments are: it gives the size
 * of a static array. It has no casts, because C++ programs may have warnings
 * against them. It is 0 where the function weft_..._bytes is 0.
 */
#define WEFT__POWER(n) (1ull << (63 - __builtin_clzll(2ull * (n) - 1)))
/* `n` rounded up to a multiple of `of`. */
#define WEFT__MULTIPLE(n, of) (((n) + ((of) - 1)) / (of) * (of))

/* An operation that does not wait tries again only if another agent was faster.
   Nobody loses this many times, so the words must be damaged. */
#ifndef WEFT__MOST_TRIES
#define WEFT__MOST_TRIES (1 << 16)
#endif

static inline void weft__copy(int32_t *to, const int32_t *from, int32_t words) {
  __builtin_memcpy(to, from, (size_t)words * 4);
}

static inline void weft__zero(void *at, size_t bytes) {
  int32_t *words = (int32_t *)at;
  for (size_t i = 0; i < bytes / 4; i++) words[i] = 0;
}

static inline bool weft__aligned(const void *at) {
  return at != NULL && (uintptr_t)at % 4 == 0;
}

/* Whether `init` may use this place: `needed` bytes, or 0 if the configuration
   is out of range, of the `bytes` at `at`. */
static inline bool weft__fits(const void *at, size_t bytes, size_t needed) {
  return weft__aligned(at) && needed != 0 && needed <= bytes;
}

WEFT__END

#endif /* WEFT__WORDS_H */
