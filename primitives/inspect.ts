/**
 * Reads the words of any primitive by name.
 *
 * @module
 */

import { INSPECTION as call_ring } from "./_call_slots.ts";
import { KIND, LAYOUT, SIGNATURE, type Stem, VERSION } from "./_layout.ts";
import {
  bufferOf,
  type Handle,
  type Inspection,
  inspectWords,
  type Memory,
  wordsAt,
  type WordsInspection,
} from "./_region.ts";
import { INSPECTION as barrier } from "./barrier.ts";
import { INSPECTION as broadcast } from "./broadcast.ts";
import { INSPECTION as channel } from "./channel.ts";
import { INSPECTION as condition } from "./condition.ts";
import { INSPECTION as striped_counter } from "./striped_counter.ts";
import { INSPECTION as event } from "./event.ts";
import { INSPECTION as latch } from "./latch.ts";
import { INSPECTION as lock_free_queue } from "./lock_free_queue.ts";
import { INSPECTION as mpmc_queue } from "./mpmc_queue.ts";
import { INSPECTION as mutex } from "./mutex.ts";
import { INSPECTION as once } from "./once.ts";
import { INSPECTION as record_ring } from "./record_ring.ts";
import { INSPECTION as rw_lock } from "./rw_lock.ts";
import { INSPECTION as semaphore } from "./semaphore.ts";
import { INSPECTION as snapshot } from "./snapshot.ts";
import { INSPECTION as slab_pool } from "./slab_pool.ts";
import { INSPECTION as spsc_queue } from "./spsc_queue.ts";
import { INSPECTION as work_counter } from "./work_counter.ts";
import { INSPECTION as work_deque } from "./work_deque.ts";

export { type Handle, type Inspection, type Memory } from "./_region.ts";

/** The facts and words of each primitive. */
const ALL: Readonly<Record<Stem, WordsInspection>> = {
  mutex,
  rw_lock,
  condition,
  semaphore,
  event,
  latch,
  barrier,
  once,
  snapshot,
  spsc_queue,
  mpmc_queue,
  lock_free_queue,
  record_ring,
  broadcast,
  channel,
  call_ring,
  work_counter,
  work_deque,
  slab_pool,
  striped_counter,
};

/**
 * Reads the words of the primitive at `byteOffset` by name: for a debugger, for
 * a log, or to find out why an agent does not continue. It writes nothing. It
 * may be called at any time, also on the memory of agents that were terminated.
 * So it does not require that the configuration matches its seal.
 *
 * Zeroed memory is a valid primitive of some kinds, so their words do not say
 * which kind they are. For these, `kind` must be given: `"mutex"`, `"rw_lock"`,
 * `"condition"`, `"event"` or `"once"`.
 *
 * The consoles of Deno and Node print the same when they print a primitive.
 *
 * C twin: `weft_inspect`, and `weft_inspect_as` with a kind. They print the
 * text that `JSON.stringify` makes of this result.
 *
 * @example Who holds the lock, and does anybody wait for it?
 * ```ts
 * import { agentId, inspect, Mutex } from "@weft/sync";
 *
 * const mutex = Mutex.create();
 * using _lock = mutex.lock();
 * const { owner, waiters, words } = inspect(mutex);
 * if (owner !== agentId() || waiters !== 0) throw new Error("somebody else");
 * if (words.state !== owner) throw new Error("a flag is set");
 * ```
 *
 * @throws {TypeError} If `memory` is not shared, nothing of this layout version
 * was initialized there, or it is of another kind than `kind`.
 * @throws {RangeError} If `byteOffset` is not a multiple of 4, or the words do
 * not fit there.
 */
export function inspect(
  memory: Memory,
  byteOffset: number | bigint,
  kind?: string,
): Inspection;
/** Reads the primitive of a view, or the one that its handle names. */
export function inspect(view: Handle): Inspection;
export function inspect(
  place: Memory | Handle,
  byteOffset?: number | bigint,
  kind?: string,
): Inspection {
  if (byteOffset === undefined && isHandle(place)) {
    return at(bufferOf(place.buffer), place.byteOffset, place.kind);
  }
  return at(bufferOf(place as Memory), byteOffset ?? 0, kind);
}

/** Whether `place` is a view or a handle, and not memory. */
const isHandle = (place: unknown): place is Handle =>
  typeof (place as Handle | null)?.kind === "string";

function at(
  buffer: SharedArrayBuffer,
  byteOffset: number | bigint,
  kind: string | undefined,
): Inspection {
  const magic = Atomics.load(
    wordsAt(kind ?? "primitive", buffer, byteOffset, 4),
    0,
  );
  const found = magic >>> 16 === SIGNATURE && (magic & 0xff) === VERSION
    ? Object.entries(KIND).find(([, n]) => n === (magic >>> 8 & 0xff))?.[0]
    : undefined;
  const stem = kind ?? found;
  const hex = `found 0x${(magic >>> 0).toString(16).padStart(8, "0")}`;
  if (stem === undefined) {
    throw new TypeError(
      `Cannot inspect the memory at ${byteOffset}: no initialized primitive ` +
        `of layout version ${VERSION} here: ${hex}; if zeroed memory is ` +
        "valid for its kind, the kind must be named",
    );
  }
  if (!isStem(stem)) {
    throw new TypeError(`Cannot inspect a ${stem}: there is no such primitive`);
  }
  if (Object.hasOwn(KIND, stem) && stem !== found) {
    throw new TypeError(
      `Cannot inspect the memory at ${byteOffset} as a ${stem}: ` +
        (found === undefined ? hex : `this is a ${found}`),
    );
  }
  const { length } = LAYOUT[stem];
  const words = wordsAt(stem, buffer, byteOffset, length * 4);
  return inspectWords(stem, ALL[stem], words);
}

const isStem = (kind: string): kind is Stem => Object.hasOwn(LAYOUT, kind);
