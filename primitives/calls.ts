/**
 * Typed calls between agents: an object of functions that one agent serves and
 * others call as if it were theirs.
 *
 * @module
 */

import {
  bytesFor,
  CALLER,
  DROPPED,
  FREE,
  ID_MASK,
  Lookout,
  PHASE_MASK,
  POSTED,
  REPLIED,
  REQUEST,
  Slots,
} from "./_calls/call_slots.ts";
import type {
  CodecOfApi,
  IsStructuredApi,
  JsonCodec,
  ValueCodec,
} from "./_message/codec.ts";
import { describe } from "./_memory/describe.ts";
import { awaitOn, waitOn, wake } from "./_wait/event_count.ts";
import { CALL_RING } from "./_layout.ts";
import { type Codec, encodeWhole, hash } from "./_message/message.ts";
import { ClosedError } from "./_queue/queue.ts";
import { attach, inRange } from "./_memory/region.ts";
import { spin, spinPatiently } from "./_wait/spin.ts";
import {
  errorText,
  isError,
  reasonOf,
  textsOf,
  unsendable,
} from "./_message/thrown.ts";
import {
  type Classes,
  classesOf,
  type ErrorClass,
  ownErrorOf,
  ownOf,
} from "./_message/own_errors.ts";
import { nextTurn } from "./_wait/turn.ts";
import { readUtf8, writeUtf8 } from "./_message/utf8.ts";
import { values } from "./_value/codec.ts";
import {
  assertOptions,
  assertTimeout,
  block,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";
import { refer } from "./_wait/times.ts";
import { looking, MAY_BLOCK, type Sleep } from "./_wait/waiter.ts";
import { Nap } from "./_calls/nap.ts";
import { methodsBy } from "./_calls/remote.ts";
import { type Watched, Watches } from "./_calls/watch.ts";
import { agentId } from "./agent.ts";
import type { CallRing, ServeOptions } from "./call_ring.ts";

export type {
  AllTrue,
  ApiValuesOf,
  CodecOfApi,
  IsJson,
  IsJsonApi,
  IsStructured,
  IsStructuredApi,
  JsonCodec,
  OwnCodec,
  ValueCodec,
} from "./_message/codec.ts";
export type { Codec } from "./_message/message.ts";
export type { ErrorClass } from "./_message/own_errors.ts";
export { ClosedError } from "./_queue/queue.ts";
export type { AsyncOptions } from "./_wait/wait.ts";
export { CallError, CallRing, type ServeOptions } from "./call_ring.ts";

// ---- what users write against -----------------------------------------------

/** How arguments and results become bytes: `valueCodec` unless given. */
export interface ApiCodec {
  /**
   * It carries the array of the arguments, and the result. Both sides must
   * give the same one.
   */
  readonly codec?: Codec<unknown> | JsonCodec | ValueCodec | undefined;
  /**
   * Classes of errors of yours. An error of one of them arrives as one, with its
   * fields that JSON carries; its constructor does not run. Both sides must give
   * them; their names tell them apart.
   */
  readonly errors?: readonly ErrorClass[] | undefined;
}

/** How to serve an object, awaiting. */
export interface ServeApiOptions extends ApiCodec, ServeOptions {}

/** How to call an object whose methods have the types of `Api`. */
export interface ConnectOptions<Api = object> {
  /**
   * As for `serve`. It must carry the arguments and the results of all methods,
   * but for an AbortSignal.
   */
  readonly codec?: CodecOfApi<Api> | undefined;
  /** As for `serve`. */
  readonly errors?: readonly ErrorClass[] | undefined;
  /**
   * Milliseconds that a call may take, `Infinity` unless given. Then it fails
   * with a DOMException named `TimeoutError`, and the handler's signal aborts.
   */
  readonly timeout?: number | undefined;
  /** Whether a pending call keeps the process alive; `true` unless given. */
  readonly ref?: boolean | undefined;
}

// deno-lint-ignore no-explicit-any
type Method = (...args: any[]) => unknown;

/**
 * An object as others see it: its methods return promises. A generic method
 * keeps its type parameters if it returns a promise; of another one, TypeScript
 * knows no type that returns a promise, and they become `unknown`.
 */
export type Remote<Api> = {
  readonly [
    Name in keyof Api as Api[Name] extends (...args: never[]) => unknown ? Name
      : never
  ]: Api[Name] extends (...args: infer Args) => infer Result
    // The same type already, unless it returns `any`, or has a `this`.
    ? [
      Result,
      Promise<Awaited<Result>>,
      unknown,
      0 extends 1 & Result ? 1 : 0,
    ] extends
      [Promise<Awaited<Result>>, Result, ThisParameterType<Api[Name]>, 0]
      ? Api[Name]
    : (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/**
 * An object as others see it: its methods block until the result is there. A
 * generic method keeps its type parameters if it returns no promise.
 */
export type BlockingRemote<Api> = {
  readonly [
    Name in keyof Api as Api[Name] extends (...args: never[]) => unknown ? Name
      : never
  ]: Api[Name] extends (...args: infer Args) => infer Result
    ? [Result, Awaited<Result>, unknown] extends
      [Awaited<Result>, Result, ThisParameterType<Api[Name]>] ? Api[Name]
    : (...args: Args) => Awaited<Result>
    : never;
};

/** The type of {@linkcode serve}. */
export interface Serve {
  /** Serves the methods of `api`, awaiting. */
  (ring: CallRing, api: object, options?: ServeApiOptions): Promise<number>;
  /**
   * Serves the methods of `api`, blocking while there are no calls, until the
   * ring is closed and no call is left; returns how many it served. A method
   * must return its result, and no promise.
   *
   * @throws {TypeError} As `serve`, or if this agent may not block.
   */
  blocking(ring: CallRing, api: object, options?: ApiCodec): number;
}

/**
 * The options of `connect`. If `structuredClone` does not copy the arguments and
 * the results of all methods, they must name a codec that carries them.
 */
export type OptionsOf<Api, Options> = IsStructuredApi<Api> extends true
  ? [options?: Options]
  : [options: Options & { readonly codec: CodecOfApi<Api> }];

/** The type of {@linkcode connect}. */
export interface Connect {
  /** The methods of the object that is served, which return promises. */
  <Api>(
    ring: CallRing,
    ...options: OptionsOf<Api, ConnectOptions<Api>>
  ): Remote<Api>;
  /**
   * The same with methods that block until the result is there, and throw.
   *
   * @throws {TypeError} As `connect`, or if this agent may not block.
   */
  blocking<Api>(
    ring: CallRing,
    ...options: OptionsOf<Api, Omit<ConnectOptions<Api>, "ref">>
  ): BlockingRemote<Api>;
}

// ---- messages -----------------------------------------------------------------

// A request has 8 bytes of head: what it is, the place of an AbortSignal among
// the arguments (0: none), the bytes of the name, a check byte of the codec,
// and a number that tells the agent's calls apart. Name and arguments follow.
// wasm/weft/calls.h writes the same.
const CALL = 1;
const FETCH = 2; // the next piece of a reply, by the call's number
const PIECE_OF_CALL = 3; // of a request that is longer than a slot
const SIGNAL = 1;
const NAME_LENGTH = 2;
const CHECK = 3;
const TOKEN = 4;
const HEAD = 8;

// A piece of a request has 8 bytes more: where it begins, and the length of the
// whole. Then come its bytes. The last piece is answered as the call.
const OFFSET = 8;
const WHOLE = 12;
const PIECE_HEAD = 16;

/** The most bytes of a request in pieces. */
const LONGEST = 0x1000_0000; // 2^28

// A reply has a byte that says what it is; then its bytes, or the first of them.
const NOTHING = 1; // undefined; of a piece of a request: go on
const VALUE = 2;
const ERROR = 3;
const THROWN = 4; // something that is no error
const PIECE = 5; // of a reply, but for the first
const ELSEWHERE = 6; // try again: another server has the other pieces, or this
// one, which is written in C, has no room for a long message now
const MORE = 128; // and more pieces follow

// A server that has read the arguments of a call with a signal writes GIVEN to
// the first word of the request. From then on the caller may write to the
// request, but for its number. A caller that gives up writes why, before the
// exchange that gives up: the bytes, how many there are, and in the second byte
// of the first word whether they are an ERROR or THROWN.
const GIVEN = 4;
const REASON_LENGTH = 6; // a word of the slot: the third of the request
const REASON = 12;

/** How long a piece of a reply is kept, in ms. */
const KEPT = 30_000;

const checkOf = (codec: Codec<unknown>): number => hash(codec.name) & 0xff;

/** The slots of a ring that calls of this kind fit into. */
function slotsOf(ring: CallRing): Slots {
  if (ring?.handle?.kind !== "call_ring") {
    throw new TypeError(`Calls need a CallRing: received ${describe(ring)}`);
  }
  const { buffer, byteOffset } = ring;
  const words = attach("call_ring", CALL_RING, buffer, byteOffset, bytesFor);
  const slots = new Slots(words, agentId());
  if (slots.maxRequest > HEAD && slots.maxReply > 1) return slots;
  throw new RangeError(
    `Calls need a ring for requests of ${HEAD + 4} bytes or more, and ` +
      `replies of 4 or more: received one for requests of ` +
      `${slots.maxRequest} and replies of ${slots.maxReply}`,
  );
}

function assertBlocking(name: string): void {
  if (MAY_BLOCK) return;
  throw new TypeError(
    `Cannot block in this agent (a browser's main thread, or an audio ` +
      `worklet): use ${name}, which awaits`,
  );
}

function codecOf({ codec = values }: ApiCodec): Codec<unknown> {
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

/** The word at a byte of a request. */
function wordAt(request: Uint8Array, at: number): number {
  return request[at]! | request[at + 1]! << 8 | request[at + 2]! << 16 |
    request[at + 3]! << 24;
}

function putWord(request: Uint8Array, at: number, word: number): void {
  request[at] = word;
  request[at + 1] = word >> 8;
  request[at + 2] = word >> 16;
  request[at + 3] = word >> 24;
}

// ---- the server ---------------------------------------------------------------

/** The methods of an object, its class's included, by name. */
function methodsOf(api: object): Map<string, Method> {
  if (typeof api !== "object" || api === null) {
    throw new TypeError(
      `serve needs an object of functions: received ${describe(api)}`,
    );
  }
  const methods = new Map<string, Method>();
  for (
    let from = api;
    // Another realm's Object.prototype has no prototype, either.
    from !== null && (from === api || Object.getPrototypeOf(from) !== null);
    from = Object.getPrototypeOf(from)
  ) {
    for (const name of Object.getOwnPropertyNames(from)) {
      if (name === "constructor" || methods.has(name)) continue;
      const { value } = Object.getOwnPropertyDescriptor(from, name)!;
      if (typeof value === "function") methods.set(name, value);
    }
  }
  if (methods.has("then")) {
    throw new TypeError(
      'A method cannot be named "then": await would call it',
    );
  }
  if (methods.size > 0) return methods;
  throw new TypeError("serve needs an object of functions: it has none");
}

/**
 * A request or a reply that is longer than a slot, and how much of it came or
 * went.
 */
interface Long {
  readonly bytes: Uint8Array;
  at: number;
  since: number;
}

/** By buffer, then by caller and number. The oldest come first. */
type Longs = WeakMap<SharedArrayBuffer, Map<string, Long>>;

/**
 * Those of all servers of this agent: any of them may be sent, or asked for,
 * the next piece.
 */
const requests: Longs = new WeakMap();
const replies: Longs = new WeakMap();

function longsOf(longs: Longs, buffer: SharedArrayBuffer): Map<string, Long> {
  let there = longs.get(buffer);
  if (there === undefined) longs.set(buffer, there = new Map());
  return there;
}

/** Forgets what nobody has gone on with for long: its caller is gone. */
function forget(longs: Map<string, Long>): void {
  const now = Date.now();
  for (const [key, { since }] of longs) {
    if (now - since < KEPT) break;
    longs.delete(key);
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
  }, KEPT);
  refer(timer, false);
}

class Server {
  readonly slots: Slots;
  readonly #api: object;
  readonly #methods: Map<string, Method>;
  readonly #codec: Codec<unknown>;
  readonly #check: number;
  readonly #classes: Classes;
  readonly #requests: Map<string, Long>;
  readonly #replies: Map<string, Long>;
  /** Room for replies behind their first byte, by slot. */
  readonly #bodies: Uint8Array[] = [];
  readonly #watches: Watches;
  /** Calls that it served; the pieces of a reply are none. */
  count = 0;

  constructor(ring: CallRing, api: object, options: ApiCodec) {
    this.#api = api;
    this.#methods = methodsOf(api);
    this.#codec = codecOf(options);
    this.#check = checkOf(this.#codec);
    this.#classes = classesOf(options.errors ?? []);
    this.slots = slotsOf(ring);
    this.#watches = new Watches(this.slots, (at) => this.#reasonAt(at));
    this.#requests = longsOf(requests, ring.buffer);
    this.#replies = longsOf(replies, ring.buffer);
  }

  /** Serves the call at `at`; a promise if its handler is async. */
  handle(at: number, mayAwait: boolean): Promise<void> | undefined {
    let watched: Watched | undefined;
    let result;
    try {
      let request = this.slots.request(at);
      if (request[0] === FETCH) return void this.#sendRest(at, request);
      if (request[0] === PIECE_OF_CALL) {
        const whole = this.#takePiece(at, request);
        if (whole === undefined) return;
        request = whole;
      }
      this.count++;
      if (this.#replies.size > 0) forget(this.#replies);
      const [method, args] = this.#read(request);
      if (request[SIGNAL]! > 0) {
        watched = this.#watches.begin(at);
        args[request[SIGNAL]! - 1] = watched.control.signal;
        // (G) From here on the caller may write there.
        Atomics.store(this.slots.words, at + REQUEST, GIVEN);
      }
      result = Reflect.apply(method, this.#api, args);
      if (isThenable(result)) {
        if (mayAwait) return this.#handleAsync(at, result, watched);
        result.then(undefined, () => {}); // nobody else looks at it
        throw new TypeError(
          "A method returned a promise: serve.blocking cannot await it",
        );
      }
    } catch (error) {
      this.#watches.end(watched);
      return void this.#throw(at, error);
    }
    this.#watches.end(watched);
    this.#return(at, result);
  }

  async #handleAsync(
    at: number,
    result: PromiseLike<unknown>,
    watched: Watched | undefined,
  ): Promise<void> {
    this.#watches.lookOut();
    try {
      const value = await result;
      this.#watches.end(watched);
      this.#return(at, value);
    } catch (error) {
      this.#watches.end(watched);
      this.#throw(at, error);
    }
  }

  /** Why the caller gave up; undefined if it does not say. */
  #reasonAt(at: number): unknown {
    const { words } = this.slots;
    // A caller that was abandoned may have died while it wrote.
    if ((Atomics.load(words, at) & PHASE_MASK) !== DROPPED) return undefined;
    const what = words[at + REQUEST]! >> 8;
    const length = words[at + REASON_LENGTH]!;
    const bytes = this.slots.room(at).subarray(REASON, REASON + length);
    try {
      if (what === ERROR) return reasonOf(readUtf8(bytes));
      if (what === THROWN) return this.#codec.decode(bytes);
    } catch {
      // It is damaged, or the codec refuses it.
    }
    return undefined;
  }

  /** The method and the arguments that a request asks for. */
  #read(request: Uint8Array): [Method, unknown[]] {
    const begin = HEAD + request[NAME_LENGTH]!;
    if (request[0] !== CALL || !(request.length >= begin)) { // NaN, too
      throw new TypeError(
        "The request was not made by connect(), which alone is served here",
      );
    }
    const name = readUtf8(request.subarray(HEAD, begin));
    const method = this.#methods.get(name);
    if (method === undefined) {
      throw new TypeError(
        `No method ${JSON.stringify(name)} is served: there are ` +
          [...this.#methods.keys()].join(", "),
      );
    }
    if (request[CHECK] !== this.#check) {
      throw new TypeError(
        `The caller of ${name} has another codec: it is served with ` +
          JSON.stringify(this.#codec.name),
      );
    }
    if (request.length === begin) return [method, []];
    const args = this.#codec.decode(request.subarray(begin));
    if (Array.isArray(args)) return [method, args];
    throw new TypeError(
      `The arguments of ${name} must be an array: the codec decoded ` +
        describe(args),
    );
  }

  #return(at: number, value: unknown): void {
    if (value === undefined) return this.#send(at, NOTHING, () => 0);
    try {
      this.#send(at, VALUE, (into) => this.#codec.encode(value, into));
    } catch (error) {
      this.#throw(at, error);
    }
  }

  #throw(at: number, thrown: unknown): void {
    if (!isError(thrown)) {
      try {
        return this.#send(
          at,
          THROWN,
          (into) => this.#codec.encode(thrown, into),
        );
      } catch {
        thrown = unsendable("The method", thrown);
      }
    }
    const own = ownOf(thrown as Error, this.#classes);
    const text = errorText(thrown, own);
    this.#send(at, ERROR, (into) => writeUtf8(text, into));
  }

  /** Replies what `encode` writes, or the first piece of it. */
  #send(at: number, what: number, encode: (into: Uint8Array) => number): void {
    const { slots } = this;
    const room = slots.space(at);
    const body = this.#bodies[at] ??= room.subarray(1);
    const length = encode(body);
    room[0] = what;
    if (length <= body.length) return void slots.reply(at, 1 + length);
    const bytes = encodeWhole(this.#codec.name, length, encode);
    const key = this.#keyOf(at, slots.room(at));
    const rest = { bytes, at: 0, since: 0 };
    forget(this.#replies);
    this.#sendPiece(at, what, key, rest);
  }

  /** Sends the next piece of a reply. */
  #sendRest(at: number, request: Uint8Array): void {
    const key = this.#keyOf(at, request);
    const rest = this.#replies.get(key);
    if (rest !== undefined) return this.#sendPiece(at, PIECE, key, rest);
    this.#replyWithout(at, ELSEWHERE);
  }

  #sendPiece(at: number, what: number, key: string, rest: Long): void {
    const room = this.slots.space(at);
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
    if (!this.slots.reply(at, 1 + piece.length)) this.#replies.delete(key);
  }

  /**
   * Takes a piece of a request. Returns the whole if it was the last;
   * otherwise answers it.
   */
  #takePiece(at: number, request: Uint8Array): Uint8Array | undefined {
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
    ) return void this.#replyWithout(at, ELSEWHERE);
    long.bytes.set(piece, offset);
    long.at += piece.length;
    long.since = Date.now();
    this.#requests.delete(key);
    if (long.at === long.bytes.length) return long.bytes;
    this.#requests.set(key, long); // as the youngest
    forgetLater(this.#requests);
    if (!this.#replyWithout(at, NOTHING)) this.#requests.delete(key);
  }

  /** Replies without a value; false if the caller gave up. */
  #replyWithout(at: number, what: number): boolean {
    this.slots.space(at)[0] = what;
    return this.slots.reply(at, 1);
  }

  /** The name of a call of several messages: its caller and its number. */
  #keyOf(at: number, request: Uint8Array): string {
    const caller = Atomics.load(this.slots.words, at + CALLER) & ID_MASK;
    return `${caller} ${wordAt(request, TOKEN)}`;
  }
}

