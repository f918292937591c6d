// it explores
// Old values of hints: those that an agent could have read as the newest one,
// sooner, are left out, and all reductions know what agents may still read. The
// same ends and failures, of fewer states.
import fc from "../_run/property.ts";
import process from "node:process";
import * as assert from "uvu/assert";
import { type Options, race, type Result } from "../../race/mod.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { comparing } from "../_run/ways.ts";
import { endsSeen } from "./ends.ts";

const test = suite("race hints", 120_000);

type Words = Int32Array;

/** An operation on a word and two numbers. Words 0 and 1 are hints. */
type Line = readonly [op: number, at: number, a: number, b: number];

/** What lines do, and what they say that they saw. */
const OPERATIONS: readonly ((w: Words, line: Line) => unknown)[] = [
  (w, [, at]) => w[at & 1],
  (w, [, at]) => w[at & 1],
  (w, [, at]) => w[at & 1],
  (w, [, at, a]) => (Atomics.store(w, at, a + 1), ""),
  (w, [, at, a]) => (Atomics.store(w, at, a + 1), ""),
  (w, [, at, a, b]) => Atomics.compareExchange(w, at, a, b),
  (w, [, at]) => Atomics.load(w, at),
  (w, [, at]) => Atomics.add(w, at, 1),
  (w, [, at, a, b]) => {
    let rounds = 0;
    while (w[at & 1] !== a && rounds < b) rounds++;
    return rounds;
  },
  (w, [, at, a, b]) => Atomics.wait(w, at, a, 5 + b),
  (w, [, at]) => Atomics.notify(w, at),
];

const line = fc.tuple(
  fc.nat(OPERATIONS.length - 1),
  ...[2, 2, 2].map((max) => fc.nat(max)),
) as unknown as fc.Arbitrary<Line>;
const lines = fc.array(line, { minLength: 1, maxLength: 4 });
const agents = fc.array(lines, { minLength: 2, maxLength: 3 });

/** How a program of agents can end, and what was found. */
function endsOf(
  programs: readonly (readonly Line[])[],
  options: Options,
) {
  const bodies = programs.map((lines) => (memory: SharedArrayBuffer) => {
    const words = new Int32Array(memory);
    return lines.map((line) => OPERATIONS[line[0]]!(words, line)).join();
  });
  return endsSeen((see) =>
    race.agents(
      { memory: () => new SharedArrayBuffer(12), hints: [[0, 8]] },
      ...bodies,
      {
        races: false,
        states: 40_000,
        time: 60_000,
        runs: 0,
        shorten: false,
        ...options,
        after(memory: SharedArrayBuffer, results: unknown[]) {
          see(`${new Int32Array(memory)}: ${results.join("; ")}`);
          return undefined;
        },
      },
    ) as Result
  );
}

/** With "late", agents are not compared, so steps may be quick. */
const WAYS = ["order", "unused", "remembered", true, "late"] as const;

/** Explores in one of these ways; steps are remembered when taken once. */
const exploring = <T>(
  way: typeof WAYS[number] | false,
  explore: (options: Options) => T,
): Promise<T> =>
  comparing(
    way === "late" ? Infinity : 1,
    () => explore({ reduce: way === "late" || way }),
  );

test("random programs end as they do without", async () => {
  const numRuns = Number(process.env.WEFT_PROGRAMS ?? (all() ? 200 : 40));
  let [compared, fewer] = [0, 0];
  for (const program of fc.sample(agents, { numRuns, seed: 3 })) {
    for (const options of [{}, { kill: true }, { timeouts: 1 }]) {
      const [plain, whole] = endsOf(program, { ...options, reduce: false });
      if (whole.ok && !whole.complete) continue;
      for (const way of WAYS) {
        const [ends, { states }] = await exploring(
          way,
          (o) => endsOf(program, { ...options, ...o }),
        );
        assert.equal(ends, plain, JSON.stringify(program));
        compared++;
        if (states < whole.states) fewer++;
      }
    }
  }
  assert.ok(compared > 10 * numRuns, `${compared} searches`);
  assert.ok(fewer > compared / 4, `${fewer} of ${compared} searches`);
});

