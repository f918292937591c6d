// What a result promises: its bounds are told, and counted instead of timed.
import process from "node:process";
import { inspect } from "node:util";
import fc from "../_run/property.ts";
import * as assert from "uvu/assert";
import { race, RaceError } from "../../race/mod.ts";
import { COMPARE } from "../../race/explore/runs/task.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { fails } from "./asserts.ts";

const test = suite("race bounds");

/** An agent that sleeps `sleeps` times for a word that nobody changes. */
const sleeper = (sleeps: number) =>
  race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    ops: {
      sleep: {
        run: (w) => {
          let ended = 0;
          for (let i = 0; i < sleeps; i++) {
            if (Atomics.wait(w, 0, 0, 10) === "timed-out") ended++;
          }
          return ended;
        },
      },
      walk: {
        run: (w) => {
          for (let i = 0; i < 4; i++) Atomics.add(w, 1, 1);
          Atomics.store(w, 0, 1);
          Atomics.notify(w, 0);
        },
      },
    },
  });

test("a bound that left something out stands beside the word complete", () => {
  const program = [[["sleep"]], [["walk"]]] as const;
  const few = race.check(sleeper(3), ...program);
  assert.equal(few.bounds, ["2 timeouts"]);
  assert.match(few.summary, /^complete up to 2 timeouts: \d+ states/);
  const all = race.check(sleeper(3), ...program, { timeouts: 3 });
  assert.equal(all.bounds, []);
  assert.match(all.summary, /^complete: \d+ states/);
});

test("one kill, and one spurious wake, are bounds, too", () => {
  const program = [[["sleep"]], [["walk"]]] as const;
  const woken = race.check(sleeper(2), ...program, { spurious: 1 });
  assert.equal(woken.bounds, ["1 spurious wake"]);
  const adds = [["add"], ["add"]] as const;
  const killed = race.check(adding, adds, adds, { kill: true });
  assert.equal(killed.bounds, ["1 terminated agent"]);
});

test("an interval that goes on when all calls have ended is a bound", async () => {
  const ticks = (ends: boolean) => async (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    await new Promise<void>((resolve) => {
      const interval = setInterval(() => {
        if (Atomics.add(words, 0, 1) < 1) return;
        if (ends) clearInterval(interval);
        resolve();
      }, 5);
    });
  };
  const memory = () => new SharedArrayBuffer(4);
  const cleared = await race.agents({ memory }, ticks(true));
  assert.equal(cleared.bounds, []);
  const left = await race.agents({ memory }, ticks(false));
  assert.equal(left.bounds, ["intervals that outlive their calls"]);
});

test("bounds that ended a search stand in the result", () => {
  const program = [[["sleep"], ["walk"]], [["walk"], ["sleep"]]] as const;
  const few = race.check(sleeper(3), ...program, { states: 20, runs: 5 });
  assert.not(few.complete);
  assert.equal(few.bounds[0], "20 states");
  assert.match(
    few.summary,
    /^sampled: 5 executions, after the first \d+ states/,
  );
  const counter = race.check(counting, [["count"]], {
    maxSteps: 10,
    runs: 2,
  });
  assert.equal(counter.bounds, ["10 steps of a call"], counter.summary);
  assert.match(counter.summary, "10 steps");
});

test("an operation that comes to many words is not taken for a livelock", () => {
  const many = 2200;
  const memory = () => new SharedArrayBuffer(4 * many + 8);
  const fills = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    words.fill(7, 0, many);
    Atomics.store(words, many, 1);
  };
  const reads = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    if (Atomics.load(words, many) === 0) return 0;
    return words.reduce((sum, word) => sum + word) -
      Atomics.load(words, many + 1);
  };
  const result = race.agents({ memory }, fills, reads, {
    after: (_, [, sum]) => sum === 0 || sum === 7 * many + 1 ? "" : `${sum}`,
  });
  assert.is(result.complete, true, result.summary);
  assert.equal(result.bounds, []);
  // Another step that counts does not make those after it count.
  const counts = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    words.fill(7, 0, 40);
    for (let i = 0; i < 3; i++) Atomics.add(words, many, 1);
    words.fill(7, 40, 80);
  };
  const looks = (memory: SharedArrayBuffer) => {
    Atomics.load(new Int32Array(memory), many);
  };
  const short = { maxSteps: 20, runs: 20 };
  assert.is(race.agents({ memory }, counts, looks, short).ok, true);
  const ring = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory, 0, 100);
    for (let i = 0;; i++) Atomics.add(words, i % 100, 1);
  };
  try {
    race.agents({ memory }, ring, ring, { maxSteps: 30, lines: false });
    assert.unreachable("it has no end");
  } catch (error) {
    if (!(error instanceof RaceError)) throw error;
    fails(error.result, "livelock");
  }
});

