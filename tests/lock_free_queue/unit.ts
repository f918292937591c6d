// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { ClosedError, LockFreeQueue } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  NEAR_WRAP,
  preemptedAnywhere,
  refuses,
  wordsOf,
} from "../_run/model.ts";
import { declareEpochCase, declareQueueCases } from "../_queue/cases.ts";
import { LOCK_FREE, obeysTheModel } from "../_queue/model.ts";

/** An empty queue of ints whose next ticket is `start`, modulo 2^32. */
function startAt(capacity: number, start: number): LockFreeQueue {
  const { buffer } = LOCK_FREE.startAt(capacity, 4, start);
  return new LockFreeQueue(buffer);
}

const test = suite("LockFreeQueue");

test("every operation obeys the model, wherever the tickets wrap", () => {
  obeysTheModel(LOCK_FREE);
});

declareQueueCases(test, LockFreeQueue, LOCK_FREE);

test("`agents` is refused where the capacity is for fewer", () => {
  const memory = new SharedArrayBuffer(8192);
  for (const [capacity, most] of [[1, 8], [8, 8], [9, 16], [64, 64]] as const) {
    const make = (agents: number) =>
      LockFreeQueue.init(memory, 0, { capacity, agents });
    assert.is(make(most).agents, most);
    for (const agents of [0, -1, 1.5, NaN, most + 1]) {
      const text = `received ${agents}`;
      refuses(memory, () => make(agents), RangeError, text);
    }
  }
});

test("the tickets that agents note keep up, wherever they wrap", () => {
  const { tail, head, free_tail, free_head } = LAYOUT.lock_free_queue;
  const spares = 15; // the slots of all entries but one
  for (const start of NEAR_WRAP.map((wrap) => wrap - 20)) {
    const queue = startAt(4, start >>> 0);
    const words = wordsOf(queue);
    for (let i = 1; i <= 50; i++) {
      queue.pushInt(i);
      assert.is(queue.popInt(), i);
      const noted = [words[tail], words[head], words[free_head]];
      for (const ticket of [...noted, words[free_tail]! - spares]) {
        const late = start + i - ticket! | 0;
        assert.ok(late >= 0 && late <= 2, `${late} behind at ${i}`);
      }
    }
  }
});

test("a slot not committed yet holds back nobody", () => {
  const mine = LockFreeQueue.create({ capacity: 2 });
  const theirs = new LockFreeQueue(mine.buffer);
  mine.reserve()![0] = 1;
  theirs.pushInt(2);
  theirs.pushInt(3);
  assert.is(theirs.tryPushInt(4), false);
  assert.is(theirs.reserve(), undefined);
  mine.commit(); // room or not
  assert.is(mine.size, 3);
  assert.is(theirs.tryPushInt(4), false);
  assert.equal([0, 0, 0].map(() => theirs.tryPopInt()), [2, 3, 1]);
  assert.is(theirs.tryPopInt(), undefined);
});

test("an element peeked at holds back nobody", () => {
  const mine = LockFreeQueue.create({ capacity: 2 });
  const theirs = new LockFreeQueue(mine.buffer);
  mine.pushInt(1);
  mine.pushInt(2);
  assert.ok(mine.peek());
  assert.is(theirs.tryPushInt(3), true);
  assert.is(theirs.tryPushInt(4), false);
  assert.equal([0, 0].map(() => theirs.popInt()), [2, 3]);
  mine.consume();
  assert.is(mine.repair(), 0);
});

test("commit() after close() throws, and the slot is free again", () => {
  const queue = LockFreeQueue.create({ capacity: 2 });
  queue.reserve();
  queue.close();
  assert.throws(() => queue.commit(), (e: unknown) => e instanceof ClosedError);
  assert.throws(() => queue.popInt(), (e: unknown) => e instanceof ClosedError);
  assert.is(queue.repair(), 0);
});

test("all elements but the last are spared when an agent dies anywhere", () => {
  const ops: Record<string, (queue: LockFreeQueue) => unknown> = {
    "push": (queue) => queue.tryPushInt(100),
    "push two": (queue) => queue.tryPushMany(Int32Array.of(100, 101), 2),
    "reserve": (queue) => {
      const place = queue.reserve();
      if (place === undefined) return;
      place[0] = 100;
      queue.commit();
    },
    "pop": (queue) => queue.tryPopInt(),
    "pop two": (queue) => queue.tryPopMany(new Int32Array(2), 2),
    "peek": (queue) => (queue.peek() && queue.consume()),
    "close": (queue) => queue.close(),
  };
  for (const capacity of [1, 2, 16]) {
    for (const start of [0, ...NEAR_WRAP]) {
      for (let filled = 0; filled <= Math.min(capacity, 3); filled++) {
        for (const [name, op] of Object.entries(ops)) {
          for (let at = 0;; at++) {
            const queue = startAt(capacity, start);
            for (let i = 0; i < filled; i++) queue.pushInt(i);
            const path = `${name} dies at ${at}, ${filled}/${capacity}`;
            if (!diesAt(at, () => op(queue))) break;
            survives(new LockFreeQueue(queue.buffer), filled, path);
          }
        }
      }
    }
  }
});

/** Runs `op` and ends it before its atomic step number `at`; false if never. */
function diesAt(at: number, op: () => unknown): boolean {
  const death = new Error("terminated");
  const die = () => {
    throw death;
  };
  const atomics = Atomics as unknown as Record<string, (...a: never[]) => void>;
  const names = ["load", "compareExchange", "add", "notify"];
  const originals = names.map((name) => atomics[name]!);
  let step = 0;
  names.forEach((name, i) => {
    atomics[name] = (...args) =>
      step++ >= at ? die() : originals[i]!.apply(Atomics, args);
  });
  try {
    op();
    return false;
  } catch (error) {
    if (error === death) return true;
    if (error instanceof ClosedError) return false;
    throw error;
  } finally {
    names.forEach((name, i) => atomics[name] = originals[i]!);
  }
}

