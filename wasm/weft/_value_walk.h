/* _value_walk.h - goes over the values of a message, and checks them. */
#ifndef WEFT__VALUE_WALK_H
#define WEFT__VALUE_WALK_H

#include "_value_text.h"

#ifndef WEFT_REALTIME /* it serves channels, which wait */

WEFT__BEGIN

/* What a value is. */
enum {
  WEFT_VALUE_NONE = 0, /* there is no value */
  WEFT_VALUE_UNDEFINED = 1,
  WEFT_VALUE_NULL = 2,
  WEFT_VALUE_BOOLEAN = 3,
  WEFT_VALUE_NUMBER = 4,
  WEFT_VALUE_STRING = 5,
  WEFT_VALUE_BIGINT = 6,
  WEFT_VALUE_ARRAY = 7,
  WEFT_VALUE_OBJECT = 8,
  WEFT_VALUE_DATE = 9,
  WEFT_VALUE_REGEXP = 10,
  WEFT_VALUE_MAP = 11,
  WEFT_VALUE_SET = 12,
  WEFT_VALUE_BUFFER = 13,
  WEFT_VALUE_VIEW = 14,
  WEFT_VALUE_ERROR = 15,
  WEFT_VALUE_BOXED = 16,
  WEFT__VALUE_OTHER = 17 /* a reference, or missing items */
};

/* The most shapes that a message of its own may have; define more if yours
   have more. A message takes 4 bytes of memory for each. */
#ifndef WEFT_VALUE_SHAPES
#define WEFT_VALUE_SHAPES 64
#endif

/* A message that is read. Its members are private. */
typedef struct {
  const uint8_t *bytes;
  const uint8_t *end;
  const weft_shape_table *shapes;
  int32_t own_count;
  int32_t own[WEFT_VALUE_SHAPES];         /* where each begins */
  int32_t shared[WEFT_SHAPE_TABLE_SLOTS]; /* `place` if it was checked, or 0 */
} weft_value_message;

/* The begin of a value. */
typedef struct {
  int32_t tag;
  int32_t type;
  int64_t size;            /* how many items, properties or entries it has */
  int64_t parts;           /* how many values follow its own bytes */
  int64_t length;          /* how many bytes of its own lie at `body` */
  const uint8_t *body;
  weft__value_names names; /* of an object with a shape; or `at` is NULL */
  const uint8_t *class_at; /* of an error */
} weft__value_head;

/* ---- shapes */

static inline bool weft__value_shared(weft_value_message *m, int32_t number,
                                      weft__value_names *names) {
  size_t length;
  if (m->shapes == NULL) return false;
  int32_t place = m->shared[number];
  if (place != 0) {
    const uint8_t *text = weft__shape_text(m->shapes, place, &length);
    return weft__value_names_of(text, length, names);
  }
  const uint8_t *text = weft_shape_table_text_at(m->shapes, number, &length);
  if (text == NULL || !weft__value_names_of(text, length, names) ||
      !weft__value_names_are_whole(*names))
    return false;
  size_t word = (size_t)(text - weft__shape_texts(m->shapes)) / 4;
  m->shared[number] =
      (int32_t)(word << WEFT__SHAPE_LENGTH_BITS | (uint32_t)length);
  return true;
}

/* The text of a shape that begins at `at`, behind its length of two bytes. */
static inline bool weft__value_defined(const weft_value_message *m,
                                       const uint8_t *at,
                                       weft__value_names *names) {
  if (m->end - at < 2) return false;
  size_t length = (size_t)at[0] | (size_t)at[1] << 8;
  return length <= (size_t)(m->end - at - 2) &&
         weft__value_names_of(at + 2, length, names);
}

static inline bool weft__value_own(const weft_value_message *m, uint32_t number,
                                   weft__value_names *names) {
  return number < (uint32_t)m->own_count &&
         weft__value_defined(m, m->bytes + m->own[number], names);
}

/* ---- the begin of a value */

static inline bool weft__value_object(weft__value_head *h, const uint8_t *body,
                                      bool is_known) {
  h->type = WEFT_VALUE_OBJECT;
  h->body = body;
  h->size = h->parts = h->names.count;
  return is_known;
}

/* A value of `type` that begins with a number of 32 bits. That says how many
   parts of `bytes` bytes, or of `values` values, follow. */
static inline bool weft__value_many(weft__value_head *h, const uint8_t *end,
                                    int32_t type, int64_t bytes,
                                    int64_t values) {
  if (end - h->body < 4) return false;
  h->type = type;
  h->size = weft__value_u32(h->body);
  h->body += 4;
  h->length = h->size * bytes;
  h->parts = h->size * values;
  return h->length <= end - h->body;
}

static inline bool weft__value_fixed(weft__value_head *h, const uint8_t *end,
                                     int32_t type, int64_t length,
                                     int64_t parts) {
  h->type = type;
  h->length = length;
  h->parts = parts;
  return length <= end - h->body;
}

