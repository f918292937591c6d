import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_latch`. */
export const latch = mutants(
  "latch",
  "latch",
  [
    "counts by a store",
    "state = weft__compare_exchange(&l->state, expected, next);",
    "weft__store(&l->state, next);",
  ],
  [
    "gives up when another counted",
    "if (state != expected) continue; if (next",
    "if (state != expected) return 0; if (next",
  ],
  [
    "opens and wakes nobody",
    "if (next == WEFT_LATCH_OPEN && state & WEFT_LATCH_WAITING_BIT) " +
    "weft__notify(&l->state, WEFT__ALL);",
    "",
  ],
  [
    "opens and wakes one",
    "weft__notify(&l->state, WEFT__ALL);",
    "weft__notify(&l->state, 1);",
  ],
  [
    "wakes before it opens",
    "if (next == WEFT_LATCH_OPEN && state & WEFT_LATCH_WAITING_BIT) " +
    "weft__notify(&l->state, WEFT__ALL);",
    "",
    [
      "state = weft__compare_exchange(&l->state, expected, next);",
      "if (next == WEFT_LATCH_OPEN) weft__notify(&l->state, WEFT__ALL); " +
      "state = weft__compare_exchange(&l->state, expected, next);",
    ],
  ],
  [
    "is open but for the mark of a waiter",
    "int32_t next = left < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;",
    "int32_t next = left;",
  ],
  [
    "wipes out the mark of a waiter",
    "int32_t next = left < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;",
    "int32_t next = left & ~WEFT_LATCH_WAITING_BIT;",
  ],
  [
    "opens one step too early",
    "int32_t next = left < WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;",
    "int32_t next = left <= WEFT_LATCH_ONE ? WEFT_LATCH_OPEN : left;",
  ],
  [
    "counts below 0",
    "if (state < n * WEFT_LATCH_ONE) {",
    "if (state < WEFT_LATCH_ONE) {",
  ],
  [
    "sleeps and does not say so",
    "state |= WEFT_LATCH_WAITING_BIT;",
    "",
  ],
  [
    "says that it sleeps by a store",
    "int32_t seen = weft__compare_exchange(&l->state, expected, state);",
    "int32_t seen = expected; weft__store(&l->state, state);",
  ],
  [
    "does not look again after a sleep",
    "if (outcome == WEFT__TIMED_OUT) return state == WEFT_LATCH_OPEN ? 0 : " +
    "ETIMEDOUT;",
    "return outcome != WEFT__TIMED_OUT || state == WEFT_LATCH_OPEN ? 0 : " +
    "ETIMEDOUT;",
  ],
  [
    "goes on with what it saw before the sleep",
    "state = weft__load(&l->state); if (outcome",
    "if (outcome",
  ],
  [
    "a timeout is taken for the opening",
    "return state == WEFT_LATCH_OPEN ? 0 : ETIMEDOUT;",
    "return 0;",
  ],
  [
    "looks plainly",
    "return weft__load(&l->state) == WEFT_LATCH_OPEN ? 0 : EBUSY;",
    "return l->state == WEFT_LATCH_OPEN ? 0 : EBUSY;",
  ],
);
