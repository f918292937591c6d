/* inspect.h - the twin of primitives/tools/inspect.ts. */
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
#include "wait_group.h"
#include "barrier.h"
#include "once.h"
#include "snapshot.h"
#include "spsc_queue.h"
#include "mpmc_queue.h"
#include "lock_free_queue.h"
#include "record_ring.h"
#include "broadcast.h"
#include "shape_table.h"
#include "channel.h"
#include "call_ring.h"
#include "work_counter.h"
#include "work_deque.h"
#include "slab_pool.h"
#include "hash_map.h"
#include "striped_counter.h"
/* clang-format on */

#if defined(WEFT_STDIO) && !defined(WEFT_REALTIME)

WEFT__BEGIN

/* A word by its name. */
typedef struct {
  const char *name;
  size_t word;
} weft__field;

/* Something in the words that does not fit together: see Problem in
   _memory/region.ts. */
typedef struct {
  const char *word; /* its name, or the name of the part behind */
  int32_t part;     /* the number of that part, or -1 */
  int32_t value;
  size_t index; /* counted in words */
  bool claimed; /* or else it is damaged */
  const char *text;
} weft__problem;

/* The number of problems that are told, at most. */
#define WEFT__MOST_PROBLEMS 16

/* What one look found. */
typedef struct {
  const weft__field *fields;
  const int32_t *copy;
  int32_t count;
  weft__problem all[WEFT__MOST_PROBLEMS];
} weft__problems;

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

/* The problem of a head that its tail cannot have. */
#define WEFT__NOT_BEHIND \
  "It is beyond `tail`, or further behind it than the capacity."
/* The problem of a word that keeps an earlier value of another one. */
#define WEFT__NOT_RECENT \
  "It is not a recent value of the other word."
/* The problem of a word that names an agent. */
#define WEFT__NO_AGENT "No agent has this id."
/* The problem of a word that is 0 or 1. */
#define WEFT__NO_FLAG "It must be 0 or 1."

/* The most slots, entries or blocks that weft_inspect looks at. */
#define WEFT__MOST_PARTS (1 << 16)

/* Tells a problem of a word behind the named ones: of a part, such as slot 3.
 */
static inline void weft__tell_behind(weft__problems *found, size_t index,
                                     const char *word, int32_t part,
                                     int32_t value, const char *text,
                                     bool claimed) {
  if (found->count == WEFT__MOST_PROBLEMS) return;
  weft__problem *problem = &found->all[found->count++];
  problem->word = word;
  problem->part = part;
  problem->value = value;
  problem->index = index;
  problem->claimed = claimed;
  problem->text = text;
}

/* Tells a problem of the word at `index`, if there is one. */
static inline void weft__tell(weft__problems *found, bool wrong, size_t index,
                              const char *text) {
  const weft__field *field = found->fields;
  if (!wrong) return;
  while (field->word != index) field++;
  weft__tell_behind(found, index, field->name, -1, found->copy[index], text,
                    false);
}

/* Where a word is in the primitive at `at`. */
static inline size_t weft__index_of(const void *at, const int32_t *word) {
  return (size_t)(word - (const int32_t *)at);
}

#define WEFT__AT(type, field) (offsetof(weft_##type, field) / 4)

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

/* ---- what does not fit together: in copies of the words */

/* Tells what is wrong with the two words of a mutex at `index`. */
static inline void weft__lock_problems(const int32_t *words, size_t index,
                                       weft__problems *found) {
  int32_t state = words[index];
  bool nobody = (state & WEFT_MUTEX_ABANDONED_BIT) != 0 ||
                /* what is offered is contended */
                (state & WEFT__MUTEX_KEPT) == WEFT_MUTEX_HANDOFF_BIT;
  weft__tell(found, state < 0, index, "Bit 31 is never set.");
  weft__tell(found,
             (state & WEFT_MUTEX_OWNER_MASK) != 0 && nobody,
             index, "It names an owner, but also says that there is none.");
  weft__tell(found, (words[index + 1] & ~1) != 0, index + 1, WEFT__NO_FLAG);
}

static inline void weft__mutex_shows_problems(const void *copy,
                                              weft__problems *found) {
  weft__lock_problems((const int32_t *)copy, WEFT__AT(mutex, state), found);
}

