import { mutants } from "../_run/mutant.ts";

const CARRIER = "Its carrier, MpmcQueue or RecordRing, does this in TypeScript";
const PUT = "__builtin_memcpy(element, src, (size_t)length); " +
  "/* published by (P) */";
const GOT = "__builtin_memcpy(dst, element, (size_t)*length); " +
  "/* published by (P) */";

const NO_CARRIERS = "C knows no carriers that are chosen";

/** Mutants of the carriers, and of the channel in C. */
export const MUTANTS = [
  ...mutants({
    source: "_queue/carrier",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "frees a record before it is decoded",
    by: "oneToOne: two through room for one",
    ts: [
      "try { return this.#codec.decodeAt(this.#memory, at, length); } " +
      "finally { this.#inside = false; ring.consumeRecord(); }",
      "this.#inside = false; ring.consumeRecord(); " +
      "return this.#codec.decodeAt(this.#memory, at, length);",
    ],
    c: NO_CARRIERS,
  }, {
    what: "commits a record before it is encoded",
    by: "oneToOne: two through room for one",
    ts: [
      "length = checked(codec, codec.encodeAt(value, this.#memory, at, room));",
      "length = codec.encodeAt(value, new Uint8Array(99), 0, 99); " +
      "ring.commitRecord(length); codec.encodeAt(value, this.#memory, at, room);",
      ["ring.commitRecord(length); return true;", "return true;"],
    ],
    c: NO_CARRIERS,
  }, {
    what: "keeps a record that was received",
    by: "oneToOne: two through room for one",
    ts: [
      "finally { this.#inside = false; ring.consumeRecord(); }",
      "finally { this.#inside = false; ring.size; }",
    ],
    c: NO_CARRIERS,
  }, {
    what: "frees an element in place before it is read",
    by: "oneToOne: numbers, one sends twice, one receives twice",
    ts: [
      "const value = this.#field.get(this.#data, place) as T; queue.popPlaced();",
      "queue.popPlaced(); const value = this.#field.get(this.#data, place) as T;",
    ],
    c: NO_CARRIERS,
  }, {
    what: "appends an element in place before it is written",
    by: "oneToOne: numbers, the end while one sends",
    ts: [
      "field.set(this.#data, place, checked as never); return queue.pushPlaced();",
      "queue.pushPlaced(); field.set(this.#data, place, checked as never); return true;",
    ],
    c: NO_CARRIERS,
  }),
  ...mutants({
    source: "_queue/channel/ends",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "notes that there was a sender before it is counted",
    by: "ends: the first one begins while another agent is recovered",
    ts: [
      "if (!end.rows.take(1)) {",
      "Atomics.or(this.#words, ENDS, end.bit); if (!end.rows.take(1)) {",
    ],
    c: [
      "int result = weft__tracked_take(end, 1); if (result != 0) return result;",
      "weft__or(&c->ends, bit); int result = weft__tracked_take(end, 1); " +
      "if (result != 0) return result;",
    ],
  }, {
    what: "does not note that there was a sender",
    by: "ends: the first one begins and leaves, another is recovered",
    ts: ["Atomics.or(words, ENDS, end.bit);", ";"],
    c: ["weft__or(&c->ends, bit);", ";"],
  }, {
    what: "the last one leaves and does not close",
    by: "ends: the last of two senders leaves, and one receives",
    ts: [
      "if (rows.give(1) === MAX_COUNT) this.#queue.close();",
      "rows.give(1);",
    ],
    c: [
      "if (result == 0 && count == WEFT__TRACKED_MAX) weft_channel_close(c);",
      "",
    ],
  }, {
    what: "looks whether it was the last one before it leaves",
    by: "ends: the last of two senders leaves, and one receives",
    ts: [
      "if (rows.give(1) === MAX_COUNT) this.#queue.close();",
      "const last = (Atomics.load(this.#words, SENDERS) >> COUNT_SHIFT) === " +
      "MAX_COUNT - 1; rows.give(1); if (last) this.#queue.close();",
    ],
    c: [
      "int result = weft__tracked_give(end, 1, &count); " +
      "if (result == 0 && count == WEFT__TRACKED_MAX) weft_channel_close(c);",
      "bool last = weft__channel_count(c, end->counted) == 1; " +
      "int result = weft__tracked_give(end, 1, &count); " +
      "if (result == 0 && last) weft_channel_close(c);",
    ],
  }, {
    what: "leaves the closing to an agent that was terminated",
    by: "ends: a sender is terminated while it leaves, and one receives",
    ts: [
      "sum += end.rows.abandon(id);",
      "const left = end.rows.abandon(id); sum += left; " +
      "if (left === 0) continue;",
    ],
    c: [
      "if (left < 0) return left; /* Pairs",
      "if (left <= 0) return left; /* Pairs",
    ],
  }, {
    what: "closes for a dead sender while another one is there",
    by: "ends: a sender is recovered beside another one",
    ts: ["if (were && this.count(end) === 0)", "if (were)"],
    c: [
      "if (were && weft__channel_count(c, end->counted) == 0)",
      "if (were)",
    ],
  }),
  ...mutants({
    source: "_queue/channel/handoff",
    header: "_handoff",
    scenarios: ["channel"],
  }, {
    what: "takes no offer",
    by: "capacity 0: a look that sends beside one that waits",
    ts: [
      "(offered ? PROMISED - ONE_OFFER : WRITING) | 0;",
      "(offered ? PROMISED : WRITING) | 0;",
    ],
    c: [
      "(offered ? WEFT__HANDOFF_PROMISED - WEFT__HANDOFF_ONE_OFFER : " +
      "WEFT__HANDOFF_WRITING)",
      "(offered ? WEFT__HANDOFF_PROMISED : WEFT__HANDOFF_WRITING)",
    ],
  }, {
    what: "sends and wakes nobody",
    by: "capacity 0: one sends and one receives",
    ts: ["wakeEnd(words, MESSAGE_EPOCH, 1); return true;", "return true;"],
    c: [
      "*number = next & WEFT__HANDOFF_NUMBER_MASK; " +
      "weft__event_wake_end(&h->message_epoch, 1);",
      "*number = next & WEFT__HANDOFF_NUMBER_MASK;",
    ],
  }, {
    what: "wakes before it publishes",
    by: "capacity 0: one sends and one receives",
    ts: [
      "#publish(posts: boolean): boolean { const words = this.#words;",
      "#publish(posts: boolean): boolean { const words = this.#words; " +
      "wakeEnd(words, MESSAGE_EPOCH, 1);",
      ["wakeEnd(words, MESSAGE_EPOCH, 1); return true;", "return true;"],
    ],
    c: [
      "bool *posted, int32_t *number) { " +
      "int32_t state = weft__load(&h->handoff); int32_t next;",
      "bool *posted, int32_t *number) { " +
      "weft__event_wake_end(&h->message_epoch, 1); " +
      "int32_t state = weft__load(&h->handoff); int32_t next;",
      [
        "*number = next & WEFT__HANDOFF_NUMBER_MASK; " +
        "weft__event_wake_end(&h->message_epoch, 1);",
        "*number = next & WEFT__HANDOFF_NUMBER_MASK;",
      ],
    ],
  }, {
    what: "frees the place and does not wake its sender",
    by: "capacity 0: one sends and one receives",
    ts: [
      "wake(words, TAKEN_EPOCH, Infinity); wake(words, ROOM_EPOCH, 1);",
      "wake(words, ROOM_EPOCH, 1);",
    ],
    c: [
      "weft__event_wake(&h->taken_epoch, WEFT__ALL); " +
      "weft__event_wake(&h->room_epoch, 1);",
      "weft__event_wake(&h->room_epoch, 1);",
    ],
  }, {
    what: "frees the place and wakes nobody who waits for it",
    by: "capacity 0: two send, one receives",
    ts: [
      "wake(words, TAKEN_EPOCH, Infinity); wake(words, ROOM_EPOCH, 1);",
      "wake(words, TAKEN_EPOCH, Infinity);",
    ],
    c: [
      "weft__event_wake(&h->taken_epoch, WEFT__ALL); " +
      "weft__event_wake(&h->room_epoch, 1);",
      "weft__event_wake(&h->taken_epoch, WEFT__ALL);",
    ],
  }, {
    what: "takes back what a receiver took",
    by: "capacity 0: a look that receives beside one that waits",
    ts: [
      "if (!this.#isPosted(state, number)) return false;",
      "",
    ],
    c: [
      "if (!weft__handoff_is_posted(state, number)) return false;",
      "(void)number;",
    ],
  }, {
    what: "takes the message of another sender for its own",
    by: "capacity 0: two give up to send, one looks",
    ts: [
      "return (state & PHASE_MASK) === POSTED && " +
      "(state & NUMBER_MASK) === number;",
      "return (state & PHASE_MASK) === POSTED;",
    ],
    c: [
      "return weft__handoff_phase(state) == WEFT__HANDOFF_POSTED && " +
      "(state & WEFT__HANDOFF_NUMBER_MASK) == number;",
      "(void)number; " +
      "return weft__handoff_phase(state) == WEFT__HANDOFF_POSTED;",
    ],
  }, {
    what: "a sender that gives up leaves its message",
    by: "capacity 0: a look that receives beside one that waits",
    ts: [
      "if (taken === undefined && !this.#takeBack(number)) taken = true;",
      "",
    ],
    c: [
      "return weft__handoff_take_back(h, number) ? ETIMEDOUT : 0;",
      "return ETIMEDOUT;",
    ],
  }, {
    what: "a receiver that gives up leaves what was promised for it",
    by: "capacity 0: a look that sends beside one that waits",
    ts: ["? WRITING - PROMISED", "? 0"],
    c: ["? WEFT__HANDOFF_WRITING - WEFT__HANDOFF_PROMISED", "? 0"],
  }, {
    what: "takes an offer for none while it gives up",
    by: "capacity 0: a look that sends beside one that waits",
    ts: [
      "const change = (state & OFFERS_MASK) !== 0 ? -ONE_OFFER",
      "const change = (state & OFFERS_MASK) !== 0 ? 0",
    ],
    c: [
      "weft__handoff_offered(state) ? -WEFT__HANDOFF_ONE_OFFER",
      "weft__handoff_offered(state) ? 0",
    ],
  }, {
    what: "finds the end and leaves the promise to it",
    by: "capacity 0: the end while one sends to a receiver that waits",
    ts: [
      "if (offering?.offers && !this.#retract(offering, state)) {",
      "if (state === 0) {",
    ],
    c: [
      "if (*offers && !weft__handoff_retract(h, offers, state)) {",
      "if (!offers) {",
    ],
  }, {
    what: "an arm that lost keeps what was handed to it",
    by: "capacity 0: select receives from one of two channels",
    ts: ["? POSTED - HANDED", "? 0"],
    c: "C's select refuses channels of capacity 0",
  }, {
    what: "offers and wakes no arm that sends",
    by: "capacity 0: select sends to a receiver that waits",
    ts: [
      "offering.offers = true; wakeEnd(words, OFFER_EPOCH, 1);",
      "offering.offers = true;",
    ],
    c: "C's select refuses channels of capacity 0",
  }, {
    what: "closes and does not wake the sender in the place",
    by: "capacity 0: the end while one sends to nobody",
    ts: [
      "wake(words, ROOM_EPOCH, Infinity); wake(words, TAKEN_EPOCH, Infinity);",
      "wake(words, ROOM_EPOCH, Infinity);",
    ],
    c: [
      "weft__event_wake(&h->room_epoch, WEFT__ALL); " +
      "weft__event_wake(&h->taken_epoch, WEFT__ALL);",
      "weft__event_wake(&h->room_epoch, WEFT__ALL);",
    ],
  }, {
    what: "closes and does not wake receivers",
    by: "capacity 0: the end while one receives",
    ts: [
      "wakeEnd(words, MESSAGE_EPOCH, Infinity); " +
      "wakeEnd(words, OFFER_EPOCH, Infinity);",
      "wakeEnd(words, OFFER_EPOCH, Infinity);",
    ],
    c: [
      "weft__event_wake_end(&h->message_epoch, WEFT__ALL); " +
      "weft__event_wake_end(&h->offer_epoch, WEFT__ALL);",
      "weft__event_wake_end(&h->offer_epoch, WEFT__ALL);",
    ],
  }),
  ...mutants({
    source: "_queue/channel/handoff",
    header: "channel",
    scenarios: ["channel"],
  }, {
    what: "publishes before it writes, into the place",
    by: "capacity 0: one sends and one receives",
    ts: [
      "this.#words[LENGTH] = value; // published by (P) " +
      "return this.#publish(posts);",
      "const sent = this.#publish(posts); this.#words[LENGTH] = value; " +
      "return sent;",
    ],
    c: [
      "__builtin_memcpy(place, src, (size_t)length); /* published by (P) */ " +
      "return weft__handoff_publish(h, posts, posted, number);",
      "result = weft__handoff_publish(h, posts, posted, number); " +
      "__builtin_memcpy(place, src, (size_t)length); return result;",
    ],
  }, {
    what: "frees the place before it reads",
    by: "capacity 0: one sends twice, one receives twice",
    ts: [
      "const value = this.#words[LENGTH]!; // published by (P) " +
      "this.#free(); return value;",
      "this.#free(); return this.#words[LENGTH]!;",
    ],
    c: [
      "__builtin_memcpy(dst, place, (size_t)size); /* published by (P) */ " +
      "weft__handoff_free(h);",
      "weft__handoff_free(h); __builtin_memcpy(dst, place, (size_t)size);",
    ],
  }, {
    what: "does not wait for a receiver",
    by: "capacity 0: one sends and one receives",
    ts: [
      "if (number === undefined) return true;",
      "if (number !== -1) return true;",
    ],
    c: [
      "if (result != 0 || !posted) return result;",
      "if (result != 0 || !posted || number != 1) return result;",
    ],
  }, {
    what: "gives up and leaves what was handed to it",
    by: "capacity 0: a look that sends beside one that waits",
    ts: [
      "const isHanded = (state & PHASE_MASK) === HANDED;",
      "const isHanded = false;",
    ],
    c: [
      "if (weft__handoff_phase(state) == WEFT__HANDOFF_HANDED && " +
      "!weft__handoff_offered(state)) {",
      "if (!h) {",
    ],
  }),
  ...mutants("channel", {
    what: "publishes before it writes",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      `${PUT} weft__mpmc_publish(q, ticket);`,
      "weft__mpmc_publish(q, ticket); " +
      "__builtin_memcpy(element, src, (size_t)length);",
    ],
  }, {
    what: "clears the padding over what it wrote",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      `element[q->element_size / 4 - 1] = 0; /* the padding */ ${PUT}`,
      `${PUT} element[q->element_size / 4 - 1] = 0;`,
    ],
  }, {
    what: "frees before it reads",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      `${GOT} weft__mpmc_free(q, ticket);`,
      "weft__mpmc_free(q, ticket); " +
      "__builtin_memcpy(dst, element, (size_t)*length);",
    ],
  }, {
    what: "does not free the slot of the message it took",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      "weft__mpmc_free(q, ticket); weft__event_wake_end(&q->push_epoch, 1);",
      "weft__event_wake_end(&q->push_epoch, 1);",
    ],
  }, {
    what: "sends and wakes nobody",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      "weft__mpmc_publish(q, ticket); weft__event_wake_end(&q->pop_epoch, 1);",
      "weft__mpmc_publish(q, ticket);",
    ],
  }, {
    what: "receives and wakes nobody",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      "weft__mpmc_free(q, ticket); weft__event_wake_end(&q->push_epoch, 1);",
      "weft__mpmc_free(q, ticket);",
    ],
  }, {
    what: "wakes before it publishes",
    by: "numbers, room for one, one sends and one receives",
    ts: CARRIER,
    c: [
      "weft__mpmc_publish(q, ticket); weft__event_wake_end(&q->pop_epoch, 1);",
      "weft__event_wake_end(&q->pop_epoch, 1); weft__mpmc_publish(q, ticket);",
    ],
  }, {
    what: "takes the end for an empty queue",
    by: "numbers, a look and the end",
    ts: CARRIER,
    c: [
      "int32_t count = weft__mpmc_claim_pop(q, 1, &ticket); if (count <= 0) " +
      "return count == 0 ? EBUSY : -count;",
      "int32_t count = weft__mpmc_claim_pop(q, 1, &ticket); if (count <= 0) " +
      "return EBUSY;",
    ],
  }, {
    what: "takes a failed send to a closed channel for a success",
    by: "numbers, the end before one sends, or after",
    ts: CARRIER,
    c: [
      "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) " +
      "return count == 0 ? EBUSY : -count;",
      "int32_t count = weft__mpmc_claim_push(q, 1, &ticket); if (count <= 0) " +
      "return count == 0 ? EBUSY : 0;",
    ],
  }, {
    what: "abandons nothing",
    by: "a sender terminated at any step",
    ts: CARRIER,
    c: [
      ": weft_record_ring_abandon(weft__channel_ring(c), id);",
      ": 0;",
    ],
  }),
];
