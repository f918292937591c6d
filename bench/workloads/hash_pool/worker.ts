/**
 * The workers' side of `ways.ts`.
 *
 * @module
 */

import {
  CallRing,
  ClosedError,
  Event,
  type Handle,
  MpmcQueue,
  Semaphore,
  WorkCounter,
} from "../../../mod.ts";
import { servePool } from "../../../primitives/pool.ts";
import { listen, post } from "../crew.ts";
import { Meter } from "../meter.ts";
import { pooled, RESULT, solve, type Tasks } from "./tasks.ts";

/** The orders of a worker. */
export type Order = Common & Role;

interface Common {
  readonly tasks: Tasks;
  readonly results: Uint8Array<SharedArrayBuffer>;
  readonly meters: SharedArrayBuffer;
}

type Shared = Uint8Array<SharedArrayBuffer>;
type Words = Int32Array<SharedArrayBuffer>;

type Role =
  | { role: "counter"; data: Shared; next: Words; copy: boolean }
  | { role: "messages" }
  | { role: "study"; data: Shared; lock: Words }
  | Slots
  | {
    role: "counted";
    data: Shared;
    counters: SharedArrayBuffer;
    begin: Handle<"semaphore">;
  }
  | Queued
  | { role: "calls"; ring: Handle<"call_ring"> }
  | { role: "pooled" };

interface Slots {
  role: "slots";
  full: Handle<"event">[];
  free: Handle<"event">[];
  data: Shared;
  numbers: Words;
}

interface Queued {
  role: "queued";
  data: Shared;
  numbers: Words;
  jobs: Handle<"mpmc_queue">;
  done: Handle<"mpmc_queue">;
  permits: Handle<"semaphore">;
}

/** Runs a worker, after it has reported that it is ready. */
function run(order: Order): void {
  const { tasks: { kind, size, count }, results } = order;
  const meter = new Meter(order.meters);
  const work = (message: Uint8Array) =>
    meter.measure(() => solve(kind, message));
  const part = (data: Shared, i: number) =>
    data.subarray(i * size, (i + 1) * size);
  const keep = (task: number, message: Uint8Array) =>
    results.set(work(message), task * RESULT);

  switch (order.role) {
    case "counter": {
      const { data, next, copy } = order;
      return listen(() => {
        for (let task; (task = Atomics.add(next, 0, 1)) < count;) {
          const view = part(data, task);
          post([task, work(copy ? view.slice() : view)]);
        }
      });
    }
    case "messages":
      return listen(([task, message]: [number, Uint8Array]) =>
        post([task, work(message)])
      );
    case "study": { // with the mistakes that `ways.ts` names
      const { data, lock } = order;
      const FREE = -1;
      for (;;) {
        Atomics.wait(lock, 0, FREE);
        const task = lock[0]!;
        post([task, work(data)]);
        lock[0] = FREE;
        Atomics.notify(lock, 0, 1);
      }
    }
    case "slots": {
      const [full, free] = [order.full, order.free].map((handles) =>
        handles.map((handle) => Event.from(handle))
      );
      for (let slot = 0;; slot = (slot + 1) % full!.length) {
        full![slot]!.wait();
        const task = order.numbers[slot]!;
        if (task < 0) return;
        keep(task, part(order.data, slot));
        free![slot]!.set();
      }
    }
    case "counted": {
      const begin = Semaphore.from(order.begin);
      for (let round = 0;; round++) {
        begin.acquire();
        const at = round * WorkCounter.byteLength();
        const counter = new WorkCounter(order.counters, at);
        let range = counter.nextRange();
        if (range === undefined && counter.completed === 0) return;
        for (; range !== undefined; range = counter.nextRange()) {
          const { start, end } = range;
          for (let task = start; task < end; task++) {
            keep(task, part(order.data, task));
          }
          counter.done(end - start);
        }
      }
    }
    case "queued": {
      const [jobs, free] = [order.jobs, order.done].map((handle) =>
        MpmcQueue.from(handle)
      );
      const permits = Semaphore.from(order.permits);
      try {
        for (;;) {
          const slot = jobs!.popInt()!;
          keep(order.numbers[slot]!, part(order.data, slot));
          free!.pushInt(slot);
          permits.release();
        }
      } catch (error) {
        if (error instanceof ClosedError) return;
        throw error;
      }
    }
    case "calls":
      CallRing.from(order.ring).serve(work);
      return;
    case "pooled":
      void servePool(pooled, { solve: work }, { blocking: true });
      return;
  }
}

listen((order: Order) => {
  if (typeof order !== "object" || !("role" in order)) return;
  post("ready");
  run(order);
});
