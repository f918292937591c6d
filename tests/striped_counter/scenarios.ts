import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { type Scenario, viewing, type Weft } from "../_run/scenario.ts";

const LOW = LAYOUT.striped_counter.length;
const HIGH = LOW + 1;
const { claims } = LAYOUT.striped_counter;
const SECTOR = 2 ** 28;
/** Plain reads of `high` that a later read corrects. */
const HINTS = [[HIGH * 4, HIGH * 4 + 4]] as const;
const WORDS = { ...LAYOUT.striped_counter, low: LOW, high: HIGH };

/** The part of a specification of one stripe for all, which holds `start`. */
function oneStripe(weft: Weft, start: number) {
  const { StripedCounter } = weft.mod;
  return {
    memory: () => {
      const { buffer } = StripedCounter.create({ stripes: 1 });
      const words = new Int32Array(buffer);
      words[LOW] = start;
      words[HIGH] = Math.floor(start / SECTOR);
      return buffer;
    },
    ...viewing(weft, StripedCounter, WORDS),
  };
}

/** One stripe for all. The model's state is the sum. */
function adding(weft: Weft, start: number) {
  return race.spec({
    ...oneStripe(weft, start),
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

/**
 * Additions of more than a sector at a time: in several steps, so that a sum
 * may see a part, but never less than before, or more than after.
 */
function addingMuch(weft: Weft, start: number, most: number) {
  const { StripedCounter } = weft.mod;
  return race.spec({
    ...oneStripe(weft, start),
    stateless: false,
    ops: {
      add: { run: (counter, n: number) => void counter.add(n) },
      sum: { run: (counter) => counter.sum() },
    },
    final: (memory, results) => {
      const sums = results.flat().filter((sum) => sum !== undefined);
      const [least, greatest] = [start, start + most].sort((a, b) => a - b);
      for (const sum of sums as number[]) {
        if (sum < least! || sum > greatest!) return `a sum of ${sum}`;
      }
      const sum = new StripedCounter(memory).sum();
      if (sum !== start + most) return `a sum of ${sum} at the end`;
    },
  });
}

/** Three stripes, where the count of views that claimed one wraps. */
function claiming(weft: Weft) {
  const { StripedCounter } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = StripedCounter.create({ stripes: 3 });
      new Int32Array(buffer)[claims] = -2;
      return buffer;
    },
    ...viewing(weft, StripedCounter, LAYOUT.striped_counter),
    hints: HINTS,
    stateless: false,
    ops: { add: { run: (counter, n: number) => void counter.add(n) } },
    final: (memory) => {
      const sum = new StripedCounter(memory).sum();
      if (sum !== 7) return `a sum of ${sum}`;
    },
  });
}

/** The race scenarios of `StripedCounter`. */
export function scenarios(weft: Weft): Scenario[] {
  const add = (n: number) => ["add", n] as const;
  const lockFree = { progress: "lock-free" } as const;
  // Old values of `high` are left to other scenarios: these take many steps.
  const exact = { races: false } as const;
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
      agents: [[add(SECTOR), ["sum"]], [add(1), add(-1)]],
      options: lockFree,
    },
    {
      name: "there and back across 0",
      spec: adding(weft, 0),
      agents: [[add(-1), add(1)], [add(-SECTOR)], [["sum"]]],
      options: lockFree,
    },
    {
      name: "the low word wraps",
      spec: adding(weft, 2 ** 32 - 1),
      agents: [[add(1), ["sum"]], [add(SECTOR), ["sum"]]],
      options: lockFree,
    },
    {
      name: "a sum beside a large addition",
      spec: addingMuch(weft, SECTOR - 1, 2 ** 31 - 1),
      agents: [[add(2 ** 31 - 1)], [["sum"]]],
      options: { ...exact, states: 20_000 },
      sampled: true,
    },
    {
      name: "a large addition beside a carry",
      spec: addingMuch(weft, SECTOR - 1, 2 ** 31),
      agents: [[add(2 ** 31 - 1)], [add(1)]],
      options: exact,
    },
    {
      name: "a large subtraction beside a carry",
      spec: addingMuch(weft, 0, -(2 ** 31) - 1),
      agents: [[add(-(2 ** 31))], [add(-1)]],
      options: exact,
    },
    {
      name: "the claims wrap",
      differs: "a view in TypeScript knows how many stripes there are",
      spec: claiming(weft),
      agents: [[add(1)], [add(2)], [add(4)]],
    },
    {
      name: "an agent is terminated",
      spec: adding(weft, SECTOR - 1),
      agents: [[add(1)], [add(SECTOR), ["sum"]], [["sum"]]],
      options: { kill: true },
    },
  ];
}
