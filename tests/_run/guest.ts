/**
 * Guests: bare modules of C, without Emscripten, in a memory that is given.
 *
 * @module
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { wasmClang } from "../../wasm/emcc.ts";
import { INCLUDE } from "./header.ts";

const FLAGS = [
  "-O1",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  "-Wl,--no-entry,--export-dynamic,--import-memory,--shared-memory",
  "-Wl,--max-memory=1048576,--allow-undefined",
];

/** Compiles `source` to the module `out`, with more `flags`. */
export async function compileGuest(
  source: string,
  out: string,
  flags: readonly string[] = [],
): Promise<void> {
  const args = [...FLAGS, ...flags, `-I${INCLUDE}`];
  await wasmClang({ sources: [source], args, out, quiet: true });
}

/** The module that is compiled from `source`, with more `flags`. */
export async function guestOf(
  source: string,
  flags: readonly string[] = [],
): Promise<WebAssembly.Module> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-guest-"));
  try {
    const out = path.join(folder, "guest.wasm");
    await compileGuest(source, out, flags);
    return await WebAssembly.compile(fs.readFileSync(out));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
