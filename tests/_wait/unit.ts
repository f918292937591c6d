// also: node, browsers
// The drivers of _wait/wait.ts, in one agent.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  block,
  blockAnyAsync,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "../../primitives/_wait/wait.ts";
import { iterate } from "../../primitives/_wait/iterate.ts";
import { spinPatiently } from "../../primitives/_wait/spin.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  endsWithin,
  nowOf,
  passed,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { set, until, WORDS } from "./words.ts";

const test = suite("_wait/wait.ts");

test("block() ends in time, and tells a look from a timeout", () => {
  const log: string[] = [];
  const words = WORDS();
  const begin = performance.now();
  assert.is(block(until(words, 1, log, { atMost: 20 }), 300), false);
  const took = performance.now() - begin;
  assert.ok(took >= 299 && took < 10_000, `${took} ms`);
  assert.is(log.pop(), "timed-out");
  assert.ok(log.length >= 2 && log.every((s) => s === "looked"), `${log}`);
});

test("block() unwinds a path whose sleep throws", () => {
  let unwound = false;
  function* path(): Waiting<boolean> {
    try {
      yield { words: WORDS(), index: 7, value: 0 };
      return true;
    } finally {
      unwound = true;
    }
  }
  assert.throws(() => block(path(), 10), /./);
  assert.ok(unwound);
});

test("blockAsync() rejects with what its path throws", async () => {
  const words = WORDS();
  function* path(): Waiting<boolean> {
    yield { words, index: 0, value: 0 };
    throw new Error("later");
  }
  const later = blockAsync(path).catch((error) => error.message);
  set(words, 1);
  assert.is(await later, "later");
  const now = blockAsync(() => {
    throw new Error("now");
  });
  assert.is(await now.catch((error) => error.message), "now");
});

/** Sleeps again and again, and calls `at` before each sleep with its number. */
function* sleeping(
  words: Int32Array<SharedArrayBuffer>,
  log: string[],
  at: (step: number) => void,
): Waiting<boolean> {
  for (let step = 1;; step++) {
    at(step);
    const value = Atomics.load(words, 0);
    const outcome = yield { words, index: 0, value };
    log.push(outcome);
    if (outcome === "timed-out") return false;
  }
}

test("a path that aborts its own signal ends at its next sleep", async () => {
  for (const last of [1, 2, 3]) {
    const words = WORDS();
    const control = new AbortController();
    const { signal } = control;
    const reason = new Error("by itself");
    const log: string[] = [];
    const path = () =>
      sleeping(words, log, (step) => {
        if (step === last) control.abort(reason);
      });
    const wait = blockAsync(path, { signal }).catch((error) => error);
    for (let i = 1; i <= 3; i++) {
      await turns();
      set(words, i);
    }
    assert.is(await nowOf(wait), reason, `aborted in step ${last}`);
    assert.is(log.length, last);
  }
});

test("a path of several stages ends in each, however it was given up", async () => {
  const words = WORDS();
  const control = new AbortController();
  const log: string[] = [];
  function* path(): Waiting<boolean> {
    for (const index of [0, 1, 0]) {
      log.push(yield { words, index, value: 0 });
    }
    return false;
  }
  const reason = new Error("enough");
  const wait = blockAsync(path, { signal: control.signal }).catch((error) =>
    error
  );
  await turns();
  control.abort(reason);
  assert.is(await nowOf(wait), reason);
  assert.equal(log, ["timed-out", "timed-out", "timed-out"]);
  log.length = 0;
  assert.is(await tryBlockAsync(path, { timeout: 5 }), false);
  assert.equal(log, ["timed-out", "timed-out", "timed-out"]);
});

