import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  FREED_CONFIG,
  giveBack,
  named,
  type Scenario,
  type Weft,
} from "../_run/scenario.ts";

const { state, gate, writer, writer_starving, turns } = LAYOUT.rw_lock;
/**
 * Words that are read plainly before an exchange, or for the reader's own bits.
 */
const HINTS = [state, writer, writer_starving]
  .map((i) => [i * 4, i * 4 + 4] as const);
const TOTAL = LAYOUT.rw_lock.length * 4;

/** The model: the value, how often it was read. */
interface Model {
  readonly value: number;
  readonly reads: number;
}

/**
 * A plain word under the lock; the model is its value. Agents look `rounds`
 * times before they sleep.
 */
function sections(weft: Weft, phase = 0, rounds = 0) {
  const { RwLock } = weft.mod;
  // A call that changed nothing would be free to sleep until a timeout.
  const got = ({ value, reads }: Model): [Model, unknown] => [
    { value, reads: reads + 1 },
    value,
  ];
  const added = ({ value, reads }: Model): [Model, unknown] => [
    { value: value + 1, reads },
    value + 1,
  ];
  const late = (s: Model) => race.timedOut<Model>([s, undefined]);
  const met = (s: Model) => race.contended<Model>([s, undefined]);
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL + 4);
      new Int32Array(memory)[state] = phase << 30;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const total = new Int32Array(memory, TOTAL, 1);
      return { lock: new RwLock(memory), total };
    },
    words: { ...named(LAYOUT.rw_lock), total: TOTAL },
    hints: HINTS,
    stateless: true,
    init: { value: 0, reads: 0 } as Model,
    ops: {
      get: {
        run: ({ lock, total }) => {
          weft.spin.spinning.rounds = rounds;
          using _guard = lock.read();
          return total[0];
        },
        model: got,
      },
      getFor: {
        run: ({ lock, total }) => {
          using guard = lock.tryRead(5);
          return guard && total[0];
        },
        model: (s: Model) => race.either(got(s), late(s)),
      },
      tryGet: {
        run: ({ lock, total }) => {
          using guard = lock.tryRead();
          return guard && total[0];
        },
        model: (s: Model) => race.either(got(s), met(s)),
        lockFree: true,
      },
      add: {
        run: ({ lock, total }) => {
          using _guard = lock.write();
          return ++total[0]!;
        },
        model: added,
      },
      addFor: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite(5);
          return guard && ++total[0]!;
        },
        model: (s: Model) => race.either(added(s), late(s)),
      },
      tryAdd: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite();
          return guard && ++total[0]!;
        },
        model: (s: Model) => race.either(added(s), met(s)),
        lockFree: true,
      },
      addAndGet: {
        run: ({ lock, total }) => {
          const guard = lock.write();
          total[0]!++;
          using _reading = guard.downgrade();
          return total[0];
        },
        model: added,
      },
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const left = words[state]! & 0x3fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
      if (words[writer] !== 0) return "a writer is left";
    },
  });
}

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
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
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

/** A writer that dies while it writes or waits is abandoned. */
function terminated(weft: Weft) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(TOTAL + 4),
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
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
      using _guard = lock.write();
    },
  });
}

/** Agent 9 was terminated before the exploration began. */
interface Dead {
  /** What the dead agent did: it wrote, waited for a reader, or nothing. */
  readonly doing: "writes" | "waits" | "";
  /** No agent has learned of it yet. */
  readonly abandoned: boolean;
  /** An agent that still reads, without a guard. */
  readonly readers: number;
  readonly calls: number;
}

const WRITING = 1 << 26, WANTED = 1 << 27, ABANDONED = 1 << 29;
/** In the word `writer`. */
const HANDOFF = 1 << 29, CONTENDED = 1 << 30;

