/**
 * What agents select from in scenarios, and what must hold.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import type {
  LockFreeQueue,
  MpmcQueue,
  RecordRing,
  SpscQueue,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  type Modules,
  named,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";

type Kind = "spsc" | "mpmc" | "free" | "ring";
type Queues = SpscQueue | MpmcQueue | LockFreeQueue | RecordRing;

/** The queues, and the library's functions, in one agent. */
interface Handles {
  readonly mod: Modules["mod"];
  readonly queues: readonly Queues[];
}

/** The model's state: the items of each queue, and which are closed. */
interface Model {
  readonly queues: readonly (readonly number[])[];
  readonly closed: readonly number[];
}

type Outcome = [Model, unknown];
/** A queue, and a value. */
type Pair = readonly [q: number, v: number];

export interface Setting {
  /** The kinds of the queues. */
  readonly kinds: readonly Kind[];
  /** What is in them at the start. */
  readonly items?: readonly (readonly number[])[];
  readonly capacity?: number;
}

const ROWS = {
  spsc: LAYOUT.spsc_queue,
  mpmc: LAYOUT.mpmc_queue,
  free: LAYOUT.lock_free_queue,
  ring: LAYOUT.record_ring,
};

/** Words that are read plainly: see the scenarios of each queue. */
const HINTS = {
  spsc: ["tail", "head", "producer", "consumer"],
  mpmc: ["tail", "head"],
  free: ["tail", "head", "free_tail", "free_head"],
  ring: ["tail", "head", "claimant", "consumer"],
} as const;

/** Words after the head of a LockFreeQueue that are hints: its entries. */
const ENTRIES = 2 * 16;

/** The bytes of a ring for each record, which has one byte. */
const RECORD = 16;

/** What a select says: its index and value, or why there is none. */
const said = (
  got: { index: number; done: boolean; value: unknown } | undefined,
) =>
  got === undefined
    ? "nothing"
    : [got.index, got.done ? "closed" : itemOf(got.value) ?? null];

/** An item: of a ring, its record has this byte. */
const itemOf = (value: unknown) =>
  value instanceof Uint8Array ? value[0] : value;

const tryAdd = (queue: Queues, v: number): boolean =>
  "tryPushInt" in queue ? queue.tryPushInt(v) : queue.tryPush(Uint8Array.of(v));

/** An arm that adds `v` to a queue. */
const adding = (mod: Modules["mod"], queue: Queues, v: number) =>
  "tryPushInt" in queue
    ? mod.sending(queue, v)
    : mod.sending(queue, Uint8Array.of(v));

const changed = (s: Model, q: number, items: readonly number[]): Model => ({
  ...s,
  queues: s.queues.map((old, i) => i === q ? items : old),
});

const some = (outcomes: readonly Outcome[]) =>
  outcomes.length === 0 ? null : race.either(...outcomes);

/** Each take from the queues `of`, which the arms name in this order. */
export const takes = (s: Model, of: readonly number[]): Outcome[] =>
  of.flatMap((q, i): Outcome[] => {
    const [first, ...rest] = s.queues[q]!;
    if (first !== undefined) return [[changed(s, q, rest), [i, first]]];
    return s.closed.includes(q) ? [[s, [i, "closed"]]] : [];
  });

/** The queues of which one is ready, as {@linkcode takes}. */
const ready = (s: Model, of: readonly number[]): Outcome[] =>
  of.flatMap((q, i): Outcome[] =>
    s.queues[q]!.length > 0 || s.closed.includes(q) ? [[s, i]] : []
  );

