/**
 * `synclink`: a worker waits for answers of several tasks.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { outcome, type Published } from "./_kit.ts";

export const published: Published = {
  name: "synclink",
  version: "0.2.4",
  note: "The class _Syncifier and the function signalRequester() of the " +
    "bundle are checked.",
  checks: [
    {
      title: "two answers in the same slot",
      verdict: "complete",
      program:
        "agents 1 and 2 signal the tasks 1 and 65, which share a slot; " +
        "agent 0 waits for both",
      async explore(open) {
        let memory: SharedArrayBuffer | undefined;
        const { _Syncifier, signalRequester } = await open(
          "dist/esm/synclink.mjs",
          {
            expose: ["_Syncifier", "signalRequester"],
            globals: {
              // The module polls for ever from its first line on.
              setTimeout: (fn: () => void, ms: number) =>
                memory === undefined ? 0 : globalThis.setTimeout(fn, ms),
            },
          },
        );
        const signal = (id: number) => async (shared: SharedArrayBuffer) => {
          memory = shared;
          await signalRequester(new Int32Array(shared), id);
        };
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(33 * 4) },
            (shared) => {
              memory = shared;
              const syncifier = new _Syncifier();
              syncifier.signal_buffer = new Int32Array(shared);
              for (const id of [1, 65]) {
                syncifier.tasks.set(id, { endpoint: {}, poll: () => true });
              }
              for (const task of [...syncifier.tasks.values()]) {
                if ([...syncifier.tasks.values()].includes(task)) {
                  syncifier.syncifyTask(task);
                }
              }
            },
            signal(1),
            signal(65),
          )
        );
      },
    },
  ],
};
