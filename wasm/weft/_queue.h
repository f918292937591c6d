/* _queue.h - the twin of primitives/_queue/queue.ts. */
#ifndef WEFT__QUEUE_H
#define WEFT__QUEUE_H

#include "_words.h"

WEFT__BEGIN

/* The configuration of a queue: `capacity` elements, 1 to 2^28, rounded up to a
   power of two, of `element_size` bytes, a multiple of 4; together at most 2^30
   bytes. Elements of a weft_spsc_queue and of a weft_mpmc_queue may also have 1
   or 2 bytes. */
typedef struct {
  int32_t capacity;
  int32_t element_size;
} weft_queue_config;

/* The capacity rounded up, or 0 if the configuration is out of range. */
static inline int32_t weft__queue_capacity(weft_queue_config config) {
  const int32_t most = 1 << 30;
  if (config.element_size < 4 || config.element_size % 4 != 0 ||
      config.element_size > most)
    return 0;
  if (config.capacity < 1 || config.capacity > most / config.element_size)
    return 0;
  int32_t capacity = (int32_t)WEFT__POWER((uint32_t)config.capacity);
  return capacity > most / config.element_size ? 0 : capacity;
}

/* Whether the configuration is possible, as a constant expression. */
#define WEFT__QUEUE_FITS(capacity, element_size)     \
  ((element_size) >= 4 && (element_size) % 4 == 0 && \
   (element_size) <= 1 << 30 && (capacity) >= 1 &&   \
   (capacity) <= (1 << 30) / (element_size) &&       \
   WEFT__POWER(capacity) <= (1 << 30) / (element_size))
/* An index tells apart 2^28 elements at most, so elements of 1 or 2 bytes are
   counted as if they had 4. */
#define WEFT__QUEUE_COUNTED(element_size) \
  ((element_size) == 1 || (element_size) == 2 ? 4 : (element_size))

/* The same as weft__queue_capacity, of elements that may have 1 or 2 bytes. */
static inline int32_t weft__short_queue_capacity(weft_queue_config config) {
  config.element_size = WEFT__QUEUE_COUNTED(config.element_size);
  return weft__queue_capacity(config);
}

/* The bytes of its elements. */
#define WEFT__QUEUE_ELEMENTS(capacity, element_size) \
  (WEFT__POWER(capacity) * (element_size))

/* The elements between the indices at `head` and `tail`, whose flags are below
   `one`. If `head` moves on during each of many looks, this counts only those
   that were there at the last look. */
static inline int32_t weft__size_of(const int32_t *head, const int32_t *tail,
                                    int32_t one, int32_t capacity) {
  int32_t from = weft__load(head) & -one;
  for (int32_t looks = 8;; looks--) {
    int32_t to = weft__load(tail) & -one;
    int32_t was = from;
    from = weft__load(head) & -one;
    /* (C) otherwise elements came and went meanwhile */
    if (from != was && looks > 1) continue;
    int32_t size = weft__minus(to, from) / one;
    if (size < 0) return 0;
    return size < capacity ? size : capacity;
  }
}

WEFT__END

#endif /* WEFT__QUEUE_H */
