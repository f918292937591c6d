/**
 * Where a value is written: the bytes, and what was written so far.
 *
 * @module
 */

import { DOUBLE, INT, LATIN1, REFERENCE, SHORT, UTF16, UTF8 } from "./tags.ts";
import { Seen } from "./seen.ts";
import { copyBytes } from "../_message/bytes.ts";
import { writeLatin1At, writeUtf8At } from "../_message/utf8.ts";

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);

/** From this length on, a text is tried as Latin-1 first. */
const LONG = 512;

let messages = 0;

/**
 * Writes bytes into `room` bytes of memory; into private memory if it is full.
 */
export class Output {
  bytes: Uint8Array = NO_BYTES;
  data: DataView = new DataView(NO_BYTES.buffer);
  /** How many bytes `data` has. */
  #length = 0;
  /**
   * Where the message begins, where the next byte goes, and where room ends.
   */
  base = 0;
  at = 0;
  end = 0;
  /** Whether it had too little room, and goes on in private memory. */
  moved = false;
  /** The number of this message, which none before it had. */
  message = 0;
  /** How many shapes the message itself has defined. */
  shapes = 0;
  /** How many bytes its resizable buffers reserve. */
  reserved = 0;
  /** Whether a reference was written. */
  refers = false;
  /** Whether a property was deleted meanwhile. */
  deleted = false;
  /** Whether buffers are sent whole, because the message shares one. */
  whole = false;
  /** Buffers of which a part was sent. */
  parts: Set<unknown> | undefined;
  /** The containers of the message. */
  readonly #seen = new Seen();

  /** Begins a message in `room` bytes of `memory` at `at`. */
  begin(memory: Uint8Array, at: number, room: number): void {
    this.#to(memory);
    this.base = this.at = at;
    this.end = at + room;
    this.moved = false;
    this.message = ++messages;
    this.shapes = this.reserved = 0;
    this.refers = this.deleted = false;
  }

  /**
   * Ends the message that was begun there. Returns its length; if that is more
   * than `room`, the message is not there.
   */
  finish(memory: Uint8Array, at: number, room: number): number {
    const length = this.at - this.base;
    if (this.moved) {
      if (length <= room) memory.set(this.bytes.subarray(0, length), at);
      this.bytes = NO_BYTES;
    }
    return length;
  }

  /** Forgets the values of the message. */
  clear(): void {
    this.#seen.clear();
    this.parts = undefined;
    if (this.moved) this.bytes = NO_BYTES;
  }

  #to(memory: Uint8Array): void {
    const { length } = memory; // which may change if its buffer is resizable
    if (memory === this.bytes && length === this.#length) return;
    this.bytes = memory;
    this.data = new DataView(memory.buffer, memory.byteOffset, length);
    this.#length = length;
  }

  /** Makes sure that `n` bytes fit. */
  need(n: number): void {
    if (this.at + n > this.end) this.#move(n);
  }

  #move(n: number): void {
    const { bytes, base, at } = this;
    const length = at - base;
    const more = new Uint8Array(Math.max(512, 2 * (length + n)));
    more.set(bytes.subarray(base, at));
    this.#to(more);
    this.base = 0;
    this.at = length;
    this.end = more.length;
    this.moved = true;
  }

  byte(value: number): void {
    if (this.at >= this.end) this.#move(1);
    this.bytes[this.at++] = value;
  }

  /** A byte, and a number of 32 bits. */
  tagged(tag: number, value: number): void {
    if (this.at + 5 > this.end) this.#move(5);
    this.bytes[this.at] = tag;
    this.data.setUint32(this.at + 1, value, true);
    this.at += 5;
  }

  /** A byte, and a number of 64 bits. */
  double(tag: number, value: number): void {
    if (this.at + 9 > this.end) this.#move(9);
    this.bytes[this.at] = tag;
    this.data.setFloat64(this.at + 1, value, true);
    this.at += 9;
  }

  /** A number, in its shortest form. */
  number(value: number): void {
    if ((value | 0) !== value || value === 0 && 1 / value < 0) {
      return this.double(DOUBLE, value);
    }
    if (value < 0 || value >= 64) return this.tagged(INT, value);
    if (this.at >= this.end) this.#move(1);
    this.bytes[this.at++] = value;
  }

  number32(value: number): void {
    if (this.at + 4 > this.end) this.#move(4);
    this.data.setUint32(this.at, value, true);
    this.at += 4;
  }

  copy(from: Uint8Array): void {
    const { length } = from;
    this.need(length);
    copyBytes(from, this.bytes, this.at);
    this.at += length;
  }

  /** A string. */
  text(text: string): void {
    const { length } = text;
    if (length >= 64) return this.#long(text);
    if (this.at + 64 > this.end) this.need(length + 1);
    const { bytes, data } = this;
    let { at } = this;
    bytes[at++] = SHORT | length;
    let i = 0;
    // Of four characters at once, one look tells whether they are Latin-1.
    for (; i + 3 < length; i += 4) {
      const a = text.charCodeAt(i);
      const b = text.charCodeAt(i + 1);
      const c = text.charCodeAt(i + 2);
      const d = text.charCodeAt(i + 3);
      if ((a | b | c | d) > 255) return this.#long(text);
      data.setInt32(at, a | b << 8 | c << 16 | d << 24, true);
      at += 4;
    }
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 255) return this.#long(text);
      bytes[at++] = code;
    }
    this.at = at;
  }

  #long(text: string): void {
    const { length } = text;
    if (length >= LONG) {
      this.need(length + 5);
      if (writeLatin1At(text, this.bytes, this.at + 5)) {
        this.tagged(LATIN1, length);
        this.at += length;
        return;
      }
    }
    if (!isWellFormed(text)) return this.#units(text);
    // A text of ASCII is as long as its UTF-8; try whether all of it fits.
    this.need(length + 9);
    for (;;) {
      const { at, end } = this;
      const room = end - at - 5;
      const written = writeUtf8At(text, this.bytes, at + 5, room);
      if (written <= room) {
        this.tagged(written === length ? LATIN1 : UTF8, written);
        this.at += written;
        return;
      }
      this.#move(3 * length + 9);
    }
  }

  /** A string with half of a surrogate pair, which UTF-8 cannot express. */
  #units(text: string): void {
    const { length } = text;
    this.need(2 * length + 5);
    this.tagged(UTF16, length);
    for (let i = 0; i < length; i++) {
      this.data.setUint16(this.at + 2 * i, text.charCodeAt(i), true);
    }
    this.at += 2 * length;
  }

  // ---- references

  /**
   * Notes that a container was begun at byte `start` of the message, whose own
   * first bytes begin at `from`. If the message has it already, a reference
   * takes the place of what was written, and this is true.
   */
  known(container: unknown, start: number, from: number): boolean {
    const { base } = this;
    const number = this.#seen.find(
      container,
      this.data,
      base,
      base + from,
      this.at,
    );
    if (number < 0) return false;
    this.at = base + start;
    this.refer(number);
    return true;
  }

  /** The same before anything of it was written. */
  begins(container: unknown): boolean {
    const at = this.at - this.base;
    return this.known(container, at, at);
  }

  /** Whether the message has that container. */
  has(container: unknown): boolean {
    return this.#seen.has(container);
  }

  /** Writes a reference to a container. */
  refer(number: number): void {
    this.refers = true;
    this.tagged(REFERENCE, number);
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function isWellFormed(text: string): boolean {
  return text.isWellFormed?.() ?? !LONE_SURROGATE.test(text);
}
