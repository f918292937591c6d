/**
 * Waits until one of several operations can be done, and does it.
 *
 * @module
 */

import { describe, describeAny } from "./_memory/describe.ts";
import { homeOf } from "./_memory/memory.ts";
import { assertOptions, TRY_ASYNC } from "./_memory/options.ts";
import type { Elements } from "./_queue/elements.ts";
import { ClosedError } from "./_queue/queue.ts";
import { assertTogether, blockAny, type Bout, boutAt } from "./_wait/gong.ts";
import { spin } from "./_wait/spin.ts";
import {
  assertTimeout,
  blockAnyAsync,
  type Selectable,
  type TryAsyncOptions,
  type Waitable,
  type Waiting,
} from "./_wait/wait.ts";

export type {
  AsyncOptions,
  Selectable,
  TryAsyncOptions,
  Waitable,
} from "./_wait/wait.ts";

/** How `select` waits. */
export interface SelectOptions extends TryAsyncOptions {
  /**
   * Which arm wins if several can be done at the call: `"random"` unless given,
   * or the `"first"` of the list.
   */
  readonly order?: "random" | "first" | undefined;
}

/** How `select.blocking` waits. */
export interface SelectBlockingOptions {
  /** The longest wait, in ms; `Infinity` unless given. */
  readonly timeout?: number | undefined;
  /** As in {@linkcode SelectOptions}. */
  readonly order?: "random" | "first" | undefined;
}

/** A queue, ring or channel, to which values can be added. */
export type Sink = Selectable & AsyncIterable<unknown>;

/** What can be added to `S`: a number, a record, a message, or bytes. */
export type AddedTo<S> = S extends AsyncIterable<infer E>
  ? E extends Uint8Array ? Elements : E
  : never;

/** An arm that adds a value; {@linkcode sending} makes one. */
export interface Sending {
  /** Where the value goes. */
  readonly sink: Sink;
  /** What is added. */
  readonly value: unknown;
}

/** What `select` may do: take from a source, or add to a sink. */
export type Arm = Waitable | Sending;

/** What an arm takes from `S`: an element, a message, or nothing. */
export type TakenFrom<S> = S extends AsyncIterable<infer E> ? E : undefined;

/** What `select` did: which arm, and what was taken. */
export type Selected<Arms extends readonly Arm[]> = {
  [I in keyof Arms]:
    | {
      /** The place of the arm in the list. */
      readonly index: I extends `${infer N extends number}` ? N : number;
      /** False: the arm was done. */
      readonly done: false;
      /** What was taken; undefined if the arm takes no value. */
      readonly value: TakenFrom<Arms[I]>;
    }
    | {
      /** The place of the arm in the list. */
      readonly index: I extends `${infer N extends number}` ? N : number;
      /**
       * True: the arm's queue or channel is closed, so that nothing was done.
       */
      readonly done: true;
      /** Nothing was taken. */
      readonly value: undefined;
    };
}[number];

/**
 * An arm that adds `value` to a queue, ring or channel as soon as there is
 * room. The value of a channel is encoded when `select` is called. Do not
 * change an array before the promise settles: it may be copied until then.
 *
 * @example A job for whichever queue has room
 * ```ts
 * import { MpmcQueue, select, sending } from "@weft/sync";
 *
 * const one = MpmcQueue.create({ capacity: 1 });
 * const two = MpmcQueue.create({ capacity: 1 });
 * one.tryPushInt(7); // it is full
 * const { index } = await select([sending(one, 8), sending(two, 8)]);
 * if (index !== 1 || two.tryPopInt() !== 8) throw new Error("not there");
 * ```
 *
 * @throws {TypeError} If nothing can be added to `sink`.
 */
export function sending<S extends Sink>(
  sink: S,
  value: AddedTo<S>,
): Sending {
  const { waitAt, pack, tryPush } = Object(sink) as Adding;
  if (waitAt && (pack ?? tryPush)) return { sink, value };
  throw new TypeError(
    `Cannot send to this: expected a queue, ring or channel: received ${
      describeAny(sink)
    }`,
  );
}

