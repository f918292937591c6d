/**
 * Checks everything that does not need the code to run: format, lint, types,
 * the types of examples, missing comments, and whether it can be published.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { takesNoWords } from "./usage.ts";

takesNoWords(
  "usage: deno task check\nChecks all that needs no run of the code.",
);

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const { exports } = JSON.parse(readFileSync(`${PROJECT}/deno.json`, "utf8"));

const STEPS: Record<string, string[]> = {
  "format": ["fmt", "--check"],
  "lint": ["lint"],
  "types": ["check"],
  "types of examples": ["check", "--doc-only", "."],
  "comments": ["doc", "--lint", ...Object.values<string>(exports)],
  "publishing": ["publish", "--dry-run", "--allow-dirty"],
};

const failed: string[] = [];

for (const [name, args] of Object.entries(STEPS)) {
  const begin = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: PROJECT,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${success ? "ok  " : "FAIL"} ${name}  ${seconds} s`);
  if (success) continue;
  failed.push(name);
  const decoder = new TextDecoder();
  const said = decoder.decode(stdout) + decoder.decode(stderr);
  console.log(said.trim().replace(/^(?=.)/gm, "     "));
}

console.log(
  failed.length ? `failed: ${failed.join(", ")}` : "all checks passed",
);
Deno.exit(failed.length ? 1 : 0);
