import { type Handle, Snapshot } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "snapshot",
  byteLength: Snapshot.byteLength({ size: 4 }),
  init: (memory, at) => Snapshot.init(memory, at, { size: 4 }),
  attach: (memory, at) => new Snapshot(memory, at),
  from: (handle) => Snapshot.from(handle as Handle<never>),
  use: (view) => (view as Snapshot).write(Int32Array.of(7)),
  used: (view) => (view as Snapshot).version === 1,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Snapshot", most: 3700 };
