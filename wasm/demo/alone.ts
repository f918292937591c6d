/**
 * Measures how fast one thread alone is, without any sharing: it copies a
 * message and hashes it, then the next one. The threads together are compared
 * with that.
 *
 * @module
 */

import type { Arena } from "./arena.ts";
import type { Hash } from "./hash.ts";
import { blake2bShared } from "./blake2b.ts";

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

/** Measures on the messages of `sample`, over and over, in the first slot. */
export class Stopwatch {
  readonly #arena: Arena;
  readonly #sample: readonly Uint8Array[];
  /** Hashes the chunk in the first slot. */
  readonly #hash: () => void;
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
    const digest = arena.digestIn(0);
    this.#hash = wasm
      ? () => wasm.module._hash(wasm.base)
      : () => digest.set(blake2bShared(arena.chunkIn(0)));
    if (sample.length > 0) this.#measure(SPAN / 5, { ...this.sum });
  }

  /** Measures for a short time; nobody else may use the slot meanwhile. */
  measure(): void {
    if (this.#sample.length > 0) this.#measure(SPAN, this.sum);
  }

  #measure(span: number, sum: Alone): void {
    const sample = this.#sample;
    const begin = performance.now();
    for (let before = begin; before < begin + span;) {
      const chunk = sample[this.#next++ % sample.length]!;
      this.#arena.fill(0, chunk);
      const copied = performance.now();
      this.#hash();
      const hashed = performance.now();
      sum.bytes += chunk.length;
      sum.copy += copied - before;
      sum.hash += hashed - copied;
      before = hashed;
    }
  }
}
