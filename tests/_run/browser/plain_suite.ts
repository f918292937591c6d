// Tests that the library, without shared memory, says why it cannot work.
import * as assert from "uvu/assert";
import { isSupported, Mutex, SpscQueue } from "../../../mod.ts";
import { IN_WEBKIT, skip, suite } from "../harness.ts";

const test = suite("A page that is not isolated");

const EVERYWHERE = "WebKit was told to have shared memory on every page";

test("the library loads, and says what is missing", () => {
  if (IN_WEBKIT) skip(EVERYWHERE);
  const { ok, reason } = isSupported();
  assert.is(ok, false);
  assert.match(reason!, "Cross-Origin-Opener-Policy");
});

test("making anything throws that reason", () => {
  if (IN_WEBKIT) skip(EVERYWHERE);
  const { reason } = isSupported();
  for (
    const make of [
      () => Mutex.create(),
      () => SpscQueue.create({ capacity: 4 }),
    ]
  ) {
    assert.throws(make, (error: Error) => error.message.includes(reason!));
  }
});
