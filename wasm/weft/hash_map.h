/* hash_map.h - the twin of primitives/hash_map.ts. */
#ifndef WEFT_HASH_MAP_H
#define WEFT_HASH_MAP_H

#include "_event_count.h"
#include "_hash_heap.h"
#include "_region.h"
#include "_stripes.h"
#include "agent.h"
#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The codecs of keys and values, as JavaScript names them: bytes, UTF-8, JSON,
   an int32_t, a double, a struct, a codec of a user's, or any value. The bytes
   of a key between the members of a struct must be 0. */
enum {
  WEFT_HASH_MAP_BINARY = 1,
  WEFT_HASH_MAP_TEXT = 2,
  WEFT_HASH_MAP_JSON = 3,
  WEFT_HASH_MAP_I32 = 4,
  WEFT_HASH_MAP_F64 = 5,
  WEFT_HASH_MAP_RECORD = 6,
  WEFT_HASH_MAP_OWN = 8,
  WEFT_HASH_MAP_VALUE = 9
};

/*
 * The configuration of a map: how many entries fit; the codec of the keys, and
 * the most bytes of one, 1 to 4095; the same for values, 1 to 65535; and a seed,
 * which decides which keys share a bucket. Let it be random if others choose
 * keys. Keys and values of I32, F64 and RECORD have exactly that many bytes. If
 * `evicts`, the map is a cache: a full one takes out an entry that was not used
 * lately when a key is added, by second chances. An entry of a cache counts for
 * `ttl` ms after it was written, at most 2^30; 0 is for ever. Agents count by
 * the time of day.
 */
typedef struct {
  int32_t capacity;
  int32_t key_codec;
  int32_t key_size;
  int32_t value_codec;
  int32_t value_size;
  uint64_t seed;
  bool evicts;
  int32_t ttl;
} weft_hash_map_config;

/* Where values lie that are too long for an entry: the bytes of all blocks, up to
   2^30; the bytes of one, a multiple of 4 from 12 to 65536, of which 8 are not
   for values; and the most bytes of a value, up to 2^20. With a heap, the
   `value_size` of the configuration is the most bytes of a value that lies in its
   entry. */
typedef struct {
  int32_t bytes;
  int32_t block_size;
  int32_t longest;
} weft_hash_map_heap;

/* Begin of what `deno task layout` makes from primitives/_layout.ts. */
/* clang-format off */
/*
 * A map from keys to values.
 *
 * word 0   magic        Kind and layout version.
 * word 1   capacity     How many entries there are.
 * word 2   sizes        bits 0-11   the most bytes of a key
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
 *                       as are the next three words.
 * word 11  block_words  The words of a block.
 * word 12  longest      The most bytes of a value.
 * word 13  heap_seal    Check word over the three words before.
 * word 16  hand         Entries that the hand of the clock has passed, modulo
 *                       2^32; 0 in a map that is not a cache, as are the next
 *                       two words.
 * word 17  freed        Entries that were freed, modulo 2^32.
 * word 18  full         `freed` + 1 before the last search that found no free
 *                       entry.
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
 *          free, or the number of the bucket to which its value belongs,
 *          counted from 1; then the number of the next block of the value,
 *          counted from 1, or 0; then bytes of the value. An entry whose value
 *          has more bytes than fit there has the number of the first block
 *          instead of the bytes.
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
  int32_t _pad0[2];
  int32_t hand;
  int32_t freed;
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
WEFT_WORD(hash_map, hand, 16);
WEFT_WORD(hash_map, freed, 17);
WEFT_WORD(hash_map, full, 18);
WEFT_LENGTH(hash_map, 32);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* What _region.h checks before anything attaches. */
WEFT_WORD(hash_map, sizes, WEFT__HASH_SIZES_WORD);
WEFT_WORD(hash_map, blocks, WEFT__HASH_BLOCKS_WORD);
WEFT_WORD(hash_map, heap_seal, WEFT__HASH_BLOCKS_WORD + 3);

#define WEFT__HASH_LINKED_BIT (1 << 30) /* HASH_MAP_BITS.LINKED */
#define WEFT__HASH_NEXT_MASK 0x3fffffff /* HASH_MAP_BITS.NEXT */
/* With the id of the agent that fills the entry. */
#define WEFT__HASH_CLAIMED_BIT INT32_MIN /* HASH_MAP_BITS.CLAIMED */

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

static inline weft__hash_plan weft__hash_plan_for(int32_t capacity,
                                                  int32_t sizes) {
  weft__hash_plan plan;
  int32_t most = capacity - (capacity >> 2);
  plan.capacity = capacity;
  plan.blocks = 0;
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

static inline weft__hash_plan weft__hash_plan_of(const weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_for(m->capacity, m->sizes);
  plan.blocks = m->blocks;
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

/* The stripe of this agent. */
static inline weft__hash_stripe *weft__hash_own_stripe(
    const weft_hash_map *m, const weft__hash_plan *plan) {
  int32_t i = weft_agent_id() & (WEFT__HASH_STRIPES - 1);
  return weft__hash_stripes(m, plan) + i;
}

/* The words of a map without its heap. */
static inline size_t weft__hash_length(const weft__hash_plan *plan) {
  size_t end = plan->entries + (size_t)plan->capacity * (size_t)plan->stride;
  if (!plan->evicts) return end;
  return (end + 31) / 32 * 32 +
         WEFT__HASH_STRIPES * (sizeof(weft__hash_stripe) / 4);
}

/* The heap of a map that has one. */
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

static inline bool weft__hash_is_sized(int32_t codec) {
  return codec >= WEFT_HASH_MAP_I32 && codec <= WEFT_HASH_MAP_RECORD;
}

static inline bool weft__hash_is_codec(int32_t codec, int32_t size) {
  return codec >= WEFT_HASH_MAP_BINARY && codec <= WEFT_HASH_MAP_VALUE &&
         (codec != WEFT_HASH_MAP_I32 || size == 4) &&
         (codec != WEFT_HASH_MAP_F64 || size == 8);
}

/* The longest time that a value counts, in milliseconds: 12 days. */
#define WEFT__HASH_MOST_TTL (1 << 30)

/* How many blocks a heap has; 0 if it is out of range. */
static inline int32_t weft__hash_blocks(weft_hash_map_config config,
                                        weft_hash_map_heap heap) {
  if (heap.block_size < 12 || heap.block_size % 4 != 0 ||
      heap.bytes < heap.block_size || heap.bytes > 1 << 30 ||
      weft__hash_is_sized(config.value_codec))
    return 0;
  int32_t blocks = heap.bytes / heap.block_size;
  return weft__hash_has_room(blocks, heap.block_size / 4, heap.longest,
                             config.value_size)
             ? blocks
             : 0;
}

static inline int32_t weft__hash_sizes(weft_hash_map_config config) {
  if (config.ttl < 0 || config.ttl > WEFT__HASH_MOST_TTL) return 0;
  if (config.ttl > 0 && !config.evicts) return 0;
  if (config.key_size < 1 || config.key_size > WEFT__HASH_KEY_SIZE) return 0;
  if (config.value_size < 1 || config.value_size > WEFT__HASH_VALUE_SIZE)
    return 0;
  if (!weft__hash_is_codec(config.key_codec, config.key_size)) return 0;
  if (!weft__hash_is_codec(config.value_codec, config.value_size)) return 0;
  int32_t sizes =
      config.key_size | config.value_size << WEFT__HASH_VALUE_SHIFT;
  if (!weft__hash_is_sized(config.key_codec))
    sizes |= WEFT__HASH_KEY_VARIES_BIT;
  if (!weft__hash_is_sized(config.value_codec))
    sizes |= WEFT__HASH_VALUE_VARIES_BIT;
  if (config.evicts) sizes |= WEFT__HASH_EVICTS_BIT;
  if (config.ttl > 0) sizes |= WEFT__HASH_EXPIRES_BIT;
  return sizes;
}

/* Parts of WEFT_HASH_MAP_BYTES: a codec and a size as there. */
#define WEFT__HASH_WORDS(codec, size)                                     \
  (((codec) < WEFT_HASH_MAP_I32 || (codec) > WEFT_HASH_MAP_RECORD) + 0ll + \
   ((size) + 3) / 4)
#define WEFT__HASH_FITS(codec, size, most)                   \
  ((codec) >= WEFT_HASH_MAP_BINARY && (codec) <= WEFT_HASH_MAP_VALUE && \
   (size) >= 1 && (size) <= (most) &&                        \
   ((codec) != WEFT_HASH_MAP_I32 || (size) == 4) &&          \
   ((codec) != WEFT_HASH_MAP_F64 || (size) == 8))
#define WEFT__HASH_FLIGHTS(capacity) \
  ((capacity) < WEFT__HASH_MOST_FLIGHTS ? (capacity) : WEFT__HASH_MOST_FLIGHTS)
#define WEFT__HASH_STRIDE(key_words, value_words) \
  ((key_words) + ((value_words) > 1 ? 3 + 2 * (value_words) : 3))

/* The bytes of a map or, with the further words of an entry as `used`, of a
   cache without its stripes. */
#define WEFT__HASH_BYTES(capacity, key_codec, key_size, value_codec,          \
                         value_size, used)                                    \
  (!WEFT__HASH_FITS(key_codec, key_size, WEFT__HASH_KEY_SIZE) ||              \
           !WEFT__HASH_FITS(value_codec, value_size, WEFT__HASH_VALUE_SIZE) || \
           (capacity) < 1 ||                                                  \
           (capacity) * ((used) + WEFT__HASH_STRIDE(                          \
                             WEFT__HASH_WORDS(key_codec, key_size),           \
                             WEFT__HASH_WORDS(value_codec, value_size))) >    \
               1 << 28                                                        \
       ? 0                                                                    \
       : sizeof(weft_hash_map) +                                              \
             sizeof(int32_t) *                                                \
                 (2 * WEFT__HASH_GROUPS +                                     \
                  WEFT__MULTIPLE(WEFT__HASH_FLIGHTS(capacity) * 2, 32)) +     \
             sizeof(int32_t) * WEFT__MULTIPLE(((capacity) + 31) / 32, 32) +   \
             sizeof(weft__hash_bucket) *                                      \
                 WEFT__POWER(((capacity) - (capacity) / 4) / 2 + 1) +         \
             4ull * (capacity) *                                              \
                 ((used) + WEFT__HASH_STRIDE(                                 \
                     WEFT__HASH_WORDS(key_codec, key_size),                   \
                     WEFT__HASH_WORDS(value_codec, value_size))))

/* The bytes of a map as a constant expression; 0 if out of range. */
#define WEFT_HASH_MAP_BYTES(capacity, key_codec, key_size, value_codec, \
                            value_size)                                 \
  WEFT__HASH_BYTES(capacity, key_codec, key_size, value_codec, value_size, 0)

