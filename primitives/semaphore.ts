/**
 * A counting semaphore for several permits at once.
 *
 * @module
 */

import { SEMAPHORE } from "./_layout.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_region.ts";
import { spin, spinning } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";
import { agentId } from "./agent.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const PERMITS = SEMAPHORE.permits;
const WAITERS = SEMAPHORE.waiters;
const TURN = SEMAPHORE.turn;
const BULK = SEMAPHORE.bulk;
const CLAIMANT = SEMAPHORE.claimant;
const CLAIM = SEMAPHORE.claim;

/** The most permits there can be. */
const MAX_PERMITS = 2 ** 30 - 1;

/**
 * What can be told of a semaphore.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: SEMAPHORE,
  waiters: (words) => words[WAITERS]!,
};

/**
 * A counting semaphore: `acquire(n)` takes `n` permits at once, sleeping while
 * there are fewer; `release(n)` returns them, and any agent may call it.
 *
 * ```text
 * word 0  magic     Kind and layout version.
 * word 1  seal      Check word over the configuration.
 * word 2  permits   Free permits, up to 2^30 - 1. Below 0: what the claimant
 *                   still lacks.
 *                   sleepers: agents that want one permit
 * word 3  waiters   Operations in the slow path of `acquire`.
 * word 4  turn      Changes when agents that want several permits must look
 *                   again.
 *                   sleepers: agents that want several permits
 * word 5  bulk      Operations that sleep on `turn`, or are about to.
 * word 6  claimant  The agent that took its permits in advance, or 0.
 * word 7  claim     How many permits it took.
 * ```
 *
 * A waiter that was passed over takes its permits in advance, as a debt that
 * the next releases pay: whoever comes later finds none and queues behind.
 *
 * Invariant: a sleeper is counted in `waiters`, and in `bulk` if it sleeps on
 * `turn`. Both may be high (an agent was terminated), never low.
 * Progress: `tryAcquire` and `release` are lock-free; `acquire` and
 * `acquireAsync` block. An agent terminated while it waits costs the others
 * nothing, unless it was the claimant: then its claim, until `abandon(id)`.
 * Fairness: a newcomer may pass sleepers, but not the claimant; a waiter claims
 * once it was passed over 8 times, not counting those who waited before it.
 * C twin: `weft_semaphore`. Source: Dijkstra, EWD 74; waiter count, glibc.
 *
 * @example At most two agents in a section
 * ```ts
 * import { Semaphore } from "@weft/sync";
 *
 * const semaphore = Semaphore.create(2); // post semaphore.handle to workers
 * if (!semaphore.acquire(1, 50)) throw new Error("no permit within 50 ms");
 * semaphore.release();
 * ```
 */
