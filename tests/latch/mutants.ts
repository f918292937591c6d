import { mutants } from "../_run/mutant.ts";

/** Mutants of `Latch`. */
export const latch = mutants(
  "latch.ts",
  [
    "counts by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next);",
    "Atomics.store(words, STATE, next);",
  ],
  [
    "gives up when another counted",
    "if (state !== expected) continue; if (next",
    "if (state !== expected) return; if (next",
  ],
  [
    "opens and wakes nobody",
    "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, STATE);",
    "",
  ],
  [
    "opens and wakes one",
    "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, STATE);",
    "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, STATE, 1);",
  ],
  [
    "wakes before it opens",
    "state = Atomics.compareExchange(words, STATE, expected, next);",
    "if (next === OPEN) Atomics.notify(words, STATE);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, next);",
    {
      also: [
        "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, STATE);",
        "",
      ],
    },
  ],
  [
    "is open but for the mark of a waiter",
    "const next = left < ONE ? OPEN : left;",
    "const next = left;",
  ],
  [
    "wipes out the mark of a waiter",
    "const next = left < ONE ? OPEN : left;",
    "const next = left & ~WAITING_BIT;",
  ],
  [
    "opens one step too early",
    "const next = left < ONE ? OPEN : left;",
    "const next = left <= ONE ? OPEN : left;",
  ],
  [
    "counts below 0",
    "if (state < n * ONE) {",
    "if (state < ONE) {",
  ],
  [
    "refuses to count because of an old hint",
    "state = Atomics.load(words, STATE); if (state !== expected) continue; " +
    "throw",
    "throw",
    { equivalent: "the count only goes down: an old one refuses too little" },
  ],
  [
    "sleeps and does not say so",
    "state |= WAITING_BIT; if (state !== expected) {",
    "if (state !== expected) {",
  ],
  [
    "says that it sleeps by a store",
    "const seen = Atomics.compareExchange(words, STATE, expected, state);",
    "const seen = expected; Atomics.store(words, STATE, state);",
  ],
  [
    "does not look again after a sleep",
    'if (outcome === "timed-out") return state === OPEN;',
    'return outcome !== "timed-out" || state === OPEN;',
  ],
  [
    "goes on with what it saw before the sleep",
    "state = Atomics.load(words, STATE); if (outcome",
    "if (outcome",
  ],
  [
    "a timeout is taken for the opening",
    'if (outcome === "timed-out") return state === OPEN;',
    'if (outcome === "timed-out") return true;',
  ],
  [
    "looks plainly",
    "return Atomics.load(this.#words, STATE) === OPEN;",
    "return this.#words[STATE] === OPEN;",
  ],
);
