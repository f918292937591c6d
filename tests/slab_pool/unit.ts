// also: node, browsers
import * as assert from "uvu/assert";
import fc from "../_run/property.ts";
import { SlabPool } from "../../mod.ts";
import { LAYOUT } from "../../primitives/_memory/layout.ts";
import { suite } from "../_run/harness.ts";
import { asAgent, preemptedAnywhere, refuses, wordsOf } from "../_run/model.ts";

const BITMAP = LAYOUT.slab_pool.length;
const AGENTS = [1, 2, 2 ** 28 - 1];

/** Where a pool's owner words begin, and its first block. */
function parts({ capacity }: SlabPool): { owners: number; blocks: number } {
  const up = (words: number) => Math.ceil(words / 32) * 32;
  const owners = BITMAP + up(Math.ceil(capacity / 32));
  return { owners, blocks: owners + up(capacity) };
}

/** The views of a pool of three agents. */
function views(capacity: number, blockSize: number): SlabPool[] {
  const { buffer } = SlabPool.create({ capacity, blockSize });
  return AGENTS.map((id) => asAgent(id, () => new SlabPool(buffer)));
}

const test = suite("SlabPool");

test("allocate(), free(), caches and abandon() obey the model", () => {
  const op = fc.constantFrom(
    ...["allocate", "allocate", "allocate", "free", "free", "free twice"],
    ...["cache", "release", "abandon", "abandon all"] as const,
  );
  const calls = fc.array(
    fc.record({ op, who: fc.nat({ max: 2 }), n: fc.nat() }),
    { maxLength: 80 },
  );
  const capacity = fc.constantFrom(1, 2, 31, 32, 33, 70);
  const size = fc.constantFrom(4, 12, 64);
  fc.assert(fc.property(capacity, size, calls, (capacity, size, calls) => {
    const pools = views(capacity, size);
    const { buffer } = pools[0]!;
    const { blocks } = parts(pools[0]!);
    const held = new Map<number, number>(); // the model: who has which offset
    for (const { op, who, n } of calls) {
      const pool = pools[who]!;
      const some = [...held.keys()][n % held.size]!;
      if (op === "allocate") {
        const at = pool.allocate();
        if (at === -1) {
          // Free blocks are only in the caches of others.
          assert.is(pool.available, 0);
          continue;
        }
        assert.is((at - blocks * 4) % size, 0);
        assert.ok(at + size <= pool.byteLength);
        assert.not.ok(held.has(at), `${at} was given out twice`);
        held.set(at, who);
        pool.bytes.fill(at, at, at + size);
      } else if (op === "free" && held.size > 0) {
        const bytes = pool.bytes.subarray(some, some + size);
        assert.ok(bytes.every((byte) => byte === (some & 0xff)), "overwritten");
        pool.free(some);
        held.delete(some);
      } else if (op === "free twice" && held.size > 0) {
        pool.free(some);
        held.delete(some);
        const again = () => pools[n % 3]!.free(some);
        refuses(buffer, again, RangeError, `${some}`, "free already");
      } else if (op === "cache") pool.useCache(n % 33);
      else if (op === "release") pool.release();
      else if (op === "abandon" || op === "abandon all") {
        // Its view belongs to a dead agent now; another agent takes its place.
        const all = op === "abandon all";
        const id = AGENTS[who]!;
        const others = held.size;
        const before = pool.available;
        const count = pools[(who + 1) % 3]!.abandon(id, all);
        assert.is(pool.available, before + count);
        if (all) {
          for (const [at, by] of held) if (by === who) held.delete(at);
        }
        assert.ok(count >= others - held.size);
        pools[who] = asAgent(id, () => new SlabPool(buffer));
      }
      const cached = capacity - held.size - pool.available;
      assert.ok(cached >= 0, `${cached} in caches`);
    }
    for (const pool of pools) pool.useCache(0);
    // The bits of blocks that nobody has are clear, and no others.
    const words = wordsOf(pools[0]!);
    for (let block = 0; block < 32 * Math.ceil(capacity / 32); block++) {
      const bit = words[BITMAP + (block >> 5)]! >> (block & 31) & 1;
      const isFree = block < capacity && !held.has(blocks * 4 + block * size);
      assert.is(bit, isFree ? 0 : 1, `block ${block}`);
    }
    assert.is(pools[0]!.available, capacity - held.size);
    for (const at of held.keys()) pools[0]!.free(at);
    const all = new Set(
      Array.from({ length: capacity }, () => pools[1]!.allocate()),
    );
    assert.is(all.size, capacity);
    assert.not.ok(all.has(-1));
    assert.is(pools[2]!.allocate(), -1);
  }));
});

test("an offset where no block begins is refused", () => {
  const pool = SlabPool.create({ capacity: 3, blockSize: 8 });
  const { buffer } = pool;
  const at = pool.allocate();
  const last = parts(pool).blocks * 4 + 3 * 8;
  const wrong = [at + 4, at + 1, at - 8, 0, -1, last, NaN, Infinity, 2 ** 40];
  for (const offset of [...wrong, at + 0.5]) {
    const free = () => pool.free(offset);
    refuses(buffer, free, RangeError, `${offset}`, "no block of this pool");
  }
  refuses(buffer, () => pool.free(at + 8), RangeError, "free already");
  pool.free(at);
});

