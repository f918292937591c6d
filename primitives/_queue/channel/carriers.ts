/**
 * The carriers that users name, and the one of a channel that names none.
 *
 * @module
 */

import { agentId } from "../../_memory/agent_id.ts";
import { SlotPort } from "../byte_ports.ts";
import {
  type ByteRing,
  type Carrier,
  type Kind,
  PlacedPort,
} from "../carrier.ts";
import { Copier } from "../elements.ts";
import { formatLockFree, lockFreeBytes } from "../lock_free/config.ts";
import { LockFreeCore } from "../lock_free/core.ts";
import {
  formatRecords,
  recordBytes,
  type RecordRingConfig,
} from "../record/config.ts";
import { RecordEnds } from "../record/ends.ts";
import { formatSpsc, spscBytes } from "../spsc/config.ts";
import { SpscCore } from "../spsc/core.ts";
import { ClosedError } from "../queue.ts";
import { USUAL } from "./plan.ts";
import { MPMC, queueOf } from "./queues.ts";

/** A ring of records that is part of a channel. */
class ChannelRing extends RecordEnds {
  protected override refuse(): never {
    throw new ClosedError("The channel is closed");
  }
}

/** A ring of records, for this many senders and receivers. */
const ringOf = (
  ends: Pick<RecordRingConfig, "singleProducer" | "manyConsumers">,
): Kind<ByteRing> => ({
  stem: "record_ring",
  byteLength: (capacity) => recordBytes({ capacity }),
  attach: (memory, at) => new ChannelRing(memory, at, Copier, agentId()),
  init: (memory, at, capacity, most) =>
    formatRecords(memory, at, { capacity, most, ...ends }),
});

/** The carrier of a channel whose configuration names none. */
export const ANY: Carrier = {
  name: USUAL,
  records: /* @__PURE__ */ ringOf({ manyConsumers: true }),
};

/**
 * The carrier for any number of senders and one receiver. Receiving is faster,
 * and does not wait for other receivers. A second receiver is refused, until
 * `abandon(id)` of the first.
 *
 * @example Log lines for one writer
 * ```ts
 * import { Channel, codec, manyToOne } from "@weft/sync";
 *
 * const config = { codec: codec.text, carrier: manyToOne };
 * const lines = Channel.create({ ...config, capacity: 64 });
 * lines.send("started");
 * if (lines.receive() !== "started") throw new Error("another line");
 * ```
 */
export const manyToOne: Carrier = {
  name: "manyToOne",
  elements: MPMC,
  records: /* @__PURE__ */ ringOf({}),
};

/**
 * The carrier for one sender and one receiver. It is the fastest one. A second
 * sender or receiver is refused, until `abandon(id)` of the first.
 *
 * @example From one agent to another
 * ```ts
 * import { Channel, codec, oneToOne } from "@weft/sync";
 *
 * const config = { codec: codec.f64, carrier: oneToOne };
 * const samples = Channel.create({ ...config, capacity: 64 });
 * samples.send(0.5);
 * const same = Channel.from(samples.handle, config); // in the other agent
 * if (same.receive() !== 0.5) throw new Error("another sample");
 * ```
 */
export const oneToOne: Carrier = {
  name: "oneToOne",
  elements: /* @__PURE__ */ queueOf(
    "spsc_queue",
    spscBytes,
    formatSpsc,
    SpscCore,
  ),
  records: /* @__PURE__ */ ringOf({ singleProducer: true }),
  fields: PlacedPort,
};

/**
 * The carrier for any number of senders and receivers. A message has at most
 * `messageSize` bytes.
 *
 * @example Jobs for several workers
 * ```ts
 * import { Channel, codec, manyToMany } from "@weft/sync";
 *
 * const config = { codec: codec.text, carrier: manyToMany };
 * const jobs = Channel.create({ ...config, capacity: 64, messageSize: 100 });
 * jobs.send("a file to read");
 * if (jobs.maxLength < 100) throw new Error("too short");
 * ```
 */
export const manyToMany: Carrier = {
  name: "manyToMany",
  elements: MPMC,
  slots: SlotPort,
};

/**
 * The carrier for any number of senders and receivers that may be terminated.
 * Any of them may be terminated at any step: the others continue, and at most
 * one message is lost. A message has at most `messageSize` bytes.
 *
 * @example Messages of workers that may be terminated
 * ```ts
 * import { Channel, codec, lockFree } from "@weft/sync";
 *
 * const config = { codec: codec.json, carrier: lockFree };
 * const events = Channel.create({ ...config, capacity: 64 });
 * events.send(["started", 7]);
 * events.close();
 * ```
 */
export const lockFree: Carrier = {
  name: "lockFree",
  elements: /* @__PURE__ */ queueOf(
    "lock_free_queue",
    lockFreeBytes,
    formatLockFree,
    LockFreeCore,
  ),
  slots: SlotPort,
};
