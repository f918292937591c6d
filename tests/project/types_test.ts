// The types of the package hold in a project of a user: of Node, with the
// oldest TypeScript that README names and with the newest; and of Deno. Every
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
import { homeIn, install, MODULES, NAME, SUBPATHS } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const DECLARE = fileURLToPath(new URL("_declare.ts", import.meta.url));
const README = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");

/** The oldest version that works; its newest patch. */
const OLDEST = "5.7";
/** What a user's `tsconfig.json` must have, as README says. */
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

/** Runs Deno in the project; skips the test if npm cannot be reached. */
function deno(words: readonly string[], input = "") {
  try {
    const options = { cwd: folder, input, stdio: "pipe" } as const;
    execFileSync(process.execPath, words, options);
  } catch (error) {
    const { stderr } = error as { stderr: Uint8Array };
    const text = new TextDecoder().decode(stderr);
    if (UNREACHABLE.test(text)) skip("npm's registry cannot be reached");
    throw new Error(text);
  }
}

const UNREACHABLE = /registry|npm package|npm:typescript/;

/** Flags with which Deno runs a program of npm for this test alone. */
const APART = ["run", "-q", "-A", "--no-config", "--no-lock"];

/** Writes the declarations into the installed package, once. */
function declare() {
  const home = homeIn(folder);
  if (fs.existsSync(path.join(home, "mod.d.ts"))) return;
  deno(["install", "-q", "--no-lock", "--node-modules-dir=auto"]);
  const words = [...APART, "--node-modules-dir=none"];
  deno([...words, DECLARE, OLDEST, PROJECT, home], MODULES.join("\n"));
}

/** Puts the examples of each page into a folder, and returns their files. */
function writeExamples(where: string): string[] {
  const pages = ["README.md", "docs/waiting.md", "docs/reliability.md"].concat(
    fs.readdirSync(path.join(PROJECT, "docs/primitives"))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `docs/primitives/${name}`),
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
  fs.writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: "NodeNext",
        target: "ES2022",
        lib: LIB,
        types: ["node"],
        allowImportingTsExtensions: true,
      },
      include: ["src"],
    }),
  );
  const tsc = ["--node-modules-dir=none", `npm:typescript@${version}/tsc`];
  const words = [...APART, ...tsc, "-p", folder];
  const { code, output } = await run(process.execPath, words, 300);
  if (code === 0) return "";
  if (!/error TS/.test(output) && UNREACHABLE.test(output)) {
    skip("npm's registry cannot be reached");
  }
  return output || `exit code ${code}`;
}

test("README names the oldest TypeScript, and what it must be told", () => {
  assert.match(README, `TypeScript ${OLDEST} or newer`);
  for (const lib of [LIB, LIB_OF_DENO]) {
    assert.match(README, `"lib": ${JSON.stringify(lib).replaceAll(",", ", ")}`);
  }
});

for (const version of [OLDEST, "latest"]) {
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
