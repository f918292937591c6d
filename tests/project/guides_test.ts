// it is long
// The programs of docs/guides run: those in several files, and those in C.
// `deno test --doc` runs the examples that are a single block.
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { picture } from "../../docs/lost_increment.ts";
import { Latch, Semaphore } from "../../mod.ts";
import { raised } from "../_run/examples.ts";
import { suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { build, Pool, run, WARNINGS } from "../_run/native.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const GUIDES = path.join(PROJECT, "docs", "guides");
const BUILT = path.join(PROJECT, ".weft", "guides");

const test = suite("guides");
const pool = new Pool(2);

const guides = fs.readdirSync(GUIDES)
  .filter((name) => name.endsWith(".md") && name !== "README.md")
  .map((name) => path.basename(name, ".md"));
const read = (name: string) =>
  fs.readFileSync(path.join(GUIDES, `${name}.md`), "utf8");

test("the race tester draws the picture of the lost increment", () => {
  const file = path.join(PROJECT, "docs", "lost_increment.svg");
  assert.is(picture(), fs.readFileSync(file, "utf8"));
});

test("the guide about Atomics prints how an increment is lost", async () => {
  const [, program] = read("atomics").match(/^```ts\n([^]*?)^```$/m)!;
  fs.mkdirSync(BUILT, { recursive: true });
  const file = path.join(BUILT, "atomics.ts");
  fs.writeFileSync(file, program!);
  const { code, output } = await run(process.execPath, ["run", "-A", file], 60);
  assert.is(code, 0, output);
  assert.match(output, /^\| agent 0 +\| agent 1 +\|$/m);
});

test("the index names each guide once", () => {
  const links = [...read("README").matchAll(/^\|.*\]\((\w+)\.md\)/gm)];
  assert.equal(links.map(([, name]) => name).toSorted(), guides.toSorted());
});

test("the FAQ quotes what is thrown", () => {
  const latch = Latch.init(new SharedArrayBuffer(64), 0, 1);
  const older = Latch.init(new SharedArrayBuffer(64), 0, 1);
  new Int32Array(older.buffer)[0]! += 1; // the lowest byte is the version
  const attempts: [text: string, attempt: () => unknown][] = [
    [
      "from a handle of kind latch",
      () => Semaphore.from(latch.handle as never),
    ],
    ["expected a handle", () => Semaphore.from({} as never)],
    ["this is a latch", () => new Semaphore(latch.buffer)],
    [
      "no initialized primitive here",
      () => new Semaphore(new SharedArrayBuffer(64)),
    ],
    ["layout version", () => new Latch(older.buffer)],
  ];
  const faq = read("faq");
  for (const [text, attempt] of attempts) {
    assert.ok(faq.includes(text), text);
    assert.throws(attempt, (error: Error) => error.message.includes(text));
  }
});

/** The files that a guide shows, by name. */
function filesOf(guide: string): Map<string, string> {
  const named = /^```[jt]s ignore\n\/\/ (\w+\.[jt]s)\b[^\n]*\n([^]*?)^```$/gm;
  const found = [...read(guide).matchAll(named)];
  return new Map(found.map(([, name, text]) => [name!, text!]));
}

/** Writes the files of a guide, and returns their folder. */
function write(guide: string): string {
  const folder = path.join(BUILT, guide);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const files = filesOf(guide);
  const texts = raised([...files.values()]);
  for (const [i, name] of [...files.keys()].entries()) {
    fs.writeFileSync(path.join(folder, name), texts[i]!);
  }
  return folder;
}

/** Begins `task` as soon as a lane is free; the test waits for its end. */
function later(name: string, task: () => Promise<void>) {
  const end = pool.run(task).then(() => undefined, (error) => error);
  test(name, async () => {
    const error = await end;
    if (error !== undefined) throw error;
  });
}

/** The files with which programs begin. */
const PROGRAMS = ["main.ts", "main.js", "page.js", "words.ts"];

