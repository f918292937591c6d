/* _rw_lock_counted.h - the words of a read-write lock, and its readers if its
   state counts them. */
#ifndef WEFT__RW_LOCK_COUNTED_H
#define WEFT__RW_LOCK_COUNTED_H

#include "_readers.h"
#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_RW_LOCK_READING_MASK 0x1fff /* RW_LOCK_BITS.READING */
#define WEFT_RW_LOCK_ONE_PENDING (1 << 13) /* RW_LOCK_BITS.PENDING */
#define WEFT_RW_LOCK_PENDING_MASK (0x1fff << 13) /* RW_LOCK_BITS.PENDING */
#define WEFT_RW_LOCK_WRITING_BIT (1 << 26) /* RW_LOCK_BITS.WRITING */
#define WEFT_RW_LOCK_WANTED_BIT (1 << 27) /* RW_LOCK_BITS.WANTED */
#define WEFT_RW_LOCK_ASLEEP_BIT (1 << 28) /* RW_LOCK_BITS.ASLEEP */
#define WEFT_RW_LOCK_ABANDONED_BIT (1 << 29) /* RW_LOCK_BITS.ABANDONED */
#define WEFT_RW_LOCK_ONE_PHASE (1 << 30) /* RW_LOCK_BITS.PHASE */
#define WEFT_RW_LOCK_PHASE_MASK (-(1 << 30)) /* RW_LOCK_BITS.PHASE */

/* Set while an agent writes, or waits until nobody reads. */
#define WEFT__RW_BUSY_BITS (3 << 26) /* RW_LOCK_BITS.WRITING | WANTED */

/* In `gate`: readers may sleep on it. */
#define WEFT_RW_LOCK_WAITING_BIT 1 /* RW_LOCK_BITS.WAITING */
#define WEFT_RW_LOCK_ONE_OPENING (1 << 1) /* RW_LOCK_BITS.OPENING */

/* The most agents that read, or wait to read. */
#define WEFT_RW_LOCK_MAX_READERS 0x1fff /* RW_LOCK_BITS.READING */
/* The most agents that a lock tracks. */
#define WEFT_RW_LOCK_MAX_TRACKED WEFT__TRACKED_MAX_ROWS

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A read-write lock. All words 0: unlocked.
 *
 * word 0  state            bits 0-12   agents that read, unless they are
 *                                      tracked
 *                          bits 13-25  pending: agents that will read after
 *                                      this writer, unless they are tracked
 *                          bit 26      WRITING
 *                          bit 27      WANTED: a writer waits until nobody
 *                                      reads, or the lock was passed on to a
 *                                      writer that does not run yet
 *                          bit 28      ASLEEP: that writer may sleep on this
 *                                      word
 *                          bit 29      ABANDONED: a dead writer was recovered
 *                          bits 30-31  the phase: how often pending agents were
 *                                      let in, modulo 4; unless agents are
 *                                      tracked
 *                          sleepers: the writer that waits until nobody reads;
 *                                    if agents are tracked, it sleeps in a row
 * word 1  gate             bit 0      WAITING: pending agents may sleep on this
 *                                     word
 *                          bits 1-31  change after each phase; if agents are
 *                                     tracked, they are the phase
 *                          sleepers: pending agents
 * word 2  writer           The `state` of a mutex among writers. Its owner
 *                          writes, or waits until nobody reads.
 *                          sleepers: writers
 * word 3  writer_starving  The `starving` of that mutex.
 * word 4  tracked          0, or if agents note that they read:
 *                          bits 0-7    how many agents, 1 to 255
 *                          bits 8-15   the same, inverted
 *                          bits 16-31  0x5765
 * word 5  turns            How often the lock was passed on from a writer to
 *                          the next one, modulo 8. When it is 0 again, waiting
 *                          readers come first.
 * word 6  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; and what it reads: bits 0-9: how often;
 *         bits 10-19: how often it waits to read; bits 20-31: the gate's bits
 *         1-12 when it began to wait. A row's agent reads, too, if it waits and
 *         the gate has moved since.
 *
 * Freed when: every operation of every agent has returned, unlock included, and
 * none will begin. A writer lets readers in before its last step. But an agent
 * that writes after others read, and unlocks, need not know that their
 * unlock_read has returned, unless the lock is tracked.
 */
