import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  freed,
  FREED_CONFIG,
  named,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";

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
 * Rounds of a barrier. Between them each agent writes a word of its own plainly
 * and reads the next agent's word, so that the tester reports a data race if
 * the barrier leaks. Agents look `looks` times before they sleep.
 */
function rounds(weft: Weft, parties: number, generation = 0, looks = 0) {
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
      pass: {
        run: ({ barrier }) => {
          weft.spin.spinning.rounds = looks;
          return barrier.arriveAndWait().leader;
        },
      },
      passFor: {
        run: ({ barrier }) => {
          weft.spin.spinning.rounds = looks;
          return barrier.tryArriveAndWait(5)?.leader ?? "late";
        },
      },
      leave: {
        run: ({ barrier }) => barrier.leave() ? "ended" : "left",
        lockFree: true,
      },
      passNone: {
        run: ({ barrier }) => {
          try {
            barrier.arriveAndWait();
          } catch (error) {
            if (error instanceof RangeError) return "refused";
          }
          return "passed";
        },
      },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const arrived = words[state]! & 0xfff;
      if (arrived !== 0) return `${arrived} have arrived`;
      const leaders = results.flat().filter((r) => r === true).length;
      const passed = results.flat().filter((r) => r === false).length;
      const now = (words[state]! >> 25) - (generation << 25 >> 25) & 127;
      const ended = results.flat().filter((r) => r === "ended").length;
      if (results.flat().includes("passed")) return "passed without a party";
      // Each generation is passed together. A leader ends it, or an agent that
      // leaves.
      if (leaders + ended !== now) {
        return `${leaders} leaders, ${ended} ended, ${now} generations`;
      }
      if (passed > now * (parties - 1)) return `${passed} passed`;
      if (ended > passed) return `${ended} ended, and ${passed} passed`;
    },
  });
}

/** The operation of each agent of {@linkcode terminated}. */
const PASSES = 2;

/**
 * Two parties, one of which is terminated at any step. The agent that reports
 * it knows whether the dead one had arrived: by then the other one sleeps, or
 * is done.
 */
function terminated(weft: Weft) {
  const { Barrier } = weft.mod;
  const RECOVERED = 2, IDLE = 3;
  return race.spec({
    memory: () => start(weft, 2, 0),
    agent: (memory, id) => {
      enter(weft, id);
      const notes = new Int32Array(memory, ROUND, 4);
      return { barrier: new Barrier(memory), notes };
    },
    words: { ...named(LAYOUT.barrier), notes: ROUND },
    hints: HINTS,
    stateless: true,
    ops: {
      pass: {
        run: ({ barrier, notes }, _: undefined, id: number) => {
          barrier.arriveAndWait();
          Atomics.add(notes, id, 1);
          // The dead agent may have owed a wake: then it takes a second.
          const now = performance.now();
          if (now > 1100) throw new Error(`passed after ${now} ms`);
        },
      },
    },
    recover: ({ barrier, notes }, dead) => {
      Atomics.wait(notes, IDLE, 0, 1); // until nothing happens any more
      const waiting = Atomics.load(notes, 1 - dead) < PASSES ? 1 : 0;
      barrier.leave({ arrived: barrier.arrived > waiting });
      Atomics.store(notes, RECOVERED, 1 + dead);
    },
    invariant: (memory) => {
      const notes = new Int32Array(memory, ROUND, 4);
      const dead = notes[RECOVERED]! - 1;
      if (dead < 0 || notes[1 - dead]! < PASSES) return;
      const { parties, arrived } = new Barrier(memory);
      if (parties !== 1) return `${parties} parties are left`;
      if (arrived !== 0) return `${arrived} have arrived`;
    },
  });
}

/** One party. The agent that reports its death sees whether it had arrived. */
function alone(weft: Weft) {
  const { Barrier } = weft.mod;
  return race.spec({
    memory: () => start(weft, 2, 0),
    ...viewing(weft, Barrier, LAYOUT.barrier),
    hints: HINTS,
    stateless: true,
    ops: {
      passFor: { run: (barrier) => barrier.tryArriveAndWait(5) === undefined },
    },
    recover: (barrier) => {
      if (barrier.leave({ arrived: barrier.arrived > 0 })) {
        throw new Error("Nobody waited, yet a generation ended");
      }
      if (!barrier.arriveAndWait().leader) throw new Error("it is not alone");
      if (barrier.arrived !== 0) throw new Error("somebody has arrived");
    },
  });
}

