/**
 * `coincident`: a worker calls functions of the main thread and waits.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Mail, type Open, outcome, type Published } from "./_kit.ts";

const MAIL = 16;

/** A call of the main thread's `double`, with or without Atomics.pause. */
async function explore(open: Open, races: boolean) {
  let memory: SharedArrayBuffer;
  let setUp: (event: Any) => void;
  let answer: (event: Any) => Promise<void>;
  const buffers = {
    SharedArrayBuffer: function () {
      return memory;
    },
    MessageChannel: class {
      port1 = {
        addEventListener: (_: string, it: Any) => answer = it,
        start() {},
      };
      port2 = {};
    },
    Worker: class {
      addEventListener() {}
      postMessage() {}
    },
  };
  const globals = {
    ...buffers,
    globalThis: Object.assign(Object.create(globalThis), buffers),
  };
  const startMain = await open.anew("src/main.js", { globals });
  const startWorker = await open.anew("src/worker.js", {
    globals: {
      ...globals,
      addEventListener: (_: string, it: Any) => setUp = it,
    },
  });
  return outcome(() =>
    race.agents(
      { memory: () => new SharedArrayBuffer(MAIL + Mail.bytes(1)) },
      async (shared) => {
        memory = shared;
        const { Worker } = startMain().default({
          encoder: () => (value: number, buffer: SharedArrayBuffer) => {
            new Int32Array(buffer, 8, 1)[0] = value;
            return 4;
          },
        });
        const thread = new Worker("worker.js");
        thread.proxy.double = (n: number) => 2 * n;
        const n = new Mail(shared, MAIL).take();
        await answer({ data: [new Int32Array(shared), "double", [n]] });
      },
      async (shared) => {
        memory = shared;
        const { default: worker } = startWorker();
        const channel = {
          addEventListener() {},
          start() {},
          postMessage: ([, , [n]]: Any) => new Mail(shared, MAIL).send(n),
        };
        const event = { stopImmediatePropagation() {}, preventDefault() {} };
        setUp({ ...event, data: ["", "", -1], ports: [channel] });
        const { proxy } = await worker({
          decoder: () => (_: number, buffer: SharedArrayBuffer) =>
            new Int32Array(buffer, 8, 1)[0],
        });
        return proxy.double(21);
      },
      {
        races,
        after: (_, [, result]) =>
          result === 42 ? undefined : `the result is ${result}`,
      },
    )
  );
}

export const published: Published = {
  name: "coincident",
  version: "4.1.1",
  note: "Values are encoded by an encoder of the check, an option of the " +
    "package.",
  checks: [
    {
      title: "a call that waits",
      verdict: "data-race",
      program: "agent 1 calls a function of agent 0 and waits for the result",
      explore: (open) => explore(open, true),
      finding: {
        where:
          "src/main.js, the listener of the channel; src/worker.js, wait()",
        what: "The main thread says that the result is there by a plain " +
          "write, `i32[0] = 1`, while the worker looks at that word with " +
          "Atomics.load(). Nothing orders the bytes of the result, and the " +
          "length, before that write: a compiler or a processor may show the " +
          "worker the flag first.",
        mend: "Atomics.store(i32, 0, 1) instead of the plain write.",
        standing: {
          severity:
            "low: a compiler or a processor must move the write; none was " +
            "seen to",
          contract: "that of ECMAScript: nothing orders a plain write",
          reach: "every call that a worker makes and waits for",
        },
      },
    },
    {
      title: "a call that waits, apart from the data race",
      verdict: "complete",
      program: "the same; data races are no failures",
      explore: (open) => explore(open, false),
    },
  ],
};
