/* inspect.h - the twin of primitives/inspect.ts. */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

/* In the order of weft.h. */
/* clang-format off */
#include "mutex.h"
#include "rw_lock.h"
#include "condition.h"
#include "semaphore.h"
#include "event.h"
#include "latch.h"
#include "barrier.h"
#include "once.h"
#include "snapshot.h"
#include "spsc_queue.h"
#include "mpmc_queue.h"
#include "lock_free_queue.h"
#include "record_ring.h"
#include "broadcast.h"
#include "channel.h"
#include "call_ring.h"
#include "work_counter.h"
#include "work_deque.h"
#include "slab_pool.h"
#include "striped_counter.h"
/* clang-format on */

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* A word by its name. */
typedef struct {
  const char *name;
  size_t word;
} weft__field;

/* What a copy of the words says besides their values: the owner, and how many
   wait. A flag that says that somebody may wait counts 1. */
typedef struct {
  const char *kind;
  int32_t number; /* WEFT_KIND_, or 0 */
  int32_t (*owner)(const void *copy);
  int64_t (*waiters)(const void *copy);
  weft__field fields[16];
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

static inline int64_t weft__barrier_shows_waiters(const void *copy) {
  return ((const weft_barrier *)copy)->state & WEFT_BARRIER_ARRIVED_MASK;
}

static inline int32_t weft__once_shows_owner(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_RUNNER_MASK;
}

static inline int64_t weft__once_shows_waiters(const void *copy) {
  return ((const weft_once *)copy)->state & WEFT_ONCE_WAITING_BIT ? 1 : 0;
}

static inline int64_t weft__spsc_queue_shows_waiters(const void *copy) {
  const weft_spsc_queue *q = (const weft_spsc_queue *)copy;
  return (q->tail & WEFT_SPSC_QUEUE_WAITING_BIT) +
         (q->head & WEFT_SPSC_QUEUE_WAITING_BIT);
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
/* Begin of what `deno task layout` makes from primitives/_layout.ts. */
/* clang-format off */
    {"mutex", 0, weft__mutex_shows_owner,
     weft__mutex_shows_waiters,
     {WEFT__FIELD(mutex, state),
      WEFT__FIELD(mutex, starving)}},
    {"rw_lock", 0, weft__rw_lock_shows_owner,
     weft__rw_lock_shows_waiters,
     {WEFT__FIELD(rw_lock, state),
      WEFT__FIELD(rw_lock, gate),
      WEFT__FIELD(rw_lock, writer),
      WEFT__FIELD(rw_lock, writer_starving)}},
    {"condition", 0, NULL,
     weft__condition_shows_waiters,
     {WEFT__FIELD(condition, turn),
      WEFT__FIELD(condition, even),
      WEFT__FIELD(condition, odd)}},
    {"semaphore", WEFT_KIND_semaphore, NULL,
     weft__semaphore_shows_waiters,
     {WEFT__FIELD(semaphore, magic),
      WEFT__FIELD(semaphore, tracked),
      WEFT__FIELD(semaphore, seal),
      WEFT__FIELD(semaphore, permits),
      WEFT__FIELD(semaphore, waiters),
      WEFT__FIELD(semaphore, turn),
      WEFT__FIELD(semaphore, bulk),
      WEFT__FIELD(semaphore, claimant),
      WEFT__FIELD(semaphore, claim)}},
    {"event", 0, NULL,
     weft__event_shows_waiters,
     {WEFT__FIELD(event, state)}},
    {"latch", WEFT_KIND_latch, NULL,
     weft__latch_shows_waiters,
     {WEFT__FIELD(latch, magic),
      WEFT__FIELD(latch, seal),
      WEFT__FIELD(latch, state)}},
    {"barrier", WEFT_KIND_barrier, NULL,
     weft__barrier_shows_waiters,
     {WEFT__FIELD(barrier, magic),
      WEFT__FIELD(barrier, parties),
      WEFT__FIELD(barrier, seal),
      WEFT__FIELD(barrier, state)}},
    {"once", 0, weft__once_shows_owner,
     weft__once_shows_waiters,
     {WEFT__FIELD(once, state)}},
    {"snapshot", WEFT_KIND_snapshot, NULL,
     NULL,
     {WEFT__FIELD(snapshot, magic),
      WEFT__FIELD(snapshot, size),
      WEFT__FIELD(snapshot, single_reader),
      WEFT__FIELD(snapshot, seal),
      WEFT__FIELD(snapshot, state)}},
    {"spsc_queue", WEFT_KIND_spsc_queue, NULL,
     weft__spsc_queue_shows_waiters,
     {WEFT__FIELD(spsc_queue, magic),
      WEFT__FIELD(spsc_queue, capacity),
      WEFT__FIELD(spsc_queue, element_size),
      WEFT__FIELD(spsc_queue, seal),
      WEFT__FIELD(spsc_queue, tail),
      WEFT__FIELD(spsc_queue, head_cache),
      WEFT__FIELD(spsc_queue, head),
      WEFT__FIELD(spsc_queue, tail_cache)}},
    {"mpmc_queue", WEFT_KIND_mpmc_queue, NULL,
     weft__mpmc_queue_shows_waiters,
     {WEFT__FIELD(mpmc_queue, magic),
      WEFT__FIELD(mpmc_queue, capacity),
      WEFT__FIELD(mpmc_queue, element_size),
      WEFT__FIELD(mpmc_queue, seal),
      WEFT__FIELD(mpmc_queue, tail),
      WEFT__FIELD(mpmc_queue, head),
      WEFT__FIELD(mpmc_queue, pop_epoch),
      WEFT__FIELD(mpmc_queue, pop_waiters),
      WEFT__FIELD(mpmc_queue, push_epoch),
      WEFT__FIELD(mpmc_queue, push_waiters)}},
    {"lock_free_queue", WEFT_KIND_lock_free_queue, NULL,
     weft__lock_free_queue_shows_waiters,
     {WEFT__FIELD(lock_free_queue, magic),
      WEFT__FIELD(lock_free_queue, capacity),
      WEFT__FIELD(lock_free_queue, element_size),
      WEFT__FIELD(lock_free_queue, seal),
      WEFT__FIELD(lock_free_queue, tail),
      WEFT__FIELD(lock_free_queue, head),
      WEFT__FIELD(lock_free_queue, free_tail),
      WEFT__FIELD(lock_free_queue, free_head),
      WEFT__FIELD(lock_free_queue, pop_epoch),
      WEFT__FIELD(lock_free_queue, pop_waiters),
      WEFT__FIELD(lock_free_queue, push_epoch),
      WEFT__FIELD(lock_free_queue, push_waiters)}},
    {"record_ring", WEFT_KIND_record_ring, NULL,
     weft__record_ring_shows_waiters,
     {WEFT__FIELD(record_ring, magic),
      WEFT__FIELD(record_ring, capacity),
      WEFT__FIELD(record_ring, single_producer),
      WEFT__FIELD(record_ring, seal),
      WEFT__FIELD(record_ring, tail),
      WEFT__FIELD(record_ring, claimant),
      WEFT__FIELD(record_ring, head_cache),
      WEFT__FIELD(record_ring, least),
      WEFT__FIELD(record_ring, head),
      WEFT__FIELD(record_ring, tail_cache),
      WEFT__FIELD(record_ring, pop_epoch),
      WEFT__FIELD(record_ring, pop_waiters),
      WEFT__FIELD(record_ring, push_epoch),
      WEFT__FIELD(record_ring, push_waiters),
      WEFT__FIELD(record_ring, hand_ons)}},
    {"broadcast", WEFT_KIND_broadcast, NULL,
     weft__broadcast_shows_waiters,
     {WEFT__FIELD(broadcast, magic),
      WEFT__FIELD(broadcast, shape),
      WEFT__FIELD(broadcast, element_size),
      WEFT__FIELD(broadcast, seal),
      WEFT__FIELD(broadcast, tail),
      WEFT__FIELD(broadcast, slowest),
      WEFT__FIELD(broadcast, pop_epoch),
      WEFT__FIELD(broadcast, pop_waiters),
      WEFT__FIELD(broadcast, push_epoch),
      WEFT__FIELD(broadcast, push_waiters)}},
    {"channel", WEFT_KIND_channel, NULL,
     NULL,
     {WEFT__FIELD(channel, magic),
      WEFT__FIELD(channel, codec),
      WEFT__FIELD(channel, shape),
      WEFT__FIELD(channel, seal),
      WEFT__FIELD(channel, message_size)}},
    {"call_ring", WEFT_KIND_call_ring, NULL,
     weft__call_ring_shows_waiters,
     {WEFT__FIELD(call_ring, magic),
      WEFT__FIELD(call_ring, shape),
      WEFT__FIELD(call_ring, reply),
      WEFT__FIELD(call_ring, seal),
      WEFT__FIELD(call_ring, closed),
      WEFT__FIELD(call_ring, serve_epoch),
      WEFT__FIELD(call_ring, serve_waiters),
      WEFT__FIELD(call_ring, look),
      WEFT__FIELD(call_ring, slot_epoch),
      WEFT__FIELD(call_ring, slot_waiters)}},
    {"work_counter", WEFT_KIND_work_counter, NULL,
     weft__work_counter_shows_waiters,
     {WEFT__FIELD(work_counter, magic),
      WEFT__FIELD(work_counter, total),
      WEFT__FIELD(work_counter, chunk),
      WEFT__FIELD(work_counter, seal),
      WEFT__FIELD(work_counter, next),
      WEFT__FIELD(work_counter, done),
      WEFT__FIELD(work_counter, target),
      WEFT__FIELD(work_counter, finished)}},
    {"work_deque", WEFT_KIND_work_deque, NULL,
     NULL,
     {WEFT__FIELD(work_deque, magic),
      WEFT__FIELD(work_deque, capacity),
      WEFT__FIELD(work_deque, seal),
      WEFT__FIELD(work_deque, bottom),
      WEFT__FIELD(work_deque, top)}},
    {"slab_pool", WEFT_KIND_slab_pool, NULL,
     NULL,
     {WEFT__FIELD(slab_pool, magic),
      WEFT__FIELD(slab_pool, capacity),
      WEFT__FIELD(slab_pool, block_size),
      WEFT__FIELD(slab_pool, seal)}},
    {"striped_counter", WEFT_KIND_striped_counter, NULL,
     NULL,
     {WEFT__FIELD(striped_counter, magic),
      WEFT__FIELD(striped_counter, stripes),
      WEFT__FIELD(striped_counter, seal),
      WEFT__FIELD(striped_counter, claims)}},
/* clang-format on */
/* End of what `deno task layout` makes. */
  };
  return i < sizeof all / sizeof *all ? &all[i] : NULL;
}

