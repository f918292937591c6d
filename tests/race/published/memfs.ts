/**
 * `memfs`: a thread waits for the file system of another one.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, outcome, type Published } from "./_kit.ts";

const MESSENGER = "lib/fsa-to-node/worker/SyncMessenger.js";

export const published: Published = {
  name: "memfs",
  version: "4.17.0",
  note: "SyncMessenger is checked; the worker around it is not. The clock " +
    "stands still, so that no wait ends after 100 ms.",
  checks: [
    {
      title: "a call to the worker",
      verdict: "deadlock",
      program: "agent 0 makes a call, agent 1 serves it; data races are no " +
        "failures here",
      async explore(open) {
        const { SyncMessenger } = await open(MESSENGER, {
          globals: { Date: { now: () => 0 } },
        });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(20) },
            (memory) => new SyncMessenger(memory).callSync(Uint8Array.of(1))[0],
            (memory) => {
              const messenger = new SyncMessenger(memory);
              const { serveAsync } = messenger;
              let served = 0;
              return new Promise<void>((resolve) => {
                // It calls itself for the next call.
                messenger.serveAsync = (callback: Any) => {
                  if (served++ === 1) return resolve();
                  serveAsync.call(messenger, callback);
                };
                messenger.serveAsync(([n]: Uint8Array) =>
                  Promise.resolve(Uint8Array.of(n! + 10))
                );
              });
            },
            {
              races: false,
              after: (_, [answer]) =>
                answer === 11 ? undefined : `the answer is ${answer}`,
            },
          )
        );
      },
      finding: {
        where: "lib/fsa-to-node/worker/SyncMessenger.js, callSync() and " +
          "serveAsync()",
        what: "The worker waits for a notification of a word that nobody " +
          "changes. If callSync() notifies before the worker sleeps, such as " +
          "right after the answer to the call before, the request is lost: " +
          'callSync() looks for an answer for 100 ms and throws "Timeout". ' +
          "Both sides also read and write int32[1] plainly, which is a data " +
          "race.",
        mend: "Let callSync() add 1 to int32[0] before it notifies, and let " +
          "the worker wait while that word holds what it held before the call " +
          "that it served last. Use Atomics.store() and Atomics.load() for " +
          "int32[1].",
        standing: {
          none: "The deadlock is that of a clock that stands still, as the " +
            "check has it. On threads the call ends after 100 ms with " +
            '"Timeout", an end that the code provides for',
        },
      },
      threads: {
        path: MESSENGER,
        rounds: 1,
        memory: () => new SharedArrayBuffer(64),
        roles: [
          (code, memory) => {
            const pause = new Int32Array(new SharedArrayBuffer(4));
            Atomics.wait(pause, 0, 0, 300); // the worker is asleep by then
            const messenger = new code.SyncMessenger(memory);
            const end = Date.now() + 1400;
            for (let call = 1; Date.now() < end; call++) {
              try {
                messenger.callSync(Uint8Array.of(1));
              } catch {
                return Atomics.store(new Int32Array(memory), 3, call);
              }
            }
          },
          (code, memory) => {
            new code.SyncMessenger(memory).serveAsync((request: Uint8Array) =>
              request
            );
          },
        ],
        must: [0],
        wrong: (memory) => {
          const call = new Int32Array(memory)[3];
          return call === 0 ? undefined : `call ${call} threw "Timeout"`;
        },
      },
    },
  ],
};
