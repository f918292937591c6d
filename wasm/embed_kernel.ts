/**
 * Writes `primitives/kernel/_text.ts`: it holds what `kernel.c`
 * compiles to. `deno task kernel` runs it. A test compiles again and compares.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import process from "node:process";
import { findCompiler } from "./emcc.ts";
import { kernelModule, kernelText, STEMS } from "./kernel_build.ts";

const words = process.argv.slice(2);
if (words.length > 0) {
  const usage = "usage: deno task kernel\nCompiles wasm/kernel.c, and writes " +
    "primitives/kernel/_text.ts.";
  if (words[0] === "--help") console.log(usage);
  else console.error("deno task kernel takes no words; see --help");
  process.exit(words[0] === "--help" ? 0 : 2);
}

const { version } = await findCompiler();
const modules = new Map<string, Uint8Array>();
for (const stem of STEMS) modules.set(stem, await kernelModule(stem));

writeFileSync(
  new URL("../primitives/kernel/_text.ts", import.meta.url),
  kernelText(modules, version),
);
for (const [stem, { length }] of modules) console.log(`${stem} ${length}`);
