/*
 * weft/spsc_queue.h as native programs have it, for GenMC: see native.h.
 *
 *   -DPOP_WAITS   the consumer sleeps; the producer finds room
 *   -DPUSH_WAITS  the producer sleeps; the consumer finds elements
 *   -DCLOSES      a third thread closes the queue while one is pushed
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#include "native.h"
#define WEFT__SPSC_BELLS 1
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
  leaves();
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
  leaves();
  return unused;
}

static void *closer(void *unused) {
  weft_spsc_queue_close(q);
  leaves();
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
  leaves();
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
  leaves();
  return unused;
}
#endif

int main(void) {
  q->capacity = CAPACITY;
  q->element_size = 4;
#ifdef PUSH_WAITS
  assert(weft_spsc_queue_try_push_int(q, 1) == 0);
#endif
#ifdef CLOSES
  begins(3);
#else
  begins(2);
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
