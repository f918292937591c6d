// Stand-ins for globals take what the platform takes, convert it in the same
// way, and throw for the same mistakes: otherwise the tester passes code that
// throws elsewhere, or fails code that works.
import fc from "../_run/property.ts";
import * as assert from "uvu/assert";
import { race, type RaceError } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race stand-ins", 60_000);

// deno-lint-ignore no-explicit-any
type Any = any;
type Memory = SharedArrayBuffer;

const memory = () => new SharedArrayBuffer(64);
const words = (memory: Memory) => new Int32Array(memory);

const shown = (value: unknown): string =>
  typeof value === "bigint"
    ? `${value}n`
    : Object.is(value, -0)
    ? "-0"
    : String(value);

/** What a function answers or throws, without the platform's wording. */
function outcome(run: () => unknown): string {
  try {
    return shown(run());
  } catch (error) {
    if (typeof error === "string") throw error; // the agent is suspended
    return `threw ${(error as Error).name}`;
  }
}

/** What one agent answers that is explored alone. */
function explored(run: (memory: Memory) => string): string {
  let answer = "nothing";
  const after = (_: Memory, [result]: unknown[]) => {
    answer = String(result);
  };
  race.agents({ memory }, (m: Memory) => run(m), { after } as Any);
  return answer;
}

// ---- accesses ---------------------------------------------------------------

const ATOMICS = [
  ...["load", "store", "add", "sub", "and", "or", "xor", "exchange"],
  ...["compareExchange", "notify"],
] as const;
const VIEWS = [
  ...["Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array"],
  ...["Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array"],
  ...["BigUint64Array", "Float64Array", "DataView"],
] as const;

const value = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(-0, 2 ** 31, 2 ** 32 + 5, 1e300, NaN, Infinity, -Infinity),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.constantFrom<Any>(undefined, null, true, "7", "x", "", [3], {}),
);
const call = fc.record({
  name: fc.constantFrom(...ATOMICS),
  type: fc.constantFrom(...VIEWS),
  index: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 3 }) },
    fc.constantFrom<Any>("1", 1.9, -0, undefined, 1n, NaN, null),
  ),
  values: fc.array(value, { maxLength: 2 }),
});

test("functions of Atomics do what the real ones do", () => {
  fc.assert(
    fc.property(call, ({ name, type, index, values }) => {
      const run = (memory: Memory) => {
        const view = new (globalThis as Any)[type](memory, 8);
        const order: string[] = [];
        const args = values.map((value, i) =>
          typeof value === "number"
            ? { valueOf: () => (order.push(`${i}`), value) }
            : value
        );
        const answer = outcome(() =>
          (Atomics as Any)[name](view, index, ...args)
        );
        const bytes = [...new Uint8Array(memory, 8, 32)];
        return `${answer} after ${order}: ${bytes}`;
      };
      assert.is(explored(run), run(memory()));
    }),
    { numRuns: 1000 },
  );
});

const PLAIN: readonly (readonly [string, (memory: Memory) => unknown])[] = [
  ["a number for a bigint", (m) => new BigInt64Array(m)[0] = 5 as Any],
  ["a bigint for a number", (m) => new Int32Array(m)[0] = 5n as Any],
  ["a boolean for a bigint", (m) => new BigInt64Array(m)[0] = true as Any],
  ["numbers that fill bigints", (m) => new BigInt64Array(m).fill(5 as Any)],
  ["numbers set into bigints", (m) => new BigInt64Array(m).set([5] as Any)],
  ["setBigInt64 of a number", (m) => new DataView(m).setBigInt64(0, 5 as Any)],
  ["setInt32 of a bigint", (m) => new DataView(m).setInt32(0, 5n as Any)],
  ["getInt32 at a bigint", (m) => new DataView(m).getInt32(0n as Any)],
  ["set at the text 1", (m) => words(m).set([5], "1" as Any)],
  ["set at 1.5", (m) => words(m).set([5], 1.5)],
  ["set of a list with holes", (m) => {
    words(m).fill(9).set(Object.assign(new Array(2), [1]));
  }],
  ["sort of floats", (m) => {
    const floats = new Float64Array(m, 0, 4);
    floats.set([3, NaN, 0, -0]);
    return [...floats.toSorted(), ...floats.sort()].map(shown).join();
  }],
  ["elements that are defined", (m) => {
    const define = (key: Any, property: PropertyDescriptor) =>
      outcome(() => void Object.defineProperty(words(m), key, property));
    return [
      define(0, { value: 5 }),
      define("1", { value: 2.7, writable: true, enumerable: true }),
      define(2, { value: 9, writable: false }),
      define(2, { value: 9, configurable: false }),
      define(2, { get: () => 9 }),
      define(2, { value: 9n }),
      define(3, {}),
      define("name", { value: 9 }),
      Reflect.defineProperty(words(m), 1, { value: 8 }),
    ].join();
  }],
  ["memory of an agent's own that may grow", () => {
    const own = new SharedArrayBuffer(8, { maxByteLength: 16 });
    Atomics.add(new Int32Array(own), 1, 5);
    const fixed = new SharedArrayBuffer(8, {});
    const wrong = outcome(() =>
      new SharedArrayBuffer(8, { maxByteLength: 4 }).byteLength
    );
    return [own.growable, own.maxByteLength, fixed.growable, wrong].join();
  }],
  ["methods of a class over a view", (m) => {
    class Counter extends Int32Array<SharedArrayBuffer> {
      constructor(memory: Memory) {
        super(memory as Any);
      }
      increment() {
        return this[1]!++;
      }
    }
    const counter = new Counter(m);
    return counter.increment() + counter.increment();
  }],
];

