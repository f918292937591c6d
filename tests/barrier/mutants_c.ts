import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_barrier`. */
export const barrier = mutants(
  "barrier",
  "barrier",
  [
    "BA1: looks at the generation after it arrived",
    "*since = next;",
    "*since = weft__load(&b->state);",
  ],
  [
    "BA2: counts from 0 after the generation began",
    "int32_t next = last ? weft__barrier_next_generation(state) : state + 1;",
    "int32_t next = last ? weft__plus(state + 1, " +
    "WEFT_BARRIER_ONE_GENERATION) : state + 1;",
    [
      "*since = next;",
      "*since = next; if (last) weft__and(&b->state, " +
      "~(WEFT_BARRIER_ARRIVED_MASK | WEFT_BARRIER_WAITING_BIT));",
    ],
  ],
  [
    "BA3: wakes one",
    "if (last && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL);",
    "if (last && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, 1);",
  ],
  [
    "BA4: arrives by a store",
    "state = weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue; *since = next;",
    "(void)expected; weft__store(&b->state, next); *since = next;",
  ],
  [
    "BA5: wakes before the generation ends",
    "state = weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue; *since = next; if (last && state & " +
    "WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, WEFT__ALL);",
    "if (last && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL); state = weft__compare_exchange(&b->state, expected, next); " +
    "if (state != expected) continue; *since = next;",
  ],
  [
    "does not look whether its arrival went in",
    "if (state != expected) continue; *since = next;",
    "*since = next;",
  ],
  [
    "waits for one more than there are",
    "bool last = arrived * WEFT_BARRIER_ONE_PARTY >=",
    "bool last = arrived * WEFT_BARRIER_ONE_PARTY >",
  ],
  [
    "goes on with one less than there are",
    "bool last = arrived * WEFT_BARRIER_ONE_PARTY >=",
    "bool last = (arrived + 1) * WEFT_BARRIER_ONE_PARTY >=",
  ],
  [
    "wakes nobody",
    "if (last && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL);",
    "",
  ],
  [
    "the generation stays",
    "return weft__plus(state & (WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_PARTIES_MASK), WEFT_BARRIER_ONE_GENERATION);",
    "return state & (WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_PARTIES_MASK);",
  ],
  [
    "who arrived is counted in the next generation",
    "return weft__plus(state & (WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_PARTIES_MASK), WEFT_BARRIER_ONE_GENERATION);",
    "return weft__plus(state & ~WEFT_BARRIER_WAITING_BIT, " +
    "WEFT_BARRIER_ONE_GENERATION);",
  ],
  [
    "compares generations by their order",
    "while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {",
    "while ((state & WEFT_BARRIER_GENERATION_MASK) <= (since & " +
    "WEFT_BARRIER_GENERATION_MASK)) {",
  ],
  [
    "takes an arrival for the end, where it looks first",
    "WEFT__SPIN((weft__load(&b->state) ^ since) & " +
    "WEFT_BARRIER_GENERATION_MASK,",
    "WEFT__SPIN(weft__load(&b->state) != since,",
  ],
  [
    "takes an arrival for the end",
    "while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {",
    "while (((state ^ since) & (WEFT_BARRIER_GENERATION_MASK | " +
    "WEFT_BARRIER_ARRIVED_MASK)) == 0) {",
    "one of three gives up, and leaves",
  ],
  [
    "does not say that it sleeps",
    "state = last ? state - 1 : state | WEFT_BARRIER_WAITING_BIT;",
    "state = last ? state - 1 : state;",
  ],
  [
    "says that it sleeps by a store",
    "int32_t seen = weft__compare_exchange(&b->state, expected, state); if " +
    "(seen != expected) { state = seen; continue; }",
    "weft__store(&b->state, state);",
  ],
  [
    "does not look whether it said that it sleeps",
    "if (seen != expected) { state = seen; continue; }",
    "(void)seen;",
  ],
  [
    "sleeps on what it sees last",
    "weft__sleep(&b->state, state, deadline, WEFT__LOOK);",
    "weft__sleep(&b->state, weft__load(&b->state), deadline, WEFT__LOOK);",
  ],
  [
    "gives up, and is counted still",
    "state = last ? state - 1 : state | WEFT_BARRIER_WAITING_BIT;",
    "state = last ? state : state | WEFT_BARRIER_WAITING_BIT;",
  ],
  [
    "gives up although the generation ended",
    "while (((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {",
    "while (last || ((state ^ since) & WEFT_BARRIER_GENERATION_MASK) == 0) {",
  ],
  [
    "a wake is taken for the timeout",
    "last = outcome == WEFT__TIMED_OUT;",
    "last = outcome != WEFT__OK;",
  ],
  [
    "leaves by a store",
    "state = weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue; if (ends",
    "(void)expected; weft__store(&b->state, next); if (ends",
  ],
  [
    "does not look whether it left",
    "if (state != expected) continue; if (ends",
    "if (ends",
  ],
  [
    "leaves, and wakes nobody",
    "if (ends && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL);",
    "",
  ],
  [
    "leaves, and wakes one",
    "if (ends && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL);",
    "if (ends && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, 1);",
  ],
  [
    "leaves, and wakes before the generation ends",
    "state = weft__compare_exchange(&b->state, expected, next); if (state != " +
    "expected) continue; if (ends && state & WEFT_BARRIER_WAITING_BIT) " +
    "weft__notify(&b->state, WEFT__ALL);",
    "if (ends && state & WEFT_BARRIER_WAITING_BIT) weft__notify(&b->state, " +
    "WEFT__ALL); state = weft__compare_exchange(&b->state, expected, next); " +
    "if (state != expected) continue;",
  ],
  [
    "leaves others to wait for it",
    "int32_t next = ends ? weft__barrier_next_generation(left) : left;",
    "int32_t next = left;",
  ],
  [
    "leaves, and ends a generation that nobody waits for",
    "bool ends = waiting > 0 && waiting *",
    "bool ends = waiting *",
  ],
  [
    "an arrival of the dead is not taken back",
    "WEFT_BARRIER_ONE_PARTY + (arrived ? 1 : 0));",
    "WEFT_BARRIER_ONE_PARTY);",
  ],
);
