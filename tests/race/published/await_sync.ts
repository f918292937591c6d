/**
 * `await-sync`: a thread waits for the result of asynchronous work.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, Mail, type Open, outcome, type Published } from "./_kit.ts";

/** Bytes of the window through which a result goes; 8184 in the package. */
const WINDOW = 8;
/** Where the mailbox lies. */
const MAIL = 16;

/** A result of `size` bytes, as the two threads exchange it. */
async function explore(open: Open, size: number, races: boolean) {
  let memory: SharedArrayBuffer;
  let listener: (event: Any) => Promise<void>;
  const views = {
    SharedArrayBuffer: function () {
      return memory;
    },
    // The window is smaller, and the mailbox lies behind it.
    Uint8Array: new Proxy(Uint8Array, {
      construct: (_, [from, at]) =>
        typeof from === "number"
          ? new Uint8Array(from)
          : new globalThis.Uint8Array(from, at, WINDOW),
    }),
  };
  const { createWorker } = await open("mod.js", {
    globals: {
      ...views,
      Worker: class {
        postMessage() {}
      },
      MessageChannel: class {
        port1 = { postMessage: () => new Mail(memory, MAIL).send(1) };
      },
    },
    replace: [[
      "globalThis.Worker || await import('whatwg-worker').then(m => m.default)",
      "Worker",
    ]],
  });
  await open("worker.js", {
    globals: {
      ...views,
      addEventListener: (_: string, it: Any) => listener = it,
      work: {
        default: () => Uint8Array.from({ length: size }, (_, i) => i + 1),
      },
    },
    replace: [["await import(url)", "await work"]],
  });
  return outcome(() =>
    race.agents(
      { memory: () => new SharedArrayBuffer(MAIL + Mail.bytes(1)) },
      (shared) => {
        memory = shared;
        return [...createWorker()(() => {})()];
      },
      async (shared) => {
        memory = shared;
        const mail = new Mail(shared, MAIL);
        const port: Any = {};
        await listener({ data: { port, code: "", ab: shared } });
        mail.take();
        await port.onmessage({ data: [] });
      },
      {
        races,
        after: (_, [result]) =>
          (result as number[]).every((byte, i) => byte === i + 1)
            ? undefined
            : `the result is ${result}`,
      },
    )
  );
}

const SCRIPT = `import { createWorker } from "await-sync";
const run = createWorker()(async () => new Uint8Array(20000));
console.log("a result of 20,000 bytes arrived: " + run().length);
Deno.exit();`;

export const published: Published = {
  name: "await-sync",
  version: "1.0.3",
  note: "The window has 8 bytes instead of 8184; the module that the worker " +
    "imports from a data URL is stood in for.",
  checks: [
    {
      title: "a result that fits the window",
      verdict: "data-race",
      program: "agent 0 waits for a result of 4 bytes, agent 1 writes it",
      explore: (open) => explore(open, 4, true),
      finding: {
        where: "worker.js, write(), and mod.js, runSync()",
        what: "The worker stores the length, which is what runSync() waits " +
          "for, before it copies the bytes, and it stores it plainly. A " +
          "caller that arrives at Atomics.wait() between the two finds the " +
          "word changed, does not sleep and copies bytes that are not there " +
          "yet.",
        mend: "Copy the bytes first, then Atomics.store() the length and " +
          "notify; read the length with Atomics.load().",
        standing: {
          severity: "high: a call returns bytes that are not its result",
          contract:
            'the README says that the function "executes synchronously" ' +
            "and returns its Uint8Array",
          reach: "every call of a function that createWorker() made",
        },
      },
    },
    {
      title: "a result larger than the window",
      verdict: "deadlock",
      program: "agent 0 waits for a result of 20 bytes, which takes three " +
        "windows, agent 1 writes it; data races are no failures here",
      explore: (open) => explore(open, 20, false),
      finding: {
        where: "worker.js, write(), and mod.js, runSync()",
        what: "Both threads sleep on the same word and wake each other by " +
          "notify() without changing it. If runSync() notifies before the " +
          "worker sleeps, the notification is lost and both sleep for ever.",
        mend: 'Let each turn change the word: the reader stores "taken" and ' +
          "notifies, the writer stores the length and notifies, and each " +
          "waits in a loop until it reads what it waits for.",
        standing: {
          severity: "high: both threads sleep for ever",
          contract:
            'the README says that the function "executes synchronously"',
          reach: "a call whose result has more than 8184 bytes",
        },
      },
      script: SCRIPT,
    },
  ],
};
