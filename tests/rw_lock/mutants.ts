import { mutants } from "../_run/mutant.ts";

import { LINE, WRITERS } from "./mutants_writers.ts";
import { ROWS, TRACKED } from "./mutants_tracked.ts";

const HINT =
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here";

/** Mutants of readers that are counted. */
const COUNTED = mutants({
  source: "_lock/rw_lock_counted",
  scenarios: ["rw_lock"],
}, {
  what: "RW1: a reader enters by an addition",
  by: "a try beside a reader",
  ts: [
    "const expected = state; " +
    "state = Atomics.compareExchange(words, STATE, expected, expected + 1); " +
    "if (state === expected) return heldIn(state);",
    "return heldIn(Atomics.add(words, STATE, 1));",
  ],
  c: [
    "int32_t expected = state; " +
    "state = weft__compare_exchange(&l->state, expected, expected + 1); if " +
    "(state == expected) return weft__rw_held_in(state);",
    "return weft__rw_held_in(weft__add(&l->state, 1));",
  ],
}, {
  what: "RW2: the last reader does not wake the writer",
  by: "one downgrades",
  ts: [
    "if (isLastOfAwaited(state)) Atomics.notify(words, STATE, 1);",
    "void state;",
  ],
  c: [
    "if (weft__rw_is_last_of_awaited(state)) weft__notify(&l->state, 1);",
    "(void)state;",
  ],
}, {
  what: "RW3: a writer wakes one reader",
  ts: [
    "if (gate & WAITING_BIT) Atomics.notify(words, GATE);",
    "if (gate & WAITING_BIT) Atomics.notify(words, GATE, 1);",
  ],
  c: [
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);",
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, 1);",
  ],
  by: "a writer wakes two",
}, {
  what: "RW5: a writer does not wake readers",
  by: "one writes, one reads",
  ts: ["if (gate & WAITING_BIT) Atomics.notify(words, GATE);", ""],
  c: [
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);",
    "",
  ],
}, {
  what: "RW5: a writer does not open the gate",
  by: "one writes, one reads",
  ts: ["if (pending > 0) open(words, within); return;", "return;"],
  c: ["if (pending > 0) weft__rw_open(l); return;", "return;"],
}, {
  what: "RW6: opens the gate before it lets readers in",
  by: "one writes, one reads",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) open(words, within);",
    "if (pending > 0) open(words);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, next | 0);\n" +
    "if (state !== expected) continue;",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (pending > 0) weft__rw_open(l);",
    "if (pending > 0) weft__rw_open(l); state = " +
    "weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue;",
  ],
}, {
  what: "the last reader looks for a writer once it has left",
  by: "a reader leaves, and a writer frees the lock",
  ts: [
    "const state = Atomics.sub(words, STATE, 1);",
    "Atomics.sub(words, STATE, 1);\n" +
    "const state = Atomics.load(words, STATE) + 1;",
  ],
  c: [
    "int32_t state = weft__add(&l->state, -1);",
    "weft__add(&l->state, -1); int32_t state = weft__load(&l->state) + 1;",
  ],
}, {
  what: "RW7: the last reader but one wakes the writer",
  by: "one downgrades",
  ts: [
    "(1 | WANTED_BIT | ASLEEP_BIT);",
    "(2 | WANTED_BIT | ASLEEP_BIT);",
  ],
  c: ["== (1 | bits);", "== (2 | bits);"],
}, {
  what: "a reader enters beside a writer",
  by: "one writes, one reads",
  ts: [
    "(state & BUSY_BITS) !== 0;",
    "(state & WANTED_BIT) !== 0;",
  ],
  c: [
    "return (state & WEFT__RW_BUSY_BITS) != 0;",
    "return (state & WEFT_RW_LOCK_WANTED_BIT) != 0;",
  ],
}, {
  what: "believes a hint that there is a writer",
  by: "a try to read beside a writer",
  ts: [
    "state = Atomics.load(words, STATE); if (isBusy(state)) return false; " +
    "if (readingIn",
    "if (isBusy(state)) return false;\nif (readingIn",
  ],
  c: HINT,
}, {
  what: "does not check whether its exchange to enter succeeded",
  by: "one writes, two read",
  ts: [
    "expected + 1); if (state === expected) return heldIn(state);",
    "expected + 1);\nreturn heldIn(state);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, expected + 1); if " +
    "(state == expected) return weft__rw_held_in(state);",
    "state = weft__compare_exchange(&l->state, expected, expected + 1); return " +
    "weft__rw_held_in(state);",
  ],
}, {
  what: "a reader leaves by a load and a store",
  by: "one writes, two read",
  ts: [
    "const state = Atomics.sub(words, STATE, 1);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, state - 1);",
  ],
  c: [
    "int32_t state = weft__add(&l->state, -1);",
    "int32_t state = weft__load(&l->state); weft__store(&l->state, state - 1);",
  ],
}, {
  what: "begins to wait by a store",
  by: "one writes, one reads",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; return waits",
    "Atomics.store(words, STATE, state = next | 0); return waits",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (!waits) return 0;",
    "(void)expected; weft__store(&l->state, state = next); if (!waits) " +
    "return 0;",
  ],
}, {
  what: "waits for a writer that has already left",
  by: "one writes, one reads",
  ts: [
    "for (;;) { const expected = state; const waits = (state & bits) !== 0;",
    "const waits = (state & bits) !== 0;\n" +
    "for (;;) { const expected = state;",
  ],
  c: [
    "for (;;) { int32_t expected = state; bool waits = (state & bits) != 0;",
    "bool waits = (state & bits) != 0; for (;;) { int32_t expected = state;",
  ],
}, {
  what: "enters at the first opening of the gate",
  by: "one writes, one reads, twice, phases that wrap",
  ts: [
    "return isIn(ticket, state, gate, 2);",
    "return isIn(ticket, state, gate, 1);",
  ],
  equivalent: "the agent that owes an opening still holds `writer`, so " +
    "every pending reader waits for that opening",
}, {
  what: "a reader that gives up stays counted",
  by: "a reader that gives up",
  ts: ["const left = state - ONE_PENDING | 0;", "const left = state;"],
  c: [
    "int32_t left = weft__minus(state, WEFT_RW_LOCK_ONE_PENDING);",
    "int32_t left = state;",
  ],
}, {
  what: "a reader gives up by a store",
  by: "a reader that gives up",
  ts: [
    "return Atomics.compareExchange(this.words, STATE, state, left) === state;",
    "return Atomics.store(this.words, STATE, left) === left;",
  ],
  c: [
    "return weft__compare_exchange(&l->state, state, left) == state;",
    "weft__store(&l->state, left); return true;",
  ],
}, {
  what: "writes beside readers",
  by: "one downgrades",
  ts: ["while (readingIn(state) === 0) {", "for (;;) {", [
    "} return false; } holdOrSleep",
    "} } holdOrSleep",
  ]],
  c: ["while (weft__rw_reading_in(state) == 0) {", "for (;;) {"],
}, {
  what: "writes by a store",
  by: "a try beside a reader",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, held); " +
    "if (state === expected) return heldIn(state);",
    "Atomics.store(words, STATE, held);\nreturn heldIn(expected);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held_in(state);",
    "(void)expected; weft__store(&l->state, held); return " +
    "weft__rw_held_in(state);",
  ],
}, {
  what: "does not check whether its exchange to write succeeded",
  by: "a try beside a reader",
  ts: [
    "expected, held); if (state === expected) return heldIn(state);",
    "expected, held);\nreturn heldIn(state);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held_in(state);",
    "state = weft__compare_exchange(&l->state, expected, held); return " +
    "weft__rw_held_in(state);",
  ],
}, {
  what: "believes a hint that there are readers",
  by: "a try beside a reader",
  ts: [
    "if (readingIn(state) > 0) state = Atomics.load(words, STATE);",
    "",
  ],
  c: HINT,
}, {
  what: "writes, and forgets that readers wait",
  ts: [
    "const held = state & ~(WANTED_BIT | ASLEEP_BIT) | WRITING_BIT;",
    "const held = state & PHASE_MASK | WRITING_BIT;",
  ],
  c: [
    "int32_t held = (state & ~bits) | WEFT_RW_LOCK_WRITING_BIT;",
    "int32_t held = (state & WEFT_RW_LOCK_PHASE_MASK) | " +
    "WEFT_RW_LOCK_WRITING_BIT;",
  ],
  by: "one writes, one reads, twice, phases that wrap",
}, {
  what: "a writer does not say that it sleeps",
  by: "one downgrades",
  ts: ["const bits = WANTED_BIT | ASLEEP_BIT;", "const bits = WANTED_BIT;"],
  c: [
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "*value = weft__or",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; *value = weft__or",
  ],
}, {
  what: "a writer does not say that it wants to write",
  by: "a writer that gives up beside another",
  ts: ["const bits = WANTED_BIT | ASLEEP_BIT;", "const bits = ASLEEP_BIT;"],
  c: [
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "*value = weft__or",
    "const int32_t bits = WEFT_RW_LOCK_ASLEEP_BIT; *value = weft__or",
    ["weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);", ""],
  ],
}, {
  what: "a writer says that it sleeps by a store",
  by: "one downgrades",
  ts: [
    "const value = Atomics.or(this.words, STATE, bits) | bits;",
    "const value = Atomics.load(this.words, STATE) | bits;\n" +
    "Atomics.store(this.words, STATE, value);",
  ],
  c: [
    "*value = weft__or(&l->state, bits) | bits;",
    "*value = weft__load(&l->state) | bits; weft__store(&l->state, *value);",
  ],
}, {
  what: "a writer sleeps although nobody reads",
  by: "one downgrades",
  ts: [
    "readingIn(value) > 0 ? { index: STATE, value }",
    "true ? { index: STATE, value }",
  ],
  c: [
    "return weft__rw_reading_in(*value) > 0 ? &l->state : NULL;",
    "return &l->state;",
  ],
}, {
  what: "forgets that readers wait",
  by: "one writes, one reads",
  ts: [
    "const next = (state & kept | abandoned) + more + pending +",
    "const next = (state & kept | abandoned) + more +",
  ],
  c: [
    "weft__plus((state & kept) | abandoned, more + pending);",
    "weft__plus((state & kept) | abandoned, more);",
  ],
}, {
  what: "the phase does not change",
  by: "one writes, one reads",
  ts: ["(pending > 0 ? ONE_PHASE : 0);", "0;"],
  c: ["if (pending > 0) next = weft__plus(next, WEFT_RW_LOCK_ONE_PHASE);", ""],
}, {
  what: "forgets the readers if a writer gives up",
  by: "a writer that gives up beside another",
  ts: ["const kept = READING_MASK | PHASE_MASK |", "const kept = PHASE_MASK |"],
  c: [
    "int32_t kept = WEFT_RW_LOCK_READING_MASK | WEFT_RW_LOCK_PHASE_MASK;",
    "int32_t kept = WEFT_RW_LOCK_PHASE_MASK;",
  ],
}, {
  what: "leaves by a store",
  by: "one writes, one reads",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) open(words, within);",
    "Atomics.store(words, STATE, next | 0);\n" +
    "if (pending > 0) open(words);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (pending > 0) weft__rw_open(l);",
    "(void)expected; weft__store(&l->state, next); if (pending > 0) " +
    "weft__rw_open(l);",
  ],
}, {
  what: "opens the gate by a store",
  by: "one writes, one reads",
  ts: [
    "gate = Atomics.compareExchange(words, GATE, expected, next); " +
    "if (gate !== expected) continue;",
    "Atomics.store(words, GATE, next);",
  ],
  c: [
    "gate = weft__compare_exchange(&l->gate, expected, next); if (gate != " +
    "expected) continue;",
    "(void)expected; weft__store(&l->gate, next);",
  ],
}, {
  what: "does not check whether it opened the gate",
  by: "one writes, one reads",
  ts: ["expected, next); if (gate !== expected) continue;", "expected, next);"],
  c: [
    "gate = weft__compare_exchange(&l->gate, expected, next); if (gate != " +
    "expected) continue;",
    "gate = weft__compare_exchange(&l->gate, expected, next);",
  ],
}, {
  what: "the gate has the same value after it opened",
  by: "one writes, one reads",
  ts: [
    "const next = (gate & ~WAITING_BIT) + ONE_OPENING | 0;",
    "const next = gate & ~WAITING_BIT;",
  ],
  c: [
    "int32_t next = weft__plus(gate & ~WEFT_RW_LOCK_WAITING_BIT, " +
    "WEFT_RW_LOCK_ONE_OPENING);",
    "int32_t next = gate & ~WEFT_RW_LOCK_WAITING_BIT;",
  ],
}, {
  what: "a waiter that gives up forgets that the lock was abandoned",
  by: "a writer gives up after another was abandoned",
  ts: ["(state & WRITING_BIT ? 0 : ABANDONED_BIT);", "0;"],
  c: [
    "if ((state & WEFT_RW_LOCK_WRITING_BIT) == 0) kept |= " +
    "WEFT_RW_LOCK_ABANDONED_BIT;",
    "",
  ],
}, {
  what: "a try to read waits for the writer",
  ts: [
    "if (isBusy(state)) return false; if (readingIn",
    "if (isBusy(state)) continue;\nif (readingIn",
  ],
  c: [
    "if (weft__rw_is_busy(state)) return EBUSY; if (weft__rw_reading_in",
    "if (weft__rw_is_busy(state)) continue; if (weft__rw_reading_in",
  ],
  by: "a try to read beside a writer",
});

/** All of them. */
export const MUTANTS = [...COUNTED, ...WRITERS, ...LINE, ...TRACKED, ...ROWS];
