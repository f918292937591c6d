/**
 * Mistakes in calls, and the storm that must find each.
 *
 * @module
 */
import type { Talk } from "./_calls_talks.ts";
import type { Mistake } from "./_mistakes.ts";

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

/** The mistakes of calls. */
export const MISTAKES_OF_CALLS: readonly Mistake[] = [{
  storm: "calls",
  what: "an abort between two stages of a call is lost",
  edits: {
    "_wait/pending": "result =[- it.isStage ? undefined :-] it.attempt();",
    "_wait/wait": "waiter.aborted = true;[- waiter.deadline = -Infinity;-]",
  },
  seed: 6,
  says: /never ended|slots are in use/,
}, {
  storm: "calls",
  what: "a call that is aborted before it waits keeps its slot",
  edits: {
    "_calls/client/client": "this.tell(at, signal);[- if " +
      "(!giveUp(this.slots.words, at)) this.#readUnwanted(at);-]",
  },
  seed: 3,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "the slot of a call that was given up is not freed",
  edits: {
    "_calls/ring/call": "[-free(words, at); // too late: the slot belongs to " +
      "us alone-]",
  },
  seed: 1,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "keeps a view of a piece, whose place has the next one later",
  edits: {
    "_calls/client/client": "? body[-.slice()-] : what ===",
  },
  seed: 1,
  says: /another (result|error)/,
}, {
  storm: "calls",
  what: "a server that ends leaves its callers waiting",
  edits: {
    "_calls/ring/call": "[-if ((waits & DEAD_BIT) === 0) next = LOST | " +
      "waits;-]",
  },
  seed: 20,
  says: /never ended|slots are in use|another (result|error)/,
}, {
  storm: "calls",
  what: "wakes no server at close",
  edits: {
    "_calls/ring/call": "if (Atomics.exchange(words, CLOSED, 1) !== 0) " +
      "return;[- wake(words, SERVE_EPOCH, Infinity);-]",
  },
  seed: 1,
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "calls",
  what: "a server does not learn that its caller died",
  edits: {
    "_calls/ring/slots": "[-if (at === 0) this.onIdle?.();-]",
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
    "_calls/server": "[-if (this.#hosts.any) this.#hosts.look();-]",
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
    "_calls/client/client": "if (what === CALLBACK[- || what === RELEASED-]) " +
      "kept = at;",
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
    "_calls/client/functions": "[-if (!all.some((kept) => kept.has(id))) " +
      "-]this.#forget(id);",
  },
  seed: 1,
  plan: callsPlan(times(3, talk("keep", 3))),
  says: /was called \d of 3 times/,
}, {
  storm: "calls",
  what: "a method that calls back after the end waits for ever",
  edits: {
    "_calls/talks": "[-if (this.#stopped) throw ended();-]",
    "_calls/ring/underway": "await within([-grace-]{+1e9+},",
  },
  seed: 1,
  plan: callsPlan(times(3, talk("back", 8)), { early: true }),
  says: /never ended/,
}, {
  storm: "calls",
  what: "a loop that is left does not end its iterator",
  edits: {
    "_calls/hosts": "return[- iterator.return?.(args[0]) ??-] { done: true, " +
      "value: args[0] };",
  },
  seed: 1,
  plan: callsPlan([talk("rows", 8, { leave: 2 })]),
  says: /iterators have not ended/,
}, {
  storm: "calls",
  what: "an iterator that nobody has stays at its server",
  edits: {
    "_calls/client/objects": "[-onGarbage(held, this.#releasing, key);-]",
  },
  seed: 1,
  plan: callsPlan([talk("drop", 3), talk("deep", 1)]),
  says: /iterators have not ended/,
}, {
  storm: "calls",
  what: "an instance stays when its using has ended",
  edits: {
    "_calls/client/objects":
      "offGarbage(held); [-if (held.calls === 0) this.#release(key); -]});",
  },
  seed: 1,
  plan: callsPlan(times(4, talk("make", 1, { leave: 2 }))),
  says: /are kept/,
}, {
  storm: "calls",
  what: "a member of an instance is sought in what is served",
  edits: { "_calls/asked": "[-of = object; -]}" },
  seed: 1,
  plan: callsPlan([talk("make", 1)]),
  says: /another error/,
}];
