/* _value_reader.h - reads values by key where they lie. */
#ifndef WEFT__VALUE_READER_H
#define WEFT__VALUE_READER_H

#include "_value_walk.h"

#ifndef WEFT_REALTIME /* it serves channels, which wait */

WEFT__BEGIN

/* A value in a message, valid as long as the message's bytes. Its members are
   private. A zeroed one is not a value: it has the type WEFT_VALUE_NONE. */
typedef struct {
  weft_value_message *message;
  const uint8_t *at; /* NULL if there is no value */
  const uint8_t *end;
  int32_t form;
} weft_value;

/* Forms: a whole value; a number of that many bytes in an array of such, whose
   first byte is missing; or characters, with their unit. */
#define WEFT__VALUE_WHOLE 0
#define WEFT__VALUE_CHARS 16

/* ---- values */

static inline weft_value weft__value_none(void) {
  weft_value none = {NULL, NULL, NULL, 0};
  return none;
}

/* The value at `at`. A reference stands for the object to which it refers. */
static inline weft_value weft__value_found(weft_value_message *m,
                                           const uint8_t *at) {
  weft__value_head h;
  weft_value v = {m, at, m->end, WEFT__VALUE_WHOLE};
  if (at == NULL || !weft__value_begin_at(m, at, m->end, &h))
    return weft__value_none();
  if (h.tag == WEFT__VALUE_REFERENCE) {
    v.at = weft__value_referred(m, h.size);
    return v.at == NULL ? weft__value_none() : v;
  }
  return h.tag == WEFT__VALUE_HOLES ? weft__value_none() : v;
}

static inline weft_value weft__value_part(weft_value_message *m,
                                          const uint8_t *at,
                                          const uint8_t *end, int32_t form) {
  weft_value v = {m, at, end, form};
  return v;
}

/* The begin of a whole value; false if `v` is not a whole value. */
static inline bool weft__value_head_of(weft_value v, weft__value_head *h) {
  return v.at != NULL && v.form == WEFT__VALUE_WHOLE &&
         weft__value_begin_at(v.message, v.at, v.end, h);
}

/* Bytes of a number in an array whose items have no first byte, or 0. */
static inline int32_t weft__value_packed(const weft__value_head *h) {
  return h->tag == WEFT__VALUE_NUMBERS_1   ? 1
         : h->tag == WEFT__VALUE_NUMBERS_4 ? 4
         : h->tag == WEFT__VALUE_NUMBERS_8 ? 8
                                           : 0;
}

/*
 * Opens the message in the `length` bytes at `bytes`, which must stay as they
 * are while its values are used. `shapes` is the table of the channel that it
 * came from: see weft_channel_shapes; NULL if it came from elsewhere. Goes over
 * the message once. Returns 0, EINVAL if the bytes are not a value, or
 * EOVERFLOW if it has more than WEFT_VALUE_SHAPES shapes of its own.
 *
 * Other agents may change the bytes meanwhile: values are wrong then, but no
 * function here reads behind the end.
 */
static inline WEFT__RESULT int weft_value_open(weft_value_message *m,
                                               const void *bytes,
                                               int32_t length,
                                               const weft_shape_table *shapes) {
  m->bytes = (const uint8_t *)bytes;
  m->end = length > 0 ? m->bytes + length : m->bytes;
  m->shapes = shapes;
  m->own_count = 0;
  for (int32_t i = 0; i < WEFT_SHAPE_TABLE_SLOTS; i++) m->shared[i] = 0;
  return weft__value_check(m);
}

/* The value of a message. */
static inline weft_value weft_value_root(weft_value_message *m) {
  return weft__value_found(m, m->bytes + 1);
}

/* What it is: WEFT_VALUE_NUMBER and so on. */
static inline int32_t weft_value_type(weft_value v) {
  weft__value_head h;
  if (v.at == NULL) return WEFT_VALUE_NONE;
  if (v.form >= WEFT__VALUE_CHARS) return WEFT_VALUE_STRING;
  if (v.form != WEFT__VALUE_WHOLE) return WEFT_VALUE_NUMBER;
  return weft__value_head_of(v, &h) && h.type != WEFT__VALUE_OTHER
             ? h.type
             : WEFT_VALUE_NONE;
}

