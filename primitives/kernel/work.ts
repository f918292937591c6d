/**
 * What hands out work, with its hot operations in the kernel.
 *
 * @module
 */

import { WORK_COUNTER } from "../_memory/layout.ts";
import { agentId } from "../agent.ts";
import {
  type WorkConfig,
  WorkCounter as AnyWorkCounter,
  type WorkRange,
} from "../work_counter.ts";
import { type DequeConfig, WorkDeque as AnyWorkDeque } from "../work_deque.ts";
import {
  type InKernel,
  inMemory,
  isWord,
  type KernelClass,
  kernelClass,
  wordOf,
} from "./_class.ts";
import type { Kernels } from "./_functions.ts";
import { NO_VALUE } from "./_instance.ts";
import * as TEXT from "./_text.ts";

class WorkCounterInKernel extends /* @__PURE__ */ inMemory(
  "work_counter",
  TEXT.WORK_COUNTER,
  AnyWorkCounter,
) {
  readonly #total = wordOf(this, WORK_COUNTER.total);
  /**
   * How many tasks to take at a time; 0 if the class of `@weft/sync` must hand
   * them out.
   */
  readonly #chunk = this.kernel === undefined || this.tracked !== 0
    ? 0
    : Math.max(wordOf(this, WORK_COUNTER.chunk), 0); // 0 if guided
  /** The rest of the range that `next` took last. */
  #start = 0;
  #end = 0;

  override next(): number {
    const chunk = this.#chunk;
    if (chunk === 1) return this.kernel!.take(this.at); // no range to keep
    if (this.#start === this.#end && !this.#take()) {
      return chunk > 0 ? -1 : super.next();
    }
    return this.#start++;
  }

  override nextRange(): WorkRange | undefined {
    if (this.#start === this.#end && !this.#take()) {
      return this.#chunk > 0 ? undefined : super.nextRange();
    }
    const range = { start: this.#start, end: this.#end };
    this.#start = this.#end;
    return range;
  }

  override done(n = 1): void {
    if (isWord(n) && this.kernel?.done(this.at, n) === 0) return;
    super.done(n);
  }

  #take(): boolean {
    if (this.#chunk === 0) return false;
    const start = this.kernel!.take(this.at);
    if (start < 0) return false;
    this.#start = start;
    this.#end = Math.min(start + this.#chunk, this.#total);
    return true;
  }
}

/** An object of the class {@linkcode WorkCounter}. */
export interface WorkCounter extends AnyWorkCounter, InKernel {}

/**
 * A number of tasks that agents take. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const WorkCounter: KernelClass<
  WorkCounter,
  [total: number, config?: WorkConfig]
> = /* @__PURE__ */ kernelClass(WorkCounterInKernel);

class WorkDequeInKernel extends /* @__PURE__ */ inMemory(
  "work_deque",
  TEXT.WORK_DEQUE,
  AnyWorkDeque,
) {
  readonly #id = agentId();
  /** The kernel, once this agent is known to be the owner. */
  #owning: Kernels["work_deque"] | undefined;

  override push(item: number): boolean {
    const kernel = this.#owning;
    if (kernel !== undefined && isWord(item)) {
      return kernel.push(this.at, item) === 0;
    }
    const done = super.push(item);
    this.#owning = this.kernel;
    return done;
  }

  override pop(): number | undefined {
    const kernel = this.#owning;
    if (kernel === undefined) {
      const item = super.pop();
      this.#owning = this.kernel;
      return item;
    }
    const item = kernel.pop(this.at);
    return item < NO_VALUE ? item : undefined;
  }

  override steal(): number | undefined {
    const kernel = this.kernel;
    if (kernel === undefined) return super.steal();
    const item = kernel.steal(this.at);
    return item < NO_VALUE ? item : undefined;
  }

  override abandon(id: number): number {
    if (id === this.#id) this.#owning = undefined;
    return super.abandon(id);
  }
}

/** An object of the class {@linkcode WorkDeque}. */
export interface WorkDeque extends AnyWorkDeque, InKernel {}

/**
 * Items of one owner that others steal. Its hot operations run in the kernel;
 * otherwise it is the class of `@weft/sync`.
 */
export const WorkDeque: KernelClass<WorkDeque, [config: DequeConfig]> =
  /* @__PURE__ */ kernelClass(WorkDequeInKernel);
