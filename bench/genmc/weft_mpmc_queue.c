/*
 * weft/mpmc_queue.h as native programs have it, for GenMC: see native.h.
 *
 *   -DPOP_WAITS   a producer of two elements, and a consumer that sleeps
 *   -DPUSH_WAITS  a producer that sleeps until a consumer makes room
 *   -DTWO_POP     a producer of two elements, and two consumers that sleep
 *   -DBOTH_PUSH   two producers of an element
 *   -DBOTH_POP    two consumers, of an element each
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#include "native.h"
#include "../../wasm/weft/mpmc_queue.h"

#ifdef PUSH_WAITS
enum { CAPACITY = 1 };
#else
enum { CAPACITY = 2 };
#endif

static int32_t memory[WEFT_MPMC_QUEUE_BYTES(CAPACITY, 4) / 4];
static weft_mpmc_queue *q = (weft_mpmc_queue *)memory;

static int sum;

static void *producer(void *unused) {
#ifdef BOTH_PUSH
  assert(weft_mpmc_queue_try_push_int(q, 1) == 0);
#elif defined(PUSH_WAITS)
  assert(weft_mpmc_queue_push_int(q, 2, WEFT_FOREVER) == 0);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_mpmc_queue_try_push_int(q, i) == 0);
#endif
  leaves();
  return unused;
}

static void *consumer(void *unused) {
  int32_t value = 0;
  moves = 1;
#if defined(PUSH_WAITS)
  assert(weft_mpmc_queue_try_pop_int(q, &value) == 0 && value == 1);
#elif defined(TWO_POP)
  assert(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER) == 0);
  __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
#elif defined(BOTH_POP)
  assert(weft_mpmc_queue_try_pop_int(q, &value) == 0);
  __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER) == 0 && value == i);
#endif
  leaves();
  return unused;
}

int main(void) {
  q->capacity = CAPACITY;
  q->element_size = 4;
  for (int32_t i = 0; i < CAPACITY; i++)
    *weft__mpmc_slot(q, i * WEFT_MPMC_QUEUE_ONE) = i * WEFT_MPMC_QUEUE_ONE;
#if defined(PUSH_WAITS) || defined(BOTH_POP)
  assert(weft_mpmc_queue_try_push_int(q, 1) == 0);
#endif
#ifdef BOTH_POP
  assert(weft_mpmc_queue_try_push_int(q, 2) == 0);
#endif
#ifdef TWO_POP
  void *(*const agents_do[])(void *) = {producer, consumer, consumer};
#elif defined(BOTH_PUSH)
  void *(*const agents_do[])(void *) = {producer, producer};
#elif defined(BOTH_POP)
  void *(*const agents_do[])(void *) = {consumer, consumer};
#else
  void *(*const agents_do[])(void *) = {producer, consumer};
#endif
  enum { AGENTS = sizeof agents_do / sizeof *agents_do };
  begins(AGENTS);
  pthread_t threads[AGENTS];
  for (int i = 0; i < AGENTS; i++)
    pthread_create(&threads[i], NULL, agents_do[i], NULL);
  for (int i = 0; i < AGENTS; i++) pthread_join(threads[i], NULL);
#ifdef BOTH_PUSH
  for (int i = 0; i < 2; i++) {
    int32_t value = 0;
    assert(weft_mpmc_queue_try_pop_int(q, &value) == 0 && value == 1);
  }
#elif defined(TWO_POP) || defined(BOTH_POP)
  assert(sum == 3);
#endif
  return 0;
}