test("a configuration out of range is refused", () => {
  const memory = new SharedArrayBuffer(4096);
  const refused = (capacity: number, blockSize: number, value: number) => {
    const config = { capacity, blockSize };
    const text = `received ${value}`;
    refuses(memory, () => SlabPool.init(memory, 0, config), RangeError, text);
    refuses(memory, () => SlabPool.byteLength(config), RangeError, text);
  };
  for (const n of [0, -1, 1.5, NaN, 2 ** 28 + 1]) refused(n, 4, n);
  for (const n of [0, -4, 3, 6, 4.5, NaN, 2 ** 30 + 4]) refused(1, n, n);
  refused(2 ** 20 + 1, 1024, 2 ** 20 + 1);
  const pool = SlabPool.create({ capacity: 1, blockSize: 4 });
  for (const n of [-1, 33, 1.5, NaN]) {
    const wrong = () => pool.useCache(n);
    refuses(pool.buffer, wrong, RangeError, `received ${n}`);
  }
});

test("a cache takes a block in one step, and gives back what it loses", () => {
  const pool = SlabPool.create({ capacity: 64, blockSize: 4 });
  const other = asAgent(5, () => new SlabPool(pool.buffer));
  pool.useCache(32);
  const first = pool.allocate();
  assert.is(pool.available, 32); // the rest of one word of bits
  pool.free(first);
  assert.is(pool.allocate(), first);
  pool.useCache(3);
  assert.is(other.available, 64 - 1 - 3);
  pool.release();
  assert.is(other.available, 63);
  assert.ok(pool.allocate() >= 0); // and it fills again
  assert.is(other.available, 63 - 4);
});

test("blocks that a dead agent had cached, or was freeing, come back", () => {
  const [alive, dead] = views(40, 4) as [SlabPool, SlabPool];
  dead.useCache(8);
  const mine = dead.allocate();
  assert.is(alive.available, 40 - 9);
  // It was about to free a block: the owner is cleared, the bit is not.
  const freeing = alive.allocate();
  const { owners, blocks } = parts(alive);
  wordsOf(alive)[owners + freeing / 4 - blocks] = 0;
  const seen = new Set<number>();
  for (let at; (at = alive.allocate()) >= 0;) seen.add(at);
  assert.not.ok(seen.has(freeing));
  assert.is(alive.abandon(0), 0);
  assert.is(alive.abandon(7), 0);
  const late = alive.allocate();
  assert.is(late, freeing);
  assert.is(alive.abandon(AGENTS[1]!), 8);
  assert.is(alive.available, 8);
  assert.is(alive.abandon(AGENTS[1]!, true), 1);
  assert.is(alive.abandon(AGENTS[1]!, true), 0);
  refuses(alive.buffer, () => alive.free(mine), RangeError, "free already");
  // Even if it were alive, it would not take blocks that others own by now.
  const again = Array.from({ length: 9 }, () => alive.allocate());
  assert.not.ok(again.includes(-1));
  assert.is(dead.allocate(), -1);
});

test("any two operations may meet at any step", () => {
  const ops: Record<string, (pool: SlabPool, held: number[]) => void> = {
    allocate: (pool, held) => {
      const at = pool.allocate();
      if (at >= 0) held.push(at);
    },
    "allocate and cache": (pool, held) => {
      pool.useCache(2);
      const at = pool.allocate();
      if (at >= 0) held.push(at);
    },
    free: (pool, held) => pool.free(held.shift()!),
    "free to the cache": (pool, held) => {
      pool.useCache(2);
      pool.free(held.shift()!);
    },
    "abandon another": (pool) => void pool.abandon(99),
  };
  for (const [one, run] of Object.entries(ops)) {
    for (const [two, meet] of Object.entries(ops)) {
      for (const capacity of [2, 3]) {
        preemptedAnywhere(
          () => {
            const [mine, theirs] = views(capacity, 4) as [SlabPool, SlabPool];
            const at = [mine.allocate()];
            return { mine, theirs, at, others: [theirs.allocate()] };
          },
          ({ mine, at }) => run(mine, at),
          ({ theirs, others }) => meet(theirs, others),
          ({ mine, theirs, at, others }, step) => {
            const path = `${one}, ${two} at ${step}`;
            mine.release();
            theirs.release();
            const all = [...at, ...others];
            assert.is(new Set(all).size, all.length, path);
            assert.is(mine.available, capacity - all.length, path);
            for (let i = all.length; i < capacity; i++) {
              assert.ok(mine.allocate() >= 0, path);
            }
            assert.is(theirs.allocate(), -1, path);
          },
        );
      }
    }
  }
});

test("if two agents free the same block, one of them is told", () => {
  preemptedAnywhere(
    () => {
      const [mine, theirs] = views(2, 4) as [SlabPool, SlabPool];
      return { mine, theirs, at: mine.allocate(), refused: 0 };
    },
    (it) => {
      try {
        it.mine.free(it.at);
      } catch {
        it.refused++;
      }
    },
    (it) => {
      try {
        it.theirs.free(it.at);
      } catch {
        it.refused++;
      }
    },
    ({ mine, refused }, at) => {
      assert.is(refused, 1, `at ${at}`);
      assert.is(mine.available, 2);
    },
  );
});
