/**
 * Counts what each operation does to shared memory, and which cache lines it
 * touches that other agents write: `deno task traffic` writes the tables into
 * docs/scaling.md. The race tester runs the operations and sees each access.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import * as mod from "../mod.ts";
import { LAYOUT } from "../primitives/_memory/layout.ts";
import { spinning } from "../primitives/_wait/spin.ts";
import type { Agent } from "../race/engine/state/agent/agent.ts";
import type { Recorder } from "../race/engine/state/machine.ts";
import type { World } from "../race/engine/state/core.ts";
import * as k from "../race/engine/kinds.ts";
import { explore } from "../race/explore/runs/drive.ts";
import { Loose, run } from "../race/explore/runs/run.ts";
import { race } from "../race/mod.ts";

const PAGE = new URL("../docs/scaling.md", import.meta.url);

/** Bytes of a cache line. */
const LINE = 64;

// deno-lint-ignore no-explicit-any
type Any = any;

/** The library, or another one with the same classes. */
export type Library = typeof mod;

/** What one call did. */
export interface Traffic {
  /** Atomic loads, atomic stores, atomic changes, and plain accesses. */
  loads: number;
  stores: number;
  changes: number;
  plain: number;
  /** Waits and notifies, of which a fast path has none. */
  sleeps: number;
  /** The bytes that it touched, and those that it wrote, by their addresses. */
  readonly touched: Set<number>;
  readonly wrote: Set<number>;
}

/** One operation of a primitive. */
interface Operation {
  readonly name: string;
  readonly run: (it: Any) => unknown;
}

/** A primitive, and how agents use it. */
interface Case {
  readonly stem: string;
  readonly title: string;
  readonly create: () => { buffer: SharedArrayBuffer };
  /** A view of it, made by the classes of `mod`. */
  readonly attach: (mod: Library, buffer: Any) => unknown;
  /**
   * What one agent calls in turn. A primitive with two sides has a list for
   * each.
   */
  readonly sides: readonly (readonly Operation[])[];
  /** The sides that belong to one agent alone, by their numbers. */
  readonly alone?: readonly number[];
  /** The first side waits for the second one. Each call is made once then. */
  readonly sleeps?: boolean;
}

const op = (name: string, run: (it: Any) => unknown): Operation => ({
  name,
  run,
});

const VALUE = new Int32Array([7, 8, 9, 10]);
const RECORD = new Uint8Array(16);
const ROOM = { capacity: 16 };

const pushPop = [
  [op("push an int", (q) => q.tryPushInt(7))],
  [op("pop an int", (q) => q.tryPopInt())],
];

const readWrite = [
  op("read", (l) => l.tryRead()),
  op("unlock, read", (l) => l.unlockRead()),
  op("write", (l) => l.tryWrite()),
  op("unlock, written", (l) => l.unlockWrite()),
];

const acquireRelease = [
  op("acquire", (s) => s.tryAcquire()),
  op("release", (s) => s.release()),
];

