/**
 * What the page and a worker that pushes or pops share.
 *
 * @module
 */
import type { Handle } from "@weft/sync";

/** What a worker gets. */
export interface Push {
  readonly kind: "mpmc" | "free";
  readonly queue: Handle;
  readonly words: SharedArrayBuffer;
  readonly pops: boolean;
}

/** The words that the page reads. */
export const WORD = {
  pushed: 0,
  popped: 1,
  hold: 2,
  held: 3,
  idle: 4,
} as const;
