/* weft_rw_lock, weft_condition, weft_event, weft_latch, weft_barrier, weft_once
   and weft_striped_counter: their results and errors by one thread that plays
   several agents, and threads that use them at once. The argument says how many
   times a thread does its work, in hundreds. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#define THREADS 4

static int32_t amount = 2000;
static int32_t arena[1 << 12];

static void be(int32_t id) { EQUAL(weft_agent_set_id(id), 0); }

/* ---- one thread -------------------------------------------------------------- */

static void latch_by_turns(void) {
  for (int32_t count = 0; count < 6; count++) {
    weft_latch *l = weft_latch_init(arena, sizeof arena, count);
    CHECK(l != NULL && weft_latch_attach(arena) == l);
    EQUAL(weft_latch_count(l), count);
    UNCHANGED(l, 12, weft_latch_count_down(l, 0), EINVAL);
    UNCHANGED(l, 12, weft_latch_count_down(l, count + 1), EINVAL);
    UNCHANGED(l, 12, weft_latch_try_wait(l), count == 0 ? 0 : EBUSY);
    if (count > 1) {
      TAKES(2, weft_latch_arrive_and_wait(l, 3 * MS), ETIMEDOUT);
      EQUAL(weft_latch_count(l), count - 1);
      EQUAL(weft_latch_count_down(l, count - 1), 0);
    } else if (count == 1) {
      EQUAL(weft_latch_arrive_and_wait(l, 0), 0);
    }
    EQUAL(weft_latch_wait(l, WEFT_FOREVER), 0);
    EQUAL(l->state, 0);
    UNCHANGED(l, 12, weft_latch_arrive_and_wait(l, 0), EINVAL);
  }
  CHECK(weft_latch_init(arena, sizeof arena, -1) == NULL);
  CHECK(weft_latch_init(arena, sizeof arena, WEFT_LATCH_MAX) != NULL);
  CHECK(weft_latch_init((char *)arena + 2, sizeof arena - 2, 1) == NULL);
  CHECK(weft_barrier_attach(arena) == NULL);
  EQUAL(weft_latch_bytes(), 12);
}

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
  UNCHANGED(b, 16, weft_barrier_leave(b, false), -EINVAL);
  b = weft_barrier_init(arena, sizeof arena, 3);
  TAKES(2, weft_barrier_arrive_and_wait(b, NULL, 3 * MS), ETIMEDOUT);
  EQUAL(weft_barrier_arrived(b), 0);
  UNCHANGED(b, 16, weft_barrier_leave(b, true), -EINVAL);
  b->state += 2; /* two arrive */
  EQUAL(weft_barrier_leave(b, true), 0);
  EQUAL(weft_barrier_parties(b), 2);
  EQUAL(weft_barrier_arrived(b), 1);
  EQUAL(weft_barrier_leave(b, false), 1);
  EQUAL(weft_barrier_arrived(b), 0);
  CHECK(weft_barrier_init(arena, sizeof arena, 0) == NULL);
  CHECK(weft_barrier_init(arena, sizeof arena, 4096) == NULL);
  EQUAL(weft_barrier_bytes(), 16);
}

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
      mine->high -= late;
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

static void condition_by_turns(void) {
  weft_condition c;
  weft_mutex m;
  CHECK(weft_condition_init(&c, sizeof c) != NULL);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  be(1);
  EQUAL(weft_condition_wait(&c, &m, 0), EPERM);
  EQUAL(weft_mutex_lock(&m, 0), 0);
  TAKES(2, weft_condition_wait(&c, &m, 3 * MS), ETIMEDOUT);
  EQUAL(weft_mutex_owner(&m), 1);
  be(2);
  UNCHANGED(&c, sizeof c, weft_condition_wait(&c, &m, 0), EPERM);
  UNCHANGED(&c, sizeof c, weft_condition_notify(&c, 0), EINVAL);
  UNCHANGED(&c, sizeof c, weft_condition_notify(&c, 1), 0);
  be(1);
  EQUAL(weft_mutex_unlock(&m), 0);
}

