/* slab_pool.h - the twin of primitives/slab_pool.ts. */
#ifndef WEFT_SLAB_POOL_H
#define WEFT_SLAB_POOL_H

#include "_region.h"
#include "agent.h"

WEFT__BEGIN

/* In an owner word: the block lies in that agent's cache. */
#define WEFT_SLAB_POOL_CACHED_BIT (1 << 28) /* SLAB_POOL_BITS.CACHED */
/* The most blocks in a cache: as many as a word of the bitmap has bits. */
#define WEFT_SLAB_POOL_MAX_CACHE 32

/* The configuration of a pool: `capacity` blocks of `block_size` bytes, a
   multiple of 4; together at most 2^30 bytes. */
typedef struct {
  int32_t capacity;
  int32_t block_size;
} weft_slab_config;

/* Free blocks that one thread keeps for itself: up to `limit`, which is at most
   WEFT_SLAB_POOL_MAX_CACHE. A cache that is all zero has none and keeps none.
   */
typedef struct {
  int32_t limit;
  int32_t count;
  int32_t blocks[WEFT_SLAB_POOL_MAX_CACHE];
} weft_slab_cache;

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * An allocator of blocks of one size.
 *
 * word 0   magic       Kind and layout version.
 * word 1   capacity    How many blocks there are.
 * word 2   block_size  Bytes of a block, a multiple of 4.
 * word 3   seal        Check word over the configuration.
 * word 32  A bit for each block, 1 if the block is probably not free. Then an
 *          owner for each block: 0 while it is free, or the id of the agent
 *          that allocated it, with bit 28 set while it lies in the cache of
 *          that agent. Then the blocks. Each of the three begins at a multiple
 *          of 32 words.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t block_size;
  int32_t seal;
  int32_t _pad0[28];
} weft_slab_pool;
WEFT_WORD(slab_pool, magic, 0);
WEFT_WORD(slab_pool, capacity, 1);
WEFT_WORD(slab_pool, block_size, 2);
WEFT_WORD(slab_pool, seal, 3);
WEFT_LENGTH(slab_pool, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The words of bits. */
static inline int32_t weft__slab_maps(int32_t capacity) {
  return (int32_t)(((uint32_t)capacity + 31) / 32);
}

/* The next multiple of 32. */
static inline size_t weft__slab_rounded(int32_t words) {
  return ((size_t)words + 31) / 32 * 32;
}

static inline size_t weft__slab_head(int32_t capacity) {
  return sizeof(weft_slab_pool) / 4 +
         weft__slab_rounded(weft__slab_maps(capacity)) +
         weft__slab_rounded(capacity);
}

static inline int32_t *weft__slab_map(weft_slab_pool *p, int32_t map) {
  return (int32_t *)(p + 1) + map;
}

static inline int32_t *weft__slab_owner(const weft_slab_pool *p,
                                        int32_t block) {
  return (int32_t *)(uintptr_t)(p + 1) +
         weft__slab_rounded(weft__slab_maps(p->capacity)) + block;
}

static inline void *weft__slab_at(weft_slab_pool *p, int32_t block) {
  return (char *)((int32_t *)p + weft__slab_head(p->capacity)) +
         (size_t)block * (size_t)p->block_size;
}

/* The bytes of a pool as a constant expression; 0 if out of range. */
#define WEFT_SLAB_POOL_BYTES(capacity, block_size)                          \
  ((block_size) < 4 || (block_size) % 4 != 0 || (block_size) > 1 << 30 ||   \
           (capacity) < 1 || (capacity) > (1 << 30) / (block_size)          \
       ? 0                                                                  \
       : sizeof(weft_slab_pool) +                                           \
             sizeof(int32_t) * WEFT__MULTIPLE(((capacity) + 31) / 32, 32) + \
             sizeof(int32_t) * WEFT__MULTIPLE(capacity, 32) +               \
             1ull * (capacity) * (block_size))

/* The bytes of a pool of this configuration; 0 if it is out of range. */
static inline size_t weft_slab_pool_bytes(weft_slab_config config) {
  return (size_t)WEFT_SLAB_POOL_BYTES((uint32_t)config.capacity,
                                      (uint32_t)config.block_size);
}

/* The pool at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_slab_pool *weft_slab_pool_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_slab_pool) != NULL) return NULL;
  return (weft_slab_pool *)at;
}

/* Initializes `bytes` bytes of unused memory as a pool whose blocks are all
   free. NULL if the configuration is out of range, the bytes are too few, or
   `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_slab_pool *weft_slab_pool_init(
    void *at, size_t bytes, weft_slab_config config) {
  weft_slab_pool *p = (weft_slab_pool *)at;
  size_t needed = weft_slab_pool_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  p->capacity = config.capacity;
  p->block_size = config.block_size;
  p->seal = weft__seal(WEFT_KIND_slab_pool, p->capacity, p->block_size);
  /* The bits of the last word after the last block: never worth a try. */
  if (p->capacity % 32 != 0)
    *weft__slab_map(p, p->capacity / 32) =
        (int32_t)~((UINT32_C(1) << (p->capacity % 32)) - 1);
  weft__store(&p->magic, weft__magic(WEFT_KIND_slab_pool));
  return p;
}

