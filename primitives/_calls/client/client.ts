/**
 * The caller of typed calls: writes the requests that `serve` answers.
 *
 * @module
 */

import { describe } from "../../_memory/describe.ts";
import type { Codec } from "../../_message/message.ts";
import { classesOf } from "../../_message/own_errors.ts";
import { isError } from "../../_message/thrown.ts";
import { ClosedError } from "../../_queue/queue.ts";
import { offAbort, onAbort } from "../../_wait/aborts.ts";
import { spin, spinPatiently } from "../../_wait/spin.ts";
import {
  assertTimeout,
  block,
  tryBlockAsync,
  type Waiting,
} from "../../_wait/wait.ts";
import { type End, endOf, goesBeside, type Parcel } from "../beside.ts";
import { cancel, giveUp, isAnswered } from "../ring/call.ts";
import { Lookout } from "../ring/lookout.ts";
import type { Slots } from "../ring/slots.ts";
import { REQUEST } from "../ring/words.ts";
import {
  type Answer,
  Exchanges,
  isKept,
  isWhole,
  type Keeps,
} from "./exchange.ts";
import {
  BLOCKED,
  type CallBack,
  Functions,
  type Outcome,
  staysHere,
} from "./functions.ts";
import { iterable } from "../iterators.ts";
import { type CallOptions, HeldObjects } from "./objects.ts";
import {
  assertFits,
  assertPlace,
  type Call,
  prepared,
  requestOf,
  roomIn,
  withList,
  withParcel,
  withPlaces,
  writeReason,
  written,
} from "./requests.ts";
import type { Ends, Invoke } from "../remote.ts";
import type { ConnectOptions } from "../types.ts";
import {
  assertBlocking,
  BLOCKING,
  CALLBACK,
  codecOf,
  ELSEWHERE,
  ERROR,
  FOR_CALL,
  FOR_CALLER,
  GAVE_UP,
  GIVEN,
  isSignal,
  KEPT,
  MORE,
  PIECE,
  REASON,
  REASON_LENGTH,
  RELEASED,
  THROWN,
  wordAt,
} from "../wire.ts";
import { answerAt, Decoder, wordsIn } from "./answers.ts";
import type { Begun, How, Pending, Saying } from "./under_way.ts";

let calls = 0; // those of this agent

/** Makes the calls of one `connect`. */
export class Client extends Exchanges {
  readonly #codec: Codec<unknown>;
  readonly #timeout: number;
  readonly #ref: boolean;
  readonly #lookout: Lookout<Pending>;

  /** What a method threw last. */
  thrown: unknown;
  /** Errors that methods threw. */
  readonly #thrown = new WeakSet();
  readonly #blocks: boolean;
  readonly #around: (invoke: Invoke) => Invoke;
  readonly #objects: HeldObjects;
  readonly #functions: Functions;
  /** The agents for whose calls back it listens. */
  readonly #listening: Set<number> = new Set();
  readonly #end: End | undefined;
  readonly #decoder: Decoder;

