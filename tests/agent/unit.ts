// also: node, browsers
import * as assert from "uvu/assert";
import {
  agentId,
  announceAgent,
  Mutex,
  onAgentExit,
  setAgentId,
} from "../../mod.ts";
import { onExit } from "../../primitives/_worker/exits.ts";
import { skip, suite } from "../_run/harness.ts";
import { asAgent, refuses, turns } from "../_run/model.ts";
import { spawn } from "../_run/workers.ts";

const AGENT = new URL("./id.ts", import.meta.url);
const ANNOUNCED = new URL("./announced.ts", import.meta.url);
const MAX_ID = 2 ** 28 - 1;
const hasLocks =
  (globalThis as { navigator?: { locks?: unknown } }).navigator?.locks !==
    undefined;

const test = suite("agent");

test("agentId() answers the same id for ever, 1 to 2^28 - 1", () => {
  const id = agentId();
  assert.ok(Number.isInteger(id) && id >= 1 && id <= MAX_ID, `${id}`);
  assert.is(agentId(), id);
});

test("agentId() differs from agent to agent", async () => {
  const threads = await Promise.all([1, 2, 3].map(() => spawn(AGENT)));
  const ids = await Promise.all(threads.map((thread) => thread.next()));
  assert.is(new Set([...ids, agentId()]).size, 4, `${ids}`);
  for (const thread of threads) thread.stop();
});

test("setAgentId() takes over an id, for views made from then on", () => {
  const own = agentId();
  const mutex = Mutex.create();
  for (const id of [1, 7, MAX_ID]) {
    const other = asAgent(id, () => new Mutex(mutex.buffer));
    using _lock = other.lock();
    assert.is(mutex.owner, id);
  }
  using _lock = mutex.lock();
  assert.is(mutex.owner, own);
});

test("setAgentId() refuses a value that is no id, and names it", () => {
  const own = agentId();
  const none = new ArrayBuffer(0);
  for (const id of [0, -1, 2 ** 28, 1.5, NaN, Infinity]) {
    refuses(none, () => setAgentId(id), RangeError, `received ${id}`);
    assert.is(agentId(), own);
  }
});

test("onAgentExit() tells when a terminated worker has ended", async () => {
  const mutex = Mutex.create();
  const thread = await spawn(ANNOUNCED, mutex.handle);
  const id = await thread.next<number>();
  assert.is(mutex.owner, id);
  let calls = 0;
  const never = onAgentExit(id, () => assert.unreachable(), thread.worker);
  const ended = Promise.all([1, 2].map(() =>
    new Promise<number>((resolve) => {
      onAgentExit(id, (id) => {
        calls++;
        resolve(id);
      }, thread.worker);
    })
  ));
  await turns();
  assert.is(calls, 0); // it lives
  never();
  never();
  thread.stop();
  assert.equal(await ended, [id, id]);
  assert.is(mutex.abandon(id), 1);
  using lock = mutex.tryLock()!;
  assert.ok(lock.abandoned);
  // It also tells about an agent that has already ended.
  await new Promise<number>((resolve) => {
    onAgentExit(id, resolve, thread.worker);
  });
  await turns();
  assert.is(calls, 2);
});

test("announceAgent() notices another agent with the same id", async () => {
  if (!hasLocks) skip("no Web Locks here");
  const thread = await spawn(ANNOUNCED, Mutex.create().handle);
  const id = await thread.next<number>();
  const own = agentId();
  const announced = () => {
    setAgentId(id);
    const done = announceAgent();
    setAgentId(own);
    return done.then((id) => `${id}`, ({ message }) => message as string);
  };
  for (const again of [await announced(), await announced()]) {
    assert.match(again, `Cannot announce agent ${id}: a live agent`);
  }
  // In Node, by the worker's exit: Web Locks tell of it late
  // (compatibility.md).
  const ended = new Promise((resolve) =>
    onAgentExit(id, resolve, thread.worker)
  );
  thread.stop();
  await ended;
  assert.is(await announced(), `${id}`);
});

/** Runs `body` where Web Locks are refused, as in a sandboxed frame. */
async function refusingLocks(body: () => Promise<void>): Promise<void> {
  const scope = globalThis as { navigator?: object };
  const had = scope.navigator;
  if (had === undefined) scope.navigator = {};
  const request = () => {
    const why = "Access to the Locks API is denied in this context.";
    return Promise.reject(new DOMException(why, "SecurityError"));
  };
  const its = { value: { request }, configurable: true };
  Object.defineProperty(scope.navigator, "locks", its);
  try {
    await body();
  } finally {
    Reflect.deleteProperty(scope.navigator!, "locks");
    if (had === undefined) delete scope.navigator;
  }
}

test("where Web Locks are refused, announceAgent() only tells the id", async () => {
  const own = agentId();
  setAgentId(77);
  try {
    await refusingLocks(async () => {
      assert.equal(await Promise.all([announceAgent(), announceAgent()]), [
        77,
        77,
      ]);
      const why = await new Promise((resolve) => {
        onExit(5, () => assert.unreachable(), undefined, resolve);
      });
      assert.is((why as Error).name, "SecurityError");
      // Nobody is told who does not listen any more.
      const never = () => assert.unreachable();
      onExit(5, never, undefined, never)();
      await turns();
    });
    assert.is(await announceAgent(), 77); // once they are allowed
  } finally {
    setAgentId(own);
  }
});

test("an agent in a blocking call has not ended before it returned", async () => {
  const mutex = Mutex.create();
  const thread = await spawn(ANNOUNCED, mutex.handle);
  const id = await thread.next<number>();
  const ended = new Promise<boolean>((resolve) => {
    onAgentExit(
      id,
      // The agent left its call and unlocked, or it has ended.
      () => resolve(mutex.owner === 0 || mutex.abandon(id) === 1),
      thread.worker,
    );
  });
  thread.post(300);
  await turns();
  thread.stop();
  assert.is(await ended, true);
  using _lock = mutex.tryLock()!;
  assert.is(mutex.owner, agentId());
});

test("onAgentExit() refuses what is no id and no function", () => {
  const none = new ArrayBuffer(0);
  for (const id of [0, -1, 2 ** 28, NaN]) {
    const listen = () => onAgentExit(id, () => {});
    refuses(none, listen, RangeError, `received ${id}`);
  }
  const wrong = undefined as never;
  refuses(none, () => onAgentExit(5, wrong), TypeError, "received undefined");
  for (const worker of [null, 7, "worker"] as never[]) {
    const listen = () => onAgentExit(5, () => {}, worker);
    const parts = ["A worker must be a Worker", "received "];
    refuses(none, listen, TypeError, ...parts);
  }
});

test("onAgentExit() reports if the platform cannot tell", async () => {
  if (hasLocks) skip("Web Locks are here");
  const none = new ArrayBuffer(0);
  assert.is(await announceAgent(), agentId()); // nothing to hold
  const parts = ["agent 5 ends", "no Web Locks", "abandon(id)"];
  refuses(none, () => onAgentExit(5, () => {}), TypeError, ...parts);
  refuses(none, () => onAgentExit(5, () => {}, {}), TypeError, ...parts);
});
