import { mutants } from "../_run/mutant.ts";

const HINT =
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here";

/** Mutants of readers that are counted. */
const COUNTED = mutants({
  source: "_lock/rw_lock_counted",
  header: "rw_lock",
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
  ts: ["if (pending > 0) open(words); return;", "return;"],
  c: ["if (pending > 0) weft__rw_open(l); return;", "return;"],
}, {
  what: "RW6: opens the gate before it lets readers in",
  by: "one writes, one reads",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) open(words);",
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
    "for (;;) { int32_t expected = state; bool waits = weft__rw_is_busy(state);",
    "bool waits = weft__rw_is_busy(state); for (;;) { int32_t expected = state;",
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
    "if (l->tracked != 0) return weft__rw_blocker",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; if (l->tracked != 0) return weft__rw_blocker",
  ],
}, {
  what: "a writer does not say that it wants to write",
  by: "a writer that gives up beside another",
  ts: ["const bits = WANTED_BIT | ASLEEP_BIT;", "const bits = ASLEEP_BIT;"],
  c: [
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "if (l->tracked != 0) return weft__rw_blocker",
    "const int32_t bits = WEFT_RW_LOCK_ASLEEP_BIT; if (l->tracked != 0) return weft__rw_blocker",
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
    "if (state !== expected) continue; if (pending > 0) open(words);",
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

/** Mutants of how agents wait, and how writers come and go. */
const WRITERS = mutants({
  source: "_lock/rw_lock",
  header: "rw_lock",
  scenarios: ["rw_lock"],
}, {
  what: "RW4: looks at the gate after the phase",
  by: "one writes, one reads",
  ts: [
    "const gate = Atomics.load(words, GATE); // before the look at the phase " +
    "const state = Atomics.load(words, STATE);",
    "const state = Atomics.load(words, STATE);\n" +
    "const gate = Atomics.load(words, GATE);",
  ],
  c: [
    "int32_t gate = weft__load(&l->gate); /* before it reads the phase */ " +
    "int32_t state = weft__load(&l->state);",
    "int32_t state = weft__load(&l->state); int32_t gate = " +
    "weft__load(&l->gate);",
  ],
}, {
  what: "RW8: a writer does not make way for the next one",
  by: "one writes, one reads",
  ts: [
    "this.#passOn()) return; this.#readers.leave(0, 0); this.#unlockWriter();",
    "this.#passOn()) return;\nthis.#readers.leave(0, 0);",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "weft__rw_leave(l, 0, 0); return 0;",
  ],
}, {
  what: "does not wait for a writer that waits for readers",
  by: "one writes, one reads",
  ts: [
    "const ticket = this.#readers.pend(own ? WRITING_BIT : BUSY_BITS);",
    "const ticket = this.#readers.pend(WANTED_BIT);",
  ],
  c: [
    "bool waits = weft__rw_is_busy(state);",
    "bool waits = (state & WEFT_RW_LOCK_WANTED_BIT) != 0;",
  ],
}, {
  what: "does not say that it sleeps at the gate",
  by: "one writes, one reads",
  ts: ["const waiting = gate | WAITING_BIT;", "const waiting = gate;"],
  c: [
    "int32_t waiting = gate | WEFT_RW_LOCK_WAITING_BIT;",
    "int32_t waiting = gate;",
  ],
}, {
  what: "says that it sleeps at the gate by a store",
  by: "one writes, one reads",
  ts: [
    "Atomics.compareExchange(words, GATE, gate, waiting) !== gate ) continue;",
    "Atomics.store(words, GATE, waiting) !== waiting ) continue;",
  ],
  c: [
    "weft__compare_exchange(&l->gate, gate, waiting) != gate) continue;",
    "(weft__store(&l->gate, waiting), 0)) continue;",
  ],
}, {
  what: "a reader that was let in gives up",
  by: "a reader that gives up",
  ts: [
    "if (readers.isIn(ticket, state, gate)) break;",
    "if (!last && readers.isIn(ticket, state, gate)) break;",
  ],
  c: [
    ": weft__rw_is_in(ticket, state, gate, 2))",
    ": !last && weft__rw_is_in(ticket, state, gate, 2))",
  ],
}, {
  what: "takes any change for a new phase while it spins",
  by: "a reader that looks before it sleeps",
  ts: [
    "if ((state ^ ticket.state) & PHASE_MASK) return heldIn(state);",
    "if (state !== ticket.state) return heldIn(state);",
  ],
  c: [
    "if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK) return " +
    "weft__rw_held_in(state);",
    "if (state != ticket.state) return weft__rw_held_in(state);",
  ],
}, {
  what: "a writer that gives up is still announced",
  by: "a writer that gives up",
  ts: [
    "readers.leave(0, 0); this.#unlockWriter(); return false;",
    "this.#unlockWriter(); return false;",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft_mutex_unlock(weft__rw_writer(l)); return ETIMEDOUT;",
  ],
}, {
  what: "a writer that gives up stays in line",
  by: "a writer that gives up beside another",
  ts: [
    "readers.leave(0, 0); this.#unlockWriter(); return false;",
    "readers.leave(0, 0); return false;",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft__rw_leave(l, 0, 0); return ETIMEDOUT;",
  ],
}, {
  what: "a writer that gives up leaves the line first",
  by: "a writer that gives up beside another",
  ts: [
    "readers.leave(0, 0); this.#unlockWriter(); return false;",
    "this.#unlockWriter(); readers.leave(0, 0); return false;",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft_mutex_unlock(weft__rw_writer(l)); weft__rw_leave(l, 0, 0); return " +
    "ETIMEDOUT;",
  ],
}, {
  what: "a writer leaves the line first",
  by: "two write",
  ts: [
    "this.#passOn()) return; this.#readers.leave(0, 0); this.#unlockWriter();",
    "this.#passOn()) return;\nthis.#unlockWriter();\nthis.#readers.leave(0, 0);",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "int result = weft_mutex_unlock(weft__rw_writer(l)); weft__rw_leave(l, " +
    "0, 0); return result;",
  ],
}, {
  what: "does not go on reading after it wrote",
  by: "one downgrades",
  ts: [
    "this.#readers.leave(1, 0);",
    "this.#readers.leave(0, 0);",
  ],
  c: ["weft__rw_leave(l, 1, 0);", "weft__rw_leave(l, 0, 0);"],
}, {
  what: "abandons, and lets nobody in",
  by: "one who wrote is given up",
  ts: [
    "this.#readers.leave(0, writing ? ABANDONED_BIT : 0); // The dead",
    "// The dead",
  ],
  c: [
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing;",
  ],
}, {
  what: "abandons, and does not report it",
  by: "one who wrote is given up",
  ts: [
    "this.#readers.leave(0, writing ? ABANDONED_BIT : 0);",
    "this.#readers.leave(0, 0);",
  ],
  c: [
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing; weft__rw_leave(l, 0, 0);",
  ],
}, {
  what: "abandons a waiting writer, and reports that it wrote",
  by: "a waiting writer is abandoned",
  ts: [
    "this.#readers.leave(0, writing ? ABANDONED_BIT : 0);",
    "this.#readers.leave(0, ABANDONED_BIT);",
  ],
  c: [
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing; weft__rw_leave(l, 0, WEFT_RW_LOCK_ABANDONED_BIT);",
  ],
}, {
  what: "abandons, and leaves the gate shut",
  by: "a writer is terminated beside a reader",
  ts: [
    "// The dead agent may have let agents in without opening the gate. " +
    "open(this.#words);",
    "",
  ],
  c: [
    "/* It may have let readers in without opening the gate. */ " +
    "weft__rw_open(l);",
    "",
  ],
}, {
  what: "abandons, and does not make way for the next one",
  by: "one who wrote is given up",
  ts: [
    "open(this.#words); this.#unlockWriter(); return reads",
    "open(this.#words); return reads",
  ],
  c: [
    "weft__rw_open(l); (void)weft_mutex_unlock(weft__rw_writer(l)); return " +
    "reads",
    "weft__rw_open(l); return reads",
  ],
});

/** Mutants of a lock that writers pass on. */
const LINE = mutants({
  source: "_lock/rw_lock",
  header: "rw_lock",
  scenarios: ["rw_lock"],
}, {
  what: "(K): keeps the lock for the next writer before it says so",
  by: "in line: one tries to write",
  ts: [
    "Atomics.add(words, STATE, WANTED_BIT - WRITING_BIT - abandoned); " +
    "Atomics.store(words, WRITER, KEPT); // (K)",
    "Atomics.store(words, WRITER, KEPT);\n" +
    "Atomics.add(words, STATE, WANTED_BIT - WRITING_BIT - abandoned);",
  ],
  c: [
    "weft__add(&l->state, WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT " +
    "- abandoned); weft__store(&l->writer, WEFT__MUTEX_KEPT); /* (K) */",
    "weft__store(&l->writer, WEFT__MUTEX_KEPT); weft__add(&l->state, " +
    "WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT - abandoned);",
  ],
}, {
  what: "passes the lock on by a store to its state",
  by: "in line: two write, one reads",
  ts: [
    "Atomics.add(words, STATE, WANTED_BIT - WRITING_BIT - abandoned);",
    "Atomics.store(words, STATE, words[STATE]! + WANTED_BIT - WRITING_BIT - " +
    "abandoned);",
  ],
  c: [
    "weft__add(&l->state, WEFT_RW_LOCK_WANTED_BIT - WEFT_RW_LOCK_WRITING_BIT " +
    "- abandoned);",
    "weft__store(&l->state, weft__load(&l->state) + WEFT_RW_LOCK_WANTED_BIT " +
    "- WEFT_RW_LOCK_WRITING_BIT - abandoned);",
  ],
}, {
  what: "passes the lock on without end",
  by: "in line: a reader waits for eight writers at most",
  ts: ["if (turns === 0) return false;", ""],
  c: ["if (turns == 0) return false;", ""],
}, {
  what: "passes the lock on although nobody is in line",
  by: "in line: two write",
  ts: ["if ((words[WRITER]! & CONTENDED_BIT) === 0) return false;", ""],
  equivalent: "it finds that nobody sleeps, and takes the lock again",
}, {
  what: "passes the lock on and wakes nobody",
  by: "in line: two write",
  ts: [
    "if (Atomics.notify(words, WRITER, 1) > 0) return true;",
    "return true;",
  ],
  c: ["if (weft__notify(&l->writer, 1) > 0) return true;", "return true;"],
}, {
  what: "passes the lock on to nobody",
  by: "in line: two write",
  ts: [
    "if (Atomics.notify(words, WRITER, 1) > 0) return true;",
    "Atomics.notify(words, WRITER, 1);\nreturn true;",
  ],
  c: [
    "if (weft__notify(&l->writer, 1) > 0) return true;",
    "weft__notify(&l->writer, 1); return true;",
  ],
}, {
  what: "the next writer is told again that one died",
  by: "in line: two write, and learn of a dead writer once",
  ts: [
    "const abandoned = words[STATE]! & ABANDONED_BIT; Atomics.add",
    "const abandoned = 0;\nAtomics.add",
  ],
  c: [
    "int32_t abandoned = weft__hint(&l->state) & WEFT_RW_LOCK_ABANDONED_BIT; " +
    "weft__add",
    "int32_t abandoned = 0; weft__add",
  ],
}, {
  what: "a writer gives up when the lock was passed on to it",
  by: "in line: a writer that awaits gives up",
  ts: [
    "this.#takeBack(); // the lock may have been passed on to this writer",
    "",
  ],
  c: "An agent of C does not await, so it takes a lock that it was woken for",
}, {
  what: "abandons, and leaves a lock that was passed on",
  by: "in line: two write, one is terminated",
  ts: [
    "this.#takeBack(); // the lock may have been passed on to the dead agent",
    "",
  ],
  c: [
    "weft__rw_take_back(l); /* it may have been passed on to the dead agent */",
    "",
  ],
}, {
  what: "lets readers in beside a writer that has come",
  by: "in line: the next writer is dead, one tries to write",
  ts: [
    "if (tryLock(this.#writer, this.#id) === false) return; this.#readers.leave",
    "this.#readers.leave",
  ],
  c: [
    "if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return; weft__rw_leave",
    "weft__rw_leave",
  ],
});

/** Mutants of a lock that tracks its readers. */
const TRACKED = mutants({
  source: "_lock/rw_lock_tracked",
  header: "rw_lock",
  scenarios: ["rw_lock"],
}, {
  what: "(R): a reader looks for a writer before it notes that it reads",
  by: "tracked: tries to read and to write",
  ts: [
    "Atomics.store(words, at, words[at]! + 1); " +
    "const state = Atomics.load(words, STATE);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, at, words[at]! + 1);",
  ],
  c: [
    "weft__store(&row->reads, weft__plus(weft__hint(&row->reads), 1)); " +
    "int32_t state = weft__load(&l->state);",
    "int32_t state = weft__load(&l->state); " +
    "weft__store(&row->reads, weft__plus(weft__hint(&row->reads), 1));",
  ],
}, {
  what: "(R): a reader that began to wait does not look again",
  by: "tracked: a dead writer is recovered, one writes, one reads",
  ts: [
    "if ((Atomics.load(words, STATE) & bits) === 0) return undefined;",
    "return undefined;",
  ],
  c: [
    "if (!weft__rw_is_busy(weft__load(&l->state))) return 0; " +
    "weft__rw_add",
    "return 0; weft__rw_add",
  ],
}, {
  what: "(V): a writer looks for readers before it announces itself",
  by: "tracked: tries to read and to write",
  ts: [
    "if ((state & bits) !== bits) Atomics.store(words, STATE, state | bits); " +
    "if (this.#rows.blocking(words[GATE]!) >= 0) return false;",
    "if (this.#rows.blocking(words[GATE]!) >= 0) {\n" +
    "Atomics.store(words, STATE, state | bits);\nreturn false;\n}",
  ],
  c: [
    "if ((state & bits) != bits) weft__store(&l->state, state | bits); if " +
    "(weft__reader_blocking(&rows, weft__hint(&l->gate)) != NULL) return EBUSY;",
    "if (weft__reader_blocking(&rows, weft__hint(&l->gate)) != NULL) { " +
    "weft__store(&l->state, state | bits); return EBUSY; }",
  ],
}, {
  what: "(P): a reader waits for the end of a phase that is over",
  by: "tracked: one ends writing and tries again, one reads",
  ts: [
    "if (((Atomics.load(words, GATE) ^ gate) & ~WAITING_BIT) === 0) {",
    "if (true) {",
  ],
  c: [
    "if (((gate ^ ticket->gate) & ~WEFT_RW_LOCK_WAITING_BIT) == 0)",
    "if (gate != gate + 1)",
  ],
}, {
  what: "(H): two recover a reader at once",
  by: "tracked: two recover a reader, and one reads",
  ts: [
    "if (Atomics.compareExchange(words, at, id, this.#id) !== id) continue;",
    "if (Atomics.load(words, at) !== id) continue;",
  ],
  c: [
    "if (weft__compare_exchange(&row->agent, id, weft_agent_id()) != id) " +
    "continue;",
    "if (weft__load(&row->agent) != id) continue;",
  ],
}, {
  what: "a reader that met a writer goes on reading",
  by: "tracked: tries to read and to write",
  ts: [
    "if (!isBusy(state)) return heldIn(state); this.#addReads(at, -1);",
    "if (!isBusy(state)) return heldIn(state);",
  ],
  c: [
    "return weft__rw_held_in(state); weft__rw_add_reads(l, row, -1);",
    "return weft__rw_held_in(state);",
  ],
}, {
  what: "a tracked reader does not wake the writer",
  by: "tracked: one writes, one reads",
  ts: ["if (n < 0) this.#wakeWriter(at);", ""],
  c: ["if (n < 0) weft__rw_wake_writer(l, &row->reads);", ""],
}, {
  what: "opens the gate before it ends the phase",
  by: "tracked: one writes, one reads",
  ts: [
    "Atomics.store(words, STATE, kept | abandoned); open(words);",
    "open(words);\nAtomics.store(words, STATE, kept | abandoned);",
  ],
  c: [
    "weft__store(&l->state, kept | abandoned); weft__rw_open(l);",
    "weft__rw_open(l); weft__store(&l->state, kept | abandoned);",
  ],
}, {
  what: "ends the phase and does not open the gate",
  by: "tracked: one writes, one reads",
  ts: ["kept | abandoned); open(words);", "kept | abandoned);"],
  c: [
    "weft__store(&l->state, kept | abandoned); weft__rw_open(l);",
    "weft__store(&l->state, kept | abandoned);",
  ],
}, {
  what: "a writer does not say that it sleeps in a row",
  by: "tracked: one writes, one reads",
  ts: [
    "return this.#hold(WANTED_BIT | ASLEEP_BIT);",
    "return this.#hold(WANTED_BIT);",
  ],
  c: [
    "l, WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT);",
    "l, WEFT_RW_LOCK_WANTED_BIT);",
  ],
}, {
  what: "a writer sleeps in a row whose agent reads no more",
  by: "tracked: one writes, one reads",
  ts: [
    "return readingOf(value, gate) > 0 ? { index, value } : undefined;",
    "return { index, value };",
  ],
  c: [
    "return weft__reading_of(*value, gate) > 0 ? &row->reads : NULL;",
    "return &row->reads;",
  ],
}, {
  what: "a reader that was let in stays pending",
  by: "tracked: one writes, one reads",
  ts: ["this.#settle(this.#rows.mine, gate);", ""],
  c: ["if (row != NULL) weft__rw_settle(row, gate);", ""],
}, {
  what: "a tracked reader that gives up stays pending",
  by: "tracked: a reader that gives up",
  ts: [
    "this.#addReads(this.#rows.mine, -ONE_PENDING); return true;",
    "return true;",
  ],
  c: [
    "if (row != NULL) weft__rw_add_reads(l, row, -WEFT__ONE_PENDING);",
    "(void)row;",
  ],
}, {
  what: "a tracked writer that goes on reading does not note it",
  by: "tracked: one downgrades",
  ts: ["this.#addReads(this.#rows.room(), 1);", ""],
  c: ["weft__rw_add_reads(l, row, 1);", ""],
}, {
  what: "a try to write that fails keeps readers out",
  by: "tracked: tries to read and to write",
  ts: [
    "if (outcome === false) this.leave(0, 0); return outcome;",
    "return outcome;",
  ],
  c: ["if (result == EBUSY) weft__rw_leave(l, 0, 0);", ""],
}, {
  what: "recovers a reader and does not wake the writer",
  by: "tracked: a dead reader is recovered beside a writer",
  ts: ["this.#wakeWriter(at + READS);", ""],
  c: [
    "weft__rw_wake_writer(l, &row->reads); weft__store(&row->agent, 0);",
    "weft__store(&row->agent, 0);",
  ],
}, {
  what: "frees the row of a reader before it is clear",
  by: "tracked: two recover a reader, and one reads",
  ts: [
    "sum += readingOf(Atomics.exchange",
    "Atomics.store(words, at, 0);\nsum += readingOf(Atomics.exchange",
  ],
  c: [
    "sum += weft__reading_of(weft__exchange",
    "weft__store(&row->agent, 0); sum += weft__reading_of(weft__exchange",
  ],
});

/** Mutants of the rows of readers. */
const ROWS = mutants({ source: "_lock/readers", scenarios: ["rw_lock"] }, {
  what: "whoever waits to read counts as reading",
  by: "tracked: one writes, one reads",
  ts: ["(isIn(reads, gate) ? pending : 0)", "pending"],
  c: ["(weft__reader_is_in(reads, gate) ? pending : 0)", "pending"],
}, {
  what: "whoever was let in does not count as reading",
  by: "tracked: one ends writing and tries again, one reads",
  ts: ["(isIn(reads, gate) ? pending : 0)", "0"],
  c: ["(weft__reader_is_in(reads, gate) ? pending : 0)", "(0 & pending)"],
});

/** All of them. */
export const MUTANTS = [...COUNTED, ...WRITERS, ...LINE, ...TRACKED, ...ROWS];
