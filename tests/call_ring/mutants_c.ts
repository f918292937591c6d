import { mutants } from "../_run/mixed/mutant.ts";

const POSTED = "weft__store(&c->state, posted); /* (P) */";
const ANSWERED =
  "if (weft__compare_exchange(&c->state, state, next) != state) " +
  "continue; if ((state & WEFT_CALL_RING_WAITING_BIT) != 0) " +
  "weft__notify(&c->state, WEFT__ALL); return weft__call_reclaim(r, c, next) " +
  "? ETIMEDOUT : 0;";
const FREED = "weft__store(&c->state, WEFT_CALL_RING_FREE); " +
  "weft__event_wake(&r->slot_epoch, 1); }";
const CLOSED = "if (weft__exchange(&r->closed, 1) != 0) return; " +
  "weft__event_wake(&r->serve_epoch, WEFT__ALL);";

/**
 * Mutants of `weft_call_ring`. Not those of hints, which are atomic loads in
 * wasm: there a server that leaves a call alone whose caller just went to sleep
 * finds it in its second round.
 */
export const call_ring = mutants(
  "call_ring",
  "call_ring",
  [
    "claims by a store",
    "weft__compare_exchange(&c->state, WEFT_CALL_RING_FREE, " +
    "WEFT_CALL_RING_CLAIMED | id) == WEFT_CALL_RING_FREE)",
    "(weft__store(&c->state, WEFT_CALL_RING_CLAIMED | id), 1))",
  ],
  [
    "writes the request after it is posted",
    "if (length > 0) __builtin_memcpy(c + 1, request, (size_t)length); " +
    `int32_t posted = WEFT_CALL_RING_POSTED | weft_agent_id(); ${POSTED}`,
    "int32_t posted = WEFT_CALL_RING_POSTED | weft_agent_id(); " +
    "weft__store(&c->state, posted); " +
    "if (length > 0) __builtin_memcpy(c + 1, request, (size_t)length);",
  ],
  [
    "says the request's length after it is posted",
    POSTED,
    "weft__store(&c->state, posted); c->request_length = length;",
    ["c->request_length = length; /* published by (P) */", ""],
  ],
  [
    "posts and wakes no server",
    "weft__event_wake(&r->serve_epoch, 1); *call = c; return 0;",
    "*call = c; return 0;",
  ],
  [
    "wakes a server before it posts",
    POSTED,
    "weft__event_wake(&r->serve_epoch, 1); weft__store(&c->state, posted);",
    [
      "weft__event_wake(&r->serve_epoch, 1); *call = c; return 0;",
      "*call = c; return 0;",
    ],
  ],
  [
    "does not look again whether the ring was closed",
    "if (weft_call_ring_closed(r) && weft__compare_exchange(&c->state, posted,",
    "if (0 && weft__compare_exchange(&c->state, posted,",
  ],
  [
    "looks whether the ring was closed before it posts",
    POSTED,
    "bool closed = weft_call_ring_closed(r); weft__store(&c->state, posted);",
    [
      "if (weft_call_ring_closed(r) && weft__compare_exchange(&c->state, posted,",
      "if (closed && weft__compare_exchange(&c->state, posted,",
    ],
  ],
  [
    "withdraws by a store what may be served",
    "weft__compare_exchange(&c->state, posted, WEFT_CALL_RING_FREE) == posted)",
    "(weft__store(&c->state, WEFT_CALL_RING_FREE), 1))",
  ],
  [
    "a server looks after the calls whether the ring was closed",
    "return closed ? EPIPE : EBUSY;",
    "return weft_call_ring_closed(r) ? EPIPE : EBUSY;",
    ["bool closed = weft_call_ring_closed(r); /* (E) before the look */", ""],
  ],
  [
    "frees a slot and wakes nobody",
    FREED,
    "weft__store(&c->state, WEFT_CALL_RING_FREE); (void)r; }",
  ],
  [
    "wakes who wants a slot before it is free",
    FREED,
    "weft__event_wake(&r->slot_epoch, 1); " +
    "weft__store(&c->state, WEFT_CALL_RING_FREE); }",
  ],
  [
    "a withdrawn call's slot wakes nobody",
    "if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1); " +
    "return true;",
    "(void)r; return true;",
  ],
  [
    "sleeps without saying so",
    "if (state != value && weft__compare_exchange(&c->state, state, value) != " +
    "state) continue; int outcome = weft__sleep(&c->state, value,",
    "int outcome = weft__sleep(&c->state, state,",
    ["int32_t value = state | WEFT_CALL_RING_WAITING_BIT;", ""],
  ],
  [
    "says that it sleeps by a store",
    "if (state != value && weft__compare_exchange(&c->state, state, value) != " +
    "state) continue;",
    "weft__store(&c->state, value);",
  ],
  [
    "takes the reply after it gave the slot back",
    "if (bytes > 0) __builtin_memcpy(dst, weft__call_reply_at(r, c), " +
    "(size_t)bytes); weft__call_free(r, c);",
    "weft__call_free(r, c); if (bytes > 0) " +
    "__builtin_memcpy(dst, weft__call_reply_at(r, c), (size_t)bytes);",
  ],
  [
    "keeps the slot of a call that was answered",
    "weft__call_free(r, c); if (phase == WEFT_CALL_RING_LOST) " +
    "return EOWNERDEAD;",
    "if (phase == WEFT_CALL_RING_LOST) return EOWNERDEAD;",
  ],
  [
    "keeps the slot of a call whose server is gone",
    "weft__call_free(r, c); if (phase == WEFT_CALL_RING_LOST) " +
    "return EOWNERDEAD;",
    "if (phase == WEFT_CALL_RING_LOST) return EOWNERDEAD; " +
    "weft__call_free(r, c);",
  ],
  [
    "gives up by a store",
    "if (weft__compare_exchange(&c->state, state, next) != state) continue; " +
    "if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1);",
    "weft__store(&c->state, next); " +
    "if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1);",
  ],
  [
    "gives the slot of a call back that is served",
    "if (phase == WEFT_CALL_RING_SERVING) next = WEFT_CALL_RING_DROPPED | " +
    "(state & WEFT_CALL_RING_ID_MASK);",
    "",
  ],
  [
    "cancels an answered call and keeps its slot",
    "if (!weft__call_give_up(r, c)) weft__call_free(r, c);",
    "weft__call_give_up(r, c);",
  ],
  [
    "takes a call by a store",
    "state = weft__compare_exchange(&c->state, expected, " +
    "WEFT_CALL_RING_SERVING | id | waits);",
    "weft__store(&c->state, WEFT_CALL_RING_SERVING | id | waits);",
  ],
  [
    "takes a call and forgets who sleeps",
    "int32_t waits = state & WEFT_CALL_RING_WAITING_BIT;",
    "int32_t waits = 0;",
  ],
  [
    "looks at one slot only",
    "slot = slot + 1 < slots ? slot + 1 : 0; /* First by hints, which the " +
    "exchange checks; then to be sure. */ int32_t state = i > slots ? " +
    "weft__hint(&c->state) : weft__load(&c->state); while",
    "int32_t state = i > slots ? weft__hint(&c->state) : " +
    "weft__load(&c->state); while",
  ],
  [
    "says the reply's length after the answer",
    "c->reply_length = length; /* published by (R) */ return 0;",
    "return 0;",
    [
      "return result != 0 ? result : weft__call_answer(r, c, " +
      "WEFT_CALL_RING_REPLIED);",
      "if (result == 0) { result = weft__call_answer(r, c, " +
      "WEFT_CALL_RING_REPLIED); c->reply_length = length; } return result;",
    ],
  ],
  [
    "answers a call that was given up",
    "if (weft__call_phase(state) == WEFT_CALL_RING_DROPPED) {",
    "if (state == WEFT_CALL_RING_FREE) {",
  ],
  [
    "answers by a store",
    ANSWERED,
    ANSWERED.replace(
      "if (weft__compare_exchange(&c->state, state, next) != state) continue;",
      "weft__store(&c->state, next);",
    ),
  ],
  [
    "answers and wakes nobody",
    ANSWERED,
    "if (weft__compare_exchange(&c->state, state, next) != state) continue; " +
    "return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;",
  ],
  [
    "wakes before it answers",
    ANSWERED,
    "if ((state & WEFT_CALL_RING_WAITING_BIT) != 0) " +
    "weft__notify(&c->state, WEFT__ALL); " +
    "if (weft__compare_exchange(&c->state, state, next) != state) continue; " +
    "return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;",
  ],
  [
    "does not look again whether its caller was abandoned",
    "return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;",
    "return 0;",
  ],
  [
    "takes an answer back that its caller may be taking",
    "if (weft__load(&c->caller) != (caller | WEFT_CALL_RING_DEAD_BIT) ||",
    "if ((caller & 0) ||",
  ],
  [
    "closes and wakes no server",
    CLOSED,
    "if (weft__exchange(&r->closed, 1) != 0) return;",
  ],
  [
    "closes and wakes nobody who wants a slot",
    `${CLOSED} weft__event_wake(&r->slot_epoch, WEFT__ALL);`,
    CLOSED,
  ],
  [
    "wakes before it closes",
    CLOSED,
    "weft__event_wake(&r->serve_epoch, WEFT__ALL); " +
    "if (weft__exchange(&r->closed, 1) != 0) return;",
  ],
  [
    "abandons without a mark for who serves",
    "int32_t caller = weft__compare_exchange(&c->caller, id, dead);",
    "int32_t caller = weft__load(&c->caller); (void)dead;",
  ],
  [
    "marks a caller after it looked at its call",
    "int32_t caller = weft__compare_exchange(&c->caller, id, dead); for (;;) " +
    "{ int32_t state = weft__load(&c->state);",
    "int32_t early = weft__load(&c->state); " +
    "int32_t caller = weft__compare_exchange(&c->caller, id, dead); " +
    "for (bool first = true;; first = false) { " +
    "int32_t state = first ? early : weft__load(&c->state);",
  ],
  [
    "abandons by a store",
    "if (weft__compare_exchange(&c->state, state, next) != state) continue; " +
    "if (next == WEFT_CALL_RING_FREE) return true;",
    "weft__store(&c->state, next); " +
    "if (next == WEFT_CALL_RING_FREE) return true;",
  ],
  [
    "abandons a server and frees what it served",
    "if ((waits & WEFT_CALL_RING_DEAD_BIT) == 0) " +
    "next = WEFT_CALL_RING_LOST | waits;",
    "(void)waits;",
  ],
  [
    "abandons a server and wakes no caller",
    "if (next == WEFT_CALL_RING_FREE) return true; " +
    "if ((state & WEFT_CALL_RING_WAITING_BIT) != 0) " +
    "weft__notify(&c->state, WEFT__ALL);",
    "if (next == WEFT_CALL_RING_FREE) return true;",
  ],
  [
    "abandons who died before it woke its caller, and does not",
    "if (phase >= WEFT_CALL_RING_REPLIED) weft__notify(&c->state, WEFT__ALL); " +
    "return phase",
    "return phase",
  ],
  [
    "abandons and wakes nobody who wants a slot",
    "weft__event_wake(&r->serve_epoch, WEFT__ALL); " +
    "weft__event_wake(&r->slot_epoch, WEFT__ALL); return count;",
    "weft__event_wake(&r->serve_epoch, WEFT__ALL); return count;",
  ],
  [
    "a call that is late keeps its slot",
    "if (weft__call_answered(c, timeout, deadline) != 0 && " +
    "weft__call_give_up(r, c))",
    "if (weft__call_answered(c, timeout, deadline) != 0)",
  ],
);
