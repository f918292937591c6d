/**
 * Race scenarios of a lock that writers pass on.
 *
 * @module
 */
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import {
  ABANDONED,
  CONTENDED,
  HANDOFF,
  HINTS,
  ROWS,
  state,
  TOTAL,
  turns,
  WANTED,
  writer,
  writer_starving,
  WRITING,
} from "./words.ts";

/** In what a lock begins that is passed on from writer to writer. */
interface Line {
  /** How often it was passed on. */
  readonly passed?: number;
  /** The bits of its state. */
  readonly bits?: number;
  /** The bits of its word `writer`: somebody died in line. */
  readonly kept?: number;
  /** Whether the lock tracks agents. */
  readonly tracked?: boolean;
}

/**
 * Writers of which one starves, so each unlock passes the lock on. The word
 * `waited` says that a reader waited when the last writer entered. No reader
 * waits for a second writer, once the lock was passed on seven times.
 */
function inLine(weft: Weft, line: Line = {}) {
  const { passed = 0, bits = 0, kept = 0, tracked } = line;
  const { RwLock } = weft.mod;
  const config = tracked ? { tracked: 3 } : undefined;
  const waited = RwLock.byteLength(config) / 4, most = waited + 1;
  const entered = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    const pending = Atomics.load(words, state) >>> 13 & 0x1fff;
    if (words[most] && words[waited] && pending > 0) {
      throw new Error("a reader waits for too many writers");
    }
    words[waited] = pending;
  };
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(waited * 4 + 8);
      RwLock.init(memory, 0, config);
      const words = new Int32Array(memory);
      words[writer_starving] = 1;
      words[turns] = passed;
      words[state] = bits;
      words[writer] = kept;
      words[most] = passed === 7 ? 1 : 0;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return { lock: new RwLock(memory), memory };
    },
    words: { ...named(LAYOUT.rw_lock), waited: waited * 4 },
    hints: (byteOffset) =>
      byteOffset <= writer_starving * 4 ||
      byteOffset >= ROWS * 4 && byteOffset < waited * 4,
    stateless: true,
    init: { abandoned: (bits & ABANDONED) !== 0, calls: 0 },
    ops: {
      write: {
        run: ({ lock, memory }) => {
          using guard = lock.write();
          entered(memory);
          return guard.abandoned;
        },
        model: ({ abandoned, calls }) => [
          { abandoned: false, calls: calls + 1 },
          abandoned,
        ],
      },
      writeFor: {
        run: ({ lock, memory }) => {
          using guard = lock.tryWrite(5);
          if (guard === undefined) return undefined;
          entered(memory);
          return guard.abandoned;
        },
        model: (s) =>
          race.either(
            [{ abandoned: false, calls: s.calls + 1 }, s.abandoned],
            race.timedOut<typeof s>([s, undefined]),
          ),
      },
      tryWrite: {
        run: ({ lock, memory }) => {
          using guard = lock.tryWrite();
          if (guard === undefined) return undefined;
          entered(memory);
          return guard.abandoned;
        },
        model: (s) =>
          race.either(
            [{ abandoned: false, calls: s.calls + 1 }, s.abandoned],
            race.contended<typeof s>([s, undefined]),
          ),
      },
      abandon: {
        run: ({ lock }) => lock.abandon(9),
        model: (s) => [{ ...s, calls: s.calls + 1 }, 0],
      },
      read: {
        run: ({ lock }) => {
          using guard = lock.read();
          return guard.abandoned;
        },
        model: (s) => [{ ...s, calls: s.calls + 1 }, s.abandoned],
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const left = words[state]! & 0x0fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
      if (words[writer]! & 2 ** 28 - 1) return "a writer is left";
    },
  });
}

