import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_broadcast`. */
export const broadcast = mutants(
  "broadcast",
  "broadcast",
  [
    "(P): publishes before it writes",
    "weft__broadcast_put(b, tail, src); /* (P) Lets the subscribers see the " +
    "element. */ int32_t next = weft__plus(tail, WEFT_BROADCAST_ONE); if " +
    "(weft__compare_exchange(&b->tail, tail, next) != tail) return EPIPE;",
    "int32_t next = weft__plus(tail, WEFT_BROADCAST_ONE); if " +
    "(weft__compare_exchange(&b->tail, tail, next) != tail) return EPIPE; " +
    "weft__broadcast_put(b, tail, src);",
  ],
  [
    "full one element too late",
    "if (weft__minus(*tail, b->slowest) < span) return 0; b->slowest",
    "if (weft__minus(*tail, b->slowest) <= span) return 0; b->slowest",
  ],
  [
    "waits for nobody",
    "b->slowest = weft__broadcast_scan(b, *tail);",
    "b->slowest = *tail;",
  ],
  [
    "stays where it looked first",
    "weft__compare_exchange(&at->cursor, first, next);",
    "",
  ],
  [
    "sees what is not there",
    "if (weft__minus(end, cursor) <= 0) return",
    "if (weft__minus(end, cursor) < 0) return",
  ],
  [
    "(J): looks again before it says that it is there",
    "weft__store(&at->owner, id); int32_t next = weft__load(&b->tail) & " +
    "~WEFT_BROADCAST_CLOSED_BIT;",
    "int32_t next = weft__load(&b->tail) & ~WEFT_BROADCAST_CLOSED_BIT; " +
    "weft__store(&at->owner, id);",
    "a subscriber comes and goes, the producer waits",
  ],
  [
    "takes a seat by a store",
    "if (weft__compare_exchange(&at->owner, 0, joining) != 0) continue;",
    "weft__store(&at->owner, joining);",
  ],
  [
    "counts another's losses",
    "weft__store(&at->dropped, 0);",
    "",
  ],
  [
    "waits for the last",
    "if (weft__minus(cursor, slowest) < 0) slowest = cursor;",
    "slowest = cursor;",
  ],
  [
    "waits for the fastest",
    "if (weft__minus(cursor, slowest) < 0) slowest = cursor;",
    "if (weft__minus(cursor, slowest) > 0) slowest = cursor;",
  ],
  [
    "compares cursors that wrap",
    "if (weft__minus(cursor, slowest) < 0) slowest = cursor;",
    "if (cursor < slowest) slowest = cursor;",
  ],
  [
    "waits where nobody sits",
    "if (owner == 0 || owner & WEFT_BROADCAST_JOINING_BIT) continue;",
    "if (owner & WEFT_BROADCAST_JOINING_BIT) continue;",
  ],
  [
    "waits for who joins just now",
    "if (owner == 0 || owner & WEFT_BROADCAST_JOINING_BIT) continue;",
    "if (owner == 0) continue;",
  ],
  [
    "full too late, at the second look",
    "b->slowest = weft__broadcast_scan(b, *tail); if (weft__minus(*tail, " +
    "b->slowest) < span)",
    "b->slowest = weft__broadcast_scan(b, *tail); if (weft__minus(*tail, " +
    "b->slowest) <= span)",
  ],
  [
    "moves a late one by a store",
    "int32_t seen = weft__compare_exchange(&at->cursor, cursor, next);",
    "int32_t seen = cursor; weft__store(&at->cursor, next);",
  ],
  [
    "moves a late one, and does not count",
    "weft__add(&at->dropped, (int32_t)((uint32_t)weft__minus(next, cursor) " +
    ">> 1));",
    "",
  ],
  [
    "moves a late one for ever",
    "} else { cursor = seen; }",
    "}",
  ],
  [
    "moves a late one too little",
    "int32_t next = weft__plus(weft__minus(tail, span), WEFT_BROADCAST_ONE);",
    "int32_t next = weft__minus(tail, span);",
  ],
  [
    "moves a late one too far",
    "int32_t next = weft__plus(weft__minus(tail, span), WEFT_BROADCAST_ONE);",
    "int32_t next = tail;",
  ],
  [
    "writes plainly where it drops",
    "weft__store(at + i, from[i]); /* published by (P) */",
    "at[i] = from[i];",
  ],
  [
    "moves on before it reads",
    "weft__broadcast_get(b, cursor, dst); int32_t next",
    "int32_t next",
    [
      "weft__event_wake(&b->push_epoch, WEFT__ALL); } return 0;",
      "weft__event_wake(&b->push_epoch, WEFT__ALL); } weft__broadcast_get(b, " +
      "cursor, dst); return 0;",
    ],
  ],
  [
    "takes what is void",
    "if (weft__compare_exchange(&at->cursor, cursor, next) != cursor) " +
    "continue;",
    "weft__compare_exchange(&at->cursor, cursor, next);",
  ],
  [
    "moves on by a store where another may",
    "if (weft__compare_exchange(&at->cursor, cursor, next) != cursor) " +
    "continue;",
    "weft__store(&at->cursor, next);",
  ],
  [
    "publishes by a store",
    "if (weft__compare_exchange(&b->tail, tail, next) != tail) return EPIPE;",
    "weft__store(&b->tail, next);",
  ],
  [
    "moves on, and wakes nobody",
    "weft__store(&at->cursor, next); weft__event_wake(&b->push_epoch, " +
    "WEFT__ALL);",
    "weft__store(&at->cursor, next);",
  ],
  [
    "wakes before it moves on",
    "weft__store(&at->cursor, next); weft__event_wake(&b->push_epoch, " +
    "WEFT__ALL);",
    "weft__event_wake(&b->push_epoch, WEFT__ALL); weft__store(&at->cursor, " +
    "next);",
  ],
  [
    "ends though elements are left",
    "int32_t end = tail & ~WEFT_BROADCAST_CLOSED_BIT; if",
    "int32_t end = tail & ~WEFT_BROADCAST_CLOSED_BIT; if (tail & " +
    "WEFT_BROADCAST_CLOSED_BIT) return EPIPE; if",
  ],
  [
    "closes by a load and a store",
    "if (weft__or(&b->tail, WEFT_BROADCAST_CLOSED_BIT) & " +
    "WEFT_BROADCAST_CLOSED_BIT) return;",
    "int32_t tail = weft__load(&b->tail); if (tail & " +
    "WEFT_BROADCAST_CLOSED_BIT) return; weft__store(&b->tail, tail | " +
    "WEFT_BROADCAST_CLOSED_BIT);",
  ],
  [
    "closes, and wakes no subscriber",
    "return; weft__event_wake(&b->pop_epoch, WEFT__ALL);",
    "return;",
  ],
  [
    "closes, and wakes no producer",
    "weft__event_wake(&b->pop_epoch, WEFT__ALL); " +
    "weft__event_wake(&b->push_epoch, WEFT__ALL);",
    "weft__event_wake(&b->pop_epoch, WEFT__ALL);",
  ],
  [
    "leaves, and wakes nobody",
    "if (weft__compare_exchange(owner, id, 0) == id) " +
    "weft__event_wake(&b->push_epoch, WEFT__ALL);",
    "weft__compare_exchange(owner, id, 0);",
  ],
  [
    "leaves by a store",
    "if (weft__compare_exchange(owner, id, 0) == id)",
    "(void)id; weft__store(owner, 0);",
  ],
  [
    "abandons, and wakes nobody",
    "if (count > 0) weft__event_wake(&b->push_epoch, WEFT__ALL);",
    "",
  ],
  [
    "publishes, and wakes nobody",
    "!= tail) return EPIPE; weft__event_wake(&b->pop_epoch, WEFT__ALL);",
    "!= tail) return EPIPE;",
  ],
  [
    "wakes before it publishes",
    "!= tail) return EPIPE; weft__event_wake(&b->pop_epoch, WEFT__ALL);",
    "!= tail) return EPIPE;",
    [
      "if (weft__compare_exchange(&b->tail, tail, next)",
      "weft__event_wake(&b->pop_epoch, WEFT__ALL); if " +
      "(weft__compare_exchange(&b->tail, tail, next)",
    ],
  ],
  [
    "joins, and wakes nobody",
    "if (next != first) weft__event_wake(&b->push_epoch, WEFT__ALL);",
    "",
    "a subscriber comes as the producer is ahead",
  ],
  [
    "reads plainly where it drops",
    "to[i] = weft__load(at + i); /* published by (P) */",
    "to[i] = at[i];",
  ],
);
