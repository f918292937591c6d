/**
 * Projects of users: folders into which npm has installed the package.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { Missing } from "./missing.ts";
import { need } from "./native.ts";
import { pack } from "./npm.ts";

/** A command of npm. Without a network, the tests that need it are skipped. */
export const INSTALL = [
  ...["install", "--loglevel=error", "--ignore-scripts", "--prefer-offline"],
  ...["--no-audit", "--no-fund", "--fetch-retries=0"],
];

/** What commands say that need a network, where there is none. */
export const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONN\w+|TIMEDOUT|registry|npm package|npm:typescript/;

/**
 * A new folder with the tarball that `deno task npm` packs, and with `packages`
 * of npm.
 */
export async function newProject(...packages: string[]): Promise<string> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-npm-"));
  fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  await need("npm");
  try {
    const tarball = await pack(folder);
    const words = [...INSTALL, tarball, ...packages];
    execFileSync("npm", words, { cwd: folder, stdio: "pipe" });
    fs.rmSync(path.join(folder, "package"), { recursive: true });
    return folder;
  } catch (error) {
    fs.rmSync(folder, { recursive: true });
    const { stdout = "", stderr = "" } = error as Record<string, unknown>;
    const text = `${error}\n${stdout}${stderr}`;
    if (!UNREACHABLE.test(text)) throw new Error(text);
    throw new Missing("registry of npm");
  } finally {
    await esbuild.stop();
  }
}
