/* wait_group.h - the twin of primitives/wait_group.ts. */
#ifndef WEFT_WAIT_GROUP_H
#define WEFT_WAIT_GROUP_H

#include "_layout.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_WAIT_GROUP_WAITING_BIT 1 /* WAIT_GROUP_BITS.WAITING */
#define WEFT_WAIT_GROUP_ONE (1 << 1) /* WAIT_GROUP_BITS.COUNT */
#define WEFT_WAIT_GROUP_COUNT_MASK (0x3ffff << 1) /* WAIT_GROUP_BITS.COUNT */
#define WEFT_WAIT_GROUP_ONE_ROUND (1 << 19) /* WAIT_GROUP_BITS.ROUND */
#define WEFT_WAIT_GROUP_ROUND_MASK (-(1 << 19)) /* WAIT_GROUP_BITS.ROUND */

/* The highest count of a wait group. */
#define WEFT_WAIT_GROUP_MAX 0x3ffff /* WAIT_GROUP_BITS.COUNT */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A wait group. All words 0: its count is 0.
 *
 * word 0  state  bit 0       WAITING: somebody may sleep on this word, and the
 *                            count is not 0
 *                bits 1-18   the count, 0 to 2^18 - 1
 *                bits 19-31  how often it fell to 0 while somebody waited,
 *                            modulo 2^13
 *                sleepers: agents that wait
 *
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * lowered the count to 0 may still be in done, and others in their add.
 */
typedef struct {
  int32_t state;
} weft_wait_group;
WEFT_WORD(wait_group, state, 0);
WEFT_LENGTH(wait_group, 1);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a wait group, as a constant and as a function. */
#define WEFT_WAIT_GROUP_BYTES sizeof(weft_wait_group)
static inline size_t weft_wait_group_bytes(void) {
  return sizeof(weft_wait_group);
}

/* Initializes `bytes` bytes of unused memory as a wait group whose count is 0,
   as zeroed memory is. NULL if the bytes are too few, or `at` is not a multiple
   of 4. */
static inline WEFT__RESULT weft_wait_group *weft_wait_group_init(
    void *at, size_t bytes) {
  weft_wait_group *g = (weft_wait_group *)at;
  if (!weft__fits(at, bytes, sizeof *g)) return NULL;
  weft__store(&g->state, 0);
  return g;
}

static inline int32_t weft__wait_group_count_in(int32_t state) {
  return (state & WEFT_WAIT_GROUP_COUNT_MASK) / WEFT_WAIT_GROUP_ONE;
}

/* The state after done(n): with the count 0, a new round if anyone waits. */
static inline int32_t weft__wait_group_lowered(int32_t state, int32_t n) {
  int32_t left = state - n * WEFT_WAIT_GROUP_ONE;
  if (left & WEFT_WAIT_GROUP_COUNT_MASK ||
      !(left & WEFT_WAIT_GROUP_WAITING_BIT))
    return left;
  return weft__plus(left - WEFT_WAIT_GROUP_WAITING_BIT,
                    WEFT_WAIT_GROUP_ONE_ROUND);
}

/* How many `done` are missing; 0 means that a wait would return at once. */
static inline int32_t weft_wait_group_count(const weft_wait_group *g) {
  return weft__wait_group_count_in(weft__load(&g->state));
}

/* Raises the count by n, 0 or more. EINVAL if n is negative, EOVERFLOW if the
   count would be above WEFT_WAIT_GROUP_MAX. (G) Another agent may call `done`
   in this agent's place, and a waiter may then free the memory: after the
   exchange, nothing is used. */
static inline int weft_wait_group_add(weft_wait_group *g, int32_t n) {
  if (n < 0) return EINVAL;
  if (n > WEFT_WAIT_GROUP_MAX) return EOVERFLOW;
  if (n == 0) return 0;
  int32_t state = weft__hint(&g->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    if (weft__wait_group_count_in(state) + n > WEFT_WAIT_GROUP_MAX) {
      state = weft__load(&g->state);
      if (state != expected) continue;
      return EOVERFLOW;
    }
    int32_t next = state + n * WEFT_WAIT_GROUP_ONE;
    state = weft__compare_exchange(&g->state, expected, next);
    if (state == expected) return 0;
  }
}

/* Lowers the count by n, 1 or more, and wakes all waiters if it is then 0.
   EINVAL if n is more than the count. (G) Whoever is let through may free the
   memory at once: after the exchange, only the address is used. */
static inline int weft_wait_group_done(weft_wait_group *g, int32_t n) {
  if (n < 1 || n > WEFT_WAIT_GROUP_MAX) return EINVAL;
  int32_t state = weft__hint(&g->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    if (weft__wait_group_count_in(state) < n) {
      state = weft__load(&g->state);
      if (state != expected) continue;
      return EINVAL;
    }
    int32_t next = weft__wait_group_lowered(state, n);
    state = weft__compare_exchange(&g->state, expected, next);
    if (state != expected) continue;
    if ((state ^ next) & WEFT_WAIT_GROUP_ROUND_MASK)
      weft__notify(&g->state, WEFT__ALL);
    return 0;
  }
}

/* 0 if the count is 0, else EBUSY. */
static inline WEFT__CHECKED int weft_wait_group_try_wait(
    const weft_wait_group *g) {
  return (weft__load(&g->state) & WEFT_WAIT_GROUP_COUNT_MASK) == 0 ? 0 : EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
static inline int weft__wait_group_wait_slow(weft_wait_group *g,
                                             int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&g->state);
  bool last = false;
  while (state & WEFT_WAIT_GROUP_COUNT_MASK) {
    if (last) return ETIMEDOUT;
    int32_t expected = state;
    state |= WEFT_WAIT_GROUP_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&g->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    /* Every step changes the word, but only the one to 0 wakes. */
    int32_t asleep = state;
    int outcome = weft__sleep(&g->state, state, deadline, WEFT__LOOK);
    last = outcome == WEFT__TIMED_OUT;
    state = weft__load(&g->state);
    /* The count was 0 meanwhile, even if it has risen again. */
    if ((state ^ asleep) & WEFT_WAIT_GROUP_ROUND_MASK) return 0;
  }
  return 0;
}

/* Blocks up to `timeout` ns until the count is 0; then ETIMEDOUT. */
static inline int weft_wait_group_wait(weft_wait_group *g, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (weft_wait_group_try_wait(g) == 0) return 0;
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(spin, weft_wait_group_try_wait(g) == 0)) return 0;
  }
  return weft__wait_group_wait_slow(g, timeout);
}
#endif

WEFT__END

#endif /* WEFT_WAIT_GROUP_H */