/* An object whose shape begins at `h->body`. */
static inline bool weft__value_keys(const weft_value_message *m,
                                    weft__value_head *h) {
  const uint8_t *text = h->body;
  if (!weft__value_defined(m, text, &h->names)) return false;
  const uint8_t *at = h->names.end;
  if (at >= m->end) return false;
  uint32_t number = (uint32_t)(*at & 15);
  if (*at == WEFT__VALUE_MORE_SHAPES) {
    if (m->end - at < 5) return false;
    number = weft__value_u32(at + 1);
    at += 4;
  } else if ((*at & 0xf0) != WEFT__VALUE_OWN_SHAPE) {
    return false;
  }
  bool is_own = number < (uint32_t)m->own_count &&
                m->bytes + m->own[number] == text;
  return weft__value_object(h, at + 1, is_own);
}

/* An error: its class, a byte, a number, and then its properties. */
static inline bool weft__value_error(weft__value_head *h, const uint8_t *end) {
  weft__value_chars chars;
  h->class_at = h->body;
  if (!weft__value_string(h->body, end, &chars) || end - chars.end < 5)
    return false;
  h->type = WEFT_VALUE_ERROR;
  h->size = (int64_t)chars.end[0] + weft__value_u32(chars.end + 1);
  h->parts = 2 * h->size;
  h->body = chars.end + 5;
  return true;
}

/* The begin of a value whose first byte is 0xe0 or more. */
static inline bool weft__value_rare(weft_value_message *m, weft__value_head *h,
                                    const uint8_t *end) {
  switch (h->tag) {
    case WEFT__VALUE_UNDEFINED:
      return weft__value_fixed(h, end, WEFT_VALUE_UNDEFINED, 0, 0);
    case WEFT__VALUE_NULL:
      return weft__value_fixed(h, end, WEFT_VALUE_NULL, 0, 0);
    case WEFT__VALUE_FALSE:
    case WEFT__VALUE_TRUE:
      return weft__value_fixed(h, end, WEFT_VALUE_BOOLEAN, 0, 0);
    case WEFT__VALUE_INT:
      return weft__value_fixed(h, end, WEFT_VALUE_NUMBER, 4, 0);
    case WEFT__VALUE_DOUBLE:
      return weft__value_fixed(h, end, WEFT_VALUE_NUMBER, 8, 0);
    case WEFT__VALUE_DATE:
      return weft__value_fixed(h, end, WEFT_VALUE_DATE, 8, 0);
    case WEFT__VALUE_REGEXP:
      h->size = 2;
      return weft__value_fixed(h, end, WEFT_VALUE_REGEXP, 0, 2);
    case WEFT__VALUE_BOXED:
      h->size = 1;
      return weft__value_fixed(h, end, WEFT_VALUE_BOXED, 0, 1);
    case WEFT__VALUE_VIEW:
      return weft__value_fixed(h, end, WEFT_VALUE_VIEW, 9, 1);
    case WEFT__VALUE_LATIN1:
    case WEFT__VALUE_UTF8:
      return weft__value_many(h, end, WEFT_VALUE_STRING, 1, 0);
    case WEFT__VALUE_UTF16:
      return weft__value_many(h, end, WEFT_VALUE_STRING, 2, 0);
    case WEFT__VALUE_ARRAY:
      return weft__value_many(h, end, WEFT_VALUE_ARRAY, 0, 1);
    case WEFT__VALUE_NUMBERS_1:
      return weft__value_many(h, end, WEFT_VALUE_ARRAY, 1, 0);
    case WEFT__VALUE_NUMBERS_4:
      return weft__value_many(h, end, WEFT_VALUE_ARRAY, 4, 0);
    case WEFT__VALUE_NUMBERS_8:
      return weft__value_many(h, end, WEFT_VALUE_ARRAY, 8, 0);
    case WEFT__VALUE_PAIRS:
      return weft__value_many(h, end, WEFT_VALUE_OBJECT, 0, 2);
    case WEFT__VALUE_BIGINT:
      return weft__value_many(h, end, WEFT_VALUE_BIGINT, 8, 0) && h->size > 0;
    case WEFT__VALUE_MAP:
      return weft__value_many(h, end, WEFT_VALUE_MAP, 0, 2);
    case WEFT__VALUE_SET:
      return weft__value_many(h, end, WEFT_VALUE_SET, 0, 1);
    case WEFT__VALUE_RESIZABLE:
      if (end - h->body < 4) return false;
      h->body += 4; /* how long it may become */
      return weft__value_many(h, end, WEFT_VALUE_BUFFER, 1, 0);
    case WEFT__VALUE_BUFFER:
      return weft__value_many(h, end, WEFT_VALUE_BUFFER, 1, 0);
    case WEFT__VALUE_REFERENCE:
    case WEFT__VALUE_HOLES:
      return weft__value_many(h, end, WEFT__VALUE_OTHER, 0, 0);
    case WEFT__VALUE_ERROR:
      return weft__value_error(h, end);
    case WEFT__VALUE_KEYS:
      return weft__value_keys(m, h);
    case WEFT__VALUE_MORE_SHAPES:
      if (end - h->body < 4) return false;
      return weft__value_object(
          h, h->body + 4,
          weft__value_own(m, weft__value_u32(h->body), &h->names));
    default:
      return false;
  }
}

