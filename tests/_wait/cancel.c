/*
 * pthread_cancel while a thread waits. No blocking function is a cancellation
 * point: the thread waits on, ends at its next cancellation point, and no count
 * of waiters stays too high. Under Emscripten the program is begun from
 * JavaScript, because its main thread must be free to start threads.
 */
#define _POSIX_C_SOURCE 200809L
#include <weft.h>

#include "check.h"

static _Alignas(8) int32_t memory[4096];
static int32_t other[2]; /* the mutex of a condition */

static const weft_queue_config SMALL = {.capacity = 1, .element_size = 4};

/* Something that threads wait for. */
typedef struct {
  const char *name;
  void (*make)(void); /* so that they must wait */
  int (*wait)(void);  /* what they do; 0 */
  int (*serve)(void); /* lets one or both go on; 0 */
  bool (*idle)(void); /* whether nobody is counted as waiting */
  int waiters;        /* how many threads wait, 2 at most */
  int serves;         /* how many calls of `serve` let them go on */
} form;

/* ---- what lets through -------------------------------------------------- */

static void mutex_make(void) {
  weft_mutex *m = weft_mutex_init(memory, sizeof memory);
  EQUAL(weft_mutex_lock(m, 0), 0);
}
static int mutex_wait(void) {
  weft_mutex *m = (weft_mutex *)memory;
  int result = weft_mutex_lock(m, WEFT_FOREVER);
  return result ? result : weft_mutex_unlock(m);
}
static int mutex_serve(void) { return weft_mutex_unlock((weft_mutex *)memory); }
static bool mutex_idle(void) { return ((weft_mutex *)memory)->state == 0; }

static void read_make(void) {
  weft_rw_lock *l = weft_rw_lock_init(memory, sizeof memory);
  EQUAL(weft_rw_lock_write(l, 0), 0);
}
static int read_wait(void) {
  weft_rw_lock *l = (weft_rw_lock *)memory;
  int result = weft_rw_lock_read(l, WEFT_FOREVER);
  return result ? result : weft_rw_lock_unlock_read(l);
}
static int read_serve(void) {
  return weft_rw_lock_unlock_write((weft_rw_lock *)memory);
}
static void write_make(void) {
  weft_rw_lock *l = weft_rw_lock_init(memory, sizeof memory);
  EQUAL(weft_rw_lock_read(l, 0), 0);
}
static int write_wait(void) {
  weft_rw_lock *l = (weft_rw_lock *)memory;
  int result = weft_rw_lock_write(l, WEFT_FOREVER);
  return result ? result : weft_rw_lock_unlock_write(l);
}
static int write_serve(void) {
  return weft_rw_lock_unlock_read((weft_rw_lock *)memory);
}
static bool rw_idle(void) {
  weft_rw_lock *l = (weft_rw_lock *)memory;
  int result = weft_rw_lock_try_write(l);
  if (result == 0) EQUAL(weft_rw_lock_unlock_write(l), 0);
  return result == 0 && (l->state & 0x3ffffff) == 0; /* no readers either */
}

static void semaphore_make(void) {
  CHECK(weft_semaphore_init(memory, sizeof memory, 0) != NULL);
}
static int one_wait(void) {
  return weft_semaphore_acquire((weft_semaphore *)memory, 1, WEFT_FOREVER);
}
static int many_wait(void) {
  return weft_semaphore_acquire((weft_semaphore *)memory, 3, WEFT_FOREVER);
}
static int one_serve(void) {
  return weft_semaphore_release((weft_semaphore *)memory, 1);
}
static int many_serve(void) {
  return weft_semaphore_release((weft_semaphore *)memory, 3);
}
static bool semaphore_idle(void) {
  weft_semaphore *s = (weft_semaphore *)memory;
  return s->waiters == 0 && s->bulk == 0 && s->claim == 0;
}

