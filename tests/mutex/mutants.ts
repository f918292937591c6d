import { mutants } from "../_run/mutant.ts";

export const mutex = mutants(
  "mutex.ts",
  [
    "MX1: who slept takes the lock without CONTENDED for the others",
    "const taken = id | (state & CONTENDED_BIT) | contended;",
    "const taken = id | (state & CONTENDED_BIT);",
    { by: "mutex: two wait for one that holds it" },
  ],
  [
    "MX2: sleeps without marking the lock contended",
    "if ((state & CONTENDED_BIT) === 0) {",
    "if (false) {",
  ],
  [
    "MX3: notifies before it frees",
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.notify(words, STATE, 1); Atomics.store(words, STATE, UNLOCKED);",
  ],
  [
    "MX4: never notifies",
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.store(words, STATE, UNLOCKED);",
  ],
  [
    "MX5: unlocks by load and store",
    "const state = Atomics.compareExchange(words, STATE, id, UNLOCKED);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === id) Atomics.store(words, STATE, UNLOCKED);",
  ],
  [
    "MX6: the contended unlock forgets to free",
    "Atomics.store(words, STATE, UNLOCKED); Atomics.notify(words, STATE, 1);",
    "Atomics.notify(words, STATE, 1);",
  ],
  [
    "MX7: tests, then locks",
    "if (timeout !== Infinity) assertTimeout(timeout); " +
    "const state = Atomics.compareExchange(words, STATE, UNLOCKED, this.#id);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === UNLOCKED) Atomics.store(words, STATE, this.#id);",
  ],
  [
    "MX7: tryLock tests, then locks",
    "let state = Atomics.compareExchange(words, STATE, UNLOCKED, id);",
    "let state = Atomics.load(words, STATE);\n" +
    "if (state === UNLOCKED) Atomics.store(words, STATE, id);",
  ],
  [
    "MX8: who is woken holds the lock, it thinks",
    'if (outcome === "timed-out") return false;',
    'if (outcome === "timed-out") return false;\n' +
    'if (outcome === "ok") return "locked";',
  ],
  [
    "MX9: tryLock wipes out the mark",
    "const taken = id | (state & CONTENDED_BIT); state",
    "const taken = id; state",
    { by: "mutex: somebody starves, tryLock and unlock" },
  ],
  [
    "MX10: a timeout is taken for the lock",
    'if (outcome === "timed-out") return false;',
    'if (outcome === "timed-out") return "locked";',
  ],
  [
    "MX11: any end of a sleep is taken for the lock",
    'if (outcome === "timed-out") return false;',
    'if (outcome !== "not-equal") return "locked";',
  ],
  [
    "tryLock takes only what was unlocked, and not what was abandoned",
    "while ((state & OWNER_MASK) === 0) {",
    "while (state === UNLOCKED) {",
  ],
  [
    "tryLock takes what is kept by a store",
    "state = Atomics.compareExchange(words, STATE, expected, taken); " +
    "if (state === expected) {",
    "Atomics.store(words, STATE, taken);\nif (state === expected) {",
  ],
  [
    "the slow path takes by a store",
    "state = Atomics.compareExchange(words, STATE, expected, taken); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, taken);",
  ],
  [
    "marks by a store",
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) {",
    "const seen = expected; Atomics.store(words, STATE, state);\n" +
    "if (seen !== expected) {",
  ],
  [
    "takes the lock although its mark came too late",
    "if (seen !== expected) { state = seen; continue; }",
    'if (seen !== expected && seen === 0) return "locked";\n' +
    "if (seen !== expected) { state = seen; continue; }",
  ],
  [
    "does not look again after a sleep",
    "state = Atomics.load(words, STATE); woken",
    "woken",
  ],
  [
    "never takes what is handed over",
    'woken = outcome === "ok" || (handoff && state === before);',
    "woken = false;",
  ],
  [
    "waits for ever for one that was terminated to take the lock",
    'woken = outcome === "ok" || (handoff && state === before);',
    'woken = outcome === "ok";',
    {
      equivalent: "it starves a look later, and takes the lock as one that did",
    },
  ],
  [
    "sleeps on what is kept without a second look",
    "? { words, index: STATE, value: state, atMost: PATIENCE }",
    "? { words, index: STATE, value: state, atMost: Infinity }",
  ],
  [
    "hands over and forgets that others sleep",
    "const kept = HANDOFF_BIT | CONTENDED_BIT;",
    "const kept = HANDOFF_BIT;",
  ],
  [
    "keeps the lock for nobody",
    "if (Atomics.notify(words, STATE, 1) > 0) return;",
    "Atomics.notify(words, STATE, 1); return;",
  ],
  [
    "hands over without waking",
    "if (Atomics.notify(words, STATE, 1) > 0) return;",
    "return;",
  ],
  [
    "takes the hand-over back by a store",
    "if (Atomics.compareExchange(words, STATE, kept, UNLOCKED) === kept) {",
    "Atomics.store(words, STATE, UNLOCKED); {",
  ],
  [
    "takes the hand-over back, and wakes nobody",
    "if (Atomics.compareExchange(words, STATE, kept, UNLOCKED) === kept) { " +
    "Atomics.notify(words, STATE, 1); }",
    "Atomics.compareExchange(words, STATE, kept, UNLOCKED);",
  ],
  [
    "is kept before it wakes: by nobody if the notify comes first",
    "Atomics.store(words, STATE, kept); " +
    "if (Atomics.notify(words, STATE, 1) > 0) return;",
    "if (Atomics.notify(words, STATE, 1) > 0) {\n" +
    "Atomics.store(words, STATE, kept); return; }\n" +
    "Atomics.store(words, STATE, kept);",
  ],
  [
    "abandons by a store",
    "state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);",
    "Atomics.store(words, STATE, ABANDONED_BIT);",
  ],
  [
    "abandons and wakes nobody",
    "if (state & CONTENDED_BIT) Atomics.notify(words, STATE, 1); return true;",
    "return true;",
  ],
  [
    "abandons whoever holds the lock",
    "while ((state & OWNER_MASK) === id && id !== 0) { " +
    "const expected = state; state = Atomics",
    "while ((state & OWNER_MASK) !== 0) { const expected = state; state = Atomics",
  ],
  [
    "gives up abandoning when the state changed",
    "if (state !== expected) continue;\n if (state & CONTENDED_BIT)",
    "if (state !== expected) break; if (state & CONTENDED_BIT)",
  ],
  [
    "abandons, and says it was unlocked",
    "state = Atomics.compareExchange(words, STATE, expected, ABANDONED_BIT);",
    "state = Atomics.compareExchange(words, STATE, expected, UNLOCKED);",
  ],
  [
    "who waited is not told that the lock was abandoned",
    "if (state & HANDOFF_BIT && !starved) Atomics.store(words, STARVING, 0); " +
    'return state & ABANDONED_BIT ? "abandoned" : "locked";',
    "if (state & HANDOFF_BIT && !starved) Atomics.store(words, STARVING, 0);\n" +
    'return "locked";',
  ],
  [
    "tryLock does not tell that the lock was abandoned",
    'if (state === expected) { return state & ABANDONED_BIT ? "abandoned" : ' +
    '"locked"; }',
    'if (state === expected) { return "locked"; }',
  ],
  [
    "takes the lock in a spin by a store",
    "Atomics.compareExchange(words, STATE, state, this.#id) === state; })",
    "Atomics.store(words, STATE, this.#id) > 0; })",
    { by: "mutex: looks before it sleeps" },
  ],
);