#define WEFT__HASH_CACHE_BYTES(capacity, key_codec, key_size, value_codec,  \
                               value_size, used)                            \
  (WEFT__HASH_BYTES(capacity, key_codec, key_size, value_codec, value_size, \
                    used) == 0                                              \
       ? 0                                                                  \
       : WEFT__MULTIPLE(WEFT__HASH_BYTES(capacity, key_codec, key_size,     \
                                         value_codec, value_size, used),    \
                        sizeof(weft__hash_stripe)) +                        \
             WEFT__HASH_STRIPES * sizeof(weft__hash_stripe))

/* The same for a cache. */
#define WEFT_HASH_MAP_CACHE_BYTES(capacity, key_codec, key_size, value_codec, \
                                  value_size)                                 \
  WEFT__HASH_CACHE_BYTES(capacity, key_codec, key_size, value_codec,          \
                         value_size, 1)

/* The same for a cache with a `ttl`: a value always has two copies, and each a
   word more. */
#define WEFT_HASH_MAP_TTL_BYTES(capacity, key_codec, key_size, value_codec, \
                                value_size)                                 \
  WEFT__HASH_CACHE_BYTES(                                                   \
      capacity, key_codec, key_size, value_codec, value_size,               \
      (WEFT__HASH_WORDS(value_codec, value_size) > 1 ? 3 : 5))

/* The same for a map with a heap of `blocks` blocks of `block_size` bytes. `map`
   is what one of the macros above says of the map, with the bytes of a value that
   lies in its entry as `value_size`. */
#define WEFT_HASH_MAP_HEAP_BYTES(map, blocks, block_size)                   \
  ((map) == 0 || (blocks) < 1 || (block_size) < 12 ||                       \
           (block_size) > 4 * WEFT__HASH_MOST_BLOCK || (block_size) % 4 != 0 || \
           (blocks) > (1 << 30) / (block_size)                              \
       ? 0                                                                  \
       : WEFT__MULTIPLE(map, 128) +                                         \
             sizeof(int32_t) * WEFT__MULTIPLE(((blocks) + 31) / 32, 32) +   \
             1ull * (blocks) * (block_size))

/* The bytes of a map of this configuration; 0 if it is out of range. */
static inline size_t weft_hash_map_bytes(weft_hash_map_config config) {
  int32_t sizes = weft__hash_sizes(config);
  if (!weft__hash_is_possible(config.capacity, sizes)) return 0;
  weft__hash_plan plan = weft__hash_plan_for(config.capacity, sizes);
  return 4 * weft__hash_length(&plan);
}

/* The bytes of a map of this configuration with a heap; 0 if it is out of
   range. */
static inline size_t weft_hash_map_bytes_with_heap(weft_hash_map_config config,
                                                   weft_hash_map_heap heap) {
  size_t bytes = weft_hash_map_bytes(config);
  int32_t blocks = weft__hash_blocks(config, heap);
  if (bytes == 0 || blocks == 0) return 0;
  return (bytes + 127) / 128 * 128 + 4 * weft__hash_maps(blocks) +
         (size_t)blocks * (size_t)heap.block_size;
}

/* The map at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_hash_map) != NULL) return NULL;
  return (weft_hash_map *)at;
}

/* Initializes `bytes` bytes of unused memory as an empty map. NULL if the
   configuration is out of range, the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_init(
    void *at, size_t bytes, weft_hash_map_config config) {
  weft_hash_map *m = (weft_hash_map *)at;
  size_t needed = weft_hash_map_bytes(config);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  m->capacity = config.capacity;
  m->sizes = weft__hash_sizes(config);
  m->seal = weft__seal(WEFT_KIND_hash_map, m->capacity, m->sizes);
  m->codecs = config.key_codec | config.value_codec << 8;
  m->ttl = config.ttl;
  m->seed_low = (int32_t)(uint32_t)config.seed;
  m->seed_high = (int32_t)(uint32_t)(config.seed >> 32);
  weft__store(&m->magic, weft__magic(WEFT_KIND_hash_map));
  return m;
}

/* As weft_hash_map_init, for a map with a heap. */
static inline WEFT__RESULT weft_hash_map *weft_hash_map_init_with_heap(
    void *at, size_t bytes, weft_hash_map_config config,
    weft_hash_map_heap heap) {
  size_t needed = weft_hash_map_bytes_with_heap(config, heap);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  weft_hash_map *m = weft_hash_map_init(at, bytes, config);
  m->blocks = weft__hash_blocks(config, heap);
  m->block_words = heap.block_size / 4;
  m->longest = heap.longest;
  m->heap_seal = weft__hash_heap_seal(m->blocks, m->block_words, m->longest);
  return m;
}

/* How many entries fit. */
static inline int32_t weft_hash_map_capacity(const weft_hash_map *m) {
  return m->capacity;
}

/* The most bytes of a key. */
static inline int32_t weft_hash_map_key_size(const weft_hash_map *m) {
  return m->sizes & WEFT__HASH_KEY_SIZE;
}

/* The most bytes of a value in an entry. */
static inline int32_t weft__hash_in_entry(const weft_hash_map *m) {
  return m->sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE;
}

/* The most bytes of a value. */
static inline int32_t weft_hash_map_value_size(const weft_hash_map *m) {
  return m->blocks == 0 ? weft__hash_in_entry(m) : m->longest;
}

/* How many entries there are; they are counted one by one. An entry that another
   agent adds or deletes meanwhile may be counted or not. One that has expired is
   counted until another one takes its place, or an operation that writes comes
   to its key. */
static inline int32_t weft_hash_map_size(const weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  int32_t count = 0;
  for (int32_t number = 1; number <= plan.capacity; number++) {
    int32_t link = weft__load(weft__hash_entry(m, &plan, number));
    if (link & WEFT__HASH_LINKED_BIT) count++;
  }
  return count;
}

/* A count of all agents: the one that stands in `stripe` at `count`. */
#define WEFT__HASH_SUM(m, count)                                  \
  do {                                                            \
    weft__hash_plan plan = weft__hash_plan_of(m);                 \
    int64_t sum = 0;                                              \
    if (!plan.evicts) return 0;                                   \
    const weft__hash_stripe *stripe = weft__hash_stripes(m, &plan); \
    for (int32_t i = 0; i < WEFT__HASH_STRIPES; i++)              \
      sum += weft__stripe_sum(&stripe[i].count);                  \
    return sum;                                                   \
  } while (0)

/* How many calls found their key; only in a cache, else 0. Counted are
   weft_hash_map_get and weft_hash_map_get_or_insert. A call of another agent may
   be counted a little later. */
static inline int64_t weft_hash_map_hits(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, hits);
}

/* The same of calls that did not find their key. */
static inline int64_t weft_hash_map_misses(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, misses);
}

/* How many entries were taken out so that others had room, without those that
   had expired; or 0. */
static inline int64_t weft_hash_map_evictions(const weft_hash_map *m) {
  WEFT__HASH_SUM(m, evictions);
}

/* ---- time: see primitives/_map/time.ts ------------------------------------ */

/* The clocks of two agents differ by less, in milliseconds. */
#define WEFT__HASH_LATE 1000

