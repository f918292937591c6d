/**
 * Takes back what agents held that have ended.
 *
 * @module
 */

import { DamagedError } from "../_memory/damaged.ts";
import { describe } from "../_memory/describe.ts";
import type { CHANNEL } from "../_memory/layout.ts";
import { KIND, SIGNATURE, VERSION } from "../_memory/layout.ts";
import { inRange } from "../_memory/memory.ts";
import {
  CAPACITY,
  ELEMENT_SIZE,
  lookAtSlots,
  SLOTS as QUEUE_WORDS,
  strideFor,
} from "../_queue/mpmc/slots.ts";
import { namedViews, type View, type Views } from "./_parts.ts";
import { agentId } from "../agent.ts";
import type { WorkRange } from "../work_counter.ts";

export type { View, Views } from "./_parts.ts";

/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;
/** How often a claim of an agent that is alive is looked at. */
const LOOKS = 1000;
/** Words of a channel before its queue. */
const CHANNEL_WORDS: typeof CHANNEL.length = 32;

/** What {@linkcode recover} did, or found that it cannot undo. */
export type Found =
  /** A mutex, or the writing of a lock, is free; the next guard says so. */
  | "lock abandoned"
  /** What an agent read of a lock with `tracked` has ended. */
  | "reading ended"
  /** The function of a `Once` may be run by the next agent. */
  | "function abandoned"
  /** Permits of a semaphore are free again. */
  | "permits returned"
  /** Tasks that an agent took of a counter with `tracked`, and had not done. */
  | "tasks returned"
  /** A party of a barrier with `tracked` that an agent was has left. */
  | "parties left"
  /** Records that were reserved, and not committed, are skipped. */
  | "records skipped"
  /** The next agent that acts in a role of one agent has that role. */
  | "roles freed"
  /** Counted senders and receivers of a channel are gone. */
  | "ends left"
  /** Seats of a broadcast are free again. */
  | "subscriptions ended"
  /** Calls that were begun, or served, have ended. */
  | "calls ended"
  /** Blocks of a pool are free again. */
  | "blocks freed"
  /** Buckets of a map that an agent was writing to can be written again. */
  | "writes ended"
  /** Slots of a queue are claimed and never handed on: it is blocked there. */
  | "queue blocked"
  /** An agent that is not known to be dead holds what is needed for this. */
  | "claim held"
  /** The words of the primitive do not fit together. Nothing was changed. */
  | "damaged";

/** One finding of {@linkcode recover}. */
export interface Finding {
  /** The primitive: one of those that were given. */
  readonly primitive: View;
  /** Its kind, such as `"mutex"`. */
  readonly kind: string;
  /** What was done, or found. */
  readonly what: Found;
  /**
   * The agent that had held it, or holds it, in case of `"claim held"`; 0 where
   * the words do not tell.
   */
  readonly id: number;
  /** How many: permits, tasks, records, slots. */
  readonly count: number;
  /** The tasks, in case of `"tasks returned"`. */
  readonly ranges?: readonly WorkRange[];
}

/** What `abandon` of each kind takes back. */
const WHAT: Readonly<Record<string, Found>> = {
  slab_pool: "blocks freed",
  snapshot: "roles freed",
  spsc_queue: "roles freed",
  work_deque: "roles freed",
  hash_map: "writes ended",
  record_ring: "records skipped",
  channel: "records skipped",
  broadcast: "subscriptions ended",
  call_ring: "calls ended",
  work_counter: "tasks returned",
  barrier: "parties left",
  semaphore: "permits returned",
  once: "function abandoned",
  rw_lock: "lock abandoned",
  mutex: "lock abandoned",
};

/** Locks come last: who gets one finds all else recovered. */
const ORDER: readonly string[] = /* @__PURE__ */ Object.keys(WHAT);

/** What a class has that an agent can hold something of. */
interface Abandonable extends View {
  /** Returns how much that was, or the negated id of who is in the way. */
  abandon(id: number): number;
  /** Of a lock: ends what `abandon` would also end. */
  abandonReading?(id: number): number;
  /** Of a channel: ends the senders and receivers, as `abandon` would. */
  abandonEnds?(id: number): number;
  /** Of what has roles of one agent: ends those, as `abandon` would. */
  abandonRoles?(id: number): number;
  /** Of a counter: as `abandon`, but with the ranges. */
  abandonRanges?(id: number): WorkRange[];
}

