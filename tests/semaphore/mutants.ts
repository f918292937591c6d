import { mutants, none } from "../_run/mutant.ts";
import { DRAINED, ROWS, SEMAPHORE, TRACKED } from "./mutants_tracked.ts";

/** Why a mistake of C has no twin. */
const ONE_LOOP = none("In TypeScript the first attempt is a round of the loop");

/** Mutants of `Semaphore`. */
const COUNTING = mutants(SEMAPHORE, {
  what: "SE2: does not announce itself",
  by: "two permits released at once, with patience",
  ts: [
    "[-state = Atomics.compareExchange(words, PERMITS, expected, next); if " +
    "(state =-]{+if (next !+}== expected) return [-next-]{+state+};",
  ],
  c: "[-*state = weft__compare_exchange(&s->permits, expected, next); if " +
    "(*state != expected) continue; *state = -]{+(void)+}next;",
}, {
  what: "is not counted as a waiter",
  by: "tracked: one waits for a permit",
  ts: [
    "const patience = spinning.patience[- + Atomics.add(words, WAITERS, 1)-];",
    "Atomics.sub(words, BULK, 1);[- Atomics.sub(words, WAITERS, 1);-]",
  ],
  c: [
    "WEFT_SEMAPHORE_PATIENCE[- + weft__add(&s->waiters, 1)-];",
    "[-weft__add(&s->waiters, -1);-]",
  ],
}, {
  what: "SE3: wakes one, whatever it releases",
  by: "two permits released at once, with patience",
  ts: "return some ? [-n-]{+1+} : Infinity;",
  c: "return some ? [-n-]{+1+} : WEFT__ALL;",
}, {
  what: "SE4: takes by load and store",
  by: "tryAcquire, acquire",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, PERMITS, " +
    "[-expected, -]left);",
  c: [
    "int32_t seen = [-weft__compare_exchange-]{+state; " +
    "weft__store+}(&s->permits[-, state-], weft__semaphore_less(state, n));",
    "[-state = weft__compare_exchange-]{+weft__store+}(&s->permits[-, " +
    "expected-], weft__semaphore_less(expected, n));",
  ],
}, {
  what: "SE5: takes a wake for its permits",
  by: "two permits released one by one",
  ts: 'if (outcome === "timed-out") return this.take(n);{+ if (outcome === ' +
    '"ok") return true;+}',
  c: "return result == EBUSY ? ETIMEDOUT : result; }{+ if (outcome == " +
    "WEFT__OK) return 0;+}",
}, {
  what: "SE6: takes a permit although there is none",
  by: "one permit, two agents",
  ts: "while (freeOf(state) >= n{+ - 1+}) {",
  c: "while (weft__semaphore_free(state) >= n{+ - 1+}) {",
}, {
  what: "SE7: gives up when its exchange fails",
  by: "tryAcquire against tryAcquire",
  ts: "[-while-]{+if+} (freeOf(state) >= n) {",
  c: "[-if (-]{+return +}seen == state[-) return true; state = seen;-]{+;+}",
}, {
  what: "SE7: gives up when its second exchange fails",
  by: "three tryAcquire, each of which gets a permit",
  ts: "[-while (-]{+for (let tries = 2; tries > 0 && +}freeOf(state) >= n{+; " +
    "tries--+}) {",
  c: "[-while-]{+if+} (weft__semaphore_free(state) >= n) {",
}, {
  what: "SE8: is no longer counted after its first wake",
  by: "one permit, two agents",
  ts: [
    '{+Atomics.sub(words, WAITERS, 1); +}if (outcome === "timed-out") return ' +
    "this.take(n);",
    "[-Atomics.sub(words, WAITERS, 1); -]}",
  ],
  c: [
    "{+weft__add(&s->waiters, -1); +}if (outcome == WEFT__TIMED_OUT) { result",
    "[-weft__add(&s->waiters, -1); -]return result;",
  ],
}, {
  what: "believes an old hint that there are too few permits",
  by: "a claim that times out gives back",
  ts: "[-if (freeOf(state) < n) state = Atomics.load(words, PERMITS); -]while",
  c: none(
    "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
  ),
}, {
  what: "takes permits and says that nobody sleeps",
  by: "one wants two permits, and another takes one, with patience",
  ts: "const left = {+stateOf(freeOf(+}expected[- - (n << FREE_SHIFT) | 0; " +
    "// the same may sleep-]{+) - n, NOBODY);+}",
  c: "return weft__minus(state, weft__semaphore_units(n)){+ & " +
    "~WEFT_SEMAPHORE_WHO_MASK+};",
}, {
  what: "releases by a store",
  by: "a claim is given up",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, PERMITS[-, " +
    "expected, next); if (state !== expected) continue; if (-]{+, next); if " +
    "(+}count",
  c: "[-state = weft__compare_exchange-]{+weft__store+}(&s->permits[-, " +
    "expected, next); if (state != expected) continue; if (-]{+, next); if " +
    "(+}count",
}, {
  what: "the first attempt of a release is a store",
  by: "a claim is given up",
  ts: ONE_LOOP,
  c: "int32_t seen = [-weft__compare_exchange-]{+state; " +
    "weft__store+}(&s->permits, [-state, -]more);",
}, {
  what: "the first attempt of a release does not look who sleeps",
  by: "one permit, two agents",
  ts: ONE_LOOP,
  c: "return[- (state & WEFT_SEMAPHORE_WHO_MASK) == WEFT_SEMAPHORE_NOBODY &&-]",
}, {
  what: "does not check whether its release was stored",
  by: "one permit, two agents",
  inC: "two permits released one by one, with patience",
  ts: "[-if (state !== expected) continue; -]if (count",
  c: "[-if (state != expected) continue; -]if (count",
}, {
  what: "releases and wakes nobody",
  by: "one permit, two agents",
  ts: "[-if (count > 0) Atomics.notify(words, PERMITS, count);-]",
  c: "[-if (count > 0) weft__notify(&s->permits, count);-]",
}, {
  what: "wakes before it gives",
  by: "one permit, two agents",
  ts: "{+if (count > 0) Atomics.notify(words, PERMITS, count); +}state = " +
    "Atomics.compareExchange(words, PERMITS, expected, next); if (state !== " +
    "expected) continue;[- if (count > 0) Atomics.notify(words, PERMITS, " +
    "count);-]",
  c: "{+if (count > 0) weft__notify(&s->permits, count); +}state = " +
    "weft__compare_exchange(&s->permits, expected, next); if (state != " +
    "expected) continue;[- if (count > 0) weft__notify(&s->permits, count);-]",
}, {
  what: "wakes nobody if only one waits",
  by: "two permits released at once, with patience",
  ts: "const count = who === [-NOBODY-]{+SINGLES && Atomics.load(words, " +
    "WAITERS) < 2+} ? 0",
  c: "int32_t count = who == " +
    "[-WEFT_SEMAPHORE_NOBODY-]{+WEFT_SEMAPHORE_SINGLES && " +
    "weft__load(&s->waiters) < 2+}",
}, {
  what: "(G) looks for waiters once it has given",
  by: "one acquires, and frees the semaphore",
  ts: "if ([-count > 0)-]{+Atomics.load(words, WAITERS) > 0) {+} " +
    "Atomics.notify(words, PERMITS, count);{+ }+}",
  c: "if ([-count-]{+weft__load(&s->waiters)+} > 0) " +
    "weft__notify(&s->permits, count);",
}, {
  what: "(G) says that nobody sleeps once it has given",
  by: "one acquires two, and frees the semaphore",
  ts: [
    "const next = stateOf(free, [-count === Infinity ? NOBODY : -]who);",
    "{+if (count === Infinity) Atomics.and(words, PERMITS, ~WHO_MASK); +}if " +
    "(count > 0) Atomics.notify(words, PERMITS, count);",
  ],
  c: [
    "free,[- count == WEFT__ALL ? WEFT_SEMAPHORE_NOBODY :-] who);",
    "{+if (count == WEFT__ALL) weft__and(&s->permits, " +
    "~WEFT_SEMAPHORE_WHO_MASK); +}if (count > 0) weft__notify(&s->permits, " +
    "count);",
  ],
}, {
  what: "wakes as many as it releases, though somebody wants several",
  by: "wanted one and two, released one, with patience",
  ts: "const some =[- who === SINGLES &&-] Atomics.load(words, WAITERS) > 1;",
  c: "{+(void)who; +}bool some =[- who == WEFT_SEMAPHORE_SINGLES &&-] " +
    "weft__load(&s->waiters) > 1;",
}, {
  what: "wakes one, and says that nobody sleeps",
  by: "two permits released one by one, with patience",
  ts: "stateOf(free, [-count === Infinity ? NOBODY : who-]{+NOBODY+});",
  c: "free, [-count == WEFT__ALL ? -]WEFT_SEMAPHORE_NOBODY[- : who-]);",
}, {
  what: "a waiter stays counted for ever",
  by: "one permit, two agents",
  ts: "[-Atomics.sub(words, WAITERS, 1); -]}",
  c: "[-weft__add(&s->waiters, -1); -]return result;",
}, {
  what: "sleeps although there are permits",
  by: "a timeout at any time, with patience",
  ts: "[-while (this.#freeOf(state) < n) {-]{+for (;;) { if " +
    "(Atomics.load(words, WAITERS) < 0) break;+}",
  c: "[-while (weft__semaphore_count(s, *state) < n) {-]{+for (;;) {+}",
}, {
  what: "announces itself by a store",
  by: "one wants two permits, and another takes one, with patience",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, PERMITS[-, " +
    "expected-], next); if (state === expected) return next; } return " +
    "undefined;",
  c: "[-*state = weft__compare_exchange-]{+weft__store+}(&s->permits[-, " +
    "expected-], next); if (*state",
}, {
  what: "a waiter for several permits is not counted",
  by: "wanted one and two, released one, with patience",
  ts: [
    "[-if (n > 1) Atomics.add(words, BULK, 1); -]try { for",
    "[-if (n > 1) Atomics.sub(words, BULK, 1);-]",
  ],
  c: [
    "[-if (n > 1) weft__add(&s->bulk, 1);-]",
    "[-if (n > 1) weft__add(&s->bulk, -1);-]",
  ],
}, {
  what: "a waiter for several permits stays counted for ever",
  by: "one wants two permits, released one by one",
  ts: "[-if (n > 1) Atomics.sub(words, BULK, 1);-]",
  c: "[-if (n > 1) weft__add(&s->bulk, -1);-]",
}, {
  what: "a waiter for several permits says that it wants one",
  by: "wanted one and two, released one, with patience",
  ts: "Atomics.load(words, BULK) > [-0-]{+9+} ? SEVERALS : SINGLES;",
  c: "weft__load(&s->bulk) > [-0-]{+9+} ? WEFT_SEMAPHORE_SEVERALS",
}, {
  what: "a waiter for one permit says that nobody wants several",
  by: "two permits released one by one",
  ts: [
    "if ((state & WHO_MASK) [->-]{+==+}= who) return state;",
    "[-Atomics.load(words, BULK) > 0-]{+n > 1+} ? SEVERALS : SINGLES;",
  ],
  c: [
    "if ((*state & WEFT_SEMAPHORE_WHO_MASK) [->-]{+=+}= who) return true;",
    "[-weft__load(&s->bulk) > 0-]{+n > 1+} ? WEFT_SEMAPHORE_SEVERALS",
  ],
}, {
  what: "lets two agents claim at once",
  by: "a claim is given up",
  ts: "Atomics.[-compareExchange-]{+exchange+}(words, CLAIMANT[-, 0-], " +
    "this.#id) === 0",
  c: "[-weft__compare_exchange-]{+weft__exchange+}(&s->claimant, [-0, " +
    "-]weft_agent_id()) [-=-]{+>+}= 0",
}, {
  what: "claims although another agent does",
  by: "a claim is given up",
  ts: "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) [-==-]{+>+}= 0 )",
  c: "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) [-=-]{+>+}= 0)",
}, {
  what: "claims and takes nothing",
  by: "one permit, two agents",
  ts: "[-else owing(words, n);-]",
  c: "[-weft__semaphore_owe(s, n);-]",
}, {
  what: "writes what it claims before it takes it",
  ts: "else{+ { Atomics.store(words, CLAIM, n);+} owing(words, n);{+ }+}",
  c: "{+weft__store(&s->claim, n); +}weft__semaphore_owe(s, n);",
  by: "a claimant is terminated",
}, {
  what: "counts a claim as served before it is",
  by: "one permit, two agents",
  ts: "if (this.#freeOf(value) >= [-0-]{+-1+}) break;",
  c: "if (weft__semaphore_count(s, state) >= [-0-]{+-1+}) break;",
}, {
  what: "the claimant looks twice before it sleeps",
  by: "one permit, two agents",
  ts: "{+if (this.#freeOf(Atomics.load(words, PERMITS)) >= 0) break; +}const " +
    "value = Atomics.load(words, PERMITS);[- if (this.#freeOf(value) >= 0) " +
    "break;-]",
  c: "{+if (weft__semaphore_count(s, weft__load(&s->permits)) >= 0) break; " +
    "+}int32_t state = weft__load(&s->permits);[- if " +
    "(weft__semaphore_count(s, state) >= 0) break;-]",
}, {
  what: "the claimant is not counted",
  by: "tracked: two wait, and one of them claims",
  ts: [
    "const rows = this.#rows;[- Atomics.add(words, BULK, 1);-]",
    "[-lets the next agent claim Atomics.sub(words, BULK, 1);-]",
  ],
  c: [
    "int result = 0;[- weft__add(&s->bulk, 1);-]",
    "[-lets the next agent claim */ weft__add(&s->bulk, -1);-]{+*/+}",
  ],
}, {
  what: "the claimant stays counted for ever",
  by: "one permit, two agents",
  ts: "[-lets the next agent claim Atomics.sub(words, BULK, 1);-]",
  c: "[-lets the next agent claim */ weft__add(&s->bulk, -1);-]{+*/+}",
}, {
  what: "takes the first wake for the end of the claim",
  by: "one permit, two agents",
  ts: 'if (outcome !== "timed-out") [-continue-]{+return true+};',
  c: "if (outcome != WEFT__TIMED_OUT) [-continue-]{+break+};",
}, {
  what: "a claim that times out keeps what it took",
  by: "a claim that times out gives back",
  ts: "[-else giving(words, n); -]return false;",
  c: "int given = [-s->tracked == 0 ? weft__semaphore_give(s, n) : " +
    "weft__semaphore_give_tracked(s, n)-]{+0+};",
}, {
  what: "a claim that times out is not cleared",
  by: "a claim that times out gives back",
  ts: [
    "{+if (Atomics.load(words, CLAIM) > 0) +}Atomics.store(words, CLAIMANT, " +
    "0);[- // lets the next agent claim-]",
    "[-Atomics.store(words, CLAIM, 0); -]return true;",
  ],
  c: "{+if (result == 0) +}weft__store(&s->claimant, 0); /* lets the next",
}, {
  what: "a claim that times out gives back and wakes nobody",
  by: "a claim that times out serves another",
  ts: "else [-giving(words, -]{+owing(words, -+}n); return false;",
  c: "if (s->tracked == 0) [-return weft__semaphore_give(s, n);-]{+{ " +
    "weft__semaphore_owe(s, -n); return 0; }+}",
}, {
  what: "a claim that times out gives back by a store",
  by: "a claim that times out gives back",
  ts: "else [-giving(words, n);-]{+{ const state = Atomics.load(words, " +
    "PERMITS); Atomics.store(words, PERMITS, stateOf(freeOf(state) + n, " +
    "NOBODY)); Atomics.notify(words, PERMITS); }+} return false;",
  c: "if (s->tracked == 0) [-return weft__semaphore_give(s, n);-]{+{ int32_t " +
    "state = weft__load(&s->permits); weft__store(&s->permits, " +
    "weft__semaphore_state(weft__semaphore_free(state) + n, 0)); " +
    "weft__notify(&s->permits, WEFT__ALL); return 0; }+}",
}, {
  what: "a claim that is served is not cleared",
  by: "one permit, two agents",
  ts: [
    "{+if (Atomics.load(words, CLAIM) === 0) +}Atomics.store(words, " +
    "CLAIMANT, 0);[- // lets the next agent claim-]",
    "[-Atomics.store(words, CLAIM, 0); -]return true;",
  ],
  c: "{+if (result != 0) +}weft__store(&s->claimant, 0); /* lets the next",
}, {
  what: "abandons the claim of another",
  by: "a claim is given up",
  ts: "[-if (seen !== id) return 0;-]",
  c: "[-if (seen != id) return 0;-]{+(void)seen;+}",
}, {
  what: "is the second heir of a claim",
  ts: "const seen = Atomics.[-compareExchange-]{+load+}(words, CLAIMANT[-, " +
    "id, this.#id-]);",
  c: "int32_t seen = " +
    "[-weft__compare_exchange-]{+weft__load+}(&s->claimant[-, id, " +
    "weft_agent_id()-]);",
  by: "two inherit a claim, and one claims anew",
}, {
  what: "abandons a claim and keeps what it took",
  by: "a claim is given up",
  ts: "[-if (n > 0) giving(words, n);-]",
  c: "[-if (n > 0) (void)weft__semaphore_give(s, n);-]",
}, {
  what: "abandons a claim and does not clear it",
  by: "a claim is given up",
  ts: "[-Atomics.store(words, CLAIMANT, 0); -]return n;",
  c: "[-weft__store(&s->claimant, 0); -]return n;",
}, {
  what: "takes a timeout for a permit",
  by: "a timeout at any time, with patience",
  ts: 'if (outcome === "timed-out") return [-this.take(n)-]{+true+};',
  c: "return [-result == EBUSY ? ETIMEDOUT : result-]{+0+};",
}, {
  what: "drains by load and store",
  by: "drain against drain",
  ts: "[-state = -]Atomics.[-compareExchange-]{+store+}(words, PERMITS, " +
    "[-expected, -]none);",
  c: "[-state = weft__compare_exchange-]{+weft__store+}(&s->permits, " +
    "[-expected, -]none);",
}, {
  what: "drains more than it has seen",
  by: "drain against release and tryAcquire",
  ts: [
    "state = Atomics.[-compareExchange-]{+exchange+}(words, PERMITS, " +
    "[-expected, -]none);",
    "[-if (state === expected) -]return free;",
  ],
  c: [
    "state = [-weft__compare_exchange-]{+weft__exchange+}(&s->permits, " +
    "[-expected, -]none);",
    "[-if (state == expected) -]return free;",
  ],
}, {
  what: "does not check whether it has drained",
  by: "drain against drain",
  ts: "[-if (state === expected) -]return free;",
  c: "[-if (state == expected) -]return free;",
}, {
  what: "drains and says that nobody sleeps",
  by: "one wants two permits, and another drains, with patience",
  ts: "const none = [-expected & WHO_MASK-]{+NOBODY+};",
  c: "int32_t none = [-expected & " +
    "WEFT_SEMAPHORE_WHO_MASK-]{+WEFT_SEMAPHORE_NOBODY+};",
}, {
  what: "drains what a claimant waits for",
  by: "one claims two permits, and another drains",
  ts: "for (let free; (free = [-freeOf(state)-]{+state >>> FREE_SHIFT+}) > " +
    "0;) {",
  c: "while ((free = " +
    "[-weft__semaphore_free(state-]{+(int32_t)((uint32_t)state >> " +
    "WEFT__SEMAPHORE_SHIFT+})) > 0) {",
});

/** All of them. */
export const MUTANTS = [...COUNTING, ...ROWS, ...DRAINED, ...TRACKED];