const counting = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new Int32Array(memory),
  ops: {
    count: {
      run: (w) => {
        for (let i = 0; i < 12; i++) Atomics.add(w, 0, 1);
      },
    },
  },
});

/** An agent of Peterson's filter lock of `levels` agents. */
const filter = (levels: number) => (memory: SharedArrayBuffer, id: number) => {
  const w = new Int32Array(memory);
  for (let level = 1; level < levels; level++) {
    Atomics.store(w, id, level);
    Atomics.store(w, levels + level, id);
    for (let other = 0; other < levels; other++) {
      if (other === id) continue;
      while (
        Atomics.load(w, other) >= level &&
        Atomics.load(w, levels + level) === id
      );
    }
  }
  w[2 * levels]! += 1;
  Atomics.store(w, id, 0);
};

test("the same program has the same answer, if agents are compared", () => {
  const levels = all() ? 3 : 2;
  const usual = { ...COMPARE };
  Object.assign(COMPARE, { after: all() ? 10_000 : 50, soon: 0 });
  const explore = () =>
    race.agents(
      { memory: () => new SharedArrayBuffer(28) },
      ...Array(levels).fill(filter(levels)),
      { time: 600_000 },
    );
  try {
    const first = explore();
    assert.ok(first.complete, first.summary);
    assert.ok(first.states > COMPARE.after, first.summary);
    assert.is(explore().summary, first.summary);
  } finally {
    Object.assign(COMPARE, usual);
  }
}, 600_000);

test("an exchange that writes what was there is a look", () => {
  const waits = (look: (w: Int32Array) => number) =>
    race.agents(
      { memory: () => new SharedArrayBuffer(4) },
      (memory) => {
        const w = new Int32Array(memory);
        while (look(w) === 0);
      },
      (memory) => {
        Atomics.store(new Int32Array(memory), 0, 1);
      },
    );
  const loads = waits((w) => Atomics.load(w, 0));
  const exchanges = waits((w) => Atomics.compareExchange(w, 0, 0, 0));
  assert.ok(exchanges.complete, exchanges.summary);
  assert.is(exchanges.states, loads.states);
  assert.match(exchanges.summary, "tried, not proven");
});

test("a look may write what no element holds in that form", () => {
  const waits = (look: (w: Uint32Array) => unknown, first = 1) =>
    race.agents(
      { memory: () => new SharedArrayBuffer(8) },
      (memory) => {
        const w = new Uint32Array(memory);
        while (look(w) !== 2);
      },
      (memory) => {
        const w = new Uint32Array(memory);
        Atomics.store(w, 0, first);
        Atomics.store(w, 0, 2);
      },
      { reduce: false },
    );
  const high = 2 ** 31;
  const loads = waits((w) => Atomics.load(w, 0), high);
  const looks: ((w: Uint32Array) => number)[] = [
    (w) => Atomics.or(w, 0, 0),
    (w) => Atomics.and(w, 0, -1),
    (w) => Atomics.add(w, 0, 2 ** 32),
    (w) => Atomics.compareExchange(w, 0, high, high),
  ];
  for (const look of looks) {
    const result = waits(look, high);
    assert.ok(result.complete, result.summary);
    assert.is(result.states, loads.states, `${look}`);
  }
  const stores = waits((w) => {
    Atomics.store(w, 1, -1);
    return Atomics.load(w, 0);
  });
  assert.ok(stores.complete, stores.summary);
  const locks = (
    view: (memory: SharedArrayBuffer) => Uint32Array | Int8Array,
    taken: number,
  ) => {
    const agent = (memory: SharedArrayBuffer) => {
      const w = view(memory);
      while (Atomics.exchange(w, 0, taken) !== 0);
      Atomics.store(w, 0, 0);
    };
    const memory = () => new SharedArrayBuffer(4);
    return race.agents({ memory }, agent, agent, { reduce: false });
  };
  for (
    const result of [
      locks((memory) => new Uint32Array(memory), -1),
      locks((memory) => new Int8Array(memory), 255),
    ]
  ) assert.ok(result.complete, result.summary);
});

test("the time that a search had is told if it ended the search", () => {
  const { ok, complete, summary } = race.check(
    sleeper(6),
    [["sleep"], ["sleep"]],
    [["walk"], ["walk"]],
    { time: 1, runs: 1 },
  );
  assert.ok(ok && (complete || / 0.001 seconds/.test(summary)), summary);
});

const adding = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new Int32Array(memory),
  init: 0,
  ops: {
    add: { run: (w) => Atomics.add(w, 0, 1), model: (n) => [n + 1, n] },
  },
});

