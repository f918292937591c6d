/**
 * Typed messages between agents.
 *
 * @module
 */

import { CHANNEL } from "./_layout.ts";
import type { Elements } from "./_elements.ts";
import { ClosedError } from "./_queue.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  viewPlain,
  type WordsInspection,
} from "./_region.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  type Waitable,
  type Waiting,
} from "./_wait.ts";
import { MpmcQueue } from "./mpmc_queue.ts";
import { RecordRing } from "./record_ring.ts";

export type { Elements } from "./_elements.ts";
export { ClosedError } from "./_queue.ts";
export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

/** The bytes of a channel's head. What carries its messages lies behind it. */
const HEAD = CHANNEL.length * 4;

// ---- what carries messages ----------------------------------------------------

/** A queue of messages, as bytes. */
interface Carrier extends Waitable {
  readonly byteLength: number;
  readonly capacity: number;
  /** Bytes a message has at most. */
  readonly maxLength: number;
  readonly closed: boolean;
  tryPush(message: Elements, timeout?: number): boolean;
  tryPushAsync(message: Elements, options?: AsyncOptions): Promise<boolean>;
  tryPop(timeout?: number): Uint8Array<ArrayBuffer> | undefined;
  tryPopAsync(
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined>;
  close(): void;
  abandon(id: number): number;
}

/**
 * How a kind of carrier is made. A codec names its own, so that a bundle holds
 * only those that its codecs need.
 */
interface CarrierKind {
  bytesFor(capacity: number, size: number): number;
  init(memory: Memory, at: number, capacity: number, size: number): Carrier;
  attach(memory: Memory, at: number): Carrier;
}

/** Messages of any length. */
const RECORDS: CarrierKind = {
  bytesFor: (capacity) => RecordRing.byteLength({ capacity }),
  init: (memory, at, capacity) => RecordRing.init(memory, at, { capacity }),
  attach: (memory, at) => new RecordRing(memory, at),
};

/** Messages of one length. */
const ELEMENTS: CarrierKind = {
  bytesFor: (capacity, size) =>
    MpmcQueue.byteLength({ capacity, elementSize: size }),
  init: (memory, at, capacity, size) =>
    new ElementCarrier(
      MpmcQueue.init(memory, at, { capacity, elementSize: size }),
    ),
  attach: (memory, at) => new ElementCarrier(new MpmcQueue(memory, at)),
};

class ElementCarrier implements Carrier {
  readonly #queue: MpmcQueue<unknown>;

  constructor(queue: MpmcQueue<unknown>) {
    this.#queue = queue;
  }

  get byteLength(): number {
    return this.#queue.byteLength;
  }

  get capacity(): number {
    return this.#queue.capacity;
  }

  get maxLength(): number {
    return this.#queue.elementSize;
  }

  get closed(): boolean {
    return this.#queue.closed;
  }

  tryPush(message: Elements, timeout?: number): boolean {
    return this.#queue.tryPush(message, timeout);
  }

  tryPushAsync(message: Elements, options?: AsyncOptions): Promise<boolean> {
    return this.#queue.tryPushAsync(message, options);
  }

  tryPop(timeout?: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#queue.tryPop(timeout);
  }

  tryPopAsync(
    options?: AsyncOptions,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#queue.tryPopAsync(options);
  }

  close(): void {
    this.#queue.close();
  }

  abandon(): number {
    return 0;
  }

