/*
 * Threads of C use one primitive as hard as they can, while nobody dies:
 *
 *   soak stream PRIMITIVE SECONDS SEED   numbers in order, from one to another
 *   soak waits PRIMITIVE SECONDS SEED    waits that are given up, or served
 *   soak load PRIMITIVE SECONDS SEED     64 threads; the longest wait of any
 *
 * Each round uses a fresh primitive, whose counters are near 0, near 2^31 or
 * near 2^32. A wrong result ends the program with the line that found it. The
 * last line of the output is one JSON object: `volume`, and of `load` also
 * `longest` and `control`, in ms.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "_run/check.h"
#include "weft.h"
#include "_queue/wind.h"

enum { ARENA = 1 << 18, CROWD = 64, FEW = 4, BATCH = 256 };

static _Alignas(64) char arena[ARENA];
static uint32_t seed;
static int64_t end_of_all;
static int64_t volume;
static int32_t start; /* what the counters of this round begin with */

#define AS(type) ((weft_##type *)(void *)arena)

#define MAP_WRONG(what, a, b) \
  (fprintf(stderr, "%s: %d, %d\n", what, (int)(a), (int)(b)), exit(1))
#include "map_steps.h"

static bool is_over(void) { return now_ns() >= end_of_all; }

static void count_volume(int64_t n) {
  __atomic_fetch_add(&volume, n, __ATOMIC_SEQ_CST);
}

/* ---- fresh primitives, whose counters are about to wrap ------------------ */

static void make_mutex(void) {}

static void make_rw_lock(void) { AS(rw_lock)->gate = start & ~1; }

static void make_semaphore(void) {
  CHECK(weft_semaphore_init(arena, ARENA, 3) != NULL);
}

static void make_event(void) {
  CHECK(weft_event_init(arena, ARENA, true) != NULL);
  weft_event_set(AS(event));
}

/* A condition, and the mutex behind it. */
static void make_condition(void) {
  weft_condition *c = AS(condition);
  c->turn = start;
  int32_t called = (int32_t)((uint32_t)(weft__plus(start, 1) & 2) << 30);
  int32_t next = (int32_t)((uint32_t)(start & 2) << 30);
  c->even = start & 1 ? next : called;
  c->odd = start & 1 ? called : next;
}

static void make_barrier(void) {
  CHECK(weft_barrier_init(arena, ARENA, FEW) != NULL);
}

static void make_spsc_queue(void) {
  const weft_queue_config config = {8192, 4};
  weft_spsc_queue *q = weft_spsc_queue_init(arena, ARENA, config);
  CHECK(q != NULL);
  q->head = q->tail = q->head_cache = q->tail_cache = start & ~3;
}

static void make_mpmc_queue(void) {
  const weft_queue_config config = {8192, 4};
  weft_mpmc_queue *q = weft_mpmc_queue_init(arena, ARENA, config);
  CHECK(q != NULL);
  wind_mpmc_queue(q, start);
}

static void make_lock_free_queue(void) {
  const weft_queue_config config = {8192, 4};
  weft_lock_free_queue *q = weft_lock_free_queue_init(arena, ARENA, config);
  CHECK(q != NULL);
  wind_lock_free_queue(q, start);
}

static void make_record_ring(void) {
  const weft_record_ring_config config = {.capacity = 65536};
  weft_record_ring *r = weft_record_ring_init(arena, ARENA, config);
  CHECK(r != NULL);
  r->tail = r->head = r->head_cache = r->tail_cache = start & ~7;
  r->pop_epoch = r->push_epoch = start;
}

static void make_hash_map(void) {
  CHECK(map_make(arena, ARENA, 1024, false, 0, false) != NULL);
}

/* Room for the longest values of all keys, and for those in six hands. */
static void make_long_map(void) {
  int32_t blocks = 1030 * MAP_MOST_BLOCKS;
  CHECK(map_make(arena, ARENA, 1024, false, blocks, false) != NULL);
}

