/**
 * Calls between agents. A call is a request of some bytes and its reply.
 *
 * @module
 */

import {
  bytesFor,
  type CallHandler,
  type CallRingConfig,
  checked,
  INSPECTION,
  Lookout,
  MAX_SLOTS,
  type Reply,
  Slots,
} from "./_calls/call_slots.ts";
import type { Elements } from "./_queue/elements.ts";
import {
  awaitOn,
  blockOn,
  tryAwaitOn,
  tryBlockOn,
  waitOn,
} from "./_wait/pending.ts";
import { disposedBy, type Disposer } from "./_memory/dispose.ts";
import { CALL_RING } from "./_memory/layout.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  allocate,
  assertFunction,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import { spin, spinPatiently } from "./_wait/spin.ts";
import { ASYNC, readOptions, TRY_ASYNC } from "./_memory/options.ts";
import {
  assertMayBlock,
  assertOptions,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  CallError,
  type CallHandler,
  type CallRingConfig,
  type Reply,
} from "./_calls/call_slots.ts";
export type { Elements } from "./_queue/elements.ts";
export { ClosedError } from "./_queue/queue.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** A call that awaits, and is not asleep yet. */
interface Awaiting {
  readonly at: number;
  /** Takes the answer. */
  take(): void;
  /** Awaits the answer, which did not come soon. */
  sleep(): void;
}

/** The options of `serveAsync`. */
export interface ServeOptions extends AsyncOptions {
  /**
   * How many calls `fn` may handle at a time; unless given, the number of
   * slots.
   */
  readonly limit?: number;
}

type RegionClass = abstract new (
  kind: "call_ring",
  words: Int32Array<SharedArrayBuffer>,
  inspection: WordsInspection,
) => Region<"call_ring">;

/**
 * The base of {@linkcode CallRing}: disposing closes it.
 *
 * @ignore
 */
export const CallRingBase: abstract new (
  ...args: ConstructorParameters<RegionClass>
) => Region<"call_ring"> & Disposer = /* @__PURE__ */ disposedBy(
  Region as unknown as RegionClass,
  "close",
);

/**
 * The base of {@linkcode PendingCall}: disposing cancels it.
 *
 * @ignore
 */
export const PendingCallBase: abstract new () => Disposer =
  /* @__PURE__ */ disposedBy(
    Object,
    "cancel",
  );