  readiness(): Waiting<boolean | undefined> {
    return this.#queue.readiness();
  }
}

// ---- codecs -------------------------------------------------------------------

/**
 * How values become messages and messages values. Those that there are:
 * {@linkcode json}, {@linkcode text}, {@linkcode binary}, {@linkcode i32},
 * {@linkcode f64} and {@linkcode record}.
 */
export interface Codec<T> {
  /** Its name. */
  readonly name: string;
  /**
   * Its number in a channel's head.
   *
   * @internal
   */
  readonly id: number;
  /**
   * What tells records of different fields apart; 0 if there are none.
   *
   * @internal
   */
  readonly shape: number;
  /**
   * Bytes a message has, a multiple of 4; 0 if each has its own.
   *
   * @internal
   */
  readonly size: number;
  /**
   * What messages are carried by.
   *
   * @internal
   */
  readonly carrier: unknown;
  /**
   * `value` as a message, which is valid until the next is encoded.
   *
   * @internal
   */
  encode(value: T): Elements;
  /**
   * The value of a message.
   *
   * @internal
   */
  decode(message: Uint8Array<ArrayBuffer>): T;
}

/**
 * Bytes of any number, 0 included: each is received as a fresh Uint8Array.
 *
 * @example Bytes
 * ```ts
 * import { binary, Channel } from "@weft/sync";
 *
 * const bytes = Channel.create({ codec: binary, capacity: 256 });
 * bytes.trySend(Uint8Array.of(1, 2, 3));
 * if (bytes.tryReceive()?.length !== 3) throw new Error("others");
 * ```
 */
export const binary: Codec<Uint8Array> = {
  name: "binary",
  id: 1,
  shape: 0,
  size: 0,
  carrier: RECORDS,
  encode(value) {
    if (value instanceof Uint8Array) return value;
    throw refusal("binary", value, "it is no Uint8Array");
  },
  decode: (message) => message,
};

let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

// Made when first used, as an AudioWorklet has none.
const toUtf8 = (text: string): Uint8Array =>
  (encoder ??= new TextEncoder()).encode(text);

/** As it was encoded: a byte order mark is part of the text. */
const fromUtf8 = (message: Uint8Array): string =>
  (decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }))
    .decode(message);

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Strings, as UTF-8, which is what C reads. One with half of a surrogate pair
 * has no UTF-8 form and is refused.
 *
 * @example Lines
 * ```ts
 * import { Channel, text } from "@weft/sync";
 *
 * const lines = Channel.create({ codec: text, capacity: 256 });
 * lines.trySend("grüß dich");
 * if (lines.tryReceive() !== "grüß dich") throw new Error("another one");
 * ```
 */
export const text: Codec<string> = {
  name: "text",
  id: 2,
  shape: 0,
  size: 0,
  carrier: RECORDS,
  encode(value) {
    if (typeof value !== "string") {
      throw refusal("text", value, "it is no string");
    }
    if (value.isWellFormed?.() === true) return toUtf8(value);
    const at = value.search(LONE_SURROGATE);
    if (at < 0) return toUtf8(value);
    throw new RangeError(
      "Cannot send a string with half of a surrogate pair, which has no " +
        `UTF-8 form: received U+${value.charCodeAt(at).toString(16)} at ${at}`,
    );
  },
  decode: fromUtf8,
};

/** What {@linkcode json} promises to deliver. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** Values nested deeper are refused, as are those that contain themselves. */
const DEEPEST = 1000;

/**
 * `null`, booleans, finite numbers (-0 stays -0), all strings, arrays without
 * holes, and plain objects of those: they arrive equal, property by property.
 * Everything else is refused with where it is in the value: `undefined`, NaN
 * and the infinities, BigInts, functions, symbols, objects with another
 * prototype, and what is nested more than 1000 deep. An object that is there
 * twice arrives as two.
 *
 * @example What would not arrive equal is refused
 * ```ts
 * import { Channel, json } from "@weft/sync";
 *
 * const values = Channel.create({ codec: json, capacity: 256 });
 * values.trySend({ list: [1, null, "x"] });
 * let refused = false;
 * try {
 *   values.trySend([NaN]); // JSON.stringify would send null
 * } catch {
 *   refused = true;
 * }
 * if (!refused) throw new Error("sent something else");
 * ```
 */
export const json: Codec<JsonValue> = {
  name: "json",
  id: 3,
  shape: 0,
  size: 0,
  carrier: RECORDS,
  encode: (value) => toUtf8(written(value, [])),
  decode: (message) => JSON.parse(fromUtf8(message)),
};

/**
 * The JSON text of `value`, which lies at `path`. `JSON.stringify` would leave
 * out, or change without a word, what it has no text for; and to look first and
 * to write then would read a property twice.
 */
