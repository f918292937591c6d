/**
 * Measures how fast one thread alone is, without any sharing: it copies a message
 * and hashes it, then the next one. The threads together are compared with that.
 *
 * @module
 */

import type { Arena } from "./arena.ts";
import type { Hash } from "./hash.ts";
import { sha256Shared } from "./sha256.ts";

/** Time one thread took. */
export interface Alone {
  bytes: number;
  /** Milliseconds for copying. */
  copy: number;
  /** Milliseconds for hashing. */
  hash: number;
}

/** Milliseconds of one measurement. */
const SPAN = 100;

/** Chunks that a thread of wasm hashes at once: `SHA256_LANES`. */
const LANES = 4;

/** Measures on the messages of `sample`, over and over, in the first slots. */
export class Stopwatch {
  readonly #arena: Arena;
  readonly #sample: readonly Uint8Array[];
  /** Hashes the chunks in the first slots. */
  readonly #hash: () => void;
  /** How many slots those are. */
  readonly #lanes: number;
  #next = 0;
  /** All measurements together. */
  readonly sum: Alone = { bytes: 0, copy: 0, hash: 0 };

  /** For JavaScript, or for the wasm module whose plan is at `base`. */
  constructor(
    arena: Arena,
    sample: readonly Uint8Array[],
    wasm?: { readonly module: Hash; readonly base: number },
  ) {
    this.#arena = arena;
    this.#sample = sample;
    this.#lanes = wasm ? LANES : 1;
    const digest = arena.digestIn(0);
    this.#hash = wasm
      ? () => wasm.module._hash(wasm.base, LANES)
      : () => digest.set(sha256Shared(arena.chunkIn(0)));
    if (sample.length > 0) this.#measure(SPAN / 5, { ...this.sum });
  }

  /** Measures for a short time; nobody else may use the slots meanwhile. */
  measure(): void {
    if (this.#sample.length > 0) this.#measure(SPAN, this.sum);
  }

  #measure(span: number, sum: Alone): void {
    const sample = this.#sample;
    const begin = performance.now();
    for (let before = begin; before < begin + span;) {
      const chunk = sample[this.#next++ % sample.length]!;
      for (let slot = 0; slot < this.#lanes; slot++) {
        this.#arena.fill(slot, chunk);
      }
      const copied = performance.now();
      this.#hash();
      const hashed = performance.now();
      sum.bytes += this.#lanes * chunk.length;
      sum.copy += copied - before;
      sum.hash += hashed - copied;
      before = hashed;
    }
  }
}
