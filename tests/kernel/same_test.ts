// also: node
// Random operations on an object of `@weft/sync`, on one of
// `@weft/sync/kernel`, and on one that has a view of each: all must answer the
// same, whatever the arguments are, and leave the same words. Two agents use
// each of them.
import * as assert from "uvu/assert";
import * as plain from "../../mod.ts";
import * as kernel from "../../primitives/kernel/kernel.ts";
import { suite } from "../_run/harness.ts";
import { asAgent } from "../_run/model.ts";
import fc from "../_run/property.ts";

const test = suite("kernel, beside the classes");

/** What is tested of both libraries. */
type Library = Pick<typeof plain, keyof typeof plain & keyof typeof kernel>;

// deno-lint-ignore no-explicit-any
type View = any;

/** Where the object lies, and the arrays of the callers. */
const AT = 1024, ARRAYS = 49152, BYTES = 65536;
const AGENTS = [7, 8];

/** One of the objects: the views of each agent, and what they were given. */
interface Side {
  readonly memory: WebAssembly.Memory;
  readonly views: readonly View[];
  readonly guards: View[];
}

/** Chooses among `values`, the same ones for both sides. */
type Choose = <T>(values: readonly T[]) => T;

/** An operation of a view; a promise is awaited. */
type Op = (view: View, choose: Choose, side: Side) => unknown;

interface Subject {
  readonly name: string;
  readonly init: (library: Library, memory: WebAssembly.Memory) => View;
  readonly attach: (library: Library, memory: WebAssembly.Memory) => View;
  readonly ops: readonly Op[];
  /**
   * How many words must be the same, if not all: in a record's head, only one
   * that is reserved needs the id of its agent.
   */
  readonly compared?: number;
}

const WRONG = [-1, 1.5, NaN, Infinity, -Infinity, 2 ** 32, "1", null, true, 1n];
const COUNTS = [undefined, 1, 1, 1, 2, 3, 0, -0, 2 ** 30 - 1, 2 ** 30]
  .concat([2 ** 31 - 1, 2 ** 31, -(2 ** 31)] as number[], WRONG as number[]);
const INTS = [0, -0, 1, 7, -1, 2 ** 31 - 1, -(2 ** 31)]
  .concat([undefined, 2 ** 31, ...WRONG.slice(1)] as number[]);
const TIMES = [undefined, 0, 0, -0, 0.01, NaN, -1, -Infinity, "1", null, 1n];
const IDS = [...AGENTS, ...AGENTS, 0, 9, -1, 2 ** 28, NaN, "7"];

/** An array of a caller; the same for both sides. */
function arrayOf({ memory }: Side, choose: Choose): View {
  const Type = choose([
    Int32Array,
    Int32Array,
    Uint8Array,
    Uint8Array,
    Float64Array,
    DataView,
    BigInt64Array,
  ]);
  const size = (Type as typeof Int32Array).BYTES_PER_ELEMENT ?? 1;
  const bytes = choose([4, 8, 16, 32, 64, 0, 24]);
  const at = ARRAYS + choose([0, 0, 8, size, 4 * size]);
  const buffer = choose([true, true, false])
    ? memory.buffer
    : new Uint8Array(memory.buffer).slice().buffer;
  const wrong = choose([0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  if (wrong === 1) return choose([undefined, buffer, "text", [1], null]);
  return new (Type as typeof Int32Array)(
    buffer as ArrayBuffer,
    at,
    Math.floor(bytes / size),
  );
}

/** What `take` answers, and what it has put into an array. */
function into(
  side: Side,
  choose: Choose,
  take: (array: View) => unknown,
): unknown {
  const array = arrayOf(side, choose);
  return [take(array), array];
}

/** Fills the arrays in the memory with something new. */
const fill: Op = (_, choose, { memory }) => {
  const bytes = new Uint8Array(memory.buffer, ARRAYS, 128);
  const first = choose([0, 1, 50, 200]);
  bytes.forEach((_, i) => bytes[i] = first + i);
};

/** Keeps a guard that an operation gave. */
function kept(side: Side, guard: View): unknown {
  if (typeof guard === "object" && guard !== null) side.guards.push(guard);
  return guard;
}

/** Unlocks a guard, perhaps once more. */
const unlockGuard: Op = (_, choose, { guards }) =>
  guards.length > 0 &&
  guards.at(-choose([1, 1, 2, 3]))
    ?.[choose(["unlock", "unlock", "downgrade"])]?.();

/** Begins an operation, and aborts it: before that, or while it awaits. */
function aborted(
  choose: Choose,
  begin: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const control = new AbortController();
  const before = choose([true, false]);
  if (before) control.abort("before");
  const end = begin(control.signal);
  if (!before) control.abort("later");
  return end;
}

async function outcomeOf(run: () => unknown): Promise<string> {
  try {
    return textOf(await run());
  } catch (error) {
    return error instanceof Error
      ? `${error.name}: ${error.message}`
      : `thrown: ${String(error)}`;
  }
}

function textOf(value: View): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value !== "object" || value === null) {
    return Object.is(value, -0) ? "-0" : String(value);
  }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return `[${new Uint8Array(buffer, byteOffset, byteLength)}]`;
  }
  if (Array.isArray(value)) return `[${value.map(textOf)}]`;
  if ("abandoned" in value) {
    return `${value.constructor.name} ${value.abandoned}`;
  }
  return JSON.stringify(value);
}

