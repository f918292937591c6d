// Adds to a counter, through a view of its own.
import { StripedCounter } from "../../primitives/striped_counter.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  steps: readonly number[];
  times: number;
}>();
const counter = new StripedCounter(data.memory);
for (let i = 0; i < data.times; i++) {
  for (const n of data.steps) counter.add(n);
}
post("done");