test("waits end in the order of their timeouts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 40 }), { maxLength: 40 }),
      fc.array(fc.nat(), { maxLength: 10 }),
      async (timeouts, aborts) => {
        const words = WORDS();
        // When each may end: between the clock readings before and after its
        // call.
        const ended: { from: number; to: number }[] = [];
        const aborted = new Set(aborts.map((i) => i % (timeouts.length || 1)));
        const signals = timeouts.map(() => new AbortController());
        const waits = timeouts.map(async (timeout, i) => {
          const { signal } = signals[i]!;
          const path = () => until(words, 1);
          const from = performance.now() + timeout;
          const wait = tryBlockAsync(path, { timeout, signal });
          const called = performance.now();
          const to = called + timeout;
          const failed = await wait.catch((reason) => reason);
          if (failed === "stop") return;
          assert.is(failed, false);
          assert.ok(performance.now() >= from, "too early");
          // On a busy machine the time may be over before the call is: then
          // it ends at once, before others whose timer is late.
          if (called < from) ended.push({ from, to });
        });
        for (const i of aborted) signals[i]?.abort("stop");
        await Promise.all(waits);
        let last = 0;
        for (const { from, to } of ended) {
          assert.ok(to >= last, "an earlier one ended later");
          last = Math.max(last, from);
        }
      },
    ),
    { numRuns: 15 },
  );
});

test("one signal may abort any number of waits, once each", async () => {
  const words = WORDS();
  const abort = new AbortController();
  const { signal } = abort;
  const waits = Array.from(
    { length: 1000 },
    (_, i) => blockAsync(() => until(words, i % 2), { signal }),
  );
  const served = waits.filter((_, i) => i % 2 === 0);
  assert.ok((await Promise.all(served)).every((value) => value));
  abort.abort("stop");
  for (const wait of waits.filter((_, i) => i % 2 === 1)) {
    assert.is(await wait.catch((reason) => reason), "stop");
  }
});

test("an abort ends a wait whoever else listens to its signal", async () => {
  const abort = new AbortController();
  const { signal } = abort;
  const heard: string[] = [];
  signal.addEventListener("abort", () => heard.push("before"));
  const wait = blockAsync(() => until(WORDS(), 1), { signal });
  signal.addEventListener("abort", () => heard.push("after"));
  abort.abort("stop");
  assert.is(await wait.catch((reason) => reason), "stop");
  assert.equal(heard, ["before", "after"]);
});

test("results come also where a test replaced the timers", async () => {
  const host = globalThis as { setImmediate?: unknown };
  const { setImmediate: before } = host;
  host.setImmediate = () => {}; // of a clock that stands still
  try {
    const semaphore = Semaphore.create(1);
    const end = performance.now() + 50;
    while (performance.now() < end) {
      await semaphore.acquireAsync();
      semaphore.release();
    }
  } finally {
    host.setImmediate = before;
  }
});

test("wrong timeouts and options are refused before a step", async () => {
  const { signal } = new AbortController();
  const refused: [options: unknown, error: string][] = [
    [
      50,
      "TypeError: Options must be an object, such as { timeout }: " +
      "received 50",
    ],
    [
      null,
      "TypeError: Options must be an object, such as { timeout }: " +
      "received null",
    ],
    [signal, "TypeError: Unknown option"],
    [
      { timout: 50 },
      'TypeError: Unknown option "timout": expected timeout, ' +
      "signal, ref",
    ],
    [
      { timeout: 1n },
      "TypeError: A timeout must be a number of ms, 0 or " +
      "more: received 1n",
    ],
    [
      { timeout: "" },
      "TypeError: A timeout must be a number of ms, 0 or " +
      'more: received ""',
    ],
    [
      { timeout: null },
      "TypeError: A timeout must be a number of ms, 0 or " +
      "more: received null",
    ],
    [
      { timeout: Symbol("s") },
      "TypeError: A timeout must be a number of " +
      "ms, 0 or more: received Symbol(s)",
    ],
    [
      { timeout: NaN },
      "RangeError: A timeout must be a number of ms, 0 or " +
      "more: received NaN",
    ],
    [
      { timeout: -1 },
      "RangeError: A timeout must be a number of ms, 0 or " +
      "more: received -1",
    ],
    [
      { signal: { aborted: false } },
      "TypeError: A signal must be an " +
      "AbortSignal: received [object Object]",
    ],
    [
      { signal: new EventTarget() },
      "TypeError: A signal must be an " +
      "AbortSignal: received [object EventTarget]",
    ],
    [
      { signal: null },
      "TypeError: A signal must be an AbortSignal: " +
      "received null",
    ],
    [{ ref: 0 }, "TypeError: ref must be a boolean: received 0"],
  ];
  const never = () => assert.unreachable("the path began");
  const errorOf = async (run: typeof tryBlockAsync, options: unknown) => {
    const wait = run(never as never, options as TryAsyncOptions);
    return String(await wait.catch((reason) => reason));
  };
  for (const [options, error] of refused) {
    const got = await errorOf(tryBlockAsync, options);
    assert.ok(got.startsWith(error), got);
    assert.match(await errorOf(blockAsync, options), /^(Type|Range)Error: /);
  }
  assert.is(
    await errorOf(blockAsync, { timeout: 5 }),
    'TypeError: Unknown option "timeout": expected signal, ref',
  );
  for (const timeout of [1n, "1", null, NaN, -1, {}]) {
    assert.throws(() => block(until(WORDS(), 1), timeout as number), /timeout/);
  }
});

