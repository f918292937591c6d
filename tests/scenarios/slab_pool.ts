import { race } from "../../race/mod.ts";
import { LAYOUT } from "../../primitives/_layout.ts";
import { enter, named, type Scenario, type Weft } from "./_scenario.ts";

const BITMAP = LAYOUT.slab_pool.length;
/** The bitmap and the owners, read plainly before an exchange checks them. */
const HINTS = [[BITMAP * 4, (BITMAP + 64) * 4]] as const;

/** A pool of a few blocks; what an agent holds must be its own. */
function pool(weft: Weft, capacity: number, cache = 0) {
  const { SlabPool } = weft.mod;
  return race.spec({
    memory: () => SlabPool.create({ capacity, size: 4 }).buffer,
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
      // A free block is worth a try.
      const words = new Int32Array(memory);
      for (let block = 0; block < capacity; block++) {
        const owner = words[BITMAP + 32 + block];
        const bit = words[BITMAP]! >> block & 1;
        if (owner === 0 && bit === 1) return `block ${block} is lost`;
      }
    },
  });
}

/** Every interleaving of a pool's operations. */
export const slab_pool = (weft: Weft): Scenario[] => [
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
    name: "two use two blocks by caches",
    spec: pool(weft, 2, 2),
    agents: [[["use", 1], ["release"]], [["use", 3], ["release"]]],
  },
  {
    name: "an agent terminated at any step",
    spec: pool(weft, 2),
    agents: [[["use", 1]], [["use", 2], ["use", 3]]],
    options: { kill: true },
  },
];
