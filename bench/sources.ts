/**
 * Which source files decide about a group's figures, and whether they changed.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import type { Measurement } from "./results.ts";

const PROJECT = fileURLToPath(new URL("../", import.meta.url));
const MOD = path.join(PROJECT, "mod.ts");

/** `import { a, type b } from "./c.ts"`, `export * from`, and `new URL`. */
const IMPORT =
  /^(?:import|export)\s+(type\s)?([^"';]*?)\s*from\s*"(\.[^"]+)"/gm;
const REFERENCE = /new URL\(\s*"(\.[^"]+\.(?:ts|c))"/g;

/**
 * The files, relative to the project, that a bench reads, directly or not. Of
 * `mod.ts`, only what is imported counts.
 */
export function sourcesOf(name: string): string[] {
  const found = new Set<string>();
  const visit = (file: string) => {
    if (found.has(file) || !fs.existsSync(file)) return;
    found.add(file);
    const text = fs.readFileSync(file, "utf8");
    const at = (reference: string) =>
      path.resolve(path.dirname(file), reference);
    for (const [, isType, names, reference] of text.matchAll(IMPORT)) {
      if (isType !== undefined) continue;
      if (at(reference!) === MOD) exported(names!).forEach(visit);
      else visit(at(reference!));
    }
    for (const [, reference] of text.matchAll(REFERENCE)) visit(at(reference!));
  };
  visit(path.join(PROJECT, "bench", `${name}_bench.ts`));
  const own = path.join(PROJECT, "bench", "contest.ts");
  // How the runner starts threads makes no difference to the figures.
  const left = /^(tests|wasm\/emcc|bench\/peers)/;
  return [...found, own].map((file) => path.relative(PROJECT, file))
    .filter((file, k, all) => all.indexOf(file) === k && !left.test(file))
    .sort();
}

/** The files of `mod.ts` that export some of `names`. */
function exported(names: string): string[] {
  const wanted = /\*/.test(names)
    ? undefined
    : names.replace(/[{}]/g, "").split(",").map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "));
  const text = fs.readFileSync(MOD, "utf8");
  return [...text.matchAll(IMPORT)].flatMap(([, isType, names, file]) => {
    if (isType !== undefined) return [];
    const has = names!.split(/[{},\s]+/);
    const used = wanted === undefined || wanted.some((it) => has.includes(it));
    return used ? [path.resolve(PROJECT, file!)] : [];
  });
}

/** A hash of the code of each file: comments and types do not count. */
export async function hashes(
  files: readonly string[],
): Promise<Record<string, string>> {
  const result: Record<string, string> = {};
  for (const file of files) {
    const text = fs.readFileSync(path.join(PROJECT, file), "utf8");
    const code = file.endsWith(".ts")
      ? (await esbuild.transform(text, {
        loader: "ts",
        minifyWhitespace: true,
        minifySyntax: true,
      })).code
      : text;
    result[file] = createHash("sha256").update(code).digest("hex").slice(0, 10);
  }
  return result;
}

/** The files whose code changed since a measurement. */
export async function changedSince(
  { sources }: Measurement,
): Promise<string[]> {
  const files = Object.keys(sources);
  const there = files.filter((file) => fs.existsSync(path.join(PROJECT, file)));
  const now = await hashes(there);
  return files.filter((file) => now[file] !== sources[file]);
}
