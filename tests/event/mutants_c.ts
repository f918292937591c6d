import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_event`. */
export const event = mutants(
  "event",
  "event",
  [
    "sets by a store",
    "state = weft__compare_exchange(&e->state, expected, next); if (state != " +
    "expected) continue; if (state & WEFT_EVENT_AUTO_BIT) {",
    "(void)expected; weft__store(&e->state, next); if (state & " +
    "WEFT_EVENT_AUTO_BIT) {",
  ],
  [
    "gives up setting when the state changed",
    "if (state != expected) continue; if (state & WEFT_EVENT_AUTO_BIT) {",
    "if (state != expected) return; if (state & WEFT_EVENT_AUTO_BIT) {",
  ],
  [
    "signals and wakes nobody",
    "if (state & WEFT_EVENT_WAITERS_MASK) weft__notify(&e->state, 1);",
    "",
  ],
  [
    "sets and wakes nobody",
    "weft__notify(&e->state, WEFT__ALL);",
    "",
  ],
  [
    "sets and wakes one",
    "weft__notify(&e->state, WEFT__ALL);",
    "weft__notify(&e->state, 1);",
  ],
  [
    "resets by a store",
    "state = weft__compare_exchange(&e->state, expected, state & ~bits);",
    "weft__store(&e->state, state & ~bits);",
  ],
  [
    "takes a signal by a store",
    "state = weft__compare_exchange(&e->state, expected, taken);",
    "weft__store(&e->state, taken);",
  ],
  [
    "a reset at once hides a set from who waited",
    "if (state & WEFT_EVENT_SET_BIT || (state ^ since) & " +
    "WEFT_EVENT_PULSE_MASK) return 0;",
    "(void)since; if (state & WEFT_EVENT_SET_BIT) return 0;",
  ],
  [
    "pulses are not counted",
    "return weft__plus(state & ~WEFT_EVENT_WAITING_BIT, " +
    "WEFT_EVENT_ONE_PULSE) | WEFT_EVENT_SET_BIT;",
    "return (state & ~WEFT_EVENT_WAITING_BIT) | WEFT_EVENT_SET_BIT;",
  ],
  [
    "any end of a sleep ends the wait",
    "last = outcome == WEFT__TIMED_OUT; } } static inline int " +
    "weft__event_wait_for_signal(",
    "last = outcome == WEFT__TIMED_OUT; if (!last) return 0; } } static " +
    "inline int weft__event_wait_for_signal(",
  ],
  [
    "sleeps and does not say so",
    "state |= WEFT_EVENT_WAITING_BIT;",
    "",
  ],
  [
    "says that it sleeps by a store",
    "state |= WEFT_EVENT_WAITING_BIT; if (state != expected) { int32_t seen " +
    "= weft__compare_exchange(&e->state, expected, state);",
    "state |= WEFT_EVENT_WAITING_BIT; if (state != expected) { int32_t seen " +
    "= expected; weft__store(&e->state, state);",
  ],
  [
    "a signal is taken and its waiter is still counted",
    "state -= counted + WEFT_EVENT_ONE_SIGNAL;",
    "state -= WEFT_EVENT_ONE_SIGNAL;",
  ],
  [
    "who gives up is still counted",
    "else if (last) state -= counted;",
    "else if (last) state -= 0;",
  ],
  [
    "is not counted",
    "state += counted = WEFT_EVENT_ONE_WAITER;",
    "state += 0;",
  ],
  [
    "thinks it is counted although its exchange failed",
    "if (!served && !last) counted = 0;",
    "",
  ],
  [
    "takes or counts by a store",
    "int32_t seen = weft__compare_exchange(&e->state, expected, state); if " +
    "(seen != expected) { if (!served",
    "int32_t seen = expected; weft__store(&e->state, state); if (seen != " +
    "expected) { if (!served",
  ],
  [
    "remembers one signal, however many wait",
    "return signals < (waiters > 1 ? waiters : 1) ?",
    "(void)waiters; return signals < 1 ?",
  ],
);
