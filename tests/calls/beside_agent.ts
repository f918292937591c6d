// Serves until the ring is closed, with a port: awaiting, or blocking.
import type { Handle } from "../../mod.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import { api } from "./beside_api.ts";

/** How to serve. */
export interface Job {
  readonly ring: Handle<"call_ring">;
  readonly port: MessagePort;
  readonly blocks: boolean;
}

const { data, post } = await hello<Job>();
const ring = CallRing.from(data.ring);
const { port } = data;
post("here");
post(
  data.blocks ? serve.blocking(ring, api, { port }) : await serve(ring, api, {
    port,
  }),
);