function written(value: unknown, path: (string | number)[]): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean" || value === null) return `${value}`;
  if (typeof value === "number" && Number.isFinite(value)) {
    return Object.is(value, -0) ? "-0" : `${value}`;
  }
  if (typeof value !== "object") {
    throw refusal("json", value, "it has no JSON form", path);
  }
  if (path.length >= DEEPEST) {
    const why = `it is more than ${DEEPEST} deep, or contains itself`;
    throw refusal("json", value, why, path.slice(0, 3));
  }
  const list = Array.isArray(value);
  const prototype = Object.getPrototypeOf(value);
  // By what it has, as another realm's prototypes are other objects.
  if (
    prototype === null ||
    !Object.hasOwn(prototype, list ? "concat" : "isPrototypeOf")
  ) throw refusal("json", value, "its prototype would be lost", path);
  const keys = Object.keys(value);
  if (
    Object.getOwnPropertySymbols(value).length > 0 ||
    list && keys.length > value.length
  ) throw refusal("json", value, "some property would be lost", path);
  let result = "";
  const write = (key: string | number, item: unknown) => {
    path.push(key);
    if (result !== "") result += ",";
    if (!list) result += `${JSON.stringify(key)}:`;
    result += written(item, path);
    path.pop();
  };
  if (list) {
    const { length } = value;
    for (let i = 0; i < length; i++) write(i, value[i]);
    return `[${result}]`;
  }
  for (const key of keys) {
    write(key, (value as Record<string, unknown>)[key]);
  }
  return `{${result}}`;
}

const word = /* @__PURE__ */ new Int32Array(1);

/**
 * Integers of 32 bits, signed; -0 arrives as 0.
 *
 * @example Counts
 * ```ts
 * import { Channel, i32 } from "@weft/sync";
 *
 * const counts = Channel.create({ codec: i32, capacity: 8 });
 * counts.trySend(-7);
 * if (counts.tryReceive() !== -7) throw new Error("another number");
 * ```
 */
export const i32: Codec<number> = {
  name: "i32",
  id: 4,
  shape: 0,
  size: 4,
  carrier: ELEMENTS,
  encode(value) {
    inRange("A message", value, -(2 ** 31), 2 ** 31 - 1);
    word[0] = value;
    return word;
  },
  decode: ({ buffer }) => new DataView(buffer).getInt32(0, true),
};

const double = /* @__PURE__ */ new Float64Array(1);

/**
 * All numbers, -0, NaN and the infinities included.
 *
 * @example Measurements
 * ```ts
 * import { Channel, f64 } from "@weft/sync";
 *
 * const samples = Channel.create({ codec: f64, capacity: 8 });
 * samples.trySend(0.1);
 * if (samples.tryReceive() !== 0.1) throw new Error("another number");
 * ```
 */
export const f64: Codec<number> = {
  name: "f64",
  id: 5,
  shape: 0,
  size: 8,
  carrier: ELEMENTS,
  encode(value) {
    if (typeof value !== "number") {
      throw refusal("f64", value, "it is no number");
    }
    double[0] = value;
    return double;
  },
  decode: ({ buffer }) => new DataView(buffer).getFloat64(0, true),
};

/** What {@linkcode record} needs of a type that `struct` made. */
export interface RecordType<T> {
  /** Its fields, by name. */
  readonly fields: object;
  /** Bytes a record has. */
  readonly size: number;
  /** Copies the record at `byteOffset`. */
  read(source: Uint8Array, byteOffset?: number): T;
  /** Writes the fields that are given. */
  write(target: Uint8Array, record: Partial<T>, byteOffset?: number): void;
  /** Its C declaration. */
  toC(name: string): string;
}

