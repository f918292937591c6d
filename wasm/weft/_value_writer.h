/* _value_writer.h - writes values, part by part. */
#ifndef WEFT__VALUE_WRITER_H
#define WEFT__VALUE_WRITER_H

#include "_value_text.h"

#ifndef WEFT_REALTIME /* it serves channels, which wait */

WEFT__BEGIN

/*
 * The names of the objects of one kind, and what one thread knows of them: each
 * thread has its own.
 *
 *   static const char *const names[] = {"id", "name"};
 *   weft_value_shape user = WEFT_VALUE_SHAPE(names);
 */
typedef struct {
  const char *const *names; /* up to 64, in UTF-8 */
  int32_t count;
  const weft_shape_table *shapes; /* the last table in which it was looked up */
  int32_t number;                 /* its number there; -2 if it has none */
  int32_t tries;
} weft_value_shape;
#define WEFT_VALUE_SHAPE(names) \
  {names, (int32_t)(sizeof(names) / sizeof(*(names))), NULL, 0, 0}

/* How many shapes a message remembers that have no number in a table. */
#define WEFT__VALUE_REMEMBERED 16

/* A message that is written. Its members are private. */
typedef struct {
  uint8_t *bytes;
  int32_t room;
  int32_t length; /* so far, which may be more than `room` */
  int32_t error;
  int64_t missing; /* values that must still be written */
  weft_shape_table *shapes;
  int32_t own_count;
  const weft_value_shape *own[WEFT__VALUE_REMEMBERED];
} weft_value_writer;

/* ---- bytes, as far as they fit */

static inline void weft__value_put(weft_value_writer *w, const void *from,
                                   int32_t length) {
  if (length > INT32_MAX - w->length) w->error = EINVAL;
  if (w->error != 0) return;
  if (length > 0 && w->length + length <= w->room)
    __builtin_memcpy(w->bytes + w->length, from, (size_t)length);
  w->length += length;
}

static inline void weft__value_byte(weft_value_writer *w, int32_t value) {
  uint8_t byte = (uint8_t)value;
  weft__value_put(w, &byte, 1);
}

static inline void weft__value_put32(weft_value_writer *w, uint32_t value) {
  uint8_t bytes[4];
  for (int32_t i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> 8 * i & 255);
  weft__value_put(w, bytes, 4);
}

static inline void weft__value_put64(weft_value_writer *w, const void *number) {
  uint64_t bits;
  __builtin_memcpy(&bits, number, 8);
  weft__value_put32(w, (uint32_t)(bits & UINT32_MAX));
  weft__value_put32(w, (uint32_t)(bits >> 32));
}

/* A value begins, of which `parts` are to follow. */
static inline void weft__value_tag(weft_value_writer *w, int32_t tag,
                                   int64_t parts) {
  if (w->missing <= 0 || parts < 0) w->error = EINVAL;
  w->missing += parts - 1;
  weft__value_byte(w, tag);
}

/* One that has a number of 32 bits behind its first byte. */
static inline void weft__value_counted(weft_value_writer *w, int32_t tag,
                                       int64_t count, int64_t parts) {
  weft__value_tag(w, tag, count < 0 || count > UINT32_MAX ? -1 : parts);
  weft__value_put32(w, (uint32_t)(count & UINT32_MAX));
}

/* ---- the message */

/* Begins a message of one value in the `room` bytes at `at`. `shapes` is the
   table of the channel in which it will be sent: see weft_channel_shapes. NULL
   if it goes elsewhere: then the message has all that is needed to read it. */
static inline void weft_value_begin(weft_value_writer *w, void *at,
                                    int32_t room, weft_shape_table *shapes) {
  w->bytes = (uint8_t *)at;
  w->room = room;
  w->length = w->error = w->own_count = 0;
  w->missing = 1;
  w->shapes = shapes;
  weft__value_byte(w, 0);
}

/*
 * Ends the message, and returns how many bytes it has. If that is more than
 * there is room, what was written is of no use: write it again, with that much
 * room. Returns -EINVAL if values are missing or too many, if a text was no
 * UTF-8, if the names of a shape have more than 1024 bytes, or if a count was
 * out of range.
 */
static inline WEFT__RESULT int32_t weft_value_end(weft_value_writer *w) {
  return w->error != 0 || w->missing != 0 ? -EINVAL : w->length;
}

/* ---- plain values */

/* Writes `undefined`. */
static inline void weft_value_write_undefined(weft_value_writer *w) {
  weft__value_tag(w, WEFT__VALUE_UNDEFINED, 0);
}

/* Writes `null`. */
static inline void weft_value_write_null(weft_value_writer *w) {
  weft__value_tag(w, WEFT__VALUE_NULL, 0);
}

/* Writes `true` or `false`. */
static inline void weft_value_write_bool(weft_value_writer *w, bool value) {
  weft__value_tag(w, value ? WEFT__VALUE_TRUE : WEFT__VALUE_FALSE, 0);
}

