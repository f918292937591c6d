import { mutants } from "../_run/mutant.ts";

const RING = { header: "record_ring", scenarios: ["record_ring"] };
/** What producers do. */
const CLAIM = { ...RING, header: "_record_claim" };

/** Mutants of `RecordRing`. */
export const MUTANTS = [
  ...mutants({ ...CLAIM, source: "_queue/record/claim" }, {
    what: "(P): publishes before it writes",
    by: "a producer and the end, and what is left then",
    ts: [
      "this.#put(src, byteLength, record + 2); if (!this.#publish(record, byteLength)) return false;",
      "if (!this.#publish(record, byteLength)) return false; this.#put(src, byteLength, record + 2);",
    ],
    c: [
      "if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length); " +
      "result = weft__record_publish(r, record, length); /* (P) */",
      "result = weft__record_publish(r, record, length); if (length > 0) " +
      "__builtin_memcpy(record + 2, src, (size_t)length);",
    ],
  }, {
    what: "(P): publishes a record before its length",
    by: "two producers, one consumer",
    ts: [
      "this.#words[record] = byteLength << 2 | COMMITTED; // published by (P) this.#put(src, byteLength, record + 2); if (!this.#publish(record, byteLength)) return false;",
      "this.#put(src, byteLength, record + 2); if (!this.#publish(record, byteLength)) return false;\nthis.#words[record] = byteLength << 2 | COMMITTED;",
    ],
    c: [
      "record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED); if " +
      "(length > 0) __builtin_memcpy(record + 2, src, (size_t)length); result " +
      "= weft__record_publish(r, record, length); /* (P) */",
      "if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length); " +
      "result = weft__record_publish(r, record, length); record[0] = " +
      "weft__record_word(length, WEFT_RECORD_RING_COMMITTED);",
    ],
  }, {
    what: "(P): publishes a reservation before its state",
    by: "a producer terminated at any step",
    ts: [
      "this.#words[record] = length << 2 | RESERVED; // published by (P) this.#words[record + 1] = this.#id; if (!this.#publish(record, length)) return 0;",
      "if (!this.#publish(record, length)) return 0;\nthis.#words[record] = length << 2 | RESERVED;\nthis.#words[record + 1] = this.#id;",
    ],
    c: [
      "record[0] = weft__record_word(length, WEFT_RECORD_RING_RESERVED); " +
      "record[1] = weft_agent_id(); /* both published by (P) */ *at = record + " +
      "2; return weft_record_ring_single(r) ? 0 : weft__record_publish(r, record, length);",
      "*at = record + 2; result = weft_record_ring_single(r) ? 0 : weft__record_publish(r, " +
      "record, length); record[0] = weft__record_word(length, " +
      "WEFT_RECORD_RING_RESERVED); record[1] = weft_agent_id(); return result;",
    ],
  }, {
    what: "(C): commits plainly",
    by: "a producer terminated at any step",
    ts: [
      "Atomics.store(words, record, length << 2 | COMMITTED); // (C)",
      "words[record] = length << 2 | COMMITTED;",
    ],
    c: [
      "weft__store(record, weft__record_word(length, " +
      "WEFT_RECORD_RING_COMMITTED));",
      "record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED);",
    ],
  }, {
    what: "notices too late that it is full",
    by: "one finds no room",
    ts: [
      "if (total > this.capacity - used || !isWhole(used, this.capacity)) {",
      "if (total > this.capacity) {",
    ],
    c: [
      "(total > weft__minus(r->capacity, used) || " +
      "!weft__record_is_whole(r, used))) { r->head_cache",
      "total > r->capacity) { r->head_cache",
    ],
  }, {
    what: "compares positions that wrap",
    by: "a producer that waits for room",
    ts: [
      "if (total > this.capacity - (tail - head | 0)) {",
      "if (total > this.capacity - (tail - head)) {",
    ],
    c: [
      "else if (total > r->capacity - used) result",
      "else if (total > (int64_t)r->capacity - ((int64_t)tail - " +
      "r->head_cache)) result",
    ],
  }, {
    what: "believes an old head that it is full",
    by: "one producer, room for one record",
    ts: [
      "const head = Atomics.load(words, HEAD); // pairs with (F)",
      "const head = words[HEAD_CACHE]!;",
    ],
    c: ["r->head_cache = weft__load(&r->head); /* pairs with (F) */", ""],
  }, {
    what: "does not count the bytes it skipped at the end",
    by: "one producer, room for one record",
    ts: [
      "const next = tail + skipped + spaceFor(length) | 0;",
      "const next = tail + spaceFor(length) | 0;",
    ],
    c: [
      "if (record != weft__record_at(r, tail)) total += r->capacity - (tail & " +
      "(r->capacity - 1));",
      "(void)record;",
    ],
  }, {
    what: "publishes by a store",
    by: "a producer and the end, and what is left then",
    ts: [
      ": Atomics.compareExchange(words, TAIL, tail, next);",
      ": (Atomics.store(words, TAIL, next), tail);",
    ],
    c: [
      "seen = weft__compare_exchange(&r->tail, tail, weft__plus(tail, total));",
      "weft__store(&r->tail, weft__plus(tail, total));",
    ],
  }, {
    what: "publishes in a closed ring, and reports success",
    by: "a producer and the end, and what is left then",
    ts: [
      "if ((seen & CLOSED_BIT) === 0) return true; this.refuse(); return false;",
      "return true;",
    ],
    c: [
      "return seen & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : 0;",
      "(void)seen; return 0;",
    ],
  }, {
    what: "ends the claim before it publishes",
    ts: [
      "const words = this.#words; const tail = words[TAIL]!; // The reserved length",
      "const words = this.#words; const tail = words[TAIL]!;\n" +
      "this.endClaim(); // The reserved length",
      [
        "Atomics.add(words, PUSHED, 1); this.endClaim();",
        "Atomics.add(words, PUSHED, 1);",
      ],
    ],
    c: [
      "int32_t tail = weft__hint(&r->tail); int32_t seen = tail;",
      "int32_t tail = weft__hint(&r->tail); int32_t seen = tail; " +
      "weft__record_end_claim(r);",
      ["weft__record_end_claim(r); return seen", "return seen"],
    ],
    by: "two producers, one consumer",
  }, {
    what: "claims by a store",
    by: "two producers, room for both",
    ts: [
      "const owner = Atomics.compareExchange(words, CLAIMANT, 0, this.#id);",
      "const owner = Atomics.load(words, CLAIMANT);\n" +
      "if (owner === 0) Atomics.store(words, CLAIMANT, this.#id);",
    ],
    c: [
      "int32_t owner = weft__compare_exchange(&r->claimant, 0, id);",
      "int32_t owner = weft__load(&r->claimant); if (owner == 0) " +
      "weft__store(&r->claimant, id);",
    ],
  }, {
    what: "(W): does not mark that it waits for the claim",
    by: "two producers, room for both",
    ts: [
      "const marked = owner | CONTENDED_BIT; const seen = Atomics.compareExchange(words, CLAIMANT,",
      "const marked = owner;\nconst seen = Atomics.compareExchange(words, CLAIMANT,",
    ],
    c: [
      "int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT; int32_t seen = " +
      "weft__compare_exchange(&r->claimant,",
      "int32_t marked = owner; int32_t seen = " +
      "weft__compare_exchange(&r->claimant,",
    ],
  }, {
    what: "(W): marks by a store that it waits for the claim",
    by: "two producers, room for both",
    ts: [
      "const seen = Atomics.compareExchange(words, CLAIMANT, owner, marked); " +
      "if (seen === owner) return owner;",
      "Atomics.store(words, CLAIMANT, marked); return owner;",
    ],
    c: [
      "int32_t seen = weft__compare_exchange(&r->claimant, owner, marked); if " +
      "(seen == owner) return owner;",
      "weft__store(&r->claimant, marked); return owner;",
    ],
  }, {
    what: "ends the claim, and wakes nobody",
    by: "two producers, room for both",
    ts: [
      "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) { " +
      "this.wakeProducer(); }",
      "Atomics.store(words, CLAIMANT, 0);",
    ],
    c: [
      "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT) " +
      "weft__record_wake_producer(r);",
      "weft__store(&r->claimant, 0);",
    ],
  }, {
    what: "ends the claim by a load and a store",
    by: "two producers, room for both",
    ts: [
      "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) {",
      "const owner = Atomics.load(words, CLAIMANT);\n" +
      "Atomics.store(words, CLAIMANT, 0); if (owner & CONTENDED_BIT) {",
    ],
    c: [
      "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT)",
      "int32_t owner = weft__load(&r->claimant); weft__store(&r->claimant, 0); " +
      "if (owner & WEFT_RECORD_RING_CONTENDED_BIT)",
    ],
  }, {
    what: "wakes before it ends the claim",
    by: "two producers, room for both",
    ts: [
      "if (Atomics.exchange(words, CLAIMANT, 0) & CONTENDED_BIT) { " +
      "this.wakeProducer(); }",
      "if (Atomics.load(words, CLAIMANT) & CONTENDED_BIT) {\n" +
      "this.wakeProducer(); }\nAtomics.exchange(words, CLAIMANT, 0);",
    ],
    c: [
      "if (weft__exchange(&r->claimant, 0) & WEFT_RECORD_RING_CONTENDED_BIT) " +
      "weft__record_wake_producer(r);",
      "if (weft__load(&r->claimant) & WEFT_RECORD_RING_CONTENDED_BIT) " +
      "weft__record_wake_producer(r); weft__exchange(&r->claimant, 0);",
    ],
  }, {
    what: "pushes, and wakes nobody",
    by: "one producer, over the end",
    ts: [
      "if (!this.#publish(record, byteLength)) return false; wake(this.#words, POP_EPOCH, 1);",
      "if (!this.#publish(record, byteLength)) return false;",
    ],
    c: [
      "result = weft__record_publish(r, record, length); /* (P) */ if (result " +
      "== 0) weft__event_wake_end(&r->pop_epoch, 1);",
      "result = weft__record_publish(r, record, length);",
    ],
  }, {
    what: "leaves no mark at the end",
    by: "one producer, room for one record",
    ts: [
      "words[indexAt(tail, this.capacity)] = total - space - HEADER << 2 | SKIPPED; // published by (P)",
      "",
    ],
    c: [
      "(*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER, " +
      "WEFT_RECORD_RING_SKIPPED);",
      "",
    ],
  }, {
    what: "marks too much at the end",
    by: "one producer, room for one record",
    ts: [
      "words[indexAt(tail, this.capacity)] = total - space - HEADER << 2 | SKIPPED; // published by (P)",
      "words[indexAt(tail, this.capacity)] = total - space << 2 | SKIPPED;",
    ],
    c: [
      "(*record)[0] = weft__record_word(total - space - WEFT__RECORD_HEADER,",
      "(*record)[0] = weft__record_word(total - space,",
    ],
  }, {
    what: "keeps the claim where there is no room",
    by: "one finds no room",
    ts: [
      "this.#note(space); this.endClaim();",
      "this.#note(space);",
    ],
    c: [
      "if (result != 0) { weft__record_end_claim(r); return result; }",
      "if (result == EPIPE) weft__record_end_claim(r); if (result != 0) return " +
      "result;",
    ],
  }, {
    what: "keeps the claim of a closed ring",
    by: "a producer and the end, and what is left then",
    ts: [
      "if (tail & CLOSED_BIT) { this.endClaim();",
      "if (tail & CLOSED_BIT) {",
    ],
    c: [
      "if (result != 0) { weft__record_end_claim(r); return result; }",
      "if (result == EBUSY) weft__record_end_claim(r); if (result != 0) return " +
      "result;",
    ],
  }, {
    what: "commits less, and marks no rest",
    ts: ["words[behind] = rest - HEADER << 2 | SKIPPED;", "void behind;"],
    c: [
      "if (rest > 0) /* published by (C) */ record[space / 4] = " +
      "weft__record_word(rest - WEFT__RECORD_HEADER, WEFT_RECORD_RING_SKIPPED);",
      "(void)rest;",
    ],
    by: "one commits less than it reserved",
  }, {
    what: "commits less, and marks too much",
    ts: [
      "words[behind] = rest - HEADER << 2 | SKIPPED;",
      "words[behind] = rest << 2 | SKIPPED;",
    ],
    c: [
      "record[space / 4] = weft__record_word(rest - WEFT__RECORD_HEADER,",
      "record[space / 4] = weft__record_word(rest,",
    ],
    by: "one commits less than it reserved",
  }, {
    what: "(C): commits before it marks the rest",
    ts: [
      "if (rest > 0) { // published by (C)",
      "Atomics.store(words, record, length << 2 | COMMITTED);\n" +
      "if (rest > 0) { // published by (C)",
    ],
    c: [
      "if (rest > 0) /* published by (C) */",
      "weft__store(record, weft__record_word(length, " +
      "WEFT_RECORD_RING_COMMITTED)); if (rest > 0)",
    ],
    by: "one commits less than it reserved",
  }, {
    what: "publishes the reserved length instead of the committed one",
    ts: [
      "words[record] = length << 2 | COMMITTED; // published by (P) if (!this.#publish(record, length)) return false;",
      "words[record] = length << 2 | COMMITTED;\nif (!this.#publish(record, this.#length)) return false;",
    ],
    c: [
      "result = weft__record_publish(r, record, length); /* (P) */ } else {",
      "result = weft__record_publish(r, record, reserved); } else {",
    ],
    by: "one producer commits less than it reserved",
  }, {
    what: "commits, and wakes nobody",
    by: "one commits less than it reserved",
    ts: ["// (C) } wake(words, POP_EPOCH, 1);", "}"],
    c: [
      "} if (result == 0) weft__event_wake_end(&r->pop_epoch, 1); return result;",
      "} return result;",
    ],
  }, {
    what: "cancels, and does not mark it",
    ts: [
      "Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);",
      "",
    ],
    c: [
      "weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);",
      "(void)record;",
    ],
    by: "one sleeps behind a cancelled record",
  }, {
    what: "cancels as if it had committed",
    ts: [
      "Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);",
      "Atomics.store(this.#words, record, this.#length << 2 | COMMITTED);",
    ],
    c: [
      "weft__store(record, weft__load(record) | WEFT_RECORD_RING_SKIPPED);",
      "weft__store(record, (weft__load(record) & ~3) | " +
      "WEFT_RECORD_RING_COMMITTED);",
    ],
    by: "one sleeps behind a cancelled record",
  }, {
    what: "cancels, and wakes nobody",
    ts: [
      "wake(this.#words, POP_EPOCH, 1); // for the records that it held back",
      "",
    ],
    c: [
      "weft__event_wake_end(&r->pop_epoch, 1); /* for what it held back */",
      "",
    ],
    by: "one sleeps behind a cancelled record",
  }, {
    what: "does not take over the claim of a dead producer",
    ts: [
      "if ((owner & OWNER_MASK) !== id) return this.#beginClaim(HEADER);",
      "return this.#beginClaim(HEADER);",
    ],
    c: [
      "if ((owner & WEFT_RECORD_RING_OWNER_MASK) != id) return " +
      "weft__record_begin_claim(r, WEFT__RECORD_HEADER);",
      "return weft__record_begin_claim(r, WEFT__RECORD_HEADER);",
    ],
    by: "one waits for a claim that is abandoned",
  }, {
    what: "takes over a claim, and forgets that others wait",
    ts: [
      "const ours = this.#id | owner & CONTENDED_BIT;",
      "const ours = this.#id;",
    ],
    c: [
      "int32_t ours = weft_agent_id() | (owner & " +
      "WEFT_RECORD_RING_CONTENDED_BIT);",
      "int32_t ours = weft_agent_id();",
    ],
    by: "one waits for a claim that is abandoned",
  }, {
    what: "(N): does not note how short a record is",
    ts: [
      "this.#note(space); this.endClaim();",
      "this.endClaim();",
      ["if (full) this.#note(space); return full;", "return full;"],
    ],
    c: [
      "if (result == EPIPE || result == EBUSY) weft__record_note(r, space);",
      "",
      ["if (full) weft__record_note(r, space); return full;", "return full;"],
    ],
    by: "a short record waits behind a long one",
  }, {
    what: "wakes a producer before it says how often to hand the wake on",
    ts: [
      "if (!this.singleProducer) Atomics.store(words, HAND_ONS, waiters); " +
      "wake(words, PUSH_EPOCH, 1);",
      "wake(words, PUSH_EPOCH, 1);\n" +
      "if (!this.singleProducer) Atomics.store(words, HAND_ONS, waiters);",
    ],
    c: [
      "if (!weft_record_ring_single(r)) weft__store(&r->hand_ons, waiters); " +
      "weft__event_wake_end(&r->push_epoch, 1);",
      "weft__event_wake_end(&r->push_epoch, 1); " +
      "if (!weft_record_ring_single(r)) weft__store(&r->hand_ons, waiters);",
    ],
    by: "a short record waits behind a long one",
  }, {
    what: "counts no record that it pushes",
    by: "one record at a time",
    ts: [
      "if (this.most > 0 && seen === tail) Atomics.add(words, PUSHED, 1);",
      "",
    ],
    c: ["if (r->most > 0 && seen == tail) weft__add(&r->pushed, 1);", ""],
  }, {
    what: "counts a cancelled record",
    by: "a cancelled record makes room",
    ts: ["if (this.most > 0) Atomics.sub(this.#words, PUSHED, 1);", ""],
    c: ["if (r->most > 0) weft__add(&r->pushed, -1);", "(void)r;"],
  }, {
    what: "counts before it sees how far the consumer is",
    by: "one record at a time",
    ts: [
      "const empty = Atomics.load(words, HEAD) === tail; // pairs with (F) const popped = Atomics.load(words, POPPED);",
      "const popped = Atomics.load(words, POPPED);\nconst empty = Atomics.load(words, HEAD) === tail;",
    ],
    c: [
      "bool empty = weft__load(&r->head) == tail; /* pairs with (F) */ " +
      "r->popped_cache = weft__load(&r->popped);",
      "r->popped_cache = weft__load(&r->popped); " +
      "bool empty = weft__load(&r->head) == tail;",
    ],
  }, {
    what: "any agent pushes where one may",
    by: "two agents push where one may",
    ts: [
      'this.#produces = takeRole(words, CLAIMANT, this.#id, "producer");',
      "this.#produces = true;",
    ],
    c: [
      "if (single && weft__take_role(&r->claimant) != 0) return EPERM;",
      "",
    ],
  }, {
    what: "producers without room take the claim from each other",
    ts: ["if (this.#full && this.#isFull(space)) return 0;", ""],
    c: "its agents of C fall out of step before the tester sees a livelock",
    by: "four producers wait for room",
  }),
  ...mutants({ ...RING, source: "_queue/record/core" }, {
    what: "frees fewer bytes than were taken",
    by: "one producer, over the end",
    ts: [
      "Atomics.store(words, HEAD, words[HEAD]! + space | 0); // (F)",
      "Atomics.store(words, HEAD, words[HEAD]! + space - 8 | 0);",
    ],
    c: [
      "weft__store(&r->head, weft__plus(head, space)); /* (F) */",
      "weft__store(&r->head, weft__plus(head, space - 8));",
    ],
  }, {
    what: "frees, and wakes nobody",
    by: "a producer that waits for room",
    ts: [
      "words[HEAD]! + space | 0); // (F) this.#endReading(); this.wakeProducer();",
      "words[HEAD]! + space | 0);\nthis.#endReading();",
    ],
    c: [
      "weft__store(&r->head, weft__plus(head, space)); /* (F) */ " +
      "weft__record_end_reading(r); weft__record_wake_producer(r);",
      "weft__store(&r->head, weft__plus(head, space)); " +
      "weft__record_end_reading(r);",
    ],
  }, {
    what: "never looks at the tail again",
    by: "one producer, over the end",
    ts: [
      "if (head === words[TAIL_CACHE]) {",
      "if (head === words[TAIL_CACHE] && head < 0) {",
    ],
    c: [
      "if (head == r->tail_cache) {",
      "if (head == r->tail_cache && head < 0) {",
    ],
  }, {
    what: "ends although records are left",
    by: "a producer and the end, and what is left then",
    ts: [
      "if (head === (tail & POSITION_MASK)) return tail & CLOSED_BIT ? -1 : 0;",
      "if (tail & CLOSED_BIT) return -1;\n" +
      "if (head === (tail & POSITION_MASK)) return 0;",
    ],
    c: [
      "if (head == r->tail_cache) return tail & WEFT_RECORD_RING_CLOSED_BIT ? " +
      "EPIPE : EBUSY;",
      "if (tail & WEFT_RECORD_RING_CLOSED_BIT) return EPIPE; if (head == " +
      "r->tail_cache) return EBUSY;",
    ],
  }, {
    what: "reads a state plainly",
    by: "a producer terminated at any step",
    ts: [
      "const first = this.singleProducer ? words[record]! : Atomics.load(words, record);",
      "const first = words[record]!;",
    ],
    c: ["int32_t first = weft__load(*record);", "int32_t first = **record;"],
  }, {
    what: "takes a record that is only reserved",
    by: "a producer terminated at any step",
    ts: [
      "if (state === RESERVED) return 0;",
      "if (state === RESERVED) return record;",
    ],
    c: [
      "if ((first & 3) == WEFT_RECORD_RING_RESERVED) return EBUSY;",
      "if ((first & 3) == WEFT_RECORD_RING_RESERVED) return 0;",
    ],
  }, {
    what: "does not skip cancelled records",
    by: "one producer, room for one record",
    ts: [
      "if (state === COMMITTED) return record;",
      "if (state === COMMITTED || state === SKIPPED) return record;",
    ],
    c: [
      "if ((first & 3) == WEFT_RECORD_RING_COMMITTED) return 0;",
      "if ((first & 3) >= WEFT_RECORD_RING_COMMITTED) return 0;",
    ],
  }, {
    what: "closes, and wakes producers once it has returned",
    by: "closed and drained, and freed when close left nothing to do",
    ts: [
      "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity); }",
      "wake(words, POP_EPOCH, Infinity);\n" +
      "Promise.resolve().then(() => wake(words, PUSH_EPOCH, Infinity));\n}",
    ],
    c: "C does nothing once it has returned",
  }, {
    what: "closes, and wakes no consumer",
    by: "one sleeps until another closes",
    ts: [
      "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return; " +
      "wake(words, POP_EPOCH, Infinity);",
      "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
    ],
    c: ["return; weft__event_wake_end(&r->pop_epoch, WEFT__ALL);", "return;"],
  }, {
    what: "closes by a load and a store",
    by: "a producer and the end, and what is left then",
    ts: [
      "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
      "const tail = Atomics.load(words, TAIL); if (tail & CLOSED_BIT) return;\n" +
      "Atomics.store(words, TAIL, tail | CLOSED_BIT);",
    ],
    c: [
      "if (weft__or(&r->tail, WEFT_RECORD_RING_CLOSED_BIT) & " +
      "WEFT_RECORD_RING_CLOSED_BIT) return;",
      "int32_t tail = weft__load(&r->tail); if (tail & " +
      "WEFT_RECORD_RING_CLOSED_BIT) return; weft__store(&r->tail, tail | " +
      "WEFT_RECORD_RING_CLOSED_BIT);",
    ],
  }, {
    what: "abandons, and keeps the claim",
    by: "a producer terminated at any step",
    ts: ["this.endClaim(); if (!whole", "if (!whole"],
    c: ["weft__record_end_claim(r); if (!whole", "if (!whole"],
  }, {
    what: "abandons a record that was committed",
    by: "one sleeps behind what is abandoned",
    ts: [
      "if ((head & 3) === RESERVED && words[record + 1] === id) {",
      "if (words[record + 1] === id || (head & 3) === COMMITTED) {",
    ],
    c: [
      "if ((first & 3) == WEFT_RECORD_RING_RESERVED && record[1] == id) {",
      "if (record[1] == id || (first & 3) == WEFT_RECORD_RING_COMMITTED) {",
    ],
  }, {
    what: "abandons, and wakes nobody",
    ts: ["if (count > 0) wake(words, POP_EPOCH, Infinity);", ""],
    c: ["if (count > 0) weft__event_wake_end(&r->pop_epoch, WEFT__ALL);", ""],
    by: "one sleeps behind what is abandoned",
  }, {
    what: "skips, and wakes nobody",
    ts: [
      "Atomics.store(words, HEAD, head + space | 0); this.wakeProducer();",
      "Atomics.store(words, HEAD, head + space | 0);",
    ],
    c: [
      "weft__store(&r->head, weft__plus(head, space)); " +
      "weft__record_wake_producer(r);",
      "weft__store(&r->head, weft__plus(head, space));",
    ],
    by: "one waits for room where a record is skipped",
  }, {
    what: "closes, and wakes no producer",
    ts: [
      "wake(words, POP_EPOCH, Infinity); wake(words, PUSH_EPOCH, Infinity);",
      "wake(words, POP_EPOCH, Infinity);",
    ],
    c: [
      "weft__event_wake_end(&r->pop_epoch, WEFT__ALL); " +
      "weft__event_wake_end(&r->push_epoch, WEFT__ALL);",
      "weft__event_wake_end(&r->pop_epoch, WEFT__ALL);",
    ],
    by: "one waits for room until another closes",
  }, {
    what: "(E): does not mark that it waits for another's reading",
    by: "two consumers",
    ts: [
      "const marked = owner | CONTENDED_BIT; const seen = Atomics.compareExchange(words, CONSUMER,",
      "const marked = owner;\nconst seen = Atomics.compareExchange(words, CONSUMER,",
    ],
    c: [
      "int32_t marked = owner | WEFT_RECORD_RING_CONTENDED_BIT; int32_t seen = " +
      "weft__compare_exchange(&r->consumer,",
      "int32_t marked = owner; int32_t seen = " +
      "weft__compare_exchange(&r->consumer,",
    ],
  }, {
    what: "(E): ends reading, and wakes nobody",
    by: "two consumers",
    ts: [
      "if (Atomics.exchange(words, CONSUMER, 0) & CONTENDED_BIT) { wake(words, POP_EPOCH, 1); }",
      "Atomics.exchange(words, CONSUMER, 0);",
    ],
    c: [
      "if (weft__exchange(&r->consumer, 0) & WEFT_RECORD_RING_CONTENDED_BIT) " +
      "weft__event_wake_end(&r->pop_epoch, 1);",
      "weft__exchange(&r->consumer, 0);",
    ],
  }, {
    what: "many consumers read at once",
    by: "two consumers, and all is there",
    ts: [
      "const owner = Atomics.compareExchange(words, CONSUMER, 0, this.#id);",
      "Atomics.store(words, CONSUMER, this.#id);\nconst owner = 0;",
    ],
    c: [
      "int32_t owner = weft__compare_exchange(&r->consumer, 0, id);",
      "weft__store(&r->consumer, id); int32_t owner = 0;",
    ],
  }, {
    what: "ends reading before it has moved on",
    by: "two consumers, and all is there",
    ts: [
      "this.#count(); Atomics.store(words, HEAD, words[HEAD]! + space | 0); // (F) this.#endReading();",
      "this.#endReading();\nthis.#count();\nAtomics.store(words, HEAD, words[HEAD]! + space | 0);",
    ],
    c: [
      "weft__record_count(r); weft__store(&r->head, weft__plus(head, space)); " +
      "/* (F) */ weft__record_end_reading(r);",
      "weft__record_end_reading(r); weft__record_count(r); " +
      "weft__store(&r->head, weft__plus(head, space));",
    ],
  }, {
    what: "counts no record that it pops",
    by: "one record at a time",
    ts: [
      "Atomics.store(words, POPPED, words[POPPED]! + 1 | 0); // before (F)",
      "",
    ],
    c: [
      "weft__store(&r->popped, weft__plus(weft__hint(&r->popped), 1));",
      "",
    ],
  }, {
    what: "any agent pops where one may",
    by: "two agents pop where one may",
    ts: [
      'return this.#consumes = takeRole(words, CONSUMER, this.#id, "consumer");',
      "return true;",
    ],
    c: [
      "if (!weft_record_ring_many(r)) return weft__take_role(&r->consumer);",
      "if (!weft_record_ring_many(r)) return 0;",
    ],
  }, {
    what: "(F): frees before it copies to an array",
    ts: [
      "getBytes(this.copier, this.bytes, dst, (record + 2) * 4, length); this.consumeRecord();",
      "this.consumeRecord(); getBytes(this.copier, this.bytes, dst, (record + 2) * 4, length);",
    ],
    c: "C has one form, where TypeScript has one for arrays and one for the rest",
    by: "a producer that waits for room, and pops into arrays",
  }),
  ...mutants({ ...RING, source: "_queue/record/ends" }, {
    what: "has no room, and hands no wake on",
    ts: ["handOn: () => this.handRoomOn(),", ""],
    c: [
      "&q->push_epoch, weft__record_hand_room_on(q),",
      "&q->push_epoch, (void)weft__record_hand_room_on,",
    ],
    by: "a short record waits behind a long one",
  }, {
    what: "has room, and wakes no other",
    header: "_record_claim",
    ts: ["pass: () => this.passRoom(),", "pass: () => {},"],
    c: [
      "else if (weft__record_has_room(r)) weft__record_wake_producer(r);",
      "else (void)weft__record_has_room;",
    ],
    by: "two wait for room, and it comes at once",
  }),
  ...mutants("record_ring", {
    what: "(F): frees before it copies",
    by: "a producer that waits for room",
    ts: [
      "const copy = this.copyOfRecord(record); this.consumeRecord();",
      "const length = this.bytesOfRecord(record).length; this.consumeRecord();\nconst copy = this.bytesOfRecord(record, length).slice() as Uint8Array<ArrayBuffer>;",
    ],
    c: [
      "if (found > 0) __builtin_memcpy(dst, record + 2, (size_t)found); " +
      "*length = found; weft_record_ring_consume(r);",
      "weft_record_ring_consume(r); if (found > 0) __builtin_memcpy(dst, " +
      "record + 2, (size_t)found); *length = found;",
    ],
  }),
];
