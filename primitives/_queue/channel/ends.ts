/**
 * The senders and receivers of a channel, counted so that it closes when the
 * last one of either goes.
 *
 * A counted word and its rows, as in `_memory/tracked.ts`, tell how many are
 * left of each. The word `ends` notes that there were some: a channel without
 * senders is open until its first ones have come and gone.
 *
 * Invariant: if there was a sender, and there is none, the channel is closed,
 * or the agent that left last is about to close it. If that agent is terminated
 * first, `abandon` closes the channel. The same holds for receivers.
 * C twin: in `channel.h`. Source: Rust's channels count their handles.
 *
 * @module
 */

import type { CHANNEL } from "../../_memory/layout.ts";
import { EndGuard } from "../../_memory/guard.ts";
import { inRange } from "../../_memory/memory.ts";
import {
  COUNT_SHIFT,
  MAX_COUNT,
  ROW,
  rowsLength,
  Tracked,
} from "../../_memory/tracked.ts";
import { ClosedError } from "../queue.ts";

const ENDS: typeof CHANNEL.ends = 6;
const SENDERS: typeof CHANNEL.senders = 7;
const RECEIVERS: typeof CHANNEL.receivers = 8;

const SENT_BIT = 1; // CHANNEL_BITS.SENT
const RECEIVED_BIT = 2; // CHANNEL_BITS.RECEIVED

/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;

/**
 * The counted words at the start: nobody has an end, so `MAX_COUNT` are free.
 */
// It is written out, because bundlers keep an expression with names in it.
export const NO_ENDS = 0x7ff0_0000;

/** One kind of end, as one agent uses it. */
interface End {
  readonly rows: Tracked;
  readonly counted: number;
  readonly bit: number;
}

/** What the counted ends close. */
interface Closing {
  readonly closed: boolean;
  close(): void;
}

/** The counted ends of a channel, as one agent uses them. */
export class Ends {
  readonly senders: End;
  readonly receivers: End;
  /** How many agents have rows at each end. */
  readonly agents: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #queue: Closing;

  /**
   * The ends of the channel of these words, whose rows for `agents` senders and
   * as many receivers lie at its end; used by the agent `id`.
   */
  constructor(
    words: Int32Array<SharedArrayBuffer>,
    agents: number,
    queue: Closing,
    id: number,
  ) {
    const at = words.length - 2 * rowsLength(agents);
    const end = (counted: number, bit: number, first: number): End => {
      const what = "The channel";
      const rows = new Tracked(what, words, counted, first, agents, id);
      return { rows, counted, bit };
    };
    this.senders = end(SENDERS, SENT_BIT, at);
    this.receivers = end(RECEIVERS, RECEIVED_BIT, at + agents * ROW);
    this.agents = agents;
    this.#words = words;
    this.#queue = queue;
  }

  /** How many there are of an end. */
  count({ counted }: End): number {
    return MAX_COUNT - (Atomics.load(this.#words, counted) >> COUNT_SHIFT);
  }

  /**
   * Makes this agent a sender.
   *
   * @throws {ClosedError} If the channel is closed.
   * @throws {RangeError} If there are too many.
   */
  send(): ChannelEnd {
    const end = this.#enter(this.senders);
    if (!this.#queue.closed) return end;
    this.leave(this.senders);
    throw new ClosedError("The channel is closed");
  }

  /**
   * Makes this agent a receiver. What is left in a closed channel can be
   * received.
   *
   * @throws {RangeError} If there are too many.
   */
  receive(): ChannelEnd {
    return this.#enter(this.receivers);
  }

  #enter(end: End): ChannelEnd {
    if (!end.rows.take(1)) {
      throw new RangeError(`Cannot count more than ${MAX_COUNT} ends`);
    }
    // (S) Whoever finds the bit set finds this agent counted, too.
    const words = this.#words;
    if ((Atomics.load(words, ENDS) & end.bit) === 0) {
      Atomics.or(words, ENDS, end.bit);
    }
    return new ChannelEnd(() => {
      if (end.rows.held > 0) this.leave(end); // else it was abandoned
    });
  }

  /**
   * Ends one that this agent has.
   *
   * @throws {TypeError} If it has none.
   */
  leave({ rows }: End): void {
    // (L) The channel closes if nobody was left just after this agent left.
    if (rows.give(1) === MAX_COUNT) this.#queue.close();
  }

  /**
   * Ends all that the agent `id` has; returns how many those were. The last
   * agent that left may have been terminated before it closed the channel, so
   * this closes it even if the agent has none.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   * @throws {DamagedError} If the words do not fit together.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, MAX_ID);
    if (id === 0) return 0;
    let sum = 0;
    for (const end of [this.senders, this.receivers]) {
      sum += end.rows.abandon(id);
      // Pairs with (S). An agent that was terminated before it never had one.
      const were = (Atomics.load(this.#words, ENDS) & end.bit) !== 0;
      if (were && this.count(end) === 0) this.#queue.close();
    }
    return sum;
  }
}

/**
 * A sender or a receiver, of which a channel counts how many are left; see
 * {@linkcode Channel.sender}. A `using` block ends it.
 *
 * @example A receiver that knows when all senders are gone
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const N = 100;
 * const config = { codec: codec.i32, capacity: 4, tracked: 2 };
 * const numbers = Channel.create(config);
 * async function send(from: number) {
 *   using _sender = numbers.sender();
 *   for (let n = from; n < N; n += 2) await numbers.sendAsync(n);
 * }
 * void send(0);
 * void send(1);
 * let sum = 0;
 * for await (const n of numbers) sum += n; // until both are gone
 * if (sum !== N * (N - 1) / 2) throw new Error(`${sum}`);
 * ```
 */
export class ChannelEnd extends EndGuard {
  #leave: (() => void) | undefined;

  /** For {@linkcode Channel}, which makes it when it has counted it. */
  constructor(leave: () => void) {
    super();
    this.#leave = leave;
  }

  /** Ends it, if it has not ended yet. */
  leave(): void {
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.();
  }
}
