/**
 * Iterators that stay where they are served, as their callers see them.
 *
 * @module
 */

import { describe } from "../_memory/describe.ts";
import { errorText, isError } from "../_message/thrown.ts";
import type { Invoke } from "./remote.ts";

/** The last value of an iterator. */
export class Done {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** The steps of an iterator; each is a call. */
export interface Steps {
  readonly next: Invoke;
  readonly return: Invoke;
  readonly throw: Invoke;
  /** It has ended, so it need not be released. */
  over(): void;
  /** A step has failed, perhaps because the iterator did. */
  failed(error: unknown): void;
}

type Result = IteratorResult<unknown, unknown>;

function resultOf(steps: Steps, value: unknown): Result {
  if (!(value instanceof Done)) return { done: false, value };
  steps.over();
  return { done: true, value: value.value };
}

/** An error goes as a text, which each codec carries. */
const argsOf = (error: unknown): unknown[] =>
  isError(error) ? [true, errorText(error)] : [false, error];

const given = (value: unknown): unknown[] => value === undefined ? [] : [value];

/** What stands for an iterator. Each step is a call, one at a time. */
export class RemoteIterator implements AsyncIterableIterator<unknown, unknown> {
  readonly #steps: Steps;
  /** The step that is under way, and all that wait for it. */
  #last: Promise<unknown> | undefined;
  #over = false;

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  next(value?: unknown): Promise<Result> {
    return this.#step(this.#steps.next, given(value));
  }

  return(value?: unknown): Promise<Result> {
    return this.#step(this.#steps.return, given(value), { done: true, value });
  }

  throw(error?: unknown): Promise<Result> {
    return this.#step(this.#steps.throw, argsOf(error), error);
  }

  #step(invoke: Invoke, args: unknown[], late?: unknown): Promise<Result> {
    const step = async (): Promise<Result> => {
      if (this.#over) {
        if (invoke === this.#steps.throw) throw late;
        return (late ?? { done: true, value: undefined }) as Result;
      }
      try {
        const result = resultOf(this.#steps, await invoke(args));
        if (result.done) this.#over = true;
        return result;
      } catch (error) {
        this.#over = true;
        this.#steps.failed(error);
        throw error;
      }
    };
    const result = this.#last === undefined ? step() : this.#last.then(step);
    const last = result.then(() => {}, () => {}).then(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
    return result;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

/** The same for an agent that blocks. */
export function* blockingIterator(
  steps: Steps,
): Generator<unknown, unknown, unknown> {
  let over = true; // if a step throws
  let args: unknown[] = [];
  try {
    for (;;) {
      const result = resultOf(steps, stepNow(steps, args));
      if (result.done) return result.value;
      over = false;
      args = given(yield result.value);
      over = true;
    }
  } finally {
    if (!over) resultOf(steps, steps.return([]));
  }
}

function stepNow(steps: Steps, args: unknown[]): unknown {
  try {
    return steps.next(args);
  } catch (error) {
    steps.failed(error);
    throw error;
  }
}

type Iterated = Partial<AsyncIterable<unknown> & Iterable<unknown>>;

/** A promise that may be one of an iterator. */
type AnyPromise = Promise<unknown> & Partial<AsyncIterable<unknown>>;

/** `for await` takes the promise of an iterator for the iterator. */
export function iterable(promise: Promise<unknown>): Promise<unknown> {
  (promise as AnyPromise)[Symbol.asyncIterator] = iterateLater;
  return promise;
}

/** Iterates what a promise will give. `this` is the promise. */
function iterateLater(
  this: Promise<unknown>,
): AsyncIterableIterator<unknown, unknown> {
  let opened: Promise<AsyncIterator<unknown, unknown>> | undefined;
  const open = () => opened ??= this.then(asyncIteratorOf);
  return {
    next: (value) => open().then((it) => it.next(value)),
    return: (value) =>
      open().then((it) => it.return?.(value) ?? { done: true, value }),
    throw: (error) =>
      open().then((it) => {
        if (it.throw === undefined) throw error;
        return it.throw(error);
      }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function asyncIteratorOf(value: unknown): AsyncIterator<unknown, unknown> {
  const iterated = (value ?? {}) as Iterated;
  const there = iterated[Symbol.asyncIterator]?.();
  if (there !== undefined) return there;
  const list = iterated[Symbol.iterator]?.();
  if (list === undefined) {
    throw new TypeError(
      `The method must return an iterator here: received ${describe(value)}`,
    );
  }
  return {
    next: () => Promise.resolve(list.next()),
    return: () => Promise.resolve(list.return?.() ?? doneOf()),
  };
}

const doneOf = (): Result => ({ done: true, value: undefined });
