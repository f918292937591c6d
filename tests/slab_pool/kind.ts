import { type Handle, SlabPool } from "../../mod.ts";
import type { Kind, Size } from "../_run/kinds.ts";

const pool = { capacity: 3, blockSize: 4 };

/** How it is made, attached to and used. */
export const kind: Kind = {
  stem: "slab_pool",
  byteLength: SlabPool.byteLength(pool),
  init: (memory, at) => SlabPool.init(memory, at, pool),
  attach: (memory, at) => new SlabPool(memory, at),
  from: (handle) => SlabPool.from(handle as Handle<never>),
  use: (view) => (view as SlabPool).allocate(),
  used: (view) => (view as SlabPool).available === 2,
};

/** What a bundle of it may weigh. */
export const size: Size = { name: "SlabPool", most: 3450 };
