import * as assert from "uvu/assert";
import { suite } from "../harness.ts";
import { MUTANTS as ORIGINALS } from "../mutants.ts";
import { compiled, isNoticed, judge, MIXES } from "./judge.ts";
import {
  diffOf,
  isCounterpart,
  type Mutant,
  MUTANTS,
  WITHOUT,
} from "./mutants.ts";

/** The mutants are judged in so many processes. */
const PARTS = 3;

/** What finds it, or the same mistake in TypeScript. */
function likely(mutant: Mutant): string | undefined {
  if (mutant.by !== undefined) return mutant.by;
  const { by } = ORIGINALS.find((it) => isCounterpart(mutant, it)) ?? {};
  return by?.slice(by.indexOf(": ") + 2);
}

/** Each is found by agents of C alone, and beside JavaScript. */
export function part(number: 1 | 2 | 3): void {
  const test = suite(`mutants of weft.h, part ${number} of ${PARTS}`, 60_000);
  for (const mutant of MUTANTS.filter((_, i) => i % PARTS === number - 1)) {
    test(`${mutant.section}: ${mutant.what}`, async () => {
      const wasm = await compiled(mutant);
      let by = likely(mutant);
      for (const mix of Object.keys(MIXES)) {
        const found = judge(wasm, mutant, mix, by);
        by = found?.by;
        if (found !== undefined) continue;
        throw new Error(`It survives in ${mix}:\n${diffOf(mutant)}`);
      }
    });
  }
}

/** Mutants whose wakes somebody misses who awaits, and in which scenario. */
const AWAITED = [
  ["mpmc_queue", "pushes and wakes nobody", "one comes"],
  ["semaphore", "releases and wakes nobody", "a permit comes"],
] as const;

/** What is to be said of all of them. */
export function whole(): void {
  const test = suite("mutants of weft.h");

  for (const [section, what, name] of AWAITED) {
    test(`${section}: ${what}, and waitAny notices`, async () => {
      const mutant = MUTANTS.find((mutant) =>
        mutant.section === section && mutant.what === what
      )!;
      if (await isNoticed(await compiled(mutant), name)) return;
      throw new Error(`It survives:\n${diffOf(mutant)}`);
    });
  }

  test("those of TypeScript have counterparts, or it is said why not", () => {
    const without = new Set(WITHOUT.flatMap(([, ...titles]) => titles));
    const missing = ORIGINALS
      .filter(({ equivalent }) => equivalent === undefined)
      .filter((it) => !MUTANTS.some((mutant) => isCounterpart(mutant, it)))
      .map(({ file, what }) => `${file}: ${what}`)
      .filter((title) => !without.delete(title));
    assert.equal(missing, []);
    assert.equal([...without], [], "said of what is not there, or has one");
  });
}
