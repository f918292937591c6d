/**
 * The tests that glibc has of its threads, on `weft_pthread.h`.
 *
 * @module
 */

import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { INCLUDE } from "../header.ts";
import { Pool, run } from "../native.ts";
import {
  type Case,
  compile,
  endOf,
  firstError,
  removeAtEnd,
  type Suite,
  type Verdict,
} from "./suite.ts";

type On = "weft" | "theirs";

const FOLDERS = ["nptl", "sysdeps/pthread"];

/** The tests of what the header has; not the same ones once more, linked or
 * typed in another way. */
const TESTS =
  /^tst-(barrier|cond|mutex|once|rwlock|sem|spin)(?!.*-(static|time64)\.).*\.c$/;

/** What of glibc's `support` is no part of the library of the tests. */
const APART = /^(tst-|links-|README|test-)|container|resolv|time64|_main\.c$/;
const MAIN = "support_test_main.c";

/** What the tests include by a path, from the root of the sources. */
const HEADERS = ["support", "test-skeleton.c"];
/** What they find without one. */
const OF_INCLUDE = ["array_length.h", "intprops.h", "libc-diag.h"];

/** Tests that fail because of what weft_pthread.h says that it has not. */
const UNSAID: Readonly<Record<string, string>> = {
  "tst-cond14.c": "one thread unlocks what another has locked",
  "tst-cond15.c": "one thread unlocks what another has locked",
  "tst-cond4.c": "a process unlocks what its parent has locked",
  "tst-cond6.c": "a process unlocks what its parent has locked",
  "tst-mutex5.c": "it locks a mutex twice, and wants to wait",
  "tst-mutex5a.c": "it locks a mutex twice, and wants to wait",
  "tst-mutex6.c": "it locks a mutex twice, and wants to wait",
  "tst-rwlock16.c": "a reader must pass a writer that waits",
  "tst-rwlock5.c": "it locks a mutex twice, and wants to wait",
  "tst-rwlock6.c": "it destroys a lock that is held",
  "tst-rwlock7.c": "it destroys a lock that is held",
  "tst-sem6.c": "it needs waits that a signal ends",
  "tst-spin2.c": "a process unlocks what its parent has locked",
  "tst-spin3.c": "it locks a spin lock twice, and wants to wait",
};

/** Some tests fork, and share what they made. */
const OURS_IN_FRONT = ["-include", "weft_pthread.h", "-DWEFT_PROCESS_SHARED"];

/** The sources of glibc, as its tests see them from outside of glibc. */
class Glibc {
  readonly #words: readonly string[];
  readonly #support = new Map<On, Promise<string>>();

  constructor(readonly root: string) {
    const folder = removeAtEnd(
      fs.mkdtempSync(path.join(tmpdir(), "weft-suite-")),
    );
    for (const name of HEADERS) {
      fs.symlinkSync(path.join(root, name), path.join(folder, name));
    }
    for (const name of OF_INCLUDE) {
      fs.symlinkSync(path.join(root, "include", name), path.join(folder, name));
    }
    fs.writeFileSync(path.join(folder, "config.h"), "");
    // They include "../test-skeleton.c".
    const beside = path.join(folder, "beside");
    fs.mkdirSync(beside);
    this.#words = [
      ...["-std=gnu11", "-D_GNU_SOURCE", "-DTIMEOUTFACTOR=2", "-w", "-O1"],
      ...["-pthread", "-include", "limits.h", "-I", INCLUDE, "-I", folder],
      ...["-I", beside, "-I", path.join(folder, "support")],
      ...["-iquote", path.join(root, "sysdeps/pthread")],
    ];
  }

  /** The words to compile with. */
  words(on: On): string[] {
    return [...(on === "weft" ? OURS_IN_FRONT : []), ...this.#words];
  }

  /** The library that the tests are linked with. */
  support(on: On): Promise<string> {
    let known = this.#support.get(on);
    if (known === undefined) {
      known = this.#built(on);
      this.#support.set(on, known);
    }
    return known;
  }

  async #built(on: On): Promise<string> {
    const folder = removeAtEnd(
      fs.mkdtempSync(path.join(tmpdir(), "weft-suite-")),
    );
    const paths = path.join(folder, "paths.c");
    fs.writeFileSync(paths, 'const char *support_objdir_root = "/tmp";\n');
    const sources = fs.readdirSync(path.join(this.root, "support"))
      .filter((name) => name.endsWith(".c"))
      .filter((name) => name === MAIN || !APART.test(name))
      .map((name) => path.join(this.root, "support", name));
    const pool = new Pool(2);
    const objects = await Promise.all(
      [paths, ...sources].map((file) =>
        pool.run(async () => {
          const object = path.join(folder, `${path.basename(file, ".c")}.o`);
          const words = [...this.words(on), "-c", file, "-o", object];
          const { code } = await run("gcc", words, 200);
          return code === 0 ? [object] : []; // what needs more, no test needs
        })
      ),
    );
    const library = path.join(folder, "support.a");
    await run("ar", ["rcs", library, ...objects.flat()], 200);
    return library;
  }
}

/** How a test ends. */
async function verdict(glibc: Glibc, file: string, on: On): Promise<Verdict> {
  const { program, said } = await compile({
    compiler: "gcc",
    words: glibc.words(on),
    files: [file, await glibc.support(on), "-lrt", "-lm"],
  });
  if (program === undefined) {
    const why = said.match(/weft_pthread_has_no_\w+/)?.[0] ?? firstError(said);
    return `cannot be said: ${why}`;
  }
  const ended = await endOf(program);
  fs.rmSync(program, { force: true });
  return ended.startsWith("failed: exit code 77:") ? "unsupported" : ended;
}

/** The tests of glibc's threads, in a copy of glibc. */
export const NPTL: Suite = {
  title: "the tests of threads of glibc, in its sources",
  mark: "nptl/tst-rwlock6.c",
  theirs: "the C library",
  cases: (root) => {
    const glibc = new Glibc(root);
    return FOLDERS.flatMap((folder) =>
      fs.readdirSync(path.join(root, folder)).sort()
        .filter((name) => TESTS.test(name))
        .map((name): Case => ({
          name: `${folder}/${name}`,
          unsaid: UNSAID[name],
          run: (on) => verdict(glibc, path.join(root, folder, name), on),
        }))
    );
  },
};
