/**
 * Tests the promises of both bounded queues beyond single calls: errors, waits,
 * closing, and operations that meet.
 *
 * @module
 */

import * as assert from "uvu/assert";
import { ClosedError, type Queue, type QueueConfig } from "../../mod.ts";
import type { Test } from "../_run/harness.ts";
import {
  endsWithin,
  NEAR_WRAP,
  nowOf,
  passed,
  preemptedAnywhere,
  refuses,
  rejects,
  turns,
  wordsOf,
} from "../_run/model.ts";
import { element, MAKERS, type QueueKind } from "./model.ts";

/** A queue's class. */
interface QueueClass {
  create(config: QueueConfig): Queue;
  init(memory: SharedArrayBuffer, at: number, config: QueueConfig): unknown;
  byteLength(config: QueueConfig): number;
}

/** Declares the tests that both queues pass. */
export function declareQueueCases(
  test: Test,
  make: QueueClass,
  { again, short = false }: QueueKind,
): void {
  test("create() rounds the capacity up to a power of two", () => {
    for (let n = 1; n <= 1025; n++) {
      const { capacity } = make.create({ capacity: n });
      assert.ok(capacity >= n && capacity < 2 * n, `${n} -> ${capacity}`);
      assert.is(capacity & (capacity - 1), 0);
    }
    for (let bits = 11; bits <= 26; bits++) {
      const bytes = (capacity: number) => make.byteLength({ capacity });
      assert.is(bytes(2 ** bits - 1), bytes(2 ** bits));
      assert.ok(bytes(2 ** bits + 1) > bytes(2 ** bits));
      assert.is(bytes(2 ** bits) % 4, 0);
    }
  });

  test("a configuration out of range is refused", () => {
    const memory = new SharedArrayBuffer(8192);
    const refused = (config: QueueConfig, value: number) => {
      const text = `received ${value}`;
      refuses(memory, () => make.init(memory, 0, config), RangeError, text);
      refuses(memory, () => make.byteLength(config), RangeError, text);
    };
    for (const capacity of [0, -1, 1.5, NaN, Infinity, 2 ** 28 + 1]) {
      refused({ capacity }, capacity);
    }
    refused({ capacity: 2 ** 24 + 1, elementSize: 64 }, 2 ** 24 + 1);
    const sizes = short ? [1.5, 3] : [1, 2];
    for (const size of [0, -4, ...sizes, 6, 4.5, NaN, 2 ** 30 + 4, 2 ** 31]) {
      refused({ capacity: 1, elementSize: size }, size);
    }
    assert.ok(make.byteLength({ capacity: 1, elementSize: 2 ** 30 }) > 2 ** 30);
    assert.ok(make.byteLength({ capacity: 2 ** 28 }) > 2 ** 30);
  });

  test("wrong elements, counts and times change nothing", async () => {
    const queue = make.create({ capacity: 4, elementSize: 8 });
    const { buffer } = queue;
    const wrong = new Uint8Array(12);
    const short = new Uint8Array(7);
    const dst = new Uint8Array(16);
    for (const src of [wrong, short]) {
      const bytes = `received ${src.length}`;
      refuses(buffer, () => queue.tryPush(src), RangeError, bytes);
      refuses(buffer, () => queue.push(src), RangeError, bytes);
      await rejects(buffer, queue.pushAsync(src), RangeError, bytes);
    }
    refuses(buffer, () => queue.tryPopInto(short), RangeError, "7 bytes");
    refuses(buffer, () => queue.popInto(short), RangeError, "7 bytes");
    await rejects(buffer, queue.popIntoAsync(short), RangeError, "7 bytes");
    for (const n of [-1, 1.5, NaN, Infinity, 2 ** 31]) {
      const count = `received ${n}`;
      refuses(buffer, () => queue.tryPushMany(dst, n), RangeError, count);
      refuses(buffer, () => queue.tryPopMany(dst, n), RangeError, count);
    }
    refuses(buffer, () => queue.tryPushMany(dst, 3), RangeError, "3 elements");
    refuses(buffer, () => queue.tryPopMany(dst, 3), RangeError, "16 bytes");
    const ints = [
      () => queue.tryPushInt(1),
      () => queue.tryPopInt(),
      () => queue.pushInt(1),
      () => queue.popInt(),
    ];
    for (const call of ints) refuses(buffer, call, TypeError, "8 bytes");
    await rejects(buffer, queue.pushIntAsync(1), TypeError, "8 bytes");
    await rejects(buffer, queue.popIntAsync(), TypeError, "8 bytes");
    refuses(buffer, () => queue.commit(), TypeError, "reserved");
    refuses(buffer, () => queue.consume(), TypeError, "peeked");
    for (const timeout of [NaN, -1, -Infinity]) {
      const text = `received ${timeout}`;
      const src = new Uint8Array(8);
      refuses(buffer, () => queue.tryPush(src, timeout), RangeError, text);
      refuses(buffer, () => queue.tryPop(timeout), RangeError, text);
      refuses(buffer, () => queue.tryPopInto(src, timeout), RangeError, text);
      const pop = queue.tryPopAsync({ timeout });
      await rejects(buffer, pop, RangeError, text);
    }
    queue.reserve();
    refuses(buffer, () => queue.reserve(), TypeError, "reserved already");
  });

  test("a number outside 32 bits is refused", async () => {
    const queue = make.create({ capacity: 4 });
    const { buffer } = queue;
    for (const value of [2 ** 31, -(2 ** 31) - 1, 1.5, NaN, Infinity]) {
      const text = `received ${value}`;
      refuses(buffer, () => queue.tryPushInt(value), RangeError, text);
      refuses(buffer, () => queue.pushInt(value), RangeError, text);
      await rejects(buffer, queue.pushIntAsync(value), RangeError, text);
    }
    for (const value of [-(2 ** 31), 2 ** 31 - 1, 0, -1]) {
      queue.pushInt(value);
      assert.is(queue.popInt(), value);
    }
  });

  test("reserve() and peek() of a closed queue throw at once", () => {
    const queue = make.create({ capacity: 4 });
    queue.tryPushInt(1);
    queue.close();
    refuses(queue.buffer, () => queue.reserve(), ClosedError, "closed");
    assert.ok(queue.peek());
    queue.consume();
    refuses(queue.buffer, () => queue.peek(), ClosedError, "closed");
    refuses(queue.buffer, () => queue.consume(), TypeError, "peeked");
  });

  test("pops and pushes around peek() and reserve() tear nothing", () => {
    const queue = make.create({ capacity: 2 });
    const consumer = again(queue) as Queue;
    queue.tryPushInt(1);
    consumer.peek();
    attempt(() => consumer.tryPopInt());
    attempt(() => consumer.consume());
    assert.is(queue.size, 0);
    queue.reserve();
    attempt(() => queue.tryPushInt(2));
    attempt(() => queue.commit());
    attempt(() => queue.commit());
    assert.ok(queue.size <= 2, `${queue.size} elements in 2 slots`);
    const { size } = queue;
    const popped: number[] = [];
    for (let n = 0; n < 5; n++) {
      const int = consumer.tryPopInt();
      if (int !== undefined) popped.push(int);
    }
    assert.is(popped.length, size);
    assert.is(consumer.size, 0);
    queue.tryPushInt(4);
    assert.is(consumer.tryPopInt(), 4);
  });

  test("an array that grows between two calls is seen anew", () => {
    const queue = make.create({ capacity: 8 });
    const buffer = new ArrayBuffer(4, { maxByteLength: 64 });
    const src = new Uint8Array(buffer);
    src.fill(1);
    queue.tryPush(src);
    buffer.resize(16);
    src.fill(2);
    assert.is(queue.tryPushMany(src, 4), 4);
    assert.is(queue.tryPopInt(), 0x01010101);
    for (let i = 0; i < 4; i++) assert.is(queue.tryPopInt(), 0x02020202);
  });

  test("tryPush() and tryPop() wait no longer than told", () => {
    const queue = make.create({ capacity: 1 });
    for (const timeout of [0, 1, 30]) {
      const begin = performance.now();
      assert.is(queue.tryPopInt(timeout), undefined);
      queue.pushInt(1);
      assert.is(queue.tryPushInt(2, timeout), false);
      assert.is(queue.tryPopInt(timeout), 1);
      const took = performance.now() - begin;
      assert.ok(took >= 2 * timeout - 2 && took < 10_000, `${took} ms`);
    }
  });

  test("async pushes and pops go in order, whoever is first", async () => {
    for (const capacity of [1, 2, 8]) {
      for (const popsFirst of [true, false]) {
        const queue = make.create({ capacity, elementSize: 12 });
        const count = 50;
        const pop = () =>
          Array.from({ length: count }, async () => {
            const dst = MAKERS["Uint8Array at 1"]!(12);
            await queue.popIntoAsync(dst);
            return new Uint8Array(dst.buffer, 1, 12).slice();
          });
        const pops = popsFirst ? pop() : [];
        const pushes = Array.from(
          { length: count },
          (_, i) => queue.pushAsync(element(i, 12)),
        );
        await turns();
        const all = Promise.all(popsFirst ? pops : pop());
        assert.ok(await endsWithin(900, all), "found by looks, not by wakes");
        const popped = await all;
        await Promise.all(pushes);
        popped.forEach((bytes, i) => assert.equal(bytes, element(i, 12)));
        assert.is(queue.size, 0);
      }
    }
  });

  test("an aborted push or pop leaves the queue as it was", async () => {
    const queue = make.create({ capacity: 1 });
    const aborted = AbortSignal.abort("never");
    const given = queue.popIntAsync({ signal: aborted });
    await rejectsWith("never", given);
    for (const sameTurn of [true, false]) {
      const abort = new AbortController();
      const { signal } = abort;
      const pop = queue.popIntAsync({ signal });
      const other = queue.popIntAsync();
      if (!sameTurn) await turns();
      queue.pushInt(7);
      abort.abort("stop");
      // The wait may be served or aborted; the element goes to one of the two
      // waiters.
      const first = await pop.catch((reason: unknown) => reason);
      if (first === 7) queue.pushInt(8);
      else assert.is(first, "stop");
      assert.is(await other, first === 7 ? 8 : 7);
      assert.is(queue.size, 0);

      queue.pushInt(1);
      const push = new AbortController();
      const full = queue.pushIntAsync(2, { signal: push.signal });
      const next = queue.pushIntAsync(3);
      if (!sameTurn) await turns();
      push.abort("stop");
      await rejectsWith("stop", full);
      assert.is(queue.popInt(), 1);
      await next;
      assert.is(queue.popInt(), 3);
    }
  });

  test("close() wakes every wait, at both ends", async () => {
    const full = make.create({ capacity: 1 });
    full.pushInt(1);
    const pushes = [2, 3].map((value) => full.pushIntAsync(value));
    const empty = make.create({ capacity: 1 });
    const pops = [1, 2, 3].map(() => empty.popIntAsync());
    assert.is(await nowOf(Promise.race([...pushes, ...pops])), "pending");
    full.close();
    full.close();
    empty.close();
    const settled = Promise.allSettled([...pushes, ...pops]);
    assert.ok(await endsWithin(700, settled), "found by a look, not by a wake");
    const ends = await settled;
    for (const end of ends) {
      assert.is(end.status, "rejected");
      if (end.status === "rejected") assert.instance(end.reason, ClosedError);
    }
    assert.is(await full.popIntAsync(), 1);
    await rejects(full.buffer, full.popIntAsync(), ClosedError);
    for (const call of [() => full.popInt(), () => full.pushInt(1)]) {
      assert.throws(call, (error: unknown) => error instanceof ClosedError);
    }
  });

  test("iteration takes one at a time, and ends when closed", async () => {
    const ints = make.create({ capacity: 4 });
    ints.pushInt(1);
    ints.pushInt(2);
    for await (const int of ints) {
      assert.is(int, 1);
      break;
    }
    assert.is(ints.size, 1);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const int of ints) seen.push(int as number);
    })();
    for (let i = 3; i < 20; i++) await ints.pushIntAsync(i);
    await passed(1);
    ints.close();
    await reading;
    assert.equal(seen, Array.from({ length: 18 }, (_, i) => i + 2));
    const bytes = make.create({ capacity: 4, elementSize: 8 });
    bytes.push(element(1, 8));
    bytes.close();
    for await (const value of bytes) assert.equal(value, element(1, 8));
  });

  test("a push and a pop may meet at any step", () => {
    const ops: Record<string, (queue: Queue, log: number[]) => void> = {
      push: (queue) => void queue.tryPushInt(100),
      "push many": (queue) => {
        queue.tryPushMany(Int32Array.of(200, 201, 202), 3);
      },
      pop: (queue, log) => log.push(queue.tryPopInt() ?? -1),
      "pop many": (queue, log) => {
        const dst = new Int32Array(3);
        log.push(...dst.subarray(0, queue.tryPopMany(dst, 3)));
      },
      close: (queue) => queue.close(),
    };
    for (const capacity of [1, 2, 4]) {
      for (let filled = 0; filled <= capacity; filled++) {
        for (const [one, run] of Object.entries(ops)) {
          for (const [two, meet] of Object.entries(ops)) {
            // One producer and one consumer, in any order.
            if (one.split(" ")[0] === two.split(" ")[0]) continue;
            preemptedAnywhere(
              () => {
                const queue = make.create({ capacity });
                for (let i = 0; i < filled; i++) queue.pushInt(i);
                return { queue, log: [] as number[] };
              },
              ({ queue, log }) => attempt(() => run(queue, log)),
              ({ queue, log }) => attempt(() => meet(again(queue), log)),
              ({ queue, log }, at) => {
                const path = `${one}, ${two} at ${at}, ${filled}/${capacity}`;
                const seen = log.filter((int) => int >= 0);
                attempt(() => {
                  for (let n = 9; n > 0; n--) {
                    const int = queue.tryPopInt();
                    if (int !== undefined) seen.push(int);
                  }
                });
                // First the elements that were there, then the pushed ones,
                // each once.
                const sorted = [...new Set(seen)].sort((a, b) => a - b);
                assert.equal(seen, sorted, path);
                assert.ok(seen.slice(0, filled).every((v, i) => v === i), path);
                assert.is(queue.size, 0, path);
              },
            );
          }
        }
      }
    }
  });
}

