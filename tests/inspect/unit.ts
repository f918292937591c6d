// also: node, browsers
// Tests what `inspect` tells about a primitive from its words.
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import {
  agentId,
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Condition,
  Event,
  inspect,
  type Inspection,
  Latch,
  LockFreeQueue,
  type Memory,
  MpmcQueue,
  Mutex,
  Once,
  RecordRing,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WaitGroup,
  WorkCounter,
} from "../../mod.ts";
import {
  KIND,
  LAYOUT,
  type Stem,
  VERSION,
} from "../../primitives/_memory/layout.ts";
import { IN_WEBKIT, suite } from "../_run/harness.ts";
import { CONFIGURED, KINDS } from "../_run/kinds.ts";
import { aKind, bytesOf, refuses } from "../_run/model.ts";
import { SUBJECTS } from "../torture/_subjects.ts";

const test = suite("inspect");

const IN_NODE = Symbol.for("nodejs.util.inspect.custom");
const IN_DENO = Symbol.for("Deno.customInspect");

/** A view, in the form that consoles look for. */
type Shown = Record<
  symbol,
  (show?: (value: unknown) => string, options?: unknown) => unknown
>;

for (const kind of KINDS) {
  const stem = kind.stem as Stem;

  test(`inspect() tells every word of a ${stem} by name, writing none`, () => {
    const { length, ...row }: Record<string, number> = LAYOUT[stem];
    fc.assert(fc.property(fc.nat({ max: 9 }), fc.integer(), (at, word) => {
      const memory = new SharedArrayBuffer(kind.byteLength + 40);
      const view = kind.init(memory, at * 4);
      const words = new Int32Array(memory, at * 4, length);
      for (const [name, index] of Object.entries(row)) {
        // The head must stay, and a count of waiters is not below 0.
        if (name !== "magic") words[index] = word & 0x3fff_ffff;
      }
      const before = bytesOf(memory);
      const found = inspect(memory, at * 4, stem);
      assert.equal(bytesOf(memory), before);
      assert.is(found.kind, stem);
      assert.is(found.byteOffset, at * 4);
      assert.equal(Object.keys(found.words), Object.keys(row));
      for (const [name, index] of Object.entries(row)) {
        assert.is(found.words[name], words[index], name);
      }
      assert.equal(inspect(view), found);
      assert.equal(inspect(view.handle), found);
      if (!IN_WEBKIT) { // whose structuredClone copies shared memory
        const handle = structuredClone(view.handle);
        assert.equal(inspect(handle).words, found.words);
      }
      assert.is(found.byteOffset, JSON.parse(JSON.stringify(found)).byteOffset);
    }));
  });

  test(`a console shows what inspect() tells of a ${stem}`, () => {
    const view = kind.init(new SharedArrayBuffer(kind.byteLength + 4), 4);
    const shown = view as unknown as Shown;
    // But no problems, so that a class does not contain what finds them.
    const { problems, ...told } = inspect(view);
    assert.equal(problems, []);
    assert.equal(shown[IN_NODE]!(), told);
    const options = {};
    let given: unknown[] = [];
    const show = (...values: unknown[]) => (given = values, "a text");
    assert.is(shown[IN_DENO]!(show, options), "a text");
    assert.equal(given[0], told);
    assert.is(given[1], options);
  });

  test(`inspect() refuses a place where no ${stem} can be`, () => {
    const { buffer } = kind.init(new SharedArrayBuffer(kind.byteLength), 0);
    for (const at of [1, 2, -4, 0.5, NaN, Infinity]) {
      const attempt = () => inspect(buffer, at, stem);
      refuses(buffer, attempt, RangeError, stem, `received ${at}`);
    }
    const end = kind.byteLength & ~3;
    const attempt = () => inspect(buffer, end, stem);
    refuses(buffer, attempt, RangeError, stem, ` ${end} `);
    const short = new SharedArrayBuffer(LAYOUT[stem].length * 4 - 4);
    new Int32Array(short).set(new Int32Array(buffer, 0, short.byteLength / 4));
    refuses(short, () => inspect(short, 0, stem), RangeError, stem);
  });
}

