/**
 * `make-synchronized`: a thread waits for the result of asynchronous work.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import { Int32ArrayAtPlace, Mail, outcome, Place } from "./_kit.ts";
import type { Published } from "./_kit.ts";

const REQUESTS = 4;
const ANSWERS = REQUESTS + Mail.bytes(3);

export const published: Published = {
  name: "make-synchronized",
  version: "0.8.0",
  note: "The class Lock and the function unlock() of the bundle are checked.",
  checks: [
    {
      title: "the lock, three calls",
      verdict: "complete",
      program:
        "agent 0 sends a request and locks, three times; agent 1 answers " +
        "each request and unlocks",
      async explore(open) {
        let memory: SharedArrayBuffer;
        const { Lock, unlock } = await open("index.mjs", {
          expose: ["Lock", "unlock"],
          globals: {
            Int32Array: Int32ArrayAtPlace,
            SharedArrayBuffer: function () {
              return new Place(memory, 0);
            },
          },
        });
        return outcome(() =>
          race.agents(
            { memory: () => new SharedArrayBuffer(ANSWERS + Mail.bytes(3)) },
            (shared) => {
              memory = shared;
              const lock = new Lock();
              const requests = new Mail(shared, REQUESTS);
              const answers = new Mail(shared, ANSWERS);
              for (let i = 0; i < 3; i++) {
                requests.send(i);
                lock.lock();
                if (answers.poll() !== i) throw new Error("no answer");
              }
            },
            (shared) => {
              const requests = new Mail(shared, REQUESTS);
              const answers = new Mail(shared, ANSWERS);
              for (let i = 0; i < 3; i++) {
                answers.send(requests.take());
                unlock(new Int32Array(shared, 0, 1));
              }
            },
          )
        );
      },
    },
  ],
};
