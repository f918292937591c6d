/*
 * weft/mutex.h as native programs have it, for GenMC: see native.h.
 *
 *   -DLOCKS     AGENTS agents lock it, count, and unlock it
 *   -DSTARVES   the first agent does so twice, and so much time goes by that
 *               the mutex is handed to a sleeper
 *   -DGIVES_UP  the last agent has no time to wait
 *   -DTRIES     the last agent does not wait
 *
 * bench/genmc/README.md tells how to run it, and what it finds when an order is
 * left out.
 */
#ifdef STARVES
#define TIME
#endif
#include "native.h"
#include "../../wasm/weft/mutex.h"

#ifndef AGENTS
#define AGENTS 2
#endif

static weft_mutex mutex;
static int count;

static int begin(int last) {
#if defined(GIVES_UP)
  return weft_mutex_lock(&mutex, last ? 1 : WEFT_FOREVER);
#elif defined(TRIES)
  return last ? weft_mutex_try_lock(&mutex)
              : weft_mutex_lock(&mutex, WEFT_FOREVER);
#else
  (void)last;
  return weft_mutex_lock(&mutex, WEFT_FOREVER);
#endif
}

static void *agent(void *number) {
  me = (int)(intptr_t)number;
#ifdef STARVES
  int turns = me == 1 ? 2 : 1;
#else
  int turns = 1;
#endif
  intptr_t counted = 0;
  for (int i = 0; i < turns; i++) {
    if (begin(me == AGENTS) != 0) continue;
    count++;
    counted++;
    assert(weft_mutex_unlock(&mutex) == 0);
  }
  leaves();
  return (void *)counted;
}

int main(void) {
  begins(AGENTS);
  pthread_t threads[AGENTS];
  int counted = 0;
  for (int i = 0; i < AGENTS; i++)
    pthread_create(&threads[i], NULL, agent, (void *)(intptr_t)(i + 1));
  for (int i = 0; i < AGENTS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    counted += (int)(intptr_t)result;
  }
#if defined(LOCKS)
  assert(counted == AGENTS);
#elif defined(STARVES)
  assert(counted == AGENTS + 1);
#endif
  assert(count == counted);
  assert(weft_mutex_owner(&mutex) == 0);
  return 0;
}
