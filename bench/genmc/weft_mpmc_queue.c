/*
 * weft/mpmc_queue.h as native programs have it, for GenMC: see native.h.
 *
 *   -DPOP_WAITS   a producer of two elements, and a consumer that sleeps
 *   -DPUSH_WAITS  a producer that sleeps until a consumer makes room
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

static void *producer(void *unused) {
#ifdef PUSH_WAITS
  assert(weft_mpmc_queue_push_int(q, 2, WEFT_FOREVER) == 0);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_mpmc_queue_try_push_int(q, i) == 0);
#endif
  return unused;
}

static void *consumer(void *unused) {
  int32_t value = 0;
  moves = 1;
#ifdef PUSH_WAITS
  assert(weft_mpmc_queue_try_pop_int(q, &value) == 0 && value == 1);
#else
  for (int32_t i = 1; i <= 2; i++)
    assert(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER) == 0 && value == i);
#endif
  return unused;
}

int main(void) {
  q->capacity = CAPACITY;
  q->element_size = 4;
  for (int32_t i = 0; i < CAPACITY; i++)
    *weft__mpmc_slot(q, i * WEFT_MPMC_QUEUE_ONE) = i * WEFT_MPMC_QUEUE_ONE;
#ifdef PUSH_WAITS
  assert(weft_mpmc_queue_try_push_int(q, 1) == 0);
#endif
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, producer, NULL);
  pthread_create(&threads[1], NULL, consumer, NULL);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  return 0;
}
