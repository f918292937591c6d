import { mutants, none } from "../_run/mutant.ts";

const ONE_FORM = none(
  "C has one form, where TypeScript has one for arrays and one for the rest",
);

/** Mutants of `Broadcast`. */
export const MUTANTS = mutants({
  source: "_queue/broadcast_core",
  header: "broadcast",
  scenarios: ["broadcast"],
}, {
  what: "(P): publishes before it writes",
  by: "a subscriber comes and goes, the producer waits",
  ts: "{+this.#publish(tail); +}if (this.drops) Atomics.store(this.#words, " +
    "at, value); [-// published by (P) -]else this.#words[at] = value;[- // " +
    "published by (P) this.#publish(tail);-]",
  c: "[-weft__broadcast_put(b, tail, src); /* (P) Lets the subscribers see " +
    "the element. */ -]int32_t next = weft__plus(tail, WEFT_BROADCAST_ONE); " +
    "if (weft__compare_exchange(&b->tail, tail, next) != tail) return " +
    "EPIPE;{+ weft__broadcast_put(b, tail, src);+}",
}, {
  what: "notices one element too late that it is full",
  by: "what is lost is counted",
  ts: "if ((tail - words[SLOWEST]! | 0) <{+=+} this.#span) return tail;",
  c: "if (weft__minus(*tail, b->slowest) <{+=+} span) return 0; b->slowest",
}, {
  what: "overtakes subscribers instead of waiting",
  by: "a subscriber comes and goes, the producer waits",
  ts: "const slowest = [-this.#scan(tail)-]{+tail+};",
  c: "b->slowest = [-weft__broadcast_scan(b, *tail)-]{+*tail+};",
}, {
  what: "begins where it first looked, although the producer went on",
  by: "a subscriber comes and goes, the producer waits",
  ts: "[-Atomics.compareExchange(words, at + CURSOR, first, next);-]",
  c: "[-weft__compare_exchange(&at->cursor, first, next);-]",
}, {
  what: "reads elements that are not published",
  by: "a subscriber comes and goes, the producer waits",
  ts: "this.#tail = tail & ~CLOSED_BIT; if ((this.#tail - cursor | 0) >{+=+} " +
    "0) return",
  c: "if (weft__minus(end, cursor) <[-=-] 0) return",
}, {
  what: "(J): looks again before it takes its seat",
  ts: "[-Atomics.store(words, at + OWNER, this.#id); -]const next = " +
    "Atomics.load(words, TAIL) & ~CLOSED_BIT;{+ Atomics.store(words, at + " +
    "OWNER, this.#id);+}",
  c: "[-weft__store(&at->owner, id); -]int32_t next = weft__load(&b->tail) & " +
    "~WEFT_BROADCAST_CLOSED_BIT;{+ weft__store(&at->owner, id);+}",
  by: "a subscriber comes and goes, the producer waits",
}, {
  what: "takes a seat by a store",
  ts: "if (Atomics.[-compareExchange-]{+store+}(words, at + OWNER, [-0, " +
    "-]joining) [-!-]{+=+}== 0) {",
  c: "[-if (weft__compare_exchange-]{+weft__store+}(&at->owner, [-0, " +
    "-]joining)[- != 0) continue-];",
  by: "two take seats",
}, {
  what: "counts the losses of another subscriber",
  ts: "[-Atomics.store(words, at + DROPPED, 0);-]",
  c: "[-weft__store(&at->dropped, 0);-]",
  by: "two take seats",
}, {
  what: "waits for the subscriber in the last seat only",
  ts: "[-if ((cursor - slowest | 0) < 0) -]slowest = cursor;",
  c: "[-if (weft__minus(cursor, slowest) < 0) -]slowest = cursor;",
  by: "waits for the slowest, 2,0",
}, {
  what: "waits for the fastest subscriber",
  ts: "if ((cursor - slowest | 0) [-<-]{+>+} 0) slowest = cursor;",
  c: "if (weft__minus(cursor, slowest) [-<-]{+>+} 0) slowest = cursor;",
  by: "waits for the slowest, 0,2",
}, {
  what: "compares cursors that wrap",
  ts: "if ([-(cursor - slowest | 0) < 0-]{+cursor < slowest+}) slowest = " +
    "cursor;",
  c: "if ([-weft__minus(cursor, slowest) < 0-]{+cursor < slowest+}) slowest " +
    "= cursor;",
  by: "waits for the slowest, 2,0",
}, {
  what: "waits for empty seats",
  ts: "if ([-owner === 0 || -]owner & JOINING_BIT) continue;",
  c: "if ([-owner == 0 || -]owner & WEFT_BROADCAST_JOINING_BIT) continue;",
  by: "the producer does not wait for empty seats",
}, {
  what: "waits for a subscriber that is just joining",
  ts: "if (owner === 0[- || owner & JOINING_BIT-]) continue;",
  c: "if (owner == 0[- || owner & WEFT_BROADCAST_JOINING_BIT-]) continue;",
  by: "the producer does not wait for a joining subscriber",
}, {
  what: "notices too late that it is full, at the second look",
  by: "the producer waits for one that sees",
  ts: "words[SLOWEST] = slowest; if ((tail - slowest | 0) <{+=+} this.#span)",
  c: "b->slowest = weft__broadcast_scan(b, *tail); if (weft__minus(*tail, " +
    "b->slowest) <{+=+} span)",
}, {
  what: "is full, and does not check whether it is closed",
  ts: '[-if (this.closed) throw new ClosedError("The broadcast is closed"); ' +
    "-]return undefined;",
  c: none(
    "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
  ),
  by: "the producer waits until another closes",
}, {
  what: "moves a late subscriber by a store",
  ts: "[-const seen = -]Atomics.[-compareExchange-]{+store+}(words, at + " +
    "CURSOR, [-cursor, next);-]{+next); const seen = cursor;+}",
  c: "int32_t seen = [-weft__compare_exchange-]{+cursor; " +
    "weft__store+}(&at->cursor, [-cursor, -]next);",
  by: "what is lost is counted",
}, {
  what: "moves a late subscriber, and does not count the loss",
  ts: "[-Atomics.add(words, at + DROPPED, (next - cursor | 0) >>> 1);-]",
  c: "[-weft__add(&at->dropped, (int32_t)((uint32_t)weft__minus(next, " +
    "cursor) >> 1));-]",
  by: "what is lost is counted",
}, {
  what: "moves a late subscriber for ever",
  ts: "}[- else cursor = seen;-]",
  c: "}[- else { cursor = seen; }-]",
  by: "what is lost is counted",
}, {
  what: "moves a late subscriber too little",
  ts: "const next = tail - this.#span [-+ ONE -]| 0;",
  c: "int32_t next = [-weft__plus(-]weft__minus(tail, span)[-, " +
    "WEFT_BROADCAST_ONE)-];",
  by: "what is lost is counted",
}, {
  what: "moves a late subscriber too far",
  ts: "const next = tail [-- this.#span + ONE -]| 0;",
  c: "int32_t next = [-weft__plus(weft__minus(tail, span), " +
    "WEFT_BROADCAST_ONE)-]{+tail+};",
  by: "what is lost is counted",
}, {
  what: "writes elements plainly although it may overwrite them",
  ts: "if (this.drops) [-Atomics.store(-]this.#words[-, at, value); // " +
    "published by (P)-]{+[at] = value;+}",
  c: "[-weft__store(at + i, from[i]); /* published by (P) */-]{+at[i] = " +
    "from[i];+}",
  by: "what is lost is counted",
}, {
  what: "moves its cursor before it reads",
  by: "the producer waits for one that sees",
  ts: "[-const value =-]{+if (this.#advance(cursor)) { return+} " +
    "this.broadcast.drops ? Atomics.load(words, at) : words[at]!; [-// " +
    "published by (P) if (this.#advance(cursor)) return value;-]{+}+}",
  c: [
    "[-weft__broadcast_get(b, cursor, dst); -]int32_t next",
    "weft__event_wake(&b->push_epoch, WEFT__ALL); } {+weft__broadcast_get(b, " +
    "cursor, dst); +}return 0;",
  ],
}, {
  what: "takes an element that was overwritten",
  ts: "[-if (-]this.#advance(cursor)[-)-]{+;+} return value;",
  c: "[-if (-]weft__compare_exchange(&at->cursor, cursor, next)[- != cursor) " +
    "continue-];",
  by: "what is lost is counted",
}, {
  what: "moves its cursor by a store although the producer may move it",
  ts: "return Atomics.[-compareExchange-]{+store+}(words, at[-, cursor, " +
    "next) === cursor-]{+, next) === next+};",
  c: "[-if (weft__compare_exchange-]{+weft__store+}(&at->cursor, [-cursor, " +
    "next) != cursor) continue-]{+next)+};",
  by: "what is lost is counted",
}, {
  what: "publishes by a store",
  by: "the producer waits until another closes",
  ts: "if (Atomics.[-compareExchange-]{+store+}(words, TAIL, [-tail, next) " +
    "!-]{+next) =+}== tail) {",
  c: "[-if (weft__compare_exchange(&b->tail, tail, next) != tail) return " +
    "EPIPE;-]{+weft__store(&b->tail, next);+}",
}, {
  what: "moves its cursor, and wakes nobody",
  ts: "Atomics.store(words, at, next);[- wake(words, PUSH_EPOCH, Infinity);-]",
  c: "weft__store(&at->cursor, next);[- weft__event_wake(&b->push_epoch, " +
    "WEFT__ALL);-]",
  by: "the producer waits for one that sees",
}, {
  what: "wakes before it moves its cursor",
  ts: "{+wake(words, PUSH_EPOCH, Infinity); +}Atomics.store(words, at, " +
    "next);[- wake(words, PUSH_EPOCH, Infinity);-]",
  c: "{+weft__event_wake(&b->push_epoch, WEFT__ALL); " +
    "+}weft__store(&at->cursor, next);[- weft__event_wake(&b->push_epoch, " +
    "WEFT__ALL);-]",
  by: "the producer waits for one that sees",
}, {
  what: "ends although elements are left",
  by: "all is seen, by one with a seat, until the end",
  ts: "this.#tail = tail & ~CLOSED_BIT; if ([-(this.#tail - cursor | 0) > 0) " +
    "return cursor; if (-]tail & CLOSED_BIT)",
  c: "int32_t end = tail & ~WEFT_BROADCAST_CLOSED_BIT; if{+ (tail & " +
    "WEFT_BROADCAST_CLOSED_BIT) return EPIPE; if+}",
}, {
  what: "closes by a load and a store",
  by: "one sleeps until another closes",
  ts: "[-if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) " +
    "return-]{+const tail = Atomics.load(words, TAIL); if (tail & " +
    "CLOSED_BIT) return; Atomics.store(words, TAIL, tail | CLOSED_BIT)+};",
  c: "[-if (weft__or(&b->tail, WEFT_BROADCAST_CLOSED_BIT) & " +
    "WEFT_BROADCAST_CLOSED_BIT) return;-]{+int32_t tail = " +
    "weft__load(&b->tail); if (tail & WEFT_BROADCAST_CLOSED_BIT) return; " +
    "weft__store(&b->tail, tail | WEFT_BROADCAST_CLOSED_BIT);+}",
}, {
  what: "closes, and wakes no subscriber",
  ts: "CLOSED_BIT) return;[- wake(words, POP_EPOCH, Infinity);-]",
  c: "return;[- weft__event_wake(&b->pop_epoch, WEFT__ALL);-]",
  by: "all is seen, by one with a seat, until the end",
}, {
  what: "closes, and wakes no producer",
  ts: "wake(words, POP_EPOCH, Infinity);[- wake(words, PUSH_EPOCH, " +
    "Infinity);-]",
  c: "weft__event_wake(&b->pop_epoch, WEFT__ALL);[- " +
    "weft__event_wake(&b->push_epoch, WEFT__ALL);-]",
  by: "the producer waits until another closes",
}, {
  what: "leaves, and wakes nobody",
  ts: "!== owner) return;[- wake(words, PUSH_EPOCH, Infinity);-]",
  c: "[-if (-]weft__compare_exchange(owner, id, 0)[- == id) " +
    "weft__event_wake(&b->push_epoch, WEFT__ALL)-];",
  by: "the producer waits for one that leaves",
}, {
  what: "leaves by a store",
  ts: "[-if (-]Atomics.[-compareExchange-]{+store+}(words, at + OWNER, " +
    "[-owner, 0) !== owner) return-]{+0)+};",
  c: "[-if (weft__compare_exchange(owner, id, 0) == id)-]{+(void)id; " +
    "weft__store(owner, 0);+}",
  by: "leaves where it was abandoned, and another sits",
}, {
  what: "abandons, and wakes nobody",
  ts: "[-if (count > 0) wake(words, PUSH_EPOCH, Infinity);-]",
  c: "[-if (count > 0) weft__event_wake(&b->push_epoch, WEFT__ALL);-]",
  by: "the producer waits for one that is abandoned",
}, {
  what: "publishes, and wakes nobody",
  ts: '!== tail) { throw new ClosedError("The broadcast is closed"); }[- ' +
    "wake(words, POP_EPOCH, Infinity);-]",
  c: "!= tail) return EPIPE;[- weft__event_wake(&b->pop_epoch, WEFT__ALL);-]",
  by: "one sleeps until another pushes",
}, {
  what: "wakes before it publishes",
  ts: [
    "const next = tail + ONE | 0; {+wake(words, POP_EPOCH, Infinity); +}if " +
    "(Atomics.compareExchange(words, TAIL",
    '!== tail) { throw new ClosedError("The broadcast is closed"); }[- ' +
    "wake(words, POP_EPOCH, Infinity);-]",
  ],
  c: [
    "!= tail) return EPIPE;[- weft__event_wake(&b->pop_epoch, WEFT__ALL);-]",
    "{+weft__event_wake(&b->pop_epoch, WEFT__ALL); +}if " +
    "(weft__compare_exchange(&b->tail, tail, next)",
  ],
  by: "one sleeps until another pushes",
}, {
  what: "joins, and wakes nobody",
  ts: "[-if (next !== first) wake(words, PUSH_EPOCH, Infinity);-]",
  c: "[-if (next != first) weft__event_wake(&b->push_epoch, WEFT__ALL);-]",
  by: "a subscriber comes as the producer is ahead",
}, {
  what: "reads elements plainly although they may be overwritten",
  ts: "const value =[- this.broadcast.drops ? Atomics.load(words, at) :-] " +
    "words[at]!;",
  c: "to[i] = [-weft__load(at + i); /* published by (P) */-]{+at[i];+}",
  by: "what is lost is counted",
}, {
  what: "reads arrays plainly although they may be overwritten",
  ts: "scratch[i] = [-Atomics.load(-]this.#words[-, at + i)-]{+[at + i]!+};",
  c: ONE_FORM,
  by: "what is lost is counted, in arrays",
}, {
  what: "writes arrays plainly although it may overwrite them",
  ts: "[-Atomics.store(-]this.#words[-, at + i,-]{+[at + i] =+} " +
    "scratch[i]![-)-];",
  c: ONE_FORM,
  by: "what is lost is counted, in arrays",
}, {
  what: "takes arrays that were overwritten",
  ts: "[-if (!-]this.#advance(cursor)[-) continue-];",
  c: ONE_FORM,
  by: "what is lost is counted, in arrays",
}, {
  what: "any agent produces",
  ts: "this.#produces = [-takeRole(words, PRODUCER, this.#id, " +
    '"producer")-]{+true+};',
  c: "[-if (weft__take_role(&b->producer) != 0) return EPERM;-]",
  by: "two agents push, of which one may",
}, {
  what: "looks at the tail before it has the role",
  ts: "{+const tail = words[TAIL]!; +}if (!this.#produces) { this.#produces " +
    '= takeRole(words, PRODUCER, this.#id, "producer"); }[- const tail = ' +
    "words[TAIL]!;-]",
  c: [
    "{+int32_t early = weft__hint(&b->tail); +}if " +
    "(weft__take_role(&b->producer) != 0) return EPERM;",
    "*tail = [-weft__hint(&b->tail)-]{+early+};",
  ],
  by: "two agents push, one after the other",
});
