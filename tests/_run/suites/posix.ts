/**
 * The Open POSIX test suite, on `weft_pthread.h`.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { INCLUDE } from "../header.ts";
import {
  type Case,
  compile,
  firstError,
  runAlone,
  type Suite,
  type Verdict,
} from "./suite.ts";

const INTERFACES = "conformance/interfaces";

/** The main function of the tests in the suite of LTP. */
const COMMON = "lib/common.c";

/** The interfaces whose names begin so; attributes stay the C library's. */
const OURS = /^(pthread_(mutex|cond|rwlock|barrier|spin|once)(_|$)|sem_)/;

/** What an exit code of a test says; see posixtest.h. */
const CODES: Readonly<Record<number, string>> = {
  0: "passed",
  1: "failed",
  2: "unresolved",
  4: "unsupported",
  5: "untested",
};

/** Tests that nobody should run by chance. */
const DANGEROUS: Readonly<Record<string, string>> = {
  "pthread_cond_init/1-2.c": "it sets the clock of the machine",
  "pthread_cond_init/2-2.c": "it sets the clock of the machine",
};

/** Tests that fail because of what weft_pthread.h says that it has not. */
const UNSAID: Readonly<Record<string, string>> = {
  "pthread_cond_timedwait/2-3.c": "one thread unlocks what another has locked",
  "pthread_mutex_lock/3-1.c": "it may send signals before it has a handler",
  "pthread_rwlock_rdlock/2-3.c": "it needs priorities",
  "pthread_rwlock_timedrdlock/6-2.c": "it destroys a lock that is held",
  "pthread_rwlock_timedwrlock/6-2.c": "it destroys a lock that is held",
  "pthread_rwlock_unlock/4-1.c": "it forbids EPERM, which POSIX allows",
  "pthread_spin_unlock/3-1.c": "it forbids EPERM, which POSIX allows",
  "sem_timedwait/9-1.c": "it needs waits that a signal ends",
};

/** Some tests fork, and share what they made. */
const OURS_IN_FRONT = ["-include", "weft_pthread.h", "-DWEFT_PROCESS_SHARED"];

/** How a test ends. */
async function verdict(
  file: string,
  root: string,
  on: "weft" | "theirs",
): Promise<Verdict> {
  const common = path.join(root, COMMON);
  const { program, said } = await compile({
    compiler: "gcc",
    words: [
      ...["-D_GNU_SOURCE", "-pthread", "-w", "-O1"],
      ...(on === "weft" ? OURS_IN_FRONT : []),
      ...["-I", INCLUDE, "-I", path.join(root, "include")],
    ],
    files: [file, ...(fs.existsSync(common) ? [common] : []), "-lrt"],
  });
  if (program === undefined) {
    const why = said.match(/weft_pthread_has_no_\w+/)?.[0] ?? firstError(said);
    return `cannot be said: ${why}`;
  }
  const ended = await runAlone(program);
  fs.rmSync(program, { force: true });
  if (ended.code === undefined) return "stopped, or never ended";
  return CODES[ended.code] ?? `failed: exit code ${ended.code}`;
}

function caseOf(root: string, name: string): Case {
  const dangerous = DANGEROUS[name];
  return {
    name,
    ...(dangerous === undefined ? {} : { dangerous }),
    unsaid: UNSAID[name],
    run: (on) => verdict(path.join(root, INTERFACES, name), root, on),
  };
}

/** The suite, as Debian's source package `posixtestsuite`, or LTP, has it. */
export const POSIX: Suite = {
  title: "the Open POSIX test suite",
  mark: INTERFACES,
  theirs: "the C library",
  cases: (root) =>
    fs.readdirSync(path.join(root, INTERFACES)).sort()
      .filter((name) => OURS.test(name))
      .flatMap((name) =>
        fs.readdirSync(path.join(root, INTERFACES, name)).sort()
          .filter((file) => /^\d+-\d+\.c$/.test(file))
          .map((file) => caseOf(root, `${name}/${file}`))
      ),
};
