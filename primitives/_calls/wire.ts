/**
 * The messages of calls: what `connect` writes to the slots of a ring, and
 * `serve` answers.
 *
 * @module
 */

import { values } from "../_value/codec.ts";
import { CALL_RING } from "../_memory/layout.ts";
import { describe } from "../_memory/describe.ts";
import { type Codec, hash } from "../_message/message.ts";
import { attach } from "../_memory/region.ts";
import { cannotBlock, MAY_BLOCK } from "../_wait/waiter.ts";
import { Slots } from "./ring/slots.ts";
import { bytesFor, REQUEST } from "./ring/words.ts";
import type { ApiCodec } from "./types.ts";

// A request has 8 bytes of head: what it is, the place of an AbortSignal among
// the arguments (0: none), the bytes of the name, a check byte of the codec,
// and a number that tells the agent's calls apart. Name and arguments follow.
// The name is a path: there is a dot between the names of an object and of its
// method. wasm/weft/calls.h writes the same, and knows the first three.
export const CALL = 1;
export const FETCH = 2; // the next piece of a reply, by the call's number
export const PIECE_OF_CALL = 3; // of a request that is longer than a slot
export const GET = 4; // a property
export const MAKE = 5; // an instance of a class
export const NEXT = 6; // of an iterator
export const RETURN = 7;
export const THROW = 8;
export const RELEASE = 9; // an object that stayed where it is served
export const ANSWER = 10; // of a caller to a CALLBACK
/** The bits that say what a request is. */
export const WHAT = 15;
/** A bit: the path begins with the key of an object that stayed. */
export const OF_OBJECT = 16;
/**
 * A bit: after the name comes a list of functions: the number of the `connect`,
 * how many there are, and for each its place among the arguments, its kind and
 * its number.
 */
export const WITH_FUNCTIONS = 32;
/** A bit: the caller blocks. */
export const BLOCKING = 64;
/**
 * A bit: the caller has a port. After the name come the name of its end, the
 * number of the message that belongs to the request, how many values it has,
 * and the place of each among the arguments. A list of functions comes later.
 */
export const WITH_PORT = 128;
export const PORT_HEAD = 13;
export const FUNCTION_BYTES = 6;
export const FUNCTIONS_HEAD = 5;

// An ANSWER has the kind of a result, or 0, in the place of a signal, and in
// that of the name's length whether its caller waits on. After the head come
// the agent that called back, the number of the call or of the `connect` that
// waits, and the number of the call back. The result follows.
export const RESULT = 1;
export const LISTENS = 2;
export const FOR_CALL = 1, FOR_CALLER = 2, GAVE_UP = 3;
export const ANSWER_AGENT = 8;
export const ANSWER_TALK = 12;
export const ANSWER_NUMBER = 16;
export const ANSWER_HEAD = 20;
export const SIGNAL = 1;
export const NAME_LENGTH = 2;
export const CHECK = 3;
export const TOKEN = 4;
export const HEAD = 8;

// A piece of a request has 8 bytes more: where it begins, and the length of the
// whole. Then come its bytes. The last piece is answered as the call.
export const OFFSET = 8;
export const WHOLE = 12;
export const PIECE_HEAD = 16;

/** The most bytes of a request in pieces. */
export const LONGEST = 0x1000_0000; // 2^28

// A reply has a byte that says what it is; then its bytes, or the first of
// them.
export const NOTHING = 1; // undefined; of a piece of a request: go on
export const VALUE = 2;
export const ERROR = 3;
export const THROWN = 4; // a value that is not an error
export const PIECE = 5; // of a reply, but for the first
export const ELSEWHERE = 6; // try again: another server has the other pieces, or
// the object, or this one, which is in C, has no room for a long message now
export const OBJECT = 7; // that stays there: its kind, and its key
export const DONE = 8; // the last value of an iterator
// The caller shall call a function: the agent that serves, the number of this,
// the number of the function, and CALL or a step. The arguments follow.
export const CALLBACK = 9;
export const CALLBACK_HEAD = 13;
export const KEPT = 10; // the agent has kept functions; the answer follows
export const RELEASED = 11; // functions that it has kept: their numbers
// The last piece of a request came, and the whole is for another server: send
// all pieces again.
export const RESTART = 12;
// The value went by the port: VALUE or DONE, the name of the end that has sent
// it, and the number of the message.
export const BESIDE = 13;
export const MORE = 128; // and more pieces follow

