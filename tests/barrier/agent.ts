// Passes a barrier again and again, and checks that all others did, too.
import { Barrier } from "../../primitives/barrier.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  /** The round each party is in: plain, as the barrier orders it. */
  rounds: Int32Array<SharedArrayBuffer>;
  me: number;
  count: number;
}>();
const { rounds, me, count } = data;
const barrier = new Barrier(data.memory);
let leads = 0;
let late = 0;
let wrong = 0;
for (let round = 1; round <= count; round++) {
  rounds[me] = round;
  for (;;) {
    const passage = round % 5 === me
      ? await barrier.tryArriveAndWaitAsync({
        timeout: round % 3 ? 20_000 : 0.1,
      })
      : barrier.tryArriveAndWait(round % 3 ? 20_000 : 0.02);
    if (passage === undefined) late++;
    else {
      leads += passage.leader ? 1 : 0;
      break;
    }
  }
  for (const other of rounds) if (other !== round) wrong++;
  barrier.arriveAndWait(); // before the next round begins
}
post({ leads, late, wrong });
