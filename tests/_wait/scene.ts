/**
 * A wait, and what others do meanwhile, as tests of all primitives show it.
 *
 * @module
 */

import { asAgent } from "../_run/model.ts";

/** How a wait is limited. */
export interface Limits {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** A wait that is about to begin. */
export interface Scene {
  /** The object whose method waits. */
  readonly on: object;
  /** The arguments before the options. */
  readonly with?: readonly unknown[];
  /** Begins the wait, if it is not a method that takes options. */
  begin?(limits: Limits): Promise<unknown>;
  /** What others do. */
  readonly steps: readonly (() => unknown)[];
  /** Gives back what the wait got, if it was served. */
  release?(got: unknown): void;
  /** What is wrong once all is over, if anything is. */
  check?(): unknown;
  /** The wait cannot end before all steps: it must lock a mutex again. */
  readonly patient?: boolean;
}

/** Waits by one method, such as `["Mutex.lockAsync"]`, or by equal ones. */
export interface Row {
  readonly waits: readonly string[];
  readonly what?: string;
  readonly scene: (method: string) => Scene;
}

export const OTHER = 7, THIRD = 8;

type Place = { buffer: SharedArrayBuffer };

/** The same primitive as another agent sees it. */
export const seenBy = <T>(
  id: number,
  Class: new (at: SharedArrayBuffer) => T,
  at: Place,
) => asAgent(id, () => new Class(at.buffer));

export const unlock = (guard: unknown) =>
  (guard as { unlock?(): void })?.unlock?.();
export const fails = () => {};
export const wrongIf = (wrong: boolean, text: string) =>
  wrong ? text : undefined;
