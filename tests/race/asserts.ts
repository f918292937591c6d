/**
 * What tests of the race tester say of results.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Result } from "../../race/mod.ts";

/** A memory as words. */
export const words = (memory: SharedArrayBuffer) => new Int32Array(memory);

/** A failure of this kind was found. */
export function fails(result: Result, kind: string): void {
  assert.is(result.failure?.kind, kind, result.failure?.message);
}

/** No failure was found, and nothing was left out unless that is told. */
export function holds(result: Result, complete = true): void {
  const { failure } = result;
  assert.is(failure, undefined, `${failure?.message}\n${failure?.table}`);
  assert.is(result.complete, complete, result.summary);
}
