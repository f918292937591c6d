/* _hash_lock.h - the twin of primitives/_map/lock.ts. */
#ifndef WEFT__HASH_LOCK_H
#define WEFT__HASH_LOCK_H

#include "_hash_plan.h"
#include "agent.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/* Locks a bucket: 0, or EDEADLK within an own update, or EPERM if it stays
   locked and this agent may not block. */
static inline int weft__hash_lock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  int32_t *word = &bucket->lock.state;
  int32_t state = weft__compare_exchange(word, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  if (weft__mutex_spin(&bucket->lock, id, WEFT_FOREVER)) return 0;
  if (!weft__may_block()) return EPERM;
  (void)weft__mutex_lock_slow(&bucket->lock, id, state, WEFT_FOREVER, false);
  return 0;
}

/* Locks a bucket if nobody holds it or waits for it; returns whether it did. */
static inline bool weft__hash_try_lock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  return weft__compare_exchange(&bucket->lock.state, WEFT_MUTEX_UNLOCKED,
                                id) == WEFT_MUTEX_UNLOCKED;
}

static inline void weft__hash_unlock(weft__hash_bucket *bucket) {
  int32_t id = weft_agent_id();
  int32_t *word = &bucket->lock.state;
  int32_t state = weft__compare_exchange(word, id, WEFT_MUTEX_UNLOCKED);
  if (state != id) (void)weft_mutex_unlock(&bucket->lock);
}

WEFT__END

#endif

#endif /* WEFT__HASH_LOCK_H */
