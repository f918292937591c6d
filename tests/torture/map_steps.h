/*
 * What agents do with one hash_map, for kills.c and soak.c. Each value names
 * its key and its number, and its last word depends on all others: a torn one
 * is noticed. So is a torn key: its letters follow from its number. Where
 * agents have keys of their own, an agent is the only one that writes these,
 * and knows what it has to find.
 *
 * Who includes this defines MAP_WRONG(what, a, b): what to do about a broken
 * promise.
 */
#ifndef MAP_STEPS_H
#define MAP_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/hash_map.h"

/* The most keys; the most where agents have their own; and the words of the
   longest value. */
enum { MAP_KEYS = 1000, MAP_OWNED = 60, MAP_WORDS = 10 };

/* The most bytes of a key that lies in its entry; and of a longer one. */
enum { MAP_SHORT = 8, MAP_NAME = 60 };

/* What an agent knows of a key of its own, if not the number of its value. */
enum { MAP_UNKNOWN = -2, MAP_ABSENT = -1 };

/* An agent, and what it knows. */
typedef struct {
  weft_hash_map *map;
  int32_t keys;
  int32_t agents; /* of which each has keys of its own; or 0 */
  int32_t number; /* of this one */
  bool evicts;    /* entries may go at any moment */
  uint32_t random;
  int32_t known[MAP_OWNED];
} map_user;

static int32_t map_random(map_user *u, int32_t below) {
  u->random = u->random * 1664525u + 1013904223u;
  return (int32_t)((u->random >> 8) % (uint32_t)below);
}

static weft_hash_map_config map_config(int32_t capacity, bool evicts) {
  return (weft_hash_map_config){.capacity = capacity,
                                .key_codec = WEFT_HASH_MAP_TEXT,
                                .key_size = MAP_SHORT,
                                .value_codec = WEFT_HASH_MAP_BINARY,
                                .value_size = 4 * MAP_WORDS,
                                .seed = 12345,
                                .evicts = evicts,
                                .ttl = evicts ? 3 : 0};
}

/* The bytes that a block has for a value, and the most bytes of a value that
   needs none. */
enum { MAP_BODY = 12, MAP_IN_ENTRY = 16 };
enum { MAP_MOST_BLOCKS = (4 * MAP_WORDS + MAP_BODY - 1) / MAP_BODY };

/* Makes a map; with a heap that has `blocks` blocks, if that is not 0, for
   values and, if some are long, for keys. */
static weft_hash_map *map_make(void *at, size_t room, int32_t capacity,
                               bool evicts, int32_t blocks, bool long_keys) {
  weft_hash_map_config config = map_config(capacity, evicts);
  if (blocks == 0) return weft_hash_map_init(at, room, config);
  config.value_size = MAP_IN_ENTRY;
  const weft_hash_map_heap heap = {blocks * (MAP_BODY + 8), MAP_BODY + 8,
                                   4 * MAP_WORDS, long_keys ? MAP_NAME : 0};
  return weft_hash_map_init_with_heap(at, room, config, heap);
}

/* A user that knows nothing yet. */
static void map_begin(map_user *u, weft_hash_map *map, int32_t keys,
                      int32_t agents, int32_t number, uint32_t random) {
  u->map = map;
  u->keys = keys;
  u->agents = agents;
  u->number = number;
  u->evicts = (map->sizes & WEFT__HASH_EVICTS_BIT) != 0;
  u->random = random;
  for (int32_t i = 0; i < MAP_OWNED; i++) u->known[i] = MAP_UNKNOWN;
}

/* A key as text, of one length or another. If keys may be long, two of three
   are. There is room for MAP_NAME + 1 bytes at `name`. */
static size_t map_name(const weft_hash_map *map, int32_t key, char *name) {
  int32_t letters = snprintf(name, MAP_SHORT + 1, "%.*s%d", (int)(key % 5),
                             "warp", (int)key);
  if (map->longest_key == 0 || key % 3 == 0) return (size_t)letters;
  int32_t length = 12 + key % 7 * 8; /* up to MAP_NAME */
  uint32_t mixed = (uint32_t)key;
  while (letters < length) {
    mixed = mixed * 1664525u + 1013904223u;
    name[letters++] = (char)('a' + (mixed >> 16) % 26);
  }
  name[letters] = 0;
  return (size_t)letters;
}

/* The number of a key that was found. */
static int32_t map_key_of(const map_user *u, const char *name, size_t letters) {
  char wanted[MAP_NAME + 1];
  int32_t key = (int32_t)atoi(name + strspn(name, "warp"));
  if (key < 0 || key >= u->keys) {
    MAP_WRONG("a torn key", key, (int32_t)letters);
    return 0;
  }
  if (map_name(u->map, key, wanted) != letters ||
      memcmp(wanted, name, letters) != 0)
    MAP_WRONG("a torn key", key, (int32_t)letters);
  return key;
}

