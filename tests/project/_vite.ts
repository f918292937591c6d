/**
 * Bundles a page with Vite, which is no part of the project: npm has it, in the
 * cache of Deno. A program of its own, because the project's configuration must
 * not know it:
 *
 * ```sh
 * deno run -A --no-config --no-lock _vite.ts FOLDER
 * ```
 *
 * It bundles `FOLDER/index.html` into `FOLDER/dist`.
 *
 * @module
 */

import process from "node:process";

// Not a literal, so that neither the lock file nor `deno check` sees it.
const vite = "npm:vite@^8";
const { build } = await import(vite);
const [root] = process.argv.slice(2);
await build({ root, base: "./", logLevel: "error", configFile: false });
