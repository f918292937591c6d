/**
 * The C header `weft.h`, as text and as a program that writes it:
 *
 * ```sh
 * deno run jsr:@weft/sync/header > weft.h
 * deno run --allow-write jsr:@weft/sync/header --out include
 * node node_modules/@weft/sync/wasm/header.js --out include
 * ```
 *
 * From npm, the file itself is `node_modules/@weft/sync/wasm/weft.h`.
 *
 * @module
 */

import { TEXT } from "./_header_text.ts";

/** The whole text of `weft.h`. */
export const header: string = TEXT;

/** Whether this module is the program, in Node before 24.2, too. */
async function isProgram(): Promise<boolean> {
  const { main, url } = import.meta as { main?: boolean; url: string };
  // In a bundle these words are about the program that imports this module.
  if (!/\/header\.[jt]s$/.test(url) || !("process" in globalThis)) return false;
  if (main !== undefined) return main;
  const { existsSync, realpathSync } = await import("node:fs");
  const { default: process } = await import("node:process");
  const { pathToFileURL } = await import("node:url");
  const [, program = ""] = process.argv;
  return existsSync(program) &&
    pathToFileURL(realpathSync(program)).href === url;
}

/** Runs the program and returns its exit code. */
async function run(words: string[]): Promise<number> {
  const { default: process } = await import("node:process");
  const [option, folder] = words;
  if (words.length === 0) {
    process.stdout.write(header);
    return 0;
  }
  if (words.length !== 2 || option !== "--out") {
    console.error("usage: header [--out FOLDER]");
    return 2;
  }
  try {
    const { mkdirSync, writeFileSync } = await import("node:fs");
    mkdirSync(folder!, { recursive: true });
    writeFileSync(`${folder}/weft.h`, header);
    return 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
}

if (await isProgram()) {
  const { default: process } = await import("node:process");
  process.exitCode = await run(process.argv.slice(2));
}
