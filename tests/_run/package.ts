/**
 * The package as npm gets it from JSR: each module as JavaScript, with its
 * comments and without types, with a declaration and a source map beside it.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { isPage, published, withLinksOut } from "../../docs/site/links.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const DECLARE = fileURLToPath(
  new URL("../project/_declare.ts", import.meta.url),
);

const { name, version, license, exports, imports, publish } = JSON.parse(
  fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
) as {
  name: string;
  version: string;
  license: string;
  exports: Record<string, string>;
  imports: Record<string, string>;
  publish: { include: string[] };
};

const DESCRIPTION =
  "Locks, queues and counters in a SharedArrayBuffer, for JavaScript workers " +
  "and WebAssembly threads";

const KEYWORDS = [
  ...["SharedArrayBuffer", "Atomics", "worker", "worker_threads", "threads"],
  ...["WebAssembly", "Emscripten", "mutex", "semaphore", "queue", "lock-free"],
];

/** The name that users import. */
export const NAME: string = name;

/** What users can import: `""`, `/mutex` and so on. */
export const SUBPATHS: readonly string[] = Object.keys(exports)
  .map((subpath) => subpath.slice(1));

/** The files that an entry of `publish.include` names. */
function included(entry: string): string[] {
  const [, folder, ending] = /^(.*\/)(?:\*(\.\w+))?$/.exec(entry) ?? [];
  if (folder === undefined) return [entry];
  const recursive = ending === undefined;
  return fs.readdirSync(PROJECT + folder, { recursive, encoding: "utf8" })
    .map((file) => path.posix.join(folder, file.replaceAll("\\", "/")))
    .filter((file) => file.endsWith(ending ?? ""))
    .filter((file) => fs.statSync(path.join(PROJECT, file)).isFile());
}

/** All published files, as paths in the project. */
export const PUBLISHED: readonly string[] = publish.include.flatMap(included);

/** The published modules, as paths in the project. */
const MODULES: readonly string[] = PUBLISHED
  .filter((file) => file.endsWith(".ts"));

/** `text` with imports of files that end so, instead of in `.ts`. */
function importing(text: string, extension: string): string {
  return text.replaceAll(
    /((?:\bfrom|\bimport)\s*\(?\s*"\.{1,2}\/[^"]+)\.ts"/g,
    `$1${extension}"`,
  );
}

/** Where the package lies in the folder of a user's project. */
export function homeIn(folder: string): string {
  return path.join(folder, "node_modules", ...NAME.split("/"));
}

/**
 * The packages that a published module imports, with their versions. Only
 * `./race` imports one, so its users install that one themselves.
 */
function peers(): Record<string, string> {
  const texts = MODULES.map((module) =>
    fs.readFileSync(path.join(PROJECT, module), "utf8")
  );
  const found = Object.entries(imports).filter(([name]) =>
    texts.some((text) =>
      RegExp(`^(import|\\}).* from "${name}";`, "m").test(text)
    )
  );
  return Object.fromEntries(
    found.map(([name, from]) => [name, from.replace(/^npm:.+@/, "")]),
  );
}

/** Modules that change something when they are imported. */
const ACTIVE = ["./primitives/tools/devtools.js", "./race/**/*.js"];

/**
 * Writes the package into the folder `home`, all but the declarations. With the
 * address of a `repository`, the README's links lead there, and so do links of
 * other pages to files that are not published.
 */
export async function writePackage(
  home: string,
  repository?: string,
): Promise<void> {
  for (const file of PUBLISHED) {
    const isModule = file.endsWith(".ts");
    if (file === "deno.json") continue; // package.json takes its place
    const from = path.join(PROJECT, file);
    const to = path.join(home, file.replace(/\.ts$/, ".js"));
    fs.mkdirSync(path.dirname(to), { recursive: true });
    if (!isModule) {
      fs.copyFileSync(from, to);
      if (repository === undefined || !isPage(file)) continue;
      const text = fs.readFileSync(from, "utf8");
      fs.writeFileSync(
        to,
        withLinksOut(text, file, PUBLISHED, repository, `v${version}`),
      );
      continue;
    }
    const source = fs.readFileSync(from, "utf8");
    const { code, map } = await esbuild.transform(source, {
      loader: "ts",
      target: "esnext",
      sourcemap: "external", // with the source in it
      sourcefile: path.basename(from),
    });
    const mark = `//# sourceMappingURL=${path.basename(to)}.map\n`;
    fs.writeFileSync(to, importing(code, ".js") + mark);
    fs.writeFileSync(`${to}.map`, map);
  }
  const entries = Object.entries(exports).map(([subpath, module]) => {
    const within = module.replace(/\.ts$/, "");
    return [subpath, { types: `${within}.d.ts`, default: `${within}.js` }];
  });
  if (repository !== undefined) {
    const readme = path.join(home, "README.md");
    const text = fs.readFileSync(readme, "utf8");
    fs.writeFileSync(
      readme,
      published(text, repository, `v${version}`),
    );
  }
  const peerDependencies = peers();
  const described = {
    name,
    version,
    description: DESCRIPTION,
    keywords: KEYWORDS,
    license,
    ...repository !== undefined && {
      repository: { type: "git", url: `git+${repository}.git` },
    },
    type: "module",
    engines: { node: ">=20" },
    sideEffects: ACTIVE,
    exports: Object.fromEntries(entries),
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(peerDependencies).map((name) => [name, { optional: true }]),
    ),
  };
  fs.writeFileSync(
    path.join(home, "package.json"),
    `${JSON.stringify(described, undefined, 2)}\n`,
  );
}

/** The oldest TypeScript that the declarations are for; its newest patch. */
export const OLDEST_TYPESCRIPT = "5.7";

/** Flags with which Deno runs a program of npm for this call alone. */
export const APART: readonly string[] = [
  ...["run", "-q", "-A", "--no-config", "--no-lock", "--node-modules-dir=none"],
];

/**
 * Writes the declaration of each module into the folder `home`.
 *
 * @throws what TypeScript says, or npm's registry.
 */
export function writeDeclarations(home: string): void {
  const words = [...APART, DECLARE, OLDEST_TYPESCRIPT, PROJECT, home];
  const input = MODULES.join("\n");
  execFileSync(process.execPath, words, { input, stdio: "pipe" });
}

/** Puts the package into the project in `folder`, as `npx jsr add` does. */
export async function install(folder: string): Promise<void> {
  const home = homeIn(folder);
  fs.rmSync(home, { recursive: true, force: true });
  await writePackage(home);
  const project = path.join(folder, "package.json");
  if (!fs.existsSync(project)) fs.writeFileSync(project, '{"type":"module"}');
}
