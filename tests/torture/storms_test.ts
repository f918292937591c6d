// limit: 900 s
// it waits
// it is long
// The storms must find mistakes: each is made in a layer above the words, and
// the storm of that layer is played on it, from a seed whose plans find it. The
// same plans find nothing where there is no mistake.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { built, played as playedOn, withMistake } from "./_mistaken.ts";
import { type Mistake, MISTAKES, NO_LOOKS } from "./_mistakes.ts";

const test = suite("storms");

/** How long plans are played until one finds a mistake, in ms. */
const MOST = 60_000;

/** How long a promise may take where there is none, in ms. */
const PATIENT = 30_000;

for (const mistake of MISTAKES) {
  test(`${mistake.storm}: ${mistake.what}`, async () => {
    const program = await withMistake(mistake);
    const { problems, note } = await playedOn(program, mistake, MOST);
    assert.is(problems.length, 1, `it was not found: ${note}`);
    assert.match(problems[0]!, mistake.says);
  }, 300_000);
}

/** Plays what finds mistakes on a library that has none of them. */
async function playWithout(name: string, mistakes: Mistake[], edits = {}) {
  const program = await built(name, edits);
  const played = new Set<string>();
  for (const mistake of mistakes) {
    const { seed, runtime, plan } = mistake;
    const key = JSON.stringify([plan ?? seed, runtime]);
    if (played.has(key)) continue;
    played.add(key);
    const { problems } = await playedOn(program, mistake, 1, PATIENT);
    assert.equal(problems, [], `${mistake.what}: seed ${seed}`);
  }
}

for (const storm of ["pool", "calls", "channels"] as const) {
  const mine = MISTAKES.filter((mistake) => mistake.storm === storm);
  test(`${storm}: without a mistake, the same plans find none`, async () => {
    await playWithout("none", mine);
  }, 300_000);
  const wakes = mine.filter(({ isLostWake }) => isLostWake);
  if (wakes.length === 0) continue;
  test(`${storm}: without looks each second, they find none`, async () => {
    await playWithout("no_looks", wakes, NO_LOOKS);
  }, 300_000);
}
