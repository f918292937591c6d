/**
 * The server of typed calls: reads the requests of `connect`, calls the
 * methods, and answers.
 *
 * @module
 */

import { type Codec, encoded, encodeWhole } from "../_message/message.ts";
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
  NAMED_BYTES,
  needsPort,
} from "./beside.ts";
import { callerOf } from "./ring/call.ts";
import type { Slots } from "./ring/slots.ts";
import { DROPPED, PHASE_MASK, REQUEST } from "./ring/words.ts";
import {
  type Hosts,
  hostsOf,
  isIterator,
  iteratorOf,
  letReturn,
} from "./hosts.ts";
import { type Asked, portBytes, Reader, receive, resultOf } from "./asked.ts";
import { Done } from "./iterators.ts";
import { membersOf } from "./members.ts";
import { Pieces, replyWithout } from "./pieces.ts";
import { type Talk, Talks } from "./talks.ts";
import type { ApiCodec } from "./types.ts";
import { type Watched, Watches } from "./watch.ts";
import {
  ANSWER,
  BESIDE,
  BLOCKING,
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
  MAKE,
  NAME_LENGTH,
  NEXT,
  NOTHING,
  OBJECT,
  PIECE_OF_CALL,
  putWord,
  REASON,
  REASON_LENGTH,
  RELEASE,
  RESTART,
  SIGNAL,
  THROWN,
  TOKEN,
  VALUE,
  WHAT,
  WITH_FUNCTIONS,
  WITH_PORT,
  wordAt,
} from "./wire.ts";

/** Serves the calls of one ring by the members of one object. */
export class Server {
  readonly slots: Slots;
  readonly #codec: Codec<unknown>;
  readonly #classes: Classes;
  readonly #reader: Reader;
  readonly #pieces: Pieces;
  /** Room for replies behind their first byte, by slot. */
  readonly #bodies: Uint8Array[] = [];
  readonly #watches: Watches;
  readonly #hosts: Hosts;
  readonly talks: Talks;
  readonly #end: End | undefined;
  /** What comes before the answer of a call whose functions were kept. */
  #before: Before | undefined;
  /** Whether somebody waited for the last reply. */
  #isWanted = true;
  /** How many calls wait for what goes beside them. */
  #late = 0;
  /** The slots of the calls whose methods are awaited, or their talks. */
  readonly #awaited = new Set<number | Talk>();
  /** How many calls it served. The pieces of a reply are not counted. */
  count = 0;