static inline void weft__rw_lock_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_rw_lock *l = (const weft_rw_lock *)copy;
  bool writes = (l->state & WEFT_RW_LOCK_WRITING_BIT) != 0;
  bool owned = (l->writer & WEFT_MUTEX_OWNER_MASK) != 0;
  weft__tell(found, writes && (l->state & WEFT_RW_LOCK_READING_MASK) != 0,
             WEFT__AT(rw_lock, state), "An agent writes while others read.");
  weft__tell(found, writes && !owned, WEFT__AT(rw_lock, state),
             "An agent writes, but `writer` names none.");
  weft__lock_problems((const int32_t *)copy, WEFT__AT(rw_lock, writer), found);
  weft__tell(found, l->tracked != 0 && weft_rw_lock_tracked(l) == 0,
             WEFT__AT(rw_lock, tracked),
             "It must be 0, or agents with their complement.");
  const int32_t readers = WEFT_RW_LOCK_READING_MASK | WEFT_RW_LOCK_PENDING_MASK;
  weft__tell(found, l->tracked != 0 && (l->state & readers) != 0,
             WEFT__AT(rw_lock, state), "It counts readers, which are tracked.");
}

static inline void weft__condition_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_condition *c = (const weft_condition *)copy;
  bool odd = (c->turn & 1) != 0;
  weft__tell(found, !weft__condition_calls(odd ? c->odd : c->even, c->turn),
             odd ? WEFT__AT(condition, odd) : WEFT__AT(condition, even),
             "Its phase differs from the phase in `turn`.");
}

static inline void weft__semaphore_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_semaphore *s = (const weft_semaphore *)copy;
  const char *none = "A semaphore never has this number of permits.";
  int32_t free = s->tracked == 0 ? weft__semaphore_free(s->permits) : 0;
  weft__tell(found, free > s->max, WEFT__AT(semaphore, permits), none);
  weft__tell(found, free < 0 && s->claimant == 0, WEFT__AT(semaphore, permits),
             "`claimant` names nobody.");
  weft__tell(found, s->bulk < 0, WEFT__AT(semaphore, bulk),
             "There are fewer than 0 waiters.");
  weft__tell(found, (uint32_t)s->claimant > WEFT_MUTEX_OWNER_MASK,
             WEFT__AT(semaphore, claimant), WEFT__NO_AGENT);
  weft__tell(found, s->claim < 0 || s->claim > WEFT_SEMAPHORE_MAX,
             WEFT__AT(semaphore, claim), none);
  weft__tell(found, s->tracked == 0 && s->claim > 0 && s->claimant == 0,
             WEFT__AT(semaphore, claim), "`claimant` names nobody.");
}

static inline void weft__event_shows_problems(const void *copy,
                                              weft__problems *found) {
  int32_t state = ((const weft_event *)copy)->state;
  weft__tell(found, (state & WEFT_EVENT_AUTO_BIT) != 0 && state < 0,
             WEFT__AT(event, state),
             "Bit 31 is never set if it resets automatically.");
}

static inline void weft__latch_shows_problems(const void *copy,
                                              weft__problems *found) {
  int32_t state = ((const weft_latch *)copy)->state;
  weft__tell(found, state < 0, WEFT__AT(latch, state), "Bit 31 is never set.");
  weft__tell(found, state == WEFT_LATCH_WAITING_BIT, WEFT__AT(latch, state),
             "It is open, but agents still wait.");
}

static inline void weft__wait_group_shows_problems(const void *copy,
                                                   weft__problems *found) {
  int32_t state = ((const weft_wait_group *)copy)->state;
  weft__tell(found,
             (state & (WEFT_WAIT_GROUP_WAITING_BIT |
                       WEFT_WAIT_GROUP_COUNT_MASK)) ==
                 WEFT_WAIT_GROUP_WAITING_BIT,
             WEFT__AT(wait_group, state),
             "The count is 0, but agents still wait.");
}

static inline void weft__barrier_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_barrier *b = (const weft_barrier *)copy;
  if (b->tracked != 0) return; /* its state is another */
  int32_t arrived = b->state & WEFT_BARRIER_ARRIVED_MASK;
  int32_t left =
      (b->state & WEFT_BARRIER_PARTIES_MASK) / WEFT_BARRIER_ONE_PARTY;
  weft__tell(found, left > b->parties, WEFT__AT(barrier, state),
             "There are more parties than `parties`.");
  weft__tell(found, arrived > 0 && arrived >= left, WEFT__AT(barrier, state),
             "All parties have arrived, but they do not go on.");
}

static inline void weft__once_shows_problems(const void *copy,
                                             weft__problems *found) {
  int32_t state = ((const weft_once *)copy)->state;
  const int32_t known =
      WEFT_ONCE_RUNNER_MASK | WEFT_ONCE_DONE_BIT | WEFT_ONCE_WAITING_BIT;
  weft__tell(found, (state & ~known) != 0, WEFT__AT(once, state),
             "Bits 29 and 31 are never set.");
  weft__tell(
      found,
      (state & WEFT_ONCE_DONE_BIT) != 0 && (state & WEFT_ONCE_RUNNER_MASK) != 0,
      WEFT__AT(once, state),
      "The function was run to its end, but an agent runs it.");
}

