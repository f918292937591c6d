import { mutants, none } from "../_run/mutant.ts";

const HINT = none(
  "In wasm a hint is an atomic load: its value was true when it " +
    "was read, and that is enough here",
);

/** Mutants of `WaitGroup`. */
export const MUTANTS = mutants("wait_group", {
  what: "lowers the count by a store",
  by: "two are done, two sleepers",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, next); if (state !== expected) continue;-]{+next);+}",
  c: "[-state = weft__compare_exchange(&g->state, expected, next); if (state " +
    "!= expected) continue;-]{+(void)expected; weft__store(&g->state, " +
    "next);+}",
}, {
  what: "raises the count by a store",
  by: "one that is done starts another",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, STATE, " +
    "[-expected, next); if (state === expected) -]{+next); +}return;",
  c: "[-state = weft__compare_exchange(&g->state, expected, next); if (state " +
    "== expected) return 0;-]{+weft__store(&g->state, next); return 0;+}",
}, {
  what: "does not raise the count if another agent changed it meanwhile",
  by: "one that is done starts another",
  ts: "[-if (state === expected) -]return;",
  c: "[-if (state == expected) -]return 0;",
}, {
  what: "does not lower the count if another agent changed it meanwhile",
  by: "two are done, two sleepers",
  ts: "if (state !== expected) [-continue-]{+return+}; if ((state ^ next)",
  c: "if (state != expected) [-continue-]{+return 0+}; if ((state ^ next)",
}, {
  what: "falls to 0 and wakes nobody",
  by: "two are done, two sleepers",
  ts: "[-if ((state ^ next) & ROUND_MASK) Atomics.notify(words, STATE);-]",
  c: "[-weft__notify(&g->state, WEFT__ALL);-]{+{}+}",
}, {
  what: "falls to 0 and wakes one",
  by: "two rounds",
  ts: "Atomics.notify(words, STATE{+, 1+});",
  c: "weft__notify(&g->state, [-WEFT__ALL-]{+1+});",
}, {
  what: "wakes before the count is 0",
  by: "two are done, two sleepers",
  ts: [
    "[-if ((state ^ next) & ROUND_MASK) Atomics.notify(words, STATE);-]",
    "const next = lowered(state, n);{+ if ((state ^ next) & ROUND_MASK) " +
    "Atomics.notify(words, STATE);+}",
  ],
  c: [
    "[-if ((state ^ next) & WEFT_WAIT_GROUP_ROUND_MASK) " +
    "weft__notify(&g->state, WEFT__ALL);-]",
    "int32_t next = weft__wait_group_lowered(state, n);{+ if ((state ^ next) " +
    "& WEFT_WAIT_GROUP_ROUND_MASK) weft__notify(&g->state, WEFT__ALL);+}",
  ],
}, {
  what: "begins no new round at 0",
  by: "it rises again before a sleeper looks, round 0",
  ts: [
    "return [-(-]left - WAITING_BIT[- + ONE_ROUND) | 0-];",
    "if ([-(state ^ next) & ROUND_MASK-]{+state & WAITING_BIT && !(next & " +
    "WAITING_BIT)+}) Atomics.notify",
  ],
  c: [
    "return [-weft__plus(-]left - WEFT_WAIT_GROUP_WAITING_BIT[-, " +
    "WEFT_WAIT_GROUP_ONE_ROUND)-];",
    "[-if ((state ^ next) & WEFT_WAIT_GROUP_ROUND_MASK)-]{+if (state & " +
    "WEFT_WAIT_GROUP_WAITING_BIT && !(next & " +
    "WEFT_WAIT_GROUP_WAITING_BIT))+}",
  ],
}, {
  what: "does not look whether the round is another",
  by: "it rises again before a sleeper looks, round 8191",
  ts: "[-if ((state ^ asleep) & ROUND_MASK) return true;-]",
  c: "[-if ((state ^ asleep) & WEFT_WAIT_GROUP_ROUND_MASK) return " +
    "0;-]{+(void)asleep;+}",
}, {
  what: "keeps the mark of a waiter at 0",
  by: "two rounds",
  ts: "return (left[- - WAITING_BIT-] + ONE_ROUND) | 0;",
  c: "return weft__plus(left[- - WEFT_WAIT_GROUP_WAITING_BIT-], ",
}, {
  what: "removes the mark of a waiter too early",
  by: "two are done, two sleepers",
  ts: "if (left & COUNT_MASK || !(left & WAITING_BIT)) {+{ +}return " +
    "left[-;-]{+ & ~WAITING_BIT; }+}",
  c: "!(left & WEFT_WAIT_GROUP_WAITING_BIT)) return left{+ & " +
    "~WEFT_WAIT_GROUP_WAITING_BIT+};",
}, {
  what: "counts below 0",
  by: "steps of two sizes, never below 0",
  ts: "if (countIn(state) < [-n-]{+1+}) {",
  c: "if (weft__wait_group_count_in(state) < [-n-]{+1+}) {",
}, {
  what: "counts above the most",
  by: "never above the most",
  ts: "if (countIn(state) + n > MAX_COUNT{+ + 1+}) {",
  c: "if (weft__wait_group_count_in(state) + n > WEFT_WAIT_GROUP_MAX{+ + " +
    "1+}) {",
}, {
  what: "refuses to lower the count because of an old hint",
  by: "a step down before its rise",
  ts: "[-state = Atomics.load(words, STATE); if (state !== expected) " +
    "continue; -]throw new RangeError( `Cannot count down",
  c: HINT,
}, {
  what: "refuses to raise the count because of an old hint",
  by: "never above the most",
  ts: "[-state = Atomics.load(words, STATE); if (state !== expected) " +
    "continue; -]throw new RangeError( `Cannot add",
  c: HINT,
}, {
  what: "sleeps and does not say so",
  by: "two are done, two sleepers",
  ts: "[-state |= WAITING_BIT; -]if (state !== expected) {",
  c: "[-state |= WEFT_WAIT_GROUP_WAITING_BIT;-]",
}, {
  what: "says that it sleeps by a store",
  by: "two are done, two sleepers",
  ts: "const seen = {+expected; " +
    "+}Atomics.[-compareExchange-]{+store+}(words, STATE, [-expected, " +
    "-]state);",
  c: "int32_t seen = [-weft__compare_exchange(&g->state, expected, " +
    "-]{+expected; weft__store(&g->state, +}state);",
}, {
  what: "does not look again after a sleep",
  by: "two rounds",
  ts: "[-state = Atomics.load(words, STATE-]{+return !last || " +
    "this.#isDone(+}); // The count was 0",
  c: "{+if (!last) return 0; +}state = weft__load(&g->state); /* The count " +
    "was 0",
}, {
  what: "goes on with the value that it read before the sleep",
  by: "two are done, two sleepers",
  ts: "[-state = Atomics.load(words, STATE); -]// The count was 0",
  c: "[-state = weft__load(&g->state); -]/* The count was 0",
}, {
  what: "takes a timeout for the count 0",
  by: "a wait that may time out",
  ts: "if (last) return [-false-]{+true+};",
  c: "if (last) return [-ETIMEDOUT-]{+0+};",
}, {
  what: "reads the count plainly",
  by: "steps of two sizes, never below 0",
  ts: "return [-(Atomics.load-](this.#words[-, STATE)-]{+[STATE]!+} & " +
    "COUNT_MASK) === 0;",
  c: "return ([-weft__load(&g->state)-]{+g->state+} & " +
    "WEFT_WAIT_GROUP_COUNT_MASK) == 0 ? 0 : EBUSY;",
}, {
  what: "(G) looks at the group once it has lowered the count",
  by: "one is done, the other frees the group",
  ts: "if ((state ^ [-next-]{+Atomics.load(words, STATE)+}) & ROUND_MASK){+ " +
    "{+} Atomics.notify(words, STATE);{+ }+}",
  c: "if ((state ^ [-next-]{+weft__load(&g->state)+}) & " +
    "WEFT_WAIT_GROUP_ROUND_MASK)",
}, {
  what: "(G) looks at the group once it has raised the count",
  by: "one adds, the other is done for it and frees the group",
  ts: "if (state === expected) return{+ void Atomics.load(words, STATE)+};",
  c: "if (state == expected) return {+weft__load(&g->state) * +}0;",
});
