/**
 * Reads the words of any primitive by name.
 *
 * @module
 */

import { aKind, brief, describe } from "../_memory/describe.ts";
import {
  INSPECTION as call_ring,
  PROBLEMS as call_ring_problems,
} from "../_calls/ring/problems.ts";
import {
  CHANNEL,
  type ConfiguredStem,
  KIND,
  LAYOUT,
  SIGNATURE,
  type Stem,
  VERSION,
} from "../_memory/layout.ts";
import {
  type Problem,
  problemsOf,
  type WordsProblems,
} from "../_memory/problems.ts";
import {
  bufferOf,
  type Handle,
  type InspectedWords,
  inspectWords,
  type Memory,
  wordsAt,
  type WordsInspection,
} from "../_memory/region.ts";
import {
  INSPECTION as barrier,
  PROBLEMS as barrier_problems,
} from "../barrier.ts";
import {
  INSPECTION as broadcast,
  PROBLEMS as broadcast_problems,
} from "../broadcast.ts";
import {
  INSPECTION as shape_table,
  PROBLEMS as shape_table_problems,
} from "../shape_table.ts";
import { INSPECTION as channel } from "../channel.ts";
import { INSPECTION as condition } from "../condition.ts";
import {
  INSPECTION as striped_counter,
  PROBLEMS as striped_counter_problems,
} from "../striped_counter.ts";
import { INSPECTION as event } from "../event.ts";
import { INSPECTION as latch } from "../latch.ts";
import { INSPECTION as wait_group } from "../wait_group.ts";
import {
  INSPECTION as lock_free_queue,
  PROBLEMS as lock_free_queue_problems,
} from "../lock_free_queue.ts";
import { INSPECTION as mpmc_queue } from "../_queue/mpmc/core.ts";
import { PROBLEMS as mpmc_queue_problems } from "../mpmc_queue.ts";
import { INSPECTION as mutex } from "../mutex.ts";
import { INSPECTION as once } from "../once.ts";
import {
  INSPECTION as record_ring,
  PROBLEMS as record_ring_problems,
} from "../record_ring.ts";
import { INSPECTION as rw_lock } from "../_lock/rw_lock_config.ts";
import {
  INSPECTION as semaphore,
  PROBLEMS as semaphore_problems,
} from "../semaphore.ts";
import {
  INSPECTION as snapshot,
  PROBLEMS as snapshot_problems,
} from "../snapshot.ts";
import {
  INSPECTION as slab_pool,
  PROBLEMS as slab_pool_problems,
} from "../slab_pool.ts";
import {
  INSPECTION as hash_map,
  PROBLEMS as hash_map_problems,
} from "../hash_map.ts";
import { INSPECTION as spsc_queue } from "../_queue/spsc/core.ts";
import { PROBLEMS as spsc_queue_problems } from "../spsc_queue.ts";
import {
  INSPECTION as work_counter,
  PROBLEMS as work_counter_problems,
} from "../work_counter.ts";
import {
  INSPECTION as work_deque,
  PROBLEMS as work_deque_problems,
} from "../work_deque.ts";
import { RULES } from "./_rules.ts";

export type { Problem } from "../_memory/problems.ts";
export type { Handle, InspectedWords, Memory } from "../_memory/region.ts";

/** The state of a primitive. */
export interface Inspection extends InspectedWords {
  /**
   * What does not fit together, 16 findings at most. It is empty while all is
   * well, also in the middle of an operation.
   */
  readonly problems: readonly Problem[];
}

/** The facts and words of each primitive. */
const ALL: Readonly<Record<Stem, WordsInspection>> = {
  mutex,
  rw_lock,
  condition,
  semaphore,
  event,
  latch,
  wait_group,
  barrier,
  once,
  snapshot,
  spsc_queue,
  mpmc_queue,
  lock_free_queue,
  record_ring,
  broadcast,
  shape_table,
  channel,
  call_ring,
  work_counter,
  work_deque,
  slab_pool,
  hash_map,
  striped_counter,
};

/** The bytes of each primitive, and how problems behind its words are found. */
const BEHIND: Readonly<Partial<Record<Stem, WordsProblems>>> = {
  semaphore: semaphore_problems,
  barrier: barrier_problems,
  snapshot: snapshot_problems,
  spsc_queue: spsc_queue_problems,
  mpmc_queue: mpmc_queue_problems,
  lock_free_queue: lock_free_queue_problems,
  record_ring: record_ring_problems,
  broadcast: broadcast_problems,
  shape_table: shape_table_problems,
  call_ring: call_ring_problems,
  work_counter: work_counter_problems,
  work_deque: work_deque_problems,
  slab_pool: slab_pool_problems,
  hash_map: hash_map_problems,
  striped_counter: striped_counter_problems,
};

