/**
 * Fetches Emscripten before clocks start.
 *
 * @module
 */

import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { emcc, PTHREADS } from "../../wasm/emcc.ts";
import { indent } from "./report.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Fetches a compiler and builds its library, once for all files and outside of
 * their time limits.
 */
export async function prepareCompiler(): Promise<void> {
  try {
    await emcc({
      sources: [path.join(PROJECT, "tests/project/fixtures/thread.c")],
      args: [...PTHREADS, "-O1", "-sPTHREAD_POOL_SIZE=1"],
      out: path.join(PROJECT, ".weft", "thread.mjs"),
    });
  } catch (error) {
    // The files that need it fail one by one.
    console.log(indent((error as Error).message));
  }
}
