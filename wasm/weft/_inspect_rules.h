/* _inspect_rules.h - the twin of primitives/tools/_rules.ts. */
#ifndef WEFT_INSPECT_RULES_H
#define WEFT_INSPECT_RULES_H

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

/* ---- what the words of a primitive never say */

/* Begin of what `deno task layout` makes from tests/project/_rules.ts. */
/* clang-format off */
static inline void weft__mutex_shows_problems(const void *copy,
                                              weft__problems *found) {
  const weft_mutex *w = (const weft_mutex *)copy;
  const int32_t state = w->state;
  const int32_t starving = w->starving;
  weft__tell(found, state < 0,
             WEFT__AT(mutex, state),
             "Bit 31 is never set.");
  weft__tell(found, (state & 0xfffffff) != 0 && ((state & (1 << 28)) != 0 ||
                    (state & ((1 << 29) | (1 << 30))) == (1 << 29)),
             WEFT__AT(mutex, state),
             "It names an owner, but also says that there is none.");
  weft__tell(found, (starving & ~1) != 0,
             WEFT__AT(mutex, starving),
             "It must be 0 or 1.");
}

static inline void weft__rw_lock_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_rw_lock *w = (const weft_rw_lock *)copy;
  const int32_t state = w->state;
  const int32_t writer = w->writer;
  const int32_t writer_starving = w->writer_starving;
  const int32_t tracked = w->tracked;
  const bool writes = (state & (1 << 26)) != 0;
  const int32_t agents = tracked & 255;
  weft__tell(found, writes && (state & 0x1fff) != 0,
             WEFT__AT(rw_lock, state),
             "An agent writes while others read.");
  weft__tell(found, writes && (writer & 0xfffffff) == 0,
             WEFT__AT(rw_lock, state),
             "An agent writes, but `writer` names none.");
  weft__tell(found, writer < 0,
             WEFT__AT(rw_lock, writer),
             "Bit 31 is never set.");
  weft__tell(found, (writer & 0xfffffff) != 0 && ((writer & (1 << 28)) != 0 ||
                    (writer & ((1 << 29) | (1 << 30))) == (1 << 29)),
             WEFT__AT(rw_lock, writer),
             "It names an owner, but also says that there is none.");
  weft__tell(found, (writer_starving & ~1) != 0,
             WEFT__AT(rw_lock, writer_starving),
             "It must be 0 or 1.");
  weft__tell(found, tracked != 0 && (agents == 0 ||
                    tracked != (agents | (agents ^ 255) << 8 | 0x57650000)),
             WEFT__AT(rw_lock, tracked),
             "It must be 0, or agents with their complement.");
  weft__tell(found, tracked != 0 && (state & (0x1fff | (0x1fff << 13))) != 0,
             WEFT__AT(rw_lock, state),
             "It counts readers, which are tracked.");
}

static inline void weft__condition_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_condition *w = (const weft_condition *)copy;
  const int32_t turn = w->turn;
  const int32_t even = w->even;
  const int32_t odd = w->odd;
  const bool second = (turn & 2) != 0;
  weft__tell(found, (turn & 1) == 0 && (even < 0) != second,
             WEFT__AT(condition, even),
             "Its phase differs from the phase in `turn`.");
  weft__tell(found, (turn & 1) != 0 && (odd < 0) == second,
             WEFT__AT(condition, odd),
             "Its phase differs from the phase in `turn`.");
}

