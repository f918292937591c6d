// also: node
// limit: 300 s
// Every export of mod.ts with arguments of all kinds, one at a time and mixed.
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import { callWrongly, SINGLE, subjectsOf } from "./arguments.ts";

const test = suite("Wrong arguments");

for (const subject of subjectsOf()) {
  test(`${subject.name}: works, or refuses and changes nothing`, async () => {
    const count = SINGLE + 60;
    assert.is(await callWrongly(subject, 0, count, 1), undefined);
  });
}
