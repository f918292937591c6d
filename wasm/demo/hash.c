/*
 * The wasm threads of the demo. Each pops slot numbers from the queue that the
 * JavaScript workers use, too. It hashes the bytes in the slot, and counts them
 * under the lock that the workers use, too. This file is the twin of worker.ts;
 * arena.ts has the same records.
 */
#include <emscripten.h>
#include <pthread.h>
#include <stdlib.h>

#include "../weft.h"
#include "blake2b.h"

enum { DEMO_QUEUED = 1, DEMO_DONE = 2 };

/* A row of the summary. */
typedef struct {
  double bytes;
  double busy; /* milliseconds */
  int32_t chunks;
  int32_t _pad[27];
} demo_row;

/* A slot; its bytes follow. */
typedef struct {
  int32_t state;
  int32_t length;
  uint8_t digest[BLAKE2B_DIGEST];
  int32_t _pad[14];
} demo_slot;

/* Where everything lies. */
typedef struct {
  weft_mpmc_queue *jobs;
  weft_semaphore *permits;
  weft_work_counter *work;
  weft_mutex *lock;
  weft_semaphore *ready;
  demo_row *summary; /* for all, each agent, and the streaming thread */
  uint8_t *slots;
  int32_t stride;
} demo_plan;

WEFT__ASSERT(sizeof(demo_row) == 128, "demo_row is not as in arena.ts");
WEFT__ASSERT(sizeof(demo_slot) == 128, "demo_slot is not as in arena.ts");

static const demo_plan *plan;

static void add(demo_row *row, int32_t bytes, double busy) {
  row->chunks++;
  row->bytes += bytes;
  row->busy += busy;
}

static demo_slot *slot_of(const demo_plan *at, int32_t number) {
  return (demo_slot *)(at->slots + number * at->stride);
}

static void hash_one(demo_slot *slot) {
  blake2b((const uint8_t *)(slot + 1), (size_t)slot->length, slot->digest);
}

static void *agent(void *own_row) {
  int32_t number;
  weft_semaphore_release(plan->ready, 1);
  while (weft_mpmc_queue_pop_int(plan->jobs, &number, WEFT_FOREVER) == 0) {
    demo_slot *slot = slot_of(plan, number);
    double begin = emscripten_get_now();
    hash_one(slot);
    double busy = emscripten_get_now() - begin;
    if (weft_mutex_lock(plan->lock, WEFT_FOREVER) != 0) break;
    add(plan->summary, slot->length, busy);
    add((demo_row *)own_row, slot->length, busy);
    weft_mutex_unlock(plan->lock);
    __atomic_store_n(&slot->state, DEMO_DONE, __ATOMIC_SEQ_CST);
    weft_work_counter_done(plan->work, 1);
    weft_semaphore_release(plan->permits, 1);
  }
  return NULL;
}

/* Memory for the arena, never freed. */
EMSCRIPTEN_KEEPALIVE void *reserve(size_t bytes) { return malloc(bytes); }

/* Starts a thread that counts in row `row` of the summary. Returns 0, or not 0
   if it cannot. */
EMSCRIPTEN_KEEPALIVE int begin(const demo_plan *at, int32_t row) {
  pthread_t thread;
  plan = at;
  if (!weft_mpmc_queue_attach(at->jobs) || !weft_semaphore_attach(at->ready) ||
      !weft_semaphore_attach(at->permits) || !weft_work_counter_attach(at->work))
    return EINVAL;
  int error = pthread_create(&thread, NULL, agent, at->summary + row);
  return error != 0 ? error : pthread_detach(thread);
}

/* Hashes the first slot in this thread, as the others would: for comparison. */
EMSCRIPTEN_KEEPALIVE void hash(const demo_plan *at) {
  hash_one(slot_of(at, 0));
}
