/**
 * How do loom, shuttle, Lincheck and GenMC fare on the race tester's scenarios?
 * Runs all five on the same locks, queues and bugs, and writes the table into
 * docs/race_comparison.md: `deno run -A bench/explorers.ts [--write]`. Needs
 * cargo; loom and shuttle come from its registry. Lincheck needs Java 17 and
 * Maven, GenMC a `genmc` that `bench/genmc/README.md` builds; without them
 * their columns say so.
 *
 * The others count executions. The race tester counts states, and many
 * executions share a state. A deadlock makes loom abort, which counts as found.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type CallTuple, race, type Spec } from "../race/mod.ts";
import { BUGS } from "../tests/race/corpus/bugs.ts";
import { type Module, queue, sections } from "../tests/race/corpus/families.ts";
import { load } from "../tests/race/corpus/load.ts";

const C = fileURLToPath(new URL("./genmc", import.meta.url));
/** The program named by the environment, or the one on the PATH. */
const GENMC = process.env.GENMC ?? "genmc";
const JAVA = fileURLToPath(new URL("./lincheck", import.meta.url));
const CRATE = fileURLToPath(new URL("./rust", import.meta.url));
const DOCUMENT = fileURLToPath(
  new URL("../docs/race_comparison.md", import.meta.url),
);

type Agents = CallTuple[][];
/** A scenario in the order of `rust/src/main.rs`. */
type Scenario = [
  name: string,
  bug: string | undefined,
  spec: (module: Module) => Spec<false>,
  agents: Agents,
];

const add = (times: number): CallTuple[] =>
  Array.from({ length: times }, () => ["incr"]);
const pushes = (n: number): CallTuple[] =>
  Array.from({ length: n }, (_, i) => ["push", i + 1]);
const pops = (n: number): CallTuple[] =>
  Array.from({ length: n }, () => ["pop"]);

const SCENARIOS: Scenario[] = [
  ["mutex, 2 agents", undefined, sections, [add(1), add(1)]],
  ["mutex, 2 agents, twice", undefined, sections, [add(2), add(2)]],
  ["mutex, 3 agents", undefined, sections, [add(1), add(1), add(1)]],
  ["queue, 2 agents x 2", undefined, queue, [pushes(2), pops(2)]],
  ["queue, 2 agents x 3", undefined, queue, [pushes(3), pops(3)]],
  ["MX1, 3 agents", "MX1", sections, [add(1), add(1), add(1)]],
  ["MX3, 2 agents", "MX3", sections, [add(1), add(1)]],
  ["MX4, 2 agents", "MX4", sections, [add(1), add(1)]],
  ["MQ1, 1 push, 1 pop", "MQ1", queue, [pushes(1), pops(1)]],
  ["MQ3, 3 pushes, 3 pops", "MQ3", queue, [pushes(3), pops(3)]],
];

/** Runs the Rust program for one explorer; returns a cell for each scenario. */
function rust(explorer: "loom" | "shuttle"): string[] {
  const target = fileURLToPath(
    new URL(`../.weft/explorers/${explorer}`, import.meta.url),
  );
  const words = ["build", "--release", "--features", explorer];
  const built = spawnSync("cargo", [...words, "--target-dir", target], {
    cwd: CRATE,
    encoding: "utf8",
  });
  if (built.status !== 0) {
    console.error(built.error?.message ?? built.stderr);
    console.error("cargo is needed for the comparison");
    process.exit(2);
  }
  return SCENARIOS.map(([name, bug], i) => {
    const begin = performance.now();
    const { stdout } = spawnSync(
      `${target}/release/weft-explorers`,
      [`${i}`],
      { encoding: "utf8", timeout: 120_000 },
    );
    const [title, executions, ms, outcome] = stdout.trim().split("\t");
    // If it aborts in the middle of a failure, it prints nothing.
    const all = performance.now() - begin;
    if (title !== name) return bug ? `found, ${all.toFixed(0)} ms` : "aborted";
    const found = outcome === "a failure";
    if (found !== (bug !== undefined)) return found ? "FALSE ALARM" : "missed";
    const cut = Number(ms) > 60_000 ? ", cut" : "";
    return `${executions} executions, ${ms} ms${cut}`;
  });
}