/** The same where an agent that awaits gives up, perhaps after it was woken. */
function aborting(weft: Weft) {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL);
      const words = new Int32Array(memory);
      [words[state], words[writer], words[writer_starving]] = [WRITING, 1, 1];
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number) => {
      const own = weft.renewed(id);
      enter(own, id);
      return new own.mod.RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
    ops: {
      endWriting: { run: (lock) => lock.unlockWrite() },
      abort: {
        run: async (lock) => {
          const controller = new AbortController();
          const { signal } = controller;
          const result = lock.writeAsync({ signal })
            .then((guard) => guard.unlock(), () => {});
          void lock.readers; // here the other agent may run
          controller.abort();
          await result;
        },
      },
    },
    final: (memory) => {
      const left = new Int32Array(memory)[state]! & 0x0fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
    },
  });
}

/**
 * The same where an agent is terminated: no reader waits for a dead writer, and
 * nobody is told that one wrote who did not.
 */
function dyingInLine(weft: Weft, tracked = false) {
  const { RwLock } = weft.mod;
  const config = tracked ? { tracked: 3 } : undefined;
  const bytes = RwLock.byteLength(config);
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(bytes + 4);
      RwLock.init(memory, 0, config);
      new Int32Array(memory)[writer_starving] = 1;
      return memory;
    },
    ...viewing(weft, RwLock, LAYOUT.rw_lock),
    hints: (byteOffset) =>
      byteOffset <= writer_starving * 4 ||
      byteOffset >= ROWS * 4 && byteOffset < bytes,
    stateless: true,
    ops: {
      write: {
        run: (lock) => {
          using _guard = lock.write();
        },
      },
    },
    recover: (lock, dead) => {
      lock.abandon(dead + 1);
      const begin = performance.now();
      lock.read().unlock();
      const took = performance.now() - begin;
      if (took > 50) throw new Error(`let in after ${took} ms`);
    },
  });
}

/** The scenarios of a lock that writers pass on. */
export function inLineOf(weft: Weft): Scenario[] {
  return [
    {
      name: "in line: two write",
      spec: inLine(weft),
      agents: [[["write"]], [["write"]]],
      options: { timeouts: 0 },
    },
    {
      name: "in line: one tries to write",
      spec: inLine(weft, { kept: CONTENDED }),
      agents: [[["write"]], [["tryWrite"]]],
      options: { timeouts: 0 },
    },
    {
      name: "in line: the next writer is dead, one tries to write",
      spec: inLine(weft, { bits: WANTED, kept: HANDOFF | CONTENDED }),
      agents: [[["tryWrite"]], [["abandon"]]],
      options: { timeouts: 0 },
    },
    {
      name: "in line: two write, and learn of a dead writer once",
      spec: inLine(weft, { bits: ABANDONED }),
      agents: [[["write"]], [["write"]]],
      options: { timeouts: 0 },
    },
    {
      name: "in line: two write, one reads",
      spec: inLine(weft),
      agents: [[["write"]], [["write"]], [["read"]]],
      options: { states: 10_000, timeouts: 0 },
      sampled: true,
    },
    {
      name: "in line: a reader waits for eight writers at most",
      spec: inLine(weft, { passed: 7 }),
      agents: [[["write"]], [["write"]], [["read"]]],
      options: { states: 10_000, timeouts: 0 },
      sampled: true,
    },
    {
      name: "in line: a writer gives up",
      spec: inLine(weft),
      agents: [[["write"]], [["writeFor"]]],
      options: { timeouts: true },
    },
    {
      name: "in line: a writer that awaits gives up",
      spec: aborting(weft),
      agents: [[["endWriting"]], [["abort"]]],
      options: { timeouts: 0 },
      notInC: "an agent of C does not await",
    },
    {
      name: "in line: two write, one is terminated",
      spec: dyingInLine(weft),
      agents: [[["write"]], [["write"]]],
      options: { states: 20_000, kill: true, rescue: true, timeouts: 0 },
      sampled: true,
    },
    {
      name: "tracked, in line: two write, one reads",
      spec: inLine(weft, { tracked: true }),
      agents: [[["write"]], [["write"]], [["read"]]],
      options: { states: 10_000, timeouts: 0 },
      sampled: true,
    },
  ];
}
