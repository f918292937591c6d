/**
 * `asymmetric-io-mutex`: a lock with readers and writers.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, type Open, outcome, type Published } from "./_kit.ts";

/** Agents that hold the lock of one buffer; `modes` says how each does. */
async function explore(open: Open, ...modes: readonly ("r" | "w")[]) {
  const log = {
    debug() {},
    error(what: string) {
      throw new Error(what);
    },
  };
  const { IOMutex } = await open("dist/index.js", {
    modules: { "scoped-event-log": { __esModule: true, default: log } },
  });
  const hold = (mode: "r" | "w") => async (memory: SharedArrayBuffer) => {
    const data = new Int32Array(memory, 4, 1);
    const mutex: Any = new IOMutex();
    mutex._readLockView = new Int32Array(memory, 0, 1);
    await mutex.executeWithLock("i", mode, () => {
      if (mode === "w") data[0] = data[0]! + 1;
      else return data[0];
    });
  };
  const writes = modes.filter((mode) => mode === "w").length;
  return outcome(() =>
    race.agents(
      {
        memory: () => new SharedArrayBuffer(8),
        words: { lock: 0, data: 4 },
      },
      ...modes.map(hold),
      {
        timeouts: 1,
        after: (memory: SharedArrayBuffer) => {
          const [lock, data] = new Int32Array(memory);
          if (lock !== 0) return `the lock is left at ${lock}`;
          if (data !== writes) return `${data} of ${writes} writes are there`;
        },
      },
    ) as Any
  );
}

export const published: Published = {
  name: "asymmetric-io-mutex",
  version: "0.9.1",
  note: "The lock is set up without a buffer of data; an error that is " +
    "logged counts as an exception.",
  checks: [
    {
      title: "a writer and a reader",
      verdict: "exception",
      program: "agent 0 writes under the lock, agent 1 reads under it",
      explore: (open) => explore(open, "w", "r"),
      finding: {
        where: "dist/index.js, lock() and unlock()",
        what: "A reader that finds the buffer locked by a writer goes on to " +
          "the branch for writers. If the writer unlocks in between, the " +
          "reader takes the lock as a writer: other readers are kept out, " +
          "and its unlock() subtracts a reader that was never counted and " +
          "logs an error.",
        mend: "Let only writers enter the second branch: " +
          "`else if (!input && Atomics.compareExchange(...) === ...)`.",
        standing: {
          severity:
            "medium: a reader keeps out other readers, and an error is " +
            "logged",
          contract:
            'the README says that the lock allows "atomic memory read and ' +
            'write operations" of both sides',
          reach: "lock() and unlock() of a subclass, as the README shows them",
        },
      },
    },
    {
      title: "two writers",
      verdict: "complete",
      program: "two agents write under the lock",
      explore: (open) => explore(open, "w", "w"),
    },
  ],
};
