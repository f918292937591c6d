/**
 * The shapes of objects, in memory that agents share.
 *
 * @module
 */

import { SHAPE_TABLE } from "./_memory/layout.ts";
import { describe } from "./_memory/describe.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import {
  allocate,
  assertConfig,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";

const BYTES: typeof SHAPE_TABLE.bytes = 1;
const USED: typeof SHAPE_TABLE.used = 3;

const SLOTS = 64;
/** The words of a slot. */
const STATE = 0, PLACE = 1;
/** The word at which the text begins. */
const TEXT: number = /* @__PURE__ */ (() => SHAPE_TABLE.length + 2 * SLOTS)();

/** States of a slot; another one is the hash of its text. */
const FREE = 0, CLAIMED = 1;

/** The number of bits in which a slot notes the length of a text. */
const LENGTH_BITS = 11;
const LONGEST = 1024;

/** The configuration of a table of shapes. */
export interface ShapeTableConfig {
  /**
   * Bytes for the texts of all shapes: 4 to 2^20, rounded up to a multiple of
   * 4; 3568 unless given.
   */
  readonly bytes?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: SHAPE_TABLE,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (bytes) => bytesFor(bytes),
  behind: (region, tell) => {
    for (let number = 0; number < SLOTS; number++) {
      const at = SHAPE_TABLE.length + 2 * number;
      const state = Atomics.load(region, at + STATE);
      if (state === FREE || state === CLAIMED) continue;
      const place = region[at + PLACE]!;
      const bytes = new Uint8Array(region.buffer, region.byteOffset);
      if (isWhole(bytes, region[BYTES]!, place, state)) continue;
      tell(at + PLACE, `slot ${number}`, place, "No text of a shape is there.");
    }
  },
};

/**
 * A table of the shapes of objects. A shape is the list of an object's names,
 * in their order. Agents that send each other objects keep the names in a
 * table, so that each object carries only the number of its shape. A `Channel`
 * of `valueCodec` has one.
 *
 * Agents add shapes, and never remove them. At most 64 shapes fit.
 *
 * A shape that all agents know:
 *
 * ```ts
 * import { ShapeTable } from "@weft/sync";
 *
 * const table = ShapeTable.create(); // post table.handle to workers
 * const text = Uint8Array.of(2, 0x41, 0x78, 0x41, 0x79); // the names x and y
 * const number = table.add(text);
 * if (table.add(text) !== number) throw new Error("another number");
 * ```
 *
 * Invariant: a slot that is published never changes again, nor does its text.
 * Progress: `add` and `textAt` are wait-free. An agent that is terminated in
 * `add` costs the table one slot at most, and the text of that shape.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: none needed, nobody waits.
 * C twin: `weft_shape_table`. Source: the hidden classes of Self; a hash table
 * with open addressing that only grows.
 *
 * Its words in memory:
 *
 * ```text
 * word 0  magic  Kind and layout version.
 * word 1  bytes  Bytes for the texts of all shapes, a multiple of 4.
 * word 2  seal   Check word over the configuration.
 * word 3  used   Bytes of text that agents have claimed. It may be more than
 *                there are.
 * word 4  64 slots of two words, and then the text. A slot has `state`: 0 while
 *         it is free, 1 while an agent adds a shape, and then the hash of the
 *         shape's text, with bit 1 set; and `place`: bits 0-10: the bytes of
 *         the shape's text; bits 11-31: where it begins in the text, in words.
 * ```
 */