/* Writes an integer. */
static inline void weft_value_write_int(weft_value_writer *w, int32_t value) {
  if (value >= 0 && value < WEFT__VALUE_SHORT) {
    weft__value_tag(w, value, 0);
    return;
  }
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  weft__value_tag(w, WEFT__VALUE_INT, 0);
  weft__value_put32(w, bits);
}

/* Writes a number. */
static inline void weft_value_write_number(weft_value_writer *w, double value) {
  int64_t bits;
  __builtin_memcpy(&bits, &value, 8);
  if (value >= INT32_MIN && value <= INT32_MAX && value == (int32_t)value &&
      bits != INT64_MIN) { /* not -0 */
    weft_value_write_int(w, (int32_t)value);
    return;
  }
  weft__value_tag(w, WEFT__VALUE_DOUBLE, 0);
  weft__value_put64(w, &value);
}

/* Writes a BigInt. */
static inline void weft_value_write_bigint(weft_value_writer *w,
                                           int64_t value) {
  weft__value_counted(w, WEFT__VALUE_BIGINT, 1, 0);
  weft__value_put64(w, &value);
}

/* Writes a Date, in milliseconds since 1970. */
static inline void weft_value_write_date(weft_value_writer *w, double value) {
  weft__value_tag(w, WEFT__VALUE_DATE, 0);
  weft__value_put64(w, &value);
}

/* ---- strings and bytes */

/* Writes a string without beginning a value. */
static inline void weft__value_put_text(weft_value_writer *w,
                                        weft__value_chars text) {
  weft__value_chars chars = text;
  int32_t most = 0;
  int64_t count = 0;
  for (int32_t point; (point = weft__value_char(&chars)) != WEFT__VALUE_END;) {
    if (point == WEFT__VALUE_DAMAGED) {
      w->error = EINVAL;
      return;
    }
    count++;
    if (point > most) most = point;
  }
  if (most > 255 || count > 63) {
    int64_t bytes = text.end - text.at;
    if (bytes > INT32_MAX) w->error = EINVAL;
    weft__value_byte(w, most < 128 ? WEFT__VALUE_LATIN1 : WEFT__VALUE_UTF8);
    weft__value_put32(w, (uint32_t)(bytes & INT32_MAX));
    weft__value_put(w, text.at, (int32_t)(bytes & INT32_MAX));
    return;
  }
  weft__value_byte(w, WEFT__VALUE_SHORT | (int32_t)count);
  while (count-- > 0) weft__value_byte(w, weft__value_char(&text));
}

/* Writes a string: the `length` bytes of UTF-8 at `text`. */
static inline void weft_value_write_chars(weft_value_writer *w,
                                          const char *text, int32_t length) {
  weft__value_chars chars = {(const uint8_t *)text, (const uint8_t *)text, 0};
  if (w->missing <= 0 || length < 0) w->error = EINVAL;
  if (w->error != 0) return;
  if (length > 0) chars.end += length;
  w->missing--;
  weft__value_put_text(w, chars);
}

/* Writes a string: the UTF-8 at `text`, up to its 0. A name of a property is
   written so, too. */
static inline void weft_value_write_text(weft_value_writer *w,
                                         const char *text) {
  if (w->missing <= 0) w->error = EINVAL;
  if (w->error != 0) return;
  w->missing--;
  weft__value_put_text(w, weft__value_chars_of(text));
}

/* Writes an ArrayBuffer of `length` bytes. */
static inline void weft_value_write_buffer(weft_value_writer *w,
                                           const void *bytes, int32_t length) {
  weft__value_counted(w, WEFT__VALUE_BUFFER, length, 0);
  if (w->error == 0) weft__value_put(w, bytes, length);
}

/* Writes a view over `length` bytes, of a type as weft_value_view returns it:
   2 for a Uint8Array, 9 for a Float64Array. `length` must be a multiple of the
   size of its elements. */
static inline void weft_value_write_view(weft_value_writer *w, int32_t type,
                                         const void *bytes, int32_t length) {
  if (type < 0 || type > 12 || length < 0) w->error = EINVAL;
  weft__value_tag(w, WEFT__VALUE_VIEW, 1);
  weft__value_byte(w, type);
  weft__value_put32(w, 0);
  weft__value_put32(w, (uint32_t)(length & INT32_MAX));
  weft_value_write_buffer(w, bytes, length);
}

/* ---- what others contain */

/* Writes an array, whose `count` items must follow. */
static inline void weft_value_write_array(weft_value_writer *w,
                                          int64_t count) {
  if (count >= 0 && count < 16)
    weft__value_tag(w, WEFT__VALUE_FEW | (int32_t)count, count);
  else
    weft__value_counted(w, WEFT__VALUE_ARRAY, count, count);
}

/* Writes an array of `count` numbers. */
static inline void weft_value_write_numbers(weft_value_writer *w,
                                            const double *numbers,
                                            int32_t count) {
  weft__value_counted(w, WEFT__VALUE_NUMBERS_8, count, 0);
  for (int32_t i = 0; i < count && w->error == 0; i++)
    weft__value_put64(w, &numbers[i]);
}

