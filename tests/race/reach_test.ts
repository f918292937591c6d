// it explores
// Tests that agents that do the same are explored in one order only, and that
// this changes no verdict.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { race, RaceError, type Result } from "../../race/mod.ts";
import { takesAtMost } from "../../race/engine/state/twins.ts";
import { suite } from "../_run/harness.ts";
import { REACH } from "./corpus/reach.ts";

const test = suite("race reach", 60_000);

type Body = (memory: SharedArrayBuffer, id: number) => unknown;

/** Explores agents, with and without the reduction. */
function both(
  bodies: readonly Body[],
  options: { after?: (memory: SharedArrayBuffer) => string | undefined } = {},
): [reduced: Result, whole: Result] {
  const run = (reduce: boolean): Result => {
    try {
      return race.agents(
        { memory: () => new SharedArrayBuffer(16) },
        ...bodies,
        { ...options, reduce, runs: 0 },
      ) as Result;
    } catch (error) {
      if (error instanceof RaceError) return error.result;
      throw error;
    }
  };
  return [run(true), run(false)];
}

const verdict = ({ failure, complete }: Result) => failure?.kind ?? complete;

const QUICK = [
  "spinlock, 3 agents",
  "futex mutex, 2 agents",
  "ticket lock, 3 agents",
  "Treiber stack with tags, 2 agents",
  "Michael-Scott queue, 2 agents",
  "sequence lock, 1 writer, 2 readers",
  "stack with tags, 2 agents",
  "stack without tags, 2 agents",
];

for (const { name, kind, run } of REACH) {
  if (!QUICK.includes(name)) continue;
  test(`${name}: the same verdict with and without reductions`, () => {
    const reduced = run({ runs: 0 });
    const whole = run({ runs: 0, reduce: false });
    assert.is(verdict(reduced), kind ?? true);
    assert.is(verdict(whole), kind ?? true);
    assert.ok(reduced.states <= whole.states);
  });
}

test("a spinlock of five agents has few states", () => {
  const { run } = REACH.find(({ name }) => name === "spinlock, 5 agents")!;
  const result = run({ runs: 0 });
  assert.ok(result.complete, result.summary);
  assert.ok(result.states < 2000, result.summary);
});

test("the bug of a stack without tags takes few executions", () => {
  const { run } = REACH.find(({ name }) =>
    name === "stack without tags, 2 agents"
  )!;
  const { executions, failure } = run({ runs: 0 });
  assert.is(failure?.kind, "exception");
  assert.ok(executions <= 10, `${executions} executions`);
});

test("agents that do the same sleep and wake in any order", () => {
  const sleep: Body = (memory) => {
    const words = new Int32Array(memory);
    Atomics.wait(words, 0, 0);
    Atomics.add(words, 1, 1);
  };
  const wake = (n: number): Body => (memory) => {
    const words = new Int32Array(memory);
    Atomics.store(words, 0, 1);
    Atomics.notify(words, 0, n);
  };
  for (const [n, expected] of [[2, true], [1, "deadlock"]] as const) {
    const [reduced, whole] = both([sleep, sleep, wake(n)]);
    assert.is(verdict(reduced), expected);
    assert.is(verdict(whole), expected);
    if (n === 2) assert.ok(reduced.states < whole.states);
  }
});

test("agents that do the same are judged by a model", () => {
  /** A semaphore; with `wakes` false, a release wakes nobody. */
  const semaphore = (wakes: boolean) =>
    race.spec({
      memory: () => {
        const memory = new SharedArrayBuffer(4);
        new Int32Array(memory)[0] = 1;
        return memory;
      },
      agent: (memory) => new Int32Array(memory),
      init: 1,
      ops: {
        acquire: {
          run: (w) => {
            for (;;) {
              const free = Atomics.load(w, 0);
              if (free === 0) Atomics.wait(w, 0, 0);
              else if (
                Atomics.compareExchange(w, 0, free, free - 1) === free
              ) return;
            }
          },
          model: (free: number) => free > 0 ? [free - 1, undefined] : null,
        },
        release: {
          run: (w) => {
            Atomics.add(w, 0, 1);
            if (wakes) Atomics.notify(w, 0, 1);
          },
          model: (free: number) => [free + 1, undefined],
        },
      },
    });
  const turn = [["acquire"], ["release"]] as const;
  for (const wakes of [true, false]) {
    const check = (reduce: boolean) =>
      race.check(semaphore(wakes), turn, turn, turn, { reduce, runs: 0 });
    const [reduced, whole] = [check(true), check(false)];
    assert.is(verdict(reduced), wakes || "lost-wakeup");
    assert.is(verdict(whole), wakes || "lost-wakeup");
    if (wakes) assert.ok(3 * reduced.states < whole.states, reduced.summary);
  }
});

