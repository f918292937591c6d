// also: node
// Four agents do all that a map can do, with keys and values in a small heap.
import process from "node:process";
import * as assert from "uvu/assert";
import { HashMap, inspect } from "../../mod.ts";
import { suite } from "../_run/harness.ts";
import { Crew } from "../_run/workers.ts";
import type { Done, Order } from "./agent.ts";
import { usedIn } from "./heap_model.ts";
import {
  blocksOf,
  BODY,
  CODECS,
  IN_ENTRY,
  KEYS,
  LONGEST,
  nameOf,
} from "./long_keys.ts";

const test = suite("HashMap in threads");

const crew = new Crew(new URL("./agent.ts", import.meta.url));
const SEATS = 4;
/** The steps of each agent. */
const STEPS = Number(process.env.WEFT_STEPS ?? 3000);

/** A map with `blocks` blocks. */
function made(capacity: number, blocks: number, caches: object) {
  const blockSize = BODY + 8;
  return HashMap.create({
    ...CODECS,
    ...caches,
    capacity,
    keySize: LONGEST,
    valueSize: LONGEST,
    heap: {
      bytes: blocks * blockSize,
      blockSize,
      inEntry: IN_ENTRY.value,
      keyInEntry: IN_ENTRY.key,
    },
  });
}

/** Which maps: too few entries, too few blocks, or just those of one key. */
const MAPS = [
  { capacity: 50, blocks: 1000 },
  { capacity: 400, blocks: 150 },
  { capacity: 50, blocks: 150 },
  { capacity: 400, blocks: 10 },
] as const;
const CACHES = [
  ["a map", {}],
  ["a cache", { evict: "clock" }],
  ["a cache with ttl", { evict: "clock", ttl: 2 }],
] as const;

for (const [what, caches] of CACHES) {
  for (const { capacity, blocks } of MAPS) {
    const name = `${what} of ${capacity} entries and ${blocks} blocks`;
    test(`${name} keeps its promises to four agents`, async () => {
      const map = made(capacity, blocks, caches);
      const clears = new Int32Array(new SharedArrayBuffer(8));
      const orders = Array.from({ length: SEATS }, (_, seat): Order => ({
        handle: map.handle,
        seat,
        seats: SEATS,
        steps: STEPS,
        seed: 77 + seat,
        evicts: what !== "a map",
        clears,
      }));
      const threads = await Promise.all(
        orders.map((order) => crew.begin(order)),
      );
      const done = await Promise.all(threads.map((one) => one.next<Done>()));
      for (const thread of threads) crew.end(thread);
      assert.equal(done.flatMap(({ problems }) => problems), []);
      assert.ok(done.every(({ found }) => found > 0));
      const isFull = done.some(({ full }) => full > 0);
      assert.is(isFull, what === "a map");
      assert.equal(inspect(map).problems, []);
      const entries = [...map];
      assert.is(new Map(entries).size, entries.length);
      if (what !== "a cache with ttl") {
        const wanted = entries.reduce((n, [k, v]) => n + blocksOf(k, v), 0);
        assert.is(usedIn(map), wanted);
      }
      map.clear();
      assert.is(usedIn(map), 0);
      const { evictions } = map;
      let left = blocks;
      let count = 0;
      for (let key = 0; key < KEYS && count < capacity; key++) {
        const more = blocksOf(nameOf(key), "");
        if (more > left) continue;
        left -= more;
        count++;
        assert.ok(map.set(nameOf(key), ""));
      }
      assert.is(map.size, count);
      assert.is(map.evictions, evictions);
    });
  }
}
