// also: node, browsers
import * as assert from "uvu/assert";
import { Semaphore } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import type { Manner } from "../mutex/holder.ts";
import { suite } from "../_run/harness.ts";
import { contend } from "../mutex/holders.ts";
import { endsWithin, passed, wordsOf } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const { permits: PERMITS } = LAYOUT.semaphore;
const WAITER = new URL("./waiter.ts", import.meta.url);

const test = suite("Semaphore in threads");

const parties: [Manner[], number, number][] = [
  [["block", "block"], 3, 3000],
  [["async", "async"], 3, 1000],
  [["block", "async", "try"], 5, 1000],
  [["hasty", "hasty", "hasty"], 4, 300],
  [["mixed", "block", "async", "hasty"], 3, 400],
  [["hasty", "try", "block", "block"], 2, 400],
  [["mixed", "mixed", "mixed", "mixed"], 1, 500],
];

for (const [manners, permits, count] of parties) {
  test(`${permits} permits are conserved: ${manners}`, async () => {
    const semaphore = Semaphore.create(permits);
    await contend(semaphore.handle, manners, count, permits);
    const [, waiters, bulk, claimant, claim] = wordsOf(semaphore)
      .subarray(PERMITS);
    assert.is(semaphore.available, permits);
    const rest = [waiters, bulk, claimant, claim];
    assert.equal(rest, [0, 0, 0, 0]);
  });
}

for (const blocks of [true, false]) {
  const how = blocks ? "blocking" : "awaiting";
  for (const order of [[1, 2], [2, 1]]) {
    test(`release(1) serves the one, ${how} for ${order}`, async () => {
      const semaphore = Semaphore.create(0);
      const data = { handle: semaphore.handle, blocks };
      const threads = [await spawn(WAITER, data), await spawn(WAITER, data)];
      for (const thread of threads) await thread.next(); // up
      for (let round = 0; round < 40; round++) {
        for (const [i, thread] of threads.entries()) {
          thread.post(order[i]);
          await thread.next(); // waiting
          await passed(1);
        }
        const served = threads.map((thread) => thread.next());
        const [single, double] = order[0] === 1 ? served : served.toReversed();
        semaphore.release(1);
        const first = await endsWithin(700, single!);
        assert.ok(first, `round ${round}: asleep beside a permit`);
        semaphore.release(1);
        assert.is(semaphore.available, 1);
        semaphore.release(1);
        assert.ok(
          await endsWithin(700, double!),
          `round ${round}: two are free`,
        );
        assert.is(semaphore.available, 0);
      }
      for (const thread of threads) thread.stop();
    });
  }
}
