import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  freed,
  named,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";

const TRIES = LAYOUT.once.length * 4;
const BYTES = TRIES + 4;

/**
 * The model's state: the count of the function, and how many calls are over.
 */
interface Model {
  readonly tries: number;
  readonly calls: number;
}

/** What agents have: it, and the number of tries. */
const trying = (weft: Weft, rounds = 0) => ({
  agent: (memory: SharedArrayBuffer, id: number) => {
    enter(weft, id);
    weft.spin.spinning.rounds = rounds;
    return {
      once: new weft.mod.Once(memory),
      tries: new Int32Array(memory, TRIES, 1),
    };
  },
  words: { ...named(LAYOUT.once), tries: TRIES },
  stateless: false, // a view remembers that it saw the end
});

/**
 * A once whose function counts its tries, plainly, and fails the first
 * `failures` of them. Agents look `rounds` times before they sleep.
 */
function counting(weft: Weft, failures = 0, rounds = 0) {
  // A call that changed nothing would be free to sleep until a timeout.
  const over = ({ tries, calls }: Model): [Model, unknown] =>
    tries < failures
      ? [{ tries: tries + 1, calls: calls + 1 }, "failed"]
      : [{ tries: failures + 1, calls: calls + 1 }, true];
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    ...trying(weft, rounds),
    init: { tries: 0, calls: 0 } as Model,
    ops: {
      run: {
        run: ({ once, tries }) => {
          try {
            once.run(() => {
              if (++tries[0]! <= failures) throw new Error();
            });
            return true;
          } catch {
            return "failed";
          }
        },
        model: over,
      },
      runFor: {
        run: ({ once, tries }) => {
          try {
            return once.tryRun(() => {
              if (++tries[0]! <= failures) throw new Error();
            }, 5);
          } catch {
            return "failed";
          }
        },
        model: (s: Model) =>
          race.either(over(s), race.timedOut<Model>([s, false])),
      },
      // Plain, so that the end must have published it.
      look: {
        run: ({ once, tries }) => once.done ? tries[0] : 0,
        model: (s: Model) => [s, s.tries > failures ? s.tries : 0],
        lockFree: true,
      },
    },
    final: (memory) => {
      const state = new Int32Array(memory)[0]!;
      if ((state & 0x0fff_ffff) !== 0) return `agent ${state} still runs it`;
    },
  });
}

/** A terminated agent is abandoned. */
function terminated(weft: Weft) {
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    ...trying(weft),
    ops: {
      run: {
        run: ({ once, tries }) => once.run(() => Atomics.add(tries, 0, 1)),
      },
    },
    recover: ({ once }, dead) => once.abandon(dead + 1),
    final: (memory) => {
      const words = new Int32Array(memory);
      if (words[1] === 0 || (words[0]! & 1 << 28) === 0) return "not done";
    },
  });
}

/** The agent that ran it was terminated before the exploration began. */
function abandoned(weft: Weft) {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(BYTES);
      new Int32Array(memory)[0] = 9;
      return memory;
    },
    ...trying(weft),
    init: { runner: 9, runs: 0 },
    ops: {
      run: {
        run: ({ once, tries }) => once.run(() => void tries[0]!++),
        model: (s: { runner: number; runs: number }) =>
          s.runner === 0 ? [{ ...s, runs: s.runs + 1 }, undefined] : null,
      },
      abandon: {
        run: ({ once }, id: number) => once.abandon(id),
        model: (s: { runner: number; runs: number }, id: number) =>
          s.runner === id ? [{ ...s, runner: 0 }, 1] : [s, 0],
      },
    },
    final: (memory) => {
      const tries = new Int32Array(memory)[1];
      if (tries !== 1) return `it was run ${tries} times`;
    },
  });
}

/** Why C takes other steps in some scenarios. */
const DIFFERS = "C looks whether it is done before it tries to be the one; a " +
  "view in TypeScript remembers that it was";

/** The race scenarios of `Once`. */
export function scenarios(weft: Weft): Scenario[] {
  return [
    freed("one runs the function, the other frees the once", weft, {
      memory: () => weft.mod.Once.create().buffer,
      view: (memory) => new weft.mod.Once(memory),
      row: LAYOUT.once,
      differs: DIFFERS,
      remembers: true,
      letGo: (once) => void once.run(() => {}),
      wait: (once) => {
        let mine = false;
        once.run(() => void (mine = true));
        return !mine; // else the other agent may wait
      },
    }),
    {
      name: "two agents",
      differs: DIFFERS,
      spec: counting(weft),
      agents: [[["run"], ["look"]], [["look"], ["run"]]],
    },
    {
      name: "three agents",
      spec: counting(weft),
      agents: [[["run"]], [["run"]], [["run"]]],
    },
    {
      name: "the first fails",
      spec: counting(weft, 1),
      agents: [[["run"]], [["run"]], [["run"]]],
    },
    {
      name: "the first two fail",
      spec: counting(weft, 2),
      agents: [[["run"], ["run"]], [["run"], ["run"]]],
    },
    {
      name: "the first two of three agents fail",
      spec: counting(weft, 2),
      agents: [[["run"]], [["run"]], [["run"]]],
      options: { states: 500_000, time: 300_000 },
    },
    {
      name: "a wait that may time out",
      spec: counting(weft, 1),
      agents: [[["runFor"]], [["runFor"]], [["run"]]],
      options: { timeouts: true },
    },
    {
      name: "a wait that may time out, and a look at what it waited for",
      differs: DIFFERS,
      spec: counting(weft),
      agents: [[["runFor"], ["look"]], [["run"]]],
      options: { timeouts: true },
    },
    {
      name: "two agents that look before they sleep",
      differs: DIFFERS,
      spec: counting(weft, 0, 1),
      agents: [[["run"]], [["run"], ["look"]]],
    },
    {
      name: "a terminated runner is abandoned",
      spec: abandoned(weft),
      agents: [[["abandon", 8], ["abandon", 9]], [["run"]], [["run"]]],
    },
    {
      name: "an agent is terminated",
      differs: DIFFERS,
      spec: terminated(weft),
      agents: [[["run"]], [["run"]]],
      options: { kill: true, rescue: true },
    },
  ];
}
