/* Every operation of weft.h against a plain sequential model, by one thread
   that plays several agents; counters start just before they wrap. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

/* ---- agent ---------------------------------------------------------------- */

static void agent_ids(void) {
  int32_t id = weft_agent_id();
  CHECK(id >= 1 && id <= 0x0fffffff);
  EQUAL(weft_agent_id(), id);
  EQUAL(weft_agent_set_id(7), 0);
  EQUAL(weft_agent_id(), 7);
  EQUAL(weft_agent_set_id(0x0fffffff), 0);
  EQUAL(weft_agent_id(), 0x0fffffff);
  EQUAL(weft_agent_set_id(0), EINVAL);
  EQUAL(weft_agent_set_id(-1), EINVAL);
  EQUAL(weft_agent_set_id(0x10000000), EINVAL);
  EQUAL(weft_agent_id(), 0x0fffffff);
  EQUAL(weft_agent_set_id(1), 0);
}

/* ---- mutex ---------------------------------------------------------------- */

/* Answers what `weft_mutex_lock` does when agent `id` calls it. */
static int lock_as(weft_mutex *m, int32_t id, int64_t timeout) {
  weft_agent_set_id(id);
  return weft_mutex_lock(m, timeout);
}

static void mutex_by_turns(void) {
  weft_mutex m;
  memset(&m, 0xff, sizeof m);
  CHECK(weft_mutex_init(&m, sizeof m) != NULL);
  EQUAL(m.state, 0);
  EQUAL(m.starving, 0);
  uint32_t seed = 1;
  int32_t owner = 0;
  bool abandoned = false;
  for (int i = 0; i < 20000; i++) {
    int32_t id = 1 + random_below(&seed, 3);
    weft_agent_set_id(id);
    switch (random_below(&seed, 4)) {
      case 0: {
        int wanted = owner ? EBUSY : abandoned ? EOWNERDEAD : 0;
        EQUAL(weft_mutex_try_lock(&m), wanted);
        if (wanted == EBUSY) break;
        owner = id;
        abandoned = false;
        break;
      }
      case 1: {
        int wanted = owner == id ? EDEADLK
                     : owner     ? ETIMEDOUT
                     : abandoned ? EOWNERDEAD
                                 : 0;
        EQUAL(weft_mutex_lock(&m, 0), wanted);
        if (wanted == EDEADLK || wanted == ETIMEDOUT) break;
        owner = id;
        abandoned = false;
        break;
      }
      case 2:
        EQUAL(weft_mutex_unlock(&m), owner == id ? 0 : EPERM);
        if (owner == id) owner = 0;
        break;
      default: {
        int32_t dead = random_below(&seed, 4);
        bool held = dead != 0 && dead == owner;
        EQUAL(weft_mutex_abandon(&m, dead), held ? 1 : 0);
        if (!held) break;
        owner = 0;
        abandoned = true;
      }
    }
    EQUAL(weft_mutex_owner(&m), owner);
  }
}

static void mutex_errors(void) {
  weft_mutex m = {0, 0};
  UNCHANGED(&m, sizeof m, (weft_agent_set_id(5), weft_mutex_unlock(&m)), EPERM);
  EQUAL(lock_as(&m, 5, WEFT_FOREVER), 0);
  EQUAL(m.state, 5);
  UNCHANGED(&m, sizeof m, weft_mutex_lock(&m, WEFT_FOREVER), EDEADLK);
  UNCHANGED(&m, sizeof m, weft_mutex_try_lock(&m), EBUSY);
  weft_agent_set_id(6);
  UNCHANGED(&m, sizeof m, weft_mutex_try_lock(&m), EBUSY);
  UNCHANGED(&m, sizeof m, weft_mutex_unlock(&m), EPERM);
  UNCHANGED(&m, sizeof m, weft_mutex_abandon(&m, 6), 0);
  UNCHANGED(&m, sizeof m, weft_mutex_abandon(&m, 0), 0);
  TAKES(20, weft_mutex_lock(&m, 20 * MS), ETIMEDOUT);
  EQUAL(weft_mutex_owner(&m), 5);
  weft_agent_set_blocking(false);
  UNCHANGED(&m, sizeof m, weft_mutex_lock(&m, WEFT_FOREVER), EPERM);
  weft_agent_set_blocking(true);
  EQUAL(weft_mutex_abandon(&m, 5), 1);
  EQUAL(weft_mutex_owner(&m), 0);
  EQUAL(lock_as(&m, 6, WEFT_FOREVER), EOWNERDEAD);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(lock_as(&m, 6, WEFT_FOREVER), 0);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(m.state & WEFT_MUTEX_OWNER_MASK, 0);
}

