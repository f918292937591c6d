/** A server of the storm on calls. */
import { agentId, CallRing, codec, type Handle, serve } from "../../mod.ts";
import process from "node:process";
import { PAGE } from "../_twin/bare.ts";
import { hello } from "../_run/workers.ts";
import { apiOf } from "./_calls_api.ts";
import { collectGarbage } from "./_storm.ts";
import { AT, BEGUN_AT, type Guest, GuestThread } from "./_guest.ts";

/** What the storm tells a server. */
export interface Orders {
  readonly ring: Handle<"call_ring">;
  readonly codec: "json" | "structured";
  readonly blocks: boolean;
  readonly limit: number;
  readonly begun: Int32Array<SharedArrayBuffer>;
  /** Set if it is a thread of C, whose rooms are its second page. */
  readonly guest?: Guest | undefined;
}

/** Serves in JavaScript until the ring is closed. */
function serving(data: Orders): number | Promise<number> {
  const ring = CallRing.from(data.ring);
  const api = apiOf(data.begun, data.blocks);
  const options = { codec: codec[data.codec] };
  return data.blocks
    ? serve.blocking(ring, api, options)
    : serve(ring, api, { ...options, limit: data.limit });
}

/** Serves in C; a method that traps ends the thread. */
function servingInC(guest: Guest): number {
  const { c } = new GuestThread(guest);
  try {
    return c.serve!(AT, BEGUN_AT, guest.pages + PAGE);
  } catch {
    process.exit(3);
  }
}

const { data, post } = await hello<Orders>();
post(agentId());
const { guest } = data;
// So the server learns which functions it needs no more. One that blocks runs
// no timers.
if (!data.blocks) setInterval(() => collectGarbage?.(), 20);
post(guest === undefined ? await serving(data) : servingInC(guest));
