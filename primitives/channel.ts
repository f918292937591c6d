/**
 * Typed messages between agents.
 *
 * @module
 */

// First, for what mod.ts says of zip.
export * as codec from "./_queue/channel/codecs.ts";
import { NONE } from "./_queue/carrier.ts";
import { ANY } from "./_queue/channel/carriers.ts";
import type { CodecOf, JsonValue, StructuredOf } from "./_message/codec.ts";
import { NO_ENDS } from "./_queue/channel/ends.ts";
import { iterate } from "./_wait/iterate.ts";
import { deliver } from "./_wait/turn.ts";
import { CHANNEL } from "./_memory/layout.ts";
import { markOf, MAX_ROWS } from "./_memory/tracked.ts";
import { type Codec, isShaped } from "./_message/message.ts";
import { ClosedError } from "./_queue/queue.ts";
import {
  assertConfig,
  attach,
  format,
  fromHandle,
  type Handle,
  inNewMemory,
  type Memory,
  viewPlain,
  type WordsInspection,
} from "./_memory/region.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  type TryAsyncOptions,
} from "./_wait/wait.ts";
import { ChannelBase } from "./_queue/channel/bytes.ts";
import {
  type AnyConfig,
  assertSameCodec,
  type ChannelCodec,
  type ChannelConfig,
  codecOf,
  CONFIG_NAMES,
  type JsonChannel,
  type ValueChannel,
  wordsOf,
} from "./_queue/channel/config.ts";
import { CHANNELS } from "./_queue/channel/core.ts";
import {
  HEAD,
  inOwnMemory,
  placeOf,
  placePortAt,
  planOf,
  portAt,
  rowsBytes,
} from "./_queue/channel/plan.ts";
import { agentId } from "./agent.ts";
import { ShapeTable } from "./shape_table.ts";

export type { Carrier } from "./_queue/carrier.ts";
export type {
  ChannelCodec,
  ChannelConfig,
  JsonChannel,
  ValueChannel,
} from "./_queue/channel/config.ts";
export {
  lockFree,
  manyToMany,
  manyToOne,
  oneToOne,
} from "./_queue/channel/carriers.ts";
export { ChannelBase, ChannelBytes } from "./_queue/channel/bytes.ts";
export { ChannelCore } from "./_queue/channel/core.ts";
export { ChannelEnd } from "./_queue/channel/ends.ts";
export type {
  CodecOf,
  JsonCodec,
  JsonOf,
  JsonValue,
  StructuredOf,
  ValueCodec,
} from "./_message/codec.ts";
export type { RecordType } from "./_queue/channel/codecs.ts";
export type { Codec, SizedCodec } from "./_message/message.ts";
export {
  PeekedMessage,
  ReservedBase,
  ReservedMessage,
} from "./_queue/channel/in_place.ts";
export { ClosedError } from "./_queue/queue.ts";
export { EndGuard } from "./_memory/guard.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

/** @ignore */
export const INSPECTION: WordsInspection = CHANNELS;

