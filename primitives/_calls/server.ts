/**
 * The server of typed calls: reads the requests of `connect`, calls the
 * methods, and answers.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { inRange } from "../_memory/region.ts";
import { type Codec, encodeWhole } from "../_message/message.ts";
import {
  type Classes,
  classesOf,
  ownErrorOf,
  ownOf,
} from "../_message/own_errors.ts";
import {
  errorText,
  isError,
  reasonOf,
  unsendable,
} from "../_message/thrown.ts";
import { readUtf8, writeUtf8 } from "../_message/utf8.ts";
import {
  arrival,
  type End,
  endOf,
  goesBeside,
  isTransfer,
  LATE,
  nameAt,
  NAMED_BYTES,
  needsPort,
} from "./beside.ts";
import type { Slots } from "./ring/slots.ts";
import { CALLER, DROPPED, ID_MASK, PHASE_MASK, REQUEST } from "./ring/words.ts";
import {
  agentOf,
  type AnyIterator,
  type Hosts,
  hostsOf,
  isIterator,
  iteratorOf,
  letReturn,
  stepOf,
} from "./hosts.ts";
import { Done } from "./iterators.ts";
import { find, membersOf, namesOf } from "./members.ts";
import {
  forget,
  forgetLater,
  type Long,
  longsOf,
  replies,
  requests,
} from "./pieces.ts";
import { type Talk, Talks } from "./talks.ts";
import type { ApiCodec } from "./types.ts";
import { type Watched, Watches } from "./watch.ts";
import {
  ANSWER,
  BESIDE,
  BLOCKING,
  CALL,
  CHECK,
  checkOf,
  codecOf,
  DONE,
  ELSEWHERE,
  ERROR,
  FETCH,
  FUNCTION_BYTES,
  FUNCTIONS_HEAD,
  GET,
  GIVEN,
  HEAD,
  INSTANCE,
  isOurs,
  isThenable,
  ITERATOR,
  KEPT,
  LONGEST,
  MAKE,
  MORE,
  NAME_LENGTH,
  NEXT,
  NOTHING,
  OBJECT,
  OF_OBJECT,
  OFFSET,
  PIECE,
  PIECE_HEAD,
  PIECE_OF_CALL,
  PORT_HEAD,
  putWord,
  REASON,
  REASON_LENGTH,
  RELEASE,
  RESTART,
  RETURN,
  SIGNAL,
  THROWN,
  TOKEN,
  VALUE,
  WHAT,
  WHOLE,
  WITH_FUNCTIONS,
  WITH_PORT,
  wordAt,
} from "./wire.ts";

/** What a request asks for. */
interface Asked {
  /** What it is: CALL, GET, MAKE or a step of an iterator. */
  readonly what: number;
  /** The object that has it, or the iterator. */
  readonly of: object;
  /** The method, the class, or the property's value. */
  readonly value: unknown;
  readonly args: unknown[];
  /** By which what goes beside the result reaches the caller. */
  end?: End;
}

/** Serves the calls of one ring by the members of one object. */
export class Server {
  readonly slots: Slots;
  readonly #api: object;
  /** What it has, by name. */
  readonly #members: ReadonlyMap<string, unknown>;
  readonly #codec: Codec<unknown>;
  readonly #check: number;
  readonly #classes: Classes;
  readonly #requests: Map<string, Long>;
  readonly #replies: Map<string, Long>;
  /** Room for replies behind their first byte, by slot. */
  readonly #bodies: Uint8Array[] = [];
  readonly #watches: Watches;
  readonly #hosts: Hosts;
  readonly talks: Talks;
  readonly #end: End | undefined;
  /** What comes before the answer of a call whose functions were kept. */
  #before: Uint8Array | undefined;
  /** Whether somebody waited for the last reply. */
  #isWanted = true;
  /** How many calls it served. The pieces of a reply are not counted. */
  count = 0;

