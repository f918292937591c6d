/* barrier.h - the twin of primitives/barrier.ts. */
#ifndef WEFT_BARRIER_H
#define WEFT_BARRIER_H

#include "_region.h"
#include "_spin.h"
#include "_wait.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_BARRIER_ARRIVED_MASK 0xfff
#define WEFT_BARRIER_ONE_PARTY (1 << 12)
#define WEFT_BARRIER_PARTIES_MASK (0xfff << 12)
#define WEFT_BARRIER_WAITING_BIT (1 << 24)
#define WEFT_BARRIER_ONE_GENERATION (1 << 25)
#define WEFT_BARRIER_GENERATION_MASK (-WEFT_BARRIER_ONE_GENERATION)

/* The most parties a barrier can have. */
#define WEFT_BARRIER_MAX 0xfff

/* Begin of what `deno task layout` makes from primitives/_layout.ts. */
/* clang-format off */
/*
 * A barrier.
 *
 * word 0  magic    Kind and layout version.
 * word 1  parties  How many parties it was made for, 1 to 4095.
 * word 2  seal     Check word over the configuration.
 * word 3  state    bits 0-11   parties that have arrived
 *                  bits 12-23  parties that have not left
 *                  bit 24      WAITING: somebody may sleep on this word
 *                  bits 25-31  the generation, modulo 128
 *                  sleepers: parties that have arrived
 */
typedef struct {
  int32_t magic;
  int32_t parties;
  int32_t seal;
  int32_t state;
} weft_barrier;
WEFT_WORD(barrier, magic, 0);
WEFT_WORD(barrier, parties, 1);
WEFT_WORD(barrier, seal, 2);
WEFT_WORD(barrier, state, 3);
WEFT_LENGTH(barrier, 4);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a barrier, as a constant and as a function. */
#define WEFT_BARRIER_BYTES sizeof(weft_barrier)
static inline size_t weft_barrier_bytes(void) { return sizeof(weft_barrier); }

/* The barrier at `at`, or NULL: see weft_attach_error. */
static inline WEFT__RESULT weft_barrier *weft_barrier_attach(void *at) {
  if (weft_attach_error(at, WEFT_KIND_barrier) != NULL) return NULL;
  return (weft_barrier *)at;
}

/* Initializes `bytes` bytes of unused memory as a barrier for `parties` agents,
   1 to 4095. NULL if that number is out of range, the bytes are too few, or
   `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_barrier *weft_barrier_init(void *at,
                                                           size_t bytes,
                                                           int32_t parties) {
  weft_barrier *b = (weft_barrier *)at;
  if (!weft__fits(at, bytes, sizeof *b)) return NULL;
  if (parties < 1 || parties > WEFT_BARRIER_MAX) return NULL;
  weft__zero(at, sizeof *b);
  b->parties = parties;
  b->seal = weft__seal(WEFT_KIND_barrier, parties, 0);
  b->state = parties * WEFT_BARRIER_ONE_PARTY;
  weft__store(&b->magic, weft__magic(WEFT_KIND_barrier));
  return b;
}

/* How many parties have not left. */
static inline int32_t weft_barrier_parties(const weft_barrier *b) {
  return (weft__load(&b->state) & WEFT_BARRIER_PARTIES_MASK) /
         WEFT_BARRIER_ONE_PARTY;
}

/* How many parties have arrived and wait. */
static inline int32_t weft_barrier_arrived(const weft_barrier *b) {
  return weft__load(&b->state) & WEFT_BARRIER_ARRIVED_MASK;
}

/* The state after all have arrived: the next generation, in which nobody has
   arrived. */
static inline int32_t weft__barrier_next_generation(int32_t state) {
  return weft__plus(state & (WEFT_BARRIER_GENERATION_MASK |
                             WEFT_BARRIER_PARTIES_MASK),
                    WEFT_BARRIER_ONE_GENERATION);
}

/*
 * Removes one party for ever. `arrived` says that it was terminated while it
 * waited; then its arrival is taken back. Returns 1 if this ended the
 * generation, else 0; -EINVAL if no party is left, or if `arrived` and none has
 * arrived.
 */
static inline int weft_barrier_leave(weft_barrier *b, bool arrived) {
  int32_t state = weft__load(&b->state);
  for (;;) {
    int32_t expected = state;
    int32_t all = state & WEFT_BARRIER_PARTIES_MASK;
    if (all == 0 || (arrived && (state & WEFT_BARRIER_ARRIVED_MASK) == 0))
      return -EINVAL;
    int32_t left =
        weft__minus(state, WEFT_BARRIER_ONE_PARTY + (arrived ? 1 : 0));
    int32_t waiting = left & WEFT_BARRIER_ARRIVED_MASK;
    bool ends = waiting > 0 && waiting * WEFT_BARRIER_ONE_PARTY >=
                                   (left & WEFT_BARRIER_PARTIES_MASK);
    int32_t next = ends ? weft__barrier_next_generation(left) : left;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    if (ends && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return ends ? 1 : 0;
  }
}

/* Arrives. *since is the state after that. Returns true if this party was the
   last. */
static inline bool weft__barrier_arrive(weft_barrier *b, int32_t *since) {
  int32_t state = weft__hint(&b->state); /* the exchange below checks it */
  for (;;) {
    int32_t expected = state;
    int32_t arrived = (state & WEFT_BARRIER_ARRIVED_MASK) + 1;
    bool last = arrived * WEFT_BARRIER_ONE_PARTY >=
                (state & WEFT_BARRIER_PARTIES_MASK);
    int32_t next = last ? weft__barrier_next_generation(state) : state + 1;
    state = weft__compare_exchange(&b->state, expected, next);
    if (state != expected) continue;
    *since = next;
    if (last && state & WEFT_BARRIER_WAITING_BIT)
      weft__notify(&b->state, WEFT__ALL);
    return last;
  }
}

/* Waits for the end of the generation in which we arrived, at the state
   `since`. */
static inline int weft__barrier_wait_slow(weft_barrier *b, int32_t since,
                                          int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&b->state);
  bool last = false;
  while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {
    int32_t expected = state;
    /* The generation did not end, so our arrival is still counted. */
    state = last ? state - 1 : state | WEFT_BARRIER_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&b->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (last) return ETIMEDOUT;
    /* Every arrival changes the word, but only the last one wakes. */
    int outcome = weft__sleep(&b->state, state, deadline, WEFT__LOOK);
    state = weft__load(&b->state);
    last = outcome == WEFT__TIMED_OUT;
  }
  return 0;
}

/*
 * Arrives, and blocks up to `timeout` ns until all parties have arrived; then
 * ETIMEDOUT, and the arrival is taken back. *leader says whether this party was
 * the last to arrive; `leader` may be NULL.
 */
static inline int weft_barrier_arrive_and_wait(weft_barrier *b, bool *leader,
                                               int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t since = 0;
  bool last = weft__barrier_arrive(b, &since);
  if (leader != NULL) *leader = last;
  if (last) return 0;
  WEFT__SPIN(spin, NULL, timeout) {
    int32_t passed =
        (weft__load(&b->state) ^ since) & WEFT_BARRIER_GENERATION_MASK;
    if (weft__spin_found(&spin, passed != 0)) return 0;
  }
  return weft__barrier_wait_slow(b, since, timeout);
}

WEFT__END

#endif

#endif /* WEFT_BARRIER_H */
