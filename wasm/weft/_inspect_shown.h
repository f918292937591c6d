/* _inspect_shown.h - what weft_inspect shows of each primitive: the twin of the
   INSPECTION of each. */
#ifndef WEFT_INSPECT_SHOWN_H
#define WEFT_INSPECT_SHOWN_H

#include "_inspect_parts.h"

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* What a copy of the words says besides their values: the owner, how many wait,
   and what does not fit together; and the last of what lies behind the words. A
   flag that says that somebody may wait counts 1. */
typedef struct {
  const char *kind;
  int32_t number; /* WEFT_KIND_, or 0 */
  int32_t (*owner)(const void *copy);
  int64_t (*waiters)(const void *copy);
  void (*problems)(const void *copy, weft__problems *found);
  void (*behind)(const void *at, weft__problems *found);
  weft__field fields[24];
} weft__shown;

static inline int32_t weft__mutex_shows_owner(const void *copy) {
  return ((const weft_mutex *)copy)->state & WEFT_MUTEX_OWNER_MASK;
}

static inline int64_t weft__mutex_shows_waiters(const void *copy) {
  return ((const weft_mutex *)copy)->state & WEFT_MUTEX_CONTENDED_BIT ? 1 : 0;
}

static inline int32_t weft__rw_lock_shows_owner(const void *copy) {
  return ((const weft_rw_lock *)copy)->writer & WEFT_MUTEX_OWNER_MASK;
}

static inline int64_t weft__rw_lock_shows_waiters(const void *copy) {
  const weft_rw_lock *l = (const weft_rw_lock *)copy;
  int32_t pending =
      (l->state & WEFT_RW_LOCK_PENDING_MASK) / WEFT_RW_LOCK_ONE_PENDING;
  if (l->tracked != 0) pending = l->gate & WEFT_RW_LOCK_WAITING_BIT;
  /* the writer, for the readers */
  int32_t asleep = l->state & WEFT_RW_LOCK_ASLEEP_BIT ? 1 : 0;
  return pending + asleep + (l->writer & WEFT_MUTEX_CONTENDED_BIT ? 1 : 0);
}

static inline int64_t weft__condition_shows_waiters(const void *copy) {
  const weft_condition *c = (const weft_condition *)copy;
  return weft__condition_waiting(c->even) + weft__condition_waiting(c->odd);
}

static inline int64_t weft__semaphore_shows_waiters(const void *copy) {
  return ((const weft_semaphore *)copy)->waiters;
}

static inline int64_t weft__event_shows_waiters(const void *copy) {
  int32_t state = ((const weft_event *)copy)->state;
  if (state & WEFT_EVENT_AUTO_BIT)
    return (state & WEFT_EVENT_WAITERS_MASK) / WEFT_EVENT_ONE_WAITER;
  return state & WEFT_EVENT_WAITING_BIT ? 1 : 0;
}

static inline int64_t weft__latch_shows_waiters(const void *copy) {
  return ((const weft_latch *)copy)->state & WEFT_LATCH_WAITING_BIT;
}

static inline int64_t weft__wait_group_shows_waiters(const void *copy) {
  return ((const weft_wait_group *)copy)->state & WEFT_WAIT_GROUP_WAITING_BIT;
}

static inline int64_t weft__barrier_shows_waiters(const void *copy) {
  const weft_barrier *b = (const weft_barrier *)copy;
  if (b->tracked != 0) return b->state & WEFT_BARRIER_WAITING_BIT ? 1 : 0;
  return b->state & WEFT_BARRIER_ARRIVED_MASK;
}

static inline int32_t weft__once_shows_owner(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_RUNNER_MASK;
}

static inline int64_t weft__once_shows_waiters(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_WAITING_BIT ? 1 : 0;
}

static inline int64_t weft__spsc_queue_shows_waiters(const void *copy) {
  const weft_spsc_queue *q = (const weft_spsc_queue *)copy;
#if WEFT__SPSC_BELLS
  return ((q->tail_bell & WEFT__BELL_SEALED) == WEFT__BELL_WAITING) +
         (q->head_bell & WEFT__BELL_WAITING);
#else
  return (q->tail & WEFT_SPSC_QUEUE_WAITING_BIT) +
         (q->head & WEFT_SPSC_QUEUE_WAITING_BIT);
#endif
}

