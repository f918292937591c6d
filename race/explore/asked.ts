/**
 * What the options of an exploration ask of its searches.
 *
 * @module
 */
import { onTerminal } from "./runs/progress.ts";
import type { Engine } from "../engine/step/replay.ts";
import { type Options, reduces } from "../report/result.ts";
import { COMPARE, type SearchOptions } from "./runs/task.ts";
import { TIME, times } from "./verdict.ts";

/** The most states of the search by preemptions, if the options do not say. */
export const FEW = 100_000;

// ---- what was asked, and what was found -------------------------------------

/** What a search is asked; with `minimal`, for the fewest preemptions. */
export function searchOptions(
  { scenario, looks }: Engine,
  o: Options,
  minimal: boolean,
): SearchOptions {
  const usual = o.kill !== true && times(o.spurious, 1) === 0;
  const isWhole = o.primitives === "atomic";
  const declared = [...scenario.operations.values()]
    .some(({ lockFree }) => lockFree);
  const lockFree = o.progress === "lock-free"
    ? "all"
    : declared
    ? "declared"
    : "no";
  return {
    states: minimal ? 2 * FEW : o.states ?? COMPARE.states,
    time: o.time ?? TIME,
    minimal,
    lockFree,
    races: o.races !== false,
    rescue: o.rescue === true,
    looks,
    polls: o.polls !== false,
    results: scenario.finalResults,
    progress: minimal ? null : onTerminal(),
    reduce: reduces(o, "order") && usual,
    groups: reduces(o, "groups") && usual && lockFree === "no" && !isWhole,
    mayGroup: (o.reduce ?? true) === true && usual && lockFree === "no" &&
      !isWhole && o.polls !== false,
    twins: reduces(o, "alike") && usual,
    merge: reduces(o, "unused") && usual,
    compares: o.reduce === "unused",
    memoryless: o.memoryless === true && usual,
  };
}
