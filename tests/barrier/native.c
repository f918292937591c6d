/* weft_barrier: what it answers, and threads; the argument says how many times
   a thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/barrier.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static int32_t arena[1 << 12];

static void barrier_by_turns(void) {
  bool leader = false;
  weft_barrier *b = weft_barrier_init(arena, sizeof arena, 1);
  CHECK(b != NULL && weft_barrier_attach(arena) == b);
  for (int i = 0; i < 300; i++) {
    leader = false;
    EQUAL(weft_barrier_arrive_and_wait(b, &leader, 0), 0);
    CHECK(leader);
  }
  EQUAL(weft_barrier_leave(b, false), 0);
  UNCHANGED(b, 20, weft_barrier_leave(b, false), -EINVAL);
  UNCHANGED(b, 20, weft_barrier_arrive_and_wait(b, &leader, 0), EINVAL);
  CHECK(!leader);
  UNCHANGED(b, 20, weft_barrier_arrive_and_wait(b, NULL, WEFT_FOREVER), EINVAL);
  b = weft_barrier_init(arena, sizeof arena, 3);
  TAKES(2, weft_barrier_arrive_and_wait(b, NULL, 3 * MS), ETIMEDOUT);
  EQUAL(weft_barrier_arrived(b), 0);
  UNCHANGED(b, 20, weft_barrier_leave(b, true), -EINVAL);
  b->state += 2; /* two arrive */
  EQUAL(weft_barrier_leave(b, true), 0);
  EQUAL(weft_barrier_parties(b), 2);
  EQUAL(weft_barrier_arrived(b), 1);
  EQUAL(weft_barrier_leave(b, false), 1);
  EQUAL(weft_barrier_arrived(b), 0);
  CHECK(weft_barrier_init(arena, sizeof arena, 0) == NULL);
  CHECK(weft_barrier_init(arena, sizeof arena, 4096) == NULL);
  EQUAL(weft_barrier_bytes(), 20);
}

/* Three parties of a tracked barrier; all but one die. */
static void tracked(void) {
  static int32_t memory[40 + 3 * 32];
  bool leader = false;
  EQUAL(sizeof memory, WEFT_BARRIER_TRACKED_BYTES(3));
  CHECK(weft_barrier_init_tracked(memory, sizeof memory - 4, 3) == NULL);
  for (int32_t wrong = -1; wrong <= 256; wrong += wrong == 0 ? 256 : 1)
    EQUAL(weft_barrier_tracked_bytes(wrong), 0);
  CHECK(weft_barrier_init_tracked(memory, sizeof memory, 0) == NULL);
  CHECK(weft_barrier_init_tracked(memory, sizeof memory, 256) == NULL);
  memset(memory, 0x55, sizeof memory); /* of something else */
  weft_barrier *b = weft_barrier_init_tracked(memory, sizeof memory, 3);
  CHECK(b != NULL && weft_barrier_attach(memory) == b);
  EQUAL(weft_barrier_tracked(b), 3);
  for (int32_t id = 1; id <= 3; id++) {
    EQUAL(weft_agent_set_id(id), 0);
    EQUAL(weft_barrier_arrive_and_wait(b, &leader, 0), ETIMEDOUT);
    CHECK(!leader);
    EQUAL(weft_barrier_arrived(b), 0);
  }
  EQUAL(weft_agent_set_id(4), 0);
  EQUAL(weft_barrier_arrive_and_wait(b, &leader, 0), EINVAL);
  EQUAL(weft_barrier_leave(b, false), -EINVAL);
  EQUAL(weft_barrier_leave(b, true), -EPERM);
  EQUAL(weft_barrier_abandon(b, 4), 0);
  EQUAL(weft_barrier_abandon(b, 1), 1);
  EQUAL(weft_barrier_abandon(b, 1), 0);
  EQUAL(weft_barrier_abandon(b, -1), 0); /* what stands in the row now */
  EQUAL(weft_barrier_parties(b), 2);
  EQUAL(weft_agent_set_id(2), 0);
  EQUAL(weft_barrier_leave(b, false), 0);
  EQUAL(weft_barrier_parties(b), 1);
  EQUAL(weft_agent_set_id(3), 0);
  for (int i = 0; i < 300; i++) {
    EQUAL(weft_barrier_arrive_and_wait(b, &leader, 0), 0);
    CHECK(leader);
  }
}

/* A tracked party that leaves while it waits takes no other row. */
static void tracked_leaves(void) {
  static int32_t memory[40 + 2 * 32];
  bool leader = false;
  weft_barrier *b = weft_barrier_init_tracked(memory, sizeof memory, 2);
  CHECK(b != NULL);
  EQUAL(weft_agent_set_id(1), 0);
  int32_t since = weft__load(&b->state);
  weft__store(&weft__barrier_own(b)->arrived, weft__barrier_mark(since));
  EQUAL(weft_barrier_arrived(b), 1);
  EQUAL(weft_barrier_abandon(b, 1), 1);
  UNCHANGED(memory + 40, 2 * 32 * 4,
            weft__barrier_wait_tracked(b, since, &leader, 0), ETIMEDOUT);
  CHECK(!leader);
  EQUAL(weft_barrier_parties(b), 1);
  EQUAL(weft_agent_set_id(2), 0);
  EQUAL(weft_barrier_arrive_and_wait(b, &leader, 0), 0);
  CHECK(leader);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_barrier *b = weft_barrier_init(arena, sizeof arena, 2);
  weft_agent_set_blocking(false);
  UNCHANGED(b, 20, weft_barrier_arrive_and_wait(b, NULL, 0), EPERM);
  weft_agent_set_blocking(true);
}

typedef struct {
  weft_barrier barrier;
  int32_t rounds[THREADS];
  int32_t leaders;
} stage;

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  for (int32_t round = 1; round <= amount; round++) {
    bool leader = false;
    s->rounds[self->index] = round;
    while (weft_barrier_arrive_and_wait(&s->barrier, &leader,
                                        some_timeout(&self->seed)) != 0) {
    }
    if (leader) s->leaders++;
    for (int i = 0; i < THREADS; i++) EQUAL(s->rounds[i], round);
    EQUAL(weft_barrier_arrive_and_wait(&s->barrier, NULL, WEFT_FOREVER), 0);
  }
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  CHECK(weft_barrier_init(&s.barrier, sizeof s.barrier, THREADS) != NULL);
  play_together(THREADS, play, &s);
  EQUAL(s.leaders, amount);
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(barrier_by_turns);
  RUN(tracked);
  RUN(tracked_leaves);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
