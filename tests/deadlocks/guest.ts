// A thread of JavaScript or C: it locks one mutex, and when it is told,
// another.
import { setAgentId } from "../../primitives/agent.ts";
import { hello } from "../_run/workers.ts";
import type { Job } from "./api.ts";
import { SHARED } from "./shared.ts";

const self = await hello<Job>();
const { memory, at, name, id, locks: [first, second], module } = self.data;
const shared = SHARED.attach(memory, at);
if (module === undefined) {
  setAgentId(id);
  shared.agents.join(name);
  const views = SHARED.attach(memory, at);
  const guard = views[first].lock();
  self.post(0);
  await self.next();
  views[second].lock().unlock();
  guard.unlock();
  self.post(0);
} else {
  const env = { memory, weft_now: () => performance.now() };
  const { exports } = await WebAssembly.instantiate(module, { env });
  const { begin, end, abandon } = exports as Record<
    string,
    (...words: number[]) => number
  >;
  const text = at - 256;
  const bytes = new TextEncoder().encode(`${name}\0`);
  new Uint8Array(memory.buffer, text).set(bytes);
  const { agents, [first]: one, [second]: two } = shared;
  self.post(begin!(agents.byteOffset, text, id, one.byteOffset));
  await self.next();
  self.post(end!(one.byteOffset, two.byteOffset));
  const dead = Number(await self.next());
  self.post(abandon!(agents.byteOffset, dead));
}
