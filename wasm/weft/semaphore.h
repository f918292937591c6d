/* semaphore.h - the twin of primitives/semaphore.ts. */
#ifndef WEFT_SEMAPHORE_H
#define WEFT_SEMAPHORE_H

#include "_region.h"
#include "_spin.h"
#include "_tracked.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_SEMAPHORE_MAX 0x3fffffff
/* The same for a tracked semaphore, and the most agents that it tracks. */
#define WEFT_SEMAPHORE_MAX_TRACKED_PERMITS WEFT__TRACKED_MAX
#define WEFT_SEMAPHORE_MAX_TRACKED WEFT__TRACKED_MAX_ROWS

/* How often newcomers may overtake a waiter before it claims its permits. */
#ifndef WEFT_SEMAPHORE_PATIENCE
#define WEFT_SEMAPHORE_PATIENCE 8
#endif

/* Begin of what `deno task layout` makes from primitives/_layout.ts. */
/* clang-format off */
/*
 * A semaphore.
 *
 * word 0  magic     Kind and layout version.
 * word 1  tracked   How many agents note what they hold, up to 255; 0 if none
 *                   does.
 * word 2  seal      Check word over the configuration.
 * word 3  permits   Free permits, up to 2^30 - 1. Below 0: what the claimant
 *                   still lacks. If agents are tracked:
 *                   bits 0-11   the sequence of the last change, modulo 4096
 *                   bits 12-19  the row of the agent that made it
 *                   bits 20-31  the permits
 *                   sleepers: agents that want one permit
 * word 4  waiters   Operations in the slow path of `acquire`.
 * word 5  turn      Changes when agents that want several permits must look
 *                   again.
 *                   sleepers: agents that want several permits
 * word 6  bulk      Operations that sleep on `turn`, or are about to.
 * word 7  claimant  The agent that took its permits in advance, or 0.
 * word 8  claim     How many permits it took.
 * word 9  From word 40 on, if agents are tracked, rows of 32 words. A row has
 *         the id of its agent, or 0; the sequence of the last confirmed change
 *         of that agent; what it holds after its changes with an even sequence;
 *         and the same for an odd one.
 */
typedef struct {
  int32_t magic;
  int32_t tracked;
  int32_t seal;
  int32_t permits;
  int32_t waiters;
  int32_t turn;
  int32_t bulk;
  int32_t claimant;
  int32_t claim;
} weft_semaphore;
WEFT_WORD(semaphore, magic, 0);
WEFT_WORD(semaphore, tracked, 1);
WEFT_WORD(semaphore, seal, 2);
WEFT_WORD(semaphore, permits, 3);
WEFT_WORD(semaphore, waiters, 4);
WEFT_WORD(semaphore, turn, 5);
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
  if (tracked < 1 || tracked > WEFT_SEMAPHORE_MAX_TRACKED) return 0;
  return sizeof(int32_t) * WEFT__SEMAPHORE_ROWS +
         (size_t)tracked * sizeof(weft__tracked_row);
}

/* The semaphore at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_semaphore) != NULL) return NULL;
  return (weft_semaphore *)at;
}

/* Initializes `bytes` bytes of unused memory as a semaphore with `permits` free
   permits, 0 to 2^30 - 1. NULL if that number is out of range, the bytes are
   too few, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init(
    void *at, size_t bytes, int32_t permits) {
  weft_semaphore *s = (weft_semaphore *)at;
  if (!weft__fits(at, bytes, sizeof *s)) return NULL;
  if (permits < 0 || permits > WEFT_SEMAPHORE_MAX) return NULL;
  weft__zero(at, sizeof *s);
  s->seal = weft__seal(WEFT_KIND_semaphore, 0, 0);
  s->permits = permits;
  weft__store(&s->magic, weft__magic(WEFT_KIND_semaphore));
  return s;
}

/* The same for a semaphore in which `tracked` agents, 1 to 255, note what they
   hold. It has up to 2047 permits, and an agent releases only what it holds. */
static inline WEFT__RESULT weft_semaphore *weft_semaphore_init_tracked(
    void *at, size_t bytes, int32_t permits, int32_t tracked) {
  weft_semaphore *s = (weft_semaphore *)at;
  size_t needed = weft_semaphore_tracked_bytes(tracked);
  if (!weft__fits(at, bytes, needed)) return NULL;
  if (permits < 0 || permits > WEFT_SEMAPHORE_MAX_TRACKED_PERMITS) return NULL;
  weft__zero(at, needed);
  s->tracked = tracked;
  s->seal = weft__seal(WEFT_KIND_semaphore, tracked, 0);
  s->permits = permits << WEFT__TRACKED_SHIFT;
  weft__store(&s->magic, weft__magic(WEFT_KIND_semaphore));
  return s;
}

