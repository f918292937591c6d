/**
 * Checks published packages with the race tester and writes
 * docs/race_findings.md: `deno task race:published [NAME...]`.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Result } from "../../race/mod.ts";
import { install, opener, runScript } from "../race/published/_bundle.ts";
import type { Check, Published } from "../race/published/_kit.ts";
import { type Done, pageOf } from "../race/published/_page.ts";
import { onThreads } from "../race/published/_threads.ts";
import { PACKAGES } from "../race/published/mod.ts";
import { complain, wordsOf } from "./usage.ts";

const USAGE = `usage: deno task race:published [--dry] [NAME...]
Installs the packages of tests/race/published from the registry into
.weft/published, runs the checks of those that are named, or of all, and prints
what was found. If all were run, it writes docs/race_findings.md; --dry does not.`;

const DOCUMENT = fileURLToPath(
  new URL("../../docs/race_findings.md", import.meta.url),
);

const verdictOf = (result: Result): string =>
  result.failure?.kind ?? (result.complete ? "complete" : "not complete");

async function run(of: Published, check: Check): Promise<Done> {
  let loading = 0;
  const open = opener(of, (ms) => loading += ms);
  const begin = performance.now();
  const result = await check.explore(open);
  const ms = performance.now() - begin - loading;
  const threads = check.threads !== undefined
    ? await onThreads(of, check.threads)
    : check.script !== undefined
    ? `on threads: ${runScript(check.script)}`
    : "";
  return { of, check, result, ms, threads };
}

const { values, positionals } = wordsOf(USAGE, { dry: "boolean" });
const named = (name: string) => PACKAGES.find((it) => it.name === name);
const unknown = positionals.find((name) => named(name) === undefined);
if (unknown !== undefined) {
  const names = PACKAGES.map(({ name }) => name).join(", ");
  complain(`No package "${unknown}": there are ${names}`);
}
install(PACKAGES);
const chosen = positionals.length > 0
  ? positionals.map((name) => named(name)!)
  : PACKAGES;
const done: Done[] = [];
let surprises = 0;
for (const of of chosen) {
  for (const check of of.checks) {
    const it = await run(of, check);
    done.push(it);
    const verdict = verdictOf(it.result);
    const right = verdict === check.verdict;
    console.log(
      `${right ? "ok  " : "NEW "} ${of.name}: ${check.title}: ` +
        `${it.result.failure?.kind ?? it.result.summary}, ` +
        `${Math.round(it.ms)} ms${it.threads && `; ${it.threads}`}`,
    );
    if (right) continue;
    surprises++;
    const { failure, summary } = it.result;
    console.log(failure ? `${failure.message}\n${failure.table}` : summary);
  }
}
await esbuild.stop();
if (surprises > 0) complain(`${surprises} verdicts are not those expected`);
if (chosen === PACKAGES && !values.dry) {
  fs.writeFileSync(DOCUMENT, pageOf(done));
  execFileSync("deno", ["fmt", "--quiet", DOCUMENT]);
}
process.exit(0);