typedef struct {
  int32_t state;
  int32_t gate;
  int32_t writer;
  int32_t writer_starving;
  int32_t tracked;
  int32_t turns;
} weft_rw_lock;
WEFT_WORD(rw_lock, state, 0);
WEFT_WORD(rw_lock, gate, 1);
WEFT_WORD(rw_lock, writer, 2);
WEFT_WORD(rw_lock, writer_starving, 3);
WEFT_WORD(rw_lock, tracked, 4);
WEFT_WORD(rw_lock, turns, 5);
WEFT_LENGTH(rw_lock, 6);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* What a reader saw when it began to wait. */
typedef struct {
  int32_t state; /* at which it was counted as pending */
  int32_t gate;  /* after that */
} weft__rw_ticket;

/* The bytes of a lock, as a constant and as a function. */
#define WEFT_RW_LOCK_BYTES sizeof(weft_rw_lock)
static inline size_t weft_rw_lock_bytes(void) { return sizeof(weft_rw_lock); }

/* The first of its rows. */
#define WEFT__RW_LOCK_ROWS 40

/* The bytes of a lock that tracks 1 to 255 agents, as a constant expression; 0
   if out of range. */
#define WEFT_RW_LOCK_TRACKED_BYTES(tracked)              \
  ((tracked) < 1 || (tracked) > WEFT_RW_LOCK_MAX_TRACKED \
       ? 0                                               \
       : sizeof(int32_t) * WEFT__RW_LOCK_ROWS +          \
             sizeof(weft__reader) * (tracked))

/* The same as a function. */
static inline size_t weft_rw_lock_tracked_bytes(int32_t tracked) {
  return WEFT_RW_LOCK_TRACKED_BYTES((uint32_t)tracked);
}

/* Initializes `bytes` bytes of unused memory as an unlocked lock. Memory that
   is all zero is one already. NULL if the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_rw_lock *weft_rw_lock_init(void *at,
                                                           size_t bytes) {
  if (!weft__fits(at, bytes, sizeof(weft_rw_lock))) return NULL;
  weft__zero(at, sizeof(weft_rw_lock));
  return (weft_rw_lock *)at;
}

/* The same for a lock in which `tracked` agents, 1 to 255, note that they
   read. */
static inline WEFT__RESULT weft_rw_lock *weft_rw_lock_init_tracked(
    void *at, size_t bytes, int32_t tracked) {
  weft_rw_lock *l = (weft_rw_lock *)at;
  size_t needed = weft_rw_lock_tracked_bytes(tracked);
  if (!weft__fits(at, bytes, needed)) return NULL;
  weft__zero(at, needed);
  weft__store(&l->tracked, weft__tracked_mark(tracked));
  return l;
}

/* How many agents note that they read; 0 if none does, or the word is
   damaged. */
static inline int32_t weft_rw_lock_tracked(const weft_rw_lock *l) {
  int32_t tracked = l->tracked & WEFT_RW_LOCK_MAX_TRACKED;
  return l->tracked == weft__tracked_mark(tracked) ? tracked : 0;
}

/* Whether an agent writes, or waits until nobody reads. */
static inline bool weft__rw_is_busy(int32_t state) {
  return (state & WEFT__RW_BUSY_BITS) != 0;
}

/* How many agents read. */
static inline int32_t weft__rw_reading_in(int32_t state) {
  return state & WEFT_RW_LOCK_READING_MASK;
}

/* Whether one more agent may read. */
static inline bool weft__rw_is_read_lockable(int32_t state) {
  return !weft__rw_is_busy(state) &&
         weft__rw_reading_in(state) < WEFT_RW_LOCK_MAX_READERS;
}

/* How many agents will read after this writer. */
static inline int32_t weft__rw_pending_in(int32_t state) {
  return (state & WEFT_RW_LOCK_PENDING_MASK) / WEFT_RW_LOCK_ONE_PENDING;
}

/* Whether the last reader leaves, and has to wake a writer. */
static inline bool weft__rw_is_last_of_awaited(int32_t state) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  return (state & (WEFT_RW_LOCK_READING_MASK | bits)) == (1 | bits);
}

/* What locking returns: 0 or EOWNERDEAD. */
static inline int weft__rw_held_in(int32_t state) {
  return state & WEFT_RW_LOCK_ABANDONED_BIT ? EOWNERDEAD : 0;
}

/*
 * Whether the reader that waits with `ticket` was let in. The phase alone looks
 * the same after four phases. By then the gate has moved by two: one opening
 * may have been due before the ticket, the other came after it. If the lock is
 * tracked, the gate alone has the phase, and one opening is enough.
 */
static inline bool weft__rw_is_in(weft__rw_ticket ticket, int32_t state,
                                  int32_t gate, int32_t openings) {
  if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK) return true;
  int32_t moved = weft__minus(gate & ~WEFT_RW_LOCK_WAITING_BIT,
                              ticket.gate & ~WEFT_RW_LOCK_WAITING_BIT);
  return moved >= openings * WEFT_RW_LOCK_ONE_OPENING;
}

