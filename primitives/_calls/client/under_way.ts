/**
 * Calls that are under way, and what is said in one.
 *
 * @module
 */

import type { Outcome } from "./functions.ts";

/** The number of a call that is awaited, and how. */
export interface How {
  readonly token: number;
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly ref: boolean;
}

/** A call that was posted at `at`; or its request, if that is 0. */
export interface Begun {
  readonly token: number;
  readonly signal: AbortSignal | undefined;
  readonly at: number;
  readonly request: Uint8Array | undefined;
}

/** A call that was posted, and the promise of its result. */
export interface Pending extends How {
  readonly at: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Whether the server shall say more, of which talk; and how a function ended.
 */
export type Saying = [
  listens: number,
  talk: number,
  outcome?: Outcome | undefined,
];
