/**
 * The tasks for the pools, and the function that does one.
 *
 * @module
 */

import { createHash, randomFillSync } from "node:crypto";
import { codec, task } from "../../../primitives/pool.ts";

/** The kinds of tasks; `hash` is SHA-256, the others spin. */
export type Kind = "hash" | "small" | "medium" | "skewed";

/** Bytes of a result. */
export const RESULT = 32;

/** The work to be done. */
export interface Tasks {
  readonly kind: Kind;
  readonly count: number;
  /** Bytes a task has. */
  readonly size: number;
}

/** A request as it lies in the pool's memory. */
const view = { ...codec.binary, decode: (bytes: Uint8Array) => bytes };

/** The tasks as a pool knows them. */
export const pooled = {
  solve: task({ request: view, reply: codec.binary }),
};

/** About how many steps of spinning take a microsecond. */
const STEPS = 330;

/** The messages, one for each task; all but the small ones are random. */
export function messagesOf({ kind, count, size }: Tasks): Uint8Array[] {
  const bytes = new Uint8Array(count * size);
  const part = 2 ** 28;
  for (let at = 0; kind === "hash" && at < bytes.length; at += part) {
    randomFillSync(bytes.subarray(at, at + part));
  }
  const words = new Int32Array(bytes.buffer);
  for (let i = 0; kind !== "hash" && i < count; i++) words[i] = steps(kind, i);
  return Array.from(
    { length: count },
    (_, i) => bytes.subarray(i * size, (i + 1) * size),
  );
}

/**
 * How often task `i` spins. No two tasks spin equally often, so that their
 * results differ.
 */
function steps(kind: Kind, i: number): number {
  if (kind === "small") return STEPS + i % 64;
  if (kind === "medium") return 50 * STEPS + i % 64;
  return i % 64 === 63 ? 2000 * STEPS + i : 20 * STEPS + i % 63;
}

/** Does a task: 32 bytes, or 4. */
export function solve(kind: Kind, message: Uint8Array): Uint8Array {
  if (kind === "hash") return createHash("sha256").update(message).digest();
  const steps = new Int32Array(message.buffer, message.byteOffset, 1)[0]!;
  return new Uint8Array(Int32Array.of(spin(steps)).buffer);
}

function spin(steps: number): number {
  let x = steps;
  for (let i = 0; i < steps; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  return x;
}
