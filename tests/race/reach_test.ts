// Tests that agents that do the same are explored in one order only, and that
// this changes no verdict.
import * as assert from "uvu/assert";
import { race, RaceError, type Result } from "../../race/mod.ts";
import { takesAtMost } from "../../race/engine/twins.ts";
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

test("an agent's number, or chance, tells agents apart", () => {
  const numbered: Body = (memory, id) => {
    const words = new Int32Array(memory);
    if (Atomics.add(words, 0, 1) === 0 && id === 1) throw new Error("1 first");
  };
  const hidden: Body = function (memory) {
    const words = new Int32Array(memory);
    // deno-lint-ignore prefer-rest-params
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
