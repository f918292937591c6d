/**
 * The tests of libc++, of what `weft.hpp` has under names of its own.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { type StdTest, verdict } from "./as_std.ts";
import type { Case, Suite } from "./suite.ts";

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

/** What is to be done with a test. */
function testOf(file: string, root: string): StdTest {
  const text = fs.readFileSync(file, "utf8");
  const standard = standardOf(text)!;
  const flags = directives(text, "ADDITIONAL_COMPILE_FLAGS")
    .flatMap((words) => words.split(/\s+/)).filter((it) => it.startsWith("-D"));
  return {
    file,
    standard: SPELLED[standard] ?? standard,
    words: ["-I", path.join(root, "libcxx/test/support"), ...flags],
    kind: /\.(fail|verify)\.cpp$/.test(file)
      ? "is refused"
      : file.endsWith(".compile.pass.cpp")
      ? "compiles"
      : "runs",
    errors: errorLines(text),
  };
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
    run: (on) => verdict(testOf(file, root), on),
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
