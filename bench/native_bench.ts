// Are the native primitives as fast as those that C++ programs use now, and the
// same programs compiled by Emscripten, in Node? Rivals: pthreads and POSIX
// semaphores, rigtorp's and moodycamel's queues, libcuckoo's and TBB's maps.
// Those whose headers are not installed, or in a folder of CPLUS_INCLUDE_PATH,
// are left out, and the bench says so.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { emcc, findCompiler, NoCompiler } from "../wasm/emcc.ts";
import { contest, program, ratio, type Row } from "./contest.ts";

const OUT = fileURLToPath(new URL("../.weft/bench/", import.meta.url));

/** The programs: each prints its questions, and whose answers it has. */
const SOURCES: Readonly<Record<string, URL>> = {
  rivals: new URL("./native/rivals.cpp", import.meta.url),
  maps: new URL("./native/maps.cpp", import.meta.url),
};

/** Rivals that are not on each machine, and where they come from. */
const OPTIONAL: Readonly<Record<string, string>> = {
  rigtorp: "rigtorp's SPSCQueue or MPMCQueue",
  moodycamel: "libreaderwriterqueue-dev or libconcurrentqueue-dev",
  libcuckoo: "libcuckoo-dev",
  TBB: "libtbb-dev",
};

/** The folders with headers of those that Emscripten compiles, too. */
const HEADERS = ["rigtorp", "readerwriterqueue", "concurrentqueue"];

/** What Emscripten needs for such a program, whose main thread may block. */
const EMCC = [
  ...["-std=c++20", "-O2", "-w", "-pthread", "-sPROXY_TO_PTHREAD"],
  ...["-sEXIT_RUNTIME", "-sINITIAL_MEMORY=268435456"],
];

/** The most that ours may take of a rival's time; by default as long. */
const MOST: Readonly<Record<string, number>> = {
  "SpscQueue, push and pop alone / rigtorp": 1.2,
  "spsc_queue<int> of C++, push and pop alone / rigtorp": 1.2,
  "mpmc_queue<int> of C++, push and pop alone / rigtorp": 1.1,
  "mpmc_queue<int> of C++, push and pop alone / moodycamel": 0.95,
  "SpscQueue, two threads that poll / rigtorp": 0.9,
  "SpscQueue, two threads that poll / moodycamel": 0.9,
  "MpmcQueue, push and pop alone / rigtorp": 1.1,
  "MpmcQueue, push and pop alone / moodycamel": 0.95,
};

/** A question, and the command that answers it for someone. */
interface Pair {
  readonly question: string;
  readonly whose: string;
  readonly command: readonly string[];
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  fs.mkdirSync(OUT, { recursive: true });
  const pairs = Object.keys(SOURCES).flatMap(nativePairs);
  for (const [name, of] of Object.entries(OPTIONAL)) {
    if (pairs.some(({ whose }) => whose === name)) continue;
    console.log(`      ${of} is not installed: no figures for ${name}`);
  }
  const native = await compare(pairs, (title) => ({
    name: title,
    target: { most: MOST[title] ?? 1 },
  }));
  const { version, pairs: inNode } = await wasmPairs();
  const wasm = await compare(inNode, (title) => ({
    name: `${title}, under emcc`,
    part: `Under Emscripten ${version}, in Node`,
    target: { most: 1 },
  }));
  return [...native, ...wasm];
}

/** The rows of a contest for each question. */
async function compare(
  pairs: readonly Pair[],
  titled: (title: string) => Pick<Row, "name" | "part" | "target">,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const question of new Set(pairs.map(({ question }) => question))) {
    const all = pairs.filter((pair) => pair.question === question).map((
      { whose, command: [file, ...words] },
    ) => program(whose, file!, [...words, question, whose]));
    const results = await contest(all);
    for (const { name } of all) {
      if (name === "weft") continue;
      const title = titled(`${question} / ${name}`);
      rows.push({ ...title, ...ratio(results, "weft", name) });
    }
  }
  return rows;
}

/** All that a command can answer. */
function pairsOf(command: readonly string[]): Pair[] {
  const [file, ...words] = command;
  return execFileSync(file!, words, { encoding: "utf8" }).trim().split("\n")
    .map((line) => line.split("\t") as [question: string, whose: string])
    .map(([question, whose]) => ({ question, whose, command }));
}

/** Builds a program with Emscripten; all that it can answer in Node. */
async function wasmPairs(): Promise<{ version: string; pairs: Pair[] }> {
  const out = `${OUT}rivals.js`;
  try {
    const { version } = await findCompiler();
    const sources = [
      fileURLToPath(SOURCES.rivals!),
      ...["queue", "base"].map((part) =>
        fileURLToPath(new URL(`../wasm/weft_${part}.hpp`, import.meta.url))
      ),
    ];
    await emcc({ sources, args: [...EMCC, "-I", linked()], out });
    return { version, pairs: pairsOf(["node", out]) };
  } catch (error) {
    if (!(error instanceof NoCompiler)) throw error;
    console.log(`      ${error.message}; no figures for WebAssembly`);
    return { version: "", pairs: [] };
  }
}

/** A folder with links to the headers of the rivals alone. */
function linked(): string {
  const folder = `${OUT}peers/`;
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder);
  const places = (process.env.CPLUS_INCLUDE_PATH ?? "").split(path.delimiter);
  places.push("/usr/local/include", "/usr/include");
  for (const name of HEADERS) {
    const found = places.filter(Boolean).map((at) => path.resolve(at, name))
      .find((at) => fs.existsSync(at));
    if (found !== undefined) fs.symlinkSync(found, folder + name);
  }
  return folder;
}

/** Builds a program; all that it can answer. */
function nativePairs(name: string): Pair[] {
  const out = OUT + name;
  try {
    build(name, out, ["-ltbb"], "ignore");
  } catch { // where TBB is missing, or only its headers are there
    build(name, out, ["-DNO_TBB"], "inherit");
  }
  return pairsOf([out]);
}

function build(
  name: string,
  out: string,
  more: readonly string[],
  stdio: "ignore" | "inherit",
): void {
  const source = fileURLToPath(SOURCES[name]!);
  const words = ["-std=c++20", "-O2", "-w", "-pthread", source, "-o", out];
  execFileSync("g++", [...words, ...more], { stdio });
}
