/*
 * Agents that share one primitive are killed at any instruction, and replaced.
 * The program checks what docs/reliability.md promises: nothing is lost beyond
 * one element a kill, nothing comes twice, and the survivors go on.
 *
 * Natively, the agents are processes, and SIGKILL ends them. Under Emscripten
 * they are threads; emscripten.ts ends their workers, and calls the functions
 * at the end of this file.
 *
 *   kills PRIMITIVE SECONDS SEED
 *
 * The last line of the output is one JSON object: `kills`, `operations`,
 * `lost` (elements that nobody received), `allowed` (how many may be lost),
 * and `problems` (broken promises; 0 if all is well).
 */
#define _GNU_SOURCE
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#include <pthread.h>
#else
#define WEFT_PROCESS_SHARED
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#endif
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "weft.h"

enum { AGENTS = 6, ARENA = 1 << 20, ITEMS = 1 << 22, SLEEP = 3000000 };

/* What one agent tells the supervisor; a replacement goes on with it. */
typedef struct {
  int32_t id;
  int32_t begun;    /* elements whose push began */
  int32_t received; /* elements taken and noted */
  int32_t begins;   /* how many agents have begun here */
  int64_t operations;
  int32_t ends; /* how many agents have stopped here */
  int32_t pad[23];
} seat;

typedef struct {
  seat seats[AGENTS];
  int32_t inside; /* who is in the section, or 0 */
  int32_t writing;
  int32_t problems;
  int32_t stop;
  int32_t value[2]; /* always equal outside a writer's section */
  int32_t pad[64];
  uint8_t seen[AGENTS][ITEMS / 8];
  _Alignas(64) char arena[ARENA];
} shared;

static shared *s;
static __thread int me;

static void problem(const char *what, int32_t a, int32_t b) {
  if (__atomic_fetch_add(&s->problems, 1, __ATOMIC_SEQ_CST) < 5)
    fprintf(stderr, "problem: %s: %d, %d\n", what, (int)a, (int)b);
}

static void pause_a_little(void) { sched_yield(); }

#define MAP_WRONG problem
#include "map_steps.h"

/* ---- items -------------------------------------------------------------- */

/* An item names its producer and its number: 3 bits and 22. */
static int32_t next_item(void) {
  seat *own = &s->seats[me];
  int32_t number = __atomic_fetch_add(&own->begun, 1, __ATOMIC_SEQ_CST);
  return me << 24 | (number & (ITEMS - 1));
}

static void receive_item(int32_t item) {
  int32_t from = item >> 24;
  int32_t number = item & (ITEMS - 1);
  if (from < 0 || from >= AGENTS || (item & 0xc00000) != 0) {
    problem("an item that nobody sent", item, 0);
    return;
  }
  uint8_t bit = (uint8_t)(1 << (number & 7));
  uint8_t *at = &s->seen[from][number >> 3];
  if (__atomic_fetch_or(at, bit, __ATOMIC_SEQ_CST) & bit)
    problem("an item came twice", from, number);
  __atomic_fetch_add(&s->seats[me].received, 1, __ATOMIC_SEQ_CST);
}

static bool is_full(void) { return s->seats[me].begun >= ITEMS - 1; }

/* ---- mutex, rw_lock -------------------------------------------------------
 */

static void enter(int32_t id) {
  if (s->inside != 0) problem("two in one section", s->inside, id);
  s->inside = id;
  for (int i = 0; i < 20; i++) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (s->inside != id) problem("another one came in", s->inside, id);
  s->inside = 0;
}

static void mutex_step(void) {
  weft_mutex *m = (weft_mutex *)(void *)s->arena;
  int r = weft_mutex_lock(m, SLEEP);
  if (r == ETIMEDOUT) return;
  if (r != 0 && r != EOWNERDEAD) {
    problem("lock", r, 0);
    return;
  }
  if (r == EOWNERDEAD) s->inside = 0;
  enter(weft_agent_id());
  if (weft_mutex_unlock(m) != 0) problem("unlock", 0, 0);
}

