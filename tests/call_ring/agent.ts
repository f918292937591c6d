// Calls or serves a ring, blocking. A reply has each byte of the request plus
// 1.
import { CallRing, type Memory } from "../../mod.ts";
import { isRight, plusOne, requestOf } from "./cases.ts";
import { hello } from "../_run/workers.ts";

/** The orders of an agent: what to do, and where. */
export interface CallJob {
  memory: Memory;
  at: number;
  serves: boolean;
  /** Calls it makes. */
  count: number;
}

const self = await hello<CallJob>();
const { memory, at, serves, count } = self.data;
const ring = new CallRing(memory, at);
self.post("begun");
if (serves) self.post(ring.serve(plusOne));
else {
  for (let i = 0; i < count; i++) {
    const request = requestOf(i);
    let end: unknown;
    try {
      end = ring.call(request);
    } catch (error) {
      end = error;
    }
    if (!isRight(request, end)) throw new Error(`call ${i}: ${end}`);
  }
  self.post(count);
}
