import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  FREED_CONFIG,
  giveBack,
  named,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { inLineOf } from "./scenarios_in_line.ts";
import { trackedOf } from "./scenarios_tracked.ts";
import {
  ABANDONED,
  gate,
  type Handle,
  HINTS,
  type Model,
  SECTIONS,
  state,
  TOTAL,
  WANTED,
  writer,
  WRITING,
} from "./words.ts";

/**
 * A plain word under the lock; the model is its value. Agents look `rounds`
 * times before they sleep.
 */
function sections(weft: Weft, phase = 0, rounds = 0) {
  const { RwLock } = weft.mod;
  const { get, tryGet, tryAdd, ...others } = SECTIONS;
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(TOTAL + 4);
      new Int32Array(memory)[state] = phase << 30;
      return memory;
    },
    agent: (memory: SharedArrayBuffer, id: number): Handle => {
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
        run: (handle) => {
          weft.spin.spinning.rounds = rounds;
          return get.run(handle);
        },
        model: get.model,
      },
      tryGet: { ...tryGet, lockFree: true },
      tryAdd: { ...tryAdd, lockFree: true },
      ...others,
    },
    final: (memory) => {
      const words = new Int32Array(memory);
      const left = words[state]! & 0x3fff_ffff;
      if (left !== 0) return `the state is left at ${left.toString(16)}`;
      if (words[writer] !== 0) return "a writer is left";
    },
  });
}

/** A writer that dies while it writes or waits is abandoned. */
function terminated(weft: Weft) {
  const { RwLock } = weft.mod;
  return race.spec({
    memory: () => new SharedArrayBuffer(TOTAL + 4),
    ...viewing(weft, RwLock, LAYOUT.rw_lock),
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
    ...viewing(weft, RwLock, LAYOUT.rw_lock),
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
    ...viewing(weft, RwLock, LAYOUT.rw_lock),
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
    ...viewing(weft, RwLock, LAYOUT.rw_lock),
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

/** Why C takes other steps in some scenarios. */
const DIFFERS = "a reader that is let in loads the state once more in " +
  "TypeScript, to see whether a writer was abandoned";

/** The race scenarios of `RwLock`. */
export function scenarios(weft: Weft): Scenario[] {
  const spec = sections(weft);
  const late = sections(weft, 3);
  const large = { states: 50_000, time: 20_000 };
  return [
    {
      name: "one writes, one reads",
      differs: DIFFERS,
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
      differs: DIFFERS,
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
      differs: DIFFERS,
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
    ...inLineOf(weft),
    ...trackedOf(weft),
  ];
}