/* A role belongs to an agent, or to nobody. */
static inline void weft__role_problem(weft__problems *found, int32_t id,
                                      size_t at) {
  weft__tell(found, (id & ~0x0fffffff) != 0, at, WEFT__NO_AGENT);
}

static inline void weft__snapshot_shows_problems(const void *copy,
                                                 weft__problems *found) {
  const weft_snapshot *s = (const weft_snapshot *)copy;
  weft__tell(found, s->single_reader == 1 && !weft__snapshot_is_whole(s->state),
             WEFT__AT(snapshot, state),
             "It does not name two different copies.");
  weft__role_problem(found, s->writer, WEFT__AT(snapshot, writer));
  weft__role_problem(found, s->reader, WEFT__AT(snapshot, reader));
}

/* Tells of positions that are not in order: head_cache, head, tail_cache, tail,
   and head_cache at most a lap, `most`, behind tail. `at` are the indexes of
   head, head_cache and tail_cache. */
static inline void weft__order_problems(const int32_t *words, int32_t tail,
                                        int32_t head, int32_t most,
                                        const size_t at[3],
                                        weft__problems *found) {
  uint32_t span = (uint32_t)most;
  int32_t earlier = words[at[1]], later = words[at[2]];
  weft__tell(found, (uint32_t)weft__minus(tail, head) > span, at[0],
             WEFT__NOT_BEHIND);
  weft__tell(found,
             (uint32_t)weft__minus(tail, earlier) > span ||
                 weft__minus(head, earlier) < 0,
             at[1], WEFT__NOT_RECENT);
  weft__tell(
      found,
      (uint32_t)weft__minus(later, head) > span || weft__minus(tail, later) < 0,
      at[2], WEFT__NOT_RECENT);
}

static inline void weft__spsc_queue_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_spsc_queue *q = (const weft_spsc_queue *)copy;
  const size_t at[3] = {WEFT__AT(spsc_queue, head),
                        WEFT__AT(spsc_queue, head_cache),
                        WEFT__AT(spsc_queue, tail_cache)};
  weft__order_problems((const int32_t *)copy,
                       q->tail & WEFT_SPSC_QUEUE_INDEX_MASK,
                       q->head & WEFT_SPSC_QUEUE_INDEX_MASK,
                       q->capacity * WEFT_SPSC_QUEUE_ONE, at, found);
  weft__role_problem(found, q->producer, WEFT__AT(spsc_queue, producer));
  weft__role_problem(found, q->consumer, WEFT__AT(spsc_queue, consumer));
}

static inline void weft__mpmc_queue_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_mpmc_queue *q = (const weft_mpmc_queue *)copy;
  int32_t used = weft__minus(q->tail & ~WEFT_MPMC_QUEUE_CLOSED_BIT, q->head);
  weft__tell(found, (q->head & 1) != 0, WEFT__AT(mpmc_queue, head),
             "It must be even.");
  weft__tell(found, used < 0 || used > q->capacity * WEFT_MPMC_QUEUE_ONE,
             WEFT__AT(mpmc_queue, head), WEFT__NOT_BEHIND);
}

static inline void weft__record_ring_shows_problems(const void *copy,
                                                    weft__problems *found) {
  const weft_record_ring *r = (const weft_record_ring *)copy;
  int32_t tail = r->tail & ~WEFT_RECORD_RING_CLOSED_BIT;
  const int32_t known =
      WEFT_RECORD_RING_OWNER_MASK | WEFT_RECORD_RING_CONTENDED_BIT;
  const size_t at[3] = {WEFT__AT(record_ring, head),
                        WEFT__AT(record_ring, head_cache),
                        WEFT__AT(record_ring, tail_cache)};
  weft__tell(found, (tail & 7) != 0, WEFT__AT(record_ring, tail),
             "It must be a multiple of 8.");
  weft__tell(found, (r->head & 7) != 0, WEFT__AT(record_ring, head),
             "It must be a multiple of 8.");
  weft__order_problems((const int32_t *)copy, tail, r->head, r->capacity, at,
                       found);
  weft__tell(found, (r->claimant & ~known) != 0,
             WEFT__AT(record_ring, claimant), WEFT__NO_AGENT);
  weft__tell(found, (r->consumer & ~known) != 0,
             WEFT__AT(record_ring, consumer), WEFT__NO_AGENT);
}

