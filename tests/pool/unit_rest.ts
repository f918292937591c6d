// also: node
// it waits
// A pool that has no tasks leaves the cores to others, and so do its workers.
import * as assert from "uvu/assert";
import { Pool } from "../../primitives/pool.ts";
import { suite } from "../_run/harness.ts";
import { comesToRest } from "../_run/rest.ts";
import { start } from "../_run/workers.ts";
import { tasks } from "./tasks.ts";

const WORKER = new URL("./worker.ts", import.meta.url);

const test = suite("Pool at rest");

for (const blocking of [false, true]) {
  const how = blocking ? "block" : "await";
  test(`idle workers that ${how} use no processor time`, async () => {
    const make = () => start(WORKER, { blocking });
    const pool = new Pool({ tasks, workers: 2, make });
    let count = 0;
    for await (const _ of pool.map("echo", new Array(500).fill(1))) count++;
    assert.is(await pool.run("echo", count), 500);
    assert.ok(await comesToRest());
    assert.is(await pool.run("echo", 1), 1); // they go on
    pool.terminate();
  });
}

test("a pool that scales uses no processor time, with more workers or without", async () => {
  for (const idleTimeout of [60_000, 1]) {
    const make = () => start(WORKER, {});
    const workers = { min: 0, max: 2 };
    const pool = new Pool({ tasks, workers, idleTimeout, make });
    const all = Array.from({ length: 50 }, (_, n) => pool.run("echo", n));
    assert.equal(await Promise.all(all), all.map((_, n) => n));
    const left = () => pool.stats().workers.length;
    while (idleTimeout === 1 && left() > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(await comesToRest());
    assert.is(await pool.run("echo", 1), 1);
    pool.terminate();
  }
});
