/**
 * The memory of the demo, and the wasm module that works in it.
 *
 * @module
 */

import { fileURLToPath, pathToFileURL } from "node:url";
import { emcc, NoCompiler, PTHREADS } from "../emcc.ts";
import { layOut, type Plan, type Size } from "./arena.ts";
import { Complaint } from "./options.ts";

/** The module compiled from `hash.c`. */
export interface Hash {
  _reserve(bytes: number): number;
  _begin(plan: number, row: number): number;
  _hash(plan: number): void;
}

/** Memory with room for an arena. */
export interface Place {
  memory: WebAssembly.Memory;
  /** Where the arena is, in bytes. */
  base: number;
  plan: Plan & { end: number };
  /** Missing if the run has no thread of wasm. */
  module?: Hash;
}

/** Bytes of a page. */
const PAGE = 2 ** 16;

/** Bytes the module needs for itself, and for the stack of each thread. */
const OWN = 2 ** 24, STACK = 2 ** 17;

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const BUILD = {
  sources: [here("hash.c"), here("blake2b.h")],
  args: [
    ...PTHREADS,
    "-O3",
    "-sINITIAL_MEMORY=16MB",
    "-sMAXIMUM_MEMORY=2GB",
    "-sALLOW_MEMORY_GROWTH", // so that the memory may be larger than that
    "-Wno-pthreads-mem-growth",
    "-sINCOMING_MODULE_JS_API=wasmMemory",
  ],
  out: here("../../.weft/demo/hash.mjs"),
};

const memoryOf = (bytes: number): WebAssembly.Memory => {
  const pages = Math.ceil(bytes / PAGE);
  return new WebAssembly.Memory({
    initial: pages,
    maximum: pages,
    shared: true,
  });
};

/** Memory for JavaScript alone, without a module. */
export function plainPlace(size: Size): Place {
  const plan = layOut(0, size);
  return { memory: memoryOf(plan.end), base: 0, plan };
}

/** Compiles the module if anything changed. */
export async function build(): Promise<void> {
  try {
    await emcc(BUILD);
  } catch (error) {
    if (!(error instanceof NoCompiler)) throw error;
    const why = `${error.message}, or say --wasm 0`;
    throw new Complaint(why, { cause: error });
  }
}

/** The memory of the module, which is compiled first if necessary. */
export async function wasmPlace(size: Size): Promise<Place> {
  await build();
  const { default: load } = await import(pathToFileURL(BUILD.out).href);
  const bytes = layOut(0, size).end + 128;
  const memory = memoryOf(OWN + size.agents * STACK + bytes);
  const module: Hash = await load({ wasmMemory: memory });
  const at = module._reserve(bytes) >>> 0;
  if (at === 0) throw new Error(`no room for ${bytes} bytes`);
  const base = Math.ceil(at / 128) * 128;
  return { memory, base, plan: layOut(base, size), module };
}
