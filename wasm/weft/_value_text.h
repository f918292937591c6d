/* _value_text.h - the bytes, strings and names of primitives/_value/. */
#ifndef WEFT__VALUE_TEXT_H
#define WEFT__VALUE_TEXT_H

#include "shape_table.h"

#ifndef WEFT_REALTIME /* it serves channels, which wait */

WEFT__BEGIN

/* The first bytes of values: docs/value_format.md. Some have a small number in
   their low bits; that is the case for all below 0xe0. */
#define WEFT__VALUE_SHORT 0x40
#define WEFT__VALUE_SHARED_SHAPE 0x80
#define WEFT__VALUE_FEW 0xc0
#define WEFT__VALUE_OWN_SHAPE 0xd0
#define WEFT__VALUE_UNDEFINED 0xe0
#define WEFT__VALUE_NULL 0xe1
#define WEFT__VALUE_FALSE 0xe2
#define WEFT__VALUE_TRUE 0xe3
#define WEFT__VALUE_INT 0xe4
#define WEFT__VALUE_DOUBLE 0xe5
#define WEFT__VALUE_UTF8 0xe6
#define WEFT__VALUE_UTF16 0xe7
#define WEFT__VALUE_ARRAY 0xe8
#define WEFT__VALUE_NUMBERS_1 0xe9
#define WEFT__VALUE_NUMBERS_4 0xea
#define WEFT__VALUE_NUMBERS_8 0xeb
#define WEFT__VALUE_HOLES 0xec
#define WEFT__VALUE_MORE_SHAPES 0xed
#define WEFT__VALUE_KEYS 0xee
#define WEFT__VALUE_PAIRS 0xef
#define WEFT__VALUE_REFERENCE 0xf0
#define WEFT__VALUE_BIGINT 0xf1
#define WEFT__VALUE_DATE 0xf2
#define WEFT__VALUE_REGEXP 0xf3
#define WEFT__VALUE_MAP 0xf4
#define WEFT__VALUE_SET 0xf5
#define WEFT__VALUE_BUFFER 0xf6
#define WEFT__VALUE_VIEW 0xf7
#define WEFT__VALUE_ERROR 0xf8
#define WEFT__VALUE_BOXED 0xf9
#define WEFT__VALUE_LATIN1 0xfa
#define WEFT__VALUE_RESIZABLE 0xfb

/* The most names of a shape. */
#define WEFT__VALUE_NAMES 64

/* ---- numbers, little-endian at any place */

static inline uint32_t weft__value_u32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
         (uint32_t)at[3] << 24;
}

static inline int64_t weft__value_i64(const uint8_t *at) {
  uint64_t bits = weft__value_u32(at) | (uint64_t)weft__value_u32(at + 4) << 32;
  int64_t number;
  __builtin_memcpy(&number, &bits, 8);
  return number;
}

static inline double weft__value_f64(const uint8_t *at) {
  int64_t bits = weft__value_i64(at);
  double number;
  __builtin_memcpy(&number, &bits, 8);
  return number;
}

/* ---- characters */

/* The characters of a string that are left. `unit` is the bytes of each: 1 for
   Latin-1, 2 for UTF-16, or 0 for UTF-8. */
typedef struct {
  const uint8_t *at;
  const uint8_t *end;
  int32_t unit;
} weft__value_chars;

#define WEFT__VALUE_END (-1)
#define WEFT__VALUE_DAMAGED (-2)

/* The next character of UTF-8. */
static inline int32_t weft__value_utf8(weft__value_chars *c) {
  static const int32_t least[] = {0, 0x80, 0x800, 0x10000};
  int32_t first = *c->at++;
  if (first < 0x80) return first;
  int32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc0 || first >= 0xf8 || c->end - c->at < more)
    return WEFT__VALUE_DAMAGED;
  int32_t point = first & (0x3f >> more);
  for (int32_t i = 0; i < more; i++) {
    int32_t next = *c->at++;
    if ((next & 0xc0) != 0x80) return WEFT__VALUE_DAMAGED;
    point = point << 6 | (next & 0x3f);
  }
  bool wrong = point < least[more] || point > 0x10ffff ||
               (point >= 0xd800 && point < 0xe000);
  return wrong ? WEFT__VALUE_DAMAGED : point;
}

/* The next character of UTF-16; half of a surrogate pair is one, too. */
static inline int32_t weft__value_utf16(weft__value_chars *c) {
  int32_t first = c->at[0] | c->at[1] << 8;
  c->at += 2;
  if (first < 0xd800 || first >= 0xdc00 || c->end - c->at < 2) return first;
  int32_t second = c->at[0] | c->at[1] << 8;
  if (second < 0xdc00 || second >= 0xe000) return first;
  c->at += 2;
  return 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
}

