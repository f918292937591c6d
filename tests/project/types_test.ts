// The types of the package hold in a project of a user: of Node, with the
// oldest TypeScript that the documents name and with the newest; and of Deno. Every
// example of the pages is checked there.
import * as esbuild from "esbuild";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { skip, suite } from "../_run/harness.ts";
import { run } from "../_run/native.ts";
import {
  APART,
  homeIn,
  install,
  NAME,
  OLDEST_TYPESCRIPT,
  SUBPATHS,
  writeDeclarations,
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

const test = suite("Types");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-types-"));
  fs.writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ type: "module", dependencies: DEPENDENCIES }),
  );
  await install(folder);
  await esbuild.stop();
});
test.after(() => fs.rmSync(folder, { recursive: true }));

/** What a project of Node has; fast-check is what the race tester depends on. */
const DEPENDENCIES = { "@types/node": "^20", "fast-check": "^4" };

/** Throws what a program said; skips the test if npm cannot be reached. */
function throwOrSkip(error: unknown): never {
  const { stderr } = error as { stderr: Uint8Array };
  const text = new TextDecoder().decode(stderr);
  if (UNREACHABLE.test(text)) skip("npm's registry cannot be reached");
  throw new Error(text);
}

/** Runs Deno in the project; skips the test if npm cannot be reached. */
function deno(words: readonly string[]) {
  try {
    execFileSync(process.execPath, words, { cwd: folder, stdio: "pipe" });
  } catch (error) {
    throwOrSkip(error);
  }
}

const UNREACHABLE = /registry|npm package|npm:typescript/;

/** Writes the declarations into the installed package, once. */
function declare() {
  const home = homeIn(folder);
  if (fs.existsSync(path.join(home, "mod.d.ts"))) return;
  deno(["install", "-q", "--no-lock", "--node-modules-dir=auto"]);
  try {
    writeDeclarations(home);
  } catch (error) {
    throwOrSkip(error);
  }
}

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
  declare();
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
  const { exports } = JSON.parse(
    fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
  ) as { exports: Record<string, string> };
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
