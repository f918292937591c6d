/**
 * Compiles and loads `hash_thread.c`.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../../wasm/emcc.ts";
import { optimization, type Scale } from "../workload.ts";

/** Its functions. */
export interface HashThread {
  readonly wasmMemory: WebAssembly.Memory;
  _reserve(bytes: number): number;
  _begin(base: number, spins: boolean): number;
  _counted(): number;
}

const MODULE = new URL(
  "../../../.weft/workloads/hash_thread.mjs",
  import.meta.url,
);

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Compiles it if anything has changed. */
export async function build(scale: Scale): Promise<void> {
  await emcc({
    sources: [
      here("./hash_thread.c"),
      here("./sha256.h"),
    ],
    args: [
      ...PTHREADS,
      optimization(scale),
      `-I${here("../../../wasm/")}`,
      "-sINITIAL_MEMORY=64MB",
      "-sPTHREAD_POOL_SIZE=8",
    ],
    out: fileURLToPath(MODULE),
  });
}

/** Loads the compiled module. */
export async function load(): Promise<HashThread> {
  const { default: create } = await import(MODULE.href);
  return await create();
}
