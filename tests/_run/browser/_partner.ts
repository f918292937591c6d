// The worker on the other side of the tests of the page's suite.
import {
  announceAgent,
  CallRing,
  Event,
  type Handle,
  MpmcQueue,
  Mutex,
  SpscQueue,
} from "../../../mod.ts";
import { hello } from "../workers.ts";

/** The orders of the worker. */
export type Part =
  | { readonly part: "hold"; readonly mutex: Handle<"mutex"> }
  | {
    readonly part: "count";
    readonly to: Handle<"spsc_queue">;
    readonly n: number;
  }
  | {
    readonly part: "number";
    readonly to: Handle<"mpmc_queue">;
    readonly n: number;
  }
  | { readonly part: "double"; readonly calls: Handle<"call_ring"> }
  | { readonly part: "set"; readonly event: Handle<"event"> }
  | { readonly part: "saturate"; readonly to: Handle<"mpmc_queue"> }
  | { readonly part: "spin" };

const { data, post, next } = await hello<Part>();
if (data.part === "hold") {
  const mutex = Mutex.from(data.mutex);
  using _lock = mutex.lock();
  post(await announceAgent());
  await next();
} else if (data.part === "count") {
  const numbers = SpscQueue.from(data.to);
  for (let i = 0; i < data.n; i++) numbers.pushInt(i);
  numbers.close();
} else if (data.part === "number") {
  const numbers = MpmcQueue.from(data.to);
  for (let n = 1; n <= data.n; n++) numbers.pushInt(n);
  numbers.close();
} else if (data.part === "double") {
  CallRing.from(data.calls).serve((request) => {
    const [number] = new Int32Array(request.slice().buffer);
    return Int32Array.of(2 * number!);
  });
} else if (data.part === "saturate") {
  const numbers = MpmcQueue.from(data.to);
  for (;;) numbers.pushInt(1);
} else if (data.part === "spin") {
  for (;;);
} else {
  Event.from(data.event).set();
}