/**
 * A bounded channel of values. If `send` accepts a value, `receive` returns an
 * equal one, as the channel's codec promises. Every other value is refused.
 *
 * Requests:
 *
 * ```ts
 * import { Channel } from "@weft/sync";
 *
 * interface Job {
 *   id: number;
 *   tags: string[];
 * }
 * const jobs = Channel.create<Job>({ capacity: 64 });
 * // Post jobs.handle; there, Channel.from<Job>(handle).
 * await jobs.sendAsync({ id: 7, tags: ["a", "ü"] });
 * jobs.close();
 * for await (const job of jobs) console.log(job.id); // 7
 * ```
 *
 * Each operation has four forms: `x` blocks until it is done; `tryX` waits at
 * most `timeout` ms, which is 0 unless given; `xAsync` and `tryXAsync` await
 * instead of blocking.
 *
 * With `codec.binary`, `receiveInto` needs no new array for a message, and
 * `reserve` and `peek` write and read it where it lies.
 *
 * With `capacity: 0` there is no room: a `send` ends when a receiver has come
 * for its message. `trySend` without a timeout sends only to a receiver that
 * waits, and `tryReceive` takes only from a sender that waits.
 *
 * Invariant: that of the queue or ring that carries the messages; of the head,
 * only the counts of senders and receivers change. With `capacity: 0`, a
 * message lies in the place for one from the moment its sender begins until its
 * receiver has read it; at most one does.
 * Progress: that of the queue or ring that carries the messages: see
 * `MpmcQueue`, `SpscQueue`, `LockFreeQueue` and `RecordRing`. Without a
 * `timeout` no `try` form waits, but it may answer "full" or "empty" while
 * another agent is inside an operation. Terminating an agent in the middle of a
 * `send` or `receive` may block the channel for ever if an `MpmcQueue` carries
 * it, but never if an `SpscQueue` or a `LockFreeQueue` does. A terminated
 * sender or receiver blocks a `RecordRing` until `abandon(id)`. With
 * `capacity: 0`, a sender that was terminated while it wrote keeps others from
 * sending until `abandon(id)`, and a message may be sent to a receiver that was
 * terminated while it waited: the next receiver gets it. Wrap: as in that queue
 * or ring.
 * Freed when: every operation of every agent has returned, `close` included,
 * and none will begin. That it is closed and empty does not say so.
 * Fairness: first in, first out. With `capacity: 0`, any of the agents that
 * wait may be next.
 * C twin: `weft_channel`. Its messages are bytes: UTF-8, an `int32_t`, a
 * `double`, or a struct.
 * Source: a codec over a queue of bytes, as Go's and Rust's channels are typed.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic            Kind and layout version.
 * word 1   codec            1 binary, 2 text, 3 json, 4 i32, 5 f64, 6 record, 7
 *                           structured, 8 own, 9 value.
 * word 2   shape            A number that tells apart records with different
 *                           fields, and users' codecs with different names; or
 *                           0.
 * word 3   seal             Check word over the configuration.
 * word 4   message_size     The expected bytes of a message, by which
 *                           `capacity` is counted, or 0.
 * word 5   tracked          0, or if senders and receivers are counted:
 *                           bits 0-7    how many agents have rows at each end
 *                           bits 8-15   the same, each bit flipped
 *                           bits 16-31  0x5765
 * word 6   ends             bit 0  SENT: there was a sender
 *                           bit 1  RECEIVED: there was a receiver
 * word 7   senders          bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more senders there can be
 * word 8   receivers        bits 0-11   the sequence of the last change, modulo
 *                                       4096
 *                           bits 12-19  the row of the agent that made it
 *                           bits 20-31  how many more receivers there can be
 * word 9   place            The bytes of the place for a message, if the
 *                           capacity is 0; otherwise 0.
 * word 10  handoff          If the capacity is 0:
 *                           bits 0-1    PHASE: what is in the place: 0 nothing;
 *                                       1 posted: a message, whose sender
 *                                       waits; 2 handed: a message for a
 *                                       receiver that waits
 *                           bit 2       STOPPED: the channel is closed
 *                           bits 3-8    OFFERS: receivers that wait, and that
 *                                       no message was handed to
 *                           bits 9-12   ENDED: how often all offers were ended
 *                                       because an agent was terminated, modulo
 *                                       16
 *                           bits 13-31  NUMBER: of the last message, modulo
 *                                       2^19
 * word 11  offer_epoch      If the capacity is 0: changes when sleeping senders
 *                           must look again that can only send to a receiver
 *                           that waits.
 *                           sleepers: senders
 * word 12  offer_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 13  offer_gong       A gong, for agents that wait to send here and for
 *                           others.
 *                           sleepers: agents that wait at several ends
 * word 14  message_epoch    If the capacity is 0: changes when sleeping
 *                           receivers must look again.
 *                           sleepers: receivers
 * word 15  message_waiters  bits 0-30  receivers that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 16  message_gong     A gong, for agents that wait for messages here and
 *                           for others.
 *                           sleepers: agents that wait at several ends
 * word 17  room_epoch       If the capacity is 0: changes when sleeping senders
 *                           must look again that wait for the place.
 *                           sleepers: senders
 * word 18  room_waiters     bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 19  taken_epoch      If the capacity is 0: changes when the sender of
 *                           the posted message must look again.
 *                           sleepers: senders
 * word 20  taken_waiters    bits 0-30  such senders that sleep, or are about to
 *                           bit 31     one of them awaits, or did
 * word 21  writer           If the capacity is 0: the id of the sender that may
 *                           write a message, or 0.
 * word 32  The queue or ring that carries the messages, with its own head.
 *          Without a carrier, that is an `mpmc_queue` for i32, f64 and record,
 *          and a `record_ring` for the other codecs. With a carrier, it is an
 *          `spsc_queue`, an `mpmc_queue` or a `lock_free_queue`; if messages
 *          differ in length, each element begins with the length of its
 *          message. If the codec is `value`, a `shape_table` with 3568 bytes
 *          for texts lies behind the queue or ring. If ends are counted, rows
 *          of 32 words follow, first those of senders. A row has the id of its
 *          agent, or 0; the sequence of the last confirmed change of that
 *          agent; how many ends it has after its changes with an even sequence;
 *          and the same for an odd one. If the capacity is 0, there is no
 *          queue: four words follow that are 0, and then the place for one
 *          message, which begins with its length if messages differ in length.
 * ```
 */
