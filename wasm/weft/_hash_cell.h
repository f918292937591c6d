/* _hash_cell.h - the twin of primitives/_map/cell.ts. */
#ifndef WEFT__HASH_CELL_H
#define WEFT__HASH_CELL_H

#include "_hash_config.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The bytes of a key or value as words: the length first, if it varies, and
   zeros after the last byte. */
typedef struct {
  const unsigned char *bytes;
  int32_t length;
  bool varies;
  int32_t count; /* of words */
  int32_t rest;  /* the last word of a key, if it has bytes */
  int32_t block; /* the number of the first block if it lies in some, or 0 */
} weft__hash_cell;

static inline int32_t weft__hash_word(const weft__hash_cell *cell, int32_t i) {
  if (cell->varies && i-- == 0) return cell->length;
  return weft__hash_part(cell->bytes + 4 * (size_t)i, cell->length - 4 * i);
}

/* The number of the last word of the bytes, which may be a part of one, from 0
   on; -1 if there are none. */
static inline int32_t weft__hash_last(const weft__hash_cell *cell) {
  return cell->count - (cell->varies ? 2 : 1);
}

static inline WEFT__HOT int32_t weft__hash_rest(const weft__hash_cell *cell,
                                                int32_t last) {
  return weft__hash_part(cell->bytes + 4 * (size_t)last,
                         cell->length - 4 * last);
}

/* A word of the bytes before the last one. */
static inline int32_t weft__hash_whole(const weft__hash_cell *cell, int32_t i) {
  return weft__hash_part(cell->bytes + 4 * (size_t)i, 4);
}

static inline WEFT__HOT bool weft__hash_cell_of(weft__hash_cell *cell,
                                                const void *bytes,
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

/* The bytes of a double, or those that stand for it in a key: as in a Map, NaN
   equals itself, and -0 equals 0. */
static inline const unsigned char *weft__hash_double(const unsigned char *bytes,
                                                     const unsigned char *zero,
                                                     const unsigned char *nan) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, bytes, sizeof bits);
  uint64_t magnitude = bits & UINT64_C(0x7fffffffffffffff);
  if (magnitude == 0) return zero;
  return magnitude > UINT64_C(0x7ff0000000000000) ? nan : bytes;
}

/* The same of a key of `length` bytes that may be any value, as
   docs/value_format.md has it. Not inline, as maps with such keys are few. */
WEFT__SELDOM static inline const unsigned char *weft__hash_any_key(
    const unsigned char *bytes, int32_t *length) {
  const unsigned char *zero = (const unsigned char *)"\0";
  const unsigned char *nan =
      (const unsigned char *)"\0\xe5\0\0\0\0\0\0\xf8\x7f";
  if (*length != 10 || bytes[0] != 0 || bytes[1] != 0xe5) return bytes;
  const unsigned char *number = weft__hash_double(bytes + 2, zero, nan + 2);
  if (number == bytes + 2) return bytes;
  if (number != zero) return nan;
  *length = 2;
  return zero;
}

static inline WEFT__HOT bool weft__hash_key_of(weft__hash_cell *cell,
                                               const weft_hash_map *m,
                                               const weft__hash_plan *plan,
                                               const void *bytes,
                                               size_t length) {
  bool varies = plan->key_varies;
  int32_t size =
      plan->long_keys ? m->longest_key : plan->sizes & WEFT__HASH_KEY_SIZE;
  if (!weft__hash_cell_of(cell, bytes, length, size, varies)) return false;
  int32_t codec = m->codecs & 0xff;
  if (WEFT__RARE(codec == WEFT_HASH_MAP_VALUE && varies)) {
    int32_t count = cell->length; /* so that the cell needs no address */
    cell->bytes = weft__hash_any_key(cell->bytes, &count);
    cell->length = count;
    cell->count = weft__hash_words(count, true);
  }
  /* Damaged words may say both. */
  if (codec == WEFT_HASH_MAP_F64 && !varies && size == 8) {
    const unsigned char *zero = (const unsigned char *)"\0\0\0\0\0\0\0";
    const unsigned char *nan = (const unsigned char *)"\0\0\0\0\0\0\xf8\x7f";
    cell->bytes = weft__hash_double(cell->bytes, zero, nan);
  }
  int32_t last = weft__hash_last(cell);
  cell->rest = last < 0 ? 0 : weft__hash_rest(cell, last);
  return true;
}

static inline bool weft__hash_value_of(weft__hash_cell *cell,
                                       const weft_hash_map *m,
                                       const void *bytes, size_t length) {
  bool varies = (m->sizes & WEFT__HASH_VALUE_VARIES_BIT) != 0;
  return weft__hash_cell_of(cell, bytes, length, weft__hash_in_entry(m),
                            varies) ||
         (m->longest != 0 &&
          weft__hash_cell_of(cell, bytes, length, m->longest, varies));
}

static inline uint32_t weft__hash_rotated(uint32_t word, int bits) {
  return (word & UINT32_MAX >> bits) << bits | word >> (32 - bits);
}

/* The state of HalfSipHash. */
typedef struct {
  uint32_t v0, v1, v2, v3;
} weft__hash_state;

/* One round. */
static inline WEFT__HOT weft__hash_state weft__hash_mixed(weft__hash_state s,
                                                          uint32_t word) {
  s.v3 ^= word;
  s.v0 = weft__sum(s.v0, s.v1);
  s.v1 = weft__hash_rotated(s.v1, 5) ^ s.v0;
  s.v0 = weft__hash_rotated(s.v0, 16);
  s.v2 = weft__sum(s.v2, s.v3);
  s.v3 = weft__hash_rotated(s.v3, 8) ^ s.v2;
  s.v0 = weft__sum(s.v0, s.v3);
  s.v3 = weft__hash_rotated(s.v3, 7) ^ s.v0;
  s.v2 = weft__sum(s.v2, s.v1);
  s.v1 = weft__hash_rotated(s.v1, 13) ^ s.v2;
  s.v2 = weft__hash_rotated(s.v2, 16);
  s.v0 ^= word;
  return s;
}

/* A number that depends on the words and on the seed: HalfSipHash-1-3 without
   its last block, as a key tells its length itself. */
static inline WEFT__HOT int32_t weft__hash_of(const weft_hash_map *m,
                                              const weft__hash_cell *key) {
  uint32_t low = (uint32_t)m->seed_low, high = (uint32_t)m->seed_high;
  weft__hash_state s = {low, high, UINT32_C(0x6c796765) ^ low,
                        UINT32_C(0x74656462) ^ high};
  int32_t more = weft__hash_last(key);
  if (key->varies) s = weft__hash_mixed(s, (uint32_t)key->length);
  for (int32_t i = 0; i < more; i++)
    s = weft__hash_mixed(s, (uint32_t)weft__hash_whole(key, i));
  if (more >= 0) s = weft__hash_mixed(s, (uint32_t)key->rest);
  s.v2 ^= 0xff;
  for (int32_t i = 0; i < 3; i++) s = weft__hash_mixed(s, 0);
  return (int32_t)(s.v1 ^ s.v3);
}

WEFT__END

#endif

#endif /* WEFT__HASH_CELL_H */
