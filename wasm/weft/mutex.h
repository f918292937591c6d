/* mutex.h - the twin of primitives/_lock/mutex.ts. */
#ifndef WEFT_MUTEX_H
#define WEFT_MUTEX_H

#include "_layout.h"
#include "_spin.h"
#include "_wait.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_MUTEX_UNLOCKED 0
#define WEFT_MUTEX_OWNER_MASK 0xfffffff /* MUTEX_BITS.OWNER */
#define WEFT_MUTEX_ABANDONED_BIT (1 << 28) /* MUTEX_BITS.ABANDONED */
#define WEFT_MUTEX_HANDOFF_BIT (1 << 29) /* MUTEX_BITS.HANDOFF */
#define WEFT_MUTEX_CONTENDED_BIT (1 << 30) /* MUTEX_BITS.CONTENDED */
/* HANDOFF and CONTENDED: the mutex is kept for a sleeper. */
#define WEFT__MUTEX_KEPT (3 << 29) /* MUTEX_BITS.HANDOFF | CONTENDED */

/* How long, in ns, newcomers may overtake a sleeper before it is handed the
   mutex. */
#define WEFT__MUTEX_PATIENCE INT64_C(1000000)
/* The same for a hand-off among agents that are served in line, see below. */
#define WEFT__MUTEX_LINE_PATIENCE INT64_C(100000000)

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A mutex. All words 0: unlocked.
 *
 * word 0  state     bits 0-27  the owner's agent id, or 0
 *                   bit 28     ABANDONED: free, because the dead owner was
 *                              recovered
 *                   bit 29     HANDOFF: it is kept for a woken sleeper; with an
 *                              owner, offered to one
 *                   bit 30     CONTENDED: somebody may sleep on this word
 *                   sleepers: agents that lock
 * word 1  starving  1 while there is a sleeper that newcomers passed for a
 *                   millisecond.
 *
 * Freed when: no agent waits, and none will begin an operation. The owner
 * before may still be in unlock.
 */
typedef struct {
  int32_t state;
  int32_t starving;
} weft_mutex;
WEFT_WORD(mutex, state, 0);
WEFT_WORD(mutex, starving, 1);
WEFT_LENGTH(mutex, 2);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a mutex, as a constant and as a function. */
#define WEFT_MUTEX_BYTES sizeof(weft_mutex)
static inline size_t weft_mutex_bytes(void) { return sizeof(weft_mutex); }

/* Initializes `bytes` bytes of unused memory as an unlocked mutex. Memory that
   is all zero is one already. NULL if the bytes are too few, or `at` is not a
   multiple of 4. */
static inline WEFT__RESULT weft_mutex *weft_mutex_init(void *at, size_t bytes) {
  if (!weft__fits(at, bytes, sizeof(weft_mutex))) return NULL;
  weft__zero(at, sizeof(weft_mutex));
  return (weft_mutex *)at;
}

/* The id of the agent that holds the mutex, or 0. */
static inline int32_t weft_mutex_owner(const weft_mutex *m) {
  return weft__load(&m->state) & WEFT_MUTEX_OWNER_MASK;
}

/* Locks the mutex if nobody holds it, without waiting; else EBUSY. */
static inline WEFT__CHECKED int weft_mutex_try_lock(weft_mutex *m) {
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  /* Without an owner, the mutex is ABANDONED, or was freed a moment ago, or is
     kept for a sleeper. In the last case that sleeper looks again and sleeps
     on. */
  while ((state & WEFT_MUTEX_OWNER_MASK) == 0) {
    int32_t expected = state;
    int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT);
    state = weft__compare_exchange(&m->state, expected, taken);
    if (state == expected)
      return state & WEFT_MUTEX_ABANDONED_BIT ? EOWNERDEAD : 0;
  }
  return EBUSY;
}

/* Looks for a short time whether the mutex comes free, once a microsecond: each
   look takes the cache line from the owner, which needs it to unlock. If the
   lock was handed to a sleeper, stop: spinning would take its core. */
