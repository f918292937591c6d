/**
 * Locks, queues and counters over SharedArrayBuffer, for JavaScript and,
 * through `weft.h`, for C: both work on the same words.
 *
 * @example Numbers for a worker
 * ```ts
 * import { MpmcQueue } from "@weft/sync";
 *
 * const jobs = MpmcQueue.create({ capacity: 64 }); // post jobs.handle
 * const theirs = MpmcQueue.from(jobs.handle); // in the worker
 * jobs.pushInt(7);
 * jobs.close();
 * for await (const job of theirs) console.log(job); // 7
 * ```
 *
 * @module
 */

// In the order of dependencies: a line may import only lines above. Values come
// first, because a bundle has the modules in this order, and zip sees only 32
// KB at once: behind other modules, the long rows of equal code in places.ts
// would hide these from what follows, which costs a bundle up to 1000 bytes.
export {
  decodeValue,
  encodeValue,
  type PartOf,
  valueCodec,
  valueCodecWith,
  type ValuePart,
  type ValueType,
  ValueView,
  viewCodec,
  viewValue,
} from "./primitives/value.ts";
export {
  type Handle,
  isSupported,
  type Memory,
  Printable,
  Region,
} from "./primitives/_memory/region.ts";
export { DamagedError } from "./primitives/_memory/damaged.ts";
export type { AsyncOptions, TryAsyncOptions } from "./primitives/_wait/wait.ts";
export {
  agentId,
  announceAgent,
  type ExitingWorker,
  onAgentExit,
  setAgentId,
} from "./primitives/agent.ts";
export { Mutex, MutexGuard } from "./primitives/mutex.ts";
export {
  RwLock,
  type RwLockConfig,
  RwReadGuard,
  RwWriteGuard,
} from "./primitives/rw_lock.ts";
export { Condition } from "./primitives/condition.ts";
export { type Elements } from "./primitives/_queue/elements.ts";
export { ClosedError, type Queue } from "./primitives/_queue/queue.ts";
export type { ElementOf, QueueConfig } from "./primitives/_queue/queue_core.ts";
export {
  Semaphore,
  type SemaphoreConfig,
  SemaphorePermit,
} from "./primitives/semaphore.ts";
export { Event, type EventConfig } from "./primitives/event.ts";
export { Latch } from "./primitives/latch.ts";
export { WaitGroup } from "./primitives/wait_group.ts";
export {
  Barrier,
  type BarrierConfig,
  type Passage,
} from "./primitives/barrier.ts";
export { Once } from "./primitives/once.ts";
export { Snapshot, type SnapshotConfig } from "./primitives/snapshot.ts";
export { SpscQueue } from "./primitives/spsc_queue.ts";
export { MpmcQueue } from "./primitives/mpmc_queue.ts";
export {
  LockFreeQueue,
  type LockFreeQueueConfig,
} from "./primitives/lock_free_queue.ts";
export {
  type BytesQueue,
  TypedQueue,
  TypedQueueBase,
} from "./primitives/_queue/typed_queue.ts";
export { RecordRing, type RecordRingConfig } from "./primitives/record_ring.ts";
export {
  Broadcast,
  type BroadcastConfig,
  Subscription,
} from "./primitives/broadcast.ts";
export { ShapeTable, type ShapeTableConfig } from "./primitives/shape_table.ts";
export {
  type Carrier,
  Channel,
  type ChannelCodec,
  type ChannelConfig,
  type Codec,
  codec,
  type CodecOf,
  type JsonChannel,
  type JsonCodec,
  type JsonOf,
  type JsonValue,
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
  PeekedMessage,
  type RecordType,
  ReservedBase,
  ReservedMessage,
  type SizedCodec,
  type StructuredOf,
  type ValueChannel,
  type ValueCodec,
} from "./primitives/channel.ts";
export {
  CallError,
  type CallHandler,
  CallRing,
  type CallRingConfig,
  PendingCall,
  type Reply,
  type ServeOptions,
  TakenCall,
} from "./primitives/call_ring.ts";
export {
  type ApiCodec,
  type BlockingRemote,
  type CallPort,
  type Connect,
  connect,
  type ConnectOptions,
  type Remote,
  type Serve,
  serve,
  type ServeApiOptions,
  transfer,
} from "./primitives/calls.ts";
export {
  type WorkConfig,
  WorkCounter,
  type WorkRange,
} from "./primitives/work_counter.ts";
export { type DequeConfig, WorkDeque } from "./primitives/work_deque.ts";
export { type SlabConfig, SlabPool } from "./primitives/slab_pool.ts";
export {
  HashMap,
  type HashMapCodecs,
  type HashMapConfig,
  type HashMapHeap,
  type HashMapTypes,
  type SetOptions,
} from "./primitives/hash_map.ts";
export {
  type CounterConfig,
  StripedCounter,
} from "./primitives/striped_counter.ts";
export {
  type ArrayOf,
  type ArrayView,
  type Bytes,
  field,
  type Fields,
  type FieldType,
  type InnerNames,
  type InPlace,
  type Layout,
  layout,
  type MovableView,
  type NumberType,
  type Part,
  type Parts,
  type Placed,
  type PlacedOf,
  type PlacedParts,
  type PrimitiveClass,
  type RecordOf,
  struct,
  type StructType,
  type Text,
  type ValueOf,
  type ViewOf,
} from "./primitives/struct.ts";
export {
  type BlockAnyOptions,
  type Waitable,
  type WaitAny,
  waitAny,
} from "./primitives/wait_any.ts";
export {
  type AddedTo,
  type Arm,
  type Select,
  select,
  type SelectBlockingOptions,
  type Selected,
  type SelectOptions,
  type Sending,
  sending,
  type Sink,
  type TakenFrom,
} from "./primitives/select.ts";
export {
  type Finding,
  type Found,
  recover,
  type View,
  type Views,
} from "./primitives/tools/recover.ts";
export {
  inspect,
  type InspectedWords,
  type Inspection,
  type Problem,
} from "./primitives/tools/inspect.ts";
