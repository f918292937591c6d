/* semaphore.h - the twin of primitives/_lock/semaphore.ts. */
#ifndef WEFT_SEMAPHORE_H
#define WEFT_SEMAPHORE_H

#include "_region.h"
#include "_spin.h"
#include "_tracked.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_SEMAPHORE_MAX 0x3fffffff
/* Who may sleep on the permits; there can be a debt only with the last. */
#define WEFT_SEMAPHORE_WHO_MASK 3 /* SEMAPHORE_BITS.WHO */
#define WEFT_SEMAPHORE_NOBODY 0
#define WEFT_SEMAPHORE_SINGLES 1
#define WEFT_SEMAPHORE_SEVERALS 2
#define WEFT_SEMAPHORE_DEBT 3
/* How far the permits are shifted beside it. */
#define WEFT__SEMAPHORE_SHIFT 2 /* SEMAPHORE_BITS.FREE */
/* The most of a tracked semaphore, and the most agents that it tracks. */
#define WEFT_SEMAPHORE_MAX_TRACKED_PERMITS WEFT__TRACKED_MAX
#define WEFT_SEMAPHORE_MAX_TRACKED WEFT__TRACKED_MAX_ROWS

/* How often newcomers may overtake a waiter before it claims its permits. */
#ifndef WEFT_SEMAPHORE_PATIENCE
#define WEFT_SEMAPHORE_PATIENCE 8
#endif

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A semaphore.
 *
 * word 0  magic     Kind and layout version.
 * word 1  tracked   How many agents note what they hold, up to 255; 0 if none
 *                   does.
 * word 2  max       The most permits there can be, up to 2^30 - 1; if agents
 *                   are tracked, 2047.
 * word 3  seal      Check word over the configuration.
 * word 4  permits   bits 0-1    who may sleep here: 0 nobody; 1 agents that
 *                               want one permit; 2 also agents that want
 *                               several; 3 as 2, and there is a debt
 *                   bits 2-31   free permits; with a debt, what the claimant
 *                               still lacks. If agents are tracked:
 *                   bits 0-11   the sequence of the last change, modulo 4096
 *                   bits 12-19  the row of the agent that made it
 *                   bits 20-31  free permits; below 0, what the claimant still
 *                               lacks
 *                   sleepers: agents that want permits
 * word 5  waiters   Operations in the slow path of `acquire`.
 * word 6  bulk      Those of them that want several permits, and the claimant.
 * word 7  claimant  The agent that took its permits in advance, or 0.
 * word 8  claim     How many permits it took.
 * word 9  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; the sequence of the last confirmed change
 *         of that agent; what it holds after its changes with an even sequence;
 *         and the same for an odd one.
 *
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * released may still be in release, unless agents are tracked.
 */
typedef struct {
  int32_t magic;
  int32_t tracked;
  int32_t max;
  int32_t seal;
  int32_t permits;
  int32_t waiters;
  int32_t bulk;
  int32_t claimant;
  int32_t claim;
} weft_semaphore;
WEFT_WORD(semaphore, magic, 0);
WEFT_WORD(semaphore, tracked, 1);
WEFT_WORD(semaphore, max, 2);
WEFT_WORD(semaphore, seal, 3);
WEFT_WORD(semaphore, permits, 4);
WEFT_WORD(semaphore, waiters, 5);
WEFT_WORD(semaphore, bulk, 6);
WEFT_WORD(semaphore, claimant, 7);
WEFT_WORD(semaphore, claim, 8);
WEFT_LENGTH(semaphore, 9);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a semaphore, as a constant and as a function. */
#define WEFT_SEMAPHORE_BYTES sizeof(weft_semaphore)
static inline size_t weft_semaphore_bytes(void) {
  return sizeof(weft_semaphore);
}

/* The first of its rows. */
#define WEFT__SEMAPHORE_ROWS 40

/* The bytes of a semaphore that tracks 1 to 255 agents, as a constant
   expression; 0 if out of range. */
