/**
 * Bundles with the bundlers that are no part of the project: npm has them, in
 * the cache of Deno. A program of its own, because the project's configuration
 * must not know them:
 *
 * ```sh
 * deno run -A --no-config --no-lock _bundlers.ts rollup FOLDER
 * ```
 *
 * It bundles and minifies each `FOLDER/*.in.js` into a file `.rollup.js`.
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
  const { rollup } = await npm("@rollup/wasm-node@^4");
  const { minify } = await npm("terser@^5");
  return async (file) => {
    const build = await rollup({
      input: file,
      external: /^(node:|fast-check$)/,
      plugins: [{ name: "installed", resolveId: resolve }],
      onLog() {},
    });
    const { output: [{ code }] } = await build.generate({ format: "es" });
    return (await minify(code, { module: true })).code;
  };
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
async function webpack(): Promise<Bundler> {
  const { default: webpack } = await npm("webpack@^5");
  const { default: Terser } = await npm("terser-webpack-plugin@^5");
  return (file) =>
    new Promise((resolve, reject) => {
      const out = file.replace(/\.js$/, ".out.js");
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
          library: { type: "module" },
        },
        optimization: {
          minimizer: [new Terser({ parallel: false, extractComments: false })],
        },
        performance: false,
        // deno-lint-ignore no-explicit-any
      }, (error: Error | null, stats: any) => {
        if (error !== null) return reject(error);
        if (stats.hasErrors()) return reject(new Error(stats.toString()));
        resolve(fs.readFileSync(out, "utf8"));
        fs.rmSync(out);
      });
    });
}

const BUNDLERS: Record<string, () => Promise<Bundler>> = { rollup, webpack };

const [bundler, where] = process.argv.slice(2) as [string, string];
const folder = path.resolve(where);
const bundle = await BUNDLERS[bundler]!();
for (const name of fs.readdirSync(folder)) {
  if (!name.endsWith(".in.js")) continue;
  const text = await bundle(path.join(folder, name));
  const out = name.replace(/\.in\.js$/, `.${bundler}.js`);
  fs.writeFileSync(path.join(folder, out), text);
}
