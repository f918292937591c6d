import { mutants } from "../_run/mutant.ts";

/** Mutants of `RwLock`. */
export const rw_lock = mutants(
  "rw_lock.ts",
  [
    "RW1: a reader enters by an addition",
    "state = Atomics.compareExchange(words, STATE, expected, state + 1); " +
    "if (state === expected) return this.#readGuard(state);",
    "return this.#readGuard(Atomics.add(words, STATE, 1));",
  ],
  [
    "RW2: the last reader does not wake the writer",
    "if ((state & (READING_MASK | WANTED_BIT | ASLEEP_BIT)) === last) { " +
    "Atomics.notify(words, STATE, 1); }",
    "",
  ],
  [
    "RW3: a writer wakes one reader",
    "if (gate & WAITING_BIT) Atomics.notify(words, GATE);",
    "if (gate & WAITING_BIT) Atomics.notify(words, GATE, 1);",
    { by: "rw_lock: a writer wakes two" },
  ],
  [
    "RW4: looks at the gate after the phase",
    "const gate = Atomics.load(words, GATE); // before the look at the phase " +
    "const state = Atomics.load(words, STATE);",
    "const state = Atomics.load(words, STATE);\n" +
    "const gate = Atomics.load(words, GATE);",
  ],
  [
    "RW5: a writer does not wake readers",
    "if (gate & WAITING_BIT) Atomics.notify(words, GATE);",
    "",
  ],
  [
    "RW5: a writer does not open the gate",
    "if (pending > 0) this.#open(); return;",
    "return;",
  ],
  [
    "RW6: opens the gate before it lets readers in",
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) this.#open();",
    "if (pending > 0) this.#open();\n" +
    "state = Atomics.compareExchange(words, STATE, expected, next | 0);\n" +
    "if (state !== expected) continue;",
  ],
  [
    "RW7: the last reader but one wakes the writer",
    "const last = 1 | WANTED_BIT | ASLEEP_BIT;",
    "const last = 2 | WANTED_BIT | ASLEEP_BIT;",
  ],
  [
    "RW8: a writer does not make way for the next one",
    '#assertWriting("unlock"); this.#leave(0, 0); this.#unlockWriter();',
    '#assertWriting("unlock"); this.#leave(0, 0);',
  ],
  [
    "a reader enters beside a writer",
    "if (state & (WRITING_BIT | WANTED_BIT)) { " +
    "state = Atomics.load(words, STATE);",
    "if (state & WANTED_BIT) {\nstate = Atomics.load(words, STATE);",
  ],
  [
    "believes a hint that there is a writer",
    "if (state & (WRITING_BIT | WANTED_BIT)) return undefined; continue;",
    "return undefined;",
  ],
  [
    "does not look whether it entered",
    "if (state === expected) return this.#readGuard(state);",
    "return this.#readGuard(state);",
  ],
  [
    "a reader leaves by a load and a store",
    "const state = Atomics.sub(words, STATE, 1);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, state - 1);",
  ],
  [
    "begins to wait by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; return waits",
    "Atomics.store(words, STATE, state = next | 0); return waits",
  ],
  [
    "waits for a writer that has gone",
    "for (;;) { const expected = state; const waits = (state & bits) !== 0;",
    "const waits = (state & bits) !== 0;\n" +
    "for (;;) { const expected = state;",
  ],
  [
    "does not wait for a writer that waits for readers",
    "const ticket = this.#pend(own ? WRITING_BIT : WRITING_BIT | WANTED_BIT);",
    "const ticket = this.#pend(WANTED_BIT);",
  ],
  [
    "one opening of the gate lets it in",
    "return moved >= 2 * ONE_OPENING;",
    "return moved >= ONE_OPENING;",
    {
      equivalent: "who owes an opening has `writer` still, so that nobody is " +
        "pending yet who does not wait for that one",
    },
  ],
  [
    "does not say that it sleeps at the gate",
    "const waiting = gate | WAITING_BIT;",
    "const waiting = gate;",
  ],
  [
    "says that it sleeps at the gate by a store",
    "Atomics.compareExchange(words, GATE, gate, waiting) !== gate ) continue;",
    "Atomics.store(words, GATE, waiting) !== waiting ) continue;",
  ],
  [
    "a reader that gives up is counted still",
    "const left = state - ONE_PENDING | 0;",
    "const left = state;",
  ],
  [
    "a reader gives up by a store",
    "const seen = Atomics.compareExchange(words, STATE, state, left); " +
    "if (seen === state) return false; continue;",
    "Atomics.store(words, STATE, left); return false;",
  ],
  [
    "a reader that was let in gives up",
    "if (isIn(ticket, state, gate)) break; if (last) {",
    "if (!last && isIn(ticket, state, gate)) break; if (last) {",
  ],
  [
    "looks past the phase, where it looks before it sleeps",
    "if ((state ^ ticket.state) & PHASE_MASK) return this.#readGuard(state);",
    "if (state !== ticket.state) return this.#readGuard(state);",
  ],
  [
    "writes beside readers",
    "while ((state & READING_MASK) === 0) {",
    "for (;;) {",
    { also: ["return false; } /** Waits for other writers", "} /** Waits"] },
  ],
  [
    "writes by a store",
    "state = Atomics.compareExchange(words, STATE, expected, held); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, held);",
  ],
  [
    "does not look whether it writes",
    "expected, held); if (state !== expected) continue;",
    "expected, held);",
  ],
  [
    "believes a hint that there are readers",
    "if (state & READING_MASK) state = Atomics.load(words, STATE); while",
    "while",
  ],
  [
    "writes, and forgets who waits to read",
    "const held = state & ~(WANTED_BIT | ASLEEP_BIT) | WRITING_BIT;",
    "const held = state & PHASE_MASK | WRITING_BIT;",
  ],
  [
    "a writer does not say that it sleeps",
    "const bits = WANTED_BIT | ASLEEP_BIT;",
    "const bits = WANTED_BIT;",
  ],
  [
    "a writer does not say that it wants to write",
    "const bits = WANTED_BIT | ASLEEP_BIT;",
    "const bits = ASLEEP_BIT;",
  ],
  [
    "a writer says that it sleeps by a store",
    "const state = Atomics.or(words, STATE, bits) | bits;",
    "const state = Atomics.load(words, STATE) | bits;\n" +
    "Atomics.store(words, STATE, state);",
  ],
  [
    "a writer sleeps although nobody reads",
    "if ((state & READING_MASK) === 0) continue;",
    "",
  ],
  [
    "a writer that gives up is wanted still",
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
    "this.#unlockWriter(); return false;",
  ],
  [
    "a writer that gives up is in line still",
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
    "this.#leave(0, 0); return false;",
  ],
  [
    "a writer that gives up leaves the line first",
    "this.#leave(0, 0); this.#unlockWriter(); return false;",
    "this.#unlockWriter(); this.#leave(0, 0); return false;",
  ],
  [
    "a writer leaves the line first",
    '#assertWriting("unlock"); this.#leave(0, 0); this.#unlockWriter();',
    '#assertWriting("unlock"); this.#unlockWriter(); this.#leave(0, 0);',
  ],
  [
    "forgets who waits to read",
    "const next = (state & kept | abandoned) + more + pending +",
    "const next = (state & kept | abandoned) + more +",
  ],
  [
    "the phase stays",
    "(pending > 0 ? ONE_PHASE : 0);",
    "0;",
  ],
  [
    "forgets who reads when a writer gives up",
    "const kept = READING_MASK | PHASE_MASK |",
    "const kept = PHASE_MASK |",
  ],
  [
    "leaves by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next | 0); " +
    "if (state !== expected) continue; if (pending > 0) this.#open();",
    "Atomics.store(words, STATE, next | 0);\n" +
    "if (pending > 0) this.#open();",
  ],
  [
    "opens the gate by a store",
    "gate = Atomics.compareExchange(words, GATE, expected, next); " +
    "if (gate !== expected) continue;",
    "Atomics.store(words, GATE, next);",
  ],
  [
    "does not look whether it opened the gate",
    "expected, next); if (gate !== expected) continue;",
    "expected, next);",
  ],
  [
    "the gate looks as before",
    "const next = (gate & ~WAITING_BIT) + ONE_OPENING | 0;",
    "const next = gate & ~WAITING_BIT;",
  ],
  [
    "does not go on reading after it wrote",
    '#assertWriting("downgrade"); this.#leave(1, 0);',
    '#assertWriting("downgrade"); this.#leave(0, 0);',
  ],
  [
    "abandons, and leaves nobody in",
    "this.#leave(0, writing ? ABANDONED_BIT : 0); // It may",
    "// It may",
  ],
  [
    "abandons, and does not say so",
    "this.#leave(0, writing ? ABANDONED_BIT : 0);",
    "this.#leave(0, 0);",
  ],
  [
    "abandons who waited, and says that it wrote",
    "this.#leave(0, writing ? ABANDONED_BIT : 0);",
    "this.#leave(0, ABANDONED_BIT);",
  ],
  [
    "abandons, and leaves the gate shut",
    "// It may have let agents in, and not opened the gate. this.#open();",
    "",
  ],
  [
    "abandons, and does not make way for the next one",
    "this.#open(); this.#unlockWriter(); return true;",
    "this.#open(); return true;",
  ],
  [
    "who gives up forgets what was abandoned",
    "(state & WRITING_BIT ? 0 : ABANDONED_BIT);",
    "0;",
  ],
  [
    "a try to read waits for the writer",
    "if (state & (WRITING_BIT | WANTED_BIT)) return undefined;",
    "if (state & (WRITING_BIT | WANTED_BIT)) continue;",
    { by: "rw_lock: a try to read beside a writer" },
  ],
);