/* Kept for a sleeper that was terminated: anyone has it after a while. */
static void mutex_handoff_to_nobody(void) {
  weft_mutex m = {WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT, 1};
  TAKES(0, lock_as(&m, 4, 500 * MS), 0);
  EQUAL(weft_mutex_owner(&m), 4);
  EQUAL(weft_mutex_unlock(&m), 0);
  EQUAL(lock_as(&m, 5, 0), 0);
  EQUAL(weft_mutex_unlock(&m), 0);
  m.state = WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT;
  EQUAL(weft_mutex_try_lock(&m), 0);
  EQUAL(m.state, 5 | WEFT_MUTEX_CONTENDED_BIT);
  EQUAL(weft_mutex_unlock(&m), 0);
}

/* ---- attaching -------------------------------------------------------------- */

/* Room for any of the small primitives here, between two guards. */
static int32_t arena[4096];

/* Attaching to anything but what lies there is refused, and changes nothing. */
static void attach_wrongly(int32_t kind, void *(*attach)(void *),
                           int first_torn, int last_torn) {
  CHECK(attach(arena) == (void *)arena);
  CHECK(weft_attach_error(arena, kind) == NULL);
  for (int32_t other = 0; other < 7; other++) {
    if (other == kind) continue;
    const char *error = weft_attach_error(arena, other);
    EQUAL(strcmp(error, "a primitive of another kind"), 0);
  }
  const int32_t magic = arena[0];
  EQUAL(magic, 0x57460000 | kind << 8 | WEFT_VERSION);
  const struct {
    int32_t magic;
    const char *error;
  } wrong[] = {
      {0, "no initialized primitive here"},
      {-1, "no initialized primitive here"},
      {magic ^ 0x10000, "no initialized primitive here"},
      {magic ^ 0x0700, "a primitive of another kind"},
      {magic + 1, "another layout version"},
      {magic & ~0xff, "another layout version"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    arena[0] = wrong[i].magic;
    UNCHANGED(arena, 1024, attach(arena) == NULL, true);
    EQUAL(strcmp(weft_attach_error(arena, kind), wrong[i].error), 0);
  }
  arena[0] = magic;
  for (int word = first_torn; word <= last_torn; word++) {
    for (int bit = 0; bit < 32; bit++) {
      arena[word] ^= (int32_t)(UINT32_C(1) << bit);
      UNCHANGED(arena, 1024, attach(arena) == NULL, true);
      EQUAL(strcmp(weft_attach_error(arena, kind),
                   "the configuration does not match its seal"),
            0);
      arena[word] ^= (int32_t)(UINT32_C(1) << bit);
    }
  }
  for (int off = 1; off < 4; off++) {
    void *at = (char *)arena + off;
    UNCHANGED(arena, 1024, attach(at) == NULL, true);
    EQUAL(strcmp(weft_attach_error(at, kind), "not a multiple of 4"), 0);
  }
  CHECK(attach(NULL) == NULL);
  CHECK(attach(arena) == (void *)arena);
}

static void *attach_semaphore(void *at) { return weft_semaphore_attach(at); }
static void *attach_spsc(void *at) { return weft_spsc_queue_attach(at); }
static void *attach_mpmc(void *at) { return weft_mpmc_queue_attach(at); }
static void *attach_work(void *at) { return weft_work_counter_attach(at); }

static void attaching(void) {
  const weft_queue_config config = {4, 12};
  const weft_work_config chunks = {3, 0};
  memset(arena, 0xa5, sizeof arena);
  CHECK(weft_semaphore_init(arena, sizeof arena, 3) != NULL);
  attach_wrongly(WEFT_KIND_semaphore, attach_semaphore, 1, 1);
  CHECK(weft_spsc_queue_init(arena, sizeof arena, config) != NULL);
  attach_wrongly(WEFT_KIND_spsc_queue, attach_spsc, 1, 3);
  CHECK(weft_mpmc_queue_init(arena, sizeof arena, config) != NULL);
  attach_wrongly(WEFT_KIND_mpmc_queue, attach_mpmc, 1, 3);
  CHECK(weft_work_counter_init(arena, sizeof arena, 10, chunks) != NULL);
  attach_wrongly(WEFT_KIND_work_counter, attach_work, 1, 3);
}

/* `call` answers NULL and changes nothing in the arena. */
#define REFUSED(call) UNCHANGED(arena, 1024, (call) == NULL, true)

static void init_refuses(void) {
  void *odd = (char *)arena + 2;
  const weft_queue_config good = {4, 4};
  const weft_work_config single = {1, 0};
  memset(arena, 0xa5, sizeof arena);
  REFUSED(weft_semaphore_init(arena, sizeof arena, -1));
  REFUSED(weft_semaphore_init(arena, sizeof arena, 0x40000000));
  REFUSED(weft_semaphore_init(arena, sizeof arena, INT32_MIN));
  REFUSED(weft_semaphore_init(odd, sizeof arena, 1));
  REFUSED(weft_semaphore_init(NULL, sizeof arena, 1));
  const weft_queue_config wrong[] = {
      {0, 4},          {-1, 4},         {INT32_MIN, 4},
      {4, 0},          {4, 2},          {4, 6},
      {4, -4},         {1, INT32_MAX},  {(1 << 28) + 1, 4},
      {1 << 29, 4},    {INT32_MAX, 4},  {3, 1 << 29},
      {(1 << 27) + 1, 8}, {357913942, 12},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    EQUAL(weft_spsc_queue_bytes(wrong[i]), 0);
    EQUAL(weft_mpmc_queue_bytes(wrong[i]), 0);
    REFUSED(weft_spsc_queue_init(arena, sizeof arena, wrong[i]));
    REFUSED(weft_mpmc_queue_init(arena, sizeof arena, wrong[i]));
  }
  REFUSED(weft_spsc_queue_init(odd, sizeof arena, good));
  REFUSED(weft_spsc_queue_init(NULL, sizeof arena, good));
  REFUSED(weft_mpmc_queue_init(odd, sizeof arena, good));
  REFUSED(weft_mpmc_queue_init(NULL, sizeof arena, good));
  const weft_work_config bad[] = {
      {0, 0}, {-1, 0}, {(1 << 30) + 1, 0}, {1, -1}, {1, (1 << 16) + 1},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    REFUSED(weft_work_counter_init(arena, sizeof arena, 10, bad[i]));
  REFUSED(weft_work_counter_init(arena, sizeof arena, -1, single));
  REFUSED(weft_work_counter_init(arena, sizeof arena, (1 << 30) + 1, single));
  REFUSED(weft_work_counter_init(odd, sizeof arena, 10, single));
  REFUSED(weft_work_counter_init(NULL, sizeof arena, 10, single));
}

static void lengths(void) {
  const struct {
    weft_queue_config config;
    size_t capacity, spsc, mpmc;
  } rows[] = {
      {{1, 4}, 1, 384 + 4, 640 + 16},
      {{3, 4}, 4, 384 + 16, 640 + 64},
      {{4, 8}, 4, 384 + 32, 640 + 64},
      {{5, 12}, 8, 384 + 96, 640 + 192},
      {{8, 64}, 8, 384 + 512, 640 + 8 * 72},
      {{1 << 28, 4}, 1 << 28, 384 + (1u << 30), 640 + ((size_t)1 << 32)},
      {{1, 1 << 30}, 1, 384 + (1u << 30), 640 + (1u << 30) + 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    EQUAL(weft_spsc_queue_bytes(rows[i].config), rows[i].spsc);
    EQUAL(weft_mpmc_queue_bytes(rows[i].config), rows[i].mpmc);
    if (rows[i].spsc > sizeof arena) continue;
    /* Init writes those bytes and no other. */
    memset(arena, 0xa5, sizeof arena);
    weft_spsc_queue *s =
        weft_spsc_queue_init(arena + 1, sizeof arena - 4, rows[i].config);
    EQUAL(weft_spsc_queue_capacity(s), rows[i].capacity);
    EQUAL(weft_spsc_queue_element_size(s), rows[i].config.element_size);
    EQUAL(arena[0], (int32_t)0xa5a5a5a5);
    EQUAL(arena[1 + rows[i].spsc / 4], (int32_t)0xa5a5a5a5);
    CHECK(arena[rows[i].spsc / 4] != (int32_t)0xa5a5a5a5);
    memset(arena, 0xa5, sizeof arena);
    weft_mpmc_queue *m =
        weft_mpmc_queue_init(arena + 1, sizeof arena - 4, rows[i].config);
    EQUAL(weft_mpmc_queue_capacity(m), rows[i].capacity);
    EQUAL(weft_mpmc_queue_element_size(m), rows[i].config.element_size);
    EQUAL(arena[0], (int32_t)0xa5a5a5a5);
    EQUAL(arena[1 + rows[i].mpmc / 4], (int32_t)0xa5a5a5a5);
    CHECK(arena[rows[i].mpmc / 4] != (int32_t)0xa5a5a5a5);
    /* Elements lie at multiples of 8 bytes from the queue's place. */
    for (size_t n = 0; n < rows[i].capacity; n++) {
      void *slot = weft_mpmc_queue_reserve(m);
      EQUAL(((char *)slot - (char *)m) % 8, 0);
      weft_mpmc_queue_commit(m, slot);
    }
  }
  EQUAL(weft_semaphore_bytes(), 32);
  EQUAL(weft_work_counter_bytes(), 268);
}

/* ---- semaphore --------------------------------------------------------------- */

static void semaphore_by_turns(void) {
  const int32_t starts[] = {0, 5, WEFT_SEMAPHORE_MAX, WEFT_SEMAPHORE_MAX - 4};
  uint32_t seed = 2;
  for (int start = 0; start < 4; start++) {
    int32_t permits = starts[start];
    weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, permits);
    for (int i = 0; i < 5000; i++) {
      int32_t n = 1 + random_below(&seed, 6);
      switch (random_below(&seed, 3)) {
        case 0: {
          bool fits = permits <= WEFT_SEMAPHORE_MAX - n;
          EQUAL(weft_semaphore_release(s, n), fits ? 0 : EINVAL);
          if (fits) permits += n;
          break;
        }
        case 1:
          EQUAL(weft_semaphore_try_acquire(s, n), n <= permits ? 0 : EBUSY);
          if (n <= permits) permits -= n;
          break;
        default:
          EQUAL(weft_semaphore_acquire(s, n, 0), n <= permits ? 0 : ETIMEDOUT);
          if (n <= permits) permits -= n;
      }
      EQUAL(weft_semaphore_available(s), permits);
      EQUAL(s->permits, permits);
      EQUAL(s->waiters | s->bulk | s->claimant | s->claim, 0);
    }
  }
}

static void semaphore_errors(void) {
  weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, 2);
  const int32_t wrong[] = {0, -1, INT32_MIN, INT32_MAX, 0x40000000};
  for (int i = 0; i < 5; i++) {
    UNCHANGED(s, 32, weft_semaphore_try_acquire(s, wrong[i]), EINVAL);
    UNCHANGED(s, 32, weft_semaphore_acquire(s, wrong[i], 0), EINVAL);
    UNCHANGED(s, 32, weft_semaphore_release(s, wrong[i]), EINVAL);
  }
  UNCHANGED(s, 32, weft_semaphore_release(s, WEFT_SEMAPHORE_MAX - 1), EINVAL);
  UNCHANGED(s, 32, weft_semaphore_try_acquire(s, 3), EBUSY);
  UNCHANGED(s, 32, weft_semaphore_acquire(s, 1, 0) +
            weft_semaphore_release(s, 1), 0);
  weft_agent_set_blocking(false);
  UNCHANGED(s, 32, weft_semaphore_acquire(s, 1, WEFT_FOREVER), EPERM);
  weft_agent_set_blocking(true);
  UNCHANGED(s, 32, weft_semaphore_abandon(s, 1), 0);
  UNCHANGED(s, 32, weft_semaphore_abandon(s, 0), 0);
  TAKES(20, weft_semaphore_acquire(s, 3, 20 * MS), ETIMEDOUT);
  EQUAL(s->permits, 2);
  EQUAL(weft_semaphore_acquire(s, 2, WEFT_FOREVER), 0);
  TAKES(20, weft_semaphore_acquire(s, 1, 20 * MS), ETIMEDOUT);
  EQUAL(weft_semaphore_release(s, WEFT_SEMAPHORE_MAX), 0);
  EQUAL(weft_semaphore_available(s), WEFT_SEMAPHORE_MAX);
  EQUAL(s->waiters | s->bulk | s->claimant | s->claim, 0);
}

/* An agent was terminated with a claim: its permits come back, once. */
static void semaphore_abandon_claim(void) {
  weft_semaphore *s = weft_semaphore_init(arena, sizeof arena, 2);
  s->permits = 2 - 5;
  s->claimant = 77;
  s->claim = 5;
  EQUAL(weft_semaphore_available(s), 0);
  UNCHANGED(s, 32, weft_semaphore_try_acquire(s, 1), EBUSY);
  UNCHANGED(s, 32, weft_semaphore_abandon(s, 78), 0);
  EQUAL(weft_semaphore_abandon(s, 77), 5);
  EQUAL(s->permits, 2);
  EQUAL(s->claimant | s->claim, 0);
  UNCHANGED(s, 32, weft_semaphore_abandon(s, 77), 0);
}

/* ---- queues -------------------------------------------------------------------- */

/* A queue of either kind, so that one model does for both. */
typedef struct {
  bool mpmc;
  void *at;
  weft_queue_config config;
  int32_t capacity;
  /* the model: elements as the first word of each */
  int32_t items[64];
  int32_t size;
  bool closed;
} queue;

#define ON(q, operation, ...)                                              \
  ((q)->mpmc                                                               \
       ? weft_mpmc_queue_##operation((weft_mpmc_queue *)(q)->at, __VA_ARGS__) \
       : weft_spsc_queue_##operation((weft_spsc_queue *)(q)->at, __VA_ARGS__))
#define OF(q, property)                                              \
  ((q)->mpmc ? weft_mpmc_queue_##property((weft_mpmc_queue *)(q)->at) \
             : weft_spsc_queue_##property((weft_spsc_queue *)(q)->at))

/* Makes a queue whose counters stand `start` operations from their wrap. */
static void queue_init(queue *q, bool mpmc, int32_t capacity, int32_t size,
                       int32_t start) {
  memset(q, 0, sizeof *q);
  q->mpmc = mpmc;
  q->at = arena;
  q->config.capacity = capacity;
  q->config.element_size = size;
  if (mpmc) {
    weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, q->config);
    q->capacity = m->capacity;
    int32_t ticket = start & ~1;
    m->head = m->tail = ticket;
    for (int32_t i = 0; i < m->capacity; i++) {
      int32_t t = weft__plus(ticket, i * 2);
      *weft__mpmc_slot(m, t) = t;
    }
    m->pop_epoch = m->push_epoch = start;
  } else {
    weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, q->config);
    q->capacity = s->capacity;
    s->head = s->tail = s->head_cache = s->tail_cache = start & ~3;
  }
}

/* An element that begins with `first`, and tells if it was torn. */
static void element(int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) at[i] = first + i * 1000003;
}

