/* weft_recover: what two dead agents held, a claim that keeps others out, and
   what is refused. */
#define _POSIX_C_SOURCE 200809L
#include <weft.h>

#include "check.h"

static int32_t at_ring[1 << 9], at_queue[1 << 9], at_semaphore[1 << 6];
static int32_t at_pool[1 << 9], at_channel[1 << 10];

enum { A = 1001, B = 1002, MOST = 8 };

static weft_finding found[MOST];

static void tells(int32_t i, int32_t part, int32_t what, int32_t id,
                  int32_t count) {
  EQUAL(found[i].part, part);
  EQUAL(found[i].what, what);
  EQUAL(found[i].id, id);
  EQUAL(found[i].count, count);
}

static weft_record_ring *ring_of(int32_t id) {
  weft_record_ring_config config = {256, false, false, 0};
  void *at = NULL;
  weft_record_ring *r = weft_record_ring_init(at_ring, sizeof at_ring, config);
  CHECK(r != NULL);
  weft_agent_set_id(id);
  EQUAL(weft_record_ring_reserve(r, 4, &at), 0);
  weft_agent_set_id(7);
  return r;
}

/* Locks come last, whatever their order. */
static void all_kinds(void) {
  const int32_t dead[] = {A, B};
  weft_mutex m;
  weft_rw_lock l;
  weft_once o;
  memset(&m, 0, sizeof m);
  memset(&l, 0, sizeof l);
  memset(&o, 0, sizeof o);
  weft_slab_config blocks = {8, 8};
  weft_semaphore *s = weft_semaphore_init(at_semaphore, sizeof at_semaphore, 1);
  weft_slab_pool *p = weft_slab_pool_init(at_pool, sizeof at_pool, blocks);
  CHECK(s != NULL && p != NULL);
  weft_agent_set_id(A);
  EQUAL(weft_mutex_try_lock(&m), 0);
  weft_agent_set_id(B);
  EQUAL(weft_rw_lock_try_write(&l), 0);
  o.state = A;
  s->permits = 2 << 2 | WEFT_SEMAPHORE_DEBT;
  s->claim = 3;
  s->claimant = B;
  weft_part parts[] = {{WEFT_PART_MUTEX, &m},  {WEFT_PART_RW_LOCK, &l},
                       {WEFT_PART_ONCE, &o},   {WEFT_PART_BY_HEAD, s},
                       {WEFT_PART_BY_HEAD, p}, {WEFT_PART_BY_HEAD, NULL}};
  parts[5].at = ring_of(A);
  EQUAL(weft_recover(dead, 2, parts, 6, found, MOST), 5);
  tells(0, 5, WEFT_RECORDS_SKIPPED, A, 1);
  tells(1, 3, WEFT_PERMITS_RETURNED, B, 3);
  tells(2, 2, WEFT_FUNCTION_ABANDONED, A, 1);
  tells(3, 1, WEFT_LOCK_ABANDONED, B, 1);
  tells(4, 0, WEFT_LOCK_ABANDONED, A, 1);
  EQUAL(weft_recover(dead, 2, parts, 6, found, MOST), 0);
  EQUAL(weft_semaphore_available(s), 1);
  EQUAL(weft_mutex_try_lock(&m), EOWNERDEAD);
  /* More findings than there is room for are counted. */
  m.state = A;
  l.writer = B;
  found[1].what = 55;
  EQUAL(weft_recover(dead, 2, parts, 6, found, 1), 2);
  tells(0, 1, WEFT_LOCK_ABANDONED, B, 1);
  EQUAL(found[1].what, 55);
}

/* A tracked semaphore knows what each held. */
static void permits(void) {
  const int32_t dead[] = {A, B};
  weft_semaphore *s =
      weft_semaphore_init_tracked(at_pool, sizeof at_pool, 9, 2);
  CHECK(s != NULL);
  weft_agent_set_id(A);
  EQUAL(weft_semaphore_try_acquire(s, 2), 0);
  weft_agent_set_id(B);
  EQUAL(weft_semaphore_try_acquire(s, 3), 0);
  weft_agent_set_id(7);
  weft_part part = {WEFT_PART_BY_HEAD, s};
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 2);
  tells(0, 0, WEFT_PERMITS_RETURNED, A, 2);
  tells(1, 0, WEFT_PERMITS_RETURNED, B, 3);
  EQUAL(weft_semaphore_available(s), 9);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 0);
}

