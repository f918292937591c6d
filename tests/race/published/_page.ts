/**
 * The page about published packages: docs/race_findings.md.
 *
 * @module
 */
import { cpus } from "node:os";
import process from "node:process";
import type { Result } from "../../../race/mod.ts";
import type { Check, Published } from "./_kit.ts";

/** What came of a check. */
export interface Done {
  readonly of: Published;
  readonly check: Check;
  readonly result: Result;
  readonly ms: number;
  readonly threads: string;
}

const headingOf = (of: Published, check: Check): string =>
  `${of.name} ${of.version}: ${check.title}`;

/** The row of a check in the table, up to its figures. */
const rowOf = (of: Published, check: Check): string =>
  `| ${of.name} ${of.version} | ${check.title} | ${check.verdict} |`;

/** The page. */
export function pageOf(done: readonly Done[]): string {
  const told = done.filter(({ check }) => check.verdict !== "complete");
  const isNone = ({ check }: Done) => "none" in check.finding!.standing;
  const found = told.filter((one) => !isNone(one));
  const cpu = cpus()[0]?.model ?? "unknown processor";
  return `# What the race tester finds in published packages

The race tester of this library ([guide](race_testing.md)) was put to packages
of the npm registry that share memory between threads. Nothing of them is kept
here: \`deno task race:published\` installs
the versions below into a folder of its own, runs the checks of
\`tests/race/published/\` and writes this page. \`deno task race:published NAME\`
repeats the checks of one package.

- **complete**: every interleaving of the program was explored, and all of them
  were right. That is a statement about this program, not about the whole
  package.
- Any other verdict is the kind of the failure. The page then shows an
  interleaving with the fewest possible preemptions: one column for each agent,
  time runs downwards, \`[8]\` is the word at byte 8.
- A finding "on threads" was repeated with real workers, without the tester.
- Some code is not in the registry. The page says so, and a model of it is
  checked: a file of \`tests/race/published/models/\` that does the same to
  shared memory, step by step, in words of our own.
- The modules run as they are published. The tester runs all agents in one
  thread, so that a mailbox in shared memory stands in for \`postMessage\`, and
  an object without a thread for \`Worker\`. What else was changed:
${notesOf(done)}

| package | what was checked | verdict | states | time |
| --- | --- | --- | --- | --- |
${done.map(lineOf).join("\n")}

${process.versions.deno ? `Deno ${process.versions.deno}` : ""}, ${cpu}.

## Findings

${INTRODUCTION}

${found.map(findingOf).join("\n\n")}

## Not findings

The tester tells these, too. Each says why it is not counted among the findings.

${told.filter(isNone).map(findingOf).join("\n\n")}

## What was right

${
    done.filter(({ check }) => check.verdict === "complete").map(fineOf).join(
      "\n",
    )
  }
`;
}

const INTRODUCTION =
  `The evidence is "on threads" if real workers did the same, without the tester.
"The tester only" means that an interleaving of the package's own code shows it,
and that threads were not tried or did not show it: it may be rare. "By reading"
means that a model of the code shows it, in the tester or also on threads. A
severity is high if a result is wrong or an agent waits for ever, medium if a call fails,
low if no machine is known to show it.`;

/** What the checks changed, package by package. */
const notesOf = (done: readonly Done[]): string =>
  [...new Set(done.map(({ of }) => of))].filter(({ note }) => note)
    .map(({ name, note }) => `  - ${name}: ${note}`).join("\n");

const time = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;

const lineOf = ({ of, check, result, ms }: Done): string =>
  `${rowOf(of, check)} ${result.states} | ${time(ms)} |`;

const fineOf = ({ of, check, result }: Done): string =>
  `- **${headingOf(of, check)}**: ${check.program}. ` +
  `${result.summary[0]!.toUpperCase()}${result.summary.slice(1)}.`;

/** How it is known that the code does it. */
const evidenceOf = ({ model }: Published, seen: boolean): string =>
  model === undefined
    ? (seen ? "on threads" : "the tester only")
    : `by reading; the model does it ${seen ? "on threads" : "in the tester"}`;

function findingOf({ of, check, result, ms, threads }: Done): string {
  const { where, what, mend, standing } = check.finding!;
  const seen = threads !== "" && !threads.includes("not seen");
  const { failure } = result;
  return `### ${headingOf(of, check)}

- **Where**: ${where}.
- **What happens**: ${what}
${
    "none" in standing
      ? `- **Why it is none**: ${standing.none}.`
      : `- **Evidence**: ${evidenceOf(of, seen)}.
- **Severity**: ${standing.severity}.
- **Contract**: ${standing.contract}.
- **Reached by**: ${standing.reach}.`
  }
- **A way to mend it**: ${mend}
- **Checked**: ${check.program}. Found as \`${failure!.kind}\` after
  ${result.states} states in ${time(ms)}${threads && `; ${threads}`}.
- **Repeat it**: \`deno task race:published ${of.name}\`; the schedule is
  \`${failure!.schedule}\`.

\`\`\`text
${failure!.table}
\`\`\``;
}
