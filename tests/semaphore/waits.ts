/**
 * Waits for permits, and what a semaphore shows.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Semaphore } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { wordsOf } from "../_run/model.ts";

const { permits, waiters, bulk, claimant, claim } = LAYOUT.semaphore;

/** How many permits a word says are free; 3 in bits 0-1: they are owed. */
const freeOf = (word: number) => (word & 3) === 3 ? -(word >>> 2) : word >>> 2;

/** What changes: free permits, and the words waiters, bulk, claimant, claim. */
export function state(semaphore: Semaphore): number[] {
  const words = wordsOf(semaphore);
  const rest = [waiters, bulk, claimant, claim].map((i) => words[i]!);
  return [freeOf(words[permits]!), ...rest];
}

/** A pending `tryAcquireAsync`. */
export interface Wait {
  n: number;
  abort: AbortController;
  result: true | false | "aborted" | undefined;
}

/** Begins one for `n` permits. */
export function wait(
  semaphore: Semaphore,
  n: number,
  timeout = Infinity,
): Wait {
  const abort = new AbortController();
  const wait: Wait = { n, abort, result: undefined };
  semaphore.tryAcquireAsync(n, { signal: abort.signal, timeout }).then(
    (result) => wait.result = result,
    (error) => {
      assert.is(error, abort.signal.reason);
      wait.result = "aborted";
    },
  );
  return wait;
}

/** How many permits were taken by waits. */
export function served(waits: Wait[]): number {
  return waits.reduce(
    (sum, { n, result }) => sum + (result === true ? n : 0),
    0,
  );
}
