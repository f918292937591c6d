/**
 * The worker's side of a pool: takes tasks from the slots, and answers them.
 *
 * @module
 */

import { brief, describe } from "../../_memory/describe.ts";
import { contentOf, isTransfer } from "../../_calls/beside.ts";
import type { Slots } from "../../_calls/ring/slots.ts";
import { finish, Underway } from "../../_calls/ring/underway.ts";
import { type PendingResult, waitOn } from "../../_wait/pending.ts";
import { inPlaceResult } from "../../_message/in_place.ts";
import { encoded, encodeWhole } from "../../_message/message.ts";
import {
  bufferOf,
  clock,
  ELSEWHERE,
  ERROR,
  GUEST,
  isLongText,
  LAZY,
  LONG,
  MOVED,
  type Moved,
  MOVES,
  NO_REQUEST,
  NOTHING,
  type PoolMessage,
  received,
  type Recycle,
  REPLY_HEAD,
  RETIRE,
  RETIRED,
  Rooms,
  type Sent,
  type Sides,
  STAYS,
  tagged,
  TALKS,
  THROWN,
  VALUE,
} from "../wire.ts";
import type { Field } from "../../_message/record_fields.ts";
import { spin } from "../../_wait/spin.ts";
import { errorText, isError, unsendable } from "../../_message/thrown.ts";
import { refer } from "../../_wait/times.ts";
import { nextTurn } from "../../_wait/turn.ts";
import { writeUtf8 } from "../../_message/utf8.ts";
import { values } from "../../_value/codec.ts";
import { block, blockAsync } from "../../_wait/wait.ts";
import { Watches } from "../../_calls/watch.ts";
import { cannotHear, Context, type TaskContext } from "./context.ts";

/** A task that a worker serves. */
export interface Served extends Sides {
  readonly name: string;
  /** Set if all messages of that codec have one size. */
  readonly requestField: Field | undefined;
  readonly replyField: Field | undefined;
  readonly run: (request: unknown, context: TaskContext) => unknown;
}

/** Where a worker works. */
interface Station {
  readonly slots: Slots;
  /** How many tasks were posted. */
  readonly posted: Int32Array<SharedArrayBuffer>;
  /** The tasks by their numbers. */
  readonly tasks: readonly (Served | undefined)[];
  readonly names: readonly string[];
  /** The number of the worker. */
  readonly number: number;
  /** When it ends so that another one takes its place. */
  readonly recycle: Recycle;
  /** Tells the pool that a slot was answered. */
  done(): void;
  /** Sends a message to the pool. */
  post(message: unknown, list?: readonly object[]): void;
  /** Takes messages of the pool. */
  hear(take: (message: PoolMessage) => void): void;
}

/**
 * The least ms between two looks at the memory of a worker; and, while it takes
 * no tasks, the ms between two looks whether the pool is closed, or whether
 * those that run are given up.
 */
const LOOK = 100;

/**
 * The ms that functions have, whose tasks were given up, before it ends. A pool
 * that is closed gives the worker a second, in which it also does what stands
 * behind `servePool`.
 */
const GRACE = 500;

/** Bytes that are enough for most results that come in a message. */
const SOME = 256;

/** Microtasks in which an async function that awaits nothing has its result. */
const TICKS = 4;

/** Serves the tasks of a pool. */
export class PoolServer {
  readonly #it: Station;
  readonly #rooms: Rooms;
  readonly #watches: Watches;
  /** Waits for a task; its result is -1 at the end. */
  readonly #coming: PendingResult<number>;
  /** The count of posted tasks before the last look that found none. */
  #seen: number | undefined;
  /** Tasks that it did. */
  #count = 0;
  /** The tasks that talk, by their tokens. */
  readonly #talking = new Map<number, Context>();
  /** Those whose requests are on their way. */
  readonly #moving = new Map<number, (moved: Moved) => void>();
  #hears = false;
  /** The slot of the order to end; 0 if none came. */
  #order = 0;
  /** It does nothing any more: the slots belong to others. */
  #over = false;
  /** Whether it looks soon whether the pool is closed. */
  #looks = false;
  /** Whether it has too much memory, and when it looks for the next time. */
  #full = false;
  #look = 0;
  /** Whether it did a task of which it has not told the pool. */
  #untold = false;
  /** Tasks that run, since when there are any, and how long there were. */
  #running = 0;
  #since = 0;
  #busy = 0;
  /**
   * When the last task ended, if the next one is taken at once: reading the
   * clock takes longer than taking a task.
   */
  #now: number | undefined;

