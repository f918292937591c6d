/**
 * Explores every interleaving of code that shares memory. Simulated agents run
 * in one thread, and every operation on shared memory is a step of a scheduler.
 * The code under test runs unmodified.
 *
 * @example A counter that is correct in every interleaving
 * ```ts
 * import { race } from "@weft/sync/race";
 *
 * const counter = race.spec({
 *   memory: () => new SharedArrayBuffer(4),
 *   agent: (memory) => new Int32Array(memory),
 *   init: 0,
 *   ops: {
 *     increment: {
 *       run: (words) => Atomics.add(words, 0, 1),
 *       model: (n) => [n + 1, n],
 *     },
 *   },
 * });
 * const result = race.check(counter, [["increment"]], [["increment"]]);
 * if (!result.ok) throw new Error(result.failure?.table);
 * ```
 *
 * @module
 */
export * as race from "./api.ts";
export type {
  AgentsDefinition,
  AgentsOptions,
  AnyAsync,
  Body,
  CallTuple,
  Outcomes,
} from "./api.ts";
export { RaceError } from "./report/error.ts";
export { type FailureKind, Unsupported } from "./engine/kinds.ts";
export {
  type Answer,
  type Call,
  Either,
  type Outcome,
  type When,
} from "./engine/model.ts";
export {
  type AssertOptions,
  type Explored,
  Generated,
  type PropertyOptions,
} from "./property.ts";
export type {
  Failure,
  Options,
  Program,
  Reduction,
  Result,
  Sampling,
} from "./report/result.ts";
export type { Coverage, Reached } from "./report/coverage.ts";
export type { Memory } from "./engine/scenario.ts";
export {
  type Arbitrary,
  type OperationSpec,
  Spec,
  type SpecDefinition,
} from "./spec.ts";
export type { StressOptions, StressResult } from "./stress.ts";
export { Wasm } from "./wasm/wasm.ts";
export type { WasmExports, WasmOptions } from "./wasm/instance.ts";
export type { WorkerScope } from "./workers.ts";
