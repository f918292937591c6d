// also: node, browsers
import * as assert from "uvu/assert";
import { Mutex } from "../../mod.ts";
import type { Manner } from "./holder.ts";
import { suite } from "../_run/harness.ts";
import { contend } from "./holders.ts";
import { wordsOf } from "../_run/model.ts";

const test = suite("Mutex in threads");

const parties: [Manner[], number][] = [
  [["block", "block"], 3000],
  [["async", "async"], 2000],
  [["block", "async"], 2000],
  [["try", "block"], 2000],
  [["hasty", "hasty"], 500],
  [["mixed", "mixed", "mixed"], 1000],
  [["block", "block", "block", "block"], 1000],
  [["block", "async", "hasty", "try"], 500],
  [["async", "mixed", "hasty", "block"], 500],
];

for (const [manners, count] of parties) {
  test(`one is inside at a time: ${manners}`, async () => {
    const mutex = Mutex.create();
    await contend(mutex.handle, manners, count);
    assert.is(mutex.owner, 0);
    assert.ok(mutex.tryLock(), `left ${[...wordsOf(mutex)]}`);
  });
}