static void check_element(const int32_t *at, int32_t words, int32_t first) {
  for (int32_t i = 0; i < words; i++) EQUAL(at[i], first + i * 1000003);
}

static int32_t scratch[64 * 32];

static int push_one(queue *q, uint32_t *seed, int32_t value) {
  int32_t words = q->config.element_size / 4;
  element(scratch, words, value);
  int form = random_below(seed, 6);
  if (words > 1 && form < 2) form += 2;
  switch (form) {
    case 0:
      return ON(q, try_push_int, value);
    case 1: {
      int result = ON(q, push_int, value, 0);
      return result == ETIMEDOUT ? EBUSY : result;
    }
    case 2:
      return ON(q, try_push, scratch);
    case 3: {
      int result = ON(q, push, scratch, 0);
      return result == ETIMEDOUT ? EBUSY : result;
    }
    case 4: {
      int32_t count = ON(q, try_push_many, scratch, 1);
      return count < 0 ? -count : count == 1 ? 0 : EBUSY;
    }
    default: {
      void *slot = OF(q, reserve);
      if (slot == NULL) return q->closed ? EPIPE : EBUSY;
      element((int32_t *)slot, words, value);
      if (!q->mpmc) return weft_spsc_queue_commit((weft_spsc_queue *)q->at);
      weft_mpmc_queue_commit((weft_mpmc_queue *)q->at, slot);
      return 0;
    }
  }
}

