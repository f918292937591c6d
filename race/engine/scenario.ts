/**
 * A specification in the form that the engine needs: checked and complete.
 *
 * @module
 */
import type { Model } from "./model.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

/** Memory that agents share; it may be a `WebAssembly.Memory`. */
export type Memory =
  | SharedArrayBuffer
  // The types of a program for Node alone have no name `WebAssembly`.
  | (typeof globalThis extends {
    WebAssembly: { Memory: { prototype: infer Wasm extends object } };
  } ? Wasm
    : { readonly buffer: ArrayBufferLike; grow(delta: number): number });

/**
 * Whether agents may read a word plainly beside atomic writes; "written" if
 * beside plain writes, too.
 */
export type Hinted = boolean | "written";

/** One operation. */
export interface Operation {
  run(handle: Any, arg: Any, id: number): unknown;
  /**
   * Stands for what it does and how it is judged: the same object for the same
   * thing. `null` if that depends on the agent.
   */
  readonly same: unknown;
  readonly lockFree: boolean;
}

/** What the engine explores, apart from the program. */
export interface Scenario {
  memory(): Memory;
  agent(memory: Any, id: number): Any;
  readonly operations: ReadonlyMap<string, Operation>;
  readonly model: Model | null;
  /** Checks the memory; returns what is wrong, if anything. */
  readonly invariant: ((memory: Any) => unknown) | null;
  readonly final: ((memory: Any, results: unknown[][]) => unknown) | null;
  readonly recover: ((handle: Any, deadId: number) => unknown) | null;
  /** Whether the model knows what `recover` does. */
  readonly recoverModelled: boolean;
  readonly hints: ((byteOffset: number) => Hinted) | null;
  readonly words: Readonly<Record<string, number>>;
  /** Whether handles have no state; `undefined` to find out. */
  stateless: boolean | undefined;
  /** Whether nothing but an operation can tell one agent from another. */
  readonly alike: boolean;
  /** Whether `final` looks at results. */
  readonly finalResults: boolean;
  /** The worker that an address stands for. */
  hire: ((url: string) => Any) | null;
  /** Whether operations return promises. */
  async: boolean;
}

/** The name of the call that makes a survivor recover. */
export const RECOVER = "recover";
