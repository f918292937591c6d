import { mutants } from "../_run/mutant.ts";
import { DRAINED, ROWS, SEMAPHORE, TRACKED } from "./mutants_tracked.ts";

/** Why a mistake of C has no twin. */
const ONE_LOOP = "In TypeScript the first attempt is a round of the loop";

/** Mutants of `Semaphore`. */
const COUNTING = mutants(SEMAPHORE, {
  what: "SE2: does not announce itself",
  by: "two permits released at once, with patience",
  ts: [
    "if (state === expected) return next; } return undefined;",
    "if (state === expected) return next; } return undefined;",
    [
      "state = Atomics.compareExchange(words, PERMITS, expected, next); " +
      "if (state === expected) return next;",
      "if (next !== expected) return state;",
    ],
  ],
  c: [
    "*state = weft__compare_exchange(&s->permits, expected, next); if (*state " +
    "!= expected) continue; *state = next;",
    "(void)next;",
  ],
}, {
  what: "is not counted as a waiter",
  by: "tracked: one waits for a permit",
  ts: [
    "const patience = spinning.patience + Atomics.add(words, WAITERS, 1);",
    "const patience = spinning.patience;",
    [
      "Atomics.sub(words, BULK, 1); Atomics.sub(words, WAITERS, 1);",
      "Atomics.sub(words, BULK, 1);",
    ],
  ],
  c: [
    "WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);",
    "WEFT_SEMAPHORE_PATIENCE;",
    ["weft__add(&s->waiters, -1);", ""],
  ],
}, {
  what: "SE3: wakes one, whatever it releases",
  by: "two permits released at once, with patience",
  ts: ["return some ? n : Infinity;", "return some ? 1 : Infinity;"],
  c: ["return some ? n : WEFT__ALL;", "return some ? 1 : WEFT__ALL;"],
}, {
  what: "SE4: takes by load and store",
  by: "tryAcquire, acquire",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, left);",
    "Atomics.store(words, PERMITS, left);",
  ],
  c: [
    "int32_t seen = weft__compare_exchange(&s->permits, state, " +
    "weft__semaphore_less(state, n));",
    "int32_t seen = state; " +
    "weft__store(&s->permits, weft__semaphore_less(state, n));",
    [
      "state = weft__compare_exchange(&s->permits, expected, " +
      "weft__semaphore_less(expected, n));",
      "weft__store(&s->permits, weft__semaphore_less(expected, n));",
    ],
  ],
}, {
  what: "SE5: takes a wake for its permits",
  by: "two permits released one by one",
  ts: [
    'if (outcome === "timed-out") return this.take(n);',
    'if (outcome === "timed-out") return this.take(n);\n' +
    'if (outcome === "ok") return true;',
  ],
  c: [
    "return result == EBUSY ? ETIMEDOUT : result; }",
    "return result == EBUSY ? ETIMEDOUT : result; } if (outcome == " +
    "WEFT__OK) return 0;",
  ],
}, {
  what: "SE6: takes a permit although there is none",
  by: "one permit, two agents",
  ts: ["while (freeOf(state) >= n) {", "while (freeOf(state) >= n - 1) {"],
  c: [
    "while (weft__semaphore_free(state) >= n) {",
    "while (weft__semaphore_free(state) >= n - 1) {",
  ],
}, {
  what: "SE7: gives up when its exchange fails",
  by: "tryAcquire against tryAcquire",
  ts: ["while (freeOf(state) >= n) {", "if (freeOf(state) >= n) {"],
  c: [
    "if (seen == state) return true; state = seen;",
    "return seen == state;",
  ],
}, {
  what: "SE7: gives up when its second exchange fails",
  by: "three tryAcquire, each of which gets a permit",
  ts: [
    "while (freeOf(state) >= n) {",
    "for (let tries = 2; tries > 0 && freeOf(state) >= n; tries--) {",
  ],
  c: [
    "while (weft__semaphore_free(state) >= n) {",
    "if (weft__semaphore_free(state) >= n) {",
  ],
}, {
  what: "SE8: is no longer counted after its first wake",
  by: "one permit, two agents",
  ts: [
    'if (outcome === "timed-out") return this.take(n);',
    "Atomics.sub(words, WAITERS, 1);\n" +
    'if (outcome === "timed-out") return this.take(n);',
    ["Atomics.sub(words, WAITERS, 1); }", "}"],
  ],
  c: [
    "if (outcome == WEFT__TIMED_OUT) { result",
    "weft__add(&s->waiters, -1); if (outcome == WEFT__TIMED_OUT) { result",
    ["weft__add(&s->waiters, -1); return result;", "return result;"],
  ],
}, {
  what: "believes an old hint that there are too few permits",
  by: "a claim that times out gives back",
  ts: [
    "if (freeOf(state) < n) state = Atomics.load(words, PERMITS); while",
    "while",
  ],
  c: "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
}, {
  what: "takes permits and says that nobody sleeps",
  by: "one wants two permits, and another takes one, with patience",
  ts: [
    "const left = expected - (n << FREE_SHIFT) | 0; // the same may sleep",
    "const left = stateOf(freeOf(expected) - n, NOBODY);",
  ],
  c: [
    "return weft__minus(state, weft__semaphore_units(n));",
    "return weft__minus(state, weft__semaphore_units(n)) & " +
    "~WEFT_SEMAPHORE_WHO_MASK;",
  ],
}, {
  what: "releases by a store",
  by: "a claim is given up",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, next); " +
    "if (state !== expected) continue; if (count",
    "Atomics.store(words, PERMITS, next);\nif (count",
  ],
  c: [
    "state = weft__compare_exchange(&s->permits, expected, next); if (state " +
    "!= expected) continue; if (count",
    "weft__store(&s->permits, next); if (count",
  ],
}, {
  what: "the first attempt of a release is a store",
  by: "a claim is given up",
  ts: ONE_LOOP,
  c: [
    "int32_t seen = weft__compare_exchange(&s->permits, state, more);",
    "int32_t seen = state; weft__store(&s->permits, more);",
  ],
}, {
  what: "the first attempt of a release does not look who sleeps",
  by: "one permit, two agents",
  ts: ONE_LOOP,
  c: [
    "return (state & WEFT_SEMAPHORE_WHO_MASK) == WEFT_SEMAPHORE_NOBODY &&",
    "return",
  ],
}, {
  what: "does not check whether its release was stored",
  by: "one permit, two agents",
  ts: ["if (state !== expected) continue; if (count", "if (count"],
  c: ["if (state != expected) continue; if (count", "if (count"],
}, {
  what: "releases and wakes nobody",
  by: "one permit, two agents",
  ts: ["if (count > 0) Atomics.notify(words, PERMITS, count);", ""],
  c: ["if (count > 0) weft__notify(&s->permits, count);", ""],
}, {
  what: "wakes before it gives",
  by: "one permit, two agents",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, next); " +
    "if (state !== expected) continue; if (count > 0) " +
    "Atomics.notify(words, PERMITS, count);",
    "if (count > 0) Atomics.notify(words, PERMITS, count);\n" +
    "state = Atomics.compareExchange(words, PERMITS, expected, next);\n" +
    "if (state !== expected) continue;",
  ],
  c: [
    "state = weft__compare_exchange(&s->permits, expected, next); if (state " +
    "!= expected) continue; if (count > 0) weft__notify(&s->permits, count);",
    "if (count > 0) weft__notify(&s->permits, count); " +
    "state = weft__compare_exchange(&s->permits, expected, next); if (state " +
    "!= expected) continue;",
  ],
}, {
  what: "wakes nobody if only one waits",
  by: "two permits released at once, with patience",
  ts: [
    "const count = who === NOBODY ? 0",
    "const count = who === SINGLES && Atomics.load(words, WAITERS) < 2 ? 0",
  ],
  c: [
    "int32_t count = who == WEFT_SEMAPHORE_NOBODY",
    "int32_t count = who == WEFT_SEMAPHORE_SINGLES && " +
    "weft__load(&s->waiters) < 2",
  ],
}, {
  what: "(G) looks for waiters once it has given",
  by: "one acquires, and frees the semaphore",
  ts: [
    "if (count > 0) Atomics.notify(words, PERMITS, count);",
    "if (Atomics.load(words, WAITERS) > 0) {\n" +
    "Atomics.notify(words, PERMITS, count);\n}",
  ],
  c: [
    "if (count > 0) weft__notify(&s->permits, count);",
    "if (weft__load(&s->waiters) > 0) weft__notify(&s->permits, count);",
  ],
}, {
  what: "(G) says that nobody sleeps once it has given",
  by: "one acquires two, and frees the semaphore",
  ts: [
    "const next = stateOf(free, count === Infinity ? NOBODY : who);",
    "const next = stateOf(free, who);",
    [
      "if (count > 0) Atomics.notify(words, PERMITS, count);",
      "if (count === Infinity) Atomics.and(words, PERMITS, ~WHO_MASK);\n" +
      "if (count > 0) Atomics.notify(words, PERMITS, count);",
    ],
  ],
  c: [
    "free, count == WEFT__ALL ? WEFT_SEMAPHORE_NOBODY : who);",
    "free, who);",
    [
      "if (count > 0) weft__notify(&s->permits, count);",
      "if (count == WEFT__ALL) weft__and(&s->permits, " +
      "~WEFT_SEMAPHORE_WHO_MASK); " +
      "if (count > 0) weft__notify(&s->permits, count);",
    ],
  ],
}, {
  what: "wakes as many as it releases, though somebody wants several",
  by: "wanted one and two, released one, with patience",
  ts: [
    "const some = who === SINGLES && Atomics.load(words, WAITERS) > 1;",
    "const some = Atomics.load(words, WAITERS) > 1;",
  ],
  c: [
    "bool some = who == WEFT_SEMAPHORE_SINGLES && weft__load(&s->waiters) > 1;",
    "(void)who; bool some = weft__load(&s->waiters) > 1;",
  ],
}, {
  what: "wakes one, and says that nobody sleeps",
  by: "two permits released one by one, with patience",
  ts: [
    "stateOf(free, count === Infinity ? NOBODY : who);",
    "stateOf(free, NOBODY);",
  ],
  c: [
    "free, count == WEFT__ALL ? WEFT_SEMAPHORE_NOBODY : who);",
    "free, WEFT_SEMAPHORE_NOBODY);",
  ],
}, {
  what: "a waiter stays counted for ever",
  by: "one permit, two agents",
  ts: ["Atomics.sub(words, WAITERS, 1); }", "}"],
  c: ["weft__add(&s->waiters, -1); return result;", "return result;"],
}, {
  what: "sleeps although there are permits",
  by: "a timeout at any time, with patience",
  ts: [
    "while (this.#freeOf(state) < n) {",
    "for (;;) {\nif (Atomics.load(words, WAITERS) < 0) break;",
  ],
  c: ["while (weft__semaphore_count(s, *state) < n) {", "for (;;) {"],
}, {
  what: "announces itself by a store",
  by: "one wants two permits, and another takes one, with patience",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, next); " +
    "if (state === expected) return next; } return undefined;",
    "Atomics.store(words, PERMITS, next);\n" +
    "if (state === expected) return next; } return undefined;",
  ],
  c: [
    "*state = weft__compare_exchange(&s->permits, expected, next); if (*state",
    "weft__store(&s->permits, next); if (*state",
  ],
}, {
  what: "a waiter for several permits is not counted",
  by: "wanted one and two, released one, with patience",
  ts: ["if (n > 1) Atomics.add(words, BULK, 1); try { for", "try { for", [
    "if (n > 1) Atomics.sub(words, BULK, 1);",
    "",
  ]],
  c: ["if (n > 1) weft__add(&s->bulk, 1);", "", [
    "if (n > 1) weft__add(&s->bulk, -1);",
    "",
  ]],
}, {
  what: "a waiter for several permits stays counted for ever",
  by: "one wants two permits, released one by one",
  ts: ["if (n > 1) Atomics.sub(words, BULK, 1);", ""],
  c: ["if (n > 1) weft__add(&s->bulk, -1);", ""],
}, {
  what: "a waiter for several permits says that it wants one",
  by: "wanted one and two, released one, with patience",
  ts: [
    "Atomics.load(words, BULK) > 0 ? SEVERALS : SINGLES;",
    "Atomics.load(words, BULK) > 9 ? SEVERALS : SINGLES;",
  ],
  c: [
    "weft__load(&s->bulk) > 0 ? WEFT_SEMAPHORE_SEVERALS",
    "weft__load(&s->bulk) > 9 ? WEFT_SEMAPHORE_SEVERALS",
  ],
}, {
  what: "a waiter for one permit says that nobody wants several",
  by: "two permits released one by one",
  ts: [
    "if ((state & WHO_MASK) >= who) return state;",
    "if ((state & WHO_MASK) === who) return state;",
    [
      "Atomics.load(words, BULK) > 0 ? SEVERALS : SINGLES;",
      "n > 1 ? SEVERALS : SINGLES;",
    ],
  ],
  c: [
    "if ((*state & WEFT_SEMAPHORE_WHO_MASK) >= who) return true;",
    "if ((*state & WEFT_SEMAPHORE_WHO_MASK) == who) return true;",
    [
      "weft__load(&s->bulk) > 0 ? WEFT_SEMAPHORE_SEVERALS",
      "n > 1 ? WEFT_SEMAPHORE_SEVERALS",
    ],
  ],
}, {
  what: "lets two agents claim at once",
  by: "a claim is given up",
  ts: [
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0",
    "Atomics.exchange(words, CLAIMANT, this.#id) === 0",
  ],
  c: [
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0",
    "weft__exchange(&s->claimant, weft_agent_id()) >= 0",
  ],
}, {
  what: "claims although another agent does",
  by: "a claim is given up",
  ts: [
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0 )",
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) >= 0 )",
  ],
  c: [
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)",
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) >= 0)",
  ],
}, {
  what: "claims and takes nothing",
  by: "one permit, two agents",
  ts: ["else owing(words, n);", ""],
  c: ["weft__semaphore_owe(s, n);", ""],
}, {
  what: "writes what it claims before it takes it",
  ts: [
    "else owing(words, n);",
    "else {\nAtomics.store(words, CLAIM, n);\nowing(words, n);\n}",
  ],
  c: [
    "weft__semaphore_owe(s, n);",
    "weft__store(&s->claim, n); weft__semaphore_owe(s, n);",
  ],
  by: "a claimant is terminated",
}, {
  what: "counts a claim as served before it is",
  by: "one permit, two agents",
  ts: [
    "if (this.#freeOf(value) >= 0) break;",
    "if (this.#freeOf(value) >= -1) break;",
  ],
  c: [
    "if (weft__semaphore_count(s, state) >= 0) break;",
    "if (weft__semaphore_count(s, state) >= -1) break;",
  ],
}, {
  what: "the claimant looks twice before it sleeps",
  by: "one permit, two agents",
  ts: [
    "const value = Atomics.load(words, PERMITS); " +
    "if (this.#freeOf(value) >= 0) break;",
    "if (this.#freeOf(Atomics.load(words, PERMITS)) >= 0) break;\n" +
    "const value = Atomics.load(words, PERMITS);",
  ],
  c: [
    "int32_t state = weft__load(&s->permits); if (weft__semaphore_count(s, " +
    "state) >= 0) break;",
    "if (weft__semaphore_count(s, weft__load(&s->permits)) >= 0) break; " +
    "int32_t state = weft__load(&s->permits);",
  ],
}, {
  what: "the claimant is not counted",
  by: "tracked: two wait, and one of them claims",
  ts: [
    "const rows = this.#rows; Atomics.add(words, BULK, 1);",
    "const rows = this.#rows;",
    ["lets the next agent claim Atomics.sub(words, BULK, 1);", ""],
  ],
  c: ["int result = 0; weft__add(&s->bulk, 1);", "int result = 0;", [
    "lets the next agent claim */ weft__add(&s->bulk, -1);",
    "*/",
  ]],
}, {
  what: "the claimant stays counted for ever",
  by: "one permit, two agents",
  ts: ["lets the next agent claim Atomics.sub(words, BULK, 1);", ""],
  c: ["lets the next agent claim */ weft__add(&s->bulk, -1);", "*/"],
}, {
  what: "takes the first wake for the end of the claim",
  by: "one permit, two agents",
  ts: [
    'if (outcome !== "timed-out") continue;',
    'if (outcome !== "timed-out") return true;',
  ],
  c: [
    "if (outcome != WEFT__TIMED_OUT) continue;",
    "if (outcome != WEFT__TIMED_OUT) break;",
  ],
}, {
  what: "a claim that times out keeps what it took",
  by: "a claim that times out gives back",
  ts: ["else giving(words, n); return false;", "return false;"],
  c: ["int given = weft__semaphore_give_back(s, n);", "int given = 0;"],
}, {
  what: "a claim that times out is not cleared",
  by: "a claim that times out gives back",
  ts: [
    "Atomics.store(words, CLAIMANT, 0); // lets the next agent claim",
    "if (Atomics.load(words, CLAIM) > 0) Atomics.store(words, CLAIMANT, 0);",
    [
      "Atomics.store(words, CLAIM, 0); return true;",
      "return true;",
    ],
  ],
  c: [
    "weft__store(&s->claimant, 0); /* lets the next",
    "if (result == 0) weft__store(&s->claimant, 0); /* lets the next",
  ],
}, {
  what: "a claim that times out gives back and wakes nobody",
  by: "a claim that times out serves another",
  ts: [
    "else giving(words, n); return false;",
    "else owing(words, -n);\nreturn false;",
  ],
  c: [
    "if (s->tracked == 0) return weft__semaphore_give(s, n);",
    "if (s->tracked == 0) { weft__semaphore_owe(s, -n); return 0; }",
  ],
}, {
  what: "a claim that times out gives back by a store",
  by: "a claim that times out gives back",
  ts: [
    "else giving(words, n); return false;",
    "else {\nconst state = Atomics.load(words, PERMITS);\n" +
    "Atomics.store(words, PERMITS, stateOf(freeOf(state) + n, NOBODY));\n" +
    "Atomics.notify(words, PERMITS);\n}\nreturn false;",
  ],
  c: [
    "if (s->tracked == 0) return weft__semaphore_give(s, n);",
    "if (s->tracked == 0) { int32_t state = weft__load(&s->permits); " +
    "weft__store(&s->permits, " +
    "weft__semaphore_state(weft__semaphore_free(state) + n, 0)); " +
    "weft__notify(&s->permits, WEFT__ALL); return 0; }",
  ],
}, {
  what: "a claim that is served is not cleared",
  by: "one permit, two agents",
  ts: [
    "Atomics.store(words, CLAIMANT, 0); // lets the next agent claim",
    "if (Atomics.load(words, CLAIM) === 0) Atomics.store(words, CLAIMANT, 0);",
    [
      "Atomics.store(words, CLAIM, 0); return true;",
      "return true;",
    ],
  ],
  c: [
    "weft__store(&s->claimant, 0); /* lets the next",
    "if (result != 0) weft__store(&s->claimant, 0); /* lets the next",
  ],
}, {
  what: "abandons the claim of another",
  by: "a claim is given up",
  ts: ["if (seen !== id) return 0;", ""],
  c: [
    "if (seen != id) return 0;",
    "(void)seen;",
  ],
}, {
  what: "is the second heir of a claim",
  ts: [
    "const seen = Atomics.compareExchange(words, CLAIMANT, id, this.#id);",
    "const seen = Atomics.load(words, CLAIMANT);",
  ],
  c: [
    "int32_t seen = weft__compare_exchange(&s->claimant, id, weft_agent_id());",
    "int32_t seen = weft__load(&s->claimant);",
  ],
  by: "two inherit a claim, and one claims anew",
}, {
  what: "abandons a claim and keeps what it took",
  by: "a claim is given up",
  ts: ["if (n > 0) giving(words, n);", ""],
  c: ["if (n > 0) (void)weft__semaphore_give(s, n);", ""],
}, {
  what: "abandons a claim and does not clear it",
  by: "a claim is given up",
  ts: ["Atomics.store(words, CLAIMANT, 0); return n;", "return n;"],
  c: ["weft__store(&s->claimant, 0); return n;", "return n;"],
}, {
  what: "takes a timeout for a permit",
  by: "a timeout at any time, with patience",
  ts: [
    'if (outcome === "timed-out") return this.take(n);',
    'if (outcome === "timed-out") return true;',
  ],
  c: ["return result == EBUSY ? ETIMEDOUT : result;", "return 0;"],
}, {
  what: "drains by load and store",
  by: "drain against drain",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, none);",
    "Atomics.store(words, PERMITS, none);",
  ],
  c: [
    "state = weft__compare_exchange(&s->permits, expected, none);",
    "weft__store(&s->permits, none);",
  ],
}, {
  what: "drains more than it has seen",
  by: "drain against release and tryAcquire",
  ts: [
    "state = Atomics.compareExchange(words, PERMITS, expected, none);",
    "state = Atomics.exchange(words, PERMITS, none);",
    ["if (state === expected) return free;", "return free;"],
  ],
  c: [
    "state = weft__compare_exchange(&s->permits, expected, none);",
    "state = weft__exchange(&s->permits, none);",
    ["if (state == expected) return free;", "return free;"],
  ],
}, {
  what: "does not check whether it has drained",
  by: "drain against drain",
  ts: ["if (state === expected) return free;", "return free;"],
  c: ["if (state == expected) return free;", "return free;"],
}, {
  what: "drains and says that nobody sleeps",
  by: "one wants two permits, and another drains, with patience",
  ts: ["const none = expected & WHO_MASK;", "const none = NOBODY;"],
  c: [
    "int32_t none = expected & WEFT_SEMAPHORE_WHO_MASK;",
    "int32_t none = WEFT_SEMAPHORE_NOBODY;",
  ],
}, {
  what: "drains what a claimant waits for",
  by: "one claims two permits, and another drains",
  ts: [
    "for (let free; (free = freeOf(state)) > 0;) {",
    "for (let free; (free = state >>> FREE_SHIFT) > 0;) {",
  ],
  c: [
    "while ((free = weft__semaphore_free(state)) > 0) {",
    "while ((free = (int32_t)((uint32_t)state >> WEFT__SEMAPHORE_SHIFT)) > 0) {",
  ],
});

/** All of them. */
export const MUTANTS = [...COUNTING, ...ROWS, ...DRAINED, ...TRACKED];