test("tryBlockAsync() tries once unless told otherwise", async () => {
  assert.is(await tryBlockAsync(() => until(WORDS(), 1)), false);
  assert.is(await tryBlockAsync(() => until(WORDS(), 0), {}), true);
});

test("a patient path sleeps past its end, and keeps its result", async () => {
  for (const stop of ["timeout", "abort"]) {
    const words = WORDS();
    const abort = new AbortController();
    const wait = tryBlockAsync(() => until(words, 1, [], { patient: true }), {
      signal: abort.signal,
      timeout: stop === "timeout" ? 1 : Infinity,
    });
    await passed(20);
    if (stop === "timeout") {
      assert.is(await nowOf(wait), "pending");
      set(words, 1);
      assert.is(await wait, true);
    } else {
      set(words, 1);
      abort.abort("too late");
      assert.is(await wait.catch((reason) => reason), true);
    }
  }
});

test("a wait that gives up leaves no native wait behind", async () => {
  for (const stop of ["abort", "timeout", "any"]) {
    const words = WORDS();
    const abort = new AbortController();
    const { signal } = abort;
    const path = () => until(words, 1);
    const gone: Promise<unknown> = stop === "timeout"
      ? tryBlockAsync(path, { timeout: 100 })
      : stop === "abort"
      ? blockAsync(path, { signal }).catch(() => {})
      : blockAnyAsync([path, () => until(WORDS(), 1)], { signal })
        .catch(() => {});
    const other = Atomics.waitAsync(words, 0, 0, 3000); // as another agent's
    assert.ok(other.async);
    if (stop === "timeout") await gone;
    else abort.abort();
    // The other one is woken as well, looks again, and sleeps on.
    assert.is(Atomics.notify(words, 0), 0, `${stop}: somebody waits still`);
    assert.is(await other.value, "ok");
  }
});

test("a wait that gives up leaves those behind it in line asleep", async () => {
  const words = WORDS();
  const abort = new AbortController();
  const log: string[] = [];
  const gone = blockAsync(() => until(words, 1), { signal: abort.signal });
  const stays = blockAsync(() => until(words, 1, log));
  gone.catch(() => {});
  abort.abort();
  await turns();
  assert.equal(log, []);
  set(words, 1, 1);
  assert.ok(await stays);
});

test("an agent that gave up 20,000 waits blocks at once", async () => {
  const abort = new AbortController();
  const { signal } = abort;
  const waits = Array.from(
    { length: 20_000 },
    () => blockAsync(() => until(WORDS(), 1), { signal }).catch(() => 0),
  );
  abort.abort();
  await Promise.all(waits);
  await turns();
  const { notify } = Atomics;
  let count = 0;
  try {
    Atomics.notify = (words: Int32Array | BigInt64Array, ...more: number[]) => {
      count++;
      return notify(words as Int32Array, ...more as [number, number?]);
    };
    block(until(WORDS(), 1), 1);
  } finally {
    Atomics.notify = notify;
  }
  assert.is(count, 0, "it had native waits to end first");
});

test("waitAny() arms no native wait where a source is ready", async () => {
  const words = WORDS();
  const ready = () => until(words, 0);
  const wait = blockAnyAsync([() => until(words, 1), ready]);
  assert.is(Atomics.notify(words, 0), 0);
  assert.is(await wait, 1);
});

