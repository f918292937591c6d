import { race } from "../../race/mod.ts";
import type { Event, MpmcQueue, Semaphore } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  itsOwn,
  type Modules,
  named,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";
import { Signal } from "../_run/signal.ts";

/**
 * The primitives that are waited for, and the library's functions in this
 * agent.
 */
export interface Handles {
  readonly mod: Modules["mod"];
  readonly queues: readonly MpmcQueue[];
  readonly semaphore: Semaphore;
  readonly event: Event;
}

const CAPACITY = 4;

/** The offset of each: two queues, a semaphore, an event. */
function places({ mod }: Modules, capacity: number) {
  const queue = mod.MpmcQueue.byteLength({ capacity });
  const semaphore = 2 * queue;
  const event = semaphore + mod.Semaphore.byteLength();
  return { queues: [0, queue], semaphore, event };
}

const hint = (at: number, index: number) =>
  [at + index * 4, at + index * 4 + 4] as const;

/** The queues in the memory of {@linkcode several}. */
export const queuesIn = (
  weft: Weft,
  memory: SharedArrayBuffer,
  capacity: number,
) =>
  places(weft, capacity).queues
    .map((place) => new weft.mod.MpmcQueue(memory, place));

/** The parts that all scenarios share; `items` are in queue 1. */
export function several(
  weft: Weft,
  items: readonly number[],
  capacity: number = CAPACITY,
) {
  const at = places(weft, capacity);
  const { tail, head } = LAYOUT.mpmc_queue;
  return {
    async: true,
    memory: () => {
      const memory = new SharedArrayBuffer(at.event + 4);
      for (const place of at.queues) {
        weft.mod.MpmcQueue.init(memory, place, { capacity });
      }
      const queue = new weft.mod.MpmcQueue(memory, at.queues[1]);
      for (const item of items) queue.tryPushInt(item);
      weft.mod.Semaphore.init(memory, at.semaphore);
      weft.mod.Event.init(memory, at.event, { autoReset: true });
      return memory;
    },
    ...itsOwn(weft, ({ mod, spin }, memory): Handles => {
      spin.spinning.patience = 8;
      return {
        mod,
        queues: at.queues.map((place) => new mod.MpmcQueue(memory, place)),
        semaphore: new mod.Semaphore(memory, at.semaphore),
        event: new mod.Event(memory, at.event),
      };
    }),
    words: {
      ...named(LAYOUT.mpmc_queue, at.queues[0]),
      ...Object.fromEntries(
        Object.entries(named(LAYOUT.mpmc_queue, at.queues[1]))
          .map(([name, place]) => [`${name}_1`, place]),
      ),
      ...named(LAYOUT.semaphore, at.semaphore),
      event: at.event,
    },
    hints: [
      ...at.queues.flatMap((place) => [hint(place, tail), hint(place, head)]),
      hint(at.semaphore, LAYOUT.semaphore.permits),
    ],
    final: (memory: SharedArrayBuffer) => {
      const words = new Int32Array(memory);
      const left = [
        ...at.queues.map((place) => place / 4 + LAYOUT.mpmc_queue.pop_waiters),
        ...at.queues.map((place) => place / 4 + LAYOUT.mpmc_queue.push_waiters),
        at.semaphore / 4 + LAYOUT.semaphore.waiters,
      ].map((index) => words[index]);
      if (left.some((n) => n !== 0)) return `waiters are left: ${left}`;
      // The waiters of an event that resets automatically.
      if (words[at.event / 4]! >> 16 !== 0) return "the event has waiters";
    },
  };
}

/** The model's state: items of each queue, free permits, remembered signals. */
export interface Model {
  readonly queues: readonly (readonly number[])[];
  readonly permits: number;
  readonly signals: number;
}

/** `s` with the items of queue `q` changed. */
export const withItems = (
  s: Model,
  q: number,
  items: readonly number[],
): Model => ({
  ...s,
  queues: s.queues.map((old, i) => i === q ? items : old),
});

export type Outcome = [Model, unknown];

/** The sources that are ready: two queues, then a semaphore and an event. */
function ready(s: Model, others = false): Outcome[] {
  const flags = s.queues.map((items) => items.length > 0);
  if (others) flags.push(s.permits > 0, s.signals > 0);
  return flags.flatMap((is, i): Outcome[] => is ? [[s, i]] : []);
}

/** Operations on the semaphore and the event. */
export const others = {
  release: {
    run: ({ semaphore }: Handles) => semaphore.release(),
    model: (s: Model): Outcome => [
      { ...s, permits: s.permits + 1 },
      undefined,
    ],
  },
  acquire: {
    run: ({ semaphore }: Handles) => semaphore.acquire(),
    model: (s: Model): Outcome | null =>
      s.permits > 0 ? [{ ...s, permits: s.permits - 1 }, undefined] : null,
  },
  set: {
    run: ({ event }: Handles) => event.set(),
    model: (s: Model) =>
      race.either(
        [{ ...s, signals: s.signals + 1 }, undefined] as Outcome,
        // One that nobody has taken may be kept as one.
        ...(s.signals > 0 ? [[s, undefined] as Outcome] : []),
      ),
  },
};