/* The clock as a word, for weft__hash_is_over: an operation looks before it
   reads an entry. */
static inline int32_t weft__hash_now(const weft__hash_plan *plan) {
  return plan->expires ? (int32_t)(uint32_t)(uint64_t)WEFT_DATE() : 0;
}

/* Whether a value with this word `expires` counts no longer. It cannot count for
   longer than `ttl`: if it seems so, 25 days have passed, and the difference has
   wrapped, or the machine's clock was set back. */
static inline bool weft__hash_is_over(const weft_hash_map *m, int32_t expires,
                                      int32_t now) {
  if ((m->sizes & WEFT__HASH_EXPIRES_BIT) == 0) return false;
  int32_t left = weft__plus(expires, weft__plus(~now, 1));
  return left <= 0 || left > weft__plus(m->ttl, WEFT__HASH_LATE);
}

/* The word `expires` of the copy that counts if `current` says so. */
static inline int32_t *weft__hash_end(const weft__hash_plan *plan,
                                      const int32_t *entry, int32_t current) {
  int32_t *value = (int32_t *)(uintptr_t)entry + plan->value;
  return value + ((current & 1) + 1) * plan->value_words - 1;
}

/* Whether an entry has expired. An agent that does not hold the lock may be told
   so of one that has a new value by now. */
static inline bool weft__hash_has_expired(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          const int32_t *entry) {
  if (!plan->expires) return false;
  int32_t now = weft__hash_now(plan);
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  int32_t expires = weft__load(weft__hash_end(plan, entry, current));
  return weft__hash_is_over(m, expires, now);
}

/* Instead of a `ttl`: a value expires when the one before it would have. */
#define WEFT__HASH_KEEPS 0

/* Lets the copy that counts if `current` says so count for `ttl` ms. */
static inline void weft__hash_renew(const weft__hash_plan *plan,
                                    const int32_t *entry, int32_t current,
                                    int32_t ttl) {
  weft__store(weft__hash_end(plan, entry, current),
              weft__plus(weft__hash_now(plan), ttl));
}

/* ---- keys and values ------------------------------------------------------ */

/* The bytes of a key or value as words: the length first, if it varies, and
   zeros after the last byte. */
typedef struct {
  const unsigned char *bytes;
  int32_t length;
  bool varies;
  int32_t count; /* of words */
  double number; /* a key of F64 as it is compared */
  int32_t block; /* the number of the first block of a long value, or 0 */
} weft__hash_cell;

static inline int32_t weft__hash_word(const weft__hash_cell *cell, int32_t i) {
  if (cell->varies && i-- == 0) return cell->length;
  return weft__hash_part(cell->bytes + 4 * (size_t)i, cell->length - 4 * i);
}

static inline bool weft__hash_cell_of(weft__hash_cell *cell, const void *bytes,
                                      size_t length, int32_t size,
                                      bool varies) {
  if (varies ? length > (size_t)size : length != (size_t)size) return false;
  cell->bytes = (const unsigned char *)bytes;
  cell->length = (int32_t)length;
  cell->varies = varies;
  cell->block = WEFT__HEAP_NONE;
  cell->count = weft__hash_words(cell->length, varies);
  return true;
}

/* As in a Map, NaN equals itself, and -0 equals 0. */
static inline bool weft__hash_key_of(weft__hash_cell *cell,
                                     const weft_hash_map *m, const void *bytes,
                                     size_t length) {
  bool varies = (m->sizes & WEFT__HASH_KEY_VARIES_BIT) != 0;
  int32_t size = weft_hash_map_key_size(m);
  if (!weft__hash_cell_of(cell, bytes, length, size, varies)) return false;
  bool f64 = (m->codecs & 0xff) == WEFT_HASH_MAP_F64;
  if (!f64 || varies || size != 8) return true; /* damaged words may say both */
  uint64_t bits = 0;
  __builtin_memcpy(&bits, bytes, length); /* which is 8 */
  uint64_t magnitude = bits & UINT64_C(0x7fffffffffffffff);
  if (magnitude == 0) bits = 0;
  if (magnitude > UINT64_C(0x7ff0000000000000))
    bits = UINT64_C(0x7ff8000000000000);
  __builtin_memcpy(&cell->number, &bits, sizeof bits);
  cell->bytes = (const unsigned char *)&cell->number;
  return true;
}

static inline bool weft__hash_value_of(weft__hash_cell *cell,
                                       const weft_hash_map *m,
                                       const void *bytes, size_t length) {
  bool varies = (m->sizes & WEFT__HASH_VALUE_VARIES_BIT) != 0;
  return weft__hash_cell_of(cell, bytes, length, weft__hash_in_entry(m),
                            varies) ||
         (m->blocks != 0 &&
          weft__hash_cell_of(cell, bytes, length, m->longest, varies));
}

static inline uint32_t weft__hash_rotated(uint32_t word, int bits) {
  return (word & UINT32_MAX >> bits) << bits | word >> (32 - bits);
}

/* A number that depends on the words and on the seed: HalfSipHash-1-3 without
   its last block, as a key tells its length itself. */
static inline int32_t weft__hash_of(const weft_hash_map *m,
                                    const weft__hash_cell *key) {
  uint32_t v0 = (uint32_t)m->seed_low;
  uint32_t v1 = (uint32_t)m->seed_high;
  uint32_t v2 = UINT32_C(0x6c796765) ^ v0;
  uint32_t v3 = UINT32_C(0x74656462) ^ v1;
  for (int32_t i = 0; i < key->count + 3; i++) {
    uint32_t word = i < key->count ? (uint32_t)weft__hash_word(key, i) : 0;
    if (i == key->count) v2 ^= 0xff;
    v3 ^= word;
    v0 = weft__sum(v0, v1);
    v1 = weft__hash_rotated(v1, 5) ^ v0;
    v0 = weft__hash_rotated(v0, 16);
    v2 = weft__sum(v2, v3);
    v3 = weft__hash_rotated(v3, 8) ^ v2;
    v0 = weft__sum(v0, v3);
    v3 = weft__hash_rotated(v3, 7) ^ v0;
    v2 = weft__sum(v2, v1);
    v1 = weft__hash_rotated(v1, 13) ^ v2;
    v2 = weft__hash_rotated(v2, 16);
    v0 ^= word;
  }
  return (int32_t)(v1 ^ v3);
}

/* A key, its hash, and where it belongs. */
typedef struct {
  weft__hash_plan plan;
  weft__hash_cell key;
  int32_t hash;
  weft__hash_bucket *bucket;
  /* The word that led to the entry that the last search found: `head`, or the
     `link` of the entry before. */
  int32_t *before;
} weft__hash_place;

static inline weft__hash_bucket *weft__hash_bucket_of(
    const weft_hash_map *m, const weft__hash_plan *plan, int32_t hash) {
  int32_t *words = (int32_t *)(uintptr_t)m + plan->first;
  return (weft__hash_bucket *)(void *)words + (hash & (plan->buckets - 1));
}

static inline bool weft__hash_place_of(weft__hash_place *place,
                                       const weft_hash_map *m, const void *key,
                                       size_t length) {
  if (!weft__hash_key_of(&place->key, m, key, length)) return false;
  place->plan = weft__hash_plan_of(m);
  place->hash = weft__hash_of(m, &place->key);
  place->bucket = weft__hash_bucket_of(m, &place->plan, place->hash);
  return true;
}

/* ---- reading -------------------------------------------------------------- */

static inline bool weft__hash_has(const weft__hash_place *place,
                                  const int32_t *entry) {
  /* If keys have one word, comparing it is as fast as the hash. */
  if (place->plan.key_words > 1 &&
      weft__load(entry + WEFT__HASH_HASH) != place->hash)
    return false;
  const int32_t *from = entry + place->plan.key;
  for (int32_t i = 0; i < place->key.count; i++)
    if (weft__load(from + i) != weft__hash_word(&place->key, i)) return false;
  return true;
}