/**
 * Takes back what the agents `ids` held of `primitives`, and tells what it
 * found. Call it only when those agents will never run again:
 * {@linkcode onAgentExit} says when. `primitives` is a list of views, what a
 * `layout` gave, or one view.
 *
 * Pass all agents that have ended at once: one may hold what the recovery of
 * another needs. Locks come last, so that the next agent with the lock finds
 * the rest recovered. Several agents may call it for the same dead agents:
 * each thing is taken back, and told, once. An agent that is terminated within
 * `recover` is recovered like any other, and so is what it had begun.
 *
 * It never waits, and never throws halfway: damage of one primitive is one of
 * the findings.
 *
 * - `"lock abandoned"`: `Mutex`, `RwLock` while writing. The next guard has
 *   `abandoned` set: look at the data.
 * - `"reading ended"`: how often an agent read an `RwLock` with `tracked`.
 * - `"function abandoned"`: `Once`. The next agent runs the function.
 * - `"permits returned"`: all permits that an agent held of a `Semaphore` with
 *   `tracked`; otherwise those that a waiter had claimed in advance.
 * - `"tasks returned"`: what an agent took of a `WorkCounter` with `tracked`,
 *   and had not done. Any agent gets these `ranges` by `next()`.
 * - `"parties left"`: the party of a `Barrier` with `tracked` that an agent
 *   was, once it had arrived for the first time.
 * - `"records skipped"`: reservations of a `RecordRing`, and of a `Channel`
 *   over one; a message that an agent was sending by a `Channel` of capacity 0.
 * - `"roles freed"`: the writer or the one reader of a `Snapshot`, the producer
 *   or consumer of an `SpscQueue`, a `RecordRing`, or a `Channel` over one, the
 *   producer of a `Broadcast`, the owner of a `WorkDeque`. The next agent that
 *   acts in that role has it; the next owner of a deque first calls `adopt`.
 * - `"ends left"`: the `sender()`s and `receiver()`s of a `Channel` that an
 *   agent had. The channel closes if no others are left.
 * - `"subscriptions ended"`: `Broadcast`. `"calls ended"`: `CallRing`; callers
 *   of a dead server get an error.
 * - `"blocks freed"`: blocks in the caches of a `SlabPool`. Blocks in use stay:
 *   only the program knows who else uses them; see `SlabPool.abandon`.
 * - `"writes ended"`: buckets of a `HashMap` that an agent was writing to. Each
 *   of its writes has happened wholly or not at all.
 * - `"queue blocked"`: slots of an `MpmcQueue`, or of a `Channel` over one,
 *   that an agent claimed and did not hand on. Nothing can be taken back: make
 *   a new queue. An agent that is alive and stopped between `reserve` and
 *   `commit` looks the same.
 * - `"claim held"`: another agent, `id`, holds a `RecordRing`. If it has ended,
 *   too, call this again with both.
 *
 * What is left to the program: permits of a `Semaphore`, the reading of an
 * `RwLock`, tasks of a `WorkCounter` and parties of a `Barrier` (`leave`) that
 * are not tracked, and lost slots of a `LockFreeQueue` (`repair`): their words
 * do not name who holds them.
 *
 * C twin: `weft_recover`.
 *
 * @example A supervisor of workers
 * ```ts
 * import { layout, Mutex, onAgentExit, recover, Semaphore } from "@weft/sync";
 *
 * const shared = layout({ lock: Mutex, seats: [Semaphore, 4] }).create();
 * const id = 7; // what the worker's announceAgent() said
 * const stop = onAgentExit(id, (id) => console.log(recover(id, shared)));
 * stop();
 * ```
 *
 * @throws {TypeError} If an id is not a number or is this agent's own, one of
 * `primitives` is not a primitive, or they are given without a list.
 * @throws {RangeError} If an id cannot be an agent's.
 */