/*
 * Does the same as weft_inspect for a primitive of `kind`, such as "mutex": a
 * primitive that zeroed memory already is has no word that says its kind. Also
 * EINVAL if there is no such kind, or another one at `at`.
 */
static inline int weft_inspect_as(const void *at, const char *kind,
                                  FILE *out) {
  const int32_t *words = (const int32_t *)at;
  const weft__shown *shown;
  size_t i = 0;
  while ((shown = weft__shown_of(i++)) != NULL)
    if (__builtin_strcmp(shown->kind, kind) == 0) break;
  if (shown == NULL || !weft__aligned(at)) return EINVAL;
  if (shown->number != 0 && weft__load(words) != weft__magic(shown->number))
    return EINVAL;
  int32_t copy[256];
  const char *comma = "";
  fprintf(out, "{\"kind\":\"%s\",\"byteOffset\":%zu,\"words\":{", shown->kind,
          (size_t)(uintptr_t)at);
  for (const weft__field *f = shown->fields; f->name != NULL; f++) {
    copy[f->word] = weft__load(words + f->word);
    fprintf(out, "%s\"%s\":%ld", comma, f->name, (long)copy[f->word]);
    comma = ",";
  }
  fprintf(out, "}");
  if (shown->owner != NULL)
    fprintf(out, ",\"owner\":%ld", (long)shown->owner(copy));
  if (shown->waiters != NULL)
    fprintf(out, ",\"waiters\":%lld", (long long)shown->waiters(copy));
  fprintf(out, "}\n");
  return 0;
}

/*
 * Prints one line about the words of the primitive at `at`: what JSON.stringify
 * makes of the result of inspect in JavaScript. It only reads them. It may be
 * called at any time, also for memory of terminated agents, so it accepts a
 * configuration that does not match its seal. EINVAL if nothing of this layout
 * version was initialized there.
 */
static inline int weft_inspect(const void *at, FILE *out) {
  if (!weft__aligned(at)) return EINVAL;
  int32_t magic = weft__load((const int32_t *)at);
  const weft__shown *shown;
  for (size_t i = 0; (shown = weft__shown_of(i)) != NULL; i++)
    if (shown->number != 0 && weft__magic(shown->number) == magic)
      return weft_inspect_as(at, shown->kind, out);
  return EINVAL;
}

WEFT__END

#endif

#endif /* WEFT_INSPECT_H */