#define WEFT_SEMAPHORE_TRACKED_BYTES(tracked)              \
  ((tracked) < 1 || (tracked) > WEFT_SEMAPHORE_MAX_TRACKED \
       ? 0                                                 \
       : sizeof(int32_t) * WEFT__SEMAPHORE_ROWS +          \
             sizeof(weft__tracked_row) * (tracked))

/* The same as a function. */
static inline size_t weft_semaphore_tracked_bytes(int32_t tracked) {
  return WEFT_SEMAPHORE_TRACKED_BYTES((uint32_t)tracked);
}

/* The semaphore at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_semaphore) != NULL) return NULL;
  return (weft_semaphore *)at;
}

/* Initializes memory for `tracked` agents, 0 if none, and at most `max`
   permits. */
static inline weft_semaphore *weft__semaphore_init(void *at, size_t bytes,
                                                   int32_t permits,
                                                   int32_t tracked,
                                                   int32_t max) {
  weft_semaphore *s = (weft_semaphore *)at;
  size_t needed =
      tracked == 0 ? sizeof *s : weft_semaphore_tracked_bytes(tracked);
  int32_t shift = tracked == 0 ? WEFT__SEMAPHORE_SHIFT : WEFT__TRACKED_SHIFT;
  if (!weft__fits(at, bytes, needed)) return NULL;
  if (!weft__possible(WEFT_KIND_semaphore, tracked, max)) return NULL;
  if (permits < 0 || permits > max) return NULL;
  weft__zero(at, needed);
  s->tracked = tracked;
  s->max = max;
  s->seal = weft__seal(WEFT_KIND_semaphore, tracked, max);
  s->permits = (int32_t)((uint32_t)permits << shift);
  weft__store(&s->magic, weft__magic(WEFT_KIND_semaphore));
  return s;
}

/* Initializes `bytes` bytes of unused memory as a semaphore with `permits` free
   permits, 0 to 2^30 - 1. NULL if that number is out of range, the bytes are
   too few, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init(
    void *at, size_t bytes, int32_t permits) {
  return weft__semaphore_init(at, bytes, permits, 0, WEFT_SEMAPHORE_MAX);
}

/* The same for a semaphore that never has more than `max` permits, 1 to
   2^30 - 1. An agent that wants more gets EINVAL; one that releases beyond it,
   EOVERFLOW. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init_max(
    void *at, size_t bytes, int32_t permits, int32_t max) {
  return weft__semaphore_init(at, bytes, permits, 0, max);
}

/* The same for a semaphore in which `tracked` agents, 1 to 255, note what they
   hold. It has up to 2047 permits, and an agent releases only what it holds. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init_tracked(
    void *at, size_t bytes, int32_t permits, int32_t tracked) {
  if (tracked < 1) return NULL;
  return weft__semaphore_init(at, bytes, permits, tracked,
                              WEFT_SEMAPHORE_MAX_TRACKED_PERMITS);
}

/* The same with at most `max` permits, 1 to 2047. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init_tracked_max(
    void *at, size_t bytes, int32_t permits, int32_t tracked, int32_t max) {
  if (tracked < 1) return NULL;
  return weft__semaphore_init(at, bytes, permits, tracked, max);
}

/* How many agents note what they hold, or 0. */
static inline int32_t weft_semaphore_tracked(const weft_semaphore *s) {
  return s->tracked;
}

/* The most permits there can be. */
static inline int32_t weft_semaphore_max(const weft_semaphore *s) {
  return s->max;
}

/* The permits of a tracked semaphore, and its rows. */
static inline weft__tracked weft__semaphore_rows(weft_semaphore *s) {
  int32_t *words = weft__words_with_rows(s);
  weft__tracked t = {
      &s->permits, (weft__tracked_row *)(void *)(words + WEFT__SEMAPHORE_ROWS),
      s->tracked};
  return t;
}

/* How many permits are free in a state; below 0, what a claimant lacks. */
static inline int32_t weft__semaphore_free(int32_t state) {
  int32_t n = (int32_t)((uint32_t)state >> WEFT__SEMAPHORE_SHIFT);
  return (state & WEFT_SEMAPHORE_WHO_MASK) == WEFT_SEMAPHORE_DEBT ? -n : n;
}

