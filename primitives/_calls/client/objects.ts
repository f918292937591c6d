/**
 * Objects that stayed where they are served, what stands for them here, and
 * how they are released.
 *
 * @module
 */

import { offGarbage, onGarbage } from "../../_message/garbage.ts";
import { ClosedError } from "../../_queue/queue.ts";
import { refer } from "../../_wait/times.ts";
import type { Parcel } from "../beside.ts";
import {
  blockingIterator,
  iterable,
  RemoteIterator,
  type Steps,
} from "../iterators.ts";
import { disposableBy, type Ends, type Invoke } from "../remote.ts";
import { CallError } from "../ring/answers.ts";
import {
  CALL,
  GET,
  INSTANCE,
  KEPT_MS,
  MAKE,
  NEXT,
  OF_OBJECT,
  RELEASE,
  RETURN,
  THROW,
} from "../wire.ts";
import type { Call } from "./requests.ts";

/** How long a caller that blocks waits until an object is released, in ms. */
const RELEASE_MS = 1000;
/** The longest pause in ms; after that, it tries with the next object only. */
const MOST_PAUSE_MS = 64_000;

/** An object of another agent that something here stands for. */
interface Held {
  readonly key: string;
  released: boolean;
  /** How many of its calls are awaited. */
  calls: number;
}

/** How a call is made that differs from the others of a `connect`. */
export interface CallOptions {
  readonly ref?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly parcel?: Parcel | undefined;
}

/** How calls are made. */
interface Calling {
  /** Whether they block. */
  readonly blocks: boolean;
  prepared(name: string, what: number): Call;
  invoke(call: Call): Invoke;
  call(call: Call, args: unknown[], options?: CallOptions): unknown;
  callAsync(
    call: Call,
    args: unknown[],
    options?: CallOptions,
  ): Promise<unknown>;
  /** Whether a method threw the error. */
  threw(error: unknown): boolean;
}

/** The objects of other agents that something here stands for. */
export class HeldObjects {
  readonly #calling: Calling;
  /** Those that wait for another attempt: their server had no time. */
  readonly #unreleased: string[] = [];
  /** Whether a timer tries them again. */
  #trying = false;
  /** Not before this time; and how many ms that is after the last attempt. */
  #notBefore = 0;
  #pause = RELEASE_MS;
  readonly #releasing = (key: string): void => this.#release(key);

  constructor(calling: Calling) {
    this.#calling = calling;
  }

  /** The ends of the object that is served, or of one that stayed there. */
  ends(held?: Held): Ends {
    const prepare = (path: string, what: number): Invoke => {
      if (held === undefined) {
        return this.#calling.invoke(this.#calling.prepared(path, what));
      }
      const call = this.#calling.prepared(
        `${held.key}.${path}`,
        what | OF_OBJECT,
      );
      const invoke = this.#calling.invoke(call);
      return (args, called) => {
        if (!held.released) return this.#during(held, invoke(args, called));
        const error = new TypeError("The object was released");
        if (this.#calling.blocks) throw error;
        return Promise.reject(error);
      };
    };
    return {
      call: (path) => prepare(path, CALL),
      make: (path) => prepare(path, MAKE),
      get: this.#calling.blocks
        ? undefined
        : (path) => prepare(path, GET)([]) as Promise<unknown>,
    };
  }

  /**
   * A call of an object. The object is released after it, because a server may
   * take what was asked for later first; and it is no garbage until then.
   */
  #during(held: Held, result: unknown): unknown {
    if (this.#calling.blocks) return result;
    held.calls++;
    const end = () => {
      if (--held.calls === 0 && held.released) this.#release(held.key);
    };
    return iterable((result as Promise<unknown>).then((value) => {
      end();
      return value;
    }, (error) => {
      end();
      throw error;
    }));
  }

  /** What stands for an object that stayed where it is served. */
  standFor(kind: number, key: string): object {
    const held: Held = { key, released: false, calls: 0 };
    onGarbage(held, this.#releasing, key);
    if (kind === INSTANCE) {
      return disposableBy(this.ends(held), () => {
        if (held.released) return;
        held.released = true;
        offGarbage(held);
        if (held.calls === 0) this.#release(key);
      });
    }
    const step = (what: number) => {
      const invoke = this.#calling.invoke(
        this.#calling.prepared(held.key, what | OF_OBJECT),
      );
      // `held` lives for as long as the iterator, because it is used here.
      return (args: unknown[]) => held.key === key ? invoke(args) : undefined;
    };
    const steps: Steps = {
      next: step(NEXT),
      return: step(RETURN),
      throw: step(THROW),
      over: () => offGarbage(held),
      failed: (error) => {
        offGarbage(held);
        if (!this.#isOver(error)) this.#release(key);
      },
    };
    return this.#calling.blocks
      ? blockingIterator(steps)
      : new RemoteIterator(steps);
  }

  /**
   * Whether an iterator has ended whose step failed so: it threw the error, or
   * its server has ended.
   */
  #isOver(error: unknown): boolean {
    return error instanceof ClosedError || error instanceof CallError ||
      this.#calling.threw(error);
  }

  /**
   * Nothing here stands for the object any more. If its server has no time for
   * long, it is released together with the next object. An attempt without an
   * end would keep a ring for ever that nobody serves any more.
   */
  #release(key: string): void {
    if (this.#calling.blocks) return this.#releaseNow(key);
    for (const due of [...this.#unreleased.splice(0), key]) {
      const call = this.#calling.prepared(due, RELEASE | OF_OBJECT);
      // If the ring is closed, the object is released already.
      this.#calling.callAsync(call, [], { ref: false, timeout: KEPT_MS })
        .catch(({ name }) => {
          if (name === "TimeoutError") this.#unreleased.push(due);
        });
    }
  }

  /**
   * Releases an object of a caller that blocks, and those before it that took
   * too long. It waits for each: while this agent blocks, it receives nothing
   * that it awaits, and these calls would keep their slots.
   */
  #releaseNow(last?: string): void {
    const keys = this.#unreleased;
    if (last !== undefined) keys.push(last);
    if (performance.now() < this.#notBefore) return;
    while (keys.length > 0) {
      const call = this.#calling.prepared(keys[0]!, RELEASE | OF_OBJECT);
      try {
        this.#calling.call(call, [], { timeout: RELEASE_MS });
      } catch (error) {
        if ((error as Error).name === "TimeoutError") return this.#tryLater();
      }
      keys.shift(); // released, or gone with the ring or its server
    }
    this.#pause = RELEASE_MS;
  }

  /**
   * Releases objects when the server may have time for them. If it never has,
   * it may be gone: a timer without an end would keep its ring for ever.
   */
  #tryLater(): void {
    const again = () => {
      this.#trying = false;
      this.#notBefore = 0; // a timer may be early
      this.#releaseNow();
    };
    if (!this.#trying && this.#pause < MOST_PAUSE_MS) {
      refer(setTimeout(again, this.#pause), false);
      this.#trying = true;
    }
    this.#notBefore = performance.now() + this.#pause;
    this.#pause = Math.min(2 * this.#pause, MOST_PAUSE_MS);
  }
}
