// also: node
import { SpscQueue } from "../mod.ts";
import { LAYOUT } from "../primitives/_layout.ts";
import { suite } from "./harness.ts";
import { wordsOf } from "./model.ts";
import { declareQueueCases } from "./queue_cases.ts";
import { obeysTheModel, type QueueKind } from "./queue_model.ts";

const { tail, head, head_cache, tail_cache } = LAYOUT.spsc_queue;

const kind: QueueKind = {
  startAt(capacity, size, start) {
    const queue = SpscQueue.create({ capacity, size });
    const words = wordsOf(queue);
    for (const index of [tail, head, head_cache, tail_cache]) {
      words[index] = start * 4;
    }
    return queue;
  },
  again: (queue) => new SpscQueue(queue.buffer, queue.byteOffset),
};

const test = suite("SpscQueue");

test("every operation obeys the model, wherever the indices wrap", () => {
  obeysTheModel(kind);
});

declareQueueCases(test, SpscQueue, kind);