export function recover(
  ids: number | Iterable<number>,
  primitives: View | Iterable<View> | Views,
): Finding[] {
  if (arguments.length > 2) { // the others would stay held
    throw new TypeError("Expected the primitives in a list");
  }
  const dead = [...new Set(typeof ids === "number" ? [ids] : listOf(ids))];
  for (const id of dead) assertDead(id);
  const views = namedViews(primitives, "recover").map(([, view]) => view)
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  for (const view of views) {
    if (!ORDER.includes(view.kind) || "abandon" in view) continue;
    throw new TypeError(
      `Cannot recover ${describe(view)}: it is not a view of a primitive`,
    );
  }
  const findings: Finding[] = [];
  for (const primitive of views) {
    const { kind } = primitive;
    const tell: Tell = (what, id, count, ranges) => {
      const found = { primitive, kind, what, id, count };
      findings.push(ranges === undefined ? found : { ...found, ranges });
    };
    try {
      if (ORDER.includes(kind)) {
        abandonAll(primitive as Abandonable, dead, tell);
      }
      const blocked = blockedSlots(primitive);
      if (blocked > 0) tell("queue blocked", 0, blocked);
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
      tell("damaged", 0, 1);
    }
  }
  return findings;
}

type Tell = (
  what: Found,
  id: number,
  count: number,
  ranges?: WorkRange[],
) => void;

/** Abandons all dead agents, again if one kept another from it. */
function abandonAll(
  primitive: Abandonable,
  dead: readonly number[],
  tell: Tell,
): void {
  const left = new Set(dead);
  let holder = 0;
  for (let looks = LOOKS; left.size > 0; looks--) {
    for (const id of left) {
      const reads = primitive.abandonReading?.(id) ?? 0;
      if (reads > 0) tell("reading ended", id, reads);
      const ends = primitive.abandonEnds?.(id) ?? 0;
      if (ends > 0) tell("ends left", id, ends);
      const roles = primitive.abandonRoles?.(id) ?? 0;
      if (roles > 0) tell("roles freed", id, roles);
      const ranges = primitive.abandonRanges?.(id);
      const count = ranges === undefined
        ? primitive.abandon(id)
        : ranges.reduce((sum, { start, end }) => sum + end - start, 0);
      if (count < 0) { // another agent, dead or alive, has the claim
        holder = -count;
        continue;
      }
      left.delete(id);
      if (count > 0) tell(WHAT[primitive.kind]!, id, count, ranges);
    }
    if (left.size > 0 && looks <= 0) return tell("claim held", holder, 1);
  }
}

/** How many slots of a queue are claimed, and stay so. */
function blockedSlots({ kind, buffer, byteOffset }: View): number {
  const isQueue = kind === "mpmc_queue";
  if (!isQueue && kind !== "channel") return 0;
  const at = isQueue ? byteOffset : byteOffset + CHANNEL_WORDS * 4;
  const bytes = buffer.byteLength - at;
  if (bytes < QUEUE_WORDS * 4) return 0;
  const words = new Int32Array(buffer, at, Math.floor(bytes / 4));
  const magic = SIGNATURE << 16 | KIND.mpmc_queue << 8 | VERSION;
  if (Atomics.load(words, 0) !== magic) return 0;
  const capacity = words[CAPACITY]!;
  const size = words[ELEMENT_SIZE]!;
  if (capacity <= 0 || size <= 0 || size > bytes) return 0;
  if (QUEUE_WORDS + capacity * strideFor(size) > words.length) return 0;
  let slots: { index: number; turn: number }[] = [];
  lookAtSlots(words, (doing, _slot, index, turn) => {
    if (doing !== "damaged") slots.push({ index, turn });
  });
  // An agent that runs hands a slot on in less than a microsecond.
  for (let looks = LOOKS; looks > 0 && slots.length > 0; looks--) {
    slots = slots.filter(({ index, turn }) =>
      Atomics.load(words, index) === turn
    );
  }
  return slots.length;
}

function listOf(ids: Iterable<number>): Iterable<number> {
  if (typeof ids === "object" && ids !== null && Symbol.iterator in ids) {
    return ids;
  }
  throw new TypeError(`Expected ids of agents: received ${describe(ids)}`);
}

function assertDead(id: number): void {
  inRange("An agent id", id, 1, MAX_ID);
  if (id !== agentId()) return;
  throw new TypeError(`Cannot recover agent ${id}: it is this agent itself`);
}
