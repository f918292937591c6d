// also: node
// it waits
// Tests how waits affect a process, and how they work in a process that lacks
// something.
import * as assert from "uvu/assert";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { suite } from "../_run/harness.ts";
import { start } from "../_run/process.ts";

const LONE = fileURLToPath(new URL("./lone.ts", import.meta.url));

/** What a scenario of `lone.ts` printed; it must end by itself. */
async function outputOf(scenario: string): Promise<string> {
  const words = "Deno" in globalThis
    ? ["run", "-A", "--no-check", "--v8-flags=--expose-gc", LONE, scenario]
    : ["--expose-gc", LONE, scenario];
  const { output, ending } = await start([process.execPath, ...words], 250);
  assert.is(ending, "exit code 0", output);
  return output;
}

/**
 * Asserts that a scenario prints what `expected` matches, and that its process
 * ends soon after its work, not a second later. On a busy machine any process
 * may end late, but not each time.
 */
async function assertEnds(scenario: string, expected: RegExp): Promise<void> {
  const late: number[] = [];
  while (late.length < 5) {
    const output = await outputOf(scenario);
    assert.match(output, expected);
    const after = Number(output.match(/^end (.+)$/m)![1]);
    if (after < 500) return;
    late.push(after);
  }
  throw new Error(`ended ${late} ms after its work`);
}

const test = suite("a process");

test("lives while it awaits a lock, and ends right after", async () => {
  await assertEnds("awaits a lock", /^locked\n/);
});

test("lives while it awaits a timeout, and ends right after", async () => {
  await assertEnds("awaits a timeout", /^undefined\n/);
});

test("lives for a wait after a test whose timers stood still", async () => {
  const scenario = "awaits after a test that replaced the timers";
  await assertEnds(scenario, /^aborted undefined\nlocked\n/);
});

test("does not live for a wait with ref: false", async () => {
  await assertEnds("does not wait for an unreferenced lock", /^(?!.*locked)/);
});

test("does not live for a call that is served with ref: false", async () => {
  await assertEnds("does not wait for an unreferenced call", /^begun\n/);
});

test("lives for the referenced one of several waits", async () => {
  const scenario = "waits for the referenced one of two locks";
  await assertEnds(scenario, /^timed out\nlocked\n/);
});

for (
  const [where, scenario] of [
    ["is missing", "does without waitAsync"],
    ["hears no other thread", "does not use the waitAsync of an old Deno"],
  ] as const
) {
  test(`awaits all the same where waitAsync ${where}`, async () => {
    await assertEnds(
      scenario,
      /^\[ undefined, undefined, undefined, false \]\n\[ 7, 8 \]\n/,
    );
  });
}

test("leaves Firefox the frames of a page, unless that is hidden", async () => {
  const output = await outputOf("is a page of Firefox");
  const [shown, hidden] = JSON.parse(output);
  // At 12 ms of work for each frame of 16 ms there are 35 in a second.
  assert.ok(shown > 5 && shown < 70, output);
  assert.is(hidden, 0);
});

test("may not block, says so first, and names the async form", async () => {
  assert.match(await outputOf("may not block"), /^true 75\n$/);
});

test("takes nothing as a frame that was removed from its page", async () => {
  assert.match(
    await outputOf("is a frame that was removed"),
    /^true\ntaken\n$/,
  );
});

test("waits nowhere in an audio worklet, and takes what is there", async () => {
  assert.match(await outputOf("plays audio"), /^7 64 true\n$/);
});

test("may not block in the kernel, either, and says first what is wrong", async () => {
  assert.match(await outputOf("may not block, in the kernel"), /^true 7\n$/);
});

test("without shared memory imports the library, and is told what is missing", async () => {
  const output = await outputOf("has no shared memory");
  const [page, isolated] = output.split("\n");
  assert.match(page!, /SharedArrayBuffer is missing.*Cross-Origin/);
  assert.match(page!, /frame, also allow="cross-origin-isolated"$/);
  assert.match(isolated!, /is missing, although this page is cross-origin/);
});

test("that is a SharedWorker cannot get shared memory, and says so", async () => {
  const output = await outputOf("is a SharedWorker");
  assert.match(output, /^8 a SharedWorker cannot receive shared memory/);
  // Also where it has none of its own, and headers would not help.
  assert.match(output, /\na SharedWorker cannot receive shared memory/);
});

test("drops queues whose waits failed, and keeps none", async () => {
  const output = await outputOf("drops queues that were awaited in vain");
  const { grown, kept } = JSON.parse(output.trim().split("\n").at(-1)!);
  assert.ok(grown < 8, `400 dropped queues of 0.5 MB: grew by ${grown} MB`);
  // All 400 of a round would be 200 MB.
  assert.ok(kept < 80, `400 dropped queues of 0.5 MB: ${kept} MB are kept`);
});

test("awaits 100,000 times and keeps none of it", async () => {
  const output = await outputOf("awaits 100,000 times");
  const { took, heap, rss } = JSON.parse(output.trim().split("\n").at(-1)!);
  assert.ok(heap < 5, `the heap grew by ${heap} MB`);
  assert.ok(rss < 5, `the process grew by ${rss} MB`);
  assert.ok(took < 10_000, `took ${took} ms of processor time`);
});
