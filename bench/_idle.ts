import {
  type Handle,
  MpmcQueue,
  Mutex,
  Semaphore,
  SpscQueue,
  WorkCounter,
} from "../mod.ts";
import { hello } from "../tests/_run/workers.ts";

/** A kind of wait that never ends: `async` ones return a promise. */
const WAITS: Record<string, (handles: Record<string, Handle>) => unknown> = {
  "Mutex.lock": ({ mutex }) => Mutex.from(mutex!).lock(),
  "Mutex.lockAsync": ({ mutex }) => Mutex.from(mutex!).lockAsync(),
  "Semaphore.acquire": ({ semaphore }) => Semaphore.from(semaphore!).acquire(),
  "Semaphore.acquire(2)": ({ semaphore }) =>
    Semaphore.from(semaphore!).acquire(2),
  "Semaphore.acquireAsync": ({ semaphore }) =>
    Semaphore.from(semaphore!).acquireAsync(),
  "SpscQueue.popInt": ({ spsc }) => SpscQueue.from(spsc!).popInt(),
  "SpscQueue.popIntAsync": ({ spsc }) => SpscQueue.from(spsc!).popIntAsync(),
  "SpscQueue.pushInt": ({ full }) => SpscQueue.from(full!).pushInt(1),
  "MpmcQueue.popInt": ({ mpmc }) => MpmcQueue.from(mpmc!).popInt(),
  "MpmcQueue.popIntAsync": ({ mpmc }) => MpmcQueue.from(mpmc!).popIntAsync(),
  "MpmcQueue.pushInt": ({ crammed }) => MpmcQueue.from(crammed!).pushInt(1),
  "WorkCounter.wait": ({ counter }) => WorkCounter.from(counter!).wait(),
  "WorkCounter.waitAsync": ({ counter }) =>
    WorkCounter.from(counter!).waitAsync(),
};

/** Names of all kinds of wait. */
export const KINDS: readonly string[] = Object.keys(WAITS);

if ("WorkerGlobalScope" in globalThis) {
  const { data, post } = await hello<
    { kind: string; handles: Record<string, Handle> }
  >();
  post("about to sleep");
  await WAITS[data.kind]!(data.handles);
  post("woken");
}
