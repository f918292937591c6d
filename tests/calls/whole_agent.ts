// Serves a function or a class until the ring is closed: awaiting, or blocking.
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import type { ServeJob } from "./api.ts";
import { Account, add } from "./whole_api.ts";

const { data, post } = await hello<ServeJob & { isClass: boolean }>();
const ring = CallRing.from(data.ring);
const api = data.isClass ? Account : add;
post("here");
post(data.blocking ? serve.blocking(ring, api) : await serve(ring, api));