/* The waiters of two epochs. */
static inline int64_t weft__event_shows(int32_t one, int32_t other) {
  return (int64_t)(one & ~WEFT__EVENT_AWAITED_BIT) +
         (other & ~WEFT__EVENT_AWAITED_BIT);
}

static inline int64_t weft__mpmc_queue_shows_waiters(const void *copy) {
  const weft_mpmc_queue *q = (const weft_mpmc_queue *)copy;
  return weft__event_shows(q->pop_waiters, q->push_waiters);
}

static inline int64_t weft__lock_free_queue_shows_waiters(const void *copy) {
  const weft_lock_free_queue *q = (const weft_lock_free_queue *)copy;
  return weft__event_shows(q->pop_waiters, q->push_waiters);
}

static inline int64_t weft__record_ring_shows_waiters(const void *copy) {
  const weft_record_ring *r = (const weft_record_ring *)copy;
  return weft__event_shows(r->pop_waiters, r->push_waiters);
}

static inline int64_t weft__broadcast_shows_waiters(const void *copy) {
  const weft_broadcast *b = (const weft_broadcast *)copy;
  return weft__event_shows(b->pop_waiters, b->push_waiters);
}

static inline int64_t weft__call_ring_shows_waiters(const void *copy) {
  const weft_call_ring *r = (const weft_call_ring *)copy;
  return weft__event_shows(r->serve_waiters, r->slot_waiters);
}

static inline int64_t weft__work_counter_shows_waiters(const void *copy) {
  const weft_work_counter *c = (const weft_work_counter *)copy;
  return c->finished == WEFT_WORK_COUNTER_AWAITED ? 1 : 0;
}

#define WEFT__FIELD(type, field) {#field, offsetof(weft_##type, field) / 4}

