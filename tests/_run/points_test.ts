import * as assert from "uvu/assert";
import fc from "./property.ts";
import { suite } from "./harness.ts";
import { codePoint } from "./points.ts";

const test = suite("points.ts");

/** Strings and values, and what is left of a string that breaks a rule. */
function made(unit: "binary" | fc.Arbitrary<string>): unknown[] {
  const text = fc.string({ unit });
  const json = fc.jsonValue({ stringUnit: unit as "binary", maxDepth: 3 });
  const broken = fc.property(text, (text) => !/[^a-z].*[^a-z]/u.test(text));
  const { counterexample, numShrinks } = fc.check(broken, { seed: 7 });
  const samples = Array.from(
    { length: 5 },
    (_, seed) => fc.sample(fc.oneof(text, json), { seed, numRuns: 100 }),
  );
  return [counterexample, numShrinks, samples];
}

test("a code point is made and shrunk as fast-check's unit is", () => {
  assert.equal(made(codePoint), made("binary"));
});