/* The state in which that many are free, and those agents may sleep. */
static inline int32_t weft__semaphore_state(int32_t free, int32_t who) {
  uint32_t n = (uint32_t)(free < 0 ? -free : free) << WEFT__SEMAPHORE_SHIFT;
  return (int32_t)(n | (uint32_t)(free < 0 ? WEFT_SEMAPHORE_DEBT : who));
}

/* As weft__semaphore_free, also if agents are tracked. */
static inline int32_t weft__semaphore_count(const weft_semaphore *s,
                                            int32_t state) {
  return s->tracked == 0 ? weft__semaphore_free(state)
                         : weft__tracked_count(state);
}

/* Free permits, 0 or more. */
static inline int32_t weft_semaphore_available(const weft_semaphore *s) {
  int32_t permits = weft__semaphore_count(s, weft__load(&s->permits));
  return permits > 0 ? permits : 0;
}

/* Operations of all agents that wait. An agent that was terminated while it
   waited stays counted. */
static inline int32_t weft_semaphore_waiters(const weft_semaphore *s) {
  return weft__load(&s->waiters);
}

/* Permits that this agent holds; 0 if the semaphore is not tracked. */
static inline int32_t weft_semaphore_held(weft_semaphore *s) {
  if (s->tracked == 0) return 0;
  weft__tracked t = weft__semaphore_rows(s);
  const weft__tracked_row *row = weft__tracked_find(&t, weft_agent_id());
  return row == NULL ? 0 : weft__tracked_held(row);
}

/* What `n` permits are in the state. */
static inline int32_t weft__semaphore_units(int32_t n) {
  return (int32_t)((uint32_t)n << WEFT__SEMAPHORE_SHIFT);
}

/* The state after `n` permits were taken. The same may sleep. */
static inline int32_t weft__semaphore_less(int32_t state, int32_t n) {
  return weft__minus(state, weft__semaphore_units(n));
}

/* As weft__semaphore_take, after `state` was seen. */
WEFT__ASIDE static inline bool weft__semaphore_take_slow(weft_semaphore *s,
                                                         int32_t n,
                                                         int32_t state) {
  while (weft__semaphore_free(state) >= n) {
    int32_t expected = state;
    state = weft__compare_exchange(&s->permits, expected,
                                   weft__semaphore_less(expected, n));
    if (state == expected) return true;
  }
  return false;
}

/* Takes n permits if n are free. */
static inline bool weft__semaphore_take(weft_semaphore *s, int32_t n) {
  int32_t state = weft__hint(&s->permits); /* if too few, look again */
  if (weft__semaphore_free(state) < n) state = weft__load(&s->permits);
#ifdef WEFT__PEELS
  else {
    int32_t seen = weft__compare_exchange(&s->permits, state,
                                          weft__semaphore_less(state, n));
    if (seen == state) return true;
    state = seen;
  }
#endif
  return weft__semaphore_take_slow(s, n, state);
}

/* As weft__semaphore_take, if agents are tracked. */
WEFT__ASIDE static inline int weft__semaphore_take_tracked(weft_semaphore *s,
                                                           int32_t n) {
  weft__tracked t = weft__semaphore_rows(s);
  return weft__tracked_take(&t, n);
}

/* Takes n permits if n are free: 0 or EBUSY; if tracked, also EINVAL or
   ENOTRECOVERABLE. */
static inline int weft__semaphore_try(weft_semaphore *s, int32_t n) {
  if (s->tracked != 0) return weft__semaphore_take_tracked(s, n);
  return weft__semaphore_take(s, n) ? 0 : EBUSY;
}

/* Wakes waiters for `n` more permits of a tracked semaphore, now that `free`
   are free. A sleeper counted itself before its look at the permits: we see it,
   or it sees the permits. */
static inline void weft__semaphore_wake(weft_semaphore *s, int32_t n,
                                        int32_t free) {
  if (free < 0 || weft__load(&s->waiters) == 0) return;
  weft__notify(&s->permits, weft__load(&s->bulk) > 0 ? WEFT__ALL : n);
}