  constructor(
    takeSlots: () => Slots,
    api: object,
    options: ApiCodec,
    blocks: boolean,
  ) {
    this.#api = api;
    this.#members = membersOf(api);
    this.#codec = codecOf(options);
    this.#check = checkOf(this.#codec);
    this.#classes = classesOf(options.errors ?? []);
    this.slots = takeSlots();
    const end = endOf(options.port, blocks);
    this.#watches = new Watches(this.slots, (at) => this.#reasonAt(at));
    const { buffer, byteOffset } = this.slots.words;
    this.#requests = longsOf(requests, buffer);
    this.#replies = longsOf(replies, buffer);
    this.#hosts = hostsOf(buffer, byteOffset);
    this.#hosts.servers++;
    const { slots } = this;
    this.talks = new Talks({
      slots,
      codec: this.#codec,
      send: (at, what, encode) => this.#send(at, what, encode),
      decode: (what, bytes) => this.#decode(what, bytes),
      serveNext: blocks ? (timeout) => this.serveNext(timeout) : undefined,
    }, this.#hosts.desk);
    slots.onIdle = () => this.talks.look();
    this.#end = end;
    if (end === undefined) return;
    if (!blocks) end.listen();
    this.#hosts.ends.push(end);
  }

  /** Blocks for a call, and serves it; false at the end. */
  serveNext(timeout = Infinity): boolean {
    const at = this.slots.takeBlocking(timeout) ?? 0;
    if (at > 0) {
      this.took(at);
      this.handle(at, false);
    }
    return at >= 0;
  }

  /**
   * Takes note of what came in a slot. Returns whether a caller answers there,
   * so that a method can go on.
   */
  took(at: number): boolean {
    const what = this.slots.words[at + REQUEST]! & WHAT;
    if (what === ANSWER || what === FETCH || what === PIECE_OF_CALL) {
      return true;
    }
    this.talks.called(at);
    return false;
  }

  /** Serves the call at `at`; a promise if its handler is async. */
  handle(at: number, mayAwait: boolean): Promise<void> | undefined {
    let request: Uint8Array;
    let asked: Asked | undefined;
    try {
      request = this.slots.request(at);
      let elsewhere = ELSEWHERE;
      if (request[0] === FETCH) return void this.#sendRest(at, request);
      if (request[0] === PIECE_OF_CALL) {
        const whole = this.#takePiece(at, request);
        if (whole === undefined) return;
        request = whole;
        elsewhere = RESTART;
        if (request[0] !== ANSWER) this.talks.called(at);
      }
      if (request[0] === ANSWER) {
        return void this.talks.answer(at, request, elsewhere);
      }
      if (this.#replies.size > 0) forget(this.#replies);
      this.count++;
      asked = this.#read(request);
      if (asked === undefined) {
        this.count--;
        return void this.#replyWithout(at, elsewhere);
      }
      if ((request[0]! & WITH_PORT) !== 0) {
        const come = this.#receive(request, asked);
        if (come === false) {
          this.count--;
          return void this.#replyWithout(at, elsewhere);
        }
        if (come === undefined) {
          if (mayAwait) return this.#runLate(at, request, asked, elsewhere);
          throw new TypeError(LATE);
        }
      }
    } catch (error) {
      return void this.#throw(at, error);
    }
    return this.#run(at, request, asked, mayAwait);
  }

  /** Runs a method, whose arguments are here. */
  #run(
    at: number,
    request: Uint8Array,
    asked: Asked,
    mayAwait: boolean,
  ): Promise<void> | undefined {
    let watched: Watched | undefined;
    let talk: Talk | undefined;
    let result;
    try {
      if ((request[0]! & WITH_FUNCTIONS) !== 0) {
        talk = this.#talk(at, request, asked.args);
      }
      if (request[SIGNAL]! > 0) {
        watched = this.#watches.begin(at);
        if (talk !== undefined) talk.watched = watched;
        asked.args[request[SIGNAL]! - 1] = watched.control.signal;
        // (G) From here on the caller may write there.
        Atomics.store(this.slots.words, at + REQUEST, GIVEN);
      }
      result = resultOf(asked);
      if (isThenable(result)) {
        if (mayAwait) {
          return this.#handleAsync(at, asked, result, watched, talk);
        }
        result.then(undefined, () => {}); // nobody else looks at it
        throw new TypeError(
          "A method returned a promise: serve.blocking cannot await it",
        );
      }
    } catch (error) {
      this.#watches.end(watched);
      return void this.#finish(at, talk, (at) => this.#throw(at, error));
    }
    this.#watches.end(watched);
    this.#finish(at, talk, (at) => this.#return(at, asked, result));
  }

  /** Runs a method when what goes beside its call has come. */
  async #runLate(
    at: number,
    request: Uint8Array,
    asked: Asked,
    elsewhere: number,
  ): Promise<void> {
    const watched = this.#watches.begin(at);
    this.#watches.lookOut();
    try {
      const attempt = () => this.#receive(request, asked);
      const { signal } = watched.control;
      const come = await arrival(this.#hosts.ends, attempt, true, signal);
      this.#watches.end(watched);
      if (come) return await this.#run(at, request, asked, true);
      this.count--;
      this.#replyWithout(at, elsewhere);
    } catch (error) {
      this.#watches.end(watched);
      this.#throw(at, error);
    }
  }

  /**
   * Takes what came beside a request; undefined if it has not come yet, false
   * if another agent has the port.
   */
  #receive(request: Uint8Array, asked: Asked): boolean | undefined {
    const { ends } = this.#hosts;
    const begin = HEAD + request[NAME_LENGTH]!;
    const from = nameAt(request, begin);
    const places = request.subarray(
      begin + PORT_HEAD,
      begin + portBytes(request, begin),
    );
    if (places.length > 0 && ends.length === 0) {
      throw needsPort(`args[${places[0]}]`);
    }
    let end = ends.find((end) => end.leadsTo(from));
    if (end === undefined) {
      for (const end of ends) end.drain();
      end = ends.find((end) => end.leadsTo(from));
    }
    if (end === undefined) {
      if (!ends.every(({ isMet }) => isMet)) return undefined;
      return places.length === 0;
    }
    asked.end = end;
    if (places.length === 0) return true;
    const values = end.take(from, wordAt(request, begin + 8));
    if (values === undefined) return undefined;
    for (const [i, place] of places.entries()) asked.args[place] = values[i];
    return true;
  }

