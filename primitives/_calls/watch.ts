/**
 * The AbortSignals of functions that serve calls. Each aborts when the caller
 * gives up.
 *
 * @module
 */

import { refer } from "../_wait/times.ts";
import { isWanted } from "./ring/call.ts";
import type { Slots } from "./ring/slots.ts";

/** The interval, in ms, at which awaited calls are checked for aborts. */
const LOOK = 10;

/** A call whose function was given a signal. */
export interface Watched {
  /** The slot of the call; 0 while its caller is called back. */
  at: number;
  /** Aborts the signal. */
  readonly control: AbortController;
}

/** The signals of one server. */
export class Watches {
  readonly #slots: Slots;
  readonly #reasonAt: (at: number) => unknown;
  readonly #ref: boolean;
  readonly #watched = new Set<Watched>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * The server takes its calls from these slots. `reasonAt` tells why the
   * caller of one gave up; undefined if nobody knows. `ref` says whether calls
   * that it looks at keep the process alive.
   */
  constructor(
    slots: Slots,
    reasonAt: (at: number) => unknown = () => {},
    ref = true,
  ) {
    this.#slots = slots;
    this.#reasonAt = reasonAt;
    this.#ref = ref;
  }

  /** Makes the signal of a call, which aborts when its caller has given up. */
  begin(at: number): Watched {
    const control = new AbortController();
    const { signal } = control;
    const watched = { at, control };
    this.#watched.add(watched);
    // A function that does not await sees it as well, whenever it looks.
    Object.defineProperties(signal, {
      aborted: {
        configurable: true,
        get: () => {
          this.#lookAt(watched);
          return Reflect.get(AbortSignal.prototype, "aborted", signal);
        },
      },
      throwIfAborted: {
        configurable: true,
        value: () => {
          if (signal.aborted) throw signal.reason;
        },
      },
    });
    return watched;
  }

  /** From now on looks at all calls from time to time, until they end. */
  lookOut(): void {
    if (this.#watched.size === 0 || this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), LOOK);
    refer(this.#timer, this.#ref);
  }

  /** Ends the watch of a call, before the call is answered. */
  end(watched: Watched | undefined): void {
    if (watched === undefined) return;
    this.#watched.delete(watched);
    if (this.#watched.size === 0) this.stop();
  }

  /** Looks at no call any more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    for (const watched of this.#watched) this.#lookAt(watched);
  }

  #lookAt(watched: Watched): void {
    // Once it is answered, the slot is another call's.
    const { at } = watched;
    if (!this.#watched.has(watched)) return;
    if (at === 0 || isWanted(this.#slots.words, at)) return;
    this.#watched.delete(watched);
    watched.control.abort(this.#reasonAt(watched.at));
  }
}
