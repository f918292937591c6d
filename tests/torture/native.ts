/**
 * The parts of the torture that are programs of C.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { build, BUILT, needSanitizers, run } from "../_run/native.ts";
import { writtenCalls } from "./declared.ts";
import { loadRow, type Longest, type Tell } from "./_row.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const WASM = fileURLToPath(new URL("../../wasm", import.meta.url));

/** What runs for `ms`, on primitives whose name contains `only`. */
export type Runner = (
  ms: number,
  seed: number,
  only: string,
  tell: Tell,
) => Promise<void>;

/** What `kills.c` can torture. */
const KILLED = [
  "mutex",
  "rw_lock",
  "spsc_queue",
  "lock_free_queue",
  "record_ring",
  "work_deque",
  "slab_pool",
  "hash_map",
  "hash_map_cache",
  "hash_map_long",
  "hash_map_long_cache",
  "hash_map_long_keys",
  "hash_map_long_keys_cache",
];

/** What each story of `soak.c` is about. */
const SOAKED = {
  stream: [
    "spsc_queue",
    "mpmc_queue",
    "lock_free_queue",
    "record_ring",
    "broadcast",
    "snapshot",
    "snapshot_of_one",
  ],
  waits: [
    "mutex",
    "rw_lock",
    "condition",
    "semaphore",
    "event",
    "barrier",
    "spsc_queue",
    "mpmc_queue",
    "lock_free_queue",
    "record_ring",
    "hash_map_key",
    "hash_map_long_key",
  ],
  load: [
    "mutex",
    "rw_lock",
    "semaphore",
    "event",
    "mpmc_queue",
    "lock_free_queue",
    "record_ring",
    "hash_map",
    "hash_map_long",
    "hash_map_long_keys",
  ],
} as const;

const SANITIZED = [
  "-O1",
  "-g1",
  "-fsanitize=address,undefined",
  "-fno-sanitize-recover=all",
];

/** Builds a program of C of this folder. */
function builtWith(
  name: string,
  flags: readonly string[],
  compiler = "gcc",
): Promise<string> {
  return build({
    name: `torture-${name}-${compiler}`,
    compiler,
    words: ["-std=gnu11", "-pthread", `-I${WASM}`, ...flags],
    sources: [path.join(HERE, `${name}.c`)],
  });
}

/** Runs a program; the object in its last line, and what went wrong. */
async function report(program: string, words: string[], seconds: number) {
  const limit = Math.ceil(seconds * 2 + 120);
  const { code, output } = await run(program, words, limit);
  const last = output.trim().split("\n").findLast((l) => l.startsWith("{"));
  const told = (last === undefined ? {} : JSON.parse(last)) as Record<
    string,
    number
  >;
  return { told, problems: code === 0 ? [] : [output.trim()] };
}

/** Kills processes. */
export const processes: Runner = async (ms, seed, only, tell) => {
  const names = KILLED.filter((name) => name.includes(only));
  if (names.length === 0) return;
  const program = await builtWith("kills", ["-O2"]);
  for (const name of names) {
    const seconds = ms / 1000 / names.length;
    const words = [name, `${seconds}`, `${seed}`];
    const { told, problems } = await report(program, words, seconds);
    const { kills = 0, lost, allowed = 0, operations = 0 } = told;
    tell({
      what: `weft_${name}: processes killed`,
      volume: kills,
      unit: "kills",
      ...(allowed > 0 && lost !== undefined && { lost, allowed }),
      problems,
    });
    tell({
      what: `weft_${name}: steps beside kills`,
      volume: operations,
      unit: "operations",
      problems: [],
    });
  }
};

/** Runs one story of `soak.c`. */
export function soak(story: keyof typeof SOAKED): Runner {
  return async (ms, seed, only, tell) => {
    const names = SOAKED[story].filter((name) => name.includes(only));
    if (names.length === 0) return;
    const program = await builtWith("soak", ["-O2"]);
    const least = story === "load" ? 0.5 : 0; // a crowd takes long to start
    const seconds = Math.max(ms / 1000 / names.length, least);
    for (const name of names) {
      const words = [story, name, `${seconds}`, `${seed}`];
      if (story !== "load") {
        const { told, problems } = await report(program, words, seconds);
        tell({
          what: story === "stream"
            ? `weft_${name}: sent between two threads`
            : `weft_${name}: waits given up, or served`,
          volume: told.volume ?? 0,
          unit: story === "stream" ? "messages" : "waits",
          problems,
        });
        continue;
      }
      const broken: string[] = [];
      const row = await loadRow(`weft_${name}`, seconds, async () => {
        const { told, problems } = await report(program, words, seconds);
        broken.push(...problems);
        return { volume: 0, longest: 0, control: 0, ...told } as Longest;
      });
      tell({ ...row, problems: [...row.problems, ...broken] });
    }
  };
}

/** Damages words, and calls all that does not wait, under the sanitizers. */
export const damage: Runner = async (ms, seed, only, tell) => {
  await needSanitizers("gcc");
  const program = await builtWith("damage", SANITIZED);
  const seconds = ms / 1000;
  const words = [`${seconds}`, `${seed}`, only];
  const { told, problems } = await report(program, words, seconds);
  const { calls = 0 } = told;
  if (problems.length === 0 && calls === 0) return; // none has that name
  tell({
    what: "C: calls on damaged words, sanitized",
    volume: calls,
    unit: "calls",
    problems,
  });
};

/** Calls every function of `weft.h` with arguments of all kinds. */
export const wrongArguments: Runner = async (ms, seed, only, tell) => {
  if (only !== "") return;
  await needSanitizers("gcc");
  const { text, count, leftOut } = await writtenCalls();
  const stamp = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const folder = path.join(BUILT, `torture-calls-${stamp}`);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "calls.inc"), text);
  // Not optimized: half a minute to build would be too long.
  const flags = [...SANITIZED, "-O0", `-I${folder}`];
  const program = await builtWith("arguments", flags);
  const seconds = ms / 1000;
  const words = [`${seconds}`, `${seed}`];
  const { told, problems } = await report(program, words, seconds);
  tell({
    what: `C: arguments of all kinds, ${count} functions`,
    volume: told.calls ?? 0,
    unit: "calls",
    ...(leftOut.length > 0 && { note: `left out: ${leftOut.join(", ")}` }),
    problems,
  });
};

/** Lets libFuzzer choose what is damaged, where clang has it. */
export const libFuzzer: Runner = async (ms, seed, only, tell) => {
  if (only !== "") return;
  await needSanitizers("clang"); // which come with libFuzzer
  const flags = [
    ...["-O1", "-g", "-DLIBFUZZER", "-fno-sanitize-recover=all"],
    "-fsanitize=fuzzer,address,undefined",
  ];
  const program = await builtWith("damage", flags, "clang");
  const seconds = Math.max(Math.round(ms / 1000), 1);
  const corpus = path.join(BUILT, "torture-corpus");
  await mkdir(corpus, { recursive: true });
  const words = [
    `-max_total_time=${seconds}`,
    `-seed=${seed}`,
    ...["-timeout=30", "-max_len=64", "-print_final_stats=1"],
    `-artifact_prefix=${corpus}-found-`,
    corpus,
  ];
  const { code, output } = await run(program, words, seconds * 2 + 120);
  const found = /number_of_executed_units: (\d+)/.exec(output);
  tell({
    what: "C: cases of libFuzzer on damaged words",
    volume: Number(found?.[1] ?? 0),
    unit: "cases",
    problems: code === 0 ? [] : [output.trim().slice(-4000)],
  });
};