/* Whether both are the same place in a message: an object that occurs twice is
   the same there. */
static inline bool weft_value_same(weft_value a, weft_value b) {
  return a.at == b.at;
}

/* ---- numbers */

/* Reads a number or a Date; false if it is neither. */
static inline bool weft__value_double(weft_value v, double *number) {
  weft__value_head h;
  int32_t size = v.form;
  const uint8_t *at = v.at;
  if (weft__value_head_of(v, &h)) {
    if (h.type != WEFT_VALUE_NUMBER && h.type != WEFT_VALUE_DATE) return false;
    size = (int32_t)h.length;
    at = size == 0 ? v.at : h.body;
  } else if (at == NULL || v.form == WEFT__VALUE_WHOLE ||
             v.form >= WEFT__VALUE_CHARS) {
    return false;
  }
  if (size == 8) {
    *number = weft__value_f64(at);
  } else if (size == 4) {
    uint32_t bits = weft__value_u32(at);
    int32_t integer;
    __builtin_memcpy(&integer, &bits, 4);
    *number = integer;
  } else {
    *number = *at;
  }
  return true;
}

/* The number, or the milliseconds since 1970 of a Date; `otherwise` if it is
   neither. */
static inline double weft_value_number(weft_value v, double otherwise) {
  double number;
  return weft__value_double(v, &number) ? number : otherwise;
}

/* The number, if it is an integer of 32 bits; else `otherwise`. */
static inline int32_t weft_value_int(weft_value v, int32_t otherwise) {
  double number;
  if (!weft__value_double(v, &number) ||
      !(number >= INT32_MIN && number <= INT32_MAX) ||
      number != (int32_t)number)
    return otherwise;
  return (int32_t)number;
}

/* Whether `v` is `true`; `otherwise` if `v` is not a boolean. */
static inline bool weft_value_bool(weft_value v, bool otherwise) {
  weft__value_head h;
  bool is_one = weft__value_head_of(v, &h) && h.type == WEFT_VALUE_BOOLEAN;
  return is_one ? h.tag == WEFT__VALUE_TRUE : otherwise;
}

/* Writes a BigInt to *number; false if `v` is not a BigInt, or needs more than
   64 bits. */
static inline bool weft_value_bigint(weft_value v, int64_t *number) {
  weft__value_head h;
  if (!weft__value_head_of(v, &h) || h.type != WEFT_VALUE_BIGINT || h.size != 1)
    return false;
  *number = weft__value_i64(h.body);
  return true;
}

/* ---- strings and bytes */

/* Reads a string; false if `v` is not a string. */
static inline bool weft__value_text_of(weft_value v, weft__value_chars *chars) {
  if (v.at != NULL && v.form >= WEFT__VALUE_CHARS) {
    chars->at = v.at;
    chars->end = v.end;
    chars->unit = v.form - WEFT__VALUE_CHARS;
    return true;
  }
  return v.at != NULL && v.form == WEFT__VALUE_WHOLE &&
         weft__value_string(v.at, v.end, chars);
}

/* Copies a string as UTF-8, with a 0 behind it, to the `room` bytes at `to`;
   whole characters as far as they fit. Returns how many bytes all of it has,
   without the 0; -1 if it is no string, or has wrong bytes. Half of a surrogate
   pair becomes U+FFFD. */
static inline int32_t weft_value_text(weft_value v, char *to, int32_t room) {
  weft__value_chars chars;
  if (room > 0) to[0] = '\0';
  if (!weft__value_text_of(v, &chars)) return -1;
  int64_t length = 0;
  int64_t end = 0; /* of what was copied */
  int32_t point;
  while ((point = weft__value_char(&chars)) >= 0) {
    char bytes[4];
    int32_t n = weft__value_as_utf8(point, bytes);
    if (end == length && length + n < room) {
      for (int32_t i = 0; i < n; i++) to[end++] = bytes[i];
      to[end] = '\0';
    }
    length += n;
  }
  if (point == WEFT__VALUE_DAMAGED || length > INT32_MAX) return -1;
  return (int32_t)length;
}