const CASES: readonly Case[] = [
  {
    stem: "mutex",
    title: "Mutex",
    create: () => mod.Mutex.create(),
    attach: (mod, buffer) => new mod.Mutex(buffer),
    sides: [[op("lock", (m) => m.tryLock()), op("unlock", (m) => m.unlock())]],
  },
  {
    stem: "rw_lock",
    title: "RwLock",
    create: () => mod.RwLock.create(),
    attach: (mod, buffer) => new mod.RwLock(buffer),
    sides: [readWrite],
  },
  {
    stem: "rw_lock",
    title: "RwLock, tracked, 4 rows",
    create: () => mod.RwLock.create({ tracked: 4 }),
    attach: (mod, buffer) => new mod.RwLock(buffer),
    sides: [readWrite],
  },
  {
    stem: "semaphore",
    title: "Semaphore",
    create: () => mod.Semaphore.create(4),
    attach: (mod, buffer) => new mod.Semaphore(buffer),
    sides: [acquireRelease],
  },
  {
    stem: "semaphore",
    title: "Semaphore, tracked",
    create: () => mod.Semaphore.create(4, { tracked: 4 }),
    attach: (mod, buffer) => new mod.Semaphore(buffer),
    sides: [acquireRelease],
  },
  {
    stem: "event",
    title: "Event",
    create: () => mod.Event.create(),
    attach: (mod, buffer) => new mod.Event(buffer),
    sides: [[
      op("set", (e) => e.set()),
      op("wait, set before", (e) => e.tryWait()),
      op("reset", (e) => e.reset()),
    ]],
  },
  {
    stem: "latch",
    title: "Latch",
    create: () => mod.Latch.create(100),
    attach: (mod, buffer) => new mod.Latch(buffer),
    sides: [[op("count down", (l) => l.countDown())]],
  },
  {
    stem: "wait_group",
    title: "WaitGroup",
    create: () => {
      const group = mod.WaitGroup.create();
      group.add(100);
      return group;
    },
    attach: (mod, buffer) => new mod.WaitGroup(buffer),
    sides: [[op("add", (g) => g.add()), op("done", (g) => g.done())]],
  },
  {
    stem: "barrier",
    title: "Barrier",
    create: () => mod.Barrier.create(1),
    attach: (mod, buffer) => new mod.Barrier(buffer),
    sides: [[op("arrive as the last", (b) => b.arriveAndWait())]],
  },
  {
    stem: "barrier",
    title: "Barrier, tracked, 1 row",
    create: () => mod.Barrier.create(1, { tracked: 1 }),
    attach: (mod, buffer) => new mod.Barrier(buffer),
    sides: [[op("arrive as the last", (b) => b.arriveAndWait())]],
    alone: [0],
  },
  {
    stem: "condition",
    title: "Condition",
    create: () => mod.Condition.create(),
    attach: (mod, buffer) => new mod.Condition(buffer),
    sides: [[op("notify, nobody waits", (c) => c.notify())]],
  },
  {
    stem: "once",
    title: "Once",
    create: () => mod.Once.create(),
    attach: (mod, buffer) => new mod.Once(buffer),
    sides: [[op("run, done before", (o) => o.run(() => {}))]],
  },
  {
    stem: "snapshot",
    title: "Snapshot of 16 bytes",
    create: () => mod.Snapshot.create({ size: 16 }),
    attach: (mod, buffer) => new mod.Snapshot(buffer),
    sides: [
      [op("write", (s) => s.write(VALUE))],
      [op("read", (s) => s.read(new Int32Array(4)))],
    ],
    alone: [0],
  },
  {
    stem: "spsc_queue",
    title: "SpscQueue",
    create: () => mod.SpscQueue.create(ROOM),
    attach: (mod, buffer) => new mod.SpscQueue(buffer),
    sides: pushPop,
    alone: [0, 1],
  },
  {
    stem: "mpmc_queue",
    title: "MpmcQueue",
    create: () => mod.MpmcQueue.create(ROOM),
    attach: (mod, buffer) => new mod.MpmcQueue(buffer),
    sides: pushPop,
  },
  {
    stem: "lock_free_queue",
    title: "LockFreeQueue",
    create: () => mod.LockFreeQueue.create(ROOM),
    attach: (mod, buffer) => new mod.LockFreeQueue(buffer),
    sides: pushPop,
  },
  {
    stem: "record_ring",
    title: "RecordRing, records of 16 bytes",
    create: () => mod.RecordRing.create({ capacity: 1024 }),
    attach: (mod, buffer) => new mod.RecordRing(buffer),
    sides: [
      [op("push", (r) => r.tryPush(RECORD))],
      [op("pop", (r) => r.tryPopInto(new Uint8Array(16)))],
    ],
    alone: [1],
  },
  {
    stem: "record_ring",
    title: "RecordRing, records of 16 bytes, one producer",
    create: () =>
      mod.RecordRing.create({ capacity: 1024, singleProducer: true }),
    attach: (mod, buffer) => new mod.RecordRing(buffer),
    sides: [
      [op("push", (r) => r.tryPush(RECORD))],
      [op("pop", (r) => r.tryPopInto(new Uint8Array(16)))],
    ],
    alone: [0, 1],
  },
  {
    stem: "channel",
    title: "Channel of capacity 0, numbers",
    create: () => mod.Channel.create({ codec: mod.codec.i32, capacity: 0 }),
    attach: (mod, buffer) =>
      new mod.Channel(buffer, 0, { codec: mod.codec.i32 }),
    sides: [
      [op("receive, and wait", (c) => c.receive())],
      [op("send to one that waits", (c) => c.send(7))],
    ],
    sleeps: true,
  },
  {
    stem: "work_counter",
    title: "WorkCounter",
    create: () => mod.WorkCounter.create(1000),
    attach: (mod, buffer) => new mod.WorkCounter(buffer),
    sides: [[op("next", (c) => c.next()), op("done", (c) => c.done())]],
  },
  {
    stem: "work_counter",
    title: "WorkCounter, tracked",
    create: () => mod.WorkCounter.create(1000, { tracked: 4 }),
    attach: (mod, buffer) => new mod.WorkCounter(buffer),
    sides: [[op("next", (c) => c.next()), op("done", (c) => c.done())]],
  },
  {
    stem: "work_deque",
    title: "WorkDeque",
    create: () => mod.WorkDeque.create(ROOM),
    attach: (mod, buffer) => new mod.WorkDeque(buffer),
    sides: [
      [
        op("push", (d) => d.push(1)),
        op("push", (d) => d.push(2)),
        op("push", (d) => d.push(3)),
        op("pop", (d) => d.pop()),
      ],
      [op("steal", (d) => d.steal())],
    ],
    alone: [0],
  },
  {
    stem: "slab_pool",
    title: "SlabPool",
    create: () => mod.SlabPool.create({ capacity: 16, blockSize: 64 }),
    attach: (mod, buffer) => {
      const pool = new mod.SlabPool(buffer);
      return { pool, at: -1 };
    },
    sides: [[
      op("allocate", (it) => it.at = it.pool.allocate()),
      op("free", (it) => it.pool.free(it.at)),
    ]],
  },
  {
    stem: "striped_counter",
    title: "StripedCounter",
    create: () => mod.StripedCounter.create(),
    attach: (mod, buffer) => new mod.StripedCounter(buffer),
    sides: [[op("add", (c) => c.add(1))]],
  },
];

