/**
 * Drops a caller whose instance is garbage, and prints whether this agent still
 * calls back for garbage of others. It needs `--expose-gc`.
 *
 * @module
 */
import { CallRing, connect, serve } from "../../mod.ts";
import { Counter } from "./nested_api.ts";

const { gc } = globalThis as { gc?: () => void };
if (gc === undefined) throw new Error("needs --expose-gc");

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
const collect = () => [1, 2, 3].forEach(() => gc());

const api = { Counter };
const ring = CallRing.create({ slots: 2, request: 64, reply: 64 });
const served = serve(ring, api);
const held: unknown[] = [];
await (async () => {
  const remote = connect<typeof api>(ring);
  held.push(remote, await new remote.Counter(1));
})();
await pause();
held.pop(); // what stands for the instance
collect();
held.pop(); // the caller
collect();
ring.close();
await served;

let called = 0;
const registry = new FinalizationRegistry(() => called++);
(() => registry.register({}, 1))();
for (let i = 0; i < 500 && called === 0; i++) {
  collect();
  await pause();
}
registry.unregister(registry);
console.log(called === 1 ? "called" : "never called");
