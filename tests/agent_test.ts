// also: node
import * as assert from "uvu/assert";
import { agentId, Mutex, setAgentId } from "../mod.ts";
import { suite } from "./harness.ts";
import { asAgent, refuses } from "./model.ts";
import { spawn } from "./threads.ts";

const AGENT = new URL("./agents/id.ts", import.meta.url);
const MAX_ID = 2 ** 28 - 1;

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

test("setAgentId() refuses what is no id, and says what it got", () => {
  const own = agentId();
  const none = new ArrayBuffer(0);
  for (const id of [0, -1, 2 ** 28, 1.5, NaN, Infinity]) {
    refuses(none, () => setAgentId(id), RangeError, `received ${id}`);
    assert.is(agentId(), own);
  }
});
