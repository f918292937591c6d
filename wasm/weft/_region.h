/* _region.h - the twin of primitives/_memory/region.ts. */
#ifndef WEFT__REGION_H
#define WEFT__REGION_H

#include "_layout.h"

WEFT__BEGIN

static inline WEFT__CONSTEXPR int32_t weft__magic(int32_t kind) {
  return 0x57460000 | kind << 8 | WEFT_VERSION;
}

/* A check word over the configuration. It shows that memory was overwritten. */
static inline WEFT__CONSTEXPR int32_t weft__seal(int32_t kind, int32_t first,
                                                 int32_t second) {
  uint32_t seal = (uint32_t)weft__magic(kind);
  seal ^= weft__times((uint32_t)first, 31);
  seal ^= weft__times((uint32_t)second, UINT32_C(0x9e3779b1));
  return (int32_t)~seal;
}

/* Whether queues of `capacity` elements of `size` bytes are possible. */
static inline bool weft__queue_is_possible(int32_t capacity, int32_t size) {
  return capacity >= 1 && (capacity & (capacity - 1)) == 0 && size >= 4 &&
         size % 4 == 0 && (int64_t)capacity * size <= 1 << 30;
}

#define WEFT__HASH_KEY_SIZE 0xfff /* HASH_MAP_BITS.KEY_SIZE */
#define WEFT__HASH_VALUE_SHIFT 12 /* HASH_MAP_BITS.VALUE_SIZE */
#define WEFT__HASH_VALUE_SIZE 0xffff
#define WEFT__HASH_KEY_VARIES_BIT (1 << 28) /* HASH_MAP_BITS.KEY_VARIES */
#define WEFT__HASH_VALUE_VARIES_BIT (1 << 29) /* HASH_MAP_BITS.VALUE_VARIES */
#define WEFT__HASH_EVICTS_BIT (1 << 30) /* HASH_MAP_BITS.EVICTS */
#define WEFT__HASH_EXPIRES_BIT INT32_MIN /* HASH_MAP_BITS.EXPIRES */

/* The words by which the heap of a map is checked: `sizes`, and the first of
   the heap: `blocks`, `block_words`, `longest`, `heap_seal`, `longest_key`. */
#define WEFT__HASH_SIZES_WORD 2
#define WEFT__HASH_BLOCKS_WORD 10
/* The most bytes of a key or value that lies in blocks, and the most words of a
   block. */
#define WEFT__HASH_LONGEST (1 << 20)
#define WEFT__HASH_MOST_BLOCK 16384

/* Whether a heap has room for a key and a value of any length: `heap` is its
   words, as the map has them. A length of 0 says that all lie in entries, where
   as many bytes as `sizes` says are not too long. */
static inline bool weft__hash_has_room(const int32_t *heap, int32_t sizes) {
  int32_t blocks = heap[0], words = heap[1], value = heap[2], key = heap[4];
  int32_t body = (words - 2) * 4;
  int32_t in_entry = sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE;
  bool keys = (sizes & WEFT__HASH_KEY_VARIES_BIT) != 0 &&
              key > (sizes & WEFT__HASH_KEY_SIZE) && key <= WEFT__HASH_LONGEST;
  bool values = (sizes & WEFT__HASH_VALUE_VARIES_BIT) != 0 &&
                value > in_entry && value <= WEFT__HASH_LONGEST;
  return words >= 3 && words <= WEFT__HASH_MOST_BLOCK && blocks >= 1 &&
         (int64_t)blocks * words <= 1 << 28 && (keys || key == 0) &&
         (values || (keys && value == 0)) &&
         (key + body - 1) / body + (value + body - 1) / body <= blocks;
}

/* A check word over the configuration of a heap. */
static inline int32_t weft__hash_heap_seal(const int32_t *heap) {
  uint32_t seal = (uint32_t)heap[0] ^ weft__times((uint32_t)heap[1], 31) ^
                  weft__times((uint32_t)heap[2], UINT32_C(0x9e3779b1)) ^
                  weft__times((uint32_t)heap[4], UINT32_C(0x85ebca6b));
  return (int32_t)~seal;
}

/* Whether the map with these words has no heap, or a possible one. */
static inline bool weft__hash_heap_is_possible(const int32_t *words) {
  const int32_t *heap = words + WEFT__HASH_BLOCKS_WORD;
  if ((heap[0] | heap[1] | heap[2] | heap[3] | heap[4]) == 0) return true;
  return heap[3] == weft__hash_heap_seal(heap) &&
         weft__hash_has_room(heap, words[WEFT__HASH_SIZES_WORD]);
}

/* The words of a key or value of up to `size` bytes in a map. */
static inline WEFT__HOT int32_t weft__hash_words(int32_t size, bool varies) {
  return (varies ? 1 : 0) + (size + 3) / 4;
}

