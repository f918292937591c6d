// also: node, browsers
// Producers and consumers, each in a thread of its own.
import type { Manner } from "../_queue/agent.ts";
import { suite } from "../_run/harness.ts";
import { LOCK_FREE } from "../_queue/model.ts";
import { transport } from "../_queue/transport.ts";

const test = suite("LockFreeQueue in threads");

const parties: [Manner[], Manner[]][] = [
  [["block"], ["block"]],
  [["place", "async"], ["place", "async"]],
  [["hasty", "block"], ["hasty", "block"]],
  [["many", "many"], ["many", "block"]],
  [["block", "block", "place"], ["block"]],
  [["many"], ["block", "hasty", "async"]],
];
// A number whose ticket, or its sign, wraps soon.
const starts = [0, 2 ** 30 - 50, 2 ** 31 - 50, 2 ** 32 - 50];

let turn = 0;
for (const [pushing, popping] of parties) {
  for (const capacity of [1, 16]) {
    const size = [4, 20, 64][turn % 3]!;
    const start = starts[turn++ % 4]!;
    const hasty = [...pushing, ...popping].includes("hasty");
    const count = Math.floor((hasty ? 300 : 2000) / pushing.length);
    const what = `${capacity} x ${size} bytes from ${start}`;
    test(`${pushing} to ${popping} loses nothing: ${what}`, () => {
      const queue = LOCK_FREE.startAt(capacity, size, start);
      return transport(queue, pushing, popping, count);
    });
  }
}
