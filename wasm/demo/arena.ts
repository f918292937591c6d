/**
 * Everything that the threads of the demo share, in one memory. `hash.c` has
 * the same records with the same names.
 *
 * @module
 */

import { MpmcQueue, Mutex, Semaphore, WorkCounter } from "../../mod.ts";

/** Where everything lies, in bytes: the words of `demo_plan`, in its order. */
export interface Plan {
  /** The queue of slot numbers that all agents pop from. */
  readonly jobs: number;
  /** A permit for each slot that is not in flight. */
  readonly permits: number;
  /** Counts chunks that are done. */
  readonly work: number;
  /** Guards the summary. */
  readonly lock: number;
  /** A permit for each agent that is ready to begin. */
  readonly ready: number;
  /** The rows of the summary: for all, each agent, and the streaming thread. */
  readonly summary: number;
  /** The slots. */
  readonly slots: number;
  /** Bytes from slot to slot. */
  readonly stride: number;
}

/** A row of the summary: `demo_row`. */
const ROW = { bytes: 0, busy: 8, chunks: 16, length: 128 };

/** A slot: `demo_slot`. Its bytes follow. */
const SLOT = { state: 0, length: 4, digest: 8, data: 128 };

/** Bytes of a digest. */
export const DIGEST = 64;

/** The states of a slot: the main thread writes QUEUED, an agent DONE. */
const QUEUED = 1, DONE = 2;

/** What an agent did. */
export interface Row {
  /** Chunks hashed. */
  chunks: number;
  /** Bytes hashed. */
  bytes: number;
  /** Milliseconds spent on it. */
  busy: number;
}

const aligned = (bytes: number) => Math.ceil(bytes / 128) * 128;

/** The size of an arena. */
export interface Size {
  /** Slots. */
  slots: number;
  /** Bytes a slot can hold. */
  chunk: number;
  /** Agents that hash. */
  agents: number;
}

/** Lays everything out from `base` on. `end` is the first byte after it. */
export function layOut(base: number, size: Size): Plan & { end: number } {
  let end = aligned(base);
  const place = (bytes: number) => {
    const at = end;
    end = aligned(end + bytes);
    return at;
  };
  place(8 * 4); // demo_plan itself
  const stride = SLOT.data + aligned(size.chunk);
  return {
    jobs: place(MpmcQueue.byteLength({ capacity: size.slots })),
    permits: place(Semaphore.byteLength()),
    work: place(WorkCounter.byteLength()),
    lock: place(Mutex.byteLength()),
    ready: place(Semaphore.byteLength()),
    summary: place((2 + size.agents) * ROW.length),
    slots: place(size.slots * stride),
    stride,
    end,
  };
}

/** The shared things, as one agent sees them. */
export class Arena {
  readonly jobs: MpmcQueue;
  readonly permits: Semaphore;
  readonly work: WorkCounter;
  readonly lock: Mutex;
  readonly ready: Semaphore;
  readonly #plan: Plan;
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #numbers: Float64Array<SharedArrayBuffer>;
  readonly #bytes: Uint8Array<SharedArrayBuffer>;

  /** Attaches to what {@linkcode Arena.init} made. */
  constructor(memory: WebAssembly.Memory, plan: Plan) {
    // Typed as if it could not be shared.
    const buffer = memory.buffer as unknown as SharedArrayBuffer;
    this.jobs = new MpmcQueue(memory, plan.jobs);
    this.permits = new Semaphore(memory, plan.permits);
    this.work = new WorkCounter(memory, plan.work);
    this.lock = new Mutex(memory, plan.lock);
    this.ready = new Semaphore(memory, plan.ready);
    this.#plan = plan;
    this.#words = new Int32Array(buffer);
    this.#numbers = new Float64Array(buffer);
    this.#bytes = new Uint8Array(buffer);
  }

  /** Makes everything, for `chunks` chunks of work. */
  static init(
    memory: WebAssembly.Memory,
    plan: Plan & { end: number },
    base: number,
    size: Size,
    chunks: number,
  ): Arena {
    const words = new Int32Array(memory.buffer);
    const { jobs, permits, work, lock, ready, summary, slots, stride } = plan;
    words.set(
      [jobs, permits, work, lock, ready, summary, slots, stride],
      aligned(base) / 4,
    );
    MpmcQueue.init(memory, jobs, { capacity: size.slots });
    Semaphore.init(memory, permits, size.slots);
    WorkCounter.init(memory, work, chunks);
    Mutex.init(memory, lock);
    Semaphore.init(memory, ready);
    return new Arena(memory, plan);
  }

  /** Where a slot's bytes begin. */
  dataOf(slot: number): number {
    return this.#at(slot) + SLOT.data;
  }

  /** Copies a chunk into a slot that nobody uses: the price of streaming. */
  fill(slot: number, chunk: Uint8Array): void {
    const at = this.#at(slot);
    this.#bytes.set(chunk, at + SLOT.data);
    this.#words[at + SLOT.length >> 2] = chunk.length;
  }

  /** Marks a slot as taken, before its number is pushed. */
  queue(slot: number): void {
    // The push of the number publishes this, and the bytes.
    this.#words[this.#at(slot) + SLOT.state >> 2] = QUEUED;
  }

  /** The chunk in a slot, without a copy. */
  chunkIn(slot: number): Uint8Array<SharedArrayBuffer> {
    const at = this.#at(slot);
    const length = this.#words[at + SLOT.length >> 2]!;
    return this.#bytes.subarray(at + SLOT.data, at + SLOT.data + length);
  }

  /** Writes the digest of a slot, and marks the slot as done. */
  finish(slot: number, digest: Uint8Array): void {
    const at = this.#at(slot);
    this.#bytes.set(digest, at + SLOT.digest);
    Atomics.store(this.#words, at + SLOT.state >> 2, DONE);
  }

  /** Whether no agent has a slot. */
  isFree(slot: number): boolean {
    const state = this.#at(slot) + SLOT.state >> 2;
    return Atomics.load(this.#words, state) !== QUEUED;
  }

  /** The digest in a slot that is done. */
  digestIn(slot: number): Uint8Array {
    const at = this.#at(slot) + SLOT.digest;
    return this.#bytes.subarray(at, at + DIGEST);
  }

  /** Adds chunks to a row. The caller holds the lock. */
  count(row: number, bytes: number, busy: number, chunks = 1): void {
    const at = this.#plan.summary + row * ROW.length;
    this.#words[at + ROW.chunks >> 2]! += chunks;
    this.#numbers[at + ROW.bytes >> 3]! += bytes;
    this.#numbers[at + ROW.busy >> 3]! += busy;
  }

  /** A row of the summary. The caller holds the lock. */
  row(row: number): Row {
    const at = this.#plan.summary + row * ROW.length;
    return {
      chunks: this.#words[at + ROW.chunks >> 2]!,
      bytes: this.#numbers[at + ROW.bytes >> 3]!,
      busy: this.#numbers[at + ROW.busy >> 3]!,
    };
  }

  #at(slot: number): number {
    return this.#plan.slots + slot * this.#plan.stride;
  }
}
