import { mutants } from "../_run/mixed/mutant.ts";

/** Mutants of `weft_semaphore`. */
export const semaphore = mutants(
  "semaphore",
  "semaphore",
  [
    "SE1: looks for waiters before it adds",
    "for (;;) { if (permits > WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    "int32_t some = weft__load(&s->waiters); for (;;) { if (permits > " +
    "WEFT_SEMAPHORE_MAX - n) return EINVAL;",
    ["if (weft__load(&s->waiters) > 0)", "if (some > 0)"],
  ],
  [
    "SE2: does not announce itself",
    "WEFT_SEMAPHORE_PATIENCE + weft__add(&s->waiters, 1);",
    "WEFT_SEMAPHORE_PATIENCE;",
    ["weft__add(&s->waiters, -1);", ""],
  ],
  [
    "SE3: wakes one, whatever it releases",
    "weft__notify(&s->permits, n < permits ? n : permits);",
    "weft__notify(&s->permits, 1);",
  ],
  [
    "SE5: who is woken has its permits, it thinks",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT; if (outcome == " +
    "WEFT__OK) return 0;",
  ],
  [
    "SE8: counts itself no more when it is first woken",
    "if (outcome == WEFT__TIMED_OUT) return weft__semaphore_take",
    "weft__add(&s->waiters, -1); if (outcome == WEFT__TIMED_OUT) return " +
    "weft__semaphore_take",
    ["weft__add(&s->waiters, -1); return result;", "return result;"],
  ],
  [
    "releases by a store",
    "int32_t seen = weft__compare_exchange(&s->permits, permits, permits + n);",
    "int32_t seen = permits; weft__store(&s->permits, permits + n);",
  ],
  [
    "releases and wakes nobody",
    "if (weft__load(&s->waiters) > 0) weft__semaphore_wake(s, n, permits + n);",
    "",
  ],
  [
    "wakes only where two wait",
    "if (weft__load(&s->waiters) > 0)",
    "if (weft__load(&s->waiters) > 1)",
  ],
  [
    "counts itself for ever",
    "weft__add(&s->waiters, -1); return result;",
    "return result;",
  ],
  [
    "who wants several is not counted",
    "if (n > 1) weft__add(&s->bulk, 1);",
    "",
    ["if (n > 1) weft__add(&s->bulk, -1);", ""],
  ],
  [
    "who wants several is counted for ever",
    "if (n > 1) weft__add(&s->bulk, -1);",
    "",
  ],
  [
    "the turn does not change",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL);",
  ],
  [
    "the turn changes after the wake",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, WEFT__ALL); weft__add(&s->turn, 1);",
  ],
  [
    "who wants several is not woken",
    "weft__add(&s->turn, 1); weft__notify(&s->turn, WEFT__ALL);",
    "weft__add(&s->turn, 1);",
  ],
  [
    "two claim at once",
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0",
    "weft__exchange(&s->claimant, weft_agent_id()) >= 0",
  ],
  [
    "claims and takes nothing",
    "weft__add(&s->permits, -n);",
    "",
  ],
  [
    "a claim that times out keeps what it took",
    "if (result != 0) weft__semaphore_give_back(s, n);",
    "",
  ],
  [
    "a claim that is over is still claimed",
    "weft__store(&s->claimant, 0);",
    "",
  ],
  [
    "a timeout is taken for a permit",
    "return weft__semaphore_take(s, n) ? 0 : ETIMEDOUT;",
    "return 0;",
  ],
  [
    "SE4: takes by load and sub",
    "permits = weft__compare_exchange(&s->permits, expected, expected - n);",
    "weft__add(&s->permits, -n);",
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
    "does not look whether its release went in",
    "if (seen == permits) break; permits = seen;",
    "(void)seen; break;",
  ],
  [
    "wakes before it adds, as seen by who wants one",
    "if (permits > 0) weft__notify(&s->permits, n < permits ? n : permits);",
    "",
  ],
  [
    "sleeps although there are permits",
    "if (permits >= n) continue;",
    "",
  ],
  [
    "does not look again after it announced itself",
    "if (weft__semaphore_take(s, n)) return 0; if (passed",
    "if (weft__semaphore_take(s, n) && passed > 0) return 0; if (passed",
  ],
  [
    "looks at the turn after it looked at the permits",
    "if (permits >= n) continue;",
    "if (permits >= n) continue; int32_t late = weft__load(&s->turn);",
    [
      "n > 1 ? weft__sleep(&s->turn, turn, deadline, WEFT__LOOK)",
      "n > 1 ? weft__sleep(&s->turn, late, deadline, WEFT__LOOK)",
    ],
  ],
  [
    "who wants several sleeps where one is wanted",
    "n > 1 ? weft__sleep(&s->turn",
    "n > 9 ? weft__sleep(&s->turn",
  ],
  [
    "one of those that want several is woken",
    "weft__notify(&s->turn, WEFT__ALL);",
    "weft__notify(&s->turn, 1);",
  ],
  [
    "claims though another does",
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) == 0)",
    "weft__compare_exchange(&s->claimant, 0, weft_agent_id()) >= 0)",
  ],
  [
    "says what it claims before it takes it",
    "weft__add(&s->permits, -n);",
    "weft__store(&s->claim, n); weft__add(&s->permits, -n);",
  ],
  [
    "the claim is paid before it is",
    "if (weft__load(&s->permits) >= 0) break;",
    "if (weft__load(&s->permits) >= -1) break;",
  ],
  [
    "the claim looks at the turn too late",
    "int32_t turn = weft__load(&s->turn); if (weft__load(&s->permits) >= 0) " +
    "break;",
    "if (weft__load(&s->permits) >= 0) break; int32_t turn = " +
    "weft__load(&s->turn);",
  ],
  [
    "the claim's waiter is not counted",
    "int result = 0; weft__add(&s->bulk, 1);",
    "int result = 0;",
    [
      "weft__semaphore_give_back(s, n); weft__add(&s->bulk, -1);",
      "weft__semaphore_give_back(s, n);",
    ],
  ],
  [
    "the claim's waiter is counted for ever",
    "weft__semaphore_give_back(s, n); weft__add(&s->bulk, -1);",
    "weft__semaphore_give_back(s, n);",
  ],
  [
    "the first wake ends the claim",
    "if (outcome != WEFT__TIMED_OUT) continue;",
    "if (outcome != WEFT__TIMED_OUT) break;",
  ],
  [
    "a claim that times out is still claimed",
    "weft__semaphore_end_claim(s); if (result != 0)",
    "if (result == 0) weft__semaphore_end_claim(s); if (result != 0)",
  ],
  [
    "a claim that times out gives back and wakes nobody",
    "weft__semaphore_wake(s, n, weft__add(&s->permits, n) + n);",
    "weft__add(&s->permits, n);",
  ],
  [
    "a claim that times out gives back by a store",
    "weft__semaphore_wake(s, n, weft__add(&s->permits, n) + n);",
    "int32_t permits = weft__load(&s->permits) + n; weft__store(&s->permits, " +
    "permits); weft__semaphore_wake(s, n, permits);",
  ],
  [
    "a claim that is served is still claimed",
    "weft__semaphore_end_claim(s); if (result != 0)",
    "if (result != 0) weft__semaphore_end_claim(s); if (result != 0)",
  ],
  [
    "abandons the claim of another",
    "if (id == 0 || weft__load(&s->claimant) != id) return EPERM;",
    "(void)id;",
  ],
  [
    "abandons a claim and keeps what it took",
    "if (n > 0) weft__semaphore_give_back(s, n); return 0;",
    "(void)n; return 0;",
  ],
  [
    "abandons a claim that is still claimed",
    "weft__semaphore_end_claim(s); if (n > 0)",
    "if (n > 0)",
  ],
);
