// it explores
// Programs as properties: the smallest that fails is found and shown.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { race, RaceError } from "../../race/mod.ts";
import type { CallTuple, Generated, Result } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { BUGS } from "./corpus/bugs.ts";
import { load } from "./corpus/load.ts";
import type { Module } from "./corpus/families.ts";
import * as queueOps from "./corpus/queue_ops.ts";

const right = await load();
const test = suite("race properties");
const bugOf = (id: string) => load(BUGS.find((bug) => bug.id === id));

function permits({ Semaphore }: Module) {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(16);
      Semaphore.init(memory, 0, 1);
      return memory;
    },
    agent: (memory) => new Semaphore(memory),
    init: 1,
    ops: {
      acquire: {
        run: (s) => s.acquire(),
        model: (n: number) => n > 0 ? [n - 1, undefined] : null,
      },
      release: {
        arg: fc.integer({ min: 1, max: 2 }),
        run: (s, n) => s.release(n),
        model: (free: number, n) => [free + n, undefined],
      },
    },
  });
}

test("holds for right code", () => {
  race.assert(permits(right), { agents: 2, ops: 2, programs: 40, seed: 1 });
});

test("finds a wrong one, and the smallest program", async () => {
  const spec = permits(await bugOf("SE1"));
  try {
    race.assert(spec, { agents: 3, ops: 3, states: 4000, runs: 60, seed: 42 });
  } catch (error) {
    assert.instance(error, RaceError);
    const { kind, program, message } = error as RaceError;
    assert.is(kind, "lost-wakeup");
    const calls = program.match(/acquire|release/g)!;
    assert.ok(calls.length <= 3, program);
    assert.match(message, /seed 42/);
    assert.match(message, /schedule "/);
    return;
  }
  assert.unreachable();
});

test("is an ordinary property of fast-check", async () => {
  const spec = permits(await bugOf("SE4"));
  const options = { agents: 2, ops: 2 };
  const property = race.property(spec, options) as fc.IProperty<[Generated]>;
  const details = fc.check(property, { seed: 3 });
  assert.ok(details.failed);
  const again = fc.check(property, {
    seed: 3,
    path: details.counterexamplePath!,
    endOnFailure: true,
  });
  assert.equal(
    String(again.counterexample![0]),
    String(details.counterexample![0]),
  );
});

test("lets only the agents call an operation that may", () => {
  const seen = new Set<string>();
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    ops: {
      mine: { run: (_, __, id) => seen.add(`mine ${id}`) && 0, agents: [0] },
      yours: { run: (_, __, id) => seen.add(`yours ${id}`) && 0, agents: [1] },
    },
  });
  race.assert(spec, { agents: 3, programs: 30, seed: 5 });
  assert.equal([...seen].sort(), ["mine 0", "yours 1"]);
});

test("asserts asynchronous specifications", async () => {
  const build = (width: number) =>
    race.spec({
      async: true,
      memory: () => new SharedArrayBuffer(8),
      agent: (memory) => new Int32Array(memory),
      init: 0,
      ops: {
        add: {
          run: async (w) => {
            if (width === 1) return Atomics.add(w, 0, 1);
            const before = Atomics.load(w, 0);
            await Promise.resolve();
            Atomics.store(w, 0, before + 1);
            return before;
          },
          model: (n: number) => [n + 1, n],
        },
      },
    });
  await race.assert(build(1), { ops: 2, programs: 20, seed: 1 });
  let kind: string | undefined;
  try {
    await race.assert(build(2), { ops: 2, programs: 50, seed: 1 });
  } catch (error) {
    kind = (error as RaceError).kind;
  }
  assert.is(kind, "not-linearizable");
});

test("operations that return promises need not say so for assert", async () => {
  const build = () =>
    race.spec({
      memory: () => new SharedArrayBuffer(4),
      agent: (memory) => new Int32Array(memory),
      init: 0,
      ops: {
        add: {
          run: (w) => Promise.resolve(Atomics.add(w, 0, 1)),
          model: (n: number) => [n + 1, n],
        },
      },
    });
  const { programs } = await race.assert(build(), { programs: 9, seed: 1 });
  assert.is(programs, 9);
  const spec = build();
  const { errorInstance } = fc.check(
    race.property(spec) as fc.IProperty<[Generated]>,
  );
  assert.match(String(errorInstance), /TypeError: The operations return prom/);
  // It has left no exploration behind.
  const { complete } = race.agents(
    { memory: () => new SharedArrayBuffer(4) },
    () => {},
  );
  assert.ok(complete);
});

