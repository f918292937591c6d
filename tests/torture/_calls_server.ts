/** A server of the storm on calls. */
import { agentId, CallRing, codec, type Handle, serve } from "../../mod.ts";
import { hello } from "../_run/workers.ts";
import { apiOf } from "./_calls_api.ts";

/** What the storm tells a server. */
export interface Orders {
  readonly ring: Handle<"call_ring">;
  readonly codec: "json" | "structured";
  readonly blocks: boolean;
  readonly limit: number;
  readonly begun: Int32Array<SharedArrayBuffer>;
}

const { data, post } = await hello<Orders>();
const ring = CallRing.from(data.ring);
const api = apiOf(data.begun, data.blocks);
const options = { codec: codec[data.codec] };
post(agentId());
const count = data.blocks
  ? serve.blocking(ring, api, options)
  : await serve(ring, api, { ...options, limit: data.limit });
post(count);
