/**
 * Runs the Open POSIX test suite on Weft's locks. Nothing of the suite is in
 * this repository: who runs this has its sources.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { INCLUDE } from "./header.ts";
import { BUILT, run } from "./native.ts";

const USAGE = `usage: deno task conformance FOLDER [NAME]
Compiles each test of the Open POSIX test suite in FOLDER that is about mutexes,
conditions, locks of readers and writers, barriers, spin locks, pthread_once or
sem_t, as it is, with weft_pthread.h in front, and runs it, and without that
header, too. FOLDER has the folder "conformance", as \`apt-get source
posixtestsuite\` unpacks it. NAME takes the interfaces whose names contain it.`;

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
const SAID: Readonly<Record<string, string>> = {
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

/** Seconds for a test: some sleep for several. */
const LIMIT = 60;

/** How a test ends with these flags in front. */
async function verdict(
  file: string,
  root: string,
  flags: readonly string[],
): Promise<string> {
  const out = path.join(BUILT, `conformance-${process.pid}`);
  const words = ["-D_GNU_SOURCE", "-pthread", "-w", "-O1", ...flags];
  const places = ["-I", INCLUDE, "-I", path.join(root, "include")];
  const { code, output } = await run("gcc", [
    ...[...words, ...places, file, "-o", out, "-lrt"],
  ], 60);
  if (code !== 0) {
    const why = output.match(/weft_pthread_has_no_\w+/)?.[0] ??
      output.match(/error: .*/)?.[0] ?? "it does not link";
    return `cannot be said: ${why}`;
  }
  const ended = await run(out, [], LIMIT);
  fs.rmSync(out, { force: true });
  if (ended.code === undefined) return "stopped, or never ended";
  return CODES[ended.code] ?? `exit code ${ended.code}`;
}

const [root, part = "", ...more] = process.argv.slice(2);
if (root === undefined || root.startsWith("-") || more.length > 0) {
  console.error(USAGE);
  process.exit(root === "--help" ? 0 : 2);
}
const interfaces = path.join(root, "conformance", "interfaces");
if (!fs.existsSync(interfaces)) {
  console.error(`no conformance/interfaces in ${root}`);
  process.exit(2);
}
fs.mkdirSync(BUILT, { recursive: true });
const counts = new Map<string, number>();
const differ: string[] = [];
for (const name of fs.readdirSync(interfaces).sort()) {
  if (!OURS.test(name) || !name.includes(part)) continue;
  const folder = path.join(interfaces, name);
  const tests = fs.readdirSync(folder)
    .filter((file) => /^\d+-\d+\.c$/.test(file)).sort();
  for (const test of tests) {
    const file = path.join(folder, test);
    const dangerous = DANGEROUS[`${name}/${test}`];
    if (dangerous !== undefined) {
      console.log(`${name}/${test}: not run: ${dangerous}`);
      counts.set("not run", (counts.get("not run") ?? 0) + 1);
      continue;
    }
    const said = SAID[`${name}/${test}`];
    const found = await verdict(file, root, OURS_IN_FRONT);
    const ours = said !== undefined && found !== "passed"
      ? `cannot be said: ${said}`
      : found;
    const theirs = await verdict(file, root, []);
    const kind = ours.replace(/:.*/, "");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const line = `${name}/${test}: ${ours}; the C library: ${theirs}`;
    console.log(line);
    if (kind !== "passed" && ours !== theirs) differ.push(line);
  }
}
for (const line of differ) console.log(`differs: ${line}`);
for (const [kind, count] of counts) console.log(`${kind}: ${count}`);
// What the C library passes too, and ours does not, is a failure of ours.
const failed = differ.filter((line) =>
  /: (failed|stopped|exit)[^;]*; the C library: passed$/.test(line)
);
process.exit(failed.length > 0 ? 1 : 0);
