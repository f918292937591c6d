/**
 * The ways to search a program: with all reductions, with one, with some.
 *
 * @module
 */
import type { Reduction, Result } from "../../race/mod.ts";
import { TRUST } from "../../race/engine/state/agent/memo.ts";
import { COMPARE } from "../../race/explore/runs/task.ts";

/**
 * A reduction; `true` stands for all of them, "late" for all but "unused". With
 * "memoryless", loops are promised to remember nothing, and all are used.
 */
export type Way = true | Reduction | "late" | "memoryless";

/** All reductions together, those of most searches, and each alone. */
export const WAYS: readonly Way[] = [
  true,
  "late",
  "order",
  "groups",
  "alike",
  "unused",
  "remembered",
  "memoryless",
];

/**
 * Explores with agents that are compared from the state `after` on, when `soon`
 * states more were not all, and that are not run again for a step that is
 * remembered.
 */
export async function comparing<T>(
  after: number,
  work: () => T | Promise<T>,
  soon = 0,
): Promise<T> {
  const [usual, trust] = [{ ...COMPARE }, { ...TRUST }];
  const always = { patience: Infinity, learn: 1, hints: 0, relies: 0 };
  Object.assign(COMPARE, { after, soon, ...always });
  Object.assign(TRUST, { first: 0, second: 0 });
  try {
    return await work();
  } finally {
    Object.assign(COMPARE, usual);
    Object.assign(TRUST, trust);
  }
}

/** Whether an exploration came to a verdict within its limits. */
export const decided = ({ ok, complete }: Result): boolean => !ok || complete;
