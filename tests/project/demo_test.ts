// it is long
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { Stopwatch } from "../../wasm/demo/alone.ts";
import { Arena } from "../../wasm/demo/arena.ts";
import { check } from "../../wasm/demo/check.ts";
import { build, plainPlace } from "../../wasm/demo/hash.ts";
import { type File, find, Reader } from "../../wasm/demo/input.ts";
import { skip, suite } from "../_run/harness.ts";
import { start } from "../_run/process.ts";

const MAIN = fileURLToPath(new URL("../../wasm/demo/main.ts", import.meta.url));
const TODO = "install Emscripten 3.1.58 or later, or set EMCC";

const test = suite("demo");
let folder = "";

test.before(async () => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft-demo-"));
  await build();
});

test.after(() => {
  fs.rmSync(folder, { recursive: true });
});

/** Runs the demo. */
function demo(...args: string[]) {
  return start([process.execPath, "run", "-A", MAIN, ...args], 250);
}

function blake2b(bytes: Uint8Array): string {
  return createHash("blake2b512").update(bytes).digest("hex");
}

/** `length` bytes that are not all alike. */
function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * i >> 3) + length);
}

/** Makes files of these lengths, in a folder of their own. */
function makeFiles(name: string, lengths: number[]): string {
  const at = path.join(folder, name);
  fs.mkdirSync(path.join(at, "inner"), { recursive: true });
  for (const [i, length] of lengths.entries()) {
    const file = path.join(at, i % 2 ? "inner" : "", `${i}-of-${length}`);
    fs.writeFileSync(file, bytesOf(length));
  }
  return at;
}

/** What `b2sum` prints of every file in a folder. */
function sums(at: string): string[] {
  return fs.readdirSync(at, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(at, name))
    .filter((file) => fs.statSync(file).isFile())
    .map((file) => `${blake2b(fs.readFileSync(file))}  ${file}`)
    .sort();
}

/** The lines of digests in what the demo printed. */
function digests(output: string): string[] {
  return output.split("\n").filter((line) => /^[0-9a-f]{128} {2}/.test(line))
    .sort();
}

const LENGTHS = [0, 1, 127, 128, 129, 999, 1000, 1001, 2000, 65_536, 70_001];

for (
  const agents of [
    ["--js", "1", "--wasm", "1"],
    ["--js", "2", "--wasm", "0"],
    ["--js", "0", "--wasm", "2"],
    [],
  ]
) {
  test(`BLAKE2b of files, by ${agents.join(" ") || "default"}`, async () => {
    const at = makeFiles("lengths", LENGTHS);
    const { output, ending } = await demo(at, "--chunk", "1000", ...agents);
    assert.is(ending, "exit code 0", output);
    assert.equal(digests(output), sums(at));
    assert.match(output, /^together +148 /m); // chunks
    assert.match(output, "check: every digest equals");
  });
}

test("chunks larger than every file, and of one byte", async () => {
  const at = makeFiles("few", [0, 1, 300]);
  for (const chunk of ["1", "16777216"]) {
    const { output, ending } = await demo(at, "--chunk", chunk);
    assert.is(ending, "exit code 0", output);
    assert.equal(digests(output), sums(at));
  }
});

test("a thousand small files, and one named twice", async () => {
  const at = makeFiles("many", Array.from({ length: 1000 }, (_, i) => i % 77));
  const twice = path.join(at, "0-of-0");
  const { output, ending } = await demo(at, twice, twice);
  assert.is(ending, "exit code 0", output);
  const empty = `${blake2b(bytesOf(0))}  ${twice}`;
  assert.equal(digests(output), [...sums(at), empty, empty].sort());
});

test("--json prints figures that fit together", async () => {
  const at = makeFiles("json", [0, 5, 100, 12_345]);
  const { output, ending } = await demo(at, "--chunk", "100", "--json");
  assert.is(ending, "exit code 0", output);
  const { chunks, bytes, agents, equal, digests } = JSON.parse(output);
  const sum = (key: string) =>
    agents.reduce((sum: number, agent: never) => sum + agent[key], 0);
  assert.is(chunks, 1 + 1 + 1 + 124);
  assert.is(bytes, 12_450);
  assert.is(sum("chunks"), chunks);
  assert.is(sum("bytes"), bytes);
  assert.ok(equal);
  const large = digests.find((file: { bytes: number }) => file.bytes > 100);
  const whole = bytesOf(12_345);
  const list = createHash("blake2b512");
  for (let i = 0; i < 12_345; i += 100) {
    list.update(
      createHash("blake2b512").update(whole.slice(i, i + 100)).digest(),
    );
  }
  assert.is(large.blake2b, blake2b(whole));
  assert.is(large.blake2bOfDigests, list.digest("hex"));
});

for (
  const [args, message] of [
    [["--js", "x"], `--js must be an integer from 0 to 32: received "x"`],
    [["--wasm=-1"], `--wasm must be an integer from 0 to 32: received "-1"`],
    [["--js", "33"], `--js must be an integer from 0 to 32: received "33"`],
    [["--js", ""], `--js must be an integer from 0 to 32: received ""`],
    [
      ["--chunk", "0"],
      `--chunk must be an integer from 1 to 16777216: received "0"`,
    ],
    [
      ["--js", "0", "--wasm", "0"],
      "--js 0 and --wasm 0 leave nobody to do the work",
    ],
    [["--what"], "Unknown option '--what'"],
    [["nowhere"], "cannot read nowhere: no such file or folder"],
    [
      ["deno.json/x"],
      "cannot read deno.json/x: a part of the path is no folder",
    ],
    [["/dev/null"], "cannot read /dev/null: not a file or folder"],
  ] as const
) {
  test(`one line for ${args.join(" ")}`, async () => {
    const { output, ending } = await demo(...args);
    assert.is(output, `demo: ${message}\n`);
    assert.is(ending, "exit code 2");
  });
}

