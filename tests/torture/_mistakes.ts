/**
 * Mistakes, each of them made once in a layer above the words, and the storm
 * that must find it.
 *
 * @module
 */
import type { Edits } from "../_run/edits.ts";
import { MISTAKES_OF_CALLS } from "./_mistakes_calls.ts";
import { MISTAKES_OF_CHANNELS } from "./_mistakes_channels.ts";
import { MISTAKES_OF_GATES } from "./_mistakes_gates.ts";
import { MISTAKES_OF_POOL } from "./_mistakes_pool.ts";
import { MISTAKES_OF_SHOPS } from "./_mistakes_shop.ts";
import { MISTAKES_OF_WAITS } from "./_mistakes_waits.ts";

/** A mistake. */
export interface Mistake {
  /** The storm that finds it. */
  readonly storm:
    | "pool"
    | "calls"
    | "channels"
    | "select"
    | "locks"
    | "gates"
    | "shop";
  /** What the mistake is. */
  readonly what: string;
  /** How it is made: edits of files in `primitives/`, without `.ts`. */
  readonly edits: Readonly<Record<string, Edits>>;
  /** The first of the seeds whose plans find it. */
  readonly seed: number;
  /** What the storm says. */
  readonly says: RegExp;
  /** Set if the look each second would hide it. */
  readonly isLostWake?: boolean;
  /** The plan that finds it, if random ones would do so rarely. */
  readonly plan?: object;
  /** Where it is found, if that is not Node. */
  readonly runtime?: "deno";
}

/** Without a look each second, a sleeper whose wake is lost sleeps for ever. */
export const NO_LOOKS: Readonly<Record<string, Edits>> = {
  "_wait/waiter": "{ every: [-1000-]{+3_600_000+} },",
};

/** The mistakes. */
export const MISTAKES: readonly Mistake[] = [
  ...MISTAKES_OF_POOL,
  ...MISTAKES_OF_CALLS,
  ...MISTAKES_OF_CHANNELS,
  ...MISTAKES_OF_WAITS,
  ...MISTAKES_OF_GATES,
  ...MISTAKES_OF_SHOPS,
];
