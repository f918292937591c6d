// Each primitive builds on those above it only, as mod.ts lists them, and each
// room of primitives/ on the rooms below it.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = `${PROJECT}primitives/`;

/** The rooms; each may use those that are listed above it. */
const ROOMS = [
  "_memory/layout",
  "_memory",
  "_wait",
  "_lock",
  "_message",
  "_value",
  "_value/view",
  "_map",
  "_queue",
  "_queue/spsc",
  "_queue/mpmc",
  "_queue/lock_free",
  "_queue/record",
  "_queue/channel",
  "_worker",
  "_calls/ring",
  "_calls",
  "_calls/client",
  "_pool",
  "_pool/whole",
  "_pool/worker",
  "kernel",
  "tools",
];

/** No folder is larger than a reader can survey. */
const FIRST_LEVEL = 45;
const ROOM = 15;

/** What the module `file` imports or exports again, as it is written. */
function references(file: string): string[] {
  const text = fs.readFileSync(file, "utf8")
    .replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, ""); // examples import, too
  const from = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;
  return [...text.matchAll(from)].map(([, reference]) => reference!);
}

/** The modules that `name` imports, by their paths in `primitives/`. */
const imported = (name: string): string[] =>
  references(FOLDER + name).map((reference) =>
    path.posix.join(path.posix.dirname(name), reference)
  );

const files = fs.readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts")).sort();
const isPrivate = (name: string) => /(^|\/)_/.test(name);
const roomOf = (name: string) => path.posix.dirname(name);

/** What has an entry point of its own, over all of mod.ts. */
const LAST = [
  "pool.ts",
  "sync_worker.ts",
  "tools/watch.ts",
  "tools/deadlocks.ts",
  "tools/devtools.ts",
  "realtime.ts",
  "kernel/locks.ts",
  "kernel/memory.ts",
  "kernel/queues.ts",
  "kernel/work.ts",
  "kernel/kernel.ts",
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

test("primitives/ and its rooms stay small enough to survey", () => {
  assert.ok(fs.readdirSync(FOLDER).length <= FIRST_LEVEL);
  for (const room of ROOMS) {
    const { length } = fs.readdirSync(FOLDER + room);
    assert.ok(length <= ROOM, `${room} holds ${length} files`);
  }
  const known = [".", ...ROOMS];
  assert.equal(files.filter((name) => !known.includes(roomOf(name))), []);
});

for (const name of files) {
  test(`primitives/${name} imports only files of its folder`, () => {
    const others = imported(name).filter((other) => !files.includes(other));
    assert.equal(others, []);
  });

  test(`primitives/${name} imports only what is below it`, () => {
    const above = order.slice(0, Math.max(order.indexOf(name), 0));
    const rooms = isPrivate(name)
      ? [".", ...ROOMS.slice(0, ROOMS.indexOf(roomOf(name)) + 1)]
      : [".", ...ROOMS];
    const wrong = imported(name).filter((other) =>
      isPrivate(other) ? !rooms.includes(roomOf(other)) : !above.includes(other)
    );
    assert.equal(wrong, []);
  });
}

test("only tools use what tools share", () => {
  const wrong = files.filter((name) =>
    roomOf(name) !== "tools" &&
    imported(name).some((other) => other.startsWith("tools/_"))
  );
  assert.equal(wrong, []);
});

test("private files import each other without a cycle", () => {
  const done = new Set<string>();
  const visit = (name: string, before: string[]) => {
    assert.not.ok(before.includes(name), `${before.join(" > ")} > ${name}`);
    if (done.has(name)) return;
    for (const other of imported(name)) {
      if (isPrivate(other)) visit(other, [...before, name]);
    }
    done.add(name);
  };
  files.filter(isPrivate).forEach((name) => visit(name, []));
});

test("files of bench/ do not import each other in a circle", () => {
  const bench = `${PROJECT}bench/`;
  const done = new Set<string>();
  const visit = (file: string, before: string[]) => {
    assert.not.ok(before.includes(file), `${before.join(" > ")} > ${file}`);
    if (done.has(file)) return;
    for (const reference of references(file)) {
      const other = path.join(path.dirname(file), reference);
      if (other.startsWith(bench) && other.endsWith(".ts")) {
        visit(other, [...before, file]);
      }
    }
    done.add(file);
  };
  fs.readdirSync(bench, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .forEach((name) => visit(bench + name, []));
});
