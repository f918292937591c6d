/**
 * The words of a `CallRing` and of its slots, the states of a call, and how a
 * ring is configured.
 *
 * @module
 */

import type { CALL_RING } from "../../_memory/layout.ts";
import { assertConfig, inRange } from "../../_memory/region.ts";

export const SHAPE: typeof CALL_RING.shape = 1;
export const REPLY: typeof CALL_RING.reply = 2;
export const CLOSED: typeof CALL_RING.closed = 4;
export const SERVE_EPOCH: typeof CALL_RING.serve_epoch = 32;
export const SLOT_EPOCH: typeof CALL_RING.slot_epoch = 64;
export const PAUSES: typeof CALL_RING.pauses = 66;
export const DEATHS: typeof CALL_RING.deaths = 67;
export const DEAD: typeof CALL_RING.dead = 68;
export const SLOTS: typeof CALL_RING.length = 96;

/** How many entries there are at `DEAD`, and where an entry has its round. */
export const ENTRIES = 16;
export const ROUND_SHIFT = 28; // CALL_RING_BITS.ROUND

/** The words of a slot, of which the first is its state; its bytes follow. */
export const CALLER = 1;
export const REQUEST_LENGTH = 2;
export const REPLY_LENGTH = 3;
export const REQUEST = 4;

/**
 * The parts of a state: an agent's id, the phase, and whether the caller
 * sleeps.
 */
export const ID_MASK = 0x0fff_ffff; // CALL_RING_BITS.ID
export const PHASE_MASK = 0x7000_0000; // CALL_RING_BITS.PHASE
export const WAITING_BIT = -0x8000_0000; // CALL_RING_BITS.WAITING
/** The phases of a call. A comment says which agent the state names. */
export const FREE = 0;
export const CLAIMED = 0x1000_0000; // the caller, which writes its request
export const POSTED = 0x2000_0000; // the caller
export const SERVING = 0x3000_0000; // the server
export const DROPPED = 0x4000_0000; // the server; nobody waits for the reply
export const REPLIED = 0x5000_0000; // the caller, for this and the next ones
export const FAILED = 0x6000_0000;
export const LOST = 0x7000_0000;
/** A bit of `caller`: that agent was abandoned. */
export const DEAD_BIT = 0x1000_0000; // CALL_RING_BITS.DEAD

/**
 * Where the number of slots, less 1, begins in `shape`; below are the words of
 * a request.
 */
const SLOTS_SHIFT = 22; // CALL_RING_BITS.SLOTS
const WORDS_MASK = 0x003f_ffff; // CALL_RING_BITS.WORDS
/** The most calls that a ring can have under way at a time. */
export const MAX_SLOTS = 1024;
const MAX_REQUEST = 0x00ff_fffc; // 4 bytes a word
const MAX_BYTES = 0x4000_0000; // 2^30

/** The configuration of a ring. */
export interface CallRingConfig {
  /** How many calls may be under way at a time: 1 to 1024; 16 unless given. */
  readonly slots?: number | undefined;
  /**
   * The most bytes of a request, 0 to 2^24 - 4, rounded up to words; 65600
   * unless given, so that 64 KiB and a little fit.
   */
  readonly request?: number | undefined;
  /**
   * The most bytes of a reply, 0 to 2^30, rounded up to words; 65600 unless
   * given.
   */
  readonly reply?: number | undefined;
}

/** Memory that was not written to costs nothing; a piece costs a round trip. */
const BYTES = 2 ** 16 + 64;

const roundedUp = (bytes: number): number => Math.ceil(bytes / 4) * 4;

/** The number of slots. */
export const slotsOf = (shape: number): number => (shape >>> SLOTS_SHIFT) + 1;

/** The most bytes of a request. */
export const requestOf = (shape: number): number => (shape & WORDS_MASK) * 4;

/** The number of words of a slot. */
export const strideFor = (request: number, reply: number): number =>
  Math.ceil((REQUEST + request / 4 + reply / 4) / 32) * 32;

/** Checks `config` and packs it: returns `[shape, reply]`. */
export function checked(
  config: CallRingConfig = {},
): [shape: number, reply: number] {
  assertConfig("call_ring", config, ["slots", "request", "reply"]);
  const { slots = 16, request = BYTES, reply = BYTES } = config;
  inRange("slots", slots, 1, MAX_SLOTS);
  inRange("The most bytes of a request", request, 0, MAX_REQUEST);
  inRange("The most bytes of a reply", reply, 0, MAX_BYTES);
  const shape = slots - 1 << SLOTS_SHIFT | roundedUp(request) / 4;
  const bytes = bytesFor(shape, roundedUp(reply));
  if (bytes > MAX_BYTES) {
    throw new RangeError(
      `A ring has at most 2^30 bytes: ${slots} slots for requests of ` +
        `${request} and replies of ${reply} bytes need ${bytes}`,
    );
  }
  return [shape, roundedUp(reply)];
}

/** The bytes of a ring with these words `shape` and `reply`. */
export function bytesFor(shape: number, reply: number): number {
  inRange("The most bytes of a reply", reply, 0, MAX_BYTES);
  return (SLOTS + slotsOf(shape) * strideFor(requestOf(shape), reply)) * 4;
}