/**
 * Calls from any agent to any agent that serves. Each call has a slot of its
 * own for its request and its reply. So callers and servers may have several
 * calls under way at a time, and calls may be answered in any order.
 *
 * A worker that adds:
 *
 * ```ts
 * import { CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 8, reply: 8 }); // post ring.handle
 * const served = ring.serveAsync((request) => // in a worker: ring.serve(…)
 *   Float64Array.of(request.reduce((sum, byte) => sum + byte, 0))
 * );
 * const reply = await ring.callAsync(Uint8Array.of(1, 2, 3));
 * if (new Float64Array(reply.buffer)[0] !== 6) throw new Error("wrong sum");
 * ring.close();
 * await served;
 * ```
 *
 * One exchange of its state hands a slot over. Only the agent that the state
 * names writes to the slot. If a caller gives up while its call is served, the
 * slot belongs to the server, and the late reply is thrown away.
 *
 * Invariant: from its claim on, a slot is not FREE until the caller has the
 * answer, or until the caller gave up and no server has the call.
 * Progress: `tryPost`, `tryTake` and `tryServeOne`, answers and `cancel` are
 * lock-free; they look at each slot, and may miss one that changes meanwhile.
 * The other operations block. Any server may take a call that was posted. A
 * terminated caller keeps its slots until `abandon(id)` frees them. A
 * terminated server leaves the callers of the calls it took waiting until
 * `abandon(id)` answers them. An agent that is terminated at any other step
 * does no harm. Wrap: only the epochs count, and they are compared for equality
 * during a sleep of at most a second. A state names its owner, or an agent that
 * will never run again, so an old state is never mistaken for a new one.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: a server takes the slots in turn, so it passes over a call at most
 * once for each other slot. The first caller to find a free slot takes it. A
 * caller pauses for 2 ms each 50 ms while others find no free slot, so
 * that a caller that was woken finds one.
 * C twin: `weft_call_ring`. Source: slots as in the message buffers of seL4 and
 * LRPC (Bershad and others 1990). States with an owner are our own design.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic          Kind and layout version.
 * word 1   shape          bits 0-21   the most words of a request
 *                         bits 22-31  the number of slots, less 1
 * word 2   reply          The most bytes of a reply, a multiple of 4.
 * word 3   seal           Check word over the configuration.
 * word 4   closed         1 after `close`.
 * word 32  serve_epoch    Changes when sleeping servers must look again.
 *                         sleepers: servers
 * word 33  serve_waiters  bits 0-30  servers that sleep, or are about to
 *                         bit 31     one of them awaits, or did
 * word 34  look           The slot where a server written in C looks first.
 * word 64  slot_epoch     Changes when callers without a slot must look again.
 *                         sleepers: callers without a slot
 * word 65  slot_waiters   bits 0-30  callers that sleep there, or are about to
 *                         bit 31     one of them awaits, or did
 * word 66  pauses         How many pauses callers still owe to others, which
 *                         found no free slot.
 * word 96  The slots, each at a multiple of 32 words. A slot has four words:
 *          `state`, the agent id of the caller, the length of the request and
 *          the length of the reply. The bytes of both follow. In `state`, bits
 *          0-27 are the id of the agent that the state names. Bits 28-30 are 0
 *          FREE, 1 CLAIMED by a caller, 2 POSTED, 3 SERVING, 4 DROPPED (a
 *          server has it, and the caller gave up), 5 REPLIED, 6 FAILED or 7
 *          LOST (its server died). Bit 31 says that the caller sleeps there.
 *          Bit 28 of the caller says that it died.
 * ```
 */
export class CallRing extends CallRingBase {
  /** How many calls may be under way at a time. */
  readonly slots: number;
  /** The most bytes of a request. */
  readonly maxRequest: number;
  /** The most bytes of a reply. */
  readonly maxReply: number;
  readonly #slots: Slots;
  readonly #lookout: Lookout<Awaiting>;

  /**
   * Attaches to the ring at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no ring of this kind and
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach("call_ring", CALL_RING, memory, byteOffset, bytesFor);
    super("call_ring", words, INSPECTION);
    const slots = this.#slots = new Slots(words, agentId());
    this.#lookout = new Lookout(
      slots,
      (call) => call.take(),
      (call) => call.sleep(),
    );
    this.slots = slots.count;
    this.maxRequest = slots.maxRequest;
    this.maxReply = slots.maxReply;
  }

  /**
   * The bytes a ring of this configuration occupies.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config: CallRingConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a ring without calls.
   *
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config: CallRingConfig): CallRing {
    return CallRing.init(allocate(CallRing.byteLength(config)), 0, config);
  }

  /**
   * Initializes a ring without calls in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a ring's
   * configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: CallRingConfig,
  ): CallRing {
    const words = checked(config);
    const bytes = bytesFor(...words);
    format("call_ring", CALL_RING, memory, byteOffset, bytes, words);
    return new CallRing(memory, byteOffset);
  }

  /**
   * Attaches to the ring whose handle came in a message.
   *
   * @throws {TypeError} If the handle names another kind, or no ring is there.
   */
  static from(handle: Handle<"call_ring">): CallRing {
    return new CallRing(...fromHandle("call_ring", handle));
  }

  /** How many slots are in use; a moment later it may be another number. */
  get pending(): number {
    return this.#slots.pending;
  }

  /** Whether `close` was called; calls may still be under way. */
  get closed(): boolean {
    return this.#slots.closed;
  }

