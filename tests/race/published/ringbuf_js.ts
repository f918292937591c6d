/**
 * `ringbuf.js`: a queue for one producer and one consumer.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Any, Published } from "./_kit.ts";

const CAPACITY = 2;

/** The queue; each value goes through as one byte. */
const ring = (RingBuffer: Any) =>
  race.spec({
    memory: () => RingBuffer.getStorageForCapacity(CAPACITY, Uint8Array),
    agent: (memory: SharedArrayBuffer) => new RingBuffer(memory, Uint8Array),
    words: { write: 0, read: 4, data: 8 },
    init: [] as number[],
    ops: {
      push: {
        agents: [0],
        run: (it, values: number[]) => it.push(Uint8Array.from(values)),
        model: (queue: number[], values: number[]) => {
          const some = values.slice(0, CAPACITY - queue.length);
          return [[...queue, ...some], some.length];
        },
      },
      pop: {
        agents: [1],
        run: (it, n: number) => {
          const values = new Uint8Array(n);
          return [...values.subarray(0, it.pop(values))];
        },
        model: (
          queue: number[],
          n: number,
        ) => [queue.slice(n), queue.slice(0, n)],
      },
      writeNothing: {
        agents: [0],
        run: (it) => it.writeCallback(1, () => 0),
        model: (queue: number[]) => [queue, 0],
      },
    },
  });

export const published: Published = {
  name: "ringbuf.js",
  version: "0.4.0",
  checks: [
    {
      title: "push and pop",
      verdict: "complete",
      program: "a queue of two bytes; the producer pushes two bytes twice, " +
        "the consumer pops two bytes three times",
      async explore(open) {
        const { RingBuffer } = await open("dist/index.mjs");
        return race.check(
          ring(RingBuffer),
          [["push", [1, 2]], ["push", [3, 4]]],
          [["pop", 2], ["pop", 2], ["pop", 2]],
        );
      },
    },
    {
      title: "push and pop, without waiting",
      verdict: "complete",
      program:
        "the same with one byte each, and every call must end wherever " +
        "the other agent stops",
      async explore(open) {
        const { RingBuffer } = await open("dist/index.mjs");
        return race.check(
          ring(RingBuffer),
          [["push", [1]], ["push", [2]], ["push", [3]]],
          [["pop", 1], ["pop", 1]],
          { progress: "lock-free" },
        );
      },
    },
    {
      title: "writeCallback whose callback writes nothing",
      verdict: "not-linearizable",
      program: "the producer's callback returns 0, the consumer pops a byte",
      async explore(open) {
        const { RingBuffer } = await open("dist/index.mjs");
        return race.check(ring(RingBuffer), [["writeNothing"]], [["pop", 1]]);
      },
      finding: {
        where: "dist/index.mjs, writeCallback() and writeCallbackWithOffset()",
        what: "A callback that returns 0, because it had nothing to write, " +
          "publishes all the elements it was offered: 0 is taken for " +
          '"no answer". The consumer pops what was left in memory.',
        mend: "Test for undefined (`cb(...) ?? to_write`), so that 0 is an " +
          "answer.",
        standing: {
          none:
            'It is a mistake, against the comment of writeCallback(): "it ' +
            "is assumed that the returned number is the number of " +
            'elements that have been written". But one thread alone meets ' +
            "it, so that it is no race",
        },
      },
      script: `import { RingBuffer } from "ringbuf.js";
const ring = new RingBuffer(
  RingBuffer.getStorageForCapacity(8, Uint8Array), Uint8Array);
console.log("writeCallback() answered " + ring.writeCallback(8, () => 0) +
  " for a callback that wrote 0; pop() then found " +
  ring.pop(new Uint8Array(8)) + " elements");`,
    },
  ],
};
