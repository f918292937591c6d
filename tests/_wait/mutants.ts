import { mutants } from "../_run/mutant.ts";

const NO_ASYNC = "C has no async forms, so no event loop keeps its waits";

/** Mutants of the two ways to wait. */
export const MUTANTS = mutants({
  source: "_wait",
  scenarios: ["_wait", "mutex"],
}, {
  what: "a look each second is taken for the end of the time",
  ts: [
    'return woken === "timed-out" && left >= atMost ? "not-equal" : woken;',
    "return woken;",
  ],
  c: [
    "return woken == WEFT__TIMED_OUT && !last ? WEFT__NOT_EQUAL : woken;",
    "(void)last; return woken;",
  ],
  by: "an agent is terminated",
}, {
  what: "blocks and leaves its native waits in the lists",
  ts: ["leaveQueues(); const woken", "const woken"],
  c: NO_ASYNC,
  by: "an agent that awaits blocks",
}, {
  what: "takes one native wait out of the list, whosever it is",
  ts: [
    "queue.left = true; Atomics.notify(queue.words, queue.index);",
    "queue.left = true; Atomics.notify(queue.words, queue.index, 1);",
  ],
  c: NO_ASYNC,
  by: "an agent that awaits blocks, behind another one",
}, {
  what: "forgets to take its native waits out of the lists",
  ts: [
    "queue.left = true; Atomics.notify(queue.words, queue.index);",
    "queue.left = true;",
  ],
  c: NO_ASYNC,
  by: "an agent that awaits blocks",
}, {
  what: "uses up a wake that came after all had given up",
  ts: ["if (!left) Atomics.notify(words, index, 1);", ""],
  c: NO_ASYNC,
  by: "a wait is aborted, another one blocks",
}, {
  what: "takes a native wait that did not begin for one",
  ts: ["if (!wait.async) return false;", "if (!wait.async) return true;"],
  c: NO_ASYNC,
}, {
  what: "begins no native wait",
  ts: ['if (!queue.serving && !queue.armed) serve(queue, "not-equal");', ""],
  c: NO_ASYNC,
}, {
  what: "does not serve who is behind in line",
  ts: ["if (waiter.queue === queue && !waiter.sleep.all) break;", "break;"],
  c: NO_ASYNC,
}, {
  what: "serves the first in line alone, where the wake is for all",
  ts: ["waiter.queue === queue && !waiter.sleep.all", "waiter.queue === queue"],
  c: NO_ASYNC,
  by: "a release serves the second in line",
}, {
  what: "a native wait that is over counts as pending",
  ts: ["queue.armed = queue.left = false;", "queue.left = false;"],
  c: NO_ASYNC,
}, {
  what: "begins no native wait for who is first in line now",
  ts: ["if (armed) return true;", "return true;"],
  c: NO_ASYNC,
}, {
  what: "an aborted waiter stays in line",
  ts: ["before.behind = behind; behind.before = before;", ""],
  c: NO_ASYNC,
}, {
  what: "a waiter that is served while it is aborted gets nothing",
  ts: [
    "if (!waiter.aborted || (value ?? false) !== false)",
    "if (!waiter.aborted)",
  ],
  c: NO_ASYNC,
  by: "aborted while served",
}, {
  what: "does not look each second",
  ts: ["if (look(true)) return;", "return;"],
  c: NO_ASYNC,
  by: "an agent is terminated",
}, {
  what: "looks behind a waiter that asked for its own look",
  ts: [
    'if (!isEmpty(queue)) return serve(queue, left ? "not-equal" : "ok");',
    "if (!isEmpty(queue)) return;",
  ],
  c: NO_ASYNC,
});