/* Value number `n` of a key; its length in bytes. */
static size_t map_value(int32_t key, int32_t n, int32_t *value) {
  int32_t last = 2 + (int32_t)((uint32_t)n % (MAP_WORDS - 2));
  uint32_t mixed = (uint32_t)key * 2654435761u ^ (uint32_t)n;
  value[0] = key;
  value[1] = n;
  for (int32_t i = 2; i <= last; i++) {
    mixed = mixed * 1664525u + 1013904223u;
    value[i] = (int32_t)(mixed ^ mixed >> 15);
  }
  return 4 * (size_t)(last + 1);
}

static void map_check(int32_t key, const int32_t *value, size_t length) {
  int32_t wanted[MAP_WORDS];
  size_t most = map_value(key, value[1], wanted);
  if (length != most || memcmp(value, wanted, length) != 0)
    MAP_WRONG("a torn value", key, (int32_t)length);
}

/* A key by Zipf's law: the first one is the most popular. */
static int32_t map_pick(map_user *u) {
  static int32_t sums[MAP_KEYS];
  if (sums[MAP_KEYS - 1] == 0) /* other threads may do the same: harmless */
    for (int32_t i = 0, sum = 0; i < MAP_KEYS; i++)
      sums[i] = sum += 1000000 / (i + 1);
  int32_t point = map_random(u, sums[u->keys - 1]);
  int32_t low = 0, high = u->keys - 1;
  while (low < high) {
    int32_t half = (low + high) / 2;
    if (sums[half] <= point)
      low = half + 1;
    else
      high = half;
  }
  return low;
}

/* Whether this agent alone writes the key. */
static bool map_is_own(const map_user *u, int32_t key) {
  return u->agents > 0 && key % u->agents == u->number;
}

/* The number of the value of a key, MAP_ABSENT, or MAP_UNKNOWN. */
static int32_t map_known(const map_user *u, int32_t key) {
  return map_is_own(u, key) ? u->known[key] : MAP_UNKNOWN;
}

static void map_know(map_user *u, int32_t key, int32_t n) {
  if (map_is_own(u, key)) u->known[key] = n;
}

/* A cache with a heap may have taken the value out, to make room. */
static void map_know_refused(map_user *u, int32_t key) {
  if (u->evicts) map_know(u, key, MAP_UNKNOWN);
}

/* Compares what was found of a key, or MAP_ABSENT, with what is known. */
static void map_found(map_user *u, int32_t key, int32_t n) {
  int32_t known = map_known(u, key);
  if (known == MAP_UNKNOWN || known == n) return;
  if (u->evicts && n == MAP_ABSENT) return;
  MAP_WRONG(n == MAP_ABSENT ? "a key is lost" : "another value", key, n);
}

static void map_read(map_user *u, int32_t key) {
  char name[MAP_NAME + 1];
  int32_t value[MAP_WORDS];
  size_t length = 0;
  size_t letters = map_name(u->map, key, name);
  int error = weft_hash_map_get(u->map, name, letters, value, sizeof value,
                                &length);
  if (error == ENOENT) {
    map_found(u, key, MAP_ABSENT);
  } else if (error != 0) {
    MAP_WRONG("get", key, error);
  } else {
    map_check(key, value, length);
    map_found(u, key, value[1]);
  }
}

static void map_write(map_user *u, int32_t key) {
  char name[MAP_NAME + 1];
  int32_t value[MAP_WORDS];
  int32_t n = map_random(u, 1 << 24);
  size_t letters = map_name(u->map, key, name);
  size_t length = map_value(key, n, value);
  int error =
      weft_hash_map_set(u->map, name, letters, value, length, false);
  if (error == 0)
    map_know(u, key, n);
  else if (error != ENOSPC)
    MAP_WRONG("set", key, error);
  else if (u->map->blocks != 0) /* its heap may be full; the old value stays */
    map_know_refused(u, key);
  else if (u->evicts || map_known(u, key) >= 0)
    MAP_WRONG("no room", key, error);
}

/* Deletes a key, or takes it. */
static void map_remove(map_user *u, int32_t key) {
  char name[MAP_NAME + 1];
  int32_t value[MAP_WORDS];
  size_t length = 0;
  size_t letters = map_name(u->map, key, name);
  bool takes = map_random(u, 2) == 0;
  int error = takes ? weft_hash_map_take(u->map, name, letters, value,
                                         sizeof value, &length)
                    : weft_hash_map_delete(u->map, name, letters);
  if (error == 0 && takes) {
    map_check(key, value, length);
    map_found(u, key, value[1]);
  }
  if (error == 0 && map_known(u, key) == MAP_ABSENT)
    MAP_WRONG("a key came again", key, 0);
  if (error == ENOENT)
    map_found(u, key, MAP_ABSENT);
  else if (error != 0)
    MAP_WRONG("take or delete", key, error);
  map_know(u, key, MAP_ABSENT);
}