static void forbidden(void) {
  weft_rw_lock l;
  weft_condition c;
  weft_mutex m;
  weft_event e;
  weft_once o;
  int ran = 0;
  CHECK(weft_rw_lock_init(&l, sizeof l) != NULL);
  CHECK(weft_condition_init(&c, sizeof c) != NULL);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  CHECK(weft_event_init(&e, sizeof e, true) != NULL);
  CHECK(weft_once_init(&o, sizeof o) != NULL);
  EQUAL(weft_mutex_try_lock(&m), 0);
  weft_latch *latch = weft_latch_init(arena, sizeof arena, 2);
  weft_barrier *barrier = weft_barrier_init(arena + 64, sizeof arena - 256, 2);
  weft_agent_set_blocking(false);
  UNCHANGED(&l, sizeof l, weft_rw_lock_read(&l, 0), EPERM);
  UNCHANGED(&l, sizeof l, weft_rw_lock_write(&l, 0), EPERM);
  UNCHANGED(&c, sizeof c, weft_condition_wait(&c, &m, 0), EPERM);
  UNCHANGED(&e, sizeof e, weft_event_wait(&e, 0), EPERM);
  UNCHANGED(&o, sizeof o, weft_once_run(&o, fails, &ran, 0), EPERM);
  UNCHANGED(latch, 12, weft_latch_wait(latch, 0), EPERM);
  UNCHANGED(latch, 12, weft_latch_arrive_and_wait(latch, 0), EPERM);
  UNCHANGED(barrier, 16, weft_barrier_arrive_and_wait(barrier, NULL, 0),
            EPERM);
  weft_agent_set_blocking(true);
  EQUAL(ran, 0);
}

/* ---- threads ----------------------------------------------------------------- */

typedef struct {
  weft_rw_lock lock;
  int64_t pair[2]; /* guarded, and not atomic */
  weft_mutex mutex;
  weft_condition filled, emptied;
  int32_t items; /* guarded */
  int64_t taken;
  weft_event ping, pong;
  int32_t answered;
  weft_barrier barrier;
  int32_t rounds[THREADS];
  int32_t leaders;
  weft_once once;
  int64_t made;
  weft_latch latch;
  weft_striped_counter *counter;
} stage;

typedef struct {
  uint32_t seed;
  int32_t index;
  stage *s;
} player;

static int64_t some_timeout(uint32_t *seed) {
  switch (random_below(seed, 4)) {
    case 0:
      return 0;
    case 1:
      return random_below(seed, 50000);
    default:
      return WEFT_FOREVER;
  }
}

static int make(void *context) {
  stage *s = (stage *)context;
  s->made++;
  return s->made < 3 ? 7 : 0; /* the first two fail */
}