static void mutex_dead(int32_t id, int which) {
  (void)which;
  weft_mutex_abandon((weft_mutex *)(void *)s->arena, id);
}

/* Odd agents read, even ones write; only writers are killed. */
static void rw_lock_step(void) {
  weft_rw_lock *l = (weft_rw_lock *)(void *)s->arena;
  if (me % 2 != 0) {
    int held = weft_rw_lock_read(l, SLEEP);
    if (held != 0 && held != EOWNERDEAD) return;
    if (s->inside != 0) problem("a reader beside a writer", s->inside, me);
    weft_rw_lock_unlock_read(l);
    return;
  }
  int r = weft_rw_lock_write(l, SLEEP);
  if (r == ETIMEDOUT) return;
  if (r == EOWNERDEAD) s->inside = 0;
  enter(weft_agent_id());
  weft_rw_lock_unlock_write(l);
}

static void rw_lock_dead(int32_t id, int which) {
  if (which % 2 != 0) return;
  /* No reader comes in before the next writer has put things right, so the
     supervisor, which knows that nobody is inside, does it here. */
  if (s->inside == id) s->inside = 0;
  weft_rw_lock_abandon((weft_rw_lock *)(void *)s->arena, id);
}

/* ---- queues ----------------------------------------------------------------
 */

#define AS(type) ((weft_##type *)(void *)s->arena)

static void spsc_queue_step(void) {
  int32_t item = 0;
  int r = 0;
  if (me == 0) {
    r = weft_spsc_queue_push_int(AS(spsc_queue), next_item(), SLEEP);
    if (r != 0) __atomic_fetch_add(&s->seats[me].begun, -1, __ATOMIC_SEQ_CST);
  } else if (me == 1) {
    r = weft_spsc_queue_pop_int(AS(spsc_queue), &item, SLEEP);
    if (r == 0) receive_item(item);
  } else {
    usleep(1000);
  }
  if (r != 0 && r != ETIMEDOUT) problem("push or pop", r, me);
}

static void spsc_queue_dead(int32_t id, int which) {
  int32_t freed = weft_spsc_queue_abandon(AS(spsc_queue), id);
  if (freed > 1) problem("two roles of one agent", freed, which);
}

static void lock_free_queue_step(void) {
  int32_t item = 0;
  if (me % 2 == 0) {
    if (weft_lock_free_queue_push_int(AS(lock_free_queue), next_item(),
                                      SLEEP) != 0)
      __atomic_fetch_add(&s->seats[me].begun, -1, __ATOMIC_SEQ_CST);
  } else if (weft_lock_free_queue_pop_int(AS(lock_free_queue), &item, SLEEP) ==
             0) {
    receive_item(item);
  }
}

static void work_deque_step(void) {
  int32_t item = 0;
  if (me == 0) {
    int32_t next = next_item();
    int r = weft_work_deque_push(AS(work_deque), next);
    if (r == EPERM) { /* the owner before us is dead */
      r = weft_work_deque_adopt(AS(work_deque));
      if (r != 0) problem("adopt", r, me);
      r = weft_work_deque_push(AS(work_deque), next);
    }
    if (r != 0) {
      __atomic_fetch_add(&s->seats[me].begun, -1, __ATOMIC_SEQ_CST);
      if (weft_work_deque_pop(AS(work_deque), &item) == 0) receive_item(item);
    }
  } else if (weft_work_deque_steal(AS(work_deque), &item) == 0) {
    receive_item(item);
  } else {
    pause_a_little();
  }
}

static void work_deque_dead(int32_t id, int which) {
  int32_t freed = weft_work_deque_abandon(AS(work_deque), id);
  if (freed > 0 && which != 0) problem("a thief owned it", freed, which);
}

typedef struct {
  int32_t item;
  int32_t length;
  int32_t check[30];
} record;

