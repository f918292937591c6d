/* What twin.ts calls: C reads each value part by part, and writes it again. */
#include <weft.h>

#define EXPORT __attribute__((used, visibility("default")))

enum { LONGEST = 1 << 16 };

static weft_value_message message;
static weft_value_writer writer;
static char text[LONGEST];
static uint8_t written[LONGEST];

static void copy_of(weft_value v);

static void copy_text(weft_value v) {
  int32_t length = weft_value_text(v, text, LONGEST);
  weft_value_write_chars(&writer, text, length);
}

static void copy_parts(weft_value v) {
  weft_value_parts parts = weft_value_parts_of(v);
  while (weft_value_next(&parts)) {
    if (weft_value_type(parts.key) != WEFT_VALUE_NONE) copy_of(parts.key);
    copy_of(parts.value);
  }
}

static void copy_of(weft_value v) {
  int32_t length;
  int64_t integer = 0;
  int32_t size = (int32_t)weft_value_size(v);
  const uint8_t *bytes = weft_value_bytes(v, &length);
  switch (weft_value_type(v)) {
    case WEFT_VALUE_UNDEFINED:
      weft_value_write_undefined(&writer);
      break;
    case WEFT_VALUE_NULL:
      weft_value_write_null(&writer);
      break;
    case WEFT_VALUE_BOOLEAN:
      weft_value_write_bool(&writer, weft_value_bool(v, false));
      break;
    case WEFT_VALUE_NUMBER:
      weft_value_write_number(&writer, weft_value_number(v, 0));
      break;
    case WEFT_VALUE_DATE:
      weft_value_write_date(&writer, weft_value_number(v, 0));
      break;
    case WEFT_VALUE_BIGINT:
      if (weft_value_bigint(v, &integer))
        weft_value_write_bigint(&writer, integer);
      break;
    case WEFT_VALUE_STRING:
      copy_text(v);
      break;
    case WEFT_VALUE_ARRAY:
      weft_value_write_array(&writer, size);
      copy_parts(v);
      break;
    case WEFT_VALUE_OBJECT:
      weft_value_write_pairs(&writer, size);
      copy_parts(v);
      break;
    case WEFT_VALUE_MAP:
      weft_value_write_map(&writer, size);
      copy_parts(v);
      break;
    case WEFT_VALUE_SET:
      weft_value_write_set(&writer, size);
      copy_parts(v);
      break;
    case WEFT_VALUE_BUFFER:
      weft_value_write_buffer(&writer, bytes, length);
      break;
    case WEFT_VALUE_VIEW:
      weft_value_write_view(&writer, weft_value_view(v), bytes, length);
      break;
    default:
      break;
  }
}

/* Moves a message from one channel to another; 0, or an error. */
EXPORT int32_t copy(void *from, void *to) {
  const void *at;
  int32_t length;
  weft_agent_set_id(4711);
  weft_channel *source = weft_channel_attach(from);
  weft_channel *target = weft_channel_attach(to);
  if (source == NULL || target == NULL) return EINVAL;
  int result = weft_channel_try_peek(source, &at, &length);
  if (result != 0) return result;
  result = weft_value_open(&message, at, length, weft_channel_shapes(source));
  if (result != 0) return result;
  weft_value_begin(&writer, written, LONGEST, weft_channel_shapes(target));
  copy_of(weft_value_root(&message));
  weft_channel_consume(source);
  length = weft_value_end(&writer);
  if (length < 0 || length > LONGEST) return EINVAL;
  return weft_channel_try_send(target, written, length);
}

/* Writes a value again; returns how many bytes it has, or a negative error. */
EXPORT int32_t copy_bytes(const void *from, int32_t length, void *to,
                          int32_t room) {
  int result = weft_value_open(&message, from, length, NULL);
  if (result != 0) return -result;
  weft_value_begin(&writer, to, room, NULL);
  copy_of(weft_value_root(&message));
  return weft_value_end(&writer);
}

/* Sends an error. */
EXPORT int32_t fail(void *to) {
  weft_agent_set_id(4711);
  weft_channel *target = weft_channel_attach(to);
  weft_value_begin(&writer, written, LONGEST, NULL);
  weft_value_write_error(&writer, "RangeError", "gr\xc3\xbc\xc3\x9f");
  int32_t length = weft_value_end(&writer);
  if (target == NULL || length < 0) return EINVAL;
  return weft_channel_try_send(target, written, length);
}

/* Whether these bytes are a value. */
EXPORT int32_t check(const void *at, int32_t length) {
  return weft_value_open(&message, at, length, NULL);
}

/* The parts on the way to the one that is looked at. */
static weft_value way[64];

/* Looks at the part of way[depth - 1] that has this name, or this index; at the
   message that was opened if `depth` is 0. Returns what it is. */
EXPORT int32_t look(int32_t depth, const char *name, int32_t index) {
  way[depth] = depth == 0    ? weft_value_root(&message)
               : name != NULL ? weft_value_get(way[depth - 1], name)
                              : weft_value_at(way[depth - 1], index);
  return weft_value_type(way[depth]);
}

EXPORT int32_t size(int32_t depth) {
  return (int32_t)weft_value_size(way[depth]);
}

EXPORT int32_t same(int32_t one, int32_t other) {
  return weft_value_same(way[one], way[other]);
}
