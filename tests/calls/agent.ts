// Serves a ring until it is closed: blocking, or awaiting.
import { agentId } from "../../primitives/agent.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { serve } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import { api, type ServeJob } from "./api.ts";

const self = await hello<ServeJob>();
const { ring, blocking } = self.data;
const calls = CallRing.from(ring);
self.post(agentId());
self.post(blocking ? serve.blocking(calls, api) : await serve(calls, api));