/** One agent already reads, and has no guard. */
function read(weft: Weft) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL + 4);
      new Int32Array(memory)[state] = 1;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const total = new Int32Array(memory, TOTAL, 1);
      return { lock: new RwLock(memory), total };
    },
    words: { ...named(LAYOUT.rw_lock), total: TOTAL },
    hints: HINTS,
    stateless: true,
    ops: {
      add: {
        run: ({ lock, total }) => {
          using _guard = lock.write();
          total[0]!++;
        },
      },
      addFor: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite(5);
          if (guard) total[0]!++;
        },
      },
      endReading: { run: ({ lock }) => lock.unlockRead(), lockFree: true },
    },
    final: (memory) => {
      const left = new Int32Array(memory)[state]! & 0x3fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
    },
  });
}

/** A writer that was terminated, and the agents that find its lock. */
function abandoned(weft: Weft, doing: Dead["doing"]) {
  const { RwLock } = weft.mod;
  const began = {
    writes: WRITING,
    waits: WANTED | 1,
    "": ABANDONED | 1,
  };
  const entered = (s: Dead): [Dead, unknown] => [
    { ...s, calls: s.calls + 1 },
    s.abandoned,
  ];
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL);
      const words = new Int32Array(memory);
      words[state] = began[doing];
      if (doing !== "") words[writer] = 9;
      return memory;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
    stateless: true,
    init: {
      doing,
      abandoned: doing === "",
      readers: doing === "writes" ? 0 : 1,
      calls: 0,
    } as Dead,
    ops: {
      read: {
        run: (lock) => {
          using guard = lock.read();
          return guard.abandoned;
        },
        model: (s: Dead) => s.doing === "" ? entered(s) : null,
      },
      write: {
        run: (lock) => {
          using guard = lock.write();
          return guard.abandoned;
        },
        model: (s: Dead) =>
          s.doing === "" && s.readers === 0
            ? [{ ...s, abandoned: false, calls: s.calls + 1 }, s.abandoned]
            : null,
      },
      writeFor: {
        run: (lock) => {
          using guard = lock.tryWrite(5);
          return guard?.abandoned;
        },
        model: (s: Dead) => {
          const late = race.timedOut<Dead>([s, undefined]);
          return s.doing === "" && s.readers === 0
            ? race.either(
              [{ ...s, abandoned: false, calls: s.calls + 1 }, s.abandoned],
              late,
            )
            : late;
        },
      },
      endReading: {
        run: (lock) => lock.unlockRead(),
        model: (s: Dead) => [{ ...s, readers: 0 }, undefined],
      },
      abandon: {
        run: (lock, id: number) => lock.abandon(id),
        model: (s: Dead, id: number): [Dead, number] =>
          s.doing !== "" && id === 9
            ? [{ ...s, doing: "", abandoned: s.doing === "writes" }, 1]
            : [s, 0],
      },
    },
  });
}

/**
 * A writer that is terminated where it lets a reader in: that need not wait for
 * its next look once the writer is given up.
 */
function letIn(weft: Weft) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(TOTAL),
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
    stateless: true,
    ops: {
      write: {
        agents: [0],
        run: (lock) => {
          using _guard = lock.write();
        },
      },
      read: {
        agents: [1],
        run: (lock) => {
          using _guard = lock.read();
          // If it was terminated while it woke others, the writer may owe us a
          // wake.
          const opened = Atomics.load(new Int32Array(lock.buffer), gate) > 1;
          const now = performance.now();
          if (now > 500 && !opened) throw new Error(`let in after ${now} ms`);
        },
      },
    },
    recover: (lock, dead) => {
      if (dead === 0) lock.abandon(1);
      else if (lock.readers > 0) lock.unlockRead();
    },
  });
}

/**
 * Agents read. The one that writes next, and unlocks, frees the lock: an
 * `unlockRead` must use nothing after the step that ends the reading.
 */
