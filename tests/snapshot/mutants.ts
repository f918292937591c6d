import { mutants } from "../_run/mutant.ts";

/** Mutants of `Snapshot`. */
export const snapshot = mutants(
  "snapshot.ts",
  [
    "(V): counts a value before it is there",
    "for (let i = 0; i < this.#count; i++) { " +
    "Atomics.store(words, at + i, from[i]!); // published by (V) } " +
    "Atomics.store(words, STATE, next); // (V)",
    "Atomics.store(words, STATE, next);\n" +
    "for (let i = 0; i < this.#count; i++) {\n" +
    "Atomics.store(words, at + i, from[i]!); }",
  ],
  [
    "writes over the last value",
    "const at = this.#copy(next & 1);",
    "const at = this.#copy(state & 1);",
  ],
  [
    "writes plainly",
    "Atomics.store(words, at + i, from[i]!); // published by (V)",
    "words[at + i] = from[i]!;",
  ],
  [
    "reads plainly",
    "to[i] = Atomics.load(words, at + i); // published by (V)",
    "to[i] = words[at + i]!;",
  ],
  [
    "does not look a second time",
    "if (seen === state) break; state = seen;",
    "break;",
  ],
  [
    "looks a second time before it copies",
    "const at = this.#copy(state & 1); for",
    "const at = this.#copy(state & 1);\n" +
    "const early = Atomics.load(words, STATE); for",
    {
      also: [
        "const seen = Atomics.load(words, STATE); if (seen === state) break;",
        "const seen = early; if (seen === state) break;",
      ],
    },
  ],
  [
    "takes a later number for the same copy",
    "if (seen === state) break; state = seen;",
    "if (((seen ^ state) & 1) === 0) break; state = seen;",
  ],
  [
    "takes what was torn at the second look, too",
    "if (seen === state) break; state = seen;",
    "if (seen === state || seen === state + 2) break; state = seen;",
  ],
  [
    "reads the copy that is written",
    "const at = this.#copy(state & 1); for",
    "const at = this.#copy(state + 1 & 1); for",
  ],
  [
    "single: writes to the reader's copy",
    "const mine = 3 - (state & MIDDLE_MASK) - (state >> FRONT_SHIFT & 3);",
    "const mine = state >> FRONT_SHIFT & 3;",
  ],
  [
    "single: writes to the middle copy",
    "const mine = 3 - (state & MIDDLE_MASK) - (state >> FRONT_SHIFT & 3);",
    "const mine = state & MIDDLE_MASK;",
  ],
  [
    "single: (V): swaps before it writes",
    "this.copier.put(src, 0, this.#copy(mine), this.#count); for (;;) {",
    "for (;;) {",
    {
      also: [
        "if (seen === state) return; state = seen;",
        "if (seen === state) {\n" +
        "this.copier.put(src, 0, this.#copy(mine), this.#count);\n" +
        "return; } state = seen;",
      ],
    },
  ],
  [
    "single: writes by a store",
    "const seen = Atomics.compareExchange(words, STATE, state, next); // (V)",
    "const seen = state; Atomics.store(words, STATE, next);",
  ],
  [
    "single: gives a value up when its exchange fails",
    "if (seen === state) return; state = seen;",
    "return;",
  ],
  [
    "single: does not see that the reader swapped",
    "for (;;) { const front = state & 3 << FRONT_SHIFT;",
    "const front = state & 3 << FRONT_SHIFT; for (;;) {",
  ],
  [
    "single: does not say that it is new",
    "const next = version | NEW_BIT | front | mine;",
    "const next = version | front | mine;",
  ],
  [
    "single: does not count",
    "const version = (state & -ONE_VERSION) + ONE_VERSION;",
    "const version = state & -ONE_VERSION;",
  ],
  [
    "single: reads what it had when its exchange fails",
    "while (state & NEW_BIT) {",
    "if (state & NEW_BIT) {",
  ],
  [
    "single: reads what it had",
    "while (state & NEW_BIT) {",
    "while (false as boolean) {",
  ],
  [
    "single: reads by a store",
    "const seen = Atomics.compareExchange(words, STATE, state, swapped);",
    "const seen = state; Atomics.store(words, STATE, swapped);",
  ],
  [
    "single: does not give its copy back",
    "const swapped = (state & -ONE_VERSION) | middle << FRONT_SHIFT | front;",
    "const swapped = (state & -ONE_VERSION) | middle << FRONT_SHIFT | middle;",
  ],
  [
    "single: reads the middle copy where it lies",
    "const at = this.#copy(state >> FRONT_SHIFT & 3);",
    "const at = this.#copy(state & MIDDLE_MASK);",
  ],
);
