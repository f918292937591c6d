/**
 * The small primitives, as they are or with a bug: copies of their sources
 * under `.weft/`, edited and imported from there.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { edited } from "../../_run/edits.ts";
import type { Bug } from "./bugs.ts";
import type { Module } from "./families.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const STEMS = [
  "mutex",
  "semaphore",
  "mpmc",
  "spsc",
  "condvar",
  "rwlock",
  "barrier",
  "counter",
];

/** All primitives, with `bug` in one of them. */
export async function load(bug?: Bug): Promise<Module> {
  const folder = path.join(
    FOLDER,
    "../../../.weft/race_corpus",
    `${process.pid}-${bug?.id ?? "right"}`,
  );
  fs.mkdirSync(folder, { recursive: true });
  const module: Record<string, unknown> = {};
  try {
    for (const stem of STEMS) {
      const source = fs.readFileSync(path.join(FOLDER, `${stem}.ts`), "utf8");
      const text = bug?.family === stem
        ? edited(bug.id, source, bug.edits)
        : source;
      fs.writeFileSync(path.join(folder, `${stem}.ts`), text);
    }
    for (const stem of STEMS) {
      const url = pathToFileURL(path.join(folder, `${stem}.ts`)).href;
      Object.assign(module, await import(url));
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return module;
}
