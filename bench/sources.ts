/**
 * Which code decides about a group's figures, and whether it changed.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { bareCode } from "../tests/_run/bare.ts";
import type { Measurement } from "./results.ts";

const PROJECT = fileURLToPath(new URL("../", import.meta.url));

/** The other files that the code of a bench names: its threads, and C. */
const REFERENCE = /new URL\(\s*"(\.[^"]+\.(?:ts|c|cpp))"/g;
/** A name that ends in a number. */
const NAME = /\b[A-Za-z_$][\w$]*\d\b/g;
/** How the runner starts threads makes no difference to the figures. */
const LEFT = /^(tests|wasm\/emcc|bench\/peers|bench\/_navigator)/;

/**
 * A hash of the code that a bench runs, by the file that it is from. Only the
 * code that is left when everything unused is dropped counts, and neither do
 * comments and types.
 */
export async function hashesOf(
  name: string,
  project: string = PROJECT,
): Promise<Record<string, string>> {
  const code = await codeOf(name, project);
  const files = [...code].filter(([file]) => !LEFT.test(file)).sort();
  const hashes = files.map(async ([file, text]) => {
    const bare = file.endsWith(".ts") ? await bareCode(text) : text;
    const hash = createHash("sha256").update(bare).digest("hex");
    return [file, hash.slice(0, 10)];
  });
  return Object.fromEntries(await Promise.all(hashes));
}

/** The code that a bench runs, by the file that it is from. */
async function codeOf(
  name: string,
  project: string,
): Promise<Map<string, string>> {
  const entries = new Set([`bench/${name}_bench.ts`, "bench/contest.ts"]);
  for (;;) {
    const code = await bundle([...entries], project);
    const before = entries.size;
    for (const [file, text] of code) {
      if (LEFT.test(file)) continue;
      for (const [, reference] of text.matchAll(REFERENCE)) {
        const at = path.join(path.dirname(file), reference!);
        if (fs.existsSync(path.join(project, at))) entries.add(at);
      }
    }
    if (entries.size === before) return code;
  }
}

/** Bundles the files, and takes the bundle apart again by its modules. */
async function bundle(
  files: readonly string[],
  project: string,
): Promise<Map<string, string>> {
  const modules = files.filter((file) => file.endsWith(".ts"));
  const imports = modules.map((file, k) =>
    `import * as m${k} from "./${file}";`
  );
  const { outputFiles } = await esbuild.build({
    stdin: {
      contents: `${imports.join("\n")}\nuse(${
        modules.map((_, k) => `m${k}`).join(", ")
      });`,
      resolveDir: project,
      sourcefile: "all",
      loader: "ts",
    },
    absWorkingDir: path.resolve(project),
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    platform: "neutral",
    packages: "external",
    alias: { "@weft/sync": path.join(project, "mod.ts") },
    logLevel: "error",
  });
  // Each module's code comes behind a line `// primitives/mutex.ts`.
  const parts = outputFiles[0]!.text.split(/^\/\/ (\S+\.ts)$/m);
  const code = new Map<string, string>();
  for (let k = 1; k < parts.length; k += 2) {
    const file = parts[k]!;
    const [text] = parts[k + 1]!.split(/^\/\/ all$/m);
    const own = await ownNames(file, text!, project);
    code.set(file, (code.get(file) ?? "") + own);
  }
  for (const file of files.filter((file) => /\.c(pp)?$/.test(file))) {
    for (const [name, text] of codeOfC(file, project)) code.set(name, text);
  }
  return code;
}

/**
 * Gives names back that the bundler numbered because other modules have the
 * same ones: otherwise a name in one file could change the hash of another.
 */
async function ownNames(
  file: string,
  code: string,
  project: string,
): Promise<string> {
  const text = fs.readFileSync(path.join(project, file), "utf8");
  const names = new Set((await bareCode(text)).match(NAME));
  return code.replace(
    NAME,
    (name) => names.has(name) ? name : name.replace(/\d+$/, ""),
  );
}

/**
 * A file of C, and the headers of the primitives that it names, with all that
 * they include.
 */
function codeOfC(file: string, project: string): Map<string, string> {
  const code = new Map<string, string>();
  const headers = "wasm/weft";
  const visit = (file: string) => {
    const full = path.join(project, file);
    if (code.has(file) || !fs.existsSync(full)) return;
    const text = fs.readFileSync(full, "utf8")
      .replace(/\/\*[^]*?\*\/|\/\/.*$/gm, "").replace(/\s+/g, " ");
    code.set(file, text);
    for (const [, name] of text.matchAll(/#include "(\w+\.h)"/g)) {
      visit(path.join(headers, name!));
    }
  };
  visit(file);
  const text = code.get(file) ?? "";
  for (const name of fs.readdirSync(path.join(project, headers))) {
    const used = new RegExp(`\\bweft_${name.replace(".h", "")}\\b`);
    if (used.test(text)) visit(path.join(headers, name));
  }
  return code;
}

/** The present hashes by the group; its runtimes share them. */
const present = new Map<string, Promise<Record<string, string>>>();

/** The files whose code changed since a measurement of a group. */
export async function changedSince(
  name: string,
  { sources }: Measurement,
): Promise<string[]> {
  if (!present.has(name)) present.set(name, hashesOf(name));
  const now = await present.get(name)!;
  return [...new Set([...Object.keys(sources), ...Object.keys(now)])]
    .filter((file) => now[file] !== sources[file]).sort();
}
