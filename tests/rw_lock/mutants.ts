import { mutants, none } from "../_run/mutant.ts";

import { LINE, WRITERS } from "./mutants_writers.ts";
import { ROWS, TRACKED } from "./mutants_tracked.ts";

const HINT = none(
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
);

/** Mutants of readers that are counted. */
const COUNTED = mutants({
  source: "_lock/rw_lock_counted",
  scenarios: ["rw_lock"],
}, {
  what: "RW1: a reader enters by an addition",
  by: "a try beside a reader",
  ts: "[-const expected = state; state = -]{+return " +
    "heldIn(+}Atomics.[-compareExchange-]{+add+}(words, STATE, [-expected, " +
    "expected + 1); if (state === expected) return heldIn(state-]{+1)+});",
  c: "[-int32_t expected = state; state = weft__compare_exchange(&l->state, " +
    "expected, expected + 1); if (state == expected) return " +
    "weft__rw_held_in(state);-]{+return " +
    "weft__rw_held_in(weft__add(&l->state, 1));+}",
}, {
  what: "RW2: the last reader does not wake the writer",
  by: "one downgrades",
  ts: "[-if (isLastOfAwaited(state)) Atomics.notify(words, STATE, " +
    "1);-]{+void state;+}",
  c: "[-if (weft__rw_is_last_of_awaited(state)) weft__notify(&l->state, " +
    "1);-]{+(void)state;+}",
}, {
  what: "RW3: a writer wakes one reader",
  ts: "if (gate & WAITING_BIT) Atomics.notify(words, GATE{+, 1+});",
  c: "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, " +
    "[-WEFT__ALL-]{+1+});",
  by: "a writer wakes two",
}, {
  what: "RW5: a writer does not wake readers",
  by: "one writes, one reads",
  ts: "[-if (gate & WAITING_BIT) Atomics.notify(words, GATE);-]",
  c: "[-if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, " +
    "WEFT__ALL);-]",
}, {
  what: "RW5: a writer does not open the gate",
  by: "one writes, one reads",
  ts: "[-if (pending > 0) open(words, within); -]return;",
  c: "[-if (pending > 0) weft__rw_open(l); -]return;",
}, {
  what: "RW6: opens the gate before it lets readers in",
  by: "one writes, one reads",
  ts: "{+if (pending > 0) open(words); +}state = " +
    "Atomics.compareExchange(words, STATE, expected, next | 0); if (state " +
    "!== expected) continue;[- if (pending > 0) open(words, within);-]",
  c: "{+if (pending > 0) weft__rw_open(l); +}state = " +
    "weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue;[- if (pending > 0) weft__rw_open(l);-]",
}, {
  what: "the last reader looks for a writer once it has left",
  by: "a reader leaves, and a writer frees the lock",
  ts: "[-const state = -]Atomics.sub(words, STATE, 1);{+ const state = " +
    "Atomics.load(words, STATE) + 1;+}",
  c: "[-int32_t state = -]weft__add(&l->state, -1);{+ int32_t state = " +
    "weft__load(&l->state) + 1;+}",
}, {
  what: "RW7: the last reader but one wakes the writer",
  by: "one downgrades",
  ts: "([-1-]{+2+} | WANTED_BIT | ASLEEP_BIT);",
  c: "== ([-1-]{+2+} | bits);",
}, {
  what: "a reader enters beside a writer",
  by: "one writes, one reads",
  ts: "(state & [-BUSY_BITS-]{+WANTED_BIT+}) !== 0;",
  c: "return (state & [-WEFT__RW_BUSY_BITS-]{+WEFT_RW_LOCK_WANTED_BIT+}) != 0;",
}, {
  what: "believes a hint that there is a writer",
  by: "a try to read beside a writer",
  ts: "[-state = Atomics.load(words, STATE); -]if (isBusy(state)) return " +
    "false; if (readingIn",
  c: HINT,
}, {
  what: "does not check whether its exchange to enter succeeded",
  by: "one writes, two read",
  ts: "expected + 1); [-if (state === expected) -]return heldIn(state);",
  c: "state = weft__compare_exchange(&l->state, expected, expected + 1); " +
    "[-if (state == expected) -]return weft__rw_held_in(state);",
}, {
  what: "a reader leaves by a load and a store",
  by: "one writes, two read",
  ts: "const state = Atomics.[-sub-]{+load(words, STATE); " +
    "Atomics.store+}(words, STATE, {+state - +}1);",
  c: "int32_t state = [-weft__add(&l->state, --]{+weft__load(&l->state); " +
    "weft__store(&l->state, state - +}1);",
}, {
  what: "begins to wait by a store",
  by: "one writes, one reads",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, next | 0); if (state !== expected) continue; -]{+state = " +
    "next | 0); +}return waits",
  c: "[-state = weft__compare_exchange(&l->state, expected, next); if (state " +
    "!= expected) continue; if (!waits) return 0;-]{+(void)expected; " +
    "weft__store(&l->state, state = next); if (!waits) return 0;+}",
}, {
  what: "waits for a writer that has already left",
  by: "one writes, one reads",
  ts: "[-for (;;) { const expected = state; -]const waits = (state & bits) " +
    "!== 0;{+ for (;;) { const expected = state;+}",
  c: "[-for (;;) { int32_t expected = state; -]bool waits = (state & bits) " +
    "!= 0;{+ for (;;) { int32_t expected = state;+}",
}, {
  what: "enters at the first opening of the gate",
  by: "one writes, one reads, twice, phases that wrap",
  ts: "return isIn(ticket, state, gate, [-2-]{+1+});",
  equivalent: "the agent that owes an opening still holds `writer`, so " +
    "every pending reader waits for that opening",
}, {
  what: "a reader that gives up stays counted",
  by: "a reader that gives up",
  ts: "const left = state[- - ONE_PENDING | 0-];",
  c: "int32_t left = [-weft__minus(state, " +
    "WEFT_RW_LOCK_ONE_PENDING)-]{+state+};",
}, {
  what: "a reader gives up by a store",
  by: "a reader that gives up",
  ts: "return Atomics.[-compareExchange-]{+store+}(this.words, STATE, " +
    "[-state, left) === state-]{+left) === left+};",
  c: "[-return weft__compare_exchange(&l->state, state, left) == " +
    "state;-]{+weft__store(&l->state, left); return true;+}",
}, {
  what: "writes beside readers",
  by: "one downgrades",
  ts: [
    "[-while (readingIn(state) === 0) {-]{+for (;;) {+}",
    "}[- return false;-] } holdOrSleep",
  ],
  c: "[-while (weft__rw_reading_in(state) == 0) {-]{+for (;;) {+}",
}, {
  what: "writes by a store",
  by: "a try beside a reader",
  ts: "[-state = Atomics.compareExchange(words, STATE, expected, held); if " +
    "(state === expected) return heldIn(state-]{+Atomics.store(words, STATE, " +
    "held); return heldIn(expected+});",
  c: "[-state = weft__compare_exchange(&l->state, expected, held); if (state " +
    "== expected)-]{+(void)expected; weft__store(&l->state, held);+} return " +
    "weft__rw_held_in(state);",
}, {
  what: "does not check whether its exchange to write succeeded",
  by: "a try beside a reader",
  ts: "expected, held);[- if (state === expected)-] return heldIn(state);",
  c: "state = weft__compare_exchange(&l->state, expected, held); [-if (state " +
    "== expected) -]return weft__rw_held_in(state);",
}, {
  what: "believes a hint that there are readers",
  by: "a try beside a reader",
  ts: "[-if (readingIn(state) > 0) state = Atomics.load(words, STATE);-]",
  c: HINT,
}, {
  what: "writes, and forgets that readers wait",
  ts: "const held = state & [-~(WANTED_BIT | ASLEEP_BIT)-]{+PHASE_MASK+} | " +
    "WRITING_BIT;",
  c: "int32_t held = (state & [-~bits-]{+WEFT_RW_LOCK_PHASE_MASK+}) | " +
    "WEFT_RW_LOCK_WRITING_BIT;",
  by: "one writes, one reads, twice, phases that wrap",
}, {
  what: "a writer does not say that it sleeps",
  by: "one downgrades",
  ts: "const bits = WANTED_BIT[- | ASLEEP_BIT-];",
  c: "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT[- | " +
    "WEFT_RW_LOCK_ASLEEP_BIT-]; *value = weft__or",
}, {
  what: "a writer does not say that it wants to write",
  by: "a writer that gives up beside another",
  ts: "const bits = [-WANTED_BIT | -]ASLEEP_BIT;",
  c: [
    "const int32_t bits =[- WEFT_RW_LOCK_WANTED_BIT |-] " +
    "WEFT_RW_LOCK_ASLEEP_BIT; *value = weft__or",
    "[-weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);-]",
  ],
}, {
  what: "a writer says that it sleeps by a store",
  by: "one downgrades",
  ts: "const value = Atomics.[-or-]{+load(this.words, STATE) | bits; " +
    "Atomics.store+}(this.words, STATE, [-bits) | bits-]{+value)+};",
  c: "[-*value = weft__or(&l->state, bits) | bits;-]{+*value = " +
    "weft__load(&l->state) | bits; weft__store(&l->state, *value);+}",
}, {
  what: "a writer sleeps although nobody reads",
  by: "one downgrades",
  ts: "[-readingIn(value) > 0-]{+true+} ? { index: STATE, value }",
  c: "return[- weft__rw_reading_in(*value) > 0 ? &l->state : NULL-]{+ " +
    "&l->state+};",
}, {
  what: "forgets that readers wait",
  by: "one writes, one reads",
  ts: "const next = (state & kept | abandoned) + more +[- pending +-]",
  c: "weft__plus((state & kept) | abandoned, more[- + pending-]);",
}, {
  what: "the phase does not change",
  by: "one writes, one reads",
  ts: "[-(pending > 0 ? ONE_PHASE : 0)-]{+0+};",
  c: "[-if (pending > 0) next = weft__plus(next, WEFT_RW_LOCK_ONE_PHASE);-]",
}, {
  what: "forgets the readers if a writer gives up",
  by: "a writer that gives up beside another",
  ts: "const kept = [-READING_MASK | -]PHASE_MASK |",
  c: "int32_t kept = [-WEFT_RW_LOCK_READING_MASK | -]WEFT_RW_LOCK_PHASE_MASK;",
}, {
  what: "leaves by a store",
  by: "one writes, one reads",
  ts: "[-state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) open(words, " +
    "within-]{+Atomics.store(words, STATE, next | 0); if (pending > 0) " +
    "open(words+});",
  c: "[-state = weft__compare_exchange(&l->state, expected, next); if (state " +
    "!= expected) continue-]{+(void)expected; weft__store(&l->state, " +
    "next)+}; if (pending > 0) weft__rw_open(l);",
}, {
  what: "opens the gate by a store",
  by: "one writes, one reads",
  ts: "[-gate = -]Atomics.[-compareExchange-]{+store+}(words, GATE, " +
    "[-expected, next); if (gate !== expected) continue;-]{+next);+}",
  c: "[-gate = weft__compare_exchange(&l->gate, expected, next); if (gate != " +
    "expected) continue;-]{+(void)expected; weft__store(&l->gate, next);+}",
}, {
  what: "does not check whether it opened the gate",
  by: "one writes, one reads",
  ts: "expected, next);[- if (gate !== expected) continue;-]",
  c: "gate = weft__compare_exchange(&l->gate, expected, next);[- if (gate != " +
    "expected) continue;-]",
}, {
  what: "the gate has the same value after it opened",
  by: "one writes, one reads",
  ts: "const next = [-(-]gate & ~WAITING_BIT[-) + ONE_OPENING | 0-];",
  c: "int32_t next = [-weft__plus(-]gate & ~WEFT_RW_LOCK_WAITING_BIT[-, " +
    "WEFT_RW_LOCK_ONE_OPENING)-];",
}, {
  what: "a waiter that gives up forgets that the lock was abandoned",
  by: "a writer gives up after another was abandoned",
  ts: "[-(state & WRITING_BIT ? 0 : ABANDONED_BIT)-]{+0+};",
  c: "[-if ((state & WEFT_RW_LOCK_WRITING_BIT) == 0) kept |= " +
    "WEFT_RW_LOCK_ABANDONED_BIT;-]",
}, {
  what: "a try to read waits for the writer",
  ts: "if (isBusy(state)) [-return false-]{+continue+}; if (readingIn",
  c: "if (weft__rw_is_busy(state)) [-return EBUSY-]{+continue+}; if " +
    "(weft__rw_reading_in",
  by: "a try to read beside a writer",
});

/** All of them. */
export const MUTANTS = [...COUNTED, ...WRITERS, ...LINE, ...TRACKED, ...ROWS];
