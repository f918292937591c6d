/**
 * Calls between agents: a request of some bytes, and its reply.
 *
 * @module
 */

import {
  bytesFor,
  type CallHandler,
  type CallRingConfig,
  checked,
  INSPECTION,
  MAX_SLOTS,
  type Reply,
  Slots,
} from "./_call_slots.ts";
import type { Elements } from "./_elements.ts";
import { awaitOn, blockOn, waitOn } from "./_event_count.ts";
import { CALL_RING } from "./_layout.ts";
import { ClosedError } from "./_queue.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
} from "./_region.ts";
import { spin } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";

export {
  CallError,
  type CallHandler,
  type CallRingConfig,
  type Reply,
} from "./_call_slots.ts";
export type { Elements } from "./_elements.ts";
export { ClosedError } from "./_queue.ts";
export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

/** How to serve, awaiting. */
export interface ServeOptions extends AsyncOptions {
  /** Calls that may be under way in `fn` at a time; all slots unless given. */
  readonly limit?: number;
}

/**
 * Calls from any agent to any agent that serves: each has a slot of its own for
 * its request and its reply, so several may be under way at a time, in callers
 * and in servers, and be answered in any order.
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
 * word 33  serve_waiters  Servers that sleep, or are about to.
 * word 34  look           The slot where a server written in C looks first.
 * word 64  slot_epoch     Changes when callers without a slot must look again.
 *                         sleepers: callers without a slot
 * word 65  slot_waiters   Callers that sleep there, or are about to.
 * word 96  The slots, each at a multiple of 32 words. A slot has four words:
 *          `state`, the agent id of the caller, the length of the request and
 *          the length of the reply. The bytes of both follow. In `state`, bits
 *          0-27 are the agent it is about. Bits 28-30 are 0 FREE, 1 CLAIMED by
 *          a caller, 2 POSTED, 3 SERVING, 4 DROPPED (a server has it, and the
 *          caller gave up), 5 REPLIED, 6 FAILED or 7 LOST (its server died).
 *          Bit 31 says that the caller sleeps there. Bit 28 of the caller says
 *          that it died.
 * ```
 *
 * A slot changes hands by one exchange of its state. Whoever is named there
 * writes to it, and nobody else: a caller that gives up while it is served
 * leaves it to the server, whose late reply goes nowhere.
 *
 * Invariant: a slot is not FREE from its claim until the caller has the answer,
 * or gave up and no server has the call.
 * Progress: `tryPost`, `tryTake` and `tryServeOne`, answers and `cancel` are
 * lock-free; they look at each slot, and may miss one that changes meanwhile.
 * The others block. Who takes a call that was posted is a matter of luck.
 * An agent terminated as a caller costs its slots, as a server the calls that
 * it had taken, whose callers then wait, until `abandon(id)` frees the former
 * and answers the latter; terminated at any other step it costs nothing.
 * Wrap: nothing counts but the epochs, which are compared for equality during
 * a sleep of a second at most. No state can be mistaken for an older one: it
 * names the agent whose the slot is, or one that is dead for good.
 * Fairness: a server goes round the slots, so it passes a call over at most
 * once for each other slot. Whoever finds a free slot has it.
 * C twin: `weft_call_ring`. Source: slots as in seL4's and LRPC's message
 * buffers (Bershad and others 1990); states with an owner, own design.
 *
 * @example A worker that adds
 * ```ts
 * import { CallRing } from "@weft/sync";
 *
 * const ring = CallRing.create({ request: 8, reply: 8 }); // post ring.handle
 * const served = ring.serveAsync((request) => // in a worker: ring.serve(…)
 *   Float64Array.of(request.reduce((sum, byte) => sum + byte, 0))
 * );
 * const reply = await ring.callAsync(Uint8Array.of(1, 2, 3));
 * if (new Float64Array(reply!.buffer)[0] !== 6) throw new Error("wrong sum");
 * ring.close();
 * await served;
 * ```
 */
export class CallRing extends Region<"call_ring"> {
  /** Calls that may be under way at a time. */
  readonly slots: number;
  /** The most bytes of a request. */
  readonly maxRequest: number;
  /** The most bytes of a reply. */
  readonly maxReply: number;
  readonly #slots: Slots;

