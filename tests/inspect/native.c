/* weft_inspect: what it prints of each primitive, and what it refuses. */
#define _POSIX_C_SOURCE 200809L
#define WEFT_STDIO
#include <weft/inspect.h>

#include "check.h"

static int32_t arena[1 << 12];
static char text[8192];

/* What is printed, into `text`; the result. */
static int printed(const void *at, const char *kind) {
  FILE *out = tmpfile();
  CHECK(out != NULL);
  int result = kind == NULL ? weft_inspect(at, out)
                            : weft_inspect_as(at, kind, out);
  rewind(out);
  size_t length = fread(text, 1, sizeof text - 1, out);
  text[length] = '\0';
  fclose(out);
  return result;
}

/* Looks at `at`, which must not change; the line must end in `end`. */
static void tells(const void *at, size_t bytes, const char *kind,
                  const char *name, const char *end) {
  UNCHANGED(at, bytes, printed(at, kind), 0);
  char begin[128];
  snprintf(begin, sizeof begin, "{\"kind\":\"%s\",\"byteOffset\":%zu,", name,
           (size_t)(uintptr_t)at);
  if (strncmp(text, begin, strlen(begin)) != 0 ||
      strlen(text) < strlen(end) ||
      strcmp(text + strlen(text) - strlen(end), end) != 0) {
    fprintf(stderr, "%s: %s, not %s...%s", name, text, begin, end);
    exit(1);
  }
}

static void refuses(const void *at, const char *kind) {
  EQUAL(printed(at, kind), EINVAL);
  EQUAL(strlen(text), 0);
}

/* Primitives with a head are recognized; all others must be named. */
static void knows(void) {
  CHECK(weft_semaphore_init(arena, sizeof arena, 3) != NULL);
  tells(arena, 36, NULL, "semaphore",
        ",\"permits\":12,\"waiters\":0,\"bulk\":0,"
        "\"claimant\":0,\"claim\":0},\"waiters\":0,\"problems\":[]}\n");
  tells(arena, 36, "semaphore", "semaphore",
        ",\"waiters\":0,\"problems\":[]}\n");
  arena[1] ^= 4; /* torn: it is told all the same */
  tells(arena, 36, NULL, "semaphore",
        "\"what\":\"damaged\",\"text\":"
        "\"The configuration does not match its seal.\"}]}\n");
  refuses(arena, "latch");
  refuses(arena, "");
  refuses(arena, "semaphores");
  arena[0]++; /* another version */
  refuses(arena, NULL);
  refuses(arena, "semaphore");
  arena[0] = 0;
  refuses(arena, NULL);
  refuses((const char *)arena + 2, NULL);
  refuses((const char *)arena + 2, "mutex");
  refuses(NULL, NULL);
  refuses(NULL, "mutex");
}

