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
#include "sha256.h"

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
  uint8_t digest[32];
  int32_t _pad[22];
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

static void add(demo_row *row, int32_t chunks, int32_t bytes, double busy) {
  row->chunks += chunks;
  row->bytes += bytes;
  row->busy += busy;
}

static demo_slot *slot_of(const demo_plan *at, int32_t number) {
  return (demo_slot *)(at->slots + number * at->stride);
}

/* Hashes the chunks in `count` slots: four of one length at once. */
static void hash_all(demo_slot *const *slots, int32_t count) {
  int32_t length = slots[0]->length;
  int alike = count == SHA256_LANES;
  for (int32_t i = 0; i < count; i++) alike &= slots[i]->length == length;
  if (alike) {
    const uint8_t *messages[SHA256_LANES];
    uint8_t *digests[SHA256_LANES];
    for (int32_t i = 0; i < SHA256_LANES; i++) {
      messages[i] = (const uint8_t *)(slots[i] + 1);
      digests[i] = slots[i]->digest;
    }
    sha256_of_four(messages, (size_t)length, digests);
    return;
  }
  for (int32_t i = 0; i < count; i++)
    sha256((const uint8_t *)(slots[i] + 1), (size_t)slots[i]->length,
           slots[i]->digest);
}

static void *agent(void *own_row) {
  int32_t numbers[SHA256_LANES];
  weft_semaphore_release(plan->ready, 1);
  while (weft_mpmc_queue_pop_int(plan->jobs, numbers, WEFT_FOREVER) == 0) {
    demo_slot *slots[SHA256_LANES];
    /* What else is there; -1 if the queue is closed and empty. */
    int32_t more =
        weft_mpmc_queue_try_pop_many(plan->jobs, numbers + 1, SHA256_LANES - 1);
    int32_t count = 1 + (more > 0 ? more : 0), bytes = 0;
    for (int32_t i = 0; i < count; i++) {
      slots[i] = slot_of(plan, numbers[i]);
      bytes += slots[i]->length;
    }
    double begin = emscripten_get_now();
    hash_all(slots, count);
    double busy = emscripten_get_now() - begin;
    if (weft_mutex_lock(plan->lock, WEFT_FOREVER) != 0) break;
    add(plan->summary, count, bytes, busy);
    add((demo_row *)own_row, count, bytes, busy);
    weft_mutex_unlock(plan->lock);
    for (int32_t i = 0; i < count; i++)
      __atomic_store_n(&slots[i]->state, DEMO_DONE, __ATOMIC_SEQ_CST);
    weft_work_counter_done(plan->work, count);
    weft_semaphore_release(plan->permits, count);
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

/* Hashes the first `count` slots in this thread, as the others would: for
   comparison. */
EMSCRIPTEN_KEEPALIVE void hash(const demo_plan *at, int32_t count) {
  demo_slot *slots[SHA256_LANES];
  for (int32_t i = 0; i < count; i++) slots[i] = slot_of(at, i);
  hash_all(slots, count);
}
