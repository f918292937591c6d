/**
 * What carries the messages of a channel, and where it lies.
 *
 * @module
 */

import { CHANNEL, KIND } from "../../_memory/layout.ts";
import { aKind, brief, describe } from "../../_memory/describe.ts";
import {
  assertConfig,
  inRange,
  type Memory,
  viewPlain,
} from "../../_memory/region.ts";
import { MAX_ROWS, rowsLength } from "../../_memory/tracked.ts";
import { CODEC, type Codec } from "../../_message/message.ts";
import {
  type Carrier,
  type ElementQueue,
  isSized,
  type Kind,
  type Port,
  type QueuedCodec,
} from "../carrier.ts";
import { RecordPort, ringBytes, SlotPort } from "../byte_ports.ts";
import {
  type AnyConfig,
  type ChannelConfig,
  codecOf,
  CONFIG_NAMES,
} from "./config.ts";
import { Handoff, HANDOFFS } from "./handoff.ts";
import { BytesPort } from "./in_place.ts";

/**
 * The size of a channel's head in bytes. The queue or ring that carries the
 * messages lies behind it.
 */
export const HEAD: number = /* @__PURE__ */ (() => CHANNEL.length * 4)();

/**
 * The size of a message in bytes, unless the configuration gives another one.
 */
const MESSAGE_SIZE = 256;
/**
 * The least capacity of which a channel has the room, in memory of its own and
 * unless the configuration says otherwise. One message may then take half of
 * its ring: 16,376 bytes.
 */
const ROOMY = 64;

/** The name of the carrier of a channel whose configuration names none. */
export const USUAL = "the usual one";

/** The bytes of the rows of `tracked` senders and as many receivers. */
export const rowsBytes = (tracked: number): number => 8 * rowsLength(tracked);

// ---- configurations ---------------------------------------------------------

/** The queue or ring behind the head, and its size. */
interface Plan<T> {
  readonly codec: Codec<T>;
  readonly kind: Pick<Kind<unknown>, "byteLength" | "init">;
  /** The configuration of that queue or ring. */
  readonly capacity: number;
  readonly size: number;
  readonly messageSize: number;
  /** How many agents have rows at each end. */
  readonly tracked: number;
  /** The bytes of all, and of what lies before the table and the rows. */
  readonly byteLength: number;
  readonly table: number;
}

/**
 * Checks a configuration, and plans the queue or ring that carries its
 * messages: that of the carrier `usual`, unless it names one. `tableBytes` are
 * those of the table of shapes that a codec needs.
 */
export function planOf<T>(
  config: AnyConfig<ChannelConfig<T>>,
  usual: Carrier,
  tableBytes: (codec: Codec<T>) => number,
): Plan<T> {
  assertConfig("channel", config, CONFIG_NAMES);
  const codec = codecOf<T>(config);
  const { carrier = usual, messageSize = MESSAGE_SIZE, tracked = 0 } = config;
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  const plan = (
    kind: Plan<T>["kind"],
    capacity: number,
    size: number,
    messageSize: number,
  ) => {
    const table = HEAD + kind.byteLength(capacity, size);
    const byteLength = table + tableBytes(codec) + rowsBytes(tracked);
    const sizes = { capacity, size, messageSize, tracked, byteLength, table };
    return { codec, kind, ...sizes };
  };
  inRange("A channel's capacity", config.capacity, 0, 2 ** 30);
  const handsOn = config.capacity === 0;
  if (handsOn) assertNoCarrier(config.carrier);
  if (isSized(codec)) {
    if (config.messageSize !== undefined) {
      throw new TypeError(
        `The messages of ${
          brief(codec.name)
        } have one size: leave messageSize out: ` +
          `received ${describe(config.messageSize)}`,
      );
    }
    const elements = carrier.elements ?? codec.elements;
    const { size } = codec.field;
    return plan(handsOn ? HANDOFFS : elements, config.capacity, size, 0);
  }
  inRange("A channel's messageSize", messageSize, 16, 2 ** 29);
  const { records } = carrier;
  if (handsOn || records === undefined) {
    const kind = handsOn ? HANDOFFS : carrier.elements!;
    const size = slotSize(messageSize);
    return plan(kind, config.capacity, size, messageSize);
  }
  const bytes = ringBytes(config.capacity, messageSize);
  if (bytes > 2 ** 30) {
    throw new RangeError(
      `A channel of ${config.capacity} messages of ${messageSize} bytes has ` +
        "more than 2^30 bytes",
    );
  }
  return plan(records, bytes, config.capacity, messageSize);
}

/**
 * A configuration for memory of the channel's own: unless it names a
 * `messageSize`, one message may be long.
 */
