/**
 * Seeded bugs: one realistic mistake each, as edits of a primitive's source.
 * Every one of them must be found.
 */

/** A mistake. */
export interface Bug {
  readonly id: string;
  /** The primitive's file, and the family of its programs. */
  readonly family: string;
  readonly what: string;
  readonly edits: readonly (readonly [from: string, to: string])[];
}

function bug(
  id: string,
  family: string,
  what: string,
  ...edits: [from: string, to: string][]
): Bug {
  return { id, family, what, edits };
}

/** All of them. */
export const BUGS: readonly Bug[] = [
  bug(
    "MX1",
    "mutex",
    "woken waiter takes the lock as 1 instead of 2 (Drepper): third thread is forgotten",
    [
      "c = Atomics.exchange(this.#s, 0, 2);\n    }\n  }\n  tryLock",
      "c = Atomics.compareExchange(this.#s, 0, 0, 1);\n    }\n  }\n  tryLock",
    ],
  ),
  bug("MX2", "mutex", "slow path sleeps without marking the lock contended", [
    "if (c !== 2) c = Atomics.exchange(this.#s, 0, 2);",
    "",
  ], [
    "Atomics.wait(this.#s, 0, 2);\n      c = Atomics.exchange(this.#s, 0, 2);",
    "Atomics.wait(this.#s, 0, c);\n      c = Atomics.compareExchange(this.#s, 0, 0, 1);",
  ]),
  bug("MX3", "mutex", "unlock notifies before it stores 0", [
    "Atomics.store(this.#s, 0, 0);\n      Atomics.notify(this.#s, 0, 1);",
    "Atomics.notify(this.#s, 0, 1);\n      Atomics.store(this.#s, 0, 0);",
  ]),
  bug("MX4", "mutex", "unlock never notifies", [
    "Atomics.store(this.#s, 0, 0);\n      Atomics.notify(this.#s, 0, 1);",
    "Atomics.store(this.#s, 0, 0);",
  ]),
  bug("MX5", "mutex", "unlock is load then store instead of one RMW", [
    "if (Atomics.sub(this.#s, 0, 1) !== 1) {\n      Atomics.store(this.#s, 0, 0);",
    "const was = Atomics.load(this.#s, 0);\n    Atomics.store(this.#s, 0, 0);\n    if (was !== 1) {",
  ]),
  bug("MX6", "mutex", "contended unlock forgets to store 0", [
    "Atomics.store(this.#s, 0, 0);\n      Atomics.notify",
    "Atomics.notify",
  ]),
  bug("MX7", "mutex", "fast path is test then set", [
    "let c = Atomics.compareExchange(this.#s, 0, 0, 1);\n    if (c === 0) return;",
    "let c = Atomics.load(this.#s, 0);\n    if (c === 0) { Atomics.store(this.#s, 0, 1); return; }",
  ]),
  bug("MX8", "mutex", "if instead of while around the wait", [
    "while (c !== 0) {",
    "if (c !== 0) {",
  ]),
  bug("MX9", "mutex", "tryLock uses exchange and wipes the contended mark", [
    "return Atomics.compareExchange(this.#s, 0, 0, 1) === 0;",
    "return Atomics.exchange(this.#s, 0, 1) === 0;",
  ]),
  bug("MX10", "mutex", "timed lock reports success when the wait timed out", [
    "Atomics.wait(this.#s, 0, 2, left);",
    "if (Atomics.wait(this.#s, 0, 2, left) === 'timed-out') return true;",
  ]),
  bug("MX11", "mutex", "timed lock enters after any wake without retrying", [
    "Atomics.wait(this.#s, 0, 2, left);",
    "if (Atomics.wait(this.#s, 0, 2, left) === 'ok') return true;",
  ]),
  bug(
    "SE1",
    "semaphore",
    "release reads the waiter count before adding the permit",
    [
      "Atomics.add(this.#s, 0, n);\n    if (Atomics.load(this.#s, 1) > 0) Atomics.notify(this.#s, 0, n);",
      "const w = Atomics.load(this.#s, 1);\n    Atomics.add(this.#s, 0, n);\n    if (w > 0) Atomics.notify(this.#s, 0, n);",
    ],
  ),
  bug("SE2", "semaphore", "acquire announces itself only after the last try", [
    "Atomics.add(this.#s, 1, 1);\n    while (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);\n    Atomics.sub(this.#s, 1, 1);",
    "while (!this.tryAcquire()) { const c = Atomics.load(this.#s, 0); if (c > 0) continue; Atomics.wait(this.#s, 0, 0); }",
  ]),
  bug("SE3", "semaphore", "release(n) wakes only one", [
    "Atomics.notify(this.#s, 0, n)",
    "Atomics.notify(this.#s, 0, 1)",
  ]),
  bug("SE4", "semaphore", "tryAcquire is load then sub", [
    "const seen = Atomics.compareExchange(this.#s, 0, c, c - 1);\n      if (seen === c) return true;\n      c = seen;",
    "Atomics.sub(this.#s, 0, 1);\n      return true;",
  ]),
  bug("SE5", "semaphore", "if instead of while around the wait", [
    "while (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);",
    "if (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);",
  ]),
  bug("SE6", "semaphore", "tryAcquire accepts zero permits", [
    "while (c > 0)",
    "while (c >= 0)",
  ]),
  bug("SE7", "semaphore", "tryAcquire gives up after one failed CAS", [
    "c = seen;",
    "return false;",
  ]),
  bug(
    "SE8",
    "semaphore",
    "waiter count dropped on every wake, not when leaving",
    [
      "while (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);\n    Atomics.sub(this.#s, 1, 1);",
      "let out = false;\n    while (!this.tryAcquire()) { Atomics.wait(this.#s, 0, 0); if (!out) { out = true; Atomics.sub(this.#s, 1, 1); } }\n    if (!out) Atomics.sub(this.#s, 1, 1);",
    ],
  ),
  bug("MQ1", "mpmc", "push publishes the sequence before the data", [
    "q[slot + 1] = value;\n          Atomics.store(q, slot, (pos + 1) | 0);",
    "Atomics.store(q, slot, (pos + 1) | 0);\n          q[slot + 1] = value;",
  ]),
  bug("MQ2", "mpmc", "pop releases the slot one lap short", [
    "Atomics.store(q, slot, (pos + this.#mask + 1) | 0);",
    "Atomics.store(q, slot, (pos + 1) | 0);",
  ]),
  bug("MQ3", "mpmc", "pop frees the slot before reading the data", [
    "const value = q[slot + 1];\n          Atomics.store(q, slot, (pos + this.#mask + 1) | 0);",
    "Atomics.store(q, slot, (pos + this.#mask + 1) | 0);\n          const value = q[slot + 1];",
  ]),
  bug("MQ4", "mpmc", "push claims the slot with a store instead of a CAS", [
    "const seen = Atomics.compareExchange(q, TAIL, pos, (pos + 1) | 0);",
    "const seen = pos; Atomics.store(q, TAIL, (pos + 1) | 0);",
  ]),
  bug("MQ5", "mpmc", "push writes the data before it owns the slot", [
    "const seen = Atomics.compareExchange(q, TAIL, pos, (pos + 1) | 0);\n        if (seen === pos) {\n          q[slot + 1] = value;",
    "q[slot + 1] = value;\n        const seen = Atomics.compareExchange(q, TAIL, pos, (pos + 1) | 0);\n        if (seen === pos) {",
  ]),
  bug(
    "MQ6",
    "mpmc",
    "pop accepts a slot that is free rather than full (off by one)",
    [
      "const dif = (Atomics.load(q, slot) - ((pos + 1) | 0)) | 0;",
      "const dif = (Atomics.load(q, slot) - pos) | 0;",
    ],
  ),
  bug("MQ7", "mpmc", "sequence numbers not initialised", [
    "Atomics.store(q, SLOTS + 2 * i, i)",
    "Atomics.store(q, SLOTS + 2 * i, 0)",
  ]),
  bug("MQ8", "mpmc", "position difference not wrapped to 32 bits", [
    "const dif = (Atomics.load(q, slot) - pos) | 0;",
    "const dif = Atomics.load(q, slot) - pos;",
  ]),
  bug("MQ9", "mpmc", "pop claims with a store instead of a CAS", [
    "const seen = Atomics.compareExchange(q, HEAD, pos, (pos + 1) | 0);",
    "const seen = pos; Atomics.store(q, HEAD, (pos + 1) | 0);",
  ]),
  bug(
    "MQ10",
    "mpmc",
    "push does not reload the tail when it lost the slot: spins for ever",
    [
      "pos = Atomics.load(q, TAIL);\n      }\n    }\n  }\n  tryPop",
      "continue;\n      }\n    }\n  }\n  tryPop",
    ],
  ),
  bug("MQ11", "mpmc", "push reads the sequence with a plain load", [
    "const dif = (Atomics.load(q, slot) - pos) | 0;",
    "const dif = (q[slot] - pos) | 0;",
  ]),
  bug("SP1", "spsc", "tail published before the data", [
    "q[DATA + (tail % this.#cap)] = v;\n    Atomics.store(q, TAIL, tail + 1);",
    "Atomics.store(q, TAIL, tail + 1);\n    q[DATA + (tail % this.#cap)] = v;",
  ]),
  bug("SP2", "spsc", "full check off by one", [
    "if (tail - this.#headCache >= this.#cap) {\n      this",
    "if (tail - this.#headCache > this.#cap) {\n      this",
  ]),
  bug("SP3", "spsc", "head advanced before the data is read", [
    "const v = q[DATA + (head % this.#cap)];\n    Atomics.store(q, HEAD, head + 1);",
    "Atomics.store(q, HEAD, head + 1);\n    const v = q[DATA + (head % this.#cap)];",
  ]),
  bug("SP4", "spsc", "cached tail never refreshed once non-zero", [
    "this.#tailCache = Atomics.load(q, TAIL);",
    "if (this.#tailCache === 0) this.#tailCache = Atomics.load(q, TAIL);",
  ]),
  bug("SP5", "spsc", "tail read with a plain load", [
    "this.#tailCache = Atomics.load(q, TAIL);",
    "this.#tailCache = q[TAIL];",
  ]),
  bug(
    "CV1",
    "condvar",
    "wait releases the mutex before it samples the sequence",
    [
      "const seq = Atomics.load(this.#s, 0);\n    m.unlock();",
      "m.unlock();\n    const seq = Atomics.load(this.#s, 0);",
    ],
  ),
  bug("CV2", "condvar", "notify does not advance the sequence", [
    "Atomics.add(this.#s, 0, 1);\n    Atomics.notify(this.#s, 0, 1);",
    "Atomics.notify(this.#s, 0, 1);",
  ]),
  bug("CV3", "condvar", "wait returns without the mutex", [
    "Atomics.wait(this.#s, 0, seq);\n    m.lock();",
    "Atomics.wait(this.#s, 0, seq);",
  ]),
  bug("CV4", "condvar", "notifyAll wakes one", [
    "Atomics.notify(this.#s, 0);",
    "Atomics.notify(this.#s, 0, 1);",
  ]),
  bug("CV5", "condvar", "notifyAll notifies before it advances the sequence", [
    "Atomics.add(this.#s, 0, 1);\n    Atomics.notify(this.#s, 0);",
    "Atomics.notify(this.#s, 0);\n    Atomics.add(this.#s, 0, 1);",
  ]),
  bug("RW1", "rwlock", "reader enters with add instead of CAS", [
    "if (Atomics.compareExchange(s, STATE, c, c + 1) === c) return;\n        continue;",
    "Atomics.add(s, STATE, 1);\n        return;",
  ]),
  bug("RW2", "rwlock", "last reader does not wake the writer", [
    "Atomics.add(s, WSEQ, 1);\n      Atomics.notify(s, WSEQ, 1);\n    }\n  }\n  writeLock",
    "Atomics.add(s, WSEQ, 1);\n    }\n  }\n  writeLock",
  ]),
  bug("RW3", "rwlock", "writer wakes only one of the readers", [
    "Atomics.notify(s, STATE);",
    "Atomics.notify(s, STATE, 1);",
  ]),
  bug("RW4", "rwlock", "writer samples the wake sequence after its last try", [
    "const seq = Atomics.load(s, WSEQ);\n      if (Atomics.compareExchange(s, STATE, 0, -1) === 0) break;",
    "if (Atomics.compareExchange(s, STATE, 0, -1) === 0) break;\n      const seq = Atomics.load(s, WSEQ);",
  ]),
  bug(
    "RW5",
    "rwlock",
    "writer leaves the waiting count without waking readers queued behind it",
    [
      "Atomics.sub(s, WWAIT, 1);\n    Atomics.notify(s, WWAIT);",
      "Atomics.sub(s, WWAIT, 1);",
    ],
  ),
  bug("RW6", "rwlock", "writeUnlock notifies readers before it stores 0", [
    "Atomics.store(s, STATE, 0);\n    Atomics.notify(s, STATE);",
    "Atomics.notify(s, STATE);\n    Atomics.store(s, STATE, 0);",
  ]),
  bug(
    "RW7",
    "rwlock",
    "reader checks the wrong value of the state when leaving",
    ["Atomics.sub(s, STATE, 1) === 1 &&", "Atomics.sub(s, STATE, 1) === 0 &&"],
  ),
  bug("RW8", "rwlock", "writeUnlock wakes readers but not the next writer", [
    "Atomics.notify(s, STATE);\n    Atomics.add(s, WSEQ, 1);\n    Atomics.notify(s, WSEQ, 1);",
    "Atomics.notify(s, STATE);",
  ]),
  bug("BA1", "barrier", "generation sampled after arriving", [
    "const gen = Atomics.load(s, 1);\n    if (Atomics.add(s, 0, 1) === this.#n - 1) {",
    "const k = Atomics.add(s, 0, 1);\n    const gen = Atomics.load(s, 1);\n    if (k === this.#n - 1) {",
  ]),
  bug("BA2", "barrier", "count reset after the generation is opened", [
    "Atomics.store(s, 0, 0);\n      Atomics.add(s, 1, 1);\n      Atomics.notify(s, 1);",
    "Atomics.add(s, 1, 1);\n      Atomics.notify(s, 1);\n      Atomics.store(s, 0, 0);",
  ]),
  bug("BA3", "barrier", "last arrival wakes one", [
    "Atomics.notify(s, 1);",
    "Atomics.notify(s, 1, 1);",
  ]),
  bug("BA4", "barrier", "arrival count is load then store", [
    "if (Atomics.add(s, 0, 1) === this.#n - 1) {",
    "const k = Atomics.load(s, 0);\n    Atomics.store(s, 0, k + 1);\n    if (k === this.#n - 1) {",
  ]),
  bug(
    "BA5",
    "barrier",
    "last arrival notifies before it opens the generation",
    [
      "Atomics.add(s, 1, 1);\n      Atomics.notify(s, 1);",
      "Atomics.notify(s, 1);\n      Atomics.add(s, 1, 1);",
    ],
  ),
  bug("WC1", "counter", "done tests the new value against one", [
    "if (Atomics.sub(this.#s, 0, 1) === 1)",
    "if (Atomics.sub(this.#s, 0, 1) === 0)",
  ]),
  bug("WC2", "counter", "done is load then store", [
    "if (Atomics.sub(this.#s, 0, 1) === 1)",
    "const c = Atomics.load(this.#s, 0);\n    Atomics.store(this.#s, 0, c - 1);\n    if (c === 1)",
  ]),
  bug("WC3", "counter", "wait returns after any change", [
    "for (;;) {\n      const c = Atomics.load(this.#s, 0);\n      if (c === 0) return;\n      Atomics.wait(this.#s, 0, c);\n    }",
    "const c = Atomics.load(this.#s, 0);\n    if (c !== 0) Atomics.wait(this.#s, 0, c);",
  ]),
  bug("WC4", "counter", "done wakes one waiter", [
    "Atomics.notify(this.#s, 0);",
    "Atomics.notify(this.#s, 0, 1);",
  ]),
];