  constructor(
    takeSlots: () => Slots,
    api: object,
    options: ApiCodec,
    blocks: boolean,
    ref = true,
  ) {
    const members = membersOf(api);
    this.#codec = codecOf(options);
    this.#classes = classesOf(options.errors ?? []);
    this.slots = takeSlots();
    const end = endOf(options.port, blocks);
    this.#watches = new Watches(this.slots, (at) => this.#reasonAt(at), ref);
    this.#hosts = hostsOf(this.slots.words);
    this.#hosts.servers++;
    const { slots } = this;
    this.#pieces = new Pieces(slots);
    const served = { api, members, codec: this.#codec, hosts: this.#hosts };
    this.#reader = new Reader(served, slots.id);
    this.talks = new Talks({
      slots,
      codec: this.#codec,
      send: (at, what, encode) => this.#send(at, what, encode),
      decode: (what, bytes) => this.#decode(what, bytes),
      serveNext: blocks ? (timeout) => this.serveNext(timeout) : undefined,
    }, this.#hosts.desk);
    slots.onIdle = () => {
      this.talks.look();
      if (this.#hosts.any) this.#hosts.look();
    };
    this.#end = end;
    if (end === undefined) return;
    if (!blocks) end.listen();
    this.#hosts.ends.push(end);
  }

  /**
   * Whether an answer of a caller may come. Calls whose arguments are late may
   * have functions, and call them once they begin.
   */
  get expects(): boolean {
    return this.#late > 0 || this.talks.expects;
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
      if (request[0] === FETCH) return void this.#pieces.sendRest(at, request);
      if (request[0] === PIECE_OF_CALL) {
        const whole = this.#pieces.take(at, request);
        if (whole === undefined) return;
        request = whole;
        elsewhere = RESTART;
        if (request[0] !== ANSWER) this.talks.called(at);
      }
      if (request[0] === ANSWER) {
        return void this.talks.answer(at, request, elsewhere);
      }
      this.#pieces.forget();
      this.count++;
      asked = this.#reader.read(request);
      if (asked === undefined) {
        this.count--;
        return void replyWithout(this.slots, at, elsewhere);
      }
      if ((request[0]! & WITH_PORT) !== 0) {
        const come = receive(this.#hosts.ends, request, asked);
        if (come === false) {
          this.count--;
          return void replyWithout(this.slots, at, elsewhere);
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
    let come: boolean;
    try {
      const attempt = () => receive(this.#hosts.ends, request, asked);
      const { signal } = watched.control;
      this.#late++;
      try {
        come = await arrival(this.#hosts.ends, attempt, true, signal);
      } finally {
        this.#late--; // the method begins before anybody looks at it
      }
      this.#watches.end(watched);
      if (come) return await this.#run(at, request, asked, true);
      this.count--;
      replyWithout(this.slots, at, elsewhere);
    } catch (error) {
      this.#watches.end(watched);
      this.#throw(at, error);
    }
  }

  async #handleAsync(
    at: number,
    asked: Asked,
    result: PromiseLike<unknown>,
    watched: Watched | undefined,
    talk: Talk | undefined,
  ): Promise<void> {
    this.#watches.lookOut();
    const call = talk ?? at;
    this.#awaited.add(call);
    let answer: (at: number) => void;
    try {
      const value = await result;
      answer = (at) => this.#return(at, asked, value);
    } catch (error) {
      answer = (at) => this.#throw(at, error);
    }
    if (!this.#awaited.delete(call)) return; // the server has ended
    this.#watches.end(watched);
    this.#finish(at, talk, answer);
  }

  /** Answers a call: at once, or, of a talk, where its caller waits next. */
  #finish(
    at: number,
    talk: Talk | undefined,
    answer: (at: number) => void,
  ): void {
    if (talk === undefined) return answer(at);
    this.talks.finish(talk, (at) => {
      const needed = this.talks.keep(talk, at);
      if (needed.length > 0) {
        const bytes = beforeOf(this.slots.id, needed);
        this.#before = { bytes, lost: () => this.talks.forget(talk) };
      }
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

  /**
   * The callers of all calls that are under way have given up: frees the slots
   * of these calls. Nothing is written there when their methods end.
   */
  forget(): void {
    for (const call of this.#awaited) {
      if (typeof call === "number") this.#send(call, NOTHING, () => 0);
      else this.talks.lose(call);
    }
    this.#awaited.clear();
    this.#watches.stop();
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

  /** Answers with what an iterator has returned. A release returns nothing. */
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
    } else this.#send(at, what, (into) => encoded(this.#codec, value, into));
  }

  /** Sends a result by the port, and answers with where it is. */
  #sendBeside(at: number, end: End, what: number, value: unknown): void {
    const parcel = end.parcel([value], "The result");
    parcel.post();
    const write = (into: Uint8Array) => {
      if (into.length > NAMED_BYTES) {
        into[0] = what;
        end.write(into, 1, parcel.number);
      }
      return 1 + NAMED_BYTES;
    };
    const drop = () => parcel.drop();
    if (!this.#send(at, BESIDE, write, drop)) drop();
  }

  /** Keeps an object here, and answers with its key. */
  #keep(at: number, kind: number, object: object): void {
    const { slots } = this;
    const owner = callerOf(slots.words, at);
    const hosted = { object, owner, iterates: kind === ITERATOR };
    const key = this.#hosts.add(slots.id, hosted);
    const write = (into: Uint8Array) => {
      into[0] = kind;
      return 1 + writeUtf8(key, into.subarray(1));
    };
    const release = () => this.#hosts.release(key);
    if (!this.#send(at, OBJECT, write, release)) release();
  }

  #throw(at: number, thrown: unknown): void {
    if (!isError(thrown)) {
      try {
        const write = (into: Uint8Array) =>
          thrown === undefined ? 0 : encoded(this.#codec, thrown, into);
        return void this.#send(at, THROWN, write);
      } catch {
        thrown = unsendable("The method", thrown);
      }
    }
    const own = ownOf(thrown as Error, this.#classes);
    const text = errorText(thrown, own);
    this.#send(at, ERROR, (into) => writeUtf8(text, into));
  }

  /**
   * Replies what `encode` writes, or the first piece of it; returns whether the
   * caller waits. If it does, and then gives up amid the pieces, `lost` is
   * called.
   */
  #send(
    at: number,
    what: number,
    encode: (into: Uint8Array) => number,
    lost?: () => void,
  ): boolean {
    const { slots } = this;
    if (!slots.serves(at)) return this.#isWanted = false;
    const before = this.#before;
    if (before !== undefined) {
      const also = lost;
      lost = () => (before.lost(), also?.());
      encode = after(before.bytes, what, encode);
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
    return this.#isWanted = this.#pieces.send(at, what, bytes, lost);
  }
}

/** What comes before an answer. */
interface Before {
  readonly bytes: Uint8Array;
  /** Called if the caller never has all of the answer. */
  lost(): void;
}

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
