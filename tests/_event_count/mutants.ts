import { mutants, none } from "../_run/mutant.ts";

/** Mutants of the event counts that queues sleep on. */
export const MUTANTS = [
  ...mutants({
    source: "_wait/event_count",
    scenarios: ["broadcast"],
  }, {
    what: "wakes nobody without a gong if only one sleeps",
    by: "one sleeps until another pushes",
    ts: "waiters [-=== 0-]{+<= 1+} || wakeSlow",
    c: "if (waiters [-== 0-]{+<= 1+}) return true;",
  }, {
    what: "reads the count of waiters without a gong plainly",
    by: "one sleeps until another pushes",
    ts: "const waiters = [-Atomics.load(words, -]{+words[+}epoch + " +
      "WAITERS[-)-]{+]!+}; return",
    c: "int32_t waiters = " +
      "[-weft__load(-]{+*+}weft__event_waiters(epoch[-)-]); if (waiters == 0)",
  }),
  ...mutants({
    source: "_wait/event_count",
    scenarios: ["mpmc_queue"],
  }, {
    what: "the epoch does not change",
    by: "push, pop",
    ts: "[-const seen = Atomics.compareExchange(words, epoch, even, even + 1 " +
      "| 0); if (seen !== even) return false;-]",
    c: "[-if (weft__compare_exchange(epoch, even, weft__plus(even, 1)) != " +
      "even) return false;-]",
  }, {
    what: "the epoch does not change where all are woken",
    by: "close wakes a consumer",
    ts: "[-Atomics.add(words, epoch, 2);-]{+{}+}",
    c: "[-weft__add(epoch, 2);-]",
  }, {
    what: "the epoch changes after the wake",
    by: "push, pop",
    ts: [
      "[-Atomics.notify(words, epoch, n); -]return true;",
      "else {{+ Atomics.notify(words, epoch, n);+} const even = " +
      "Atomics.load(words, epoch);",
    ],
    c: [
      "[-weft__notify(epoch, n); -]return true;",
      "{+weft__notify(epoch, n); +}int32_t even = weft__load(epoch);",
    ],
  }, {
    what: "the epoch changes and nobody is woken",
    by: "push, pop",
    ts: "[-Atomics.notify(words, epoch, n); -]return true;",
    c: "[-weft__notify(epoch, n); -]return true;",
  }, {
    what: "(L): looks while a wake counts as on its way",
    by: "two sleep, two are woken",
    ts: "while (value & 1{+ && value < 0+}) {",
    c: "while (value & 1{+ && value < 0+}) {",
  }, {
    what: "leaves out a wake for all",
    by: "close, push and two consumers",
    ts: "if ([-n === Infinity || -]waiters < 0) Atomics.add(words, epoch, 2);",
    equivalent: "a waiter that is woken and finds the queue closed wakes all",
  }, {
    what: "wakes nobody if only one sleeps",
    by: "push, pop",
    ts: "if (waiters [-=== 0-]{+<= 1+}) return true; if (!wakeSlow",
    c: "return waiters [-== 0-]{+<= 1+} || weft__event_wake_end_slow",
  }, {
    what: "reads the count of waiters plainly",
    by: "push, pop",
    ts: "const waiters = [-Atomics.load(words, -]{+words[+}epoch + " +
      "WAITERS[-)-]{+]!+}; if",
    c: "int32_t waiters = " +
      "[-weft__load(-]{+*+}weft__event_waiters(epoch[-)-]); return waiters " +
      "== 0",
  }, {
    what: "looks at the epoch before it is counted",
    by: "push, pop",
    ts: [
      "const before = Atomics.[-add-]{+load+}(words, waiters[-, 1-]);",
      "const before = [-Atomics.sub(words, waiters, 1)-]{+0+};",
    ],
    c: [
      "[-weft__add-]{+weft__load+}(weft__event_waiters(epoch)[-, 1-]);",
      "[-weft__plus(weft__add(-]{+*+}waiters[-, -1), -1)-]",
    ],
  }, {
    what: "counts a waiter by a load and a store",
    ts: "const before = Atomics.[-add-]{+load(words, waiters); " +
      "Atomics.store+}(words, waiters, {+before + +}1);",
    c: "[-weft__add-]{+weft__store+}(weft__event_waiters(epoch), " +
      "{+weft__load(weft__event_waiters(epoch)) + +}1);",
    by: "two time out",
  }, {
    what: "a waiter stays counted for ever",
    by: "push, pop",
    ts: "const before = [-Atomics.sub(words, waiters, 1)-]{+0+};",
    c: "[-weft__plus(weft__add(-]{+*+}waiters[-, -1), -1)-]",
  }, {
    what: "reads the epoch after the last attempt",
    by: "push, pop",
    ts: none(
      "In TypeScript `announce` reads the epoch, so no caller can read it later",
    ),
    c: "outcome = weft__sleep([-epoch, seen,-]{+((void)seen, epoch), " +
      "weft__load(epoch),+}",
  }),
];
