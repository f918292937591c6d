// also: node, browsers
import { SpscQueue } from "../mod.ts";
import { suite } from "./harness.ts";
import { declareQueueCases } from "./queue_cases.ts";
import { obeysTheModel, SPSC } from "./queue_model.ts";

const test = suite("SpscQueue");

test("every operation obeys the model, wherever the indices wrap", () => {
  obeysTheModel(SPSC);
});

declareQueueCases(test, SpscQueue, SPSC);
