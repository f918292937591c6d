// Pushes records of many lengths into a ring.
import type { Handle } from "../../mod.ts";
import { RecordRing } from "../../primitives/record_ring.ts";
import { hello } from "../_run/workers.ts";

/** The orders of a producer. */
export interface RecordJob {
  handle: Handle<"record_ring">;
  number: number;
  count: number;
}

/** Record `i`: its producer, its number, and bytes that tell a torn one. */
function write(to: Uint8Array, number: number, i: number): void {
  to[0] = number;
  to[1] = i;
  to[2] = i >> 8;
  for (let k = 3; k < to.length; k++) to[k] = i + k * 7;
}

/** Does a job, once all producers are up. */
async function produce({ handle, number, count }: RecordJob): Promise<void> {
  const ring = RecordRing.from(handle);
  post("up");
  await next(); // go
  for (let i = 0; i < count; i++) {
    const length = 3 + i * 5 % 40;
    const record = new Uint8Array(length);
    write(record, number, i);
    if (i % 3 === 0) ring.push(record);
    else if (i % 3 === 1) await ring.pushAsync(record);
    else {
      const place = ring.reserve(length + i % 2);
      if (place === undefined) ring.push(record);
      else if (i % 7 === 0) {
        ring.cancel();
        ring.push(record);
      } else {
        write(place.subarray(0, length), number, i);
        ring.commit(length);
      }
    }
  }
  post("done");
}

const { data, post, next } = await hello<RecordJob>();
for (let job = data;; job = await next<RecordJob>()) await produce(job);
