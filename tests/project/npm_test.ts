// it is long
// The tarball that `deno task npm` packs, installed by npm into a user's
// project. Its modules and the README's example run in Node and Bun. Its types,
// and every example of the pages, are checked with the oldest TypeScript that
// the documents name and with the newest. The examples are checked in a project
// of Deno, too.
import * as esbuild from "esbuild";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { bun, BUN_VERSION, versionOf } from "../_run/bun.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { cppHeaders, need, run } from "../_run/native.ts";
import { fromNpm, node24 } from "../_run/node24.ts";
import { newProject, UNREACHABLE } from "../_run/npm_project.ts";
import {
  APART,
  homeIn,
  NAME,
  OLDEST_TYPESCRIPT,
  SUBPATHS,
  writePackage,
} from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = fs.readFileSync(
  path.join(PROJECT, "docs/compatibility.md"),
  "utf8",
);

/** What a `tsconfig.json` must have for `using`, as the page says. */
const LIB = ["ES2022", "ESNext.Disposable", "DOM"];
/** The same of `deno.json`, for `self` in workers. */
const LIB_OF_DENO = ["deno.window", "deno.worker"];

const { exports, imports } = JSON.parse(
  fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
) as { exports: Record<string, string>; imports: Record<string, string> };

/** What the race tester needs, and nothing else does. */
const FAST_CHECK = imports["fast-check"]!.replace("npm:fast-check@", "");

const test = suite("The package of npm");
let folder = "";

test.before(async () => {
  folder = await newProject("@types/node@20", `fast-check@${FAST_CHECK}`);
});
test.after(() => fs.rmSync(folder, { recursive: true }));

// ---- it runs ----------------------------------------------------------------

/** The runtimes: their names, and the commands that run them. */
const RUNTIMES = [
  ["Node", () => versionOf(["node"]) === undefined ? undefined : ["node"]],
  ["Node 24", node24],
  [
    "Bun",
    () => bun({ fetches: false }) ?? fromNpm(`bun@${BUN_VERSION}`, "bun"),
  ],
] as const;

test("package.json says what it is, and where it runs", () => {
  const { description, keywords, engines, ...more } = JSON.parse(
    fs.readFileSync(path.join(homeIn(folder), "package.json"), "utf8"),
  );
  assert.is(more.dependencies, undefined);
  assert.equal(more.peerDependencies, { "fast-check": FAST_CHECK });
  assert.equal(more.peerDependenciesMeta, { "fast-check": { optional: true } });
  assert.ok(description.length > 20 && description.length < 120, description);
  assert.ok(keywords.includes("SharedArrayBuffer"));
  const readme = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
  const [, oldest] = readme.match(/^\| Node \(>= (\d+)\)/m)!;
  assert.equal(engines, { node: `>=${oldest}` });
});

test("the tarball has what the documents name, and nothing else", () => {
  const home = homeIn(folder);
  const { exports: entries } = JSON.parse(
    fs.readFileSync(path.join(home, "package.json"), "utf8"),
  ) as { exports: Record<string, Record<"types" | "default", string>> };
  assert.equal(Object.keys(entries), Object.keys(exports));
  const named = Object.values(entries).flatMap(Object.values);
  named.push(
    ...[
      "weft.h",
      "weft_pthread.h",
      ...cppHeaders(),
      "weft.py",
      "CMakeLists.txt",
    ]
      .map((name) => `wasm/${name}`),
    ...[
      "isolate.js",
      "bun.js",
      "fetch-emcc.sh",
      "exports.c",
      "rust/build.rs",
      "rust/src/lib.rs",
      "example/example.c",
      "example/main.mjs",
    ]
      .map((name) => `wasm/${name}`),
    ...["README.md", "LICENSE"],
  );
  const lost = named.filter((name) => !fs.existsSync(path.join(home, name)));
  assert.equal(lost, []);
  const files = fs.readdirSync(home, { recursive: true, encoding: "utf8" });
  const sources = files.filter((name) => /(?<!\.d)\.ts$/.test(name));
  assert.equal(sources, [], "TypeScript is not run by Node");
  const mapped = JSON.parse(
    fs.readFileSync(path.join(home, "primitives/mutex.js.map"), "utf8"),
  );
  assert.equal(mapped.sources, ["mutex.ts"]);
  assert.match(mapped.sourcesContent[0], "export class Mutex extends");
});

