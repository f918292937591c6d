/**
 * Race scenarios of a lock that tracks its readers.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";
import {
  gate,
  type Handle,
  type Model,
  READS,
  ROW,
  ROWS,
  SECTIONS,
  state,
  writer,
  writer_starving,
  WRITING,
} from "./words.ts";

const ROW_WORDS = Object.fromEntries(
  [0, 1].flatMap((row) =>
    ["agent", "reads"].map((word, i) => [
      `${word} of row ${row}`,
      ROWS + ROW * row + i,
    ])
  ),
);

/** How a tracked lock begins. */
interface Begin {
  /** The word `gate`. */
  readonly gate?: number;
  /** The agents of the rows. */
  readonly agents?: readonly [number, number];
  /** How often each of them reads. */
  readonly reads?: readonly [number, number];
  /** The agent that writes; agent 9 was terminated. */
  readonly writes?: number;
}

/**
 * A plain word under a lock that tracks two agents. The model is its value; it
 * has none where agents are terminated.
 */
function tracked(weft: Weft, begin: Begin = {}, kills = false) {
  const { RwLock } = weft.mod;
  const { agents = [2, 1], reads = [0, 0] } = begin;
  const length = RwLock.byteLength({ tracked: 2 });
  const model = <T>(model: T) => kills ? {} : { model };
  const of = <Run, T>(section: { run: Run; model: T }) => ({
    run: section.run,
    ...model(section.model),
  });
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(length + 4);
      RwLock.init(memory, 0, { tracked: 2 });
      const words = new Int32Array(memory);
      words[gate] = begin.gate ?? 0;
      if (begin.writes) {
        [words[state], words[writer]] = [WRITING, begin.writes];
      }
      for (const row of [0, 1]) {
        words[ROWS + ROW * row] = agents[row]!;
        words[ROWS + ROW * row + READS] = reads[row]!;
      }
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number): Handle => {
      enter(weft, id);
      return {
        lock: new RwLock(memory),
        total: new Int32Array(memory, length, 1),
      };
    },
    words: { ...named({ ...LAYOUT.rw_lock, ...ROW_WORDS }), total: length },
    hints: (byteOffset) =>
      byteOffset <= writer_starving * 4 ||
      byteOffset >= ROWS * 4 && byteOffset < length,
    stateless: true,
    ...kills ? {} : { init: { value: 0, reads: 0 } as Model },
    ops: {
      get: of(SECTIONS.get),
      getFor: of(SECTIONS.getFor),
      tryGet: of(SECTIONS.tryGet),
      add: of(SECTIONS.add),
      addFor: of(SECTIONS.addFor),
      tryAdd: of(SECTIONS.tryAdd),
      addAndGet: of(SECTIONS.addAndGet),
      endReading: {
        run: ({ lock }) => lock.unlockRead(),
        ...model((s: Model): [Model, unknown] => [s, undefined]),
      },
      endWriting: {
        run: ({ lock }) => lock.unlockWrite(),
        ...model((s: Model): [Model, unknown] => [s, undefined]),
      },
      abandon: {
        run: ({ lock }, id: number) => void lock.abandon(id),
        ...model((s: Model): [Model, unknown] => [s, undefined]),
      },
      /** Reads, if there is a row for this agent. */
      tryGetInRow: {
        run: ({ lock, total }) => {
          try {
            using guard = lock.tryRead();
            return guard && total[0];
          } catch (error) {
            if (!(error instanceof RangeError)) throw error;
          }
        },
        ...model(SECTIONS.tryGet.model),
      },
    },
    recover: ({ lock }, dead) => {
      lock.abandon(dead + 1);
      if (agents[0] === 9) lock.abandon(9);
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const left = words[state]! & ~(1 << 29);
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
      if (words[writer] !== 0 && !kills) return "a writer is left";
      for (const row of [0, 1]) {
        const reads = words[ROWS + ROW * row + READS]! & 0xfffff;
        const id = words[ROWS + ROW * row];
        if (reads !== 0) return `agent ${id} is left with ${reads}`;
      }
    },
  });
}

/** The scenarios of a lock that tracks its readers. */
export function trackedOf(weft: Weft): Scenario[] {
  // What a dead agent wrote is unordered with what follows.
  const races = (byteOffset: number) => byteOffset < ROWS * 4;
  const kill = { kill: true, rescue: true, timeouts: 0, races } as const;
  const rows = tracked(weft);
  const killed = tracked(weft, {}, true);
  return [
    {
      name: "tracked: one writes, one reads",
      spec: rows,
      agents: [[["add"]], [["get"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: one ends writing and tries again, one reads",
      spec: tracked(weft, { writes: 1 }),
      agents: [[["endWriting"], ["tryAdd"]], [["get"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: one writes, one reads twice, phases that wrap",
      spec: tracked(weft, { gate: 2 * 4095 }),
      agents: [[["add"]], [["get"], ["get"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: tries to read and to write",
      spec: rows,
      agents: [[["tryAdd"], ["tryGet"]], [["tryGet"], ["tryAdd"]]],
    },
    {
      name: "tracked: one downgrades",
      spec: rows,
      agents: [[["addAndGet"]], [["add"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: a reader that gives up",
      spec: rows,
      agents: [[["add"]], [["getFor"], ["tryAdd"]]],
      options: { timeouts: true },
    },
    {
      name: "tracked: a writer that gives up",
      spec: rows,
      agents: [[["addFor"]], [["get"]]],
      options: { timeouts: true },
    },
    {
      name: "tracked: two write, one reads",
      spec: rows,
      agents: [[["add"]], [["get"]], [["add"]]],
      options: { states: 30_000, timeouts: 0 },
      sampled: true,
    },
    {
      name: "tracked: a dead writer is recovered, one writes, one reads",
      spec: tracked(weft, { writes: 9 }, true),
      agents: [[["abandon", 9], ["tryAdd"]], [["get"]]],
      options: { timeouts: 0 },
    },
    {
      name: "tracked: one waits for a reader, one is terminated",
      spec: tracked(weft, { reads: [1, 0] }, true),
      agents: [[["add"]], [["endReading"]]],
      options: kill,
    },
    {
      name: "tracked: one waits for a writer, one is terminated",
      spec: tracked(weft, { writes: 1 }, true),
      agents: [[["endWriting"]], [["get"]]],
      options: kill,
    },
    {
      name: "tracked: one tries to read, one to write, one is terminated",
      spec: killed,
      agents: [[["tryAdd"]], [["tryGet"]]],
      options: kill,
    },
    {
      name: "tracked: two recover a reader, and one is terminated",
      spec: tracked(weft, { agents: [9, 2], reads: [1, 0] }, true),
      agents: [[["abandon", 9]], [["abandon", 9], ["add"]]],
      options: kill,
    },
    {
      // The row that both recover is taken anew by one of them.
      name: "tracked: two recover a reader, and one reads",
      spec: tracked(weft, { agents: [9, 7], reads: [1, 0] }, true),
      agents: [
        [["abandon", 9], ["tryGetInRow"]],
        [["abandon", 9], ["tryAdd"]],
      ],
    },
    {
      name: "tracked: a dead reader is recovered beside a writer",
      spec: tracked(weft, { agents: [9, 2], reads: [1, 0] }),
      agents: [[["abandon", 9]], [["add"]]],
      options: { timeouts: 0 },
    },
  ];
}
