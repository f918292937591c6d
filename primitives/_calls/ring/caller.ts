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
import type { Slots } from "./slots.ts";

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
    if (timeout === undefined && slots.isAwaited) block(slots.giveWay());
    let at = slots.post(request);
    if (at === 0 && timeout !== 0) {
      at = spin(() => slots.post(request) || undefined) ?? 0;
    }
    const rest = () => block(calling(slots, request, at, receive), timeout);
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