/**
 * Records of a `struct` type: every field must be there. They arrive equal,
 * but that an `f32` is rounded to what it can hold, and a field of bytes is as
 * long as declared, with zeros behind what was sent.
 *
 * @example Records that C can read
 * ```ts
 * import { Channel, record, struct } from "@weft/sync";
 *
 * const Point = struct({ id: "u32", x: "f64" });
 * const points = Channel.create({ codec: record(Point), capacity: 8 });
 * points.trySend({ id: 7, x: 0.5 });
 * if (points.tryReceive()?.x !== 0.5) throw new Error("another point");
 * ```
 */
export function record<T extends object>(type: RecordType<T>): Codec<T> {
  const names = Object.keys(type.fields);
  const size = Math.ceil(type.size / 4) * 4;
  const scratch = new Uint8Array(size);
  return {
    name: "record",
    id: 6,
    shape: shapeOf(type.toC("record")),
    size,
    carrier: ELEMENTS,
    encode(value) {
      for (const name of names) {
        if ((value as Record<string, unknown>)?.[name] === undefined) {
          throw refusal("a record", value, `field "${name}" is missing`);
        }
      }
      scratch.fill(0);
      type.write(scratch, value);
      return scratch;
    },
    decode: (message) => type.read(message),
  };
}

/** A number for a C declaration (FNV-1a), which is not 0. */
function shapeOf(declaration: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < declaration.length; i++) {
    hash = Math.imul(hash ^ declaration.charCodeAt(i), 0x01000193);
  }
  return hash | 1;
}

function refusal(
  codec: string,
  value: unknown,
  why: string,
  path: readonly (string | number)[] = [],
): TypeError {
  const received = typeof value === "object" && value !== null
    ? Object.prototype.toString.call(value)
    : typeof value === "function" || typeof value === "symbol"
    ? typeof value
    : `${value}`;
  const where = path.map((key) => `[${JSON.stringify(key)}]`).join("");
  return new TypeError(
    `Cannot send this as ${codec}: ${why}: received ${received}` +
      (where === "" ? "" : ` at ${where}`),
  );
}

// ---- the channel ----------------------------------------------------------------

/** What a message of a channel is. */
export interface ChannelCodec<T> {
  /** How values become messages. */
  readonly codec: Codec<T>;
}

/**
 * What can be told of a channel.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = { row: CHANNEL };

/** How a channel is made. */
export interface ChannelConfig<T> extends ChannelCodec<T> {
  /**
   * Messages it holds, 1 to 2^30 / their size; with `json`, `text` and
   * `binary`, the bytes they may have together, 16 to 2^30. Rounded up to a
   * power of two.
   */
  readonly capacity: number;
}

/**
 * A bounded channel of values. What `send` accepts, `receive` gives back equal,
 * as the channel's codec promises; what would not arrive equal is refused.
 *
 * ```text
 * word 0   magic  Kind and layout version.
 * word 1   codec  1 binary, 2 text, 3 json, 4 i32, 5 f64 or 6 record.
 * word 2   shape  A number that differs between records of different fields, or
 *                 0.
 * word 3   seal   Check word over the configuration.
 * word 32  What carries the messages, with its own head: an `mpmc_queue` for
 *          i32, f64 and record, and a `record_ring` for the others.
 * ```
 *
 * Messages of one size come from many senders to many receivers. With `json`,
 * `text` and `binary` one agent receives.
 *
 * Invariant: those of what carries the messages; the head never changes.
 * Progress: that of the `try` and the waiting forms of `MpmcQueue` and of
 * `RecordRing`: no `try` form waits, but it may answer "full" or "empty" while
 * another agent is within its own. An agent terminated in the middle of a
 * `send` or `receive` may block a channel of one size for good; with `json`,
 * `text` and `binary` one terminated in a `send` blocks it until `abandon(id)`,
 * and one in a `receive` never. Wrap: as there.
 * Fairness: first in, first out.
 * C twin: `weft_channel`, for which a message is its bytes: UTF-8, an `int32_t`,
 * a `double`, or a struct.
 * Source: a codec over a queue of bytes, as Go's and Rust's channels are typed.
 *
 * @example Requests in JSON
 * ```ts
 * import { Channel, json } from "@weft/sync";
 *
 * const jobs = Channel.create({ codec: json, capacity: 65536 });
 * // Post jobs.handle; there, Channel.from(handle, { codec: json }).
 * await jobs.sendAsync({ id: 7, tags: ["a", "ü"] });
 * jobs.close();
 * for await (const job of jobs) console.log(job); // { id: 7, … }
 * ```
 */
