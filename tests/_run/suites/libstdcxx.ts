/**
 * The tests of libstdc++, of what `weft.hpp` has under names of its own.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { type StdTest, verdict } from "./as_std.ts";
import type { Case, Suite } from "./suite.ts";

const SUITE = "libstdc++-v3/testsuite";
const TESTS = `${SUITE}/30_threads`;

/** The folders of what `weft.hpp` has, and of the guards that take it. */
const FOLDERS = [
  "barrier",
  "call_once",
  "condition_variable",
  "condition_variable_any",
  "latch",
  "lock",
  "lock_guard",
  "mutex",
  "recursive_mutex",
  "recursive_timed_mutex",
  "scoped_lock",
  "semaphore",
  "shared_lock",
  "shared_mutex",
  "shared_timed_mutex",
  "timed_mutex",
  "try_lock",
  "unique_lock",
];

/** Why a test cannot pass here, by what is in its name. */
const UNSAID: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/clock_neg/, "a type that is no clock is taken"],
  [/explicit_instantiation/, "it instantiates a template in namespace std"],
  [/^condition_variable\/members\/103382/, "it cancels a thread"],
  [
    /^condition_variable\/members\/3/,
    "std::notify_all_at_thread_exit is for std::condition_variable",
  ],
  [/^semaphore\/100806/, "it has more permits than its maximum"],
  [
    /^shared_timed_mutex\/try_lock_until\/2/,
    "it unlocks for writing what it has locked for reading",
  ],
  [
    /^timed_mutex\/try_lock_for\/3/,
    "it locks a mutex twice, and wants to wait",
  ],
];

/** The standard to compile as; `weft.hpp` needs C++17. */
function standardOf(text: string): string {
  const named = text.match(/dg-options[^}]*-std=(gnu\+\+\w+)/)?.[1];
  const newer = /target c\+\+2[0a]/.test(text) ? "gnu++20" : "gnu++17";
  return named === undefined || /1[14]$/.test(named) ? newer : named;
}

/** The lines on which a test wants an error: those that no number tells. */
function errorLines(text: string): number[] {
  return text.split("\n").flatMap((line, index) =>
    /dg-error "[^"]*" *\}/.test(line) ? [index + 1] : []
  );
}

function testOf(file: string, root: string): StdTest {
  const text = fs.readFileSync(file, "utf8");
  return {
    file,
    standard: standardOf(text),
    words: ["-I", path.join(root, SUITE, "util")],
    kind: /dg-error/.test(text)
      ? "is refused"
      : /dg-do compile/.test(text)
      ? "compiles"
      : "runs",
    errors: errorLines(text),
  };
}

function caseOf(root: string, file: string): Case {
  const name = path.relative(path.join(root, TESTS), file);
  return {
    name,
    unsaid: UNSAID.find(([pattern]) => pattern.test(name))?.[1],
    run: (on) => verdict(testOf(file, root), on),
  };
}

/** The tests of libstdc++ in a copy of gcc. */
export const LIBSTDCXX: Suite = {
  title: "the tests of libstdc++, in the sources of gcc",
  mark: TESTS,
  theirs: "libstdc++",
  cases: (root) =>
    FOLDERS.flatMap((name) => {
      const folder = path.join(root, TESTS, name);
      if (!fs.existsSync(folder)) return [];
      return fs.readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".cc")).sort()
        .map((file) => caseOf(root, path.join(folder, file)));
    }),
};
