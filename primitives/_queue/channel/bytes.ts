/**
 * The operations on messages of bytes: into an array that is there already, and
 * where they lie in the channel.
 *
 * @module
 */

import { describe, isBytes } from "../../_memory/describe.ts";
import { disposedBy, type Disposer, iterated } from "../../_memory/dispose.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  type TryAsyncOptions,
} from "../../_wait/wait.ts";
import { ChannelCore } from "./core.ts";
import {
  BytesPort,
  type PeekedMessage,
  type ReservedMessage,
} from "./in_place.ts";

/**
 * The operations of a {@linkcode Channel} of `codec.binary`.
 *
 * @ignore
 */
export class ChannelBytes<T> extends ChannelCore<T> {
  /**
   * Takes the oldest message of a channel of `codec.binary` into the beginning
   * of `dst`, blocking while there is none. Returns how many bytes it has. So
   * one array serves for many messages.
   *
   * @throws {ClosedError} If the channel was closed and is empty.
   * @throws {RangeError} If the message is longer than `dst`; the message stays
   * in the channel. With `manyToMany` and `lockFree`, if `dst` is shorter than
   * `maxLength`.
   * @throws {TypeError} If the channel has another codec, `dst` is not a
   * Uint8Array, or this agent may not block.
   */
  receiveInto(this: ChannelBytes<Uint8Array>, dst: Uint8Array): number {
    return this.#wait("receiveInto", "pop", this.#into(dst))![0];
  }

  /**
   * As `receiveInto`, but waits at most `timeout` ms; undefined if no message
   * came.
   */
  tryReceiveInto(
    this: ChannelBytes<Uint8Array>,
    dst: Uint8Array,
    timeout = 0,
  ): number | undefined {
    return this.#wait("tryReceiveInto", "pop", this.#into(dst), timeout)?.[0];
  }

  /** As `receiveInto`, awaiting instead of blocking. */
  async receiveIntoAsync(
    this: ChannelBytes<Uint8Array>,
    dst: Uint8Array,
    options?: AsyncOptions,
  ): Promise<number> {
    const attempt = this.#into(dst);
    return (await this.port.queue.asyncAt("pop", attempt, options))[0];
  }

  /** As `tryReceiveInto`, awaiting instead of blocking. */
  async tryReceiveIntoAsync(
    this: ChannelBytes<Uint8Array>,
    dst: Uint8Array,
    options?: TryAsyncOptions,
  ): Promise<number | undefined> {
    const attempt = this.#into(dst);
    return (await this.port.queue.tryAsyncAt("pop", attempt, options))?.[0];
  }

  /**
   * Shows the oldest message of a channel of `codec.binary` where it lies,
   * blocking while there is none. It stays in the channel until you release it.
   * Until then this object can receive nothing else, and other receivers wait.
   *
   * @throws {ClosedError} If the channel was closed and is empty.
   * @throws {TypeError} If the channel has another codec, or `manyToMany` or
   * `lockFree` carries it; if a message is peeked at already; or if this agent
   * may not block.
   */
  peek(this: ChannelBytes<Uint8Array>): PeekedMessage {
    const port = this.#inPlace();
    return this.#wait("peek", "pop", () => port.tryPeek())!;
  }

  /**
   * As `peek`, but waits at most `timeout` ms; undefined if no message came.
   */
  tryPeek(
    this: ChannelBytes<Uint8Array>,
    timeout = 0,
  ): PeekedMessage | undefined {
    const port = this.#inPlace();
    return this.#wait("tryPeek", "pop", () => port.tryPeek(), timeout);
  }

  /** As `peek`, awaiting instead of blocking. */
  async peekAsync(
    this: ChannelBytes<Uint8Array>,
    options?: AsyncOptions,
  ): Promise<PeekedMessage> {
    const port = this.#inPlace();
    return await port.queue.asyncAt("pop", () => port.tryPeek(), options);
  }

  /** As `tryPeek`, awaiting instead of blocking. */
  async tryPeekAsync(
    this: ChannelBytes<Uint8Array>,
    options?: TryAsyncOptions,
  ): Promise<PeekedMessage | undefined> {
    const port = this.#inPlace();
    return await port.queue.tryAsyncAt("pop", () => port.tryPeek(), options);
  }

