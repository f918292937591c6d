/**
 * Writes `primitives/_kernel_text.ts`, which holds the modules that `kernel.c`
 * compiles to. `deno task kernel` runs it. A test compiles again and compares.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { findCompiler } from "./emcc.ts";
import { kernelModule, kernelText, STEMS } from "./kernel_build.ts";

const { version } = await findCompiler();
const modules = new Map<string, Uint8Array>();
for (const stem of STEMS) modules.set(stem, await kernelModule(stem));

writeFileSync(
  new URL("../primitives/_kernel_text.ts", import.meta.url),
  kernelText(modules, version),
);
for (const [stem, { length }] of modules) console.log(`${stem} ${length}`);
