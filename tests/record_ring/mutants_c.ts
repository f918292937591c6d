import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_record_ring`. */
export const record_ring = mutants(
  "record_ring",
  "record_ring",
  [
    "(P): publishes before it writes",
    "if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length); " +
    "result = weft__record_publish(r, record, length); /* (P) */",
    "result = weft__record_publish(r, record, length); if (length > 0) " +
    "__builtin_memcpy(record + 2, src, (size_t)length);",
  ],
  [
    "(P): publishes a record before its length",
    "record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED); if " +
    "(length > 0) __builtin_memcpy(record + 2, src, (size_t)length); result " +
    "= weft__record_publish(r, record, length); /* (P) */",
    "if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length); " +
    "result = weft__record_publish(r, record, length); record[0] = " +
    "weft__record_word(length, WEFT_RECORD_RING_COMMITTED);",
  ],
  [
    "(P): publishes a reservation before its state",
    "record[0] = weft__record_word(length, WEFT_RECORD_RING_RESERVED); " +
    "record[1] = weft_agent_id(); /* both published by (P) */ *at = record + " +
    "2; return r->single_producer ? 0 : weft__record_publish(r, record, length);",
    "*at = record + 2; result = r->single_producer ? 0 : weft__record_publish(r, " +
    "record, length); record[0] = weft__record_word(length, " +
    "WEFT_RECORD_RING_RESERVED); record[1] = weft_agent_id(); return result;",
  ],
  [
    "(C): commits plainly",
    "weft__store(record, weft__record_word(length, " +
    "WEFT_RECORD_RING_COMMITTED));",
    "record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);",
  ],
  [
    "(F): frees before it copies",
    "if (found > 0) __builtin_memcpy(dst, record + 2, (size_t)found); " +
    "*length = found; weft_record_ring_consume(r);",
    "weft_record_ring_consume(r); if (found > 0) __builtin_memcpy(dst, " +
    "record + 2, (size_t)found); *length = found;",
  ],
  [
    "frees less than was taken",
    "weft__store(&r->head, weft__plus(head, space)); /* (F) */",
    "weft__store(&r->head, weft__plus(head, space - 8));",
  ],
  [
    "frees, and wakes nobody",
    "weft__store(&r->head, weft__plus(head, space)); /* (F) */ " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL);",
    "weft__store(&r->head, weft__plus(head, space));",
  ],
  [
    "full too late",
    "total > weft__minus(r->capacity, weft__minus(tail, r->head_cache))) { " +
    "r->head_cache",
    "total > r->capacity) { r->head_cache",
  ],
  [
    "compares positions that wrap",
    "if (total > weft__minus(r->capacity, weft__minus(tail, r->head_cache))) " +
    "result",
    "if (total > (int64_t)r->capacity - ((int64_t)tail - r->head_cache)) " +
    "result",
  ],
  [
    "believes an old head that it is full",
    "r->head_cache = weft__load(&r->head); /* pairs with (F) */",
    "",
  ],
  [
    "forgets what it skipped at the end",
    "if (record != weft__record_at(r, tail)) total += r->capacity - (tail & " +
    "(r->capacity - 1));",
    "(void)record;",
  ],
  [
    "publishes by a store",
    "seen = weft__compare_exchange(&r->tail, tail, weft__plus(tail, total));",
    "weft__store(&r->tail, weft__plus(tail, total));",
  ],
  [
    "publishes in a closed ring, and says nothing",
    "return seen & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;",
    "(void)seen; return 0;",
  ],
  [
    "ends the claim before it publishes",
    "int32_t tail = weft__hint(&r->tail); int32_t seen = tail;",
    "int32_t tail = weft__hint(&r->tail); int32_t seen = tail; " +
    "weft__record_end_claim(r);",
    ["weft__record_end_claim(r); return seen", "return seen"],
    "two producers, one consumer",
  ],
  [
    "claims by a store",
    "int32_t owner = weft__compare_exchange(&r->claimant, 0, id);",
    "int32_t owner = weft__load(&r->claimant); if (owner == 0) " +
    "weft__store(&r->claimant, id);",
  ],
  [
    "(W): does not say that it waits for the claim",
    "int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT;",
    "int32_t marked = owner;",
  ],
  [
    "(W): says by a store that it waits for the claim",
    "int32_t seen = weft__compare_exchange(&r->claimant, owner, marked); if " +
    "(seen == owner) return false;",
    "weft__store(&r->claimant, marked); return false;",
  ],
  [
    "ends the claim, and wakes nobody",
    "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT) " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL);",
    "weft__store(&r->claimant, 0);",
  ],
  [
    "ends the claim by a load and a store",
    "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT)",
    "int32_t owner = weft__load(&r->claimant); weft__store(&r->claimant, 0); " +
    "if (owner & WEFT_RECORD_RING_CONTENDED_BIT)",
  ],
  [
    "wakes before it ends the claim",
    "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT) " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL);",
    "if (weft__load(&r->claimant) & WEFT_RECORD_RING_CONTENDED_BIT) " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL); " +
    "weft__exchange(&r->claimant, 0);",
  ],
  [
    "pushes, and wakes nobody",
    "result = weft__record_publish(r, record, length); /* (P) */ if (result " +
    "== 0) weft__event_wake(&r->pop_epoch, 1);",
    "result = weft__record_publish(r, record, length);",
  ],
  [
    "never looks at the tail again",
    "if (head == r->tail_cache) {",
    "if (head == r->tail_cache && head < 0) {",
  ],
  [
    "ends though records are left",
    "if (head == r->tail_cache) return tail & WEFT_RECORD_RING_CLOSED_BIT ? " +
    "EPIPE : EBUSY;",
    "if (tail & WEFT_RECORD_RING_CLOSED_BIT) return EPIPE; if (head == " +
    "r->tail_cache) return EBUSY;",
  ],
  [
    "reads a state plainly",
    "int32_t first = weft__load(*record);",
    "int32_t first = **record;",
  ],
  [
    "takes what is only reserved",
    "if ((first & 3) == WEFT_RECORD_RING_RESERVED) return EBUSY;",
    "if ((first & 3) == WEFT_RECORD_RING_RESERVED) return 0;",
  ],
  [
    "does not skip",
    "if ((first & 3) == WEFT_RECORD_RING_COMMITTED) return 0;",
    "if ((first & 3) >= WEFT_RECORD_RING_COMMITTED) return 0;",
  ],
  [
    "closes, and wakes no consumer",
    "return; weft__event_wake(&r->pop_epoch, WEFT__ALL);",
    "return;",
  ],
  [
    "closes by a load and a store",
    "if (weft__or(&r->tail, WEFT_RECORD_RING_CLOSED_BIT) & " +
    "WEFT_RECORD_RING_CLOSED_BIT) return;",
    "int32_t tail = weft__load(&r->tail); if (tail & " +
    "WEFT_RECORD_RING_CLOSED_BIT) return; weft__store(&r->tail, tail | " +
    "WEFT_RECORD_RING_CLOSED_BIT);",
  ],
  [
    "leaves no mark at the end",
    "(*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER, " +
    "WEFT_RECORD_RING_SKIPPED);",
    "",
  ],
  [
    "marks too much at the end",
    "(*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER,",
    "(*record)[0] = weft__record_word(total - space,",
  ],
  [
    "keeps the claim where there is no room",
    "if (result != 0) { weft__record_end_claim(r); return result; }",
    "if (result == EPIPE) weft__record_end_claim(r); if (result != 0) return " +
    "result;",
  ],
  [
    "keeps the claim of a closed ring",
    "if (result != 0) { weft__record_end_claim(r); return result; }",
    "if (result == EBUSY) weft__record_end_claim(r); if (result != 0) return " +
    "result;",
  ],
  [
    "commits less, and marks no rest",
    "if (rest > 0) /* published by (C) */ record[space / 4] = " +
    "weft__record_word(rest - WEFT__RECORD_HEADER, WEFT_RECORD_RING_SKIPPED);",
    "(void)rest;",
  ],
  [
    "commits less, and marks too much",
    "record[space / 4] = weft__record_word(rest - WEFT__RECORD_HEADER,",
    "record[space / 4] = weft__record_word(rest,",
  ],
  [
    "(C): commits before it marks the rest",
    "if (rest > 0) /* published by (C) */",
    "weft__store(record, weft__record_word(length, " +
    "WEFT_RECORD_RING_COMMITTED)); if (rest > 0)",
  ],
  [
    "publishes what it reserved, not what it commits",
    "result = weft__record_publish(r, record, length); /* (P) */ } else {",
    "result = weft__record_publish(r, record, reserved); } else {",
  ],
  [
    "commits, and wakes nobody",
    "} if (result == 0) weft__event_wake(&r->pop_epoch, 1); return result;",
    "} return result;",
  ],
  [
    "gives up, and does not say so",
    "weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);",
    "(void)record;",
  ],
  [
    "gives up, as if it had committed",
    "weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);",
    "weft__store(record, (weft__load(record) & ~3) | " +
    "WEFT_RECORD_RING_COMMITTED);",
  ],
  [
    "gives up, and wakes nobody",
    "weft__event_wake(&r->pop_epoch, 1); /* for what it held back */",
    "",
  ],
  [
    "abandons, and keeps the claim",
    "weft__record_end_claim(r); if (count > 0)",
    "if (count > 0)",
  ],
  [
    "abandons what was committed",
    "if ((first & 3) == WEFT_RECORD_RING_RESERVED && record[1] == id) {",
    "if (record[1] == id || (first & 3) == WEFT_RECORD_RING_COMMITTED) {",
  ],
  [
    "takes no claim over",
    "if ((owner & WEFT_RECORD_RING_OWNER_MASK) != id) return " +
    "weft__record_begin_claim(r);",
    "return weft__record_begin_claim(r);",
  ],
  [
    "abandons, and wakes nobody",
    "if (count > 0) weft__event_wake(&r->pop_epoch, WEFT__ALL);",
    "",
  ],
  [
    "skips, and wakes nobody",
    "weft__store(&r->head, weft__plus(head, space)); " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL);",
    "weft__store(&r->head, weft__plus(head, space));",
  ],
  [
    "closes, and wakes no producer",
    "weft__event_wake(&r->pop_epoch, WEFT__ALL); " +
    "weft__event_wake(&r->push_epoch, WEFT__ALL);",
    "weft__event_wake(&r->pop_epoch, WEFT__ALL);",
  ],
  [
    "takes a claim over, and forgets who waits",
    "int32_t ours = weft_agent_id() | (owner & " +
    "WEFT_RECORD_RING_CONTENDED_BIT);",
    "int32_t ours = weft_agent_id();",
  ],
);