static void record_ring_step(void) {
  record r;
  if (me != 1) {
    r.item = next_item();
    r.length = 8 + (r.item * 7 & 63) % 30 * 4;
    for (int i = 0; i < 30; i++) r.check[i] = r.item ^ i;
    if (weft_record_ring_push(AS(record_ring), &r, r.length, SLEEP) != 0)
      __atomic_fetch_add(&s->seats[me].begun, -1, __ATOMIC_SEQ_CST);
    return;
  }
  int32_t length = (int32_t)sizeof r;
  if (weft_record_ring_pop(AS(record_ring), &r, &length, SLEEP) != 0) return;
  if (r.length != length) problem("a torn record", r.length, length);
  for (int i = 0; i < length / 4 - 2; i++)
    if (r.check[i] != (r.item ^ i)) problem("a wrong word", r.item, i);
  receive_item(r.item);
}

static void record_ring_dead(int32_t id, int which) {
  (void)which;
  /* Another agent may have the claim just now, and will end it. */
  for (int i = 0; i < 1000000; i++) {
    if (weft_record_ring_abandon(AS(record_ring), id) >= 0) return;
    pause_a_little();
  }
  problem("a claim never ended", id, 0);
}

/* ---- slab_pool
 * ---------------------------------------------------------------- */

static void slab_pool_step(void) {
  int32_t *block = (int32_t *)weft_slab_pool_allocate(AS(slab_pool), NULL);
  if (block == NULL) {
    pause_a_little();
    return;
  }
  int32_t id = weft_agent_id();
  block[0] = id;
  for (int i = 0; i < 20; i++) __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (block[0] != id) problem("a block of two owners", block[0], id);
  if (weft_slab_pool_free(AS(slab_pool), block, NULL) != 0)
    problem("free", 0, 0);
}

static void slab_pool_dead(int32_t id, int which) {
  (void)which;
  weft_slab_pool_abandon(AS(slab_pool), id, true);
}

/* ---- hash_map ---------------------------------------------------------------
 */

/* Room for all keys of all agents, and for an entry in the hands of each. */
enum { MAP_CAPACITY = 72, CACHE_CAPACITY = 24 };
/* If most values are long, there is no room for some of them. */
enum { MAP_BLOCKS = 120, CACHE_BLOCKS = 36 };
/* The same if most keys are long, too. */
enum { KEYS_BLOCKS = 190, KEYS_CACHE_BLOCKS = 70 };

static void hash_map_step(void) {
  static __thread map_user own;
  static __thread int32_t id;
  if (id != weft_agent_id()) { /* it replaces one that was killed */
    id = weft_agent_id();
    map_begin(&own, AS(hash_map), MAP_OWNED, AGENTS, me, (uint32_t)id * 77);
  }
  map_step(&own);
}

static void hash_map_dead(int32_t id, int which) {
  int32_t count = weft_hash_map_abandon(AS(hash_map), id);
  /* One that evicts holds two buckets. */
  if (count < 0 || count > 2) problem("buckets of a dead agent", count, which);
}

/* ---- the supervisor ---------------------------------------------------------
 */

typedef struct {
  const char *name;
  void (*step)(void);
  void (*dead)(int32_t id, int which);
  bool items;
} kind;

static const kind KINDS[] = {
    {"mutex", mutex_step, mutex_dead, false},
    {"rw_lock", rw_lock_step, rw_lock_dead, false},
    {"spsc_queue", spsc_queue_step, spsc_queue_dead, true},
    {"lock_free_queue", lock_free_queue_step, NULL, true},
    {"record_ring", record_ring_step, record_ring_dead, true},
    {"work_deque", work_deque_step, work_deque_dead, true},
    {"slab_pool", slab_pool_step, slab_pool_dead, false},
    {"hash_map", hash_map_step, hash_map_dead, false},
    {"hash_map_cache", hash_map_step, hash_map_dead, false},
    {"hash_map_long", hash_map_step, hash_map_dead, false},
    {"hash_map_long_cache", hash_map_step, hash_map_dead, false},
    {"hash_map_long_keys", hash_map_step, hash_map_dead, false},
    {"hash_map_long_keys_cache", hash_map_step, hash_map_dead, false},
};

