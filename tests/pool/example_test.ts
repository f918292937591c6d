// The pool of the examples; its workers of C are part of the workloads.
import * as assert from "uvu/assert";
import { Pool } from "../../docs/examples/pool.ts";
import { arena } from "../../docs/examples/pool_worker.ts";
import { ClosedError, Event } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { spawn, type Thread } from "../_run/workers.ts";

const test = suite("the pool of the examples");

const WORKER = new URL("./example_worker.ts", import.meta.url);

/** A pool of `count` slots of 8 bytes, served by so many workers. */
async function open(count: number, workers: number) {
  const size = { count, bytes: 8 };
  const memory = new SharedArrayBuffer(256 + arena(size).byteLength);
  const place = { memory, base: 256, ...size };
  const pool = new Pool(place);
  const begun = Event.create({ autoReset: true });
  const gate = Event.create();
  const order = { place, begun: begun.handle, gate: gate.handle };
  const threads: Thread[] = [];
  for (let i = 0; i < workers; i++) threads.push(await spawn(WORKER, order));
  /** Closes it; returns how many tasks the workers did. */
  const close = async () => {
    await pool.close();
    let sum = 0;
    for (const thread of threads) sum += await thread.next<number>();
    return sum;
  };
  return { pool, begun, gate, close };
}

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (reason) {
    return reason;
  }
  throw new Error("did not reject");
}

const bytes = (...values: number[]) => Uint8Array.from(values);

test("many tasks at once, each with its own result", async () => {
  const { pool, close } = await open(4, 2);
  const results = await Promise.all(
    Array.from({ length: 500 }, (_, i) => pool.submit(bytes(i % 250, i >> 8))),
  );
  for (const [i, result] of results.entries()) {
    assert.equal([...result], [i % 250 + 1, (i >> 8) + 1]);
  }
  assert.equal([...await pool.submit(bytes())], []);
  assert.is(await close(), 501);
});

test("what a worker throws is thrown to who submitted", async () => {
  const { pool, close } = await open(2, 1);
  const thrown = await reasonOf(pool.submit(bytes(255)));
  assert.is(String(thrown), "Error: TypeErro"); // cut to what a slot holds
  assert.match(String(await reasonOf(pool.submit(bytes(254)))), "RangeErr");
  assert.equal([...await pool.submit(bytes(1))], [2]);
  await close();
});

test("a task that is aborted before it begins is not done", async () => {
  const { pool, begun, gate, close } = await open(2, 1);
  const running = pool.submit(bytes(253));
  await begun.waitAsync();
  const queued = new AbortController(), waiting = new AbortController();
  const second = reasonOf(pool.submit(bytes(2), queued.signal));
  assert.ok(pool.full);
  const third = reasonOf(pool.submit(bytes(3), waiting.signal));
  const fourth = pool.submit(bytes(4));
  queued.abort("queued");
  waiting.abort("waiting");
  assert.is(await second, "queued");
  assert.is(await third, "waiting");
  gate.set();
  assert.equal([...await running], [254]);
  assert.equal([...await fourth], [5]);
  assert.not.ok(pool.full);
  assert.is(await close(), 2);
});

test("a task that is aborted while it runs is rejected at once", async () => {
  const { pool, begun, gate, close } = await open(1, 1);
  const abortion = new AbortController();
  const running = reasonOf(pool.submit(bytes(253), abortion.signal));
  await begun.waitAsync();
  abortion.abort("late");
  assert.is(await running, "late");
  gate.set();
  assert.equal([...await pool.submit(bytes(7))], [8]);
  assert.is(await close(), 2);
});

test("close() waits for what was submitted, and ends the workers", async () => {
  const { pool, close } = await open(1, 2);
  const results = [1, 2, 3].map((i) => pool.submit(bytes(i)));
  assert.is(await close(), 3);
  assert.equal((await Promise.all(results)).map(([byte]) => byte), [2, 3, 4]);
  assert.instance(await reasonOf(pool.submit(bytes(1))), ClosedError);
});

test("what cannot be done is refused", async () => {
  const { pool, close } = await open(1, 1);
  const long = await reasonOf(pool.submit(new Uint8Array(9)));
  assert.is(String(long), "RangeError: Too many bytes for a slot: 9");
  const aborted = AbortSignal.abort("no");
  assert.is(await reasonOf(pool.submit(bytes(1), aborted)), "no");
  assert.is(await close(), 0);
});
