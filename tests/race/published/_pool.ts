/**
 * The worker of two pools that share their code: it sleeps on a counter of
 * requests until the main thread has posted a task.
 *
 * @module
 */
import { race, type Result } from "../../../race/mod.ts";
import { type Any, Mail, type Open, outcome } from "./_kit.ts";

const REQUESTS = 0, RESPONSES = 1, TASKS = 2;
const TO = 8;
const BACK = TO + Mail.bytes(TASKS);

/**
 * Two tasks, one after the other; the second one does not end, so that the
 * worker returns to its event loop.
 */
export async function pool(
  open: Open,
  path: string,
  message: Any,
): Promise<Result> {
  let setUp: (message: Any) => unknown;
  let requests: Mail;
  let work: (task: number) => Promise<unknown>;
  const start = await open.anew(path, {
    modules: {
      "@napi-rs/nice": {},
      "node:worker_threads": {
        workerData: [{ workerId: 1 }, {}],
        parentPort: {
          on: (_: string, it: Any) => setUp = it,
          postMessage() {},
        },
        receiveMessageOnPort: () => {
          const task = requests.poll();
          return task === undefined ? undefined : { message: { task } };
        },
      },
    },
    globals: {
      handlerOf: () => work,
      process: {
        env: {},
        memoryUsage: () => ({ heapUsed: 0 }),
        stdout: { writableLength: 0 },
        stderr: { writableLength: 0 },
      },
    },
    replace: [["await getHandler(filename, name)", "handlerOf()"]],
  });
  return outcome(() =>
    race.agents(
      { memory: () => new SharedArrayBuffer(BACK + Mail.bytes(TASKS)) },
      (memory) => { // as the pool's main thread posts a task
        const words = new Int32Array(memory);
        const to = new Mail(memory, TO);
        const back = new Mail(memory, BACK);
        for (let task = 0; task < TASKS; task++) {
          to.send(task);
          Atomics.add(words, REQUESTS, 1);
          Atomics.notify(words, REQUESTS, 1);
          if (task === 0 && back.take() !== 7) throw new Error("wrong answer");
        }
        return Atomics.load(words, RESPONSES);
      },
      async (memory) => {
        requests = new Mail(memory, TO);
        const back = new Mail(memory, BACK);
        let end = () => {};
        const ended = new Promise<void>((resolve) => end = resolve);
        work = (task) => {
          if (task === 0) return Promise.resolve(7);
          end();
          return new Promise(() => {});
        };
        start();
        setUp({
          ...message,
          sharedBuffer: new Int32Array(memory, 0, 2),
          port: {
            on() {},
            start() {},
            postMessage: ({ result }: Any) => back.send(result),
          },
        });
        await ended;
      },
    )
  );
}
