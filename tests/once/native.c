/* weft_once: what it answers, and threads; the argument says how many times a
   thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/once.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static void be(int32_t id) { EQUAL(weft_agent_set_id(id), 0); }

static weft_once *once_within;

static int fails(void *context) {
  ++*(int *)context;
  return 77;
}

static int nests(void *context) {
  ++*(int *)context;
  EQUAL(weft_once_runner(once_within), weft_agent_id());
  return weft_once_run(once_within, fails, context, 0) == EDEADLK ? 0 : 1;
}

static void once_by_turns(void) {
  weft_once o;
  int ran = 0;
  CHECK(weft_once_init(&o, sizeof o) != NULL);
  once_within = &o;
  be(3);
  EQUAL(weft_once_run(&o, fails, &ran, WEFT_FOREVER), 77);
  EQUAL(o.state, 0);
  o.state = 5;
  TAKES(2, weft_once_run(&o, fails, &ran, 3 * MS), ETIMEDOUT);
  EQUAL(weft_once_abandon(&o, 4), 0);
  EQUAL(weft_once_abandon(&o, 0), 0);
  EQUAL(weft_once_abandon(&o, 5), 1);
  EQUAL(weft_once_run(&o, nests, &ran, 0), 0);
  EQUAL(weft_once_run(&o, fails, &ran, 0), 0);
  EQUAL(ran, 2);
  CHECK(weft_once_done(&o));
  EQUAL(weft_once_runner(&o), 0);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_once o;
  int ran = 0;
  CHECK(weft_once_init(&o, sizeof o) != NULL);
  weft_agent_set_blocking(false);
  UNCHANGED(&o, sizeof o, weft_once_run(&o, fails, &ran, 0), EPERM);
  EQUAL(ran, 0);
  weft_agent_set_blocking(true);
}

/* Each once is run by all threads; its function fails twice. */
typedef struct {
  weft_once onces[64];
  int32_t made[64];
} stage;

static int make(void *context) {
  int32_t *made = (int32_t *)context;
  return ++*made < 3 ? 7 : 0;
}

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  for (int i = 0; i < 64; i++) {
    int result;
    do {
      result = weft_once_run(&s->onces[i], make, &s->made[i],
                             some_timeout(&self->seed));
    } while (result == 7 || result == ETIMEDOUT);
    EQUAL(result, 0);
    EQUAL(s->made[i], 3);
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  play_together(THREADS, play, &s);
  for (int i = 0; i < 64; i++) CHECK(weft_once_done(&s.onces[i]));
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(once_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