// A server that has read the arguments of a call with a signal writes GIVEN to
// the first word of the request. From then on the caller may write to the
// request, but for its number. A caller that gives up writes why, before the
// exchange that gives up: the bytes, how many there are, and in the second byte
// of the first word whether they are an ERROR or THROWN.
export const GIVEN = 4;
export const REASON_LENGTH = 6; // a word of the slot: the third of the request
export const REASON = 12;

/** The kinds of objects that stay. */
export const INSTANCE = 1, ITERATOR = 2, FUNCTION = 3;

/** The agent that made the key of an object, with which a path may begin. */
export const agentOf = (key: string): number => parseInt(key, 10);

/** How long a piece of a reply is kept, in ms. */
export const KEPT_MS = 30_000;

/** The byte by which both sides compare their codecs. */
export const checkOf = (codec: Codec<unknown>): number =>
  hash(codec.name) & 0xff;

/** A CallRing, which this room does not know. */
interface AnyRing {
  readonly handle: { readonly kind: string };
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
}

/** The slots of a ring that calls of this kind fit into. */
export function slotsOf(ring: AnyRing, id: number): Slots {
  if (ring?.handle?.kind !== "call_ring") {
    throw new TypeError(`Calls need a CallRing: received ${describe(ring)}`);
  }
  const { buffer, byteOffset } = ring;
  const words = attach("call_ring", CALL_RING, buffer, byteOffset, bytesFor);
  const slots = new Slots(words, id);
  if (slots.maxRequest > HEAD && slots.maxReply > 1) return slots;
  throw new RangeError(
    `Calls need a ring for requests of ${HEAD + 4} bytes or more, and ` +
      `replies of 4 or more: received one for requests of ` +
      `${slots.maxRequest} and replies of ${slots.maxReply}`,
  );
}

/** Two bytes of the first word of a request, by which a caller listens. */
const LISTENING = ANSWER | FOR_CALLER << LISTENS * 8;
const BYTES = 0xff | 0xff << LISTENS * 8;

/**
 * Whether the caller of the call in slot `at`, which this agent serves, may
 * listen there, because fewer than `most` listen to other agents. Then its
 * request says so from now on, until the caller writes that itself. If several
 * servers ask at once, no more callers than that may listen, but perhaps fewer.
 */
export function mayListen(slots: Slots, at: number, most: number): boolean {
  const { words, id } = slots;
  putWord(slots.room(at), ANSWER_AGENT, id); // published by (K)
  Atomics.store(words, at + REQUEST, LISTENING); // (K) say so, then count
  // Pairs with (K): of two servers, one at least sees the other's caller.
  const count = slots.underWay((other) =>
    other !== at &&
    (Atomics.load(words, other + REQUEST) & BYTES) === LISTENING &&
    words[other + REQUEST + ANSWER_AGENT / 4] !== id
  );
  if (count < most) return true;
  Atomics.store(words, at + REQUEST, 0);
  return false;
}

/** Throws if this agent may not block. */
export function assertBlocking(name: string): void {
  if (MAY_BLOCK) return;
  throw cannotBlock(`${name}, which awaits`);
}

/** The codec that the options name. */
export function codecOf({ codec = values }: ApiCodec): Codec<unknown> {
  if (
    typeof codec === "object" && codec !== null &&
    typeof codec.name === "string" && codec.name !== "" &&
    typeof codec.encode === "function" && typeof codec.decode === "function"
  ) return codec as Codec<unknown>;
  throw new TypeError(
    "The codec of calls must be valueCodec, codec.json, or your own " +
      `{ name, encode, decode }: received ${describe(codec)}`,
  );
}

/** Whether it is a codec of ours, which refuses what goes beside the ring. */
export const isOurs = ({ name }: Codec<unknown>): boolean =>
  name === "value" || name === "json";

/** The word at a byte of a request. */
export function wordAt(request: Uint8Array, at: number): number {
  return request[at]! | request[at + 1]! << 8 | request[at + 2]! << 16 |
    request[at + 3]! << 24;
}

/** Puts a word at a byte of a request. */
export function putWord(request: Uint8Array, at: number, word: number): void {
  request[at] = word;
  request[at + 1] = word >> 8;
  request[at + 2] = word >> 16;
  request[at + 3] = word >> 24;
}

/** Whether it is a promise, of any realm. */
export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  (typeof value === "object" && value !== null ||
    typeof value === "function") &&
  typeof (value as PromiseLike<unknown>).then === "function";

/** Whether it is an AbortSignal, of any realm. */
export const isSignal = (value: unknown): boolean =>
  typeof value === "object" && value !== null &&
  typeof (value as AbortSignal).addEventListener === "function" &&
  typeof (value as AbortSignal).aborted === "boolean";
