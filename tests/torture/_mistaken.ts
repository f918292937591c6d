/**
 * Plays storms on a library with a mistake in it:
 * `deno run -A tests/torture/_mistaken.ts [FILTER] [SEEDS]` prints which seeds
 * from 1 to SEEDS (6) find each mistake whose name contains FILTER, and how
 * soon.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { Buffer } from "node:buffer";
import * as path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { valueCodec } from "../../mod.ts";
import { bundle, bundled } from "../_run/bundle.ts";
import { editedSource, fileOf } from "../_run/edits.ts";
import type { Row } from "./_row.ts";
import { type Mistake, MISTAKES, NO_LOOKS } from "./_mistakes.ts";

const STORMS = fileURLToPath(new URL("./storms.ts", import.meta.url));
const FOLDER = fileURLToPath(
  new URL("../../.weft/torture/mistakes/", import.meta.url),
);
/** How long a promise may take where there is a mistake, in ms. */
export const PATIENCE = 6000;

let building: Promise<unknown> = Promise.resolve();

/**
 * Bundles the storms with some files changed; returns the program for Node. One
 * at a time: the end of a bundle ends the bundler.
 */
export function built(
  name: string,
  edits: Mistake["edits"],
): Promise<string> {
  const changed = new Map(
    Object.entries(edits).map(([source, edits]) =>
      [fileOf(source), editedSource(source, edits)] as const
    ),
  );
  const outdir = path.join(FOLDER, name);
  const program = building.then(async () => {
    await bundle([STORMS], outdir, { changed });
    return bundled(STORMS, outdir);
  });
  building = program.catch(() => {});
  return program;
}

/** Bundles the storms with a mistake. */
export const withMistake = async (mistake: Mistake): Promise<string> =>
  await built(`${MISTAKES.indexOf(mistake)}`, {
    ...mistake.isLostWake ? NO_LOOKS : {},
    ...mistake.edits,
  });

/** What is played, and where. */
export interface Play
  extends Pick<Mistake, "storm" | "seed" | "runtime" | "plan"> {
  /** More flags of Node. */
  readonly flags?: readonly string[];
}

/**
 * Plays plans of one storm, in Node unless told, from `seed` on: at least those
 * of this seed, and others until `ms` are over. The first one that fails ends
 * it; without `patience`, a shorter plan that fails is looked for then.
 */
export function played(
  program: string,
  { storm, seed, runtime, plan, flags = [] }: Play,
  ms: number,
  patience?: number,
): Promise<Row> {
  const [run, ...given] = runtime === "deno"
    ? [process.execPath, "run", "-A", "--v8-flags=--expose-gc"]
    : ["node", "--expose-gc", ...flags];
  const words = [...given, program, storm, `${ms}`, `${seed}`];
  if (patience !== undefined) words.push(`${patience}`);
  if (plan !== undefined && patience !== undefined) words.push(base64Of(plan));
  return new Promise((resolve, reject) => {
    const limits = { timeout: ms + 120_000, killSignal: "SIGKILL" } as const;
    const told = (error: unknown, stdout: string, stderr: string) => {
      const line = stdout.split("\n").find((line) => line.startsWith("{"));
      if (line !== undefined) resolve(JSON.parse(line));
      else reject(new Error(`no row: ${error}\n${stderr}`));
    };
    execFile(run!, words, limits, told);
  });
}

function base64Of(plan: object): string {
  const bytes = new Uint8Array(valueCodec.encode(plan, new Uint8Array(0)));
  const length = valueCodec.encode(plan, bytes);
  return Buffer.from(bytes.subarray(0, length)).toString("base64");
}

if (import.meta.main) {
  const [filter = "", seeds = "6"] = process.argv.slice(2);
  for (const mistake of MISTAKES) {
    if (!`${mistake.storm}: ${mistake.what}`.includes(filter)) continue;
    const program = await withMistake(mistake);
    const found: string[] = [];
    for (let seed = 1; seed <= Number(seeds); seed++) {
      const begin = performance.now();
      const { problems } = await played(
        program,
        { ...mistake, seed },
        1,
      );
      const s = ((performance.now() - begin) / 1000).toFixed(1);
      const [problem] = problems;
      const isIt = problem !== undefined && mistake.says.test(problem);
      const text = problem?.split("\n")[0]?.slice(0, 70);
      found.push(`${seed}: ${isIt ? "found" : "-"} ${s} s ${text ?? ""}`);
    }
    console.log(`${mistake.storm}: ${mistake.what}\n  ${found.join("\n  ")}`);
  }
  process.exit(0);
}
