// it is long
// What the strictest compilers and C libraries say about the C headers.
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { clangOf, findCompiler } from "../../wasm/emcc.ts";
import { foldersWith } from "../_run/folders.ts";
import { skip, suite } from "../_run/harness.ts";
import { Missing } from "../_run/missing.ts";
import { everyFunction } from "../_run/header.ts";
import {
  build,
  BUILT,
  Pool,
  run,
  SOURCES,
  versionOf,
  WARNINGS,
  writeSource,
} from "../_run/native.ts";

const TESTS = fileURLToPath(new URL("..", import.meta.url));

/** A sample of the folders: between them they sleep in every way. */
const SAMPLE = [
  "mutex",
  "semaphore",
  "spsc_queue",
  "mpmc_queue",
  "work_counter",
];

/** The native program of a folder. */
const nativeOf = (folder: string) => path.join(TESTS, folder, "native.c");

const test = suite("weft.h, strictly");
const pool = new Pool(2);
fs.mkdirSync(BUILT, { recursive: true });

/** Writes a source that is made here. */
const made = (name: string, text: string): string =>
  writeSource(BUILT, name, text);

/** A clang that compiles for this machine: on the PATH, or Emscripten's. */
async function clang(): Promise<string> {
  if (await versionOf("clang") !== undefined) return "clang";
  const ours = clangOf(await findCompiler(true));
  const empty = made("empty.c", "#include <stdio.h>\nint main(void);\n");
  const { code } = await run(ours, ["-c", empty, "-o", `${empty}.o`], 250);
  if (code !== 0) throw new Missing("clang");
  return ours;
}

/** Ends a test with what a program said, unless it said "done" and no more. */
function assertDone({ code, output }: { code?: number; output: string }) {
  assert.is(code, 0, output.slice(-3000));
  assert.match(output, /^done$/m);
}

// ---- C++ programs with warnings against casts of C --------------------------

test("clang++ reports no cast of C and no change of sign", async () => {
  const text = "#define WEFT_STDIO\n#include <weft.h>\n" +
    "int32_t memory[WEFT_MPMC_QUEUE_BYTES(256, sizeof(double)) / 4];\n";
  const { code, output } = await run(await clang(), [
    ...["-x", "c++", "-std=c++17", "-fsyntax-only", ...WARNINGS],
    ...["-Wold-style-cast", "-Wsign-conversion", "-Wshadow"],
    ...[
      "-Wzero-as-null-pointer-constant",
      "-Wno-missing-variable-declarations",
    ],
    ...["-I", path.join(TESTS, "..", "wasm"), made("casts_clang.cpp", text)],
  ], 250);
  assert.is(code, 0, output);
});

// ---- -fsanitize=integer -----------------------------------------------------

/** The native programs of all folders. */
const PROGRAMS = foldersWith("native.c").map(nativeOf);

for (const file of PROGRAMS) {
  const name = path.relative(TESTS, file).replace(/\W/g, "_");
  test(`clang -fsanitize=integer reports nothing: ${path.relative(TESTS, file)}`, () =>
    pool.run(async () => {
      const words = [
        ...["-std=gnu11", "-O0", "-gdwarf-4", "-pthread", "-c"],
        ...["-fsanitize=integer", "-fsanitize-minimal-runtime"],
        // Spinning is only slow here.
        "-DWEFT_SPIN_ROUNDS=1",
      ];
      const object = await build({
        name: `integer-${name}.o`,
        compiler: await clang(),
        words,
        sources: [file],
      });
      const program = await build({
        name: `integer-${name}`,
        compiler: "gcc",
        words: ["-pthread", "-no-pie"],
        sources: [object, path.join(SOURCES, "integer.c")],
      });
      const ended = await run(program, ["2"], 250);
      const reports = ended.output.match(/^integer: .*$/gm) ?? [];
      const places = reports.map((line) => line.split(" ").at(-1)!);
      const { output } = places.length === 0
        ? { output: "" }
        : await run("addr2line", ["-fe", program, ...places], 250);
      assert.equal(reports, [], output);
      assertDone(ended as { code: number; output: string });
    }));
}

// ---- Linux without the headers of the kernel, and musl ----------------------

/** Names of system calls as other machines and libraries have them. */
const LIBRARIES: Record<string, string> = {
  "musl on 32 bits": `#include_next <sys/syscall.h>
enum { number = SYS_clock_gettime };
#undef SYS_clock_gettime
#define SYS_clock_gettime32 number
`,
  "a 32-bit machine with 64-bit time": `#include_next <sys/syscall.h>
enum { clock_number = SYS_clock_gettime, futex_number = SYS_futex };
#undef SYS_clock_gettime
#undef SYS_futex
#define SYS_clock_gettime64 clock_number
#define SYS_futex_time64 futex_number
`,
};

for (const [title, text] of Object.entries(LIBRARIES)) {
  test(`weft.h works without <linux/futex.h>, and with ${title}`, async () => {
    if (process.platform !== "linux") skip("only Linux has these calls");
    const folder = path.join(BUILT, title.replace(/\W/g, "_"));
    made(path.join(path.basename(folder), "sys", "syscall.h"), text);
    for (const name of ["futex", "time", "types", "unistd"]) {
      made(
        path.join(path.basename(folder), "linux", `${name}.h`),
        "#error a header of the kernel\n",
      );
    }
    for (const sample of SAMPLE) {
      const program = await build({
        name: `${sample}-${path.basename(folder)}`,
        compiler: "gcc",
        words: ["-std=c11", "-O1", "-pthread", `-I${folder}`],
        sources: [nativeOf(sample)],
      });
      const ended = await run(program, ["2"], 250);
      assertDone(ended as { code: number; output: string });
    }
  });
}

test("musl-gcc compiles every function, and its programs run", async () => {
  await build({
    name: "every-musl.o",
    compiler: "musl-gcc",
    words: ["-std=c11", "-O1", "-c", ...WARNINGS],
    sources: [made("every_musl.c", everyFunction({ stdio: true }))],
  });
  for (const sample of SAMPLE) {
    const program = await build({
      name: `${sample}-musl`,
      compiler: "musl-gcc",
      words: ["-std=c11", "-O1", "-static", "-pthread", ...WARNINGS],
      sources: [nativeOf(sample)],
    });
    const ended = await run(program, ["2"], 250);
    assertDone(ended as { code: number; output: string });
  }
});
