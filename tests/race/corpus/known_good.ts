/** Correct programs: each is explored completely, and nothing is reported. */
import { race } from "../../../race/mod.ts";
import type { Result } from "../../../race/mod.ts";
import {
  bodies,
  dyingHolder,
  hinted,
  must,
  peterson,
  seqlock,
} from "./known_bad.ts";
import { load } from "./load.ts";

/** A right program. */
export interface Good {
  readonly name: string;
  explore(): Result | Promise<Result>;
}

const { check, spec } = race;
const { Mutex } = await load();

/** Treiber's stack with a tag in the upper half of its top. */
class TaggedStack {
  readonly #words: Int32Array;
  constructor(words: Int32Array) {
    this.#words = words;
  }
  push(node: number): void {
    for (;;) {
      const top = Atomics.load(this.#words, 0);
      Atomics.store(this.#words, node, top & 0xffff);
      const next = (top & ~0xffff) + 0x10000 | node;
      if (Atomics.compareExchange(this.#words, 0, top, next) === top) return;
    }
  }
  pop(): number {
    for (;;) {
      const top = Atomics.load(this.#words, 0);
      const node = top & 0xffff;
      if (node === 0) return 0;
      const next = (top & ~0xffff) + 0x10000 | Atomics.load(this.#words, node);
      if (Atomics.compareExchange(this.#words, 0, top, next) === top) {
        return node;
      }
    }
  }
}

/** The right programs. */
export const KNOWN_GOOD: readonly Good[] = [
  {
    name: "Peterson's lock",
    explore: () =>
      bodies(
        { after: (w) => must(w[3] === 2, `${w[3]}`) },
        ...[0, 1].map((id) => (w: Int32Array) => peterson(false, w, id)),
      ),
  },
  {
    name: "store buffering: one of two sees the other",
    explore: () =>
      bodies(
        { after: (_, [a, b]) => must(a === 1 || b === 1, "neither") },
        ...[0, 1].map((id) => (w: Int32Array) => {
          Atomics.store(w, id, 1);
          return Atomics.load(w, 1 - id);
        }),
      ),
  },
  {
    name: "message passing: a plain value behind an atomic flag",
    explore: () =>
      bodies(
        { after: (_, [, got]) => must(got === 42, `${got}`) },
        (w) => {
          w[1] = 42;
          Atomics.store(w, 0, 1);
          Atomics.notify(w, 0);
        },
        (w) => {
          while (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0);
          return w[1];
        },
      ),
  },
  {
    name: "double-checked initialization",
    explore: () => {
      const init = (w: Int32Array) => {
        if (Atomics.load(w, 0) === 0) {
          const mutex = new Mutex(w.buffer, 4);
          mutex.lock();
          if (Atomics.load(w, 0) === 0) {
            w[2]! += 42;
            Atomics.store(w, 0, 1);
          }
          mutex.unlock();
        }
        return w[2];
      };
      const after = (_: Int32Array, results: unknown[]) =>
        must(results.every((r) => r === 42), `${results}`);
      return bodies({ after }, init, init);
    },
  },
  { name: "a seqlock of atomics", explore: () => seqlock(true, true) },
  {
    name: "the tagged stack",
    explore: () => {
      const program = spec({
        memory: () => {
          const memory = new SharedArrayBuffer(16);
          new Int32Array(memory).set([1, 2, 0, 0]);
          return memory;
        },
        agent: (memory) => new TaggedStack(new Int32Array(memory)),
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
      return check(program, [["pop"], ["pop"]], [["pop"], ["pop"]], {
        progress: "lock-free",
        kill: true,
      });
    },
  },
  {
    name: "two locks taken in one order",
    explore: () => {
      const both = (w: Int32Array) => {
        const a = new Mutex(w.buffer, 0);
        const b = new Mutex(w.buffer, 4);
        a.lock();
        b.lock();
        b.unlock();
        a.unlock();
      };
      return bodies({}, both, both);
    },
  },
  {
    name: "a ticket lock, which spins",
    explore: () => {
      const section = (w: Int32Array) => {
        const ticket = Atomics.add(w, 0, 1);
        while (Atomics.load(w, 1) !== ticket);
        w[2]!++;
        Atomics.add(w, 1, 1);
      };
      const after = (w: Int32Array) => must(w[2] === 3, `${w[2]}`);
      return bodies({ after }, section, section, section);
    },
  },
  {
    name: "a spin that ends after ten rounds",
    explore: () =>
      bodies({}, (w) => {
        for (let i = 0; i < 10 && Atomics.load(w, 0) === 0; i++);
      }, (w) => void Atomics.store(w, 0, 1)),
  },
  {
    name: "a holder that is terminated and a lock that is freed",
    explore: () => dyingHolder(true),
  },
  { name: "a hint that is validated", explore: () => hinted(true) },
  {
    name: "a test whose agents end up in a deadlock, as the model says",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Mutex(memory),
        init: -1,
        ops: {
          lock: {
            run: (m) => m.lock(),
            model: (owner: number, _, id) => owner < 0 ? [id, undefined] : null,
          },
        },
      });
      return check(program, [["lock"]], [["lock"]]);
    },
  },
  {
    name: "a timed wait that is over",
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
            run: (w) => {
              const end = performance.now() + 5;
              for (;;) {
                if (Atomics.load(w, 0) === 1) return true;
                const left = end - performance.now();
                if (left <= 0) return false;
                Atomics.wait(w, 0, 0, left);
              }
            },
            model: (set: boolean) =>
              set ? [set, true] : race.timedOut([set, false]),
          },
        },
      });
      return check(program, [["set"]], [["wait"], ["wait"]], {
        spurious: true,
      });
    },
  },
  {
    name: "64-bit atomics, bytes and halves, each in words of their own",
    explore: () =>
      bodies(
        { after: (w) => must(w[0] === 2 && w[4] === 0x0202, `${w}`) },
        ...[0, 1].map(() => (w: Int32Array) => {
          const wide = new BigInt64Array(w.buffer);
          Atomics.add(wide, 0, 1n);
          const bytes = new Uint8Array(w.buffer);
          Atomics.add(bytes, 16, 1);
          Atomics.add(bytes, 17, 1);
          Atomics.exchange(new Int16Array(w.buffer), 12, -1);
          return Atomics.compareExchange(wide, 1, 0n, 1n);
        }),
      ),
  },
  {
    name: "asynchronous waits and plain ones on one word",
    explore: () => {
      const program = spec({
        memory: () => new SharedArrayBuffer(4),
        agent: (memory) => new Int32Array(memory),
        async: true,
        init: 0,
        ops: {
          set: {
            run: (w) => {
              Atomics.store(w, 0, 1);
              Atomics.notify(w, 0);
            },
            model: () => [1, undefined],
          },
          wait: {
            run: (w) => {
              while (Atomics.load(w, 0) === 0) Atomics.wait(w, 0, 0);
            },
            model: (s: number) => s === 1 ? [s, undefined] : null,
          },
          waitAsync: {
            run: async (w) => {
              while (Atomics.load(w, 0) === 0) {
                await Atomics.waitAsync(w, 0, 0).value;
              }
            },
            model: (s: number) => s === 1 ? [s, undefined] : null,
          },
        },
      });
      return check(program, [["set"]], [["wait"]], [["waitAsync"]]);
    },
  },
];
