// about: select_blocking
// also: node
import * as assert from "uvu/assert";
import { MpmcQueue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { PLAY } from "./plays.ts";
import { type Player, Stage } from "./stage.ts";

const stage = await Stage.open();
const { memory } = stage;

const test = suite("Selects of both languages");

test.beforeEach(() => stage.clear());

const COUNT = 2000;

/** Who selects from two queues, each of which C and JavaScript fill. */
const CROWDS: Player[][] = [
  ["C"],
  ["JS"],
  ["C", "JS"],
  ["C", "C", "JS", "JS"],
  ["C", "JS", "JS awaiting", "main"],
];

for (const consumers of CROWDS) {
  for (const capacity of [1, 8]) {
    test(`${consumers} take all from two queues of ${capacity}`, async () => {
      const config = { capacity };
      const bytes = MpmcQueue.byteLength(config);
      const at = stage.place(2 * bytes);
      const queues = [at, at + bytes].map((place) =>
        MpmcQueue.init(memory, place, config)
      );
      const producers: Player[] = ["C", "JS", "JS", "C"];
      const total = producers.length * COUNT;
      const extra = stage.place(4 * total);
      const taken = await Promise.all(
        consumers.map((by) =>
          stage.start({ by, role: "select consume", at, extra, count: COUNT })
        ),
      );
      await stage.perform(
        producers.map((by, number) => ({
          by,
          role: "mpmc produce" as const,
          at: queues[number % 2]!.byteOffset,
          count: COUNT,
          number,
        })),
      );
      for (const queue of queues) queue.close();
      await Promise.all(taken.map(({ over }) => over));
      const sum = taken.reduce((n, { words }) => n + words[PLAY.result]!, 0);
      assert.is(sum, total);
      const seen = stage.heap.subarray(extra / 4, extra / 4 + total);
      assert.ok(seen.every((times) => times === 1));
    });
  }
}
