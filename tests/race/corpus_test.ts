// it explores
// The race tester finds the mistakes in programs that are known to be wrong,
// names them correctly, and reports nothing about correct programs.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { FAMILIES } from "./corpus/families.ts";
import { KNOWN_BAD } from "./corpus/known_bad.ts";
import { KNOWN_GOOD } from "./corpus/known_good.ts";
import { load } from "./corpus/load.ts";
import { race } from "../../race/mod.ts";

const right = await load();
const test = suite("race corpus");

for (const { name, kind, explore } of KNOWN_BAD) {
  test(`${name}: ${kind}`, async () => {
    const { failure } = await explore();
    assert.is(failure?.kind, kind, failure?.message ?? "nothing was found");
    assert.ok(failure!.table.includes("agent 0"));
    assert.ok(failure!.svg().startsWith("<svg"));
  });
}

for (const { name, explore } of KNOWN_GOOD) {
  test(`${name}: nothing`, async () => {
    const { complete, failure } = await explore();
    assert.is(failure, undefined, failure && failure.table);
    assert.ok(complete);
  });
}

for (const [family, cases] of Object.entries(FAMILIES)) {
  test(`${family} without a bug: nothing`, () => {
    for (const { name, spec, program, options } of cases(right)) {
      const limited = { states: 30_000, runs: 100, ...options };
      const result = race.check(
        spec as ReturnType<typeof race.spec>,
        ...program,
        limited,
      );
      const { failure } = result as { failure?: { table: string } };
      assert.is(failure, undefined, `${name}\n${failure?.table}`);
    }
  });
}
