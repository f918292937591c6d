import { mutants } from "../_run/mutant.ts";

/** Mutants of the two ways to wait. */
export const _wait = mutants(
  "_wait.ts",
  [
    "a look each second is taken for the end of the time",
    'return woken === "timed-out" && left >= atMost ? "not-equal" : woken;',
    "return woken;",
    { by: "mutex: an agent is terminated" },
  ],
  [
    "blocks and leaves its native waits in the lists",
    "leaveQueues(); const woken",
    "const woken",
    { by: "wait: an agent that awaits blocks" },
  ],
  [
    "takes one native wait out of the list, whosever it is",
    "queue.left = true; Atomics.notify(queue.words, queue.index);",
    "queue.left = true; Atomics.notify(queue.words, queue.index, 1);",
    { by: "wait: an agent that awaits blocks, behind another one" },
  ],
  [
    "forgets to take its native waits out of the lists",
    "queue.left = true; Atomics.notify(queue.words, queue.index);",
    "queue.left = true;",
    { by: "wait: an agent that awaits blocks" },
  ],
  [
    "uses up a wake that came after all had given up",
    "if (!left) Atomics.notify(words, index, 1);",
    "",
    { by: "wait: a wait is aborted, another one blocks" },
  ],
  [
    "takes a native wait that did not begin for one",
    "if (!wait.async) return false;",
    "if (!wait.async) return true;",
  ],
  [
    "begins no native wait",
    'if (!queue.serving && !queue.armed) serve(queue, "not-equal");',
    "",
  ],
  [
    "does not serve who is behind in line",
    "if (waiter.queue === queue && !waiter.sleep.all) break;",
    "break;",
  ],
  [
    "serves the first in line alone, where the wake is for all",
    "waiter.queue === queue && !waiter.sleep.all",
    "waiter.queue === queue",
    { by: "wait: a release serves the second in line" },
  ],
  [
    "a native wait that is over counts as pending",
    "queue.armed = queue.left = false;",
    "queue.left = false;",
  ],
  [
    "begins no native wait for who is first in line now",
    "if (armed) return true;",
    "return true;",
  ],
  [
    "an aborted waiter stays in line",
    "before.behind = behind; behind.before = before;",
    "",
  ],
  [
    "a waiter that is served while it is aborted gets nothing",
    "if (!waiter.aborted || (value ?? false) !== false)",
    "if (!waiter.aborted)",
    { by: "wait: aborted while served" },
  ],
  [
    "does not look each second",
    "if (look(true)) return;",
    "return;",
    { by: "wait: an agent is terminated" },
  ],
  [
    "looks behind a waiter that asked for its own look",
    'if (!isEmpty(queue)) return serve(queue, left ? "not-equal" : "ok");',
    "if (!isEmpty(queue)) return;",
  ],
);
