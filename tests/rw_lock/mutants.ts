import { mutants } from "../_run/mutant.ts";

const HINT =
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here";

/** Mutants of a lock that tracks nobody. */
const PLAIN = mutants("rw_lock", {
  what: "RW1: a reader enters by an addition",
  by: "a try beside a reader",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, state + 1); " +
    "if (state === expected) return this.#readGuard(state);",
    "return this.#readGuard(Atomics.add(words, STATE, 1));",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, state + 1); if " +
    "(state == expected) return weft__rw_held(state);",
    "return weft__rw_held(weft__add(&l->state, 1));",
  ],
}, {
  what: "RW2: the last reader does not wake the writer",
  by: "one downgrades",
  ts: [
    "if ((state & (READING_MASK | WANTED_BIT | ASLEEP_BIT)) === last) { " +
    "Atomics.notify(words, STATE, 1); }",
    "",
  ],
  c: [
    "if ((state & (WEFT_RW_LOCK_READING_MASK | bits)) == (1 | bits)) " +
    "weft__notify(&l->state, 1);",
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
  ts: ["if (pending > 0) this.#open(); return;", "return;"],
  c: ["if (pending > 0) weft__rw_open(l); return;", "return;"],
}, {
  what: "RW6: opens the gate before it lets readers in",
  by: "one writes, one reads",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) this.#open();",
    "if (pending > 0) this.#open();\n" +
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
  what: "RW7: the last reader but one wakes the writer",
  by: "one downgrades",
  ts: [
    "const last = 1 | WANTED_BIT | ASLEEP_BIT;",
    "const last = 2 | WANTED_BIT | ASLEEP_BIT;",
  ],
  c: ["== (1 | bits)) weft__notify", "== (2 | bits)) weft__notify"],
}, {
  what: "RW8: a writer does not make way for the next one",
  by: "one writes, one reads",
  ts: [
    "this.#passOn()) return; this.#leave(0, 0); this.#unlockWriter();",
    "this.#passOn()) return;\nthis.#leave(0, 0);",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "weft__rw_leave(l, 0, 0); return 0;",
  ],
}, {
  what: "a reader enters beside a writer",
  by: "one writes, one reads",
  ts: [
    "if (state & BUSY_BITS) { state = Atomics.load(words, STATE);",
    "if (state & WANTED_BIT) {\nstate = Atomics.load(words, STATE);",
  ],
  c: [
    "if (state & bits) { state = weft__load(&l->state);",
    "if (state & WEFT_RW_LOCK_WANTED_BIT) { state = weft__load(&l->state);",
  ],
}, {
  what: "believes a hint that there is a writer",
  by: "a try to read beside a writer",
  ts: [
    "if (state & BUSY_BITS) return undefined; continue;",
    "return undefined;",
  ],
  c: HINT,
}, {
  what: "does not check whether its exchange to enter succeeded",
  by: "one writes, two read",
  ts: [
    "if (state === expected) return this.#readGuard(state);",
    "return this.#readGuard(state);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, state + 1); if " +
    "(state == expected) return weft__rw_held(state);",
    "state = weft__compare_exchange(&l->state, expected, state + 1); return " +
    "weft__rw_held(state);",
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
  what: "does not wait for a writer that waits for readers",
  by: "one writes, one reads",
  ts: [
    "const ticket = this.#pend(own ? WRITING_BIT : BUSY_BITS);",
    "const ticket = this.#pend(WANTED_BIT);",
  ],
  c: [
    "const int32_t bits = WEFT__RW_BUSY_BITS; if (l->tracked != 0) return " +
    "weft__rw_pend",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; if (l->tracked != 0) " +
    "return weft__rw_pend",
  ],
}, {
  what: "enters at the first opening of the gate",
  ts: ["rows === undefined ? 2 : 1)", "1)"],
  equivalent: "the agent that owes an opening still holds `writer`, so " +
    "every pending reader waits for that opening",
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
    "const seen = Atomics.compareExchange(words, STATE, state, left); " +
    "if (seen === state) return false; continue;",
    "Atomics.store(words, STATE, left); return false;",
  ],
  c: [
    "if (weft__compare_exchange(&l->state, state, left) == state) return " +
    "ETIMEDOUT; continue;",
    "weft__store(&l->state, left); return ETIMEDOUT;",
  ],
}, {
  what: "a reader that was let in gives up",
  by: "a reader that gives up",
  ts: [
    "if (isIn(ticket, state, gate,",
    "if (!last && isIn(ticket, state, gate,",
  ],
  c: [
    "if (weft__rw_is_in(ticket, state, gate,",
    "if (!last && weft__rw_is_in(ticket, state, gate,",
  ],
}, {
  what: "takes any change for a new phase while it spins",
  by: "a reader that looks before it sleeps",
  ts: [
    "if ((state ^ ticket.state) & PHASE_MASK) return this.#readGuard(state);",
    "if (state !== ticket.state) return this.#readGuard(state);",
  ],
  c: [
    "if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK) return " +
    "weft__rw_held(state);",
    "if (state != ticket.state) return weft__rw_held(state);",
  ],
}, {
  what: "writes beside readers",
  by: "one downgrades",
  ts: ["while ((state & READING_MASK) === 0) {", "for (;;) {", [
    "return false; } /** Waits for other writers",
    "} /** Waits",
  ]],
  c: ["while ((state & WEFT_RW_LOCK_READING_MASK) == 0) {", "for (;;) {"],
}, {
  what: "writes by a store",
  by: "a try beside a reader",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, held); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, held);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held(state);",
    "(void)expected; weft__store(&l->state, held); return " +
    "weft__rw_held(state);",
  ],
}, {
  what: "does not check whether its exchange to write succeeded",
  by: "a try beside a reader",
  ts: [
    "expected, held); if (state !== expected) continue;",
    "expected, held);",
  ],
  c: [
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held(state);",
    "state = weft__compare_exchange(&l->state, expected, held); return " +
    "weft__rw_held(state);",
  ],
}, {
  what: "believes a hint that there are readers",
  by: "a try beside a reader",
  ts: [
    "if (state & READING_MASK) state = Atomics.load(words, STATE); while",
    "while",
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
    "int64_t begin",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; int64_t begin",
  ],
}, {
  what: "a writer does not say that it wants to write",
  by: "a writer that gives up beside another",
  ts: ["const bits = WANTED_BIT | ASLEEP_BIT;", "const bits = ASLEEP_BIT;"],
  c: [
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "int64_t begin",
    "const int32_t bits = WEFT_RW_LOCK_ASLEEP_BIT; int64_t begin",
    ["weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);", ""],
  ],
}, {
  what: "a writer says that it sleeps by a store",
  by: "one downgrades",
  ts: [
    "value = Atomics.or(words, STATE, bits) | bits;",
    "value = Atomics.load(words, STATE) | bits;\n" +
    "Atomics.store(words, STATE, value);",
  ],
  c: [
    "value = weft__or(at, bits) | bits;",
    "value = weft__load(at) | bits; weft__store(at, value);",
  ],
}, {
  what: "a writer sleeps although nobody reads",
  by: "one downgrades",
  ts: ["if ((value & READING_MASK) === 0) continue;", ""],
  c: ["if ((value & WEFT_RW_LOCK_READING_MASK) == 0) continue;", ""],
}, {
  what: "a writer that gives up is still announced",
  by: "a writer that gives up",
  ts: [
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
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
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
    "this.#leave(0, 0); return false;",
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
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
    "this.#unlockWriter(); this.#leave(0, 0); return false;",
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
    "this.#passOn()) return; this.#leave(0, 0); this.#unlockWriter();",
    "this.#passOn()) return;\nthis.#unlockWriter();\nthis.#leave(0, 0);",
  ],
  c: [
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "int result = weft_mutex_unlock(weft__rw_writer(l)); weft__rw_leave(l, " +
    "0, 0); return result;",
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
    "if (state !== expected) continue; if (pending > 0) this.#open();",
    "Atomics.store(words, STATE, next | 0);\n" +
    "if (pending > 0) this.#open();",
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
  what: "does not go on reading after it wrote",
  by: "one downgrades",
  ts: [
    "this.#leave(1, 0);",
    "this.#leave(0, 0);",
  ],
  c: ["weft__rw_leave(l, 1, 0);", "weft__rw_leave(l, 0, 0);"],
}, {
  what: "abandons, and lets nobody in",
  by: "one who wrote is given up",
  ts: [
    "this.#leave(0, writing ? ABANDONED_BIT : 0); // The dead",
    "// The dead",
  ],
  c: [
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing;",
  ],
}, {
  what: "abandons, and does not report it",
  by: "one who wrote is given up",
  ts: ["this.#leave(0, writing ? ABANDONED_BIT : 0);", "this.#leave(0, 0);"],
  c: [
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing; weft__rw_leave(l, 0, 0);",
  ],
}, {
  what: "abandons a waiting writer, and reports that it wrote",
  by: "a waiting writer is abandoned",
  ts: [
    "this.#leave(0, writing ? ABANDONED_BIT : 0);",
    "this.#leave(0, ABANDONED_BIT);",
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
    "this.#open();",
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
    "this.#open(); this.#unlockWriter(); return reads",
    "this.#open(); return reads",
  ],
  c: [
    "weft__rw_open(l); (void)weft_mutex_unlock(weft__rw_writer(l)); return " +
    "reads",
    "weft__rw_open(l); return reads",
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
    "if (state & BUSY_BITS) return undefined; continue;",
    "if (state & BUSY_BITS) continue;",
  ],
  c: ["if (state & bits) return EBUSY; continue;", "continue;"],
  by: "a try to read beside a writer",
});

