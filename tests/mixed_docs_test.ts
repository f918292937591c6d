// limit: 300 s
// What docs/race_testing.md says of C: its example is what it says, and so is
// its line for Emscripten.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { race, type Result } from "../race/mod.ts";
import { emcc, wasmClang } from "../wasm/emcc.ts";
import { suite } from "./harness.ts";

const test = suite("race docs, C", 200_000);
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const BUILT = file("../.weft/mixed");
const PAGE = fs.readFileSync(file("../docs/race_testing.md"), "utf8");
const SECTION = PAGE.slice(PAGE.indexOf("## Your own C"));
const [, C] = /```c\n(.*?)```/s.exec(SECTION)!;
const [, TS] = /```ts ignore\n(.*?)```/s.exec(SECTION)!;

/** Runs the example with `source` for its C. */
async function runs(name: string, source: string): Promise<Result> {
  fs.mkdirSync(BUILT, { recursive: true });
  const c = path.join(BUILT, `${name}.c`);
  fs.writeFileSync(c, source);
  const [, command] = /clang (.*?) \*\//s.exec(source)!;
  const args = command!.replace(/\\\n/g, " ").split(/\s+/)
    .filter((word) => !/^--target|^mailbox|^-o$/.test(word));
  const out = path.join(BUILT, `${name}.wasm`);
  await wasmClang({ sources: [c], args, out, quiet: true });
  const script = `${TS!.replace("mailbox.wasm", out)}\nreturn result;`
    .replaceAll(": number", "").replaceAll("!", "");
  return new Function("race", script)(race) as Result;
}

test("the example finds what it says", async () => {
  const { failure } = await runs("mailbox", C!);
  assert.is(failure?.kind, "data-race", failure?.message);
  assert.match(failure!.table, "try_put");
});

test("the example, put right, is right", async () => {
  const lines = /^(.*full, 1.*\n)(.*letter = letter;).*\n/m;
  const right = C!.replace(lines, "$2\n$1");
  assert.not.equal(right, C);
  const result = await runs("mailbox_right", right);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.match(result.summary, "complete");
});

test("the example has 30 lines", () => {
  const lines = `${C}${TS}`.trimEnd().split("\n").filter((line) => line !== "");
  assert.ok(lines.length <= 30, `${lines.length}`);
});

test("Emscripten's output with its variables, by the line that is given", async () => {
  const [, line] = /`emcc (.*?)`/.exec(SECTION)!;
  const more = /`(-Wl,--export=__wasm_init_tls)`/.exec(SECTION)![1]!;
  const out = path.join(BUILT, "shared_mutex.mjs");
  await emcc({
    sources: [file("./fixtures/shared_mutex.c")],
    args: [...line!.split(" "), more, `-I${file("../wasm")}`, "-sSTRICT"],
    out,
    quiet: true,
  });
  const module = race.wasm(fs.readFileSync(out.replace(".mjs", ".wasm")));
  const spec = race.spec({
    memory: () => module.memory(),
    wasm: module,
    agents: ["wasm"],
    agent: (_, id, c) => ({ add: () => c!.add!(id + 1) as number }),
    stateless: true,
    init: 0,
    ops: {
      add: { run: (c) => c.add(), model: (n: number) => [n + 1, n] },
    },
  });
  const result = race.check(spec, [["add"]], [["add"]]);
  assert.is(result.failure, undefined, result.failure?.message);
  assert.ok(result.complete);
  // As many as of the same scenario in TypeScript: two sections of a mutex.
  assert.is(result.states, 1006);
});
