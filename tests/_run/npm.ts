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
import { writeDeclarations, writePackage } from "./package.ts";
import { wordsOf } from "./usage.ts";

const USAGE = `usage: deno task npm [FOLDER]
Writes the package as JSR makes it for npm (JavaScript, declarations, the C
headers) into FOLDER/package, and a tarball of it for \`npm install\` into FOLDER,
which is .weft/npm unless you name another one.`;

const HERE = fileURLToPath(new URL("../../.weft/npm", import.meta.url));

/** Packs the package into `folder`, and returns the path of the tarball. */
export async function pack(folder: string): Promise<string> {
  const home = path.join(folder, "package");
  fs.rmSync(home, { recursive: true, force: true });
  await writePackage(home);
  writeDeclarations(home);
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination"];
  const said = execFileSync("npm", [...words, folder], {
    cwd: home,
    encoding: "utf8",
  });
  return path.join(folder, said.trim());
}

if (import.meta.main) {
  const [folder = HERE] = wordsOf(USAGE).positionals;
  fs.mkdirSync(folder, { recursive: true });
  console.log(await pack(path.resolve(folder)));
  await esbuild.stop();
}