static int once_nothing(void *context) {
  (void)context;
  return 0;
}
static void once_make(void) {
  weft_once *o = weft_once_init(memory, sizeof memory);
  EQUAL(weft__once_begin(o, 0), EBUSY);
}
static int once_wait(void) {
  return weft_once_run((weft_once *)memory, once_nothing, NULL, WEFT_FOREVER);
}
static int once_serve(void) {
  weft__once_end((weft_once *)memory);
  return 0;
}
static bool once_idle(void) { return memory[0] == WEFT_ONCE_DONE_BIT; }

/* ---- what tells ---------------------------------------------------------- */

static void condition_make(void) {
  CHECK(weft_mutex_init(other, sizeof other) != NULL);
  CHECK(weft_condition_init(memory, sizeof memory) != NULL);
}
static int condition_wait(void) {
  weft_mutex *m = (weft_mutex *)other;
  EQUAL(weft_mutex_lock(m, WEFT_FOREVER), 0);
  int result = weft_condition_wait((weft_condition *)memory, m, WEFT_FOREVER);
  EQUAL(weft_mutex_unlock(m), 0);
  return result;
}
static int condition_serve(void) {
  weft_condition *c = (weft_condition *)memory;
  while (weft__condition_waiting(weft__load(&c->even)) +
             weft__condition_waiting(weft__load(&c->odd)) <
         2) {
    pause_ms(1); /* a call would miss who does not wait yet */
  }
  EQUAL(weft_mutex_lock((weft_mutex *)other, WEFT_FOREVER), 0);
  EQUAL(weft_condition_notify_all(c), 0);
  return weft_mutex_unlock((weft_mutex *)other);
}
static bool condition_idle(void) {
  const int32_t counted =
      WEFT_CONDITION_CALLED_MASK | WEFT_CONDITION_WAITING_MASK;
  return ((memory[1] | memory[2]) & counted) == 0;
}

static void event_make(void) {
  CHECK(weft_event_init(memory, sizeof memory, true) != NULL);
}
static int event_wait(void) {
  return weft_event_wait((weft_event *)memory, WEFT_FOREVER);
}
static int event_serve(void) {
  /* Two sets are one if nobody waits yet. */
  while (weft_event_is_set((weft_event *)memory)) pause_ms(1);
  weft_event_set((weft_event *)memory);
  return 0;
}
static bool event_idle(void) { return (memory[0] & (0x7fff << 16)) == 0; }

static void latch_make(void) {
  CHECK(weft_latch_init(memory, sizeof memory, 1) != NULL);
}
static int latch_wait(void) {
  return weft_latch_wait((weft_latch *)memory, WEFT_FOREVER);
}
static int latch_serve(void) {
  return weft_latch_count_down((weft_latch *)memory, 1);
}
static bool always(void) { return true; /* there is no count */ }

static void group_make(void) {
  weft_wait_group *g = weft_wait_group_init(memory, sizeof memory);
  CHECK(g != NULL);
  EQUAL(weft_wait_group_add(g, 1), 0);
}
static int group_wait(void) {
  return weft_wait_group_wait((weft_wait_group *)memory, WEFT_FOREVER);
}
static int group_serve(void) {
  return weft_wait_group_done((weft_wait_group *)memory, 1);
}

static void barrier_make(void) {
  CHECK(weft_barrier_init(memory, sizeof memory, 3) != NULL);
}
static int barrier_wait(void) {
  return weft_barrier_arrive_and_wait((weft_barrier *)memory, NULL,
                                      WEFT_FOREVER);
}

static void work_make(void) {
  const weft_work_config config = {.chunk = 1};
  CHECK(weft_work_counter_init(memory, sizeof memory, 1, config) != NULL);
}
static int work_wait(void) {
  return weft_work_counter_wait((weft_work_counter *)memory, WEFT_FOREVER);
}
static int work_serve(void) {
  return weft_work_counter_done((weft_work_counter *)memory, 1);
}

/* ---- what carries -------------------------------------------------------- */

