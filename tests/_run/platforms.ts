/**
 * Runs the test files that run anywhere on each platform, also on those that a
 * machine may lack: see {@linkcode USAGE}.
 *
 * In a browser, files run in workers, and then `browser/page_suite.ts` on the
 * page itself, with an AudioWorklet.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { browse, BROWSERS, commandOf } from "./browser/server.ts";
import { bun, versionOf } from "./bun.ts";
import { bundle } from "./bundle.ts";
import { prepareCompiler } from "./compiler.ts";
import { type File, find } from "./files.ts";
import type { Counts } from "./harness.ts";
import { node24 } from "./node24.ts";
import { BUNDLES, CHILD, runFile } from "./process.ts";
import { counted, end, fail, inParallel, show } from "./report.ts";
import { complain, wordsOf } from "./usage.ts";

const USAGE = `usage: deno task platforms [--record] [PLATFORM ...] [NAME]
Runs the tests that run anywhere, or those of one folder of tests/, on each
PLATFORM: deno, node, node24, bun, chromium, firefox, webkit; unless you name
some, on bun and the browsers. node24 is npm's. Bun is $BUN, the one on the PATH or npm's.
The browsers are $CHROMIUM and $FIREFOX, or on the PATH (Debian: apt-get install
chromium firefox-esr). WebKit is WebKitGTK (webkit2gtk-driver xvfb). Emscripten is fetched before the tests begin.
--record writes the results into docs/compatibility.md.`;

const PAGE = fileURLToPath(
  new URL("../../docs/compatibility.md", import.meta.url),
);

/** The command of each runtime, and of Deno none. */
const RUNTIMES: Readonly<
  Record<string, () => readonly string[] | undefined>
> = {
  deno: () => [process.execPath],
  node: () => ["node"],
  node24,
  bun: () => bun({ fetches: true }),
};

/** Runs `files` under a runtime, and returns its version. */
async function runUnder(name: string, files: File[]) {
  const command = RUNTIMES[name]!();
  const version = command && versionOf(command);
  if (version === undefined) return fail(`${name}: not installed`);
  const own = name === "deno" ? undefined : command;
  if (own) await bundle([CHILD, ...files.map(({ path }) => path)], BUNDLES);
  await inParallel(
    files.map((file) => ({
      run: () => show(`${name} ${file.name}`, () => runFile(file, own)),
    })),
  );
  return version;
}

/** Runs `files` in a browser, and returns its version. */
async function runInBrowser(name: string, files: File[]) {
  let begin = performance.now();
  try {
    for await (const [title, outcome] of browse(name, files)) {
      await show(`${name} ${title}`, () => outcome, begin);
      begin = performance.now();
    }
    return versionOf(commandOf(name));
  } catch (error) {
    fail(`${name}: ${(error as Error).message}`);
  }
}

/** Writes the row of a platform in docs/compatibility.md. */
function record(name: string, version: string, before: Counts) {
  const { passed, failed, skipped } = counted();
  const counts = [
    passed - before.passed,
    failed - before.failed,
    skipped - before.skipped,
  ];
  const date = new Date().toISOString().slice(0, 10);
  const cells = [name, version, ...counts, date];
  const text = fs.readFileSync(PAGE, "utf8");
  const row = RegExp(`^\\| ${name} +\\|.*$`, "m");
  if (!row.test(text)) throw new Error(`${PAGE} has no row of ${name}`);
  const line = `| ${cells.join(" | ")} |`;
  fs.writeFileSync(PAGE, text.replace(row, line));
  spawnSync("deno", ["fmt", "-q", PAGE]);
}

const { values, positionals } = wordsOf(USAGE, { record: "boolean" });
const isPlatform = (word: string) => word in RUNTIMES || word in BROWSERS;
const named = positionals.filter(isPlatform);
const [filter = ""] = positionals.filter((word) => !isPlatform(word));
if (values.record && filter !== "") complain("--record needs all tests");
const platforms = named.length > 0 ? named : ["bun", ...Object.keys(BROWSERS)];
const files = find(filter).filter(({ also }) => also.size > 0);
if (files.length === 0) {
  complain(`no test that runs there is named "${filter}"`);
}
await prepareCompiler();
for (const platform of platforms) {
  const before = counted();
  const there = files.filter(({ also }) => also.has("browsers"));
  const version = platform in RUNTIMES
    ? await runUnder(platform, files)
    : await runInBrowser(platform, there);
  if (values.record && version) record(platform, version, before);
}
end();
