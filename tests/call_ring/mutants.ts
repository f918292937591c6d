import { mutants } from "../_run/mutant.ts";
import { HINT, SLOTS } from "./mutants_slots.ts";

/** Mutants of `CallRing`. */
export const MUTANTS = [
  ...mutants({
    source: "_calls/ring/call",
    header: "call_ring",
    scenarios: ["call_ring"],
  }, {
    what: "claims by a store",
    by: "two want one slot",
    ts: "Atomics.[-compareExchange-]{+store+}(words, at[-, FREE-], CLAIMED | " +
      "id) [-===-]{+>+} FREE",
    c: "[-weft__compare_exchange(&c->state, WEFT_CALL_RING_FREE, " +
      "-]{+(weft__store(&c->state, +}WEFT_CALL_RING_CLAIMED | id)[- == " +
      "WEFT_CALL_RING_FREE)-]{+, 1))+}",
  }, {
    what: "writes the request's length after it is posted",
    by: "a post, the end, and its server",
    ts: [
      "[-words[at + REQUEST_LENGTH] = byteLength; // published by (P)-]",
      "Atomics.store(words, at, posted); [-// (P)-]{+words[at + " +
      "REQUEST_LENGTH] = byteLength;+}",
    ],
    c: [
      "weft__store(&c->state, posted); [-/* (P) */-]{+c->request_length = " +
      "length;+}",
      "[-c->request_length = length; /* published by (P) */-]",
    ],
  }, {
    what: "posts and wakes no server",
    by: "a server is abandoned",
    ts: "[-wake(words, SERVE_EPOCH, 1); -]return true;",
    c: "[-weft__event_wake(&r->serve_epoch, 1); -]return 0;",
  }, {
    what: "wakes a server before it posts",
    by: "a server is abandoned",
    ts: [
      "{+wake(words, SERVE_EPOCH, 1); +}Atomics.store(words, at, posted);[- " +
      "// (P)-]",
      "[-wake(words, SERVE_EPOCH, 1); -]return true;",
    ],
    c: [
      "{+weft__event_wake(&r->serve_epoch, 1); +}weft__store(&c->state, " +
      "posted);[- /* (P) */-]",
      "[-weft__event_wake(&r->serve_epoch, 1); -]return 0;",
    ],
  }, {
    what: "does not check again whether the ring was closed",
    by: "a call and the end",
    ts: "if ( [-isClosed(words-]{+Math.abs(0+}) && " +
      "Atomics.compareExchange(words, at, posted, FREE)",
    c: "if ([-weft_call_ring_closed(r)-]{+0+} && " +
      "weft__compare_exchange(&c->state, posted,",
  }, {
    what: "checks whether the ring was closed before it posts",
    by: "a call and the end",
    ts: [
      "{+const closed = isClosed(words); +}Atomics.store(words, at, " +
      "posted);[- // (P)-]",
      "if ( [-isClosed(words)-]{+closed+} && Atomics.compareExchange(words, " +
      "at, posted, FREE)",
    ],
    c: [
      "{+bool closed = weft_call_ring_closed(r); +}weft__store(&c->state, " +
      "posted);[- /* (P) */-]",
      "if ([-weft_call_ring_closed(r)-]{+closed+} && " +
      "weft__compare_exchange(&c->state, posted,",
    ],
  }, {
    what: "withdraws a call by a store although it may be taken",
    by: "a call and the end",
    ts: "Atomics.[-compareExchange-]{+store+}(words, at[-, posted, FREE) === " +
      "posted-]{+, FREE) === FREE+} )",
    c: "[-weft__compare_exchange(&c->state, posted, WEFT_CALL_RING_FREE) == " +
      "posted)-]{+(weft__store(&c->state, WEFT_CALL_RING_FREE), 1))+}",
  }, {
    what: "frees a slot and wakes nobody",
    by: "one serves itself, another wants its slot",
    ts: "Atomics.store(words, at, FREE);[- wake(words, SLOT_EPOCH, 1);-]",
    c: "weft__store(&c->state, WEFT_CALL_RING_FREE); " +
      "[-weft__event_wake(&r->slot_epoch, 1)-]{+(void)r+}; }",
  }, {
    what: "wakes callers that want a slot before the slot is free",
    by: "one serves itself, another wants its slot",
    ts: "{+wake(words, SLOT_EPOCH, 1); +}Atomics.store(words, at, FREE);[- " +
      "wake(words, SLOT_EPOCH, 1);-]",
    c: "{+weft__event_wake(&r->slot_epoch, 1); +}weft__store(&c->state, " +
      "WEFT_CALL_RING_FREE); [-weft__event_wake(&r->slot_epoch, 1); -]}",
  }, {
    what: "withdraws a call and wakes nobody for its slot",
    by: "two want one slot",
    ts: "[-if (next === FREE) wake(words, SLOT_EPOCH, 1); -]return true;",
    c: "[-if (next == WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, " +
      "1)-]{+(void)r+}; return true;",
  }, {
    what: "sleeps without saying so",
    by: "a call and its server",
    ts: "[-if ( state !== value && Atomics.compareExchange(words, at, state, " +
      "value) !== state ) continue; -]const outcome = yield { words, index: " +
      "at, value{+: state+},",
    c: [
      "[-if (state != value && weft__compare_exchange(&c->state, state, " +
      "value) != state) continue; -]int outcome = weft__sleep(&c->state, " +
      "[-value-]{+state+},",
      "[-int32_t value = state | WEFT_CALL_RING_WAITING_BIT;-]",
    ],
  }, {
    what: "says that it sleeps by a store",
    by: "a server is abandoned",
    ts: "state !== value && Atomics.[-compareExchange-]{+store+}(words, " +
      "at[-, state, value) !== state-]{+, value) !== value+}",
    c: "[-if (state != value && weft__compare_exchange(&c->state, state, " +
      "value) != state) continue;-]{+weft__store(&c->state, value);+}",
  }, {
    what: "takes the first wake for the answer",
    by: "a call that is late, and the next one",
    ts: 'if ({+outcome !== "not-equal") return +}outcome === "[-timed-out") ' +
      'return false-]{+ok"+};',
    equivalent:
      "only an answer wakes a caller; that is checked again in `receive`",
  }, {
    what: "gives up by a store",
    by: "a call that is given up",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, at, [-state, " +
      "next) !== state) continue-]{+next)+}; if (next === FREE) wake(words, " +
      "SLOT_EPOCH, 1); return true;",
    c: "[-if (weft__compare_exchange(&c->state, state, next) != state) " +
      "continue-]{+weft__store(&c->state, next)+}; if (next == " +
      "WEFT_CALL_RING_FREE) weft__event_wake(&r->slot_epoch, 1);",
  }, {
    what: "gives back the slot of a call that is being served",
    by: "a call that is given up",
    ts: "const next = [-phase === SERVING ? DROPPED | state & ID_MASK : " +
      "-]FREE;",
    c: "[-if (phase == WEFT_CALL_RING_SERVING) next = WEFT_CALL_RING_DROPPED " +
      "| (state & WEFT_CALL_RING_ID_MASK);-]",
  }, {
    what: "cancels an answered call and keeps its slot",
    by: "a call that is given up",
    ts: "[-if (!-]giveUp(words, at)[-) free(words, at)-];",
    c: "[-if (!-]weft__call_give_up(r, c)[-) weft__call_free(r, c)-];",
  }, {
    what: "takes a call by a store",
    by: "a call and its server",
    ts: "state = Atomics.[-compareExchange-]{+store+}(words, at, [-expected, " +
      "next)-]{+next) === next ? expected : next+};",
    c: "[-state = weft__compare_exchange(&c->state, " +
      "expected-]{+weft__store(&c->state+}, WEFT_CALL_RING_SERVING | id | " +
      "waits);",
  }, {
    what: "takes a call and forgets that its caller sleeps",
    by: "a call and its server",
    ts: "const next = SERVING | id[- | expected & WAITING_BIT-];",
    c: "int32_t waits = [-state & WEFT_CALL_RING_WAITING_BIT-]{+0+};",
  }, {
    what: "passes over a call whose caller just went to sleep",
    by: "a call and its server",
    ts: "[-while-]{+if+} ((state & PHASE_MASK) === POSTED) { const expected " +
      "= state;",
    c: HINT,
  }, {
    what: "answers a call that was given up",
    by: "a call that is given up",
    ts: "if ([-(state & PHASE_MASK) === DROPPED-]{+state === FREE+}) {",
    c: "[-if (weft__call_phase(state) == WEFT_CALL_RING_DROPPED) {-]{+if " +
      "(state == WEFT_CALL_RING_FREE) {+}",
  }, {
    what: "answers by a store",
    by: "a call that is given up",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, at, [-state, " +
      "next) !== state) continue-]{+next)+}; if ((state & WAITING_BIT) !== " +
      "0) Atomics.notify(words, at); return !reclaim(words, at, next);",
    c: "[-if (weft__compare_exchange(&c->state, state, next) != state) " +
      "continue-]{+weft__store(&c->state, next)+}; if ((state & " +
      "WEFT_CALL_RING_WAITING_BIT) != 0) weft__notify(&c->state, WEFT__ALL); " +
      "return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;",
  }, {
    what: "answers and wakes nobody",
    by: "a call and its server",
    ts: "[-if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); " +
      "-]return !reclaim(words, at, next);",
    c: "if (weft__compare_exchange(&c->state, state, next) != state) " +
      "continue; [-if ((state & WEFT_CALL_RING_WAITING_BIT) != 0) " +
      "weft__notify(&c->state, WEFT__ALL); -]return weft__call_reclaim(r, c, " +
      "next) ? ETIMEDOUT : 0;",
  }, {
    what: "wakes before it answers",
    by: "a call and its server",
    ts: "{+if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); +}if " +
      "(Atomics.compareExchange(words, at, state, next) !== state) continue; " +
      "[-if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); " +
      "-]return !reclaim(words, at, next);",
    c: "[-if (weft__compare_exchange(&c->state, state, next) != state) " +
      "continue; -]if ((state & WEFT_CALL_RING_WAITING_BIT) != 0) " +
      "weft__notify(&c->state, WEFT__ALL); {+if " +
      "(weft__compare_exchange(&c->state, state, next) != state) continue; " +
      "+}return weft__call_reclaim(r, c, next) ? ETIMEDOUT : 0;",
  }, {
    what: "does not check again whether its caller was abandoned",
    by: "a caller is abandoned, by two, while it is served",
    ts: "return [-!reclaim(words, at, next)-]{+true+};",
    c: "return[- weft__call_reclaim(r, c, next) ? ETIMEDOUT :-] 0;",
  }, {
    what: "withdraws an answer that its caller may be taking",
    by: "a call and its server",
    ts: "[-Atomics.load(words, at + CALLER) !== (caller | DEAD_BIT) " +
      "||-]{+Math.abs(0) ||+}",
    c: "if ([-weft__load(&c->caller) != (caller | " +
      "WEFT_CALL_RING_DEAD_BIT-]{+(caller & 0+}) ||",
  }, {
    what: "closes and wakes no server",
    by: "a server sleeps until the end",
    ts: "if (Atomics.exchange(words, CLOSED, 1) !== 0) return;[- wake(words, " +
      "SERVE_EPOCH, Infinity);-]",
    c: "if (weft__exchange(&r->closed, 1) != 0) return;[- " +
      "weft__event_wake(&r->serve_epoch, WEFT__ALL);-]",
  }, {
    what: "closes and wakes no caller that wants a slot",
    by: "one sleeps for a slot until the end",
    ts: "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; wake(words, " +
      "SERVE_EPOCH, Infinity);[- wake(words, SLOT_EPOCH, Infinity);-]",
    c: "if (weft__exchange(&r->closed, 1) != 0) return; " +
      "weft__event_wake(&r->serve_epoch, WEFT__ALL);[- " +
      "weft__event_wake(&r->slot_epoch, WEFT__ALL);-]",
  }, {
    what: "wakes before it closes",
    by: "a server sleeps until the end",
    ts: "{+wake(words, SERVE_EPOCH, Infinity); +}if (Atomics.exchange(words, " +
      "CLOSED, 1) !== 0) return;[- wake(words, SERVE_EPOCH, Infinity);-]",
    c: "{+weft__event_wake(&r->serve_epoch, WEFT__ALL); +}if " +
      "(weft__exchange(&r->closed, 1) != 0) return;[- " +
      "weft__event_wake(&r->serve_epoch, WEFT__ALL);-]",
  }, {
    what: "abandons a caller without a mark for the server",
    by: "a caller is abandoned, by two, while it is served",
    ts: "const caller = Atomics.[-compareExchange-]{+load+}(words, at + " +
      "CALLER[-, id, dead)-]{+); void dead+};",
    c: "int32_t caller = " +
      "[-weft__compare_exchange-]{+weft__load+}(&c->caller[-, id, " +
      "dead);-]{+); (void)dead;+}",
  }, {
    what: "marks a caller after it looked at the caller's call",
    by: "a caller is abandoned, by two, while it is served",
    ts: "{+const early = Atomics.load(words, at); +}const caller = " +
      "Atomics.compareExchange(words, at + CALLER, id, dead); for " +
      "([-;;-]{+let first = true;; first = false+}) { const state ={+ first " +
      "? early :+} Atomics.load(words, at);",
    c: "{+int32_t early = weft__load(&c->state); +}int32_t caller = " +
      "weft__compare_exchange(&c->caller, id, dead); for ([-;;-]{+bool first " +
      "= true;; first = false+}) { int32_t state = {+first ? early : " +
      "+}weft__load(&c->state);",
  }, {
    what: "notes two deaths in one entry",
    by: "a server hears of an agent that is abandoned beside another",
    ts: "const entry = Atomics.[-add-]{+load(words, DEATHS); " +
      "Atomics.store+}(words, DEATHS, {+entry + +}1);",
    c: "uint32_t entry = (uint32_t)[-weft__add-]{+weft__load(&r->deaths); " +
      "weft__store+}(&r->deaths, {+(int32_t)entry + +}1);",
  }, {
    what: "abandons by a store",
    by: "a server is abandoned",
    ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, at, [-state, " +
      "next) !== state) continue-]{+next)+}; if (next === FREE) return true;",
    c: "[-if (weft__compare_exchange(&c->state, state, next) != state) " +
      "continue-]{+weft__store(&c->state, next)+}; if (next == " +
      "WEFT_CALL_RING_FREE) return true;",
  }, {
    what: "abandons a server and frees the slot that it served",
    by: "a server is abandoned",
    ts: "[-if ((waits & DEAD_BIT) === 0) next = LOST |-]{+void+} waits;",
    c: "[-if ((waits & WEFT_CALL_RING_DEAD_BIT) == 0) next = " +
      "WEFT_CALL_RING_LOST | -]{+(void)+}waits;",
  }, {
    what: "abandons a server and wakes no caller",
    by: "a server is abandoned",
    ts: "if (next === FREE) return true;[- if ((state & WAITING_BIT) !== 0) " +
      "Atomics.notify(words, at);-]",
    c: "if (next == WEFT_CALL_RING_FREE) return true;[- if ((state & " +
      "WEFT_CALL_RING_WAITING_BIT) != 0) weft__notify(&c->state, " +
      "WEFT__ALL);-]",
  }, {
    what:
      "abandons a server that died before it woke its caller, and does not wake it",
    by: "a server that answered and woke nobody is abandoned",
    ts: "[-if (phase >= REPLIED) Atomics.notify(words, at);-]",
    c: "[-if (phase >= WEFT_CALL_RING_REPLIED) weft__notify(&c->state, " +
      "WEFT__ALL); -]return phase",
  }),
  ...SLOTS,
];
