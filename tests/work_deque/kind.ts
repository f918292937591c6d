import { type Handle, WorkDeque } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

const deque = { capacity: 3 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "work_deque",
  byteLength: WorkDeque.byteLength(deque),
  init: (memory, at) => WorkDeque.init(memory, at, deque),
  attach: (memory, at) => new WorkDeque(memory, at),
  from: (handle) => WorkDeque.from(handle as Handle<never>),
  use: (view) => (view as WorkDeque).push(-7),
  used: (view) => (view as WorkDeque).steal() === -7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "WorkDeque", most: 2750 };