/**
 * Does the first of several operations that can be done, and says which it was.
 * Exactly one is done. Unless a timeout is given, it waits without a limit;
 * with one, the result is undefined if none could be done in time.
 *
 * ```text
 * a queue, RecordRing, Channel, Subscription   takes the oldest element
 * sending(sink, value)     adds the value
 * Semaphore                takes a permit
 * Event                    waits for it; with automatic reset, takes the signal
 * Latch, WorkCounter, WaitGroup   waits until it is open, done, or 0
 * ```
 *
 * If an arm's queue or channel is closed (and, to take, empty), the result has
 * `done: true`, and `index` names the arm. Leave it out of the next call, which
 * else returns at once again. Elements of 4 bytes are numbers.
 *
 * At a channel of capacity 0, an arm that sends meets only receivers that wait,
 * also in another `select`; those that look without a timeout do not see it. If
 * another arm is done at the moment at which somebody sends to an arm that
 * receives, that message stays for the next receiver.
 *
 * If several can be done at the call, one of them is chosen at random. With
 * `order: "first"`, it is the first of the list.
 *
 * Invariant: when it ends, in any way, one operation is done or none, and no
 * source counts it as a waiter. A wake that another arm had used up is passed
 * on.
 * Progress: it awaits, and never blocks the agent. An agent that is terminated
 * while it waits delays others by at most a second, for a wake it was given.
 * Fairness: that of each source. Waiting here gives no place in the line of a
 * semaphore.
 * C twin: `weft_select` of `select.blocking`. Source: Go's `select`, and
 * crossbeam's.
 *
 * @example Answers to whoever asks first, and an end
 * ```ts
 * import { Channel, codec, Event, select, sending } from "@weft/sync";
 *
 * const N = 100;
 * const asked = Channel.create({ codec: codec.i32, capacity: 4 });
 * const answers = Channel.create({ codec: codec.text, capacity: 4 });
 * const stop = Event.create();
 * async function serve() {
 *   for (;;) {
 *     const got = await select([asked, stop]);
 *     if (got.index === 1 || got.done) return;
 *     await select([sending(answers, `${got.value * 2}`), stop]);
 *   }
 * }
 * const served = serve();
 * let sum = 0;
 * for (let n = 1; n <= N; n++) {
 *   await asked.sendAsync(n);
 *   sum += Number(await answers.receiveAsync());
 * }
 * stop.set();
 * await served;
 * if (sum !== N * (N + 1)) throw new Error(`${sum}`);
 * ```
 *
 * @throws {TypeError} If `arms` is not an array, an arm can neither be waited
 * for nor added to, an option is unknown or of a wrong type; or if a value to
 * send is not what its sink takes: nothing was done.
 * @throws {RangeError} If there is no arm, the timeout is negative or NaN, the
 * order is unknown; or if a value to send is out of its sink's range.
 */
export const select: Select = /* @__PURE__ */ Object.assign(
  selectAsync,
  { blocking: selectBlocking },
) as Select;

/** The type of {@linkcode select}. */
export interface Select {
  /** Awaits: see {@linkcode select}. */
  <const Arms extends readonly Arm[]>(
    arms: Arms,
    options?: SelectOptions & { readonly timeout?: undefined },
  ): Promise<Selected<Arms>>;
  /** As above; with a timeout, the result may be undefined. */
  <const Arms extends readonly Arm[]>(
    arms: Arms,
    options: SelectOptions | undefined,
  ): Promise<Selected<Arms> | undefined>;
  /**
   * As `select`, blocking instead of awaiting. The arms take from, or add to,
   * queues, rings or channels, all in one SharedArrayBuffer, attached by the
   * same object. Others are a TypeError.
   *
   * @throws {TypeError} Also if this agent may not block, or if the queues lie
   * in several buffers.
   * @throws {DamagedError} If an agent died between claiming a slot of an
   * `MpmcQueue` and publishing it, or if words are damaged.
   */
  blocking<const Arms extends readonly Arm[]>(
    arms: Arms,
    options?: SelectBlockingOptions & { readonly timeout?: undefined },
  ): Selected<Arms>;
  /** As above; with a timeout, the result may be undefined. */
  blocking<const Arms extends readonly Arm[]>(
    arms: Arms,
    options: SelectBlockingOptions | undefined,
  ): Selected<Arms> | undefined;
}

