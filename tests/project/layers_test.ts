// Each primitive builds on those above it only, as mod.ts lists them.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = `${PROJECT}primitives/`;

/** What the module `file` imports or exports again, as it is written. */
function references(file: string): string[] {
  const text = fs.readFileSync(file, "utf8")
    .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ""); // examples import, too
  const from = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;
  return [...text.matchAll(from)].map(([, reference]) => reference!);
}

const files = fs.readdirSync(FOLDER).filter((name) => name.endsWith(".ts"));
const isPrivate = (name: string) => name.startsWith("_");

/** What has an entry point of its own, over all of mod.ts. */
const LAST = [
  "pool.ts",
  "watch.ts",
  "deadlocks.ts",
  "devtools.ts",
  "realtime.ts",
  "kernel.ts",
];

/** The public files, in mod.ts's order. */
const order = references(`${PROJECT}mod.ts`)
  .map((reference) => reference.replace("./primitives/", ""))
  .filter((name) => !isPrivate(name)).concat(LAST);

const test = suite("imports");

test("mod.ts lists every primitive once", () => {
  const publics = files.filter((name) => !isPrivate(name));
  assert.equal(order.toSorted(), publics.toSorted());
});

for (const name of files) {
  const imported = references(FOLDER + name)
    .map((reference) => reference.replace(/^\.\//, ""));

  test(`primitives/${name} imports only files of its folder`, () => {
    const others = imported.filter((other) => !files.includes(other));
    assert.equal(others, []);
  });

  test(`primitives/${name} imports only what is below it`, () => {
    const above = order.slice(0, Math.max(order.indexOf(name), 0));
    const wrong = imported
      .filter((other) => !isPrivate(other) && !above.includes(other));
    assert.equal(wrong, []);
  });
}

test("private files import each other without a cycle", () => {
  const done = new Set<string>();
  const visit = (name: string, path: string[]) => {
    assert.not.ok(path.includes(name), `${path.join(" > ")} > ${name}`);
    if (done.has(name)) return;
    for (const reference of references(FOLDER + name)) {
      const other = reference.replace(/^\.\//, "");
      if (isPrivate(other)) visit(other, [...path, name]);
    }
    done.add(name);
  };
  files.filter(isPrivate).forEach((name) => visit(name, []));
});
