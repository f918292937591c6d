import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const TRIES = LAYOUT.once.length * 4;
const BYTES = TRIES + 4;

/**
 * A once whose function counts its tries, plainly, and fails the first
 * `failures` of them.
 */
function counting(weft: Weft, failures = 0) {
  const { Once } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    agent: (memory, id) => {
      enter(weft, id);
      return {
        once: new Once(memory),
        tries: new Int32Array(memory, TRIES, 1),
      };
    },
    words: { ...named(LAYOUT.once), tries: TRIES },
    stateless: false, // a view remembers that it saw the end
    init: 0,
    ops: {
      run: {
        run: ({ once, tries }) => {
          try {
            return once.run(() => {
              if (++tries[0]! <= failures) throw new Error();
            });
          } catch {
            return "failed";
          }
        },
        model: (tries: number) =>
          tries < failures ? [tries + 1, "failed"] : [failures + 1, true],
      },
      runFor: {
        run: ({ once, tries }) => {
          try {
            return once.run(() => {
              if (++tries[0]! <= failures) throw new Error();
            }, 5);
          } catch {
            return "failed";
          }
        },
        model: (tries: number) =>
          race.either(
            tries < failures ? [tries + 1, "failed"] : [failures + 1, true],
            race.timedOut([tries, false]),
          ),
      },
      // Plain, so that the end must have published it.
      look: {
        run: ({ once, tries }) => once.done ? tries[0] : 0,
        model: (tries: number) => [tries, tries > failures ? tries : 0],
        lockFree: true,
      },
    },
    final: (memory) => {
      const state = new Int32Array(memory)[0]!;
      if ((state & 0x0fff_ffff) !== 0) return `agent ${state} still runs it`;
    },
  });
}

/** Whoever is terminated is given up. */
function terminated(weft: Weft) {
  const { Once } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(BYTES),
    agent: (memory, id) => {
      enter(weft, id);
      return {
        once: new Once(memory),
        tries: new Int32Array(memory, TRIES, 1),
      };
    },
    words: { ...named(LAYOUT.once), tries: TRIES },
    stateless: false,
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

/** The race scenarios of `Once`. */
export function once(weft: Weft): Scenario[] {
  return [
    {
      name: "two agents",
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
      name: "a wait that may time out",
      spec: counting(weft, 1),
      agents: [[["runFor"]], [["runFor"]], [["run"]]],
      options: { timeouts: true },
    },
    {
      name: "an agent is terminated",
      spec: terminated(weft),
      agents: [[["run"]], [["run"]]],
      options: { kill: true, rescue: true },
    },
  ];
}