/** The kinds of primitives that can carry the messages of a channel. */
const CARRIERS: readonly Stem[] = [
  "spsc_queue",
  "mpmc_queue",
  "lock_free_queue",
  "record_ring",
];

/**
 * Reads the words of the primitive at `byteOffset` by name: for a debugger, for
 * a log, or to find out why an agent does not continue. It writes nothing. It
 * may be called at any time, also on the memory of agents that were terminated.
 * So it does not require that the configuration matches its seal.
 *
 * `problems` lists what does not fit together: a configuration that does not
 * match its seal, an index out of range, a count that cannot be. It is empty
 * while all is well, also while other agents are in the middle of operations,
 * and wherever agents were terminated. There is one exception: if `what` is
 * `"claimed"`, an agent has begun an operation and not ended it. It may still
 * run, or hold a zero-copy reservation. If it has ended, the primitive is
 * blocked there:
 *
 * - A slot of an `MpmcQueue`, or of a `Channel` over one: nobody can free it.
 *   Make a new queue, and use a `LockFreeQueue` where agents may be terminated.
 * - The `claimant` of a `RecordRing`: `recover` frees it.
 *
 * Damage cannot be repaired, since nobody knows what the words should say: make
 * a new primitive. Operations that notice it throw a `DamagedError`.
 *
 * Zeroed memory is a valid primitive of some kinds, so their words do not say
 * which kind they are. For these, `kind` must be given: `"mutex"`, `"rw_lock"`,
 * `"condition"`, `"event"`, `"wait_group"` or `"once"`.
 *
 * The consoles of Deno and Node print the same when they print a primitive, but
 * no `problems`, so that a program that does not look for them does not contain
 * the checks.
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
  if (kind !== undefined && typeof kind !== "string") {
    throw new TypeError(
      `A kind must be a string: received ${describe(kind)}`,
    );
  }
  const magic = Atomics.load(
    wordsAt(kind ?? "primitive", buffer, byteOffset, 4),
    0,
  );
  const found = stemOf(magic);
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
    throw new TypeError(
      `Cannot inspect ${aKind(brief(stem))}: there is no such primitive`,
    );
  }
  if (Object.hasOwn(KIND, stem) && stem !== found) {
    throw new TypeError(
      `Cannot inspect the memory at ${byteOffset} as ${aKind(brief(stem))}: ` +
        (found === undefined ? hex : `this is ${aKind(found)}`),
    );
  }
  const { length } = LAYOUT[stem];
  const words = wordsAt(stem, buffer, byteOffset, length * 4);
  return {
    ...inspectWords(stem, ALL[stem], words),
    problems: told(stem, words),
  };
}

const problemsAt = (stem: Stem, words: Int32Array): Problem[] =>
  problemsOf(LAYOUT[stem], { ...BEHIND[stem], problems: RULES[stem] }, words);

/** The problems of a primitive, and of what carries a channel's messages. */
function told(stem: Stem, words: Int32Array<SharedArrayBuffer>): Problem[] {
  const problems = problemsAt(stem, words);
  if (stem !== "channel" || problems.length > 0) return problems;
  const { length } = CHANNEL;
  if (words[CHANNEL.place] !== 0) return []; // the capacity is 0
  const carrier = carrierAt(words.buffer, words.byteOffset + length * 4);
  if (carrier === undefined) {
    const text = "There is no queue behind it.";
    const value = words[0]!;
    return [{ word: "magic", index: 0, value, what: "damaged", text }];
  }
  const [kind, theirs] = carrier;
  return problemsAt(kind, theirs).map((problem) => ({
    ...problem,
    word: `${problem.word} of the ${kind}`,
    index: problem.index + length,
  }));
}

/** The queue or ring that begins at `byteOffset`, or undefined. */
function carrierAt(
  buffer: SharedArrayBuffer,
  byteOffset: number,
): [stem: Stem, words: Int32Array] | undefined {
  if (byteOffset + 4 > buffer.byteLength) return undefined;
  const stem = stemOf(Atomics.load(new Int32Array(buffer, byteOffset, 1), 0));
  if (stem === undefined || !CARRIERS.includes(stem)) return undefined;
  const { length } = LAYOUT[stem];
  if (byteOffset + length * 4 > buffer.byteLength) return undefined;
  return [stem, new Int32Array(buffer, byteOffset, length)];
}

/** The kind that a magic word of this layout version names, or undefined. */
function stemOf(magic: number): ConfiguredStem | undefined {
  if (magic >>> 16 !== SIGNATURE || (magic & 0xff) !== VERSION) {
    return undefined;
  }
  const kind = Object.entries(KIND).find(([, n]) => n === (magic >>> 8 & 0xff));
  return kind?.[0] as ConfiguredStem | undefined;
}

const isStem = (kind: string): kind is Stem => Object.hasOwn(LAYOUT, kind);