static void *play(void *argument) {
  player *self = (player *)argument;
  stage *s = self->s;
  uint32_t *seed = &self->seed;
  for (int32_t i = 0; i < amount; i++) {
    int64_t timeout = some_timeout(seed);
    int32_t dice = random_below(seed, 8);
    if (dice < 3) {
      if (weft_rw_lock_write(&s->lock, timeout) == 0) {
        s->pair[0]++;
        s->pair[1]++;
        if (dice == 0) {
          EQUAL(weft_rw_lock_downgrade(&s->lock), 0);
          EQUAL(s->pair[0], s->pair[1]);
          EQUAL(weft_rw_lock_unlock_read(&s->lock), 0);
        } else {
          EQUAL(weft_rw_lock_unlock_write(&s->lock), 0);
        }
      }
    } else if (weft_rw_lock_read(&s->lock, timeout) == 0) {
      EQUAL(s->pair[0], s->pair[1]);
      EQUAL(weft_rw_lock_unlock_read(&s->lock), 0);
    }
    weft_striped_counter_add(s->counter, i % 2 ? 1 << 28 : 3 - (1 << 28));
  }
  /* Items through a box of 3, by two threads that put and two that take. */
  bool puts = self->index % 2 == 0;
  for (int32_t i = 0; i < amount; i++) {
    weft_condition *own = puts ? &s->emptied : &s->filled;
    EQUAL(weft_mutex_lock(&s->mutex, WEFT_FOREVER), 0);
    while (s->items == (puts ? 3 : 0)) {
      int result = weft_condition_wait(own, &s->mutex, some_timeout(seed));
      CHECK(result == 0 || result == ETIMEDOUT);
      EQUAL(weft_mutex_owner(&s->mutex), weft_agent_id());
    }
    s->items += puts ? 1 : -1;
    if (!puts) s->taken++;
    if (i % 3 == 0) {
      weft_condition_notify_all(puts ? &s->filled : &s->emptied);
      EQUAL(weft_mutex_unlock(&s->mutex), 0);
    } else {
      EQUAL(weft_mutex_unlock(&s->mutex), 0);
      EQUAL(weft_condition_notify(puts ? &s->filled : &s->emptied, 1), 0);
    }
  }
  /* The first asks, the others answer. */
  if (self->index == 0) {
    for (int32_t i = 0; i < amount * (THREADS - 1); i++) {
      weft_event_set(&s->ping);
      EQUAL(weft_event_wait(&s->pong, WEFT_FOREVER), 0);
      EQUAL(s->answered, i + 1);
    }
  } else {
    for (int32_t i = 0; i < amount; i++) {
      while (weft_event_wait(&s->ping, some_timeout(seed)) != 0) {
      }
      s->answered++;
      weft_event_set(&s->pong);
    }
  }
  int result = weft_once_run(&s->once, make, s, WEFT_FOREVER);
  while (result == 7) result = weft_once_run(&s->once, make, s, WEFT_FOREVER);
  EQUAL(result, 0);
  EQUAL(s->made, 3);
  for (int32_t round = 1; round <= amount; round++) {
    bool leader = false;
    s->rounds[self->index] = round;
    while (weft_barrier_arrive_and_wait(&s->barrier, &leader,
                                        some_timeout(seed)) != 0) {
    }
    if (leader) s->leaders++;
    for (int i = 0; i < THREADS; i++) EQUAL(s->rounds[i], round);
    EQUAL(weft_barrier_arrive_and_wait(&s->barrier, NULL, WEFT_FOREVER), 0);
  }
  EQUAL(weft_latch_arrive_and_wait(&s->latch, WEFT_FOREVER), 0);
  return NULL;
}

static void by_threads(void) {
  static stage s;
  memset(&s, 0, sizeof s);
  CHECK(weft_event_init(&s.ping, sizeof s.ping, true) != NULL);
  CHECK(weft_event_init(&s.pong, sizeof s.pong, true) != NULL);
  CHECK(weft_barrier_init(&s.barrier, sizeof s.barrier, THREADS) != NULL);
  CHECK(weft_latch_init(&s.latch, sizeof s.latch, THREADS) != NULL);
  s.counter = weft_striped_counter_init(arena, sizeof arena, 2);
  pthread_t threads[THREADS];
  player players[THREADS];
  for (int i = 0; i < THREADS; i++) {
    players[i].seed = (uint32_t)i + 1;
    players[i].index = i;
    players[i].s = &s;
  }
  start_threads(threads, THREADS, play, players, sizeof *players);
  join_threads(threads, THREADS);
  EQUAL(s.pair[0], s.pair[1]);
  EQUAL(s.lock.state & 0x3fffffff, 0);
  EQUAL(s.items, 0);
  EQUAL(s.taken, (int64_t)amount * (THREADS / 2));
  EQUAL(s.answered, amount * (THREADS - 1));
  EQUAL(s.leaders, amount);
  EQUAL(weft_latch_count(&s.latch), 0);
  EQUAL(weft_striped_counter_sum(s.counter),
        (int64_t)THREADS * (amount / 2) * 3);
}

int main(int argc, char **argv) {
  if (argc > 1) amount = atoi(argv[1]) * 100;
  RUN(latch_by_turns);
  RUN(event_by_turns);
  RUN(barrier_by_turns);
  RUN(once_by_turns);
  RUN(counter_by_turns);
  RUN(rw_lock_by_turns);
  RUN(condition_by_turns);
  RUN(forbidden);
  RUN(by_threads);
  puts("done");
  return 0;
}
