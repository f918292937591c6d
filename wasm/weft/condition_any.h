/* condition_any.h - waits for a condition with a lock that is not a mutex: an
   rw_lock, or a recursive mutex. */
#ifndef WEFT_CONDITION_ANY_H
#define WEFT_CONDITION_ANY_H

#include "condition.h"
#include "recursive_mutex.h"
#include "rw_lock.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/*
 * As with a mutex, change the data while you hold the lock for writing: an
 * agent that waits has joined before it unlocks. All waiters of a condition
 * should use one lock. An agent that was called wakes the next one when it has
 * its lock again.
 */

/*
 * Unlocks a lock that this agent holds for writing, blocks up to `timeout` ns
 * until it is notified, and locks it for writing again, however long that
 * takes. Returns what weft_condition_wait returns.
 */
static inline int weft_condition_wait_write(weft_condition *c, weft_rw_lock *l,
                                            int64_t timeout) {
  int32_t group = 0;
  if (!weft__may_block() || !weft__rw_is_writing(l)) return EPERM;
  int result = weft__condition_join(c, &group);
  if (result != 0) return result;
  int32_t seen = weft__load(weft__condition_place(c, group));
  weft_rw_lock_unlock_write(l);
  result = weft__condition_sleep(c, group, seen, timeout);
  int locked = weft_rw_lock_write(l, WEFT_FOREVER);
  return weft__condition_return(c, group, result, locked);
}

/* Whether this agent may have the lock for reading. Only a tracked lock knows
   which agents read. */
static inline bool weft__rw_may_read(weft_rw_lock *l) {
  if (l->tracked == 0) return weft_rw_lock_readers(l) > 0;
  weft__readers rows = weft__rw_rows(l);
  weft__reader *row = weft__reader_find(&rows, weft_agent_id());
  return row != NULL && (weft__hint(&row->reads) & WEFT__READING_MASK) != 0;
}

/*
 * The same with a lock that this agent holds for reading, once. Besides,
 * EOVERFLOW says that it is not locked again, because 8191 other agents read or
 * wait to read.
 */
static inline int weft_condition_wait_read(weft_condition *c, weft_rw_lock *l,
                                           int64_t timeout) {
  int32_t group = 0;
  if (!weft__may_block() || !weft__rw_may_read(l)) return EPERM;
  int result = weft__condition_join(c, &group);
  if (result != 0) return result;
  int32_t seen = weft__load(weft__condition_place(c, group));
  weft_rw_lock_unlock_read(l);
  result = weft__condition_sleep(c, group, seen, timeout);
  int locked = weft_rw_lock_read(l, WEFT_FOREVER);
  return weft__condition_return(c, group, result,
                                locked == EINVAL ? EOVERFLOW : locked);
}

/* The same with a recursive mutex. However often this agent has locked it, the
   mutex is unlocked during the wait, and locked as often afterwards. */
static inline int weft_condition_wait_recursive(weft_condition *c,
                                                weft_recursive_mutex *m,
                                                int64_t timeout) {
  if (!weft__recursive_is_own(m)) return EPERM;
  int32_t depth = m->depth;
  int result = weft_condition_wait(c, &m->mutex, timeout);
  m->depth = depth; /* others have held it meanwhile */
  return result;
}

WEFT__END

#endif

#endif /* WEFT_CONDITION_ANY_H */
