/* weft_rw_lock: against a model, and threads; the argument says how many times
   a thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include <weft/rw_lock.h>
#include "players.h"

static int32_t amount = 2000;

#define THREADS 4

static void be(int32_t id) { EQUAL(weft_agent_set_id(id), 0); }

static void rw_lock_by_turns(void) {
  weft_rw_lock l;
  CHECK(weft_rw_lock_init(&l, sizeof l) != NULL);
  uint32_t seed = 4;
  int32_t readers = 0, writer = 0;
  bool abandoned = false;
  for (int i = 0; i < 20000; i++) {
    int32_t id = 1 + random_below(&seed, 3);
    int held = abandoned ? EOWNERDEAD : 0;
    be(id);
    switch (random_below(&seed, 7)) {
      case 0:
      case 1: {
        int wanted = writer == 0 ? held : ETIMEDOUT;
        if (i % 2 == 0) {
          EQUAL(weft_rw_lock_try_read(&l), writer == 0 ? held : EBUSY);
        } else {
          EQUAL(weft_rw_lock_read(&l, 0), writer == id ? EDEADLK : wanted);
        }
        if (writer == 0) readers++;
        break;
      }
      case 2: {
        bool free = writer == 0 && readers == 0;
        if (i % 2 == 0) {
          EQUAL(weft_rw_lock_try_write(&l), free ? held : EBUSY);
        } else {
          EQUAL(weft_rw_lock_write(&l, 0), free           ? held
                                           : writer == id ? EDEADLK
                                                          : ETIMEDOUT);
        }
        if (free) writer = id;
        break;
      }
      case 3:
      case 4:
        EQUAL(weft_rw_lock_unlock_read(&l), readers > 0 ? 0 : EPERM);
        if (readers > 0) readers--;
        break;
      case 5:
        EQUAL(i % 2 ? weft_rw_lock_unlock_write(&l)
                    : weft_rw_lock_downgrade(&l),
              writer == id ? 0 : EPERM);
        if (writer != id) break;
        if (i % 2 == 0) readers++;
        writer = 0;
        abandoned = false;
        break;
      default: {
        int32_t dead = 1 + random_below(&seed, 3);
        EQUAL(weft_rw_lock_abandon(&l, dead), writer == dead ? 1 : 0);
        if (writer != dead) break;
        writer = 0;
        abandoned = true;
      }
    }
    EQUAL(weft_rw_lock_readers(&l), readers);
    EQUAL(weft_rw_lock_writer(&l), writer);
  }
}

/* Three agents read a tracked lock, and die. */
static void tracked_by_turns(void) {
  static int32_t memory[40 + 3 * 32];
  weft_rw_lock *l = weft_rw_lock_init_tracked(memory, sizeof memory, 3);
  CHECK(l != NULL);
  EQUAL(sizeof memory, WEFT_RW_LOCK_TRACKED_BYTES(3));
  CHECK(weft_rw_lock_init_tracked(memory, sizeof memory - 4, 3) == NULL);
  for (int32_t wrong = -1; wrong <= 256; wrong += wrong == 0 ? 256 : 1)
    EQUAL(weft_rw_lock_tracked_bytes(wrong), 0);
  CHECK(weft_rw_lock_init_tracked(memory, sizeof memory, 0) == NULL);
  CHECK(weft_rw_lock_init_tracked(memory, sizeof memory, 256) == NULL);
  uint32_t seed = 7;
  int32_t reads[4] = {0, 0, 0, 0}, writer = 0;
  bool abandoned = false;
  for (int i = 0; i < 20000; i++) {
    int32_t id = 1 + random_below(&seed, 3);
    int held = abandoned ? EOWNERDEAD : 0;
    int32_t readers = reads[1] + reads[2] + reads[3];
    be(id);
    switch (random_below(&seed, 6)) {
      case 0:
        if (i % 2 == 0) {
          EQUAL(weft_rw_lock_try_read(l), writer == 0 ? held : EBUSY);
        } else {
          EQUAL(weft_rw_lock_read(l, 0), writer == 0    ? held
                                         : writer == id ? EDEADLK
                                                        : ETIMEDOUT);
        }
        if (writer == 0) reads[id]++;
        break;
      case 1: {
        bool free = writer == 0 && readers == 0;
        if (i % 2 == 0) {
          EQUAL(weft_rw_lock_try_write(l), free ? held : EBUSY);
        } else {
          EQUAL(weft_rw_lock_write(l, 0), free           ? held
                                          : writer == id ? EDEADLK
                                                         : ETIMEDOUT);
        }
        if (free) writer = id;
        break;
      }
      case 2:
      case 3:
        EQUAL(weft_rw_lock_unlock_read(l), reads[id] > 0 ? 0 : EPERM);
        if (reads[id] > 0) reads[id]--;
        break;
      case 4:
        EQUAL(i % 2 ? weft_rw_lock_unlock_write(l) : weft_rw_lock_downgrade(l),
              writer == id ? 0 : EPERM);
        if (writer != id) break;
        if (i % 2 == 0) reads[id]++;
        writer = 0;
        abandoned = false;
        break;
      default: {
        int32_t dead = 1 + random_below(&seed, 3);
        bool wrote = writer == dead;
        EQUAL(weft_rw_lock_abandon(l, dead), reads[dead] + (wrote ? 1 : 0));
        reads[dead] = 0;
        if (!wrote) break;
        writer = 0;
        abandoned = true;
      }
    }
    EQUAL(weft_rw_lock_readers(l), reads[1] + reads[2] + reads[3]);
    EQUAL(weft_rw_lock_writer(l), writer);
  }
}

