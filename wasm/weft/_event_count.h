/* _event_count.h - the twin of primitives/_event_count.ts. */
#ifndef WEFT__EVENT_COUNT_H
#define WEFT__EVENT_COUNT_H

#include "_layout.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

/* The count of the waiters of an epoch: the word after the epoch. */
static inline int32_t *weft__event_waiters(int32_t *epoch) {
  return epoch + WEFT__EVENT_WAITERS;
}

/* Wakes up to `n` sleepers of an epoch, if there are any. */
static inline void weft__event_wake(int32_t *epoch, int32_t n) {
  /* Pairs with (W): we see the waiter, or it sees what we published. */
  if (weft__load(weft__event_waiters(epoch)) == 0) return;
  weft__add(epoch, 1);
  weft__notify(epoch, n);
}

/*
 * Makes a blocking form of a try_ form, like WEFT__BLOCK, for a count of
 * waiters. At its end, the expression `pass` wakes another waiter if there is
 * more to take.
 */
#define WEFT__EVENT_BLOCK(attempt, epoch, pass, timeout) \
  WEFT__EVENT_BLOCK_OR(attempt, epoch, pass, timeout, -1)

/*
 * The same, where `stuck` is evaluated about once a second: the ticket, 0 or
 * more, that another agent has claimed and not handed on. ENOTRECOVERABLE if
 * it is the same twice.
 */
#define WEFT__EVENT_BLOCK_OR(attempt, epoch, pass, timeout, stuck) \
  do {                                                             \
    int result;                                                    \
    if (!weft__may_block()) return EPERM;                          \
    if ((result = (attempt)) != EBUSY) return result;              \
    WEFT__SPIN(spin, NULL, timeout) {                              \
      if (weft__spin_found(&spin, (result = (attempt)) != EBUSY))  \
        return result;                                             \
    }                                                              \
    int64_t deadline = weft__deadline(timeout);                    \
    int64_t stuck_last = -1;                                       \
    while (result == EBUSY) {                                      \
      int outcome = WEFT__NOT_EQUAL;                               \
      /* (W) announce, then look again */                          \
      weft__add(weft__event_waiters(epoch), 1);                    \
      int32_t seen = weft__load(epoch);                            \
      if ((result = (attempt)) == EBUSY)                           \
        outcome = weft__sleep(epoch, seen, deadline, WEFT__LOOK);  \
      weft__add(weft__event_waiters(epoch), -1);                   \
      if (outcome == WEFT__LOOKED && result == EBUSY) {            \
        int64_t stuck_now = (stuck);                               \
        if (stuck_now >= 0 && stuck_now == stuck_last)             \
          result = ENOTRECOVERABLE;                                \
        stuck_last = stuck_now;                                    \
      }                                                            \
      if (outcome != WEFT__TIMED_OUT) continue;                    \
      if ((result = (attempt)) == EBUSY) result = ETIMEDOUT;       \
    }                                                              \
    (pass);                                                        \
    return result;                                                 \
  } while (0)

WEFT__END

#endif /* WEFT__EVENT_COUNT_H */
