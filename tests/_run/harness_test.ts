// it waits
// Every way in which a test file can fail to pass is reported as a failure.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { skip, suite } from "./harness.ts";
import { type Outcome, type Program, runFile, runFiles } from "./process.ts";

/** A fixture: tests that pass, failures, and a part of what is printed. */
const FIXTURES: [string, number, number, string][] = [
  ["passing", 2, 0, ""],
  ["thread_asleep", 1, 0, ""],
  ["failing", 1, 1, "Expected values to be strictly equal"],
  ["no_tests", 0, 1, "no tests in this file"],
  ["forgotten_run", 0, 1, "no tests in this file"],
  ["throwing_before", 0, 2, "before is broken"],
  ["throwing_after", 2, 1, "after is broken"],
  ["throwing_each", 2, 3, "afterEach is broken"],
  ["thrown_string", 1, 2, "threw only a string"],
  ["unsettled", 1, 1, "no end within 100 ms"],
  ["asleep", 1, 2, 'killed after 3 s in "Asleep: sleeps for ever"'],
  ["asleep_outside", 0, 1, "killed after 3 s before its first test"],
  ["exiting", 0, 2, 'in "Exiting: ends the process"'],
  ["killed", 1, 1, 'killed by SIGKILL in "Killed: is killed"'],
  ["thrown_later", 1, 1, "too late"],
  ["broken", 0, 1, "broken at its end"],
  ["thread_fails", 0, 1, "the thread is broken"],
  ["thread_stopped", 0, 1, "the thread was stopped"],
];

const test = suite("run.ts");

/** The program of a fixture. */
const fixture = (name: string, limit = 30): Program => ({
  path: fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url)),
  limit,
});

/** Runs a fixture. */
const play = (name: string, limit?: number): Promise<Outcome> =>
  runFile(fixture(name, limit));

for (const [name, passed, failed, text] of FIXTURES) {
  const verb = failed === 0 ? "passes" : "fails";
  test(`${verb} fixtures/${name}.ts`, async () => {
    const outcome = await play(name, text.startsWith("killed after") ? 3 : 30);
    const said = `${outcome.problem}\n${outcome.output}`;
    assert.is(outcome.passed, passed, said);
    assert.is(outcome.failed, failed, said);
    assert.match(said, text);
  });
}

test("a test that needs what is not here is skipped, and says what", async () => {
  const { output: _, seconds: __, used: ___, ...outcome } = await play(
    "lacking",
  );
  const reasons = { "no zmodem": 1, "no such-program": 1, "no card reader": 2 };
  const counts = { passed: 1, failed: 0, skipped: 4 };
  assert.equal(outcome, { ...counts, cut: 0, reasons, problem: "" });
});

test("so is a file that cannot begin", async () => {
  const { output: _, seconds: __, used: ___, ...outcome } = await play(
    "lacking_all",
  );
  const reasons = { "no card reader": 1 };
  const counts = { passed: 0, failed: 0, skipped: 1 };
  assert.equal(outcome, { ...counts, cut: 0, reasons, problem: "" });
});

test("files of one process are judged one by one", async () => {
  const names = ["passing", "failing", "lacking", "killed", "passing"];
  const outcomes = await runFiles(names.map((name) => fixture(name)));
  const counts = outcomes.map(({ passed, failed }) => [passed, failed]);
  assert.equal(counts, [[2, 0], [1, 1], [1, 0], [1, 1], [0, 1]]);
  const problems = outcomes.map(({ problem }) => problem);
  const killed = 'killed by SIGKILL in "Killed: is killed"';
  const never = "killed by SIGKILL before its first test";
  assert.equal(problems, ["", "", "", killed, never]);
});

test("a file that ends the process wrongly fails, behind others too", async () => {
  const [first, second] = await runFiles(
    ["passing", "thrown_later"].map((name) => fixture(name)),
  );
  assert.equal([first!.passed, first!.failed], [2, 0]);
  assert.equal([second!.passed, second!.failed], [1, 1]);
});

/** Calls `look` until it is true, for some seconds at most. */
async function within(look: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (look()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(what);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`${signal} ends what the runner has started`, async () => {
    if (process.platform === "win32") skip("no signals here");
    const folder = fs.mkdtempSync(path.join(tmpdir(), "weft-signal-"));
    const file = path.join(folder, "pid");
    const words = ["run", "-A", fixture("starting").path, file];
    const runner = spawn(process.execPath, words, { stdio: "ignore" });
    const ended = new Promise((resolve) => runner.on("exit", resolve));
    const id = () =>
      fs.existsSync(file) ? Number(fs.readFileSync(file, "utf8")) : 0;
    await within(() => id() > 0, "nothing was started");
    runner.kill(signal);
    await ended;
    const isGone = () => {
      try {
        return !process.kill(id(), 0);
      } catch {
        return true;
      }
    };
    try {
      await within(isGone, "it still runs");
    } finally {
      if (!isGone()) process.kill(id(), "SIGKILL");
      fs.rmSync(folder, { recursive: true });
    }
  });
}
