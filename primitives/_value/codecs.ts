/**
 * All codecs, by their names in `codec`.
 *
 * @module
 */

export * from "../_message/codec.ts";
export { values as structured } from "./codec.ts";
