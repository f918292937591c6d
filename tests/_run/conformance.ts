/**
 * Runs suites of tests that others wrote on Weft. Nothing of them is in this
 * repository: who runs this has their sources.
 *
 * @module
 */

import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { Missing } from "./missing.ts";
import { BOOST } from "./suites/boost.ts";
import { LIBCXX } from "./suites/libcxx.ts";
import { LIBSTDCXX } from "./suites/libstdcxx.ts";
import { NPTL } from "./suites/nptl.ts";
import { POSIX } from "./suites/posix.ts";
import { READER_WRITER_QUEUE, RIGTORP } from "./suites/queues.ts";
import { isOurs, type Row, rows, type Suite, summary } from "./suites/suite.ts";
import { complain, wordsOf } from "./usage.ts";

/** What is known; a folder is the first one of these whose mark it has. */
const SUITES: readonly Suite[] = [
  POSIX,
  LIBCXX,
  LIBSTDCXX,
  NPTL,
  ...RIGTORP,
  READER_WRITER_QUEUE,
  BOOST,
];

const USAGE = `usage: deno task conformance FOLDER [NAME]
Compiles each test of the suite in FOLDER, as it is, with Weft's classes or
functions under the names that it uses, and runs it; and then without Weft. NAME
takes the tests whose names contain it. FOLDER has the sources of one of these,
as docs/conformance.md says how to get them:
${SUITES.map(({ title, mark }) => `  ${title}: ${mark}`).join("\n")}
CXX names the compiler of C++ (g++). The exit code is 1 if a test fails that
passes without Weft, and 2 if nothing could be run.`;

const { positionals } = wordsOf(USAGE);
const [root, part = "", ...more] = positionals;
if (root === undefined || more.length > 0) {
  console.error(USAGE);
  process.exit(2);
}
if (!fs.existsSync(root)) complain(`no folder ${root}`);
const suite = SUITES.find(({ mark }) => fs.existsSync(path.join(root, mark)));
if (suite === undefined) {
  const marks = SUITES.map(({ title, mark }) => `  ${mark}: ${title}`);
  complain(
    `${root} is no suite that is known; it has none of\n${marks.join("\n")}\n` +
      "docs/conformance.md says how to get them",
  );
}

const cases = (await suite.cases(path.resolve(root)))
  .filter(({ name }) => name.includes(part));
if (cases.length === 0) {
  complain(`no test in ${root} has "${part}" in its name`);
}
const found: Row[] = [];
try {
  for await (const row of rows(cases)) {
    console.log(`${row.name}: ${row.ours}; ${suite.theirs}: ${row.theirs}`);
    found.push(row);
  }
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  complain(error.message);
}
const failed = found.filter(isOurs);
for (const { name, ours } of failed) console.log(`fails: ${name}: ${ours}`);
console.log(`${suite.title}: ${found.length} tests`);
for (const line of summary(found, suite.theirs)) console.log(line);
process.exit(failed.length > 0 ? 1 : 0);
