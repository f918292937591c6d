import { mutants } from "../_run/mutant.ts";

/** Mutants of `Once`. */
export const once = mutants(
  "once.ts",
  [
    "begins by a load and a store",
    "const state = Atomics.compareExchange(words, STATE, NEW, this.#id);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state === NEW) Atomics.store(words, STATE, this.#id);",
  ],
  [
    "begins although another runs it",
    "if (state === NEW) return this.#call(fn);",
    "if ((state & DONE_BIT) === 0) return this.#call(fn);",
  ],
  [
    "does not wait for who runs it",
    "if (state & DONE_BIT) return this.#done = true; if ((state",
    "if (state !== NEW) return true; if ((state",
  ],
  [
    "(E): is done before it has run",
    "#call(fn: () => void): true { try { fn();",
    "#call(fn: () => void): true { try { this.#end(); fn();",
  ],
  [
    "(E): ends by a store",
    "const state = Atomics.exchange(words, STATE, DONE_BIT);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, DONE_BIT);",
  ],
  [
    "wakes before it is done",
    "const state = Atomics.exchange(words, STATE, DONE_BIT); " +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE);",
    "const state = Atomics.load(words, STATE);\n" +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE);\n" +
    "Atomics.exchange(words, STATE, DONE_BIT);",
  ],
  [
    "the end wakes one",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "return this.#done = true;",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);\n" +
    "return this.#done = true;",
  ],
  [
    "the end wakes nobody",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE); " +
    "return this.#done = true;",
    "return this.#done = true;",
  ],
  [
    "is not done, and looks as new",
    "const state = Atomics.exchange(words, STATE, DONE_BIT);",
    "const state = Atomics.exchange(words, STATE, NEW);",
  ],
  [
    "fails by a store",
    "const state = Atomics.and(words, STATE, WAITING_BIT);",
    "const state = Atomics.load(words, STATE);\n" +
    "Atomics.store(words, STATE, state & WAITING_BIT);",
  ],
  [
    "a failure forgets who waits",
    "const state = Atomics.and(words, STATE, WAITING_BIT);",
    "const state = Atomics.exchange(words, STATE, NEW);",
  ],
  [
    "a failure wakes nobody",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); } *#runSlow",
    "} *#runSlow",
  ],
  [
    "a failure is the end",
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#fail();",
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#end();",
  ],
  [
    "a failure is not told",
    "#call(fn: () => void): true { try { fn(); } catch (error) { this.#fail();",
    "#call(fn: () => void): true { try { fn(); } catch (error) {",
  ],
  [
    "does not say that it sleeps",
    "state = free ? state | this.#id : state | WAITING_BIT;",
    "state = free ? state | this.#id : state;",
  ],
  [
    "tries next, and forgets who waits",
    "state = free ? state | this.#id : state | WAITING_BIT;",
    "state = free ? this.#id : state | WAITING_BIT;",
  ],
  [
    "says that it sleeps, or tries next, by a store",
    "const seen = Atomics.compareExchange(words, STATE, expected, state); " +
    "if (seen !== expected) { state = seen; continue; }",
    "Atomics.store(words, STATE, state);",
  ],
  [
    "does not look whether its exchange went in",
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
    "a wake is taken for the end",
    'last = outcome === "timed-out";',
    'if (outcome === "ok") return "done"; last = outcome === "timed-out";',
  ],
  [
    "looks at nothing after a wake",
    "state = Atomics.load(words, STATE); last",
    "last",
  ],
  [
    "a timeout is taken for the end",
    "if (!free && last) return false;",
    'if (!free && last) return "done";',
  ],
  [
    "abandons another than it was told",
    "while ((state & RUNNER_MASK) === id && id !== 0) {",
    "while ((state & RUNNER_MASK) !== 0 && id !== 0) {",
  ],
  [
    "abandons, and forgets who waits",
    "const kept = state & WAITING_BIT;",
    "const kept = NEW;",
  ],
  [
    "abandons by a store",
    "state = Atomics.compareExchange(words, STATE, expected, kept); " +
    "if (state !== expected) continue;",
    "Atomics.store(words, STATE, kept);",
  ],
  [
    "does not look whether it abandoned",
    "kept); if (state !== expected) continue;",
    "kept);",
  ],
  [
    "abandons, and wakes nobody",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1); return true;",
    "return true;",
  ],
  [
    "abandons before it wakes",
    "state = Atomics.compareExchange(words, STATE, expected, kept); " +
    "if (state !== expected) continue; " +
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);",
    "if (state & WAITING_BIT) Atomics.notify(words, STATE, 1);\n" +
    "state = Atomics.compareExchange(words, STATE, expected, kept);\n" +
    "if (state !== expected) continue;",
  ],
);
