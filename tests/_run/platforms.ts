/**
 * Runs the test files that run anywhere on platforms which a machine may lack:
 * `deno task platforms [bun|chromium|firefox] [FILTER]`.
 *
 * Bun is `$BUN`, the one on the PATH, or npm's; browsers are `$CHROMIUM` and
 * `$FIREFOX`, or on the PATH (Debian: `apt-get install chromium firefox-esr`).
 * In a browser, files run in workers, and then `browser/page_suite.ts` on the
 * page itself, with an AudioWorklet.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { bundle } from "./bundle.ts";
import { browse, BROWSERS } from "./browser/server.ts";
import { type File, find } from "./files.ts";
import { BUNDLES, CHILD, runFile } from "./process.ts";
import { end, fail, inParallel, show } from "./report.ts";
import { complain, wordsOf } from "./usage.ts";

/** Bun of npm, where there is no other. */
const NPM_BUN = ["npx", "-y", "bun@1.4.5"];

function runs(command: readonly string[]): boolean {
  const [program, ...args] = [...command, "--version"];
  return spawnSync(program!, args, { stdio: "ignore" }).status === 0;
}

async function runUnderBun(files: File[]) {
  const found = [[process.env.BUN ?? "bun"], NPM_BUN].find(runs);
  if (found === undefined) return fail("bun: neither installed nor on npm");
  await bundle([CHILD, ...files.map(({ path }) => path)], BUNDLES);
  await inParallel(
    files.map((file) => () =>
      show(`bun ${file.name}`, () => runFile(file, found))
    ),
  );
}

async function runInBrowser(name: string, files: File[]) {
  let begin = performance.now();
  try {
    for await (const [title, outcome] of browse(name, files)) {
      await show(`${name} ${title}`, () => outcome, begin);
      begin = performance.now();
    }
  } catch (error) {
    fail(`${name}: ${(error as Error).message}`);
  }
}

const USAGE = `usage: deno task platforms [bun|chromium|firefox ...] [NAME]
Runs the tests that run anywhere, or those of one folder of tests/, under Bun
and in browsers. $BUN, $CHROMIUM and $FIREFOX say where these are.`;

const { positionals } = wordsOf(USAGE);
const isPlatform = (word: string) => word === "bun" || word in BROWSERS;
const named = positionals.filter(isPlatform);
const [filter = ""] = positionals.filter((word) => !isPlatform(word));
const platforms = named.length > 0 ? named : ["bun", ...Object.keys(BROWSERS)];
const files = find(filter).filter(({ also }) => also.size > 0);
if (files.length === 0) {
  complain(`no test that runs there is named "${filter}"`);
}
for (const platform of platforms) {
  if (platform === "bun") await runUnderBun(files);
  else {
    const there = files.filter(({ also }) => also.has("browsers"));
    await runInBrowser(platform, there);
  }
}
end();