/** One agent writes 1, 2, 3 to a hint; another one reads it. */
const reads = (first: (w: Words) => void, options: Options) => {
  const seen = new Set<number>();
  const result = race.agents(
    { memory: () => new SharedArrayBuffer(12), hints: [[0, 4]] },
    (memory) => {
      const w = new Int32Array(memory);
      for (let i = 1; i <= 3; i++) Atomics.store(w, 0, i);
    },
    (memory) => {
      const w = new Int32Array(memory);
      first(w);
      return w[0]!;
    },
    {
      ...options,
      after(_: SharedArrayBuffer, [, value]: unknown[]) {
        seen.add(value as number);
        return undefined;
      },
    },
  ) as Result;
  assert.ok(result.complete);
  return [[...seen].sort(), result.steps] as const;
};

test("an agent that stands before its read reads no older value", () => {
  const [values, steps] = reads(() => {}, {});
  const [plain, whole] = reads(() => {}, { reduce: false });
  assert.equal(values, [0, 1, 2, 3]);
  assert.equal(plain, values);
  assert.ok(steps < whole, `${steps} steps of ${whole}`);
});

test("what was old when it came there can still be read", () => {
  // Nothing else lets both reads be so: the later one is of an older value.
  const both = (reduce: boolean) => {
    const seen = new Set<string>();
    const result = race.agents(
      { memory: () => new SharedArrayBuffer(8), hints: [[0, 8]] },
      (memory) => {
        const w = new Int32Array(memory);
        Atomics.store(w, 0, 1);
        Atomics.store(w, 1, 1);
      },
      (memory) => {
        const w = new Int32Array(memory);
        return [w[1], w[0]].join();
      },
      {
        reduce,
        after(_: SharedArrayBuffer, [, value]: unknown[]) {
          seen.add(value as string);
          return undefined;
        },
      },
    ) as Result;
    assert.ok(result.complete);
    return [...seen].sort();
  };
  assert.equal(both(true), ["0,0", "0,1", "1,0", "1,1"]);
  assert.equal(both(false), both(true));
});

/** A value is made once; `again`: who finds it by the hint looks again. */
const lazy = (again: boolean) =>
  race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => new Int32Array(memory),
    hints: [[0, 4]],
    ops: {
      get: {
        run: (w) => {
          if (w[0] === 2) {
            if (again) Atomics.load(w, 0);
            return w[1];
          }
          if (Atomics.compareExchange(w, 0, 0, 1) === 0) {
            w[1] = 7;
            Atomics.store(w, 0, 2);
          }
          while (Atomics.load(w, 0) !== 2);
          return w[1];
        },
      },
    },
  });

test("what only a hint guards is a data race", () => {
  const program = [[["get"]], [["get"]]] as const;
  const right = race.check(lazy(true), ...program);
  assert.ok(right.ok && right.complete, right.summary);
  const wrong = race.check(lazy(false), ...program);
  assert.is(wrong.failure?.kind, "data-race", wrong.summary);
  assert.match(wrong.failure!.message, "plain read of [4]");
  const { schedule } = wrong.failure!;
  const again = race.replay(lazy(false), program, schedule);
  assert.is(again.failure?.kind, "data-race");
});

/** How a program over hints in words 0 to 2 can end, and its result. */
function outcomes(
  bodies: readonly ((w: Words) => unknown)[],
  options: Options = {},
): [ends: string[], result: Result] {
  const seen = new Set<string>();
  const result = race.agents(
    { memory: () => new SharedArrayBuffer(32), hints: [[0, 12]] },
    ...bodies.map((body) => (memory: SharedArrayBuffer) =>
      body(new Int32Array(memory))
    ),
    {
      races: false, // samples that look for them would find other ends, too
      ...options,
      after(memory: SharedArrayBuffer, results: unknown[]) {
        const sum = new Int32Array(memory)[6]!;
        seen.add(`${results.at(-1)}${sum > 0 ? ` ${sum}` : ""}`);
        return undefined;
      },
    },
  ) as Result;
  return [[...seen].sort(), result];
}