/* The number of the entry with the key. */
static inline int32_t weft__hash_find(const weft_hash_map *m,
                                      weft__hash_place *place) {
  place->before = &place->bucket->head;
  int32_t next = weft__load(&place->bucket->head); /* pairs with (P) */
  for (int32_t left = WEFT__MOST_TRIES; next != 0; left--) {
    if (next < 1 || next > place->plan.capacity || left == 0)
      return WEFT__HASH_ASTRAY;
    int32_t *entry = weft__hash_entry(m, &place->plan, next);
    if (weft__hash_has(place, entry)) return next;
    int32_t link = weft__load(entry + WEFT__HASH_LINK);
    if ((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT)
      return WEFT__HASH_ASTRAY;
    place->before = entry + WEFT__HASH_LINK;
    next = link & WEFT__HASH_NEXT_MASK;
  }
  return WEFT__HASH_NONE;
}

/* Copies `most` words, or as many as the length in the first one says, as bytes:
   at most `room` of `size` bytes. False if the length is impossible. */
static inline bool weft__hash_copy(const int32_t *from, bool varies,
                                   int32_t most, int32_t size, void *into,
                                   size_t room, size_t *length) {
  int32_t count = most;
  int32_t bytes = size;
  int32_t word = weft__load(from);
  if (varies) {
    bytes = word;
    if (bytes < 0 || bytes > size) return false;
    count = weft__hash_words(bytes, true);
  }
  *length = (size_t)bytes;
  unsigned char *to = (unsigned char *)into;
  for (int32_t i = varies ? 1 : 0; i < count; i++) {
    if (i > 0) word = weft__load(from + i);
    size_t at = 4 * (size_t)(varies ? i - 1 : i);
    size_t left = (size_t)bytes - at;
    if (at + (left < 4 ? left : 4) > room) continue;
    weft__hash_part_to(to + at, word, left);
  }
  return true;
}

/* The word `current`, or 0 if values have one word. */
static inline int32_t weft__hash_current(const weft__hash_plan *plan,
                                         const int32_t *entry) {
  return plan->value_words > 1 ? weft__load(entry + WEFT__HASH_CURRENT) : 0;
}

/* Copies the value that counts if `current` says so. */
static inline bool weft__hash_copy_of(const weft_hash_map *m,
                                      const weft__hash_plan *plan,
                                      const int32_t *entry, int32_t current,
                                      void *into, size_t room, size_t *length) {
  const int32_t *from =
      entry + plan->value + (current & 1) * plan->value_words;
  int32_t words = plan->value_words - (plan->expires ? 1 : 0);
  if (plan->blocks != 0) {
    weft__heap heap = weft__hash_heap_of(m, plan);
    return weft__heap_copy(&heap, from, into, room, length);
  }
  return weft__hash_copy(from, plan->value_varies, words,
                         weft__hash_in_entry(m), into, room, length);
}

static inline bool weft__hash_copy_value(const weft_hash_map *m,
                                         const weft__hash_plan *plan,
                                         const int32_t *entry, void *into,
                                         size_t room, size_t *length) {
  int32_t current = weft__hash_current(plan, entry);
  return weft__hash_copy_of(m, plan, entry, current, into, room, length);
}

/* The number of the entry with the key, without a lock. Copies its value, if
   `length` is not NULL. */
static inline int32_t weft__hash_read(const weft_hash_map *m,
                                      weft__hash_place *place, void *into,
                                      size_t room, size_t *length) {
  const weft__hash_plan *plan = &place->plan;
  int32_t now = weft__hash_now(plan);
  for (int32_t tries = WEFT__MOST_TRIES; tries > 0; tries--) {
    int32_t expires = 0;
    int32_t version = weft__load(&place->bucket->version);
    int32_t number = weft__hash_find(m, place);
    if (number > 0 && (length != NULL || plan->expires)) {
      const int32_t *entry = weft__hash_entry(m, plan, number);
      int32_t current = weft__hash_current(plan, entry);
      if (plan->expires)
        expires = weft__load(weft__hash_end(plan, entry, current));
      bool is_copied =
          length == NULL ||
          weft__hash_copy_of(m, plan, entry, current, into, room, length);
      /* Pairs with (C): if the copy was used again, or a block of it, `current`
         has changed. */
      if (weft__hash_current(&place->plan, entry) != current) continue;
      if (!is_copied) number = WEFT__HASH_ASTRAY;
    }
    /* Pairs with (V): if the entry was used again before it was read, `version`
       has changed. */
    if (weft__load(&place->bucket->version) != version) continue;
    bool is_over = number > 0 && weft__hash_is_over(m, expires, now);
    return is_over ? WEFT__HASH_NONE : number;
  }
  return WEFT__HASH_ASTRAY;
}

/* Gives an entry of a cache a second chance. It may be another one by now, which
   gets that chance: harmless. */
static inline void weft__hash_touch(const weft_hash_map *m,
                                    const weft__hash_plan *plan,
                                    int32_t number) {
  if (!plan->evicts) return;
  int32_t *used = weft__hash_entry(m, plan, number) + plan->key - 1;
  if (weft__load(used) == 0) weft__store(used, 1);
}

/* As weft_hash_map_get, but a cache does not count it. */
static inline int weft__hash_get(const weft_hash_map *m, const void *key,
                                 size_t key_length, void *into, size_t room,
                                 size_t *length) {
  weft__hash_place place;
  size_t bytes = 0;
  if (!weft__hash_place_of(&place, m, key, key_length)) return EINVAL;
  int32_t number = weft__hash_read(m, &place, into, room, &bytes);
  if (number == WEFT__HASH_NONE) return ENOENT;
  if (number == WEFT__HASH_ASTRAY) return ENOTRECOVERABLE;
  weft__hash_touch(m, &place.plan, number);
  *length = bytes;
  return bytes > room ? EOVERFLOW : 0;
}

/*
 * Copies the value of a key to `into`, which has `room` bytes, and its length to
 * `*length`. Returns 0; ENOENT if the key is not there; EOVERFLOW if the value
 * is longer than `room`; EINVAL if a key cannot have `key_length` bytes; or
 * ENOTRECOVERABLE if the map is damaged. Lock-free.
 */
static inline WEFT__RESULT int weft_hash_map_get(const weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length, void *into,
                                                 size_t room, size_t *length) {
  int error = weft__hash_get(m, key, key_length, into, room, length);
  if ((m->sizes & WEFT__HASH_EVICTS_BIT) == 0) return error;
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__hash_stripe *own = weft__hash_own_stripe(m, &plan);
  if (error == 0 || error == EOVERFLOW) weft__stripe_add(&own->hits, 1);
  if (error == ENOENT) weft__stripe_add(&own->misses, 1);
  return error;
}

/* Whether a key has a value: 0, ENOENT, EINVAL or ENOTRECOVERABLE, as for
   weft_hash_map_get. Lock-free. */
static inline WEFT__RESULT int weft_hash_map_has(const weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length) {
  weft__hash_place place;
  if (!weft__hash_place_of(&place, m, key, key_length)) return EINVAL;
  int32_t number = weft__hash_read(m, &place, NULL, 0, NULL);
  if (number == WEFT__HASH_NONE) return ENOENT;
  return number == WEFT__HASH_ASTRAY ? ENOTRECOVERABLE : 0;
}

/* As weft_hash_map_get, but EBUSY if the key is not there. */
static inline int weft__hash_await(const weft_hash_map *m, const void *key,
                                   size_t key_length, void *into, size_t room,
                                   size_t *length) {
  int error = weft__hash_get(m, key, key_length, into, room, length);
  return error == ENOENT ? EBUSY : error;
}

/*
 * As weft_hash_map_get, but blocks up to `timeout` ns until the key is there.
 * Returns ETIMEDOUT if it is not by then, EPERM if this agent may not block, or
 * a result of weft_hash_map_get but ENOENT.
 */
static inline WEFT__RESULT int weft_hash_map_wait_for(
    const weft_hash_map *m, const void *key, size_t key_length, void *into,
    size_t room, size_t *length, int64_t timeout) {
  weft__hash_cell cell;
  if (!weft__hash_key_of(&cell, m, key, key_length)) return EINVAL;
  int32_t *epoch = weft__hash_epoch(m, weft__hash_of(m, &cell));
  WEFT__EVENT_BLOCK(weft__hash_await(m, key, key_length, into, room, length),
                    epoch, (void)0, timeout);
}

/*
 * The next entry. Begin with `*cursor` 0. `key` and `value` have room for a key
 * and a value of the map. Returns 0; ENOENT after the last one; EINVAL if
 * `*cursor` is below 0; or ENOTRECOVERABLE. An entry that is there all the time
 * is seen once. One that another agent adds, deletes or overwrites meanwhile may
 * be seen or not, and in its old or its new state.
 */
static inline WEFT__RESULT int weft_hash_map_next(
    const weft_hash_map *m, int32_t *cursor, void *key, size_t *key_length,
    void *value, size_t *value_length) {
  weft__hash_place place;
  weft__hash_plan plan = weft__hash_plan_of(m);
  size_t key_room = (size_t)weft_hash_map_key_size(m);
  size_t value_room = (size_t)weft_hash_map_value_size(m);
  if (*cursor < 0) return EINVAL;
  while (*cursor < plan.capacity) {
    int32_t number = ++*cursor;
    const int32_t *entry = weft__hash_entry(m, &plan, number);
    if ((weft__load(entry) & WEFT__HASH_LINKED_BIT) == 0) continue;
    if (!weft__hash_copy(entry + plan.key, plan.key_varies, plan.key_words,
                         (int32_t)key_room, key, key_room, key_length))
      continue;
    /* The copy may be a mixture of two keys: what counts is a search for it. */
    if (!weft__hash_place_of(&place, m, key, *key_length)) continue;
    int32_t found =
        weft__hash_read(m, &place, value, value_room, value_length);
    if (found == WEFT__HASH_ASTRAY) return ENOTRECOVERABLE;
    if (found == number) return 0;
  }
  return ENOENT;
}

/* ---- writing, with the lock ----------------------------------------------- */

/* Fills a copy of a key or value. For a value in blocks, these are its length and
   the first block. Readers may still be there, which had found an
   older entry. */
static inline void weft__hash_fill(int32_t *at, const weft__hash_cell *cell) {
  if (cell->block != WEFT__HEAP_NONE) {
    weft__store(at, cell->length);
    weft__store(at + 1, cell->block);
    return;
  }
  for (int32_t i = 0; i < cell->count; i++)
    weft__store(at + i, weft__hash_word(cell, i));
}

static inline void weft__hash_free(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   int32_t number) {
  uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
  weft__store(weft__hash_entry(m, plan, number), 0);
  weft__and(weft__hash_map(m, (number - 1) >> 5), (int32_t)~bit);
  if (plan->evicts) weft__add(&m->freed, 1); /* (R) there is room */
}

/* Makes entry `number` the caller's, if it is free; returns whether it did. */
static inline bool weft__hash_claim(const weft_hash_map *m,
                                    const weft__hash_plan *plan,
                                    int32_t number) {
  int32_t *link = weft__hash_entry(m, plan, number);
  int32_t id = weft_agent_id();
  if (weft__compare_exchange(link, 0, WEFT__HASH_CLAIMED_BIT | id) != 0)
    return false;
  uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
  weft__or(weft__hash_map(m, (number - 1) >> 5), (int32_t)bit);
  return true;
}

/* The number of an entry that was free and is the caller's now, or NONE. */
static inline int32_t weft__hash_allocate(const weft_hash_map *m,
                                          const weft__hash_plan *plan) {
  int32_t id = weft_agent_id();
  int32_t maps = (plan->capacity + 31) / 32;
  int32_t map = id % maps;
  for (int32_t i = maps; i > 0; i--) {
    int32_t taken = weft__load(weft__hash_map(m, map));
    for (uint32_t left = ~(uint32_t)taken; left != 0; left &= left - 1) {
      int32_t number = map * 32 + __builtin_ctz(left) + 1;
      if (number > plan->capacity) break;
      if (weft__hash_claim(m, plan, number)) return number;
    }
    map = map + 1 < maps ? map + 1 : 0;
  }
  return WEFT__HASH_NONE;
}

/* The first word of the copy of a value that counts, if it has two. */
static inline int32_t *weft__hash_value_at(const weft__hash_plan *plan,
                                           int32_t *entry) {
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  return entry + plan->value + (current & 1) * plan->value_words;
}

/* The number of the first block of the value of an entry; 0 if it has none. */
static inline int32_t weft__hash_block(const weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       int32_t *entry) {
  if (plan->blocks == 0) return WEFT__HEAP_NONE;
  weft__heap heap = weft__hash_heap_of(m, plan);
  return weft__heap_first(&heap, weft__hash_value_at(plan, entry));
}

/* The number of the bucket for this hash, by which its blocks name it. */
static inline int32_t weft__hash_owner(const weft__hash_plan *plan,
                                       int32_t hash) {
  return (hash & (plan->buckets - 1)) + 1;
}

/* The same of a bucket. */
static inline int32_t weft__hash_number(const weft_hash_map *m,
                                        const weft__hash_bucket *bucket) {
  return (int32_t)(bucket - weft__hash_bucket_at(m, 0)) + 1;
}

/* Frees the blocks of a value of bucket `owner` from number `block` on. */
static inline void weft__hash_free_blocks(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          int32_t block, int32_t owner) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  weft__heap_free(&heap, block, owner);
}

