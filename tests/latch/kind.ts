import { type Handle, Latch } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "latch",
  byteLength: Latch.byteLength(),
  init: (memory, at) => Latch.init(memory, at, 5),
  attach: (memory, at) => new Latch(memory, at),
  from: (handle) => Latch.from(handle as Handle<never>),
  use: (view) => (view as Latch).countDown(2),
  used: (view) => (view as Latch).count === 3,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Latch", most: 5600 };