/* The next character, or WEFT__VALUE_END, or WEFT__VALUE_DAMAGED. */
static inline int32_t weft__value_char(weft__value_chars *c) {
  if (c->at >= c->end) return WEFT__VALUE_END;
  if (c->unit == 1) return *c->at++;
  return c->unit == 0 ? weft__value_utf8(c) : weft__value_utf16(c);
}

/* Writes a character as UTF-8; returns how many bytes it has. Half of a
   surrogate pair, which has no such form, becomes U+FFFD. */
static inline int32_t weft__value_as_utf8(int32_t point, char to[4]) {
  if (point < 0x80) {
    to[0] = (char)point;
    return 1;
  }
  if (point >= 0xd800 && point < 0xe000) point = 0xfffd;
  int32_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  for (int32_t i = more; i > 0; i--) {
    to[i] = (char)(0x80 | (point & 0x3f));
    point >>= 6;
  }
  to[0] = (char)((0xf00 >> (more + 1) & 0xf0) | point);
  return more + 1;
}

/* The characters of the UTF-8 text at `text`, up to its 0. */
static inline weft__value_chars weft__value_chars_of(const char *text) {
  size_t length = 0;
  /* Bare wasm32 has no strlen, which compilers make of a plain loop. */
  while (length < INT32_MAX && text[length] != '\0') length++;
  weft__value_chars chars = {(const uint8_t *)text, NULL, 0};
  chars.end = chars.at + length;
  return chars;
}

static inline bool weft__value_equal(weft__value_chars a, weft__value_chars b) {
  for (;;) {
    int32_t point = weft__value_char(&a);
    if (point != weft__value_char(&b) || point == WEFT__VALUE_DAMAGED)
      return false;
    if (point == WEFT__VALUE_END) return true;
  }
}

/* The characters of the string that begins at `at`, which lies before `end`;
   its next value begins at `chars->end`. False if no whole string is there. */
static inline bool weft__value_string(const uint8_t *at, const uint8_t *end,
                                      weft__value_chars *chars) {
  if (at >= end) return false;
  int32_t tag = *at++;
  int64_t length = tag & 63;
  chars->unit = 1;
  if (tag == WEFT__VALUE_LATIN1 || tag == WEFT__VALUE_UTF8 ||
      tag == WEFT__VALUE_UTF16) {
    if (end - at < 4) return false;
    if (tag != WEFT__VALUE_LATIN1)
      chars->unit = tag == WEFT__VALUE_UTF8 ? 0 : 2;
    length = weft__value_u32(at) * (chars->unit == 2 ? INT64_C(2) : 1);
    at += 4;
  } else if (tag < WEFT__VALUE_SHORT || tag >= WEFT__VALUE_SHARED_SHAPE) {
    return false;
  }
  if (length > end - at) return false;
  chars->at = at;
  chars->end = at + length;
  return true;
}

/* ---- names */

/* The names of an object's properties: the text of a shape. */
typedef struct {
  const uint8_t *at; /* of the first name */
  const uint8_t *end;
  int32_t count;
} weft__value_names;

/* The names in the `length` bytes of text at `at`; false if the text is not a
   list of names. */
static inline bool weft__value_names_of(const uint8_t *at, size_t length,
                                        weft__value_names *names) {
  if (length < 1 || length > WEFT_SHAPE_TABLE_LONGEST) return false;
  names->at = at + 1;
  names->end = at + length;
  names->count = *at;
  return names->count <= WEFT__VALUE_NAMES;
}

/* Whether each name is a string, and nothing lies behind them. */
static inline bool weft__value_names_are_whole(weft__value_names names) {
  weft__value_chars name = {NULL, names.at, 0};
  for (int32_t i = 0; i < names.count; i++)
    if (!weft__value_string(name.end, names.end, &name)) return false;
  return name.end == names.end;
}

/* The index of `wanted` among the names; -1 if it is not there. */
static inline int32_t weft__value_index(weft__value_names names,
                                        weft__value_chars wanted) {
  weft__value_chars name = {NULL, names.at, 0};
  for (int32_t i = 0; i < names.count; i++) {
    if (!weft__value_string(name.end, names.end, &name)) return -1;
    if (weft__value_equal(name, wanted)) return i;
  }
  return -1;
}

WEFT__END

#endif

#endif /* WEFT__VALUE_TEXT_H */
