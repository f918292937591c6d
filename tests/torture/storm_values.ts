/**
 * Values made by fast-check, each of which must arrive as `structuredClone`
 * copies it.
 *
 * @module
 */
import fc from "../_run/property.ts";
import { assertSame, values } from "../value/values.ts";
import type { Row } from "./_row.ts";

/** Sends values for `ms`. */
export function valuesStorm(ms: number, seed: number): Row {
  const details = fc.check(fc.property(values, assertSame), {
    seed,
    numRuns: 2 ** 31 - 1,
    interruptAfterTimeLimit: ms,
  });
  return {
    what: "Values: against structuredClone",
    volume: details.numRuns,
    unit: "values",
    problems: details.failed ? [fc.defaultReportMessage(details) ?? ""] : [],
  };
}
