// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  Broadcast,
  Channel,
  codec,
  Event,
  inspect,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  RecordRing,
  type Region,
  Semaphore,
  SpscQueue,
  type Waitable,
  waitAny,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  bytesOf,
  nowOf,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";

/**
 * A source to wait for, the step that makes it ready, and a check whether it
 * still is.
 */
interface Kind {
  source: Waitable;
  memory: SharedArrayBuffer;
  fill(): void;
  take(): boolean;
  /** Whether `take` leaves it ready. */
  lasts?: boolean;
}

const queue = (
  it: Region & Waitable & {
    tryPushInt(v: number): boolean;
    tryPopInt(): number | undefined;
  },
): Kind => ({
  source: it,
  memory: it.buffer,
  fill: () => assert.ok(it.tryPushInt(7)),
  take: () => it.tryPopInt() === 7,
});

const KINDS: Record<string, () => Kind> = {
  spsc: () => queue(SpscQueue.create({ capacity: 4 })),
  mpmc: () => queue(MpmcQueue.create({ capacity: 4 })),
  lockFree: () => queue(LockFreeQueue.create({ capacity: 4 })),
  ring: () => {
    const it = RecordRing.create({ capacity: 64 });
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.tryPush(Uint8Array.of(7)),
      take: () => it.tryPop()?.[0] === 7,
    };
  },
  subscription: () => {
    const it = Broadcast.create({ capacity: 4 });
    const seat = it.subscribe();
    return {
      source: seat,
      memory: it.buffer,
      fill: () => it.tryPushInt(7),
      take: () => seat.tryPopInt() === 7,
    };
  },
  text: () => {
    const it = Channel.create({ codec: codec.text, capacity: 64 });
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.trySend(""),
      take: () => it.tryReceive() === "",
    };
  },
  i32: () => {
    const it = Channel.create({ codec: codec.i32, capacity: 4 });
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.trySend(7),
      take: () => it.tryReceive() === 7,
    };
  },
  semaphore: () => {
    const it = Semaphore.create();
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.release(),
      take: () => it.tryAcquire(),
    };
  },
  signal: () => {
    const it = Event.create({ autoReset: true });
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.set(),
      take: () => it.tryWait(),
    };
  },
  event: () => {
    const it = Event.create();
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.set(),
      take: () => it.tryWait(),
      lasts: true,
    };
  },
  latch: () => {
    const it = Latch.create(1);
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.countDown(),
      take: () => it.tryWait(),
      lasts: true,
    };
  },
  group: () => {
    const it = WaitGroup.create();
    it.add();
    return {
      source: it,
      memory: it.buffer,
      fill: () => it.done(),
      take: () => it.tryWait(),
      lasts: true,
    };
  },
  work: () => {
    const it = WorkCounter.create(1);
    return {
      source: it,
      memory: it.buffer,
      fill: () => {
        it.next();
        it.done();
      },
      take: () => it.completed === 1,
      lasts: true,
    };
  },
};

const names = Object.keys(KINDS);
const all = () => names.map((name) => KINDS[name]!());
const sourcesOf = (kinds: Kind[]) => kinds.map(({ source }) => source);

/** Waits at every source at once, which all end at once. */
const never = (kinds: Kind[]) => waitAny(sourcesOf(kinds), { timeout: 5 });

const test = suite("waitAny");

test("a source that is ready already is returned at once, the first one first", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(names, { minLength: 1 }),
      fc.nat(),
      fc.nat(),
      async (names, some, other) => {
        const kinds = names.map((name) => KINDS[name]!());
        const filled = [some % kinds.length, other % kinds.length];
        for (const i of new Set(filled)) kinds[i]!.fill();
        const first = Math.min(...filled);
        const before = bytesOf(kinds[first]!.memory);
        assert.is(await waitAny(sourcesOf(kinds)), first);
        if (!/ring|text/.test(names[first]!)) { // these note what they saw
          assert.equal(bytesOf(kinds[first]!.memory), before);
        }
        for (const i of new Set(filled)) assert.ok(kinds[i]!.take());
        for (const [i, kind] of kinds.entries()) {
          if (!(filled.includes(i) && kind.lasts)) assert.not.ok(kind.take());
        }
      },
    ),
    { numRuns: 60 },
  );
});

