/** Wrong programs, most of them famous, and the kind of failure of each. */
import { race } from "../../../race/mod.ts";
import type { FailureKind, Options, Result } from "../../../race/mod.ts";
import { load } from "./load.ts";
import { locks, queue, sections } from "./families.ts";

/** A wrong program. */
export interface Bad {
  readonly name: string;
  readonly kind: FailureKind;
  explore(): Result | Promise<Result>;
}

const { check, spec, either } = race;
const right = await load();

/** Explores bodies on 16 words; `after` says what must hold. */
function bodies(
  options: Options & {
    after?: (words: Int32Array, results: unknown[]) => void;
  },
  ...runs: ((words: Int32Array, id: number) => unknown)[]
): Result {
  const { after, ...rest } = options;
  const program = spec({
    memory: () => new SharedArrayBuffer(64),
    agent: (memory) => new Int32Array(memory),
    ops: { go: { run: (words, _, id) => runs[id]!(words, id) } },
    ...after && {
      final: (memory: SharedArrayBuffer, results: unknown[][]) =>
        after(new Int32Array(memory), results.flat()),
    },
  });
  return check(program, ...runs.map(() => [["go"]] as const), rest);
}

function must(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

// ---- locks ------------------------------------------------------------------

/** Drepper's first mutex: two that contend can chase each other for ever. */
class CountingMutex {
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

function peterson(plain: boolean, words: Int32Array, id: number): number {
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
function crossed(words: Int32Array, id: number): void {
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

function stack(): Result {
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
function seqlock(atomic: boolean, again: boolean): Result {
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
function dyingHolder(recovers: boolean): Result {
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

function doubleChecked(words: Int32Array): number {
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

let outside = 0;

/** The wrong programs. */
export const KNOWN_BAD: readonly Bad[] = [
  {
    name: "Drepper's first mutex, where two chase each other",
    kind: "livelock",
    explore: () => {
      const program = locks({
        Mutex: class extends CountingMutex {
          constructor(memory: SharedArrayBuffer) {
            super(new Int32Array(memory));
          }
        },
      });
      const call = [["lock"], ["unlock"]] as const;
      return check(program, [["lock"]], call, call, { states: 3000 });
    },
  },
  {
    name: "Peterson's lock with plain accesses",
    kind: "data-race",
    explore: () =>
      bodies(
        {},
        ...[0, 1].map((id) => (w: Int32Array) => peterson(true, w, id)),
      ),
  },
  {
    name: "Dekker's flags with plain stores",
    kind: "data-race",
    explore: () =>
      bodies(
        {},
        ...[0, 1].map((id) => (w: Int32Array) => {
          w[id] = 1;
          return Atomics.load(w, 1 - id);
        }),
      ),
  },
  {
    name: "double-checked initialization with a plain flag",
    kind: "data-race",
    explore: () => bodies({}, doubleChecked, doubleChecked),
  },
  {
    name: "a plain counter",
    kind: "data-race",
    explore: () => bodies({}, (w) => w[0]!++, (w) => w[0]!++),
  },
  {
    name: "atomics of two widths on one word",
    kind: "data-race",
    explore: () =>
      bodies(
        {},
        (w) => Atomics.store(w, 0, 0x01010101),
        (w) => Atomics.load(new Uint8Array(w.buffer), 2),
      ),
  },
  {
    name: "a seqlock with a plain payload",
    kind: "data-race",
    explore: () => seqlock(false, true),
  },
  {
    name: "a seqlock whose reader does not look again",
    kind: "not-linearizable",
    explore: () => seqlock(true, false),
  },
  { name: "the ABA stack", kind: "not-linearizable", explore: stack },
  {
    name: "a counter of load and store",
    kind: "not-linearizable",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        init: 0,
        ops: {
          add: {
            run: (w) => {
              const n = Atomics.load(w, 0);
              Atomics.store(w, 0, n + 1);
              return n;
            },
            model: (n: number) => [n + 1, n],
          },
        },
      });
      return check(program, [["add"]], [["add"]]);
    },
  },
  {
    name: "a 64-bit value in two halves",
    kind: "not-linearizable",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(8),
        agent: (memory) => new Int32Array(memory),
        init: 0,
        ops: {
          set: {
            run: (w, v: number) => {
              Atomics.store(w, 0, v);
              Atomics.store(w, 1, v);
            },
            model: (_, v: number) => [v, undefined],
          },
          get: {
            run: (w) => Atomics.load(w, 0) * 10 + Atomics.load(w, 1),
            model: (v: number) => [v, v * 11],
          },
        },
      });
      return check(program, [["set", 1]], [["get"]]);
    },
  },
  {
    name: 'the sequence-slot queue\'s "empty" held to be true',
    kind: "not-linearizable",
    explore: () =>
      check(
        queue(right, 0, true),
        [["push", 1]],
        [["push", 2]],
        [["pop"], ["pop"]],
      ),
  },
  {
    name: "the sequence-slot queue held to be lock-free",
    kind: "not-lock-free",
    explore: () =>
      check(queue(right), [["push", 1]], [["push", 2]], [["popSpin"]], {
        progress: "lock-free",
      }),
  },
  {
    name: "a mutex held to be lock-free",
    kind: "not-lock-free",
    explore: () =>
      check(sections(right), [["incr"]], [["incr"]], { progress: "lock-free" }),
  },
  {
    name: "two locks taken in two orders",
    kind: "deadlock",
    explore: () => bodies({}, crossed, crossed),
  },
  {
    name: "two locks taken in two orders, with a model that says they go on",
    kind: "deadlock",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(8),
        agent: (memory) => new Int32Array(memory),
        init: 0,
        ops: {
          go: {
            run: (w, _, id) => crossed(w, id),
            model: (s: number) => [s, undefined],
          },
        },
      });
      return check(program, [["go"]], [["go"]]);
    },
  },
  {
    name: "a condition that is tested outside the lock it is set under",
    kind: "lost-wakeup",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(8),
        agent: (memory) => new Int32Array(memory),
        words: { flag: 0, bell: 4 },
        init: false,
        ops: {
          set: {
            run: (w) => {
              Atomics.store(w, 0, 1);
              Atomics.notify(w, 1);
            },
            model: () => [true, undefined],
          },
          wait: {
            run: (w) => {
              if (Atomics.load(w, 0) === 0) Atomics.wait(w, 1, 0);
            },
            model: (set: boolean) => set ? [set, undefined] : null,
          },
        },
      });
      return check(program, [["set"]], [["wait"]]);
    },
  },
  {
    name: "a lost wake-up behind a watchdog of one second",
    kind: "lost-wakeup",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        init: false,
        ops: {
          set: {
            run: (w) => void Atomics.store(w, 0, 1),
            model: () => [true, undefined],
          },
          wait: {
            run: (w) => {
              while (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0, 1000);
            },
            model: (set: boolean) => set ? [set, undefined] : null,
          },
        },
      });
      return check(program, [["set"]], [["wait"]]);
    },
  },
  {
    name: "the same in an asynchronous operation, behind setInterval",
    kind: "lost-wakeup",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        async: true,
        init: false,
        ops: {
          set: {
            run: (w) => void Atomics.store(w, 0, 1),
            model: () => [true, undefined],
          },
          wait: {
            run: async (w) => {
              if (Atomics.load(w, 0) === 1) return;
              const wait = Atomics.waitAsync(w, 0, 0);
              await new Promise<void>((resolve) => {
                if (!wait.async) return resolve();
                wait.value.then(() => resolve());
                const watch = setInterval(() => {
                  if (Atomics.load(w, 0) === 0) return;
                  clearInterval(watch);
                  resolve();
                }, 1000);
              });
            },
            model: (set: boolean) => set ? [set, undefined] : null,
          },
        },
      });
      return check(program, [["set"]], [["wait"]]);
    },
  },
  {
    name: "an event that trusts a wake without looking again",
    kind: "not-linearizable",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        init: 0,
        ops: {
          add: {
            run: (w) => {
              Atomics.add(w, 0, 1);
              Atomics.notify(w, 0, 1);
            },
            model: (n: number) => [n + 1, undefined],
          },
          take: {
            run: (w) => {
              if (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0);
              return Atomics.sub(w, 0, 1);
            },
            model: (n: number) => n > 0 ? [n - 1, n] : null,
          },
        },
      });
      return check(program, [["add"]], [["take"]], { spurious: true });
    },
  },
  {
    name: "a timed wait that takes the end of time for success",
    kind: "not-linearizable",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        init: false,
        ops: {
          set: {
            run: (w) => {
              Atomics.store(w, 0, 1);
              Atomics.notify(w, 0);
            },
            model: () => [true, undefined],
          },
          wait: {
            run: (w) => Atomics.wait(w, 0, 0, 5) !== "not-equal",
            model: (set: boolean) =>
              set ? [set, true] : race.timedOut([set, false]),
          },
        },
      });
      return check(program, [["set"]], [["wait"]]);
    },
  },
  {
    name: "a spin lock whose holder is terminated",
    kind: "damaged-by-kill",
    explore: () => dyingHolder(false),
  },
  {
    name: "an invariant that holds only if nobody dies",
    kind: "damaged-by-kill",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(8),
        agent: (memory) => new Int32Array(memory),
        ops: {
          move: {
            run: (w) => {
              Atomics.sub(w, 0, 1);
              Atomics.add(w, 1, 1);
            },
          },
        },
        invariant: (memory) => {
          const [from, to] = new Int32Array(memory);
          return from! + to! === 0 ? undefined : `${from} and ${to}`;
        },
      });
      return check(program, [["move"]], [["move"]], { kill: true });
    },
  },
  {
    name: "a ring without a mask",
    kind: "out-of-bounds",
    explore: () =>
      bodies({}, (w) => {
        for (let i = 0; i < 17; i++) w[i] = i;
      }),
  },
  {
    name: "an atomic access beyond the end",
    kind: "out-of-bounds",
    explore: () => bodies({}, (w) => Atomics.load(w, 16)),
  },
  {
    name: "a lost update, seen at the end",
    kind: "invariant",
    explore: () => {
      const add = (w: Int32Array) =>
        void Atomics.store(w, 0, Atomics.load(w, 0) + 1);
      const after = (w: Int32Array) => must(w[0] === 2, `${w[0]} is not 2`);
      return bodies({ after }, add, add);
    },
  },
  {
    name: "an assertion in an agent",
    kind: "exception",
    explore: () =>
      bodies(
        {},
        (w) => must(Atomics.add(w, 0, 1) === 0, "not the first"),
        (w) => must(Atomics.add(w, 0, 1) === 0, "not the first"),
      ),
  },
  {
    name: "a spin on a word nobody sets",
    kind: "livelock",
    explore: () =>
      bodies({}, (w) => {
        while (Atomics.load(w, 0) === 0);
      }, (w) => Atomics.load(w, 1)),
  },
  {
    name: "two polite agents that give way for ever",
    kind: "livelock",
    explore: () => {
      const polite = (id: number) => (w: Int32Array) => {
        for (;;) {
          Atomics.store(w, id, 1);
          if (Atomics.load(w, 1 - id) === 0) break;
          Atomics.store(w, id, 0);
        }
        Atomics.store(w, id, 0);
      };
      return bodies({ states: 3000 }, polite(0), polite(1));
    },
  },
  {
    name: "a hint that is trusted",
    kind: "not-linearizable",
    explore: () => hinted(false),
  },
  {
    name: "a test that counts outside shared memory",
    kind: "nondeterministic",
    explore: () =>
      bodies({}, (w) => {
        outside++;
        Atomics.add(w, 0, 1);
        return outside;
      }),
  },
];

/** "Full" by a plain read of a word that others write atomically. */
export function hinted(validated: boolean): Result {
  const program = spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    hints: [[0, 4]],
    words: { taken: 0 },
    init: 0,
    ops: {
      take: {
        run: (w) => {
          for (let seen = w[0]!;;) {
            if (seen === 1) {
              if (!validated) return false;
              seen = Atomics.load(w, 0);
              if (seen === 1) return false;
            }
            const was = Atomics.compareExchange(w, 0, 0, 1);
            if (was === 0) return true;
            seen = was;
          }
        },
        model: (taken: number) => taken === 0 ? [1, true] : [1, false],
      },
      give: {
        run: (w) => void Atomics.store(w, 0, 0),
        model: () => [0, undefined],
      },
      isTaken: {
        run: (w) => (validated ? Atomics.load(w, 0) : w[0]) === 1,
        model: (taken: number) => [taken, taken === 1],
      },
    },
  });
  return check(program, [["take"], ["give"]], [["isTaken"], ["take"]]);
}

/** Kept for the good ones. */
export { bodies, dyingHolder, either, must, peterson, seqlock };
