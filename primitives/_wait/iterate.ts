/**
 * Iteration with `for await`. An async generator takes several microtasks for
 * each value; this takes one if the value is there already, and it lets the
 * event loop run as all awaiting here does.
 *
 * @module
 */

import { ASYNC, type AsyncOptions, readOptions } from "../_memory/options.ts";
import { nextTurn } from "./turn.ts";

/** The source of an iterator's values. */
export interface Source<T> {
  /** Takes the next value without waiting; undefined if there is none yet. */
  take(): T | undefined;
  /** Awaits the next value. */
  takeAsync(): Promise<T>;
  /** Whether `error`, which one of the two methods threw, means the end. */
  isEnd(error: unknown): boolean;
}

/**
 * Yields the values of `source` one by one, until its end, or until the signal
 * of `options` aborts.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type.
 */
export function iterate<T>(
  source: Source<T>,
  options?: AsyncOptions,
): AsyncGenerator<T, void, void> {
  const { signal } = readOptions(options, ASYNC, Infinity);
  return new Iteration(source, signal);
}

type Result<T> = IteratorResult<T, void>;

const done = (): Result<never> => ({ done: true, value: undefined });

class Iteration<T> implements AsyncGenerator<T, void, void> {
  #source: Source<T> | undefined;
  readonly #signal: AbortSignal | undefined;
  /** How many calls of `next` await a value. */
  #awaiting = 0;

  constructor(source: Source<T>, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  next(): Promise<Result<T>> {
    const source = this.#source;
    if (source === undefined) return this.return();
    let value;
    try {
      this.#signal?.throwIfAborted();
      // Calls that began before come first.
      if (this.#awaiting === 0) value = source.take();
    } catch (error) {
      return this.#end(source, error);
    }
    if (value === undefined) {
      this.#awaiting++;
      return source.takeAsync().then((value): Result<T> => {
        this.#awaiting--;
        return { done: false, value };
      }, (error) => {
        this.#awaiting--;
        return this.#end(source, error);
      });
    }
    const result: Result<T> = { done: false, value };
    const turn = nextTurn();
    return turn === undefined
      ? Promise.resolve(result)
      : turn.then(() => result);
  }

  #end(source: Source<T>, error: unknown): Promise<Result<T>> {
    return source.isEnd(error) ? this.return() : this.throw(error);
  }

  return(): Promise<Result<T>> {
    this.#source = undefined;
    return Promise.resolve(done());
  }

  throw(error: unknown): Promise<Result<T>> {
    this.#source = undefined;
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