static int pop_one(queue *q, uint32_t *seed, int32_t value) {
  int32_t words = q->config.element_size / 4;
  int result = 0;
  memset(scratch, 0, sizeof scratch);
  int form = random_below(seed, 6);
  if (words > 1 && form < 2) form += 2;
  switch (form) {
    case 0:
      result = ON(q, try_pop_int, scratch);
      break;
    case 1:
      result = ON(q, pop_int, scratch, 0);
      break;
    case 2:
      result = ON(q, try_pop, scratch);
      break;
    case 3:
      result = ON(q, pop, scratch, 0);
      break;
    case 4: {
      int32_t count = ON(q, try_pop_many, scratch, 1);
      result = count < 0 ? -count : count == 1 ? 0 : EBUSY;
      break;
    }
    default: {
      void *slot = OF(q, peek);
      if (slot == NULL) return q->size == 0 && q->closed ? EPIPE : EBUSY;
      memcpy(scratch, slot, (size_t)q->config.element_size);
      if (q->mpmc)
        weft_mpmc_queue_consume((weft_mpmc_queue *)q->at, slot);
      else
        weft_spsc_queue_consume((weft_spsc_queue *)q->at);
    }
  }
  if (result == ETIMEDOUT) result = EBUSY;
  if (result == 0) check_element(scratch, words, value);
  return result;
}

