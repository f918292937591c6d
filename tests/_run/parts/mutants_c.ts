// limit: 1800 s
// Mutants of one folder, in C: agents of C must find each, and with `--all`
// also beside JavaScript.
import { all } from "../depth.ts";
import { thisFolder } from "../folders.ts";
import { suite } from "../harness.ts";
import { compiled, judge, MIXES } from "../mixed/judge.ts";
import { diffOf } from "../mutant.ts";
import { mutantsIn, mutantsOf } from "../mutants.ts";

/** Only a hanging test takes this long: the machine may be busy. */
const LIMIT = 900_000;

const folder = thisFolder(import.meta.url);
const test = suite(`${folder}, mutants of C`, LIMIT);

test("each is of both languages, or says why not", async () => {
  await mutantsIn(folder);
});

const mutants = await mutantsOf(folder, "c");
const moduleOf = compiled(mutants);

for (const mutant of mutants) {
  test(`${mutant.header}.h: ${mutant.what}`, async () => {
    const wasm = await moduleOf(mutant);
    let by = mutant.inC ?? mutant.by;
    for (const mix of all() ? Object.keys(MIXES) : ["C+C"]) {
      const found = await judge(wasm, mutant, mix, by);
      by = found?.by;
      if (found !== undefined) continue;
      throw new Error(`It survives in ${mix}:\n${diffOf(mutant, "c")}`);
    }
  });
}
