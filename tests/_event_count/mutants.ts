import { mutants } from "../_run/mutant.ts";

/** Mutants of the event counts that queues sleep on. */
export const MUTANTS = mutants({
  source: "_event_count",
  scenarios: ["mpmc_queue"],
}, {
  what: "the epoch does not change",
  by: "push, pop",
  ts: [
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.notify(words, epoch, n);",
  ],
  c: [
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "weft__notify(epoch, n);",
  ],
}, {
  what: "the epoch changes after the wake",
  by: "push, pop",
  ts: [
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.notify(words, epoch, n); Atomics.add(words, epoch, 1);",
  ],
  c: [
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "weft__notify(epoch, n); weft__add(epoch, 1);",
  ],
}, {
  what: "the epoch changes and nobody is woken",
  ts: [
    "Atomics.add(words, epoch, 1); Atomics.notify(words, epoch, n);",
    "Atomics.add(words, epoch, 1);",
  ],
  c: [
    "weft__add(epoch, 1); weft__notify(epoch, n);",
    "(void)n; weft__add(epoch, 1);",
  ],
}, {
  what: "wakes nobody if only one sleeps",
  by: "push, pop",
  ts: [
    "if (Atomics.load(words, epoch + WAITERS) === 0) return;",
    "if (Atomics.load(words, epoch + WAITERS) <= 1) return;",
  ],
  c: [
    "if (weft__load(weft__event_waiters(epoch)) == 0) return;",
    "if (weft__load(weft__event_waiters(epoch)) <= 1) return;",
  ],
}, {
  what: "reads the count of waiters plainly",
  ts: [
    "if (Atomics.load(words, epoch + WAITERS) === 0) return;",
    "if (words[epoch + WAITERS] === 0) return;",
  ],
  c: [
    "if (weft__load(weft__event_waiters(epoch)) == 0) return;",
    "if (*weft__event_waiters(epoch) == 0) return;",
  ],
}, {
  what: "looks at the epoch before it is counted",
  ts: [
    "Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again",
    "Atomics.load(words, epoch + WAITERS);",
    ["Atomics.sub(words, epoch + WAITERS, 1);", ""],
  ],
  c: [
    "weft__add(weft__event_waiters(epoch), 1);",
    "weft__load(weft__event_waiters(epoch));",
    [
      "weft__add(weft__event_waiters(epoch), -1);",
      "",
    ],
  ],
}, {
  what: "counts a waiter by a load and a store",
  ts: [
    "Atomics.add(words, epoch + WAITERS, 1); // (W) announce, then look again",
    "Atomics.store(words, epoch + WAITERS, " +
    "Atomics.load(words, epoch + WAITERS) + 1);",
  ],
  c: [
    "weft__add(weft__event_waiters(epoch), 1);",
    "weft__store(weft__event_waiters(epoch), " +
    "weft__load(weft__event_waiters(epoch)) + 1);",
  ],
  by: "two time out",
}, {
  what: "a waiter stays counted for ever",
  ts: ["Atomics.sub(words, epoch + WAITERS, 1);", ""],
  c: ["weft__add(weft__event_waiters(epoch), -1);", ""],
}, {
  what: "reads the epoch after the last attempt",
  ts:
    "In TypeScript `announce` reads the epoch, so no caller can read it later",
  c: [
    "int32_t seen = weft__load(epoch); if ((result = (attempt)) == EBUSY)",
    "if ((result = (attempt)) == EBUSY)",
    ["weft__sleep(epoch, seen,", "weft__sleep(epoch, weft__load(epoch),"],
  ],
});
