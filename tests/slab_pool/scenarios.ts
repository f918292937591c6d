import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { enter, named, type Scenario, type Weft } from "../_run/scenario.ts";

const BITMAP = LAYOUT.slab_pool.length;
/** The bitmap and the owners, read plainly before an exchange checks them. */
const HINTS = [[BITMAP * 4, (BITMAP + 64) * 4]] as const;

/** A pool of a few blocks. A block that an agent holds must be its own. */
function pool(weft: Weft, capacity: number, cache = 0) {
  const { SlabPool } = weft.mod;
  return race.spec({
    memory: () => SlabPool.create({ capacity, blockSize: 4 }).buffer,
    agent: (memory, id) => {
      enter(weft, id);
      const pool = new SlabPool(memory);
      pool.useCache(cache);
      return pool;
    },
    words: named(LAYOUT.slab_pool),
    hints: HINTS,
    stateless: false,
    ops: {
      use: {
        // Nobody else writes a block between allocate and free.
        run: (pool, value: number) => {
          const at = pool.allocate();
          if (at < 0) return "none";
          const block = new Int32Array(pool.buffer, at, 1);
          block[0] = value;
          const found = block[0];
          pool.free(at);
          return found === value ? "used" : "shared";
        },
        lockFree: true,
      },
      take: { run: (pool) => pool.allocate(), lockFree: true },
      release: { run: (pool) => pool.release(), lockFree: true },
    },
    recover: (pool, dead) => void pool.abandon(dead + 1, true),
    final: (memory, results) => {
      const flat = results.flat();
      if (flat.includes("shared")) return "a block had two owners";
      const taken = flat.filter((at): at is number =>
        typeof at === "number" && at >= 0
      );
      if (new Set(taken).size < taken.length) return `taken twice: ${taken}`;
      const { available } = new SlabPool(memory);
      if (available + taken.length !== capacity) {
        return `${available} left after ${taken.length} of ${capacity}`;
      }
      // Try to take a block that is free.
      const words = new Int32Array(memory);
      for (let block = 0; block < capacity; block++) {
        const owner = words[BITMAP + 32 + block];
        const bit = words[BITMAP]! >> block & 1;
        if (owner === 0 && bit === 1) return `block ${block} is lost`;
      }
    },
  });
}

/** In an owner word: the block lies in that agent's cache. */
const CACHED = 1 << 28;
/** An agent that ended long ago. */
const DEAD = 9;

/**
 * A pool whose blocks have these owners at the start, where a negative one is
 * 0 with the bit still set; `left` are free at the end.
 */
function owned(
  weft: Weft,
  start: readonly number[],
  left: (results: unknown[][]) => number | string | undefined,
  cache = 0,
) {
  const { SlabPool } = weft.mod;
  const capacity = start.length;
  const owners = BITMAP + 32;
  const blocks = SlabPool.byteLength({ capacity, blockSize: 4 }) - capacity * 4;
  const blockAt = (at: number) =>
    at < 0 ? "none" : `block ${(at - blocks) / 4}`;
  return race.spec({
    memory: () => {
      const { buffer } = SlabPool.create({ capacity, blockSize: 4 });
      const words = new Int32Array(buffer);
      start.forEach((owner, block) => {
        words[owners + block] = Math.max(owner, 0);
        if (owner !== 0) words[BITMAP + (block >> 5)]! |= 1 << block;
      });
      return buffer;
    },
    agent: (memory, id) => {
      enter(weft, id);
      const pool = new SlabPool(memory);
      pool.useCache(cache);
      return pool;
    },
    words: named(LAYOUT.slab_pool),
    hints: [[BITMAP * 4, (owners + 64) * 4]],
    stateless: false,
    ops: {
      take: { run: (pool) => blockAt(pool.allocate()) },
      free: {
        run: (pool, block: number) => {
          try {
            pool.free(blocks + block * 4);
            return "freed";
          } catch (error) {
            if (`${error}`.includes("free already")) return "refused";
            throw error;
          }
        },
      },
      keep: {
        run: (pool) => {
          const at = pool.allocate();
          if (at >= 0) pool.free(at);
        },
      },
      release: { run: (pool) => pool.release() },
      abandon: { run: (pool, id: number) => pool.abandon(id) },
      abandonAll: { run: (pool, id: number) => pool.abandon(id, true) },
    },
    final: (memory, results) => {
      const words = new Int32Array(memory);
      for (const [id, answers] of results.entries()) {
        const last = answers[answers.length - 1];
        if (typeof last !== "string" || !last.startsWith("block ")) continue;
        const owner = words[owners + Number(last.slice(6))];
        if (owner !== id + 1) return `${last} of ${id + 1} is ${owner}'s`;
      }
      for (let block = 0; block < capacity; block++) {
        const bit = words[BITMAP + (block >> 5)]! >> block & 1;
        if (words[owners + block] === 0 && bit === 1) return `${block} is lost`;
      }
      const expected = left(results);
      if (typeof expected === "string") return expected;
      const { available } = new SlabPool(memory);
      if (available !== (expected ?? available)) {
        return `${available} left, not ${expected}`;
      }
    },
  });
}

