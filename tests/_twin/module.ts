/**
 * Modules of C that twins run: compiled by Emscripten, with threads.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { WARNINGS } from "../_run/native.ts";

// In full: the bundle for Node keeps such paths as they are.
const INCLUDE = fileURLToPath(new URL("../../wasm", import.meta.url));

/** What each of them exports. */
export interface TwinModule {
  readonly wasmMemory: WebAssembly.Memory;
  /** Where the memory begins that the twins share. */
  _arena(): number;
  /** Starts a thread that plays a part: 0, or an error. */
  _start(part: number): number;
}

/** The module of `source`, which is compiled to `out`. */
export async function twinModule<Module extends Partial<TwinModule>>(
  source: string,
  out: string,
  args: readonly string[],
): Promise<{ module: Module; memory: WebAssembly.Memory; arena: number }> {
  await emcc({
    sources: [source],
    args: [...PTHREADS, ...args, ...WARNINGS, `-I${INCLUDE}`],
    out,
  });
  const { default: load } = await import(out);
  const module = await load();
  return { module, memory: module.wasmMemory, arena: module._arena() >>> 0 };
}
