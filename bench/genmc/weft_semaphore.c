/*
 * weft/semaphore.h as native programs have it, for GenMC: see native.h. With
 * -DTRACKED, agents note what they hold.
 *
 *   -DLOCKS   AGENTS agents take the one permit, count, and give it back
 *   -DGIVES   one agent sleeps until another gives a permit
 *   -DSEVERAL one agent sleeps until two others have given a permit each
 *   -DCLAIMS  the same, and it takes the permits in advance
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#ifdef CLAIMS
#define WEFT_SEMAPHORE_PATIENCE 0
#define SEVERAL
#endif
#include "native.h"
#include "../../wasm/weft/semaphore.h"

#ifndef AGENTS
#define AGENTS 2
#endif
#ifdef TRACKED
enum { WORDS = WEFT_SEMAPHORE_TRACKED_BYTES(3) / 4, TRACKS = 3 };
#else
enum { WORDS = sizeof(weft_semaphore) / 4, TRACKS = 0 };
#endif

static int32_t memory[WORDS];
static weft_semaphore *s = (weft_semaphore *)memory;

#ifdef LOCKS
enum { PERMITS = 1 };
static int count;

static void *agent(void *number) {
  me = (int)(intptr_t)number;
  assert(weft_semaphore_acquire(s, 1, WEFT_FOREVER) == 0);
  count++;
  assert(weft_semaphore_release(s, 1) == 0);
  leaves();
  return NULL;
}
#else
#ifdef SEVERAL
enum { GIVERS = 2 };
#else
enum { GIVERS = 1 };
#endif
enum { PERMITS = 0 };
#undef AGENTS
#define AGENTS (GIVERS + 1)
static int given[AGENTS + 1];

static void *agent(void *number) {
  me = (int)(intptr_t)number;
  if (me <= GIVERS) {
    given[me] = 1;
    assert(weft_semaphore_release(s, 1) == 0);
    leaves();
    return NULL;
  }
  assert(weft_semaphore_acquire(s, GIVERS, WEFT_FOREVER) == 0);
  for (int i = 1; i <= GIVERS; i++) assert(given[i] == 1);
  leaves();
  return NULL;
}
#endif

int main(void) {
  s->tracked = TRACKS;
  s->max = TRACKS == 0 ? WEFT_SEMAPHORE_MAX : WEFT_SEMAPHORE_MAX_TRACKED_PERMITS;
  s->permits =
      PERMITS << (TRACKS == 0 ? WEFT__SEMAPHORE_SHIFT : WEFT__TRACKED_SHIFT);
  begins(AGENTS);
  pthread_t threads[AGENTS];
  for (int i = 0; i < AGENTS; i++)
    pthread_create(&threads[i], NULL, agent, (void *)(intptr_t)(i + 1));
  for (int i = 0; i < AGENTS; i++) pthread_join(threads[i], NULL);
#ifdef LOCKS
  assert(count == AGENTS);
#endif
  assert(weft_semaphore_available(s) == PERMITS);
  assert(weft_semaphore_waiters(s) == 0);
  return 0;
}
