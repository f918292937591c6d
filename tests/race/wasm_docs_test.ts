// it is long
// Tests what docs/race_reference.md says about C: its example and its command
// for Emscripten.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { race, type Wasm } from "../../race/mod.ts";
import { emcc, wasmClang } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";

const test = suite("race docs, C");
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const BUILT = file("../../.weft/mixed");
const PAGE = fs.readFileSync(file("../../docs/race_reference.md"), "utf8");
const SECTION = PAGE.slice(PAGE.indexOf("## Your own C"));
const [, C] = /```c\n(.*?)```/s.exec(SECTION)!;
const [, TS] = /```ts ignore\n(.*?)```/s.exec(SECTION)!;

type Hints = readonly (readonly [start: number, end: number])[];

/** The import that the text puts before the example, here from this project. */
const [, IMPORT] = /`(import \{ race \} from "@weft\/sync\/race")`/
  .exec(SECTION)!;
/**
 * The line that the page prints, replaced by the values that the test checks.
 */
const PRINTED = /console\.log\(result\.failure\?\.table\)/.exec(SECTION)![0];

/** Runs the example as a program, types and all, with `source` for its C. */
async function prints(name: string, source: string): Promise<string> {
  fs.mkdirSync(BUILT, { recursive: true });
  const c = path.join(BUILT, `${name}.c`);
  fs.writeFileSync(c, source);
  const [, command] = /clang (.*?) \*\//s.exec(source)!;
  const args = command!.replace(/\\\n/g, " ").split(/\s+/)
    .filter((word) => !/^--target|^mailbox|^-o$/.test(word));
  const out = path.join(BUILT, `${name}.wasm`);
  await wasmClang({ sources: [c], args, out, quiet: true });
  const program = path.join(BUILT, `${name}.ts`);
  const text = [
    IMPORT!.replace("@weft/sync/race", "../../race/mod.ts"),
    TS!.replace("mailbox.wasm", out),
    `${PRINTED};`,
    "console.log(result.failure?.kind, result.summary);",
  ];
  fs.writeFileSync(program, text.join("\n"));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["run", "-A", "--check", program],
    { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } },
  );
  assert.is(status, 0, stderr);
  return stdout;
}

test("the example finds what it says", async () => {
  const said = await prints("mailbox", C!);
  assert.match(said, /plain write .* try_put/); // in the table
  assert.match(said, /^data-race /m);
});

test("the example, put right, is right", async () => {
  const lines = /^(.*full, 1.*\n)(.*letter = letter;).*\n/m;
  const right = C!.replace(lines, "$2\n$1");
  assert.not.equal(right, C);
  assert.match(await prints("mailbox_right", right), /^undefined complete/m);
});

test("the example has 30 lines", () => {
  const lines = `${C}${TS}`.trimEnd().split("\n").filter((line) => line !== "");
  assert.ok(lines.length <= 30, `${lines.length}`);
});

/** A fixture, compiled by one of the lines that are given for Emscripten. */
async function compiled(source: string, line: RegExp): Promise<Wasm> {
  const [, args] = line.exec(SECTION)!;
  const more = /`(-Wl,--export=__wasm_init_tls)`/.exec(SECTION)![1]!;
  const name = `${source.replace(".", "_")}_${args!.includes("-pthread")}`;
  const out = path.join(BUILT, `${name}.mjs`);
  await emcc({
    sources: [file(`./fixtures/${source}`)],
    args: [...args!.split(" "), more, `-I${file("../../wasm")}`, "-sSTRICT"],
    out,
    quiet: true,
  });
  return race.wasm(fs.readFileSync(out.replace(".mjs", ".wasm")));
}

const WORKERS = /`emcc (.*?-sWASM_WORKERS.*?)`/;
const PTHREADS = /`emcc ([^`]*?-pthread.*?)`/;

/**
 * Two agents that call `add` once each; `hints` as a specification has them.
 */
function adding(module: Wasm, add: string, hints?: Hints) {
  return race.spec({
    memory: () => module.memory(),
    wasm: module,
    agents: ["wasm"],
    agent: (_, id, c) => ({ add: () => c![add]!(id + 1) as number }),
    stateless: true,
    ...hints && { hints },
    init: 0,
    ops: {
      add: { run: (c) => c.add(), model: (n: number) => [n + 1, n] },
    },
  });
}

for (
  const [what, source, line] of [
    ["C", "shared_mutex.c", WORKERS],
    ["C++, with a guard that unlocks", "shared_mutex.cpp", WORKERS],
    ["C with pthreads", "shared_mutex.c", PTHREADS],
  ] as const
) {
  test(`Emscripten's output with its variables: ${what}`, async () => {
    const module = await compiled(source, line);
    const result = race.check(adding(module, "add"), [["add"]], [["add"]]);
    assert.is(result.failure, undefined, result.failure?.message);
    assert.ok(result.complete);
    // As many as of the same scenario in TypeScript: two sections of a mutex.
    assert.is(result.states, 1847);
  });
}

test("pthreads' own locks, whose plain reads are hints", async () => {
  const module = await compiled("pthread_mutex.c", PTHREADS);
  const { at } = module.enter(module.memory(), 0);
  const hints = [0, 1].map((i) => {
    const start = at!(i) as number;
    return [start, start + 24] as const;
  });
  const found = (add: string, hinted: boolean) =>
    race.check(
      adding(module, add, hinted ? hints : undefined),
      [["add"]],
      [["add"]],
      { states: 40_000, runs: 0 },
    );
  assert.is(found("add", false).failure?.kind, "data-race");
  for (const add of ["add", "add_twice_locked"]) {
    const { failure } = found(add, true);
    assert.is(failure, undefined, failure?.message);
  }
  assert.ok(found("add", true).complete);
  assert.is(found("add_unlocked", true).failure?.kind, "data-race");
});

test("pthreads' thread-local variables and keys are an agent's own", async () => {
  const module = await compiled("pthread_mutex.c", PTHREADS);
  const spec = race.spec({
    memory: () => module.memory(),
    wasm: module,
    agents: ["wasm"],
    agent: (_, id, c) => ({ count: () => c!.count!(id + 1) as number }),
    stateless: false,
    ops: { count: { run: (c) => c.count() } },
    final: (_, results) => {
      for (const answers of results) {
        if (`${answers}` !== "1,2") return `counted ${answers}`;
      }
    },
  });
  const program = [["count"], ["count"]] as const;
  const result = race.check(spec, program, program);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
});
