/**
 * The C headers as one file, and as a program that writes it:
 *
 * ```sh
 * deno run jsr:@weft/sync/header > weft.h
 * deno run --allow-write jsr:@weft/sync/header --out include
 * node node_modules/@weft/sync/wasm/header.js --out include
 * ```
 *
 * A folder also gets `weft.hpp` and what it includes, which are for C++, and
 * `weft_pthread.h`, by which POSIX's names are Weft's. The
 * npm package has `weft.h` in `node_modules/@weft/sync/wasm`, and beside it
 * the files that it includes, one for each primitive, such as `weft/mutex.h`.
 *
 * @module
 */

import { amalgamation, includesOf } from "./_amalgamation.ts";

/** What is for C++ alone, and POSIX's names. */
const OTHERS = [
  "weft_pthread.h",
  "weft.hpp",
  "weft_base.hpp",
  "weft_calls.hpp",
  "weft_data.hpp",
  "weft_lock.hpp",
  "weft_map.hpp",
  "weft_queue.hpp",
  "weft_select.hpp",
  "weft_std.hpp",
];

const OUTER = new URL("./weft.h", import.meta.url);

/** Reads a header. */
async function read(name: string): Promise<string> {
  const url = new URL(name, OUTER);
  if (url.protocol === "file:") {
    const { readFileSync } = await import("node:fs");
    return readFileSync(url, "utf8");
  }
  // Deno loaded this module from JSR, where a text is imported like a module.
  // A bundler sees no name here, so it does not touch the files.
  const place = url.href;
  const { default: text } = await import(
    /* webpackIgnore: true */ /* @vite-ignore */ place,
    { with: { type: "text" } }
  );
  return text;
}

/** Reads all C headers of Weft, and returns the one file made of them. */
export async function header(): Promise<string> {
  const files: Record<string, string> = {};
  let names = ["weft.h"];
  while (names.length > 0) {
    const texts = await Promise.all(names.map(read));
    const next = texts.flatMap((text, i) => {
      files[names[i]!] = text;
      return includesOf(names[i]!, text);
    });
    names = [...new Set(next)].filter((name) => !Object.hasOwn(files, name));
  }
  return amalgamation(files);
}

/** Whether this module is the program. It works in Node before 24.2, too. */
async function isProgram(): Promise<boolean> {
  const { main, url } = import.meta as { main?: boolean; url: string };
  // In a bundle, `import.meta` belongs to the program that imports this module.
  if (!/\/header\.[jt]s$/.test(url) || !("process" in globalThis)) return false;
  if (main !== undefined) return main;
  const { existsSync, realpathSync } = await import("node:fs");
  const { default: process } = await import("node:process");
  const { pathToFileURL } = await import("node:url");
  const [, program = ""] = process.argv;
  // Node 20 also finds a program that is named without its ending.
  return [program, `${program}.js`].some((file) =>
    existsSync(file) && pathToFileURL(realpathSync(file)).href === url
  );
}

/** Prints `text`; a reader that has closed the pipe has all that it wants. */
async function print(text: string): Promise<void> {
  const { stdout } = (await import("node:process")).default;
  await new Promise<void>((resolve, reject) => {
    const ended = (error?: Error | null) => {
      if (!error || (error as { code?: string }).code === "EPIPE") resolve();
      else reject(error);
    };
    stdout.on("error", ended); // without it, the error would be uncaught
    stdout.write(text, ended);
  });
}

/** Runs the program and returns its exit code. */
async function run(words: string[]): Promise<number> {
  const [option, folder] = words;
  const usage = "usage: header [--out FOLDER]";
  if (option === "--help") {
    console.log(usage);
    return 0;
  }
  if (words.length !== 0 && (words.length !== 2 || option !== "--out")) {
    console.error(usage);
    return 2;
  }
  try {
    const text = await header();
    if (folder === undefined) {
      await print(text);
      return 0;
    }
    const files: Record<string, string> = { "weft.h": text };
    for (const name of OTHERS) files[name] = await read(name);
    const { mkdirSync, unlinkSync, writeFileSync } = await import("node:fs");
    const { dirname } = await import("node:path");
    const make = (folder: string, again = true): void => {
      try {
        mkdirSync(folder);
      } catch (error) {
        const { code } = error as { code?: string };
        // Another program may have made it, or `x/.` names what was just made.
        if (code === "EEXIST") return;
        const above = dirname(folder);
        if (code !== "ENOENT" || above === folder || !again) throw error;
        make(above);
        make(folder, false);
      }
    };
    make(folder); // option `recursive` of Node 20 never returns below /proc
    // A disk without room for it must not cost a header that was there. To
    // rename a file would need permission to read.
    const trial = `${folder}/weft.part`;
    try {
      writeFileSync(trial, Object.values(files).join(""));
    } finally {
      try {
        unlinkSync(trial);
      } catch {
        // It was not made.
      }
    }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(`${folder}/${name}`, text);
    }
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
