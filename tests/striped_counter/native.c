/* weft_striped_counter: against a model, and threads; the argument says how
   many times a thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/striped_counter.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static int32_t arena[1 << 12];

static void be(int32_t id) { EQUAL(weft_agent_set_id(id), 0); }

static void counter_by_turns(void) {
  uint32_t seed = 9;
  for (int32_t stripes = 1; stripes < 5; stripes++) {
    weft_striped_counter *c =
        weft_striped_counter_init(arena, sizeof arena, stripes);
    CHECK(c != NULL && weft_striped_counter_attach(arena) == c);
    EQUAL(weft_striped_counter_stripes(c), stripes);
    int64_t sum = 0;
    weft_striped_counter_stripe *mine = weft_striped_counter_claim(c);
    for (int i = 0; i < 4000; i++) {
      int32_t n = (int32_t)random_next(&seed);
      if (i % 3 == 0) n >>= random_below(&seed, 31);
      if (i % 7 == 0) be(1 + random_below(&seed, 100));
      if (i % 2 == 0)
        weft_striped_counter_add(c, n);
      else
        weft_striped_counter_add_to(mine, n);
      sum += n;
      EQUAL(weft_striped_counter_sum(c), sum);
    }
    for (int32_t late = -8; late <= 7; late++) {
      mine->sum.high -= late;
      EQUAL(weft_striped_counter_sum(c), sum);
      weft_striped_counter_add_to(mine, 0);
      EQUAL(weft_striped_counter_sum(c), sum);
    }
  }
  EQUAL(weft_striped_counter_bytes(8), 128 * 9);
  EQUAL(weft_striped_counter_bytes(0), 0);
  EQUAL(weft_striped_counter_bytes(1025), 0);
  CHECK(weft_striped_counter_init(arena, sizeof arena, 0) == NULL);
}

typedef struct {
  weft_striped_counter *counter;
} stage;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  for (int32_t i = 0; i < amount; i++)
    weft_striped_counter_add(s->counter, i % 2 ? 1 << 28 : 3 - (1 << 28));
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  s.counter = weft_striped_counter_init(arena, sizeof arena, 2);
  play_together(THREADS, play, &s);
  EQUAL(weft_striped_counter_sum(s.counter),
        (int64_t)THREADS * (amount / 2) * 3);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(counter_by_turns);
  RUN(by_threads);
  puts("done");
  return 0;
}
