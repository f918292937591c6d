// A thread of C does the tasks of a pool.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { codec, inPlace, Pool, task } from "../../primitives/pool.ts";
import { guestOf } from "../_run/guest.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";

const test = suite("weft_pool_serve");

const SOURCE = fileURLToPath(new URL("./guest.c", import.meta.url));
const GUEST = new URL("./guest.ts", import.meta.url);

/** Where the pool lies, behind what the module has for itself. */
const AT = 1 << 19;

const bytes = { request: codec.binary, reply: codec.binary };
const tasks = {
  increment: task(bytes),
  fail: task(bytes),
  inPlace: task({ request: inPlace, reply: codec.i32 }),
  other: task(bytes),
};

test("does the tasks of a pool in the memory of its module", async () => {
  const module = await guestOf(SOURCE);
  const pages = { initial: 16, maximum: 16, shared: true };
  const memory = new WebAssembly.Memory(pages);
  const size = { slots: 8, bytes: 64 };
  assert.ok(AT + Pool.byteLength(size) <= memory.buffer.byteLength);
  const place = { memory, byteOffset: AT, ...size };
  const pool = new Pool({ tasks, workers: 0, guests: 1, ...place });
  const early = pool.run("increment", Uint8Array.of(1));
  const guest = await spawn(GUEST, { module, memory, at: AT });
  assert.is(await guest.next(), "ready");
  assert.equal([...await early], [2]);
  const results = await Promise.all(
    Array.from(
      { length: 100 },
      (_, i) => pool.run("increment", Uint8Array.of(i, 7)),
    ),
  );
  assert.equal(results.map(([i]) => i), results.map((_, i) => i + 1));
  const messageOf = (promise: Promise<unknown>) =>
    promise.then(String, ({ message }) => message);
  const request = new Uint8Array(1);
  assert.is(await messageOf(pool.run("fail", request)), "no luck in C");
  const missing = await messageOf(pool.run("other", request));
  assert.is(missing, "C has no function for this task");
  const data = new Uint8Array(memory.buffer, AT + Pool.byteLength(size));
  assert.is(await pool.run("inPlace", data.subarray(1, 1000)), 999);
  assert.is(await pool.run("inPlace", Uint8Array.of(1, 2)), 2);
  assert.equal([data[0], data[1], data[999], data[1000]], [0, 1, 1, 0]);
  const { done, failed, run } = pool.stats();
  assert.equal([done, failed, run.count], [103, 2, 105]);
  await pool.close();
  assert.is(await guest.next(), 105);
});