  /**
   * Attaches to the ring at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no ring of this kind and
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const words = attach("call_ring", CALL_RING, memory, byteOffset, bytesFor);
    super("call_ring", words, INSPECTION);
    const slots = this.#slots = new Slots(words, agentId());
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
   * Makes a region that nobody uses yet a ring without calls.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    config: CallRingConfig,
  ): CallRing {
    const words = checked(config);
    const bytes = bytesFor(...words);
    format("call_ring", CALL_RING, memory, byteOffset, bytes, words);
    return new CallRing(memory, byteOffset);
  }

  /**
   * Attaches to the ring a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): CallRing {
    return new CallRing(...fromHandle("call_ring", handle));
  }

  /** Slots in use; a moment later it may be another number. */
  get pending(): number {
    return this.#slots.pending;
  }

  /** Whether `close` was called; calls may still be under way. */
  get closed(): boolean {
    return this.#slots.closed;
  }

  /**
   * Calls: posts `request` and blocks up to `timeout` ms for the reply, which
   * is a copy; undefined if the time passed, and the call was withdrawn, or its
   * reply will be thrown away.
   *
   * @throws {CallError} If the server's function threw, or it was abandoned.
   * @throws {ClosedError} If the ring was closed before the call was posted.
   * @throws {RangeError} If the request is longer than `maxRequest`, or
   * `timeout` is negative or NaN.
   * @throws {TypeError} If this agent may not block.
   */
  call(
    request: Elements,
    timeout = Infinity,
  ): Uint8Array<ArrayBuffer> | undefined {
    assertMayBlock("call");
    const slots = this.#slots;
    return this.#call(request, timeout, (at) => slots.receive(at));
  }

  /**
   * As {@linkcode CallRing.call}, awaiting instead of blocking: `request` must
   * not change until it is posted.
   */
  callAsync(
    request: Elements,
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const slots = this.#slots;
    const receive = (at: number) => slots.receive(at);
    return blockAsync(() => calling(slots, request, 0, receive), options);
  }

  /**
   * As {@linkcode CallRing.call}, with the reply in `dst`, as much of it as
   * there is room for: answers its length, which may be more.
   */
  callInto(
    request: Elements,
    dst: Elements,
    timeout = Infinity,
  ): number | undefined {
    assertMayBlock("callInto");
    return this.#call(request, timeout, this.#slots.into(dst));
  }

  /** As {@linkcode CallRing.callInto}, awaiting instead of blocking. */
  callIntoAsync(
    request: Elements,
    dst: Elements,
    options?: AsyncOptions,
  ): Promise<number | undefined> {
    const slots = this.#slots;
    return blockAsync(
      () => calling(slots, request, 0, slots.into(dst)),
      options,
    );
  }

  /**
   * Posts a call whose reply is received later; undefined if no slot is free.
   *
   * @throws {ClosedError} If the ring was closed.
   * @throws {RangeError} If the request is longer than `maxRequest`.
   */
  tryPost(request: Elements): PendingCall | undefined {
    return this.#pending(this.#slots.post(request));
  }