export class Semaphore extends Region<"semaphore"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #id: number;

  /**
   * Attaches to the semaphore at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no semaphore of this
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const length = Semaphore.byteLength();
    const words = attach(
      "semaphore",
      SEMAPHORE,
      memory,
      byteOffset,
      () => length,
    );
    super("semaphore", words, INSPECTION);
    this.#words = words;
    this.#id = agentId();
  }

  /** The bytes a semaphore occupies. */
  static byteLength(): number {
    return SEMAPHORE.length * 4;
  }

  /**
   * Allocates a semaphore holding `permits`, 0 to 2^30 - 1.
   *
   * @throws {RangeError} If `permits` is out of range.
   */
  static create(permits = 0): Semaphore {
    return Semaphore.init(allocate(Semaphore.byteLength()), 0, permits);
  }

  /**
   * Makes a region that nobody uses yet a semaphore holding `permits`.
   *
   * @throws {TypeError} If `memory` is not shared.
   * @throws {RangeError} If it does not fit there, or `permits` is out of
   * range.
   */
  static init(memory: Memory, byteOffset: number, permits = 0): Semaphore {
    inRange("Permits", permits, 0, MAX_PERMITS);
    const length = Semaphore.byteLength();
    format("semaphore", SEMAPHORE, memory, byteOffset, length, [], (words) => {
      words[PERMITS] = permits;
    });
    return new Semaphore(memory, byteOffset);
  }

  /**
   * Attaches to the semaphore a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): Semaphore {
    return new Semaphore(...fromHandle("semaphore", handle));
  }

  /** Free permits, 0 or more. */
  get available(): number {
    return Math.max(Atomics.load(this.#words, PERMITS), 0);
  }

  /**
   * Takes `n` permits if that many are free, without waiting. Permits laid
   * aside for a claimant are not free.
   *
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1.
   */
  tryAcquire(n = 1): boolean {
    return this.#take(inRange("Permits to acquire", n, 1, MAX_PERMITS));
  }

  /**
   * Takes `n` permits, blocking up to `timeout` ms; false if they did not come
   * free in that time.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1, or
   * `timeout` is negative or NaN.
   */
  acquire(n = 1, timeout = Infinity): boolean {
    assertMayBlock("acquire");
    inRange("Permits to acquire", n, 1, MAX_PERMITS);
    if (timeout !== Infinity) assertTimeout(timeout);
    if (this.#take(n)) return true;
    return this.#acquireWaiting(n, timeout);
  }

  /** As {@linkcode acquire}, awaiting instead of blocking. */
  acquireAsync(n = 1, options?: AsyncOptions): Promise<boolean> {
    return blockAsync(() => {
      inRange("Permits to acquire", n, 1, MAX_PERMITS);
      return this.#acquireSlow(n);
    }, options);
  }

  /**
   * Returns `n` permits and wakes those whom they serve.
   *
   * @throws {RangeError} If `n` is not an integer from 1 to 2^30 - 1, or there
   * would be more than 2^30 - 1 permits.
   */
  release(n = 1): void {
    inRange("Permits to release", n, 1, MAX_PERMITS);
    const words = this.#words;
    let permits = words[PERMITS]!; // a hint: the exchange below checks it
    if (permits + n > MAX_PERMITS) permits = Atomics.load(words, PERMITS);
    for (;;) {
      if (permits + n > MAX_PERMITS) {
        throw new RangeError(
          `Cannot release ${n} permits: there are ${permits}, and at most ` +
            `${MAX_PERMITS} are possible`,
        );
      }
      const sum = permits + n;
      const seen = Atomics.compareExchange(words, PERMITS, permits, sum);
      if (seen === permits) break;
      permits = seen;
    }
    // Pairs with (W): we see the waiter, or the waiter sees our permits.
    if (Atomics.load(words, WAITERS) > 0) this.#wake(n, permits + n);
  }

  /**
   * Gives back what agent `id` claimed in advance, if it is known never to run
   * again; false if it had no claim. Permits it had acquired stay taken.
   */
  abandon(id: number): boolean {
    const words = this.#words;
    if (id === 0 || Atomics.load(words, CLAIMANT) !== id) return false;
    const n = Atomics.exchange(words, CLAIM, 0);
    this.#endClaim();
    if (n > 0) this.#giveBack(n);
    return true;
  }

  /**
   * Waits until a permit is free.
   *
   * @internal
   */
  *readiness(): Waiting<boolean> {
    const words = this.#words;
    if (this.available > 0) return true;
    Atomics.add(words, WAITERS, 1); // (W) announce, then look again
    try {
      for (;;) {
        const permits = Atomics.load(words, PERMITS);
        if (permits > 0) return true;
        const outcome = yield { words, index: PERMITS, value: permits };
        if (outcome === "timed-out") return this.available > 0;
      }
    } finally {
      // The wake that we used up belongs to whoever takes the permit.
      const others = Atomics.sub(words, WAITERS, 1) > 1;
      if (others && this.available > 0) Atomics.notify(words, PERMITS, 1);
    }
  }

  #take(n: number): boolean {
    const words = this.#words;
    let permits = words[PERMITS]!; // a hint: too few is looked at again
    if (permits < n) permits = Atomics.load(words, PERMITS);
    while (permits >= n) {
      const expected = permits;
      permits = Atomics.compareExchange(words, PERMITS, expected, expected - n);
      if (permits === expected) return true;
    }
    return false;
  }

  // Apart from the fast path, which would pay for the closure.
  #acquireWaiting(n: number, timeout: number): boolean {
    if (timeout > 0 && spin(() => this.#take(n))) return true;
    return block(this.#acquireSlow(n), timeout);
  }

  *#acquireSlow(n: number): Waiting<boolean> {
    const words = this.#words;
    if (this.#take(n)) return true;
    // (W) announce, then look again. Those who wait already come first: their
    // turns are not counted as being passed over.
    const patience = spinning.patience + Atomics.add(words, WAITERS, 1);
    if (n > 1) Atomics.add(words, BULK, 1);
    try {
      for (let passed = 0;;) {
        const turn = Atomics.load(words, TURN); // before the look at permits
        if (this.#take(n)) return true;
        if (
          passed >= patience &&
          Atomics.compareExchange(words, CLAIMANT, 0, this.#id) === 0
        ) return yield* this.#claim(n);
        const permits = Atomics.load(words, PERMITS);
        if (permits >= n) continue;
        const outcome = yield n > 1
          ? { words, index: TURN, value: turn, all: true }
          : { words, index: PERMITS, value: permits };
        if (outcome === "timed-out") return this.#take(n);
        // The turns of a claimant, and looks without a release, do not count.
        const released = n > 1
          ? Atomics.load(words, TURN) !== turn
          : outcome === "ok";
        if (released && Atomics.load(words, CLAIMANT) === 0) passed++;
      }
    } finally {
      if (n > 1) Atomics.sub(words, BULK, 1);
      Atomics.sub(words, WAITERS, 1);
    }
  }

  /** Takes the permits now, and waits until releases have paid for them. */
  *#claim(n: number): Waiting<boolean> {
    const words = this.#words;
    Atomics.add(words, BULK, 1);
    try {
      Atomics.sub(words, PERMITS, n);
      // In this order: who is terminated between the two loses its permits,
      // but never does `abandon` give back what was not taken.
      Atomics.store(words, CLAIM, n);
      for (;;) {
        const turn = Atomics.load(words, TURN);
        if (Atomics.load(words, PERMITS) >= 0) break;
        const outcome = yield { words, index: TURN, value: turn, all: true };
        if (outcome !== "timed-out") continue;
        if (Atomics.load(words, PERMITS) >= 0) break;
        Atomics.store(words, CLAIM, 0);
        this.#endClaim();
        this.#giveBack(n);
        return false;
      }
      Atomics.store(words, CLAIM, 0);
      this.#endClaim();
      return true;
    } finally {
      Atomics.sub(words, BULK, 1);
    }
  }

  /** Lets the next one claim. */
  #endClaim(): void {
    Atomics.store(this.#words, CLAIMANT, 0);
    this.#wakeBulk();
  }

  /** Returns permits that a claim had taken, which cannot be too many. */
  #giveBack(n: number): void {
    const permits = Atomics.add(this.#words, PERMITS, n) + n;
    this.#wake(n, permits);
  }

  /** Wakes whom `n` more permits serve, now that there are `permits`. */
  #wake(n: number, permits: number): void {
    const words = this.#words;
    if (permits > 0) Atomics.notify(words, PERMITS, Math.min(n, permits));
    this.#wakeBulk();
  }

  #wakeBulk(): void {
    const words = this.#words;
    if (Atomics.load(words, BULK) === 0) return;
    Atomics.add(words, TURN, 1);
    Atomics.notify(words, TURN);
  }
}
