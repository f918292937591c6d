/**
 * Iteration with `for await`. An async generator takes several microtasks for
 * each value; this takes one if the value is there already, and it lets the
 * event loop run as all awaiting here does.
 *
 * @module
 */

import { ASYNC, type AsyncOptions, readOptions } from "../_memory/options.ts";
import { offAbort, onAbort } from "./aborts.ts";
import { nextTurn } from "./turn.ts";

/** The source of an iterator's values. */
interface Source<T> {
  /** Takes the next value without waiting; undefined if there is none yet. */
  take(): T | undefined;
  /** Awaits the next value, until the signal of the options aborts. */
  takeAsync(options: AsyncOptions): Promise<T>;
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
  const { signal, ref } = readOptions(options, ASYNC, Infinity);
  return new Iteration(source, signal, ref);
}

type Result<T> = IteratorResult<T, void>;

const done = (): Result<never> => ({ done: true, value: undefined });

/** What `aborts.ts` adds to a signal. */
interface Listener {
  handleEvent(): void;
}

/**
 * The signal of an iterator's waits, which costs less than an AbortController.
 * It has what waits use, and one listener serves all of its waits.
 */
class End {
  aborted = false;
  reason: unknown;
  #listener: Listener | undefined;

  addEventListener(_: "abort", listener: Listener): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  abort(reason: unknown): void {
    this.aborted = true;
    this.reason = reason;
    this.#listener?.handleEvent();
  }
}

/** Why the waits of an iterator end that nobody goes on with. */
const LEFT = Symbol("left");

class Iteration<T> implements AsyncGenerator<T, void, void> {
  #source: Source<T> | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #options: AsyncOptions;
  readonly #ending = new End();
  /** How many calls of `next` await a value. */
  #awaiting = 0;

  constructor(
    source: Source<T>,
    signal: AbortSignal | undefined,
    ref: boolean,
  ) {
    this.#source = source;
    this.#signal = signal;
    const ending = this.#ending as unknown as AbortSignal;
    this.#options = { signal: ending, ref };
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
    if (value === undefined) return this.#nextAsync(source);
    const result: Result<T> = { done: false, value };
    const turn = nextTurn();
    return turn === undefined
      ? Promise.resolve(result)
      : turn.then(() => result);
  }

  #nextAsync(source: Source<T>): Promise<Result<T>> {
    this.#awaiting++;
    const signal = this.#signal;
    if (signal !== undefined) onAbort(signal, this, Iteration.#abort);
    return source.takeAsync(this.#options).then((value): Result<T> => {
      this.#leave();
      return { done: false, value };
    }, (error) => {
      this.#leave();
      return error === LEFT ? done() : this.#end(source, error);
    });
  }

  #leave(): void {
    const signal = this.#signal;
    if (--this.#awaiting > 0 || signal === undefined) return;
    offAbort(signal, this);
  }

  static #abort(it: Iteration<unknown>): void {
    it.#ending.abort(it.#signal!.reason);
  }

  #end(source: Source<T>, error: unknown): Promise<Result<T>> {
    return source.isEnd(error) ? this.return() : this.throw(error);
  }

  /** Ends the calls of `next` that await a value: they would take it. */
  #stop(): void {
    this.#source = undefined;
    if (this.#awaiting > 0) this.#ending.abort(LEFT);
  }

  return(): Promise<Result<T>> {
    this.#stop();
    return Promise.resolve(done());
  }

  throw(error: unknown): Promise<Result<T>> {
    this.#stop();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
