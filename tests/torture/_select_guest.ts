/**
 * Threads of C in the storm on select: they block at several channels of
 * numbers.
 *
 * @module
 */
import type { Channel } from "../../mod.ts";
import { done, type Guest, GuestThread } from "./_guest.ts";

/** What an agent that blocks needs of the channels. */
type Blocking = Pick<
  Channel<unknown>,
  "byteOffset" | "closed" | "trySend" | "tryReceive" | "sender" | "receiver"
>;

/** How an agent chooses: see `choose` in `storm.c`. */
const RANDOM = 0, FIRST = 1, LOOKS = 2;

/** What was chosen, as `select` tells it. */
interface Chosen {
  readonly index: number;
  readonly done: boolean;
  readonly value: unknown;
}

/** A thread of C, on the thread of JavaScript that plays it. */
export class SelectThread {
  readonly #thread: GuestThread;

  /** Takes the thread's id in C, too. */
  constructor(guest: Guest) {
    this.#thread = new GuestThread(guest);
  }

  /** The channel at that place, as C uses it. */
  channel(at: number): Channel<unknown> {
    const { c, text, words } = this.#thread;
    const end = (sends: number) => {
      done(c.join!(at, sends));
      return { leave: () => void c.leave!(at, sends) };
    };
    const channel = {
      byteOffset: at,
      get closed() {
        return c.is_closed!(at) !== 0;
      },
      trySend: (value, timeout = 0) => {
        this.#thread.write(bytesOf(value as number));
        return done(c.send!(at, text, 4, timeout));
      },
      tryReceive: (timeout = 0) => {
        this.#thread.setWord(1, 4);
        if (!done(c.receive!(at, text, words + 4, timeout))) return undefined;
        return this.#wordAt(text);
      },
      sender: () => end(1),
      receiver: () => end(0),
    } as Blocking;
    return channel as Channel<unknown>;
  }

  /**
   * As `select.blocking`: sends `value` to one of `to`, or takes from `from`.
   */
  select(
    to: readonly Channel<unknown>[],
    value: unknown,
    from: readonly Channel<unknown>[],
    { order, timeout = -1 }: { order: string; timeout?: number },
  ): Chosen | undefined {
    const how = order === "first" ? FIRST : RANDOM;
    const arms = [
      ...to.map((it) => [it.byteOffset, 1, value as number]),
      ...from.map((it) => [it.byteOffset, 0, 0]),
    ];
    return this.#choose(arms, how, timeout);
  }

  /** As `waitAny.blocking`. */
  waitAny(
    from: readonly Channel<unknown>[],
    { timeout = -1 }: { timeout?: number },
  ): number | undefined {
    const arms = from.map((it) => [it.byteOffset, 0, 0]);
    return this.#choose(arms, LOOKS, timeout)?.index;
  }

  #choose(
    arms: readonly (readonly number[])[],
    how: number,
    timeout: number,
  ): Chosen | undefined {
    const { c, text, words } = this.#thread;
    this.#thread.write(new Uint8Array(Int32Array.from(arms.flat()).buffer));
    const result = c.choose!(text, arms.length, how, timeout, words);
    const index = this.#thread.word(0);
    const closed = { index, done: true, value: undefined };
    try {
      if (!done(result)) return undefined;
    } catch (error) {
      if ((error as Error).name === "ClosedError") return closed;
      throw error;
    }
    const takes = arms[index]![1] === 0;
    const value = takes ? this.#wordAt(text + index * 12 + 8) : undefined;
    return { index, done: false, value };
  }

  #wordAt(at: number): number {
    return new Int32Array(this.#thread.bytes(at, 4).slice().buffer)[0]!;
  }
}

const bytesOf = (value: number) => new Uint8Array(Int32Array.of(value).buffer);
