/**
 * The tasks of the pools that are compared, and the functions that do them.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { codec, inPlace, task } from "../../primitives/pool.ts";

/** Their declarations. */
export const tasks = {
  /** About a microsecond of work. */
  small: task({ request: codec.f64, reply: codec.f64 }),
  hash: task({ request: inPlace, reply: codec.binary }),
  /** The length of a text. */
  text: task<string, number>(),
  add: task<{ a: number; b: number }, number>(),
};

/** About how many steps of spinning take a microsecond. */
export const STEPS = 330;

/** What a worker does, whosever it is. */
export const functions = {
  small(steps: number): number {
    let x = steps;
    for (let i = 0; i < steps; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    return x;
  },
  hash: (bytes: Uint8Array): Uint8Array =>
    createHash("sha256").update(bytes).digest(),
  text: (text: string): number => text.length,
  add: ({ a, b }: { a: number; b: number }): number => a + b,
};
