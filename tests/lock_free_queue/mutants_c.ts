import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_lock_free_queue`. */
export const lock_free_queue = mutants(
  "lock_free_queue",
  "lock_free_queue",
  [
    "(P): publishes before it writes",
    "*weft__lock_free_slot(q, slot) = value; /* published by (P) */ int32_t " +
    "result = weft__lock_free_append(q, ticket, slot, q->capacity); if " +
    "(result < 0) return weft__lock_free_error(result);",
    "int32_t result = weft__lock_free_append(q, ticket, slot, q->capacity); " +
    "if (result < 0) return weft__lock_free_error(result); " +
    "*weft__lock_free_slot(q, slot) = value;",
  ],
  [
    "frees before it reads",
    "*value = *weft__lock_free_slot(q, slot); /* published by (P) */ " +
    "weft__lock_free_give_back(q, slot);",
    "weft__lock_free_give_back(q, slot); *value = *weft__lock_free_slot(q, " +
    "slot);",
  ],
  [
    "puts in by a store",
    "entry = weft__compare_exchange(at, free, put);",
    "weft__store(at, put);",
  ],
  [
    "takes by a store",
    "int32_t seen = weft__compare_exchange(at, entry, taken);",
    "int32_t seen = entry; weft__store(at, taken);",
  ],
  [
    "closes by a store",
    "int32_t seen = weft__compare_exchange(at, free, closed);",
    "int32_t seen = free; weft__store(at, closed);",
  ],
  [
    "a taken entry is of the same lap",
    "int32_t taken = weft__plus(free, 2 * ring.filled);",
    "int32_t taken = free;",
  ],
  [
    "a push that finds the queue full keeps its slot",
    "if (result != 0) weft__lock_free_give_back(q, slot);",
    "",
  ],
  [
    "full one element too late",
    "!weft__lock_free_is_taken(ring, weft__minus(ticket, capacity))) {",
    "!weft__lock_free_is_taken(ring, weft__minus(ticket, capacity + 1))) {",
  ],
  [
    "does not see that it is closed when empty",
    "if (entry == closed) return WEFT__LOCK_FREE_OVER;",
    "if (entry == closed) return WEFT__LOCK_FREE_NONE;",
  ],
  [
    "laps do not wrap",
    "return weft__minus(lap, weft__lock_free_lap(ring, ticket)) >> 1;",
    "return (int32_t)(((int64_t)lap - weft__lock_free_lap(ring, ticket)) / 2);",
  ],
  [
    "closes and wakes no consumer",
    "weft__event_wake(&q->pop_epoch, WEFT__ALL); " +
    "weft__event_wake(&q->push_epoch, WEFT__ALL); }",
    "weft__event_wake(&q->push_epoch, WEFT__ALL); }",
  ],
  [
    "closes and wakes one consumer",
    "weft__event_wake(&q->pop_epoch, WEFT__ALL); " +
    "weft__event_wake(&q->push_epoch, WEFT__ALL); }",
    "weft__event_wake(&q->pop_epoch, 1); weft__event_wake(&q->push_epoch, " +
    "WEFT__ALL); }",
    [
      "else if (weft_lock_free_queue_closed(q)) " +
      "weft__event_wake(&q->pop_epoch, WEFT__ALL);",
      "",
    ],
  ],
  [
    "pushes and wakes nobody",
    "if (result < 0) return weft__lock_free_error(result); " +
    "weft__event_wake(&q->pop_epoch, 1); return 0;",
    "if (result < 0) return weft__lock_free_error(result); return 0;",
  ],
  [
    "pops and wakes nobody",
    "weft__lock_free_give_back(q, slot); weft__event_wake(&q->push_epoch, " +
    "1); return 0;",
    "weft__lock_free_give_back(q, slot); return 0;",
  ],
  [
    "a ticket that is put in is put in again",
    "int32_t put = entry & ring.filled ? ahead : ahead - ring.filled;",
    "int32_t put = ahead - ring.filled;",
    ["if (past - n <= n) return weft__plus(ticket, 1);", ""],
  ],
  [
    "takes past a ticket that is put in just now",
    "if (ahead == 0) return ticket; /* put in just now */",
    "if (ahead == 0) return weft__plus(ticket, 1);",
  ],
);
