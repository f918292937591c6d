/**
 * Finds Node 24, which npm unpacks into its cache.
 *
 * @module
 */

import { spawnSync } from "node:child_process";

/** The command that runs npm's Node 24, or undefined if npm has none here. */
export function node24(): readonly string[] | undefined {
  return fromNpm("node@24", "node");
}

/** The command that runs a program of a package of npm, if npm can get it. */
export function fromNpm(
  name: string,
  program: string,
): readonly string[] | undefined {
  // Without a network, npm would try for more than a minute.
  const words = ["--fetch-retries=0", "-y", "-p", name, "which", program];
  const { status, stdout } = spawnSync("npx", words, { encoding: "utf8" });
  return status === 0 ? [stdout.trim()] : undefined;
}