/* The same if most keys are long, too. */
static void make_map_of_long_keys(void) {
  int32_t blocks = 1030 * 7; /* most keys have 1 to 5 */
  CHECK(map_make(arena, ARENA, 1024, false, blocks, true) != NULL);
}

static void make_broadcast(void) {
  const weft_broadcast_config config = {
      .capacity = 8192, .element_size = 4, .subscribers = 1};
  weft_broadcast *b = weft_broadcast_init(arena, ARENA, config);
  CHECK(b != NULL);
  b->tail = b->slowest = start & ~1;
  b->pop_epoch = b->push_epoch = start;
}

static void make_snapshot(bool single) {
  const weft_snapshot_config config = {64, single};
  weft_snapshot *s = weft_snapshot_init(arena, ARENA, config);
  CHECK(s != NULL);
  s->state = single ? (s->state & 31) | (start & ~31) : start;
}
static void make_snapshot_of_many(void) { make_snapshot(false); }
static void make_snapshot_of_one(void) { make_snapshot(true); }

/* ---- stream: one sends 0, 1, 2, ... and another one must get them so ------
 */

enum { ROUND = 1 << 22 };

/* Either end waits at most a second, and then looks again. */
#define PATIENCE WEFT__SECOND

#define QUEUE_STREAM(type)                                            \
  static int32_t type##_send(const int32_t *from, int32_t n) {        \
    int32_t count = weft_##type##_try_push_many(AS(type), from, n);   \
    if (count != 0) return count;                                     \
    int result = weft_##type##_push_int(AS(type), from[0], PATIENCE); \
    return result == 0 ? 1 : result == ETIMEDOUT ? 0 : -result;       \
  }                                                                   \
  static int32_t type##_receive(int32_t *to) {                        \
    int32_t count = weft_##type##_try_pop_many(AS(type), to, BATCH);  \
    if (count != 0) return count;                                     \
    int result = weft_##type##_pop_int(AS(type), to, PATIENCE);       \
    return result == 0 ? 1 : result == ETIMEDOUT ? 0 : -result;       \
  }                                                                   \
  static void type##_end(void) { weft_##type##_close(AS(type)); }

QUEUE_STREAM(spsc_queue)
QUEUE_STREAM(mpmc_queue)
QUEUE_STREAM(lock_free_queue)

static int32_t record_ring_send(const int32_t *from, int32_t n) {
  (void)n;
  int32_t record[8], words = 1 + (from[0] & 7);
  for (int32_t i = 0; i < words; i++) record[i] = from[0] ^ i;
  int result =
      weft_record_ring_push(AS(record_ring), record, words * 4, PATIENCE);
  return result == 0 ? 1 : result == ETIMEDOUT ? 0 : -result;
}
static int32_t record_ring_receive(int32_t *to) {
  int32_t length = BATCH * 4;
  int result = weft_record_ring_pop(AS(record_ring), to, &length, PATIENCE);
  if (result != 0) return result == ETIMEDOUT ? 0 : -result;
  EQUAL(length, 4 + 4 * (to[0] & 7));
  for (int32_t i = 0; i < length / 4; i++) EQUAL(to[i], to[0] ^ i);
  return 1;
}
static void record_ring_end(void) { weft_record_ring_close(AS(record_ring)); }

static int32_t broadcast_send(const int32_t *from, int32_t n) {
  (void)n;
  int result = weft_broadcast_push_int(AS(broadcast), from[0], PATIENCE);
  return result == 0 ? 1 : result == ETIMEDOUT ? 0 : -result;
}
static int32_t broadcast_receive(int32_t *to) {
  int result = weft_broadcast_pop_int(AS(broadcast), 0, to, PATIENCE);
  return result == 0 ? 1 : result == ETIMEDOUT ? 0 : -result;
}
static void broadcast_end(void) { weft_broadcast_close(AS(broadcast)); }

