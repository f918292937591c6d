// also: node
// it waits
// Objects that are released to a server which is busy.
import * as assert from "uvu/assert";
import { CallRing, connect } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { spawn } from "../_run/workers.ts";
import type { api } from "./nested_api.ts";

const test = suite("calls: objects of a busy server");

type Api = typeof api;

for (const again of ["with the next one", "by itself"]) {
  test(`what a busy server does not release is released ${again}`, async () => {
    const ring = CallRing.create({ slots: 2, request: 128, reply: 64 });
    const url = new URL("./nested_agent.ts", import.meta.url);
    const thread = await spawn(url, ring.handle);
    await thread.next();
    const remote = connect.blocking<Api>(ring);
    const counters = [1, 2, 3, 4, 5, 6].map((n) => new remote.Counter(n));
    const next = counters.pop()!;
    const begin = performance.now();
    const busy = connect<Api>(ring).busy(2500);
    for (const counter of counters) counter[Symbol.dispose]();
    // The first one gives up after a second, and the others do not wait.
    const took = performance.now() - begin;
    assert.ok(took < 2400, "it has waited for the server");
    if (again === "with the next one") {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000 - took);
      next[Symbol.dispose](); // no timer has run meanwhile
    }
    await busy;
    if (again === "by itself") {
      await new Promise((end) => setTimeout(end, 1500));
    }
    assert.is(ring.pending, 0);
    ring.close();
    const released = again === "by itself" ? 5 : 6;
    assert.is(await thread.next(), 6 + 1 + released);
    next[Symbol.dispose](); // it was needed until here, and not collected
    thread.stop();
  });
}
