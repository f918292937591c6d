import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

const { state } = LAYOUT.snapshot;
/** The writer's own, or checked by an exchange. */
const HINTS = [[state * 4, state * 4 + 4]] as const;

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
    agent: (memory, id) => {
      enter(weft, id);
      return new Snapshot(memory);
    },
    words: named(LAYOUT.snapshot),
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

/** Every interleaving of a snapshot's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
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
    spec: latest(weft, false, -1),
    agents: [[["write", 1], ["write", 2], ["write", 3]], [["read"], ["read"]]],
  },
  {
    name: "three values, a single reader",
    spec: latest(weft, true, -2),
    agents: [[["write", 1], ["write", 2], ["write", 3]], [["read"], ["read"]]],
  },
  {
    name: "a writer terminated at any step",
    spec: latest(weft, false, 0),
    agents: [[["write", 1], ["write", 2]], [["read"], ["read"]]],
    options: { kill: true },
  },
  {
    name: "a writer, or the single reader, terminated at any step",
    spec: latest(weft, true, 0),
    agents: [[["write", 1], ["write", 2]], [["read"], ["read"]]],
    options: { kill: true },
  },
];
