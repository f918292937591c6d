// also: node
import { MpmcQueue } from "../mod.ts";
import { LAYOUT } from "../primitives/_layout.ts";
import { suite } from "./harness.ts";
import { wordsOf } from "./model.ts";
import { declareQueueCases } from "./queue_cases.ts";
import { obeysTheModel, type QueueKind } from "./queue_model.ts";

const { tail: TAIL, head: HEAD, length: SLOTS } = LAYOUT.mpmc_queue;

const kind: QueueKind = {
  startAt(capacity, size, start) {
    const queue = MpmcQueue.create({ capacity, size });
    const words = wordsOf(queue);
    const stride = (words.length - SLOTS) / capacity;
    words[TAIL] = words[HEAD] = start * 2;
    for (let n = start; n < start + capacity; n++) {
      words[SLOTS + n % capacity * stride] = n * 2; // free for ticket n
    }
    return queue;
  },
  again: (queue) => new MpmcQueue(queue.buffer, queue.byteOffset),
};

const test = suite("MpmcQueue");

test("every operation obeys the model, wherever the tickets wrap", () => {
  obeysTheModel(kind);
});

declareQueueCases(test, MpmcQueue, kind);
