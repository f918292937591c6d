/**
 * The words that a worker and the thread that blocks on it share beside their
 * ring: whether the worker has begun to serve, whether it has written output,
 * and why it has ended.
 *
 * @module
 */

import { errorOf, textsOf } from "../_message/thrown.ts";
import { readUtf8, writeUtf8 } from "../_message/utf8.ts";
import { deadlineAfter } from "../_wait/times.ts";
import { sleepUntil } from "../_wait/wait.ts";

/** Counts the pieces of output that the worker has sent. */
const OUTPUT = 0;
/** The bytes of the text that says why it has ended; 0 if it has not. */
const LENGTH = 1;
/** 1 once the worker serves. */
const BEGUN = 2;
const HEAD = 12;
/** The most bytes of that text. */
const ROOM = 8192;

/** How long a worker that a function makes may take to begin, in ms. */
export const starting = { patience: 30_000 };

/** The words of one worker. */
export class LastWords {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #text: Uint8Array<SharedArrayBuffer>;

  /** Views them. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD + ROOM)) {
    this.#words = new Int32Array(memory, 0, 3);
    this.#text = new Uint8Array(memory, HEAD);
  }

  /** Their memory, for the worker. */
  get memory(): SharedArrayBuffer {
    return this.#words.buffer;
  }

  /** The worker serves. */
  begin(): void {
    Atomics.store(this.#words, BEGUN, 1);
    Atomics.notify(this.#words, BEGUN);
  }

  /** Blocks until the worker serves; false if it does not soon. */
  awaitBegin(): boolean {
    const sleep = { words: this.#words, index: BEGUN, value: 0 };
    const deadline = deadlineAfter(starting.patience);
    let woken;
    while (Atomics.load(this.#words, BEGUN) === 0) {
      if (woken === "timed-out") return false;
      woken = sleepUntil(sleep, deadline);
    }
    return true;
  }

  /** How many pieces of output were sent so far. */
  get output(): number {
    return Atomics.load(this.#words, OUTPUT);
  }

  /** A piece of output was sent. */
  addOutput(): void {
    Atomics.add(this.#words, OUTPUT, 1);
  }

  /** Says why the worker ends; the first reason stays. */
  say(error: Error): void {
    if (Atomics.load(this.#words, LENGTH) !== 0) return;
    for (const text of textsOf(error)) {
      const length = writeUtf8(text, this.#text);
      if (length > ROOM) continue;
      return void Atomics.store(this.#words, LENGTH, length);
    }
  }

  /** Why the worker has ended; undefined if it has not said so. */
  get error(): Error | undefined {
    const length = Atomics.load(this.#words, LENGTH);
    if (length <= 0 || length > ROOM) return undefined;
    return errorOf(readUtf8(this.#text.slice(0, length)));
  }
}
