import { race } from "../../race/mod.ts";
import type { Arm, Selected, SelectOptions } from "../../mod.ts";
import type { Scenario, Weft } from "../_run/scenario.ts";
import { Signal } from "../_run/signal.ts";
import { choosingAsync } from "../select_blocking/handed.ts";
import {
  type Handles,
  type Model,
  others,
  type Outcome,
  queuesIn,
  several,
  withItems,
} from "../wait_any/scenarios.ts";

/** What a select says: its index and value, or that it did nothing. */
const said = (got: Selected<readonly Arm[]> | undefined) =>
  got === undefined ? "nothing" : [got.index, got.value ?? null];

const select = async (
  { mod }: Handles,
  arms: readonly Arm[],
  options?: SelectOptions,
) => said(await mod.select(arms, { order: "first", ...options }));

const all = ({ queues, semaphore, event }: Handles): Arm[] => [
  ...queues,
  semaphore,
  event,
];

/** Each take that is possible. */
function takes(s: Model, others: boolean): Outcome[] {
  const outcomes = s.queues.flatMap((items, q): Outcome[] => {
    const [first, ...rest] = items;
    return first === undefined ? [] : [[withItems(s, q, rest), [q, first]]];
  });
  if (others && s.permits > 0) {
    outcomes.push([{ ...s, permits: s.permits - 1 }, [2, null]]);
  }
  if (others && s.signals > 0) {
    outcomes.push([{ ...s, signals: s.signals - 1 }, [3, null]]);
  }
  return outcomes;
}

/** How many elements more were added than taken, as the results say. */
function added(results: readonly unknown[]): number {
  let count = 0;
  for (const result of results) {
    if (result === true || result === "added") count++;
    else if (typeof result === "number") count--;
    else if (Array.isArray(result) && result[0] < 2) {
      count += result[1] === null ? 1 : -1;
    }
  }
  return count;
}

/** `items` are in queue 1; each queue has room for `capacity`. */
function selecting(weft: Weft, items: readonly number[] = [], capacity = 4) {
  const hasRoom = (s: Model, q: number) => s.queues[q]!.length < capacity;
  const some = (outcomes: Outcome[]) =>
    outcomes.length === 0 ? null : race.either(...outcomes);
  const parts = several(weft, items, capacity);
  return race.spec({
    ...parts,
    // What is left is what was added and not taken.
    final: (memory: SharedArrayBuffer, results: readonly unknown[][]) => {
      const problem = parts.final(memory);
      if (problem !== undefined) return problem;
      const expected = items.length + added(results.flat());
      const left = queuesIn(weft, memory, capacity)
        .reduce((n, { size }) => n + size, 0);
      if (left !== expected) return `${left} are left, not ${expected}`;
    },
    init: { queues: [[], items], permits: 0, signals: 0 } as Model,
    ops: {
      take: {
        run: (handles) => select(handles, handles.queues),
        model: (s: Model) => some(takes(s, false)),
      },
      takeAny: {
        run: (handles) => select(handles, all(handles)),
        model: (s: Model) => some(takes(s, true)),
      },
      takeFor: {
        run: (handles) => select(handles, handles.queues, { timeout: 5 }),
        model: (s: Model) =>
          race.either(race.timedOut([s, "nothing"]), ...takes(s, false)),
      },
      takeNow: {
        run: (handles) => select(handles, handles.queues, { timeout: 0 }),
        model: (s: Model) => some(takes(s, false)) ?? [s, "nothing"],
      },
      tryPop: {
        run: ({ queues }, q: number) => queues[q]!.tryPopInt() ?? "nothing",
        model: (s: Model, q: number) => {
          const [first, ...rest] = s.queues[q]!;
          return first === undefined
            ? [s, "nothing"]
            : [withItems(s, q, rest), first];
        },
      },
      takeAborted: {
        run: async (handles) => {
          const signal = new Signal();
          const result = select(handles, handles.queues, {
            signal: signal as unknown as AbortSignal,
          }).catch(() => "nothing");
          signal.abort();
          return await result;
        },
        model: (s: Model) => race.either([s, "nothing"], ...takes(s, false)),
      },
      /** Adds to queue 1, or takes from queue 0. */
      addOrTake: {
        run: (handles, v: number) => {
          const { mod: { sending }, queues } = handles;
          return select(handles, [queues[0]!, sending(queues[1]!, v)]);
        },
        model: (s: Model, v: number) => {
          const outcomes = takes(s, false).filter(([, said]) =>
            (said as number[])[0] === 0
          );
          if (hasRoom(s, 1)) {
            const added = [...s.queues[1]!, v];
            outcomes.push([withItems(s, 1, added), [1, null]]);
          }
          return some(outcomes);
        },
      },
      push: {
        run: ({ queues }, v: number) => queues[v & 1]!.tryPushInt(v),
        // Odd items go into queue 1.
        model: (s: Model, v: number) =>
          hasRoom(s, v & 1)
            ? [withItems(s, v & 1, [...s.queues[v & 1]!, v]), true]
            : [s, false],
      },
      add: {
        run: ({ queues }, v: number) => {
          queues[v & 1]!.pushInt(v);
          return "added";
        },
        model: (s: Model, v: number) =>
          hasRoom(s, v & 1)
            ? [withItems(s, v & 1, [...s.queues[v & 1]!, v]), "added"]
            : null,
      },
      pop: {
        run: ({ queues }, q: number) => queues[q]!.popInt(),
        model: (s: Model, q: number) => {
          const [first, ...rest] = s.queues[q]!;
          return first === undefined ? null : [withItems(s, q, rest), first];
        },
      },
      ...others,
      takeSignal: {
        run: async (handles) =>
          await select(handles, [handles.event]) === "nothing"
            ? "nothing"
            : "signal",
        model: (s: Model) =>
          s.signals > 0 ? [{ ...s, signals: s.signals - 1 }, "signal"] : null,
      },
      tryWait: {
        run: ({ event }) => event.tryWait() ? "signal" : "none",
        model: (s: Model) =>
          s.signals > 0
            ? [{ ...s, signals: s.signals - 1 }, "signal"]
            : [s, "none"],
      },
    },
  });
}

