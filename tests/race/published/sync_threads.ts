/**
 * `sync-threads`: a thread waits for the result of asynchronous work.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Mail, outcome, type Published } from "./_kit.ts";

const MAIL = 16;

export const published: Published = {
  name: "sync-threads",
  version: "1.0.1",
  note: "Values are serialized as one byte.",
  checks: [
    {
      title: "one call",
      verdict: "complete",
      program: "agent 0 waits for the result of agent 1",
      async explore(open) {
        let memory: SharedArrayBuffer;
        const { createSyncFn, runAsWorker } = await open("src/index.js", {
          globals: {
            SharedArrayBuffer: function () {
              return memory;
            },
            Buffer: {
              from: (...place: [Any]) => new globalThis.Uint8Array(...place),
            },
          },
          modules: {
            v8: {
              serialize: (value: number) => ({
                length: 1,
                copy: (to: Uint8Array, at: number) => to[at] = value,
              }),
              deserialize: ([byte]: Uint8Array) => byte,
            },
            worker_threads: {
              Worker: class {
                constructor() {
                  new Mail(memory, MAIL).send(1);
                }
                on() {}
              },
              workerData: {
                get sharedBuffer() {
                  return memory;
                },
              },
            },
          },
        });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(MAIL + Mail.bytes(1)) },
            (shared) => {
              memory = shared;
              return createSyncFn("worker.js")();
            },
            async (shared) => {
              memory = shared;
              new Mail(shared, MAIL).take();
              await runAsWorker(() => Promise.resolve(7));
            },
            {
              after: (_, [result]) =>
                result === 7 ? undefined : `the result is ${result}`,
            },
          )
        );
      },
    },
  ],
};
