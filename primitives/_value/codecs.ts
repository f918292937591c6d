/**
 * All codecs, by their names in `codec`.
 *
 * @module
 */

export { values as structured } from "./codec.ts";
export * from "../_message/codec.ts";