static inline WEFT__SHARED bool weft__mutex_spin(weft_mutex *m, int32_t id,
                                    int64_t timeout) {
  WEFT__SPIN(spin, NULL, timeout) {
    int32_t state = weft__load(&m->state);
    if (state & WEFT_MUTEX_HANDOFF_BIT) {
      weft__spin_stop(spin);
      return false;
    }
    if (state != WEFT_MUTEX_UNLOCKED ||
        weft__compare_exchange(&m->state, state, id) != state)
      continue;
    return weft__spin_found(spin, true);
  }
  return false;
}

/* For a sleeper that leaves: frees a mutex that is kept for a sleeper, and
   wakes another one; or takes back that it is offered. */
static inline void weft__mutex_decline(weft_mutex *m) {
  int32_t state = weft__load(&m->state);
  while (state & WEFT_MUTEX_HANDOFF_BIT) {
    int32_t expected = state;
    int32_t next = state == WEFT__MUTEX_KEPT ? WEFT_MUTEX_UNLOCKED
                                             : state & ~WEFT_MUTEX_HANDOFF_BIT;
    state = weft__compare_exchange(&m->state, expected, next);
    if (state != expected) continue;
    if (next == WEFT_MUTEX_UNLOCKED) weft__notify(&m->state, 1);
    return;
  }
}

/*
 * Locks the mutex after `state` was seen, which may be old. With `in_line`, a
 * sleeper that waited for a millisecond keeps the sleepers after it being
 * served in line. A newcomer takes a mutex that is kept for a sleeper only
 * after 100 ms: if 64 agents share two cores, a woken agent may need that long
 * to run.
 */
static inline WEFT__SHARED int weft__mutex_lock_slow(weft_mutex *m, int32_t id,
                                        int32_t state, int64_t timeout,
                                        bool in_line) {
  int64_t patience = in_line ? WEFT__MUTEX_LINE_PATIENCE : WEFT__MUTEX_PATIENCE;
  int64_t deadline = weft__deadline(timeout);
  bool woken = false; /* by a notify, so that a hand-off may be meant for us */
  bool starved = false;
  int32_t contended = 0; /* CONTENDED once we slept: others may sleep, too */
  int64_t since = 0;
  for (;;) {
    int32_t expected = state;
    if ((state & WEFT_MUTEX_OWNER_MASK) == 0 &&
        ((state & WEFT_MUTEX_HANDOFF_BIT) == 0 || woken || starved)) {
      /* (C) A woken sleeper cannot know whether others sleep, so it keeps
         CONTENDED; its unlock wakes the next. */
      int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT) | contended;
      state = weft__compare_exchange(&m->state, expected, taken);
      if (state != expected) continue;
      if (in_line && contended != 0 &&
          (starved || WEFT_NOW() - since > WEFT__MUTEX_PATIENCE))
        weft__store(&m->starving, 1);
      else if (state & WEFT_MUTEX_HANDOFF_BIT && !starved)
        weft__store(&m->starving, 0);
      return state & WEFT_MUTEX_ABANDONED_BIT ? EOWNERDEAD : 0;
    }
    if ((state & WEFT_MUTEX_CONTENDED_BIT) == 0) {
      state |= WEFT_MUTEX_CONTENDED_BIT;
      int32_t seen = weft__compare_exchange(&m->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (contended == 0) {
      contended = WEFT_MUTEX_CONTENDED_BIT;
      since = WEFT_NOW();
    } else if (!starved && WEFT_NOW() - since > WEFT__MUTEX_PATIENCE) {
      starved = true;
      weft__store(&m->starving, 1);
    }
    bool handoff = (state & WEFT_MUTEX_HANDOFF_BIT) != 0;
    /* The mutex is kept for a sleeper that may have been terminated, so we take
       it after a while. */
    int outcome = weft__sleep(&m->state, state, deadline,
                              handoff ? patience : WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) {
      weft__mutex_decline(m); /* it may be meant for us, but we leave */
      return ETIMEDOUT;
    }
    int32_t before = state;
    state = weft__load(&m->state);
    /* Whoever was woken for an offer may take it once it is kept. */
    woken = outcome == WEFT__OK ||
            (handoff &&
             (state == before || (woken && before != WEFT__MUTEX_KEPT)));
  }
}

/*
 * Locks the mutex, and blocks up to `timeout` ns for that. Returns 0; or
 * EOWNERDEAD: it is locked, but its last owner was abandoned. Else it is not
 * locked: ETIMEDOUT, EDEADLK if this agent holds it, or EPERM if it may not
 * block.
 */
static inline WEFT__CHECKED int weft_mutex_lock(weft_mutex *m,
                                                int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, id);
  if (state == WEFT_MUTEX_UNLOCKED) return 0;
  if ((state & WEFT_MUTEX_OWNER_MASK) == id) return EDEADLK;
  if (WEFT_SPIN_ROUNDS != 0 && weft__mutex_spin(m, id, timeout)) return 0;
  return weft__mutex_lock_slow(m, id, state, timeout, false);
}

