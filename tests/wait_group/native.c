/* weft_wait_group: what it answers, and threads; the argument says how many
   rounds they do, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/wait_group.h>
#include <weft/semaphore.h>
#include "check.h"

static int32_t amount = 2000;

#define THREADS 4

static int32_t arena[16];

static void group_by_turns(void) {
  weft_wait_group *g = weft_wait_group_init(arena, sizeof arena);
  CHECK(g != NULL);
  for (int32_t count = 0; count < 6; count++) {
    EQUAL(weft_wait_group_add(g, count), 0);
    EQUAL(weft_wait_group_count(g), count);
    UNCHANGED(g, 4, weft_wait_group_add(g, 0), 0);
    UNCHANGED(g, 4, weft_wait_group_add(g, -1), EINVAL);
    UNCHANGED(g, 4, weft_wait_group_done(g, 0), EINVAL);
    UNCHANGED(g, 4, weft_wait_group_done(g, count + 1), EINVAL);
    UNCHANGED(g, 4, weft_wait_group_add(g, WEFT_WAIT_GROUP_MAX - count + 1),
              EOVERFLOW);
    UNCHANGED(g, 4, weft_wait_group_add(g, INT32_MAX), EOVERFLOW);
    UNCHANGED(g, 4, weft_wait_group_try_wait(g), count == 0 ? 0 : EBUSY);
    if (count > 0) {
      TAKES(2, weft_wait_group_wait(g, 3 * MS), ETIMEDOUT);
      EQUAL(weft_wait_group_done(g, count), 0);
    }
    EQUAL(weft_wait_group_wait(g, WEFT_FOREVER), 0);
    EQUAL(g->state & ~WEFT_WAIT_GROUP_ROUND_MASK, 0);
  }
  EQUAL(weft_wait_group_add(g, WEFT_WAIT_GROUP_MAX), 0);
  EQUAL(weft_wait_group_done(g, WEFT_WAIT_GROUP_MAX), 0);
  CHECK(weft_wait_group_init(arena, 3) == NULL);
  CHECK(weft_wait_group_init((char *)arena + 2, sizeof arena - 2) == NULL);
  EQUAL(weft_wait_group_bytes(), 4);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_wait_group g = {0};
  EQUAL(weft_wait_group_add(&g, 2), 0);
  weft_agent_set_blocking(false);
  UNCHANGED(&g, 4, weft_wait_group_wait(&g, 0), EPERM);
  weft_agent_set_blocking(true);
}

/* Each thread takes permits, one a task; the last one is let through too. */
typedef struct {
  weft_wait_group tasks;
  int32_t _pad0[31];
  weft_semaphore go;
} stage;

typedef struct {
  uint32_t seed;
  stage *s;
} player;

static void *play(void *argument) {
  player *self = (player *)argument;
  for (int32_t i = 0; i < amount; i++) {
    EQUAL(weft_semaphore_acquire(&self->s->go, 1, WEFT_FOREVER), 0);
    EQUAL(weft_wait_group_done(&self->s->tasks, 1), 0);
    (void)weft_wait_group_wait(&self->s->tasks, some_timeout(&self->seed) / 8);
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  CHECK(weft_semaphore_init(&s.go, sizeof s.go, 0) != NULL);
  pthread_t threads[THREADS];
  player players[THREADS];
  for (int i = 0; i < THREADS; i++) {
    players[i].seed = (uint32_t)i + 1;
    players[i].s = &s;
  }
  start_threads(threads, THREADS, play, players, sizeof *players);
  for (int32_t i = 0; i < amount; i++) {
    EQUAL(weft_wait_group_add(&s.tasks, THREADS), 0);
    EQUAL(weft_semaphore_release(&s.go, THREADS), 0);
    EQUAL(weft_wait_group_wait(&s.tasks, WEFT_FOREVER), 0);
  }
  join_threads(threads, THREADS);
  EQUAL(weft_wait_group_count(&s.tasks), 0);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(group_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
