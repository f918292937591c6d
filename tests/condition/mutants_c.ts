import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_condition`. */
export const condition = mutants(
  "condition",
  "condition",
  [
    "CV1: unlocks the mutex before it joins",
    "int result = weft__condition_join(c, &group);",
    "weft_mutex_unlock(m); int result = weft__condition_join(c, &group);",
    [
      "int32_t seen = weft__load(place); weft_mutex_unlock(m);",
      "int32_t seen = weft__load(place);",
    ],
  ],
  [
    "CV2: wakes and calls nobody",
    "int32_t called = state - k * (WEFT_CONDITION_ONE_WAITING - " +
    "WEFT_CONDITION_ONE_CALLED);",
    "int32_t called = state;",
  ],
  [
    "CV3: returns without the mutex",
    "int locked = weft__mutex_lock_slow(m, id, WEFT_MUTEX_UNLOCKED, " +
    "WEFT_FOREVER);",
    "int locked = 0;",
  ],
  [
    "CV4: calls one of all",
    "weft__condition_call(c, WEFT__ALL);",
    "weft__condition_call(c, 1);",
  ],
  [
    "CV5: wakes before it calls",
    "if (weft__compare_exchange(place, state, called) != state) continue; " +
    "weft__notify(place, 1); n -= k;",
    "weft__notify(place, 1); if (weft__compare_exchange(place, state, " +
    "called) != state) continue; n -= k;",
  ],
  [
    "calls and wakes nobody",
    "weft__notify(place, 1); n -= k;",
    "n -= k;",
  ],
  [
    "the first that comes wakes no other",
    "if (result == 0 && weft__load(place) & WEFT_CONDITION_CALLED_MASK) " +
    "weft__notify(place, 1);",
    "",
  ],
  [
    "takes a call by a store",
    "if (weft__compare_exchange(place, state, taken) != state) continue; " +
    "return 0;",
    "weft__store(place, taken); return 0;",
  ],
  [
    "does not count that it joined",
    "(state | WEFT_CONDITION_GATHERS_BIT) + WEFT_CONDITION_ONE_WAITING;",
    "state | WEFT_CONDITION_GATHERS_BIT;",
  ],
  [
    "who gives up is counted still",
    "int32_t left = state - WEFT_CONDITION_ONE_WAITING;",
    "int32_t left = state;",
  ],
  [
    "sleeps on what it sees last",
    "outcome = weft__sleep(place, state, deadline, WEFT__LOOK);",
    "outcome = weft__sleep(place, weft__load(place), deadline, WEFT__LOOK);",
  ],
  [
    "a wake is taken for a call",
    "if (inherits || outcome == WEFT__TIMED_OUT) {",
    "if (outcome == WEFT__OK) return 0; if (inherits || outcome == " +
    "WEFT__TIMED_OUT) {",
  ],
  [
    "never calls the group that gathers",
    "if (gathering == 0) return;",
    "return;",
  ],
  [
    "joins by a store",
    "if (weft__compare_exchange(place, state, joined) == state) return 0;",
    "weft__store(place, joined); return 0;",
  ],
  [
    "joins the group whose turn it is",
    "*group = weft__plus(turn, 1);",
    "*group = turn;",
  ],
  [
    "joins a group whose turn has come",
    "if (weft__condition_calls(state, *group)) {",
    "if (0) {",
  ],
  [
    "sees that the turn lags, and leaves it",
    "weft__compare_exchange(&c->turn, turn, *group); continue;",
    "continue;",
  ],
  [
    "(P): joins by what it saw three turns ago",
    "if (weft__load(&c->turn) != turn) continue; /* (P) */",
    "",
  ],
  [
    "(P): takes a call four turns later",
    "if (weft__minus(group, weft__load(&c->turn)) < -1) return 0;",
    "",
  ],
  [
    "takes a call whose-ever it is",
    "if (ours && state & WEFT_CONDITION_CALLED_MASK) {",
    "if (state & WEFT_CONDITION_CALLED_MASK) {",
  ],
  [
    "is counted, it thinks, where the next gather",
    "bool counts = ours == ((state & WEFT_CONDITION_GATHERS_BIT) == 0);",
    "bool counts = true;",
  ],
  [
    "goes before its turn",
    "if (!counts || (state & WEFT_CONDITION_WAITING_MASK) == 0) return 0;",
    "if (!counts || !ours || (state & WEFT_CONDITION_WAITING_MASK) == 0) " +
    "return 0;",
  ],
  [
    "does not mark that a group gathers",
    "(state | WEFT_CONDITION_GATHERS_BIT) + WEFT_CONDITION_ONE_WAITING;",
    "state + WEFT_CONDITION_ONE_WAITING;",
  ],
  [
    "gives up by a store",
    "if (weft__compare_exchange(place, state, left) != state) continue;",
    "weft__store(place, left);",
  ],
  [
    "calls by a store",
    "if (weft__compare_exchange(place, state, called) != state) continue;",
    "weft__store(place, called);",
  ],
  [
    "calls who gathers, for who has the turn",
    "if (state & WEFT_CONDITION_GATHERS_BIT) {",
    "if (0) {",
  ],
  [
    "the turn passes by a store",
    "if (weft__compare_exchange(after, gathered, called) != gathered) " +
    "continue;",
    "weft__store(after, called);",
  ],
  [
    "the turn passes to a group that it has passed to",
    "if (weft__condition_calls(gathered, next)) {",
    "if (0) {",
  ],
  [
    "the turn follows by a store",
    "weft__compare_exchange(&c->turn, turn, next); /* If",
    "weft__store(&c->turn, next); /* If",
  ],
  [
    "the turn does not follow",
    "weft__compare_exchange(&c->turn, turn, next); /* If",
    "/* If",
  ],
  [
    "a turn that lags is moved on by a store",
    "int32_t seen = weft__compare_exchange(&c->turn, turn, next);",
    "int32_t seen = turn; weft__store(&c->turn, next);",
  ],
  [
    "the turn passes, and old calls are left",
    "int32_t called = weft__condition_mark(next) | (gathering - k) * " +
    "WEFT_CONDITION_ONE_WAITING | k;",
    "int32_t called = (weft__condition_mark(next) | (gathering - k) * " +
    "WEFT_CONDITION_ONE_WAITING | k) + (gathered & " +
    "WEFT_CONDITION_CALLED_MASK);",
  ],
  [
    "the turn passes, and wakes nobody",
    "weft__notify(after, 1);",
    "",
  ],
  [
    "(P): passes a turn that was over four turns ago",
    "int32_t now = weft__load(&c->turn); /* (P) */",
    "int32_t now = turn;",
  ],
  [
    "waits until who is called goes",
    "weft__notify(place, 1); n -= k;",
    "weft__notify(place, 1); n -= k; while (weft__load(place) & " +
    "WEFT_CONDITION_CALLED_MASK) {}",
  ],
);
