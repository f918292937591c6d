import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_once`. */
export const once = mutants(
  "once",
  "once",
  [
    "begins by a load and a store",
    "int32_t state = weft__compare_exchange(&o->state, WEFT_ONCE_NEW, id);",
    "int32_t state = weft__load(&o->state); if (state == WEFT_ONCE_NEW) " +
    "weft__store(&o->state, id);",
  ],
  [
    "begins although another runs it",
    "if (state == WEFT_ONCE_NEW) return EBUSY;",
    "if ((state & WEFT_ONCE_DONE_BIT) == 0) return EBUSY;",
  ],
  [
    "does not wait for who runs it",
    "if (state & WEFT_ONCE_DONE_BIT) return 0; int32_t runner",
    "if (state != WEFT_ONCE_NEW) return 0; int32_t runner",
  ],
  [
    "(E): is done before it has run",
    "result = fn(context);",
    "weft__once_end(o); result = fn(context);",
  ],
  [
    "(E): ends by a store",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
    "int32_t state = weft__load(&o->state); weft__store(&o->state, " +
    "WEFT_ONCE_DONE_BIT);",
  ],
  [
    "wakes before it is done",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT); if " +
    "(state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);",
    "int32_t state = weft__load(&o->state); if (state & " +
    "WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL); " +
    "weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
  ],
  [
    "the end wakes one",
    "weft__notify(&o->state, WEFT__ALL);",
    "weft__notify(&o->state, 1);",
  ],
  [
    "the end wakes nobody",
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, WEFT__ALL);",
    "(void)state;",
  ],
  [
    "is not done, and looks as new",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_DONE_BIT);",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_NEW);",
  ],
  [
    "fails by a store",
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
    "int32_t state = weft__load(&o->state); weft__store(&o->state, state & " +
    "WEFT_ONCE_WAITING_BIT);",
  ],
  [
    "a failure forgets who waits",
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
    "int32_t state = weft__exchange(&o->state, WEFT_ONCE_NEW) & 0;",
  ],
  [
    "a failure wakes nobody",
    "int32_t state = weft__and(&o->state, WEFT_ONCE_WAITING_BIT); if (state " +
    "& WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1);",
    "weft__and(&o->state, WEFT_ONCE_WAITING_BIT);",
  ],
  [
    "a failure is the end",
    "else weft__once_fail(o);",
    "else weft__once_end(o);",
  ],
  [
    "a failure is not told",
    "else weft__once_fail(o);",
    "",
  ],
  [
    "does not say that it sleeps",
    "state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;",
    "state |= unclaimed ? id : 0;",
  ],
  [
    "tries next, and forgets who waits",
    "state |= unclaimed ? id : WEFT_ONCE_WAITING_BIT;",
    "state = unclaimed ? id : state | WEFT_ONCE_WAITING_BIT;",
  ],
  [
    "says that it sleeps, or tries next, by a store",
    "int32_t seen = weft__compare_exchange(&o->state, expected, state); if " +
    "(seen != expected) { state = seen; continue; }",
    "weft__store(&o->state, state);",
  ],
  [
    "does not look whether its exchange went in",
    "if (seen != expected) { state = seen; continue; }",
    "(void)seen;",
  ],
  [
    "sleeps on what it sees last",
    "weft__sleep(&o->state, state, deadline, WEFT__LOOK);",
    "weft__sleep(&o->state, weft__load(&o->state), deadline, WEFT__LOOK);",
  ],
  [
    "a wake is taken for the end",
    "last = outcome == WEFT__TIMED_OUT;",
    "if (outcome == WEFT__OK) return 0; last = outcome == WEFT__TIMED_OUT;",
  ],
  [
    "looks at nothing after a wake",
    "state = weft__load(&o->state); last",
    "last",
  ],
  [
    "a timeout is taken for the end",
    "if (!unclaimed && last) return ETIMEDOUT;",
    "if (!unclaimed && last) return 0;",
  ],
  [
    "abandons another than it was told",
    "while ((state & WEFT_ONCE_RUNNER_MASK) == id && id != 0) {",
    "while ((state & WEFT_ONCE_RUNNER_MASK) != 0 && id != 0) {",
  ],
  [
    "abandons, and forgets who waits",
    "int32_t kept = state & WEFT_ONCE_WAITING_BIT;",
    "int32_t kept = WEFT_ONCE_NEW;",
    "one who was terminated is given up",
  ],
  [
    "abandons by a store",
    "state = weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue;",
    "(void)expected; weft__store(&o->state, kept);",
  ],
  [
    "does not look whether it abandoned",
    "kept); if (state != expected) continue;",
    "kept);",
  ],
  [
    "abandons, and wakes nobody",
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); return 0;",
    "return 0;",
  ],
  [
    "abandons before it wakes",
    "state = weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue; if (state & WEFT_ONCE_WAITING_BIT) " +
    "weft__notify(&o->state, 1);",
    "if (state & WEFT_ONCE_WAITING_BIT) weft__notify(&o->state, 1); state = " +
    "weft__compare_exchange(&o->state, expected, kept); if (state != " +
    "expected) continue;",
  ],
);