/* A value of 16 words, all the same. The last one is below 0. */
static int32_t snapshot_send(const int32_t *from, int32_t n) {
  (void)n;
  int32_t value[16];
  for (int i = 0; i < 16; i++) value[i] = from[0] + 1;
  EQUAL(weft_snapshot_write(AS(snapshot), value), 0);
  return 1;
}
static int32_t snapshot_receive(int32_t *to) {
  static int32_t latest;
  if (weft_snapshot_read(AS(snapshot), to) < 0) return -EIO;
  for (int i = 1; i < 16; i++) EQUAL(to[i], to[0]);
  if (to[0] < 0) return latest = 0, -EPIPE;
  CHECK(to[0] >= latest);
  latest = to[0];
  return 0;
}
static void snapshot_end(void) {
  int32_t last = -2;
  snapshot_send(&last, 1);
}

typedef struct {
  const char *name;
  void (*make)(void);
  int32_t (*send)(const int32_t *from, int32_t n);
  int32_t (*receive)(int32_t *to);
  void (*end)(void);
} stream;

static const stream STREAMS[] = {
    {"spsc_queue", make_spsc_queue, spsc_queue_send, spsc_queue_receive,
     spsc_queue_end},
    {"mpmc_queue", make_mpmc_queue, mpmc_queue_send, mpmc_queue_receive,
     mpmc_queue_end},
    {"lock_free_queue", make_lock_free_queue, lock_free_queue_send,
     lock_free_queue_receive, lock_free_queue_end},
    {"record_ring", make_record_ring, record_ring_send, record_ring_receive,
     record_ring_end},
    {"broadcast", make_broadcast, broadcast_send, broadcast_receive,
     broadcast_end},
    {"snapshot", make_snapshot_of_many, snapshot_send, snapshot_receive,
     snapshot_end},
    {"snapshot_of_one", make_snapshot_of_one, snapshot_send, snapshot_receive,
     snapshot_end},
};

static int32_t sent;

static void *sender(void *argument) {
  const stream *s = (const stream *)argument;
  int32_t batch[BATCH], next = 0;
  while (next < ROUND && (next % 4096 >= BATCH || !is_over())) {
    for (int32_t i = 0; i < BATCH; i++) batch[i] = next + i;
    int32_t n = s->send(batch, BATCH);
    CHECK(n >= 0);
    next += n;
  }
  __atomic_store_n(&sent, next, __ATOMIC_SEQ_CST);
  s->end();
  return NULL;
}

static void stream_round(const stream *s) {
  pthread_t thread;
  int32_t got[BATCH], next = 0, n = 0;
  if (s->make == make_broadcast)
    EQUAL(weft_broadcast_subscribe(AS(broadcast)), 0);
  EQUAL(pthread_create(&thread, NULL, sender, (void *)(uintptr_t)s), 0);
  while ((n = s->receive(got)) >= 0)
    for (int32_t i = 0; i < n; i++) EQUAL(got[i], next++);
  EQUAL(n, -EPIPE);
  EQUAL(pthread_join(thread, NULL), 0);
  if (s->receive != snapshot_receive) EQUAL(next, sent);
  count_volume(sent);
}

/* ---- waits: given up in the moment in which others serve them ------------ */

static int32_t inside; /* who is in a section */
static int32_t pushed, popped;
static bool round_over;

typedef struct {
  int32_t number;
  uint32_t random;
  int64_t turns;   /* of load */
  int64_t longest; /* ns */
} side;

/* From not at all to 60 us: about as long as the others take. */
static int64_t short_time(side *self) {
  return random_below(&self->random, 4) == 0
             ? 0
             : random_below(&self->random, 60000);
}

static bool given_up(int result) {
  if (result == ETIMEDOUT || result == EBUSY) return true;
  EQUAL(result, 0);
  return false;
}

static void section(side *self) {
  EQUAL(inside, 0);
  inside = self->number + 1;
  for (int i = 0; i < 8; i++) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (random_below(&self->random, 64) == 0) sched_yield();
  EQUAL(inside, self->number + 1);
  inside = 0;
}

static void mutex_wait(side *self, int64_t timeout) {
  if (given_up(weft_mutex_lock(AS(mutex), timeout))) return;
  section(self);
  EQUAL(weft_mutex_unlock(AS(mutex)), 0);
}
static void mutex_left(void) { EQUAL(weft_mutex_owner(AS(mutex)), 0); }