/** How often an answer stands in results. */
const times = (results: unknown[][], ...answers: unknown[]): number =>
  results.flat().filter((answer) => answers.includes(answer)).length;

/** A block that only one agent frees. */
const once = (results: unknown[][]): number | string => {
  const freed = times(results, "freed", 1);
  return freed === 1 ? 1 - times(results, "block 0") : `freed ${freed} times`;
};

/** Every interleaving of a pool's operations. */
export const scenarios = (weft: Weft): Scenario[] => [
  {
    name: "two use one block",
    spec: pool(weft, 1),
    agents: [[["use", 1], ["use", 2]], [["use", 3], ["use", 4]]],
  },
  {
    name: "three take two",
    spec: pool(weft, 2),
    agents: [[["take"]], [["take"]], [["take"]]],
  },
  {
    name: "two use two blocks through caches",
    spec: pool(weft, 2, 2),
    agents: [[["use", 1], ["release"]], [["use", 3], ["release"]]],
  },
  {
    name: "an agent terminated at any step",
    spec: pool(weft, 2),
    agents: [[["use", 1]], [["use", 2], ["use", 3]]],
    options: { kill: true },
  },
  {
    name: "two free one block",
    spec: owned(weft, [DEAD], once),
    agents: [[["free", 0]], [["free", 0]]],
  },
  {
    name: "nobody frees what is in a cache",
    spec: owned(weft, [DEAD | CACHED], () => 0),
    agents: [[["free", 0]]],
  },
  {
    name: "two abandon the same agent",
    spec: owned(weft, [DEAD], once),
    agents: [[["abandonAll", DEAD]], [["abandonAll", DEAD]]],
  },
  {
    name: "a block is abandoned while another frees it",
    spec: owned(weft, [DEAD], once),
    agents: [[["abandonAll", DEAD]], [["free", 0], ["take"]]],
  },
  {
    name: "abandons caches, and what was being freed",
    spec: owned(
      weft,
      [DEAD | CACHED, DEAD, -1, 8, 8 | CACHED],
      (results) => times(results, 1) === 1 ? 2 : "another count",
    ),
    agents: [[["abandon", DEAD]]],
  },
  {
    name: "abandons all blocks of an agent",
    spec: owned(
      weft,
      [DEAD | CACHED, DEAD, -1, 8, 8 | CACHED],
      (results) => times(results, 2) === 1 ? 3 : "another count",
    ),
    agents: [[["abandonAll", DEAD]]],
  },
  {
    name: "an abandoned agent takes from its cache",
    spec: owned(
      weft,
      [0],
      (results) => times(results, "block 0") > 1 ? "two have it" : undefined,
      1,
    ),
    agents: [[["keep"], ["take"]], [["abandon", 1], ["take"]]],
  },
  {
    name: "an abandoned agent gives back its cache",
    spec: owned(weft, [0], (results) => 1 - times(results, "block 0"), 1),
    agents: [[["keep"], ["release"]], [["abandon", 1], ["take"]]],
  },
  {
    name: "looks at every word of the bitmap",
    spec: owned(
      weft,
      Array.from({ length: 65 }, (_, block) => block === 0 ? 0 : DEAD),
      () => 0,
    ),
    agents: [[["take"]]],
  },
];
