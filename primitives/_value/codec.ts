/**
 * The codec of values: writes them where the message lies, and reads them
 * there.
 *
 * @module
 */

import { GONE, Unsendable, Writer } from "./writer.ts";
import { describe } from "../_memory/describe.ts";
import type { ValueCodec } from "../_message/codec.ts";
import {
  refusal,
  type ShapedCodec,
  type SharedShapes,
} from "../_message/message.ts";
import type { ErrorClass } from "../_message/own_errors.ts";
import { AGAIN, writeOther } from "./objects.ts";
import { readOther } from "./others.ts";
import { Reader } from "./reader.ts";
import { Shapes } from "./shapes.ts";
import { DELETED, PLAIN, REFERRING } from "./tags.ts";

/** Writes and reads values, with the shapes of a table or with their own. */
export class Values implements ShapedCodec<unknown>, ValueCodec {
  readonly name = "value" as const;
  /** The classes of errors that are made again. */
  readonly errors: readonly ErrorClass[];
  readonly #shapes: Shapes;
  /** Undefined while in use: a getter may send, too. */
  #writer: Writer | undefined;
  #reader: Reader | undefined;

  constructor(errors: readonly ErrorClass[], shapes?: SharedShapes) {
    this.errors = errors;
    this.#shapes = new Shapes(shapes);
  }

  over(shapes: SharedShapes): Values {
    return new Values(this.errors, shapes);
  }

  encode(value: unknown, into: Uint8Array): number {
    return this.encodeAt(value, into, 0, into.length);
  }

  decode(bytes: Uint8Array): unknown {
    return this.decodeAt(bytes, 0, bytes.length);
  }

  encodeAt(
    value: unknown,
    memory: Uint8Array,
    at: number,
    room: number,
  ): number {
    const writer = this.#writer ??= this.#newWriter();
    const { out } = writer;
    if (typeof value === "string") { // which takes fewer steps
      out.begin(memory, at, room);
      out.byte(PLAIN);
      out.text(value);
      return out.finish(memory, at, room);
    }
    this.#writer = undefined;
    try {
      for (;;) {
        try {
          out.begin(memory, at, room);
          out.byte(PLAIN);
          writer.write(value);
          if (out.refers) out.bytes[out.base] = REFERRING;
          if (!out.deleted) return out.finish(memory, at, room);
          // Some of it was deleted meanwhile: what was written is read again.
          const { bytes, base } = out;
          value = this.#newReader(readGone).read(bytes, base, out.at - base);
          writer.isCopy = true;
        } catch (error) {
          if (error instanceof Unsendable) throw refused(value, error);
          if (error !== AGAIN) throw error;
          out.whole = true;
        }
        out.clear();
      }
    } finally {
      out.whole = writer.isCopy = false;
      out.clear();
      this.#writer = writer;
    }
  }

  #newWriter(): Writer {
    return new Writer(this.#shapes, this.errors, writeOther);
  }

  #newReader(other = readOther): Reader {
    return new Reader(this.#shapes, this.errors, other);
  }

  decodeAt(memory: Uint8Array, at: number, length: number): unknown {
    const reader = this.#reader ?? this.#newReader();
    this.#reader = undefined;
    try {
      return reader.read(memory, at, length);
    } finally {
      this.#reader = reader;
    }
  }
}

/** Reads what `Writer` has written of values of which some are gone. */
const readGone: typeof readOther = (reader, tag, depth) =>
  tag === DELETED ? GONE : readOther(reader, tag, depth);

/**
 * The values that `structuredClone` accepts, such as `Map`, `Set`, `Date`,
 * `RegExp`, BigInts, errors, `undefined`, typed arrays, and objects that
 * contain themselves. Shared memory is refused, in views, too. It is
 * `valueCodec`, the codec of a channel that names none, under another name.
 *
 * @example A Map
 * ```ts
 * import { Channel, codec } from "@weft/sync";
 *
 * const config = { codec: codec.structured, capacity: 8 };
 * const maps = Channel.create<Map<string, bigint>>(config);
 * maps.trySend(new Map([["a", 1n]]));
 * if (maps.tryReceive()?.get("a") !== 1n) throw new Error("another map");
 * ```
 */
export const values: ValueCodec & ShapedCodec<unknown> = /* @__PURE__ */
  new Values([]);

/** The error that says which part of a value cannot be sent. */
function refused(value: unknown, { value: culprit, why }: Unsendable): Error {
  const path = pathTo(culprit, value);
  return refusal(
    "a value",
    culprit,
    why,
    path.length > 20 ? path.slice(0, 3) : path,
  );
}

/** The path to a part of a value. */
function pathTo(part: unknown, value: unknown): (string | number)[] {
  // A list, because recursion would overflow in values that are nested deep.
  const found = [{ item: value, key: "" as string | number, from: 0 }];
  const seen = new Set<unknown>();
  for (let i = 0; i < found.length; i++) {
    const { item } = found[i]!;
    if (Object.is(item, part)) {
      const path: (string | number)[] = [];
      for (let at = i; at > 0; at = found[at]!.from) path.push(found[at]!.key);
      return path.reverse();
    }
    if (seen.has(item)) continue;
    seen.add(item);
    eachPart(item as object, (key, item) => {
      const mayHave = typeof item === "object" && item !== null;
      if (mayHave || Object.is(item, part)) found.push({ item, key, from: i });
    });
  }
  return [];
}

function eachPart(
  value: object,
  tell: (key: string | number, part: unknown) => void,
): void {
  try {
    const tag = describe(value); // `instanceof` fails for other realms'
    if (tag === "[object Map]") {
      let i = 0;
      for (const [key, item] of value as Map<unknown, unknown>) {
        tell(i, key);
        tell(i++, item);
      }
    } else if (tag === "[object Set]") {
      [...value as Set<unknown>].forEach((item, i) => tell(i, item));
    } else if (Array.isArray(value)) value.forEach((item, i) => tell(i, item));
    else if (!ArrayBuffer.isView(value)) {
      // Most properties of an error are not enumerable.
      for (const key of Object.getOwnPropertyNames(value)) {
        tell(key, Reflect.get(value, key));
      }
    }
  } catch {
    // a getter throws
  }
}
