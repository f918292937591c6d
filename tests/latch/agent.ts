// Counts a row of latches down, and waits at each.
import { Latch } from "../../primitives/latch.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  latches: number;
}>();
let passed = 0;
for (let i = 0; i < data.latches; i++) {
  const latch = new Latch(data.memory, i * Latch.byteLength());
  if (!latch.tryArriveAndWait(20_000)) break;
  passed++;
}
post(passed);
