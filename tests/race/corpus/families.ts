/**
 * The promises of the small primitives, and small programs that test them. Each
 * family begins with the smallest program.
 */
import { race } from "../../../race/mod.ts";
import type { CallTuple, Options, Spec } from "../../../race/mod.ts";

/** A family's module: the real one, or one with a bug. */
// deno-lint-ignore no-explicit-any
export type Module = any;

/** A program over a specification. */
export interface Case {
  readonly name: string;
  readonly spec: Spec;
  readonly program: readonly (readonly CallTuple[])[];
  readonly options?: Options;
}

const { either, contended } = race;

const LOCK: CallTuple[] = [["lock"], ["unlock"]];
const INCR: CallTuple[] = [["incr"]];
const ACQUIRE: CallTuple[] = [["acquire"], ["release", 1]];
const POP: CallTuple = ["pop"];
const push = (value: number): CallTuple => ["push", value];
const repeat = <T>(n: number, item: T): T[] => Array(n).fill(item);

/** Lock and unlock as operations. The model's state is the owner, or -1. */
export function locks({ Mutex }: Module): Spec<false> {
  return race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => new Mutex(memory),
    words: { state: 0 },
    init: -1,
    ops: {
      lock: {
        run: (mutex) => mutex.lock(),
        model: (owner: number, _, id) => owner < 0 ? [id, undefined] : null,
      },
      unlock: {
        run: (mutex) => mutex.unlock(),
        model: (owner: number, _, id) =>
          owner === id ? [-1, undefined] : [owner, "not the owner"],
      },
    },
  });
}

/** Sections over a plain word: exclusion, wake-ups and races in one go. */
export function sections({ Mutex }: Module): Spec<false> {
  // deno-lint-ignore no-explicit-any
  type Handle = { mutex: any; total: Int32Array };
  const add = ({ mutex, total }: Handle): number => {
    const before = total[0]!;
    total[0] = before + 1;
    mutex.unlock();
    return before;
  };
  return race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory): Handle => ({
      mutex: new Mutex(memory),
      total: new Int32Array(memory, 8, 1),
    }),
    words: { state: 0, total: 8 },
    init: 0,
    ops: {
      incr: {
        run: (h) => (h.mutex.lock(), add(h)),
        model: (n: number) => [n + 1, n],
      },
      tryIncr: {
        run: (h) => h.mutex.tryLock() ? add(h) : -1,
        model: (n: number) => either([n + 1, n], contended([n, -1])),
      },
      incrFor: {
        run: (h, ms: number) => h.mutex.lockFor(ms) ? add(h) : -1,
        model: (n: number) => either([n + 1, n], contended([n, -1])),
      },
    },
  });
}

function permits({ Semaphore }: Module, n: number): Spec {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(16);
      Semaphore.init(memory, 0, n);
      return memory;
    },
    agent: (memory) => new Semaphore(memory),
    words: { permits: 0, waiters: 4 },
    init: n,
    ops: {
      acquire: {
        run: (s) => s.acquire(),
        model: (n: number) => n > 0 ? [n - 1, undefined] : null,
      },
      tryAcquire: {
        run: (s) => s.tryAcquire(),
        model: (n: number) => n > 0 ? [n - 1, true] : [n, false],
      },
      release: {
        run: (s, n: number) => s.release(n),
        model: (free: number, n: number) => [free + n, undefined],
      },
    },
  });
}

/** Vyukov's queue; `strict`: "empty" and "full" must be true. */
export function queue(
  { Mpmc }: Module,
  start = 0,
  strict = false,
): Spec<false> {
  const or = <S>(s: S, result: unknown) =>
    strict ? null : contended([s, result]);
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(Mpmc.bytes(2));
      Mpmc.init(memory, 0, 2);
      if (start !== 0) {
        const words = new Int32Array(memory);
        words[0] = words[1] = start;
        for (let i = 0; i < 2; i++) {
          const at = (start + i) | 0;
          words[2 + 2 * (at & 1)] = at;
        }
      }
      return memory;
    },
    agent: (memory) => new Mpmc(memory, 0, 2),
    words: { tail: 0, head: 4, seq0: 8, value0: 12, seq1: 16, value1: 20 },
    init: [] as number[],
    ops: {
      push: {
        run: (q, value: number) => q.tryPush(value),
        model: (s, value: number) =>
          s.length < 2
            ? either<number[]>([[...s, value], true], or(s, false))
            : [s, false],
      },
      pop: {
        run: (q) => q.tryPop(),
        model: (s) =>
          s.length > 0
            ? either<number[]>([s.slice(1), s[0]], or(s, undefined))
            : [s, undefined],
      },
      popSpin: {
        run: (q) => q.popSpin(),
        model: (s) => s.length > 0 ? [s.slice(1), s[0]] : null,
      },
    },
  });
}

