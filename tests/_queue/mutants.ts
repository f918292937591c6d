import { mutants } from "../_run/mutant.ts";

/** Mutants of what several queues share. */
const QUEUES = mutants({
  source: "_queue/queue_core",
  header: "_queue",
  scenarios: ["mpmc_queue", "spsc_queue", "work_deque"],
}, {
  what: "(C): the size is that of two times",
  by: "the size, while elements go and come",
  ts: "if (from === was || looks [-===-]{+>=+} 1) { return",
  c: "[-if (from != was && looks > 1) continue; -]int32_t size",
});

/** Mutants of the loop by which all that has several waiters waits. */
const WAITS = mutants({
  source: "_wait/pending",
  header: "_event_count",
  scenarios: ["mpmc_queue", "spsc_queue"],
}, {
  what: "announces itself and does not try again",
  by: "push, pop",
  ts: "[-result = it.attempt(); if (result !== false && result !== " +
    'undefined) { if (told.explored) keeps("taken", result); return result; ' +
    "} -]if (outcome",
  c: "[-if ((result = (attempt)) == EBUSY) -]{ if (woken)",
}, {
  what: "tries before it announces itself",
  by: "push, pop",
  ts: [
    "{+result = it.attempt(); if (result !== false && result !== undefined) " +
    "return result; +}const sleep = it.announce(awaits);",
    "[-result = it.attempt(); if (result !== false && result !== undefined) " +
    '{ if (told.explored) keeps("taken", result); return result; } -]if ' +
    "(outcome",
  ],
  c: [
    "{+if ((result = (attempt)) != EBUSY) break; +}int32_t seen = " +
    "weft__event_announce(epoch);",
    "[-if ((result = (attempt)) == EBUSY) -]{ if (woken)",
  ],
}, {
  what: "gives up after one sleep",
  by: "close wakes a consumer",
  ts: '[-if (outcome !== "timed-out") continue; -]result',
  c: "[-if (outcome != WEFT__TIMED_OUT) continue; -]if ((result",
}, {
  what: "never withdraws an announcement",
  by: "push, pop",
  ts: "(yield sleep); } finally { [-it.withdraw(); -]}",
  c: "[-weft__event_withdraw(epoch);-]",
}, {
  what: "does not pass on a wake that it cannot use",
  by: "two consumers, the element in front comes last",
  ts: "} finally { [-it.pass(); -]}",
  c: "(void)[-(pass)-]{+0+}",
}, {
  what: "takes a timeout for free room",
  by: "push times out at any time",
  ts: "return result === false ? [-undefined-]{+true as T+} : result;",
  c: "if ((result = (last)) == EBUSY) result = [-ETIMEDOUT-]{+0+};",
});

export const MUTANTS = [...QUEUES, ...WAITS];
