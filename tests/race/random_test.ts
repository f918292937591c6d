// it is long
// Each reduction says of random programs what a search without any says.
import process from "node:process";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { compareRandom, randomPrograms } from "./corpus/random.ts";

const test = suite("race random programs", 3_600_000);

/** WEFT_PROGRAMS tries more of them. */
const COUNT = Number(process.env.WEFT_PROGRAMS ?? 1000);

for (const hints of [false, true]) {
  // Those with hints have more states.
  const count = hints ? Math.ceil(COUNT / 5) : COUNT;
  const which = `${count} programs${hints ? " with hints" : ""}`;
  test(`the same verdicts and ends of ${which}`, async () => {
    let [programs, searches] = [0, 0];
    for (const random of randomPrograms(count, 1, hints)) {
      const [compared, different] = await compareRandom(random, 1000);
      assert.is(different, undefined, different);
      if (compared > 0) programs++;
      searches += compared;
    }
    assert.ok(programs > count / 2, `${programs} programs`);
    assert.ok(searches > 7 * programs, `${searches} searches`);
  });
}