/* The words that tell of owners and waiters. */
static void counts(void) {
  weft_mutex m;
  memset(&m, 0, sizeof m);
  tells(&m, sizeof m, "mutex", "mutex",
        "\"words\":{\"state\":0,\"starving\":0},\"owner\":0,\"waiters\":0,"
        "\"problems\":[]}\n");
  EQUAL(weft_agent_set_id(77), 0);
  EQUAL(weft_mutex_lock(&m, 0), 0);
  tells(&m, sizeof m, "mutex", "mutex",
        "\"owner\":77,\"waiters\":0,\"problems\":[]}\n");
  m.state |= WEFT_MUTEX_CONTENDED_BIT;
  tells(&m, sizeof m, "mutex", "mutex",
        "\"owner\":77,\"waiters\":1,\"problems\":[]}\n");

  weft_rw_lock l;
  memset(&l, 0, sizeof l);
  EQUAL(weft_rw_lock_write(&l, 0), 0);
  tells(&l, sizeof l, "rw_lock", "rw_lock",
        "\"owner\":77,\"waiters\":0,\"problems\":[]}\n");
  l.state = 5 * WEFT_RW_LOCK_ONE_PENDING + WEFT_RW_LOCK_ASLEEP_BIT + 3;
  l.writer |= WEFT_MUTEX_CONTENDED_BIT;
  tells(&l, sizeof l, "rw_lock", "rw_lock",
        "\"owner\":77,\"waiters\":7,\"problems\":[]}\n");

  weft_condition c = {0, 2 * WEFT_CONDITION_ONE_WAITING + 9,
                      3 * WEFT_CONDITION_ONE_WAITING};
  tells(&c, sizeof c, "condition", "condition",
        "},\"waiters\":5,\"problems\":[]}\n");

  weft_event e = {WEFT_EVENT_AUTO_BIT | 6 * WEFT_EVENT_ONE_WAITER};
  tells(&e, sizeof e, "event", "event", "},\"waiters\":6,\"problems\":[]}\n");
  e.state = WEFT_EVENT_SET_BIT;
  tells(&e, sizeof e, "event", "event", "},\"waiters\":0,\"problems\":[]}\n");
  e.state = WEFT_EVENT_WAITING_BIT;
  tells(&e, sizeof e, "event", "event", "},\"waiters\":1,\"problems\":[]}\n");

  weft_once o = {77 | WEFT_ONCE_WAITING_BIT};
  tells(&o, sizeof o, "once", "once",
        "\"owner\":77,\"waiters\":1,\"problems\":[]}\n");

  weft_latch *latch = weft_latch_init(arena, sizeof arena, 3);
  latch->state |= WEFT_LATCH_WAITING_BIT;
  tells(arena, 12, NULL, "latch",
        ",\"state\":7},\"waiters\":1,\"problems\":[]}\n");
  weft_wait_group g = {7};
  tells(&g, sizeof g, "wait_group", "wait_group",
        "\"state\":7},\"waiters\":1,\"problems\":[]}\n");
  weft_barrier *barrier = weft_barrier_init(arena, sizeof arena, 3);
  barrier->state += 2;
  tells(arena, 16, NULL, "barrier", "},\"waiters\":2,\"problems\":[]}\n");
  weft_work_config work = {1, 0};
  weft_work_counter *counter =
      weft_work_counter_init(arena, sizeof arena, 3, work);
  counter->finished = WEFT_WORK_COUNTER_AWAITED;
  tells(arena, 12, NULL, "work_counter",
        ",\"finished\":1},\"waiters\":1,\"problems\":[]}\n");
}

/* Event counts, and primitives that nobody waits for. */
static void structures(void) {
  weft_queue_config config = {4, 8};
  weft_spsc_queue *s = weft_spsc_queue_init(arena, sizeof arena, config);
  tells(arena, 128, NULL, "spsc_queue",
        ",\"consumer\":0,\"head_bell\":0,\"head_gong\":0},\"waiters\":0,"
        "\"problems\":[]}\n");
#if WEFT__SPSC_BELLS
  s->tail_bell = WEFT__BELL_WAITING;
#else
  s->tail |= WEFT_SPSC_QUEUE_WAITING_BIT;
#endif
  tells(arena, 128, NULL, "spsc_queue", "},\"waiters\":1,\"problems\":[]}\n");
  weft_mpmc_queue *q = weft_mpmc_queue_init(arena, sizeof arena, config);
  q->pop_waiters = 4;
  q->push_waiters = 3;
  tells(arena, 128, NULL, "mpmc_queue",
        "\"pop_epoch\":0,\"pop_waiters\":4,\"pop_gong\":0,\"push_epoch\":0,"
        "\"push_waiters\":3,\"push_gong\":0},\"waiters\":7,"
        "\"problems\":[]}\n");
  weft_work_deque *d = weft_work_deque_init(arena, sizeof arena, 4);
  d->top = INT32_MIN;
  tells(arena, 128, NULL, "work_deque",
        ",\"bottom\":0,\"owner\":0,\"top\":-2147483648},\"problems\":[{\"word\":\"top\","
        "\"index\":64,\"value\":-2147483648,\"what\":\"damaged\",\"text\":"
        "\"It is beyond `bottom`, or further behind it than the capacity.\""
        "}]}\n");
}

