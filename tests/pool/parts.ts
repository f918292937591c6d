/**
 * The parts of a pool that several agents share: the race scenarios drive them
 * without the promises of `Pool`.
 *
 * @module
 */

export { Collector } from "../../primitives/_pool/collector.ts";
export { Jobs } from "../../primitives/_pool/jobs.ts";
export { Poster } from "../../primitives/_pool/poster.ts";
export { Staff } from "../../primitives/_pool/staff.ts";
export { cancel, isAnswered } from "../../primitives/_calls/ring/call.ts";
export { Slots } from "../../primitives/_calls/ring/slots.ts";
export {
  PHASE_MASK,
  REPLIED,
  REPLY_LENGTH,
} from "../../primitives/_calls/ring/words.ts";
export {
  LAZY,
  POSTED_BYTES,
  postedAt,
  REPLY_HEAD,
  REQUEST_HEAD,
  Rooms,
} from "../../primitives/_pool/wire.ts";
export { PoolServer } from "../../primitives/_pool/worker/server.ts";
