// What do allocating and freeing a block cost, with and without a cache? Floor:
// the two exchanges that an owner word needs in any case.
import { SlabPool } from "../mod.ts";
import { contest, ratio, type Row, timed } from "./contest.ts";

/** All rows of this bench. */
export async function rows(): Promise<Row[]> {
  const plain = SlabPool.create({ capacity: 1024, blockSize: 64 });
  const cached = SlabPool.create({ capacity: 1024, blockSize: 64 });
  cached.useCache();
  const words = new Int32Array(new SharedArrayBuffer(4));
  const results = await contest([
    timed("pool", (n) => {
      for (let i = 0; i < n; i++) plain.free(plain.allocate());
    }),
    timed("cache", (n) => {
      for (let i = 0; i < n; i++) cached.free(cached.allocate());
    }),
    timed("exchanges", (n) => {
      for (let i = 0; i < n; i++) {
        Atomics.compareExchange(words, 0, 0, 1);
        Atomics.compareExchange(words, 0, 1, 0);
      }
    }),
  ]);
  return [{
    name: "SlabPool, allocate and free: time / two bare exchanges",
    ...ratio(results, "pool", "exchanges"),
  }, {
    name: "SlabPool with a cache: time / two bare exchanges",
    ...ratio(results, "cache", "exchanges"),
  }];
}
