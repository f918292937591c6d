/* shape_table.h - the twin of primitives/shape_table.ts. */
#ifndef WEFT_SHAPE_TABLE_H
#define WEFT_SHAPE_TABLE_H

#include "_region.h"

#ifndef WEFT_REALTIME /* it serves channels, which wait */

WEFT__BEGIN

#define WEFT_SHAPE_TABLE_SLOTS 64

/* The most bytes of a shape's text. */
#define WEFT_SHAPE_TABLE_LONGEST 1024

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A table of the shapes of objects, to which agents add.
 *
 * word 0  magic  Kind and layout version.
 * word 1  bytes  Bytes for the texts of all shapes, a multiple of 4.
 * word 2  seal   Check word over the configuration.
 * word 3  used   Bytes of text that agents have claimed. It may be more than
 *                there are.
 * word 4  64 slots of two words, and then the text. A slot has `state`: 0 while
 *         it is free, 1 while an agent adds a shape, and then the hash of the
 *         shape's text, with bit 1 set; and `place`: bits 0-10: the bytes of
 *         the shape's text; bits 11-31: where it begins in the text, in words.
 *
 * Freed when: every operation of every agent has returned, and none will begin.
 */
typedef struct {
  int32_t magic;
  int32_t bytes;
  int32_t seal;
  int32_t used;
} weft_shape_table;
WEFT_WORD(shape_table, magic, 0);
WEFT_WORD(shape_table, bytes, 1);
WEFT_WORD(shape_table, seal, 2);
WEFT_WORD(shape_table, used, 3);
WEFT_LENGTH(shape_table, 4);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* States of a slot; another one is the hash of its text. */
enum { WEFT__SHAPE_FREE = 0, WEFT__SHAPE_CLAIMED = 1 };

/* The number of bits in which a slot notes the length of a text. */
#define WEFT__SHAPE_LENGTH_BITS 11

typedef struct {
  int32_t state; /* free, claimed, or the hash of the text with bit 1 set */
  int32_t place; /* where the text begins, and its length */
} weft__shape_slot;

/* The bytes of a table as a constant expression; 0 if out of range. */
#define WEFT_SHAPE_TABLE_BYTES(bytes)                               \
  ((bytes) < 4 || (bytes) > 1 << 20                                 \
       ? 0                                                          \
       : sizeof(weft_shape_table) +                                 \
             WEFT_SHAPE_TABLE_SLOTS * sizeof(weft__shape_slot) +    \
             WEFT__MULTIPLE(bytes, 4))

/* The bytes of a table with 4 to 2^20 bytes for texts; 0 if out of range. */
static inline size_t weft_shape_table_bytes(int32_t bytes) {
  return WEFT_SHAPE_TABLE_BYTES((uint32_t)bytes);
}

/* The table at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_shape_table *weft_shape_table_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_shape_table) != NULL) return NULL;
  return (weft_shape_table *)at;
}

/* Initializes `size` bytes of unused memory as an empty table, with `bytes`
   bytes for texts, rounded up to a multiple of 4. NULL if that is out of range,
   there are too few bytes, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_shape_table *weft_shape_table_init(
    void *at, size_t size, int32_t bytes) {
  weft_shape_table *t = (weft_shape_table *)at;
  size_t needed = weft_shape_table_bytes(bytes);
  if (!weft__fits(at, size, needed)) return NULL;
  weft__zero(at, needed);
  t->bytes = (bytes + 3) & ~3;
  t->seal = weft__seal(WEFT_KIND_shape_table, t->bytes, 0);
  weft__store(&t->magic, weft__magic(WEFT_KIND_shape_table));
  return t;
}

static inline weft__shape_slot *weft__shape_slots(const weft_shape_table *t) {
  return (weft__shape_slot *)(uintptr_t)(t + 1);
}

static inline uint8_t *weft__shape_texts(const weft_shape_table *t) {
  return (uint8_t *)(weft__shape_slots(t) + WEFT_SHAPE_TABLE_SLOTS);
}

/* A number that depends on the bytes (FNV-1a). */
static inline int32_t weft__shape_hash(const uint8_t *text, size_t length) {
  uint32_t hash = UINT32_C(0x811c9dc5);
  for (size_t i = 0; i < length; i++)
    hash = weft__times(hash ^ text[i], UINT32_C(0x01000193));
  /* Its low bits depend on few bits of the last bytes. */
  return (int32_t)(hash ^ hash >> 15);
}

/* Where the text of a slot begins, and its length. */
static inline const uint8_t *weft__shape_text(const weft_shape_table *t,
                                              int32_t place, size_t *length) {
  *length = (size_t)(place & (2 * WEFT_SHAPE_TABLE_LONGEST - 1));
  return weft__shape_texts(t) +
         (size_t)((uint32_t)place >> WEFT__SHAPE_LENGTH_BITS) * 4;
}