static inline WEFT__SHARED int weft__mutex_unlock_slow(
    weft_mutex *m, int32_t id, int32_t state) {
  if ((state & WEFT_MUTEX_OWNER_MASK) != id) return EPERM;
  /* CONTENDED is set, and nobody but the owner changes the word now. */
  if (weft__load(&m->starving) == 0) { /* before it is given: see (G) */
    weft__store(&m->state, WEFT_MUTEX_UNLOCKED);
    weft__notify(&m->state, 1);
    return 0;
  }
  /* Offer it to a sleeper, and only then keep it for that one: whether there is
     one cannot be looked at later, see (G). */
  int32_t offered = state | WEFT_MUTEX_HANDOFF_BIT;
  weft__store(&m->state, offered);
  int32_t next = WEFT__MUTEX_KEPT;
  if (weft__notify(&m->state, 1) == 0) {
    /* Nobody slept: the starving sleeper gave up, or was terminated. */
    weft__store(&m->starving, 0);
    next = WEFT_MUTEX_UNLOCKED;
  }
  /* (G) Whoever takes the mutex may free the memory at once: from here on, only
     the address is used. A sleeper that leaves takes the offer back. */
  if (weft__compare_exchange(&m->state, offered, next) != offered)
    weft__store(&m->state, WEFT_MUTEX_UNLOCKED);
  weft__notify(&m->state, 1);
  return 0;
}

/* Unlocks the mutex and wakes a sleeper, if there is one; EPERM if this agent
   does not hold it. */
static inline int weft_mutex_unlock(weft_mutex *m) {
  int32_t id = weft_agent_id();
  int32_t state = weft__compare_exchange(&m->state, id, WEFT_MUTEX_UNLOCKED);
  return state == id ? 0 : weft__mutex_unlock_slow(m, id, state);
}

/*
 * Frees the mutex if agent `id` holds it. Call it only when that agent will
 * never run again. The next lock gives EOWNERDEAD. Returns how many locks it
 * freed: 1, or 0 if `id` did not hold the mutex.
 */
static inline int32_t weft_mutex_abandon(weft_mutex *m, int32_t id) {
  int32_t state = weft__load(&m->state);
  while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) {
    int32_t expected = state;
    state =
        weft__compare_exchange(&m->state, expected, WEFT_MUTEX_ABANDONED_BIT);
    if (state != expected) continue;
    if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);
    return 1;
  }
  return 0;
}

/* Gives a mutex that agent `id` holds to `heir`. Call it only when `id` will
   never run again. Returns false if `id` did not hold it. */
static inline bool weft__mutex_inherit(weft_mutex *m, int32_t id,
                                       int32_t heir) {
  int32_t state = weft__load(&m->state);
  while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) {
    int32_t expected = state;
    int32_t next = (state & ~WEFT_MUTEX_OWNER_MASK) | heir;
    state = weft__compare_exchange(&m->state, expected, next);
    if (state == expected) return true;
  }
  return false;
}

WEFT__END

#endif

#endif /* WEFT_MUTEX_H */
