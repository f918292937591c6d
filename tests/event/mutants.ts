import { mutants } from "../_run/mutant.ts";

/** Mutants of `Event`. */
export const MUTANTS = mutants("event", {
  what: "sets by a store",
  by: "set, reset, set",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, next); if (state !== expected) continue-]{+next)+}; if " +
    "(state & AUTO_BIT) {",
  c: "[-state = weft__compare_exchange(&e->state, expected, next); if (state " +
    "!= expected) continue-]{+(void)expected; weft__store(&e->state, " +
    "next)+}; if (state & WEFT_EVENT_AUTO_BIT) {",
}, {
  what: "gives up setting if the state changed meanwhile",
  by: "set, reset, set",
  ts: "if (state !== expected) [-continue-]{+return+}; if (state & AUTO_BIT) {",
  c: "if (state != expected) [-continue-]{+return+}; if (state & " +
    "WEFT_EVENT_AUTO_BIT) {",
}, {
  what: "signals and wakes nobody",
  by: "two signals for two who wait",
  ts: "[-if (state & WAITERS_MASK) Atomics.notify(words, STATE, 1);-]",
  c: "[-if (state & WEFT_EVENT_WAITERS_MASK) weft__notify(&e->state, 1);-]",
}, {
  what: "sets and wakes nobody",
  by: "set wakes two",
  ts: "}[- else if (state & WAITING_BIT) { Atomics.notify(words, STATE); }-]",
  c: "[-weft__notify(&e->state, WEFT__ALL);-]",
}, {
  what: "sets and wakes one",
  by: "set wakes two",
  ts: "} else if (state & WAITING_BIT) { Atomics.notify(words, STATE{+, " +
    "1+}); }",
  c: "weft__notify(&e->state, [-WEFT__ALL-]{+1+});",
}, {
  what: "resets by a store",
  by: "a signal, a newcomer, a reset",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE[-, " +
    "expected-], state & ~bits);",
  c: "[-state = weft__compare_exchange(&e->state, " +
    "expected-]{+weft__store(&e->state+}, state & ~bits);",
}, {
  what: "takes a signal by a store",
  by: "a signal, a newcomer, a reset",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, -]taken);",
  c: "[-state = weft__compare_exchange(&e->state, expected, " +
    "taken);-]{+weft__store(&e->state, taken);+}",
}, {
  what: "a reset right after a set hides the set from a waiter",
  by: "a pulse for one who waits",
  ts: "if (state & SET_BIT[- || (state ^ since) & PULSE_MASK-]) return true;",
  c: "{+(void)since; +}if (state & WEFT_EVENT_SET_BIT[- || (state ^ since) & " +
    "WEFT_EVENT_PULSE_MASK-]) return 0;",
}, {
  what: "pulses are not counted",
  by: "a pulse for one who waits",
  ts: "return [-(-](state & ~WAITING_BIT[-) + ONE_PULSE-] | SET_BIT) | 0;",
  c: "return [-weft__plus-](state & ~WEFT_EVENT_WAITING_BIT[-, " +
    "WEFT_EVENT_ONE_PULSE-]) | WEFT_EVENT_SET_BIT;",
}, {
  what: "takes any end of a sleep for the set",
  by: "set wakes two",
  ts: 'last = outcome === "timed-out"; {+if (!last) return true; +}} } /** ' +
    "Waits for a signal",
  c: "last = outcome == WEFT__TIMED_OUT{+; if (!last) return 0+}; } } static " +
    "inline int weft__event_wait_for_signal(",
}, {
  what: "sleeps and does not say so",
  by: "set wakes two",
  ts: "[-state |= WAITING_BIT; -]if (state !== expected) {",
  c: "[-state |= WEFT_EVENT_WAITING_BIT;-]",
}, {
  what: "says that it sleeps by a store",
  by: "set, reset, set",
  ts: "state |= WAITING_BIT; if (state !== expected) { const seen = " +
    "{+expected; +}Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, -]state);",
  c: "state |= WEFT_EVENT_WAITING_BIT; if (state != expected) { int32_t seen " +
    "= [-weft__compare_exchange(&e->state, expected, -]{+expected; " +
    "weft__store(&e->state, +}state);",
}, {
  what: "a waiter that took a signal stays counted",
  by: "one signal, one waiter",
  ts: "if (served) state -= [-counted + -]taken;",
  c: "state -= [-counted + -]WEFT_EVENT_ONE_SIGNAL;",
}, {
  what: "a waiter that gives up stays counted",
  by: "a signal for one of two, the other times out",
  ts: "else if (last) state -= [-counted-]{+0+};",
  c: "else if (last) state -= [-counted-]{+0+};",
}, {
  what: "a waiter is not counted",
  by: "two signals for two who wait",
  ts: "state += [-counted = ONE_WAITER-]{+0+};",
  c: "state += [-counted = WEFT_EVENT_ONE_WAITER-]{+0+};",
}, {
  what: "thinks that it is counted although its exchange failed",
  by: "one signal, one waiter",
  ts: "[-if (!served && !last) counted = 0;-]",
  c: "[-if (!served && !last) counted = 0;-]",
}, {
  what: "takes or counts by a store",
  by: "two signals for two who wait",
  ts: "const seen = {+expected; " +
    "+}Atomics.[-compareExchange-]{+store+}(words, STATE[-, expected-], " +
    "state); if (seen !== expected) { if (!served",
  c: "int32_t seen = [-weft__compare_exchange(&e->state, " +
    "expected-]{+expected; weft__store(&e->state+}, state); if (seen != " +
    "expected) { if (!served",
}, {
  what: "remembers only one signal for any number of waiters",
  by: "two signals for two who wait",
  ts: "return signals < [-Math.max(waiters, 1)-]{+1+} ? state + ONE_SIGNAL : " +
    "state;",
  c: "{+(void)waiters; +}return signals < [-(waiters > 1 ? waiters : 1) " +
    "?-]{+1 ?+}",
}, {
  what: "(G) looks at the event once it has set it",
  by: "one sets, the other frees the event: false",
  ts: "} else if ({+Atomics.load(words, STATE) !== 0 && +}state & " +
    "WAITING_BIT) { Atomics.notify(words, STATE);",
  c: "} else if ({+weft__load(&e->state) != 0 && +}state & " +
    "WEFT_EVENT_WAITING_BIT) { weft__notify",
}, {
  what: "(G) looks for waiters once it has signalled",
  by: "one sets, the other frees the event: true",
  ts: "if ([-state-]{+Atomics.load(words, STATE)+} & WAITERS_MASK){+ {+} " +
    "Atomics.notify(words, STATE, 1);{+ }+}",
  c: "if ([-state-]{+weft__load(&e->state)+} & WEFT_EVENT_WAITERS_MASK) " +
    "weft__notify(&e->state, 1);",
});
