import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { type Contents, modelsFor, operationsOf } from "../_queue/contents.ts";
import {
  type Scenario,
  TRIES_AGAIN,
  viewing,
  type Weft,
} from "../_run/scenario.ts";

const { tail, head, free_tail, free_head, length } = LAYOUT.lock_free_queue;
/** Entries of a ring of a small queue. */
const N = 16;
/** Read plainly before an exchange, or a load, checks them. */
const HINTS = [
  ...[tail, head, free_tail, free_head].map((i) => [i * 4, i * 4 + 4] as const),
  [length * 4, (length + 2 * N) * 4] as const,
];

/**
 * A queue whose tickets begin at `start`, with `filled` elements in it; as many
 * slots as agents are terminated may be `lost`.
 */
function queue(
  weft: Weft,
  capacity: number,
  filled = 0,
  start = 0,
  lost = 0,
) {
  const { LockFreeQueue } = weft.mod;
  // No answer is excused by the unfinished operations of others.
  const operations = operationsOf(weft, modelsFor(capacity));
  return race.spec({
    memory: () => {
      const queue = LockFreeQueue.create({ capacity });
      const words = new Int32Array(queue.buffer);
      words[tail] = words[head] = words[free_head] = start;
      words[free_tail] = start + N - 1;
      for (let t = start; t < start + N; t++) {
        const lap = (t & -N) << 1;
        words[length + (t & N - 1)] = lap;
        words[length + N + (t & N - 1)] = t - start < N - 1
          ? lap | N | t - start
          : lap;
      }
      for (let i = 0; i < filled; i++) queue.tryPushInt(-1 - i);
      return queue.buffer;
    },
    ...viewing(weft, LockFreeQueue, LAYOUT.lock_free_queue),
    hints: HINTS,
    stateless: true,
    invariant: (memory) => {
      const entries = new Int32Array(memory).subarray(length, length + 2 * N);
      const slots = entries.filter((entry) => entry & N).length;
      if (slots < N - 1 - lost) return `${slots} slots are left`;
    },
    init: {
      items: Array.from({ length: filled }, (_, i) => -1 - i),
      closed: false,
    } as Contents,
    ops: {
      ...operations,
      size: {
        run: (q) => q.size,
        model: (s: Contents) => [s, s.items.length],
        lockFree: true,
      },
      close: { ...operations.close, lockFree: true },
    },
  });
}

/** One element, in the only slot there is; the others were lost. */
function oneSlot(weft: Weft) {
  const { LockFreeQueue } = weft.mod;
  return race.spec({
    memory: () => {
      const queue = LockFreeQueue.create({ capacity: 1 });
      // Slots that dead agents have reserved.
      for (let slot = 1; slot < N - 1; slot++) {
        new LockFreeQueue(queue.buffer).reserve();
      }
      queue.tryPushInt(1);
      return queue.buffer;
    },
    ...viewing(weft, LockFreeQueue, LAYOUT.lock_free_queue),
    hints: HINTS,
    stateless: true,
    ops: {
      tryPush: { run: (q, v: number) => q.tryPushInt(v) },
      tryPop: { run: (q) => q.tryPopInt() },
    },
  });
}

const NEAR_WRAP = 0x7fff_ffff;

/** Every interleaving of a lock-free queue's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "two push, one finds it full",
    spec: queue(weft, 1),
    agents: [[["tryPush", 1]], [["tryPush", 2], ["tryPop"]]],
  },
  {
    name: "two pop, one finds it empty",
    spec: queue(weft, 2, 1),
    agents: [[["tryPop"]], [["tryPop"], ["tryPush", 1]]],
  },
  {
    name: "full, and a push meets a pop",
    spec: queue(weft, 1, 1),
    agents: [[["tryPush", 1], ["tryPop"]], [["tryPop"], ["tryPush", 2]]],
  },
  {
    name: "where the tickets wrap",
    spec: queue(weft, 2, 1, NEAR_WRAP),
    agents: [[["tryPush", 1], ["tryPush", 2]], [["tryPop"], ["tryPop"]]],
  },
  {
    name: "two producers, one consumer",
    spec: queue(weft, 2),
    agents: [[["tryPush", 1]], [["tryPush", 2]], [["tryPop"], ["tryPop"]]],
    options: { states: 100_000 },
    sampled: true,
  },
  {
    name: "close meets a push and a pop",
    spec: queue(weft, 1),
    agents: [[["close"]], [["tryPush", 1]], [["tryPop"]]],
  },
  {
    name: "two close, one pops",
    spec: queue(weft, 1, 1),
    agents: [[["close"]], [["close"], ["tryPush", 1]], [["tryPop"], [
      "tryPop",
    ]]],
  },
  {
    name: "the size, while elements go and come",
    spec: queue(weft, 2, 2),
    agents: [[["size"]], [["tryPop"], ["tryPush", 1], ["tryPop"], [
      "tryPush",
      2,
    ]]],
  },
  {
    name: "the only slot goes from a pop to a push",
    spec: oneSlot(weft),
    agents: [[["tryPop"]], [["tryPush", 2]]],
  },
  {
    name: "closed when full",
    spec: queue(weft, 1, 1),
    agents: [[["close"]], [["tryPush", 1]]],
  },
  {
    name: "where the laps change their sign",
    spec: queue(weft, 1, 1, 0x3fff_ffff),
    agents: [[["tryPush", 1], ["tryPush", 2]], [["tryPop"], ["tryPop"]]],
  },
  {
    name: "two sleep until close, and have no end",
    spec: queue(weft, 1),
    agents: [[["pop"]], [["pop"]], [["close"]]],
    options: { timeouts: 0, states: 20_000 },
    sampled: true,
  },
  {
    name: "one sleeps until an element comes",
    differs: TRIES_AGAIN,
    spec: queue(weft, 1),
    agents: [[["pop"]], [["push", 1]]],
  },
  {
    name: "two sleep until close",
    spec: queue(weft, 1),
    agents: [[["pop"]], [["popFor"]], [["close"]]],
    options: { states: 100_000 },
    sampled: true,
  },
  {
    name: "one sleeps until there is room",
    differs: TRIES_AGAIN,
    spec: queue(weft, 1, 1),
    agents: [[["push", 1]], [["pop"]]],
  },
  {
    name: "an agent terminated at any step of a push",
    spec: queue(weft, 1, 0, 0, 1),
    agents: [[["tryPush", 1]], [["tryPush", 2], ["tryPop"], ["tryPop"]]],
    options: { kill: true },
  },
  {
    name: "an agent terminated at any step of a pop",
    spec: queue(weft, 1, 1, 0, 1),
    agents: [[["tryPop"]], [["tryPush", 2], ["tryPop"], ["tryPush", 3]]],
    options: { kill: true },
  },
];
