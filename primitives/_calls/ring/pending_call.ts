/**
 * A call of a `CallRing` that was posted, as its caller has it.
 *
 * @module
 */

import { disposedBy, type Disposer } from "../../_memory/dispose.ts";
import type { Elements } from "../../_queue/elements.ts";
import { spinPatiently } from "../../_wait/spin.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  block,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "../../_wait/wait.ts";
import { answered, cancel, isAnswered } from "./call.ts";
import type { Slots } from "./slots.ts";

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
    return isAnswered(this.#slots.words, this.#here());
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
    cancel(this.#slots.words, at);
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
    if (!isAnswered(this.#slots.words, at)) return undefined;
    this.#at = 0;
    return receive(at);
  }

  #receive<T>(timeout: number | undefined, attempt: () => T): T | undefined {
    const slots = this.#slots;
    const at = this.#here();
    const isReady = () => isAnswered(slots.words, at);
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
      yield* answered(this.#slots.words, this.#here(), () => this.#at === 0);
    } finally {
      this.#receivers--;
    }
    return attempt();
  }
}
