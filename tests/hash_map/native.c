/* weft_hash_map: a model, errors, dead agents, and threads that share a map. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
/* The clock of what expires: the time of day unless a test sets it. */
static int64_t test_date(void);
#define WEFT_DATE() test_date()
#include <weft/hash_map.h>

#include "check.h"

static int32_t arena[1 << 15];

static int64_t date = -1; /* -1 for the real one */
static int64_t test_date(void) { return date < 0 ? weft__date() : date; }

static const weft_hash_map_config TEXTS = {
    5, WEFT_HASH_MAP_TEXT, 6, WEFT_HASH_MAP_BINARY, 9, 77, false, 0};
static const weft_hash_map_config INTS = {
    40, WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_I32, 4, 77, false, 0};

/* Doubles a value, makes one of a byte, or deletes it if it is long. */
static bool change(void *value, size_t *length, bool is_there, void *context) {
  (*(int *)context)++;
  if (!is_there) {
    *(char *)value = 'x';
    *length = 1;
    return true;
  }
  if (*length > 4) return false;
  memcpy((char *)value + *length, value, *length);
  *length *= 2;
  return true;
}

static void by_turns(void) {
  uint32_t seed = 5;
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, TEXTS);
  CHECK(m != NULL && weft_hash_map_attach(arena) == m);
  EQUAL(weft_hash_map_capacity(m), 5);
  EQUAL(weft_hash_map_key_size(m), 6);
  EQUAL(weft_hash_map_value_size(m), 9);
  int32_t lengths[7]; /* the model: of the value of the key with n bytes */
  for (int i = 0; i < 7; i++) lengths[i] = -1;
  int32_t count = 0, changes = 0;
  const char *key = "abcdef";
  for (int i = 0; i < 20000; i++) {
    int32_t n = random_below(&seed, 7);
    size_t k = (size_t)n;
    size_t v = (size_t)random_below(&seed, 10);
    size_t length = 99;
    char into[9], value[9];
    memset(value, 'a' + n, sizeof value);
    bool there = lengths[n] >= 0;
    int room = there || count < 5 ? 0 : ENOSPC;
    int found = there ? 0 : ENOENT;
    switch (random_below(&seed, 7)) {
      case 0:
        EQUAL(weft_hash_map_set(m, key, k, value, v, false), room);
        if (room == 0) lengths[n] = (int32_t)v;
        break;
      case 1:
        EQUAL(weft_hash_map_set(m, key, k, value, v, true),
              there ? EEXIST : room);
        if (!there && room == 0) lengths[n] = (int32_t)v;
        break;
      case 2:
        EQUAL(weft_hash_map_delete(m, key, k), found);
        lengths[n] = -1;
        break;
      case 3:
        EQUAL(weft_hash_map_take(m, key, k, into, 9, &length), found);
        if (there) EQUAL((int32_t)length, lengths[n]);
        lengths[n] = -1;
        break;
      case 4:
        changes = 0;
        EQUAL(weft_hash_map_update(m, key, k, change, &changes, into), room);
        EQUAL(changes, 1);
        if (room == 0)
          lengths[n] = !there ? 1 : lengths[n] > 4 ? -1 : 2 * lengths[n];
        break;
      case 5:
        EQUAL(weft_hash_map_get_or_insert(m, key, k, value, v, into, 9,
                                          &length),
              room);
        if (!there && room == 0) lengths[n] = (int32_t)v;
        if (room == 0) EQUAL((int32_t)length, lengths[n]);
        break;
      default:
        if (random_below(&seed, 9) != 0) break;
        EQUAL(weft_hash_map_clear(m), 0);
        for (int j = 0; j < 7; j++) lengths[j] = -1;
    }
    count = 0;
    for (int j = 0; j < 7; j++) {
      length = 0;
      found = lengths[j] >= 0 ? 0 : ENOENT;
      EQUAL(weft_hash_map_has(m, key, (size_t)j), found);
      EQUAL(weft_hash_map_get(m, key, (size_t)j, into, 9, &length), found);
      if (found != 0) continue;
      EQUAL((int32_t)length, lengths[j]);
      count++;
    }
    EQUAL(weft_hash_map_size(m), count);
    int32_t cursor = 0, seen = 0;
    char name[6];
    size_t name_length;
    while (weft_hash_map_next(m, &cursor, name, &name_length, into, &length) ==
           0) {
      EQUAL((int32_t)length, lengths[name_length]);
      EQUAL(memcmp(name, key, name_length), 0);
      seen++;
    }
    EQUAL(seen, count);
  }
}

