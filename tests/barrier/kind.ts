import { Barrier, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "barrier",
  byteLength: Barrier.byteLength(),
  init: (memory, at) => Barrier.init(memory, at, 3),
  attach: (memory, at) => new Barrier(memory, at),
  from: (handle) => Barrier.from(handle as Handle<never>),
  use: (view) => (view as Barrier).leave(),
  used: (view) => (view as Barrier).parties === 2,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Barrier", most: 7000 };
