/**
 * What waits at the two ends of a `RecordRing`.
 *
 * @module
 */

import { atEpoch, wakeEnd as wake } from "../../_wait/event_count.ts";
import {
  awaitOn,
  blockOn,
  type PendingResult,
  tryAwaitOn,
  tryBlockOn,
  waitOn,
} from "../../_wait/pending.ts";
import type {
  AsyncOptions,
  TryAsyncOptions,
  Waiting,
} from "../../_wait/wait.ts";
import { ClosedError } from "../queue.ts";
import { RecordCore } from "./core.ts";
import { DATA, POP_EPOCH, POP_GONG, PUSH_EPOCH, PUSH_GONG } from "./words.ts";

/**
 * The core together with what waits at its two ends, as `Queue` has it. A
 * channel needs no more.
 *
 * @ignore
 */
export class RecordEnds extends RecordCore {
  readonly #words: Int32Array<SharedArrayBuffer> = new Int32Array(
    this.buffer,
    this.byteOffset,
    DATA,
  );

  /** @internal */
  readiness(awaits = true): Waiting<boolean | undefined> {
    return waitOn(this.pendingPop(() => this.lookAtRecord() !== 0), awaits);
  }

  /** @internal */
  gongAt(end: "push" | "pop"): number {
    return this.byteOffset / 4 + (end === "pop" ? POP_GONG : PUSH_GONG);
  }

  /** @internal */
  waitAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    awaits = true,
  ): Waiting<T | undefined> {
    return waitOn(this.pendingAt(end, attempt), awaits);
  }

  /**
   * Blocks until `attempt`, an operation at this end of the ring, returns a
   * result; waits at most `timeout` ms. An error that `attempt` throws, such as
   * a ClosedError, is thrown here, too.
   *
   * @throws {RangeError} If `timeout` is NaN or negative.
   * @throws {TypeError} If `timeout` is not a number, or this agent may not
   * block.
   *
   * @internal
   */
  blockAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    timeout?: number,
  ): T | undefined {
    const it = this.pendingAt(end, attempt);
    return timeout === undefined ? blockOn(it) : tryBlockOn(it, end, timeout);
  }

  /** @internal */
  asyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: AsyncOptions,
  ): Promise<T> {
    return awaitOn(this.pendingAt(end, attempt), options);
  }

  /** @internal */
  tryAsyncAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
    options?: TryAsyncOptions,
  ): Promise<T | undefined> {
    return tryAwaitOn(this.pendingAt(end, attempt), options);
  }

  /**
   * What {@linkcode waitAt} waits for.
   *
   * @internal
   */
  protected pendingAt<T>(
    end: "push" | "pop",
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    return end === "pop" ? this.pendingPop(attempt) : {
      ...atEpoch(this.#words, PUSH_EPOCH, true),
      place: { words: this.#words, index: PUSH_EPOCH },
      attempt,
      pass: () => this.passRoom(),
      handOn: () => this.handRoomOn(),
    };
  }

  /**
   * What a pop waits for, of which `attempt` is the operation.
   *
   * @internal
   */
  protected pendingPop<T>(
    attempt: () => T | false | undefined,
  ): PendingResult<T> {
    return {
      ...atEpoch(this.#words, POP_EPOCH),
      place: { words: this.#words, index: POP_EPOCH },
      attempt,
      // The records behind the one just taken were announced before it was
      // ready, so pass the wake on.
      pass: () => {
        const next = this.lookAtRecord();
        if (next !== 0) wake(this.#words, POP_EPOCH, next < 0 ? Infinity : 1);
      },
    };
  }

  /** @internal */
  protected override refuse(): never {
    throw new ClosedError("The ring is closed");
  }
}
