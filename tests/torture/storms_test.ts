// limit: 1800 s
// it is long
// The storms must find mistakes: each is made in a layer above the words, and
// the storm of that layer is played on it, from a seed whose plans find it. The
// same plans find nothing where there is no mistake, nor do 30 s of each storm.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { Pool } from "../_run/native.ts";
import {
  built,
  PATIENCE,
  type Play,
  played as playedOn,
  withMistake,
} from "./_mistaken.ts";
import { type Mistake, MISTAKES, NO_LOOKS } from "./_mistakes.ts";
import { GIVES_UP_IN_C } from "./_mistakes_channels.ts";

const test = suite("storms");

/** How long plans are played until one finds a mistake, in ms. */
const MOST = 180_000;

/** How long a promise may take where there is none, in ms. */
const PATIENT = 30_000;

/** How long a storm is played in Node, and in Deno, in ms. */
const STORM = 15_000;

/** Plays that run side by side, because each waits most of the time. */
const lanes = new Pool(4);

/** Runs `play` when a lane is free. */
function soon<T>(play: () => Promise<T>): Promise<T> {
  const played = lanes.run(play);
  played.catch(() => {}); // its test tells why
  return played;
}

for (const mistake of MISTAKES) {
  const played = soon(async () =>
    playedOn(await withMistake(mistake), mistake, MOST, PATIENCE)
  );
  test(`${mistake.storm}: ${mistake.what}`, async () => {
    const { problems, note } = await played;
    assert.is(problems.length, 1, `it was not found: ${note}`);
    assert.match(problems[0]!, mistake.says, problems[0]);
  });
}

const NAMES = [
  ...["pool", "calls", "channels", "select", "locks", "gates", "shop"] as const,
];

const without = built("none", {});
const withoutLooks = built("no_looks", NO_LOOKS);

/** Plays what finds mistakes on a library that has none of them. */
async function playWithout(program: Promise<string>, mistakes: Mistake[]) {
  const known = new Set<string>();
  const plays = mistakes.filter(({ seed, runtime, plan }) => {
    const key = JSON.stringify([plan ?? seed, runtime]);
    return !known.has(key) && known.add(key);
  });
  const played = plays.map((play) =>
    soon(async () => playedOn(await program, play, 1, PATIENT))
  );
  for (const [i, { problems }] of (await Promise.all(played)).entries()) {
    const { what, seed } = plays[i]!;
    assert.equal(problems, [], `${what}: seed ${seed}`);
  }
}

for (const storm of NAMES) {
  const mine = MISTAKES.filter((mistake) => mistake.storm === storm);
  const played = playWithout(without, mine);
  played.catch(() => {});
  test(`${storm}: without a mistake, the same plans find none`, () => played);
  const wakes = mine.filter(({ isLostWake }) => isLostWake);
  if (wakes.length === 0) continue;
  const unlooked = playWithout(withoutLooks, wakes);
  unlooked.catch(() => {});
  test(`${storm}: without looks each second, they find none`, () => unlooked);
}

const STORMS: readonly Play[] = [
  { storm: "pool", seed: 1001 },
  { storm: "calls", seed: 2001 },
  { storm: "channels", seed: 3001 },
  { storm: "select", seed: 7001 },
  { storm: "locks", seed: 8001 },
  { storm: "gates", seed: 11_001 },
  { storm: "shop", seed: 13_001 },
  { storm: "pool", seed: 4001, runtime: "deno" },
  { storm: "calls", seed: 5001, runtime: "deno" },
  { storm: "channels", seed: 6001, runtime: "deno" },
  { storm: "select", seed: 9001, runtime: "deno" },
  { storm: "locks", seed: 10_001, runtime: "deno" },
  { storm: "gates", seed: 12_001, runtime: "deno" },
  { storm: "shop", seed: 14_001, runtime: "deno" },
];

for (const play of STORMS) {
  const { storm, runtime = "node", seed } = play;
  const played = soon(async () => playedOn(await without, play, STORM));
  test(`${storm}: a storm in ${runtime}, from seed ${seed}`, async () => {
    const { problems, note } = await played;
    assert.equal(problems, [], note);
  });
}

// The first compiler of V8 11 may lose what a function of C knows when the
// instruction that waits returns: then messages count as sent that are not.
for (const flags of [[], ["--liftoff-only"]]) {
  const what = { storm: "channels", seed: 1, plan: GIVES_UP_IN_C } as const;
  const play: Play = { ...what, flags };
  const played = soon(async () => playedOn(await without, play, 1, PATIENT));
  test(`channels: a thread of C gives up, node ${flags.join()}`, async () => {
    const { problems, note } = await played;
    assert.equal(problems, [], note);
  });
}

// Plans that found a mistake: a caller that blocks kept all slots by releases,
// and receivers without room only looked for senders that wait in `select`.
const FOUND: readonly Play[] = [
  { storm: "calls", seed: 500_805 },
  { storm: "select", seed: 500_150 },
];

for (const play of FOUND) {
  const played = soon(async () => playedOn(await without, play, 1, PATIENT));
  test(`${play.storm}: the plans from seed ${play.seed}`, async () => {
    const { problems, note } = await played;
    assert.equal(problems, [], note);
  });
}
