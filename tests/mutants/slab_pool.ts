import { mutants } from "./_mutant.ts";

/** Mutants of `SlabPool`. */
export const slab_pool = mutants(
  "slab_pool.ts",
  [
    "takes a block by a store",
    "Atomics.compareExchange(words, at, NOBODY, owner) === NOBODY;",
    "Atomics.store(words, at, owner) === owner;",
  ],
  [
    "takes a block that another took",
    "Atomics.compareExchange(words, at, NOBODY, owner) === NOBODY;",
    "Atomics.compareExchange(words, at, NOBODY, owner) >= NOBODY;",
  ],
  [
    "takes a block that the bitmap calls free",
    "if (!this.#claim(block, this.#id)) continue;",
    "if (!this.#claim(block, this.#id)) {\n" +
    "Atomics.store(words, this.#owners + block, this.#id); }",
  ],
  [
    "sets a bit by a load and a store",
    "else Atomics.or(words, BITMAP + map, bit);",
    "else { Atomics.store(words, BITMAP + map,\n" +
    "Atomics.load(words, BITMAP + map) | bit); }",
  ],
  [
    "clears a bit by a load and a store",
    "Atomics.and(this.#words, BITMAP + (block >> 5), ~(1 << (block & 31)));",
    "const map = BITMAP + (block >> 5);\n" +
    "const old = Atomics.load(this.#words, map);\n" +
    "Atomics.store(this.#words, map, old & ~(1 << (block & 31)));",
  ],
  [
    "frees, and does not say so",
    "if (keep) this.#cache[this.#cached++] = block; else this.#clear(block);",
    "if (keep) this.#cache[this.#cached++] = block;",
  ],
  [
    "frees to a cache that is full",
    "const keep = this.#cached < this.#cacheLimit;",
    "const keep = this.#cached <= this.#cacheLimit;",
  ],
  [
    "frees to a cache, as anybody's",
    "const next = keep ? this.#id | CACHED_BIT : NOBODY;",
    "const next = NOBODY;",
  ],
  [
    "caches what another took",
    "if (!this.#claim(block, kept)) continue;",
    "this.#claim(block, kept);",
  ],
  [
    "gives a cached block back, and does not say so",
    "if (Atomics.compareExchange(words, at, kept, NOBODY) === kept) { " +
    "this.#clear(block); }",
    "Atomics.compareExchange(words, at, kept, NOBODY);",
  ],
  [
    "abandons what others have",
    "(owner === (id | CACHED_BIT) || everything && owner === id) &&",
    "everything &&",
  ],
);
