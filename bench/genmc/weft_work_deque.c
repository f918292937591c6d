/*
 * weft/work_deque.h as native programs have it, for GenMC: see native.h.
 *
 *   -DSTEALS     the owner pushes and pops two items, and a thief steals twice
 *   -DLAST       two thieves and the owner want the one item
 *   -DLAPS       the owner pushes into the place that a thief reads
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#include "native.h"
#include "../../wasm/weft/work_deque.h"

#ifdef LAPS
enum { CAPACITY = 1 };
#else
enum { CAPACITY = 2 };
#endif
#ifdef LAST
enum { ITEMS = 1, THIEVES = 2, STEALS_OF_EACH = 1 };
#else
enum { ITEMS = 2, THIEVES = 1, STEALS_OF_EACH = 2 };
#endif

static int32_t memory[WEFT_WORK_DEQUE_BYTES(CAPACITY) / 4];
static weft_work_deque *d = (weft_work_deque *)memory;
static int payload[ITEMS + 1]; /* what an item stands for */
static atomic_int taken[ITEMS + 1];
static int pushed;

static void take(int32_t item) {
  assert(item >= 1 && item <= ITEMS && payload[item] == item);
  assert(atomic_fetch_add_explicit(&taken[item], 1, memory_order_relaxed) == 0);
}

static void pop(void) {
  int32_t item = 0;
  if (weft_work_deque_pop(d, &item) == 0) take(item);
}

static void push(int32_t item) {
  payload[item] = item;
  if (weft_work_deque_push(d, item) == 0) pushed |= 1 << item;
}

static void *owner(void *unused) {
  me = 1;
  for (int32_t item = 1; item <= ITEMS; item++) push(item);
  for (int i = 0; i < ITEMS; i++) pop();
  leaves();
  return unused;
}

static void *thief(void *unused) {
  me = 2;
  for (int i = 0; i < STEALS_OF_EACH; i++) {
    int32_t item = 0;
    if (weft_work_deque_steal(d, &item) == 0) take(item);
  }
  leaves();
  return unused;
}

int main(void) {
  d->capacity = CAPACITY;
  begins(THIEVES + 1);
  pthread_t threads[THIEVES + 1];
  pthread_create(&threads[0], NULL, owner, NULL);
  for (int i = 1; i <= THIEVES; i++)
    pthread_create(&threads[i], NULL, thief, NULL);
  for (int i = 0; i <= THIEVES; i++) pthread_join(threads[i], NULL);
  /* What was pushed was taken once, for the owner has popped all. */
  for (int item = 1; item <= ITEMS; item++)
    assert(atomic_load(&taken[item]) == (pushed >> item & 1));
  return 0;
}
