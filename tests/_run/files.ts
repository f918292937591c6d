/**
 * The test files, and what they say of themselves. A test file lies in a
 * folder of `tests/` and is named `*_test.ts`, or `unit.ts`, `threads.ts` or
 * `twin.ts`, or begins with one of these words and a `_`; comments in its first
 * lines say
 *
 * ```text
 * // limit: 300 s           how long the file may take, instead of 120 s
 * // also: node             that it runs under Node and Bun as well
 * // also: node, browsers   and in a worker of a page
 * ```
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { LIMIT_SECONDS } from "./process.ts";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const COMPILER = fileURLToPath(new URL("../../wasm/emcc.ts", import.meta.url));

/** The names of test files. */
const TEST = /(_test|[\\/](unit|threads|twin)(_\w+)?)\.ts$/;

/** A test file. */
export interface File {
  path: string;
  /** Its name, without the extension. */
  name: string;
  /** How long it may take, in seconds. */
  limit: number;
  /** Where it runs, beside Deno. */
  also: ReadonlySet<string>;
  /** Whether it compiles C. */
  needsCompiler: boolean;
}

/** The test files whose name contains `filter`, by name. */
export function find(filter: string): File[] {
  return fs.readdirSync(TESTS, { recursive: true, encoding: "utf8" })
    .filter((name) => TEST.test(name) && name.includes(filter))
    .sort()
    .map((name) => {
      const file = path.join(TESTS, name);
      const head = fs.readFileSync(file, "utf8").split("\n", 10).join("\n");
      const limit = head.match(/^\/\/ limit: (\d+) s$/m)?.[1];
      return {
        path: file,
        name: name.replace(/\.ts$/, "").replaceAll("\\", "/"),
        limit: limit ? Number(limit) : LIMIT_SECONDS,
        also: new Set(head.match(/^\/\/ also: (.+)$/m)?.[1]?.split(", ")),
        needsCompiler: imports(file).has(COMPILER),
      };
    });
}

/** All modules of this project that `file` imports, and what those import. */
function imports(file: string, all = new Set<string>()): Set<string> {
  if (all.has(file) || !fs.existsSync(file)) return all;
  all.add(file);
  const text = fs.readFileSync(file, "utf8");
  for (const [, reference] of text.matchAll(/ from "(\.[^"]+)"/g)) {
    imports(path.resolve(path.dirname(file), reference!), all);
  }
  return all;
}
