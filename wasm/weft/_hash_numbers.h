/* _hash_numbers.h - the operations of a map on values that are numbers. */
#ifndef WEFT__HASH_NUMBERS_H
#define WEFT__HASH_NUMBERS_H

#include "_hash_config.h"
#include "_hash_write.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

static inline bool weft__hash_has_values(const weft_hash_map *m,
                                         int32_t codec) {
  return m->codecs >> 8 == codec &&
         weft_hash_map_value_size(m) == (codec == WEFT_HASH_MAP_I32 ? 4 : 8);
}

/* Locks the bucket of a key for an operation on numbers of this codec, and
   searches for it: see weft__hash_enter. EINVAL if the values are others. */
static inline int weft__hash_enter_number(weft_hash_map *m,
                                          weft__hash_place *place,
                                          int32_t codec, const void *key,
                                          size_t key_length, int32_t *number) {
  if (!weft__hash_has_values(m, codec)) return EINVAL;
  return weft__hash_enter_to_use(m, place, key, key_length, number);
}

/* Copies the number in an entry, of `size` bytes, to `to`. */
static inline void weft__hash_number_at(weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t number, void *to, size_t size) {
  size_t length;
  (void)weft__hash_copy_value(m, &place->plan,
                              weft__hash_entry(m, &place->plan, number), to,
                              size, &length);
}

/* Replaces the number in an entry, which expires when it would have. */
static inline void weft__hash_set_number(weft_hash_map *m,
                                         const weft__hash_place *place,
                                         int32_t number, const void *from,
                                         size_t size) {
  weft__hash_cell cell;
  if (weft__hash_value_of(&cell, m, from, size))
    weft__hash_overwrite(m, place, number, &cell, WEFT__HASH_KEEPS);
}

/* Adds an entry with a number; ENOSPC if there is no room. */
static inline int weft__hash_insert_number(weft_hash_map *m,
                                           const weft__hash_place *place,
                                           const void *from, size_t size) {
  weft__hash_cell cell;
  if (!weft__hash_value_of(&cell, m, from, size)) return EINVAL;
  return weft__hash_insert(m, place, &cell, m->ttl) ? 0 : ENOSPC;
}

/* If the value of a key is `expected`, replaces it. `*found` is the value that
   was there. The new value expires when the old one would have. For values of
   I32; EINVAL otherwise. Returns 0, ENOENT, or an error of weft_hash_map_set.
   */
static inline WEFT__RESULT int weft_hash_map_compare_exchange(
    weft_hash_map *m, const void *key, size_t key_length, int32_t expected,
    int32_t replacement, int32_t *found) {
  weft__hash_place place;
  int32_t number;
  int error = weft__hash_enter_number(m, &place, WEFT_HASH_MAP_I32, key,
                                      key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    error = ENOENT;
  } else {
    weft__hash_number_at(m, &place, number, found, 4);
    if (*found == expected)
      weft__hash_set_number(m, &place, number, &replacement, 4);
  }
  weft__hash_unlock(place.bucket);
  return error;
}

/* Adds to the value of I32 of an entry; returns the value before. */
static inline int32_t weft__hash_add_to(weft_hash_map *m,
                                        const weft__hash_place *place,
                                        int32_t number, int32_t n) {
  if (!place->plan.expires)
    return weft__add(
        weft__hash_entry(m, &place->plan, number) + place->plan.value, n);
  int32_t old = 0; /* it has two copies */
  weft__hash_number_at(m, place, number, &old, 4);
  int32_t sum = weft__plus(old, n);
  weft__hash_set_number(m, place, number, &sum, 4);
  return old;
}

/* Adds `n` to the value of a key, which counts as 0 if it is not there; the sum
   wraps. `*before` is the value before; `before` may be NULL. A number that was
   there expires when it would have. For values of I32; EINVAL otherwise.
   Returns 0, or an error of weft_hash_map_set. */
static inline WEFT__RESULT int weft_hash_map_add(weft_hash_map *m,
                                                 const void *key,
                                                 size_t key_length, int32_t n,
                                                 int32_t *before) {
  weft__hash_place place;
  int32_t number;
  int32_t old = 0;
  int error = weft__hash_enter_number(m, &place, WEFT_HASH_MAP_I32, key,
                                      key_length, &number);
  if (error != 0) return error;
  if (number != WEFT__HASH_NONE)
    old = weft__hash_add_to(m, &place, number, n);
  else
    error = weft__hash_insert_number(m, &place, &n, 4);
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
  int32_t number;
  int error = weft__hash_enter_number(m, &place, WEFT_HASH_MAP_F64, key,
                                      key_length, &number);
  if (error != 0) return error;
  if (number == WEFT__HASH_NONE) {
    error = ENOENT;
  } else {
    weft__hash_number_at(m, &place, number, found, 8);
    if (!(*found < expected) && !(*found > expected) &&
        __builtin_isnan(*found) == __builtin_isnan(expected))
      weft__hash_set_number(m, &place, number, &replacement, 8);
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
  int32_t number;
  double old = 0;
  int error = weft__hash_enter_number(m, &place, WEFT_HASH_MAP_F64, key,
                                      key_length, &number);
  if (error != 0) return error;
  if (number != WEFT__HASH_NONE)
    weft__hash_number_at(m, &place, number, &old, 8);
  double sum = old + n;
  if (number != WEFT__HASH_NONE)
    weft__hash_set_number(m, &place, number, &sum, 8);
  else
    error = weft__hash_insert_number(m, &place, &sum, 8);
  if (before != NULL) *before = old;
  weft__hash_unlock(place.bucket);
  return error;
}

WEFT__END

#endif

#endif /* WEFT__HASH_NUMBERS_H */
