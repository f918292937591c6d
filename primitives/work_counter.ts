/**
 * Hands out numbered tasks, each once.
 *
 * @module
 */

import { WORK_COUNTER } from "./_layout.ts";
import {
  allocate,
  attach,
  format,
  fromHandle,
  type Handle,
  inRange,
  type Memory,
  Region,
  type WordsInspection,
} from "./_region.ts";
import { relax, spinning } from "./_spin.ts";
import {
  assertMayBlock,
  assertTimeout,
  type AsyncOptions,
  block,
  blockAsync,
  type Waiting,
} from "./_wait.ts";

export { type Handle, type Memory, Region } from "./_region.ts";
export type { AsyncOptions } from "./_wait.ts";

const TOTAL = WORK_COUNTER.total;
const CHUNK = WORK_COUNTER.chunk;
const NEXT = WORK_COUNTER.next;
const DONE = WORK_COUNTER.done;
const TARGET = WORK_COUNTER.target;
const FINISHED = WORK_COUNTER.finished;

const MAX_TOTAL = 2 ** 30;
const MAX_AGENTS = 2 ** 16;

/** The states of `finished`. */
const RUNNING = 0, AWAITED = 1, OVER = 2;

/** How a counter hands out its work. */
export interface WorkConfig {
  /** Tasks handed out at a time by `"chunk"`, 1 to 2^30. */
  readonly chunk?: number;
  /**
   * `"single"`: one task at a time; `"chunk"`: `chunk` tasks; `"guided"`:
   * ever fewer, half an agent's share of what remains. `"chunk"` if `chunk`
   * is given, else `"single"`.
   */
  readonly schedule?: "single" | "chunk" | "guided";
  /** Agents that share the work, for `"guided"`, 1 to 2^16; 2 unless given. */
  readonly agents?: number;
}

/** Tasks from `start` up to, but not with, `end`. */
export interface WorkRange {
  /** The first task. */
  start: number;
  /** The task behind the last. */
  end: number;
}

/**
 * What can be told of a counter.
 *
 * @ignore
 */
export const INSPECTION: WordsInspection = {
  row: WORK_COUNTER,
  waiters: (words) => words[FINISHED] === AWAITED ? 1 : 0,
};

/**
 * Hands out the numbers 0 to total - 1 to any number of agents, each once, and
 * tells when all are done.
 *
 * ```text
 * word 0   magic     Kind and layout version.
 * word 1   total     Tasks, 0 to 2^30.
 * word 2   chunk     Tasks handed out at a time. Below 0: guided, for so many
 *                    agents.
 * word 3   seal      Check word over the configuration.
 * word 32  next      Chunks handed out; guided: tasks handed out.
 * word 64  done      Tasks done.
 * word 65  target    Tasks to be done: all, or fewer once cancelled.
 * word 66  finished  0 running, 1 running and somebody may sleep here, 2 over.
 *                    sleepers: agents that wait for the end
 * ```
 *
 * Invariant: done <= target; finished is over once they are equal.
 * Progress: `next` and `nextRange` are wait-free (guided: lock-free), and
 * answer "none" for ever after the end: `next` passes it at most once an
 * agent. `done` is lock-free, `cancel` wait-free; `wait` blocks. Tasks of an
 * agent that was terminated stay undone: whoever knows of it does them, or
 * counts them by `done`.
 * Fairness: who asks first is handed the next; all who wait go on at once.
 * C twin: `weft_work_counter`. Source: Polychronopoulos and Kuck 1987 (guided
 * self-scheduling); the shared counter is older than its papers.
 *
 * @example Sum of squares, by any number of agents
 * ```ts
 * import { WorkCounter } from "@weft/sync";
 *
 * const work = WorkCounter.create(10); // post work.handle to workers
 * let sum = 0;
 * for (let i; (i = work.next()) >= 0; work.done()) sum += i * i;
 * if (!work.wait() || sum !== 285) throw new Error(`wrong sum ${sum}`);
 * ```
 */
export class WorkCounter extends Region<"work_counter"> {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #total: number;
  readonly #chunk: number;
  /** What `next` has left of the range it took last. */
  #start = 0;
  #end = 0;

