import { mutants, none } from "../_run/mutant.ts";

const CARRIER = none(
  "Its carrier, MpmcQueue or RecordRing, does this in TypeScript",
);

const NO_CARRIERS = none("C knows no carriers that are chosen");

/** Mutants of the carriers, and of the channel in C. */
export const MUTANTS = [
  ...mutants({
    source: "_queue/byte_ports",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "frees a record before it is decoded",
    by: "oneToOne: two through room for one",
    ts: "[-try {-]{+this.#inside = false; ring.consumeRecord();+} return " +
      "this.#codec.decodeAt(this.#memory, at, length);[- } finally { " +
      "this.#inside = false; ring.consumeRecord(); }-]",
    c: NO_CARRIERS,
  }, {
    what: "commits a record before it is encoded",
    by: "oneToOne: two through room for one",
    ts: [
      "length = [-lengthOf(codec,-]{+codec.encodeAt(value, new " +
      "Uint8Array(99), 0, 99); ring.commitRecord(length);+} " +
      "codec.encodeAt(value, this.#memory, at, room)[-)-];",
      "[-ring.commitRecord(length); -]return true;",
    ],
    c: NO_CARRIERS,
  }, {
    what: "keeps a record that was received",
    by: "oneToOne: two through room for one",
    ts: "finally { this.#inside = false; ring.[-consumeRecord()-]{+size+}; }",
    c: NO_CARRIERS,
  }),
  ...mutants({
    source: "_queue/carrier",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "frees an element in place before it is read",
    by: "oneToOne: numbers, one sends twice, one receives twice",
    ts: "{+queue.popPlaced(); +}const value = this.#field.get(this.#data, " +
      "place) as T;[- queue.popPlaced();-]",
    c: NO_CARRIERS,
  }, {
    what: "appends an element in place before it is written",
    by: "oneToOne: numbers, the end while one sends",
    ts: "{+queue.pushPlaced(); +}field.set(this.#data, place, checked as " +
      "never); return [-queue.pushPlaced()-]{+true+};",
    c: NO_CARRIERS,
  }),
  ...mutants({
    source: "_queue/channel/ends",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "notes that there was a sender before it is counted",
    by: "ends: the first one begins while another agent is recovered",
    ts: "{+Atomics.or(this.#words, ENDS, end.bit); +}if (!end.rows.take(1)) {",
    c: "{+weft__or(&c->ends, bit); +}int result = weft__tracked_take(end, " +
      "1); if (result != 0) return result;",
  }, {
    what: "does not note that there was a sender",
    by: "ends: the first one begins and leaves, another is recovered",
    ts: "[-Atomics.or(words, ENDS, end.bit)-];",
    c: "[-weft__or(&c->ends, bit)-];",
  }, {
    what: "the last one leaves and does not close",
    by: "ends: the last of two senders leaves, and one receives",
    ts: "[-if (-]rows.give(1)[- === MAX_COUNT) this.#queue.close()-];",
    c: "[-if (result == 0 && count == WEFT__TRACKED_MAX) " +
      "weft_channel_close(c);-]",
  }, {
    what: "looks whether it was the last one before it leaves",
    by: "ends: the last of two senders leaves, and one receives",
    ts: "[-if (rows.give(1-]{+const last = (Atomics.load(this.#words, " +
      "SENDERS) >> COUNT_SHIFT+}) === MAX_COUNT{+ - 1; rows.give(1); if " +
      "(last+}) this.#queue.close();",
    c: "{+bool last = weft__channel_count(c, end->counted) == 1; +}int " +
      "result = weft__tracked_give(end, 1, &count); if (result == 0 && " +
      "[-count == WEFT__TRACKED_MAX-]{+last+}) weft_channel_close(c);",
  }, {
    what: "leaves the closing to an agent that was terminated",
    by: "ends: of two senders that leave, one is terminated",
    ts: "[-sum +-]{+const left +}= end.rows.abandon(id);{+ sum += left; if " +
      "(left === 0) continue;+}",
    c: "if (left <{+=+} 0) return left; /* Pairs",
  }, {
    what: "closes for a dead sender while another one is there",
    by: "ends: a sender is recovered beside another one",
    ts: "if (were[- && this.count(end) === 0)-]{+)+}",
    c: "if (were[- && weft__channel_count(c, end->counted) == 0)-]{+)+}",
  }),
  ...mutants({
    source: "_queue/channel/handoff",
    header: "_handoff",
    scenarios: ["channel"],
  }, {
    what: "takes no offer",
    by: "capacity 0: a look that sends beside one that waits",
    ts: "(offered ? HANDED[- - ONE_OFFER-] : POSTED) | 0;",
    c: "(offered ? WEFT__HANDOFF_HANDED [-- WEFT__HANDOFF_ONE_OFFER -]: " +
      "WEFT__HANDOFF_POSTED)",
  }, {
    what: "sends and wakes nobody",
    by: "capacity 0: one sends and one receives",
    ts: "[-wakeEnd(words, MESSAGE_EPOCH, 1); -]return true;",
    c: "[-weft__event_wake_end(&h->message_epoch, 1); -]return 0;",
  }, {
    what: "wakes before it publishes",
    by: "capacity 0: one sends and one receives",
    ts: [
      "#publish(posts: boolean): boolean { const words = this.#words;{+ " +
      "wakeEnd(words, MESSAGE_EPOCH, 1);+}",
      "[-wakeEnd(words, MESSAGE_EPOCH, 1); -]return true;",
    ],
    c: [
      "bool *posted, int32_t *number) {{+ " +
      "weft__event_wake_end(&h->message_epoch, 1);+} int32_t state = " +
      "weft__load(&h->handoff);",
      "[-weft__event_wake_end(&h->message_epoch, 1); -]return 0;",
    ],
  }, {
    what: "takes a message and does not wake its sender",
    by: "capacity 0: one sends and one receives",
    ts: "[-wake(words, TAKEN_EPOCH, Infinity)-]; this.#pass();",
    c: "[-weft__event_wake(&h->taken_epoch, WEFT__ALL)-]{+(void)h+}; " +
      "weft__handoff_pass(h);",
  }, {
    what: "takes a message and wakes nobody who waits for the place",
    by: "capacity 0: two send, one receives",
    ts: "wake(words, TAKEN_EPOCH, Infinity);[- this.#pass();-]",
    c: "weft__event_wake(&h->taken_epoch, WEFT__ALL);[- " +
      "weft__handoff_pass(h);-]",
  }, {
    what: "ends to write and wakes nobody who found a writer",
    by: "capacity 0: two send, one receives",
    ts: "[-this.#pass(); // to one that found a writer-]",
    c: "[-weft__handoff_pass(h); /* to one that found a writer */-]",
  }, {
    what: "writes beside another writer",
    by: "capacity 0: two send, one receives",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, WRITER, [-0, " +
      "this.#id) !== 0) return false-]{+this.#id)+};",
    c: "[-if (weft__compare_exchange-]{+weft__store+}(&h->writer, [-0, " +
      "-]weft_agent_id())[- != 0) return EBUSY-];",
  }, {
    what: "writes over a message that came before it was the writer",
    by: "capacity 0: two send, one receives",
    ts: "if ([-(Atomics.load(words, HANDOFF) & PHASE_MASK) === " +
      "EMPTY-]{+words !== undefined+}) return true;",
    c: "if ([-weft__handoff_phase(weft__load(&h->handoff)) == " +
      "WEFT__HANDOFF_EMPTY-]{+h+}) return 0;",
  }, {
    what: "takes another message than it read",
    by: "capacity 0: one sends, two receive",
    ts: "[-if ((state & NUMBER_MASK) !== number ||-]{+if (number > 2 ** 40 " +
      "||+}",
    c: "if (([-state & WEFT__HANDOFF_NUMBER_MASK) != number-]{+number & 1) " +
      "!= 0+} ||",
  }, {
    what: "abandons no writer",
    by: "capacity 0: a dead writer keeps nobody from sending",
    ts: "Atomics.[-compareExchange-]{+load+}(words, WRITER[-, id, 0-]) === id;",
    c: "[-weft__compare_exchange-]{+weft__load+}(&h->writer[-, id, 0-]) == id;",
  }, {
    what: "abandons a writer that is alive",
    by: "capacity 0: two send, and one of nothing is abandoned",
    ts: "Atomics.[-compareExchange-]{+exchange+}(words, WRITER[-, id-], 0) " +
      "=== id;",
    c: "[-weft__compare_exchange-]{+weft__exchange+}(&h->writer[-, id-], 0) " +
      "== id;",
  }, {
    what: "abandons and wakes nobody",
    by: "capacity 0: a dead writer keeps nobody from sending",
    ts: "[-this.#wakeAll(); -]return wrote ? 1 : 0;",
    c: "[-weft__handoff_wake_all(h); -]return wrote ? 1 : 0;",
  }, {
    what: "leaves the offers of the dead",
    by: "capacity 0: one looks to send and one waits, terminated at any step",
    ts: "if[- (!handed && (state & OFFERS_MASK) ===-]{+ (state < 1 || state " +
      ">+} 0) break; // (O)",
    c: "if ([-!handed && !weft__handoff_offered(state)-]{+h+}) break; /* (O)",
  }, {
    what: "leaves what was handed to the dead to them",
    by: "capacity 0: what a dead receiver was handed is for the next one",
    ts: "[-handed ? next + POSTED - HANDED : -]next,",
    c: "[-handed ? next + WEFT__HANDOFF_POSTED - WEFT__HANDOFF_HANDED : " +
      "-]next);",
  }, {
    what: "takes back what a receiver took",
    by: "capacity 0: a look that receives beside one that waits",
    ts: "[-if (!this.#isPosted(state, number)) return false;-]",
    c: "[-if (!weft__handoff_is_posted(state, number)) return " +
      "false;-]{+(void)number;+}",
  }, {
    what: "takes the message of another sender for its own",
    by: "capacity 0: two give up to send, one looks",
    ts: "return (state & PHASE_MASK) === POSTED[- && (state & NUMBER_MASK) " +
      "=== number-];",
    c: "{+(void)number; +}return weft__handoff_phase(state) == " +
      "WEFT__HANDOFF_POSTED[- && (state & WEFT__HANDOFF_NUMBER_MASK) == " +
      "number-];",
  }, {
    what: "a sender that gives up leaves its message",
    by: "capacity 0: a look that receives beside one that waits",
    ts: "[-if (taken === undefined && !this.#takeBack(number)) taken = true;-]",
    c: "return [-weft__handoff_take_back(h, number) ? -]ETIMEDOUT[- : 0-];",
  }, {
    what: "takes an offer for none while it gives up",
    by: "capacity 0: a look that sends beside one that waits",
    ts: ": (state & OFFERS_MASK) !== 0 ? [--ONE_OFFER-]{+0+}",
    c: "weft__handoff_offered(state) ? [--WEFT__HANDOFF_ONE_OFFER-]{+0+}",
  }, {
    what: "closes and does not wake the sender in the place",
    by: "capacity 0: the end while one sends to nobody",
    ts: "wake(words, ROOM_EPOCH, Infinity);[- wake(words, TAKEN_EPOCH, " +
      "Infinity);-]",
    c: "weft__event_wake(&h->room_epoch, WEFT__ALL);[- " +
      "weft__event_wake(&h->taken_epoch, WEFT__ALL);-]",
  }, {
    what: "closes and does not wake receivers",
    by: "capacity 0: the end while one receives",
    ts: "[-wakeEnd(words, MESSAGE_EPOCH, Infinity); -]wakeEnd(words, " +
      "OFFER_EPOCH, Infinity);",
    c: "[-weft__event_wake_end(&h->message_epoch, WEFT__ALL); " +
      "-]weft__event_wake_end(&h->offer_epoch, WEFT__ALL);",
  }),
  ...mutants({
    source: "_queue/channel/handoff",
    header: "_handoff",
    scenarios: ["select_blocking"],
  }, {
    what: "ends offers, and those who made them do not notice",
    by: "capacity 0: offers are ended, and made again",
    ts: "state[- + ONE_ENDED-] & ENDED_MASK;",
    c: "[-(weft__plus(state, WEFT__HANDOFF_ONE_ENDED)-]{+(state+} & " +
      "WEFT__HANDOFF_ENDED_MASK);",
  }, {
    what: "takes back an offer that was ended",
    by: "capacity 0: an offer that was ended is not taken back",
    ts: "const change = offering.since [-!== (state & ENDED_MASK)-]{+< 0+} ? 0",
    c: "int32_t change = [-!weft__handoff_offers(state, *since)-]{+*since < " +
      "0+} ? 0",
  }, {
    what: "an arm that lost keeps what was handed to it",
    by: "capacity 0: select receives from one of two channels",
    ts: "? [-POSTED - HANDED-]{+0+}",
    c: "? [-WEFT__HANDOFF_POSTED - WEFT__HANDOFF_HANDED-]{+0+} : 0;",
  }, {
    what: "offers and wakes no arm that sends",
    by: "capacity 0: select sends to a receiver that waits",
    ts: "}[- wakeEnd(words, OFFER_EPOCH, 1);-] } /**",
    c: "*since = state & WEFT__HANDOFF_ENDED_MASK;[- " +
      "weft__event_wake_end(&h->offer_epoch, 1);-]",
  }, {
    what: "frees the place and wakes no arm that sends to another receiver",
    by: "capacity 0: two select to send, two receive",
    ts: "[-if (closed || (state & OFFERS_MASK)) -]{+if (closed) +}" +
      "wakeEnd(words, OFFER_EPOCH, n);",
    c: "[-if (closed || weft__handoff_offered(state))-]{+if (closed)+} " +
      "weft__event_wake_end(&h->offer_epoch, n);",
  }),
  ...mutants({
    source: "_queue/channel/handoff",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "publishes before it writes, into the place",
    by: "capacity 0: one sends and one receives",
    ts: "{+const sent = this.#publish(posts); +}this.#words[LENGTH] = value; " +
      "[-// published by (P) return this.#publish(posts)-]{+return sent+};",
    c: "[-weft__handoff_put(place, src, length); /* published by (P) */ " +
      "return-]{+result =+} weft__handoff_publish(c, posts, posted, " +
      "number);{+ weft__handoff_put(place, src, length); return result;+}",
  }, {
    what: "takes a message before it reads it",
    by: "capacity 0: one sends twice, one receives twice",
    ts: "[-const value = this.#words[LENGTH]!; // as in `tryPopInto` -]if " +
      "(this.#take(state)) return [-value-]{+this.#words[LENGTH]!+};",
    c: "[-weft__handoff_get(dst, place, size); -]*length = size; if " +
      "(weft__handoff_take(c, since, state)) {+{ weft__handoff_get(dst, " +
      "place, size); +}return 0;{+ }+}",
  }, {
    what: "does not wait for a receiver",
    by: "capacity 0: one sends and one receives",
    ts: "if (number [-=== undefined-]{+!== -1+}) return true;",
    c: "if (result != 0 || !posted{+ || number != 1+}) return result;",
  }, {
    what: "gives up and leaves what was handed to it",
    by: "capacity 0: a look that sends beside one that waits",
    ts: "[-if ((state & PHASE_MASK) !== EMPTY && (state & OFFERS_MASK) === " +
      "0) {-]{+if (state === undefined) {+}",
    c: "if ([-weft__handoff_phase(state) != WEFT__HANDOFF_EMPTY && " +
      "!weft__handoff_offered(state)-]{+!c+}) {",
  }),
  ...mutants("channel", {
    what: "publishes before it writes",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "{+weft__mpmc_publish(slot, ticket); +}__builtin_memcpy(element, src, " +
      "(size_t)length);[- /* published by (P) */ weft__mpmc_publish(slot, " +
      "ticket);-]",
  }, {
    what: "clears the padding over what it wrote",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "[-element[q->element_size / 4 - 1] = 0; /* the padding */ " +
      "-]__builtin_memcpy(element, src, (size_t)length); /* published by (P) " +
      "*/{+ element[q->element_size / 4 - 1] = 0;+}",
  }, {
    what: "frees before it reads",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "{+weft__mpmc_free(q, slot, ticket); +}__builtin_memcpy(dst, element, " +
      "(size_t)*length);[- /* published by (P) */ weft__mpmc_free(q, slot, " +
      "ticket);-]",
  }, {
    what: "does not free the slot of the message it took",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "[-weft__mpmc_free(q, slot, ticket); " +
      "-]weft__event_wake_end(&q->push_epoch, 1);",
  }, {
    what: "sends and wakes nobody",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "weft__mpmc_publish(slot, ticket);[- " +
      "weft__event_wake_end(&q->pop_epoch, 1);-]",
  }, {
    what: "receives and wakes nobody",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "weft__mpmc_free(q, slot, ticket);[- " +
      "weft__event_wake_end(&q->push_epoch, 1);-]",
  }, {
    what: "wakes before it publishes",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: "[-weft__mpmc_publish(slot, ticket); " +
      "-]weft__event_wake_end(&q->pop_epoch, 1);{+ weft__mpmc_publish(slot, " +
      "ticket);+}",
  }, {
    what: "takes the end for an empty queue",
    by: "numbers, a look and the end",
    ts: CARRIER,
    c: "int32_t count = weft__mpmc_claim_pop(q, 1, &ticket); if (count <= 0) " +
      "return [-count == 0 ? EBUSY : -count-]{+EBUSY+};",
  }, {
    what: "takes a failed send to a closed channel for a success",
    by: "numbers, the end before one sends, or after",
    ts: CARRIER,
    c: "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= " +
      "0) return count == 0 ? EBUSY : [--count-]{+0+};",
  }, {
    what: "abandons nothing",
    by: "a sender terminated at any step",
    ts: CARRIER,
    c: ": [-weft_record_ring_abandon(weft__channel_ring(c), id)-]{+0+};",
  }),
];