static void numbers(void) {
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, INTS);
  CHECK(m != NULL);
  int32_t key = -3, before = 9;
  EQUAL(weft_hash_map_compare_exchange(m, &key, 4, 0, 1, &before), ENOENT);
  EQUAL(weft_hash_map_add(m, &key, 4, INT32_MAX, &before), 0);
  EQUAL(before, 0);
  EQUAL(weft_hash_map_add(m, &key, 4, 1, &before), 0);
  EQUAL(before, INT32_MAX);
  EQUAL(weft_hash_map_compare_exchange(m, &key, 4, 7, 1, &before), 0);
  EQUAL(before, INT32_MIN);
  EQUAL(weft_hash_map_compare_exchange(m, &key, 4, INT32_MIN, 1, &before), 0);
  EQUAL(weft_hash_map_add(m, &key, 4, 3, NULL), 0);
  EQUAL(weft_hash_map_add(m, &key, 4, -3, NULL), 0);
  EQUAL(weft_hash_map_add(m, &key, 4, 0, &before), 0);
  EQUAL(before, 1);
  double number = 0;
  UNCHANGED(arena, 4096, weft_hash_map_add_f64(m, &key, 4, 1, &number),
            EINVAL);
  UNCHANGED(arena, 4096,
            weft_hash_map_compare_exchange_f64(m, &key, 4, 1, 2, &number),
            EINVAL);
  const weft_hash_map_config doubles = {
      4, WEFT_HASH_MAP_F64, 8, WEFT_HASH_MAP_F64, 8, 1, false, 0};
  m = weft_hash_map_init(arena, sizeof arena, doubles);
  CHECK(m != NULL);
  const double zero = 0, minus = -zero, nan = zero / zero;
  size_t length;
  EQUAL(weft_hash_map_add_f64(m, &minus, 8, 1.5, &number), 0);
  EQUAL(weft_hash_map_add_f64(m, &zero, 8, 1.5, NULL), 0);
  EQUAL(weft_hash_map_add_f64(m, &zero, 8, 0, &number), 0);
  CHECK(number > 2 && number < 4); /* the sum of both */
  EQUAL(weft_hash_map_set(m, &nan, 8, &nan, 8, false), 0);
  EQUAL(weft_hash_map_get(m, &nan, 8, &number, 8, &length), 0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &nan, 8, 1, 2, &number), 0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &nan, 8, nan, minus, &number),
        0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &nan, 8, 0, 7, &number), 0);
  EQUAL(weft_hash_map_get(m, &nan, 8, &number, 8, &length), 0);
  CHECK(number > 6 && number < 8);
  EQUAL(weft_hash_map_size(m), 2);
  UNCHANGED(arena, 4096, weft_hash_map_add(m, &zero, 8, 1, &key), EINVAL);
  UNCHANGED(arena, 4096,
            weft_hash_map_compare_exchange(m, &zero, 8, 1, 2, &key), EINVAL);
  /* A record is no number, even if it is as long as one. */
  weft_hash_map_config records = doubles;
  records.value_codec = WEFT_HASH_MAP_RECORD;
  m = weft_hash_map_init(arena, sizeof arena, records);
  UNCHANGED(arena, 4096, weft_hash_map_add_f64(m, &zero, 8, 1, &number),
            EINVAL);
  records.value_size = 4;
  m = weft_hash_map_init(arena, sizeof arena, records);
  UNCHANGED(arena, 4096, weft_hash_map_add(m, &zero, 8, 1, &key), EINVAL);
}

