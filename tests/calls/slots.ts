/**
 * What the servers of one ring share: a race scenario drives it without the
 * promises of `serve`.
 *
 * @module
 */

export { mayListen, slotsOf } from "../../primitives/_calls/wire.ts";