static inline void weft__channel_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_channel *c = (const weft_channel *)copy;
  weft__tell(found,
             c->codec < WEFT_CHANNEL_BINARY || c->codec > WEFT_CHANNEL_VALUE,
             WEFT__AT(channel, codec), "There is no such codec.");
  weft__tell(found, c->place < 0 || c->place % 4 != 0,
             WEFT__AT(channel, place), "It must be a multiple of 4.");
  weft__tell(found, weft__handoff_phase(c->handoff) > WEFT__HANDOFF_READING,
             WEFT__AT(channel, handoff), "There is no such phase.");
}

static inline void weft__call_ring_shows_problems(const void *copy,
                                                  weft__problems *found) {
  weft__tell(found, (((const weft_call_ring *)copy)->closed & ~1) != 0,
             WEFT__AT(call_ring, closed), WEFT__NO_FLAG);
}

static inline void weft__work_counter_shows_problems(const void *copy,
                                                     weft__problems *found) {
  const weft_work_counter *c = (const weft_work_counter *)copy;
  const char *none = "It must be 0 to `total`.";
  weft__tell(found, c->tracked != 0 && weft_work_counter_tracked(c) == 0,
             WEFT__AT(work_counter, tracked),
             "It must be 0, or agents with their complement.");
  weft__tell(found, c->done < 0 || c->done > c->total,
             WEFT__AT(work_counter, done), none);
  weft__tell(found, c->target < 0 || c->target > c->total,
             WEFT__AT(work_counter, target), none);
  weft__tell(found, (uint32_t)c->finished > WEFT_WORK_COUNTER_OVER,
             WEFT__AT(work_counter, finished), "It must be 0, 1 or 2.");
  weft__tell(found,
             c->finished == WEFT_WORK_COUNTER_OVER && c->done < c->target &&
                 c->tracked == 0,
             WEFT__AT(work_counter, finished),
             "It is over, but tasks are not done.");
}

static inline void weft__work_deque_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_work_deque *d = (const weft_work_deque *)copy;
  int32_t size = weft__minus(d->bottom, d->top);
  weft__tell(found, size < -1 || size > d->capacity, WEFT__AT(work_deque, top),
             "It is beyond `bottom`, or further behind it than the capacity.");
  if (d->owner != WEFT_WORK_DEQUE_LEFT_BIT)
    weft__role_problem(found, d->owner, WEFT__AT(work_deque, owner));
}

static inline void weft__broadcast_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_broadcast *b = (const weft_broadcast *)copy;
  weft__role_problem(found, b->producer, WEFT__AT(broadcast, producer));
}

/* ---- what does not fit together: behind the words */

static inline void weft__mpmc_queue_shows_behind(const void *at,
                                                 weft__problems *found) {
  const weft_mpmc_queue *q = (const weft_mpmc_queue *)at;
  static const char *const texts[] = {
      "",
      "An agent claimed this slot to push, and has not handed it on.",
      "An agent claimed this slot to pop, and has not handed it on.",
      "No ticket for this slot has this turn.",
  };
  int32_t tail = weft__load(&q->tail) & ~WEFT_MPMC_QUEUE_CLOSED_BIT;
  for (int32_t i = 0; i < q->capacity && i < WEFT__MOST_PARTS; i++) {
    weft__mpmc_look look = weft__mpmc_look_at(q, tail, i);
    if (look.doing == WEFT__MPMC_FINE) continue;
    weft__tell_behind(found, weft__index_of(at, look.slot), "slot", look.number,
                      look.turn, texts[look.doing],
                      look.doing != WEFT__MPMC_DAMAGED);
  }
}

static inline void weft__lock_free_queue_shows_behind(const void *at,
                                                      weft__problems *found) {
  const weft_lock_free_queue *q = (const weft_lock_free_queue *)at;
  const int32_t *all = (const int32_t *)(const void *)(q + 1);
  int32_t entries = weft__lock_free_entries(q->capacity);
  for (int32_t i = 0; i < 2 * entries && i < WEFT__MOST_PARTS; i++) {
    int32_t entry = weft__load(all + i);
    int32_t slot = entry & (entries - 1);
    /* There is one slot fewer than there are entries. */
    int32_t most = entry & entries ? entries - 2 : WEFT_LOCK_FREE_QUEUE_CLOSED;
    if (slot <= most) continue;
    weft__tell_behind(found, weft__index_of(at, all + i), "entry", i, entry,
                      "There is no such slot.", false);
  }
}

