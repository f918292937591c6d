// docs/primitives has a page for each module, and links in the documents lead
// somewhere. `_run/parts/page.ts` has what is true of one page.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = path.join(PROJECT, "docs", "primitives");

const test = suite("pages");
const read = (...names: string[]) =>
  fs.readFileSync(path.join(...names), "utf8");

/** The public modules in mod.ts's order, and what lies over all of them. */
const stems = [...read(PROJECT, "mod.ts").matchAll(/"\.\/primitives\/(\w+)\./g)]
  .map(([, stem]) => stem!)
  .filter((stem) => !stem.startsWith("_"))
  .concat("pool", "watch", "deadlocks", "devtools", "realtime", "kernel");

test("each module of mod.ts has its page, once in the index", () => {
  const pages = fs.readdirSync(PAGES).filter((name) => name !== "README.md");
  assert.equal(pages, stems.map((stem) => `${stem}.md`).toSorted());
  const rows = [...read(PAGES, "README.md").matchAll(/^\|.*\]\((\w+)\.md\)/gm)]
    .map(([, stem]) => stem!);
  assert.equal(rows.toSorted(), stems.toSorted());
});

const sources = fs.readdirSync(path.join(PROJECT, "primitives"))
  .map((name) => read(PROJECT, "primitives", name)).join("");

test("what the tables say waits, or does not, is there", () => {
  const missing = stems.flatMap((stem) => {
    const page = read(PAGES, `${stem}.md`);
    const [, section] = page.match(/^## Waiting(.*?)^## /ms)!;
    const rows = section!.match(/^\|.*\|$/gm) ?? [];
    const names = rows.flatMap((row) => row.match(/(?<=[`.])[a-z]\w+/g) ?? []);
    return names.filter((name) => !RegExp(`\\b${name}\\b`).test(sources))
      .map((name) => `${stem}: ${name}`);
  });
  assert.equal(missing, []);
});

// ---- links ----------------------------------------------------------------------

/** What GitHub makes of a heading. */
const anchorOf = (heading: string) =>
  heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-");

const documents = fs.readdirSync(path.join(PROJECT, "docs"), {
  recursive: true,
  encoding: "utf8",
}).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)
  .concat("README.md");

test("links lead to a file, and to a heading in it", () => {
  const broken = documents.flatMap((name) => {
    const links = read(PROJECT, name).matchAll(/\]\(([^)\s]+)\)/g);
    return [...links].map(([, link]) => link!)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [file, anchor] = link.split("#");
        const here = path.join(PROJECT, name);
        const target = file === "" ? here : path.resolve(here, "..", file!);
        if (!fs.existsSync(target)) return true;
        if (anchor === undefined) return false;
        const headings = read(target).matchAll(/^#+ (.*)$/gm);
        return ![...headings].some(([, text]) => anchorOf(text!) === anchor);
      })
      .map((link) => `${name}: ${link}`);
  });
  assert.equal(broken, []);
});
