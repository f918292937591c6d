/*
 * weft/spsc_queue.h as native programs have it, for GenMC: the header itself,
 * with its weak orders. GenMC knows no system, so a futex is a list of sleepers
 * as in mutex.c, and weft__heavy, which has the system run a fence on every
 * core, is a fence here. weft__light then has to be one, too; it pairs with no
 * other weft__light, so each program has it in one role alone, and where it has
 * no partner, it only keeps the compiler from changing the order.
 *
 *   -DPOP_WAITS   the consumer sleeps; the producer finds room
 *   -DPUSH_WAITS  the producer sleeps; the consumer finds elements
 *   -DCLOSES      a third thread closes the queue while one is pushed
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
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
#define WEFT__SPSC_BELLS 1

#if defined(POP_WAITS) || defined(CLOSES)
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

#include "../../wasm/weft/spsc_queue.h"

#ifdef PUSH_WAITS
enum { CAPACITY = 1 };
#else
enum { CAPACITY = 2 };
#endif

static int32_t memory[WEFT_SPSC_QUEUE_BYTES(CAPACITY, 4) / 4];
static weft_spsc_queue *q = (weft_spsc_queue *)memory;

#ifdef CLOSES
static int pushed, ends, got;

static void *producer(void *unused) {
  pushed = weft_spsc_queue_try_push_int(q, 7);
  assert(pushed == 0 || pushed == EPIPE);
  return unused;
}

static void *consumer(void *unused) {
  moves = 1;
  for (int i = 0; i < 3 && ends == 0; i++) {
    int32_t value = 0;
    int result = weft_spsc_queue_try_pop_int(q, &value);
    if (result == 0) assert(value == 7 && ++got == 1);
    if (result == EPIPE) ends = 1;
  }
  return unused;
}

static void *closer(void *unused) {
  weft_spsc_queue_close(q);
  return unused;
}
#else
static void *producer(void *unused) {
#ifdef PUSH_WAITS
  assert(weft_spsc_queue_push_int(q, 2, WEFT_FOREVER) == 0);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_spsc_queue_try_push_int(q, i) == 0);
#endif
  return unused;
}

static void *consumer(void *unused) {
  int32_t value = 0;
  moves = 1;
#ifdef PUSH_WAITS
  assert(weft_spsc_queue_try_pop_int(q, &value) == 0 && value == 1);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_spsc_queue_pop_int(q, &value, WEFT_FOREVER) == 0 && value == i);
#endif
  return unused;
}
#endif

int main(void) {
  q->capacity = CAPACITY;
  q->element_size = 4;
#ifdef PUSH_WAITS
  assert(weft_spsc_queue_try_push_int(q, 1) == 0);
#endif
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
#ifdef CLOSES
  pthread_create(&threads[2], NULL, closer, NULL);
  pthread_join(threads[2], NULL);
#endif
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
#ifdef CLOSES
  /* What was pushed comes out, before the end, and what was not, does not. */
  for (int i = 0; i < 3 && ends == 0; i++) {
    int32_t value = 0;
      moves = 1;
    int result = weft_spsc_queue_try_pop_int(q, &value);
    if (result == 0) got++;
    if (result == EPIPE) ends = 1;
  }
  assert(ends == 1);
  assert(got == (pushed == 0 ? 1 : 0));
#endif
  return 0;
}
