// limit: 3600 s
// also: node
// Each value arrives as `structuredClone` copies it: 4,000 values, and 50,000
// with `--all`. The torture does so for as long as it is told.
import fc from "../_run/property.ts";
import { all } from "../_run/depth.ts";
import { suite } from "../_run/harness.ts";
import { assertSame, values } from "./values.ts";

const test = suite("value, against structuredClone", 3_000_000);

test("a value arrives as structuredClone copies it", () => {
  fc.assert(fc.property(values, assertSame), {
    numRuns: all() ? 50_000 : 2000,
  });
});