for (const [at, name] of names.entries()) {
  test(`the first to become ready ends it: ${name}`, async () => {
    const kinds = all();
    const waiting = waitAny(sourcesOf(kinds));
    assert.is(await nowOf(waiting), "pending");
    kinds[at]!.fill();
    assert.is(await waiting, at);
    assert.ok(kinds[at]!.take(), "nothing was taken");
    for (const [i, kind] of kinds.entries()) {
      if (i !== at) assert.not.ok(kind.take());
    }
  });
}

/** Bits of the memory that show that somebody waits. */
function waitersOf(kinds: Kind[]): number[] {
  const semaphore = kinds[names.indexOf("semaphore")]!;
  const event = kinds[names.indexOf("signal")]!;
  const words = new Int32Array(semaphore.memory);
  const queues = ["mpmc", "ring", "subscription"].map((name) => {
    const memory = new Int32Array(kinds[names.indexOf(name)]!.memory);
    return memory[name === "subscription" ? 65 : 97]!;
  });
  const state = new Int32Array(event.memory)[0]!;
  const { waiters, bulk } = LAYOUT.semaphore;
  return [words[waiters]!, words[bulk]!, state >> 16, ...queues];
}

test("however it ends, no waiter is left behind", async () => {
  const reason = new Error("enough");
  const ends: ((kinds: Kind[], control: AbortController) => void)[] = [
    (_, control) => control.abort(reason),
    (kinds) => kinds[1]!.fill(),
    (kinds) => kinds[7]!.fill(),
    () => {}, // times out
  ];
  for (const [i, end] of ends.entries()) {
    const kinds = all();
    const control = new AbortController();
    const timeout = i === ends.length - 1 ? 10 : Infinity;
    const waiting = waitAny(sourcesOf(kinds), {
      timeout,
      signal: control.signal,
    }).catch((error) => error);
    // Without the bit of a queue that says that they await.
    const counts = waitersOf(kinds).map((n) => n & 0x7fff_ffff);
    assert.ok(counts.every((n, k) => n === (k === 1 ? 0 : 1)), `${counts}`);
    end(kinds, control);
    assert.is(await waiting, [reason, 1, 7, undefined][i]);
    await turns();
    assert.ok(waitersOf(kinds).every((n) => n === 0), `${waitersOf(kinds)}`);
  }
});

test("if a source is ready at the call, no waiter is left at those before", async () => {
  const empty = Semaphore.create(0);
  const free = Semaphore.create(1);
  assert.is(await waitAny([empty, free]), 1);
  assert.is(inspect(empty).waiters, 0);
  assert.is(free.available, 1);
});

test("the first error counts, and every path is given up", async () => {
  const words = new Int32Array(new SharedArrayBuffer(4));
  /** A source whose path throws once it has slept. */
  const failing = (message: string): Waitable => ({
    *readiness() {
      yield { words, index: 0, value: 0 };
      throw new Error(message);
    },
  });
  /** A source whose path throws at once. */
  const broken: Waitable = {
    // deno-lint-ignore require-yield
    *readiness() {
      throw new Error("first");
    },
  };
  for (const last of [broken, Semaphore.create(1)]) {
    const before = Semaphore.create(0);
    const behind = Semaphore.create(0);
    const failures = [failing("second"), failing("third")];
    const all = [before, ...failures, behind, last];
    const error = await waitAny(all).catch((error) => error);
    assert.is(error.message, last === broken ? "first" : "second");
    for (const it of [before, behind]) assert.is(inspect(it).waiters, 0);
  }
});

test("a wake that it used up is passed on to an agent that takes", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const permits = Semaphore.create();
  const signal = Event.create({ autoReset: true });
  for (let round = 0; round < 3; round++) {
    const control = new AbortController();
    const looks = Array.from(
      { length: 3 },
      () =>
        waitAny([jobs, permits, signal], { signal: control.signal })
          .catch(() => "aborted"),
    );
    const takes = [
      jobs.popIntAsync(),
      permits.acquireAsync(),
      signal.waitAsync(),
    ];
    const late = new AbortController();
    const more = waitAny([jobs, permits, signal], { signal: late.signal })
      .catch(() => "aborted");
    await turns();
    if (round === 1) control.abort(); // just before
    jobs.tryPushInt(7);
    permits.release();
    signal.set();
    if (round === 2) control.abort(); // just after
    assert.equal(await Promise.all(takes), [7, undefined, undefined]);
    late.abort();
    control.abort();
    await more;
    await Promise.all(looks);
    assert.is(jobs.size, 0);
    assert.is(permits.available, 0);
    // A set is kept once for each waiter, and these only looked.
    while (signal.tryWait());
  }
});