/* A tracked lock knows who read. */
static void reading(void) {
  const int32_t dead[] = {A, B};
  weft_rw_lock *l = weft_rw_lock_init_tracked(at_pool, sizeof at_pool, 2);
  CHECK(l != NULL);
  weft_agent_set_id(A);
  EQUAL(weft_rw_lock_try_read(l), 0);
  EQUAL(weft_rw_lock_try_read(l), 0);
  weft_agent_set_id(B);
  EQUAL(weft_rw_lock_try_read(l), 0);
  weft_agent_set_id(7);
  weft_part part = {WEFT_PART_RW_LOCK, l};
  EQUAL(weft_rw_lock_try_write(l), EBUSY);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 2);
  tells(0, 0, WEFT_READING_ENDED, A, 2);
  tells(1, 0, WEFT_READING_ENDED, B, 1);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 0);
  EQUAL(weft_rw_lock_try_write(l), 0);
}

/* A tracked counter knows what each took and did. */
static void tasks(void) {
  const int32_t dead[] = {A, B};
  const weft_work_config chunks = {4, 0};
  weft_work_range range = {0, 0};
  static int32_t memory[WEFT_WORK_COUNTER_TRACKED_BYTES(2) / 4];
  weft_work_counter *c =
      weft_work_counter_init_tracked(memory, sizeof memory, 8, chunks, 2);
  CHECK(c != NULL);
  weft_agent_set_id(A);
  EQUAL(weft_work_counter_next_range(c, &range), 4);
  EQUAL(weft_work_counter_done(c, 1), 0);
  weft_agent_set_id(B);
  EQUAL(weft_work_counter_next_range(c, &range), 4);
  weft_agent_set_id(7);
  weft_part part = {WEFT_PART_BY_HEAD, c};
  EQUAL(weft_work_counter_next_range(c, &range), WEFT_WORK_COUNTER_REFUSED);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 2);
  tells(0, 0, WEFT_TASKS_RETURNED, A, 3);
  tells(1, 0, WEFT_TASKS_RETURNED, B, 4);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 0);
  int32_t did = 0;
  for (int32_t n; (n = weft_work_counter_next_range(c, &range)) > 0; did += n)
    EQUAL(weft_work_counter_done(c, n), 0);
  EQUAL(did, 7);
  EQUAL(weft_work_counter_wait(c, 0), 0);
}

/* One dead agent has the claim: it ends, whichever comes first. */
static void claims(void) {
  const int32_t dead[2][2] = {{A, B}, {B, A}};
  for (int i = 0; i < 4; i++) {
    weft_record_ring *r = ring_of(B);
    weft_part part = {WEFT_PART_BY_HEAD, r};
    r->claimant = i / 2 ? A : B;
    EQUAL(weft_recover(dead[i % 2], 2, &part, 1, found, MOST), 1);
    tells(0, 0, WEFT_RECORDS_SKIPPED, B, 1);
    EQUAL(weft_record_ring_claimant(r), 0);
  }
  weft_record_ring *r = ring_of(B);
  weft_part part = {WEFT_PART_BY_HEAD, r};
  r->claimant = A; /* of whose death nobody has heard */
  EQUAL(weft_recover(dead[1], 1, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_CLAIM_HELD, A, 1);
  r->claimant = 0;
  r->tail = 4096;
  EQUAL(weft_recover(dead[1], 1, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_DAMAGED, 0, 1);
}

static void blocked(weft_mpmc_queue *q, void *at) {
  const int32_t dead = A;
  weft_part part = {WEFT_PART_BY_HEAD, at};
  int32_t value = 0;
  for (int i = 0; i < 5; i++) {
    EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), 0);
    EQUAL(weft_mpmc_queue_try_push_int(q, 1), 0);
    EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), 0);
    EQUAL(weft_mpmc_queue_try_pop_int(q, &value), 0);
  }
  EQUAL(weft_mpmc_queue_try_push_int(q, 1), 0);
  void *slot = weft_mpmc_queue_reserve(q);
  CHECK(slot != NULL && weft_mpmc_queue_peek(q) != NULL);
  EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_QUEUE_BLOCKED, 0, 2);
  weft_mpmc_queue_commit(q, slot);
  EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_QUEUE_BLOCKED, 0, 1);
}

