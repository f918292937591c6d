import { Condition, type Handle, Mutex } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "condition",
  byteLength: Condition.byteLength(),
  init: (memory, at) => Condition.init(memory, at),
  attach: (memory, at) => new Condition(memory, at),
  from: (handle) => Condition.from(handle as Handle<never>),
  use: (view) => {
    const mutex = Mutex.create();
    mutex.lock();
    (view as Condition).waitAsync(mutex, { ref: false }); // for ever
  },
  used: (view) => new Int32Array(view.buffer, view.byteOffset, 3)[2] !== 0,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "Condition", most: 6000 };
