// it explores
// Every seeded bug is found in the smallest program that shows it, and its
// schedule replays to the same failure.
import * as assert from "uvu/assert";
import { race } from "../../race/mod.ts";
import type { Result, Spec } from "../../race/mod.ts";
import { suite } from "../_run/harness.ts";
import { BUGS } from "./corpus/bugs.ts";
import { FAMILIES } from "./corpus/families.ts";
import { load } from "./corpus/load.ts";

const test = suite("race bugs");

for (const bug of BUGS) {
  test(`${bug.id} is found: ${bug.what}`, async () => {
    const module = await load(bug);
    for (
      const { spec, program, options = {} } of FAMILIES[bug.family]!(module)
    ) {
      const sync = spec as Spec<false>;
      const { failure }: Result = race.check(sync, ...program, options);
      if (failure === undefined) continue;
      const again = race.replay(sync, program, failure.schedule, options);
      assert.is(again.failure?.kind, failure.kind);
      return;
    }
    assert.unreachable("not found");
  });
}
