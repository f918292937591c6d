/**
 * `synckit`: a thread waits for the result of asynchronous work.
 *
 * @module
 */
import process from "node:process";
import { race } from "../../../race/mod.ts";
import { type Any, Mail, outcome, type Published } from "./_kit.ts";

const CALLS = 2;
const REQUESTS = 4;
const ANSWERS = REQUESTS + Mail.bytes(CALLS);

export const published: Published = {
  name: "synckit",
  version: "0.12.3",
  note: "Threads, ports and the guard of failures are stood in for.",
  checks: [
    {
      title: "two calls",
      verdict: "complete",
      program: "agent 0 calls a function of agent 1 twice",
      async explore(open) {
        let memory: SharedArrayBuffer;
        let answers: Mail;
        let onAnswer = () => {};
        let listener: (message: Any) => void;
        const slice = () => new Int32Array(memory, 0, 1);
        const modules: Any = {
          "node:worker_threads": {
            workerData: {
              get sharedBufferView() {
                return slice();
              },
              workerPort: {
                on() {},
                off() {},
                postMessage: ({ result }: Any) => {
                  answers.send(result);
                  // The package notifies before the next microtask runs.
                  queueMicrotask(() => onAnswer());
                },
              },
            },
            parentPort: { on: (_: string, it: Any) => listener = it },
            receiveMessageOnPort: () => {
              const answer = answers.poll();
              if (answer === undefined) return undefined;
              const id = answer >> 8;
              return { message: { id, stdio: [], result: answer & 255 } };
            },
            MessageChannel: class {
              port1 = {};
              port2 = {};
            },
            Worker: class {
              unref() {}
              postMessage({ id, args }: Any) {
                new Mail(memory, REQUESTS).send(id << 8 | args[0]);
              }
            },
          },
        };
        const nothing = () => {};
        const quiet: Any = {
          on: nothing,
          once: nothing,
          off: nothing,
          prependListener: nothing,
          env: {},
          stdout: {},
          stderr: {},
        };
        const start = await open.anew("lib/index.js", {
          modules,
          globals: {
            SharedArrayBuffer: function () {
              return memory;
            },
            process: new Proxy(process, {
              get: (real, key) =>
                key in quiet ? quiet[key] : Reflect.get(real, key),
            }),
            __dirname: "/",
            __filename: "/synckit",
          },
        });
        return outcome(() =>
          race.agents(
            {
              memory: () => new SharedArrayBuffer(ANSWERS + Mail.bytes(CALLS)),
            },
            (shared) => {
              memory = shared;
              answers = new Mail(shared, ANSWERS);
              const call = start().startWorkerThread("/worker.mjs");
              return [call(1), call(2)];
            },
            async (shared) => {
              memory = shared;
              answers = new Mail(shared, ANSWERS);
              const requests = new Mail(shared, REQUESTS);
              start().runAsWorker((n: number) => Promise.resolve(n));
              for (let i = 0; i < CALLS; i++) {
                const request = requests.take();
                const answered = new Promise<void>((done) => onAnswer = done);
                listener({ id: request >> 8, args: [request] });
                await answered;
              }
            },
            {
              after: (_, [results]) =>
                `${results}` === "1,2"
                  ? undefined
                  : `the results are ${results}`,
            },
          )
        );
      },
    },
  ],
};