test("the program that writes weft.h is found without its ending", async () => {
  await need("node");
  const program = path.join(homeIn(folder), "wasm", "header");
  const { code, output } = await run("node", [program, "--help"], 60);
  assert.equal([code, output], [0, "usage: header [--out FOLDER]\n"]);
});

test("deno task npm takes one folder", async () => {
  const words = ["task", "-q", "npm", path.join(folder, "a"), "b"];
  const { code, output } = await run(process.execPath, words, 60);
  assert.equal(
    [code, output],
    [2, "deno task npm takes one folder; see --help\n"],
  );
});

test("a bundler keeps what acts by its import, and drops the rest", async () => {
  const bundled = async (subpath: string) => {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: `import "${NAME}${subpath}";`, resolveDir: folder },
      bundle: true,
      write: false,
      format: "esm",
      logLevel: "error",
    });
    return outputFiles[0]!.text;
  };
  try {
    assert.match(await bundled("/devtools"), "devtoolsFormatters");
    assert.is((await bundled("")).trim(), "");
  } finally {
    await esbuild.stop();
  }
});

test("a bundler does not warn of modules that only the program knows", () => {
  const home = path.join(homeIn(folder), "primitives");
  const files = fs.readdirSync(home, { recursive: true, encoding: "utf8" });
  let found = 0;
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const text = fs.readFileSync(path.join(home, file), "utf8");
    for (const [, words] of text.matchAll(/\bimport\(([^)"'`$]*)\)/g)) {
      found++;
      assert.match(words!, /\/\* webpackIgnore: true \*\//, file);
      assert.match(words!, /\/\* @vite-ignore \*\//, file);
    }
  }
  assert.ok(found > 0);
});

test("with a repository, the links of the README lead there", async () => {
  const home = path.join(folder, "with_repository");
  const address = "https://example.org/owner/weft";
  await writePackage(home, address);
  await esbuild.stop();
  const read = (name: string) => fs.readFileSync(path.join(home, name), "utf8");
  const { repository, version } = JSON.parse(read("package.json"));
  assert.equal(repository, { type: "git", url: `git+${address}.git` });
  const links = [...read("README.md").matchAll(/\]\(([^)\s]+)\)/g)];
  const relative = links.map(([, link]) => link!)
    .filter((link) => !link.startsWith("https:"));
  assert.equal(relative, []);
  assert.match(read("README.md"), `${address}/blob/v${version}/docs/`);
  const file = "docs/examples/logger/main.mjs"; // it is not packed
  assert.match(
    read("docs/examples/README.md"),
    `${address}/blob/v${version}/${file}`,
  );
});

for (const [name, find] of RUNTIMES) {
  test(`each module loads in ${name}, and the README's example runs`, async () => {
    const command = find();
    if (command === undefined) throw new Missing(name);
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
    const names = path.join(folder, "node.mjs");
    const usual = name.startsWith("Node") ? ["--import", names] : [];
    const ended = await run(program, [...words, ...usual, main], 250);
    assert.equal(ended, { code: 0, output: `${sum}\n` });
  });

  test(`${name} names the lines of explored code, and ends well`, async () => {
    const command = find();
    if (command === undefined) throw new Missing(name);
    const [program, ...words] = command as [string, ...string[]];
    const main = path.join(folder, "explored.mjs");
    fs.writeFileSync(main, EXPLORED);
    const { code, output } = await run(program, [...words, main], 250);
    assert.is(code, 0, output);
    assert.match(output, /store \[0\] = 1 +explored\.mjs:7 /);
    assert.match(output, /deadlock/);
    assert.not.match(output, /\.ts:|sites|replay/);
  });
}

/** An agent that awaits what it keeps itself from, by blocking. */
const EXPLORED = `import { race } from "@weft/sync/race";

const memory = () => new SharedArrayBuffer(4);
try {
  await race.agents({ memory }, async (memory) => {
    const words = new Int32Array(memory);
    Atomics.store(words, 0, 1);
    const later = (async () => {
      await null;
      Atomics.store(words, 0, 0);
    })();
    Atomics.wait(words, 0, 1);
    await later;
  });
} catch (error) {
  console.log(error.message);
}
`;

// ---- it has types -----------------------------------------------------------

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

/** What a program for Node alone tells TypeScript. */
const LIB_OF_NODE = ["ES2022"];

/**
 * How modules may be found, and what is checked so: all, or each import; and
 * what TypeScript knows.
 */
const WAYS = [
  ["nodenext", "nodenext", ["src"], LIB],
  ["node16", "node16", ["src/all.ts"], LIB],
  ["esnext", "bundler", ["src/all.ts"], LIB],
  ["nodenext", "nodenext", ["src/all.ts"], LIB_OF_NODE],
] as const;

/** Checks everything in a project of Node, and returns what is wrong. */
async function check(version: string): Promise<string> {
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
  const projects = WAYS.map(([module, moduleResolution, include, lib], i) => {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true, // what TypeScript brings itself
      module,
      moduleResolution,
      target: "ES2022",
      lib,
      types: ["node"],
      allowImportingTsExtensions: true,
    };
    const file = path.join(folder, `tsconfig.${i}.json`);
    fs.writeFileSync(file, JSON.stringify({ compilerOptions, include }));
    return file;
  });
  const tsc = `npm:typescript@${version}/tsc`;
  const words = [...APART, tsc, "--build", "--force", ...projects];
  const { code, output } = await run(process.execPath, words, 300);
  if (code === 0) return "";
  if (!/error TS/.test(output) && UNREACHABLE.test(output)) {
    throw new Missing("registry of npm");
  }
  return output || `exit code ${code}`;
}

test("the page says which Bun is too old, and README which is not", () => {
  const readme = fs.readFileSync(path.join(PROJECT, "README.md"), "utf8");
  const [, oldest] = readme.match(/^\| Bun \(>= ([\d.]+)\)/m)!;
  assert.ok(PAGE.includes(`| Bun before ${oldest} `), oldest);
  assert.ok(BUN_VERSION.localeCompare(oldest!, "en", { numeric: true }) >= 0);
});

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

// ---- `using` that is compiled ----------------------------------------------

/** A module that takes from Node the symbol that some platforms lack. */
const NO_SYMBOL = `const Real = Symbol;
const { dispose, ...rest } = Object.getOwnPropertyDescriptors(Real);
globalThis.Symbol = (text) => Real(text);
Object.defineProperties(globalThis.Symbol, rest);
`;

const USING = `import { Mutex } from "${NAME}";

const mutex = Mutex.create();
{
  using lock = mutex.lock();
  console.log(lock.abandoned);
}
mutex.lock().unlock();
console.log("done");
`;

test("using of TypeScript runs without Symbol.dispose, as the FAQ says", async () => {
  await need("node");
  const faq = fs.readFileSync(path.join(PROJECT, "docs/guides/faq.md"), "utf8");
  const [, symbols] = faq.match(
    /^\*\*`Symbol\.dispose is not defined`[^]*?^```ts ignore\n([^]*?)^```$/m,
  )!;
  const home = path.join(folder, "using");
  const write = (name: string, text: string) =>
    fs.writeFileSync(path.join(home, name), text);
  fs.mkdirSync(home);
  write("no_symbol.mjs", NO_SYMBOL);
  write("symbols.ts", symbols!);
  write("without.ts", USING);
  write("with.ts", `import "./symbols.js";\n${USING}`);
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "ES2022",
    lib: LIB,
    types: [],
  };
  write("tsconfig.json", JSON.stringify({ compilerOptions }));
  const tsc = [...APART, `npm:typescript@${OLDEST_TYPESCRIPT}/tsc`];
  const made = await run(process.execPath, [...tsc, "-p", home], 250);
  if (!/error TS/.test(made.output) && UNREACHABLE.test(made.output)) {
    throw new Missing("registry of npm");
  }
  assert.equal(made, { code: 0, output: "" });
  const runs = (name: string) => {
    const lacking = path.join(home, "no_symbol.mjs");
    return run("node", ["--import", lacking, path.join(home, name)], 60);
  };
  assert.match(
    (await runs("without.js")).output,
    "Symbol.dispose is not defined",
  );
  assert.equal(await runs("with.js"), { code: 0, output: "false\ndone\n" });
});