static void model_push(queue *q, int32_t value) { q->items[q->size++] = value; }

static int32_t model_pop(queue *q) {
  int32_t value = q->items[0];
  q->size--;
  memmove(q->items, q->items + 1, (size_t)q->size * sizeof *q->items);
  return value;
}

static void queue_step(queue *q, uint32_t *seed, int32_t *next) {
  int32_t words = q->config.element_size / 4;
  int32_t room = q->capacity - q->size;
  switch (random_below(seed, 4)) {
    case 0: {
      int wanted = q->closed ? EPIPE : room > 0 ? 0 : EBUSY;
      EQUAL(push_one(q, seed, *next), wanted);
      if (wanted == 0) model_push(q, (*next)++);
      break;
    }
    case 1: {
      int wanted = q->size > 0 ? 0 : q->closed ? EPIPE : EBUSY;
      EQUAL(pop_one(q, seed, q->items[0]), wanted);
      if (wanted == 0) model_pop(q);
      break;
    }
    case 2: {
      int32_t n = random_below(seed, 12);
      for (int32_t i = 0; i < n; i++)
        element(scratch + i * words, words, *next + i);
      int32_t count = n < room ? n : room;
      int32_t wanted = n == 0 ? 0 : q->closed ? -EPIPE : count;
      EQUAL(ON(q, try_push_many, scratch, n), wanted);
      for (int32_t i = 0; i < wanted; i++) model_push(q, (*next)++);
      break;
    }
    default: {
      int32_t n = random_below(seed, 12);
      int32_t count = n < q->size ? n : q->size;
      int32_t wanted =
          n > 0 && q->size == 0 && q->closed ? -EPIPE : count;
      memset(scratch, 0x77, sizeof scratch);
      EQUAL(ON(q, try_pop_many, scratch, n), wanted);
      for (int32_t i = 0; i < wanted; i++)
        check_element(scratch + i * words, words, model_pop(q));
      int32_t behind = wanted < 0 ? 0 : wanted * words;
      EQUAL(scratch[behind], 0x77777777);
    }
  }
  EQUAL(OF(q, size), q->size);
  EQUAL(OF(q, closed), q->closed);
  EQUAL(OF(q, capacity), q->capacity);
}

