/* recursive_mutex.h - a mutex that its owner may lock again. JavaScript locks
   its first words, which are those of a mutex. */
#ifndef WEFT_RECURSIVE_MUTEX_H
#define WEFT_RECURSIVE_MUTEX_H

#include "mutex.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

/*
 * A mutex that its owner may lock again, and unlocks as often. All words 0:
 * unlocked. JavaScript, and C that knows only a mutex, attach to `mutex` and
 * lock it once.
 *
 * `depth` says how often the owner has locked it. Only an owner that locks it
 * here reads or writes the word, and writes it before it reads it, so what
 * others left there does not matter.
 *
 * Freed when: as a mutex.
 */
typedef struct {
  weft_mutex mutex;
  int32_t depth;
} weft_recursive_mutex;

/* The bytes of a recursive mutex, as a constant and as a function. */
#define WEFT_RECURSIVE_MUTEX_BYTES sizeof(weft_recursive_mutex)
static inline size_t weft_recursive_mutex_bytes(void) {
  return sizeof(weft_recursive_mutex);
}

/* Initializes `bytes` bytes of unused memory as an unlocked mutex. Memory that
   is all zero is one already. NULL if the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_recursive_mutex *weft_recursive_mutex_init(
    void *at, size_t bytes) {
  if (!weft__fits(at, bytes, sizeof(weft_recursive_mutex))) return NULL;
  weft__zero(at, sizeof(weft_recursive_mutex));
  return (weft_recursive_mutex *)at;
}

/* The id of the agent that holds the mutex, or 0. */
static inline int32_t weft_recursive_mutex_owner(
    const weft_recursive_mutex *m) {
  return weft_mutex_owner(&m->mutex);
}

/* Whether this agent holds it. A relaxed load is enough to see its own id. */
static inline bool weft__recursive_is_own(const weft_recursive_mutex *m) {
  int32_t owner = weft__hint(&m->mutex.state) & WEFT_MUTEX_OWNER_MASK;
  return owner == weft_agent_id();
}

/* Locks it once more, for its owner: 0, or EOVERFLOW. */
static inline int weft__recursive_again(weft_recursive_mutex *m) {
  if (m->depth == INT32_MAX) return EOVERFLOW;
  m->depth++;
  return 0;
}

/* Notes that the mutex was locked for the first time, if it was. */
static inline int weft__recursive_first(weft_recursive_mutex *m, int result) {
  if (result == 0 || result == EOWNERDEAD) m->depth = 1;
  return result;
}

/* Locks the mutex if nobody else holds it, without waiting. Returns 0, or
   EOWNERDEAD as weft_mutex_try_lock; else EBUSY, or EOVERFLOW if this agent has
   locked it 2^31 - 1 times. */
static inline WEFT__CHECKED int weft_recursive_mutex_try_lock(
    weft_recursive_mutex *m) {
  if (weft__recursive_is_own(m)) return weft__recursive_again(m);
  return weft__recursive_first(m, weft_mutex_try_lock(&m->mutex));
}

/* Locks the mutex, and blocks up to `timeout` ns while another agent holds it.
   Returns 0, or EOWNERDEAD as weft_mutex_lock; else ETIMEDOUT, EPERM if this
   agent may not block, or EOVERFLOW if it has locked it 2^31 - 1 times. */
static inline WEFT__CHECKED int weft_recursive_mutex_lock(
    weft_recursive_mutex *m, int64_t timeout) {
  if (weft__recursive_is_own(m)) return weft__recursive_again(m);
  return weft__recursive_first(m, weft_mutex_lock(&m->mutex, timeout));
}

/* Undoes one lock of this agent. The last one unlocks the mutex, and wakes a
   sleeper if there is one. EPERM if this agent does not hold it. */
static inline int weft_recursive_mutex_unlock(weft_recursive_mutex *m) {
  if (weft__recursive_is_own(m) && m->depth > 1) {
    m->depth--;
    return 0;
  }
  return weft_mutex_unlock(&m->mutex); /* nothing here is touched after it */
}

/* Frees the mutex, however often agent `id` has locked it: see
   weft_mutex_abandon. */
static inline int32_t weft_recursive_mutex_abandon(weft_recursive_mutex *m,
                                                   int32_t id) {
  return weft_mutex_abandon(&m->mutex, id);
}

WEFT__END

#endif

#endif /* WEFT_RECURSIVE_MUTEX_H */
