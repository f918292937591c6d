/*
 * Threads of C that do tasks of a pool, beside workers of JavaScript: the twin
 * of `solve` in tasks.ts.
 */
#include <emscripten.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "weft.h"

static bool spins;
static int32_t count;

static int32_t spin(int32_t steps) {
  uint32_t x = (uint32_t)steps;
  for (int32_t i = 0; i < steps; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
  }
  return (int32_t)x;
}

static int32_t solve(void *context, weft_call *call, const void *request,
                     int32_t length, void *reply, int32_t room) {
  (void)context, (void)call, (void)room;
  __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  if (spins) {
    int32_t steps = 0;
    memcpy(&steps, request, sizeof steps);
    steps = spin(steps);
    memcpy(reply, &steps, sizeof steps);
    return sizeof steps;
  }
  sha256((const uint8_t *)request, (size_t)length, (uint8_t *)reply);
  return 32;
}

static const weft_calls_function tasks[] = {solve};

static void *serve(void *pool) {
  weft_pool_serve(pool, tasks, 1, NULL);
  return NULL;
}

/* Memory for a pool, never freed. */
EMSCRIPTEN_KEEPALIVE void *reserve(size_t bytes) { return malloc(bytes); }

/* Starts a thread that does tasks of the pool; not 0 if it cannot. */
EMSCRIPTEN_KEEPALIVE int begin(void *pool, bool spinning) {
  pthread_t thread;
  spins = spinning;
  if (weft_call_ring_attach(pool) == NULL) return EINVAL;
  int error = pthread_create(&thread, NULL, serve, pool);
  return error != 0 ? error : pthread_detach(thread);
}

/* How many tasks the threads did since this was asked last. */
EMSCRIPTEN_KEEPALIVE int32_t counted(void) {
  return __atomic_exchange_n(&count, 0, __ATOMIC_SEQ_CST);
}