/** Mutants of a lock that writers pass on. */
const LINE = mutants("rw_lock", {
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
    "if (tryLock(this.#writer, this.#id) === false) return; this.#leave",
    "this.#leave",
  ],
  c: [
    "if (weft_mutex_try_lock(weft__rw_writer(l)) == EBUSY) return; weft__rw_leave",
    "weft__rw_leave",
  ],
});

/** Mutants of a lock that tracks its readers. */
const TRACKED = mutants("rw_lock", {
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
    "if ((weft__load(&l->state) & WEFT__RW_BUSY_BITS) == 0) return 0; " +
    "weft__rw_add",
    "return 0; weft__rw_add",
  ],
}, {
  what: "(V): a writer looks for readers before it announces itself",
  by: "tracked: tries to read and to write",
  ts: [
    "if ((state & bits) !== bits) Atomics.store(words, STATE, state | bits); " +
    "if (rows.blocking(words[GATE]!) >= 0) return false;",
    "if (rows.blocking(words[GATE]!) >= 0) {\n" +
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
    "if ((state & BUSY_BITS) === 0) return this.#readGuard(state); " +
    "this.#addReads(at, -1);",
    "if ((state & BUSY_BITS) === 0) return this.#readGuard(state);",
  ],
  c: [
    "return weft__rw_held(state); weft__rw_add_reads(l, row, -1);",
    "return weft__rw_held(state);",
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
    "Atomics.store(words, STATE, kept | abandoned); return this.#open();",
    "this.#open();\nAtomics.store(words, STATE, kept | abandoned);\nreturn;",
  ],
  c: [
    "weft__store(&l->state, kept | abandoned); weft__rw_open(l); return;",
    "weft__rw_open(l); weft__store(&l->state, kept | abandoned); return;",
  ],
}, {
  what: "ends the phase and does not open the gate",
  by: "tracked: one writes, one reads",
  ts: ["return this.#open();", "return;"],
  c: [
    "weft__store(&l->state, kept | abandoned); weft__rw_open(l); return;",
    "weft__store(&l->state, kept | abandoned); return;",
  ],
}, {
  what: "a writer does not say that it sleeps in a row",
  by: "tracked: one writes, one reads",
  ts: [
    "this.#holdTracked(rows, bits);",
    "this.#holdTracked(rows, WANTED_BIT);",
  ],
  c: [
    "weft__rw_hold_tracked(l, bits);",
    "weft__rw_hold_tracked(l, WEFT_RW_LOCK_WANTED_BIT);",
  ],
}, {
  what: "a writer sleeps in a row whose agent reads no more",
  by: "tracked: one writes, one reads",
  ts: ["if (readingOf(value, gate) === 0) continue;", ""],
  c: ["if (weft__reading_of(value, gate) == 0) continue;", ""],
}, {
  what: "a reader that was let in stays pending",
  by: "tracked: one writes, one reads",
  ts: ["if (rows !== undefined) this.#settle(rows.mine, gate);", ""],
  c: ["if (row != NULL) weft__rw_settle(row, gate);", ""],
}, {
  what: "a tracked reader that gives up stays pending",
  by: "tracked: a reader that gives up",
  ts: ["this.#addReads(rows.mine, -ONE_WAIT); return false;", "return false;"],
  c: [
    "weft__rw_add_reads(l, row, -WEFT__ONE_PENDING); return ETIMEDOUT;",
    "return ETIMEDOUT;",
  ],
}, {
  what: "a tracked writer that goes on reading does not note it",
  by: "tracked: one downgrades",
  ts: ["if (rows !== undefined) this.#addReads(rows.room(), 1);", ""],
  c: ["weft__rw_add_reads(l, row, 1);", ""],
}, {
  what: "a try to write that fails keeps readers out",
  by: "tracked: tries to read and to write",
  ts: [
    "if (outcome === false) this.#leave(0, 0); return outcome;",
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
const ROWS = mutants({ source: "_memory/readers", scenarios: ["rw_lock"] }, {
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
export const MUTANTS = [...PLAIN, ...LINE, ...TRACKED, ...ROWS];
