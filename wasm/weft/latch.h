/* latch.h - the twin of primitives/latch.ts. */
#ifndef WEFT_LATCH_H
#define WEFT_LATCH_H

#include "_region.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_LATCH_OPEN 0
#define WEFT_LATCH_WAITING_BIT 1 /* LATCH_BITS.WAITING */
#define WEFT_LATCH_ONE (1 << 1) /* LATCH_BITS.COUNT */

/* The highest count a latch can start from. */
#define WEFT_LATCH_MAX 0x3fffffff /* LATCH_BITS.COUNT */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A latch.
 *
 * word 0  magic  Kind and layout version.
 * word 1  seal   Check word over the configuration.
 * word 2  state  bit 0      WAITING: somebody may sleep on this word
 *                bits 1-30  the count, 2^30 - 1 to 0
 *                sleepers: agents that wait
 *
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * opened the latch may still be in its operation.
 */
typedef struct {
  int32_t magic;
  int32_t seal;
  int32_t state;
} weft_latch;
WEFT_WORD(latch, magic, 0);
WEFT_WORD(latch, seal, 1);
WEFT_WORD(latch, state, 2);
WEFT_LENGTH(latch, 3);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a latch, as a constant and as a function. */
#define WEFT_LATCH_BYTES sizeof(weft_latch)
static inline size_t weft_latch_bytes(void) { return sizeof(weft_latch); }

/* The latch at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_latch *weft_latch_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_latch) != NULL) return NULL;
  return (weft_latch *)at;
}

/* Initializes `bytes` bytes of unused memory as a latch that opens after
   `count` steps, 0 to 2^30 - 1. NULL if that number is out of range, the bytes
   are too few, or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_latch *weft_latch_init(void *at, size_t bytes,
                                                       int32_t count) {
  weft_latch *l = (weft_latch *)at;
  if (!weft__fits(at, bytes, sizeof *l)) return NULL;
  if (count < 0 || count > WEFT_LATCH_MAX) return NULL;
  weft__zero(at, sizeof *l);
  l->seal = weft__seal(WEFT_KIND_latch, 0, 0);
  l->state = count * WEFT_LATCH_ONE;
  weft__store(&l->magic, weft__magic(WEFT_KIND_latch));
  return l;
}

/* How many steps are left; 0 means that the latch is open. */
static inline int32_t weft_latch_count(const weft_latch *l) {
  return weft__load(&l->state) >> 1;
}

/* Counts down by n; *opened says whether that opened the latch. (G) Whoever is
   let through may free the memory at once: after the exchange, only the address
   is used. */
static inline int weft__latch_step(weft_latch *l, int32_t n, bool *opened) {
  int32_t state = weft__hint(&l->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    if (state < n * WEFT_LATCH_ONE) {
      state = weft__load(&l->state);
      if (state != expected) continue;
      return EINVAL;
    }
    int32_t left = state - n * WEFT_LATCH_ONE;
    int32_t next = left < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;
    state = weft__compare_exchange(&l->state, expected, next);
    if (state != expected) continue;
    *opened = next == WEFT_LATCH_OPEN;
    if (*opened && state & WEFT_LATCH_WAITING_BIT)
      weft__notify(&l->state, WEFT__ALL);
    return 0;
  }
}

/* Counts down by n, 1 or more. If that opens the latch, it wakes all waiters.
   EINVAL if n is more than the count. */
static inline int weft_latch_count_down(weft_latch *l, int32_t n) {
  bool opened = false;
  if (n < 1 || n > WEFT_LATCH_MAX) return EINVAL;
  return weft__latch_step(l, n, &opened);
}

/* 0 if the latch is open, else EBUSY. */
static inline WEFT__CHECKED int weft_latch_try_wait(const weft_latch *l) {
  return weft__load(&l->state) == WEFT_LATCH_OPEN ? 0 : EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
static inline int weft__latch_wait_slow(weft_latch *l, int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&l->state);
  while (state != WEFT_LATCH_OPEN) {
    int32_t expected = state;
    state |= WEFT_LATCH_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&l->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    /* Every step changes the word, but only the last one wakes. */
    int outcome = weft__sleep(&l->state, state, deadline, WEFT__LOOK);
    state = weft__load(&l->state);
    if (outcome == WEFT__TIMED_OUT)
      return state == WEFT_LATCH_OPEN ? 0 : ETIMEDOUT;
  }
  return 0;
}

/* Blocks up to `timeout` ns until the latch is open; then ETIMEDOUT. */
static inline int weft_latch_wait(weft_latch *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  if (weft_latch_try_wait(l) == 0) return 0;
  WEFT__SPIN(spin, NULL, timeout) {
    if (weft__spin_found(spin, weft_latch_try_wait(l) == 0)) return 0;
  }
  return weft__latch_wait_slow(l, timeout);
}

/* Counts down by one, and blocks up to `timeout` ns until the latch is open;
   then ETIMEDOUT, but the step stays counted. EINVAL if the latch is open
   already. */
static inline int weft_latch_arrive_and_wait(weft_latch *l, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  bool opened = false;
  int result = weft__latch_step(l, 1, &opened);
  return result != 0 || opened ? result : weft_latch_wait(l, timeout);
}
#endif

WEFT__END

#endif /* WEFT_LATCH_H */
