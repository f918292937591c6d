import { mutants } from "../_run/mutant.ts";

/** Mutants of `RecordRing`. */
export const record_ring = mutants(
  "record_ring.ts",
  [
    "(P): publishes before it writes",
    "this.#put(src, record + 2); this.#publish(record, byteLength);",
    "this.#publish(record, byteLength); this.#put(src, record + 2);",
  ],
  [
    "(P): publishes a record before its length",
    "this.#words[record] = byteLength << 2 | COMMITTED; // published by (P) " +
    "this.#put(src, record + 2); this.#publish(record, byteLength);",
    "this.#put(src, record + 2); this.#publish(record, byteLength);\n" +
    "this.#words[record] = byteLength << 2 | COMMITTED;",
  ],
  [
    "(P): publishes a reservation before its state",
    "this.#words[record] = length << 2 | RESERVED; // published by (P) " +
    "this.#words[record + 1] = this.#id; this.#publish(record, length);",
    "this.#publish(record, length);\n" +
    "this.#words[record] = length << 2 | RESERVED;\n" +
    "this.#words[record + 1] = this.#id;",
  ],
  [
    "(C): commits plainly",
    "Atomics.store(words, record, length << 2 | COMMITTED); // (C)",
    "words[record] = length << 2 | COMMITTED;",
  ],
  [
    "(F): frees before it copies",
    "const copy = this.bytes.slice(at, at + this.peekedLength); this.consume();",
    "const length = this.peekedLength; this.consume();\n" +
    "const copy = this.bytes.slice(at, at + length);",
  ],
  [
    "(F): frees before it copies to an array",
    "this.#get(dst, at, length); this.consume();",
    "this.consume(); this.#get(dst, at, length);",
    {
      by: "record_ring: a producer that waits for room, and pops into arrays",
    },
  ],
  [
    "frees less than was taken",
    "Atomics.store(words, HEAD, words[HEAD]! + space | 0); // (F)",
    "Atomics.store(words, HEAD, words[HEAD]! + space - 8 | 0);",
  ],
  [
    "frees, and wakes nobody",
    "words[HEAD]! + space | 0); // (F) wake(words, PUSH_EPOCH, Infinity);",
    "words[HEAD]! + space | 0);",
  ],
  [
    "full too late",
    "if (total > this.capacity - (tail - words[HEAD_CACHE]! | 0)) {",
    "if (total > this.capacity) {",
  ],
  [
    "compares positions that wrap",
    "if (total > this.capacity - (tail - head | 0)) {",
    "if (total > this.capacity - (tail - head)) {",
  ],
  [
    "believes an old head that it is full",
    "const head = Atomics.load(words, HEAD); // pairs with (F)",
    "const head = words[HEAD_CACHE]!;",
  ],
  [
    "forgets what it skipped at the end",
    "const next = tail + skipped + spaceFor(length) | 0;",
    "const next = tail + spaceFor(length) | 0;",
  ],
  [
    "publishes by a store",
    ": Atomics.compareExchange(words, TAIL, tail, next); this.#endClaim();",
    ": (Atomics.store(words, TAIL, next), tail); this.#endClaim();",
  ],
  [
    "publishes in a closed ring, and says nothing",
    'if (seen & CLOSED_BIT) throw new ClosedError("The ring is closed"); } ' +
    "/** Takes the claim,",
    "} /** Takes the claim,",
  ],
  [
    "ends the claim before it publishes",
    "const words = this.#words; const tail = words[TAIL]!; // Where it began",
    "const words = this.#words; const tail = words[TAIL]!;\n" +
    "this.#endClaim(); // Where it began",
    {
      also: [
        ": Atomics.compareExchange(words, TAIL, tail, next); this.#endClaim();",
        ": Atomics.compareExchange(words, TAIL, tail, next);",
      ],
    },
  ],
  [
    "claims by a store",
    "const owner = Atomics.compareExchange(words, CLAIMANT, 0, this.#id);",
    "const owner = Atomics.load(words, CLAIMANT);\n" +
    "if (owner === 0) Atomics.store(words, CLAIMANT, this.#id);",
  ],
  [
    "(W): does not say that it waits for the claim",
    "const marked = owner | CONTENDED_BIT;",
    "const marked = owner;",
  ],
  [
    "(W): says by a store that it waits for the claim",
    "const seen = Atomics.compareExchange(words, CLAIMANT, owner, marked); " +
    "if (seen === owner) return false;",
    "Atomics.store(words, CLAIMANT, marked); return false;",
  ],
  [
    "ends the claim, and wakes nobody",
    "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) { " +
    "wake(words, PUSH_EPOCH, Infinity); }",
    "Atomics.store(words, CLAIMANT, 0);",
  ],
  [
    "ends the claim by a load and a store",
    "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) {",
    "const owner = Atomics.load(words, CLAIMANT);\n" +
    "Atomics.store(words, CLAIMANT, 0); if (owner & CONTENDED_BIT) {",
  ],
  [
    "wakes before it ends the claim",
    "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) { " +
    "wake(words, PUSH_EPOCH, Infinity); }",
    "if (Atomics.load(words, CLAIMANT) & CONTENDED_BIT) {\n" +
    "wake(words, PUSH_EPOCH, Infinity); }\nAtomics.exchange(words, CLAIMANT, 0);",
  ],
  [
    "pushes, and wakes nobody",
    "this.#publish(record, byteLength); wake(this.#words, POP_EPOCH, 1);",
    "this.#publish(record, byteLength);",
  ],
  [
    "never looks at the tail again",
    "if (head === words[TAIL_CACHE]) {",
    "if (head === words[TAIL_CACHE] && head < 0) {",
  ],
  [
    "ends though records are left",
    "if (head === (tail & POSITION_MASK)) return tail & CLOSED_BIT ? -1 : 0;",
    "if (tail & CLOSED_BIT) return -1;\n" +
    "if (head === (tail & POSITION_MASK)) return 0;",
  ],
  [
    "reads a state plainly",
    "const first = this.single ? words[record]! : Atomics.load(words, record);",
    "const first = words[record]!;",
  ],
  [
    "takes what is only reserved",
    "if (state === RESERVED) return 0;",
    "if (state === RESERVED) return record;",
  ],
  [
    "does not skip",
    "if (state === COMMITTED) return record;",
    "if (state === COMMITTED || state === SKIPPED) return record;",
  ],
  [
    "closes, and wakes no consumer",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return; " +
    "wake(words, POP_EPOCH, Infinity);",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
  ],
  [
    "closes by a load and a store",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
    "const tail = Atomics.load(words, TAIL); if (tail & CLOSED_BIT) return;\n" +
    "Atomics.store(words, TAIL, tail | CLOSED_BIT);",
  ],
  [
    "leaves no mark at the end",
    "words[this.#at(tail)] = left - HEADER << 2 | SKIPPED; // published by (P)",
    "",
  ],
  [
    "marks too much at the end",
    "words[this.#at(tail)] = left - HEADER << 2 | SKIPPED; // published by (P)",
    "words[this.#at(tail)] = left << 2 | SKIPPED;",
  ],
  [
    "keeps the claim where there is no room",
    "const closed = this.closed; this.#endClaim();",
    "const closed = this.closed;",
  ],
  [
    "keeps the claim of a closed ring",
    "if (tail & CLOSED_BIT) { this.#endClaim();",
    "if (tail & CLOSED_BIT) {",
  ],
  [
    "commits less, and marks no rest",
    "words[behind] = rest - HEADER << 2 | SKIPPED;",
    "void behind;",
    { by: "record_ring: one commits less than it reserved" },
  ],
  [
    "commits less, and marks too much",
    "words[behind] = rest - HEADER << 2 | SKIPPED;",
    "words[behind] = rest << 2 | SKIPPED;",
    { by: "record_ring: one commits less than it reserved" },
  ],
  [
    "(C): commits before it marks the rest",
    "if (rest > 0) { // published by (C)",
    "Atomics.store(words, record, length << 2 | COMMITTED);\n" +
    "if (rest > 0) { // published by (C)",
    { by: "record_ring: one commits less than it reserved" },
  ],
  [
    "publishes what it reserved, not what it commits",
    "words[record] = length << 2 | COMMITTED; // published by (P) " +
    "this.#publish(record, length);",
    "words[record] = length << 2 | COMMITTED;\n" +
    "this.#publish(record, this.#length);",
    { by: "record_ring: one producer commits less than it reserved" },
  ],
  [
    "commits, and wakes nobody",
    "// (C) } wake(words, POP_EPOCH, 1);",
    "}",
  ],
  [
    "gives up, and does not say so",
    "Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);",
    "",
    { by: "record_ring: one sleeps behind what is given up" },
  ],
  [
    "gives up, as if it had committed",
    "Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);",
    "Atomics.store(this.#words, record, this.#length << 2 | COMMITTED);",
    { by: "record_ring: one sleeps behind what is given up" },
  ],
  [
    "gives up, and wakes nobody",
    "wake(this.#words, POP_EPOCH, 1); // for what it held back",
    "",
    { by: "record_ring: one sleeps behind what is given up" },
  ],
  [
    "abandons, and keeps the claim",
    "this.#endClaim(); if (count > 0)",
    "if (count > 0)",
  ],
  [
    "abandons what was committed",
    "if ((head & 3) === RESERVED && words[record + 1] === id) {",
    "if (words[record + 1] === id || (head & 3) === COMMITTED) {",
  ],
  [
    "takes no claim over",
    "if ((owner & OWNER_MASK) !== id) return this.#beginClaim();",
    "return this.#beginClaim();",
    { by: "record_ring: one waits for a claim that is abandoned" },
  ],
  [
    "abandons, and wakes nobody",
    "if (count > 0) wake(words, POP_EPOCH, Infinity);",
    "",
    { by: "record_ring: one sleeps behind what is abandoned" },
  ],
  [
    "skips, and wakes nobody",
    "Atomics.store(words, HEAD, head + spaceFor(first >>> 2) | 0); " +
    "wake(words, PUSH_EPOCH, Infinity);",
    "Atomics.store(words, HEAD, head + spaceFor(first >>> 2) | 0);",
    { by: "record_ring: one waits for room where a record is skipped" },
  ],
  [
    "closes, and wakes no producer",
    "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity);",
    "wake(words, POP_EPOCH, Infinity);",
    { by: "record_ring: one waits for room until another closes" },
  ],
  [
    "takes a claim over, and forgets who waits",
    "const ours = this.#id | owner & CONTENDED_BIT;",
    "const ours = this.#id;",
    { by: "record_ring: one waits for a claim that is abandoned" },
  ],
);
