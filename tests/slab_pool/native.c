/* weft_slab_pool: errors, caches, dead agents, and threads that hand blocks to
   each other. */
#define _POSIX_C_SOURCE 200809L
#include <weft/slab_pool.h>

#include "check.h"

static int32_t arena[1 << 13];

static void by_turns(void) {
  const weft_slab_config configs[] = {{1, 4}, {31, 8}, {33, 12}, {70, 4}};
  uint32_t seed = 5;
  for (int c = 0; c < 4; c++) {
    weft_slab_pool *p = weft_slab_pool_init(arena, sizeof arena, configs[c]);
    CHECK(p != NULL && weft_slab_pool_attach(arena) == p);
    EQUAL(weft_slab_pool_capacity(p), configs[c].capacity);
    EQUAL(weft_slab_pool_block_size(p), configs[c].block_size);
    void *held[70];
    int32_t count = 0;
    weft_slab_cache cache;
    memset(&cache, 0, sizeof cache);
    for (int i = 0; i < 5000; i++) {
      int32_t n = random_below(&seed, 10);
      if (n == 0) {
        weft_slab_pool_release(p, &cache);
        cache.limit = random_below(&seed, WEFT_SLAB_POOL_MAX_CACHE + 1);
      } else if (n < 6) {
        void *block = weft_slab_pool_allocate(p, &cache);
        EQUAL(block != NULL, count < configs[c].capacity);
        if (block == NULL) continue;
        for (int32_t k = 0; k < count; k++) CHECK(held[k] != block);
        memset(block, 0x55, (size_t)configs[c].block_size);
        held[count++] = block;
      } else if (count > 0) {
        int32_t k = random_below(&seed, count);
        void *block = held[k];
        held[k] = held[--count];
        EQUAL(weft_slab_pool_free(p, block, &cache), 0);
        UNCHANGED(arena, 4096, weft_slab_pool_free(p, block, NULL), EINVAL);
      }
      EQUAL(weft_slab_pool_available(p) + cache.count + count,
            configs[c].capacity);
    }
  }
}

static void errors(void) {
  const weft_slab_config wrong[] = {{0, 4}, {1, 0}, {1, 6}, {1 << 29, 4}};
  const weft_slab_config good = {3, 8};
  for (int i = 0; i < 4; i++) {
    EQUAL(weft_slab_pool_bytes(wrong[i]), 0);
    CHECK(weft_slab_pool_init(arena, sizeof arena, wrong[i]) == NULL);
  }
  weft_slab_pool *p = weft_slab_pool_init(arena, sizeof arena, good);
  EQUAL(weft_slab_pool_bytes(good), (32 + 32 + 32) * 4 + 24);
  char *block = (char *)weft_slab_pool_allocate(p, NULL);
  char *end = (char *)arena + weft_slab_pool_bytes(good);
  UNCHANGED(arena, 1024, weft_slab_pool_free(p, block + 4, NULL), EINVAL);
  UNCHANGED(arena, 1024, weft_slab_pool_free(p, arena, NULL), EINVAL);
  UNCHANGED(arena, 1024, weft_slab_pool_free(p, end, NULL), EINVAL);
  UNCHANGED(arena, 1024, weft_slab_pool_free(p, NULL, NULL), EINVAL);
  EQUAL(weft_slab_pool_free(p, block, NULL), 0);
  /* Behind the owners of 32 blocks lies what users write. */
  const weft_slab_config full = {32, 4};
  p = weft_slab_pool_init(arena, sizeof arena, full);
  for (int i = 0; i < 32; i++) {
    int32_t *word = (int32_t *)weft_slab_pool_allocate(p, NULL);
    CHECK(word != NULL);
    *word = weft_agent_id();
  }
  end = (char *)arena + weft_slab_pool_bytes(full);
  UNCHANGED(arena, 1024, weft_slab_pool_free(p, end, NULL), EINVAL);
}

static void dead_agents(void) {
  const weft_slab_config config = {40, 4};
  weft_slab_pool *p = weft_slab_pool_init(arena, sizeof arena, config);
  weft_slab_cache cache;
  memset(&cache, 0, sizeof cache);
  cache.limit = 8;
  EQUAL(weft_agent_set_id(6), 0);
  void *block = weft_slab_pool_allocate(p, &cache);
  EQUAL(weft_agent_set_id(7), 0);
  EQUAL(weft_slab_pool_available(p), 31);
  EQUAL(weft_slab_pool_abandon(p, 0, true), 0);
  EQUAL(weft_slab_pool_abandon(p, 5, true), 0);
  EQUAL(weft_slab_pool_abandon(p, 6, false), 8);
  EQUAL(weft_slab_pool_available(p), 39);
  EQUAL(weft_slab_pool_abandon(p, 6, true), 1);
  EQUAL(weft_slab_pool_available(p), 40);
  EQUAL(weft_slab_pool_free(p, block, NULL), EINVAL);
  /* It was about to free a block: the owner is cleared, the bit is not. */
  block = weft_slab_pool_allocate(p, NULL);
  int32_t number = 0;
  while (weft__slab_at(p, number) != block) number++;
  *weft__slab_owner(p, number) = 0;
  for (int i = 1; i < 40; i++) CHECK(weft_slab_pool_allocate(p, NULL) != NULL);
  CHECK(weft_slab_pool_allocate(p, NULL) == NULL);
  EQUAL(weft_slab_pool_abandon(p, 6, false), 0);
  CHECK(weft_slab_pool_allocate(p, NULL) == block);
}

/* ---- threads ------------------------------------------------------------- */

#define THREADS 4
static int32_t amount = 20000;

/* Blocks on their way to another thread. */
static void *shelf[16];

typedef struct {
  weft_slab_pool *pool;
  uint32_t seed;
  bool caches;
} worker;

static void *work(void *argument) {
  worker *self = (worker *)argument;
  weft_slab_cache cache;
  memset(&cache, 0, sizeof cache);
  cache.limit = self->caches ? 5 : 0;
  for (int32_t i = 0; i < amount; i++) {
    int32_t place = random_below(&self->seed, 16);
    int32_t *block = (int32_t *)weft_slab_pool_allocate(self->pool, &cache);
    if (block != NULL) block[0] = block[1] = i;
    block = (int32_t *)__atomic_exchange_n(&shelf[place], (void *)block,
                                           __ATOMIC_SEQ_CST);
    if (block == NULL) continue;
    EQUAL(block[0], block[1]);
    block[0] = -1;
    block[1] = -2;
    EQUAL(weft_slab_pool_free(self->pool, block, &cache), 0);
  }
  weft_slab_pool_release(self->pool, &cache);
  return NULL;
}

static void blocks_have_one_owner(void) {
  const int32_t capacities[] = {6, 33, 200};
  for (int c = 0; c < 3; c++) {
    weft_slab_config config = {capacities[c], 8};
    weft_slab_pool *p = weft_slab_pool_init(arena, sizeof arena, config);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      worker w = {p, (uint32_t)(i + 1), i % 2 == 1};
      workers[i] = w;
      EQUAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 16; i++) {
      if (shelf[i] != NULL) EQUAL(weft_slab_pool_free(p, shelf[i], NULL), 0);
      shelf[i] = NULL;
    }
    EQUAL(weft_slab_pool_available(p), capacities[c]);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(dead_agents);
  RUN(blocks_have_one_owner);
  puts("done");
  return 0;
}
