import { CallRing, type Handle } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

const call = { slots: 2, request: 4, reply: 8 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "call_ring",
  byteLength: CallRing.byteLength(call),
  init: (memory, at) => CallRing.init(memory, at, call),
  attach: (memory, at) => new CallRing(memory, at),
  from: (handle) => CallRing.from(handle as Handle<never>),
  use: (view) => (view as CallRing).tryPost(Uint8Array.of(7)),
  used: (view) => (view as CallRing).tryTake()!.request[0] === 7,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "CallRing", most: 10150 };
