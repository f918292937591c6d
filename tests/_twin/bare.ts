/**
 * An agent of a bare module: an instance of its own on the shared memory, with
 * a stack and thread-local storage of its own.
 *
 * @module
 */

import type { Functions } from "./stage.ts";

/** A page of wasm: the size of a thread's stack. */
export const PAGE = 65536;

/** What is needed to make an agent. */
export interface Agent {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** Two pages of its own: its stack, and its thread-local storage. */
  pages: number;
}

/** Instantiates the module for this agent. */
export function enter({ module, memory, pages }: Agent): Functions {
  const env = {
    memory,
    weft_now: () => performance.now(),
    weft_date: () => Date.now(),
    date_ms: () => BigInt(Date.now()),
    now_ns: () => BigInt(Math.round(performance.now() * 1e6)),
    random: () => Math.random() * 2 ** 32 | 0,
  };
  const { exports } = new WebAssembly.Instance(module, { env });
  const { __stack_pointer: stack, __wasm_init_tls: initialize } = exports;
  // Below the end, so that a frame without bytes lies in the page, too: the
  // words of a thread are found by its frame.
  (stack as WebAssembly.Global).value = pages + PAGE - 16;
  if (initialize) (initialize as (at: number) => void)(pages + PAGE);
  return exports as Functions;
}