/* The number of a key that may be any value: as JavaScript writes it. */
static void numbers_among_values(void) {
  const weft_hash_map_config values = {
      9, WEFT_HASH_MAP_VALUE, 16, WEFT_HASH_MAP_I32, 4, 1, false, 0};
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, values);
  CHECK(m != NULL);
  const char zero[] = {0, 0};
  const char minus[] = {0, '\xe5', 0, 0, 0, 0, 0, 0, 0, '\x80'};
  const char plus[] = {0, '\xe5', 0, 0, 0, 0, 0, 0, 0, 0};
  const char nan[] = {0, '\xe5', 0, 0, 0, 0, 0, 0, '\xf8', '\x7f'};
  const char other[] = {0, '\xe5', 3, 0, 0, 0, 0, 0, '\xf8', '\xff'};
  const char half[] = {0, '\xe5', 0, 0, 0, 0, 0, 0, '\xe0', '\x3f'};
  const char text[] = {0, 0x48, 0, 0, 0, 0, 0, 0, 0, '\x80'};
  const char listed[] = {1, '\xe5', 0, 0, 0, 0, 0, 0, 0, '\x80'};
  int32_t found = 0;
  size_t length = 0;
  EQUAL(weft_hash_map_add(m, zero, 2, 1, NULL), 0);
  EQUAL(weft_hash_map_add(m, minus, 10, 1, &found), 0);
  EQUAL(found, 1);
  EQUAL(weft_hash_map_get(m, plus, 10, &found, 4, &length), 0);
  EQUAL(found, 2);
  EQUAL(weft_hash_map_add(m, other, 10, 5, NULL), 0);
  EQUAL(weft_hash_map_get(m, nan, 10, &found, 4, &length), 0);
  EQUAL(found, 5);
  EQUAL(weft_hash_map_size(m), 2);
  char key[16];
  int32_t cursor = 0, seen = 0;
  size_t value_length;
  while (weft_hash_map_next(m, &cursor, key, &length, &found, &value_length) ==
         0) {
    seen++;
    EQUAL(memcmp(key, length == 2 ? zero : nan, length), 0);
  }
  EQUAL(seen, 2);
  EQUAL(weft_hash_map_add(m, half, 10, 1, NULL), 0);
  EQUAL(weft_hash_map_add(m, text, 10, 1, NULL), 0);
  EQUAL(weft_hash_map_add(m, listed, 10, 1, NULL), 0);
  EQUAL(weft_hash_map_size(m), 5);
  EQUAL(weft_hash_map_has(m, half, 10), 0);
  EQUAL(weft_hash_map_has(m, text, 10), 0);
}

static void errors(void) {
  const weft_hash_map_config wrong[] = {{0, 2, 4, 2, 4, 0, false, 0},
                                        {1 << 28, 2, 4, 2, 4, 0, false, 0},
                                        {1, 0, 4, 2, 4, 0, false, 0},
                                        {1, 2, 4, 10, 4, 0, false, 0},
                                        {1, 2, 0, 2, 4, 0, false, 0},
                                        {1, 2, 4096, 2, 4, 0, false, 0},
                                        {1, 2, 4100, 2, 4, 0, false, 0},
                                        {1, 2, -1, 2, 4, 0, false, 0},
                                        {1, 2, 4, 2, 65536, 0, false, 0},
                                        {1, 2, 4, 2, 65540, 0, false, 0},
                                        {1, 4, 8, 2, 4, 0, false, 0},
                                        {1, 2, 4, 5, 4, 0, false, 0}};
  for (int i = 0; i < 12; i++) {
    EQUAL(weft_hash_map_bytes(wrong[i]), 0);
    CHECK(weft_hash_map_init(arena, sizeof arena, wrong[i]) == NULL);
  }
  CHECK(weft_hash_map_init(arena, weft_hash_map_bytes(TEXTS) - 1, TEXTS) ==
        NULL);
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, TEXTS);
  CHECK(m != NULL);
  char value[9] = "12345678";
  char into[9];
  size_t length = 0;
  EQUAL(weft_hash_map_set(m, "a", 1, value, 9, false), 0);
  UNCHANGED(arena, 4096, weft_hash_map_set(m, "abcdefg", 7, value, 9, false),
            EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_set(m, "a", 1, value, 10, false),
            EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_get(m, "abcdefg", 7, into, 9, &length),
            EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_has(m, "abcdefg", 7), EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_delete(m, "abcdefg", 7), EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_get(m, "a", 1, into, 8, &length),
            EOVERFLOW);
  EQUAL((int)length, 9);
  UNCHANGED(arena, 4096, weft_hash_map_take(m, "a", 1, into, 8, &length),
            EOVERFLOW);
}

