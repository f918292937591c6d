import { mutants } from "../_run/mutant.ts";

/** Mutants of `Semaphore`. */
const COUNTING = mutants("semaphore", {
  what: "SE1: looks for waiters before it adds",
  ts: [
    "for (;;) { if (permits + n > MAX_PERMITS) {",
    "const some = Atomics.load(words, WAITERS) > 0;\n" +
    "for (;;) { if (permits + n > MAX_PERMITS) {",
    [
      "if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);",
      "if (some) this.#wake(n, permits + n);",
    ],
  ],
  c: [
    "for (;;) { if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    "int32_t some = weft__load(&s->waiters); for (;;) { if (permits > " +
    "WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    [
      "if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n)",
      "if (some > 0) weft__semaphore_wake(s, n, permits + n)",
    ],
  ],
}, {
  what: "SE2: does not announce itself",
  ts: [
    "const patience = spinning.patience + Atomics.add(words, WAITERS, 1);",
    "const patience = 0;",
    ["Atomics.sub(words, WAITERS, 1);", ""],
  ],
  c: [
    "WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);",
    "WEFT_SEMAPHORE_PATIENCE;",
    ["weft__add(&s->waiters, -1);", ""],
  ],
}, {
  what: "SE3: wakes one, whatever it releases",
  ts: [
    "Atomics.notify(words, PERMITS, Math.min(n, permits));",
    "Atomics.notify(words, PERMITS, 1);",
  ],
  c: [
    "weft__notify(&s->permits, n < permits ? n : permits);",
    "weft__notify(&s->permits, 1);",
  ],
}, {
  what: "SE4: takes by load and sub",
  by: "tryAcquire, acquire",
  ts: [
    "permits = Atomics.compareExchange(words, PERMITS, expected, expected - n);",
    "Atomics.sub(words, PERMITS, n);",
  ],
  c: [
    "permits = weft__compare_exchange(&s->permits, expected, expected - n);",
    "weft__add(&s->permits, -n);",
  ],
}, {
  what: "SE5: takes a wake for its permits",
  ts: [
    'if (outcome === "timed-out") return this.#take(n);',
    'if (outcome === "timed-out") return this.#take(n);\n' +
    'if (outcome === "ok") return true;',
  ],
  c: [
    "return result == EBUSY ? ETIMEDOUT : result; }",
    "return result == EBUSY ? ETIMEDOUT : result; } if (outcome == " +
    "WEFT__OK) return 0;",
  ],
}, {
  what: "SE6: takes a permit although there is none",
  ts: ["while (permits >= n) {", "while (permits >= n - 1) {"],
  c: ["while (permits >= n) {", "while (permits >= n - 1) {"],
}, {
  what: "SE7: gives up when its exchange fails",
  by: "tryAcquire against tryAcquire",
  ts: ["while (permits >= n) {", "if (permits >= n) {"],
  c: ["while (permits >= n) {", "if (permits >= n) {"],
}, {
  what: "SE8: is no longer counted after its first wake",
  ts: [
    'if (outcome === "timed-out") return this.#take(n);',
    "Atomics.sub(words, WAITERS, 1);\n" +
    'if (outcome === "timed-out") return this.#take(n);',
    ["Atomics.sub(words, WAITERS, 1); }", "}"],
  ],
  c: [
    "if (outcome == WEFT__TIMED_OUT) { result",
    "weft__add(&s->waiters, -1); if (outcome == WEFT__TIMED_OUT) { result",
    ["weft__add(&s->waiters, -1); return result;", "return result;"],
  ],
}, {
  what: "believes an old hint that there are too few permits",
  ts: [
    "if (permits < n) permits = Atomics.load(words, PERMITS); while",
    "while",
  ],
  c: "In wasm a hint is an atomic load: its value was true when it was read, and that is enough here",
}, {
  what: "releases by a store",
  by: "a claim is given up",
  ts: [
    "const seen = Atomics.compareExchange(words, PERMITS, permits, sum);",
    "const seen = permits; Atomics.store(words, PERMITS, sum);",
  ],
  c: [
    "int32_t seen = weft__compare_exchange(&s->permits, permits, permits + n);",
    "int32_t seen = permits; weft__store(&s->permits, permits + n);",
  ],
}, {
  what: "does not check whether its release was stored",
  ts: ["if (seen === permits) break; permits = seen;", "break;"],
  c: ["if (seen == permits) break; permits = seen;", "(void)seen; break;"],
}, {
  what: "releases and wakes nobody",
  ts: ["if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);", ""],
  c: [
    "if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n);",
    "",
  ],
}, {
  what: "wakes nobody if only one waits",
  ts: [
    "if (Atomics.load(words, WAITERS) > 0)",
    "if (Atomics.load(words, WAITERS) > 1)",
  ],
  c: [
    "if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n)",
    "if (weft__load(&s->waiters) > 1) weft__semaphore_wake(s, n, permits + n)",
  ],
}, {
  what: "wakes a waiter for one permit before it adds",
  ts: [
    "if (permits > 0) Atomics.notify(words, PERMITS, Math.min(n, permits));",
    "",
  ],
  c: [
    "if (permits > 0) weft__notify(&s->permits, n < permits ? n : permits);",
    "",
  ],
}, {
  what: "a waiter stays counted for ever",
  ts: ["Atomics.sub(words, WAITERS, 1); }", "}"],
  c: ["weft__add(&s->waiters, -1); return result;", "return result;"],
}, {
  what: "sleeps although there are permits",
  by: "a timeout at any time, with patience",
  ts: ["if (permits >> this.#shift >= n) continue;", ""],
  c: ["if (weft__semaphore_count(s, permits) >= n) continue;", ""],
}, {
  what: "does not look again after it announced itself",
  ts: [
    "const turn = Atomics.load(words, TURN); // before the look at permits " +
    "if (this.#take(n)) return true;",
    "const turn = Atomics.load(words, TURN);\n" +
    "if (this.#take(n) && passed > 0) return true;",
  ],
  c: [
    "if (result != EBUSY) return result; if (passed",
    "if (result != EBUSY && passed > 0) return result; if (passed",
  ],
}, {
  what: "reads the turn after the permits",
  ts: [
    "if (permits >> this.#shift >= n) continue;",
    "if (permits >> this.#shift >= n) continue;\n" +
    "const late = Atomics.load(words, TURN);",
    [
      "? { words, index: TURN, value: turn, all: true } : {",
      "? { words, index: TURN, value: late, all: true } : {",
    ],
  ],
  c: [
    "if (weft__semaphore_count(s, permits) >= n) continue;",
    "if (weft__semaphore_count(s, permits) >= n) continue; int32_t late = " +
    "weft__load(&s->turn);",
    [
      "n > 1 ? weft__sleep(&s->turn, turn, deadline, WEFT__LOOK)",
      "n > 1 ? weft__sleep(&s->turn, late, deadline, WEFT__LOOK)",
    ],
  ],
}, {
  what: "a waiter for several permits is not counted",
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
  ts: ["if (n > 1) Atomics.sub(words, BULK, 1);", ""],
  c: ["if (n > 1) weft__add(&s->bulk, -1);", ""],
}, {
  what: "a waiter for several permits sleeps on the word for one permit",
  ts: ["const outcome = yield n > 1 ? {", "const outcome = yield n > 9 ? {"],
  c: ["n > 1 ? weft__sleep(&s->turn", "n > 9 ? weft__sleep(&s->turn"],
}, {
  what: "the turn does not change",
  ts: [
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.notify(words, TURN);",
  ],
  c: [
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL);",
  ],
}, {
  what: "the turn changes after the wake",
  ts: [
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.notify(words, TURN); Atomics.add(words, TURN, 1);",
  ],
  c: [
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL); weft__add(&s->turn, 1);",
  ],
}, {
  what: "does not wake a waiter for several permits",
  ts: [
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.add(words, TURN, 1);",
  ],
  c: [
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__add(&s->turn, 1);",
  ],
}, {
  what: "wakes only one waiter for several permits",
  ts: ["Atomics.notify(words, TURN); }", "Atomics.notify(words, TURN, 1); }"],
  c: ["weft__notify(&s->turn, WEFT__ALL);", "weft__notify(&s->turn, 1);"],
}, {
  what: "lets two agents claim at once",
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
  ts: [
    "else Atomics.sub(words, PERMITS, n); // In this order",
    "// In this order",
  ],
  c: ["weft__add(&s->permits, -n);", ""],
}, {
  what: "writes what it claims before it takes it",
  ts: [
    "else Atomics.sub(words, PERMITS, n); // In this order",
    "else { Atomics.store(words, CLAIM, n); Atomics.sub(words, PERMITS, n); } " +
    "// In",
  ],
  c: [
    "weft__add(&s->permits, -n);",
    "weft__store(&s->claim, n); weft__add(&s->permits, -n);",
  ],
  by: "a claimant is terminated",
}, {
  what: "counts a claim as served before it is",
  ts: [
    "if (Atomics.load(words, PERMITS) >= 0) break; const outcome",
    "if (Atomics.load(words, PERMITS) >= -1) break; const outcome",
  ],
  c: [
    "if (weft__load(&s->permits) >= 0) break;",
    "if (weft__load(&s->permits) >= -1) break;",
  ],
}, {
  what: "the claimant reads the turn too late",
  ts: [
    "const turn = Atomics.load(words, TURN); " +
    "if (Atomics.load(words, PERMITS) >= 0) break; const outcome",
    "if (Atomics.load(words, PERMITS) >= 0) break;\n" +
    "const turn = Atomics.load(words, TURN); const outcome",
  ],
  c: [
    "int32_t turn = weft__load(&s->turn); if (weft__load(&s->permits) >= 0) " +
    "break;",
    "if (weft__load(&s->permits) >= 0) break; int32_t turn = " +
    "weft__load(&s->turn);",
  ],
}, {
  what: "the claimant is not counted",
  ts: [
    "const rows = this.#rows; Atomics.add(words, BULK, 1);",
    "const rows = this.#rows;",
    ["} finally { Atomics.sub(words, BULK, 1); }", "} finally { }"],
  ],
  c: ["int result = 0; weft__add(&s->bulk, 1);", "int result = 0;", [
    "weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
    "weft__semaphore_end_claim(s);",
  ]],
}, {
  what: "the claimant stays counted for ever",
  ts: ["} finally { Atomics.sub(words, BULK, 1); }", "} finally { }"],
  c: [
    "weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
    "weft__semaphore_end_claim(s);",
  ],
}, {
  what: "takes the first wake for the end of the claim",
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
  ts: [
    "this.#giveBack(n); this.#endClaim(); return false;",
    "this.#endClaim(); return false;",
  ],
  c: ["int given = weft__semaphore_give_back(s, n);", "int given = 0;"],
}, {
  what: "a claim that times out is not cleared",
  ts: [
    "this.#giveBack(n); this.#endClaim(); return false;",
    "this.#giveBack(n); return false;",
  ],
  c: [
    "weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
    "if (result == 0) weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
  ],
}, {
  what: "a claim that times out gives back and wakes nobody",
  by: "a claim that times out serves another",
  ts: [
    "Atomics.add(this.#words, PERMITS, n) + n; this.#wake(n, permits);",
    "Atomics.add(this.#words, PERMITS, n) + n;",
  ],
  c: [
    "weft__semaphore_wake(s, n, permits); return 0; } /* Lets",
    "return 0; } /* Lets",
  ],
}, {
  what: "a claim that times out gives back by a store",
  by: "a claim is given up",
  ts: [
    "const permits = this.#rows?.give(n) ?? " +
    "Atomics.add(this.#words, PERMITS, n) + n;",
    "const permits = Atomics.load(this.#words, PERMITS) + n;\n" +
    "Atomics.store(this.#words, PERMITS, permits);",
  ],
  c: [
    "permits = weft__plus(weft__add(&s->permits, n), n);",
    "permits = weft__load(&s->permits) + n; weft__store(&s->permits, permits);",
  ],
}, {
  what: "a claim that is served is not cleared",
  ts: [
    "Atomics.store(words, CLAIM, 0); this.#endClaim(); return true;",
    "Atomics.store(words, CLAIM, 0); return true;",
  ],
  c: [
    "weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
    "if (result != 0) weft__semaphore_end_claim(s); weft__add(&s->bulk, -1);",
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
  ts: ["if (n > 0) this.#giveBack(n); this.#endClaim();", "this.#endClaim();"],
  c: ["if (n > 0) (void)weft__semaphore_give_back(s, n);", ""],
}, {
  what: "abandons a claim and does not clear it",
  ts: [
    "this.#giveBack(n); this.#endClaim(); return n;",
    "this.#giveBack(n); return n;",
  ],
  c: [
    "weft__semaphore_end_claim(s); return n; } WEFT__END",
    "return n; } WEFT__END",
  ],
}, {
  what: "takes a timeout for a permit",
  ts: [
    'if (outcome === "timed-out") return this.#take(n);',
    'if (outcome === "timed-out") return true;',
  ],
  c: ["return result == EBUSY ? ETIMEDOUT : result;", "return 0;"],
}, {
  what: "a claim that is over is not cleared",
  ts: "TypeScript ends a claim in two places: each has a mutant",
  c: ["weft__store(&s->claimant, 0);", ""],
});

