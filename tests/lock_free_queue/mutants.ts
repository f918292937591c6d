import { mutants, none } from "../_run/mutant.ts";

const HINT = none(
  "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
);

/** Mutants of `LockFreeQueue`. */
export const MUTANTS = mutants({
  source: "_queue/lock_free/core",
  header: "lock_free_queue",
  scenarios: ["lock_free_queue"],
}, {
  what: "(P): publishes before it writes",
  by: "two push, one finds it full",
  ts: "[-this.#words[this.#slots + slot] = value; // published by (P) " +
    "-]const result = this.#append(this.#ticket, slot, this.capacity); if " +
    "(result < 0) return this.#isNone(result);{+ this.#words[this.#slots + " +
    "slot] = value;+}",
  c: "[-*weft__lock_free_slot(q, slot) = value; /* published by (P) */ " +
    "-]int32_t result = weft__lock_free_append(q, ticket, slot, " +
    "q->capacity); if (result < 0) return weft__lock_free_error(result);{+ " +
    "*weft__lock_free_slot(q, slot) = value;+}",
}, {
  what: "frees before it reads",
  by: "the only slot goes from a pop to a push",
  ts: "{+this.#giveBack(slot); +}const value = this.#words[this.#slots + " +
    "slot]!;[- // published by (P) this.#giveBack(slot);-]",
  c: "{+weft__lock_free_give_back(q, slot); +}*value = " +
    "*weft__lock_free_slot(q, slot);[- /* published by (P) */ " +
    "weft__lock_free_give_back(q, slot);-]",
}, {
  what: "(C): the size is that of two times",
  header: "_lock_free_ring",
  by: "the size, while elements go and come",
  ts: "[-if (front === was || looks === 1) -]{",
  c: "[-if (front == was || looks == 1) -]break;",
}, {
  what: "puts a ticket in by a store",
  header: "_lock_free_ring",
  by: "two push, one finds it full",
  ts: "[-entry = -]Atomics.[-compareExchange-]{+store+}(words, at, [-free, " +
    "-]put);",
  c: "[-entry = weft__compare_exchange(at, free-]{+weft__store(at+}, put);",
}, {
  what: "takes a ticket by a store",
  header: "_lock_free_ring",
  by: "two push, one finds it full",
  ts: "const seen = {+entry; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "at, [-entry, -]taken);",
  c: "int32_t seen = [-weft__compare_exchange(at, entry-]{+entry; " +
    "weft__store(at+}, taken);",
}, {
  what: "closes by a store",
  by: "close meets a push and a pop",
  ts: "const seen = {+free; +}Atomics.[-compareExchange-]{+store+}(words, " +
    "at, [-free, -]closed);",
  c: "int32_t seen = [-weft__compare_exchange(at, free-]{+free; " +
    "weft__store(at+}, closed);",
}, {
  what: "marks a taken entry with the same lap",
  header: "_lock_free_ring",
  by: "two push, one finds it full",
  ts: "const taken = free[- + 2 * filled | 0-];",
  c: "int32_t taken = [-weft__plus(free, 2 * ring.filled)-]{+free+};",
}, {
  what: "a push that finds the queue full keeps its slot",
  by: "two push, one finds it full",
  ts: "[-if (result < 0) this.#giveBack(slot);-]",
  c: "[-if (result != 0) weft__lock_free_give_back(q, slot);-]",
}, {
  what: "notices one element too late that it is full",
  header: "_lock_free_ring",
  by: "two push, one finds it full",
  ts: "if (capacity > 0 && !this.#isTaken(ticket - capacity {+- 1 +}| 0)) {",
  c: "!weft__lock_free_is_taken(ring, weft__minus(ticket, capacity{+ + " +
    "1+}))) {",
}, {
  what: "a hint says that an element is not taken",
  by: "full, and a push meets a pop",
  ts: "return this.#ahead(words[at]!, ticket) > 0[- || " +
    "this.#ahead(Atomics.load(words, at), ticket) > 0-];",
  c: HINT,
}, {
  what: "a hint says that the queue is empty",
  by: "where the tickets wrap",
  ts: "[-entry = Atomics.load(words, at); -]if (entry === free) return NONE; " +
    "if (entry === (free | CLOSED)) return OVER; } ticket",
  c: HINT,
}, {
  what: "does not notice that an empty queue is closed",
  header: "_lock_free_ring",
  by: "close meets a push and a pop",
  ts: "if (entry === (free | CLOSED)) return [-OVER-]{+NONE+}; } ticket",
  c: "if (entry == closed) return " +
    "[-WEFT__LOCK_FREE_OVER-]{+WEFT__LOCK_FREE_NONE+};",
}, {
  what: "laps do not wrap",
  header: "_lock_free_ring",
  by: "where the laps change their sign",
  ts: "((entry & -2 * this.#filled) - this.#lap(ticket)[- | 0) >> 1-]{+) / 2+}",
  c: "return [-weft__minus(lap,-]{+(int32_t)(((int64_t)lap -+} " +
    "weft__lock_free_lap(ring, ticket)) [->> 1-]{+/ 2)+};",
}, {
  what: "closes and wakes no consumer",
  by: "two sleep until close, and have no end",
  ts: "[-wake(words, POP_EPOCH, Infinity); -]wake(words, PUSH_EPOCH, " +
    "Infinity); }",
  c: "[-weft__event_wake_end(&q->pop_epoch, WEFT__ALL); " +
    "-]weft__event_wake_end(&q->push_epoch, WEFT__ALL); return tries",
}, {
  what: "closes and wakes one consumer",
  by: "two sleep until close, and have no end",
  ts: [
    "wake(words, POP_EPOCH, [-Infinity-]{+1+}); wake(words, PUSH_EPOCH, " +
    "Infinity); }",
    "[-else if (this.closed) wake(this.#words, POP_EPOCH, Infinity);-]",
  ],
  c: [
    "weft__event_wake_end(&q->pop_epoch, [-WEFT__ALL-]{+1+}); " +
    "weft__event_wake_end(&q->push_epoch, WEFT__ALL); return tries",
    "[-else if (weft_lock_free_queue_closed(q)) " +
    "weft__event_wake_end(&q->pop_epoch, WEFT__ALL);-]",
  ],
}, {
  what: "pushes and wakes nobody",
  by: "one sleeps until an element comes",
  ts: "if (result < 0) return this.#isNone(result); [-wake(this.#words, " +
    "POP_EPOCH, 1); -]return true; } /** Takes a 4-byte",
  c: "if (result < 0) return weft__lock_free_error(result); " +
    "[-weft__event_wake_end(&q->pop_epoch, 1); -]return 0;",
}, {
  what: "pops and wakes nobody",
  by: "one sleeps until there is room",
  ts: "this.#giveBack(slot); [-wake(this.#words, PUSH_EPOCH, 1); -]return " +
    "value;",
  c: "weft__lock_free_give_back(q, slot); " +
    "[-weft__event_wake_end(&q->push_epoch, 1); -]return 0;",
}, {
  what: "puts in a ticket again that is already there",
  header: "_lock_free_ring",
  by: "two push, one finds it full",
  ts: "const put =[- entry & this.#filled ? ahead :-] ahead - this.#filled;",
  c: [
    "int32_t put =[- entry & ring.filled ? ahead :-] ahead - ring.filled;",
    "[-if (past >= n && past <= 2 * n) return weft__plus(ticket, 1);-]",
  ],
}, {
  what: "passes over a ticket that is just being put in",
  header: "_lock_free_ring",
  by: "where the tickets wrap",
  ts: "if (ahead === 0) return ticket[-; // it was put in just now-]{+ + 1 | " +
    "0;+}",
  c: "if (ahead == 0) return [-ticket; /* put in just now " +
    "*/-]{+weft__plus(ticket, 1);+}",
});