/* Gives an entry another value. If entries expire, it counts for `ttl` ms, or
   KEEPS the time of the old one. */
static inline void weft__hash_overwrite(const weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t number,
                                        const weft__hash_cell *value,
                                        int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t *at = entry + plan->value;
  if (plan->value_words == 1) {
    weft__store(at, weft__hash_word(value, 0));
    return;
  }
  int32_t old = weft__hash_block(m, plan, entry);
  int32_t current = weft__load(entry + WEFT__HASH_CURRENT);
  int32_t next = weft__plus(current, 1);
  weft__hash_fill(at + (next & 1) * plan->value_words, value);
  if (plan->expires && ttl == WEFT__HASH_KEEPS) {
    int32_t expires = weft__load(weft__hash_end(plan, entry, current));
    weft__store(weft__hash_end(plan, entry, next), expires);
  } else if (plan->expires) {
    weft__hash_renew(plan, entry, next, ttl);
  }
  weft__store(entry + WEFT__HASH_CURRENT, next); /* (C) the new value counts */
  if (old != WEFT__HEAP_NONE) {
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash));
  }
  /* It may have expired since it was found, and agents wait for it. */
  if (plan->expires) {
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);
  }
}

/* Takes an entry out; `before` is the word that leads to it. The entry is the
   caller's, if it `claims` it, or free. */
static inline void weft__hash_take_out(weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       weft__hash_bucket *bucket,
                                       int32_t number, int32_t *before,
                                       bool claims) {
  int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t next = weft__load(entry + WEFT__HASH_LINK) & WEFT__HASH_NEXT_MASK;
  bool is_first = before == &bucket->head;
  int32_t old = weft__hash_block(m, plan, entry);
  weft__add(&bucket->version, 1); /* (F) views of JavaScript forget the entry */
  weft__store(before, is_first ? next : WEFT__HASH_LINKED_BIT | next);
  weft__add(&bucket->version, 1); /* (V) the entry may be used */
  if (old != WEFT__HEAP_NONE)
    weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));
  if (claims)
    weft__store(entry, WEFT__HASH_CLAIMED_BIT | weft_agent_id());
  else
    weft__hash_free(m, plan, number);
}

/* Locks a bucket: 0, or EDEADLK within an own update, or EPERM if it stays
   locked and this agent may not block. */
static inline int weft__hash_lock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  int32_t *word = &bucket->lock.state;
  int32_t state = weft__compare_exchange(word, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  if (weft__mutex_spin(&bucket->lock, id, WEFT_FOREVER)) return 0;
  if (!weft__may_block()) return EPERM;
  (void)weft__mutex_lock_slow(&bucket->lock, id, state, WEFT_FOREVER, false);
  return 0;
}

/* Locks a bucket if nobody holds it or waits for it; returns whether it did. */
static inline bool weft__hash_try_lock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  return weft__compare_exchange(&bucket->lock.state, WEFT_MUTEX_UNLOCKED,
                                id) == WEFT_MUTEX_UNLOCKED;
}

static inline void weft__hash_unlock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  int32_t *word = &bucket->lock.state;
  int32_t state = weft__compare_exchange(word, id, WEFT_MUTEX_UNLOCKED);
  if (state != id) (void)weft_mutex_unlock(&bucket->lock);
}

/* The word that leads to entry `number` in the chain of the bucket, or NULL. The
   caller holds the lock. */
static inline int32_t *weft__hash_leads_to(const weft_hash_map *m,
                                           const weft__hash_plan *plan,
                                           weft__hash_bucket *bucket,
                                           int32_t number) {
  int32_t *before = &bucket->head;
  for (int32_t left = WEFT__MOST_TRIES; left > 0; left--) {
    int32_t next = weft__load(before) & WEFT__HASH_NEXT_MASK;
    if (next == number) return before;
    if (next < 1 || next > plan->capacity) break;
    before = weft__hash_entry(m, plan, next) + WEFT__HASH_LINK;
  }
  return NULL;
}

/* ---- the clock of a cache: see primitives/_map/clock.ts ------------------- */

/* The most entries at which the hand looks for one that is not used, and then
   for any: so a new key takes no longer in a large cache. */
#define WEFT__HASH_MOST_LOOKS 256

/* Whether the entry was used; takes that chance from it. */
static inline bool weft__hash_spare(const weft__hash_plan *plan,
                                    int32_t *entry) {
  if (weft__load(entry + plan->key - 1) == 0) return false;
  weft__store(entry + plan->key - 1, 0);
  return true;
}

/* Takes an entry out, and claims it if it `claims`; false if another agent
   writes there. */
static inline bool weft__hash_take(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   const weft__hash_bucket *own,
                                   int32_t number, bool claims) {
  const int32_t *entry = weft__hash_entry(m, plan, number);
  int32_t hash = weft__load(entry + WEFT__HASH_HASH);
  weft__hash_bucket *bucket = weft__hash_bucket_of(m, plan, hash);
  /* (T) Never wait: whoever holds it may want an entry of this agent's bucket. */
  if (bucket != own && !weft__hash_try_lock(bucket)) return false;
  /* The entry may have got into another bucket meanwhile, or be free. */
  int32_t *before = weft__hash_leads_to(m, plan, bucket, number);
  if (before != NULL)
    weft__hash_take_out(m, plan, bucket, number, before, claims);
  if (bucket != own) weft__hash_unlock(bucket);
  return before != NULL;
}

