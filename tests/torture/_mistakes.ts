/**
 * Mistakes, each of them made once in a layer above the words, and the storm
 * that must find it.
 *
 * @module
 */
import type { Edits } from "../_run/edits.ts";
import type { Talk } from "./_calls_talks.ts";
import { MISTAKES_OF_CHANNELS } from "./_mistakes_channels.ts";
import { MISTAKES_OF_GATES } from "./_mistakes_gates.ts";
import { MISTAKES_OF_WAITS } from "./_mistakes_waits.ts";
import type { Map, Plan, Run, Step } from "./_pool_plans.ts";

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

/** A call with what stays on one side. */
const talk = (
  kind: Talk["kind"],
  n: number,
  unusual: Partial<Talk> = {},
): Talk => ({ kind, n, leave: 12, abort: -1, then: -1, ...unusual });

/** A plan for calls: those of one caller, and of one server in its thread. */
const callsPlan = (talks: Talk[], unusual: object = {}, caller = {}) => ({
  slots: 4,
  bytes: 64,
  codec: "structured",
  servers: 0,
  local: true,
  blocks: false,
  limit: 1,
  timeout: Infinity,
  clients: [[{ kind: "echo", n: 1, abort: -1, then: -1 }]],
  early: false,
  guests: 0,
  callers: [],
  talkers: [{ thread: false, blocks: false, kill: -1, talks, ...caller }],
  ...unusual,
});

/** A caller in a thread of its own. */
const member = (blocks: boolean, talks: Talk[]) => (
  { thread: true, blocks, kill: -1, talks }
);

const times = <T>(n: number, it: T): T[] => Array.from({ length: n }, () => it);

/** A mistake. */
export interface Mistake {
  /** The storm that finds it. */
  readonly storm: "pool" | "calls" | "channels" | "select" | "locks" | "gates";
  /** What the mistake is. */
  readonly what: string;
  /** How it is made: edits of files in `primitives/`, without `.ts`. */
  readonly edits: Readonly<Record<string, Edits>>;
  /** The first of the seeds whose plans find it. */
  readonly seed: number;
  /** What the storm says. */
  readonly says: RegExp;
  /** Set if the look each second would hide it. */
  readonly isLostWake?: boolean;
  /** The plan that finds it, if random ones would do so rarely. */
  readonly plan?: object;
  /** Where it is found, if that is not Node. */
  readonly runtime?: "deno";
}

/** Without a look each second, a sleeper whose wake is lost sleeps for ever. */
export const NO_LOOKS: Readonly<Record<string, Edits>> = {
  "_wait/waiter": ["{ every: 1000 },", "{ every: 3_600_000 },"],
};