/* How many sleepers to wake for `n` more permits, when `free` are free. A
   waiter for several permits may have to leave them to others, so while one may
   sleep, all are woken. The count of waiters may be old: one that came since
   then found the state from before, and sees that it changes. */
static inline int32_t weft__semaphore_woken(const weft_semaphore *s, int32_t n,
                                            int32_t free, int32_t who) {
  if (free < 0) return 0; /* still a debt */
  bool some = who == WEFT_SEMAPHORE_SINGLES && weft__load(&s->waiters) > 1;
  return some ? n : WEFT__ALL;
}

/* As weft__semaphore_give, after `state` was seen. */
WEFT__ASIDE static inline int weft__semaphore_give_slow(weft_semaphore *s,
                                                        int32_t n,
                                                        int32_t state) {
  int32_t max = weft_semaphore_max(s);
  for (;;) {
    int32_t expected = state;
    int32_t free = weft__semaphore_free(state);
    /* A debt leaves room for more than can ever be released. */
    if (n > max || free > weft__minus(max, n)) {
      state = weft__load(&s->permits);
      if (state != expected) continue;
      return EOVERFLOW;
    }
    free += n;
    int32_t who = state & WEFT_SEMAPHORE_WHO_MASK;
    int32_t count = who == WEFT_SEMAPHORE_NOBODY
                        ? 0
                        : weft__semaphore_woken(s, n, free, who);
    /* Whoever is woken and must sleep again says so again. If only some are,
       the others sleep on. */
    int32_t next = weft__semaphore_state(
        free, count == WEFT__ALL ? WEFT_SEMAPHORE_NOBODY : who);
    state = weft__compare_exchange(&s->permits, expected, next);
    if (state != expected) continue;
    if (count > 0) weft__notify(&s->permits, count);
    return 0;
  }
}

/* Whether nobody sleeps, so that there is no debt, either, and there would be
   no more than `max` permits with `n` more. */
static inline bool weft__semaphore_calm(const weft_semaphore *s, int32_t n,
                                        int32_t state) {
  return (state & WEFT_SEMAPHORE_WHO_MASK) == WEFT_SEMAPHORE_NOBODY &&
         weft__semaphore_free(state) <= weft__minus(weft_semaphore_max(s), n);
}

/*
 * Gives `n` permits, and wakes the sleepers that they serve. EOVERFLOW if there
 * would be more than `max`.
 *
 * (G) The agent that gets them may free the memory at once. So this function
 * reads all that it must know before the exchange, and uses only the address
 * after it. The wake may reach a stranger that sleeps there by then: every wait
 * is a loop.
 */
static inline int weft__semaphore_give(weft_semaphore *s, int32_t n) {
  int32_t state = weft__hint(&s->permits); /* the exchange checks it */
#ifdef WEFT__PEELS
  if (weft__semaphore_calm(s, n, state)) {
    int32_t more = weft__plus(state, weft__semaphore_units(n));
    int32_t seen = weft__compare_exchange(&s->permits, state, more);
    if (seen == state) return 0;
    state = seen;
  }
#endif
  return weft__semaphore_give_slow(s, n, state);
}

/* As weft__semaphore_give, if agents are tracked: EPERM if this agent holds
   fewer. */
WEFT__ASIDE static inline int weft__semaphore_give_tracked(weft_semaphore *s,
                                                           int32_t n) {
  weft__tracked t = weft__semaphore_rows(s);
  int32_t free = 0;
  int result = weft__tracked_give(&t, n, &free);
  if (result == 0) weft__semaphore_wake(s, n, free);
  return result;
}

/* Takes n permits if n are free, without waiting; else EBUSY. EINVAL if n
   is out of range, or the semaphore tracks other agents than this one. */
static inline WEFT__CHECKED int weft_semaphore_try_acquire(weft_semaphore *s,
                                                           int32_t n) {
  if (n < 1 || n > weft_semaphore_max(s)) return EINVAL;
  return weft__semaphore_try(s, n);
}

