/**
 * What a way to have tasks done is given, and what it gets ready.
 *
 * @module
 */

import type { Tasks } from "./tasks.ts";

/** The things that a way works with. */
export interface Setting {
  readonly tasks: Tasks;
  readonly messages: readonly Uint8Array[];
  /** Where the results go. */
  readonly results: Uint8Array<SharedArrayBuffer>;
  readonly workers: number;
  readonly meters: SharedArrayBuffer;
}

/** How many workers are ready. */
export interface Crew {
  /** Lets all tasks be done once. */
  run(): unknown;
  stop?(): unknown;
  /** Tasks that threads without a meter did in the last round. */
  elsewhere?(): number;
}

/** Gets workers ready. */
export type Way = (setting: Setting) => Crew | Promise<Crew>;