/** Those that have files of their own. */
const OTHERS = [
  ...MISTAKES_OF_CHANNELS,
  ...MISTAKES_OF_WAITS,
  ...MISTAKES_OF_GATES,
];

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [{
  storm: "pool",
  what: "a worker dies while another is to end, and none is left",
  edits: {
    "_pool/staff": [
      "let staying = this.#it.size() - orders.length;",
      "let staying = this.#it.size();",
    ],
    "_pool/whole/ending": [
      "then(() => gone(member)); this.#replace();",
      "then(() => gone(member));",
    ],
  },
  seed: 2,
  says: /never ended|workers, /,
}, {
  storm: "pool",
  what: "a long result that comes early is dropped",
  edits: {
    "_pool/collector": ["if (job !== undefined) job.early = message;", ""],
  },
  seed: 1,
  says: /never ended/,
}, {
  storm: "pool",
  what: "a long result stays in memory",
  edits: {
    "_pool/jobs": [
      'else if (state === "promised") this.promised.delete(job.token);',
      "",
    ],
  },
  seed: 1,
  says: /are kept/,
}, {
  storm: "pool",
  what: "obeys the length of a reply unchecked",
  edits: {
    "_pool/wire": [
      "if (length >= 0 && length <= this.room) return length;",
      "return length;",
    ],
  },
  seed: 3,
  says: /another (result|error)/,
}, {
  storm: "pool",
  what: "a task that is given up keeps its slot",
  edits: {
    "_pool/poster": [
      "cancel(slots.words, at); // perhaps it was just answered",
      "",
    ],
  },
  seed: 1,
  says: /slots are in use|never ended/,
}, {
  storm: "pool",
  what: "a worker that is killed while it starts is not tried again",
  edits: {
    "_pool/crew": [
      "const isLast = isFinal || member.failures >= MOST_FAILURES;",
      "const isLast = true;",
    ],
  },
  seed: 5,
  says: /workers, |never ended|another error/,
}, {
  storm: "pool",
  what: "the slots of a dead worker stay its own",
  edits: {
    "_pool/whole/ending": [
      "const lost = this.#it.slots.abandon(member.id);",
      "const lost = 0;",
    ],
  },
  seed: 1,
  says: /never ended|slots are in use/,
}, {
  storm: "pool",
  what: "a terminated worker is not replaced",
  edits: {
    "_pool/whole/ending": [
      "this.#it.crew.dismiss(member); this.#replace();",
      "this.#it.crew.dismiss(member);",
      [
        "this.#replace(failures, why);",
        "if (died) this.#replace(failures, why);",
      ],
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
    "_pool/whole/works": [
      "this.#losses.terminate(doer); this.#it.done.set();",
      "this.#losses.terminate(doer);",
    ],
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
    "_pool/collector": [
      "if (spec.idempotent && again && !isGone) {",
      "if (again) {",
    ],
    "_pool/poster": [
      "if (spec.idempotent) this.#keep(job, at, length); return length;",
      "this.#keep(job, at, length); return length;",
      [
        "if (spec.idempotent) this.#keep(job, at, length); } this.#send(",
        "this.#keep(job, at, length); } this.#send(",
      ],
      ["if (!spec.idempotent) job.bytes = undefined;", ""],
    ],
  },
  seed: 1,
  says: /was begun \d+ times/,
}, {
  storm: "pool",
  what: "a long result is awaited whose worker was terminated",
  edits: {
    "_pool/collector": [
      "if (job.worker === number) this.#lose(job, dead);",
      "if (job.worker < 0) this.#lose(job, dead);",
    ],
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
    "_pool/poster": [
      "if (!this.#rooms.withdraw(job.at)) return;",
      "cancel(this.#slots.words, job.at);",
    ],
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
    "_pool/whole/works": [
      "if (this.staff.scales) this.staff.grow(); this.rounds.begin();",
      "this.rounds.begin();",
    ],
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
    "_pool/whole/works": ["if (this.staff.scales) this.staff.rest();", ""],
  },
  seed: 1,
  plan: poolPlan(times(12, task("nap", 1)), { more: 2, idle: 1 }),
  says: /workers, /,
}, {
  storm: "pool",
  what: "a worker that has done enough takes one more task, and leaves it",
  edits: {
    "_pool/worker/server": [
      "while (!this.#ends) { if (underway.size >= limit) this.#tell();",
      "for (;;) { if (underway.size >= limit) this.#tell();",
      [
        "if (this.#ends) break; let at = this.#take();",
        "let at = this.#take(); if (this.#ends) break;",
      ],
    ],
  },
  seed: 1,
  plan: poolPlan(times(9, task("nap", 1)), { recycle: 2 }),
  says: /WorkerError: The worker of task "nap" died/,
}, {
  storm: "pool",
  what: "the end of a worker that died is not told",
  edits: {
    "_pool/crew": [
      'this.#over(member, state === "ready");',
      "",
    ],
  },
  seed: 1,
  plan: poolPlan([task("die", 1), task("nap", 1)]),
  says: /told of/,
}, {
  storm: "pool",
  what: "a result comes before what its task has reported",
  edits: {
    "_pool/worker/context": [
      "this.#post(value); this.reported = true;",
      "this.#post(value);",
    ],
  },
  seed: 1,
  plan: poolPlan(times(20, task("text", 4)), { talks: true }),
  says: /of 4 reports/,
}, {
  storm: "pool",
  what: "a message that is sent before its task has begun is lost",
  edits: {
    "_pool/events": [
      "this.#kept.push(structuredClone(value));",
      "structuredClone(value);",
    ],
  },
  seed: 1,
  plan: poolPlan(times(4, task("nap", 4)), { talks: true }),
  says: /never ended/,
}, {
  storm: "pool",
  what: "one more task waits than maxQueue allows",
  edits: {
    "_pool/whole/works": [
      "this.jobs.open - this.staff.orders.size >= this.#places + most;",
      "this.jobs.open - this.staff.orders.size > this.#places + most;",
    ],
  },
  seed: 1,
  plan: poolPlan(times(8, task("nap", 1)), { maxQueue: 2, limit: 1 }),
  says: /not refused by maxQueue/,
}, {
  storm: "pool",
  what: "maxQueue counts tasks that were given up",
  edits: {
    "_pool/whole/works": [
      "this.jobs.open - this.staff.orders.size >= this.#places + most;",
      "this.jobs.open + this.jobs.failed - this.staff.orders.size >= " +
      "this.#places + most;",
    ],
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
    "_pool/map": ["if (fatal) throw result;", "if (failed) throw result;"],
  },
  seed: 1,
  plan: poolPlan([failing]),
  says: /another error/,
}, {
  storm: "pool",
  what: "close does not end at its timeout",
  edits: {
    "_pool/whole/ending": [
      "const late = () => this.terminate();",
      "const late = () => {};",
    ],
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
    "_pool/collector": [
      "const again = job.deaths < MOST_DEATHS && !this.#it.isForced();",
      "const again = job.deaths < MOST_DEATHS;",
    ],
  },
  seed: 1,
  plan: poolPlan([task("dieAgain", 1, { then: 1 })], {
    early: true,
    close: "force",
    workers: 1,
  }),
  says: /was begun [23] times/,
}, {
  storm: "calls",
  what: "an abort between two stages of a call is lost",
  edits: {
    "_wait/pending": [
      "result = it.isStage ? undefined : it.attempt();",
      "result = it.attempt();",
    ],
    "_wait/wait": [
      "waiter.aborted = true; waiter.deadline = -Infinity;",
      "waiter.aborted = true;",
    ],
  },
  seed: 6,
  says: /never ended|slots are in use/,
}, {
  storm: "calls",
  what: "a call that is aborted before it waits keeps its slot",
  edits: {
    "_calls/client/client": [
      "this.tell(at, signal); " +
      "if (!giveUp(this.slots.words, at)) this.#readUnwanted(at);",
      "this.tell(at, signal);",
    ],
  },
  seed: 3,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "the slot of a call that was given up is not freed",
  edits: {
    "_calls/ring/call": [
      "free(words, at); // too late: the slot belongs to us alone",
      "",
    ],
  },
  seed: 1,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "keeps a view of a piece, whose place has the next one later",
  edits: {
    "_calls/client/client": ["? body.slice() : what ===", "? body : what ==="],
  },
  seed: 1,
  says: /another (result|error)/,
}, {
  storm: "calls",
  what: "a server that ends leaves its callers waiting",
  edits: {
    "_calls/ring/call": [
      "if ((waits & DEAD_BIT) === 0) next = LOST | waits;",
      "",
    ],
  },
  seed: 20,
  says: /never ended|slots are in use|another (result|error)/,
}, {
  storm: "calls",
  what: "wakes no server at close",
  edits: {
    "_calls/ring/call": [
      "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; " +
      "wake(words, SERVE_EPOCH, Infinity);",
      "if (Atomics.exchange(words, CLOSED, 1) !== 0) return;",
    ],
  },
  seed: 1,
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "calls",
  what: "a server does not learn that its caller died",
  edits: {
    "_calls/ring/slots": ["if (at === 0) this.onIdle?.();", ""],
  },
  seed: 1,
  plan: callsPlan(
    times(12, talk("back", 8)),
    { clients: [times(3, { kind: "echo", n: 1, abort: -1, then: 40 })] },
    { thread: true, kill: 12 },
  ),
  says: /never ended|slots are in use/,
}, {
  storm: "calls",
  what: "a server keeps what a caller had that died",
  edits: {
    "_calls/server": ["if (this.#hosts.any) this.#hosts.look();", ""],
  },
  seed: 1,
  plan: callsPlan([], {
    talkers: [5, 10, 15, 20].map((kill) => ({
      ...member(false, times(12, talk("rows", 8, { then: 1 }))),
      kill,
    })),
  }),
  says: /iterators have not ended/,
}, {
  storm: "calls",
  what: "a caller that listens gives its slot back after a release",
  edits: {
    "_calls/client/client": [
      "if (what === CALLBACK || what === RELEASED) kept = at;",
      "if (what === CALLBACK) kept = at;",
    ],
  },
  seed: 1,
  plan: callsPlan([], {
    slots: 2,
    members: [
      member(false, times(12, talk("join", 8, { then: 1 }))),
      ...times(4, member(true, times(40, talk("tell", 1)))),
    ],
  }),
  says: /never ended|slots are in use/,
}, {
  storm: "calls",
  what: "a caller forgets a function that the server has kept",
  edits: {
    "_calls/client/functions": [
      "if (!all.some((kept) => kept.has(id))) this.#forget(id);",
      "this.#forget(id);",
    ],
  },
  seed: 1,
  plan: callsPlan(times(3, talk("keep", 3))),
  says: /was called \d of 3 times/,
}, {
  storm: "calls",
  what: "a method that calls back after the end waits for ever",
  edits: {
    "_calls/talks": ["if (this.#stopped) throw ended();", ""],
  },
  seed: 1,
  plan: callsPlan(times(3, talk("back", 8)), { early: true }),
  says: /never ended/,
}, {
  storm: "calls",
  what: "a loop that is left does not end its iterator",
  edits: {
    "_calls/hosts": [
      "return iterator.return?.(args[0]) ?? { done: true, value: args[0] };",
      "return { done: true, value: args[0] };",
    ],
  },
  seed: 1,
  plan: callsPlan([talk("rows", 8, { leave: 2 })]),
  says: /iterators have not ended/,
}, {
  storm: "calls",
  what: "an iterator that nobody has stays at its server",
  edits: {
    "_calls/client/objects": ["onGarbage(held, this.#releasing, key);", ""],
  },
  seed: 1,
  plan: callsPlan([talk("drop", 3), talk("deep", 1)]),
  says: /iterators have not ended/,
}, {
  storm: "calls",
  what: "an instance stays when its using has ended",
  edits: {
    "_calls/client/objects": [
      "offGarbage(held); this.#release(key); });",
      "offGarbage(held); });",
    ],
  },
  seed: 1,
  plan: callsPlan(times(4, talk("make", 1, { leave: 2 }))),
  says: /are kept/,
}, {
  storm: "calls",
  what: "a member of an instance is sought in what is served",
  edits: { "_calls/asked": ["of = object; }", "}"] },
  seed: 1,
  plan: callsPlan([talk("make", 1)]),
  says: /another error/,
}, ...OTHERS];
