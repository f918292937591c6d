// Tests of the lists of mutants themselves.
import { suite } from "./harness.ts";
import { mutantsIn, MUTATED } from "./mutants.ts";

const test = suite("mutants");

test("fewer than 3 in 100 are equivalent", async () => {
  const all = (await Promise.all(MUTATED.map(mutantsIn))).flat();
  const { length } = all.filter(({ equivalent }) => equivalent);
  if (length >= 0.03 * all.length) throw new Error(`${length} are`);
});