/* Who waits for a blocked slot is told, and not left asleep. */
static void told(weft_mpmc_queue *q) {
  int32_t value = 0;
  if (WEFT__LOOK > INT64_C(10000000000)) return; /* nobody looks by itself */
  void *slot = weft_mpmc_queue_reserve(q);
  CHECK(slot != NULL);
  EQUAL(weft_mpmc_queue_pop_int(q, &value, 20 * MS), ETIMEDOUT);
  EQUAL(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER), ENOTRECOVERABLE);
  EQUAL(q->pop_waiters, 0);
  weft_mpmc_queue_commit(q, slot); /* it lived after all */
  EQUAL(weft_mpmc_queue_pop_int(q, &value, WEFT_FOREVER), 0);
}

static void refused(void) {
  const int32_t wrong[] = {0, -1, 1 << 28, 7};
  const int32_t dead = A;
  weft_mutex m;
  weft_part part = {WEFT_PART_MUTEX, &m};
  memset(&m, 0, sizeof m);
  weft_agent_set_id(7);
  m.state = A;
  for (int i = 0; i < 4; i++)
    EQUAL(weft_recover(&wrong[i], 1, &part, 1, found, MOST), -EINVAL);
  part.kind = WEFT_PART_BY_HEAD; /* zeroed memory does not say what it is */
  EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), -EINVAL);
  part.kind = WEFT_PART_MUTEX + 1;
  EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), -EINVAL);
  part.kind = WEFT_PART_MUTEX;
  part.at = NULL;
  EQUAL(weft_recover(&dead, 1, &part, 1, found, MOST), -EINVAL);
  EQUAL(m.state, A);
}