/** The elements are in order, and the queue still holds as many as before. */
function survives(queue: LockFreeQueue, filled: number, path: string) {
  const { capacity, closed } = queue;
  const seen: number[] = [];
  const drain = () => {
    try {
      for (let i; (i = queue.tryPopInt()) !== undefined;) seen.push(i);
    } catch (error) {
      assert.ok(closed && error instanceof ClosedError, path);
    }
  };
  drain();
  const sorted = seen.toSorted((a, b) => a - b);
  assert.equal(seen, sorted, path);
  // The dead agent may have taken some elements from the front.
  const old = seen.filter((i) => i < 100);
  const first = old[0] ?? filled;
  assert.ok(first <= 2, path);
  assert.equal(old, [0, 1, 2].slice(first, filled), path);
  assert.is(queue.size, 0, path);
  if (!closed) {
    for (let lap = 0; lap < 3; lap++) {
      for (let i = 0; i < capacity; i++) assert.ok(queue.tryPushInt(i), path);
      assert.is(queue.tryPushInt(9), false, path);
      for (let i = 0; i < capacity; i++) assert.is(queue.tryPopInt(), i, path);
    }
  }
  const lost = queue.repair();
  assert.ok(lost === 0 || lost === 1, `${path}: ${lost}`);
  assert.is(queue.repair(), 0, path);
}

test("repair() gets all lost slots back, and keeps what is in the queue", () => {
  const counts = fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 8 }), fc.nat(40));
  fc.assert(fc.property(counts, ([lost, filled, turned]) => {
    const queue = LockFreeQueue.create({ capacity: 8 });
    for (let i = 0; i < turned; i++) {
      queue.pushInt(i);
      queue.popInt();
    }
    for (let i = 0; i < lost; i++) new LockFreeQueue(queue.buffer).reserve();
    for (let i = 0; i < filled; i++) queue.pushInt(i);
    assert.is(queue.repair(), lost);
    assert.is(queue.size, filled);
    for (let i = filled; i < 8; i++) assert.ok(queue.tryPushInt(i));
    assert.is(queue.tryPushInt(9), false);
    for (let i = 0; i < 8; i++) assert.is(queue.tryPopInt(), i);
    const views = Array.from(
      { length: 15 },
      () => new LockFreeQueue(queue.buffer),
    );
    const places = views.map((view) => view.reserve()!.byteOffset);
    assert.is(new Set(places).size, 15); // every slot, each once
    assert.is(new LockFreeQueue(queue.buffer).reserve(), undefined);
  }));
});

test("repair() wakes a push that found every slot lost", async () => {
  const queue = LockFreeQueue.create({ capacity: 1 });
  for (let i = 0; i < 15; i++) new LockFreeQueue(queue.buffer).reserve();
  assert.is(queue.tryPushInt(1), false);
  const push = queue.pushIntAsync(1);
  assert.is(queue.repair(), 15);
  await push;
});

declareEpochCase(test, LockFreeQueue, LAYOUT.lock_free_queue);

test("any two operations may meet at any step", () => {
  type Op = (queue: LockFreeQueue) => number[];
  const closing = (op: Op): Op => (queue) => {
    try {
      return op(queue);
    } catch (error) {
      if (error instanceof ClosedError) return [];
      throw error;
    }
  };
  const ops: Record<string, Op> = {
    "push 100": closing((queue) => queue.tryPushInt(100) ? [100] : []),
    "push 200": closing((queue) => {
      const src = Int32Array.of(200, 201, 202);
      return [...src.subarray(0, queue.tryPushMany(src, 3))];
    }),
    "pop one": closing((queue) => {
      const int = queue.tryPopInt();
      return int === undefined ? [] : [int];
    }),
    "pop many": closing((queue) => {
      const dst = new Int32Array(3);
      return [...dst.subarray(0, queue.tryPopMany(dst, 3))];
    }),
    "close": (queue) => (queue.close(), []),
  };
  for (const capacity of [1, 2, 4]) {
    for (let filled = 0; filled <= capacity; filled++) {
      for (const one of Object.keys(ops)) {
        for (const two of Object.keys(ops)) {
          preemptedAnywhere(
            () => {
              const queue = startAt(capacity, 0x7fff_fffd);
              for (let i = 0; i < filled; i++) queue.pushInt(i);
              return { queue, first: [] as number[], second: [] as number[] };
            },
            (it) => it.first = ops[one]!(it.queue),
            (it) => it.second = ops[two]!(new LockFreeQueue(it.queue.buffer)),
            ({ queue, first, second }, at) => {
              const path = `${one}, ${two} at ${at}, ${filled}/${capacity}`;
              const rest = ops["pop many"]!(queue);
              rest.push(...ops["pop many"]!(queue));
              const gone = [first, second, rest];
              const pushed = [one, two].flatMap((name, i) =>
                name.startsWith("push") ? gone[i]! : []
              );
              const popped = [one, two, "pop"].flatMap((name, i) =>
                name.startsWith("pop") ? gone[i]! : []
              );
              const there = Array.from({ length: filled }, (_, i) => i);
              const sorted = (ints: number[]) => ints.toSorted((a, b) => a - b);
              assert.equal(sorted(popped), sorted([...there, ...pushed]), path);
              for (const part of gone) {
                const old = part.filter((i) => i < 100);
                assert.equal(old, sorted(old), path);
              }
              assert.is(queue.size, 0, path);
            },
          );
        }
      }
    }
  }
});
