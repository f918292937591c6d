/**
 * How results get back: looks at the slots of the jobs that were posted, and
 * takes the messages with results that are too long for a slot.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { cancel, isAnswered } from "../_calls/ring/call.ts";
import type { Slots } from "../_calls/ring/slots.ts";
import { PHASE_MASK, REPLIED } from "../_calls/ring/words.ts";
import { errorOf } from "../_message/thrown.ts";
import { readUtf8 } from "../_message/utf8.ts";
import { values } from "../_value/codec.ts";
import { spin } from "../_wait/spin.ts";
import { nextTurn } from "../_wait/turn.ts";
import { type Death, deathOf } from "./errors.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { Poster } from "./poster.ts";
import {
  ELSEWHERE,
  ERROR,
  type Long,
  MOVED,
  NOTHING,
  received,
  type Rooms,
  STAYS,
  THROWN,
  VALUE,
} from "./wire.ts";

/** A task that ended this many workers is not done again. */
const MOST_DEATHS = 3;
/**
 * A sweep that has found results ends when this many jobs in a row have none:
 * results come about in the order of the jobs.
 */
const MOST_MISSES = 8;
/**
 * The pause, in ms, between two looks for results that workers tell together.
 */
const LATEST_MS = 2;

/** What a collector has to know, and to tell. */
interface Collecting {
  readonly slots: Slots;
  readonly rooms: Rooms;
  readonly jobs: Jobs;
  readonly poster: Poster;
  /** A worker has done a task, whose reply lies at `at`. */
  measure(job: Job, at: number): void;
  /** A worker has promised a message with a result. */
  promised(job: Job): void;
  /** The worker of that number has taken an order, and ends. */
  retires(number: number): void;
  /** An order came back from a worker that it is not for. */
  rest(job: Job): void;
  /** Whether no task is begun any more: the pool was closed with force. */
  isForced(): boolean;
}

/** Ends jobs that were answered. */
export class Collector {
  readonly #it: Collecting;

  /** Makes a collector. */
  constructor(collecting: Collecting) {
    this.#it = collecting;
  }

  /**
   * Ends jobs that were answered, at least one if there is any; returns how
   * many. After a worker has died, it looks at all jobs.
   */
  sweep(dead?: Death): number {
    const { slots, jobs: { flying } } = this.#it;
    const { length } = flying;
    let kept = 0;
    let count = 0;
    let misses = 0;
    let i = 0;
    for (; i < length; i++) {
      const job = flying[i]!;
      if (job.state !== "posted") continue;
      if (!isAnswered(slots.words, job.at)) {
        flying[kept++] = job;
        if (++misses < MOST_MISSES || count === 0 || dead !== undefined) {
          continue;
        }
        i++;
        break;
      }
      misses = 0;
      count++;
      this.#answer(job, dead);
    }
    if (kept < i) {
      for (; i < flying.length; i++) flying[kept++] = flying[i]!;
      flying.length = kept;
    }
    return count;
  }

  /** Ends a job if it was answered; whether it was. */
  take(job: Job): boolean {
    const { slots } = this.#it;
    const is = job.state === "posted" && isAnswered(slots.words, job.at);
    if (is) this.#answer(job, undefined);
    return is;
  }

