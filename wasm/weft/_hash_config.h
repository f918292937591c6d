/* _hash_config.h - the twin of primitives/_map/config.ts. */
#ifndef WEFT__HASH_CONFIG_H
#define WEFT__HASH_CONFIG_H

#include "_hash_plan.h"

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
 * the most bytes of one, 1 to 4095; the same for values, 1 to 65535; and a
 * seed, which decides which keys share a bucket. Let it be random if others
 * choose keys. Keys and values of I32, F64 and RECORD have exactly that many
 * bytes. If `evicts`, the map is a cache: a full one takes out an entry that
 * was not used lately when a key is added, by second chances. An entry of a
 * cache counts for `ttl` ms after it was written, at most 2^30; 0 is for ever.
 * Agents count by the time of day.
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

/* Where keys and values lie that are too long for an entry: the bytes of all
   blocks, up to 2^30; the bytes of one, a multiple of 4 from 12 to 65536, of
   which 8 are not for keys and values; the most bytes of a value, up to 2^20,
   or 0 if all lie in their entries; and the same of a key. If such lengths are
   given, the `value_size` or the `key_size` of the configuration is the most
   bytes of what lies in its entry. */
typedef struct {
  int32_t bytes;
  int32_t block_size;
  int32_t longest;
  int32_t longest_key;
} weft_hash_map_heap;

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

/* How many blocks a heap has; 0 if it is out of range. */
static inline int32_t weft__hash_blocks(weft_hash_map_config config,
                                        weft_hash_map_heap heap) {
  if (heap.block_size < 12 || heap.block_size % 4 != 0 ||
      heap.bytes < heap.block_size || heap.bytes > 1 << 30)
    return 0;
  int32_t blocks = heap.bytes / heap.block_size;
  const int32_t words[5] = {blocks, heap.block_size / 4, heap.longest, 0,
                            heap.longest_key};
  return weft__hash_has_room(words, weft__hash_sizes(config)) ? blocks : 0;
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

/* The same for a map with a heap of `blocks` blocks of `block_size` bytes.
   `map` is what one of the macros above says of the map, with the bytes of a
   value that lies in its entry as `value_size`. */
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

/* How many entries fit. */
static inline int32_t weft_hash_map_capacity(const weft_hash_map *m) {
  return m->capacity;
}

/* The most bytes of a key. */
static inline int32_t weft_hash_map_key_size(const weft_hash_map *m) {
  return m->longest_key == 0 ? m->sizes & WEFT__HASH_KEY_SIZE
                             : m->longest_key;
}

/* The most bytes of a value in an entry. */
static inline int32_t weft__hash_in_entry(const weft_hash_map *m) {
  return m->sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE;
}

/* The most bytes of a value. */
static inline int32_t weft_hash_map_value_size(const weft_hash_map *m) {
  return m->longest == 0 ? weft__hash_in_entry(m) : m->longest;
}

WEFT__END

#endif

#endif /* WEFT__HASH_CONFIG_H */
