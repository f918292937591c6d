// limit: 600 s
// Mutants: a survivor is an ordering that nothing watches.
import { suite } from "./harness.ts";
import { judge, MUTANTS } from "./mutants.ts";
import { diffOf, unload } from "./mutants/_mutant.ts";

const test = suite("mutants");

for (const mutant of MUTANTS) {
  test(`${mutant.file}: ${mutant.what}`, async () => {
    const { by, text } = await judge(mutant);
    if (mutant.equivalent === undefined) {
      if (by === undefined) throw new Error(`It survives:\n${diffOf(mutant)}`);
    } else if (by !== undefined) {
      throw new Error(`It is not equivalent: ${by}\n${text}`);
    }
  });
}

test("fewer than 3 in 100 are equivalent", () => {
  const equivalent = MUTANTS.filter((mutant) => mutant.equivalent).length;
  if (equivalent >= 0.03 * MUTANTS.length) throw new Error(`${equivalent} are`);
});

test.after(unload);
