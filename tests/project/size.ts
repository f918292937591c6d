/**
 * What each export costs a bundle that uses it alone: minified, unused code
 * dropped, gzipped. `deno task size` prints the table.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** A bundle, and how large it may be. */
export interface Sized {
  /** What is imported of which module; `*` for all of it. */
  readonly name: string;
  readonly from: string;
  /** The most bytes it may have: what was reached, rounded up. */
  readonly most: number;
}

const sized = (name: string, stem: string, most: number): Sized => ({
  name,
  from: `./primitives/${stem}.ts`,
  most,
});

/** All of them, in the order of mod.ts. */
export const SIZES: readonly Sized[] = [
  sized("agentId", "agent", 200),
  sized("Mutex", "mutex", 4300),
  sized("RwLock", "rw_lock", 5300),
  sized("Condition", "condition", 4750),
  sized("Semaphore", "semaphore", 5000),
  sized("Event", "event", 4050),
  sized("Latch", "latch", 4500),
  sized("Barrier", "barrier", 4650),
  sized("Once", "once", 3850),
  sized("Snapshot", "snapshot", 3000),
  sized("SpscQueue", "spsc_queue", 6500),
  sized("MpmcQueue", "mpmc_queue", 6550),
  sized("LockFreeQueue", "lock_free_queue", 7300),
  sized("RecordRing", "record_ring", 7000),
  sized("Broadcast", "broadcast", 7000),
  sized("Channel, json", "channel", 8450),
  sized("CallRing", "call_ring", 8200),
  sized("WorkCounter", "work_counter", 4800),
  sized("WorkDeque", "work_deque", 2200),
  sized("SlabPool", "slab_pool", 2900),
  sized("StripedCounter", "striped_counter", 2200),
  sized("struct", "struct", 1500),
  sized("waitAny", "wait_any", 2250),
  sized("inspect", "inspect", 3150),
  { name: "*", from: "./mod.ts", most: 30700 },
];

/** Measures one. The bytes of its modules are those before gzip. */
export async function measure({ name, from }: Sized): Promise<
  { gzipped: number; minified: number; modules: [string, number][] }
> {
  const what = name === "*" ? "*" : `{ ${name} }`;
  const { outputFiles, metafile } = await esbuild.build({
    stdin: {
      contents: `export ${what} from ${JSON.stringify(from)};`,
      resolveDir: PROJECT,
    },
    absWorkingDir: PROJECT,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    logLevel: "error",
  });
  const [{ inputs }] = Object.values(metafile.outputs) as [
    esbuild.Metafile["outputs"][string],
  ];
  const { contents } = outputFiles[0]!;
  return {
    gzipped: gzipSync(contents, { level: 9 }).length,
    minified: contents.length,
    modules: Object.entries(inputs)
      .map(([file, { bytesInOutput }]): [string, number] => [
        file.replace("primitives/", ""),
        bytesInOutput,
      ])
      .filter(([, bytes]) => bytes > 0)
      .toSorted((a, b) => b[1] - a[1]),
  };
}

if (import.meta.main) {
  console.log("export            gzip   most   minified, by module");
  for (const entry of SIZES) {
    const { gzipped, minified, modules } = await measure(entry);
    const bytes = [gzipped, entry.most].map((n) => `${n}`.padStart(5));
    const parts = entry.name === "*"
      ? ""
      : `: ${modules.map((part) => part.join(" ")).join(", ")}`;
    console.log(
      `${entry.name.padEnd(15)} ${bytes.join("  ")}  ${minified}${parts}`,
    );
  }
  await esbuild.stop();
}
