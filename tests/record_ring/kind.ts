import { type Handle, RecordRing } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "record_ring",
  byteLength: RecordRing.byteLength({ capacity: 32 }),
  init: (memory, at) => RecordRing.init(memory, at, { capacity: 32 }),
  attach: (memory, at) => new RecordRing(memory, at),
  from: (handle) => RecordRing.from(handle as Handle<never>),
  use: (view) => (view as RecordRing).push(Uint8Array.of(7)),
  used: (view) => (view as RecordRing).pop()![0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "RecordRing", most: 9500 };
