/**
 * How a channel is made: its settings, and the codec that they name.
 *
 * @module
 */

import { CHANNEL } from "../../_memory/layout.ts";
import { brief, describe } from "../../_memory/describe.ts";
import type {
  CodecOf,
  JsonCodec,
  JsonOf,
  StructuredOf,
  ValueCodec,
} from "../../_message/codec.ts";
import { CODEC, type Codec, hash } from "../../_message/message.ts";
import { values } from "../../_value/codec.ts";
import { type Carrier, isSized } from "../carrier.ts";

/**
 * The settings that an agent needs to attach to a channel. The codec may be
 * left out if it is `valueCodec`: see {@linkcode ValueChannel}.
 */
export interface ChannelCodec<T> {
  /** Turns values into messages. */
  readonly codec: CodecOf<T>;
  /**
   * Determines how many agents may send and receive: any number of both, unless
   * given.
   */
  readonly carrier?: Carrier | undefined;
}

/** The configuration of a channel. */
export interface ChannelConfig<T> extends ChannelCodec<T> {
  /**
   * How many messages may be in the channel: up to 2^30 / their size. In a
   * queue it is rounded up to a power of two; the property `capacity` tells.
   * Fewer fit if messages are longer than `messageSize`. With 0, a message goes
   * from a sender to a receiver that is there, and the channel has no
   * `carrier`.
   */
  readonly capacity: number;
  /**
   * The expected size of a message in bytes, if messages differ in length: 16
   * to 2^29. Unless given, it is 256; by `create`, more if `capacity` is below
   * 64, so that a message of 16376 bytes fits. With `manyToMany`, `lockFree`
   * and a capacity of 0, a message has at most this many bytes; with other
   * carriers, `maxLength` says how long one may be.
   */
  readonly messageSize?: number | undefined;
  /**
   * How many agents can have a counted `sender()`, and how many a `receiver()`,
   * up to 255; 0, unless given, if none can. Each agent has two rows of 128
   * bytes.
   */
  readonly tracked?: number | undefined;
}

/**
 * The same with `valueCodec`, which need not be named, for the type that you
 * name, if `structuredClone` copies its values.
 */
export type ValueChannel<Config, T> = [T] extends [StructuredOf<T>]
  ? Omit<Config, "codec"> & {
    /** Turns values into messages: `valueCodec` unless given. */
    readonly codec?: ValueCodec | undefined;
  }
  : never;

/**
 * The same with `codec.json`, for the type that you name, if it has a JSON
 * form.
 */
export type JsonChannel<Config, T> = Omit<Config, "codec"> & {
  /** Turns values into messages. */
  readonly codec: [T] extends [JsonOf<T>] ? JsonCodec : never;
};

/** The names of the settings. */
export const CONFIG_NAMES: readonly string[] = [
  "codec",
  "carrier",
  "capacity",
  "messageSize",
  "tracked",
];

/** The number and the shape by which a channel's head names a codec. */
export function wordsOf<T>(codec: Codec<T>): [id: number, shape: number] {
  if (isSized(codec)) return [codec.id, codec.shape];
  const { name } = codec;
  const id = Object.hasOwn(CODEC, name) ? CODEC[name as "json"] : CODEC.own;
  return [id, id === CODEC.own ? hash(name) : 0];
}

/** What the configurations of all codecs have in common. */
export type AnyConfig<Config> = Omit<Config, "codec"> & {
  readonly codec?: unknown;
};

/** The codec of a configuration; checks it, and the carrier. */
export function codecOf<T>(
  { codec: given, carrier }: AnyConfig<ChannelCodec<T>>,
): Codec<T> {
  const codec = (given === undefined ? values : given) as Codec<T>;
  if (
    typeof codec !== "object" || codec === null ||
    typeof codec.name !== "string" || codec.name === "" ||
    typeof codec.encode !== "function" || typeof codec.decode !== "function"
  ) {
    throw new TypeError(
      "A channel's codec must be valueCodec, codec.json, text, binary, " +
        "i32, f64, record(type), or your own { name, encode, decode }: " +
        "received " +
        describe(codec),
    );
  }
  if (carrier === undefined || carrier?.elements !== undefined) return codec;
  throw new TypeError(
    "A channel's carrier must be what is imported as oneToOne, manyToMany, " +
      "manyToOne or lockFree: received " +
      describe(carrier),
  );
}

/** Checks that the channel with this head has messages of `codec`. */
export function assertSameCodec<T>(
  codec: Codec<T>,
  head: Int32Array,
): void {
  const [id, shape] = wordsOf(codec);
  const theirs = head[CHANNEL.codec]!;
  if (id !== theirs) {
    const name = Object.entries(CODEC).find(([, n]) => n === theirs)?.[0];
    const other = name === "own" ? "of another codec" : name;
    throw new TypeError(
      `Cannot attach a channel: its messages are ${
        other ?? `codec ${theirs}`
      }, ` +
        `not ${brief(codec.name)}`,
    );
  }
  const shaped = head[CHANNEL.shape]!;
  // C code that does not know the shape leaves it 0.
  if (shaped === shape || shaped === 0) return;
  throw new TypeError(
    id === CODEC.own
      ? `Cannot attach a channel: its codec is not named ` +
        describe(codec.name)
      : "Cannot attach a channel: its records have other fields",
  );
}
