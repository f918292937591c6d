import { mutants } from "../_run/mutant.ts";

/** Mutants of `Semaphore`. */
export const semaphore = mutants(
  "semaphore.ts",
  [
    "SE1: looks for waiters before it adds",
    "for (;;) { if (permits + n > MAX_PERMITS) {",
    "const some = Atomics.load(words, WAITERS) > 0;\n" +
    "for (;;) { if (permits + n > MAX_PERMITS) {",
    {
      also: [
        "if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);",
        "if (some) this.#wake(n, permits + n);",
      ],
    },
  ],
  [
    "SE2: does not announce itself",
    "const patience = spinning.patience + Atomics.add(words, WAITERS, 1);",
    "const patience = 0;",
    { also: ["Atomics.sub(words, WAITERS, 1);", ""] },
  ],
  [
    "SE3: wakes one, whatever it releases",
    "Atomics.notify(words, PERMITS, Math.min(n, permits));",
    "Atomics.notify(words, PERMITS, 1);",
  ],
  [
    "SE4: takes by load and sub",
    "permits = Atomics.compareExchange(words, PERMITS, expected, expected - n);",
    "Atomics.sub(words, PERMITS, n);",
  ],
  [
    "SE5: who is woken has its permits, it thinks",
    'if (outcome === "timed-out") return this.#take(n);',
    'if (outcome === "timed-out") return this.#take(n);\n' +
    'if (outcome === "ok") return true;',
  ],
  [
    "SE6: takes a permit when there is none",
    "while (permits >= n) {",
    "while (permits >= n - 1) {",
  ],
  [
    "SE7: gives up when its exchange fails",
    "while (permits >= n) {",
    "if (permits >= n) {",
  ],
  [
    "SE8: counts itself no more when it is first woken",
    'if (outcome === "timed-out") return this.#take(n);',
    "Atomics.sub(words, WAITERS, 1);\n" +
    'if (outcome === "timed-out") return this.#take(n);',
    { also: ["Atomics.sub(words, WAITERS, 1); }", "}"] },
  ],
  [
    "believes a hint that there are too few",
    "if (permits < n) permits = Atomics.load(words, PERMITS); while",
    "while",
  ],
  [
    "releases by a store",
    "const seen = Atomics.compareExchange(words, PERMITS, permits, sum);",
    "const seen = permits; Atomics.store(words, PERMITS, sum);",
  ],
  [
    "does not look whether its release went in",
    "if (seen === permits) break; permits = seen;",
    "break;",
  ],
  [
    "releases and wakes nobody",
    "if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);",
    "",
  ],
  [
    "wakes only where two wait",
    "if (Atomics.load(words, WAITERS) > 0)",
    "if (Atomics.load(words, WAITERS) > 1)",
  ],
  [
    "wakes before it adds, as seen by who wants one",
    "if (permits > 0) Atomics.notify(words, PERMITS, Math.min(n, permits));",
    "",
  ],
  [
    "counts itself for ever",
    "Atomics.sub(words, WAITERS, 1); }",
    "}",
  ],
  [
    "sleeps although there are permits",
    "if (permits >= n) continue;",
    "",
  ],
  [
    "does not look again after it announced itself",
    "const turn = Atomics.load(words, TURN); // before the look at permits " +
    "if (this.#take(n)) return true;",
    "const turn = Atomics.load(words, TURN);\n" +
    "if (this.#take(n) && passed > 0) return true;",
  ],
  [
    "looks at the turn after it looked at the permits",
    "const permits = Atomics.load(words, PERMITS); if (permits >= n) continue;",
    "const permits = Atomics.load(words, PERMITS);\n" +
    "if (permits >= n) continue;\nconst late = Atomics.load(words, TURN);",
    {
      also: [
        "? { words, index: TURN, value: turn, all: true } : {",
        "? { words, index: TURN, value: late, all: true } : {",
      ],
    },
  ],
  [
    "who wants several is not counted",
    "if (n > 1) Atomics.add(words, BULK, 1); try { for",
    "try { for",
    { also: ["if (n > 1) Atomics.sub(words, BULK, 1);", ""] },
  ],
  [
    "who wants several is counted for ever",
    "if (n > 1) Atomics.sub(words, BULK, 1);",
    "",
  ],
  [
    "who wants several sleeps where one is wanted",
    "const outcome = yield n > 1 ? {",
    "const outcome = yield n > 9 ? {",
  ],
  [
    "the turn does not change",
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.notify(words, TURN);",
  ],
  [
    "the turn changes after the wake",
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.notify(words, TURN); Atomics.add(words, TURN, 1);",
  ],
  [
    "who wants several is not woken",
    "Atomics.add(words, TURN, 1); Atomics.notify(words, TURN);",
    "Atomics.add(words, TURN, 1);",
  ],
  [
    "one of those that want several is woken",
    "Atomics.notify(words, TURN); }",
    "Atomics.notify(words, TURN, 1); }",
  ],
  [
    "two claim at once",
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0",
    "Atomics.exchange(words, CLAIMANT, this.#id) === 0",
  ],
  [
    "claims though another does",
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0 )",
    "Atomics.compareExchange(words, CLAIMANT, 0, this.#id) >= 0 )",
  ],
  [
    "claims and takes nothing",
    "Atomics.sub(words, PERMITS, n); // In this order",
    "// In this order",
  ],
  [
    "says what it claims before it takes it",
    "Atomics.sub(words, PERMITS, n); // In this order",
    "Atomics.store(words, CLAIM, n); Atomics.sub(words, PERMITS, n); // In",
    { by: "semaphore: a claimant is terminated" },
  ],
  [
    "the claim is paid before it is",
    "if (Atomics.load(words, PERMITS) >= 0) break; const outcome",
    "if (Atomics.load(words, PERMITS) >= -1) break; const outcome",
  ],
  [
    "the claim looks at the turn too late",
    "const turn = Atomics.load(words, TURN); " +
    "if (Atomics.load(words, PERMITS) >= 0) break; const outcome",
    "if (Atomics.load(words, PERMITS) >= 0) break;\n" +
    "const turn = Atomics.load(words, TURN); const outcome",
  ],
  [
    "the claim's waiter is not counted",
    "*#claim(n: number): Waiting<boolean> { const words = this.#words; " +
    "Atomics.add(words, BULK, 1);",
    "*#claim(n: number): Waiting<boolean> { const words = this.#words;",
    { also: ["} finally { Atomics.sub(words, BULK, 1); }", "} finally { }"] },
  ],
  [
    "the claim's waiter is counted for ever",
    "} finally { Atomics.sub(words, BULK, 1); }",
    "} finally { }",
  ],
  [
    "the first wake ends the claim",
    'if (outcome !== "timed-out") continue;',
    'if (outcome !== "timed-out") return true;',
  ],
  [
    "a claim that times out keeps what it took",
    "this.#endClaim(); this.#giveBack(n); return false;",
    "this.#endClaim(); return false;",
  ],
  [
    "a claim that times out is still claimed",
    "this.#endClaim(); this.#giveBack(n); return false;",
    "this.#giveBack(n); return false;",
  ],
  [
    "a claim that times out gives back and wakes nobody",
    "const permits = Atomics.add(this.#words, PERMITS, n) + n; " +
    "this.#wake(n, permits);",
    "Atomics.add(this.#words, PERMITS, n);",
  ],
  [
    "a claim that times out gives back by a store",
    "const permits = Atomics.add(this.#words, PERMITS, n) + n;",
    "const permits = Atomics.load(this.#words, PERMITS) + n;\n" +
    "Atomics.store(this.#words, PERMITS, permits);",
  ],
  [
    "a claim that is served is still claimed",
    "Atomics.store(words, CLAIM, 0); this.#endClaim(); return true;",
    "Atomics.store(words, CLAIM, 0); return true;",
  ],
  [
    "abandons the claim of another",
    "if (id === 0 || Atomics.load(words, CLAIMANT) !== id) return false;",
    "",
  ],
  [
    "abandons a claim and keeps what it took",
    "if (n > 0) this.#giveBack(n); return true;",
    "return true;",
  ],
  [
    "abandons a claim that is still claimed",
    "this.#endClaim(); if (n > 0) this.#giveBack(n);",
    "if (n > 0) this.#giveBack(n);",
  ],
  [
    "a timeout is taken for a permit",
    'if (outcome === "timed-out") return this.#take(n);',
    'if (outcome === "timed-out") return true;',
  ],
);
