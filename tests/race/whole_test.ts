// it explores
// With `primitives: "atomic"`, whole operations of primitives are one step: the
// same outcomes and failures, of far fewer states.
import fc from "../_run/property.ts";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import * as weft from "../../mod.ts";
import { type CallTuple, race, type Result } from "../../race/mod.ts";
import { WHOLE } from "../../race/engine/platform/whole.ts";
import { suite } from "../_run/harness.ts";

const { LockFreeQueue, MpmcQueue, Mutex, RwLock, Semaphore, SpscQueue } = weft;

const test = suite("race whole operations");

type Run = () => unknown;

/** What agents can do, by name, and which of it an agent may. */
interface Kind {
  readonly name: string;
  memory(): SharedArrayBuffer;
  view(memory: SharedArrayBuffer): Record<string, Run>;
  readonly by: readonly (readonly string[])[];
}

const ringOf = (
  Queue: typeof SpscQueue | typeof LockFreeQueue,
): Omit<Kind, "name"> => ({
  memory: () => Queue.create({ capacity: 1 }).buffer,
  view(memory) {
    const queue = new Queue(memory);
    return {
      push: () => queue.tryPushInt(7),
      other: () => queue.tryPushInt(8),
      pop: () => queue.tryPopInt(),
    };
  },
  by: [["push", "other"], ["pop"]],
});

const after = (bytes: number) => new SharedArrayBuffer(bytes + 4);

const KINDS: readonly Kind[] = [
  {
    name: "Mutex",
    memory: () => after(Mutex.byteLength()),
    view(memory) {
      const mutex = new Mutex(memory);
      const word = new Int32Array(memory, Mutex.byteLength(), 1);
      return {
        add: () => mutex.run(() => word[0]!++),
        try() {
          using guard = mutex.tryLock();
          return guard && word[0]!++;
        },
      };
    },
    by: [["add", "try"], ["add", "try"]],
  },
  {
    name: "RwLock",
    memory: () => after(RwLock.byteLength()),
    view(memory) {
      const lock = new RwLock(memory);
      const word = new Int32Array(memory, RwLock.byteLength(), 1);
      return {
        add() {
          using _guard = lock.write();
          return word[0]!++;
        },
        get() {
          using _guard = lock.read();
          return word[0];
        },
      };
    },
    by: [["add", "get"], ["add", "get"]],
  },
  {
    name: "Semaphore",
    memory: () => Semaphore.init(after(SEMAPHORE), 0, 1).buffer,
    view(memory) {
      const semaphore = new Semaphore(memory);
      const word = new Int32Array(memory, SEMAPHORE, 1);
      return {
        use() {
          semaphore.acquire();
          const value = word[0]!++;
          semaphore.release();
          return value;
        },
        give: () => semaphore.release(),
        take: () => semaphore.acquire(2),
      };
    },
    by: [["use", "give"], ["use", "take"]],
  },
  {
    name: "Latch",
    memory: () => weft.Latch.create(2).buffer,
    view(memory) {
      const latch = new weft.Latch(memory);
      return {
        down: () => latch.countDown(),
        try: () => latch.tryWait(),
        for: () => latch.tryWait(5),
        wait: () => latch.wait(),
      };
    },
    by: [["down", "try"], ["down", "for", "wait"]],
  },
  {
    name: "WaitGroup",
    memory: () => weft.WaitGroup.create().buffer,
    view(memory) {
      const group = new weft.WaitGroup(memory);
      return {
        both: () => (group.add(), group.done()),
        try: () => group.tryWait(),
        wait: () => group.wait(),
      };
    },
    by: [["both", "try"], ["both", "wait"]],
  },
  {
    name: "WorkDeque",
    memory: () => weft.WorkDeque.create({ capacity: 1 }).buffer,
    view(memory) {
      const deque = new weft.WorkDeque(memory);
      return {
        push: () => deque.push(3),
        pop: () => deque.pop(),
        steal: () => deque.steal(),
      };
    },
    by: [["push", "pop"], ["steal"]],
  },
  {
    name: "Snapshot",
    memory: () => weft.Snapshot.create({ size: 8 }).buffer,
    view(memory) {
      const snapshot = new weft.Snapshot(memory);
      const value = new Int32Array(2);
      return {
        one: () => snapshot.write(Int32Array.of(1, 1)),
        two: () => snapshot.write(Int32Array.of(2, 2)),
        read: () => (snapshot.read(value), [...value]),
      };
    },
    by: [["one", "two"], ["read"]],
  },
  { name: "SpscQueue", ...ringOf(SpscQueue) },
  { name: "LockFreeQueue", ...ringOf(LockFreeQueue) },
  {
    name: "Mutex beside others that are no steps",
    memory() {
      const memory = after(BESIDE + MpmcQueue.byteLength(ONE));
      return MpmcQueue.init(memory, BESIDE, ONE).buffer;
    },
    view(memory) {
      const [lock, mutex] = [new Mutex(memory), new Mutex(memory, LOCK)];
      const condition = new weft.Condition(memory, 2 * LOCK);
      const queue = new MpmcQueue(memory, BESIDE);
      const word = new Int32Array(memory, memory.byteLength - 4, 1);
      return {
        add: () => mutex.run(() => word[0]!++),
        push: () => queue.pushInt(7),
        pop: () => mutex.run(() => queue.tryPopInt()),
        tell() {
          using _guard = lock.lock();
          condition.notify();
        },
        hear() {
          using _guard = lock.lock();
          return condition.tryWait(lock, 5);
        },
      };
    },
    by: [["add", "push", "tell"], ["add", "pop", "hear"]],
  },
];
const SEMAPHORE = Semaphore.byteLength();
const LOCK = Mutex.byteLength();
const BESIDE = Math.ceil((2 * LOCK + weft.Condition.byteLength()) / 64) * 64;
const ONE = { capacity: 1 } as const;

