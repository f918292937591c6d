/* _rw_lock_tracked.h - the readers of a read-write lock, if they note in rows
   that they read. */
#ifndef WEFT__RW_LOCK_TRACKED_H
#define WEFT__RW_LOCK_TRACKED_H

#include "_readers.h"
#include "_rw_lock_counted.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The rows of a tracked lock. */
static inline weft__readers weft__rw_rows(const weft_rw_lock *l) {
  int32_t *words = weft__words_with_rows(l);
  weft__readers r = {(weft__reader *)(void *)(words + WEFT__RW_LOCK_ROWS),
                     weft_rw_lock_tracked(l)};
  return r;
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

/* As weft__rw_pend, in the row of this agent. */
static inline int weft__rw_pend_tracked(weft_rw_lock *l, int32_t bits,
                                        weft__rw_ticket *ticket) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_room(&rows);
  if (row == NULL) return EINVAL;
  for (;;) {
    ticket->gate = weft__load(&l->gate);
    weft__rw_settle(row, ticket->gate);
    weft__rw_add_reads(l, row, WEFT__ONE_PENDING);
    ticket->state = weft__load(&l->state);
    if (ticket->state & bits) {
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
    if ((weft__load(&l->state) & bits) == 0) return 0;
    weft__rw_add_reads(l, row, -1);
  }
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

/* As weft__rw_give_up, in the row of this agent. */
static inline bool weft__rw_give_up_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_find(&rows, weft_agent_id());
  if (row != NULL) weft__rw_add_reads(l, row, -WEFT__ONE_PENDING);
  return true;
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

/* As weft_rw_lock_unlock_read, in the row of this agent. */
static inline int weft__rw_unlock_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_find(&rows, weft_agent_id());
  if (row == NULL || (weft__hint(&row->reads) & WEFT__READING_MASK) == 0)
    return EPERM;
  weft__rw_add_reads(l, row, -1);
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

/* As weft__rw_hold_or_sleep, in the rows. */
static inline int weft__rw_hold_or_sleep_tracked(weft_rw_lock *l) {
  return weft__rw_hold_tracked(
      l, WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT);
}

/* As weft__rw_hold, for weft_rw_lock_try_write. */
static inline int weft__rw_try_hold_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  /* If somebody reads, others may go on reading. */
  if (weft__reader_blocking(&rows, weft__load(&l->gate)) != NULL) return EBUSY;
  int result = weft__rw_hold_tracked(l, WEFT_RW_LOCK_WANTED_BIT);
  if (result == EBUSY) weft__rw_leave_tracked(l, 0);
  return result;
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

/* Notes that this agent goes on reading after it wrote. */
static inline int weft__rw_keep_tracked(weft_rw_lock *l) {
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_room(&rows);
  if (row == NULL) return EINVAL;
  weft__rw_add_reads(l, row, 1);
  return 0;
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

WEFT__END

#endif

#endif /* WEFT__RW_LOCK_TRACKED_H */