static void dead_agents(void) {
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, INTS);
  CHECK(m != NULL);
  int32_t key = 1, value = 2;
  EQUAL(weft_hash_map_set(m, &key, 4, &value, 4, false), 0);
  EQUAL(weft_agent_set_id(6), 0);
  static weft__hash_place place; /* gcc sees no value otherwise */
  CHECK(weft__hash_place_of(&place, m, &key, 4));
  EQUAL(weft__hash_lock(place.bucket), 0);
  CHECK(weft__hash_allocate(m, &place.plan, place.hash) != 0);
  EQUAL(weft_hash_map_set(m, &key, 4, &value, 4, false), EDEADLK);
  EQUAL(weft_agent_set_id(7), 0);
  EQUAL(weft_hash_map_has(m, &key, 4), 0);
  EQUAL(weft_hash_map_abandon(m, 0), 0);
  EQUAL(weft_hash_map_abandon(m, 5), 0);
  EQUAL(weft_hash_map_abandon(m, 6), 1);
  EQUAL(weft_hash_map_abandon(m, 6), 0);
  for (key = 2; key <= 40; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, &value, 4, false), 0);
  EQUAL(weft_hash_map_set(m, &key, 4, &value, 4, false), ENOSPC);
  /* A bucket that is damaged. */
  CHECK(weft__hash_place_of(&place, m, &key, 4));
  place.bucket->head = 99;
  place.bucket->lock.state = 6;
  UNCHANGED(arena, 4096, weft_hash_map_abandon(m, 6), -ENOTRECOVERABLE);
  UNCHANGED(arena, 4096, weft_hash_map_has(m, &key, 4), ENOTRECOVERABLE);
  place.bucket->lock.state = 0;
  UNCHANGED(arena, 4096, weft_hash_map_delete(m, &key, 4), ENOTRECOVERABLE);
}

/* ---- threads ------------------------------------------------------------- */

#define THREADS 4
static int32_t amount = 20000;

typedef struct {
  weft_hash_map *map;
  uint32_t seed;
  int32_t added;
  bool evicts;
} worker;

/* Values of 8 bytes, of which each is the same. */
static bool grow(void *value, size_t *length, bool is_there, void *context) {
  (void)context;
  memset(value, is_there ? *(char *)value + 1 : 1, 8);
  *length = 8;
  return true;
}

static void *work(void *argument) {
  worker *self = (worker *)argument;
  char value[8], into[8];
  size_t length;
  for (int32_t i = 0; i < amount; i++) {
    int32_t key = random_below(&self->seed, 20);
    int what = random_below(&self->seed, 8);
    if (what == 0) {
      int result = weft_hash_map_delete(self->map, &key, 4);
      CHECK(result == 0 || result == ENOENT);
    } else if (what == 1) {
      memset(value, key, 8);
      int result = weft_hash_map_set(self->map, &key, 4, value, 8, false);
      CHECK(result == 0 || (result == ENOSPC && !self->evicts));
    } else if (what == 2) {
      int result =
          weft_hash_map_update(self->map, &key, 4, grow, NULL, value);
      CHECK(result == 0 || (result == ENOSPC && !self->evicts));
    } else if (what == 3) {
      int32_t cursor = 0;
      while (weft_hash_map_next(self->map, &cursor, &key, &length, into,
                                &length) == 0)
        for (int j = 1; j < 8; j++) EQUAL(into[j], into[0]);
    } else {
      int result =
          weft_hash_map_get(self->map, &key, 4, into, 8, &length);
      CHECK(result == 0 || result == ENOENT);
      if (result == 0)
        for (int j = 1; j < 8; j++) EQUAL(into[j], into[0]);
    }
  }
  return NULL;
}

static void values_are_whole(void) {
  const int32_t capacities[] = {1, 6, 20, 1, 6, 300};
  for (int c = 0; c < 6; c++) {
    bool evicts = c > 2;
    weft_hash_map_config config = {
        capacities[c], WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_RECORD, 8, 3,
        evicts, evicts ? 5 : 0};
    weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, config);
    worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
      worker w = {m, (uint32_t)(i + 1), 0, evicts};
      workers[i] = w;
      EQUAL(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    EQUAL(weft_hash_map_clear(m), 0);
    EQUAL(weft_hash_map_size(m), 0);
    char value[8] = {0};
    for (int32_t key = 0; key < capacities[c]; key++)
      EQUAL(weft_hash_map_set(m, &key, 4, value, 8, false), 0);
  }
}

