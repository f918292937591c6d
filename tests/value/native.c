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

#include "native_reading.h"

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
  RUN(tells_other_types);
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
