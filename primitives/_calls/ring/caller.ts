/**
 * A caller of a `CallRing` that waits for the answer: it posts a call, spins,
 * and then sleeps or awaits.
 *
 * @module
 */

import { ASYNC, readOptions, TRY_ASYNC } from "../../_memory/options.ts";
import type { Elements } from "../../_queue/elements.ts";
import { waitOn } from "../../_wait/pending.ts";
import { spin, spinPatiently } from "../../_wait/spin.ts";
import {
  block,
  type blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "../../_wait/wait.ts";
import { answered, cancel, giveUp, isAnswered } from "./call.ts";
import { Lookout } from "./lookout.ts";
import { MOST_PAUSES, type Slots } from "./slots.ts";
import { PAUSES, REPLY } from "./words.ts";

/**
 * The time in ms after which a caller lets others go first, and the length of
 * its pause: an agent takes that long to wake up on a busy machine.
 */
const TURN = 50, PAUSE = 2;

/** A call that awaits, and is not asleep yet. */
interface Awaiting {
  readonly at: number;
  /** Takes the answer. */
  take(): void;
  /** Awaits the answer, which did not come soon. */
  sleep(): void;
}

/** Makes the calls of one view of a ring. */
export class Caller {
  readonly #slots: Slots;
  readonly #lookout: Lookout<Awaiting>;
  /** When this agent last let others go first. */
  #gaveWay = -Infinity;

  constructor(slots: Slots) {
    this.#slots = slots;
    this.#lookout = new Lookout(
      slots,
      (call) => call.take(),
      (call) => call.sleep(),
    );
  }

  /**
   * Posts a call, blocks until its answer comes, and takes it by `receive`;
   * undefined if `timeout` ms have passed.
   */
  call<T>(
    request: Elements,
    timeout: number | undefined,
    receive: (at: number) => T,
  ): T | undefined {
    const slots = this.#slots;
    if (timeout === undefined && this.isAwaited) block(this.giveWay());
    let at = slots.post(request);
    if (at === 0 && timeout !== 0) {
      at = spin(() => slots.post(request) || undefined) ?? 0;
    }
    const rest = () => block(this.#calling(request, at, receive), timeout);
    if (at === 0 || timeout === 0) return rest();
    if (spinPatiently(() => isAnswered(slots.words, at))) return receive(at);
    return rest();
  }

  /**
   * Posts a call and awaits it by `awaits`; `receiver` returns the function
   * that takes the reply.
   */
  callAsync<T>(
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
      const spins = timeout > 0 && signal === undefined && !this.isAwaited;
      if (spins) at = slots.post(request);
    } catch (error) {
      return awaits(() => {
        throw error;
      });
    }
    const path = () => this.#calling(request, at, receive);
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

  /**
   * A whole call, from its post to its end. If it was posted already, at `at`,
   * it begins there.
   */
  *#calling<T>(
    request: Elements,
    at: number,
    receive: (at: number) => T,
  ): Waiting<T | undefined> {
    const slots = this.#slots;
    if (at === 0 && this.isAwaited && !(yield* this.giveWay())) {
      return undefined;
    }
    at ||= (yield* waitOn(slots.posting(request, true))) ?? 0;
    if (at === 0) return undefined;
    let over = false;
    try {
      if (!(yield* answered(slots.words, at)) && giveUp(slots.words, at)) {
        over = true;
        return undefined;
      }
      over = true; // it may have been answered at that moment
      return receive(at);
    } finally {
      if (!over) cancel(slots.words, at); // a sleep threw
    }
  }

  /**
   * Pauses, now and then, if others were woken and found no free slot. An agent
   * that calls in a loop takes the slot that it has just freed again, before a
   * caller that it woke has a core; on a busy machine, it could keep that
   * caller out for seconds. Nobody wakes the word on which it sleeps. Each
   * pause counts, so that an agent that was terminated while it waited makes
   * the others pause a few times only. Returns false if the time is over.
   */
  *giveWay(): Waiting<boolean> {
    const { words, maxReply } = this.#slots;
    const due = words[PAUSES]!; // a hint: the exchange checks it
    const now = performance.now();
    if (due <= 0 || now - this.#gaveWay < TURN) return true;
    this.#gaveWay = now;
    const left = Math.min(due, MOST_PAUSES) - 1;
    Atomics.compareExchange(words, PAUSES, due, left);
    const sleep = { words, index: REPLY, value: maxReply, atMost: PAUSE };
    return (yield sleep) !== "timed-out";
  }

  /** Whether other callers found no free slot, so that this one gives way. */
  get isAwaited(): boolean {
    return this.#slots.words[PAUSES]! > 0; // a hint
  }
}
