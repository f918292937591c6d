import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { freed, type Scenario, viewing, type Weft } from "../_run/scenario.ts";

const { state } = LAYOUT.wait_group;
/** Read plainly before an exchange checks it. */
const HINTS = [[state * 4, state * 4 + 4]] as const;
const MAX = 2 ** 18 - 1;
/** Two rounds before their count wraps. */
const ROUND = -2 << 19;

/** A wait group with the count `count`, in any round. */
function made({ mod }: Weft, count: number, round = 0): SharedArrayBuffer {
  const { buffer } = mod.WaitGroup.create();
  new Int32Array(buffer)[state] = round;
  new mod.WaitGroup(buffer).add(count);
  return buffer;
}

function succeeds(fn: () => void): boolean {
  try {
    fn();
    return true;
  } catch {
    return false;
  }
}

/** A wait group; the model is its count. */
function counting(weft: Weft, count: number, round = 0) {
  const { WaitGroup } = weft.mod;
  return race.spec({
    memory: () => made(weft, count, round),
    ...viewing(weft, WaitGroup, LAYOUT.wait_group),
    hints: HINTS,
    stateless: true,
    init: count,
    ops: {
      add: {
        run: (group, n: number) => succeeds(() => group.add(n)),
        model: (count: number, n: number) =>
          count + n > MAX ? [count, false] : [count + n, true],
        lockFree: true,
      },
      done: {
        run: (group, n: number) => succeeds(() => group.done(n)),
        model: (count: number, n: number) =>
          count < n ? [count, false] : [count - n, true],
        lockFree: true,
      },
      wait: {
        run: (group) => group.wait(),
        model: (count: number) => count === 0 ? [count, undefined] : null,
      },
      waitFor: {
        run: (group) => group.tryWait(5),
        model: (count: number) =>
          count === 0
            ? race.either([count, true], race.timedOut([count, false]))
            : race.timedOut([count, false]),
      },
      tryWait: {
        run: (group) => group.tryWait(),
        model: (count: number) => [count, count === 0],
        lockFree: true,
      },
    },
    final: (memory) => {
      const left = new Int32Array(memory)[state]! & 0x7ffff;
      if (left === 1) return "the mark of a waiter is left";
    },
  });
}

/** Whoever waits when the count falls to 0 goes on, though it rises again. */
function due(weft: Weft, round: number) {
  const { WaitGroup } = weft.mod;
  return race.spec({
    memory: () => made(weft, 1, round),
    ...viewing(weft, WaitGroup, LAYOUT.wait_group),
    hints: HINTS,
    stateless: true,
    ops: {
      wait: { run: (group) => group.wait() },
      again: {
        run: (group) => {
          const words = new Int32Array(group.buffer);
          while ((Atomics.load(words, state) & 1) === 0); // until one waits
          group.done();
          group.add();
        },
      },
    },
  });
}

/** Waits that must end although another agent is terminated. */
function terminated(weft: Weft, count: number) {
  const { WaitGroup } = weft.mod;
  return race.spec({
    memory: () => made(weft, count),
    ...viewing(weft, WaitGroup, LAYOUT.wait_group),
    hints: HINTS,
    stateless: true,
    ops: {
      done: { run: (group) => void succeeds(() => group.done()) },
      wait: { run: (group) => group.wait() },
    },
    // The agent that learns of a death is done in the place of the dead one.
    recover: (group) => {
      for (let left; (left = group.count) > 0;) {
        succeeds(() => group.done(left)); // or another agent was faster
      }
    },
  });
}

/** The race scenarios of `WaitGroup`. */
export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "two are done, two sleepers",
    spec: counting(weft, 2, ROUND),
    agents: [[["done", 1]], [["done", 1], ["wait"]], [["wait"]]],
  },
  {
    name: "two rounds",
    spec: counting(weft, 1, ROUND),
    agents: [[["done", 1], ["add", 1], ["done", 1]], [["wait"]], [["wait"]]],
  },
  {
    name: "one that is done starts another",
    spec: counting(weft, 1),
    agents: [[["add", 1], ["done", 1]], [["done", 1]], [["wait"]]],
  },
  {
    name: "steps of two sizes, never below 0",
    spec: counting(weft, 3),
    agents: [[["done", 2]], [["done", 2]], [["done", 1], ["tryWait"]]],
  },
  {
    name: "a step down before its rise",
    spec: counting(weft, 0),
    agents: [[["add", 1], ["tryWait"]], [["done", 1], ["done", 1]]],
  },
  {
    name: "never above the most",
    spec: counting(weft, MAX - 1),
    agents: [[["add", 1], ["done", 1]], [["add", 1], ["add", 1]]],
  },
  {
    name: "a wait that may time out",
    spec: counting(weft, 1, ROUND),
    agents: [[["waitFor"], ["wait"]], [["waitFor"]], [["done", 1]]],
    options: { timeouts: true },
  },
  ...[0, -1 << 19].map((round) => ({
    name: `it rises again before a sleeper looks, round ${round >>> 19}`,
    spec: due(weft, round),
    agents: [[["wait"]], [["again"]]],
    options: { polls: true }, // until somebody waits
  } satisfies Scenario)),
  freed("one is done, the other frees the group", weft, {
    memory: () => made(weft, 1),
    view: (memory) => new weft.mod.WaitGroup(memory),
    row: LAYOUT.wait_group,
    hints: HINTS,
    letGo: (group) => group.done(),
    wait: (group) => group.wait(),
  }),
  freed("one adds, the other is done for it and frees the group", weft, {
    memory: () => made(weft, 1),
    view: (memory) => new weft.mod.WaitGroup(memory),
    row: LAYOUT.wait_group,
    hints: HINTS,
    letGo: (group) => group.add(),
    wait: (group) => succeeds(() => group.done(2)) && group.tryWait(),
  }),
  {
    name: "an agent terminated at any step",
    spec: terminated(weft, 2),
    agents: [[["done"], ["wait"]], [["done"], ["wait"]]],
    options: { kill: true, rescue: true },
  },
];
