/**
 * Seeded bugs: one realistic mistake each, as edits of a primitive's source.
 * Every one of them must be found.
 */
import type { Edits } from "../../_run/edits.ts";

/** A mistake. */
export interface Bug {
  readonly id: string;
  /** The primitive's file, and the family of its programs. */
  readonly family: string;
  readonly what: string;
  readonly edits: Edits;
}

const bug = (id: string, family: string, what: string, edits: Edits): Bug => ({
  id,
  family,
  what,
  edits,
});

/** All of them. */
export const BUGS: readonly Bug[] = [
  bug(
    "MX1",
    "mutex",
    "woken waiter takes the lock as 1 instead of 2 (Drepper): third thread is forgotten",
    [
      "c = Atomics.[-exchange(this.#s, 0, 2-]{+compareExchange(this.#s, 0, " +
      "0, 1+}); } } tryLock",
    ],
  ),
  bug("MX2", "mutex", "slow path sleeps without marking the lock contended", [
    "[-if (c !== 2) c = Atomics.exchange(this.#s, 0, 2);-]",
    "Atomics.wait(this.#s, 0, [-2-]{+c+}); c = Atomics.[-exchange(this.#s, " +
    "0, 2-]{+compareExchange(this.#s, 0, 0, 1+});",
  ]),
  bug("MX3", "mutex", "unlock notifies before it stores 0", [
    "{+Atomics.notify(this.#s, 0, 1); +}Atomics.store(this.#s, 0, 0);[- " +
    "Atomics.notify(this.#s, 0, 1);-]",
  ]),
  bug("MX4", "mutex", "unlock never notifies", [
    "Atomics.store(this.#s, 0, 0);[- Atomics.notify(this.#s, 0, 1);-]",
  ]),
  bug("MX5", "mutex", "unlock is load then store instead of one RMW", [
    "[-if (-]{+const was = +}Atomics.[-sub(this.#s, 0, 1) !== 1) " +
    "{-]{+load(this.#s, 0);+} Atomics.store(this.#s, 0, 0);{+ if (was !== " +
    "1) {+}",
  ]),
  bug("MX6", "mutex", "contended unlock forgets to store 0", [
    "[-Atomics.store(this.#s, 0, 0); -]Atomics.notify",
  ]),
  bug("MX7", "mutex", "fast path is test then set", [
    "[-let c = Atomics.compareExchange(this.#s, 0, 0, 1); if (c === 0) " +
    "return;-]{+let c = Atomics.load(this.#s, 0); if (c === 0) { " +
    "Atomics.store(this.#s, 0, 1); return; }+}",
  ]),
  bug("MX8", "mutex", "if instead of while around the wait", [
    "[-while-]{+if+} (c !== 0) {",
  ]),
  bug("MX9", "mutex", "tryLock uses exchange and wipes the contended mark", [
    "return Atomics.[-compareExchange(this.#s, 0-]{+exchange(this.#s+}, 0, " +
    "1) === 0;",
  ]),
  bug("MX10", "mutex", "timed lock reports success when the wait timed out", [
    "{+if (+}Atomics.wait(this.#s, 0, 2, left){+ === 'timed-out') return " +
    "true+};",
  ]),
  bug("MX11", "mutex", "timed lock enters after any wake without retrying", [
    "{+if (+}Atomics.wait(this.#s, 0, 2, left){+ === 'ok') return true+};",
  ]),
  bug(
    "SE1",
    "semaphore",
    "release reads the waiter count before adding the permit",
    [
      "{+const w = Atomics.load(this.#s, 1); +}Atomics.add(this.#s, 0, n); " +
      "if ([-Atomics.load(this.#s, 1)-]{+w+} > 0) Atomics.notify(this.#s, " +
      "0, n);",
    ],
  ),
  bug("SE2", "semaphore", "acquire announces itself only after the last try", [
    "[-Atomics.add(this.#s, 1, 1); -]while (!this.tryAcquire()){+ { const c " +
    "= Atomics.load(this.#s, 0); if (c > 0) continue;+} " +
    "Atomics.wait(this.#s, 0, 0); [-Atomics.sub(this.#s, 1, 1);-]{+}+}",
  ]),
  bug("SE3", "semaphore", "release(n) wakes only one", [
    "Atomics.notify(this.#s, 0, [-n-]{+1+})",
  ]),
  bug("SE4", "semaphore", "tryAcquire is load then sub", [
    "[-const seen = -]Atomics.[-compareExchange(this.#s, 0, c, c - 1); if " +
    "(seen === c)-]{+sub(this.#s, 0, 1);+} return true;[- c = seen;-]",
  ]),
  bug("SE5", "semaphore", "if instead of while around the wait", [
    "[-while-]{+if+} (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);",
  ]),
  bug("SE6", "semaphore", "tryAcquire accepts zero permits", [
    "while (c >{+=+} 0)",
  ]),
  bug("SE7", "semaphore", "tryAcquire gives up after one failed CAS", [
    "[-c = seen;-]{+return false;+}",
  ]),
  bug(
    "SE8",
    "semaphore",
    "waiter count dropped on every wake, not when leaving",
    [
      "[-while (!this.tryAcquire()) Atomics.wait(this.#s, 0, 0);-]{+let out " +
      "= false; while (!this.tryAcquire()) { Atomics.wait(this.#s, 0, 0); " +
      "if (!out) { out = true; Atomics.sub(this.#s, 1, 1); } } if (!out)+} " +
      "Atomics.sub(this.#s, 1, 1);",
    ],
  ),
  bug("MQ1", "mpmc", "push publishes the sequence before the data", [
    "[-q[slot + 1] = value; -]Atomics.store(q, slot, (pos + 1) | 0);{+ " +
    "q[slot + 1] = value;+}",
  ]),
  bug("MQ2", "mpmc", "pop releases the slot one lap short", [
    "Atomics.store(q, slot, (pos + [-this.#mask + -]1) | 0);",
  ]),
  bug("MQ3", "mpmc", "pop frees the slot before reading the data", [
    "[-const value = q[slot + 1]; -]Atomics.store(q, slot, (pos + this.#mask " +
    "+ 1) | 0);{+ const value = q[slot + 1];+}",
  ]),
  bug("MQ4", "mpmc", "push claims the slot with a store instead of a CAS", [
    "const seen = {+pos; +}Atomics.[-compareExchange(q, TAIL, " +
    "pos-]{+store(q, TAIL+}, (pos + 1) | 0);",
  ]),
  bug("MQ5", "mpmc", "push writes the data before it owns the slot", [
    "{+q[slot + 1] = value; +}const seen = Atomics.compareExchange(q, TAIL, " +
    "pos, (pos + 1) | 0); if (seen === pos) {[- q[slot + 1] = value;-]",
  ]),
  bug(
    "MQ6",
    "mpmc",
    "pop accepts a slot that is free rather than full (off by one)",
    [
      "const dif = (Atomics.load(q, slot) - [-((pos + 1) | 0)-]{+pos+}) | 0;",
    ],
  ),
  bug("MQ7", "mpmc", "sequence numbers not initialised", [
    "Atomics.store(q, SLOTS + 2 * i, [-i-]{+0+})",
  ]),
  bug("MQ8", "mpmc", "position difference not wrapped to 32 bits", [
    "const dif = [-(-]Atomics.load(q, slot) - pos[-) | 0-];",
  ]),
  bug("MQ9", "mpmc", "pop claims with a store instead of a CAS", [
    "const seen = {+pos; +}Atomics.[-compareExchange(q, HEAD, " +
    "pos-]{+store(q, HEAD+}, (pos + 1) | 0);",
  ]),
  bug(
    "MQ10",
    "mpmc",
    "push does not reload the tail when it lost the slot: spins for ever",
    [
      "[-pos = Atomics.load(q, TAIL)-]{+continue+}; } } } tryPop",
    ],
  ),
  bug("MQ11", "mpmc", "push reads the sequence with a plain load", [
    "const dif = ([-Atomics.load(q, slot)-]{+q[slot]+} - pos) | 0;",
  ]),
  bug("SP1", "spsc", "tail published before the data", [
    "{+Atomics.store(q, TAIL, tail + 1); +}q[DATA + (tail % this.#cap)] = " +
    "v;[- Atomics.store(q, TAIL, tail + 1);-]",
  ]),
  bug("SP2", "spsc", "full check off by one", [
    "if (tail - this.#headCache >[-=-] this.#cap) { this",
  ]),
  bug("SP3", "spsc", "head advanced before the data is read", [
    "{+Atomics.store(q, HEAD, head + 1); +}const v = q[DATA + (head % " +
    "this.#cap)];[- Atomics.store(q, HEAD, head + 1);-]",
  ]),
  bug("SP4", "spsc", "cached tail never refreshed once non-zero", [
    "{+if (this.#tailCache === 0) +}this.#tailCache = Atomics.load(q, TAIL);",
  ]),
  bug("SP5", "spsc", "tail read with a plain load", [
    "this.#tailCache = [-Atomics.load(q, TAIL)-]{+q[TAIL]+};",
  ]),
  bug(
    "CV1",
    "condvar",
    "wait releases the mutex before it samples the sequence",
    [
      "{+m.unlock(); +}const seq = Atomics.load(this.#s, 0);[- m.unlock();-]",
    ],
  ),
  bug("CV2", "condvar", "notify does not advance the sequence", [
    "[-Atomics.add(this.#s, 0, 1); -]Atomics.notify(this.#s, 0, 1);",
  ]),
  bug("CV3", "condvar", "wait returns without the mutex", [
    "Atomics.wait(this.#s, 0, seq);[- m.lock();-]",
  ]),
  bug("CV4", "condvar", "notifyAll wakes one", [
    "Atomics.notify(this.#s, 0{+, 1+});",
  ]),
  bug("CV5", "condvar", "notifyAll notifies before it advances the sequence", [
    "{+Atomics.notify(this.#s, 0); +}Atomics.add(this.#s, 0, 1);[- " +
    "Atomics.notify(this.#s, 0);-]",
  ]),
  bug("RW1", "rwlock", "reader enters with add instead of CAS", [
    "[-if (Atomics.compareExchange(s, STATE, c, c + 1) === c) return; " +
    "continue;-]{+Atomics.add(s, STATE, 1); return;+}",
  ]),
  bug("RW2", "rwlock", "last reader does not wake the writer", [
    "Atomics.add[-(s, WSEQ, 1); Atomics.notify-](s, WSEQ, 1); } } writeLock",
  ]),
  bug("RW3", "rwlock", "writer wakes only one of the readers", [
    "Atomics.notify(s, STATE{+, 1+});",
  ]),
  bug("RW4", "rwlock", "writer samples the wake sequence after its last try", [
    "[-const seq = Atomics.load(s, WSEQ); -]if (Atomics.compareExchange(s, " +
    "STATE, 0, -1) === 0) break;{+ const seq = Atomics.load(s, WSEQ);+}",
  ]),
  bug(
    "RW5",
    "rwlock",
    "writer leaves the waiting count without waking readers queued behind it",
    [
      "Atomics.sub(s, WWAIT, 1);[- Atomics.notify(s, WWAIT);-]",
    ],
  ),
  bug("RW6", "rwlock", "writeUnlock notifies readers before it stores 0", [
    "{+Atomics.notify(s, STATE); +}Atomics.store(s, STATE, 0);[- " +
    "Atomics.notify(s, STATE);-]",
  ]),
  bug(
    "RW7",
    "rwlock",
    "reader checks the wrong value of the state when leaving",
    [
      "Atomics.sub(s, STATE, 1) === [-1-]{+0+} &&",
    ],
  ),
  bug("RW8", "rwlock", "writeUnlock wakes readers but not the next writer", [
    "Atomics.notify(s, STATE);[- Atomics.add(s, WSEQ, 1); Atomics.notify(s, " +
    "WSEQ, 1);-]",
  ]),
  bug("BA1", "barrier", "generation sampled after arriving", [
    "{+const k = Atomics.add(s, 0, 1); +}const gen = Atomics.load(s, 1); if " +
    "([-Atomics.add(s, 0, 1)-]{+k+} === this.#n - 1) {",
  ]),
  bug("BA2", "barrier", "count reset after the generation is opened", [
    "[-Atomics.store(s, 0, 0); -]Atomics.add(s, 1, 1); Atomics.notify(s, " +
    "1);{+ Atomics.store(s, 0, 0);+}",
  ]),
  bug("BA3", "barrier", "last arrival wakes one", [
    "Atomics.notify(s, 1{+, 1+});",
  ]),
  bug("BA4", "barrier", "arrival count is load then store", [
    "[-if (-]{+const k = +}Atomics.[-add(s, 0, 1)-]{+load(s, 0); " +
    "Atomics.store(s, 0, k + 1); if (k+} === this.#n - 1) {",
  ]),
  bug(
    "BA5",
    "barrier",
    "last arrival notifies before it opens the generation",
    [
      "{+Atomics.notify(s, 1); +}Atomics.add(s, 1, 1);[- Atomics.notify(s, " +
      "1);-]",
    ],
  ),
  bug("WC1", "counter", "done tests the new value against one", [
    "if (Atomics.sub(this.#s, 0, 1) === [-1-]{+0+})",
  ]),
  bug("WC2", "counter", "done is load then store", [
    "[-if (-]{+const c = +}Atomics.[-sub(this.#s, 0, 1)-]{+load(this.#s, 0); " +
    "Atomics.store(this.#s, 0, c - 1); if (c+} === 1)",
  ]),
  bug("WC3", "counter", "wait returns after any change", [
    "[-for (;;) { -]const c = Atomics.load(this.#s, 0); if (c [-=== 0) " +
    "return;-]{+!== 0)+} Atomics.wait(this.#s, 0, c);[- }-]",
  ]),
  bug("WC4", "counter", "done wakes one waiter", [
    "Atomics.notify(this.#s, 0{+, 1+});",
  ]),
];
