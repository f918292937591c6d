/**
 * Mistakes in channels, each of which the storm on channels must find.
 *
 * @module
 */
import type { Step as Call } from "./_channel_loops.ts";
import type { Mistake } from "./_mistakes.ts";

interface Loop {
  readonly thread: boolean;
  readonly blocks: boolean;
  readonly steps: readonly Call[];
}

/** A plan for a channel. */
const channelPlan = (
  senders: Loop[],
  receivers: Loop[],
  unusual: object = {},
) => ({
  codec: "text",
  carrier: "any",
  capacity: 8,
  messageSize: 256,
  senders,
  receivers,
  close: -1,
  kills: [],
  guests: 0,
  meets: false,
  counted: false,
  ...unusual,
});

/** Sends or receives in one way. */
const calls = (
  how: Call["how"],
  count: number,
  unusual: Partial<Call> = {},
): Call => ({ how, count, timeout: 0, abort: -1, n: 0, then: -1, ...unusual });

/** A loop that blocks, in a thread of its own. */
const inThread = (...steps: Call[]) => ({ thread: true, blocks: true, steps });

const times = <T>(n: number, it: T): T[] => Array.from({ length: n }, () => it);

/** A thread of C sends without room, and gives up each time after 4 ms. */
export const GIVES_UP_IN_C: object = channelPlan(
  [inThread(calls("try", 200, { timeout: 4, n: 7 }))],
  times(2, {
    thread: false,
    blocks: false,
    steps: [calls("wait", 60), calls("try", 5, { then: 9 })],
  }),
  { codec: "binary", meets: true, guests: 1 },
);

/** What may come of two receivers that take one message. */
const TWICE = new RegExp(
  "was received \\d+ times|was sent, and not received|but received|" +
    "that nobody sent|never ended|came after|another error",
);

/** The mistakes. */
export const MISTAKES_OF_CHANNELS: readonly Mistake[] = [{
  storm: "channels",
  what: "two receivers take one message of a queue",
  edits: {
    "_queue/mpmc/core": "const seen = " +
      "Atomics.[-compareExchange-]{+load+}(words, HEAD[-, head, next-]); if " +
      "(seen === head) {{+ for (let i = 0; i < 1e5; i++); " +
      "Atomics.store(words, HEAD, next);+}",
  },
  seed: 1,
  says: TWICE,
}, {
  storm: "channels",
  what: "drops what is left in a ring after close",
  edits: {
    "_queue/record/core": "{+if (this.closed) return -1; +}if (head === " +
      "words[TAIL_CACHE]) {",
  },
  seed: 1,
  says: /was sent, and not received|messages are left/,
}, {
  storm: "channels",
  what: "drops what is left in a queue after close",
  edits: {
    "_queue/mpmc/core": "let head = words[HEAD]!; [-// a hint: the exchange " +
      "below checks it for (;;) {-]{+for (;;) { if (this.closed) " +
      "this.refuse();+}",
  },
  seed: 1,
  says: /was sent, and not received|messages are left/,
}, {
  storm: "channels",
  what: "wakes no receiver of a ring at close",
  edits: {
    "_queue/record/core": "if (Atomics.or(words, TAIL, CLOSED_BIT) & " +
      "CLOSED_BIT) return;[- wake(words, POP_EPOCH, Infinity);-]",
  },
  seed: 1,
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "channels",
  what: "two receivers take one record of a ring",
  edits: {
    "_queue/record/core": "[-Atomics.store(words, HEAD,-]{+const next =+} " +
      "words[HEAD]! + space | 0[-); // (F)-]{+;+} this.#endReading();{+ for " +
      "(let i = 0; i < 99; i++) Atomics.load(words, HEAD); " +
      "Atomics.store(words, HEAD, next);+}",
  },
  seed: 1,
  plan: channelPlan(
    times(2, inThread(calls("wait", 60))),
    times(2, inThread(calls("wait", 60))),
  ),
  says: TWICE,
}, {
  storm: "channels",
  what: "a waiter that gives up keeps a wake",
  edits: {
    "_wait/line": "if ({+!+}line.armed)[- withdraw(line); else-]",
  },
  seed: 1,
  plan: channelPlan(
    [
      inThread(calls("wait", 6)),
      {
        thread: false,
        blocks: false,
        steps: [calls("try", 1, { timeout: 4 })],
      },
    ],
    [inThread(calls("wait", 1, { then: 20 }))],
    { capacity: 1 },
  ),
  says: /never ended/,
  isLostWake: true,
}, {
  storm: "channels",
  what: "two receivers take one message where there is no room",
  edits: {
    "_queue/channel/handoff": "const seen = " +
      "Atomics.[-compareExchange-]{+load+}(words, HANDOFF[-, state, next-]); " +
      "if (seen === state) { {+for (let i = 0; i < 1e4; i++); " +
      "Atomics.store(words, HANDOFF, next); +}if (next === state - HANDED)",
  },
  seed: 1,
  says: TWICE,
}, {
  storm: "channels",
  what: "a sender that gives up leaves its message where there is no room",
  edits: {
    "_queue/channel/handoff": "[-if (taken === undefined && " +
      "!this.#takeBack(number)) taken = true;-]",
  },
  seed: 1,
  says: /was not sent, but received/,
}];
