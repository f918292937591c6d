// Calls or serves one ring after the other, blocking. A reply has each byte of
// the request plus 1.
import type { Memory } from "../../mod.ts";
import { CallRing } from "../../primitives/call_ring.ts";
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

/** Does a job; returns how many calls it made or served. */
function does({ memory, at, serves, count }: CallJob): number {
  const ring = new CallRing(memory, at);
  post("begun");
  if (serves) return ring.serve(plusOne);
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
  return count;
}

const { data, post, next } = await hello<CallJob>();
for (let job = data;; job = await next<CallJob>()) post(does(job));
