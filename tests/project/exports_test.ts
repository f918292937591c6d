// Each value that an internal file exports has a reader.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** Folders whose code may read, and those of them that are looked at. */
const READERS = ["bench", "docs", "primitives", "race", "tests", "wasm"];
const WRITERS = ["bench", "primitives", "race", "tests"];

const { exports: entries } = JSON.parse(
  fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
) as { exports: Record<string, string> };
/** What users import, also as `race`: its exports have readers elsewhere. */
const published = new Set(
  Object.values(entries).map((file) => path.normalize(file)),
).add(path.normalize("race/api.ts"));

const CODE = /\.(?:ts|mjs|js)$/;

const files = READERS.flatMap((folder) =>
  fs.readdirSync(path.join(PROJECT, folder), {
    recursive: true,
    encoding: "utf8",
  }).map((file) => path.join(folder, file))
).filter((file) => CODE.test(file)).concat("mod.ts");

/** The names in each file, comments left out. */
const words = new Map<string, Set<string>>();
const texts = new Map<string, string>();
for (const file of files) {
  const text = fs.readFileSync(path.join(PROJECT, file), "utf8")
    .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
  texts.set(file, text);
  words.set(file, new Set(text.match(/[\w$]+/g)));
}

/** The files by what they name, such as `unit.ts`. */
const naming = new Map<string, string[]>();
for (const [file, text] of texts) {
  for (const name of new Set(text.match(/[\w.-]*\.(?:ts|mjs|js)[\w.-]*/g))) {
    const known = naming.get(name);
    if (known === undefined) naming.set(name, [file]);
    else known.push(file);
  }
}

const EXPORT =
  /^export (?:declare |abstract |async )*(?:const|let|class|enum|function\*?) ([\w$]+)/gm;

/** The files that name `file`, or one that exports all of it. */
function readersOf(file: string): string[] {
  const { base } = path.parse(file);
  const all = RegExp(`^export \\* (?:as \\w+ )?from ".*\\b${base}";`, "m");
  const others = new Set(
    [...naming].flatMap(([name, found]) => name.includes(base) ? found : []),
  );
  others.delete(file);
  return [...others].flatMap((other) =>
    all.test(texts.get(other)!) ? [other, ...readersOf(other)] : [other]
  );
}

/** The exports that none of its readers reads. */
function unread(file: string): string[] {
  const readers = readersOf(file);
  const names = [...texts.get(file)!.matchAll(EXPORT)].map(([, name]) => name!);
  return [...new Set(names)]
    .filter((name) => !readers.some((other) => words.get(other)!.has(name)))
    .map((name) => `${file}: ${name}`);
}

/**
 * What is found by its name, in a folder or in a worker's message, or what only
 * the compiler reads.
 */
const FOUND =
  /^bench\/(?:_[^/]*|[^/]*_bench)\.ts: |^tests\/(?:race\/corpus\/|calls\/types\.ts)|_memory\/layout\/\w+\.ts: [A-Z_]+_BITS$|: types$/;

const test = suite("exports");

test("each value that a file exports has a reader", () => {
  const looked = files.filter((file) =>
    WRITERS.some((folder) => file.startsWith(folder + path.sep)) &&
    !published.has(file)
  );
  assert.ok(looked.length > 300);
  const left = looked.flatMap(unread).filter((name) => !FOUND.test(name));
  assert.equal(left, []);
});