export class Channel<T> extends ChannelBase<T> {
  /**
   * Attaches to the channel at `byteOffset`; writes nothing. The channel must
   * have been made with the same codec and carrier.
   *
   * @throws {TypeError} If `memory` is not shared, no channel of this layout
   * version was initialized there, or its messages are of another codec.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(
    memory: Memory,
    ...where: [T] extends [StructuredOf<T>] ? [
        byteOffset?: number | bigint | undefined,
        config?: ValueChannel<ChannelCodec<T>, T>,
      ]
      : [byteOffset: number | bigint | undefined, config: never]
  );
  /**
   * The same for other codecs.
   *
   * @throws {TypeError} If `memory` is not shared, no channel of this layout
   * version was initialized there, or its messages are of another codec.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(
    memory: Memory,
    byteOffset: number | bigint | undefined,
    config: ChannelCodec<T>,
  );
  constructor(
    memory: Memory,
    byteOffset?: number | bigint,
    config: AnyConfig<ChannelCodec<T>> = {},
  ) {
    assertConfig("channel", config, CONFIG_NAMES);
    const codec = codecOf<T>(config);
    let tracked = 0;
    let place = 0;
    const head = attach(
      "channel",
      CHANNEL,
      memory,
      byteOffset ?? 0,
      (_codec, _shape, words) => {
        place = placeOf(words);
        const mark = words[CHANNEL.tracked]!;
        tracked = mark & MAX_ROWS;
        if (mark === markOf(tracked)) return HEAD;
        throw new RangeError(`tracked is ${mark}`);
      },
    );
    const at = head.byteOffset;
    assertSameCodec(codec, head);
    const { carrier } = config;
    const id = agentId();
    const port = place > 0
      ? placePortAt(memory, at, codec, carrier, over, place, id)
      : portAt(memory, at + HEAD, codec, carrier ?? ANY, over);
    const { queue } = port;
    const length = (HEAD + queue.byteLength + tableBytes(codec) +
      rowsBytes(tracked)) / 4;
    const words = viewPlain("channel", { length }, memory, at);
    super(words, codec, port, tracked, id);
  }

  /**
   * The bytes a channel of this configuration occupies, made by `init`.
   *
   * @throws {TypeError} If `config` is not a channel's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength<T>(
    config: ChannelConfig<T> | ValueChannel<ChannelConfig<unknown>, unknown>,
  ): number {
    return planOf<T>(config, ANY, tableBytes).byteLength;
  }

  /**
   * Allocates an empty channel.
   *
   * @throws {TypeError} If `config` is not a channel's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<T = unknown>(
    config: ValueChannel<ChannelConfig<T>, T>,
  ): Channel<T>;
  /**
   * The same with `codec.json`.
   *
   * @throws {TypeError} If `config` is not a channel's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<T = JsonValue>(
    config: JsonChannel<ChannelConfig<T>, T>,
  ): Channel<T>;
  /**
   * The same for other codecs.
   *
   * @throws {TypeError} If `config` is not a channel's configuration.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<T>(config: ChannelConfig<T>): Channel<T>;
  static create<T>(config: AnyConfig<ChannelConfig<T>>): Channel<T> {
    const own = inOwnMemory(config, ANY);
    const init = (memory: Memory) =>
      Channel.init(memory, 0, own as ChannelConfig<T>);
    return inNewMemory(planOf<T>(own, ANY, tableBytes).byteLength, init);
  }

  /**
   * Initializes an empty channel in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a
   * channel's configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<T = unknown>(
    memory: Memory,
    byteOffset: number | bigint,
    config: ValueChannel<ChannelConfig<T>, T>,
  ): Channel<T>;
  /**
   * The same with `codec.json`.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a
   * channel's configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<T = JsonValue>(
    memory: Memory,
    byteOffset: number | bigint,
    config: JsonChannel<ChannelConfig<T>, T>,
  ): Channel<T>;
  /**
   * The same for other codecs.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not a
   * channel's configuration.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<T>(
    memory: Memory,
    byteOffset: number | bigint,
    config: ChannelConfig<T>,
  ): Channel<T>;
  static init<T>(
    memory: Memory,
    byteOffset: number | bigint,
    config: AnyConfig<ChannelConfig<T>>,
  ): Channel<T> {
    const plan = planOf<T>(config, ANY, tableBytes);
    const { codec, kind, capacity, size, messageSize, byteLength } = plan;
    const { tracked, table } = plan;
    const { carrier } = config;
    const length = byteLength / 4;
    const all = viewPlain("channel", { length }, memory, byteOffset);
    const at = all.byteOffset;
    kind.init(memory, at + HEAD, capacity, size);
    if (isShaped(codec)) ShapeTable.init(memory, at + table);
    all.fill(0, length - rowsBytes(tracked) / 4);
    const words = wordsOf(codec);
    format(
      "channel",
      CHANNEL,
      memory,
      at,
      HEAD,
      words,
      (head) => {
        head[CHANNEL.message_size] = messageSize;
        if (capacity === 0) head[CHANNEL.place] = size;
        if (tracked === 0) return;
        head[CHANNEL.tracked] = markOf(tracked);
        head[CHANNEL.senders] = head[CHANNEL.receivers] = NO_ENDS;
      },
    );
    const same = { codec: codec as CodecOf<T>, carrier };
    return new Channel<T>(memory, at, same);
  }

  /**
   * Attaches to the channel whose handle came in a message. Give the codec of
   * the channel, and its carrier, if it was made with one.
   *
   * @throws {TypeError} If the handle names another kind, the channel has
   * another codec, or no channel is there.
   */
  static from<T = unknown>(
    handle: Handle<"channel">,
    ...config: [T] extends [StructuredOf<T>]
      ? [config?: ValueChannel<ChannelCodec<T>, T>]
      : [config: never]
  ): Channel<T>;
  /**
   * The same with `codec.json`.
   *
   * @throws {TypeError} If the handle names another kind, the channel has
   * another codec, or no channel is there.
   */
  static from<T = JsonValue>(
    handle: Handle<"channel">,
    config: JsonChannel<ChannelCodec<T>, T>,
  ): Channel<T>;
  /**
   * The same for other codecs.
   *
   * @throws {TypeError} If the handle names another kind, the channel has
   * another codec, or no channel is there.
   */
  static from<T>(
    handle: Handle<"channel">,
    config: ChannelCodec<T>,
  ): Channel<T>;
  static from<T>(
    handle: Handle<"channel">,
    config?: AnyConfig<ChannelCodec<T>>,
  ): Channel<T> {
    const at = fromHandle("channel", handle);
    return new Channel<T>(...at, config as ChannelCodec<T>);
  }

