import { mutants } from "../_run/mutant.ts";

const CORE = mutants({
  source: "_queue/spsc/core",
  header: "_spsc_steps",
  scenarios: ["spsc_queue"],
}, {
  what: "closes its head once it has returned",
  by: "closed and drained, and freed when close left nothing to do",
  ts: [
    "for (const index of [TAIL, HEAD]) {",
    "Promise.resolve().then(() => Atomics.or(this.#words, HEAD, CLOSED_BIT));\n" +
    "for (const index of [TAIL]) {",
  ],
  c: "C does nothing once it has returned",
}, {
  what: "SP1: publishes before it writes",
  header: "spsc_queue",
  by: "tryPush, tryPop",
  ts: [
    "this.#words[this.#at(tail)] = value; // published by (P) return this.#publish(tail, 1);",
    "const done = this.#publish(tail, 1);\nthis.#words[this.#at(tail)] = value;\nreturn done;",
  ],
  c: [
    "*weft__spsc_int_at(q, tail) = value; /* published by (P) */ return " +
    "weft__spsc_publish(q, tail, 1, acts);",
    "int result = weft__spsc_publish(q, tail, 1, acts); *weft__spsc_int_at(q, tail) " +
    "= value; return result;",
  ],
}, {
  what: "SP1: publishes a batch before it writes the second half",
  header: "spsc_queue",
  by: "a batch over the end",
  ts: [
    "if (count > first) { this.copier.put(src, first * per, DATA, (count - first) * per); } return this.#publish(tail, count) ? count : 0;",
    "const done = this.#publish(tail, count);\nif (count > first) { this.copier.put(src, first * per, DATA, (count - first) * per); }\nreturn done ? count : 0;",
  ],
  c: [
    "__builtin_memcpy(q + 1, from + first * size, ((size_t)count - first) * " +
    "size); return weft__spsc_publish(q, tail, count, false) == 0 ? count : -EPIPE;",
    "int result = weft__spsc_publish(q, tail, count, false); __builtin_memcpy(q + 1, " +
    "from + first * size, ((size_t)count - first) * size); return result == 0 " +
    "? count : -EPIPE;",
  ],
}, {
  what: "SP2: notices one element too late that it is full",
  by: "tryPush, tryPop",
  ts: [
    "room = this.#span - (tail - head | 0);",
    "room = this.#span + ONE - (tail - head | 0);",
  ],
  c: [
    " room = q->capacity - (weft__minus(tail, q->head_cache) >> 2); return",
    " room = q->capacity + 1 - (weft__minus(tail, q->head_cache) >> 2); return",
  ],
}, {
  what:
    "SP2: notices one element too late that it is full, by the cached index",
  by: "tryPush, tryPop",
  ts: [
    "let room = this.#span - (tail - words[HEAD_CACHE]! | 0);",
    "let room = this.#span + ONE - (tail - words[HEAD_CACHE]! | 0);",
  ],
  c: [
    "int32_t room = q->capacity - (weft__minus(tail, q->head_cache) >> 2);",
    "int32_t room = q->capacity + 1 - (weft__minus(tail, q->head_cache) >> 2);",
  ],
}, {
  what: "SP3: frees before it reads",
  header: "spsc_queue",
  by: "tryPush, tryPop",
  ts: [
    "const value = this.#words[this.#at(head)]!; // published by (P) " +
    "this.#release(head, 1);",
    "this.#release(head, 1);\nconst value = this.#words[this.#at(head)]!;",
  ],
  c: [
    "*value = *weft__spsc_int_at(q, head); /* published by (P) */ " +
    "weft__spsc_release(q, head, 1, acts);",
    "weft__spsc_release(q, head, 1, acts); *value = *weft__spsc_int_at(q, head);",
  ],
}, {
  what: "SP3: frees a batch before it reads",
  header: "spsc_queue",
  by: "a batch over the end",
  ts: [
    "if (count > first) { this.copier.get(dst, first * per, DATA, " +
    "(count - first) * per); } this.#release(head, count);",
    "this.#release(head, count);\nif (count > first) { this.copier.get(" +
    "dst, first * per, DATA, (count - first) * per); }",
  ],
  c: [
    "__builtin_memcpy(to + first * size, q + 1, ((size_t)count - first) * " +
    "size); weft__spsc_release(q, head, count, false);",
    "weft__spsc_release(q, head, count, false); __builtin_memcpy(to + first * size, " +
    "q + 1, ((size_t)count - first) * size);",
  ],
}, {
  what: "SP4: the consumer never looks at the producer's index",
  by: "tryPush, tryPop",
  ts: [
    "const tail = Atomics.load(words, TAIL); words[TAIL_CACHE]",
    "const tail = words[TAIL_CACHE]!; words[TAIL_CACHE]",
  ],
  c: [
    "int32_t tail = weft__load(&q->tail); int32_t known",
    "int32_t tail = q->tail_cache; int32_t known",
  ],
}, {
  what: "SP4: the producer never looks at the consumer's index",
  by: "tryPush, tryPop",
  ts: [
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = words[HEAD_CACHE]!; words[HEAD_CACHE]",
  ],
  c: [
    "q->head_cache = weft__receive(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "",
  ],
}, {
  what: "SP5: reads the producer's index plainly",
  by: "tryPush, tryPop",
  ts: [
    "const tail = Atomics.load(words, TAIL); words[TAIL_CACHE]",
    "const tail = words[TAIL]!; words[TAIL_CACHE]",
  ],
  c: [
    "int32_t tail = weft__load(&q->tail); int32_t known",
    "int32_t tail = *(volatile int32_t *)&q->tail; int32_t known",
  ],
}, {
  what: "SP5: reads the consumer's index plainly",
  by: "tryPush, tryPop",
  ts: [
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = words[HEAD]! & INDEX_MASK; words[HEAD_CACHE]",
  ],
  c: [
    "q->head_cache = weft__receive(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "q->head_cache = *(volatile int32_t *)&q->head & " +
    "WEFT_SPSC_QUEUE_INDEX_MASK;",
  ],
}, {
  what: "takes the flag bits for a part of the index",
  header: "spsc_queue",
  by: "closed when full",
  ts: [
    "const tail = this.#words[TAIL]! & INDEX_MASK; // our own",
    "const tail = this.#words[TAIL]!; // our own",
  ],
  c: [
    "weft__spsc_push_int(weft_spsc_queue *q, int32_t value, bool acts) { " +
    "int32_t tail = weft__spsc_own(&q->tail);",
    "weft__spsc_push_int(weft_spsc_queue *q, int32_t value, bool acts) { " +
    "int32_t tail = weft__hint(&q->tail);",
  ],
}, {
  what: "takes the flag bits for a part of the consumer's index",
  ts: [
    "const head = Atomics.load(words, HEAD) & INDEX_MASK; words[HEAD_CACHE]",
    "const head = Atomics.load(words, HEAD); words[HEAD_CACHE]",
  ],
  c: [
    "q->head_cache = weft__receive(&q->head) & WEFT_SPSC_QUEUE_INDEX_MASK;",
    "q->head_cache = weft__load(&q->head);",
  ],
  by: "closed when full",
}, {
  what: "publishes by a store",
  by: "push, pop",
  ts: [
    "const was = Atomics.compareExchange(words, TAIL, tail, next); if (was === tail) return true;",
    "const was = Atomics.load(words, TAIL);\nif (was === tail) { Atomics.store(words, TAIL, next); return true; }",
  ],
  c: [
    "int32_t was = weft__compare_exchange(&q->tail, tail, next);",
    "int32_t was = weft__load(&q->tail); if (was == tail) " +
    "weft__store(&q->tail, next);",
  ],
}, {
  what: "publishes by a store although a consumer sleeps",
  ts: [
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    "const still = was; Atomics.store(words, TAIL, next);",
  ],
  c: [
    "int32_t still = weft__compare_exchange(&q->tail, was, next);",
    "int32_t still = was; weft__store(&q->tail, next);",
  ],
  by: "closed while a push wakes the consumer",
}, {
  what: "publishes and wakes nobody",
  by: "push, pop",
  ts: [
    "if (still & CLOSED_BIT) return this.#refused(); Atomics.notify(words, TAIL, 1);",
    "if (still & CLOSED_BIT) return this.#refused();",
  ],
  c: ["weft__spsc_wake(&q->tail); return 0;", "return 0;"],
}, {
  what: "wakes the consumer before it publishes",
  by: "push, pop",
  ts: [
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    "Atomics.notify(words, TAIL, 1);\n" +
    "const still = Atomics.compareExchange(words, TAIL, was, next);",
    [
      "return this.#refused(); Atomics.notify(words, TAIL, 1);",
      "return this.#refused();",
    ],
  ],
  c: ["weft__spsc_wake(&q->tail); return 0;", "return 0;", [
    "int32_t still = weft__compare_exchange",
    "weft__spsc_wake(&q->tail); int32_t still = weft__compare_exchange",
  ]],
}, {
  what: "pushes into a closed queue",
  ts: [
    "if (was & CLOSED_BIT) return this.#refused(); // WAITING is set",
    "// WAITING is set",
  ],
  c: ["if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;", ""],
  by: "closed when full",
}, {
  what: "does not notice that the queue was closed while it published",
  ts: ["if (still & CLOSED_BIT) return this.#refused();", ""],
  c: ["if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;", "(void)still;"],
  by: "closed while a push wakes the consumer",
}, {
  what: "frees and wakes nobody",
  by: "push, pop",
  ts: [
    "if (was & WAITING_BIT) { Atomics.notify(words, HEAD, 1); " +
    "strike(words, HEAD_GONG); }",
    "",
  ],
  c: ["if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);", ""],
}, {
  what: "wakes the producer before it frees",
  by: "push, pop, one slot",
  ts: [
    "let was = head;",
    "Atomics.notify(words, HEAD, 1);\nlet was = head;",
    [
      "if (was & WAITING_BIT) { Atomics.notify(words, HEAD, 1); " +
      "strike(words, HEAD_GONG); }",
      "",
    ],
  ],
  c: ["if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);", "", [
    "int32_t was = weft__compare_exchange(&q->head, head, next);",
    "weft__spsc_wake(&q->head); " +
    "int32_t was = weft__compare_exchange(&q->head, head, next);",
  ]],
}, {
  what: "frees by a store",
  ts: [
    "was = Atomics.compareExchange(words, HEAD, expected, kept); } " +
    "while (was !== expected);",
    "was = Atomics.load(words, HEAD); Atomics.store(words, HEAD, kept); } " +
    "while (false);",
  ],
  c: [
    "int32_t was = weft__compare_exchange(&q->head, head, next);",
    "int32_t was = head; weft__store(&q->head, next);",
  ],
  by: "the consumer closes",
}, {
  what: "frees nothing if somebody sleeps",
  by: "push, pop",
  ts: [
    "} while (was !== expected);",
    "} while (false);",
  ],
  c: ["if (was != head) weft__spsc_release_slow(q, was, next);", ""],
}, {
  what: "frees nothing if somebody sleeps, and it is closed meanwhile",
  by: "somebody else closes, one slot",
  ts: [
    "let was = head;",
    "let was = head, tries = 0;",
    [
      "} while (was !== expected);",
      "} while (was !== expected && ++tries < 2);",
    ],
  ],
  c: ["} while (was != expected);", "} while (false);"],
}, {
  what: "sleeps without asking for a wake",
  ts: [
    "const was = Atomics.compareExchange(words, index, idle, value);",
    "const was = idle;",
  ],
  c: [
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = idle;",
  ],
  by: "push, pop",
}, {
  what: "asks for a wake by a store",
  by: "push, pop",
  ts: [
    "const was = Atomics.compareExchange(words, index, idle, value);",
    "const was = Atomics.exchange(words, index, value);",
  ],
  c: [
    "int32_t was = weft__compare_exchange(word, idle, value);",
    "int32_t was = weft__exchange(word, value);",
  ],
}, {
  what: "asks for a wake at the wrong index",
  ts: [
    ": (words[TAIL]! & INDEX_MASK) - this.#span | 0;",
    ": (words[TAIL]! & INDEX_MASK);",
  ],
  c: [", span);", ", span - span);"],
  by: "push, pop",
}, {
  what: "asks the wrong side for a wake",
  by: "push, pop",
  ts: [
    'const index = end === "pop" ? TAIL : HEAD;',
    'const index = end === "pop" ? HEAD : TAIL;',
  ],
  c: [
    "int32_t *word = pushes ? &q->head : &q->tail;",
    "int32_t *word = pushes ? &q->tail : &q->head;",
  ],
}, {
  what: "sleeps only after its first request for a wake",
  ts: [
    "return was === idle || was === value ? { words, index, value }",
    "return was === idle ? { words, index, value }",
  ],
  c: ["if (was != idle && was != value) return", "if (was != idle) return"],
  by: "pop times out at any time",
}, {
  what: "closes only the producer's end",
  by: "closed when full",
  ts: ["for (const index of [TAIL, HEAD]) {", "for (const index of [TAIL]) {"],
  c: ["for (int i = 0; i < 2; i++)", "for (int i = 0; i < 1; i++)"],
}, {
  what: "closes only the consumer's end",
  by: "the producer closes",
  ts: ["for (const index of [TAIL, HEAD]) {", "for (const index of [HEAD]) {"],
  c: ["for (int i = 0; i < 2; i++)", "for (int i = 1; i < 2; i++)"],
}, {
  what: "closes and wakes nobody",
  by: "the producer closes",
  ts: [
    "Atomics.notify(this.#words, index); " +
    "strike(this.#words, index === TAIL ? TAIL_GONG : HEAD_GONG);",
    "",
  ],
  c: ["weft__spsc_wake(words[i]);", "continue;"],
}, {
  what: "closes by a store",
  by: "the producer closes",
  ts: [
    "const was = Atomics.or(this.#words, index, CLOSED_BIT);",
    "const was = Atomics.load(this.#words, index);\n" +
    "Atomics.store(this.#words, index, was | CLOSED_BIT);",
  ],
  c: [
    "if (weft__or(words[i], WEFT_SPSC_QUEUE_CLOSED_BIT) & " +
    "WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(words[i]);",
    "{ int32_t was = weft__load(words[i]); weft__store(words[i], was | " +
    "WEFT_SPSC_QUEUE_CLOSED_BIT); if (was & WEFT_SPSC_QUEUE_WAITING_BIT) " +
    "weft__spsc_wake(words[i]); }",
  ],
}, {
  what: "reports the end before it is empty",
  by: "the producer closes",
  ts: [
    "if (filled === 0 && tail & CLOSED_BIT) this.refuse();",
    "if (tail & CLOSED_BIT) this.refuse();",
  ],
  c: [
    "int32_t tail = weft__load(&q->tail); int32_t known",
    "int32_t tail = weft__load(&q->tail);\n" +
    "if (tail & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;\n" +
    "int32_t known",
  ],
}, {
  what: "does not notice that an empty queue is closed",
  ts: ["if (filled === 0 && tail & CLOSED_BIT) this.refuse();", ""],
  c: [
    "return tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? EPIPE : EBUSY;",
    "return EBUSY;",
  ],
  by: "the producer closes",
}, {
  what: "does not notice that a full queue is closed",
  header: "spsc_queue",
  ts: ["if (room === 0 && this.closed) this.refuse();", ""],
  c: [
    "return weft_spsc_queue_closed(q) ? EPIPE : EBUSY;",
    "(void)q; return EBUSY;",
  ],
  by: "closed when full",
}, {
  what: "compares its known room although indices wrap",
  header: "_spsc_words",
  by: "push, pop over the sign",
  ts: [
    "let room = this.#span - (tail - words[HEAD_CACHE]! | 0);",
    "let room = this.#span - (tail - words[HEAD_CACHE]!);",
    ["|| room > this.#span) {", ") {"],
  ],
  c: [
    "return (uint32_t)weft__minus(tail, q->head_cache) < weft__spsc_span(q);",
    "return (int64_t)tail - q->head_cache < (int64_t)weft__spsc_span(q);",
  ],
}, {
  what: "the index a producer sleeps on does not wrap",
  ts: [
    ": (words[TAIL]! & INDEX_MASK) - this.#span | 0; const value = " +
    "idle | WAITING_BIT;",
    ": (words[TAIL]! & INDEX_MASK) - this.#span;\n" +
    "const value = idle + WAITING_BIT;",
  ],
  c: "An int32_t always wraps",
  by: "a producer sleeps where the sign changes",
}, {
  what: "a batch goes past the end",
  header: "_spsc_words",
  by: "a batch over the end",
  ts: [
    "return Math.min(count, this.capacity - (index >>> 2 & this.#mask));",
    "return count;",
  ],
  c: [
    "return count < q->capacity - slot ? count : q->capacity - slot;",
    "(void)slot; return count;",
  ],
}, {
  what: "commits a slot in place twice",
  header: "spsc_queue",
  by: "in place",
  ts: [
    "this.#pushing = READY; return this.#publish",
    "this.#pushing = READY; this.#publish(this.#words[TAIL]! & INDEX_MASK, 1); return this.#publish",
  ],
  c: [
    "return weft__spsc_publish(q, weft__spsc_own(&q->tail), 1, false);",
    "int32_t tail = weft__spsc_own(&q->tail); " +
    "weft__spsc_publish(q, tail, 1, false); return " +
    "weft__spsc_publish(q, weft__plus(tail, WEFT_SPSC_QUEUE_ONE), 1, false);",
  ],
}, {
  what: "commits one more than it is told",
  header: "spsc_queue",
  by: "fewer than are reserved",
  ts: [
    "this.#publish(this.#words[TAIL]! & INDEX_MASK, n);",
    "this.#publish(this.#words[TAIL]! & INDEX_MASK, this.#reserved);",
  ],
  c: [
    "return weft__spsc_publish(q, tail, n, false);",
    "return weft__spsc_publish(q, tail, 2, false);",
  ],
}, {
  what: "consumes all that was peeked at",
  header: "spsc_queue",
  by: "fewer than are reserved",
  ts: [
    "this.#peeked = 0; if (n > 0) this.#release(this.#words[HEAD]! & INDEX_MASK, n);",
    "if (n > 0) this.#release(this.#words[HEAD]! & INDEX_MASK, this.#peeked);",
  ],
  c: [
    "if (n > 0) weft__spsc_release(q, head, n, false);",
    "if (n > 0) weft__spsc_release(q, head, seen, false);",
  ],
}, {
  what: "any agent pushes",
  header: "spsc_queue",
  by: "two agents push, of which one may",
  ts: [
    'takeRole(this.#words, PRODUCER, this.#id, "producer");',
    "",
  ],
  c: [
    "return weft__take_role(&q->producer);",
    "(void)q; return 0;",
  ],
}, {
  what: "any agent pops",
  header: "spsc_queue",
  by: "two agents pop, of which one may",
  ts: [
    'takeRole(this.#words, CONSUMER, this.#id, "consumer");',
    "",
  ],
  c: [
    "return weft__take_role(&q->consumer);",
    "(void)q; return 0;",
  ],
}, {
  what: "looks where to push before it has the role",
  header: "spsc_queue",
  by: "two agents push, one after the other",
  ts: [
    "this.#beginPush(); const tail = this.#words[TAIL]! & INDEX_MASK; // our own index",
    "const tail = this.#words[TAIL]! & INDEX_MASK;\nthis.#beginPush();",
  ],
  c: [
    "bool acts = weft__acts(&q->producer); if (WEFT__RARE(!acts) && " +
    "weft__spsc_begin_push(q) != 0) return EPERM; " +
    "return weft__spsc_push_int(q, value, acts);",
    "int32_t was = weft__load(&q->tail); if (weft__spsc_begin_push(q) != 0) " +
    "return EPERM; int result = weft__spsc_push_int(q, value, false); " +
    "if (result == 0) q->tail = weft__plus(was, 4); return result;",
  ],
}, {
  what: "writes a whole word where an element is a byte",
  header: "spsc_queue",
  by: "elements of a byte",
  ts: [
    "this.copier.put(src, 0, this.#at(tail), this.#wordsPer);",
    "this.copier.put(src, 0, this.#at(tail), Math.ceil(this.#wordsPer));",
  ],
  c: [
    "__builtin_memcpy(weft__spsc_slot(q, tail, size), src, size);",
    "__builtin_memcpy(weft__spsc_slot(q, tail, size), src, 4);",
  ],
}, {
  what: "looks where to pop before it has the role",
  header: "spsc_queue",
  by: "two agents pop, one after the other",
  ts: [
    "if (!this.#consumes) this.#consume(); return words[HEAD]! & INDEX_MASK;",
    "const head = words[HEAD]! & INDEX_MASK;\nif (!this.#consumes) this.#consume();\nreturn head;",
  ],
  c: [
    "bool acts = weft__acts(&q->consumer); if (WEFT__RARE(!acts) && " +
    "weft__spsc_begin_pop(q) != 0) return EPERM; " +
    "return weft__spsc_pop_int(q, value, acts);",
    "int32_t was = weft__load(&q->head); if (weft__spsc_begin_pop(q) != 0) " +
    "return EPERM; int result = weft__spsc_pop_int(q, value, false); " +
    "if (result == 0) q->head = weft__plus(was, 4); return result;",
  ],
});

const CLASS = mutants("spsc_queue", {
  what: "the second of two pieces is where the first one ends",
  by: "several in place, over the end",
  ts: [
    "pieceOf(queue, 0, count - first)",
    "pieceOf(queue, slot, count - first)",
  ],
  c: ["pieces->second = q + 1;", "pieces->second = pieces->first;"],
}, {
  what: "the first piece goes past the end",
  by: "several in place, over the end",
  ts: [
    "pieceOf(queue, slot, first),",
    "pieceOf(queue, slot, count),",
  ],
  c: [
    "pieces->first_count = weft__spsc_until_wrap(q, index, count);",
    "pieces->first_count = count;",
  ],
});

/** Mutants of `SpscQueue`. */
export const MUTANTS = [...CORE, ...CLASS];
