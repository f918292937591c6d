import { mutants } from "../_run/mutant.ts";

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
  [
    "(J): looks again before it says that it is there",
    "Atomics.store(words, at + OWNER, this.#id); " +
    "const next = Atomics.load(words, TAIL) & ~CLOSED_BIT;",
    "const next = Atomics.load(words, TAIL) & ~CLOSED_BIT;\n" +
    "Atomics.store(words, at + OWNER, this.#id);",
  ],
  [
    "takes a seat by a store",
    "if (Atomics.compareExchange(words, at + OWNER, 0, joining) !== 0) {",
    "if (Atomics.store(words, at + OWNER, joining) === 0) {",
    { by: "broadcast: two take seats" },
  ],
  [
    "counts another's losses",
    "Atomics.store(words, at + DROPPED, 0);",
    "",
    { by: "broadcast: two take seats" },
  ],
  [
    "waits for the last",
    "if ((cursor - slowest | 0) < 0) slowest = cursor;",
    "slowest = cursor;",
    { by: "broadcast: waits for the slowest, 2,0" },
  ],
  [
    "waits for the fastest",
    "if ((cursor - slowest | 0) < 0) slowest = cursor;",
    "if ((cursor - slowest | 0) > 0) slowest = cursor;",
    { by: "broadcast: waits for the slowest, 0,2" },
  ],
  [
    "compares cursors that wrap",
    "if ((cursor - slowest | 0) < 0) slowest = cursor;",
    "if (cursor < slowest) slowest = cursor;",
    { by: "broadcast: waits for the slowest, 2,0" },
  ],
  [
    "waits where nobody sits",
    "if (owner === 0 || owner & JOINING_BIT) continue;",
    "if (owner & JOINING_BIT) continue;",
    { by: "broadcast: waits for nobody where nobody sits" },
  ],
  [
    "waits for who joins just now",
    "if (owner === 0 || owner & JOINING_BIT) continue;",
    "if (owner === 0) continue;",
    { by: "broadcast: waits for nobody who joins just now" },
  ],
  [
    "full too late, at the second look",
    "words[SLOWEST] = slowest; if ((tail - slowest | 0) < this.#span)",
    "words[SLOWEST] = slowest; if ((tail - slowest | 0) <= this.#span)",
  ],
  [
    "full, and does not look whether it is closed",
    'if (this.closed) throw new ClosedError("The broadcast is closed"); ' +
    "return undefined;",
    "return undefined;",
    { by: "broadcast: the producer waits until another closes" },
  ],
  [
    "moves a late one by a store",
    "const seen = Atomics.compareExchange(words, at + CURSOR, cursor, next);",
    "Atomics.store(words, at + CURSOR, next); const seen = cursor;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves a late one, and does not count",
    "Atomics.add(words, at + DROPPED, (next - cursor | 0) >>> 1);",
    "",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves a late one for ever",
    "} else cursor = seen;",
    "}",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves a late one too little",
    "const next = tail - this.#span + ONE | 0;",
    "const next = tail - this.#span | 0;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves a late one too far",
    "const next = tail - this.#span + ONE | 0;",
    "const next = tail | 0;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "writes plainly where it drops",
    "if (this.drops) Atomics.store(this.#words, at, value); // published by (P)",
    "if (this.drops) this.#words[at] = value;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves on before it reads",
    "const value = this.broadcast.drops ? Atomics.load(words, at) : " +
    "words[at]!; // published by (P) " +
    "if (this.#advance(cursor)) return value;",
    "if (this.#advance(cursor)) {\n" +
    "return this.broadcast.drops ? Atomics.load(words, at) : words[at]!; }",
  ],
  [
    "takes what is void",
    "if (this.#advance(cursor)) return value;",
    "this.#advance(cursor); return value;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "moves on by a store where another may",
    "return Atomics.compareExchange(words, at, cursor, next) === cursor;",
    "return Atomics.store(words, at, next) === next;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "publishes by a store",
    "if (Atomics.compareExchange(words, TAIL, tail, next) !== tail) {",
    "if (Atomics.store(words, TAIL, next) === tail) {",
  ],
  [
    "moves on, and wakes nobody",
    "Atomics.store(words, at, next); wake(words, PUSH_EPOCH, Infinity);",
    "Atomics.store(words, at, next);",
    { by: "broadcast: the producer waits for one that sees" },
  ],
  [
    "wakes before it moves on",
    "Atomics.store(words, at, next); wake(words, PUSH_EPOCH, Infinity);",
    "wake(words, PUSH_EPOCH, Infinity); Atomics.store(words, at, next);",
    { by: "broadcast: the producer waits for one that sees" },
  ],
  [
    "ends though elements are left",
    "this.#tail = tail & ~CLOSED_BIT; if ((this.#tail - cursor | 0) > 0) " +
    "return cursor; if (tail & CLOSED_BIT)",
    "this.#tail = tail & ~CLOSED_BIT;\nif (tail & CLOSED_BIT)",
  ],
  [
    "closes by a load and a store",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
    "const tail = Atomics.load(words, TAIL); if (tail & CLOSED_BIT) return;\n" +
    "Atomics.store(words, TAIL, tail | CLOSED_BIT);",
  ],
  [
    "closes, and wakes no subscriber",
    "CLOSED_BIT) return; wake(words, POP_EPOCH, Infinity);",
    "CLOSED_BIT) return;",
    { by: "broadcast: all is seen, by one with a seat, until the end" },
  ],
  [
    "closes, and wakes no producer",
    "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity);",
    "wake(words, POP_EPOCH, Infinity);",
    { by: "broadcast: the producer waits until another closes" },
  ],
  [
    "leaves, and wakes nobody",
    "!== owner) return; wake(words, PUSH_EPOCH, Infinity);",
    "!== owner) return;",
    { by: "broadcast: the producer waits for one that leaves" },
  ],
  [
    "leaves by a store",
    "if (Atomics.compareExchange(words, at + OWNER, owner, 0) !== owner) return;",
    "Atomics.store(words, at + OWNER, 0);",
    { by: "broadcast: leaves where it was abandoned, and another sits" },
  ],
  [
    "abandons, and wakes nobody",
    "if (count > 0) wake(words, PUSH_EPOCH, Infinity);",
    "",
    { by: "broadcast: the producer waits for one that is abandoned" },
  ],
  [
    "publishes, and wakes nobody",
    '!== tail) { throw new ClosedError("The broadcast is closed"); } ' +
    "wake(words, POP_EPOCH, Infinity);",
    '!== tail) { throw new ClosedError("The broadcast is closed"); }',
    { by: "broadcast: one sleeps until another pushes" },
  ],
  [
    "wakes before it publishes",
    "const next = tail + ONE | 0; if (Atomics.compareExchange(words, TAIL",
    "const next = tail + ONE | 0; wake(words, POP_EPOCH, Infinity);\n" +
    "if (Atomics.compareExchange(words, TAIL",
    {
      by: "broadcast: one sleeps until another pushes",
      also: [
        '!== tail) { throw new ClosedError("The broadcast is closed"); } ' +
        "wake(words, POP_EPOCH, Infinity);",
        '!== tail) { throw new ClosedError("The broadcast is closed"); }',
      ],
    },
  ],
  [
    "joins, and wakes nobody",
    "if (next !== first) wake(words, PUSH_EPOCH, Infinity);",
    "",
  ],
  [
    "reads plainly where it drops",
    "const value = this.broadcast.drops ? Atomics.load(words, at) : words[at]!;",
    "const value = words[at]!;",
    { by: "broadcast: what is lost is counted" },
  ],
  [
    "reads arrays plainly where it drops",
    "scratch[i] = Atomics.load(this.#words, at + i);",
    "scratch[i] = this.#words[at + i]!;",
    { by: "broadcast: what is lost is counted, in arrays" },
  ],
  [
    "writes arrays plainly where it drops",
    "Atomics.store(this.#words, at + i, scratch[i]!);",
    "this.#words[at + i] = scratch[i]!;",
    { by: "broadcast: what is lost is counted, in arrays" },
  ],
  [
    "takes arrays that are void",
    "if (!this.#advance(cursor)) continue;",
    "this.#advance(cursor);",
    { by: "broadcast: what is lost is counted, in arrays" },
  ],
);
