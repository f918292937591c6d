import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  CLOSED,
  enter,
  named,
  orClosed,
  type Scenario,
  TRIES_AGAIN,
  type Weft,
} from "../_run/scenario.ts";
import { closedScenarios } from "../_run/closed.ts";
import {
  append,
  type Contents,
  drop,
  modelsFor,
  operationsOf,
  popInPlace,
  pushInPlace,
} from "../_queue/contents.ts";
import { ASKS, roleScenarios } from "../_run/roles.ts";

const { tail, head, producer, consumer } = LAYOUT.spsc_queue;
/** Each side reads its own index plainly; the other sets flags beside it. */
const HINTS = [tail, head, producer, consumer]
  .map((i) => [i * 4, i * 4 + 4] as const);

const IN_PLACE = "where it finds no room in place, TypeScript looks whether " +
  "it is closed";

/** While the other side works, a batch takes only what it saw when it began. */
const fewer = (n: number, some: (n: number) => [Contents, unknown]) =>
  Array.from(
    { length: Math.max(n - 1, 0) },
    (_, i) => race.contended(some(i + 1)),
  );

/**
 * The view of an agent that has taken its role already, so that only
 * reservations are kept in the view: agent 0 produces, agent 1 consumes.
 */
function within(weft: Weft, memory: SharedArrayBuffer, agent: number) {
  enter(weft, agent);
  const q = new weft.mod.SpscQueue(memory);
  const none = new Int32Array();
  if (agent === 0) q.tryPushMany(none, 0);
  else if (agent === 1) q.tryPopMany(none, 0);
  return q;
}

/** The words of elements in place. */
const wordsIn = (pieces: readonly Uint8Array[]) =>
  pieces.map(({ buffer, byteOffset, length }) =>
    new Int32Array(buffer, byteOffset, length / 4)
  );

/** Agent 0 produces, agent 1 consumes; indices begin at `start` elements. */
function queue(weft: Weft, capacity: number, start = 0, stateless = true) {
  const { SpscQueue } = weft.mod;
  const models = modelsFor(capacity);
  const { room } = models;
  const operations = operationsOf(weft, models);
  return race.spec({
    memory: () => {
      const { buffer } = SpscQueue.create({ capacity });
      const words = new Int32Array(buffer);
      const { head_cache, tail_cache } = LAYOUT.spsc_queue;
      for (const index of [tail, head, head_cache, tail_cache]) {
        words[index] = start * 4;
      }
      return buffer;
    },
    agent: (memory: SharedArrayBuffer, id: number) => within(weft, memory, id),
    words: named(LAYOUT.spsc_queue),
    hints: HINTS,
    stateless,
    init: { items: [], closed: false } as Contents,
    ops: {
      ...operations,
      tryPush: { ...operations.tryPush, agents: [0] },
      tryPop: { ...operations.tryPop, agents: [1] },
      tryPushMany: {
        agents: [0],
        run: (q, items: number[]) =>
          orClosed(
            weft,
            () => q.tryPushMany(new Int32Array(items), items.length),
          ),
        model: (s: Contents, items: number[]) => {
          const n = Math.min(items.length, room(s));
          const some = (n: number): [Contents, unknown] => [
            append(s, ...items.slice(0, n)),
            n,
          ];
          return s.closed
            ? [s, CLOSED]
            : race.either(some(n), ...fewer(n, some));
        },
        lockFree: true,
      },
      tryPopMany: {
        agents: [1],
        run: (q, n: number) => {
          const items = new Int32Array(n);
          return orClosed(weft, () => {
            const count = q.tryPopMany(items, n);
            return [...items.subarray(0, count)];
          });
        },
        model: (s: Contents, n: number) =>
          s.items.length === 0 && s.closed ? [s, CLOSED] : race.either(
            [drop(s, n), s.items.slice(0, n)],
            ...fewer(
              Math.min(n, s.items.length),
              (n) => [drop(s, n), s.items.slice(0, n)],
            ),
          ),
        lockFree: true,
      },
      push: { ...operations.push, agents: [0] },
      pop: { ...operations.pop, agents: [1] },
      popFor: { ...operations.popFor, agents: [1] },
      inPlace: {
        agents: [0],
        run: (q, v: number) => pushInPlace(weft, q, v),
        model: models.tryPush,
      },
      takeInPlace: {
        agents: [1],
        run: (q) => popInPlace(weft, q),
        model: models.tryPop,
      },
      // Reserves room for all items, and commits the first `n`.
      manyInPlace: {
        agents: [0],
        run: (q, [items, n]: [number[], number]) =>
          orClosed(weft, () => {
            const pieces = q.reserveMany(items.length);
            if (pieces === undefined) return 0;
            let next = 0;
            for (const piece of wordsIn(pieces)) {
              for (let i = 0; i < piece.length; i++) piece[i] = items[next++]!;
            }
            q.commitMany(Math.min(n, next));
            return Math.min(n, next);
          }),
        model: (s: Contents, [items, n]: [number[], number]) => {
          const most = Math.min(items.length, room(s));
          const some = (seen: number): [Contents, unknown] => {
            const count = Math.min(seen, n);
            return [append(s, ...items.slice(0, count)), count];
          };
          return s.closed
            ? [s, CLOSED]
            : race.either(some(most), ...fewer(most, some));
        },
      },
      // Shows all that is there, up to `most`, and consumes the first `n`.
      takeManyInPlace: {
        agents: [1],
        run: (q, [most, n]: [number, number]) =>
          orClosed(weft, () => {
            const pieces = q.peekMany(most);
            if (pieces === undefined) return [];
            const seen = wordsIn(pieces).flatMap((piece) => [...piece]);
            q.consumeMany(Math.min(n, seen.length));
            return seen;
          }),
        model: (s: Contents, [most, n]: [number, number]) => {
          const some = (seen: number): [Contents, unknown] => [
            drop(s, Math.min(n, seen)),
            s.items.slice(0, seen),
          ];
          const count = Math.min(most, s.items.length);
          return s.items.length === 0 && s.closed
            ? [s, CLOSED]
            : race.either(some(count), ...fewer(count, some));
        },
      },
      isClosed: {
        run: (q) => q.closed,
        model: (s: Contents) => [s, s.closed],
      },
    },
  });
}

