/**
 * What the engine knows of a piece of shared memory.
 *
 * @module
 */

/** A piece of shared memory and where it lies among the addresses. */
export interface Region {
  readonly buffer: SharedArrayBuffer;
  readonly base: number;
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** Its content when the exploration began. */
  initial: Int32Array;
  /** By word: whether it was ever written. */
  readonly touched: Uint8Array;
  /**
   * Ranges of bytes that only one agent uses: each from its first to its second
   * number.
   */
  readonly own: (readonly [from: number, to: number])[];
  /** By word: the agents that used it, as a set of bits. */
  readonly users: Int32Array;
  /** By word: the agents that wrote it. */
  readonly writers: Int32Array;
  /**
   * By word: the only agents that may do so, as far as the search relies on it.
   */
  readonly mayUse: Int32Array;
  readonly mayWrite: Int32Array;
  /** By word: whether the search relied on nobody writing it. */
  readonly constant: Uint8Array;
}