static void a_cache_evicts(void) {
  const weft_hash_map_config config = {
      3, WEFT_HASH_MAP_TEXT, 6, WEFT_HASH_MAP_BINARY, 9, 77, true, 0};
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, config);
  CHECK(m != NULL);
  char into[9];
  size_t length;
  EQUAL(weft_hash_map_set(m, "a", 1, "1", 1, false), 0);
  EQUAL(weft_hash_map_set(m, "b", 1, "2", 1, false), 0);
  EQUAL(weft_hash_map_get_or_insert(m, "c", 1, "3", 1, into, 9, &length), 0);
  EQUAL(weft_hash_map_get(m, "a", 1, into, 9, &length), 0);
  EQUAL(weft_hash_map_set(m, "d", 1, "4", 1, false), 0); /* instead of b */
  EQUAL(weft_hash_map_has(m, "b", 1), ENOENT);
  EQUAL(weft_hash_map_has(m, "a", 1), 0);
  EQUAL(weft_hash_map_delete(m, "a", 1), 0);
  EQUAL(weft_hash_map_set(m, "e", 1, "5", 1, false), 0);
  EQUAL(weft_hash_map_has(m, "c", 1), 0);
  EQUAL(weft_hash_map_set(m, "f", 1, "6", 1, false), 0); /* instead of c */
  EQUAL(weft_hash_map_has(m, "c", 1), ENOENT);
  EQUAL(weft_hash_map_get(m, "c", 1, into, 9, &length), ENOENT);
  EQUAL(weft_hash_map_size(m), 3);
  EQUAL((int)weft_hash_map_hits(m), 1);
  EQUAL((int)weft_hash_map_misses(m), 2);
  EQUAL((int)weft_hash_map_evictions(m), 2);
  /* Another agent fills the only entry: the new key gives way itself. */
  weft_hash_map_config one = config;
  one.capacity = 1;
  m = weft_hash_map_init(arena, sizeof arena, one);
  CHECK(m != NULL);
  weft__hash_plan plan = weft__hash_plan_of(m);
  *weft__hash_entry(m, &plan, 1) = WEFT__HASH_CLAIMED_BIT | 9;
  EQUAL(weft_hash_map_set(m, "a", 1, "1", 1, false), 0);
  EQUAL(weft_hash_map_has(m, "a", 1), ENOENT);
  m = weft_hash_map_init(arena, sizeof arena, INTS);
  CHECK(m != NULL && weft_hash_map_hits(m) == 0);
  int32_t key = 1;
  UNCHANGED(arena, 4096, weft_hash_map_set_for(m, &key, 4, &key, 4, false, 1),
            EINVAL);
}

