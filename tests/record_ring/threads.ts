// also: node, browsers
// Producers in threads of their own, and their one consumer here.
import * as assert from "uvu/assert";
import { ClosedError, RecordRing } from "../../mod.ts";
import type { RecordJob } from "./agent.ts";
import { suite } from "../_run/harness.ts";
import { Crew } from "../_run/workers.ts";

const crew = new Crew(new URL("./agent.ts", import.meta.url));

const test = suite("RecordRing in threads");

for (const producers of [1, 3]) {
  for (const capacity of [128, 4096]) {
    for (const blocking of [true, false]) {
      const how = `${capacity} bytes, ${blocking ? "blocking" : "awaiting"}`;
      test(`${producers} producers lose nothing: ${how}`, async () => {
        const single = producers === 1;
        const ring = RecordRing.create({ capacity, singleProducer: single });
        const { handle } = ring;
        const count = 600;
        const threads = await Promise.all(
          Array.from(
            { length: producers },
            (_, number) =>
              crew.begin({ handle, number, count } satisfies RecordJob),
          ),
        );
        await Promise.all(threads.map((thread) => thread.next()));
        for (const thread of threads) thread.post("go");
        const next = new Array(producers).fill(0);
        for (let left = producers * count; left > 0; left--) {
          const record = blocking && left % 4 !== 0
            ? ring.pop()!
            : (await ring.popAsync())!;
          const [number, low, high] = record as unknown as number[];
          const i = low! | high! << 8;
          assert.is(i, next[number!]++);
          assert.is(record.length, 3 + i * 5 % 40);
          for (let k = 3; k < record.length; k++) {
            assert.is(record[k], (i + k * 7) & 0xff, "torn");
          }
        }
        await Promise.all(threads.map((thread) => thread.next()));
        ring.close();
        assert.throws(
          () => ring.tryPop(),
          (error: unknown) => error instanceof ClosedError,
        );
        for (const thread of threads) crew.end(thread);
      });
    }
  }
}
