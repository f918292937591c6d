/* _calls_error.h - errors as the text that a message carries. */
#ifndef WEFT__CALLS_ERROR_H
#define WEFT__CALLS_ERROR_H

#include "_calls_wire.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* ---- writing */

/* Text that is written as far as it fits. */
typedef struct {
  char *at;
  int32_t room;
  int32_t length;
} weft__calls_text;

static inline void weft__calls_write(weft__calls_text *t, const char *text) {
  for (; *text != '\0'; text++)
    if (t->length < t->room) t->at[t->length++] = *text;
}

/* Writes as many whole characters as fit before `end`, as JSON has them. */
static inline void weft__calls_escape(weft__calls_text *t, const char *text,
                                      int32_t end) {
  const char *const digits = "0123456789abcdef";
  while (*text != '\0') {
    uint8_t c = (uint8_t)*text;
    char as[8] = {'\\', 'u', '0', '0', 0, 0, 0, 0};
    int32_t n = 6;
    int32_t read = 1;
    if (c < 0x20) {
      as[4] = digits[c >> 4];
      as[5] = digits[c & 15];
    } else if (c == '"' || c == '\\') {
      as[1] = (char)c;
      n = 2;
    } else {
      as[0] = (char)c;
      while ((text[read] & 0xc0) == 0x80 && read < 4) {
        as[read] = text[read];
        read++;
      }
      n = read;
    }
    if (t->length + n > end) return;
    __builtin_memcpy(t->at + t->length, as, (size_t)n);
    t->length += n;
    text += read;
  }
}

/*
 * Throws an error from a method: write `return weft_calls_throw(...)`. Its
 * caller gets an error of this name ("RangeError"), with this message in UTF-8,
 * and this code, if it is not NULL. A message that does not fit is cut.
 */
static inline int32_t weft_calls_throw(void *result, int32_t room,
                                       const char *name, const char *message,
                                       const char *code) {
  weft__calls_text t = {(char *)result, room, 0};
  if (room < 36) return -1; /* the fixed part of the text */
  weft__calls_write(&t, "{\"name\":\"");
  weft__calls_escape(&t, name, room - 25);
  if (code != NULL) {
    weft__calls_write(&t, "\",\"code\":\"");
    weft__calls_escape(&t, code, room - 15);
  }
  weft__calls_write(&t, "\",\"message\":\"");
  weft__calls_escape(&t, message, room - 2);
  weft__calls_write(&t, "\"}");
  return -1 - t.length;
}

/* ---- reading */

/* Writes a character as UTF-8, as far as it fits; counts its bytes. */
static inline void weft__calls_put(weft_calls_answer *t, uint32_t code) {
  char out[4] = {0, 0, 0, 0};
  int32_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  const uint32_t first[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int32_t i = n - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3f));
    code >>= 6;
  }
  out[0] = (char)(first[n] | code);
  weft__calls_add(t, out, n);
}

/* The number of 4 hexadecimal digits. */
static inline uint32_t weft__calls_hex(const char *text) {
  uint32_t number = 0;
  for (int i = 0; i < 4; i++) {
    uint32_t c = (uint8_t)text[i];
    number = number * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return number;
}

/* Reads the character of JSON whose first 4 hexadecimal digits begin at `*i`,
   and goes to its last one. A pair of surrogates has 4 more; half of a pair,
   which UTF-8 has no form for, becomes U+FFFD. */
static inline uint32_t weft__calls_code(const char *text, int32_t *i,
                                        int32_t end) {
  uint32_t code = weft__calls_hex(text + *i);
  *i += 3;
  if ((code & 0xf800) != 0xd800) return code;
  if ((code & 0xfc00) != 0xd800 || *i + 6 >= end || text[*i + 1] != '\\' ||
      text[*i + 2] != 'u')
    return 0xfffd;
  uint32_t low = weft__calls_hex(text + *i + 3);
  if ((low & 0xfc00) != 0xdc00) return 0xfffd;
  *i += 6;
  return 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
}

/* Where a string of JSON ends that begins at `i`. */
static inline int32_t weft__calls_end(const char *text, int32_t i, int32_t n) {
  while (i < n && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i < n ? i : n;
}

/* Copies a value of JSON, from `i` on, without quotes and escapes. */
static inline int32_t weft__calls_value(const char *text, int32_t i, int32_t n,
                                        weft_calls_answer *t) {
  const char *const names = "btnfr";
  const char *const codes = "\b\t\n\f\r";
  if (i < n && text[i] != '"') {
    int32_t end = i;
    while (end < n && text[end] != ',' && text[end] != '}') end++;
    weft__calls_add(t, text + i, end - i);
    return t->length;
  }
  int32_t end = weft__calls_end(text, i + 1, n);
  for (i++; i < end; i++) {
    char c = text[i];
    if (c != '\\' || i + 1 >= end) {
      weft__calls_add(t, &c, 1);
      continue;
    }
    c = text[++i];
    if (c == 'u' && i + 4 < end) {
      i++;
      weft__calls_put(t, weft__calls_code(text, &i, end));
      continue;
    }
    for (int k = 0; k < 5; k++)
      if (names[k] == c) {
        c = codes[k];
        break;
      }
    weft__calls_add(t, &c, 1);
  }
  return t->length;
}

/*
 * Reads a field of the error in an answer that is WEFT_CALLS_ERROR: "name",
 * "message", "stack" or "code". Copies as much of it to `dst` as fits its
 * `room` bytes, in UTF-8, and returns its length; -1 if there is none.
 */
static inline int32_t weft_calls_field(const weft_calls_answer *answer,
                                       const char *field, char *dst,
                                       int32_t room) {
  const char *text = (const char *)answer->bytes;
  int32_t n = answer->length < answer->room ? answer->length : answer->room;
  int32_t length = weft__calls_length(field);
  int32_t depth = 0;
  for (int32_t i = 0; i < n; i++) {
    if (text[i] == '{' || text[i] == '[') depth++;
    if (text[i] == '}' || text[i] == ']') depth--;
    if (text[i] != '"') continue;
    int32_t begin = i + 1;
    i = weft__calls_end(text, begin, n);
    if (depth == 1 && i + 1 < n && text[i + 1] == ':' && i - begin == length &&
        weft__calls_same(text + begin, field, length)) {
      weft_calls_answer value = {dst, room, 0, 0};
      return weft__calls_value(text, i + 2, n, &value);
    }
  }
  return -1;
}

WEFT__END

#endif /* WEFT_REALTIME */
#endif /* WEFT__CALLS_ERROR_H */
