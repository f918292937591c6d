import { mutants, none, type Place } from "../_run/mutant.ts";

const CORE: Place = {
  source: "_queue/mpmc/core",
  header: "mpmc_queue",
  scenarios: ["mpmc_queue"],
};

/** Mutants of `MpmcQueue`. */
export const MUTANTS = mutants(CORE, {
  what: "MQ1: publishes before it writes",
  by: "tryPush, tryPop",
  ts: "{+this.#publish(ticket); +}this.#words[this.#slot(ticket) + ELEMENT] " +
    "= value;[- // published by (P) this.#publish(ticket);-]",
  c: "{+weft__mpmc_publish(slot, ticket); +}slot[WEFT__MPMC_ELEMENT] = " +
    "value;[- /* published by (P) */ weft__mpmc_publish(slot, ticket);-]",
}, {
  what: "closes, and wakes producers once it has returned",
  by: "closed and drained, and freed when close left nothing to do",
  ts: "wake(this.#words, POP_EPOCH, Infinity); " +
    "[-wake(this.#-]{+Promise.resolve().then(() => wake(+}words, PUSH_EPOCH, " +
    "Infinity){+)+}; }",
  c: none("C does nothing once it has returned"),
}, {
  what: "MQ1: publishes a batch before it writes",
  by: "an array wakes a consumer",
  ts: "{+this.#publish(ticket); +}this.copier.put(src, i * per, " +
    "this.#slot(ticket) + ELEMENT, per);[- this.#publish(ticket);-]",
  c: "{+weft__mpmc_publish(slot, ticket); +}__builtin_memcpy(slot + " +
    "WEFT__MPMC_ELEMENT, from + (size_t)i * size, size);[- " +
    "weft__mpmc_publish(slot, ticket);-]",
}, {
  what: "MQ2: frees a slot for a lap that is too short",
  by: "tryPush thrice, tryPop thrice",
  ts: "const next = ticket + {+(+}this.capacity{+ - 1)+} * ONE | 0; " +
    "Atomics.store",
  c: "weft__plus(ticket, {+(+}q->capacity {+- 1) +}* WEFT_MPMC_QUEUE_ONE)",
}, {
  what: "MQ3: frees before it reads",
  by: "tryPush thrice, tryPop thrice",
  ts: "{+this.#free(ticket); +}const value = this.#words[this.#slot(ticket) " +
    "+ ELEMENT]!;[- // published by (P) this.#free(ticket);-]",
  c: "[-*value = slot[WEFT__MPMC_ELEMENT]; /* published by (P) */ " +
    "-]weft__mpmc_free(q, slot, ticket);{+ *value = " +
    "slot[WEFT__MPMC_ELEMENT];+}",
}, {
  what: "MQ3: frees a batch before it reads",
  by: "an array wakes a producer",
  ts: "{+this.#free(ticket); +}this.copier.get(dst, i * per, " +
    "this.#slot(ticket) + ELEMENT, per);[- this.#free(ticket);-]",
  c: "{+weft__mpmc_free(q, slot, ticket); +}__builtin_memcpy(to + (size_t)i " +
    "* size, slot + WEFT__MPMC_ELEMENT, size);[- weft__mpmc_free(q, slot, " +
    "ticket);-]",
}, {
  what: "MQ4: claims to push by a store",
  by: "a producer that others overtake twice",
  ts: "const seen = {+tail; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "TAIL, [-tail, -]next);",
  c: "int32_t seen = [-weft__compare_exchange(&q->tail, tail, -]{+tail; " +
    "weft__store(&q->tail, +}next);",
}, {
  what: "MQ5: writes before it owns the slot",
  by: "tryPush thrice, tryPop thrice",
  ts: "{+this.#words[this.#slot(this.#words[TAIL]!) + ELEMENT] = value; " +
    "+}const ticket = this.#claimPush(1); if (ticket === undefined) return " +
    "false; this.#words",
  c: "{+weft__mpmc_slot(q, weft__hint(&q->tail))[WEFT__MPMC_ELEMENT] = " +
    "value; +}int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if " +
    "(count <= 0) return count == 0 ? EBUSY : -count; int32_t *slot = " +
    "weft__mpmc_slot_of(q, ticket, 4);[- slot[WEFT__MPMC_ELEMENT] = value;-]",
}, {
  what: "MQ6: pushes one element too many",
  by: "tryPush thrice, tryPop thrice",
  ts: "if (turn === tail{+ || turn === (tail - this.capacity * ONE + FILLED " +
    "| 0)+}) { const count",
  c: "[-if (-]{+int32_t turn = +}weft__load(weft__mpmc_slot(q, tail))[- == " +
    "tail-]{+; if (turn == tail || turn == weft__plus(weft__minus(tail, " +
    "q->capacity * WEFT_MPMC_QUEUE_ONE), WEFT_MPMC_QUEUE_FILLED)+}) { " +
    "int32_t count",
}, {
  what: "MQ7: slots begin without turns",
  by: "batches, two agents",
  ts: "[-for (let i = 0; i < capacity; i++) words[SLOTS + i * stride] = i * " +
    "ONE;-]",
  c: none(
    "JavaScript makes the memory here; tests/_twin tests memory that C makes",
  ),
}, {
  what: "MQ8: tickets wrap before their slots do",
  by: "over the wrap",
  ts: "SLOTS + (ticket [->>> 1-]{+/ 2 + +(ticket < 0)+} & this.#mask) * " +
    "this.#stride",
  c: "uint32_t slot = ([-(-]uint32_t)[-ticket >> 1-]{+(ticket / 2 + (ticket " +
    "< 0)+}) & (uint32_t)(q->capacity - 1);",
}, {
  what: "MQ9: claims to pop by a store",
  by: "both do both",
  ts: "const seen = {+head; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "HEAD, [-head, -]next);",
  c: "int32_t seen = [-weft__compare_exchange(&q->head, head, -]{+head; " +
    "weft__store(&q->head, +}next);",
}, {
  what: "MQ10: spins on an old ticket to push",
  by: "a producer that others overtake twice",
  ts: "[-tail = seen; -]continue;",
  c: "[-tail = seen; -]continue;",
}, {
  what: "MQ10: spins on an old ticket to pop",
  by: "both do both",
  ts: "[-head = seen; -]continue;",
  c: "[-head = seen; -]continue;",
}, {
  what: "MQ11: reads the turn plainly, to push",
  by: "tryPush thrice, tryPop thrice",
  ts: "const turn = [-Atomics.load(words, " +
    "-]{+words[+}this.#slot(tail)[-)-]{+]+}; if (turn === tail)",
  c: "if ([-weft__load(-]{+*+}weft__mpmc_slot(q, tail[-)-]) == tail) { " +
    "int32_t count",
}, {
  what: "MQ11: reads the turn plainly, to pop",
  by: "tryPush, tryPop",
  ts: "const turn = [-Atomics.load(words, " +
    "-]{+words[+}this.#slot(head)[-)-]{+]+};",
  c: "int32_t turn = [-weft__load(-]{+*+}weft__mpmc_slot(q, head)[-)-];",
}, {
  what: "publishes by a plain store",
  by: "tryPush, tryPop",
  ts: "[-Atomics.store(this.#words, this.#slot(ticket), ticket + FILLED | " +
    "0)-]{+this.#words[this.#slot(ticket)] = ticket + FILLED | 0+};",
  c: "[-weft__hand(slot,-]{+*slot =+} weft__plus(ticket, " +
    "WEFT_MPMC_QUEUE_FILLED)[-)-];",
}, {
  what: "frees by a plain store",
  by: "tryPush thrice, tryPop thrice",
  ts: "[-Atomics.store(-]this.#words[-, -]{+[+}this.#slot(ticket)[-, " +
    "next)-]{+] = next+};",
  c: "[-weft__hand(slot,-]{+*slot =+} weft__plus(ticket, q->capacity * " +
    "WEFT_MPMC_QUEUE_ONE)[-)-];",
}, {
  what: "believes an old hint that it is full",
  by: "both do both",
  inC: "a producer that others overtake twice",
  ts: "[-const seen = Atomics.load(words, TAIL); if (seen === tail) -]return " +
    "undefined;[- tail = seen;-]",
  c: "[-int32_t seen = weft__load(&q->tail); if (seen == tail) -]return 0;[- " +
    "tail = seen;-]",
}, {
  what: "believes an old hint that it is empty",
  by: "both do both",
  inC: "a consumer that others overtake twice",
  ts: "const seen = [-Atomics.load(words, HEAD)-]{+head+}; if (seen === " +
    "head) {",
  c: "int32_t seen = [-weft__load(&q->head)-]{+head+}; if (seen == head) {",
}, {
  what: "reads the next ticket plainly to decide that it is full",
  by: "close wakes a producer",
  ts: "const seen = [-Atomics.load(words, TAIL)-]{+words[TAIL]!+}; if (seen " +
    "=== tail)",
  c: none(
    "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
  ),
}, {
  what: "pushes into a closed queue",
  by: "close wakes a producer",
  ts: "[-if (tail & -]{+tail &= ~+}CLOSED_BIT[-) return this.refuse() as " +
    "undefined-];",
  c: [
    "[-if (tail & -]{+tail &= ~+}WEFT_MPMC_QUEUE_CLOSED_BIT[-) return " +
    "-EPIPE-];",
    "int32_t [-next = weft__plus(-]{+seen = weft__add(&q->+}tail, count * " +
    "WEFT_MPMC_QUEUE_ONE); [-int32_t seen = " +
    "weft__compare_exchange(&q->tail, tail, next); if (seen-]{+if ((seen & " +
    "~WEFT_MPMC_QUEUE_CLOSED_BIT)+} == tail) {",
  ],
}, {
  what: "reports the end before the last element is published",
  by: "close and pop while a push is under way",
  ts: "if (Atomics.load(words, TAIL) [-=== (head |-]{+&+} CLOSED_BIT[-)-]) " +
    "this.refuse();",
  c: "[-return weft__load(&q->tail) == drained ? -EPIPE : " +
    "0;-]{+(void)drained; return weft_mpmc_queue_closed(q) ? -EPIPE : 0;+}",
}, {
  what: "does not notice that an empty queue is closed",
  by: "close wakes a consumer",
  ts: "[-if (Atomics.load(words, TAIL) === (head | CLOSED_BIT)) " +
    "this.refuse();-]",
  c: "[-return weft__load(&q->tail) == drained ? -EPIPE : " +
    "0;-]{+(void)drained; return 0;+}",
}, {
  what: "closes by a store",
  by: "close and pop while a push is under way",
  ts: "[-if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) " +
    "return-]{+const was = Atomics.load(words, TAIL); Atomics.store(words, " +
    "TAIL, was | CLOSED_BIT)+};",
  c: "[-if (weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) & " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT) return;-]{+int32_t was = " +
    "weft__load(&q->tail); weft__store(&q->tail, was | " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT);+}",
}, {
  what: "closes and wakes one consumer",
  by: "close wakes a consumer",
  ts: "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;[- " +
    "wake(this.#words, POP_EPOCH, Infinity);-]",
  c: "return;[- weft__event_wake_end(&q->pop_epoch, WEFT__ALL);-]",
}, {
  what: "closes and wakes no producer",
  by: "close wakes a producer",
  ts: "wake(this.#words, POP_EPOCH, Infinity); [-wake(this.#words, " +
    "PUSH_EPOCH, Infinity); -]}",
  c: "weft__event_wake_end(&q->pop_epoch, WEFT__ALL); " +
    "[-weft__event_wake_end(&q->push_epoch, WEFT__ALL); -]}",
}, {
  what: "wakes the consumers before it closes",
  by: "close wakes a consumer",
  ts: "{+wake(this.#words, POP_EPOCH, Infinity); +}if (Atomics.or(words, " +
    "TAIL, CLOSED_BIT) & CLOSED_BIT) return;[- wake(this.#words, POP_EPOCH, " +
    "Infinity);-]",
  c: "{+weft__event_wake_end(&q->pop_epoch, WEFT__ALL); +}if " +
    "(weft__or(&q->tail, WEFT_MPMC_QUEUE_CLOSED_BIT) & " +
    "WEFT_MPMC_QUEUE_CLOSED_BIT) return;[- " +
    "weft__event_wake_end(&q->pop_epoch, WEFT__ALL);-]",
}, {
  what: "pushes and wakes nobody",
  by: "push, pop",
  ts: "[-// published by (P)-] this.#publish(ticket); [-wake(this.#words, " +
    "POP_EPOCH, 1); -]return true;",
  c: "weft__mpmc_publish(slot, ticket);[- " +
    "weft__event_wake_end(&q->pop_epoch, 1);-]",
}, {
  what: "wakes before it publishes",
  by: "push, pop",
  ts: "[-// published by (P) this.#publish(ticket);-] wake(this.#words, " +
    "POP_EPOCH, 1); {+this.#publish(ticket); +}return true;",
  c: "[-weft__mpmc_publish(slot, ticket); " +
    "-]weft__event_wake_end(&q->pop_epoch, 1);{+ weft__mpmc_publish(slot, " +
    "ticket);+}",
}, {
  what: "pops and wakes nobody",
  by: "push, pop, one slot",
  ts: "this.#free(ticket); [-wake(this.#words, PUSH_EPOCH, 1); -]return value;",
  c: "weft__mpmc_free(q, slot, ticket);[- " +
    "weft__event_wake_end(&q->push_epoch, 1);-]",
}, {
  what: "wakes before it frees",
  by: "push, pop, one slot",
  ts: "[-this.#free(ticket); -]wake(this.#words, PUSH_EPOCH, 1); " +
    "{+this.#free(ticket); +}return value;",
  c: "[-weft__mpmc_free(q, slot, ticket); " +
    "-]weft__event_wake_end(&q->push_epoch, 1); {+weft__mpmc_free(q, slot, " +
    "ticket); +}return 0;",
}, {
  what: "wakes consumers instead of producers",
  by: "push, pop, one slot",
  ts: "this.#free(ticket); wake(this.#words, [-PUSH_EPOCH-]{+POP_EPOCH+}, " +
    "1); return value;",
  c: "weft__mpmc_free(q, slot, ticket); " +
    "weft__event_wake_end(&q->[-push_epoch-]{+pop_epoch+}, 1); return 0;",
}, {
  what: "pushes a batch and wakes nobody",
  by: "an array wakes a consumer",
  ts: "[-wake(this.#words, POP_EPOCH, count); -]return count;",
  c: "[-weft__event_wake_end(&q->pop_epoch, count); -]return count;",
}, {
  what: "pops a batch and wakes nobody",
  by: "an array wakes a producer",
  ts: "[-wake(this.#words, PUSH_EPOCH, count); -]return count;",
  c: "[-weft__event_wake_end(&q->push_epoch, count); -]return count;",
}, {
  what: "commits and wakes nobody",
  by: "in place wakes a consumer",
  ts: "this.#reserved = undefined; this.#publish(ticket);[- " +
    "wake(this.#words, POP_EPOCH, 1);-]",
  c: "weft__mpmc_publish(turn, weft__load(turn));[- " +
    "weft__event_wake_end(&q->pop_epoch, 1);-]",
}, {
  what: "consumes and wakes nobody",
  by: "in place wakes a producer",
  ts: "this.#peeked = undefined; this.#free(ticket);[- wake(this.#words, " +
    "PUSH_EPOCH, 1);-]",
  c: "weft__mpmc_free(q, turn, weft__minus(filled, " +
    "WEFT_MPMC_QUEUE_FILLED));[- weft__event_wake_end(&q->push_epoch, 1);-]",
}, {
  what: "a batch claims slots that are not its own",
  by: "batches, two agents",
  ts: "[-if (turn !== (next + state | 0)) break;-]",
  c: "[-if (weft__load(weft__mpmc_slot(q, next)) != weft__plus(next, state)) " +
    "break;-]{+(void)next; (void)state;+}",
}, {
  what: "a batch claims fewer slots than it takes",
  by: "batches, two agents",
  ts: "const count = n === 1 ? 1 : this.#run(tail, n, 0); const next = tail " +
    "+ [-count * -]ONE | 0;",
  c: "weft__mpmc_run(q, tail, n, 0); int32_t next = weft__plus(tail, [-count " +
    "* -]WEFT_MPMC_QUEUE_ONE);",
}, {
  what: "a pop that is woken too early does not pass on the wake",
  by: "two consumers, the element in front comes last",
  ts: "[-if (this.poppable()) wake(words, POP_EPOCH, this.closed ? Infinity " +
    ": 1);-]",
  c: "[-if (weft__mpmc_poppable(q)) weft__event_wake_end(&q->pop_epoch, " +
    "weft_mpmc_queue_closed(q) ? WEFT__ALL : 1);-]{+(void)q;+}",
}, {
  what: "a push that is woken too early does not pass on the wake",
  by: "two producers, the slot in front comes last",
  ts: "else if ([-Atomics.load(words, this.#slot(tail)) === tail-]{+false+}) {",
  c: "[-else if (weft__load(weft__mpmc_slot(q, tail)) == tail) " +
    "weft__event_wake_end(&q->push_epoch, 1);-]",
}, {
  what: "frees a slot for the same lap",
  by: "tryPush thrice, tryPop thrice",
  ts: "const next = ticket[- + this.capacity * ONE | 0-]; Atomics.store",
  c: "weft__plus(ticket, [-q->capacity * WEFT_MPMC_QUEUE_ONE-]{+0+})",
}, {
  what: "does not tell consumers that a producer died",
  by: "consumers of a dead producer are told",
  ts: "Atomics.load(words, this.#slot(head)) === head) {[- at = head;-]",
  c: "weft__load(weft__mpmc_slot(q, head)) == head) return " +
    "[-(uint32_t)head-]{+-1+};",
}, {
  what: "does not tell producers that a consumer died",
  by: "producers of a dead consumer are told",
  ts: "(head - before | 0) > 0) [-at = tail;-]{+{}+}",
  c: "return taken ? [-(int64_t)(uint32_t)tail-]{+-1+} : -1;",
}, {
  what: "takes an empty queue for one that a producer blocks",
  by: "nobody is told of a queue that is empty",
  ts: "if ([-head !== tail && -]Atomics.load",
  c: "if ([-head != tail && -]weft__load",
}, {
  what: "takes a full queue for one that a consumer blocks",
  by: "nobody is told of a queue that is full",
  ts: "[-&& (head - before | 0) > 0-]) at = tail;",
  c: "weft__plus(before, WEFT_MPMC_QUEUE_FILLED)[- && weft__minus(head, " +
    "before) > 0-];",
}, {
  what: "tells what is stuck at the first look",
  by: "nobody is told at the first look",
  ts: "if (at !== undefined[- && at === last-]) throw",
  c: none("C compares the two looks in _event_count.h: see below"),
}, {
  what: "takes agents that stand still for dead, although it was told not to",
  by: "an agent stands still, and is not taken for dead",
  ts: "[-if (!spinning.tells) return undefined;-]",
  c: "[-if (!WEFT_MPMC_QUEUE_TELLS) return -1;-]",
}).concat(mutants({
  ...CORE,
  header: "_event_count",
}, {
  what: "tells what is stuck at the first look",
  by: "nobody is told at the first look",
  ts: none("TypeScript compares the two looks in the core: see above"),
  c: "if (stuck_now >= 0[- && stuck_now == stuck_last-])",
}));
