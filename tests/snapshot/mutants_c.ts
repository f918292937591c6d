import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_snapshot`. */
export const snapshot = mutants(
  "snapshot",
  "snapshot",
  [
    "(V): counts a value before it is there",
    "for (int32_t i = 0; i < count; i++) weft__store(at + i, from[i]); /* " +
    "published by (V) */ weft__store(&s->state, next); /* (V) */",
    "weft__store(&s->state, next); for (int32_t i = 0; i < count; i++) " +
    "weft__store(at + i, from[i]);",
  ],
  [
    "writes over the last value",
    "int32_t *at = weft__snapshot_copy(s, next & 1);",
    "int32_t *at = weft__snapshot_copy(s, state & 1);",
  ],
  [
    "writes plainly",
    "weft__store(at + i, from[i]); /* published by (V) */",
    "at[i] = from[i];",
  ],
  [
    "reads plainly",
    "to[i] = weft__load(at + i); /* published by (V) */",
    "to[i] = at[i];",
  ],
  [
    "does not look a second time",
    "if (seen == state) return weft__snapshot_version_of(s, state); state = " +
    "seen;",
    "(void)seen; return weft__snapshot_version_of(s, state);",
  ],
  [
    "looks a second time before it copies",
    "const int32_t *at = weft__snapshot_copy(s, state & 1);",
    "int32_t seen = weft__load(&s->state); const int32_t *at = " +
    "weft__snapshot_copy(s, state & 1);",
    ["int32_t seen = weft__load(&s->state); if", "if"],
  ],
  [
    "takes a later number for the same copy",
    "if (seen == state) return weft__snapshot_version_of(s, state); state = " +
    "seen;",
    "if (((seen ^ state) & 1) == 0) return weft__snapshot_version_of(s, " +
    "state); state = seen;",
  ],
  [
    "takes what was torn at the second look, too",
    "if (seen == state) return weft__snapshot_version_of(s, state); state = " +
    "seen;",
    "if (seen == state || seen == state + 2) return " +
    "weft__snapshot_version_of(s, state); state = seen;",
  ],
  [
    "reads the copy that is written",
    "const int32_t *at = weft__snapshot_copy(s, state & 1);",
    "const int32_t *at = weft__snapshot_copy(s, (state + 1) & 1);",
  ],
  [
    "single: writes to the reader's copy",
    "int32_t mine = 3 - (state & WEFT_SNAPSHOT_MIDDLE_MASK) - (state >> " +
    "WEFT_SNAPSHOT_FRONT_SHIFT & 3);",
    "int32_t mine = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3;",
  ],
  [
    "single: writes to the middle copy",
    "int32_t mine = 3 - (state & WEFT_SNAPSHOT_MIDDLE_MASK) - (state >> " +
    "WEFT_SNAPSHOT_FRONT_SHIFT & 3);",
    "int32_t mine = state & WEFT_SNAPSHOT_MIDDLE_MASK;",
  ],
  [
    "single: (V): swaps before it writes",
    "weft__copy(weft__snapshot_copy(s, mine), from, count); for (;;) {",
    "for (;;) {",
    [
      "if (seen == state) return; state = seen;",
      "if (seen == state) { weft__copy(weft__snapshot_copy(s, mine), from, " +
      "count); return; } state = seen;",
    ],
  ],
  [
    "single: writes by a store",
    "int32_t seen = weft__compare_exchange(&s->state, state, next); /* (V) */",
    "int32_t seen = state; weft__store(&s->state, next);",
  ],
  [
    "single: gives a value up when its exchange fails",
    "if (seen == state) return; state = seen;",
    "(void)seen; return;",
  ],
  [
    "single: does not see that the reader swapped",
    "for (;;) { int32_t next = weft__snapshot_written(state, mine);",
    "int32_t old = state & 3 << WEFT_SNAPSHOT_FRONT_SHIFT; for (;;) { int32_t " +
    "next = (weft__snapshot_written(state, mine) & ~(3 << " +
    "WEFT_SNAPSHOT_FRONT_SHIFT)) | old;",
  ],
  [
    "single: does not say that it is new",
    "return version | WEFT_SNAPSHOT_NEW_BIT | front | mine;",
    "return version | front | mine;",
  ],
  [
    "single: does not count",
    "int32_t version = weft__plus(state & -WEFT__SNAPSHOT_ONE_VERSION, " +
    "WEFT__SNAPSHOT_ONE_VERSION);",
    "int32_t version = state & -WEFT__SNAPSHOT_ONE_VERSION;",
  ],
  [
    "single: reads what it had when its exchange fails",
    "while (s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT) {",
    "if (s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT) {",
  ],
  [
    "single: reads what it had",
    "while (s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT) {",
    "while (0) {",
  ],
  [
    "single: reads by a store",
    "int32_t seen = weft__compare_exchange(&s->state, state, swapped);",
    "int32_t seen = state; weft__store(&s->state, swapped);",
  ],
  [
    "single: does not give its copy back",
    "middle << WEFT_SNAPSHOT_FRONT_SHIFT | front; int32_t seen",
    "middle << WEFT_SNAPSHOT_FRONT_SHIFT | middle; (void)front; int32_t seen",
  ],
  [
    "single: reads the middle copy where it lies",
    "int32_t front = state >> WEFT_SNAPSHOT_FRONT_SHIFT & 3; weft__copy",
    "int32_t front = state & WEFT_SNAPSHOT_MIDDLE_MASK; weft__copy",
  ],
);