static inline void weft__semaphore_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_semaphore *w = (const weft_semaphore *)copy;
  const int32_t tracked = w->tracked;
  const int32_t max = w->max;
  const int32_t permits = w->permits;
  const int32_t bulk = w->bulk;
  const int32_t claimant = w->claimant;
  const int32_t claim = w->claim;
  const int32_t left = (int32_t)((uint32_t)(permits & (-(1 << 2))) >> 2);
  const bool counts = tracked == 0;
  const bool owes = (permits & 3) == 3;
  weft__tell(found, counts && !owes && left > max,
             WEFT__AT(semaphore, permits),
             "A semaphore never has this number of permits.");
  weft__tell(found, counts && owes && left > 0 && claimant == 0,
             WEFT__AT(semaphore, permits),
             "`claimant` names nobody.");
  weft__tell(found, bulk < 0,
             WEFT__AT(semaphore, bulk),
             "There are fewer than 0 waiters.");
  weft__tell(found, (claimant & ~0xfffffff) != 0,
             WEFT__AT(semaphore, claimant),
             "No agent has this id.");
  weft__tell(found, claim < 0 || claim > 0x3fffffff,
             WEFT__AT(semaphore, claim),
             "A semaphore never has this number of permits.");
  weft__tell(found, counts && claim > 0 && claimant == 0,
             WEFT__AT(semaphore, claim),
             "`claimant` names nobody.");
}

static inline void weft__event_shows_problems(const void *copy,
                                              weft__problems *found) {
  const weft_event *w = (const weft_event *)copy;
  const int32_t state = w->state;
  weft__tell(found, (state & 1) != 0 && state < 0,
             WEFT__AT(event, state),
             "Bit 31 is never set if it resets automatically.");
}

static inline void weft__latch_shows_problems(const void *copy,
                                              weft__problems *found) {
  const weft_latch *w = (const weft_latch *)copy;
  const int32_t state = w->state;
  weft__tell(found, state < 0,
             WEFT__AT(latch, state),
             "Bit 31 is never set.");
  weft__tell(found, state == 1,
             WEFT__AT(latch, state),
             "It is open, but agents still wait.");
}

static inline void weft__wait_group_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_wait_group *w = (const weft_wait_group *)copy;
  const int32_t state = w->state;
  weft__tell(found, (state & (1 | (0x3ffff << 1))) == 1,
             WEFT__AT(wait_group, state),
             "The count is 0, but agents still wait.");
}

static inline void weft__barrier_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_barrier *w = (const weft_barrier *)copy;
  const int32_t parties = w->parties;
  const int32_t tracked = w->tracked;
  const int32_t state = w->state;
  const bool counts = tracked == 0;
  const int32_t arrived = state & 0xfff;
  const int32_t left = (int32_t)((uint32_t)(state & (0xfff << 12)) >> 12);
  weft__tell(found, counts && left > parties,
             WEFT__AT(barrier, state),
             "There are more parties than `parties`.");
  weft__tell(found, counts && arrived > 0 && arrived >= left,
             WEFT__AT(barrier, state),
             "All parties have arrived, but they do not go on.");
}

static inline void weft__once_shows_problems(const void *copy,
                                             weft__problems *found) {
  const weft_once *w = (const weft_once *)copy;
  const int32_t state = w->state;
  weft__tell(found, (state & ~(0xfffffff | (1 << 28) | (1 << 30))) != 0,
             WEFT__AT(once, state),
             "Bits 29 and 31 are never set.");
  weft__tell(found, (state & (1 << 28)) != 0 && (state & 0xfffffff) != 0,
             WEFT__AT(once, state),
             "The function was run to its end, but an agent runs it.");
}

static inline void weft__snapshot_shows_problems(const void *copy,
                                                 weft__problems *found) {
  const weft_snapshot *w = (const weft_snapshot *)copy;
  const int32_t single_reader = w->single_reader;
  const int32_t state = w->state;
  const int32_t writer = w->writer;
  const int32_t reader = w->reader;
  const int32_t middle = state & 3;
  const int32_t front = (int32_t)((uint32_t)(state & (3 << 2)) >> 2);
  weft__tell(found, single_reader == 1 && (middle == front || middle > 2 ||
                    front > 2),
             WEFT__AT(snapshot, state),
             "It does not name two different copies.");
  weft__tell(found, (writer & ~0xfffffff) != 0,
             WEFT__AT(snapshot, writer),
             "No agent has this id.");
  weft__tell(found, (reader & ~0xfffffff) != 0,
             WEFT__AT(snapshot, reader),
             "No agent has this id.");
}