  /**
   * Makes a call: posts `request`, blocks until the reply comes, and returns a
   * copy of the reply.
   *
   * @throws {CallError} If the server's function threw, or the server was
   * abandoned.
   * @throws {ClosedError} If the ring was closed before the call was posted.
   * @throws {RangeError} If the request is longer than `maxRequest`.
   * @throws {TypeError} If `request` is neither a typed array nor a DataView,
   * or this agent may not block.
   */
  call(request: Elements): Uint8Array<ArrayBuffer> {
    assertMayBlock("call");
    return this.#call(request, undefined, this.#receive)!;
  }

  /**
   * As `call`, but waits at most `timeout` ms. Undefined if the time passed:
   * then the call was withdrawn, or its reply will be thrown away.
   */
  tryCall(
    request: Elements,
    timeout = 0,
  ): Uint8Array<ArrayBuffer> | undefined {
    if (timeout !== 0) assertMayTry("tryCall", timeout);
    return this.#call(request, timeout, this.#receive);
  }

  /**
   * As `call`, awaiting instead of blocking. Do not change `request` before the
   * promise settles: it is copied when a slot is free.
   */
  callAsync(
    request: Elements,
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.#callAsync(
      request,
      options,
      blockAsync,
      () => this.#receive,
    ) as Promise<Uint8Array<ArrayBuffer>>;
  }

  /** As `tryCall`, awaiting instead of blocking: see `callAsync`. */
  tryCallAsync(
    request: Elements,
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#callAsync(
      request,
      options,
      tryBlockAsync,
      () => this.#receive,
    );
  }

  /**
   * As `call`, but copies the reply to `dst`, or as much of it as fits. Returns
   * the length of the whole reply, which may be more than fits.
   */
  callInto(request: Elements, dst: Elements): number {
    assertMayBlock("callInto");
    return this.#call(request, undefined, this.#slots.into(dst))!;
  }

  /**
   * As `callInto`, but waits at most `timeout` ms; undefined if the time
   * passed.
   */
  tryCallInto(
    request: Elements,
    dst: Elements,
    timeout = 0,
  ): number | undefined {
    if (timeout !== 0) assertMayTry("tryCallInto", timeout);
    return this.#call(request, timeout, this.#slots.into(dst));
  }

  /** As `callInto`, awaiting instead of blocking: see `callAsync`. */
  callIntoAsync(
    request: Elements,
    dst: Elements,
    options?: AsyncOptions,
  ): Promise<number> {
    return this.#callAsync(
      request,
      options,
      blockAsync,
      () => this.#slots.into(dst),
    ) as Promise<number>;
  }

  /** As `tryCallInto`, awaiting instead of blocking: see `callAsync`. */
  tryCallIntoAsync(
    request: Elements,
    dst: Elements,
    options?: TryAsyncOptions,
  ): Promise<number | undefined> {
    return this.#callAsync(
      request,
      options,
      tryBlockAsync,
      () => this.#slots.into(dst),
    );
  }

  /**
   * Posts a call, blocking while no slot is free. The caller receives the reply
   * later.
   *
   * @throws {ClosedError} If the ring is closed.
   * @throws {RangeError} If the request is longer than `maxRequest`.
   * @throws {TypeError} If `request` is neither a typed array nor a DataView,
   * or this agent may not block.
   */
  post(request: Elements): PendingCall {
    assertMayBlock("post");
    const slots = this.#slots;
    if (slots.isAwaited) block(slots.giveWay());
    const at = slots.post(request) || blockOn(slots.posting(request));
    return new PendingCall(slots, at);
  }

  /**
   * As `post`, but waits at most `timeout` ms; undefined if no slot came free.
   */
  tryPost(request: Elements, timeout = 0): PendingCall | undefined {
    const slots = this.#slots;
    return this.#pending(
      timeout === 0
        ? slots.post(request)
        : tryBlockOn(slots.posting(request), "tryPost", timeout),
    );
  }

  /**
   * As `post`, awaiting instead of blocking. Do not change `request` before the
   * promise settles: it is copied when a slot is free.
   */
  postAsync(request: Elements, options?: AsyncOptions): Promise<PendingCall> {
    return awaitOn(this.#slots.posting(request), options)
      .then((at) => new PendingCall(this.#slots, at));
  }

  /** As `tryPost`, awaiting instead of blocking: see `postAsync`. */
  tryPostAsync(
    request: Elements,
    options?: TryAsyncOptions,
  ): Promise<PendingCall | undefined> {
    return tryAwaitOn(this.#slots.posting(request), options)
      .then((at) => this.#pending(at));
  }

  /**
   * Serves one call by `fn`. Waits at most `timeout` ms for a call; false if
   * none came. If `fn` throws, the caller gets a {@linkcode CallError}.
   *
   * @throws {ClosedError} If the ring is closed and no call is left.
   */
  tryServeOne(fn: CallHandler, timeout = 0): boolean {
    assertFunction(fn);
    const at = this.#within("tryServeOne", timeout);
    if (at === undefined) return false;
    this.#slots.handle(at, fn);
    return true;
  }

  /**
   * Serves calls by `fn`, blocking while there are none, until the ring is
   * closed and no call is left; returns how many it served.
   *
   * @throws {TypeError} If this agent may not block.
   */
  serve(fn: CallHandler): number {
    assertFunction(fn);
    assertMayBlock("serve");
    const slots = this.#slots;
    for (let count = 0;; count++) {
      const at = slots.takeBlocking()!;
      if (at < 0) return count;
      slots.handle(at, fn);
    }
  }

  /**
   * As {@linkcode CallRing.serve}, awaiting instead of blocking. `fn` may
   * return promises: up to `limit` calls are handled at a time. When the
   * promise resolves, or rejects because of an abort, every call that was taken
   * has been answered.
   *
   * @throws {RangeError} If `limit` is not an integer from 1 to 1024.
   */
  async serveAsync(
    fn: CallHandler<Reply | Promise<Reply>>,
    options?: ServeOptions,
  ): Promise<number> {
    assertFunction(fn);
    assertOptions(options, ["limit", "signal", "ref"]);
    const slots = this.#slots;
    const { limit = slots.count, ...waiting } = options ?? {};
    inRange("limit", limit, 1, MAX_SLOTS);
    const underway = new Set<Promise<unknown>>();
    try {
      for (let count = 0;; count++) {
        if (underway.size >= limit) await Promise.race(underway);
        const at = await awaitOn(slots.coming, waiting);
        if (at < 0) return count;
        const answer = slots.handleAsync(at, fn);
        if (answer === undefined) continue;
        underway.add(answer);
        answer.then(() => underway.delete(answer));
      }
    } finally {
      await Promise.all(underway);
    }
  }

  /**
   * Takes a call, blocking while there is none. The call is answered later. An
   * agent may take any number of calls before it answers the first.
   *
   * @throws {ClosedError} If the ring is closed and no call is left.
   * @throws {TypeError} If this agent may not block.
   */
  take(): TakenCall {
    assertMayBlock("take");
    return this.#taken(this.#slots.takeBlocking())!;
  }

  /** As `take`, but waits at most `timeout` ms; undefined if none came. */
  tryTake(timeout = 0): TakenCall | undefined {
    return this.#taken(this.#within("tryTake", timeout));
  }

  /** As `take`, awaiting instead of blocking. */
  takeAsync(options?: AsyncOptions): Promise<TakenCall> {
    return awaitOn(this.#slots.coming, options)
      .then((at) => this.#taken(at)!);
  }

  /** As `tryTake`, awaiting instead of blocking. */
  tryTakeAsync(options?: TryAsyncOptions): Promise<TakenCall | undefined> {
    return tryAwaitOn(this.#slots.coming, options)
      .then((at) => this.#taken(at));
  }

  /**
   * Closes the ring for good. No call can be posted from now on, and callers
   * that wait for a slot fail. Servers still serve the calls that were posted,
   * and then end. If no server is left, callers wait until their timeout.
   */
  close(): void {
    this.#slots.close();
  }

  /**
   * Ends the calls of agent `id`, known never to run again: those it made are
   * withdrawn, and its callers get a {@linkcode CallError}. Returns how many
   * there were.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, 2 ** 28 - 1);
    return this.#slots.abandon(id);
  }

  readonly #receive = (at: number): Uint8Array<ArrayBuffer> =>
    this.#slots.receive(at);

  #call<T>(
    request: Elements,
    timeout: number | undefined,
    receive: (at: number) => T,
  ): T | undefined {
    const slots = this.#slots;
    if (timeout === undefined && slots.isAwaited) block(slots.giveWay());
    let at = slots.post(request);
    if (at === 0 && timeout !== 0) {
      at = spin(() => slots.post(request) || undefined) ?? 0;
    }
    const rest = () => block(calling(slots, request, at, receive), timeout);
    if (at === 0 || timeout === 0) return rest();
    if (spinPatiently(() => slots.isAnswered(at))) return receive(at);
    return rest();
  }

  /**
   * Posts a call and awaits it by `awaits`; `receiver` returns the function
   * that takes the reply.
   */
  #callAsync<T>(
    request: Elements,
    options: TryAsyncOptions | undefined,
    awaits: typeof blockAsync,
    receiver: () => (at: number) => T,
  ): Promise<T | undefined> {
    const slots = this.#slots;
    const isTrying = awaits === tryBlockAsync;
    let receive: (at: number) => T, at = 0;
    try {
      const { timeout, signal } = readOptions(
        options,
        isTrying ? TRY_ASYNC : ASYNC,
        isTrying ? 0 : Infinity,
      );
      if (signal?.aborted) throw signal.reason;
      receive = receiver();
      // An abort in this same turn must end the call at once.
      const spins = timeout > 0 && signal === undefined && !slots.isAwaited;
      if (spins) at = slots.post(request);
    } catch (error) {
      return awaits(() => {
        throw error;
      });
    }
    const path = () => calling(slots, request, at, receive);
    if (at === 0) return awaits(path, options);
    return new Promise((resolve, reject) => {
      const take = () => {
        try {
          resolve(receive(at));
        } catch (error) {
          reject(error);
        }
      };
      const sleep = () => resolve(awaits(path, options));
      this.#lookout.add({ at, take, sleep });
    });
  }

  #pending(at: number | undefined): PendingCall | undefined {
    return at ? new PendingCall(this.#slots, at) : undefined;
  }

  /** The slot of a call; undefined if none comes within `timeout` ms. */
  #within(operation: string, timeout: number): number | undefined {
    const slots = this.#slots;
    if (timeout !== 0) assertMayTry(operation, timeout);
    const at = timeout === 0 ? slots.takeOrEnd() : slots.takeBlocking(timeout);
    if (at! < 0) throw new ClosedError("The ring is closed");
    return at || undefined;
  }

  #taken(at: number | undefined): TakenCall | undefined {
    if (at! < 0) throw new ClosedError("The ring is closed");
    return at ? new TakenCall(this.#slots, at) : undefined;
  }
}

/**
 * A call that was posted. It keeps its slot until the reply is received or the
 * call is cancelled. Cancel it if nobody wants the reply any more.
 *
 * @example Two calls under way
 * ```ts
 * import { CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 4, reply: 4 });
 * using one = ring.tryPost(Uint8Array.of(1))!;
 * using two = ring.tryPost(Uint8Array.of(2))!;
 * const server = CallRing.from(ring.handle); // in another agent
 * const serve = (request: Uint8Array) => Uint8Array.of(request[0]! * 10);
 * while (server.tryServeOne(serve));
 * if (two.tryReceive()![0] !== 20) throw new Error("another reply");
 * if (one.tryReceive()![0] !== 10) throw new Error("another reply");
 * ```
 */
export class PendingCall extends PendingCallBase {
  readonly #slots: Slots;
  /** The slot, or 0 when the call is over. */
  #at: number;
  /** How many waits of this agent for the reply are pending. */
  #receivers = 0;

  /**
   * Made by {@linkcode CallRing.tryPost}.
   *
   * @internal
   */
  constructor(slots: Slots, at: number) {
    super();
    this.#slots = slots;
    this.#at = at;
  }

  /** Whether the call was answered. */
  get ready(): boolean {
    return this.#slots.isAnswered(this.#here());
  }

  /**
   * Takes the reply, blocking until it comes.
   *
   * @throws {CallError} If the server's function threw, or the server was
   * abandoned.
   * @throws {TypeError} If the call is over (received or cancelled), or this
   * agent may not block.
   */
  receive(): Uint8Array<ArrayBuffer> {
    assertMayBlock("receive");
    return this.#receive(undefined, () => this.#reply())!;
  }

  /**
   * As `receive`, but waits at most `timeout` ms; undefined if there is no
   * reply yet. The call continues.
   */
  tryReceive(timeout = 0): Uint8Array<ArrayBuffer> | undefined {
    if (timeout === 0) return this.#reply();
    assertMayTry("tryReceive", timeout);
    return this.#receive(timeout, () => this.#reply());
  }

  /** As `receive`, awaiting instead of blocking. */
  receiveAsync(options?: AsyncOptions): Promise<Uint8Array<ArrayBuffer>> {
    return blockAsync(
      () => this.#receiving(() => this.#reply()),
      options,
    ) as Promise<Uint8Array<ArrayBuffer>>;
  }

  /** As `tryReceive`, awaiting instead of blocking. */
  tryReceiveAsync(
    options?: TryAsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return tryBlockAsync(() => this.#receiving(() => this.#reply()), options);
  }

  /**
   * As `receive`, but copies the reply to `dst`, or as much of it as fits.
   * Returns the length of the whole reply, which may be more than fits.
   */
  receiveInto(dst: Elements): number {
    assertMayBlock("receiveInto");
    const receive = this.#slots.into(dst);
    return this.#receive(undefined, () => this.#replyBy(receive))!;
  }

  /** As `receiveInto`, but waits at most `timeout` ms; see `tryReceive`. */
  tryReceiveInto(dst: Elements, timeout = 0): number | undefined {
    const receive = this.#slots.into(dst);
    if (timeout === 0) return this.#replyBy(receive);
    assertMayTry("tryReceiveInto", timeout);
    return this.#receive(timeout, () => this.#replyBy(receive));
  }

  /** As `receiveInto`, awaiting instead of blocking. */
  receiveIntoAsync(dst: Elements, options?: AsyncOptions): Promise<number> {
    return blockAsync(
      () => this.#receivingInto(dst),
      options,
    ) as Promise<number>;
  }

  /** As `tryReceiveInto`, awaiting instead of blocking. */
  tryReceiveIntoAsync(
    dst: Elements,
    options?: TryAsyncOptions,
  ): Promise<number | undefined> {
    return tryBlockAsync(() => this.#receivingInto(dst), options);
  }

  /** Ends the call if it is not over yet. Its reply will be thrown away. */
  cancel(): void {
    const at = this.#at;
    this.#at = 0;
    if (at === 0) return;
    this.#slots.cancel(at);
    if (this.#receivers > 0) Atomics.notify(this.#slots.words, at);
  }

  #here(): number {
    if (this.#at === 0) throw new TypeError("The call is over");
    return this.#at;
  }

  #reply(): Uint8Array<ArrayBuffer> | undefined {
    return this.#replyBy((at) => this.#slots.receive(at));
  }

  /** Takes the reply by calling `receive`, if there is a reply. */
  #replyBy<T>(receive: (at: number) => T): T | undefined {
    const at = this.#here();
    if (!this.#slots.isAnswered(at)) return undefined;
    this.#at = 0;
    return receive(at);
  }

  #receive<T>(timeout: number | undefined, attempt: () => T): T | undefined {
    const slots = this.#slots;
    const at = this.#here();
    const isReady = () => slots.isAnswered(at);
    if (isReady() || spinPatiently(isReady)) return attempt();
    return block(this.#receiving(attempt), timeout);
  }

  #receivingInto(dst: Elements): Waiting<number | undefined> {
    const receive = this.#slots.into(dst);
    return this.#receiving(() => this.#replyBy(receive));
  }

  *#receiving<T>(attempt: () => T): Waiting<T> {
    this.#receivers++;
    try {
      yield* this.#slots.answered(this.#here(), () => this.#at === 0);
    } finally {
      this.#receivers--;
    }
    return attempt();
  }
}

/** Checks the timeout, and that this agent may block. */
function assertMayTry(operation: string, timeout: number): void {
  assertTimeout(timeout);
  assertMayBlock(operation);
}

/**
 * A call that this agent took, and must answer.
 *
 * @example Answer in another order
 * ```ts
 * import { CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 4, reply: 4 });
 * using asked = ring.tryPost(Uint8Array.of(7))!;
 * const call = ring.tryTake()!;
 * call.space[0] = call.request[0]! + 1;
 * if (!call.reply(1)) throw new Error("nobody waits"); // one byte of it
 * if (asked.tryReceive()![0] !== 8) throw new Error("another reply");
 * ```
 */
export class TakenCall {
  /** The request, in the ring's memory; valid until the answer. */
  readonly request: Uint8Array;
  /** Room for the reply in the ring's memory: `maxReply` bytes. */
  readonly space: Uint8Array;
  readonly #slots: Slots;
  /** The slot, or 0 when the call was answered. */
  #at: number;

  /**
   * Made by {@linkcode CallRing.tryTake}.
   *
   * @internal
   */
  constructor(slots: Slots, at: number) {
    this.#slots = slots;
    this.#at = at;
    try {
      this.request = slots.request(at);
    } catch (error) { // its length is damaged
      slots.fail(at, error);
      throw error;
    }
    this.space = slots.space(at);
  }

  /** Whether the caller still waits for the reply. */
  get wanted(): boolean {
    return this.#slots.isWanted(this.#here());
  }

  /**
   * Replies with the bytes of an array, or, if `reply` is a number, with that
   * many bytes that were written to `space`. False if the caller gave up
   * before; this does no harm.
   *
   * @throws {RangeError} If the reply is longer than `maxReply`.
   * @throws {TypeError} If the call was answered already.
   */
  reply(reply?: Elements | number): boolean {
    const done = this.#slots.reply(this.#here(), reply);
    this.#at = 0;
    return done;
  }

  /**
   * Answers that the call failed. The caller gets a {@linkcode CallError} with
   * the message of `error`, cut to `maxReply` bytes.
   *
   * @throws {TypeError} If the call was answered already.
   */
  fail(error: unknown): boolean {
    const done = this.#slots.fail(this.#here(), error);
    this.#at = 0;
    return done;
  }

  #here(): number {
    if (this.#at === 0) throw new TypeError("The call was answered");
    return this.#at;
  }
}

/**
 * A whole call, from its post to its end. If it was posted already, at `at`, it
 * begins there.
 */
function* calling<T>(
  slots: Slots,
  request: Elements,
  at: number,
  receive: (at: number) => T,
): Waiting<T | undefined> {
  if (at === 0 && slots.isAwaited && !(yield* slots.giveWay())) {
    return undefined;
  }
  at ||= (yield* waitOn(slots.posting(request, true))) ?? 0;
  if (at === 0) return undefined;
  let over = false;
  try {
    if (!(yield* slots.answered(at)) && slots.giveUp(at)) {
      over = true;
      return undefined;
    }
    over = true; // it may have been answered at that moment
    return receive(at);
  } finally {
    if (!over) slots.cancel(at); // a sleep threw
  }
}
