/**
 * How a server calls functions back that its callers have passed to it.
 *
 * A call with functions is a talk. While the method runs, its caller waits in a
 * slot. To call back, the server answers that slot with a CALLBACK; the caller
 * runs the function, and posts an ANSWER, by which it tells the result and
 * waits on. Calls back go in order, and the result of the method comes after
 * them. After the method has returned, a caller that awaits listens in one
 * slot, for all its functions that the server still has.
 *
 * @module
 */

import { DISPOSE } from "../_memory/dispose.ts";
import { onGarbage } from "../_message/garbage.ts";
import { type Codec, encoded, encodeWhole } from "../_message/message.ts";
import { errorText } from "../_message/thrown.ts";
import { writeUtf8 } from "../_message/utf8.ts";
import { ClosedError } from "../_queue/queue.ts";
import { callerOf, isOf, isServed } from "./ring/call.ts";
import { CallError } from "./ring/answers.ts";
import type { Slots } from "./ring/slots.ts";
import { REQUEST } from "./ring/words.ts";
import { blockingIterator, RemoteIterator } from "./iterators.ts";
import type { Watched } from "./watch.ts";
import {
  ANSWER_AGENT,
  ANSWER_HEAD,
  ANSWER_NUMBER,
  ANSWER_TALK,
  CALL,
  CALLBACK,
  CALLBACK_HEAD,
  ERROR,
  FOR_CALLER,
  FUNCTION,
  GAVE_UP,
  GIVEN,
  LISTENS,
  mayListen,
  NEXT,
  NOTHING,
  putWord,
  RELEASED,
  RESULT,
  RETURN,
  THROW,
  THROWN,
  wordAt,
} from "./wire.ts";

/** One call with functions, or a caller that listens. */
export class Talk {
  /** The slot in which the caller waits; 0 if it does not wait. */
  at = 0;
  /** The slot that the caller keeps while it runs a function; else 0. */
  held = 0;
  /** Its method has returned, and the caller has the result. */
  over = false;
  /** The caller has given up. */
  lost = false;
  watched: Watched | undefined;
  /** Answers the call, in a slot; false if its caller has given up. */
  final: ((at: number) => boolean) | undefined;
  /** Calls back that wait for the slot. */
  readonly queue: Uint8Array[] = [];
  /** The functions may not be called after the method has returned. */
  refused = false;
  /** How many functions a caller that listens has kept. */
  kept = 0;
  /**
   * Where such a caller, which does not listen now, may listen next: the slots
   * in which it was told of its functions.
   */
  readonly offered: Set<number> = new Set();
  /** Functions that are not needed any more, and of which the caller hears. */
  released: Kept[] = [];
  /** The functions of this call that are still needed. */
  readonly functions: Set<number> = new Set();
  /** The caller that listens for calls of them, once it keeps them. */
  listener: Talk | undefined;

  constructor(
    readonly key: string,
    readonly client: string,
    readonly blocks: boolean,
  ) {}
}

/** After this many ms, a server that blocks looks whether its caller died. */
const LOOK = 1000;

/** A call back, and who waits for its result. */
interface Invocation {
  readonly talk: Talk;
  readonly talks: Talks;
  resolve(value: unknown): void;
  reject(reason: unknown): void;
}

/** The talks of all servers of an agent for one ring. */
export class Desk {
  readonly talks: Map<string, Talk> = new Map();
  readonly listeners: Map<string, Talk> = new Map();
  readonly invocations: Map<number, Invocation> = new Map();
  invoked = 0;
}

/** What a server does for its talks. */
interface Line {
  readonly slots: Slots;
  readonly codec: Codec<unknown>;
  /** Answers a slot; false if its caller has given up. */
  send(at: number, what: number, encode: (into: Uint8Array) => number): boolean;
  /** The value in a message. */
  decode(what: number, bytes: Uint8Array): unknown;
  /** Blocks for the next call, some ms, and serves it; false at the end. */
  readonly serveNext: ((timeout: number) => boolean) | undefined;
}

const ENDED = "The server has ended before the caller answered";

/** A function or an iterator of a caller. */
interface Kept {
  readonly talk: Talk;
  readonly id: number;
  released: boolean;
}

/**
 * Errors that say that nobody answers any more. They are nobody's mistake, so a
 * method that does not await its calls back need not hear of them: a rejection
 * that nobody handles would end the agent, for all callers.
 */
const losses = new WeakSet<Error>();

function loss(error: Error): Error {
  losses.add(error);
  return error;
}

