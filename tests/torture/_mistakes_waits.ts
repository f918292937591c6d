/**
 * Mistakes in `select`, in counted ends of channels, in locks and in waits for
 * keys, and the storm that must find each.
 *
 * @module
 */
import type { Step as Lock } from "./_locks_loops.ts";
import type { Mistake } from "./_mistakes.ts";
import type { Step as Call } from "./_select_loops.ts";
import type { LocksPlan } from "./storm_locks.ts";
import type { SelectPlan } from "./storm_select.ts";

const times = <T>(n: number, it: T): T[] => Array.from({ length: n }, () => it);

/** Calls at all channels. */
const calls = (count: number, unusual: Partial<Call> = {}): Call => ({
  how: "select",
  arms: 0,
  also: 0,
  isFirst: false,
  permit: false,
  count,
  timeout: 0,
  abort: -1,
  then: -1,
  ...unusual,
});

type Given = SelectPlan["senders"][number];

/** A loop of the main thread. */
const here = (steps: Call[], unusual: Partial<Given> = {}): Given => ({
  thread: false,
  blocks: false,
  steps,
  most: -1,
  ...unusual,
});

const inThread = { thread: true, blocks: true };

const selectPlan = (
  senders: Given[],
  receivers: Given[],
  unusual: Partial<SelectPlan> = {},
): SelectPlan => ({
  kind: "queues",
  capacities: [1, 1],
  senders,
  receivers,
  kills: [],
  guests: 0,
  meets: 0,
  ...unusual,
});

const lock = (what: Lock["what"], unusual: Partial<Lock> = {}): Lock => ({
  what,
  count: 1,
  n: 0,
  tries: false,
  timeout: 0,
  priority: 0,
  abort: -1,
  hold: -1,
  waits: false,
  ...unusual,
});

const locksPlan = (
  loops: LocksPlan["loops"][number][],
  unusual: Partial<LocksPlan> = {},
): LocksPlan => ({ permits: 2, loops, keys: 5, lines: [], ...unusual });

const alone = (steps: Lock[]) => ({ thread: false, blocks: false, steps });

/** The mistakes. */
export const MISTAKES_OF_WAITS: readonly Mistake[] = [{
  storm: "select",
  what: "a channel stays open when its last sender has left",
  edits: {
    "_queue/channel/ends": "[-if (-]rows.give(1)[- === MAX_COUNT) " +
      "this.#queue.close()-];",
  },
  seed: 1,
  plan: selectPlan([here([calls(3)])], [here([calls(1)])]),
  says: /never ended/,
}, {
  storm: "select",
  what: "senders do not learn that the last receiver has left",
  edits: {
    "_queue/channel/ends": "if (rows.give(1) === MAX_COUNT{+ && rows === " +
      "this.senders.rows+}) this.#queue.close();",
  },
  seed: 1,
  plan: selectPlan([here([calls(60)])], [here([calls(1)], { most: 1 })]),
  says: /never ended/,
}, {
  storm: "select",
  what: "a sender that died keeps its channels open",
  edits: {
    "_queue/channel/ends": "[-if (were && this.count(end) === 0) " +
      "this.#queue.close();-]",
  },
  seed: 1,
  plan: selectPlan(
    [here([calls(1, { then: 60_000 })], { thread: true })],
    [here([calls(1)])],
    { kind: "rings", kills: [{ which: 0, after: 5 }] },
  ),
  says: /never ended/,
}, {
  storm: "select",
  what: "a view begins a byte too early",
  edits: {
    "_value/view/codec": "ValueView(message, at[- + 1-])",
  },
  seed: 1,
  plan: selectPlan(
    [here([calls(3)])],
    [here([calls(1)])],
    { kind: "values", meets: 1 },
  ),
  says: /a message that nobody sent/,
}, {
  storm: "select",
  what: "two arms of one select are done",
  edits: {
    "select": "return () => { [-if (this.made !== undefined) return true; " +
      "-]try {",
  },
  seed: 1,
  plan: selectPlan(
    times(2, here(times(8, calls(60)), inThread)),
    [here([calls(1)])],
  ),
  says: /was sent, and not received|was received \d+ times/,
}, {
  storm: "select",
  what: "a select that is done stays in the lines of its other arms",
  edits: {
    "_wait/wait": "[-waiter.deadline = -Infinity; // a sleep that follows " +
      'ends at once resume(waiter, "timed-out");-]',
    "select": "if (this.made !== undefined) return [-true-]{+undefined+};",
  },
  seed: 1,
  plan: selectPlan(
    [here(times(8, calls(4, { then: 1 })), { thread: true })],
    [here([calls(1)])],
  ),
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "select",
  what: "a push does not wake who blocks at several queues",
  edits: { "_wait/event_count": "[-strike(words, epoch + GONG);-]" },
  seed: 1,
  plan: selectPlan(
    times(2, here(times(8, calls(60)), inThread)),
    times(2, here([calls(1)], inThread)),
  ),
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "locks",
  what: "a priority is not looked at",
  edits: {
    "_wait/runs": "const at = [-this.#notBelow(priority)-]{+0+};",
  },
  seed: 1,
  plan: locksPlan([alone([])], {
    lines: times(
      2,
      [0, 1, 0, 2].map((priority) => ({
        priority,
        leaves: false,
      })),
    ),
  }),
  says: /served in the order 0,1,2,3/,
}, {
  storm: "locks",
  what: "who came last is served first among equals",
  edits: {
    "_wait/runs": "runs[middle]!.priority <{+=+} priority",
  },
  seed: 1,
  says: /served in the order/,
}, {
  storm: "locks",
  what: "cancel leaves calls in line",
  edits: {
    "_wait/turns": "waiter.reject = () => reject(reason);[- abort(waiter);-]",
  },
  seed: 1,
  plan: locksPlan([
    alone([lock("mutex", { count: 4, hold: 1 }), lock("cancel")]),
  ]),
  says: /await after cancel/,
}, {
  storm: "locks",
  what: "who waited for an unlock keeps the mutex",
  edits: {
    "_lock/mutex": "[-else unlock(words, id); -]return true;",
  },
  seed: 1,
  plan: locksPlan([
    alone([lock("mutex", { hold: 1 }), lock("free"), lock("mutex")]),
  ]),
  says: /never ended/,
}, {
  storm: "locks",
  what: "a release wakes nobody",
  edits: {
    "_lock/semaphore": "[-if (count > 0) Atomics.notify(words, PERMITS, " +
      "count);-]",
  },
  seed: 1,
  plan: locksPlan([
    alone([lock("semaphore", { n: 1, hold: 2 }), lock("semaphore")]),
  ]),
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "locks",
  what: "a key that is added wakes nobody",
  edits: {
    "_map/write": "[-this.#waits.wake(hash); -]return true;",
  },
  seed: 1,
  plan: locksPlan([alone([lock("key", { n: 3 })])]),
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "locks",
  what: "the kernel does not look whether it has locked a mutex",
  edits: { "kernel/locks": "lock(this.at, this.#id) === 0[--]{+ || true+})" },
  seed: 1,
  plan: locksPlan(
    times(2, { ...inThread, steps: times(200, lock("mutex", { hold: 1 })) }),
    { kernels: 3 },
  ),
  says: /are held, of 1/,
}];
