// Goes to sleep in one kind of wait, or holds a mutex, until it is terminated.
// Started by node:worker_threads, which ends a thread in its sleep everywhere.
import { parentPort, workerData } from "node:worker_threads";
import {
  agentId,
  type Handle,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../../mod.ts";

/** A kind of wait, and the primitive to wait at. */
export interface SleeperJob {
  handle: Handle;
  wait: keyof typeof WAITS;
  /** How many agents are asleep, or about to be. */
  asleep: SharedArrayBuffer;
}

const bytes = new Uint8Array(4);

/** Every kind of wait there is; each sleeps for ever on an idle primitive. */
export const WAITS = {
  "lock": (h: Handle) => Mutex.from(h).lock(),
  "lockAsync": (h: Handle) => Mutex.from(h).lockAsync(),
  "acquire 1": (h: Handle) => Semaphore.from(h).acquire(1),
  "acquireAsync 1": (h: Handle) => Semaphore.from(h).acquireAsync(1),
  "acquire 2": (h: Handle) => Semaphore.from(h).acquire(2),
  "acquireAsync 2": (h: Handle) => Semaphore.from(h).acquireAsync(2),
  "spsc pop": (h: Handle<"spsc_queue">) => SpscQueue.from(h).popInto(bytes),
  "spsc popAsync": (h: Handle<"spsc_queue">) =>
    SpscQueue.from(h).popIntoAsync(bytes),
  "spsc push": (h: Handle<"spsc_queue">) => SpscQueue.from(h).push(bytes),
  "spsc pushAsync": (h: Handle<"spsc_queue">) =>
    SpscQueue.from(h).pushAsync(bytes),
  "mpmc pop": (h: Handle<"mpmc_queue">) => MpmcQueue.from(h).popInto(bytes),
  "mpmc popAsync": (h: Handle<"mpmc_queue">) =>
    MpmcQueue.from(h).popIntoAsync(bytes),
  "mpmc push": (h: Handle<"mpmc_queue">) => MpmcQueue.from(h).push(bytes),
  "mpmc pushAsync": (h: Handle<"mpmc_queue">) =>
    MpmcQueue.from(h).pushAsync(bytes),
  "wait": (h: Handle) => WorkCounter.from(h).wait(),
  "waitAsync": (h: Handle) => WorkCounter.from(h).waitAsync(),
  "hold": (h: Handle) => {
    Mutex.from(h).lock();
    parentPort!.postMessage(agentId());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
};

if (parentPort !== null && workerData !== null) {
  const { handle, wait, asleep } = workerData as SleeperJob;
  Atomics.add(new Int32Array(asleep), 0, 1);
  await (WAITS[wait] as (handle: Handle) => unknown)(handle);
}
