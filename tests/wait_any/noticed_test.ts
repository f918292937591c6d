// Mistakes in C that a JavaScript agent in `waitAny` notices.
import { suite } from "../_run/harness.ts";
import { compiled, isNoticed } from "../_run/mixed/judge.ts";
import { diffOf } from "../_run/mutant.ts";
import { mutantsOf } from "../_run/mutants.ts";

const test = suite("mutants of C, noticed by waitAny");

const NOTICED = [
  ["mpmc_queue", "pushes and wakes nobody", "one comes"],
  ["semaphore", "releases and wakes nobody", "a permit comes"],
] as const;

for (const [folder, what, scenario] of NOTICED) {
  test(`${folder}: ${what}`, async () => {
    const mutants = await mutantsOf(folder, "c");
    const mutant = mutants.find((mutant) => mutant.what === what)!;
    if (await isNoticed(await compiled([mutant])(mutant), scenario)) return;
    throw new Error(`It survives:\n${diffOf(mutant, "c")}`);
  });
}
