/**
 * Values as bytes.
 *
 * @module
 */

import { Values, values } from "./_value/codec.ts";
import { describe, isBytes } from "./_memory/describe.ts";
import { assertConfig } from "./_memory/region.ts";
import type { ValueCodec } from "./_message/codec.ts";
import type { Codec } from "./_message/message.ts";
import { classesOf } from "./_message/own_errors.ts";
import { isTaken } from "./_value/errors.ts";
import { viewOf, Views } from "./_value/view/codec.ts";
import type { ValueView } from "./_value/view/view.ts";

export {
  type PartOf,
  type ValuePart,
  type ValueType,
  ValueView,
} from "./_value/view/view.ts";
export type { ValueCodec } from "./_message/codec.ts";
export type { Codec } from "./_message/message.ts";

/**
 * A codec for any value that `structuredClone` takes and bytes can carry:
 * {@linkcode encodeValue} says what that is. Channels, calls and tasks that
 * name no codec have this one.
 *
 * A channel keeps the names of objects in its own memory: an object carries
 * only the number of its shape there. Elsewhere each message has the names of
 * its objects.
 *
 * @example Objects of any kind
 * ```ts
 * import { Channel, valueCodec } from "@weft/sync";
 *
 * const config = { codec: valueCodec, capacity: 64 };
 * const users = Channel.create<{ id: number; tags: Set<string> }>(config);
 * users.trySend({ id: 7, tags: new Set(["a"]) });
 * if (!users.tryReceive()?.tags.has("a")) throw new Error("another user");
 * ```
 */
export const valueCodec: ValueCodec = values;

/**
 * The same for errors of classes of yours: they arrive with their class. Each
 * agent gives its own. No constructor is called.
 *
 * @example An error of a class of yours
 * ```ts
 * import { Channel, valueCodecWith } from "@weft/sync";
 *
 * class NotFound extends Error {
 *   override name = "NotFound";
 * }
 * const config = { codec: valueCodecWith({ errors: [NotFound] }) };
 * const errors = Channel.create<Error>({ ...config, capacity: 4 });
 * errors.trySend(new NotFound("no such file"));
 * if (!(errors.tryReceive() instanceof NotFound)) throw new Error("another");
 * ```
 *
 * @throws {TypeError} If `errors` is not an array of classes of errors, if two
 * of them have the same name, or if one has none, or that of another class of
 * the platform's: messages name the class.
 */
export function valueCodecWith(
  // deno-lint-ignore no-explicit-any
  config: { errors: readonly (abstract new (...args: any[]) => Error)[] },
): ValueCodec {
  assertConfig("valueCodecWith", config, ["errors"]);
  const errors = [...classesOf(config.errors).values()];
  const taken = errors.find(isTaken);
  if (taken === undefined) return new Values(errors);
  throw new TypeError(
    "The classes of errors need names that the platform's do not have: " +
      `received ${describe(taken.name)}`,
  );
}

/**
 * Writes `value` to the beginning of `into`, and returns how many bytes it has.
 * If that is more than `into.length`, what `into` holds is of no use: call this
 * again with an array of that many bytes.
 *
 * It takes what `structuredClone` takes and bytes can carry: `undefined`, all
 * numbers, BigInts and strings; arrays, plain objects, `Map`, `Set`, `Date`,
 * `RegExp`, errors, boxed values, `ArrayBuffer` and its views. Objects that
 * occur twice, or contain themselves, arrive so. It differs in this:
 *
 * - Objects with another prototype are refused, and so are objects that are
 *   nested more than 1000 deep, symbols and functions, and resizable buffers
 *   that may grow to more than 256 MiB together.
 * - Of an array, only the items are sent.
 * - A view of a part of a buffer arrives with a buffer of that part alone,
 *   unless the value has another view of the same buffer. A `Buffer` of Node
 *   arrives as a `Uint8Array` with a buffer of its own.
 * - Errors keep their enumerable properties, such as `code`.
 *
 * The bytes hold all that is needed to read them, in any program. Their format
 * is described in docs/value_format.md. C twin: `weft_value_begin` to
 * `weft_value_end`.
 *
 * @throws {TypeError} If a part of the value cannot be written; the error names
 * the path to it.
 *
 * @example A value in a file
 * ```ts
 * import { decodeValue, encodeValue } from "@weft/sync";
 *
 * const into = new Uint8Array(1000);
 * const length = encodeValue(new Map([["a", 1n]]), into);
 * const map = decodeValue<Map<string, bigint>>(into.subarray(0, length));
 * if (map.get("a") !== 1n) throw new Error("another map");
 * ```
 */
