// also: node
// Threads of C and of TypeScript, and this one, call and serve each other.
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { CallRing } from "../../mod.ts";
import type { CallJob } from "./agent.ts";
import { isRight, plusOne, requestOf } from "./cases.ts";
import { suite } from "../_run/harness.ts";
import { Crew } from "../_run/workers.ts";
import { type TwinModule, twinModule } from "../_twin/module.ts";

const crew = new Crew(new URL("./agent.ts", import.meta.url));
// Each in full: the bundle for Node keeps such paths as they are.
const SOURCE = fileURLToPath(new URL("./twin.c", import.meta.url));
const OUT = fileURLToPath(
  new URL("../../.weft/twin/calls.mjs", import.meta.url),
);

const { module, memory, arena } = await twinModule<TwinModule>(
  SOURCE,
  OUT,
  ["-sPTHREAD_POOL_SIZE=4"],
);
const RING = arena + 1024;

const test = suite("Twins of calls");

const soon = () => new Promise((resolve) => setTimeout(resolve, 1));
let places = 0;

/** Starts a thread that calls or serves; resolves to how many calls it did. */
async function start(
  by: "C" | "JS",
  serves: boolean,
  count = 0,
): Promise<{ over: Promise<number> }> {
  if (by === "JS") {
    const job: CallJob = { memory, at: RING, serves, count };
    const thread = await crew.begin(job);
    assert.is(await thread.next(), "begun");
    const end = async () => {
      const calls = await thread.next<number>();
      crew.end(thread);
      return calls;
    };
    return { over: end() };
  }
  const place = arena + 64 * (places++ % 8);
  const buffer = memory.buffer as unknown as SharedArrayBuffer;
  const words = new Int32Array(buffer, place, 6);
  words.set([0, serves ? 1 : 0, RING, count, 0, 0]);
  assert.is(module._start(place), 0);
  while (Atomics.load(words, 0) === 0) await soon();
  const end = async () => {
    while (Atomics.load(words, 0) < 2) await soon();
    assert.is(words[5], 0, `calls.c:${words[5]}`);
    return words[4]!;
  };
  return { over: end() };
}

/** Calls from here, awaiting. */
async function callFromHere(ring: CallRing, count: number): Promise<number> {
  for (let i = 0; i < count; i++) {
    const request = requestOf(i);
    const end = await ring.callAsync(request).catch((error) => error);
    assert.ok(isRight(request, end), `call ${i}: ${end}`);
  }
  return count;
}

const N = 600;

for (const slots of [1, 4]) {
  for (const server of ["C", "JS", "main", "both"] as const) {
    test(`${slots} slots, served by ${server}`, async () => {
      const config = { slots, request: 24, reply: 24 };
      const ring = CallRing.init(memory, RING, config);
      const servers: Promise<number>[] = [];
      if (server === "main") servers.push(ring.serveAsync(plusOne));
      if (server === "C" || server === "both") {
        servers.push((await start("C", true)).over);
      }
      if (server === "JS" || server === "both") {
        servers.push((await start("JS", true)).over);
      }
      const callers = [
        (await start("C", false, N)).over,
        (await start("C", false, N)).over,
        (await start("JS", false, N)).over,
      ];
      if (server !== "main") callers.push(callFromHere(ring, N));
      const called = await Promise.all(callers);
      ring.close();
      const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
      assert.is(sum(called), callers.length * N);
      assert.is(sum(await Promise.all(servers)), callers.length * N);
      assert.is(ring.pending, 0);
    });
  }
}
