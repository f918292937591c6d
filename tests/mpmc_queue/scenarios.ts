import type { MpmcQueue } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orClosed,
  orSaid,
  REMEMBERS,
  type Scenario,
  TRIES_AGAIN,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { closedScenarios } from "../_run/closed.ts";
import {
  type Contents,
  modelsFor,
  popInPlace,
  pushInPlace,
} from "../_queue/contents.ts";

const { tail, head, pop_epoch, pop_waiters, push_epoch, push_waiters, length } =
  LAYOUT.mpmc_queue;
/** Read plainly before an exchange checks it. */
const HINTS = [tail, head].map((i) => [i * 4, i * 4 + 4] as const);
/** Words from slot to slot: a turn, a spare word, an integer, and padding. */
const STRIDE = 4;

/**
 * A queue whose tickets begin at `start`. Only reservations are kept in a
 * view.
 */
function queue(
  weft: Weft,
  capacity: number,
  start = 0,
  stateless = true,
  items: readonly number[] = [],
) {
  const { MpmcQueue } = weft.mod;
  const models = modelsFor(capacity);
  const { room, tryPush, tryPop } = models;
  // "Full" and "empty" may also mean that another agent is just pushing or
  // popping.
  const mayPush = (s: Contents, v: number) =>
    s.closed || room(s) === 0
      ? tryPush(s, v)
      : race.either(tryPush(s, v), race.contended<Contents>([s, false]));
  const mayPop = (s: Contents) =>
    race.either(tryPop(s), race.contended<Contents>([s, undefined]));
  return race.spec({
    memory: () => {
      const queue = MpmcQueue.create({ capacity });
      const { buffer } = queue;
      const words = new Int32Array(buffer);
      words[tail] = words[head] = start * 2;
      for (let i = 0; i < capacity; i++) {
        const ticket = start + i;
        words[length + ticket % capacity * STRIDE] = ticket * 2;
      }
      for (const item of items) queue.tryPushInt(item);
      return buffer;
    },
    ...viewing(weft, MpmcQueue, LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless,
    init: { items, closed: false } as Contents,
    ops: {
      tryPush: {
        run: (q, v: number) => orClosed(weft, () => q.tryPushInt(v)),
        model: mayPush,
        lockFree: true,
      },
      tryPop: {
        run: (q) => orClosed(weft, () => q.tryPopInt()),
        model: mayPop,
        lockFree: true,
      },
      // Through an array, as batches do.
      pushArray: {
        run: (q, v: number) => q.tryPush(new Int32Array([v])),
        model: mayPush,
      },
      popArray: {
        run: (q) => {
          const array = new Int32Array(1);
          return q.tryPopInto(array) ? array[0] : undefined;
        },
        model: (s: Contents) => s.items.length > 0 ? mayPop(s) : tryPop(s),
      },
      push: {
        run: (q, v: number) => orClosed(weft, () => q.pushInt(v)),
        model: models.push,
      },
      pop: {
        run: (q) => orClosed(weft, () => q.popInt()),
        model: models.pop,
      },
      pushFor: {
        run: (q, v: number) => q.tryPushInt(v, 5),
        model: (s: Contents, v: number) => {
          const late = race.timedOut<Contents>([s, false]);
          return room(s) > 0 ? race.either(tryPush(s, v), late) : late;
        },
      },
      popFor: { run: (q) => q.tryPopInt(5), model: models.popFor },
      inPlace: {
        run: (q, v: number) => pushInPlace(weft, q, v),
        model: mayPush,
      },
      takeInPlace: {
        run: (q) => popInPlace(weft, q),
        model: (s: Contents) => s.items.length > 0 ? mayPop(s) : tryPop(s),
      },
      close: {
        run: (q) => q.close(),
        model: (s: Contents) => [{ ...s, closed: true }, undefined],
      },
    },
    invariant: (memory) => {
      const words = new Int32Array(memory);
      const waiters = [words[pop_waiters], words[push_waiters]];
      if (waiters.some((n) => n !== 0)) return `waiters ${waiters} are left`;
    },
  });
}

/**
 * An agent has not finished the ticket in front, while the ticket behind it is
 * done. When that agent finishes, two can go on, but it wakes only one.
 */
function late(weft: Weft, end: "push" | "pop") {
  const { MpmcQueue } = weft.mod;
  const pops = end === "pop";
  const slot = (i: number) => length + i * STRIDE;
  return race.spec({
    memory: () => {
      const { buffer } = MpmcQueue.create({ capacity: 2 });
      const words = new Int32Array(buffer);
      words[tail] = 4;
      words[head] = pops ? 0 : 4;
      words[slot(0)] = pops ? 0 : 1;
      words[slot(1)] = pops ? 3 : 6;
      return buffer;
    },
    ...viewing(weft, MpmcQueue, LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless: true,
    ops: {
      end: {
        run: (q) => {
          const words = new Int32Array(q.buffer);
          Atomics.store(words, slot(0), pops ? 1 : 4);
          const epoch = pops ? pop_epoch : push_epoch;
          if (Atomics.load(words, epoch + 1) === 0) return;
          Atomics.add(words, epoch, 1);
          Atomics.notify(words, epoch, 1);
        },
      },
      push: { run: (q) => q.pushInt(3) },
      pop: { run: (q) => q.popInt() },
    },
  });
}

/** What one scenario about a wait of seconds is about. */
interface Seconds {
  /** Makes the state at the start. */
  readonly prepare: (queue: MpmcQueue) => void;
  /** What each wait returns. */
  readonly expected: (result: unknown) => boolean;
  /** Whether agents that stand still are taken for dead; true unless given. */
  readonly tells?: boolean;
}

/** Waits of some seconds: a blocked queue is told, and no other. */
function seconds(weft: Weft, { prepare, expected, tells = true }: Seconds) {
  const { DamagedError, MpmcQueue } = weft.mod;
  const orTold = <T>(operation: () => T) =>
    orSaid(operation, DamagedError, "told");
  return race.spec({
    memory: () => {
      const queue = MpmcQueue.create({ capacity: 2 });
      prepare(queue);
      return queue.buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      weft.spin.spinning.tells = tells;
      return new MpmcQueue(memory);
    },
    words: named(LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless: false, // of a reservation
    ops: {
      pop: { run: (q) => orTold(() => q.popInt()) },
      popFor: { run: (q) => orTold(() => q.tryPopInt(3500)) },
      pushFor: { run: (q) => orTold(() => q.tryPushInt(3, 3500)) },
      inPlace: {
        run: (q) => {
          q.reserve()![0] = 7;
          q.commit();
          return 7;
        },
      },
    },
    final: (_, results) => {
      const wrong = results.flat(2).filter((result) => !expected(result));
      return wrong.length === 0 ? undefined : `it returned ${wrong}`;
    },
  });
}

/** Does what an agent had done before it was terminated. */
const dead = (weft: Weft, end: "push" | "pop") => (queue: MpmcQueue) => {
  const view = new weft.mod.MpmcQueue(queue.buffer);
  if (end === "push") return void view.reserve();
  queue.tryPushInt(1);
  queue.tryPushInt(2);
  view.peek();
};

/**
 * Consumers wait, a producer pushes twice, and one of the three is terminated
 * at any step: a consumer, too, that a wake reached and that did not run yet.
 * The other consumer gets an element.
 */
function woken(weft: Weft) {
  const { MpmcQueue } = weft.mod;
  const PRODUCER = 2;
  return race.spec({
    memory: () => MpmcQueue.create({ capacity: 2 }).buffer,
    ...viewing(weft, MpmcQueue, LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless: true,
    ops: {
      pop: { run: (q) => q.popInt() },
      push: { run: (q) => q.tryPushInt(5) },
    },
    /** Finishes what a producer had begun. A consumer left nothing to do. */
    recover: ({ buffer }, dead) => {
      if (dead !== PRODUCER) return;
      const words = new Int32Array(buffer);
      Atomics.store(words, tail, 4);
      for (const i of [0, 1]) {
        Atomics.compareExchange(words, length + i * STRIDE, 2 * i, 2 * i + 1);
      }
      Atomics.add(words, pop_epoch, 2);
      Atomics.notify(words, pop_epoch);
    },
  });
}

/** Batches, judged by their effect: a batch is not one step. */
function batches(weft: Weft) {
  const { MpmcQueue } = weft.mod;
  return race.spec({
    memory: () => MpmcQueue.create({ capacity: 2 }).buffer,
    ...viewing(weft, MpmcQueue, LAYOUT.mpmc_queue),
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
      const pushed = (results[0] as number[]).reduce((a, b) => a + b);
      const taken = results.slice(1).flat(2) as number[];
      const all = [...taken, ...left].sort((a, b) => a - b);
      const expected = [1, 2, 3, 4].slice(0, pushed);
      if (`${all}` !== `${expected}`) return `found ${all}, not ${expected}`;
      if (!q.tryPushInt(9) || q.tryPopInt() !== 9) return "of no more use";
    },
  });
}

/** A queue of one slot that is closed, drained and freed. */
const closed = (weft: Weft): Scenario[] =>
  closedScenarios(weft, {
    memory: () => {
      const q = weft.mod.MpmcQueue.create({ capacity: 1 });
      q.tryPushInt(1);
      return q.buffer;
    },
    view: ({ MpmcQueue }, memory) => new MpmcQueue(memory),
    row: LAYOUT.mpmc_queue,
    hints: HINTS,
    pop: (q) => q.popInt(),
    popAsync: (q, signal) => q.popIntAsync({ signal }),
  });

/** Elements of a byte. Whose they are, the turn of their slot says alone. */
function bytes(weft: Weft) {
  const { MpmcQueue } = weft.mod;
  return race.spec({
    memory: () => MpmcQueue.create({ capacity: 2, elementSize: 1 }).buffer,
    ...viewing(weft, MpmcQueue, LAYOUT.mpmc_queue),
    hints: HINTS,
    stateless: true,
    init: [] as readonly number[],
    ops: {
      push: {
        run: (q, v: number) => q.tryPush(Uint8Array.of(v)),
        model: (s: readonly number[], v: number) =>
          s.length < 2 ? [[...s, v], true] : [s, false],
      },
      pop: {
        run: (q) => {
          const to = new Uint8Array(1);
          return q.tryPopInto(to) ? to[0] : undefined;
        },
        model: (s: readonly number[]) => [s.slice(1), s[0]],
      },
    },
  });
}

/** The race scenarios of `MpmcQueue`. */
export function scenarios(weft: Weft): Scenario[] {
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
      name: "elements of a byte",
      spec: bytes(weft),
      agents: [from("push", 1, 3), times("pop", 3)],
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
      differs: REMEMBERS,
      spec: queue(weft, 2, 0, false),
      agents: [from("inPlace", 1, 2), times("takeInPlace", 2)],
    },
    {
      name: "push, pop",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["push", 1]], [["pop"]]],
    },
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
      // If another agent overtakes a look, the look says nothing about the
      // whole queue.
      name: "a producer that others overtake twice",
      spec: queue(weft, 4),
      agents: [[["push", 1]], from("push", 2, 2)],
      options: { timeouts: 0 },
    },
    {
      name: "a consumer that others overtake twice",
      spec: queue(weft, 4, 0, true, [1, 2, 3]),
      agents: [[["pop"]], times("pop", 2)],
      options: { timeouts: 0 },
    },
    {
      name: "pop times out at any time",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["popFor"]], [["push", 1]]],
      options: { timeouts: true },
    },
    {
      name: "push times out at any time",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, true, [9]),
      agents: [[["pushFor", 1]], [["tryPop"]]],
      options: { timeouts: true },
    },
    {
      name: "close wakes a consumer",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["pop"]], [["close"]]],
    },
    {
      name: "close wakes a producer",
      differs: TRIES_AGAIN,
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
      name: "close and pop while a push is under way",
      spec: two,
      agents: [[["tryPush", 1]], [["close"], ["tryPop"]]],
    },
    {
      name: "an array wakes a consumer",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["pop"]], [["pushArray", 1]]],
    },
    {
      name: "an array wakes a producer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, true, [9]),
      agents: [[["push", 1]], [["popArray"]]],
    },
    {
      name: "in place wakes a consumer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 2, 0, false),
      agents: [[["pop"]], [["inPlace", 1]]],
    },
    {
      name: "in place wakes a producer",
      differs: TRIES_AGAIN,
      spec: queue(weft, 1, 0, false, [9]),
      agents: [[["push", 1]], [["takeInPlace"]]],
    },
    {
      name: "two consumers, the element in front comes last",
      spec: late(weft, "pop"),
      agents: [[["pop"]], [["pop"]], [["end"]]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "two producers, the slot in front comes last",
      spec: late(weft, "push"),
      agents: [[["push"]], [["push"]], [["end"]]],
      options: { timeouts: 0, states: 20_000 },
      sampled: true,
    },
    {
      name: "consumers of a dead producer are told",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: dead(weft, "push"),
        expected: (result) => result === "told",
      }),
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "producers of a dead consumer are told",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: dead(weft, "pop"),
        expected: (result) => result === "told",
      }),
      agents: [[["pushFor"]], [["pushFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told of a queue that is empty",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === undefined,
      }),
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told of a queue that is full",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: (queue) => {
          queue.tryPushInt(1);
          queue.tryPushInt(2);
        },
        expected: (result) => result === false,
      }),
      agents: [[["pushFor"]], [["pushFor"]]],
      options: { timeouts: 0, rescue: true },
    },
    {
      name: "nobody is told at the first look",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === 7,
      }),
      agents: [[["pop"]], [["inPlace"]]],
      options: { timeouts: 1, rescue: true },
    },
    {
      name: "an agent stands still, and is not taken for dead",
      differs: TRIES_AGAIN,
      spec: seconds(weft, {
        prepare: () => {},
        expected: (result) => result === 7,
        tells: false,
      }),
      agents: [[["pop"]], [["inPlace"]]],
      options: { timeouts: 2, rescue: true },
    },
    {
      name: "a consumer is terminated when it is woken",
      spec: woken(weft),
      agents: [[["pop"]], [["pop"]], [["push"], ["push"]]],
      options: {
        timeouts: 0,
        kill: true,
        rescue: true,
        races: false, // nothing orders survivors behind what the dead wrote
        states: 15_000,
      },
      sampled: true,
    },
    {
      name: "two time out",
      differs: TRIES_AGAIN,
      spec: two,
      agents: [[["popFor"]], [["popFor"]]],
      options: { timeouts: true },
    },
    {
      name: "batches, two agents",
      spec: batches(weft),
      agents: [[["push", [1, 2]], ["push", [3, 4]]], [["pop", 2]]],
    },
    {
      name: "batches",
      spec: batches(weft),
      agents: [[["push", [1, 2, 3]]], [["pop", 2]], [["pop", 2]]],
    },
    ...closed(weft),
    {
      name: "spurious wakes",
      spec: one,
      agents: [[["push", 1]], [["pop"]]],
      options: { spurious: true },
    },
  ];
}
