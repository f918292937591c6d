/* weft_value: each kind of value, shapes in a table and in the message, what is
   refused, damaged bytes, and threads; the argument says how many values are
   damaged, in thousands. */
#define _POSIX_C_SOURCE 200809L
#include <weft/channel.h>
#include <weft/value.h>

#include "check.h"

static int32_t amount = 10;

static int32_t arena[1 << 12];
static uint8_t room[4096];

/* ---- reading */

static weft_value_message message;

static weft_value opened(const void *bytes, size_t length) {
  EQUAL(weft_value_open(&message, bytes, (int32_t)length, NULL), 0);
  return weft_value_root(&message);
}

#define OPENED(bytes) opened(bytes, sizeof bytes - 1)

static void refused(const void *bytes, size_t length) {
  EQUAL(weft_value_open(&message, bytes, (int32_t)length, NULL), EINVAL);
}

#define REFUSED(bytes) refused(bytes, sizeof bytes - 1)

static void is_text(weft_value v, const char *wanted) {
  char text[64];
  EQUAL(weft_value_type(v), WEFT_VALUE_STRING);
  EQUAL(weft_value_text(v, text, sizeof text), strlen(wanted));
  EQUAL(strcmp(text, wanted), 0);
  CHECK(weft_value_is(v, wanted) && !weft_value_is(v, "another"));
}

static void reads_numbers(void) {
  EQUAL(weft_value_int(OPENED("\0\x07"), -1), 7);
  EQUAL(weft_value_int(OPENED("\0\xe4\xfe\xff\xff\xff"), 1), -2);
  weft_value half = OPENED("\0\xe5\0\0\0\0\0\0\xe0\x3f");
  CHECK(weft_value_number(half, 0) == 0.5);
  EQUAL(weft_value_int(half, 9), 9);
  weft_value large = OPENED("\0\xe5\0\0\0\0\0\0\xe0\x41"); /* 2^31 */
  CHECK(weft_value_number(large, 0) == 2147483648.0);
  EQUAL(weft_value_int(large, 9), 9);
  weft_value date = OPENED("\0\xf2\0\0\0\0\0\0\xf0\x3f");
  EQUAL(weft_value_type(date), WEFT_VALUE_DATE);
  CHECK(weft_value_number(date, 0) == 1);
  int64_t number;
  weft_value big = OPENED("\0\xf1\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff");
  CHECK(weft_value_bigint(big, &number) && number == -1);
  CHECK(weft_value_number(big, 5) == 5);
  big = OPENED("\0\xf1\2\0\0\0" "1234567812345678");
  EQUAL(weft_value_type(big), WEFT_VALUE_BIGINT);
  CHECK(!weft_value_bigint(big, &number));
  CHECK(weft_value_bool(OPENED("\0\xe3"), false));
  CHECK(!weft_value_bool(OPENED("\0\xe2"), true));
  CHECK(weft_value_bool(OPENED("\0\xe1"), true));
  EQUAL(weft_value_type(OPENED("\0\xe1")), WEFT_VALUE_NULL);
  EQUAL(weft_value_type(OPENED("\0\xe0")), WEFT_VALUE_UNDEFINED);
  EQUAL(weft_value_size(OPENED("\0\xe0")), 0);
  EQUAL(weft_value_int(OPENED("\0\x41x"), 4), 4);
}

