// Takes signals until told that there are no more.
import { Event } from "../../primitives/event.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  memory: SharedArrayBuffer;
  pulses: number;
}>();
// Two events that reset automatically, and one that is pulsed.
const [ping, pong, start] = [0, 4, 8].map((at) => new Event(data.memory, at));
start!.tryWait(20_000);
let taken = 0;
for (; taken < data.pulses; taken++) {
  if (!ping!.tryWait(20_000)) break;
  pong!.set();
}
post(taken);
