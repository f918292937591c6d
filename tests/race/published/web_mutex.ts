/**
 * `web-mutex`: a mutex, and a lock for readers and writers. The registry does
 * not have it any more, so that a model of it is checked.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { outcome, type Published } from "./_kit.ts";
import { Mutex, ReadWriterMutex } from "./models/web_mutex.ts";

const MODEL = "web_mutex.ts";

/** A mutex; the model's state is who has it, or -1. */
const mutex = race.spec({
  memory: () => new SharedArrayBuffer(4),
  agent: (memory) => new Mutex(memory),
  words: { count: 0 },
  init: -1,
  ops: {
    lock: {
      run: (it) => it.lock(),
      model: (owner: number, _, id) => owner < 0 ? [id, undefined] : null,
    },
    unlock: {
      run: (it) => it.unlock(),
      model: () => [-1, undefined],
    },
  },
});

const TURN = [["lock"], ["unlock"]] as const;

const MEND = "Let unlock() and readUnlock() notify after the word is 0, and " +
  "let an agent that waits sleep on the value that it read, in a loop, while " +
  "that value is not 0.";

export const published: Published = {
  name: "web-mutex",
  version: "1.0.1",
  model: MODEL,
  note: "The registry does not have it. A model of its classes is checked.",
  checks: [
    {
      title: "the mutex, two agents",
      verdict: "lost-wakeup",
      program: "two agents lock and unlock once",
      explore: () => race.check(mutex, TURN, TURN),
      finding: {
        where: "dist/locks/Mutex.js, lock(), and NotifiedValue.js, waitEqual()",
        what: "An agent that finds the mutex locked means to wait until the " +
          "word is 0. But waitEqual(0) sleeps while the word is 0, and goes " +
          "round while it is not. So the agent spins until the owner has " +
          "subtracted 1, and then sleeps. If the owner notifies before that, " +
          "the agent sleeps for ever beside a mutex that is free.",
        mend: MEND,
        standing: {
          severity: "high: an agent sleeps for ever although the mutex is free",
          contract: 'the README says that the package "implements different ' +
            'locks"',
          reach: "lock() while another agent has the mutex",
        },
      },
      threads: {
        path: MODEL,
        rounds: 200,
        memory: () => new SharedArrayBuffer(4),
        roles: [
          (code, memory) => {
            const mutex = new code.Mutex(memory);
            for (let i = 0; i < 1000; i++) {
              mutex.lock();
              mutex.unlock();
            }
          },
          (code, memory) => {
            const mutex = new code.Mutex(memory);
            for (let i = 0; i < 1000; i++) {
              mutex.lock();
              mutex.unlock();
            }
          },
        ],
      },
    },
    {
      title: "the lock for readers and writers",
      verdict: "deadlock",
      program: "agent 0 reads under the lock, agent 1 writes under it",
      explore: () =>
        outcome(() =>
          race.agents(
            {
              memory: () => new SharedArrayBuffer(16),
              words: { reading: 0, writing: 4, readers: 8, writers: 12 },
            },
            (memory) => {
              const it = new ReadWriterMutex(memory);
              it.readLock();
              it.readUnlock();
            },
            (memory) => {
              const it = new ReadWriterMutex(memory);
              it.writeLock();
              it.writeUnlock();
            },
          )
        ),
      finding: {
        where: "dist/locks/ReadWriterMutex.js, readLock() and writeLock()",
        what:
          "Its two mutexes lose wake-ups as above. The number of readers, " +
          "and the mark of the writer, are waited for in the same way: an " +
          "agent sleeps while the word is 0, after the last notification.",
        mend: MEND,
        standing: {
          severity: "high: an agent sleeps for ever although the lock is free",
          contract: 'the README says that the package "implements different ' +
            'locks"',
          reach:
            "writeLock() while a reader has the lock, or readLock() while " +
            "a writer has it",
        },
      },
    },
  ],
};
