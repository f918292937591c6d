/**
 * What an import costs a user's bundle, minified, unused code dropped, and
 * gzipped. `deno task size` prints the table, for three bundlers.
 *
 * @module
 */

import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { load } from "../_run/folders.ts";
import type { Size } from "../_run/kinds.ts";
import { run } from "../_run/native.ts";
import { install, NAME } from "../_run/package.ts";
import { takesNoWords } from "../_run/usage.ts";

/** The project's folder. */
export const PROJECT: string = fileURLToPath(new URL("../..", import.meta.url));
const BUNDLERS = fileURLToPath(new URL("_bundlers.ts", import.meta.url));

/** What is imported: some names, all (`*`), or nothing (``). */
export interface Sized extends Size {
  /** From where: the root is "". */
  readonly subpaths: readonly string[];
}

/** The public modules, in the order of mod.ts. */
const STEMS = [
  ...fs.readFileSync(`${PROJECT}mod.ts`, "utf8")
    .matchAll(/ from "\.\/primitives\/(?:tools\/)?([a-z]\w+)\.ts"/g),
].map(([, stem]) => stem!);

/** All of them: each folder's `kind.ts` says what its own may cost. */
export const SIZES: Sized[] = [{ name: "", subpaths: [""], most: 50 }];
for (const stem of STEMS) {
  const { size } = await load<{ size: Size }>(stem, "kind.ts");
  SIZES.push({ ...size, subpaths: ["", `/${stem}`] });
}
SIZES.push(
  { name: "*", subpaths: [""], most: 108946 },
  { name: "Channel", subpaths: [""], most: 30678 },
  { name: "viewValue", subpaths: ["/value"], most: 9493 },
  { name: "viewCodec", subpaths: ["/value"], most: 13447 },
  { name: "Pool", subpaths: ["/pool"], most: 36663 },
  { name: "servePool, task", subpaths: ["/pool"], most: 27357 },
  { name: "syncWorker", subpaths: ["/sync_worker"], most: 33628 },
  { name: "watch", subpaths: ["/watch"], most: 11191 },
  { name: "AgentTable", subpaths: ["/deadlocks"], most: 3126 },
  { name: "AgentTable, deadlocks", subpaths: ["/deadlocks"], most: 12803 },
  { name: "formatter", subpaths: ["/devtools"], most: 10702 },
  { name: "SpscQueue", subpaths: ["/realtime"], most: 6258 },
  { name: "*", subpaths: ["/realtime"], most: 27593 },
  { name: "Mutex", subpaths: ["/kernel"], most: 8876 },
);

/** The text of a module of a user who imports that. */
export function importOf(name: string, subpath: string): string {
  const from = JSON.stringify(NAME + subpath);
  if (name === "") return `import ${from};`;
  return `export ${name === "*" ? "*" : `{ ${name} }`} from ${from};`;
}

export const gzipped = (text: string | Uint8Array): number =>
  text.length === 0 ? 0 : gzipSync(text, { level: 9 }).length;

/** Bundles `text` with esbuild in `folder`, which has the package. */
export async function withEsbuild(folder: string, text: string): Promise<
  { text: string; gzipped: number; modules: [string, number][] }
> {
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents: text, resolveDir: folder },
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    external: ["node:*"],
    logLevel: "error",
  });
  const [{ inputs }] = Object.values(metafile.outputs) as [
    esbuild.Metafile["outputs"][string],
  ];
  const [output] = outputFiles as [esbuild.OutputFile];
  return {
    text: output.text,
    gzipped: gzipped(output.contents),
    modules: Object.entries(inputs)
      .map(([file, { bytesInOutput }]): [string, number] => [
        file.replace(/^node_modules\/@\w+\/\w+\/(primitives\/)?/, ""),
        bytesInOutput,
      ])
      .filter(([, bytes]) => bytes > 0)
      .toSorted((a, b) => b[1] - a[1]),
  };
}

/** Bundlers that are no part of the project. */
export type Fetched = "rollup" | "webpack";

/**
 * Bundles `texts` with a bundler that npm has. Returns the bundles; or, where
 * npm's registry cannot be reached, undefined.
 */
export async function fetched(
  bundler: Fetched,
  folder: string,
  texts: readonly string[],
): Promise<string[] | undefined> {
  for (const [i, text] of texts.entries()) {
    fs.writeFileSync(path.join(folder, `${i}.in.js`), text);
  }
  const flags = ["-q", "-A", "--no-config", "--no-lock"];
  const words = ["run", ...flags, BUNDLERS, bundler, folder];
  const { code, output } = await run(process.execPath, words, 600);
  if (/registry|npm package/.test(output) && code !== 0) return undefined;
  if (code !== 0) throw new Error(output);
  return texts.map((_, i) =>
    fs.readFileSync(path.join(folder, `${i}.${bundler}.js`), "utf8")
  );
}

async function main() {
  takesNoWords(
    "usage: deno task size\nPrints what each import costs a bundle.",
  );
  const folder = path.join(PROJECT, ".weft", "size");
  await install(folder);
  const rows = SIZES.flatMap(({ name, subpaths, most }) =>
    subpaths.map((subpath) => ({ name, subpath, most }))
  );
  const texts = rows.map(({ name, subpath }) => importOf(name, subpath));
  console.log(`Bundling ${texts.length} imports three times, about a minute:`);
  const ours = [];
  for (const text of texts) {
    ours.push((await withEsbuild(folder, text)).gzipped);
  }
  await esbuild.stop();
  const columns: (number | undefined)[][] = [ours];
  for (const bundler of ["rollup", "webpack"] as const) {
    const bundles = await fetched(bundler, folder, texts);
    if (bundles === undefined) {
      console.log(`npm's registry cannot be reached: no figures of ${bundler}`);
    }
    columns.push(rows.map((_, i) => bundles && gzipped(bundles[i]!)));
  }
  const show = (cells: readonly unknown[]) =>
    cells.map((cell) => `${cell ?? "-"}`.padStart(9)).join("");
  console.log("Bytes of a bundle, minified and gzipped:");
  const heads = ["esbuild", "Rollup", "webpack", "at most"];
  console.log(`${"import".padEnd(16)}${"from".padEnd(28)}${show(heads)}`);
  for (const [i, { name, subpath, most }] of rows.entries()) {
    const what = name === "" ? "nothing" : name;
    const figures = columns.map((column) => column[i]);
    console.log(
      what.padEnd(16) + (NAME + subpath).padEnd(28) + show([...figures, most]),
    );
  }
}

if (import.meta.main) await main();
