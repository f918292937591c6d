/**
 * Fetches the packages that some figures are compared with. They are no part of
 * the project: npm installs them once, into `.weft/peers`.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import { ensureNavigator } from "./_navigator.ts";

/** Exact versions, so that figures stay comparable. */
const VERSIONS = {
  comlink: "4.4.2",
  "ringbuf.js": "0.4.0",
  multithreading: "0.3.52",
  piscina: "5.3.2",
  tinypool: "2.2.0",
  workerpool: "10.0.3",
  poolifier: "5.3.2",
  msgpackr: "2.1.4",
  sharedmap: "1.2.0",
  "lru-cache": "11.5.3",
  lmdb: "3.5.6",
  synckit: "0.12.3",
  "make-synchronous": "2.1.0",
  coincident: "4.1.1",
  vega: "6.4.0",
  "vega-lite": "6.5.0",
} as const;

const FOLDER = new URL("../.weft/peers/", import.meta.url);

const isNode = !("Deno" in globalThis);

const ENTRIES: Record<Peer, string> = {
  comlink: "dist/esm/comlink.mjs",
  "ringbuf.js": "dist/index.mjs",
  multithreading: `src/${isNode ? "node" : "deno"}/lib.js`,
  piscina: "dist/esm-wrapper.mjs",
  tinypool: "dist/index.js",
  workerpool: "src/index.js",
  poolifier: "lib/index.mjs",
  msgpackr: "index.js",
  sharedmap: "index.umd.js",
  "lru-cache": "dist/esm/index.js",
  lmdb: "dist/index.cjs",
  synckit: "lib/index.js",
  "make-synchronous": "index.js",
  coincident: "dist/main.js",
  vega: "build/vega.module.js",
  "vega-lite": "build/index.js",
};

/** A package that figures are compared with. */
export type Peer = keyof typeof VERSIONS;

/** Whether this is a page, which gets no packages. */
const isPage = globalThis.location?.protocol === "http:";

/**
 * The path of a peer's module; undefined if the package cannot be installed.
 */
export function peer(name: Peer): URL | undefined {
  if (isPage) return undefined;
  ensureNavigator();
  const home = new URL(`node_modules/${name}/`, FOLDER);
  if (versionIn(home) !== VERSIONS[name]) install();
  if (versionIn(home) === VERSIONS[name]) return new URL(ENTRIES[name], home);
  return undefined;
}

/** As in `ringbuf.js 0.4.0`. */
export function nameOf(name: Peer): string {
  return `${name} ${VERSIONS[name]}`;
}

function versionIn(home: URL): string | undefined {
  const file = new URL("package.json", home);
  if (!fs.existsSync(file)) return undefined;
  return JSON.parse(fs.readFileSync(file, "utf8")).version;
}

let tried = false;

function install() {
  if (tried) return;
  tried = true;
  fs.mkdirSync(FOLDER, { recursive: true });
  const names = Object.entries(VERSIONS).map(([name, v]) => `${name}@${v}`);
  const quietly = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  const prefix = ["--prefix", fileURLToPath(FOLDER)];
  const { status } = spawnSync("npm", [
    "install",
    ...quietly,
    ...prefix,
    ...names,
  ], { timeout: 120_000 });
  if (status !== 0) {
    console.log(
      "npm's registry cannot be reached: no figures for its packages",
    );
  }
}
