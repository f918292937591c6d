/**
 * esfx: classes that block threads. Their packages are not in the registry, so
 * models of them are checked.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Published } from "./_kit.ts";
import {
  AutoResetEvent,
  ConditionVariable,
  type Lockable,
  Semaphore,
} from "./models/esfx.ts";

const MODEL = "esfx.ts";
const VERSION = "1.1.0-alpha.202307260322";
const NOTE = "The registry does not have it. A model of the class is checked.";

/** A semaphore of `count` of two permits. */
const semaphore = (count: number) =>
  race.spec({
    memory: () => Semaphore.memory(count, 2),
    agent: (memory) => new Semaphore(memory),
    words: { lock: 0, most: 4, count: 8, waiting: 12 },
    init: count,
    ops: {
      wait: {
        run: (it) => it.wait(),
        model: (free: number) => free > 0 ? [free - 1, undefined] : null,
      },
      release: {
        run: (it) => it.release(),
        model: (free: number) => [free + 1, undefined],
      },
    },
  });

const threadingSemaphore: Published = {
  name: "@esfx/threading-semaphore",
  version: VERSION,
  model: MODEL,
  note: NOTE,
  checks: [
    {
      title: "a permit that another agent gives back",
      verdict: "livelock",
      program: "one permit of two is free; agent 0 takes it, agent 1 gives " +
        "one back",
      explore: () => race.check(semaphore(1), [["wait"]], [["release"]]),
      finding: {
        where: "src/index.ts, the functions lock() and unlock()",
        what: "lock() takes a lock that is at 2, the number of one that " +
          "others want, and unlock() subtracts 1 from one that is taken, at " +
          "1. The result is 0. So the first call of wait() or release() " +
          "leaves a lock that nobody can take, and every second call goes " +
          "round for ever, also that of the same thread, also with a timeout.",
        mend: "Let lock() and unlock() use the state SEM_STATE_UNLOCKED, " +
          "which is 0.",
        standing: {
          severity: "high: no second call ends",
          contract: 'the comment of wait() says "Blocks the current thread ' +
            'until it can enter the semaphore"',
          reach: "every use",
        },
      },
      threads: {
        path: MODEL,
        rounds: 1,
        memory: () => Semaphore.memory(1, 2),
        roles: [
          (code, memory) => new code.Semaphore(memory).wait(),
          (code, memory) => new code.Semaphore(memory).release(),
        ],
      },
    },
  ],
};

/** Words of the program with the condition variable. */
const MUTEX = 0, CHANGED = 4, READY = 8;

/** A mutex; esfx's own is right. */
class Mutex implements Lockable {
  constructor(readonly words: Int32Array) {}

  lock(): void {
    while (Atomics.compareExchange(this.words, 0, 0, 1) !== 0) {
      Atomics.wait(this.words, 0, 1);
    }
  }

  unlock(): void {
    Atomics.store(this.words, 0, 0);
    Atomics.notify(this.words, 0, 1);
  }
}

/** One agent waits until the word is 1, another one sets it. */
const condition = race.spec({
  memory: () => new SharedArrayBuffer(12),
  agent: (memory) => ({
    mutex: new Mutex(new Int32Array(memory, MUTEX, 1)),
    changed: new ConditionVariable(memory, CHANGED),
    ready: new Int32Array(memory, READY, 1),
  }),
  words: { mutex: MUTEX, changed: CHANGED, ready: READY },
  init: false,
  ops: {
    await: {
      run: ({ mutex, changed, ready }) => {
        mutex.lock();
        changed.wait(mutex, () => ready[0] === 1);
        mutex.unlock();
      },
      model: (ready: boolean) => ready ? [ready, undefined] : null,
    },
    set: {
      run: ({ mutex, changed, ready }) => {
        mutex.lock();
        ready[0] = 1;
        mutex.unlock();
        changed.notifyOne();
      },
      model: () => [true, undefined],
    },
  },
});