  /**
   * Sends `value`, blocking while there is no room for it.
   *
   * @throws {ClosedError} If the channel was closed.
   * @throws {RangeError} If the message would be longer than `maxLength`.
   * @throws {TypeError} If the codec cannot deliver an equal value, or this
   * agent may not block.
   */
  send(value: T): void {
    assertMayBlock("send");
    if (!this.port.trySend(value)) this.#sendSlow(value);
  }

  /** As `send`, but waits at most `timeout` ms; false if no room came free. */
  trySend(value: T, timeout = 0): boolean {
    if (timeout === 0) return this.port.trySend(value);
    assertMayTry("trySend", timeout);
    return this.port.trySend(value) || this.#sendSlow(value, timeout);
  }

  /**
   * As `send`, awaiting instead of blocking. The message holds `value` as it
   * was at the call.
   */
  async sendAsync(value: T, options?: AsyncOptions): Promise<void> {
    const attempt = this.port.pack(value);
    await this.port.queue.asyncAt("push", attempt, options);
  }

  /** As `trySend`, awaiting instead of blocking: see `sendAsync`. */
  async trySendAsync(value: T, options?: TryAsyncOptions): Promise<boolean> {
    const attempt = this.port.pack(value);
    return await this.port.queue.tryAsyncAt("push", attempt, options) === true;
  }

