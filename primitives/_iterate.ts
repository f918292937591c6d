/**
 * Iteration with `for await`. An async generator takes several microtasks for
 * each value; this takes one if the value is there already, and it lets the
 * event loop run as all awaiting here does.
 *
 * @module
 */

import { nextTurn } from "./_turn.ts";

/** The source of an iterator's values. */
export interface Source<T> {
  /** Takes the next value without waiting; undefined if there is none yet. */
  take(): T | undefined;
  /** Awaits the next value. */
  takeAsync(): Promise<T>;
  /** Whether `error`, which one of the two methods threw, means the end. */
  isEnd(error: unknown): boolean;
}

/** Yields the values of `source` one by one, until its end. */
export function iterate<T>(source: Source<T>): AsyncGenerator<T, void, void> {
  return new Iteration(source);
}

type Result<T> = IteratorResult<T, void>;

const done = (): Result<never> => ({ done: true, value: undefined });

class Iteration<T> implements AsyncGenerator<T, void, void> {
  #source: Source<T> | undefined;

  constructor(source: Source<T>) {
    this.#source = source;
  }

  next(): Promise<Result<T>> {
    const source = this.#source;
    if (source === undefined) return Promise.resolve(done());
    let value;
    try {
      value = source.take();
    } catch (error) {
      return this.#end(source, error);
    }
    if (value === undefined) {
      return source.takeAsync().then(
        (value): Result<T> => ({ done: false, value }),
        (error) => this.#end(source, error),
      );
    }
    const result: Result<T> = { done: false, value };
    const turn = nextTurn();
    return turn === undefined
      ? Promise.resolve(result)
      : turn.then(() => result);
  }

  #end(source: Source<T>, error: unknown): Promise<Result<T>> {
    this.#source = undefined;
    return source.isEnd(error)
      ? Promise.resolve(done())
      : Promise.reject(error);
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