static inline int32_t weft__hash_evict(weft_hash_map *m,
                                       const weft__hash_place *place) {
  const weft__hash_plan *plan = &place->plan;
  weft__hash_stripe *counts = weft__hash_own_stripe(m, plan);
  int32_t looks = plan->capacity < WEFT__HASH_MOST_LOOKS
                      ? plan->capacity
                      : WEFT__HASH_MOST_LOOKS;
  for (int32_t left = 2 * looks; left > 0; left--) {
    uint32_t hand = (uint32_t)weft__add(&m->hand, 1);
    int32_t number = (int32_t)(hand % (uint32_t)plan->capacity) + 1;
    int32_t *entry = weft__hash_entry(m, plan, number);
    int32_t link = weft__load(entry);
    if (link == 0) {
      if (weft__hash_claim(m, plan, number)) return number;
    } else if ((link & WEFT__HASH_LINKED_BIT) != 0) {
      bool is_over = weft__hash_has_expired(m, plan, entry);
      if (left > looks && !is_over && weft__hash_spare(plan, entry)) continue;
      if (!weft__hash_take(m, plan, place->bucket, number, true)) continue;
      if (!is_over) weft__stripe_add(&counts->evictions, 1);
      return number;
    }
  }
  weft__stripe_add(&counts->evictions, 1);
  return WEFT__HASH_NONE;
}

/* The number of an entry that is the caller's now. NONE if other agents are
   writing to all that it looked at: then the new key counts as evicted. The
   caller holds the bucket. */
static inline int32_t weft__hash_take_room(weft_hash_map *m,
                                           const weft__hash_place *place) {
  /* Pairs with (R): an entry that is freed after this is looked for again. */
  int32_t freed = weft__plus(weft__load(&m->freed), 1);
  if (weft__load(&m->full) != freed) {
    int32_t number = weft__hash_allocate(m, &place->plan);
    if (number != WEFT__HASH_NONE) return number;
    weft__store(&m->full, freed);
  }
  return weft__hash_evict(m, place);
}

/* Takes out an entry whose value lies in blocks, other than number `kept`, and
   frees these. Then `*map` is a word of the bits that has free ones. False if it
   found none. The caller holds the bucket. */
static inline bool weft__hash_make_room(weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t kept, int32_t *map) {
  const weft__hash_plan *plan = &place->plan;
  weft__hash_stripe *counts = weft__hash_own_stripe(m, plan);
  int32_t looks = plan->capacity < WEFT__HASH_MOST_LOOKS
                      ? plan->capacity
                      : WEFT__HASH_MOST_LOOKS;
  for (int32_t left = 2 * looks; left > 0; left--) {
    uint32_t hand = (uint32_t)weft__add(&m->hand, 1);
    int32_t number = (int32_t)(hand % (uint32_t)plan->capacity) + 1;
    int32_t *entry = weft__hash_entry(m, plan, number);
    int32_t link = weft__load(entry);
    if (number == kept || (link & WEFT__HASH_LINKED_BIT) == 0) continue;
    int32_t block = weft__hash_block(m, plan, entry);
    if (block == WEFT__HEAP_NONE) continue;
    bool is_over = weft__hash_has_expired(m, plan, entry);
    if (!is_over && left > looks && weft__hash_spare(plan, entry)) continue;
    if (!weft__hash_take(m, plan, place->bucket, number, false)) continue;
    if (!is_over) weft__stripe_add(&counts->evictions, 1);
    /* Another agent may have changed the number before this one took it. */
    if (block >= 1 && block <= plan->blocks) *map = (block - 1) >> 5;
    return true;
  }
  return false;
}

/* Puts a long value into blocks; false if there is no room. In a cache, entries
   give way, but not number `kept`. The caller holds the bucket. */
static inline bool weft__hash_put(weft_hash_map *m,
                                  const weft__hash_place *place, int32_t hash,
                                  weft__hash_cell *value, int32_t kept) {
  const weft__hash_plan *plan = &place->plan;
  weft__heap heap = weft__hash_heap_of(m, plan);
  weft__heap_value made;
  made.owner = weft__hash_owner(plan, hash);
  made.first = WEFT__HEAP_NONE;
  made.count = 0;
  /* Where the search begins depends on the key: so agents rarely meet. */
  uint32_t maps = ((uint32_t)heap.count + 31) / 32;
  made.map = (int32_t)((uint32_t)hash % maps);
  int32_t body = weft__heap_body(&heap);
  int32_t wanted = ((value->length + 3) / 4 + body - 1) / body;
  int32_t left = heap.count;
  while (!weft__heap_gather(&heap, &made, wanted)) {
    if (left-- > 0 && plan->evicts &&
        weft__hash_make_room(m, place, kept, &made.map))
      continue;
    weft__hash_free_blocks(m, plan, made.first, made.owner);
    if (plan->evicts)
      weft__stripe_add(&weft__hash_own_stripe(m, plan)->evictions, 1);
    return false;
  }
  weft__heap_fill(&heap, made.first, value->bytes, value->length);
  value->block = made.first;
  return true;
}

static inline bool weft__hash_is_long(const weft_hash_map *m,
                                      const weft__hash_place *place,
                                      const weft__hash_cell *value) {
  return place->plan.blocks != 0 && value->length > weft__hash_in_entry(m);
}

/* As weft__hash_overwrite; false if there is no room for the value. In a cache,
   the entry then gives way, too. */
static inline bool weft__hash_replace(weft_hash_map *m,
                                      const weft__hash_place *place,
                                      int32_t number, weft__hash_cell *value,
                                      int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  if (weft__hash_is_long(m, place, value) &&
      !weft__hash_put(m, place,
                      weft__load(weft__hash_entry(m, plan, number) +
                                 WEFT__HASH_HASH),
                      value, number)) {
    if (!plan->evicts) return false;
    int32_t *before = weft__hash_leads_to(m, plan, place->bucket, number);
    if (before != NULL)
      weft__hash_take_out(m, plan, place->bucket, number, before, false);
    return true;
  }
  weft__hash_overwrite(m, place, number, value, ttl);
  return true;
}

/* Adds an entry, whose value counts for `ttl` ms if entries expire; false if the
   map is full. */
static inline bool weft__hash_insert(weft_hash_map *m,
                                     const weft__hash_place *place,
                                     weft__hash_cell *value, int32_t ttl) {
  const weft__hash_plan *plan = &place->plan;
  if (weft__hash_is_long(m, place, value) &&
      !weft__hash_put(m, place, place->hash, value, 0))
    return plan->evicts;
  int32_t number = plan->evicts ? weft__hash_take_room(m, place)
                                : weft__hash_allocate(m, plan);
  if (number == WEFT__HASH_NONE) {
    if (value->block != WEFT__HEAP_NONE)
      weft__hash_free_blocks(m, plan, value->block,
                             weft__hash_owner(plan, place->hash));
    return plan->evicts;
  }
  int32_t *entry = weft__hash_entry(m, plan, number);
  weft__store(entry + WEFT__HASH_HASH, place->hash);
  weft__hash_fill(entry + plan->key, &place->key);
  weft__hash_fill(entry + plan->value, value);
  if (plan->expires) weft__hash_renew(plan, entry, 0, ttl);
  if (plan->value_words > 1) weft__store(entry + WEFT__HASH_CURRENT, 0);
  if (plan->evicts) weft__store(entry + plan->key - 1, 0);
  int32_t next = weft__load(&place->bucket->head);
  weft__store(entry + WEFT__HASH_LINK, WEFT__HASH_LINKED_BIT | next);
  weft__store(&place->bucket->head, number); /* (P) */
  weft__event_wake(weft__hash_epoch(m, place->hash), WEFT__ALL);
  return true;
}

/* ---- operations that write ------------------------------------------------ */

/* Searches for the key in its locked bucket. Takes the entry out if it has
   expired. */
static inline int32_t weft__hash_search(weft_hash_map *m,
                                        weft__hash_place *place) {
  int32_t number = weft__hash_find(m, place);
  if (number <= 0) return number;
  const int32_t *entry = weft__hash_entry(m, &place->plan, number);
  if (!weft__hash_has_expired(m, &place->plan, entry)) return number;
  weft__hash_take_out(m, &place->plan, place->bucket, number, place->before,
                      false);
  return WEFT__HASH_NONE;
}

/* Locks the bucket of a key and searches for it: 0 with the number of its entry,
   or NONE. Else the bucket is not locked. */
static inline int weft__hash_enter(weft_hash_map *m,
                                   weft__hash_place *place, const void *key,
                                   size_t key_length, int32_t *number) {
  if (!weft__hash_place_of(place, m, key, key_length)) return EINVAL;
  int error = weft__hash_lock(place->bucket);
  if (error != 0) return error;
  *number = weft__hash_search(m, place);
  if (*number != WEFT__HASH_ASTRAY) return 0;
  weft__hash_unlock(place->bucket);
  return ENOTRECOVERABLE;
}

/* The same for an operation that uses the entry. */
static inline int weft__hash_enter_to_use(weft_hash_map *m,
                                          weft__hash_place *place,
                                          const void *key, size_t key_length,
                                          int32_t *number) {
  int error = weft__hash_enter(m, place, key, key_length, number);
  if (error == 0 && *number != WEFT__HASH_NONE)
    weft__hash_touch(m, &place->plan, *number);
  return error;
}

