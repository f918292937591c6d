// it is long
// The programs of docs/examples run in Node and in Deno, and print what they
// should.
import * as esbuild from "esbuild";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import {
  buildCompressor,
  buildWords,
  PROGRAMS,
} from "../../docs/page/programs.ts";
import { countOf, raised } from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";
import { build, need, Pool, run, WARNINGS } from "../_run/native.ts";
import { install } from "../_run/package.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const EXAMPLES = path.join(PROJECT, "docs", "examples");

/** What each program prints; some count, and N is raised in these. */
const PRINTS: Readonly<Record<string, (n: number) => string>> = {
  cache: () => "2000 answers; \\d+ values were computed",
  game_state: () => "\\d+ frames of 64 things, 0 of them torn",
  graceful_shutdown: () => "SIGTERM: (\\d{4}) jobs were accepted, \\1 are done",
  hash_pool: () => "500 hashes in \\d+ ms, 500 of them right",
  image_filter: () =>
    "\\d+ \\+ \\d+ rows by 2 workers\nequal to what one thread makes",
  key_value: (n) =>
    `0 is 0, 1 is 1, 2 is 4, none is not set; the file has ${n} keys`,
  logger: (n) => `${3 * n} lines; the last one: worker \\d: line ${n - 1}`,
  parallel_sort: () => "\\d+ numbers, sorted by 4 workers in \\d+ ms",
  progress_bar: () => "(#+\\.+ \\d0 %\n){2,}stopped",
  rate_limiter: () => "12 requests in \\d+ ms, 2 every 20 ms at most",
  word_count: (n) => `the: ${6 * n}, and: ${4 * n}`,
};

const test = suite("programs");
const pool = new Pool(2);
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-programs-"));
  await install(folder);
  // What npm writes has no "type".
  fs.writeFileSync(path.join(folder, "package.json"), "{}");
  await esbuild.stop();
  fs.cpSync(EXAMPLES, folder, { recursive: true });
  for (const name of Object.keys(PRINTS)) {
    const file = path.join(folder, name, "main.mjs");
    const text = fs.readFileSync(file, "utf8");
    fs.writeFileSync(file, raised([text])[0]!);
  }
});
test.after(() => fs.rmSync(folder, { recursive: true }));

test("the page of programs names each of them", () => {
  const page = fs.readFileSync(path.join(EXAMPLES, "README.md"), "utf8");
  const links = [...page.matchAll(/^\|.*\]\((\w+)\/main\.mjs\)/gm)];
  const names = fs.readdirSync(EXAMPLES, { withFileTypes: true })
    .map(({ name }) => name)
    .filter((name) => fs.existsSync(path.join(EXAMPLES, name, "main.mjs")));
  const run = [...Object.keys(PRINTS), "compressor"];
  assert.equal(names.toSorted(), run.toSorted());
  assert.equal(links.map(([, name]) => name).toSorted(), names.toSorted());
  const pages = [...page.matchAll(/\]\((\w+)\/page\/index\.html\)/g)];
  assert.equal(pages.map(([, name]) => name).toSorted(), PROGRAMS);
});

/** What the compressor of C writes. */
const RESULT = () => path.join(folder, "pool.ts.lz4");
const INPUT = path.join(PROJECT, "primitives", "pool.ts");

test("the compressor of C finds that its chunks are right", async () => {
  const program = await build({
    name: "compressor",
    compiler: "gcc",
    words: ["-std=c11", "-O2", "-pthread", ...WARNINGS],
    sources: [path.join(EXAMPLES, "compressor", "main.c")],
  });
  const { code, output } = await run(program, [INPUT, RESULT()], 250);
  assert.is(code, 0, output);
  assert.match(output, /^\d+ -> \d+ bytes, 0 chunks are wrong$/m);
});

test("lz4 reads what the compressor of C writes", async () => {
  await need("gcc", "lz4");
  const again = path.join(folder, "again.ts");
  await run("lz4", ["-q", "-d", RESULT(), again], 250);
  assert.ok(fs.readFileSync(again).equals(fs.readFileSync(INPUT)));
});