for (const kind of CONFIGURED) {
  test(`inspect() knows a ${kind.stem} by its head`, () => {
    const memory = new SharedArrayBuffer(kind.byteLength + 8);
    kind.init(memory, 8);
    assert.is(inspect(memory, 8).kind, kind.stem);
    assert.equal(inspect(memory, 8), inspect(memory, 8, kind.stem));
    const words = new Int32Array(memory);
    words[3]! ^= 4; // torn: it is told all the same
    assert.is(inspect(memory, 8).kind, kind.stem);
    words[2]!++;
    const found = `found 0x${(words[2]! >>> 0).toString(16)}`;
    refuses(memory, () => inspect(memory, 8), TypeError, " 8:", found);
    const attempt = () => inspect(memory, 8, kind.stem);
    refuses(memory, attempt, TypeError, `as ${aKind(kind.stem)}`, found);
    words[2] = 0;
    const version = `version ${VERSION} `;
    refuses(memory, () => inspect(memory, 8), TypeError, version);
  });

  test(`inspect() refuses another primitive as a ${kind.stem}`, () => {
    for (const other of CONFIGURED) {
      if (other === kind) continue;
      const { buffer } = other.init(new SharedArrayBuffer(4096), 0);
      const texts = [`as ${aKind(kind.stem)}`, `this is ${aKind(other.stem)}`];
      refuses(buffer, () => inspect(buffer, 0, kind.stem), TypeError, ...texts);
    }
  });
}

test("inspect() tells what zeroed memory is only if it is named", () => {
  const memory = new SharedArrayBuffer(64);
  for (const stem of Object.keys(LAYOUT) as Stem[]) {
    if (Object.hasOwn(KIND, stem)) continue;
    assert.is(inspect(memory, 0, stem).kind, stem);
  }
  const texts = ["0x00000000", "must be named"];
  refuses(memory, () => inspect(memory, 0), TypeError, ...texts);
  for (const kind of [null, 7, {}, [], Symbol("mutex"), Object.create(null)]) {
    const wrong = () => inspect(memory, 0, kind as never);
    refuses(memory, wrong, TypeError, "must be a string: received");
  }
  for (const kind of ["", "mutexes", "toString", "length"]) {
    const texts = [`inspect ${aKind(kind)}:`];
    refuses(memory, () => inspect(memory, 0, kind), TypeError, ...texts);
  }
});

test("inspect() refuses memory that is not shared, and values that are no views", () => {
  const memory = new SharedArrayBuffer(64);
  for (const value of [new ArrayBuffer(64), 7, null, undefined, {}]) {
    const place = value as unknown as Memory;
    refuses(memory, () => inspect(place, 0), TypeError, "Cannot use");
    refuses(memory, () => inspect(place, 0, "mutex"), TypeError, "Cannot use");
  }
  const handle = { kind: "mutex", buffer: new ArrayBuffer(8), byteOffset: 0 };
  const attempt = () => inspect(handle as unknown as Mutex);
  refuses(memory, attempt, TypeError, "ArrayBuffer");
});

test("inspect() reads a WebAssembly.Memory, after it has grown, too", () => {
  const memory = new WebAssembly.Memory(
    { initial: 1, maximum: 2, shared: true },
  );
  Semaphore.init(memory, 16, 3);
  assert.is(inspect(memory, 16).words.permits, 3 << 2);
  memory.grow(1);
  Semaphore.init(memory, 65536 + 16, 4);
  assert.is(inspect(memory, 65536 + 16).words.permits, 4 << 2);
});

// ---- owner and waiters ------------------------------------------------------

/** What `inspect` tells about agents that hold a primitive or wait for it. */
const holders = ({ owner, waiters }: Inspection) => [owner, waiters];

/** Starts a wait, inspects the primitive, and ends the wait. */
async function waiting(
  it: Parameters<typeof inspect>[0],
  start: (options: { signal: AbortSignal }) => Promise<unknown>[],
): Promise<(number | undefined)[]> {
  const stop = new AbortController();
  const all = Promise.allSettled(start({ signal: stop.signal }));
  const found = holders(inspect(it as Mutex));
  stop.abort();
  await all;
  return found;
}

test("inspect() tells who owns a mutex, and that somebody waits", async () => {
  const mutex = Mutex.create();
  assert.equal(holders(inspect(mutex)), [0, 0]);
  using _lock = mutex.lock();
  assert.equal(holders(inspect(mutex)), [agentId(), 0]);
  const found = await waiting(
    mutex,
    (o) => [mutex.lockAsync(o), mutex.lockAsync(o)],
  );
  assert.equal(found, [agentId(), 1]);
});

