/**
 * Hands out numbered tasks to many agents, each task once.
 *
 * @module
 */

import { describe } from "./_memory/describe.ts";
import { WORK_COUNTER } from "./_memory/layout.ts";
import {
  AWAITED,
  FINISHED,
  OVER,
  ROWS,
  RUNNING,
  TARGET,
  TRACKED,
  Work,
  type WorkRange,
} from "./_lock/work_counter.ts";
import type { WordsProblems } from "./_memory/problems.ts";
import { MAX_UNITS } from "./_memory/ranges.ts";
import {
  allocate,
  assertConfig,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_memory/region.ts";
import { markOf, MAX_ROWS, rowsLength } from "./_memory/tracked.ts";
import {
  assertMayBlock,
  assertMayTry,
  type AsyncOptions,
  blockAsync,
  type TryAsyncOptions,
  tryBlockAsync,
  type Waiting,
} from "./_wait/wait.ts";
import { agentId } from "./agent.ts";

export {
  type Handle,
  type Memory,
  Printable,
  Region,
} from "./_memory/region.ts";
export type { WorkRange } from "./_lock/work_counter.ts";
export type { AsyncOptions, TryAsyncOptions } from "./_wait/wait.ts";

const MAX_TOTAL = 0x4000_0000; // 2^30
/** The largest agent id. */
const MAX_ID = 0x0fff_ffff;
const MAX_AGENTS = 65536;

/** How a counter hands out its tasks. */
export interface WorkConfig {
  /** Tasks handed out at a time by `"chunk"`, 1 to 2^30. */
  readonly chunk?: number | undefined;
  /**
   * `"single"` hands out one task at a time, and `"chunk"` hands out `chunk`
   * tasks. `"guided"` hands out ever fewer tasks: half of an agent's share of
   * what remains. Unless given, it is `"chunk"` if `chunk` is given, and
   * otherwise `"single"`.
   */
  readonly schedule?: "single" | "chunk" | "guided" | undefined;
  /** Agents that share the tasks, for `"guided"`: 1 to 2^16; 2 unless given. */
  readonly agents?: number | undefined;
  /**
   * How many agents note what they take, 1 to 255; 0, unless given, if none
   * does. Each has a row of 128 bytes. Then `abandon` tells exactly what a dead
   * agent took and had not done, and other agents get those tasks.
   */
  readonly tracked?: number | undefined;
}

/** @ignore */
export const INSPECTION: WordsInspection = {
  row: WORK_COUNTER,
  waiters: (words) => words[FINISHED] === AWAITED ? 1 : 0,
};

/** @ignore */
export const PROBLEMS: WordsProblems = {
  byteLength: (total, chunk) => bytesFor(total, chunk),
};

type RegionClass = abstract new (
  kind: "work_counter",
  words: Int32Array,
  inspection: WordsInspection,
) => Region<"work_counter">;

/**
 * A view, and `for … of` over it: it hands out task after task, as
 * {@linkcode WorkCounter.next} does, until there is none. Call `done` for each.
 *
 * @ignore
 */
export const WorkCounterBase: abstract new (
  ...args: ConstructorParameters<RegionClass>
) => Region<"work_counter"> & {
  [Symbol.iterator](): Generator<number, void, undefined>;
} = /* @__PURE__ */ handingOut(Region as unknown as RegionClass);

// A function, because bundlers keep an unused class with a computed name.
function handingOut(Base: RegionClass): typeof WorkCounterBase {
  abstract class HandingOut extends Base {
    *[Symbol.iterator](): Generator<number, void, undefined> {
      const counter = this as unknown as WorkCounter;
      for (let task; (task = counter.next()) >= 0;) yield task;
    }
  }
  return HandingOut;
}

/**
 * Hands out the numbers 0 to total - 1 to any number of agents, each number
 * once, and tells when all tasks are done.
 *
 * Sum of squares, by any number of agents:
 *
 * ```ts
 * import { WorkCounter } from "@weft/sync";
 *
 * const work = WorkCounter.create(10); // post work.handle to workers
 * let sum = 0;
 * for (const i of work) {
 *   sum += i * i;
 *   work.done();
 * }
 * work.wait(); // until the other agents' tasks are done, too
 * if (sum !== 285) throw new Error(`wrong sum ${sum}`);
 * ```
 *
 * Invariant: done <= target; `finished` is 2 once they are equal.
 * Progress: `next` and `nextRange` are wait-free (guided: lock-free). After the
 * end, `next` returns -1 for ever and `nextRange` returns `undefined`; each
 * agent passes the end in the word `next` at most once. `done` is lock-free,
 * `cancel` is wait-free; `wait`, its async form, and both with a timeout wait.
 * Tasks of a terminated agent stay undone. With `tracked`, each agent notes in
 * a row what it took and has done, and `abandon(id)` gives the others exactly
 * what is left; `next` and `nextRange` are then lock-free, and so is `cancel`.
 * Freed when: every operation of every agent has returned, and none will begin.
 * Fairness: tasks are handed out in the order of asking; all waiters go on at
 * once.
 * C twin: `weft_work_counter`. Source: Polychronopoulos and Kuck 1987 (guided
 * self-scheduling); the shared counter is older than the papers on it.
 *
 * Its words in memory:
 *
 * ```text
 * word 0   magic     Kind and layout version.
 * word 1   total     Tasks, 0 to 2^30.
 * word 2   chunk     Tasks handed out at a time. Below 0: guided, for that many
 *                    agents.
 * word 3   seal      Check word over the configuration.
 * word 4   tracked   0, or if agents note what they take:
 *                    bits 0-7    how many agents, 1 to 255
 *                    bits 8-15   the same, inverted
 *                    bits 16-31  0x5765
 * word 32  next      Chunks handed out; guided: tasks handed out. If agents are
 *                    tracked, that is in bits 8-31, and bits 0-7 are the row
 *                    that took the last of them.
 * word 64  done      Tasks done, unless agents are tracked.
 * word 65  target    Tasks to be done: all, or fewer once cancelled.
 * word 66  finished  0 running, 1 running and somebody may sleep here, 2 over.
 *                    sleepers: agents that wait for the end
 * word 67  From word 104 on, if agents are tracked, rows of 32 words. A row has
 *          the id of its agent, or 0; the units after the last range that it
 *          took; the tasks that agents of this row have done; and two ranges:
 *          the units after it, its first task, and the tasks done when it was
 *          taken. The range with the same units counts.
 * ```
 */
export class WorkCounter extends WorkCounterBase {
  readonly #work: Work;
  /** The rest of the range that this view took last. */
  readonly #range: WorkRange = { start: 0, end: 0 };

  /**
   * Attaches to the counter at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no counter of this
   * layout version was initialized there.
   * @throws {RangeError} If the counter does not fit there.
   */
  constructor(memory: Memory, byteOffset: number | bigint = 0) {
    let tracked = 0;
    const words = attach(
      "work_counter",
      WORK_COUNTER,
      memory,
      byteOffset,
      (total, chunk, head) => {
        const mark = head[TRACKED]!;
        tracked = mark & MAX_ROWS;
        if (mark !== markOf(tracked)) {
          throw new RangeError(`tracked is ${mark}`);
        }
        return bytesFor(total, chunk, tracked);
      },
    );
    super("work_counter", words, INSPECTION);
    this.#work = new Work(words, tracked, tracked && agentId());
  }

  /**
   * The bytes a counter occupies.
   *
   * @throws {TypeError} If `config` is not as described.
   * @throws {RangeError} If a number in `config` is out of range.
   */
  static byteLength(_total = 0, config?: WorkConfig): number {
    return bytesFor(0, chunkOf(config), config?.tracked);
  }

  /**
   * Allocates a counter of `total` tasks, 0 to 2^30.
   *
   * @throws {TypeError} If `total` is not a number, or `config` is not as
   * described.
   * @throws {RangeError} If `total`, or a number in `config`, is out of range.
   */
  static create(total: number, config?: WorkConfig): WorkCounter {
    const bytes = bytesFor(total, chunkOf(config), config?.tracked);
    const memory = allocate(bytes);
    return WorkCounter.init(memory, 0, total, config);
  }

  /**
   * Initializes unused memory as a counter of `total` tasks.
   *
   * @throws {TypeError} If `memory` is not shared, `total` is not a number, or
   * `config` is not as described.
   * @throws {RangeError} If the counter does not fit there, or `total`, or a
   * number in `config`, is out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number | bigint,
    total: number,
    config?: WorkConfig,
  ): WorkCounter {
    const chunk = chunkOf(config);
    const { tracked = 0 } = config ?? {};
    const bytes = bytesFor(total, chunk, tracked);
    const words = [total, chunk];
    format(
      "work_counter",
      WORK_COUNTER,
      memory,
      byteOffset,
      bytes,
      words,
      (words) => {
        words[TRACKED] = markOf(tracked);
        words[TARGET] = total;
        words[FINISHED] = total === 0 ? OVER : RUNNING;
      },
    );
    return new WorkCounter(memory, byteOffset);
  }

  /**
   * Attaches to the counter that a posted handle names.
   *
   * @throws {TypeError} If it is not a handle of this kind, or no counter is
   * there.
   */
  static from(handle: Handle<"work_counter">): WorkCounter {
    return new WorkCounter(...fromHandle("work_counter", handle));
  }

  /** Tasks that are not handed out yet. */
  get remaining(): number {
    return this.#work.remaining;
  }

  /** Tasks that are done. */
  get completed(): number {
    return this.#work.completed;
  }

  /** How many agents note what they take: what `tracked` was, or 0. */
  get tracked(): number {
    return this.#work.tracked;
  }

  /** Whether `cancel` was called before the last task was handed out. */
  get cancelled(): boolean {
    return this.#work.cancelled;
  }

  /**
   * Returns the next task, or -1 if there is none. A view takes a whole chunk
   * and hands it out task by task.
   *
   * @throws {TypeError} If the counter is tracked, and this agent must take a
   * range but has not done its last one.
   * @throws {RangeError} If all rows of a tracked counter are taken.
   */
  next(): number {
    const range = this.#range;
    if (range.start === range.end) this.#work.take(range);
    return range.start === range.end ? -1 : range.start++;
  }

  /**
   * Returns the next range of tasks, or `undefined` if there is none.
   *
   * @throws {TypeError} As `next`.
   * @throws {RangeError} As `next`.
   */
  nextRange(): WorkRange | undefined {
    const range = this.#range;
    if (range.start === range.end) this.#work.take(range);
    const { start, end } = range;
    range.start = end;
    return start === end ? undefined : { start, end };
  }

  /**
   * Counts `n` tasks as done, and wakes all waiters if they were the last.
   *
   * @throws {TypeError} If `n` is not a number.
   * @throws {RangeError} If `n` is not an integer from 0 to 2^30, or more
   * tasks would be done than there are; if the counter is tracked, than this
   * agent took.
   */
  done(n = 1): void {
    inRange("The number of done tasks", n, 0, MAX_TOTAL);
    this.#work.done(n);
  }

  /**
   * Blocks until all tasks are done; after `cancel`, until all tasks are done
   * that were handed out.
   *
   * @throws {TypeError} If this agent may not block.
   */
  wait(): void {
    assertMayBlock("wait");
    this.#work.wait(Infinity);
  }

  /**
   * Waits at most `timeout` ms; without a timeout it does not wait. Returns
   * whether all tasks are done.
   *
   * @throws {TypeError} If it would wait and this agent may not block, or if
   * `timeout` is not a number.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  tryWait(timeout = 0): boolean {
    if (timeout !== 0) assertMayTry("tryWait", timeout);
    return this.#work.wait(timeout);
  }

  /**
   * As {@linkcode WorkCounter.wait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   */
  async waitAsync(options?: AsyncOptions): Promise<void> {
    await blockAsync(() => this.#work.waitSlow(), options);
  }

  /**
   * As {@linkcode WorkCounter.tryWait}, but awaits instead of blocking.
   *
   * @throws {TypeError} If an option is unknown or of a wrong type.
   * @throws {RangeError} If the timeout is negative or NaN.
   */
  tryWaitAsync(options?: TryAsyncOptions): Promise<boolean> {
    return tryBlockAsync(() => this.#work.waitSlow(), options);
  }

  /**
   * Gives other agents the tasks that agent `id` took and has not done, if the
   * counter is tracked: `next` and `nextRange` return them once all others are
   * handed out. Call it only when that agent will never run again. Returns how
   * many tasks these are.
   *
   * @throws {TypeError} If `id` is not a number.
   * @throws {RangeError} If `id` is not in the range of agent ids.
   * @throws {DamagedError} If the words do not fit together.
   */
  abandon(id: number): number {
    return this.abandonRanges(id)
      .reduce((sum, { start, end }) => sum + end - start, 0);
  }

  /**
   * As {@linkcode WorkCounter.abandon}, but returns the ranges of these tasks.
   * The first task of a range may have been begun.
   *
   * @throws {TypeError} As `abandon`.
   * @throws {RangeError} As `abandon`.
   * @throws {DamagedError} As `abandon`.
   */
  abandonRanges(id: number): WorkRange[] {
    inRange("An agent id", id, 0, MAX_ID);
    return id === 0 ? [] : this.#work.abandon(id);
  }

  /** Hands out no more tasks. `wait` returns when the others are done. */
  cancel(): void {
    this.#work.cancel();
  }

  /** @internal */
  readiness(): Waiting<boolean> {
    return this.#work.waitSlow();
  }
}

/** The bytes of a counter, once its configuration words are checked. */
function bytesFor(total: number, chunk: number, tracked = 0): number {
  inRange("The number of tracked agents", tracked, 0, MAX_ROWS);
  const most = tracked === 0 ? MAX_TOTAL : MAX_UNITS * Math.max(chunk, 1);
  inRange("The number of tasks", total, 0, Math.min(most, MAX_TOTAL));
  if (chunk < 0) inRange("The number of agents", -chunk, 1, MAX_AGENTS);
  else inRange("A chunk", chunk, 1, MAX_TOTAL);
  const length = tracked > 0 ? ROWS + rowsLength(tracked) : WORK_COUNTER.length;
  return length * 4;
}

/** The `chunk` word: tasks at a time, or minus the agents if guided. */
function chunkOf(config: WorkConfig = {}): number {
  assertConfig("work_counter", config, [
    "chunk",
    "schedule",
    "agents",
    "tracked",
  ]);
  const { chunk, agents = 2 } = config;
  const { schedule = chunk === undefined ? "single" : "chunk" } = config;
  if (chunk !== undefined) inRange("A chunk", chunk, 1, MAX_TOTAL);
  inRange("The number of agents", agents, 1, MAX_AGENTS);
  switch (schedule) {
    case "single":
      return 1;
    case "chunk":
      return chunk ?? 1;
    case "guided":
      return -agents;
    default:
      throw new TypeError(
        `A schedule is "single", "chunk" or "guided": received ${
          describe(schedule)
        }`,
      );
  }
}