/** The operations of queues. */
function queueOps(): Op[] {
  return [
    (v, c) => v.tryPushInt(c(INTS), c(TIMES)),
    (v, c) => v.tryPushInt(c(INTS)),
    (v) => v.tryPopInt(),
    (v, c) => v.tryPopInt(c(TIMES)),
    (v, c, s) => v.tryPush(arrayOf(s, c)),
    (v, c, s) => v.tryPush(arrayOf(s, c), c(TIMES)),
    (v, c, s) => into(s, c, (array) => v.tryPopInto(array)),
    (v, c, s) => into(s, c, (array) => v.tryPopInto(array, c(TIMES))),
    (v) => v.tryPop(),
    (v, c, s) => v.tryPushMany(arrayOf(s, c), c(COUNTS)),
    (v, c, s) => into(s, c, (array) => v.tryPopMany(array, c(COUNTS))),
    (v, c) => {
      const place = v.reserve();
      if (place !== undefined) place.fill(c([1, 2, 3]));
      return place;
    },
    (v) => v.commit(),
    (v) => v.peek(),
    (v) => v.consume(),
    (v) => v.size,
    (v) => v.closed,
    (v, c) => c([0, 0, 0, 0, 1]) === 1 && v.close(),
    (v, c) => v.tryPushIntAsync(c(INTS), { timeout: c(TIMES) }),
    (v, c) => v.tryPopIntAsync({ timeout: c(TIMES) }),
    (v, c) => aborted(c, (signal) => v.popIntAsync({ signal })),
    (v, c) => aborted(c, (signal) => v.pushIntAsync(c(INTS), { signal })),
    fill,
  ];
}

const QUEUES = ["SpscQueue", "MpmcQueue", "LockFreeQueue"] as const;
const queues = QUEUES.flatMap((Name) =>
  [4, 8, 2].filter((size) => size > 2 || Name !== "LockFreeQueue")
    .map((elementSize): Subject => ({
      name: `${Name} of ${elementSize}`,
      init: (library, memory) =>
        library[Name].init(memory, AT, { capacity: 4, elementSize }),
      attach: (library, memory) => new library[Name](memory, AT),
      ops: Name !== "SpscQueue" ? queueOps() : [
        ...queueOps(),
        (v, c) => v.size < v.capacity && v.pushInt(c(INTS)),
        (v) => v.size > 0 && v.elementSize === 4 && v.popInt(),
        (v, c) => v.reserveMany(c(COUNTS)),
        (v, c) => v.commitMany(c(COUNTS)),
        (v, c) => v.peekMany(c(COUNTS)),
        (v, c) => v.consumeMany(c(COUNTS)),
        (v, c) => v.abandon(c(IDS)),
      ],
    }))
);