/** How often each agent does what it does: the last time counts. */
const TIMES = 4;

/** Counts the accesses of each call. */
class Counter implements Recorder {
  readonly calls: { agent: number; traffic: Traffic }[] = [];
  readonly #open = new Map<number, Traffic>();

  clear(): void {
    this.calls.length = 0;
    this.#open.clear();
  }

  row(_: World, agent: Agent, type: "begin" | "end" | "event"): void {
    if (type !== "begin") return;
    const traffic: Traffic = {
      loads: 0,
      stores: 0,
      changes: 0,
      plain: 0,
      sleeps: 0,
      touched: new Set(),
      wrote: new Set(),
    };
    this.#open.set(agent.id, traffic);
    this.calls.push({ agent: agent.id, traffic });
  }

  step(_: World, agent: Agent, _result: Any, wrote: boolean): void {
    const { kind, address } = agent;
    const traffic = this.#open.get(agent.id)!;
    if (kind === k.LOAD) traffic.loads++;
    else if (kind === k.STORE) traffic.stores++;
    else if (kind > k.STORE && kind <= k.CAS) traffic.changes++;
    else if (k.isPlain(kind)) traffic.plain++;
    else if (kind === k.WAIT || kind === k.NOTIFY) traffic.sleeps++;
    else throw new Error(`${k.OP_NAMES[kind]} is no step of a fast path`);
    traffic.touched.add(address);
    if (wrote || k.writes(kind)) traffic.wrote.add(address);
  }
}

/** What one agent did. */
interface Traced {
  /** The last call of each operation. */
  readonly last: readonly Traffic[];
  readonly all: readonly Traffic[];
}

/**
 * Lets agents do what `program` says, and counts. `program` has the operations
 * of each agent; one agent after the other calls all of its own, `TIMES` times.
 * An agent that waits goes on as soon as another one wakes it.
 */
function traced(
  { create, attach, sleeps = false }: Case,
  program: readonly (readonly Operation[])[],
  library: Library = mod,
): Traced[] {
  const spec = race.spec({
    memory: () => create().buffer,
    agent: (buffer: SharedArrayBuffer, id: number) => {
      library.setAgentId(id + 1);
      spinning.rounds = 0; // an agent that waits sleeps at once
      return attach(library, buffer);
    },
    // What waits remembers how long it spun.
    ...(sleeps ? { stateless: false } : {}),
    ops: Object.fromEntries(
      program.flat().map(({ run }, n) => [
        `${n}`,
        { run: (it: Any) => void run(it) },
      ]),
    ),
  } as Any);
  let first = 0;
  const calls = program.map((operations) => {
    const list = operations.map((_, n) => ({ op: `${first + n}` }));
    first += operations.length;
    return Array.from({ length: sleeps ? 1 : TIMES }, () => list).flat();
  });
  const counter = new Counter();
  explore(spec.scenario, calls, {}, function* (engine) {
    engine.world.trace = counter;
    const options = { lockFree: false, rescue: false, looks: 0, polls: 0 };
    try {
      const fault = yield* run(engine, new Loose([]), options as Any);
      if (fault !== null) throw new Error(fault.message);
    } finally {
      engine.world.trace = null;
    }
  });
  return program.map((operations, agent) => {
    const all = counter.calls.filter((call) => call.agent === agent)
      .map(({ traffic }) => traffic);
    return { last: all.slice(-operations.length), all };
  });
}

/** The lines of some addresses. */
function linesOf(addresses: Iterable<number>): Set<number> {
  return new Set([...addresses].map((address) => Math.floor(address / LINE)));
}

