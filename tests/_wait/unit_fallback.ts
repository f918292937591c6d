// also: node, browsers
// Tests the same promises where Atomics.waitAsync is missing and a timer looks
// at the words.
import "./no_wait_async.ts";
import * as assert from "uvu/assert";
import { suite } from "../_run/harness.ts";
import "../mutex/unit.ts";
import "../spsc_queue/unit.ts";
import "../mpmc_queue/unit.ts";
import "../work_counter/unit.ts";

const test = suite("Without waitAsync");

test("the tests of this file ran without it", () => {
  assert.is((Atomics as { waitAsync?: unknown }).waitAsync, undefined);
});