static void queues_by_turns(void) {
  const int32_t capacities[] = {1, 2, 3, 8, 16};
  const int32_t sizes[] = {4, 8, 12, 64};
  uint32_t seed = 3;
  for (int mpmc = 0; mpmc < 2; mpmc++)
    for (int c = 0; c < 5; c++)
      for (int s = 0; s < 4; s++)
        for (int start = 0; start < STARTS_COUNT; start++) {
          queue q;
          int32_t from = weft__minus(STARTS[start], random_below(&seed, 60));
          queue_init(&q, mpmc != 0, capacities[c], sizes[s], from);
          int32_t next = -40;
          int open = random_below(&seed, 300);
          for (int i = 0; i < 400; i++) {
            if (i == open) {
              OF(&q, close);
              OF(&q, close);
              q.closed = true;
            }
            queue_step(&q, &seed, &next);
          }
        }
}

/* Errors of a queue leave it as it was. */
static void queue_errors(void) {
  for (int mpmc = 0; mpmc < 2; mpmc++) {
    queue q;
    int32_t value = 0;
    queue_init(&q, mpmc != 0, 2, 4, -1);
    UNCHANGED(arena, 1024, ON(&q, try_push_many, scratch, -1), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, -1), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, INT32_MIN), -EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EBUSY);
    UNCHANGED(arena, 1024, OF(&q, peek) == NULL, true);
    weft_agent_set_blocking(false);
    UNCHANGED(arena, 1024, ON(&q, pop_int, &value, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, pop, &value, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, push_int, 1, WEFT_FOREVER), EPERM);
    UNCHANGED(arena, 1024, ON(&q, push, &value, WEFT_FOREVER), EPERM);
    weft_agent_set_blocking(true);
    TAKES(20, ON(&q, pop_int, &value, 20 * MS), ETIMEDOUT);
    EQUAL(ON(&q, push_int, 1, WEFT_FOREVER), 0);
    EQUAL(ON(&q, push_int, 2, WEFT_FOREVER), 0);
    TAKES(20, ON(&q, push_int, 3, 20 * MS), ETIMEDOUT);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EBUSY);
    UNCHANGED(arena, 1024, OF(&q, reserve) == NULL, true);
    EQUAL(OF(&q, size), 2);
    OF(&q, close);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, push_int, 3, WEFT_FOREVER), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_push_many, scratch, 5), -EPIPE);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), 0);
    EQUAL(value, 1);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), 0);
    EQUAL(value, 2);
    EQUAL(ON(&q, pop_int, &value, WEFT_FOREVER), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EPIPE);
    UNCHANGED(arena, 1024, ON(&q, try_pop_many, scratch, 5), -EPIPE);
    UNCHANGED(arena, 1024, ON(&q, pop, &value, WEFT_FOREVER), EPIPE);
    EQUAL(value, 2);
    /* elements that are not ints */
    queue_init(&q, mpmc != 0, 2, 8, 0);
    UNCHANGED(arena, 1024, ON(&q, try_push_int, 3), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, try_pop_int, &value), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, push_int, 3, WEFT_FOREVER), EINVAL);
    UNCHANGED(arena, 1024, ON(&q, pop_int, &value, WEFT_FOREVER), EINVAL);
  }
}

