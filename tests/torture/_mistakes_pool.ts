/**
 * Mistakes in the pool, and the storm that must find each.
 *
 * @module
 */
import type { Map, Plan, Run, Step } from "./_pool_plans.ts";
import type { Mistake } from "./_mistakes.ts";

/** A plan for a pool: the steps of one client, and the options it changes. */
const poolPlan = (steps: Step[], unusual: Partial<Plan> = {}): Plan => ({
  workers: 2,
  slots: 8,
  ahead: undefined,
  bytes: 128,
  blocking: false,
  limit: 3,
  ready: true,
  clients: [steps],
  end: "close",
  early: false,
  maxQueue: undefined,
  close: "",
  within: 3,
  more: 0,
  idle: 5,
  recycle: undefined,
  talks: false,
  ...unusual,
});

const task = (
  kind: Run["kind"],
  n: number,
  unusual: Partial<Run> = {},
): Run => ({
  what: "run",
  kind,
  n,
  priority: 0,
  abort: -1,
  timeout: Infinity,
  terminate: false,
  then: -1,
  ...unusual,
});

const resize = (workers: number, then: number): Step => ({
  what: "resize",
  workers,
  then,
});

const failing: Map = {
  what: "map",
  count: 3,
  limit: 6,
  ordered: false,
  leave: Infinity,
  then: -1,
};

const times = <T>(n: number, it: T): T[] => Array.from({ length: n }, () => it);