test("a look at an old head does not hide what lies behind it", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const other = new MpmcQueue(jobs.buffer);
  for (const job of [7, 9, 11]) jobs.tryPushInt(job);
  const { load } = Atomics;
  let loads = 0;
  // Another consumer is faster: it pops within the first look, and would pop
  // within the second.
  Atomics.load = ((words: Int32Array, index: number) => {
    const value = load(words, index);
    if (index === LAYOUT.mpmc_queue.head && [1, 3].includes(++loads)) {
      other.tryPopInt();
    }
    return value;
  }) as typeof Atomics.load;
  const waiting = waitAny([jobs]);
  Atomics.load = load;
  assert.is(await nowOf(waiting), 0);
  assert.is(jobs.tryPopInt(), 9);
});

test("a queue that is closed is ready", async () => {
  const closing = [
    MpmcQueue.create({ capacity: 2 }),
    SpscQueue.create({ capacity: 2 }),
    LockFreeQueue.create({ capacity: 2 }),
    RecordRing.create({ capacity: 64 }),
    Channel.create({ codec: codec.text, capacity: 64 }),
    Channel.create({ codec: codec.i32, capacity: 2 }),
  ];
  for (const [i, it] of closing.entries()) {
    const waiting = waitAny(closing.slice(i));
    assert.is(await nowOf(waiting), "pending");
    it.close();
    assert.is(await waiting, 0);
    assert.is(await waitAny([it]), 0);
  }
  const broadcast = Broadcast.create({ capacity: 2 });
  const seat = broadcast.subscribe();
  const waiting = waitAny([seat]);
  broadcast.close();
  assert.is(await waiting, 0);
});

test("an event that is reset at once was ready", async () => {
  const event = Event.create();
  const other = Event.create({ autoReset: true });
  const waiting = waitAny([other, event]);
  await turns();
  event.set();
  event.reset();
  assert.is(await waiting, 1);
});

test("one source may be there twice, and waited for by many", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const waits = Array.from(
    { length: 5 },
    (_, i) => waitAny(i % 2 ? [jobs, jobs] : [jobs]),
  );
  jobs.tryPushInt(1);
  assert.equal(await Promise.all(waits), [0, 0, 0, 0, 0]);
  assert.is(jobs.tryPopInt(), 1);
  assert.is(wordsOf(jobs)[97], 0);
});

test("a timeout ends it if no source becomes ready", async () => {
  assert.is(await never(all()), undefined);
  assert.is(await waitAny(sourcesOf(all()), { timeout: 0 }), undefined);
  const kinds = all();
  kinds.at(-1)!.fill();
  const last = kinds.length - 1;
  assert.is(await waitAny(sourcesOf(kinds), { timeout: 0 }), last);
});

test("wrong arguments are refused before anything is touched", async () => {
  const jobs = MpmcQueue.create({ capacity: 4 });
  const { buffer } = jobs;
  await rejects(buffer, waitAny([]), RangeError, "needs a source");
  for (const wrong of [undefined, null, 7, {}, Mutex.create()] as never[]) {
    const waiting = waitAny([jobs, wrong]);
    await rejects(buffer, waiting, TypeError, "source 1", "received ");
  }
  const lock = waitAny([Mutex.create()] as never[]);
  await rejects(buffer, lock, TypeError, "received a mutex");
  const missing = waitAny(new Array(1));
  await rejects(buffer, missing, TypeError, "source 0", "received undefined");
  for (const timeout of [-1, NaN]) {
    const waiting = waitAny([jobs], { timeout });
    await rejects(buffer, waiting, RangeError, `received ${timeout}`);
  }
  const signal = {} as AbortSignal;
  await rejects(buffer, waitAny([jobs], { signal }), TypeError, "AbortSignal");
  const reason = new Error("before");
  const aborted = AbortSignal.abort(reason);
  const error = await waitAny([jobs], { signal: aborted }).catch((e) => e);
  assert.is(error, reason);
  const seat = Broadcast.create({ capacity: 2 }).subscribe();
  seat.leave();
  const left = await waitAny([jobs, seat]).catch((error) => error);
  assert.instance(left, TypeError);
  await turns();
  refuses(buffer, () => jobs.tryPushInt(0.5), RangeError);
  assert.is(wordsOf(jobs)[97], 0);
});