/* How many agents note what they hold, or 0. */
static inline int32_t weft_semaphore_tracked(const weft_semaphore *s) {
  return s->tracked;
}

/* The most permits there can be. */
static inline int32_t weft__semaphore_most(const weft_semaphore *s) {
  return s->tracked == 0 ? WEFT_SEMAPHORE_MAX
                         : WEFT_SEMAPHORE_MAX_TRACKED_PERMITS;
}

/* The permits of a tracked semaphore, and its rows. */
static inline weft__tracked weft__semaphore_rows(weft_semaphore *s) {
  int32_t *words = (int32_t *)(void *)s;
  /* The compiler may know that `s` is a weft_semaphore without rows, and warn
     of them: it cannot know that such a one is not tracked. */
  __asm__("" : "+r"(words));
  weft__tracked t = {
      &s->permits, (weft__tracked_row *)(void *)(words + WEFT__SEMAPHORE_ROWS),
      s->tracked};
  return t;
}

/* The permits when their word has this value. */
static inline int32_t weft__semaphore_count(const weft_semaphore *s,
                                            int32_t word) {
  return s->tracked == 0 ? word : weft__tracked_count(word);
}

/* Free permits, 0 or more. */
static inline int32_t weft_semaphore_available(const weft_semaphore *s) {
  int32_t permits = weft__semaphore_count(s, weft__load(&s->permits));
  return permits > 0 ? permits : 0;
}

/* Permits that this agent holds; 0 if the semaphore is not tracked. */
static inline int32_t weft_semaphore_held(weft_semaphore *s) {
  if (s->tracked == 0) return 0;
  weft__tracked t = weft__semaphore_rows(s);
  const weft__tracked_row *row = weft__tracked_find(&t, weft_agent_id());
  return row == NULL ? 0 : weft__tracked_held(row);
}

static inline bool weft__semaphore_take(weft_semaphore *s, int32_t n) {
  int32_t permits = weft__hint(&s->permits); /* if too few, look again */
  if (permits < n) permits = weft__load(&s->permits);
  while (permits >= n) {
    int32_t expected = permits;
    permits = weft__compare_exchange(&s->permits, expected, expected - n);
    if (permits == expected) return true;
  }
  return false;
}

/* Takes n permits if so many are free: 0 or EBUSY; if tracked, also EINVAL or
   ENOTRECOVERABLE. */
static inline int weft__semaphore_try(weft_semaphore *s, int32_t n) {
  if (s->tracked == 0) return weft__semaphore_take(s, n) ? 0 : EBUSY;
  weft__tracked t = weft__semaphore_rows(s);
  return weft__tracked_take(&t, n);
}

static inline void weft__semaphore_wake_bulk(weft_semaphore *s) {
  if (weft__load(&s->bulk) == 0) return;
  weft__add(&s->turn, 1);
  weft__notify(&s->turn, WEFT__ALL);
}

/* Wakes the sleepers that `n` more permits serve, now that there are
   `permits`. */
static inline void weft__semaphore_wake(weft_semaphore *s, int32_t n,
                                        int32_t permits) {
  if (permits > 0) weft__notify(&s->permits, n < permits ? n : permits);
  weft__semaphore_wake_bulk(s);
}

/* Returns permits that a claim had taken; the total cannot become too large. */
static inline int weft__semaphore_give_back(weft_semaphore *s, int32_t n) {
  int32_t permits = 0;
  if (s->tracked == 0) {
    permits = weft__plus(weft__add(&s->permits, n), n);
  } else {
    weft__tracked t = weft__semaphore_rows(s);
    int result = weft__tracked_give(&t, n, &permits);
    if (result != 0) return result;
  }
  weft__semaphore_wake(s, n, permits);
  return 0;
}

/* Lets the next one claim. */
static inline void weft__semaphore_end_claim(weft_semaphore *s) {
  weft__store(&s->claimant, 0);
  weft__semaphore_wake_bulk(s);
}

/* Takes n permits if so many are free, without waiting; else EBUSY. EINVAL if n
   is out of range, or the semaphore tracks other agents than this one. */
static inline WEFT__CHECKED int weft_semaphore_try_acquire(weft_semaphore *s,
                                                           int32_t n) {
  if (n < 1 || n > weft__semaphore_most(s)) return EINVAL;
  return weft__semaphore_try(s, n);
}