function freed(weft: Weft, readers: number) {
  const { RwLock } = weft.mod;
  const freeing = (lock: InstanceType<typeof RwLock>) =>
    giveBack(lock, LAYOUT.rw_lock.length);
  return race.spec({
    memory: () => {
      const { buffer } = RwLock.create();
      new Int32Array(buffer)[state] = readers;
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new RwLock(memory);
    },
    words: named(LAYOUT.rw_lock),
    hints: HINTS,
    stateless: true,
    ops: {
      endReading: { run: (lock) => lock.unlockRead() },
      writeAndFree: {
        run: (lock) => {
          lock.write().unlock();
          freeing(lock);
        },
      },
      tryAndFree: {
        run: (lock) => {
          const guard = lock.tryWrite() ?? lock.tryWrite(5);
          if (guard === undefined) return; // somebody may read
          guard.unlock();
          freeing(lock);
        },
      },
    },
  });
}

/** Where the rows of a tracked lock begin, and words of a row. */
const ROWS = 40, ROW = 32, READS = 1;
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
  const got = (s: Model): [Model, unknown] => [
    { ...s, reads: s.reads + 1 },
    s.value,
  ];
  const added = (s: Model): [Model, unknown] => [
    { ...s, value: s.value + 1 },
    s.value + 1,
  ];
  const late = (s: Model) => race.timedOut<Model>([s, undefined]);
  const met = (s: Model) => race.contended<Model>([s, undefined]);
  const model = <T>(model: T) => kills ? {} : { model };
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
    agent: (memory, id) => {
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
      get: {
        run: ({ lock, total }) => {
          using _guard = lock.read();
          return total[0];
        },
        ...model(got),
      },
      getFor: {
        run: ({ lock, total }) => {
          using guard = lock.tryRead(5);
          return guard && total[0];
        },
        ...model((s: Model) => race.either(got(s), late(s))),
      },
      tryGet: {
        run: ({ lock, total }) => {
          using guard = lock.tryRead();
          return guard && total[0];
        },
        ...model((s: Model) => race.either(got(s), met(s))),
      },
      add: {
        run: ({ lock, total }) => {
          using _guard = lock.write();
          return ++total[0]!;
        },
        ...model(added),
      },
      addFor: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite(5);
          return guard && ++total[0]!;
        },
        ...model((s: Model) => race.either(added(s), late(s))),
      },
      tryAdd: {
        run: ({ lock, total }) => {
          using guard = lock.tryWrite();
          return guard && ++total[0]!;
        },
        ...model((s: Model) => race.either(added(s), met(s))),
      },
      addAndGet: {
        run: ({ lock, total }) => {
          const guard = lock.write();
          total[0]!++;
          using _reading = guard.downgrade();
          return total[0];
        },
        ...model(added),
      },
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
        ...model((s: Model) => race.either(got(s), met(s))),
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

/** Why C takes other steps in some scenarios. */
const DIFFERS = "a reader that is let in loads the state once more in " +
  "TypeScript, to see whether a writer was abandoned";

