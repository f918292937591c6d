/**
 * Builds the programs of docs/examples that are pages.
 *
 * @module
 */
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { emcc } from "../../wasm/emcc.ts";
import { ALIAS } from "./build.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const EXAMPLES = here("../examples");

/** The programs that have a page. */
export const PROGRAMS: readonly string[] = fs.readdirSync(EXAMPLES)
  .filter((name) => fs.existsSync(path.join(EXAMPLES, name, "page")))
  .sort();

/** The flags of emcc, as the comment of the program in C gives them. */
function flagsOf(source: string): string[] {
  const text = fs.readFileSync(source, "utf8");
  const [, command] = /^ \* {5}emcc ([^]*?)\n \*\n/m.exec(text)!;
  const include = `-I${here("../../wasm")}`;
  return command!.match(/(?<=^|\s)-(?!o\b)\S+/g)!
    .map((word) => word.startsWith("-I") ? include : word);
}

/** Builds the compressor as a module of emcc, into the folder `out`. */
export async function buildCompressor(out: string): Promise<void> {
  const folder = here("../../.weft/compressor");
  const source = path.join(EXAMPLES, "compressor", "main.c");
  await emcc({
    sources: [source],
    args: flagsOf(source),
    out: path.join(folder, "compressor.mjs"),
    quiet: true,
  });
  fs.mkdirSync(out, { recursive: true });
  for (const name of fs.readdirSync(folder)) {
    if (!/\.(m?js|wasm)$/.test(name)) continue;
    fs.copyFileSync(path.join(folder, name), path.join(out, name));
  }
}

/** Builds each into `out`, at its path within `docs/examples`. */
export async function buildPrograms(out: string): Promise<void> {
  const folders = PROGRAMS.map((name) => path.join(EXAMPLES, name, "page"));
  await esbuild.build({
    entryPoints: folders.flatMap((folder) =>
      fs.readdirSync(folder).filter((name) => name.endsWith(".mjs"))
        .map((name) => path.join(folder, name))
    ),
    outbase: EXAMPLES,
    outdir: out,
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    external: ["node:*"],
    alias: ALIAS,
    logLevel: "error",
  });
  await esbuild.stop();
  const frame = fs.readFileSync(path.join(EXAMPLES, "frame.html"), "utf8");
  for (const [i, folder] of folders.entries()) {
    const to = path.join(out, PROGRAMS[i]!, "page");
    const content = fs.readFileSync(`${folder}/index.html`, "utf8");
    const [, title] = /<h1>(.*)<\/h1>/.exec(content)!;
    const page = frame.replace("<!-- title -->", title!)
      .replace("<!-- content -->", content);
    fs.writeFileSync(`${to}/index.html`, page);
    fs.copyFileSync(here("../../wasm/isolate.js"), `${to}/isolate.js`);
  }
  await buildCompressor(path.join(out, "compressor", "page"));
}
