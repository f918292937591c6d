// The race tester's files lie in rooms, one above the other.
import * as fs from "node:fs";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const FOLDER = fileURLToPath(new URL("../../race/", import.meta.url));

/** The rooms from the bottom up; files in no room lie above all of them. */
const ROOMS = [
  "engine",
  "engine/platform",
  "engine/state/agent",
  "engine/state",
  "engine/step/loops",
  "engine/step",
  "engine/equal",
  "wasm",
  "judge",
  "report",
  "explore/runs",
  "explore/search",
  "explore",
  "",
];

/** No room is larger than a reader can survey. */
const MOST_FILES = 15;

const files = ROOMS.flatMap((room) =>
  fs.readdirSync(FOLDER + room)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => room === "" ? name : `${room}/${name}`)
);

const roomOf = (file: string) =>
  file.slice(0, Math.max(file.lastIndexOf("/"), 0));

/** The files that `file` imports, types included. */
function imports(file: string): string[] {
  const text = fs.readFileSync(FOLDER + file, "utf8")
    .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "");
  const from = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g;
  const base = new URL(file, "race:/");
  return [...text.matchAll(from)]
    .map(([, name]) => new URL(name!, base).pathname.slice(1));
}

const test = suite("race rooms");

test("every folder of race/ is a room", () => {
  const folders = fs.readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((name) => fs.statSync(FOLDER + name).isDirectory());
  assert.equal(folders.toSorted(), ROOMS.filter(Boolean).toSorted());
});

for (const room of ROOMS) {
  test(`race/${room} holds at most ${MOST_FILES} files`, () => {
    const { length } = files.filter((file) => roomOf(file) === room);
    assert.ok(length <= MOST_FILES, `${length} files`);
  });
}

for (const file of files) {
  test(`race/${file} imports nothing from a room above its own`, () => {
    const own = ROOMS.indexOf(roomOf(file));
    const wrong = imports(file).filter((other) =>
      !files.includes(other) || ROOMS.indexOf(roomOf(other)) > own
    );
    assert.equal(wrong, []);
  });
}

test("no files import each other in a circle, types included", () => {
  const done = new Set<string>();
  const visit = (file: string, path: string[]) => {
    assert.not.ok(path.includes(file), `${path.join(" > ")} > ${file}`);
    if (done.has(file)) return;
    imports(file).forEach((other) => visit(other, [...path, file]));
    done.add(file);
  };
  files.forEach((file) => visit(file, []));
});
