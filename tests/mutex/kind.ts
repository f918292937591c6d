import { type Handle, Mutex } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "mutex",
  byteLength: Mutex.byteLength(),
  init: (memory, at) => Mutex.init(memory, at),
  attach: (memory, at) => new Mutex(memory, at),
  from: (handle) => Mutex.from(handle as Handle<never>),
  use: (view) => (view as Mutex).lock(),
  used: (view) => (view as Mutex).owner !== 0,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Mutex", most: 5650 };