/* Looks at all entries; how many there are. Counts in `seen`, if that is given,
   how often each key comes. */
static int32_t map_walk(map_user *u, int32_t *seen) {
  char name[MAP_NAME + 1];
  int32_t value[MAP_WORDS];
  size_t letters = 0, length = 0;
  int32_t cursor = 0, count = 0;
  int error;
  while ((error = weft_hash_map_next(u->map, &cursor, name, &letters, value,
                                     &length)) == 0) {
    name[letters] = 0;
    int32_t key = map_key_of(u, name, letters);
    map_check(key, value, length);
    if (seen != NULL) seen[key]++;
    count++;
  }
  if (error != ENOENT) MAP_WRONG("next", cursor, error);
  return count;
}

/* One operation of an agent that reads and writes. */
static inline void map_step(map_user *u) {
  int32_t key = map_pick(u);
  int32_t what = map_random(u, 64);
  if (u->agents > 0 && what < 32) { /* one of its own */
    key += u->number - key % u->agents;
    if (key >= u->keys) key = u->number;
  }
  if (what < 8)
    map_write(u, key);
  else if (what < 12)
    map_remove(u, key);
  else if (what == 63)
    (void)map_walk(u, NULL);
  else
    map_read(u, key);
}

/* How many blocks a key or value of so many bytes has. */
static int32_t map_blocks_for(size_t length, int32_t in_entry) {
  if (length <= (size_t)in_entry) return 0;
  return (int32_t)((length + MAP_BODY - 1) / MAP_BODY);
}

/* How many blocks of the heap are not free, or seem not to be. */
static int32_t map_blocks_used(const weft_hash_map *map) {
  weft__hash_plan plan = weft__hash_plan_of(map);
  weft__heap heap = weft__hash_heap_of(map, &plan);
  int32_t used = 0;
  for (int32_t number = 1; number <= map->blocks; number++) {
    uint32_t bits = (uint32_t)weft__load(weft__heap_map(&heap, number));
    if (weft__load(weft__heap_at(&heap, number)) != 0 ||
        (bits & weft__heap_bit(number)) != 0)
      used++;
  }
  return used;
}

/* Fills a map that is empty: no entry is out of use, and no block. */
static void map_fill(map_user *u) {
  char name[MAP_NAME + 1];
  int32_t value[MAP_WORDS];
  int32_t capacity = weft_hash_map_capacity(u->map);
  int32_t left = u->map->blocks;
  int64_t evicted = weft_hash_map_evictions(u->map);
  for (int32_t key = 0, shorter = 0; key < capacity; key++) {
    size_t letters = map_name(u->map, key, name);
    /* The longest values, and then the shortest ones. Five blocks stay for each
       key that is left, if it may be long. */
    int32_t for_key = map_blocks_for(letters, MAP_SHORT);
    int32_t most = left - (capacity - key) * (u->map->longest_key ? 5 : 0);
    if (for_key + MAP_MOST_BLOCKS > most) shorter = 1;
    size_t length = map_value(key, shorter ? 0 : MAP_WORDS - 3, value);
    if (u->map->blocks != 0)
      left -= for_key + map_blocks_for(length, MAP_IN_ENTRY);
    int error = weft_hash_map_set(u->map, name, letters, value, length, true);
    if (error != 0) MAP_WRONG("an entry has leaked", key, error);
  }
  if (weft_hash_map_evictions(u->map) != evicted)
    MAP_WRONG("an entry of a cache has leaked", 0, 0);
  if (weft_hash_map_size(u->map) != capacity)
    MAP_WRONG("size", weft_hash_map_size(u->map), capacity);
}

/* When no other agent is left: all entries are whole, no key is there twice,
   and no entry and no block is out of use. */
static void map_check_whole(map_user *u) {
  static int32_t seen[MAP_KEYS];
  memset(seen, 0, sizeof seen);
  int32_t count = map_walk(u, seen);
  for (int32_t key = 0; key < u->keys; key++)
    if (seen[key] > 1) MAP_WRONG("a key is there twice", key, seen[key]);
  if (!u->evicts && count != weft_hash_map_size(u->map))
    MAP_WRONG("entries", count, weft_hash_map_size(u->map));
  if (weft_hash_map_clear(u->map) != 0) MAP_WRONG("clear", 0, 0);
  if (u->map->blocks != 0 && map_blocks_used(u->map) != 0)
    MAP_WRONG("a block has leaked", map_blocks_used(u->map), u->map->blocks);
  map_fill(u);
}

#endif
