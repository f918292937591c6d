// also: node, browsers
import { SpscQueue } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { declareQueueCases } from "../_queue/cases.ts";
import { obeysTheModel, SPSC } from "../_queue/model.ts";

const test = suite("SpscQueue");

test("every operation obeys the model, wherever the indices wrap", () => {
  obeysTheModel(SPSC);
});

declareQueueCases(test, SpscQueue, SPSC);
