/**
 * The worker's side of a pool: takes tasks from the slots, and answers them.
 *
 * @module
 */

import type { Slots } from "./_call_slots.ts";
import { json } from "./_codec.ts";
import { describe } from "./_describe.ts";
import { waitOn } from "./_event_count.ts";
import {
  clock,
  ELSEWHERE,
  ERROR,
  NO_REQUEST,
  NOTHING,
  REPLY_HEAD,
  REQUEST_HEAD,
  RETIRE,
  RETIRED,
  type Room,
  Rooms,
  type Sides,
  tagged,
  THROWN,
  VALUE,
} from "./_pool_wire.ts";
import { spin } from "./_spin.ts";
import { errorText, isError } from "./_thrown.ts";
import { nextTurn } from "./_turn.ts";
import { writeUtf8 } from "./_utf8.ts";
import { block, blockAsync } from "./_wait.ts";
import { type Watched, Watches } from "./_watch.ts";

/** What a function of a worker is told about its task. */
export interface TaskContext {
  /** The name of the task. */
  readonly name: string;
  /**
   * Aborts when nobody waits for the result any more: the signal of the task
   * aborted, its time was over, or the pool was closed at once. `aborted` is up
   * to date in a function that never awaits, too.
   */
  readonly signal: AbortSignal;
}

/** A task that a worker serves. */
export interface Served extends Sides {
  readonly name: string;
  readonly run: (request: unknown, context: TaskContext) => unknown;
}

/** Where a worker works. */
export interface Station {
  readonly slots: Slots;
  /** The tasks by their numbers. */
  readonly tasks: readonly (Served | undefined)[];
  readonly names: readonly string[];
  /** The number of the worker. */
  readonly number: number;
  /** Tells the pool that a slot was answered. */
  done(): void;
  /** Sends a message to the pool. */
  post(message: unknown): void;
}

/** Microtasks in which an async function that awaits nothing has its result. */
const TICKS = 4;

class Context implements TaskContext {
  readonly name: string;
  readonly #at: number;
  readonly #watches: Watches;
  #watched: Watched | undefined;

  constructor(name: string, at: number, watches: Watches) {
    this.name = name;
    this.#at = at;
    this.#watches = watches;
  }

  get signal(): AbortSignal {
    if (this.#watched === undefined) {
      this.#watched = this.#watches.begin(this.#at);
      this.#watches.lookOut();
    }
    return this.#watched.control.signal;
  }

  end(): void {
    this.#watches.end(this.#watched);
  }
}

/** Serves the tasks of a pool. */
export class PoolServer {
  readonly #it: Station;
  readonly #rooms: Rooms;
  readonly #watches: Watches;
  /** Tasks that it did. */
  #count = 0;
  /** The slot of the order to end; 0 if none came. */
  #order = 0;
  /** Tasks that run, since when there are any, and how long there were. */
  #running = 0;
  #since = 0;
  #busy = 0;

  /** Makes a server that has not begun. */
  constructor(station: Station) {
    this.#it = station;
    this.#rooms = new Rooms(station.slots);
    this.#watches = new Watches(station.slots);
  }

  /** Does tasks, blocking while there are none; returns how many it did. */
  serve(): number {
    const { slots } = this.#it;
    const attempt = () => slots.takeOrEnd() || undefined;
    while (this.#order === 0) {
      const at = slots.takeOrEnd() || spin(attempt) ||
        block(waitOn(slots.coming))!;
      if (at < 0) break;
      this.#handle(at, false);
    }
    return this.#retire();
  }

  /** The same, awaiting: `limit` tasks at a time. */
  async serveAsync(limit: number): Promise<number> {
    const { slots } = this.#it;
    const underway = new Set<Promise<void>>();
    const attempt = () => slots.takeOrEnd() || undefined;
    while (this.#order === 0) {
      while (underway.size >= limit) await Promise.race(underway);
      let at = slots.takeOrEnd();
      for (let i = 0; at === 0 && underway.size > 0 && i < TICKS; i++) {
        await undefined; // lets functions end
      }
      if (at === 0) at = slots.takeOrEnd();
      if (at === 0 && underway.size === 0) at = spin(attempt) ?? 0;
      at ||= (await blockAsync(() => waitOn(slots.coming)))!;
      if (at < 0) break;
      const answer = this.#handle(at, true);
      if (answer !== undefined) {
        underway.add(answer);
        answer.then(() => underway.delete(answer));
      }
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
    await Promise.all(underway);
    return this.#retire();
  }

  /** Tells the pool that this worker does nothing any more. */
  #retire(): number {
    const at = this.#order;
    if (at === 0) return this.#count;
    const room = this.#rooms.at(at);
    room.words[1] = this.#it.number;
    room.times[0] = this.#begin();
    this.#send(at, RETIRED, () => 0);
    return this.#count;
  }