test("loops that count as endless are a bound", () => {
  const loads = race.agents(
    { memory: () => new SharedArrayBuffer(4) },
    (memory) => {
      while (Atomics.load(new Int32Array(memory), 0) === 0);
    },
    (memory) => {
      Atomics.store(new Int32Array(memory), 0, 1);
    },
    { spins: 500 },
  );
  assert.equal(loads.bounds, ["loops of 500 operations"]);
  assert.match(loads.summary, /^complete up to loops of 500 operations: /);
});

test("of an endless loop that awaits, the first rounds alone are told apart", async () => {
  const { complete, summary } = await race.agents(
    { memory: () => new SharedArrayBuffer(4) },
    async (memory) => {
      while (Atomics.load(new Int32Array(memory), 0) === 0) {
        await Promise.resolve();
      }
    },
    (memory) => {
      Atomics.store(new Int32Array(memory), 0, 1);
    },
    { spins: 500 },
  );
  assert.ok(complete);
  assert.match(summary, /, and only their first 31 rounds are told apart$/);
});

test("assert says how far it looked, and can insist on all", () => {
  const told = race.assert(adding, { programs: 5, complete: true });
  assert.equal(told, {
    programs: 5,
    complete: 5,
    summary: "5 programs, 5 of them complete",
  });
  const some = race.assert(adding, { programs: 5, states: 1, seed: 1 });
  assert.match(
    some.summary,
    /^5 programs, \d of them .*; the others up to 1 st/,
  );
  assert.throws(
    () => race.assert(adding, { programs: 5, complete: true, states: 1 }),
    /not complete/,
  );
});

test("assert passes what is complete up to a bound, and names the bound", () => {
  const options = { programs: 20, ops: 1, seed: 1, complete: true };
  const told = race.assert(sleeper(3), options);
  assert.is(told.complete, told.programs);
  assert.match(told.summary, /, \d+ of them complete up to 2 timeouts$/);
});

const losing = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new Int32Array(memory),
  init: 0,
  ops: {
    add: {
      arg: fc.constant(2),
      run: (w, n) => Atomics.store(w, 0, Atomics.load(w, 0) + n),
      model: (sum: number, n) => [sum + n, sum + n],
    },
  },
});

function caught(): RaceError {
  try {
    race.assert(losing, { programs: 50, seed: 1 });
  } catch (error) {
    if (error instanceof RaceError) return error;
  }
  throw new Error("nothing was found");
}

test("a failure's program and schedule are what replay takes", () => {
  const { failure } = caught();
  const { program, schedule, kind } = failure;
  assert.equal(program, [[["add", 2]], [["add", 2]]]);
  const again = race.replay(losing, program, schedule);
  assert.is(again.failure?.kind, kind);
});

test("a picture has its colours without styles, too", () => {
  const svg = caught().failure.svg().replace(/<style>.*?<\/style>/s, "");
  const drawn = svg.match(/<(?:text|line|rect|circle|path) [^>]*>/g)!;
  assert.ok(drawn.length > 10);
  const black = drawn.filter((tag) => !/ (?:fill|stroke)="/.test(tag));
  assert.equal(black, []);
});

test("a failure that is printed has its table once", () => {
  const text = inspect(caught());
  assert.is(text.split("| agent 0").length, 2, text);
});

// ---- the functions of Atomics -----------------------------------------------

const VIEWS = {
  ...{ Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array },
  ...{ Int32Array, Uint32Array, Float32Array, Float64Array },
  ...{ BigInt64Array, BigUint64Array },
};

const FUNCTIONS = [
  ...["load", "store", "add", "sub", "and", "or", "xor", "exchange"] as const,
  ...["compareExchange", "notify", "wait", "waitAsync"] as const,
  "isLockFree" as const,
];

const value = fc.oneof(
  fc.constantFrom<unknown>(0, 1, -1, 1.7, -0, NaN, Infinity, -Infinity),
  fc.constantFrom<unknown>(2 ** 31, 2 ** 32 + 1, 255, -129, 65536),
  fc.constantFrom<unknown>(0n, 1n, -1n, 2n ** 63n, 2n ** 64n + 5n),
  fc.constantFrom<unknown>(undefined, null, true, "1", "x", Symbol.iterator),
  fc.constantFrom<unknown>({ valueOf: () => 3 }, []),
);

const call = fc.record({
  type: fc.constantFrom(...Object.keys(VIEWS) as (keyof typeof VIEWS)[]),
  name: fc.constantFrom(...FUNCTIONS),
  shared: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  index: fc.constantFrom<unknown>(0, 1, "1", 1.9, -0, undefined, null, 1n),
  a: value,
  b: value,
});

type Calls = typeof call extends fc.Arbitrary<infer C> ? C : never;

/** Calls a function, and says what it returned or threw. */
function done(
  memory: SharedArrayBuffer,
  { type, name, shared, index, a, b }: Calls,
): string {
  const buffer = shared ? memory : new ArrayBuffer(16);
  // deno-lint-ignore no-explicit-any
  const view = new (globalThis as any)[type](buffer);
  try {
    // deno-lint-ignore no-explicit-any
    const atomics = Atomics as any;
    if (name === "isLockFree") return String(atomics.isLockFree(a));
    // No wait may last.
    const last = name.startsWith("wait") ? 0 : b;
    const result = atomics[name](view, index, a, last);
    return `${typeof result} ${result?.async} ${
      String(result?.value ?? result)
    }`;
  } catch (error) {
    return (error as Error).name;
  }
}

test("functions of Atomics do what the real ones do, for all types", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 8, maxLength: 8 }),
      async (calls) => {
        const real = new SharedArrayBuffer(16);
        const expected = calls.map((call) => done(real, call));
        const result = await race.agents(
          { memory: () => new SharedArrayBuffer(16) },
          (memory) => calls.map((call) => done(memory, call)),
          {
            after: (memory, [answers]) => {
              assert.equal(answers, expected);
              assert.equal(new Uint8Array(memory), new Uint8Array(real));
            },
          },
        );
        assert.ok(result.complete, result.summary);
      },
    ),
    { numRuns: process.env.WEFT_LONG === undefined ? 60 : 5000 },
  ));

