// Waits for permits when told to, and says when it has them.
import type { Handle } from "../../mod.ts";
import { Semaphore } from "../../primitives/semaphore.ts";
import { hello } from "../_run/workers.ts";

const self = await hello<{ handle: Handle<"semaphore">; blocks: boolean }>();
const semaphore = Semaphore.from(self.data.handle);
self.post("up");
for (;;) {
  const n = await self.next<number>();
  self.post("waiting");
  if (self.data.blocks) semaphore.acquire(n);
  else await semaphore.acquireAsync(n);
  self.post("served");
}