/** The mistakes of the pool. */
export const MISTAKES_OF_POOL: readonly Mistake[] = [{
  storm: "pool",
  what: "a worker dies while another is to end, and none is left",
  edits: {
    "_pool/staff": "let staying = this.#it.size()[- - orders.length-];",
    "_pool/whole/ending": "then(() => gone(member));[- this.#replace();-]",
  },
  seed: 2,
  says: /never ended|workers, /,
}, {
  storm: "pool",
  what: "a long result that comes early is dropped",
  edits: {
    "_pool/collector": "[-if (job !== undefined) job.early = message;-]",
  },
  seed: 1,
  says: /never ended/,
}, {
  storm: "pool",
  what: "a long result stays in memory",
  edits: {
    "_pool/jobs": '[-else if (state === "promised") ' +
      "this.promised.delete(job.token);-]",
  },
  seed: 1,
  says: /are kept/,
}, {
  storm: "pool",
  what: "obeys the length of a reply unchecked",
  edits: {
    "_pool/wire": "[-if (length >= 0 && length <= this.room) -]return length;",
  },
  seed: 3,
  says: /another (result|error)/,
}, {
  storm: "pool",
  what: "a task that is given up keeps its slot",
  edits: {
    "_pool/poster": "[-cancel(words, at); // perhaps it was just answered-]",
  },
  seed: 1,
  says: /slots are in use|never ended/,
}, {
  storm: "pool",
  what: "a worker that is killed while it starts is not tried again",
  edits: {
    "_pool/crew": "const isLast = [-isFinal || member.failures >= " +
      "MOST_FAILURES-]{+true+};",
  },
  seed: 5,
  says: /workers, |never ended|another error/,
}, {
  storm: "pool",
  what: "the slots of a dead worker stay its own",
  edits: {
    "_pool/whole/ending": "const lost = " +
      "[-this.#it.slots.abandon(member.id)-]{+0+};",
  },
  seed: 1,
  says: /never ended|slots are in use/,
}, {
  storm: "pool",
  what: "a terminated worker is not replaced",
  edits: {
    "_pool/whole/ending": [
      "this.#it.crew.dismiss(member);[- this.#replace();-]",
      "{+if (died) +}this.#replace(failures, why);",
    ],
  },
  seed: 1,
  plan: poolPlan([
    ...times(2, task("wait", 1, { abort: 6, terminate: true })),
    task("nap", 1),
  ]),
  says: /workers, |never ended/,
}, {
  storm: "pool",
  what: "nobody looks after the last abort",
  edits: {
    "_pool/whole/works": "this.#losses.terminate(doer);[- " +
      "this.#it.done.set();-]",
  },
  seed: 1,
  // It is given up before the worker has started.
  plan: poolPlan([task("nap", 1, { abort: 5 })], {
    early: true,
    ready: false,
    workers: 1,
  }),
  says: /never ended/,
}, {
  storm: "pool",
  what: "a task is done again that may be done once",
  edits: {
    "_pool/collector": "if ([-spec.idempotent && again && " +
      "!isGone-]{+again+}) {",
    "_pool/poster": [
      "[-if (spec.idempotent) -]this.#keep(job, at, length); return length;",
      "[-if (spec.idempotent) -]this.#keep(job, at, length); } this.#send(",
      "[-if (!spec.idempotent) job.bytes = undefined;-]",
    ],
  },
  seed: 1,
  says: /was begun \d+ times/,
}, {
  storm: "pool",
  what: "a long result is awaited whose worker was terminated",
  edits: {
    "_pool/collector": "if (job.worker [-=== number-]{+< 0+}) " +
      "this.#lose(job, dead);",
  },
  seed: 1,
  plan: poolPlan(
    times(8, [
      task("wait", 1, { abort: 3, terminate: true, then: 1 }),
      ...times(6, task("text", 20_000)),
      task("nap", 1, { then: 2 }),
    ]).flat(),
  ),
  says: /never ended/,
  runtime: "deno",
}, {
  storm: "pool",
  what: "close with force refuses a task that a worker has begun",
  edits: {
    "_pool/poster": "[-if (!this.#rooms.withdraw(job.at)) " +
      "return;-]{+cancel(this.#slots.words, job.at);+}",
  },
  seed: 1,
  plan: poolPlan(
    [...times(8, task("nap", 4)), task("nap", 4, { then: 3 })],
    { early: true, close: "force" },
  ),
  says: /was begun, and refused/,
}, {
  storm: "pool",
  what: "a pool that scales starts nobody for a task that waits",
  edits: {
    "_pool/whole/works": "[-if (this.staff.scales) this.staff.grow(); " +
      "-]this.rounds.begin();",
  },
  seed: 1,
  plan: poolPlan(
    // Beside busy processes the worker that is to end may do the first ones.
    [resize(0, 5), ...times(8, task("nap", 1, { then: 40 }))],
    { more: 1, idle: 1 },
  ),
  says: /never ended/,
}, {
  storm: "pool",
  what: "a pool that scales keeps workers that idle",
  edits: {
    "_pool/whole/works": "[-if (this.staff.scales) this.staff.rest();-]",
  },
  seed: 1,
  plan: poolPlan(times(12, task("nap", 1)), { more: 2, idle: 1 }),
  says: /workers, /,
}, {
  storm: "pool",
  what: "a worker that has done enough takes one more task, and leaves it",
  edits: {
    "_pool/worker/server": [
      "[-while (!this.#ends-]{+for (;;+}) { if (underway.size >= limit) " +
      "this.#tell();",
      "{+let at = this.#take(); +}if (this.#ends || underway.size >= limit) " +
      "break;[- let at = this.#take();-]",
    ],
  },
  seed: 1,
  plan: poolPlan(times(9, task("nap", 1)), { recycle: 2 }),
  says: /WorkerError: The worker of task "nap" died/,
}, {
  storm: "pool",
  what: "the end of a worker that died is not told",
  edits: {
    "_pool/crew": '[-this.#over(member, state === "ready");-]',
  },
  seed: 1,
  plan: poolPlan([task("die", 1), task("nap", 1)]),
  says: /told of/,
}, {
  storm: "pool",
  what: "a result comes before what its task has reported",
  edits: {
    "_pool/worker/context": "this.#post(value);[- this.reported = true;-]",
  },
  seed: 1,
  plan: poolPlan(times(20, task("text", 4)), { talks: true }),
  says: /of 4 reports/,
}, {
  storm: "pool",
  what: "a message that is sent before its task has begun is lost",
  edits: {
    "_pool/events": "[-this.#kept.push(-]structuredClone(value)[-)-];",
  },
  seed: 1,
  plan: poolPlan(times(4, task("nap", 4)), { talks: true }),
  says: /never ended/,
}, {
  storm: "pool",
  what: "one more task waits than maxQueue allows",
  edits: {
    "_pool/whole/works": "this.jobs.open - this.staff.orders.size >[-=-] " +
      "this.#places + most;",
  },
  seed: 1,
  plan: poolPlan(times(8, task("nap", 1)), { maxQueue: 2, limit: 1 }),
  says: /not refused by maxQueue/,
}, {
  storm: "pool",
  what: "maxQueue counts tasks that were given up",
  edits: {
    "_pool/whole/works": "this.jobs.open{+ + this.jobs.failed+} - " +
      "this.staff.orders.size >= this.#places + most;",
  },
  seed: 1,
  plan: poolPlan(
    [
      ...times(4, task("nap", 4, { abort: 1, then: 3 })),
      ...times(3, task("nap", 1)),
    ],
    { maxQueue: 2, limit: 1 },
  ),
  says: /refused by maxQueue|never ended/,
}, {
  storm: "pool",
  what: "mapSettled ends at the first failure",
  edits: {
    "_pool/map": "if ([-fatal-]{+failed+}) throw result;",
  },
  seed: 1,
  plan: poolPlan([failing]),
  says: /another error/,
}, {
  storm: "pool",
  what: "close does not end at its timeout",
  edits: {
    "_pool/whole/ending": "const late = () => [-this.terminate()-]{+{}+};",
  },
  seed: 1,
  plan: poolPlan([task("wait", 1, { abort: 60_000 })], {
    early: true,
    close: "timeout",
  }),
  says: /never ended/,
}, {
  storm: "pool",
  what: "close with force waits for a task that would be done again",
  edits: {
    "_pool/collector": "const again = job.deaths < MOST_DEATHS[- && " +
      "!this.#it.isForced()-];",
  },
  seed: 1,
  plan: poolPlan([task("dieAgain", 1, { then: 1 })], {
    early: true,
    close: "force",
    workers: 1,
  }),
  says: /was begun [23] times/,
}];
