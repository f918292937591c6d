import { mutants } from "../_run/mutant.ts";

/** Mutants of `Event`. */
export const event = mutants(
  "event.ts",
  [
    "sets by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next); " +
    "if (state !== expected) continue; if (state & AUTO_BIT) {",
    "Atomics.store(words, STATE, next); if (state & AUTO_BIT) {",
  ],
  [
    "gives up setting when the state changed",
    "if (state !== expected) continue; if (state & AUTO_BIT) {",
    "if (state !== expected) return; if (state & AUTO_BIT) {",
  ],
  [
    "signals and wakes nobody",
    "if (state & WAITERS_MASK) Atomics.notify(words, STATE, 1);",
    "",
  ],
  [
    "sets and wakes nobody",
    "} else if (state & WAITING_BIT) { Atomics.notify(words, STATE); }",
    "}",
  ],
  [
    "sets and wakes one",
    "} else if (state & WAITING_BIT) { Atomics.notify(words, STATE); }",
    "} else if (state & WAITING_BIT) { Atomics.notify(words, STATE, 1); }",
  ],
  [
    "resets by a store",
    "state = Atomics.compareExchange(words, STATE, expected, state & ~bits);",
    "Atomics.store(words, STATE, state & ~bits);",
  ],
  [
    "takes a signal by a store",
    "state = Atomics.compareExchange(words, STATE, expected, taken);",
    "Atomics.store(words, STATE, taken);",
  ],
  [
    "a reset at once hides a set from who waited",
    "if (state & SET_BIT || (state ^ since) & PULSE_MASK) return true;",
    "if (state & SET_BIT) return true;",
  ],
  [
    "pulses are not counted",
    "return ((state & ~WAITING_BIT) + ONE_PULSE | SET_BIT) | 0;",
    "return (state & ~WAITING_BIT | SET_BIT) | 0;",
  ],
  [
    "any end of a sleep ends the wait",
    'last = outcome === "timed-out"; } } /** Waits for a signal',
    'last = outcome === "timed-out"; if (!last) return true; } } ' +
    "/** Waits for a signal",
  ],
  [
    "sleeps and does not say so",
    "state |= WAITING_BIT; if (state !== expected) {",
    "if (state !== expected) {",
  ],
  [
    "says that it sleeps by a store",
    "state |= WAITING_BIT; if (state !== expected) { const seen = " +
    "Atomics.compareExchange(words, STATE, expected, state);",
    "state |= WAITING_BIT; if (state !== expected) { const seen = expected; " +
    "Atomics.store(words, STATE, state);",
  ],
  [
    "a signal is taken and its waiter is still counted",
    "if (served) state -= counted + taken;",
    "if (served) state -= taken;",
  ],
  [
    "who gives up is still counted",
    "else if (last) state -= counted;",
    "else if (last) state -= 0;",
  ],
  [
    "is not counted",
    "state += counted = ONE_WAITER;",
    "state += 0;",
  ],
  [
    "thinks it is counted although its exchange failed",
    "if (!served && !last) counted = 0;",
    "",
  ],
  [
    "takes or counts by a store",
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) { if (!served",
    "const seen = expected; Atomics.store(words, STATE, state); " +
    "if (seen !== expected) { if (!served",
  ],
  [
    "remembers one signal, however many wait",
    "return signals < Math.max(waiters, 1) ? state + ONE_SIGNAL : state;",
    "return signals < 1 ? state + ONE_SIGNAL : state;",
  ],
);