  async #handleAsync(
    at: number,
    asked: Asked,
    result: PromiseLike<unknown>,
    watched: Watched | undefined,
    talk: Talk | undefined,
  ): Promise<void> {
    this.#watches.lookOut();
    try {
      const value = await result;
      this.#watches.end(watched);
      this.#finish(at, talk, (at) => this.#return(at, asked, value));
    } catch (error) {
      this.#watches.end(watched);
      this.#finish(at, talk, (at) => this.#throw(at, error));
    }
  }

  /** Answers a call: at once, or, of a talk, where its caller waits next. */
  #finish(
    at: number,
    talk: Talk | undefined,
    answer: (at: number) => void,
  ): void {
    if (talk === undefined) return answer(at);
    this.talks.finish(talk, (at) => {
      const needed = this.talks.keep(talk);
      if (needed.length > 0) this.#before = beforeOf(this.slots.id, needed);
      answer(at);
      this.#before = undefined;
      return this.#isWanted;
    });
  }

  /** Begins a talk: puts what stands for the functions among the arguments. */
  #talk(at: number, request: Uint8Array, args: unknown[]): Talk {
    let from = HEAD + request[NAME_LENGTH]!;
    from += portBytes(request, from);
    const client = wordAt(request, from);
    const blocks = (request[0]! & BLOCKING) !== 0;
    const talk = this.talks.begin(at, wordAt(request, TOKEN), client, blocks);
    const count = request[from + FUNCTIONS_HEAD - 1]!;
    from += FUNCTIONS_HEAD;
    for (let i = 0; i < count; i++, from += FUNCTION_BYTES) {
      const [place, kind] = request.subarray(from, from + 2);
      const id = wordAt(request, from + 2);
      args[place!] = this.talks.standFor(talk, kind!, id);
    }
    return talk;
  }

  #decode(what: number, bytes: Uint8Array): unknown {
    if (what === ERROR) return ownErrorOf(readUtf8(bytes), this.#classes);
    const value = bytes.length === 0 ? undefined : this.#codec.decode(bytes);
    return what === DONE ? new Done(value) : value;
  }

  /** No answer comes any more. */
  stop(): void {
    this.talks.stop();
  }

  /** No call comes any more, and none is under way. */
  end(): void {
    if (this.#hosts.end()) this.talks.end();
    const end = this.#end;
    if (end === undefined) return;
    const { ends } = this.#hosts;
    ends.splice(ends.indexOf(end), 1);
    end.leave();
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

  /** What a request asks for; undefined if another server has the object. */
  #read(request: Uint8Array): Asked | undefined {
    const nameEnd = HEAD + request[NAME_LENGTH]!;
    const listAt = nameEnd + portBytes(request, nameEnd);
    const begin = listAt + functionBytes(request, listAt);
    const what = request[0]! & WHAT;
    if (!isAsked(what) || !(request.length >= begin)) { // NaN, too
      throw new TypeError(
        "The request was not made by connect(), which alone is served here",
      );
    }
    let path = readUtf8(request.subarray(HEAD, nameEnd));
    let of = this.#api;
    if ((request[0]! & OF_OBJECT) !== 0) {
      const dot = path.indexOf(".");
      const key = dot < 0 ? path : path.slice(0, dot);
      path = dot < 0 ? "" : path.slice(dot + 1);
      const object = this.#objectOf(key, what);
      if (object === undefined) return undefined;
      if (what >= NEXT) return this.#step(what, key, object, request, begin);
      of = object;
    }
    // Most calls are of methods of the object itself.
    let value = of === this.#api ? this.#members.get(path) : undefined;
    if (value === undefined) [of, value] = this.#find(of, path, what);
    if (request[CHECK] !== this.#check) {
      throw new TypeError(
        `The caller of ${path} has another codec: it is served with ` +
          JSON.stringify(this.#codec.name),
      );
    }
    if (request.length === begin) return { what, of, value, args: [] };
    const args = this.#codec.decode(request.subarray(begin));
    if (Array.isArray(args)) return { what, of, value, args };
    throw new TypeError(
      `The arguments of ${path} must be an array: the codec decoded ` +
        describe(args),
    );
  }

  /** An object that stayed here; undefined if another agent has it. */
  #objectOf(key: string, what: number): object | undefined {
    const object = this.#hosts.get(key);
    if (object !== undefined || agentOf(key) !== this.slots.id) return object;
    if (what === RELEASE || what === RETURN) return {};
    throw new TypeError(
      "The object was released, or its server has ended",
    );
  }

  /** The object that has the last member of a path, and that member. */
  #find(of: object, path: string, what: number): [object, unknown] {
    const found = find(of, path);
    if (found !== undefined && (what === GET || found[1] !== undefined)) {
      return found;
    }
    const names = of === this.#api ? [...this.#members.keys()] : namesOf(of);
    throw new TypeError(
      `No ${what === GET ? "property" : "method"} ${JSON.stringify(path)} ` +
        `is served: there are ${names.join(", ")}`,
    );
  }

  /** A step of an iterator, or the end of an object. */
  #step(
    what: number,
    key: string,
    of: AnyIterator,
    request: Uint8Array,
    begin: number,
  ): Asked {
    if (what === RELEASE) {
      this.#hosts.release(key);
      return { what, of, value: undefined, args: [] };
    }
    const args = request.length === begin
      ? []
      : this.#codec.decode(request.subarray(begin)) as unknown[];
    return { what, of, value: () => this.#hosts.delete(key), args };
  }

  #return(at: number, asked: Asked, value: unknown): void {
    const { what } = asked;
    try {
      if (what >= NEXT) return this.#returnStep(at, asked, value);
      if (what === MAKE) return this.#keep(at, INSTANCE, value as object);
      if (typeof value === "object" && isIterator(value)) {
        return this.#keep(at, ITERATOR, iteratorOf(value));
      }
      if (what === GET && typeof value === "function") {
        throw new TypeError("The property is a method: call it");
      }
      this.#sendValue(at, asked, VALUE, value);
    } catch (error) { // the codec refuses it
      if (what >= NEXT && what !== RELEASE) {
        (asked.value as () => void)();
        letReturn(asked.of);
      }
      this.#throw(at, error);
    }
  }

  /** Answers with what an iterator has returned. */
  #returnStep(at: number, asked: Asked, result: unknown): void {
    const { done, value } = (result ?? {}) as IteratorResult<unknown>;
    this.#sendValue(at, asked, done ? DONE : VALUE, value);
  }

  #sendValue(at: number, asked: Asked, what: number, value: unknown): void {
    if (goesBeside(value)) {
      if (asked.end !== undefined) {
        return this.#sendBeside(at, asked.end, what, value);
      }
      if (isTransfer(value) || isOurs(this.#codec)) {
        throw needsPort("The result");
      }
    }
    if (value === undefined) {
      this.#send(at, what === VALUE ? NOTHING : what, () => 0);
    } else this.#send(at, what, (into) => this.#codec.encode(value, into));
  }

  /** Sends a result by the port, and answers with where it is. */
  #sendBeside(at: number, end: End, what: number, value: unknown): void {
    const parcel = end.parcel([value], "The result");
    parcel.post();
    const isWanted = this.#send(at, BESIDE, (into) => {
      if (into.length > NAMED_BYTES) {
        into[0] = what;
        end.write(into, 1, parcel.number);
      }
      return 1 + NAMED_BYTES;
    });
    if (!isWanted) parcel.drop();
  }

  /** Keeps an object here, and answers with its key. */
  #keep(at: number, kind: number, object: object): void {
    const key = this.#hosts.add(this.slots.id, object);
    const isWanted = this.#send(at, OBJECT, (into) => {
      into[0] = kind;
      return 1 + writeUtf8(key, into.subarray(1));
    });
    if (!isWanted) this.#hosts.release(key);
  }

  #throw(at: number, thrown: unknown): void {
    if (!isError(thrown)) {
      try {
        const write = (into: Uint8Array) =>
          thrown === undefined ? 0 : this.#codec.encode(thrown, into);
        return void this.#send(at, THROWN, write);
      } catch {
        thrown = unsendable("The method", thrown);
      }
    }
    const own = ownOf(thrown as Error, this.#classes);
    const text = errorText(thrown, own);
    this.#send(at, ERROR, (into) => writeUtf8(text, into));
  }

  /** Replies what `encode` writes, or the first piece of it. */
  #send(
    at: number,
    what: number,
    encode: (into: Uint8Array) => number,
  ): boolean {
    const { slots } = this;
    if (this.#before !== undefined) {
      encode = after(this.#before, what, encode);
      what = KEPT;
    }
    const room = slots.space(at);
    const body = this.#bodies[at] ??= room.subarray(1);
    const length = encode(body);
    room[0] = what;
    if (length <= body.length) {
      return this.#isWanted = slots.reply(at, 1 + length);
    }
    const bytes = encodeWhole(this.#codec.name, length, encode);
    const key = this.#keyOf(at, slots.room(at));
    const rest = { bytes, at: 0, since: 0 };
    forget(this.#replies);
    return this.#sendPiece(at, what, key, rest);
  }

  /** Sends the next piece of a reply. */
  #sendRest(at: number, request: Uint8Array): void {
    const key = this.#keyOf(at, request);
    const rest = this.#replies.get(key);
    if (rest !== undefined) return void this.#sendPiece(at, PIECE, key, rest);
    this.#replyWithout(at, ELSEWHERE);
  }

  #sendPiece(at: number, what: number, key: string, rest: Long): boolean {
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
    this.#isWanted = this.slots.reply(at, 1 + piece.length);
    if (!this.#isWanted) this.#replies.delete(key);
    return this.#isWanted;
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

/** Whether a request may ask for this. */
const isAsked = (what: number): boolean =>
  what === CALL || what >= GET && what <= RELEASE;

/** Does what was asked for. */
function resultOf({ what, of, value, args }: Asked): unknown {
  if (what === CALL) {
    if (typeof value === "function") return Reflect.apply(value, of, args);
    if (args.length === 0) return value; // so those read it that block
    throw new TypeError(
      `A property was called with arguments (${args.length}): it is no method`,
    );
  }
  if (what === GET) return value;
  if (what === MAKE) return Reflect.construct(value as new () => object, args);
  if (what === RELEASE) return undefined;
  return stepOf(what, of, args, value as () => void);
}

/** The bytes about a port that begin at a byte of a request. */
const portBytes = (request: Uint8Array, at: number): number =>
  (request[0]! & WITH_PORT) === 0 ? 0 : PORT_HEAD + request[at + NAMED_BYTES]!;

/** The bytes of the list of functions that begins at a byte of a request. */
const functionBytes = (request: Uint8Array, at: number): number =>
  (request[0]! & WITH_FUNCTIONS) === 0
    ? 0
    : FUNCTIONS_HEAD + FUNCTION_BYTES * request[at + FUNCTIONS_HEAD - 1]!;

/** Says that this agent has kept functions of a call. */
function beforeOf(agent: number, ids: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(5 + 4 * ids.length);
  putWord(bytes, 0, agent);
  bytes[4] = ids.length;
  for (const [i, id] of ids.entries()) putWord(bytes, 5 + 4 * i, id);
  return bytes;
}

/** Puts an answer, with its kind, after bytes. */
function after(
  before: Uint8Array,
  what: number,
  encode: (into: Uint8Array) => number,
) {
  const begin = before.length + 1;
  return (into: Uint8Array): number => {
    if (into.length >= begin) {
      into.set(before);
      into[begin - 1] = what;
    }
    return begin + encode(into.subarray(begin));
  };
}
