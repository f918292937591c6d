// Serves iterators until the ring is closed: awaiting, or blocking.
import type { Handle } from "../../mod.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import { api } from "./iterators_api.ts";

/** How to serve. */
export interface Job {
  readonly ring: Handle<"call_ring">;
  readonly blocks: boolean;
}

const { data, post } = await hello<Job>();
const ring = CallRing.from(data.ring);
post("here");
post(data.blocks ? serve.blocking(ring, api) : await serve(ring, api));