/** Every interleaving of doing the first of several. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = selecting(weft);
  const sampled = { options: { states: 500, runs: 50 }, sampled: true };
  const scenarios: Scenario[] = [
    {
      name: "one comes",
      spec,
      agents: [[["take"]], [["push", 7]]],
    },
    {
      // Exactly one of the two is taken.
      name: "both come",
      spec,
      agents: [[["take"]], [["push", 7], ["push", 8]]],
      ...sampled,
    },
    {
      name: "two are there, two come to take",
      spec: selecting(weft, [7, 9]),
      agents: [[["take"]], [["pop", 1]]],
    },
    {
      name: "one is there, another comes",
      spec: selecting(weft, [7]),
      agents: [[["take"]], [["push", 8]]],
    },
    {
      name: "beside a consumer",
      spec,
      agents: [[["take"]], [["pop", 1]], [["push", 7], ["push", 9]]],
      ...sampled,
    },
    {
      // At each time, one of both queues has an element.
      name: "an element comes, and another one goes",
      spec: selecting(weft, [7]),
      agents: [[["takeNow"]], [["push", 8], ["tryPop", 1]]],
    },
    {
      name: "room comes",
      spec: selecting(weft, [7], 1),
      agents: [[["addOrTake", 9]], [["pop", 1]]],
    },
    {
      name: "room comes, and an element",
      spec: selecting(weft, [7], 1),
      agents: [[["addOrTake", 9]], [["pop", 1], ["push", 8]]],
      ...sampled,
    },
    {
      // The wake of the room may go to the agent that takes the element.
      name: "beside a producer",
      spec: selecting(weft, [7], 1),
      agents: [[["addOrTake", 9]], [["add", 11]], [
        ["push", 8],
        ["pop", 1],
        ["pop", 1],
      ]],
      ...sampled,
    },
    {
      name: "a permit comes",
      spec,
      agents: [[["takeAny"]], [["release"]]],
      ...sampled,
    },
    {
      name: "a permit, and another who acquires",
      spec,
      agents: [[["takeAny"]], [["acquire"]], [["release"], ["release"]]],
      ...sampled,
    },
    {
      name: "a signal that another one may take",
      spec,
      agents: [[["takeSignal"]], [["set"], ["tryWait"], ["set"]]],
      ...sampled,
    },
    {
      name: "a timeout at any time",
      spec,
      agents: [[["takeFor"]], [["push", 7]]],
      options: { timeouts: true },
    },
    {
      name: "an abort while an element comes",
      spec,
      agents: [[["takeAborted"]], [["push", 7]]],
    },
    {
      name: "an abort beside a consumer",
      spec,
      agents: [[["takeAborted"]], [["pop", 1]], [["push", 7], ["push", 9]]],
      ...sampled,
    },
  ];
  const chosen = choosingAsync(weft);
  const come = ["come"] as const;
  const handed = [
    {
      name: "capacity 0: receives from one of two channels",
      spec: chosen,
      agents: [[come, ["pickFor"]], [["trySend", 2]], [["trySend", 1]]],
      ...sampled,
    },
    {
      name: "capacity 0: sends to a receiver that waits",
      spec: chosen,
      agents: [[["put", 2]], [come, ["receive"]]],
      ...sampled,
    },
    {
      name: "capacity 0: offers are ended, and made again",
      spec: chosen,
      agents: [[come, ["pick"]], [["abandon"]], [["put", 2]]],
      awaits: [0, 2],
      ...sampled,
    },
  ] satisfies Scenario[];
  return [...scenarios, ...handed].map((scenario) => ({
    awaits: [0],
    ...scenario,
  }));
}