/* One agent more than there are rows. */
static void rows(void) {
  static int32_t memory[40 + 32];
  weft_rw_lock *l = weft_rw_lock_init_tracked(memory, sizeof memory, 1);
  CHECK(l != NULL);
  be(1);
  for (int i = 0; i < 1023; i++) EQUAL(weft_rw_lock_try_read(l), 0);
  UNCHANGED(memory, sizeof memory, weft_rw_lock_try_read(l), EINVAL);
  UNCHANGED(memory, sizeof memory, weft_rw_lock_read(l, 0), EINVAL);
  be(2);
  UNCHANGED(memory, sizeof memory, weft_rw_lock_try_read(l), EINVAL);
  UNCHANGED(memory, sizeof memory, weft_rw_lock_unlock_read(l), EPERM);
  EQUAL(weft_rw_lock_abandon_reading(l, 1), 1023);
  EQUAL(weft_rw_lock_try_read(l), 0);
  l->tracked ^= 1; /* a damaged word */
  EQUAL(weft_rw_lock_tracked(l), 0);
  EQUAL(weft_rw_lock_try_read(l), EINVAL);
}

/* An agent that may not block is told, and nothing changes. */
static void forbidden(void) {
  weft_rw_lock l;
  CHECK(weft_rw_lock_init(&l, sizeof l) != NULL);
  weft_agent_set_blocking(false);
  UNCHANGED(&l, sizeof l, weft_rw_lock_read(&l, 0), EPERM);
  UNCHANGED(&l, sizeof l, weft_rw_lock_write(&l, 0), EPERM);
  weft_agent_set_blocking(true);
}

typedef struct {
  weft_rw_lock *lock;
  int64_t pair[2]; /* guarded, and not atomic */
} stage;

/* An agent that awaits the lock in JavaScript, to write, and reads in C: the
   words are those that its `writeAsync` leaves while others read. */
static void reads_while_it_awaits(void) {
  static int64_t memory[WEFT_RW_LOCK_TRACKED_BYTES(2) / sizeof(int64_t) + 1];
  weft_rw_lock counted;
  weft_rw_lock *locks[2] = {
      weft_rw_lock_init(&counted, sizeof counted),
      weft_rw_lock_init_tracked(memory, sizeof memory, 2)};
  for (int i = 0; i < 2; i++) {
    weft_rw_lock *l = locks[i];
    CHECK(l != NULL);
    be(2);
    EQUAL(weft_rw_lock_try_read(l), 0);
    be(1);
    weft__store(&l->writer, 1);
    weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT);
    EQUAL(weft_rw_lock_try_read(l), EBUSY);
    EQUAL(weft_rw_lock_read(l, 5 * MS), 0);
    EQUAL(weft_rw_lock_readers(l), 2);
    be(3);
    EQUAL(weft_rw_lock_read(l, 1 * MS), i == 0 ? ETIMEDOUT : EINVAL);
    be(1);
    EQUAL(weft_rw_lock_unlock_read(l), 0);
    be(2);
    EQUAL(weft_rw_lock_unlock_read(l), 0);
    be(1);
    EQUAL(weft__rw_hold(l), 0); /* nobody reads any more */
    EQUAL(weft_rw_lock_unlock_write(l), 0);
  }
}

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = (stage *)self->stage;
  uint32_t *seed = &self->seed;
  for (int32_t i = 0; i < amount; i++) {
    int64_t timeout = some_timeout(seed);
    int32_t dice = random_below(seed, 8);
    if (dice < 3) {
      if (weft_rw_lock_write(s->lock, timeout) == 0) {
        s->pair[0]++;
        s->pair[1]++;
        if (dice == 0) {
          EQUAL(weft_rw_lock_downgrade(s->lock), 0);
          EQUAL(s->pair[0], s->pair[1]);
          EQUAL(weft_rw_lock_unlock_read(s->lock), 0);
        } else {
          EQUAL(weft_rw_lock_unlock_write(s->lock), 0);
        }
      }
    } else if (weft_rw_lock_read(s->lock, timeout) == 0) {
      EQUAL(s->pair[0], s->pair[1]);
      EQUAL(weft_rw_lock_unlock_read(s->lock), 0);
    }
  }
  return NULL;
}

static void by_threads_with(weft_rw_lock *lock) {
  static stage s;
  memset(&s, 0, sizeof s);
  CHECK(lock != NULL);
  s.lock = lock;
  play_together(THREADS, play, &s);
  EQUAL(s.pair[0], s.pair[1]);
  CHECK(s.pair[0] > 0);
  EQUAL(lock->state & 0x3fffffff, 0);
  EQUAL(weft_rw_lock_readers(lock), 0);
}

static void by_threads(void) {
  static weft_rw_lock lock;
  by_threads_with(weft_rw_lock_init(&lock, sizeof lock));
}

static void tracked_by_threads(void) {
  static int32_t memory[40 + THREADS * 32];
  by_threads_with(weft_rw_lock_init_tracked(memory, sizeof memory, THREADS));
}

int main(int count, char **words) {
  if (count > 1) amount = 100 * (int32_t)strtol(words[1], NULL, 10);
  RUN(rw_lock_by_turns);
  RUN(tracked_by_turns);
  RUN(rows);
  RUN(forbidden);
  RUN(reads_while_it_awaits);
  RUN(by_threads);
  RUN(tracked_by_threads);
  puts("done");
  return 0;
}
