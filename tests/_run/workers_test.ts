// also: node, browsers
import * as assert from "uvu/assert";
import { IN_WEBKIT, skip, suite } from "./harness.ts";
import { spawn } from "./workers.ts";

const THREAD = new URL("./fixtures/_thread.ts", import.meta.url);

function pageOfMemory(): WebAssembly.Memory {
  return new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
}

/** The message `promise` rejects with. */
function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => "did not reject", (error) => error.message);
}

const test = suite("threads.ts");

test("a thread shares the memory it is posted", async () => {
  const memory = pageOfMemory();
  const words = new Int32Array(memory.buffer);
  words[0] = 41;
  const thread = await spawn(THREAD, "add one");
  thread.post(memory);
  assert.is(await thread.next(), 41);
  assert.is(words[0], 42);
  thread.stop();
});

test("next() returns messages in order, asked for early or late", async () => {
  const memory = pageOfMemory();
  const thread = await spawn(THREAD, "add one");
  const early = [thread.next(), thread.next()];
  thread.post(memory);
  assert.equal(await Promise.all(early), [0, 0]);
  thread.stop();
});

test("next() rejects when the thread fails", async () => {
  if (IN_WEBKIT) skip("WebKit tells of no error behind a top-level await");
  const thread = await spawn(THREAD, "throw");
  for (const next of [thread.next(), thread.next()]) {
    assert.match(await failure(next), "the thread is broken");
  }
});

// Deno and browsers tell nobody of it.
if (!("Deno" in globalThis) && "process" in globalThis) {
  test("next() rejects when the thread has ended itself", async () => {
    const thread = await spawn(THREAD, "exit");
    assert.is(await thread.next(), "about to exit");
    assert.is(await failure(thread.next()), "the thread ended");
  });
}

test("next() rejects when the thread is stopped in its sleep", async () => {
  const thread = await spawn(THREAD, "sleep");
  assert.is(await thread.next(), "about to sleep");
  const next = failure(thread.next());
  thread.stop();
  assert.is(await next, "the thread was stopped");
});
