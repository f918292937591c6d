/**
 * Tests of the standard library, on what `weft.hpp` has under names of its own.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { INCLUDE } from "../header.ts";
import { BUILT, run } from "../native.ts";
import {
  compile,
  endOf,
  firstError,
  refusal,
  removeAtEnd,
  SHIMS,
  type Verdict,
} from "./suite.ts";

/** A test of the standard library. */
export interface StdTest {
  readonly file: string;
  /** As compilers spell it. */
  readonly standard: string;
  /** More words for the compiler. */
  readonly words: readonly string[];
  /** Whether it runs, need only compile, or must not compile. */
  readonly kind: "runs" | "compiles" | "is refused";
  /** The lines on which it wants an error. */
  readonly errors: readonly number[];
}

const compiler = (): string => process.env.CXX || "g++";

/** How the compiling of a test ended that must not compile. */
function refused({ file, errors }: StdTest, said: string | null): Verdict {
  if (said === null) return "failed: it compiles";
  // Not only an error anywhere: it is the test that is wrong.
  const shown = said.split("\n").filter((line) => line.includes(file));
  const places = shown.map((line) => Number(line.match(/:(\d+):\d+:/)?.[1]));
  const missing = errors.filter((line) => !places.includes(line));
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
export async function verdict(
  test: StdTest,
  on: "weft" | "theirs",
): Promise<Verdict> {
  const base = [
    ...[`-std=${test.standard}`, "-O1", "-pthread", "-w"],
    ...["-fmax-errors=0", ...test.words, "-I", INCLUDE],
  ];
  const isClang = compiler().includes("clang");
  if (isClang) base.splice(base.indexOf("-fmax-errors=0"), 1);
  const front = on === "theirs" ? [] : [
    // clang takes no precompiled header by a search.
    ...(isClang ? [] : ["-I", await prepared(test.standard, base)]),
    ...["-I", SHIMS, "-include", "weft_as_std.hpp"],
  ];
  const source = {
    compiler: compiler(),
    words: [...base, ...front],
    files: [test.file],
  };
  if (test.kind === "is refused") return refused(test, await refusal(source));
  if (test.kind === "compiles") {
    const said = await refusal(source);
    return said === null ? "passed" : `does not compile: ${firstError(said)}`;
  }
  const { program, said } = await compile(source);
  if (program === undefined) return `does not compile: ${firstError(said)}`;
  const ended = await endOf(program);
  fs.rmSync(program, { force: true });
  return ended;
}
