import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_spsc_queue`. */
export const spsc_queue = mutants(
  "spsc_queue",
  "spsc_queue",
  [
    "SP1: publishes before it writes",
    "*weft__spsc_at(q, tail) = value; /* published by (P) */ return " +
    "weft__spsc_publish(q, tail, 1);",
    "int result = weft__spsc_publish(q, tail, 1); *weft__spsc_at(q, tail) = " +
    "value; return result;",
  ],
  [
    "SP2: full one element too late",
    "return q->capacity - (weft__minus(tail, q->head_cache) >> 2); }",
    "return q->capacity + 1 - (weft__minus(tail, q->head_cache) >> 2); }",
  ],
  [
    "SP3: frees before it reads",
    "*value = *weft__spsc_at(q, head); /* published by (P) */ " +
    "weft__spsc_release(q, head, 1);",
    "weft__spsc_release(q, head, 1); *value = *weft__spsc_at(q, head);",
  ],
  [
    "SP4: the consumer never looks at the producer's index",
    "int32_t tail = weft__load(&q->tail); q->tail_cache",
    "int32_t tail = q->tail_cache; q->tail_cache",
  ],
  [
    "SP4: the producer never looks at the consumer's index",
    "q->head_cache = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "",
  ],
  [
    "SP5: reads the producer's index plainly",
    "int32_t tail = weft__load(&q->tail); q->tail_cache",
    "int32_t tail = *(volatile int32_t *)&q->tail; q->tail_cache",
  ],
  [
    "publishes by a store",
    "int32_t was = weft__compare_exchange(&q->tail, tail, next);",
    "int32_t was = weft__load(&q->tail); if (was == tail) " +
    "weft__store(&q->tail, next);",
  ],
  [
    "publishes and wakes nobody",
    "weft__notify(&q->tail, 1); return 0;",
    "return 0;",
  ],
  [
    "pushes into a closed queue",
    "if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;",
    "",
  ],
  [
    "frees and wakes nobody",
    "if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__notify(&q->head, 1);",
    "",
  ],
  [
    "frees only where nobody sleeps",
    "for (int32_t expected = head; was != expected;) {",
    "for (int32_t expected = head; 0;) {",
  ],
  [
    "sleeps without asking for a wake",
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = idle;",
  ],
  [
    "asks for a wake by a store",
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = weft__exchange(word, value);",
  ],
  [
    "asks for a wake at the wrong index",
    "weft__minus(tail, span)",
    "weft__minus(tail, span - span)",
  ],
  [
    "closes only the producer's end",
    "for (int i = 0; i < 2; i++)",
    "for (int i = 0; i < 1; i++)",
  ],
  [
    "closes and wakes nobody",
    "weft__notify(words[i], WEFT__ALL);",
    "continue;",
  ],
  [
    "does not see that it is closed when empty",
    "return filled == 0 && tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? -1 : filled;",
    "return filled;",
  ],
  [
    "SP1: publishes a batch before it writes the second half",
    "weft__copy((int32_t *)(q + 1), words + first * per, (count - first) * " +
    "per); return weft__spsc_publish(q, tail, count) == 0 ? count : -EPIPE;",
    "int result = weft__spsc_publish(q, tail, count); weft__copy((int32_t " +
    "*)(q + 1), words + first * per, (count - first) * per); return result " +
    "== 0 ? count : -EPIPE;",
  ],
  [
    "SP2: full one element too late, by the cached index",
    "int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);",
    "int32_t room = q->capacity + 1 - (weft__minus(tail, q->head_cache) >> 2);",
  ],
  [
    "SP3: frees a batch before it reads",
    "weft__copy(words + first * per, (int32_t *)(q + 1), (count - first) * " +
    "per); weft__spsc_release(q, head, count);",
    "weft__spsc_release(q, head, count); weft__copy(words + first * per, " +
    "(int32_t *)(q + 1), (count - first) * per);",
  ],
  [
    "SP5: reads the consumer's index plainly",
    "q->head_cache = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "q->head_cache = *(volatile int32_t *)&q->head & " +
    "WEFT_SPSC_QUEUE_INDEX_MASK;",
  ],
  [
    "takes the bits for a part of the index",
    "int32_t tail = weft__hint(&q->tail) & WEFT_SPSC_QUEUE_INDEX_MASK; if " +
    "(weft__spsc_room(q, tail, 1) == 0)",
    "int32_t tail = weft__hint(&q->tail); if (weft__spsc_room(q, tail, 1) == " +
    "0)",
  ],
  [
    "takes the bits for a part of the consumer's index",
    "q->head_cache = weft__load(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "q->head_cache = weft__load(&q->head);",
  ],
  [
    "publishes for a sleeper by a store",
    "int32_t still = weft__compare_exchange(&q->tail, was, next);",
    "int32_t still = was; weft__store(&q->tail, next);",
  ],
  [
    "wakes the consumer before it publishes",
    "weft__notify(&q->tail, 1); return 0;",
    "return 0;",
    [
      "int32_t still = weft__compare_exchange",
      "weft__notify(&q->tail, 1); int32_t still = weft__compare_exchange",
    ],
  ],
  [
    "does not see that the queue was closed while it published",
    "if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;",
    "(void)still;",
  ],
  [
    "wakes the producer before it frees",
    "if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__notify(&q->head, 1);",
    "",
    [
      "int32_t was = weft__compare_exchange(&q->head, head, next);",
      "weft__notify(&q->head, 1); int32_t was = " +
      "weft__compare_exchange(&q->head, head, next);",
    ],
  ],
  [
    "frees by a store",
    "int32_t was = weft__compare_exchange(&q->head, head, next); for " +
    "(int32_t expected = head; was != expected;) {",
    "int32_t was = weft__load(&q->head); weft__store(&q->head, next); for " +
    "(int32_t expected = head; 0;) {",
  ],
  [
    "asks the wrong side for a wake",
    "return weft__spsc_sleep(&q->tail, head, deadline);",
    "return weft__spsc_sleep(&q->head, head, deadline);",
    [
      "return weft__spsc_sleep(&q->head, weft__minus",
      "return weft__spsc_sleep(&q->tail, weft__minus",
    ],
  ],
  [
    "sleeps only the first time it asked",
    "if (was != idle && was != value) return",
    "if (was != idle) return",
  ],
  [
    "closes only the consumer's end",
    "for (int i = 0; i < 2; i++)",
    "for (int i = 1; i < 2; i++)",
  ],
  [
    "closes by a store",
    "if (weft__or(words[i], WEFT_SPSC_QUEUE_CLOSED_BIT) & " +
    "WEFT_SPSC_QUEUE_WAITING_BIT) weft__notify(words[i], WEFT__ALL);",
    "{ int32_t was = weft__load(words[i]); weft__store(words[i], was | " +
    "WEFT_SPSC_QUEUE_CLOSED_BIT); if (was & WEFT_SPSC_QUEUE_WAITING_BIT) " +
    "weft__notify(words[i], WEFT__ALL); }",
  ],
  [
    "says it is closed before it is empty",
    "return filled == 0 && tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? -1 : filled;",
    "return tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? -1 : filled;",
  ],
  [
    "does not see that it is closed when full",
    "if (weft__spsc_room(q, tail, 1) == 0) return weft_spsc_queue_closed(q) " +
    "? EPIPE : EBUSY;",
    "if (weft__spsc_room(q, tail, 1) == 0) return EBUSY;",
  ],
  [
    "the room it knows of does not wrap",
    "int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);",
    "int64_t room = q->capacity - (((int64_t)tail - q->head_cache) >> 2);",
    [
      "if (room >= wanted) return room;",
      "if (room >= wanted) return (int32_t)room;",
    ],
  ],
  [
    "a batch goes past the end",
    "return count < q->capacity - slot ? count : q->capacity - slot;",
    "(void)slot; return count;",
  ],
  [
    "a slot in place is appended twice",
    "WEFT_SPSC_QUEUE_INDEX_MASK; return weft__spsc_publish(q, tail, 1);",
    "WEFT_SPSC_QUEUE_INDEX_MASK; weft__spsc_publish(q, tail, 1); return " +
    "weft__spsc_publish(q, weft__plus(tail, WEFT_SPSC_QUEUE_ONE), 1);",
  ],
);