/** Runs the Java program for Lincheck; returns a cell for each scenario. */
function lincheck(): string[] {
  const target = fileURLToPath(
    new URL("../.weft/explorers/lincheck", import.meta.url),
  );
  const source = `${JAVA}/src/main/java/Explorers.java`;
  const steps = [
    ["mvn", "-q", "-B", "-f", `${JAVA}/pom.xml`].concat(
      "dependency:copy-dependencies",
      `-DoutputDirectory=${target}/lib`,
    ),
    ["javac", "-cp", `${target}/lib/*`, "-d", `${target}/out`, source],
  ];
  for (const [program, ...words] of steps) {
    const done = spawnSync(program!, words, { encoding: "utf8" });
    if (done.status === 0) continue;
    console.error(done.error?.message ?? done.stdout + done.stderr);
    return SCENARIOS.map(() => "not run: no Java and Maven");
  }
  const opens = ["--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED"];
  const exports = ["--add-exports", "java.base/jdk.internal.util=ALL-UNNAMED"];
  const path = ["-cp", `${target}/out:${target}/lib/*`];
  return SCENARIOS.map(([name, bug], i) => {
    const { stdout } = spawnSync(
      "java",
      [...opens, ...exports, ...path, "Explorers", `${i}`],
      { encoding: "utf8", timeout: 180_000 },
    );
    const [title, executions, ms, outcome] = stdout.trim().split("\t");
    if (title !== name) return "not ended after 3 minutes";
    const found = outcome === "a failure";
    if (found !== (bug !== undefined)) return found ? "FALSE ALARM" : "missed";
    return `${executions} executions, ${ms} ms`;
  });
}

/**
 * GenMC's version and a cell for each scenario. The scenario's shape and bug
 * are the program's macros. A spin without an end is GenMC's deadlock.
 */
function genmc(): [version: string, cells: string[]] {
  const { stdout } = spawnSync(GENMC, ["--version"], { encoding: "utf8" });
  const version = /GenMC v?([\d.]+)[^]*?LLVM (?:version )?([\d.]+)/
    .exec(stdout);
  if (version === null) {
    console.error(`${GENMC} does not run: GENMC=path names it`);
    return ["no genmc", SCENARIOS.map(() => "not run: no GenMC")];
  }
  const cells = SCENARIOS.map(([, bug, spec, agents]) => {
    const words = [
      "--check-liveness",
      "--disable-estimation",
      // A waiter of MX1 goes round without sleeping, as often as it likes.
      ...bug === "MX1" ? ["--unroll=4"] : [],
      "--",
      `-DAGENTS=${agents.length}`,
      `-DTIMES=${agents[0]!.length}`,
      ...bug ? [`-D${bug}`] : [],
      `${C}/${spec === queue ? "queue" : "mutex"}.c`,
    ];
    const begin = performance.now();
    const run = spawnSync(GENMC, words, { encoding: "utf8", timeout: 120_000 });
    const ms = (performance.now() - begin).toFixed(0);
    const count = (what: string) =>
      Number(new RegExp(`${what}: (\\d+)`).exec(run.stdout)?.[1] ?? 0);
    const complete = count("complete executions explored");
    const blocked = count("blocked executions seen");
    if (run.signal !== null) return "not ended after 2 minutes";
    const found = /Error: (Safety|Liveness) violation/.test(run.stdout);
    if (!found && run.status !== 0) return "did not run";
    if (found !== (bug !== undefined)) return found ? "FALSE ALARM" : "missed";
    const also = blocked > 0 ? ` and ${blocked} blocked` : "";
    return `${complete} executions${also}, ${ms} ms`;
  });
  return [`GenMC ${version[1]} with LLVM ${version[2]}`, cells];
}

/** Runs the race tester twice, because the first run compiles it. */
async function ours(): Promise<string[]> {
  const cells: string[] = [];
  for (const [, id, spec, agents] of SCENARIOS) {
    const module = await load(BUGS.find((bug) => bug.id === id));
    race.check(spec(module), ...agents);
    const begin = performance.now();
    const { ok, complete, states } = race.check(spec(module), ...agents);
    const ms = (performance.now() - begin).toFixed(1);
    const right = ok === (id === undefined) && (complete || !ok);
    cells.push(right ? `${states} states, ${ms} ms` : "WRONG");
  }
  return cells;
}

const [version, last] = genmc();
const columns = [
  await ours(),
  rust("loom"),
  rust("shuttle"),
  lincheck(),
  last,
];
const rows = SCENARIOS.map(([name], i) =>
  `| ${[name, ...columns.map((cells) => cells[i])].join(" | ")} |`
);
const cpu = os.cpus()[0]?.model ?? "unknown processor";
const rustc = spawnSync("rustc", ["--version"], { encoding: "utf8" }).stdout;
const java = spawnSync("javac", ["--version"], { encoding: "utf8" }).stdout;
const table = [
  "| scenario | Weft | loom 0.7 | shuttle 0.8, 20,000 random | " +
  "Lincheck 2.39, at most 10,000 | GenMC |",
  "| --- | --- | --- | --- | --- | --- |",
  ...rows,
  "",
  `${cpu}, Deno ${globalThis.Deno?.version.deno}, ${rustc.trim()}, ` +
  `${(java ?? "no javac").trim()}, ${version}, ` +
  `${new Date().toISOString().slice(0, 10)}; ` +
  "`deno run -A bench/explorers.ts --write`.",
].join("\n");
console.log(table);
if (process.argv.includes("--write")) {
  const text = fs.readFileSync(DOCUMENT, "utf8");
  const between = /(<!-- explorers -->\n)[^]*?(\n<!-- end -->)/;
  if (!between.test(text)) throw new Error("no place for the table");
  fs.writeFileSync(DOCUMENT, text.replace(between, `$1\n${table}\n$2`));
}