function assertArms(arms: readonly Arm[]): void {
  if (!Array.isArray(arms)) {
    throw new TypeError(
      `select needs an array of arms: received ${describe(arms)}`,
    );
  }
  if (arms.length === 0) {
    throw new RangeError("select needs an arm: received none");
  }
  for (const arm of arms) assertNotItself(arm, arms);
}

/** Refuses to send without room to a channel that another arm receives from. */
function assertNotItself(arm: Arm, arms: readonly Arm[]): void {
  const { sink } = Object(arm) as Sending;
  const { capacity, buffer, byteOffset } = Object(sink) as Placed;
  if (
    capacity !== 0 ||
    !arms.some((other) => {
      const it = Object(other) as Placed;
      return it.byteOffset === byteOffset && it.buffer !== undefined &&
        homeOf(it.buffer) === homeOf(buffer!);
    })
  ) return;
  throw new TypeError(
    "select cannot have both ends of one channel of capacity 0",
  );
}

/** Where a source or sink lies. */
interface Placed {
  readonly capacity?: number;
  readonly buffer?: SharedArrayBuffer;
  readonly byteOffset?: number;
}

/** `paths` in the order in which they are tried first. */
function inOrder<Path>(paths: readonly Path[], order: unknown): Path[] {
  if (order !== "random" && order !== "first") {
    throw new RangeError(
      `order must be "random" or "first": received ${describe(order)}`,
    );
  }
  const { length } = paths;
  const start = order === "first" ? 0 : Math.floor(Math.random() * length);
  return [...paths.slice(start), ...paths.slice(0, start)];
}

async function selectAsync(
  arms: readonly Arm[],
  options?: SelectOptions,
): Promise<Choice["made"]> {
  assertArms(arms);
  assertOptions(options, [...TRY_ASYNC, "order"]);
  const { order = "random", ...limits } = options ?? {};
  const choice = new Choice();
  const paths = inOrder([...arms].map((arm, i) => choice.path(arm, i)), order);
  try {
    await blockAnyAsync(paths, limits);
  } catch (error) {
    // An arm that was done while another one failed, or while the signal
    // aborted, counts.
    if (choice.made === undefined) throw error;
  }
  return choice.made;
}

function selectBlocking(
  arms: readonly Arm[],
  options?: SelectBlockingOptions,
): Choice["made"] {
  assertArms(arms);
  assertOptions(options, ["timeout", "order"]);
  const { order = "random", timeout = Infinity } = options ?? {};
  assertTimeout(timeout);
  const choice = new Choice();
  const bouts = inOrder([...arms].map((arm, i) => choice.bout(arm, i)), order);
  assertTogether(bouts, "select");
  const done = () => bouts.some(({ attempt }) => attempt());
  if (done()) return choice.made;
  // (T) What was at one arm may be at another one now.
  if (timeout === 0) done();
  else if (!spin(done)) blockAny(bouts, timeout);
  return choice.made;
}

type Path = () => Waiting<boolean | undefined>;
/** Tries an operation; returns its value in an array, or undefined. */
type Attempt = () => readonly [value: unknown] | undefined;

/** The arms of one call, of which one is done. */
class Choice {
  /** The result, once an arm was done. An agent runs one path at a time. */
  made: { index: number; done: boolean; value: unknown } | undefined;