type Names = readonly (readonly string[])[];

/** How a program can end, and what fails in it. */
function endsOf(kind: Kind, agents: Names, primitives?: "atomic") {
  const seen = new Set<string>();
  const names = [...new Set(kind.by.flat())];
  const spec = race.spec({
    memory: kind.memory,
    agent: kind.view,
    ops: Object.fromEntries(
      names.map((name) => [
        name,
        { run: (it) => (it as Record<string, Run>)[name]!() },
      ]),
    ),
    final(memory, results) {
      seen.add(JSON.stringify([results, ...new Int32Array(memory).slice(-1)]));
    },
  });
  const calls = agents.map((names) => names.map((name): CallTuple => [name]));
  const options = { states: 300_000, time: 60_000, shorten: false };
  const result = race.check(spec, ...calls, { ...options, primitives });
  const ends = { kind: result.failure?.kind, seen: [...seen].sort() };
  // Which ends were met before the first failure is no property of a program.
  return { ends: result.ok ? ends : { kind: ends.kind }, result };
}

for (const kind of KINDS) {
  test(`${kind.name}: programs end as they do step by step`, () => {
    const programs = fc.tuple(
      ...kind.by.map((names) =>
        fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
      ),
    );
    let whole = 0;
    fc.assert(
      fc.property(programs, (agents) => {
        const steps = endsOf(kind, agents);
        const atomic = endsOf(kind, agents, "atomic");
        assert.equal(atomic.ends, steps.ends);
        assert.is(atomic.result.complete, steps.result.complete);
        if (atomic.result.summary.includes("as one step each")) whole++;
      }),
      { numRuns: 12, seed: 30, includeErrorInReport: true },
    );
    assert.ok(whole > 0, "no operation was one step");
  });
}

const locked = race.spec({
  memory: () => Mutex.create().buffer,
  agent: (memory) => new Mutex(memory),
  ops: {
    use: { run: (mutex) => mutex.lock().unlock() },
    owner: { run: (mutex) => mutex.owner },
  },
});
const twice = [["use"], ["use"]] as const;

