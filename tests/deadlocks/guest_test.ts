// Agents of JavaScript and C that really wait for each other.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { setAgentId } from "../../mod.ts";
import { deadlocks } from "../../primitives/tools/deadlocks.ts";
import { guestOf } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { spawn, type Thread } from "../_run/workers.ts";
import type { Job } from "./api.ts";
import { SHARED } from "./shared.ts";

const test = suite("deadlocks, on threads");

const SOURCE = fileURLToPath(new URL("./guest.c", import.meta.url));
const GUEST = new URL("./guest.ts", import.meta.url);

/** Where the layout lies, behind what the module has for itself. */
const AT = 1 << 19;

const module = guestOf(SOURCE);

/** A memory with the layout, and threads that have locked their first mutex. */
async function begin(...jobs: Omit<Job, "memory" | "at">[]) {
  const pages = { initial: 16, maximum: 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const shared = SHARED.init(memory, AT);
  const threads: Thread[] = [];
  for (const job of jobs) {
    const thread = await spawn(GUEST, { ...job, memory, at: AT });
    assert.is(await thread.next(), 0, job.name);
    threads.push(thread);
  }
  return { shared, threads };
}

type Shared = Awaited<ReturnType<typeof begin>>["shared"];

/** Looks until agents wait for each other. */
async function found(shared: Shared) {
  for (;;) {
    const [deadlock] = deadlocks(shared.agents, shared);
    if (deadlock !== undefined) return deadlock;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("an agent of C and one of JavaScript wait for each other", async () => {
  const { shared, threads } = await begin(
    { name: "decoder", id: 21, locks: ["a", "b"], module: await module },
    { name: "worker 2", id: 22, locks: ["b", "a"] },
  );
  assert.equal(deadlocks(shared.agents, shared), []);
  for (const thread of threads) thread.post("go on");
  const { text, certain } = await found(shared);
  assert.is(
    text,
    '"decoder" waits for Mutex "b" held by "worker 2", which waits for Mutex ' +
      '"a" held by "decoder"',
  );
  assert.ok(certain);
  // The one that is of JavaScript is given up: the other goes on.
  threads[1]!.stop();
  assert.is(shared.b.abandon(22), 1);
  const EOWNERDEAD = 62; // in bare wasm32
  assert.is(await threads[0]!.next(), EOWNERDEAD);
  assert.equal(shared.agents.agents, [{ id: 22, name: "worker 2" }]);
  threads[0]!.post(22);
  assert.is(await threads[0]!.next(), 1);
  assert.equal(shared.agents.agents, []);
  threads[0]!.stop();
});

test("this agent awaits what an agent of C holds, and the other way", async () => {
  const { shared, threads: [thread] } = await begin(
    { name: "encoder", id: 31, locks: ["a", "b"], module: await module },
  );
  setAgentId(30);
  shared.agents.join("ui");
  const { a, b } = SHARED.attach(shared.a.buffer, AT);
  const guard = b.lock();
  const next = a.lockAsync();
  thread!.post("go on");
  const { text, certain } = await found(shared);
  assert.is(
    text,
    '"ui" awaits Mutex "a" held by "encoder", which waits for Mutex "b" held ' +
      'by "ui"',
  );
  assert.not.ok(certain);
  guard.unlock();
  (await next).unlock();
  assert.is(await thread!.next(), 0);
  assert.equal(deadlocks(shared.agents, shared), []);
  assert.equal(shared.agents.agents, [{ id: 30, name: "ui" }]);
  shared.agents.leave();
  thread!.stop();
});