/* The forms of a queue of ints with room for one. */
#define QUEUE(q, counted)                                                      \
  static void q##_empty(void) {                                                \
    CHECK(weft_##q##_init(memory, sizeof memory, SMALL) != NULL);              \
  }                                                                            \
  static void q##_full(void) {                                                 \
    q##_empty();                                                               \
    while (weft_##q##_try_push_int((weft_##q *)memory, 7) == 0) {              \
    }                                                                          \
  }                                                                            \
  static int q##_push(void) {                                                  \
    return weft_##q##_push_int((weft_##q *)memory, 7, WEFT_FOREVER);           \
  }                                                                            \
  static int q##_pop(void) {                                                   \
    int32_t value = 0;                                                         \
    int result = weft_##q##_pop_int((weft_##q *)memory, &value, WEFT_FOREVER); \
    EQUAL(value, 7);                                                           \
    return result;                                                             \
  }                                                                            \
  static bool q##_idle(void) {                                                 \
    const weft_##q *queue = (const weft_##q *)memory;                          \
    return (counted) == 0;                                                     \
  }

QUEUE(spsc_queue, (queue->tail | queue->head | queue->tail_bell |
                   queue->head_bell) & WEFT_SPSC_QUEUE_WAITING_BIT)
/* Full by an agent that is no longer the producer. */
static void spsc_queue_left(void) {
  spsc_queue_full();
  weft_spsc_queue *q = (weft_spsc_queue *)memory;
  EQUAL(weft_spsc_queue_abandon(q, weft_agent_id()), 1);
}
QUEUE(mpmc_queue, queue->push_waiters | queue->pop_waiters)
QUEUE(lock_free_queue, queue->push_waiters | queue->pop_waiters)

static void ring_empty(void) {
  const weft_record_ring_config config = {.capacity = 64};
  CHECK(weft_record_ring_init(memory, sizeof memory, config) != NULL);
}
static int ring_push(void) {
  const int32_t record[5] = {7, 7, 7, 7, 7}; /* three do not fit */
  return weft_record_ring_push((weft_record_ring *)memory, record,
                               sizeof record, WEFT_FOREVER);
}
static int ring_pop(void) {
  int32_t record[5], length = sizeof record;
  return weft_record_ring_pop((weft_record_ring *)memory, record, &length,
                              WEFT_FOREVER);
}
static void ring_full(void) {
  const int32_t record[5] = {7, 7, 7, 7, 7};
  ring_empty();
  while (weft_record_ring_try_push((weft_record_ring *)memory, record,
                                   sizeof record) == 0) {
  }
}
static bool ring_idle(void) {
  const weft_record_ring *ring = (const weft_record_ring *)memory;
  return (ring->push_waiters | ring->pop_waiters) == 0;
}

static int32_t reader; /* the director's */
static void broadcast_make(void) {
  const weft_broadcast_config config = {
      .capacity = 1, .element_size = 4, .subscribers = 3};
  weft_broadcast *b = weft_broadcast_init(memory, sizeof memory, config);
  CHECK(b != NULL);
  reader = weft_broadcast_subscribe(b);
  CHECK(reader >= 0);
}
static int broadcast_pop(void) {
  weft_broadcast *b = (weft_broadcast *)memory;
  int32_t seat = weft_broadcast_subscribe(b);
  int32_t value = 0;
  int result = weft_broadcast_pop_int(b, seat, &value, WEFT_FOREVER);
  weft_broadcast_leave(b, seat);
  return result;
}
static int broadcast_tell(void) {
  weft_broadcast *b = (weft_broadcast *)memory;
  while (weft_broadcast_subscribers(b) < 3) pause_ms(1);
  return weft_broadcast_push_int(b, 7, WEFT_FOREVER);
}
static void broadcast_full(void) {
  broadcast_make();
  weft_broadcast *b = (weft_broadcast *)memory;
  while (weft_broadcast_try_push_int(b, 7) == 0) {
  }
  /* We are no longer the producer, and keep the reader's seat. */
  EQUAL(weft__broadcast_abandon_roles(b, weft_agent_id()), 1);
}
static int broadcast_push(void) {
  return weft_broadcast_push_int((weft_broadcast *)memory, 7, WEFT_FOREVER);
}
static int broadcast_read(void) {
  int32_t value = 0;
  return weft_broadcast_pop_int((weft_broadcast *)memory, reader, &value,
                                WEFT_FOREVER);
}
static bool broadcast_idle(void) {
  const weft_broadcast *b = (const weft_broadcast *)memory;
  return (b->push_waiters | b->pop_waiters) == 0;
}

