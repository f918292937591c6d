// One agent that blocks for a permit, or one that releases it when told to.
import type { Handle } from "../../mod.ts";
import { Semaphore } from "../../primitives/semaphore.ts";
import { hello } from "../_run/workers.ts";

export interface OrphanJob {
  readonly handle: Handle<"semaphore">;
  readonly role: "acquire" | "release";
  /** Word 0: release now; word 1: acquired; words 2 and 3: when, in ms. */
  readonly notes: SharedArrayBuffer;
}

const self = await hello<OrphanJob>();
const { handle, role, notes } = self.data;
const semaphore = Semaphore.from(handle);
const words = new Int32Array(notes);
self.post("up");
if (role === "acquire") {
  semaphore.acquire();
  words[3] = Date.now() | 0;
  Atomics.store(words, 1, 1);
} else {
  while (Atomics.load(words, 0) === 0) Atomics.wait(words, 0, 0, 50);
  words[2] = Date.now() | 0;
  semaphore.release();
}
self.post("done");