test("three agents that lock twice are covered", () => {
  const result = race.check(locked, twice, twice, twice, {
    primitives: "atomic",
  });
  assert.ok(result.complete, result.summary);
  assert.match(result.summary, /with operations of mutex as one step each$/);
  assert.ok(result.states < 10_000, result.summary);
});

test("what other code uses, too, is explored step by step", () => {
  const owner = [["owner"]] as const;
  const mixed = race.check(locked, [["use"]], owner, { primitives: "atomic" });
  const steps = race.check(locked, [["use"]], owner);
  assert.is(mixed.states, steps.states);
  assert.match(mixed.summary, /primitives step by step/);
  assert.match(steps.summary, /^complete: \d+ states$/);
  // Nothing of that is left for the next program.
  const next = race.check(locked, twice, twice, { primitives: "atomic" });
  assert.match(next.summary, /mutex as one step each$/);
});

test("where nothing is one step, there are as many states as without", () => {
  const queue = race.spec({
    memory: () => MpmcQueue.create({ capacity: 1 }).buffer,
    agent: (memory) => new MpmcQueue(memory),
    ops: {
      push: { run: (queue) => queue.pushInt(7) },
      pop: { run: (queue) => queue.popInt() },
    },
  });
  const [pushes, pops] = [[["push"], ["push"]], [["pop"], ["pop"]]] as const;
  const search = (o: { primitives?: "atomic" }) =>
    race.check(queue, pushes, pops, o);
  assert.is(search({ primitives: "atomic" }).states, search({}).states);
});

/** The kind of the failure that is found with whole operations. */
const found = ({ failure, summary }: Result) => failure?.kind ?? summary;

test("mistakes in the code around the primitives are found", () => {
  const at = Mutex.byteLength();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(2 * at + 4),
    agent: (memory) => ({
      one: new Mutex(memory),
      two: new Mutex(memory, at),
      word: new Int32Array(memory, 2 * at, 1),
    }),
    ops: {
      there: {
        run({ one, two }) {
          using _a = one.lock();
          using _b = two.lock();
        },
      },
      back: {
        run({ one, two }) {
          using _b = two.lock();
          using _a = one.lock();
        },
      },
      add: { run: ({ one, word }) => one.run(() => word[0]!++) },
      forgets: { run: ({ word }) => word[0] },
      lost: {
        run({ one, word }) {
          const value = one.run(() => word[0]!);
          one.run(() => word[0] = value + 1);
        },
      },
    },
    final: (_, results) => {
      if (results[0]!.length > 0 && results[1]!.length > 2) return "never";
    },
  });
  const o = { primitives: "atomic" } as const;
  assert.is(found(race.check(spec, [["there"]], [["back"]], o)), "deadlock");
  assert.is(found(race.check(spec, [["add"]], [["forgets"]], o)), "data-race");
  assert.ok(race.check(spec, [["lost"]], [["lost"]], o).complete);
  const sums = race.spec({
    memory: () => new SharedArrayBuffer(at + 4),
    agent: (memory) => ({
      mutex: new Mutex(memory),
      word: new Int32Array(memory, at, 1),
    }),
    ops: {
      lost: {
        run({ mutex, word }) {
          const value = mutex.run(() => word[0]!);
          mutex.run(() => word[0] = value + 1);
        },
      },
    },
    final: (memory) => {
      const value = new Int32Array(memory, at, 1)[0];
      if (value !== 2) return `the word is ${value}`;
    },
  });
  const lost = race.check(sums, [["lost"]], [["lost"]], o);
  assert.is(found(lost), "invariant");
  const { program, schedule, kind } = lost.failure!;
  assert.is(race.replay(sums, program, schedule, o).failure?.kind, kind);
});

