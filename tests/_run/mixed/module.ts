/**
 * `weft.h` compiled for agents of the race tester.
 *
 * @module
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { race } from "../../../race/mod.ts";
import type { Wasm } from "../../../race/mod.ts";
import { wasmClang } from "../../../wasm/emcc.ts";
import { callback, handler } from "./twins.ts";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const AGENT = file("./agent.c");
const WASM = file("../../../wasm");
const BUILT = file("../../../.weft/mixed");

/**
 * A bare module with a small stack, in memory that it is given. As that is not
 * declared as shared, Binaryen's optimizer, which clang calls, would think that
 * nobody sees in what order its atomic loads come.
 */
const FLAGS = [
  "--no-wasm-opt",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  "-Wl,--no-entry,--export-dynamic,--import-memory,--export-memory",
  "-Wl,--export=__heap_base,-z,stack-size=8192",
];

/** The module that `out` holds. */
function read(out: string): Wasm {
  const imports = { env: { race_callback: callback, race_handler: handler } };
  return race.wasm(fs.readFileSync(out), { imports });
}

/** The header as it is. */
export async function compile(): Promise<Wasm> {
  const out = path.join(BUILT, "agent.wasm");
  await wasmClang({
    sources: [AGENT],
    args: ["-O1", ...FLAGS, `-I${WASM}`],
    out,
    quiet: true,
  });
  return read(out);
}

/** What the scenarios of a stem need besides. */
const BESIDES: Readonly<Record<string, string>> = { condition: "mutex" };

/** A header of the text `text`; only functions of `stem` are exported. */
export async function compileMutant(
  name: string,
  text: string,
  stem: string,
): Promise<Wasm> {
  const header = path.join(BUILT, `${name}.h`);
  const exported = '__attribute__((used, visibility("default"))) ';
  const stems = [stem, "agent", BESIDES[stem] ?? stem].join("|");
  const heads = new RegExp(
    `^static inline (?=[\\w ]+?\\*?weft_(?:${stems})_\\w+\\()`,
    "gm",
  );
  fs.mkdirSync(BUILT, { recursive: true });
  fs.writeFileSync(header, text.replace(heads, exported));
  const out = path.join(BUILT, `${name}.wasm`);
  await wasmClang({
    sources: [AGENT, header],
    args: ["-O1", ...FLAGS, `-DWEFT="${name}.h"`, `-I${BUILT}`],
    out,
    quiet: true,
  });
  return read(out);
}
