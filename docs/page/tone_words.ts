/**
 * What the page, the worker that computes the tone, and the AudioWorklet share.
 *
 * @module
 */
import type { Handle } from "@weft/sync";

/** What the worker and the worklet get. */
export interface Tone {
  readonly blocks: Handle<"spsc_queue">;
  readonly played: Handle<"striped_counter">;
  readonly underruns: Handle<"striped_counter">;
  readonly words: SharedArrayBuffer;
  readonly rate: number;
}

/** Words: the pitch in Hz, and for how many ms the worker should stop. */
export const TONE = { pitch: 0, stall: 1, idle: 2 } as const;