static void rw_lock_wait(side *self, int64_t timeout) {
  weft_rw_lock *l = AS(rw_lock);
  if (self->number % 8 != 0) {
    if (given_up(weft_rw_lock_read(l, timeout))) return;
    EQUAL(inside, 0);
    EQUAL(weft_rw_lock_unlock_read(l), 0);
  } else {
    if (given_up(weft_rw_lock_write(l, timeout))) return;
    section(self);
    EQUAL(weft_rw_lock_unlock_write(l), 0);
  }
}
static void rw_lock_left(void) {
  EQUAL(weft_rw_lock_readers(AS(rw_lock)), 0);
  EQUAL(weft_rw_lock_writer(AS(rw_lock)), 0);
}

static void semaphore_wait(side *self, int64_t timeout) {
  int32_t n = 1 + random_below(&self->random, 2);
  if (given_up(weft_semaphore_acquire(AS(semaphore), n, timeout))) return;
  CHECK(shared_add(&inside, n) <= 3);
  shared_add(&inside, -n);
  EQUAL(weft_semaphore_release(AS(semaphore), n), 0);
}
static void semaphore_left(void) {
  EQUAL(weft_semaphore_available(AS(semaphore)), 3);
  EQUAL(AS(semaphore)->waiters, 0);
}

static void event_wait(side *self, int64_t timeout) {
  if (given_up(weft_event_wait(AS(event), timeout))) return;
  section(self);
  weft_event_set(AS(event));
}
static void event_left(void) { CHECK(weft_event_is_set(AS(event))); }

static void condition_wait(side *self, int64_t timeout) {
  weft_condition *c = AS(condition);
  weft_mutex *m = (weft_mutex *)(void *)(arena + 64);
  if (random_below(&self->random, 2) == 0) {
    EQUAL(weft_mutex_lock(m, WEFT_FOREVER), 0);
    (void)given_up(weft_condition_wait(c, m, timeout));
    section(self);
    EQUAL(weft_mutex_unlock(m), 0);
  } else if (random_below(&self->random, 2) == 0) {
    EQUAL(weft_condition_notify(c, 1), 0);
  } else {
    weft_condition_notify_all(c);
  }
}
static void condition_left(void) {
  EQUAL(AS(condition)->even & 0x3fffffff, 0);
  EQUAL(AS(condition)->odd & 0x3fffffff, 0);
}

/* All must pass a generation before any passes the next one. */
static int32_t generations[FEW];
static void barrier_wait(side *self, int64_t timeout) {
  int32_t own = __atomic_load_n(&generations[self->number], __ATOMIC_SEQ_CST);
  int result = ETIMEDOUT;
  while (result == ETIMEDOUT) {
    result = weft_barrier_arrive_and_wait(AS(barrier), NULL, timeout);
    count_volume(1);
    if (is_over() && result == ETIMEDOUT)
      timeout = __atomic_load_n(&round_over, __ATOMIC_SEQ_CST) ? 0 : MS;
    if (result == ETIMEDOUT && __atomic_load_n(&round_over, __ATOMIC_SEQ_CST))
      return;
  }
  EQUAL(result, 0);
  shared_add(&generations[self->number], 1);
  for (int i = 0; i < FEW; i++) {
    int32_t other = __atomic_load_n(&generations[i], __ATOMIC_SEQ_CST);
    CHECK(other >= own && other <= own + 2);
  }
}
static void barrier_left(void) { EQUAL(weft_barrier_arrived(AS(barrier)), 0); }