  /**
   * Attaches to the counter at `byteOffset`; writes nothing.
   *
   * @throws {TypeError} If `memory` is not shared, or no counter of this
   * layout version was initialized there.
   * @throws {RangeError} If it does not fit there.
   */
  constructor(memory: Memory, byteOffset = 0) {
    const bytes = WorkCounter.byteLength();
    const words = attach(
      "work_counter",
      WORK_COUNTER,
      memory,
      byteOffset,
      () => bytes,
    );
    super("work_counter", words, INSPECTION);
    this.#words = words;
    this.#total = words[TOTAL]!;
    this.#chunk = words[CHUNK]!;
  }

  /** The bytes a counter occupies. */
  static byteLength(): number {
    return WORK_COUNTER.length * 4;
  }

  /**
   * Allocates a counter of `total` tasks, 0 to 2^30.
   *
   * @throws {TypeError} If there is no such schedule.
   * @throws {RangeError} If `total` or `config` is out of range.
   */
  static create(total: number, config?: WorkConfig): WorkCounter {
    const memory = allocate(WorkCounter.byteLength());
    return WorkCounter.init(memory, 0, total, config);
  }

  /**
   * Makes a region that nobody uses yet a counter of `total` tasks.
   *
   * @throws {TypeError} If `memory` is not shared, or there is no such
   * schedule.
   * @throws {RangeError} If it does not fit there, or `total` or `config` is
   * out of range.
   */
  static init(
    memory: Memory,
    byteOffset: number,
    total: number,
    config: WorkConfig = {},
  ): WorkCounter {
    inRange("The number of tasks", total, 0, MAX_TOTAL);
    const bytes = WorkCounter.byteLength();
    const words = [total, chunkOf(config)];
    format(
      "work_counter",
      WORK_COUNTER,
      memory,
      byteOffset,
      bytes,
      words,
      (words) => {
        words[TARGET] = total;
        words[FINISHED] = total === 0 ? OVER : RUNNING;
      },
    );
    return new WorkCounter(memory, byteOffset);
  }

  /**
   * Attaches to the counter a message brought.
   *
   * @throws {TypeError} If it is of another kind, or none is there.
   */
  static from(handle: Handle): WorkCounter {
    return new WorkCounter(...fromHandle("work_counter", handle));
  }

  /** Tasks not handed out yet. */
  get remaining(): number {
    return this.#total - this.#handedOut(Atomics.load(this.#words, NEXT));
  }