/** Where the rows of a tracked barrier begin, and words of a row. */
const ROWS = 40, ROW = 32;
const ROW_WORDS = Object.fromEntries(
  [0, 1].flatMap((row) =>
    ["agent", "arrived"].map((word, i) => [
      `${word} of row ${row}`,
      ROWS + ROW * row + i,
    ])
  ),
);

/** Who has the rows of two parties at the start. */
interface Begin {
  readonly generation?: number;
  /** The agents of the rows; 2 and 1 unless given. */
  readonly agents?: readonly [number, number];
  /** The agent of row 0 has arrived. */
  readonly arrived?: boolean;
  /** Agents are terminated. */
  readonly dies?: boolean;
}

/** Two tracked parties. */
function tracked(weft: Weft, begin: Begin = {}) {
  const { Barrier } = weft.mod;
  const { generation = 0, agents = [2, 1], arrived = false } = begin;
  const length = Barrier.byteLength(2, { tracked: 2 });
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(length + 8);
      Barrier.init(memory, 0, 2, { tracked: 2 });
      const words = new Int32Array(memory);
      words[state] = generation << 25;
      [words[ROWS], words[ROWS + ROW]] = agents;
      if (arrived) words[ROWS + 1] = generation << 1 | 1;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return {
        barrier: new Barrier(memory),
        notes: new Int32Array(memory, length, 2),
      };
    },
    words: { ...named({ ...LAYOUT.barrier, ...ROW_WORDS }), notes: length },
    hints: (byteOffset) => byteOffset >= ROWS * 4 && byteOffset < length,
    stateless: true,
    ops: {
      write: {
        run: ({ notes }, _: undefined, id: number) => void notes[id]!++,
      },
      read: {
        run: ({ notes }, _: undefined, id: number) => notes[1 - id],
      },
      pass: { run: ({ barrier }) => barrier.arriveAndWait().leader },
      passFor: {
        run: ({ barrier }) => barrier.tryArriveAndWait(5)?.leader ?? "late",
      },
      leave: { run: ({ barrier }) => barrier.leave() ? "ended" : "left" },
      abandon: { run: ({ barrier }, id: number) => barrier.abandon(id) },
    },
    recover: ({ barrier }, dead) => void barrier.abandon(dead + 1),
    final: (memory, results) => {
      const words = new Int32Array(memory);
      const all = results.flat();
      const leaders = all.filter((result) => result === true).length;
      const passed = all.filter((result) => result === false).length;
      const ended = all.filter((result) => result === "ended").length;
      const now = (words[state]! >> 25) - (generation << 25 >> 25) & 127;
      if (passed > now) return `${passed} passed ${now} generations`;
      const found = all.filter((r) => typeof r === "number" && r > 0).length;
      if (agents[0] === 9 && !begin.dies && found !== 1) {
        return `${found} took the party out`;
      }
      if (begin.dies || agents[0] === 9) return;
      if (leaders + ended !== now) {
        return `${leaders} leaders, ${ended} ended, ${now} generations`;
      }
      const left = all.includes("left") || ended > 0;
      if (!left && leaders + passed !== 2 * now) {
        return `${leaders + passed} passed ${now} generations`;
      }
      const mark = (words[state]! >>> 25) << 1 | 1;
      for (const at of [ROWS, ROWS + ROW]) {
        if (words[at + 1] === mark && words[at] !== -1) {
          return "one has arrived";
        }
      }
    },
  });
}