static inline void weft__record_ring_shows_behind(const void *at,
                                                  weft__problems *found) {
  const weft_record_ring *r = (const weft_record_ring *)at;
  int32_t claimant = weft__load(&r->claimant);
  if ((claimant & WEFT_RECORD_RING_OWNER_MASK) != 0 &&
      !weft_record_ring_single(r))
    weft__tell_behind(
        found, WEFT__AT(record_ring, claimant), "claimant", -1, claimant,
        "This agent makes room for a record, and has not ended.", true);
  int32_t consumer = weft__load(&r->consumer);
  if ((consumer & WEFT_RECORD_RING_OWNER_MASK) != 0 && weft_record_ring_many(r))
    weft__tell_behind(found, WEFT__AT(record_ring, consumer), "consumer", -1,
                      consumer, "This agent reads a record, and has not ended.",
                      true);
  int32_t position = weft__load(&r->head);
  int32_t tail = weft__load(&r->tail) & WEFT_RECORD_RING_POSITION_MASK;
  for (int i = 0; i < 4096; i++) {
    int32_t used = weft__minus(tail, position);
    if (used <= 0 || used > r->capacity || (position & 7) != 0) return;
    int32_t place = position & (r->capacity - 1);
    const int32_t *record = weft__record_at(r, position);
    int32_t first = weft__load(record);
    int32_t space = weft__record_space(weft__record_length(first));
    if ((first & 3) == 0 || space > used || space > r->capacity - place) {
      weft__tell_behind(found, weft__index_of(at, record), "record at", place,
                        first, "This length or this state is impossible.",
                        false);
      return;
    }
    position = weft__plus(position, space);
  }
}

static inline void weft__broadcast_shows_behind(const void *at,
                                                weft__problems *found) {
  const weft_broadcast *b = (const weft_broadcast *)at;
  const int32_t known =
      WEFT_BROADCAST_JOINING_BIT | (WEFT_BROADCAST_JOINING_BIT - 1);
  for (int32_t i = 0; i < weft_broadcast_seats(b); i++) {
    const weft__broadcast_seat *seat = weft__broadcast_at(b, i);
    int32_t owner = weft__load(&seat->owner);
    if ((owner & ~known) != 0)
      weft__tell_behind(found, weft__index_of(at, &seat->owner), "seat", i,
                        owner, WEFT__NO_AGENT, false);
    if (owner == 0 || (owner & WEFT_BROADCAST_JOINING_BIT) != 0) continue;
    int32_t cursor = weft__load(&seat->cursor);
    int32_t tail = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT;
    if (weft__minus(tail, cursor) >= 0 && (cursor & 1) == 0) continue;
    weft__tell_behind(found, weft__index_of(at, &seat->cursor), "seat", i,
                      cursor, "Its position is odd, or beyond `tail`.", false);
  }
}

static inline void weft__call_ring_shows_behind(const void *at,
                                                weft__problems *found) {
  const weft_call_ring *r = (const weft_call_ring *)at;
  for (int32_t i = 0; i < weft_call_ring_slots(r); i++) {
    const weft_call *call = weft__call_at(r, i);
    int32_t state = weft__load(&call->state);
    int32_t phase = weft__call_phase(state);
    if (phase != WEFT_CALL_RING_FREE && (state & WEFT_CALL_RING_ID_MASK) == 0)
      weft__tell_behind(found, weft__index_of(at, &call->state), "slot", i,
                        state, "It is in use, but names no agent.", false);
    int32_t request = weft__load(&call->request_length);
    if ((phase == WEFT_CALL_RING_POSTED || phase == WEFT_CALL_RING_SERVING ||
         phase == WEFT_CALL_RING_DROPPED) &&
        (uint32_t)request > (uint32_t)weft_call_ring_max_request(r))
      weft__tell_behind(found, weft__index_of(at, &call->request_length),
                        "slot", i, request,
                        "The request is too long for a slot.", false);
    int32_t reply = weft__load(&call->reply_length);
    if ((phase == WEFT_CALL_RING_REPLIED || phase == WEFT_CALL_RING_FAILED) &&
        (uint32_t)reply > (uint32_t)r->reply)
      weft__tell_behind(found, weft__index_of(at, &call->reply_length), "slot",
                        i, reply, "The reply is too long for a slot.",
                        false);
  }
}

static inline void weft__shape_table_shows_behind(const void *at,
                                                  weft__problems *found) {
  const weft_shape_table *t = (const weft_shape_table *)at;
  for (int32_t i = 0; i < WEFT_SHAPE_TABLE_SLOTS; i++) {
    const weft__shape_slot *slot = &weft__shape_slots(t)[i];
    int32_t state = weft__load(&slot->state);
    if (state == WEFT__SHAPE_FREE || state == WEFT__SHAPE_CLAIMED) continue;
    if (weft__shape_is_whole(t, slot->place, state)) continue;
    weft__tell_behind(found, weft__index_of(at, &slot->place), "slot", i,
                      slot->place, "No text of a shape is there.", false);
  }
}

