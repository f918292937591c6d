/* _hash_heap.h - the twin of primitives/_map/heap.ts. */
#ifndef WEFT__HASH_HEAP_H
#define WEFT__HASH_HEAP_H

#include "_region.h"

WEFT__BEGIN

/* The words of a block before the bytes. */
enum { WEFT__HEAP_OWNER, WEFT__HEAP_NEXT, WEFT__HEAP_BODY };

/* Instead of the number of a block. */
#define WEFT__HEAP_NONE 0

/* Where the blocks of a map are, for its values or its keys, which are called
   values here. */
typedef struct {
  int32_t count;    /* how many blocks there are */
  int32_t words;    /* of a block */
  int32_t longest;  /* the most bytes of a value */
  int32_t in_entry; /* the most bytes of one that lies in its entry */
  int32_t *bits;
  int32_t *blocks;
} weft__heap;

/* The blocks of a value that is being made. */
typedef struct {
  int32_t owner; /* the number of the bucket, from 1 on */
  int32_t first; /* the number of the first block, from 1 on; or NONE */
  int32_t count; /* how many there are */
  int32_t map; /* the word of the bits in which to look next for a free block */
} weft__heap_value;

static inline bool weft__heap_is_there(const weft__heap *h, int32_t number) {
  return number >= 1 && number <= h->count;
}

static inline int32_t *weft__heap_at(const weft__heap *h, int32_t number) {
  return h->blocks + (size_t)(number - 1) * (size_t)h->words;
}

/* The words of a block that are part of the value. */
static inline int32_t weft__heap_body(const weft__heap *h) {
  return h->words - WEFT__HEAP_BODY;
}

static inline uint32_t weft__heap_bit(int32_t number) {
  return UINT32_C(1) << ((number - 1) & 31);
}

/* The word with the bit of a block. */
static inline int32_t *weft__heap_map(const weft__heap *h, int32_t number) {
  return h->bits + ((number - 1) >> 5);
}

static inline void weft__heap_clear(const weft__heap *h, int32_t number) {
  weft__and(weft__heap_map(h, number), (int32_t)~weft__heap_bit(number));
}

static inline void weft__heap_release(const weft__heap *h, int32_t number) {
  weft__store(weft__heap_at(h, number) + WEFT__HEAP_OWNER, 0);
  weft__heap_clear(h, number);
}

/* ---- keys and values as words -------------------------------------------- */

/* Up to 4 bytes as a word. Each copy has a constant length, so that it is an
   instruction. */
static inline WEFT__HOT int32_t weft__hash_part(const unsigned char *bytes,
                                                int32_t length) {
  int32_t word = 0;
  int32_t rest = length & 2;
  if (length >= 4) {
    __builtin_memcpy(&word, bytes, 4);
    return word;
  }
  if (rest != 0) __builtin_memcpy(&word, bytes, 2);
  if ((length & 1) == 0) return word;
  if (rest != 0)
    __builtin_memcpy((unsigned char *)&word + 2, bytes + 2, 1);
  else
    __builtin_memcpy(&word, bytes, 1);
  return word;
}

/* The reverse of weft__hash_part. */
static inline WEFT__HOT void weft__hash_part_to(unsigned char *bytes,
                                                int32_t word, size_t length) {
  if (length >= 4)
    __builtin_memcpy(bytes, &word, 4);
  else if (length == 3)
    __builtin_memcpy(bytes, &word, 3);
  else if (length == 2)
    __builtin_memcpy(bytes, &word, 2);
  else if (length == 1)
    __builtin_memcpy(bytes, &word, 1);
}

/* ---- blocks -------------------------------------------------------------- */

/* Makes a block the first one of the value, if it is free. */
static inline bool weft__heap_claim(const weft__heap *h, int32_t number,
                                    weft__heap_value *v) {
  int32_t *block = weft__heap_at(h, number);
  if (weft__compare_exchange(block + WEFT__HEAP_OWNER, 0, v->owner) != 0)
    return false;
  weft__or(weft__heap_map(h, number), (int32_t)weft__heap_bit(number));
  weft__store(block + WEFT__HEAP_NEXT, v->first);
  v->first = number;
  v->count++;
  return true;
}

/* At how many words of bits an agent looks before it makes room. */
#define WEFT__HEAP_SOME 256

static inline int32_t weft__heap_maps(const weft__heap *h) {
  return (h->count + 31) / 32;
}

/* Takes free blocks until there are `wanted`, and looks at `some` words of
   bits; whether there are. */
static inline bool weft__heap_gather(const weft__heap *h, weft__heap_value *v,
                                     int32_t wanted, int32_t some) {
  int32_t maps = weft__heap_maps(h);
  for (int32_t i = some; i > 0; i--) {
    int32_t map = v->map;
    int32_t taken = weft__load(h->bits + map);
    for (uint32_t left = ~(uint32_t)taken; left != 0; left &= left - 1) {
      int32_t number = map * 32 + __builtin_ctz(left) + 1;
      if (number > h->count) break;
      if (weft__heap_claim(h, number, v) && v->count == wanted) return true;
    }
    v->map = map + 1 < maps ? map + 1 : 0;
  }
  return false;
}

