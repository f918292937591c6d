/**
 * Gongs: how an agent sleeps at several ends of queues at once. A thread can
 * wait on one word only. So each end has one more word, its gong. It is 0 until
 * an agent blocks at this end and at another one. Then the gong of one end
 * leads to that of the other, and the agent sleeps where they meet. Whoever
 * wakes the sleepers of an end also strikes its gong: it follows the gongs, and
 * wakes all who sleep where they end.
 *
 * ```text
 * bit 0        LINK: the gong leads to another one; then
 * bits 1-31    how many words before it that is, less 1. Without LINK:
 * bit 1        WAITING: somebody may sleep on this word
 * bits 2-15    how often it was struck, modulo 2^14
 * bits 16-31   a sign, by which a gong is known; or all bits are 0
 * ```
 *
 * Invariant: gongs that lead to the same one do so for ever. An agent sleeps
 * where all gongs of its ends meet, it has set WAITING there, and it has
 * announced itself at each end, before it looks at each end. So whoever
 * publishes at one of them after that look finds the agent announced, and
 * WAITING set, unless the word has changed since, and then the agent does not
 * sleep.
 * Progress: a gong leads to a word with a lower address, so that each walk
 * ends. If an agent is terminated between its change of a gong and its wake,
 * the sleepers look again within a second. An agent that is terminated in its
 * sleep leaves WAITING set, which costs others one notify.
 * Wrap: an agent oversleeps only if exactly a multiple of 2^14 strikes come
 * between its announcement and its sleep, and then by a second at most.
 *
 * @module
 */

import { DamagedError } from "../_memory/damaged.ts";
import { describeAny } from "../_memory/describe.ts";
import { homeOf } from "../_memory/memory.ts";
import { deadlineAfter } from "./times.ts";
import { mayBlock, sleepUntil, type Waiting } from "./wait.ts";
import { cannotBlock, type Sleep } from "./waiter.ts";

const LINK_BIT = 1; // GONG_BITS.LINK
const WAITING_BIT = 2; // GONG_BITS.WAITING
const STRIKES_MASK = 0xfffc; // GONG_BITS.STRIKES
const SIGN_MASK = -0x0001_0000; // GONG_BITS.SIGN
/** The sign of a gong at which agents have met: "go". */
const SIGN = 0x676f_0000;

type Words = Int32Array<SharedArrayBuffer>;

/** All words of a buffer, as the gongs of one queue may lead to another one. */
const wordsOf = (buffer: SharedArrayBuffer): Words =>
  new Int32Array(buffer, 0, Math.floor(buffer.byteLength / 4));

/** Wakes all who sleep where the gong of an end leads, if there are any. */
export function strike(words: Words, gong: number): void {
  let value = Atomics.load(words, gong);
  if (value & LINK_BIT) {
    gong += words.byteOffset / 4;
    words = wordsOf(words.buffer);
    while (value & LINK_BIT) {
      gong -= (value >>> 1) + 1;
      if (gong < 0) return; // it is damaged; whoever sleeps here finds that
      value = Atomics.load(words, gong);
    }
  }
  const kept = value & (SIGN_MASK | WAITING_BIT);
  if (kept !== (SIGN | WAITING_BIT)) return;
  // WAITING ends, and carries into the number of strikes. If the word has
  // changed, whoever changed it wakes those who slept here before.
  const next = SIGN | (value + WAITING_BIT & STRIKES_MASK);
  const seen = Atomics.compareExchange(words, gong, value, next);
  if (seen === value) Atomics.notify(words, gong);
}

/** The gong to which this one leads. */
function rootOf(words: Words, gong: number): [root: number, value: number] {
  for (;;) {
    const value = Atomics.load(words, gong);
    if ((value & LINK_BIT) === 0) {
      if (value === 0 || (value & SIGN_MASK) === SIGN) return [gong, value];
      throw new DamagedError("The queue");
    }
    gong -= (value >>> 1) + 1;
    if (gong < 0) throw new DamagedError("The queue");
  }
}

