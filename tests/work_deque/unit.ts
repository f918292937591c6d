// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { WorkDeque } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import {
  asAgent,
  NEAR_WRAP,
  preemptedAnywhere,
  refuses,
  wordsOf,
} from "../_run/model.ts";

const { bottom: BOTTOM, owner: OWNER, top: TOP } = LAYOUT.work_deque;

/** An empty deque at position `start`, as its owner and a thief see it. */
function pair(capacity: number, start = 0): [own: WorkDeque, their: WorkDeque] {
  const made = WorkDeque.create({ capacity });
  wordsOf(made).fill(start, BOTTOM, BOTTOM + 1).fill(start, TOP, TOP + 1);
  return [new WorkDeque(made.buffer), new WorkDeque(made.buffer)];
}

const test = suite("WorkDeque");

test("push(), pop() and steal() obey the model, wherever positions wrap", () => {
  const op = fc.constantFrom("push", "push", "push", "pop", "steal", "adopt");
  const start = fc.tuple(fc.constantFrom(0, ...NEAR_WRAP), fc.nat({ max: 9 }))
    .map(([wrap, before]) => wrap - before | 0);
  const capacity = fc.constantFrom(1, 2, 3, 4, 8);
  const calls = fc.array(op, { maxLength: 80 });
  fc.assert(fc.property(capacity, start, calls, (asked, start, calls) => {
    let [own, their] = pair(asked, start);
    const { capacity } = own;
    const items: number[] = []; // the model
    let next = -5;
    for (const op of calls) {
      if (op === "push") {
        const room = items.length < capacity;
        assert.is(own.push(next), room);
        if (room) items.push(next++);
      } else if (op === "pop") assert.is(own.pop(), items.pop());
      else if (op === "steal") assert.is(their.steal(), items.shift());
      else {
        [own, their] = [their, own];
        own.adopt();
      }
      assert.is(own.size, items.length);
      assert.is(their.size, items.length);
    }
  }));
});

test("a second owner is refused, until the first left and it adopts", () => {
  const [A, B] = [1001, 1002];
  const { buffer } = WorkDeque.create({ capacity: 4 });
  const [first, second] = [A, B].map((id) =>
    asAgent(id, () => new WorkDeque(buffer))
  ) as [WorkDeque, WorkDeque];
  assert.is(second.abandon(0), 0); // it has no owner yet
  assert.ok(first.push(7));
  const acts = [
    () => second.push(8),
    () => second.pop(),
    () => second.adopt(),
  ];
  for (const act of acts) refuses(buffer, act, TypeError, `agent ${A}`);
  assert.is(second.abandon(B), 0);
  assert.is(second.abandon(A), 1);
  assert.is(second.abandon(A), 0);
  for (const act of acts.slice(0, 2)) {
    refuses(buffer, act, TypeError, "call adopt() first");
  }
  second.adopt();
  assert.is(wordsOf(second)[OWNER], B);
  assert.is(second.pop(), 7);
  assert.is(second.abandon(B), 1); // it gives the deque up
  refuses(buffer, () => second.push(8), TypeError, "call adopt() first");
  second.adopt(); // and takes it again
  assert.ok(second.push(8));
  for (const wrong of [-1, 2 ** 28, 0.5]) {
    refuses(buffer, () => second.abandon(wrong), RangeError, `${wrong}`);
  }
});

test("create() rounds the capacity up, and refuses a wrong one", () => {
  for (let n = 1; n < 70; n++) {
    const { capacity } = WorkDeque.create({ capacity: n });
    assert.ok(capacity >= n && capacity < 2 * n);
    assert.is(capacity & (capacity - 1), 0);
  }
  const memory = new SharedArrayBuffer(4096);
  for (const capacity of [0, -1, 1.5, NaN, Infinity, 2 ** 28 + 1]) {
    const init = () => WorkDeque.init(memory, 0, { capacity });
    refuses(memory, init, RangeError, `received ${capacity}`);
  }
});

