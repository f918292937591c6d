// A thread of C does the tasks of a pool.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { codec, inPlace, Pool, task, transfer } from "../../primitives/pool.ts";
import { guestOf } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";

const test = suite("weft_pool_serve");

const pause = () => new Promise((resolve) => setTimeout(resolve, 1));

const SOURCE = fileURLToPath(new URL("./guest.c", import.meta.url));
const GUEST = new URL("./guest.ts", import.meta.url);

/** Where the pool lies, behind what the module has for itself. */
const AT = 1 << 19;

const bytes = { request: codec.binary, reply: codec.binary };
const tasks = {
  increment: task(bytes),
  fail: task(bytes),
  inPlace: task({ request: inPlace, reply: codec.i32 }),
  wait: task(bytes),
  none: task({ request: codec.binary, reply: codec.json }),
  other: task(bytes),
};

test("does the tasks of a pool in the memory of its module", async () => {
  const module = await guestOf(SOURCE);
  const pages = { initial: 16, maximum: 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const size = { slots: 8, bytes: 128 };
  assert.ok(AT + Pool.byteLength(size) <= memory.buffer.byteLength);
  const place = { memory, byteOffset: AT, ...size };
  const pool = new Pool({ tasks, workers: 0, guests: 1, ...place });
  const early = pool.run("increment", Uint8Array.of(1));
  const guest = await spawn(GUEST, { module, memory, at: AT, id: 4711 });
  assert.is(await guest.next(), "ready");
  assert.equal([...await early], [2]);
  const results = await Promise.all(
    Array.from(
      { length: 100 },
      (_, i) => pool.run("increment", Uint8Array.of(i, 7)),
    ),
  );
  assert.equal(results.map(([i]) => i), results.map((_, i) => i + 1));
  const request = new Uint8Array(1);
  const thrown = (
    name: "fail" | "other" | "increment",
    request: Uint8Array<ArrayBuffer>,
  ) => pool.run(name, request).then(String, (error) => error);
  const error = await thrown("fail", request);
  assert.instance(error, RangeError);
  assert.equal([error.message, error.code], ['no "luck"', "E_C"]);
  const { message } = await thrown("fail", new Uint8Array());
  assert.match(message, "bytes is too small");
  const missing = await thrown("other", request);
  assert.instance(missing, TypeError);
  assert.is(missing.message, "C has no function for this task");
  const long = await thrown("increment", new Uint8Array(129));
  assert.instance(long, RangeError);
  assert.match(long.message, "too long for C: give the pool the option bytes");
  const moved = await thrown("increment", transfer(request.slice(), []));
  assert.is(moved.message, "C cannot take what is transferred");
  assert.is(await pool.run("none", request), undefined);
  const data = new Uint8Array(memory.buffer, AT + Pool.byteLength(size));
  assert.is(await pool.run("inPlace", data.subarray(1, 1000)), 999);
  assert.is(await pool.run("inPlace", Uint8Array.of(1, 2)), 2);
  assert.equal([data[0], data[1], data[999], data[1000]], [0, 1, 1, 0]);
  const control = new AbortController();
  const { signal } = control;
  const endless = pool.run("wait", request, { signal })
    .catch((reason) => reason);
  while (pool.stats().running === 0) await pause();
  assert.is(pool.stats().workers[0]!.state, "busy");
  control.abort(7);
  assert.is(await endless, 7);
  assert.equal([...await pool.run("increment", request)], [1]);
  const { done, failed, run, workers } = pool.stats();
  assert.equal([done, failed, run.count], [105, 6, 110]);
  assert.is(workers.length, 1);
  const { state, tasks: count, busy, idle, share } = workers[0]!;
  assert.equal([state, count], ["idle", 110]);
  assert.ok(busy > 0 && idle >= 0 && share > 0 && share <= 1);

  // A thread that is not needed ends, and another one goes on.
  await pool.resize(0, 0);
  assert.is(await guest.next(), 111);
  assert.equal(pool.stats().workers, []);
  const late = pool.run("increment", request);
  await pool.resize(0, 1);
  const next = await spawn(GUEST, { module, memory, at: AT, id: 4712 });
  assert.is(await next.next(), "ready");
  assert.equal([...await late], [1]);
  assert.is(pool.stats().workers[0]!.tasks, 1);
  await pool.close();
  assert.is(await next.next(), 1);
});
