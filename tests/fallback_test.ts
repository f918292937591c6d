// also: node, browsers
// The same promises where Atomics.waitAsync is missing and words are looked at
// from a timer.
import "./no_wait_async.ts";
import * as assert from "uvu/assert";
import { suite } from "./harness.ts";
import "./mutex_test.ts";
import "./spsc_queue_test.ts";
import "./mpmc_queue_test.ts";
import "./work_counter_test.ts";

const test = suite("Without waitAsync");

test("the tests of this file ran without it", () => {
  assert.is((Atomics as { waitAsync?: unknown }).waitAsync, undefined);
});