const ended = () => loss(new ClosedError(ENDED));
const died = () => loss(new CallError("The caller has given up"));

const ofClient = (caller: number, client: number) => `${caller}/${client}`;
const ofCall = (caller: number, token: number) => `${caller} ${token}`;

/** The talks of one server. */
export class Talks {
  readonly #line: Line;
  readonly #desk: Desk;
  /** No answer of a caller comes to this server any more. */
  #stopped = false;
  readonly #releasing = (kept: Kept): void => this.#release(kept);

  constructor(line: Line, desk: Desk) {
    this.#line = line;
    this.#desk = desk;
  }

  /** Whether an answer of a caller may come. */
  get expects(): boolean {
    const { talks, listeners } = this.#desk;
    return talks.size + listeners.size > 0;
  }

  /** Begins the talk of a call at a slot. */
  begin(at: number, token: number, client: number, blocks: boolean): Talk {
    const caller = callerOf(this.#line.slots.words, at);
    const key = ofCall(caller, token);
    const talk = new Talk(key, ofClient(caller, client), blocks);
    talk.at = at;
    this.#desk.talks.set(key, talk);
    return talk;
  }

  /** What stands for a function or an iterator of the caller. */
  standFor(talk: Talk, kind: number, id: number): unknown {
    talk.functions.add(id);
    const kept: Kept = { talk, id, released: false };
    const release = () => this.#release(kept);
    const step = (what: number) => (args: unknown[]) =>
      this.#invoke(kept, what, args);
    if (kind === FUNCTION) {
      const call = step(CALL);
      const fn = (...args: unknown[]): unknown => call(args);
      Object.defineProperty(fn, DISPOSE, { value: release });
      onGarbage(fn, this.#releasing, kept);
      return fn;
    }
    const steps = {
      next: step(NEXT),
      return: step(RETURN),
      throw: step(THROW),
      over: release,
      failed: release,
    };
    const iterator = this.#line.serveNext === undefined
      ? new RemoteIterator(steps)
      : blockingIterator(steps);
    onGarbage(iterator, this.#releasing, kept);
    return iterator;
  }

  #release(kept: Kept): void {
    if (kept.released) return;
    kept.released = true;
    const { talk, id } = kept;
    const { listener } = talk;
    talk.functions.delete(id);
    if (listener === undefined || listener.lost) return; // the caller has none
    listener.released.push(kept);
    this.#pump(listener);
  }

  /** The talk by which a function is called back now. */
  #talkFor({ talk, released }: Kept): Talk {
    if (released) throw new TypeError("The function was released");
    if (this.#stopped) throw ended();
    if (talk.lost) throw died();
    if (!talk.over) return talk;
    if (talk.blocks) {
      throw new TypeError(
        "The caller blocks: it is called back only until the method returns",
      );
    }
    if (talk.refused) {
      throw new TypeError(
        "To call back after the method has returned needs a ring of 2 slots " +
          "for each caller that is called back so",
      );
    }
    const { listener } = talk;
    if (listener === undefined || listener.lost) throw died();
    return listener;
  }

  #invoke(kept: Kept, what: number, args: unknown[]): unknown {
    const { serveNext } = this.#line;
    if (serveNext === undefined) {
      let settle!: [(value: unknown) => void, (reason: unknown) => void];
      const result = new Promise((...functions) => settle = functions);
      const [resolve, reject] = settle;
      const fail = (reason: unknown): void => {
        reject(reason);
        if (losses.has(reason as Error)) result.catch(() => {});
      };
      try {
        this.#begin(kept, what, args, resolve, fail);
      } catch (error) {
        fail(error);
      }
      return result;
    }
    let result: (() => unknown) | undefined;
    const number = this.#begin(kept, what, args, (value) => {
      result = () => value;
    }, (reason) => {
      result = () => {
        throw reason;
      };
    });
    while (result === undefined) {
      if (serveNext(LOOK)) continue;
      this.#desk.invocations.delete(number);
      throw new ClosedError("The ring was closed before the caller answered");
    }
    return result();
  }

  /** Calls back; returns the number of the call back. */
  #begin(
    kept: Kept,
    what: number,
    args: unknown[],
    resolve: (value: unknown) => void,
    reject: (reason: unknown) => void,
  ): number {
    const talk = this.#talkFor(kept);
    const { codec, slots } = this.#line;
    const number = this.#desk.invoked = this.#desk.invoked + 1 | 0;
    const bytes = encodeWhole(codec.name, 64, (into) => {
      if (into.length < CALLBACK_HEAD) return CALLBACK_HEAD;
      putWord(into, 0, slots.id);
      putWord(into, 4, number);
      putWord(into, 8, kept.id);
      into[12] = what;
      if (args.length === 0) return CALLBACK_HEAD;
      return CALLBACK_HEAD + encoded(codec, args, into.subarray(CALLBACK_HEAD));
    });
    const invocation = { talk, talks: this, resolve, reject };
    this.#desk.invocations.set(number, invocation);
    talk.queue.push(bytes);
    this.#pump(talk);
    return number;
  }

  /** Looks whether callers have died that run functions, or listen. */
  look(): void {
    const { invocations, listeners } = this.#desk;
    for (const { talk } of invocations.values()) {
      if (!talk.lost && this.#isGone(talk)) this.lose(talk);
    }
    for (const listener of listeners.values()) {
      if (this.#isGone(listener)) this.lose(listener);
    }
  }

  /**
   * A call has come in a slot. If a caller kept the slot while it ran a
   * function, it has left it: it has given up, and calls again, perhaps in the
   * same agent.
   */
  called(at: number): void {
    const { invocations } = this.#desk;
    if (invocations.size === 0) return;
    for (const { talk } of invocations.values()) {
      if (talk.held === at) this.lose(talk);
    }
  }

  /**
   * Whether the caller is known to be dead, or has left the slot in which it
   * waits, or that it keeps while it runs a function, or before it listens.
   */
  #isGone({ client, at, held, offered }: Talk): boolean {
    const { slots } = this.#line;
    const id = parseInt(client, 10);
    const isIn = (slot: number) => isOf(slots.words, slot, id);
    if (slots.isDead(id)) return true;
    const slot = at || held;
    if (slot !== 0) return !isIn(slot);
    return offered.size > 0 && ![...offered].some(isIn);
  }

  /** Says what is to be said next, if the caller waits for it. */
  #pump(talk: Talk): void {
    const { at, watched, final } = talk;
    if (at === 0) return;
    const bytes = talk.queue.shift();
    if (bytes !== undefined) {
      this.#leave(talk, at);
      if (!this.#line.send(at, CALLBACK, putting(bytes))) this.lose(talk);
    } else if (final !== undefined) {
      talk.at = 0;
      talk.over = true;
      talk.final = undefined; // it has the arguments
      this.#desk.talks.delete(talk.key);
      // Who has given up does not know that functions are kept.
      if (!final(at)) this.forget(talk);
    } else if (talk.released.length > 0) {
      const ids = talk.released.splice(0).map(({ id }) => id);
      this.#leave(talk, 0);
      talk.kept -= ids.length;
      talk.offered.add(at);
      this.#line.send(at, RELEASED, puttingWords(ids));
    } else if (watched !== undefined) {
      watched.at = at;
      Atomics.store(this.#line.slots.words, at + REQUEST, GIVEN);
    }
  }

  /** The caller does not know that it shall keep the functions of a talk. */
  forget(talk: Talk): void {
    const { listener } = talk;
    talk.lost = true;
    talk.listener = undefined;
    if (listener === undefined) return;
    const others = listener.released.filter((kept) => kept.talk !== talk);
    const untold = listener.released.length - others.length;
    listener.released = others;
    listener.kept -= talk.functions.size + untold;
    if (listener.kept === 0) this.lose(listener); // it does not listen
  }

  #leave(talk: Talk, held: number): void {
    const { watched } = talk;
    talk.at = 0;
    talk.held = held;
    // If the caller has given up, it says why in the slot, and this looks
    // there.
    if (watched === undefined || watched.control.signal.aborted) return;
    watched.at = 0;
  }

  /** The caller of a talk has given up. */
  lose(talk: Talk, reason?: unknown): void {
    talk.watched?.control.abort(reason);
    talk.over = talk.lost = true;
    talk.queue.length = talk.held = 0;
    talk.final = undefined;
    const { talks, listeners } = this.#desk;
    talks.delete(talk.key);
    if (listeners.get(talk.key) === talk) listeners.delete(talk.key);
    this.#reject((invocation) => invocation.talk === talk, died);
    const { at } = talk;
    talk.at = 0;
    const { slots } = this.#line;
    if (at === 0 || !isServed(slots.words, at, slots.id)) return;
    this.#line.send(at, NOTHING, () => 0); // it frees the slot
  }

  #reject(which: (of: Invocation) => boolean, why: () => Error): void {
    for (const [number, invocation] of this.#desk.invocations) {
      if (!which(invocation)) continue;
      this.#desk.invocations.delete(number);
      invocation.reject(why());
    }
  }

  /** The method of a call has ended: `final` answers it, in a slot. */
  finish(talk: Talk, final: (at: number) => boolean): void {
    talk.watched = undefined;
    if (talk.lost) return; // nobody waits for it
    talk.final = final;
    this.#pump(talk);
  }

  /** Takes an ANSWER of a caller; if it is another server's, says so. */
  answer(at: number, request: Uint8Array, elsewhere: number): void {
    const { slots } = this.#line;
    const say = (what: number) => this.#line.send(at, what, () => 0);
    if (wordAt(request, ANSWER_AGENT) !== slots.id) return void say(elsewhere);
    const listens = request[LISTENS]!;
    if (listens !== GAVE_UP) this.#settle(request);
    if (listens === 0) return void say(NOTHING);
    const caller = callerOf(slots.words, at);
    const number = wordAt(request, ANSWER_TALK);
    const { talks, listeners } = this.#desk;
    const talk = listens === FOR_CALLER
      ? listeners.get(ofClient(caller, number))
      : talks.get(ofCall(caller, number));
    if (talk === undefined) {
      if (listens === GAVE_UP) return void say(NOTHING);
      const text = errorText(ended());
      this.#line.send(at, ERROR, (into) => writeUtf8(text, into));
      return;
    }
    if (listens === GAVE_UP) {
      this.lose(talk, this.#reasonIn(request));
      return void say(NOTHING);
    }
    talk.at = at;
    talk.held = 0;
    talk.offered.clear();
    this.#pump(talk);
  }

  #reasonIn(request: Uint8Array): unknown {
    const reason = request.subarray(ANSWER_HEAD);
    try {
      return this.#line.decode(request[RESULT]!, reason);
    } catch {
      return undefined; // the codec refuses it
    }
  }

  /** Tells the result of a call back, if there is one, to who waits for it. */
  #settle(request: Uint8Array): void {
    const what = request[RESULT]!;
    const { invocations } = this.#desk;
    const number = wordAt(request, ANSWER_NUMBER);
    const invocation = invocations.get(number);
    if (what === 0 || invocation === undefined) return;
    invocations.delete(number);
    try {
      const value = this.#line.decode(what, request.subarray(ANSWER_HEAD));
      if (what === ERROR || what === THROWN) invocation.reject(value);
      else invocation.resolve(value);
    } catch (error) {
      invocation.reject(error);
    }
  }

  /**
   * The numbers of a talk's functions that its caller shall keep, because they
   * are still needed. A caller that keeps functions listens in a slot, so only
   * some callers may.
   */
  keep(talk: Talk, at: number): number[] {
    const ids = talk.blocks ? [] : [...talk.functions];
    if (ids.length === 0) return ids;
    const { listeners } = this.#desk;
    const { client } = talk;
    let listener = listeners.get(client);
    if ((listener?.kept ?? 0) === 0 && !this.#mayListen(at)) {
      talk.refused = true;
      return [];
    }
    listener ??= new Talk(client, client, false);
    listeners.set(client, listener);
    talk.listener = listener;
    listener.kept += ids.length;
    listener.offered.add(at);
    return ids;
  }

  /**
   * Whether the caller of the call in slot `at` may listen, too: half of the
   * slots are for calls.
   */
  #mayListen(at: number): boolean {
    const { slots } = this.#line;
    let most = Math.max(1, slots.count >> 1);
    for (const listener of this.#desk.listeners.values()) {
      if (listener.kept === 0) continue;
      if (this.#isGone(listener)) this.lose(listener);
      else most--;
    }
    return slots.count > 1 && most > 0 && mayListen(slots, at, most);
  }

  /**
   * No answer of a caller comes any more: methods that still run fail as soon
   * as they call back.
   */
  stop(): void {
    this.#stopped = true;
    this.#reject(({ talks }) => talks === this, ended);
  }

  /** Nor does another server of this agent wait for one. */
  end(): void {
    const { listeners, talks } = this.#desk;
    for (const listener of listeners.values()) this.lose(listener);
    talks.clear();
  }
}

const putting = (bytes: Uint8Array) => (into: Uint8Array): number => {
  if (bytes.length <= into.length) into.set(bytes);
  return bytes.length;
};

/** Puts words, the first of which is at byte 0. */
function puttingWords(words: readonly number[]) {
  return (into: Uint8Array): number => {
    const length = 4 * words.length;
    if (length > into.length) return length;
    for (const [i, word] of words.entries()) putWord(into, 4 * i, word);
    return length;
  };
}
