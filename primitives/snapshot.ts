/**
 * The latest value of some bytes, which is never read half written.
 *
 * @module
 */

import { DamagedError } from "./_memory/damaged.ts";
import { SNAPSHOT } from "./_memory/layout.ts";
import { Copier, type Copying, type Elements } from "./_queue/elements.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertBoolean,
  assertConfig,
  assertView,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";

import { leaveRole, takeRole } from "./_memory/roles.ts";
import { agentId } from "./agent.ts";

export type { Elements } from "./_queue/elements.ts";
export { DamagedError } from "./_memory/damaged.ts";
export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const SIZE: typeof SNAPSHOT.size = 1;
const SINGLE_READER: typeof SNAPSHOT.single_reader = 2;
const STATE: typeof SNAPSHOT.state = 32;
const WRITER: typeof SNAPSHOT.writer = 33;
const READER: typeof SNAPSHOT.reader = 34;
const DATA: typeof SNAPSHOT.length = 64;

/** The bits of an agent in `writer` and `reader`. */
const OWNER_MASK = 0x0fff_ffff; // SNAPSHOT_BITS.OWNER

/** With one reader, `state` names the middle copy and the reader's copy. */
const MIDDLE_MASK = 3; // SNAPSHOT_BITS.MIDDLE
const FRONT_SHIFT = 2; // SNAPSHOT_BITS.FRONT
/** The middle copy is newer than the reader's. */
const NEW_BIT = 16; // SNAPSHOT_BITS.NEW
const VERSION_SHIFT = 5; // SNAPSHOT_BITS.VERSION
const ONE_VERSION = 32; // SNAPSHOT_BITS.VERSION
/** The middle copy is 1 and the reader's is 0, so the writer's is 2. */
const FIRST = 1;

/** The most bytes of a value. */
const MAX_SIZE = 0x1000_0000; // 2^28
/** The highest version; after it comes 0. */
const VERSION_MASK = 0x07ff_ffff; // SNAPSHOT_BITS.VERSION, shifted

/** The configuration of a snapshot. */
export interface SnapshotConfig {
  /** Bytes of the value, a multiple of 4 up to 2^28. */
  readonly size: number;
  /** Whether only one agent reads, which is faster; `false` unless given. */
  readonly singleReader?: boolean | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: SNAPSHOT,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (size, single) => bytesFor(size, single),
};

/**
 * The latest value of some bytes: one agent writes it, and any number of agents
 * read it. The writer never waits for a reader, and no reader ever sees parts
 * of two values.
 *
 * The latest position, for every agent that draws it:
 *
 * ```ts
 * import { Snapshot } from "@weft/sync";
 *
 * const position = Snapshot.create({ size: 16 }); // post position.handle
 * position.write(Float64Array.of(1.5, -2));
 * const seen = new Float64Array(2);
 * position.read(seen);
 * if (seen[1] !== -2) throw new Error("torn");
 * ```
 *
 * With many readers, value number v lies in copy v mod 2, and the writer writes
 * the next value into the other copy. So a reader of v reads wrong words only
 * if a whole write and the beginning of another came meanwhile; a second look
 * at `state` shows that. The words of a value are accessed atomically, because
 * they may be written while they are read. With one reader there are three
 * copies: the writer's, the reader's, and a middle copy. Both sides exchange
 * their own copy for the middle one. Each copy then belongs to one agent, and
 * its words are copied plainly, which is several times as fast.
 *
 * Invariant: the copy of the last complete value is not written to.
 * Progress: `write` is wait-free. With one reader it is lock-free: it tries
 * again only if the reader took a value meanwhile, which it can do once for
 * each value. `read` is lock-free: it tries again only when the writer finished
 * another value. An agent that is terminated at any step changes nothing for
 * the others: a value that was not finished is never seen, and after
 * `abandon(id)` a new writer, or reader, can go on.
 * Wrap: to mistake one value for another, a reader would have to stand still
 * for exactly a multiple of 2^32 values, or of 2^27 with one reader.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: none needed, nobody waits. Several writers must take turns, and
 * give their role up at the end of each turn.
 * C twin: `weft_snapshot`.
 * Source: sequence lock, Lamport 1977, with a second copy in the manner of
 * Simpson 1990; triple buffer, own measurements.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic          Kind and layout version.
 * word 1   size           Bytes of the value, a multiple of 4.
 * word 2   single_reader  1 if there is one reader.
 * word 3   seal           Check word over the configuration.
 * word 32  state          How many values were written. With `single_reader`:
 *                         bits 0-1   the middle copy
 *                         bits 2-3   the reader's copy
 *                         bit 4      NEW: the middle copy is newer than the
 *                                    reader's
 *                         bits 5-31  how many values were written, modulo 2^27
 * word 33  writer         The agent that writes, from its first value on, or 0.
 * word 34  reader         With `single_reader`, the agent that reads, from its
 *                         first look on, or 0.
 * word 64  Copies of the value, each padded to a multiple of 128 bytes. Without
 *          `single_reader` there are two: value number `v` lies in copy `v mod
 *          2`. With it there are three, and `state` names them.
 * ```
 */
