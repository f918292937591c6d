/**
 * Builds the pool of threads of zstd on Weft's locks, and runs it. Nothing of
 * zstd is in this repository: who runs this has its sources.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { INCLUDE } from "./header.ts";
import { BUILT, run, SOURCES } from "./native.ts";

const USAGE = `usage: deno task posix FOLDER
Compiles lib/common/pool.c of zstd in FOLDER, as it is, with weft_pthread.h in
front: its mutex and conditions are Weft's then. Tasks are run by it, natively and
with ThreadSanitizer. FOLDER has the sources of zstd 1.5, as \`apt-get source
libzstd\` unpacks them.`;

/** The files that pool.c needs. */
const PARTS = ["pool", "threading", "zstd_common", "error_private"];

/** Builds and runs it with these flags; false if it fails. */
async function built(folder: string, flags: string[]): Promise<boolean> {
  const common = path.join(folder, "lib", "common");
  const out = path.join(BUILT, "zstd_pool");
  const { code, output } = await run("gcc", [
    ...["-D_GNU_SOURCE", "-DZSTD_MULTITHREAD", "-pthread", "-Wall", "-Werror"],
    ...["-I", INCLUDE, "-I", common, "-I", path.join(folder, "lib")],
    ...["-include", "weft_pthread.h", ...flags],
    path.join(SOURCES, "zstd_pool.c"),
    ...PARTS.map((name) => path.join(common, `${name}.c`)),
    ...["-o", out],
  ], 100);
  if (code !== 0) {
    console.error(output);
    return false;
  }
  const locks = await run("nm", ["-u", out], 20);
  const theirs = locks.output.match(/pthread_(mutex|cond)_\w+/g) ?? [];
  if (flags.includes("-O2") && theirs.length > 0) {
    console.error(`still POSIX's: ${theirs.join(", ")}`);
    return false;
  }
  const ended = await run(out, [], 100);
  if (ended.code !== 0 || !/^done$/m.test(ended.output)) {
    console.error(`exit code ${ended.code}\n${ended.output}`);
    return false;
  }
  return true;
}

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || folder.startsWith("-") || more.length > 0) {
  console.error(USAGE);
  process.exit(folder === "--help" ? 0 : 2);
}
if (!fs.existsSync(path.join(folder, "lib", "common", "pool.c"))) {
  console.error(`no lib/common/pool.c in ${folder}`);
  process.exit(2);
}
fs.mkdirSync(BUILT, { recursive: true });
for (const flags of [["-O2"], ["-O1", "-g", "-fsanitize=thread"]]) {
  if (!await built(folder, flags)) process.exit(1);
  console.log(`zstd's pool ran on Weft's locks: ${flags.join(" ")}`);
}
