// also: node, browsers
// Requests and results that are moved instead of being copied.
import * as assert from "uvu/assert";
import { Slots } from "../../primitives/_calls/ring/slots.ts";
import { PHASE_MASK, SERVING } from "../../primitives/_calls/ring/words.ts";
import type { Member } from "../../primitives/_pool/crew.ts";
import { hand } from "../../primitives/_pool/events.ts";
import { Jobs } from "../../primitives/_pool/jobs.ts";
import { CallRing } from "../../primitives/call_ring.ts";
import { Pool, transfer, WorkerError } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { withPool as withSome, workerOf } from "./pools.ts";
import { type Moving, tasks } from "./tasks.ts";
import type { Orders } from "./worker.ts";

const test = suite("tasks that are moved");

/** Runs `body` with a pool of `workers` workers. */
const withPool = (
  orders: Orders,
  body: (pool: Pool<typeof tasks>) => Promise<unknown>,
  workers = 2,
) => withSome({ orders, workers }, body);

/** Bytes that are moved, and what is done with them. */
function moving(length: number, how?: Moving["how"]) {
  const bytes = new Uint8Array(length).fill(7);
  const request = transfer<Moving>({ bytes, how: how! }, [bytes.buffer]);
  return { bytes, request };
}

const failure = (promise: Promise<unknown>) =>
  promise.then(() => assert.unreachable(), (error) => error);

const move = (pool: Pool<typeof tasks>, request: unknown) =>
  pool.run("move", request) as Promise<Required<Moving>>;

for (const limit of [1, 3]) {
  test(`bytes move to a worker and back, ${limit} at a time`, () =>
    withPool({ limit }, async (pool) => {
      const all = Array.from({ length: 300 }, async (_, n) => {
        const { bytes, request } = moving(n + 1);
        const result = move(pool, request);
        assert.is(bytes.length, 0, "they are gone at once");
        const back = (await result).bytes;
        assert.is(back.length, n + 1); // more than a slot holds, at last
        assert.ok(back.every((byte) => byte === 8));
      });
      await Promise.all(all);
      assert.is(pool.stats().done, 300);
    }));
}

test("a port moves to a worker; shared memory is shared", () =>
  withPool({}, async (pool) => {
    const { port1, port2 } = new MessageChannel();
    const shared = new Int32Array(new SharedArrayBuffer(4));
    const told = new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
    });
    const { port } = await move(
      pool,
      transfer({ port: port2, shared }, [port2]),
    );
    assert.is(await told, "from the worker");
    assert.is(shared[0], 1);
    port1.onmessage = null;
    port1.close();
    port.close();
  }));

test("a result may be copied, though the request was moved; map() moves, too", () =>
  withPool({}, async (pool) => {
    const { bytes } = await move(pool, moving(3, "copy").request);
    assert.equal([...bytes], [8, 8, 8]);
    let n = 0;
    const requests = Array.from({ length: 50 }, (_, i) => moving(i).request);
    for await (const it of pool.map("move", requests)) {
      assert.is((it as Required<Moving>).bytes.length, n++);
    }
    assert.is(n, 50);
  }));

test("a task that talks is moved, too", () =>
  withPool({}, async (pool) => {
    const { request } = moving(2);
    const { result, send } = pool.start("move", request, {
      onReport: () => {},
    });
    assert.ok(send("nobody listens"));
    assert.is((await result as Required<Moving>).bytes.length, 2);
  }));

test("what cannot be moved is refused", () =>
  withPool({}, async (pool) => {
    const bytes = new Uint8Array(4);
    const bad = { bytes, f: () => {} };
    const error = await failure(
      pool.run("move", transfer(bad, [bytes.buffer])),
    );
    assert.instance(error, TypeError);
    assert.match(error.message, "request of task move cannot be transferred");
    // Deno detaches first, and looks at the value then.
    if (!("Deno" in globalThis)) assert.is(bytes.length, 4);
    assert.is(pool.stats().failed, 0);
    await failure(move(pool, moving(4, "wrong").request));
    const thrown = await failure(move(pool, moving(4, "throw").request));
    assert.instance(thrown, RangeError);
    assert.is((await move(pool, moving(4).request)).bytes.length, 4);
  }));

