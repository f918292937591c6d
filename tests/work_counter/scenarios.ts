import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import type { WorkConfig } from "../../mod.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

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
    agent: (memory, id) => {
      enter(weft, id);
      return new WorkCounter(memory);
    },
    words: named(LAYOUT.work_counter),
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

/** Whole jobs: takes ranges to the end and counts them. */
function jobs(weft: Weft, total: number, config: WorkConfig) {
  const { WorkCounter } = weft.mod;
  return race.spec({
    memory: () => WorkCounter.create(total, config).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new WorkCounter(memory);
    },
    words: named(LAYOUT.work_counter),
    hints: HINTS,
    stateless: true,
    ops: {
      work: {
        run: (w) => {
          const tasks: number[] = [];
          for (let r; (r = w.nextRange()) !== undefined;) {
            for (let i = r.start; i < r.end; i++) tasks.push(i);
            w.done(r.end - r.start);
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
    agent: (memory, id) => {
      enter(weft, id);
      return new WorkCounter(memory);
    },
    words: named(LAYOUT.work_counter),
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

/** The race scenarios of `WorkCounter`. */
export function scenarios(weft: Weft): Scenario[] {
  const two = single(weft, 2);
  const work = [["work"]] as const;
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
      deep: true,
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
  ];
}