static void make(const char *name) {
  const weft_queue_config queue = {64, 4};
  memset(s->arena, 0, ARENA);
  bool made = true;
  if (strcmp(name, "spsc_queue") == 0)
    made = weft_spsc_queue_init(s->arena, ARENA, queue) != NULL;
  if (strcmp(name, "lock_free_queue") == 0)
    made = weft_lock_free_queue_init(s->arena, ARENA, queue) != NULL;
  if (strcmp(name, "record_ring") == 0) {
    const weft_record_ring_config config = {.capacity = 4096};
    made = weft_record_ring_init(s->arena, ARENA, config) != NULL;
  }
  if (strcmp(name, "work_deque") == 0)
    made = weft_work_deque_init(s->arena, ARENA, 64) != NULL;
  if (strcmp(name, "slab_pool") == 0) {
    const weft_slab_config config = {16, 64};
    made = weft_slab_pool_init(s->arena, ARENA, config) != NULL;
  }
  if (strncmp(name, "hash_map", 8) == 0) {
    bool evicts = strstr(name, "cache") != NULL;
    int32_t capacity = evicts ? CACHE_CAPACITY : MAP_CAPACITY;
    bool long_keys = strstr(name, "keys") != NULL;
    int32_t blocks = evicts ? CACHE_BLOCKS : MAP_BLOCKS;
    if (long_keys) blocks = evicts ? KEYS_CACHE_BLOCKS : KEYS_BLOCKS;
    if (strstr(name, "long") == NULL) blocks = 0;
    made = map_make(s->arena, ARENA, capacity, evicts, blocks, long_keys);
  }
  if (!made) abort();
}

static void drain(const char *name) {
  int32_t item = 0;
  record r;
  int32_t length = (int32_t)sizeof r;
  me = 0;
  if (strcmp(name, "record_ring") == 0) {
    /* A consumer that ended by itself is still the one that may pop. */
    int32_t consumer = AS(record_ring)->consumer;
    if (consumer != 0) weft_record_ring_abandon(AS(record_ring), consumer);
  }
  if (strcmp(name, "spsc_queue") == 0) {
    int32_t consumer = AS(spsc_queue)->consumer;
    if (consumer != 0) weft_spsc_queue_abandon(AS(spsc_queue), consumer);
  }
  for (int32_t i = 0; i < 1 << 16; i++) {
    int failed = EBUSY;
    if (strcmp(name, "spsc_queue") == 0)
      failed = weft_spsc_queue_try_pop_int(AS(spsc_queue), &item);
    else if (strcmp(name, "lock_free_queue") == 0)
      failed = weft_lock_free_queue_try_pop_int(AS(lock_free_queue), &item);
    else if (strcmp(name, "work_deque") == 0)
      failed = weft_work_deque_steal(AS(work_deque), &item);
    else if (strcmp(name, "record_ring") == 0) {
      failed = weft_record_ring_try_pop(AS(record_ring), &r, &length);
      length = (int32_t)sizeof r;
      item = r.item;
    }
    if (failed != 0) return;
    receive_item(item);
  }
  problem("the queue never ends", 0, 0);
}

/* The primitive still does all it can do, when only one agent is left. */
static void check_whole(const char *name) {
  int32_t pushed = 0, popped = 0, item = 0;
  if (strcmp(name, "lock_free_queue") == 0) {
    weft_lock_free_queue_repair(AS(lock_free_queue));
    while (pushed <= 64 &&
           weft_lock_free_queue_try_push_int(AS(lock_free_queue), 1) == 0)
      pushed++;
    while (weft_lock_free_queue_try_pop_int(AS(lock_free_queue), &item) == 0)
      popped++;
    if (pushed != 64 || popped != 64) problem("capacity", pushed, popped);
  }
  if (strcmp(name, "slab_pool") == 0) {
    int32_t left = weft_slab_pool_available(AS(slab_pool));
    if (left != 16) problem("blocks", left, 16);
  }
  if (strncmp(name, "hash_map", 8) == 0) {
    static map_user last;
    map_begin(&last, AS(hash_map), MAP_OWNED, 0, 0, 1);
    map_check_whole(&last);
  }
  if (strcmp(name, "mutex") == 0) {
    int r = weft_mutex_try_lock(AS(mutex));
    if (r != 0 && r != EOWNERDEAD) problem("still locked", r, 0);
  }
  if (strcmp(name, "rw_lock") == 0) {
    int r = weft_rw_lock_try_write(AS(rw_lock));
    if (r != 0 && r != EOWNERDEAD) problem("still locked", r, 0);
  }
}

