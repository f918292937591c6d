import { mutants } from "./_mutant.ts";

/** Mutants of `Broadcast`. */
export const broadcast = mutants(
  "broadcast.ts",
  [
    "(P): publishes before it writes",
    "if (this.drops) Atomics.store(this.#words, at, value); // published by (P) " +
    "else this.#words[at] = value; // published by (P) this.#publish(tail);",
    "this.#publish(tail);\n" +
    "if (this.drops) Atomics.store(this.#words, at, value);\n" +
    "else this.#words[at] = value;",
  ],
  [
    "full one element too late",
    "if ((tail - words[SLOWEST]! | 0) < this.#span) return tail;",
    "if ((tail - words[SLOWEST]! | 0) <= this.#span) return tail;",
  ],
  [
    "waits for nobody",
    "const slowest = this.#scan(tail);",
    "const slowest = tail;",
  ],
  [
    "stays where it looked first",
    "Atomics.compareExchange(words, at + CURSOR, first, next);",
    "",
  ],
  [
    "sees what is not there",
    "this.#tail = tail & ~CLOSED_BIT; if ((this.#tail - cursor | 0) > 0) return",
    "this.#tail = tail & ~CLOSED_BIT;\nif ((this.#tail - cursor | 0) >= 0) return",
  ],
);