test("emcc makes a module of it, which does the same in Node and Deno", async () => {
  const home = path.join(folder, "compressor");
  await buildCompressor(home);
  const main = path.join(home, "main.mjs");
  const commands = [["node"], [process.execPath, "run", "-A"]];
  const results = await Promise.all(
    commands.map(async ([program, ...words]) => {
      const result = path.join(home, `${words.length}.lz4`);
      const all = [...words, main, INPUT, result];
      const { code, output } = await run(program!, all, 250);
      assert.is(code, 0, output);
      assert.match(output, /^\d+ -> \d+ bytes, 0 chunks are wrong$/m);
      return fs.readFileSync(result);
    }),
  );
  const [first, ...others] = results;
  for (const bytes of others) assert.ok(bytes.equals(first!));
});

test("JavaScript and C count words in one map, in Node and Deno", async () => {
  const home = path.join(folder, "word_count");
  await buildWords(home);
  const main = path.join(home, "both.mjs");
  for (const command of [["node"], [process.execPath, "run", "-A"]]) {
    const [program, ...words] = command as [string, ...string[]];
    const { code, output } = await run(program, [...words, main], 250);
    assert.is(code, 0, output);
    const said = "and: 3000, loom: 1000, page: 1000, the: 5000, warp: 1000, " +
      "weft: 1000, worker: 1000";
    assert.is(output.trim(), said);
  }
});

/** Runs all programs by a command, two at a time. */
async function runAll(command: readonly string[]) {
  const [program, ...words] = command as [string, ...string[]];
  const ended = await Promise.all(
    Object.keys(PRINTS).map((name) =>
      pool.run(async () => {
        const file = path.join(folder, name, "main.mjs");
        const { code, output } = await run(program, [...words, file], 250);
        return [name, code === 0 ? output.trim() : `${code}: ${output}`];
      })
    ),
  );
  const said = Object.fromEntries(ended);
  const expected = Object.entries(PRINTS).map(([name, prints]) => {
    const file = path.join(folder, name, "main.mjs");
    const n = countOf(fs.readFileSync(file, "utf8")) ?? 0;
    const pattern = new RegExp(`^${prints(n)}$`);
    return [name, pattern.test(said[name]) ? said[name] : `${pattern}`];
  });
  assert.equal(said, Object.fromEntries(expected));
}

test("each runs in Deno", async () => {
  await runAll([process.execPath, "run", "-A"]);
});

test("each runs in Node", async () => {
  await runAll(["node"]);
});

/** Changes a text of each program, and runs those that it changes. */
async function runChanged(
  command: readonly string[],
  change: (text: string, name: string) => string,
): Promise<Map<string, Awaited<ReturnType<typeof run>>>> {
  const [program, ...words] = command as [string, ...string[]];
  const ended = Object.keys(PRINTS).map((name) =>
    pool.run(async () => {
      const file = path.join(EXAMPLES, name, "main.mjs");
      const text = fs.readFileSync(file, "utf8");
      const changed = change(text, name);
      if (changed === text) return [];
      const other = path.join(folder, name, `changed_${words.length}.mjs`);
      fs.writeFileSync(other, changed);
      const result = await run(program, [...words, other], 250);
      return [[name, result] as const];
    })
  );
  return new Map((await Promise.all(ended)).flat());
}

const COMMANDS = [["node"], [process.execPath, "run", "-A"]];

test("each ends if a worker of it fails", async () => {
  const failing =
    'if (!isMainThread) throw new Error("boom");\nawait main();\n';
  for (const command of COMMANDS) {
    const ended = await runChanged(
      command,
      (text) =>
        text.includes("Pool")
          ? text // it makes another worker
          : text.replace(/^if \(isMainThread\).*\n(else .*\n)+/m, failing),
    );
    assert.is(ended.size, Object.keys(PRINTS).length - 1);
    for (const [name, { code, output }] of ended) {
      assert.is.not(code, 0, name);
      assert.match(output, /boom/);
    }
  }
});

/** Other numbers, and what a program says of them. */
const OTHERS: Readonly<Record<string, [string, string, RegExp]>> = {
  cache: ["N = 50;", "N = 5000;", /2000 answers; 2000 values/],
  progress_bar: ["tenths >= 6", "tenths > 10", /not stopped$/m],
  word_count: ["capacity: 100", "capacity: 2", /the map is full/],
};

test("they say so if they do not finish, or not all fits", async () => {
  for (const command of COMMANDS) {
    const ended = await runChanged(command, (text, name) => {
      const [from, to] = OTHERS[name] ?? ["", ""];
      return text.replace(from, to);
    });
    for (const [name, [, , said]] of Object.entries(OTHERS)) {
      assert.match(ended.get(name)!.output, said);
    }
  }
});
