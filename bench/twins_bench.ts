// Does the C twin compiled to wasm run nearly as fast as the same text compiled
// natively? Floor: that native program; both use pthreads. And how much more
// does a LockFreeQueue, which no agent can block, cost in wasm?
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { emcc, NoCompiler, PTHREADS } from "../wasm/emcc.ts";
import {
  contest,
  type Contestant,
  type Measured,
  program,
  ratio,
  type Row,
} from "./contest.ts";

const SOURCE = fileURLToPath(new URL("./native/twins.c", import.meta.url));
const OUT = fileURLToPath(new URL("../.weft/bench/", import.meta.url));

/** The exports of the module. */
interface Twins {
  _twins_kinds(): number;
  _twins_name(kind: number): number;
  _twins_threads(kind: number): number;
  _twins_timed(kind: number): number;
  _twins_start(kind: number): number;
  _twins_done(): number;
  _twins_end(): void;
  _twins_ns(kind: number): number;
  wasmMemory: WebAssembly.Memory;
}

async function build(): Promise<Twins> {
  fs.mkdirSync(OUT, { recursive: true });
  execFileSync("gcc", ["-O3", "-pthread", SOURCE, "-o", `${OUT}twins`]);
  await emcc({
    sources: [SOURCE],
    args: [
      ...PTHREADS,
      "-O3",
      "-sPTHREAD_POOL_SIZE=8",
      "-Wno-pthreads-mem-growth",
    ],
    out: `${OUT}twins.mjs`,
  });
  const { default: create } = await import(
    pathToFileURL(`${OUT}twins.mjs`).href
  );
  return await create();
}

/** ms that all threads of this process waited for a core. */
function waited(): number {
  try {
    return fs.readdirSync("/proc/self/task").reduce((sum, task) => {
      const file = `/proc/self/task/${task}/schedstat`;
      return sum + Number(fs.readFileSync(file, "utf8").split(" ")[1]) / 1e6;
    }, 0);
  } catch {
    return 0;
  }
}

function inWasm<Name extends string>(
  name: Name,
  twins: Twins,
  kind: number,
): Contestant & { readonly name: Name } {
  const turn = async (): Promise<Measured> => {
    const [begin, before] = [performance.now(), waited()];
    if (!twins._twins_start(kind)) throw new Error("no threads to be had");
    if (twins._twins_timed(kind)) setTimeout(twins._twins_end, 100);
    while (!twins._twins_done()) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const ns = twins._twins_ns(kind);
    const delay = (waited() - before) / (performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 20)); // threads return
    if (ns < 0) throw new Error("elements were lost");
    const crowded = twins._twins_threads(kind) > cpus().length;
    return crowded ? { ns } : { ns, disturbed: delay };
  };
  return { name, turn };
}

function nameOf(twins: Twins, kind: number): string {
  const bytes = new Uint8Array(twins.wasmMemory.buffer);
  const begin = twins._twins_name(kind);
  // Make a copy, because text cannot be decoded from shared memory.
  return new TextDecoder().decode(bytes.slice(begin, bytes.indexOf(0, begin)));
}

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  let twins;
  try {
    twins = await build();
  } catch (error) {
    if (!(error instanceof NoCompiler)) throw error;
    console.log(error.message);
    return [];
  }
  const rows: Row[] = [];
  for (let kind = 0; kind < twins._twins_kinds(); kind++) {
    const native = program("native", `${OUT}twins`, [String(kind)]);
    const crowded = twins._twins_threads(kind) > cpus().length;
    const results = await contest([
      inWasm("wasm", twins, kind),
      {
        ...native,
        turn: async () => {
          const { ns, disturbed } = await native.turn();
          return crowded ? { ns: ns! } : { ns: ns!, disturbed: disturbed! };
        },
      },
    ]);
    rows.push({
      name: `${nameOf(twins, kind)}: wasm's throughput / native C's`,
      ...ratio(results, "native", "wasm"),
      target: { least: 0.7 },
    });
  }
  return [...rows, ...await lockFree(twins)];
}

async function lockFree(twins: Twins): Promise<Row[]> {
  const kinds = Array.from({ length: twins._twins_kinds() }, (_, kind) => kind);
  const rows: Row[] = [];
  for (const ends of ["1 producer, 1 consumer", "2 producers, 2 consumers"]) {
    const kindOf = (queue: string) =>
      kinds.find((kind) => nameOf(twins, kind) === `${queue}, ${ends}`)!;
    const results = await contest([
      inWasm("queue", twins, kindOf("LockFreeQueue")),
      inWasm("mpmc", twins, kindOf("MpmcQueue")),
    ]);
    rows.push({
      name: `LockFreeQueue, ${ends}, wasm: throughput / MpmcQueue`,
      ...ratio(results, "mpmc", "queue"),
      target: { least: 0.6 },
    });
  }
  return rows;
}
