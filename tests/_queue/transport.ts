/**
 * Runs producers and consumers on one queue, and checks that every element
 * arrives once, whole, and in the order of its producer.
 *
 * @module
 */

import * as assert from "uvu/assert";
import type { Queue } from "../../mod.ts";
import type { Manner, QueueJob } from "./agent.ts";
import { Crew } from "../_run/workers.ts";

const crew = new Crew(new URL("./agent.ts", import.meta.url));

/** Runs one agent for each manner given, `count` elements a producer. */
export async function transport(
  queue: Queue,
  producers: Manner[],
  consumers: Manner[],
  count: number,
): Promise<void> {
  const { handle } = queue;
  const at = (end: QueueJob["end"]) => (manner: Manner, producer: number) =>
    crew.begin(
      { handle, end, manner, producer, count } satisfies QueueJob,
    );
  const pushing = await Promise.all(producers.map(at("push")));
  const popping = await Promise.all(consumers.map(at("pop")));
  const all = [...pushing, ...popping];
  await Promise.all(all.map((thread) => thread.next())); // all are up
  for (const thread of all) thread.post("go");
  const results = popping.map((thread) => thread.next<number[]>());
  await Promise.race([
    Promise.all(pushing.map((thread) => thread.next())),
    // A consumer ends only by an error before the queue is closed.
    Promise.all(results).then(() => Promise.reject(new Error("ended early"))),
  ]);
  queue.close();
  check(await Promise.all(results), producers.length, count);
  for (const thread of all) crew.end(thread);
}

function check(results: number[][], producers: number, count: number): void {
  const seen = Array.from({ length: producers }, () => new Uint8Array(count));
  for (const elements of results) {
    const last = new Int32Array(producers).fill(-1);
    for (const element of elements) {
      const producer = element >>> 24;
      const n = element & 0xff_ffff;
      assert.ok(n > last[producer]!, `${n} after ${last[producer]}: reordered`);
      last[producer] = n;
      assert.is(seen[producer]![n]++, 0, `${n} of ${producer} came twice`);
    }
  }
  for (const [producer, elements] of seen.entries()) {
    const lost = elements.indexOf(0);
    assert.is(lost, -1, `element ${lost} of producer ${producer} is lost`);
  }
}
