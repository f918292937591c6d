/**
 * The tests of libc++, of what `weft.hpp` has under names of its own.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { INCLUDE } from "../header.ts";
import { BUILT, run } from "../native.ts";
import {
  type Case,
  compile,
  endOf,
  firstError,
  refusal,
  removeAtEnd,
  SHIMS,
  type Suite,
  type Verdict,
} from "./suite.ts";

const TESTS = "libcxx/test/std/thread";
const FOLDERS = [
  "thread.barrier",
  "thread.condition",
  "thread.latch",
  "thread.mutex",
  "thread.semaphore",
];

/** The standards to compile as; the first one that a test allows is taken. */
const STANDARDS = ["c++20", "c++17", "c++23", "c++26"];
/** What compilers of today call them. */
const SPELLED: Readonly<Record<string, string>> = {
  "c++23": "c++2b",
  "c++26": "c++2c",
};

/** Why a test cannot pass here, by what its name begins with. */
const UNSAID: readonly (readonly [begin: string, why: string])[] = [
  [
    "thread.condition/notify_all_at_thread_exit",
    "the function is for std::condition_variable",
  ],
  ["thread.semaphore/max", "a semaphore counts to WEFT_SEMAPHORE_MAX"],
];

const compiler = (): string => process.env.CXX || "g++";

/** The words after `name:` in the comments that lit reads. */
function directives(text: string, name: string): string[] {
  const lines = text.matchAll(new RegExp(`^// *${name}: *(.*)$`, "gm"));
  return [...lines].flatMap(([, words]) => words!.split(/,|\|\|/))
    .map((word) => word.trim());
}

/** The standard to compile a test as; undefined if there is none. */
function standardOf(text: string): string | undefined {
  const not = directives(text, "UNSUPPORTED");
  const needs = directives(text, "REQUIRES");
  return STANDARDS.find((standard) => {
    if (not.includes(standard)) return false;
    const known = needs.filter((word) => /^c\+\+|^std-at-least/.test(word));
    const number = (word: string) => Number(word.match(/\d+$/)?.[0]);
    return known.length === 0 || known.some((word) =>
      word === standard ||
      (word.startsWith("std") && number(word) <= number(standard))
    );
  });
}

/** The lines on which a test wants an error. */
function errorLines(text: string): number[] {
  return text.split("\n").flatMap((line, index) =>
    /expected-error(?:-re)? *(?:\d+ *)?\{\{/.test(line) ? [index + 1] : []
  );
}

/** How the compiling of a test ended that must not compile. */
function refused(file: string, text: string, said: string | null): Verdict {
  if (said === null) return "failed: it compiles";
  const lines = errorLines(text);
  // Not only an error anywhere: it is the test that is wrong.
  const shown = said.split("\n").filter((line) => line.includes(file));
  const places = shown.map((line) => Number(line.match(/:(\d+):\d+:/)?.[1]));
  const missing = lines.filter((line) => !places.includes(line));
  if (places.length === 0) return `failed: ${firstError(said)}`;
  return missing.length === 0 ? "passed" : `failed: no error on ${missing}`;
}

const precompiled = new Map<string, Promise<string>>();

/** The folder of the shim, compiled before the tests that begin with it. */
function prepared(standard: string, words: readonly string[]): Promise<string> {
  let known = precompiled.get(standard);
  if (known === undefined) {
    known = (async () => {
      const name = `suite-${process.pid}-${standard}`;
      const folder = removeAtEnd(path.join(BUILT, name));
      fs.mkdirSync(folder, { recursive: true });
      const shim = path.join(SHIMS, "weft_as_std.hpp");
      const out = path.join(folder, "weft_as_std.hpp.gch");
      const { code, output } = await run(compiler(), [
        ...[...words, "-x", "c++-header", shim, "-o", out],
      ], 200);
      if (code !== 0) throw new Error(output);
      return folder;
    })();
    precompiled.set(standard, known);
  }
  return known;
}

/** How a test ends. */
async function verdict(
  file: string,
  root: string,
  on: "weft" | "theirs",
): Promise<Verdict> {
  const text = fs.readFileSync(file, "utf8");
  const standard = standardOf(text)!;
  const flags = directives(text, "ADDITIONAL_COMPILE_FLAGS")
    .flatMap((words) => words.split(/\s+/)).filter((it) => it.startsWith("-D"));
  const base = [
    ...[`-std=${SPELLED[standard] ?? standard}`, "-O1", "-pthread", "-w"],
    ...["-fmax-errors=0", "-I", path.join(root, "libcxx/test/support")],
    ...["-I", INCLUDE],
  ];
  const isClang = compiler().includes("clang");
  if (isClang) base.splice(base.indexOf("-fmax-errors=0"), 1);
  const front = on === "theirs" ? [] : [
    // clang takes no precompiled header by a search.
    ...(isClang ? [] : ["-I", await prepared(standard, base)]),
    ...["-I", SHIMS, "-include", "weft_as_std.hpp"],
  ];
  const source = {
    compiler: compiler(),
    words: [...base, ...flags, ...front],
    files: [file],
  };
  if (/\.(fail|verify)\.cpp$/.test(file)) {
    return refused(file, text, await refusal(source));
  }
  if (file.endsWith(".compile.pass.cpp")) {
    const said = await refusal(source);
    return said === null ? "passed" : `does not compile: ${firstError(said)}`;
  }
  const { program, said } = await compile(source);
  if (program === undefined) return `does not compile: ${firstError(said)}`;
  const ended = await endOf(program);
  fs.rmSync(program, { force: true });
  return ended;
}

function caseOf(root: string, file: string): Case {
  const name = path.relative(path.join(root, TESTS), file);
  const text = fs.readFileSync(file, "utf8");
  const dangerous = file.endsWith(".sh.cpp")
    ? "it is a script for lit"
    : standardOf(text) === undefined
    ? "it is for an older C++"
    : /expected-warning/.test(text)
    ? "it is about a warning"
    : undefined;
  return {
    name,
    ...(dangerous === undefined ? {} : { dangerous }),
    unsaid: UNSAID.find(([begin]) => name.startsWith(begin))?.[1],
    run: (on) => verdict(file, root, on),
  };
}

/** The tests of libc++ in a copy of LLVM. */
export const LIBCXX: Suite = {
  title: "the tests of libc++, in the sources of LLVM",
  mark: TESTS,
  theirs: "the C++ library",
  cases: (root) =>
    FOLDERS.flatMap((name) => {
      const folder = path.join(root, TESTS, name);
      if (!fs.existsSync(folder)) return [];
      return fs.readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".cpp")).sort()
        .map((file) => caseOf(root, path.join(folder, file)));
    }),
};
