// it explores
// The option `sample`: no search, and samples of one kind.
import * as assert from "uvu/assert";
import { LockFreeQueue } from "../../mod.ts";
import { type Options, race, type Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race sampling");

// deno-lint-ignore no-explicit-any
type Any = any;

const memory = () => new SharedArrayBuffer(8);

/**
 * Two agents, of which one must be interrupted after its first step and
 * whenever it goes on, `depth - 1` times in all, for them to fail.
 */
function deep(turns: number, options: Options): Result {
  const words = race.spec({
    memory,
    agent: (memory) => new Int32Array(memory),
    ops: {
      turn: {
        // Each turn is handed over only if the other one was there just then.
        run: (w, me: number) => {
          for (let i = 0; i < turns; i++) {
            if (Atomics.load(w, 0) !== 2 * i + me) return false;
            Atomics.add(w, 0, 1);
            Atomics.load(w, 1);
            Atomics.load(w, 1);
          }
          return true;
        },
      },
    },
    final: (_, results) =>
      results.flat().every(Boolean) ? "all turns were taken" : undefined,
  });
  return race.check(words, [["turn", 0]], [["turn", 1]], options) as Result;
}

const right = (options: Options) =>
  race.check(
    race.spec({
      memory,
      agent: (memory) => new Int32Array(memory),
      ops: { add: { run: (w) => Atomics.add(w, 0, 1) } },
    }),
    [["add"], ["add"]],
    [["add"], ["add"]],
    options,
  );

test("a search is left out, and the summary says which way it was", () => {
  const told = (options: Options) => right({ runs: 20, ...options }).summary;
  assert.is(told({ sample: "random" }), "sampled: 20 executions, at random");
  assert.is(
    told({ sample: "order" }),
    "sampled: 20 executions, by partial order sampling",
  );
  assert.is(
    told({ sample: "pct" }),
    "sampled: 20 executions, by PCT of depth 3",
  );
  assert.is(
    told({ sample: "pct", depth: 7 }),
    "sampled: 20 executions, by PCT of depth 7",
  );
  const { complete, states } = right({ sample: "random", runs: 20 });
  assert.equal([complete, states], [false, 0]);
});

test("samples go on until the time is over, if no number is given", () => {
  const { executions, summary } = right({ sample: "random", time: 200 });
  assert.ok(executions > 300, summary);
  assert.match(summary, /executions in 0\.2 seconds, at random$/);
});

test("a failure needs as many changes of priority as PCT is deep", () => {
  const runs = 2000;
  // Two agents: priorities change twice at least for the turns 0, 1, 0.
  const shallow = deep(2, { sample: "pct", depth: 1, runs });
  assert.is(shallow.failure, undefined);
  const enough = deep(2, { sample: "pct", depth: 4, runs });
  assert.is(enough.failure?.kind, "invariant");
  const random = deep(2, { sample: "random", runs });
  assert.is(random.failure?.kind, "invariant");
  const order = deep(2, { sample: "order", runs });
  assert.is(order.failure?.kind, "invariant");
});

test("hints that a sample finds have what words held at its start", () => {
  const push = (n: number) => (memory: SharedArrayBuffer) =>
    new LockFreeQueue(memory).pushInt(n);
  const pop = (memory: SharedArrayBuffer) => {
    const queue = new LockFreeQueue(memory);
    return queue.popInt() + queue.popInt();
  };
  const made = () => LockFreeQueue.create({ capacity: 2, agents: 4 }).buffer;
  for (const sample of ["random", "order", "pct"] as const) {
    const options = { sample, runs: 30 };
    const after = (_: unknown, [, , sum]: unknown[]) =>
      sum === 3 ? undefined : `the sum is ${sum}`;
    const bodies = [push(1), push(2), pop] as const;
    race.agents({ memory: made }, ...bodies, { ...options, after } as Any);
  }
});

test("a failure that was sampled replays", () => {
  const { failure } = deep(2, { sample: "random", runs: 2000 });
  const replayed = race.replay(
    race.spec({
      memory,
      agent: (memory) => new Int32Array(memory),
      ops: { turn: { run: (w) => Atomics.load(w, 0) } },
    }),
    failure!.program,
    "0 1",
  );
  assert.ok(replayed.ok);
  assert.match(failure!.schedule, /^[01]/);
});

test("a way or a depth that does not exist is refused", () => {
  const refused = (options: Any, error: Any) => {
    assert.throws(() => right(options), (e: Error) => e instanceof error);
  };
  refused({ sample: "fast" }, TypeError);
  refused({ sample: "pct", depth: "3" }, TypeError);
  refused({ sample: "pct", depth: 0 }, RangeError);
  refused({ sample: "pct", depth: 1.5 }, RangeError);
});

test("PCT changes priorities to low ones in any order", () => {
  const seen = new Set<string>();
  const twice = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    return [Atomics.add(words, 0, 1), Atomics.add(words, 0, 1)];
  };
  const after = (_: unknown, results: Any[]) => {
    const order: number[] = [];
    results.forEach((moments, id) =>
      moments.forEach((moment: number) => order[moment] = id)
    );
    seen.add(order.join(""));
  };
  const options = { sample: "pct", depth: 3, runs: 5000, after } as const;
  race.agents({ memory }, twice, twice, twice, options);
  // Two agents are interrupted; the first of them goes on first, or last.
  for (const order of ["012201", "012210", "120012", "120021"]) {
    assert.ok(seen.has(order), order);
  }
});
