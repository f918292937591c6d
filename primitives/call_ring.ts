/**
 * Calls between agents. A call is a request of some bytes and its reply.
 *
 * @module
 */

import type { CallHandler, Reply } from "./_calls/ring/answers.ts";
import { PendingCall } from "./_calls/ring/pending_call.ts";
import { TakenCall } from "./_calls/ring/taken_call.ts";
import { close } from "./_calls/ring/call.ts";
import { Caller } from "./_calls/ring/caller.ts";
import { INSPECTION } from "./_calls/ring/problems.ts";
import { Slots } from "./_calls/ring/slots.ts";
import { Underway } from "./_calls/ring/underway.ts";
import {
  bytesFor,
  type CallRingConfig,
  checked,
  MAX_SLOTS,
} from "./_calls/ring/words.ts";
import type { Elements } from "./_queue/elements.ts";
import { awaitOn, blockOn, tryAwaitOn, tryBlockOn } from "./_wait/pending.ts";
import { disposedBy, type Disposer } from "./_memory/dispose.ts";
import { CALL_RING } from "./_memory/layout.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  assertFunction,
  attach,
  format,
  fromHandle,
  type Handle,
  inNewMemory,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import {
  assertMayBlock,
  assertMayTry,
  assertOptions,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  CallError,
  type CallHandler,
  type Reply,
} from "./_calls/ring/answers.ts";
export { PendingCall, PendingCallBase } from "./_calls/ring/pending_call.ts";
export { TakenCall } from "./_calls/ring/taken_call.ts";
export type { CallRingConfig } from "./_calls/ring/words.ts";
export type { Elements } from "./_queue/elements.ts";
export { ClosedError } from "./_queue/queue.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** The options of `serveAsync`. */
export interface ServeOptions extends AsyncOptions {
  /**
   * How many calls `fn` may handle at a time; unless given, the number of
   * slots.
   */
  readonly limit?: number | undefined;
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
 * word 67  deaths         How many agents were abandoned, modulo 2^32.
 * word 68  dead           The first of 16 words for the agents that were
 *                         abandoned last: entry `n` lies in word 68 + `n`
 *                         modulo 16.
 *                         bits 0-27   the agent
 *                         bits 28-31  `n` / 16, modulo 16
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
  readonly #caller: Caller;

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
    this.#caller = new Caller(slots);
    this.slots = slots.count;
    this.maxRequest = slots.maxRequest;
    this.maxReply = slots.maxReply;
  }

  /**
   * The bytes a ring of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not a ring's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength(config?: CallRingConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a ring without calls.
   *
   * @throws {TypeError} If `config` is not a ring's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create(config?: CallRingConfig): CallRing {
    const init = (memory: Memory) => CallRing.init(memory, 0, config);
    return inNewMemory(CallRing.byteLength(config), init);
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
    config?: CallRingConfig,
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
    return this.#caller.call(request, undefined, this.#receive)!;
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
    return this.#caller.call(request, timeout, this.#receive);
  }

  /**
   * As `call`, awaiting instead of blocking. Do not change `request` before the
   * promise settles: it is copied when a slot is free.
   */
  callAsync(
    request: Elements,
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer>> {
    return this.#caller.callAsync(
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
    return this.#caller.callAsync(
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
    return this.#caller.call(request, undefined, this.#slots.into(dst))!;
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
    return this.#caller.call(request, timeout, this.#slots.into(dst));
  }

  /** As `callInto`, awaiting instead of blocking: see `callAsync`. */
  callIntoAsync(
    request: Elements,
    dst: Elements,
    options?: AsyncOptions,
  ): Promise<number> {
    return this.#caller.callAsync(
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
    return this.#caller.callAsync(
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
    const caller = this.#caller;
    if (caller.isAwaited) block(caller.giveWay());
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
    const underway = new Underway();
    try {
      for (let count = 0;; count++) {
        if (underway.size >= limit) await underway.next();
        const at = await awaitOn(slots.coming, waiting);
        if (at < 0) return count;
        const answer = handleAsync(slots, at, fn);
        if (answer !== undefined) underway.add(answer, at);
      }
    } finally {
      await Promise.all(underway.keys());
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
    close(this.#slots.words);
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

/** As `handle` of the slots, but returns a promise if `fn` returns one. */
function handleAsync(
  slots: Slots,
  at: number,
  fn: CallHandler<Reply | Promise<Reply>>,
): Promise<unknown> | undefined {
  try {
    const reply = fn(slots.request(at), slots.space(at));
    if (!isPromise(reply)) return void slots.reply(at, reply);
    // Of its own, `then` may return nothing.
    return Promise.resolve(reply).then((reply) => slots.reply(at, reply))
      .catch((error) => slots.fail(at, error));
  } catch (error) {
    return void slots.fail(at, error);
  }
}

// `instanceof` would fail for a promise of another realm.
const isPromise = (value: Reply | Promise<Reply>): value is Promise<Reply> =>
  typeof (value as Promise<Reply> | undefined)?.then === "function";