/* Blocks the pool has. */
static inline int32_t weft_slab_pool_capacity(const weft_slab_pool *p) {
  return p->capacity;
}

/* Bytes a block has. */
static inline int32_t weft_slab_pool_block_size(const weft_slab_pool *p) {
  return p->block_size;
}

/* How many blocks are free, without those in caches. It counts them one by
   one. */
static inline int32_t weft_slab_pool_available(const weft_slab_pool *p) {
  int32_t count = 0;
  for (int32_t block = 0; block < p->capacity; block++)
    if (weft__load(weft__slab_owner(p, block)) == 0) count++;
  return count;
}

static inline bool weft__slab_is_allocated(int32_t owner) {
  return owner != 0 && (owner & WEFT_SLAB_POOL_CACHED_BIT) == 0;
}

/* Gives a free block to `owner`. Returns false if it is not free. */
static inline bool weft__slab_claim(weft_slab_pool *p, int32_t block,
                                    int32_t owner) {
  int32_t *at = weft__slab_owner(p, block);
  return weft__hint(at) == 0 && weft__compare_exchange(at, 0, owner) == 0;
}

/* Says in the bitmap that a block is worth a try. */
static inline void weft__slab_clear(weft_slab_pool *p, int32_t block) {
  int32_t bit = (int32_t)(UINT32_C(1) << (block % 32));
  weft__and(weft__slab_map(p, block / 32), ~bit);
}

/* Puts more blocks of a map into the cache, and sets their bits and `bit` in
   one step. */
static inline void weft__slab_fill(weft_slab_pool *p, weft_slab_cache *cache,
                                   int32_t map, uint32_t left, uint32_t bit) {
  int32_t kept = weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT;
  for (; left != 0 && cache->count < cache->limit; left &= left - 1) {
    int32_t block = map * 32 + __builtin_ctz(left);
    if (block >= p->capacity) break; /* only damaged bits lie there */
    if (!weft__slab_claim(p, block, kept)) continue;
    bit |= left & (~left + 1);
    cache->blocks[cache->count++] = block;
  }
  weft__or(weft__slab_map(p, map), (int32_t)bit);
}

/* Allocates a block. Returns NULL if no free one was found. `cache` belongs to
   this thread, or is NULL. Lock-free. */
