import { Broadcast, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

const queue = { capacity: 3, elementSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "broadcast",
  byteLength: Broadcast.byteLength({ ...queue, subscribers: 2 }),
  init: (memory, at) =>
    Broadcast.init(memory, at, { ...queue, subscribers: 2 }),
  attach: (memory, at) => new Broadcast(memory, at),
  from: (handle) => Broadcast.from(handle as Handle<never>),
  use: (view) => (view as Broadcast).subscribe(),
  used: (view) => (view as Broadcast).subscribers === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Broadcast", most: 8950 };
