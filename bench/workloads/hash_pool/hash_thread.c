/*
 * Threads of C that do tasks of the pool of the examples, beside workers of
 * JavaScript: the twin of `solve` in tasks.ts.
 */
#include <emscripten.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../../docs/examples/pool.h"
#include "../../../wasm/demo/sha256.h"

static pool tasks;
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

static int32_t solve(void *bytes, int32_t length) {
  __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  if (spins) {
    int32_t *steps = (int32_t *)bytes;
    *steps = spin(*steps);
    return 4;
  }
  uint8_t digest[32];
  sha256((const uint8_t *)bytes, (size_t)length, digest);
  memcpy(bytes, digest, sizeof digest);
  return sizeof digest;
}

static void *serve(void *unused) {
  pool_serve(&tasks, solve);
  return unused;
}

/* Memory for a pool, never freed. */
EMSCRIPTEN_KEEPALIVE void *reserve(size_t bytes) { return malloc(bytes); }

/* Starts a thread that does tasks; not 0 if it cannot. */
EMSCRIPTEN_KEEPALIVE int begin(char *base, int32_t jobs, int32_t done,
                               int32_t enough, int32_t slots, int32_t bytes,
                               bool spinning) {
  pthread_t thread;
  tasks = pool_attach(base, jobs, done, enough, slots, bytes);
  spins = spinning;
  if (!tasks.jobs || !tasks.done || !tasks.enough || !tasks.slots)
    return EINVAL;
  int error = pthread_create(&thread, NULL, serve, NULL);
  return error != 0 ? error : pthread_detach(thread);
}

/* How many tasks the threads did since this was asked last. */
EMSCRIPTEN_KEEPALIVE int32_t counted(void) {
  return __atomic_exchange_n(&count, 0, __ATOMIC_SEQ_CST);
}
