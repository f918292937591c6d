/**
 * Compiles `kernel.c` to one module for each primitive with operations in it.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { wasmClang } from "./emcc.ts";

const SOURCE = fileURLToPath(new URL("./kernel.c", import.meta.url));
const BUILT = fileURLToPath(new URL("../.weft/kernel", import.meta.url));

/** The primitives, by their stems. */
export const STEMS: readonly string[] = [
  "mutex",
  "rw_lock",
  "semaphore",
  "event",
  "latch",
  "snapshot",
  "spsc_queue",
  "mpmc_queue",
  "lock_free_queue",
  "record_ring",
  "work_counter",
  "work_deque",
  "slab_pool",
  "striped_counter",
  "hash_map",
];

/**
 * Flags of a module that imports a shared memory of any size. It has no stack
 * in that memory; a test checks that nothing needs one.
 */
const FLAGS = [
  "-Os",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  "-DWEFT_KERNEL_ONE",
  "-Wl,--no-entry,--import-memory,--shared-memory,--max-memory=4294967296",
  "-Wl,--strip-all,-z,stack-size=0",
];

/** The module of the primitive `stem`, from `source`, by default `kernel.c`. */
export async function kernelModule(
  stem: string,
  source: string = SOURCE,
): Promise<Uint8Array> {
  const folder = source === SOURCE ? BUILT : path.dirname(source);
  const out = path.join(folder, `${stem}.wasm`);
  await wasmClang({
    // A header beside the source is read instead of that of this folder.
    sources: [source, path.join(path.dirname(source), "weft.h")],
    args: [...FLAGS, `-DWEFT_KERNEL_${stem}`],
    out,
    quiet: true,
  });
  return fs.readFileSync(out);
}

/** The text of `kernel/_text.ts`, made with `version` of clang. */
export function kernelText(
  modules: ReadonlyMap<string, Uint8Array>,
  version: string,
): string {
  const text = [...modules].map(([stem, bytes]) =>
    `export const ${stem.toUpperCase()}: string =\n` +
    `  "${Buffer.from(bytes).toString("base64")}";\n`
  );
  return `// Made from wasm/kernel.c by \`deno task kernel\`, with Emscripten
// ${version}: a WebAssembly module in base64 for each primitive.

${text.join("\n")}`;
}