/* Reads the begin of the value at `at`; false if none is there. All bytes that
   it speaks of lie before `end`. */
static inline bool weft__value_begin_at(weft_value_message *m,
                                        const uint8_t *at, const uint8_t *end,
                                        weft__value_head *h) {
  if (at >= end) return false;
  int32_t tag = *at;
  h->tag = tag;
  h->size = h->parts = h->length = 0;
  h->body = at + 1;
  h->names.at = NULL;
  h->class_at = NULL;
  if (tag < WEFT__VALUE_SHORT) {
    h->type = WEFT_VALUE_NUMBER;
    return true;
  }
  if (tag < WEFT__VALUE_SHARED_SHAPE)
    return weft__value_fixed(h, end, WEFT_VALUE_STRING, tag & 63, 0);
  if (tag < WEFT__VALUE_FEW)
    return weft__value_object(h, at + 1,
                              weft__value_shared(m, tag & 63, &h->names));
  if (tag < WEFT__VALUE_OWN_SHAPE) {
    h->size = tag & 15;
    return weft__value_fixed(h, end, WEFT_VALUE_ARRAY, 0, tag & 15);
  }
  if (tag < WEFT__VALUE_UNDEFINED)
    return weft__value_object(
        h, at + 1, weft__value_own(m, (uint32_t)tag & 15, &h->names));
  return weft__value_rare(m, h, end);
}

/* ---- from value to value */

/* Where a walk over values is, and how many values are left of it. Each value
   is followed by its parts, so that no walk needs a stack. */
typedef struct {
  const uint8_t *at;
  const uint8_t *end;
  int64_t left;
  int64_t objects; /* how many have begun that references can name */
} weft__value_walk;

/* Goes to the next value, whose begin is *h. False if the bytes are damaged. */
static inline bool weft__value_step(weft_value_message *m, weft__value_walk *w,
                                    weft__value_head *h) {
  if (!weft__value_begin_at(m, w->at, w->end, h)) return false;
  w->at = h->body + h->length;
  if (h->tag == WEFT__VALUE_HOLES) {
    w->left -= h->size;
    return h->size > 0 && w->left >= 0;
  }
  if (h->type >= WEFT_VALUE_ARRAY && h->type <= WEFT_VALUE_BOXED) w->objects++;
  w->left += h->parts - 1;
  return true;
}

/* Where the value begins that follows `count` values; NULL if the bytes are
   damaged. */
static inline const uint8_t *weft__value_after(weft_value_message *m,
                                               const uint8_t *at,
                                               const uint8_t *end,
                                               int64_t count) {
  weft__value_walk walk = {at, end, count, 0};
  weft__value_head h;
  while (walk.left > 0)
    if (!weft__value_step(m, &walk, &h)) return NULL;
  return walk.at;
}

/* Where the object begins to which a reference with this number refers. */
static inline const uint8_t *weft__value_referred(weft_value_message *m,
                                                  int64_t number) {
  weft__value_walk walk = {m->bytes + 1, m->end, 1, 0};
  weft__value_head h;
  while (walk.left > 0) {
    const uint8_t *at = walk.at;
    int64_t objects = walk.objects;
    if (!weft__value_step(m, &walk, &h)) return NULL;
    if (objects == number && walk.objects > number) return at;
  }
  return NULL;
}

/* Notes the shape that begins at `at`; 0, or an error. */
static inline int weft__value_note(weft_value_message *m, const uint8_t *at) {
  weft__value_names names;
  if (!weft__value_defined(m, at, &names) ||
      !weft__value_names_are_whole(names))
    return EINVAL;
  if (m->own_count == WEFT_VALUE_SHAPES) return EOVERFLOW;
  m->own[m->own_count++] = (int32_t)(at - m->bytes);
  return 0;
}

/* Goes over the whole message once; 0, or an error. */
static inline int weft__value_check(weft_value_message *m) {
  if (m->bytes == m->end || m->bytes[0] > 1) return EINVAL;
  if (m->end - m->bytes < 2 || m->bytes[1] == WEFT__VALUE_HOLES) return EINVAL;
  bool refers = m->bytes[0] == 1;
  weft__value_walk walk = {m->bytes + 1, m->end, 1, 0};
  weft__value_head h;
  while (walk.left > 0) {
    if (walk.at < m->end && *walk.at == WEFT__VALUE_KEYS) {
      int result = weft__value_note(m, walk.at + 1);
      if (result != 0) return result;
    }
    int64_t objects = walk.objects;
    if (!weft__value_step(m, &walk, &h)) return EINVAL;
    if (h.tag == WEFT__VALUE_REFERENCE && (!refers || h.size >= objects))
      return EINVAL;
  }
  return walk.at == m->end ? 0 : EINVAL;
}

WEFT__END

#endif

#endif /* WEFT__VALUE_WALK_H */
