// Sends values from a thread of its own: see unit.ts.
import type { Handle } from "../../mod.ts";
import { Channel, codec as codecs } from "../../primitives/channel.ts";
import { hello } from "../_run/workers.ts";

/** The orders of a sender. */
export interface Body {
  handle: Handle<"channel">;
  codec: "json" | "f64" | "value";
  number: number;
  count: number;
}

const self = await hello<Body>();
const { handle, codec, number, count } = self.data;

if (codec === "json") {
  const channel = Channel.from(handle, { codec: codecs.json });
  for (let i = 0; i < count; i++) channel.send([number, i, "ü".repeat(i % 20)]);
} else if (codec === "value") { // half of them block, and half await
  const channel = Channel.from<number>(handle);
  for (let i = 0; i < count; i++) {
    if (i % 2) channel.send(i * 4 + number);
    else await channel.sendAsync(i * 4 + number);
  }
} else {
  const channel = Channel.from(handle, { codec: codecs.f64 });
  for (let i = 0; i < count; i++) channel.send(i + number / 4);
}
self.post("over");
