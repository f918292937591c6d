// also: node
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
  const { output, ending } = await start([process.execPath, ...words], 30);
  assert.is(ending, "exit code 0", output);
  return output;
}

/**
 * Asserts that the process ended soon after it printed `end`, not a second
 * later.
 */
function assertEnded(output: string): void {
  const after = Number(output.match(/^end (.+)$/m)?.[1]);
  assert.ok(after < 500, `ended ${after} ms after its work: ${output}`);
}

const test = suite("a process");

test("lives while it awaits a lock, and ends right after", async () => {
  const output = await outputOf("awaits a lock");
  assert.match(output, /^locked\n/);
  assertEnded(output);
});

test("lives while it awaits a timeout, and ends right after", async () => {
  const output = await outputOf("awaits a timeout");
  assert.match(output, /^undefined\n/);
  assertEnded(output);
});

test("does not live for a wait with ref: false", async () => {
  const output = await outputOf("does not wait for an unreferenced lock");
  assert.not.match(output, /locked/);
  assertEnded(output);
});

test("lives for the referenced one of several waits", async () => {
  const output = await outputOf("waits for the referenced one of two locks");
  assert.match(output, /^timed out\nlocked\n/);
  assertEnded(output);
});

test("awaits all the same where waitAsync is missing", async () => {
  const output = await outputOf("does without waitAsync");
  assert.match(
    output,
    /^\[ undefined, undefined, undefined, false \]\n\[ 7, 8 \]\n/,
  );
  assertEnded(output);
});

test("may not block, says so first, and names the async form", async () => {
  assert.match(await outputOf("may not block"), /^true 13\n$/);
});

test("without shared memory imports the library, and is told what is missing", async () => {
  const output = await outputOf("has no shared memory");
  const [page, isolated] = output.split("\n");
  assert.match(page!, /SharedArrayBuffer is missing.*Cross-Origin/);
  assert.match(isolated!, /is missing, although this page is cross-origin/);
});

test("that is a SharedWorker cannot get shared memory, and says so", async () => {
  const output = await outputOf("is a SharedWorker");
  assert.match(output, /^8 a SharedWorker cannot receive shared memory/);
});

test("drops queues whose waits failed, and keeps none", async () => {
  const output = await outputOf("drops queues that were awaited in vain");
  const { grown } = JSON.parse(output.trim().split("\n").at(-1)!);
  assert.ok(grown < 8, `400 dropped queues of 0.5 MB: grew by ${grown} MB`);
});

test("awaits 100,000 times and keeps none of it", async () => {
  const output = await outputOf("awaits 100,000 times");
  const { took, heap, rss } = JSON.parse(output.trim().split("\n").at(-1)!);
  assert.ok(heap < 5, `the heap grew by ${heap} MB`);
  assert.ok(rss < 5, `the process grew by ${rss} MB`);
  assert.ok(took < 5000, `took ${took} ms`);
});