static void channel_empty(void) {
  const weft_channel_config config = {.codec = WEFT_CHANNEL_I32, .capacity = 1};
  CHECK(weft_channel_init(memory, sizeof memory, config) != NULL);
}
static int channel_send(void) {
  const int32_t value = 7;
  return weft_channel_send((weft_channel *)memory, &value, 4, WEFT_FOREVER);
}
static int channel_receive(void) {
  int32_t value = 0, length = 4;
  return weft_channel_receive((weft_channel *)memory, &value, &length,
                              WEFT_FOREVER);
}
static void channel_full(void) {
  const int32_t value = 7;
  channel_empty();
  while (weft_channel_try_send((weft_channel *)memory, &value, 4) == 0) {
  }
}
static bool channel_idle(void) {
  const weft_mpmc_queue *queue =
      weft__channel_queue((const weft_channel *)memory);
  return (queue->push_waiters | queue->pop_waiters) == 0;
}

static void calls_make(void) {
  const weft_call_ring_config config = {.slots = 1, .request = 4, .reply = 4};
  CHECK(weft_call_ring_init(memory, sizeof memory, config) != NULL);
}
/* It waits for its answer, or, as the second caller, for a slot. */
static int calls_call(void) {
  int32_t request = 7, reply = 0, length = 4;
  int result = weft_call_ring_call((weft_call_ring *)memory, &request, 4,
                                   &reply, &length, WEFT_FOREVER);
  EQUAL(reply, 7);
  return result;
}
/* It takes a call and answers it. */
static int calls_take(void) {
  weft_call_ring *r = (weft_call_ring *)memory;
  weft_call *taken = NULL;
  int result = weft_call_ring_take(r, &taken, WEFT_FOREVER);
  const int32_t reply = 7;
  return result ? result : weft_call_ring_reply(r, taken, &reply, 4);
}
static bool calls_idle(void) {
  const weft_call_ring *r = (const weft_call_ring *)memory;
  return (r->serve_waiters | r->slot_waiters) == 0 &&
         weft_call_ring_pending(r) == 0;
}

static const form FORMS[] = {
    {"mutex lock", mutex_make, mutex_wait, mutex_serve, mutex_idle, 2, 1},
    {"rw_lock read", read_make, read_wait, read_serve, rw_idle, 2, 1},
    {"rw_lock write", write_make, write_wait, write_serve, rw_idle, 2, 1},
    {"condition wait", condition_make, condition_wait, condition_serve,
     condition_idle, 2, 1},
    {"semaphore, one", semaphore_make, one_wait, one_serve, semaphore_idle, 2,
     2},
    {"semaphore, many", semaphore_make, many_wait, many_serve, semaphore_idle,
     2, 2},
    {"event wait", event_make, event_wait, event_serve, event_idle, 2, 2},
    {"latch wait", latch_make, latch_wait, latch_serve, always, 2, 1},
    {"wait_group wait", group_make, group_wait, group_serve, always, 2, 1},
    {"barrier", barrier_make, barrier_wait, barrier_wait, always, 2, 1},
    {"once run", once_make, once_wait, once_serve, once_idle, 2, 1},
    {"work_counter wait", work_make, work_wait, work_serve, always, 2, 1},
    {"spsc_queue push", spsc_queue_left, spsc_queue_push, spsc_queue_pop,
     spsc_queue_idle, 1, 1},
    {"spsc_queue pop", spsc_queue_empty, spsc_queue_pop, spsc_queue_push,
     spsc_queue_idle, 1, 1},
    {"mpmc_queue push", mpmc_queue_full, mpmc_queue_push, mpmc_queue_pop,
     mpmc_queue_idle, 2, 2},
    {"mpmc_queue pop", mpmc_queue_empty, mpmc_queue_pop, mpmc_queue_push,
     mpmc_queue_idle, 2, 2},
    {"lock_free_queue push", lock_free_queue_full, lock_free_queue_push,
     lock_free_queue_pop, lock_free_queue_idle, 2, 2},
    {"lock_free_queue pop", lock_free_queue_empty, lock_free_queue_pop,
     lock_free_queue_push, lock_free_queue_idle, 2, 2},
    {"record_ring push", ring_full, ring_push, ring_pop, ring_idle, 2, 2},
    {"record_ring pop", ring_empty, ring_pop, ring_push, ring_idle, 1, 1},
    {"broadcast push", broadcast_full, broadcast_push, broadcast_read,
     broadcast_idle, 1, 1},
    {"broadcast pop", broadcast_make, broadcast_pop, broadcast_tell,
     broadcast_idle, 2, 1},
    {"channel send", channel_full, channel_send, channel_receive, channel_idle,
     2, 2},
    {"channel receive", channel_empty, channel_receive, channel_send,
     channel_idle, 2, 2},
    {"call_ring call", calls_make, calls_call, calls_take, calls_idle, 2, 2},
    {"call_ring take", calls_make, calls_take, calls_call, calls_idle, 2, 2},
};

