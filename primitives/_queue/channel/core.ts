/**
 * What a channel has besides the operations that wait: its port to the queue or
 * ring that carries its messages, and the senders and receivers that it counts.
 *
 * @module
 */

import { CHANNEL } from "../../_memory/layout.ts";
import { Region, type WordsInspection } from "../../_memory/region.ts";
import type { Codec } from "../../_message/message.ts";
import type { Waiting } from "../../_wait/wait.ts";
import { NONE, type Port } from "../carrier.ts";
import { type ChannelEnd, Ends } from "./ends.ts";

/** The facts that `inspect` shows of a channel. */
export const CHANNELS: WordsInspection = { row: CHANNEL };

/**
 * The operations of a {@linkcode Channel} that do not wait.
 *
 * @ignore
 */
export class ChannelCore<T> extends Region<"channel"> {
  /** Turns the channel's values into messages. */
  readonly codec: Codec<T>;
  /**
   * The port to the queue or ring that carries the messages.
   *
   * @internal
   */
  protected readonly port: Port<T>;
  /** The senders and receivers, if they are counted. */
  readonly #ends: Ends | undefined;

  /** A channel that agent `id` uses; `tracked` agents have rows at each end. */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    codec: Codec<T>,
    port: Port<T>,
    tracked: number,
    id: number,
  ) {
    super("channel", words, CHANNELS);
    this.codec = codec;
    this.port = port;
    if (tracked > 0) this.#ends = new Ends(words, tracked, port.queue, id);
  }

  /** How many messages may be in the channel: see `ChannelConfig`. */
  get capacity(): number {
    return this.port.capacity;
  }

  /** Messages in the channel; a moment later it may be another number. */
  get size(): number {
    return this.port.size;
  }

  /** The most bytes of a message. */
  get maxLength(): number {
    return this.port.maxLength;
  }

  /** Whether `close` was called; messages may still be in the channel. */
  get closed(): boolean {
    return this.port.queue.closed;
  }

  /**
   * Closes the channel for good, and wakes every sleeper. Sending fails from
   * now on. Receiving takes the messages that are left, and then fails.
   */
  close(): void {
    this.port.queue.close();
  }

  /**
   * How many agents note that they send or receive: what `tracked` was, or 0.
   */
  get tracked(): number {
    return this.#ends?.agents ?? 0;
  }

  /** How many senders there are; 0 if the channel does not count them. */
  get senders(): number {
    const ends = this.#ends;
    return ends?.count(ends.senders) ?? 0;
  }

  /** How many receivers there are; 0 if the channel does not count them. */
  get receivers(): number {
    const ends = this.#ends;
    return ends?.count(ends.receivers) ?? 0;
  }

  /**
   * Counts this agent as a sender, until the result leaves. When the last
   * sender has left, the channel closes for good: receivers get what is left,
   * and then a `ClosedError`. So make the next sender before the last one
   * leaves. An agent may have several, and it may send without one, which
   * nobody counts. A sender that begins while the last one leaves may find out
   * by its first `send` that the channel is closed.
   *
   * @example Until the end of a block
   * ```ts
   * import { Channel } from "@weft/sync";
   *
   * const words = Channel.create<string>({ capacity: 4, tracked: 1 });
   * {
   *   using _sender = words.sender();
   *   words.send("last");
   * }
   * if (!words.closed || words.receive() !== "last") throw new Error("open");
   * ```
   *
   * @throws {ClosedError} If the channel is closed.
   * @throws {TypeError} If the channel was made without `tracked`.
   * @throws {RangeError} If `tracked` other agents have or had senders, or 2047
   * senders are counted.
   */
  sender(): ChannelEnd {
    return this.#counted().send();
  }

  /**
   * Counts this agent as a receiver, until the result leaves. When the last
   * receiver has left, the channel closes for good: every `send`, also one that
   * waits, throws a `ClosedError`. A closed channel has receivers, too: they
   * take what is left.
   *
   * @throws {TypeError} If the channel was made without `tracked`.
   * @throws {RangeError} If `tracked` other agents have or had receivers, or
   * 2047 receivers are counted.
   */
  receiver(): ChannelEnd {
    return this.#counted().receive();
  }

  /**
   * Ends one sender that this agent has, as the result of `sender` does.
   *
   * @throws {TypeError} If it has none.
   */
  leaveSender(): void {
    const ends = this.#counted();
    ends.leave(ends.senders);
  }

  /**
   * Ends one receiver that this agent has, as the result of `receiver` does.
   *
   * @throws {TypeError} If it has none.
   */
  leaveReceiver(): void {
    const ends = this.#counted();
    ends.leave(ends.receivers);
  }

  #counted(): Ends {
    if (this.#ends !== undefined) return this.#ends;
    throw new TypeError(
      "This channel does not count its ends: make it with `tracked`, the " +
        "number of agents that have them",
    );
  }

  /**
   * Ends what agent `id`, known never to run again, had begun to send or to
   * receive; returns how many messages it had begun to send. Ends its counted
   * senders and receivers; the channel closes if no others are left. Ends its
   * role if it was the one receiver or sender; an agent may give such a role up
   * itself, by its own id. If another agent is sending at this moment,
   * nothing is done, and its id is returned, negated: call this again. If the
   * same id comes back, that agent has ended, too: abandon it first. It ends
   * none where a queue carries the messages. If the capacity is 0, it also ends
   * all offers of receivers; those that are alive offer again.
   */
  abandon(id: number): number {
    const skipped = this.port.abandon(id);
    if (skipped >= 0) this.abandonEnds(id);
    return skipped;
  }

  /**
   * Ends the counted senders and receivers of agent `id`, and nothing else;
   * returns how many those were. `abandon` does it, too.
   *
   * @throws {DamagedError} If the words do not fit together.
   * @internal
   */
  abandonEnds(id: number): number {
    return this.#ends?.abandon(id) ?? 0;
  }

  /**
   * Ends the roles of agent `id`, and nothing else; returns how many those
   * were. `abandon` does it, too.
   *
   * @throws {RangeError} If there are roles, and `id` is not 0 and not an
   * agent's id.
   * @internal
   */
  abandonRoles(id: number): number {
    return this.port.abandonRoles(id);
  }

  // What `select` and `waitAny` need: see `Selectable`.

  /** @internal */
  readiness(awaits = true): Waiting<boolean | undefined> {
    return this.port.queue.readiness(awaits);
  }

  /** @internal */
  gongAt(end: "push" | "pop"): number | undefined {
    return this.port.queue.gongAt?.(end);
  }

  /** @internal */
  waitAt<R>(
    end: "push" | "pop",
    attempt: () => R | false | undefined,
    awaits = true,
  ): Waiting<R | undefined> {
    return this.port.queue.waitAt(end, attempt, awaits);
  }

  /**
   * Takes a message, in an array because it may be undefined; undefined if
   * there is none.
   *
   * @internal
   */
  tryTake(): [T] | undefined {
    const value = this.port.tryTake();
    return value === NONE ? undefined : [value];
  }

  /**
   * Encodes `value` now; what it returns sends it, or returns false if there is
   * no room.
   *
   * @throws {TypeError} If it is not what the codec takes.
   * @throws {RangeError} If it is too long.
   * @internal
   */
  pack(value: T): () => boolean {
    return this.port.pack(value);
  }
}
