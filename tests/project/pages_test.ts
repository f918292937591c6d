// it is long
// docs/primitives has a page for each module, and links in the documents lead
// somewhere. `_run/parts/page.ts` has what is true of one page.
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { writeProgram } from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { headerOf } from "./layout.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = path.join(PROJECT, "docs", "primitives");

const test = suite("pages");
const read = (...names: string[]) =>
  fs.readFileSync(path.join(...names), "utf8");

/** The public modules in mod.ts's order, and what lies over all of them. */
const stems = [
  ...read(PROJECT, "mod.ts").matchAll(/"\.\/primitives\/(?:tools\/)?(\w+)\./g),
]
  .map(([, stem]) => stem!)
  .filter((stem) => !stem.startsWith("_"))
  .concat(
    "pool",
    "sync_worker",
    "watch",
    "deadlocks",
    "devtools",
    "realtime",
    "kernel",
  );

test("each module of mod.ts has its page, once in the index", () => {
  const pages = fs.readdirSync(PAGES).filter((name) => name !== "README.md");
  assert.equal(pages, stems.map((stem) => `${stem}.md`).toSorted());
  const rows = [...read(PAGES, "README.md").matchAll(/^\|.*\]\((\w+)\.md\)/gm)]
    .map(([, stem]) => stem!);
  assert.equal(rows.toSorted(), stems.toSorted());
});

/** They read the memory of others, and have none. */
const WITHOUT_MEMORY = [
  "agent",
  "struct",
  "value",
  "wait_any",
  "recover",
  "inspect",
  "watch",
  "devtools",
  "realtime",
  "kernel",
];

test("a page, and a header, says when the memory may be freed", () => {
  const says = (text: string, before: string) =>
    (text.match(RegExp(`^${before}Freed when:`, "gm")) ?? []).length;
  const wrong = stems.flatMap((stem) => {
    const there = WITHOUT_MEMORY.includes(stem) ? 0 : 1;
    const page = says(read(PAGES, `${stem}.md`), String.raw`- \*\*`);
    const header = path.join(PROJECT, headerOf(stem));
    const inC = fs.existsSync(header) ? says(read(header), " \\* ") : there;
    return page === there && inC === there ? [] : [stem];
  });
  assert.equal(wrong, []);
});

test("an example of C includes the headers of what it uses", () => {
  // These say something to all headers before the first one.
  const macros = /^#define WEFT_(REALTIME|NAMED_AGENTS|STDIO)/m;
  const whole = stems.flatMap((stem) =>
    [...read(PAGES, `${stem}.md`).matchAll(/^```c\n(.*?)^```$/gms)]
      .filter(([, text]) => /^#include ["<]weft\.h/m.test(text!))
      .filter(([, text]) => !macros.test(text!))
      .map(() => stem)
  );
  assert.equal(whole, []);
});

const sources = fs.readdirSync(path.join(PROJECT, "primitives"), {
  recursive: true,
  encoding: "utf8",
}).filter((name) => name.endsWith(".ts"))
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

// ---- links ------------------------------------------------------------------

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

// ---- parts of programs ------------------------------------------------------

/** What stands around examples that are a part of a program, in their order. */
const AROUND: Readonly<Record<string, readonly string[]>> = {
  "README.md": [
    'import { codec, HashMap } from "@weft/sync";\n' +
    "const codecs = { key: codec.text, value: codec.i32 };\n" +
    "declare const memory: WebAssembly.Memory;\n" +
    "declare const C: { _get_counts(): number };\n" +
    "declare const text: string;",
  ],
  "docs/cpp.md": [
    "declare const module: " +
    "{ _queue(): number; wasmMemory: { buffer: SharedArrayBuffer } };",
  ],
  "docs/guides/hosting.md": [
    "declare function start(): Promise<void>;",
    "declare const addEventListener: (type: string, " +
    "listener: (event: { persisted: boolean }) => void) => void;",
  ],
  "docs/primitives/channel.md": [""],
  "docs/primitives/pool.md": [
    "declare const make: () => Worker;",
    'import { servePool, task } from "@weft/sync/pool";\n' +
    "const tasks = { classify: task<string, string>() };\n" +
    "declare function load(model: string): " +
    "Promise<{ classify(text: string): string }>;",
    'import { type Pool, type Task } from "@weft/sync/pool";\n' +
    "declare const pool: Pool<{ encode: Task<Uint8Array, undefined> }>;\n" +
    "declare const film: Uint8Array;\n" +
    "declare const bar: { show(percent: number): void };\n" +
    "declare const button: { onclick: () => void };",
    'import { servePool, task } from "@weft/sync/pool";\n' +
    "const tasks = { encode: task<Uint8Array, undefined>() };\n" +
    "declare function encode(" +
    "film: Uint8Array, percent: number, speed: number): Promise<void>;",
    'import { type Pool, type Task } from "@weft/sync/pool";\n' +
    "declare const pool: Pool<{ parse: Task<string, unknown> }>;\n" +
    "declare const text: string;",
    'import { type Pool, type Task } from "@weft/sync/pool";\n' +
    "type Image = Uint8Array<ArrayBuffer>;\n" +
    "declare const pool: Pool<{ invert: Task<Image, Image> }>;",
  ],
  "docs/primitives/watch.md": [
    'import { layout, Mutex } from "@weft/sync";\n' +
    'import { watch } from "@weft/sync/watch";\n' +
    "declare const document: " +
    "{ getElementById(id: string): { textContent: string } | null };\n" +
    "const shared = layout({ lock: Mutex }).create();\n" +
    "const control = new AbortController();\n",
  ],
};

/** Programs of other libraries, and what other tests compare with a source. */
const OTHERS = [
  "docs/guides/migrating.md",
  "docs/race_reference.md",
  "docs/race_testing.md",
];

test("examples that are programs or parts of one have the types they say", async () => {
  const folder = path.join(PROJECT, ".weft", "parts");
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const files: string[] = [];
  for (const name of documents) {
    if (OTHERS.includes(name)) continue;
    // Those whose first line names a file are run elsewhere.
    const parts = /^```[jt]s ignore\n(?!\/\/ [\w/.]+\.m?[jt]s\b)([^]*?)^```$/gm;
    const found = [...read(PROJECT, name).matchAll(parts)];
    const around = AROUND[name] ?? [];
    assert.is(found.length, around.length, `${name}: say what stands around`);
    for (const [i, [, text]] of found.entries()) {
      const file = path.join(folder, `${path.basename(name, ".md")}${i}.ts`);
      fs.writeFileSync(file, `${around[i]}\n${text}\nexport {};\n`);
      files.push(file);
    }
  }
  assert.is(files.length, Object.values(AROUND).flat().length);
  for (const page of fs.readdirSync(PAGES)) {
    const own = path.join(folder, path.basename(page, ".md"));
    files.push(...writeProgram(read(PAGES, page), own));
  }
  // Not by `deno check`, which passes over files that deno.json excludes.
  const all = path.join(folder, "all.ts");
  const others = files.map((file) =>
    `  await import(${JSON.stringify(file)});`
  );
  fs.writeFileSync(all, `if (Deno.args[0]) {\n${others.join("\n")}\n}\n`);
  const words = ["run", "--check", "-A", all];
  const { code, output } = await run(process.execPath, words, 250);
  assert.is(code, 0, output);
});
