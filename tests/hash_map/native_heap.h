/* The part of native.c about long keys and long values, which lie in the heap
   of a map. */
#ifndef HASH_MAP_NATIVE_HEAP_H
#define HASH_MAP_NATIVE_HEAP_H

static const weft_hash_map_config LONGS = {
    5, WEFT_HASH_MAP_I32, 4, WEFT_HASH_MAP_TEXT, 4, 77, false, 0};
static const weft_hash_map_heap HEAP = {16 * 12, 16, 40, 0};

/* How many blocks are not free. */
static int32_t blocks_of(const weft_hash_map *m) {
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__heap heap = weft__hash_heap_of(m, &plan);
  int32_t count = 0;
  for (int32_t i = 1; i <= heap.count; i++)
    if (*weft__heap_at(&heap, i) != 0) count++;
  return count;
}

static void long_values_lie_in_blocks(void) {
  weft_hash_map_config config = LONGS;
  size_t needed = weft_hash_map_bytes_with_heap(config, HEAP);
  EQUAL(needed % 16, 0);
  EQUAL(needed, WEFT_HASH_MAP_HEAP_BYTES(
                    WEFT_HASH_MAP_BYTES(5, WEFT_HASH_MAP_I32, 4,
                                        WEFT_HASH_MAP_TEXT, 4),
                    12, 16));
  EQUAL(WEFT_HASH_MAP_HEAP_BYTES(0, 12, 16), 0);
  CHECK(weft_hash_map_init_with_heap(arena, needed - 1, config, HEAP) == NULL);
  const weft_hash_map_heap wrong[] = {{16 * 12, 0, 40, 0},
                                      {16 * 12, 8, 40, 0},
                                      {16 * 12, 18, 40, 0},
                                      {15, 16, 40, 0},
                                      {(1 << 30) + 8, 16, 40, 0},
                                      {16 * 12, 16, 4, 0},
                                      {16 * 12, 16, 97, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    EQUAL(weft_hash_map_bytes_with_heap(config, wrong[i]), 0);
    CHECK(weft_hash_map_init_with_heap(arena, sizeof arena, config,
                                       wrong[i]) == NULL);
  }
  weft_hash_map *m = weft_hash_map_init_with_heap(arena, needed, config, HEAP);
  CHECK(m != NULL && weft_hash_map_attach(arena) == m);
  EQUAL(weft_hash_map_value_size(m), 40);
  uint32_t seed = 3;
  int32_t lengths[7]; /* the model: of the value of each key */
  int32_t used = 0, count = 0;
  for (int i = 0; i < 7; i++) lengths[i] = -1;
  for (int i = 0; i < 20000; i++) {
    int32_t key = random_below(&seed, 7);
    int32_t some = random_below(&seed, 41);
    char value[40], into[40];
    size_t length = 0;
    memset(value, 'a' + key + some % 13, sizeof value);
    int32_t old = lengths[key];
    int32_t had = old > 4 ? (old + 7) / 8 : 0;
    if (random_below(&seed, 3) == 0) {
      EQUAL(weft_hash_map_delete(m, &key, 4), old >= 0 ? 0 : ENOENT);
      if (old >= 0) count--;
      lengths[key] = -1;
      used -= had;
    } else {
      int32_t needs = some > 4 ? (some + 7) / 8 : 0;
      bool fits = used + needs <= 12 && (old >= 0 || count < 5);
      EQUAL(weft_hash_map_set(m, &key, 4, value, (size_t)some, false),
            fits ? 0 : ENOSPC);
      if (fits) {
        if (old < 0) count++;
        used += needs - had;
        lengths[key] = some;
        EQUAL(weft_hash_map_get(m, &key, 4, into, 40, &length), 0);
        EQUAL((int32_t)length, some);
        CHECK(memcmp(into, value, length) == 0);
      }
    }
    EQUAL(blocks_of(m), used);
  }
  EQUAL(weft_hash_map_clear(m), 0);
  EQUAL(blocks_of(m), 0);
}

static const weft_hash_map_config LONG_KEYS = {
    5, WEFT_HASH_MAP_TEXT, 4, WEFT_HASH_MAP_TEXT, 4, 77, false, 0};
static const weft_hash_map_heap KEYS_HEAP = {16 * 20, 16, 40, 40};

/* Key `number`: all but the last byte are the same for keys of one length. */
static size_t long_key(char *key, int32_t number) {
  size_t length = (size_t)(1 + number / 2 * 11);
  memset(key, 'k', length);
  key[length - 1] = (char)('a' + number);
  return length;
}

static int32_t blocks_for(size_t length) {
  return length > 4 ? (int32_t)(length + 7) / 8 : 0;
}

static void long_keys_lie_in_blocks(void) {
  size_t needed = weft_hash_map_bytes_with_heap(LONG_KEYS, KEYS_HEAP);
  weft_hash_map *m =
      weft_hash_map_init_with_heap(arena, needed, LONG_KEYS, KEYS_HEAP);
  CHECK(m != NULL && weft_hash_map_attach(arena) == m);
  EQUAL(weft_hash_map_key_size(m), 40);
  uint32_t seed = 5;
  int32_t lengths[7]; /* the model: of the value of each key */
  int32_t used = 0, count = 0;
  char key[40], into[40], value[40];
  size_t length = 0, key_length = 0;
  for (int i = 0; i < 7; i++) lengths[i] = -1;
  for (int i = 0; i < 20000; i++) {
    int32_t number = random_below(&seed, 7);
    size_t some = (size_t)random_below(&seed, 41);
    size_t all = long_key(key, number);
    memset(value, 'a' + number, sizeof value);
    int32_t old = lengths[number];
    if (random_below(&seed, 3) == 0) {
      EQUAL(weft_hash_map_delete(m, key, all), old >= 0 ? 0 : ENOENT);
      if (old < 0) continue;
      count--;
      lengths[number] = -1;
      used -= blocks_for(all) + blocks_for((size_t)old);
    } else {
      int32_t needs = blocks_for(some) + (old < 0 ? blocks_for(all) : 0);
      bool fits = used + needs <= 20 && (old >= 0 || count < 5);
      EQUAL(weft_hash_map_set(m, key, all, value, some, false),
            fits ? 0 : ENOSPC);
      if (fits) {
        if (old < 0) count++;
        used += needs - (old < 0 ? 0 : blocks_for((size_t)old));
        lengths[number] = (int32_t)some;
      }
    }
    EQUAL(blocks_of(m), used);
    for (int32_t j = 0; j < 7; j++) {
      all = long_key(key, j);
      EQUAL(weft_hash_map_get(m, key, all, into, 40, &length),
            lengths[j] < 0 ? ENOENT : 0);
      if (lengths[j] >= 0) EQUAL((int32_t)length, lengths[j]);
    }
    int32_t cursor = 0, seen = 0;
    while (weft_hash_map_next(m, &cursor, key, &key_length, into, &length) ==
           0) {
      int32_t found = key[key_length - 1] - 'a';
      char whole[40];
      EQUAL(key_length, long_key(whole, found));
      CHECK(memcmp(key, whole, key_length) == 0);
      EQUAL((int32_t)length, lengths[found]);
      seen++;
    }
    EQUAL(seen, count);
  }
  EQUAL(weft_hash_map_set(m, into, 41, value, 1, false), EINVAL);
  EQUAL(weft_hash_map_clear(m), 0);
  EQUAL(blocks_of(m), 0);
}

static void heaps_of_keys_are_checked(void) {
  const weft_hash_map_heap heaps[] = {
      {16 * 9, 16, 40, 40}, {16 * 20, 16, 40, 4}, {16 * 20, 16, 40, -1},
      {16 * 4, 16, 0, 40},  {16 * 20, 16, 4, 40}, {1 << 30, 16, 40, 1 << 21}};
  for (size_t i = 0; i < sizeof heaps / sizeof heaps[0]; i++)
    EQUAL(weft_hash_map_bytes_with_heap(LONG_KEYS, heaps[i]), 0);
  const weft_hash_map_heap possible[] = {
      {16 * 10, 16, 40, 40}, {16 * 5, 16, 0, 40}, {16 * 5, 16, 40, 0}};
  for (size_t i = 0; i < sizeof possible / sizeof possible[0]; i++)
    CHECK(weft_hash_map_bytes_with_heap(LONG_KEYS, possible[i]) > 0);
  /* Keys of four bytes have one length. */
  EQUAL(weft_hash_map_bytes_with_heap(LONGS, KEYS_HEAP), 0);
  weft_hash_map *m =
      weft_hash_map_init_with_heap(arena, sizeof arena, LONG_KEYS, KEYS_HEAP);
  m->longest_key++;
  CHECK(weft_hash_map_attach(arena) == NULL);
  m->longest_key--;
  CHECK(weft_hash_map_attach(arena) == m);
}

/* Adds, reads and deletes long keys, each with its number as the value. */
static void *set_long_keys(void *shared) {
  weft_hash_map *m = (weft_hash_map *)shared;
  uint32_t seed = (uint32_t)weft_agent_id();
  for (int32_t i = 0; i < amount; i++) {
    char key[40], into[40];
    int32_t number = random_below(&seed, 7), found = 0;
    size_t length = 0, key_length = long_key(key, number);
    int32_t step = random_below(&seed, 4), cursor = 0;
    int error = step == 0
                    ? weft_hash_map_set(m, key, key_length, &number, 4, false)
                : step == 1 ? weft_hash_map_delete(m, key, key_length)
                            : weft_hash_map_get(m, key, key_length, &found, 4,
                                                &length);
    CHECK(error == 0 || error == ENOSPC || error == ENOENT);
    CHECK(step < 2 || error != 0 || found == number);
    if (i % 16 != 0) continue;
    while (weft_hash_map_next(m, &cursor, into, &key_length, &found, &length) ==
           0)
      EQUAL(into[key_length - 1], 'a' + found);
  }
  return NULL;
}

static void long_keys_are_whole(void) {
  for (int evicts = 0; evicts < 2; evicts++) {
    weft_hash_map_config config = LONG_KEYS;
    weft_hash_map_heap heap = KEYS_HEAP;
    config.value_codec = WEFT_HASH_MAP_I32;
    config.evicts = evicts == 1;
    heap.longest = 0;
    weft_hash_map *m =
        weft_hash_map_init_with_heap(arena, sizeof arena, config, heap);
    CHECK(m != NULL);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
      EQUAL(pthread_create(&threads[i], NULL, set_long_keys, m), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    EQUAL(weft_hash_map_clear(m), 0);
    EQUAL(blocks_of(m), 0);
  }
}

static void damaged_blocks_are_noticed(void) {
  int32_t key = 1;
  char value[40] = {0};
  size_t length;
  weft_hash_map *m =
      weft_hash_map_init_with_heap(arena, sizeof arena, LONGS, HEAP);
  EQUAL(weft_hash_map_set(m, &key, 4, value, 20, false), 0);
  weft__hash_plan plan = weft__hash_plan_of(m);
  weft__heap heap = weft__hash_heap_of(m, &plan);
  int32_t *entry = weft__hash_entry(m, &plan, 1);
  while ((*entry & WEFT__HASH_LINKED_BIT) == 0) entry += plan.stride;
  int32_t *place = weft__hash_value_at(&plan, entry);
  int32_t first = place[1];
  const int32_t wrong[] = {0, -1, 13, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < 5; i++) {
    place[1] = wrong[i];
    EQUAL(weft_hash_map_get(m, &key, 4, value, 40, &length), ENOTRECOVERABLE);
    place[1] = first;
    int32_t *next = weft__heap_at(&heap, first) + WEFT__HEAP_NEXT;
    int32_t second = *next;
    *next = wrong[i];
    EQUAL(weft_hash_map_get(m, &key, 4, value, 40, &length), ENOTRECOVERABLE);
    *next = second;
    if (i == 0) continue;
    place[0] = i == 2 ? 41 : wrong[i];
    EQUAL(weft_hash_map_get(m, &key, 4, value, 40, &length), ENOTRECOVERABLE);
    place[0] = 20;
  }
  EQUAL(weft_hash_map_get(m, &key, 4, value, 40, &length), 0);
  m->longest++;
  CHECK(weft_hash_map_attach(arena) == NULL);
  m->longest--;
  CHECK(weft_hash_map_attach(arena) == m);
  const weft_hash_map_heap heaps[] = {
      {16, 16, 40, 0},       {16 * 12, 15, 40, 0}, {16 * 12, 8, 40, 0},
      {16 * 12, 16, 4, 0},   {0, 16, 40, 0},       {INT32_MAX, 16, 40, 0},
      {16 * 12, 16, 97, 0},  {-1, 16, 40, 0},      {1 << 30, 16, 1 << 21, 0},
      {1 << 20, 1 << 20, 40, 0}, {16 * 12, 16, 40, 40}, {16 * 12, 16, 0, 0}};
  for (size_t i = 0; i < sizeof heaps / sizeof heaps[0]; i++)
    EQUAL(weft_hash_map_bytes_with_heap(LONGS, heaps[i]), 0);
  EQUAL(weft_hash_map_bytes_with_heap(INTS, HEAP), 0);
}

/* Sets long values of all keys, each of one byte, until the time is over. */
static void *set_longs(void *shared) {
  weft_hash_map *m = (weft_hash_map *)shared;
  uint32_t seed = (uint32_t)weft_agent_id();
  for (int32_t i = 0; i < amount; i++) {
    char value[40];
    int32_t key = random_below(&seed, 5);
    memset(value, 'a' + i % 26, sizeof value);
    size_t some = 1 + (size_t)random_below(&seed, 40);
    int error = i % 7 == 0
                    ? weft_hash_map_delete(m, &key, 4)
                    : weft_hash_map_set(m, &key, 4, value, some, false);
    CHECK(error == 0 || error == ENOSPC || error == ENOENT);
  }
  return NULL;
}

static void long_values_are_whole(void) {
  for (int evicts = 0; evicts < 2; evicts++) {
    weft_hash_map_config config = LONGS;
    config.evicts = evicts == 1;
    weft_hash_map *m =
        weft_hash_map_init_with_heap(arena, sizeof arena, config, HEAP);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
      EQUAL(pthread_create(&threads[i], NULL, set_longs, m), 0);
    for (int32_t i = 0; i < amount; i++) {
      int32_t key = i % 5;
      char into[40];
      size_t length = 0;
      int error = weft_hash_map_get(m, &key, 4, into, 40, &length);
      CHECK(error == 0 || error == ENOENT);
      for (size_t j = 1; error == 0 && j < length; j++)
        CHECK(into[j] == into[0]);
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    EQUAL(weft_hash_map_clear(m), 0);
    EQUAL(blocks_of(m), 0);
  }
}

/* A cache finds room however few of its entries have blocks; what is used
   stays. */
/* A cache finds room where it does not look at first. */
static void a_heap_has_room_elsewhere(void) {
  weft_hash_map_config config = INTS;
  weft_hash_map_heap heap = {12 * 9000, 12, 8, 0};
  config.value_codec = WEFT_HASH_MAP_BINARY;
  config.value_size = 1;
  config.evicts = true;
  for (int32_t key = 0; key < 20; key++) {
    weft_hash_map *m =
        weft_hash_map_init_with_heap(arena, sizeof arena, config, heap);
    CHECK(m != NULL);
    weft__hash_plan plan = weft__hash_plan_of(m);
    weft__heap blocks = weft__hash_heap_of(m, &plan);
    char value[8] = "letters", into[8];
    size_t length;
    for (int32_t i = 0; i < 281; i++) blocks.bits[i] = -1; /* but the last */
    EQUAL(weft_hash_map_set(m, &key, 4, value, 8, false), 0);
    EQUAL(weft_hash_map_get(m, &key, 4, into, 8, &length), 0);
    CHECK(length == 8 && memcmp(value, into, 8) == 0);
    EQUAL(weft_hash_map_evictions(m), 0);
    blocks.bits[281] = -1;
    int32_t next = key + 1;
    EQUAL(weft_hash_map_set(m, &next, 4, value, 8, false), 0);
    EQUAL(weft_hash_map_evictions(m), 1); /* it gave way itself */
  }
}

static void few_entries_have_blocks(void) {
  weft_hash_map_config config = LONGS;
  weft_hash_map_heap five = HEAP;
  config.capacity = 500;
  config.evicts = true;
  five.bytes = 5 * five.block_size * (40 / (five.block_size - 8));
  weft_hash_map *m =
      weft_hash_map_init_with_heap(arena, sizeof arena, config, five);
  char value[40] = {0};
  size_t length = 0;
  for (int32_t key = 0; key < 200; key++)
    EQUAL(weft_hash_map_set(m, &key, 4, value, 1, false), 0);
  for (int32_t key = 200; key < 1000; key++) {
    const int32_t hot = 200;
    EQUAL(weft_hash_map_set(m, &key, 4, value, 40, false), 0);
    EQUAL(weft_hash_map_has(m, &key, 4), 0); /* which is no use */
    EQUAL(weft_hash_map_get(m, &hot, 4, value, 40, &length), 0);
  }
  EQUAL(weft_hash_map_size(m), 205);
  EQUAL((int)weft_hash_map_evictions(m), 795);
}

#endif
