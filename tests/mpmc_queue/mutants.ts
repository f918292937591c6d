import { mutants } from "../_run/mutant.ts";

/** Mutants of `MpmcQueue`. */
export const mpmc_queue = mutants(
  "mpmc_queue.ts",
  [
    "MQ1: publishes before it writes",
    "this.#words[this.#slot(ticket) + 1] = value; // published by (P) " +
    "this.#publish(ticket);",
    "this.#publish(ticket);\nthis.#words[this.#slot(ticket) + 1] = value;",
  ],
  [
    "MQ1: publishes a batch before it writes",
    "this.copier.put(src, i * per, this.#slot(ticket) + 1, per); " +
    "this.#publish(ticket);",
    "this.#publish(ticket);\n" +
    "this.copier.put(src, i * per, this.#slot(ticket) + 1, per);",
  ],
  [
    "MQ2: frees a slot for a lap that is too short",
    "const next = ticket + this.capacity * ONE | 0; Atomics.store",
    "const next = ticket + (this.capacity - 1) * ONE | 0; Atomics.store",
  ],
  [
    "MQ3: frees before it reads",
    "const value = this.#words[this.#slot(ticket) + 1]!; // published by (P) " +
    "this.#free(ticket);",
    "this.#free(ticket);\nconst value = this.#words[this.#slot(ticket) + 1]!;",
  ],
  [
    "MQ3: frees a batch before it reads",
    "this.copier.get(dst, i * per, this.#slot(ticket) + 1, per); " +
    "this.#free(ticket);",
    "this.#free(ticket);\n" +
    "this.copier.get(dst, i * per, this.#slot(ticket) + 1, per);",
  ],
  [
    "MQ4: claims to push by a store",
    "const seen = Atomics.compareExchange(words, TAIL, tail, next);",
    "const seen = tail; Atomics.store(words, TAIL, next);",
  ],
  [
    "MQ5: writes before it owns the slot",
    "const ticket = this.#claimPush(1); if (ticket === undefined) return false; " +
    "this.#words",
    "this.#words[this.#slot(this.#words[TAIL]!) + 1] = value;\n" +
    "const ticket = this.#claimPush(1);\n" +
    "if (ticket === undefined) return false;\nthis.#words",
  ],
  [
    "MQ6: pushes one element too many",
    "if (turn === tail) { const count",
    "if (turn === tail || turn === (tail - this.capacity * ONE + FILLED | 0))" +
    " { const count",
  ],
  [
    "MQ7: slots have no turns at first",
    "for (let i = 0; i < capacity; i++) words[SLOTS + i * stride] = i * ONE;",
    "",
  ],
  [
    "MQ8: tickets wrap before their slots do",
    "SLOTS + (ticket >>> 1 & this.#mask) * this.#stride",
    "SLOTS + (ticket / 2 & this.#mask) * this.#stride + (ticket < 0 ? 2 : 0)",
  ],
  [
    "MQ9: claims to pop by a store",
    "const seen = Atomics.compareExchange(words, HEAD, head, next);",
    "const seen = head; Atomics.store(words, HEAD, next);",
  ],
  [
    "MQ10: spins on an old ticket to push",
    "tail = seen; continue;",
    "continue;",
  ],
  [
    "MQ10: spins on an old ticket to pop",
    "head = seen; continue;",
    "continue;",
  ],
  [
    "MQ11: reads the turn plainly, to push",
    "const turn = Atomics.load(words, this.#slot(tail));",
    "const turn = words[this.#slot(tail)];",
  ],
  [
    "MQ11: reads the turn plainly, to pop",
    "const turn = Atomics.load(words, this.#slot(head));",
    "const turn = words[this.#slot(head)];",
  ],
  [
    "publishes by a plain store",
    "Atomics.store(this.#words, this.#slot(ticket), ticket + FILLED | 0);",
    "this.#words[this.#slot(ticket)] = ticket + FILLED | 0;",
  ],
  [
    "frees by a plain store",
    "Atomics.store(this.#words, this.#slot(ticket), next);",
    "this.#words[this.#slot(ticket)] = next;",
  ],
  [
    "believes an old hint that it is full",
    "const seen = Atomics.load(words, TAIL); if (seen === tail) " +
    "return undefined; tail = seen;",
    "return undefined;",
  ],
  [
    "believes an old hint that it is empty",
    "const seen = Atomics.load(words, HEAD); if (seen === head) {",
    "const seen = head; if (seen === head) {",
  ],
  [
    "reads the next ticket plainly to say that it is full",
    "const seen = Atomics.load(words, TAIL); if (seen === tail)",
    "const seen = words[TAIL]!; if (seen === tail)",
  ],
  [
    "pushes into a closed queue",
    "if (tail & CLOSED_BIT) throw new ClosedError();",
    "tail &= ~CLOSED_BIT;",
    {
      also: [
        "const next = tail + count * ONE | 0; const seen = " +
        "Atomics.compareExchange(words, TAIL, tail, next); if (seen === tail)",
        "const seen = Atomics.add(words, TAIL, count * ONE);\n" +
        "if ((seen & ~CLOSED_BIT) === tail)",
      ],
    },
  ],
  [
    "says it is closed before the last element is published",
    "if (Atomics.load(words, TAIL) === (head | CLOSED_BIT)) { throw",
    "if (Atomics.load(words, TAIL) & CLOSED_BIT) { throw",
  ],
  [
    "does not see that it is closed when empty",
    "if (Atomics.load(words, TAIL) === (head | CLOSED_BIT)) { " +
    "throw new ClosedError(); }",
    "",
  ],
  [
    "closes by a store",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
    "const was = Atomics.load(words, TAIL);\n" +
    "Atomics.store(words, TAIL, was | CLOSED_BIT);",
  ],
  [
    "closes and wakes one consumer",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return; " +
    "wake(this.#words, POP_EPOCH, Infinity);",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
  ],
  [
    "closes and wakes no producer",
    "wake(this.#words, POP_EPOCH, Infinity); " +
    "wake(this.#words, PUSH_EPOCH, Infinity); }",
    "wake(this.#words, POP_EPOCH, Infinity); }",
  ],
  [
    "wakes the consumers before it closes",
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return; " +
    "wake(this.#words, POP_EPOCH, Infinity);",
    "wake(this.#words, POP_EPOCH, Infinity);\n" +
    "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
  ],
  [
    "pushes and wakes nobody",
    "this.#publish(ticket); wake(this.#words, POP_EPOCH, 1); return true;",
    "this.#publish(ticket); return true;",
  ],
  [
    "wakes before it publishes",
    "this.#publish(ticket); wake(this.#words, POP_EPOCH, 1); return true;",
    "wake(this.#words, POP_EPOCH, 1); this.#publish(ticket); return true;",
  ],
  [
    "pops and wakes nobody",
    "this.#free(ticket); wake(this.#words, PUSH_EPOCH, 1); return value;",
    "this.#free(ticket); return value;",
  ],
  [
    "wakes before it frees",
    "this.#free(ticket); wake(this.#words, PUSH_EPOCH, 1); return value;",
    "wake(this.#words, PUSH_EPOCH, 1); this.#free(ticket); return value;",
  ],
  [
    "wakes consumers where producers sleep",
    "this.#free(ticket); wake(this.#words, PUSH_EPOCH, 1); return value;",
    "this.#free(ticket); wake(this.#words, POP_EPOCH, 1); return value;",
  ],
  [
    "pushes a batch and wakes nobody",
    "wake(this.#words, POP_EPOCH, count); return count;",
    "return count;",
  ],
  [
    "pops a batch and wakes nobody",
    "wake(this.#words, PUSH_EPOCH, count); return count;",
    "return count;",
  ],
  [
    "commits and wakes nobody",
    "this.#reserved = undefined; this.#publish(ticket); " +
    "wake(this.#words, POP_EPOCH, 1);",
    "this.#reserved = undefined; this.#publish(ticket);",
  ],
  [
    "consumes and wakes nobody",
    "this.#peeked = undefined; this.#free(ticket); " +
    "wake(this.#words, PUSH_EPOCH, 1);",
    "this.#peeked = undefined; this.#free(ticket);",
  ],
  [
    "a batch claims slots that are not its own",
    "if (turn !== (next + state | 0)) break;",
    "",
  ],
  [
    "a batch claims less than it takes",
    "const count = n === 1 ? 1 : this.#run(tail, n, 0); const next = " +
    "tail + count * ONE | 0;",
    "const count = n === 1 ? 1 : this.#run(tail, n, 0);\n" +
    "const next = tail + ONE | 0;",
  ],
  [
    "who is woken too early does not pass the wake on, to pop",
    "if (this.poppable()) wake(words, POP_EPOCH, this.closed ? Infinity : 1);",
    "",
  ],
  [
    "who is woken too early does not pass the wake on, to push",
    "else if (Atomics.load(words, this.#slot(tail)) === tail) {",
    "else if (false) {",
  ],
);

