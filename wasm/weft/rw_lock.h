/* rw_lock.h - the twin of primitives/rw_lock.ts. */
#ifndef WEFT_RW_LOCK_H
#define WEFT_RW_LOCK_H

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

/* A writer that was handed the lock may not have a core yet. A reader continues
   for the first time, in ns, and then sleeps for the second time to free a
   core. */
#define WEFT__RW_WINDOW INT64_C(500000)
#define WEFT__RW_WAY INT64_C(2000000)

/* While readers wait, at most this many + 1 writers follow one another. */
#define WEFT__RW_TURNS_MASK 7 /* RW_LOCK_BITS.TURNS */

/* How long, in ns, a reader waits for a lock that is passed on before it looks
   again: the next writer may have been terminated, or its agent may be busy. */
#define WEFT__RW_LOOK INT64_C(100000000)

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
  if (tracked < 1 || tracked > WEFT_RW_LOCK_MAX_TRACKED) return 0;
  return sizeof(int32_t) * WEFT__RW_LOCK_ROWS +
         (size_t)tracked * sizeof(weft__reader);
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
  if (needed == 0 || !weft__fits(at, bytes, needed)) return NULL;
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

/* The rows of a tracked lock. */
static inline weft__readers weft__rw_rows(const weft_rw_lock *l) {
  int32_t *words = (int32_t *)(uintptr_t)l;
  /* The compiler may know that `l` is a weft_rw_lock without rows, and warn of
     them: it cannot know that such a one is not tracked. */
  __asm__("" : "+r"(words));
  weft__readers r = {(weft__reader *)(void *)(words + WEFT__RW_LOCK_ROWS),
                     weft_rw_lock_tracked(l)};
  return r;
}

/* The mutex among writers; two of the words are its words. */
static inline weft_mutex *weft__rw_writer(weft_rw_lock *l) {
  return (weft_mutex *)(void *)&l->writer;
}

/* How many agents read. */
static inline int32_t weft_rw_lock_readers(const weft_rw_lock *l) {
  if (l->tracked != 0) {
    weft__readers rows = weft__rw_rows(l);
    return weft__reader_count(&rows, weft__load(&l->gate));
  }
  return weft__load(&l->state) & WEFT_RW_LOCK_READING_MASK;
}