/* The i-th of all primitives; NULL after the last. */
static inline const weft__shown *weft__shown_of(size_t i) {
  static const weft__shown all[] = {
/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
    {"mutex", 0, weft__mutex_shows_owner,
     weft__mutex_shows_waiters,
     weft__mutex_shows_problems,
     NULL,
     {WEFT__FIELD(mutex, state),
      WEFT__FIELD(mutex, starving)}},
    {"rw_lock", 0, weft__rw_lock_shows_owner,
     weft__rw_lock_shows_waiters,
     weft__rw_lock_shows_problems,
     NULL,
     {WEFT__FIELD(rw_lock, state),
      WEFT__FIELD(rw_lock, gate),
      WEFT__FIELD(rw_lock, writer),
      WEFT__FIELD(rw_lock, writer_starving),
      WEFT__FIELD(rw_lock, tracked),
      WEFT__FIELD(rw_lock, turns)}},
    {"condition", 0, NULL,
     weft__condition_shows_waiters,
     weft__condition_shows_problems,
     NULL,
     {WEFT__FIELD(condition, turn),
      WEFT__FIELD(condition, even),
      WEFT__FIELD(condition, odd)}},
    {"semaphore", WEFT_KIND_semaphore, NULL,
     weft__semaphore_shows_waiters,
     weft__semaphore_shows_problems,
     NULL,
     {WEFT__FIELD(semaphore, magic),
      WEFT__FIELD(semaphore, tracked),
      WEFT__FIELD(semaphore, max),
      WEFT__FIELD(semaphore, seal),
      WEFT__FIELD(semaphore, permits),
      WEFT__FIELD(semaphore, waiters),
      WEFT__FIELD(semaphore, bulk),
      WEFT__FIELD(semaphore, claimant),
      WEFT__FIELD(semaphore, claim)}},
    {"event", 0, NULL,
     weft__event_shows_waiters,
     weft__event_shows_problems,
     NULL,
     {WEFT__FIELD(event, state)}},
    {"latch", WEFT_KIND_latch, NULL,
     weft__latch_shows_waiters,
     weft__latch_shows_problems,
     NULL,
     {WEFT__FIELD(latch, magic),
      WEFT__FIELD(latch, seal),
      WEFT__FIELD(latch, state)}},
    {"wait_group", 0, NULL,
     weft__wait_group_shows_waiters,
     weft__wait_group_shows_problems,
     NULL,
     {WEFT__FIELD(wait_group, state)}},
    {"barrier", WEFT_KIND_barrier, NULL,
     weft__barrier_shows_waiters,
     weft__barrier_shows_problems,
     NULL,
     {WEFT__FIELD(barrier, magic),
      WEFT__FIELD(barrier, parties),
      WEFT__FIELD(barrier, tracked),
      WEFT__FIELD(barrier, seal),
      WEFT__FIELD(barrier, state)}},
    {"once", 0, weft__once_shows_owner,
     weft__once_shows_waiters,
     weft__once_shows_problems,
     NULL,
     {WEFT__FIELD(once, state)}},
    {"snapshot", WEFT_KIND_snapshot, NULL,
     NULL,
     weft__snapshot_shows_problems,
     NULL,
     {WEFT__FIELD(snapshot, magic),
      WEFT__FIELD(snapshot, size),
      WEFT__FIELD(snapshot, single_reader),
      WEFT__FIELD(snapshot, seal),
      WEFT__FIELD(snapshot, state),
      WEFT__FIELD(snapshot, writer),
      WEFT__FIELD(snapshot, reader)}},
    {"spsc_queue", WEFT_KIND_spsc_queue, NULL,
     weft__spsc_queue_shows_waiters,
     weft__spsc_queue_shows_problems,
     NULL,
     {WEFT__FIELD(spsc_queue, magic),
      WEFT__FIELD(spsc_queue, capacity),
      WEFT__FIELD(spsc_queue, element_size),
      WEFT__FIELD(spsc_queue, seal),
      WEFT__FIELD(spsc_queue, shape),
      WEFT__FIELD(spsc_queue, tail),
      WEFT__FIELD(spsc_queue, head_cache),
      WEFT__FIELD(spsc_queue, producer),
      WEFT__FIELD(spsc_queue, tail_bell),
      WEFT__FIELD(spsc_queue, tail_gong),
      WEFT__FIELD(spsc_queue, head),
      WEFT__FIELD(spsc_queue, tail_cache),
      WEFT__FIELD(spsc_queue, consumer),
      WEFT__FIELD(spsc_queue, head_bell),
      WEFT__FIELD(spsc_queue, head_gong)}},
    {"mpmc_queue", WEFT_KIND_mpmc_queue, NULL,
     weft__mpmc_queue_shows_waiters,
     weft__mpmc_queue_shows_problems,
     weft__mpmc_queue_shows_behind,
     {WEFT__FIELD(mpmc_queue, magic),
      WEFT__FIELD(mpmc_queue, capacity),
      WEFT__FIELD(mpmc_queue, element_size),
      WEFT__FIELD(mpmc_queue, seal),
      WEFT__FIELD(mpmc_queue, shape),
      WEFT__FIELD(mpmc_queue, tail),
      WEFT__FIELD(mpmc_queue, head),
      WEFT__FIELD(mpmc_queue, pop_epoch),
      WEFT__FIELD(mpmc_queue, pop_waiters),
      WEFT__FIELD(mpmc_queue, pop_gong),
      WEFT__FIELD(mpmc_queue, push_epoch),
      WEFT__FIELD(mpmc_queue, push_waiters),
      WEFT__FIELD(mpmc_queue, push_gong)}},
    {"lock_free_queue", WEFT_KIND_lock_free_queue, NULL,
     weft__lock_free_queue_shows_waiters,
     NULL,
     weft__lock_free_queue_shows_behind,
     {WEFT__FIELD(lock_free_queue, magic),
      WEFT__FIELD(lock_free_queue, capacity),
      WEFT__FIELD(lock_free_queue, element_size),
      WEFT__FIELD(lock_free_queue, seal),
      WEFT__FIELD(lock_free_queue, shape),
      WEFT__FIELD(lock_free_queue, tail),
      WEFT__FIELD(lock_free_queue, head),
      WEFT__FIELD(lock_free_queue, free_tail),
      WEFT__FIELD(lock_free_queue, free_head),
      WEFT__FIELD(lock_free_queue, pop_epoch),
      WEFT__FIELD(lock_free_queue, pop_waiters),
      WEFT__FIELD(lock_free_queue, pop_gong),
      WEFT__FIELD(lock_free_queue, push_epoch),
      WEFT__FIELD(lock_free_queue, push_waiters),
      WEFT__FIELD(lock_free_queue, push_gong)}},
    {"record_ring", WEFT_KIND_record_ring, NULL,
     weft__record_ring_shows_waiters,
     weft__record_ring_shows_problems,
     weft__record_ring_shows_behind,
     {WEFT__FIELD(record_ring, magic),
      WEFT__FIELD(record_ring, capacity),
      WEFT__FIELD(record_ring, roles),
      WEFT__FIELD(record_ring, seal),
      WEFT__FIELD(record_ring, most),
      WEFT__FIELD(record_ring, tail),
      WEFT__FIELD(record_ring, claimant),
      WEFT__FIELD(record_ring, head_cache),
      WEFT__FIELD(record_ring, least),
      WEFT__FIELD(record_ring, pushed),
      WEFT__FIELD(record_ring, popped_cache),
      WEFT__FIELD(record_ring, head),
      WEFT__FIELD(record_ring, tail_cache),
      WEFT__FIELD(record_ring, consumer),
      WEFT__FIELD(record_ring, popped),
      WEFT__FIELD(record_ring, pop_epoch),
      WEFT__FIELD(record_ring, pop_waiters),
      WEFT__FIELD(record_ring, pop_gong),
      WEFT__FIELD(record_ring, push_epoch),
      WEFT__FIELD(record_ring, push_waiters),
      WEFT__FIELD(record_ring, push_gong),
      WEFT__FIELD(record_ring, hand_ons)}},
    {"broadcast", WEFT_KIND_broadcast, NULL,
     weft__broadcast_shows_waiters,
     weft__broadcast_shows_problems,
     weft__broadcast_shows_behind,
     {WEFT__FIELD(broadcast, magic),
      WEFT__FIELD(broadcast, shape),
      WEFT__FIELD(broadcast, element_size),
      WEFT__FIELD(broadcast, seal),
      WEFT__FIELD(broadcast, tail),
      WEFT__FIELD(broadcast, slowest),
      WEFT__FIELD(broadcast, producer),
      WEFT__FIELD(broadcast, pop_epoch),
      WEFT__FIELD(broadcast, pop_waiters),
      WEFT__FIELD(broadcast, push_epoch),
      WEFT__FIELD(broadcast, push_waiters)}},
    {"shape_table", WEFT_KIND_shape_table, NULL,
     NULL,
     NULL,
     weft__shape_table_shows_behind,
     {WEFT__FIELD(shape_table, magic),
      WEFT__FIELD(shape_table, bytes),
      WEFT__FIELD(shape_table, seal),
      WEFT__FIELD(shape_table, used)}},
    {"channel", WEFT_KIND_channel, NULL,
     NULL,
     weft__channel_shows_problems,
     NULL,
     {WEFT__FIELD(channel, magic),
      WEFT__FIELD(channel, codec),
      WEFT__FIELD(channel, shape),
      WEFT__FIELD(channel, seal),
      WEFT__FIELD(channel, message_size),
      WEFT__FIELD(channel, tracked),
      WEFT__FIELD(channel, ends),
      WEFT__FIELD(channel, senders),
      WEFT__FIELD(channel, receivers),
      WEFT__FIELD(channel, place),
      WEFT__FIELD(channel, handoff),
      WEFT__FIELD(channel, offer_epoch),
      WEFT__FIELD(channel, offer_waiters),
      WEFT__FIELD(channel, offer_gong),
      WEFT__FIELD(channel, message_epoch),
      WEFT__FIELD(channel, message_waiters),
      WEFT__FIELD(channel, message_gong),
      WEFT__FIELD(channel, room_epoch),
      WEFT__FIELD(channel, room_waiters),
      WEFT__FIELD(channel, taken_epoch),
      WEFT__FIELD(channel, taken_waiters),
      WEFT__FIELD(channel, writer)}},
    {"call_ring", WEFT_KIND_call_ring, NULL,
     weft__call_ring_shows_waiters,
     weft__call_ring_shows_problems,
     weft__call_ring_shows_behind,
     {WEFT__FIELD(call_ring, magic),
      WEFT__FIELD(call_ring, shape),
      WEFT__FIELD(call_ring, reply),
      WEFT__FIELD(call_ring, seal),
      WEFT__FIELD(call_ring, closed),
      WEFT__FIELD(call_ring, serve_epoch),
      WEFT__FIELD(call_ring, serve_waiters),
      WEFT__FIELD(call_ring, look),
      WEFT__FIELD(call_ring, slot_epoch),
      WEFT__FIELD(call_ring, slot_waiters),
      WEFT__FIELD(call_ring, pauses),
      WEFT__FIELD(call_ring, deaths),
      WEFT__FIELD(call_ring, dead)}},
    {"work_counter", WEFT_KIND_work_counter, NULL,
     weft__work_counter_shows_waiters,
     weft__work_counter_shows_problems,
     NULL,
     {WEFT__FIELD(work_counter, magic),
      WEFT__FIELD(work_counter, total),
      WEFT__FIELD(work_counter, chunk),
      WEFT__FIELD(work_counter, seal),
      WEFT__FIELD(work_counter, tracked),
      WEFT__FIELD(work_counter, next),
      WEFT__FIELD(work_counter, done),
      WEFT__FIELD(work_counter, target),
      WEFT__FIELD(work_counter, finished)}},
    {"work_deque", WEFT_KIND_work_deque, NULL,
     NULL,
     weft__work_deque_shows_problems,
     NULL,
     {WEFT__FIELD(work_deque, magic),
      WEFT__FIELD(work_deque, capacity),
      WEFT__FIELD(work_deque, seal),
      WEFT__FIELD(work_deque, bottom),
      WEFT__FIELD(work_deque, owner),
      WEFT__FIELD(work_deque, top)}},
    {"slab_pool", WEFT_KIND_slab_pool, NULL,
     NULL,
     NULL,
     weft__slab_pool_shows_behind,
     {WEFT__FIELD(slab_pool, magic),
      WEFT__FIELD(slab_pool, capacity),
      WEFT__FIELD(slab_pool, block_size),
      WEFT__FIELD(slab_pool, seal)}},
    {"hash_map", WEFT_KIND_hash_map, NULL,
     NULL,
     NULL,
     weft__hash_map_shows_behind,
     {WEFT__FIELD(hash_map, magic),
      WEFT__FIELD(hash_map, capacity),
      WEFT__FIELD(hash_map, sizes),
      WEFT__FIELD(hash_map, seal),
      WEFT__FIELD(hash_map, codecs),
      WEFT__FIELD(hash_map, key_shape),
      WEFT__FIELD(hash_map, value_shape),
      WEFT__FIELD(hash_map, seed_low),
      WEFT__FIELD(hash_map, seed_high),
      WEFT__FIELD(hash_map, ttl),
      WEFT__FIELD(hash_map, blocks),
      WEFT__FIELD(hash_map, block_words),
      WEFT__FIELD(hash_map, longest),
      WEFT__FIELD(hash_map, heap_seal),
      WEFT__FIELD(hash_map, longest_key),
      WEFT__FIELD(hash_map, hand),
      WEFT__FIELD(hash_map, room),
      WEFT__FIELD(hash_map, full)}},
    {"striped_counter", WEFT_KIND_striped_counter, NULL,
     NULL,
     NULL,
     weft__striped_counter_shows_behind,
     {WEFT__FIELD(striped_counter, magic),
      WEFT__FIELD(striped_counter, stripes),
      WEFT__FIELD(striped_counter, seal),
      WEFT__FIELD(striped_counter, claims)}},
/* clang-format on */
/* End of what `deno task layout` makes. */
  };
  return i < sizeof all / sizeof *all ? &all[i] : NULL;
}

WEFT__END

#endif

#endif /* WEFT_INSPECT_SHOWN_H */
