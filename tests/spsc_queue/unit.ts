// also: node, browsers
import * as assert from "uvu/assert";
import { DamagedError, SpscQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, refuses, wordsOf } from "../_run/model.ts";
import { declareQueueCases } from "../_queue/cases.ts";
import { obeysTheModel, SPSC } from "../_queue/model.ts";

const test = suite("SpscQueue");

test("every operation obeys the model, wherever the indices wrap", () => {
  obeysTheModel(SPSC);
});

test("indices that are farther apart than the queue is long are damage", () => {
  const { head, tail } = LAYOUT.spsc_queue;
  const isDamage = (error: Error) => error instanceof DamagedError;
  for (const wrong of [-4, 20, 1 << 30, -(2 ** 31)]) {
    const full = SpscQueue.create({ capacity: 4 });
    for (let i = 0; i < 4; i++) full.tryPushInt(i);
    wordsOf(full)[head] = wrong;
    assert.throws(() => full.tryPushInt(4), isDamage);
    const empty = SpscQueue.create({ capacity: 4 });
    wordsOf(empty)[tail] = wrong;
    assert.throws(() => empty.tryPopInt(), isDamage);
  }
});

test("elements of 1 and 2 bytes obey the model, too", () => {
  obeysTheModel(SPSC, 300, [1, 2]);
});

test("elements of 1 and 2 bytes are counted as if they had 4", () => {
  for (const elementSize of [1, 2] as const) {
    const most = { capacity: 2 ** 28, elementSize };
    assert.is(SpscQueue.byteLength(most), 384 + most.capacity * elementSize);
    const more = { capacity: 2 ** 28 + 1, elementSize };
    assert.throws(() => SpscQueue.create(more), /268435457/);
    const small = { capacity: 1, elementSize };
    assert.is(SpscQueue.byteLength(small), 384 + 4, "whole words");
    const queue = SpscQueue.create(small);
    assert.throws(() => queue.tryPushInt(1), TypeError);
    assert.ok(queue.tryPush(new Uint8Array(elementSize).fill(7)));
    assert.equal(queue.tryPop(), new Uint8Array(elementSize).fill(7));
  }
  const wrong = { capacity: 4, elementSize: 3 };
  assert.throws(() => SpscQueue.create(wrong), RangeError);
  const says = /elementSize must be 1, 2 or a multiple of 4: received 3/;
  assert.throws(() => SpscQueue.create(wrong), says);
});

test("samples of 16 bits pass, and C's order of their bytes is theirs", () => {
  const queue = SpscQueue.create({ capacity: 128, elementSize: 2 });
  const block = new Int16Array(96);
  const got = new Int16Array(96);
  for (let n = 0; n < 100; n++) {
    block.forEach((_, i) => block[i] = n * 96 + i * 321);
    assert.is(queue.tryPushMany(block, 96), 96);
    assert.is(queue.tryPopMany(got, 96), 96);
    assert.equal(got, block);
  }
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
    reserveMany: () => second.reserveMany(2),
  };
  assert.ok(first.tryPushInt(1));
  assert.is(second.size, 1); // looking is no role
  for (const push of Object.values(pushes)) {
    refuses(queue.buffer, push, TypeError, `one producer, which is agent ${A}`);
  }
  assert.is(second.abandon(B), 0);
  assert.is(second.abandon(A), 1);
  assert.is(second.abandon(A), 0);
  assert.is(second.abandon(0), 0); // nobody has a role
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
    peekMany: () => second.peekMany(2),
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

test("several elements in place: fewer are committed, and consumed", () => {
  const queue = SpscQueue.create({ capacity: 4 });
  const { buffer } = queue;
  const ints = (pieces?: readonly Uint8Array[]) =>
    pieces?.map(({ buffer, byteOffset, length }) =>
      new Int32Array(buffer, byteOffset, length / 4)
    );
  const filled = (n: number, from: number) => {
    for (const piece of ints(queue.reserveMany(n))!) {
      for (let i = 0; i < piece.length; i++) piece[i] = from++;
    }
  };
  filled(3, 1);
  refuses(buffer, () => queue.tryPushInt(9), TypeError, "reserved already");
  refuses(buffer, () => queue.reserveMany(1), TypeError, "reserved already");
  refuses(buffer, () => queue.commitMany(4), RangeError, "received 4");
  queue.commitMany(2);
  refuses(buffer, () => queue.commitMany(1), TypeError, "No slot");
  filled(9, 3); // two of them fit
  assert.is(queue.size, 2);
  queue.commit(); // the first one of these
  assert.equal(ints(queue.peekMany(9))!.map((piece) => [...piece]), [
    [1, 2, 3],
    [],
  ]);
  refuses(buffer, () => queue.consumeMany(4), RangeError, "received 4");
  queue.consumeMany(2);
  refuses(buffer, () => queue.consumeMany(1), TypeError, "No element");
  filled(3, 4);
  queue.commitMany(3);
  assert.is(queue.reserveMany(1), undefined);
  assert.equal(ints(queue.peekMany(4))!.map((piece) => [...piece]), [
    [3, 4],
    [5, 6],
  ]);
  queue.consumeMany(0);
  refuses(buffer, () => queue.consumeMany(1), TypeError, "No element");
  assert.is(queue.size, 4);
  assert.is(queue.tryPopInt(), 3);
  filled(1, 7);
  queue.commitMany(0);
  assert.is(queue.size, 3);
  for (const n of [0, -1, 1.5, NaN, 2 ** 31]) {
    const text = `received ${n}`;
    refuses(buffer, () => queue.reserveMany(n), RangeError, text);
    refuses(buffer, () => queue.peekMany(n), RangeError, text);
  }
  filled(1, 7);
  queue.close();
  assert.throws(
    () => queue.commitMany(1),
    (e: Error) => e.name === "ClosedError",
  );
  const over = () => queue.reserveMany(1);
  assert.throws(over, (e: Error) => e.name === "ClosedError");
  queue.peekMany(3);
  queue.consumeMany(3);
  const end = () => queue.peekMany(1);
  assert.throws(end, (e: Error) => e.name === "ClosedError");
});

declareQueueCases(test, SpscQueue, SPSC);
