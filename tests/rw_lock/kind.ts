import { type Handle, RwLock } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "rw_lock",
  byteLength: RwLock.byteLength(),
  init: (memory, at) => RwLock.init(memory, at),
  attach: (memory, at) => new RwLock(memory, at),
  from: (handle) => RwLock.from(handle as Handle<never>),
  use: (view) => (view as RwLock).read(),
  used: (view) => (view as RwLock).readers === 1,
};

/**
 * What a bundle of it may weigh. An agent attaches to a tracked lock without
 * knowing that it is, so 1.3 KB are for the rows in any case.
 */
export const size: Size = { name: "RwLock", most: 8250 };
