/* weft_event: what it answers, and threads; the argument says how many times a
   thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/event.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static void event_by_turns(void) {
  weft_event e;
  CHECK(weft_event_init(&e, sizeof e, false) != NULL);
  CHECK(!weft_event_auto_reset(&e) && !weft_event_is_set(&e));
  for (int s = 0; s < STARTS_COUNT; s++) {
    e.state = STARTS[s] & ~7;
    TAKES(2, weft_event_wait(&e, 3 * MS), ETIMEDOUT);
    EQUAL(weft_event_try_wait(&e), EBUSY);
    weft_event_set(&e);
    UNCHANGED(&e, 4, weft_event_wait(&e, WEFT_FOREVER), 0);
    UNCHANGED(&e, 4, weft_event_try_wait(&e), 0);
    weft_event_set(&e);
    CHECK(weft_event_is_set(&e));
    weft_event_reset(&e);
    UNCHANGED(&e, 4, weft_event_try_wait(&e), EBUSY);
  }
  CHECK(weft_event_init(&e, sizeof e, true) != NULL);
  CHECK(weft_event_auto_reset(&e));
  TAKES(2, weft_event_wait(&e, 3 * MS), ETIMEDOUT);
  EQUAL(e.state, 1);
  weft_event_set(&e);
  weft_event_set(&e);
  EQUAL(weft_event_wait(&e, 0), 0);
  EQUAL(weft_event_try_wait(&e), EBUSY);
  weft_event_set(&e);
  weft_event_reset(&e);
  EQUAL(weft_event_wait(&e, 0), ETIMEDOUT);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_event e;
  CHECK(weft_event_init(&e, sizeof e, true) != NULL);
  weft_agent_set_blocking(false);
  UNCHANGED(&e, sizeof e, weft_event_wait(&e, 0), EPERM);
  weft_agent_set_blocking(true);
}

/* The first thread asks, the others answer. */
typedef struct {
  weft_event ping, pong;
  int32_t answered;
} stage;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  if (self->index == 0) {
    for (int32_t i = 0; i < amount * (THREADS - 1); i++) {
      weft_event_set(&s->ping);
      EQUAL(weft_event_wait(&s->pong, WEFT_FOREVER), 0);
      EQUAL(s->answered, i + 1);
    }
    return NULL;
  }
  for (int32_t i = 0; i < amount; i++) {
    while (weft_event_wait(&s->ping, some_timeout(&self->seed)) != 0) {
    }
    s->answered++;
    weft_event_set(&s->pong);
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  CHECK(weft_event_init(&s.ping, sizeof s.ping, true) != NULL);
  CHECK(weft_event_init(&s.pong, sizeof s.pong, true) != NULL);
  play_together(THREADS, play, &s);
  EQUAL(s.answered, amount * (THREADS - 1));
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(event_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
