/**
 * One of each primitive, and all that can be called on it without waiting.
 *
 * @module
 */
import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  type Codec,
  codec,
  Condition,
  Event,
  HashMap,
  Latch,
  LockFreeQueue,
  type Memory,
  MpmcQueue,
  Mutex,
  Once,
  RecordRing,
  type Region,
  RwLock,
  Semaphore,
  ShapeTable,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WaitGroup,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { planFor } from "../../primitives/_map/plan.ts";
import { made } from "../_run/made.ts";

/** One kind of primitive, and what can be called without waiting. */
export interface Subject {
  readonly byteLength: number;
  /** Makes one that holds something. */
  init(memory: Memory, at: number): Region;
  /** A second view, as another agent has it. */
  attach(memory: Memory, at: number): Region;
  readonly calls: Readonly<Record<string, (view: never) => unknown>>;
}

/** Checks the types of a subject, and then forgets them. */
const subject = <T extends Region>(
  it: {
    readonly byteLength: number;
    init(memory: Memory, at: number): T;
    attach(memory: Memory, at: number): T;
    readonly calls: Readonly<Record<string, (view: T) => unknown>>;
  },
): Subject => it as unknown as Subject;

const four = Int32Array.of(7);
const into = new Int32Array(1);
const many = new Int32Array(4);
const bytes = Uint8Array.of(1, 2, 3, 4, 5);
const large = new Uint8Array(64);

/** The codecs of a map. */
const TEXTS = { key: codec.text, value: codec.i32 };

/** The same as a cache. */
const CACHE = { ...TEXTS, evict: "clock" as const };

/** The same, whose entries expire. */
const EXPIRING = { ...CACHE, capacity: 5, ttl: 5 };

/** Texts that lie in a heap of blocks with room for 8 bytes. */
const LONG = {
  key: codec.text,
  value: codec.text,
  capacity: 5,
  valueSize: 40,
  heap: { bytes: 12 * 16, blockSize: 16, inEntry: 4 },
};

/** Keys that lie there: texts in quotation marks have at least 3 bytes. */
const LONG_KEYS = {
  key: codec.json as unknown as Codec<string>,
  value: codec.i32,
  capacity: 5,
  keySize: 40,
  heap: { bytes: 12 * 16, blockSize: 16, keyInEntry: 2 },
};

/** What a map can do with values that `make` makes of numbers. */
const ofMapsOf = <V>(
  make: (n: number) => V,
): Readonly<Record<string, (view: HashMap<string, V>) => unknown>> => ({
  get: (x) => x.get("3"),
  has: (x) => x.has("4"),
  tryWaitFor: (x) => x.tryWaitFor("4"),
  set: (x) => {
    for (let n = 0; n < 7; n++) unlocked(x).set(`${n}`, make(n));
  },
  delete: (x) => unlocked(x).delete("5"),
  take: (x) => unlocked(x).take("2"),
  update: (x) => unlocked(x).update("1", () => make(7)),
  getOrInsert: (x) => unlocked(x).getOrInsert("1", () => make(7)),
  entries: (x) => inRange([...x].length, 0, 5),
  size: (x) => inRange(x.size, 0, 5),
  clear: (x) => unlocked(x).clear(),
  abandon: (x) => x.abandon(5),
});

/** What a map of numbers can do. */
const ofMaps: Readonly<
  Record<string, (view: HashMap<string, number>) => unknown>
> = {
  ...ofMapsOf((n) => n),
  add: (x) => unlocked(x).add("1", 1),
  compareExchange: (x) => unlocked(x).compareExchange("1", 1, 2),
};

/** A map whose buckets nobody holds: its writers do not wait. */
function unlocked<V>(map: HashMap<string, V>): HashMap<string, V> {
  const { length } = LAYOUT.hash_map;
  const { buckets, bucketCount } = planFor(length, map.capacity, 9, 1);
  const words = new Int32Array(map.buffer, map.byteOffset);
  for (let i = 0; i < bucketCount; i++) words[buckets + 4 * i] = 0;
  return map;
}

type AnyQueue = SpscQueue | MpmcQueue | LockFreeQueue;

