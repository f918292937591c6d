import { mutants } from "../_run/mutant.ts";

/** Mutants of `Snapshot`. */
export const MUTANTS = mutants("snapshot", {
  what: "(V): counts a value before it is there",
  by: "three values, two readers",
  ts: "{+Atomics.store(words, STATE, next); +}for (let i = 0; i < " +
    "this.#count; i++) { Atomics.store(words, at + i, from[i]!); [-// " +
    "published by (V) } Atomics.store(words, STATE, next); // (V)-]{+}+}",
  c: "{+weft__store(&s->state, next); +}for (int32_t i = 0; i < count; i++) " +
    "weft__store(at + i, from[i]);[- /* published by (V) */ " +
    "weft__store(&s->state, next); /* (V) */-]",
}, {
  what: "writes over the last value",
  by: "three values, two readers",
  ts: "const at = this.#copy([-next-]{+state+} & 1);",
  c: "int32_t *at = weft__snapshot_copy(s, [-next-]{+state+} & 1);",
}, {
  what: "writes plainly",
  by: "three values, two readers",
  ts: "[-Atomics.store(words, at + i, from[i]!); // published by " +
    "(V)-]{+words[at + i] = from[i]!;+}",
  c: "[-weft__store(at + i, from[i]); /* published by (V) */-]{+at[i] = " +
    "from[i];+}",
}, {
  what: "reads plainly",
  by: "three values, two readers",
  ts: "to[i] = [-Atomics.load(words, at + i); // published by " +
    "(V)-]{+words[at + i]!;+}",
  c: "to[i] = [-weft__load(at + i); /* published by (V) */-]{+at[i];+}",
}, {
  what: "does not look a second time",
  by: "three values, two readers",
  ts: "[-if (seen === state) break; state = seen;-]{+break;+}",
  c: "[-if (seen == state)-]{+(void)seen;+} return " +
    "weft__snapshot_version_of(s, state);[- state = seen;-]",
}, {
  what: "looks a second time before it copies",
  by: "three values, two readers",
  ts: [
    "const at = this.#copy(state & 1); {+const early = Atomics.load(words, " +
    "STATE); +}for",
    "const seen = [-Atomics.load(words, STATE)-]{+early+}; if (seen === " +
    "state) break;",
  ],
  c: [
    "{+int32_t seen = weft__load(&s->state); +}const int32_t *at = " +
    "weft__snapshot_copy(s, state & 1);",
    "[-int32_t seen = weft__load(&s->state); -]if",
  ],
}, {
  what: "takes a later version in the same copy for the same version",
  by: "three values, one of many readers",
  ts: "if ([-seen === state-]{+((seen ^ state) & 1) === 0+}) break; state = " +
    "seen;",
  c: "if ([-seen == state-]{+((seen ^ state) & 1) == 0+}) return " +
    "weft__snapshot_version_of(s, state); state = seen;",
}, {
  what: "takes a value that is torn at the second look, too",
  by: "three values, one of many readers",
  ts: "if (seen === state{+ || seen === state + 2+}) break; state = seen;",
  c: "if (seen == state{+ || seen == state + 2+}) return " +
    "weft__snapshot_version_of(s, state); state = seen;",
}, {
  what: "reads the copy that is being written",
  by: "three values, two readers",
  ts: "const at = this.#copy(state {++ 1 +}& 1); for",
  c: "const int32_t *at = weft__snapshot_copy(s, [-state-]{+(state + 1)+} & " +
    "1);",
}, {
  what: "single: writes to the reader's copy",
  by: "three values, a single reader",
  ts: "const mine = [-3 - (state & MIDDLE_MASK) - (-]state >> FRONT_SHIFT & " +
    "3[-)-];",
  c: "int32_t mine = [-3 - (state & WEFT_SNAPSHOT_MIDDLE_MASK) - (-]state >> " +
    "WEFT_SNAPSHOT_FRONT_SHIFT & 3[-)-];",
}, {
  what: "single: writes to the middle copy",
  by: "three values, a single reader",
  ts: "const mine = [-3 - (-]state & MIDDLE_MASK[-) - (state >> FRONT_SHIFT " +
    "& 3)-];",
  c: "int32_t mine = [-3 - (-]state & WEFT_SNAPSHOT_MIDDLE_MASK[-) - (state " +
    ">> WEFT_SNAPSHOT_FRONT_SHIFT & 3)-];",
}, {
  what: "single: (V): swaps before it writes",
  by: "three values, a single reader",
  ts: [
    "[-this.copier.put(src, 0, this.#copy(mine), this.#count); -]for (;;) {",
    "if (seen === state) [-return;-]{+{ this.copier.put(src, 0, " +
    "this.#copy(mine), this.#count); return; }+} state = seen;",
  ],
  c: [
    "[-weft__copy(weft__snapshot_copy(s, mine), from, count); -]for (;;) {",
    "if (seen == state) {+{ weft__copy(weft__snapshot_copy(s, mine), from, " +
    "count); +}return 0;{+ }+} state = seen;",
  ],
}, {
  what: "single: writes by a store",
  by: "three values, a single reader",
  ts: "const seen = {+state; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "STATE, [-state, next); // (V)-]{+next);+}",
  c: "[-int32_t seen = weft__compare_exchange(&s->state, state, next); /* " +
    "(V) */-]{+int32_t seen = state; weft__store(&s->state, next);+}",
}, {
  what: "single: drops a value if its exchange fails",
  by: "three values, a single reader",
  ts: "[-if (seen === state) return; state = seen;-]{+return;+}",
  c: "[-if (seen == state)-]{+(void)seen;+} return 0;[- state = seen;-]",
}, {
  what: "single: does not notice that the reader swapped",
  by: "three values, a single reader",
  ts: "[-for (;;) { -]const front = state & 3 << FRONT_SHIFT;{+ for (;;) {+}",
  c: "{+int32_t old = state & 3 << WEFT_SNAPSHOT_FRONT_SHIFT; +}for (;;) { " +
    "int32_t next = {+(+}weft__snapshot_written(state, mine){+ & ~(3 << " +
    "WEFT_SNAPSHOT_FRONT_SHIFT)) | old+};",
}, {
  what: "single: does not mark the value as new",
  by: "three values, a single reader",
  ts: "const next = version | [-NEW_BIT | -]front | mine;",
  c: "return version[- | WEFT_SNAPSHOT_NEW_BIT-] | front | mine;",
}, {
  what: "single: does not count",
  by: "three values, a single reader",
  ts: "const version = [-(-]state & -ONE_VERSION[-) + ONE_VERSION-];",
  c: "int32_t version = [-weft__plus(-]state & " +
    "-WEFT__SNAPSHOT_ONE_VERSION[-, WEFT__SNAPSHOT_ONE_VERSION)-];",
}, {
  what: "single: reads its old copy if its exchange fails",
  by: "three values, a single reader",
  ts: "[-while-]{+if+} (state & NEW_BIT) {",
  c: "[-while-]{+if+} (s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT) {",
}, {
  what: "single: reads its old copy",
  by: "three values, a single reader",
  ts: "while ([-state & NEW_BIT-]{+false as boolean+}) {",
  c: "while ([-s->single_reader && state & WEFT_SNAPSHOT_NEW_BIT-]{+0+}) {",
}, {
  what: "single: reads by a store",
  by: "three values, a single reader",
  ts: "const seen = {+state; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "STATE, [-state, -]swapped);",
  c: "int32_t seen = [-weft__compare_exchange(&s->state, state, -]{+state; " +
    "weft__store(&s->state, +}swapped);",
}, {
  what: "single: does not give its copy back",
  by: "three values, a single reader",
  ts: "const swapped = (state & -ONE_VERSION) | middle << FRONT_SHIFT | " +
    "[-front-]{+middle+};",
  c: "middle << WEFT_SNAPSHOT_FRONT_SHIFT | {+middle; (void)+}front; int32_t " +
    "seen",
}, {
  what: "single: reads the middle copy where it lies",
  by: "three values, a single reader",
  ts: "const at = this.#copy(state [->> FRONT_SHIFT & 3-]{+& MIDDLE_MASK+});",
  c: "int32_t front = state [->> WEFT_SNAPSHOT_FRONT_SHIFT & 3-]{+& " +
    "WEFT_SNAPSHOT_MIDDLE_MASK+}; weft__copy",
}, {
  what: "any agent writes",
  by: "two agents write, of which one may",
  ts: 'this.#writes = [-takeRole(words, WRITER, this.#id, "writer")-]{+true+};',
  c: "[-if (weft__take_role(&s->writer) != 0) return EPERM;-]",
}, {
  what: "any agent reads where one may",
  by: "two agents read, of which one may",
  ts: 'this.#reads = [-takeRole(words, READER, this.#id, "reader")-]{+true+};',
  c: "[-if (s->single_reader && weft__take_role(&s->reader) != 0) return " +
    "-EPERM;-]",
}, {
  what: "looks which value is the last before it has the role",
  by: "two agents write, one after the other",
  ts: "{+let state = words[STATE]!; +}if (!this.#writes) { this.#writes = " +
    'takeRole(words, WRITER, this.#id, "writer"); }[- let state = ' +
    "words[STATE]!;-]",
  c: "{+int32_t was = weft__load(&s->state); +}if " +
    "(weft__take_role(&s->writer) != 0) return EPERM; [-return-]{+int result " +
    "=+} weft__snapshot_write(s, src);{+ s->state = weft__plus(was, 1); " +
    "return result;+}",
});
