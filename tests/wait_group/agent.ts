// Does tasks of a wait group, round after round.
import { Semaphore } from "../../primitives/semaphore.ts";
import { WaitGroup } from "../../primitives/wait_group.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  go: SharedArrayBuffer;
  rounds: number;
}>();
const group = new WaitGroup(data.memory);
const go = new Semaphore(data.go);
let done = 0;
while (done < data.rounds && go.tryAcquire(1, 20_000)) {
  group.done();
  done++;
}
post(done);
