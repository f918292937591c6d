/**
 * Finds Bun: `$BUN`, the one on the PATH, or npm's.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";

/** The version of npm's Bun, for a machine that has no other. */
export const BUN_VERSION = "1.4.5";

/** The first version that a program's answer to `--version` names. */
export function versionOf(command: readonly string[]): string | undefined {
  const [program, ...args] = [...command, "--version"];
  const { status, stdout } = spawnSync(program!, args, { encoding: "utf8" });
  return status === 0 ? stdout.match(/\d+(\.\d+)+/)?.[0] : undefined;
}

/** The command that runs Bun, if it is here; with `fetches`, npm may get it. */
export function bun({ fetches }: { fetches: boolean }):
  | readonly string[]
  | undefined {
  const own = [process.env.BUN ?? "bun"];
  const npm = ["npx", "-y", `bun@${BUN_VERSION}`];
  return (fetches ? [own, npm] : [own]).find(versionOf);
}