/* Whether a text lies at `place` to which the slot's state fits. */
static inline bool weft__shape_is_whole(const weft_shape_table *t,
                                        int32_t place, int32_t state) {
  size_t length;
  const uint8_t *text = weft__shape_text(t, place, &length);
  size_t at = (size_t)(text - weft__shape_texts(t));
  return length >= 1 && length <= WEFT_SHAPE_TABLE_LONGEST &&
         at + length <= (size_t)t->bytes &&
         (weft__shape_hash(text, length) | 2) == state;
}

/* How many shapes there are. */
static inline int32_t weft_shape_table_size(const weft_shape_table *t) {
  const weft__shape_slot *slots = weft__shape_slots(t);
  int32_t size = 0;
  for (int32_t i = 0; i < WEFT_SHAPE_TABLE_SLOTS; i++) {
    int32_t state = weft__load(&slots[i].state);
    if (state != WEFT__SHAPE_FREE && state != WEFT__SHAPE_CLAIMED) size++;
  }
  return size;
}

static inline bool weft__shape_has(const weft_shape_table *t, int32_t place,
                                   const uint8_t *text, size_t length) {
  size_t n;
  const uint8_t *own = weft__shape_text(t, place, &n);
  if (n != length) return false;
  for (size_t i = 0; i < length; i++)
    if (own[i] != text[i]) return false;
  return true;
}

/* Fills a claimed slot. */
static inline int32_t weft__shape_publish(weft_shape_table *t,
                                          weft__shape_slot *slot,
                                          const uint8_t *text, int32_t length,
                                          int32_t published) {
  int32_t used = weft__add(&t->used, (length + 3) & ~3);
  /* Others were faster. The table is full, so nobody misses the slot. */
  if (used < 0 || used > t->bytes - length) return -2;
  uint8_t *to = weft__shape_texts(t) + used;
  for (int32_t i = 0; i < length; i++) to[i] = text[i];
  slot->place = (int32_t)((uint32_t)used / 4 << WEFT__SHAPE_LENGTH_BITS |
                          (uint32_t)length);
  /* (P) An agent that sees the hash sees the text, too. */
  weft__store(&slot->state, published);
  return (int32_t)(slot - weft__shape_slots(t));
}

/* The number of the shape with this text of 1 to 1024 bytes, 0 to 63; the shape
   is added if there is none. Returns -1 if another agent is adding a shape that
   may be this one: try again later. If that agent was terminated, it will never
   be done: with `insists`, the shape is added a second time, which does no
   harm. Returns -2 if there is no room, or the length is out of range. */
static inline int32_t weft_shape_table_add(weft_shape_table *t,
                                           const void *text, size_t length,
                                           bool insists) {
  if (length < 1 || length > WEFT_SHAPE_TABLE_LONGEST) return -2;
  const uint8_t *bytes = (const uint8_t *)text;
  weft__shape_slot *slots = weft__shape_slots(t);
  int32_t hash = weft__shape_hash(bytes, length);
  int32_t published = hash | 2;
  bool is_busy = false;
  for (uint32_t i = 0; i < WEFT_SHAPE_TABLE_SLOTS; i++) {
    weft__shape_slot *slot =
        &slots[((uint32_t)hash + i) % WEFT_SHAPE_TABLE_SLOTS];
    int32_t state = weft__load(&slot->state); /* pairs with (P) */
    if (state == WEFT__SHAPE_FREE) {
      if (is_busy && !insists) return -1;
      if (weft__load(&t->used) > t->bytes - (int32_t)length) return -2;
      /* (C) The slot belongs to this agent, and to no other one. */
      state = weft__compare_exchange(&slot->state, WEFT__SHAPE_FREE,
                                     WEFT__SHAPE_CLAIMED);
      if (state == WEFT__SHAPE_FREE)
        return weft__shape_publish(t, slot, bytes, (int32_t)length, published);
    }
    if (state == WEFT__SHAPE_CLAIMED)
      is_busy = true;
    else if (state == published &&
             weft__shape_has(t, slot->place, bytes, length))
      return (int32_t)(slot - slots);
  }
  return is_busy && !insists ? -1 : -2;
}

/* The text of shape `number`, which never changes, and its length; NULL if
   there is no such shape, or if it is damaged. */
static inline const uint8_t *weft_shape_table_text_at(const weft_shape_table *t,
                                                      int32_t number,
                                                      size_t *length) {
  if (number < 0 || number >= WEFT_SHAPE_TABLE_SLOTS) return NULL;
  const weft__shape_slot *slot = &weft__shape_slots(t)[number];
  int32_t state = weft__load(&slot->state); /* pairs with (P) */
  if (state == WEFT__SHAPE_FREE || state == WEFT__SHAPE_CLAIMED) return NULL;
  int32_t place = slot->place; /* published by (P) */
  if (!weft__shape_is_whole(t, place, state)) return NULL;
  return weft__shape_text(t, place, length);
}

WEFT__END

#endif

#endif /* WEFT_SHAPE_TABLE_H */