static inline void weft__slab_pool_shows_behind(const void *at,
                                                weft__problems *found) {
  weft_slab_pool *p = (weft_slab_pool *)(uintptr_t)at;
  const int32_t known =
      WEFT_SLAB_POOL_CACHED_BIT | (WEFT_SLAB_POOL_CACHED_BIT - 1);
  for (int32_t i = 0; i < p->capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *word = weft__slab_owner(p, i);
    int32_t owner = weft__load(word);
    if ((owner & ~known) == 0 && owner != WEFT_SLAB_POOL_CACHED_BIT) continue;
    weft__tell_behind(found, weft__index_of(at, word), "block", i, owner,
                      WEFT__NO_AGENT, false);
  }
}

/* Tells of a stripe, if its words are not those of a sum. */
static inline void weft__stripe_shows(const void *at, weft__problems *found,
                                      int32_t i, const weft__stripe *sum) {
  if (weft__stripe_is_sum(sum)) return;
  weft__tell_behind(found, weft__index_of(at, &sum->high), "stripe", i,
                    weft__load(&sum->high),
                    "It does not fit the sum in `low`.", false);
}

/* What only a cache has. */
static inline void weft__hash_clock_shows(const weft_hash_map *m,
                                          const weft__hash_plan *plan,
                                          weft__problems *found) {
  for (int32_t i = 0; i < plan->capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *used = weft__hash_entry(m, plan, i + 1) + plan->key - 1;
    int32_t word = weft__load(used);
    if (word != 0 && word != 1)
      weft__tell_behind(found, weft__index_of(m, used), "entry", i + 1, word,
                        WEFT__NO_FLAG, false);
  }
  for (int32_t i = 0; i < WEFT__HASH_STRIPES; i++) {
    const weft__hash_stripe *stripe = weft__hash_stripes(m, plan) + i;
    weft__stripe_shows(m, found, i, &stripe->hits);
    weft__stripe_shows(m, found, i, &stripe->misses);
    weft__stripe_shows(m, found, i, &stripe->evictions);
  }
}

/* The blocks. */
static inline void weft__hash_heap_shows(const weft_hash_map *m,
                                         const weft__hash_plan *plan,
                                         weft__problems *found) {
  weft__heap heap = weft__hash_heap_of(m, plan);
  for (int32_t i = 0; i < heap.count && i < WEFT__MOST_PARTS; i++) {
    const int32_t *block = weft__heap_at(&heap, i + 1);
    int32_t owner = weft__load(block + WEFT__HEAP_OWNER);
    if (owner < 0 || owner > plan->buckets)
      weft__tell_behind(found, weft__index_of(m, block), "block", i + 1, owner,
                        "There is no such bucket.", false);
    /* The word of a block that is free says nothing. */
    int32_t next = weft__load(block + WEFT__HEAP_NEXT);
    if (owner != 0 && (next < 0 || next > heap.count))
      weft__tell_behind(found, weft__index_of(m, block + WEFT__HEAP_NEXT),
                        "block", i + 1, next, "There is no such block.", false);
  }
}

static inline void weft__hash_map_shows_behind(const void *at,
                                               weft__problems *found) {
  const weft_hash_map *m = (const weft_hash_map *)at;
  weft__hash_plan plan = weft__hash_plan_of(m);
  for (int32_t i = 0; i < WEFT__HASH_GROUPS; i++) {
    const int32_t *word = (const int32_t *)(const void *)(m + 1) + 2 * i + 1;
    int32_t waiters = weft__load(word);
    if ((waiters & 0x40000000) == 0) continue;
    weft__tell_behind(found, weft__index_of(at, word), "waiters", i, waiters,
                      "There are fewer than 0 waiters.", false);
  }
  for (int32_t i = 0; i < weft__hash_flights(m->capacity); i++) {
    const int32_t *flight = weft__hash_flight(m, i);
    int32_t owner = weft__load(flight);
    if (owner >= 0 && owner <= WEFT_MUTEX_OWNER_MASK) continue;
    weft__tell_behind(found, weft__index_of(at, flight), "flight", i, owner,
                      WEFT__NO_AGENT, false);
  }
  for (int32_t i = 0; i < plan.buckets && i < WEFT__MOST_PARTS; i++) {
    const weft__hash_bucket *bucket = weft__hash_bucket_at(m, i);
    int32_t lock = weft__load(&bucket->lock.state);
    if (lock < 0)
      weft__tell_behind(found, weft__index_of(at, &bucket->lock.state),
                        "bucket", i, lock, "Bit 31 is never set.", false);
    int32_t head = weft__load(&bucket->head);
    if (head < 0 || head > plan.capacity)
      weft__tell_behind(found, weft__index_of(at, &bucket->head), "bucket", i,
                        head, "There is no such entry.", false);
  }
  for (int32_t i = 0; i < plan.capacity && i < WEFT__MOST_PARTS; i++) {
    const int32_t *entry = weft__hash_entry(m, &plan, i + 1);
    int32_t link = weft__load(entry);
    int32_t next = link & WEFT__HASH_NEXT_MASK;
    if (link == 0) continue;
    const char *text = NULL;
    if (link < 0) {
      int32_t id = link & ~WEFT__HASH_CLAIMED_BIT;
      if (id == 0 || id > WEFT_MUTEX_OWNER_MASK) text = WEFT__NO_AGENT;
    } else if (link == next || next > plan.capacity) {
      text = "There is no such entry.";
    }
    if (text != NULL)
      weft__tell_behind(found, weft__index_of(at, entry), "entry", i + 1, link,
                        text, false);
  }
  if (plan.evicts) weft__hash_clock_shows(m, &plan, found);
  if (plan.blocks != 0) weft__hash_heap_shows(m, &plan, found);
  bool fits = plan.expires ? m->ttl >= 1 && m->ttl <= WEFT__HASH_MOST_TTL
                           : m->ttl == 0;
  weft__tell(found, !fits, WEFT__AT(hash_map, ttl),
             "It does not fit the word `sizes`.");
}

