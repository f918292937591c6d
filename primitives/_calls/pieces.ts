/**
 * Requests and replies that are longer than a slot: they go in pieces.
 *
 * @module
 */

import { homeOf } from "../_memory/memory.ts";
import { inRange } from "../_memory/region.ts";
import { refer } from "../_wait/times.ts";
import { looking } from "../_wait/waiter.ts";
import { callerOf } from "./ring/call.ts";
import type { Slots } from "./ring/slots.ts";
import {
  ELSEWHERE,
  KEPT_MS,
  LONGEST,
  MORE,
  NOTHING,
  OFFSET,
  PIECE,
  PIECE_HEAD,
  TOKEN,
  WHOLE,
  wordAt,
} from "./wire.ts";

/**
 * A request or a reply that is longer than a slot, and how much of it came or
 * went.
 */
interface Long {
  readonly bytes: Uint8Array;
  at: number;
  since: number;
  /** Called if its caller never has all of it. */
  lost?: (() => void) | undefined;
}

/** By memory, then by caller and number. The oldest come first. */
type Longs = WeakMap<SharedArrayBuffer, Map<string, Long>>;

/**
 * Those of all servers of this agent: any of them may be sent, or asked for,
 * the next piece.
 */
const requests: Longs = new WeakMap();
/** The same of replies. */
const replies: Longs = new WeakMap();

/** Those of one memory. */
function longsOf(
  longs: Longs,
  buffer: SharedArrayBuffer,
): Map<string, Long> {
  const home = homeOf(buffer);
  let there = longs.get(home);
  if (there === undefined) longs.set(home, there = new Map());
  return there;
}

/** Forgets what nobody has gone on with for long: its caller is gone. */
function forget(longs: Map<string, Long>): void {
  const now = Date.now();
  for (const [key, { since, lost }] of longs) {
    if (now - since < KEPT_MS) break;
    longs.delete(key);
    lost?.();
  }
}

const sweeps = new WeakSet<Map<string, Long>>();

/** Forgets them also if no call comes any more. */
function forgetLater(longs: Map<string, Long>): void {
  if (sweeps.has(longs) || looking.every === Infinity) return; // explored code
  sweeps.add(longs);
  const timer = setTimeout(() => {
    sweeps.delete(longs);
    forget(longs);
    if (longs.size > 0) forgetLater(longs);
  }, KEPT_MS);
  refer(timer, false);
}

/** The requests and replies of one ring that go in pieces. */
export class Pieces {
  readonly #slots: Slots;
  readonly #requests: Map<string, Long>;
  readonly #replies: Map<string, Long>;

  constructor(slots: Slots) {
    const { buffer } = slots.words;
    this.#slots = slots;
    this.#requests = longsOf(requests, buffer);
    this.#replies = longsOf(replies, buffer);
  }

  /** Forgets replies that nobody has gone on with. */
  forget(): void {
    if (this.#replies.size > 0) forget(this.#replies);
  }

  /**
   * Replies with the first piece of `bytes`; returns whether the caller waits.
   * If it does, and then gives up, `lost` is called: soon, or when the rest is
   * forgotten.
   */
  send(
    at: number,
    what: number,
    bytes: Uint8Array,
    lost?: () => void,
  ): boolean {
    const key = this.#keyOf(at, this.#slots.room(at));
    forget(this.#replies);
    return this.#sendPiece(at, what, key, { bytes, at: 0, since: 0, lost });
  }

  /** Sends the next piece of a reply. */
  sendRest(at: number, request: Uint8Array): void {
    const key = this.#keyOf(at, request);
    const rest = this.#replies.get(key);
    if (rest === undefined) replyWithout(this.#slots, at, ELSEWHERE);
    else if (!this.#sendPiece(at, PIECE, key, rest)) rest.lost?.();
  }

  #sendPiece(at: number, what: number, key: string, rest: Long): boolean {
    const room = this.#slots.space(at);
    const piece = rest.bytes.subarray(rest.at, rest.at + room.length - 1);
    rest.at += piece.length;
    rest.since = Date.now();
    const more = rest.at < rest.bytes.length;
    this.#replies.delete(key);
    if (more) {
      this.#replies.set(key, rest); // as the youngest
      forgetLater(this.#replies);
    }
    room[0] = more ? what | MORE : what;
    room.set(piece, 1);
    const isWanted = this.#slots.reply(at, 1 + piece.length);
    if (!isWanted) this.#replies.delete(key);
    return isWanted;
  }

  /**
   * Takes a piece of a request. Returns the whole if it was the last;
   * otherwise answers it.
   */
  take(at: number, request: Uint8Array): Uint8Array | undefined {
    const key = this.#keyOf(at, request);
    const offset = wordAt(request, OFFSET);
    const length = wordAt(request, WHOLE);
    const piece = request.subarray(PIECE_HEAD);
    let long = this.#requests.get(key);
    if (offset === 0) {
      const least = piece.length + 1;
      inRange("The bytes of a request in pieces", length, least, LONGEST);
      forget(this.#requests);
      long = { bytes: new Uint8Array(length), at: 0, since: 0 };
    }
    if (
      long === undefined || long.at !== offset || piece.length === 0 ||
      piece.length > long.bytes.length - offset
    ) return void replyWithout(this.#slots, at, ELSEWHERE);
    long.bytes.set(piece, offset);
    long.at += piece.length;
    long.since = Date.now();
    this.#requests.delete(key);
    if (long.at === long.bytes.length) return long.bytes;
    this.#requests.set(key, long); // as the youngest
    forgetLater(this.#requests);
    if (!replyWithout(this.#slots, at, NOTHING)) this.#requests.delete(key);
  }

  /** The name of a call of several messages: its caller and its number. */
  #keyOf(at: number, request: Uint8Array): string {
    const caller = callerOf(this.#slots.words, at);
    return `${caller} ${wordAt(request, TOKEN)}`;
  }
}

/** Replies without a value; false if the caller gave up. */
export function replyWithout(slots: Slots, at: number, what: number): boolean {
  slots.space(at)[0] = what;
  return slots.reply(at, 1);
}

/** All pieces as one. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