export function inOwnMemory<T>(
  config: AnyConfig<ChannelConfig<T>>,
  usual: Carrier,
): AnyConfig<ChannelConfig<T>> {
  assertConfig("channel", config, CONFIG_NAMES);
  const { carrier = usual, capacity, messageSize } = config;
  const inSlots = carrier.records === undefined && capacity > 0;
  if (messageSize !== undefined || inSlots || isSized(codecOf<T>(config))) {
    return config;
  }
  if (capacity >= ROOMY) return config;
  const share = Math.ceil((ROOMY + 1) * MESSAGE_SIZE / (capacity + 1));
  return { ...config, messageSize: share };
}

/** The bytes of a slot for messages of up to `messageSize` bytes. */
const slotSize = (messageSize: number): number =>
  4 + Math.ceil(messageSize / 4) * 4;

/** Refuses a carrier of a channel of capacity 0. */
function assertNoCarrier(carrier: Carrier | undefined): void {
  if (carrier === undefined) return;
  throw new TypeError(
    `A channel of capacity 0 has no carrier: leave ${carrier.name} out`,
  );
}

/** The bytes of the place for a message of a channel with this head. */
export function placeOf(head: Int32Array): number {
  const place = head[CHANNEL.place]!;
  const messageSize = head[CHANNEL.message_size]!;
  const fits = messageSize === 0 || place === slotSize(messageSize);
  if (place >= 0 && place <= 2 ** 30 && place % 4 === 0 && (!place || fits)) {
    return place;
  }
  throw new RangeError(`place is ${place}`);
}

/**
 * The port to the place for a message, of `size` bytes, at `at`, for the agent
 * `id`.
 */
export function placePortAt<T>(
  memory: Memory,
  at: number,
  codec: Codec<T>,
  carrier: Carrier | undefined,
  over: Over,
  size: number,
  id: number,
): Port<T> {
  assertNoCarrier(carrier);
  const place = new Handoff(memory, at, size, id);
  if (!isSized(codec)) {
    return new SlotPort(place, over(codec, memory, at + HEAD, place));
  }
  return elementPort(place, codec);
}

/** A codec with the table of shapes that lies behind a queue or ring. */
type Over = <T>(
  codec: Codec<T>,
  memory: Memory,
  at: number,
  queue: { byteLength: number },
) => Codec<T>;

/** The port to the queue or ring behind a head. */
export function portAt<T>(
  memory: Memory,
  at: number,
  codec: Codec<T>,
  carrier: Carrier,
  over: Over,
): Port<T> {
  const sized = isSized(codec) ? codec : undefined;
  const records = sized === undefined ? carrier.records : undefined;
  const elements = carrier.elements ?? sized?.elements;
  const { stem } = (records ?? elements)!;
  const magic = viewPlain("channel", { length: 1 }, memory, at)[0]!;
  if ((magic >>> 8 & 0xff) !== KIND[stem]) {
    const found = Object.entries(KIND)
      .find(([, number]) => number === (magic >>> 8 & 0xff))?.[0];
    throw new TypeError(
      `Cannot attach a channel: it was made with another carrier: ` +
        `${carrier.name} needs ${aKind(stem)}, found ${
          found ?? "no primitive"
        }`,
    );
  }
  const behind = <Way>({ attach }: Kind<Way>): Way => {
    try {
      return attach(memory, at);
    } catch (error) {
      const { message } = error as Error;
      (error as Error).message = `Cannot attach a channel: ${message}`;
      throw error;
    }
  };
  if (records !== undefined) {
    const ring = behind(records);
    // By names, because a bundle would hold the carriers that are mentioned.
    const made = ring.singleProducer
      ? "oneToOne"
      : ring.manyConsumers
      ? USUAL
      : "manyToOne";
    if (made !== carrier.name) {
      throw new TypeError(
        "Cannot attach a channel: it was made with another carrier than " +
          carrier.name,
      );
    }
    if (codec.name !== "binary") {
      return new RecordPort(ring, over(codec, memory, at, ring));
    }
    const bytes = codec as Codec<unknown> as Codec<Uint8Array>;
    const port: unknown = new BytesPort(ring, bytes);
    return port as Port<T>;
  }
  const queue = behind(elements!);
  if (sized === undefined) {
    return new carrier.slots!(queue, over(codec, memory, at, queue));
  }
  return elementPort(queue, sized, carrier.fields);
}

/** The port to a queue whose elements are the messages. */
function elementPort<T>(
  queue: ElementQueue,
  { id, field, port }: QueuedCodec<T>,
  fields: Carrier["fields"] = port,
): Port<T> {
  const { size } = field;
  if (size !== queue.elementSize) {
    throw new TypeError(
      `Cannot attach a channel: its messages have ${queue.elementSize} ` +
        `bytes, not ${size}`,
    );
  }
  const ElementPort = id === CODEC.i32 ? port : fields;
  return new ElementPort(queue as never, field);
}
