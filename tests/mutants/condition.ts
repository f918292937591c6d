import { mutants } from "./_mutant.ts";

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
    "turn = Atomics.load(words, TURN); continue; } " +
    "Atomics.notify(words, place, 1); n -= k;",
    "Atomics.notify(words, place, 1);\n" +
    "if (Atomics.compareExchange(words, place, state, called) !== state) {\n" +
    "turn = Atomics.load(words, TURN); continue; } n -= k;",
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
    "const joined = state + ONE_WAITING;",
    "const joined = state;",
  ],
  [
    "who gives up is counted still",
    "const left = state & WAITING_MASK ? state - ONE_WAITING : state; if",
    "const left = state; if",
  ],
  [
    "sleeps on what it sees last",
    "? { words, index: place, value: state } :",
    "? { words, index: place, value: Atomics.load(words, place) } :",
  ],
  [
    "a wake is taken for a call",
    'if (outcome === "timed-out") { const left',
    'if (outcome === "ok") break; if (outcome === "timed-out") { const left',
    { by: "condition: spurious calls" },
  ],
  [
    "never calls the group that gathers",
    "if ((gathered & WAITING_MASK) === 0) return;",
    "return;",
  ],
  [
    "calls who waits after the notify",
    "if (turn !== first) return;",
    "",
    { by: "condition: called once" },
  ],
  [
    "joins by a store",
    "if (Atomics.compareExchange(words, place, state, joined) !== state) { " +
    "continue; }",
    "Atomics.store(words, place, joined);",
  ],
  [
    "joins the group whose turn it is",
    "const group = turn + 1 | 0;",
    "const group = turn;",
  ],
  [
    "goes before its turn",
    "if (ahead < 1) {",
    "if (ahead < 2) {",
  ],
  [
    "calls by a store",
    "if (Atomics.compareExchange(words, place, state, called) !== state) { " +
    "turn = Atomics.load(words, TURN); continue; }",
    "Atomics.store(words, place, called);",
  ],
  [
    "the turn passes by a store",
    "const seen = Atomics.compareExchange(words, TURN, turn, turn + 1 | 0);",
    "Atomics.store(words, TURN, turn + 1 | 0); const seen = turn;",
  ],
  [
    "the turn passes, and old calls are left",
    "if (gathered & CALLED_MASK) {",
    "if (gathered < 0) {",
  ],
  [
    "old calls are cleared by a store",
    "const seen = Atomics.compareExchange(words, after, gathered, cleared);",
    "Atomics.store(words, after, cleared); const seen = gathered;",
  ],
  [
    "(T): calls a group whose turn is over",
    "const now = Atomics.load(words, TURN); if (now !== turn) { turn = now; " +
    "continue; } const k",
    "const k",
    { by: "condition: the turn passes once" },
  ],
  [
    "(T): clears calls that are valid",
    "const now = Atomics.load(words, TURN); if (now !== turn) { turn = now; " +
    "continue; } // Of",
    "// Of",
    { by: "condition: two notify at once, where some are not awake yet" },
  ],
  [
    "waits until who is called goes",
    "Atomics.notify(words, place, 1); n -= k;",
    "Atomics.notify(words, place, 1); n -= k; " +
    "while (Atomics.load(words, place) & CALLED_MASK);",
    { by: "condition: two notify at once" },
  ],
);
