import { type Handle, WorkCounter } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "work_counter",
  byteLength: WorkCounter.byteLength(),
  init: (memory, at) => WorkCounter.init(memory, at, 10, { chunk: 3 }),
  attach: (memory, at) => new WorkCounter(memory, at),
  from: (handle) => WorkCounter.from(handle as Handle<never>),
  use: (view) => (view as WorkCounter).nextRange(),
  used: (view) => (view as WorkCounter).remaining === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WorkCounter", most: 7700 };
