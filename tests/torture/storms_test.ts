// limit: 900 s
// it waits
// it is long
// The storms must find mistakes: each is made in a layer above the words, and
// the storm of that layer is played on it, from a seed whose plans find it. The
// same plans find nothing where there is no mistake.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { built, played, withMistake } from "./_mistaken.ts";
import { MISTAKES, NO_LOOKS } from "./_mistakes.ts";

const test = suite("storms");

/** How long plans are played until one finds a mistake, in ms. */
const MOST = 60_000;

/** How long a promise may take where there is none, in ms. */
const PATIENT = 30_000;

for (const mistake of MISTAKES) {
  test(`${mistake.storm}: ${mistake.what}`, async () => {
    const program = await withMistake(mistake);
    const { problems, note } = await played(program, mistake, MOST);
    assert.is(problems.length, 1, `it was not found: ${note}`);
    assert.match(problems[0]!, mistake.says);
  }, 300_000);
}

for (const storm of ["pool", "calls", "channels"] as const) {
  const mine = MISTAKES.filter((mistake) => mistake.storm === storm);
  test(`${storm}: without a mistake, the same plans find none`, async () => {
    const program = await built("none", {});
    for (const seed of new Set(mine.map(({ seed }) => seed))) {
      const { problems } = await played(program, { storm, seed }, 1, PATIENT);
      assert.equal(problems, [], `seed ${seed}`);
    }
  }, 300_000);
  const wakes = mine.filter(({ isLostWake }) => isLostWake);
  if (wakes.length === 0) continue;
  test(`${storm}: without looks each second, they find none`, async () => {
    const program = await built("no_looks", NO_LOOKS);
    for (const { seed } of wakes) {
      const { problems } = await played(program, { storm, seed }, 1, PATIENT);
      assert.equal(problems, [], `seed ${seed}`);
    }
  }, 300_000);
}
