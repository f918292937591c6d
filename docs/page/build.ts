/**
 * Builds the page into plain files, which any static host can serve.
 *
 * @module
 */
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { wasmClang } from "../../wasm/emcc.ts";
import { AGENTS, AT, OWN, PAGES } from "./shared.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PROJECT = here("../../");

/** Scripts that a browser loads: the page's own, its workers, its worklet. */
const SCRIPTS = [
  "main.ts",
  "agent.ts",
  "pusher.ts",
  "producer.ts",
  "player.ts",
  "explorer.ts",
];

/** Files that are copied. */
const FILES = ["index.html", "style.css", "../../wasm/isolate.js"];

/**
 * Flags of agent.c: a module without data, in a memory that is given. The page
 * sets the stack of each instance.
 */
const FLAGS = [
  "-Os",
  "-matomics",
  "-mbulk-memory",
  "-nostdlib",
  `-I${here("../../wasm")}`,
  "-Wl,--no-entry,--import-memory,--shared-memory,--strip-all",
  `-Wl,--max-memory=${PAGES * 65536},--export=__stack_pointer`,
  "-Wl,-z,stack-size=1024",
];

const entry = (name: string) => path.join(PROJECT, name);

/** What pages import, by what users call it. */
export const ALIAS: Record<string, string> = {
  "@weft/sync/race": entry("race/mod.ts"),
  "@weft/sync/pool": entry("primitives/pool.ts"),
  "@weft/sync/realtime": entry("primitives/realtime.ts"),
  "@weft/sync": entry("mod.ts"),
};

/** Builds the page into the folder `out`. */
export async function buildPage(out: string): Promise<void> {
  if (AT.own + OWN * AGENTS > PAGES * 65536) throw new Error("no such memory");
  fs.mkdirSync(out, { recursive: true });
  const built = esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: SCRIPTS.map(here),
    outdir: out,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    external: ["node:*"],
    alias: ALIAS,
    logLevel: "error",
  });
  const wasm = path.join(PROJECT, ".weft", "page", "agent.wasm");
  await wasmClang({
    sources: [here("agent.c")],
    args: FLAGS,
    out: wasm,
    quiet: true,
  });
  fs.copyFileSync(wasm, path.join(out, "agent.wasm"));
  for (const file of FILES) {
    fs.copyFileSync(here(file), path.join(out, path.basename(file)));
  }
  await built;
  await esbuild.stop();
}
