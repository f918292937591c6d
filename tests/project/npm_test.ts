// The tarball that `deno task npm` packs, installed by npm into a user's project.
// Its modules and the README's example run in Node and Bun. Its types, and every
// example of the pages, are checked with the oldest TypeScript that the documents
// name and with the newest. The examples are checked in a project of Deno, too.
import * as esbuild from "esbuild";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { bun, BUN_VERSION, versionOf } from "../_run/bun.ts";
import { skip, suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import { fromNpm, node24 } from "../_run/node24.ts";
import { pack } from "../_run/npm.ts";
import {
  APART,
  homeIn,
  NAME,
  OLDEST_TYPESCRIPT,
  SUBPATHS,
} from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = fs.readFileSync(
  path.join(PROJECT, "docs/compatibility.md"),
  "utf8",
);

/** What a user's `tsconfig.json` must have, as the page says. */
const LIB = ["ES2022", "ESNext.Disposable", "DOM"];
/** The same of `deno.json`, for `self` in workers. */
const LIB_OF_DENO = ["deno.window", "deno.worker"];

const { exports } = JSON.parse(
  fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
) as { exports: Record<string, string> };

const test = suite("The package of npm");
let folder = "";
/** Why the package is not there, if npm or its registry cannot be reached. */
let missing = "";

/** A command of npm. A test that needs it ends without a network. */
const INSTALL = [
  ...["install", "--loglevel=error", "--ignore-scripts", "--prefer-offline"],
  ...["--no-audit", "--no-fund", "--fetch-retries=0"],
];

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-npm-"));
  fs.writeFileSync(path.join(folder, "package.json"), '{"type":"module"}');
  const { status } = spawnSync("npm", ["--version"]);
  if (status !== 0) return void (missing = "no npm here");
  try {
    const tarball = await pack(folder);
    const words = [...INSTALL, tarball, "@types/node@20"];
    execFileSync("npm", words, { cwd: folder, stdio: "pipe" });
    fs.rmSync(path.join(folder, "package"), { recursive: true });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as Record<string, unknown>;
    const text = `${error}\n${stdout}${stderr}`;
    if (!UNREACHABLE.test(text)) throw new Error(text);
    missing = "npm's registry cannot be reached";
  } finally {
    await esbuild.stop();
  }
});
test.after(() => fs.rmSync(folder, { recursive: true }));

const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONN\w+|TIMEDOUT|registry|npm package|npm:typescript/;

/** Skips the test if the package could not be installed. */
function needPackage() {
  if (missing !== "") skip(missing);
}

// ---- it runs ------------------------------------------------------------------

/** The runtimes: their names, and the commands that run them. */
const RUNTIMES = [
  ["Node", () => versionOf(["node"]) === undefined ? undefined : ["node"]],
  ["Node 24", node24],
  [
    "Bun",
    () => bun({ fetches: false }) ?? fromNpm(`bun@${BUN_VERSION}`, "bun"),
  ],
] as const;

test("the tarball has what the documents name, and nothing else", () => {
  needPackage();
  const home = homeIn(folder);
  const { exports: entries } = JSON.parse(
    fs.readFileSync(path.join(home, "package.json"), "utf8"),
  ) as { exports: Record<string, Record<"types" | "default", string>> };
  assert.equal(Object.keys(entries), Object.keys(exports));
  const named = Object.values(entries).flatMap(Object.values);
  named.push(
    ...["weft.h", "weft.hpp", "weft.py", "CMakeLists.txt", "isolate.js"]
      .map((name) => `wasm/${name}`),
    ...["bun.js", "example/example.c", "example/main.mjs"]
      .map((name) => `wasm/${name}`),
    ...["README.md", "LICENSE"],
  );
  const lost = named.filter((name) => !fs.existsSync(path.join(home, name)));
  assert.equal(lost, []);
  const files = fs.readdirSync(home, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => /(?<!\.d)\.ts$/.test(name));
  assert.equal(sources, [], "TypeScript is not run by Node");
});

for (const [name, find] of RUNTIMES) {
  test(`each module loads in ${name}, and the README's example runs`, async () => {
    needPackage();
    const command = find();
    if (command === undefined) skip(`no ${name} here, and npm has none`);
    const [program, ...words] = command as [string, ...string[]];
    const namesOf = (module: object) => Object.keys(module).sort();
    const expected = await Promise.all(
      Object.values(exports).map(async (module) =>
        namesOf(await import(new URL(module, `file://${PROJECT}`).href))
      ),
    );
    const imports = SUBPATHS.map((subpath) =>
      `Object.keys(await import("${NAME}${subpath}")).sort()`
    );
    const all = path.join(folder, "all.mjs");
    const text = `console.log(JSON.stringify([${imports.join(",\n")}]));`;
    fs.writeFileSync(all, `${text}\n`);
    const loaded = await run(program, [...words, all], 250);
    assert.is(loaded.code, 0, loaded.output);
    assert.equal(JSON.parse(loaded.output), expected);

    const readme = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
    const files = readme.matchAll(/^```js ignore\n\/\/ (.*)\n([^]*?)^```$/gm);
    for (const [, name, text] of files) {
      fs.writeFileSync(path.join(folder, name!), text!);
    }
    const main = path.join(folder, "main.mjs");
    const [, sum] = readme.match(/^console\.log\(sum\); \/\/ (\d+)$/m)!;
    const ended = await run(program, [...words, main], 250);
    assert.equal(ended, { code: 0, output: `${sum}\n` });
  });
}

