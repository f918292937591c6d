// about: spsc_queue, mpmc_queue
// also: node
import * as assert from "uvu/assert";
import { ClosedError, MpmcQueue, SpscQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { isWoken, NEAR_WRAP } from "../_run/model.ts";
import { NUMBERS, PLAY, type Role } from "./plays.ts";
import { type Player, Stage } from "./stage.ts";
import { wind } from "./wind.ts";

const stage = await Stage.open();
const { memory } = stage;

const test = suite("Queues shared with C");

test.beforeEach(() => stage.clear());

const COUNT = 4000;

/** Sends ints and records through queues, in sequence and by many agents. */
const CONFIGS = [
  { capacity: 1, elementSize: 4 },
  { capacity: 64, elementSize: 4 },
  { capacity: 1, elementSize: 20 },
  { capacity: 8, elementSize: 32 },
];

/** Lets producers and consumers play; every element must come once. */
async function transfer(
  queue: SpscQueue<unknown> | MpmcQueue<unknown>,
  producers: Player[],
  consumers: Player[],
  count: number,
) {
  const stem = queue instanceof SpscQueue ? "spsc" : "mpmc";
  const at = queue.byteOffset;
  const total = producers.length * count;
  const extra = stage.place(4 * total);
  const taken = await Promise.all(
    consumers.map((by) =>
      stage.start({ by, role: `${stem} consume` as Role, at, extra, count })
    ),
  );
  await stage.perform(
    producers.map((by, number) => ({
      by,
      role: `${stem} produce` as Role,
      at,
      count,
      number,
    })),
  );
  queue.close();
  await Promise.all(taken.map(({ over }) => over));
  const sum = taken.reduce((n, { words }) => n + words[PLAY.result]!, 0);
  assert.is(sum, total);
  const seen = stage.heap.subarray(extra / 4, extra / 4 + total);
  assert.ok(seen.every((times) => times === 1));
  assert.is(queue.size, 0);
}

/** The producer and the consumer. */
const PAIRS: [Player, Player][] = [
  ["C", "JS"],
  ["JS", "C"],
  ["C", "main"],
  ["main", "C"],
  ["C", "JS awaiting"],
  ["JS awaiting", "C"],
];

for (const [producer, consumer] of PAIRS) {
  test(`an SpscQueue carries all from ${producer} to ${consumer}`, async () => {
    for (const [i, config] of CONFIGS.entries()) {
      stage.clear();
      const at = stage.place(SpscQueue.byteLength(config));
      const queue = SpscQueue.init(memory, at, config);
      const wrap = [0, ...NEAR_WRAP][i % 3]!;
      wind(queue, wrap - COUNT * 2 | 0); // half-way, in steps of 4
      await transfer(queue, [producer], [consumer], COUNT);
    }
  });
}

/** The producers and the consumers. */
const CROWDS: [Player[], Player[]][] = [
  [["C", "C", "JS", "JS"], ["C", "C", "JS", "JS"]],
  [["C", "JS awaiting"], ["C", "JS awaiting"]],
  [["C", "main"], ["C", "main"]],
  [["main", "JS"], ["C", "C", "C"]],
  [["C", "C", "C"], ["main", "main", "JS"]],
];

for (const [producers, consumers] of CROWDS) {
  test(`an MpmcQueue carries all from ${producers} to ${consumers}`, async () => {
    for (const [i, config] of CONFIGS.entries()) {
      stage.clear();
      const at = stage.place(MpmcQueue.byteLength(config));
      const queue = MpmcQueue.init(memory, at, config);
      const count = COUNT / 4;
      const wrap = [0, ...NEAR_WRAP][i % 3]!;
      wind(queue, wrap - count * producers.length | 0); // half-way, too
      await transfer(queue, producers, consumers, count);
    }
  });
}

/** Lets the next agent that pushes be the producer, whoever it was. */
function endProducer(queue: SpscQueue<unknown> | MpmcQueue<unknown>): void {
  if (!(queue instanceof SpscQueue)) return;
  const words = new Int32Array(queue.buffer, queue.byteOffset);
  queue.abandon(Atomics.load(words, LAYOUT.spsc_queue.producer));
}

/** All agents that can sleep in a queue at once. */
const SLEEPERS: Record<string, Player[]> = {
  spsc: ["C"],
  spsc_js: ["JS"],
  spsc_main: ["main"],
  mpmc: ["C", "C", "JS", "JS awaiting", "main", "main"],
};

for (const [name, cast] of Object.entries(SLEEPERS)) {
  const stem = name.split("_")[0] as "spsc" | "mpmc";
  const Queue = stem === "spsc" ? SpscQueue : MpmcQueue;
  const config = { capacity: 1 };
  for (const end of ["pop", "push"] as const) {
    for (const by of ["C", "TypeScript"]) {
      test(`close by ${by} ends every ${stem} ${end}: ${cast}`, async () => {
        const close = async () => {
          const at = stage.place(Queue.byteLength(config));
          const queue = Queue.init(memory, at, config);
          if (end === "push") queue.tryPushInt(0);
          endProducer(queue);
          const asleep = await Promise.all(
            cast.map((by) =>
              stage.start({ by, role: `${stem} sleep ${end}` as Role, at })
            ),
          );
          await new Promise((resolve) => setTimeout(resolve, 30));
          const begin = performance.now();
          if (by === "C") stage.c[`weft_${stem}_queue_close`]!(at);
          else queue.close();
          await Promise.all(asleep.map(({ over }) => over));
          const took = performance.now() - begin;
          for (const { words } of asleep) {
            assert.is(words[PLAY.result], NUMBERS.EPIPE);
          }
          endProducer(queue);
          assert.throws(
            () => queue.tryPushInt(1),
            (e: unknown) => e instanceof ClosedError,
          );
          return took;
        };
        assert.ok(await isWoken(close), "nobody woke them");
      });
    }
  }
}

test("one element wakes one sleeper of either side", async () => {
  const cast: Player[] = ["C", "JS", "main", "C", "JS awaiting", "main"];
  const wakeAll = async () => {
    const at = stage.place(MpmcQueue.byteLength({ capacity: 8 }));
    const queue = MpmcQueue.init(memory, at, { capacity: 8 });
    const asleep = await Promise.all(
      cast.map((by) => stage.start({ by, role: "mpmc sleep pop", at })),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    const begin = performance.now();
    for (let i = 0; i < cast.length; i++) {
      if (i % 2 === 0) queue.tryPushInt(i);
      else assert.is(stage.c.weft_mpmc_queue_try_push_int!(at, i), 0);
    }
    await Promise.all(asleep.map(({ over }) => over));
    const took = performance.now() - begin;
    for (const { words } of asleep) assert.is(words[PLAY.result], 0);
    assert.is(queue.size, 0);
    return took;
  };
  assert.ok(await isWoken(wakeAll), "a wake was lost");
});
