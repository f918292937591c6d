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

function filled<Q extends AnyQueue>(q: Q): Q {
  for (let i = 0; i < 3; i++) q.pushInt(i);
  q.popInt();
  return q;
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
    byteLength: Mutex.byteLength(),
    init: (m, at) => Mutex.init(m, at),
    attach: (m, at) => new Mutex(m, at),
    calls: {
      tryLock: (x) => x.tryLock()?.unlock(),
      unlock: (x) => x.unlock(),
      owner: (x) => x.owner,
      abandon: (x) => x.abandon(5),
    },
  }),
  rw_lock: subject({
    byteLength: RwLock.byteLength(),
    init: (m, at) => RwLock.init(m, at),
    attach: (m, at) => new RwLock(m, at),
    calls: READING,
  }),
  "rw_lock, tracked": subject({
    byteLength: RwLock.byteLength({ tracked: 2 }),
    init: (m, at) => RwLock.init(m, at, { tracked: 2 }),
    attach: (m, at) => new RwLock(m, at),
    calls: READING,
  }),
  condition: subject({
    byteLength: Condition.byteLength(),
    init: (m, at) => Condition.init(m, at),
    attach: (m, at) => new Condition(m, at),
    calls: {
      notify: (x) => x.notify(),
      "notify(3)": (x) => x.notify(3),
      notifyAll: (x) => x.notifyAll(),
    },
  }),
  semaphore: subject({
    byteLength: Semaphore.byteLength(),
    init: (m, at) => Semaphore.init(m, at, 3),
    attach: (m, at) => new Semaphore(m, at),
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
    byteLength: Semaphore.byteLength(3, { tracked: 2 }),
    init: (m, at) => Semaphore.init(m, at, 3, { tracked: 2 }),
    attach: (m, at) => new Semaphore(m, at),
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
    byteLength: Event.byteLength(),
    init: (m, at) => Event.init(m, at),
    attach: (m, at) => new Event(m, at),
    calls: {
      set: (x) => x.set(),
      tryWait: (x) => x.tryWait(),
      reset: (x) => x.reset(),
      isSet: (x) => x.isSet,
    },
  }),
  latch: subject({
    byteLength: Latch.byteLength(),
    init: (m, at) => Latch.init(m, at, 5),
    attach: (m, at) => new Latch(m, at),
    calls: {
      countDown: (x) => x.countDown(),
      tryWait: (x) => x.tryWait(),
      count: (x) => x.count,
    },
  }),
  wait_group: subject({
    byteLength: WaitGroup.byteLength(),
    init: (m, at) => {
      const group = WaitGroup.init(m, at);
      group.add(2);
      return group;
    },
    attach: (m, at) => new WaitGroup(m, at),
    calls: {
      add: (x) => x.add(),
      done: (x) => x.done(),
      tryWait: (x) => x.tryWait(),
      count: (x) => x.count,
    },
  }),
  barrier: subject({
    byteLength: Barrier.byteLength(),
    init: (m, at) => Barrier.init(m, at, 3),
    attach: (m, at) => new Barrier(m, at),
    calls: {
      parties: (x) => x.parties,
      leave: (x) => x.leave(),
      tryArriveAndWait: (x) => x.tryArriveAndWait(),
    },
  }),
  "barrier, tracked": subject({
    byteLength: Barrier.byteLength(3, { tracked: 3 }),
    init: (m, at) => Barrier.init(m, at, 3, { tracked: 3 }),
    attach: (m, at) => new Barrier(m, at),
    calls: {
      parties: (x) => x.parties,
      abandon: (x) => x.abandon(5),
      leave: (x) => x.leave(),
      tryArriveAndWait: (x) => x.tryArriveAndWait(),
    },
  }),
  once: subject({
    byteLength: Once.byteLength(),
    init: (m, at) => Once.init(m, at),
    attach: (m, at) => new Once(m, at),
    calls: {
      done: (x) => x.done,
      abandon: (x) => x.abandon(5),
      tryRun: (x) => x.tryRun(() => {}),
    },
  }),
  snapshot: subject({
    byteLength: Snapshot.byteLength({ size: 8 }),
    init: (m, at) => Snapshot.init(m, at, { size: 8 }),
    attach: (m, at) => new Snapshot(m, at),
    calls: {
      write: (x) => x.write(new Int32Array(2)),
      read: (x) => x.read(new Int32Array(2)),
      version: (x) => x.version,
    },
  }),
  snapshot_of_one: subject({
    byteLength: Snapshot.byteLength({ size: 8, singleReader: true }),
    init: (m, at) => Snapshot.init(m, at, { size: 8, singleReader: true }),
    attach: (m, at) => new Snapshot(m, at),
    calls: {
      write: (x) => x.write(new Int32Array(2)),
      read: (x) => x.read(new Int32Array(2)),
    },
  }),
  spsc_queue: subject({
    byteLength: SpscQueue.byteLength(queue),
    init: (m, at) => filled(SpscQueue.init(m, at, queue)),
    attach: (m, at) => new SpscQueue(m, at),
    calls: { ...ofQueues, ...ofSpsc },
  }),
  mpmc_queue: subject({
    byteLength: MpmcQueue.byteLength(queue),
    init: (m, at) => filled(MpmcQueue.init(m, at, queue)),
    attach: (m, at) => new MpmcQueue(m, at),
    calls: ofQueues,
  }),
  lock_free_queue: subject({
    byteLength: LockFreeQueue.byteLength(queue),
    init: (m, at) => filled(LockFreeQueue.init(m, at, queue)),
    attach: (m, at) => new LockFreeQueue(m, at),
    calls: { repair: (q) => q.repair(), ...ofQueues },
  }),
  record_ring: subject({
    byteLength: RecordRing.byteLength({ capacity: 128 }),
    init: (m, at) => {
      const ring = RecordRing.init(m, at, { capacity: 128 });
      for (let i = 0; i < 4; i++) ring.push(bytes.subarray(i));
      ring.pop();
      return ring;
    },
    attach: (m, at) => new RecordRing(m, at),
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
    byteLength: Broadcast.byteLength({ ...queue, subscribers: 2 }),
    init: (m, at) => Broadcast.init(m, at, { ...queue, subscribers: 2 }),
    attach: (m, at) => new Broadcast(m, at),
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
    byteLength: CallRing.byteLength({ slots: 2, request: 8, reply: 8 }),
    init: (m, at) => {
      const ring = CallRing.init(m, at, { slots: 2, request: 8, reply: 8 });
      ring.tryPost(four);
      return ring;
    },
    attach: (m, at) => new CallRing(m, at),
    calls: {
      tryPost: (x) => x.tryPost(four),
      tryTake: (x) => inRange(x.tryTake()?.request.length ?? 0, 0, 8),
      tryServeOne: (x) => x.tryServeOne(() => four),
      abandon: (x) => x.abandon(5),
      close: (x) => x.close(),
    },
  }),
  work_counter: subject({
    byteLength: WorkCounter.byteLength(),
    init: (m, at) => WorkCounter.init(m, at, 10, { chunk: 3 }),
    attach: (m, at) => new WorkCounter(m, at),
    calls: WORK,
  }),
  "work_counter, tracked": subject({
    byteLength: WorkCounter.byteLength(10, { tracked: 2 }),
    init: (m, at) => WorkCounter.init(m, at, 10, { chunk: 3, tracked: 2 }),
    attach: (m, at) => new WorkCounter(m, at),
    calls: { ...WORK, abandon: (x) => x.abandon(5) },
  }),
  work_deque: subject({
    byteLength: WorkDeque.byteLength(queue),
    init: (m, at) => {
      const deque = WorkDeque.init(m, at, queue);
      for (let i = 0; i < 3; i++) deque.push(i);
      return deque;
    },
    attach: (m, at) => new WorkDeque(m, at),
    calls: {
      push: (x) => x.push(5),
      pop: (x) => x.pop(),
      steal: (x) => x.steal(),
      size: (x) => inRange(x.size, 0, x.capacity),
      adopt: (x) => x.adopt(),
    },
  }),
  slab_pool: subject({
    byteLength: SlabPool.byteLength({ capacity: 40, blockSize: 8 }),
    init: (m, at) => SlabPool.init(m, at, { capacity: 40, blockSize: 8 }),
    attach: (m, at) => new SlabPool(m, at),
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
    byteLength: ShapeTable.byteLength({ bytes: 64 }),
    init: (m, at) => ShapeTable.init(m, at, { bytes: 64 }),
    attach: (m, at) => new ShapeTable(m, at),
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
    byteLength: StripedCounter.byteLength({ stripes: 2 }),
    init: (m, at) => StripedCounter.init(m, at, { stripes: 2 }),
    attach: (m, at) => new StripedCounter(m, at),
    calls: {
      add: (x) => x.add(3),
      sum: (x) => x.sum(),
    },
  }),
};
