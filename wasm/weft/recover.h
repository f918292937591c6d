/* recover.h - the twin of primitives/tools/recover.ts. */
#ifndef WEFT_RECOVER_H
#define WEFT_RECOVER_H

/* In the order of weft.h. */
/* clang-format off */
#include "mutex.h"
#include "rw_lock.h"
#include "semaphore.h"
#include "barrier.h"
#include "once.h"
#include "snapshot.h"
#include "spsc_queue.h"
#include "mpmc_queue.h"
#include "record_ring.h"
#include "broadcast.h"
#include "channel.h"
#include "call_ring.h"
#include "work_counter.h"
#include "work_deque.h"
#include "slab_pool.h"
#include "hash_map.h"
/* clang-format on */

#ifndef WEFT_REALTIME

WEFT__BEGIN

/* What weft_recover did, or found that it cannot undo. */
enum {
  /* A mutex, or the writing of a lock, is free: locking gives EOWNERDEAD. */
  WEFT_LOCK_ABANDONED = 1,
  /* What an agent read of a tracked lock has ended. */
  WEFT_READING_ENDED,
  /* The function of a once may be run by the next agent. */
  WEFT_FUNCTION_ABANDONED,
  /* Permits of a semaphore are free again: all that the agent held, if it is
     tracked; otherwise what it had claimed in advance. */
  WEFT_PERMITS_RETURNED,
  /* Tasks that an agent took of a tracked counter, and had not done: others get
     them. */
  WEFT_TASKS_RETURNED,
  /* A party of a tracked barrier that the agent was has left. */
  WEFT_PARTIES_LEFT,
  /* Records that were reserved, and not committed, are skipped. */
  WEFT_RECORDS_SKIPPED,
  /* The next agent that acts in a role of one agent has that role. */
  WEFT_ROLES_FREED,
  /* Seats of a broadcast are free again. */
  WEFT_SUBSCRIPTIONS_ENDED,
  /* Calls that were begun, or served, have ended. */
  WEFT_CALLS_ENDED,
  /* Blocks of a pool are free again. */
  WEFT_BLOCKS_FREED,
  /* Slots of a queue are claimed and never handed on: it is blocked there. */
  WEFT_QUEUE_BLOCKED,
  /* An agent that is not known to be dead holds what is needed for this. */
  WEFT_CLAIM_HELD,
  /* The words of the primitive do not fit together. Nothing was changed. */
  WEFT_DAMAGED,
  /* Buckets of a map that the agent was writing to can be written again. */
  WEFT_WRITES_ENDED,
  /* Counted senders and receivers of a channel are gone. */
  WEFT_ENDS_LEFT
};

/* The kind of a part: what zeroed memory already is must be named; all else
   says by its head what it is. */
enum {
  WEFT_PART_BY_HEAD = 0,
  WEFT_PART_ONCE = 256,
  WEFT_PART_RW_LOCK,
  WEFT_PART_MUTEX
};

/* A primitive: its WEFT_PART_ kind, and where it begins. */
typedef struct {
  int32_t kind;
  void *at;
} weft_part;

/* One finding of weft_recover. */
typedef struct {
  int32_t part;  /* the index of the primitive */
  int32_t what;  /* WEFT_LOCK_ABANDONED or another */
  int32_t id;    /* the agent that had held it, or 0 */
  int32_t count; /* how many: permits, records, slots */
} weft_finding;

/* How often a claim of an agent that is alive is looked at. */
#define WEFT__RECOVER_LOOKS 1000
/* The number of slots that are looked at, at most. */
#define WEFT__RECOVER_SLOTS (1 << 16)

/* The kind that a head names, or 0. */
static inline int32_t weft__recover_named(const int32_t *head) {
  int32_t magic = weft__load(head);
  int32_t kind = magic >> 8 & 0xff;
  return kind != 0 && magic == weft__magic(kind) ? kind : 0;
}

