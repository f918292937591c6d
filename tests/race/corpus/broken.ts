/** Wrong locks, stacks and protocols: `known_bad.ts` makes programs of them. */
import type { Result } from "../../../race/mod.ts";
import { race } from "../../../race/mod.ts";
import { load } from "./load.ts";

const { check, spec } = race;
const right = await load();

// ---- locks ------------------------------------------------------------------

/** Drepper's first mutex: two that contend can chase each other for ever. */
export class CountingMutex {
  readonly #words: Int32Array;
  constructor(words: Int32Array) {
    this.#words = words;
  }
  lock(): void {
    for (;;) {
      const c = Atomics.add(this.#words, 0, 1);
      if (c === 0) return;
      Atomics.wait(this.#words, 0, c + 1);
    }
  }
  unlock(): void {
    Atomics.store(this.#words, 0, 0);
    Atomics.notify(this.#words, 0, 1);
  }
}

export function peterson(
  plain: boolean,
  words: Int32Array,
  id: number,
): number {
  const [FLAGS, TURN, TOTAL] = [0, 2, 3];
  const other = 1 - id;
  const set = (i: number, v: number) =>
    plain ? words[i] = v : Atomics.store(words, i, v);
  const get = (i: number) => plain ? words[i]! : Atomics.load(words, i);
  set(FLAGS + id, 1);
  set(TURN, other);
  while (get(FLAGS + other) === 1 && get(TURN) === other);
  const total = words[TOTAL]!;
  words[TOTAL] = total + 1;
  set(FLAGS + id, 0);
  return total;
}

/** Agent 0 locks A then B, agent 1 B then A. */
export function crossed(words: Int32Array, id: number): void {
  const { Mutex } = right;
  const a = new Mutex(words.buffer, id === 0 ? 0 : 4);
  const b = new Mutex(words.buffer, id === 0 ? 4 : 0);
  a.lock();
  b.lock();
  b.unlock();
  a.unlock();
}

// ---- structures -------------------------------------------------------------

/** Treiber's stack of the nodes 1 to 3, without tags. */
class Stack {
  readonly #words: Int32Array;
  constructor(words: Int32Array) {
    this.#words = words;
  }
  push(node: number): void {
    for (;;) {
      const top = Atomics.load(this.#words, 0);
      Atomics.store(this.#words, node, top);
      if (Atomics.compareExchange(this.#words, 0, top, node) === top) return;
    }
  }
  pop(): number {
    for (;;) {
      const top = Atomics.load(this.#words, 0);
      if (top === 0) return 0;
      const next = Atomics.load(this.#words, top);
      if (Atomics.compareExchange(this.#words, 0, top, next) === top) {
        return top;
      }
    }
  }
}

export function stack(): Result {
  const program = spec({
    memory: () => {
      const memory = new SharedArrayBuffer(16);
      new Int32Array(memory).set([1, 2, 0, 0]); // 1 on 2
      return memory;
    },
    agent: (memory) => new Stack(new Int32Array(memory)),
    init: [1, 2],
    ops: {
      push: {
        run: (s, node: number) => s.push(node),
        model: (s, node: number) => [[node, ...s], undefined],
      },
      pop: {
        run: (s) => s.pop(),
        model: (s) => s.length > 0 ? [s.slice(1), s[0]] : [s, 0],
      },
    },
  });
  return check(program, [["pop"], ["pop"]], [["pop"], ["pop"], ["push", 1]]);
}

/** A value of two words with a version, which readers must read twice. */
export function seqlock(atomic: boolean, again: boolean): Result {
  const program = spec({
    memory: () => new SharedArrayBuffer(12),
    agent: (memory) => new Int32Array(memory),
    words: { version: 0, low: 4, high: 8 },
    init: 0,
    ops: {
      write: {
        run: (w, value: number) => {
          Atomics.add(w, 0, 1);
          for (const i of [1, 2]) {
            if (atomic) Atomics.store(w, i, value);
            else w[i] = value;
          }
          Atomics.add(w, 0, 1);
        },
        model: (_, value: number) => [value, undefined],
      },
      read: {
        run: (w) => {
          for (;;) {
            const version = Atomics.load(w, 0);
            if (version % 2 === 1) continue;
            const low = atomic ? Atomics.load(w, 1) : w[1]!;
            const high = atomic ? Atomics.load(w, 2) : w[2]!;
            if (again && Atomics.load(w, 0) !== version) continue;
            return low === high ? low : `torn: ${low}, ${high}`;
          }
        },
        model: (s: number) => [s, s],
      },
    },
  });
  return check(program, [["write", 1], ["write", 2]], [["read"]]);
}

/** A flag lock; `recover` may free it from a dead holder. */
export function dyingHolder(recovers: boolean): Result {
  const program = spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory, id) => ({ words: new Int32Array(memory), id }),
    words: { owner: 0, total: 4 },
    init: 0,
    ops: {
      add: {
        run: ({ words, id }) => {
          while (Atomics.compareExchange(words, 0, 0, id + 1) !== 0);
          const total = Atomics.add(words, 1, 1);
          Atomics.store(words, 0, 0);
          return total;
        },
        model: (n: number) => [n + 1, n],
      },
    },
    recover: ({ words }, dead) => {
      if (recovers) Atomics.compareExchange(words, 0, dead + 1, 0);
    },
  });
  return check(program, [["add"]], [["add"]], { kill: true });
}

export function doubleChecked(words: Int32Array): number {
  const { Mutex } = right;
  if (words[0] === 0) {
    const mutex = new Mutex(words.buffer, 4);
    mutex.lock();
    if (words[0] === 0) {
      words[2] = 42;
      words[0] = 1;
    }
    mutex.unlock();
  }
  return words[2]!;
}
