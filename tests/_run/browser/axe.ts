/**
 * Looks for what makes a page hard to use for some visitors, by axe-core. It is
 * no part of the project: npm has it, in the cache of Deno.
 *
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Missing } from "../missing.ts";
import { run } from "../native.ts";
import type { Driven } from "./driver.ts";

const PROGRAM = fileURLToPath(new URL("./_axe.ts", import.meta.url));

/** The text of axe-core. */
async function sourceOf(): Promise<string> {
  const words = ["run", "-q", "-A", "--no-config", "--no-lock", PROGRAM];
  const { code, output } = await run(process.execPath, words, 120);
  if (code !== 0) throw new Missing("axe-core of npm");
  return output.slice(output.indexOf("(function axe")); // behind the licence
}

let source: Promise<string> | undefined;

/** What axe finds on the page: a rule, and the elements that break it. */
export async function problemsOf(page: Driven): Promise<string[]> {
  const text = await (source ??= sourceOf());
  await page.value(`void (() => {${text}\n})()`);
  return await page.value(`axe.run(document, { resultTypes: ["violations"] })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`) as string[];
}
