/**
 * Two rings of audio samples that are not in the registry, so that models of
 * them are checked.
 *
 * @module
 */
import { race } from "../../../race/mod.ts";
import type { Published } from "./_kit.ts";
import { Float32RingBuffer, FreeQueue } from "./models/audio_rings.ts";

const MODEL = "audio_rings.ts";
const NOTE = "The registry does not have it. A model of the class is checked.";

const SIZE = 4;

/** The queue; each block goes through whole or not at all. */
const queue = race.spec({
  memory: () => FreeQueue.memory(SIZE),
  agent: (memory) => new FreeQueue(memory),
  words: { read: 0, write: 4, samples: 8 },
  init: [] as number[],
  ops: {
    push: {
      agents: [0],
      run: (it, block: number[]) => it.push(Float32Array.from(block)),
      model: (held: number[], block: number[]) =>
        held.length + block.length <= SIZE
          ? [[...held, ...block], true]
          : [held, false],
    },
    pull: {
      agents: [1],
      run: (it, length: number) => it.pull(length),
      model: (held: number[], length: number) =>
        held.length < length
          ? [held, undefined]
          : [held.slice(length), held.slice(0, length)],
    },
  },
});

const freeQueue: Published = {
  name: "freequeue",
  version: "1.0.0",
  model: MODEL,
  note: NOTE,
  checks: [
    {
      title: "blocks that do not reach the end of the ring",
      verdict: "complete",
      program: "a queue of four samples; the producer pushes blocks of three " +
        "and one, the consumer pulls blocks of three and one",
      explore: () =>
        race.check(
          queue,
          [["push", [1, 2, 3]], ["push", [4]]],
          [["pull", 3], ["pull", 1]],
        ),
    },
    {
      title: "a block at the end of the ring",
      verdict: "not-linearizable",
      program: "a queue of four samples; the producer pushes blocks of three " +
        "and four, the consumer pulls blocks of three and four",
      explore: () =>
        race.check(
          queue,
          [["push", [1, 2, 3]], ["push", [4, 5, 6, 7]]],
          [["pull", 3], ["pull", 4]],
        ),
      finding: {
        where: "src/freequeue.ts of the Web Audio samples, push()",
        what: "A block that reaches the end of the ring is copied in two " +
          "parts. The length of the second one is reckoned from the block's " +
          "beginning, so that samples at its end are not copied. The consumer " +
          "pulls what lay there before. The file free-queue.js beside it " +
          "copies both parts.",
        mend: "Copy `input.subarray(blockA.length, blockLength)`.",
        standing: {
          none: "It is a mistake, against the comment of push(), but one " +
            "thread alone meets it, so that it is no race",
        },
      },
    },
  ],
};

/** So many samples have gone through: their number has 31 bits. */
const BEFORE = 2 ** 31 - 1;

/** The ring of two samples, through which `before` have gone. */
const ring = (before: number) =>
  race.spec({
    memory: () => Float32RingBuffer.memory(2, before),
    agent: (memory) => new Float32RingBuffer(memory),
    words: { read: 0, write: 4, samples: 8 },
    init: [] as number[],
    ops: {
      push: {
        agents: [0],
        run: (it, samples: number[]) => it.push(Float32Array.from(samples)),
        model: (held: number[], samples: number[]) => {
          const some = samples.slice(0, 2 - held.length);
          return [[...held, ...some], some.length];
        },
      },
      pop: {
        agents: [1],
        run: (it, most: number) => it.pop(most),
        model: (
          held: number[],
          most: number,
        ) => [held.slice(most), held.slice(0, most)],
      },
    },
  });

const float32RingBuffer: Published = {
  name: "Float32RingBuffer",
  version: "(no package)",
  model: MODEL,
  note: "It is a class in public code, without a package. A model of it is " +
    "checked.",
  checks: [
    {
      title: "the first samples",
      verdict: "complete",
      program: "a ring of two samples; the producer pushes one sample twice, " +
        "the consumer pops one twice",
      explore: () =>
        race.check(
          ring(0),
          [["push", [1]], ["push", [2]]],
          [["pop", 1], ["pop", 1]],
        ),
    },
    {
      title: "after 2^31 samples",
      verdict: "not-linearizable",
      program:
        "the same ring after 2^31 - 1 samples; the producer pushes one " +
        "sample twice, the consumer pops one",
      explore: () =>
        race.check(
          ring(BEFORE),
          [["push", [1]], ["push", [2]]],
          [["pop", 1]],
        ),
      finding: {
        where: "push(), pop() and available of the class with close()",
        what: "The lowest bit of each index says whether the ring is closed, " +
          "so that an index has 31 bits. The difference of two of them is " +
          "taken as one of 32 bits. When the producer's index comes round and " +
          "the consumer's does not yet, the ring seems to hold 2^31 samples " +
          "and more: push() answers -2147483647 for a ring of two, and steps " +
          "back by as many.",
        mend: "Take the difference as available does: subtract the words, " +
          "and shift the result.",
        standing: {
          none: "It is a mistake, and a ring at 48 kHz comes to it after 12 " +
            "hours and 26 minutes. But one thread alone meets it, so that it " +
            "is no race",
        },
      },
    },
  ],
};

export const audioRings: readonly Published[] = [freeQueue, float32RingBuffer];