  #handle(at: number, mayAwait: boolean): Promise<void> | undefined {
    const request = this.#it.slots.request(at);
    const { words, times } = this.#rooms.at(at);
    const what = request[0]! | request[1]! << 8 | request[2]! << 16;
    const index = what & 0xffff;
    if (index === RETIRE) return void (this.#order = at);
    words[1] = this.#it.number;
    times[0] = this.#begin();
    this.#count++;
    const task = this.#it.tasks[index];
    let context: Context | undefined;
    let result;
    try {
      if (task === undefined) throw this.#unknown(index);
      context = new Context(task.name, at, this.#watches);
      const value = what & NO_REQUEST
        ? undefined
        : task.request.decode(request.subarray(REQUEST_HEAD));
      result = task.run(value, context);
      if (isThenable(result)) {
        if (mayAwait) return this.#settle(at, task, context, result);
        result.then(undefined, () => {}); // nobody else looks at it
        throw new TypeError(
          `The function of task ${JSON.stringify(task.name)} returned a ` +
            "promise: a worker that blocks cannot await it",
        );
      }
    } catch (error) {
      context?.end();
      return void this.#throw(at, task, error);
    }
    context.end();
    this.#return(at, task, result);
  }

  async #settle(
    at: number,
    task: Served,
    context: Context,
    result: PromiseLike<unknown>,
  ): Promise<void> {
    try {
      const value = await result;
      context.end();
      this.#return(at, task, value);
    } catch (error) {
      context.end();
      this.#throw(at, task, error);
    }
  }

  #unknown(index: number): TypeError {
    const { names, tasks } = this.#it;
    const served = tasks.flatMap((task) => task === undefined ? [] : task.name);
    return new TypeError(
      `The worker has no function for task ${JSON.stringify(names[index])}: ` +
        `it has ${served.join(", ")}`,
    );
  }

  #return(at: number, task: Served, value: unknown): void {
    if (value === undefined) return this.#send(at, NOTHING, () => 0);
    try {
      this.#send(at, VALUE, (into) => task.reply.encode(value, into));
    } catch (error) {
      this.#throw(at, task, error);
    }
  }

  #throw(at: number, task: Served | undefined, thrown: unknown): void {
    let error = thrown;
    if (!isError(thrown)) {
      try {
        return this.#send(
          at,
          THROWN,
          (into) => json.encode(thrown as never, into),
        );
      } catch {
        error = new Error(`Task ${task?.name} threw ${describe(thrown)}`);
      }
    }
    const text = errorText(error);
    this.#send(at, ERROR, (into) => writeUtf8(text, into));
  }

  /** Answers with what `encode` writes, or has the pool told by a message. */
  #send(at: number, what: number, encode: (into: Uint8Array) => number): void {
    const { slots } = this.#it;
    const room = this.#rooms.at(at);
    let length = encode(room.body);
    room.words[0] = what;
    if (length > room.body.length) {
      let bytes;
      do bytes = new Uint8Array(length); while (
        (length = encode(bytes)) > bytes.length
      );
      this.#post(at, what, bytes.subarray(0, length));
      room.words[0] = ELSEWHERE;
      length = 0;
    }
    this.#end(room);
    slots.reply(at, REPLY_HEAD + length);
    this.#it.done();
  }

  #post(at: number, kind: number, bytes: Uint8Array): void {
    const request = this.#it.slots.request(at);
    const token = request[4]! | request[5]! << 8 | request[6]! << 16 |
      request[7]! << 24;
    this.#it.post(tagged({ what: "long", token, kind, bytes }));
  }

  /** Counts a task that begins, and returns when it does. */
  #begin(): number {
    const now = clock();
    if (this.#running++ === 0) this.#since = now;
    return now;
  }

  /** Writes how long a task ran. */
  #end({ times }: Room): void {
    const now = clock();
    const busy = this.#busy + now - this.#since;
    if (--this.#running === 0) this.#busy = busy;
    times[1] = now - times[0]!;
    times[2] = busy;
  }
}

// Not by `instanceof`, which fails for another realm's promises.
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null &&
  typeof (value as PromiseLike<unknown>).then === "function";
