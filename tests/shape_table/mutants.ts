import { mutants } from "../_run/mutant.ts";

/** Mutants of `ShapeTable`. */
export const MUTANTS = mutants("shape_table", {
  what: "publishes before the text is there",
  by: "two agents add one shape",
  ts: "const at = TEXT * 4 + used;{+ Atomics.store(words, slot + STATE, " +
    "published);+}",
  c: "uint8_t *to = weft__shape_texts(t) + used;{+ weft__store(&slot->state, " +
    "published);+}",
}, {
  what: "publishes before the place is there",
  by: "two agents add one shape",
  ts: "{+Atomics.store(words, slot + STATE, published); +}words[slot + " +
    "PLACE] = used / 4 << LENGTH_BITS | length;",
  c: "{+weft__store(&slot->state, published); +}slot->place = (int32_t)(",
}, {
  what: "claims by a store",
  by: "two agents add one shape",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, slot + STATE, " +
    "[-FREE, -]CLAIMED);",
  c: "[-state = weft__compare_exchange-]{+weft__store+}(&slot->state, " +
    "[-WEFT__SHAPE_FREE, -]WEFT__SHAPE_CLAIMED);",
}, {
  what: "claims its text by a load and a store",
  by: "two shapes, room for one",
  ts: "const used = Atomics.[-add-]{+load(words, USED); " +
    "Atomics.store+}(words, USED, {+used + (+}length + 3 & ~3){+)+};",
  c: "int32_t used = [-weft__add(&t->used, -]{+weft__load(&t->used); " +
    "weft__store(&t->used, used + (+}(length + 3) & ~3){+)+};",
}, {
  what: "does not look whether there is room after it has claimed",
  by: "two shapes, room for one",
  ts: "[-if (used < 0 || used + length > words[BYTES]!) return -2;-]",
  c: "[-if (used < 0 || used > t->bytes - length) return -2;-]",
}, {
  what: "adds beside an agent that adds the same",
  by: "two agents add one shape",
  ts: "[-if (isBusy && !insists) return -1; -]if (Atomics",
  c: "[-if (is_busy && !insists) return -1; -]if (weft",
}, {
  what: "never adds what a dead agent may have been adding",
  by: "an agent is terminated while it adds",
  ts: "if (isBusy[- && !insists-]) return -1; if (Atomics",
  c: "if (is_busy[- && !insists-]) return -1; if (weft",
});
