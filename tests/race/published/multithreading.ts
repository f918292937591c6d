/**
 * `multithreading`: locks, a semaphore, a condition variable and a barrier.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import {
  type Any,
  Int32ArrayAtPlace,
  outcome,
  Place,
  type Published,
} from "./_kit.ts";

const SYNC = "src/lib/sync/mod.js";

/** A semaphore of `permits`; each agent keeps its guards. */
const semaphore = (Semaphore: Any, permits: number) =>
  race.spec({
    memory: () => {
      const memory = new SharedArrayBuffer(8);
      new Int32Array(memory)[0] = permits;
      return memory;
    },
    agent: (memory) => ({ it: new Semaphore(0, memory), guards: [] as Any[] }),
    words: { permits: 0, waiters: 4 },
    init: permits,
    ops: {
      acquire: {
        run: ({ it, guards }, n: number) => {
          guards.push(it.blockingAcquire(n));
        },
        model: (free: number, n: number) =>
          free >= n ? [free - n, undefined] : null,
      },
      tryAcquire: {
        run: ({ it }, n: number) => it.tryAcquire(n) !== null,
        model: (free: number, n: number) =>
          free >= n ? [free - n, true] : [free, false],
      },
      release: { // gives back one permit in these programs
        run: ({ guards }) => guards.pop().dispose(),
        model: (free: number) => [free + 1, undefined],
      },
    },
  });

/** A counter that a lock protects: `take` returns what gives it back. */
const section = (take: (memory: SharedArrayBuffer) => Any) =>
  race.spec({
    memory: () => new SharedArrayBuffer(8),
    agent: (memory) => ({
      lock: take(memory),
      data: new Int32Array(memory, 4, 1),
    }),
    words: { lock: 0, data: 4 },
    init: 0,
    ops: {
      add: {
        run: ({ lock, data }) => {
          const guard = lock.add();
          const sum = data[0] = data[0]! + 1;
          guard.dispose();
          return sum;
        },
        model: (n: number) => [n + 1, n + 1],
      },
      read: {
        run: ({ lock, data }) => {
          const guard = lock.read();
          const sum = data[0];
          guard.dispose();
          return sum;
        },
        model: (n: number) => [n, n],
      },
    },
  });