test("iterate() gives each value once, to the end, an error or a return", async () => {
  const END = new Error("end");
  const source = (values: number[], last: Error) => ({
    take() {
      const value = values.shift();
      if (value === undefined) throw last;
      return value % 2 === 0 ? value : (values.unshift(value + 1), undefined);
    },
    takeAsync: () => Promise.resolve(values.shift()! * 10),
    isEnd: (error: unknown) => error === END,
  });
  const all: number[] = [];
  for await (const value of iterate(source([0, 1, 4], END))) all.push(value);
  assert.equal(all, [0, 20, 4]);
  const failing = iterate(source([6], new Error("damaged")));
  assert.equal(await failing.next(), { done: false, value: 6 });
  assert.match(String(await failing.next().catch(String)), "damaged");
  assert.is((await failing.next()).done, true);
  const left = iterate(source([0, 2, 4], END));
  for await (const _ of left) break;
  assert.is((await left.next()).done, true);
});

// An agent may be terminated between publishing and waking. Then the words show
// that there is something, but nobody was woken.
const untold: [string, () => [wait: Promise<unknown>, publish: () => void]][] =
  [
    ["Mutex", () => {
      const mutex = Mutex.create();
      asAgent(5, () => new Mutex(mutex.buffer)).lock();
      const publish = () => wordsOf(mutex).fill(0, 0, 1);
      return [mutex.lockAsync(), publish];
    }],
    ["Semaphore, 1 permit", () => {
      const semaphore = Semaphore.create(0);
      const publish = () =>
        wordsOf(semaphore)[LAYOUT.semaphore.permits] = 1 << 2;
      return [semaphore.acquireAsync(), publish];
    }],
    ["Semaphore, 2 permits", () => {
      const semaphore = Semaphore.create(0);
      const publish = () =>
        wordsOf(semaphore)[LAYOUT.semaphore.permits] = 2 << 2;
      return [semaphore.acquireAsync(2), publish];
    }],
    ["SpscQueue", () => {
      const queue = SpscQueue.create({ capacity: 4 });
      const publish = () => wordsOf(queue)[LAYOUT.spsc_queue.tail] = 4;
      return [queue.popIntAsync(), publish];
    }],
    ["MpmcQueue", () => {
      const queue = MpmcQueue.create({ capacity: 4 });
      const words = wordsOf(queue);
      const publish = () => {
        words[LAYOUT.mpmc_queue.tail] = 2;
        words[LAYOUT.mpmc_queue.length] = 1;
      };
      return [queue.popIntAsync(), publish];
    }],
    ["MpmcQueue, closed", () => {
      const queue = MpmcQueue.create({ capacity: 4 });
      const publish = () => wordsOf(queue)[LAYOUT.mpmc_queue.tail] = 1;
      return [queue.popIntAsync().catch(() => 0), publish];
    }],
    ["WorkCounter", () => {
      const work = WorkCounter.create(1);
      const publish = () => wordsOf(work)[LAYOUT.work_counter.done] = 1;
      return [work.waitAsync(), publish];
    }],
  ];

test("what was published without a wake is found within seconds", async () => {
  const waits = untold.map(async ([name, begin]) => {
    const [wait, publish] = begin();
    await turns();
    publish();
    assert.ok(await endsWithin(2500, wait), `${name}: asleep beside it`);
  });
  await Promise.all(waits);
});

// ---- two ways to wait -------------------------------------------------------

/**
 * The share of waits that spin, of 4000: from one to the next it takes
 * `spinning` or `sleeping` microseconds. Of other waits before, half as many
 * are ignored.
 */
function shareOfSpins(spinning: number, sleeping: number): number {
  const waits = 6000;
  const { now } = performance;
  let time = now.call(performance);
  let spins = 0;
  performance.now = () => time;
  try {
    for (let i = 0; i < waits; i++) {
      const spun = spinPatiently(() => true) !== undefined;
      time += (spun ? spinning : sleeping) / 1000;
      if (spun && i >= waits / 3) spins++;
    }
  } finally {
    performance.now = now;
  }
  return spins / (waits * 2 / 3);
}

test("an agent waits in the way that is faster, or sleeps", () => {
  assert.ok(shareOfSpins(4, 10) > 0.9, "both agents have a core");
  assert.ok(shareOfSpins(30, 10) < 0.1, "they share a core");
  assert.ok(shareOfSpins(4, 10) > 0.9, "each has a core again");
  assert.ok(shareOfSpins(9, 10) < 0.1, "it is about the same");
  assert.ok(shareOfSpins(5000, 5000) < 0.1, "answers are slow");
});
