import { suite } from "./harness.ts";
import { judge, MUTANTS } from "./mutants.ts";
import { diffOf, unload } from "./mutant.ts";

/** The mutants are judged in so many processes. */
const PARTS = 3;

/** A survivor is an ordering that nothing watches. */
export function part(number: 1 | 2 | 3): void {
  const test = suite(`mutants, part ${number} of ${PARTS}`);
  for (const mutant of MUTANTS.filter((_, i) => i % PARTS === number - 1)) {
    test(`${mutant.file}: ${mutant.what}`, async () => {
      const { by, text } = await judge(mutant);
      if (mutant.equivalent === undefined) {
        if (by === undefined) {
          throw new Error(`It survives:\n${diffOf(mutant)}`);
        }
      } else if (by !== undefined) {
        throw new Error(`It is not equivalent: ${by}\n${text}`);
      }
    });
  }
  if (number === 1) {
    test("fewer than 3 in 100 are equivalent", () => {
      const { length } = MUTANTS.filter(({ equivalent }) => equivalent);
      if (length >= 0.03 * MUTANTS.length) throw new Error(`${length} are`);
    });
  }
  test.after(unload);
}