/* Takes all permits that are free, in one step. Returns how many those were, 0
   if there were none; not those that a claimant waits for. If tracked, also
   -EINVAL or -ENOTRECOVERABLE, as weft_semaphore_try_acquire. */
static inline int32_t weft_semaphore_drain(weft_semaphore *s) {
  if (s->tracked != 0) {
    weft__tracked t = weft__semaphore_rows(s);
    return weft__tracked_drain(&t);
  }
  int32_t state = weft__load(&s->permits), free;
  while ((free = weft__semaphore_free(state)) > 0) { /* not of a debt */
    int32_t expected = state;
    int32_t none = expected & WEFT_SEMAPHORE_WHO_MASK; /* the same may sleep */
    state = weft__compare_exchange(&s->permits, expected, none);
    if (state == expected) return free;
  }
  return 0;
}

#ifndef WEFT_REALTIME /* what may wait */
/* (W) Announces that an agent which wants `n` permits sleeps, and looks again:
   true, and the word to sleep on is in *state; false if that many are free. */
static inline bool weft__semaphore_announce(weft_semaphore *s, int32_t n,
                                            int32_t *state) {
  *state = weft__load(&s->permits);
  while (weft__semaphore_count(s, *state) < n) {
    if (s->tracked != 0) return true; /* releases look at the counts */
    /* In JavaScript, others of the same agent that want several may stand in
       line behind this one. */
    int32_t who = weft__load(&s->bulk) > 0 ? WEFT_SEMAPHORE_SEVERALS
                                           : WEFT_SEMAPHORE_SINGLES;
    if ((*state & WEFT_SEMAPHORE_WHO_MASK) >= who) return true;
    int32_t expected = *state;
    int32_t next = (expected & ~WEFT_SEMAPHORE_WHO_MASK) | who;
    *state = weft__compare_exchange(&s->permits, expected, next);
    if (*state != expected) continue;
    *state = next;
    return true;
  }
  return false;
}

/* Takes `n` permits, as a debt if fewer are free. */
static inline void weft__semaphore_owe(weft_semaphore *s, int32_t n) {
  int32_t state = weft__load(&s->permits);
  for (;;) {
    int32_t expected = state;
    int32_t next =
        weft__semaphore_state(weft__minus(weft__semaphore_free(state), n),
                              state & WEFT_SEMAPHORE_WHO_MASK);
    state = weft__compare_exchange(&s->permits, expected, next);
    if (state == expected) return;
  }
}

/* Takes the permits in advance, and waits until releases have paid for them. */
static inline int weft__semaphore_claim(weft_semaphore *s, int32_t n,
                                        int64_t deadline) {
  int result = 0;
  weft__add(&s->bulk, 1);
  if (s->tracked == 0) {
    weft__semaphore_owe(s, n);
  } else {
    weft__tracked t = weft__semaphore_rows(s);
    result = weft__tracked_owe(&t, n);
  }
  /* In this order, an agent that is terminated between the two steps loses its
     permits, unless it is tracked. In the other order, abandon could give back
     permits that were never taken. */
  if (result == 0) weft__store(&s->claim, n);
  while (result == 0) {
    int32_t state = weft__load(&s->permits);
    if (weft__semaphore_count(s, state) >= 0) break;
    int outcome = weft__sleep(&s->permits, state, deadline, WEFT__LOOK);
    if (outcome != WEFT__TIMED_OUT) continue;
    if (weft__semaphore_count(s, weft__load(&s->permits)) < 0)
      result = ETIMEDOUT;
    break;
  }
  weft__store(&s->claim, 0);
  if (result == ETIMEDOUT) {
    int given = s->tracked == 0 ? weft__semaphore_give(s, n)
                                : weft__semaphore_give_tracked(s, n);
    if (given != 0) result = given;
  }
  weft__store(&s->claimant, 0); /* lets the next agent claim */
  weft__add(&s->bulk, -1);
  return result;
}