  /**
   * Reserves room for a message of `length` bytes in a channel of
   * `codec.binary`, blocking while there is no room. Write its bytes, then
   * `commit` or `cancel`. Meanwhile this object can send nothing else. Without
   * a carrier, the messages of others that follow wait for it, too.
   *
   * @throws {ClosedError} If the channel was closed.
   * @throws {RangeError} If `length` is not an integer from 0 to `maxLength`.
   * @throws {TypeError} If the channel has another codec, or `manyToMany` or
   * `lockFree` carries it; if a message is reserved already; or if this agent
   * may not block.
   */
  reserve(this: ChannelBytes<Uint8Array>, length: number): ReservedMessage {
    const port = this.#inPlace();
    return this.#wait("reserve", "push", () => port.tryReserve(length))!;
  }

  /**
   * As `reserve`, but waits at most `timeout` ms; undefined if there is none.
   */
  tryReserve(
    this: ChannelBytes<Uint8Array>,
    length: number,
    timeout = 0,
  ): ReservedMessage | undefined {
    const port = this.#inPlace();
    const attempt = () => port.tryReserve(length);
    return this.#wait("tryReserve", "push", attempt, timeout);
  }

  /** As `reserve`, awaiting instead of blocking. */
  async reserveAsync(
    this: ChannelBytes<Uint8Array>,
    length: number,
    options?: AsyncOptions,
  ): Promise<ReservedMessage> {
    const port = this.#inPlace();
    const attempt = () => port.tryReserve(length);
    return await port.queue.asyncAt("push", attempt, options);
  }

  /** As `tryReserve`, awaiting instead of blocking. */
  async tryReserveAsync(
    this: ChannelBytes<Uint8Array>,
    length: number,
    options?: TryAsyncOptions,
  ): Promise<ReservedMessage | undefined> {
    const port = this.#inPlace();
    const attempt = () => port.tryReserve(length);
    return await port.queue.tryAsyncAt("push", attempt, options);
  }

  /** What `attempt` returns at last; undefined after `timeout` ms. */
  #wait<Result>(
    name: string,
    end: "push" | "pop",
    attempt: () => Result | undefined,
    timeout?: number,
  ): Result | undefined {
    if (timeout === 0) return attempt();
    if (timeout !== undefined) assertTimeout(timeout);
    assertMayBlock(name);
    return attempt() ?? this.port.queue.blockAt(end, attempt, timeout);
  }

  /** Takes a message into `dst`; its length may be 0, so it is in an array. */
  #into(dst: Uint8Array): () => [length: number] | undefined {
    this.#assertBinary();
    if (!isBytes(dst)) {
      throw new TypeError(
        `Bytes are received into a Uint8Array: received ${describe(dst)}`,
      );
    }
    const port = this.port as unknown as Taking;
    return () => {
      const length = port.tryTakeInto(dst);
      return length === undefined ? undefined : [length];
    };
  }

  /** The port to messages that can be written and read in place. */
  #inPlace(): BytesPort {
    this.#assertBinary();
    const port: unknown = this.port;
    if (port instanceof BytesPort) return port;
    throw new TypeError(
      "Messages of this channel cannot be written or read in place: leave " +
        "the carrier out, or take oneToOne, with a capacity of 1 or more",
    );
  }

  #assertBinary(): void {
    const { name } = this.codec;
    if (name === "binary") return;
    throw new TypeError(
      `This is for channels of codec.binary: this channel's codec is ${name}`,
    );
  }
}

/** A port to messages of bytes. */
interface Taking {
  tryTakeInto(dst: Uint8Array): number | undefined;
}

/**
 * The base of {@linkcode Channel}: disposing closes it.
 *
 * @ignore
 */
export const ChannelBase: abstract new <T>(
  ...args: ConstructorParameters<typeof ChannelBytes<T>>
) => ChannelBytes<T> & Disposer & AsyncIterable<T, void, void> =
  /* @__PURE__ */ iterated(
    /* @__PURE__ */ disposedBy(ChannelBytes, "close"),
  ) as unknown as typeof ChannelBase;