/** Mutants of what those queues sleep by. */
export const _event_count = mutants(
  "_event_count.ts",
  [
    "the epoch does not change",
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.notify(words, epoch, n);",
  ],
  [
    "the epoch changes after the wake",
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.notify(words, epoch, n); Atomics.add(words, epoch, 1);",
  ],
  [
    "the epoch changes and nobody is woken",
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.add(words, epoch, 1);",
  ],
  [
    "wakes only where two sleep",
    "if (Atomics.load(words, epoch + WAITERS) === 0) return;",
    "if (Atomics.load(words, epoch + WAITERS) <= 1) return;",
  ],
  [
    "looks for waiters plainly",
    "if (Atomics.load(words, epoch + WAITERS) === 0) return;",
    "if (words[epoch + WAITERS] === 0) return;",
  ],
  [
    "is not counted before it looks",
    "Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again",
    "Atomics.load(words, epoch + WAITERS);",
    { also: ["Atomics.sub(words, epoch + WAITERS, 1);", ""] },
  ],
  [
    "is counted by load and store",
    "Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again",
    "Atomics.store(words, epoch + WAITERS, " +
    "Atomics.load(words, epoch + WAITERS) + 1);",
    { by: "mpmc_queue: two time out" },
  ],
  [
    "is counted for ever",
    "Atomics.sub(words, epoch + WAITERS, 1);",
    "",
  ],
);

/** Mutants of what all queues do to wait. */
export const _queue = mutants(
  "_queue.ts",
  [
    "does not look again after it announced itself",
    "try { result = attempt(); if (result !== false && result !== undefined) " +
    "return result; if (sleep",
    "try { if (sleep",
  ],
  [
    "looks before it announces itself",
    "const sleep = this.announce(end); let outcome; try { result = attempt(); " +
    "if (result !== false && result !== undefined) return result; if",
    "result = attempt();\n" +
    "if (result !== false && result !== undefined) return result;\n" +
    "const sleep = this.announce(end); let outcome; try { if",
  ],
  [
    "gives up after one sleep",
    'if (outcome !== "timed-out") continue; result',
    "result",
  ],
  [
    "never takes an announcement back",
    "} finally { this.withdraw(end); }",
    "} finally { }",
  ],
  [
    "a wake that came too early is not passed on",
    "} finally { this.pass(end); }",
    "} finally { }",
  ],
  [
    "takes a timeout for room",
    "return result === false ? undefined : result;",
    'return result === false ? (end === "push") as T : result;',
  ],
);
