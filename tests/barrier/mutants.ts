import { mutants } from "../_run/mutant.ts";

/** Mutants of `Barrier`. */
export const barrier = mutants(
  "barrier.ts",
  [
    "BA1: looks at the generation after it arrived",
    "if (!last) return next;",
    "if (!last) return Atomics.load(words, STATE);",
  ],
  [
    "BA2: counts from 0 after the generation began",
    "const next = last ? nextGeneration(state) : state + 1;",
    "const next = last ? state + 1 + ONE_GENERATION | 0 : state + 1;",
    {
      also: [
        "if (!last) return next;",
        "if (!last) return next;\n" +
        "Atomics.and(words, STATE, ~(ARRIVED_MASK | WAITING_BIT));",
      ],
    },
  ],
  [
    "BA3: wakes one",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); return undefined;",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);\n" +
    "return undefined;",
  ],
  [
    "BA4: arrives by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next); " +
    "if (state !== expected) continue; if (!last) return next;",
    "Atomics.store(words, STATE, next);\nif (!last) return next;",
  ],
  [
    "BA5: wakes before the generation ends",
    "state = Atomics.compareExchange(words, STATE, expected, next); " +
    "if (state !== expected) continue; if (!last) return next; " +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE);",
    "if (last && state & WAITING_BIT) Atomics.notify(words, STATE);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, next);\n" +
    "if (state !== expected) continue;\nif (!last) return next;",
  ],
  [
    "does not look whether its arrival went in",
    "if (state !== expected) continue; if (!last) return next;",
    "if (!last) return next;",
  ],
  [
    "waits for one more than there are",
    "const last = arrived * ONE_PARTY >= (state & PARTIES_MASK);",
    "const last = arrived * ONE_PARTY > (state & PARTIES_MASK);",
  ],
  [
    "goes on with one less than there are",
    "const last = arrived * ONE_PARTY >= (state & PARTIES_MASK);",
    "const last = (arrived + 1) * ONE_PARTY >= (state & PARTIES_MASK);",
  ],
  [
    "wakes nobody",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); return undefined;",
    "return undefined;",
  ],
  [
    "the generation stays",
    "return (state & (GENERATION_MASK | PARTIES_MASK)) + ONE_GENERATION | 0;",
    "return state & (GENERATION_MASK | PARTIES_MASK);",
  ],
  [
    "who arrived is counted in the next generation",
    "return (state & (GENERATION_MASK | PARTIES_MASK)) + ONE_GENERATION | 0;",
    "return (state & ~WAITING_BIT) + ONE_GENERATION | 0;",
  ],
  [
    "compares generations by their order",
    "while (((state ^ since) & GENERATION_MASK) === 0) {",
    "while ((state & GENERATION_MASK) <= (since & GENERATION_MASK)) {",
  ],
  [
    "takes an arrival for the end, where it looks first",
    "((Atomics.load(words, STATE) ^ state) & GENERATION_MASK) !== 0;",
    "Atomics.load(words, STATE) !== state;",
  ],
  [
    "takes an arrival for the end",
    "while (((state ^ since) & GENERATION_MASK) === 0) {",
    "while (((state ^ since) & (GENERATION_MASK | ARRIVED_MASK)) === 0) {",
  ],
  [
    "does not say that it sleeps",
    "state = last ? state - 1 : state | WAITING_BIT;",
    "state = last ? state - 1 : state;",
  ],
  [
    "says that it sleeps by a store",
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) { state = seen; continue; }",
    "Atomics.store(words, STATE, state);",
  ],
  [
    "does not look whether it said that it sleeps",
    "if (seen !== expected) { state = seen; continue; }",
    "",
  ],
  [
    "sleeps on what it sees last",
    "const outcome = yield { words, index: STATE, value: state };",
    "const outcome = yield {\n" +
    "words, index: STATE, value: Atomics.load(words, STATE) };",
  ],
  [
    "gives up, and is counted still",
    "state = last ? state - 1 : state | WAITING_BIT;",
    "state = last ? state : state | WAITING_BIT;",
  ],
  [
    "gives up although the generation ended",
    "while (((state ^ since) & GENERATION_MASK) === 0) {",
    "while (last || ((state ^ since) & GENERATION_MASK) === 0) {",
  ],
  [
    "a wake is taken for the timeout",
    'last = outcome === "timed-out";',
    'last = outcome !== "ok";',
    { by: "barrier: spurious wakes" },
  ],
  [
    "leaves by a store",
    "state = Atomics.compareExchange(words, STATE, expected, next); " +
    "if (state !== expected) continue; if (ends",
    "Atomics.store(words, STATE, next); if (ends",
  ],
  [
    "does not look whether it left",
    "if (state !== expected) continue; if (ends",
    "if (ends",
  ],
  [
    "leaves, and wakes nobody",
    "if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);",
    "",
  ],
  [
    "leaves, and wakes one",
    "if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);",
    "if (ends && state & WAITING_BIT) Atomics.notify(words, STATE, 1);",
  ],
  [
    "leaves, and wakes before the generation ends",
    "state = Atomics.compareExchange(words, STATE, expected, next); " +
    "if (state !== expected) continue; if (ends && state & WAITING_BIT) " +
    "Atomics.notify(words, STATE);",
    "if (ends && state & WAITING_BIT) Atomics.notify(words, STATE);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, next);\n" +
    "if (state !== expected) continue;",
  ],
  [
    "leaves others to wait for it",
    "const next = ends ? nextGeneration(left) : left | 0;",
    "const next = left | 0;",
  ],
  [
    "leaves, and ends a generation that nobody waits for",
    "const ends = waiting > 0 && waiting * ONE_PARTY",
    "const ends = waiting * ONE_PARTY",
  ],
  [
    "an arrival of the dead is not taken back",
    "const left = state - ONE_PARTY - (arrived ? 1 : 0);",
    "const left = state - ONE_PARTY;",
  ],
);
