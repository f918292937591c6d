/**
 * `@napi-rs/wasm-runtime`: a thread calls the file system of another.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Mail, outcome, type Published } from "./_kit.ts";

const MAIL = 32;

export const published: Published = {
  name: "@napi-rs/wasm-runtime",
  version: "1.2.7",
  note: "fs-proxy.js is checked, with one buffer for the call.",
  checks: [
    {
      title: "a call of the file system",
      verdict: "complete",
      program: "agent 0 calls size() through the proxy, agent 1 answers",
      async explore(open) {
        let memory: SharedArrayBuffer;
        const { createFsProxy, createOnMessage } = await open("fs-proxy.js", {
          globals: {
            SharedArrayBuffer: function () {
              return memory;
            },
            postMessage: () => new Mail(memory, MAIL).send(1),
          },
        });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(MAIL + Mail.bytes(1)) },
            (shared) => {
              memory = shared;
              return createFsProxy({}).size("file");
            },
            (shared) => {
              memory = shared;
              new Mail(shared, MAIL).take();
              createOnMessage({ size: () => 7 } as Any)({
                data: {
                  __fs__: {
                    sab: new Int32Array(shared),
                    type: "size",
                    payload: ["file"],
                  },
                },
              });
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
