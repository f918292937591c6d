// limit: 1800 s
// Mutants of one folder, in TypeScript: the race scenarios must find each.
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { diffOf, unload } from "../mutant.ts";
import { judge, mutantsIn, mutantsOf } from "../mutants.ts";

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder(import.meta.url);
const test = suite(`${folder}, mutants`, LIMIT);

test("each is of both languages, or says why not", async () => {
  await mutantsIn(folder);
});

for (const mutant of await mutantsOf(folder, "ts")) {
  test(`${mutant.source}: ${mutant.what}`, async () => {
    const { by, text } = await judge(mutant);
    if (mutant.equivalent === undefined) {
      // A mutant that survives shows an ordering that no scenario checks.
      if (by === undefined) {
        throw new Error(`It survives:\n${diffOf(mutant, "ts")}`);
      }
    } else if (by !== undefined) {
      throw new Error(`It is not equivalent: ${by}\n${text}`);
    }
  });
}

test.after(unload);