static inline void weft__striped_counter_shows_behind(const void *at,
                                                      weft__problems *found) {
  const weft_striped_counter *c = (const weft_striped_counter *)at;
  const weft_striped_counter_stripe *stripes =
      (const weft_striped_counter_stripe *)(const void *)(c + 1);
  for (int32_t i = 0; i < c->stripes; i++)
    weft__stripe_shows(at, found, i, &stripes[i].sum);
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
      WEFT__FIELD(lock_free_queue, push_epoch),
      WEFT__FIELD(lock_free_queue, push_waiters)}},
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
      WEFT__FIELD(record_ring, push_epoch),
      WEFT__FIELD(record_ring, push_waiters),
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
      WEFT__FIELD(channel, taken_waiters)}},
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
      WEFT__FIELD(call_ring, pauses)}},
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
      WEFT__FIELD(hash_map, freed),
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

/* What is shown of the kind that `magic` names; NULL if it names no kind. */
static inline const weft__shown *weft__shown_by_head(int32_t magic) {
  const weft__shown *shown;
  for (size_t i = 0; (shown = weft__shown_of(i)) != NULL; i++)
    if (shown->number != 0 && weft__magic(shown->number) == magic) break;
  return shown;
}

/* Whether a word counts waiters. */
static inline bool weft__counts_waiters(const char *name) {
  size_t length = __builtin_strlen(name);
  return length >= 7 && __builtin_strcmp(name + length - 7, "waiters") == 0;
}

/* Set in a count below 0. Bit 31 of an epoch's count is a flag, and
   2^30 agents never wait. */
static inline int32_t weft__below(const char *name) {
  return name[0] == 'w' ? INT32_MIN : 1 << 30;
}

/* Copies the words that have names. */
static inline void weft__copy_named(const weft__shown *shown, const void *at,
                                    int32_t *copy) {
  for (const weft__field *f = shown->fields; f->name != NULL; f++)
    copy[f->word] = weft__load((const int32_t *)at + f->word);
}

/* What one look at a primitive finds, of whose words there is a copy. */
static inline void weft__look_for_problems(const weft__shown *shown,
                                           const void *at, const int32_t *copy,
                                           weft__problems *found) {
  found->fields = shown->fields;
  found->copy = copy;
  found->count = 0;
  if (shown->number != 0) {
    size_t seal = (size_t)weft__seal_word(shown->number);
    int32_t first = seal > 1 ? copy[1] : 0;
    int32_t second = seal > 2 ? copy[2] : 0;
    bool wrong = copy[seal] != weft__seal(shown->number, first, second);
    weft__tell(found, wrong, seal,
               "The configuration does not match its seal.");
    bool is_possible = weft__possible(shown->number, first, second) &&
                       (shown->number != WEFT_KIND_hash_map ||
                        weft__hash_heap_is_possible(copy));
    weft__tell(found, !wrong && !is_possible, 1,
               "The configuration is impossible.");
    if (found->count > 0) return;
  }
  for (const weft__field *f = shown->fields; f->name != NULL; f++)
    weft__tell(found,
               weft__counts_waiters(f->name) &&
                   (copy[f->word] & weft__below(f->name)) != 0,
               f->word, "There are fewer than 0 waiters.");
  if (shown->problems != NULL) shown->problems(copy, found);
  if (shown->behind != NULL) shown->behind(at, found);
}