/* Frees a block of bucket `owner`, and those after it. If the words are
   damaged, it ends at a block that is not of that bucket. */
static inline void weft__heap_free(const weft__heap *h, int32_t number,
                                   int32_t owner) {
  while (weft__heap_is_there(h, number)) {
    const int32_t *block = weft__heap_at(h, number);
    if (weft__load(block + WEFT__HEAP_OWNER) != owner) return;
    int32_t next = weft__load(block + WEFT__HEAP_NEXT);
    weft__heap_release(h, number);
    number = next;
  }
}

static inline void weft__heap_fill(const weft__heap *h, int32_t number,
                                   const unsigned char *bytes,
                                   int32_t length) {
  int32_t body = weft__heap_body(h);
  int32_t count = (length + 3) / 4;
  for (int32_t from = 0; from < count; from += body) {
    if (!weft__heap_is_there(h, number)) return; /* the words are damaged */
    int32_t *block = weft__heap_at(h, number);
    /* Readers may still be here, which had found an older value. */
    for (int32_t i = 0; i < body && from + i < count; i++) {
      int32_t at = 4 * (from + i);
      weft__store(block + WEFT__HEAP_BODY + i,
                  weft__hash_part(bytes + at, length - at));
    }
    number = weft__load(block + WEFT__HEAP_NEXT);
  }
}

/* The number of the first block of the value at `from` in an entry, or NONE. */
static inline int32_t weft__heap_first(const weft__heap *h,
                                       const int32_t *from) {
  return weft__load(from) > h->in_entry ? weft__load(from + 1)
                                        : WEFT__HEAP_NONE;
}

/* Copies up to 4 bytes at `at` of a value of `length` to one of `room`. */
static inline void weft__heap_part_to(void *into, size_t room, int32_t at,
                                      int32_t length, int32_t word) {
  size_t left = (size_t)(length - at);
  if ((size_t)at + (left < 4 ? left : 4) > room) return;
  weft__hash_part_to((unsigned char *)into + at, word, left);
}

/* Copies the value at `from` in an entry, at most `room` bytes; false if its
   length or the number of a block is impossible. */
static inline bool weft__heap_copy(const weft__heap *h, const int32_t *from,
                                   void *into, size_t room, size_t *length) {
  int32_t bytes = weft__load(from);
  if (bytes < 0 || bytes > h->longest) return false;
  *length = (size_t)bytes;
  int32_t count = (bytes + 3) / 4;
  if (bytes <= h->in_entry) {
    for (int32_t i = 0; i < count; i++)
      weft__heap_part_to(into, room, 4 * i, bytes, weft__load(from + 1 + i));
    return true;
  }
  int32_t body = weft__heap_body(h);
  int32_t number = weft__load(from + 1);
  for (int32_t to = 0;;) {
    if (!weft__heap_is_there(h, number)) return false;
    const int32_t *block = weft__heap_at(h, number);
    for (int32_t i = 0; i < body && to < count; i++, to++)
      weft__heap_part_to(into, room, 4 * to, bytes,
                         weft__load(block + WEFT__HEAP_BODY + i));
    if (to == count) return true;
    number = weft__load(block + WEFT__HEAP_NEXT);
  }
}

/* Whether the value at `from` in an entry, which has more bytes than lie there,
   is these bytes. Other agents may write there meanwhile. */
static inline bool weft__heap_is_same(const weft__heap *h, const int32_t *from,
                                      const unsigned char *bytes,
                                      int32_t length) {
  int32_t body = weft__heap_body(h);
  if (weft__load(from) != length) return false;
  int32_t number = weft__load(from + 1);
  for (int32_t at = 0; weft__heap_is_there(h, number);) {
    const int32_t *block = weft__heap_at(h, number);
    for (int32_t i = 0; i < body && at < length; i++, at += 4)
      if (weft__load(block + WEFT__HEAP_BODY + i) !=
          weft__hash_part(bytes + at, length - at))
        return false;
    if (at >= length) return true;
    number = weft__load(block + WEFT__HEAP_NEXT);
  }
  return false;
}

/* Whether the value at `from` in an entry has the block. */
static inline bool weft__heap_has(const weft__heap *h, const int32_t *from,
                                  int32_t number) {
  int32_t next = weft__heap_first(h, from);
  for (int32_t left = h->count; left > 0 && next != number; left--) {
    if (!weft__heap_is_there(h, next)) return false;
    next = weft__load(weft__heap_at(h, next) + WEFT__HEAP_NEXT);
  }
  return next == number;
}

WEFT__END

#endif /* WEFT__HASH_HEAP_H */
