import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import type { WorkConfig, WorkCounter } from "../../mod.ts";
import { type Scenario, viewing, type Weft } from "../_run/scenario.ts";

const { next, done, target } = LAYOUT.work_counter;
/** Words that are read plainly before an exchange, or to refuse early. */
const HINTS = [next, done, target].map((i) => [i * 4, i * 4 + 4] as const);

interface Model {
  /** Tasks handed out. */
  readonly out: number;
  readonly done: number;
  /** Tasks to be done before `wait` ends. */
  readonly target: number;
}

/** Single tasks, counted one by one; `out` are handed out at the start. */
function single(weft: Weft, total: number, out = 0) {
  const { WorkCounter } = weft.mod;
  return race.spec({
    memory: () => {
      const work = WorkCounter.create(total);
      for (let n = 0; n < out; n++) work.next();
      return work.buffer;
    },
    ...viewing(weft, WorkCounter, LAYOUT.work_counter),
    hints: HINTS,
    stateless: true,
    init: { out, done: 0, target: total } as Model,
    ops: {
      next: {
        run: (w) => w.next(),
        model: (s: Model) =>
          s.out < s.target ? [{ ...s, out: s.out + 1 }, s.out] : [s, -1],
        lockFree: true,
      },
      done: {
        run: (w) => w.done(),
        model: (s: Model) => [{ ...s, done: s.done + 1 }, undefined],
        lockFree: true,
      },
      cancel: {
        run: (w) => w.cancel(),
        model: (s: Model) => [{ ...s, target: s.out }, undefined],
      },
      wait: {
        run: (w) => w.wait(),
        model: (s: Model) => s.done >= s.target ? [s, undefined] : null,
      },
      waitFor: {
        run: (w) => w.tryWait(5),
        model: (s: Model) =>
          s.done >= s.target
            ? race.either([s, true], race.timedOut([s, false]))
            : race.timedOut([s, false]),
      },
    },
  });
}

/** Takes ranges to the end, and counts them; returns its tasks. */
function workAll(w: WorkCounter): number[] {
  const tasks: number[] = [];
  for (let r; (r = w.nextRange()) !== undefined;) {
    for (let i = r.start; i < r.end; i++) tasks.push(i);
    w.done(r.end - r.start);
  }
  return tasks;
}

/** Whole jobs. */
function jobs(weft: Weft, total: number, config: WorkConfig) {
  const { WorkCounter } = weft.mod;
  return race.spec({
    memory: () => WorkCounter.create(total, config).buffer,
    ...viewing(weft, WorkCounter, LAYOUT.work_counter),
    hints: HINTS,
    stateless: true,
    ops: {
      work: { run: workAll },
      wait: { run: (w) => (w.wait(), []) },
      cancel: {
        run: (w) => {
          w.cancel();
          w.wait();
          return [];
        },
      },
    },
    final: (memory, results) => {
      const work = new WorkCounter(memory);
      const tasks = (results.flat(2) as number[]).sort((a, b) => a - b);
      const length = work.cancelled ? tasks.length : total;
      const expected = Array.from({ length }, (_, i) => i);
      if (`${tasks}` !== `${expected}`) return `tasks ${tasks} were handed out`;
      if (work.completed !== length) return `${work.completed} are done`;
    },
  });
}

/** The agent that does the last task may be terminated before it reports it. */
function terminated(weft: Weft) {
  const { WorkCounter } = weft.mod;
  return race.spec({
    memory: () => WorkCounter.create(1).buffer,
    ...viewing(weft, WorkCounter, LAYOUT.work_counter),
    hints: HINTS,
    stateless: true,
    ops: {
      done: { run: (w) => w.done() },
      wait: { run: (w) => w.wait() },
    },
    recover: (w, dead) => {
      if (dead === 0 && w.completed === 0) w.done();
    },
  });
}

/** Where the rows of a tracked counter begin, and words of a row. */
const ROWS = 104, ROW = 32;
const ROW_WORDS = Object.fromEntries(
  [0, 1].flatMap((row) =>
    [
      ...["agent", "taken", "done", "unit", "start", "before"],
      ...["other unit", "other start", "other before"],
    ].map((word, i) => [`${word} of row ${row}`, ROWS + ROW * row + i])
  ),
);

/** An agent notes what it will take plainly; it may die before it takes it. */
const races = (byteOffset: number) =>
  byteOffset / 4 < ROWS || (byteOffset / 4 - ROWS) % ROW < 3;

/** How a tracked counter begins. */
interface Begin {
  /** The agents of its two rows; 2 and 1 unless given. */
  readonly agents?: readonly [number, number];
  /** The agent of the first row has taken one task. */
  readonly taken?: boolean;
  /** Nobody has confirmed that. */
  readonly unconfirmed?: boolean;
  /** The agent of the first row was terminated while it cancelled. */
  readonly cancelled?: boolean;
  /** Agents are terminated, so tasks may be left at the end. */
  readonly dies?: boolean;
}

