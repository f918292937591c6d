/**
 * `make-synchronous`: a thread waits for the result of asynchronous work.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Int32ArrayAtPlace, Mail, outcome, Place } from "./_kit.ts";
import type { Published } from "./_kit.ts";

const CALLS = 2;
const REQUESTS = CALLS * 4;
const ANSWERS = REQUESTS + Mail.bytes(CALLS);

export const published: Published = {
  name: "make-synchronous",
  version: "2.1.0",
  checks: [
    {
      title: "two calls",
      verdict: "complete",
      program: "agent 0 calls a function of agent 1 twice",
      async explore(open) {
        let memory: SharedArrayBuffer;
        let calls = 0;
        let answers: Mail;
        let listener: (message: Any) => Promise<void>;
        const modules = {
          "node:worker_threads": {
            workerData: {
              workerPort: {
                postMessage: ({ result }: Any) => answers.send(result),
              },
            },
            parentPort: { on: (_: string, it: Any) => listener = it },
            receiveMessageOnPort: () => ({
              message: { result: answers.poll() },
            }),
            MessageChannel: class {
              port1 = { unref() {} };
              port2 = { unref() {} };
            },
            Worker: class {
              unref() {}
              postMessage({ arguments_ }: Any) {
                new Mail(memory, REQUESTS).send(arguments_[0]);
              }
            },
          },
        };
        const globals = {
          Int32Array: Int32ArrayAtPlace,
          SharedArrayBuffer: function () {
            return new Place(memory, 4 * calls++);
          },
        };
        const { makeSynchronous, setupWorker } = await open("index.js", {
          globals,
          modules,
          expose: ["makeSynchronous", "setupWorker"],
        });
        return outcome(() =>
          race.agents(
            {
              memory: () => new SharedArrayBuffer(ANSWERS + Mail.bytes(CALLS)),
            },
            (shared) => {
              memory = shared;
              calls = 0;
              answers = new Mail(shared, ANSWERS);
              const call = makeSynchronous(() => {});
              return [call(0), call(1)];
            },
            async (shared) => {
              memory = shared;
              answers = new Mail(shared, ANSWERS);
              const requests = new Mail(shared, REQUESTS);
              setupWorker((n: number) => Promise.resolve(n + 7));
              for (let i = 0; i < CALLS; i++) {
                const call = requests.take();
                const semaphore = new Int32Array(shared, 4 * call, 1);
                await listener({ arguments_: [call], semaphore });
              }
            },
            {
              after: (_, [results]) =>
                `${results}` === "7,8"
                  ? undefined
                  : `the results are ${results}`,
            },
          )
        );
      },
    },
  ],
};
