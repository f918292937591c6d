/**
 * The package as npm gets it from JSR: each module as JavaScript, with its
 * comments and without types.
 *
 * @module
 */

import * as esbuild from "esbuild";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

const { name, version, exports, publish } = JSON.parse(
  fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
) as {
  name: string;
  version: string;
  exports: Record<string, string>;
  publish: { include: string[] };
};

/** The name that users import. */
export const NAME: string = name;

/** What users can import: `""`, `/mutex` and so on. */
export const SUBPATHS: readonly string[] = Object.keys(exports)
  .map((subpath) => subpath.slice(1));

/** The published modules, as paths in the project. */
export const MODULES: readonly string[] = publish.include
  .flatMap((entry) =>
    entry.endsWith("/")
      ? fs.readdirSync(PROJECT + entry, { recursive: true, encoding: "utf8" })
        .map((file) => path.posix.join(entry, file.replaceAll("\\", "/")))
      : [entry]
  )
  .filter((file) => file.endsWith(".ts"));

/** `text` with imports of files that end so, instead of in `.ts`. */
export function importing(text: string, extension: string): string {
  return text.replaceAll(
    /((?:\bfrom|\bimport)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g,
    `$1${extension}"`,
  );
}

/** Where the package lies in the folder of a user's project. */
export function homeIn(folder: string): string {
  return path.join(folder, "node_modules", ...NAME.split("/"));
}

/** Puts the package into the project in `folder`, as `npx jsr add` does. */
export async function install(folder: string): Promise<void> {
  const home = homeIn(folder);
  fs.rmSync(home, { recursive: true, force: true });
  for (const module of MODULES) {
    const source = fs.readFileSync(path.join(PROJECT, module), "utf8");
    const { code } = await esbuild.transform(source, {
      loader: "ts",
      target: "esnext",
    });
    const file = path.join(home, module.replace(/\.ts$/, ".js"));
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, importing(code, ".js"));
  }
  const entries = Object.entries(exports).map(([subpath, module]) => {
    const within = module.replace(/\.ts$/, "");
    return [subpath, { types: `${within}.d.ts`, default: `${within}.js` }];
  });
  const described = {
    name,
    version,
    type: "module",
    exports: Object.fromEntries(entries),
  };
  fs.writeFileSync(
    path.join(home, "package.json"),
    JSON.stringify(described, undefined, 2),
  );
  const project = path.join(folder, "package.json");
  if (!fs.existsSync(project)) fs.writeFileSync(project, '{"type":"module"}');
}
