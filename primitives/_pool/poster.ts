/**
 * How requests get to the workers: writes them to slots, as many at a time as
 * keep the workers busy, and wakes workers. The others wait in line.
 *
 * @module
 */

import { cancel } from "../_calls/ring/call.ts";
import type { Slots } from "../_calls/ring/slots.ts";
import { DROPPED, ID_MASK, PHASE_MASK, SERVING } from "../_calls/ring/words.ts";
import { encoded, encodeWhole } from "../_message/message.ts";
import { Chunks, copy, type Job, type Jobs, type Spec } from "./jobs.ts";
import {
  bufferOf,
  GUEST,
  isLongText,
  LAZY,
  LONG,
  MOVES,
  NO_REQUEST,
  RETIRE,
  type Rooms,
  TALKS,
} from "./wire.ts";

/**
 * In shared memory lie tasks for this many ms, unless told otherwise. On a busy
 * machine, the thread that has the pool waits for a core for as long.
 */
const AHEAD_MS = 4;
/** Texts and bytes that are longer wait in slots, as far as there are any. */
const LONG_BYTES = 4096;
/** Workers may tell of results together that took this many ms. */
const TOGETHER_MS = 1;

/** What a poster has to know. */
interface Posting {
  readonly slots: Slots;
  readonly rooms: Rooms;
  readonly jobs: Jobs;
  /**
   * Where a request is written that cannot be posted yet. It lies behind all
   * else, because a codec may look at whose memory it writes to.
   */
  readonly scratch: Uint8Array;
  /** How many tasks a worker finds besides those that it does. */
  readonly ahead: number | undefined;
  /** How many workers there are, or start. */
  agents(): number;
  /** How many tasks they do at a time. */
  places(): number;
  /** Throws why no task can be submitted, if that is so. */
  assertOpen(): void;
}

/** Posts jobs. */
export class Poster {
  readonly #it: Posting;
  readonly #slots: Slots;
  readonly #rooms: Rooms;
  readonly #jobs: Jobs;
  readonly #chunks = new Chunks();
  /** How many jobs may have a slot now. */
  #most = 0;
  /** Wakes since the last microtask, and jobs posted without one. */
  #wakes = 0;
  #quiet = 0;
  #filling = false;
  /** Whether a request is being encoded that has no slot. */
  #encodes = false;
  /** Jobs posted as lazy in a row, and those that have a slot. */
  #row = 0;
  #lazy = 0;
  /** Half of the tasks take this many ms; 0 if nothing is known yet. */
  #typical = 0;
  /** Slots of tasks that were given up while workers did them. */
  readonly #givenUp = new Set<number>();

  /** Makes a poster that has posted nothing. */
  constructor(posting: Posting) {
    this.#it = posting;
    this.#slots = posting.slots;
    this.#rooms = posting.rooms;
    this.#jobs = posting.jobs;
  }

  /** How many jobs are posted of whose results workers may tell later. */
  get lazy(): number {
    return this.#lazy;
  }

  /** Whether a request would be posted, or wait next to the slots. */
  get hasRoom(): boolean {
    const { line, count } = this.#jobs;
    return line.size > 0
      ? line.size < this.#slots.count
      : count.posted < this.#most;
  }

