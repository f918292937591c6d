/**
 * Where the mistakes of a map are made, and what its lists of them share.
 *
 * @module
 */
import type { Place } from "../_run/mutant.ts";

/** The operations. */
export const CORE: Place = {
  source: "_map/map_core",
  header: "hash_map",
  scenarios: ["hash_map"],
};

/** A file of the map's room, and the header that is its twin. */
export const twin = (name: string): Place => ({
  source: `_map/${name}`,
  header: `_hash_${name}`,
  scenarios: ["hash_map"],
});

/** What writes do to a key in its locked bucket. */
export const WRITE: Place = twin("write");

/** How entries are read, which the same header says in C. */
export const READING: Place = { ...twin("table"), source: "_map/entries" };

export const RECOVERED = "a bucket is recovered beside writers";
export const REMEMBERS_ONE =
  "a view remembers a value that counts for a moment";