/* Slots that an agent claimed, and one that is damaged. */
static void slots(void) {
  weft_queue_config config = {4, 4};
  weft_mpmc_queue *q = weft_mpmc_queue_init(arena, sizeof arena, config);
  tells(q, 1024, NULL, "mpmc_queue", ",\"problems\":[]}\n");
  EQUAL(weft_mpmc_queue_try_push_int(q, 1), 0);
  void *mine = weft_mpmc_queue_reserve(q);
  CHECK(mine != NULL && weft_mpmc_queue_peek(q) != NULL);
  tells(
      q, 1024, NULL, "mpmc_queue",
      ",\"problems\":[{\"word\":\"slot 0\",\"index\":160,\"value\":1,"
      "\"what\":\"claimed\",\"text\":\"An agent claimed this slot to pop, and "
      "has not handed it on.\"},{\"word\":\"slot 1\",\"index\":164,"
      "\"value\":2,\"what\":\"claimed\",\"text\":\"An agent claimed this slot "
      "to push, and has not handed it on.\"}]}\n");
  weft_mpmc_queue_commit(q, mine);
  arena[160] = 8; /* the pop ended */
  tells(q, 1024, NULL, "mpmc_queue", ",\"problems\":[]}\n");
  arena[168] = 77;
  tells(q, 1024, NULL, "mpmc_queue",
        "{\"word\":\"slot 2\",\"index\":168,\"value\":77,\"what\":\"damaged\","
        "\"text\":\"No ticket for this slot has this turn.\""
        "}]}\n");
  /* A damaged configuration is not believed. */
  q->capacity = INT32_MAX;
  tells(q, 1024, NULL, "mpmc_queue", "does not match its seal.\"}]}\n");
}

/* Numbers through a ring and a queue, by two threads. */
typedef struct {
  weft_record_ring *ring;
  weft_spsc_queue *queue;
  int32_t over;
} passage;

static void *pass(void *argument) {
  passage *p = (passage *)argument;
  for (int32_t i = 0; i < 2000; i++) {
    EQUAL(weft_record_ring_push(p->ring, &i, 4, WEFT_FOREVER), 0);
    EQUAL(weft_spsc_queue_push_int(p->queue, i, WEFT_FOREVER), 0);
  }
  return NULL;
}

static void *receive(void *argument) {
  passage *p = (passage *)argument;
  for (int32_t i = 0; i < 2000; i++) {
    int32_t n = -1, length = 4;
    EQUAL(weft_record_ring_pop(p->ring, &n, &length, WEFT_FOREVER), 0);
    EQUAL(n, i);
    EQUAL(weft_spsc_queue_pop_int(p->queue, &n, WEFT_FOREVER), 0);
    EQUAL(n, i);
  }
  weft__store(&p->over, 1);
  return NULL;
}

/* Any thread may look, while others write. */
static void looks_on(void) {
  static int32_t places[2][512];
  const weft_record_ring_config ring = {64, false, false, 0};
  const weft_queue_config queue = {2, 4};
  passage p = {weft_record_ring_init(places[0], sizeof places[0], ring),
               weft_spsc_queue_init(places[1], sizeof places[1], queue), 0};
  pthread_t threads[2];
  FILE *out = tmpfile();
  CHECK(out != NULL && p.ring != NULL && p.queue != NULL);
  EQUAL(pthread_create(&threads[0], NULL, pass, &p), 0);
  EQUAL(pthread_create(&threads[1], NULL, receive, &p), 0);
  while (weft__load(&p.over) == 0) {
    rewind(out);
    EQUAL(weft_inspect(p.ring, out), 0);
    EQUAL(weft_inspect(p.queue, out), 0);
    sched_yield();
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  fclose(out);
}

int main(void) {
  RUN(knows);
  RUN(slots);
  RUN(counts);
  RUN(structures);
  RUN(looks_on);
  puts("done");
  return 0;
}