// Not by `instanceof`, which fails for another realm's promises.
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  (typeof value === "object" && value !== null ||
    typeof value === "function") &&
  typeof (value as PromiseLike<unknown>).then === "function";

/** Microtasks in which an async handler that awaits nothing has its result. */
const TICKS = 4;

async function serveAsync(
  ring: CallRing,
  api: object,
  options?: ServeApiOptions,
): Promise<number> {
  assertOptions(options, ["codec", "errors", "limit", "signal", "ref"]);
  const { codec, errors, limit, ...waiting } = options ?? {};
  const server = new Server(ring, api, { codec, errors });
  const { slots } = server;
  const most = inRange("limit", limit ?? slots.count, 1, slots.count);
  const underway = new Set<Promise<void>>();
  const nap = new Nap(slots);
  try {
    for (;;) {
      while (underway.size >= most) await Promise.race(underway);
      let at = 0;
      if (!waiting.signal?.aborted) {
        at = slots.takeOrEnd();
        for (let i = 0; at === 0 && underway.size > 0 && i < TICKS; i++) {
          await undefined; // lets handlers end
        }
        if (at === 0 && underway.size === 0) at = nap.take();
      }
      at ||= await awaitOn(slots.coming, waiting);
      if (at < 0) return server.count;
      const answer = server.handle(at, true);
      if (answer !== undefined) {
        underway.add(answer);
        answer.then(() => underway.delete(answer));
      }
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
  } finally {
    await Promise.all(underway);
  }
}

function serveBlocking(
  ring: CallRing,
  api: object,
  options?: ApiCodec,
): number {
  assertOptions(options, ["codec", "errors"]);
  assertBlocking("serve");
  const server = new Server(ring, api, options ?? {});
  for (;;) {
    const at = server.slots.takeBlocking()!;
    if (at < 0) return server.count;
    server.handle(at, false);
  }
}

/**
 * Serves the methods of `api`, which others call by {@linkcode connect}, until
 * the ring is closed and no call is left; resolves with how many calls it
 * served. Methods may be async: up to `limit` of them run at a time, as many as
 * the ring has slots unless given. Any number of agents may serve one ring.
 *
 * An AbortSignal that is passed as an argument arrives as one that aborts when
 * the caller gives up: its signal aborted, its time was over, or it was
 * abandoned. `signal.aborted` is up to date in a method that never awaits, too.
 * `signal.reason` is a copy of the caller's, or a `TimeoutError`. An error that
 * is longer than a slot's request, less 12 bytes, loses its stack and causes,
 * and its message is cut. Another reason that does not fit, or that the codec
 * cannot carry, arrives as an `AbortError`.
 *
 * If a method throws, its caller gets the error. A request or a result may
 * be longer than a slot of the ring: it is sent in pieces. The server keeps
 * them for 30 seconds, for a caller that may have died.
 *
 * It changes shared memory only by steps that {@linkcode CallRing} takes, too;
 * the scenarios of `CallRing` prove them. Progress, fairness and what a
 * terminated agent leaves behind are as there. C twin: `weft_calls_serve`.
 *
 * @example A worker that counts
 * ```ts
 * import { CallRing, connect, serve } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 256, reply: 256 });
 * const counter = {
 *   count: 0,
 *   add(n: number) {
 *     return this.count += n;
 *   },
 * };
 * const served = serve(ring, counter); // in a worker
 * const remote = connect<typeof counter>(ring);
 * await remote.add(2);
 * if ((await remote.add(3)) !== 5) throw new Error("wrong sum");
 * ring.close();
 * await served;
 * ```
 *
 * @throws {TypeError} If `ring` is no CallRing, `api` has no methods or one
 * named `then`, or an option is unknown or of a wrong type.
 * @throws {RangeError} If the ring has slots of less than 12 bytes for a
 * request or 4 for a reply, or `limit` is out of range.
 */
export const serve: Serve = /* @__PURE__ */ Object.assign(
  serveAsync,
  { blocking: serveBlocking },
) as Serve;

// ---- the caller ---------------------------------------------------------------

/** How a call ended, or the first piece of its reply. */
interface Answer {
  readonly what: number;
  /** The value, the bytes of a piece, or the request if it must be sent again. */
  readonly value: unknown;
}

/** What all calls of a method have in common. */
interface Call {
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

/** A call that was posted, and the promise of its result. */
interface Pending {
  readonly at: number;
  readonly token: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

let calls = 0; // those of this agent

class Client {
  readonly #slots: Slots;
  readonly #codec: Codec<unknown>;
  readonly #classes: Classes;
  readonly #timeout: number;
  readonly #ref: boolean;
  readonly #lookout: Lookout<Pending>;

  constructor(ring: CallRing, options: ConnectOptions) {
    const { timeout = Infinity, ref = true } = options;
    assertTimeout(timeout);
    if (typeof ref !== "boolean") {
      throw new TypeError(`ref must be a boolean: received ${describe(ref)}`);
    }
    this.#codec = codecOf(options);
    this.#classes = classesOf(options.errors ?? []);
    this.#slots = slotsOf(ring);
    this.#timeout = timeout;
    this.#ref = ref;
    this.#lookout = new Lookout<Pending>(
      this.#slots,
      (call) => this.#take(call),
      ({ at, token, signal, resolve }) =>
        resolve(this.#await(this.#call(token, at, signal), signal, at)),
    );
  }

  /** Prepares the calls of a method. */
  prepare(name: string): Call {
    const bytes = new TextEncoder().encode(name);
    const begin = HEAD + bytes.length;
    if (bytes.length > 255) {
      throw new RangeError(
        `The name of a method has at most 255 bytes: received ${bytes.length}`,
      );
    }
    const head = new Uint8Array(begin);
    head[0] = CALL;
    head[NAME_LENGTH] = bytes.length;
    head[CHECK] = checkOf(this.#codec);
    head.set(bytes, HEAD);
    return { head, longest: begin + 256, rooms: [] };
  }

  /**
   * Writes a call to a free slot, and posts it. Returns the slot; 0 if there is
   * none, or if the call is too long for it.
   */
  #post(call: Call, args: unknown[], token: number, signalAt: number): number {
    const slots = this.#slots;
    const at = slots.begin();
    if (at === 0) return 0;
    let length = Infinity; // unless it is written
    try {
      const { message, body } = call.rooms[slots.numberOf(at)] ??= roomIn(
        slots.room(at),
        call,
      );
      if (message.length >= call.head.length) {
        length = this.#write(call, message, body, args, token, signalAt);
      }
    } finally {
      // It does not fit, or the codec has refused it.
      if (length > slots.maxRequest) slots.cancel(at);
    }
    if (length > slots.maxRequest) {
      if (length < Infinity) call.longest = Math.max(call.longest, length);
      return 0;
    }
    slots.publish(at, length);
    return at;
  }

  /** Writes a call; returns how many bytes it has, or needs. */
  #write(
    { head }: Call,
    message: Uint8Array,
    body: Uint8Array,
    args: unknown[],
    token: number,
    signalAt: number,
  ): number {
    message.set(head);
    message[SIGNAL] = signalAt + 1;
    putWord(message, TOKEN, token);
    if (args.length === 0) return head.length;
    let sent = args;
    if (signalAt >= 0) (sent = args.slice())[signalAt] = null;
    return head.length + this.#codec.encode(sent, body);
  }

  /** The request of a call that is not in a slot yet. */
  #request(
    call: Call,
    args: unknown[],
    token: number,
    signalAt: number,
  ): Uint8Array {
    const write = (into: Uint8Array) => {
      const { message, body } = roomIn(into, call);
      return this.#write(call, message, body, args, token, signalAt);
    };
    const request = encodeWhole(this.#codec.name, call.longest, write);
    call.longest = Math.max(call.longest, request.length);
    return request;
  }

  /** Calls and awaits. */
  callAsync(call: Call, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const signalAt = args.findIndex(isSignal);
      const signal = args[signalAt] as AbortSignal | undefined;
      if (signal?.aborted) throw signal.reason;
      const token = calls = calls + 1 | 0;
      const at = this.#post(call, args, token, signalAt);
      if (at === 0) {
        const request = this.#request(call, args, token, signalAt);
        this.#assertFits(request);
        const path = this.#call(token, 0, signal, request);
        return resolve(this.#await(path, signal));
      }
      this.#lookout.add({ at, token, signal, resolve, reject });
    });
  }

  /** Calls and blocks. */
  call(call: Call, args: unknown[]): unknown {
    const signalAt = args.findIndex(isSignal);
    const signal = args[signalAt] as AbortSignal | undefined;
    if (signal?.aborted) throw signal.reason;
    const slots = this.#slots;
    const token = calls = calls + 1 | 0;
    let at = this.#post(call, args, token, signalAt);
    let request: Uint8Array | undefined;
    if (at === 0) {
      request = this.#request(call, args, token, signalAt);
      this.#assertFits(request);
    }
    const isWaiting = this.#timeout > 0;
    if (isWaiting && at === 0 && request!.length <= slots.maxRequest) {
      at = spin(() => slots.post(request!) || undefined) ?? 0;
    }
    if (at !== 0 && isWaiting) spinPatiently(() => slots.isAnswered(at));
    const path = this.#call(token, at, signal, request);
    return this.#result(block(path, this.#timeout));
  }

  /** Refuses a request that the ring cannot carry. */
  #assertFits({ length }: Uint8Array): void {
    const { maxRequest } = this.#slots;
    if (length <= maxRequest) return;
    const most = maxRequest > PIECE_HEAD ? LONGEST : maxRequest;
    if (length <= most) return;
    throw new RangeError(
      `A request of ${length} bytes does not fit a ring for requests of up ` +
        `to ${maxRequest} bytes` +
        (most === LONGEST
          ? `, nor into pieces, which have ${LONGEST} bytes together`
          : `; pieces of it need a ring for ${PIECE_HEAD + 4} or more`),
    );
  }

  /** Takes the answer of a call that has one. */
  #take({ at, token, signal, resolve, reject }: Pending): void {
    try {
      const answer = this.#read(at);
      if (isWhole(answer)) resolve(this.#result(answer));
      else resolve(this.#await(this.#toEnd(token, signal, answer), signal));
    } catch (error) {
      reject(error);
    }
  }

  /** Awaits a call; `at` is its slot if it has one. */
  async #await(
    path: Waiting<Answer | undefined>,
    signal: AbortSignal | undefined,
    at = 0,
  ): Promise<unknown> {
    let begun = false;
    const begin = () => {
      begun = true;
      return path;
    };
    const options = { timeout: this.#timeout, signal, ref: this.#ref };
    try {
      return this.#result(await tryBlockAsync(begin, options));
    } finally {
      if (!begun && at !== 0) { // it was aborted before
        this.#tell(at, signal);
        this.#slots.cancel(at);
      }
    }
  }

  /** Writes why this agent gives up, if the server has made room for that. */
  #tell(at: number, signal: AbortSignal | undefined): void {
    const { words } = this.#slots;
    // Pairs with (G): the server does not use the request any more.
    if (Atomics.load(words, at + REQUEST) !== GIVEN) return;
    const reason = signal?.aborted ? signal.reason : this.#late();
    const room = this.#slots.room(at).subarray(REASON);
    const [what, length] = this.#writeReason(reason, room);
    if (length > room.length) return;
    // Published by the exchange that gives up.
    words[at + REASON_LENGTH] = length;
    words[at + REQUEST] = GIVEN | what << 8;
  }

  /** Writes a reason; its bytes are more than the room's if it cannot. */
  #writeReason(reason: unknown, room: Uint8Array): [number, number] {
    if (isError(reason)) {
      for (const text of textsOf(reason)) {
        const length = writeUtf8(text, room);
        if (length <= room.length) return [ERROR, length];
      }
      return [ERROR, Infinity];
    }
    try {
      return [THROWN, this.#codec.encode(reason, room)];
    } catch {
      return [THROWN, Infinity]; // the codec cannot carry it
    }
  }

  #late(): DOMException {
    return new DOMException(
      `The call was not answered within ${this.#timeout} ms`,
      "TimeoutError",
    );
  }

  /** The result of a call, or what it threw. */
  #result(answer: Answer | undefined): unknown {
    if (answer === undefined) throw this.#late();
    const { what, value } = answer;
    if (what === ERROR || what === THROWN) throw value;
    return value;
  }

  /** A call that was posted at `at`, or `request` if it was not, to its end. */
  *#call(
    token: number,
    at: number,
    signal: AbortSignal | undefined,
    request?: Uint8Array,
  ): Waiting<Answer | undefined> {
    const answer = at === 0 && request!.length > this.#slots.maxRequest
      ? yield* this.#callInPieces(token, signal, request!)
      : yield* this.#exchange(at, signal, request);
    return yield* this.#toEnd(token, signal, answer);
  }

  /** Goes on after the first answer. */
  *#toEnd(
    token: number,
    signal: AbortSignal | undefined,
    answer: Answer | undefined,
  ): Waiting<Answer | undefined> {
    while (answer?.what === ELSEWHERE) {
      if ((yield pause()) === "timed-out") return undefined;
      answer = yield* this.#exchange(0, signal, answer.value as Uint8Array);
    }
    if (answer === undefined || isWhole(answer)) return answer;
    return yield* this.#rest(token, answer);
  }

  /** One request and its answer; undefined if the time was over. */
  *#exchange(
    at: number,
    signal: AbortSignal | undefined,
    request?: Uint8Array,
  ): Waiting<Answer | undefined> {
    const slots = this.#slots;
    at ||= (yield* waitOn(slots.posting(request!, true))) ?? 0;
    if (at === 0) return undefined;
    let over = false;
    try {
      if (!(yield* answered(slots, at))) {
        this.#tell(at, signal);
        over = slots.giveUp(at);
        if (over) return undefined;
      }
      over = true; // at the moment of the timeout it may be answered
      return this.#read(at);
    } catch (error) {
      over ||= error instanceof ClosedError; // it was withdrawn
      throw error;
    } finally {
      if (!over) slots.cancel(at);
    }
  }

  /** Sends a request in pieces; the answer to the last is that of the call. */
  *#callInPieces(
    token: number,
    signal: AbortSignal | undefined,
    request: Uint8Array,
  ): Waiting<Answer | undefined> {
    const piece = new Uint8Array(this.#slots.maxRequest);
    piece[0] = PIECE_OF_CALL;
    putWord(piece, TOKEN, token);
    putWord(piece, WHOLE, request.length);
    let since = Date.now();
    for (let at = 0;;) {
      const next = request.subarray(at, at + piece.length - PIECE_HEAD);
      putWord(piece, OFFSET, at);
      piece.set(next, PIECE_HEAD);
      const message = piece.subarray(0, PIECE_HEAD + next.length);
      const answer = yield* this.#exchange(0, signal, message);
      if (answer === undefined) return undefined;
      if (answer.what === ELSEWHERE) {
        if (at === 0) since = Date.now(); // no server has a piece of it
        if ((yield* tryAgain(since)) === false) return undefined;
        continue;
      }
      at += next.length;
      if (at === request.length || answer.what !== NOTHING) return answer;
      since = Date.now();
    }
  }

  /** Fetches all that follows the first piece of a reply. */
  *#rest(token: number, first: Answer): Waiting<Answer | undefined> {
    const request = new Uint8Array(HEAD);
    request[0] = FETCH;
    putWord(request, TOKEN, token);
    const pieces = [first.value as Uint8Array];
    let since = Date.now();
    for (;;) {
      const answer = yield* this.#exchange(0, undefined, request);
      if (answer === undefined) return undefined;
      if (answer.what !== ELSEWHERE) {
        pieces.push(answer.value as Uint8Array);
        if ((answer.what & MORE) === 0) break;
        since = Date.now();
        continue;
      }
      if ((yield* tryAgain(since)) === false) return undefined;
    }
    const what = first.what & ~MORE;
    return { what, value: this.#decode(what, joined(pieces)) };
  }

  /** Reads the answer of a call, and gives its slot back. */
  #read(at: number): Answer {
    const bytes = answerAt(this.#slots, at);
    try {
      const what = bytes[0] ?? 0;
      const body = bytes.subarray(1);
      if ((what & MORE) !== 0) return { what, value: body.slice() };
      if (what === ELSEWHERE) {
        return { what, value: this.#slots.request(at).slice() };
      }
      return { what, value: this.#decode(what, body) };
    } finally {
      this.#slots.cancel(at);
    }
  }

  #decode(what: number, bytes: Uint8Array): unknown {
    switch (what) {
      case NOTHING:
        return undefined;
      case PIECE:
        return bytes.slice();
      case VALUE:
      case THROWN:
        return this.#codec.decode(bytes);
      case ERROR:
        return ownErrorOf(readUtf8(bytes), this.#classes);
    }
    throw new TypeError("The server of the ring does not use serve()");
  }
}

/** Whether nothing follows. */
const isWhole = ({ what }: Answer): boolean =>
  (what & MORE) === 0 && what !== ELSEWHERE;

const isSignal = (value: unknown): boolean =>
  typeof value === "object" && value !== null &&
  typeof (value as AbortSignal).addEventListener === "function" &&
  typeof (value as AbortSignal).aborted === "boolean";

/**
 * Waits for the answer of a call. After the ring was closed, a call that no
 * server has taken for a second is withdrawn: the servers have ended.
 */
function* answered(slots: Slots, at: number): Waiting<boolean> {
  const path = slots.answered(at);
  let step = path.next();
  for (let closed = false; !step.done;) {
    step = path.next(yield step.value);
    if (step.done) break;
    if (closed && withdraw(slots, at)) {
      throw new ClosedError("The ring was closed, and nobody serves it");
    }
    closed = slots.closed;
  }
  return step.value;
}

/** Takes back a call that no server has taken; false if it is too late. */
function withdraw({ words }: Slots, at: number): boolean {
  const state = Atomics.load(words, at);
  if (
    (state & PHASE_MASK) !== POSTED ||
    Atomics.compareExchange(words, at, state, FREE) !== state
  ) return false;
  wake(words, CALL_RING.slot_epoch, 1);
  return true;
}

/** The answer of a call that has one, in place; throws if its server did. */
function answerAt(slots: Slots, at: number): Uint8Array {
  const { words } = slots;
  const phase = Atomics.load(words, at) & PHASE_MASK;
  // It throws, and gives the slot back.
  if (phase !== REPLIED) return slots.receive(at);
  return slots.space(at).subarray(0, slots.replyLength(at));
}

/**
 * Lets the server that has the other pieces come first; false if the time is
 * over.
 */
function* tryAgain(since: number): Waiting<boolean> {
  if (Date.now() - since > KEPT) {
    throw new Error("The server of the call has lost its other pieces");
  }
  return (yield pause()) !== "timed-out";
}

let nowhere: Int32Array<SharedArrayBuffer> | undefined;

/**
 * A sleep of 1 to 4 ms. Callers that all slept alike could ask in the same
 * order each time, and each reach the wrong server for ever.
 */
function pause(): Sleep {
  nowhere ??= new Int32Array(new SharedArrayBuffer(4));
  const atMost = 1 + Math.random() * 3;
  return { words: nowhere, index: 0, value: 0, atMost };
}

function roomIn(message: Uint8Array, { head }: Call): Room {
  return { message, body: message.subarray(head.length) };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function connectAsync(ring: CallRing, options?: ConnectOptions): object {
  assertOptions(options, ["codec", "errors", "timeout", "ref"]);
  const client = new Client(ring, options ?? {});
  return methodsBy((name) => {
    const call = client.prepare(name);
    return (...args) => client.callAsync(call, args);
  });
}

function connectBlocking(ring: CallRing, options?: ConnectOptions): object {
  assertOptions(options, ["codec", "errors", "timeout"]);
  assertBlocking("connect");
  const client = new Client(ring, options ?? {});
  return methodsBy((name) => {
    const call = client.prepare(name);
    return (...args) => client.call(call, args);
  });
}

/**
 * The object that {@linkcode serve} serves in another agent: its methods return
 * promises, and those of `connect.blocking` block. Give it the type of the
 * object: `connect<typeof api>(ring)`.
 *
 * Arguments and results are what the codec carries; with one that cannot carry
 * them, `connect` does not compile. A method that returns nothing gives
 * undefined with any codec. An argument that is an AbortSignal
 * ends the call when it aborts, and its twin does so in the handler. A blocking
 * call cannot see it abort.
 *
 * What the method throws is thrown here: an error with its name, message,
 * stack, code and cause, in one of the language's own classes if it was of
 * one, or in one of the option `errors`; any other value as the codec carries it. A call fails with
 *
 * - a TypeError with a path, if the codec cannot carry an argument, or a
 *   RangeError if the request is longer than the ring can carry in pieces; then
 *   nothing was sent;
 * - a TypeError that lists the methods, if there is none of that name;
 * - a {@linkcode ClosedError}, if the ring was closed before the call, or
 *   closed and no server took the call for one or two seconds;
 * - a {@linkcode CallError}, if its server was abandoned (`ring.abandon(id)`);
 * - `signal.reason`, or a `TimeoutError`.
 *
 * @example Errors and time
 * ```ts
 * import { CallRing, connect, serve } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 256, reply: 64 });
 * const api = {
 *   read(name: string): string {
 *     throw new RangeError(`no file ${name}`, { cause: "the disk is empty" });
 *   },
 * };
 * const served = serve(ring, api); // in a worker
 * const remote = connect<typeof api>(ring, { timeout: 10_000 });
 * const error = await remote.read("a").catch((error) => error);
 * if (!(error instanceof RangeError)) throw error;
 * console.log(error.message, error.cause); // no file a, the disk is empty
 * ring.close();
 * await served;
 * ```
 *
 * @throws {TypeError} If `ring` is no CallRing, or an option is unknown or of
 * a wrong type.
 * @throws {RangeError} If the ring has slots of less than 12 bytes for a
 * request or 4 for a reply, or the timeout is negative or NaN.
 */
export const connect: Connect = /* @__PURE__ */ Object.assign(
  connectAsync,
  { blocking: connectBlocking },
) as unknown as Connect;
