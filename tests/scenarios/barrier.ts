import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { state } = LAYOUT.barrier;
/** Read plainly before an exchange checks it. */
const HINTS = [[state * 4, state * 4 + 4]] as const;
const ROUND = LAYOUT.barrier.length * 4;

/** The state of a barrier, with its generation so far. */
function start(weft: Weft, parties: number, generation: number) {
  const { Barrier } = weft.mod;
  const memory = new SharedArrayBuffer(ROUND + 16);
  const words = new Int32Array(Barrier.init(memory, 0, parties).buffer);
  words[state]! |= generation << 25;
  return memory;
}

/**
 * Rounds between which each agent writes a word of its own plainly, and reads
 * the next one's: the tester sees a data race where the barrier leaks.
 */
function rounds(weft: Weft, parties: number, generation = 0) {
  const { Barrier } = weft.mod;
  return race.spec({
    memory: () => start(weft, parties, generation),
    agent: (memory, id) => {
      enter(weft, id);
      const notes = new Int32Array(memory, ROUND, parties);
      return { barrier: new Barrier(memory), notes };
    },
    words: { ...named(LAYOUT.barrier), notes: ROUND },
    hints: HINTS,
    stateless: true,
    ops: {
      write: {
        run: ({ notes }, _: undefined, id: number) => void notes[id]!++,
      },
      read: {
        run: ({ notes }, _: undefined, id: number) => notes[(id + 1) % parties],
      },
      pass: { run: ({ barrier }) => barrier.arriveAndWait().leader },
      passFor: {
        run: ({ barrier }) => barrier.arriveAndWait(5)?.leader ?? "late",
      },
      leave: { run: ({ barrier }) => void barrier.leave() },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const arrived = words[state]! & 0xfff;
      if (arrived !== 0) return `${arrived} have arrived`;
      const leaders = results.flat().filter((r) => r === true).length;
      const passed = results.flat().filter((r) => r === false).length;
      const now = (words[state]! >> 25) - (generation << 25 >> 25) & 127;
      // Each generation passed together, and had one leader or left.
      if (leaders > now) return `${leaders} leaders, ${now} generations`;
      if (passed > now * (parties - 1)) return `${passed} passed`;
    },
  });
}

/** The race scenarios of `Barrier`. */
export function barrier(weft: Weft): Scenario[] {
  const two = rounds(weft, 2);
  const three = rounds(weft, 3);
  const round = [["write"], ["pass"], ["read"], ["pass"]] as const;
  return [
    { name: "two parties, two rounds", spec: two, agents: [round, round] },
    {
      name: "two parties, generations that wrap",
      spec: rounds(weft, 2, 127),
      agents: [[...round, ["pass"]], [...round, ["pass"]]],
    },
    {
      name: "three parties, two rounds",
      spec: three,
      agents: [
        [["pass"], ["pass"]],
        [["pass"], ["pass"]],
        [["pass"], ["pass"]],
      ],
      options: { states: 60_000 },
      sampled: true,
    },
    {
      name: "three parties, one round",
      spec: three,
      agents: [[["pass"]], [["pass"]], [["pass"]]],
    },
    {
      name: "two parties that give up",
      spec: two,
      agents: [[["passFor"]], [["passFor"]]],
      options: { timeouts: true },
    },
    {
      name: "one of three gives up, and leaves",
      spec: three,
      agents: [[["passFor"], ["leave"]], [["pass"]], [["pass"]]],
      options: { timeouts: true, states: 60_000 },
      sampled: true,
    },
    {
      name: "one of three leaves",
      spec: three,
      agents: [[["leave"]], [["pass"]], [["pass"]]],
    },
  ];
}
