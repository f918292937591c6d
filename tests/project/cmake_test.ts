// it is long
// weft::weft, the target of CMake: as a folder of a project, fetched, and
// installed, where pkg-config finds it, too.
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { need, run } from "../_run/native.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const WASM = path.join(PROJECT, "wasm");

const test = suite("CMake");
let folder = "";

test.before(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), "weft cmake-"));
});
test.after(() => fs.rmSync(folder, { recursive: true }));

const MAIN = `#include <weft.h>

int main(void) {
  weft_mutex mutex = {0};
  return weft_mutex_lock(&mutex, WEFT_FOREVER);
}
`;

/** The ways to get the target. */
const WAYS: Readonly<Record<string, string>> = {
  "add_subdirectory": `add_subdirectory("${WASM}" weft)`,
  "FetchContent": `include(FetchContent)
FetchContent_Declare(weft SOURCE_DIR "${PROJECT}" SOURCE_SUBDIR wasm)
FetchContent_MakeAvailable(weft)`,
  "find_package": `find_package(weft 1.0 REQUIRED)`,
};

/** Spares a trial of the compiler, which takes a second. */
const QUICK = "-DCMAKE_C_COMPILER_WORKS=1";

/** Runs a program, which must succeed. */
async function must(program: string, ...words: string[]): Promise<string> {
  const { code, output } = await run(program, words, 250);
  assert.is(code, 0, output);
  return output;
}

/** Installs the headers, and returns where. */
async function install(): Promise<string> {
  const prefix = path.join(folder, "prefix");
  if (fs.existsSync(prefix)) return prefix;
  const build = path.join(folder, "installing");
  await must("cmake", "-S", WASM, "-B", build, QUICK);
  await must("cmake", "--install", build, "--prefix", prefix);
  return prefix;
}

for (const [name, how] of Object.entries(WAYS)) {
  test(`a program is built by ${name}, and runs`, async () => {
    await need("cmake", "gcc");
    const source = path.join(folder, name);
    fs.mkdirSync(source);
    fs.writeFileSync(path.join(source, "main.c"), MAIN);
    fs.writeFileSync(
      path.join(source, "CMakeLists.txt"),
      `cmake_minimum_required(VERSION 3.18)
project(app LANGUAGES C)
${how}
add_executable(app main.c)
target_link_libraries(app PRIVATE weft::weft)
`,
    );
    const build = path.join(source, "build");
    const more = name === "find_package"
      ? [`-DCMAKE_PREFIX_PATH=${await install()}`]
      : [];
    await must("cmake", "-S", source, "-B", build, QUICK, ...more);
    await must("cmake", "--build", build);
    await must(path.join(build, "app"));
  });
}

test("pkg-config finds what was installed", async () => {
  await need("cmake", "pkg-config", "gcc");
  const prefix = await install();
  const flags = await must(
    "env",
    `PKG_CONFIG_PATH=${prefix}/share/pkgconfig`,
    ...["pkg-config", "--cflags", "--libs", "weft"],
  );
  const source = path.join(folder, "pkg.c");
  fs.writeFileSync(source, MAIN);
  const program = path.join(folder, "pkg");
  // The flags are words for a shell: the folder may have spaces.
  const command = `gcc "$0" -o "$1" ${flags.trim()}`;
  await must("sh", "-c", command, source, program);
  await must(program);
});

test("the version is that of the package", () => {
  const { version } = JSON.parse(
    fs.readFileSync(path.join(PROJECT, "deno.json"), "utf8"),
  );
  const text = fs.readFileSync(path.join(WASM, "CMakeLists.txt"), "utf8");
  assert.match(text, `project(weft VERSION ${version} `);
});
