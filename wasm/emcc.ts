/**
 * Compiles C to wasm with whatever Emscripten there is: `$EMCC`, `emcc` on
 * PATH, or one unpacked into the user's cache, once (see `fetch-emcc.sh`).
 * Used by the demo, the tests and the benchmarks, under Deno and Node.
 *
 * @module
 */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The oldest Emscripten whose ES modules run under Deno and Node. */
const OLDEST = "3.1.58";

const FETCH = fileURLToPath(new URL("./fetch-emcc.sh", import.meta.url));
const WEFT = fileURLToPath(new URL("./weft", import.meta.url));
const BUN = fileURLToPath(new URL("./bun.js", import.meta.url));

/**
 * Flags of a module with pthreads that Deno, Node and Bun can load. Without
 * `-sSTRICT` the first build takes minutes: Emscripten makes more libraries;
 * with it, the first thread to end would end all, were it not for the module
 * option `noExitRuntime`, whose mere possibility keeps the program running.
 */
export const PTHREADS: readonly string[] = [
  "-O2",
  "-pthread",
  "--no-entry",
  "-sSTRICT",
  "-sINCOMING_MODULE_JS_API=noExitRuntime",
  "-sMODULARIZE",
  "-sEXPORT_ES6",
  "-sEXPORTED_RUNTIME_METHODS=wasmMemory",
  "--pre-js",
  BUN,
];

/** Thrown where there is no compiler; its message is one line for the user. */
export class NoCompiler extends Error {
  override readonly name = "NoCompiler";

  /** What this machine cannot have; undefined if what it has does not work. */
  readonly missing: string | undefined;

  /** Says `why`, and what to do about it. */
  constructor(why: string, missing?: string) {
    super(`${why}: install Emscripten ${OLDEST} or later, or set EMCC`);
    this.missing = missing;
  }
}

/** An Emscripten on this machine. */
export interface Compiler {
  /** Absolute path of the program `emcc`. */
  readonly path: string;
  /** Its version, as in `6.0.5`. */
  readonly version: string;
}

/** What to compile. */
export interface Build {
  /**
   * Absolute paths. C and C++ files are compiled; any other file (a header, a
   * `--pre-js`) is only watched for changes, and those of `wasm/` always are.
   */
  sources: readonly string[];
  /** Flags, apart from the sources and `-o`. */
  args: readonly string[];
  /** Absolute path of the result: an `.mjs` of `emcc`, a `.wasm` of clang. */
  out: string;
  /** Prints no progress and no warnings. */
  quiet?: boolean;
  /** The sources include nothing of `wasm/`: its changes do not matter. */
  alone?: boolean;
}

/** Compiles with `emcc`, unless nothing changed since `out` was written. */
export async function emcc(build: Build): Promise<void> {
  const { path, version } = await findCompiler(build.quiet);
  for (const program of ["python3", "node"]) {
    if (onPath(program)) continue;
    throw new NoCompiler(`no ${program}, which emcc needs`, program);
  }
  await make(path, version, build);
}

/** As {@linkcode emcc}, by Emscripten's clang alone, for bare wasm32. */
export async function wasmClang(build: Build): Promise<void> {
  const compiler = await findCompiler(build.quiet);
  const args = ["--target=wasm32", ...build.args];
  await make(clangOf(compiler), compiler.version, { ...build, args });
}

/**
 * Finds Emscripten, unpacking it first if need be.
 *
 * @throws {NoCompiler} If there is none and none can be had.
 */
export async function findCompiler(quiet = false): Promise<Compiler> {
  const chosen = process.env.EMCC;
  if (chosen) {
    const compiler = compilerAt(chosen);
    if (!compiler) throw new NoCompiler("EMCC names no emcc that runs");
    if (recent(compiler)) return compiler;
    throw new NoCompiler(`EMCC names version ${compiler.version}`);
  }
  const installed = compilerAt("emcc");
  return installed && recent(installed) ? installed : await unpacked(quiet);
}