/** The race scenarios of `Barrier`. */
export function scenarios(weft: Weft): Scenario[] {
  const two = rounds(weft, 2);
  const three = rounds(weft, 3);
  const round = [["write"], ["pass"], ["read"], ["pass"]] as const;
  return [
    freed("one arrives last, the other frees the barrier", weft, {
      memory: () => weft.mod.Barrier.create(2).buffer,
      view: (memory) => new weft.mod.Barrier(memory),
      row: LAYOUT.barrier,
      differs: FREED_CONFIG,
      hints: HINTS,
      letGo: (barrier) => void barrier.arriveAndWait(),
      wait: (barrier) => !barrier.arriveAndWait().leader, // else it may wait
    }),
    freed("one leaves, the other frees the barrier", weft, {
      memory: () => weft.mod.Barrier.create(2).buffer,
      view: (memory) => new weft.mod.Barrier(memory),
      row: LAYOUT.barrier,
      differs: FREED_CONFIG,
      hints: HINTS,
      letGo: (barrier) => void barrier.leave(),
      wait: (barrier) => !barrier.arriveAndWait().leader,
    }),
    {
      name: "one of two gives up, the other leaves",
      spec: two,
      agents: [[["passFor"]], [["leave"]]],
    },
    {
      name: "one of two leaves, then the other",
      spec: two,
      agents: [[["leave"]], [["pass"], ["leave"]]],
    },
    {
      name: "the only party leaves, then one arrives",
      spec: rounds(weft, 1),
      agents: [[["leave"], ["passNone"]], [["read"]]],
    },
    { name: "two parties, two rounds", spec: two, agents: [round, round] },
    {
      name: "two parties, generations that wrap",
      spec: rounds(weft, 2, 127),
      agents: [[...round, ["pass"]], [...round, ["pass"]]],
    },
    {
      name: "two parties, a generation whose sign changes",
      spec: rounds(weft, 2, 63),
      agents: [[["pass"]], [["pass"]]],
    },
    {
      name: "two parties that look before they sleep",
      spec: rounds(weft, 2, 0, 1),
      agents: [round, round],
    },
    {
      name: "one of three leaves, seen by who looks before it sleeps",
      spec: rounds(weft, 3, 0, 1),
      agents: [[["pass"], ["read"]], [["leave"], ["write"], ["pass"]]],
    },
    {
      name: "three parties that look before they sleep",
      spec: rounds(weft, 3, 0, 1),
      agents: [[["pass"]], [["pass"]], [["pass"]]],
      options: { timeouts: 0 },
    },
    {
      name: "spurious wakes",
      spec: two,
      agents: [[["pass"]], [["pass"]]],
      options: { spurious: true },
    },
    {
      name: "three parties, two rounds",
      spec: three,
      agents: [
        [["pass"], ["pass"]],
        [["pass"], ["pass"]],
        [["pass"], ["pass"]],
      ],
      options: { states: 60_000, timeouts: 0 },
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
    {
      name: "one of two is terminated",
      spec: terminated(weft),
      agents: [[["pass"], ["pass"]], [["pass"], ["pass"]]],
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    {
      name: "one that waits alone is terminated",
      spec: alone(weft),
      agents: [[["passFor"], ["passFor"]]],
      options: { kill: true, rescue: true },
    },
    {
      name: "tracked: two parties, a round",
      spec: tracked(weft, { generation: 127 }),
      agents: [
        [["write"], ["pass"], ["read"]],
        [["write"], ["pass"], ["read"]],
      ],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: two parties, two rounds",
      spec: tracked(weft),
      agents: [[["pass"], ["pass"]], [["pass"], ["pass"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: one gives up, the other leaves",
      spec: tracked(weft),
      agents: [[["passFor"]], [["leave"]]],
      options: { timeouts: true },
    },
    {
      name: "tracked: two parties that give up",
      spec: tracked(weft),
      agents: [[["passFor"]], [["passFor"]]],
      options: { timeouts: true },
    },
    {
      name: "tracked: one passes, and one is terminated",
      spec: tracked(weft, { dies: true }),
      agents: [[["pass"]], [["pass"]]],
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    {
      name: "tracked: one gives up, and one is terminated",
      spec: tracked(weft, { dies: true }),
      agents: [[["passFor"]], [["passFor"]]],
      options: { kill: true, rescue: true, timeouts: true },
    },
    {
      name: "tracked: two recover a party that had arrived",
      spec: tracked(weft, { agents: [9, 1], arrived: true }),
      agents: [[["abandon", 9], ["pass"]], [["abandon", 9]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: a party is recovered, the other waits for it",
      spec: tracked(weft, { agents: [9, 1] }),
      agents: [[["pass"]], [["abandon", 9]]],
      options: { timeouts: 0 },
    },
  ];
}