  /** Makes a server that has not begun. */
  constructor(station: Station) {
    this.#it = station;
    this.#rooms = new Rooms(station.slots, station.posted, 0);
    this.#watches = new Watches(station.slots);
    const attempt = () => this.#take() || undefined;
    this.#coming = { ...station.slots.coming, attempt };
  }

  /**
   * Takes a task. Returns its slot; 0 if there is none, -1 if there will never
   * be one. It looks at all slots only if tasks were posted since it found
   * none.
   */
  #take(): number {
    const { slots } = this.#it;
    // (S) The count first, then the slots. Pairs with (N): if we miss a task
    // that was posted just now, its count is another one.
    const count = this.#rooms.posted;
    if (count === this.#seen && !slots.closed) return 0;
    const at = slots.takeOrEnd();
    this.#seen = at === 0 ? count : undefined;
    return at;
  }

  /** Does tasks, blocking while there are none; returns how many it did. */
  serve(): number {
    const { attempt } = this.#coming;
    while (!this.#ends) {
      let at = this.#take();
      if (at === 0) {
        this.#now = undefined;
        this.#tell(); // before it sleeps
        at = spin(attempt) || block(waitOn(this.#coming, false))!;
      }
      if (at < 0) break;
      this.#handle(at, false);
    }
    return this.#retire();
  }

  /** The same, awaiting: `limit` tasks at a time. */
  async serveAsync(limit: number): Promise<number> {
    const { attempt } = this.#coming;
    const underway = new Underway();
    while (!this.#ends) {
      if (underway.size >= limit) this.#tell();
      while (underway.size >= limit && !this.#it.slots.closed) {
        this.#lookLater(underway);
        await underway.next();
      }
      if (this.#ends || underway.size >= limit) break;
      let at = this.#take();
      if (at === 0 || underway.size > 0) this.#now = undefined;
      for (let i = 0; at === 0 && underway.size > 0 && i < TICKS; i++) {
        await undefined; // lets functions end
      }
      if (at === 0) at = this.#take();
      if (at === 0) this.#tell(); // before it sleeps
      if (at === 0 && underway.size === 0) at = spin(attempt) ?? 0;
      if (at === 0) {
        at = (await blockAsync(() => waitOn(this.#coming)))!;
        this.#now = undefined; // a function may have ended meanwhile
      }
      if (at < 0) break;
      const answer = this.#handle(at, true);
      if (answer !== undefined) underway.add(answer, at);
      const turn = nextTurn();
      if (turn === undefined) continue;
      this.#now = undefined;
      this.#tell();
      await turn;
    }
    this.#tell();
    // A function whose task was given up may never end.
    await finish(underway, this.#it.slots.words, GRACE, true);
    this.#watches.stop();
    this.#over = true;
    return this.#retire();
  }

  /**
   * Ends the wait for the next function in a while, so that the worker looks
   * whether the pool is closed: a function may never end, and whoever does not
   * wait for tasks is not told.
   */
  #lookLater(underway: Underway): void {
    if (this.#looks) return;
    this.#looks = true;
    const look = () => {
      this.#looks = false;
      underway.wake();
    };
    refer(setTimeout(look, LOOK), false);
  }

  /** Whether it takes no more tasks: by an order, or since it did enough. */
  get #ends(): boolean {
    return this.#order !== 0 || this.#full ||
      this.#count >= this.#it.recycle.tasks;
  }

  /** Tells the pool of tasks that it was not told of. */
  #tell(): void {
    if (!this.#untold) return;
    this.#untold = false;
    this.#it.done();
  }

  /** Tells the pool that this worker does nothing any more. */
  #retire(): number {
    this.#tell();
    const at = this.#order;
    if (at === 0) return this.#count;
    this.#begin(at);
    this.#send(at, RETIRED, 0);
    return this.#count;
  }

  #handle(at: number, mayAwait: boolean): Promise<void> | undefined {
    const rooms = this.#rooms;
    const what = rooms.what(at);
    const index = what & 0xffff;
    if (index === RETIRE) return this.#heed(at, what);
    this.#begin(at);
    this.#count++;
    const task = this.#it.tasks[index];
    if (task === undefined) {
      return void this.#throw(at, task, this.#unknown(index));
    }
    const { request, requestField } = task;
    const context = (what & TALKS) === 0
      ? new Context(task.name, at, this.#watches, mayAwait)
      : this.#talk(task.name, at, mayAwait);
    let result;
    try {
      if ((what & MOVES) !== 0) {
        const isLong = (what & LONG) !== 0;
        if (!mayAwait) {
          const its = isLong
            ? `a request of more than ${rooms.room} bytes, its pool's option bytes`
            : "what is transferred";
          throw cannotHear(task.name, `take ${its}`);
        }
        result = this.#fetch(task, at, context, isLong);
      } else {
        let asked: unknown;
        if ((what & NO_REQUEST) === 0) {
          const bytes = rooms.asked(at);
          asked = bytes.length === requestField?.size
            ? requestField.get(rooms.data, rooms.request(at))
            : request.decode(bytes);
        }
        result = task.run(asked, context);
      }
      if (isThenable(result)) {
        if (mayAwait) return this.#settle(at, task, context, result);
        result.then(undefined, () => {}); // nobody else looks at it
        throw new TypeError(
          `The function of task ${describe(task.name)} returned a ` +
            "promise: a worker that blocks cannot await it",
        );
      }
    } catch (error) {
      if (!this.#leave(at, context)) return;
      return void this.#throw(at, task, error, context.reported);
    }
    if (!this.#leave(at, context)) return;
    this.#return(at, task, result, (what & LAZY) !== 0, context.reported);
  }

  /** The context of a task to which messages come, and which may report. */
  #talk(name: string, at: number, hears: boolean): Context {
    const token = this.#rooms.token(at);
    const context = new Context(name, at, this.#watches, hears, (value) => {
      this.#it.post(tagged({ what: "report", token, value }));
    });
    if (!hears) return context;
    this.#talking.set(token, context);
    this.#tellBegun(token, false);
    return context;
  }

  /**
   * Tells the pool that a task has begun, to which it may send messages now.
   */
  #tellBegun(token: number, moves: boolean): void {
    if (!this.#hears) {
      this.#hears = true;
      this.#it.hear((message) => {
        if (message.what === "message") {
          this.#talking.get(message.token)?.hear(message.value);
        } else if (message.what === "moved") {
          this.#moving.get(message.token)?.(message);
        }
      });
    }
    this.#it.post(tagged({ what: "begun", token, moves }));
  }

  /** Does a task whose request comes in a message, once that is there. */
  async #fetch(
    task: Served,
    at: number,
    context: Context,
    isLong: boolean,
  ): Promise<unknown> {
    const token = this.#rooms.token(at);
    const { values } = await new Promise<Moved>((resolve) => {
      this.#moving.set(token, resolve);
      this.#tellBegun(token, true);
    });
    this.#moving.delete(token);
    if (values.length === 0) throw new Error("Nobody wants the task");
    const [value] = values;
    const asked = isLong ? received(task.request, value as Sent) : value;
    return task.run(asked, context);
  }

  /**
   * Ends what a task began beside its work. Returns whether it may be answered:
   * in Deno, a worker that was terminated goes on for a while, and its slot may
   * have the task of another one by now.
   */
  #leave(at: number, context: Context): boolean {
    context.end();
    this.#talking.delete(this.#rooms.token(at));
    return this.#it.slots.serves(at);
  }

