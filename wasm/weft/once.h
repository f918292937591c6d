/* once.h - the twin of primitives/once.ts. */
#ifndef WEFT_ONCE_H
#define WEFT_ONCE_H

#include "_layout.h"
#include "_spin.h"
#include "_wait.h"

#ifndef WEFT_REALTIME /* what may wait */

WEFT__BEGIN

#define WEFT_ONCE_NEW 0
#define WEFT_ONCE_RUNNER_MASK 0xfffffff /* ONCE_BITS.RUNNER */
#define WEFT_ONCE_DONE_BIT (1 << 28) /* ONCE_BITS.DONE */
#define WEFT_ONCE_WAITING_BIT (1 << 30) /* ONCE_BITS.WAITING */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * A once. All words 0: the function did not run.
 *
 * word 0  state  bits 0-27  the id of the agent that runs the function, or 0
 *                bit 28     DONE
 *                bit 30     WAITING: somebody may sleep on this word
 *                sleepers: agents that wait for the result
 *
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * ran the function may still be in its operation.
 */
typedef struct {
  int32_t state;
} weft_once;
WEFT_WORD(once, state, 0);
WEFT_LENGTH(once, 1);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of a once, as a constant and as a function. */
#define WEFT_ONCE_BYTES sizeof(weft_once)
static inline size_t weft_once_bytes(void) { return sizeof(weft_once); }

/* Initializes `bytes` bytes of unused memory as a once that was not run. Memory
   that is all zero is one already. NULL if the bytes are too few, or `at` is
   not a multiple of 4. */
static inline WEFT__RESULT weft_once *weft_once_init(void *at, size_t bytes) {
  if (!weft__fits(at, bytes, sizeof(weft_once))) return NULL;
  weft__zero(at, sizeof(weft_once));
  return (weft_once *)at;
}

/* Whether the function was run to its end. */
static inline bool weft_once_done(const weft_once *o) {
  return (weft__load(&o->state) & WEFT_ONCE_DONE_BIT) != 0;
}

/* The id of the agent that runs the function, or 0. */
static inline int32_t weft_once_runner(const weft_once *o) {
  return weft__load(&o->state) & WEFT_ONCE_RUNNER_MASK;
}

/* (E) Publishes what the function wrote, and wakes the waiters. */
static inline void weft__once_end(weft_once *o) {
  int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);
  if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);
}

/* Lets the next agent try. */
static inline void weft__once_fail(weft_once *o) {
  int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);
  if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);
}

/* Returns 0 if it is done, EBUSY if we must run the function, or ETIMEDOUT. */
static inline int weft__once_run_slow(weft_once *o, int32_t id,
                                      int64_t timeout) {
  int64_t deadline = weft__deadline(timeout);
  int32_t state = weft__load(&o->state); /* pairs with (E) */
  bool last = false;
  for (;;) {
    int32_t expected = state;
    if (state & WEFT_ONCE_DONE_BIT) return 0;
    bool unclaimed = (state & WEFT_ONCE_RUNNER_MASK) == 0;
    if (!unclaimed && last) return ETIMEDOUT;
    state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&o->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    if (unclaimed) return EBUSY;
    int outcome = weft__sleep(&o->state, state, deadline, WEFT__LOOK);
    state = weft__load(&o->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/* Returns 0 if it is done, EBUSY if we must run the function, or an error of
   weft_once_run. */
static inline int weft__once_begin(weft_once *o, int64_t timeout) {
  if (weft_once_done(o)) return 0;
  if (!weft__may_block()) return EPERM;
  int32_t id = weft_agent_id();
  for (int i = timeout != 0 ? WEFT_SPIN_ROUNDS : 0;; i--) {
    int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, id);
    if (state == WEFT_ONCE_NEW) return EBUSY;
    if (state & WEFT_ONCE_DONE_BIT) return 0;
    int32_t runner = state & WEFT_ONCE_RUNNER_MASK;
    if (runner == id) return EDEADLK;
    if (i == 0 || runner == 0) return weft__once_run_slow(o, id, timeout);
    weft__relax();
  }
}

/*
 * Runs fn(context) if no agent has run it. If another agent runs it now, this
 * one blocks up to `timeout` ns until it is done. Returns 0 if fn was run to
 * its end, here or elsewhere; ETIMEDOUT; EDEADLK if this agent is already
 * inside fn; or EPERM if it may not block. If fn returns something else than 0,
 * that is returned here, and the next agent tries.
 */
static inline int weft_once_run(weft_once *o, int (*fn)(void *context),
                                void *context, int64_t timeout) {
  int result = weft__once_begin(o, timeout);
  if (result != EBUSY) return result;
  result = fn(context);
  if (result == 0)
    weft__once_end(o);
  else
    weft__once_fail(o);
  return result;
}

/* Lets the next agent try if agent `id` was running the function. Call it only
   when that agent will never run again. Returns 1, or 0 if it was not. */
static inline int32_t weft_once_abandon(weft_once *o, int32_t id) {
  int32_t state = weft__load(&o->state);
  while ((state & WEFT_ONCE_RUNNER_MASK) == id && id != 0) {
    int32_t expected = state;
    int32_t kept = state & WEFT_ONCE_WAITING_BIT;
    state = weft__compare_exchange(&o->state, expected, kept);
    if (state != expected) continue;
    if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);
    return 1;
  }
  return 0;
}

WEFT__END

#endif

#endif /* WEFT_ONCE_H */