/* The words of an entry of a map with these `sizes`. */
static inline WEFT__HOT int32_t weft__hash_stride(int32_t sizes) {
  int32_t key = weft__hash_words(sizes & WEFT__HASH_KEY_SIZE,
                                 (sizes & WEFT__HASH_KEY_VARIES_BIT) != 0);
  int32_t value = weft__hash_words(
      sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE,
      (sizes & WEFT__HASH_VALUE_VARIES_BIT) != 0);
  if ((sizes & WEFT__HASH_EXPIRES_BIT) != 0) value++;
  int32_t used = (sizes & WEFT__HASH_EVICTS_BIT) != 0 ? 1 : 0;
  return used + key + (value > 1 ? 3 + 2 * value : 2 + value);
}

/* Whether maps of `capacity` entries with these `sizes` are possible. */
static inline bool weft__hash_is_possible(int32_t capacity, int32_t sizes) {
  /* Below 0 are those whose entries expire: these are caches. */
  if (capacity < 1 || sizes < -(1 << 30)) return false;
  return (sizes & WEFT__HASH_KEY_SIZE) != 0 &&
         (sizes >> WEFT__HASH_VALUE_SHIFT & WEFT__HASH_VALUE_SIZE) != 0 &&
         (int64_t)capacity * weft__hash_stride(sizes) <= 1 << 28;
}

/* Whether `init` accepts this configuration; if not, its seal was forged. */
static inline bool weft__possible(int32_t kind, int32_t first, int32_t second) {
  switch (kind) {
    case WEFT_KIND_semaphore:
      return first >= 0 && first <= 255 && second >= 1 &&
             second <= (first == 0 ? 0x3fffffff : 2047);
    case WEFT_KIND_barrier:
      return first >= 1 && first <= 4095 &&
             (second == 0 || (second == first && first <= 255));
    case WEFT_KIND_snapshot:
      return first >= 4 && first <= 1 << 28 && first % 4 == 0 &&
             (second == 0 || second == 1);
    case WEFT_KIND_spsc_queue:
    case WEFT_KIND_mpmc_queue: /* 1 or 2 bytes count as 4 */
      return weft__queue_is_possible(
          first, second == 1 || second == 2 ? 4 : second);
    case WEFT_KIND_lock_free_queue:
      return weft__queue_is_possible(first, second);
    case WEFT_KIND_record_ring:
      return first >= 16 && (first & (first - 1)) == 0 && (second & ~3) == 0;
    case WEFT_KIND_broadcast:
      return (first & 31) <= 30 && first >> 6 >= 1 && first >> 6 <= 1024 &&
             weft__queue_is_possible(1 << (first & 31), second);
    case WEFT_KIND_shape_table:
      return first >= 4 && first <= 1 << 20 && first % 4 == 0;
    case WEFT_KIND_call_ring:
      return second >= 0 && second <= 1 << 30;
    case WEFT_KIND_work_counter:
      return first >= 0 && first <= 1 << 30 && second != 0 &&
             second >= -(1 << 16) && second <= 1 << 30;
    case WEFT_KIND_work_deque:
      return first >= 1 && first <= 1 << 28 && (first & (first - 1)) == 0;
    case WEFT_KIND_slab_pool:
      return first >= 1 && second >= 4 && second % 4 == 0 &&
             (int64_t)first * second <= 1 << 30;
    case WEFT_KIND_hash_map:
      return weft__hash_is_possible(first, second);
    case WEFT_KIND_striped_counter:
      return first >= 1 && first <= 1024;
    default:
      return true;
  }
}

/*
 * Says why nothing can attach to a primitive of `kind` at `at`, such as
 * WEFT_KIND_mpmc_queue. Returns NULL if attaching works.
 */
static inline const char *weft_attach_error(const void *at, int32_t kind) {
  const int32_t *words = (const int32_t *)at;
  if (!weft__aligned(at)) return "not a multiple of 4";
  int32_t magic = weft__load(words);
  int seal = weft__seal_word(kind);
  if (magic >> 16 != 0x5746) return "no initialized primitive here";
  if ((magic >> 8 & 0xff) != kind) return "a primitive of another kind";
  if ((magic & 0xff) != WEFT_VERSION) return "another layout version";
  int32_t first = seal > 1 ? words[1] : 0;
  int32_t second = seal > 2 ? words[2] : 0;
  if (words[seal] != weft__seal(kind, first, second))
    return "the configuration does not match its seal";
  if (!weft__possible(kind, first, second) ||
      (kind == WEFT_KIND_hash_map && !weft__hash_heap_is_possible(words)))
    return "the configuration is impossible";
  return NULL;
}

WEFT__END

#endif /* WEFT__REGION_H */
