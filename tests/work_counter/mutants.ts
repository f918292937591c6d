import { mutants } from "../_run/mutant.ts";

/** Mutants of `WorkCounter`. */
export const work_counter = mutants(
  "work_counter.ts",
  [
    "WC1: never finds that all is done",
    "if (done + n >= Atomics.load(words, TARGET)) this.#finish();",
    "if (done + n > Atomics.load(words, TARGET)) this.#finish();",
  ],
  [
    "WC1: finds that all is done one task too early",
    "if (done + n >= Atomics.load(words, TARGET)) this.#finish();",
    "if (done + n >= Atomics.load(words, TARGET) - 1) this.#finish();",
  ],
  [
    "WC2: counts by load and store",
    "const seen = Atomics.compareExchange(words, DONE, done, done + n);",
    "const seen = done; Atomics.store(words, DONE, done + n);",
  ],
  [
    "WC2: does not look whether its count went in",
    "if (seen === done) break; done = seen;",
    "break;",
  ],
  [
    "WC3: any end of a sleep ends the wait",
    'if (outcome === "timed-out") { return',
    'if (outcome === "ok" || outcome === "not-equal") return true;\n' +
    'if (outcome === "timed-out") { return',
  ],
  [
    "WC4: wakes one of those that wait",
    "if (was === AWAITED) Atomics.notify(words, FINISHED);",
    "if (was === AWAITED) Atomics.notify(words, FINISHED, 1);",
  ],
  [
    "wakes nobody",
    "if (was === AWAITED) Atomics.notify(words, FINISHED);",
    "",
  ],
  [
    "wakes before it is over",
    "const was = Atomics.exchange(words, FINISHED, OVER); " +
    "if (was === AWAITED) Atomics.notify(words, FINISHED);",
    "Atomics.notify(words, FINISHED); Atomics.store(words, FINISHED, OVER);",
  ],
  [
    "is over by load and store",
    "const was = Atomics.exchange(words, FINISHED, OVER);",
    "const was = Atomics.load(words, FINISHED);\n" +
    "Atomics.store(words, FINISHED, OVER);",
  ],
  [
    "sleeps and does not say so",
    "const was = Atomics.compareExchange(words, FINISHED, RUNNING, AWAITED);",
    "const was = Atomics.load(words, FINISHED);",
    {
      also: [
        "yield { words, index: FINISHED, value: AWAITED };",
        "yield { words, index: FINISHED, value: was };",
      ],
    },
  ],
  [
    "says that it sleeps by a store",
    "const was = Atomics.compareExchange(words, FINISHED, RUNNING, AWAITED);",
    "const was = Atomics.exchange(words, FINISHED, AWAITED);",
  ],
  [
    "(T): looks at the target before it counts",
    "const seen = Atomics.compareExchange(words, DONE, done, done + n);",
    "const target = Atomics.load(words, TARGET);\n" +
    "const seen = Atomics.compareExchange(words, DONE, done, done + n);\n" +
    "if (seen === done && done + n >= target) this.#finish();",
    {
      also: [
        "if (done + n >= Atomics.load(words, TARGET)) this.#finish();",
        "",
      ],
    },
  ],
  [
    "(C): looks at what is done before it lowers the target",
    "Atomics.store(words, TARGET, target); // (C) then look at what is done " +
    "if (Atomics.load(words, DONE) >= target) this.#finish();",
    "const done = Atomics.load(words, DONE);\n" +
    "Atomics.store(words, TARGET, target);\nif (done >= target) this.#finish();",
  ],
  [
    "cancels and does not look whether all is done",
    "if (Atomics.load(words, DONE) >= target) this.#finish(); }",
    "}",
  ],
  [
    "cancels by load and store",
    "const was = Atomics.exchange(words, NEXT, end);",
    "const was = Atomics.load(words, NEXT); Atomics.store(words, NEXT, end);",
  ],
  [
    "cancels what is cancelled",
    "if ((was >>> 0) >= end) return; const target",
    "const target",
  ],
  [
    "cancels and keeps the target",
    "Atomics.store(words, TARGET, target); // (C)",
    "// (C)",
  ],
  [
    "hands out by load and store",
    "const start = (Atomics.add(words, NEXT, 1) >>> 0) * chunk;",
    "const taken = Atomics.load(words, NEXT) >>> 0;\n" +
    "Atomics.store(words, NEXT, taken + 1); const start = taken * chunk;",
  ],
  [
    "hands out tasks that there are not",
    "if (start >= total) return; this.#start",
    "this.#start",
  ],
  [
    "the last chunk goes past the end",
    "this.#end = Math.min(start + chunk, total);",
    "this.#end = start + chunk;",
  ],
  [
    "hands out guided ranges by a store",
    "next = Atomics.compareExchange(words, NEXT, start, end);",
    "Atomics.store(words, NEXT, end);",
  ],
  [
    "hands out a guided range that it did not get",
    "if (next !== start) continue;",
    "",
  ],
  [
    "a guided range has no task",
    "const end = start + Math.max(share, 1);",
    "const end = start + share;",
  ],
  [
    "a range is handed out again",
    "this.#start = end; return start === end",
    "return start === end",
  ],
  [
    "waits for ever for one that was terminated to say that all is done",
    "if (Atomics.load(words, DONE) >= Atomics.load(words, TARGET)) { " +
    "this.#finish(); }",
    "",
  ],
  [
    "a timeout is taken for the end",
    "return Atomics.load(words, FINISHED) === OVER;",
    "return true;",
  ],
);