static inline void weft__spsc_queue_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_spsc_queue *w = (const weft_spsc_queue *)copy;
  const int32_t capacity = w->capacity;
  const int32_t tail = w->tail;
  const int32_t head_cache = w->head_cache;
  const int32_t producer = w->producer;
  const int32_t head = w->head;
  const int32_t tail_cache = w->tail_cache;
  const int32_t consumer = w->consumer;
  const int32_t end = tail & (-(1 << 2));
  const int32_t begin = head & (-(1 << 2));
  const int32_t lap = capacity * (1 << 2);
  const int32_t used = weft__minus(end, begin);
  const int32_t since = weft__minus(end, head_cache);
  const int32_t passed = weft__minus(begin, head_cache);
  const int32_t seen = weft__minus(tail_cache, begin);
  const int32_t unseen = weft__minus(end, tail_cache);
  weft__tell(found, used < 0 || used > lap,
             WEFT__AT(spsc_queue, head),
             "It is beyond `tail`, or further behind it than the capacity.");
  weft__tell(found, since < 0 || since > lap || passed < 0,
             WEFT__AT(spsc_queue, head_cache),
             "It is not a recent value of the other word.");
  weft__tell(found, seen < 0 || seen > lap || unseen < 0,
             WEFT__AT(spsc_queue, tail_cache),
             "It is not a recent value of the other word.");
  weft__tell(found, (producer & ~0xfffffff) != 0,
             WEFT__AT(spsc_queue, producer),
             "No agent has this id.");
  weft__tell(found, (consumer & ~0xfffffff) != 0,
             WEFT__AT(spsc_queue, consumer),
             "No agent has this id.");
}

static inline void weft__mpmc_queue_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_mpmc_queue *w = (const weft_mpmc_queue *)copy;
  const int32_t capacity = w->capacity;
  const int32_t tail = w->tail;
  const int32_t head = w->head;
  const int32_t end = tail & ~1;
  const int32_t used = weft__minus(end, head);
  const int32_t lap = capacity * (1 << 1);
  weft__tell(found, (head & 1) != 0,
             WEFT__AT(mpmc_queue, head),
             "It must be even.");
  weft__tell(found, used < 0 || used > lap,
             WEFT__AT(mpmc_queue, head),
             "It is beyond `tail`, or further behind it than the capacity.");
}

static inline void weft__record_ring_shows_problems(const void *copy,
                                                    weft__problems *found) {
  const weft_record_ring *w = (const weft_record_ring *)copy;
  const int32_t capacity = w->capacity;
  const int32_t tail = w->tail;
  const int32_t claimant = w->claimant;
  const int32_t head_cache = w->head_cache;
  const int32_t head = w->head;
  const int32_t tail_cache = w->tail_cache;
  const int32_t consumer = w->consumer;
  const int32_t end = tail & ~1;
  const int32_t begin = head;
  const int32_t lap = capacity;
  const int32_t used = weft__minus(end, begin);
  const int32_t since = weft__minus(end, head_cache);
  const int32_t passed = weft__minus(begin, head_cache);
  const int32_t seen = weft__minus(tail_cache, begin);
  const int32_t unseen = weft__minus(end, tail_cache);
  weft__tell(found, (end & 7) != 0,
             WEFT__AT(record_ring, tail),
             "It must be a multiple of 8.");
  weft__tell(found, (head & 7) != 0,
             WEFT__AT(record_ring, head),
             "It must be a multiple of 8.");
  weft__tell(found, used < 0 || used > lap,
             WEFT__AT(record_ring, head),
             "It is beyond `tail`, or further behind it than the capacity.");
  weft__tell(found, since < 0 || since > lap || passed < 0,
             WEFT__AT(record_ring, head_cache),
             "It is not a recent value of the other word.");
  weft__tell(found, seen < 0 || seen > lap || unseen < 0,
             WEFT__AT(record_ring, tail_cache),
             "It is not a recent value of the other word.");
  weft__tell(found, (claimant & ~(0xfffffff | (1 << 28))) != 0,
             WEFT__AT(record_ring, claimant),
             "No agent has this id.");
  weft__tell(found, (consumer & ~(0xfffffff | (1 << 28))) != 0,
             WEFT__AT(record_ring, consumer),
             "No agent has this id.");
}

