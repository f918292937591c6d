import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_rw_lock`. */
export const rw_lock = mutants(
  "rw_lock",
  "rw_lock",
  [
    "RW1: a reader enters by an addition",
    "state = weft__compare_exchange(&l->state, expected, state + 1); if " +
    "(state == expected) return weft__rw_held(state);",
    "return weft__rw_held(weft__add(&l->state, 1));",
  ],
  [
    "RW2: the last reader does not wake the writer",
    "if ((state & (WEFT_RW_LOCK_READING_MASK | bits)) == (1 | bits)) " +
    "weft__notify(&l->state, 1);",
    "(void)state;",
  ],
  [
    "RW3: a writer wakes one reader",
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);",
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, 1);",
  ],
  [
    "RW4: looks at the gate after the phase",
    "int32_t gate = weft__load(&l->gate); /* before the look at the phase */ " +
    "int32_t state = weft__load(&l->state);",
    "int32_t state = weft__load(&l->state); int32_t gate = " +
    "weft__load(&l->gate);",
  ],
  [
    "RW5: a writer does not wake readers",
    "if (gate & WEFT_RW_LOCK_WAITING_BIT) weft__notify(&l->gate, WEFT__ALL);",
    "",
  ],
  [
    "RW5: a writer does not open the gate",
    "if (pending > 0) weft__rw_open(l); return;",
    "return;",
  ],
  [
    "RW6: opens the gate before it lets readers in",
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (pending > 0) weft__rw_open(l);",
    "if (pending > 0) weft__rw_open(l); state = " +
    "weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue;",
  ],
  [
    "RW7: the last reader but one wakes the writer",
    "== (1 | bits)) weft__notify",
    "== (2 | bits)) weft__notify",
  ],
  [
    "RW8: a writer does not make way for the next one",
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "weft__rw_leave(l, 0, 0); return 0;",
  ],
  [
    "a reader enters beside a writer",
    "if (state & bits) { state = weft__load(&l->state);",
    "if (state & WEFT_RW_LOCK_WANTED_BIT) { state = weft__load(&l->state);",
  ],
  [
    "does not look whether it entered",
    "state = weft__compare_exchange(&l->state, expected, state + 1); if " +
    "(state == expected) return weft__rw_held(state);",
    "state = weft__compare_exchange(&l->state, expected, state + 1); return " +
    "weft__rw_held(state);",
  ],
  [
    "a reader leaves by a load and a store",
    "int32_t state = weft__add(&l->state, -1);",
    "int32_t state = weft__load(&l->state); weft__store(&l->state, state - 1);",
  ],
  [
    "begins to wait by a store",
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (!waits) return 0;",
    "(void)expected; weft__store(&l->state, state = next); if (!waits) " +
    "return 0;",
  ],
  [
    "waits for a writer that has gone",
    "for (;;) { int32_t expected = state; bool waits = (state & bits) != 0;",
    "bool waits = (state & bits) != 0; for (;;) { int32_t expected = state;",
  ],
  [
    "does not wait for a writer that waits for readers",
    "const int32_t bits = WEFT_RW_LOCK_WRITING_BIT | " +
    "WEFT_RW_LOCK_WANTED_BIT; int32_t state = weft__load(&l->state);",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; int32_t state = " +
    "weft__load(&l->state);",
  ],
  [
    "does not say that it sleeps at the gate",
    "int32_t waiting = gate | WEFT_RW_LOCK_WAITING_BIT;",
    "int32_t waiting = gate;",
  ],
  [
    "says that it sleeps at the gate by a store",
    "weft__compare_exchange(&l->gate, gate, waiting) != gate) continue;",
    "(weft__store(&l->gate, waiting), 0)) continue;",
  ],
  [
    "a reader that gives up is counted still",
    "int32_t left = weft__minus(state, WEFT_RW_LOCK_ONE_PENDING);",
    "int32_t left = state;",
  ],
  [
    "a reader gives up by a store",
    "if (weft__compare_exchange(&l->state, state, left) == state) return " +
    "ETIMEDOUT; continue;",
    "weft__store(&l->state, left); return ETIMEDOUT;",
  ],
  [
    "a reader that was let in gives up",
    "if (weft__rw_is_in(ticket, state, gate)) return",
    "if (!last && weft__rw_is_in(ticket, state, gate)) return",
  ],
  [
    "looks past the phase, where it looks before it sleeps",
    "if ((state ^ ticket.state) & WEFT_RW_LOCK_PHASE_MASK) return " +
    "weft__rw_held(state);",
    "if (state != ticket.state) return weft__rw_held(state);",
  ],
  [
    "writes beside readers",
    "while ((state & WEFT_RW_LOCK_READING_MASK) == 0) {",
    "for (;;) {",
  ],
  [
    "writes by a store",
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held(state);",
    "(void)expected; weft__store(&l->state, held); return " +
    "weft__rw_held(state);",
  ],
  [
    "does not look whether it writes",
    "state = weft__compare_exchange(&l->state, expected, held); if (state == " +
    "expected) return weft__rw_held(state);",
    "state = weft__compare_exchange(&l->state, expected, held); return " +
    "weft__rw_held(state);",
  ],
  [
    "writes, and forgets who waits to read",
    "int32_t held = (state & ~bits) | WEFT_RW_LOCK_WRITING_BIT;",
    "int32_t held = (state & WEFT_RW_LOCK_PHASE_MASK) | " +
    "WEFT_RW_LOCK_WRITING_BIT;",
    "one writes, one reads, twice, phases that wrap",
  ],
  [
    "a writer does not say that it sleeps",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "int64_t begin",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT; int64_t begin",
  ],
  [
    "a writer does not say that it wants to write",
    "const int32_t bits = WEFT_RW_LOCK_WANTED_BIT | WEFT_RW_LOCK_ASLEEP_BIT; " +
    "int64_t begin",
    "const int32_t bits = WEFT_RW_LOCK_ASLEEP_BIT; int64_t begin",
    ["weft__or(&l->state, WEFT_RW_LOCK_WANTED_BIT);", ""],
  ],
  [
    "a writer says that it sleeps by a store",
    "int32_t state = weft__or(&l->state, bits) | bits;",
    "int32_t state = weft__load(&l->state) | bits; weft__store(&l->state, " +
    "state);",
  ],
  [
    "a writer sleeps although nobody reads",
    "if ((state & WEFT_RW_LOCK_READING_MASK) == 0) continue; int outcome",
    "int outcome",
  ],
  [
    "a writer that gives up is wanted still",
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft_mutex_unlock(weft__rw_writer(l)); return ETIMEDOUT;",
  ],
  [
    "a writer that gives up is in line still",
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft__rw_leave(l, 0, 0); return ETIMEDOUT;",
  ],
  [
    "a writer that gives up leaves the line first",
    "weft__rw_leave(l, 0, 0); weft_mutex_unlock(weft__rw_writer(l)); return " +
    "ETIMEDOUT;",
    "weft_mutex_unlock(weft__rw_writer(l)); weft__rw_leave(l, 0, 0); return " +
    "ETIMEDOUT;",
  ],
  [
    "a writer leaves the line first",
    "weft__rw_leave(l, 0, 0); return weft_mutex_unlock(weft__rw_writer(l));",
    "int result = weft_mutex_unlock(weft__rw_writer(l)); weft__rw_leave(l, " +
    "0, 0); return result;",
  ],
  [
    "forgets who waits to read",
    "weft__plus((state & kept) | abandoned, more + pending);",
    "weft__plus((state & kept) | abandoned, more);",
  ],
  [
    "the phase stays",
    "if (pending > 0) next = weft__plus(next, WEFT_RW_LOCK_ONE_PHASE);",
    "",
  ],
  [
    "forgets who reads when a writer gives up",
    "int32_t kept = WEFT_RW_LOCK_READING_MASK | WEFT_RW_LOCK_PHASE_MASK;",
    "int32_t kept = WEFT_RW_LOCK_PHASE_MASK;",
  ],
  [
    "leaves by a store",
    "state = weft__compare_exchange(&l->state, expected, next); if (state != " +
    "expected) continue; if (pending > 0) weft__rw_open(l);",
    "(void)expected; weft__store(&l->state, next); if (pending > 0) " +
    "weft__rw_open(l);",
  ],
  [
    "opens the gate by a store",
    "gate = weft__compare_exchange(&l->gate, expected, next); if (gate != " +
    "expected) continue;",
    "(void)expected; weft__store(&l->gate, next);",
  ],
  [
    "does not look whether it opened the gate",
    "gate = weft__compare_exchange(&l->gate, expected, next); if (gate != " +
    "expected) continue;",
    "gate = weft__compare_exchange(&l->gate, expected, next);",
  ],
  [
    "the gate looks as before",
    "int32_t next = weft__plus(gate & ~WEFT_RW_LOCK_WAITING_BIT, " +
    "WEFT_RW_LOCK_ONE_OPENING);",
    "int32_t next = gate & ~WEFT_RW_LOCK_WAITING_BIT;",
  ],
  [
    "does not go on reading after it wrote",
    "weft__rw_leave(l, 1, 0);",
    "weft__rw_leave(l, 0, 0);",
  ],
  [
    "abandons, and leaves nobody in",
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing;",
  ],
  [
    "abandons, and does not say so",
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing; weft__rw_leave(l, 0, 0);",
  ],
  [
    "abandons who waited, and says that it wrote",
    "weft__rw_leave(l, 0, writing ? WEFT_RW_LOCK_ABANDONED_BIT : 0);",
    "(void)writing; weft__rw_leave(l, 0, WEFT_RW_LOCK_ABANDONED_BIT);",
  ],
  [
    "abandons, and leaves the gate shut",
    "/* It may have let agents in, and not opened the gate. */ " +
    "weft__rw_open(l);",
    "",
  ],
  [
    "abandons, and does not make way for the next one",
    "weft__rw_open(l); return weft_mutex_unlock(weft__rw_writer(l));",
    "weft__rw_open(l); return 0;",
  ],
  [
    "who gives up forgets what was abandoned",
    "if ((state & WEFT_RW_LOCK_WRITING_BIT) == 0) kept |= " +
    "WEFT_RW_LOCK_ABANDONED_BIT;",
    "",
  ],
  [
    "a try to read waits for the writer",
    "if (state & bits) return EBUSY; continue;",
    "continue;",
  ],
);
