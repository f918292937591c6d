import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_mpmc_queue`. */
export const mpmc_queue = mutants(
  "mpmc_queue",
  "mpmc_queue",
  [
    "MQ1: publishes before it writes",
    "weft__mpmc_slot(q, ticket)[1] = value; /* published by (P) */ " +
    "weft__mpmc_publish(q, ticket);",
    "weft__mpmc_publish(q, ticket); weft__mpmc_slot(q, ticket)[1] = value;",
  ],
  [
    "MQ3: frees before it reads",
    "*value = weft__mpmc_slot(q, ticket)[1]; /* published by (P) */ " +
    "weft__mpmc_free(q, ticket);",
    "weft__mpmc_free(q, ticket); *value = weft__mpmc_slot(q, ticket)[1];",
  ],
  [
    "MQ9: claims to pop by a store",
    "int32_t seen = weft__compare_exchange(&q->head, head, next);",
    "int32_t seen = head; weft__store(&q->head, next);",
  ],
  [
    "frees a slot for the same lap",
    "weft__plus(ticket, q->capacity * WEFT_MPMC_QUEUE_ONE)",
    "weft__plus(ticket, 0)",
  ],
  [
    "pushes and wakes nobody",
    "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
    "weft__mpmc_publish(q, ticket);",
  ],
  [
    "pops and wakes nobody",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1);",
    "weft__mpmc_free(q, ticket);",
  ],
  [
    "wakes before it publishes",
    "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
    "weft__event_wake(&q->pop_epoch, 1); weft__mpmc_publish(q, ticket);",
  ],
  [
    "closes and wakes one consumer",
    "return; weft__event_wake(&q->pop_epoch, WEFT__ALL);",
    "return;",
  ],
  [
    "closes and wakes no producer",
    "weft__event_wake(&q->pop_epoch, WEFT__ALL); " +
    "weft__event_wake(&q->push_epoch, WEFT__ALL); }",
    "weft__event_wake(&q->pop_epoch, WEFT__ALL); }",
  ],
  [
    "says it is closed before the last element is published",
    "return weft__load(&q->tail) == drained ? -EPIPE : 0;",
    "(void)drained; return weft_mpmc_queue_closed(q) ? -EPIPE : 0;",
  ],
  [
    "commits and wakes nobody",
    "weft__load((int32_t *)slot - 1)); weft__event_wake(&q->pop_epoch, 1);",
    "weft__load((int32_t *)slot - 1));",
  ],
  [
    "MQ1: publishes a batch before it writes",
    "weft__copy(weft__mpmc_slot(q, ticket) + 1, words + i * per, per); " +
    "weft__mpmc_publish(q, ticket);",
    "weft__mpmc_publish(q, ticket); weft__copy(weft__mpmc_slot(q, ticket) + " +
    "1, words + i * per, per);",
  ],
  [
    "MQ2: frees a slot for a lap that is too short",
    "weft__plus(ticket, q->capacity * WEFT_MPMC_QUEUE_ONE)",
    "weft__plus(ticket, (q->capacity - 1) * WEFT_MPMC_QUEUE_ONE)",
  ],
  [
    "MQ3: frees a batch before it reads",
    "weft__copy(words + i * per, weft__mpmc_slot(q, ticket) + 1, per); " +
    "weft__mpmc_free(q, ticket);",
    "weft__mpmc_free(q, ticket); weft__copy(words + i * per, " +
    "weft__mpmc_slot(q, ticket) + 1, per);",
  ],
  [
    "MQ4: claims to push by a store",
    "int32_t seen = weft__compare_exchange(&q->tail, tail, next);",
    "int32_t seen = tail; weft__store(&q->tail, next);",
  ],
  [
    "MQ5: writes before it owns the slot",
    "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) " +
    "return count == 0 ? EBUSY : -count; weft__mpmc_slot(q, ticket)[1] = " +
    "value;",
    "weft__mpmc_slot(q, weft__hint(&q->tail))[1] = value; int32_t count = " +
    "weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) return count == 0 " +
    "? EBUSY : -count;",
  ],
  [
    "MQ6: pushes one element too many",
    "if (weft__load(weft__mpmc_slot(q, tail)) == tail) { int32_t count",
    "int32_t turn = weft__load(weft__mpmc_slot(q, tail)); if (turn == tail " +
    "|| turn == weft__plus(weft__minus(tail, q->capacity * " +
    "WEFT_MPMC_QUEUE_ONE), WEFT_MPMC_QUEUE_FILLED)) { int32_t count",
  ],
  [
    "MQ8: tickets wrap before their slots do",
    "uint32_t slot = ((uint32_t)ticket >> 1) & (uint32_t)(q->capacity - 1);",
    "uint32_t slot = (uint32_t)(ticket / 2 + (ticket < 0)) & " +
    "(uint32_t)(q->capacity - 1);",
  ],
  [
    "MQ10: spins on an old ticket to push",
    "tail = seen; continue;",
    "continue;",
  ],
  [
    "MQ10: spins on an old ticket to pop",
    "head = seen; continue;",
    "continue;",
  ],
  [
    "MQ11: reads the turn plainly, to push",
    "if (weft__load(weft__mpmc_slot(q, tail)) == tail) { int32_t count",
    "if (*weft__mpmc_slot(q, tail) == tail) { int32_t count",
  ],
  [
    "MQ11: reads the turn plainly, to pop",
    "int32_t turn = weft__load(weft__mpmc_slot(q, head));",
    "int32_t turn = *weft__mpmc_slot(q, head);",
  ],
  [
    "publishes by a plain store",
    "weft__store(weft__mpmc_slot(q, ticket), weft__plus(ticket, " +
    "WEFT_MPMC_QUEUE_FILLED));",
    "*weft__mpmc_slot(q, ticket) = weft__plus(ticket, WEFT_MPMC_QUEUE_FILLED);",
  ],
  [
    "frees by a plain store",
    "weft__store(weft__mpmc_slot(q, ticket), weft__plus(ticket, q->capacity " +
    "* WEFT_MPMC_QUEUE_ONE));",
    "*weft__mpmc_slot(q, ticket) = weft__plus(ticket, q->capacity * " +
    "WEFT_MPMC_QUEUE_ONE);",
  ],
  [
    "believes an old hint that it is full",
    "int32_t seen = weft__load(&q->tail); if (seen == tail) return 0; tail = " +
    "seen;",
    "return 0;",
    "a producer that others overtake twice",
  ],
  [
    "believes an old hint that it is empty",
    "int32_t seen = weft__load(&q->head); if (seen == head) {",
    "int32_t seen = head; if (seen == head) {",
    "a consumer that others overtake twice",
  ],
  [
    "pushes into a closed queue",
    "if (tail & WEFT_MPMC_QUEUE_CLOSED_BIT) return -EPIPE;",
    "tail &= ~WEFT_MPMC_QUEUE_CLOSED_BIT;",
    [
      "int32_t next = weft__plus(tail, count * WEFT_MPMC_QUEUE_ONE); int32_t " +
      "seen = weft__compare_exchange(&q->tail, tail, next); if (seen == " +
      "tail) {",
      "int32_t seen = weft__add(&q->tail, count * WEFT_MPMC_QUEUE_ONE); if " +
      "((seen & ~WEFT_MPMC_QUEUE_CLOSED_BIT) == tail) {",
    ],
  ],
  [
    "does not see that it is closed when empty",
    "return weft__load(&q->tail) == drained ? -EPIPE : 0;",
    "(void)drained; return 0;",
  ],
  [
    "closes by a store",
    "if (weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) & " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT) return;",
    "int32_t was = weft__load(&q->tail); weft__store(&q->tail, was | " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT);",
  ],
  [
    "wakes the consumers before it closes",
    "if (weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) & " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT) return; weft__event_wake(&q->pop_epoch, " +
    "WEFT__ALL);",
    "weft__event_wake(&q->pop_epoch, WEFT__ALL); if (weft__or(&q->tail, " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT) & WEFT_MPMC_QUEUE_CLOSED_BIT) return;",
  ],
  [
    "wakes before it frees",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1); return " +
    "0;",
    "weft__event_wake(&q->push_epoch, 1); weft__mpmc_free(q, ticket); return " +
    "0;",
  ],
  [
    "wakes consumers where producers sleep",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1); return " +
    "0;",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->pop_epoch, 1); return 0;",
  ],
  [
    "pushes a batch and wakes nobody",
    "weft__event_wake(&q->pop_epoch, count); return count;",
    "return count;",
  ],
  [
    "pops a batch and wakes nobody",
    "weft__event_wake(&q->push_epoch, count); return count;",
    "return count;",
  ],
  [
    "consumes and wakes nobody",
    "weft__mpmc_free(q, weft__minus(turn, WEFT_MPMC_QUEUE_FILLED)); " +
    "weft__event_wake(&q->push_epoch, 1);",
    "weft__mpmc_free(q, weft__minus(turn, WEFT_MPMC_QUEUE_FILLED));",
  ],
  [
    "a batch claims slots that are not its own",
    "if (weft__load(weft__mpmc_slot(q, next)) != weft__plus(next, state)) " +
    "break;",
    "(void)next; (void)state;",
  ],
  [
    "a batch claims less than it takes",
    "weft__mpmc_run(q, tail, n, 0); int32_t next = weft__plus(tail, count * " +
    "WEFT_MPMC_QUEUE_ONE);",
    "weft__mpmc_run(q, tail, n, 0); int32_t next = weft__plus(tail, " +
    "WEFT_MPMC_QUEUE_ONE);",
  ],
  [
    "who is woken too early does not pass the wake on, to pop",
    "if (weft__mpmc_poppable(q)) weft__event_wake(&q->pop_epoch, " +
    "weft_mpmc_queue_closed(q) ? WEFT__ALL : 1);",
    "(void)q;",
  ],
  [
    "who is woken too early does not pass the wake on, to push",
    "else if (weft__load(weft__mpmc_slot(q, tail)) == tail) " +
    "weft__event_wake(&q->push_epoch, 1);",
    "",
  ],
);

/** Mutants of what queues sleep by. */
export const _event_count = mutants(
  "mpmc_queue",
  "_event_count",
  [
    "the epoch does not change",
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "weft__notify(epoch, n);",
  ],
  [
    "the epoch changes after the wake",
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "weft__notify(epoch, n); weft__add(epoch, 1);",
  ],
  [
    "the epoch changes and nobody is woken",
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "(void)n; weft__add(epoch, 1);",
  ],
  [
    "wakes only where two sleep",
    "if (weft__load(epoch + 1) == 0) return;",
    "if (weft__load(epoch + 1) <= 1) return;",
  ],
  [
    "looks for waiters plainly",
    "if (weft__load(epoch + 1) == 0) return;",
    "if (epoch[1] == 0) return;",
  ],
  [
    "is not counted before it looks",
    "weft__add((epoch) + 1, 1);",
    "weft__load((epoch) + 1);",
    ["weft__add((epoch) + 1, -1);", ""],
  ],
  [
    "is counted by load and store",
    "weft__add((epoch) + 1, 1);",
    "weft__store((epoch) + 1, weft__load((epoch) + 1) + 1);",
  ],
  [
    "looks at the epoch after its last attempt",
    "int32_t seen = weft__load(epoch); if ((result = (attempt)) == EBUSY)",
    "if ((result = (attempt)) == EBUSY)",
    ["weft__sleep(epoch, seen,", "weft__sleep(epoch, weft__load(epoch),"],
  ],
  [
    "is counted for ever",
    "weft__add((epoch) + 1, -1);",
    "",
  ],
);

/** Mutants of what queues do to wait. */
export const _queue = mutants(
  "mpmc_queue",
  "_event_count",
  [
    "does not look again after it announced itself",
    "if ((result = (attempt)) == EBUSY) outcome = weft__sleep",
    "outcome = weft__sleep",
  ],
  [
    "looks before it announces itself",
    "weft__add((epoch) + 1, 1);",
    "if ((result = (attempt)) != EBUSY) break; weft__add((epoch) + 1, 1);",
    [
      "if ((result = (attempt)) == EBUSY) outcome = weft__sleep",
      "outcome = weft__sleep",
    ],
  ],
  [
    "gives up after one sleep",
    "if (outcome != WEFT__TIMED_OUT) continue; if ((result",
    "if ((result",
  ],
  [
    "never takes an announcement back",
    "weft__add((epoch) + 1, -1);",
    "",
  ],
  [
    "a wake that came too early is not passed on",
    "pass(q);",
    "",
  ],
  [
    "takes a timeout for room",
    "if ((result = (attempt)) == EBUSY) result = ETIMEDOUT;",
    "if ((result = (attempt)) == EBUSY) result = 0;",
  ],
);