  /**
   * As `tryPost`, blocking up to `timeout` ms for a slot.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  post(request: Elements, timeout = Infinity): PendingCall | undefined {
    assertMayBlock("post");
    if (timeout !== Infinity) assertTimeout(timeout);
    const slots = this.#slots;
    return this.#pending(
      slots.post(request) || blockOn(slots.room(request), timeout),
    );
  }

  /**
   * As `post`, awaiting instead of blocking: `request` must not change until it
   * is posted.
   */
  postAsync(
    request: Elements,
    options?: AsyncOptions,
  ): Promise<PendingCall | undefined> {
    return awaitOn(this.#slots.room(request), options)
      .then((at) => this.#pending(at));
  }

  /**
   * Serves one call by `fn`, without waiting for one; false if there is none.
   * What `fn` throws is thrown where the call was made, as a
   * {@linkcode CallError}.
   *
   * @throws {ClosedError} If the ring was closed and no call is left.
   */
  tryServeOne(fn: CallHandler): boolean {
    const at = this.#taken(this.#slots.takeOrEnd());
    if (at === undefined) return false;
    this.#slots.handle(at, fn);
    return true;
  }

  /**
   * Serves calls by `fn`, blocking while there are none, until the ring is
   * closed and no call is left, or none came for `timeout` ms. Answers how many
   * it served.
   *
   * @throws {RangeError} If `timeout` is negative or NaN.
   * @throws {TypeError} If this agent may not block.
   */
  serve(fn: CallHandler, timeout = Infinity): number {
    assertMayBlock("serve");
    if (timeout !== Infinity) assertTimeout(timeout);
    const slots = this.#slots;
    for (let count = 0;; count++) {
      const at = slots.takeOrEnd() || blockOn(slots.coming, timeout);
      if (at === undefined || at < 0) return count;
      slots.handle(at, fn);
    }
  }

  /**
   * As {@linkcode CallRing.serve}, awaiting instead of blocking, and `fn` may
   * answer promises: up to `limit` calls are under way in it at a time. When it
   * ends, or rejects for an abort, all calls it took were answered.
   *
   * @throws {RangeError} If `limit` is not an integer from 1 to 1024.
   */
  async serveAsync(
    fn: CallHandler<Reply | Promise<Reply>>,
    options: ServeOptions = {},
  ): Promise<number> {
    const slots = this.#slots;
    const { limit = slots.count, ...awaiting } = options;
    inRange("A limit of calls", limit, 1, MAX_SLOTS);
    const underway = new Set<Promise<unknown>>();
    try {
      for (let count = 0;; count++) {
        if (underway.size >= limit) await Promise.race(underway);
        const at = await awaitOn(slots.coming, awaiting);
        if (at === undefined || at < 0) return count;
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
   * Takes a call, to be answered later, without waiting; undefined if there is
   * none. Any number may be taken before the first is answered.
   *
   * @throws {ClosedError} If the ring was closed and no call is left.
   */
  tryTake(): TakenCall | undefined {
    return this.#taking(this.#slots.takeOrEnd());
  }

  /**
   * As `tryTake`, blocking up to `timeout` ms.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  take(timeout = Infinity): TakenCall | undefined {
    assertMayBlock("take");
    if (timeout !== Infinity) assertTimeout(timeout);
    const slots = this.#slots;
    return this.#taking(
      slots.takeOrEnd() || blockOn(slots.coming, timeout),
    );
  }

  /** As `take`, awaiting instead of blocking. */
  takeAsync(options?: AsyncOptions): Promise<TakenCall | undefined> {
    return awaitOn(this.#slots.coming, options)
      .then((at) => this.#taking(at));
  }

  /**
   * Closes the ring for good: nothing is posted from now on, and callers that
   * wait for a slot fail. Calls that were posted are served still, then servers
   * come to their end; where none is left to serve them, callers wait for their
   * timeout.
   */
  close(): void {
    this.#slots.close();
  }

  /**
   * Ends the calls of agent `id`, known never to run again: those it made are
   * withdrawn, and who called it gets a {@linkcode CallError}. Answers how many
   * there were.
   */
  abandon(id: number): number {
    return this.#slots.abandon(id);
  }

  #call<T>(
    request: Elements,
    timeout: number,
    receive: (at: number) => T,
  ): T | undefined {
    if (timeout !== Infinity) assertTimeout(timeout);
    const slots = this.#slots;
    let at = slots.post(request);
    if (timeout > 0) {
      if (at === 0) at = spin(() => slots.post(request) || undefined) ?? 0;
      if (at !== 0 && spin(() => slots.isAnswered(at))) return receive(at);
    }
    return block(calling(slots, request, at, receive), timeout);
  }

  #pending(at: number | undefined): PendingCall | undefined {
    return at ? new PendingCall(this.#slots, at) : undefined;
  }

  /** The slot taken, undefined if there was none. */
  #taken(at: number | undefined): number | undefined {
    if (at! < 0) throw new ClosedError("The ring is closed");
    return at || undefined;
  }

  #taking(slot: number | undefined): TakenCall | undefined {
    const at = this.#taken(slot);
    return at && new TakenCall(this.#slots, at) || undefined;
  }
}

/**
 * A call that was posted. It has its slot until its reply was received, or it
 * was cancelled, as it must be where nobody wants the reply any more.
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
export class PendingCall implements Disposable {
  readonly #slots: Slots;
  /** The slot, or 0 when it is over. */
  #at: number;
  /** Waits of this agent for the reply. */
  #receivers = 0;

  /**
   * Made by {@linkcode CallRing.tryPost}.
   *
   * @internal
   */
  constructor(slots: Slots, at: number) {
    this.#slots = slots;
    this.#at = at;
  }

  /** Whether it was answered. */
  get ready(): boolean {
    return this.#slots.isAnswered(this.#here());
  }

  /**
   * Takes the reply, without waiting; undefined if there is none yet.
   *
   * @throws {CallError} If the server's function threw, or it was abandoned.
   * @throws {TypeError} If the call is over: received, or cancelled.
   */
  tryReceive(): Uint8Array<ArrayBuffer> | undefined {
    const at = this.#here();
    if (!this.#slots.isAnswered(at)) return undefined;
    this.#at = 0;
    return this.#slots.receive(at);
  }

  /**
   * As `tryReceive`, blocking up to `timeout` ms; if they pass, the call goes
   * on.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  receive(timeout = Infinity): Uint8Array<ArrayBuffer> | undefined {
    assertMayBlock("receive");
    return this.#receive(timeout, () => this.tryReceive());
  }

  /** As `receive`, awaiting instead of blocking. */
  receiveAsync(
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const attempt = () => this.tryReceive();
    return blockAsync(() => this.#receiving(attempt), options);
  }

  /**
   * As `tryReceive`, with the reply in `dst`, as much of it as there is room
   * for: answers its length, which may be more.
   */
  tryReceiveInto(dst: Elements): number | undefined {
    const receive = this.#slots.into(dst);
    const at = this.#here();
    if (!this.#slots.isAnswered(at)) return undefined;
    this.#at = 0;
    return receive(at);
  }

  /** As `receive`, with the reply in `dst`: see `tryReceiveInto`. */
  receiveInto(dst: Elements, timeout = Infinity): number | undefined {
    assertMayBlock("receiveInto");
    return this.#receive(timeout, () => this.tryReceiveInto(dst));
  }

  /** As `receiveInto`, awaiting instead of blocking. */
  receiveIntoAsync(
    dst: Elements,
    options?: AsyncOptions,
  ): Promise<number | undefined> {
    const attempt = () => this.tryReceiveInto(dst);
    return blockAsync(() => this.#receiving(attempt), options);
  }

  /** Ends the call, if it is not over: its reply will be thrown away. */
  cancel(): void {
    const at = this.#at;
    this.#at = 0;
    if (at === 0) return;
    this.#slots.cancel(at);
    if (this.#receivers > 0) Atomics.notify(this.#slots.words, at);
  }

  /** As {@linkcode PendingCall.cancel}. */
  [Symbol.dispose](): void {
    this.cancel();
  }

  #here(): number {
    if (this.#at === 0) throw new TypeError("The call is over");
    return this.#at;
  }

  #receive<T>(timeout: number, attempt: () => T): T | undefined {
    if (timeout !== Infinity) assertTimeout(timeout);
    const slots = this.#slots;
    const at = this.#here();
    if (timeout > 0 && spin(() => slots.isAnswered(at))) return attempt();
    return block(this.#receiving(attempt), timeout);
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
  /** Room for the reply there, `maxReply` bytes. */
  readonly space: Uint8Array;
  readonly #slots: Slots;
  /** The slot, or 0 when it was answered. */
  #at: number;

  /**
   * Made by {@linkcode CallRing.tryTake}.
   *
   * @internal
   */
  constructor(slots: Slots, at: number) {
    this.#slots = slots;
    this.#at = at;
    this.request = slots.request(at);
    this.space = slots.space(at);
  }

  /** Whether the caller still waits for it. */
  get wanted(): boolean {
    return this.#slots.isWanted(this.#here());
  }

  /**
   * Replies, with the bytes of an array, or as many as were written to `space`;
   * false if the caller gave up before, which does no harm.
   *
   * @throws {RangeError} If the reply is longer than `maxReply`.
   * @throws {TypeError} If the call was answered.
   */
  reply(reply?: Elements | number): boolean {
    const done = this.#slots.reply(this.#here(), reply);
    this.#at = 0;
    return done;
  }

  /**
   * Answers that it failed: the caller gets a {@linkcode CallError} with the
   * message of `error`, of which no more than `maxReply` bytes arrive.
   *
   * @throws {TypeError} If the call was answered.
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

/** A call from its post to its end; if it was posted at `at`, from there. */
function* calling<T>(
  slots: Slots,
  request: Elements,
  at: number,
  receive: (at: number) => T,
): Waiting<T | undefined> {
  at ||= (yield* waitOn(slots.room(request))) ?? 0;
  if (at === 0) return undefined;
  let over = false;
  try {
    if (!(yield* slots.answered(at)) && slots.giveUp(at)) {
      over = true;
      return undefined;
    }
    over = true; // at the moment of the timeout it may be answered
    return receive(at);
  } finally {
    if (!over) slots.cancel(at); // a sleep threw
  }
}
