import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const LOW = LAYOUT.counter.length;
const HIGH = LOW + 1;
const SECTOR = 2 ** 28;
/** A look at `high` that a later one makes good. */
const HINTS = [[HIGH * 4, HIGH * 4 + 4]] as const;

/** One stripe for all, which holds `start`; the model is the sum. */
function adding(weft: Weft, start: number) {
  const { StripedCounter } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = StripedCounter.create({ stripes: 1 });
      const words = new Int32Array(buffer);
      words[LOW] = start;
      words[HIGH] = Math.floor(start / SECTOR);
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new StripedCounter(memory);
    },
    words: { ...named(LAYOUT.counter), low: LOW * 4, high: HIGH * 4 },
    hints: HINTS,
    stateless: false, // a view keeps its stripe
    init: start,
    ops: {
      add: {
        run: (counter, n: number) => counter.add(n),
        model: (sum: number, n: number) => [sum + n, undefined],
        lockFree: true,
      },
      // One stripe: the sum is exact.
      sum: {
        run: (counter) => counter.sum(),
        model: (sum: number) => [sum, sum],
        lockFree: true,
      },
    },
  });
}

/** The race scenarios of `StripedCounter`. */
export function counter(weft: Weft): Scenario[] {
  const add = (n: number) => ["add", n] as const;
  const lockFree = { progress: "lock-free" } as const;
  return [
    {
      name: "two agents, one stripe",
      spec: adding(weft, 0),
      agents: [[add(1), ["sum"]], [add(2), add(-1), ["sum"]]],
      options: lockFree,
    },
    {
      name: "carries that meet",
      spec: adding(weft, SECTOR - 1),
      agents: [[add(SECTOR), ["sum"]], [add(1), add(-1)], [add(SECTOR - 1)]],
      options: lockFree,
    },
    {
      name: "there and back across 0",
      spec: adding(weft, 0),
      agents: [[add(-1), add(1)], [add(-SECTOR), add(SECTOR)], [["sum"]]],
      options: lockFree,
    },
    {
      name: "the low word wraps",
      spec: adding(weft, 2 ** 32 - 1),
      agents: [[add(1), ["sum"]], [add(SECTOR), ["sum"]]],
      options: lockFree,
    },
    {
      name: "an agent is terminated",
      spec: adding(weft, SECTOR - 1),
      agents: [[add(1)], [add(SECTOR), ["sum"]], [["sum"]]],
      options: { kill: true },
    },
  ];
}