test("an agent comes to a hint anew each time", async () => {
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  };
  const adds = (w: Words) => {
    for (let i = 0; i < 6; i++) Atomics.add(w, 6, 1);
  };
  // What it stores comes before each of the additions, or after, and it does
  // not learn which.
  const looks = (w: Words) => {
    const first = w[0];
    Atomics.store(w, 6, 10);
    return [first, w[1], w[0]].join();
  };
  const bodies = [adds, writes, looks];
  const [plain] = outcomes(bodies, { reduce: false });
  for (const sum of [10, 13, 16]) {
    assert.ok(plain.includes(`0,1,0 ${sum}`), plain.join("; "));
  }
  const counts = new Map<unknown, number>();
  for (const way of WAYS) {
    const [ends, { states }] = await exploring(
      way,
      (o) => outcomes(bodies, o),
    );
    assert.equal(ends, plain);
    counts.set(way, states);
  }
  // If remembered steps did not tell to which hint an agent comes, more old
  // values would be read: 388 states instead of 325.
  assert.ok(counts.get("late")! < 350, `${[...counts]}`);
});

test("how many old values were read is told apart where it matters", () => {
  const writes = (w: Words) => {
    for (const at of [2, 0, 1]) Atomics.store(w, at, 1);
  };
  // The first four reads are of old values, or came before the writes. Only in
  // the latter case, the last one may be of an old value, too.
  const looks = (w: Words) => {
    Atomics.load(w, 5);
    return [w[2], w[2], w[2], w[2], w[1], w[0]].join();
  };
  for (const reduce of ["remembered", false] as const) {
    const [ends, { complete, bounds }] = outcomes([writes, looks], { reduce });
    assert.ok(complete);
    assert.ok(ends.includes("0,0,0,0,1,0"), ends.join(" "));
    assert.ok(bounds.includes("4 old values read in a call"), `${bounds}`);
  }
});

test("a loop on old values is explored as one round", () => {
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  };
  const waits = (w: Words) => {
    while (w[1] === 0);
    const first = w[0]!;
    while (w[0] === 0);
    return `${first}`;
  };
  const [ends, { complete, bounds }] = outcomes([writes, waits]);
  assert.equal(ends, ["0", "1"]);
  assert.ok(complete);
  assert.not.ok(`${bounds}`.includes("old values"), `${bounds}`);
});

test("a loop on old values that counts its rounds goes on", () => {
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  };
  const counts = (w: Words) => {
    if (w[1] === 0) return "early";
    let rounds = 0;
    while (w[0] === 0 && rounds < 3) rounds++;
    return `${rounds}`;
  };
  for (const reduce of [true, false]) {
    const [ends] = outcomes([writes, counts], { reduce });
    assert.equal(ends, ["0", "1", "2", "3", "early"]);
  }
});

test("agents that do the same know different things", () => {
  const [CAME, SEEN, WOKEN, KNOWS, SLEEP] = [2, 3, 5, 6, 7] as const;
  // Who looks at KNOWS after it was written knows of the write to word 0.
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, KNOWS, 0);
    Atomics.store(w, 1, 1);
  };
  const sleeps = (w: Words) => {
    Atomics.load(w, KNOWS);
    Atomics.wait(w, SLEEP, 0);
    Atomics.store(w, SEEN + w[CAME]!, 1 + w[0]!);
    Atomics.store(w, CAME, 1);
  };
  // It only looks at hints, and so learns of no other write.
  const wakes = (w: Words) => {
    while (w[1] === 0);
    Atomics.store(w, SLEEP, 1);
    const first = Atomics.notify(w, SLEEP, 1);
    while (w[CAME]! < first);
    Atomics.store(w, WOKEN, 10 * first + Atomics.notify(w, SLEEP));
  };
  const body = (one: (w: Words) => void) => (memory: SharedArrayBuffer) =>
    one(new Int32Array(memory));
  const [a, b, c] = [body(writes), body(sleeps), body(wakes)];
  for (const bodies of [[a, b, b, c], [b, b, c, a]]) {
    for (const reduce of [true, "alike"] as const) {
      const ends = new Set<string>();
      const result = race.agents(
        { memory: () => new SharedArrayBuffer(32), hints: [[0, 12]] },
        ...bodies,
        {
          reduce,
          races: false,
          after(memory: SharedArrayBuffer) {
            const w = new Int32Array(memory);
            ends.add(`${w[WOKEN]} ${w[SEEN]} ${w[SEEN + 1]}`);
            return undefined;
          },
        },
      ) as Result;
      assert.ok(result.complete, result.summary);
      // Both slept; the first, or the second, did not know of word 0.
      assert.ok(ends.has("11 1 2") && ends.has("11 2 1"), [...ends].join());
    }
  }
});

