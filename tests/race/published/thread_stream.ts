/**
 * `thread-stream`: waits for indices that two threads share.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { type Any, outcome, type Published } from "./_kit.ts";

export const published: Published = {
  name: "thread-stream",
  version: "4.2.1",
  note: "lib/wait.js is checked; the stream around it is not.",
  checks: [
    {
      title: "wait() for the reader",
      verdict: "complete",
      program:
        "agent 0 waits until the index is 2, as the stream does; agent 1 " +
        "stores 1 and 2 and notifies after each",
      async explore(open) {
        const { wait } = await open("lib/wait.js");
        const until = (words: Int32Array, done: (how: string) => void): void =>
          wait(words, 0, 2, Infinity, (_: Any, how: string) => {
            if (how === "ok") done(how);
            else until(words, done);
          });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(4) },
            async (memory) => {
              const words = new Int32Array(memory);
              await new Promise<string>((done) => until(words, done));
              return Atomics.load(words, 0);
            },
            (memory) => {
              const words = new Int32Array(memory);
              for (const index of [1, 2]) {
                Atomics.store(words, 0, index);
                Atomics.notify(words, 0);
              }
            },
          )
        );
      },
    },
    {
      title: "waitDiff() for a change",
      verdict: "complete",
      program: "agent 0 waits until the word is not 0, agent 1 adds 1 twice " +
        "and notifies after the second",
      async explore(open) {
        const { waitDiff } = await open("lib/wait.js");
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(4) },
            async (memory) => {
              const words = new Int32Array(memory);
              await new Promise<void>((done) =>
                waitDiff(words, 0, 0, Infinity, () => done())
              );
            },
            (memory) => {
              const words = new Int32Array(memory);
              Atomics.add(words, 0, 1);
              Atomics.add(words, 0, 1);
              Atomics.notify(words, 0);
            },
          )
        );
      },
    },
  ],
};