static void entries_expire(void) {
  const weft_hash_map_config config = {
      3, WEFT_HASH_MAP_TEXT, 6, WEFT_HASH_MAP_BINARY, 9, 77, true, 100};
  const weft_hash_map_config wrong[] = {
      {3, 2, 6, 1, 9, 77, true, -1},
      {3, 2, 6, 1, 9, 77, true, (1 << 30) + 1},
      {3, 2, 6, 1, 9, 77, false, 1}};
  for (int i = 0; i < 3; i++) EQUAL(weft_hash_map_bytes(wrong[i]), 0);
  EQUAL(weft_hash_map_bytes(config),
        WEFT_HASH_MAP_TTL_BYTES(3, WEFT_HASH_MAP_TEXT, 6, WEFT_HASH_MAP_BINARY,
                                9));
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, config);
  CHECK(m != NULL && weft_hash_map_attach(arena) == m);
  char into[9];
  size_t length;
  date = INT64_C(0x123456780000000) - 30; /* it wraps soon */
  EQUAL(weft_hash_map_set(m, "a", 1, "1", 1, false), 0);
  date += 60;
  EQUAL(weft_hash_map_set(m, "b", 1, "2", 1, false), 0);
  EQUAL(weft_hash_map_set(m, "c", 1, "3", 1, false), 0);
  date += 39;
  EQUAL(weft_hash_map_get(m, "a", 1, into, 9, &length), 0);
  EQUAL(weft_hash_map_get(m, "b", 1, into, 9, &length), 0);
  EQUAL(weft_hash_map_get(m, "c", 1, into, 9, &length), 0);
  EQUAL(weft_hash_map_set(m, "b", 1, "4", 1, false), 0); /* its time anew */
  date += 1;
  EQUAL(weft_hash_map_has(m, "a", 1), ENOENT);
  EQUAL(weft_hash_map_get(m, "a", 1, into, 9, &length), ENOENT);
  EQUAL(weft_hash_map_size(m), 3);
  EQUAL(weft_hash_map_set(m, "d", 1, "5", 1, false), 0); /* instead of a */
  EQUAL(weft_hash_map_size(m), 3);
  EQUAL((int)weft_hash_map_evictions(m), 0);
  date += 60;
  EQUAL(weft_hash_map_take(m, "c", 1, into, 9, &length), ENOENT);
  EQUAL(weft_hash_map_size(m), 2);
  EQUAL(weft_hash_map_has(m, "b", 1), 0);
  date += 1000;
  EQUAL(weft_hash_map_delete(m, "b", 1), ENOENT);
  int32_t cursor = 0;
  char key[6], value[9];
  size_t key_length;
  EQUAL(weft_hash_map_next(m, &cursor, key, &key_length, value, &length),
        ENOENT);
  EQUAL(weft_hash_map_get_or_insert(m, "d", 1, "6", 1, into, 9, &length), 0);
  CHECK(into[0] == '6');
  date -= 1000; /* another agent's clock may be late */
  EQUAL(weft_hash_map_has(m, "d", 1), 0);
  date -= 1; /* it was set back */
  EQUAL(weft_hash_map_has(m, "d", 1), ENOENT);
  date += 1001 + (INT64_C(1) << 31); /* the difference has wrapped */
  EQUAL(weft_hash_map_has(m, "d", 1), ENOENT);
  /* Values that count for less than others. */
  UNCHANGED(arena, 4096, weft_hash_map_set_for(m, "e", 1, "6", 1, false, 0),
            EINVAL);
  UNCHANGED(arena, 4096, weft_hash_map_set_for(m, "e", 1, "6", 1, false, 101),
            EINVAL);
  EQUAL(weft_hash_map_set_for(m, "e", 1, "6", 1, false, 5), 0);
  EQUAL(weft_hash_map_set_for(m, "e", 1, "7", 1, true, 9), EEXIST);
  date += 4;
  EQUAL(weft_hash_map_has(m, "e", 1), 0);
  date += 1;
  EQUAL(weft_hash_map_has(m, "e", 1), ENOENT);
  EQUAL(weft_hash_map_set_for(m, "e", 1, "8", 1, true, 100), 0);
  EQUAL(weft_hash_map_set_for(m, "e", 1, "9", 1, false, 1), 0);
  date += 1;
  EQUAL(weft_hash_map_has(m, "e", 1), ENOENT);
  /* A number that is there keeps its time. */
  weft_hash_map_config numbers = INTS;
  numbers.evicts = true;
  numbers.ttl = 10;
  EQUAL(weft_hash_map_bytes(numbers),
        WEFT_HASH_MAP_TTL_BYTES(40, WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_I32,
                                4));
  m = weft_hash_map_init(arena, sizeof arena, numbers);
  CHECK(m != NULL);
  int32_t one = 1, before = 0;
  EQUAL(weft_hash_map_add(m, &one, 4, INT32_MAX, &before), 0);
  date += 9;
  EQUAL(weft_hash_map_add(m, &one, 4, 1, &before), 0);
  EQUAL(before, INT32_MAX);
  EQUAL(weft_hash_map_compare_exchange(m, &one, 4, INT32_MIN, 5, &before), 0);
  EQUAL(before, INT32_MIN);
  date += 1;
  EQUAL(weft_hash_map_compare_exchange(m, &one, 4, 5, 6, &before), ENOENT);
  EQUAL(weft_hash_map_add(m, &one, 4, 2, &before), 0);
  EQUAL(before, 0);
  date = -1;
}

static void *count(void *argument) {
  worker *self = (worker *)argument;
  for (int32_t i = 0; i < amount; i++) {
    int32_t key = random_below(&self->seed, 10), before;
    int32_t n = random_below(&self->seed, 5);
    EQUAL(weft_hash_map_add(self->map, &key, 4, n, &before), 0);
    self->added += n;
  }
  return NULL;
}

static void sums_are_right(void) {
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, INTS);
  worker workers[THREADS];
  pthread_t threads[THREADS];
  int32_t added = 0, sum = 0;
  for (int i = 0; i < THREADS; i++) {
    worker w = {m, (uint32_t)(i + 1), 0, false};
    workers[i] = w;
    EQUAL(pthread_create(&threads[i], NULL, count, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    added += workers[i].added;
  }
  for (int32_t key = 0; key < 10; key++) {
    int32_t value;
    size_t length;
    EQUAL(weft_hash_map_get(m, &key, 4, &value, 4, &length), 0);
    sum += value;
  }
  EQUAL(sum, added);
}

/* Moves the value of each even key to the next one. */
static void *answer(void *at) {
  weft_hash_map *m = (weft_hash_map *)at;
  for (int32_t key = 0; key < amount; key += 2) {
    int32_t value, next = key + 1;
    size_t length;
    EQUAL(weft_hash_map_wait_for(m, &key, 4, &value, 4, &length, WEFT_FOREVER),
          0);
    EQUAL(weft_hash_map_delete(m, &key, 4), 0);
    EQUAL(weft_hash_map_set(m, &next, 4, &value, 4, false), 0);
  }
  return NULL;
}

static void keys_are_waited_for(void) {
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, INTS);
  pthread_t thread;
  int32_t none = -1, value;
  size_t length;
  EQUAL(weft_hash_map_wait_for(m, &none, 4, &value, 4, &length, 0), ETIMEDOUT);
  EQUAL(weft_hash_map_wait_for(m, &none, 4, &value, 4, &length, 1000000),
        ETIMEDOUT);
  EQUAL(weft_hash_map_wait_for(m, &none, 3, &value, 4, &length, 0), EINVAL);
  EQUAL(pthread_create(&thread, NULL, answer, m), 0);
  for (int32_t key = 0; key < amount; key += 2) {
    int32_t next = key + 1;
    EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
    EQUAL(weft_hash_map_wait_for(m, &next, 4, &value, 4, &length, WEFT_FOREVER),
          0);
    EQUAL(value, key);
    EQUAL(weft_hash_map_delete(m, &next, 4), 0);
  }
  pthread_join(thread, NULL);
}

