/**
 * The types that all files about waiting share: what a slow path yields and is
 * sent, and what the library keeps about an awaiting operation.
 *
 * @module
 */

import { setting } from "../_memory/explored.ts";

/** A sleep on `words[index]`, begun only while that word equals `value`. */
export interface Sleep {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  readonly value: number;
  /** Look again after this many ms, even if nothing happened. */
  readonly atMost?: number;
  /**
   * Whether a wake here is for all waiters: the agent then wakes its whole
   * line.
   */
  readonly all?: boolean;
  /**
   * Whether the waiter only awaits its turn: it is woken as soon as it stands
   * first in line, whatever the word is.
   */
  readonly turn?: boolean;
  /** Whether to sleep on after the operation's deadline, as a relock must. */
  readonly patient?: boolean;
}

/** How a sleep ended. */
// "looked": nothing happened during the longest sleep, so look again.
export type Woken = "ok" | "not-equal" | "looked" | "timed-out";

/** A slow path: yields sleeps, is sent their outcomes, returns its result. */
export type Waiting<T> = Generator<Sleep, T, Woken>;

/** An operation that awaits and is pending. */
export interface Waiter {
  /** Sends its path how the sleep ended. The path ends, or sleeps again. */
  readonly resume: (waiter: Waiter, woken: Woken) => void;
  readonly waiting: Waiting<unknown>;
  /** When each of its sleeps ends; once it was aborted, at once. */
  deadline: number;
  readonly resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
  readonly ref: boolean;
  readonly signal: AbortSignal | undefined;
  aborted: boolean;
  /** Whether its path runs now, and cannot be resumed. */
  stepping: boolean;
  sleep: Sleep;
  /** When to look again: the operation's deadline, or `atMost`. */
  due: number;
  /** Its place in the heap of times, while it has a time. */
  rank: number;
  /** The line it stands in, between two others. */
  line: Line | undefined;
  before: Waiter;
  behind: Waiter;
  /** The run that it is in, if it stands there by its priority. */
  run: Run | undefined;
}

/** Waiters of one priority that stand side by side. */
export interface Run {
  readonly priority: number;
  first: Waiter;
  last: Waiter;
}

/** The waiters of one line that stand there by their priorities. */
export interface Ranked {
  /** Puts the last waiter of the line where its priority belongs. */
  enter(waiter: Waiter, priority: number): void;
  /** Takes a waiter out of its run, before it leaves the line. */
  leave(waiter: Waiter): void;
}

/** The waiters of this agent on one address, in the order they came. */
export interface Line {
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly index: number;
  /**
   * An end mark, not a waiter: it stands behind the last and before the first.
   */
  readonly end: Waiter;
  /** Once a waiter stands here by its priority. */
  runs: Ranked | undefined;
  /**
   * Whether the line is being served: a waiter that sleeps here again keeps its
   * place.
   */
  serving: boolean;
  /** Whether a native wait is pending. */
  armed: boolean;
  /**
   * Whether this agent itself ended that native wait; its promise resolves
   * soon.
   */
  left: boolean;
}

/**
 * Is told that this agent is about to block on a word, and, without an index,
 * that it does not any more.
 */
type Note = (
  words: Int32Array<SharedArrayBuffer>,
  index?: number,
) => void;

/**
 * The longest sleep without a look at its word, in ms. A test sets it to longer
 * than the test, so that no look can hide a lost wake. `note` is set once the
 * agent has a name in an `AgentTable`.
 */
export const looking: { every: number; note?: Note | undefined } =
  /* @__PURE__ */ setting(
    { every: 1000 },
    // No wake is lost there, unless agents are terminated.
    { every: Infinity },
  );

/**
 * Whether this agent plays audio. It must not wait, and has no timers with
 * which it could await.
 */
export const PLAYS: boolean =
  /* @__PURE__ */ (() => "AudioWorkletProcessor" in globalThis)();

/** Whether `Atomics.wait` is allowed in this agent. */
export const MAY_BLOCK: boolean = /* @__PURE__ */ probe();

function probe(): boolean {
  if (PLAYS) return false; // Firefox would allow it
  try {
    // The word is not 1, so this returns at once or throws.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    return true;
  } catch {
    return false;
  }
}

/** What is thrown where this agent may not block; `use` is another form. */
export const cannotBlock = (use: string): TypeError =>
  new TypeError(
    PLAYS
      ? "Cannot wait in a worklet: use @weft/sync/realtime"
      : `Cannot block in this agent (such as a page's main thread): use ${use}`,
  );