/** A line of a random program: an operation, a word, and three numbers. */
type Line = readonly [op: number, at: number, a: number, b: number, c: number];

/** What an agent does that runs `lines`. */
const bodyOf = (lines: readonly Line[]): Body => (memory) => {
  const w = new Int32Array(memory);
  let last = 0;
  for (const [op, at, a, b, c] of lines) {
    if (op === 0) last = Atomics.load(w, at);
    if (op === 1) Atomics.store(w, at, a);
    if (op === 2) last = Atomics.compareExchange(w, at, a, b);
    if (op === 3) last += Atomics.add(w, at, 1);
    if (op === 4 && last === a) {
      last = Atomics.wait(w, at, b, c < 2 ? 10 + a : Infinity).length;
    }
    if (op === 5) Atomics.notify(w, at, c === 0 ? 1 : Infinity);
    if (op === 6 && last === a) w[at] = b;
    if (op === 7) { for (let n = 0; n < c && Atomics.load(w, at) === a;) n++; }
  }
  if (last === 7) throw new Error("seven");
};

test("random programs: the same verdict with and without reductions", () => {
  const line = fc.tuple(
    ...[7, 1, 2, 2, 3].map((max) => fc.nat(max)),
  ) as unknown as fc.Arbitrary<Line>;
  const lines = fc.array(line, { minLength: 2, maxLength: 5 });
  // WEFT_PROGRAMS tries more of them.
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? 30);
  const programs = fc.sample(fc.tuple(lines, lines), { numRuns, seed: 1 });
  for (const [twin, other] of programs) {
    const one = bodyOf(twin);
    for (const bodies of [[one, one], [one, one, bodyOf(other)]]) {
      const [reduced, whole] = both(bodies);
      const text = JSON.stringify([twin, other]);
      assert.is(reduced.complete, whole.complete, text);
      assert.is(reduced.ok, whole.ok, text);
    }
  }
});

test("an agent's number, or chance, tells agents apart", () => {
  const numbered: Body = (memory, id) => {
    const words = new Int32Array(memory);
    if (Atomics.add(words, 0, 1) === 0 && id === 1) throw new Error("1 first");
  };
  const hidden: Body = function (memory) {
    const words = new Int32Array(memory);
    const id = arguments[1];
    if (Atomics.add(words, 0, 1) === 0 && id === 1) throw new Error("1 first");
  };
  const random: Body = (memory) => {
    const words = new Int32Array(memory);
    const mine = Math.random() * 1000 | 0;
    const order = Atomics.add(words, 0, 1);
    Atomics.store(words, 1 + order, mine);
  };
  for (const body of [numbered, hidden]) {
    for (const result of both([body, body])) {
      assert.is(verdict(result), "exception");
    }
  }
  const firsts = new Set<number>();
  const after = (memory: SharedArrayBuffer) => {
    firsts.add(new Int32Array(memory)[1]!);
    return undefined;
  };
  const [reduced] = both([random, random], { after });
  assert.ok(reduced.complete);
  assert.is(firsts.size, 2);
});

test("operations are the same only if they are judged in the same way", () => {
  const run = (words: Int32Array) => Atomics.add(words, 0, 1);
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory: SharedArrayBuffer) => new Int32Array(memory),
    init: 0,
    ops: {
      counts: { run, model: (n: number) => [n + 1, n] },
      isFirst: { run, model: (n: number) => [n + 1, 0] },
    },
  });
  const spin = (words: Int32Array) => {
    while (Atomics.exchange(words, 0, 1) !== 0);
    Atomics.store(words, 0, 0);
  };
  const locks = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory: SharedArrayBuffer) => new Int32Array(memory),
    ops: {
      lock: { run: spin },
      lockFree: { run: spin, lockFree: true },
    },
  });
  for (const reduce of [true, false]) {
    const counted = race.check(spec, [["counts"]], [["isFirst"]], { reduce });
    assert.is(verdict(counted), "not-linearizable");
    const locked = race.check(locks, [["lock"]], [["lockFree"]], { reduce });
    assert.is(verdict(locked), "not-lock-free");
  }
});

test("what a function surely takes", () => {
  const sure = [
    (_: unknown) => 0,
    function (_: unknown) {},
    async () => {},
    {
      run(_: unknown) {},
    }.run,
    ({ a }: { a: number }) => a,
  ];
  const unsure = [
    (_: unknown, __: unknown) => 0,
    (_ = 1, __ = 2) => 0,
    (_: unknown, ...__: unknown[]) => 0,
    Math.abs,
    ((_: unknown) => 0).bind(null),
  ];
  for (const fn of sure) assert.ok(takesAtMost(fn, 1), `${fn}`);
  for (const fn of unsure) assert.not(takesAtMost(fn, 1), `${fn}`);
});