/* The kind of a part, of an initialized one; 0 if there is none. */
static inline int32_t weft__recover_kind(const weft_part *p) {
  if (!weft__aligned(p->at)) return 0;
  if (p->kind != WEFT_PART_BY_HEAD)
    return p->kind >= WEFT_PART_ONCE && p->kind <= WEFT_PART_MUTEX ? p->kind
                                                                   : 0;
  return weft__recover_named((const int32_t *)p->at);
}

/* What carries the messages of a channel: its kind; *at is where it begins. Any
   other primitive is what it is. */
static inline int32_t weft__recover_carrier(int32_t kind, void **at) {
  if (kind != WEFT_KIND_channel) return kind;
  *at = (weft_channel *)*at + 1;
  return weft__recover_named((const int32_t *)*at);
}

/* What the abandon of a kind takes back, or 0 if it has none. */
static inline int32_t weft__recover_what(int32_t kind) {
  switch (kind) {
    case WEFT_KIND_slab_pool:
      return WEFT_BLOCKS_FREED;
    case WEFT_KIND_snapshot:
    case WEFT_KIND_spsc_queue:
    case WEFT_KIND_work_deque:
      return WEFT_ROLES_FREED;
    case WEFT_KIND_hash_map:
      return WEFT_WRITES_ENDED;
    case WEFT_KIND_record_ring:
    case WEFT_KIND_channel:
      return WEFT_RECORDS_SKIPPED;
    case WEFT_KIND_broadcast:
      return WEFT_SUBSCRIPTIONS_ENDED;
    case WEFT_KIND_call_ring:
      return WEFT_CALLS_ENDED;
    case WEFT_KIND_work_counter:
      return WEFT_TASKS_RETURNED;
    case WEFT_KIND_barrier:
      return WEFT_PARTIES_LEFT;
    case WEFT_KIND_semaphore:
      return WEFT_PERMITS_RETURNED;
    case WEFT_PART_ONCE:
      return WEFT_FUNCTION_ABANDONED;
    case WEFT_PART_RW_LOCK:
    case WEFT_PART_MUTEX:
      return WEFT_LOCK_ABANDONED;
    default:
      return 0;
  }
}

/* When a kind is recovered: 0 first. Locks come last: who gets one finds all
   else recovered. */
static inline int32_t weft__recover_turn(int32_t kind) {
  switch (kind) {
    case WEFT_KIND_semaphore:
      return 1;
    case WEFT_PART_ONCE:
      return 2;
    case WEFT_PART_RW_LOCK:
      return 3;
    case WEFT_PART_MUTEX:
      return 4;
    default:
      return 0;
  }
}

/* The abandon of a part, for one agent. */
static inline int32_t weft__recover_one(int32_t kind, void *at, int32_t id) {
  if (kind == WEFT_KIND_channel) {
    weft_channel *c = (weft_channel *)at;
    if (weft__channel_hands(c)) return weft__handoff_abandon(c, id);
    if (weft__recover_carrier(kind, &at) != WEFT_KIND_record_ring) return 0;
  }
  switch (kind) {
    case WEFT_KIND_slab_pool:
      return weft_slab_pool_abandon((weft_slab_pool *)at, id, false);
    case WEFT_KIND_snapshot:
      return weft_snapshot_abandon((weft_snapshot *)at, id);
    case WEFT_KIND_spsc_queue:
      return weft_spsc_queue_abandon((weft_spsc_queue *)at, id);
    case WEFT_KIND_hash_map:
      return weft_hash_map_abandon((weft_hash_map *)at, id);
    case WEFT_KIND_record_ring:
    case WEFT_KIND_channel:
      return weft_record_ring_abandon((weft_record_ring *)at, id);
    case WEFT_KIND_broadcast:
      return weft_broadcast_abandon((weft_broadcast *)at, id);
    case WEFT_KIND_call_ring:
      return weft_call_ring_abandon((weft_call_ring *)at, id);
    case WEFT_KIND_work_counter:
      return weft_work_counter_abandon((weft_work_counter *)at, id);
    case WEFT_KIND_work_deque:
      return weft_work_deque_abandon((weft_work_deque *)at, id);
    case WEFT_KIND_barrier:
      return weft_barrier_abandon((weft_barrier *)at, id);
    case WEFT_KIND_semaphore:
      return weft_semaphore_abandon((weft_semaphore *)at, id);
    case WEFT_PART_ONCE:
      return weft_once_abandon((weft_once *)at, id);
    case WEFT_PART_RW_LOCK:
      return weft_rw_lock_abandon((weft_rw_lock *)at, id);
    default:
      return weft_mutex_abandon((weft_mutex *)at, id);
  }
}

