import { mutants, none } from "../_run/mutant.ts";
import { CLAIM } from "./mutants_claim.ts";

const RING = { header: "record_ring", scenarios: ["record_ring"] };

/** Mutants of `RecordRing`. */
export const MUTANTS = [
  ...CLAIM,
  ...mutants({ ...RING, source: "_queue/record/core" }, {
    what: "frees fewer bytes than were taken",
    by: "one producer, over the end",
    ts: "Atomics.store(words, HEAD, words[HEAD]! + space [-| 0); // (F)-]{+- " +
      "8 | 0);+}",
    c: "weft__store(&r->head, weft__plus(head, space[-)); /* (F) */-]{+ - " +
      "8));+}",
  }, {
    what: "frees, and wakes nobody",
    by: "a producer that waits for room",
    ts: "words[HEAD]! + space | 0); [-// (F) -]this.#endReading();[- " +
      "this.wakeProducer();-]",
    c: "weft__store(&r->head, weft__plus(head, space)); [-/* (F) */ " +
      "-]weft__record_end_reading(r);[- weft__record_wake_producer(r);-]",
  }, {
    what: "never looks at the tail again",
    by: "one producer, over the end",
    ts: "if (head === words[TAIL_CACHE]{+ && head < 0+}) {",
    c: "if (head == r->tail_cache{+ && head < 0+}) {",
  }, {
    what: "ends although records are left",
    by: "a producer and the end, and what is left then",
    ts: "{+if (tail & CLOSED_BIT) return -1; +}if (head === (tail & " +
      "POSITION_MASK)) return [-tail & CLOSED_BIT ? -1 : -]0;",
    c: "{+if (tail & WEFT_RECORD_RING_CLOSED_BIT) return EPIPE; +}if (head " +
      "== r->tail_cache) return [-tail & WEFT_RECORD_RING_CLOSED_BIT ? EPIPE " +
      ": -]EBUSY;",
  }, {
    what: "reads a state plainly",
    by: "a producer terminated at any step",
    ts: "const first = [-this.singleProducer ? -]words[record]![- : " +
      "Atomics.load(words, record)-];",
    c: "int32_t first = [-weft__load(*record)-]{+**record+};",
  }, {
    what: "takes a record that is only reserved",
    by: "a producer terminated at any step",
    ts: "if (state === RESERVED) return [-0-]{+record+};",
    c: "if ((first & 3) == WEFT_RECORD_RING_RESERVED) return [-EBUSY-]{+0+};",
  }, {
    what: "does not skip cancelled records",
    by: "one producer, room for one record",
    ts: "if (state === COMMITTED{+ || state === SKIPPED+}) return record;",
    c: "if ((first & 3) [-=-]{+>+}= WEFT_RECORD_RING_COMMITTED) return 0;",
  }, {
    what: "closes, and wakes producers once it has returned",
    by: "closed and drained, and freed when close left nothing to do",
    ts: "wake(words, POP_EPOCH, Infinity); {+Promise.resolve().then(() => " +
      "+}wake(words, PUSH_EPOCH, Infinity){+)+}; }",
    c: none("C does nothing once it has returned"),
  }, {
    what: "closes, and wakes no consumer",
    by: "one sleeps until another closes",
    ts: "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;[- " +
      "wake(words, POP_EPOCH, Infinity);-]",
    c: "return;[- weft__event_wake_end(&r->pop_epoch, WEFT__ALL);-]",
  }, {
    what: "closes by a load and a store",
    by: "a producer and the end, and what is left then",
    ts: "[-if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) " +
      "return-]{+const tail = Atomics.load(words, TAIL); if (tail & " +
      "CLOSED_BIT) return; Atomics.store(words, TAIL, tail | CLOSED_BIT)+};",
    c: "[-if (weft__or(&r->tail, WEFT_RECORD_RING_CLOSED_BIT) &-]{+int32_t " +
      "tail = weft__load(&r->tail); if (tail & WEFT_RECORD_RING_CLOSED_BIT) " +
      "return; weft__store(&r->tail, tail |+} WEFT_RECORD_RING_CLOSED_BIT)[- " +
      "return-];",
  }, {
    what: "abandons, and keeps the claim",
    by: "a producer terminated at any step",
    ts: "[-this.endClaim(); -]if (!whole",
    c: "[-weft__record_end_claim(r); -]if (!whole",
  }, {
    what: "abandons a record that was committed",
    by: "one sleeps behind what is abandoned",
    ts: "if ([-(head & 3) === RESERVED && -]words[record + 1] === id{+ || " +
      "(head & 3) === COMMITTED+}) {",
    c: "[-if ((first & 3) == WEFT_RECORD_RING_RESERVED && record[1] == id) " +
      "{-]{+if (record[1] == id || (first & 3) == " +
      "WEFT_RECORD_RING_COMMITTED) {+}",
  }, {
    what: "abandons, and wakes nobody",
    ts: "[-if (count > 0) wake(words, POP_EPOCH, Infinity);-]",
    c: "[-if (count > 0) weft__event_wake_end(&r->pop_epoch, WEFT__ALL);-]",
    by: "one sleeps behind what is abandoned",
  }, {
    what: "skips, and wakes nobody",
    ts: "Atomics.store(words, HEAD, head + space | 0);[- " +
      "this.wakeProducer();-]",
    c: "weft__store(&r->head, weft__plus(head, space));[- " +
      "weft__record_wake_producer(r);-]",
    by: "one waits for room where a record is skipped",
  }, {
    what: "closes, and wakes no producer",
    ts: "wake(words, POP_EPOCH, Infinity);[- wake(words, PUSH_EPOCH, " +
      "Infinity);-]",
    c: "weft__event_wake_end(&r->pop_epoch, WEFT__ALL);[- " +
      "weft__event_wake_end(&r->push_epoch, WEFT__ALL);-]",
    by: "one waits for room until another closes",
  }, {
    what: "(E): does not mark that it waits for another's reading",
    by: "two consumers",
    ts: "const marked = owner[- | CONTENDED_BIT-]; const seen = " +
      "Atomics.compareExchange(words, CONSUMER,",
    c: "int32_t marked = owner[- | WEFT_RECORD_RING_CONTENDED_BIT-]; int32_t " +
      "seen = weft__compare_exchange(&r->consumer,",
  }, {
    what: "(E): ends reading, and wakes nobody",
    by: "two consumers",
    ts: "[-if (-]Atomics.exchange(words, CONSUMER, 0)[- & CONTENDED_BIT) { " +
      "wake(words, POP_EPOCH, 1); }-]{+;+}",
    c: "[-if (-]weft__exchange(&r->consumer, 0)[- & " +
      "WEFT_RECORD_RING_CONTENDED_BIT) weft__event_wake_end(&r->pop_epoch, " +
      "1)-];",
  }, {
    what: "many consumers read at once",
    by: "two consumers, and all is there",
    ts: "[-const owner = -]Atomics.[-compareExchange-]{+store+}(words, " +
      "CONSUMER[-, 0, this.#id);-]{+, this.#id); const owner = 0;+}",
    c: "[-int32_t owner = weft__compare_exchange(&r->consumer, 0, " +
      "id);-]{+weft__store(&r->consumer, id); int32_t owner = 0;+}",
  }, {
    what: "ends reading before it has moved on",
    by: "two consumers, and all is there",
    ts: "{+this.#endReading(); +}this.#count(); Atomics.store(words, HEAD, " +
      "words[HEAD]! + space | 0);[- // (F) this.#endReading();-]",
    c: "{+weft__record_end_reading(r); +}weft__record_count(r); " +
      "weft__store(&r->head, weft__plus(head, space));[- /* (F) */ " +
      "weft__record_end_reading(r);-]",
  }, {
    what: "counts no record that it pops",
    by: "one record at a time",
    ts: "[-Atomics.store(words, POPPED, words[POPPED]! + 1 | 0); // before " +
      "(F)-]",
    c: "[-weft__store(&r->popped, weft__plus(weft__hint(&r->popped), 1));-]",
  }, {
    what: "any agent pops where one may",
    by: "two agents pop where one may",
    ts: "return [-this.#consumes = takeRole(words, CONSUMER, this.#id, " +
      '"consumer")-]{+true+};',
    c: "if (!weft_record_ring_many(r)) return " +
      "[-weft__take_role(&r->consumer)-]{+0+};",
  }, {
    what: "(F): frees before it copies to an array",
    ts: "{+this.consumeRecord(); +}getBytes(this.copier, this.bytes, dst, " +
      "(record + 2) * 4, length);[- this.consumeRecord();-]",
    c: none(
      "C has one form, where TypeScript has one for arrays and one for the rest",
    ),
    by: "a producer that waits for room, and pops into arrays",
  }),
  ...mutants({ ...RING, source: "_queue/record/ends" }, {
    what: "has no room, and hands no wake on",
    ts: "[-handOn: () => this.handRoomOn(),-]",
    c: "&q->push_epoch, {+(void)+}weft__record_hand_room_on[-(q)-],",
    by: "a short record waits behind a long one",
  }, {
    what: "has room, and wakes no other",
    header: "_record_claim",
    ts: "pass: () => [-this.passRoom()-]{+{}+},",
    c: "else [-if (-]{+(void)+}weft__record_has_room[-(r)) " +
      "weft__record_wake_producer(r)-];",
    by: "two wait for room, and it comes at once",
  }),
  ...mutants("record_ring", {
    what: "(F): frees before it copies",
    by: "a producer that waits for room",
    ts: "{+const length = this.lengthOfRecord(record); " +
      "this.consumeRecord(); +}const copy = this.bytes.slice(at, at + " +
      "[-this.lengthOfRecord(record)); this.consumeRecord();-]{+length);+}",
    c: "{+weft_record_ring_consume(r); +}if (found > 0) " +
      "__builtin_memcpy(dst, record + 2, (size_t)found); *length = found;[- " +
      "weft_record_ring_consume(r);-]",
  }),
];
