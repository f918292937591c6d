// it is long
// Each reduction says of random programs what a search without any says.
import process from "node:process";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { compareRandom, randomPrograms } from "./corpus/random.ts";

const test = suite("race random programs", 3_600_000);

/** WEFT_PROGRAMS tries more of them. */
const COUNT = Number(process.env.WEFT_PROGRAMS ?? 1000);

test(`the same verdicts and ends of ${COUNT} programs`, async () => {
  let [programs, searches] = [0, 0];
  for (const random of randomPrograms(COUNT, 1)) {
    const [compared, different] = await compareRandom(random, 1000);
    assert.is(different, undefined, different);
    if (compared > 0) programs++;
    searches += compared;
  }
  assert.ok(programs > COUNT / 2, `${programs} programs`);
  assert.ok(searches > 6 * programs, `${searches} searches`);
});
