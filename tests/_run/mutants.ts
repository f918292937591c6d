/**
 * Mutants: every ordering the primitives rely on is broken once, and the race
 * scenarios must notice: `deno run -A tests/_run/mutants.ts [--quick] [FILTER]`.
 *
 * Some are the classic mistakes that `race/corpus/bugs.ts` makes in textbook
 * algorithms, and bear their names. Where ours differ:
 *
 * ```text
 * MX8   no loop around the sleep: a wake is taken for the lock
 * MQ8   turns are compared for equality, so no difference can fail to wrap:
 *       a slot's place is computed from a ticket that does not wrap
 * SP4   as the cache only saves loads, the word itself is never looked at
 * ```
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { type Options, race, type Result } from "../../race/mod.ts";
import { diffOf, load, type Mutant, unload } from "./mutant.ts";
import { barrier } from "../barrier/mutants.ts";
import { broadcast } from "../broadcast/mutants.ts";
import { condition } from "../condition/mutants.ts";
import { striped_counter } from "../striped_counter/mutants.ts";
import { _call_slots, call_ring } from "../call_ring/mutants.ts";
import { event } from "../event/mutants.ts";
import { latch } from "../latch/mutants.ts";
import { lock_free_queue } from "../lock_free_queue/mutants.ts";
import { _event_count, _queue, mpmc_queue } from "../mpmc_queue/mutants.ts";
import { mutex } from "../mutex/mutants.ts";
import { once } from "../once/mutants.ts";
import { record_ring } from "../record_ring/mutants.ts";
import { rw_lock } from "../rw_lock/mutants.ts";
import { wait_any } from "../wait_any/mutants.ts";
import { semaphore } from "../semaphore/mutants.ts";
import { snapshot } from "../snapshot/mutants.ts";
import { slab_pool } from "../slab_pool/mutants.ts";
import { spsc_queue } from "../spsc_queue/mutants.ts";
import { _wait } from "../_wait/mutants.ts";
import { work_counter } from "../work_counter/mutants.ts";
import { work_deque } from "../work_deque/mutants.ts";
import { LOOKS, type Scenario, type Scenarios } from "./scenario.ts";

export type { Mutant } from "./mutant.ts";

/** All of them. */
export const MUTANTS: readonly Mutant[] = [
  ...mutex,
  ...semaphore,
  ...spsc_queue,
  ...mpmc_queue,
  ..._event_count,
  ..._queue,
  ..._wait,
  ...work_counter,
  ...latch,
  ...event,
  ...lock_free_queue,
  ..._call_slots,
  ...call_ring,
  ...wait_any,
  ...barrier,
  ...once,
  ...rw_lock,
  ...snapshot,
  ...work_deque,
  ...striped_counter,
  ...condition,
  ...record_ring,
  ...broadcast,
  ...slab_pool,
];

/** Whose scenarios notice what is wrong with a source that they share. */
const STEMS: Readonly<Record<string, readonly string[]>> = {
  "_queue.ts": ["mpmc_queue", "spsc_queue"],
  "_call_slots.ts": ["call_ring"],
  "_event_count.ts": ["mpmc_queue"],
  "_wait.ts": ["wait", "mutex"],
};

/** Whose scenarios notice what is wrong with a mutant's source. */
export const stemsOf = ({ file }: Mutant): readonly string[] =>
  STEMS[file] ?? [file.replace(".ts", "")];

/** What became of a mutant. */
export interface Verdict {
  /** The scenario that killed it, as `"stem: name"`. */
  readonly by: string | undefined;
  readonly kind: string | undefined;
  /** What it took, in milliseconds of the processor. */
  readonly ms: number;
  readonly text: string;
}

/** The scenarios that may kill a mutant, by `"stem: name"`. */
async function scenariosFor(mutant: Mutant): Promise<[string, Scenario][]> {
  const weft = await load(mutant);
  const stems = mutant.by !== undefined
    ? [mutant.by.split(":")[0]!]
    : stemsOf(mutant);
  const found: [string, Scenario][] = [];
  for (const stem of stems) {
    const { [stem]: scenarios } = await import(
      `../${stem.replace(/^wait$/, "_wait")}/scenarios.ts`
    ) as {
      [stem: string]: Scenarios;
    };
    for (const scenario of scenarios!(weft)) {
      if (!scenario.deep) found.push([`${stem}: ${scenario.name}`, scenario]);
    }
  }
  return found;
}

/** Ever more states of all scenarios: most mutants need few of some. */
const BUDGETS: readonly Options[] = [
  { states: 300, runs: 0 },
  { states: 3_000, runs: 0 },
  { states: 30_000, runs: 0 },
  { time: 8_000 },
];

/** Explores a mutant until something is found. */
export async function judge(
  mutant: Mutant,
  quick = false,
): Promise<Verdict> {
  const before = process.cpuUsage();
  const took = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const left = new Map(await scenariosFor(mutant));
  const budgets = quick || mutant.equivalent !== undefined
    ? BUDGETS.slice(0, 2)
    : BUDGETS;
  for (const budget of budgets) {
    for (const [name, { spec, agents, options }] of left) {
      if (mutant.by !== undefined && mutant.by !== name) continue;
      const result: Result = await race.check(spec, ...agents, {
        looks: LOOKS,
        ...options,
        ...budget,
      });
      if (result.complete) left.delete(name);
      if (result.failure === undefined) continue;
      const { kind, message, table } = result.failure;
      const text = `${kind}: ${message}\n${table}`;
      return { by: name, kind, ms: took(), text };
    }
  }
  return { by: undefined, kind: undefined, ms: took(), text: diffOf(mutant) };
}

if (import.meta.main) {
  const { values: { quick }, positionals: [filter = ""] } = parseArgs({
    options: { quick: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  let failed = 0;
  const times: number[] = [];
  for (const mutant of MUTANTS) {
    const title = `${mutant.file}: ${mutant.what}`;
    if (!title.includes(filter)) continue;
    let verdict;
    try {
      verdict = await judge(mutant, quick);
    } catch (error) {
      console.log(`FAIL ${title}: ${(error as Error).message}`);
      failed++;
      continue;
    }
    const { by, kind, ms, text } = verdict;
    const right = (by === undefined) === (mutant.equivalent !== undefined);
    if (!right) failed++;
    if (mutant.equivalent === undefined) times.push(ms);
    console.log(
      `${right ? "ok  " : "FAIL"} ${title.padEnd(72)} ` +
        `${`${Math.round(ms)}`.padStart(6)} ms  ` +
        (by === undefined ? mutant.equivalent ?? "survived" : `${kind}, ${by}`),
    );
    if (!right) console.log(text);
  }
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1] ?? 0;
  const total = times.reduce((a, b) => a + b, 0);
  console.log(
    `${times.length} mutants, ${failed} wrong, median ${Math.round(median)} ` +
      `ms, total ${Math.round(total / 1000)} s`,
  );
  await unload();
  process.exit(failed === 0 ? 0 : 1);
}
