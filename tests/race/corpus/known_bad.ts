/** Wrong programs, most of them famous, and the kind of failure of each. */
import {
  type FailureKind,
  type Options,
  race,
  type Result,
} from "../../../race/mod.ts";
import { load } from "./load.ts";
import { locks, queue, sections } from "./families.ts";
import {
  CountingMutex,
  crossed,
  doubleChecked,
  dyingHolder,
  peterson,
  seqlock,
  stack,
} from "./broken.ts";

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
