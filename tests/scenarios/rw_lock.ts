import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { state, writer } = LAYOUT.rw_lock;
/** Read plainly before an exchange checks it, or for what is one's own. */
const HINTS = [state, writer].map((i) => [i * 4, i * 4 + 4] as const);
const TOTAL = LAYOUT.rw_lock.length * 4;

/** A plain word under the lock; the model is its value. */
function sections(weft: Weft, phase = 0) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL + 4);
      new Int32Array(memory)[state] = phase << 30;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const total = new Int32Array(memory, TOTAL, 1);
      return { lock: new RwLock(memory), total };
    },
    words: { ...named(LAYOUT.rw_lock), total: TOTAL },
    hints: HINTS,
    stateless: true,
    init: 0,
    ops: {
      get: {
        run: ({ lock, total }) => {
          using _guard = lock.read();
          return total[0];
        },
        model: (n: number) => [n, n],
      },
      getFor: {
        run: ({ lock, total }) => {
          using guard = lock.read(5);
          return guard && total[0];
        },
        model: (n: number) =>
          race.either([n, n], race.timedOut([n, undefined])),
      },
      tryGet: {
        run: ({ lock, total }) => {
          using guard = lock.tryRead();
          return guard && total[0];
        },
        model: (n: number) =>
          race.either([n, n], race.contended([n, undefined])),
      },
      add: {
        run: ({ lock, total }) => {
          using _guard = lock.write();
          return ++total[0]!;
        },
        model: (n: number) => [n + 1, n + 1],
      },
      addFor: {
        run: ({ lock, total }) => {
          using guard = lock.write(5);
          return guard && ++total[0]!;
        },
        model: (n: number) =>
          race.either([n + 1, n + 1], race.timedOut([n, undefined])),
      },
      tryAdd: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite();
          return guard && ++total[0]!;
        },
        model: (n: number) =>
          race.either([n + 1, n + 1], race.contended([n, undefined])),
      },
      addAndGet: {
        run: ({ lock, total }) => {
          const guard = lock.write();
          total[0]!++;
          using _reading = guard.downgrade();
          return total[0];
        },
        model: (n: number) => [n + 1, n + 1],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const left = words[state]! & 0x3fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
      if (words[writer] !== 0) return "a writer is left";
    },
  });
}

/** A writer that dies, writing or waiting, is given up. */
function terminated(weft: Weft) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(TOTAL + 4),
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
    stateless: true,
    ops: {
      write: {
        run: (lock) => {
          using _guard = lock.write();
        },
      },
    },
    recover: (lock, dead) => {
      lock.abandon(dead + 1);
      using _guard = lock.write();
    },
  });
}

/** The race scenarios of `RwLock`. */
export function rw_lock(weft: Weft): Scenario[] {
  const spec = sections(weft);
  const late = sections(weft, 3);
  const large = { states: 50_000, time: 20_000 };
  return [
    { name: "one writes, one reads", spec, agents: [[["add"]], [["get"]]] },
    {
      name: "one writes, one reads, twice, phases that wrap",
      spec: late,
      agents: [[["add"], ["add"]], [["get"], ["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "two write",
      spec,
      agents: [[["add"]], [["add"]]],
    },
    {
      name: "one writes, two read",
      spec: late,
      agents: [[["add"]], [["get"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "two write, one reads",
      spec,
      agents: [[["add"]], [["add"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "one downgrades",
      spec: late,
      agents: [[["addAndGet"]], [["get"]], [["add"]]],
      options: large,
      sampled: true,
    },
    {
      name: "tries beside locks",
      spec,
      agents: [[["tryAdd"], ["tryGet"]], [["add"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "a reader that gives up",
      spec,
      agents: [[["add"]], [["getFor"], ["tryAdd"]]],
      options: { timeouts: true },
    },
    {
      name: "a writer that gives up",
      spec: late,
      agents: [[["addFor"]], [["get"]]],
      options: { timeouts: true },
    },
    {
      name: "both give up",
      spec,
      agents: [[["addFor"]], [["getFor"]], [["get"]]],
      options: { ...large, timeouts: true },
      sampled: true,
    },
    {
      name: "a writer is terminated",
      spec: terminated(weft),
      agents: [[["write"]], [["write"]]],
      options: { ...large, kill: true, rescue: true },
      sampled: true,
    },
  ];
}
