/* rw_lock.h - the twin of primitives/rw_lock.ts, whose algorithm is in
   primitives/_lock/rw_lock.ts: what writers do, and how readers wait. */
#ifndef WEFT_RW_LOCK_H
#define WEFT_RW_LOCK_H

#include "_rw_lock_counted.h"
#include "_rw_lock_tracked.h"
#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

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

/* Locks for reading, without waiting, if no writer has the lock or waits for
   it. Returns 0 or EOWNERDEAD, else EBUSY; EINVAL if 8191 agents read, or the
   lock tracks other agents than this one, or this agent reads 1023 times. */
static inline WEFT__CHECKED int weft_rw_lock_try_read(weft_rw_lock *l) {
  return l->tracked != 0 ? weft__rw_try_read_tracked(l)
                         : weft__rw_try_read_counted(l);
}

/* Whether this agent writes. A relaxed load is enough to see its own id. */
static inline bool weft__rw_is_writing(const weft_rw_lock *l) {
  return (weft__hint(&l->writer) & WEFT_MUTEX_OWNER_MASK) == weft_agent_id() &&
         (weft__hint(&l->state) & WEFT_RW_LOCK_WRITING_BIT) != 0;
}

/* Gives way to a writer that was handed the lock and waits for a core. If 64
   agents share two cores, readers that continue would keep it from running. */
static inline void weft__rw_give_way(weft_rw_lock *l) {
  weft__agent_rest *agent = &WEFT__AGENT_REST();
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

/* Begins to wait to read while one of `bits` is set. Returns EBUSY and *ticket,
   or 0 if it may read at once. */
static inline int weft__rw_pend(weft_rw_lock *l, int32_t bits,
                                weft__rw_ticket *ticket) {
  return l->tracked != 0 ? weft__rw_pend_tracked(l, bits, ticket)
                         : weft__rw_pend_counted(l, bits, ticket);
}

/*
 * Ends the phase of the owner of `writer`, whether it wrote or only waited. All
 * pending readers read now, and `more` besides.
 */
static inline void weft__rw_leave(weft_rw_lock *l, int32_t more,
                                  int32_t abandoned) {
  if (l->tracked != 0)
    weft__rw_leave_tracked(l, abandoned);
  else
    weft__rw_leave_counted(l, more, abandoned);
}

/* Lets readers in if the lock was passed on to a writer that did not come. */
static inline void weft__rw_take_back(weft_rw_lock *l) {
  if (!weft__rw_is_busy(weft__load(&l->state))) return;
  if (weft_rw_lock_writer(l) != 0) return;
  if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return;
  weft__rw_leave(l, 0, 0);
  weft_mutex_unlock(weft__rw_writer(l));
}

/* Stops waiting to read; false if the state has changed. */
static inline bool weft__rw_give_up(weft_rw_lock *l, int32_t state) {
  return l->tracked != 0 ? weft__rw_give_up_tracked(l)
                         : weft__rw_give_up_counted(l, state);
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
  bool own = weft_rw_lock_writer(l) == weft_agent_id();
  if (own && weft__rw_is_writing(l)) return EDEADLK;
  weft__rw_ticket ticket = {0, 0};
  /* If JavaScript's `writeAsync` of this agent waits, it must not wait for
     itself. */
  int32_t bits = own ? WEFT_RW_LOCK_WRITING_BIT : WEFT__RW_BUSY_BITS;
  result = weft__rw_pend(l, bits, &ticket);
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

/* Ends the reading of this agent. If it was the last reader, it wakes the
   writer that waits. EPERM if nobody reads; if tracked, if this agent does
   not. */
static inline int weft_rw_lock_unlock_read(weft_rw_lock *l) {
  return l->tracked != 0 ? weft__rw_unlock_tracked(l)
                         : weft__rw_unlock_counted(l);
}

/* Takes the lock for the owner of `writer` if nobody reads; else EBUSY. */
static inline int weft__rw_hold(weft_rw_lock *l) {
  return l->tracked != 0 ? weft__rw_hold_tracked(l, WEFT_RW_LOCK_WANTED_BIT)
                         : weft__rw_hold_counted(l);
}

/* Locks for writing, without waiting, if nobody has the lock. Returns 0 or
   EOWNERDEAD, else EBUSY. */
static inline WEFT__CHECKED int weft_rw_lock_try_write(weft_rw_lock *l) {
  if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return EBUSY;
  int result = l->tracked != 0 ? weft__rw_try_hold_tracked(l)
                               : weft__rw_hold_counted(l);
  if (result == EBUSY) weft_mutex_unlock(weft__rw_writer(l));
  return result;
}

/* As weft__rw_hold, for an agent that will sleep if others read. */
static inline int weft__rw_hold_or_sleep(weft_rw_lock *l) {
  return l->tracked != 0 ? weft__rw_hold_or_sleep_tracked(l)
                         : weft__rw_hold_counted(l);
}

/* Where the owner of `writer` sleeps, and on which value; NULL if no agent
   reads any more. */
static inline int32_t *weft__rw_blocker(weft_rw_lock *l, int32_t *value) {
  return l->tracked != 0 ? weft__rw_blocker_tracked(l, value)
                         : weft__rw_blocker_counted(l, value);
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
      if (l->tracked == 0) weft__rw_want(l);
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
  if (l->tracked != 0 && weft__rw_keep_tracked(l) != 0) return EINVAL;
  weft__rw_leave(l, 1, 0);
  return weft_mutex_unlock(weft__rw_writer(l));
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