test("states differ by the values that hints held before", async () => {
  const stores = (value: number) => (w: Words) => {
    Atomics.store(w, 0, value);
    Atomics.add(w, 5, 1);
  };
  // It comes after both of the others; who reads word 1 does not know that.
  const last = (w: Words) => {
    if (Atomics.load(w, 5) !== 2) return;
    Atomics.store(w, 0, 3);
    Atomics.store(w, 1, 1);
  };
  const looks = (w: Words) => [w[1], w[0], w[0]].join();
  const bodies = [stores(1), stores(2), last, looks];
  const [plain] = outcomes(bodies, { reduce: false });
  assert.ok(plain.includes("1,1,2") && plain.includes("1,2,1"), `${plain}`);
  for (const way of WAYS) {
    const [ends] = await exploring(way, (o) => outcomes(bodies, o));
    assert.equal(ends, plain);
  }
});

test("a value that comes again is the newest one", () => {
  const writes = (w: Words) => {
    for (const value of [1, 0]) Atomics.store(w, 0, value);
    Atomics.store(w, 5, 1);
  };
  const looks = (w: Words) =>
    Atomics.load(w, 5) === 1 ? `${w[0]}` : `early ${w[0]}`;
  for (const reduce of [true, false]) {
    const [ends] = outcomes([writes, looks], { reduce });
    assert.equal(ends, ["0", "early 0", "early 1"]);
  }
});

test("who is woken knows what its waker knew", async () => {
  const turns = (w: Words) => {
    for (let i = 0; i < 3; i++) Atomics.store(w, 7, i);
  };
  const wakes = (w: Words) => {
    Atomics.store(w, 7, 5);
    Atomics.store(w, 0, 1);
    Atomics.notify(w, 5);
    Atomics.store(w, 5, 1);
    Atomics.notify(w, 5);
  };
  const sleeps = (w: Words) => {
    Atomics.store(w, 7, 6);
    const how = Atomics.wait(w, 5, 0);
    return `${how} ${w[0]}`;
  };
  for (const way of [false, ...WAYS] as const) {
    const [ends] = await exploring(
      way,
      (o) => outcomes([turns, wakes, sleeps], o),
    );
    assert.equal(ends, ["not-equal 1", "ok 1"]);
  }
});

test("who finds a sleeper knows what it knew", async () => {
  const turns = (w: Words) => {
    for (let i = 0; i < 3; i++) Atomics.store(w, 7, i);
  };
  const sleeps = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.wait(w, 5, 0, 5);
  };
  const finds = (w: Words) => {
    const count = Atomics.notify(w, 5);
    return `${count} ${w[0]}`;
  };
  for (const way of [false, ...WAYS] as const) {
    const [ends] = await exploring(
      way,
      (o) => outcomes([turns, sleeps, finds], { ...o, rescue: true }),
    );
    assert.equal(ends, ["0 0", "0 1", "1 1"], `${way}`);
  }
});

test("an agent that sleeps at a hint may wake and read an old value", async () => {
  const sleeps = (w: Words) => {
    const how = Atomics.wait(w, 0, 0, 5);
    return how === "ok" && w[1] === 1 ? `${w[0]}` : "";
  };
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 1, 1);
  };
  const wakes = (w: Words) => void Atomics.notify(w, 0);
  for (const way of [false, ...WAYS] as const) {
    const [ends] = await exploring(
      way,
      (o) => outcomes([writes, wakes, sleeps], { ...o, rescue: true }),
    );
    assert.equal(ends, ["", "0", "1"]);
  }
});

test("what an agent passes on is told apart, though it reads no hint", async () => {
  const writes = (w: Words) => {
    Atomics.store(w, 0, 1);
    Atomics.store(w, 5, 0); // no other value: only what it knows
    Atomics.store(w, 1, 1);
  };
  const passes = (w: Words) => {
    Atomics.load(w, 5);
    if (w[1] === 1) Atomics.store(w, 7, 1);
  };
  const reads = (w: Words) => Atomics.load(w, 7) === 1 ? `${w[0]}` : "";
  for (const agents of [[writes, passes, reads], [passes, writes, reads]]) {
    for (const way of [false, ...WAYS] as const) {
      const [ends] = await exploring(way, (o) => outcomes(agents, o));
      assert.equal(ends, ["", "0", "1"]);
    }
  }
});