export class ShapeTable extends Region<"shape_table"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;

  /**
   * Attaches to the table at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no table of this layout
   * version was initialized there.
   * @throws {RangeError} If the table does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    const words = attach(
      "shape_table",
      SHAPE_TABLE,
      memory,
      byteOffset,
      bytesFor,
    );
    super("shape_table", words, INSPECTION);
    this.#words = words;
    const { buffer, byteLength } = words;
    this.#bytes = new Uint8Array(buffer, words.byteOffset, byteLength);
  }

  /**
   * The bytes a table of this configuration occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `bytes` is out of range.
   */
  static byteLength(config?: ShapeTableConfig): number {
    return bytesFor(textBytesOf(config));
  }

  /**
   * Allocates an empty table.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If `bytes` is out of range.
   */
  static create(config?: ShapeTableConfig): ShapeTable {
    const memory = allocate(ShapeTable.byteLength(config));
    return ShapeTable.init(memory, 0, config);
  }

  /**
   * Initializes an empty table in unused memory.
   *
   * @throws {TypeError} If `memory` is not shared, or `config` is not as
   * described.
   * @throws {RangeError} If the table does not fit there, or `bytes` is out of
   * range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    config?: ShapeTableConfig,
  ): ShapeTable {
    const bytes = textBytesOf(config);
    format(
      "shape_table",
      SHAPE_TABLE,
      memory,
      byteOffset,
      bytesFor(bytes),
      [bytes],
    );
    return new ShapeTable(memory, byteOffset);
  }

  /**
   * Attaches to the table that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no table is
   * there.
   */
  static from(handle: Handle<"shape_table">): ShapeTable {
    return new ShapeTable(...fromHandle("shape_table", handle));
  }

  /** How many shapes there are. */
  get size(): number {
    const words = this.#words;
    let size = 0;
    for (let at: number = SHAPE_TABLE.length; at < TEXT; at += 2) {
      const state = Atomics.load(words, at + STATE);
      if (state !== FREE && state !== CLAIMED) size++;
    }
    return size;
  }

  /**
   * The number of the shape with this text, 0 to 63; the shape is added if
   * there is none. Returns -1 if another agent is adding a shape that may be
   * this one: try again later. If that agent was terminated, it will never be
   * done: with `insists`, the shape is added a second time, which does no harm.
   * Returns -2 if there is no room.
   *
   * @throws {TypeError} If `text` is not a Uint8Array.
   * @throws {RangeError} If it does not have 1 to 1024 bytes.
   */
  add(text: Uint8Array, insists = false): number {
    if (!(text instanceof Uint8Array)) {
      throw new TypeError(
        `The text of a shape is a Uint8Array: received ${describe(text)}`,
      );
    }
    const { length } = text;
    inRange("The length of a shape's text", length, 1, LONGEST);
    const words = this.#words;
    const hash = hashOf(text, 0, length);
    const published = hash | 2;
    let isBusy = false;
    for (let i = 0; i < SLOTS; i++) {
      const number = hash + i & SLOTS - 1;
      const slot = SHAPE_TABLE.length + 2 * number;
      let state = Atomics.load(words, slot + STATE); // pairs with (P)
      if (state === FREE) {
        if (isBusy && !insists) return -1;
        if (Atomics.load(words, USED) + length > words[BYTES]!) return -2;
        // (C) The slot belongs to this agent, and to no other one.
        state = Atomics.compareExchange(words, slot + STATE, FREE, CLAIMED);
        if (state === FREE) return this.#publish(text, number, published);
      }
      if (state === CLAIMED) isBusy = true;
      else if (state === published && this.#has(text, slot)) return number;
    }
    return isBusy && !insists ? -1 : -2;
  }

  /** Fills a claimed slot. */
  #publish(text: Uint8Array, number: number, published: number): number {
    const words = this.#words;
    const { length } = text;
    const slot = SHAPE_TABLE.length + 2 * number;
    const used = Atomics.add(words, USED, length + 3 & ~3);
    // Others were faster. The table is full, so nobody misses the slot.
    if (used < 0 || used + length > words[BYTES]!) return -2;
    const at = TEXT * 4 + used;
    for (let i = 0; i < length; i++) this.#bytes[at + i] = text[i]!;
    words[slot + PLACE] = used / 4 << LENGTH_BITS | length;
    // (P) An agent that sees the hash sees the text, too.
    Atomics.store(words, slot + STATE, published);
    return number;
  }

  #has(text: Uint8Array, slot: number): boolean {
    const place = this.#words[slot + PLACE]!; // published by (P)
    if ((place & 2 * LONGEST - 1) !== text.length) return false;
    const bytes = this.#bytes;
    const at = textAt(place);
    for (let i = 0; i < text.length; i++) {
      if (bytes[at + i] !== text[i]) return false;
    }
    return true;
  }

  /**
   * A copy of the text of shape `number`; undefined if there is no such shape,
   * or if it is damaged.
   *
   * @throws {RangeError} If `number` is not an integer from 0 to 63.
   */
  textAt(number: number): Uint8Array<ArrayBuffer> | undefined {
    inRange("The number of a shape", number, 0, SLOTS - 1);
    const words = this.#words;
    const slot = SHAPE_TABLE.length + 2 * number;
    const state = Atomics.load(words, slot + STATE); // pairs with (P)
    if (state === FREE || state === CLAIMED) return undefined;
    const place = words[slot + PLACE]!; // published by (P)
    if (!isWhole(this.#bytes, words[BYTES]!, place, state)) return undefined;
    const at = textAt(place);
    return this.#bytes.slice(at, at + (place & 2 * LONGEST - 1));
  }
}

/** The byte of a table at which a text begins. */
const textAt = (place: number): number => 4 * (TEXT + (place >>> LENGTH_BITS));

/** Whether a text lies at `place` to which the slot's state fits. */
function isWhole(
  bytes: Uint8Array,
  most: number,
  place: number,
  state: number,
): boolean {
  const length = place & 2 * LONGEST - 1;
  const at = textAt(place);
  return length >= 1 && length <= LONGEST && at + length <= TEXT * 4 + most &&
    (hashOf(bytes, at, length) | 2) === state;
}

/** A number that depends on the bytes (FNV-1a). */
function hashOf(bytes: Uint8Array, at: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let i = at; i < at + length; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  // Its low bits depend on few bits of the last bytes.
  return hash ^ hash >>> 15;
}

/** The bytes for texts of a configuration, checked. */
function textBytesOf(config: ShapeTableConfig = {}): number {
  assertConfig("shape_table", config, ["bytes"]);
  const { bytes = 3568 } = config;
  inRange("The bytes of a table of shapes", bytes, 4, 2 ** 20);
  return Math.ceil(bytes / 4) * 4;
}

/** The bytes of a table, once the bytes for texts are checked. */
function bytesFor(bytes: number): number {
  inRange("The bytes of a table of shapes", bytes, 4, 2 ** 20);
  if (bytes % 4 !== 0) {
    throw new RangeError(
      `The bytes of a table of shapes must be a multiple of 4: received ${bytes}`,
    );
  }
  return TEXT * 4 + bytes;
}
