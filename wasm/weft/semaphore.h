/* semaphore.h - the twin of primitives/semaphore.ts. */
#ifndef WEFT_SEMAPHORE_H
#define WEFT_SEMAPHORE_H

#include "_region.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_SEMAPHORE_MAX 0x3fffffff

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
 * word 1  seal      Check word over the configuration.
 * word 2  permits   Free permits, up to 2^30 - 1. Below 0: what the claimant
 *                   still lacks.
 *                   sleepers: agents that want one permit
 * word 3  waiters   Operations in the slow path of `acquire`.
 * word 4  turn      Changes when agents that want several permits must look
 *                   again.
 *                   sleepers: agents that want several permits
 * word 5  bulk      Operations that sleep on `turn`, or are about to.
 * word 6  claimant  The agent that took its permits in advance, or 0.
 * word 7  claim     How many permits it took.
 */
typedef struct {
  int32_t magic;
  int32_t seal;
  int32_t permits;
  int32_t waiters;
  int32_t turn;
  int32_t bulk;
  int32_t claimant;
  int32_t claim;
} weft_semaphore;
WEFT_WORD(semaphore, magic, 0);
WEFT_WORD(semaphore, seal, 1);
WEFT_WORD(semaphore, permits, 2);
WEFT_WORD(semaphore, waiters, 3);
WEFT_WORD(semaphore, turn, 4);
WEFT_WORD(semaphore, bulk, 5);
WEFT_WORD(semaphore, claimant, 6);
WEFT_WORD(semaphore, claim, 7);
WEFT_LENGTH(semaphore, 8);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a semaphore, as a constant and as a function. */
#define WEFT_SEMAPHORE_BYTES sizeof(weft_semaphore)
static inline size_t weft_semaphore_bytes(void) {
  return sizeof(weft_semaphore);
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

/* Free permits, 0 or more. */
static inline int32_t weft_semaphore_available(const weft_semaphore *s) {
  int32_t permits = weft__load(&s->permits);
  return permits > 0 ? permits : 0;
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
static inline void weft__semaphore_give_back(weft_semaphore *s, int32_t n) {
  weft__semaphore_wake(s, n, weft__plus(weft__add(&s->permits, n), n));
}

/* Lets the next one claim. */
static inline void weft__semaphore_end_claim(weft_semaphore *s) {
  weft__store(&s->claimant, 0);
  weft__semaphore_wake_bulk(s);
}

/* Takes n permits if so many are free, without waiting; else EBUSY. */
static inline WEFT__CHECKED int weft_semaphore_try_acquire(weft_semaphore *s,
                                                           int32_t n) {
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  return weft__semaphore_take(s, n) ? 0 : EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Takes the permits in advance, and waits until releases have paid for them. */
static inline int weft__semaphore_claim(weft_semaphore *s, int32_t n,
                                        int64_t deadline) {
  int result = 0;
  weft__add(&s->bulk, 1);
  weft__add(&s->permits, -n);
  /* In this order, an agent that is terminated between the two steps loses its
     permits. In the other order, abandon could give back permits that were
     never taken. */
  weft__store(&s->claim, n);
  for (;;) {
    int32_t turn = weft__load(&s->turn);
    if (weft__load(&s->permits) >= 0) break;
    int outcome = weft__sleep(&s->turn, turn, deadline, WEFT__LOOK);
    if (outcome != WEFT__TIMED_OUT) continue;
    if (weft__load(&s->permits) < 0) result = ETIMEDOUT;
    break;
  }
  weft__store(&s->claim, 0);
  weft__semaphore_end_claim(s);
  if (result != 0) weft__semaphore_give_back(s, n);
  weft__add(&s->bulk, -1);
  return result;
}

static inline int weft__semaphore_wait(weft_semaphore *s, int32_t n,
                                       int32_t patience, int64_t deadline) {
  for (int32_t passed = 0;;) {
    int32_t turn = weft__load(&s->turn); /* before it reads `permits` */
    if (weft__semaphore_take(s, n)) return 0;
    if (passed >= patience &&
        weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)
      return weft__semaphore_claim(s, n, deadline);
    int32_t permits = weft__load(&s->permits);
    if (permits >= n) continue;
    int outcome =
        n > 1 ? weft__sleep(&s->turn, turn, deadline, WEFT__LOOK)
              : weft__sleep(&s->permits, permits, deadline, WEFT__LOOK);
    if (outcome == WEFT__TIMED_OUT)
      return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;
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
   ETIMEDOUT. */
static inline WEFT__CHECKED int weft_semaphore_acquire(weft_semaphore *s,
                                                       int32_t n,
                                                       int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
  if (weft__semaphore_take(s, n)) return 0;
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(&spin, weft__semaphore_take(s, n))) return 0;
  }
  return weft__semaphore_acquire_slow(s, n, timeout);
}
#endif

/* Returns n permits and wakes the sleepers that they serve. EINVAL if there
   would be more than 2^30 - 1. */
static inline int weft_semaphore_release(weft_semaphore *s, int32_t n) {
  if (n < 1 || n > WEFT_SEMAPHORE_MAX) return EINVAL;
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

/* Returns the permits that agent `id` claimed in advance. Call it only when
   that agent will never run again. Permits that it had acquired stay taken.
   Returns how many permits came back. */
static inline int32_t weft_semaphore_abandon(weft_semaphore *s, int32_t id) {
  if (id == 0) return 0;
  /* (H) One of the agents that abandon `id` inherits its claim: a later
     claimant must not lose its own. */
  if (weft__compare_exchange(&s->claimant, id, weft_agent_id()) != id) return 0;
  int32_t n = weft__exchange(&s->claim, 0);
  weft__semaphore_end_claim(s);
  if (n > 0) weft__semaphore_give_back(s, n);
  return n;
}

WEFT__END

#endif /* WEFT_SEMAPHORE_H */
