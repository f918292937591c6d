import { type Handle, Once } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "once",
  byteLength: Once.byteLength(),
  init: (memory, at) => Once.init(memory, at),
  attach: (memory, at) => new Once(memory, at),
  from: (handle) => Once.from(handle as Handle<never>),
  use: (view) => (view as Once).run(() => {}),
  used: (view) => (view as Once).done,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Once", most: 5000 };
