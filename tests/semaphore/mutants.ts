import { mutants } from "../_run/mutant.ts";

/** The algorithm, and its twin. */
const SEMAPHORE = {
  source: "_lock/semaphore",
  header: "semaphore",
  scenarios: ["semaphore"],
};

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
    "state = weft__compare_exchange(&s->permits, expected, left);",
    "weft__store(&s->permits, left);",
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
    "int32_t left = weft__minus(expected, less);",
    "int32_t left = weft__minus(expected, less) & ~WEFT_SEMAPHORE_WHO_MASK;",
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

/** Mutants of the rows of a tracked semaphore, in `_memory/tracked.ts`. */
const ROWS = mutants({
  source: "_memory/tracked",
  scenarios: ["semaphore"],
}, {
  what: "does not confirm the last change before it replaces it",
  by: "tracked: two take one permit, and one is terminated",
  ts: ["Atomics.compareExchange(words, at, confirmed, next);", ""],
  c: ["weft__compare_exchange(sequence, confirmed, next);", ""],
}, {
  what: "confirms a change that is not made",
  by: "tracked: two take one permit, and one is terminated",
  ts: ["if ((next ^ seen) & SEQUENCE_MASK) return;", ""],
  c: ["if ((next ^ seen) & WEFT__TRACKED_SEQUENCE_MASK) return true;", ""],
}, {
  what: "confirms by a store",
  by: "tracked: two recover an agent, and one is terminated",
  ts: [
    "Atomics.compareExchange(words, at, confirmed, next);",
    "Atomics.store(words, at, next);",
  ],
  c: [
    "weft__compare_exchange(sequence, confirmed, next);",
    "weft__store(sequence, next);",
  ],
}, {
  what: "does not confirm its own change",
  by: "tracked: two take one permit, and one is terminated",
  ts: ["if (was === seen) Atomics.store(words, at + SEQUENCE, sequence);", ""],
  c: ["if (was == seen) weft__store(&row->sequence, sequence);", ""],
}, {
  what: "confirms its change before it is made",
  by: "tracked: two take one permit, and one is terminated",
  ts: [
    "const was = Atomics.compareExchange(words, this.#counted, seen, next);",
    "Atomics.store(words, at + SEQUENCE, sequence);\n" +
    "const was = Atomics.compareExchange(words, this.#counted, seen, next);",
  ],
  c: [
    "int32_t was = weft__compare_exchange(t->counted, seen, (int32_t)next);",
    "weft__store(&row->sequence, sequence); int32_t was = " +
    "weft__compare_exchange(t->counted, seen, (int32_t)next);",
  ],
}, {
  what: "writes what it holds into the half that counts",
  by: "tracked: two take one permit, and one is terminated",
  ts: [
    "words[at + HELD + (sequence & 1)] = words[at + HELD + (last & 1)]! - n;",
    "words[at + HELD + (last & 1)]! -= n;\n" +
    "words[at + HELD + (sequence & 1)] = words[at + HELD + (last & 1)]!;",
  ],
  c: [
    "row->held[sequence & 1] = weft__minus(row->held[last & 1], n);",
    "row->held[last & 1] -= n; row->held[sequence & 1] = row->held[last & 1];",
  ],
}, {
  what: "writes what it holds after the exchange",
  by: "tracked: one releases, one acquires, one is terminated",
  ts: [
    "words[at + HELD + (sequence & 1)] = words[at + HELD + (last & 1)]! - n;",
    "const left = words[at + HELD + (last & 1)]! - n;",
    [
      "if (was === seen) Atomics.store(words, at + SEQUENCE, sequence);",
      "if (was === seen) {\nwords[at + HELD + (sequence & 1)] = left;\n" +
      "Atomics.store(words, at + SEQUENCE, sequence);\n}",
    ],
  ],
  c: [
    "row->held[sequence & 1] = weft__minus(row->held[last & 1], n);",
    "int32_t left = weft__minus(row->held[last & 1], n);",
    [
      "if (was == seen) weft__store(&row->sequence, sequence);",
      "if (was == seen) { row->held[sequence & 1] = left; " +
      "weft__store(&row->sequence, sequence); }",
    ],
  ],
}, {
  what: "takes a row that another agent takes",
  by: "tracked: two take a row",
  ts: [
    "if (Atomics.compareExchange(this.words, at, 0, id) === 0) return at;",
    "Atomics.store(this.words, at, id);\nreturn at;",
  ],
  c: [
    "if (weft__compare_exchange(first + row * WEFT__ROW, 0, id) == 0) return " +
    "row;",
    "{ weft__store(first + row * WEFT__ROW, id); return row; }",
  ],
}, {
  what: "recovers a row that another agent recovers",
  by: "tracked: two recover an agent, and one acquires",
  ts: [
    "if (Atomics.compareExchange(words, at, id, this.id) !== id) continue;",
    "if (Atomics.load(words, at) !== id) continue;",
  ],
  c: [
    "if (weft__compare_exchange(agent, id, weft_agent_id()) != id) continue;",
    "if (weft__load(agent) != id) continue;",
  ],
}, {
  what: "recovers a row without its last change",
  by: "tracked: two recover an agent, and one is terminated",
  ts: ["this.#confirm(seen); // the last change of the dead agent", "//"],
  c: [
    "if (!weft__tracked_confirm(t, seen)) return -ENOTRECOVERABLE; int32_t " +
    "held",
    "int32_t held",
  ],
}, {
  what: "recovers a row and gives nothing back",
  by: "tracked: two take one permit, and one is terminated",
  ts: [
    "if (held > 0 && this.#exchange(at, seen, held) !== seen) continue;",
    "",
  ],
  c: [
    "if (held == 0 || weft__tracked_exchange(t, row, seen, held) == seen) " +
    "return held;",
    "return held;",
  ],
}, {
  what: "frees a row before it is empty",
  by: "tracked: two recover an agent, and one is terminated",
  ts: [
    "const seen = this.#load(); this.#confirm(seen); // the",
    "Atomics.store(words, at, 0);\nconst seen = this.#load();\n" +
    "this.#confirm(seen); // the",
  ],
  c: [
    "int32_t held = weft__tracked_empty(t, &t->rows[i]);",
    "weft__store(agent, 0); int32_t held = weft__tracked_empty(t, " +
    "&t->rows[i]);",
  ],
});

