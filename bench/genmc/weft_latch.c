/*
 * weft/latch.h, or with -DGROUP weft/wait_group.h, as native programs have it,
 * for GenMC: see native.h.
 *
 *   -DWAITS      one agent sleeps until the two others have done a step each
 *   -DTWO_WAIT   two agents sleep until another has done its step
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#include "native.h"
#ifdef GROUP
#include "../../wasm/weft/wait_group.h"
static weft_wait_group group;
#define step() weft_wait_group_done(&group, 1)
#define wait() weft_wait_group_wait(&group, WEFT_FOREVER)
#else
#include "../../wasm/weft/latch.h"
static weft_latch latch;
#define step() weft_latch_count_down(&latch, 1)
#define wait() weft_latch_wait(&latch, WEFT_FOREVER)
#endif

#ifdef TWO_WAIT
enum { STEPS = 1, WAITERS = 2 };
#else
enum { STEPS = 2, WAITERS = 1 };
#endif
enum { AGENTS = STEPS + WAITERS };

static int done[AGENTS + 1];

static void *worker(void *number) {
  me = (int)(intptr_t)number;
  done[me] = 1;
  assert(step() == 0);
  leaves();
  return NULL;
}

static void *waiter(void *number) {
  me = (int)(intptr_t)number;
  assert(wait() == 0);
  for (int i = 1; i <= STEPS; i++) assert(done[i] == 1);
  leaves();
  return NULL;
}

int main(void) {
#ifdef GROUP
  assert(weft_wait_group_add(&group, STEPS) == 0);
#else
  latch.state = STEPS * WEFT_LATCH_ONE;
#endif
  begins(AGENTS);
  pthread_t threads[AGENTS];
  for (int i = 0; i < AGENTS; i++)
    pthread_create(&threads[i], NULL, i < STEPS ? worker : waiter,
                   (void *)(intptr_t)(i + 1));
  for (int i = 0; i < AGENTS; i++) pthread_join(threads[i], NULL);
  return 0;
}
