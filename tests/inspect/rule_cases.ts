/**
 * Words of primitives, and which of them `inspect` finds wrong: for each bound
 * of each rule in `tests/project/_rules.ts`, the last value that is right and
 * the first one that is wrong. These are written by hand: the rules must follow
 * from them.
 *
 * @module
 */

import type { Stem } from "../../primitives/_memory/layout.ts";

/** The words that are not 0, and the names of those that are wrong. */
export type Case = readonly [
  words: Readonly<Record<string, number>>,
  ...wrong: string[],
];

/** The greatest id of an agent, and the bit above it. */
const AGENT = 0x0fff_ffff, BEYOND = 1 << 28;
const ABANDONED = 1 << 28, HANDOFF = 1 << 29, CONTENDED = 1 << 30;
const BIT_31 = 1 << 31;

/** The words of a lock, by the names that they have. */
const lock = (state: string, starving: string): Case[] => [
  [{ [state]: AGENT }],
  [{ [state]: BIT_31 }, state],
  [{ [state]: -1 }, state, state],
  [{ [state]: AGENT | CONTENDED }],
  [{ [state]: AGENT | HANDOFF }, state],
  [{ [state]: 1 | HANDOFF }, state],
  [{ [state]: AGENT | HANDOFF | CONTENDED }],
  [{ [state]: HANDOFF }],
  [{ [state]: HANDOFF | CONTENDED }],
  [{ [state]: ABANDONED }],
  [{ [state]: AGENT | ABANDONED }, state],
  [{ [state]: 1 | ABANDONED | CONTENDED }, state],
  [{ [starving]: 1 }],
  [{ [starving]: 2 }, starving],
  [{ [starving]: 3 }, starving],
  [{ [starving]: -1 }, starving],
];

/** A word that is 0 or an agent's id. */
const agent = (word: string, most = AGENT): Case[] => [
  [{ [word]: 1 }],
  [{ [word]: most }],
  [{ [word]: most + 1 }, word],
  [{ [word]: BIT_31 }, word],
];

/** `tracked` for this number of agents. */
const tracked = (agents: number) => agents | (agents ^ 255) << 8 | 0x5765 << 16;

const tracking: readonly Case[] = [
  [{ tracked: tracked(1) }],
  [{ tracked: tracked(2) }],
  [{ tracked: tracked(254) }],
  [{ tracked: tracked(255) }],
  [{ tracked: tracked(0) }, "tracked"],
  [{ tracked: tracked(3) ^ 1 << 8 }, "tracked"],
  [{ tracked: tracked(3) ^ 1 << 16 }, "tracked"],
  [{ tracked: tracked(255) ^ 1 << 15 }, "tracked"],
  [{ tracked: 1 }, "tracked"],
];

/**
 * Positions of which one lap is `lap`, in steps of `one`, from `base` on; a
 * word may have a flag as well.
 */
function order(
  lap: number,
  one: number,
  base: number,
  flags: number,
  more: Readonly<Record<string, number>>,
): Case[] {
  const at = (
    [headCache, head, tailCache, tail]: readonly number[],
    ...wrong: string[]
  ): Case => [{
    ...more,
    head_cache: base + headCache! | 0,
    head: base + head! | 0,
    tail_cache: base + tailCache! | 0,
    tail: (base + tail! | 0) | flags,
  }, ...wrong];
  return [
    at([0, 0, 0, 0]),
    at([0, 0, 0, lap]),
    at([0, 0, lap, lap]),
    at([0, lap, lap, lap]),
    at([lap, lap, lap, lap]),
    at([0, one, 2 * one, 3 * one]),
    at([one, one, lap + one, lap + one]),
    at([one, 0, 0, one], "head_cache"),
    at([2 * one, 0, 0, one], "head_cache"),
    at([2 * one, one, one, one], "head_cache"),
    at([0, one, lap, lap + one], "head_cache"),
    at([0, one, lap + one, lap + one], "head_cache"),
    at([0, 0, lap, lap + one], "head", "head_cache"),
    at([one, one, 0, one], "tail_cache"),
    at([0, one, 0, 2 * one], "tail_cache"),
    at([0, 0, 2 * one, one], "tail_cache"),
    at([0, 0, lap + one, lap], "tail_cache"),
    at([0, one, one, 0], "head", "tail_cache"),
    at([0, one, 0, 0], "head", "tail_cache"),
    // The words that are seen have no flags.
    at([1, 0, 0, one], "head_cache"),
    at([1, one, one, 0], "head", "head_cache", "tail_cache"),
    at([0, 0, -1, one], "tail_cache"),
    at([0, 0, 1, 0], "tail_cache"),
  ];
}