const maps = [undefined, "clock"].map((evict): Subject => {
  const codecs = { key: plain.codec.i32, value: plain.codec.i32 };
  const keys = [1, 2, 3, 4, 5, ...INTS];
  return {
    name: `HashMap, evict: ${evict}`,
    init: (library, memory) =>
      library.HashMap.init(memory, AT, {
        ...codecs,
        capacity: 4,
        seed: 1,
        ...evict === "clock" && { evict },
      }),
    attach: (library, memory) => new library.HashMap(memory, AT, codecs),
    ops: [
      (v, c) => v.get(c(keys)),
      (v, c) => v.has(c(keys)),
      (v, c) => v.set(c(keys), c(INTS)),
      (v, c) => v.set(c(keys), c(INTS)),
      (v, c) => v.set(c(keys), c(INTS), c([{ ifAbsent: true }, {}, null])),
      (v, c) => v.add(c(keys), c(INTS)),
      (v, c) => v.delete(c(keys)),
      (v, c) => v.take(c(keys)),
      (v, c) => v.compareExchange(c(keys), c(INTS), c(INTS)),
      (v, c) => v.tryWaitFor(c(keys), c(TIMES)),
      (v, c) => aborted(c, (signal) => v.waitForAsync(c(keys), { signal })),
      (v) => v.size,
    ],
  };
});

const counters = [
  undefined,
  { chunk: 3 },
  { schedule: "guided", agents: 2 },
  { tracked: 2 },
].map((config): Subject => ({
  name: `WorkCounter ${JSON.stringify(config)}`,
  init: (library, memory) =>
    library.WorkCounter.init(memory, AT, 20, config as plain.WorkConfig),
  attach: (library, memory) => new library.WorkCounter(memory, AT),
  ops: [
    (v) => v.next(),
    (v) => v.next(),
    (v) => v.nextRange(),
    (v, c) => v.done(c(COUNTS)),
    (v, c) => v.tryWait(c(TIMES)),
    (v) => [v.remaining, v.completed, v.cancelled],
    (v, c) => v.abandon(c(IDS)),
    (v, c) => c([0, 0, 0, 1]) === 1 && v.cancel(),
  ],
}));

const semaphores = [undefined, { max: 5 }, { tracked: 2 }]
  .map((config): Subject => ({
    name: `Semaphore ${JSON.stringify(config)}`,
    init: (library, memory) => library.Semaphore.init(memory, AT, 2, config),
    attach: (library, memory) => new library.Semaphore(memory, AT),
    ops: [
      (v, c) => v.tryAcquire(c(COUNTS)),
      (v, c) => v.tryAcquire(c(COUNTS), c(TIMES)),
      (v, c) => v.release(c(COUNTS)),
      (v, c) => v.release(c(COUNTS)),
      (v) => v.drain(),
      (v) => [v.available, v.waiters, v.held, v.awaiting],
      (v, c) => v.abandon(c(IDS)),
      (v, c) => {
        const n = c(COUNTS) ?? 1;
        const isWrong = !(Number.isInteger(n) && n > 0 && n <= v.max);
        return (isWrong || n <= v.available) && v.acquire(n);
      },
      (v, c) => aborted(c, (signal) => v.acquireAsync(c(COUNTS), { signal })),
      (v, c) => v.tryAcquireAsync(c(COUNTS), { timeout: c(TIMES) }),
    ],
  }));

const events = [false, true].map((autoReset): Subject => ({
  name: `Event, autoReset: ${autoReset}`,
  init: (library, memory) => library.Event.init(memory, AT, { autoReset }),
  attach: (library, memory) => new library.Event(memory, AT),
  ops: [
    (v) => v.set(),
    (v) => v.reset(),
    (v, c) => v.tryWait(c(TIMES)),
    (v) => v.isSet && v.wait(),
    (v, c) => aborted(c, (signal) => v.waitAsync({ signal })),
    (v, c) => v.tryWaitAsync({ timeout: c(TIMES) }),
  ],
}));