#ifndef WEFT_REALTIME /* what may wait */
/* Takes the permits in advance, and waits until releases have paid for them. */
static inline int weft__semaphore_claim(weft_semaphore *s, int32_t n,
                                        int64_t deadline) {
  int result = 0;
  weft__add(&s->bulk, 1);
  if (s->tracked == 0) {
    weft__add(&s->permits, -n);
  } else {
    weft__tracked t = weft__semaphore_rows(s);
    result = weft__tracked_owe(&t, n);
  }
  /* In this order, an agent that is terminated between the two steps loses its
     permits, unless it is tracked. In the other order, abandon could give back
     permits that were never taken. */
  if (result == 0) weft__store(&s->claim, n);
  while (result == 0) {
    int32_t turn = weft__load(&s->turn);
    if (weft__load(&s->permits) >= 0) break;
    int outcome = weft__sleep(&s->turn, turn, deadline, WEFT__LOOK);
    if (outcome != WEFT__TIMED_OUT) continue;
    if (weft__load(&s->permits) < 0) result = ETIMEDOUT;
    break;
  }
  weft__store(&s->claim, 0);
  if (result == ETIMEDOUT) {
    int given = weft__semaphore_give_back(s, n);
    if (given != 0) result = given;
  }
  weft__semaphore_end_claim(s);
  weft__add(&s->bulk, -1);
  return result;
}

static inline int weft__semaphore_wait(weft_semaphore *s, int32_t n,
                                       int32_t patience, int64_t deadline) {
  for (int32_t passed = 0;;) {
    int32_t turn = weft__load(&s->turn); /* before it reads `permits` */
    int result = weft__semaphore_try(s, n);
    if (result != EBUSY) return result;
    if (passed >= patience &&
        weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)
      return weft__semaphore_claim(s, n, deadline);
    int32_t permits = weft__load(&s->permits);
    if (weft__semaphore_count(s, permits) >= n) continue;
    int outcome =
        n > 1 ? weft__sleep(&s->turn, turn, deadline, WEFT__LOOK)
              : weft__sleep(&s->permits, permits, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT) {
      result = weft__semaphore_try(s, n);
      return result == EBUSY ? ETIMEDOUT : result;
    }
    /* Turns of a claimant do not count, nor do looks without a release. */
    bool released = n > 1 ? weft__load(&s->turn) != turn : outcome == WEFT__OK;
    if (released && weft__load(&s->claimant) == 0) passed++;
  }
}

static inline int weft__semaphore_acquire_slow(weft_semaphore *s, int32_t n,
                                               int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  /* (W) Announce, then look again. Agents that wait already come first: their
     turns do not count as overtaking us. */
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
  if (n < 1 || n > weft__semaphore_most(s)) return EINVAL;
  int result = weft__semaphore_try(s, n);
  if (result != EBUSY) return result;
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(&spin, (result = weft__semaphore_try(s, n)) != EBUSY))
      return result;
  }
  return weft__semaphore_acquire_slow(s, n, timeout);
}
#endif

/* Returns permits to a tracked semaphore: EPERM if this agent holds fewer. */
static inline int weft__semaphore_release_tracked(weft_semaphore *s,
                                                  int32_t n) {
  weft__tracked t = weft__semaphore_rows(s);
  int32_t permits = 0;
  int result = weft__tracked_give(&t, n, &permits);
  if (result != 0) return result;
  /* Pairs with (W), as below. */
  if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits);
  return 0;
}

/* Returns n permits and wakes the sleepers that they serve. EINVAL if there
   would be more than 2^30 - 1; EPERM if the semaphore is tracked, and this
   agent holds fewer. */
static inline int weft_semaphore_release(weft_semaphore *s, int32_t n) {
  if (n < 1 || n > weft__semaphore_most(s)) return EINVAL;
  if (s->tracked != 0) return weft__semaphore_release_tracked(s, n);
  int32_t permits = weft__hint(&s->permits); /* the exchange checks it */
  if (permits > WEFT_SEMAPHORE_MAX - n) permits = weft__load(&s->permits);
  for (;;) {
    if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;
    int32_t seen = weft__compare_exchange(&s->permits, permits, permits + n);
    if (seen == permits) break;
    permits = seen;
  }
  /* Pairs with (W): we see the waiter, or the waiter sees our permits. */
  if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n);
  return 0;
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
    weft__semaphore_end_claim(s);
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
  if (n > 0) (void)weft__semaphore_give_back(s, n);
  weft__semaphore_end_claim(s);
  return n;
}

WEFT__END

#endif /* WEFT_SEMAPHORE_H */