static void a_full_map_does_not_look(void) {
  weft_hash_map_config config = INTS;
  config.capacity = 3000;
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, config);
  CHECK(m != NULL);
  int32_t none = -1;
  for (int32_t key = 0; key < 3000; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
  EQUAL(weft_hash_map_set(m, &none, 4, &none, 4, false), ENOSPC);
  EQUAL(m->full, WEFT__HASH_FULL_BIT | WEFT__HASH_LOOKED_BIT);
  /* It looks at no bits, which seem to have room here. */
  int32_t bits = *weft__hash_map(m, 5);
  *weft__hash_map(m, 5) = 0;
  EQUAL(weft_hash_map_set(m, &none, 4, &none, 4, false), ENOSPC);
  *weft__hash_map(m, 5) = bits;
  for (int32_t key = 0; key < 3000; key += 97) {
    int32_t number = 0, fresh = -2 - key, before;
    for (int32_t *entry = NULL; entry == NULL || entry[2] != key; number++) {
      weft__hash_plan plan = weft__hash_plan_of(m);
      entry = weft__hash_entry(m, &plan, number + 1);
    }
    EQUAL(weft_hash_map_delete(m, &key, 4), 0);
    EQUAL(m->full & (WEFT__HASH_FULL_BIT | WEFT__HASH_LOOKED_BIT), 0);
    EQUAL(m->room, (number - 1) >> 5);
    m->full |= WEFT__HASH_LOOKED_BIT; /* that says nothing yet */
    EQUAL(weft_hash_map_add(m, &fresh, 4, 1, &before), 0);
    EQUAL(weft_hash_map_add(m, &none, 4, 1, &before), ENOSPC);
    m->room = -key; /* any number is harmless */
  }
  EQUAL(weft_hash_map_clear(m), 0);
  for (int32_t key = 0; key < 3000; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
  EQUAL(weft_hash_map_set(m, &none, 4, &none, 4, false), ENOSPC);
}

/* In a large map, a new entry lies at the home of its bucket, or near it. */
static void entries_have_homes(void) {
  for (int32_t capacity = 4095; capacity <= 4131; capacity += 6) {
    weft_hash_map_config config = INTS;
    config.capacity = capacity;
    weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, config);
    CHECK(m != NULL);
    int32_t near = 0, none = -1;
    for (int32_t key = 0; key < capacity; key++) {
      EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
      if (key > capacity / 5 * 4) continue;
      static weft__hash_place place; /* gcc sees no value otherwise */
      CHECK(weft__hash_place_of(&place, m, &key, 4));
      int32_t bucket = place.hash & (place.plan.buckets - 1);
      int32_t home = (int32_t)((int64_t)bucket * capacity / place.plan.buckets);
      int32_t number = place.bucket->head - 1;
      if (key == 0 && capacity >= 4096) EQUAL(number, home);
      near += number >= home && number < home + 32;
    }
    if (capacity >= 4096) CHECK(near > capacity / 5 * 3);
    EQUAL(weft_hash_map_set(m, &none, 4, &none, 4, false), ENOSPC);
    EQUAL(weft_hash_map_size(m), capacity);
  }
}