test("an item outside 32 bits is refused", () => {
  const [own] = pair(4);
  for (const item of [2 ** 31, -(2 ** 31) - 1, 1.5, NaN, Infinity]) {
    const push = () => own.push(item);
    refuses(own.buffer, push, RangeError, `received ${item}`);
  }
  for (const item of [-(2 ** 31), 2 ** 31 - 1, 0]) {
    assert.ok(own.push(item));
    assert.is(own.pop(), item);
  }
});

test("two operations may meet at any step, and take an item once", () => {
  const take = (item: number | undefined) => item === undefined ? [] : [item];
  const owns: Record<string, (own: WorkDeque) => number[]> = {
    push: (own) => (own.push(100), []),
    pop: (own) => take(own.pop()),
    "pop two": (own) => [...take(own.pop()), ...take(own.pop())],
    "pop, push": (own) => {
      const items = take(own.pop());
      own.push(100);
      return items;
    },
    steal: (own) => take(own.steal()),
  };
  const steals: Record<string, (their: WorkDeque) => number[]> = {
    steal: (their) => take(their.steal()),
    "steal two": (their) => [...take(their.steal()), ...take(their.steal())],
  };
  for (const [one, run] of Object.entries(owns)) {
    for (const [two, meet] of Object.entries(steals)) {
      for (const swapped of [false, true]) {
        for (const filled of [0, 1, 2, 3]) {
          preemptedAnywhere(
            () => {
              const [own, their] = pair(4, NEAR_WRAP[0]! - 1);
              for (let i = 0; i < filled; i++) own.push(i);
              return { own, their, mine: [] as number[], got: [] as number[] };
            },
            (it) => {
              if (swapped) it.got = meet(it.their);
              else it.mine = run(it.own);
            },
            (it) => {
              if (swapped) it.mine = run(it.own);
              else it.got = meet(it.their);
            },
            ({ own, mine, got }, at) => {
              const rest: number[] = [];
              for (let i; (i = own.pop()) !== undefined;) rest.push(i);
              const all = [...mine, ...got, ...rest].sort((a, b) => a - b);
              const expected = Array.from({ length: filled }, (_, i) => i);
              if (one.includes("push")) expected.push(100);
              assert.equal(all, expected, `${one}, ${two} at ${at}`);
              assert.equal(got, got.toSorted((a, b) => a - b));
            },
          );
        }
      }
    }
  }
});

test("a deque whose owner died anywhere is adopted, short of one item", () => {
  for (const filled of [0, 1, 2]) {
    for (let at = 0; at < 5; at++) {
      const [own, their] = pair(2, NEAR_WRAP[1]!);
      for (let i = 0; i < filled; i++) own.push(i);
      const died = diesAt(at, () => own.pop());
      their.adopt();
      const left = their.size;
      assert.ok(left >= filled - 1, `${left} of ${filled}`);
      if (died && at === 0) assert.is(left, filled);
      for (let i = left; i < 2; i++) assert.ok(their.push(7));
      assert.is(their.push(8), false);
      for (let i = 0; i < 2; i++) {
        assert.is(own.steal(), i < left ? i : 7, `at ${at} of ${filled}`);
      }
      assert.is(own.steal(), undefined);
    }
  }
});

/** Runs `op` and ends it before its atomic step number `at`. */
function diesAt(at: number, op: () => unknown): boolean {
  const death = new Error("terminated");
  const atomics = Atomics as unknown as Record<string, (...a: never[]) => void>;
  const names = ["load", "compareExchange", "store"];
  const originals = names.map((name) => atomics[name]!);
  let step = 0;
  names.forEach((name, i) => {
    atomics[name] = (...args) => {
      if (step++ >= at) throw death;
      return originals[i]!.apply(Atomics, args);
    };
  });
  try {
    op();
    return false;
  } catch (error) {
    if (error !== death) throw error;
    return true;
  } finally {
    names.forEach((name, i) => atomics[name] = originals[i]!);
  }
}
