/* weft_shape_table: against a model, and threads; the argument says how many
   times threads meet, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/shape_table.h>
#include "check.h"

static int32_t amount = 200;

#define THREADS 4
#define SHAPES 40

static int32_t arena[1 << 12];

static void text_of(uint8_t *text, int32_t n) {
  memset(text, 7, 8);
  text[0] = (uint8_t)n;
}

static void shapes_by_turns(void) {
  uint32_t seed = 9;
  for (int round = 0; round < 200; round++) {
    weft_shape_table *t = weft_shape_table_init(arena, sizeof arena, 511);
    CHECK(t != NULL && weft_shape_table_attach(arena) == t);
    int32_t numbers[256];
    for (int i = 0; i < 256; i++) numbers[i] = -2;
    int32_t size = 0;
    for (int i = 0; i < 300; i++) {
      uint8_t text[8];
      int32_t n = random_below(&seed, 100);
      text_of(text, n);
      int32_t number = weft_shape_table_add(t, text, 8, i % 2 == 0);
      if (numbers[n] >= 0 || size == 64) {
        EQUAL(number, numbers[n]);
      } else {
        CHECK(number >= 0);
        numbers[n] = number;
        EQUAL(weft_shape_table_size(t), ++size);
      }
      if (number < 0) continue;
      size_t length;
      const uint8_t *own = weft_shape_table_text_at(t, number, &length);
      CHECK(own != NULL && length == 8 && memcmp(own, text, 8) == 0);
    }
  }
  size_t length;
  weft_shape_table *t = weft_shape_table_init(arena, sizeof arena, 16);
  EQUAL(weft_shape_table_bytes(0), 0);
  EQUAL(weft_shape_table_bytes(5), 528 + 8);
  EQUAL(weft_shape_table_bytes((1 << 20) + 1), 0);
  CHECK(weft_shape_table_init(arena, 100, 16) == NULL);
  EQUAL(weft_shape_table_add(t, "", 0, false), -2);
  EQUAL(weft_shape_table_add(t, arena, 1025, false), -2);
  EQUAL(weft_shape_table_add(t, arena, 17, false), -2);
  CHECK(weft_shape_table_text_at(t, 0, &length) == NULL);
  CHECK(weft_shape_table_text_at(t, -1, &length) == NULL);
  CHECK(weft_shape_table_text_at(t, 64, &length) == NULL);
  int32_t number = weft_shape_table_add(t, "abcd", 4, false);
  CHECK(weft_shape_table_text_at(t, number, &length) != NULL);
  ((int32_t *)t)[4 + 2 * number + 1] = -1;
  CHECK(weft_shape_table_text_at(t, number, &length) == NULL);
}

/* Two texts have one hash: they begin at one slot, and have two. */
static void one_hash(void) {
  weft_shape_table *t = weft_shape_table_init(arena, sizeof arena, 64);
  int32_t number = weft_shape_table_add(t, "uzvjmvfw", 8, false);
  int32_t next = weft_shape_table_add(t, "ohnbzekz", 8, false);
  EQUAL(next, (number + 1) % 64);
  EQUAL(weft_shape_table_add(t, "uzvjmvfw", 8, false), number);
  EQUAL(weft_shape_table_add(t, "ohnbzekz", 8, false), next);
  EQUAL(weft_shape_table_size(t), 2);
}

typedef struct {
  weft_shape_table *table;
  pthread_barrier_t together;
} stage;

typedef struct {
  int32_t numbers[SHAPES];
  stage *s;
} player;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = self->s;
  for (int32_t round = 0; round < amount; round++) {
    if (pthread_barrier_wait(&s->together) == PTHREAD_BARRIER_SERIAL_THREAD)
      CHECK(weft_shape_table_init(s->table, sizeof arena, 1024) != NULL);
    pthread_barrier_wait(&s->together);
    for (int32_t n = 0; n < SHAPES; n++) {
      uint8_t text[8];
      text_of(text, n);
      int32_t number;
      do number = weft_shape_table_add(s->table, text, 8, false);
      while (number == -1);
      CHECK(number >= 0);
      size_t length;
      const uint8_t *own =
          weft_shape_table_text_at(s->table, number, &length);
      CHECK(own != NULL && length == 8 && memcmp(own, text, 8) == 0);
      self->numbers[n] = number;
    }
    pthread_barrier_wait(&s->together);
    EQUAL(weft_shape_table_size(s->table), SHAPES);
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  s.table = weft_shape_table_init(arena, sizeof arena, 1024);
  pthread_barrier_init(&s.together, NULL, THREADS);
  pthread_t threads[THREADS];
  static player players[THREADS];
  for (int i = 0; i < THREADS; i++) players[i].s = &s;
  start_threads(threads, THREADS, play, players, sizeof *players);
  join_threads(threads, THREADS);
  for (int i = 1; i < THREADS; i++)
    CHECK(memcmp(players[i].numbers, players[0].numbers,
                 sizeof players[0].numbers) == 0);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(shapes_by_turns);
  RUN(one_hash);
  RUN(by_threads);
  puts("done");
  return 0;
}