test("no worker goes on when a stress test has ended", async () => {
  const url = new URL("./fixtures/odd_ends.ts", import.meta.url);
  for (const name of ["default", "leaving"]) {
    // The other worker waits for the one that failed.
    await race.stress(url, { seconds: 5, name }).catch(() => {});
  }
  // The engine itself may clean up for a while, but not all the time.
  let least = Infinity;
  for (let i = 0; i < 5 && least > 100_000; i++) {
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 400));
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  assert.ok(least <= 100_000, `${least} µs of processor time`);
});

test("stresses the real thing", async () => {
  const url = new URL("./corpus/queue_ops.ts", import.meta.url);
  assert.ok(queueOps.default);
  const { ok, histories } = await race.stress(url, { seconds: 1 });
  assert.ok(ok && histories > 0);
  try {
    await race.stress(url, { seconds: 5, name: "broken" });
  } catch (error) {
    // The mistake may also make an operation go round for ever.
    const { kind } = error as RaceError;
    assert.ok(kind === "not-linearizable" || kind === "lost-wakeup", kind);
  }
});

test("a stress test tells what a worker threw, and what the end is", async () => {
  const url = new URL("./fixtures/odd_ends.ts", import.meta.url);
  const failure = async (name: string): Promise<string> => {
    try {
      await race.stress(url, { seconds: 5, name });
      return "nothing";
    } catch (error) {
      assert.instance(error, RaceError);
      return `${(error as RaceError).kind}: ${(error as RaceError).message}`;
    }
  };
  assert.match(await failure("default"), /^exception: .*no agent 1 here/);
  assert.match(await failure("throwing"), /^invariant: .*the end is wrong/);
  assert.match(await failure("denying"), /^invariant: .*returned false/);
  assert.match(await failure("leaving"), /^exception: .*agent 1 ended: code 3/);
  const error = async (name: string, seconds: number): Promise<string> => {
    try {
      await race.stress(url, { seconds, name });
      return "nothing";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(await error("early", 5), /the worker of agent \d ended: code 4/);
  const left = /every generated program might wait for ever: none was run$/;
  for (const name of ["waiting", "forgetful"]) {
    assert.match(await error(name, 0.2), left);
  }
  // deno-lint-ignore no-explicit-any
  const loose = race as any;
  const wrong = await loose.stress("./x.ts").catch((error: Error) => error);
  assert.match(wrong.message, /^The module must be a URL, .*"\.\/x\.ts"$/);
});

test("an interruption by fast-check is told", () => {
  const sound = race.spec({
    memory: () => new SharedArrayBuffer(4),
    agent: (memory) => new Int32Array(memory),
    ops: { add: { run: (w) => Atomics.add(w, 0, 1) } },
  });
  fc.configureGlobal({
    interruptAfterTimeLimit: 0,
    markInterruptAsFailure: true,
  });
  try {
    assert.throws(
      () => race.assert(sound),
      /fast-check was interrupted after \d+ programs/,
    );
  } finally {
    fc.resetConfigureGlobal();
  }
});

test("agent 0 may begin and end alone", () => {
  const seen = new Set<string>();
  const log = race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    ops: {
      add: {
        arg: fc.integer({ min: 1, max: 3 }),
        run: (w, n: number) => {
          // A word that is the last one's, in decimal digits.
          for (;;) {
            const before = Atomics.load(w, 0);
            const after = before * 10 + n;
            if (Atomics.compareExchange(w, 0, before, after) === before) return;
          }
        },
      },
    },
    final: (memory) => {
      seen.add(`${new Int32Array(memory)[0]}`);
    },
  });
  const first: CallTuple[] = [["add", 1], ["add", 2], ["add", 9]];
  const second: CallTuple[] = [["add", 3], ["add", 4]];
  const result = race.check(log, first, second, {
    begin: 1,
    end: 1,
  }) as Result;
  assert.ok(result.complete, result.summary);
  assert.equal([...seen].toSorted(), ["12349", "13249", "13429"]);

  const wrong = race.spec({
    ...log.definition,
    final: (memory) => {
      const order = `${new Int32Array(memory)[0]}`;
      return /^11.*2$/.test(order) ? `the order is ${order}` : undefined;
    },
  });
  try {
    race.assert(wrong, { begin: 2, end: 1, ops: 1, programs: 400, seed: 7 });
    assert.unreachable();
  } catch (error) {
    assert.instance(error, RaceError);
    const { program, schedule } = error as RaceError;
    assert.match(program, /^first add\(1\)/);
    assert.ok(schedule.startsWith("0"), schedule);
  }
});
