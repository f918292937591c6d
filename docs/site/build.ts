/**
 * Builds the site: plain files of HTML from the documents, with a search, the
 * live page, and what `deno doc` says.
 *
 * @module
 */
import * as esbuild from "esbuild";
import MiniSearch from "minisearch";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildPage } from "../page/build.ts";
import { buildPrograms } from "../page/programs.ts";
import { colour, COLOURS } from "./colour.ts";
import {
  contents,
  isCode,
  PARTED,
  parted,
  placeOf,
  PROJECT,
  titleOf,
} from "./contents.ts";
import { escape, frame } from "./html.ts";
import { render } from "./render.ts";
import { OPTIONS } from "./search_options.ts";
import { picture } from "./words.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Builds the site into `out`; `api` if with the pages of `deno doc`. */
export async function buildSite(
  out: string,
  { api = true, page = true } = {},
): Promise<void> {
  const parts = contents();
  const found: Record<string, string>[] = [];
  const write = (place: string, text: string | Uint8Array) => {
    const file = path.join(out, place);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  const done = new Set<string>();
  const todo = parts.flatMap(({ documents }) => documents);
  for (let file; (file = todo.pop()) !== undefined;) {
    if (done.has(file)) continue;
    done.add(file);
    const place = placeOf(file);
    const at = path.join(PROJECT, file);
    if (!fs.existsSync(at)) { // a folder without a page of its own
      const folder = path.dirname(file);
      const names = fs.readdirSync(path.join(PROJECT, folder));
      todo.push(...names.map((name) => `${folder}/${name}`));
      const items = names.map((name) =>
        `<li><a href="${path.basename(placeOf(`${folder}/${name}`))}">` +
        `${escape(name)}</a></li>`
      );
      const list = `<h1>${escape(folder)}</h1><ul>${items.join("")}</ul>`;
      write(place, frame(parts, place, folder, list));
    } else if (file.endsWith(".md")) {
      const title = titleOf(file);
      const show = (text: string, place: string, title: string) => {
        const { html, sections, links } = render(file, text, place);
        todo.push(...links);
        for (const section of sections) {
          const { anchor, text } = section;
          const url = `${place}#${anchor}`;
          found.push({ id: url, url, page: title, title: section.title, text });
        }
        write(place, frame(parts, place, title, withPicture(file, html)));
      };
      if (file !== PARTED) show(read(at), place, title);
      else {
        const { text, pages } = parted(read(at));
        show(text, place, title);
        for (const part of pages) {
          show(part.text, part.place, `${title}: ${part.title}`);
        }
      }
    } else if (isCode(file)) {
      const code = `<h1>${escape(file)}</h1>` +
        `<pre tabindex="0"><code>` +
        `${colour(read(at), file.split(".").at(-1)!)}</code></pre>`;
      write(place, frame(parts, place, file, code));
    } else write(place, fs.readFileSync(at));
  }
  const index = new MiniSearch(OPTIONS);
  index.addAll(found);
  write("search.json", JSON.stringify(index));
  write("site.css", `${read(here("site.css"))}\n${COLOURS}`);
  await esbuild.build({
    entryPoints: [here("search.ts"), here("copy.ts")],
    outdir: out,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "error",
  });
  await esbuild.stop();
  await buildPrograms(path.join(out, "docs", "examples"));
  if (page) await buildPage(path.join(out, "page"), true);
  if (api) buildApi(path.join(out, "api"));
}

const read = (file: string) => fs.readFileSync(file, "utf8");

/** The page of a primitive has a picture of its words. */
function withPicture(file: string, html: string): string {
  const [, stem] = /^docs\/primitives\/(\w+)\.md$/.exec(file) ?? [];
  if (stem === undefined || stem === "README") return html;
  return html.replace('<h2 id="in-typescript">', (all) => picture(stem) + all);
}

/** Writes what `deno doc` says of each entry point. */
function buildApi(out: string) {
  const { exports } = JSON.parse(read(path.join(PROJECT, "deno.json")));
  const entries = [
    "mod.ts",
    ...["pool", "watch", "deadlocks", "devtools", "realtime", "kernel", "race"]
      .map((name) => exports[`./${name}`]),
  ];
  const words = ["doc", "--html", "--name=Weft", `--output=${out}`];
  const { status, stderr } = spawnSync(
    process.execPath,
    [...words, ...entries],
    { cwd: PROJECT, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
}