  #answer(job: Job, dead: Death | undefined): void {
    const { slots, rooms, jobs, poster } = this.#it;
    const at = poster.unslot(job);
    const phase = Atomics.load(slots.words, at) & PHASE_MASK;
    if (phase !== REPLIED) {
      // It is LOST, or an agent took it that is not a worker.
      cancel(slots.words, at);
      return this.#lose(job, dead);
    }
    const what = rooms.answered(at);
    const number = rooms.worker(at);
    if (job.spec === undefined) {
      cancel(slots.words, at);
      return this.#ordered(job, what, number);
    }
    this.#it.measure(job, at);
    rooms.forget(at);
    if (what === ELSEWHERE) {
      cancel(slots.words, at);
      const { early } = job;
      if (early !== undefined) return this.#settle(job, early);
      job.worker = number;
      jobs.move(job, "promised");
      return this.#it.promised(job);
    }
    const { reply, replyField: field } = job.spec;
    let value, error, failed = false;
    try {
      const length = rooms.lengthAnswered(at);
      if (what === VALUE && length === field?.size) {
        value = field.get(rooms.data, rooms.reply(at));
      } else if (what === VALUE) {
        value = reply.decode(rooms.replyBytes(at, length));
      } else if (what !== NOTHING) {
        failed = true;
        error = thrownBy(what, rooms.replyBytes(at, length));
      }
    } catch (reason) {
      failed = true;
      error = reason;
    }
    cancel(slots.words, at);
    if (failed) jobs.reject(job, error);
    else jobs.resolve(job, value);
  }

  /** A worker has answered an order. */
  #ordered(job: Job, what: number, number: number): void {
    const { jobs } = this.#it;
    if (what === STAYS) {
      jobs.move(job, "resting");
      return this.#it.rest(job);
    }
    jobs.resolve(job, undefined);
    this.#it.retires(number);
  }

  /** The worker of a job has died. */
  #lose(job: Job, dead: Death | undefined): void {
    const { jobs } = this.#it;
    const { spec, early } = job;
    if (spec === undefined) return jobs.resolve(job, undefined); // it was to end
    if (early !== undefined) return this.#settle(job, early);
    job.deaths++;
    const isGone = job.moves && job.parcel === undefined; // with the worker
    const again = job.deaths < MOST_DEATHS && !this.#it.isForced();
    if (spec.idempotent && again && !isGone) {
      job.talk?.rest();
      return void jobs.move(job, "waiting");
    }
    const times = job.deaths > 1 ? `, ${job.deaths} times` : "";
    const what = `The worker of task ${describe(spec.name)} died${times}`;
    jobs.reject(job, deathOf(what, dead));
  }

  /** Takes a result that was too long for its slot. */
  arrive(message: Long): void {
    const { jobs } = this.#it;
    const { token } = message;
    const promised = jobs.promised.get(token);
    if (promised !== undefined) return this.#settle(promised, message);
    // Its slot was not looked at yet, or nobody wants it.
    const job = jobs.flying.find((job) => job.token === token && !job.over);
    if (job !== undefined) job.early = message;
  }

  /** The messages of that worker that have not come will not come. */
  forget(number: number, dead?: Death): void {
    for (const job of [...this.#it.jobs.promised.values()]) {
      if (job.worker === number) this.#lose(job, dead);
    }
  }

  #settle(job: Job, { kind, bytes, moved }: Long): void {
    const { jobs } = this.#it;
    try {
      if (kind === NOTHING) jobs.resolve(job, undefined);
      else if (kind === MOVED) jobs.resolve(job, moved);
      else if (kind === VALUE) {
        jobs.resolve(job, received(job.spec!.reply, bytes));
      } else {
        const written = new Uint8Array(bytes as ArrayBuffer);
        jobs.reject(job, thrownBy(kind, written));
      }
    } catch (error) {
      jobs.reject(job, error);
    }
  }
}

/** What rounds have to know, and to have done. */
interface Rounded {
  readonly jobs: Jobs;
  readonly poster: Poster;
  /** Is set when workers have answered, or there is something to do. */
  readonly done: { set(): void; waitAsync(): Promise<unknown> };
  /** Ends jobs that were answered; returns how many. */
  sweep(): number;
  /** Posts what waits. */
  fill(): void;
  /** No job is left. */
  settled(): void;
}

/** Brings results as long as there are jobs. */
export class Rounds {
  readonly #it: Rounded;
  #going = false;
  #looking: ReturnType<typeof setTimeout> | undefined;

  /** Makes rounds that have not begun. */
  constructor(rounded: Rounded) {
    this.#it = rounded;
  }

  /** Begins, if they have not begun. */
  begin(): void {
    if (this.#going) return;
    this.#going = true;
    void this.#go();
  }

  async #go(): Promise<void> {
    const { jobs, poster, done } = this.#it;
    const attempt = () => this.#it.sweep() || undefined;
    await undefined; // lets the program submit more tasks first
    for (;;) {
      const some = this.#it.sweep() || poster.lazy === 0 && spin(attempt);
      this.#it.fill();
      if (jobs.open === 0) break;
      if (poster.lazy > 0) {
        // Many results come together: there is no use in looking for one.
        this.#lookSoon();
        await done.waitAsync();
      } else if (some) await (nextTurn() ?? undefined);
      else await done.waitAsync();
    }
    this.#going = false;
    this.#it.settled();
  }

  /**
   * Looks for results after a while, even if nobody tells. One timer runs at a
   * time: to set one for each wait, and to clear it, takes longer.
   */
  #lookSoon(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      if (this.#it.poster.lazy > 0) this.#it.done.set();
    }, LATEST_MS);
  }
}

function thrownBy(what: number, bytes: Uint8Array): unknown {
  switch (what) {
    case THROWN:
      return values.decode(bytes);
    case ERROR:
      if (bytes.length > 0) return errorOf(readUtf8(bytes));
      return new Error(
        "A thread of C threw an error: the pool's option bytes is too small " +
          "for it",
      );
  }
  return new TypeError("The worker does not use servePool()");
}
