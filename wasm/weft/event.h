/* event.h - the twin of primitives/event.ts. */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include "_layout.h"
#include "_spin.h"
#include "_wait.h"

WEFT__BEGIN

#define WEFT_EVENT_AUTO_BIT 1 /* EVENT_BITS.AUTO */
/* Reset manually: */
#define WEFT_EVENT_SET_BIT (1 << 1) /* EVENT_BITS.SET */
#define WEFT_EVENT_WAITING_BIT (1 << 2) /* EVENT_BITS.WAITING */
#define WEFT_EVENT_ONE_PULSE (1 << 3) /* EVENT_BITS.PULSE */
#define WEFT_EVENT_PULSE_MASK (-(1 << 3)) /* EVENT_BITS.PULSE */
/* Automatic reset: */
#define WEFT_EVENT_ONE_SIGNAL (1 << 1) /* EVENT_BITS.SIGNALS */
#define WEFT_EVENT_SIGNALS_MASK (0x7fff << 1) /* EVENT_BITS.SIGNALS */
#define WEFT_EVENT_ONE_WAITER (1 << 16) /* EVENT_BITS.WAITERS */
#define WEFT_EVENT_WAITERS_MASK (0x7fff << 16) /* EVENT_BITS.WAITERS */

/* Begin of what `deno task layout` makes from primitives/_memory/layout.ts. */
/* clang-format off */
/*
 * An event. All words 0: reset manually, and not set.
 *
 * word 0  state  bit 0       AUTO: it resets automatically. Without AUTO:
 *                bit 1       SET
 *                bit 2       WAITING: somebody may sleep on this word
 *                bits 3-31   how often it was set, modulo 2^29. With AUTO:
 *                bits 1-15   signals: sets that no waiter has taken yet
 *                bits 16-30  waiters, 2^15 - 1 at most; more are not counted
 *                sleepers: agents that wait
 *
 * Freed when: no agent waits, and none will begin an operation. The agent that
 * set the event may still be in set.
 */
typedef struct {
  int32_t state;
} weft_event;
WEFT_WORD(event, state, 0);
WEFT_LENGTH(event, 1);
/* clang-format on */
/* End of what `deno task layout` makes. */

/* The bytes of an event, as a constant and as a function. */
#define WEFT_EVENT_BYTES sizeof(weft_event)
static inline size_t weft_event_bytes(void) { return sizeof(weft_event); }

/* Initializes `bytes` bytes of unused memory as an event that is not set.
   Zeroed memory is one without automatic reset. NULL if the bytes are too few,
   or `at` is not a multiple of 4. */
static inline WEFT__RESULT weft_event *weft_event_init(void *at, size_t bytes,
                                                       bool auto_reset) {
  weft_event *e = (weft_event *)at;
  if (!weft__fits(at, bytes, sizeof *e)) return NULL;
  weft__store(&e->state, auto_reset ? WEFT_EVENT_AUTO_BIT : 0);
  return e;
}

/* Whether each set lets one waiter through. */
static inline bool weft_event_auto_reset(const weft_event *e) {
  return (weft__load(&e->state) & WEFT_EVENT_AUTO_BIT) != 0;
}

static inline bool weft__event_is_set(int32_t state) {
  return (state & (state & WEFT_EVENT_AUTO_BIT ? WEFT_EVENT_SIGNALS_MASK
                                               : WEFT_EVENT_SET_BIT)) != 0;
}

/* The state after `set`, if it was `state` before. */
static inline int32_t weft__event_after_set(int32_t state) {
  if ((state & WEFT_EVENT_AUTO_BIT) == 0) {
    if (state & WEFT_EVENT_SET_BIT) return state;
    return weft__plus(state & ~WEFT_EVENT_WAITING_BIT, WEFT_EVENT_ONE_PULSE) |
           WEFT_EVENT_SET_BIT;
  }
  int32_t signals = (state & WEFT_EVENT_SIGNALS_MASK) / WEFT_EVENT_ONE_SIGNAL;
  int32_t waiters = (state & WEFT_EVENT_WAITERS_MASK) / WEFT_EVENT_ONE_WAITER;
  return signals < (waiters > 1 ? waiters : 1) ? state + WEFT_EVENT_ONE_SIGNAL
                                               : state;
}

/* Whether a wait would end at once. */
static inline bool weft_event_is_set(const weft_event *e) {
  return weft__event_is_set(weft__load(&e->state));
}

