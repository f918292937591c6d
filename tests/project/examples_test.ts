// What people copy works for any N: no example with a capacity counts up to a
// number without a name, and those that `deno test --doc` runs also run with
// more items than their queues hold. Others run so in tests of their own.
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import {
  blocksOf,
  countOf,
  places,
  raised,
  unnamed,
} from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const test = suite("examples");

/** Files that are a program, each in a folder of its own. */
const folders = ["wasm/example"].concat(
  fs.readdirSync(path.join(PROJECT, "docs/examples"))
    .map((name) => `docs/examples/${name}`),
).filter((folder) => fs.existsSync(path.join(PROJECT, folder, "main.mjs")));

test("an example with a capacity calls what it counts N", () => {
  const found = places().flatMap((place) => {
    const texts = blocksOf(place).map(({ text }) => text);
    // The files of a program stand in one document, each in its block.
    const examples = place.endsWith(".md")
      ? [texts]
      : texts.map((one) => [one]);
    return examples.flatMap(unnamed).map((n) => `${place}: ${n}`);
  });
  const programs = folders.flatMap((folder) => {
    const texts = fs.readdirSync(path.join(PROJECT, folder), {
      recursive: true,
      encoding: "utf8",
    }).filter((name) => /\.(mjs|c)$/.test(name))
      .map((name) => path.join(PROJECT, folder, name))
      .map((file) => fs.readFileSync(file, "utf8"));
    return unnamed(texts).map((n) => `${folder}: ${n}`);
  });
  assert.equal([...found, ...programs], []);
});

test("N is raised above all capacities together", () => {
  const text = "const N = 10;\nMpmcQueue.create({ capacity: 64 });\n" +
    "SpscQueue.create({ capacity: 1 << 8 });\n";
  assert.is(countOf(text), 10);
  assert.is(countOf(raised([text])[0]!), 2 * (64 + 256) + 3);
  assert.equal(raised(["const N = 7;"]), ["const N = 7;"]);
  assert.equal(unnamed(["{ capacity: 2 }; for (; i < 3; i++) x();"]), []);
  assert.equal(unnamed(["{ capacity: 2 }; for (; i <= 10; i++) x();"]), ["10"]);
  const other = "{ capacity: 2 }; for (; i < LINES; i++) { push(i); }";
  assert.equal(unnamed([other]), ["LINES"]);
});

test("those of one block run with their N raised", async () => {
  const folder = path.join(PROJECT, ".weft", "examples");
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const texts = places().flatMap((place) =>
    blocksOf(place)
      .filter(({ alone, text }) => alone && countOf(text) !== undefined)
      .map(({ text }) => `// of ${place}\n${text}`)
  );
  assert.ok(texts.length >= 3);
  // One process runs all: each is a module of its own.
  const files = texts.map((text, i) => {
    const file = path.join(folder, `${i}.ts`);
    fs.writeFileSync(file, `${raised([text])[0]}\nexport {};\n`);
    return `console.error(${JSON.stringify(text.split("\n")[0])});\n` +
      `await import(${JSON.stringify(file)});\n`;
  });
  const all = path.join(folder, "all.ts");
  fs.writeFileSync(all, files.join(""));
  const words = ["run", "-A", all];
  const { code, output } = await run(process.execPath, words, 120);
  assert.is(code, 0, output.slice(-2000));
});
