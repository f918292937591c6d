/**
 * Installs the packages into a folder of their own and loads their modules.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { runInThisContext } from "node:vm";
import { fileURLToPath } from "node:url";
import type { Any, Open, Opening, Published } from "./_kit.ts";

const FOLDER = fileURLToPath(
  new URL("../../../.weft/published/", import.meta.url),
);
const MODELS = fileURLToPath(new URL("./models/", import.meta.url));

/** Installs `packages` at their versions, if they are not there yet. */
export function install(packages: readonly Published[]): void {
  fs.mkdirSync(FOLDER, { recursive: true });
  const dependencies = Object.fromEntries(
    packages.filter(({ model }) => model === undefined)
      .map(({ name, version }) => [name, version]),
  );
  const wanted = JSON.stringify({ private: true, dependencies });
  const file = path.join(FOLDER, "package.json");
  const installed = path.join(FOLDER, "installed.json");
  const read = (file: string) =>
    fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  if (read(installed) === wanted) return;
  fs.writeFileSync(file, wanted);
  fs.writeFileSync(
    path.join(FOLDER, "deno.json"),
    JSON.stringify({ nodeModulesDir: "auto", lock: false }),
  );
  execFileSync("deno", ["install", "--quiet"], {
    cwd: FOLDER,
    stdio: "inherit",
  });
  fs.writeFileSync(installed, wanted);
}

/** The code of a module of a package, or a model, in one piece, as CommonJS. */
export async function codeOf(
  { name, model }: Published,
  inner: string,
  { modules = {}, expose = [], replace = [] }: Opening = {},
): Promise<string> {
  const file = fs.realpathSync(
    model === undefined
      ? path.join(FOLDER, "node_modules", name, inner)
      : path.join(MODELS, inner),
  );
  const { outputFiles } = await esbuild.build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "esnext",
    outfile: outOf({ name }, inner),
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "error",
    define: { "import.meta.url": '"file:///package"' },
    external: ["node:*", ...Object.keys(modules)],
    plugins: [exposing(file, expose, replace)],
  });
  return outputFiles[0]!.text;
}

/** Where a module's bundle is kept. */
const outOf = ({ name }: Pick<Published, "name">, inner: string): string =>
  path.join(FOLDER, "out", name, inner.replace(/\.([cm]?js|ts)$/, ".cjs"));

/** Lets a module export names that it keeps to itself, and replaces words. */
function exposing(
  file: string,
  names: readonly string[],
  replace: readonly (readonly [from: string, to: string])[],
): esbuild.Plugin {
  return {
    name: "expose",
    setup(build) {
      build.onLoad({ filter: /\.[cm]?js$/ }, (args) => {
        if (args.path !== file) return undefined;
        let text = fs.readFileSync(file, "utf8");
        for (const [from, to] of replace) {
          if (!text.includes(from)) throw new Error(`No "${from}" in ${file}`);
          text = text.replaceAll(from, to);
        }
        if (names.length === 0) return { contents: text, loader: "js" };
        const list = names.join(", ");
        const added = /^\s*(export|import)\b/m.test(text)
          ? `export { ${list} };`
          : `Object.assign(exports, { ${list} });`;
        return { contents: `${text}\n${added}`, loader: "js" };
      });
    },
  };
}

/** Runs a module that imports the packages; returns the last line it prints. */
export function runScript(text: string): string {
  const file = path.join(FOLDER, "script.mjs");
  fs.writeFileSync(file, text);
  const { stdout, stderr, error } = spawnSync(
    "deno",
    ["run", "-A", "--quiet", "script.mjs"],
    { cwd: FOLDER, encoding: "utf8", timeout: 6000, killSignal: "SIGKILL" },
  );
  if (error !== undefined) return "it had not ended after 6 seconds";
  const [last = ""] = `${stdout}${stderr}`.trimEnd().split("\n").slice(-1);
  return last;
}

/** Loads modules of `published`; `took` is told the milliseconds. */
export function opener(
  published: Published,
  took: (ms: number) => void = () => {},
): Open {
  const anew: Open["anew"] = async (inner, opening = {}) => {
    const begin = performance.now();
    const { modules = {}, globals = {} } = opening;
    const code = await codeOf(published, inner, opening);
    const real = createRequire(import.meta.url);
    const require = (name: string) => modules[name] ?? real(name);
    const names = ["module", "exports", "require", ...Object.keys(globals)];
    const filename = outOf(published, inner);
    fs.mkdirSync(path.dirname(filename), { recursive: true });
    fs.writeFileSync(filename, code); // reports read the lines' map from it
    // On the first line, so that the map's lines stay right.
    const whole = `(function (${names.join(", ")}) {${code}\n})`;
    const run = runInThisContext(whole, { filename });
    took(performance.now() - begin);
    return () => {
      const module: { exports: Any } = { exports: {} };
      run(module, module.exports, require, ...Object.values(globals));
      return module.exports;
    };
  };
  const open = async (inner: string, opening?: Opening) =>
    (await anew(inner, opening))();
  return Object.assign(open, { anew });
}
