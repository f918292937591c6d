// Goes to sleep in one kind of wait, or holds a mutex, until it is terminated.
// Started by node:worker_threads, which ends a thread in its sleep everywhere.
import { parentPort, workerData } from "node:worker_threads";
import type { Handle } from "../../mod.ts";
import { agentId } from "../../primitives/agent.ts";
import { MpmcQueue } from "../../primitives/mpmc_queue.ts";
import { Mutex } from "../../primitives/mutex.ts";
import { Semaphore } from "../../primitives/semaphore.ts";
import { SpscQueue } from "../../primitives/spsc_queue.ts";
import { WorkCounter } from "../../primitives/work_counter.ts";

/** A kind of wait, and the primitive to wait at. */
export interface SleeperJob {
  handle: Handle<never>;
  wait: keyof typeof WAITS;
  /** How many agents are asleep, or about to be. */
  asleep: SharedArrayBuffer;
}

const bytes = new Uint8Array(4);

/** Every kind of wait; each sleeps for ever on an idle primitive. */
export const WAITS = {
  "lock": (h: Handle<never>) => Mutex.from(h).lock(),
  "lockAsync": (h: Handle<never>) => Mutex.from(h).lockAsync(),
  "acquire 1": (h: Handle<never>) => Semaphore.from(h).acquire(1),
  "acquireAsync 1": (h: Handle<never>) => Semaphore.from(h).acquireAsync(1),
  "acquire 2": (h: Handle<never>) => Semaphore.from(h).acquire(2),
  "acquireAsync 2": (h: Handle<never>) => Semaphore.from(h).acquireAsync(2),
  "spsc pop": (h: Handle<never>) => SpscQueue.from(h).popInto(bytes),
  "spsc popAsync": (h: Handle<never>) => SpscQueue.from(h).popIntoAsync(bytes),
  "spsc push": (h: Handle<never>) => SpscQueue.from(h).push(bytes),
  "spsc pushAsync": (h: Handle<never>) => SpscQueue.from(h).pushAsync(bytes),
  "mpmc pop": (h: Handle<never>) => MpmcQueue.from(h).popInto(bytes),
  "mpmc popAsync": (h: Handle<never>) => MpmcQueue.from(h).popIntoAsync(bytes),
  "mpmc push": (h: Handle<never>) => MpmcQueue.from(h).push(bytes),
  "mpmc pushAsync": (h: Handle<never>) => MpmcQueue.from(h).pushAsync(bytes),
  "wait": (h: Handle<never>) => WorkCounter.from(h).wait(),
  "waitAsync": (h: Handle<never>) => WorkCounter.from(h).waitAsync(),
  "hold": (h: Handle<never>) => {
    Mutex.from(h).lock();
    parentPort!.postMessage(agentId());
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
};

if (parentPort !== null && workerData !== null) {
  const { handle, wait, asleep } = workerData as SleeperJob;
  Atomics.add(new Int32Array(asleep), 0, 1);
  await WAITS[wait](handle);
}