/**
 * A counter that tracks two agents. Each task is done, and counted once,
 * wherever an agent is terminated.
 */
function tracked(
  weft: Weft,
  total: number,
  config: WorkConfig = {},
  {
    agents = [2, 1],
    taken = false,
    unconfirmed = false,
    cancelled = false,
    dies = false,
  }: Begin = {},
) {
  const { WorkCounter } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = WorkCounter.create(total, { ...config, tracked: 2 });
      const words = new Int32Array(buffer);
      [words[ROWS], words[ROWS + ROW]] = agents;
      if (taken) {
        words[next] = 1 << 8; // by row 0
        words[ROWS + 6] = 1; // the units after its other range
        words[ROWS + 1] = unconfirmed ? 0 : 1;
      }
      if (cancelled) words[next] = total << 8 | 0xff; // by no row
      return buffer;
    },
    ...viewing(weft, WorkCounter, { ...LAYOUT.work_counter, ...ROW_WORDS }),
    hints: (byteOffset) => {
      const word = byteOffset / 4;
      return word === next || word >= ROWS;
    },
    stateless: true,
    ops: {
      work: { run: workAll },
      /** Takes one range, and does it. */
      one: {
        run: (w) => {
          const range = w.nextRange();
          if (range === undefined) return [];
          w.done(range.end - range.start);
          return [range.start];
        },
      },
      /** As `work`, if there is a row for this agent. */
      workInRow: {
        run: (w) => {
          const tasks: number[] = [];
          try {
            for (let r; (r = w.nextRange()) !== undefined;) {
              for (let i = r.start; i < r.end; i++) tasks.push(i);
              w.done(r.end - r.start);
            }
          } catch (error) {
            if (!(error instanceof RangeError)) throw error;
          }
          return tasks;
        },
      },
      wait: { run: (w) => (w.wait(), []) },
      cancel: {
        run: (w) => {
          w.cancel();
          w.wait();
          return [];
        },
      },
      /** Does the task that this agent has, and then the same. */
      doneAndCancel: {
        run: (w) => {
          w.done(1);
          w.cancel();
          w.wait();
          return [0];
        },
      },
      stop: { run: (w) => (w.cancel(), []) },
      abandon: { run: (w, id: number) => (w.abandon(id), []) },
    },
    recover: (w, dead) => {
      w.abandon(dead + 1);
      if (agents[0] === 9) w.abandon(9);
    },
    final: (memory, results) => {
      const work = new WorkCounter(memory);
      const tasks = (results.flat(2) as number[]).sort((a, b) => a - b);
      if (new Set(tasks).size < tasks.length) return `tasks ${tasks} are twice`;
      const words = new Int32Array(memory);
      const left = [ROWS, ROWS + ROW].reduce((sum, at) => {
        const range = at + (words[at + 3] === words[at + 1] ? 3 : 6);
        const chunk = config.chunk ?? 1;
        const end = config.schedule === "guided"
          ? words[range]!
          : Math.min(words[range]! * chunk, total);
        return sum + end - words[range + 1]! - words[at + 2]! +
          words[range + 2]!;
      }, 0);
      const out = work.cancelled ? words[target]! : total - work.remaining;
      if (work.completed + left !== out) {
        return `${work.completed} are done, and ${left} of ${out} are left`;
      }
      if (dies) return;
      if (left > 0) return `${left} tasks are left`;
      if (work.remaining > 0 && !work.cancelled) return "some are not taken";
    },
  });
}

