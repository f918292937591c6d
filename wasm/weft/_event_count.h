/* _event_count.h - the twin of primitives/_wait/event_count.ts. */
#ifndef WEFT__EVENT_COUNT_H
#define WEFT__EVENT_COUNT_H

#include "_fence.h"
#include "_gong.h"
#include "_layout.h"
#include "_spin_patiently.h"
#include "_wait.h"

WEFT__BEGIN

/* The count of the waiters of an epoch: the word after the epoch. */
static inline int32_t *weft__event_waiters(int32_t *epoch) {
  return epoch + WEFT__EVENT_WAITERS;
}

/*
 * An odd epoch says that a wake is on its way. Until the waiter that it reaches
 * runs, further wakes for one are left out: that waiter looks after all that
 * was published before, and wakes the next one if there is more to be had. So
 * an agent that publishes a hundred times in a row wakes once. Where a waiter
 * awaits, which agents of C never do, none is left out.
 */

/* In the count: one of the waiters awaits, or did. */
#define WEFT__EVENT_AWAITED_BIT INT32_MIN /* WAITERS_BITS.AWAITED */

/* Wakes up to `n` of the `waiters` of an epoch: see weft__event_wake. */
WEFT__SELDOM static inline bool weft__event_wake_slow(int32_t *epoch, int32_t n,
                                                      int32_t waiters) {
  weft__fence(); /* (F) what was published comes before the look at (L) */
  if (n == WEFT__ALL || waiters < 0) {
    weft__add(epoch, 2);
  } else {
    int32_t even = weft__load(epoch);
    /* Whoever makes it even looks after that: (L). */
    if (even & 1) return false;
    /* If it changed just now, somebody looks after that, too. */
    if (weft__compare_exchange(epoch, even, weft__plus(even, 1)) != even)
      return false;
  }
  weft__notify(epoch, n);
  return true;
}

/*
 * Wakes up to `n` sleepers of an epoch, if there are any. False if it was left
 * to a wake that is on its way.
 */
static inline WEFT__SHARED bool weft__event_wake(int32_t *epoch, int32_t n) {
  /* Pairs with (W): we see the waiter, or it sees what we published. */
  weft__light();
  int32_t waiters = weft__load(weft__event_waiters(epoch));
  if (waiters == 0) return true;
  return weft__event_wake_slow(epoch, n, waiters);
}

/* The same, where the end of a queue has a gong. */
WEFT__SELDOM static inline bool weft__event_wake_end_slow(int32_t *epoch,
                                                          int32_t n,
                                                          int32_t waiters) {
  if (!weft__event_wake_slow(epoch, n, waiters)) return false;
  weft__strike(epoch + WEFT__EVENT_GONG);
  return true;
}

/* As weft__event_wake, for the end of a queue, which has a gong. */
static inline WEFT__SHARED bool weft__event_wake_end(int32_t *epoch,
                                                     int32_t n) {
  weft__light(); /* Pairs with (W), as in weft__event_wake. */
  int32_t waiters = weft__load(weft__event_waiters(epoch));
  return waiters == 0 || weft__event_wake_end_slow(epoch, n, waiters);
}

/* Counts a waiter; the epoch to sleep on after one more look. */
static inline WEFT__SHARED int32_t weft__event_announce(int32_t *epoch) {
  /* (W) announce, then look again */
  weft__add(weft__event_waiters(epoch), 1);
  weft__heavy();
  int32_t value = weft__load(epoch);
  while (value & 1) { /* (L) the wakes that are left out end before the look */
    int32_t even = weft__plus(value, 1);
    int32_t seen = weft__compare_exchange(epoch, value, even);
    value = seen == value ? even : seen;
  }
  return value;
}

/* Stops counting a waiter. */
static inline WEFT__SHARED void weft__event_withdraw(int32_t *epoch) {
  int32_t *waiters = weft__event_waiters(epoch);
  if (weft__plus(weft__add(waiters, -1), -1) == WEFT__EVENT_AWAITED_BIT)
    weft__compare_exchange(waiters, WEFT__EVENT_AWAITED_BIT, 0);
}

/*
 * Makes a blocking form of a try_ form: it tries, spins, and then sleeps as a
 * waiter that is counted. Each round evaluates the expression `attempt` again.
 * At its end, the expression `pass` wakes another waiter if there is more to
 * take.
 */