const rwLocks = [undefined, { tracked: 2 }].map((config): Subject => ({
  name: `RwLock ${JSON.stringify(config)}`,
  init: (library, memory) => library.RwLock.init(memory, AT, config),
  attach: (library, memory) => new library.RwLock(memory, AT),
  ops: [
    (v, c, s) => kept(s, v.tryRead(c(TIMES))),
    (v, c, s) => kept(s, v.tryWrite(c(TIMES))),
    (v, _, s) => kept(s, v.tryRead()),
    (v, _, s) => kept(s, v.tryWrite()),
    (v) => v.unlockRead(),
    (v) => v.unlockWrite(),
    unlockGuard,
    (v) => [v.readers, v.writer],
    (v, c) => v.abandon(c(IDS)),
    (v, _, s) => v.writer === 0 && v.readers === 0 && kept(s, v.write()),
    (v, c, s) =>
      aborted(c, (signal) => v[c(["readAsync", "writeAsync"])]({ signal }))
        .then((guard) => kept(s, guard)),
  ],
}));

const snapshots = [false, true].map((singleReader): Subject => ({
  name: `Snapshot, singleReader: ${singleReader}`,
  init: (library, memory) =>
    library.Snapshot.init(memory, AT, { size: 16, singleReader }),
  attach: (library, memory) => new library.Snapshot(memory, AT),
  ops: [
    (v, c, s) => v.write(arrayOf(s, c)),
    (v, c, s) => v.write(arrayOf(s, c)),
    (v, c, s) => into(s, c, (array) => v.read(array)),
    (v, c, s) => into(s, c, (array) => v.read(array)),
    (v) => v.version,
    (v, c) => v.abandon(c(IDS)),
    fill,
  ],
}));

const rings = [
  {},
  { singleProducer: true },
  { manyConsumers: true },
  { most: 2 },
].map((more): Subject => ({
  name: `RecordRing ${JSON.stringify(more)}`,
  init: (library, memory) =>
    library.RecordRing.init(memory, AT, { capacity: 256, ...more }),
  attach: (library, memory) => new library.RecordRing(memory, AT),
  ops: [
    (v, c, s) => v.tryPush(arrayOf(s, c)),
    (v, c, s) => v.tryPush(arrayOf(s, c), c(TIMES)),
    (v, c, s) => into(s, c, (array) => v.tryPopInto(array)),
    (v, c, s) => into(s, c, (array) => v.tryPopInto(array, c(TIMES))),
    (v) => v.tryPop(),
    (v, c) => v.reserve(c([0, 3, 8, 400, ...COUNTS])),
    (v, c) => v.commit(c([undefined, undefined, 0, 3, 400, NaN])),
    (v) => v.cancel(),
    (v) => v.peek(),
    (v) => v.consume(),
    (v, c) => v.read((r: Uint8Array) => void r.slice(), c(COUNTS)),
    (v, _, s) =>
      v.read(() => v.tryPopInto(new Uint8Array(s.memory.buffer, ARRAYS, 64))),
    // Not of the other agent, which runs: in JavaScript, it remembers its role.
    (v, c, { views }) =>
      v.abandon(c([AGENTS[views.indexOf(v)], 9, ...IDS.slice(4)])),
    (v, c) => c([0, 0, 0, 0, 1]) === 1 && v.close(),
    (v) => v.closed,
    fill,
  ],
  compared: 160,
}));

