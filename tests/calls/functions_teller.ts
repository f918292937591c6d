// Keeps functions at a server, or lets it call the last of them, again and
// again.
import * as assert from "uvu/assert";
import type { Handle } from "../../mod.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { connect } from "../../primitives/calls.ts";
import { hello } from "../_run/workers.ts";
import type { api } from "./functions_api.ts";

/** What it is told: to keep `count` functions, or to let them be called. */
export interface Tells {
  readonly ring: Handle<"call_ring">;
  readonly keeps: boolean;
  readonly count: number;
}

const { data, post } = await hello<Tells>();
const ring = CallRing.from(data.ring);
if (data.keeps) {
  const remote = connect<typeof api>(ring);
  for (let i = 0; i < data.count; i++) await remote.keep((n) => n + 1);
} else {
  const remote = connect.blocking<typeof api>(ring);
  for (let i = 0; i < data.count; i++) assert.is(remote.tellLast(i), i + 1);
}
post("done");