static int32_t next_id = 1;

/* What an agent does until it is killed, or told to stop. */
static void be_agent(const kind *k, int which, int32_t id) {
  me = which;
  weft_agent_set_id(id);
  __atomic_fetch_add(&s->seats[which].begins, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&s->stop, __ATOMIC_SEQ_CST) == 0 && !is_full()) {
    k->step();
    s->seats[which].operations++;
  }
}

/* How many elements are lost after `killed` kills, when all have stopped. */
static int64_t lost_after(const kind *k, int64_t killed) {
  if (!k->items) return 0;
  drain(k->name);
  int64_t begun = 0, received = 0;
  for (int i = 0; i < AGENTS; i++) {
    begun += s->seats[i].begun;
    received += s->seats[i].received;
  }
  /* A push that was killed may have been done or not, and so may the
     note that it began; either costs one. */
  if (begun - received > killed || received - begun > killed)
    problem("lost more than one a kill", (int32_t)(begun - received),
            (int32_t)killed);
  return begun - received;
}

static int64_t steps_done(void) {
  int64_t sum = 0;
  for (int i = 0; i < AGENTS; i++) sum += s->seats[i].operations;
  return sum;
}

#ifndef __EMSCRIPTEN__
static pid_t pids[AGENTS];

static void start(const kind *k, int which) {
  int32_t id = next_id++;
  s->seats[which].id = id;
  pid_t pid = fork();
  if (pid < 0) {
    perror("fork");
    exit(2);
  }
  pids[which] = pid;
  if (pid > 0) return;
  /* The supervisor goes first, or it could kill only now and then. */
  if (nice(10) == -1) errno = 0;
  be_agent(k, which, id);
  _exit(0);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t random_state;

static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % n;
}

static void reap(int which) {
  if (waitpid(pids[which], NULL, 0) < 0) perror("waitpid");
}

int main(int count, char **words) {
  if (count != 4) {
    fprintf(stderr, "usage: kills PRIMITIVE SECONDS SEED\n");
    return 2;
  }
  const kind *k = NULL;
  for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
    if (strcmp(KINDS[i].name, words[1]) == 0) k = &KINDS[i];
  if (k == NULL) {
    fprintf(stderr, "no primitive here is called %s\n", words[1]);
    return 2;
  }
  random_state = (uint32_t)atoi(words[3]);
  s = (shared *)mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) {
    perror("mmap");
    return 2;
  }
  double end = now() + atof(words[2]);
  int64_t kills = 0, operations = 0, lost = 0, allowed = 0;
  weft_agent_set_id(0x0ffffff);
  while (now() < end) {
    /* A round ends when the numbers of items are used up, or after 2,000
       kills, so that what was lost is counted again and again. */
    memset(s, 0, offsetof(shared, arena));
    make(k->name);
    for (int i = 0; i < AGENTS; i++) start(k, i);
    int64_t killed = 0;
    while (now() < end && killed < 2000) {
      usleep(random_below(300));
      int which = (int)random_below(AGENTS);
      if (strcmp(k->name, "rw_lock") == 0) which &= ~1;
      kill(pids[which], SIGKILL);
      reap(which);
      killed++;
      if (k->dead != NULL) k->dead(s->seats[which].id, which);
      if (s->seats[which].begun >= ITEMS - 4096) {
        start(k, which);
        break;
      }
      start(k, which);
    }
    __atomic_store_n(&s->stop, 1, __ATOMIC_SEQ_CST);
    double limit = now() + 60;
    for (int i = 0; i < AGENTS; i++) {
      /* Whoever sleeps looks again after a few ms, and then stops. */
      int left = 0;
      while (now() < limit &&
             (left = (int)waitpid(pids[i], NULL, WNOHANG)) == 0)
        usleep(200);
      if (left == 0) {
        problem("an agent hangs", i, 0);
        kill(pids[i], SIGKILL);
        reap(i);
      }
    }
    lost += lost_after(k, killed);
    if (k->items) allowed += killed;
    check_whole(k->name);
    operations += steps_done();
    kills += killed;
    if (s->problems > 0) break;
  }
  printf(
      "{\"kills\":%lld,\"operations\":%lld,\"lost\":%lld,"
      "\"allowed\":%lld,\"problems\":%d}\n",
      (long long)kills, (long long)operations, (long long)lost,
      (long long)allowed, (int)s->problems);
  return s->problems == 0 ? 0 : 1;
}

