import { mutants } from "../_run/mutant.ts";

/** Mutants of `Condition`. */
export const condition = mutants(
  "condition.ts",
  [
    "CV1: unlocks the mutex before it joins",
    "const group = this.#join(mutex); const place = placeOf(group); " +
    "const seen = Atomics.load(words, place); mutex.unlock();",
    "mutex.unlock(); const group = this.#join(mutex);\n" +
    "const place = placeOf(group); const seen = Atomics.load(words, place);",
    { also: ["if (mutex.owner !== this.#id) {", "if (mutex.owner < 0) {"] },
  ],
  [
    "CV2: wakes and calls nobody",
    "const called = state - k * (ONE_WAITING - ONE_CALLED);",
    "const called = state;",
  ],
  [
    "CV3: returns without the mutex",
    "yield* relocking(mutexWords, this.#id);",
    "",
  ],
  [
    "CV4: calls one of all",
    "this.#call(Infinity);",
    "this.#call(1);",
  ],
  [
    "CV5: wakes before it calls",
    "if (Atomics.compareExchange(words, place, state, called) !== state) { " +
    "continue; } Atomics.notify(words, place, 1); n -= k;",
    "Atomics.notify(words, place, 1);\n" +
    "if (Atomics.compareExchange(words, place, state, called) !== state) {\n" +
    "continue; } n -= k;",
  ],
  [
    "calls and wakes nobody",
    "Atomics.notify(words, place, 1); n -= k;",
    "n -= k;",
  ],
  [
    "the first that comes wakes no other",
    "if (called && Atomics.load(words, place) & CALLED_MASK) { " +
    "Atomics.notify(words, place, 1); }",
    "",
  ],
  [
    "takes a call by a store",
    "if (Atomics.compareExchange(words, place, state, taken) !== state) { " +
    "continue; } break;",
    "Atomics.store(words, place, taken); break;",
  ],
  [
    "does not count that it joined",
    "const joined = (state | GATHERS_BIT) + ONE_WAITING;",
    "const joined = state | GATHERS_BIT;",
  ],
  [
    "who gives up is counted still",
    "const left = state - ONE_WAITING;",
    "const left = state;",
  ],
  [
    "sleeps on what it sees last",
    "? { words, index: place, value: state } :",
    "? { words, index: place, value: Atomics.load(words, place) } :",
  ],
  [
    "a wake is taken for a call",
    'if (inherits || outcome === "timed-out") {',
    'if (outcome === "ok") break; if (inherits || outcome === "timed-out") {',
    { by: "condition: spurious calls" },
  ],
  [
    "never calls the group that gathers",
    "if (gathering === 0) return;",
    "return;",
  ],
  [
    "joins by a store",
    "if (Atomics.compareExchange(words, place, state, joined) === state) { " +
    "return group; }",
    "Atomics.store(words, place, joined); return group;",
  ],
  [
    "joins the group whose turn it is",
    "const group = turn + 1 | 0;",
    "const group = turn;",
  ],
  [
    "joins a group whose turn has come",
    "if (callsAre(state, group)) {",
    "if (false) {",
  ],
  [
    "sees that the turn lags, and leaves it",
    "Atomics.compareExchange(words, TURN, turn, group); continue;",
    "continue;",
    { by: "condition: moves a turn on that lags behind, to wait" },
  ],
  [
    "(P): joins by what it saw three turns ago",
    "if (Atomics.load(words, TURN) !== turn) continue; // (P)",
    "",
    { by: "condition: joins while three turns pass" },
  ],
  [
    "(P): takes a call four turns later",
    "if ((group - Atomics.load(words, TURN) | 0) < -1) break;",
    "",
    { by: "condition: wakes when four turns have passed" },
  ],
  [
    "takes a call whose-ever it is",
    "if (ours && state & CALLED_MASK) {",
    "if (state & CALLED_MASK) {",
  ],
  [
    "is counted, it thinks, where the next gather",
    "const counts = ours === ((state & GATHERS_BIT) === 0);",
    "const counts = true;",
  ],
  [
    "goes before its turn",
    "if (!counts || (state & WAITING_MASK) === 0) break;",
    "if (!counts || !ours || (state & WAITING_MASK) === 0) break;",
  ],
  [
    "does not mark that a group gathers",
    "const joined = (state | GATHERS_BIT) + ONE_WAITING;",
    "const joined = state + ONE_WAITING;",
  ],
  [
    "gives up by a store",
    "if (Atomics.compareExchange(words, place, state, left) !== state) { " +
    "continue; }",
    "Atomics.store(words, place, left);",
  ],
  [
    "passes no wake on",
    "passed = state; Atomics.notify(words, place, 1);",
    "passed = state;",
    { equivalent: "who is older sleeps longer: the tester wakes it first" },
  ],
  [
    "calls by a store",
    "if (Atomics.compareExchange(words, place, state, called) !== state) { " +
    "continue; }",
    "Atomics.store(words, place, called);",
  ],
  [
    "calls who gathers, for who has the turn",
    "if (state & GATHERS_BIT) {",
    "if (false) {",
    { by: "condition: the turn passes once" },
  ],
  [
    "the turn passes by a store",
    "if ( Atomics.compareExchange(words, after, gathered, called) !== gathered " +
    ") { continue; }",
    "Atomics.store(words, after, called);",
  ],
  [
    "the turn passes to a group that it has passed to",
    "if (callsAre(gathered, next)) {",
    "if (false) {",
  ],
  [
    "the turn follows by a store",
    "Atomics.compareExchange(words, TURN, turn, next); // If",
    "Atomics.store(words, TURN, next); // Of",
  ],
  [
    "the turn does not follow",
    "Atomics.compareExchange(words, TURN, turn, next); // If",
    "// If",
  ],
  [
    "a turn that lags is moved on by a store",
    "const seen = Atomics.compareExchange(words, TURN, turn, next); turn =",
    "const seen = turn; Atomics.store(words, TURN, next); turn =",
  ],
  [
    "the turn passes, and old calls are left",
    "markOf(next) | (gathering - k) * ONE_WAITING | k;",
    "(markOf(next) | (gathering - k) * ONE_WAITING | k) + " +
    "(gathered & CALLED_MASK);",
  ],
  [
    "the turn passes, and wakes nobody",
    "Atomics.notify(words, after, 1);",
    "",
  ],
  [
    "(P): passes a turn that was over four turns ago",
    "const now = Atomics.load(words, TURN); // (P)",
    "const now = turn;",
    { by: "condition: notifies while four turns pass" },
  ],
  [
    "waits until who is called goes",
    "Atomics.notify(words, place, 1); n -= k;",
    "Atomics.notify(words, place, 1); n -= k; " +
    "while (Atomics.load(words, place) & CALLED_MASK);",
    { by: "condition: two notify at once" },
  ],
);