#define QUEUE_WAIT(type)                                                 \
  static void type##_wait(side *self, int64_t timeout) {                 \
    int32_t value = 0;                                                   \
    int result = self->number % 2 == 0                                   \
                     ? weft_##type##_push_int(AS(type), 7, timeout)      \
                     : weft_##type##_pop_int(AS(type), &value, timeout); \
    if (given_up(result)) return;                                        \
    shared_add(self->number % 2 == 0 ? &pushed : &popped, 1);            \
    if (self->number % 2 != 0) EQUAL(value, 7);                          \
  }                                                                      \
  static void type##_left(void) {                                        \
    EQUAL(weft_##type##_size(AS(type)), pushed - popped);                \
    EQUAL(AS(type)->pop_waiters, 0);                                     \
    EQUAL(AS(type)->push_waiters, 0);                                    \
  }
QUEUE_WAIT(mpmc_queue)
QUEUE_WAIT(lock_free_queue)

/* One end each; the others only look. */
static void spsc_queue_wait(side *self, int64_t timeout) {
  int32_t value = 0;
  int result = self->number == 0
                   ? weft_spsc_queue_push_int(AS(spsc_queue), 7, timeout)
               : self->number == 1
                   ? weft_spsc_queue_pop_int(AS(spsc_queue), &value, timeout)
                   : ETIMEDOUT;
  if (self->number > 1) sched_yield();
  if (given_up(result)) return;
  shared_add(self->number == 0 ? &pushed : &popped, 1);
}
static void spsc_queue_left(void) {
  EQUAL(weft_spsc_queue_size(AS(spsc_queue)), pushed - popped);
}

static void record_ring_wait(side *self, int64_t timeout) {
  int32_t record[16] = {7}, length = (int32_t)sizeof record;
  int result =
      self->number != 0
          ? weft_record_ring_push(AS(record_ring), record, 4, timeout)
          : weft_record_ring_pop(AS(record_ring), record, &length, timeout);
  if (given_up(result)) return;
  shared_add(self->number != 0 ? &pushed : &popped, 1);
}
static void record_ring_left(void) {
  int32_t record[16], length = (int32_t)sizeof record;
  /* A consumer that ended by itself is still the one that may pop. */
  int32_t consumer = AS(record_ring)->consumer;
  if (consumer != 0) weft_record_ring_abandon(AS(record_ring), consumer);
  while (weft_record_ring_try_pop(AS(record_ring), record, &length) == 0)
    popped++, length = (int32_t)sizeof record;
  EQUAL(popped, pushed);
}

/* What an agent needs to use the map; nobody has keys of its own. */
static map_user *map_user_of(side *self, int32_t keys) {
  static map_user users[CROWD];
  map_user *user = &users[self->number];
  if (user->map == NULL) map_begin(user, AS(hash_map), keys, 0, 0, 0);
  user->keys = keys;
  user->random = random_next(&self->random);
  return user;
}

/* Of 8 agents, one writes, and the others read. */
static void hash_map_turn(side *self, int64_t timeout) {
  (void)timeout;
  map_user *user = map_user_of(self, MAP_KEYS);
  int32_t key = map_pick(user);
  if (self->number % 8 != 0)
    map_read(user, key);
  else if (random_below(&self->random, 4) != 0)
    map_write(user, key);
  else
    map_remove(user, key);
}

/* Half of the agents wait for keys that the others add and delete. */
static void hash_map_wait(side *self, int64_t timeout) {
  map_user *user = map_user_of(self, 4);
  int32_t key = random_below(&self->random, 4), value[MAP_WORDS];
  char name[MAP_NAME + 1];
  size_t letters = map_name(user->map, key, name), length = 0;
  if (self->number % 2 == 0) {
    (random_below(&self->random, 2) ? map_write : map_remove)(user, key);
  } else if (!given_up(weft_hash_map_wait_for(AS(hash_map), name, letters,
                                              value, sizeof value, &length,
                                              timeout))) {
    map_check(key, value, length);
  }
}

static void hash_map_left(void) {
  static map_user last;
  map_begin(&last, AS(hash_map), MAP_KEYS, 0, 0, 1);
  map_check_whole(&last);
  for (uint32_t i = 0; i < WEFT__HASH_GROUPS; i++) {
    int32_t *epoch = weft__hash_epoch(last.map, (int32_t)(i << 27));
    EQUAL(*weft__event_waiters(epoch), 0);
  }
}