  /** How arm `index` waits, and is done unless another one was. */
  path(arm: Arm, index: number): Path {
    if ("sink" in Object(arm)) {
      const { sink, value } = arm as Sending;
      const attempt = this.#once(index, adding(sink as Adding, value));
      return () => sink.waitAt("push", attempt);
    }
    const source = arm as Waitable & Source;
    if (typeof source?.readiness !== "function") {
      throw new TypeError(
        `Cannot select arm ${index}: expected a queue, ring, channel, ` +
          "subscription, semaphore, event, latch, wait group, work counter " +
          `or sending(...): received ${describeAny(arm)}`,
      );
    }
    if (source.waitAt !== undefined) {
      const attempt = this.#once(index, popping(source));
      return () => source.waitAt!("pop", attempt);
    }
    const take = source.tryAcquire !== undefined || source.autoReset === true
      ? () => source.tryAcquire?.() ?? source.tryWait!()
      : undefined; // it stays ready, or was ready for a while, which counts
    return () => this.#taken(index, source, take);
  }

  /** The same, for an agent that blocks. */
  bout(arm: Arm, index: number): Bout & { attempt: () => unknown } {
    const sends = "sink" in Object(arm);
    const end = sends ? "push" : "pop";
    const it = (sends ? (arm as Sending).sink : arm) as Sink & Adding & Source;
    const start = () => it.waitAt(end, attempt, false);
    const bout = boutAt(it, end, `arm ${index}`, start);
    const attempt = this.#once(
      index,
      sends ? adding(it, (arm as Sending).value) : popping(it),
    );
    return { ...bout, attempt };
  }

  /** Waits until `source` is ready, and what `take` takes of it is there. */
  *#taken(
    index: number,
    source: Waitable,
    take: () => boolean = () => true,
  ): Waiting<boolean | undefined> {
    const attempt = this.#once(index, () => take() ? NOTHING : undefined);
    while (yield* source.readiness()) {
      if (attempt()) return true;
      // Another agent was faster.
    }
    return undefined;
  }

  /**
   * An attempt that is made until one arm is done. Then it ends its path, which
   * could else find its queue ready, and try again, for ever.
   */
  #once(index: number, attempt: Attempt): () => true | undefined {
    return () => {
      if (this.made !== undefined) return true;
      try {
        const box = attempt();
        if (box === undefined) return undefined;
        this.made = { index, done: false, value: box[0] };
      } catch (error) {
        if (!(error instanceof ClosedError)) throw error;
        this.made = { index, done: true, value: undefined };
      }
      return true;
    };
  }
}

/** What the kinds of sources have; each has some of it. */
interface Source {
  readonly elementSize?: number;
  /** Of a subscription: where its elements come from. */
  readonly broadcast?: { readonly elementSize: number };
  readonly autoReset?: boolean;
  waitAt?: Selectable["waitAt"];
  tryTake?(): [unknown] | undefined;
  tryPopInt?(): number | undefined;
  tryPop?(): unknown;
  tryAcquire?(): boolean;
  tryWait?(): boolean;
}

const NOTHING = [undefined] as const;

const boxed = (value: unknown): [unknown] | undefined =>
  value === undefined ? undefined : [value];

/** How to take the oldest element of a source. */
function popping(source: Source): Attempt {
  if (source.tryTake !== undefined) return () => source.tryTake!();
  const { elementSize = source.broadcast?.elementSize } = source;
  if (elementSize === 4 && source.tryPopInt !== undefined) {
    return () => boxed(source.tryPopInt!());
  }
  return () => boxed(source.tryPop!());
}

/** What the kinds of sinks have; each has some of it. */
interface Adding {
  readonly elementSize?: number;
  waitAt?: Selectable["waitAt"];
  pack?(value: unknown): () => boolean;
  tryPushInt?(value: number): boolean;
  tryPush?(value: unknown): boolean;
}

/** How to add to a sink. A message is encoded now. */
function adding(sink: Adding, value: unknown): Attempt {
  let add;
  if (sink.pack !== undefined) add = sink.pack(value);
  else if (sink.elementSize === 4 && sink.tryPushInt !== undefined) {
    add = () => sink.tryPushInt!(value as number);
  } else add = () => sink.tryPush!(value);
  return () => add() ? NOTHING : undefined;
}
