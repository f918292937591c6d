/**
 * Mistakes in maps, each made in both languages, that kills must find: in
 * JavaScript those of `supervisor.ts`, and in C those of `kills.c`.
 *
 * @module
 */
import type { Edit } from "../_run/edits.ts";

/** A mistake in what a map does for the blocks of keys. */
export interface MapMistake {
  /** What the mistake is. */
  readonly what: string;
  /** A file in `primitives/`, without `.ts`, and its edit. */
  readonly ts: readonly [source: string, edit: Edit];
  /** The same in `wasm/weft/`, without `.h`. */
  readonly c: readonly [header: string, edit: Edit];
  /** What the kills say. */
  readonly says: RegExp;
}

/** The mistakes. */
export const MAP_MISTAKES: readonly MapMistake[] = [{
  what: "a dead agent keeps the blocks that it had taken",
  ts: [
    "_map/heap",
    "[-if (found === owner && !isUsed(number)) " +
    "this.#release(number);-]{+void isUsed;+}",
  ],
  c: [
    "_hash_table",
    "[-if (found == owner && !weft__hash_has_block(m, plan, bucket, number)) " +
    "weft__heap_release(&heap, number);-]{+(void)owner;+}",
  ],
  says: /out of use|leaked/,
}, {
  what: "mending a bucket frees the blocks of its keys",
  ts: [
    "_map/table",
    "[-if (this.#keys?.has(at + this.#key, block)) return true;-]",
  ],
  c: [
    "_hash_table",
    "[-if (plan->long_keys && weft__heap_has(&keys, entry + plan->key, " +
    "block)) return true;-]{+(void)keys;+}",
  ],
  says: /torn key|key is lost|has value|came again|there twice/,
}, {
  what: "a key that is deleted keeps its blocks",
  ts: [
    "_map/table",
    "[-if (oldKey !== NONE) this.#keys!.free(oldKey, owner);-]",
  ],
  c: [
    "_hash_table",
    "[-if (-]{+(void)+}old_key[- != WEFT__HEAP_NONE) " +
    "weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, " +
    "bucket))-];",
  ],
  says: /out of use|leaked/,
}];
