/* _fence.h - orders "publish, then look who waits" against "announce, then look
   again". */
#ifndef WEFT__FENCE_H
#define WEFT__FENCE_H

#include "_words.h"

WEFT__BEGIN

/*
 * Each of the two agents stores one word and then loads the word that the other
 * one stored. At least one of them must see what the other one did, so each
 * store has to come before the load behind it.
 *
 * In WebAssembly, as in JavaScript, all accesses are in one order, and there is
 * nothing to do. Natively that order would cost most operations more than
 * everything else they do. So an agent that publishes, which happens often,
 * uses weft__light, and an agent that is about to sleep uses weft__heavy. On
 * Linux the light one then only keeps the compiler from changing the order, and
 * the heavy one has the system run a fence on every core that runs a thread of
 * this process. If the system cannot do that, or if processes share the memory,
 * both are fences.
 */
#if defined(__wasm__)
#define weft__fences() ((void)0)
#define weft__fence() ((void)0)
#define weft__light_if(known) ((void)(known))
#define weft__heavy() ((void)0)
#else

/* A fence. ThreadSanitizer does not know fences. */
static inline void weft__fence(void) {
#if defined(__SANITIZE_THREAD__) || defined(WEFT__TSAN)
  int32_t word = 0;
  weft__or(&word, 0);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

#if defined(__linux__) && defined(WEFT__SYS_BARRIER) && \
    !defined(WEFT_PROCESS_SHARED)
#define WEFT__ASYMMETRIC 1

enum { WEFT__MEMBARRIER = 1 << 3, WEFT__MEMBARRIER_REGISTER = 1 << 4 };

/* Whether the system runs fences for this process: 1 yes, -1 no, 0 nobody asked
   yet. */
__attribute__((weak, visibility("default"))) int32_t weft__system_fences;

/* Asks the system. It is fast while the process has one thread, so what makes a
   primitive does it. */
static inline void weft__fences(void) {
  if (weft__hint(&weft__system_fences) != 0) return;
  int kept = errno;
  bool can = syscall(WEFT__SYS_BARRIER, WEFT__MEMBARRIER_REGISTER, 0, 0) == 0;
  errno = kept;
  weft__compare_exchange(&weft__system_fences, 0, can ? 1 : -1);
}

/* `known` is true if the caller knows that the system does. */
static inline void weft__light_if(bool known) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (WEFT__RARE(!known) && WEFT__RARE(weft__hint(&weft__system_fences) <= 0))
    weft__fence();
}

static inline void weft__heavy(void) {
  weft__fences();
  weft__fence();
  if (weft__hint(&weft__system_fences) > 0)
    (void)syscall(WEFT__SYS_BARRIER, WEFT__MEMBARRIER, 0, 0);
}
#else
#define weft__fences() ((void)0)
#define weft__light_if(known) ((void)(known), weft__fence())
#define weft__heavy() weft__fence()
#endif
#endif
#define weft__light() weft__light_if(false)

WEFT__END

#endif /* WEFT__FENCE_H */
