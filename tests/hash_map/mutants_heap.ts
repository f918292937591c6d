import { mutants, none } from "../_run/mutant.ts";
import { READING, twin, WRITE } from "./mutants_places.ts";

const AGAIN = "a reader beside an overwrite whose blocks are used again";
const ANOTHER_KEY = "a reader beside a long value whose blocks get another key";
const SET_BESIDE = "a reader beside a set, and one that takes the blocks";
const DELETE_BESIDE = "a reader beside a delete, and one that takes the blocks";
const SET_ENDS = "set of a long value ends at any step, beside a reader";
const OVERWRITE_ENDS =
  "overwrite of a long value ends at any step, beside a reader";

/** Mutants of the places of long values. */
export const LONG_VALUES = [
  ...mutants(twin("table"), {
    what: "(C): frees the blocks of the old value before the new one counts",
    by: SET_BESIDE,
    ts: [
      "[-Atomics.store(words, at + CURRENT, next); // (C) the new value " +
      "counts-]",
      "if (old !== NONE) this.#heap!.free(old, " +
      "this.ownerOf(this.hashAt(at)));{+ Atomics.store(words, at + " +
      "CURRENT, next);+}",
    ],
    c: [
      "[-weft__store(entry + WEFT__HASH_CURRENT, next); /* (C) the new value " +
      "counts */-]",
      "weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, hash)); " +
      "}{+ weft__store(entry + WEFT__HASH_CURRENT, next);+}",
    ],
  }, {
    what: "overwrites, and keeps the blocks of the old value",
    by: AGAIN,
    ts: "[-if (old !== NONE) this.#heap!.free(old, " +
      "this.ownerOf(this.hashAt(at)));-]{+void old;+}",
    c: "[-weft__hash_free_blocks(m, plan, old, weft__hash_owner(plan, " +
      "hash)); }-]{+(void)hash; }+}",
  }, {
    what: "(V): frees blocks before readers are told that the entry is out",
    by: DELETE_BESIDE,
    ts: [
      "[-Atomics.add(words, bucket + VERSION, 1); // (V) the entry may be " +
      "used-]",
      "if (old !== NONE) this.#heap!.free(old, owner);{+ Atomics.add(words, " +
      "bucket + VERSION, 1);+}",
    ],
    c: [
      "[-weft__add(&bucket->version, 1); /* (V) the entry may be used */-]",
      "weft__hash_free_blocks(m, plan, old, weft__hash_number(m, bucket));{+ " +
      "weft__add(&bucket->version, 1);+}",
    ],
  }, {
    what: "takes an entry out, and keeps its blocks",
    by: ANOTHER_KEY,
    ts: "[-if (old !== NONE) this.#heap!.free(old, owner);-]{+void old;+}",
    c: "[-weft__hash_free_blocks(m, plan, old, weft__hash_number(m, " +
      "bucket));-]{+(void)0;+}",
  }, {
    what: "mends, and leaves the blocks that the agent took",
    by: SET_ENDS,
    ts: "{+if (words.length === 0) +}(this.#heap ?? this.#keys)?.mend(",
    c: "[-if (plan->blocks != 0) weft__hash_mend_blocks(m, plan, bucket);-]",
  }, {
    what: "mends, and frees the blocks of a value that counts",
    by: OVERWRITE_ENDS,
    ts: "[-if (this.#heap?.has(this.valueAt(at), block)) return true;-]",
    c: "[-if (plan->long_values && weft__heap_has(&heap, " +
      "weft__hash_value_at(plan, entry), block)) return " +
      "true;-]{+(void)heap;+}",
  }),
  ...mutants(READING, {
    what: "(C): finds a block that cannot be, and does not look at `current`",
    by: "a reader beside a long value whose place becomes a short value",
    ts: "{+if (!isCopied) at = ASTRAY; else +}if (!this.isCurrent(at, " +
      "this.current)) continue;[- if (!isCopied) at = ASTRAY;-]",
    c: "{+if (!is_copied) number = WEFT__HASH_ASTRAY; else +}if " +
      "(weft__hash_current(&place->plan, entry) != current) continue;[- if " +
      "(!is_copied) number = WEFT__HASH_ASTRAY;-]",
  }),
];

/** Mutants of the operations with long values. */
export const PUTS = mutants(WRITE, {
  what: "finds no entry for a long value, and keeps its blocks",
  by: "a long value, and no entry for it",
  ts: "[-if (isLong) this.#heap!.drop(owner);-]",
  c: "if ([-value->block != WEFT__HEAP_NONE-]{+false+})",
}, {
  what: "lets an entry give way to its own value",
  header: "_hash_table",
  by: "a long value gives way to itself, and another takes the entry",
  ts: "clock.makeRoom(bucket, [-kept-]{+NONE+});",
  c: "[-if (next != kept && (first-]{+(void)kept; if ((first+}",
}, {
  what: "finds no room for a value of a cache, and keeps the old one",
  by: "a long value of a cache gives way to itself",
  ts: "[-if (before !== NONE) table.remove(bucket, at, before);-]{+void " +
    "before;+}",
  c: "[-if (before != NULL) weft__hash_take_out(m, plan, place->bucket, " +
    "number, before, false)-]{+(void)before+}; return true;",
});

