// Moves items through a box that holds a few items and is guarded by a mutex.
import { Condition } from "../../primitives/condition.ts";
import { Mutex } from "../../primitives/mutex.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  role: "put" | "take";
  times: number;
  all: boolean;
}>();
const { memory, role, times, all } = data;
const mutex = new Mutex(memory);
const [filled, emptied] = [8, 20].map((at) => new Condition(memory, at));
const box = new Int32Array(memory, 32, 2); // items now, and taken so far
const [full, other, own] = role === "put"
  ? [3, filled!, emptied!]
  : [0, emptied!, filled!];
let spurious = 0;
for (let i = 0; i < times; i++) {
  using _lock = mutex.lock();
  while (box[0] === full) {
    const notified = i % 3 === 0
      ? await own.tryWaitAsync(mutex, { timeout: i % 2 ? 20_000 : 0.05 })
      : own.tryWait(mutex, i % 2 ? 20_000 : 0.05);
    if (notified && box[0] === full) spurious++;
  }
  if (role === "put") box[0]!++;
  else {
    box[0]!--;
    box[1]!++;
  }
  if (all) other.notifyAll();
  else other.notify();
}
post(spurious);
