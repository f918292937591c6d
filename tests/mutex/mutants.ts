import { mutants } from "../_run/mutant.ts";

export const MUTANTS = mutants("mutex", {
  what:
    "MX1: a woken sleeper takes the lock without the mark CONTENDED for the others",
  ts: [
    "const taken = id | (state & CONTENDED_BIT) | contended;",
    "const taken = id | (state & CONTENDED_BIT);",
  ],
  c: [
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT) | contended;",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT);",
  ],
  by: "two wait for one that holds it",
}, {
  what: "MX2: sleeps without marking the lock contended",
  ts: ["if ((state & CONTENDED_BIT) === 0) {", "if (false) {"],
  c: ["if ((state & WEFT_MUTEX_CONTENDED_BIT) == 0) {", "if (0) {"],
}, {
  what: "MX3: notifies before it frees",
  ts: [
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.notify(words, STATE, 1); Atomics.store(words, STATE, UNLOCKED);",
  ],
  c: [
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__notify(&m->state, 1); weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
}, {
  what: "MX4: never notifies",
  ts: [
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.store(words, STATE, UNLOCKED);",
  ],
  c: [
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
}, {
  what: "MX5: unlocks by load and store",
  ts: [
    "const state = Atomics.compareExchange(words, STATE, id, UNLOCKED);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === id) Atomics.store(words, STATE, UNLOCKED);",
  ],
  c: [
    "int32_t state = weft__compare_exchange(&m->state, id, " +
    "WEFT_MUTEX_UNLOCKED);",
    "int32_t state = weft__load(&m->state); if (state == id) " +
    "weft__store(&m->state, 0);",
  ],
}, {
  what: "MX6: the contended unlock forgets to free",
  ts: [
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.notify(words, STATE, 1);",
  ],
  c: [
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__notify(&m->state, 1);",
  ],
}, {
  what: "MX7: locks by a test and a store",
  ts: [
    "const state = Atomics.compareExchange(words, STATE, UNLOCKED, this.#id);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === UNLOCKED) Atomics.store(words, STATE, this.#id);",
  ],
  c: [
    "if (!weft__may_block()) return EPERM; int32_t id = weft_agent_id(); " +
    "int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, " +
    "id);",
    "int32_t id = weft_agent_id(); int32_t state = weft__load(&m->state); if " +
    "(state == 0) weft__store(&m->state, id);",
  ],
}, {
  what: "MX7: tryLock locks by a test and a store",
  ts: [
    "let state = Atomics.compareExchange(words, STATE, UNLOCKED, id);",
    "let state = Atomics.load(words, STATE);\n" +
    "if (state === UNLOCKED) Atomics.store(words, STATE, id);",
  ],
  c: [
    "static inline WEFT__CHECKED int weft_mutex_try_lock(weft_mutex *m) { int32_t id = " +
    "weft_agent_id(); int32_t state = weft__compare_exchange(&m->state, " +
    "WEFT_MUTEX_UNLOCKED, id);",
    "static inline WEFT__CHECKED int weft_mutex_try_lock(weft_mutex *m) { int32_t id = " +
    "weft_agent_id(); int32_t state = weft__load(&m->state); if (state == 0) " +
    "weft__store(&m->state, id);",
  ],
}, {
  what: "MX8: takes a wake for the lock",
  ts: [
    'if (outcome === "timed-out") { freeKept(words);',
    'if (outcome === "ok") return "locked";\n' +
    'if (outcome === "timed-out") { freeKept(words);',
  ],
  c: [
    "if (outcome == WEFT__TIMED_OUT) { weft__mutex_free_kept(m);",
    "if (outcome == WEFT__OK) return 0; " +
    "if (outcome == WEFT__TIMED_OUT) { weft__mutex_free_kept(m);",
  ],
}, {
  what: "MX9: tryLock removes the mark CONTENDED",
  ts: [
    "const taken = id | (state & CONTENDED_BIT); state",
    "const taken = id; state",
  ],
  c: [
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT); state",
    "int32_t taken = id; state",
  ],
  by: "somebody starves, tryLock and unlock",
}, {
  what: "MX10: takes a timeout for the lock",
  ts: [
    'if (outcome === "timed-out") { freeKept(words);',
    'if (outcome === "timed-out") { return "locked";',
  ],
  c: [
    "if (outcome == WEFT__TIMED_OUT) { weft__mutex_free_kept(m);",
    "if (outcome == WEFT__TIMED_OUT) { return 0;",
  ],
}, {
  what: "MX11: takes any end of a sleep for the lock",
  ts: [
    'if (outcome === "timed-out") { freeKept(words);',
    'if (outcome !== "not-equal") { return "locked";',
  ],
  c: [
    "if (outcome == WEFT__TIMED_OUT) { weft__mutex_free_kept(m);",
    "if (outcome != WEFT__NOT_EQUAL) { return 0;",
  ],
}, {
  what: "tryLock does not take an abandoned lock",
  ts: ["while ((state & OWNER_MASK) === 0) {", "while (state === UNLOCKED) {"],
  c: ["while ((state & WEFT_MUTEX_OWNER_MASK) == 0) {", "while (state == 0) {"],
}, {
  what: "tryLock takes a lock that is kept for a sleeper, by a store",
  by: "somebody starves, tryLock",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, taken); " +
    "if (state === expected) {",
    "Atomics.store(words, STATE, taken);\nif (state === expected) {",
  ],
  c: [
    "state = weft__compare_exchange(&m->state, expected, taken); if (state " +
    "== expected)",
    "weft__store(&m->state, taken); if (state == expected)",
  ],
}, {
  what: "the slow path takes the lock by a store",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, taken); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, taken);",
  ],
  c: [
    "state = weft__compare_exchange(&m->state, expected, taken); if (state " +
    "!= expected) continue;",
    "weft__store(&m->state, taken);",
  ],
}, {
  what: "marks the lock contended by a store",
  ts: [
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) {",
    "const seen = expected; Atomics.store(words, STATE, state);\n" +
    "if (seen !== expected) {",
  ],
  c: [
    "int32_t seen = weft__compare_exchange(&m->state, expected, state);",
    "int32_t seen = expected; weft__store(&m->state, state);",
  ],
}, {
  what: "takes the lock without an exchange if its mark came too late",
  ts: [
    "if (seen !== expected) { state = seen; continue; }",
    'if (seen !== expected && seen === 0) return "locked";\n' +
    "if (seen !== expected) { state = seen; continue; }",
  ],
  c: [
    "if (seen != expected) { state = seen; continue; }",
    "if (seen != expected && seen == 0) return 0; if (seen != expected) { " +
    "state = seen; continue; }",
  ],
}, {
  what: "does not look again after a sleep",
  ts: ["state = Atomics.load(words, STATE); woken", "woken"],
  c: ["state = weft__load(&m->state); woken", "woken"],
}, {
  what: "never takes a lock that is handed over",
  ts: [
    'woken = outcome === "ok" || (handoff && state === before);',
    "woken = false;",
  ],
  c: [
    "woken = outcome == WEFT__OK || (handoff && state == before);",
    "woken = false; (void)before;",
  ],
}, {
  what: "waits for ever for a terminated sleeper to take the lock",
  ts: [
    'woken = outcome === "ok" || (handoff && state === before);',
    'woken = outcome === "ok";',
  ],
  equivalent: "one look later it counts as starving, and takes the lock in " +
    "that way",
}, {
  what: "sleeps on a kept lock without a second look",
  ts: [
    "? { words, index: STATE, value: state, atMost: patience }",
    "? { words, index: STATE, value: state, atMost: Infinity }",
  ],
  c: [
    "int outcome = weft__sleep(&m->state, state, deadline, handoff ? " +
    "patience : WEFT__LOOK);",
    "int outcome = handoff ? weft__sleep_raw(&m->state, state, -1) : " +
    "weft__sleep(&m->state, state, deadline, WEFT__LOOK);",
  ],
}, {
  what: "hands over and forgets that others sleep",
  ts: [
    "const KEPT = 0x6000_0000;",
    "const KEPT = HANDOFF_BIT;",
  ],
  c: [
    "#define WEFT__MUTEX_KEPT (3 << 29)",
    "#define WEFT__MUTEX_KEPT WEFT_MUTEX_HANDOFF_BIT",
  ],
}, {
  what: "keeps the lock for nobody",
  ts: [
    "if (Atomics.notify(words, STATE, 1) > 0) return;",
    "Atomics.notify(words, STATE, 1); return;",
  ],
  c: [
    "if (weft__notify(&m->state, 1) > 0) return 0;",
    "weft__notify(&m->state, 1); return 0;",
  ],
}, {
  what: "hands the lock over and wakes nobody",
  ts: ["if (Atomics.notify(words, STATE, 1) > 0) return;", "return;"],
  c: ["if (weft__notify(&m->state, 1) > 0) return 0;", "return 0;"],
}, {
  what: "takes the hand-over back by a store",
  ts: [
    "if (Atomics.compareExchange(words, STATE, KEPT, UNLOCKED) === KEPT) {",
    "Atomics.store(words, STATE, UNLOCKED); {",
  ],
  c: [
    "if (weft__compare_exchange(&m->state, WEFT__MUTEX_KEPT, " +
    "WEFT_MUTEX_UNLOCKED) == WEFT__MUTEX_KEPT)",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
}, {
  what: "takes the hand-over back, and wakes nobody",
  ts: [
    "if (Atomics.compareExchange(words, STATE, KEPT, UNLOCKED) === KEPT) { " +
    "Atomics.notify(words, STATE, 1); }",
    "Atomics.compareExchange(words, STATE, KEPT, UNLOCKED);",
  ],
  c: [
    "if (weft__compare_exchange(&m->state, WEFT__MUTEX_KEPT, " +
    "WEFT_MUTEX_UNLOCKED) == WEFT__MUTEX_KEPT) weft__notify(&m->state, 1);",
    "weft__compare_exchange(&m->state, WEFT__MUTEX_KEPT, WEFT_MUTEX_UNLOCKED);",
  ],
}, {
  what: "keeps the lock for a sleeper that the notify may already have woken",
  ts: [
    "Atomics.store(words, STATE, KEPT); " +
    "if (Atomics.notify(words, STATE, 1) > 0) return;",
    "if (Atomics.notify(words, STATE, 1) > 0) {\n" +
    "Atomics.store(words, STATE, KEPT); return; }\n" +
    "Atomics.store(words, STATE, KEPT);",
  ],
  c: [
    "weft__store(&m->state, WEFT__MUTEX_KEPT); if (weft__notify(&m->state, 1) > 0) " +
    "return 0;",
    "if (weft__notify(&m->state, 1) > 0) { weft__store(&m->state, WEFT__MUTEX_KEPT); " +
    "return 0; } weft__store(&m->state, WEFT__MUTEX_KEPT);",
  ],
}, {
  what: "abandons by a store",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);",
    "Atomics.store(words, STATE, ABANDONED_BIT);",
  ],
  c: [
    "state = weft__compare_exchange(&m->state, expected, " +
    "WEFT_MUTEX_ABANDONED_BIT);",
    "weft__store(&m->state, WEFT_MUTEX_ABANDONED_BIT);",
  ],
}, {
  what: "abandons and wakes nobody",
  ts: [
    "if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1); return 1;",
    "return 1;",
  ],
  c: ["if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);", ""],
}, {
  what: "abandons the lock of any owner",
  ts: [
    "while ((state & OWNER_MASK) === id && id !== 0) { " +
    "const expected = state; state = Atomics",
    "while ((state & OWNER_MASK) !== 0) { const expected = state; state = Atomics",
  ],
  c: [
    "while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) { int32_t " +
    "expected = state; state =",
    "while ((state & WEFT_MUTEX_OWNER_MASK) != 0) { int32_t expected = " +
    "state; state =",
  ],
}, {
  what: "gives up abandoning if the state changed meanwhile",
  ts: [
    "if (state !== expected) continue;\n if (state & CONTENDED_BIT)",
    "if (state !== expected) break; if (state & CONTENDED_BIT)",
  ],
  c: [
    "if (state != expected) continue; if (state & WEFT_MUTEX_CONTENDED_BIT) " +
    "weft__notify",
    "if (state != expected) break; if (state & WEFT_MUTEX_CONTENDED_BIT) " +
    "weft__notify",
  ],
}, {
  what: "abandons the lock as if it had been unlocked",
  ts: [
    "state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);",
    "state = Atomics.compareExchange(words, STATE, expected, UNLOCKED);",
  ],
  c: [
    "weft__compare_exchange(&m->state, expected, WEFT_MUTEX_ABANDONED_BIT);",
    "weft__compare_exchange(&m->state, expected, WEFT_MUTEX_UNLOCKED);",
  ],
}, {
  what: "does not tell a waiter that the lock was abandoned",
  ts: [
    "else if (state & HANDOFF_BIT && !starved) { " +
    "Atomics.store(words, STARVING, 0); } " +
    'return state & ABANDONED_BIT ? "abandoned" : "locked";',
    "else if (state & HANDOFF_BIT && !starved) {\n" +
    "Atomics.store(words, STARVING, 0);\n}\n" +
    'return "locked";',
  ],
  c: [
    "weft__store(&m->starving, 0); return state & WEFT_MUTEX_ABANDONED_BIT ? " +
    "EOWNERDEAD : 0;",
    "weft__store(&m->starving, 0); return 0;",
  ],
}, {
  what: "tryLock does not tell that the lock was abandoned",
  ts: [
    'if (state === expected) { return state & ABANDONED_BIT ? "abandoned" : ' +
    '"locked"; }',
    'if (state === expected) { return "locked"; }',
  ],
  c: [
    "if (state == expected) return state & WEFT_MUTEX_ABANDONED_BIT ? " +
    "EOWNERDEAD : 0;",
    "if (state == expected) return 0;",
  ],
}, {
  what: "takes the lock in a spin by a store",
  ts: [
    "Atomics.compareExchange(words, STATE, state, this.#id) === state; })",
    "Atomics.store(words, STATE, this.#id) > 0; })",
  ],
  c: [
    "weft__compare_exchange(&m->state, state, id) != state) continue;",
    "(weft__store(&m->state, id), 0)) continue;",
  ],
  by: "looks before it sleeps",
});
