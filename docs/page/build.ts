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
import { colour, COLOURS } from "../site/colour.ts";
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
const FILES = ["tester.png", "../../wasm/isolate.js"];

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

/** The links to what else the site has; the page alone has none. */
const LINKS = [
  ["../index.html", "What Weft is"],
  ["../docs/guides/tutorial.html", "Tutorial"],
  ["../docs/guides/choosing.html", "Choosing a primitive"],
  ["../docs/race_testing.html", "The race tester"],
  ["../docs/examples/index.html#pages", "More pages"],
];

const read = (name: string) => fs.readFileSync(here(name), "utf8");

/** The page's HTML, with the code that it names. */
function pageWith(links: boolean): string {
  const items = LINKS.map(([to, name]) =>
    `<li><a href="${to}">${name}</a></li>`
  );
  return read("index.html")
    .replace(
      /<!-- code (.*) -->/g,
      (_, names: string) =>
        names.split(" ").map((name) =>
          `<details class="code"><summary>${name}</summary>` +
          `<pre tabindex="0"><code>${colour(read(name), name.split(".")[1]!)}` +
          "</code></pre></details>"
        ).join("\n"),
    )
    .replace(
      "<!-- links -->",
      links
        ? `<nav aria-label="More of Weft"><ul>${items.join("")}</ul></nav>`
        : "",
    );
}

/**
 * Builds the page into the folder `out`; with `links`, as a part of the site.
 */
export async function buildPage(out: string, links = false): Promise<void> {
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
  fs.writeFileSync(path.join(out, "index.html"), pageWith(links));
  fs.writeFileSync(path.join(out, "style.css"), read("style.css") + COLOURS);
  for (const file of FILES) {
    fs.copyFileSync(here(file), path.join(out, path.basename(file)));
  }
  await built;
  await esbuild.stop();
}