static inline void weft__broadcast_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_broadcast *w = (const weft_broadcast *)copy;
  const int32_t producer = w->producer;
  weft__tell(found, (producer & ~0xfffffff) != 0,
             WEFT__AT(broadcast, producer),
             "No agent has this id.");
}

static inline void weft__channel_shows_problems(const void *copy,
                                                weft__problems *found) {
  const weft_channel *w = (const weft_channel *)copy;
  const int32_t codec = w->codec;
  const int32_t place = w->place;
  const int32_t handoff = w->handoff;
  weft__tell(found, codec < 1 || codec > 9,
             WEFT__AT(channel, codec),
             "There is no such codec.");
  weft__tell(found, place < 0 || place % 4 != 0,
             WEFT__AT(channel, place),
             "It must be a multiple of 4.");
  weft__tell(found, (handoff & 3) > 2,
             WEFT__AT(channel, handoff),
             "There is no such phase.");
}

static inline void weft__call_ring_shows_problems(const void *copy,
                                                  weft__problems *found) {
  const weft_call_ring *w = (const weft_call_ring *)copy;
  const int32_t closed = w->closed;
  weft__tell(found, (closed & ~1) != 0,
             WEFT__AT(call_ring, closed),
             "It must be 0 or 1.");
}

static inline void weft__work_counter_shows_problems(const void *copy,
                                                     weft__problems *found) {
  const weft_work_counter *w = (const weft_work_counter *)copy;
  const int32_t total = w->total;
  const int32_t tracked = w->tracked;
  const int32_t done = w->done;
  const int32_t target = w->target;
  const int32_t finished = w->finished;
  const int32_t agents = tracked & 255;
  weft__tell(found, tracked != 0 && (agents == 0 ||
                    tracked != (agents | (agents ^ 255) << 8 | 0x57650000)),
             WEFT__AT(work_counter, tracked),
             "It must be 0, or agents with their complement.");
  weft__tell(found, done < 0 || done > total,
             WEFT__AT(work_counter, done),
             "It must be 0 to `total`.");
  weft__tell(found, target < 0 || target > total,
             WEFT__AT(work_counter, target),
             "It must be 0 to `total`.");
  weft__tell(found, finished < 0 || finished > 2,
             WEFT__AT(work_counter, finished),
             "It must be 0, 1 or 2.");
  weft__tell(found, finished == 2 && done < target && tracked == 0,
             WEFT__AT(work_counter, finished),
             "It is over, but tasks are not done.");
}

static inline void weft__work_deque_shows_problems(const void *copy,
                                                   weft__problems *found) {
  const weft_work_deque *w = (const weft_work_deque *)copy;
  const int32_t capacity = w->capacity;
  const int32_t bottom = w->bottom;
  const int32_t owner = w->owner;
  const int32_t top = w->top;
  const int32_t size = weft__minus(bottom, top);
  weft__tell(found, size < -1 || size > capacity,
             WEFT__AT(work_deque, top),
             "It is beyond `bottom`, or further behind it than the capacity.");
  weft__tell(found, owner != (1 << 28) && (owner & ~0xfffffff) != 0,
             WEFT__AT(work_deque, owner),
             "No agent has this id.");
}
/* clang-format on */
/* End of what `deno task layout` makes. */

WEFT__END

#endif

#endif /* WEFT_INSPECT_RULES_H */