function compilerAt(program: string): Compiler | undefined {
  const path = onPath(program);
  const version = path && versionOf(path);
  return version ? { path, version } : undefined;
}

function onPath(program: string): string | undefined {
  const folders = program.includes(path.sep)
    ? [process.cwd()]
    : (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.resolve(folder, program))
    .find(isFile);
}

/** Whether there is such a file, in a folder that may be read. */
function isFile(file: string): boolean {
  try {
    return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false; // as in a folder of another user
  }
}

function versionOf(emcc: string): string | undefined {
  // Emscripten keeps its version beside its scripts; asking takes a second.
  const beside = path.dirname(fs.realpathSync(emcc));
  const file = path.join(beside, "emscripten-version.txt");
  const text = fs.existsSync(file)
    ? fs.readFileSync(file, "utf8")
    : spawnSync(emcc, ["--version"], { encoding: "utf8" }).stdout;
  return text?.match(/\d+\.\d+\.\d+/)?.[0];
}

function recent({ version }: Compiler): boolean {
  return version.localeCompare(OLDEST, "en", { numeric: true }) >= 0;
}

/** The Emscripten in the user's cache. */
async function unpacked(quiet: boolean): Promise<Compiler> {
  const cache = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  const root = path.resolve(cache, "weft", "emscripten");
  const stamp = path.join(root, "weft", "stamp");
  if (!fs.existsSync(stamp) || readLine(stamp) !== root) {
    const missing = ["bash", "apt-get", "dpkg-deb", "flock", "python3", "node"]
      .filter((program) => !onPath(program));
    if (missing.length > 0) {
      const why = `no emcc, and no ${missing[0]} to fetch it with`;
      throw new NoCompiler(why, "emcc");
    }
    const task = "fetching Emscripten (about 120 MB, once)";
    const { code, text } = await run("bash", [FETCH, root], task, quiet);
    if (code !== 0) throw new NoCompiler(`no emcc; ${lastLine(text)}`);
  }
  const scripts = path.join(root, "usr", "share", "emscripten");
  const version = readLine(path.join(scripts, "emscripten-version.txt"));
  return {
    path: path.join(root, "weft", "emcc"),
    version: version.replaceAll('"', ""),
  };
}

/** The path of the clang that belongs to `compiler`. */
export function clangOf(compiler: Compiler): string {
  const folder = path.dirname(compiler.path);
  const ours = path.join(folder, "bin", "clang");
  if (fs.existsSync(ours)) return ours;
  const config = path.join(folder, "em-config");
  const llvm = spawnSync(config, ["LLVM_ROOT"], { encoding: "utf8" }).stdout;
  const clang = llvm ? path.join(llvm.trim(), "clang") : onPath("clang");
  if (clang && fs.existsSync(clang)) return clang;
  throw new NoCompiler("no clang beside emcc");
}

async function make(tool: string, version: string, build: Build) {
  const { args, out, quiet = false } = build;
  const stamp = `${out}.stamp`;
  const wanted = fingerprint([tool, version, ...args], build);
  const fresh = () =>
    fs.existsSync(out) && fs.existsSync(stamp) && readLine(stamp) === wanted;
  if (fresh()) return;
  fs.mkdirSync(path.dirname(out), { recursive: true });
  const release = await lock(`${out}.lock`);
  try {
    if (!fresh()) await compile(tool, args, build.sources, out, quiet);
    replaceFile(stamp, wanted + "\n");
  } finally {
    release();
  }
}