/* Wakes the readers that were let in. */
static inline void weft__rw_open(weft_rw_lock *l) {
  int32_t gate = weft__load(&l->gate);
  for (;;) {
    int32_t expected = gate;
    int32_t next =
        weft__plus(gate & ~WEFT_RW_LOCK_WAITING_BIT, WEFT_RW_LOCK_ONE_OPENING);
    gate = weft__compare_exchange(&l->gate, expected, next);
    if (gate != expected) continue;
    if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);
    return;
  }
}

/* As weft_rw_lock_try_read, by the count in the state. */
static inline int weft__rw_try_read_counted(weft_rw_lock *l) {
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    if (!weft__rw_is_read_lockable(state)) {
      state = weft__load(&l->state);
      if (weft__rw_is_busy(state)) return EBUSY;
      if (weft__rw_reading_in(state) == WEFT_RW_LOCK_MAX_READERS)
        return EINVAL;
    }
    int32_t expected = state;
    state = weft__compare_exchange(&l->state, expected, expected + 1);
    if (state == expected) return weft__rw_held_in(state);
  }
}

/* As weft__rw_pend, by the count in the state. */
static inline int weft__rw_pend_counted(weft_rw_lock *l, int32_t bits,
                                        weft__rw_ticket *ticket) {
  int32_t state = weft__load(&l->state);
  for (;;) {
    int32_t expected = state;
    bool waits = (state & bits) != 0;
    int32_t pending = weft__rw_pending_in(state);
    /* A downgrade may add one more. */
    int32_t most = WEFT_RW_LOCK_MAX_READERS - (waits ? 1 : 0);
    if (weft__rw_reading_in(state) + pending >= most) return EINVAL;
    int32_t next = weft__plus(state, waits ? WEFT_RW_LOCK_ONE_PENDING : 1);
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    if (!waits) return 0;
    ticket->state = state;
    ticket->gate = weft__load(&l->gate);
    return EBUSY;
  }
}

/* As weft__rw_give_up, by the count in the state. */
static inline bool weft__rw_give_up_counted(weft_rw_lock *l, int32_t state) {
  int32_t left = weft__minus(state, WEFT_RW_LOCK_ONE_PENDING);
  return weft__compare_exchange(&l->state, state, left) == state;
}

/* As weft__rw_leave, by the count in the state. */
static inline void weft__rw_leave_counted(weft_rw_lock *l, int32_t more,
                                          int32_t abandoned) {
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    int32_t pending = weft__rw_pending_in(state);
    int32_t kept = WEFT_RW_LOCK_READING_MASK | WEFT_RW_LOCK_PHASE_MASK;
    if ((state & WEFT_RW_LOCK_WRITING_BIT) == 0)
      kept |= WEFT_RW_LOCK_ABANDONED_BIT;
    int32_t next = weft__plus((state & kept) | abandoned, more + pending);
    if (pending > 0) next = weft__plus(next, WEFT_RW_LOCK_ONE_PHASE);
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    if (pending > 0) weft__rw_open(l);
    return;
  }
}

/* As weft_rw_lock_unlock_read, by the count in the state. */
static inline int weft__rw_unlock_counted(weft_rw_lock *l) {
  /* A reader sees at least itself counted. */
  if (weft__rw_reading_in(weft__hint(&l->state)) == 0) return EPERM;
  int32_t state = weft__add(&l->state, -1);
  if (weft__rw_is_last_of_awaited(state)) weft__notify(&l->state, 1);
  return 0;
}

/* As weft__rw_hold, by the count in the state. */
static inline int weft__rw_hold_counted(weft_rw_lock *l) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  if (weft__rw_reading_in(state) > 0) state = weft__load(&l->state);
  while (weft__rw_reading_in(state) == 0) {
    int32_t expected = state;
    int32_t held = (state & ~bits) | WEFT_RW_LOCK_WRITING_BIT;
    state = weft__compare_exchange(&l->state, expected, held);
    if (state == expected) return weft__rw_held_in(state);
  }
  return EBUSY;
}

/* Says that a writer waits although it does not sleep yet: agents that come to
   read let it go first. */
static inline void weft__rw_want(weft_rw_lock *l) {
  weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);
}

/* As weft__rw_blocker, by the count in the state. */
static inline int32_t *weft__rw_blocker_counted(weft_rw_lock *l,
                                                int32_t *value) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  *value = weft__or(&l->state, bits) | bits;
  return weft__rw_reading_in(*value) > 0 ? &l->state : NULL;
}

WEFT__END

#endif

#endif /* WEFT__RW_LOCK_COUNTED_H */
