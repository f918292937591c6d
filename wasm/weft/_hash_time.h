/* _hash_time.h - the twin of primitives/_map/time.ts. */
#ifndef WEFT__HASH_TIME_H
#define WEFT__HASH_TIME_H

#include "_hash_plan.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* The clocks of two agents differ by less, in milliseconds. */
#define WEFT__HASH_LATE 1000

/* The clock as a word, for weft__hash_is_over: an operation looks before it
   reads an entry. */
static inline int32_t weft__hash_now(const weft__hash_plan *plan) {
  return plan->expires ? (int32_t)(uint32_t)(uint64_t)WEFT_DATE() : 0;
}

/* Whether a value with this word `expires` counts no longer. It cannot count
   for longer than `ttl`: if it seems so, 25 days have passed, and the
   difference has wrapped, or the machine's clock was set back. */
static inline bool weft__hash_is_over(const weft_hash_map *m,
                                      const weft__hash_plan *plan,
                                      int32_t expires, int32_t now) {
  if (!plan->expires) return false;
  int32_t left = weft__plus(expires, weft__plus(~now, 1));
  return left <= 0 || left > weft__plus(m->ttl, WEFT__HASH_LATE);
}

WEFT__END

#endif

#endif /* WEFT__HASH_TIME_H */
