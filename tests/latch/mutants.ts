import { mutants, none } from "../_run/mutant.ts";

/** Mutants of `Latch`. */
export const MUTANTS = mutants("latch", {
  what: "counts by a store",
  by: "two steps, two sleepers",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, -]next);",
  c: "[-state = weft__compare_exchange(&l->state, expected, " +
    "next);-]{+weft__store(&l->state, next);+}",
}, {
  what: "gives up if another agent counted meanwhile",
  by: "two steps, two sleepers",
  ts: "if (state !== expected) [-continue-]{+return+}; if (next",
  c: "if (state != expected) [-continue-]{+return 0+}; *opened",
}, {
  what: "opens and wakes nobody",
  by: "two steps, two sleepers",
  ts: "[-if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, " +
    "STATE);-]",
  c: "[-if (*opened && state & WEFT_LATCH_WAITING_BIT) " +
    "weft__notify(&l->state, WEFT__ALL);-]",
}, {
  what: "opens and wakes one",
  by: "a wait that may time out",
  ts: "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, " +
    "STATE{+, 1+});",
  c: "weft__notify(&l->state, [-WEFT__ALL-]{+1+});",
}, {
  what: "wakes before it opens",
  by: "two steps, two sleepers",
  ts: [
    "{+if (next === OPEN) Atomics.notify(words, STATE); +}state = " +
    "Atomics.compareExchange(words, STATE, expected, next);",
    "[-if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, " +
    "STATE);-]",
  ],
  c: [
    "[-if (*opened && state & WEFT_LATCH_WAITING_BIT) " +
    "weft__notify(&l->state, WEFT__ALL);-]",
    "{+if (next == WEFT_LATCH_OPEN) weft__notify(&l->state, WEFT__ALL); " +
    "+}state = weft__compare_exchange(&l->state, expected, next);",
  ],
}, {
  what: "stays closed because of a waiter's mark",
  by: "two steps, two sleepers",
  ts: "const next = left[- < ONE ? OPEN : left-];",
  c: "int32_t next = left[- < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left-];",
}, {
  what: "removes the mark of a waiter",
  by: "two steps, two sleepers",
  ts: "const next = left [-< ONE ? OPEN : left-]{+& ~WAITING_BIT+};",
  c: "int32_t next = left [-< WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left-]{+& " +
    "~WEFT_LATCH_WAITING_BIT+};",
}, {
  what: "opens one step too early",
  by: "two steps, two sleepers",
  ts: "const next = left <{+=+} ONE ? OPEN : left;",
  c: "int32_t next = left <{+=+} WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;",
}, {
  what: "counts below 0",
  by: "steps of two sizes, never below 0",
  ts: "if (state < [-n * -]ONE) {",
  c: "if (state < [-n * -]WEFT_LATCH_ONE) {",
}, {
  what: "refuses to count because of an old hint",
  ts: "[-state = Atomics.load(words, STATE); if (state !== expected) " +
    "continue; -]throw",
  equivalent: "the count only goes down, so an old one never refuses too much",
}, {
  what: "sleeps and does not say so",
  by: "two steps, two sleepers",
  ts: "[-state |= WAITING_BIT; -]if (state !== expected) {",
  c: "[-state |= WEFT_LATCH_WAITING_BIT;-]",
}, {
  what: "says that it sleeps by a store",
  by: "two steps, two sleepers",
  ts: "const seen = {+expected; " +
    "+}Atomics.[-compareExchange-]{+store+}(words, STATE, [-expected, " +
    "-]state);",
  c: "int32_t seen = [-weft__compare_exchange(&l->state, expected, " +
    "-]{+expected; weft__store(&l->state, +}state);",
}, {
  what: "does not look again after a sleep",
  by: "two steps, two sleepers",
  ts: '[-if (-]{+return +}outcome [-=-]{+!+}== "timed-out"[-) return-]{+ ' +
    "||+} state === OPEN;",
  c: "[-if (-]{+return +}outcome [-=-]{+!+}= WEFT__TIMED_OUT[-) return-]{+ " +
    "||+} state == WEFT_LATCH_OPEN ? 0 : ETIMEDOUT;",
}, {
  what: "goes on with the value that it read before the sleep",
  by: "two steps, two sleepers",
  ts: "[-state = Atomics.load(words, STATE); -]if (outcome",
  c: "[-state = weft__load(&l->state); -]if (outcome",
}, {
  what: "takes a timeout for the opening",
  by: "a wait that may time out",
  ts: 'if (outcome === "timed-out") return [-state === OPEN-]{+true+};',
  c: "return [-state == WEFT_LATCH_OPEN ? 0 : ETIMEDOUT-]{+0+};",
}, {
  what: "reads the count plainly",
  by: "steps of two sizes, never below 0",
  ts: "return [-Atomics.load(-]this.#words[-, STATE)-]{+[STATE]+} === OPEN;",
  c: "return [-weft__load(&l->state)-]{+l->state+} == WEFT_LATCH_OPEN ? 0 : " +
    "EBUSY;",
}, {
  what: "(G) looks at the latch once it has opened it",
  by: "one counts down, the other frees the latch",
  ts: "if (next === OPEN && state & WAITING_BIT) Atomics.notify(words, " +
    "STATE); return [-next-]{+Atomics.load(words, STATE)+} === OPEN;",
  c: "weft__notify(&l->state, WEFT__ALL); {+*opened = weft__load(&l->state) " +
    "== WEFT_LATCH_OPEN; +}return 0; } }",
}, {
  what: "(G) opens the latch, and waits for that",
  by: "one arrives and waits, the other frees the latch",
  ts: "[-if (!-]this.#step(1)[-)-]{+;+} this.#wait(Infinity);",
  c: "return result != 0 [-|| opened -]? result",
}, {
  what: "(G) opens the latch, and looks whether it is open",
  by: "one arrives for a time, the other frees the latch",
  ts: "[-if (-]this.#step(1)[-) return true-];",
  c: none("C waits where TypeScript looks: see above"),
});