static inline int weft__semaphore_wait(weft_semaphore *s, int32_t n,
                                       int32_t patience, int64_t deadline) {
  for (int32_t passed = 0;;) {
    int result = weft__semaphore_try(s, n);
    if (result != EBUSY) return result;
    if (passed >= patience &&
        weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)
      return weft__semaphore_claim(s, n, deadline);
    int32_t state = 0;
    if (!weft__semaphore_announce(s, n, &state)) continue;
    int outcome = weft__sleep(&s->permits, state, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) {
      result = weft__semaphore_try(s, n);
      return result == EBUSY ? ETIMEDOUT : result;
    }
    /* Turns of a claimant do not count, nor do looks without a release. */
    if (outcome == WEFT__OK && weft__load(&s->claimant) == 0) passed++;
  }
}

/* Spins, and then sleeps, until n permits are free. */
WEFT__ASIDE static inline int weft__semaphore_acquire_slow(weft_semaphore *s,
                                                           int32_t n,
                                                           int64_t timeout) {
  WEFT__SPIN(spin, NULL, timeout) {
    int tried = weft__semaphore_try(s, n);
    if (weft__spin_found(spin, tried != EBUSY)) return tried;
  }
  int64_t deadline = weft__deadline(timeout);
  /* Agents that wait already come first: their turns do not count as
     overtaking us. */
  int32_t patience = WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);
  if (n > 1) weft__add(&s->bulk, 1);
  int result = weft__semaphore_wait(s, n, patience, deadline);
  if (n > 1) weft__add(&s->bulk, -1);
  weft__add(&s->waiters, -1);
  return result;
}

/* Takes n permits. Blocks up to `timeout` ns until they are free; then
   ETIMEDOUT. EINVAL as weft_semaphore_try_acquire. */
static inline WEFT__CHECKED int weft_semaphore_acquire(weft_semaphore *s,
                                                       int32_t n,
                                                       int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (n < 1 || n > weft_semaphore_max(s)) return EINVAL;
  int result = weft__semaphore_try(s, n);
  return result != EBUSY ? result : weft__semaphore_acquire_slow(s, n, timeout);
}
#endif

/* Returns n permits and wakes the sleepers that they serve. EOVERFLOW if there
   would be more than weft_semaphore_max; EINVAL if n is not 1 to 2^30 - 1. Of a
   tracked semaphore, EPERM if this agent holds fewer, EINVAL if none can. */
static inline int weft_semaphore_release(weft_semaphore *s, int32_t n) {
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  if (s->tracked == 0) return weft__semaphore_give(s, n);
  if (n > weft_semaphore_max(s)) return EINVAL;
  return weft__semaphore_give_tracked(s, n);
}

/* Returns what the rows of agent `id` hold: also what it claimed. */
static inline int32_t weft__semaphore_abandon_tracked(weft_semaphore *s,
                                                      int32_t id,
                                                      bool claimed) {
  weft__tracked t = weft__semaphore_rows(s);
  int32_t n = weft__tracked_abandon(&t, id);
  if (n > 0)
    weft__semaphore_wake(s, n, weft__tracked_count(weft__load(&s->permits)));
  if (claimed) {
    weft__store(&s->claim, 0);
    weft__store(&s->claimant, 0);
  }
  return n;
}

/* Returns the permits that agent `id` held, if the semaphore is tracked;
   otherwise only those that it claimed in advance, and what it had acquired
   stays taken. Call it only when that agent will never run again. Returns how
   many permits came back, or -ENOTRECOVERABLE. */
static inline int32_t weft_semaphore_abandon(weft_semaphore *s, int32_t id) {
  if (id == 0) return 0;
  /* (H) One of the agents that abandon `id` inherits its claim: a later
     claimant must not lose its own. */
  int32_t seen = weft__compare_exchange(&s->claimant, id, weft_agent_id());
  if (s->tracked != 0)
    return weft__semaphore_abandon_tracked(s, id, seen == id);
  if (seen != id) return 0;
  int32_t n = weft__exchange(&s->claim, 0);
  if (n > 0) (void)weft__semaphore_give(s, n);
  weft__store(&s->claimant, 0);
  return n;
}

WEFT__END

#endif /* WEFT_SEMAPHORE_H */
