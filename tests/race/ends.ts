// How programs end, for tests that compare two searches of one program.
import { RaceError, type Result } from "../../race/mod.ts";

/**
 * The ends that a search told, in order, or the kind of its failure, and its
 * result. Which ends are met before a failure is no property of a program.
 */
export function endsSeen(
  search: (see: (end: string) => void) => Result,
): [ends: readonly string[] | string, result: Result] {
  const seen = new Set<string>();
  let result: Result;
  try {
    result = search((end) => void seen.add(end));
  } catch (error) {
    if (!(error instanceof RaceError)) throw error;
    ({ result } = error);
  }
  const { failure, ok } = result;
  return [ok ? [...seen].sort() : failure!.kind, result];
}