export class Channel<T> extends Region<"channel"> {
  /** What its messages are. */
  readonly codec: Codec<T>;
  readonly #carrier: Carrier;

  /**
   * Attaches to the channel at `byteOffset`, whose codec must be that which is
   * given; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, no channel of this layout
   * version was initialized there, or its messages are of another codec.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(
    memory: Memory,
    byteOffset: number | undefined,
    { codec }: ChannelCodec<T>,
  ) {
    const at = byteOffset ?? 0;
    const head = attach("channel", CHANNEL, memory, at, () => HEAD);
    assertCodec(codec, head);
    const carrier = behind(() => kindOf(codec).attach(memory, at + HEAD));
    if (codec.size > 0 && codec.size !== carrier.maxLength) {
      throw new TypeError(
        `Cannot attach a channel: its messages have ${carrier.maxLength} ` +
          `bytes, not ${codec.size}`,
      );
    }
    const length = HEAD / 4 + carrier.byteLength / 4;
    super("channel", viewPlain("channel", { length }, memory, at), INSPECTION);
    this.codec = codec;
    this.#carrier = carrier;
  }

  /**
   * The bytes a channel of this configuration occupies.
   *
   * @throws {TypeError} If `codec` is none.
   * @throws {RangeError} If `config` is out of range.
   */
  static byteLength<T>({ codec, capacity }: ChannelConfig<T>): number {
    return HEAD + kindOf(codec).bytesFor(capacity, codec.size);
  }

  /**
   * Allocates an empty channel.
   *
   * @throws {TypeError} If `codec` is none.
   * @throws {RangeError} If `config` is out of range.
   */
  static create<T>(config: ChannelConfig<T>): Channel<T> {
    return Channel.init(allocate(Channel.byteLength(config)), 0, config);
  }

  /**
   * Makes a region that nobody uses yet an empty channel.
   *
   * @throws {TypeError} If `memory` is not shared, or `codec` is none.
   * @throws {RangeError} If it does not fit there, or `config` is out of range.
   */
  static init<T>(
    memory: Memory,
    byteOffset: number,
    config: ChannelConfig<T>,
  ): Channel<T> {
    const { codec, capacity } = config;
    const length = Channel.byteLength(config) / 4;
    viewPlain("channel", { length }, memory, byteOffset); // all of it fits
    kindOf(codec).init(memory, byteOffset + HEAD, capacity, codec.size);
    const words = [codec.id, codec.shape];
    format("channel", CHANNEL, memory, byteOffset, HEAD, words);
    return new Channel(memory, byteOffset, config);
  }

  /**
   * Attaches to the channel a message brought: its codec must be given.
   *
   * @throws {TypeError} If it is of another kind, or codec, or none is there.
   */
  static from<T>(handle: Handle, config: ChannelCodec<T>): Channel<T> {
    return new Channel(...fromHandle("channel", handle), config);
  }

  /** Messages it holds, or bytes of messages that differ in length. */
  get capacity(): number {
    return this.#carrier.capacity;
  }

  /** The most bytes of a message. */
  get maxLength(): number {
    return this.#carrier.maxLength;
  }

  /** Whether `close` was called; messages may still be in the channel. */
  get closed(): boolean {
    return this.#carrier.closed;
  }

  /**
   * Sends `value` without waiting; false if there is no room for it.
   *
   * @throws {ClosedError} If the channel was closed.
   * @throws {RangeError} If it is longer than `maxLength` as a message.
   * @throws {TypeError} If the codec cannot deliver it equal.
   */
  trySend(value: T): boolean {
    return this.#carrier.tryPush(this.codec.encode(value));
  }