/* How many slots of a queue are claimed, and stay so. */
static inline int32_t weft__recover_blocked(weft_mpmc_queue *q) {
  int32_t tail = weft__load(&q->tail) & ~WEFT_MPMC_QUEUE_CLOSED_BIT;
  int32_t count = 0;
  for (int32_t i = 0; i < q->capacity && i < WEFT__RECOVER_SLOTS; i++) {
    weft__mpmc_look look = weft__mpmc_look_at(q, tail, i);
    if (look.doing != WEFT__MPMC_PUSH && look.doing != WEFT__MPMC_POP) continue;
    /* An agent that runs hands a slot on in less than a microsecond. */
    int looks = WEFT__RECOVER_LOOKS;
    while (looks > 0 && weft__load(look.slot) == look.turn) looks--;
    if (looks == 0) count++;
  }
  return count;
}

/* The queue that a part is, or whose slots carry its messages, or NULL. */
static inline weft_mpmc_queue *weft__recover_queue(int32_t kind, void *at) {
  if (kind == WEFT_KIND_channel)
    at = (weft_channel *)at + 1;
  else if (kind != WEFT_KIND_mpmc_queue)
    return NULL;
  if (weft_attach_error(at, WEFT_KIND_mpmc_queue) != NULL) return NULL;
  return (weft_mpmc_queue *)at;
}

/* Where findings go: the first `most` of them. */
typedef struct {
  weft_finding *found;
  int32_t most;
  int32_t count;
} weft__findings;

static inline void weft__recover_tell(weft__findings *f, int32_t part,
                                      int32_t what, int32_t id, int32_t count) {
  if (f->count < f->most) {
    weft_finding *finding = &f->found[f->count];
    finding->part = part;
    finding->what = what;
    finding->id = id;
    finding->count = count;
  }
  f->count++;
}

/* Ends what agent `id` read, if the part is a lock. */
static inline void weft__recover_reading(int32_t kind, void *at, int32_t part,
                                         int32_t id, weft__findings *f) {
  if (kind != WEFT_PART_RW_LOCK) return;
  int32_t count = weft_rw_lock_abandon_reading((weft_rw_lock *)at, id);
  if (count > 0) weft__recover_tell(f, part, WEFT_READING_ENDED, id, count);
}

/* Ends the counted senders and receivers that agent `id` had. Returns false if
   the channel is damaged. */
static inline bool weft__recover_ends(int32_t kind, void *at, int32_t part,
                                      int32_t id, weft__findings *f) {
  weft_channel *c = kind == WEFT_KIND_channel ? weft_channel_attach(at) : NULL;
  if (c == NULL) return true; /* another kind, or a carrier of JavaScript's */
  int32_t count = weft__channel_abandon_ends(c, id);
  if (count > 0) weft__recover_tell(f, part, WEFT_ENDS_LEFT, id, count);
  if (count < 0) weft__recover_tell(f, part, WEFT_DAMAGED, 0, 1);
  return count >= 0;
}

/* Ends the roles of agent `id`, where the abandon of a part tells something
   else. */