/* Closed between reserve and commit: the one tells, the other has its ticket. */
static void close_while_reserved(void) {
  const weft_queue_config config = {4, 4};
  int32_t value = 0;
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  int32_t *slot = (int32_t *)weft_spsc_queue_reserve(s);
  *slot = 9;
  weft_spsc_queue_close(s);
  EQUAL(weft_spsc_queue_commit(s), EPIPE);
  EQUAL(weft_spsc_queue_try_pop_int(s, &value), EPIPE);
  weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
  slot = (int32_t *)weft_mpmc_queue_reserve(m);
  *slot = 9;
  weft_mpmc_queue_close(m);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), EBUSY);
  weft_mpmc_queue_commit(m, slot);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), 0);
  EQUAL(value, 9);
  EQUAL(weft_mpmc_queue_try_pop_int(m, &value), EPIPE);
}

/* Slots of several agents are committed and consumed in any order. */
static void mpmc_slots_out_of_order(void) {
  const weft_queue_config config = {4, 8};
  weft_mpmc_queue *m = weft_mpmc_queue_init(arena, sizeof arena, config);
  int32_t *a = (int32_t *)weft_mpmc_queue_reserve(m);
  int32_t *b = (int32_t *)weft_mpmc_queue_reserve(m);
  a[0] = a[1] = 1;
  b[0] = b[1] = 2;
  weft_mpmc_queue_commit(m, b);
  CHECK(weft_mpmc_queue_peek(m) == NULL); /* a is not published yet */
  weft_mpmc_queue_commit(m, a);
  int32_t *first = (int32_t *)weft_mpmc_queue_peek(m);
  int32_t *second = (int32_t *)weft_mpmc_queue_peek(m);
  CHECK(first == a && second == b);
  weft_mpmc_queue_consume(m, second);
  int32_t filled = 0;
  for (; weft_mpmc_queue_try_push(m, scratch) == 0; filled++) {
  }
  EQUAL(filled, 2); /* b's slot is free, but stands behind a's */
  weft_mpmc_queue_consume(m, first);
  for (; weft_mpmc_queue_try_push(m, scratch) == 0; filled++) {
  }
  EQUAL(filled, 4);
}

/* ---- work counter ---------------------------------------------------------------- */

/* What a counter must hand out next, as the contract says. */
static int32_t share_of(weft_work_config config, int32_t left) {
  int32_t n = config.agents > 0 ? left / (2 * config.agents) : config.chunk;
  if (n < 1) n = 1;
  return n < left ? n : left;
}

static void work_by_turns(void) {
  const weft_work_config configs[] = {{1, 0},  {3, 0},       {64, 0},
                                      {1, 1},  {1, 2},       {9, 7},
                                      {1 << 30, 0}, {1, 1 << 16}};
  const int32_t totals[] = {0, 1, 2, 63, 64, 65, 1000};
  for (int c = 0; c < 8; c++)
    for (int t = 0; t < 7; t++)
      for (int by_one = 0; by_one < 2; by_one++) {
        const int32_t total = totals[t];
        weft_work_counter *w =
            weft_work_counter_init(arena, sizeof arena, total, configs[c]);
        weft_work_range range = {0, 0};
        int32_t at = 0, done = 0;
        while (at < total) {
          int32_t share = share_of(configs[c], total - at);
          EQUAL(weft_work_counter_remaining(w), total - at);
          EQUAL(weft_work_counter_wait(w, 0), ETIMEDOUT);
          if (by_one) {
            for (int32_t i = 0; i < share; i++)
              EQUAL(weft_work_counter_next(w, &range), at + i);
          } else {
            EQUAL(weft_work_counter_next_range(w, &range), share);
            EQUAL(range.start, at);
            EQUAL(range.end, at + share);
            range.start = range.end;
          }
          at += share;
          EQUAL(weft_work_counter_remaining(w), total - at);
          EQUAL(weft_work_counter_done(w, share), 0);
          done += share;
          EQUAL(weft_work_counter_completed(w), done);
        }
        for (int i = 0; i < 3; i++) {
          EQUAL(weft_work_counter_next(w, &range), -1);
          EQUAL(weft_work_counter_next_range(w, &range), 0);
        }
        EQUAL(weft_work_counter_remaining(w), 0);
        EQUAL(weft_work_counter_wait(w, WEFT_FOREVER), 0);
        EQUAL(weft_work_counter_cancelled(w), false);
        UNCHANGED(w, 268, weft_work_counter_done(w, 1), EINVAL);
        weft_work_counter_cancel(w);
        EQUAL(weft_work_counter_cancelled(w), false);
      }
}