typedef struct {
  const char *name;
  void (*make)(void);
  void (*wait)(side *self, int64_t timeout);
  void (*left)(void);
  bool crowded; /* any number of threads may use it */
} storm;

static const storm STORMS[] = {
    {"mutex", make_mutex, mutex_wait, mutex_left, true},
    {"rw_lock", make_rw_lock, rw_lock_wait, rw_lock_left, true},
    {"condition", make_condition, condition_wait, condition_left, false},
    {"semaphore", make_semaphore, semaphore_wait, semaphore_left, true},
    {"event", make_event, event_wait, event_left, true},
    {"barrier", make_barrier, barrier_wait, barrier_left, false},
    {"spsc_queue", make_spsc_queue, spsc_queue_wait, spsc_queue_left, false},
    {"mpmc_queue", make_mpmc_queue, mpmc_queue_wait, mpmc_queue_left, true},
    {"lock_free_queue", make_lock_free_queue, lock_free_queue_wait,
     lock_free_queue_left, true},
    {"record_ring", make_record_ring, record_ring_wait, record_ring_left, true},
    {"hash_map", make_hash_map, hash_map_turn, hash_map_left, true},
    {"hash_map_long", make_long_map, hash_map_turn, hash_map_left, true},
    {"hash_map_long_keys", make_map_of_long_keys, hash_map_turn, hash_map_left,
     true},
    {"hash_map_key", make_hash_map, hash_map_wait, hash_map_left, false},
    {"hash_map_long_key", make_map_of_long_keys, hash_map_wait, hash_map_left,
     false},
};

static const storm *current;
static side sides[CROWD];

static void *give_up_waits(void *argument) {
  side *self = (side *)argument;
  int64_t waits = 0;
  for (; waits < 100000 && !is_over(); waits++)
    current->wait(self, short_time(self));
  if (current->wait == barrier_wait) {
    __atomic_store_n(&round_over, true, __ATOMIC_SEQ_CST);
    return NULL; /* it counts its waits itself */
  }
  count_volume(waits);
  return NULL;
}

static void prepare(int count) {
  inside = pushed = popped = 0;
  round_over = false;
  memset(generations, 0, sizeof generations);
  for (int i = 0; i < count; i++) {
    sides[i] = (side){.number = i, .random = seed += 2654435761u};
    if (sides[i].random == 0) sides[i].random = 1;
  }
}

static void storm_round(const storm *s) {
  pthread_t threads[FEW];
  current = s;
  prepare(FEW);
  start_threads(threads, FEW, give_up_waits, sides, sizeof *sides);
  join_threads(threads, FEW);
  s->left();
}

/* ---- load: many threads, and each must get its turn ---------------------- */

static void *take_turns(void *argument) {
  side *self = (side *)argument;
  int64_t before = now_ns();
  do {
    current->wait(self, WEFT__SECOND * 20);
    int64_t now = now_ns();
    if (now - before > self->longest) self->longest = now - before;
    before = now;
    self->turns++;
  } while (!is_over());
  return NULL;
}

/* Sleeps a little and works a little, without any primitive: what the machine
   itself makes a thread wait. */
static void *control(void *argument) {
  side *self = (side *)argument;
  const struct timespec little = {0, 200000};
  while (!is_over()) {
    int64_t before = now_ns();
    if (self->number % 2 == 0) nanosleep(&little, NULL);
    for (int i = 0; i < 20000; i++) __atomic_signal_fence(__ATOMIC_SEQ_CST);
    int64_t took = now_ns() - before;
    if (took > self->longest) self->longest = took;
  }
  return NULL;
}

static int64_t longest_wait, longest_control;