/** Elements of a byte, which are neighbours in a word. */
function bytes(weft: Weft) {
  const { SpscQueue } = weft.mod;
  return race.spec({
    memory: () => SpscQueue.create({ capacity: 2, elementSize: 1 }).buffer,
    agent: (memory, id) => within(weft, memory, id),
    words: named(LAYOUT.spsc_queue),
    hints: HINTS,
    stateless: true,
    init: [] as readonly number[],
    ops: {
      push: {
        agents: [0],
        run: (q, v: number) => q.tryPush(Uint8Array.of(v)),
        model: (s: readonly number[], v: number) =>
          s.length < 2 ? [[...s, v], true] : [s, false],
      },
      pop: {
        agents: [1],
        run: (q) => {
          const to = new Uint8Array(1);
          return q.tryPopInto(to) ? to[0] : undefined;
        },
        model: (s: readonly number[]) => [s.slice(1), s[0]],
      },
    },
  });
}

/** Whichever agent is terminated, published elements can be taken, in order. */
function survivors(weft: Weft) {
  const { SpscQueue } = weft.mod;
  return race.spec({
    memory: () => SpscQueue.create({ capacity: 2 }).buffer,
    agent: (memory, id) => within(weft, memory, id),
    words: named(LAYOUT.spsc_queue),
    hints: HINTS,
    stateless: true,
    ops: {
      tryPush: { agents: [0], run: (q, v: number) => q.tryPushInt(v) },
      tryPop: { agents: [1], run: (q) => q.tryPopInt() },
    },
    final: (memory) => {
      const own = weft.mod.agentId();
      const [to, from] = [0, 1].map((agent) => within(weft, memory, agent));
      weft.mod.setAgentId(own);
      const left: number[] = [];
      for (let v; (v = from!.tryPopInt()) !== undefined;) left.push(v);
      const ordered = left.every((v, i) => i === 0 || v === left[i - 1]! + 1);
      if (!ordered) return `left ${left}`;
      to!.tryPushInt(9);
      if (from!.tryPopInt() !== 9) return "the queue is of no more use";
    },
  });
}

/** Two producers, and two consumers, with two elements in the queue. */
function roles(weft: Weft): Scenario[] {
  const { SpscQueue } = weft.mod;
  return roleScenarios(weft, {
    memory: () => {
      const { buffer } = SpscQueue.create({ capacity: 4 });
      new Int32Array(buffer)[tail] = 2 << 2;
      return buffer;
    },
    view: (memory) => new SpscQueue(memory),
    row: LAYOUT.spsc_queue,
    hints: HINTS,
    acts: {
      push: (q) => q.tryPushInt(7) || undefined,
      pop: (q) => q.tryPopInt(),
    },
    wrong: (memory, count) => {
      const words = new Int32Array(memory);
      const at = `${words[head]! / 4}, ${words[tail]! / 4}`;
      const [pushed, popped] = [count("push"), count("pop")];
      if (words[tail] !== (2 + pushed) * 4 || words[head] !== popped * 4) {
        return `${pushed} pushed, ${popped} popped: ${at}`;
      }
    },
  });
}

/** A queue with an element that is closed, drained and freed. */
const closed = (weft: Weft): Scenario[] =>
  closedScenarios(weft, {
    memory: () => {
      const q = weft.mod.SpscQueue.create({ capacity: 1 });
      q.tryPushInt(1);
      return q.buffer;
    },
    view: ({ SpscQueue }, memory) => new SpscQueue(memory),
    row: LAYOUT.spsc_queue,
    hints: HINTS,
    pop: (q) => q.popInt(),
    popAsync: (q, signal) => q.popIntAsync({ signal }),
  });

