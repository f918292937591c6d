import { mutants } from "../_run/mutant.ts";

/** Mutants of the slots of a `CallRing`. */
export const _call_slots = mutants(
  "_call_slots.ts",
  [
    "claims by a store",
    "Atomics.compareExchange(words, at, FREE, claimed) === FREE",
    "Atomics.store(words, at, claimed) === claimed",
  ],
  [
    "looks for a slot by hints alone",
    "const state = i > this.count ? words[at]! : Atomics.load(words, at); if ( state === FREE",
    "const state = words[at]!; if ( state === FREE",
  ],
  [
    "writes the request after it is posted",
    "this.#put(request, at + REQUEST); const posted = POSTED | this.#id; Atomics.store(words, at, posted); // (P)",
    "const posted = POSTED | this.#id; Atomics.store(words, at, posted); // (P)\n" +
    "this.#put(request, at + REQUEST);",
  ],
  [
    "says the request's length after it is posted",
    "words[at + REQUEST_LENGTH] = byteLength; // published by (P)",
    "",
    {
      also: [
        "Atomics.store(words, at, posted); // (P)",
        "Atomics.store(words, at, posted); words[at + REQUEST_LENGTH] = byteLength;",
      ],
    },
  ],
  [
    "posts and wakes no server",
    "wake(words, SERVE_EPOCH, 1); return at;",
    "return at;",
  ],
  [
    "wakes a server before it posts",
    "Atomics.store(words, at, posted); // (P)",
    "wake(words, SERVE_EPOCH, 1); Atomics.store(words, at, posted);",
    { also: ["wake(words, SERVE_EPOCH, 1); return at;", "return at;"] },
  ],
  [
    "does not look again whether the ring was closed",
    "if ( this.closed && Atomics.compareExchange(words, at, posted, FREE)",
    "if ( Math.abs(0) && Atomics.compareExchange(words, at, posted, FREE)",
  ],
  [
    "looks whether the ring was closed before it posts",
    "Atomics.store(words, at, posted); // (P)",
    "const closed = this.closed; Atomics.store(words, at, posted);",
    {
      also: [
        "if ( this.closed && Atomics.compareExchange(words, at, posted, FREE)",
        "if ( closed && Atomics.compareExchange(words, at, posted, FREE)",
      ],
    },
  ],
  [
    "withdraws by a store what may be served",
    "Atomics.compareExchange(words, at, posted, FREE) === posted )",
    "Atomics.store(words, at, FREE) === FREE )",
  ],
  [
    "a server looks after the calls whether the ring was closed",
    "const closed = this.closed; // (E) before the look return this.#take() || (closed ? -1 : 0);",
    "return this.#take() || (this.closed ? -1 : 0);",
    { by: "call_ring: a post, the end, and its server" },
  ],
  [
    "frees a slot and wakes nobody",
    "Atomics.store(this.words, at, FREE); wake(this.words, SLOT_EPOCH, 1);",
    "Atomics.store(this.words, at, FREE);",
  ],
  [
    "wakes who wants a slot before it is free",
    "Atomics.store(this.words, at, FREE); wake(this.words, SLOT_EPOCH, 1);",
    "wake(this.words, SLOT_EPOCH, 1); Atomics.store(this.words, at, FREE);",
  ],
  [
    "a withdrawn call's slot wakes nobody",
    "if (next === FREE) wake(words, SLOT_EPOCH, 1); return true;",
    "return true;",
  ],
  [
    "sleeps without saying so",
    "if ( state !== value && Atomics.compareExchange(words, at, state, value) !== state ) continue; const outcome = yield { words, index: at, value,",
    "const outcome = yield { words, index: at, value: state,",
  ],
  [
    "says that it sleeps by a store",
    "state !== value && Atomics.compareExchange(words, at, state, value) !== state",
    "state !== value && Atomics.store(words, at, value) !== value",
  ],
  [
    "the first wake is the answer, it thinks",
    'if (outcome === "timed-out") return false;',
    'if (outcome !== "not-equal") return outcome === "ok";',
    {
      equivalent:
        "only an answer wakes a caller; that is checked again in `receive`",
    },
  ],
  [
    "takes the reply after it gave the slot back",
    "const reply = this.#bytes.slice(from, from + length); this.#free(at);",
    "this.#free(at); const reply = this.#bytes.slice(from, from + length);",
  ],
  [
    "keeps the slot of a call that was answered",
    "const reply = this.#bytes.slice(from, from + length); this.#free(at);",
    "const reply = this.#bytes.slice(from, from + length);",
  ],
  [
    "takes the reply to an array after it gave the slot back",
    "this.#get(dst, this.#replyAt(at), Math.min(length, dst.byteLength)); this.#free(at);",
    "this.#free(at); this.#get(dst, this.#replyAt(at), Math.min(length, dst.byteLength));",
    { by: "call_ring: two who serve themselves in one slot, into arrays" },
  ],
  [
    "keeps the slot of a call that was answered to an array",
    "this.#get(dst, this.#replyAt(at), Math.min(length, dst.byteLength)); this.#free(at);",
    "this.#get(dst, this.#replyAt(at), Math.min(length, dst.byteLength));",
    { by: "call_ring: two who serve themselves in one slot, into arrays" },
  ],
  [
    "keeps the slot of a call whose server is gone",
    "if (phase === LOST) { this.#free(at);",
    "if (phase === LOST) {",
  ],
  [
    "gives up by a store",
    "if (Atomics.compareExchange(words, at, state, next) !== state) continue; if (next === FREE) wake(words, SLOT_EPOCH, 1); return true;",
    "Atomics.store(words, at, next); if (next === FREE) wake(words, SLOT_EPOCH, 1); return true;",
  ],
  [
    "gives the slot of a call back that is served",
    "const next = phase === SERVING ? DROPPED | state & ID_MASK : FREE;",
    "const next = FREE;",
  ],
  [
    "cancels an answered call and keeps its slot",
    "if (!this.giveUp(at)) this.#free(at);",
    "this.giveUp(at);",
  ],
  [
    "takes a call by a store",
    "state = Atomics.compareExchange(words, at, expected, next);",
    "state = Atomics.store(words, at, next) === next ? expected : next;",
  ],
  [
    "takes a call and forgets who sleeps",
    "const next = serving | expected & WAITING_BIT;",
    "const next = serving;",
  ],
  [
    "leaves a call alone whose caller just went to sleep",
    "while ((state & PHASE_MASK) === POSTED) { const expected = state;",
    "if ((state & PHASE_MASK) === POSTED) { const expected = state;",
  ],
  [
    "looks for calls by hints alone",
    "let state = i > this.count ? words[at]! : Atomics.load(words, at);",
    "let state = words[at]!;",
  ],
  [
    "looks at one slot only",
    "const at = this.#look; this.#look = this.#after(at);",
    "const at = this.#look;",
  ],
  [
    "writes the reply after the answer",
    'if (typeof reply === "object") this.#put(reply, this.#replyAt(at) / 4); this.words[at + REPLY_LENGTH] = length; // published by (R) return this.#answer(at, REPLIED);',
    'this.words[at + REPLY_LENGTH] = length; const done = this.#answer(at, REPLIED); if (typeof reply === "object") this.#put(reply, this.#replyAt(at) / 4); return done;',
  ],
  [
    "says the reply's length after the answer",
    "this.words[at + REPLY_LENGTH] = length; // published by (R) return this.#answer(at, REPLIED);",
    "const done = this.#answer(at, REPLIED); this.words[at + REPLY_LENGTH] = length; return done;",
  ],
  [
    "answers a call that was given up",
    "if ((state & PHASE_MASK) === DROPPED) {",
    "if (state === FREE) {",
  ],
  [
    "answers by a store",
    "if (Atomics.compareExchange(words, at, state, next) !== state) continue; if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); return !this.#reclaim(at, next);",
    "Atomics.store(words, at, next); if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); return !this.#reclaim(at, next);",
  ],
  [
    "answers and wakes nobody",
    "if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); return !this.#reclaim(at, next);",
    "return !this.#reclaim(at, next);",
  ],
  [
    "wakes before it answers",
    "if (Atomics.compareExchange(words, at, state, next) !== state) continue; if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); return !this.#reclaim(at, next);",
    "if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at); if (Atomics.compareExchange(words, at, state, next) !== state) continue; return !this.#reclaim(at, next);",
  ],
  [
    "does not look again whether its caller was abandoned",
    "return !this.#reclaim(at, next);",
    "return true;",
  ],
  [
    "takes an answer back that its caller may be taking",
    "Atomics.load(words, at + CALLER) !== (caller | DEAD_BIT) ||",
    "Math.abs(0) ||",
  ],
  [
    "closes and wakes no server",
    "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; wake(words, SERVE_EPOCH, Infinity);",
    "if (Atomics.exchange(words, CLOSED, 1) !== 0) return;",
  ],
  [
    "closes and wakes nobody who wants a slot",
    "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; wake(words, SERVE_EPOCH, Infinity); wake(words, SLOT_EPOCH, Infinity);",
    "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; wake(words, SERVE_EPOCH, Infinity);",
  ],
  [
    "wakes before it closes",
    "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; wake(words, SERVE_EPOCH, Infinity);",
    "wake(words, SERVE_EPOCH, Infinity); if (Atomics.exchange(words, CLOSED, 1) !== 0) return;",
  ],
  [
    "abandons without a mark for who serves",
    "const caller = Atomics.compareExchange(words, at + CALLER, id, dead);",
    "const caller = Atomics.load(words, at + CALLER); void dead;",
  ],
  [
    "marks a caller after it looked at its call",
    "const caller = Atomics.compareExchange(words, at + CALLER, id, dead); for (;;) { const state = Atomics.load(words, at);",
    "const early = Atomics.load(words, at);\n" +
    "const caller = Atomics.compareExchange(words, at + CALLER, id, dead);\n" +
    "for (let first = true;; first = false) {\n" +
    "const state = first ? early : Atomics.load(words, at);",
  ],
  [
    "abandons by a store",
    "if (Atomics.compareExchange(words, at, state, next) !== state) continue; if (next === FREE) return true;",
    "Atomics.store(words, at, next); if (next === FREE) return true;",
  ],
  [
    "abandons a server and frees what it served",
    "if ((waits & DEAD_BIT) === 0) next = LOST | waits;",
    "void waits;",
  ],
  [
    "abandons a server and wakes no caller",
    "if (next === FREE) return true; if ((state & WAITING_BIT) !== 0) Atomics.notify(words, at);",
    "if (next === FREE) return true;",
  ],
  [
    "abandons who died before it woke its caller, and does not",
    "if (phase >= REPLIED) Atomics.notify(words, at);",
    "",
  ],
  [
    "abandons and wakes nobody who wants a slot",
    "wake(words, SERVE_EPOCH, Infinity); wake(words, SLOT_EPOCH, Infinity); return count;",
    "wake(words, SERVE_EPOCH, Infinity); return count;",
  ],
);

/** Mutants of `CallRing` itself. */
export const call_ring = mutants(
  "call_ring.ts",
  [
    "a call that is late keeps its slot",
    "if (!(yield* slots.answered(at)) && slots.giveUp(at)) {",
    "if (!(yield* slots.answered(at))) {",
  ],
);