static inline int weft__hash_set(weft_hash_map *m, const void *key,
                                 size_t key_length, const void *value,
                                 size_t length, bool if_absent, int32_t ttl) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  if (!weft__hash_value_of(&cell, m, value, length)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = weft__hash_insert(m, &place, &cell, ttl) ? 0 : ENOSPC;
  else if (if_absent)
    error = EEXIST;
  else if (!weft__hash_replace(m, &place, number, &cell, ttl))
    error = ENOSPC;
  weft__hash_unlock(place.bucket);
  return error;
}

/*
 * Gives a key a value of `length` bytes. Returns 0. ENOSPC: the map is full and
 * the key is not there, or its heap has no room for the value; it may also say so
 * while another agent adds, overwrites or deletes an entry; a cache never says
 * so. EEXIST: the key is there, with `if_absent`.
 * EINVAL: a length is impossible. EDEADLK: this agent is within an update of the
 * bucket. EPERM: another agent writes to the bucket, and this one may not block.
 * ENOTRECOVERABLE: the map is damaged.
 */
static inline WEFT__RESULT int weft_hash_map_set(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t length, bool if_absent) {
  return weft__hash_set(m, key, key_length, value, length, if_absent, m->ttl);
}

/* As weft_hash_map_set, but the value counts for `ttl` ms: 1 to that of the
   cache. EINVAL if it is out of range, or entries do not expire. */
static inline WEFT__RESULT int weft_hash_map_set_for(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t length, bool if_absent, int32_t ttl) {
  if (ttl < 1 || ttl > m->ttl) return EINVAL;
  return weft__hash_set(m, key, key_length, value, length, if_absent, ttl);
}

/*
 * Deletes a key, and copies the value that it had as weft_hash_map_get does. Of
 * several agents that take one value, one gets it. With EOVERFLOW it is not
 * deleted. Else returns 0, ENOENT, or an error of weft_hash_map_set.
 */
static inline WEFT__RESULT int weft_hash_map_take(weft_hash_map *m,
                                                  const void *key,
                                                  size_t key_length, void *into,
                                                  size_t room, size_t *length) {
  weft__hash_place place;
  int32_t number;
  int error = weft__hash_enter(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = ENOENT;
  else if (!weft__hash_copy_value(m, &place.plan,
                                  weft__hash_entry(m, &place.plan, number),
                                  into, room, length))
    error = ENOTRECOVERABLE;
  else if (*length > room)
    error = EOVERFLOW;
  if (error == 0)
    weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  weft__hash_unlock(place.bucket);
  return error;
}

/* Deletes a key and its value: 0, ENOENT, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_delete(weft_hash_map *m,
                                                    const void *key,
                                                    size_t key_length) {
  weft__hash_place place;
  int32_t number;
  int error = weft__hash_enter(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE)
    error = ENOENT;
  else
    weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  weft__hash_unlock(place.bucket);
  return error;
}

/* Changes a value of `*length` bytes, or makes one if `is_there` is false.
   Returns false to delete the key. `value` has room for a value of the map. */
typedef bool weft_hash_map_change(void *value, size_t *length, bool is_there,
                                  void *context);

/*
 * Gives a key the value that `change` makes of the old one, in `value`, which
 * has room for a value of the map. No other agent writes to the key meanwhile,
 * or to others of its bucket: `change` must be short, and may not write to this
 * map. Returns 0, or an error of weft_hash_map_set.
 */
static inline WEFT__RESULT int weft_hash_map_update(
    weft_hash_map *m, const void *key, size_t key_length,
    weft_hash_map_change *change, void *context, void *value) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  size_t length = 0;
  size_t room = (size_t)weft_hash_map_value_size(m);
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  bool is_there = number != WEFT__HASH_NONE;
  if (is_there && !weft__hash_copy_value(
                      m, &place.plan, weft__hash_entry(m, &place.plan, number),
                      value, room, &length)) {
    error = ENOTRECOVERABLE;
  } else if (!change(value, &length, is_there, context)) {
    if (is_there)
      weft__hash_take_out(m, &place.plan, place.bucket, number, place.before,
                        false);
  } else if (!weft__hash_value_of(&cell, m, value, length)) {
    error = EINVAL;
  } else if (is_there) {
    if (!weft__hash_replace(m, &place, number, &cell, m->ttl)) error = ENOSPC;
  } else if (!weft__hash_insert(m, &place, &cell, m->ttl)) {
    error = ENOSPC;
  }
  weft__hash_unlock(place.bucket);
  return error;
}

/* Adds a value if the key is not there. Then, or if it is, copies the value that
   the key has, as weft_hash_map_get does. Returns 0, EOVERFLOW, or an error of
   weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_get_or_insert(
    weft_hash_map *m, const void *key, size_t key_length, const void *value,
    size_t value_length, void *into, size_t room, size_t *length) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  if (!weft__hash_value_of(&cell, m, value, value_length)) return EINVAL;
  int error = weft_hash_map_get(m, key, key_length, into, room, length);
  if (error != ENOENT) return error;
  error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    *length = value_length;
    if (!weft__hash_insert(m, &place, &cell, m->ttl))
      error = ENOSPC;
    else if (value_length <= room && value_length > 0)
      __builtin_memcpy(into, value, value_length);
  } else if (!weft__hash_copy_value(m, &place.plan,
                                    weft__hash_entry(m, &place.plan, number),
                                    into, room, length)) {
    error = ENOTRECOVERABLE;
  }
  weft__hash_unlock(place.bucket);
  return error == 0 && *length > room ? EOVERFLOW : error;
}

/* ---- numbers -------------------------------------------------------------- */

static inline bool weft__hash_has_values(const weft_hash_map *m,
                                         int32_t codec) {
  return m->codecs >> 8 == codec &&
         weft_hash_map_value_size(m) == (codec == WEFT_HASH_MAP_I32 ? 4 : 8);
}

/* If the value of a key is `expected`, replaces it. `*found` is the value that
   was there. The new value expires when the old one would have. For values of
   I32; EINVAL otherwise. Returns 0, ENOENT, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_compare_exchange(
    weft_hash_map *m, const void *key, size_t key_length, int32_t expected,
    int32_t replacement, int32_t *found) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  size_t length;
  if (!weft__hash_has_values(m, WEFT_HASH_MAP_I32)) return EINVAL;
  if (!weft__hash_value_of(&cell, m, &replacement, 4)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    error = ENOENT;
  } else {
    (void)weft__hash_copy_value(m, &place.plan,
                                weft__hash_entry(m, &place.plan, number), found,
                                4, &length);
    if (*found == expected)
      weft__hash_overwrite(m, &place, number, &cell, WEFT__HASH_KEEPS);
  }
  weft__hash_unlock(place.bucket);
  return error;
}

/* Adds to a value of I32 that has two copies; returns the value before. */
static inline int32_t weft__hash_add_long(weft_hash_map *m,
                                          const weft__hash_place *place,
                                          int32_t number, int32_t n) {
  weft__hash_cell cell;
  size_t length;
  int32_t old = 0;
  (void)weft__hash_copy_value(m, &place->plan,
                              weft__hash_entry(m, &place->plan, number), &old,
                              4, &length);
  int32_t sum = weft__plus(old, n);
  if (weft__hash_value_of(&cell, m, &sum, 4))
    weft__hash_overwrite(m, place, number, &cell, WEFT__HASH_KEEPS);
  return old;
}

/* Adds `n` to the value of a key, which counts as 0 if it is not there; the sum
   wraps. `*before` is the value before; `before` may be NULL. A number that was
   there expires when it would have. For values of I32; EINVAL otherwise. Returns
   0, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_add(weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length, int32_t n,
                                                 int32_t *before) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  if (!weft__hash_has_values(m, WEFT_HASH_MAP_I32)) return EINVAL;
  if (!weft__hash_value_of(&cell, m, &n, 4)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  int32_t old = 0;
  if (number != WEFT__HASH_NONE) {
    if (place.plan.expires)
      old = weft__hash_add_long(m, &place, number, n);
    else
      old = weft__add(weft__hash_entry(m, &place.plan, number) +
                          place.plan.value,
                      n);
  } else if (!weft__hash_insert(m, &place, &cell, m->ttl)) {
    error = ENOSPC;
  }
  if (before != NULL) *before = old;
  weft__hash_unlock(place.bucket);
  return error;
}

/* As weft_hash_map_compare_exchange, for values of F64. NaN equals itself, and
   -0 equals 0. */
static inline WEFT__RESULT int weft_hash_map_compare_exchange_f64(
    weft_hash_map *m, const void *key, size_t key_length, double expected,
    double replacement, double *found) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  size_t length;
  if (!weft__hash_has_values(m, WEFT_HASH_MAP_F64)) return EINVAL;
  if (!weft__hash_value_of(&cell, m, &replacement, 8)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    error = ENOENT;
  } else {
    (void)weft__hash_copy_value(m, &place.plan,
                                weft__hash_entry(m, &place.plan, number), found,
                                8, &length);
    if (!(*found < expected) && !(*found > expected) &&
        __builtin_isnan(*found) == __builtin_isnan(expected))
      weft__hash_overwrite(m, &place, number, &cell, WEFT__HASH_KEEPS);
  }
  weft__hash_unlock(place.bucket);
  return error;
}