/* Keeps the problems that another look found, too. */
static inline void weft__keep_problems(weft__problems *found,
                                       const weft__problems *again) {
  int32_t count = 0;
  for (int32_t i = 0; i < found->count; i++) {
    const weft__problem *p = &found->all[i];
    for (int32_t j = 0; j < again->count; j++) {
      const weft__problem *q = &again->all[j];
      if (q->index != p->index || q->value != p->value || q->text != p->text)
        continue;
      found->all[count++] = *p;
      break;
    }
  }
  found->count = count;
}

/* Prints the problems that a look and 20 more find unchanged: words that agents
   change meanwhile may seem not to fit together, but not again and again.
   Returns how many there are. If `at` is the carrier of a channel,
   `channel` is where that begins; otherwise it is `at`. */
static inline int32_t weft__print_problems(const weft__shown *shown,
                                           const void *at, const void *channel,
                                           FILE *out) {
  int32_t copy[256];
  weft__problems found, again;
  size_t before = (size_t)((const int32_t *)at - (const int32_t *)channel);
  weft__copy_named(shown, at, copy);
  weft__look_for_problems(shown, at, copy, &found);
  for (int looks = 20; looks > 0 && found.count > 0; looks--) {
    weft__copy_named(shown, at, copy);
    weft__look_for_problems(shown, at, copy, &again);
    weft__keep_problems(&found, &again);
  }
  for (int32_t i = 0; i < found.count; i++) {
    const weft__problem *p = &found.all[i];
    fprintf(out, "%s{\"word\":\"%s", i > 0 ? "," : "", p->word);
    if (p->part >= 0) fprintf(out, " %ld", (long)p->part);
    if (before > 0) fprintf(out, " of the %s", shown->kind);
    fprintf(out, "\",\"index\":%zu,\"value\":%ld,\"what\":\"%s\"",
            p->index + before, (long)p->value,
            p->claimed ? "claimed" : "damaged");
    fprintf(out, ",\"text\":\"%s\"}", p->text);
  }
  return found.count;
}

/* The carrier of the channel at `at`; NULL if there is none. */
static inline const weft__shown *weft__shown_carrier(const void *at) {
  const weft__shown *shown =
      weft__shown_by_head(weft__load((const int32_t *)at));
  if (shown == NULL) return NULL;
  switch (shown->number) {
    case WEFT_KIND_spsc_queue:
    case WEFT_KIND_mpmc_queue:
    case WEFT_KIND_lock_free_queue:
    case WEFT_KIND_record_ring:
      return shown;
    default:
      return NULL;
  }
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
  weft__copy_named(shown, at, copy);
  fprintf(out, "{\"kind\":\"%s\",\"byteOffset\":%zu,\"words\":{", shown->kind,
          (size_t)(uintptr_t)at);
  for (const weft__field *f = shown->fields; f->name != NULL; f++) {
    fprintf(out, "%s\"%s\":%ld", comma, f->name, (long)copy[f->word]);
    comma = ",";
  }
  fprintf(out, "}");
  if (shown->owner != NULL)
    fprintf(out, ",\"owner\":%ld", (long)shown->owner(copy));
  if (shown->waiters != NULL)
    fprintf(out, ",\"waiters\":%lld", (long long)shown->waiters(copy));
  fprintf(out, ",\"problems\":[");
  int32_t problems = weft__print_problems(shown, at, at, out);
  if (shown->number == WEFT_KIND_channel && problems == 0 &&
      !weft__channel_hands((const weft_channel *)at)) {
    const void *queue = (const weft_channel *)at + 1;
    const weft__shown *carrier = weft__shown_carrier(queue);
    if (carrier != NULL)
      weft__print_problems(carrier, queue, at, out);
    else
      fprintf(out,
              "{\"word\":\"magic\",\"index\":0,\"value\":%ld,"
              "\"what\":\"damaged\",\"text\":"
              "\"There is no queue behind it.\"}",
              (long)copy[0]);
  }
  fprintf(out, "]}\n");
  return 0;
}

/*
 * Prints one line about the words of the primitive at `at`: what JSON.stringify
 * makes of the result of inspect in JavaScript. It only reads them. It may be
 * called at any time, also for memory of terminated agents, so it accepts a
 * configuration that does not match its seal: that is one of `problems`. If the
 * configuration is right, the memory behind the words must be there, too.
 * EINVAL if nothing of this layout version was initialized there.
 */
static inline int weft_inspect(const void *at, FILE *out) {
  if (!weft__aligned(at)) return EINVAL;
  const weft__shown *shown =
      weft__shown_by_head(weft__load((const int32_t *)at));
  return shown == NULL ? EINVAL : weft_inspect_as(at, shown->kind, out);
}

WEFT__END

#endif

#endif /* WEFT_INSPECT_H */
