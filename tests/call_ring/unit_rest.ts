// also: node
// it waits
// A server that has no calls leaves its core to others: it spins for a while
// when it has answered, but not for ever.
import * as assert from "uvu/assert";
import { CallRing } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { comesToRest } from "../_run/rest.ts";
import { spawn } from "../_run/workers.ts";
import type { CallJob } from "./agent.ts";

const AGENT = new URL("./agent.ts", import.meta.url);

const test = suite("CallRing at rest");

test("a server without calls uses no processor time", async () => {
  const ring = CallRing.create({ request: 4, reply: 4 });
  const job: CallJob = { memory: ring.buffer, at: 0, serves: true, count: 0 };
  const server = await spawn(AGENT, job);
  await server.next(); // it has begun
  // Its first waits are of those that spin; later it finds out what is better.
  let served = 0;
  for (const calls of [0, 3, 200]) {
    for (let i = 0; i < calls; i++, served++) {
      await ring.callAsync(Uint8Array.of(i));
    }
    assert.ok(await comesToRest(), `after ${served} calls`);
  }
  // It serves on.
  assert.equal(await ring.callAsync(Uint8Array.of(7)), Uint8Array.of(8));
  ring.close();
  assert.is(await server.next(), served + 1);
});