// ---- it has types -------------------------------------------------------------

/** Puts the examples of each page into a folder, and returns their files. */
function writeExamples(where: string): string[] {
  const pages = ["README.md", "docs/waiting.md", "docs/reliability.md"].concat(
    ["docs/primitives", "docs/guides"].flatMap((where) =>
      fs.readdirSync(path.join(PROJECT, where))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `${where}/${name}`)
    ),
  ).filter((page) => fs.existsSync(path.join(PROJECT, page)));
  // Blocks that run, and those whose first line names a file.
  const blocks = /^```ts(?:\n| ignore\n(?=\/\/ (\w+)\.ts))([^]*?)^```$/gm;
  return pages.flatMap((page) => {
    const text = fs.readFileSync(path.join(PROJECT, page), "utf8");
    const home = path.join(where, path.basename(page, ".md"));
    fs.mkdirSync(home, { recursive: true });
    return [...text.matchAll(blocks)].map(([, name, code], i) => {
      const file = path.join(home, `${name ?? `example${i}`}.ts`);
      fs.writeFileSync(file, `${code}\nexport {};\n`);
      return file;
    });
  });
}

/** How modules may be found, and what is checked so: all, or each import. */
const WAYS = [
  ["nodenext", "nodenext", ["src"]],
  ["node16", "node16", ["src/all.ts"]],
  ["esnext", "bundler", ["src/all.ts"]],
] as const;

/** Checks everything in a project of Node, and returns what is wrong. */
async function check(version: string): Promise<string> {
  needPackage();
  writeExamples(path.join(folder, "src"));
  const all = SUBPATHS.map((subpath, i) =>
    `export * as all${i} from ${JSON.stringify(NAME + subpath)};\n`
  );
  // If the types were missing, nothing would be wrong here.
  const wrong = `import { Mutex } from "${NAME}";
// @ts-expect-error: takes no argument
Mutex.create().lock(5);
`;
  fs.writeFileSync(path.join(folder, "src", "all.ts"), all.join("") + wrong);
  const projects = WAYS.map(([module, moduleResolution, include]) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true, // what TypeScript brings itself
      module,
      moduleResolution,
      target: "ES2022",
      lib: LIB,
      types: ["node"],
      allowImportingTsExtensions: true,
    };
    const file = path.join(folder, `tsconfig.${moduleResolution}.json`);
    fs.writeFileSync(file, JSON.stringify({ compilerOptions, include }));
    return file;
  });
  const tsc = `npm:typescript@${version}/tsc`;
  const words = [...APART, tsc, "--build", "--force", ...projects];
  const { code, output } = await run(process.execPath, words, 300);
  if (code === 0) return "";
  if (!/error TS/.test(output) && UNREACHABLE.test(output)) {
    skip("npm's registry cannot be reached");
  }
  return output || `exit code ${code}`;
}

test("the page names the oldest TypeScript, and what it must be told", () => {
  assert.match(PAGE, `**TypeScript** ${OLDEST_TYPESCRIPT} or newer`);
  for (const lib of [LIB, LIB_OF_DENO]) {
    assert.match(PAGE, `"lib": ${JSON.stringify(lib).replaceAll(",", ", ")}`);
  }
});

for (const version of [OLDEST_TYPESCRIPT, "latest"]) {
  test(`examples have their types in Node with TypeScript ${version}`, async () => {
    assert.is(await check(version), "");
  });
}

test("examples have their types in a fresh project of Deno", async () => {
  const home = path.join(folder, "deno");
  const files = writeExamples(home);
  const imports = Object.entries(exports).map(([subpath, module]) => [
    NAME + subpath.slice(1),
    path.join(PROJECT, module),
  ]);
  const config = path.join(home, "deno.json");
  fs.writeFileSync(
    config,
    JSON.stringify({
      imports: Object.fromEntries(imports),
      compilerOptions: { lib: LIB_OF_DENO },
    }),
  );
  const words = ["check", "-q", "--no-lock", "--config", config, ...files];
  const { code, output } = await run(process.execPath, words, 300);
  assert.is(code, 0, output);
});