/* The id of the agent that writes, or waits for the readers to end; or 0. */
static inline int32_t weft_rw_lock_writer(const weft_rw_lock *l) {
  return weft__load(&l->writer) & WEFT_MUTEX_OWNER_MASK;
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

/* Wakes the writer that may sleep at `reads`, as somebody reads there. */
static inline void weft__rw_wake_writer(weft_rw_lock *l, int32_t *reads) {
  if (weft__load(&l->state) & WEFT_RW_LOCK_ASLEEP_BIT)
    weft__notify(reads, WEFT__ALL);
}

/* Changes the word in which this agent notes what it reads. */
static inline void weft__rw_add_reads(weft_rw_lock *l, weft__reader *row,
                                      int32_t n) {
  weft__store(&row->reads, weft__plus(weft__hint(&row->reads), n));
  if (n < 0) weft__rw_wake_writer(l, &row->reads);
}

/* Notes that what was pending reads, if it was let in. */
static inline void weft__rw_settle(weft__reader *row, int32_t gate) {
  int32_t reads = weft__hint(&row->reads); /* this agent wrote it */
  int32_t next = weft__reader_settled(reads, gate);
  if (next != reads) weft__store(&row->reads, next);
}

/* As weft_rw_lock_try_read, in the row of this agent. */
static inline int weft__rw_try_read_tracked(weft_rw_lock *l) {
  /* A hint, unless it says no: it is looked at again below. */
  if (weft__rw_is_busy(weft__hint(&l->state)) &&
      weft__rw_is_busy(weft__load(&l->state)))
    return EBUSY;
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_room(&rows);
  if (row == NULL) return EINVAL;
  /* (R) Note it, then look again. Pairs with (V). */
  weft__store(&row->reads, weft__plus(weft__hint(&row->reads), 1));
  int32_t state = weft__load(&l->state);
  if (!weft__rw_is_busy(state)) return weft__rw_held_in(state);
  weft__rw_add_reads(l, row, -1);
  return EBUSY;
}

/* Locks for reading, without waiting, if no writer has the lock or waits for
   it. Returns 0 or EOWNERDEAD, else EBUSY; EINVAL if 8191 agents read, or the
   lock tracks other agents than this one, or this agent reads 1023 times. */
static inline WEFT__CHECKED int weft_rw_lock_try_read(weft_rw_lock *l) {
  if (l->tracked != 0) return weft__rw_try_read_tracked(l);
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

/* Whether this agent writes. A relaxed load is enough to see its own id. */
static inline bool weft__rw_is_writing(const weft_rw_lock *l) {
  return (weft__hint(&l->writer) & WEFT_MUTEX_OWNER_MASK) == weft_agent_id() &&
         (weft__hint(&l->state) & WEFT_RW_LOCK_WRITING_BIT) != 0;
}

/* Gives way to a writer that was handed the lock and waits for a core. If 64
   agents share two cores, readers that continue would keep it from running. */
static inline void weft__rw_give_way(weft_rw_lock *l) {
  weft_agent *agent = &WEFT_AGENT();
  /* A hint is enough: it only tells one hand-off from another. */
  int32_t gate = weft__hint(&l->gate);
  int64_t now = WEFT_NOW();
  if (gate != agent->gate) {
    agent->gate = gate;
    agent->handed = now;
  } else if (now - agent->handed > WEFT__RW_WINDOW) {
    weft__sleep(&l->gate, gate, INT64_MAX, WEFT__RW_WAY);
  }
}

/* As weft__rw_pend, in the row of this agent. */
static inline int weft__rw_pend_tracked(weft_rw_lock *l,
                                        weft__rw_ticket *ticket) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_room(&rows);
  if (row == NULL) return EINVAL;
  for (;;) {
    ticket->gate = weft__load(&l->gate);
    weft__rw_settle(row, ticket->gate);
    weft__rw_add_reads(l, row, WEFT__ONE_PENDING);
    ticket->state = weft__load(&l->state);
    if (weft__rw_is_busy(ticket->state)) {
      /* (P) The writer that was seen has yet to end this phase. If the phase is
         over, another writer may not have seen this agent. */
      int32_t gate = weft__load(&l->gate);
      if (((gate ^ ticket->gate) & ~WEFT_RW_LOCK_WAITING_BIT) == 0)
        return EBUSY;
      weft__rw_add_reads(l, row, -WEFT__ONE_PENDING);
      continue;
    }
    int32_t reads = weft__hint(&row->reads);
    weft__store(&row->reads, weft__minus(reads, WEFT__ONE_PENDING - 1));
    /* (R) */
    if (!weft__rw_is_busy(weft__load(&l->state))) return 0;
    weft__rw_add_reads(l, row, -1);
  }
}

/* Begins to wait to read. Returns EBUSY and *ticket, or 0 if it may read at
   once. */
static inline int weft__rw_pend(weft_rw_lock *l, weft__rw_ticket *ticket) {
  if (l->tracked != 0) return weft__rw_pend_tracked(l, ticket);
  int32_t state = weft__load(&l->state);
  for (;;) {
    int32_t expected = state;
    bool waits = weft__rw_is_busy(state);
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

/* As weft__rw_leave: the gate alone has the phase. */
static inline void weft__rw_leave_tracked(weft_rw_lock *l, int32_t abandoned) {
  /* Only the owner of `writer` changes it. */
  int32_t state = weft__hint(&l->state);
  bool wrote = (state & WEFT_RW_LOCK_WRITING_BIT) != 0;
  int32_t kept = wrote ? 0 : state & WEFT_RW_LOCK_ABANDONED_BIT;
  /* In this order: whoever still sees the writer sees the old phase, too. */
  weft__store(&l->state, kept | abandoned);
  weft__rw_open(l);
}

/*
 * Ends the phase of the owner of `writer`, whether it wrote or only waited. All
 * pending readers read now, and `more` besides.
 */
static inline void weft__rw_leave(weft_rw_lock *l, int32_t more,
                                  int32_t abandoned) {
  if (l->tracked != 0) {
    weft__rw_leave_tracked(l, abandoned);
    return;
  }
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

/* Lets readers in if the lock was passed on to a writer that did not come. */
static inline void weft__rw_take_back(weft_rw_lock *l) {
  if (!weft__rw_is_busy(weft__load(&l->state))) return;
  if (weft_rw_lock_writer(l) != 0) return;
  if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return;
  weft__rw_leave(l, 0, 0);
  weft_mutex_unlock(weft__rw_writer(l));
}

/* Whether a tracked agent that waits with `ticket` was let in, and notes it. */
static inline bool weft__rw_is_in_tracked(weft_rw_lock *l,
                                          weft__rw_ticket ticket,
                                          int32_t state, int32_t gate) {
  if (!weft__rw_is_in(ticket, state, gate, 1)) return false;
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_find(&rows, weft_agent_id());
  if (row != NULL) weft__rw_settle(row, gate);
  return true;
}

/* Stops waiting to read; false if the state has changed. */
static inline bool weft__rw_give_up(weft_rw_lock *l, int32_t state) {
  if (l->tracked != 0) {
    weft__readers rows = weft__rw_rows(l);
    weft__reader *row = weft__reader_find(&rows, weft_agent_id());
    if (row != NULL) weft__rw_add_reads(l, row, -WEFT__ONE_PENDING);
    return true;
  }
  int32_t left = weft__minus(state, WEFT_RW_LOCK_ONE_PENDING);
  return weft__compare_exchange(&l->state, state, left) == state;
}

/* Waits until a writer lets us in. */
static inline int weft__rw_read_slow(weft_rw_lock *l, weft__rw_ticket ticket,
                                     int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  bool last = false;
  bool tracked = l->tracked != 0;
  for (;;) {
    int32_t gate = weft__load(&l->gate); /* before it reads the phase */
    int32_t state = weft__load(&l->state);
    if (tracked ? weft__rw_is_in_tracked(l, ticket, state, gate)
                : weft__rw_is_in(ticket, state, gate, 2))
      return weft__rw_held_in(state);
    if (last) {
      if (weft__rw_give_up(l, state)) return ETIMEDOUT;
      continue;
    }
    int32_t waiting = gate | WEFT_RW_LOCK_WAITING_BIT;
    if (gate != waiting &&
        weft__compare_exchange(&l->gate, gate, waiting) != gate)
      continue;
    bool starving = weft__hint(&l->writer_starving) != 0;
    int outcome = weft__sleep(&l->gate, waiting, deadline,
                              starving ? WEFT__RW_LOOK : WEFT__LOOK);
    if (outcome == WEFT__LOOKED) weft__rw_take_back(l);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/*
 * Locks for reading, and blocks up to `timeout` ns for that. Returns 0; or
 * EOWNERDEAD: it is locked, but a writer was abandoned. Else it is not locked:
 * ETIMEDOUT, EDEADLK if this agent has the lock for writing, EPERM if it may
 * not block, or EINVAL if 8191 agents read or wait to read.
 */
static inline WEFT__CHECKED int weft_rw_lock_read(weft_rw_lock *l,
                                                  int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (WEFT_SPIN_ROUNDS > 0 && timeout != 0 &&
      (weft__hint(&l->writer) & WEFT_MUTEX_HANDOFF_BIT) != 0)
    weft__rw_give_way(l);
  int result = weft_rw_lock_try_read(l);
  if (result != EBUSY) return result;
  if (weft__rw_is_writing(l)) return EDEADLK;
  weft__rw_ticket ticket = {0, 0};
  result = weft__rw_pend(l, &ticket);
  if (result == 0) return weft__rw_held_in(weft__load(&l->state));
  if (result != EBUSY) return result;
  bool spins = timeout != 0 && l->tracked == 0;
  for (int i = spins ? WEFT_SPIN_ROUNDS : 0; i > 0; i--) {
    weft__relax();
    int32_t state = weft__load(&l->state);
    if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK)
      return weft__rw_held_in(state);
  }
  return weft__rw_read_slow(l, ticket, timeout);
}

static inline int weft__rw_unlock_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_find(&rows, weft_agent_id());
  if (row == NULL || (weft__hint(&row->reads) & WEFT__READING_MASK) == 0)
    return EPERM;
  weft__rw_add_reads(l, row, -1);
  return 0;
}

/* Ends the reading of this agent. If it was the last reader, it wakes the
   writer that waits. EPERM if nobody reads; if tracked, if this agent does
   not. */
static inline int weft_rw_lock_unlock_read(weft_rw_lock *l) {
  if (l->tracked != 0) return weft__rw_unlock_tracked(l);
  /* A reader sees at least itself counted. */
  if (weft__rw_reading_in(weft__hint(&l->state)) == 0) return EPERM;
  int32_t state = weft__add(&l->state, -1);
  if (weft__rw_is_last_of_awaited(state)) weft__notify(&l->state, 1);
  return 0;
}

/* As weft__rw_hold. If agents read, `bits` say that this agent waits. */
static inline int weft__rw_hold_tracked(weft_rw_lock *l, int32_t bits) {
  weft__readers rows = weft__rw_rows(l);
  /* Only the owner of `writer` changes `state` and the phase. */
  int32_t state = weft__hint(&l->state);
  /* (V) Announce, then look at the readers. Pairs with (R). */
  if ((state & bits) != bits) weft__store(&l->state, state | bits);
  if (weft__reader_blocking(&rows, weft__hint(&l->gate)) != NULL) return EBUSY;
  weft__store(&l->state, (state & WEFT_RW_LOCK_ABANDONED_BIT) |
                             WEFT_RW_LOCK_WRITING_BIT);
  return weft__rw_held_in(state);
}

/* Takes the lock for the owner of `writer` if nobody reads; else EBUSY. */
static inline int weft__rw_hold(weft_rw_lock *l) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  if (l->tracked != 0) return weft__rw_hold_tracked(l, WEFT_RW_LOCK_WANTED_BIT);
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

/* As weft__rw_hold, for weft_rw_lock_try_write. */
static inline int weft__rw_try_hold_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  /* If somebody reads, others may go on reading. */
  if (weft__reader_blocking(&rows, weft__load(&l->gate)) != NULL) return EBUSY;
  int result = weft__rw_hold_tracked(l, WEFT_RW_LOCK_WANTED_BIT);
  if (result == EBUSY) weft__rw_leave(l, 0, 0);
  return result;
}

/* Locks for writing, without waiting, if nobody has the lock. Returns 0 or
   EOWNERDEAD, else EBUSY. */
static inline WEFT__CHECKED int weft_rw_lock_try_write(weft_rw_lock *l) {
  if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return EBUSY;
  int result =
      l->tracked == 0 ? weft__rw_hold(l) : weft__rw_try_hold_tracked(l);
  if (result == EBUSY) weft_mutex_unlock(weft__rw_writer(l));
  return result;
}

/* As weft__rw_hold, for an agent that will sleep if others read. */
static inline int weft__rw_hold_or_sleep(weft_rw_lock *l) {
  if (l->tracked == 0) return weft__rw_hold(l);
  return weft__rw_hold_tracked(
      l, WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT);
}

/* As weft__rw_blocker, in a row. */
static inline int32_t *weft__rw_blocker_tracked(weft_rw_lock *l,
                                                int32_t *value) {
  weft__readers rows = weft__rw_rows(l);
  int32_t gate = weft__hint(&l->gate);
  weft__reader *row = weft__reader_blocking(&rows, gate);
  if (row == NULL) return NULL;
  *value = weft__load(&row->reads);
  return weft__reading_of(*value, gate) > 0 ? &row->reads : NULL;
}

/* Where the owner of `writer` sleeps, and on which value; NULL if no agent
   reads any more. */
static inline int32_t *weft__rw_blocker(weft_rw_lock *l, int32_t *value) {
  const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT;
  if (l->tracked != 0) return weft__rw_blocker_tracked(l, value);
  *value = weft__or(&l->state, bits) | bits;
  return weft__rw_reading_in(*value) > 0 ? &l->state : NULL;
}

/* Waits for other writers, and then for the readers. */
static inline int weft__rw_write_slow(weft_rw_lock *l, int32_t id, bool owned,
                                      int32_t seen, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  if (!owned) {
    weft_mutex *m = weft__rw_writer(l);
    if (weft__mutex_lock_slow(m, id, seen, timeout, true) == ETIMEDOUT) {
      weft__rw_take_back(l); /* it may have been passed on to us */
      return ETIMEDOUT;
    }
  }
  bool last = false;
  for (;;) {
    int result = weft__rw_hold_or_sleep(l);
    if (result != EBUSY) return result;
    if (last) break;
    int32_t value;
    int32_t *at = weft__rw_blocker(l, &value);
    if (at == NULL) continue;
    int outcome = weft__sleep(at, value, deadline, WEFT__LOOK);
    last = outcome == WEFT__TIMED_OUT;
  }
  weft__rw_leave(l, 0, 0);
  weft_mutex_unlock(weft__rw_writer(l));
  return ETIMEDOUT;
}

/*
 * Locks for writing, and blocks up to `timeout` ns for that. Returns 0; or
 * EOWNERDEAD: it is locked, but the last writer was abandoned. Else it is not
 * locked: ETIMEDOUT, EDEADLK if this agent writes already, or EPERM if it may
 * not block.
 */
static inline WEFT__CHECKED int weft_rw_lock_write(weft_rw_lock *l,
                                                   int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  int32_t state =
      weft__compare_exchange(&l->writer, WEFT_MUTEX_UNLOCKED, id);
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  bool owned = state == WEFT_MUTEX_UNLOCKED;
  if (owned) {
    int result = weft__rw_hold(l);
    if (result == EBUSY && timeout != 0) {
      if (l->tracked == 0) weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);
      for (int i = WEFT_SPIN_ROUNDS; i > 0 && result == EBUSY; i--) {
        weft__relax();
        result = weft__rw_hold(l);
      }
    }
    if (result != EBUSY) return result;
  }
  return weft__rw_write_slow(l, id, owned, state, timeout);
}

/*
 * Passes the lock on to the next writer in line, and keeps readers waiting. If
 * many agents share few cores, the readers between two writers may need 100 ms,
 * so a writer behind seven others would wait for a second. Returns false if
 * this agent still owns `writer`.
 */
static inline bool weft__rw_pass_on(weft_rw_lock *l) {
  /* If CONTENDED is set, only the owner changes the word now. */
  if ((weft__hint(&l->writer) & WEFT_MUTEX_CONTENDED_BIT) == 0) return false;
  int32_t turns = weft__plus(l->turns, 1) & WEFT__RW_TURNS_MASK;
  l->turns = turns; /* published by (K) */
  if (turns == 0) return false;
  int32_t abandoned = weft__hint(&l->state) & WEFT_RW_LOCK_ABANDONED_BIT;
  weft__add(&l->state,
            WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT - abandoned);
  weft__store(&l->writer, WEFT__MUTEX_KEPT); /* (K) */
  if (weft__notify(&l->writer, 1) > 0) return true;
  /* Nobody slept: the starving writer gave up, or was terminated. */
  return weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY;
}

/* Ends the writing, and lets the waiting readers in, or the next writer. EPERM
   if this agent does not have the lock for writing. */
static inline int weft_rw_lock_unlock_write(weft_rw_lock *l) {
  if (!weft__rw_is_writing(l)) return EPERM;
  /* A hint: a writer that begins to starve may be seen later. */
  if (weft__hint(&l->writer_starving) != 0 && weft__rw_pass_on(l)) return 0;
  weft__rw_leave(l, 0, 0);
  return weft_mutex_unlock(weft__rw_writer(l));
}

/* Ends the writing, but continues to read, together with the waiting readers.
   EPERM if this agent does not have the lock for writing; EINVAL if it is
   tracked, and there is no room for this agent. */
static inline int weft_rw_lock_downgrade(weft_rw_lock *l) {
  if (!weft__rw_is_writing(l)) return EPERM;
  if (l->tracked != 0) {
    weft__readers rows = weft__rw_rows(l);
    weft__reader *row = weft__reader_room(&rows);
    if (row == NULL) return EINVAL;
    weft__rw_add_reads(l, row, 1);
  }
  weft__rw_leave(l, 1, 0);
  return weft_mutex_unlock(weft__rw_writer(l));
}

/* Ends the reading of agent `id`, and its waiting to read, and nothing else.
   Call it only when that agent will never run again. Returns how often it read;
   0 if the lock is not tracked. */
static inline int32_t weft_rw_lock_abandon_reading(weft_rw_lock *l,
                                                   int32_t id) {
  if (l->tracked == 0 || id == 0) return 0;
  weft__readers rows = weft__rw_rows(l);
  int32_t gate = weft__load(&l->gate);
  int32_t sum = 0;
  for (int32_t i = 0; i < rows.agents; i++) {
    weft__reader *row = &rows.rows[i];
    /* (H) From here on, this agent alone changes the row. */
    if (weft__compare_exchange(&row->agent, id, weft_agent_id()) != id)
      continue;
    sum += weft__reading_of(weft__exchange(&row->reads, 0), gate);
    weft__rw_wake_writer(l, &row->reads);
    weft__store(&row->agent, 0);
  }
  return sum;
}

/*
 * Ends the writing of agent `id`, or its waiting for the readers; if the lock
 * is tracked, also its reading. Call it only when that agent will never run
 * again. If it wrote, locking gives EOWNERDEAD until a writer has unlocked.
 * Returns how many of these there were.
 */
static inline int32_t weft_rw_lock_abandon(weft_rw_lock *l, int32_t id) {
  int32_t reads = weft_rw_lock_abandon_reading(l, id);
  if (!weft__mutex_inherit(weft__rw_writer(l), id, weft_agent_id())) {
    weft__rw_take_back(l); /* it may have been passed on to the dead agent */
    return reads;
  }
  bool writing = (weft__load(&l->state) & WEFT_RW_LOCK_WRITING_BIT) != 0;
  weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);
  /* It may have let readers in without opening the gate. */
  weft__rw_open(l);
  (void)weft_mutex_unlock(weft__rw_writer(l));
  return reads + 1;
}

WEFT__END

#endif

#endif /* WEFT_RW_LOCK_H */
