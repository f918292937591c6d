// also: node
// it is long
// weft.h in programs of wasm32-wasip1-threads: they need no clock and no random
// numbers but those of WASI, and share queues with JavaScript.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { MpmcQueue } from "../../mod.ts";
import { wasmClang } from "../../wasm/emcc.ts";
import { suite } from "../_run/harness.ts";
import { everyFunction } from "../_run/header.ts";
import { BUILT, WARNINGS } from "../_run/native.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import { instance, type Program } from "./_wasi.ts";

const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));
const SOURCE = fileURLToPath(new URL("./fixtures/wasi.c", import.meta.url));
const WORKER = new URL("./_wasi_worker.ts", import.meta.url);
const PAGES = 64;

/** Without a C library: there is none for this target on most machines. */
const THREADS = [
  ...["--target=wasm32-wasip1-threads", "-pthread", `-I${WASM}`],
  ...["-ffreestanding", "-nostdlibinc"],
];

const test = suite("WASI");

for (const std of ["c11", "c++17"]) {
  test(`clang --target=wasm32-wasip1-threads -std=${std} says nothing`, async () => {
    const extension = std === "c11" ? "c" : "cpp";
    fs.mkdirSync(BUILT, { recursive: true });
    const source = path.join(BUILT, `wasi.${extension}`);
    fs.writeFileSync(source, everyFunction());
    await wasmClang({
      sources: [source],
      args: [...THREADS, "-c", "-O1", `-std=${std}`, ...WARNINGS],
      out: path.join(BUILT, `wasi-${extension}.o`),
      quiet: true,
    });
  });
}

test("a thread takes from JavaScript's queue, and gives", async () => {
  const out = path.join(BUILT, "wasi.wasm");
  await wasmClang({
    sources: [SOURCE],
    args: [
      ...THREADS,
      "-O2",
      "-std=c11",
      "-nostdlib",
      ...WARNINGS,
      "-Wl,--no-entry,--import-memory,--shared-memory",
      `-Wl,--initial-memory=${PAGES * 65536},--max-memory=${PAGES * 65536}`,
    ],
    out,
    quiet: true,
  });
  const module = await WebAssembly.compile(fs.readFileSync(out));
  const asked = WebAssembly.Module.imports(module).map(({ name }) => name);
  assert.equal(asked.sort(), [
    "clock_time_get",
    "memory",
    "random_get",
    "thread-spawn",
  ]);
  const memory = new WebAssembly.Memory({
    initial: PAGES,
    maximum: PAGES,
    shared: true,
  });
  const program: Program = { module, memory };
  let thread: Promise<Thread> | undefined;
  const exports = instance(program, (start) => {
    thread = spawn(WORKER, { ...program, start });
    return 1;
  }) as Record<string, (i?: number) => number>;
  const config = { capacity: 64, elementSize: 4 };
  const [jobs, results] = [0, 1].map((i) =>
    MpmcQueue.init(memory, exports.place!(i) >>> 0, config)
  ) as [MpmcQueue, MpmcQueue];
  assert.is(exports.begin!(), 1);
  const pushed = (async () => {
    for (let i = 0; i < 1000; i++) await jobs.pushIntAsync(i);
    jobs.close();
  })();
  for (let i = 0; i < 1000; i++) assert.is(await results.popIntAsync(), 2 * i);
  await pushed;
  const id = await results.popIntAsync();
  assert.ok(id !== undefined && id > 0 && id < 2 ** 28, `${id}`);
  assert.is(await (await thread!).next(), "over");
});