test("a wait that does not look again is found", () => {
  const { Condition } = weft;
  const at = Mutex.byteLength();
  const flag = at + Condition.byteLength();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(flag + 4),
    agent: (memory) => ({
      mutex: new Mutex(memory),
      condition: new Condition(memory, at),
      word: new Int32Array(memory, flag, 1),
    }),
    ops: {
      take: {
        run({ mutex, condition, word }) {
          using _guard = mutex.lock();
          if (word[0] === 0) condition.wait(mutex);
          if (word[0]!-- === 0) throw new Error("nothing is there");
        },
      },
      put: {
        run({ mutex, condition, word }) {
          using _guard = mutex.lock();
          word[0]!++;
          condition.notify();
        },
      },
    },
  });
  const takes = [["take"]] as const;
  const o = { primitives: "atomic", states: 20_000 } as const;
  const two = race.check(spec, takes, takes, [["put"], ["put"]], o);
  assert.is(found(two), "exception");
});

test("a loop of whole operations that counts its rounds is found", () => {
  const spec = race.spec({
    memory: () => SpscQueue.create({ capacity: 2 }).buffer,
    agent: (memory) => new SpscQueue(memory),
    ops: {
      push: { run: (queue) => queue.tryPushInt(1) },
      pop: {
        run(queue) {
          let rounds = 0;
          while (queue.tryPopInt() === undefined) rounds++;
          if (rounds === 5) throw new Error("five rounds");
        },
      },
    },
  });
  const result = race.check(spec, [["push"]], [["pop"]], {
    primitives: "atomic",
  });
  assert.is(result.failure?.message.includes("five rounds"), true);
});

test("the code under test may share a queue's bytes with others", () => {
  // What a whole operation reads of the user's words is a step of its own.
  const { Snapshot } = weft;
  const at = Snapshot.byteLength({ size: 8 });
  const spec = race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(at + 8);
      Snapshot.init(memory, 0, { size: 8 });
      return memory;
    },
    agent: (memory) => ({
      snapshot: new Snapshot(memory),
      mine: new Int32Array(memory, at, 2),
    }),
    ops: {
      publish: { run: ({ snapshot, mine }) => snapshot.write(mine) },
      change: { run: ({ mine }) => void (mine[0] = mine[1] = 5) },
    },
  });
  const result = race.check(spec, [["publish"]], [["change"]], {
    primitives: "atomic",
  });
  assert.is(found(result), "data-race");
});

test("what it cannot be given with", () => {
  const primitives = "atomic";
  for (const o of [{ kill: true }, { progress: "lock-free" }] as const) {
    assert.throws(
      () => race.check(locked, [["use"]], { primitives, ...o }),
      /"primitives" cannot be given with/,
    );
  }
  const free = race.spec({
    memory: () => Mutex.create().buffer,
    agent: (memory) => new Mutex(memory),
    ops: { try: { run: (mutex) => mutex.tryLock(), lockFree: true } },
  });
  assert.throws(
    () => race.check(free, [["try"]], { primitives }),
    /operations that are lockFree/,
  );
  assert.throws(
    () => race.check(locked, [["use"]], { primitives: "whole" as "atomic" }),
    /"primitives" must be "atomic"/,
  );
});

test("the classes are as they were afterwards", () => {
  const before = Mutex.prototype.lock;
  race.check(locked, [["use"]], { primitives: "atomic" });
  assert.is(Mutex.prototype.lock, before);
});

test("the table names operations that the scenarios judge", () => {
  const read = (path: string) =>
    fs.readFileSync(
      fileURLToPath(new URL(`../../${path}`, import.meta.url)),
      "utf8",
    );
  const page = read("docs/race_reference.md");
  for (const [stem, names] of Object.entries(WHOLE)) {
    const kind = stem.replaceAll(/(?:^|_)(\w)/g, (_, c) => c.toUpperCase());
    const { prototype } = (weft as unknown as Record<string, () => void>)[
      kind
    ]!;
    for (const name of names) assert.type(prototype[name], "function", name);
    const row = `| \`${kind}\` | ${
      names.map((name) => `\`${name}\``).join(", ")
    } |`;
    assert.ok(page.replaceAll(/ +/g, " ").includes(row), row);
    assert.match(read(`tests/${stem}/scenarios.ts`), /model: /);
  }
});