  /** Takes the order to end; or hands it back, if it is for a thread of C. */
  #heed(at: number, what: number): undefined {
    if ((what & GUEST) === 0) this.#order = at;
    else {
      this.#begin(at);
      this.#send(at, STAYS, 0);
    }
  }

  async #settle(
    at: number,
    task: Served,
    context: Context,
    result: PromiseLike<unknown>,
  ): Promise<void> {
    try {
      const value = await result;
      if (this.#over || !this.#leave(at, context)) return;
      this.#return(at, task, value, false, context.reported);
    } catch (error) {
      if (this.#over || !this.#leave(at, context)) return;
      this.#throw(at, task, error, context.reported);
    }
  }

  #unknown(index: number): TypeError {
    const { names, tasks } = this.#it;
    const served = tasks.flatMap((task) => task === undefined ? [] : task.name);
    return new TypeError(
      `The worker has no function for task ${describe(names[index])}: ` +
        `it has ${brief(served.join(", ") || "none", 300)}`,
    );
  }

  /** `behind`: a message brings the result, so that it comes behind others. */
  #return(
    at: number,
    task: Served,
    value: unknown,
    lazy: boolean,
    behind: boolean,
  ): void {
    const { reply, replyField } = task;
    const rooms = this.#rooms;
    try {
      if (isTransfer(value)) {
        return this.#sendApart(at, MOVED, "", ...contentOf(value));
      }
      if (value === undefined && behind) {
        return this.#post(at, NOTHING, 0, () => 0);
      }
      if (value === undefined) return this.#send(at, NOTHING, 0, lazy);
      const { name } = reply;
      if (behind) {
        const encode = (into: Uint8Array) => encoded(reply, value, into);
        return this.#post(at, VALUE, SOME, encode, name);
      }
      if (replyField !== undefined && replyField.size <= rooms.room) {
        const checked = replyField.check(value, "");
        replyField.set(rooms.data, rooms.reply(at), checked as never);
        return this.#send(at, VALUE, replyField.size, lazy);
      }
      if (isLongText(value, reply, rooms.room)) {
        return this.#sendApart(at, VALUE, value as string);
      }
      // Soon the slots hold other bytes.
      const it = reply === inPlaceResult ? rooms.outside(value) : value;
      const length = encoded(reply, it, rooms.replyBytes(at, rooms.room));
      if (length <= rooms.room) return this.#send(at, VALUE, length, lazy);
      this.#post(at, VALUE, length, (into) => encoded(reply, it, into), name);
    } catch (error) {
      this.#throw(at, task, error, behind);
    }
  }

  #throw(
    at: number,
    task: Served | undefined,
    thrown: unknown,
    behind = false,
  ): void {
    let error = thrown;
    if (!isError(thrown)) {
      try {
        return this.#encode(
          at,
          THROWN,
          (into) => values.encode(thrown, into),
          behind,
        );
      } catch {
        error = unsendable(`Task ${brief(String(task?.name))}`, thrown);
      }
    }
    const text = errorText(error);
    this.#encode(at, ERROR, (into) => writeUtf8(text, into), behind);
  }

  /** Answers with what `encode` writes, or has the pool told by a message. */
  #encode(
    at: number,
    what: number,
    encode: (into: Uint8Array) => number,
    behind: boolean,
  ): void {
    if (behind) return this.#post(at, what, SOME, encode);
    const { room } = this.#rooms;
    const length = encode(this.#rooms.replyBytes(at, room));
    if (length <= room) this.#send(at, what, length);
    else this.#post(at, what, length, encode);
  }

  /** Has the pool told by a message of what `encode` writes. */
  #post(
    at: number,
    what: number,
    room: number,
    encode: (into: Uint8Array) => number,
    codec = values.name as string,
  ): void {
    const bytes = bufferOf(encodeWhole(codec, room, encode));
    this.#sendApart(at, what, bytes, undefined, [bytes]);
  }

  /** Has the pool told of a result, or of an error, by a message. */
  #sendApart(
    at: number,
    kind: number,
    bytes: Sent,
    moved?: unknown,
    list: readonly object[] = [],
  ): void {
    const token = this.#rooms.token(at);
    this.#it.post(tagged({ what: "long", token, kind, bytes, moved }), list);
    this.#send(at, ELSEWHERE, 0);
  }

  /** Answers with `length` bytes that lie in the slot. */
  #send(at: number, what: number, length: number, lazy = false): void {
    this.#end(at, what);
    this.#it.slots.reply(at, REPLY_HEAD + length);
    if (lazy) this.#untold = true;
    else {
      this.#untold = false;
      this.#it.done();
    }
  }

  /** Counts a task that begins, and writes when it does. */
  #begin(at: number): void {
    const now = this.#now ?? clock();
    if (this.#running++ === 0) this.#since = now;
    this.#rooms.begin(at, this.#it.number, now);
  }

  /** Writes the head of a reply: what it is, and how long the task ran. */
  #end(at: number, what: number): void {
    const now = this.#now = clock();
    const busy = this.#busy + now - this.#since;
    if (--this.#running === 0) this.#busy = busy;
    const { memory } = this.#it.recycle;
    if (memory < Infinity && now >= this.#look) {
      this.#look = now + LOOK;
      this.#full = heapBytes() > memory;
    }
    this.#rooms.end(at, what, now, busy);
  }
}

/** The bytes of this agent's heap; 0 if the platform does not tell. */
function heapBytes(): number {
  const scope = globalThis as unknown as {
    process?: {
      memoryUsage?(): { heapUsed: number; external: number };
    };
    performance: { memory?: { usedJSHeapSize: number } };
  };
  const { heapUsed, external } = scope.process?.memoryUsage?.() ??
    { heapUsed: scope.performance.memory?.usedJSHeapSize ?? 0, external: 0 };
  return heapUsed + external;
}

// Not by `instanceof`, which fails for another realm's promises.
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null &&
  typeof (value as PromiseLike<unknown>).then === "function";
