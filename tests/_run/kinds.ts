/**
 * Every primitive in one table, for what is promised of all of them.
 *
 * @module
 */

import {
  Barrier,
  Broadcast,
  CallRing,
  Channel,
  codec,
  Condition,
  Event,
  type Handle,
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
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WorkCounter,
  WorkDeque,
} from "../../mod.ts";

/** How one primitive is made, attached to and used. */
export interface Kind {
  stem: string;
  /** Whether it has a head word, so that attaching can fail. */
  configured: boolean;
  byteLength: number;
  init(memory: Memory, byteOffset: number): Region;
  attach(memory: Memory, byteOffset?: number): Region;
  from(handle: Handle): Region;
  /** Changes it, by one view, so that {@linkcode Kind.used} can tell. */
  use(view: Region): void;
  /** Whether {@linkcode Kind.use} was called once, as another view sees it. */
  used(view: Region): boolean;
}

const queue = { capacity: 3, size: 4 };
const channel = { codec: codec.binary, capacity: 1, messageSize: 16 };
const call = { slots: 2, request: 4, reply: 8 };

/** All primitives, in the order of `mod.ts`. */
export const KINDS: Kind[] = [{
  stem: "mutex",
  configured: false,
  byteLength: Mutex.byteLength(),
  init: (memory, at) => Mutex.init(memory, at),
  attach: (memory, at) => new Mutex(memory, at),
  from: (handle) => Mutex.from(handle),
  use: (view) => (view as Mutex).lock(),
  used: (view) => (view as Mutex).owner !== 0,
}, {
  stem: "rw_lock",
  configured: false,
  byteLength: RwLock.byteLength(),
  init: (memory, at) => RwLock.init(memory, at),
  attach: (memory, at) => new RwLock(memory, at),
  from: (handle) => RwLock.from(handle),
  use: (view) => (view as RwLock).read(),
  used: (view) => (view as RwLock).readers === 1,
}, {
  stem: "condition",
  configured: false,
  byteLength: Condition.byteLength(),
  init: (memory, at) => Condition.init(memory, at),
  attach: (memory, at) => new Condition(memory, at),
  from: (handle) => Condition.from(handle),
  use: (view) => {
    const mutex = Mutex.create();
    mutex.lock();
    (view as Condition).waitAsync(mutex, { ref: false }); // for ever
  },
  used: (view) => new Int32Array(view.buffer, view.byteOffset, 3)[2] !== 0,
}, {
  stem: "semaphore",
  configured: true,
  byteLength: Semaphore.byteLength(),
  init: (memory, at) => Semaphore.init(memory, at, 5),
  attach: (memory, at) => new Semaphore(memory, at),
  from: (handle) => Semaphore.from(handle),
  use: (view) => (view as Semaphore).acquire(2),
  used: (view) => (view as Semaphore).available === 3,
}, {
  stem: "event",
  configured: false,
  byteLength: Event.byteLength(),
  init: (memory, at) => Event.init(memory, at),
  attach: (memory, at) => new Event(memory, at),
  from: (handle) => Event.from(handle),
  use: (view) => (view as Event).set(),
  used: (view) => (view as Event).isSet,
}, {
  stem: "latch",
  configured: true,
  byteLength: Latch.byteLength(),
  init: (memory, at) => Latch.init(memory, at, 5),
  attach: (memory, at) => new Latch(memory, at),
  from: (handle) => Latch.from(handle),
  use: (view) => (view as Latch).countDown(2),
  used: (view) => (view as Latch).count === 3,
}, {
  stem: "barrier",
  configured: true,
  byteLength: Barrier.byteLength(),
  init: (memory, at) => Barrier.init(memory, at, 3),
  attach: (memory, at) => new Barrier(memory, at),
  from: (handle) => Barrier.from(handle),
  use: (view) => (view as Barrier).leave(),
  used: (view) => (view as Barrier).parties === 2,
}, {
  stem: "once",
  configured: false,
  byteLength: Once.byteLength(),
  init: (memory, at) => Once.init(memory, at),
  attach: (memory, at) => new Once(memory, at),
  from: (handle) => Once.from(handle),
  use: (view) => (view as Once).run(() => {}),
  used: (view) => (view as Once).done,
}, {
  stem: "snapshot",
  configured: true,
  byteLength: Snapshot.byteLength({ size: 4 }),
  init: (memory, at) => Snapshot.init(memory, at, { size: 4 }),
  attach: (memory, at) => new Snapshot(memory, at),
  from: (handle) => Snapshot.from(handle),
  use: (view) => (view as Snapshot).write(Int32Array.of(7)),
  used: (view) => (view as Snapshot).version === 1,
}, {
  stem: "spsc_queue",
  configured: true,
  byteLength: SpscQueue.byteLength(queue),
  init: (memory, at) => SpscQueue.init(memory, at, queue),
  attach: (memory, at) => new SpscQueue(memory, at),
  from: (handle) => SpscQueue.from(handle as Handle<"spsc_queue">),
  use: (view) => (view as SpscQueue).pushInt(-7),
  used: (view) => (view as SpscQueue).popInt() === -7,
}, {
  stem: "mpmc_queue",
  configured: true,
  byteLength: MpmcQueue.byteLength(queue),
  init: (memory, at) => MpmcQueue.init(memory, at, queue),
  attach: (memory, at) => new MpmcQueue(memory, at),
  from: (handle) => MpmcQueue.from(handle as Handle<"mpmc_queue">),
  use: (view) => (view as MpmcQueue).pushInt(-7),
  used: (view) => (view as MpmcQueue).popInt() === -7,
}, {
  stem: "lock_free_queue",
  configured: true,
  byteLength: LockFreeQueue.byteLength(queue),
  init: (memory, at) => LockFreeQueue.init(memory, at, queue),
  attach: (memory, at) => new LockFreeQueue(memory, at),
  from: (handle) => LockFreeQueue.from(handle as Handle<"lock_free_queue">),
  use: (view) => (view as LockFreeQueue).pushInt(-7),
  used: (view) => (view as LockFreeQueue).popInt() === -7,
}, {
  stem: "record_ring",
  configured: true,
  byteLength: RecordRing.byteLength({ capacity: 32 }),
  init: (memory, at) => RecordRing.init(memory, at, { capacity: 32 }),
  attach: (memory, at) => new RecordRing(memory, at),
  from: (handle) => RecordRing.from(handle as Handle<"record_ring">),
  use: (view) => (view as RecordRing).push(Uint8Array.of(7)),
  used: (view) => (view as RecordRing).pop()![0] === 7,
}, {
  stem: "broadcast",
  configured: true,
  byteLength: Broadcast.byteLength({ ...queue, subscribers: 2 }),
  init: (memory, at) =>
    Broadcast.init(memory, at, { ...queue, subscribers: 2 }),
  attach: (memory, at) => new Broadcast(memory, at),
  from: (handle) => Broadcast.from(handle as Handle<"broadcast">),
  use: (view) => (view as Broadcast).subscribe(),
  used: (view) => (view as Broadcast).subscribers === 1,
}, {
  stem: "channel",
  configured: true,
  byteLength: Channel.byteLength(channel),
  init: (memory, at) => Channel.init(memory, at, channel),
  attach: (memory, at) => new Channel(memory, at, channel),
  from: (handle) => Channel.from(handle, channel),
  use: (view) => (view as Channel<Uint8Array>).trySend(Uint8Array.of(7)),
  used: (view) => (view as Channel<Uint8Array>).tryReceive()![0] === 7,
}, {
  stem: "call_ring",
  configured: true,
  byteLength: CallRing.byteLength(call),
  init: (memory, at) => CallRing.init(memory, at, call),
  attach: (memory, at) => new CallRing(memory, at),
  from: (handle) => CallRing.from(handle as Handle<"call_ring">),
  use: (view) => (view as CallRing).tryPost(Uint8Array.of(7)),
  used: (view) => (view as CallRing).tryTake()!.request[0] === 7,
}, {
  stem: "work_counter",
  configured: true,
  byteLength: WorkCounter.byteLength(),
  init: (memory, at) => WorkCounter.init(memory, at, 10, { chunk: 3 }),
  attach: (memory, at) => new WorkCounter(memory, at),
  from: (handle) => WorkCounter.from(handle),
  use: (view) => (view as WorkCounter).nextRange(),
  used: (view) => (view as WorkCounter).remaining === 7,
}, {
  stem: "work_deque",
  configured: true,
  byteLength: WorkDeque.byteLength(queue),
  init: (memory, at) => WorkDeque.init(memory, at, queue),
  attach: (memory, at) => new WorkDeque(memory, at),
  from: (handle) => WorkDeque.from(handle),
  use: (view) => (view as WorkDeque).push(-7),
  used: (view) => (view as WorkDeque).steal() === -7,
}, {
  stem: "slab_pool",
  configured: true,
  byteLength: SlabPool.byteLength(queue),
  init: (memory, at) => SlabPool.init(memory, at, queue),
  attach: (memory, at) => new SlabPool(memory, at),
  from: (handle) => SlabPool.from(handle),
  use: (view) => (view as SlabPool).allocate(),
  used: (view) => (view as SlabPool).available === 2,
}, {
  stem: "striped_counter",
  configured: true,
  byteLength: StripedCounter.byteLength({ stripes: 2 }),
  init: (memory, at) => StripedCounter.init(memory, at, { stripes: 2 }),
  attach: (memory, at) => new StripedCounter(memory, at),
  from: (handle) => StripedCounter.from(handle),
  use: (view) => (view as StripedCounter).add(-7),
  used: (view) => (view as StripedCounter).sum() === -7,
}];

/** Those with a head word. */
export const CONFIGURED: Kind[] = KINDS.filter((kind) => kind.configured);