/** Blocking at several ends of queues. */
export function blocking(weft: Weft, setting: Setting) {
  const { kinds, items = [], capacity = 2 } = setting;
  const classesOf = (mod: Modules["mod"]) => ({
    spsc: mod.SpscQueue,
    mpmc: mod.MpmcQueue,
    free: mod.LockFreeQueue,
    ring: mod.RecordRing,
  });
  const classes = classesOf(weft.mod);
  const configOf = (kind: Kind) => ({
    capacity: kind === "ring" ? capacity * RECORD : capacity,
  });
  const places: number[] = [];
  let bytes = 0;
  for (const kind of kinds) {
    places.push(bytes);
    bytes += classes[kind].byteLength(configOf(kind));
  }
  const start = kinds.map((_, q) => items[q] ?? []);
  const viewsIn = (mod: Modules["mod"], memory: SharedArrayBuffer) => {
    const classes = classesOf(mod);
    return kinds.map((kind, q): Queues => new classes[kind](memory, places[q]));
  };
  const first = { order: "first" } as const;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(bytes);
      kinds.forEach((kind, q) => {
        classes[kind].init(memory, places[q]!, configOf(kind));
      });
      const own = weft.mod.agentId();
      weft.mod.setAgentId(99);
      viewsIn(weft.mod, memory).forEach((queue, q) => {
        for (const item of start[q]!) tryAdd(queue, item);
        if (kinds[q] === "spsc") (queue as SpscQueue).abandon(99);
      });
      weft.mod.setAgentId(own);
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number): Handles => {
      enter(weft, id);
      return { mod: weft.mod, queues: viewsIn(weft.mod, memory) };
    },
    words: Object.assign(
      {},
      ...kinds.map((kind, q) =>
        Object.fromEntries(
          Object.entries(named(ROWS[kind], places[q]!))
            .map(([name, at]) => [`${name}_${q}`, at]),
        )
      ),
    ) as Record<string, number>,
    hints: kinds.flatMap((kind, q) => {
      const row = ROWS[kind] as Record<string, number>;
      const wordsAt = (word: number, n = 1) => {
        const at = places[q]! + word * 4;
        return [at, at + n * 4] as const;
      };
      const hints = HINTS[kind].map((name) => wordsAt(row[name]!));
      return kind === "free"
        ? [...hints, wordsAt(row["length"]!, ENTRIES)]
        : hints;
    }),
    stateless: false,
    init: { queues: start, closed: [] } as Model,
    ops: {
      /** Takes from the first of these queues. */
      take: {
        run: ({ mod, queues }, of: number[]) =>
          said(mod.select.blocking(of.map((q) => queues[q]!), first)),
        model: (s: Model, of: number[]) => some(takes(s, of)),
      },
      takeFor: {
        run: ({ mod, queues }, of: number[]) => {
          const arms = of.map((q) => queues[q]!);
          return said(mod.select.blocking(arms, { ...first, timeout: 5 }));
        },
        model: (s: Model, of: number[]) =>
          race.either(race.timedOut([s, "nothing"]), ...takes(s, of)),
      },
      takeNow: {
        run: ({ mod, queues }, of: number[]) => {
          const arms = of.map((q) => queues[q]!);
          return said(mod.select.blocking(arms, { ...first, timeout: 0 }));
        },
        model: (s: Model, of: number[]) => some(takes(s, of)) ?? [s, "nothing"],
      },
      any: {
        run: ({ mod, queues }, of: number[]) =>
          mod.waitAny.blocking(of.map((q) => queues[q]!)),
        model: (s: Model, of: number[]) => some(ready(s, of)),
      },
      anyNow: {
        run: ({ mod, queues }, of: number[]) => {
          const sources = of.map((q) => queues[q]!);
          return mod.waitAny.blocking(sources, { timeout: 0 });
        },
        model: (s: Model, of: number[]) => some(ready(s, of)) ?? [s, undefined],
      },
      /** Takes from queue 0, or adds to queue 1. */
      takeOrAdd: {
        run: ({ mod, queues }, v: number) =>
          said(
            mod.select.blocking(
              [queues[0]!, adding(mod, queues[1]!, v)],
              first,
            ),
          ),
        model: (s: Model, v: number) => {
          const outcomes = takes(s, [0]);
          const there = s.queues[1]!;
          if (s.closed.includes(1)) outcomes.push([s, [1, "closed"]]);
          else if (there.length < capacity) {
            outcomes.push([changed(s, 1, [...there, v]), [1, null]]);
          }
          return some(outcomes);
        },
      },
      push: {
        run: ({ queues }, [q, v]: Pair) => tryAdd(queues[q]!, v),
        model: (s: Model, [q, v]: Pair) => {
          const there = s.queues[q]!;
          return there.length < capacity
            ? [changed(s, q, [...there, v]), true]
            : [s, false];
        },
      },
      pop: {
        run: ({ queues }, q: number) => {
          const queue = queues[q]!;
          return "popInt" in queue ? queue.popInt() : itemOf(queue.pop());
        },
        model: (s: Model, q: number) => {
          const [first, ...rest] = s.queues[q]!;
          return first === undefined ? null : [changed(s, q, rest), first];
        },
      },
      add: {
        run: ({ queues }, [q, v]: Pair) => {
          const queue = queues[q]!;
          if ("pushInt" in queue) queue.pushInt(v);
          else queue.push(Uint8Array.of(v));
          return "added";
        },
        model: (s: Model, [q, v]: Pair) => {
          const there = s.queues[q]!;
          return there.length < capacity
            ? [changed(s, q, [...there, v]), "added"]
            : null;
        },
      },
      /** Adds to queue 0, and has no other arm. */
      addAlone: {
        run: ({ mod, queues }, v: number) =>
          said(mod.select.blocking([adding(mod, queues[0]!, v)], first)),
        model: (s: Model, v: number) => {
          const there = s.queues[0]!;
          return there.length < capacity
            ? [changed(s, 0, [...there, v]), [0, null]]
            : null;
        },
      },
      /** Tries to push a record to a ring for which there never is room. */
      addLongFor: {
        run: ({ queues }, q: number) =>
          (queues[q] as RecordRing).tryPush(new Uint8Array(24), 5),
        model: (s: Model) => race.timedOut([s, false]),
      },
      close: {
        run: ({ queues }, q: number) => queues[q]!.close(),
        model: (s: Model, q: number) => [
          { ...s, closed: [...s.closed, q] },
          undefined,
        ],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      for (const [q, kind] of kinds.entries()) {
        if (kind === "spsc") continue;
        const { pop_waiters, push_waiters } = ROWS[kind];
        for (const word of [pop_waiters, push_waiters]) {
          const left = words[places[q]! / 4 + word];
          if (left !== 0) return `waiters of queue ${q} are left: ${left}`;
        }
      }
    },
  });
}