/** A ring whose sides remember things: handles with state. */
export function ring({ SpscProducer, SpscConsumer }: Module): Spec<false> {
  return race.spec({
    memory: () => new SharedArrayBuffer(16),
    // deno-lint-ignore no-explicit-any
    agent: (memory, id): any =>
      id === 0
        ? new SpscProducer(memory, 0, 2)
        : new SpscConsumer(memory, 0, 2),
    words: { tail: 0, head: 4 },
    init: [] as number[],
    ops: {
      push: {
        run: (q, value: number) => q.tryPush(value),
        model: (s, value: number) =>
          s.length < 2 ? [[...s, value], true] : [s, false],
        agents: [0],
      },
      pop: {
        run: (q) => q.tryPop(),
        model: (s) => s.length > 0 ? [s.slice(1), s[0]] : [s, undefined],
        agents: [1],
      },
    },
  });
}

function condition({ Condvar, Mutex }: Module): Spec {
  return race.spec({
    memory: () => new SharedArrayBuffer(16),
    agent: (memory) => ({
      m: new Mutex(memory),
      cv: new Condvar(memory, 4),
      flags: new Int32Array(memory, 8, 2),
    }),
    words: { state: 0, seq: 4, items: 8, open: 12 },
    init: [0, 0],
    ops: {
      take: {
        run: ({ m, cv, flags }) => {
          m.lock();
          while (flags[0] === 0) cv.wait(m);
          flags[0]!--;
          m.unlock();
        },
        model: ([n, open]) => n! > 0 ? [[n! - 1, open!], undefined] : null,
      },
      put: {
        run: ({ m, cv, flags }) => {
          m.lock();
          flags[0]!++;
          m.unlock();
          cv.notifyOne();
        },
        model: ([n, open]) => [[n! + 1, open!], undefined],
      },
      await: {
        run: ({ m, cv, flags }) => {
          m.lock();
          while (flags[1] === 0) cv.wait(m);
          m.unlock();
        },
        model: (s) => s[1] === 1 ? [s, undefined] : null,
      },
      open: {
        run: ({ m, cv, flags }) => {
          m.lock();
          flags[1] = 1;
          m.unlock();
          cv.notifyAll();
        },
        model: ([n]) => [[n!, 1], undefined],
      },
    },
  });
}

function readersWriter({ RwLock }: Module): Spec {
  return race.spec({
    memory: () => new SharedArrayBuffer(24),
    agent: (memory) => ({
      lock: new RwLock(memory),
      data: new Int32Array(memory, 12, 1),
    }),
    words: { state: 0, writers: 4, seq: 8, data: 12 },
    init: 0,
    ops: {
      read: {
        run: ({ lock, data }) => {
          lock.readLock();
          const value = data[0]!;
          lock.readUnlock();
          return value;
        },
        model: (n: number) => [n, n],
      },
      write: {
        run: ({ lock, data }) => {
          lock.writeLock();
          const value = data[0]!;
          data[0] = value + 1;
          lock.writeUnlock();
          return value;
        },
        model: (n: number) => [n + 1, n],
      },
    },
  });
}

/** A barrier is no linearizable object: assertions take the model's place. */
function rounds({ Barrier }: Module, parties: number): Spec {
  return race.spec({
    memory: () => new SharedArrayBuffer(8 + 4 * parties * 4),
    agent: (memory) => ({
      barrier: new Barrier(memory, 0, parties),
      marks: new Int32Array(memory, 8),
    }),
    words: { arrived: 0, generation: 4 },
    ops: {
      round: {
        run: ({ barrier, marks }, round: number, id) => {
          marks[round * parties + id] = 1;
          const last = barrier.arrive();
          for (let other = 0; other < parties; other++) {
            if (marks[round * parties + other] === 1) continue;
            throw new Error(`${id} passed round ${round} before ${other}`);
          }
          return last;
        },
      },
    },
    final: (_, results) => {
      for (let round = 0; round < results[0]!.length; round++) {
        const last = results.filter((r) => r[round]).length;
        if (last !== 1) return `${last} came last in round ${round}`;
      }
    },
  });
}

function work({ WorkCounter }: Module, n: number): Spec {
  return race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(20);
      new Int32Array(memory)[0] = n;
      return memory;
    },
    agent: (memory) => ({
      counter: new WorkCounter(memory),
      marks: new Int32Array(memory, 4, 4),
    }),
    words: { pending: 0 },
    init: n,
    ops: {
      done: {
        run: ({ counter, marks }, i: number) => {
          marks[i] = 1;
          counter.done();
        },
        model: (left: number) => [left - 1, undefined],
      },
      wait: {
        run: ({ counter, marks }) => {
          counter.wait();
          return marks.reduce((sum, mark) => sum + mark, 0);
        },
        model: (left: number) => left === 0 ? [0, n] : null,
      },
    },
  });
}