/** Runs an operation that may find the queue closed, or in use. */
function attempt(call: () => void): void {
  try {
    call();
  } catch (error) {
    if (error instanceof ClosedError || error instanceof TypeError) return;
    throw error;
  }
}

async function rejectsWith(reason: unknown, wait: Promise<unknown>) {
  const got = await wait.then(() => "no rejection", (error) => error);
  assert.is(got, reason);
}

/** Declares the test of a queue whose waits sleep on epochs. */
export function declareEpochCase(
  test: Test,
  make: QueueClass,
  { pop_epoch, pop_waiters, push_epoch, push_waiters }: Readonly<
    Record<`${"pop" | "push"}_${"epoch" | "waiters"}`, number>
  >,
): void {
  test("waits continue when their epoch wraps", async () => {
    for (const wrap of NEAR_WRAP) {
      const queue = make.create({ capacity: 1 });
      const words = wordsOf(queue);
      words[pop_epoch] = words[push_epoch] = wrap - 3;
      const pops = Array.from({ length: 8 }, () => queue.popIntAsync());
      for (let i = 0; i < 8; i++) await queue.pushIntAsync(i);
      assert.equal(await Promise.all(pops), [0, 1, 2, 3, 4, 5, 6, 7]);
      queue.pushInt(0);
      const pushes = Array.from({ length: 8 }, (_, i) => queue.pushIntAsync(i));
      for (let i = 0; i < 9; i++) await queue.popIntAsync();
      await Promise.all(pushes);
      assert.equal([words[pop_waiters], words[push_waiters]], [0, 0]);
      assert.ok(Math.abs((words[pop_epoch]! - wrap) | 0) > 3);
    }
  });
}