static inline void weft__recover_roles(int32_t kind, void *at, int32_t part,
                                       int32_t id, weft__findings *f) {
  int32_t count = 0;
  int32_t carrier = weft__recover_carrier(kind, &at);
  if (carrier == WEFT_KIND_record_ring)
    count = weft__record_abandon_roles((weft_record_ring *)at, id);
  else if (carrier == WEFT_KIND_spsc_queue)
    count = weft_spsc_queue_abandon((weft_spsc_queue *)at, id);
  else if (carrier == WEFT_KIND_broadcast)
    count = weft__broadcast_abandon_roles((weft_broadcast *)at, id);
  if (count > 0) weft__recover_tell(f, part, WEFT_ROLES_FREED, id, count);
}

/* Recovers one part from all dead agents, again if one, or an agent that is
   alive, kept another from it. */
static inline void weft__recover_part(const int32_t *ids, int32_t n,
                                      int32_t kind, void *at, int32_t part,
                                      weft__findings *f) {
  int32_t what = weft__recover_what(kind);
  int looks = WEFT__RECOVER_LOOKS;
  for (int32_t i = 0; what != 0 && i < n; i++) {
    weft__recover_reading(kind, at, part, ids[i], f);
    if (!weft__recover_ends(kind, at, part, ids[i], f)) return;
    weft__recover_roles(kind, at, part, ids[i], f);
    int32_t count = weft__recover_one(kind, at, ids[i]);
    if (count > 0) weft__recover_tell(f, part, what, ids[i], count);
    if (count >= 0) continue;
    if (count != -EBUSY) {
      weft__recover_tell(f, part, WEFT_DAMAGED, 0, 1);
      return;
    }
    if (looks-- == 0) {
      weft_record_ring *ring = kind == WEFT_KIND_channel
                                   ? weft__channel_ring((weft_channel *)at)
                                   : (weft_record_ring *)at;
      int32_t id = weft_record_ring_claimant(ring);
      weft__recover_tell(f, part, WEFT_CLAIM_HELD, id, 1);
      return;
    }
    /* Another agent has the claim: if it is dead, it is among those behind. In
       the next turn, what was taken back before is not there a second time. */
    for (int32_t j = i + 1; j < n; j++) {
      weft__recover_roles(kind, at, part, ids[j], f);
      count = weft__recover_one(kind, at, ids[j]);
      if (count > 0) weft__recover_tell(f, part, what, ids[j], count);
    }
    i--;
  }
}

/*
 * Takes back what the `n` agents `ids` held of the `count` primitives `parts`,
 * and tells what it found: the first `most` findings are in `found`, and the
 * number of all is returned. Call it only when those agents will never run
 * again. Pass all agents that have ended at once: one may hold what the
 * recovery of another needs. It never waits. -EINVAL, and nothing done, if an
 * id cannot be an agent's or is this agent's own, or a part is not initialized.
 * What each finding means is said above, and in recover.ts.
 */
static inline int32_t weft_recover(const int32_t *ids, int32_t n,
                                   const weft_part *parts, int32_t count,
                                   weft_finding *found, int32_t most) {
  weft__findings f = {found, most, 0};
  for (int32_t i = 0; i < n; i++)
    if (!WEFT__AGENT_CAN_BE(ids[i]) || ids[i] == weft_agent_id())
      return -EINVAL;
  for (int32_t i = 0; i < count; i++)
    if (weft__recover_kind(&parts[i]) == 0) return -EINVAL;
  for (int32_t turn = 0; turn <= 4; turn++) {
    for (int32_t i = 0; i < count; i++) {
      int32_t kind = weft__recover_kind(&parts[i]);
      void *at = parts[i].at;
      if (weft__recover_turn(kind) != turn) continue;
      weft__recover_part(ids, n, kind, at, i, &f);
      weft_mpmc_queue *queue = weft__recover_queue(kind, at);
      int32_t blocked = queue == NULL ? 0 : weft__recover_blocked(queue);
      if (blocked > 0)
        weft__recover_tell(&f, i, WEFT_QUEUE_BLOCKED, 0, blocked);
    }
  }
  return f.count;
}

WEFT__END

#endif

#endif /* WEFT_RECOVER_H */