const SUBJECTS: readonly Subject[] = [
  {
    name: "Mutex",
    init: (library, memory) => library.Mutex.init(memory, AT),
    attach: (library, memory) => new library.Mutex(memory, AT),
    ops: [
      (v, _, s) => kept(s, v.tryLock()),
      (v, c, s) => kept(s, v.tryLock(c(TIMES))),
      (v) => v.unlock(),
      (v) => v.owner,
      (v, c) => v.abandon(c(IDS)),
      unlockGuard,
      (v, _, s) => v.owner === 0 && kept(s, v.lock()),
      (v) => v.owner === 0 && v.run(() => 7),
      (v, c, s) =>
        aborted(c, (signal) => v.lockAsync({ signal }))
          .then((guard) => kept(s, guard)),
    ],
  },
  ...rwLocks,
  ...semaphores,
  ...events,
  {
    name: "Latch",
    init: (library, memory) => library.Latch.init(memory, AT, 9),
    attach: (library, memory) => new library.Latch(memory, AT),
    ops: [
      (v, c) => v.countDown(c(COUNTS)),
      (v, c) => v.tryWait(c(TIMES)),
      (v, c) => v.tryArriveAndWait(c(TIMES)),
      (v) => v.count,
    ],
  },
  ...snapshots,
  ...queues,
  ...rings,
  ...counters,
  {
    name: "WorkDeque",
    init: (library, memory) =>
      library.WorkDeque.init(memory, AT, { capacity: 4 }),
    attach: (library, memory) => new library.WorkDeque(memory, AT),
    ops: [
      (v, c) => v.push(c(INTS)),
      (v, c) => v.push(c(INTS)),
      (v) => v.pop(),
      (v) => v.steal(),
      (v) => v.size,
      (v) => v.adopt(),
      (v, c) => v.abandon(c(IDS)),
    ],
  },
  {
    name: "SlabPool",
    init: (library, memory) =>
      library.SlabPool.init(memory, AT, { capacity: 5, blockSize: 64 }),
    attach: (library, memory) => new library.SlabPool(memory, AT),
    ops: [
      (v) => v.allocate(),
      (v) => v.allocate(),
      (v, c) => v.free(c([384, 448, 512, 256, 320, 4, ...COUNTS])),
      (v, c) => v.useCache(c([0, 1, 2, ...COUNTS])),
      (v) => v.release(),
      (v) => v.available,
      (v, c) => v.abandon(c(IDS), c([undefined, true])),
    ],
  },
  {
    name: "StripedCounter",
    init: (library, memory) =>
      library.StripedCounter.init(memory, AT, { stripes: 3 }),
    attach: (library, memory) => new library.StripedCounter(memory, AT),
    ops: [
      (v, c) => v.add(c([...INTS, ...COUNTS])),
      (v) => v.sum(),
    ],
  },
  ...maps,
];

/** An object whose views are of these libraries, one for each agent. */
function sideOf(subject: Subject, ...libraries: unknown[]): Side {
  const memory = kernel.arena(BYTES);
  subject.init(libraries[0] as Library, memory);
  const views = AGENTS.map((id, i) =>
    asAgent(id, () => subject.attach(libraries[i] as Library, memory))
  );
  return { memory, views, guards: [] };
}

/** The first word that differs, and must not; undefined if there is none. */
function difference([first, ...others]: Side[], subject: Subject) {
  const wordsOf = ({ memory }: Side) => new Int32Array(memory.buffer);
  const expected = wordsOf(first!);
  const length = first!.views[0].byteLength / 4;
  const end = AT / 4 + Math.min(length, subject.compared ?? length);
  for (const words of others.map(wordsOf)) {
    for (let i = AT / 4; i < ARRAYS / 4 + 32; i++) {
      if (i === end) i = ARRAYS / 4;
      if (words[i] === expected[i]) continue;
      return `word ${i - AT / 4}: ${expected[i]} and ${words[i]}`;
    }
  }
}

const step = fc.array(fc.nat({ max: 1e6 }), { minLength: 14, maxLength: 14 });

for (const subject of SUBJECTS) {
  test(`${subject.name}: all answer the same`, async () => {
    const steps = fc.array(step, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const sides = [
          sideOf(subject, plain, plain),
          sideOf(subject, kernel, kernel),
          sideOf(subject, kernel, plain),
        ];
        for (const [number, [which, who, ...rest]] of steps.entries()) {
          const op = subject.ops[which! % subject.ops.length]!;
          const answers: string[] = [];
          for (const side of sides) {
            let next = 0;
            const choose: Choose = (values) =>
              values[rest[next++ % rest.length]! % values.length]!;
            const view = side.views[who! % AGENTS.length];
            answers.push(await outcomeOf(() => op(view, choose, side)));
          }
          const what = `step ${number}, ${op}: `;
          const same = answers.every((answer) => answer === answers[0]);
          assert.ok(same, what + answers.join(" / "));
          const other = difference(sides, subject);
          assert.ok(other === undefined, what + other);
        }
      }),
      { numRuns: 60 },
    );
  });
}
