// Has many waits pending at one semaphore, and blocks there meanwhile.
import type { Handle } from "../../mod.ts";
import { Semaphore } from "../../primitives/semaphore.ts";
import { looking } from "../../primitives/_wait/waiter.ts";
import { hello } from "../_run/workers.ts";

const self = await hello<
  { handle: Handle<never>; done: Handle<never>; rounds: number }
>();
const semaphore = Semaphore.from(self.data.handle);
const done = Semaphore.from(self.data.done);

// No look may hide a lost wake.
looking.every = 3_600_000;

self.post("up");
for (let round = 0; round < self.data.rounds; round++) {
  const waits = Array.from({ length: 5 }, async () => {
    await semaphore.acquireAsync();
    done.release();
  });
  // This wait is given up soon; a wake meant for it must go to another waiter.
  const abort = new AbortController();
  const gone = semaphore.acquireAsync(1, { signal: abort.signal })
    .then(() => done.release(), () => {});
  if (round % 2) await new Promise((resolve) => setTimeout(resolve, 0));
  abort.abort();
  for (let i = 0; i < 3; i++) {
    semaphore.acquire();
    done.release();
    if (round % 3 === 0) await waits[i];
  }
  await Promise.all([...waits, gone]);
}
self.post("ended");