/** Waiting for any. The model's state is what there is to take. */
function waiting(weft: Weft, items: readonly number[] = []) {
  const all = ({ queues, semaphore, event }: Handles) => [
    ...queues,
    semaphore,
    event,
  ];
  return race.spec({
    ...several(weft, items),
    init: { queues: [[], items], permits: 0, signals: 0 } as Model,
    ops: {
      any: {
        run: ({ mod, queues }) => mod.waitAny(queues),
        model: (s: Model) => {
          const outcomes = ready(s);
          return outcomes.length === 0 ? null : race.either(...outcomes);
        },
      },
      anyOfAll: {
        run: (handles) => handles.mod.waitAny(all(handles)),
        model: (s: Model) => {
          const outcomes = ready(s, true);
          return outcomes.length === 0 ? null : race.either(...outcomes);
        },
      },
      anyFor: {
        run: ({ mod, queues }) => mod.waitAny(queues, { timeout: 5 }),
        model: (s: Model) =>
          race.either(race.timedOut([s, undefined]), ...ready(s)),
      },
      aborted: {
        run: async (handles) => {
          const signal = new Signal();
          const options = { signal: signal as unknown as AbortSignal };
          const result = handles.mod.waitAny(all(handles), options)
            .then(() => {}, () => {});
          signal.abort();
          await result;
        },
        model: (s: Model) => [s, undefined],
      },
      push: {
        run: ({ queues }, v: number) => queues[v & 1]!.tryPushInt(v),
        // Odd items go into queue 1.
        model: (s: Model, v: number) => [
          withItems(s, v & 1, [...s.queues[v & 1]!, v]),
          true,
        ],
      },
      pop: {
        run: ({ queues }, q: number) => queues[q]!.popInt(),
        model: (s: Model, q: number) => {
          const [first, ...rest] = s.queues[q]!;
          return first === undefined ? null : [withItems(s, q, rest), first];
        },
      },
      ...others,
      wait: {
        run: ({ event }) => event.wait(),
        model: (s: Model) =>
          s.signals > 0 ? [{ ...s, signals: s.signals - 1 }, undefined] : null,
      },
    },
  });
}

/** A tracked semaphore, of which agent 2 holds the only permit. */
function trackedPermit(weft: Weft) {
  const { permits } = LAYOUT.semaphore;
  return race.spec({
    async: true,
    memory: () => {
      const { buffer } = weft.mod.Semaphore.create(0, { tracked: 1 });
      const row = new Int32Array(buffer, 40 * 4);
      row[0] = 2;
      row[2] = 1; // held
      return buffer;
    },
    ...itsOwn(weft, ({ mod }, memory) => {
      return { mod, semaphore: new mod.Semaphore(memory) };
    }),
    words: named(LAYOUT.semaphore),
    hints: (at) => at === permits * 4 || (at >= 40 * 4 && at < 42 * 4),
    init: 0, // free permits
    ops: {
      any: {
        run: ({ mod, semaphore }) => mod.waitAny([semaphore]),
        model: (free: number) => free > 0 ? [free, 0] : null,
      },
      release: {
        run: ({ semaphore }) => semaphore.release(),
        model: (free: number) => [free + 1, undefined],
      },
    },
    final: (memory) => {
      const left = new Int32Array(memory)[LAYOUT.semaphore.waiters];
      if (left !== 0) return `waiters are left: ${left}`;
    },
  });
}

/** Every interleaving of waiting for the first of several. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = waiting(weft);
  const sampled = { options: { states: 500, runs: 50 }, sampled: true };
  const scenarios: Scenario[] = [
    {
      name: "one comes",
      spec,
      agents: [[["any"]], [["push", 7]]],
    },
    {
      name: "both come",
      spec,
      agents: [[["any"]], [["push", 7], ["push", 8]]],
      ...sampled,
    },
    {
      // Neither queue loses its items, whichever is reported.
      name: "one is ready, another comes",
      spec: waiting(weft, [7]),
      agents: [[["any"], ["pop", 1]], [["push", 8], ["pop", 0]]],
      ...sampled,
    },
    {
      // The wake of the one item may go to the agent that only looks.
      name: "beside a consumer of one",
      spec,
      agents: [[["any"]], [["pop", 1]], [["push", 7], ["push", 8]]],
      ...sampled,
    },
    {
      name: "beside a consumer that leaves one",
      spec,
      agents: [[["any"], ["pop", 1]], [["pop", 1]], [
        ["push", 7],
        ["push", 9],
      ]],
      ...sampled,
    },
    {
      // A look at an old head must not hide what lies behind it.
      name: "beside a consumer of what was there",
      spec: waiting(weft, [7, 9, 11]),
      agents: [[["any"]], [["pop", 1], ["pop", 1]]],
    },
    {
      name: "a permit comes",
      spec,
      agents: [[["anyOfAll"]], [["release"]]],
      ...sampled,
    },
    {
      name: "a permit of a tracked semaphore comes",
      spec: trackedPermit(weft),
      agents: [[["any"]], [["release"]]],
    },
    {
      name: "a timeout at any time",
      spec,
      agents: [[["anyFor"]], [["push", 7]]],
      options: { timeouts: true },
    },
    {
      name: "an abort beside a consumer",
      spec,
      agents: [[["aborted"]], [["pop", 1]], [["push", 7]]],
      ...sampled,
    },
    {
      name: "an abort beside who acquires",
      spec,
      agents: [[["aborted"]], [["acquire"]], [["release"]]],
      ...sampled,
    },
    {
      name: "an abort beside who waits for a signal",
      spec,
      agents: [[["aborted"]], [["wait"]], [["set"]]],
      ...sampled,
    },
    {
      name: "a permit, seen and taken",
      spec,
      agents: [[["anyOfAll"]], [["acquire"]], [["release"], ["push", 7]]],
      ...sampled,
    },
    {
      name: "a signal, seen and taken",
      spec,
      agents: [[["anyOfAll"]], [["wait"]], [["set"], ["push", 7]]],
      ...sampled,
    },
  ];
  return scenarios.map((scenario) => ({ ...scenario, awaits: [0] }));
}
