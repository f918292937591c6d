import { race } from "../../race/mod.ts";
import type { Latch } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { freed, type Scenario, viewing, type Weft } from "../_run/scenario.ts";

const { state } = LAYOUT.latch;
/** Read plainly before an exchange checks it. */
const HINTS = [[state * 4, state * 4 + 4]] as const;

/** A latch; the model is its count. */
function counting(weft: Weft, count: number) {
  const { Latch } = weft.mod;
  return race.spec({
    memory: () => Latch.create(count).buffer,
    ...viewing(weft, Latch, LAYOUT.latch),
    hints: HINTS,
    stateless: true,
    init: count,
    ops: {
      countDown: {
        run: (latch, n: number) => {
          try {
            latch.countDown(n);
            return true;
          } catch {
            return false;
          }
        },
        model: (left: number, n: number) =>
          left < n ? [left, false] : [left - n, true],
        lockFree: true,
      },
      wait: {
        run: (latch) => latch.wait(),
        model: (left: number) => left === 0 ? [left, undefined] : null,
      },
      waitFor: {
        run: (latch) => latch.tryWait(5),
        model: (left: number) =>
          left === 0
            ? race.either([left, true], race.timedOut([left, false]))
            : race.timedOut([left, false]),
      },
      tryWait: {
        run: (latch) => latch.tryWait(),
        model: (left: number) => [left, left === 0],
        lockFree: true,
      },
    },
  });
}

/** Waits that must end although another agent is terminated. */
function terminated(weft: Weft, count: number) {
  const { Latch } = weft.mod;
  return race.spec({
    memory: () => Latch.create(count).buffer,
    ...viewing(weft, Latch, LAYOUT.latch),
    hints: HINTS,
    stateless: true,
    ops: {
      countDown: {
        run: (latch) => {
          try {
            latch.countDown();
          } catch { /* the supervisor did */ }
        },
      },
      wait: { run: (latch) => latch.wait() },
    },
    // The agent that learns of a death counts down for the dead one.
    recover: (latch) => {
      for (let left; (left = latch.count) > 0;) {
        try {
          latch.countDown(left);
        } catch { /* another agent was faster */ }
      }
    },
  });
}

/** A latch of which one step is left; the agent that waits for it frees it. */
const last = (weft: Weft) => ({
  memory: () => weft.mod.Latch.create(1).buffer,
  view: (memory: SharedArrayBuffer) => new weft.mod.Latch(memory),
  row: LAYOUT.latch,
  hints: HINTS,
  wait: (latch: Latch) => latch.wait(),
});

/** The race scenarios of `Latch`. */
export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "two steps, two sleepers",
    spec: counting(weft, 2),
    agents: [[["countDown", 1]], [["countDown", 1], ["wait"]], [["wait"]]],
  },
  {
    name: "steps of two sizes, never below 0",
    spec: counting(weft, 3),
    agents: [[["countDown", 2]], [["countDown", 2]], [["countDown", 1], [
      "tryWait",
    ]]],
  },
  {
    name: "a wait that may time out",
    spec: counting(weft, 1),
    agents: [[["waitFor"], ["wait"]], [["waitFor"]], [["countDown", 1]]],
    options: { timeouts: true },
  },
  freed("one counts down, the other frees the latch", weft, {
    ...last(weft),
    letGo: (latch) => latch.countDown(),
  }),
  freed("one arrives and waits, the other frees the latch", weft, {
    ...last(weft),
    letGo: (latch) => latch.arriveAndWait(),
  }),
  freed("one arrives for a time, the other frees the latch", weft, {
    ...last(weft),
    letGo: (latch) => latch.tryArriveAndWait(),
  }),
  {
    name: "an agent terminated at any step",
    spec: terminated(weft, 2),
    agents: [[["countDown"], ["wait"]], [["countDown"], ["wait"]]],
    options: { kill: true, rescue: true },
  },
];