/* As weft_hash_map_add, for values of F64. */
static inline WEFT__RESULT int weft_hash_map_add_f64(weft_hash_map *m,
                                                     const void *key,
                                                     size_t key_length,
                                                     double n, double *before) {
  weft__hash_place place;
  weft__hash_cell cell;
  int32_t number;
  size_t length;
  if (!weft__hash_has_values(m, WEFT_HASH_MAP_F64)) return EINVAL;
  int error = weft__hash_enter_to_use(m, &place, key, key_length, &number);
  if (error != 0) return error;
  double old = 0;
  if (number != WEFT__HASH_NONE) {
    (void)weft__hash_copy_value(m, &place.plan,
                                weft__hash_entry(m, &place.plan, number),
                                &old, 8, &length);
  }
  if (before != NULL) *before = old;
  double sum = old + n;
  (void)weft__hash_value_of(&cell, m, &sum, 8);
  if (number != WEFT__HASH_NONE)
    weft__hash_overwrite(m, &place, number, &cell, WEFT__HASH_KEEPS);
  else if (!weft__hash_insert(m, &place, &cell, m->ttl))
    error = ENOSPC;
  weft__hash_unlock(place.bucket);
  return error;
}

/* ---- all entries ---------------------------------------------------------- */

/* Whether the chain of the bucket has an end. */
static inline bool weft__hash_is_whole(const weft_hash_map *m,
                                       const weft__hash_plan *plan,
                                       const weft__hash_bucket *bucket) {
  int32_t next = weft__load(&bucket->head);
  for (int32_t left = WEFT__MOST_TRIES; next != 0; left--) {
    if (next < 1 || next > plan->capacity || left == 0) return false;
    int32_t link = weft__load(weft__hash_entry(m, plan, next));
    if ((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT) return false;
    next = link & WEFT__HASH_NEXT_MASK;
  }
  return true;
}

/* Deletes all entries, bucket by bucket. An entry that another agent adds
   meanwhile may stay. Returns 0, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_clear(weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  for (int32_t i = 0; i < plan.buckets; i++) {
    weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    if (weft__load(&bucket->head) == 0) continue;
    int error = weft__hash_lock(bucket);
    if (error != 0) return error;
    if (!weft__hash_is_whole(m, &plan, bucket)) error = ENOTRECOVERABLE;
    while (error == 0) {
      int32_t next = weft__load(&bucket->head);
      if (next == 0) break;
      weft__hash_take_out(m, &plan, bucket, next, &bucket->head, false);
    }
    weft__hash_unlock(bucket);
    if (error != 0) return error;
  }
  return 0;
}

/* ---- after a death -------------------------------------------------------- */

/* Frees the entries that agent `id`, which is dead, was filling. */
static inline void weft__hash_release(weft_hash_map *m,
                                      const weft__hash_plan *plan,
                                      int32_t id) {
  int32_t claimed = WEFT__HASH_CLAIMED_BIT | id;
  for (int32_t number = 1; number <= plan->capacity; number++) {
    int32_t *at = weft__hash_entry(m, plan, number);
    int32_t link = weft__load(at);
    int32_t *bits = weft__hash_map(m, (number - 1) >> 5);
    uint32_t bit = UINT32_C(1) << ((number - 1) & 31);
    /* By an exchange, as other agents may do the same, and use the entry. */
    bool is_freed = link == claimed &&
                    weft__compare_exchange(at, claimed, 0) == claimed;
    /* Or the agent ended before it cleared the bit. If another agent claims the
       entry now, its bit is wrong the other way: harmless. */
    if (is_freed || (link == 0 && ((uint32_t)weft__load(bits) & bit) != 0))
      weft__and(bits, (int32_t)~bit);
  }
  if (plan->evicts) weft__add(&m->freed, 1); /* as (R) */
}

/* Ends the flights of agent `id`, which is dead; returns how many. */
static inline int32_t weft__hash_release_flights(const weft_hash_map *m,
                                                 int32_t id) {
  int32_t count = 0;
  for (int32_t i = 0; i < weft__hash_flights(m->capacity); i++) {
    int32_t *flight = weft__hash_flight(m, i);
    int32_t self = weft_agent_id();
    if (weft__load(flight) != id) continue;
    /* One agent does it: then nobody else's flight is ended. */
    if (weft__compare_exchange(flight, id, self) != id) continue;
    int32_t hash = weft__load(flight + WEFT__HASH_FLIGHT_HASH);
    weft__store(flight + WEFT__HASH_FLIGHT_HASH, 0); /* (E) then wake */
    weft__store(flight, 0);
    weft__event_wake(weft__hash_epoch(m, hash), WEFT__ALL);
    count++;
  }
  return count;
}

/* Whether a value of the bucket has the block. The caller holds the lock. */
static inline bool weft__hash_has_block(const weft_hash_map *m,
                                        const weft__hash_plan *plan,
                                        const weft__heap *heap,
                                        const weft__hash_bucket *bucket,
                                        int32_t block) {
  int32_t next = weft__load(&bucket->head);
  for (int32_t left = WEFT__MOST_TRIES; left > 0; left--) {
    if (next < 1 || next > plan->capacity) break;
    int32_t *entry = weft__hash_entry(m, plan, next);
    if (weft__heap_has(heap, weft__hash_value_at(plan, entry), block))
      return true;
    next = weft__load(entry + WEFT__HASH_LINK) & WEFT__HASH_NEXT_MASK;
  }
  return false;
}

/* Frees the blocks of the bucket in which no value lies, after its holder
   died. */
static inline void weft__hash_mend_blocks(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          const weft__hash_bucket *bucket) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  int32_t owner = weft__hash_number(m, bucket);
  for (int32_t number = 1; number <= heap.count; number++) {
    int32_t found =
        weft__load(weft__heap_at(&heap, number) + WEFT__HEAP_OWNER);
    if (found == owner && !weft__hash_has_block(m, plan, &heap, bucket, number))
      weft__heap_release(&heap, number);
    /* Or the agent ended before it cleared the bit. If another agent claims the
       block now, its bit is wrong the other way: harmless. */
    if (found == 0 && ((uint32_t)weft__load(weft__heap_map(&heap, number)) &
                       weft__heap_bit(number)) != 0)
      weft__heap_clear(&heap, number);
  }
}

/* Frees the entries that a dead agent had taken out of the bucket, or had not
   linked yet, and the blocks in which no value of the bucket lies. The caller
   holds the lock. */
static inline void weft__hash_mend(weft_hash_map *m,
                                   const weft__hash_plan *plan,
                                   weft__hash_bucket *bucket) {
  weft__add(&bucket->version, 1); /* as (V) */
  for (int32_t number = 1; number <= plan->capacity; number++) {
    const int32_t *entry = weft__hash_entry(m, plan, number);
    /* In this order: nobody else fills entries for this bucket now, so an entry
       that was linked elsewhere does not get a hash of this bucket. */
    int32_t link = weft__load(entry);
    if ((link & ~WEFT__HASH_NEXT_MASK) != WEFT__HASH_LINKED_BIT) continue;
    int32_t hash = weft__load(entry + WEFT__HASH_HASH);
    if (weft__hash_bucket_of(m, plan, hash) != bucket) continue;
    if (weft__hash_leads_to(m, plan, bucket, number) == NULL)
      weft__hash_free(m, plan, number);
  }
  if (plan->blocks != 0) weft__hash_mend_blocks(m, plan, bucket);
}

/*
 * Mends and unlocks the buckets that agent `id` was writing to. Each of its
 * writes has happened wholly or not at all. Lets another agent make the values
 * that it was making. Call it only when that agent will never run again. Returns
 * how many buckets and such values there were, or
 * -ENOTRECOVERABLE if such a bucket is damaged; then nothing has changed.
 */
static inline int32_t weft_hash_map_abandon(weft_hash_map *m, int32_t id) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  int32_t count = 0;
  if (id == 0) return 0;
  for (int32_t i = 0; i < plan.buckets; i++) {
    weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    if (weft_mutex_owner(&bucket->lock) != id) continue;
    if (!weft__hash_is_whole(m, &plan, bucket)) return -ENOTRECOVERABLE;
    /* Before the bucket has another owner: if this agent ends meanwhile, the
       next one still finds what there is to do. */
    weft__hash_release(m, &plan, id);
    if (!weft__mutex_inherit(&bucket->lock, id, weft_agent_id())) continue;
    weft__hash_mend(m, &plan, bucket);
    weft__hash_unlock(bucket);
    count++;
  }
  return count + weft__hash_release_flights(m, id);
}

WEFT__END

#endif

#endif /* WEFT_HASH_MAP_H */
