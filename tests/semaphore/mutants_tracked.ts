import { mutants } from "../_run/mutant.ts";

/** The algorithm, and its twin. */
export const SEMAPHORE = {
  source: "_lock/semaphore",
  header: "semaphore",
  scenarios: ["semaphore"],
};

/** Mutants of the rows of a tracked semaphore, in `_memory/tracked.ts`. */
export const ROWS = mutants({
  source: "_memory/tracked",
  scenarios: ["semaphore"],
}, {
  what: "does not confirm the last change before it replaces it",
  by: "tracked: two take one permit, and one is terminated",
  ts: "[-Atomics.compareExchange(words, at, confirmed, next);-]",
  c: "[-weft__compare_exchange(sequence, confirmed, next);-]",
}, {
  what: "confirms a change that is not made",
  by: "tracked: two take one permit, and one is terminated",
  ts: "[-if ((next ^ seen) & SEQUENCE_MASK) return;-]",
  c: "[-if ((next ^ seen) & WEFT__TRACKED_SEQUENCE_MASK) return true;-]",
}, {
  what: "confirms by a store",
  by: "tracked: two recover an agent, and one is terminated",
  ts: "Atomics.[-compareExchange-]{+store+}(words, at, [-confirmed, -]next);",
  c: "[-weft__compare_exchange-]{+weft__store+}(sequence[-, confirmed-], " +
    "next);",
}, {
  what: "does not confirm its own change",
  by: "tracked: two take one permit, and one is terminated",
  ts: "[-if (was === seen) Atomics.store(words, at + SEQUENCE, sequence);-]",
  c: "[-if (was == seen) weft__store(&row->sequence, sequence);-]",
}, {
  what: "confirms its change before it is made",
  by: "tracked: two take one permit, and one is terminated",
  ts: "{+Atomics.store(words, at + SEQUENCE, sequence); +}const was = " +
    "Atomics.compareExchange(words, this.#counted, seen, next);",
  c: "{+weft__store(&row->sequence, sequence); +}int32_t was = " +
    "weft__compare_exchange(t->counted, seen, (int32_t)next);",
}, {
  what: "writes what it holds into the half that counts",
  by: "tracked: two take one permit, and one is terminated",
  ts: "{+words[at + HELD + (last & 1)]! -= n; +}words[at + HELD + (sequence " +
    "& 1)] = words[at + HELD + (last & 1)]![- - n-];",
  c: "{+row->held[last & 1] -= n; +}row->held[sequence & 1] = " +
    "[-weft__minus(-]row->held[last & 1][-, n)-];",
}, {
  what: "writes what it holds after the exchange",
  by: "tracked: one releases, one acquires, one is terminated",
  ts: [
    "[-words[at + HELD + (sequence & 1)]-]{+const left+} = words[at + HELD + " +
    "(last & 1)]! - n;",
    "if (was === seen){+ { words[at + HELD + (sequence & 1)] = left;+} " +
    "Atomics.store(words, at + SEQUENCE, sequence);{+ }+}",
  ],
  c: [
    "[-row->held[sequence & 1]-]{+int32_t left+} = " +
    "weft__minus(row->held[last & 1], n);",
    "if (was == seen){+ { row->held[sequence & 1] = left;+} " +
    "weft__store(&row->sequence, sequence);{+ }+}",
  ],
}, {
  what: "takes a row that another agent takes",
  by: "tracked: two take a row",
  ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(this.words, at, [-0, id) " +
    "=== 0)-]{+id);+} return at;",
  c: "[-if (weft__compare_exchange-]{+{ weft__store+}(first + row * " +
    "WEFT__ROW, [-0, id) == 0)-]{+id);+} return row;{+ }+}",
}, {
  what: "recovers a row that another agent recovers",
  by: "tracked: two recover an agent, and one acquires",
  ts: "if (Atomics.[-compareExchange-]{+load+}(words, at[-, id, this.id-]) " +
    "!== id) continue;",
  c: "if ([-weft__compare_exchange(agent, id, " +
    "weft_agent_id()-]{+weft__load(agent+}) != id) continue;",
}, {
  what: "recovers a row without its last change",
  by: "tracked: two recover an agent, and one is terminated",
  ts: "[-this.#confirm(seen); // the last change of the dead agent-]{+//+}",
  c: "[-if (!weft__tracked_confirm(t, seen)) return -ENOTRECOVERABLE; " +
    "-]int32_t held",
}, {
  what: "recovers a row and gives nothing back",
  by: "tracked: two take one permit, and one is terminated",
  ts: "[-if (held > 0 && this.#exchange(at, seen, held) !== seen) continue;-]",
  c: "[-if (held == 0 || weft__tracked_exchange(t, row, seen, held) == seen) " +
    "-]return held;",
}, {
  what: "frees a row before it is empty",
  by: "tracked: two recover an agent, and one is terminated",
  ts: "{+Atomics.store(words, at, 0);\n+}const seen = this.#load();[- -]{+\n" +
    "+}this.#confirm(seen); // the",
  c: "{+weft__store(agent, 0); +}int32_t held = weft__tracked_empty(t, " +
    "&t->rows[i]);",
});

/** Mutants of how a tracked semaphore is drained. */
export const DRAINED = mutants({
  source: "_memory/tracked",
  scenarios: ["semaphore"],
}, {
  what: "drains before it confirms the last change",
  by: "tracked: one drains, one acquires, one is terminated",
  ts: "[-if (this.#rowOf(seen) !== at) this.#confirm(seen); -]counted = " +
    "this.#exchange(at, seen, -free);",
  c: "[-if (!weft__tracked_ready(t, row, seen)) return -ENOTRECOVERABLE; " +
    "-]counted = weft__tracked_exchange(t, row, seen, -free);",
}, {
  what: "drains and notes one permit",
  by: "tracked: one drains, one releases, one is terminated",
  ts: "this.#exchange(at, seen, -free); if (counted === seen) {+{ " +
    "this.words[at + HELD + (this.words[at + SEQUENCE]! & 1)] = 1; +}return " +
    "free;{+ }+}",
  c: "-free); if (counted == seen) {+{ row->held[row->sequence & 1] = 1; " +
    "+}return free;{+ }+}",
});

/** Mutants of what a tracked semaphore does otherwise. */
export const TRACKED = mutants(SEMAPHORE, {
  what: "recovers a tracked claimant and does not end its claim",
  by: "tracked: an agent that claims more than there is, and is killed",
  ts: "if ({+!+}claimed) { Atomics.store",
  c: "if ({+!+}claimed) { weft__store",
});
