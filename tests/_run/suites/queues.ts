/**
 * The tests of other queues, on those of `weft.hpp`.
 *
 * @module
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { INCLUDE } from "../header.ts";
import {
  type Case,
  compile,
  type Compiled,
  endOf,
  firstError,
  removeAtEnd,
  SHIMS,
  type Source,
  type Suite,
  type Verdict,
} from "./suite.ts";

/** Whose classes or functions a test has. */
export type On = "weft" | "theirs";

/** The compiler of C++. */
export const CXX: string = process.env.CXX || "g++";
/** What each test is compiled with. */
export const WORDS: readonly string[] = ["-std=c++17", "-O2", "-pthread", "-w"];

/** Where our headers are, if they are to be found. */
export const ours = (on: On): readonly string[] =>
  on === "weft" ? ["-I", SHIMS, "-I", INCLUDE] : [];

/** A program that several tests are in; it is compiled when one needs it. */
export class Shared {
  readonly #built = new Map<On, Promise<Compiled>>();

  constructor(readonly source: (on: On) => Source | Promise<Source>) {}

  async run(on: On, words: readonly string[]): Promise<Verdict> {
    let built = this.#built.get(on);
    if (built === undefined) {
      built = (async () => await compile(await this.source(on)))();
      this.#built.set(on, built);
    }
    const { program, said } = await built;
    if (program === undefined) return `does not compile: ${firstError(said)}`;
    return await endOf(program, words);
  }
}

/** What `pattern` finds in a file, each name once. */
export const namesIn = (file: string, pattern: RegExp): string[] => [
  ...new Set(
    [...fs.readFileSync(file, "utf8").matchAll(pattern)].map(([, name]) =>
      name!
    ),
  ),
];

/** One of rigtorp's: a program whose assertions end it. */
function rigtorp(title: string, stem: string): Suite {
  const mark = `src/${stem}Test.cpp`;
  return {
    title,
    mark,
    theirs: "rigtorp's",
    cases: (root) => {
      const program = new Shared((on) => ({
        compiler: CXX,
        words: [...WORDS, ...ours(on), "-I", path.join(root, "include")],
        files: [path.join(root, mark)],
      }));
      return [{ name: `${stem}Test`, run: (on) => program.run(on, []) }];
    },
  };
}

/** Both of rigtorp's queues. */
export const RIGTORP: readonly Suite[] = [
  rigtorp("the test of rigtorp's SPSCQueue", "SPSCQueue"),
  rigtorp("the test of rigtorp's MPMCQueue", "MPMCQueue"),
];

/** Why a test of moodycamel's ReaderWriterQueue cannot be said. */
const READER_WRITER: Readonly<Record<string, string>> = {
  max_capacity: "it looks at how the queue grows",
};

/** The parts of moodycamel's that are copied, with our headers beside them. */
const PARTS = [
  "atomicops.h",
  "tests/common/simplethread.cpp",
  "tests/common/simplethread.h",
  "tests/unittests/minitest.h",
  "tests/unittests/unittests.cpp",
];

/** moodycamel's queue for one producer and one consumer. */
export const READER_WRITER_QUEUE: Suite = {
  title: "the tests of moodycamel's ReaderWriterQueue",
  mark: "readerwriterqueue.h",
  theirs: "moodycamel's",
  cases: (root) => {
    const program = new Shared((on) => {
      const folder = on === "theirs" ? root : beside(root);
      const unit = path.join(folder, "tests/unittests/unittests.cpp");
      const thread = path.join(folder, "tests/common/simplethread.cpp");
      return {
        compiler: CXX,
        words: [...WORDS, ...ours(on)],
        files: [unit, thread],
      };
    });
    const unit = path.join(root, "tests/unittests/unittests.cpp");
    return namesIn(unit, /REGISTER_TEST\((\w+)\)/g).map((name): Case => ({
      name,
      unsaid: READER_WRITER[name],
      run: (on) => program.run(on, ["--disable-prompt", "--run", name]),
    }));
  },
};

/** A copy of the tests: they include "../../readerwriterqueue.h". */
function beside(root: string): string {
  const copy = removeAtEnd(fs.mkdtempSync(path.join(tmpdir(), "weft-suite-")));
  for (const part of PARTS) {
    const to = path.join(copy, part);
    fs.mkdirSync(path.dirname(to), { recursive: true });
    fs.copyFileSync(path.join(root, part), to);
  }
  fs.cpSync(path.join(SHIMS, "moodycamel"), copy, { recursive: true });
  return copy;
}
