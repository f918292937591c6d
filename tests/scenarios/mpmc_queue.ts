import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const { tail, head, length } = LAYOUT.mpmc_queue;
/** Read plainly before an exchange checks it. */
const HINTS = [tail, head].map((i) => [i * 4, i * 4 + 4] as const);

interface Model {
  readonly items: readonly number[];
  readonly closed: boolean;
}

const CLOSED = "closed";

/** Runs `operation`, and answers that the queue is closed where it throws. */
function orClosed<T>(weft: Weft, operation: () => T): T | typeof CLOSED {
  try {
    return operation();
  } catch (error) {
    if (error instanceof weft.mod.ClosedError) return CLOSED;
    throw error;
  }
}

/**
 * A queue whose tickets begin at `start`. Only reservations are kept in a
 * view.
 */
function queue(weft: Weft, capacity: number, start = 0, stateless = true) {
  const { MpmcQueue } = weft.mod;
  const push = (s: Model, ...items: number[]): Model => ({
    ...s,
    items: [...s.items, ...items],
  });
  const drop = (s: Model, n: number): Model => ({
    ...s,
    items: s.items.slice(n),
  });
  const room = (s: Model) => capacity - s.items.length;
  return race.spec({
    memory: () => {
      const { buffer } = MpmcQueue.create({ capacity });
      const words = new Int32Array(buffer);
      words[tail] = words[head] = start * 2;
      for (let i = 0; i < capacity; i++) {
        const ticket = start + i;
        words[length + ticket % capacity * 2] = ticket * 2;
      }
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      return new MpmcQueue(memory);
    },
    words: named(LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless,
    init: { items: [], closed: false } as Model,
    ops: {
      // "Full" and "empty" may also mean that another agent is just at it.
      tryPush: {
        run: (q, v: number) => orClosed(weft, () => q.tryPushInt(v)),
        model: (s: Model, v: number) =>
          s.closed
            ? [s, CLOSED]
            : room(s) === 0
            ? [s, false]
            : race.either([push(s, v), true], race.contended([s, false])),
        lockFree: true,
      },
      tryPop: {
        run: (q) => orClosed(weft, () => q.tryPopInt()),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(
              [drop(s, 1), s.items[0]],
              race.contended([s, undefined]),
            )
            : race.either(
              [s, s.closed ? CLOSED : undefined],
              race.contended([s, undefined]),
            ),
        lockFree: true,
      },
      push: {
        run: (q, v: number) => orClosed(weft, () => q.pushInt(v)),
        model: (s: Model, v: number) =>
          s.closed ? [s, CLOSED] : room(s) > 0 ? [push(s, v), true] : null,
      },
      pop: {
        run: (q) => orClosed(weft, () => q.popInt()),
        model: (s: Model) =>
          s.items.length > 0
            ? [drop(s, 1), s.items[0]]
            : s.closed
            ? [s, CLOSED]
            : null,
      },
      popFor: {
        run: (q) => q.popInt(5),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(
              [drop(s, 1), s.items[0]],
              race.timedOut([s, undefined]),
            )
            : race.timedOut([s, undefined]),
      },
      inPlace: {
        run: (q, v: number) =>
          orClosed(weft, () => {
            const at = q.reserve();
            if (at < 0) return false;
            new Int32Array(q.buffer, q.byteOffset + at, 1)[0] = v;
            q.commit();
            return true;
          }),
        model: (s: Model, v: number) =>
          s.closed
            ? [s, CLOSED]
            : room(s) === 0
            ? [s, false]
            : race.either([push(s, v), true], race.contended([s, false])),
      },
      takeInPlace: {
        run: (q) =>
          orClosed(weft, () => {
            const at = q.peek();
            if (at < 0) return undefined;
            const value = new Int32Array(q.buffer, q.byteOffset + at, 1)[0];
            q.consume();
            return value;
          }),
        model: (s: Model) =>
          s.items.length > 0
            ? race.either(
              [drop(s, 1), s.items[0]],
              race.contended([s, undefined]),
            )
            : [s, s.closed ? CLOSED : undefined],
      },
      close: {
        run: (q) => q.close(),
        model: (s: Model) => [{ ...s, closed: true }, undefined],
      },
    },
  });
}

/** Batches, by what they do in the end: they are not one step. */
function batches(weft: Weft) {
  const { MpmcQueue } = weft.mod;
  return race.spec({
    memory: () => MpmcQueue.create({ capacity: 2 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      return new MpmcQueue(memory);
    },
    words: named(LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless: true,
    ops: {
      push: {
        run: (q, items: number[]) =>
          q.tryPushMany(new Int32Array(items), items.length),
      },
      pop: {
        run: (q, n: number) => {
          const items = new Int32Array(n);
          return [...items.subarray(0, q.tryPopMany(items, n))];
        },
      },
    },
    final: (memory, results) => {
      const q = new MpmcQueue(memory);
      const left: number[] = [];
      for (let v; (v = q.tryPopInt()) !== undefined;) left.push(v);
      const pushed = (results[0] as number[])[0]!;
      const taken = results.slice(1).flat(2) as number[];
      const all = [...taken, ...left].sort((a, b) => a - b);
      const expected = [1, 2, 3].slice(0, pushed);
      if (`${all}` !== `${expected}`) return `found ${all}, not ${expected}`;
    },
  });
}

/** The race scenarios of `MpmcQueue`. */
export function mpmc_queue(weft: Weft): Scenario[] {
  const two = queue(weft, 2);
  const one = queue(weft, 1);
  const wrap = queue(weft, 2, 2 ** 31 - 2);
  const sign = queue(weft, 2, 2 ** 30 - 2);
  const from = (op: string, first: number, n: number) =>
    Array.from({ length: n }, (_, i) => [op, first + i] as const);
  const times = (op: string, n: number) =>
    Array.from({ length: n }, () => [op] as const);
  return [
    {
      name: "tryPush, tryPop",
      spec: two,
      agents: [from("tryPush", 1, 2), times("tryPop", 2)],
    },
    {
      name: "tryPush thrice, tryPop thrice",
      spec: two,
      agents: [from("tryPush", 1, 3), times("tryPop", 3)],
    },
    {
      name: "both do both",
      spec: two,
      agents: [
        [["tryPush", 1], ["tryPop"]],
        [["tryPush", 2], ["tryPop"]],
      ],
    },
    {
      name: "two producers, a consumer",
      spec: two,
      agents: [[["tryPush", 1]], [["tryPush", 2]], times("tryPop", 2)],
    },
    {
      name: "a producer, two consumers",
      spec: two,
      agents: [from("tryPush", 1, 2), [["tryPop"]], [["tryPop"]]],
    },
    {
      name: "one slot",
      spec: one,
      agents: [from("tryPush", 1, 2), times("tryPop", 2)],
    },
    {
      name: "over the wrap",
      spec: wrap,
      agents: [from("tryPush", 1, 4), times("tryPop", 3)],
    },
    {
      name: "over the sign",
      spec: sign,
      agents: [from("tryPush", 1, 4), times("tryPop", 3)],
    },
    {
      name: "in place",
      spec: queue(weft, 2, 0, false),
      agents: [from("inPlace", 1, 2), times("takeInPlace", 2)],
    },
    { name: "push, pop", spec: two, agents: [[["push", 1]], [["pop"]]] },
    {
      name: "push, pop, one slot",
      spec: one,
      agents: [from("push", 1, 2), times("pop", 2)],
    },
    {
      name: "two sleep, two are woken",
      spec: two,
      agents: [[["pop"]], [["pop"]], from("tryPush", 1, 2)],
      options: { states: 100_000 },
      sampled: true,
    },
    {
      // The element in front is published last: its wake must not be lost.
      name: "two producers, two sleepers",
      spec: two,
      agents: [[["pop"]], [["pop"]], [["tryPush", 1]], [["tryPush", 2]]],
      options: { states: 100_000, runs: 3000 },
      sampled: true,
    },
    {
      name: "pop times out at any time",
      spec: two,
      agents: [[["popFor"]], [["push", 1]]],
      options: { timeouts: true },
    },
    {
      name: "close wakes a consumer",
      spec: two,
      agents: [[["pop"]], [["close"]]],
    },
    {
      name: "close wakes a producer",
      spec: one,
      agents: [from("push", 1, 2), [["close"]]],
    },
    {
      name: "close, push and two consumers",
      spec: two,
      agents: [[["pop"]], [["pop"]], [["tryPush", 1], ["close"]]],
      options: { states: 60_000 },
      sampled: true,
    },
    {
      name: "batches",
      spec: batches(weft),
      agents: [[["push", [1, 2, 3]]], [["pop", 2]], [["pop", 2]]],
    },
    {
      name: "spurious wakes",
      spec: one,
      agents: [[["push", 1]], [["pop"]]],
      options: { spurious: true },
    },
  ];
}
