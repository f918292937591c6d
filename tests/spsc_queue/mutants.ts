import { mutants } from "../_run/mutant.ts";

/** Mutants of `SpscQueue`. */
export const spsc_queue = mutants(
  "spsc_queue.ts",
  [
    "SP1: publishes before it writes",
    "this.#words[this.#at(tail)] = value; // published by (P) " +
    "this.#publish(tail, 1);",
    "this.#publish(tail, 1);\nthis.#words[this.#at(tail)] = value;",
  ],
  [
    "SP1: publishes a batch before it writes the second half",
    "if (count > first) { this.copier.put(src, first * per, DATA, " +
    "(count - first) * per); } this.#publish(tail, count);",
    "this.#publish(tail, count);\nif (count > first) { this.copier.put(" +
    "src, first * per, DATA, (count - first) * per); }",
  ],
  [
    "SP2: full one element too late",
    "room = this.#span - (tail - head | 0);",
    "room = this.#span + ONE - (tail - head | 0);",
  ],
  [
    "SP2: full one element too late, by the cached index",
    "let room = this.#span - (tail - words[HEAD_CACHE]! | 0);",
    "let room = this.#span + ONE - (tail - words[HEAD_CACHE]! | 0);",
  ],
  [
    "SP3: frees before it reads",
    "const value = this.#words[this.#at(head)]!; // published by (P) " +
    "this.#release(head, 1);",
    "this.#release(head, 1);\nconst value = this.#words[this.#at(head)]!;",
  ],
  [
    "SP3: frees a batch before it reads",
    "if (count > first) { this.copier.get(dst, first * per, DATA, " +
    "(count - first) * per); } this.#release(head, count);",
    "this.#release(head, count);\nif (count > first) { this.copier.get(" +
    "dst, first * per, DATA, (count - first) * per); }",
  ],
  [
    "SP4: the consumer never looks at the producer's index",
    "const tail = Atomics.load(words, TAIL); words[TAIL_CACHE]",
    "const tail = words[TAIL_CACHE]!; words[TAIL_CACHE]",
  ],
  [
    "SP4: the producer never looks at the consumer's index",
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = words[HEAD_CACHE]!; words[HEAD_CACHE]",
  ],
  [
    "SP5: reads the producer's index plainly",
    "const tail = Atomics.load(words, TAIL); words[TAIL_CACHE]",
    "const tail = words[TAIL]!; words[TAIL_CACHE]",
  ],
  [
    "SP5: reads the consumer's index plainly",
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = words[HEAD]! & INDEX_MASK; words[HEAD_CACHE]",
  ],
  [
    "takes the bits for a part of the index",
    "const tail = this.#words[TAIL]! & INDEX_MASK; // our own",
    "const tail = this.#words[TAIL]!; // our own",
  ],
  [
    "takes the bits for a part of the consumer's index",
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = Atomics.load(words, HEAD); words[HEAD_CACHE]",
    { by: "spsc_queue: closed when full" },
  ],
  [
    "publishes by a store",
    "const was = Atomics.compareExchange(words, TAIL, tail, next); " +
    "if (was === tail) return;",
    "const was = Atomics.load(words, TAIL);\n" +
    "if (was === tail) return void Atomics.store(words, TAIL, next);",
  ],
  [
    "publishes for a sleeper by a store",
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    "const still = was; Atomics.store(words, TAIL, next);",
    { by: "spsc_queue: closed while a push wakes the consumer" },
  ],
  [
    "publishes and wakes nobody",
    "if (still & CLOSED_BIT) throw new ClosedError(); " +
    "Atomics.notify(words, TAIL, 1);",
    "if (still & CLOSED_BIT) throw new ClosedError();",
  ],
  [
    "wakes the consumer before it publishes",
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    "Atomics.notify(words, TAIL, 1);\n" +
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    {
      also: [
        "throw new ClosedError(); Atomics.notify(words, TAIL, 1);",
        "throw new ClosedError();",
      ],
    },
  ],
  [
    "pushes into a closed queue",
    "if (was & CLOSED_BIT) throw new ClosedError(); // WAITING is set",
    "// WAITING is set",
    { by: "spsc_queue: closed when full" },
  ],
  [
    "does not see that the queue was closed while it published",
    "if (still & CLOSED_BIT) throw new ClosedError();",
    "",
    { by: "spsc_queue: closed while a push wakes the consumer" },
  ],
  [
    "frees and wakes nobody",
    "if (was & WAITING_BIT) Atomics.notify(words, HEAD, 1);",
    "",
  ],
  [
    "wakes the producer before it frees",
    "let was = Atomics.compareExchange(words, HEAD, head, next);",
    "Atomics.notify(words, HEAD, 1);\n" +
    "let was = Atomics.compareExchange(words, HEAD, head, next);",
    { also: ["if (was & WAITING_BIT) Atomics.notify(words, HEAD, 1);", ""] },
  ],
  [
    "frees by a store",
    "let was = Atomics.compareExchange(words, HEAD, head, next); " +
    "for (let expected = head; was !== expected;) {",
    "const was = Atomics.load(words, HEAD); " +
    "Atomics.store(words, HEAD, next);\n" +
    "if (false) { let was, expected;",
    { by: "spsc_queue: the consumer closes" },
  ],
  [
    "frees only where nobody sleeps",
    "for (let expected = head; was !== expected;) {",
    "for (let expected = head; false;) {",
  ],
  [
    "sleeps without asking for a wake",
    "const was = Atomics.compareExchange(words, index, idle, value);",
    "const was = idle;",
    { by: "spsc_queue: push, pop" },
  ],
  [
    "asks for a wake by a store",
    "const was = Atomics.compareExchange(words, index, idle, value);",
    "const was = Atomics.exchange(words, index, value);",
  ],
  [
    "asks for a wake at the wrong index",
    ": (words[TAIL]! & INDEX_MASK) - this.#span | 0;",
    ": (words[TAIL]! & INDEX_MASK);",
    { by: "spsc_queue: push, pop" },
  ],
  [
    "asks the wrong side for a wake",
    'const index = end === "pop" ? TAIL : HEAD;',
    'const index = end === "pop" ? HEAD : TAIL;',
  ],
  [
    "sleeps only the first time it asked",
    "return was === idle || was === value ? { words, index, value }",
    "return was === idle ? { words, index, value }",
    { by: "spsc_queue: pop times out at any time" },
  ],
  [
    "closes only the producer's end",
    "for (const index of [TAIL, HEAD]) {",
    "for (const index of [TAIL]) {",
  ],
  [
    "closes only the consumer's end",
    "for (const index of [TAIL, HEAD]) {",
    "for (const index of [HEAD]) {",
  ],
  [
    "closes and wakes nobody",
    "if (was & WAITING_BIT) Atomics.notify(this.#words, index);",
    "",
  ],
  [
    "closes by a store",
    "const was = Atomics.or(this.#words, index, CLOSED_BIT);",
    "const was = Atomics.load(this.#words, index);\n" +
    "Atomics.store(this.#words, index, was | CLOSED_BIT);",
  ],
  [
    "says it is closed before it is empty",
    "if (filled === 0 && tail & CLOSED_BIT) throw new ClosedError();",
    "if (tail & CLOSED_BIT) throw new ClosedError();",
  ],
  [
    "does not see that it is closed when empty",
    "if (filled === 0 && tail & CLOSED_BIT) throw new ClosedError();",
    "",
    { by: "spsc_queue: the producer closes" },
  ],
  [
    "does not see that it is closed when full",
    "if (room === 0) this.#assertOpen();",
    "",
    { by: "spsc_queue: closed when full" },
  ],
  [
    "the room it knows of does not wrap",
    "let room = this.#span - (tail - words[HEAD_CACHE]! | 0);",
    "let room = this.#span - (tail - words[HEAD_CACHE]!);",
  ],
  [
    "the index a producer sleeps on does not wrap",
    ": (words[TAIL]! & INDEX_MASK) - this.#span | 0; const value = " +
    "idle | WAITING_BIT;",
    ": (words[TAIL]! & INDEX_MASK) - this.#span;\n" +
    "const value = idle + WAITING_BIT;",
    { by: "spsc_queue: a producer sleeps where the sign changes" },
  ],
  [
    "a batch goes past the end",
    "return Math.min(count, this.capacity - (index >>> 2 & this.#mask));",
    "return count;",
  ],
  [
    "a slot in place is appended twice",
    "this.#reserved = false; this.#publish",
    "this.#reserved = false; this.#publish(this.#words[TAIL]! & INDEX_MASK" +
    ", 1); this.#publish",
  ],
);