for (const [what, access] of PLAIN) {
  test(`plain accesses do what real ones do: ${what}`, () => {
    const run = (memory: Memory) =>
      `${outcome(() => access(memory))}: ${[...new Uint8Array(memory)]}`;
    assert.is(explored(run), run(memory()));
  });
}

test("an object of a class is copied with the views that it holds", async () => {
  class Job {
    words: Int32Array;
    at = 1;
    constructor(memory: Memory) {
      this.words = words(memory);
    }
  }
  const after = (m: Memory) => assert.is(words(m)[1], 2);
  const result = await race.agents(
    { memory },
    async (m) => {
      const { port1, port2 } = new MessageChannel();
      const heard = new Promise<Job>((resolve) =>
        port2.onmessage = ({ data }) => resolve(data)
      );
      port1.postMessage(new Job(m));
      for (const job of [await heard, structuredClone(new Job(m))]) {
        assert.not.instance(job, Job);
        Atomics.add(job.words, job.at, 1);
      }
    },
    { after },
  );
  assert.ok(result.complete, result.summary);
});

// ---- time -------------------------------------------------------------------

/** Explores an agent; its answers, each once. */
async function answers(
  run: (memory: Memory) => Promise<unknown>,
  other: (memory: Memory) => unknown = () => {},
): Promise<unknown[]> {
  const seen = new Set<unknown>();
  const after = (_: Memory, [answer]: unknown[]) => void seen.add(answer);
  const result = await race.agents(
    { memory },
    async (m) => await run(m),
    async (m) => await other(m),
    { after },
  );
  assert.ok(result.complete, result.summary);
  return [...seen];
}

test("clearing what is no timer ends no wait, and no other timer", async () => {
  for (const nothing of [null, undefined, 0, "", false, "1", 1]) {
    const waits = async (m: Memory) => {
      const { async, value } = Atomics.waitAsync(words(m), 0, 0);
      clearTimeout(nothing as Any);
      return async ? await value : "ok";
    };
    const wakes = (m: Memory) => {
      Atomics.store(words(m), 0, 1);
      Atomics.notify(words(m), 0);
    };
    assert.equal(await answers(waits, wakes), ["ok"], `${nothing}`);
  }
  const fires = async () => {
    const fired = new Promise((resolve) => setTimeout(resolve, 5, "fired"));
    clearTimeout(null as Any);
    return await fired;
  };
  assert.equal(await answers(fires), ["fired"]);
  const clears = async () => {
    let fired = 0;
    const id = setTimeout(() => fired++, 5);
    clearTimeout(+id);
    await new Promise((resolve) => setTimeout(resolve, 10));
    return fired;
  };
  assert.equal(await answers(clears), [0]);
});

test("a delay of more than 2 ** 31 - 1 is none", async () => {
  const after = async (ms: number) => {
    const begun = performance.now();
    await new Promise((resolve) => setTimeout(resolve, ms));
    return performance.now() - begun;
  };
  for (const ms of [2 ** 31, Infinity, NaN, -1, 0]) {
    assert.equal(await answers(() => after(ms)), [1], `${ms}`);
  }
  assert.equal(await answers(() => after(2 ** 31 - 1)), [2 ** 31 - 1]);
});

test("a timer that is refreshed begins anew, unless it was cleared", async () => {
  const fires = async (clears: boolean) => {
    const begun = performance.now();
    const sleep = (ms: number) =>
      new Promise((resolve) => setTimeout(resolve, ms));
    let at = -1;
    const timer: Any = setTimeout(() => at = performance.now() - begun, 10);
    await sleep(6);
    if (clears) clearTimeout(timer);
    timer.refresh();
    await sleep(30);
    return at;
  };
  assert.equal(await answers(() => fires(false)), [16]);
  assert.equal(await answers(() => fires(true)), [-1]);
});

test("Date as a function shows simulated time", () => {
  const run = () => String(Date() === new Date().toString());
  assert.is(explored(run), "true");
});

test("Temporal.Now is refused by name, where it is", () => {
  const { Temporal } = globalThis as Any;
  if (Temporal === undefined) return;
  assert.throws(
    () => race.agents({ memory }, () => `${Temporal.Now.instant()}`),
    /Cannot explore Temporal\.Now\.instant/,
  );
});

// ---- errors of the platform -------------------------------------------------

test("Atomics of a DataView is a TypeError, and no refusal", () => {
  for (const name of ["load", "wait", "notify"] as const) {
    const run = (m: Memory) => (Atomics as Any)[name](new DataView(m), 0, 0);
    try {
      race.agents({ memory }, run);
      assert.unreachable();
    } catch (error) {
      assert.is((error as RaceError).kind, "exception");
      assert.match((error as RaceError).message, /TypeError/);
    }
  }
});