const threadingConditionVariable: Published = {
  name: "@esfx/threading-conditionvariable",
  version: VERSION,
  model: MODEL,
  note: NOTE,
  checks: [
    {
      title: "an agent that waits for a word to change",
      verdict: "lost-wakeup",
      program: "agent 0 waits under a mutex for a word to change, agent 1 " +
        "changes it under the mutex and notifies",
      explore: () => race.check(condition, [["await"]], [["set"]]),
      finding: {
        where: "src/index.ts, waitFor()",
        what: "waitFor() unlocks the mutex and then sleeps on a word that " +
          "never changes. If another agent locks, changes the data and " +
          "notifies between the two, the notification is lost, and the agent " +
          "sleeps although its condition holds.",
        mend: "Let notifyOne() and notifyAll() add 1 to the word, and sleep " +
          "on the value that the word had before the mutex was unlocked.",
        standing: {
          severity: "high: an agent sleeps for ever although its condition " +
            "holds",
          contract: "the README shows this program: one thread waits for a " +
            "word, another one sets it and calls notifyOne()",
          reach: "wait() and notifyOne(), as the README shows them",
        },
      },
      threads: {
        path: MODEL,
        rounds: 3000,
        memory: () => new SharedArrayBuffer(16),
        roles: [
          (code, memory) => {
            const words = new Int32Array(memory);
            const mutex = {
              lock() {
                while (Atomics.compareExchange(words, 0, 0, 1) !== 0);
              },
              unlock: () => void Atomics.store(words, 0, 0),
            };
            mutex.lock();
            Atomics.store(words, 3, 1); // the other agent may come
            new code.ConditionVariable(memory, 4).wait(
              mutex,
              () => Atomics.load(words, 2) === 1,
            );
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            while (Atomics.load(words, 3) === 0);
            while (Atomics.compareExchange(words, 0, 0, 1) !== 0);
            Atomics.store(words, 2, 1);
            Atomics.store(words, 0, 0);
            new code.ConditionVariable(memory, 4).notifyOne();
          },
        ],
      },
    },
  ],
};

/** The event; what `set` answers does not count. */
const event = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new AutoResetEvent(memory),
  words: { state: 0 },
  init: false,
  ops: {
    set: {
      run: (it) => void it.set(),
      model: () => [true, undefined],
    },
    waitOne: {
      run: (it) => it.waitOne(),
      model: (set: boolean) => set ? [false, undefined] : null,
    },
  },
});

const threadingAutoResetEvent: Published = {
  name: "@esfx/threading-autoresetevent",
  version: VERSION,
  model: MODEL,
  note: NOTE,
  checks: [
    {
      title: "an agent that waits, and sets the event for the next one",
      verdict: "lost-wakeup",
      program:
        "agent 0 waits and then sets the event, agent 1 sets it, agent " +
        "2 waits",
      explore: () =>
        race.check(
          event,
          [["waitOne"], ["set"]],
          [["set"]],
          [["waitOne"]],
        ),
      finding: {
        where: "src/index.ts, set()",
        what: "set() marks the event as notifying, wakes an agent and then " +
          "stores the next state. If the agent that it woke calls set() " +
          "before that store, the call finds the mark and does nothing, and " +
          "the store makes the event unset. Then nobody wakes the next agent.",
        mend: "Let set() store that the event is set before it notifies, and " +
          "let an agent that wakes take the event by an exchange.",
        standing: {
          severity: "high: an agent sleeps for ever although the event was " +
            "set for it",
          contract: 'the comment of set() says "Sets the state of the event ' +
            "to signaled, allowing the next thread waiting on the event to " +
            'proceed"',
          reach: "set() by an agent that waitOne() has just let go on",
        },
      },
      threads: {
        path: MODEL,
        rounds: 3000,
        memory: () => new SharedArrayBuffer(8),
        roles: [
          (code, memory) => {
            const words = new Int32Array(memory);
            const event = new code.AutoResetEvent(memory);
            Atomics.store(words, 1, 1);
            event.waitOne();
            event.set();
            Atomics.store(words, 1, 2);
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            while (Atomics.load(words, 1) === 0);
            new code.AutoResetEvent(memory).set();
          },
          (code, memory) => {
            const words = new Int32Array(memory);
            while (Atomics.load(words, 1) < 2); // the first one is over
            new code.AutoResetEvent(memory).waitOne();
          },
        ],
      },
    },
  ],
};

export const esfx: readonly Published[] = [
  threadingSemaphore,
  threadingConditionVariable,
  threadingAutoResetEvent,
];