/* The largest counters: nothing overflows, and the end never wraps. */
static void work_extremes(void) {
  const int32_t most = WEFT_WORK_COUNTER_MAX;
  const weft_work_config configs[] = {
      {1, 0}, {most, 0}, {most - 1, 0}, {7, 0}, {1, 1}, {1, 1 << 16}};
  for (int c = 0; c < 6; c++) {
    weft_work_counter *w =
        weft_work_counter_init(arena, sizeof arena, most, configs[c]);
    weft_work_range range = {0, 0};
    int32_t first = weft_work_counter_next_range(w, &range);
    EQUAL(first, share_of(configs[c], most));
    EQUAL(weft_work_counter_done(w, first), 0);
    /* Just before the end, wherever the chunks end. */
    int32_t end = weft__work_counter_end(w);
    if (end > 1) {
      w->next = end - 1;
      int32_t last = weft_work_counter_next_range(w, &range);
      CHECK(last >= 1);
      EQUAL(range.end, most);
    }
    /* Agents that passed the end: 2^32 of them would be too many. */
    w->next = end + 1;
    for (int i = 0; i < 5; i++)
      UNCHANGED(w, 268, weft_work_counter_next_range(w, &range), 0);
    EQUAL(weft_work_counter_remaining(w), 0);
    if (configs[c].agents == 0) {
      w->next = -1;
      EQUAL(weft_work_counter_next_range(w, &range), 0);
      EQUAL(weft_work_counter_remaining(w), 0);
      EQUAL(w->next, -1);
    }
    UNCHANGED(w, 268, weft_work_counter_done(w, -1), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, INT32_MIN), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, INT32_MAX), EINVAL);
    UNCHANGED(w, 268, weft_work_counter_done(w, most - first + 1), EINVAL);
    if (first < most)
      TAKES(20, weft_work_counter_wait(w, 20 * MS), ETIMEDOUT);
    weft_agent_set_blocking(false);
    UNCHANGED(w, 268, weft_work_counter_wait(w, WEFT_FOREVER), EPERM);
    weft_agent_set_blocking(true);
    EQUAL(weft_work_counter_done(w, most - first), 0);
    EQUAL(weft_work_counter_wait(w, 0), 0);
    EQUAL(weft_work_counter_completed(w), most);
  }
}

static void work_cancel(void) {
  const weft_work_config configs[] = {{1, 0}, {7, 0}, {1, 3}, {200, 0}};
  for (int c = 0; c < 4; c++)
    for (int taken = 0; taken < 12; taken++)
      for (int late = 0; late < 2; late++) {
        weft_work_counter *w =
            weft_work_counter_init(arena, sizeof arena, 100, configs[c]);
        weft_work_range range = {0, 0};
        int32_t out = 0;
        for (int i = 0; i < taken; i++) {
          int32_t n = weft_work_counter_next_range(w, &range);
          out += n;
          if (!late) EQUAL(weft_work_counter_done(w, n), 0);
        }
        weft_work_counter_cancel(w);
        weft_work_counter_cancel(w);
        EQUAL(weft_work_counter_cancelled(w), out < 100);
        EQUAL(weft_work_counter_remaining(w), 0);
        EQUAL(weft_work_counter_next_range(w, &range), 0);
        range.start = range.end = 0;
        EQUAL(weft_work_counter_next(w, &range), -1);
        int wanted = late && out > 0 ? ETIMEDOUT : 0;
        EQUAL(weft_work_counter_wait(w, 0), wanted);
        if (late) EQUAL(weft_work_counter_done(w, out), 0);
        EQUAL(weft_work_counter_wait(w, 0), 0);
        EQUAL(weft_work_counter_completed(w), out);
      }
}

int main(void) {
  RUN(agent_ids);
  RUN(mutex_by_turns);
  RUN(mutex_errors);
  RUN(mutex_handoff_to_nobody);
  RUN(attaching);
  RUN(init_refuses);
  RUN(lengths);
  RUN(semaphore_by_turns);
  RUN(semaphore_errors);
  RUN(semaphore_abandon_claim);
  RUN(queues_by_turns);
  RUN(queue_errors);
  RUN(close_while_reserved);
  RUN(mpmc_slots_out_of_order);
  RUN(work_by_turns);
  RUN(work_extremes);
  RUN(work_cancel);
  puts("done");
  return 0;
}
