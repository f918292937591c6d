/* What weft_value reads: each kind of value, and what it refuses. native.c
   includes this. */
#ifndef VALUE_NATIVE_READING_H
#define VALUE_NATIVE_READING_H

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
  /* The second half of a pair behind a whole character. */
  EQUAL(weft_value_text(OPENED("\0\xe7\2\0\0\0x\0\0\xdc"), text, 8), 4);
  EQUAL(strcmp(text, "x\xef\xbf\xbd"), 0);
  static const char *const wrong[] = {
      "\xff",     "\xc3",         "\xc3(",         "\xc0\x80", "\xe0\x9f\xbf",
      "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\x80",
      "\xbf\x80",      "\xf8\x90\x80\x80"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint8_t bytes[16] = {0, 0xe6, (uint8_t)strlen(wrong[i]), 0, 0, 0};
    memset(bytes + 6, 0x80, sizeof bytes - 6); /* behind the message, too */
    memcpy(bytes + 6, wrong[i], strlen(wrong[i]));
    weft_value v = opened(bytes, 6 + strlen(wrong[i]));
    EQUAL(weft_value_text(v, text, sizeof text), -1);
    CHECK(!weft_value_is(v, wrong[i]));
  }
}

/* `v` is neither a number, a boolean, a BigInt nor a string. */
static void is_other(weft_value v) {
  char text[4] = "x";
  int64_t number = 3;
  CHECK(weft_value_number(v, 5) == 5);
  EQUAL(weft_value_int(v, 5), 5);
  CHECK(weft_value_bool(v, true) && !weft_value_bool(v, false));
  CHECK(!weft_value_bigint(v, &number) && number == 3);
  EQUAL(weft_value_text(v, text, sizeof text), -1);
  EQUAL(text[0], '\0');
  CHECK(!weft_value_is(v, ""));
}

static void tells_other_types(void) {
  int64_t number = 3;
  double numbers[4];
  int32_t length;
  weft_value v = OPENED("\0\xc1\x07");
  is_other(v);
  weft_value none = weft_value_at(v, 1);
  is_other(none);
  EQUAL(weft_value_type(none), WEFT_VALUE_NONE);
  EQUAL(weft_value_size(none), 0);
  EQUAL(weft_value_view(none), -1);
  CHECK(weft_value_bytes(none, &length) == NULL && length == 0);
  EQUAL(weft_value_numbers(none, numbers, 4), -1);
  EQUAL(weft_value_type(weft_value_class(none)), WEFT_VALUE_NONE);
  is_other(OPENED("\0\xf6\1\0\0\0a"));
  /* A name is a string, and a number whose type the array has is none. */
  v = OPENED("\0\xee\3\0\1\x41x\xd0\7");
  weft_value_parts parts = weft_value_parts_of(v);
  CHECK(weft_value_next(&parts));
  EQUAL(weft_value_type(parts.key), WEFT_VALUE_STRING);
  EQUAL(weft_value_int(parts.key, 5), 5);
  CHECK(weft_value_number(parts.key, 5) == 5);
  CHECK(!weft_value_bigint(parts.key, &number));
  weft_value packed = weft_value_at(OPENED("\0\xe9\2\0\0\0\x41\x41"), 0);
  EQUAL(weft_value_int(packed, 5), 0x41);
  EQUAL(weft_value_text(packed, NULL, 0), -1);
  CHECK(!weft_value_is(packed, "A"));
  EQUAL(weft_value_size(packed), 0);
  /* Not all items are numbers, or it is no array. */
  EQUAL(weft_value_numbers(OPENED("\0\xf5\1\0\0\0\7"), numbers, 4), -1);
  v = OPENED("\0\xc1\xf2\0\0\0\0\0\0\xf0\x3f");
  EQUAL(weft_value_type(weft_value_at(v, 0)), WEFT_VALUE_DATE);
  EQUAL(weft_value_numbers(v, numbers, 4), -1);
  v = OPENED("\0\xc3\1\xec\1\0\0\0\2");
  EQUAL(weft_value_numbers(v, numbers, 4), -1);
  /* What has bytes has no parts. */
  parts = weft_value_parts_of(
      OPENED("\0\xf7\2\1\0\0\0\2\0\0\0\xf6\3\0\0\0abc"));
  CHECK(!weft_value_next(&parts));
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
  REFUSED("\0\xf1\1\0\0\0abc");
  REFUSED("\0\xee\3\0\1\x41x\xd1\1");       /* another shape */
  REFUSED("\0\xee\3\0\1\x41x\xc0\1");
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

#endif