test("who is refused keeps what would have been moved", async () => {
  const make = workerOf({});
  const pool = new Pool({ tasks, workers: 1, slots: 1, maxQueue: 1, make });
  const ran = Array.from({ length: 6 }, () => {
    const { bytes, request } = moving(4);
    const outcome = move(pool, request).then(() => "done", ({ name }) => name);
    return { bytes, outcome };
  });
  const outcomes = await Promise.all(ran.map(({ outcome }) => outcome));
  assert.ok(outcomes.includes("done"));
  assert.ok(outcomes.includes("QueueFullError"));
  for (const [i, { bytes }] of ran.entries()) {
    assert.is(bytes.length, outcomes[i] === "done" ? 0 : 4, outcomes[i]);
  }
  const { bytes, request } = moving(4);
  const signal = AbortSignal.abort("not now");
  const aborted = await failure(pool.run("move", request, { signal }));
  assert.is(aborted, "not now");
  await pool.close();
  assert.is((await failure(move(pool, request))).name, "ClosedError");
  assert.is(bytes.length, 4);
});

test("a worker that dies with what was moved fails the task, once", () =>
  withPool({}, async (pool) => {
    const error = await failure(move(pool, moving(4, "exit").request));
    assert.instance(error, WorkerError); // though it is idempotent
    assert.match(error.message, /died(?!.*times)/);
    assert.is((await move(pool, moving(4).request)).bytes.length, 4);
  }, 1));

test("a task that is given up before its request comes leaves its worker free", () =>
  withPool({}, async (pool) => {
    await pool.run("echo", 1);
    for (let i = 0; i < 20; i++) {
      const control = new AbortController();
      const { signal } = control;
      const wait = pool.run("move", moving(1, "wait").request, { signal });
      for (let n = 0; n < i % 4; n++) await pool.room();
      if (i % 2) await new Promise((resolve) => setTimeout(resolve, i / 4));
      control.abort("enough");
      assert.is(await failure(wait), "enough");
    }
    assert.is(await pool.run("echo", 2), 2);
    assert.is((await move(pool, moving(4).request)).bytes.length, 4);
  }, 1));

test("a worker that blocks moves results only", () =>
  withPool({ blocking: true }, async (pool) => {
    const error = await failure(move(pool, moving(4).request));
    assert.match(error.message, /cannot take what is transferred.*blocks/);
    const bytes = Uint8Array.of(1, 2);
    const { bytes: back } = await move(pool, { bytes });
    assert.equal([...back], [2, 3]);
  }));

test("nothing is handed to a worker that does not serve the task any more", () => {
  const ring = CallRing.create({ slots: 1, request: 64, reply: 64 });
  const { buffer, byteOffset, byteLength } = ring;
  const words = new Int32Array(buffer, byteOffset, byteLength / 4);
  const slots = new Slots(words, 1);
  const jobs = new Jobs(() => {}, () => {});
  const job = jobs.make(undefined, 0, 0, { resolve() {}, reject() {} });
  job.at = slots.claim();
  jobs.move(job, "posted");
  const parcel = { value: 7, list: [] };
  job.parcel = parcel;
  const sent: { values: unknown[] }[] = [];
  const worker = { postMessage: (it: never) => sent.push(it) };
  const member = { worker, id: 5 } as unknown as Member;
  const attempt = (word: number) => {
    Atomics.store(words, job.at, word);
    hand(job, job.token, member, slots);
    return [sent.pop()!.values.length, job.parcel === undefined];
  };
  assert.equal(attempt(SERVING | 6), [0, false], "another worker does it");
  assert.equal(attempt(PHASE_MASK & ~SERVING | 5), [0, false]);
  assert.equal(attempt(SERVING | 5), [1, true]);
  assert.equal(attempt(SERVING | 5), [0, true], "it is gone");
  hand(undefined, 1, member, slots);
  assert.is(sent.pop()!.values.length, 0);
});
