/* _event_count.h - the twin of primitives/_event_count.ts. */
#ifndef WEFT__EVENT_COUNT_H
#define WEFT__EVENT_COUNT_H

#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

/* Wakes up to `n` sleepers of an epoch, if there are any; they are counted in
   the word behind it. */
static inline void weft__event_wake(int32_t *epoch, int32_t n) {
  /* Pairs with (W): we see the waiter, or it sees what we published. */
  if (weft__load(epoch + 1) == 0) return;
  weft__add(epoch, 1);
  weft__notify(epoch, n);
}

/* A blocking form from a try_ form, as WEFT__BLOCK, for a count of waiters. */
#define WEFT__EVENT_BLOCK(attempt, epoch, pass, timeout)              \
  do {                                                                \
    int result;                                                       \
    if (!weft__may_block()) return EPERM;                             \
    if ((result = (attempt)) != EBUSY) return result;                 \
    int32_t rounds = weft__spin_rounds(timeout);                      \
    for (int32_t round = 1; round <= rounds; round++) {               \
      weft__relax();                                                  \
      if ((result = (attempt)) == EBUSY) continue;                    \
      weft__spin_paid(round);                                         \
      return result;                                                  \
    }                                                                 \
    weft__spin_failed(rounds);                                        \
    int64_t deadline = weft__deadline(timeout);                       \
    while (result == EBUSY) {                                         \
      int outcome = WEFT__NOT_EQUAL;                                  \
      weft__add((epoch) + 1, 1); /* (W) announce, then look again */  \
      int32_t seen = weft__load(epoch);                               \
      if ((result = (attempt)) == EBUSY)                              \
        outcome = weft__sleep(epoch, seen, deadline, WEFT__LOOK);     \
      weft__add((epoch) + 1, -1);                                     \
      if (outcome != WEFT__TIMED_OUT) continue;                       \
      if ((result = (attempt)) == EBUSY) result = ETIMEDOUT;          \
    }                                                                 \
    pass(q);                                                          \
    return result;                                                    \
  } while (0)

WEFT__END

#endif /* WEFT__EVENT_COUNT_H */
