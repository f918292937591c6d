/* _hash_plan.h - the twin of primitives/_map/plan.ts. */
#ifndef WEFT__HASH_PLAN_H
#define WEFT__HASH_PLAN_H

#include "_hash_heap.h"
#include "_region.h"
#include "_stripes.h"
#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A map from keys to values.
 *
 * word 0   magic        Kind and layout version.
 * word 1   capacity     How many entries there are.
 * word 2   sizes        bits 0-11   the most bytes of a key in an entry
 *                       bits 12-27  the most bytes of a value in an entry
 *                       bit 28      keys differ in length
 *                       bit 29      values differ in length
 *                       bit 30      it is a cache, which evicts entries
 *                       bit 31      its entries expire
 * word 3   seal         Check word over the configuration.
 * word 4   codecs       bits 0-7   the codec of the keys, as in a channel
 *                       bits 8-15  the codec of the values
 * word 5   key_shape    A number that tells apart keys with different fields;
 *                       or 0.
 * word 6   value_shape  The same for values.
 * word 7   seed_low     The lower half of the seed of the hash.
 * word 8   seed_high    The upper half.
 * word 9   ttl          For how many milliseconds a value counts at most; 0 if
 *                       entries do not expire.
 * word 10  blocks       How many blocks the heap has; 0 if the map has no heap,
 *                       as are the next four words.
 * word 11  block_words  The words of a block.
 * word 12  longest      The most bytes of a value; 0 if all values lie in their
 *                       entries.
 * word 13  heap_seal    Check word over the other words of the heap.
 * word 14  longest_key  The most bytes of a key; 0 if all keys lie in their
 *                       entries.
 * word 16  hand         Entries and blocks that the hand of the clock has
 *                       passed, modulo 2^32; 0 in a map that is not a cache.
 * word 17  room         Where there may be room, if there is little: which word
 *                       of the bits of entries.
 * word 18  full         bit 0      no entry is free
 *                       bit 1      an agent looks whether one is, or has looked
 *                       bits 2-31  changes when an entry is freed meanwhile
 * word 32  32 event counts, an epoch and a count of waiters each: agents wait
 *          on that of the five highest bits of the hash of a key. Then a pair
 *          of words for each of up to 256 values that agents are making, padded
 *          to a multiple of 32 words: the id of the agent, or 0; and the hash
 *          of the key, 1 for a hash of 0. Then a bit for each entry, 1 if the
 *          entry is probably not free, padded to a multiple of 32 words. Then
 *          the buckets, four words each: the two words of a mutex; `version`,
 *          which changes after each step that readers must notice; and `head`,
 *          the number of the first entry, counted from 1, or 0. Then the
 *          entries. An entry has `link`: 0 while it is free; bit 31 and the id
 *          of the agent that fills it; or bit 30 and the number of the next
 *          entry, or 0. Then the hash of the key. Then, if a value may have
 *          more than one word, `current`, which changes by 1 with each value:
 *          its lowest bit is the number of the copy that counts, 0 or 1. Then,
 *          in a cache, `used`: 1 if the entry was used since the hand passed
 *          it, or 0. Then the key, and the value or its two copies. What may
 *          differ in length begins with its length in bytes. If entries expire,
 *          a value has two copies, and the last word of each is `expires`: the
 *          time of day in milliseconds, modulo 2^32, from which on it counts no
 *          longer. A cache has eight stripes behind its entries, each of 32
 *          words, from a multiple of 32 words on: hits, misses and evictions,
 *          each as two words of a stripe of a `striped_counter`. A map with a
 *          heap has at its end, from a multiple of 32 words on, a bit for each
 *          block, 1 if the block is probably not free, padded to a multiple of
 *          32 words, and then the blocks. A block has `owner`: 0 while it is
 *          free, or the number of the bucket to which its key or value belongs,
 *          counted from 1; then the number of the next block of that, counted
 *          from 1, or 0; then its bytes. An entry whose key or value has more
 *          bytes than fit there has the number of the first block instead of
 *          the bytes.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t capacity;
  int32_t sizes;
  int32_t seal;
  int32_t codecs;
  int32_t key_shape;
  int32_t value_shape;
  int32_t seed_low;
  int32_t seed_high;
  int32_t ttl;
  int32_t blocks;
  int32_t block_words;
  int32_t longest;
  int32_t heap_seal;
  int32_t longest_key;
  int32_t _pad0[1];
  int32_t hand;
  int32_t room;
  int32_t full;
  int32_t _pad1[13];
} weft_hash_map;
WEFT_WORD(hash_map, magic, 0);
WEFT_WORD(hash_map, capacity, 1);
WEFT_WORD(hash_map, sizes, 2);
WEFT_WORD(hash_map, seal, 3);
WEFT_WORD(hash_map, codecs, 4);
WEFT_WORD(hash_map, key_shape, 5);
WEFT_WORD(hash_map, value_shape, 6);
WEFT_WORD(hash_map, seed_low, 7);
WEFT_WORD(hash_map, seed_high, 8);
WEFT_WORD(hash_map, ttl, 9);
WEFT_WORD(hash_map, blocks, 10);
WEFT_WORD(hash_map, block_words, 11);
WEFT_WORD(hash_map, longest, 12);
WEFT_WORD(hash_map, heap_seal, 13);
WEFT_WORD(hash_map, longest_key, 14);
WEFT_WORD(hash_map, hand, 16);
WEFT_WORD(hash_map, room, 17);
WEFT_WORD(hash_map, full, 18);
WEFT_LENGTH(hash_map, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* What _region.h checks before anything attaches. */
WEFT_WORD(hash_map, sizes, WEFT__HASH_SIZES_WORD);
WEFT_WORD(hash_map, blocks, WEFT__HASH_BLOCKS_WORD);
WEFT_WORD(hash_map, heap_seal, WEFT__HASH_BLOCKS_WORD + 3);
WEFT_WORD(hash_map, longest_key, WEFT__HASH_BLOCKS_WORD + 4);

#define WEFT__HASH_LINKED_BIT (1 << 30) /* HASH_MAP_BITS.LINKED */
#define WEFT__HASH_NEXT_MASK 0x3fffffff /* HASH_MAP_BITS.NEXT */
/* With the id of the agent that fills the entry. */
#define WEFT__HASH_CLAIMED_BIT INT32_MIN /* HASH_MAP_BITS.CLAIMED */
/* In the word `full`. */
#define WEFT__HASH_FULL_BIT 1 /* HASH_MAP_BITS.FULL */
#define WEFT__HASH_LOOKED_BIT (1 << 1) /* HASH_MAP_BITS.LOOKED */

/* What a search finds if no entry has the key, or if the links lead out of the
   chain; else it is the number of an entry. */
enum { WEFT__HASH_NONE = 0, WEFT__HASH_ASTRAY = -1 };

/* A bucket: see the table above. */
typedef struct {
  weft_mutex lock;
  int32_t version;
  int32_t head;
} weft__hash_bucket;

/* Where the parts of a map lie, in words, and what is in them. */
typedef struct {
  int32_t capacity;
  int32_t sizes;   /* as in the map */
  int32_t buckets; /* how many there are, a power of 2 */
  int32_t key_words;
  int32_t value_words; /* of a value, or of one of its two copies */
  int32_t key;   /* words of an entry before its key */
  int32_t value; /* words of an entry before its value */
  int32_t stride;
  bool key_varies;
  bool value_varies;
  bool evicts;  /* then `used` is the word before the key */
  bool expires; /* then `expires` is the last word of a copy of a value */
  int32_t blocks; /* how many the heap has, or 0 */
  bool long_keys; /* keys may lie in blocks */
  bool long_values;
  size_t first;   /* words of the map before its buckets */
  size_t entries; /* words of the map before its entries */
} weft__hash_plan;

/* The words of an entry. */
enum { WEFT__HASH_LINK, WEFT__HASH_HASH, WEFT__HASH_CURRENT };

/* How many event counts there are, the most flights, and the words of one. */
#define WEFT__HASH_GROUPS 32
#define WEFT__HASH_MOST_FLIGHTS 256
enum { WEFT__HASH_FLIGHT_OWNER, WEFT__HASH_FLIGHT_HASH, WEFT__HASH_FLIGHT };

static inline int32_t weft__hash_flights(int32_t capacity) {
  return capacity < WEFT__HASH_MOST_FLIGHTS ? capacity
                                            : WEFT__HASH_MOST_FLIGHTS;
}

/* The words of the event counts and flights. */
static inline int32_t weft__hash_waits(int32_t capacity) {
  return 2 * WEFT__HASH_GROUPS + (weft__hash_flights(capacity) + 15) / 16 * 32;
}

/* The words of the bits. */
static inline size_t weft__hash_maps(int32_t capacity) {
  return ((size_t)capacity + 1023) / 1024 * 32;
}

static inline WEFT__HOT weft__hash_plan weft__hash_plan_for(int32_t capacity,
                                                            int32_t sizes) {
  weft__hash_plan plan;
  int32_t most = capacity - (capacity >> 2);
  plan.capacity = capacity;
  plan.sizes = sizes;
  plan.blocks = 0;
  plan.long_keys = false;
  plan.long_values = false;
  plan.buckets = 1 << (31 - __builtin_clz((uint32_t)(most < 1 ? 1 : most)));
  plan.key_varies = (sizes & WEFT__HASH_KEY_VARIES_BIT) != 0;
  plan.value_varies = (sizes & WEFT__HASH_VALUE_VARIES_BIT) != 0;
  plan.key_words =
      weft__hash_words(sizes & WEFT__HASH_KEY_SIZE, plan.key_varies);
  plan.value_words = weft__hash_words(
      sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE,
      plan.value_varies);
  plan.expires = (sizes & WEFT__HASH_EXPIRES_BIT) != 0;
  if (plan.expires) plan.value_words++;
  plan.evicts = (sizes & WEFT__HASH_EVICTS_BIT) != 0;
  plan.key = (plan.value_words > 1 ? WEFT__HASH_CURRENT + 1
                                   : WEFT__HASH_HASH + 1) +
             (plan.evicts ? 1 : 0);
  plan.value = plan.key + plan.key_words;
  plan.stride = weft__hash_stride(sizes);
  plan.first = sizeof(weft_hash_map) / 4 + (size_t)weft__hash_waits(capacity) +
               weft__hash_maps(capacity);
  plan.entries =
      plan.first + (size_t)plan.buckets * (sizeof(weft__hash_bucket) / 4);
  return plan;
}

static inline WEFT__HOT weft__hash_plan weft__hash_plan_of(
    const weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_for(m->capacity, m->sizes);
  plan.blocks = m->blocks;
  plan.long_keys = m->longest_key != 0;
  plan.long_values = m->longest != 0;
  return plan;
}

/* The epoch of the event count for a hash. */
static inline int32_t *weft__hash_epoch(const weft_hash_map *m, int32_t hash) {
  int32_t *waits = (int32_t *)(uintptr_t)(m + 1);
  return waits + ((uint32_t)hash >> 27) * 2; /* 32 groups */
}

static inline int32_t *weft__hash_flight(const weft_hash_map *m,
                                         int32_t number) {
  int32_t *flights = (int32_t *)(uintptr_t)(m + 1) + 2 * WEFT__HASH_GROUPS;
  return flights + number * WEFT__HASH_FLIGHT;
}

static inline int32_t *weft__hash_map(const weft_hash_map *m, int32_t map) {
  int32_t *waits = (int32_t *)(uintptr_t)(m + 1);
  return waits + weft__hash_waits(m->capacity) + map;
}

static inline weft__hash_bucket *weft__hash_bucket_at(const weft_hash_map *m,
                                                      int32_t number) {
  int32_t *buckets = weft__hash_map(m, 0) + weft__hash_maps(m->capacity);
  return (weft__hash_bucket *)buckets + number;
}

/* Entry `number`, from 1 on. */
static inline int32_t *weft__hash_entry(const weft_hash_map *m,
                                        const weft__hash_plan *plan,
                                        int32_t number) {
  int32_t *words = (int32_t *)(uintptr_t)m;
  return words + plan->entries + (size_t)(number - 1) * (size_t)plan->stride;
}

/* How many stripes of counts a cache has, a power of 2. */
#define WEFT__HASH_STRIPES 8

/* The counts of the agents that have one stripe. */
typedef struct {
  weft__stripe hits, misses, evictions;
  int32_t _pad[26];
} weft__hash_stripe;

/* The stripes of a cache. */
static inline weft__hash_stripe *weft__hash_stripes(
    const weft_hash_map *m, const weft__hash_plan *plan) {
  int32_t *begin = (int32_t *)(uintptr_t)m;
  ptrdiff_t end = weft__hash_entry(m, plan, plan->capacity + 1) - begin;
  return (weft__hash_stripe *)(void *)(begin + (end + 31) / 32 * 32);
}

/* The words of a map without its heap. */
static inline size_t weft__hash_length(const weft__hash_plan *plan) {
  size_t end = plan->entries + (size_t)plan->capacity * (size_t)plan->stride;
  if (!plan->evicts) return end;
  return (end + 31) / 32 * 32 +
         WEFT__HASH_STRIPES * (sizeof(weft__hash_stripe) / 4);
}

/* The heap of a map that has one, for its values. */
static inline weft__heap weft__hash_heap_of(const weft_hash_map *m,
                                            const weft__hash_plan *plan) {
  weft__heap heap;
  int32_t *words = (int32_t *)(uintptr_t)m;
  heap.count = plan->blocks;
  heap.words = m->block_words;
  heap.longest = m->longest;
  heap.in_entry = m->sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE;
  heap.bits = words + (weft__hash_length(plan) + 31) / 32 * 32;
  heap.blocks = heap.bits + weft__hash_maps(heap.count);
  return heap;
}

/* The same for its keys. */
static inline weft__heap weft__hash_keys_of(const weft_hash_map *m,
                                            const weft__hash_plan *plan) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  heap.longest = m->longest_key;
  heap.in_entry = m->sizes & WEFT__HASH_KEY_SIZE;
  return heap;
}

WEFT__END

#endif

#endif /* WEFT__HASH_PLAN_H */
