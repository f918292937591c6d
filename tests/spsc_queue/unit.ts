// also: node, browsers
import * as assert from "uvu/assert";
import { SpscQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses, wordsOf } from "../_run/model.ts";
import { declareQueueCases } from "../_queue/cases.ts";
import { obeysTheModel, SPSC } from "../_queue/model.ts";

const test = suite("SpscQueue");

test("every operation obeys the model, wherever the indices wrap", () => {
  obeysTheModel(SPSC);
});

const A = 1001;
const B = 1002;

/** The view of agent `id`. */
const of = (id: number, { buffer }: SpscQueue) =>
  asAgent(id, () => new SpscQueue(buffer));

test("a second producer is refused, until the first one is abandoned", () => {
  const queue = SpscQueue.create({ capacity: 4 });
  const [first, second] = [of(A, queue), of(B, queue)];
  const one = Int32Array.of(1);
  const pushes: Record<string, () => unknown> = {
    tryPushInt: () => second.tryPushInt(1),
    pushInt: () => second.pushInt(1),
    tryPush: () => second.tryPush(one),
    tryPushMany: () => second.tryPushMany(one, 1),
    reserve: () => second.reserve(),
  };
  assert.ok(first.tryPushInt(1));
  assert.is(second.size, 1); // looking is no role
  for (const push of Object.values(pushes)) {
    refuses(queue.buffer, push, TypeError, `one producer, which is agent ${A}`);
  }
  assert.is(second.abandon(B), 0);
  assert.is(second.abandon(A), 1);
  assert.is(second.abandon(A), 0);
  assert.ok(second.tryPushInt(2));
  assert.is(wordsOf(queue)[LAYOUT.spsc_queue.producer], B);
  assert.equal([second.tryPopInt(), second.tryPopInt()], [1, 2]);
});

test("a second consumer is refused, until the first one is abandoned", async () => {
  const queue = SpscQueue.create({ capacity: 4 });
  const [first, second] = [of(A, queue), of(B, queue)];
  const to = new Int32Array(1);
  const pops: Record<string, () => unknown> = {
    tryPopInt: () => second.tryPopInt(),
    popInt: () => second.tryPopInt(1),
    tryPop: () => second.tryPop(),
    tryPopInto: () => second.tryPopInto(to),
    tryPopMany: () => second.tryPopMany(to, 1),
    peek: () => second.peek(),
  };
  assert.is(first.tryPopInt(), undefined);
  for (const push of [1, 2, 3]) second.pushInt(push);
  for (const pop of Object.values(pops)) {
    refuses(queue.buffer, pop, TypeError, `one consumer, which is agent ${A}`);
  }
  const refused = await second.popIntAsync().catch((error) => error);
  assert.instance(refused, TypeError);
  assert.is(first.tryPopInt(), 1);
  assert.is(first.abandon(A), 1); // it gives the role up itself
  assert.is(second.tryPopInt(), 2);
  refuses(queue.buffer, () => first.tryPopInt(), TypeError, `agent ${B}`);
  assert.is(queue.abandon(B), 2);
});

test("an agent that gives its role up has no reservation any more", () => {
  const queue = of(A, SpscQueue.create({ capacity: 4 }));
  assert.ok(queue.reserve());
  assert.is(queue.abandon(A), 1);
  refuses(queue.buffer, () => queue.commit(), TypeError, "No slot");
  queue.pushInt(5);
  assert.ok(queue.peek());
  assert.is(queue.abandon(A), 2);
  refuses(queue.buffer, () => queue.consume(), TypeError, "No element");
  assert.is(queue.popInt(), 5);
  for (const wrong of [-1, 2 ** 28, 0.5]) {
    refuses(queue.buffer, () => queue.abandon(wrong), RangeError, `${wrong}`);
  }
});

declareQueueCases(test, SpscQueue, SPSC);