  constructor(
    takeSlots: () => Slots,
    options: ConnectOptions,
    blocks: boolean,
    around: (invoke: Invoke) => Invoke = (invoke) => invoke,
  ) {
    if (blocks) assertBlocking("connect");
    const { timeout = Infinity, ref = true } = options;
    assertTimeout(timeout);
    if (typeof ref !== "boolean") {
      throw new TypeError(`ref must be a boolean: received ${describe(ref)}`);
    }
    const codec = codecOf(options);
    const classes = classesOf(options.errors ?? []);
    super(takeSlots());
    this.#codec = codec;
    this.#functions = new Functions(codec, classes);
    this.#blocks = blocks;
    this.#around = around;
    this.#objects = new HeldObjects({
      blocks,
      prepared: (name, what) => this.#prepared(name, what),
      invoke: (call) => this.#invoke(call),
      call: (...how) => this.#call(...how),
      callAsync: (...how) => this.#callAsync(...how),
      threw: (error) =>
        error === this.thrown || this.#thrown.has(error as object),
    });
    this.#timeout = timeout;
    this.#ref = ref;
    this.#lookout = new Lookout<Pending>(
      this.slots,
      (call) => this.#take(call),
      (call) => {
        const { at, token, signal } = call;
        const path = this.path(token, at, signal);
        call.resolve(this.#await(path, call, at));
      },
    );
    const end = this.#end = endOf(options.port, blocks);
    const objects = this.#objects;
    this.#decoder = new Decoder(codec, classes, objects, end, blocks, ref);
    if (!blocks) end?.listen();
  }

  /** The ends of the object that is served. */
  ends(): Ends {
    return this.#objects.ends();
  }

  #invoke(call: Call): Invoke {
    return this.#blocks
      ? this.#around((args) =>
        args.some(isSpecial)
          ? this.#callWith(call, args)
          : this.#call(call, args)
      )
      : (args) => {
        try {
          return args.some(isSpecial)
            ? this.#callWithAsync(call, args)
            : this.#callAsync(call, args);
        } catch (error) {
          return iterable(Promise.reject(error));
        }
      };
  }

  /** Takes the functions, and what goes beside the ring, out of `args`. */
  #packed(call: Call, args: unknown[], bits: number) {
    const [packed, copied, parcel] = withParcel(
      this.#codec,
      this.#end,
      call,
      args,
    );
    const [rest, list, ids] = this.#functions.take(copied);
    const whole = ids.length > 0 ? withList(packed, list, bits) : packed;
    return { whole, rest, ids, parcel };
  }

  /** Calls with functions, which are called back, or with what goes beside. */
  #callWithAsync(call: Call, args: unknown[]): Promise<unknown> {
    const { whole, rest, ids, parcel } = this.#packed(call, args, 0);
    const result = this.#callAsync(whole, rest, { parcel });
    const end = () => this.#functions.end(ids);
    result.then(end, end);
    result.catch(() => parcel?.drop());
    return result;
  }

  #callWith(call: Call, args: unknown[]): unknown {
    const { whole, rest, ids, parcel } = this.#packed(call, args, BLOCKING);
    try {
      return this.#call(whole, rest, { parcel });
    } catch (error) {
      parcel?.drop();
      throw error;
    } finally {
      this.#functions.end(ids);
    }
  }

  #prepared(name: string, what: number): Call {
    const call = prepared(this.#codec, name, what);
    return this.#end === undefined ? call : withPlaces(call, this.#end, 0, []);
  }

  /**
   * Writes a call to a free slot, and posts it. Returns the slot; 0 if there is
   * none, or if the call is too long for it.
   */
  #post(call: Call, args: unknown[], token: number, signalAt: number): number {
    const slots = this.slots;
    const at = slots.begin();
    if (at === 0) return 0;
    let length = Infinity; // unless it is written
    try {
      const room = call.rooms[slots.numberOf(at)] ??= roomIn(
        slots.room(at),
        call,
      );
      if (room.message.length >= call.head.length) {
        length = written(this.#codec, call, room, args, token, signalAt);
      }
    } finally {
      // It does not fit, or the codec has refused it.
      if (length > slots.maxRequest) cancel(slots.words, at);
    }
    if (length > slots.maxRequest) {
      if (length < Infinity) call.longest = Math.max(call.longest, length);
      return 0;
    }
    slots.publish(at, length);
    return at;
  }

  /** Posts a call; if no slot can have it now, it has its request only. */
  #begin(call: Call, args: unknown[], parcel: Parcel | undefined): Begun {
    const signalAt = args.findIndex(isSignal);
    assertPlace(signalAt);
    const signal = args[signalAt] as AbortSignal | undefined;
    if (signal?.aborted) throw signal.reason;
    const token = calls = calls + 1 | 0;
    const posts = parcel === undefined;
    const at = posts ? this.#post(call, args, token, signalAt) : 0;
    let request: Uint8Array | undefined;
    if (at === 0) {
      request = requestOf(this.#codec, call, args, token, signalAt);
      assertFits(request, this.slots.maxRequest);
      this.#send(parcel);
    }
    return { token, signal, at, request };
  }

  /** Calls and awaits. */
  #callAsync(
    call: Call,
    args: unknown[],
    { ref = this.#ref, timeout = this.#timeout, parcel }: CallOptions = {},
  ): Promise<unknown> {
    const result = new Promise((resolve, reject) => {
      const { token, signal, at, request } = this.#begin(call, args, parcel);
      const how = { token, signal, ref, timeout };
      if (at !== 0) this.#lookout.add({ at, ...how, resolve, reject });
      else resolve(this.#await(this.path(token, 0, signal, request), how));
    });
    return iterable(result);
  }

  /** Calls and blocks. */
  #call(
    call: Call,
    args: unknown[],
    { timeout = this.#timeout, parcel }: CallOptions = {},
  ): unknown {
    const begun = this.#begin(call, args, parcel);
    const { token, signal, request } = begun;
    let { at } = begun;
    const { slots } = this;
    const isWaiting = timeout > 0;
    if (isWaiting && at === 0 && request!.length <= slots.maxRequest) {
      at = spin(() => slots.post(request!) || undefined) ?? 0;
    }
    if (at !== 0 && isWaiting) spinPatiently(() => isAnswered(slots.words, at));
    const path = this.path(token, at, signal, request);
    let answer = block(path, timeout);
    while (answer?.what === CALLBACK) {
      answer = this.#callBack(answer.value as CallBack, token);
    }
    return this.#result(answer);
  }

  /** Sends what goes beside a request that is about to be posted. */
  #send(parcel: Parcel | undefined): void {
    if (parcel === undefined) return;
    if (this.slots.closed) throw new ClosedError("The ring is closed");
    parcel.post();
  }

  /** Is called back, and blocks until the server says something again. */
  #callBack(callBack: CallBack, call: number): Answer | undefined {
    let outcome = this.#functions.run(callBack);
    if (outcome instanceof Promise) {
      outcome = this.#functions.threw(new TypeError(BLOCKED));
    }
    const path = this.#say(callBack, [FOR_CALL, call, outcome]);
    return block(path, this.#timeout);
  }

  /** Takes the answer of a call that has one. */
  #take(call: Pending): void {
    const { at, token, signal, resolve, reject } = call;
    try {
      const answer = this.read(at);
      if (isWhole(answer)) resolve(this.#endOf(answer, call));
      else {
        const path = this.toEnd(token, signal, answer);
        resolve(this.#await(path, call, answer.at));
      }
    } catch (error) {
      reject(error);
    }
  }

  /** Awaits a call; `at` is its slot if it has one. */
  async #await(
    path: Waiting<Answer | undefined>,
    how: How,
    at = 0,
  ): Promise<unknown> {
    let begun = false;
    const begin = () => {
      begun = true;
      return path;
    };
    const { timeout, signal, ref } = how;
    try {
      const answer = await tryBlockAsync(begin, { timeout, signal, ref });
      return await this.#endOf(answer, how);
    } finally {
      if (!begun && at !== 0) { // it was aborted before
        this.tell(at, signal);
        if (!giveUp(this.slots.words, at)) this.#readUnwanted(at);
      }
    }
  }

  /** Lets go what came with an answer that nobody waits for. */
  #readUnwanted(at: number): void {
    try {
      if (this.read(at).at !== 0) cancel(this.slots.words, at);
    } catch {
      // It was an error.
    }
  }

  /** The result of a call, unless the server calls back before. */
  #endOf(answer: Answer | undefined, how: How): unknown {
    if (answer?.what !== CALLBACK) return this.#result(answer);
    return this.#talk(answer.value as CallBack, how);
  }

  /** Is called back, until the call is over. */
  async #talk(
    callBack: CallBack,
    { token: call, signal, timeout, ref }: How,
  ): Promise<unknown> {
    for (;;) {
      const outcome = await orAborted(this.#functions.run(callBack), signal);
      if (signal?.aborted) {
        const { reason } = signal;
        const why = this.#functions.threw(reason);
        void this.#listenOn(callBack, [GAVE_UP, call, why]);
        throw reason;
      }
      const saying: Saying = [FOR_CALL, call, outcome!];
      // If the signal aborts while the outcome is written, the wait gives the
      // slot back: it has begun by then.
      const say = () => this.#say(callBack, saying, signal);
      const answer = await tryBlockAsync(say, { timeout, signal, ref });
      if (answer?.what !== CALLBACK) return this.#result(answer);
      callBack = answer.value as CallBack;
    }
  }

  /** The path that tells the server something, and waits for what it says. */
  #say(
    to: Pick<CallBack, "agent" | "number" | "at">,
    [listens, talk, outcome]: Saying,
    signal?: AbortSignal,
  ): Waiting<Answer | undefined> {
    const token = calls = calls + 1 | 0;
    let { at } = to;
    try {
      const request = this.#functions.answer(to, token, listens, talk, outcome);
      assertFits(request, this.slots.maxRequest);
      const kept = at;
      if (kept === 0) return this.path(token, 0, signal, request);
      at = 0; // else it is given back
      return this.say(kept, token, signal, request);
    } finally {
      if (at !== 0) cancel(this.slots.words, at);
    }
  }

  /** Tells a server something that is not to keep the process alive. */
  async #listenOn(
    to: Pick<CallBack, "agent" | "number" | "at">,
    saying: Saying,
  ): Promise<Answer | undefined> {
    try {
      const path = this.#say(to, saying);
      return await tryBlockAsync(() => path, { timeout: Infinity, ref: false });
    } catch {
      return undefined; // it has ended, or the ring was closed
    }
  }

  /**
   * Is called back after calls are over, while the agent has functions. It
   * listens in the slot `at`, and keeps that slot. If it gave the slot back,
   * calls that wait for these functions could take all slots.
   */
  async #listen(agent: number, at: number): Promise<void> {
    const functions = this.#functions;
    let to = { agent, number: 0, at };
    let outcome: Outcome | undefined;
    this.#listening.add(agent);
    await undefined; // this is called in a wait for the same slot
    while (functions.isKept(agent)) {
      const saying: Saying = [FOR_CALLER, functions.client, outcome];
      const answer = await this.#listenOn(to, saying);
      to = { agent, number: 0, at: answer?.at ?? 0 };
      outcome = undefined;
      if (answer?.what === CALLBACK) {
        to = answer.value as CallBack;
        outcome = await functions.run(to as CallBack);
      } else if (answer?.what === RELEASED) {
        functions.release(agent, answer.value as number[]);
      } else break; // the server has ended
    }
    if (to.at !== 0) cancel(this.slots.words, to.at);
    functions.release(agent);
    this.#listening.delete(agent);
  }

  /** Writes why this agent gives up, if the server has made room for that. */
  protected override tell(at: number, signal: AbortSignal | undefined): void {
    const { words } = this.slots;
    // Pairs with (G): the server does not use the request any more.
    if (Atomics.load(words, at + REQUEST) !== GIVEN) return;
    const reason = signal?.aborted ? signal.reason : this.#late();
    const room = this.slots.room(at).subarray(REASON);
    const [what, length] = writeReason(this.#codec, reason, room);
    if (length > room.length) return;
    // Published by the exchange that gives up.
    words[at + REASON_LENGTH] = length;
    words[at + REQUEST] = GIVEN | what << 8;
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
    if (what === ERROR || what === THROWN) {
      this.thrown = value;
      if (isError(value)) this.#thrown.add(value as object);
      throw value;
    }
    return value;
  }

  /** Reads the answer of a call, and gives its slot back if it is over. */
  protected override read(at: number, keeps?: Keeps): Answer {
    const bytes = answerAt(this.slots, at);
    const what = bytes[0] ?? 0;
    const body = bytes.subarray(1);
    const keepsIt = (what & MORE) !== 0 || isKept(what, keeps);
    if (!keepsIt && what !== ELSEWHERE) return this.whole(what, body, at);
    let kept = 0;
    try {
      const value = (what & MORE) !== 0 || what === PIECE
        ? body.slice()
        : what === ELSEWHERE
        ? this.slots.request(at).slice()
        : undefined;
      if (keepsIt) kept = at;
      return { what, value, at: kept };
    } finally {
      if (kept === 0) cancel(this.slots.words, at);
    }
  }

  /**
   * The answer in a whole reply. Gives its slot back, unless this agent says
   * the next thing there.
   */
  protected override whole(
    what: number,
    bytes: Uint8Array,
    at: number,
  ): Answer {
    let kept = 0;
    try {
      if (what === KEPT) {
        const agent = wordAt(bytes, 0);
        const end = 5 + 4 * bytes[4]!;
        if (this.#keeps(agent, wordsIn(bytes.subarray(5, end)))) {
          kept = at;
          void this.#listen(agent, at);
        }
        const of = bytes[end]!;
        return {
          what: of,
          value: this.#decoder.decode(of, bytes.subarray(end + 1)),
          at: 0,
        };
      }
      const value = this.#decoder.decode(what, bytes, at);
      if (what === CALLBACK || what === RELEASED) kept = at;
      return { what, value, at: kept };
    } finally {
      if (kept === 0) cancel(this.slots.words, at);
    }
  }

  /**
   * A server has kept functions: whether this agent begins to listen for calls
   * of them.
   */
  #keeps(agent: number, ids: readonly number[]): boolean {
    if (this.slots.count === 1) return false; // nobody can call back
    this.#functions.keep(agent, ids);
    return !this.#listening.has(agent) && this.#functions.isKept(agent);
  }
}

/** The outcome of a function; undefined if the signal aborts before it ends. */
function orAborted(
  outcome: Outcome | Promise<Outcome>,
  signal: AbortSignal | undefined,
): Outcome | undefined | Promise<Outcome | undefined> {
  if (signal === undefined || !(outcome instanceof Promise)) return outcome;
  if (signal.aborted) return undefined;
  return new Promise((resolve) => {
    const abort = () => resolve(undefined);
    onAbort(signal, abort, abort);
    outcome.then((outcome) => {
      offAbort(signal, abort);
      resolve(outcome);
    });
  });
}

/** Whether an argument does not go by the codec. */
const isSpecial = (value: unknown): boolean =>
  staysHere(value) || goesBeside(value);
