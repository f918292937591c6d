import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_mutex`. */
export const mutex = mutants(
  "mutex",
  "mutex",
  [
    "MX1: who slept takes the lock without CONTENDED for the others",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT) | contended;",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT);",
  ],
  [
    "MX2: sleeps without marking the lock contended",
    "if ((state & WEFT_MUTEX_CONTENDED_BIT) == 0) {",
    "if (0) {",
  ],
  [
    "MX3: notifies before it frees",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__notify(&m->state, 1); weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
  [
    "MX4: never notifies",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
  [
    "MX5: unlocks by load and store",
    "int32_t state = weft__compare_exchange(&m->state, id, " +
    "WEFT_MUTEX_UNLOCKED);",
    "int32_t state = weft__load(&m->state); if (state == id) " +
    "weft__store(&m->state, 0);",
  ],
  [
    "MX6: the contended unlock forgets to free",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED); weft__notify(&m->state, 1);",
    "weft__notify(&m->state, 1);",
  ],
  [
    "MX7: tests, then locks",
    "if (!weft__may_block()) return EPERM; int32_t id = weft_agent_id(); " +
    "int32_t state = weft__compare_exchange(&m->state, WEFT_MUTEX_UNLOCKED, " +
    "id);",
    "int32_t id = weft_agent_id(); int32_t state = weft__load(&m->state); if " +
    "(state == 0) weft__store(&m->state, id);",
  ],
  [
    "MX7: tryLock tests, then locks",
    "static inline int weft_mutex_try_lock(weft_mutex *m) { int32_t id = " +
    "weft_agent_id(); int32_t state = weft__compare_exchange(&m->state, " +
    "WEFT_MUTEX_UNLOCKED, id);",
    "static inline int weft_mutex_try_lock(weft_mutex *m) { int32_t id = " +
    "weft_agent_id(); int32_t state = weft__load(&m->state); if (state == 0) " +
    "weft__store(&m->state, id);",
  ],
  [
    "MX8: who is woken holds the lock, it thinks",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT; if (outcome == " +
    "WEFT__OK) return 0;",
  ],
  [
    "MX10: a timeout is taken for the lock",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;",
    "if (outcome == WEFT__TIMED_OUT) return 0;",
  ],
  [
    "tryLock takes only what was unlocked, and not what was abandoned",
    "while ((state & WEFT_MUTEX_OWNER_MASK) == 0) {",
    "while (state == 0) {",
  ],
  [
    "the slow path takes by a store",
    "state = weft__compare_exchange(&m->state, expected, taken); if (state " +
    "!= expected) continue;",
    "weft__store(&m->state, taken);",
  ],
  [
    "marks by a store",
    "int32_t seen = weft__compare_exchange(&m->state, expected, state);",
    "int32_t seen = expected; weft__store(&m->state, state);",
  ],
  [
    "does not look again after a sleep",
    "state = weft__load(&m->state); woken",
    "woken",
  ],
  [
    "hands over and forgets that others sleep",
    "int32_t kept = WEFT_MUTEX_HANDOFF_BIT | WEFT_MUTEX_CONTENDED_BIT;",
    "int32_t kept = WEFT_MUTEX_HANDOFF_BIT;",
  ],
  [
    "keeps the lock for nobody",
    "if (weft__notify(&m->state, 1) > 0) return 0;",
    "weft__notify(&m->state, 1); return 0;",
  ],
  [
    "hands over without waking",
    "if (weft__notify(&m->state, 1) > 0) return 0;",
    "return 0;",
  ],
  [
    "abandons by a store",
    "state = weft__compare_exchange(&m->state, expected, " +
    "WEFT_MUTEX_ABANDONED_BIT);",
    "weft__store(&m->state, WEFT_MUTEX_ABANDONED_BIT);",
  ],
  [
    "abandons and wakes nobody",
    "if (state & WEFT_MUTEX_CONTENDED_BIT) weft__notify(&m->state, 1);",
    "",
  ],
  [
    "MX9: tryLock wipes out the mark",
    "int32_t taken = id | (state & WEFT_MUTEX_CONTENDED_BIT); state",
    "int32_t taken = id; state",
  ],
  [
    "MX11: any end of a sleep is taken for the lock",
    "if (outcome == WEFT__TIMED_OUT) return ETIMEDOUT;",
    "if (outcome != WEFT__NOT_EQUAL) return 0;",
  ],
  [
    "tryLock takes what is kept by a store",
    "state = weft__compare_exchange(&m->state, expected, taken); if (state " +
    "== expected)",
    "weft__store(&m->state, taken); if (state == expected)",
  ],
  [
    "takes the lock although its mark came too late",
    "if (seen != expected) { state = seen; continue; }",
    "if (seen != expected && seen == 0) return 0; if (seen != expected) { " +
    "state = seen; continue; }",
  ],
  [
    "never takes what is handed over",
    "woken = outcome == WEFT__OK || (handoff && state == before);",
    "woken = false; (void)before;",
  ],
  [
    "sleeps on what is kept without a second look",
    "int outcome = weft__sleep(&m->state, state, deadline, handoff ? " +
    "WEFT__MUTEX_PATIENCE : WEFT__LOOK);",
    "int outcome = handoff ? weft__sleep_raw(&m->state, state, -1) : " +
    "weft__sleep(&m->state, state, deadline, WEFT__LOOK);",
  ],
  [
    "takes the hand-over back by a store",
    "if (weft__compare_exchange(&m->state, kept, WEFT_MUTEX_UNLOCKED) == kept)",
    "weft__store(&m->state, WEFT_MUTEX_UNLOCKED);",
  ],
  [
    "takes the hand-over back, and wakes nobody",
    "if (weft__compare_exchange(&m->state, kept, WEFT_MUTEX_UNLOCKED) == " +
    "kept) weft__notify(&m->state, 1);",
    "weft__compare_exchange(&m->state, kept, WEFT_MUTEX_UNLOCKED);",
  ],
  [
    "is kept before it wakes: by nobody if the notify comes first",
    "weft__store(&m->state, kept); if (weft__notify(&m->state, 1) > 0) " +
    "return 0;",
    "if (weft__notify(&m->state, 1) > 0) { weft__store(&m->state, kept); " +
    "return 0; } weft__store(&m->state, kept);",
  ],
  [
    "abandons whoever holds the lock",
    "while ((state & WEFT_MUTEX_OWNER_MASK) == id && id != 0) { int32_t " +
    "expected = state; state =",
    "while ((state & WEFT_MUTEX_OWNER_MASK) != 0) { int32_t expected = " +
    "state; state =",
  ],
  [
    "gives up abandoning when the state changed",
    "if (state != expected) continue; if (state & WEFT_MUTEX_CONTENDED_BIT) " +
    "weft__notify",
    "if (state != expected) break; if (state & WEFT_MUTEX_CONTENDED_BIT) " +
    "weft__notify",
  ],
  [
    "abandons, and says it was unlocked",
    "weft__compare_exchange(&m->state, expected, WEFT_MUTEX_ABANDONED_BIT);",
    "weft__compare_exchange(&m->state, expected, WEFT_MUTEX_UNLOCKED);",
  ],
  [
    "who waited is not told that the lock was abandoned",
    "weft__store(&m->starving, 0); return state & WEFT_MUTEX_ABANDONED_BIT ? " +
    "EOWNERDEAD : 0;",
    "weft__store(&m->starving, 0); return 0;",
  ],
  [
    "tryLock does not tell that the lock was abandoned",
    "if (state == expected) return state & WEFT_MUTEX_ABANDONED_BIT ? " +
    "EOWNERDEAD : 0;",
    "if (state == expected) return 0;",
  ],
  [
    "takes the lock in a spin by a store",
    "weft__compare_exchange(&m->state, state, id) != state) continue;",
    "(weft__store(&m->state, id), 0)) continue;",
  ],
);

/** Mutants of waiting. */
export const _wait = mutants(
  "mutex",
  "_wait",
  [
    "a look each second is taken for the end of the time",
    "return woken == WEFT__TIMED_OUT && !last ? WEFT__NOT_EQUAL : woken;",
    "(void)last; return woken;",
  ],
);
