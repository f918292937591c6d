// also: node, browsers
// One producer and one consumer, in threads of their own.
import type { Manner } from "../_queue/agent.ts";
import { suite } from "../_run/harness.ts";
import { SPSC } from "../_queue/model.ts";
import { transport } from "../_queue/transport.ts";

const test = suite("SpscQueue in threads");

const pairs: [Manner, Manner][] = [
  ["block", "block"],
  ["async", "async"],
  ["block", "async"],
  ["async", "block"],
  ["many", "many"],
  ["place", "place"],
  ["try", "many"],
  ["hasty", "block"],
  ["block", "hasty"],
  ["hasty", "hasty"],
];
// The number of an element shortly before an index wraps in its word.
const starts = [0, 2 ** 29 - 50, 2 ** 30 - 50];

let turn = 0;
for (const [push, pop] of pairs) {
  for (const capacity of [1, 16]) {
    const size = [4, 20, 64][turn % 3]!;
    const start = starts[turn++ % 3]!;
    const count = push === "hasty" || pop === "hasty" ? 300 : 3000;
    const what = `${capacity} x ${size} bytes from ${start}`;
    test(`${push} to ${pop} loses nothing: ${what}`, () => {
      const queue = SPSC.startAt(capacity, size, start);
      return transport(queue, [push], [pop], count);
    });
  }
}