/* Whether it is this string, in UTF-8. */
static inline bool weft_value_is(weft_value v, const char *text) {
  weft__value_chars chars;
  return weft__value_text_of(v, &chars) &&
         weft__value_equal(chars, weft__value_chars_of(text));
}

/* The bytes of an ArrayBuffer or of a view, in the message, at any address; how
   many they are is written to *length. NULL if it is neither. */
static inline const uint8_t *weft_value_bytes(weft_value v, int32_t *length) {
  weft__value_head h;
  *length = 0;
  if (!weft__value_head_of(v, &h)) return NULL;
  int64_t from = 0;
  int64_t count = h.length;
  if (h.type == WEFT_VALUE_VIEW) {
    from = weft__value_u32(h.body + 1);
    count = weft__value_u32(h.body + 5);
    weft_value buffer = weft__value_found(v.message, h.body + h.length);
    if (!weft__value_head_of(buffer, &h)) return NULL;
  }
  if (h.type != WEFT_VALUE_BUFFER || from + count > h.length) return NULL;
  *length = (int32_t)count;
  return h.body + from;
}

/* The type of a view, as docs/value_format.md numbers them: 0 is a DataView, 2
   a Uint8Array, 9 a Float64Array. -1 if `v` is not a view. */
static inline int32_t weft_value_view(weft_value v) {
  weft__value_head h;
  bool is_one = weft__value_head_of(v, &h) && h.type == WEFT_VALUE_VIEW;
  return is_one ? h.body[0] & 127 : -1; /* 128: as long as its buffer */
}

/* ---- what others contain */

/* How many items, properties or entries it has; 0 if it cannot have any. */
static inline int64_t weft_value_size(weft_value v) {
  weft__value_head h;
  return weft__value_head_of(v, &h) && h.type >= WEFT_VALUE_ARRAY &&
                 h.type != WEFT_VALUE_BUFFER
             ? h.size
             : 0;
}

/*
 * The parts of a value, one after the other. `value` is a part; `key` is the
 * name of a property, or the key of an entry of a Map, or no value; `index`
 * counts the parts. Other members are private.
 */
typedef struct {
  weft_value key;
  weft_value value;
  int64_t index;
  weft_value_message *message;
  weft__value_names names;
  const uint8_t *at;
  int64_t size;
  int32_t packed;
  bool pairs;
} weft_value_parts;

/*
 * Begins to go over the parts of a value: call weft_value_next. These are the
 * items of an array or a Set, the properties of an object or an error, the
 * entries of a Map, the source and the flags of a RegExp, or the value in a
 * boxed one. Other values have none.
 */
static inline weft_value_parts weft_value_parts_of(weft_value v) {
  weft__value_head h;
  weft_value_parts p;
  p.key = p.value = weft__value_none();
  p.index = -1;
  p.size = 0;
  p.message = v.message;
  p.at = NULL;
  p.packed = 0;
  p.pairs = false;
  p.names.at = p.names.end = NULL;
  p.names.count = 0;
  if (!weft__value_head_of(v, &h)) return p;
  p.packed = weft__value_packed(&h);
  if (h.parts == 0 && p.packed == 0) return p;
  if (h.type == WEFT_VALUE_VIEW) return p;
  p.size = h.size;
  p.at = h.body;
  p.names = h.names;
  p.pairs = h.names.at == NULL && h.parts == 2 * h.size;
  return p;
}

/* Goes over missing items of an array. */
static inline void weft__value_pass_holes(weft_value_parts *p) {
  const uint8_t *end = p->message->end;
  while (p->index < p->size && end - p->at >= 5 &&
         *p->at == WEFT__VALUE_HOLES) {
    p->index += weft__value_u32(p->at + 1);
    p->at += 5;
  }
}

/* The name of the next property of an object with a shape; no value if it is
   damaged. */
