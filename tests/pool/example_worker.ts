// A worker of the pool of the examples: adds 1 to each byte, but throws if the
// first one is 255, answers too much if it is 254, and waits if it is 253.
import { serve } from "../../docs/examples/pool_worker.ts";
import type { Place } from "../../docs/examples/pool_worker.ts";
import { Event } from "../../mod.ts";
import type { Handle } from "../../mod.ts";
import { hello } from "../_run/workers.ts";

const { data, post } = await hello<{
  place: Place;
  /**
   * The events that tell when a waiting task has begun, and that it waits for.
   */
  begun: Handle<"event">;
  gate: Handle<"event">;
}>();
const begun = Event.from(data.begun);
const gate = Event.from(data.gate);
let tasks = 0;
serve(data.place, (request) => {
  tasks++;
  if (request[0] === 255) throw new TypeError("255 is too much");
  if (request[0] === 254) return new Uint8Array(1000);
  if (request[0] === 253) {
    begun.set();
    gate.wait();
  }
  return request.map((byte) => byte + 1);
});
post(tasks);