  /** Tasks that are done. */
  get completed(): number {
    return Atomics.load(this.#words, DONE);
  }

  /** Whether `cancel` came before the last task was handed out. */
  get cancelled(): boolean {
    return Atomics.load(this.#words, TARGET) < this.#total;
  }

  /**
   * The next task of this view, or -1 when there is none. A chunk is handed
   * out to the view, task by task.
   */
  next(): number {
    if (this.#start === this.#end) this.#take();
    return this.#start === this.#end ? -1 : this.#start++;
  }

  /** The next tasks, or undefined when there are none. */
  nextRange(): WorkRange | undefined {
    if (this.#start === this.#end) this.#take();
    const start = this.#start;
    const end = this.#end;
    this.#start = end;
    return start === end ? undefined : { start, end };
  }

  /**
   * Counts `n` tasks as done, and wakes who waits if they were the last.
   *
   * @throws {RangeError} If `n` is not an integer from 0 to 2^30, or more
   * tasks would be done than there are.
   */
  done(n = 1): void {
    inRange("Tasks done", n, 0, MAX_TOTAL);
    const words = this.#words;
    let done = words[DONE]!; // a hint: the exchange below checks it
    for (;;) {
      // `done` only grows and `target` only falls: old ones refuse too little.
      if (done + n > words[TARGET]!) {
        throw new RangeError(
          `Cannot count ${n} tasks as done: ${done} of ${words[TARGET]} are`,
        );
      }
      const seen = Atomics.compareExchange(words, DONE, done, done + n);
      if (seen === done) break;
      done = seen;
    }
    // (T) Pairs with (C): we see the lower target, or `cancel` sees our tasks.
    if (done + n >= Atomics.load(words, TARGET)) this.#finish();
  }

  /**
   * Blocks until all tasks are done (after `cancel`: all that were handed
   * out), up to `timeout` ms; false if that time passed.
   *
   * @throws {TypeError} If this agent may not block.
   * @throws {RangeError} If `timeout` is negative or NaN.
   */
  wait(timeout = Infinity): boolean {
    assertMayBlock("wait");
    if (timeout !== Infinity) assertTimeout(timeout);
    for (let i = timeout > 0 ? spinning.rounds : 0;; i--) {
      if (Atomics.load(this.#words, FINISHED) === OVER) return true;
      if (i === 0) return block(this.#waitSlow(), timeout);
      relax();
    }
  }

  /** As {@linkcode wait}, awaiting instead of blocking. */
  waitAsync(options?: AsyncOptions): Promise<boolean> {
    return blockAsync(() => this.#waitSlow(), options);
  }

  /** Hands out no more tasks; `wait` ends when those handed out are done. */
  cancel(): void {
    const words = this.#words;
    const end = this.#endOfNext();
    const was = Atomics.exchange(words, NEXT, end);
    if ((was >>> 0) >= end) return;
    const target = this.#handedOut(was);
    Atomics.store(words, TARGET, target); // (C) then look at what is done
    if (Atomics.load(words, DONE) >= target) this.#finish();
  }

  /** Takes the next range for this view, if there is one. */
  #take(): void {
    const words = this.#words;
    const total = this.#total;
    const chunk = this.#chunk;
    if (chunk < 0) return this.#takeGuided(-chunk);
    // What we passed the end by, we see: no agent passes it twice.
    if ((words[NEXT]! >>> 0) * chunk >= total) return;
    const start = (Atomics.add(words, NEXT, 1) >>> 0) * chunk;
    if (start >= total) return;
    this.#start = start;
    this.#end = Math.min(start + chunk, total);
  }

  #takeGuided(agents: number): void {
    const words = this.#words;
    const total = this.#total;
    let next = words[NEXT]!; // a hint: the exchange below checks it
    while (next < total) {
      const start = next;
      const share = Math.floor((total - start) / (2 * agents));
      const end = start + Math.max(share, 1);
      next = Atomics.compareExchange(words, NEXT, start, end);
      if (next !== start) continue;
      this.#start = start;
      this.#end = end;
      return;
    }
  }

  /** What `next` is when nothing is left. */
  #endOfNext(): number {
    const chunk = this.#chunk;
    return chunk < 0 ? this.#total : Math.ceil(this.#total / chunk);
  }

  /** Tasks handed out when `next` is this. */
  #handedOut(next: number): number {
    const step = Math.max(this.#chunk, 1);
    return Math.min((next >>> 0) * step, this.#total);
  }

  #finish(): void {
    const words = this.#words;
    const was = Atomics.exchange(words, FINISHED, OVER);
    if (was === AWAITED) Atomics.notify(words, FINISHED);
  }

  /**
   * Waits as `wait` does.
   *
   * @internal
   */
  readiness(): Waiting<boolean> {
    return this.#waitSlow();
  }

  *#waitSlow(): Waiting<boolean> {
    const words = this.#words;
    for (;;) {
      // Who did the last task may have been terminated before it said so.
      if (Atomics.load(words, DONE) >= Atomics.load(words, TARGET)) {
        this.#finish();
      }
      const was = Atomics.compareExchange(words, FINISHED, RUNNING, AWAITED);
      if (was === OVER) return true;
      const outcome = yield { words, index: FINISHED, value: AWAITED };
      if (outcome === "timed-out") {
        return Atomics.load(words, FINISHED) === OVER;
      }
    }
  }
}

/** The `chunk` word: tasks at a time, or minus the agents if guided. */
function chunkOf({ chunk, schedule, agents = 2 }: WorkConfig): number {
  if (chunk !== undefined) inRange("A chunk", chunk, 1, MAX_TOTAL);
  inRange("The number of agents", agents, 1, MAX_AGENTS);
  switch (schedule ?? (chunk === undefined ? "single" : "chunk")) {
    case "single":
      return 1;
    case "chunk":
      return chunk ?? 1;
    case "guided":
      return -agents;
    default:
      throw new TypeError(
        `A schedule is "single", "chunk" or "guided": received ${schedule}`,
      );
  }
}