/* Writes a Set, whose `count` items must follow. */
static inline void weft_value_write_set(weft_value_writer *w, int32_t count) {
  weft__value_counted(w, WEFT__VALUE_SET, count, count);
}

/* Writes a Map: a key and a value must follow for each of its `count`
   entries. */
static inline void weft_value_write_map(weft_value_writer *w, int32_t count) {
  weft__value_counted(w, WEFT__VALUE_MAP, count, INT64_C(2) * count);
}

/* Writes an object: for each of its `count` properties, a name must follow,
   which weft_value_write_text writes, and a value. If its names are known when
   the program is compiled, weft_value_write_object is faster. */
static inline void weft_value_write_pairs(weft_value_writer *w,
                                          int32_t count) {
  weft__value_counted(w, WEFT__VALUE_PAIRS, count, INT64_C(2) * count);
}

/* Writes an error of a class such as "RangeError", with this message. */
static inline void weft_value_write_error(weft_value_writer *w,
                                          const char *name,
                                          const char *message) {
  weft__value_tag(w, WEFT__VALUE_ERROR, 3);
  weft_value_write_text(w, name);
  weft__value_byte(w, 1); /* hidden property */
  weft__value_put32(w, 0);
  weft_value_write_text(w, "message");
  weft_value_write_text(w, message);
}

/* ---- objects with a shape */

/* Writes the text of a shape to `text`, which has WEFT_SHAPE_TABLE_LONGEST
   bytes. Returns how many it has, or 0 if these are not names of a shape. */
static inline int32_t weft__value_names_text(const weft_value_shape *shape,
                                             uint8_t *text) {
  weft_value_writer w;
  weft_value_begin(&w, text, WEFT_SHAPE_TABLE_LONGEST, NULL);
  w.length = 0;
  if (shape->count < 0 || shape->count > WEFT__VALUE_NAMES) return 0;
  weft__value_byte(&w, shape->count);
  for (int32_t i = 0; i < shape->count; i++)
    weft__value_put_text(&w, weft__value_chars_of(shape->names[i]));
  return w.error == 0 && w.length <= w.room ? w.length : 0;
}

/* Writes an object whose shape is in no table. */
static inline void weft__value_define(weft_value_writer *w,
                                      const weft_value_shape *shape,
                                      const uint8_t *text, int32_t length) {
  int32_t number = w->own_count++;
  if (number < WEFT__VALUE_REMEMBERED) w->own[number] = shape;
  weft__value_tag(w, WEFT__VALUE_KEYS, shape->count);
  weft__value_byte(w, length & 255);
  weft__value_byte(w, length >> 8);
  weft__value_put(w, text, length);
  if (number < 16) {
    weft__value_byte(w, WEFT__VALUE_OWN_SHAPE | number);
  } else {
    weft__value_byte(w, WEFT__VALUE_MORE_SHAPES);
    weft__value_put32(w, (uint32_t)number);
  }
}

/* Looks a shape up in the table of the channel, or adds it there, as long as it
   has no number. */
static inline void weft__value_look_up(const weft_value_writer *w,
                                       weft_value_shape *shape,
                                       const uint8_t *text, int32_t length) {
  if (shape->shapes != w->shapes) {
    shape->shapes = w->shapes;
    shape->number = -1;
    shape->tries = 0;
  }
  if (w->shapes == NULL || shape->number != -1) return;
  /* Another agent that adds it is done soon, unless it was terminated. */
  bool insists = ++shape->tries > 8;
  shape->number =
      weft_shape_table_add(w->shapes, text, (size_t)length, insists);
}

/* Writes an object of this shape: a value for each of its names must follow, in
   their order. The names must differ. */
static inline void weft_value_write_object(weft_value_writer *w,
                                           weft_value_shape *shape) {
  if (w->shapes != NULL && shape->shapes == w->shapes && shape->number >= 0) {
    weft__value_tag(w, WEFT__VALUE_SHARED_SHAPE | shape->number, shape->count);
    return;
  }
  for (int32_t i = 0; i < w->own_count && i < WEFT__VALUE_REMEMBERED; i++) {
    if (w->own[i] != shape) continue;
    weft__value_tag(w, WEFT__VALUE_OWN_SHAPE | i, shape->count);
    return;
  }
  uint8_t text[WEFT_SHAPE_TABLE_LONGEST];
  int32_t length = weft__value_names_text(shape, text);
  if (length == 0) {
    w->error = EINVAL;
    return;
  }
  weft__value_look_up(w, shape, text, length);
  if (w->shapes != NULL && shape->number >= 0)
    weft__value_tag(w, WEFT__VALUE_SHARED_SHAPE | shape->number, shape->count);
  else
    weft__value_define(w, shape, text, length);
}

WEFT__END

#endif

#endif /* WEFT__VALUE_WRITER_H */
