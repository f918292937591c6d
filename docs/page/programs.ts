/**
 * Builds the programs of docs/examples that are pages.
 *
 * @module
 */
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { ALIAS } from "./build.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const EXAMPLES = here("../examples");

/** The programs that have a page. */
export const PROGRAMS: readonly string[] = fs.readdirSync(EXAMPLES)
  .filter((name) => fs.existsSync(path.join(EXAMPLES, name, "page")))
  .sort();

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
  for (const [i, folder] of folders.entries()) {
    const to = path.join(out, PROGRAMS[i]!, "page");
    fs.copyFileSync(`${folder}/index.html`, `${to}/index.html`);
    fs.copyFileSync(here("../../wasm/isolate.js"), `${to}/isolate.js`);
  }
}