/* ---- threads --------------------------------------------------------------
 */

typedef struct {
  const form *what;
  int32_t begun;    /* 1 once it is about to wait */
  int32_t returned; /* 1 once the call ended */
  int32_t passed;   /* 1 if it went past a cancellation point */
} waiter;

static void *wait_in(void *argument) {
  waiter *self = (waiter *)argument;
  shared_add(&self->begun, 1);
  EQUAL(self->what->wait(), 0);
  shared_add(&self->returned, 1);
  pthread_testcancel();
  shared_add(&self->passed, 1);
  return NULL;
}

static void try_form(const form *f) {
  puts(f->name);
  fflush(stdout);
  waiter waiters[2];
  pthread_t threads[2];
  memset(waiters, 0, sizeof waiters);
  f->make();
  for (int i = 0; i < f->waiters; i++) {
    waiters[i].what = f;
    EQUAL(pthread_create(&threads[i], NULL, wait_in, &waiters[i]), 0);
    while (shared_add(&waiters[i].begun, 0) == 0) pause_ms(1);
  }
  pause_ms(10); /* they sleep, but for an unlucky run that tests less */
  EQUAL(pthread_cancel(threads[0]), 0);
  pause_ms(10);
  EQUAL(shared_add(&waiters[0].returned, 0), 0); /* it waits on */
  for (int i = 0; i < f->serves; i++) EQUAL(f->serve(), 0);
  for (int i = 0; i < f->waiters; i++) {
    void *result = NULL;
    EQUAL(pthread_join(threads[i], &result), 0);
    EQUAL(waiters[i].returned, 1);
    EQUAL(waiters[i].passed, i == 0 ? 0 : 1);
    EQUAL(result == PTHREAD_CANCELED, i == 0);
  }
  CHECK(f->idle());
}

/* Whether cancellation is enabled is as the caller left it. */
static void *state_is_kept(void *argument) {
  (void)argument;
  int state = -1;
  semaphore_make();
  weft_semaphore *s = (weft_semaphore *)memory;
  EQUAL(weft_semaphore_acquire(s, 1, 2 * MS), ETIMEDOUT);
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
  EQUAL(state, PTHREAD_CANCEL_ENABLE);
  EQUAL(weft_semaphore_acquire(s, 1, 2 * MS), ETIMEDOUT);
  EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
  EQUAL(state, PTHREAD_CANCEL_DISABLE);
  return NULL;
}

static void *all_forms(void *done) {
  for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) try_form(&FORMS[i]);
  state_is_kept(NULL);
  puts("done");
  fflush(stdout);
  shared_add((int32_t *)done, 1);
  return NULL;
}

#ifdef __EMSCRIPTEN__
/* Begins, and returns the word that is 1 at the end. */
EMSCRIPTEN_KEEPALIVE int32_t *begin(void) {
  static int32_t done;
  pthread_t director;
  if (pthread_create(&director, NULL, all_forms, &done)) return NULL;
  pthread_detach(director);
  return &done;
}
#else
int main(void) {
  int32_t done = 0;
  all_forms(&done);
  return 0;
}
#endif
