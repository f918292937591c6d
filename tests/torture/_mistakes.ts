/**
 * Mistakes, each of them made once in a layer above the words, and the storm
 * that must find it.
 *
 * @module
 */
import type { Edits } from "../_run/edits.ts";

/** A mistake. */
export interface Mistake {
  /** The storm that finds it. */
  readonly storm: "pool" | "calls" | "channels";
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
}

/** Without a look each second, a sleeper whose wake is lost sleeps for ever. */
export const NO_LOOKS: Readonly<Record<string, Edits>> = {
  "_wait/waiter": ["{ every: 1000 },", "{ every: 3_600_000 },"],
};

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [{
  storm: "pool",
  what: "a worker dies while another is to end, and none is left",
  edits: {
    "_pool/staff": [
      "let staying = this.#it.size() - orders.length;",
      "let staying = this.#it.size();",
    ],
    "pool": [
      "if (member !== undefined) void this.#crew.leave(member); this.#replace();",
      "if (member !== undefined) void this.#crew.leave(member);",
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
    "_pool/poster": ["slots.cancel(at); // perhaps it was just answered", ""],
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
    "pool": [
      "const lost = this.#slots.abandon(member.id);",
      "const lost = 0;",
    ],
  },
  seed: 1,
  says: /never ended|slots are in use/,
}, {
  storm: "calls",
  what: "an abort between two stages of a call is lost",
  edits: {
    "_wait/event_count": [
      'if (outcome === "timed-out") return it.isStage ? undefined : it.attempt();',
      'if (outcome === "timed-out") return it.attempt();',
    ],
    "_wait/wait": ["waiter.deadline = -Infinity;", ""],
  },
  seed: 1,
  says: /never ended/,
}, {
  storm: "calls",
  what: "a call that is aborted before it waits keeps its slot",
  edits: {
    "calls": [
      "this.#tell(at, signal); this.#slots.cancel(at);",
      "this.#tell(at, signal);",
    ],
  },
  seed: 3,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "the slot of a call that was given up is not freed",
  edits: {
    "_calls/call_slots": [
      "this.#free(at); // too late: the slot belongs to us alone",
      "",
    ],
  },
  seed: 1,
  says: /slots are in use|never ended/,
}, {
  storm: "calls",
  what: "keeps a view of a piece whose slot is given back",
  edits: {
    "calls": [
      "return { what, value: body.slice() };",
      "return { what, value: body };",
      ["case PIECE: return bytes.slice();", "case PIECE: return bytes;"],
    ],
  },
  seed: 1,
  says: /another (result|error)/,
}, {
  storm: "calls",
  what: "a server that ends leaves its callers waiting",
  edits: {
    "_calls/call_slots": [
      "if ((waits & DEAD_BIT) === 0) next = LOST | waits;",
      "",
    ],
  },
  seed: 20,
  says: /never ended|another (result|error)/,
}, {
  storm: "calls",
  what: "wakes no server at close",
  edits: {
    "_calls/call_slots": [
      "if (Atomics.exchange(words, CLOSED, 1) !== 0) return; " +
      "wake(words, SERVE_EPOCH, Infinity);",
      "if (Atomics.exchange(words, CLOSED, 1) !== 0) return;",
    ],
  },
  seed: 1,
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "channels",
  what: "two receivers take one message of a queue",
  edits: {
    "mpmc_queue": [
      "const seen = Atomics.compareExchange(words, HEAD, head, next); " +
      "if (seen === head) {",
      "const seen = Atomics.load(words, HEAD); if (seen === head) { " +
      "for (let i = 0; i < 1e5; i++); Atomics.store(words, HEAD, next);",
    ],
  },
  seed: 1,
  says: /was received \d+ times|never ended|came after|another error/,
}, {
  storm: "channels",
  what: "drops what is left in a ring after close",
  edits: {
    "record_ring": [
      "if (head === words[TAIL_CACHE]) {",
      "if (this.closed) return -1; if (head === words[TAIL_CACHE]) {",
    ],
  },
  seed: 1,
  says: /was sent, and not received|messages are left/,
}, {
  storm: "channels",
  what: "drops what is left in a queue after close",
  edits: {
    "mpmc_queue": [
      "let head = words[HEAD]!; // a hint: the exchange below checks it " +
      "for (;;) {",
      "let head = words[HEAD]!; for (;;) { if (this.closed) this.refuse();",
    ],
  },
  seed: 1,
  says: /was sent, and not received|messages are left/,
}, {
  storm: "channels",
  what: "wakes no receiver of a ring at close",
  edits: {
    "record_ring": [
      "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return; " +
      "wake(words, POP_EPOCH, Infinity);",
      "if (Atomics.or(words, TAIL, CLOSED_BIT) & CLOSED_BIT) return;",
    ],
  },
  seed: 1,
  says: /never ended/,
  isLostWake: true,
}];
