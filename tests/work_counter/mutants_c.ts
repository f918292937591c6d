import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_work_counter`. */
export const work_counter = mutants(
  "work_counter",
  "work_counter",
  [
    "WC1: never finds that all is done",
    "if (done + n >= weft__load(&c->target)) weft__work_counter_finish(c);",
    "if (done + n > weft__load(&c->target)) weft__work_counter_finish(c);",
  ],
  [
    "WC1: finds that all is done one task too early",
    "if (done + n >= weft__load(&c->target)) weft__work_counter_finish(c);",
    "if (done + n >= weft__load(&c->target) - 1) weft__work_counter_finish(c);",
  ],
  [
    "WC2: counts by load and store",
    "int32_t seen = weft__compare_exchange(&c->done, done, done + n);",
    "int32_t seen = done; weft__store(&c->done, done + n);",
  ],
  [
    "WC2: does not look whether its count went in",
    "if (seen == done) break; done = seen;",
    "(void)seen; break;",
  ],
  [
    "WC3: any end of a sleep ends the wait",
    "if (outcome == WEFT__TIMED_OUT) return",
    "if (outcome != WEFT__TIMED_OUT) return 0; if (outcome == " +
    "WEFT__TIMED_OUT) return",
  ],
  [
    "WC4: wakes one of those that wait",
    "weft__notify(&c->finished, WEFT__ALL);",
    "weft__notify(&c->finished, 1);",
  ],
  [
    "wakes nobody",
    "if (was == WEFT_WORK_COUNTER_AWAITED) weft__notify(&c->finished, " +
    "WEFT__ALL);",
    "(void)was;",
  ],
  [
    "wakes before it is over",
    "int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_OVER); if " +
    "(was == WEFT_WORK_COUNTER_AWAITED) weft__notify(&c->finished, " +
    "WEFT__ALL);",
    "weft__notify(&c->finished, WEFT__ALL); weft__store(&c->finished, " +
    "WEFT_WORK_COUNTER_OVER);",
  ],
  [
    "is over by load and store",
    "int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_OVER);",
    "int32_t was = weft__load(&c->finished); weft__store(&c->finished, " +
    "WEFT_WORK_COUNTER_OVER);",
  ],
  [
    "sleeps and does not say so",
    "int32_t was = weft__compare_exchange(&c->finished, " +
    "WEFT_WORK_COUNTER_RUNNING, WEFT_WORK_COUNTER_AWAITED);",
    "int32_t was = weft__load(&c->finished);",
    [
      "weft__sleep(&c->finished, WEFT_WORK_COUNTER_AWAITED,",
      "weft__sleep(&c->finished, was,",
    ],
  ],
  [
    "says that it sleeps by a store",
    "int32_t was = weft__compare_exchange(&c->finished, " +
    "WEFT_WORK_COUNTER_RUNNING, WEFT_WORK_COUNTER_AWAITED);",
    "int32_t was = weft__exchange(&c->finished, WEFT_WORK_COUNTER_AWAITED);",
  ],
  [
    "(T): looks at the target before it counts",
    "if (done + n >= weft__load(&c->target)) weft__work_counter_finish(c);",
    "",
    [
      "int32_t seen = weft__compare_exchange(&c->done, done, done + n);",
      "int32_t target = weft__load(&c->target); int32_t seen = " +
      "weft__compare_exchange(&c->done, done, done + n); if (seen == done && " +
      "done + n >= target) weft__work_counter_finish(c);",
    ],
  ],
  [
    "(C): looks at what is done before it lowers the target",
    "weft__store(&c->target, target); /* (C) then look at what is done */ if " +
    "(weft__load(&c->done) >= target)",
    "int32_t done = weft__load(&c->done); weft__store(&c->target, target); " +
    "if (done >= target)",
  ],
  [
    "cancels and does not look whether all is done",
    "if (weft__load(&c->done) >= target) weft__work_counter_finish(c);",
    "",
  ],
  [
    "cancels by load and store",
    "int32_t was = weft__exchange(&c->next, end);",
    "int32_t was = weft__load(&c->next); weft__store(&c->next, end);",
  ],
  [
    "cancels what is cancelled",
    "if ((uint32_t)was >= (uint32_t)end) return;",
    "",
  ],
  [
    "cancels and keeps the target",
    "weft__store(&c->target, target);",
    "",
  ],
  [
    "hands out by load and store",
    "uint64_t start = (uint32_t)weft__add(&c->next, 1) * chunk;",
    "uint32_t taken = (uint32_t)weft__load(&c->next); weft__store(&c->next, " +
    "(int32_t)taken + 1); uint64_t start = taken * chunk;",
  ],
  [
    "hands out tasks that there are not",
    "if (start >= total) return; range->start",
    "range->start",
  ],
  [
    "the last chunk goes past the end",
    "range->end = (int32_t)(start + chunk < total ? start + chunk : total);",
    "range->end = (int32_t)(start + chunk);",
  ],
  [
    "hands out guided ranges by a store",
    "next = weft__compare_exchange(&c->next, start, end);",
    "weft__store(&c->next, end);",
  ],
  [
    "hands out a guided range that it did not get",
    "if (next != start) continue;",
    "",
  ],
  [
    "a guided range has no task",
    "int32_t end = start + (share > 1 ? share : 1);",
    "int32_t end = start + share;",
  ],
  [
    "a range is handed out again",
    "range->start = range->end = 0; weft__work_counter_take",
    "weft__work_counter_take",
  ],
  [
    "waits for ever for one that was terminated to say that all is done",
    "if (weft__load(&c->done) >= weft__load(&c->target)) " +
    "weft__work_counter_finish(c);",
    "",
  ],
  [
    "a timeout is taken for the end",
    "return weft__load(&c->finished) == WEFT_WORK_COUNTER_OVER ? 0 : " +
    "ETIMEDOUT;",
    "return 0;",
  ],
);
