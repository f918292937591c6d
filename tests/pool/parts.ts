/**
 * The parts of a pool that several agents share: the race scenarios drive them
 * without the promises of `Pool`.
 *
 * @module
 */

export { Slots } from "../../primitives/_call_slots.ts";
export {
  LAZY,
  POSTED_BYTES,
  postedAt,
  REPLY_HEAD,
  REQUEST_HEAD,
  Rooms,
} from "../../primitives/_pool_wire.ts";
export { PoolServer } from "../../primitives/_pool_worker.ts";