static inline WEFT__RESULT void *weft_slab_pool_allocate(
    weft_slab_pool *p, weft_slab_cache *cache) {
  int32_t id = weft_agent_id();
  int32_t kept = id | WEFT_SLAB_POOL_CACHED_BIT;
  while (cache != NULL && cache->count > 0) {
    int32_t block = cache->blocks[--cache->count];
    if (weft__compare_exchange(weft__slab_owner(p, block), kept, id) == kept)
      return weft__slab_at(p, block);
    /* This agent was abandoned although it lives: the block belongs to another
       agent now. */
  }
  int32_t maps = weft__slab_maps(p->capacity);
  int32_t map = id % maps;
  for (int32_t i = maps; i > 0; i--) {
    int32_t taken = weft__hint(weft__slab_map(p, map)); /* the owner tells */
    if (taken == -1) taken = weft__load(weft__slab_map(p, map));
    for (uint32_t left = ~(uint32_t)taken; left != 0; left &= left - 1) {
      uint32_t bit = left & (~left + 1);
      int32_t block = map * 32 + __builtin_ctz(left);
      if (block >= p->capacity) break; /* only damaged bits lie there */
      if (!weft__slab_claim(p, block, id)) continue;
      if (cache != NULL && cache->limit > 0)
        weft__slab_fill(p, cache, map, left & (left - 1), bit);
      else
        weft__or(weft__slab_map(p, map), (int32_t)bit);
      return weft__slab_at(p, block);
    }
    map = map + 1 < maps ? map + 1 : 0;
  }
  return NULL;
}

/* Frees `block`, whoever allocated it. EINVAL if no block begins there, or if
   it is free already. `cache` belongs to this thread, or is NULL. Lock-free. */
static inline int weft_slab_pool_free(weft_slab_pool *p, void *block,
                                      weft_slab_cache *cache) {
  uintptr_t first = (uintptr_t)weft__slab_at(p, 0);
  if ((uintptr_t)block < first) return EINVAL;
  uintptr_t offset = (uintptr_t)block - first;
  uintptr_t number = offset / (uintptr_t)p->block_size;
  if (offset % (uintptr_t)p->block_size != 0 ||
      number >= (uintptr_t)p->capacity)
    return EINVAL;
  int32_t *at = weft__slab_owner(p, (int32_t)number);
  bool keep = cache != NULL && cache->count < cache->limit;
  int32_t next = keep ? weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT : 0;
  int32_t owner = weft__hint(at); /* the exchange below checks it */
  if (!weft__slab_is_allocated(owner)) owner = weft__load(at);
  /* If the owner changed before the exchange, somebody else freed the block. */
  if (!weft__slab_is_allocated(owner) ||
      weft__compare_exchange(at, owner, next) != owner)
    return EINVAL;
  if (keep)
    cache->blocks[cache->count++] = (int32_t)number;
  else
    weft__slab_clear(p, (int32_t)number);
  return 0;
}

/* Gives the blocks in this thread's cache back to the pool. */
static inline void weft_slab_pool_release(weft_slab_pool *p,
                                          weft_slab_cache *cache) {
  int32_t kept = weft_agent_id() | WEFT_SLAB_POOL_CACHED_BIT;
  while (cache->count > 0) {
    int32_t block = cache->blocks[--cache->count];
    if (weft__compare_exchange(weft__slab_owner(p, block), kept, 0) == kept)
      weft__slab_clear(p, block);
  }
}

/*
 * Gives back the blocks that agent `id` had in its caches, and a block that it
 * may have been freeing. Call it only when that agent will never run again.
 * With `everything` it also frees all blocks that the agent had allocated; then
 * no other agent may use any of them. Returns how many were in its caches, or
 * allocated.
 */
static inline int32_t weft_slab_pool_abandon(weft_slab_pool *p, int32_t id,
                                             bool everything) {
  int32_t kept = id | WEFT_SLAB_POOL_CACHED_BIT;
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t block = 0; block < p->capacity; block++) {
    int32_t owner = weft__load(weft__slab_owner(p, block));
    if (owner == 0) {
      /* The agent was stopped before it cleared the bit. If another agent
         allocates the block right now, the bit is wrong the other way, which is
         harmless. */
      uint32_t bits = (uint32_t)weft__load(weft__slab_map(p, block / 32));
      if (bits >> (block % 32) & 1) weft__slab_clear(p, block);
    } else if ((owner == kept || (everything && owner == id)) &&
               weft__compare_exchange(weft__slab_owner(p, block), owner, 0) ==
                   owner) {
      weft__slab_clear(p, block);
      count++;
    }
  }
  return count;
}

WEFT__END

#endif /* WEFT_SLAB_POOL_H */