  /**
   * As `trySend`, blocking up to `timeout` ms; false if no room came free.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  send(value: T, timeout = Infinity): boolean {
    assertMayBlock("send");
    if (timeout !== Infinity) assertTimeout(timeout);
    return this.#carrier.tryPush(this.codec.encode(value), timeout);
  }

  /**
   * As `send`, awaiting instead of blocking. What is sent is `value` as it is
   * at the call.
   */
  async sendAsync(value: T, options?: AsyncOptions): Promise<boolean> {
    return await this.#carrier.tryPushAsync(
      copyOf(this.codec.encode(value)),
      { timeout: Infinity, ...options },
    );
  }

  /**
   * Takes the oldest message, without waiting; undefined if there is none.
   *
   * @throws {ClosedError} If the channel was closed and is empty.
   * @throws {TypeError} If it was sent by C and is not what the codec says; it
   * is taken.
   */
  tryReceive(): T | undefined {
    return this.#decoded(this.#carrier.tryPop());
  }

  /**
   * As `tryReceive`, blocking up to `timeout` ms; undefined if none came.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  receive(timeout = Infinity): T | undefined {
    assertMayBlock("receive");
    if (timeout !== Infinity) assertTimeout(timeout);
    return this.#decoded(this.#carrier.tryPop(timeout));
  }

  /** As `receive`, awaiting instead of blocking. */
  async receiveAsync(options?: AsyncOptions): Promise<T | undefined> {
    return this.#decoded(
      await this.#carrier.tryPopAsync({
        timeout: Infinity,
        ...options,
      }),
    );
  }

  /** Takes messages as they come, until the channel is closed and empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      let message;
      try {
        message = await this.#carrier.tryPopAsync({ timeout: Infinity });
      } catch (error) {
        if (error instanceof ClosedError) return;
        throw error;
      }
      yield this.codec.decode(message!);
    }
  }

  /**
   * Closes the channel for good: sending fails from now on, receiving takes
   * what is there and then fails, and every sleeper wakes.
   */
  close(): void {
    this.#carrier.close();
  }

  /**
   * Ends what agent `id`, known never to run again, had begun to send; answers
   * how many messages that were. -1 if another agent is sending just now: then
   * again later. Of messages of one size it can end none.
   */
  abandon(id: number): number {
    return this.#carrier.abandon(id);
  }

  /**
   * Waits until a message can be received.
   *
   * @internal
   */
  readiness(): Waiting<boolean | undefined> {
    return this.#carrier.readiness();
  }

  #decoded(message: Uint8Array<ArrayBuffer> | undefined): T | undefined {
    return message === undefined ? undefined : this.codec.decode(message);
  }
}

/** The carrier a codec names; a TypeError if it is none. */
function kindOf<T>(codec: Codec<T>): CarrierKind {
  if (codec?.carrier !== undefined) return codec.carrier as CarrierKind;
  throw new TypeError(
    `A channel's codec is json, text, binary, i32, f64 or record(type): ` +
      `received ${codec}`,
  );
}

/** That the channel with this head has messages of `codec`. */
function assertCodec<T>(codec: Codec<T>, head: Int32Array): void {
  kindOf(codec);
  const id = head[CHANNEL.codec]!;
  const shape = head[CHANNEL.shape]!;
  if (id !== codec.id) {
    const other = ["binary", "text", "json", "i32", "f64", "record"][id - 1];
    throw new TypeError(
      `Cannot attach a channel: its messages are ${other ?? `codec ${id}`}, ` +
        `not ${codec.name}`,
    );
  }
  // C that knows no shape leaves it 0.
  if (shape === codec.shape || shape === 0) return;
  throw new TypeError(
    "Cannot attach a channel: its records have other fields",
  );
}

/** What carries the messages; an error says whose it is. */
function behind(attach: () => Carrier): Carrier {
  try {
    return attach();
  } catch (error) {
    const { message } = error as Error;
    (error as Error).message = `Cannot attach a channel: ${message}`;
    throw error;
  }
}

/** A message that stays what it is while others are encoded. */
function copyOf({ buffer, byteOffset, byteLength }: Elements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}
