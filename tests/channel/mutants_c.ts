import { mutants } from "../_run/mixed/mutant.ts";

const PUT = "__builtin_memcpy(element, src, (size_t)length); " +
  "/* published by (P) */";
const GOT = "__builtin_memcpy(dst, element, (size_t)*length); " +
  "/* published by (P) */";

/** Mutants of `weft_channel`: what carries messages has its own. */
export const channel = mutants(
  "channel",
  "channel",
  [
    "publishes before it writes",
    `${PUT} weft__mpmc_publish(q, ticket);`,
    "weft__mpmc_publish(q, ticket); " +
    "__builtin_memcpy(element, src, (size_t)length);",
  ],
  [
    "clears the padding of what it wrote",
    `element[q->element_size / 4 - 1] = 0; /* the padding */ ${PUT}`,
    `${PUT} element[q->element_size / 4 - 1] = 0;`,
  ],
  [
    "frees before it reads",
    `${GOT} weft__mpmc_free(q, ticket);`,
    "weft__mpmc_free(q, ticket); " +
    "__builtin_memcpy(dst, element, (size_t)*length);",
  ],
  [
    "does not free what it took",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1);",
    "weft__event_wake(&q->push_epoch, 1);",
  ],
  [
    "sends and wakes nobody",
    "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
    "weft__mpmc_publish(q, ticket);",
  ],
  [
    "receives and wakes nobody",
    "weft__mpmc_free(q, ticket); weft__event_wake(&q->push_epoch, 1);",
    "weft__mpmc_free(q, ticket);",
  ],
  [
    "wakes before it publishes",
    "weft__mpmc_publish(q, ticket); weft__event_wake(&q->pop_epoch, 1);",
    "weft__event_wake(&q->pop_epoch, 1); weft__mpmc_publish(q, ticket);",
  ],
  [
    "takes the end for an empty queue",
    "int32_t count = weft__mpmc_claim_pop(q, 1, &ticket); if (count <= 0) " +
    "return count == 0 ? EBUSY : -count;",
    "int32_t count = weft__mpmc_claim_pop(q, 1, &ticket); if (count <= 0) " +
    "return EBUSY;",
  ],
  [
    "sends into a closed channel, it thinks",
    "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) " +
    "return count == 0 ? EBUSY : -count;",
    "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) " +
    "return count == 0 ? EBUSY : 0;",
  ],
  [
    "abandons nothing",
    "return weft_record_ring_abandon(weft__channel_ring(c), id);",
    "(void)id; return 0;",
  ],
);
