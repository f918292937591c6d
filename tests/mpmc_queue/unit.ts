// also: node, browsers
import * as assert from "uvu/assert";
import { ClosedError, DamagedError, MpmcQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { nowOf, preemptedAnywhere, rejects } from "../_run/model.ts";
import { declareEpochCase, declareQueueCases } from "../_queue/cases.ts";
import { MPMC, obeysTheModel } from "../_queue/model.ts";

const test = suite("MpmcQueue");

test("every operation obeys the model, wherever the tickets wrap", () => {
  obeysTheModel(MPMC);
});

test("elements of 1 and 2 bytes obey the model, too", () => {
  obeysTheModel(MPMC, 300, [1, 2]);
});

test("a capacity that has too many bytes once it is rounded up is refused", () => {
  const elementSize = 357_913_940; // three have less than 2^30 bytes
  const length = () => MpmcQueue.byteLength({ capacity: 3, elementSize });
  assert.throws(length, /rounded up to a power of two: 4 .*received 3/);
});

test("elements of 1 and 2 bytes take the slots of those of 4 or 8", () => {
  for (const elementSize of [1, 2] as const) {
    const most = { capacity: 2 ** 28, elementSize };
    assert.is(MpmcQueue.byteLength(most), 640 + most.capacity * 16);
    const more = { capacity: 2 ** 28 + 1, elementSize };
    assert.throws(() => MpmcQueue.create(more), /268435457/);
    const queue = MpmcQueue.create({ capacity: 1, elementSize });
    assert.throws(() => queue.tryPushInt(1), TypeError);
    assert.throws(() => queue.tryPush(new Uint8Array(4)), RangeError);
    assert.ok(queue.tryPush(new Uint8Array(elementSize).fill(7)));
    assert.equal(queue.tryPop(), new Uint8Array(elementSize).fill(7));
  }
  const wrong = { capacity: 4, elementSize: 3 };
  assert.throws(() => MpmcQueue.create(wrong), RangeError);
  const says = /elementSize must be 1, 2 or a multiple of 4: received 3/;
  assert.throws(() => MpmcQueue.create(wrong), says);
});

declareQueueCases(test, MpmcQueue, MPMC);

test("a slot not committed yet holds back what is behind it", async () => {
  const mine = MpmcQueue.create({ capacity: 4 });
  const theirs = new MpmcQueue(mine.buffer);
  mine.reserve()![0] = 1;
  theirs.pushInt(2);
  assert.is(theirs.tryPopInt(), undefined);
  const pops = [1, 2, 3].map(() => theirs.popIntAsync());
  mine.close();
  assert.is(await nowOf(Promise.race(pops)), "pending");
  mine.commit(); // claimed before the end: it counts
  assert.is(await pops[0]!, 1);
  assert.is(await pops[1]!, 2);
  await rejects(mine.buffer, pops[2]!, ClosedError);
});

test("a wait for a slot that nobody hands on says what is wrong", async () => {
  const queue = MpmcQueue.create({ capacity: 4 });
  queue.reserve();
  const popping = new MpmcQueue(queue.buffer).popIntAsync();
  const told = await popping.catch((error) => error);
  assert.instance(told, DamagedError);
  assert.match(told.message, "an agent has kept a slot that it claimed");
});

test("wakes behind a slot do not make it look stuck", async () => {
  const mine = MpmcQueue.create({ capacity: 8 });
  const theirs = new MpmcQueue(mine.buffer);
  mine.reserve()![0] = 0;
  const pop = theirs.popIntAsync();
  for (let i = 1; i <= 5; i++) {
    theirs.pushInt(i);
    assert.is(await nowOf(pop), "pending");
  }
  mine.commit();
  assert.is(await pop, 0);
});

test("an element peeked at is taken, and others go on behind it", () => {
  const mine = MpmcQueue.create({ capacity: 2 });
  const theirs = new MpmcQueue(mine.buffer);
  mine.pushInt(1);
  mine.pushInt(2);
  assert.ok(mine.peek());
  assert.is(theirs.popInt(), 2);
  assert.is(theirs.tryPopInt(), undefined);
  assert.is(theirs.tryPushInt(3), false); // its slot is in use still
  mine.consume();
  theirs.pushInt(3);
  theirs.pushInt(4);
  assert.is(theirs.popInt(), 3);
});

declareEpochCase(test, MpmcQueue, LAYOUT.mpmc_queue);

test("two pushes, or two pops, may meet at any step", () => {
  type Op = (queue: MpmcQueue) => number[];
  const ops: Record<string, Op> = {
    "push 100": (queue) => queue.tryPushInt(100) ? [100] : [],
    "push 200": (queue) => {
      const src = Int32Array.of(200, 201, 202);
      return [...src.subarray(0, queue.tryPushMany(src, 3))];
    },
    "pop one": (queue) => {
      const int = queue.tryPopInt();
      return int === undefined ? [] : [int];
    },
    "pop many": (queue) => {
      const dst = new Int32Array(3);
      return [...dst.subarray(0, queue.tryPopMany(dst, 3))];
    },
  };
  for (const capacity of [1, 2, 4]) {
    for (let filled = 0; filled <= capacity; filled++) {
      for (const one of Object.keys(ops)) {
        for (const two of Object.keys(ops)) {
          const pushing = one.startsWith("push");
          if (two.startsWith("push") !== pushing) continue;
          preemptedAnywhere(
            () => {
              const queue = MpmcQueue.create({ capacity });
              for (let i = 0; i < filled; i++) queue.pushInt(i);
              return { queue, first: [] as number[], second: [] as number[] };
            },
            (it) => it.first = ops[one]!(it.queue),
            (it) => it.second = ops[two]!(new MpmcQueue(it.queue.buffer)),
            ({ queue, first, second }, at) => {
              const path = `${one}, ${two} at ${at}, ${filled}/${capacity}`;
              const dst = new Int32Array(9);
              const rest = [...dst.subarray(0, queue.tryPopMany(dst, 9))];
              const before = Array.from({ length: filled }, (_, i) => i);
              const sorted = (ints: number[]) => ints.toSorted((a, b) => a - b);
              const [seen, expected] = pushing
                ? [sorted(rest), [...before, ...sorted([...first, ...second])]]
                : [sorted([...first, ...second, ...rest]), before];
              assert.equal(seen, expected, path);
              for (const part of [first, second, rest.slice(0, filled)]) {
                assert.equal(part, sorted(part), path);
              }
            },
          );
        }
      }
    }
  }
});