// ---- in a project that somebody's tool has begun ----------------------------

/** What a beginner writes first; every line needs the type of a base class. */
const FIRST_PROGRAM = `import {
  Broadcast,
  CallRing,
  Channel,
  codec,
  MpmcQueue,
  Mutex,
  RecordRing,
  SpscQueue,
} from "${NAME}";
import type { Pool } from "${NAME}/pool";

const channel = Channel.create({ codec: codec.text, capacity: 4 });
console.log(channel.handle, channel.buffer.byteLength);
for await (const line of channel) console.log(line.trim());
for await (const bytes of RecordRing.create({ capacity: 64 })) {
  console.log(bytes.byteLength);
}
const config = { capacity: 4 };
for await (const n of MpmcQueue.create(config)) console.log(n);
for await (const n of SpscQueue.create(config)) console.log(n);
Mutex.create().lock().unlock();
console.log(CallRing.create({ request: 8, reply: 8 }).byteOffset);
console.log(Broadcast.create({ ...config, subscribers: 1 }).handle);
const ends = (pool: Pool<Record<string, never>>): Promise<void> => pool.close();
export { ends };
// @ts-expect-error: these are texts
channel.send(5);
`;

const STRICT = { strict: true, noEmit: true, skipLibCheck: true };
const BUNDLED = { module: "esnext", moduleResolution: "bundler" };

