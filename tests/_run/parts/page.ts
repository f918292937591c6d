// it is long
// Tests one folder's page in docs/primitives: its form, and that each example
// runs.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { raised, writeProgram } from "../examples.ts";
import { isTwin, thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { build, run, WARNINGS } from "../native.ts";

const folder = thisFolder(import.meta.url);
const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const BUILT = path.join(PROJECT, ".weft", "pages", folder);
const PAGE = fs.readFileSync(
  path.join(PROJECT, "docs", "primitives", `${folder}.md`),
  "utf8",
);

const HEADINGS = [
  "In TypeScript",
  "In C",
  "Waiting and progress",
  "When things go wrong",
  "Mistakes",
];

const test = suite(`docs/primitives/${folder}.md`);

test("has the form of all pages", () => {
  const found = [...PAGE.matchAll(/^## (.*)$/gm)].map(([, name]) => name);
  assert.equal(found, HEADINGS);
  assert.match(PAGE, /^Use instead:$/m);
  for (const what of ["Terminated", "Wrap", "Limits"]) {
    assert.match(PAGE, `- **${what}:** `);
  }
  assert.match(PAGE, /^\*\*Happens before:\*\* /m);
});

// Their types are checked by `project/pages`, all at once.
test("its examples in TypeScript run", async () => {
  fs.rmSync(BUILT, { recursive: true, force: true });
  const files = writeProgram(PAGE, BUILT);
  if (files.length === 0) return assert.match(PAGE, /^```ts$/m);
  const main = files.find((file) => path.basename(file) === "main.ts");
  if (main === undefined) return;
  const words = ["run", "--no-check", "-A", main];
  const ended = await run(Deno.execPath(), words, 250);
  assert.is(ended.code, 0, ended.output);
});

test("its examples in C compile without a warning, and run", async () => {
  const blocks = [...PAGE.matchAll(/^```c\n(.*?)^```$/gms)];
  // C has no other primitives than those with a header.
  if (isTwin(folder)) assert.ok(blocks.length > 0, "no example in C");
  fs.mkdirSync(BUILT, { recursive: true });
  for (const [i, [, text]] of blocks.entries()) {
    const source = path.join(BUILT, `example${i}.c`);
    fs.writeFileSync(source, raised([text!])[0]!);
    const words = ["-std=c11", "-O1", "-pthread", ...WARNINGS];
    const name = `page-${folder}${i}`;
    const program = { name, compiler: "gcc", words, sources: [source] };
    const { code, output } = await run(await build(program), [], 250);
    assert.is(code, 0, output);
  }
});
