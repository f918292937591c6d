/**
 * Bundles test files for Node 20 and for browsers, which cannot read
 * TypeScript.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of `deno.json`. */
const PROJECT = fileURLToPath(new URL("../../", import.meta.url));

const FILE_URL =
  /\bnew URL\(\s*(["'])(\.{1,2}\/[^"']+)\1\s*,\s*import\.meta\.url\s*,?\s*\)/g;

interface Options {
  readonly served?: boolean;
  readonly standIns?: boolean;
  readonly shares?: boolean;
  readonly changed?: ReadonlyMap<string, string>;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/**
 * Bundles each of `files` (absolute paths) into `outdir`, at its path within
 * the project, and with them the modules that they start as threads; `served`
 * if a page loads them from a server of `outdir`. With `standIns`, pages get
 * poor stand-ins for Node's modules: no file is there, and no program starts.
 * `changed` has the texts of some modules in place of those in their files. If
 * they are many, it takes a fifth of the time if a bundle `shares` modules with
 * the others; code that is measured must not.
 */
export async function bundle(
  files: string[],
  outdir: string,
  { served = false, standIns = false, changed = NOTHING, shares = false }:
    Options = {},
): Promise<void> {
  const bundled = new Set<string>();
  const found = new Set(files);
  for (let todo = files; todo.length > 0;) {
    await esbuild.build({
      entryPoints: todo,
      outdir,
      outbase: PROJECT,
      bundle: true,
      splitting: shares,
      chunkNames: "tests/_run/[name]-[hash]", // as deep as most modules
      format: "esm",
      target: "es2022",
      platform: "neutral",
      mainFields: ["module", "main"],
      external: standIns ? [] : ["node:*", "esbuild"],
      alias: { "@weft/sync": path.join(PROJECT, "mod.ts") },
      logLevel: "error",
      plugins: [
        ...standIns ? [withStandIns] : [],
        absoluteURLs(outdir, found, served, changed),
      ],
    });
    todo.forEach((file) => bundled.add(file));
    todo = [...found].filter((file) => !bundled.has(file));
  }
  await esbuild.stop();
}

/** The path at which `bundle` puts a file. */
export function bundled(file: string, outdir: string): string {
  const within = path.relative(PROJECT, file).replace(/\.ts$/, ".js");
  return path.join(outdir, within);
}

/**
 * Makes every `new URL("./x", import.meta.url)` absolute, because a bundle lies
 * elsewhere than its modules. Modules named so become entry points, in `found`.
 */
function absoluteURLs(
  outdir: string,
  found: Set<string>,
  served: boolean,
  changed: ReadonlyMap<string, string>,
): esbuild.Plugin {
  return {
    name: "absolute-urls",
    setup(build) {
      build.onLoad({ filter: /\.[jt]s$/ }, async (args) => {
        if (args.path.includes("node_modules")) return null;
        const text = changed.get(args.path) ??
          await readFile(args.path, "utf8");
        const resolve = (whole: string, _quote: string, reference: string) => {
          const file = path.resolve(path.dirname(args.path), reference);
          const isModule = file.endsWith(".ts");
          if (isModule && !existsSync(file)) return whole;
          if (isModule) found.add(file);
          const at = isModule ? bundled(file, outdir) : file;
          if (served) {
            const within = JSON.stringify(`/${path.relative(outdir, at)}`);
            return `new URL(${within}, location.origin)`;
          }
          const { href } = pathToFileURL(at);
          const slash = reference.endsWith("/") ? "/" : "";
          return `new URL(${JSON.stringify(href + slash)})`;
        };
        const loader = args.path.endsWith(".ts") ? "ts" : "js";
        return { contents: text.replace(FILE_URL, resolve), loader };
      });
    },
  };
}

/** What a page gets in place of Node's modules, by their names. */
const STAND_INS: Readonly<Record<string, string>> = {
  "node:child_process": "spawnSync: () => ({ status: 1 })",
  "node:fs": "existsSync: () => false",
  "node:os":
    "availableParallelism: () => navigator.hardwareConcurrency, cpus: () => " +
    "Array.from({ length: navigator.hardwareConcurrency })",
  "node:process":
    "default: { env: globalThis.env ?? {}, stderr: {} }, __esModule: true",
  "node:url": "fileURLToPath: String",
};

const withStandIns: esbuild.Plugin = {
  name: "stand-ins",
  setup(build) {
    build.onResolve({ filter: /^(node:.*|esbuild)$/ }, ({ path }) => {
      return { path, namespace: "stand-in" };
    });
    build.onLoad({ filter: /.*/, namespace: "stand-in" }, ({ path }) => {
      return { contents: `module.exports = { ${STAND_INS[path] ?? ""} };` };
    });
  },
};