#else /* the functions that emscripten.ts calls */

static shared all;
static const kind *of_round;

/* The name of a kind, or NULL. */
EMSCRIPTEN_KEEPALIVE const char *kind_name(int number) {
  return number < (int)(sizeof KINDS / sizeof *KINDS) ? KINDS[number].name
                                                      : NULL;
}

EMSCRIPTEN_KEEPALIVE void begin_round(int number) {
  s = &all;
  memset(s, 0, offsetof(shared, arena));
  of_round = &KINDS[number];
  weft_agent_set_id(0x0ffffff);
  make(of_round->name);
}

static void *thread_of(void *which) {
  int seat = (int)(intptr_t)which;
  be_agent(of_round, seat, s->seats[seat].id);
  __atomic_fetch_add(&s->seats[seat].ends, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* Starts a thread; 0 if that fails. */
EMSCRIPTEN_KEEPALIVE pthread_t begin_agent(int which) {
  /* What a killed thread had allocated is never freed, so its stack is not. */
  static _Alignas(16) char stacks[AGENTS][1 << 16];
  pthread_t thread;
  pthread_attr_t attributes;
  s->seats[which].id = next_id++;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstack(&attributes, stacks[which], sizeof stacks[which]);
  int failed =
      pthread_create(&thread, &attributes, thread_of, (void *)(intptr_t)which);
  return failed ? 0 : thread;
}

/* How many agents have begun to use the primitive at this seat. */
EMSCRIPTEN_KEEPALIVE int32_t agents_begun(int which) {
  return __atomic_load_n(&s->seats[which].begins, __ATOMIC_SEQ_CST);
}

/* How many agents have stopped at this seat, and were not killed. */
EMSCRIPTEN_KEEPALIVE int32_t agents_ended(int which) {
  return __atomic_load_n(&s->seats[which].ends, __ATOMIC_SEQ_CST);
}

/* Whether the items of this seat are used up. */
EMSCRIPTEN_KEEPALIVE bool is_used_up(int which) {
  return s->seats[which].begun >= ITEMS - 4096;
}

/* Does what survivors do when the agent of this seat was killed. */
EMSCRIPTEN_KEEPALIVE void bury(int which) {
  if (of_round->dead != NULL) of_round->dead(s->seats[which].id, which);
}

EMSCRIPTEN_KEEPALIVE void stop_all(void) {
  __atomic_store_n(&s->stop, 1, __ATOMIC_SEQ_CST);
}

/* Ends a round of kills; how many elements are lost. */
EMSCRIPTEN_KEEPALIVE int32_t end_round(int32_t killed) {
  int64_t lost = lost_after(of_round, killed);
  check_whole(of_round->name);
  return (int32_t)lost;
}

EMSCRIPTEN_KEEPALIVE bool has_items(void) { return of_round->items; }
EMSCRIPTEN_KEEPALIVE double steps(void) { return (double)steps_done(); }
EMSCRIPTEN_KEEPALIVE int32_t problems(void) { return s->problems; }
#endif