/** The race scenarios of `RwLock`. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = sections(weft);
  const late = sections(weft, 3);
  const large = { states: 50_000, time: 20_000 };
  // What a dead agent wrote is unordered with what follows.
  const races = (byteOffset: number) => byteOffset < ROWS * 4;
  const kill = { kill: true, rescue: true, timeouts: 0, races } as const;
  const rows = tracked(weft);
  const killed = tracked(weft, {}, true);
  return [
    {
      name: "one writes, one reads",
      spec,
      agents: [[["add"]], [["get"]]],
    },
    {
      name: "one writes, one reads, twice, phases that wrap",
      spec: late,
      agents: [[["add"], ["add"]], [["get"], ["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "two write",
      spec,
      agents: [[["add"]], [["add"]]],
    },
    {
      name: "one writes, two read",
      spec: late,
      agents: [[["add"]], [["get"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "two write, one reads",
      spec,
      agents: [[["add"]], [["add"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "one downgrades",
      spec: late,
      agents: [[["addAndGet"]], [["get"]], [["add"]]],
      options: large,
      sampled: true,
    },
    {
      name: "tries beside locks",
      spec,
      agents: [[["tryAdd"], ["tryGet"]], [["add"]], [["get"]]],
      options: large,
      sampled: true,
    },
    {
      name: "a reader that gives up",
      spec,
      agents: [[["add"]], [["getFor"], ["tryAdd"]]],
      options: { timeouts: true },
    },
    {
      name: "a writer that gives up",
      spec: late,
      agents: [[["addFor"]], [["get"]]],
      options: { timeouts: true },
    },
    {
      name: "both give up",
      spec,
      agents: [[["addFor"]], [["getFor"]], [["get"]]],
      options: { ...large, timeouts: true },
      sampled: true,
    },
    {
      name: "a try beside a reader",
      spec,
      agents: [[["get"]], [["tryAdd"]]],
    },
    {
      name: "a try to read beside a writer",
      spec,
      agents: [[["add"]], [["tryGet"]]],
    },
    {
      name: "tries to read and to write",
      spec,
      agents: [[["tryAdd"], ["tryGet"]], [["tryGet"], ["tryAdd"]]],
    },
    {
      name: "a writer that gives up beside another",
      spec: read(weft),
      agents: [[["addFor"], ["endReading"]], [["add"]]],
      options: { timeouts: true },
    },
    {
      name: "a writer gives up after another was abandoned",
      spec: abandoned(weft, ""),
      agents: [[["writeFor"], ["endReading"]], [["write"]]],
      options: { timeouts: true },
    },
    {
      name: "a writer wakes two",
      spec,
      agents: [[["add"]], [["get"]], [["get"]]],
      options: { states: 30_000, timeouts: 0 },
      sampled: true,
    },
    {
      name: "a reader that looks before it sleeps",
      differs: DIFFERS,
      spec: sections(weft, 0, 1),
      agents: [[["add"]], [["get"]]],
      options: { timeouts: 0 },
    },
    {
      name: "a reader that looks before it sleeps, and another",
      spec: sections(weft, 0, 1),
      agents: [[["add"]], [["get"]], [["get"]]],
      options: { states: 30_000, timeouts: 0 },
      sampled: true,
    },
    {
      name: "one who wrote is given up",
      differs: DIFFERS,
      spec: abandoned(weft, "writes"),
      agents: [[["abandon", 8], ["abandon", 9]], [["read"], ["write"]]],
      options: { timeouts: 0 },
    },
    {
      name: "a waiting writer is abandoned",
      spec: abandoned(weft, "waits"),
      agents: [[["abandon", 9], ["endReading"]], [["write"]]],
      options: { timeouts: 0 },
    },
    {
      name: "a waiting writer is abandoned beside a reader",
      spec: abandoned(weft, "waits"),
      agents: [[["endReading"], ["abandon", 9]], [["read"]]],
      options: { timeouts: 0 },
    },
    {
      name: "a writer is terminated beside a reader",
      spec: letIn(weft),
      agents: [[["write"]], [["read"]]],
      options: { kill: true, rescue: true, timeouts: 0 },
    },
    {
      name: "a writer is terminated",
      spec: terminated(weft),
      agents: [[["write"]], [["write"]]],
      options: { ...large, kill: true, rescue: true },
      sampled: true,
    },
    {
      name: "a reader leaves, and a writer frees the lock",
      differs: FREED_CONFIG,
      spec: freed(weft, 1),
      agents: [[["endReading"]], [["writeAndFree"]]],
    },
    {
      name: "two readers leave, and a writer frees the lock",
      differs: FREED_CONFIG,
      spec: freed(weft, 2),
      agents: [[["endReading"]], [["endReading"]], [["writeAndFree"]]],
      options: { timeouts: 0 },
    },
    {
      name: "a reader leaves, and a writer that tries frees the lock",
      differs: FREED_CONFIG,
      spec: freed(weft, 1),
      agents: [[["endReading"]], [["tryAndFree"]]],
      options: { timeouts: true },
    },
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
