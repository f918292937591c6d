/*
 * Work that threads share: sums, blocks allocated and freed by the same thread,
 * and blocks that one thread allocates and another frees. Compiled once for
 * each malloc.
 */
#include <emscripten.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../../wasm/weft.h"

enum { SUMS, MALLOC, SLAB, EXCHANGE_MALLOC, EXCHANGE_SLAB };

/* A thread keeps this many blocks. The first has 1000 bytes, and each has one
   byte more than the one before. */
enum { LIVE = 1024, LEAST = 1000, BLOCK = 2048, IN_FLIGHT = 1024 };

/* The words that a run shares with JavaScript: `Run` in process.ts. */
typedef struct {
  weft_latch *done;
  weft_mpmc_queue *queue;
  weft_slab_pool *pool;
  int32_t wrong; /* blocks that did not hold what was written to them */
  int32_t missing; /* allocations that failed */
} shared_run;

static shared_run run;

/* The work of a thread. */
typedef struct {
  int32_t what;
  int32_t first; /* of its steps, */
  int32_t count; /* and how many */
  bool frees;    /* what another one allocated */
} share;

static void *take(int32_t what, size_t bytes, weft_slab_cache *cache) {
  bool slab = what == SLAB || what == EXCHANGE_SLAB;
  for (;;) {
    void *block = slab ? weft_slab_pool_allocate(run.pool, cache)
                       : malloc(bytes);
    if (block != NULL) return block;
    /* All blocks of a pool may be on their way to the threads that free them.
     */
    if (what != EXCHANGE_SLAB) {
      __atomic_fetch_add(&run.missing, 1, __ATOMIC_SEQ_CST);
      abort();
    }
  }
}

static void give_back(int32_t what, void *block, weft_slab_cache *cache) {
  if (what == MALLOC || what == EXCHANGE_MALLOC)
    free(block);
  else if (weft_slab_pool_free(run.pool, block, cache) != 0)
    __atomic_fetch_add(&run.wrong, 1, __ATOMIC_SEQ_CST);
}

/* Written to both ends of a block, and found there before it is freed. */
static void stamp(void *block, int32_t words, int32_t value) {
  ((int32_t *)block)[0] = value;
  ((int32_t *)block)[words - 1] = ~value;
}

static void check(const void *block, int32_t words) {
  const int32_t *at = (const int32_t *)block;
  if (at[words - 1] != ~at[0])
    __atomic_fetch_add(&run.wrong, 1, __ATOMIC_SEQ_CST);
}

static void churn(const share *own, weft_slab_cache *cache) {
  void **live = (void **)calloc(LIVE, sizeof *live);
  for (int32_t i = 0; i < own->count; i++) {
    int32_t k = i % LIVE, words = (LEAST + k) / 4;
    if (live[k] != NULL) {
      check(live[k], words);
      give_back(own->what, live[k], cache);
    }
    live[k] = take(own->what, (size_t)(LEAST + k), cache);
    stamp(live[k], words, own->first + i);
  }
  for (int32_t k = 0; k < LIVE; k++)
    if (live[k] != NULL) give_back(own->what, live[k], cache);
  free(live);
}

static void exchange(const share *own, weft_slab_cache *cache) {
  for (int32_t i = 0; i < own->count; i++) {
    int32_t at = 0;
    if (own->frees) {
      weft_mpmc_queue_pop_int(run.queue, &at, WEFT_FOREVER);
      check((void *)at, LEAST / 4);
      give_back(own->what, (void *)at, cache);
    } else {
      void *block = take(own->what, LEAST, cache);
      stamp(block, LEAST / 4, own->first + i);
      weft_mpmc_queue_push_int(run.queue, (int32_t)block, WEFT_FOREVER);
    }
  }
}

static volatile double sums[64]; /* or nothing need be computed */

static void sum(const share *own) {
  double x = 1.0;
  uint32_t seed = 12345;
  for (int32_t i = 0; i < own->count; i++) {
    seed = seed * 1664525u + 1013904223u;
    x = x * 0.999999 + (double)(seed >> 16) * 1e-9;
  }
  sums[own->first % 64] = x;
}

static void *work(void *context) {
  share *own = (share *)context;
  weft_slab_cache cache = {.limit = 32};
  if (own->what == SUMS)
    sum(own);
  else if (own->what <= SLAB)
    churn(own, &cache);
  else
    exchange(own, &cache);
  if (run.pool != NULL) weft_slab_pool_release(run.pool, &cache);
  free(own);
  weft_latch_count_down(run.done, 1);
  return NULL;
}

static void start(share own) {
  share *copy = (share *)malloc(sizeof own);
  *copy = own;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, copy) != 0) abort();
  pthread_detach(thread);
}

/*
 * Prepares for `threads` threads of all languages; `blocks` are for the pool.
 */
EMSCRIPTEN_KEEPALIVE shared_run *prepare(int32_t threads, int32_t blocks) {
  const weft_queue_config queue = {.capacity = IN_FLIGHT, .element_size = 4};
  const weft_slab_config pool = {.capacity = blocks, .block_size = BLOCK};
  free(run.done), free(run.queue), free(run.pool);
  run = (shared_run){0};
  run.done =
      weft_latch_init(malloc(WEFT_LATCH_BYTES), WEFT_LATCH_BYTES, threads);
  size_t bytes = weft_mpmc_queue_bytes(queue);
  run.queue = weft_mpmc_queue_init(malloc(bytes), bytes, queue);
  bytes = weft_slab_pool_bytes(pool);
  if (blocks > 0) run.pool = weft_slab_pool_init(malloc(bytes), bytes, pool);
  return &run;
}

/* Starts `threads` threads, which share `total` steps. */
EMSCRIPTEN_KEEPALIVE void begin(int32_t what, int32_t threads, int32_t total,
                                bool frees) {
  for (int32_t i = 0; i < threads; i++) {
    int32_t first = (int32_t)((int64_t)total * i / threads);
    int32_t end = (int32_t)((int64_t)total * (i + 1) / threads);
    start((share){what, first, end - first, frees});
  }
}

/* How many bytes the allocator has taken from the memory so far. */
EMSCRIPTEN_KEEPALIVE int32_t heap_bytes(void) {
  extern char __heap_base;
  return (int32_t)((char *)sbrk(0) - &__heap_base);
}
