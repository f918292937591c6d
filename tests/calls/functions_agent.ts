// Serves what calls back until the ring is closed: awaiting, or blocking.
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import type { ServeJob } from "./api.ts";
import { api } from "./functions_api.ts";

const { data, post } = await hello<ServeJob>();
const ring = CallRing.from(data.ring);
post("here");
post(data.blocking ? serve.blocking(ring, api) : await serve(ring, api));