/** What all three queues can do. */
const ofQueues: Readonly<Record<string, (view: AnyQueue) => unknown>> = {
  tryPushInt: (q) => q.tryPushInt(5),
  tryPopInt: (q) => q.tryPopInt(),
  tryPush: (q) => q.tryPush(four),
  tryPopInto: (q) => q.tryPopInto(into),
  tryPop: (q) => q.tryPop(),
  tryPushMany: (q) => q.tryPushMany(many, 4),
  tryPopMany: (q) => q.tryPopMany(many, 4),
  reserve: (q) => q.reserve() && q.commit(),
  peek: (q) => q.peek() && q.consume(),
  // A LockFreeQueue may hold more: see the comment of its class.
  size: (q) => inRange(q.size, 0, Math.max(2 * q.capacity, 16)),
  closed: (q) => q.closed,
  close: (q) => q.close(),
};

/** What only a queue of one producer and one consumer can do. */
const ofSpsc: Readonly<Record<string, (view: SpscQueue) => unknown>> = {
  reserveMany: (q) => {
    const pieces = q.reserveMany(3);
    if (pieces === undefined) return;
    inRange(count(pieces), 1, 3);
    for (const piece of pieces) piece.fill(1);
    q.commitMany(count(pieces));
  },
  peekMany: (q) => {
    const pieces = q.peekMany(3);
    if (pieces === undefined) return;
    inRange(count(pieces), 1, 3);
    q.consumeMany(count(pieces));
  },
};

const count = (pieces: readonly Uint8Array[]) =>
  pieces.reduce((sum, { length }) => sum + length / 4, 0);

const queue = { capacity: 8 };

function filled(q: AnyQueue): void {
  for (let i = 0; i < 3; i++) q.pushInt(i);
  q.popInt();
}

function inRange(n: number, from: number, to: number): void {
  if (!(n >= from && n <= to)) throw new Error(`${n} is not ${from} to ${to}`);
}

/** The calls of a lock. */
const READING: Record<string, (x: RwLock) => unknown> = {
  tryRead: (x) => x.tryRead()?.unlock(),
  tryWrite: (x) => x.tryWrite()?.unlock(),
  unlockRead: (x) => x.unlockRead(),
  unlockWrite: (x) => x.unlockWrite(),
  readers: (x) => x.readers,
  abandon: (x) => x.abandon(5),
  abandonReading: (x) => x.abandonReading(5),
};

/** The calls of a counter of ten tasks. */
const WORK: Record<string, (x: WorkCounter) => unknown> = {
  next: (x) => inRange(x.next(), -1, 9),
  nextRange: (x) => {
    const range = x.nextRange();
    if (range === undefined) return;
    inRange(range.start, 0, 9);
    inRange(range.end, range.start + 1, 10);
  },
  done: (x) => x.done(),
  tryWait: (x) => x.tryWait(),
  remaining: (x) => inRange(x.remaining, 0, 10),
  cancel: (x) => x.cancel(),
};