  /**
   * Takes the oldest message, blocking while there is none.
   *
   * @throws {ClosedError} If the channel was closed and is empty.
   * @throws {TypeError} If this agent may not block; or if C sent a message
   * that the codec cannot read. That message is removed.
   */
  receive(): T {
    assertMayBlock("receive");
    const value = this.port.tryTake();
    return value !== NONE ? value : this.#receiveSlow()![0];
  }

  /**
   * As `receive`, but waits at most `timeout` ms; undefined if no message came.
   */
  tryReceive(timeout = 0): T | undefined {
    if (timeout !== 0) assertMayTry("tryReceive", timeout);
    const value = this.port.tryTake();
    if (value !== NONE) return value;
    return timeout === 0 ? undefined : this.#receiveSlow(timeout)?.[0];
  }

  /** As `receive`, awaiting instead of blocking. */
  async receiveAsync(options?: AsyncOptions): Promise<T> {
    return (await this.port.queue.asyncAt(
      "pop",
      () => this.tryTake(),
      options,
    ))[0];
  }

  /** As `tryReceive`, awaiting instead of blocking. */
  async tryReceiveAsync(options?: TryAsyncOptions): Promise<T | undefined> {
    const box = await this.port.queue.tryAsyncAt(
      "pop",
      () => this.tryTake(),
      options,
    );
    return box?.[0];
  }

  /**
   * Takes messages as they come, until the channel is closed and empty. A loop
   * that ends early loses no message. If `signal` aborts, the iteration throws
   * `signal.reason`.
   *
   * @throws {TypeError} If an option is unknown or of the wrong type; or if C
   * sent a message that the codec cannot read. That message is removed.
   */
  values(options?: AsyncOptions): AsyncGenerator<T, void, void> {
    let box: [T] | undefined;
    return iterate({
      take: () => (box = this.tryTake())?.[0],
      // A message may be undefined. Then it is in the box already.
      takeAsync: (options) => {
        if (box === undefined) return this.receiveAsync(options);
        const [message] = box;
        box = undefined;
        return new Promise((settle) => deliver(settle, message));
      },
      isEnd: (error) => error instanceof ClosedError,
    }, options);
  }

  // The slow paths are functions of their own: otherwise each call of a fast
  // path would pay for the closure.

  #sendSlow(value: T, timeout?: number): boolean {
    const attempt = this.port.pack(value, false);
    return this.port.queue.blockAt("push", attempt, timeout) === true;
  }

  #receiveSlow(timeout?: number): [T] | undefined {
    return this.port.queue.blockAt("pop", () => this.tryTake(), timeout);
  }
}

/** The bytes of the table of shapes of a channel with this codec. */
const tableBytes = <T>(codec: Codec<T>): number =>
  isShaped(codec) ? ShapeTable.byteLength() : 0;

/**
 * The codec with the channel's table of shapes, which lies behind its queue.
 */
function over<T>(
  codec: Codec<T>,
  memory: Memory,
  at: number,
  { byteLength }: { byteLength: number },
): Codec<T> {
  if (!isShaped(codec)) return codec;
  return codec.over(new ShapeTable(memory, at + byteLength));
}