/** Makes two gongs lead to the same one, for ever. */
function join(words: Words, a: number, b: number): void {
  for (;;) {
    const [ofA, valueA] = rootOf(words, a);
    const [ofB, valueB] = rootOf(words, b);
    if (ofA === ofB) return;
    const high = Math.max(ofA, ofB);
    const value = ofA === high ? valueA : valueB;
    const link = Math.abs(ofA - ofB) - 1 << 1 | LINK_BIT;
    if (Atomics.compareExchange(words, high, value, link) !== value) continue;
    // (J) Those who sleep there shall sleep where it leads now.
    if (value & WAITING_BIT) Atomics.notify(words, high);
    return;
  }
}

/**
 * Makes all these gongs meet, and returns how to sleep there. The caller must
 * announce itself at each end, and look there, before it sleeps.
 */
function meet(words: Words, gongs: readonly number[]): Sleep {
  const first = gongs[0]!;
  for (const gong of gongs) join(words, first, gong);
  for (;;) {
    const [index, was] = rootOf(words, first);
    const value = SIGN | was & STRIKES_MASK | WAITING_BIT;
    // (W) ask for a strike, then announce, then look
    if (
      was === value ||
      Atomics.compareExchange(words, index, was, value) === was
    ) return { words, index, value };
  }
}

/** One of the ends at which an agent blocks. */
export interface Bout {
  readonly buffer: SharedArrayBuffer;
  /** Its gong, in words from the beginning of the buffer. */
  readonly gong: number;
  /** The path that waits there. */
  start(): Waiting<boolean | undefined>;
}

/** What can be blocked on together with others. */
interface Gonged {
  readonly buffer: SharedArrayBuffer;
  gongAt?(end: "push" | "pop"): number | undefined;
}

/**
 * The bout at an end of `it`; `name` is what an error calls it.
 *
 * @throws {TypeError} If `it` has no gongs.
 */
export function boutAt(
  it: unknown,
  end: "push" | "pop",
  name: string,
  start: () => Waiting<boolean | undefined>,
): Bout {
  const { buffer, gongAt } = Object(it) as Gonged;
  const gong = gongAt?.call(it, end);
  if (gong !== undefined) return { buffer, gong, start };
  throw new TypeError(
    `Cannot block on ${name}: expected a queue, RecordRing or channel: ` +
      `received ${describeAny(it)}`,
  );
}

/**
 * Refuses ends that an agent cannot block on together, and an agent that may
 * not block.
 *
 * @throws {TypeError} If it is so.
 */
export function assertTogether(bouts: readonly Bout[], operation: string) {
  const homes = bouts.map(({ buffer }) => homeOf(buffer));
  const other = homes.findIndex((home) => home !== homes[0]);
  if (other > 0) {
    throw new TypeError(
      `${operation}.blocking needs queues in one SharedArrayBuffer, as layout ` +
        `makes: number ${other} is in another one than number 0`,
    );
  }
  if (mayBlock()) return;
  throw cannotBlock(operation);
}

/**
 * Blocks until one of the paths ends with true, and ends the others. Returns
 * its index, or undefined if `timeout` ms are over.
 */
export function blockAny(
  bouts: readonly Bout[],
  timeout: number,
): number | undefined {
  const deadline = deadlineAfter(timeout);
  // The longest buffer of a memory that grew has all the gongs.
  const { buffer } = bouts.reduce((a, b) =>
    a.buffer.byteLength < b.buffer.byteLength ? b : a
  );
  const words = wordsOf(buffer);
  const gongs = bouts.map(({ gong }) => gong);
  const paths: Waiting<boolean | undefined>[] = [];
  try {
    let sleep = meet(words, gongs);
    for (const [i, bout] of bouts.entries()) {
      const path = bout.start();
      paths.push(path);
      if (path.next().value === true) return i;
    }
    for (;;) {
      const woken = sleepUntil(sleep, deadline);
      const over = woken === "timed-out";
      if (!over) sleep = meet(words, gongs);
      // A strike is for all who sleep there. So no wake is used up by it.
      const outcome = over || woken === "looked" ? woken : "not-equal";
      for (const [i, path] of paths.entries()) {
        if (path.next(outcome).value === true) return i;
      }
      if (over) return undefined;
    }
  } finally {
    for (const path of paths) path.return(undefined); // withdraws, and passes on
  }
}
