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
import { escape } from "../site/html.ts";
import { colour, COLOURS } from "../site/colour.ts";
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
export const buildCompressor = (out: string): Promise<void> =>
  buildOfC("compressor/main.c", "compressor.mjs", out);

/** Builds the words of C as a module of emcc, into the folder `out`. */
export const buildWords = (out: string): Promise<void> =>
  buildOfC("word_count/words.c", "words.mjs", out);

async function buildOfC(
  file: string,
  name: string,
  out: string,
): Promise<void> {
  const folder = here(`../../.weft/${path.basename(name, ".mjs")}`);
  const source = path.join(EXAMPLES, file);
  await emcc({
    sources: [source],
    args: flagsOf(source),
    out: path.join(folder, name),
    quiet: true,
  });
  fs.mkdirSync(out, { recursive: true });
  for (const name of fs.readdirSync(folder)) {
    if (!/\.(m?js|wasm)$/.test(name)) continue;
    fs.copyFileSync(path.join(folder, name), path.join(out, name));
  }
}

/** The way to the list of programs: where they lie, their index is above. */
const BACK = '<nav><a href="../../index.html#pages">All programs</a></nav>';

/** Where the source stands: beside the program, or below it. */
const STYLE = `
.source summary {
  cursor: pointer;
  font-family: ui-monospace, monospace;
}
.source pre {
  min-height: 0;
  font: 13px/1.5 ui-monospace, monospace;
}
@media (min-width: 1200px) {
  body {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    column-gap: 40px;
    max-width: 1360px;
  }
  body > nav,
  #plain {
    grid-column: 1 / -1;
  }
  main {
    position: sticky;
    top: 20px;
    align-self: start;
  }
}
${COLOURS}`;

/** The source of a program, as part of its page. */
function sourceOf(folder: string): string {
  const files = fs.readdirSync(folder)
    .filter((name) => /\.(mjs|html)$/.test(name))
    .sort((a, b) => Number(a < b) - Number(a > b)); // what works comes first
  const shown = files.map((name) => {
    const text = fs.readFileSync(path.join(folder, name), "utf8").trimEnd();
    const [, ending] = name.split(".");
    return `<details${name.endsWith(".mjs") ? " open" : ""}>` +
      `<summary>${escape(name)}</summary>` +
      `<pre tabindex="0"><code>${colour(text, ending!)}</code></pre></details>`;
  });
  return `<section class="source" aria-label="Source">
<style>${STYLE}</style>
<h2>Source</h2>
${shown.join("\n")}
</section>`;
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
      .replace("<!-- back -->", BACK)
      .replace("<!-- content -->", content)
      .replace("<!-- source -->", () => sourceOf(folder));
    fs.writeFileSync(`${to}/index.html`, page);
    fs.copyFileSync(here("../../wasm/isolate.js"), `${to}/isolate.js`);
  }
  await buildCompressor(path.join(out, "compressor", "page"));
}
