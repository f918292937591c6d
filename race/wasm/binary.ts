/**
 * Reads and writes the parts of a wasm binary that the rewriter must know:
 * numbers, sections, and the length of an instruction.
 *
 * @module
 */

/** Thrown for a module that is damaged or that uses an unknown feature. */
export class BadModule extends Error {
  /** The class's name. */
  override name = "BadModule";
}

/** Reads a part of a module, from `at` on. */
export class Reader {
  /** Reads `bytes` up to `end`. */
  constructor(
    readonly bytes: Uint8Array,
    public at: number = 0,
    readonly end: number = bytes.length,
  ) {}

  /** Whether everything was read. */
  get done(): boolean {
    return this.at >= this.end;
  }

  /** One byte. */
  byte(): number {
    if (this.at >= this.end) throw new BadModule("The module is cut short");
    return this.bytes[this.at++]!;
  }

  /** An unsigned number. */
  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new BadModule("A number of more than 32 bits");
  }

  /** The constant of an `i32.const`. */
  signed(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      return shift < 28 && (byte & 0x40) !== 0
        ? value | -1 << shift + 7
        : value;
    }
    throw new BadModule("A number of more than 32 bits");
  }

  /** Passes over a number of any kind. */
  skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  /** The next `count` bytes. */
  take(count: number): Uint8Array {
    if (count > this.end - this.at) {
      throw new BadModule("The module is cut short");
    }
    return this.bytes.subarray(this.at, this.at += count);
  }

  /** A part that begins with its size. */
  part(): Reader {
    const size = this.number();
    const at = this.at;
    this.take(size);
    return new Reader(this.bytes, at, at + size);
  }

  /** A name. */
  name(): string {
    return new TextDecoder().decode(this.take(this.number()).slice());
  }

  /** The rest. */
  rest(): Uint8Array {
    return this.take(this.end - this.at);
  }
}

/** Writes a part of a module. */
export class Writer {
  #bytes = new Uint8Array(256);
  #length = 0;

  /** The bytes written so far. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  /** Bytes one by one. */
  byte(...bytes: number[]): void {
    this.bytes(bytes);
  }

  /** Bytes as they are. */
  bytes(bytes: ArrayLike<number>): void {
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** An unsigned number. */
  number(value: number): void {
    for (; value >= 0x80; value = Math.floor(value / 128)) {
      this.byte(value % 128 + 128);
    }
    this.byte(value);
  }

  /** The constant of an `i32.const`. */
  signed(value: number): void {
    value |= 0;
    for (; value < -64 || value > 63; value >>= 7) {
      this.byte(value & 0x7f | 0x80);
    }
    this.byte(value & 0x7f);
  }

  /** A part of its own, with its size in front. */
  part(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.bytes(bytes);
  }

  /** A name. */
  name(text: string): void {
    this.part(new TextEncoder().encode(text));
  }
}

/** An instruction, up to its immediates. */
export interface Instruction {
  /** Its first byte. */
  readonly code: number;
  /** The number after a prefix 0xfc, 0xfd or 0xfe; otherwise -1. */
  readonly sub: number;
}

/** Reads the offset of a memory access and passes over its alignment. */
export function readOffset(from: Reader): number {
  const align = from.number();
  if (align >= 64) from.skipNumber(); // one of several memories
  return from.number();
}

/** Reads the first bytes of an instruction. */
export function readCode(from: Reader): Instruction {
  const code = from.byte();
  return { code, sub: code >= 0xfb && code <= 0xfe ? from.number() : -1 };
}

const repeat = (count: number, what: () => void): void => {
  for (let i = 0; i < count; i++) what();
};

/** Passes over the immediates of an instruction that is left as it is. */
export function skipImmediates(from: Reader, { code, sub }: Instruction): void {
  const number = () => from.skipNumber();
  if (code >= 0x28 && code <= 0x3e) readOffset(from);
  else if (code >= 0x45 && code <= 0xc4) return;
  else if (code === 0xfc) skipBulk(from, sub);
  else if (code === 0xfd) skipVector(from, sub);
  else if (code === 0xfe) sub === 3 ? number() : void readOffset(from);
  else {
    switch (code) {
      case 0x00: // unreachable
      case 0x01: // nop
      case 0x05: // else
      case 0x0a: // throw_ref
      case 0x0b: // end
      case 0x0f: // return
      case 0x19: // catch_all
      case 0x1a: // drop
      case 0x1b: // select
      case 0xd1: // ref.is_null
        return;
      case 0x0e: // br_table
        return repeat(from.number() + 1, number);
      case 0x11: // call_indirect
      case 0x13: // return_call_indirect
        return repeat(2, number);
      case 0x1c: // select of a type
        return repeat(from.number(), number);
      case 0x1f: // try_table
        number();
        return repeat(from.number(), () => {
          repeat(from.byte() < 2 ? 2 : 1, number);
        });
      case 0x43:
        return void from.take(4);
      case 0x44:
        return void from.take(8);
    }
    const one = (code >= 0x02 && code <= 0x18) ||
      (code >= 0x20 && code <= 0x26) || (code >= 0x3f && code <= 0x42) ||
      code === 0xd0 || code === 0xd2;
    if (!one) throw new BadModule(`An unknown instruction: ${code}`);
    number();
  }
}

function skipBulk(from: Reader, sub: number): void {
  if (sub > 17) throw new BadModule(`An unknown instruction: 0xfc ${sub}`);
  const pairs = sub === 8 || sub === 10 || sub === 12 || sub === 14;
  repeat(sub < 8 ? 0 : pairs ? 2 : 1, () => from.skipNumber());
}

function skipVector(from: Reader, sub: number): void {
  if (sub <= 11 || sub === 92 || sub === 93) readOffset(from);
  else if (sub === 12 || sub === 13) from.take(16);
  else if (sub >= 21 && sub <= 34) from.byte();
  else if (sub >= 84 && sub <= 91) {
    readOffset(from);
    from.byte();
  }
}