/** By name: the kind, and what distinguishes it from others of its kind. */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  mutex: subject({
    ...made(Mutex, []),
    calls: {
      tryLock: (x) => x.tryLock()?.unlock(),
      unlock: (x) => x.unlock(),
      owner: (x) => x.owner,
      abandon: (x) => x.abandon(5),
    },
  }),
  rw_lock: subject({
    ...made(RwLock, []),
    calls: READING,
  }),
  "rw_lock, tracked": subject({
    ...made(RwLock, [{ tracked: 2 }]),
    calls: READING,
  }),
  condition: subject({
    ...made(Condition, []),
    calls: {
      notify: (x) => x.notify(),
      "notify(3)": (x) => x.notify(3),
      notifyAll: (x) => x.notifyAll(),
    },
  }),
  semaphore: subject({
    ...made(Semaphore, [3]),
    calls: {
      tryAcquire: (x) => x.tryAcquire(),
      "tryAcquire(2)": (x) => x.tryAcquire(2),
      drain: (x) => x.drain(),
      release: (x) => x.release(),
      available: (x) => x.available,
      abandon: (x) => x.abandon(5),
    },
  }),
  "semaphore, tracked": subject({
    ...made(Semaphore, [3, { tracked: 2 }]),
    calls: {
      tryAcquire: (x) => x.tryAcquire(),
      "tryAcquire(2)": (x) => x.tryAcquire(2),
      drain: (x) => x.drain(),
      release: (x) => x.release(),
      available: (x) => x.available,
      abandon: (x) => x.abandon(5),
    },
  }),
  event: subject({
    ...made(Event, []),
    calls: {
      set: (x) => x.set(),
      tryWait: (x) => x.tryWait(),
      reset: (x) => x.reset(),
      isSet: (x) => x.isSet,
    },
  }),
  latch: subject({
    ...made(Latch, [5]),
    calls: {
      countDown: (x) => x.countDown(),
      tryWait: (x) => x.tryWait(),
      count: (x) => x.count,
    },
  }),
  wait_group: subject({
    ...made(WaitGroup, [], (group) => {
      group.add(2);
    }),
    calls: {
      add: (x) => x.add(),
      done: (x) => x.done(),
      tryWait: (x) => x.tryWait(),
      count: (x) => x.count,
    },
  }),
  barrier: subject({
    ...made(Barrier, [3]),
    calls: {
      parties: (x) => x.parties,
      leave: (x) => x.leave(),
      tryArriveAndWait: (x) => x.tryArriveAndWait(),
    },
  }),
  "barrier, tracked": subject({
    ...made(Barrier, [3, { tracked: 3 }]),
    calls: {
      parties: (x) => x.parties,
      abandon: (x) => x.abandon(5),
      leave: (x) => x.leave(),
      tryArriveAndWait: (x) => x.tryArriveAndWait(),
    },
  }),
  once: subject({
    ...made(Once, []),
    calls: {
      done: (x) => x.done,
      abandon: (x) => x.abandon(5),
      tryRun: (x) => x.tryRun(() => {}),
    },
  }),
  snapshot: subject({
    ...made(Snapshot, [{ size: 8 }]),
    calls: {
      write: (x) => x.write(new Int32Array(2)),
      read: (x) => x.read(new Int32Array(2)),
      version: (x) => x.version,
    },
  }),
  snapshot_of_one: subject({
    ...made(Snapshot, [{ size: 8, singleReader: true }]),
    calls: {
      write: (x) => x.write(new Int32Array(2)),
      read: (x) => x.read(new Int32Array(2)),
    },
  }),
  spsc_queue: subject({
    ...made(SpscQueue<number>, [queue], filled),
    calls: { ...ofQueues, ...ofSpsc },
  }),
  mpmc_queue: subject({
    ...made(MpmcQueue<number>, [queue], filled),
    calls: ofQueues,
  }),
  lock_free_queue: subject({
    ...made(LockFreeQueue<number>, [queue], filled),
    calls: { repair: (q) => q.repair(), ...ofQueues },
  }),
  record_ring: subject({
    ...made(RecordRing, [{ capacity: 128 }], (ring) => {
      for (let i = 0; i < 4; i++) ring.push(bytes.subarray(i));
      ring.pop();
    }),
    calls: {
      tryPop: (x) => inRange(x.tryPop()?.length ?? 0, 0, x.maxLength),
      tryPopInto: (x) => x.tryPopInto(large),
      tryPush: (x) => x.tryPush(bytes),
      reserve: (x) => x.reserve(5) && x.commit(3),
      read: (x) => x.read((r) => inRange(r.length, 0, x.maxLength), 9),
      abandon: (x) => x.abandon(5),
      used: (x) => inRange(x.used, 0, x.capacity),
      closed: (x) => x.closed,
      close: (x) => x.close(),
    },
  }),
  broadcast: subject({
    ...made(Broadcast, [{ ...queue, subscribers: 2 }]),
    calls: {
      subscribe: (x) => x.subscribe().leave(),
      tryPushInt: (x) => x.tryPushInt(5),
      tryPopInt: (x) => x.subscribe().tryPopInt(),
      subscribers: (x) => x.subscribers,
      close: (x) => x.close(),
    },
  }),
  channel: subject({
    byteLength: Channel.byteLength({ codec: codec.json, capacity: 128 }),
    init: (m, at) => {
      const channel = Channel.init(m, at, { codec: codec.json, capacity: 128 });
      for (let i = 0; i < 3; i++) channel.trySend([i]);
      return channel;
    },
    attach: (m, at) => new Channel(m, at, { codec: codec.json }),
    calls: {
      tryReceive: (x) => x.tryReceive(),
      trySend: (x) => x.trySend([1, 2]),
      closed: (x) => x.closed,
      close: (x) => x.close(),
    },
  }),
  call_ring: subject({
    ...made(
      CallRing,
      [{ slots: 2, request: 8, reply: 8 }],
      (ring) => ring.tryPost(four),
    ),
    calls: {
      tryPost: (x) => x.tryPost(four),
      tryTake: (x) => inRange(x.tryTake()?.request.length ?? 0, 0, 8),
      tryServeOne: (x) => x.tryServeOne(() => four),
      abandon: (x) => x.abandon(5),
      close: (x) => x.close(),
    },
  }),
  work_counter: subject({
    ...made(WorkCounter, [10, { chunk: 3 }]),
    calls: WORK,
  }),
  "work_counter, tracked": subject({
    ...made(WorkCounter, [10, { chunk: 3, tracked: 2 }]),
    calls: { ...WORK, abandon: (x) => x.abandon(5) },
  }),
  work_deque: subject({
    ...made(WorkDeque, [queue], (deque) => {
      for (let i = 0; i < 3; i++) deque.push(i);
    }),
    calls: {
      push: (x) => x.push(5),
      pop: (x) => x.pop(),
      steal: (x) => x.steal(),
      size: (x) => inRange(x.size, 0, x.capacity),
      adopt: (x) => x.adopt(),
    },
  }),
  slab_pool: subject({
    ...made(SlabPool, [{ capacity: 40, blockSize: 8 }]),
    calls: {
      allocate: (x) => {
        for (let i = 0; i < 50; i++) {
          inRange(x.allocate(), -1, x.byteLength - 8);
        }
      },
      free: (x) => x.free(x.byteLength - 8),
      available: (x) => inRange(x.available, 0, 40),
      abandon: (x) => x.abandon(5),
    },
  }),
  hash_map: subject({
    byteLength: HashMap.byteLength({ ...TEXTS, capacity: 5 }),
    init: (m, at) => HashMap.init(m, at, { ...TEXTS, capacity: 5 }),
    attach: (m, at) => new HashMap(m, at, TEXTS),
    calls: ofMaps,
  }),
  "hash_map, long values": subject({
    byteLength: HashMap.byteLength(LONG),
    init: (m, at) => {
      const map = HashMap.init(m, at, LONG);
      map.set("1", "four blocks of 16 bytes are enough");
      return map;
    },
    attach: (m, at) => new HashMap(m, at, LONG),
    calls: ofMapsOf((n) => "123456".repeat(n)),
  }),
  "hash_map, long keys": subject({
    byteLength: HashMap.byteLength(LONG_KEYS),
    init: (m, at) => {
      const map = HashMap.init(m, at, LONG_KEYS);
      map.set("1", 1);
      map.set("four blocks of 16 bytes are enough", 2);
      return map;
    },
    attach: (m, at) => new HashMap(m, at, LONG_KEYS),
    calls: ofMaps,
  }),
  "hash_map, cache": subject({
    byteLength: HashMap.byteLength({ ...CACHE, capacity: 5 }),
    init: (m, at) => HashMap.init(m, at, { ...CACHE, capacity: 5 }),
    attach: (m, at) => new HashMap(m, at, TEXTS),
    calls: {
      ...ofMaps,
      hits: (x) => x.hits,
      misses: (x) => x.misses,
      evictions: (x) => x.evictions,
    },
  }),
  "hash_map, entries that expire": subject({
    byteLength: HashMap.byteLength(EXPIRING),
    init: (m, at) => HashMap.init(m, at, EXPIRING),
    attach: (m, at) => new HashMap(m, at, TEXTS),
    calls: ofMaps,
  }),
  shape_table: subject({
    ...made(ShapeTable, [{ bytes: 64 }]),
    calls: {
      add: (x) => {
        for (let n = 0; n < 70; n++) {
          inRange(x.add(Uint8Array.of(n, 1), true), -2, 63);
        }
      },
      textAt: (x) => {
        for (let n = 0; n < 64; n++) x.textAt(n);
      },
      size: (x) => inRange(x.size, 0, 64),
    },
  }),
  striped_counter: subject({
    ...made(StripedCounter, [{ stripes: 2 }]),
    calls: {
      add: (x) => x.add(3),
      sum: (x) => x.sum(),
    },
  }),
};
