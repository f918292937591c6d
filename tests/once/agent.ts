// Runs a row of onces, whose functions count how often they ran.
import { Once } from "../../primitives/once.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  counts: Int32Array<SharedArrayBuffer>;
  seed: number;
}>();
let right = 0;
for (let i = 0; i < data.counts.length; i++) {
  const once = new Once(data.memory, i * Once.byteLength());
  const count = () => {
    data.counts[i]!++; // not atomic: (E) publishes it
    if (data.counts[i] === 1 && i % 3 === 0) throw new Error("once more");
  };
  const wanted = i % 3 === 0 ? 2 : 1;
  for (let tries = 0; tries < 2; tries++) {
    try {
      if ((i + data.seed) % 2) once.tryRun(count, 20_000);
      else await once.tryRunAsync(count, { timeout: 20_000 });
      if (data.counts[i] === wanted) right++;
      break;
    } catch { /* it was ours to fail */ }
  }
}
post(right);
