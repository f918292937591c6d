import { mutants } from "../_run/mutant.ts";

/** Mutants of a lock that tracks its readers. */
export const TRACKED = mutants({
  source: "_lock/rw_lock_tracked",
  scenarios: ["rw_lock"],
}, {
  what: "(R): a reader looks for a writer before it notes that it reads",
  by: "tracked: tries to read and to write",
  ts: "{+const state = Atomics.load(words, STATE); +}Atomics.store(words, " +
    "at, words[at]! + 1);[- const state = Atomics.load(words, STATE);-]",
  c: "{+int32_t state = weft__load(&l->state); +}weft__store(&row->reads, " +
    "weft__plus(weft__hint(&row->reads), 1));[- int32_t state = " +
    "weft__load(&l->state);-]",
}, {
  what: "(R): a reader that began to wait does not look again",
  by: "tracked: a dead writer is recovered, one writes, one reads",
  ts: "[-if ((Atomics.load(words, STATE) & bits) === 0) -]return undefined;",
  c: "[-if ((weft__load(&l->state) & bits) == 0) -]return 0; weft__rw_add",
}, {
  what: "(V): a writer looks for readers before it announces itself",
  by: "tracked: tries to read and to write",
  ts: "[-if ((state & bits) !== bits) Atomics.store(words, STATE, state | " +
    "bits); -]if (this.#rows.blocking(words[GATE]!) >= 0) {+{ " +
    "Atomics.store(words, STATE, state | bits); +}return false;{+ }+}",
  c: "[-if ((state & bits) != bits) weft__store(&l->state, state | bits); " +
    "-]if (weft__reader_blocking(&rows, weft__hint(&l->gate)) != NULL) {+{ " +
    "weft__store(&l->state, state | bits); +}return EBUSY;{+ }+}",
}, {
  what: "(P): a reader waits for the end of a phase that is over",
  by: "tracked: one ends writing and tries again, one reads",
  ts: "if ([-((Atomics.load(words, GATE) ^ gate) & ~WAITING_BIT) === " +
    "0-]{+true+}) {",
  c: "[-if (((gate ^ ticket->gate) & ~WEFT_RW_LOCK_WAITING_BIT) == 0)-]{+if " +
    "(gate != gate + 1)+}",
}, {
  what: "(H): two recover a reader at once",
  by: "tracked: two recover a reader, and one reads",
  ts: "if (Atomics.[-compareExchange-]{+load+}(words, at[-, id, this.#id-]) " +
    "!== id) continue;",
  c: "if ([-weft__compare_exchange-]{+weft__load+}(&row->agent[-, id, " +
    "weft_agent_id()-]) != id) continue;",
}, {
  what: "a reader that met a writer goes on reading",
  by: "tracked: tries to read and to write",
  ts: "if (!isBusy(state)) return heldIn(state);[- this.#addReads(at, -1);-]",
  c: "return weft__rw_held_in(state);[- weft__rw_add_reads(l, row, -1);-]",
}, {
  what: "a tracked reader does not wake the writer",
  by: "tracked: one writes, one reads",
  ts: "[-if (n < 0) this.#wakeWriter(at);-]",
  c: "[-if (n < 0) weft__rw_wake_writer(l, &row->reads);-]",
}, {
  what: "opens the gate before it ends the phase",
  by: "tracked: one writes, one reads",
  ts: "{+open(words); +}Atomics.store(words, STATE, kept | abandoned);[- " +
    "open(words);-]",
  c: "{+weft__rw_open(l); +}weft__store(&l->state, kept | abandoned);[- " +
    "weft__rw_open(l);-]",
}, {
  what: "ends the phase and does not open the gate",
  by: "tracked: one writes, one reads",
  ts: "kept | abandoned);[- open(words);-]",
  c: "weft__store(&l->state, kept | abandoned);[- weft__rw_open(l);-]",
}, {
  what: "a writer does not say that it sleeps in a row",
  by: "tracked: one writes, one reads",
  ts: "return this.#hold(WANTED_BIT[- | ASLEEP_BIT-]);",
  c: "l, WEFT_RW_LOCK_WANTED_BIT[- | WEFT_RW_LOCK_ASLEEP_BIT-]);",
}, {
  what: "a writer sleeps in a row whose agent reads no more",
  by: "tracked: one writes, one reads",
  ts: "return[- readingOf(value, gate) > 0 ?-] { index, value }[- : " +
    "undefined-];",
  c: "return[- weft__reading_of(*value, gate) > 0 ?-] &row->reads[- : NULL-];",
}, {
  what: "a reader that was let in stays pending",
  by: "tracked: one writes, one reads",
  ts: "[-this.#settle(this.#rows.mine, gate);-]",
  c: "[-if (row != NULL) weft__rw_settle(row, gate);-]",
}, {
  what: "a tracked reader that gives up stays pending",
  by: "tracked: a reader that gives up",
  ts: "[-this.#addReads(this.#rows.mine, -ONE_PENDING); -]return true;",
  c: "[-if (row != NULL) weft__rw_add_reads(l, row, " +
    "-WEFT__ONE_PENDING);-]{+(void)row;+}",
}, {
  what: "a tracked writer that goes on reading does not note it",
  by: "tracked: one downgrades",
  ts: "[-this.#addReads(this.#rows.room(), 1);-]",
  c: "[-weft__rw_add_reads(l, row, 1);-]",
}, {
  what: "a try to write that fails keeps readers out",
  by: "tracked: tries to read and to write",
  ts: "[-if (outcome === false) this.leave(0, 0); -]return outcome;",
  c: "[-if (result == EBUSY) weft__rw_leave_tracked(l, 0);-]",
}, {
  what: "recovers a reader and does not wake the writer",
  by: "tracked: a dead reader is recovered beside a writer",
  ts: "[-this.#wakeWriter(at + READS);-]",
  c: "[-weft__rw_wake_writer(l, &row->reads); -]weft__store(&row->agent, 0);",
}, {
  what: "frees the row of a reader before it is clear",
  by: "tracked: two recover a reader, and one reads",
  ts: "{+Atomics.store(words, at, 0); +}sum += readingOf(Atomics.exchange",
  c: "{+weft__store(&row->agent, 0); +}sum += weft__reading_of(weft__exchange",
});

/** Mutants of the rows of readers. */
export const ROWS = mutants(
  { source: "_lock/readers", scenarios: ["rw_lock"] },
  {
    what: "whoever waits to read counts as reading",
    by: "tracked: one writes, one reads",
    ts: "[-(isIn(reads, gate) ? -]pending[- : 0)-]",
    c: "[-(weft__reader_is_in(reads, gate) ? -]pending[- : 0)-]",
  },
  {
    what: "whoever was let in does not count as reading",
    by: "tracked: one ends writing and tries again, one reads",
    ts: "[-(isIn(reads, gate) ? pending : 0)-]{+0+}",
    c: "([-weft__reader_is_in(reads, gate) ?-]{+0 &+} pending[- : 0-])",
  },
);
