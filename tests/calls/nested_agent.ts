// Serves, until the ring is closed, what its tests call.
import type { Handle } from "../../mod.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import { api } from "./nested_api.ts";

const { data, post } = await hello<Handle<"call_ring">>();
post("here");
post(await serve(CallRing.from(data), api));
