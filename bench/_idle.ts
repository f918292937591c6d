import {
  type Handle,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../mod.ts";

/** A kind of wait that never ends: `async` ones return a promise. */
export const WAITS: Record<
  string,
  (handles: Record<string, Handle<never>>) => unknown
> = {
  "Mutex.lock": ({ mutex }) => Mutex.from(mutex!).lock(),
  "Mutex.lockAsync": ({ mutex }) => Mutex.from(mutex!).lockAsync(),
  "Semaphore.acquire": ({ semaphore }) => Semaphore.from(semaphore!).acquire(),
  "Semaphore.acquire(2)": ({ semaphore }) =>
    Semaphore.from(semaphore!).acquire(2),
  "Semaphore.acquireAsync": ({ semaphore }) =>
    Semaphore.from(semaphore!).acquireAsync(),
  "SpscQueue.popInt": ({ spsc }) => new SpscQueue(spsc!.buffer).popInt(),
  "SpscQueue.popIntAsync": ({ spsc }) =>
    new SpscQueue(spsc!.buffer).popIntAsync(),
  "SpscQueue.pushInt": ({ full }) => new SpscQueue(full!.buffer).pushInt(1),
  "MpmcQueue.popInt": ({ mpmc }) => new MpmcQueue(mpmc!.buffer).popInt(),
  "MpmcQueue.popIntAsync": ({ mpmc }) =>
    new MpmcQueue(mpmc!.buffer).popIntAsync(),
  "MpmcQueue.pushInt": ({ crammed }) =>
    new MpmcQueue(crammed!.buffer).pushInt(1),
  "WorkCounter.wait": ({ counter }) => WorkCounter.from(counter!).wait(),
  "WorkCounter.waitAsync": ({ counter }) =>
    WorkCounter.from(counter!).waitAsync(),
};

/** Names of all kinds of wait. */
export const KINDS: readonly string[] = Object.keys(WAITS);