/** The programs of each family. */
export const FAMILIES: Record<string, (module: Module) => Case[]> = {
  mutex: (m) => [
    { name: "[lu][lu]", spec: locks(m), program: [LOCK, LOCK] },
    { name: "[i][i]", spec: sections(m), program: [INCR, INCR] },
    {
      name: "[ii][ii]",
      spec: sections(m),
      program: repeat(2, [...INCR, ...INCR]),
    },
    {
      name: "[i][i][try]",
      spec: sections(m),
      program: [INCR, INCR, [["tryIncr"]]],
    },
    { name: "[i][for]", spec: sections(m), program: [INCR, [["incrFor", 10]]] },
    { name: "[i][i][i]", spec: sections(m), program: repeat(3, INCR) },
    {
      name: "[i][for][i]",
      spec: sections(m),
      program: [INCR, [["incrFor", 10]], INCR],
    },
  ],
  semaphore: (m) => [
    { name: "[ar][ar]", spec: permits(m, 1), program: [ACQUIRE, ACQUIRE] },
    {
      name: "[a][r]",
      spec: permits(m, 0),
      program: [[["acquire"]], [["release", 1]]],
    },
    {
      name: "[a][a][r2]",
      spec: permits(m, 0),
      program: [[["acquire"]], [["acquire"]], [["release", 2]]],
    },
    {
      name: "[try][try] of 2",
      spec: permits(m, 2),
      program: repeat(2, [["tryAcquire"]]),
    },
    {
      name: "[try][try] of 1",
      spec: permits(m, 1),
      program: repeat(2, [["tryAcquire"]]),
    },
    {
      name: "[aa][rr]",
      spec: permits(m, 0),
      program: [repeat(2, ["acquire"]), repeat(2, ["release", 1])],
    },
    {
      name: "[a][a][rr]",
      spec: permits(m, 0),
      program: [[["acquire"]], [["acquire"]], repeat(2, ["release", 1])],
    },
  ],
  mpmc: (m) => [
    { name: "[p][o]", spec: queue(m), program: [[push(1)], [POP]] },
    {
      name: "[pp][oo]",
      spec: queue(m),
      program: [[push(1), push(2)], [POP, POP]],
    },
    {
      name: "[po][po]",
      spec: queue(m),
      program: [[push(1), POP], [push(2), POP]],
    },
    {
      name: "[p][p][oo]",
      spec: queue(m),
      program: [[push(1)], [push(2)], [POP, POP]],
    },
    {
      name: "[ppp][ooo]",
      spec: queue(m),
      program: [[push(1), push(2), push(3)], [POP, POP, POP]],
    },
    // The whole ring must pass the wrap: starting at 2^31 - 1 alone misses a
    // bug.
    {
      name: "[ppp][o] from 2^31 - 2",
      spec: queue(m, 0x7ffffffe),
      program: [[push(1), push(2), push(3)], [POP]],
    },
  ],
  spsc: (m) => [
    { name: "[p][o]", spec: ring(m), program: [[push(1)], [POP]] },
    {
      name: "[ppp][ooo]",
      spec: ring(m),
      program: [[push(1), push(2), push(3)], [POP, POP, POP]],
    },
    {
      name: "[pppp][oooo]",
      spec: ring(m),
      program: [[push(1), push(2), push(3), push(4)], repeat(4, POP)],
    },
  ],
  condvar: (m) => [
    {
      name: "[take][put]",
      spec: condition(m),
      program: [[["take"]], [["put"]]],
    },
    {
      name: "[await][await][open]",
      spec: condition(m),
      program: [[["await"]], [["await"]], [["open"]]],
      options: { states: 30_000, runs: 200 },
    },
    {
      name: "[take][take][put put]",
      spec: condition(m),
      program: [[["take"]], [["take"]], [["put"], ["put"]]],
      options: { states: 30_000, runs: 200 },
    },
  ],
  rwlock: (m) => [
    {
      name: "[w][r]",
      spec: readersWriter(m),
      program: [[["write"]], [["read"]]],
    },
    { name: "[w][w]", spec: readersWriter(m), program: repeat(2, [["write"]]) },
    {
      name: "[wr][wr]",
      spec: readersWriter(m),
      program: repeat(2, [["write"], ["read"]]),
    },
    {
      name: "[w][r][r]",
      spec: readersWriter(m),
      program: [[["write"]], [["read"]], [["read"]]],
    },
  ],
  barrier: (m) => [
    { name: "2x[r]", spec: rounds(m, 2), program: repeat(2, [["round", 0]]) },
    {
      name: "2x[rr]",
      spec: rounds(m, 2),
      program: repeat(2, [["round", 0], ["round", 1]]),
    },
    { name: "3x[r]", spec: rounds(m, 3), program: repeat(3, [["round", 0]]) },
  ],
  counter: (m) => [
    { name: "[d][w]", spec: work(m, 1), program: [[["done", 0]], [["wait"]]] },
    {
      name: "[d][d][w]",
      spec: work(m, 2),
      program: [[["done", 0]], [["done", 1]], [["wait"]]],
    },
    {
      name: "[d][w][w]",
      spec: work(m, 1),
      program: [[["done", 0]], [["wait"]], [["wait"]]],
    },
  ],
};
