/**
 * Native programs of C and C++, built with the machine's own compilers and
 * kept under `.weft/native` until a source or a flag changes.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { headerFiles } from "./header.ts";
import { Missing } from "./missing.ts";

/** The folder of the programs. */
export const SOURCES: string = fileURLToPath(
  new URL("../project/native", import.meta.url),
);

/** The folder of what was built. */
export const BUILT: string = fileURLToPath(
  new URL("../../.weft/native", import.meta.url),
);

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TESTS = fileURLToPath(new URL("..", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));

/** The names of the headers for C++. */
export const cppHeaders = (): string[] =>
  fs.readdirSync(WASM).filter((name) => name.endsWith(".hpp")).sort();

/** The warnings that users of `weft.h` may have switched on. */
export const WARNINGS: readonly string[] = [
  "-Wall",
  "-Wextra",
  "-Wpedantic",
  "-Wconversion",
  "-Werror",
];

/** A compiler for each language, of one make. */
export const MAKES: readonly (readonly [c: string, cpp: string])[] = [
  ["gcc", "g++"],
  ["clang", "clang++"],
];

/** How a program ended. */
export interface Ended {
  /** Its exit code; undefined if it was killed or did not start. */
  code: number | undefined;
  /** All it printed. */
  output: string;
}

/**
 * Runs a program, killing it after `seconds`.
 *
 * @throws {Missing} If it is looked for on the PATH, and is not there.
 */
export function run(
  program: string,
  words: readonly string[],
  seconds: number,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const limits = {
      timeout: seconds * 1000,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 26,
    } as const;
    execFile(program, [...words], limits, (error, stdout, stderr) => {
      let output = stdout + stderr;
      if (error === null) return resolve({ code: 0, output });
      if (error.code as unknown === "ENOENT" && !program.includes(path.sep)) {
        return reject(new Missing(program));
      }
      const code = typeof error.code === "number" ? error.code : undefined;
      if (code === undefined) {
        const late = error.killed ? `killed after ${seconds} s` : error.message;
        output += `\n${late}`;
      }
      resolve({ code, output });
    });
  });
}

/** What to build: one program, or an object file if `words` say `-c`. */
export interface Program {
  /** Its file name in {@linkcode BUILT}. */
  name: string;
  compiler: string;
  words: readonly string[];
  /** Absolute paths. */
  sources: readonly string[];
}

/** Builds `program`, unless it is there; its path, or throws what was said. */
export async function build(program: Program): Promise<string> {
  const { name, compiler, words, sources } = program;
  const out = path.join(BUILT, name);
  const stamp = `${out}.stamp`;
  const wanted = await fingerprint(program);
  if (fs.existsSync(out) && fs.existsSync(stamp)) {
    if (fs.readFileSync(stamp, "utf8") === wanted) return out;
  }
  fs.mkdirSync(BUILT, { recursive: true });
  const part = fs.mkdtempSync(path.join(BUILT, `${name}.part-`));
  try {
    const result = path.join(part, name);
    const all = [
      ...words,
      ...[WASM, HERE, TESTS].flatMap((folder) => ["-I", folder]),
      ...sources,
      "-o",
      result,
    ];
    const { code, output } = await run(compiler, all, 280);
    if (code !== 0) {
      const said = output.slice(0, 3000);
      throw new Error(`${compiler} ${words.join(" ")} failed\n${said}`);
    }
    fs.rmSync(stamp, { force: true });
    fs.renameSync(result, out);
    fs.writeFileSync(stamp, wanted);
  } finally {
    fs.rmSync(part, { recursive: true, force: true });
  }
  return out;
}

/**
 * Writes a source that a test makes, unless it is there: what was compiled from
 * it is then still new. Returns its path.
 */
export function writeSource(
  folder: string,
  name: string,
  text: string,
): string {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (!fs.existsSync(file) || fs.readFileSync(file, "utf8") !== text) {
    fs.writeFileSync(file, text);
  }
  return file;
}

const versions = new Map<string, Promise<string | undefined>>();

/** The first line of what `compiler` says of itself; undefined if missing. */
export function versionOf(compiler: string): Promise<string | undefined> {
  let version = versions.get(compiler);
  if (version === undefined) {
    version = run(compiler, ["--version"], 120).then(
      ({ code, output }) => code === 0 ? output.split("\n", 1)[0] : undefined,
      () => undefined,
    );
    versions.set(compiler, version);
  }
  return version;
}

/** Throws {@linkcode Missing} unless all `programs` run on this machine. */
export async function need(...programs: string[]): Promise<void> {
  for (const program of programs) {
    if (await versionOf(program) === undefined) throw new Missing(program);
  }
}

/**
 * The headers that programs share, beside those of `wasm/` and of their own.
 */
const SHARED = [HERE, path.join(TESTS, "_queue")];

/** The files of a folder that programs include. */
const headersIn = (folder: string): string[] =>
  fs.readdirSync(folder).filter((name) => /\.h(pp)?$/.test(name)).sort()
    .map((name) => path.join(folder, name));

const sanitizing = new Map<string, Promise<boolean>>();

/** As {@linkcode need}, of a compiler and what sanitized programs need. */
export async function needSanitizers(compiler: string): Promise<void> {
  await need(compiler);
  if (!await sanitizes(compiler)) {
    throw new Missing(`sanitizers of ${compiler}`);
  }
}

/** Whether `compiler` has what sanitized programs are linked with. */
function sanitizes(compiler: string): Promise<boolean> {
  let known = sanitizing.get(compiler);
  if (known === undefined) sanitizing.set(compiler, known = linked(compiler));
  return known;
}

async function linked(compiler: string): Promise<boolean> {
  fs.mkdirSync(BUILT, { recursive: true });
  const source = path.join(BUILT, "nothing.c");
  if (!fs.existsSync(source)) {
    fs.writeFileSync(source, "int main(void) { return 0; }\n");
  }
  const built = ["thread", "address,undefined"].map((kind) =>
    build({
      name: `nothing-${compiler}-${kind}`,
      compiler,
      words: [`-fsanitize=${kind}`],
      sources: [source],
    })
  );
  return await Promise.all(built).then(() => true, () => false);
}

async function fingerprint({ compiler, words, sources }: Program) {
  const version = await versionOf(compiler);
  const hash = createHash("sha256");
  hash.update(JSON.stringify([compiler, version, words, sources]));
  const folders = new Set([
    ...sources.map((file) => path.dirname(file)),
    ...SHARED,
  ]);
  for (const file of [...sources, ...[...folders].flatMap(headersIn)]) {
    hash.update(fs.readFileSync(file)).update("\0");
  }
  for (const text of Object.values(headerFiles())) hash.update(text);
  for (const name of ["weft_pthread.h", ...cppHeaders()]) {
    hash.update(fs.readFileSync(path.join(WASM, name)));
  }
  return hash.digest("hex");
}

/** Runs at most `lanes` tasks at once, in the order in which they came. */
export class Pool {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** A pool of `lanes`. */
  constructor(lanes: number) {
    this.#free = lanes;
  }

  /** Runs `task` when its turn comes. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