test("a function that may be written but not defined anew, as in Bun", async () => {
  const race = new URL("../../race/mod.ts", import.meta.url);
  const { output, code } = await run(process.execPath, [
    "eval",
    `const { prototype } = TextDecoder;
    const { decode } = prototype;
    Object.defineProperty(prototype, "decode", {
      value: decode, writable: true, configurable: false,
    });
    const { race } = await import("${race}");
    const memory = () => new SharedArrayBuffer(4);
    const { ok } = race.agents({ memory }, (memory) =>
      Atomics.add(new Int32Array(memory), 0, 1));
    console.log(ok, prototype.decode === decode);`,
  ], 250);
  assert.is(output.trim(), "true true");
  assert.is(code, 0);
});

test("where a global is frozen, that is said, and nothing is replaced", async () => {
  const race = new URL("../../race/mod.ts", import.meta.url);
  const { output, code } = await run(process.execPath, [
    "eval",
    `const { load } = Atomics;
    Object.freeze(DataView.prototype);
    const { race } = await import("${race}");
    const memory = () => new SharedArrayBuffer(4);
    const explore = () => race.agents({ memory }, (memory) =>
      Atomics.add(new Int32Array(memory), 0, 1));
    for (let i = 0; i < 2; i++) {
      try {
        explore();
      } catch (error) {
        console.log(error.name, error.message.slice(0, 41));
      }
    }
    console.log(Atomics.load === load);`,
  ], 250);
  const said = 'TypeError Cannot explore where "getInt8" is frozen,';
  assert.equal(output.trim().split("\n"), [said, said, "true"]);
  assert.is(code, 0);
});

test("a notify on what nobody can wait on throws, as engines do", () => {
  const spec = race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new Uint32Array(memory),
    ops: {
      // deno-lint-ignore no-explicit-any
      tell: { run: (words) => Atomics.notify(words as any, 0) },
    },
  });
  const { failure } = race.check(spec, [["tell"]]);
  assert.is(failure?.kind, "exception");
  assert.match(failure!.message, "TypeError");
});

/** Takes at least a tenth of a millisecond, whatever the clock shows. */
function busy(): void {
  let sum = 1;
  for (let i = 0; i < 100_000; i++) sum = Math.imul(sum, 31) + i | 0;
  if (sum === 0) throw new Error("cannot be");
}

test("a rehearsal that its time cuts short finds nothing wrong", () => {
  const slow = (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    for (let i = 0; i < 25; i++) {
      busy();
      Atomics.add(words, 0, 1);
    }
  };
  const memory = () => new SharedArrayBuffer(4);
  const { ok, complete } = race.agents({ memory }, slow, slow, { time: 1 });
  assert.ok(ok && !complete);
});

test("a livelock is none because the time was over", () => {
  // In turns of two steps, neither sees the other one within a round.
  const passes = race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(16);
      new Int32Array(memory)[0] = 3;
      return memory;
    },
    agent: (memory, id) => ({ words: new Int32Array(memory), id }),
    ops: {
      pass: {
        run: ({ words, id }) => {
          const [mine, other] = [1 << id, 2 >> id];
          do Atomics.and(words, 0, ~mine); while (
            (Atomics.or(words, 0, mine) & other) !== 0
          );
          for (let i = 0; i < 40; i++) Atomics.add(words, 1 + id, 1);
          Atomics.and(words, 0, ~mine);
        },
      },
    },
  });
  const check = (time?: number) =>
    race.check(passes, [["pass"]], [["pass"]], { time });
  assert.ok(check().complete);
  assert.is(check(1).failure, undefined);
});