#define WEFT__EVENT_BLOCK(attempt, epoch, pass, timeout) \
  WEFT__EVENT_BLOCK_OR(attempt, epoch, (void)0, pass, timeout, -1)

/*
 * The same, where `hand_on` wakes another waiter that may have what this one
 * cannot, and `stuck` is evaluated about once a second: the ticket, 0 or more,
 * that another agent has claimed and not handed on. ENOTRECOVERABLE if it is
 * the same twice.
 */
#define WEFT__EVENT_BLOCK_OR(attempt, epoch, hand_on, pass, timeout, stuck)  \
  WEFT__EVENT_BLOCK_LAST(attempt, attempt, epoch, hand_on, pass, timeout,    \
                         stuck)

/*
 * The same, where `last` is evaluated once the time is over. It is EBUSY if
 * more waiting follows: what is taken then would have to be given up at once.
 */
#define WEFT__EVENT_BLOCK_LAST(attempt, last, epoch, hand_on, pass, timeout, \
                               stuck)                                        \
  do {                                                                       \
    if (!weft__may_block()) return EPERM;                                    \
    int at_once = (attempt);                                                 \
    if (at_once != EBUSY) return at_once;                                    \
    WEFT__EVENT_BLOCK_SLOW(attempt, last, epoch, hand_on, pass, timeout,     \
                           stuck);                                           \
  } while (0)

/* The same, after a first attempt that gave EBUSY. */
#define WEFT__EVENT_BLOCK_SLOW(attempt, last, epoch, hand_on, pass, timeout, \
                               stuck)                                        \
  do {                                                                       \
    int result = EBUSY;                                                      \
    WEFT__SPIN(spin, NULL, timeout) {                                        \
      if (weft__spin_found(spin, (result = (attempt)) != EBUSY))             \
        return result;                                                       \
    }                                                                        \
    WEFT__EVENT_SLEEP_OR(attempt, last, epoch, hand_on, pass, timeout,       \
                         stuck);                                             \
    return result;                                                           \
  } while (0)

/* As WEFT__EVENT_BLOCK, to wait for agents that work for this one. */
#define WEFT__EVENT_BLOCK_PATIENTLY(attempt, epoch, pass, timeout) \
  do {                                                             \
    int result;                                                    \
    if (!weft__may_block()) return EPERM;                          \
    if ((result = (attempt)) != EBUSY) return result;              \
    weft__spinning spin = WEFT__SPIN_PATIENTLY(timeout);           \
    while ((spin = weft__spin_next_patiently(spin)) != 0) {        \
      if ((result = (attempt)) != EBUSY) return result;            \
    }                                                              \
    WEFT__EVENT_SLEEP_OR(attempt, attempt, epoch, (void)0, pass,   \
                         timeout, -1);                             \
    return result;                                                 \
  } while (0)

/* The sleeps of these forms; sets `result`. */
#define WEFT__EVENT_SLEEP_OR(attempt, last, epoch, hand_on, pass, timeout,     \
                             stuck)                                            \
  int64_t deadline = weft__deadline(timeout);                                  \
  int64_t stuck_last = -1;                                                     \
  for (bool woken = false; result == EBUSY; woken = true) {                    \
    int outcome = WEFT__NOT_EQUAL;                                             \
    int32_t seen = weft__event_announce(epoch);                                \
    if ((result = (attempt)) == EBUSY) {                                       \
      if (woken) (void)(hand_on);                                              \
      outcome = weft__sleep(epoch, seen, deadline, WEFT__LOOK);                \
    }                                                                          \
    weft__event_withdraw(epoch);                                               \
    if (outcome == WEFT__LOOKED && result == EBUSY) {                          \
      int64_t stuck_now = (stuck);                                             \
      if (stuck_now >= 0 && stuck_now == stuck_last) result = ENOTRECOVERABLE; \
      stuck_last = stuck_now;                                                  \
    }                                                                          \
    if (outcome != WEFT__TIMED_OUT) continue;                                  \
    if ((result = (last)) == EBUSY) result = ETIMEDOUT;                        \
  }                                                                            \
  (void)(pass)

WEFT__END

#endif /* WEFT__EVENT_COUNT_H */