/* The roles of a queue, and of a ring, are freed and told. */
static void roles(void) {
  const weft_queue_config config = {4, 4};
  const weft_record_ring_config single = {64, true, false, 0};
  static int32_t memory[2][512];
  const int32_t dead[] = {A, B};
  int32_t length = 4, value = 1;
  const int32_t own = weft_agent_id();
  weft_spsc_queue *q = weft_spsc_queue_init(memory[0], 2048, config);
  weft_record_ring *r = weft_record_ring_init(memory[1], 2048, single);
  weft_part parts[] = {{WEFT_PART_BY_HEAD, q}, {WEFT_PART_BY_HEAD, r}};
  EQUAL(weft_agent_set_id(A), 0);
  EQUAL(weft_spsc_queue_try_push_int(q, 1), 0);
  EQUAL(weft_spsc_queue_try_pop_int(q, &value), 0);
  EQUAL(weft_record_ring_try_push(r, &value, 4), 0);
  EQUAL(weft_agent_set_id(B), 0);
  EQUAL(weft_record_ring_try_pop(r, &value, &length), 0);
  EQUAL(weft_agent_set_id(own), 0);
  EQUAL(weft_recover(dead, 2, parts, 2, found, MOST), 3);
  tells(0, 0, WEFT_ROLES_FREED, A, 2);
  tells(1, 1, WEFT_ROLES_FREED, A, 1);
  tells(2, 1, WEFT_ROLES_FREED, B, 1);
  EQUAL(weft_recover(dead, 2, parts, 2, found, MOST), 0);
  EQUAL(weft_spsc_queue_try_push_int(q, 1), 0);
  const weft_snapshot_config one = {4, true};
  weft_snapshot *s = weft_snapshot_init(memory[1], 2048, one);
  EQUAL(weft_agent_set_id(A), 0);
  EQUAL(weft_snapshot_write(s, &value), 0);
  EQUAL(weft_agent_set_id(own), 0);
  EQUAL(weft_snapshot_write(s, &value), EPERM);
  parts[1].at = s;
  EQUAL(weft_recover(dead, 2, &parts[1], 1, found, MOST), 1);
  tells(0, 0, WEFT_ROLES_FREED, A, 1);
  EQUAL(weft_snapshot_write(s, &value), 0);
  const weft_broadcast_config cast = {4, 4, 1, false};
  weft_broadcast *b = weft_broadcast_init(memory[0], 2048, cast);
  weft_work_deque *d = weft_work_deque_init(memory[1], 2048, 4);
  parts[0].at = b;
  parts[1].at = d;
  EQUAL(weft_agent_set_id(A), 0);
  EQUAL(weft_broadcast_subscribe(b), 0);
  EQUAL(weft_broadcast_try_push_int(b, 1), 0);
  EQUAL(weft_work_deque_push(d, 1), 0);
  EQUAL(weft_agent_set_id(own), 0);
  EQUAL(weft_broadcast_try_push_int(b, 1), EPERM);
  EQUAL(weft_work_deque_push(d, 1), EPERM);
  EQUAL(weft_recover(dead, 2, parts, 2, found, MOST), 3);
  tells(0, 0, WEFT_ROLES_FREED, A, 1);
  tells(1, 0, WEFT_SUBSCRIPTIONS_ENDED, A, 1);
  tells(2, 1, WEFT_ROLES_FREED, A, 1);
  EQUAL(weft_recover(dead, 2, parts, 2, found, MOST), 0);
  EQUAL(weft_broadcast_try_push_int(b, 1), 0);
  EQUAL(weft_work_deque_adopt(d), 0);
}

/* Counted senders and receivers of dead agents. */
static void ended(void) {
  const int32_t dead[] = {A, B};
  const weft_channel_config config = {WEFT_CHANNEL_TEXT, 1, 16, 0, 2};
  weft_channel *c = weft_channel_init(at_channel, sizeof at_channel, config);
  CHECK(c != NULL);
  weft_part part = {WEFT_PART_BY_HEAD, c};
  int32_t own = weft_agent_id();
  weft_agent_set_id(A);
  EQUAL(weft_channel_sender(c), 0);
  EQUAL(weft_channel_sender(c), 0);
  EQUAL(weft_channel_receiver(c), 0);
  weft_agent_set_id(own);
  EQUAL(weft_channel_sender(c), 0);
  EQUAL(weft_channel_receiver(c), 0);
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_ENDS_LEFT, A, 3);
  CHECK(!weft_channel_closed(c));
  EQUAL(weft_channel_leave_sender(c), 0);
  CHECK(weft_channel_closed(c));
  weft_agent_set_id(B);
  EQUAL(weft_channel_receiver(c), 0);
  weft_agent_set_id(own);
  c->senders = 0x7ff << 20 | 9 << 12; /* there is no such row */
  EQUAL(weft_recover(dead, 2, &part, 1, found, MOST), 1);
  tells(0, 0, WEFT_ENDS_LEFT, B, 1);
}

int main(void) {
  weft_queue_config config = {4, 4};
  all_kinds();
  permits();
  reading();
  tasks();
  claims();
  roles();
  weft_mpmc_queue *q = weft_mpmc_queue_init(at_queue, sizeof at_queue, config);
  CHECK(q != NULL);
  told(q);
  blocked(q, q);
  weft_channel_config i32s = {WEFT_CHANNEL_I32, 4, 0, 0, 0};
  weft_channel *c = weft_channel_init(at_channel, sizeof at_channel, i32s);
  CHECK(c != NULL);
  blocked((weft_mpmc_queue *)(void *)(c + 1), c);
  ended();
  refused();
  printf("done\n");
  return 0;
}