export const published: Published = {
  name: "multithreading",
  version: "0.3.52",
  checks: [
    {
      title: "semaphore, agents that want different numbers of permits",
      verdict: "lost-wakeup",
      program: "two permits; agent 0 takes both and gives one back, agent 1 " +
        "wants two, agent 2 wants one",
      async explore(open) {
        const { Semaphore } = await open(SYNC);
        return race.check(
          semaphore(Semaphore, 2),
          [["acquire", 1], ["acquire", 1], ["release"]],
          [["acquire", 2]],
          [["acquire", 1]],
        );
      },
      finding: {
        where: "src/lib/sync/semaphore.js, release() and blockingAcquire()",
        what: "release(n) wakes n sleepers, those that sleep longest. If a " +
          "sleeper that is woken wants more permits than there are, it sleeps " +
          "again and the wake-up is gone. A sleeper whose permit is free then " +
          "sleeps on, for ever if nobody releases again. acquire() has the " +
          "same loop.",
        mend: "Wake all sleepers in release(), or let a woken sleeper that " +
          "cannot go on wake the next one before it sleeps again.",
        standing: {
          severity: "high: an agent sleeps for ever although a permit is free",
          contract: 'the README says of blockingAcquire(): "Blocking wait. ' +
            'Returns SemaphoreGuard"',
          reach: "Semaphore.blockingAcquire(n) with different n",
        },
      },
      threads: {
        path: SYNC,
        rounds: 1,
        must: [0, 2],
        memory: () => {
          const memory = new SharedArrayBuffer(16);
          new Int32Array(memory)[0] = 2;
          return memory;
        },
        roles: [
          (code, memory) => {
            const words = new Int32Array(memory);
            const semaphore = new code.Semaphore(0, memory);
            const guard = semaphore.blockingAcquire(1);
            semaphore.blockingAcquire(1);
            Atomics.store(words, 2, 1);
            while (Atomics.load(words, 1) < 2);
            Atomics.wait(words, 3, 0, 50); // both are asleep by then
            guard.dispose();
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            while (Atomics.load(words, 2) === 0);
            new code.Semaphore(0, memory).blockingAcquire(2);
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            while (Atomics.load(words, 1) === 0);
            Atomics.wait(words, 3, 0, 50); // agent 1 is asleep by then
            new code.Semaphore(0, memory).blockingAcquire(1);
          },
        ],
      },
    },
    {
      title: "semaphore, two agents that try",
      verdict: "not-linearizable",
      program: "two permits; two agents call tryAcquire(1) once",
      async explore(open) {
        const { Semaphore } = await open(SYNC);
        const once = [["tryAcquire", 1]] as const;
        return race.check(semaphore(Semaphore, 2), once, once);
      },
      finding: {
        where: "src/lib/sync/semaphore.js, tryAcquire()",
        what: "tryAcquire() answers null although a permit is free, if " +
          "another agent takes or returns a permit between its load and its " +
          'compareExchange. Callers that take null for "no permits" shed ' +
          "work that could run.",
        mend: "Repeat the load and the compareExchange while the load finds " +
          "enough permits, or document that the answer may be null under " +
          "contention.",
        standing: {
          none: 'The README says "Returns SemaphoreGuard or null" and not ' +
            "when. An attempt that may fail under contention is usual",
        },
      },
    },
    {
      title: "semaphore, agents that want one permit each",
      verdict: "complete",
      program: "one permit; three agents acquire one and release it",
      async explore(open) {
        const { Semaphore } = await open(SYNC);
        const turn = [["acquire", 1], ["release"]] as const;
        return race.check(semaphore(Semaphore, 1), turn, turn, turn);
      },
    },
    {
      title: "mutex",
      verdict: "complete",
      program: "three agents lock, add 1 to a word and unlock",
      async explore(open) {
        const { Mutex } = await open(SYNC);
        const spec = section((memory) => {
          const mutex = new Mutex(undefined, memory);
          return { add: () => mutex.blockingLock() };
        });
        return race.check(spec, [["add"]], [["add"]], [["add"]]);
      },
    },
    {
      title: "mutex, awaited",
      verdict: "complete",
      program: "two agents await lock(), add 1 to a word and unlock",
      async explore(open) {
        const { Mutex } = await open(SYNC);
        const add = async (memory: SharedArrayBuffer) => {
          const words = new Int32Array(memory);
          const guard = await new Mutex(undefined, memory).lock();
          words[1] = words[1]! + 1;
          guard.dispose();
        };
        return outcome(() =>
          race.agents({ memory: () => new SharedArrayBuffer(8) }, add, add, {
            after: (memory) =>
              new Int32Array(memory)[1] === 2 ? undefined : "one is lost",
          })
        );
      },
    },
    {
      title: "read-write lock",
      verdict: "complete",
      program: "agent 0 adds 1 under the write lock, agents 1 and 2 read it " +
        "under the read lock",
      async explore(open) {
        const { RwLock } = await open(SYNC);
        const spec = section((memory) => {
          const lock = new RwLock(undefined, memory);
          return {
            add: () => lock.blockingWrite(),
            read: () => lock.blockingRead(),
          };
        });
        return race.check(spec, [["add"]], [["read"]], [["read"]]);
      },
    },
    {
      title: "condition variable",
      verdict: "complete",
      program: "agent 0 waits under the mutex for a word to change, agent 1 " +
        "changes it under the mutex and notifies",
      async explore(open) {
        const { Condvar, Mutex } = await open(SYNC, {
          globals: { Int32Array: Int32ArrayAtPlace },
        });
        const parts = (memory: SharedArrayBuffer) => ({
          mutex: new Mutex(undefined, memory),
          changed: new Condvar(new Place(memory, 4)),
          data: new Int32Array(memory, 8, 1),
        });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(12) },
            (memory) => {
              const { mutex, changed, data } = parts(memory);
              const guard = mutex.blockingLock();
              while (data[0] === 0) changed.blockingWait(guard);
              guard.dispose();
            },
            (memory) => {
              const { mutex, changed, data } = parts(memory);
              const guard = mutex.blockingLock();
              data[0] = 1;
              changed.notifyOne();
              guard.dispose();
            },
          )
        );
      },
    },
    {
      title: "barrier",
      verdict: "complete",
      program: "two agents write a word, wait and read the other's word, once",
      async explore(open) {
        const { Barrier } = await open(SYNC);
        const meet = (memory: SharedArrayBuffer, id: number) => {
          const words = new Int32Array(memory);
          const barrier = new Barrier(2, memory);
          for (let round = 1; round <= 1; round++) {
            words[4 + id] = round;
            barrier.blockingWait();
            if (words[5 - id]! < round) throw new Error("early");
          }
        };
        const memory = () => {
          const memory = new SharedArrayBuffer(24);
          new Int32Array(memory).set([0, 2, 2]);
          return memory;
        };
        return outcome(() => race.agents({ memory }, meet, meet));
      },
    },
  ],
};
