// Announces itself, takes a lock, and stays until it is told how to end.
import type { Handle } from "../../mod.ts";
import { agentId, announceAgent } from "../../primitives/agent.ts";
import { Mutex } from "../../primitives/mutex.ts";
import { hello } from "../_run/workers.ts";

const self = await hello<Handle<"mutex">>();
const mutex = Mutex.from(self.data);
const id = await announceAgent();
if (id !== agentId() || await announceAgent() !== id) throw new Error("not it");
mutex.lock();
self.post(id);
const nap = await self.next<number>();
// Deno's `terminate` does not reach a thread in here.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, nap);
mutex.unlock();
self.post("unlocked");
