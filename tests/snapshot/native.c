/* weft_snapshot: against a model where versions wrap, and between threads. */
#define _POSIX_C_SOURCE 200809L
#include <weft/snapshot.h>

#include "check.h"

#define WORDS 40
static int32_t arena[1 << 10];

static weft_snapshot *snapshot_at(int32_t size, bool single, int32_t written) {
  weft_snapshot_config config;
  config.size = size;
  config.single_reader = single;
  weft_snapshot *s = weft_snapshot_init(arena, sizeof arena, config);
  CHECK(s != NULL && weft_snapshot_attach(arena) == s);
  EQUAL(weft_snapshot_size(s), size);
  EQUAL(weft_snapshot_single_reader(s), single);
  s->state = single
                 ? s->state | (int32_t)(((uint32_t)written & 0x07ffffff) << 5)
                 : written;
  return s;
}

static void by_turns(void) {
  const int32_t sizes[] = {4, 12, 128, 160};
  uint32_t seed = 2;
  for (int z = 0; z < 4; z++)
    for (int single = 0; single < 2; single++)
      for (int start = 0; start < STARTS_COUNT; start++) {
        int32_t from = weft__minus(STARTS[start], random_below(&seed, 99));
        weft_snapshot *s = snapshot_at(sizes[z], single == 1, from);
        int32_t value[WORDS], seen[WORDS], n = sizes[z] / 4;
        memset(value, 0, sizeof value);
        for (int i = 0; i < 2000; i++) {
          if (random_below(&seed, 2) == 0) {
            for (int32_t k = 0; k < n; k++) value[k] = i + k * 1000003;
            weft_snapshot_write(s, value);
            from = weft__plus(from, 1);
          } else {
            memset(seen, 0x77, sizeof seen);
            EQUAL(weft_snapshot_read(s, seen), from & 0x07ffffff);
            for (int32_t k = 0; k < n; k++) EQUAL(seen[k], value[k]);
            if (n < WORDS) EQUAL(seen[n], 0x77777777);
          }
          EQUAL(weft_snapshot_version(s), from & 0x07ffffff);
        }
      }
}

static void errors(void) {
  const int32_t wrong[] = {0, -4, 6, (1 << 28) + 4};
  for (int i = 0; i < 4; i++) {
    weft_snapshot_config config = {wrong[i], false};
    EQUAL(weft_snapshot_bytes(config), 0);
    CHECK(weft_snapshot_init(arena, sizeof arena, config) == NULL);
  }
  const weft_snapshot_config good = {8, true};
  CHECK(weft_snapshot_init((char *)arena + 2, sizeof arena - 2, good) == NULL);
  EQUAL(weft_snapshot_bytes(good), 256 + 3 * 128);
}

/* ---- threads ------------------------------------------------------------- */

#define READERS 3
static int32_t amount = 20000;
static int32_t over;

/* A second agent in a role is refused, until the first one is abandoned. */
static void roles(void) {
  const int32_t first = weft_agent_id();
  const int32_t value = 7;
  int32_t seen = 0;
  for (int single = 0; single < 2; single++) {
    weft_snapshot_config config = {4, single != 0};
    weft_snapshot *s = weft_snapshot_init(arena, sizeof arena, config);
    EQUAL(weft_snapshot_write(s, &value), 0);
    EQUAL(weft_snapshot_read(s, &seen), 1);
    EQUAL(weft_agent_set_id(first == 5 ? 6 : 5), 0);
    UNCHANGED(arena, 512, weft_snapshot_write(s, &value), EPERM);
    UNCHANGED(arena, 512, weft_snapshot_read(s, &seen), single ? -EPERM : 1);
    EQUAL(weft_snapshot_abandon(s, first), 1 + single);
    EQUAL(weft_snapshot_abandon(s, first), 0);
    EQUAL(weft_snapshot_abandon(s, 0), 0); /* nobody has a role */
    EQUAL(weft_snapshot_write(s, &value), 0);
    EQUAL(weft_snapshot_read(s, &seen), 2);
    if (single) {
      s->state = 3 << WEFT_SNAPSHOT_FRONT_SHIFT; /* there is no such copy */
      UNCHANGED(arena, 512, weft_snapshot_write(s, &value), ENOTRECOVERABLE);
      UNCHANGED(arena, 512, weft_snapshot_read(s, &seen), -ENOTRECOVERABLE);
      EQUAL(seen, value);
    }
    EQUAL(weft_agent_set_id(first), 0);
  }
}

static void *read_on(void *argument) {
  weft_snapshot *s = (weft_snapshot *)argument;
  int32_t seen[WORDS], last = 0;
  while (!weft__load(&over)) {
    int32_t version = weft_snapshot_read(s, seen);
    CHECK(version >= last); /* never older than what was seen */
    last = version;
    if (version == 0) continue;
    for (int32_t k = 0; k < WORDS; k++) EQUAL(seen[k], version + k * 1000003);
  }
  return NULL;
}

static void readers_never_tear(void) {
  for (int single = 0; single < 2; single++) {
    int readers = single ? 1 : READERS;
    weft_snapshot *s = snapshot_at(WORDS * 4, single == 1, 0);
    pthread_t threads[READERS];
    weft__store(&over, 0);
    for (int i = 0; i < readers; i++)
      EQUAL(pthread_create(&threads[i], NULL, read_on, s), 0);
    for (int32_t i = 1; i <= amount; i++) {
      int32_t value[WORDS];
      for (int32_t k = 0; k < WORDS; k++) value[k] = i + k * 1000003;
      weft_snapshot_write(s, value);
    }
    weft__store(&over, 1);
    for (int i = 0; i < readers; i++) pthread_join(threads[i], NULL);
    EQUAL(weft_snapshot_version(s), amount);
  }
}

int main(int count, char **words) {
  if (count > 1) amount = 2000 * (int32_t)strtol(words[1], NULL, 10);
  RUN(by_turns);
  RUN(errors);
  RUN(roles);
  RUN(readers_never_tear);
  puts("done");
  return 0;
}