static void load_round(const storm *s) {
  enum { CONTROLS = 4 };
  pthread_t threads[CROWD], controls[CONTROLS];
  side machine[CONTROLS];
  current = s;
  prepare(CROWD);
  for (int i = 0; i < CONTROLS; i++) machine[i] = (side){.number = i};
  start_threads(controls, CONTROLS, control, machine, sizeof *machine);
  start_threads(threads, CROWD, take_turns, sides, sizeof *sides);
  /* Of a queue, whoever comes last may wait for an end that has stopped. */
  for (int i = 0; i < CROWD; i++) {
    struct timespec limit;
    int32_t value = 0;
    for (;;) {
      clock_gettime(CLOCK_REALTIME, &limit);
      limit.tv_nsec += 5000000;
      if (limit.tv_nsec >= 1000000000)
        limit.tv_sec++, limit.tv_nsec -= 1000000000;
      if (pthread_timedjoin_np(threads[i], NULL, &limit) == 0) break;
      if (!is_over()) continue;
      int failed = 0;
      if (s->make == make_mpmc_queue) {
        failed = i % 2 ? weft_mpmc_queue_try_push_int(AS(mpmc_queue), 7)
                       : weft_mpmc_queue_try_pop_int(AS(mpmc_queue), &value);
        if (failed == 0) shared_add(i % 2 ? &pushed : &popped, 1);
      }
      if (s->make == make_lock_free_queue) {
        failed =
            i % 2
                ? weft_lock_free_queue_try_push_int(AS(lock_free_queue), 7)
                : weft_lock_free_queue_try_pop_int(AS(lock_free_queue), &value);
        if (failed == 0) shared_add(i % 2 ? &pushed : &popped, 1);
      }
      if (s->make == make_record_ring) {
        int32_t record[16] = {7}, length = (int32_t)sizeof record;
        failed =
            i == 0 ? weft_record_ring_try_push(AS(record_ring), record, 4)
                   : weft_record_ring_try_pop(AS(record_ring), record, &length);
        if (failed == 0) shared_add(i == 0 ? &pushed : &popped, 1);
      }
    }
  }
  join_threads(controls, CONTROLS);
  s->left();
  longest_wait = longest_control = 0;
  for (int i = 0; i < CROWD; i++) {
    CHECK(sides[i].turns > 0);
    volume += sides[i].turns;
    if (sides[i].longest > longest_wait) longest_wait = sides[i].longest;
  }
  for (int i = 0; i < CONTROLS; i++)
    if (machine[i].longest > longest_control)
      longest_control = machine[i].longest;
}

/* ---- the rounds ---------------------------------------------------------- */

int main(int count, char **words) {
  if (count != 5) {
    fprintf(stderr, "usage: soak stream|waits|load PRIMITIVE SECONDS SEED\n");
    return 2;
  }
  const char *story = words[1], *name = words[2];
  const stream *chosen = NULL;
  const storm *other = NULL;
  for (size_t i = 0; i < sizeof STREAMS / sizeof *STREAMS; i++)
    if (strcmp(story, "stream") == 0 && strcmp(STREAMS[i].name, name) == 0)
      chosen = &STREAMS[i];
  for (size_t i = 0; i < sizeof STORMS / sizeof *STORMS; i++)
    if (strcmp(story, "stream") != 0 && strcmp(STORMS[i].name, name) == 0)
      other = &STORMS[i];
  bool loads = strcmp(story, "load") == 0;
  if (chosen == NULL && (other == NULL || (loads && !other->crowded))) {
    fprintf(stderr, "there is no %s of %s\n", story, name);
    return 2;
  }
  seed = (uint32_t)atoi(words[4]) * 2 + 1;
  end_of_all = now_ns() + (int64_t)(atof(words[3]) * 1e9);
  for (int round = 0; !is_over(); round++) {
    start =
        weft__minus(STARTS[round % STARTS_COUNT], random_below(&seed, 4000));
    memset(arena, 0, sizeof arena);
    (chosen != NULL ? chosen->make : other->make)();
    if (chosen != NULL)
      stream_round(chosen);
    else if (loads)
      load_round(other);
    else
      storm_round(other);
  }
  printf("{\"volume\":%lld,\"longest\":%.1f,\"control\":%.1f}\n",
         (long long)volume, (double)longest_wait / 1e6,
         (double)longest_control / 1e6);
  return 0;
}
