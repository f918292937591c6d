/**
 * A pool of workers: one agent submits bytes, and awaits bytes. Every agent
 * that calls `serve` of `pool_worker.ts`, or `pool_serve` of `pool.h`, is a
 * worker.
 *
 * @module
 */

import { ClosedError } from "@weft/sync";
import { CANCELLED, open, type Place } from "./pool_worker.ts";

/** The submitter's side. */
export class Pool {
  readonly #at;
  readonly #running = new Map<
    number,
    (bytes: Uint8Array, ok: boolean) => void
  >();
  readonly #waiting = new Set<() => void>();
  /** This iterator is kept: a new one would step over all deleted entries. */
  #turns = this.#waiting.values();
  #collecting: Promise<void> | undefined;
  /** Slots to push soon; pushing several at a time costs one wake-up. */
  readonly #begun: Int32Array;
  #count = 0;

  /** Makes a pool in unused memory. */
  constructor(readonly place: Place) {
    this.#at = open(place, "init");
    this.#begun = new Int32Array(Math.ceil(place.count / 8));
  }

  /** Whether a task would have to wait for room; if so, await others first. */
  get full(): boolean {
    return this.#running.size === this.place.count;
  }

  /** Submits a task; its bytes are copied as soon as there is room. */
  submit(request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    const { jobs, slots, lengths, write } = this.#at;
    return new Promise((resolve, reject) => {
      if (request.length > this.place.bytes) {
        throw new RangeError(`Too many bytes for a slot: ${request.length}`);
      }
      if (jobs.closed) throw new ClosedError();
      signal?.throwIfAborted();
      let slot = -1;
      const start = () => {
        slot = slots.allocate();
        this.#running.set(slot, settle);
        write(slot, request);
        this.#begun[this.#count++] = slot;
        if (this.#count === this.#begun.length) this.#push();
        else if (this.#count === 1) queueMicrotask(() => this.#push());
      };
      const settle = (bytes: Uint8Array, ok: boolean) => {
        signal?.removeEventListener("abort", abort);
        if (ok) resolve(bytes);
        else reject(new Error(new TextDecoder().decode(bytes)));
      };
      const abort = () => {
        const waited = this.#waiting.delete(start);
        if (!waited) Atomics.store(lengths, slot / 4, CANCELLED);
        reject(signal!.reason);
      };
      signal?.addEventListener("abort", abort);
      if (this.full) this.#waiting.add(start);
      else start();
      this.#collecting ??= this.#collect();
    });
  }

  /** Waits for all submitted tasks; then every `serve` returns. */
  async close(): Promise<void> {
    while (this.#collecting) await this.#collecting;
    this.#at.jobs.close();
  }

  /** Hands slots to the workers; the queue has room for all. */
  #push() {
    const { jobs } = this.#at;
    let pushed = jobs.tryPushMany(this.#begun, this.#count);
    for (; pushed < this.#count; pushed++) jobs.pushInt(this.#begun[pushed]!);
    this.#count = 0;
  }

  /** Settles the promises of done tasks until no task is running. */
  async #collect() {
    const { jobs, done, enough, slots, lengths, view } = this.#at;
    await undefined; // or it could end before its promise is kept
    while (this.#running.size > 0) {
      // While workers have jobs, results may wait: one wake-up brings many.
      if (jobs.size > 0) await enough.tryWaitAsync({ timeout: 1 });
      let n: number | undefined = done.tryPopInt() ??
        await done.popIntAsync();
      for (; n !== undefined; n = done.tryPopInt()) {
        const slot = n < 0 ? ~n : n; // whose task failed, if it is negative
        this.#running.get(slot)!(view(slot, lengths[slot / 4]).slice(), n >= 0);
        this.#running.delete(slot);
        slots.free(slot);
        this.#startNext();
      }
    }
    this.#collecting = undefined;
  }

  #startNext() {
    const { value: start } = this.#turns.next();
    if (start === undefined) return void (this.#turns = this.#waiting.values());
    this.#waiting.delete(start);
    start();
  }
}
