/**
 * The requests of calls: what stands before their arguments, and which of these
 * go beside the ring.
 *
 * @module
 */

import { type Codec, encoded, encodeWhole } from "../../_message/message.ts";
import { readUtf8, writeUtf8 } from "../../_message/utf8.ts";
import {
  type End,
  goesBeside,
  isTransfer,
  NAMED_BYTES,
  needsPort,
  type Parcel,
} from "../beside.ts";
import {
  CHECK,
  checkOf,
  ERROR,
  HEAD,
  isOurs,
  LONGEST,
  NAME_LENGTH,
  PIECE_HEAD,
  PORT_HEAD,
  putWord,
  SIGNAL,
  THROWN,
  TOKEN,
  WITH_FUNCTIONS,
  WITH_PORT,
} from "../wire.ts";
import { isError, textsOf } from "../../_message/thrown.ts";

/** The parts that all calls of a method share. */
export interface Call {
  /** The bytes before the arguments. */
  readonly head: Uint8Array;
  /** As many bytes as the longest request so far needed. */
  longest: number;
  /** The room for requests in each slot that was used so far. */
  readonly rooms: Room[];
}

/** The room for a request. */
interface Room {
  /** All of it. */
  readonly message: Uint8Array;
  /** Its part for the arguments. */
  readonly body: Uint8Array;
}

/** The room for a request, and its part for the arguments. */
export function roomIn(message: Uint8Array, { head }: Call): Room {
  return { message, body: message.subarray(head.length) };
}

/** Prepares the calls of a method. */
export function prepared(
  codec: Codec<unknown>,
  name: string,
  what: number,
): Call {
  const bytes = new TextEncoder().encode(name);
  const begin = HEAD + bytes.length;
  if (bytes.length > 255) {
    throw new RangeError(
      `The name of a method has at most 255 bytes: received ${bytes.length}`,
    );
  }
  const head = new Uint8Array(begin);
  head[0] = what;
  head[NAME_LENGTH] = bytes.length;
  head[CHECK] = checkOf(codec);
  head.set(bytes, HEAD);
  return { head, longest: begin + 256, rooms: [] };
}

/** Writes a call; returns how many bytes it has, or needs. */
export function written(
  codec: Codec<unknown>,
  { head }: Call,
  { message, body }: Room,
  args: unknown[],
  token: number,
  signalAt: number,
): number {
  message.set(head);
  message[SIGNAL] = signalAt + 1;
  putWord(message, TOKEN, token);
  let sent = args;
  if (signalAt >= 0) (sent = args.slice())[signalAt] = null;
  if (args.at(-1) === undefined) sent = trimmed(codec, sent);
  if (sent.length === 0) return head.length;
  return head.length + encoded(codec, sent, body);
}

/** JSON has no undefined; at the end it is what is missing. */
function trimmed(codec: Codec<unknown>, args: unknown[]): unknown[] {
  if (codec.name !== "json") return args;
  return args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
}

/** The request of a call that is not in a slot yet. */
export function requestOf(
  codec: Codec<unknown>,
  call: Call,
  args: unknown[],
  token: number,
  signalAt: number,
): Uint8Array {
  const write = (into: Uint8Array) =>
    written(codec, call, roomIn(into, call), args, token, signalAt);
  const request = encodeWhole(codec.name, call.longest, write);
  call.longest = Math.max(call.longest, request.length);
  return request;
}

/** The path that a call asks for. */
const nameIn = ({ head }: Call): string =>
  readUtf8(head.subarray(HEAD, HEAD + head[NAME_LENGTH]!));

/** A call with `more` after its first `begin` bytes, as `bits` say. */
function longer(
  { head, longest }: Call,
  begin: number,
  more: Uint8Array,
  bits: number,
): Call {
  const long = new Uint8Array(begin + more.length);
  long.set(head.subarray(0, begin));
  long.set(more, begin);
  long[0]! |= bits;
  return { head: long, longest: longest + more.length, rooms: [] };
}

/** Refuses a place among the arguments that does not fit into its byte. */
export function assertPlace(place: number): void {
  if (place < 255) return;
  throw new RangeError(
    "Functions, iterators, signals and what goes beside the ring must be " +
      `among the first 255 arguments: received one as args[${place}]`,
  );
}

/** A call with the places of what goes beside it, in a message of a number. */
export function withPlaces(
  call: Call,
  end: End,
  number: number,
  places: readonly number[],
): Call {
  const list = new Uint8Array(PORT_HEAD + places.length);
  end.write(list, 0, number);
  list[NAMED_BYTES] = places.length;
  list.set(places, PORT_HEAD);
  return longer(call, HEAD + call.head[NAME_LENGTH]!, list, WITH_PORT);
}

/** A call with a list of functions behind the name. */
export const withList = (call: Call, list: Uint8Array, bits: number): Call =>
  longer(call, call.head.length, list, WITH_FUNCTIONS | bits);

/**
 * Writes why a caller gives up. Returns what it is, an error or another value,
 * and how many bytes it has: more than the room if it does not fit.
 */
export function writeReason(
  codec: Codec<unknown>,
  reason: unknown,
  room: Uint8Array,
): [what: number, length: number] {
  if (isError(reason)) {
    for (const text of textsOf(reason)) {
      const length = writeUtf8(text, room);
      if (length <= room.length) return [ERROR, length];
    }
    return [ERROR, Infinity];
  }
  try {
    return [THROWN, encoded(codec, reason, room)];
  } catch {
    return [THROWN, Infinity]; // the codec cannot carry it
  }
}

/** Packs the arguments that go beside the ring; the others are left. */
export function withParcel(
  codec: Codec<unknown>,
  end: End | undefined,
  call: Call,
  args: unknown[],
): [Call, unknown[], Parcel?] {
  const places = [...args.keys()].filter((i) => goesBeside(args[i]));
  if (end === undefined) {
    const needs = isOurs(codec) ? goesBeside : isTransfer;
    const i = args.findIndex(needs);
    if (i >= 0) throw needsPort(`args[${i}] of ${nameIn(call)}`);
    return [call, args];
  }
  if (places.length === 0) return [call, args];
  assertPlace(places.at(-1)!);
  const what = places.map((i) => `args[${i}]`).join(", ");
  const parcel = end.parcel(
    places.map((i) => args[i]),
    `${what} of ${nameIn(call)}`,
  );
  const copied = args.map((arg, i) => places.includes(i) ? null : arg);
  return [withPlaces(call, end, parcel.number, places), copied, parcel];
}

/** Refuses a request that a ring with this `request` cannot carry. */
export function assertFits({ length }: Uint8Array, maxRequest: number): void {
  if (length <= maxRequest) return;
  const most = maxRequest > PIECE_HEAD ? LONGEST : maxRequest;
  if (length <= most) return;
  throw new RangeError(
    `A request of ${length} bytes does not fit this ring, whose ` +
      `\`request\` is ${maxRequest} bytes` +
      (most === LONGEST
        ? `, nor into pieces, which have ${LONGEST} bytes together`
        : `; pieces of it need ${PIECE_HEAD + 4} or more`),
  );
}
