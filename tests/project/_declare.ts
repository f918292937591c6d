/**
 * Writes the declarations of modules. A program of its own, because the
 * project's configuration must not know TypeScript, which npm has, in the cache
 * of Deno:
 *
 * ```sh
 * deno run -A --no-config --no-lock _declare.ts VERSION FOLDER HOME
 * ```
 *
 * For each `.ts` file in FOLDER that is named on the standard input, it writes
 * a `.d.ts` file in HOME.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";

const [version, from, home] = process.argv.slice(2) as [string, string, string];
// Not a literal, so that neither the lock file nor `deno check` sees it.
const { default: ts } = await import(`npm:typescript@${version}`);

const names = fs.readFileSync(0, "utf8").trim().split("\n");
const program = ts.createProgram(names.map((name) => path.join(from, name)), {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  types: [],
  strict: true,
  noCheck: true, // `deno task check` does
  allowImportingTsExtensions: true,
  declaration: true,
  emitDeclarationOnly: true,
  rootDir: from,
  outDir: home,
});
program.emit(undefined, (file: string, text: string) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // The package has JavaScript beside each declaration.
  const edited = text.replaceAll(
    /((?:\bfrom|\bimport)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g,
    '$1.js"',
  );
  fs.writeFileSync(file, edited);
});