/** The race scenarios of `SpscQueue`. */
export function scenarios(weft: Weft): Scenario[] {
  const two = queue(weft, 2);
  const one = queue(weft, 1);
  const many = (op: string, n: number) =>
    Array.from({ length: n }, (_, i) => [op, i + 1] as const);
  const times = (op: string, n: number) =>
    Array.from({ length: n }, () => [op] as const);
  // Two elements before the index wraps, and full before that.
  const wrap = queue(weft, 2, 2 ** 30 - 2);
  const sign = queue(weft, 2, 2 ** 29 - 2);
  return [
    ...closed(weft),
    {
      name: "tryPush, tryPop",
      differs: ASKS,
      spec: two,
      agents: [many("tryPush", 3), times("tryPop", 3)],
      options: { progress: "lock-free" },
    },
    {
      name: "tryPush, tryPop, one slot",
      differs: ASKS,
      spec: one,
      agents: [many("tryPush", 3), times("tryPop", 3)],
    },
    {
      name: "batches",
      differs: ASKS,
      spec: two,
      agents: [
        [["tryPushMany", [1, 2, 3]], ["tryPushMany", [4, 5]]],
        [["tryPopMany", 3], ["tryPopMany", 1]],
      ],
    },
    {
      name: "a batch over the end",
      differs: ASKS,
      spec: two,
      agents: [
        [["tryPush", 1], ["tryPushMany", [2, 3]], ["tryPushMany", [4, 5]]],
        [["tryPop"], ["tryPopMany", 2]],
      ],
    },
    {
      name: "the size, while elements go and come",
      differs: ASKS,
      spec: two,
      agents: [many("tryPush", 2), times("tryPop", 1), [["size"]]],
    },
    {
      name: "elements of a byte",
      differs: ASKS,
      spec: bytes(weft),
      agents: [many("push", 3), times("pop", 3)],
    },
    {
      name: "in place",
      differs: IN_PLACE,
      spec: queue(weft, 2, 0, false),
      agents: [many("inPlace", 3), times("takeInPlace", 3)],
    },
    {
      name: "several in place, over the end",
      differs: IN_PLACE,
      spec: queue(weft, 2, 0, false),
      agents: [
        [["inPlace", 1], ["manyInPlace", [[2, 3], 2]], ["manyInPlace", [
          [4],
          1,
        ]]],
        [["takeInPlace"], ["takeManyInPlace", [2, 1]], ["takeInPlace"]],
      ],
    },
    {
      name: "fewer than are reserved",
      differs: IN_PLACE,
      spec: queue(weft, 2, 0, false),
      agents: [
        [["manyInPlace", [[1, 2], 1]], ["manyInPlace", [[3, 4], 2]]],
        [["takeManyInPlace", [2, 1]], ["takeManyInPlace", [2, 2]]],
      ],
    },
    {
      name: "closed between reserving several and committing them",
      differs: IN_PLACE,
      spec: queue(weft, 2, 0, false),
      agents: [
        [["manyInPlace", [[1, 2], 2]]],
        [["takeManyInPlace", [2, 2]], ["close"], ["takeManyInPlace", [2, 2]]],
      ],
    },
    {
      name: "push, pop",
      spec: two,
      agents: [many("push", 4), times("pop", 4)],
    },
    {
      name: "push, pop, one slot",
      spec: one,
      agents: [many("push", 3), times("pop", 3)],
    },
    {
      name: "push, pop over the wrap",
      spec: wrap,
      agents: [many("push", 4), times("pop", 4)],
    },
    {
      name: "push, pop over the sign",
      spec: sign,
      agents: [many("push", 4), times("pop", 4)],
    },
    {
      name: "a producer sleeps where the sign changes",
      spec: queue(weft, 1, 2 ** 29 - 1),
      agents: [many("push", 2), times("pop", 1)],
    },
    {
      name: "pop times out at any time",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["push", 1]], [["popFor"], ["popFor"]]],
      options: { timeouts: true },
    },
    {
      name: "the producer closes",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["push", 1], ["close"]], times("pop", 2)],
    },
    {
      name: "closed when full",
      differs: TRIES_AGAIN,
      spec: one,
      agents: [many("push", 2), [["close"]]],
    },
    {
      name: "the consumer closes",
      spec: one,
      agents: [many("push", 2), [["pop"], ["close"]]],
    },
    {
      name: "closed while a push wakes the consumer",
      spec: two,
      agents: [[["tryPush", 1]], [["pop"]], [["close"], ["isClosed"]]],
    },
    {
      name: "somebody else closes",
      spec: one,
      agents: [many("push", 1), times("pop", 2), [["close"]]],
    },
    {
      name: "somebody else closes, one slot",
      spec: one,
      agents: [many("push", 2), times("pop", 2), [["close"]]],
    },
    {
      name: "spurious wakes",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [many("push", 1), times("pop", 1)],
      options: { spurious: true },
    },
    {
      name: "spurious wakes, one slot",
      spec: one,
      agents: [many("push", 2), times("pop", 2)],
      options: { spurious: true },
    },
    ...roles(weft),
    {
      name: "the consumer is terminated",
      differs: ASKS,
      spec: survivors(weft),
      agents: [many("tryPush", 3), times("tryPop", 2)],
      options: { kill: true },
    },
  ];
}
