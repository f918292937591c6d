import { mutants } from "../_run/mutant.ts";

/** Mutants of `LockFreeQueue`. */
export const lock_free_queue = mutants(
  "lock_free_queue.ts",
  [
    "(P): publishes before it writes",
    "this.#words[this.#slots + slot] = value; // published by (P) " +
    "if (!this.#append(this.#ticket, slot, this.capacity)) return false;",
    "if (!this.#append(this.#ticket, slot, this.capacity)) return false;\n" +
    "this.#words[this.#slots + slot] = value;",
  ],
  [
    "frees before it reads",
    "const value = this.#words[this.#slots + slot]!; // published by (P) " +
    "this.#giveBack(slot);",
    "this.#giveBack(slot);\n" +
    "const value = this.#words[this.#slots + slot]!;",
  ],
  [
    "puts in by a store",
    "entry = Atomics.compareExchange(words, at, free, put);",
    "Atomics.store(words, at, put);",
  ],
  [
    "takes by a store",
    "const seen = Atomics.compareExchange(words, at, entry, taken);",
    "const seen = entry; Atomics.store(words, at, taken);",
  ],
  [
    "closes by a store",
    "const seen = Atomics.compareExchange(words, at, free, closed);",
    "const seen = free; Atomics.store(words, at, closed);",
  ],
  [
    "a taken entry is of the same lap",
    "const taken = free + 2 * filled | 0;",
    "const taken = free;",
  ],
  [
    "a push that finds the queue full keeps its slot",
    "const result = this.#put(QUEUE, ticket, slot, capacity); if (result === 0) " +
    "return true; this.#giveBack(slot);",
    "const result = this.#put(QUEUE, ticket, slot, capacity);\n" +
    "if (result === 0) return true;",
  ],
  [
    "full one element too late",
    "if (capacity > 0 && !this.#isTaken(ticket - capacity | 0)) {",
    "if (capacity > 0 && !this.#isTaken(ticket - capacity - 1 | 0)) {",
  ],
  [
    "a hint says that an element is not taken",
    "return this.#ahead(words[at]!, ticket) > 0 || " +
    "this.#ahead(Atomics.load(words, at), ticket) > 0;",
    "return this.#ahead(words[at]!, ticket) > 0;",
  ],
  [
    "a hint says that the queue is empty",
    "entry = Atomics.load(words, at); if (entry === free) return NONE; " +
    "if (entry === (free | CLOSED)) return OVER; } ticket",
    "if (entry === free) return NONE; " +
    "if (entry === (free | CLOSED)) return OVER; } ticket",
  ],
  [
    "does not see that it is closed when empty",
    "if (entry === (free | CLOSED)) return OVER; } ticket",
    "if (entry === (free | CLOSED)) return NONE; } ticket",
  ],
  [
    "laps do not wrap",
    "((entry & -2 * this.#filled) - this.#lap(ticket) | 0) >> 1",
    "((entry & -2 * this.#filled) - this.#lap(ticket)) / 2",
  ],
  [
    "closes and wakes no consumer",
    "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity); }",
    "wake(words, PUSH_EPOCH, Infinity); }",
  ],
  [
    "closes and wakes one consumer",
    "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity); }",
    "wake(words, POP_EPOCH, 1); wake(words, PUSH_EPOCH, Infinity); }",
    {
      also: [
        "else if (this.closed) wake(this.#words, POP_EPOCH, Infinity);",
        "",
      ],
    },
  ],
  [
    "pushes and wakes nobody",
    "if (!this.#append(this.#ticket, slot, this.capacity)) return false; " +
    "wake(this.#words, POP_EPOCH, 1); return true;",
    "if (!this.#append(this.#ticket, slot, this.capacity)) return false;\nreturn true;",
  ],
  [
    "pops and wakes nobody",
    "this.#giveBack(slot); wake(this.#words, PUSH_EPOCH, 1); return value;",
    "this.#giveBack(slot); return value;",
  ],
  [
    "a ticket that is put in is put in again",
    "const put = entry & this.#filled ? ahead : ahead - this.#filled;",
    "const put = ahead - this.#filled;",
  ],
  [
    "takes past a ticket that is put in just now",
    "if (ahead === 0) return ticket; // put in just now",
    "if (ahead === 0) return ticket + 1 | 0;",
  ],
);
