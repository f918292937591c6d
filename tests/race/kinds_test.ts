// it explores
// One pair of programs for each kind of failure in the guide's table: the first
// fails with that kind, and the second, which differs in as little as possible,
// does not fail.
import * as fs from "node:fs";
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { CallTuple, FailureKind, Options } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race kinds");

// deno-lint-ignore no-explicit-any
type Any = any;
type Words = Int32Array<SharedArrayBuffer>;
type Body = (words: Words, id: number) => unknown;

/** A program, and its options. */
interface Row {
  readonly wrong: readonly Body[];
  readonly right: readonly Body[];
  readonly options?: Options;
  /** What the operations do to a number, if there is a model. */
  readonly model?: { init: number; step: (n: number, id: number) => Any };
  readonly final?: (words: Words) => string | undefined;
}

/** Agent `id` calls the body number `id`, once. */
function explore(bodies: readonly Body[], row: Row) {
  const { model, final, options = {} } = row;
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(32),
    agent: (memory: Any) => new Int32Array(memory),
    ...model && { init: model.init },
    ops: Object.fromEntries(bodies.map((body, id) => [`body${id}`, {
      run: (words: Words) => body(words, id),
      ...model && { model: (n: number) => model.step(n, id) },
    }])),
    ...final && { final: (memory: Any) => final(new Int32Array(memory)) },
  } as Any);
  const program = bodies.map((_, id): CallTuple[] => [[`body${id}`]]);
  return race.check(spec as Any, ...program as Any, options);
}

const twice = (body: Body): Body[] => [body, body];

// ---- pieces -----------------------------------------------------------------

const add: Body = (w) => Atomics.add(w, 0, 1);

/** Adds in two steps, between which another agent may step in. */
const loadAndStore: Body = (w) => {
  const n = Atomics.load(w, 0);
  Atomics.store(w, 0, n + 1);
  return n;
};

const look: Body = (w) => {
  while (Atomics.load(w, 0) === 0);
};

const set: Body = (w) => void Atomics.store(w, 0, 1);

const enter = (w: Words, at: number): void => {
  while (Atomics.compareExchange(w, at, 0, 1) !== 0) Atomics.wait(w, at, 1);
};

const leave = (w: Words, at: number): void => {
  Atomics.store(w, at, 0);
  Atomics.notify(w, at, 1);
};

/** Takes two locks, and gives them back. */
const both = (first: number, second: number): Body => (w) => {
  enter(w, first);
  enter(w, second);
  leave(w, second);
  leave(w, first);
};

/** A count behind a lock for which an agent only looks. */
const locked: Body = (w) => {
  while (Atomics.compareExchange(w, 1, 0, 1) !== 0);
  const n = loadAndStore(w, 0);
  Atomics.store(w, 1, 0);
  return n;
};

const peterson: Body = (w, id) => {
  Atomics.store(w, id, 1);
  Atomics.store(w, 2, 1 - id);
  while (Atomics.load(w, 1 - id) === 1 && Atomics.load(w, 2) === 1 - id);
  Atomics.store(w, id, 0);
};

let calls = 0;

// ---- the table --------------------------------------------------------------

const counts = {
  init: 0,
  step: (n: number) => [n + 1, n],
};

const sleep: Body = (w) => void Atomics.wait(w, 0, 0);

/** Agent 0 waits until the word is 1, and agent 1 makes it 1. */
const waits = {
  init: 0,
  step: (n: number, id: number) =>
    id === 1 ? [1, undefined] : n === 1 ? [n, undefined] : null,
};

const TABLE: Readonly<Record<FailureKind, Row>> = {
  "not-linearizable": {
    wrong: twice(loadAndStore),
    right: twice(add),
    model: counts,
  },
  "lost-wakeup": {
    wrong: [sleep, (w) => {
      Atomics.notify(w, 0);
      Atomics.store(w, 0, 1);
    }],
    right: [sleep, (w) => {
      Atomics.store(w, 0, 1);
      Atomics.notify(w, 0);
    }],
    model: waits,
  },
  deadlock: {
    wrong: [both(0, 1), both(1, 0)],
    right: [both(0, 1), both(0, 1)],
  },
  livelock: {
    wrong: [look, (w) => void Atomics.load(w, 0)],
    right: [look, set],
  },
  starvation: {
    wrong: twice((w) => {
      while (Atomics.compareExchange(w, 0, 0, 1) !== 0);
      Atomics.store(w, 0, 0);
    }),
    right: twice(peterson),
    options: { starvation: true },
  },
  "data-race": {
    wrong: [(w) => void (w[0] = 1), (w) => w[0]],
    right: [(w) => void (w[0] = 1), (w) => w[1]],
  },
  "not-lock-free": {
    wrong: twice(locked),
    right: twice(add),
    model: counts,
    options: { progress: "lock-free" },
  },
  "damaged-by-kill": {
    wrong: twice(locked),
    right: twice(add),
    model: counts,
    options: { kill: true },
  },
  invariant: {
    wrong: twice((w) => void loadAndStore(w, 0)),
    right: twice((w) => void add(w, 0)),
    final: (w) => w[0] === 2 ? undefined : `the count is ${w[0]}`,
  },
  "out-of-bounds": {
    wrong: twice((w) => w[Atomics.add(w, 0, 1) + 7]),
    right: twice((w) => w[Atomics.add(w, 0, 1) + 6]),
  },
  "use-after-free": {
    wrong: [(w) => race.free(w.subarray(1, 2)), (w) => Atomics.load(w, 1)],
    right: [(w) => race.free(w.subarray(1, 2)), (w) => Atomics.load(w, 0)],
  },
  exception: {
    wrong: twice((w) => {
      if (Atomics.add(w, 0, 1) === 1) throw new Error("full");
    }),
    right: twice((w) => {
      if (Atomics.add(w, 0, 1) === 2) throw new Error("full");
    }),
  },
  nondeterministic: {
    wrong: twice((w) => Atomics.add(w, calls++ % 7, 1)),
    right: twice((w) => {
      calls++;
      Atomics.add(w, 0, 1);
    }),
  },
};

for (const [kind, row] of Object.entries(TABLE)) {
  test(`${kind} is found, and not in the program that is right`, () => {
    const { failure, summary } = explore(row.wrong, row);
    assert.is(failure?.kind, kind, failure?.message ?? summary);
    const result = explore(row.right, row);
    const { failure: none } = result;
    assert.is(none, undefined, `${none?.message}\n${none?.table}`);
    assert.ok(result.complete, result.summary);
  });
}

test("the guide's table has these kinds, and no others", () => {
  const page = new URL("../../docs/race_testing.md", import.meta.url);
  const text = fs.readFileSync(page, "utf8");
  const table = text.slice(text.indexOf("## What it finds"));
  const end = table.indexOf("## The options");
  const told = [...table.slice(0, end).matchAll(/^\| `([a-z-]+)` /gm)]
    .map(([, kind]) => kind);
  assert.equal(told.toSorted(), Object.keys(TABLE).toSorted());
});