/** Mutants of the heap. */
export const HEAP = mutants(twin("heap"), {
  what: "takes a block that another agent has just taken",
  by: "two take blocks at once",
  ts: "if (Atomics.[-compareExchange-]{+exchange+}(words, block + OWNER, " +
    "[-FREE, owner) !==-]{+owner) <+} FREE)",
  c: "if ([-weft__compare_exchange-]{+weft__exchange+}(block + " +
    "WEFT__HEAP_OWNER, [-0, v->owner) !=-]{+v->owner) <+} 0)",
}, {
  what: "finds too few blocks, and keeps those that it has taken",
  by: "two long values, room for one",
  ts: "[-this.drop(owner); -]return false;",
  c: none("C does so in another file: see below"),
}, {
  what: "mends, and leaves the bit of a block that is free",
  by: "delete of a long value ends at any step, beside a reader",
  ts: ") [-this.#clear(number)-]{+void bit+}; } }",
  c: none("C does so in another file: see below"),
});

/** Mutants of the places of long keys. */
export const LONG_KEYS = mutants(twin("table"), {
  what: "takes an entry out, and keeps the blocks of its key",
  by: "a reader beside a long key whose blocks get another key",
  ts: "[-if (oldKey !== NONE) this.#keys!.free(oldKey, owner);-]",
  c: "[-if (-]{+(void)+}old_key[- != WEFT__HEAP_NONE) " +
    "weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, " +
    "bucket))-];",
}, {
  what: "frees the blocks of a key before its entry is out",
  by: "delete of a long key ends at any step, beside a reader",
  ts: [
    "[-if (oldKey !== NONE) this.#keys!.free(oldKey, owner);-]",
    "{+if (oldKey !== NONE) this.#keys!.free(oldKey, " +
    "this.ownerOf(this.numberOf(bucket))); +}Atomics.add(words, bucket + " +
    "VERSION, 1);[- // (F) views forget the entry-]",
  ],
  c: [
    "[-if (old_key != WEFT__HEAP_NONE) weft__hash_free_blocks(m, plan, " +
    "old_key, weft__hash_number(m, bucket));-]",
    "{+weft__hash_free_blocks(m, plan, old_key, weft__hash_number(m, " +
    "bucket));+}weft__add(&bucket->version, 1);[- /* (F) views of " +
    "JavaScript forget the entry */-]",
  ],
}, {
  what: "mends, and frees the blocks of a key that is there",
  by: "overwrite of a long key ends at any step, beside a reader",
  ts: "[-if (this.#keys?.has(at + this.#key, block)) return true;-]",
  c: "[-if (plan->long_keys && weft__heap_has(&keys, entry + plan->key, " +
    "block)) return true;-]{+(void)keys;+}",
}, {
  what: "mends no blocks of keys",
  by: "set of a long key ends at any step, beside a reader",
  ts: "[-(-]this.#heap[- ?? this.#keys)-]?.mend(",
  c: "if (plan->[-blocks != 0-]{+long_values+}) weft__hash_mend_blocks(m, " +
    "plan, bucket);",
});

/** Mutants of the operations with long keys. */
export const KEY_PUTS = mutants(WRITE, {
  what: "finds no room for a long value, and keeps the blocks of its key",
  by: "a long key, and no room for its value",
  ts: "[-keys?.drop(owner); -]return clock",
  c: "[-weft__hash_free_blocks(m, plan, key.block, owner); -]return " +
    "plan->evicts; }",
}, {
  what: "finds no entry for a long key, and keeps its blocks",
  by: "a long key, and no entry for it",
  ts: "[-keys?.drop(owner); // no entry for it-]",
  c: "if ([-key.block != WEFT__HEAP_NONE) /* no entry for it */-]{+false)+}",
});

/** Mutants of the blocks of keys. */
export const KEY_BLOCKS = mutants(twin("heap"), {
  what: "believes a long key whose hash and length are right",
  by: "two long keys with the same hash",
  ts: "[-if (word !== value[i + j]) return false;-]{+void word;+}",
  c: "[-if (weft__load(block + WEFT__HEAP_BODY + i) != weft__hash_part(bytes " +
    "+ at, length - at)) return false;-]{+(void)bytes;+}",
});

/** What C does in another file than TypeScript. */
export const HEAP_IN_C = mutants("hash_map", {
  what: "finds too few blocks, and keeps those that it has taken",
  header: "_hash_write",
  by: "two long values, room for one",
  ts: none("TypeScript does so in _map/heap.ts: see above"),
  c: "[-weft__hash_free_blocks(m, plan, made.first, made.owner);-]",
}, {
  what: "mends, and leaves the bit of a block that is free",
  header: "_hash_table",
  by: "delete of a long value ends at any step, beside a reader",
  ts: none("TypeScript does so in _map/heap.ts: see above"),
  c: "[-weft__heap_clear(&heap, number);-]{+(void)0;+}",
});
