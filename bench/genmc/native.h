/*
 * What stands in for the system, for GenMC, in front of a header as native
 * programs have it, with its weak orders. A futex is a list of sleepers as in
 * mutex.c. weft__heavy, which has the system run a fence on every core, is a
 * fence here. weft__light then has to be one, too; it pairs with no other
 * weft__light, so each program has it in one role alone, and where it has no
 * partner, it only keeps the compiler from changing the order.
 */
#include <assert.h>
#include <genmc.h>
#include <pthread.h>
#include <stdatomic.h>

/* GenMC's own headers lack these. */
#ifndef ENOTRECOVERABLE
#define ENOTRECOVERABLE 131
#endif

/* It does not know these, either. */
#define WRAPS(a, sign, b, result) \
  (*(result) = (int32_t)((uint32_t)(a)sign(uint32_t)(b)), 0)
#define __builtin_add_overflow(a, b, result) WRAPS(a, +, b, result)
#define __builtin_sub_overflow(a, b, result) WRAPS(a, -, b, result)
#define __builtin_mul_overflow(a, b, result) WRAPS(a, *, b, result)

#include "../../wasm/weft/_words.h"

#ifdef NO_RELEASE
#define weft__hand(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#endif
#ifdef NO_ACQUIRE
#define weft__receive(word) weft__hint(word)
#endif

/* Instead of agent.h and _spin.h: nobody takes a role of another, or spins. */
#define WEFT_AGENT_H
#define WEFT__SPIN_H
#define weft__may_block() true
#define weft__take_role(role) ((void)(role), 0)
#define weft__leave_role(role, id) ((void)(role), (id))
#define WEFT__SPIN(spin, own, timeout) while (false)
#define weft__spin_found(spin, found) (found)

/* Instead of _fence.h. */
#define WEFT__FENCE_H

#ifndef PUSH_WAITS
#define STEP_FENCE() atomic_thread_fence(memory_order_seq_cst)
#define MOVE_FENCE() atomic_signal_fence(memory_order_seq_cst)
#else
#define STEP_FENCE() atomic_signal_fence(memory_order_seq_cst)
#define MOVE_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

static _Thread_local int moves;
#define weft__fences() ((void)0)
#ifdef NO_LIGHT
#define weft__light() ((void)0)
#else
#define weft__light() (moves ? MOVE_FENCE() : STEP_FENCE())
#endif
#define weft__fence() atomic_thread_fence(memory_order_seq_cst)
#define weft__heavy() atomic_thread_fence(memory_order_seq_cst)

/* The list of who sleeps on a word: one word of them is used in a program. */
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static int asleep;
static atomic_int woken;

#define WEFT__WAIT_H
#define WEFT_FOREVER INT64_C(-1)
#define WEFT__LOOK 0
#define WEFT__ALL 1000
enum { WEFT__OK, WEFT__NOT_EQUAL, WEFT__TIMED_OUT, WEFT__LOOKED };

static inline int64_t weft__deadline(int64_t timeout) { return timeout; }

static inline int weft__sleep(int32_t *word, int32_t value, int64_t deadline,
                              int64_t at_most) {
  (void)deadline;
  (void)at_most;
  pthread_mutex_lock(&list);
  if (weft__load(word) != value) {
    pthread_mutex_unlock(&list);
    return WEFT__NOT_EQUAL;
  }
  int place = asleep++;
  pthread_mutex_unlock(&list);
  while (atomic_load(&woken) <= place) {
  }
  return WEFT__OK;
}

static inline int32_t weft__notify(int32_t *word, int32_t count) {
  (void)word;
  (void)count;
  pthread_mutex_lock(&list);
  int wakes = atomic_load(&woken);
  if (wakes < asleep) atomic_store(&woken, wakes + 1);
  pthread_mutex_unlock(&list);
  return 1;
}
