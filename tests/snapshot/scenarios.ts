import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { type Scenario, viewing, type Weft } from "../_run/scenario.ts";
import { ASKS, roleScenarios } from "../_run/roles.ts";

const { state, writer, reader } = LAYOUT.snapshot;
/** The writer's own, or checked by an exchange. */
const HINTS = [state, writer, reader]
  .map((word) => [word * 4, word * 4 + 4] as const);

/** Versions are counted modulo this, less one. */
const VERSIONS = 2 ** 27 - 1;

/** A value of two words, which are the same; agent 0 writes. */
function latest(weft: Weft, single: boolean, written: number) {
  const { Snapshot } = weft.mod;
  return race.spec({
    memory: () => {
      const { buffer } = Snapshot.create({ size: 8, singleReader: single });
      const words = new Int32Array(buffer);
      words[state]! += single ? written << 5 : written;
      return buffer;
    },
    ...viewing(weft, Snapshot, LAYOUT.snapshot),
    hints: HINTS,
    stateless: false,
    init: 0,
    ops: {
      write: {
        agents: [0],
        run: (snapshot, v: number) => snapshot.write(Int32Array.of(v, v)),
        model: (_: number, v: number) => [v, undefined],
        lockFree: true,
      },
      read: {
        run: (snapshot) => {
          const seen = new Int32Array(2);
          const version = snapshot.read(seen);
          if (seen[0] !== seen[1]) return "torn";
          // The values that are written count from 1.
          const right = written + seen[0]! & VERSIONS;
          return version === right ? seen[0] : `version ${version}`;
        },
        model: (value: number) => [value, value],
        lockFree: true,
      },
    },
  });
}

/** Two writers, or two of what is to be one reader. */
const roles = (weft: Weft, singleReader: boolean): Scenario[] => {
  const { Snapshot } = weft.mod;
  const value = Int32Array.of(7);
  return roleScenarios(weft, {
    memory: () => Snapshot.create({ size: 4, singleReader }).buffer,
    view: (memory) => new Snapshot(memory),
    row: LAYOUT.snapshot,
    hints: HINTS,
    acts: singleReader
      ? { read: (it) => it.read(new Int32Array(1)) }
      : { write: (it) => (it.write(value), true) },
    wrong: (memory, count) => {
      const version = new Int32Array(memory)[state]!;
      if (!singleReader && version !== count("write")) {
        return `${count("write")} wrote, ${version} are there`;
      }
    },
  });
};

/** Every interleaving of a snapshot's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
  ...roles(weft, false),
  ...roles(weft, true),
  {
    name: "three values, two readers",
    spec: latest(weft, false, -1),
    agents: [[["write", 1], ["write", 2], ["write", 3]], [["read"]], [[
      "read",
    ]]],
    options: { states: 100_000 },
    sampled: true,
  },
  {
    name: "three values, one of many readers",
    differs: ASKS,
    spec: latest(weft, false, -1),
    agents: [[["write", 1], ["write", 2], ["write", 3]], [["read"], ["read"]]],
  },
  {
    name: "three values, a single reader",
    differs: ASKS,
    spec: latest(weft, true, -2),
    agents: [[["write", 1], ["write", 2], ["write", 3]], [["read"], ["read"]]],
  },
  {
    name: "a writer terminated at any step",
    differs: ASKS,
    spec: latest(weft, false, 0),
    agents: [[["write", 1], ["write", 2]], [["read"], ["read"]]],
    options: { kill: true },
  },
  {
    name: "a writer, or the single reader, terminated at any step",
    differs: ASKS,
    spec: latest(weft, true, 0),
    agents: [[["write", 1], ["write", 2]], [["read"], ["read"]]],
    options: { kill: true },
  },
];
