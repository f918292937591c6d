import { Channel, codec, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

const channel = { codec: codec.binary, capacity: 1, messageSize: 16 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "channel",
  byteLength: Channel.byteLength(channel),
  init: (memory, at) => Channel.init(memory, at, channel),
  attach: (memory, at) => new Channel(memory, at, channel),
  from: (handle) => Channel.from(handle as Handle<"channel">, channel),
  use: (view) => (view as Channel<Uint8Array>).trySend(Uint8Array.of(7)),
  used: (view) => (view as Channel<Uint8Array>).tryReceive()![0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Channel, codec", most: 17450 };