async function compile(
  tool: string,
  args: readonly string[],
  sources: readonly string[],
  out: string,
  quiet: boolean,
) {
  const compiled = sources.filter((file) => /\.(c|cc|cpp|S)$/.test(file));
  const folder = path.dirname(out);
  const part = fs.mkdtempSync(`${out}.part-`);
  const result = path.join(part, path.basename(out));
  try {
    const task = `compiling ${compiled.map((f) => path.basename(f)).join(" ")}`;
    const words = [...args, ...compiled, "-o", result];
    const { code, text } = await run(tool, words, task, quiet);
    const said = text.replace(/^\w+:INFO.*\n?/gm, "").trim();
    if (code !== 0) throw new Error(`${path.basename(tool)} failed\n${said}`);
    if (said && !quiet) console.error(said);
    // The module last: whoever finds it finds the files it loads.
    const files = fs.readdirSync(part).filter((f) => f !== path.basename(out));
    for (const file of [...files, path.basename(out)]) {
      fs.renameSync(path.join(part, file), path.join(folder, file));
    }
  } finally {
    fs.rmSync(part, { recursive: true, force: true });
  }
}

function fingerprint(words: string[], { sources, alone }: Build): string {
  const hash = createHash("sha256").update(JSON.stringify(words));
  for (const file of [...sources, ...alone ? [] : watched()]) {
    const bytes = fs.existsSync(file) ? fs.readFileSync(file) : "";
    hash.update(`\n${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** What modules are made of besides their sources. */
function watched(): string[] {
  const headers = fs.readdirSync(WEFT).sort();
  return [`${WEFT}.h`, ...headers.map((name) => path.join(WEFT, name)), BUN];
}

/**
 * Waits for another process that builds the same thing. Only saves time: where
 * a stale lock is broken by two at once, both build and rename equal files.
 */
async function lock(file: string): Promise<() => void> {
  for (let refused = 0;;) {
    try {
      fs.writeFileSync(file, `${process.pid}\n`, { flag: "wx" });
      return () => fs.rmSync(file, { force: true });
    } catch (error) {
      const { code } = error as { code?: string };
      // Windows refuses a name for a moment after its file was removed.
      if (code !== "EEXIST" && ++refused === 10) throw error;
      if (code === "EEXIST" && !holderLives(file)) {
        fs.rmSync(file, { force: true });
      } else await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function holderLives(file: string): boolean {
  try {
    const age = Date.now() - fs.statSync(file).mtimeMs;
    const holder = Number(readLine(file));
    // Empty for an instant, between being made and being filled.
    return holder === 0 ? age < 1000 : process.kill(holder, 0);
  } catch {
    return false;
  }
}

/** Runs a program, showing `task` with the time taken if it takes long. */
function run(
  program: string,
  args: string[],
  task: string,
  quiet: boolean,
): Promise<{ code: number | null; text: string }> {
  const finished = quiet ? () => {} : progress(task);
  return new Promise((resolve) => {
    let text = "";
    const stdio = ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"];
    const child = spawn(program, args, { stdio });
    child.stdout.setEncoding("utf8");
    child.stderr.setEncoding("utf8");
    child.stdout.on("data", (part) => text += part);
    child.stderr.on("data", (part) => text += part);
    const end = (code: number | null) => (finished(), resolve({ code, text }));
    child.on("error", (error) => (text += error.message, end(null)));
    child.on("close", end);
  });
}

/** After two seconds says what goes on: a running clock on a terminal. */
function progress(task: string): () => void {
  const start = performance.now();
  const { stderr } = process;
  let shown = false;
  const timer = setInterval(() => {
    const seconds = Math.floor((performance.now() - start) / 1000);
    if (seconds < 2) return;
    if (stderr.isTTY) stderr.write(`\r${task}: ${seconds} s`);
    else if (!shown) stderr.write(`${task} ...\n`);
    shown = true;
  }, 1000);
  return () => {
    clearInterval(timer);
    if (shown && stderr.isTTY) stderr.write("\r\x1b[K");
  };
}

function replaceFile(file: string, text: string) {
  fs.writeFileSync(`${file}.${process.pid}`, text);
  fs.renameSync(`${file}.${process.pid}`, file);
}

function readLine(file: string): string {
  return fs.readFileSync(file, "utf8").trim();
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