export class Snapshot extends Region<"snapshot"> {
  /** Bytes of the value. */
  readonly size: number;
  /** Whether only one agent may read. */
  readonly singleReader: boolean;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /**
   * Copies values in and out.
   *
   * @internal
   */
  protected readonly copier: Copying;
  /** Words of the value. */
  readonly #count: number;
  /** Words from the beginning of one copy to the beginning of the next. */
  readonly #stride: number;
  readonly #id: number;
  /** Whether this view knows that its agent is the writer, and the reader. */
  #writes = false;
  #reads = false;
  /**
   * The last array that a caller passed, and its words: most callers pass the
   * same array again.
   */
  #array: Elements | undefined;
  #asWords: Int32Array | undefined;
  /** Holds a value for arrays that do not begin at a multiple of 4 bytes. */
  #scratch: Int32Array<ArrayBuffer> | undefined;

  /**
   * Attaches to the snapshot at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no snapshot of this
   * layout version was initialized there.
   * @throws {RangeError} If the snapshot does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach("snapshot", SNAPSHOT, memory, byteOffset, bytesFor);
    super("snapshot", words, INSPECTION);
    this.#words = words;
    this.copier = new Copier(words);
    this.size = words[SIZE]!;
    this.singleReader = words[SINGLE_READER] === 1;
    this.#count = this.size / 4;
    this.#stride = strideFor(this.size);
    this.#id = agentId();
  }

  /**
   * The bytes a snapshot of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `size` is out of range.
   */
  static byteLength(config: SnapshotConfig): number {
    return bytesFor(...checked(config));
  }

  /**
   * Allocates a snapshot whose value is all zero.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `size` is out of range.
   */
  static create(config: SnapshotConfig): Snapshot {
    return Snapshot.init(allocate(Snapshot.byteLength(config)), 0, config);
  }

  /**
   * Initializes unused memory as a snapshot that is all zero.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the snapshot does not fit there, or `size` is out
   * of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config: SnapshotConfig,
  ): Snapshot {
    const [size, single] = checked(config);
    const bytes = bytesFor(size, single);
    format(
      "snapshot",
      SNAPSHOT,
      memory,
      byteOffset,
      bytes,
      [size, single],
      (words) => {
        if (single === 1) words[STATE] = FIRST;
      },
    );
    return new Snapshot(memory, byteOffset);
  }

  /**
   * Attaches to the snapshot that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no snapshot is
   * there.
   */
  static from(handle: Handle<"snapshot">): Snapshot {
    return new Snapshot(...fromHandle("snapshot", handle));
  }

  /** How many values were written, modulo 2^27. */
  get version(): number {
    return this.#versionOf(Atomics.load(this.#words, STATE));
  }