test("one line for a folder without files", async () => {
  const empty = path.join(folder, "empty");
  fs.mkdirSync(empty);
  const { output, ending } = await demo(empty);
  assert.is(output, "demo: no files there\n");
  assert.is(ending, "exit code 2");
});

test("without a compiler: one line, and --wasm 0 works", async () => {
  const before = process.env.EMCC;
  process.env.EMCC = path.join(folder, "no-emcc");
  try {
    const { output, ending } = await demo("mod.ts");
    const why = "EMCC names no emcc that runs";
    assert.is(output, `demo: ${why}: ${TODO}, or say --wasm 0\n`);
    assert.is(ending, "exit code 2");
    const plain = await demo("mod.ts", "--wasm", "0");
    assert.is(plain.ending, "exit code 0", plain.output);
    const digest = blake2b(fs.readFileSync("mod.ts"));
    assert.equal(digests(plain.output), [`${digest}  mod.ts`]);
  } finally {
    if (before === undefined) delete process.env.EMCC;
    else process.env.EMCC = before;
  }
});

test("a file that changes all the time is told, with exit code 1", async () => {
  const file = path.join(folder, "restless");
  let round = 0;
  const change = () => {
    fs.writeFileSync(`${file}.next`, `round ${round++}`);
    fs.renameSync(`${file}.next`, file); // is never seen empty
  };
  change();
  const timer = setInterval(change, 5);
  const { output, ending } = await demo(file, "--wasm", "0");
  clearInterval(timer);
  assert.is(ending, "exit code 1", output);
  assert.match(output, "check: 1 of 1 file differ");
  assert.match(output, /restless( changed|: BLAKE2b is )/);
});

test("a file that is shorter than its stated size is hashed to its end", async () => {
  const file = "/sys/kernel/mm/transparent_hugepage/enabled"; // says 4096
  if (!fs.existsSync(file)) skip(`no ${file} here`);
  const { output, ending } = await demo(file, "--chunk", "7");
  assert.is(ending, "exit code 0", output);
  const digest = blake2b(fs.readFileSync(file));
  assert.equal(digests(output), [`${digest}  ${file}`]);
});

/** The chunks of a file that has changed since it was found. */
async function readChanged(from: number, to: number): Promise<number[]> {
  const name = path.join(folder, "changed");
  fs.writeFileSync(name, bytesOf(from));
  const files = await find([name]);
  fs.writeFileSync(name, bytesOf(to));
  const reader = new Reader(files, 100);
  const lengths: number[] = [];
  for (let chunks; (chunks = await reader.take(2)).length > 0;) {
    lengths.push(...chunks.map(({ bytes }) => bytes.length));
  }
  return lengths;
}

test("Reader gives no more chunks than were planned for", async () => {
  assert.equal(await readChanged(250, 250), [100, 100, 50]);
  assert.equal(await readChanged(250, 120), [100, 20]);
  assert.equal(await readChanged(250, 0), [0]);
  assert.equal(await readChanged(250, 299), [100, 100, 99]);
  assert.equal(await readChanged(250, 950), [100, 100, 100]);
  assert.equal(await readChanged(0, 950), [100]);
});

test("measuring one thread alone leaves every slot free", () => {
  const size = { slots: 4, chunk: 100, agents: 1 };
  const { memory, base, plan } = plainPlace(size);
  const arena = Arena.init(memory, plan, base, size, 1);
  new Stopwatch(arena, [bytesOf(100)]).measure();
  const slots = Array.from({ length: size.slots }, (_, slot) => slot);
  assert.equal(slots.filter((slot) => !arena.isFree(slot)), []);
});

test("check() tells which digest is wrong, and what it should be", async () => {
  const name = path.join(folder, "checked");
  const bytes = bytesOf(250);
  fs.writeFileSync(name, bytes);
  const parts = [bytes.slice(0, 100), bytes.slice(100, 200), bytes.slice(200)];
  const right = parts.map((part) =>
    createHash("blake2b512").update(part).digest()
  );
  const file = (read: number, digests: Uint8Array): File => {
    return { name, size: 250, read, digests };
  };
  const differences = async (read: number, digests: Uint8Array, chunk = 100) =>
    (await check([file(read, digests)], chunk))[0]!.differences;

  const all = new Uint8Array(right.flatMap((digest) => [...digest]));
  assert.equal(await differences(250, all), []);
  const wrong = all.slice();
  wrong[65]! ^= 1;
  const expected = right[1]!.toString("hex");
  const told = await differences(250, wrong);
  assert.is(told.length, 1);
  assert.match(told[0]!, `${name}, chunk 1: BLAKE2b is ${expected}, the `);
  assert.match(
    (await differences(200, all))[0]!,
    `${name} changed: 200 bytes were hashed, now it has 250`,
  );
  const whole = createHash("blake2b512").update(bytes).digest();
  assert.equal(await differences(250, whole, 1000), []);
  assert.is((await differences(250, all, 1000)).length, 1);
});
