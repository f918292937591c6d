/**
 * What a function of a worker is told about its task: whether it is given up,
 * and the messages from and to where it was submitted.
 *
 * @module
 */

import { describe } from "../../_memory/describe.ts";
import { assertFunction } from "../../_memory/region.ts";
import type { Watched, Watches } from "../../_calls/watch.ts";

/**
 * What a function of a worker is told about its task. It may take it apart:
 * `({ signal, report }) => …`.
 */
export interface TaskContext {
  /** The name of the task. */
  readonly name: string;
  /**
   * Aborts when nobody waits for the result any more: the signal of the task
   * aborted, its time was over, or the pool was closed at once. `aborted` is up
   * to date in a function that never awaits, too.
   */
  readonly signal: AbortSignal;
  /**
   * Tells whoever has submitted the task, by its `onReport`, how far it is:
   * anything that a message carries. Nothing happens if nobody wants to know.
   */
  readonly report: (value: unknown) => void;
  /**
   * Calls `listener` with each message that the task's handle sends, those that
   * have come included. No message comes once the task is given up: a function
   * that awaits one heeds {@linkcode TaskContext.signal}, too.
   *
   * @throws {TypeError} If `listener` is no function, or the worker blocks: it
   * receives no messages.
   */
  // deno-lint-ignore no-explicit-any -- whatever the handle sends
  readonly listen: (listener: (message: any) => void) => void;
}

/** The error of a task that would need a message. */
export const cannotHear = (name: string, what: string): TypeError =>
  new TypeError(
    `Task ${describe(name)} cannot ${what}: ` +
      "a worker that blocks receives no messages",
  );

/** The {@linkcode TaskContext} of the task in one slot. */
export class Context implements TaskContext {
  readonly name: string;
  readonly #at: number;
  readonly #watches: Watches;
  #watched: Watched | undefined;
  #over = false;
  readonly #hears: boolean;
  readonly #post: ((value: unknown) => void) | undefined;
  /** Whether it has reported, so that its result comes behind the reports. */
  reported = false;
  #listener: ((message: never) => void) | undefined;
  #kept: unknown[] = [];

  /** `post` sends a report, if anybody wants one. */
  constructor(
    name: string,
    at: number,
    watches: Watches,
    hears: boolean,
    post?: (value: unknown) => void,
  ) {
    this.name = name;
    this.#hears = hears;
    this.#post = post;
    this.#at = at;
    this.#watches = watches;
  }

  get signal(): AbortSignal {
    let watched = this.#watched;
    if (watched === undefined) {
      watched = this.#watched = this.#watches.begin(this.#at);
      if (this.#over) this.#watches.end(watched); // the slot is another task's
      else this.#watches.lookOut();
    }
    return watched.control.signal;
  }

  get report(): TaskContext["report"] {
    return (value) => {
      if (this.#post === undefined) return;
      this.#post(value);
      this.reported = true;
    };
  }

  get listen(): TaskContext["listen"] {
    return (listener) => {
      assertFunction(listener);
      if (!this.#hears) throw cannotHear(this.name, "listen");
      this.#listener = listener;
      for (const message of this.#kept.splice(0)) this.hear(message);
    };
  }

  /** Takes a message of the task's handle. */
  hear(message: unknown): void {
    if (this.#listener === undefined) this.#kept.push(message);
    else this.#listener(message as never);
  }

  end(): void {
    this.#over = true;
    this.#watches.end(this.#watched);
  }
}
