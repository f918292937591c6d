/**
 * The library as `mod.ts` exports it, with the classes of `@weft/sync/kernel`:
 * the import map of `paths_test.ts` puts it in the place of `mod.ts`.
 *
 * @module
 */
export * from "../../mod.ts";
export {
  Event,
  HashMap,
  Latch,
  LockFreeQueue,
  MpmcQueue,
  Mutex,
  RecordRing,
  RwLock,
  Semaphore,
  SlabPool,
  Snapshot,
  SpscQueue,
  StripedCounter,
  WorkCounter,
  WorkDeque,
} from "../../primitives/kernel/kernel.ts";
