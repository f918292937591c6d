/**
 * Bundles with the bundlers that are no part of the project: npm has them, in
 * the cache of Deno. A program of its own, because the project's configuration
 * must not know them:
 *
 * ```sh
 * deno run -A --no-config --no-lock _bundlers.ts rollup FOLDER
 * ```
 *
 * It bundles and minifies each `FOLDER/*.in.js` into a file `.rollup.js`. With
 * `--page` it bundles `FOLDER/index.html`, which loads `main.mjs`, into
 * `FOLDER/dist/rollup`.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";

// Not literals, so that neither the lock file nor `deno check` sees them.
// deno-lint-ignore no-explicit-any
const npm = (name: string): Promise<any> => import(`npm:${name}`);

/** Bundles the module `file`, and returns the minified text. */
type Bundler = (file: string) => Promise<string>;

/** Rollup's own distribution without native code, and terser. */
async function rollup(): Promise<Bundler> {
  const { minify } = await npm("terser@^5");
  return async (file) => {
    const build = await rolled([file]);
    const { output: [{ code }] } = await build.generate({ format: "es" });
    return (await minify(code, { module: true })).code;
  };
}

/** What is used of Rollup's build. */
interface Rolled {
  generate(options: { format: "es" }): Promise<{ output: { code: string }[] }>;
  write(
    options: { dir: string; format: "es"; entryFileNames: string },
  ): Promise<unknown>;
}

/** Rollup's build of modules. */
async function rolled(input: string[]): Promise<Rolled> {
  const { rollup } = await npm("@rollup/wasm-node@^4");
  return rollup({
    input,
    external: /^(node:|fast-check$)/,
    plugins: [{ name: "installed", resolveId: resolve }],
    onLog() {},
  });
}

/** Finds a file of an installed package by its `exports`. */
function resolve(id: string, importer?: string): string | undefined {
  const [, name, subpath] = id.match(/^(@\w+\/\w+)(.*)$/) ?? [];
  if (name === undefined) return;
  const home = path.join(path.dirname(importer!), "node_modules", name);
  const { exports } = JSON.parse(
    fs.readFileSync(path.join(home, "package.json"), "utf8"),
  );
  return path.join(home, exports[`.${subpath}`].default);
}

/** Webpack in production mode, whose minifier is terser. */
function webpack(): Promise<Bundler> {
  return Promise.resolve(async (file) => {
    const out = file.replace(/\.js$/, ".out.js");
    await pack(file, out, { library: { type: "module" } });
    const text = fs.readFileSync(out, "utf8");
    fs.rmSync(out);
    return text;
  });
}

/** Bundles the module `file` into `out` by webpack. */
async function pack(file: string, out: string, output: object): Promise<void> {
  const { default: webpack } = await npm("webpack@^5");
  const { default: Terser } = await npm("terser-webpack-plugin@^5");
  await new Promise<void>((resolve, reject) => {
    webpack({
      mode: "production",
      target: ["web", "es2022"],
      context: path.dirname(file),
      entry: file,
      externals: [/^node:/, "fast-check"],
      experiments: { outputModule: true },
      output: {
        path: path.dirname(out),
        filename: path.basename(out),
        ...output,
      },
      optimization: {
        minimizer: [new Terser({ parallel: false, extractComments: false })],
      },
      performance: false,
      // deno-lint-ignore no-explicit-any
    }, (error: Error | null, stats: any) => {
      if (error !== null) reject(error);
      else if (stats.hasErrors()) reject(new Error(stats.toString()));
      else resolve();
    });
  });
}

// ---- pages ------------------------------------------------------------------

/** Bundles the page in `folder` into `out`. */
type PageBundler = (folder: string, out: string) => Promise<void>;

const PAGES: Record<string, PageBundler> = {
  async vite(folder, out) {
    const { build } = await npm("vite@^8");
    await build({
      root: folder,
      base: "./",
      logLevel: "error",
      configFile: false,
      build: { outDir: out },
    });
  },
  /** It finds the worker itself. */
  async webpack(folder, out) {
    const main = path.join(folder, "main.mjs");
    await pack(main, path.join(out, "main.mjs"), { module: true });
    copyPage(folder, out);
  },
  /** It must be given the worker's file. */
  async rollup(folder, out) {
    const files = ["main.mjs", "worker.mjs"];
    const build = await rolled(files.map((name) => path.join(folder, name)));
    const entryFileNames = "[name].mjs";
    await build.write({ dir: out, format: "es", entryFileNames });
    copyPage(folder, out);
  },
};

const copyPage = (folder: string, out: string) =>
  fs.copyFileSync(`${folder}/index.html`, `${out}/index.html`);

const BUNDLERS: Record<string, () => Promise<Bundler>> = { rollup, webpack };

const [bundler, where, page] = process.argv.slice(2) as string[];
const folder = path.resolve(where!);
if (page === "--page") {
  await PAGES[bundler!]!(folder, path.join(folder, "dist", bundler!));
  process.exit();
}
const bundle = await BUNDLERS[bundler!]!();
for (const name of fs.readdirSync(folder)) {
  if (!name.endsWith(".in.js")) continue;
  const text = await bundle(path.join(folder, name));
  const out = name.replace(/\.in\.js$/, `.${bundler}.js`);
  fs.writeFileSync(path.join(folder, out), text);
}