export function encodeValue(value: unknown, into: Uint8Array): number {
  assertBytes(into);
  return values.encode(value, into);
}

/**
 * Reads the value that {@linkcode encodeValue} wrote from all of `bytes`, which
 * may be shared memory. The value keeps none of them.
 *
 * @throws {TypeError} If the bytes are of no such value.
 *
 * @example A value of another program
 * ```ts
 * import { decodeValue } from "@weft/sync";
 *
 * const bytes = Uint8Array.of(0, 0xc2, 7, 0x42, 0x68, 0x69);
 * const [id, text] = decodeValue<[number, string]>(bytes);
 * if (id !== 7 || text !== "hi") throw new Error("another value");
 * ```
 */
export function decodeValue<T = unknown>(bytes: Uint8Array): T {
  assertBytes(bytes);
  return values.decode(bytes) as T;
}

/**
 * Looks at the value that {@linkcode encodeValue} wrote to all of `bytes`,
 * which may be shared memory. Nothing is built until you read a part. C twin:
 * `weft_value_open`.
 *
 * @throws {TypeError} If the bytes begin no such value. Other damage is found
 * when a part is looked at.
 *
 * @example Which of many, without building them
 * ```ts
 * import { decodeValue, encodeValue, viewValue } from "@weft/sync";
 *
 * const into = new Uint8Array(1000);
 * const length = encodeValue({ kind: "user", id: 7, tags: ["a"] }, into);
 * const bytes = into.subarray(0, length);
 * const isUser = viewValue(bytes).get("kind")?.is("user");
 * if (isUser) console.log(decodeValue(bytes));
 * ```
 */
export function viewValue<T = unknown>(bytes: Uint8Array): ValueView<T> {
  assertBytes(bytes);
  return viewOf<T>(bytes);
}

/**
 * A codec for receiving from a channel of {@linkcode valueCodec}, or of another
 * one by {@linkcode valueCodecWith}: `receive` calls `use` with a view of the
 * message, and returns what `use` returns. Only what `use` reads is built.
 *
 * The view and its parts are valid until `use` returns: return what was read,
 * and no view. With `oneToOne` and `manyToOne`, the message stays in the
 * channel until then; otherwise `use` looks at a copy of its bytes, and no
 * other receiver waits. If `use` throws, `receive` throws the same error, and
 * the message is removed. A channel with this codec sends nothing.
 *
 * @example One part of each message
 * ```ts
 * import { Channel, type ValueView, viewCodec } from "@weft/sync";
 *
 * interface User {
 *   id: number;
 *   tags: string[];
 * }
 * const users = Channel.create<User>({ capacity: 64 });
 * users.trySend({ id: 7, tags: ["a"] });
 * const codec = viewCodec((user: ValueView<User>) => user.get("id")!.read());
 * const ids = Channel.from(users.handle, { codec });
 * if (ids.tryReceive() !== 7) throw new Error("another id");
 * ```
 *
 * @throws {TypeError} If `use` is not a function, or `codec` another codec.
 */
export function viewCodec<T, Result>(
  use: (view: ValueView<T>) => Result,
  codec: ValueCodec = valueCodec,
): Codec<Result> {
  const errors = (codec as Values | null)?.errors; // of any copy of the package
  if (typeof use !== "function" || !Array.isArray(errors)) {
    throw new TypeError(
      "viewCodec takes a function, and a valueCodec: received " +
        describe(typeof use !== "function" ? use : codec),
    );
  }
  return new Views(use, errors);
}

function assertBytes(bytes: Uint8Array): void {
  if (isBytes(bytes)) return;
  throw new TypeError(
    `The bytes of values lie in a Uint8Array: received ${describe(bytes)}`,
  );
}
