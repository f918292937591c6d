// limit: 300 s
// docs/primitives: a page for each module, all of one form, of which every
// example runs; and that links in the documents lead somewhere.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { build, Pool, run, WARNINGS } from "../_run/native.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = path.join(PROJECT, "docs", "primitives");
const BUILT = path.join(PROJECT, ".weft", "pages");

const test = suite("pages", 120_000);
const read = (...names: string[]) =>
  fs.readFileSync(path.join(...names), "utf8");

/** The public modules in mod.ts's order, and what lies over all of them. */
const stems = [...read(PROJECT, "mod.ts").matchAll(/"\.\/primitives\/(\w+)\./g)]
  .map(([, stem]) => stem!)
  .filter((stem) => !stem.startsWith("_"))
  .concat("realtime");

const HEADINGS = [
  "In TypeScript",
  "In C",
  "Waiting and progress",
  "When things go wrong",
  "Mistakes",
];

test("each module of mod.ts has its page, in the index in that order", () => {
  const pages = fs.readdirSync(PAGES).filter((name) => name !== "README.md");
  assert.equal(pages, stems.map((stem) => `${stem}.md`).toSorted());
  const table = read(PAGES, "README.md").match(/^\|.*\.md\).*\|$/gm)!;
  const rows = table.map((row) => row.match(/\]\((\w+)\.md\)/)![1]);
  assert.equal(rows, stems);
  const links = read(PROJECT, "README.md");
  for (const stem of stems) assert.match(links, `(docs/primitives/${stem}.md)`);
});

for (const stem of stems) {
  test(`${stem}.md has the form of all`, () => {
    const page = read(PAGES, `${stem}.md`);
    const found = [...page.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
    assert.equal(found, HEADINGS);
    assert.match(page, /^Take instead:$/m);
    for (const what of ["Terminated", "Wrap", "Limits"]) {
      assert.match(page, `- **${what}:** `);
    }
  });
}

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

// ---- examples in TypeScript -----------------------------------------------------

/** The blocks of `page` whose first line names a file, by that name. */
function filesOf(page: string): [name: string, text: string][] {
  return [
    ...page.matchAll(/^```ts ignore\n(\/\/ (\w+\.ts)[^\n]*\n.*?)^```$/gms),
  ]
    .map(([, text, name]) => [name!, text!]);
}

test("the examples in TypeScript have the types they say", async () => {
  fs.rmSync(BUILT, { recursive: true, force: true });
  const files: string[] = [];
  for (const stem of stems) {
    const page = read(PAGES, `${stem}.md`);
    const found = filesOf(page);
    // Without a name it is run by `deno test --doc`, as the README's are.
    if (found.length === 0) assert.match(page, /^```ts$/m, stem);
    fs.mkdirSync(path.join(BUILT, stem), { recursive: true });
    for (const [name, text] of found) {
      fs.writeFileSync(path.join(BUILT, stem, name), text);
      files.push(`./${stem}/${name}`);
    }
  }
  // Never imported, and checked nevertheless, all at once.
  const imports = files.map((file) => `  await import("${file}");\n`);
  const all = path.join(BUILT, "all.ts");
  fs.writeFileSync(all, `if (Deno.args[0]) {\n${imports.join("")}}\n`);
  const words = ["run", "--check", "-A", all];
  const { code, output } = await run(Deno.execPath(), words, 100);
  assert.is(code, 0, output);
});

const pool = new Pool(2);

test("the examples in TypeScript run", async () => {
  const mains = stems.map((stem) => path.join(BUILT, stem, "main.ts"));
  const ended = mains.filter((main) => fs.existsSync(main))
    .map((main) =>
      pool.run(async () => {
        const words = ["run", "-A", main];
        return { main, ...await run(Deno.execPath(), words, 30) };
      })
    );
  const failed = (await Promise.all(ended)).filter(({ code }) => code !== 0);
  assert.equal(failed, []);
});

// ---- examples in C --------------------------------------------------------------

test("the examples in C compile without a warning, and run", async () => {
  const ended = stems.flatMap((stem) => {
    const page = read(PAGES, `${stem}.md`);
    const blocks = [...page.matchAll(/^```c\n(.*?)^```$/gms)];
    return blocks.map(([, text], i) =>
      pool.run(async () => {
        const source = path.join(BUILT, `${stem}${i}.c`);
        fs.mkdirSync(BUILT, { recursive: true });
        fs.writeFileSync(source, text!);
        const words = ["-std=c11", "-O1", "-pthread", ...WARNINGS];
        const name = `page-${stem}${i}`;
        const program = { name, compiler: "gcc", words, sources: [source] };
        return { name, ...await run(await build(program), [], 30) };
      })
    );
  });
  const failed = (await Promise.all(ended)).filter(({ code }) => code !== 0);
  assert.equal(failed, []);
  // Of what C has; it waits for one at a time.
  assert.is(ended.length, stems.length - ["wait_any"].length);
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
        const target = file === "" ? here : path.resolve(here, "../..", file!);
        if (!fs.existsSync(target)) return true;
        if (anchor === undefined) return false;
        const headings = read(target).matchAll(/^#+ (.*)$/gm);
        return ![...headings].some(([, text]) => anchorOf(text!) === anchor);
      })
      .map((link) => `${name}: ${link}`);
  });
  assert.equal(broken, []);
});