static inline weft_value weft__value_next_name(weft_value_parts *p) {
  weft__value_chars name;
  if (!weft__value_string(p->names.at, p->names.end, &name))
    return weft__value_none();
  p->names.at = name.end;
  return weft__value_part(p->message, name.at, name.end,
                          WEFT__VALUE_CHARS + name.unit);
}

/* Goes to the next part; false if there is none. Missing items of an array are
   passed over: `index` tells. */
static inline bool weft_value_next(weft_value_parts *p) {
  p->index++;
  if (p->packed == 0 && p->at != NULL) weft__value_pass_holes(p);
  if (p->at == NULL || p->index >= p->size) return false;
  weft_value_message *m = p->message;
  if (p->packed != 0) {
    p->value = weft__value_part(m, p->at, m->end, p->packed);
    p->at += p->packed;
    return true;
  }
  if (p->names.at != NULL) {
    p->key = weft__value_next_name(p);
  } else if (p->pairs) {
    p->key = weft__value_found(m, p->at);
    p->at = weft__value_after(m, p->at, m->end, 1);
  }
  p->value = weft__value_found(m, p->at);
  if (p->at != NULL) p->at = weft__value_after(m, p->at, m->end, 1);
  return p->value.at != NULL;
}

/* The property of an object or an error that has this name, in UTF-8; no value
   if there is none. */
static inline weft_value weft_value_get(weft_value v, const char *name) {
  weft__value_head h;
  weft__value_chars wanted = weft__value_chars_of(name);
  if (!weft__value_head_of(v, &h)) return weft__value_none();
  if (h.names.at != NULL) {
    int32_t i = weft__value_index(h.names, wanted);
    if (i < 0) return weft__value_none();
    return weft__value_found(
        v.message, weft__value_after(v.message, h.body, v.end, i));
  }
  if (h.type != WEFT_VALUE_OBJECT && h.type != WEFT_VALUE_ERROR)
    return weft__value_none();
  weft_value_parts parts = weft_value_parts_of(v);
  while (weft_value_next(&parts)) {
    weft__value_chars key;
    if (weft__value_text_of(parts.key, &key) && weft__value_equal(key, wanted))
      return parts.value;
  }
  return weft__value_none();
}

/* The item of an array or a Set, or the part of a boxed value or a RegExp, with
   this index from 0 on; no value if it is missing. */
static inline weft_value weft_value_at(weft_value v, int64_t index) {
  weft__value_head h;
  if (!weft__value_head_of(v, &h) || index < 0 || index >= h.size ||
      h.names.at != NULL)
    return weft__value_none();
  int32_t packed = weft__value_packed(&h);
  if (packed != 0)
    return weft__value_part(v.message, h.body + index * packed, v.end, packed);
  weft_value_parts parts = weft_value_parts_of(v);
  if (parts.pairs) return weft__value_none();
  while (weft_value_next(&parts))
    if (parts.index >= index)
      return parts.index == index ? parts.value : weft__value_none();
  return weft__value_none();
}

/* Copies up to `room` numbers of an array that has nothing else to `to`.
   Returns how many the array has, or -1 if it is another one. */
static inline int64_t weft_value_numbers(weft_value v, double *to,
                                         int64_t room) {
  if (weft_value_type(v) != WEFT_VALUE_ARRAY) return -1;
  weft_value_parts parts = weft_value_parts_of(v);
  int64_t count = 0;
  for (double number; weft_value_next(&parts); count++) {
    if (weft_value_type(parts.value) != WEFT_VALUE_NUMBER ||
        parts.index != count || !weft__value_double(parts.value, &number))
      return -1;
    if (count < room) to[count] = number;
  }
  return count == weft_value_size(v) ? count : -1;
}

/* The name of an error's class, as a string; no value if `v` is not an
   error. */
static inline weft_value weft_value_class(weft_value v) {
  weft__value_head h;
  if (!weft__value_head_of(v, &h) || h.class_at == NULL)
    return weft__value_none();
  return weft__value_part(v.message, h.class_at, v.end, WEFT__VALUE_WHOLE);
}

WEFT__END

#endif

#endif /* WEFT__VALUE_READER_H */
