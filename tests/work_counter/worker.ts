// Takes tasks until there are none, one by one or in ranges, and marks each.
import type { Handle } from "../../mod.ts";
import { WorkCounter } from "../../primitives/work_counter.ts";
import { hello } from "../_run/workers.ts";

const self = await hello<
  { handle: Handle<"work_counter">; marks: SharedArrayBuffer; ranges: boolean }
>();
const work = WorkCounter.from(self.data.handle);
const marks = new Int32Array(self.data.marks);
self.post("up");
await self.next();
let taken = 0;
if (self.data.ranges) {
  for (let range; (range = work.nextRange()) !== undefined;) {
    for (let i = range.start; i < range.end; i++) Atomics.add(marks, i, 1);
    taken += range.end - range.start;
    work.done(range.end - range.start);
  }
} else {
  for (let task; (task = work.next()) >= 0; taken++) {
    Atomics.add(marks, task, 1);
    work.done();
  }
}
if (work.next() !== -1) throw new Error("there was more after the end");
work.wait();
self.post(taken);