/** What some addresses are called: words, or what lies behind them. */
function namesOf(stem: string, addresses: Iterable<number>): string[] {
  const row: Readonly<Record<string, number>> =
    (LAYOUT as Readonly<Record<string, Record<string, number>>>)[stem]!;
  const names = [...addresses].toSorted((a, b) => a - b).map((address) => {
    const index = Math.floor(address / 4);
    if (index >= row.length!) return "data";
    const word = Object.keys(row).findLast((name) =>
      name !== "length" && row[name]! <= index
    );
    return `\`${word}\``;
  });
  return [...new Set(names)];
}

/** What an agent did, or several did, in all. */
type Lines = Pick<Traffic, "touched" | "wrote">;

function together(calls: readonly Lines[]): Lines {
  const all = (key: keyof Lines) =>
    new Set(calls.flatMap((call) => [...call[key]]));
  return { touched: all("touched"), wrote: all("wrote") };
}

/**
 * The addresses that `own` touched in lines which move between its agent and
 * those of `others`: both touch such a line, and one of them writes it.
 */
function moving(own: Lines, others: Lines): number[] {
  const [touched, wrote] = [linesOf(others.touched), linesOf(others.wrote)];
  const writes = linesOf(own.wrote);
  return [...own.touched].filter((at) => {
    const line = Math.floor(at / LINE);
    return wrote.has(line) || writes.has(line) && touched.has(line);
  });
}

/** The sides that more than one agent can have. */
const shared = ({ sides, alone = [] }: Case) =>
  sides.filter((_, side) => !alone.includes(side));

/**
 * What each operation of the table does, by its name, if `library` does it. Of
 * `only`, the beginnings of names are asked for.
 */
export function traffic(
  library: Library = mod,
  only: (title: string) => boolean = () => true,
): Map<string, Traffic> {
  const counted = new Map<string, Traffic>();
  for (const one of CASES.filter(({ title }) => only(title))) {
    const all = traced(one, [...one.sides, ...shared(one)], library);
    one.sides.forEach((operations, side) =>
      operations.forEach(({ name }, n) =>
        counted.set(`${one.title}: ${name}`, all[side]!.last[n]!)
      )
    );
  }
  return counted;
}

/** The cells of the table for each operation of a primitive. */
function rowsOf(one: Case): string[][] {
  const { stem, title, sides } = one;
  // A second agent does the same, where one is allowed to.
  const doubled = shared(one);
  const all = traced(one, [...sides, ...doubled]);
  return sides.flatMap((operations, side) =>
    operations.flatMap(({ name }, n) => {
      // Of two operations of one name, the last one counts.
      if (operations.slice(n + 1).some((other) => other.name === name)) {
        return [];
      }
      const it = all[side]!.last[n]!;
      const twin = doubled.indexOf(operations);
      const same = together(twin < 0 ? [] : all[sides.length + twin]!.all);
      const other = together(
        sides.flatMap((_, k) => k === side ? [] : all[k]!.all),
      );
      const withSame = moving(it, same);
      const withOther = moving(it, other);
      const inLine = linesOf(
        withSame.filter((at) =>
          it.wrote.has(at) && linesOf(same.wrote).has(Math.floor(at / LINE))
        ),
      );
      const cell = (addresses: number[]) =>
        namesOf(stem, addresses).join(", ") || "none";
      return [[
        `${title}: ${name}`,
        ...[it.loads, it.stores, it.changes, it.plain].map(String),
        String(linesOf(it.touched).size),
        twin < 0 ? "one agent alone" : cell(withSame),
        sides.length === 1 ? "" : cell(withOther),
        String(linesOf([...withSame, ...withOther]).size),
        String(inLine.size),
      ]];
    })
  );
}

const HEADS = [
  "operation",
  "loads",
  "stores",
  "exchanges",
  "plain",
  "lines",
  "moved by those who do the same",
  "moved by the other side",
  "lines that move",
  "in line",
];

/** The table of all operations. */
function table(): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(HEADS),
    line(HEADS.map((_, k) => k > 0 && k < 6 || k > 7 ? "--:" : "---")),
    ...CASES.flatMap(rowsOf).map(line),
  ].join("\n");
}

/** The page as it should be. */
export function page(text: string): string {
  const between = /(<!-- traffic -->\n)[^]*?(\n<!-- end -->)/;
  if (!between.test(text)) throw new Error("no place for the table");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["fmt", "--ext", "md", "-"],
    {
      input: text.replace(between, `$1\n${table()}\n$2`),
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** docs/scaling.md. */
export const FILE: URL = PAGE;

if (import.meta.main) {
  if (process.argv.length > 2) {
    const usage =
      "usage: deno task traffic\nWrites the table of docs/scaling.md.";
    const asked = process.argv[2] === "--help";
    (asked ? console.log : console.error)(usage);
    process.exit(asked ? 0 : 2);
  }
  fs.writeFileSync(PAGE, page(fs.readFileSync(PAGE, "utf8")));
}