  /**
   * Makes the bytes of `src` the latest value. The first agent that calls this
   * is the writer.
   *
   * @throws {TypeError} If `src` is neither a typed array nor a DataView, or
   * another agent is the writer.
   * @throws {RangeError} If `src` is not `size` bytes long.
   * @throws {DamagedError} If there is one reader, and the state is damaged.
   */
  write(src: Elements): void {
    assertView(src);
    if (src.byteLength !== this.size) {
      throw new RangeError(
        `A value is ${this.size} bytes: received ${src.byteLength}`,
      );
    }
    const words = this.#words;
    if (!this.#writes) {
      this.#writes = takeRole(words, WRITER, this.#id, "writer");
    }
    let state = words[STATE]!; // exact, or a hint that the exchange checks
    if (!this.singleReader) {
      const next = state + 1 | 0;
      const at = this.#copy(next & 1);
      const from = this.#wordsOf(src, true);
      for (let i = 0; i < this.#count; i++) {
        Atomics.store(words, at + i, from[i]!); // published by (V)
      }
      Atomics.store(words, STATE, next); // (V)
      return;
    }
    this.#assertWhole(state);
    // The reader exchanges the two other copies, never this one.
    const mine = 3 - (state & MIDDLE_MASK) - (state >> FRONT_SHIFT & 3);
    this.copier.put(src, 0, this.#copy(mine), this.#count);
    for (;;) {
      const front = state & 3 << FRONT_SHIFT;
      const version = (state & -ONE_VERSION) + ONE_VERSION;
      const next = version | NEW_BIT | front | mine;
      const seen = Atomics.compareExchange(words, STATE, state, next); // (V)
      if (seen === state) return;
      state = seen;
    }
  }

  /**
   * Copies the latest value to the beginning of `dst`. Returns its version,
   * which is 0 if no value was written yet.
   *
   * @throws {TypeError} If `dst` is neither a typed array nor a DataView, or
   * there is one reader, and it is another agent.
   * @throws {RangeError} If `dst` is shorter than `size` bytes.
   * @throws {DamagedError} If there is one reader, and the state is damaged.
   */
  read(dst: Elements): number {
    assertView(dst);
    if (dst.byteLength < this.size) {
      throw new RangeError(
        `A value of ${this.size} bytes does not fit an array of ` +
          `${dst.byteLength} bytes`,
      );
    }
    return this.singleReader ? this.#readOwn(dst) : this.#readShared(dst);
  }

  #readShared(dst: Elements): number {
    const words = this.#words;
    const to = this.#wordsOf(dst, false);
    let state = Atomics.load(words, STATE);
    for (;;) {
      const at = this.#copy(state & 1);
      for (let i = 0; i < this.#count; i++) {
        to[i] = Atomics.load(words, at + i); // published by (V)
      }
      // Pairs with (V): the writer stores the number of the next value before
      // any word of the value after it, which uses this copy again.
      const seen = Atomics.load(words, STATE);
      if (seen === state) break;
      state = seen;
    }
    if (to === this.#scratch) bytesOf(dst).set(new Uint8Array(to.buffer));
    return this.#versionOf(state);
  }

  /**
   * Ends the roles of agent `id`, known never to run again, so that the next
   * agent that writes is the writer, and with `singleReader` the next one that
   * reads is the reader; returns how many roles those were. An agent may give
   * its own role up by its own id.
   *
   * @throws {RangeError} If `id` is not 0 and not an agent's id.
   */
  abandon(id: number): number {
    inRange("An agent id", id, 0, OWNER_MASK);
    if (id === this.#id) this.#writes = this.#reads = false;
    return leaveRole(this.#words, WRITER, id) +
      leaveRole(this.#words, READER, id);
  }

  #readOwn(dst: Elements): number {
    const words = this.#words;
    if (!this.#reads) {
      this.#reads = takeRole(words, READER, this.#id, "reader");
    }
    let state = Atomics.load(words, STATE); // pairs with (V)
    while (state & NEW_BIT) {
      const middle = state & MIDDLE_MASK;
      const front = state >> FRONT_SHIFT & 3;
      const swapped = (state & -ONE_VERSION) | middle << FRONT_SHIFT | front;
      const seen = Atomics.compareExchange(words, STATE, state, swapped);
      if (seen === state) state = swapped;
      else state = seen;
    }
    this.#assertWhole(state);
    const at = this.#copy(state >> FRONT_SHIFT & 3);
    this.copier.get(dst, 0, at, this.#count);
    return this.#versionOf(state);
  }

  /**
   * Throws a {@linkcode DamagedError} if the state names a copy twice, or a
   * copy that does not exist.
   */
  #assertWhole(state: number): void {
    if (!isWhole(state)) throw new DamagedError("The snapshot");
  }

  /** The first word of a copy. */
  #copy(number: number): number {
    return DATA + number * this.#stride;
  }

  #versionOf(state: number): number {
    return this.singleReader ? state >>> VERSION_SHIFT : state & VERSION_MASK;
  }

  /** The words of `array`, or a scratch copy if it is not aligned to words. */
  #wordsOf(array: Elements, filled: boolean): Int32Array {
    if (array instanceof Int32Array) return array;
    const { buffer, byteOffset } = array;
    if (byteOffset % 4 === 0) {
      if (array !== this.#array) {
        this.#asWords = new Int32Array(buffer, byteOffset, this.#count);
        this.#array = array;
      }
      return this.#asWords!;
    }
    const scratch = this.#scratch ??= new Int32Array(this.#count);
    if (filled) new Uint8Array(scratch.buffer).set(bytesOf(array));
    return scratch;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Elements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The words of a configuration, once it is checked. */
function checked(config: SnapshotConfig): [size: number, single: number] {
  assertConfig("snapshot", config, ["size", "singleReader"]);
  const { size, singleReader = false } = config;
  assertBoolean("singleReader", singleReader);
  const single = singleReader ? 1 : 0;
  bytesFor(size, single);
  return [size, single];
}

/** Words from one copy to the next. */
const strideFor = (size: number): number => Math.ceil(size / 128) * 32;

/** Whether a state with one reader names two different copies. */
function isWhole(state: number): boolean {
  const middle = state & MIDDLE_MASK;
  const front = state >> FRONT_SHIFT & 3;
  return middle !== front && middle < 3 && front < 3;
}

/** The bytes of a snapshot, once its configuration words are checked. */
function bytesFor(size: number, single: number): number {
  inRange("A value's size", size, 4, MAX_SIZE);
  if (size % 4 !== 0) {
    throw new RangeError(
      `A value's size must be a multiple of 4 bytes: received ${size}`,
    );
  }
  inRange("The word `single_reader`", single, 0, 1);
  return (DATA + (2 + single) * strideFor(size)) * 4;
}