/** Mutants of the rows of a tracked semaphore, in `_tracked.ts`. */
const ROWS = mutants({
  source: "_tracked",
  scenarios: ["semaphore"],
}, {
  what: "does not confirm the last change before it replaces it",
  ts: ["Atomics.compareExchange(words, at, confirmed, next);", ""],
  c: ["weft__compare_exchange(sequence, confirmed, next);", ""],
}, {
  what: "confirms a change that is not made",
  by: "tracked: two take one permit, and one is terminated",
  ts: ["if ((next ^ seen) & SEQUENCE_MASK) return;", ""],
  c: ["if ((next ^ seen) & WEFT__TRACKED_SEQUENCE_MASK) return true;", ""],
}, {
  what: "confirms by a store",
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
  ts: ["if (was === seen) Atomics.store(words, at + SEQUENCE, sequence);", ""],
  c: ["if (was == seen) weft__store(&row->sequence, sequence);", ""],
}, {
  what: "confirms its change before it is made",
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

/** Mutants of what a tracked semaphore does otherwise. */
const TRACKED = mutants("semaphore", {
  what: "recovers a tracked claimant and does not end its claim",
  ts: ["if (claimed) { Atomics.store", "if (!claimed) { Atomics.store"],
  c: ["if (claimed) { weft__store", "if (!claimed) { weft__store"],
});

/** All of them. */
export const MUTANTS = [...COUNTING, ...ROWS, ...TRACKED];