test("inspect() tells who writes a lock, and who waits", async () => {
  const lock = RwLock.create();
  const guard = lock.write();
  assert.equal(holders(inspect(lock)), [agentId(), 0]);
  const readers = await waiting(
    lock,
    (o) => [lock.readAsync(o), lock.readAsync(o)],
  );
  assert.equal(readers, [agentId(), 2]);
  const writers = await waiting(lock, (o) => [lock.writeAsync(o)]);
  assert.equal(writers, [agentId(), 1]);
  guard.unlock();
  using _reads = lock.read();
  assert.equal(await waiting(lock, (o) => [lock.writeAsync(o)]), [
    agentId(),
    1,
  ]);
});

test("inspect() tells who runs a once, and that somebody waits", async () => {
  const once = Once.create();
  let go = () => {};
  const run = once.runAsync(() => new Promise<void>((done) => go = done));
  assert.equal(holders(inspect(once)), [agentId(), 0]);
  assert.equal(await waiting(once, (o) => [once.runAsync(() => {}, o)]), [
    agentId(),
    1,
  ]);
  go();
  await run;
  assert.equal(holders(inspect(once))[0], 0);
});

test("inspect() counts the waiters if the words count them", async () => {
  const mutex = Mutex.create();
  const condition = Condition.create();
  const stop = new AbortController();
  const waits = [1, 2, 3].map(async () => {
    using _lock = await mutex.lockAsync();
    await condition.waitAsync(mutex, { signal: stop.signal });
  });
  const all = Promise.allSettled(waits);
  for (let turns = 0; turns < 100; turns++) {
    if (inspect(condition).waiters === 3) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(holders(inspect(condition)), [undefined, 3]);
  stop.abort();
  await all;
  assert.is(inspect(condition).waiters, 0);

  const semaphore = Semaphore.create(0);
  const { length } = await waiting(semaphore, () => []);
  assert.is(length, 2);
  assert.equal(
    await waiting(
      semaphore,
      (o) => [semaphore.acquireAsync(1, o), semaphore.acquireAsync(2, o)],
    ),
    [undefined, 2],
  );

  const event = Event.create({ autoReset: true });
  assert.equal(
    await waiting(event, (o) => [event.waitAsync(o), event.waitAsync(o)]),
    [undefined, 2],
  );
  const barrier = Barrier.create(3);
  assert.equal(
    await waiting(
      barrier,
      (o) => [barrier.arriveAndWaitAsync(o), barrier.arriveAndWaitAsync(o)],
    ),
    [undefined, 2],
  );
  const queue = { capacity: 2 };
  for (const it of [MpmcQueue.create(queue), LockFreeQueue.create(queue)]) {
    const pops = await waiting(it, (o) => [it.popIntAsync(o)]);
    assert.equal(pops, [undefined, 1]);
    while (it.tryPushInt(7));
    const pushes = await waiting(
      it,
      (o) => [it.pushIntAsync(7, o), it.pushIntAsync(7, o)],
    );
    assert.equal(pushes, [undefined, 2]);
  }
  const ring = RecordRing.create({ capacity: 32 });
  assert.equal(await waiting(ring, (o) => [ring.popAsync(o)]), [undefined, 1]);
  const broadcast = Broadcast.create({ capacity: 2, subscribers: 1 });
  const subscription = broadcast.subscribe();
  assert.equal(
    await waiting(broadcast, (o) => [subscription.popIntAsync(o)]),
    [undefined, 1],
  );
});

test("inspect() tells that somebody waits if there is a flag", async () => {
  const event = Event.create();
  assert.equal(holders(inspect(event)), [undefined, 0]);
  assert.equal(await waiting(event, (o) => [event.waitAsync(o)]), [
    undefined,
    1,
  ]);
  const latch = Latch.create(1);
  assert.equal(holders(inspect(latch)), [undefined, 0]);
  assert.equal(await waiting(latch, (o) => [latch.waitAsync(o)]), [
    undefined,
    1,
  ]);
  const group = WaitGroup.create();
  group.add();
  assert.equal(holders(inspect(group)), [undefined, 0]);
  assert.equal(await waiting(group, (o) => [group.waitAsync(o)]), [
    undefined,
    1,
  ]);
  const queue = SpscQueue.create({ capacity: 2 });
  assert.equal(holders(inspect(queue)), [undefined, 0]);
  assert.equal(await waiting(queue, (o) => [queue.popIntAsync(o)]), [
    undefined,
    1,
  ]);
  const work = WorkCounter.create(1);
  assert.equal(holders(inspect(work)), [undefined, 0]);
  assert.equal(await waiting(work, (o) => [work.waitAsync(o)]), [
    undefined,
    1,
  ]);
});

// ---- problems ---------------------------------------------------------------

for (
  const [name, { byteLength, init, attach, calls }] of Object.entries(SUBJECTS)
) {
  test(`inspect() finds no problem in a ${name} that works`, () => {
    const all = Object.values(calls);
    const some = fc.array(fc.nat({ max: all.length - 1 }), { maxLength: 12 });
    fc.assert(
      fc.property(some, fc.boolean(), (order, other) => {
        const memory = new SharedArrayBuffer(byteLength);
        const view = init(memory, 0);
        const theirs = other ? attach(memory, 0) : view;
        assert.equal(inspect(view).problems, []);
        for (const [i, call] of order.entries()) {
          try {
            all[call]!((i % 2 ? theirs : view) as never);
          } catch { /* it is closed, or locked by nobody */ }
          assert.equal(inspect(view).problems, []);
        }
      }),
      { numRuns: 30 },
    );
  });
}

/** A change of the words that no agent makes, and what is told of it. */
type Damage = readonly [
  stem: Stem,
  changes: Readonly<Record<string, number>>,
  word: string,
  text: string,
];

const DAMAGES: readonly Damage[] = [
  ["mutex", { state: -1 }, "state", "Bit 31 is never set."],
  ["mutex", { state: 1 << 28 | 5 }, "state", "there is none"],
  ["mutex", { starving: 2 }, "starving", "0 or 1"],
  ["rw_lock", { state: 1 << 26 | 3, writer: 5 }, "state", "while others read"],
  ["rw_lock", { state: 1 << 26 }, "state", "`writer` names none"],
  ["rw_lock", { writer: 1 << 29 | 5 }, "writer", "there is none"],
  ["rw_lock", { writer_starving: -1 }, "writer_starving", "0 or 1"],
  ["condition", { turn: 2 }, "even", "`turn`"],
  ["condition", { odd: 0, turn: 1 }, "odd", "`turn`"],
  ["semaphore", { permits: 1 << 2 | 3 }, "permits", "names nobody"],
  ["semaphore", { waiters: -1 }, "waiters", "fewer than 0"],
  ["semaphore", { bulk: -1 }, "bulk", "fewer than 0"],
  ["semaphore", { claimant: -1 }, "claimant", "No agent"],
  ["semaphore", { claim: 5 }, "claim", "names nobody"],
  ["semaphore", { claim: -5, claimant: 7 }, "claim", "this number of permits"],
  ["event", { state: -1 }, "state", "Bit 31"],
  ["latch", { state: 1 }, "state", "agents still wait"],
  ["latch", { state: -2 }, "state", "Bit 31"],
  ["wait_group", { state: 1 << 19 | 1 }, "state", "agents still wait"],
  ["barrier", { state: 9 << 12 }, "state", "more parties"],
  ["barrier", { state: 1 << 12 | 1 }, "state", "do not go on"],
  ["once", { state: 1 << 28 | 5 }, "state", "an agent runs it"],
  ["once", { state: 1 << 29 }, "state", "Bits 29 and 31"],
  ["spsc_queue", { head: 8 }, "head", "beyond `tail`"],
  ["spsc_queue", { head_cache: 4 }, "head_cache", "not a recent value"],
  ["spsc_queue", { tail_cache: 4 }, "tail_cache", "not a recent value"],
  ["mpmc_queue", { head: 1 }, "head", "even"],
  ["mpmc_queue", { tail: 64 }, "head", "than the capacity"],
  ["mpmc_queue", { pop_waiters: -1 }, "pop_waiters", "fewer than 0"],
  ["mpmc_queue", { seal: 7 }, "seal", "its seal"],
  ["lock_free_queue", { push_waiters: -1 }, "push_waiters", "fewer than 0"],
  ["record_ring", { tail: 4 }, "tail", "multiple of 8"],
  ["record_ring", { head: 3 }, "head", "multiple of 8"],
  ["record_ring", { claimant: 1 << 30 }, "claimant", "No agent"],
  ["record_ring", { head_cache: 8 }, "head_cache", "not a recent value"],
  ["channel", { codec: 99 }, "seal", "its seal"],
  ["call_ring", { closed: 2 }, "closed", "0 or 1"],
  ["work_counter", { done: -1 }, "done", "0 to `total`"],
  ["work_counter", { target: 1 << 30 }, "target", "0 to `total`"],
  ["work_counter", { finished: 3 }, "finished", "0, 1 or 2"],
  ["work_counter", { finished: 2 }, "finished", "not done"],
  ["work_deque", { top: 9 }, "top", "beyond `bottom`"],
  ["work_deque", { bottom: 99 }, "top", "than the capacity"],
  ["work_deque", { owner: 3 << 28 }, "owner", "No agent"],
  ["broadcast", { producer: 1 << 28 }, "producer", "No agent"],
  ["slab_pool", { capacity: -1 }, "seal", "its seal"],
  ["hash_map", { sizes: 0 }, "seal", "its seal"],
  ["striped_counter", { stripes: 0 }, "seal", "its seal"],
  ["shape_table", { bytes: 0 }, "seal", "its seal"],
];

test("inspect() tells that there are more permits than there can be", () => {
  const semaphore = Semaphore.create(2, { max: 2 });
  assert.equal(inspect(semaphore).problems, []);
  const { permits } = LAYOUT.semaphore;
  new Int32Array(semaphore.buffer)[permits] = 3 << 2;
  const [problem] = inspect(semaphore).problems;
  assert.is(problem?.word, "permits");
  assert.match(problem!.text, "this number of permits");
});

test("inspect() tells which word does not fit together, and why", () => {
  for (const [stem, changes, word, text] of DAMAGES) {
    const kind = KINDS.find((kind) => kind.stem === stem)!;
    const view = kind.init(new SharedArrayBuffer(kind.byteLength), 0);
    const words = new Int32Array(view.buffer);
    const row: Record<string, number> = LAYOUT[stem];
    for (const [name, value] of Object.entries(changes)) {
      words[row[name]!] = value;
    }
    const { problems } = inspect(view);
    const title = `${stem} ${JSON.stringify(changes)}`;
    const found = problems.find((problem) => problem.text.includes(text));
    assert.ok(found, `${title}: ${JSON.stringify(problems)}`);
    assert.is(found.word, word, title);
    assert.is(found.index, row[word], title);
    assert.is(found.value, words[row[word]!], title);
    assert.is(found.what, "damaged", title);
  }
});

test("inspect() tells of parts behind the words", () => {
  const damage = (
    view: { readonly kind: string; readonly buffer: SharedArrayBuffer },
    word: string,
    index: number,
    value: number,
  ) => {
    new Int32Array(view.buffer)[index] = value;
    const { problems } = inspect(view as Mutex);
    const told = problems.map(({ word, index }) => [word, index]);
    assert.equal(told, [[word, index]], view.kind);
  };
  const queue = { capacity: 4 };
  damage(MpmcQueue.create(queue), "slot 2", 160 + 2 * 4, 99);
  damage(LockFreeQueue.create(queue), "entry 3", 224 + 3, 16 | 15);
  const ring = RecordRing.create({ capacity: 64 });
  ring.push(new Uint8Array(3));
  ring.push(new Uint8Array(3));
  damage(ring, "record at 16", 160 + 4, 0);
  const broadcast = Broadcast.create({ ...queue, subscribers: 2 });
  broadcast.subscribe();
  damage(broadcast, "seat 0", 128, 2);
  damage(
    Broadcast.create({ ...queue, subscribers: 2 }),
    "seat 1",
    128 + 32 + 1,
    1 << 29,
  );
  const calls = { slots: 2, request: 4, reply: 4 };
  damage(CallRing.create(calls), "slot 1", 96 + 32, 1 << 28);
  const posted = CallRing.create(calls);
  posted.tryPost(new Uint8Array(4));
  const at = new Int32Array(posted.buffer)[96] ? 96 : 96 + 32;
  damage(posted, `slot ${(at - 96) / 32}`, at + 2, 5);
  damage(SlabPool.create({ ...queue, blockSize: 4 }), "block 1", 64 + 1, -1);
  const counter = StripedCounter.create({ stripes: 2 });
  damage(counter, "stripe 1", 32 + 32 + 1, 8);
  damage(Snapshot.create({ size: 4, singleReader: true }), "state", 32, 3);
  const channel = Channel.create({ codec: codec.i32, capacity: 4 });
  damage(channel, "slot 0 of the mpmc_queue", 32 + 160, 99);
});

test("inspect() tells who claimed a part and has not handed it on", () => {
  const queue = MpmcQueue.create({ capacity: 4 });
  const claimed = () =>
    inspect(queue).problems.map(({ what, word, value, text }) => [
      what,
      word,
      value,
      text.includes(" to push,") ? "push" : "pop",
    ]);
  queue.tryPushInt(1);
  const dead = new MpmcQueue(queue.buffer);
  dead.reserve();
  assert.equal(claimed(), [["claimed", "slot 1", 2, "push"]]);
  dead.peek();
  assert.equal(claimed(), [
    ["claimed", "slot 0", 1, "pop"],
    ["claimed", "slot 1", 2, "push"],
  ]);
  dead.commit();
  dead.consume();
  assert.equal(claimed(), []);
  const ring = RecordRing.create({ capacity: 64 });
  new Int32Array(ring.buffer)[LAYOUT.record_ring.claimant] = 77;
  const [problem, ...more] = inspect(ring).problems;
  assert.equal(more, []);
  assert.equal([problem!.what, problem!.word, problem!.value], [
    "claimed",
    "claimant",
    77,
  ]);
});

test("inspect() tells a problem that 20 more looks find, and no other", () => {
  const barrier = Barrier.create(3);
  const { state } = LAYOUT.barrier;
  const words = new Int32Array(barrier.buffer);
  const { load } = Atomics;
  // The words that it shows are loaded once, and the problem is found once.
  for (const last of [21, 22]) {
    let looks = 0;
    // The problem is gone behind load number `last`.
    Atomics.load = ((array: Int32Array, index: number) => {
      if (array.buffer === words.buffer && index === state) {
        words[state] = ++looks > last ? 0 : 3 << 12 | 3;
      }
      return load(array, index);
    }) as typeof load;
    try {
      assert.is(inspect(barrier).problems.length, last - 21, `${last}`);
    } finally {
      Atomics.load = load;
    }
    assert.is(looks, 22);
  }
});

test("inspect() looks at 65,536 slots of a queue, and no more", () => {
  const queue = MpmcQueue.create({ capacity: 2 ** 17 });
  const words = new Int32Array(queue.buffer);
  const { length } = LAYOUT.mpmc_queue;
  const stride = (words.length - length) / queue.capacity;
  for (const [slot, told] of [[0, 1], [65_535, 1], [65_536, 0]] as const) {
    const at = length + slot * stride;
    const turn = words[at]!;
    words[at] = 99;
    assert.is(inspect(queue).problems.length, told, `slot ${slot}`);
    words[at] = turn;
  }
});

test("inspect() tells 16 problems at most", () => {
  const queue = MpmcQueue.create({ capacity: 32 });
  new Int32Array(queue.buffer).fill(-7, LAYOUT.mpmc_queue.length);
  assert.is(inspect(queue).problems.length, 16);
});

test("inspect() tells that a channel has no queue, and that memory ends", () => {
  const channel = Channel.create({ codec: codec.i32, capacity: 4 });
  new Int32Array(channel.buffer)[LAYOUT.channel.length] = 0;
  const [none, ...rest] = inspect(channel.buffer, 0).problems;
  assert.equal([none!.word, rest], ["magic", []]);
  assert.match(none!.text, /no queue/);
  const { buffer, byteLength } = MpmcQueue.create({ capacity: 4 });
  const short = new SharedArrayBuffer(byteLength - 4);
  new Int32Array(short).set(new Int32Array(buffer, 0, byteLength / 4 - 1));
  const [end, ...more] = inspect(short, 0).problems;
  assert.equal([end!.word, more], ["capacity", []]);
  assert.match(end!.text, /not fit the memory/);
});
