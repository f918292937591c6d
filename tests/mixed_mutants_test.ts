// limit: 600 s
// Mutants of weft.h: each is found by agents of C alone, and beside JavaScript.
import { suite } from "./harness.ts";
import { compiled, isNoticed, judge, MIXES } from "./mixed/judge.ts";
import { diffOf, MUTANTS } from "./mixed/mutants.ts";

const test = suite("mutants of weft.h", 60_000);

for (const mutant of MUTANTS) {
  test(`${mutant.section}: ${mutant.what}`, async () => {
    const wasm = await compiled(mutant);
    let by: string | undefined;
    for (const mix of Object.keys(MIXES)) {
      const found = judge(wasm, mutant, mix, by);
      by = found?.by;
      if (found !== undefined) continue;
      throw new Error(`It survives in ${mix}:\n${diffOf(mutant)}`);
    }
  });
}

/** Mutants whose wakes somebody misses who awaits, and in which scenario. */
const AWAITED = [
  ["mpmc_queue", "pushes and wakes nobody", "one comes"],
  ["semaphore", "releases and wakes nobody", "a permit comes"],
] as const;

for (const [section, what, name] of AWAITED) {
  test(`${section}: ${what}, and waitAny notices`, async () => {
    const mutant = MUTANTS.find((mutant) =>
      mutant.section === section && mutant.what === what
    )!;
    if (await isNoticed(await compiled(mutant), name)) return;
    throw new Error(`It survives:\n${diffOf(mutant)}`);
  });
}

test("there are as many as were asked for", () => {
  if (MUTANTS.length < 60) throw new Error(`${MUTANTS.length}`);
});