static void reads_strings(void) {
  is_text(OPENED("\0\x40"), "");
  is_text(OPENED("\0\x43\x67r\xfc"), "gr\xc3\xbc");
  is_text(OPENED("\0\xe6\x04\0\0\0\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  is_text(OPENED("\0\xe7\2\0\0\0\x3d\xd8\0\xde"), "\xf0\x9f\x98\x80");
  weft_value half = OPENED("\0\xe7\3\0\0\0\x3d\xd8\x3d\xd8x\0");
  char text[8];
  EQUAL(weft_value_text(half, text, sizeof text), 7);
  EQUAL(strcmp(text, "\xef\xbf\xbd\xef\xbf\xbdx"), 0);
  CHECK(!weft_value_is(half, text));
  /* Whole characters, as far as they fit. */
  EQUAL(weft_value_text(half, text, 7), 7);
  EQUAL(strcmp(text, "\xef\xbf\xbd\xef\xbf\xbd"), 0);
  EQUAL(weft_value_text(half, text, 5), 7);
  EQUAL(strcmp(text, "\xef\xbf\xbd"), 0);
  EQUAL(weft_value_text(half, NULL, 0), 7);
  EQUAL(weft_value_text(OPENED("\0\1"), text, sizeof text), -1);
  static const char *const wrong[] = {
      "\xff",     "\xc3",         "\xc3(",         "\xc0\x80", "\xe0\x9f\xbf",
      "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\x80"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint8_t bytes[16] = {0, 0xe6, (uint8_t)strlen(wrong[i]), 0, 0, 0};
    memcpy(bytes + 6, wrong[i], strlen(wrong[i]));
    weft_value v = opened(bytes, 6 + strlen(wrong[i]));
    EQUAL(weft_value_text(v, text, sizeof text), -1);
    CHECK(!weft_value_is(v, wrong[i]));
  }
}

static void reads_arrays(void) {
  weft_value v = OPENED("\0\xc3\1\x41x\xc1\2");
  EQUAL(weft_value_type(v), WEFT_VALUE_ARRAY);
  EQUAL(weft_value_size(v), 3);
  EQUAL(weft_value_int(weft_value_at(v, 0), -1), 1);
  is_text(weft_value_at(v, 1), "x");
  EQUAL(weft_value_int(weft_value_at(weft_value_at(v, 2), 0), -1), 2);
  EQUAL(weft_value_type(weft_value_at(v, 3)), WEFT_VALUE_NONE);
  EQUAL(weft_value_type(weft_value_at(v, -1)), WEFT_VALUE_NONE);
  EQUAL(weft_value_type(weft_value_get(v, "x")), WEFT_VALUE_NONE);
  double numbers[4];
  EQUAL(weft_value_numbers(v, numbers, 4), -1);
  v = OPENED("\0\xeb\2\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xe0\x3f");
  EQUAL(weft_value_size(v), 2);
  EQUAL(weft_value_type(weft_value_at(v, 1)), WEFT_VALUE_NUMBER);
  CHECK(weft_value_number(weft_value_at(v, 1), 0) == 0.5);
  EQUAL(weft_value_int(weft_value_at(v, 0), 0), 1);
  EQUAL(weft_value_numbers(v, numbers, 1), 2);
  CHECK(numbers[0] == 1);
  v = OPENED("\0\xea\2\0\0\0\xff\xff\xff\xff\1\0\0\0");
  EQUAL(weft_value_numbers(v, numbers, 4), 2);
  CHECK(numbers[0] == -1 && numbers[1] == 1);
  v = OPENED("\0\xe9\3\0\0\0\1\2\xff");
  EQUAL(weft_value_int(weft_value_at(v, 2), 0), 255);
  /* Items that are missing. */
  v = OPENED("\0\xc5\1\xec\3\0\0\0\2");
  EQUAL(weft_value_size(v), 5);
  EQUAL(weft_value_type(weft_value_at(v, 2)), WEFT_VALUE_NONE);
  EQUAL(weft_value_int(weft_value_at(v, 4), 0), 2);
  EQUAL(weft_value_numbers(v, numbers, 4), -1);
  weft_value_parts parts = weft_value_parts_of(v);
  CHECK(weft_value_next(&parts) && parts.index == 0);
  CHECK(weft_value_next(&parts) && parts.index == 4);
  CHECK(!weft_value_next(&parts));
  v = OPENED("\0\xc2\1\xec\1\0\0\0");
  EQUAL(weft_value_numbers(v, numbers, 4), -1);
  v = OPENED("\0\xf5\2\0\0\0\5\6");
  EQUAL(weft_value_type(v), WEFT_VALUE_SET);
  EQUAL(weft_value_int(weft_value_at(v, 1), 0), 6);
}

static void reads_objects(void) {
  /* Two objects of one shape, { id, ü }. */
  weft_value v = OPENED(
      "\0\xc2\xee\6\0\2\x42id\x41\xfc\xd0\7\xe1\xd0\x08\xc1\x41z");
  for (int32_t i = 0; i < 2; i++) {
    weft_value object = weft_value_at(v, i);
    EQUAL(weft_value_type(object), WEFT_VALUE_OBJECT);
    EQUAL(weft_value_size(object), 2);
    EQUAL(weft_value_int(weft_value_get(object, "id"), 0), 7 + i);
    EQUAL(weft_value_type(weft_value_get(object, "i")), WEFT_VALUE_NONE);
    EQUAL(weft_value_type(weft_value_at(object, 0)), WEFT_VALUE_NONE);
    weft_value_parts parts = weft_value_parts_of(object);
    CHECK(weft_value_next(&parts) && parts.index == 0);
    is_text(parts.key, "id");
    EQUAL(weft_value_int(parts.value, 0), 7 + i);
    CHECK(weft_value_next(&parts));
    is_text(parts.key, "\xc3\xbc");
    CHECK(weft_value_same(parts.value, weft_value_get(object, "\xc3\xbc")));
    CHECK(!weft_value_next(&parts));
  }
  is_text(weft_value_at(weft_value_get(weft_value_at(v, 1), "\xc3\xbc"), 0),
          "z");
  v = OPENED("\0\xef\2\0\0\0\x41x\1\x41y\x41z");
  EQUAL(weft_value_size(v), 2);
  is_text(weft_value_get(v, "y"), "z");
  v = OPENED("\0\xee\1\0\0\xd0"); /* {} */
  EQUAL(weft_value_size(v), 0);
  weft_value_parts none = weft_value_parts_of(v);
  CHECK(!weft_value_next(&none));
  v = OPENED("\0\xf4\1\0\0\0\x41k\5");
  EQUAL(weft_value_type(v), WEFT_VALUE_MAP);
  weft_value_parts entries = weft_value_parts_of(v);
  CHECK(weft_value_next(&entries));
  is_text(entries.key, "k");
  EQUAL(weft_value_int(entries.value, 0), 5);
  EQUAL(weft_value_type(weft_value_at(v, 0)), WEFT_VALUE_NONE);
  EQUAL(weft_value_type(weft_value_get(v, "k")), WEFT_VALUE_NONE);
  v = OPENED("\0\xf8\x49TypeError\1\1\0\0\0\x47message\x42no\x44" "code\3");
  EQUAL(weft_value_type(v), WEFT_VALUE_ERROR);
  is_text(weft_value_class(v), "TypeError");
  is_text(weft_value_get(v, "message"), "no");
  EQUAL(weft_value_int(weft_value_get(v, "code"), 0), 3);
  v = OPENED("\0\xf3\x41z\x41g");
  EQUAL(weft_value_type(v), WEFT_VALUE_REGEXP);
  is_text(weft_value_at(v, 1), "g");
  v = OPENED("\0\xf9\5");
  EQUAL(weft_value_type(v), WEFT_VALUE_BOXED);
  EQUAL(weft_value_int(weft_value_at(v, 0), 0), 5);
}

static void reads_bytes(void) {
  int32_t length;
  weft_value v = OPENED("\0\xf6\3\0\0\0abc");
  CHECK(memcmp(weft_value_bytes(v, &length), "abc", 3) == 0 && length == 3);
  EQUAL(weft_value_view(v), -1);
  v = OPENED("\0\xf7\2\1\0\0\0\2\0\0\0\xf6\3\0\0\0abc");
  EQUAL(weft_value_view(v), 2);
  CHECK(memcmp(weft_value_bytes(v, &length), "bc", 2) == 0 && length == 2);
  v = OPENED("\0\xf7\2\2\0\0\0\2\0\0\0\xf6\3\0\0\0abc");
  CHECK(weft_value_bytes(v, &length) == NULL && length == 0);
  CHECK(weft_value_bytes(OPENED("\0\5"), &length) == NULL);
  /* A buffer of 3 bytes, which may have 9, and a view as long as it. */
  v = OPENED("\0\xfb\x09\0\0\0\3\0\0\0abc");
  EQUAL(weft_value_type(v), WEFT_VALUE_BUFFER);
  EQUAL(weft_value_size(v), 0);
  CHECK(memcmp(weft_value_bytes(v, &length), "abc", 3) == 0 && length == 3);
  v = OPENED("\0\xf7\x82\1\0\0\0\2\0\0\0\xfb\x09\0\0\0\3\0\0\0abc");
  EQUAL(weft_value_view(v), 2);
  CHECK(memcmp(weft_value_bytes(v, &length), "bc", 2) == 0 && length == 2);
  CHECK(weft_value_bytes(OPENED("\0\xf7\2\0\0\0\0\0\0\0\0\1"), &length) == NULL);
}

static void follows_references(void) {
  /* [a, a, [whole]], with a = { x: a }. */
  weft_value v = OPENED(
      "\1\xc3\xee\3\0\1\x41x\xd0\xf0\1\0\0\0\xf0\1\0\0\0\xc1\xf0\0\0\0\0");
  weft_value a = weft_value_at(v, 0);
  CHECK(weft_value_same(a, weft_value_at(v, 1)));
  CHECK(weft_value_same(a, weft_value_get(a, "x")));
  CHECK(weft_value_same(v, weft_value_at(weft_value_at(v, 2), 0)));
  CHECK(!weft_value_same(a, v));
  /* Two views of one buffer. */
  v = OPENED("\1\xc2\xf7\2\0\0\0\0\1\0\0\0\xf6\2\0\0\0ab"
             "\xf7\2\1\0\0\0\1\0\0\0\xf0\2\0\0\0");
  int32_t length;
  EQUAL(*weft_value_bytes(weft_value_at(v, 0), &length), 'a');
  EQUAL(*weft_value_bytes(weft_value_at(v, 1), &length), 'b');
}

static void refuses_damage(void) {
  refused(NULL, 0);
  REFUSED("\0");
  REFUSED("\2\1");
  REFUSED("\0\1\1");
  REFUSED("\0\x80");                        /* there is no table */
  REFUSED("\0\xd0");                        /* nor such a shape */
  REFUSED("\0\xed\0\0\0\0");
  REFUSED("\0\xf0\0\0\0\0");                /* it says there are none */
  REFUSED("\1\xf0\0\0\0\0");
  REFUSED("\1\xc1\xf0\1\0\0\0");
  REFUSED("\0\xfb");
  REFUSED("\0\xfb\5\0\0");
  REFUSED("\0\xfb\5\0\0\0\2\0\0\0a");
  REFUSED("\0\xfc");
  REFUSED("\0\xec\1\0\0\0");                /* the last one is no value */
  REFUSED("\0\xc1\xec\2\0\0\0");
  REFUSED("\0\xc1\xec\0\0\0\0\1");
  REFUSED("\0\xf1\0\0\0\0");
  REFUSED("\0\xee\3\0\1\x41x\xd1\1");       /* another shape */
  REFUSED("\0\xee\3\0\1\x41x\xc1\1");
  REFUSED("\0\xee\3\0\1\x41x");
  REFUSED("\0\xee\2\0\1\x41\xd0\1");
  REFUSED("\0\xee\4\0\1\x41x\x40\xd0\1");   /* more than its names */
  REFUSED("\0\xee\0\0\xd0");
  REFUSED("\0\xee\2\0\1\1\xd0\1");          /* a number is no name */
  static const uint8_t counts[] = {0xe6, 0xe7, 0xe8, 0xe9, 0xea, 0xeb,
                                   0xef, 0xf1, 0xf4, 0xf5, 0xf6, 0xfa};
  for (size_t i = 0; i < sizeof counts; i++) {
    uint8_t bytes[] = {1, counts[i], 255, 255, 255, 255, 0, 0, 0};
    refused(bytes, sizeof bytes);
  }
  weft_value none = weft_value_at(OPENED("\0\xc0"), 0);
  char text[4] = "abc";
  int32_t length;
  CHECK(weft_value_bytes(none, &length) == NULL);
  EQUAL(weft_value_text(none, text, 4), -1);
  EQUAL(text[0], 0);
  EQUAL(weft_value_type(weft_value_get(weft_value_class(none), "x")), 0);
  EQUAL(weft_value_int(weft_value_at(none, 0), 3), 3);
  EQUAL(weft_value_size(none), 0);
  weft_value_parts parts = weft_value_parts_of(none);
  CHECK(!weft_value_next(&parts));
}

/* ---- writing */

static weft_value_writer writer;

/* What was written is these bytes; less room changes nothing but what fits. */
static void wrote(void (*write)(weft_value_writer *), const void *bytes,
                  size_t length) {
  for (size_t most = 0; most <= length + 1; most++) {
    memset(room, 0xee, sizeof room);
    weft_value_begin(&writer, room, (int32_t)most, NULL);
    write(&writer);
    EQUAL(weft_value_end(&writer), length);
    EQUAL(room[most], 0xee);
  }
  CHECK(memcmp(room, bytes, length) == 0);
}

#define WROTE(write, bytes) wrote(write, bytes, sizeof bytes - 1)

static void plain(weft_value_writer *w) {
  weft_value_write_array(w, 10);
  weft_value_write_undefined(w);
  weft_value_write_null(w);
  weft_value_write_bool(w, false);
  weft_value_write_bool(w, true);
  weft_value_write_int(w, 63);
  weft_value_write_int(w, -2);
  weft_value_write_number(w, 64);
  weft_value_write_number(w, -0.0);
  weft_value_write_bigint(w, -1);
  weft_value_write_date(w, 1);
}

static void strings(weft_value_writer *w) {
  weft_value_write_array(w, 4);
  weft_value_write_text(w, "gr\xc3\xbc");
  weft_value_write_text(w, "");
  weft_value_write_chars(w, "\xe2\x82\xac and more", 3);
  weft_value_write_chars(w, NULL, 0);
}

static void containers(weft_value_writer *w) {
  static const double numbers[] = {1, 0.5};
  weft_value_write_map(w, 2);
  weft_value_write_text(w, "k");
  weft_value_write_set(w, 1);
  weft_value_write_int(w, 1);
  weft_value_write_pairs(w, 1);
  weft_value_write_text(w, "x");
  weft_value_write_view(w, 2, "ab", 2);
  weft_value_write_numbers(w, numbers, 2);
}

static void error(weft_value_writer *w) {
  weft_value_write_error(w, "Error", "no");
}

static const char *const point_names[] = {"x", "\xc3\xbc"};
static weft_value_shape point = WEFT_VALUE_SHAPE(point_names);

static void objects(weft_value_writer *w) {
  weft_value_write_array(w, 2);
  for (int32_t i = 0; i < 2; i++) {
    weft_value_write_object(w, &point);
    weft_value_write_int(w, i);
    weft_value_write_null(w);
  }
}

static void writes_bytes(void) {
  WROTE(plain,
        "\0\xca\xe0\xe1\xe2\xe3\x3f\xe4\xfe\xff\xff\xff\xe4\x40\0\0\0"
        "\xe5\0\0\0\0\0\0\0\x80"
        "\xf1\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xf2\0\0\0\0\0\0\xf0\x3f");
  WROTE(strings, "\0\xc4\x43gr\xfc\x40\xe6\3\0\0\0\xe2\x82\xac\x40");
  WROTE(containers,
        "\0\xf4\2\0\0\0\x41k\xf5\1\0\0\0\1\xef\1\0\0\0\x41x"
        "\xf7\2\0\0\0\0\2\0\0\0\xf6\2\0\0\0" "ab"
        "\xeb\2\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xe0\x3f");
  WROTE(error, "\0\xf8\x45" "Error\1\0\0\0\0\x47message\x42no");
  WROTE(objects, "\0\xc2\xee\5\0\2\x41x\x41\xfc\xd0\0\xe1\xd0\1\xe1");
}

static void begin(void) {
  weft_value_begin(&writer, room, sizeof room, NULL);
}

static void refuses_mistakes(void) {
  begin();
  EQUAL(weft_value_end(&writer), -EINVAL); /* nothing was written */
  begin();
  weft_value_write_array(&writer, 2);
  weft_value_write_null(&writer);
  EQUAL(weft_value_end(&writer), -EINVAL);
  weft_value_write_null(&writer);
  EQUAL(weft_value_end(&writer), 4);
  weft_value_write_null(&writer); /* one too many */
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_text(&writer, "\xc3");
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_chars(&writer, "", -1);
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_array(&writer, -1);
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_view(&writer, 13, "", 0);
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_buffer(&writer, "", -1);
  EQUAL(weft_value_end(&writer), -EINVAL);
  static char letters[1200];
  memset(letters, 'x', sizeof letters - 1);
  const char *const names[] = {letters};
  weft_value_shape longer = WEFT_VALUE_SHAPE(names);
  begin();
  weft_value_write_object(&writer, &longer);
  EQUAL(weft_value_end(&writer), -EINVAL);
  begin();
  weft_value_write_text(&writer, letters);
  EQUAL(weft_value_end(&writer), 1 + 5 + 1199);
  weft_value v = opened(room, 1 + 5 + 1199);
  CHECK(weft_value_is(v, letters));
}

/* ---- shapes */

static const char *const ids[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",
                                  "7",  "8",  "9",  "10", "11", "12", "13",
                                  "14", "15", "16", "17", "18", "19", "20"};
#define IDS ((int32_t)(sizeof ids / sizeof *ids))

/* A message of `count` objects { <i>: i }, of which `id` has one name each. */
static int32_t many_shapes(int32_t count, weft_shape_table *shapes) {
  static weft_value_shape shape[IDS];
  weft_value_begin(&writer, room, sizeof room, shapes);
  weft_value_write_array(&writer, count);
  for (int32_t i = 0; i < count; i++) {
    weft_value_shape *one = &shape[i % IDS];
    one->names = &ids[i % IDS];
    one->count = 1;
    weft_value_write_object(&writer, one);
    weft_value_write_int(&writer, i);
  }
  return weft_value_end(&writer);
}

static void reads_many_shapes(int32_t count, weft_shape_table *shapes) {
  int32_t length = many_shapes(count, shapes);
  EQUAL(weft_value_open(&message, room, length, shapes), 0);
  weft_value list = weft_value_root(&message);
  EQUAL(weft_value_size(list), count);
  for (int32_t i = 0; i < count; i++) {
    weft_value object = weft_value_at(list, i);
    EQUAL(weft_value_size(object), 1);
    EQUAL(weft_value_int(weft_value_get(object, ids[i % IDS]), -1), i);
  }
}

static void shapes_of_messages(void) {
  reads_many_shapes(2 * IDS, NULL); /* some are defined again */
  /* 16 are remembered; each of the others is defined anew. */
  int32_t most = IDS + WEFT_VALUE_SHAPES - 16;
  int32_t length = many_shapes(IDS * 20, NULL);
  CHECK(IDS * 20 > most);
  EQUAL(weft_value_open(&message, room, length, NULL), EOVERFLOW);
}

static void shapes_of_a_table(void) {
  weft_shape_table *t = weft_shape_table_init(arena, sizeof arena, 512);
  reads_many_shapes(2 * IDS, t);
  EQUAL(weft_shape_table_size(t), IDS);
  int32_t length = many_shapes(3, t);
  EQUAL(length, 1 + 1 + 3 * 2);
  EQUAL(weft_value_open(&message, room, length, NULL), EINVAL);
  /* A table of another channel: each shape is looked up there. */
  weft_shape_table *other =
      weft_shape_table_init(arena + 1024, sizeof arena - 4096, 4);
  reads_many_shapes(2 * IDS, other);
  EQUAL(weft_shape_table_size(other), 1);
  reads_many_shapes(2 * IDS, t);
  EQUAL(weft_shape_table_size(t), IDS);
}

static void a_claimed_slot(void) {
  weft_shape_table *t = weft_shape_table_init(arena, sizeof arena, 512);
  weft__shape_slot *slots = weft__shape_slots(t);
  for (int32_t i = 0; i < 32; i++) slots[2 * i].state = WEFT__SHAPE_CLAIMED;
  static const char *const name[] = {"a"};
  weft_value_shape shape = WEFT_VALUE_SHAPE(name);
  int32_t length = 0;
  for (int32_t i = 0; i < 10; i++) {
    weft_value_begin(&writer, room, sizeof room, t);
    weft_value_write_object(&writer, &shape);
    weft_value_write_int(&writer, i);
    length = weft_value_end(&writer);
    EQUAL(weft_value_open(&message, room, length, t), 0);
    weft_value a = weft_value_get(weft_value_root(&message), "a");
    EQUAL(weft_value_int(a, -1), i);
  }
  EQUAL(length, 3); /* it insisted, and the shape is there */
  EQUAL(weft_shape_table_size(t), 1);
}

/* ---- damaged bytes */

static int32_t budget;

/* Calls everything for a value and its parts. */
static int64_t visit(weft_value v, int32_t depth) {
  if (budget-- <= 0) return 0;
  double numbers[2];
  char text[8];
  int32_t length;
  int64_t integer = 0;
  int64_t sum = weft_value_type(v) + weft_value_size(v) + weft_value_int(v, 1);
  sum += weft_value_number(v, 0) > 0;
  sum += weft_value_bigint(v, &integer) ? integer & 1 : 0;
  sum += weft_value_text(v, text, sizeof text) + weft_value_is(v, "ab");
  const uint8_t *bytes = weft_value_bytes(v, &length);
  for (int32_t i = 0; i < length; i++) sum += bytes[i];
  sum += weft_value_view(v) + weft_value_type(weft_value_class(v));
  sum += weft_value_type(weft_value_get(v, "id"));
  sum += weft_value_type(weft_value_at(v, 1));
  sum += weft_value_numbers(v, numbers, 2);
  if (depth == 0) return sum;
  weft_value_parts parts = weft_value_parts_of(v);
  while (budget > 0 && weft_value_next(&parts))
    sum += (visit(parts.key, 0) + visit(parts.value, depth - 1)) & 255;
  return sum;
}

#define SAMPLE(text) {text, sizeof text - 1}

static const struct {
  const char *bytes;
  size_t length;
} samples[] = {
    SAMPLE("\0\xc3\1\x42" "ab\xeb\1\0\0\0\0\0\0\0\0\0\xf0\x3f"),
    SAMPLE("\0\xc5\1\xec\3\0\0\0\xe6\4\0\0\0\xf0\x9f\x98\x80"),
    SAMPLE("\0\xc2\xee\6\0\2\x42id\x41\xfc\xd0\7\xe1\xd0\x08\xc1\x41z"),
    SAMPLE("\0\xc2\xef\2\0\0\0\x42id\1\x41y\xe7\1\0\0\0ab\xe3"),
    SAMPLE("\0\xf4\1\0\0\0\x41k\xf5\2\0\0\0\xf9\5\xf3\x41z\x41g"),
    SAMPLE("\1\xc2\xf8\x45" "Error\1\1\0\0\0\x47message\x42no\x41" "c\3\xf0\0"
           "\0\0\0"),
    SAMPLE("\1\xc2\xf7\2\0\0\0\0\1\0\0\0\xf6\2\0\0\0ab\xf7\2\1\0\0\0\1\0\0\0"
           "\xf0\2\0\0\0"),
    SAMPLE("\1\xc3\xee\3\0\1\x41x\xd0\xf0\1\0\0\0\xf0\1\0\0\0\xc1\xf0\0\0\0"
           "\0"),
    SAMPLE("\0\xc3\xf1\1\0\0\0\1\2\3\4\5\6\7\x08\xe5\0\0\0\0\0\0\xf0\x3f\xea\1"
           "\0\0\0\1\0\0\0"),
    SAMPLE("\0\xc2\x80\1\xee\5\0\1\x43" "abc\xed\0\0\0\0\x80\x42hi"),
};
#define SAMPLES ((int32_t)(sizeof samples / sizeof *samples))

static void change(uint8_t *bytes, size_t length, uint32_t *seed) {
  for (int32_t n = random_below(seed, 4); n > 0; n--)
    bytes[random_below(seed, (int32_t)length)] =
        (uint8_t)random_below(seed, 256);
}

/* A table of its own memory, with the shape { id }; its number. */
static int32_t table_of(size_t size, weft_shape_table **t) {
  void *memory = malloc(size);
  *t = weft_shape_table_init(memory, size, 4);
  CHECK(*t != NULL);
  return weft_shape_table_add(*t, "\1\x42id", 4, false);
}

/* Each message and each table has just as many bytes as were allocated, so that
   a sanitizer notices what is read beyond. Some are damaged after the message
   was opened, as other agents may do. */
static void damage(void) {
  uint32_t seed = 7;
  int32_t accepted = 0;
  int64_t sum = 0;
  size_t size = weft_shape_table_bytes(4);
  for (int32_t i = 0; i < 1000 * amount; i++) {
    int32_t which = i % SAMPLES;
    size_t length = samples[which].length;
    uint8_t *bytes = (uint8_t *)malloc(length);
    memcpy(bytes, samples[which].bytes, length);
    weft_shape_table *t;
    int32_t number = table_of(size, &t);
    for (size_t n = 0; n < length; n++)
      if (bytes[n] == 0x80) bytes[n] = (uint8_t)(0x80 | number);
    bool late = i / SAMPLES % 3 == 0;
    if (!late) change(bytes, length, &seed);
    if (weft_value_open(&message, bytes, (int32_t)length, t) == 0) {
      accepted++;
      budget = 500;
      if (late) {
        sum += visit(weft_value_root(&message), 1);
        change(bytes, length, &seed);
        change(weft__shape_texts(t), 4, &seed);
      }
      sum += visit(weft_value_root(&message), 20);
    } else {
      CHECK(!late);
    }
    free(bytes);
    free(t);
  }
  CHECK(accepted > 400 * amount && sum != 0);
}

/* ---- threads */

#define COUNT (500 * amount)

static weft_channel *channel;

static void *send_points(void *unused) {
  static const char *const names[] = {"id", "at"};
  weft_value_shape shape = WEFT_VALUE_SHAPE(names);
  weft_shape_table *shapes = weft_channel_shapes(channel);
  uint8_t bytes[64];
  for (int32_t i = 0; i < COUNT; i++) {
    weft_value_writer w;
    weft_value_begin(&w, bytes, sizeof bytes, shapes);
    weft_value_write_object(&w, &shape);
    weft_value_write_int(&w, i);
    weft_value_write_number(&w, i / 2.0);
    int32_t length = weft_value_end(&w);
    CHECK(length > 0 && length <= (int32_t)sizeof bytes);
    EQUAL(weft_channel_send(channel, bytes, length, WEFT_FOREVER), 0);
  }
  return unused;
}

static void by_threads(void) {
  weft_channel_config config = {WEFT_CHANNEL_VALUE, 4, 64, 0, 0};
  channel = weft_channel_init(arena, sizeof arena, config);
  CHECK(channel != NULL);
  pthread_t threads[2];
  int32_t unused[2];
  start_threads(threads, 2, send_points, unused, sizeof *unused);
  int64_t sum = 0;
  for (int32_t i = 0; i < 2 * COUNT; i++) {
    const void *at = NULL;
    int32_t length = 0;
    EQUAL(weft_channel_peek(channel, &at, &length, WEFT_FOREVER), 0);
    EQUAL(weft_value_open(&message, at, length, weft_channel_shapes(channel)),
          0);
    weft_value v = weft_value_root(&message);
    int32_t id = weft_value_int(weft_value_get(v, "id"), -1);
    CHECK(weft_value_number(weft_value_get(v, "at"), -1) == id / 2.0);
    sum += id;
    weft_channel_consume(channel);
  }
  join_threads(threads, 2);
  EQUAL(sum, (int64_t)COUNT * (COUNT - 1));
  EQUAL(weft_shape_table_size(weft_channel_shapes(channel)), 1);
  config.codec = WEFT_CHANNEL_JSON;
  channel = weft_channel_init(arena, sizeof arena, config);
  CHECK(weft_channel_shapes(channel) == NULL);
}

int main(int count, char **words) {
  if (count > 1) amount = (int32_t)strtol(words[1], NULL, 10);
  RUN(reads_numbers);
  RUN(reads_strings);
  RUN(reads_arrays);
  RUN(reads_objects);
  RUN(reads_bytes);
  RUN(follows_references);
  RUN(refuses_damage);
  RUN(writes_bytes);
  RUN(refuses_mistakes);
  RUN(shapes_of_messages);
  RUN(shapes_of_a_table);
  RUN(a_claimed_slot);
  RUN(damage);
  RUN(by_threads);
  puts("done");
  return 0;
}