/** Mutants of how a tracked semaphore is drained. */
const DRAINED = mutants({
  source: "_memory/tracked",
  scenarios: ["semaphore"],
}, {
  what: "drains before it confirms the last change",
  by: "tracked: one drains, one acquires, one is terminated",
  ts: [
    "if (this.#rowOf(seen) !== at) this.#confirm(seen); counted = " +
    "this.#exchange(at, seen, -free);",
    "counted = this.#exchange(at, seen, -free);",
  ],
  c: [
    "if (!weft__tracked_ready(t, row, seen)) return -ENOTRECOVERABLE; " +
    "counted = weft__tracked_exchange(t, row, seen, -free);",
    "counted = weft__tracked_exchange(t, row, seen, -free);",
  ],
}, {
  what: "drains and notes one permit",
  by: "tracked: one drains, one releases, one is terminated",
  ts: [
    "this.#exchange(at, seen, -free); if (counted === seen) return free;",
    "this.#exchange(at, seen, -free);\n" +
    "if (counted === seen) {\n" +
    "this.words[at + HELD + (this.words[at + SEQUENCE]! & 1)] = 1;\n" +
    "return free;\n}",
  ],
  c: [
    "-free); if (counted == seen) return free;",
    "-free); if (counted == seen) { row->held[row->sequence & 1] = 1; " +
    "return free; }",
  ],
});

/** Mutants of what a tracked semaphore does otherwise. */
const TRACKED = mutants(SEMAPHORE, {
  what: "recovers a tracked claimant and does not end its claim",
  by: "tracked: an agent that claims more than there is, and is killed",
  ts: ["if (claimed) { Atomics.store", "if (!claimed) { Atomics.store"],
  c: ["if (claimed) { weft__store", "if (!claimed) { weft__store"],
});

/** All of them. */
export const MUTANTS = [...COUNTING, ...ROWS, ...DRAINED, ...TRACKED];
