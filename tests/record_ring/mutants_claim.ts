import { mutants, none } from "../_run/mutant.ts";

/** Mutants of how producers claim room, publish records and wake each other. */
export const CLAIM = mutants({
  source: "_queue/record/claim",
  header: "_record_claim",
  scenarios: ["record_ring"],
}, {
  what: "(P): publishes before it writes",
  by: "a producer and the end, and what is left then",
  ts: "[-this.#put(src, byteLength, record + 2); -]if " +
    "(!this.#publish(record, byteLength)) return false;{+ this.#put(src, " +
    "byteLength, record + 2);+}",
  c: "{+result = weft__record_publish(r, record, length); +}if (length > 0) " +
    "__builtin_memcpy(record + 2, src, (size_t)length);[- result = " +
    "weft__record_publish(r, record, length); /* (P) */-]",
}, {
  what: "(P): publishes a record before its length",
  by: "two producers, one consumer",
  ts: "[-this.#words[record] = byteLength << 2 | COMMITTED; // published by " +
    "(P) -]this.#put(src, byteLength, record + 2); if " +
    "(!this.#publish(record, byteLength)) return false;{+ " +
    "this.#words[record] = byteLength << 2 | COMMITTED;+}",
  c: "[-record[0] = weft__record_word(length, WEFT_RECORD_RING_COMMITTED); " +
    "-]if (length > 0) __builtin_memcpy(record + 2, src, (size_t)length); " +
    "result = weft__record_publish(r, record, length); [-/* (P) " +
    "*/-]{+record[0] = weft__record_word(length, " +
    "WEFT_RECORD_RING_COMMITTED);+}",
}, {
  what: "(P): publishes a reservation before its state",
  by: "a producer terminated at any step",
  ts: "{+if (!this.#publish(record, length)) return 0; +}this.#words[record] " +
    "= length << 2 | RESERVED; [-// published by (P) -]this.#words[record + " +
    "1] = this.#id;[- if (!this.#publish(record, length)) return 0;-]",
  c: "{+*at = record + 2; result = weft_record_ring_single(r) ? 0 : " +
    "weft__record_publish(r, record, length); +}record[0] = " +
    "weft__record_word(length, WEFT_RECORD_RING_RESERVED); record[1] = " +
    "weft_agent_id(); [-/* both published by (P) */ *at = record + 2; return " +
    "weft_record_ring_single(r) ? 0 : weft__record_publish(r, record, " +
    "length)-]{+return result+};",
}, {
  what: "(C): commits plainly",
  by: "a producer terminated at any step",
  ts: "[-Atomics.store(words, record,-]{+words[record] =+} length << 2 | " +
    "COMMITTED[-); // (C)-]{+;+}",
  c: "[-weft__store(record,-]{+record[0] =+} weft__record_word(length, " +
    "WEFT_RECORD_RING_COMMITTED)[-)-];",
}, {
  what: "notices too late that it is full",
  by: "one finds no room",
  ts: "if (total > this.capacity[- - used || !isWhole(used, " +
    "this.capacity)-]) {",
  c: "[-(total > weft__minus(-]{+total > +}r->capacity[-, used) || " +
    "!weft__record_is_whole(r, used))-]) { r->head_cache",
}, {
  what: "compares positions that wrap",
  by: "a producer that waits for room",
  ts: "if (total > this.capacity - (tail - head[- | 0-])) {",
  c: "else if (total > {+(int64_t)+}r->capacity - [-used-]{+((int64_t)tail - " +
    "r->head_cache)+}) result",
}, {
  what: "believes an old head that it is full",
  by: "one producer, room for one record",
  ts: "const head = [-Atomics.load(words, HEAD); // pairs with " +
    "(F)-]{+words[HEAD_CACHE]!;+}",
  c: "[-r->head_cache = weft__load(&r->head); /* pairs with (F) */-]",
}, {
  what: "does not count the bytes it skipped at the end",
  by: "one producer, room for one record",
  ts: "const next = tail[- + skipped-] + spaceFor(length) | 0;",
  c: "[-if (record != weft__record_at(r, tail)) total += r->capacity - (tail " +
    "& (r->capacity - 1));-]{+(void)record;+}",
}, {
  what: "publishes by a store",
  by: "a producer and the end, and what is left then",
  ts: ": {+(+}Atomics.[-compareExchange-]{+store+}(words, TAIL, [-tail, " +
    "next-]{+next), tail+});",
  c: "[-seen = weft__compare_exchange(&r->tail, -]{+weft__store(&r->+}tail, " +
    "weft__plus(tail, total));",
}, {
  what: "publishes in a closed ring, and reports success",
  by: "a producer and the end, and what is left then",
  ts: "[-if ((seen & CLOSED_BIT) === 0) -]return true;[- this.refuse(); " +
    "return false;-]",
  c: "[-return seen & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE : " +
    "0;-]{+(void)seen; return 0;+}",
}, {
  what: "ends the claim before it publishes",
  ts: [
    "const words = this.#words; const tail = words[TAIL]!;{+\n" +
    "this.endClaim();+} // The reserved length",
    "Atomics.add(words, PUSHED, 1);[- this.endClaim();-]",
  ],
  c: [
    "int32_t tail = weft__hint(&r->tail); int32_t seen = tail;{+ " +
    "weft__record_end_claim(r);+}",
    "[-weft__record_end_claim(r); -]return seen",
  ],
  by: "two producers, one consumer",
}, {
  what: "claims by a store",
  by: "two producers, room for both",
  ts: "const owner = Atomics.[-compareExchange-]{+load+}(words, CLAIMANT[-, " +
    "0-]{+); if (owner === 0) Atomics.store(words, CLAIMANT+}, this.#id);",
  c: "int32_t owner = [-weft__compare_exchange-]{+weft__load(&r->claimant); " +
    "if (owner == 0) weft__store+}(&r->claimant, [-0, -]id);",
}, {
  what: "(W): does not mark that it waits for the claim",
  by: "two producers, room for both",
  ts: "const marked = owner[- | CONTENDED_BIT-]; const seen = " +
    "Atomics.compareExchange(words, CLAIMANT,",
  c: "int32_t marked = owner[- | WEFT_RECORD_RING_CONTENDED_BIT-]; int32_t " +
    "seen = weft__compare_exchange(&r->claimant,",
}, {
  what: "(W): marks by a store that it waits for the claim",
  by: "two producers, room for both",
  ts: "[-const seen = -]Atomics.[-compareExchange-]{+store+}(words, " +
    "CLAIMANT, [-owner, marked); if (seen === owner)-]{+marked);+} return " +
    "owner;",
  c: "[-int32_t seen = weft__compare_exchange-]{+weft__store+}(&r->claimant, " +
    "[-owner, marked); if (seen == owner)-]{+marked);+} return owner;",
}, {
  what: "ends the claim, and wakes nobody",
  by: "two producers, room for both",
  ts: "[-if (-]Atomics.[-exchange-]{+store+}(words, CLAIMANT, 0)[- & " +
    "CONTENDED_BIT) { this.wakeProducer(); }-]{+;+}",
  c: "[-if (weft__exchange-]{+weft__store+}(&r->claimant, 0)[- & " +
    "WEFT_RECORD_RING_CONTENDED_BIT) weft__record_wake_producer(r)-];",
}, {
  what: "ends the claim by a load and a store",
  by: "two producers, room for both",
  ts: "[-if (-]{+const owner = +}Atomics.[-exchange-]{+load(words, " +
    "CLAIMANT); Atomics.store+}(words, CLAIMANT, 0){+; if (owner+} & " +
    "CONTENDED_BIT) {",
  c: "[-if (weft__exchange-]{+int32_t owner = weft__load(&r->claimant); " +
    "weft__store+}(&r->claimant, 0){+; if (owner+} & " +
    "WEFT_RECORD_RING_CONTENDED_BIT)",
}, {
  what: "wakes before it ends the claim",
  by: "two producers, room for both",
  ts: "if (Atomics.[-exchange-]{+load+}(words, CLAIMANT[-, 0-]) & " +
    "CONTENDED_BIT) { this.wakeProducer(); }{+ Atomics.exchange(words, " +
    "CLAIMANT, 0);+}",
  c: "if ([-weft__exchange-]{+weft__load+}(&r->claimant[-, 0-]) & " +
    "WEFT_RECORD_RING_CONTENDED_BIT) weft__record_wake_producer(r);{+ " +
    "weft__exchange(&r->claimant, 0);+}",
}, {
  what: "pushes, and wakes nobody",
  by: "one producer, over the end",
  ts: "if (!this.#publish(record, byteLength)) return false;[- " +
    "wake(this.#words, POP_EPOCH, 1);-]",
  c: "result = weft__record_publish(r, record, length);[- /* (P) */ if " +
    "(result == 0) weft__event_wake_end(&r->pop_epoch, 1);-]",
}, {
  what: "leaves no mark at the end",
  by: "one producer, room for one record",
  ts: "[-words[indexAt(tail, this.capacity)] = total - space - HEADER << 2 | " +
    "SKIPPED; // published by (P)-]",
  c: "[-(*record)[0] = weft__record_word(total - space - " +
    "WEFT__RECORD_HEADER, WEFT_RECORD_RING_SKIPPED);-]",
}, {
  what: "marks too much at the end",
  by: "one producer, room for one record",
  ts: "words[indexAt(tail, this.capacity)] = total - space [-- HEADER -]<< 2 " +
    "| SKIPPED;[- // published by (P)-]",
  c: "(*record)[0] = weft__record_word(total - space[- - " +
    "WEFT__RECORD_HEADER-],",
}, {
  what: "keeps the claim where there is no room",
  by: "one finds no room",
  ts: "this.#note(space);[- this.endClaim();-]",
  c: "{+if (result == EPIPE) weft__record_end_claim(r); +}if (result != 0) " +
    "[-{ weft__record_end_claim(r); -]return result;[- }-]",
}, {
  what: "keeps the claim of a closed ring",
  by: "a producer and the end, and what is left then",
  ts: "if (tail & CLOSED_BIT) {[- this.endClaim();-]",
  c: "{+if (result == EBUSY) weft__record_end_claim(r); +}if (result != 0) " +
    "[-{ weft__record_end_claim(r); -]return result;[- }-]",
}, {
  what: "commits less, and marks no rest",
  ts: "[-words[behind] = rest - HEADER << 2 | SKIPPED;-]{+void behind;+}",
  c: "[-if (rest > 0) /* published by (C) */ record[space / 4] = " +
    "weft__record_word(rest - WEFT__RECORD_HEADER, " +
    "WEFT_RECORD_RING_SKIPPED);-]{+(void)rest;+}",
  by: "one commits less than it reserved",
}, {
  what: "commits less, and marks too much",
  ts: "words[behind] = rest[- - HEADER-] << 2 | SKIPPED;",
  c: "record[space / 4] = weft__record_word(rest[- - WEFT__RECORD_HEADER-],",
  by: "one commits less than it reserved",
}, {
  what: "(C): commits before it marks the rest",
  ts: "{+Atomics.store(words, record, length << 2 | COMMITTED);\n+}if (rest " +
    "> 0) { // published by (C)",
  c: "{+weft__store(record, weft__record_word(length, " +
    "WEFT_RECORD_RING_COMMITTED)); +}if (rest > 0)[- /* published by (C) */-]",
  by: "one commits less than it reserved",
}, {
  what: "publishes the reserved length instead of the committed one",
  ts: "words[record] = length << 2 | COMMITTED; [-// published by (P) -]if " +
    "(!this.#publish(record, {+this.#+}length)) return false;",
  c: "result = weft__record_publish(r, record, [-length); /* (P) " +
    "*/-]{+reserved);+} } else {",
  by: "one producer commits less than it reserved",
}, {
  what: "commits, and wakes nobody",
  by: "one commits less than it reserved",
  ts: "[-// (C) } wake(words, POP_EPOCH, 1);-]{+}+}",
  c: "}[- if (result == 0) weft__event_wake_end(&r->pop_epoch, 1);-] return " +
    "result;",
}, {
  what: "cancels, and does not mark it",
  ts: "[-Atomics.store(this.#words, record, this.#length << 2 | SKIPPED);-]",
  c: "[-weft__store(record, weft__load(record) | " +
    "WEFT_RECORD_RING_SKIPPED);-]{+(void)record;+}",
  by: "one sleeps behind a cancelled record",
}, {
  what: "cancels as if it had committed",
  ts: "Atomics.store(this.#words, record, this.#length << 2 | " +
    "[-SKIPPED-]{+COMMITTED+});",
  c: "weft__store(record, {+(+}weft__load(record) [-| " +
    "WEFT_RECORD_RING_SKIPPED-]{+& ~3) | WEFT_RECORD_RING_COMMITTED+});",
  by: "one sleeps behind a cancelled record",
}, {
  what: "cancels, and wakes nobody",
  ts: "[-wake(this.#words, POP_EPOCH, 1); // for the records that it held " +
    "back-]",
  c: "[-weft__event_wake_end(&r->pop_epoch, 1); /* for what it held back */-]",
  by: "one sleeps behind a cancelled record",
}, {
  what: "does not take over the claim of a dead producer",
  ts: "[-if ((owner & OWNER_MASK) !== id) -]return this.#beginClaim(HEADER);",
  c: "[-if ((owner & WEFT_RECORD_RING_OWNER_MASK) != id) -]return " +
    "weft__record_begin_claim(r, WEFT__RECORD_HEADER);",
  by: "one waits for a claim that is abandoned",
}, {
  what: "takes over a claim, and forgets that others wait",
  ts: "const ours = this.#id[- | owner & CONTENDED_BIT-];",
  c: "int32_t ours = weft_agent_id()[- | (owner & " +
    "WEFT_RECORD_RING_CONTENDED_BIT)-];",
  by: "one waits for a claim that is abandoned",
}, {
  what: "(N): does not note how short a record is",
  ts: [
    "[-this.#note(space); -]this.endClaim();",
    "[-if (full) this.#note(space); -]return full;",
  ],
  c: [
    "[-if (result == EPIPE || result == EBUSY) weft__record_note(r, space);-]",
    "[-if (full) weft__record_note(r, space); -]return full;",
  ],
  by: "a short record waits behind a long one",
}, {
  what: "wakes a producer before it says how often to hand the wake on",
  ts: "{+wake(words, PUSH_EPOCH, 1); +}if (!this.singleProducer) " +
    "Atomics.store(words, HAND_ONS, waiters);[- wake(words, PUSH_EPOCH, 1);-]",
  c: "{+weft__event_wake_end(&r->push_epoch, 1); +}if " +
    "(!weft_record_ring_single(r)) weft__store(&r->hand_ons, waiters);[- " +
    "weft__event_wake_end(&r->push_epoch, 1);-]",
  by: "a short record waits behind a long one",
}, {
  what: "counts no record that it pushes",
  by: "one record at a time",
  ts: "[-if (this.most > 0 && seen === tail) Atomics.add(words, PUSHED, 1);-]",
  c: "[-if (r->most > 0 && seen == tail) weft__add(&r->pushed, 1);-]",
}, {
  what: "counts a cancelled record",
  by: "a cancelled record makes room",
  ts: "[-if (this.most > 0) Atomics.sub(this.#words, PUSHED, 1);-]",
  c: "[-if (r->most > 0) weft__add(&r->pushed, -1);-]{+(void)r;+}",
}, {
  what: "counts before it sees how far the consumer is",
  by: "one record at a time",
  ts: "{+const popped = Atomics.load(words, POPPED); +}const empty = " +
    "Atomics.load(words, HEAD) === tail;[- // pairs with (F) const popped = " +
    "Atomics.load(words, POPPED);-]",
  c: "{+r->popped_cache = weft__load(&r->popped); +}bool empty = " +
    "weft__load(&r->head) == tail;[- /* pairs with (F) */ r->popped_cache = " +
    "weft__load(&r->popped);-]",
}, {
  what: "any agent pushes where one may",
  by: "two agents push where one may",
  ts: "this.#produces = [-takeRole(words, CLAIMANT, this.#id, " +
    '"producer")-]{+true+};',
  c: "[-if (single && weft__take_role(&r->claimant) != 0) return EPERM;-]",
}, {
  what: "producers without room take the claim from each other",
  ts: "[-if (this.#full && this.#isFull(space)) return 0;-]",
  c: none("its agents of C fall out of step before the tester sees a livelock"),
  by: "four producers wait for room",
});
