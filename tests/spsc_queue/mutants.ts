import { mutants, none } from "../_run/mutant.ts";

const CORE = mutants({
  source: "_queue/spsc/core",
  header: "_spsc_steps",
  scenarios: ["spsc_queue"],
}, {
  what: "closes its head once it has returned",
  by: "closed and drained, and freed when close left nothing to do",
  ts: "{+Promise.resolve().then(() => Atomics.or(this.#words, HEAD, " +
    "CLOSED_BIT)); +}for (const index of [TAIL[-, HEAD-]]) {",
  c: none("C does nothing once it has returned"),
}, {
  what: "SP1: publishes before it writes",
  header: "spsc_queue",
  by: "tryPush, tryPop",
  ts: "{+const done = this.#publish(tail, 1); +}this.#words[this.#at(tail)] " +
    "= value; [-// published by (P) return this.#publish(tail, 1)-]{+return " +
    "done+};",
  c: "[-*weft__spsc_int_at(q, tail) = value; /* published by (P) */ " +
    "return-]{+int result =+} weft__spsc_publish(q, tail, 1, acts);{+ " +
    "*weft__spsc_int_at(q, tail) = value; return result;+}",
}, {
  what: "SP1: publishes a batch before it writes the second half",
  header: "spsc_queue",
  by: "a batch over the end",
  ts: "{+const done = this.#publish(tail, count); +}if (count > first) { " +
    "this.copier.put(src, first * per, DATA, (count - first) * per); } " +
    "return [-this.#publish(tail, count)-]{+done+} ? count : 0;",
  c: "{+int result = weft__spsc_publish(q, tail, count, false); " +
    "+}__builtin_memcpy(q + 1, from + first * size, ((size_t)count - first) " +
    "* size); return [-weft__spsc_publish(q, tail, count, false)-]{+result+} " +
    "== 0 ? count : -EPIPE;",
}, {
  what: "SP2: notices one element too late that it is full",
  by: "tryPush, tryPop",
  inC: "batches",
  ts: "room = this.#span{+ + ONE+} - (tail - head | 0);",
  c: " room = q->capacity{+ + 1+} - (weft__minus(tail, q->head_cache) >> 2); " +
    "return",
}, {
  what:
    "SP2: notices one element too late that it is full, by the cached index",
  by: "tryPush, tryPop",
  inC: "a batch over the end",
  ts: "let room = this.#span{+ + ONE+} - (tail - words[HEAD_CACHE]! | 0);",
  c: "int32_t room = q->capacity{+ + 1+} - (weft__minus(tail, q->head_cache) " +
    ">> 2);",
}, {
  what: "SP3: frees before it reads",
  header: "spsc_queue",
  by: "tryPush, tryPop",
  ts: "{+this.#release(head, 1); +}const value = " +
    "this.#words[this.#at(head)]!;[- // published by (P) this.#release(head, " +
    "1);-]",
  c: "{+weft__spsc_release(q, head, 1, acts); +}*value = " +
    "*weft__spsc_int_at(q, head);[- /* published by (P) */ " +
    "weft__spsc_release(q, head, 1, acts);-]",
}, {
  what: "SP3: frees a batch before it reads",
  header: "spsc_queue",
  by: "a batch over the end",
  ts: "{+this.#release(head, count); +}if (count > first) { " +
    "this.copier.get(dst, first * per, DATA, (count - first) * per); }[- " +
    "this.#release(head, count);-]",
  c: "{+weft__spsc_release(q, head, count, false); +}__builtin_memcpy(to + " +
    "first * size, q + 1, ((size_t)count - first) * size);[- " +
    "weft__spsc_release(q, head, count, false);-]",
}, {
  what: "SP4: the consumer never looks at the producer's index",
  by: "tryPush, tryPop",
  ts: "const tail = [-Atomics.load(words, TAIL)-]{+words[TAIL_CACHE]!+}; " +
    "words[TAIL_CACHE]",
  c: "int32_t tail = [-weft__load(&q->tail)-]{+q->tail_cache+}; int32_t known",
}, {
  what: "SP4: the producer never looks at the consumer's index",
  by: "tryPush, tryPop",
  ts: "const head = [-Atomics.load(words, HEAD) & " +
    "INDEX_MASK-]{+words[HEAD_CACHE]!+}; words[HEAD_CACHE]",
  c: "[-q->head_cache = weft__receive(&q->head) & " +
    "WEFT_SPSC_QUEUE_INDEX_MASK;-]",
}, {
  what: "SP5: reads the producer's index plainly",
  by: "tryPush, tryPop",
  ts: "const tail = [-Atomics.load(words, TAIL)-]{+words[TAIL]!+}; " +
    "words[TAIL_CACHE]",
  c: "int32_t tail = [-weft__load(&q->tail)-]{+*(volatile int32_t " +
    "*)&q->tail+}; int32_t known",
}, {
  what: "SP5: reads the consumer's index plainly",
  by: "tryPush, tryPop",
  ts: "const head = [-Atomics.load(words, HEAD)-]{+words[HEAD]!+} & " +
    "INDEX_MASK; words[HEAD_CACHE]",
  c: "q->head_cache = [-weft__receive(&q->head)-]{+*(volatile int32_t " +
    "*)&q->head+} & WEFT_SPSC_QUEUE_INDEX_MASK;",
}, {
  what: "takes the flag bits for a part of the index",
  header: "spsc_queue",
  by: "closed when full",
  ts: "const tail = this.#words[TAIL]![- & INDEX_MASK-]; // our own",
  c: "weft__spsc_push_int(weft_spsc_queue *q, int32_t value, bool acts) { " +
    "int32_t tail = [-weft__spsc_own-]{+weft__hint+}(&q->tail);",
}, {
  what: "takes the flag bits for a part of the consumer's index",
  ts: "const head = Atomics.load(words, HEAD)[- & INDEX_MASK-]; " +
    "words[HEAD_CACHE]",
  c: "q->head_cache = [-weft__receive(&q->head) & " +
    "WEFT_SPSC_QUEUE_INDEX_MASK-]{+weft__load(&q->head)+};",
  by: "closed when full",
}, {
  what: "publishes by a store",
  by: "push, pop",
  ts: "const was = Atomics.[-compareExchange(words, TAIL, tail, next); if " +
    "(was === tail) return true;-]{+load(words, TAIL); if (was === tail) { " +
    "Atomics.store(words, TAIL, next); return true; }+}",
  c: "int32_t was = [-weft__compare_exchange(&q->tail, tail, " +
    "-]{+weft__load(&q->tail); if (was == tail) weft__store(&q->tail, " +
    "+}next);",
}, {
  what: "publishes by a store although a consumer sleeps",
  ts: "const still = {+was; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "TAIL, [-was, -]next);",
  c: "int32_t still = [-weft__compare_exchange(&q->tail, was, -]{+was; " +
    "weft__store(&q->tail, +}next);",
  by: "closed while a push wakes the consumer",
}, {
  what: "publishes and wakes nobody",
  by: "push, pop",
  ts: "if (still & CLOSED_BIT) return this.#refused();[- " +
    "Atomics.notify(words, TAIL, 1);-]",
  c: "[-weft__spsc_wake(&q->tail); -]return 0;",
}, {
  what: "wakes the consumer before it publishes",
  by: "push, pop",
  ts: [
    "{+Atomics.notify(words, TAIL, 1); +}const still = " +
    "Atomics.compareExchange(words, TAIL, was, next);",
    "return this.#refused();[- Atomics.notify(words, TAIL, 1);-]",
  ],
  c: [
    "[-weft__spsc_wake(&q->tail); -]return 0;",
    "{+weft__spsc_wake(&q->tail); +}int32_t still = weft__compare_exchange",
  ],
}, {
  what: "pushes into a closed queue",
  ts: "[-if (was & CLOSED_BIT) return this.#refused(); -]// WAITING is set",
  c: "[-if (was & WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE;-]",
  by: "closed when full",
}, {
  what: "does not notice that the queue was closed while it published",
  ts: "[-if (still & CLOSED_BIT) return this.#refused();-]",
  c: "[-if (still & WEFT_SPSC_QUEUE_CLOSED_BIT) return " +
    "EPIPE;-]{+(void)still;+}",
  by: "closed while a push wakes the consumer",
}, {
  what: "frees and wakes nobody",
  by: "push, pop",
  ts: "[-if (was & WAITING_BIT) { Atomics.notify(words, HEAD, 1); " +
    "strike(words, HEAD_GONG); }-]",
  c: "[-if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);-]",
}, {
  what: "wakes the producer before it frees",
  by: "push, pop, one slot",
  ts: [
    "{+Atomics.notify(words, HEAD, 1); +}let was = head;",
    "[-if (was & WAITING_BIT) { Atomics.notify(words, HEAD, 1); " +
    "strike(words, HEAD_GONG); }-]",
  ],
  c: [
    "[-if (was & WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(&q->head);-]",
    "{+weft__spsc_wake(&q->head); +}int32_t was = " +
    "weft__compare_exchange(&q->head, head, next);",
  ],
}, {
  what: "frees by a store",
  ts: "was = Atomics.[-compareExchange-]{+load+}(words, HEAD[-, " +
    "expected-]{+); Atomics.store(words, HEAD+}, kept); } while ([-was !== " +
    "expected-]{+false+});",
  c: "int32_t was = [-weft__compare_exchange(&q->head, head, -]{+head; " +
    "weft__store(&q->head, +}next);",
  by: "the consumer closes",
}, {
  what: "frees nothing if somebody sleeps",
  by: "push, pop",
  ts: "} while ([-was !== expected-]{+false+});",
  c: "[-if (was != head) weft__spsc_release_slow(q, was, next);-]",
}, {
  what: "frees nothing if somebody sleeps, and it is closed meanwhile",
  by: "somebody else closes, one slot",
  ts: [
    "let was = head{+, tries = 0+};",
    "} while (was !== expected{+ && ++tries < 2+});",
  ],
  c: "} while ([-was != expected-]{+false+});",
}, {
  what: "sleeps without asking for a wake",
  ts: "const was = [-Atomics.compareExchange(words, index, idle, " +
    "value)-]{+idle+};",
  c: "int32_t was = [-weft__compare_exchange(word, idle, value)-]{+idle+};",
  by: "push, pop",
}, {
  what: "asks for a wake by a store",
  by: "push, pop",
  ts: "const was = Atomics.[-compareExchange-]{+exchange+}(words, index, " +
    "[-idle, -]value);",
  c: "int32_t was = [-weft__compare_exchange(word, " +
    "idle-]{+weft__exchange(word+}, value);",
}, {
  what: "asks for a wake at the wrong index",
  ts: ": (words[TAIL]! & INDEX_MASK)[- - this.#span | 0-];",
  c: ",{+ span -+} span);",
  by: "push, pop",
}, {
  what: "asks the wrong side for a wake",
  by: "push, pop",
  ts: 'const index = end === "pop" ? [-TAIL : HEAD-]{+HEAD : TAIL+};',
  c: "int32_t *word = pushes ? &q->[-head : &q->tail-]{+tail : &q->head+};",
}, {
  what: "sleeps only after its first request for a wake",
  ts: "return was === idle[- || was === value-] ? { words, index, value }",
  c: "if (was != idle[- && was != value-]) return",
  by: "pop times out at any time",
}, {
  what: "closes only the producer's end",
  by: "closed when full",
  ts: "for (const index of [TAIL[-, HEAD-]]) {",
  c: "for (int i = 0; i < [-2-]{+1+}; i++)",
}, {
  what: "closes only the consumer's end",
  by: "the producer closes",
  ts: "for (const index of [[-TAIL, -]HEAD]) {",
  c: "for (int i = [-0-]{+1+}; i < 2; i++)",
}, {
  what: "closes and wakes nobody",
  by: "the producer closes",
  ts: "[-Atomics.notify(this.#words, index); strike(this.#words, index === " +
    "TAIL ? TAIL_GONG : HEAD_GONG);-]",
  c: "[-weft__spsc_wake(words[i]);-]{+continue;+}",
}, {
  what: "closes by a store",
  by: "the producer closes",
  ts: "const was = Atomics.[-or-]{+load(this.#words, index); " +
    "Atomics.store+}(this.#words, index, {+was | +}CLOSED_BIT);",
  c: "[-if (weft__or(words[i], -]{+{ int32_t was = weft__load(words[i]); " +
    "weft__store(words[i], was | +}WEFT_SPSC_QUEUE_CLOSED_BIT){+; if (was+} " +
    "& WEFT_SPSC_QUEUE_WAITING_BIT) weft__spsc_wake(words[i]);{+ }+}",
}, {
  what: "reports the end before it is empty",
  by: "the producer closes",
  ts: "if ([-filled === 0 && -]tail & CLOSED_BIT) this.refuse();",
  c: "int32_t tail = weft__load(&q->tail); {+if (tail & " +
    "WEFT_SPSC_QUEUE_CLOSED_BIT) return EPIPE; +}int32_t known",
}, {
  what: "does not notice that an empty queue is closed",
  ts: "[-if (filled === 0 && tail & CLOSED_BIT) this.refuse();-]",
  c: "return[- tail & WEFT_SPSC_QUEUE_CLOSED_BIT ? EPIPE :-] EBUSY;",
  by: "the producer closes",
}, {
  what: "does not notice that a full queue is closed",
  header: "spsc_queue",
  ts: "[-if (room === 0 && this.closed) this.refuse();-]",
  c: "[-return weft_spsc_queue_closed(q) ? EPIPE : EBUSY;-]{+(void)q; return " +
    "EBUSY;+}",
  by: "closed when full",
}, {
  what: "compares its known room although indices wrap",
  header: "_spsc_words",
  by: "push, pop over the sign",
  ts: [
    "let room = this.#span - (tail - words[HEAD_CACHE]![- | 0-]);",
    "[-|| room > this.#span-]) {",
  ],
  c: "return ([-uint32_t)weft__minus(tail,-]{+int64_t)tail -+} " +
    "q->head_cache[-) < -]{+ < (int64_t)+}weft__spsc_span(q);",
}, {
  what: "the index a producer sleeps on does not wrap",
  ts: ": (words[TAIL]! & INDEX_MASK) - this.#span[- | 0-]; const value = " +
    "idle [-|-]{+++} WAITING_BIT;",
  c: none("An int32_t always wraps"),
  by: "a producer sleeps where the sign changes",
}, {
  what: "a batch goes past the end",
  header: "_spsc_words",
  by: "a batch over the end",
  ts: "return [-Math.min(count, this.capacity - (index >>> 2 & " +
    "this.#mask))-]{+count+};",
  c: "{+(void)slot; +}return count[- < q->capacity - slot ? count : " +
    "q->capacity - slot-];",
}, {
  what: "commits a slot in place twice",
  header: "spsc_queue",
  by: "in place",
  ts: "this.#pushing = READY; {+this.#publish(this.#words[TAIL]! & " +
    "INDEX_MASK, 1); +}return this.#publish",
  c: "[-return weft__spsc_publish(q,-]{+int32_t tail =+} " +
    "weft__spsc_own(&q->tail)[-, 1, false);-]{+; weft__spsc_publish(q, tail, " +
    "1, false); return weft__spsc_publish(q, weft__plus(tail, " +
    "WEFT_SPSC_QUEUE_ONE), 1, false);+}",
}, {
  what: "commits one more than it is told",
  header: "spsc_queue",
  by: "fewer than are reserved",
  ts: "this.#publish(this.#words[TAIL]! & INDEX_MASK, " +
    "[-n-]{+this.#reserved+});",
  c: "return weft__spsc_publish(q, tail, [-n-]{+2+}, false);",
}, {
  what: "consumes all that was peeked at",
  header: "spsc_queue",
  by: "fewer than are reserved",
  ts: "[-this.#peeked = 0; -]if (n > 0) this.#release(this.#words[HEAD]! & " +
    "INDEX_MASK, [-n-]{+this.#peeked+});",
  c: "if (n > 0) weft__spsc_release(q, head, [-n-]{+seen+}, false);",
}, {
  what: "any agent pushes",
  header: "spsc_queue",
  by: "two agents push, of which one may",
  ts: '[-takeRole(this.#words, PRODUCER, this.#id, "producer");-]',
  c: "[-return weft__take_role(&q->producer);-]{+(void)q; return 0;+}",
}, {
  what: "any agent pops",
  header: "spsc_queue",
  by: "two agents pop, of which one may",
  ts: '[-takeRole(this.#words, CONSUMER, this.#id, "consumer");-]',
  c: "[-return weft__take_role(&q->consumer);-]{+(void)q; return 0;+}",
}, {
  what: "looks where to push before it has the role",
  header: "spsc_queue",
  by: "two agents push, one after the other",
  ts: "[-this.#beginPush(); -]const tail = this.#words[TAIL]! & INDEX_MASK; " +
    "[-// our own index-]{+this.#beginPush();+}",
  c: "[-bool acts = weft__acts(&q->producer); if (WEFT__RARE(!acts) && " +
    "-]{+int32_t was = weft__load(&q->tail); if (+}weft__spsc_begin_push(q) " +
    "!= 0) return EPERM; [-return-]{+int result =+} weft__spsc_push_int(q, " +
    "value, [-acts);-]{+false); if (result == 0) q->tail = weft__plus(was, " +
    "4); return result;+}",
}, {
  what: "writes a whole word where an element is a byte",
  header: "spsc_queue",
  by: "elements of a byte",
  ts: "this.copier.put(src, 0, this.#at(tail), " +
    "{+Math.ceil(+}this.#wordsPer){+)+};",
  c: "__builtin_memcpy(weft__spsc_slot(q, tail, size), src, [-size-]{+4+});",
}, {
  what: "looks where to pop before it has the role",
  header: "spsc_queue",
  by: "two agents pop, one after the other",
  ts: "{+const head = words[HEAD]! & INDEX_MASK; +}if (!this.#consumes) " +
    "this.#consume(); return [-words[HEAD]! & INDEX_MASK-]{+head+};",
  c: "[-bool acts = weft__acts(&q->consumer); if (WEFT__RARE(!acts) && " +
    "-]{+int32_t was = weft__load(&q->head); if (+}weft__spsc_begin_pop(q) " +
    "!= 0) return EPERM; [-return-]{+int result =+} weft__spsc_pop_int(q, " +
    "value, [-acts);-]{+false); if (result == 0) q->head = weft__plus(was, " +
    "4); return result;+}",
});

const CLASS = mutants("spsc_queue", {
  what: "the second of two pieces is where the first one ends",
  by: "several in place, over the end",
  ts: "pieceOf(queue, [-0-]{+slot+}, count - first)",
  c: "pieces->second = [-q + 1-]{+pieces->first+};",
}, {
  what: "the first piece goes past the end",
  by: "several in place, over the end",
  ts: "pieceOf(queue, slot, [-first-]{+count+}),",
  c: "pieces->first_count = [-weft__spsc_until_wrap(q, index, " +
    "count)-]{+count+};",
});

/** Mutants of `SpscQueue`. */
export const MUTANTS = [...CORE, ...CLASS];
