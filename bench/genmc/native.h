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
#ifndef EOWNERDEAD
#define EOWNERDEAD 130
#endif
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

/* The orders that a program can be compiled to leave out, one at a time. */
#ifdef NO_RELEASE
#define weft__hand(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#endif
#ifdef NO_ACQUIRE
#define weft__receive(word) weft__hint(word)
#endif
static _Thread_local int me; /* the number of the agent, which is its id */

#ifdef NO_LOAD
#define weft__load(word) weft__hint(word)
#endif
#ifdef NO_STORE
#define weft__store(word, value) __atomic_store_n(word, value, __ATOMIC_RELAXED)
#endif
#ifdef NO_STORE_LOAD /* a store may be seen after a load behind it */
#define weft__store(word, value) __atomic_store_n(word, value, __ATOMIC_RELEASE)
#endif
#ifdef NO_ADD
#define ADDING __ATOMIC_RELAXED
#else
#define ADDING __ATOMIC_SEQ_CST
#endif
/* It adds in 64 bits, so that 1 + -1 would be 2^32. */
#define weft__add(word, n)                                \
  ((n) < 0 ? __atomic_fetch_sub((word), -(n), ADDING)     \
           : __atomic_fetch_add((word), (n), ADDING))
#define weft__or(word, bits) __atomic_fetch_or((word), (bits), ADDING)
#ifdef NO_EXCHANGE
static inline int32_t relaxed_exchange(int32_t *word, int32_t from,
                                       int32_t to) {
  __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  return from;
}
#define weft__compare_exchange(word, from, to) relaxed_exchange(word, from, to)
#endif
#ifdef NO_HINT /* a plain access instead of a relaxed one */
#define weft__hint(word) (*(word))
#endif

/* Instead of agent.h and _spin.h: nobody takes a role of another, or spins. */
#define WEFT_AGENT_H
#define WEFT__SPIN_H
#define WEFT__SPIN_PATIENTLY_H
#define WEFT_SPIN_ROUNDS 0
typedef struct {
  int32_t id;
  int32_t gate;
  int64_t handed;
} weft_agent;
typedef weft_agent weft__agent_rest;
static weft_agent agents[8];
#define WEFT_AGENT() agents[me]
#define WEFT__AGENT_REST() agents[me]
#define weft_agent_id() ((int32_t)me)
#define weft__may_block() true
#define weft__take_role(role) ((void)(role), 0)
#define weft__acts(role) ((void)(role), true)
#define weft__leave_role(role, id) ((void)(role), (id))
#define WEFT__SPIN(spin, own, timeout) while (false)
#define weft__spinning int
#define weft__spin_begin(own, timeout) 0
#define weft__spin_next(spin) (spin)
#define weft__spin_found(spin, found) (found)
#define weft__spin_stop(spin) ((void)0)
#define weft__relax() ((void)0)
#define __asm__(...) /* GenMC has none; ours only hide what a pointer is */

/* Instead of _fence.h. */
#define WEFT__FENCE_H

#ifndef PUSH_WAITS
#define STEP_FENCE() atomic_thread_fence(memory_order_seq_cst)
#define MOVE_FENCE() atomic_signal_fence(memory_order_seq_cst)
#else
#define STEP_FENCE() atomic_signal_fence(memory_order_seq_cst)
#define MOVE_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif

#define weft__light_if(known) ((void)(known), weft__light())

static _Thread_local int moves;
#define weft__fences() ((void)0)
#ifdef NO_LIGHT
#define weft__light() ((void)0)
#else
#define weft__light() (moves ? MOVE_FENCE() : STEP_FENCE())
#endif
#ifdef NO_FENCE
#define weft__fence() ((void)0)
#else
#define weft__fence() atomic_thread_fence(memory_order_seq_cst)
#endif
#ifdef NO_HEAVY
#define weft__heavy() ((void)0)
#else
#define weft__heavy() atomic_thread_fence(memory_order_seq_cst)
#endif

/* The lists of who sleeps on a word. A program in which agents sleep on several
   words names them before it starts its threads. */
enum { LISTS = 4 };
static struct {
  const int32_t *word;
  pthread_mutex_t lock;
  int asleep;
  atomic_int woken;
} lists[LISTS];

static inline int list_of(const int32_t *word) {
  int i = 0;
  while (lists[i].word != NULL && lists[i].word != word) i++;
  return i;
}

/* How many agents run, and in units of ASLEEP, how many sleep. If none runs,
   but some sleep, a wake-up was lost. It is relaxed: it orders nothing. */
enum { ASLEEP = 1 << 16 };
static atomic_int crowd;
#define begins(agents) atomic_store_explicit(&crowd, agents, memory_order_relaxed)

static inline void leaves(void) {
  int left = atomic_fetch_sub_explicit(&crowd, 1, memory_order_relaxed) - 1;
  assert(left % ASLEEP != 0 || left == 0);
}

static inline void falls_asleep(void) {
  int left =
      atomic_fetch_add_explicit(&crowd, ASLEEP - 1, memory_order_relaxed) +
      ASLEEP - 1;
  assert(left % ASLEEP != 0);
}

#define WEFT__WAIT_H
#define WEFT_FOREVER INT64_C(-1)
#define WEFT__LOOK 0
#define WEFT__ALL 1000
enum { WEFT__OK, WEFT__NOT_EQUAL, WEFT__LOOKED, WEFT__TIMED_OUT };

/* Time stands still; or with TIME, more than any patience goes by from look to
   look. */
#ifdef TIME
static _Thread_local int64_t looks;
#define WEFT_NOW() (++looks * INT64_C(1000000000))
#else
#define WEFT_NOW() INT64_C(0)
#endif

static inline int64_t weft__deadline(int64_t timeout) {
  return timeout < 0 ? INT64_MAX : timeout;
}

/* Who does not sleep for ever does not sleep at all: its time is over. */
static inline int weft__sleep(int32_t *word, int32_t value, int64_t deadline,
                              int64_t at_most) {
  (void)at_most;
  int i = list_of(word);
  if (deadline != INT64_MAX) return WEFT__TIMED_OUT;
  pthread_mutex_lock(&lists[i].lock);
  if (weft__load(word) != value) {
    pthread_mutex_unlock(&lists[i].lock);
    return WEFT__NOT_EQUAL;
  }
  int place = lists[i].asleep++;
  falls_asleep();
  pthread_mutex_unlock(&lists[i].lock);
  __VERIFIER_assume(atomic_load(&lists[i].woken) > place);
  return WEFT__OK;
}

static inline int32_t weft__notify(int32_t *word, int32_t count) {
  int i = list_of(word);
  pthread_mutex_lock(&lists[i].lock);
  int wakes = atomic_load(&lists[i].woken);
  int woken = lists[i].asleep - wakes;
  if (woken > count) woken = count;
  if (woken > 0) {
    atomic_fetch_sub_explicit(&crowd, woken * (ASLEEP - 1),
                              memory_order_relaxed);
    atomic_store(&lists[i].woken, wakes + woken);
  }
  pthread_mutex_unlock(&lists[i].lock);
  return woken;
}