/** What these tools write; the rest does not concern the types of a package. */
const BEGUN: Record<string, object | undefined> = {
  "Vite 7": {
    ...STRICT,
    ...BUNDLED,
    target: "ES2022",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    types: [],
    verbatimModuleSyntax: true,
    moduleDetection: "force",
    noUnusedLocals: true,
    noUncheckedSideEffectImports: true,
  },
  "Vite 8": {
    ...STRICT,
    ...BUNDLED,
    target: "ES2023",
    lib: ["ES2023", "DOM"],
    types: [],
    verbatimModuleSyntax: true,
    moduleDetection: "force",
    noUnusedLocals: true,
    noUncheckedSideEffectImports: true,
  },
  "Vite, and every declaration is checked": {
    ...STRICT,
    ...BUNDLED,
    target: "ES2023",
    lib: ["ES2023", "DOM"],
    types: [],
    skipLibCheck: false,
  },
  "Next": {
    ...STRICT,
    ...BUNDLED,
    target: "ES2017",
    lib: ["dom", "dom.iterable", "esnext"],
    types: [],
    allowJs: true,
    esModuleInterop: true,
    resolveJsonModule: true,
    isolatedModules: true,
    jsx: "preserve",
  },
  "tsc --init": undefined, // it writes the file here
};

for (const [name, compilerOptions] of Object.entries(BEGUN)) {
  test(`a first program has its types in a fresh project of ${name}`, () => {
    const home = path.join(folder, name.replace(/\W/g, "_"));
    fs.mkdirSync(home);
    fs.writeFileSync(path.join(home, "main.ts"), FIRST_PROGRAM);
    const tsc = [...APART, "npm:typescript@latest/tsc"];
    const call = (word: string) => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...tsc, word],
        { cwd: home, encoding: "utf8", timeout: 250_000 },
      );
      const output = stdout + stderr;
      if (!/error TS/.test(output) && UNREACHABLE.test(output)) {
        throw new Missing("registry of npm");
      }
      assert.is(status, 0, output);
    };
    if (compilerOptions === undefined) call("--init");
    else {
      const text = JSON.stringify({ compilerOptions });
      fs.writeFileSync(path.join(home, "tsconfig.json"), text);
    }
    call("--noEmit");
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
