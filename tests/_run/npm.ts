/**
 * Packs the package for npm, as JSR does: see {@linkcode USAGE}.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { assertAddress } from "../../docs/site/links.ts";
import { writeDeclarations, writePackage } from "./package.ts";
import { complain, wordsOf } from "./usage.ts";

const USAGE = `usage: deno task npm [FOLDER] [--repository ADDRESS]
Writes the package as JSR makes it for npm (JavaScript, declarations, the C
headers) into FOLDER/package, and a tarball of it for \`npm install\` into FOLDER,
which is .weft/npm unless you name another one.

  --repository ADDRESS  names the repository in package.json, and lets the links
                        of the README, and of pages to files that are not
                        packed, lead there: https://github.com/OWNER/NAME`;

const HERE = fileURLToPath(new URL("../../.weft/npm", import.meta.url));

/** Packs the package into `folder`, and returns the path of the tarball. */
export async function pack(
  folder: string,
  repository?: string,
): Promise<string> {
  const home = path.join(folder, "package");
  fs.rmSync(home, { recursive: true, force: true });
  await writePackage(home, repository);
  writeDeclarations(home);
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
  const said = execFileSync("npm", [...words, folder], {
    cwd: home,
    encoding: "utf8",
  });
  return path.join(folder, said.trim());
}

if (import.meta.main) {
  const { values, positionals } = wordsOf(USAGE, { repository: "string" });
  const [folder = HERE, ...more] = positionals;
  if (more.length > 0) complain("deno task npm takes one folder; see --help");
  const repository = values.repository as string | undefined;
  if (repository !== undefined) assertAddress(repository);
  fs.mkdirSync(folder, { recursive: true });
  console.log(await pack(path.resolve(folder), repository));
  await esbuild.stop();
}