/** The race scenarios of `WorkCounter`. */
export function scenarios(weft: Weft): Scenario[] {
  const two = single(weft, 2);
  const work = [["work"]] as const;
  const killed = { kill: true, rescue: true, timeouts: 0, races } as const;
  const wait = [["wait"]] as const;
  return [
    {
      name: "next past the end",
      spec: two,
      agents: [[["next"], ["next"]], [["next"], ["next"]]],
      options: { progress: "lock-free" },
    },
    {
      name: "done by two, awaited by one",
      spec: two,
      agents: [[["done"]], [["done"]], wait],
    },
    {
      name: "done by one, awaited by two",
      spec: single(weft, 1),
      agents: [[["done"]], wait, wait],
    },
    {
      name: "a wait times out at any time",
      spec: single(weft, 1),
      agents: [[["done"]], [["waitFor"]]],
      options: { timeouts: true },
    },
    {
      name: "cancelled while somebody waits",
      spec: single(weft, 2, 1),
      agents: [[["done"]], [["cancel"]], wait],
    },
    {
      name: "cancelled again",
      spec: single(weft, 2, 1),
      agents: [[["done"], ["wait"]], [["cancel"], ["cancel"]]],
    },
    {
      name: "an agent is terminated",
      spec: terminated(weft),
      agents: [[["done"]], wait],
      options: { kill: true, rescue: true },
    },
    {
      name: "cancelled while at work",
      spec: jobs(weft, 2, {}),
      agents: [work, [["cancel"]]],
    },
    {
      name: "cancelled while at work, guided",
      spec: jobs(weft, 2, { schedule: "guided", agents: 1 }),
      agents: [work, [["cancel"]]],
    },
    {
      name: "cancelled twice",
      spec: jobs(weft, 1, {}),
      agents: [work, [["cancel"]], [["cancel"]]],
    },
    {
      name: "single tasks, two agents, a waiter",
      spec: jobs(weft, 2, { schedule: "single" }),
      agents: [work, work, wait],
    },
    {
      name: "three single tasks, two agents, a waiter",
      spec: jobs(weft, 3, { schedule: "single" }),
      agents: [work, work, wait],
    },
    {
      name: "chunks",
      spec: jobs(weft, 5, { chunk: 2 }),
      agents: [work, work],
    },
    {
      name: "guided",
      spec: jobs(weft, 4, { schedule: "guided", agents: 2 }),
      agents: [work, work],
    },
    {
      name: "guided, alone",
      spec: jobs(weft, 4, { schedule: "guided", agents: 2 }),
      agents: [work],
    },
    {
      name: "tracked: two work, and wait",
      spec: tracked(weft, 2),
      agents: [[["one"], ["wait"]], [["one"]]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: two work on chunks",
      spec: tracked(weft, 3, { chunk: 2 }),
      agents: [[["one"]], [["one"]]],
      options: { races },
    },
    {
      name: "tracked: two work, and one is terminated",
      spec: tracked(weft, 2, {}, { dies: true }),
      agents: [[["one"]], [["one"]]],
      options: killed,
    },
    {
      // The range that counts is that of its first task.
      name: "tracked: one takes again, and is terminated",
      spec: tracked(weft, 2, {}, { dies: true }),
      agents: [[["one"], ["one"]], []],
      options: killed,
    },
    {
      // One takes again while the other confirms what it took first.
      name: "tracked: one takes twice",
      spec: tracked(weft, 3),
      agents: [[["one"], ["one"]], [["one"]]],
      options: { races },
    },
    {
      name: "tracked: two work, guided, and one is terminated",
      spec: tracked(weft, 4, { schedule: "guided", agents: 1 }, { dies: true }),
      agents: [[["one"]], [["one"]]],
      options: killed,
    },
    {
      name: "tracked: two recover an agent, and do its task",
      spec: tracked(weft, 1, {}, { agents: [9, 7], taken: true }),
      agents: [
        [["abandon", 9], ["workInRow"]],
        [["abandon", 9], ["workInRow"]],
      ],
      options: { races },
    },
    {
      name: "tracked: two recover an agent, and one is terminated",
      spec: tracked(weft, 1, {}, {
        ...{ agents: [9, 2], taken: true, unconfirmed: true, dies: true },
      }),
      agents: [[["abandon", 9]], [["abandon", 9], ["one"]]],
      options: killed,
    },
    {
      name: "tracked: one recovers an agent, another takes",
      spec: tracked(weft, 2, {}, {
        ...{ agents: [9, 2], taken: true, unconfirmed: true },
      }),
      agents: [[["abandon", 9], ["workInRow"]], [["one"]]],
      options: { races },
    },
    {
      name: "tracked: two take over the task of an agent",
      spec: tracked(weft, 1, {}, { agents: [0, 1], taken: true }),
      agents: [work, [["workInRow"]]],
      options: { races },
    },
    {
      name: "tracked: one takes over the task of an agent",
      spec: tracked(weft, 1, {}, { agents: [0, 1], taken: true }),
      agents: [work, []],
      options: { races },
    },
    {
      name: "tracked: cancelled while at work",
      spec: tracked(weft, 2),
      agents: [work, [["cancel"]]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: cancelled while at work, and awaited",
      spec: tracked(weft, 2),
      agents: [[["one"]], [["stop"]], [["wait"]]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: cancelled beside a dead agent",
      spec: tracked(weft, 2, {}, {
        ...{ agents: [9, 2], taken: true, unconfirmed: true },
      }),
      agents: [[["cancel"]], [["abandon", 9], ["work"]]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: one is terminated while it cancels, another cancels",
      spec: tracked(weft, 3, {}, { taken: true, dies: true }),
      agents: [[["stop"]], [["doneAndCancel"]]],
      options: killed,
    },
    {
      name: "tracked: one was terminated while it cancelled, two cancel",
      spec: tracked(weft, 3, {}, {
        ...{ agents: [9, 2], cancelled: true, dies: true },
      }),
      agents: [[["cancel"]], [["cancel"]]],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: one was terminated while it cancelled, one cancels",
      spec: tracked(weft, 3, {}, {
        ...{ agents: [9, 2], cancelled: true, dies: true },
      }),
      agents: [[["cancel"]], wait],
      options: { timeouts: 0, races },
    },
    {
      name: "tracked: an agent was terminated while it cancelled",
      spec: tracked(weft, 3, {}, {
        ...{ agents: [9, 2], taken: true, cancelled: true, dies: true },
      }),
      agents: [[["abandon", 9], ["workInRow"]], [["wait"]]],
      options: { timeouts: 0, races },
    },
  ];
}