/**
 * Agents of which one may be terminated at any step: the others go on. Agents 0
 * and 1 take, the last one pushes two elements to queue 1.
 */
export function mortal(weft: Weft) {
  const { MpmcQueue } = weft.mod;
  const bytes = MpmcQueue.byteLength({ capacity: 2 });
  const { tail, head, pop_epoch, length } = LAYOUT.mpmc_queue;
  const STRIDE = 4;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(2 * bytes);
      for (const at of [0, bytes]) MpmcQueue.init(memory, at, { capacity: 2 });
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number): Handles => {
      enter(weft, id);
      const queues = [0, bytes].map((at) => new MpmcQueue(memory, at));
      return { mod: weft.mod, queues };
    },
    words: named(LAYOUT.mpmc_queue, bytes),
    hints: [0, bytes].flatMap((at) =>
      [tail, head].map((word) => [at + word * 4, at + word * 4 + 4] as const)
    ),
    stateless: false,
    ops: {
      take: {
        run: ({ mod, queues }) => {
          mod.select.blocking([queues[0]!, queues[1]!], { order: "first" });
        },
      },
      push: { run: ({ queues }) => tryAdd(queues[1]!, 5) },
    },
    /** Finishes what a producer had begun. A consumer left nothing to do. */
    recover: ({ queues }, dead) => {
      if (dead !== 2) return;
      const words = new Int32Array(queues[1]!.buffer, bytes);
      Atomics.store(words, tail, 4);
      for (const i of [0, 1]) {
        Atomics.compareExchange(words, length + i * STRIDE, 2 * i, 2 * i + 1);
      }
      Atomics.add(words, pop_epoch, 2);
      Atomics.notify(words, pop_epoch);
    },
  });
}

/**
 * Who waits with a record that is too long looks, and hands a wake on, while a
 * consumer makes room for another one.
 */
export function handsOn(weft: Weft): Scenario {
  return {
    name: "rings: a wake is handed on",
    spec: blocking(weft, {
      kinds: ["ring"],
      items: [[1, 2, 3, 4]],
      capacity: 4,
    }),
    agents: [[["addAlone", 9]], [["addLongFor", 0]], [["pop", 0]]],
    options: { timeouts: 1, states: 60_000 },
    sampled: true,
  };
}