/* Sets the event and wakes the agents that it lets through. */
static inline void weft_event_set(weft_event *e) {
  int32_t state = weft__load(&e->state);
  for (;;) {
    int32_t expected = state;
    int32_t next = weft__event_after_set(state);
    if (next == state) return;
    state = weft__compare_exchange(&e->state, expected, next);
    if (state != expected) continue;
    if (state & WEFT_EVENT_AUTO_BIT) {
      if (state & WEFT_EVENT_WAITERS_MASK) weft__notify(&e->state, 1);
    } else if (state & WEFT_EVENT_WAITING_BIT) {
      weft__notify(&e->state, WEFT__ALL);
    }
    return;
  }
}

/* Takes back a `set` that no waiter has seen yet. */
static inline void weft_event_reset(weft_event *e) {
  int32_t state = weft__load(&e->state);
  while (weft__event_is_set(state)) {
    int32_t expected = state;
    int32_t bits = state & WEFT_EVENT_AUTO_BIT ? WEFT_EVENT_SIGNALS_MASK
                                               : WEFT_EVENT_SET_BIT;
    state = weft__compare_exchange(&e->state, expected, state & ~bits);
    if (state == expected) return;
  }
}

/* Returns 0 if the event is set, else EBUSY. With automatic reset it resets the
   event. */
static inline WEFT__CHECKED int weft_event_try_wait(weft_event *e) {
  int32_t state = weft__load(&e->state);
  while (weft__event_is_set(state)) {
    if ((state & WEFT_EVENT_AUTO_BIT) == 0) return 0;
    int32_t expected = state;
    int32_t taken = state - WEFT_EVENT_ONE_SIGNAL;
    state = weft__compare_exchange(&e->state, expected, taken);
    if (state == expected) return 0;
  }
  return EBUSY;
}

#ifndef WEFT_REALTIME /* what may wait */
/* Waits until the event is set, or was set since its state was `since`. */
static inline int weft__event_wait_for_pulse(weft_event *e, int32_t since,
                                             int64_t deadline) {
  int32_t state = weft__load(&e->state);
  bool last = false;
  for (;;) {
    if (state & WEFT_EVENT_SET_BIT || (state ^ since) & WEFT_EVENT_PULSE_MASK)
      return 0;
    if (last) return ETIMEDOUT;
    int32_t expected = state;
    state |= WEFT_EVENT_WAITING_BIT;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&e->state, expected, state);
      if (seen != expected) {
        state = seen;
        continue;
      }
    }
    int outcome = weft__sleep(&e->state, state, deadline, WEFT__LOOK);
    state = weft__load(&e->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

static inline int weft__event_wait_for_signal(weft_event *e,
                                              int64_t deadline) {
  int32_t counted = 0; /* ONE_WAITER once we are */
  int32_t state = weft__load(&e->state);
  bool last = false;
  for (;;) {
    int32_t expected = state;
    bool served = (state & WEFT_EVENT_SIGNALS_MASK) != 0;
    /* One step takes a signal and lowers the count of waiters. So there are
       never more signals than waiters, except for the one that is remembered.
       */
    if (served)
      state -= counted + WEFT_EVENT_ONE_SIGNAL;
    else if (last)
      state -= counted;
    else if (counted == 0 &&
             (state & WEFT_EVENT_WAITERS_MASK) != WEFT_EVENT_WAITERS_MASK)
      state += counted = WEFT_EVENT_ONE_WAITER;
    if (state != expected) {
      int32_t seen = weft__compare_exchange(&e->state, expected, state);
      if (seen != expected) {
        if (!served && !last) counted = 0;
        state = seen;
        continue;
      }
    }
    if (served || last) return served ? 0 : ETIMEDOUT;
    int outcome = weft__sleep(&e->state, state, deadline, WEFT__LOOK);
    state = weft__load(&e->state);
    last = outcome == WEFT__TIMED_OUT;
  }
}

/* Blocks up to `timeout` ns until the event is set; then ETIMEDOUT. */
static inline int weft_event_wait(weft_event *e, int64_t timeout) {
  if (!weft__may_block()) return EPERM;
  int32_t since = weft__load(&e->state);
  if (timeout != 0 && WEFT_SPIN_ROUNDS > 0) {
    if (weft_event_try_wait(e) == 0) return 0;
    WEFT__SPIN(spin, NULL, timeout) {
      if (weft__spin_found(spin, weft_event_try_wait(e) == 0)) return 0;
    }
  }
  int64_t deadline = weft__deadline(timeout);
  return since & WEFT_EVENT_AUTO_BIT
             ? weft__event_wait_for_signal(e, deadline)
             : weft__event_wait_for_pulse(e, since, deadline);
}
#endif

WEFT__END

#endif /* WEFT_EVENT_H */