for (const guide of guides) {
  const mains = PROGRAMS.filter((name) => filesOf(guide).has(name));
  for (const main of mains) {
    later(`the program ${main} of ${guide} runs`, async () => {
      const folder = main === mains[0] ? write(guide) : path.join(BUILT, guide);
      const words = ["run", "-A", path.join(folder, main)];
      const { code, output } = await run(process.execPath, words, 250);
      assert.is(code, 0, output);
    });
  }
  // Those whose first line names a file are a part of some program.
  const programs = read(guide).matchAll(/^```c\n(?!\/\/ )([^]*?)^```$/gm);
  for (const [i, [, text]] of [...programs].entries()) {
    later(
      `the C of ${guide} compiles without a warning, and runs`,
      async () => {
        fs.mkdirSync(BUILT, { recursive: true });
        const source = path.join(BUILT, `${guide}${i}.c`);
        fs.writeFileSync(source, raised([text!])[0]!);
        const program = await build({
          name: `guide-${guide}${i}`,
          compiler: "gcc",
          words: ["-std=c11", "-O1", "-pthread", ...WARNINGS],
          sources: [source],
        });
        const { code, output } = await run(program, [], 250);
        assert.is(code, 0, output);
      },
    );
  }
}

/** Other compilers: how each tells its version, and how its command begins. */
const LANGUAGES = [["rustc", "--version", "gcc"], ["zig", "version", "zig"]];

for (
  const [compiler, version, command] of LANGUAGES as [string, ...string[]][]
) {
  test(
    `a program of ${compiler} uses weft.h through its file of C`,
    async () => {
      const there = await run(compiler, [version!], 120);
      if (there.code !== 0) throw new Missing(compiler);
      const folder = path.join(BUILT, compiler);
      fs.mkdirSync(folder, { recursive: true });
      const named = /^```(?:c|rust|zig)\n\/\/ (\w+\.\w+)\n([^]*?)^```$/gm;
      for (const [, name, text] of read("wasm").matchAll(named)) {
        fs.writeFileSync(path.join(folder, name!), text!);
      }
      const shell = RegExp(`^\`\`\`sh\n(${command} [^]*?)^\`\`\`$`, "m");
      const [, commands] = read("wasm").match(shell)!;
      const headers = path.join(PROJECT, "wasm");
      const script = commands!.replace("node_modules/@weft/sync/wasm", headers);
      const words = ["-ec", `cd "${folder}"\n${script}./main`];
      // Zig compiles what it needs of its library at its first use.
      const { code, output } = await run("bash", words, 600);
      assert.is(code, 0, output);
    },
    600_000,
  );
}

test("the producer of the guide about audio fills what its processor plays", async () => {
  const folder = write("audio");
  // What an AudioWorklet has, and no more, stands around the processor.
  fs.writeFileSync(
    path.join(folder, "main.js"),
    `import { SpscQueue, StripedCounter } from "@weft/sync";
import { SpscQueue as Realtime } from "@weft/sync/realtime";
let Player;
globalThis.AudioWorkletProcessor = class {};
globalThis.registerProcessor = (name, processor) => {
  if (name === "player") Player = processor;
};
await import("./processor.js");
const { produce } = await import("./producer.js");
const blocks = SpscQueue.create({ capacity: 32, elementSize: 128 * 4 });
const underruns = StripedCounter.create();
const player = new Player({
  processorOptions: { blocks: blocks.handle, underruns: underruns.handle },
});
const samples = new Float32Array(128).fill(1);
const told = [player.process([], [[samples]]), samples[5], underruns.sum()];
produce(blocks, 44100, 10 * 128 / 44100);
for (let i = 0; i < 10; i++) told.push(player.process([], [[samples]]));
told.push(samples[5] !== 0, player.process([], [[samples]]), underruns.sum());

// More blocks than the queue holds, and then a close in the middle.
const endless = SpscQueue.create({ capacity: 32, elementSize: 128 * 4 });
produce(Realtime.from(endless.handle), 44100);
told.push(endless.size); // it is full before anything is connected
for (let turn = 0; turn < 3; turn++) {
  while (endless.tryPopInto(samples));
  while (endless.size < 32) await new Promise((done) => setTimeout(done, 1));
}
endless.close(); // the timer ends: otherwise this program would not
console.log(JSON.stringify(told));
`,
  );
  const words = ["run", "-A", path.join(folder, "main.js")];
  const { code, output } = await run(process.execPath, words, 60);
  assert.is(code, 0, output);
  const played = Array.from({ length: 10 }, () => true);
  const told = [true, 0, 1, ...played, true, false, 1, 32];
  assert.equal(JSON.parse(output), told);
});