  /** How many tasks that were given up workers still do. */
  get hanging(): number {
    for (const at of this.#givenUp) {
      const phase = Atomics.load(this.#slots.words, at) & PHASE_MASK;
      if (phase !== DROPPED) this.#givenUp.delete(at);
    }
    return this.#givenUp.size;
  }

  /** Notes how long a task took. */
  learn(took: number): void {
    // Follows the median: a task whose thread had no core tells nothing.
    if (this.#typical === 0) this.#typical = took;
    else this.#typical *= took > this.#typical ? 1.1 : 0.9;
    if (this.#typical < 0.0005) this.#typical = 0.0005;
  }

  // ---- jobs that are new

  /** Posts a task, or puts it in line; throws if its request cannot be sent. */
  submit(job: Job, spec: Spec, request: unknown): void {
    if (request === undefined) job.empty = true;
    if (this.#jobs.line.size === 0) {
      if (this.#jobs.count.posted === 0) this.#measureRoom();
      const at = this.#claim();
      if (at !== 0) {
        const length = this.#writeOrCancel(at, job, spec, request);
        return this.#send(job, at, length);
      }
    }
    this.#enqueue(job, spec, request);
  }

  /** Posts an order, or puts it in line. */
  order(job: Job): void {
    if (this.#jobs.line.size > 0 || !this.#post(job)) {
      this.#jobs.move(job, "waiting");
    }
  }

  #writeOrCancel(at: number, job: Job, spec: Spec, request: unknown): number {
    if (job.empty) return 0;
    try {
      return this.#write(at, job, spec, request);
    } catch (error) {
      cancel(this.#slots.words, at);
      throw error;
    }
  }

  /** Writes a request to its slot; returns how many bytes it has. */
  #write(at: number, job: Job, spec: Spec, request: unknown): number {
    const { requestField: field } = spec;
    const rooms = this.#rooms;
    let length;
    if (field !== undefined && field.size <= rooms.room) {
      const checked = field.check(request, "");
      field.set(rooms.data, rooms.request(at), checked as never);
      length = field.size;
    } else {
      const bytes = rooms.requestBytes(at, rooms.room);
      length = this.#encode(job, spec, request, bytes);
    }
    this.#it.assertOpen(); // a getter of the request may have closed the pool
    if (spec.idempotent) this.#keep(job, at, length);
    return length;
  }

  /** Keeps a request of `length` bytes that lies in a slot. */
  #keep(job: Job, at: number, length: number): void {
    const { room } = this.#rooms;
    this.#chunks.keep(job, this.#rooms.requestBytes(at, room), length);
  }

  /** Puts a job in line, and keeps its request. */
  #enqueue(job: Job, spec: Spec, request: unknown): void {
    const { requestField: field } = spec;
    const isKept = field !== undefined && !field.borrows &&
      field.size <= this.#rooms.room;
    if (!job.empty && isKept) job.value = field.check(request, "");
    else if (!job.empty) {
      if (this.#park(job, spec, request)) return;
      this.#encodeAside(job, spec, request);
    }
    this.#it.assertOpen(); // as in `#write`
    this.#jobs.move(job, "waiting");
  }

  /** Encodes a request that has no slot, and keeps it. */
  #encodeAside(job: Job, spec: Spec, request: unknown): void {
    const bytes = this.#it.scratch;
    // A getter of a request may submit another one, while this one is encoded.
    const before = this.#encodes ? bytes.slice() : undefined;
    this.#encodes = true;
    try {
      const length = this.#encode(job, spec, request, bytes);
      this.#chunks.keep(job, bytes, length);
    } finally {
      this.#encodes = before !== undefined;
      if (before !== undefined) bytes.set(before);
    }
  }

  /**
   * Writes a long text, or bytes, to a slot, in which it waits; false if it is
   * short, or no slot can be spared. So it is copied only once. A short one
   * would only lose by it: workers look at slots in their order, not by
   * priority.
   */
  #park(job: Job, spec: Spec, request: unknown): boolean {
    if (this.#rooms.room <= LONG_BYTES || spec.idempotent) return false;
    if (lengthOf(request) <= LONG_BYTES) return false;
    if (this.#jobs.count.parked >= this.#slots.count >> 1) return false;
    const at = this.#rooms.claim();
    if (at === 0) return false;
    job.length = this.#writeOrCancel(at, job, spec, request);
    job.at = at;
    return this.#jobs.move(job, "parked");
  }

  /**
   * Writes a request to `bytes`; returns how many bytes it has. One that is too
   * long for a slot has none there: it goes in a message.
   */
  #encode(
    job: Job,
    { request: codec, idempotent }: Spec,
    request: unknown,
    bytes: Uint8Array,
  ): number {
    const { room } = this.#rooms;
    if (isLongText(request, codec, room)) {
      return mail(job, request, [], idempotent);
    }
    const needed = encoded(codec, request, bytes);
    if (needed <= room) return needed;
    // `needed` is the most bytes that it may have. With that room, it is whole.
    const encode = (into: Uint8Array) => encoded(codec, request, into);
    const whole = encodeWhole(codec.name, needed, encode);
    if (whole.length <= room) {
      bytes.set(whole);
      return whole.length;
    }
    const value = bufferOf(whole);
    return mail(job, value, idempotent ? [] : [value], idempotent);
  }

  // ---- jobs in line

  /**
   * Posts what waits, as far as there is room; `feed` may submit more, as long
   * as there is.
   */
  fill(feed?: () => void): void {
    this.#measureRoom();
    const { line } = this.#jobs;
    this.#filling = true; // one wake for all
    for (let job; (job = line.first) !== undefined;) {
      if (!this.#post(job) && !this.#postParked()) break;
    }
    feed?.();
    this.#filling = false;
    this.#wakeOthers();
  }

  /** Posts a job whose request was kept; false if there is no room. */
  #post(job: Job): boolean {
    if (this.#jobs.count.posted >= this.#most) return false;
    if (job.state === "parked") {
      this.#send(job, job.at, job.length);
      return true;
    }
    const at = this.#claim();
    if (at === 0) return false;
    const { spec } = job;
    const rooms = this.#rooms;
    let length = 0;
    if (spec === undefined || job.empty) {
      // It has no request.
    } else if (job.bytes !== undefined) {
      ({ length } = job);
      const target = rooms.requestBytes(at, rooms.room);
      copy(job.bytes, job.from, target, 0, length);
    } else {
      const field = spec.requestField!;
      field.set(rooms.data, rooms.request(at), job.value as never);
      length = field.size;
      // The field may use `value` again.
      if (spec.idempotent) this.#keep(job, at, length);
    }
    this.#send(job, at, length);
    return true;
  }

  /**
   * Posts the first of the jobs that wait in slots; false if there is no room,
   * or none of them. If the slots are all taken, these would wait behind the
   * first in line, which would wait for their slots.
   */
  #postParked(): boolean {
    const { count, line } = this.#jobs;
    if (count.parked === 0 || count.posted >= this.#most) return false;
    return this.#post(line.firstOf(({ state }) => state === "parked")!);
  }

  // ---- slots

  /** Finds out how many jobs may have a slot. */
  #measureRoom(): void {
    let { ahead } = this.#it;
    if (ahead === undefined) {
      ahead = this.#typical === 0 ? 4 : Math.ceil(AHEAD_MS / this.#typical);
    }
    const places = Math.max(this.#it.places(), 1);
    const more = Math.max(this.#it.agents(), 1) * ahead;
    this.#most = Math.min(places + more, this.#slots.count);
  }

  /** A slot for another job, or 0. */
  #claim(): number {
    return this.#jobs.count.posted < this.#most ? this.#rooms.claim() : 0;
  }

  /** Posts a job whose request of `length` bytes lies in its slot. */
  #send(job: Job, at: number, length: number): void {
    const { spec } = job;
    let what = job.guest ? RETIRE | GUEST : RETIRE;
    if (spec !== undefined) {
      what = spec.index | (job.empty ? NO_REQUEST : 0);
      if (job.talk !== undefined) what |= TALKS;
      if (job.moves) what |= job.parcel!.isLong ? MOVES | LONG : MOVES;
      if (this.#mayBeLate()) {
        what |= LAZY;
        job.lazy = true;
        this.#lazy++;
      }
      job.value = undefined;
      if (!spec.idempotent) job.bytes = undefined;
    }
    this.#rooms.post(at, what, job.token, length);
    job.at = at;
    this.#jobs.move(job, "posted");
    this.#wake();
  }

  /**
   * Whether the worker may tell of the next job's result together with others:
   * half of the results at a time, or as many as take a millisecond.
   */
  #mayBeLate(): boolean {
    if (this.#typical === 0) return false;
    const slotted = this.#jobs.count.posted;
    const together = Math.min(slotted >> 1, TOGETHER_MS / this.#typical);
    if (++this.#row < together) return true;
    this.#row = 0;
    return false;
  }

  /**
   * Wakes a worker for a job. If there were as many wakes as workers since the
   * last microtask, one wake behind this microtask is for all other jobs.
   */
  #wake(): void {
    if (this.#wakes + this.#quiet === 0) queueMicrotask(this.#wakeOthers);
    if (this.#wakes < this.#it.agents() && !this.#filling) {
      this.#wakes++;
      this.#rooms.tell(1);
    } else this.#quiet++;
  }

  readonly #wakeOthers = (): void => {
    const jobs = Math.min(this.#quiet, this.#it.agents());
    this.#wakes = this.#quiet = 0;
    if (jobs > 0) this.#rooms.tell(jobs);
  };

  /** Takes a job's slot away, which the caller frees. */
  unslot(job: Job): number {
    const { at } = job;
    job.at = 0;
    if (job.lazy) {
      job.lazy = false;
      this.#lazy--;
    }
    return at;
  }

  /**
   * Ends a job, wherever it is. Returns the id of the agent that does it now,
   * or 0.
   */
  drop(job: Job, reason: unknown): number {
    const { state } = job;
    let doer = 0;
    if (state === "posted" || state === "parked") {
      // Without a slot, it is ended by the codec that decodes its result.
      const at = this.unslot(job);
      if (at !== 0) doer = this.#giveUp(at);
    }
    this.#jobs.reject(job, reason);
    return doer;
  }

  /** Gives up a slot; returns the id of the agent that serves it, or 0. */
  #giveUp(at: number): number {
    const { words } = this.#slots;
    const word = Atomics.load(words, at);
    const isServed = (word & PHASE_MASK) === SERVING;
    if (isServed) this.#givenUp.add(at);
    cancel(words, at); // perhaps it was just answered
    return isServed ? word & ID_MASK : 0;
  }

  /** Ends a job, unless a worker has begun it. */
  refuse(job: Job, reason: unknown): void {
    const { state } = job;
    if (state === "promised") return;
    if (state !== "posted") return void this.drop(job, reason);
    if (!this.#rooms.withdraw(job.at)) return;
    this.unslot(job);
    this.#jobs.reject(job, reason);
  }

  /**
   * Takes an order back, as its worker is needed; false if a worker has it
   * already.
   */
  takeBack(job: Job): boolean {
    if (job.state === "posted") {
      if (!this.#rooms.withdraw(job.at)) return false;
      this.unslot(job);
    }
    this.#jobs.resolve(job, undefined);
    return true;
  }
}

/** The length of a text or of bytes, which is about that of its message. */
const lengthOf = (request: unknown): number =>
  typeof request === "string"
    ? request.length
    : ArrayBuffer.isView(request)
    ? request.byteLength
    : 0;

/** Has a request go in a message; it has no bytes in its slot. */
function mail(
  job: Job,
  value: unknown,
  list: readonly object[],
  stays: boolean,
): number {
  job.parcel = { value, list, isLong: true, stays };
  job.moves = true;
  return 0;
}