/* What few programs meet. */
static void guards(void) {
  const weft_hash_map_config doubles = {
      5, WEFT_HASH_MAP_F64, 8, WEFT_HASH_MAP_I32, 4, 77, false, 0};
  weft_hash_map *m = weft_hash_map_init(arena, sizeof arena, doubles);
  double infinity = __builtin_inf(), less = -infinity, nan = __builtin_nan("");
  int32_t value = 7;
  size_t length;
  EQUAL(weft_hash_map_set(m, &infinity, 8, &value, 4, false), 0);
  EQUAL(weft_hash_map_has(m, &infinity, 8), 0);
  EQUAL(weft_hash_map_has(m, &less, 8), ENOENT);
  EQUAL(weft_hash_map_has(m, &nan, 8), ENOENT);
  int32_t before_first = -1;
  size_t key_length;
  char text[16];
  EQUAL(weft_hash_map_next(m, &before_first, text, &key_length, &value,
                           &length),
        EINVAL);
  const weft_hash_map_config numbers_of = {
      5, WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_F64, 8, 77, false, 0};
  m = weft_hash_map_init(arena, sizeof arena, numbers_of);
  double one = 1, found;
  EQUAL(weft_hash_map_set(m, &value, 4, &one, 8, false), 0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &value, 4, nan, 2, &found), 0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &value, 4, one, nan, &found), 0);
  CHECK(found >= 1 && found <= 1);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &value, 4, one, 2, &found), 0);
  EQUAL(weft_hash_map_compare_exchange_f64(m, &value, 4, nan, 3, &found), 0);
  EQUAL(weft_hash_map_get(m, &value, 4, &found, 8, &length), 0);
  CHECK(found >= 3 && found <= 3);
  /* A length that the entry has no room for. */
  m = weft_hash_map_init(arena, sizeof arena, TEXTS);
  EQUAL(weft_hash_map_set(m, "key", 3, "nine text", 9, false), 0);
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__hash_entry(m, &plan, 1)[plan.value] = 10;
  EQUAL(weft_hash_map_get(m, "key", 3, text, 16, &length), ENOTRECOVERABLE);
  /* A chain that is a circle. */
  m = weft_hash_map_init(arena, sizeof arena, TEXTS);
  EQUAL(weft_hash_map_set(m, "key", 3, "text", 4, false), 0);
  plan = weft__hash_plan_of(m);
  *weft__hash_entry(m, &plan, 1) = WEFT__HASH_LINKED_BIT | 1;
  for (char c = 'a'; c <= 'z'; c++) { /* of all buckets */
    int error = weft_hash_map_has(m, &c, 1);
    CHECK(error == ENOENT || error == ENOTRECOVERABLE);
  }
  EQUAL(weft_hash_map_clear(m), ENOTRECOVERABLE);
  /* No room for what was made. */
  m = weft_hash_map_init(arena, sizeof arena, TEXTS);
  memset(text, 'x', sizeof text);
  EQUAL(weft_hash_map_get_or_insert(m, "key", 3, "nine text", 9, text, 4,
                                    &length),
        EOVERFLOW);
  CHECK(length == 9 && text[4] == 'x');
  /* The mark of the key that the entry had before. */
  weft_hash_map_config config = INTS;
  config.capacity = 2;
  config.evicts = true;
  m = weft_hash_map_init(arena, sizeof arena, config);
  for (int32_t key = 1; key <= 2; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
  int32_t key = 1;
  EQUAL(weft_hash_map_get(m, &key, 4, &value, 4, &length), 0);
  EQUAL(weft_hash_map_delete(m, &key, 4), 0);
  for (key = 3; key <= 4; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, &key, 4, false), 0);
  key = 3;
  EQUAL(weft_hash_map_has(m, &key, 4), ENOENT);
  key = 2;
  EQUAL(weft_hash_map_has(m, &key, 4), 0);
}

#include "native_heap.h"

int main(int count, char **words) {
  if (count > 1) amount = 1000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(numbers);
  RUN(numbers_among_values);
  RUN(errors);
  RUN(dead_agents);
  RUN(a_full_map_does_not_look);
  RUN(entries_have_homes);
  RUN(guards);
  RUN(values_are_whole);
  RUN(a_cache_evicts);
  RUN(entries_expire);
  RUN(sums_are_right);
  RUN(keys_are_waited_for);
  RUN(long_values_lie_in_blocks);
  RUN(damaged_blocks_are_noticed);
  RUN(long_keys_lie_in_blocks);
  RUN(heaps_of_keys_are_checked);
  RUN(long_keys_are_whole);
  RUN(long_values_are_whole);
  RUN(few_entries_have_blocks);
  RUN(a_heap_has_room_elsewhere);
  puts("done");
  return 0;
}
