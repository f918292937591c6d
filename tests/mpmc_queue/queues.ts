/**
 * What agents do with a queue in scenarios, and what must hold.
 *
 * @module
 */
import type { MpmcQueue } from "../../mod.ts";
import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import {
  enter,
  named,
  orSaid,
  type Scenario,
  viewing,
  type Weft,
} from "../_run/scenario.ts";
import { closedScenarios } from "../_run/closed.ts";
import {
  type Contents,
  modelsFor,
  operationsOf,
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
export function queue(
  weft: Weft,
  capacity: number,
  start = 0,
  stateless = true,
  items: readonly number[] = [],
) {
  const { MpmcQueue } = weft.mod;
  const models = modelsFor(capacity);
  const { room, tryPush, tryPop } = models;
  const operations = operationsOf(weft, models);
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
      ...operations,
      tryPush: { ...operations.tryPush, model: mayPush },
      tryPop: { ...operations.tryPop, model: mayPop },
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
      pushFor: {
        run: (q, v: number) => q.tryPushInt(v, 5),
        model: (s: Contents, v: number) => {
          const late = race.timedOut<Contents>([s, false]);
          return room(s) > 0 ? race.either(tryPush(s, v), late) : late;
        },
      },
      inPlace: {
        run: (q, v: number) => pushInPlace(weft, q, v),
        model: mayPush,
      },
      takeInPlace: {
        run: (q) => popInPlace(weft, q),
        model: (s: Contents) => s.items.length > 0 ? mayPop(s) : tryPop(s),
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
export function late(weft: Weft, end: "push" | "pop") {
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
export function seconds(
  weft: Weft,
  { prepare, expected, tells = true }: Seconds,
) {
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
export const dead = (weft: Weft, end: "push" | "pop") => (queue: MpmcQueue) => {
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
export function woken(weft: Weft) {
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
export function batches(weft: Weft) {
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
export const closed = (weft: Weft): Scenario[] =>
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
export function bytes(weft: Weft) {
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