const orders = (
  lap: number,
  one: number,
  flags: number,
  more: Readonly<Record<string, number>>,
): Case[] => [
  ...order(lap, one, 0, 0, more),
  ...order(lap, one, 0, flags, more),
  ...order(lap, one, 0x7fff_fff0 & -one, flags, more), // they wrap around
];

/** A semaphore of at most 3 permits; `free` of them, as they are counted. */
const free = (free: number, who = 0) => ({ max: 3, permits: free << 2 | who });

/** A barrier of 3 parties. */
const barrier = (left: number, arrived: number, more = {}) => ({
  parties: 3,
  state: left << 12 | arrived,
  ...more,
});

/** A reader of one word of a snapshot. */
const snapshot = (middle: number, front: number, single = 1) => ({
  single_reader: single,
  state: middle | front << 2,
});

const WRITING = 1 << 26;

/** By the primitive. */
export const CASES: Readonly<Partial<Record<Stem, readonly Case[]>>> = {
  mutex: lock("state", "starving"),
  rw_lock: [
    ...lock("writer", "writer_starving"),
    ...tracking,
    [{ state: 0x1fff }],
    [{ state: 0x1fff << 13 }],
    [{ state: WRITING, writer: 1 }],
    [{ state: WRITING, writer: AGENT }],
    [{ state: WRITING | 1, writer: 1 }, "state"],
    [{ state: WRITING | 1 << 12, writer: 1 }, "state"],
    [{ state: WRITING | 1 << 13, writer: 1 }],
    [{ state: WRITING }, "state"],
    [{ state: WRITING, writer: CONTENDED }, "state"],
    [{ tracked: tracked(1), state: WRITING, writer: 1 }],
    [{ tracked: tracked(1), state: 1 << 27 }],
    [{ tracked: tracked(1), state: 1 }, "state"],
    [{ tracked: tracked(1), state: 1 << 12 }, "state"],
    [{ tracked: tracked(1), state: 1 << 13 }, "state"],
    [{ tracked: tracked(1), state: 1 << 25 }, "state"],
  ],
  condition: [
    [{ turn: 0, even: 1 }],
    [{ turn: 0, even: BIT_31 }, "even"],
    [{ turn: 2, even: BIT_31 }],
    [{ turn: 2, even: 0 }, "even"],
    [{ turn: 1, even: 0, odd: BIT_31 }],
    [{ turn: 1, even: BIT_31, odd: BIT_31 }],
    [{ turn: 1, odd: -1 }],
    [{ turn: 1, odd: 0 }, "odd"],
    [{ turn: 3, odd: 1, even: BIT_31 }],
    [{ turn: 3, odd: BIT_31 }, "odd"],
    [{ turn: 4, odd: BIT_31, even: 5 }],
    [{ turn: 4, even: -1 }, "even"],
    [{ turn: 0, odd: 1 }],
    [{ turn: 2, odd: BIT_31, even: -1 }],
  ],
  semaphore: [
    [free(3)],
    [free(4), "permits"],
    [free(-1), "permits"],
    [free(3, 1)],
    [free(4, 2), "permits"],
    [{ ...free(4), tracked: 1 }],
    [free(0, 3)],
    [free(1, 3), "permits"],
    [free(4, 3), "permits"],
    [{ ...free(1, 3), claimant: 7 }],
    [{ ...free(4, 3), claimant: 7 }],
    [{ ...free(1, 3), tracked: 1 }],
    [{ bulk: 1 }],
    [{ bulk: -1 }, "bulk"],
    ...agent("claimant"),
    [{ claimant: 1, claim: 1 }],
    [{ claimant: 1, claim: 0x3fff_ffff }],
    [{ claimant: 1, claim: 0x4000_0000 }, "claim"],
    [{ claimant: 1, claim: -1 }, "claim"],
    [{ claim: 1 }, "claim"],
    [{ claim: 0x4000_0000, tracked: 1 }, "claim"],
    [{ claim: 1, tracked: 1 }],
  ],
  event: [
    [{ state: BIT_31 }],
    [{ state: 1 }],
    [{ state: BIT_31 | 1 }, "state"],
    [{ state: -1 }, "state"],
    [{ state: BIT_31 | 2 }],
    [{ state: 0x7fff_ffff }],
  ],
  latch: [
    [{ state: 0 }],
    [{ state: 1 }, "state"],
    [{ state: 2 }],
    [{ state: 3 }],
    [{ state: 0x7fff_ffff }],
    [{ state: BIT_31 }, "state"],
    [{ state: -1 }, "state"],
  ],
  wait_group: [
    [{ state: 0 }],
    [{ state: 1 }, "state"],
    [{ state: 2 }],
    [{ state: 3 }],
    [{ state: 1 << 18 | 1 }],
    [{ state: 1 << 19 | 1 }, "state"],
    [{ state: -(1 << 19) | 1 }, "state"],
  ],
  barrier: [
    [barrier(3, 0)],
    [barrier(4, 0), "state"],
    [barrier(3, 1)],
    [barrier(3, 2)],
    [barrier(3, 3), "state"],
    [barrier(1, 1), "state"],
    [barrier(1, 2), "state"],
    [barrier(0, 0)],
    [barrier(0, 1), "state"],
    [barrier(4, 0, { tracked: 1 })],
    [barrier(3, 3, { tracked: 1 })],
    [barrier(4, 4), "state", "state"],
    [{ parties: 3, state: 3 << 12 | 1 << 24 }],
    [{ parties: 4095, state: 0xfff << 12 | 0xffe }],
    [{ parties: 4095, state: 0xfff << 12 | 0xfff }, "state"],
    [{ parties: 2047, state: 0xfff << 12 }, "state"],
  ],
  once: [
    [{ state: AGENT }],
    [{ state: 1 << 28 }],
    [{ state: AGENT | 1 << 30 }],
    [{ state: 1 << 29 }, "state"],
    [{ state: BIT_31 }, "state"],
    [{ state: 1 << 28 | 1 }, "state"],
    [{ state: 1 << 28 | 1 << 27 }, "state"],
    [{ state: 1 << 28 | 1 << 30 }],
  ],
  snapshot: [
    [snapshot(0, 1)],
    [snapshot(2, 0)],
    [snapshot(0, 2)],
    [snapshot(2, 1)],
    [snapshot(1, 1), "state"],
    [snapshot(0, 0), "state"],
    [snapshot(3, 0), "state"],
    [snapshot(0, 3), "state"],
    [snapshot(0, 0, 0)],
    [snapshot(0, 0, 2)],
    ...agent("writer"),
    ...agent("reader"),
  ],
  spsc_queue: [
    ...orders(32, 4, 3, { capacity: 8 }),
    ...agent("producer"),
    ...agent("consumer"),
    [{ capacity: 8, head: 3, tail: 0 }],
    [{ capacity: 8, tail: 3 }],
  ],
  mpmc_queue: [
    [{ capacity: 8, head: 2, tail: 2 }],
    [{ capacity: 8, head: 2, tail: 3 }],
    [{ capacity: 8, head: 1, tail: 2 }, "head"],
    [{ capacity: 8, head: 3, tail: 2 }, "head", "head"],
    [{ capacity: 8, head: 4, tail: 2 }, "head"],
    [{ capacity: 8, head: 0, tail: 16 }],
    [{ capacity: 8, head: 0, tail: 17 }],
    [{ capacity: 8, head: 0, tail: 18 }, "head"],
    [{ capacity: 8, head: 0x7fff_fffe, tail: BIT_31 + 14 }],
    [{ capacity: 8, head: 0x7fff_fffe, tail: BIT_31 + 16 }, "head"],
  ],
  record_ring: [
    ...orders(64, 8, 1, { capacity: 64 }),
    [{ capacity: 64, tail: 2 }, "tail"],
    [{ capacity: 64, head: 1 }, "head", "head", "tail_cache"],
    [{ capacity: 64, tail: 4 }, "tail"],
    [{ capacity: 64, tail: 6 }, "tail"],
    [{ capacity: 64, tail: 8, head: 1, tail_cache: 8 }, "head"],
    [{ capacity: 64, tail: 8, head: 4, tail_cache: 8 }, "head"],
    ...agent("claimant", AGENT | BEYOND),
    ...agent("consumer", AGENT | BEYOND),
  ],
  broadcast: agent("producer"),
  channel: [
    [{ codec: 1 }],
    [{ codec: 0 }, "codec"],
    [{ codec: 9 }],
    [{ codec: 10 }, "codec"],
    [{ codec: 1, place: 4 }],
    [{ codec: 1, place: 12 }],
    [{ codec: 1, place: 5 }, "place"],
    [{ codec: 1, place: 6 }, "place"],
    [{ codec: 1, place: 3 }, "place"],
    [{ codec: 1, place: -4 }, "place"],
    [{ codec: 1, handoff: 2 }],
    [{ codec: 1, handoff: 3 }, "handoff"],
    [{ codec: 1, handoff: 4 }],
    [{ codec: 1, handoff: 6 }],
    [{ codec: 1, handoff: 7 }, "handoff"],
  ],
  call_ring: [
    [{ closed: 1 }],
    [{ closed: 2 }, "closed"],
    [{ closed: 3 }, "closed"],
    [{ closed: -1 }, "closed"],
  ],
  work_counter: [
    ...tracking,
    [{ total: 5, done: 5 }],
    [{ total: 5, done: 6 }, "done"],
    [{ total: 5, done: -1 }, "done"],
    [{ total: 5, target: 5 }],
    [{ total: 5, target: 6 }, "target"],
    [{ total: 5, target: -1 }, "target"],
    [{ finished: 1 }],
    [{ finished: 2 }],
    [{ finished: 3 }, "finished"],
    [{ finished: -1 }, "finished"],
    [{ total: 5, target: 5, done: 4, finished: 1 }],
    [{ total: 5, target: 5, done: 4, finished: 2 }, "finished"],
    [{ total: 5, target: 5, done: 5, finished: 2 }],
    [{ total: 5, target: 5, done: 4, finished: 2, tracked: tracked(1) }],
  ],
  work_deque: [
    [{ capacity: 8, bottom: 8 }],
    [{ capacity: 8, bottom: 9 }, "top"],
    [{ capacity: 8, bottom: 4, top: 5 }],
    [{ capacity: 8, bottom: 4, top: 6 }, "top"],
    [{ capacity: 8, bottom: BIT_31 + 7, top: 0x7fff_ffff }],
    [{ capacity: 8, bottom: BIT_31 + 8, top: 0x7fff_ffff }, "top"],
    [{ owner: AGENT }],
    [{ owner: 1 << 28 }],
    [{ owner: 1 << 28 | 1 }, "owner"],
    [{ owner: 1 << 29 }, "owner"],
    [{ owner: BIT_31 }, "owner"],
  ],
};
